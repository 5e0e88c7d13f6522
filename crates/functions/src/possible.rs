//! An over-approximation of the values each slot can hold in a reachable state: an abstract interpretation with one set
//! of values per cell, where conditions on single cells narrow their sets. Whatever a run can write is in the result; a
//! value that is not in the result never occurs.

mod narrowing;
mod numbers;
mod prologue;
mod required;

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use quotient_ir::{
    Argument, BinaryOperator, Budget, Expr, ExprId, FunctionId, Interpreter, Iteration, Layout, Local, LocalId,
    LocalKind, Model, MultisetElement, Parameter, PlaceId, Quantifier, ReturnValue, Root, RuleId, SlotId, Spent,
    Statement, StatementKind, Step, Table, TableIndex, TypeId, TypeKind, UnaryOperator,
};

use crate::circuit::CASE_LIMIT;
use crate::mentions::Mentions;
use numbers::{Numbers, binary};
use prologue::{Prologue, SlotValues};
use required::required;

/// The values that a cell can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holds {
    /// Whether it can be undefined.
    pub undefined: bool,
    numbers: Numbers,
}

/// Why the analysis gave up.
enum GivenUp {
    /// The text is too complex; every value of every type is possible.
    TooMuch,
    /// The budget is spent.
    Spent,
}

impl From<Spent> for GivenUp {
    fn from(_: Spent) -> Self {
        Self::Spent
    }
}

const ITERATION_LIMIT: usize = 4096;
/// The number of loop iterations that are analysed one by one.
const EXACT_ITERATIONS: usize = 64;
const CALL_LIMIT: usize = 64;
/// The number of changes to a slot's values after which it may hold anything; otherwise counters would be followed step
/// by step.
const CHANGE_LIMIT: u32 = 64;
/// The number of executed statements after which the analysis gives up.
const WORK_LIMIT: u64 = 30_000_000;
/// The work from which on an instance is treated after others.
const DEAR_WORK: u64 = 256;
/// The number of listed values that count as one statement.
const LISTED_PER_WORK: u64 = 16;

impl Holds {
    fn number(value: i64) -> Self {
        Self { undefined: false, numbers: Numbers::one(value) }
    }
    fn undefined() -> Self {
        Self { undefined: true, numbers: Numbers::none() }
    }
    fn either() -> Self {
        Self { undefined: false, numbers: Numbers::Listed(Rc::new([0, 1])) }
    }
    pub(crate) fn nothing() -> Self {
        Self { undefined: false, numbers: Numbers::none() }
    }
    pub(crate) fn union(&self, other: &Self) -> Self {
        Self { undefined: self.undefined || other.undefined, numbers: self.numbers.union(&other.numbers) }
    }
    /// Whether there are too many values to list.
    pub fn is_wide(&self) -> bool {
        matches!(self.numbers, Numbers::Between(..))
    }
    /// The values in increasing order, undefined first; for an interval, only its ends.
    pub fn values(&self) -> Vec<Option<i64>> {
        let mut values = Vec::new();
        if self.undefined {
            values.push(None);
        }
        match &self.numbers {
            Numbers::Listed(numbers) => values.extend(numbers.iter().copied().map(Some)),
            &Numbers::Between(low, high) => values.extend([Some(low), Some(high)]),
        }
        values
    }
}

/// Sets of slots that are required to have the same possible values.
#[derive(Clone, Debug, Default)]
pub struct Ties {
    /// The set of each slot; empty if there are no sets.
    pub set_of: Vec<Option<u32>>,
    /// The sets.
    pub sets: Vec<TiedSlots>,
}

/// One set of tied slots.
#[derive(Clone, Debug, Default)]
pub struct TiedSlots {
    /// The slots.
    pub slots: Vec<u32>,
    /// Sets of values that are all possible if one of them is.
    pub together: Vec<Vec<i64>>,
}

