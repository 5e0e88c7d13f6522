//! Unfolds a model into functions of its state: for each instance of a rule, the condition under which it can fire and
//! the conditions under which it writes each value to each slot; likewise for initial-state programs and properties.
//! This is the static-single-assignment form of the paper (Zhang et al. 2013, section IV-B) with the versioned
//! variables substituted away: loops and calls are unrolled, and array accesses through computed indices become one
//! case per index value.

mod cells;
mod conditions;
mod multisets;
mod numbers;
mod places;
mod pointers;
mod statements;
mod step_domain;

use rustc_hash::FxHashMap;

use quotient_ir::{
    Action, BinaryOperator, Budget, Expr, ExprId, FunctionId, Layout, Local, LocalId, LocalKind, Model, Parameter,
    PropertyId, PropertyKind, Span, Spent, Statement, Table, TableIndex, TypeId, TypeKind,
};

use crate::circuit::{Circuit, NodeId, TooLarge, Value};
use crate::event::{Event, Write, Written};
use crate::mentions::Mentions;
use crate::multisets::Multisets;
use multisets::Added;
pub(crate) use pointers::pointers;
use step_domain::Steps;

/// Why an action could not be unfolded. All variables it mentions are then treated as fixed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// A function is too large to represent.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A loop with an unknown number of iterations.
    #[error("a loop does not end after {LOOP_LIMIT} iterations whatever the state")]
    Loop,
    /// A recursion that is not known to terminate.
    #[error("a recursion does not end after {CALL_LIMIT} calls whatever the state")]
    Recursion,
    /// Something depends on which position of a multiset an element was added to.
    #[error("it depends on where in a multiset an element was added")]
    MultisetOrder,
    /// The functions of the whole model are too many.
    #[error("the unfolded text is too large")]
    Size,
    /// The budget is spent. Nothing may be concluded from it.
    #[error(transparent)]
    Spent(#[from] Spent),
}

const LOOP_LIMIT: usize = 4096;
/// The largest number of cases of loop bounds that are unfolded one by one.
const BOUND_LIMIT: usize = 64;
const CALL_LIMIT: usize = 128;
/// The largest number of nodes to which a model is unfolded.
const NODE_LIMIT: usize = 8_000_000;

/// A scalar cell while an event is unfolded.
#[derive(Clone, Debug)]
struct Cell {
    undefined: NodeId,
    value: Value,
}

/// A global cell: the value written to it so far, if any.
#[derive(Clone, Debug)]
struct GlobalCell {
    written: NodeId,
    cell: Cell,
}

/// Where a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The cells a designator can denote, each with its condition.
type Targets = Vec<(Location, NodeId)>;

/// The activation of a rule, function or property.
struct Frame<'m> {
    locals: &'m Table<LocalId, Local>,
    first_cells: Vec<u32>,
    references: Vec<Option<Targets>>,
    result_type: Option<TypeId>,
    result: Option<Vec<Cell>>,
}

/// When something goes wrong, and at which place of the text.
#[derive(Clone, Copy, Debug)]
struct PlacedFault {
    condition: NodeId,
    span: Span,
}

/// The result of a call, and when it causes a run-time error.
#[derive(Clone, Debug)]
struct CallResult {
    result: Option<Vec<Cell>>,
    faults: Vec<PlacedFault>,
}

/// Unfolds one model over a circuit.
pub(crate) struct Unfolder<'m> {
    model: &'m Model,
    layout: &'m Layout,
    pub(crate) circuit: Circuit,
    globals: Vec<Option<GlobalCell>>,
    written: Vec<u32>,
    locals: Vec<Cell>,
    frames: Vec<Frame<'m>>,
    alive: NodeId,
    faults: Vec<PlacedFault>,
    /// Whether the places of faults are to be known.
    places_faults: bool,
    drops: Vec<NodeId>,
    covers: Vec<(PropertyId, NodeId)>,
    /// The multisets of the state, and the elements added to them.
    multisets: Multisets,
    additions: Vec<Added>,
    /// The guard of the event, once it is known.
    guard: NodeId,
    /// Functions whose calls can be unfolded regardless of when they are reached: they change only their own locals and
    /// are not recursive.
    plain: Vec<bool>,
    /// The results of plain functions for given numbers in the original state.
    results: FxHashMap<(FunctionId, Vec<i64>), CallResult>,
    /// The statement being unfolded.
    span: Span,
    /// The last statement that wrote each slot.
    writers: FxHashMap<u32, Span>,
    /// Whether each queried expression contains a call that is not plain.
    delicate: FxHashMap<ExprId, bool>,
    /// Slots with one value in the states that the event is unfolded for.
    assumed: Vec<(u32, Option<i64>)>,
}

