//! States of the model as states with counted objects, and back: runs of the model.

use quotient_ir::{
    Action, Fault, FaultKind, Interpreter, Outcome as Concrete, RuleId, Span, StartId, Trace, TraceStep, Valuation,
};
use quotient_symmetry::Scope;
use rustc_hash::{FxHashMap, FxHashSet};

use super::canonical::{Canonical, canonical};
use super::columns::{Address, Column, Family, FormKind, Scheme};
use super::steps::{Outcome, Stepper, Steps};
use super::world::{Area, Cell, Chosen, World};
use super::{CountersError, Refused};
use quotient_search::{EngineError, StopReason};

/// A state of the model with its objects counted.
pub(crate) struct Counted {
    pub(crate) stored: Canonical,
    /// For each family and each entity of the stored state, the numbers of its objects.
    members: Vec<Vec<Vec<usize>>>,
}

/// Counts the objects of a state of the model.
///
/// # Errors
/// If too many objects name each other.
pub(crate) fn counted(scheme: &Scheme<'_>, state: &Valuation) -> Result<Counted, Refused> {
    let columns = &scheme.globals;
    let value = |column: &Column, objects: &[usize]| match state[scheme.slot(column, objects)] {
        None => Cell::Undefined,
        Some(value) => {
            let within = column.families.iter().find(|&&family| scheme.families[family].contains(value));
            within.map_or(Cell::Int(value), |&family| {
                Cell::object(family, (value - scheme.families[family].first) as usize)
            })
        }
    };
    let mut single = vec![Cell::Undefined; columns.singles];
    let mut rows: Vec<Vec<&Column>> = vec![Vec::new(); scheme.families.len()];
    let mut pairs: Vec<Vec<&Column>> = vec![Vec::new(); scheme.pairs.len()];
    for column in &columns.columns {
        match column.address {
            Address::Single(position) => single[position] = value(column, &[]),
            // Positions are given in the order of columns.
            Address::Each(family, _) => rows[family].push(column),
            Address::Pairs { pair, diagonal, .. } => {
                pairs[pair].push(column);
                if diagonal.is_some() {
                    rows[scheme.pairs[pair].0].push(column);
                }
            }
        }
    }
    let row = |family: usize, object: usize| -> Vec<Cell> {
        let own = Cell::object(family, object);
        let cells = rows[family].iter().map(|column| value(column, &[object, object]));
        cells.map(|cell| if cell == own { Cell::Own } else { cell }).collect()
    };
    let sizes: Vec<usize> = scheme.families.iter().map(|family| family.size as usize).collect();
    let mut is_named: Vec<Vec<bool>> = sizes.iter().map(|&size| vec![false; size]).collect();
    let mut name = |cell: &Cell| {
        if let Cell::Object { family, entity } = *cell {
            is_named[family as usize][entity as usize] = true;
        }
    };
    single.iter().for_each(&mut name);
    for (family, &size) in sizes.iter().enumerate() {
        if rows[family].iter().any(|column| !column.families.is_empty()) {
            (0..size).for_each(|object| row(family, object).iter().for_each(&mut name));
        }
    }
    let cells = |pair: usize, one: usize, other: usize| -> Vec<Cell> {
        pairs[pair].iter().map(|column| value(column, &[one, other])).collect()
    };
    let are_alike = |family: usize, one: usize, other: usize| {
        scheme.pairs.iter().enumerate().all(|(pair, &(first, second))| {
            let is_apart = |x: usize| first != second || (x != one && x != other);
            let rows = first != family
                || (0..sizes[second]).filter(|&x| is_apart(x)).all(|x| cells(pair, one, x) == cells(pair, other, x));
            let columns = second != family
                || (0..sizes[first]).filter(|&x| is_apart(x)).all(|x| cells(pair, x, one) == cells(pair, x, other));
            let is_swapped = (first, second) != (family, family) || cells(pair, one, other) == cells(pair, other, one);
            rows && columns && is_swapped
        })
    };
    let mut members: Vec<Vec<Vec<usize>>> = Vec::with_capacity(sizes.len());
    let mut entities: Vec<Vec<usize>> = sizes.iter().map(|&size| vec![0; size]).collect();
    let mut each: Vec<Vec<Vec<Cell>>> = Vec::with_capacity(sizes.len());
    for (family, &size) in sizes.iter().enumerate() {
        let mut own: Vec<Vec<usize>> = Vec::new();
        let mut contents: Vec<Vec<Cell>> = Vec::new();
        let mut known: FxHashMap<Vec<Cell>, Vec<usize>> = FxHashMap::default();
        for object in 0..size {
            let row = row(family, object);
            let similar = known.get(&row).into_iter().flatten().copied();
            let entity = similar.filter(|_| !is_named[family][object]).find(|&e| are_alike(family, own[e][0], object));
            let entity = entity.unwrap_or_else(|| {
                if !is_named[family][object] {
                    known.entry(row.clone()).or_default().push(own.len());
                }
                contents.push(row);
                own.push(Vec::new());
                own.len() - 1
            });
            own[entity].push(object);
            entities[family][object] = entity;
        }
        members.push(own);
        each.push(contents);
    }
    let rename = |cell: Cell| match cell {
        Cell::Object { family, entity } => Cell::object(family as usize, entities[family as usize][entity as usize]),
        cell => cell,
    };
    let counts = members.iter().map(|members| members.iter().map(|objects| objects.len() as u64).collect()).collect();
    let area = Area {
        single: single.into_iter().map(rename).collect(),
        each: each.into_iter().map(|rows| rows.into_iter().flatten().map(rename).collect()).collect(),
        pairs: scheme
            .pairs
            .iter()
            .enumerate()
            .map(|(pair, &(first, second))| {
                let cell = |one: &Vec<usize>, other: &Vec<usize>| {
                    // Of an entity and itself: two objects, if there are two.
                    let is_same = first == second && one[0] == other[0];
                    cells(pair, one[0], if is_same { *other.get(1).unwrap_or(&other[0]) } else { other[0] })
                };
                let row = |one: &Vec<usize>| members[second].iter().flat_map(|other| cell(one, other)).collect();
                if pairs[pair].is_empty() { Vec::new() } else { members[first].iter().map(row).collect() }
            })
            .collect(),
    };
    let stored = canonical(scheme, &mut World { counts, area })?;
    let in_order = |(members, order): (&Vec<Vec<usize>>, &Vec<usize>)| -> Vec<Vec<usize>> {
        order.iter().map(|&entity| members[entity].clone()).collect()
    };
    let members = members.iter().zip(&stored.order).map(in_order).collect();
    Ok(Counted { stored, members })
}

