//! The steps before the first choice. A model that begins by creating its processes one by one passes through states in
//! which only some exist, which have no symmetry. As long as there is only one possible step, these steps are taken
//! here, and the model skips them.
//!
//! The intermediate states still count: a counter represents each of them that would be stored.

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Fairness, Formula, Interpreter, Layout, Model, Number, Outcome, Owner, Place,
    PlaceId, Property, PropertyId, PropertyKind, Root, Rule, RuleId, Span, Statement, Step, Type, TypeId, TypeKind,
    Valuation, Variable, VariableId,
};
use quotient_kit::Building;
use rustc_hash::FxHashMap;

use super::creation;
use super::emission::{Emission, Origin};
use super::pools::{Living, reachable};
use super::presentation::{Taking, Telling};
use super::program::Program;

/// The maximum number of steps taken in advance.
const STEP_LIMIT: usize = 5000;

/// One intermediate state, and the rule that leads on from it.
struct Stage {
    state: Valuation,
    living: Vec<Living>,
    /// Whether others may move, so that the state is stored.
    stored: bool,
    /// Whether others were not asked whether they can move.
    goes_first: bool,
    /// The rule that leads on and the process that moves.
    step: Option<(RuleId, Living)>,
    /// The arguments of that rule.
    arguments: Vec<i64>,
}

/// The only path from the start.
pub(super) struct Prefix {
    stages: Vec<Stage>,
    /// The stage at which the processes exist.
    end: usize,
    /// Whether other steps were possible, and left out.
    pub(super) is_creation_first: bool,
}

/// Where the control points of the processes of a type lie.
struct ControlSlots {
    process: usize,
    first: usize,
    stride: usize,
    low: i64,
    high: i64,
}

impl Prefix {
    /// The processes that exist at its end.
    pub(super) fn living(&self) -> &[Living] {
        &self.stages[self.end].living
    }
    /// All processes that exist along the path.
    pub(super) fn passing(&self) -> Vec<Living> {
        self.stages[..=self.end].iter().flat_map(|stage| stage.living.iter().copied()).collect()
    }
}