impl<'m> Unfolder<'m> {
    /// An unfolder over the values each slot can hold. Slots beyond the layout's are inputs (the
    /// cells of parameters that are not enumerated).
    pub(crate) fn new(
        model: &'m Model,
        layout: &'m Layout,
        values: Vec<Vec<Option<i64>>>,
        wide: Vec<bool>,
        multisets: Multisets,
        budget: &Budget,
    ) -> Self {
        Self {
            model,
            layout,
            globals: vec![None; values.len()],
            circuit: Circuit::new(values, wide, budget),
            written: Vec::new(),
            locals: Vec::new(),
            frames: Vec::new(),
            alive: NodeId::TRUE,
            faults: Vec::new(),
            places_faults: false,
            drops: Vec::new(),
            covers: Vec::new(),
            multisets,
            additions: Vec::new(),
            guard: NodeId::TRUE,
            plain: plain_functions(model),
            results: FxHashMap::default(),
            span: Span::default(),
            writers: FxHashMap::default(),
            delicate: FxHashMap::default(),
            assumed: Vec::new(),
        }
    }

    /// Unfolds an instance of a rule for the states in which some slots have certain values.
    pub(crate) fn event_where(
        &mut self,
        action: Action,
        arguments: &[i64],
        assumed: Vec<(u32, Option<i64>)>,
    ) -> Result<Event, Refusal> {
        self.assumed = assumed;
        let event = self.event(action, arguments, None);
        self.assumed.clear();
        event
    }

    /// The same, which also tells for each place of the text when a step goes wrong there.
    pub(crate) fn placing_faults(self, places_faults: bool) -> Self {
        Self { places_faults, ..self }
    }

    /// Records work.
    fn charge(&mut self, work: usize) -> Result<(), Refusal> {
        if self.circuit.charge(work) { Err(Spent.into()) } else { Ok(()) }
    }

    fn reset(&mut self) {
        for slot in self.written.drain(..) {
            self.globals[slot as usize] = None;
        }
        self.locals.clear();
        self.frames.clear();
        self.alive = NodeId::TRUE;
        self.faults.clear();
        self.drops.clear();
        self.covers.clear();
        self.additions.clear();
        self.guard = NodeId::TRUE;
        self.writers.clear();
    }

    fn fault(&mut self, condition: NodeId) {
        self.fault_at(condition, self.span);
    }

    fn fault_at(&mut self, condition: NodeId, span: Span) {
        let mut condition = self.circuit.and([self.alive, condition]);
        if condition != NodeId::FALSE && !self.drops.is_empty() {
            // A step dropped before does not get here. `alive` does not always show that: a call leaves it unchanged.
            let dropped = self.circuit.or(self.drops.clone());
            let continues = self.circuit.not(dropped);
            condition = self.circuit.and([condition, continues]);
        }
        if condition != NodeId::FALSE {
            self.faults.push(PlacedFault { condition, span });
        }
    }

    /// When one of some faults happens.
    fn any_fault(&mut self, faults: &[PlacedFault]) -> NodeId {
        self.circuit.or(faults.iter().map(|fault| fault.condition))
    }

    /// The condition that the assumed slots have their values.
    fn assumption(&mut self) -> NodeId {
        let mut parts = Vec::with_capacity(self.assumed.len());
        for (slot, value) in self.assumed.clone() {
            let position = self.circuit.values(slot).binary_search(&value).ok();
            parts.push(self.circuit.slot_in(slot, position));
        }
        self.circuit.and(parts)
    }