/// The number of instances that are tried if the obvious one is not the one that is looked for.
const MOST_TRIED: usize = 100_000;

/// The longest infinite run that is looked for.
const MOST_STEPS: usize = 1_000_000;

/// Runs of the model through states with counted objects.
pub(crate) struct Runs<'a> {
    pub(crate) scheme: &'a Scheme<'a>,
    pub(crate) interpreter: &'a Interpreter<'a>,
}

impl Runs<'_> {
    /// A run of the model through some stored states.
    ///
    /// # Errors
    /// If there is none, which is a defect, or the interpreter gives up.
    pub(crate) fn through(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<TraceStep>, NoRun> {
        let mut steps: Vec<TraceStep> = Vec::with_capacity(keys.len());
        for key in keys {
            let next = match steps.last() {
                None => self.start(key.as_ref())?,
                Some(last) => self.step(&last.state, key.as_ref(), None)?,
            };
            steps.push(next);
        }
        Ok(steps)
    }

    /// An infinite run of the model through some stored states, from the last of which a step leads back to that at a
    /// position. It may lead to another state with the same objects counted: then the cycle is repeated with the
    /// permutation that leads there, until it leads back to a state of the run.
    ///
    /// # Errors
    /// If there is none, which is a defect, or the interpreter gives up, or the cycle is too long.
    pub(crate) fn lasso(&self, keys: &[&[u8]], begin: usize) -> Result<Trace, NoRun> {
        let mut steps = self.through(keys)?;
        let turn: Vec<&[u8]> = keys[begin + 1..].iter().chain([&keys[begin]]).copied().collect();
        let mut heads: FxHashMap<Valuation, usize> = FxHashMap::default();
        heads.insert(steps[begin].state.clone(), begin);
        let mut taken = turn.len() - 1;
        let mut permutation: Option<Vec<Vec<usize>>> = None;
        loop {
            for key in &turn[taken..] {
                let last = &steps.last().expect("a run has a start").state;
                let image = permutation.as_ref().map(|images| self.image(&steps[steps.len() - turn.len()], images));
                let next = self.step(last, key, image)?;
                steps.push(next);
            }
            taken = 0;
            let head = steps.len() - 1;
            if let Some(&known) = heads.get(&steps[head].state) {
                return Ok(Trace::lasso(steps, known, None));
            }
            if steps.len() > MOST_STEPS {
                let message = format!("a cycle of counted objects does not close within {MOST_STEPS} steps");
                return Err(exhausted(Fault { kind: FaultKind::Exhausted, span: Span::default(), message }));
            }
            heads.insert(steps[head].state.clone(), head);
            if permutation.is_none() {
                permutation = Some(self.permutation(&steps[begin].state, &steps[head].state)?);
            }
        }
    }

    /// A permutation of objects that leads from a state to another one with the same stored form: it leaves as many of
    /// them in place as it can.
    fn permutation(&self, from: &Valuation, to: &Valuation) -> Result<Vec<Vec<usize>>, NoRun> {
        let (from, to) = (counted(self.scheme, from)?.members, counted(self.scheme, to)?.members);
        let sizes = self.scheme.families.iter().map(|family| family.size as usize);
        let mut images: Vec<Vec<usize>> = sizes.map(|size| (0..size).collect()).collect();
        for (images, (from, to)) in images.iter_mut().zip(from.iter().zip(&to)) {
            for (from, to) in from.iter().zip(to) {
                let kept: FxHashSet<usize> = to.iter().copied().collect();
                let known: FxHashSet<usize> = from.iter().copied().collect();
                let leaving = from.iter().filter(|object| !kept.contains(object));
                let coming = to.iter().filter(|object| !known.contains(object));
                leaving.zip(coming).for_each(|(&object, &image)| images[object] = image);
            }
        }
        Ok(images)
    }

    /// The rule of a step, with the arguments that a permutation of objects leads to.
    fn image(&self, step: &TraceStep, images: &[Vec<usize>]) -> (Action, Vec<i64>) {
        let mut arguments = step.arguments.clone();
        if let Action::Rule(rule) = step.action {
            let parameters = &self.scheme.model.rules[rule].parameters;
            for (argument, parameter) in arguments.iter_mut().zip(parameters) {
                let (form, _) = self.scheme.local(Scope::Rule(rule), parameter.local);
                let FormKind::Scalar { families, .. } = &form.kind else { continue };
                for &family in families {
                    let Family { first, .. } = self.scheme.families[family];
                    if self.scheme.families[family].contains(*argument) {
                        *argument = first + images[family][(*argument - first) as usize] as i64;
                        break;
                    }
                }
            }
        }
        (step.action, arguments)
    }

    fn start(&self, key: &[u8]) -> Result<TraceStep, NoRun> {
        for (start, arguments) in starts(self.interpreter) {
            if let Concrete::Next { state, .. } = self.interpreter.run_start(start, &arguments)
                && counted(self.scheme, &state)?.stored.key == key
            {
                return Ok(TraceStep { action: Action::Start(start), arguments, state });
            }
        }
        Err(NoRun::Error(EngineError::Rebuild("no start leads to a state with counted objects")))
    }

    /// A step to a state with a stored form: the one that is wanted, if it leads there.
    fn step(&self, from: &Valuation, key: &[u8], wanted: Option<(Action, Vec<i64>)>) -> Result<TraceStep, NoRun> {
        if let Some((Action::Rule(rule), arguments)) = wanted
            && let Some(step) = self.fire(rule, arguments, from, key)?
        {
            return Ok(step);
        }
        let counted_from = counted(self.scheme, from)?;
        let mut taken = Steps::default();
        Stepper::new(self.scheme).expand(&counted_from.stored.key, &mut taken)?;
        let leads_there = |outcome: &Outcome| matches!(outcome, Outcome::Next { next, .. } if taken.key(next) == key);
        let leading = taken.firings.iter().filter(|firing| leads_there(&firing.outcome));
        let found: Vec<(RuleId, &[Chosen])> = leading.map(|firing| (firing.rule, taken.chosen(firing))).collect();
        for (rule, chosen) in found {
            for arguments in self.candidates(rule, chosen, &counted_from) {
                if let Some(step) = self.fire(rule, arguments, from, key)? {
                    return Ok(step);
                }
            }
        }
        Err(NoRun::Error(EngineError::Rebuild("no rule leads to a state with counted objects")))
    }

    /// A step of an instance, if it is possible and leads to a state with a stored form.
    fn fire(
        &self,
        rule: RuleId,
        arguments: Vec<i64>,
        from: &Valuation,
        key: &[u8],
    ) -> Result<Option<TraceStep>, NoRun> {
        if !matches!(self.interpreter.enabled(rule, &arguments, from), Ok(true)) {
            return Ok(None);
        }
        match self.interpreter.fire(rule, &arguments, from) {
            Concrete::Next { state, .. } if counted(self.scheme, &state)?.stored.key == key => {
                Ok(Some(TraceStep { action: Action::Rule(rule), arguments, state }))
            }
            Concrete::Fault(fault) if fault.kind == FaultKind::Exhausted => Err(exhausted(fault)),
            _ => Ok(None),
        }
    }

    /// The run-time error of a rule in a state, with the arguments of the instance.
    ///
    /// # Errors
    /// If there is none, which is a defect.
    pub(crate) fn fault(&self, rule: RuleId, chosen: &[Chosen], state: &Valuation) -> Result<(Vec<i64>, Fault), NoRun> {
        let counted = counted(self.scheme, state)?;
        for arguments in self.candidates(rule, chosen, &counted) {
            let fault = match self.interpreter.enabled(rule, &arguments, state) {
                Err(fault) => Some(fault),
                Ok(false) => None,
                Ok(true) => match self.interpreter.fire(rule, &arguments, state) {
                    Concrete::Fault(fault) => Some(fault),
                    _ => None,
                },
            };
            match fault {
                Some(fault) if fault.kind == FaultKind::Exhausted => return Err(exhausted(fault)),
                Some(fault) => return Ok((arguments, fault)),
                None => {}
            }
        }
        Err(NoRun::Error(EngineError::Rebuild("a step with counted objects does not go wrong")))
    }

    /// The arguments of an instance that was chosen, then those of others: positions of multisets may differ.
    fn candidates<'c>(
        &'c self,
        rule: RuleId,
        chosen: &[Chosen],
        counted: &Counted,
    ) -> impl Iterator<Item = Vec<i64>> + use<'c> {
        let mut used: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        let mut arguments: Vec<i64> = Vec::with_capacity(chosen.len());
        for choice in chosen {
            arguments.push(match *choice {
                Chosen::Value(value) => value,
                Chosen::Same(earlier) => arguments[earlier],
                Chosen::Object { family, entity } => {
                    let next = used.entry((family, entity)).or_default();
                    let object = counted.members[family][entity][*next];
                    *next += 1;
                    self.scheme.families[family].first + object as i64
                }
            });
        }
        let entry = &self.scheme.model.rules[rule];
        let others = self.interpreter.instances(&entry.parameters, &entry.locals).take(MOST_TRIED);
        std::iter::once(arguments).chain(others)
    }
}

/// The instances of all starts.
pub(crate) fn starts<'a>(interpreter: &'a Interpreter<'_>) -> impl Iterator<Item = (StartId, Vec<i64>)> + use<'a> {
    let starts = interpreter.model().starts.iter_enumerated();
    starts.flat_map(|(start, entry)| {
        interpreter.instances(&entry.parameters, &entry.locals).map(move |arguments| (start, arguments))
    })
}

fn exhausted(fault: Fault) -> NoRun {
    NoRun::Unknown(StopReason::Exhausted(fault))
}

/// Why there is no run.
pub(crate) enum NoRun {
    /// The search or the interpreter gives up.
    Unknown(StopReason),
    /// A defect.
    Error(EngineError),
    Refused(Refused),
}

impl From<Refused> for NoRun {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<EngineError> for NoRun {
    fn from(error: EngineError) -> Self {
        Self::Error(error)
    }
}

impl From<Refused> for CountersError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}