/// Follows a model from its start as long as there is only one possible step, or, if `merges_orders`, only one that has
/// to be considered. None if no process is created on this path.
pub(super) fn follow(emission: &Emission<'_, '_>, merges_orders: bool) -> Option<Prefix> {
    let model = &emission.model;
    let layout = Layout::new(model).ok()?;
    let interpreter = Interpreter::new(model, &layout);
    let mut slots = Vec::new();
    for (process, variable) in emission.process_variables.iter().enumerate() {
        let (Some(variable), Some((low, high))) = (*variable, emission.pools.ranges[process]) else { continue };
        let cells = model.cells(model.variables[variable].ty) as usize;
        let stride = cells / usize::try_from(high - low + 1).ok()?;
        let first = quotient_ir::TableIndex::position(layout.first_slot(variable));
        slots.push(ControlSlots { process, first, stride, low, high });
    }
    let mut by_origin: FxHashMap<(usize, i64), Vec<RuleId>> = FxHashMap::default();
    for ((rule, _), origin) in model.rules.iter_enumerated().zip(&emission.origins) {
        if let Some(origin) = origin.mover {
            by_origin.entry(origin).or_default().push(rule);
        }
    }
    let exclusive = emission.exclusive.map(|it| quotient_ir::TableIndex::position(layout.first_slot(it)));
    let start = model.starts.iter_enumerated().next()?.0;
    let Outcome::Next { mut state, .. } = interpreter.run_start(start, &[]) else { return None };
    let creator = merges_orders.then(|| creation::creator(emission)).flatten();
    let mut stages: Vec<Stage> = Vec::new();
    let mut budget = 3_000_000usize;
    let mut goes_first = false;
    loop {
        let living = living_in(&slots, &state);
        let stored = exclusive.is_none_or(|slot| state.0[slot] == Some(-1));
        let mut steps: Vec<(RuleId, Living, Valuation, Vec<i64>)> = Vec::new();
        let mut failed = false;
        let first = living
            .iter()
            .find(|it| creator == Some((it.pid, it.process)) && creation::is_local(emission.program, **it))
            .filter(|_| stored || goes_first);
        // An atomic sequence is one step for others: if it goes first, all of it must concern the creator alone.
        if !stored && goes_first && first.is_none() {
            stages.truncate(stages.iter().rposition(|stage| stage.stored).map_or(0, |last| last + 1));
            if let Some(last) = stages.last_mut() {
                (last.step, last.goes_first) = (None, false);
            }
            break;
        }
        goes_first = first.is_some() && living.len() > 1;
        'search: for it in first.map_or(&living[..], std::slice::from_ref) {
            for &rule in by_origin.get(&(it.process, it.point)).map_or(&[][..], |rules| &rules[..]) {
                let entry = &model.rules[rule];
                let has_mover = emission.pools.ranges[it.process].is_some_and(|(low, high)| low < high);
                for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                    if budget == 0 {
                        failed = true;
                        break 'search;
                    }
                    budget -= 1;
                    if has_mover && arguments.first() != Some(&it.pid) {
                        continue;
                    }
                    match interpreter.enabled(rule, &arguments, &state) {
                        Ok(false) => continue,
                        Ok(true) => {}
                        Err(_) => {
                            failed = true;
                            break 'search;
                        }
                    }
                    match interpreter.fire(rule, &arguments, &state) {
                        Outcome::Next { state: next, .. } => steps.push((rule, *it, next, arguments)),
                        Outcome::Pruned => {}
                        Outcome::Fault(_) => {
                            failed = true;
                            break 'search;
                        }
                    }
                    if steps.len() > 1 {
                        break 'search;
                    }
                }
            }
        }
        let only = if failed || steps.len() != 1 || stages.len() == STEP_LIMIT { None } else { steps.pop() };
        let step = only.as_ref().map(|(rule, mover, _, _)| (*rule, *mover));
        let arguments = only.as_ref().map_or_else(Vec::new, |(_, _, _, arguments)| arguments.clone());
        stages.push(Stage { state, living, stored, goes_first, step, arguments });
        match only {
            Some((_, _, next, _)) => state = next,
            None => break,
        }
    }
    let grows = |position: usize| stages[position].living.len() > stages[position - 1].living.len();
    let last_creation = (1..stages.len()).rev().find(|&position| grows(position))?;
    let is_stored = |position: &usize| stages[*position].stored;
    let end = match creator {
        None => (last_creation..stages.len()).find(is_stored),
        // The creator has left the loop in which it creates others.
        Some(creator) => {
            let is_others = |stage: &Stage| stage.step.is_none_or(|(_, it)| (it.pid, it.process) != creator);
            let last = stages.iter().position(is_others).unwrap_or(stages.len() - 1);
            (last_creation..=last).rev().find(is_stored)
        }
    };
    let end = end.unwrap_or(stages.len() - 1);
    let is_creation_first = stages[..end].iter().any(|stage| stage.goes_first);
    Some(Prefix { stages, end, is_creation_first })
}

fn living_in(slots: &[ControlSlots], state: &Valuation) -> Vec<Living> {
    let mut living = Vec::new();
    for it in slots {
        for pid in it.low..=it.high {
            let slot = it.first + it.stride * (pid - it.low) as usize;
            if let Some(point @ 1..) = state.0[slot] {
                living.push(Living { pid, process: it.process, point });
            }
        }
    }
    living.sort_by_key(|it| it.pid);
    living
}