    /// Unfolds an instance of an action. `inputs` gives, for each parameter that is not
    /// enumerated, its first input slot; the others take their cells from `arguments`.
    pub(crate) fn event(&mut self, action: Action, arguments: &[i64], inputs: Option<u32>) -> Result<Event, Refusal> {
        self.reset();
        self.charge(1)?;
        let (parameters, locals, guard, body): (&[Parameter], _, Option<ExprId>, &[Statement]) = match action {
            Action::Start(start) => {
                let start = &self.model.starts[start];
                self.span = start.span;
                self.charge(self.layout.slots.len())?;
                // An initial-state program starts from the initial valuation, not from a state.
                for (slot, entry) in self.layout.slots.iter_enumerated() {
                    let cell = match entry.initial() {
                        Some(value) => Cell { undefined: NodeId::FALSE, value: self.circuit.constant(value) },
                        None => Cell { undefined: NodeId::TRUE, value: self.circuit.nothing() },
                    };
                    let slot = slot.position() as u32;
                    self.globals[slot as usize] = Some(GlobalCell { written: NodeId::TRUE, cell });
                    self.written.push(slot);
                }
                (&start.parameters, &start.locals, None, &start.body)
            }
            Action::Rule(rule) => {
                let rule = &self.model.rules[rule];
                self.span = rule.span;
                (&rule.parameters, &rule.locals, Some(rule.guard), &rule.body)
            }
        };
        self.push_frame(locals, None);
        self.set_parameters(parameters, arguments, inputs);
        let mut guard_parts = Vec::new();
        let mut conditions = Vec::new();
        if let Some(guard) = guard {
            let is_chain = matches!(self.model.pool[guard], Expr::Binary { operator: BinaryOperator::And, .. });
            let operands = if is_chain { self.operands(guard) } else { vec![guard] };
            for operand in operands {
                let first = conditions.len();
                self.collect(operand, false, &mut conditions, true)?;
                let part = self.circuit.and(conditions[first..].to_vec());
                guard_parts.push((operand, part));
            }
        }
        let assumed = self.assumption();
        conditions.push(assumed);
        let guard = self.circuit.and(conditions);
        let mut faults = std::mem::take(&mut self.faults);
        // A guard that fails has no value, whatever its condition looks like.
        let guard_fault = self.any_fault(&faults);
        let guard_fault = self.circuit.and([guard_fault, assumed]);
        let has_value = self.circuit.not(guard_fault);
        let guard = self.circuit.and([guard, has_value]);
        self.guard = guard;
        if guard != NodeId::FALSE {
            self.block(body)?;
        }
        // The body runs only where the guard holds; the guard is evaluated everywhere.
        let body_faults = std::mem::take(&mut self.faults);
        let body_fault = self.any_fault(&body_faults);
        let in_body = self.circuit.and([guard, body_fault]);
        let drops = std::mem::take(&mut self.drops);
        let fault = self.circuit.or([guard_fault, in_body]);
        let mut fault_places = Vec::new();
        if self.places_faults {
            for &PlacedFault { condition, span } in &body_faults {
                let condition = self.circuit.and([guard, condition]);
                faults.push(PlacedFault { condition, span });
            }
            fault_places = self.by_place(&faults);
        }
        let dropped = self.circuit.or(drops);
        let domain = Steps::new(&mut self.circuit, guard, fault, dropped);
        let (guard, dropped) = (domain.steps, domain.dropped);
        let mut written = self.written.clone();
        written.sort_unstable();
        let mut writes = Vec::new();
        let has_steps = guard != NodeId::FALSE;
        if has_steps {
            for slot in written {
                let global = self.globals[slot as usize].clone().expect("it was written");
                // A slot with a single value can only be written that value.
                let is_constant = self.circuit.values(slot).len() < 2 && !self.circuit.is_wide(slot);
                if global.written == NodeId::FALSE || is_constant || slot as usize >= self.layout.slots.len() {
                    continue;
                }
                let mut written = self.written_values(slot, &global);
                if let Written::Cases(cases) = &mut written {
                    // A value that the slot already holds need not be written.
                    let had = |value| match action {
                        Action::Rule(_) => Some((slot, value)),
                        Action::Start(_) => None,
                    };
                    for (value, condition) in cases.iter_mut() {
                        *condition = domain.relevant(&mut self.circuit, *condition, had(*value));
                    }
                    cases.retain(|&(_, condition)| condition != NodeId::FALSE);
                    if cases.is_empty() {
                        continue;
                    }
                }
                writes.push(Write { slot, written });
            }
        }
        let write_spans =
            writes.iter().map(|write| self.writers.get(&write.slot).copied().unwrap_or_default()).collect();
        let additions = if has_steps { self.element_writes(&domain) } else { Vec::new() };
        let mut covers = std::mem::take(&mut self.covers);
        for (_, condition) in &mut covers {
            *condition = domain.relevant(&mut self.circuit, *condition, None);
        }
        covers.retain(|&(_, condition)| condition != NodeId::FALSE && has_steps);
        covers.sort_unstable();
        Ok(Event {
            action,
            arguments: arguments.to_vec(),
            guard,
            fault,
            dropped,
            writes,
            additions,
            covers,
            fault_places,
            guard_parts,
            write_spans,
        })
    }