impl Ties {
    fn of_slot(&self, slot: u32) -> Option<&TiedSlots> {
        let set = (*self.set_of.get(slot as usize)?)?;
        Some(&self.sets[set as usize])
    }
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct Possible {
    /// The values each slot can hold.
    pub holds: Vec<Holds>,
    /// Whether a slot of a multiset can be undefined in an element that is present. If no element is present, it always
    /// is.
    pub undefined_elements: Vec<bool>,
    /// The values each slot can hold in states that are not transient, if less is known of all states.
    pub stored: Option<Vec<Holds>>,
}

impl Possible {
    /// The same, with the numbers between the possible ones of a slot unless these are evenly spaced.
    pub fn evenly_spaced(mut self) -> Self {
        for holds in self.holds.iter_mut().chain(self.stored.iter_mut().flatten()) {
            holds.numbers = std::mem::replace(&mut holds.numbers, Numbers::none()).evenly_spaced();
        }
        self
    }
}

/// The values each slot can hold.
///
/// # Errors
/// If the budget is spent.
pub fn possible_values(model: &Model, layout: &Layout, budget: &Budget) -> Result<Possible, Spent> {
    tied_values(model, layout, Ties::default(), budget)
}

/// The same, where some slots are assumed to hold whatever others can hold.
///
/// # Errors
/// If the budget is spent.
pub fn tied_values(model: &Model, layout: &Layout, ties: Ties, budget: &Budget) -> Result<Possible, Spent> {
    values_after(None, model, layout, ties, budget)
}

/// The values each slot can hold, where the states before the first stored ones are run one by one. A step from possible
/// values may lead to others if it is taken in such states only.
///
/// # Errors
/// If the budget is spent.
pub(crate) fn values_after_prologue(model: &Model, layout: &Layout, budget: &Budget) -> Result<Possible, Spent> {
    let prologue = prologue::prologue(model, layout, budget)?;
    values_after(prologue, model, layout, Ties::default(), budget)
}

fn values_after(
    prologue: Option<Prologue>,
    model: &Model,
    layout: &Layout,
    ties: Ties,
    budget: &Budget,
) -> Result<Possible, Spent> {
    budget.spend(layout.slots.len() as u64)?;
    let mut presences = vec![None; layout.slots.len()];
    for multiset in layout.multisets() {
        let first = multiset.first.position();
        for at in (0..multiset.capacity * multiset.stride).filter(|at| at % multiset.stride != 0) {
            // For nested multisets the innermost counts; it comes first.
            presences[first + at].get_or_insert((first + at - at % multiset.stride) as u32);
        }
    }
    let mut analysis = Analysis {
        ties,
        model,
        layout,
        known: vec![Holds::nothing(); layout.slots.len()],
        changed: VecDeque::new(),
        changes: vec![0; layout.slots.len()],
        overlay: FxHashMap::default(),
        reads: Vec::new(),
        read_by: vec![Vec::new(); layout.slots.len()],
        locals: Vec::new(),
        frames: Vec::new(),
        effects: FxHashMap::default(),
        results: FxHashMap::default(),
        work: 0,
        presences,
        undefined_elements: vec![false; layout.slots.len()],
        budget: budget.clone(),
        uncharged: 0,
        cells: vec![OnceCell::new(); model.types.len()],
    };
    match analysis.run(prologue.as_ref()) {
        Ok(stored) => Ok(Possible { holds: analysis.known, undefined_elements: analysis.undefined_elements, stored }),
        Err(GivenUp::Spent) => Err(Spent),
        Err(GivenUp::TooMuch) => Ok(Possible {
            holds: layout
                .slots
                .iter()
                .map(|slot| Holds { undefined: slot.may_be_undefined, numbers: Numbers::of_domain(&slot.domain) })
                .collect(),
            undefined_elements: vec![true; layout.slots.len()],
            stored: None,
        }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Location {
    Global(u32),
    Local(u32),
}

impl Location {
    fn offset(self, by: u64) -> Self {
        match self {
            Self::Global(slot) => Self::Global(slot + by as u32),
            Self::Local(cell) => Self::Local(cell + by as u32),
        }
    }
}

struct Frame<'m> {
    locals: &'m Table<LocalId, Local>,
    first_cells: Vec<u32>,
    references: Vec<Option<Vec<Location>>>,
    result: Option<Vec<Holds>>,
    /// The memory at each return so far, joined.
    exits: Option<Memory>,
}

/// Global cells that differ from the known values, and all local cells.
type Memory = (FxHashMap<u32, Holds>, Vec<Holds>);

struct Analysis<'m> {
    model: &'m Model,
    layout: &'m Layout,
    ties: Ties,
    known: Vec<Holds>,
    changed: VecDeque<u32>,
    /// How often the values of each slot have changed.
    changes: Vec<u32>,
    /// Global cells written or narrowed while an instance runs.
    overlay: FxHashMap<u32, Holds>,
    reads: Vec<u32>,
    /// The instances that read a slot.
    read_by: Vec<Vec<u32>>,
    locals: Vec<Holds>,
    frames: Vec<Frame<'m>>,
    /// Whether each queried expression has side effects.
    effects: FxHashMap<ExprId, bool>,
    /// The results, for given numbers, of functions that read no variable.
    results: FxHashMap<(FunctionId, Vec<i64>), Option<Vec<Holds>>>,
    work: u64,
    /// For a slot of an element of a multiset, the slot that says whether the element is present.
    presences: Vec<Option<u32>>,
    undefined_elements: Vec<bool>,
    budget: Budget,
    /// Work not yet charged to the budget.
    uncharged: u64,
    /// The number of cells of each type that was asked for.
    cells: Vec<OnceCell<u64>>,
}

/// The work after which the budget is charged.
const WORK_BETWEEN_QUESTIONS: u64 = 1024;

/// The values of a loop or bound variable.
enum Iterations {
    /// These values, in this order.
    Exact(Vec<i64>),
    /// At least one of these, in some order.
    Among(Holds),
    /// None: the bounds cause a run-time error.
    Never,
}

type Abstract<T> = Result<T, GivenUp>;

impl<'m> Analysis<'m> {
    /// The number of cells of a type. Places are resolved so often that it is kept.
    fn cells(&self, ty: TypeId) -> u64 {
        *self.cells[ty.position()].get_or_init(|| self.model.cells(ty))
    }

    /// Records work: a statement, an expression, a cell.
    fn charge(&mut self, work: usize) -> Abstract<()> {
        self.uncharged += work as u64;
        if self.uncharged >= WORK_BETWEEN_QUESTIONS {
            self.budget.spend(std::mem::take(&mut self.uncharged))?;
        }
        Ok(())
    }

    /// The current memory.
    fn memory(&mut self) -> Abstract<Memory> {
        self.charge(self.overlay.len() + self.locals.len())?;
        Ok((self.overlay.clone(), self.locals.clone()))
    }

    /// Finds all values. Those of states that are not transient are returned if the states before them are known.
    fn run(&mut self, prologue: Option<&Prologue>) -> Abstract<Option<Vec<Holds>>> {
        let interpreter = Interpreter::new(self.model, self.layout);
        let Some(Prologue { starts, passed, ends }) = prologue else {
            self.starts(&interpreter)?;
            self.rules(&interpreter)?;
            return Ok(None);
        };
        self.join_states(ends)?;
        self.rules(&interpreter)?;
        self.join_states(starts)?;
        let stored = self.known.clone();
        self.join_states(passed)?;
        Ok(Some(stored))
    }

    /// Joins the values of states to the known ones.
    fn join_states(&mut self, states: &SlotValues) -> Abstract<()> {
        self.charge(self.layout.slots.len())?;
        self.overlay.clear();
        for (slot, values) in (0..).zip(&states.values) {
            let undefined = values.contains(&None);
            let numbers = Numbers::of(values.iter().copied().flatten().collect());
            self.overlay.insert(slot, Holds { undefined, numbers });
        }
        self.commit()
    }

    /// What initial states hold.
    fn starts(&mut self, interpreter: &Interpreter<'_>) -> Abstract<()> {
        let model = self.model;
        for (_, start) in model.starts.iter_enumerated() {
            for arguments in instances(interpreter, model, &start.parameters, &start.locals, &self.budget)? {
                self.charge(self.layout.slots.len())?;
                self.overlay.clear();
                for (slot, entry) in self.layout.slots.iter().enumerate() {
                    let holds = entry.initial().map_or_else(Holds::undefined, Holds::number);
                    self.overlay.insert(slot as u32, holds);
                }
                self.enter(&start.parameters, &start.locals, arguments.as_deref());
                if self.body(&start.body)? {
                    self.commit()?;
                }
            }
        }
        Ok(())
    }

    /// What rules lead to, until nothing changes.
    fn rules(&mut self, interpreter: &Interpreter<'_>) -> Abstract<()> {
        let model = self.model;
        self.changed.clear();
        let mut all: Vec<(RuleId, Option<Vec<i64>>)> = Vec::new();
        for (rule, entry) in model.rules.iter_enumerated() {
            for arguments in instances(interpreter, model, &entry.parameters, &entry.locals, &self.budget)? {
                all.push((rule, arguments));
            }
        }
        // An instance whose guard requires a value of a slot first waits until the slot can hold it. It is the same then
        // whatever else the slot can hold.
        let keys: Vec<Option<(u32, i64)>> = all.iter().map(|(rule, arguments)| self.key(*rule, arguments)).collect();
        let mut waiting: FxHashMap<u32, Vec<(i64, u32)>> = FxHashMap::default();
        let mut queued = vec![true; all.len()];
        let mut queue: VecDeque<u32> = (0..all.len() as u32).collect();
        // Conditions on all of the state (`timeout` of Promela) are dear to evaluate, and change with everything: these
        // instances wait until nothing else is left.
        let mut late: VecDeque<u32> = VecDeque::new();
        let mut is_dear = vec![false; all.len()];
        while let Some(instance) = queue.pop_front().or_else(|| late.pop_front()) {
            queued[instance as usize] = false;
            let before = self.work;
            let (rule, arguments) = &all[instance as usize];
            let rule = &model.rules[*rule];
            self.charge(1)?;
            if rule.body.is_empty() && !self.has_effects(rule.guard) {
                // It writes nothing, whatever its guard says.
                continue;
            }
            self.overlay.clear();
            self.reads.clear();
            let key = keys[instance as usize];
            if let Some((slot, value)) = key {
                if !self.known[slot as usize].numbers.contains(value) {
                    waiting.entry(slot).or_default().push((value, instance));
                    continue;
                }
                self.overlay.insert(slot, Holds::number(value));
            }
            self.enter(&rule.parameters, &rule.locals, arguments.as_deref());
            if self.assume(rule.guard, true)? && self.body(&rule.body)? {
                self.commit()?;
            }
            is_dear[instance as usize] |= self.work - before > DEAR_WORK;
            self.reads.sort_unstable();
            self.reads.dedup();
            for position in 0..self.reads.len() {
                let slot = self.reads[position];
                if key.is_some_and(|(key, _)| key == slot) {
                    continue;
                }
                self.charge(1 + self.read_by[slot as usize].len() / 16)?;
                let readers = &mut self.read_by[slot as usize];
                if readers.last() != Some(&instance) && !readers.contains(&instance) {
                    readers.push(instance);
                }
            }
            while let Some(slot) = self.changed.pop_front() {
                self.charge(1 + self.read_by[slot as usize].len())?;
                for &reader in &self.read_by[slot as usize] {
                    if !std::mem::replace(&mut queued[reader as usize], true) {
                        let queue = if is_dear[reader as usize] { &mut late } else { &mut queue };
                        queue.push_back(reader);
                    }
                }
                let Some(instances) = waiting.get_mut(&slot) else { continue };
                self.charge(instances.len() / 16)?;
                let numbers = &self.known[slot as usize].numbers;
                for (_, instance) in instances.extract_if(.., |(value, _)| numbers.contains(*value)) {
                    queued[instance as usize] = true;
                    queue.push_back(instance);
                }
            }
        }
        Ok(())
    }

    /// The slot and the value that the guard of an instance requires first.
    fn key(&self, rule: RuleId, arguments: &Option<Vec<i64>>) -> Option<(u32, i64)> {
        let (slot, value) = required(self.model, self.layout, rule, arguments.as_deref()?)?;
        let slot = slot.position();
        // What elements of multisets hold depends on others.
        self.presences[slot].is_none().then_some((slot as u32, value))
    }

    /// Merges the writes of an instance into the known values.
    fn commit(&mut self) -> Abstract<()> {
        self.charge(self.overlay.len())?;
        for (&slot, holds) in &self.overlay {
            let known = &mut self.known[slot as usize];
            let mut joined = known.union(holds);
            if joined != *known {
                let changes = &mut self.changes[slot as usize];
                *changes += 1;
                // Wide slots have the same bounds everywhere, so that bounds do not distinguish them.
                if *changes > CHANGE_LIMIT || joined.is_wide() {
                    joined.numbers =
                        Numbers::of_domain(&self.layout.slots[SlotId::from_position(slot as usize)].domain);
                }
                let Some(tied) = self.ties.of_slot(slot) else {
                    *known = joined;
                    self.changed.push_back(slot);
                    continue;
                };
                for values in &tied.together {
                    if values.iter().any(|&value| joined.numbers.contains(value)) {
                        joined.numbers = joined.numbers.union(&Numbers::of(values.clone()));
                    }
                }
                self.uncharged += tied.slots.len() as u64;
                for &slot in &tied.slots {
                    if self.known[slot as usize] != joined {
                        self.known[slot as usize] = joined.clone();
                        self.changed.push_back(slot);
                    }
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, parameters: &[Parameter], locals: &'m Table<LocalId, Local>, arguments: Option<&[i64]>) {
        self.locals.clear();
        self.frames.clear();
        self.push_frame(locals);
        let mut next = 0;
        for parameter in parameters {
            let first = self.frame().first_cells[parameter.local.position()] as usize;
            let mut scalars = Vec::new();
            scalar_types(self.model, locals[parameter.local].ty, &mut scalars);
            for (cell, ty) in scalars.into_iter().enumerate() {
                self.locals[first + cell] = match arguments {
                    Some(arguments) => Holds::number(arguments[next]),
                    None => Holds { undefined: false, numbers: Numbers::of_domain(&self.model.domain(ty)) },
                };
                next += 1;
            }
        }
    }

    fn push_frame(&mut self, locals: &'m Table<LocalId, Local>) {
        let mut first_cells = Vec::with_capacity(locals.len());
        for local in locals.iter() {
            first_cells.push(self.locals.len() as u32);
            if local.kind != LocalKind::Reference {
                let mut cells = Vec::new();
                self.emptied(local.ty, false, &mut cells);
                self.locals.extend(cells);
            }
        }
        self.frames.push(Frame {
            locals,
            first_cells,
            references: vec![None; locals.len()],
            result: None,
            exits: None,
        });
    }

    fn frame(&self) -> &Frame<'m> {
        self.frames.last().expect("an owner is being analysed")
    }

    // ---- cells ----

    /// The values read from a cell.
    fn load(&mut self, location: Location) -> Holds {
        let mut holds = self.content(location);
        if let Location::Global(slot) = location
            && self.presences[slot as usize].is_some()
        {
            // Absent elements are not read.
            holds.undefined = self.undefined_elements[slot as usize];
        }
        holds
    }

    /// The content of a cell, whether read or not.
    fn content(&mut self, location: Location) -> Holds {
        match location {
            Location::Local(cell) => self.locals[cell as usize].clone(),
            Location::Global(slot) => {
                self.reads.push(slot);
                match self.overlay.get(&slot) {
                    Some(holds) => holds.clone(),
                    None => self.known[slot as usize].clone(),
                }
            }
        }
    }

    fn load_any(&mut self, targets: &[Location]) -> Holds {
        if let [only] = targets {
            return self.load(*only);
        }
        let mut holds = Holds::nothing();
        for &target in targets {
            holds = holds.union(&self.load(target));
        }
        holds
    }

    fn set(&mut self, location: Location, holds: Holds) {
        match location {
            Location::Local(cell) => self.locals[cell as usize] = holds,
            Location::Global(slot) => {
                self.overlay.insert(slot, holds);
            }
        }
    }

    /// Records that elements can be undefined.
    fn note_undefined(&mut self, targets: &[Location], offset: u64, holds: &Holds) {
        if !holds.undefined {
            return;
        }
        for target in targets {
            let Location::Global(slot) = target.offset(offset) else { continue };
            let is_element = self.presences[slot as usize].is_some();
            if is_element && !std::mem::replace(&mut self.undefined_elements[slot as usize], true) {
                self.changed.push_back(slot);
            }
        }
    }

    fn store(&mut self, targets: &[Location], offset: u64, holds: &Holds) {
        if let [only] = targets {
            return self.set(only.offset(offset), holds.clone());
        }
        for target in targets {
            let old = self.content(target.offset(offset));
            self.set(target.offset(offset), old.union(holds));
        }
    }

    fn targets(&mut self, place: PlaceId) -> Abstract<Vec<Location>> {
        let place = &self.model.pool[place];
        let (mut targets, mut ty) = match &place.root {
            Root::Variable(variable) => (
                vec![Location::Global(self.layout.first_slot(*variable).position() as u32)],
                self.model.variables[*variable].ty,
            ),
            Root::Local(local) => {
                let frame = self.frame();
                let targets = match &frame.references[local.position()] {
                    Some(targets) => targets.clone(),
                    None => vec![Location::Local(frame.first_cells[local.position()])],
                };
                (targets, frame.locals[*local].ty)
            }
            Root::Result { function, arguments } => {
                let ty = self.model.functions[*function].result.expect("it is used as a place");
                // A call that never returns has no result.
                let result = self.call(*function, arguments, false)?;
                let cells = result.unwrap_or_else(|| vec![Holds::nothing(); self.cells(ty) as usize]);
                let first = self.locals.len() as u32;
                self.locals.extend(cells);
                (vec![Location::Local(first)], ty)
            }
            Root::Choice { condition, then, otherwise } => {
                self.scalar(*condition)?;
                for place in [*then, *otherwise] {
                    if Mentions::of_place(self.model, place).has_effects() {
                        return Err(GivenUp::TooMuch);
                    }
                }
                let mut targets = self.targets(*then)?;
                targets.extend(self.targets(*otherwise)?);
                (targets, self.model.pool[*then].ty)
            }
        };
        for step in &place.steps {
            match (step, &self.model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => {
                    let before: u64 = fields[..*field as usize].iter().map(|field| self.cells(field.ty)).sum();
                    targets.iter_mut().for_each(|target| *target = target.offset(before));
                    ty = fields[*field as usize].ty;
                }
                (Step::Index(index), TypeKind::Array { index: index_type, element }) => {
                    let index = self.scalar(*index)?;
                    let domain = self.model.domain(*index_type);
                    let stride = self.cells(*element);
                    let inside = index.numbers.within(&domain);
                    let Some(inside) = inside.listed() else { return Err(GivenUp::TooMuch) };
                    targets = targets
                        .iter()
                        .flat_map(|target| {
                            inside
                                .iter()
                                .map(|&value| target.offset(domain.code_of(value).expect("it is inside") * stride))
                        })
                        .collect();
                    ty = *element;
                }
                (Step::Index(index), TypeKind::Multiset { capacity, element }) => {
                    self.scalar(*index)?;
                    targets = self.positions(&targets, *capacity, *element)?;
                    targets.iter_mut().for_each(|target| *target = target.offset(1));
                    ty = *element;
                }
                _ => unreachable!("verified: a step fits the type it starts from"),
            }
            if targets.len() > ITERATION_LIMIT {
                return Err(GivenUp::TooMuch);
            }
        }
        Ok(targets)
    }

    /// All positions of multisets; their order is not tracked.
    fn positions(&self, multisets: &[Location], capacity: u64, element: TypeId) -> Abstract<Vec<Location>> {
        if capacity.saturating_mul(multisets.len() as u64) > ITERATION_LIMIT as u64 {
            return Err(GivenUp::TooMuch);
        }
        let stride = self.cells(element) + 1;
        let of = |multiset: &Location| {
            let multiset = *multiset;
            (0..capacity).map(move |position| multiset.offset(position * stride))
        };
        Ok(multisets.iter().flat_map(of).collect())
    }

    /// The values of the cells of a type when it is cleared or undefined.
    fn emptied(&self, ty: TypeId, clear: bool, cells: &mut Vec<Holds>) {
        match &self.model.types[ty].kind {
            TypeKind::Array { index, element } => {
                for _ in 0..self.model.domain(*index).size() {
                    self.emptied(*element, clear, cells);
                }
            }
            TypeKind::Record { fields } => fields.iter().for_each(|field| self.emptied(field.ty, clear, cells)),
            TypeKind::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    cells.push(Holds::number(0));
                    self.emptied(*element, false, cells);
                }
            }
            _ if clear => cells.push(Holds::number(self.model.domain(ty).least())),
            _ => cells.push(Holds::undefined()),
        }
    }

    /// Which cells of a type belong to multisets in it.
    fn cells_in_multisets(&self, ty: TypeId, cells: &mut Vec<bool>) {
        match &self.model.types[ty].kind {
            TypeKind::Array { index, element } => {
                for _ in 0..self.model.domain(*index).size() {
                    self.cells_in_multisets(*element, cells);
                }
            }
            TypeKind::Record { fields } => {
                fields.iter().for_each(|field| self.cells_in_multisets(field.ty, cells));
            }
            TypeKind::Multiset { .. } => cells.extend((0..self.cells(ty)).map(|_| true)),
            _ => cells.push(false),
        }
    }

    // ---- expressions ----

    /// Whether evaluating an expression changes anything.
    fn has_effects(&mut self, expression: ExprId) -> bool {
        if let Some(&known) = self.effects.get(&expression) {
            return known;
        }
        let effects = Mentions::of_expression(self.model, expression).has_effects();
        self.effects.insert(expression, effects);
        effects
    }

    /// The value of an expression that may not be evaluated at all.
    fn scalar_perhaps(&mut self, expression: ExprId) -> Abstract<Holds> {
        if !self.has_effects(expression) {
            return self.scalar(expression);
        }
        let mut ends = Some(self.memory()?);
        let holds = self.scalar(expression)?;
        self.join(&mut ends);
        self.resume(ends);
        Ok(holds)
    }

    fn scalar(&mut self, expression: ExprId) -> Abstract<Holds> {
        self.charge(1)?;
        self.work += 1;
        if self.work > WORK_LIMIT {
            return Err(GivenUp::TooMuch);
        }
        let unknown = Holds::either;
        Ok(match &self.model.pool[expression] {
            &Expr::Constant { value, .. } => Holds::number(value),
            Expr::Read(place) => {
                let targets = self.targets(*place)?;
                Holds { undefined: false, ..self.load_any(&targets) }
            }
            Expr::Unary { operator, operand } => {
                let operand = self.scalar(*operand)?;
                let function = |value: i64| match operator {
                    UnaryOperator::Not => Some(1 - value),
                    UnaryOperator::Negate => value.checked_neg(),
                    UnaryOperator::Complement => Some(!value),
                };
                let numbers = match &operand.numbers {
                    Numbers::Listed(values) => {
                        Numbers::of(values.iter().filter_map(|&value| function(value)).collect())
                    }
                    // The functions decrease.
                    &Numbers::Between(low, high) => {
                        Numbers::Between(function(high).unwrap_or(i64::MIN), function(low).unwrap_or(i64::MAX))
                    }
                };
                Holds { undefined: false, numbers }
            }
            Expr::Binary { operator: BinaryOperator::And, left, right } => {
                let left = self.scalar(*left)?;
                if !left.numbers.contains(1) {
                    return Ok(left);
                }
                let right = self.scalar_perhaps(*right)?;
                if left.numbers.contains(0) { right.union(&Holds::number(0)) } else { right }
            }
            Expr::Binary { operator: BinaryOperator::Or, left, right } => {
                let left = self.scalar(*left)?;
                if !left.numbers.contains(0) {
                    return Ok(left);
                }
                let right = self.scalar_perhaps(*right)?;
                if left.numbers.contains(1) { right.union(&Holds::number(1)) } else { right }
            }
            Expr::Binary { operator: BinaryOperator::Implies, left, right } => {
                let left = self.scalar(*left)?;
                let right = self.scalar_perhaps(*right)?;
                match (left.numbers.contains(0), left.numbers.contains(1)) {
                    (true, true) => right.union(&Holds::number(1)),
                    (false, true) => right,
                    _ => Holds::number(1),
                }
            }
            Expr::Binary { operator, left, right } => {
                let left = self.scalar(*left)?;
                let right = self.scalar(*right)?;
                self.work += (left.numbers.size() * right.numbers.size()).min(CASE_LIMIT as u64) / LISTED_PER_WORK;
                Holds { undefined: false, numbers: binary(*operator, &left.numbers, &right.numbers) }
            }
            Expr::Conditional { condition, then, otherwise } => {
                let condition = self.scalar(*condition)?;
                let mut holds = Holds::nothing();
                if condition.numbers.contains(1) {
                    holds = holds.union(&self.scalar_perhaps(*then)?);
                }
                if condition.numbers.contains(0) {
                    holds = holds.union(&self.scalar_perhaps(*otherwise)?);
                }
                holds
            }
            Expr::Quantified { quantifier, local, range, body } => {
                let (neutral, decisive) = if *quantifier == Quantifier::All { (1, 0) } else { (0, 1) };
                let values = match self.iterations(range)? {
                    Iterations::Exact(values) => values,
                    Iterations::Never => return Ok(Holds::nothing()),
                    Iterations::Among(values) => {
                        self.set_local(*local, values);
                        // Later iterations may see the effects of earlier ones.
                        if self.has_effects(*body) {
                            return Err(GivenUp::TooMuch);
                        }
                        return self.scalar(*body);
                    }
                };
                let mut holds = Holds::number(neutral);
                for value in values {
                    self.set_local(*local, Holds::number(value));
                    let body = self.scalar_perhaps(*body)?;
                    if !body.numbers.contains(neutral) {
                        return Ok(if holds.numbers.contains(decisive) || !body.numbers.is_empty() {
                            Holds::number(decisive)
                        } else {
                            holds
                        });
                    }
                    if body.numbers.contains(decisive) {
                        holds = unknown();
                    }
                }
                holds
            }
            Expr::IsUndefined(place) => {
                let targets = self.targets(*place)?;
                let holds = self.load_any(&targets);
                match (holds.undefined, holds.numbers.is_empty()) {
                    (true, true) => Holds::number(1),
                    (false, _) => Holds::number(0),
                    (true, false) => unknown(),
                }
            }
            Expr::IsMember { value, .. } => {
                self.scalar(*value)?;
                unknown()
            }
            Expr::SameContents { left, right } => {
                for place in [*left, *right] {
                    let cells = self.cells(self.model.pool[place].ty);
                    let targets = self.targets(place)?;
                    for offset in 0..cells {
                        self.charge(targets.len())?;
                        for target in &targets {
                            self.load(target.offset(offset));
                        }
                    }
                }
                unknown()
            }
            Expr::Call { function, arguments } => {
                let is_plain = !self.has_effects(expression);
                let result = self.call(*function, arguments, is_plain)?;
                let holds = result.and_then(|cells| cells.into_iter().next()).unwrap_or_else(Holds::nothing);
                Holds { undefined: false, ..holds }
            }
            Expr::Count { local, multiset, body } => {
                let targets = self.targets(*multiset)?;
                let TypeKind::Multiset { capacity, element } = self.model.types[self.model.pool[*multiset].ty].kind
                else {
                    unreachable!("verified: the place is a multiset")
                };
                for position in self.positions(&targets, capacity, element)? {
                    self.load(position);
                }
                let positions = Numbers::Between(0, capacity.saturating_sub(1) as i64);
                self.set_local(*local, Holds { undefined: false, numbers: positions });
                self.scalar_perhaps(*body)?;
                Holds { undefined: false, numbers: Numbers::of((0..=capacity as i64).collect()) }
            }
            Expr::IsPresent { multiset, position } => {
                let targets = self.targets(*multiset)?;
                let TypeKind::Multiset { capacity, element } = self.model.types[self.model.pool[*multiset].ty].kind
                else {
                    unreachable!("verified: the place is a multiset")
                };
                self.scalar(*position)?;
                let targets = self.positions(&targets, capacity, element)?;
                Holds { undefined: false, ..self.load_any(&targets) }
            }
        })
    }

    fn iterations(&mut self, range: &Iteration) -> Abstract<Iterations> {
        match range {
            Iteration::Over(ty) => {
                let domain = self.model.domain(*ty);
                if domain.size() == 0 || domain.size() > ITERATION_LIMIT as u64 {
                    return Err(GivenUp::TooMuch);
                }
                Ok(Iterations::Exact(domain.values().collect()))
            }
            Iteration::Steps { from, to, step } => {
                let from = self.scalar(*from)?.numbers.bounds();
                let to = self.scalar(*to)?.numbers.bounds();
                let step = step.map(|step| self.scalar(step)).transpose()?;
                let (Some((from_low, from_high)), Some((to_low, to_high))) = (from, to) else {
                    return Ok(Iterations::Never);
                };
                let (low, high) = (from_low.min(to_low), from_high.max(to_high));
                if high.abs_diff(low) > ITERATION_LIMIT as u64 {
                    return Err(GivenUp::TooMuch);
                }
                let step = match step {
                    None => Some(if to_low < from_low { -1 } else { 1 }),
                    Some(step) => match step.numbers.bounds() {
                        Some((least, greatest)) if least == greatest => Some(least),
                        Some(_) => None,
                        None => return Ok(Iterations::Never),
                    },
                };
                match step {
                    Some(step) if from_low == from_high && to_low == to_high => {
                        let leads_away = (from_low < to_low && step < 0) || (from_low > to_low && step > 0);
                        if step == 0 || leads_away {
                            return Ok(Iterations::Never);
                        }
                        let mut values = Vec::new();
                        let mut next = Some(from_low);
                        while let Some(value) = next.filter(|value| (low..=high).contains(value)) {
                            values.push(value);
                            next = value.checked_add(step);
                        }
                        Ok(Iterations::Exact(values))
                    }
                    // All values between the bounds: possibly more than the steps reach, never fewer.
                    _ => {
                        Ok(Iterations::Among(Holds { undefined: false, numbers: Numbers::of((low..=high).collect()) }))
                    }
                }
            }
        }
    }

    fn set_local(&mut self, local: LocalId, holds: Holds) {
        let cell = self.frame().first_cells[local.position()] as usize;
        self.locals[cell] = holds;
    }

    // ---- calls and statements ----

    /// Calls a function; a plain one changes nothing.
    fn call(
        &mut self,
        function: FunctionId,
        arguments: &'m [Argument],
        is_plain: bool,
    ) -> Abstract<Option<Vec<Holds>>> {
        if self.frames.len() > CALL_LIMIT {
            return Err(GivenUp::TooMuch);
        }
        enum Passed {
            Cells(Vec<Holds>),
            Reference(Vec<Location>),
        }
        let callee = &self.model.functions[function];
        let mut passed = Vec::with_capacity(arguments.len());
        for (argument, &parameter) in arguments.iter().zip(&callee.parameters) {
            let cells = self.cells(callee.locals[parameter].ty);
            passed.push(match argument {
                Argument::Value(value) => Passed::Cells(vec![self.scalar(*value)?]),
                Argument::Copy(place) => {
                    let targets = self.targets(*place)?;
                    Passed::Cells(self.load_range(&targets, cells)?)
                }
                Argument::Reference(place) => Passed::Reference(self.targets(*place)?),
                Argument::Undefined => {
                    let mut undefined = Vec::new();
                    self.emptied(callee.locals[parameter].ty, false, &mut undefined);
                    self.charge(undefined.len())?;
                    Passed::Cells(undefined)
                }
            });
        }
        // A function of numbers is called with the same arguments in many instances.
        let number = |passed: &Passed| match passed {
            Passed::Cells(cells) => match &cells[..] {
                [Holds { undefined: false, numbers }] => numbers.listed().filter(|values| values.len() == 1),
                _ => None,
            }
            .map(|values| values[0]),
            Passed::Reference(_) => None,
        };
        let key = if is_plain { passed.iter().map(number).collect::<Option<Vec<i64>>>() } else { None };
        let key = key.map(|numbers| (function, numbers));
        if let Some(known) = key.as_ref().and_then(|key| self.results.get(key)) {
            return Ok(known.clone());
        }
        let (reads, locals) = (self.reads.len(), self.locals.len());
        self.charge(1 + callee.locals.len())?;
        self.push_frame(&callee.locals);
        for (passed, &parameter) in passed.into_iter().zip(&callee.parameters) {
            let frame = self.frames.last_mut().expect("just pushed");
            match passed {
                Passed::Reference(targets) => frame.references[parameter.position()] = Some(targets),
                Passed::Cells(cells) => {
                    let first = frame.first_cells[parameter.position()] as usize;
                    self.locals[first..first + cells.len()].clone_from_slice(&cells);
                }
            }
        }
        // A call that never returns leaves nothing of interest.
        self.body(&callee.body)?;
        self.locals.truncate(locals);
        let result = self.frames.pop().expect("pushed above").result;
        if let Some(key) = key.filter(|_| self.reads.len() == reads) {
            self.results.insert(key, result.clone());
        }
        Ok(result)
    }

    /// Runs a whole body, including returns. Returns false if no run completes it.
    fn body(&mut self, statements: &'m [Statement]) -> Abstract<bool> {
        let reached = self.block(statements)?;
        let mut ends = self.frames.last_mut().expect("a body is being analysed").exits.take();
        if reached {
            self.join(&mut ends);
        }
        Ok(self.resume(ends))
    }

    fn load_range(&mut self, source: &[Location], cells: u64) -> Abstract<Vec<Holds>> {
        let mut range = Vec::with_capacity(cells as usize);
        for offset in 0..cells {
            self.charge(1 + source.len())?;
            let mut holds = Holds::nothing();
            for target in source {
                // A multiset copied as a whole is copied with its absent elements.
                let is_whole = match (target, target.offset(offset)) {
                    (Location::Global(first), Location::Global(slot)) => {
                        self.presences[slot as usize].is_some_and(|presence| presence >= *first)
                    }
                    _ => false,
                };
                let cell = target.offset(offset);
                holds = holds.union(&if is_whole { self.content(cell) } else { self.load(cell) });
            }
            range.push(holds);
        }
        Ok(range)
    }

    /// Runs a block. Returns false if its end is not reached.
    fn block(&mut self, statements: &'m [Statement]) -> Abstract<bool> {
        for statement in statements {
            self.charge(1)?;
            self.work += 1;
            if self.work > WORK_LIMIT {
                return Err(GivenUp::TooMuch);
            }
            if !self.statement(statement)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn statement(&mut self, statement: &'m Statement) -> Abstract<bool> {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let domain = self.model.domain(self.model.pool[*target].ty);
                let targets = self.targets(*target)?;
                let value = self.scalar(*value)?;
                let numbers = value.numbers.within(&domain);
                if numbers.is_empty() {
                    return Ok(false);
                }
                self.store(&targets, 0, &Holds { undefined: false, numbers });
            }
            StatementKind::Copy { target, source } => {
                let cells = self.cells(self.model.pool[*target].ty);
                let targets = self.targets(*target)?;
                let source = self.targets(*source)?;
                for (offset, holds) in self.load_range(&source, cells)?.iter().enumerate() {
                    self.store(&targets, offset as u64, holds);
                    self.note_undefined(&targets, offset as u64, holds);
                }
            }
            StatementKind::Clear(place) | StatementKind::Undefine(place) => {
                let clear = matches!(statement.kind, StatementKind::Clear(_));
                let mut cells = Vec::new();
                self.emptied(self.model.pool[*place].ty, clear, &mut cells);
                let targets = self.targets(*place)?;
                self.charge(cells.len() * (1 + targets.len()))?;
                let mut absent = Vec::with_capacity(cells.len());
                self.cells_in_multisets(self.model.pool[*place].ty, &mut absent);
                for (offset, (holds, is_absent)) in cells.iter().zip(absent).enumerate() {
                    self.store(&targets, offset as u64, holds);
                    if !is_absent {
                        self.note_undefined(&targets, offset as u64, holds);
                    }
                }
            }
            StatementKind::Bind { local, place } => {
                let targets = self.targets(*place)?;
                self.frames.last_mut().expect("a body is being analysed").references[local.position()] = Some(targets);
            }
            StatementKind::If { branches, otherwise } => {
                let mut ends: Option<Memory> = None;
                for (condition, body) in branches {
                    let (overlay, locals) = self.memory()?;
                    if self.assume(*condition, true)? && self.block(body)? {
                        self.join(&mut ends);
                    }
                    self.overlay = overlay;
                    self.locals = locals;
                    if !self.assume(*condition, false)? {
                        return Ok(self.resume(ends));
                    }
                }
                if self.block(otherwise)? {
                    self.join(&mut ends);
                }
                return Ok(self.resume(ends));
            }
            StatementKind::While { condition, body } => {
                let mut ends = None;
                for iteration in 0.. {
                    if iteration == ITERATION_LIMIT {
                        return Err(GivenUp::TooMuch);
                    }
                    let before = self.memory()?;
                    if self.assume(*condition, false)? {
                        self.join(&mut ends);
                    }
                    (self.overlay, self.locals) = before.clone();
                    if !self.assume(*condition, true)? || !self.block(body)? {
                        break;
                    }
                    if iteration < EXACT_ITERATIONS {
                        // Runs with this many iterations are kept separate from those with fewer: a counter keeps its
                        // value, and the loop ends where it should.
                        if (&self.overlay, &self.locals) == (&before.0, &before.1) {
                            break;
                        }
                        continue;
                    }
                    // The next iteration starts from anything seen so far; done when that is stable.
                    let mut joined = Some(before.clone());
                    self.join(&mut joined);
                    let joined = joined.expect("it was something");
                    if joined == before {
                        break;
                    }
                    (self.overlay, self.locals) = joined;
                }
                return Ok(self.resume(ends));
            }
            StatementKind::For { local, range, body } => match self.iterations(range)? {
                Iterations::Never => return Ok(false),
                Iterations::Exact(values) => {
                    for value in values {
                        self.set_local(*local, Holds::number(value));
                        if !self.block(body)? {
                            return Ok(false);
                        }
                    }
                }
                Iterations::Among(values) => {
                    for iteration in 0.. {
                        if iteration == ITERATION_LIMIT {
                            return Err(GivenUp::TooMuch);
                        }
                        let before = self.memory()?;
                        self.set_local(*local, values.clone());
                        let mut joined = Some(before.clone());
                        if self.block(body)? {
                            self.join(&mut joined);
                        }
                        let joined = joined.expect("it was something");
                        let is_stable = joined == before;
                        self.resume(Some(joined));
                        if is_stable {
                            break;
                        }
                    }
                }
            },
            StatementKind::Call { function, arguments } => {
                self.call(*function, arguments, false)?;
            }
            StatementKind::Return(value) => {
                let cells = match value {
                    None => return self.leave(None),
                    Some(ReturnValue::Value(value)) => vec![self.scalar(*value)?],
                    Some(ReturnValue::Copy(place)) => {
                        let cells = self.cells(self.model.pool[*place].ty);
                        let targets = self.targets(*place)?;
                        self.load_range(&targets, cells)?
                    }
                };
                return self.leave(Some(cells));
            }
            StatementKind::Assert { condition, .. }
            | StatementKind::Require { condition, .. }
            | StatementKind::Assume(condition) => {
                return self.assume(*condition, true);
            }
            StatementKind::Cover { condition, .. } => {
                self.scalar(*condition)?;
            }
            StatementKind::Print(_) => {}
            StatementKind::Error { .. } => return Ok(false),
            StatementKind::MultisetAdd { multiset, element } => {
                let positions = self.multiset_positions(*multiset)?;
                let cells = match element {
                    MultisetElement::Value(value) => vec![self.scalar(*value)?],
                    MultisetElement::Copy(place) => {
                        let cells = self.cells(self.model.pool[*place].ty);
                        let source = self.targets(*place)?;
                        self.load_range(&source, cells)?
                    }
                };
                self.add(&positions, 0, &Holds::number(1));
                let mut scalars = Vec::new();
                self.element_types(*multiset, &mut scalars);
                for (offset, (holds, ty)) in cells.into_iter().zip(scalars).enumerate() {
                    let numbers = match ty {
                        Some(ty) => holds.numbers.within(&self.model.domain(ty)),
                        None => holds.numbers,
                    };
                    let holds = Holds { undefined: holds.undefined, numbers };
                    self.add(&positions, offset as u64 + 1, &holds);
                    self.note_undefined(&positions, offset as u64 + 1, &holds);
                }
            }
            StatementKind::MultisetRemove { multiset, position } => {
                let positions = self.multiset_positions(*multiset)?;
                self.scalar(*position)?;
                self.remove(*multiset, &positions);
            }
            StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                let positions = self.multiset_positions(*multiset)?;
                let last = (positions.len() as i64 - 1).max(0);
                self.set_local(*local, Holds { undefined: false, numbers: Numbers::Between(0, last) });
                self.scalar_perhaps(*condition)?;
                self.remove(*multiset, &positions);
            }
        }
        Ok(true)
    }

    /// All positions of the multiset at a place.
    fn multiset_positions(&mut self, multiset: PlaceId) -> Abstract<Vec<Location>> {
        let TypeKind::Multiset { capacity, element } = self.model.types[self.model.pool[multiset].ty].kind else {
            unreachable!("verified: the place is a multiset")
        };
        let targets = self.targets(multiset)?;
        self.positions(&targets, capacity, element)
    }

    /// The types of the cells of an element; `None` for the cells of a nested multiset.
    fn element_types(&self, multiset: PlaceId, scalars: &mut Vec<Option<TypeId>>) {
        let TypeKind::Multiset { element, .. } = self.model.types[self.model.pool[multiset].ty].kind else {
            unreachable!("verified: the place is a multiset")
        };
        if self.model.is_scalar(element) {
            scalars.push(Some(element));
        } else {
            // The cells of a copy are already in range.
            scalars.extend(std::iter::repeat_n(None, self.cells(element) as usize));
        }
    }

    /// Adds to the possible values of cells: the position does not matter, and positions are sorted in the end.
    fn add(&mut self, targets: &[Location], offset: u64, holds: &Holds) {
        for target in targets {
            let old = self.content(target.offset(offset));
            self.set(target.offset(offset), old.union(holds));
        }
    }

    fn remove(&mut self, multiset: PlaceId, positions: &[Location]) {
        let mut scalars = Vec::new();
        self.element_types(multiset, &mut scalars);
        self.add(positions, 0, &Holds::number(0));
        for offset in 0..scalars.len() {
            self.add(positions, offset as u64 + 1, &Holds { undefined: true, numbers: Numbers::none() });
        }
    }

    /// A return: merges the memory here with the memory at other exits.
    fn leave(&mut self, cells: Option<Vec<Holds>>) -> Abstract<bool> {
        if let Some(cells) = cells {
            let result = &mut self.frames.last_mut().expect("a body is being analysed").result;
            *result = Some(match result.take() {
                None => cells,
                Some(old) => old.iter().zip(&cells).map(|(old, new)| old.union(new)).collect(),
            });
        }
        let mut exits = self.frames.last_mut().expect("a body is being analysed").exits.take();
        self.join(&mut exits);
        self.frames.last_mut().expect("a body is being analysed").exits = exits;
        Ok(false)
    }

    fn join(&self, ends: &mut Option<Memory>) {
        match ends {
            None => *ends = Some((self.overlay.clone(), self.locals.clone())),
            Some((overlay, locals)) => {
                for (&slot, holds) in &self.overlay {
                    let old = overlay.get(&slot).unwrap_or(&self.known[slot as usize]).union(holds);
                    overlay.insert(slot, old);
                }
                for (slot, holds) in overlay.iter_mut() {
                    if !self.overlay.contains_key(slot) {
                        *holds = holds.union(&self.known[*slot as usize]);
                    }
                }
                for (old, new) in locals.iter_mut().zip(&self.locals) {
                    *old = old.union(new);
                }
            }
        }
    }

    fn resume(&mut self, ends: Option<Memory>) -> bool {
        match ends {
            Some((overlay, locals)) => {
                self.overlay = overlay;
                self.locals = locals;
                true
            }
            None => false,
        }
    }
}

/// The scalar cells of a type.
pub(crate) fn scalar_types(model: &Model, ty: TypeId, scalars: &mut Vec<TypeId>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for _ in 0..model.domain(*index).size() {
                scalar_types(model, *element, scalars);
            }
        }
        TypeKind::Record { fields } => {
            for field in fields {
                scalar_types(model, field.ty, scalars);
            }
        }
        _ => scalars.push(ty),
    }
}