/// Makes a model skip its prefix, if that changes nothing but the path there. `follow` must have been called on this
/// emission. Returns whether it does.
pub(super) fn skip(emission: &mut Emission<'_, '_>, prefix: &Prefix, program: &Program<'_>) -> bool {
    let stages = &prefix.stages[..=prefix.end];
    let end = &stages[prefix.end];
    // The steps that are skipped do not ask whether another process has control.
    if emission.exclusive.is_some() && stages[0].living.len() > 1 {
        return false;
    }
    let points: Vec<i64> = stages[..prefix.end].iter().filter_map(|stage| Some(stage.step?.1.point)).collect();
    // The earliest stage at which one of the steps from a stage on is taken, perhaps another time: a loop that creates
    // processes is entered before it does.
    let mut first: FxHashMap<i64, usize> = FxHashMap::default();
    for (position, &point) in points.iter().enumerate() {
        first.entry(point).or_insert(position);
    }
    let mut earliest: Vec<usize> = points.iter().map(|point| first[point]).collect();
    for position in (1..earliest.len()).rev() {
        earliest[position - 1] = earliest[position - 1].min(earliest[position]);
    }
    // The last stored stage with only the processes of the start, after which no step is taken a second time.
    let at_start = |it: usize| stages[it].living.len() == stages[0].living.len();
    let jump = (0..earliest.len()).rev().find(|&it| stages[it].stored && at_start(it) && earliest[it] == it);
    let Some(jump) = jump else { return false };
    if !(0..jump).all(at_start) {
        return false;
    }
    let Some((_, mover)) = stages[jump].step else { return false };
    // One process makes all steps, and never comes back to where it was.
    let same = |stage: &Stage| stage.step.is_some_and(|(_, it)| it.pid == mover.pid && it.process == mover.process);
    if !stages[..prefix.end].iter().all(same) {
        return false;
    }
    let Some(at_end) = end.living.iter().find(|it| it.pid == mover.pid && it.process == mover.process) else {
        return false;
    };
    let flow = &program.processes[mover.process].flow;
    let later = reachable(flow, flow.point(at_end.point));
    let passed = &points[jump..];
    if passed.iter().any(|&point| later.contains(&flow.point(point))) {
        return false;
    }
    // Nobody may create another process that is where this one was.
    let creates = |process: usize| program.run_sites(process).iter().any(|site| site.creates == mover.process);
    if (0..program.processes.len()).any(creates) {
        return false;
    }
    // Others that exist from the start on may have moved before the creator goes first. They are where they are then, so no
    // state in between can stand for them, and all of it is one step.
    let is_one_step = prefix.is_creation_first && stages[0].living.len() > 1;
    let is_hidden = |stage: &&Stage| stage.stored && !is_one_step;
    let hidden: Vec<&Stage> = stages[jump + 1..prefix.end].iter().filter(is_hidden).collect();
    if !properties_hold(&emission.model, &hidden) {
        return false;
    }
    let Some(atoms) = atom_values(&emission.model, &hidden) else { return false };
    let Some(places) = slot_places(&mut emission.model) else { return false };
    let Some(settled) = settled_values(emission, stages, &places) else { return false };
    rewrite(emission, stages, &settled, jump, passed, &hidden, mover, &places);
    let counter = emission.startup;
    if let Some(counter) = counter {
        replace_atoms(emission, counter, &atoms);
    }
    true
}

/// A condition of a temporal formula, with the stages and arguments for which it holds along the path.
struct AtomValues {
    property: PropertyId,
    /// Which condition of the formula.
    position: usize,
    /// The number of the stage, from one on, and the arguments.
    true_for: Vec<(i64, Vec<i64>)>,
    /// Whether it is true for some arguments of a stage and false for others.
    mixed: Vec<bool>,
}