    /// When something goes wrong at each place, in the order of the text.
    fn by_place(&mut self, faults: &[PlacedFault]) -> Vec<(Span, NodeId)> {
        let mut places: Vec<Span> = faults.iter().map(|fault| fault.span).collect();
        places.sort_unstable();
        places.dedup();
        let condition = |span: Span| {
            let own = faults.iter().filter(|fault| fault.span == span);
            (span, self.circuit.or(own.map(|fault| fault.condition)))
        };
        let mut placed: Vec<(Span, NodeId)> = places.into_iter().map(condition).collect();
        placed.retain(|&(_, condition)| condition != NodeId::FALSE);
        placed
    }

    /// The elements added to multisets, as writes to their columns.
    fn element_writes(&mut self, domain: &Steps) -> Vec<Vec<Write>> {
        let mut additions = Vec::new();
        for added in std::mem::take(&mut self.additions) {
            let entry = self.multisets.iter().nth(added.multiset).copied().expect("it was found there");
            let mut writes = Vec::with_capacity(entry.stride as usize);
            let present = Cell { undefined: NodeId::FALSE, value: self.circuit.constant(1) };
            for (column, cell) in std::iter::once(&present).chain(&added.cells).enumerate() {
                let slot = entry.columns + column as u32;
                if self.circuit.values(slot).len() < 2 && !self.circuit.is_wide(slot) {
                    continue;
                }
                let cell = GlobalCell { written: added.condition, cell: cell.clone() };
                let mut written = self.written_values(slot, &cell);
                if let Written::Cases(cases) = &mut written {
                    for (_, condition) in cases.iter_mut() {
                        *condition = domain.relevant(&mut self.circuit, *condition, None);
                    }
                    cases.retain(|&(_, condition)| condition != NodeId::FALSE);
                    if cases.is_empty() {
                        continue;
                    }
                }
                writes.push(Write { slot, written });
            }
            // Without a write to the first column, no step adds the element.
            if writes.first().is_some_and(|write| write.slot == entry.columns) {
                additions.push(writes);
            }
        }
        additions.sort_unstable();
        additions
    }

    fn written_values(&mut self, slot: u32, global: &GlobalCell) -> Written {
        match &global.cell.value.cases {
            Some(cases) => {
                let undefined = self.circuit.and([global.written, global.cell.undefined]);
                let defined = self.circuit.not(global.cell.undefined);
                let mut values = vec![(None, undefined)];
                for &(value, condition) in cases.clone().iter() {
                    values.push((Some(value), self.circuit.and([global.written, defined, condition])));
                }
                // Impossible values are never written, although the condition does not show it.
                let possible = self.circuit.values(slot);
                let wide = self.circuit.is_wide(slot);
                values.retain(|&(value, condition)| {
                    condition != NodeId::FALSE && (wide || possible.binary_search(&value).is_ok())
                });
                Written::Cases(values)
            }
            None => Written::Number {
                when: global.written,
                undefined: self.circuit.and([global.written, global.cell.undefined]),
                value: global.cell.value.form.clone(),
            },
        }
    }