/// The valuations of parameters, or a single empty one if they are not enumerated.
fn instances(
    interpreter: &Interpreter<'_>,
    model: &Model,
    parameters: &[Parameter],
    locals: &Table<LocalId, Local>,
    budget: &Budget,
) -> Abstract<Vec<Option<Vec<i64>>>> {
    if is_enumerated(model, parameters, locals) {
        let mut all = Vec::new();
        for arguments in interpreter.instances(parameters, locals) {
            budget.spend(1)?;
            all.push(Some(arguments));
        }
        Ok(all)
    } else {
        Ok(vec![None])
    }
}

/// The largest number of instances of one action that are enumerated; beyond it, parameters become inputs.
const INSTANCE_LIMIT: u64 = 200_000;
/// The same limit if a parameter is an array or record: the number of instances grows exponentially with its size.
/// Small numbers are enumerated, because then initial states that coincide for different parameters are recognised as
/// equal.
const COMPOUND_LIMIT: u64 = 32;

/// Whether the instances of an action are enumerated.
pub(crate) fn is_enumerated(model: &Model, parameters: &[Parameter], locals: &Table<LocalId, Local>) -> bool {
    let mut instances = 1u64;
    let mut limit = INSTANCE_LIMIT;
    for parameter in parameters {
        let own = locals[parameter.local].ty;
        if !model.is_scalar(own) {
            limit = COMPOUND_LIMIT;
        }
        if let Iteration::Over(ty) = parameter.range {
            let mut scalars = Vec::new();
            if model.cells(ty) > COMPOUND_LIMIT {
                return false;
            }
            scalar_types(model, ty, &mut scalars);
            for scalar in scalars {
                // The size of the domain of all 2^64 numbers is reported as 0.
                let size = model.domain(scalar).size().wrapping_sub(1).saturating_add(1);
                instances = instances.saturating_mul(size);
            }
        }
    }
    instances <= limit
}