/// The conditions of temporal formulas in the skipped states. None if one of them has no value there.
fn atom_values(model: &Model, stages: &[&Stage]) -> Option<Vec<AtomValues>> {
    let mut asking = model.clone();
    let mut asked = Vec::new();
    for (id, property) in model.properties.iter_enumerated() {
        for (position, &atom) in property.formula.temporal().iter().flat_map(|it| &it.atoms).enumerate() {
            let question = Property { kind: PropertyKind::Invariant, formula: atom.into(), ..property.clone() };
            asked.push((id, position, asking.properties.push(question)));
        }
    }
    let layout = Layout::new(&asking).ok()?;
    let interpreter = Interpreter::new(&asking, &layout);
    let mut values = Vec::new();
    for (property, position, question) in asked {
        let entry = &asking.properties[question];
        let instances: Vec<Vec<i64>> = interpreter.instances(&entry.parameters, &entry.locals).collect();
        let (mut true_for, mut mixed) = (Vec::new(), Vec::new());
        for (stage, number) in stages.iter().zip(1..) {
            let before = true_for.len();
            for arguments in &instances {
                if interpreter.holds(question, arguments, &stage.state).ok()? {
                    true_for.push((number, arguments.clone()));
                }
            }
            let count = true_for.len() - before;
            mixed.push(count > 0 && count < instances.len());
        }
        values.push(AtomValues { property, position, true_for, mixed });
    }
    Some(values)
}

/// Makes the conditions of temporal formulas true in the states of the counter where they are true in the states that
/// the counter represents.
fn replace_atoms(emission: &mut Emission<'_, '_>, counter: VariableId, atoms: &[AtomValues]) {
    let place = emission.variable_place(counter);
    let counter = emission.read(place);
    let zero = emission.number(0);
    let done = emission.equal(counter, zero);
    for AtomValues { property, position, true_for, mixed } in atoms {
        let entry = emission.model.properties[*property].clone();
        let mut cases: Vec<ExprId> = Vec::new();
        let mut last = 0;
        for (stage, arguments) in true_for {
            if !mixed[*stage as usize - 1] && last == *stage {
                continue;
            }
            last = *stage;
            let number = emission.number(*stage);
            let mut case = emission.equal(counter, number);
            for (parameter, &argument) in entry.parameters.iter().zip(arguments) {
                if !mixed[*stage as usize - 1] {
                    break;
                }
                let ty = entry.locals[parameter.local].ty;
                let local = Place { root: Root::Local(parameter.local), steps: Vec::new(), ty };
                let local = emission.model.pool.place(local);
                let (value, argument) = (emission.read(local), emission.number(argument));
                let same = emission.equal(value, argument);
                case = emission.and(case, same);
            }
            cases.push(case);
        }
        let skipped = emission.any(cases);
        let Formula::Temporal(temporal) = &mut emission.model.properties[*property].formula else { continue };
        let atom = temporal.atoms[*position];
        let kind = Expr::Conditional { condition: done, then: atom, otherwise: skipped };
        temporal.atoms[*position] = emission.model.pool.expression(kind);
    }
}

/// The fixed parameters: their slots and the values that they have from the start on. None if one of them has several
/// values along the path.
fn settled_values(emission: &Emission<'_, '_>, stages: &[Stage], places: &[PlaceId]) -> Option<Vec<(usize, i64)>> {
    let model = &emission.model;
    let mut settled = Vec::new();
    for (slot, &place) in places.iter().enumerate() {
        let place = &model.pool[place];
        let &[Step::Index(pid), Step::Field(field)] = &place.steps[..] else { continue };
        let process = emission
            .process_variables
            .iter()
            .position(|&it| it.is_some_and(|variable| place.root == Root::Variable(variable)));
        let (Some(process), Expr::Constant { value: pid, .. }) = (process, &model.pool[pid]) else { continue };
        let Some(position) = emission.locals[process].iter().position(|&it| it == Some(field)) else { continue };
        if !emission.pools.settled.contains(&(process, position)) {
            continue;
        }
        let with_it = stages
            .iter()
            .filter(|stage| stage.living.iter().any(|living| living.pid == *pid && living.process == process));
        let mut values = with_it.filter_map(|stage| stage.state.0[slot]);
        if let Some(value) = values.next() {
            if values.any(|other| other != value) {
                return None;
            }
            settled.push((slot, value));
        }
    }
    Some(settled)
}