    /// The condition of a property, and the condition under which it causes a run-time error.
    pub(crate) fn property(&mut self, property: PropertyId, arguments: &[i64]) -> Result<(NodeId, NodeId), Refusal> {
        self.reset();
        self.charge(1)?;
        let property = &self.model.properties[property];
        let Some(condition) = property.formula.condition() else { return Ok((NodeId::TRUE, NodeId::FALSE)) };
        self.push_frame(&property.locals, None);
        self.set_parameters(&property.parameters, arguments, None);
        if matches!(property.kind, PropertyKind::Invariant | PropertyKind::Passing | PropertyKind::Remark) {
            // A run-time error also violates an invariant, a state with one is not transient, and it causes no remark,
            // so only where they hold matters.
            let holds = self.decided(condition, true)?;
            return Ok((holds, NodeId::FALSE));
        }
        let condition = self.condition(condition)?;
        let faults = std::mem::take(&mut self.faults);
        // Its value where evaluation fails does not matter.
        let fault = self.any_fault(&faults);
        let has_value = self.circuit.not(fault);
        Ok((self.circuit.and([condition, has_value]), fault))
    }
    fn push_frame(&mut self, locals: &'m Table<LocalId, Local>, result_type: Option<TypeId>) {
        let mut first_cells = Vec::with_capacity(locals.len());
        for local in locals.iter() {
            first_cells.push(self.locals.len() as u32);
            if local.kind != LocalKind::Reference {
                let mut cells = Vec::new();
                self.undefined_cells(local.ty, &mut cells);
                self.locals.extend(cells);
            }
        }
        self.frames.push(Frame {
            locals,
            first_cells,
            references: vec![None; locals.len()],
            result_type,
            result: None,
        });
    }

    /// The cells of a type when undefined; the cells that mark the elements of a multiset as absent are defined.
    fn undefined_cells(&self, ty: TypeId, cells: &mut Vec<Cell>) {
        match &self.model.types[ty].kind {
            TypeKind::Array { index, element } => {
                for _ in 0..self.model.domain(*index).size() {
                    self.undefined_cells(*element, cells);
                }
            }
            TypeKind::Record { fields } => {
                for field in fields {
                    self.undefined_cells(field.ty, cells);
                }
            }
            TypeKind::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    cells.push(Cell { undefined: NodeId::FALSE, value: self.circuit.constant(0) });
                    self.undefined_cells(*element, cells);
                }
            }
            _ => cells.push(Cell { undefined: NodeId::TRUE, value: self.circuit.nothing() }),
        }
    }

    fn frame(&self) -> &Frame<'m> {
        self.frames.last().expect("an owner is being unfolded")
    }

    fn set_parameters(&mut self, parameters: &'m [Parameter], arguments: &[i64], inputs: Option<u32>) {
        let mut next = 0;
        for parameter in parameters {
            let first = self.frame().first_cells[parameter.local.position()];
            let cells = self.model.cells(self.frame().locals[parameter.local].ty) as u32;
            for cell in 0..cells {
                let value = match inputs {
                    Some(input) => self.circuit.slot(input + next),
                    None => self.circuit.constant(arguments[next as usize]),
                };
                self.locals[(first + cell) as usize] = Cell { undefined: NodeId::FALSE, value };
                next += 1;
            }
        }
    }
}

/// The functions that change only their own locals and are not recursive.
fn plain_functions(model: &Model) -> Vec<bool> {
    let mentions: Vec<Mentions<'_>> =
        model.functions.indices().map(|function| Mentions::of_function_body(model, function)).collect();
    model
        .functions
        .indices()
        .map(|function| {
            let own = &mentions[function.position()];
            let mut recursive = false;
            let mut effects = own.has_effects();
            own.visit_functions(|callee| {
                recursive |= callee == function;
                effects |= mentions[callee.position()].has_effects();
            });
            !recursive && !effects
        })
        .collect()
}