/// Whether all invariants hold along the path.
fn properties_hold(model: &Model, stages: &[&Stage]) -> bool {
    let Ok(layout) = Layout::new(model) else { return false };
    let interpreter = Interpreter::new(model, &layout);
    stages.iter().all(|stage| {
        model.properties.iter_enumerated().all(|(id, property)| {
            property.kind != PropertyKind::Invariant || interpreter.holds(id, &[], &stage.state) == Ok(true)
        })
    })
}

#[expect(clippy::too_many_arguments, reason = "everything that is known of the prefix")]
fn rewrite(
    emission: &mut Emission<'_, '_>,
    stages: &[Stage],
    settled: &[(usize, i64)],
    jump: usize,
    passed: &[i64],
    hidden: &[&Stage],
    mover: Living,
    places: &[PlaceId],
) {
    let end = stages.len() - 1;
    // Each rule represents the steps up to the next state that counts.
    let begins = |position: usize, stage: &Stage| position == 0 || (stage.stored && !hidden.is_empty());
    let names: Vec<(Option<String>, Span)> = stages[jump..end]
        .iter()
        .enumerate()
        .filter(|&(position, stage)| begins(position, stage))
        .filter_map(|(_, stage)| {
            let rule = &emission.model.rules[stage.step?.0];
            Some((rule.name.clone(), rule.span))
        })
        .collect();
    let mut takings: Vec<Vec<Taking>> = Vec::new();
    for (position, stage) in stages[jump..end].iter().enumerate() {
        let Some((rule, _)) = stage.step else { continue };
        if begins(position, stage) {
            takings.push(Vec::new());
        }
        let telling = &emission.origins[quotient_ir::TableIndex::position(rule)].telling;
        takings.last_mut().expect("the first opens a list").extend(telling.takings(&stage.arguments));
    }
    let old = std::mem::take(&mut emission.model.rules);
    let origins = std::mem::take(&mut emission.origins);
    for (rule, origin) in old.iter().zip(origins) {
        let gone = origin.mover.is_some_and(|(process, point)| process == mover.process && passed.contains(&point));
        if !gone {
            emission.model.rules.push(rule.clone());
            emission.origins.push(origin);
        }
    }
    let pid = emission.number(mover.pid);
    let here = emission.is_at(mover.process, pid, mover.point);
    let mut from = stages[jump].state.clone();
    let start = emission.model.starts.indices().next().expect("there is a start");
    for &(slot, value) in settled {
        let place = places[slot];
        let ty = emission.model.pool[place].ty;
        let constant = if ty == Model::BOOLEAN { emission.truth(value != 0) } else { emission.number(value) };
        let statement = emission.set(place, constant, Span::default());
        emission.model.starts[start].body.push(statement);
        from.0[slot] = Some(value);
    }
    let to = &stages[end].state;
    let assign = |emission: &mut Emission<'_, '_>, from: &Valuation, span: Span| {
        let mut body = Vec::new();
        for (slot, place) in places.iter().enumerate() {
            if let (Some(value), true) = (to.0[slot], from.0[slot] != to.0[slot]) {
                let ty = emission.model.pool[*place].ty;
                let value = if ty == Model::BOOLEAN { emission.truth(value != 0) } else { emission.number(value) };
                body.push(emission.set(*place, value, span));
            }
        }
        body
    };
    let push = |emission: &mut Emission<'_, '_>, step: usize, guard: ExprId, body: Vec<Statement>| {
        let (name, span) = names[step.min(names.len() - 1)].clone();
        let locals = quotient_ir::Table::new();
        let owner = Owner::Process(Number::Constant(mover.pid));
        emission.model.rules.push(Rule {
            name,
            owner,
            fairness: Fairness::None,
            parameters: Vec::new(),
            locals,
            guard,
            body,
            span,
        });
        let telling = Telling::Statements(takings[step.min(takings.len() - 1)].clone());
        emission.origins.push(Origin { mover: None, telling });
    };
    if hidden.is_empty() {
        let body = assign(emission, &from, names[0].1);
        push(emission, 0, here, body);
        return;
    }
    let count = hidden.len() as i64;
    let ty = emission.range_type(0, count);
    let name = emission.unique_name("start-up");
    let span = Span::default();
    let variable = emission.model.variables.push(Variable { name, ty, may_be_undefined: false, span });
    emission.startup = Some(variable);
    let counter = emission.variable_place(variable);
    let counter_value = emission.read(counter);
    // The first step removes all processes, so that only the counter distinguishes the states.
    let mut body = Vec::new();
    let mut cleared = from.clone();
    for process in 0..emission.process_variables.len() {
        let (Some(variable), Some((low, high))) = (emission.process_variables[process], emission.pools.ranges[process])
        else {
            continue;
        };
        for pid in low..=high {
            let pid = emission.number(pid);
            body.extend(emission.clear_process(process, pid, span));
        }
        for (slot, place) in places.iter().enumerate() {
            if emission.model.pool[*place].root == Root::Variable(variable) {
                cleared.0[slot] = Some(emission.model.domain(emission.model.pool[*place].ty).least());
            }
        }
    }
    for &(slot, value) in settled {
        cleared.0[slot] = Some(value);
    }
    body.push(emission.set_number(counter, 1, span));
    push(emission, 0, here, body);
    for step in 1..=count {
        let number = emission.number(step);
        let guard = emission.equal(counter_value, number);
        let body = if step < count {
            vec![emission.set_number(counter, step + 1, span)]
        } else {
            let mut body = assign(emission, &cleared, span);
            body.push(emission.set_number(counter, 0, span));
            body
        };
        push(emission, step as usize, guard, body);
    }
    let zero = emission.number(0);
    let busy = emission.binary(BinaryOperator::NotEqual, counter_value, zero);
    let claims = emission.model.properties.iter_enumerated().filter(|(_, property)| property.kind.is_claim());
    for id in claims.map(|(id, _)| id).collect::<Vec<_>>() {
        if let Some(condition) = emission.model.properties[id].formula.condition() {
            emission.model.properties[id].formula = emission.or(busy, condition).into();
        }
    }
}

/// The place of each slot, in order. None if there are too many.
fn slot_places(model: &mut Model) -> Option<Vec<PlaceId>> {
    let mut places = Vec::new();
    let variables: Vec<_> = model.variables.iter_enumerated().map(|(id, variable)| (id, variable.ty)).collect();
    for (variable, ty) in variables {
        if model.cells(ty) > 100_000 {
            return None;
        }
        add_places(model, Place { root: Root::Variable(variable), steps: Vec::new(), ty }, ty, &mut places);
    }
    Some(places)
}

fn add_places(model: &mut Model, place: Place, ty: TypeId, places: &mut Vec<PlaceId>) {
    let Type { kind, .. } = model.types[ty].clone();
    match kind {
        TypeKind::Array { index, element } => {
            for value in model.domain(index).values().collect::<Vec<_>>() {
                let value = model.pool.expression(Expr::Constant { value, ty: Model::INTEGER });
                let mut steps = place.steps.clone();
                steps.push(Step::Index(value));
                add_places(model, Place { steps, ty: element, ..place.clone() }, element, places);
            }
        }
        TypeKind::Record { fields } => {
            for (number, field) in fields.iter().enumerate() {
                let mut steps = place.steps.clone();
                steps.push(Step::Field(number as u32));
                add_places(model, Place { steps, ty: field.ty, ..place.clone() }, field.ty, places);
            }
        }
        _ => places.push(model.pool.place(place)),
    }
}
