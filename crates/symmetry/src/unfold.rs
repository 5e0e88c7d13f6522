//! Unfolds a model into functions of its state: for each instance of a rule the condition under
//! which it can fire and the conditions under which it writes each value to each slot; the same
//! for initial-state programs and properties. This is the static-single-assignment form of the
//! paper (Zhang et al. 2013, section IV-B) with the versioned variables substituted away: loops and
//! calls are unrolled, array accesses through computed indices become one case an index value.

use quotient_ir::{
    Action, Argument, BinaryOperator, Domain, Expr, ExprId, FunctionId, Iteration, Layout, Local, LocalId, LocalKind,
    Model, Parameter, PlaceId, PropertyId, PropertyKind, Quantifier, ReturnValue, Root, SlotId, Span, Statement,
    StatementKind, Step, Table, TableIndex, TypeId, TypeKind, UnaryOperator,
};

use rustc_hash::FxHashMap;

use crate::circuit::{Circuit, KnownValues, Linear, NodeId, Operation, Relabelling, TooLarge, Value};
use crate::mentions::Mentions;

/// One instance of a rule or initial-state program as functions of the state before it.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// What it is an instance of.
    pub(crate) action: Action,
    /// The cells of its parameters.
    pub(crate) arguments: Vec<i64>,
    /// When it can fire.
    pub(crate) guard: NodeId,
    /// When its guard or body runs into a fault.
    pub(crate) fault: NodeId,
    /// When an assumption in its body drops it.
    pub(crate) dropped: NodeId,
    /// What it writes.
    pub(crate) writes: Vec<Write>,
    /// The cover statements it reaches, and when.
    pub(crate) covers: Vec<(PropertyId, NodeId)>,
    /// The parts of the guard of a rule, each with its condition.
    pub(crate) guard_parts: Vec<(ExprId, NodeId)>,
    /// For each write, the last statement that can do it.
    pub(crate) write_spans: Vec<Span>,
}

/// What an event does, without what it is an instance of.
pub(crate) type EventKey = (NodeId, NodeId, NodeId, Vec<Write>, Vec<(PropertyId, NodeId)>);

impl Event {
    /// What it does: equal for events that do the same.
    pub(crate) fn key(&self) -> EventKey {
        (self.guard, self.fault, self.dropped, self.writes.clone(), self.covers.clone())
    }

    /// What the event that does for relabelled slots and values what this one does for the original
    /// ones would do. Nothing if numbers do not allow it.
    pub(crate) fn relabelled(
        &self,
        circuit: &mut Circuit,
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Option<EventKey> {
        let guard = circuit.relabelled(self.guard, relabelling, known)?;
        let fault = circuit.relabelled(self.fault, relabelling, known)?;
        let dropped = circuit.relabelled(self.dropped, relabelling, known)?;
        let mut writes = Vec::with_capacity(self.writes.len());
        for write in &self.writes {
            let slot = relabelling.slot(write.slot);
            let written = match &write.written {
                Written::Cases(cases) => {
                    let mut image = Vec::with_capacity(cases.len());
                    for &(value, condition) in cases {
                        let image_value = if circuit.is_wide(write.slot) {
                            value
                        } else {
                            let position = circuit.values(write.slot).binary_search(&value).ok()?;
                            circuit.values(slot)[relabelling.position(write.slot, position)]
                        };
                        image.push((image_value, circuit.relabelled(condition, relabelling, known)?));
                    }
                    image.sort_unstable();
                    Written::Cases(image)
                }
                Written::Number { when, undefined, value } => {
                    // A number can only go to a slot whose values are the same numbers.
                    let keeps = (0..circuit.values(write.slot).len())
                        .all(|position| relabelling.position(write.slot, position) == position);
                    if !keeps || circuit.values(write.slot) != circuit.values(slot) {
                        return None;
                    }
                    Written::Number {
                        when: circuit.relabelled(*when, relabelling, known)?,
                        undefined: circuit.relabelled(*undefined, relabelling, known)?,
                        value: circuit.relabelled_form(value, relabelling, known)?,
                    }
                }
            };
            writes.push(Write { slot, written });
        }
        writes.sort_by_key(|write| write.slot);
        let mut covers = Vec::with_capacity(self.covers.len());
        for &(property, condition) in &self.covers {
            covers.push((property, circuit.relabelled(condition, relabelling, known)?));
        }
        Some((guard, fault, dropped, writes, covers))
    }

    /// All functions it is made of.
    pub(crate) fn roots(&self) -> Vec<NodeId> {
        let mut roots = vec![self.guard, self.fault, self.dropped];
        for write in &self.writes {
            match &write.written {
                Written::Cases(cases) => roots.extend(cases.iter().map(|&(_, condition)| condition)),
                Written::Number { when, undefined, value } => {
                    roots.extend([*when, *undefined]);
                    roots.extend(value.terms.iter().map(|&(node, _)| node));
                }
            }
        }
        roots.extend(self.covers.iter().map(|&(_, condition)| condition));
        roots
    }
}

/// What an event writes to one slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Write {
    pub(crate) slot: u32,
    pub(crate) written: Written,
}

/// The values written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Written {
    /// Each value (undefined is `None`) with the condition under which it is written.
    Cases(Vec<(Option<i64>, NodeId)>),
    /// A number without few cases, with the condition under which it is written, and the one under
    /// which the slot becomes undefined instead.
    Number { when: NodeId, undefined: NodeId, value: Linear },
}

/// Why an action could not be unfolded. Everything it touches is then treated as fixed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// A function is too large to represent.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A loop whose number of iterations is not known.
    #[error("a loop does not end after {LOOP_LIMIT} iterations whatever the state")]
    Loop,
    /// A recursion that is not known to end.
    #[error("a recursion does not end after {CALL_LIMIT} calls whatever the state")]
    Recursion,
    /// Multisets are kept in a normal form that no permutation of slots respects.
    #[error("multisets are treated as fixed")]
    Multiset,
    /// The functions of the whole model have become too many.
    #[error("the unfolded text is too large")]
    Size,
}

const LOOP_LIMIT: usize = 4096;
/// Cases of the bounds of a loop up to which each is unfolded.
const BOUND_LIMIT: usize = 64;
const CALL_LIMIT: usize = 128;
/// Nodes up to which a model is unfolded.
const NODE_LIMIT: usize = 8_000_000;

/// A scalar cell while an event is unfolded.
#[derive(Clone, Debug)]
struct Cell {
    undefined: NodeId,
    value: Value,
}

/// A global cell: what was written to it so far, if anything was.
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

/// The places a designator can denote, each with its condition.
type Targets = Vec<(Location, NodeId)>;

/// The activation of a rule, function or property.
struct Frame<'m> {
    locals: &'m Table<LocalId, Local>,
    first_cells: Vec<u32>,
    references: Vec<Option<Targets>>,
    result_type: Option<TypeId>,
    result: Option<Vec<Cell>>,
}

/// Where an event takes a step: its guard holds, and it neither faults nor is dropped. What it would do
/// elsewhere does not matter and must not tell events apart.
struct Steps {
    /// The condition, as exact as it is cheap to say.
    steps: NodeId,
    /// Whether it depends on few assignments; then it is exact.
    is_small: bool,
    /// What it says of single slots.
    known: KnownValues,
    /// Where an assumption drops the event, as far as that matters and `steps` does not say so.
    dropped: NodeId,
}

impl Steps {
    fn new(circuit: &mut Circuit, guard: NodeId, fault: NodeId, dropped: NodeId) -> Self {
        let is_small = circuit.is_small(&[guard, fault, dropped]);
        if !is_small {
            let known = circuit.known_values(guard);
            let dropped = circuit.given(dropped, &known, &mut FxHashMap::default());
            let steps = if fault == guard { NodeId::FALSE } else { guard };
            return Self { steps, is_small, known, dropped };
        }
        // A step that is dropped is one that does not happen.
        let (sound, kept) = (circuit.not(fault), circuit.not(dropped));
        let steps = circuit.and([guard, sound, kept]);
        Self { steps, is_small, known: circuit.known_values(steps), dropped: NodeId::FALSE }
    }

    /// A condition as far as it matters: where there is a step, and a slot does not have a value yet.
    fn relevant(&self, circuit: &mut Circuit, condition: NodeId, had: Option<(u32, Option<i64>)>) -> NodeId {
        let had = had.filter(|&(slot, _)| !circuit.is_wide(slot));
        let position = had.and_then(|(slot, value)| Some((slot, circuit.values(slot).binary_search(&value).ok()?)));
        let has_value = match position {
            Some((slot, position)) => circuit.slot_in(slot, [position]),
            None => NodeId::FALSE,
        };
        if self.is_small && circuit.is_small(&[self.steps, has_value, condition]) {
            let differs = circuit.not(has_value);
            let care = circuit.and([self.steps, differs]);
            let relevant = circuit.and([care, condition]);
            return if relevant == care && relevant != NodeId::FALSE { NodeId::TRUE } else { relevant };
        }
        let mut known = self.known.clone();
        if let Some((slot, position)) = position
            && !circuit.exclude(&mut known, slot, position)
        {
            return NodeId::FALSE;
        }
        circuit.given(condition, &known, &mut FxHashMap::default())
    }
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
    faults: Vec<NodeId>,
    drops: Vec<NodeId>,
    covers: Vec<(PropertyId, NodeId)>,
    /// Functions whose calls can be unfolded without regard to when they are reached: they change
    /// nothing but their own locals, and do not call themselves.
    plain: Vec<bool>,
    /// The statement being unfolded.
    span: Span,
    /// The last statement that wrote each slot.
    writers: FxHashMap<u32, Span>,
    /// Whether each expression asked for contains a call that is not plain.
    delicate: FxHashMap<ExprId, bool>,
}

impl<'m> Unfolder<'m> {
    /// An unfolder over the values each slot can hold. Slots beyond the layout's are inputs (the
    /// cells of parameters that are not enumerated).
    pub(crate) fn new(model: &'m Model, layout: &'m Layout, values: Vec<Vec<Option<i64>>>, wide: Vec<bool>) -> Self {
        Self {
            model,
            layout,
            globals: vec![None; values.len()],
            circuit: Circuit::new(values, wide),
            written: Vec::new(),
            locals: Vec::new(),
            frames: Vec::new(),
            alive: NodeId::TRUE,
            faults: Vec::new(),
            drops: Vec::new(),
            covers: Vec::new(),
            plain: plain_functions(model),
            span: Span::default(),
            writers: FxHashMap::default(),
            delicate: FxHashMap::default(),
        }
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
        self.writers.clear();
    }

    fn fault(&mut self, condition: NodeId) {
        let mut condition = self.circuit.and([self.alive, condition]);
        if condition != NodeId::FALSE && !self.drops.is_empty() {
            // A step that was dropped before does not get here. What is alive does not show that
            // everywhere: a call leaves it as it was.
            let dropped = self.circuit.or(self.drops.clone());
            let goes_on = self.circuit.not(dropped);
            condition = self.circuit.and([condition, goes_on]);
        }
        if condition != NodeId::FALSE {
            self.faults.push(condition);
        }
    }

    /// Unfolds an instance of an action. `inputs` gives, for each parameter that is not
    /// enumerated, its first input slot; the others take their cells from `arguments`.
    pub(crate) fn event(&mut self, action: Action, arguments: &[i64], inputs: Option<u32>) -> Result<Event, Refusal> {
        self.reset();
        let (parameters, locals, guard, body): (&[Parameter], _, Option<ExprId>, &[Statement]) = match action {
            Action::Start(start) => {
                let start = &self.model.starts[start];
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
                (&rule.parameters, &rule.locals, Some(rule.guard), &rule.body)
            }
        };
        self.push_frame(locals, None);
        self.set_parameters(parameters, arguments, inputs);
        let mut guard_parts = Vec::new();
        if let Some(guard) = guard {
            let is_chain = matches!(self.model.pool[guard], Expr::Binary { operator: BinaryOperator::And, .. });
            let operands = if is_chain { self.operands(guard) } else { vec![guard] };
            let mut conditions = Vec::with_capacity(operands.len());
            for &operand in &operands {
                self.next_in_chain(operand, &mut conditions, true)?;
            }
            guard_parts = operands.into_iter().zip(conditions).collect();
        }
        let guard = self.circuit.and(guard_parts.iter().map(|&(_, condition)| condition).collect::<Vec<_>>());
        let mut faults = std::mem::take(&mut self.faults);
        // A guard that faults has no value, whatever it looks like.
        let guard_fault = self.circuit.or(faults.clone());
        let has_value = self.circuit.not(guard_fault);
        let guard = self.circuit.and([guard, has_value]);
        if guard != NodeId::FALSE {
            self.block(body)?;
        }
        // The body runs where the guard holds; the guard is evaluated everywhere.
        let body_faults = std::mem::take(&mut self.faults);
        let body_fault = self.circuit.or(body_faults);
        faults.push(self.circuit.and([guard, body_fault]));
        let drops = std::mem::take(&mut self.drops);
        let fault = self.circuit.or(faults);
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
                // What is written to a slot with a single value is that value.
                let is_constant = self.circuit.values(slot).len() < 2 && !self.circuit.is_wide(slot);
                if global.written == NodeId::FALSE || is_constant || slot as usize >= self.layout.slots.len() {
                    continue;
                }
                let mut written = self.written_values(slot, &global);
                if let Written::Cases(cases) = &mut written {
                    // A value that a slot has already need not be written.
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
            covers,
            guard_parts,
            write_spans,
        })
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
                // Whatever is not among the possible values never happens, although that does not
                // show in the condition.
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

    /// The condition of a property and the condition under which it runs into a fault.
    pub(crate) fn property(&mut self, property: PropertyId, arguments: &[i64]) -> Result<(NodeId, NodeId), Refusal> {
        self.reset();
        let property = &self.model.properties[property];
        let Some(condition) = property.condition else { return Ok((NodeId::TRUE, NodeId::FALSE)) };
        self.push_frame(&property.locals, None);
        self.set_parameters(&property.parameters, arguments, None);
        if property.kind == PropertyKind::Invariant {
            // A fault violates an invariant as well, so only where it holds matters.
            let holds = self.decided(condition, true)?;
            return Ok((holds, NodeId::FALSE));
        }
        let condition = self.condition(condition)?;
        let faults = std::mem::take(&mut self.faults);
        Ok((condition, self.circuit.or(faults)))
    }

    /// Where a condition evaluates to `outcome` without a fault. Unlike where it runs into a fault,
    /// this does not depend on the order of a conjunction that is to hold or a disjunction that is
    /// to fail.
    fn decided(&mut self, expression: ExprId, outcome: bool) -> Result<NodeId, Refusal> {
        if self.calls(expression) {
            return self.decided_at_once(expression, outcome);
        }
        match &self.model.pool[expression] {
            Expr::Unary { operator: UnaryOperator::Not, operand } => self.decided(*operand, !outcome),
            Expr::Binary { operator, .. }
                if (*operator == BinaryOperator::And && outcome) || (*operator == BinaryOperator::Or && !outcome) =>
            {
                let mut parts = Vec::new();
                for operand in self.operands(expression) {
                    parts.push(self.decided(operand, outcome)?);
                }
                Ok(self.circuit.and(parts))
            }
            Expr::Binary { operator: BinaryOperator::Implies, left, right } if outcome => {
                let fails = self.decided(*left, false)?;
                let holds = self.decided(*left, true)?;
                let right = self.decided(*right, true)?;
                let both = self.circuit.and([holds, right]);
                Ok(self.circuit.or([fails, both]))
            }
            Expr::Quantified { quantifier, local, range: range @ Iteration::Over(_), body }
                if (*quantifier == Quantifier::All) == outcome =>
            {
                let mut parts = Vec::new();
                for (_, values) in self.iterations(range)? {
                    for value in values {
                        self.set_local(*local, value);
                        parts.push(self.decided(*body, outcome)?);
                    }
                }
                Ok(self.circuit.and(parts))
            }
            _ => self.decided_at_once(expression, outcome),
        }
    }

    fn decided_at_once(&mut self, expression: ExprId, outcome: bool) -> Result<NodeId, Refusal> {
        let faults = self.faults.len();
        let saved = std::mem::replace(&mut self.alive, NodeId::TRUE);
        let condition = self.condition(expression)?;
        self.alive = saved;
        let faults = self.faults.split_off(faults);
        let fault = self.circuit.or(faults);
        let sound = self.circuit.not(fault);
        let condition = if outcome { condition } else { self.circuit.not(condition) };
        Ok(self.circuit.and([condition, sound]))
    }

    /// The operands of a chain of one connective.
    fn operands(&self, expression: ExprId) -> Vec<ExprId> {
        let Expr::Binary { operator: chain_operator, .. } = self.model.pool[expression] else {
            return vec![expression];
        };
        let mut operands = Vec::new();
        let mut pending = vec![expression];
        while let Some(next) = pending.pop() {
            match &self.model.pool[next] {
                Expr::Binary { operator, left, right } if *operator == chain_operator => {
                    pending.push(*right);
                    pending.push(*left);
                }
                _ => operands.push(next),
            }
        }
        operands
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

    /// The cells of a type in which nothing is; those that tell so of a multiset are defined.
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

    // ---- cells ----

    fn initial_cell(&mut self, slot: u32) -> Cell {
        let undefined = match self.circuit.values(slot).first() {
            Some(None) => self.circuit.slot_in(slot, [0]),
            _ => NodeId::FALSE,
        };
        Cell { undefined, value: self.circuit.slot(slot) }
    }

    fn load(&mut self, location: Location) -> Result<Cell, Refusal> {
        match location {
            Location::Local(cell) => Ok(self.locals[cell as usize].clone()),
            Location::Global(slot) => {
                let initial = self.initial_cell(slot);
                match self.globals[slot as usize].clone() {
                    None => Ok(initial),
                    Some(global) => self.choose_cell(global.written, &global.cell, &initial),
                }
            }
        }
    }

    fn choose_cell(&mut self, condition: NodeId, then: &Cell, otherwise: &Cell) -> Result<Cell, Refusal> {
        if condition == NodeId::TRUE {
            return Ok(then.clone());
        }
        if condition == NodeId::FALSE {
            return Ok(otherwise.clone());
        }
        let undefined = self.circuit.choose(condition, then.undefined, otherwise.undefined);
        // An undefined cell has no number to keep.
        let value = if then.undefined == NodeId::TRUE {
            otherwise.value.clone()
        } else if otherwise.undefined == NodeId::TRUE {
            then.value.clone()
        } else {
            self.circuit.choose_value(condition, &then.value, &otherwise.value)?
        };
        Ok(Cell { undefined, value })
    }

    fn load_any(&mut self, targets: &Targets) -> Result<Cell, Refusal> {
        if let [(location, _)] = targets[..] {
            return self.load(location);
        }
        let mut cells = Vec::with_capacity(targets.len());
        for &(location, condition) in targets {
            cells.push((self.load(location)?, condition));
        }
        let undefined: Vec<NodeId> =
            cells.iter().map(|(cell, condition)| self.circuit.and([*condition, cell.undefined])).collect();
        let undefined = self.circuit.or(undefined);
        if cells.iter().all(|(cell, _)| cell.value.cases.is_some()) {
            let mut cases = Vec::new();
            for (cell, condition) in &cells {
                for &(value, case) in cell.value.cases.as_ref().expect("just checked").iter() {
                    cases.push((value, self.circuit.and([*condition, case])));
                }
            }
            return Ok(Cell { undefined, value: self.circuit.value_of_cases(cases)? });
        }
        let mut value = cells.last().map_or_else(|| self.circuit.nothing(), |(cell, _)| cell.value.clone());
        for (cell, condition) in cells.iter().rev().skip(1) {
            value = self.circuit.choose_value(*condition, &cell.value, &value)?;
        }
        Ok(Cell { undefined, value })
    }

    fn store(&mut self, location: Location, condition: NodeId, new: &Cell) -> Result<(), Refusal> {
        if condition == NodeId::FALSE {
            return Ok(());
        }
        match location {
            Location::Local(cell) => {
                let old = self.locals[cell as usize].clone();
                self.locals[cell as usize] = self.choose_cell(condition, new, &old)?;
            }
            Location::Global(slot) => {
                self.writers.insert(slot, self.span);
                let updated = match self.globals[slot as usize].take() {
                    None => {
                        self.written.push(slot);
                        GlobalCell { written: condition, cell: new.clone() }
                    }
                    Some(old) => GlobalCell {
                        written: self.circuit.or([old.written, condition]),
                        cell: self.choose_cell(condition, new, &old.cell)?,
                    },
                };
                self.globals[slot as usize] = Some(updated);
            }
        }
        Ok(())
    }

    fn store_any(&mut self, targets: &Targets, offset: u64, new: &Cell) -> Result<(), Refusal> {
        for &(location, condition) in targets {
            let location = location.offset(offset);
            if let Location::Global(slot) = location
                && new.undefined != NodeId::FALSE
                && !self.layout.slots[SlotId::from_position(slot as usize)].may_be_undefined
            {
                let undefined = self.circuit.and([condition, new.undefined]);
                self.fault(undefined);
            }
            let condition = self.circuit.and([self.alive, condition]);
            self.store(location, condition, new)?;
        }
        Ok(())
    }

    fn load_range(&mut self, targets: &Targets, cells: u64) -> Result<Vec<Cell>, Refusal> {
        (0..cells)
            .map(|offset| {
                let moved = targets.iter().map(|&(location, condition)| (location.offset(offset), condition)).collect();
                self.load_any(&moved)
            })
            .collect()
    }

    // ---- places ----

    fn targets(&mut self, place: PlaceId) -> Result<Targets, Refusal> {
        let place = &self.model.pool[place];
        let (mut targets, mut ty): (Targets, TypeId) = match &place.root {
            Root::Variable(variable) => (
                vec![(Location::Global(self.layout.first_slot(*variable).position() as u32), NodeId::TRUE)],
                self.model.variables[*variable].ty,
            ),
            Root::Local(local) => {
                let frame = self.frame();
                let ty = frame.locals[*local].ty;
                match &frame.references[local.position()] {
                    Some(targets) => (targets.clone(), ty),
                    None => (vec![(Location::Local(frame.first_cells[local.position()]), NodeId::TRUE)], ty),
                }
            }
            Root::Result { function, arguments } => {
                let ty = self.model.functions[*function].result.expect("only functions with a result are roots");
                let cells = match self.call(*function, arguments)? {
                    Some(cells) => cells,
                    // It never returns, which is a fault.
                    None => {
                        let mut cells = Vec::new();
                        self.undefined_cells(ty, &mut cells);
                        cells
                    }
                };
                let first = self.locals.len() as u32;
                self.locals.extend(cells);
                (vec![(Location::Local(first), NodeId::TRUE)], ty)
            }
            Root::Choice { condition, then, otherwise } => {
                let condition = self.condition(*condition)?;
                let opposite = self.circuit.not(condition);
                let ty = self.model.pool[*then].ty;
                let mut targets = Vec::new();
                for (branch, place) in [(condition, *then), (opposite, *otherwise)] {
                    let saved = self.alive;
                    self.alive = self.circuit.and([saved, branch]);
                    let branch_targets = if self.alive == NodeId::FALSE { Vec::new() } else { self.targets(place)? };
                    self.alive = saved;
                    for (location, inner) in branch_targets {
                        targets.push((location, self.circuit.and([branch, inner])));
                    }
                }
                (targets, ty)
            }
        };
        for step in &place.steps {
            match (step, &self.model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => {
                    let before: u64 = fields[..*field as usize].iter().map(|field| self.model.cells(field.ty)).sum();
                    for (location, _) in &mut targets {
                        *location = location.offset(before);
                    }
                    ty = fields[*field as usize].ty;
                }
                (Step::Index(index), TypeKind::Array { index: index_type, element }) => {
                    let index = self.scalar(*index)?;
                    let domain = self.model.domain(*index_type);
                    let stride = self.model.cells(*element);
                    let cases = self.index_cases(&index, &domain)?;
                    let mut indexed = Vec::with_capacity(targets.len() * cases.len());
                    for &(location, outer) in &targets {
                        for &(code, condition) in &cases {
                            let condition = self.circuit.and([outer, condition]);
                            if condition != NodeId::FALSE {
                                indexed.push((location.offset(code * stride), condition));
                            }
                        }
                    }
                    targets = indexed;
                    ty = *element;
                }
                _ => return Err(Refusal::Multiset),
            }
        }
        Ok(targets)
    }

    /// The positions of an index with their conditions; out of range is a fault.
    fn index_cases(&mut self, index: &Value, domain: &Domain) -> Result<Vec<(u64, NodeId)>, Refusal> {
        if let Some(cases) = index.cases.clone() {
            let mut inside = Vec::with_capacity(cases.len());
            let mut outside = Vec::new();
            for &(value, condition) in cases.iter() {
                match domain.code_of(value) {
                    Some(code) => inside.push((code, condition)),
                    None => outside.push(condition),
                }
            }
            let outside = self.circuit.or(outside);
            self.fault(outside);
            return Ok(inside);
        }
        let mut inside = Vec::new();
        for (code, value) in domain.values().enumerate().take(LOOP_LIMIT + 1) {
            if code == LOOP_LIMIT {
                return Err(Refusal::TooLarge(TooLarge::Cases));
            }
            let condition = self.circuit.equals_constant(index, value)?;
            if condition != NodeId::FALSE {
                inside.push((code as u64, condition));
            }
        }
        self.check_range(index, domain)?;
        Ok(inside)
    }

    /// A fault unless the value is in the domain.
    fn check_range(&mut self, value: &Value, domain: &Domain) -> Result<(), Refusal> {
        if let Some(outside) = self.circuit.satisfies(value, |number| !domain.contains(number)) {
            self.fault(outside);
            return Ok(());
        }
        let (low, high) = self.circuit.range(value);
        if domain.pieces().len() > 1 {
            return Err(Refusal::TooLarge(TooLarge::Cases));
        }
        if low < domain.least() {
            let least = self.circuit.constant(domain.least());
            let below = self.circuit.less(value, &least, 0)?;
            self.fault(below);
        }
        if high > domain.greatest() {
            let greatest = self.circuit.constant(domain.greatest());
            let above = self.circuit.less(&greatest, value, 0)?;
            self.fault(above);
        }
        Ok(())
    }

    // ---- expressions ----

    fn condition(&mut self, expression: ExprId) -> Result<NodeId, Refusal> {
        match &self.model.pool[expression] {
            &Expr::Constant { value, .. } => Ok(if value == 0 { NodeId::FALSE } else { NodeId::TRUE }),
            Expr::Unary { operator: UnaryOperator::Not, operand } => {
                let operand = self.condition(*operand)?;
                Ok(self.circuit.not(operand))
            }
            Expr::Binary { operator: BinaryOperator::And | BinaryOperator::Or, .. } => self.chain(expression),
            Expr::Binary { operator: BinaryOperator::Implies, left, right } => {
                let left = self.condition(*left)?;
                let right = self.condition_under(*right, left)?;
                let opposite = self.circuit.not(left);
                Ok(self.circuit.or([opposite, right]))
            }
            Expr::Binary { operator, left, right }
                if matches!(
                    operator,
                    BinaryOperator::Equal
                        | BinaryOperator::NotEqual
                        | BinaryOperator::Less
                        | BinaryOperator::LessOrEqual
                        | BinaryOperator::Greater
                        | BinaryOperator::GreaterOrEqual
                ) =>
            {
                let left = self.scalar(*left)?;
                let right = self.scalar(*right)?;
                Ok(match operator {
                    BinaryOperator::Equal => self.circuit.equal(&left, &right)?,
                    BinaryOperator::NotEqual => {
                        let equal = self.circuit.equal(&left, &right)?;
                        self.circuit.not(equal)
                    }
                    BinaryOperator::Less => self.circuit.less(&left, &right, 0)?,
                    BinaryOperator::LessOrEqual => self.circuit.less(&left, &right, 1)?,
                    BinaryOperator::Greater => self.circuit.less(&right, &left, 0)?,
                    _ => self.circuit.less(&right, &left, 1)?,
                })
            }
            Expr::Conditional { condition, then, otherwise } => {
                let condition = self.condition(*condition)?;
                let opposite = self.circuit.not(condition);
                let then = self.condition_under(*then, condition)?;
                let otherwise = self.condition_under(*otherwise, opposite)?;
                Ok(self.circuit.choose(condition, then, otherwise))
            }
            Expr::Quantified { quantifier, local, range, body } => self.quantified(*quantifier, *local, range, *body),
            Expr::IsUndefined(place) => {
                let targets = self.targets(*place)?;
                Ok(self.load_any(&targets)?.undefined)
            }
            Expr::IsMember { value, ty } => {
                let value = self.scalar(*value)?;
                let domain = self.model.domain(*ty);
                self.circuit
                    .satisfies(&value, |number| domain.contains(number))
                    .ok_or(Refusal::TooLarge(TooLarge::Cases))
            }
            Expr::SameContents { left, right } => {
                let cells = self.model.cells(self.model.pool[*left].ty);
                let left = self.targets(*left)?;
                let right = self.targets(*right)?;
                let left = self.load_range(&left, cells)?;
                let right = self.load_range(&right, cells)?;
                let mut same = Vec::with_capacity(left.len());
                for (a, b) in left.iter().zip(&right) {
                    let both_undefined = self.circuit.and([a.undefined, b.undefined]);
                    let (defined_a, defined_b) = (self.circuit.not(a.undefined), self.circuit.not(b.undefined));
                    let equal = self.circuit.equal(&a.value, &b.value)?;
                    let both_equal = self.circuit.and([defined_a, defined_b, equal]);
                    same.push(self.circuit.or([both_undefined, both_equal]));
                }
                Ok(self.circuit.and(same))
            }
            _ => {
                let value = self.scalar(expression)?;
                Ok(self.circuit.condition(&value)?)
            }
        }
    }

    fn condition_under(&mut self, expression: ExprId, assumption: NodeId) -> Result<NodeId, Refusal> {
        let saved = self.alive;
        self.alive = self.circuit.and([saved, assumption]);
        let condition = if self.alive == NodeId::FALSE { Ok(NodeId::FALSE) } else { self.condition(expression) };
        self.alive = saved;
        condition
    }

    /// A chain of conjunctions or disjunctions, built at once so that its normal form does not
    /// depend on how it is bracketed.
    fn chain(&mut self, expression: ExprId) -> Result<NodeId, Refusal> {
        let Expr::Binary { operator: chain_operator, .. } = self.model.pool[expression] else {
            unreachable!("only called on connectives")
        };
        let conjunction = chain_operator == BinaryOperator::And;
        let operands = self.operands(expression);
        let mut conditions = Vec::with_capacity(operands.len());
        for operand in operands {
            self.next_in_chain(operand, &mut conditions, conjunction)?;
        }
        Ok(if conjunction { self.circuit.and(conditions) } else { self.circuit.or(conditions) })
    }

    /// Evaluates a condition that is reached only where the earlier ones do not decide.
    fn next_in_chain(
        &mut self,
        operand: ExprId,
        conditions: &mut Vec<NodeId>,
        conjunction: bool,
    ) -> Result<(), Refusal> {
        let faults = self.faults.len();
        let saved = self.alive;
        if self.calls(operand) {
            // A call can write, so what is reached matters for more than faults.
            let reached = self.reached(conditions, conjunction);
            self.alive = self.circuit.and([saved, reached]);
        }
        let condition = if self.alive == NodeId::FALSE { NodeId::FALSE } else { self.condition(operand)? };
        self.alive = saved;
        self.limit_faults(faults, conditions, conjunction);
        conditions.push(condition);
        Ok(())
    }

    fn reached(&mut self, earlier: &[NodeId], conjunction: bool) -> NodeId {
        if conjunction {
            self.circuit.and(earlier.iter().copied())
        } else {
            let one = self.circuit.or(earlier.iter().copied());
            self.circuit.not(one)
        }
    }

    /// Whether an expression contains a call for which it matters when it is reached.
    fn calls(&mut self, expression: ExprId) -> bool {
        if let Some(&delicate) = self.delicate.get(&expression) {
            return delicate;
        }
        let mut delicate = false;
        Mentions::of_expression(self.model, expression).visit_functions(|function| {
            delicate |= !self.plain[function.position()];
        });
        self.delicate.insert(expression, delicate);
        delicate
    }

    /// Restricts the faults found since `first` to where evaluation gets that far: where all
    /// earlier conditions hold (for a conjunction) or none does.
    fn limit_faults(&mut self, first: usize, earlier: &[NodeId], conjunction: bool) {
        if self.faults.len() == first || earlier.is_empty() {
            return;
        }
        let reached = self.reached(earlier, conjunction);
        for fault in self.faults.split_off(first) {
            let fault = self.circuit.and([reached, fault]);
            if fault != NodeId::FALSE {
                self.faults.push(fault);
            }
        }
    }

    /// The values of a bound variable or loop variable, by cases where they depend on the state.
    fn iterations(&mut self, range: &Iteration) -> Result<Vec<(NodeId, Vec<i64>)>, Refusal> {
        match range {
            Iteration::Over(ty) => {
                let domain = self.model.domain(*ty);
                if domain.size() > LOOP_LIMIT as u64 || domain.size() == 0 {
                    return Err(Refusal::Loop);
                }
                Ok(vec![(NodeId::TRUE, domain.values().collect())])
            }
            Iteration::Steps { from, to, step } => {
                let from = self.bound_cases(*from)?;
                let to = self.bound_cases(*to)?;
                let step = step.map(|step| self.bound_cases(step)).transpose()?;
                if from.len() * to.len() * step.as_ref().map_or(1, Vec::len) > BOUND_LIMIT {
                    return Err(Refusal::Loop);
                }
                let mut iterations = Vec::new();
                for &(from, first) in &from {
                    for &(to, last) in &to {
                        let default = [(if to < from { -1 } else { 1 }, NodeId::TRUE)];
                        for &(step, by) in step.as_deref().unwrap_or(&default) {
                            let condition = self.circuit.and([first, last, by]);
                            if condition == NodeId::FALSE {
                                continue;
                            }
                            match steps(from, to, step) {
                                Some(values) if values.len() > LOOP_LIMIT => return Err(Refusal::Loop),
                                Some(values) => iterations.push((condition, values)),
                                None => self.fault(condition),
                            }
                        }
                    }
                }
                Ok(iterations)
            }
        }
    }

    /// The numbers that a bound of a range can be.
    fn bound_cases(&mut self, bound: ExprId) -> Result<Vec<(i64, NodeId)>, Refusal> {
        let value = self.scalar(bound)?;
        if value.is_nothing() {
            return Ok(Vec::new());
        }
        if let Some(number) = value.form.as_constant() {
            return Ok(vec![(number, NodeId::TRUE)]);
        }
        value.cases.map(|cases| cases.to_vec()).ok_or(Refusal::Loop)
    }

    fn set_local(&mut self, local: LocalId, value: i64) {
        let cell = self.frame().first_cells[local.position()] as usize;
        self.locals[cell] = Cell { undefined: NodeId::FALSE, value: self.circuit.constant(value) };
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        local: LocalId,
        range: &Iteration,
        body: ExprId,
    ) -> Result<NodeId, Refusal> {
        let conjunction = quantifier == Quantifier::All;
        let mut cases = Vec::new();
        let saved = self.alive;
        for (case, values) in self.iterations(range)? {
            self.alive = self.circuit.and([saved, case]);
            if self.alive == NodeId::FALSE {
                continue;
            }
            let mut conditions = Vec::with_capacity(values.len());
            for value in values {
                self.set_local(local, value);
                self.next_in_chain(body, &mut conditions, conjunction)?;
            }
            let holds = if conjunction { self.circuit.and(conditions) } else { self.circuit.or(conditions) };
            cases.push(self.circuit.and([case, holds]));
        }
        self.alive = saved;
        Ok(self.circuit.or(cases))
    }

    fn scalar(&mut self, expression: ExprId) -> Result<Value, Refusal> {
        if self.circuit.len() > NODE_LIMIT {
            return Err(Refusal::Size);
        }
        match &self.model.pool[expression] {
            &Expr::Constant { value, .. } => Ok(self.circuit.constant(value)),
            Expr::Read(place) => {
                let targets = self.targets(*place)?;
                let cell = self.load_any(&targets)?;
                self.fault(cell.undefined);
                Ok(cell.value)
            }
            Expr::Unary { operator: UnaryOperator::Negate, operand } => {
                let operand = self.scalar(*operand)?;
                let zero = self.circuit.constant(0);
                Ok(self.circuit.sum(&zero, -1, &operand)?)
            }
            Expr::Unary { operator: UnaryOperator::Complement, operand } => {
                let operand = self.scalar(*operand)?;
                let minus_one = self.circuit.constant(-1);
                Ok(self.circuit.sum(&minus_one, -1, &operand)?)
            }
            Expr::Binary { operator, left, right } if arithmetic(*operator) => {
                let left = self.scalar(*left)?;
                let right = self.scalar(*right)?;
                self.arithmetic(*operator, &left, &right)
            }
            Expr::Conditional { condition, then, otherwise } => {
                let condition = self.condition(*condition)?;
                let opposite = self.circuit.not(condition);
                let then = self.scalar_under(*then, condition)?;
                let otherwise = self.scalar_under(*otherwise, opposite)?;
                Ok(match (then, otherwise) {
                    (Some(then), Some(otherwise)) => self.circuit.choose_value(condition, &then, &otherwise)?,
                    (Some(value), None) | (None, Some(value)) => value,
                    (None, None) => self.circuit.nothing(),
                })
            }
            Expr::Call { function, arguments } => {
                let result = self.call(*function, arguments)?.and_then(|cells| cells.into_iter().next());
                let Some(cell) = result else { return Ok(self.circuit.nothing()) };
                self.fault(cell.undefined);
                Ok(cell.value)
            }
            Expr::Count { .. } | Expr::IsPresent { .. } => Err(Refusal::Multiset),
            _ => {
                let condition = self.condition(expression)?;
                Ok(self.circuit.indicator(condition))
            }
        }
    }

    fn scalar_under(&mut self, expression: ExprId, assumption: NodeId) -> Result<Option<Value>, Refusal> {
        let saved = self.alive;
        self.alive = self.circuit.and([saved, assumption]);
        let value = if self.alive == NodeId::FALSE { Ok(None) } else { self.scalar(expression).map(Some) };
        self.alive = saved;
        value
    }

    fn arithmetic(&mut self, operator: BinaryOperator, left: &Value, right: &Value) -> Result<Value, Refusal> {
        if left.is_nothing() || right.is_nothing() {
            return Ok(self.circuit.nothing());
        }
        if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder) {
            let zero = self.circuit.equals_constant(right, 0)?;
            self.fault(zero);
        }
        match operator {
            BinaryOperator::Add => return Ok(self.circuit.sum(left, 1, right)?),
            BinaryOperator::Subtract => return Ok(self.circuit.sum(left, -1, right)?),
            _ => {}
        }
        let function = |a: i64, b: i64| match operator {
            BinaryOperator::Multiply => a.checked_mul(b),
            BinaryOperator::Divide => a.checked_div(b),
            BinaryOperator::Remainder => a.checked_rem(b),
            BinaryOperator::ShiftLeft => shift(a, b),
            BinaryOperator::ShiftRight => shift(a, b.saturating_neg()),
            BinaryOperator::BitAnd => Some(a & b),
            BinaryOperator::BitOr => Some(a | b),
            BinaryOperator::BitXor => Some(a ^ b),
            _ => unreachable!("only arithmetic comes here"),
        };
        if overflows(operator, left, right, &function) {
            return Err(Refusal::TooLarge(TooLarge::Overflow));
        }
        if let Some(value) = self.circuit.combine(left, right, function) {
            return Ok(value?);
        }
        if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder)
            && self.circuit.range(left).0 == i64::MIN
        {
            return Err(Refusal::TooLarge(TooLarge::Overflow));
        }
        let operation = match operator {
            BinaryOperator::Multiply => return Ok(self.circuit.product(left, right)?),
            BinaryOperator::Divide => Operation::Divide,
            BinaryOperator::Remainder => Operation::Remainder,
            BinaryOperator::ShiftLeft => Operation::ShiftLeft,
            BinaryOperator::ShiftRight => Operation::ShiftRight,
            BinaryOperator::BitAnd => Operation::BitAnd,
            BinaryOperator::BitOr => Operation::BitOr,
            _ => Operation::BitXor,
        };
        Ok(self.circuit.operation(operation, left, right)?)
    }

    // ---- calls ----

    fn call(&mut self, function: FunctionId, arguments: &'m [Argument]) -> Result<Option<Vec<Cell>>, Refusal> {
        if self.frames.len() > CALL_LIMIT {
            return Err(Refusal::Recursion);
        }
        enum Passed {
            Cells(Vec<Cell>),
            Reference(Targets),
        }
        let callee = &self.model.functions[function];
        let mut passed = Vec::with_capacity(arguments.len());
        for (argument, &parameter) in arguments.iter().zip(&callee.parameters) {
            let ty = callee.locals[parameter].ty;
            passed.push(match argument {
                Argument::Value(value) => {
                    let value = self.scalar(*value)?;
                    self.check_range(&value, &self.model.domain(ty))?;
                    Passed::Cells(vec![Cell { undefined: NodeId::FALSE, value }])
                }
                Argument::Copy(place) => {
                    let targets = self.targets(*place)?;
                    let cells = self.load_range(&targets, self.model.cells(ty))?;
                    if self.model.is_scalar(ty) {
                        let saved = self.alive;
                        let defined = self.circuit.not(cells[0].undefined);
                        self.alive = self.circuit.and([saved, defined]);
                        self.check_range(&cells[0].value, &self.model.domain(ty))?;
                        self.alive = saved;
                    }
                    Passed::Cells(cells)
                }
                Argument::Reference(place) => Passed::Reference(self.targets(*place)?),
            });
        }
        self.push_frame(&callee.locals, callee.result);
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
        let saved = self.alive;
        let plain = self.plain[function.position()];
        let faults = self.faults.len();
        if plain {
            self.alive = NodeId::TRUE;
        }
        self.block(&callee.body)?;
        if callee.result.is_some() {
            let fell_through = std::mem::replace(&mut self.alive, NodeId::TRUE);
            self.fault(fell_through);
        }
        self.alive = saved;
        if plain {
            for fault in self.faults.split_off(faults) {
                self.fault(fault);
            }
        }
        let frame = self.frames.pop().expect("pushed above");
        Ok(frame.result)
    }

    // ---- statements ----

    fn block(&mut self, statements: &'m [Statement]) -> Result<(), Refusal> {
        for statement in statements {
            if self.alive == NodeId::FALSE {
                break;
            }
            self.statement(statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &'m Statement) -> Result<(), Refusal> {
        self.span = statement.span;
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let ty = self.model.pool[*target].ty;
                let targets = self.targets(*target)?;
                let value = self.scalar(*value)?;
                let domain = self.model.domain(ty);
                self.check_range(&value, &domain)?;
                let value = self.within(value, &domain)?;
                self.store_any(&targets, 0, &Cell { undefined: NodeId::FALSE, value })
            }
            StatementKind::Copy { target, source } => {
                let cells = self.model.cells(self.model.pool[*target].ty);
                let targets = self.targets(*target)?;
                let source = self.targets(*source)?;
                let copied = self.load_range(&source, cells)?;
                for (offset, cell) in copied.iter().enumerate() {
                    self.store_any(&targets, offset as u64, cell)?;
                }
                Ok(())
            }
            StatementKind::Clear(place) => self.fill(*place, true),
            StatementKind::Undefine(place) => self.fill(*place, false),
            StatementKind::Bind { local, place } => {
                let targets = self.targets(*place)?;
                let frame = self.frames.last_mut().expect("a body is being unfolded");
                frame.references[local.position()] = Some(targets);
                Ok(())
            }
            StatementKind::If { branches, otherwise } => {
                let entry = self.alive;
                let mut remaining = entry;
                let mut ends = Vec::with_capacity(branches.len() + 1);
                let mut unchanged = true;
                for (condition, body) in branches {
                    self.alive = remaining;
                    if self.alive == NodeId::FALSE {
                        break;
                    }
                    let condition = self.condition(*condition)?;
                    let opposite = self.circuit.not(condition);
                    let start = self.circuit.and([remaining, condition]);
                    self.alive = start;
                    self.block(body)?;
                    unchanged &= self.alive == start;
                    ends.push(self.alive);
                    remaining = self.circuit.and([remaining, opposite]);
                }
                self.alive = remaining;
                self.block(otherwise)?;
                unchanged &= self.alive == remaining;
                ends.push(self.alive);
                self.alive = if unchanged { entry } else { self.circuit.or(ends) };
                Ok(())
            }
            StatementKind::While { condition, body } => {
                let entry = self.alive;
                let mut ends = Vec::new();
                let mut unchanged = true;
                for iteration in 0.. {
                    if iteration == LOOP_LIMIT {
                        return Err(Refusal::Loop);
                    }
                    let condition = self.condition(*condition)?;
                    let opposite = self.circuit.not(condition);
                    ends.push(self.circuit.and([self.alive, opposite]));
                    let start = self.circuit.and([self.alive, condition]);
                    self.alive = start;
                    if self.alive == NodeId::FALSE {
                        break;
                    }
                    self.block(body)?;
                    unchanged &= self.alive == start;
                    if self.alive == NodeId::FALSE {
                        break;
                    }
                }
                self.alive = if unchanged { entry } else { self.circuit.or(ends) };
                Ok(())
            }
            StatementKind::For { local, range, body } => {
                let entry = self.alive;
                let mut ends = Vec::new();
                let mut unchanged = true;
                for (case, values) in self.iterations(range)? {
                    let start = self.circuit.and([entry, case]);
                    self.alive = start;
                    for value in values {
                        if self.alive == NodeId::FALSE {
                            break;
                        }
                        self.set_local(*local, value);
                        self.block(body)?;
                    }
                    unchanged &= self.alive == start;
                    ends.push(self.alive);
                }
                self.alive = if unchanged { entry } else { self.circuit.or(ends) };
                Ok(())
            }
            StatementKind::Call { function, arguments } => self.call(*function, arguments).map(drop),
            StatementKind::Return(value) => {
                let cells = match value {
                    None => None,
                    Some(ReturnValue::Value(value)) => {
                        let value = self.scalar(*value)?;
                        if let Some(ty) = self.frame().result_type {
                            self.check_range(&value, &self.model.domain(ty))?;
                        }
                        Some(vec![Cell { undefined: NodeId::FALSE, value }])
                    }
                    Some(ReturnValue::Copy(place)) => {
                        let cells = self.model.cells(self.model.pool[*place].ty);
                        let targets = self.targets(*place)?;
                        Some(self.load_range(&targets, cells)?)
                    }
                };
                if let Some(cells) = cells {
                    let old = self.frames.last_mut().expect("a body is being unfolded").result.take();
                    let merged = match old {
                        None => cells,
                        Some(old) => {
                            let alive = self.alive;
                            let mut merged = Vec::with_capacity(cells.len());
                            for (new, old) in cells.iter().zip(&old) {
                                merged.push(self.choose_cell(alive, new, old)?);
                            }
                            merged
                        }
                    };
                    self.frames.last_mut().expect("a body is being unfolded").result = Some(merged);
                }
                self.alive = NodeId::FALSE;
                Ok(())
            }
            StatementKind::Assert { condition, .. } => {
                // What a call in it changes, it changes only where this is reached.
                let holds =
                    if self.calls(*condition) { self.condition(*condition)? } else { self.decided(*condition, true)? };
                let fails = self.circuit.not(holds);
                self.fault(fails);
                Ok(())
            }
            StatementKind::Assume(condition) => {
                let condition = self.condition(*condition)?;
                let opposite = self.circuit.not(condition);
                let dropped = self.circuit.and([self.alive, opposite]);
                if dropped != NodeId::FALSE {
                    self.drops.push(dropped);
                }
                self.alive = self.circuit.and([self.alive, condition]);
                Ok(())
            }
            StatementKind::Cover { condition, property } => {
                let condition = self.condition(*condition)?;
                let reached = self.circuit.and([self.alive, condition]);
                match self.covers.iter_mut().find(|(known, _)| known == property) {
                    Some((_, before)) => *before = self.circuit.or([*before, reached]),
                    None => self.covers.push((*property, reached)),
                }
                Ok(())
            }
            StatementKind::Error { .. } => {
                self.fault(NodeId::TRUE);
                self.alive = NodeId::FALSE;
                Ok(())
            }
            StatementKind::MultisetAdd { .. }
            | StatementKind::MultisetRemove { .. }
            | StatementKind::MultisetRemoveIf { .. } => Err(Refusal::Multiset),
        }
    }

    /// Drops the cases that are out of range: they are faults and never written.
    fn within(&mut self, value: Value, domain: &Domain) -> Result<Value, Refusal> {
        match &value.cases {
            Some(cases) if cases.iter().any(|&(number, _)| !domain.contains(number)) => {
                let inside = cases.iter().copied().filter(|&(number, _)| domain.contains(number)).collect::<Vec<_>>();
                Ok(self.circuit.value_of_cases(inside)?)
            }
            _ => Ok(value),
        }
    }

    fn fill(&mut self, place: PlaceId, least: bool) -> Result<(), Refusal> {
        let ty = self.model.pool[place].ty;
        let targets = self.targets(place)?;
        let mut scalars = Vec::new();
        self.scalars_of(ty, &mut scalars)?;
        for (offset, ty) in scalars.into_iter().enumerate() {
            let cell = if least {
                let value = self.circuit.constant(self.model.domain(ty).least());
                Cell { undefined: NodeId::FALSE, value }
            } else {
                Cell { undefined: NodeId::TRUE, value: self.circuit.nothing() }
            };
            self.store_any(&targets, offset as u64, &cell)?;
        }
        Ok(())
    }

    fn scalars_of(&self, ty: TypeId, scalars: &mut Vec<TypeId>) -> Result<(), Refusal> {
        match &self.model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let mut one = Vec::new();
                self.scalars_of(*element, &mut one)?;
                for _ in 0..self.model.domain(*index).size() {
                    scalars.extend(&one);
                }
            }
            TypeKind::Record { fields } => {
                for field in fields {
                    self.scalars_of(field.ty, scalars)?;
                }
            }
            TypeKind::Multiset { .. } => return Err(Refusal::Multiset),
            _ => scalars.push(ty),
        }
        Ok(())
    }
}

/// The values from one number to another, unless the steps do not lead there.
fn steps(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    if step == 0 || (to > from && step < 0) || (to < from && step > 0) {
        return None;
    }
    let mut values = Vec::new();
    let mut value = from;
    while if step > 0 { value <= to } else { value >= to } {
        values.push(value);
        if values.len() > LOOP_LIMIT {
            break;
        }
        let Some(next) = value.checked_add(step) else { break };
        value = next;
    }
    Some(values)
}

/// Whether an operation on two numbers with few cases has no result for some of them, other than by a
/// division by zero.
fn overflows(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
    function: &impl Fn(i64, i64) -> Option<i64>,
) -> bool {
    let (Some(left), Some(right)) = (&left.cases, &right.cases) else { return false };
    let divides = matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
    let of = |a: i64, b: i64| !(divides && b == 0) && function(a, b).is_none();
    left.iter().any(|&(a, _)| right.iter().any(|&(b, _)| of(a, b)))
}

/// Shifts left by a count, right by a negative one; by 64 or more gives 0, as in the interpreter.
fn shift(value: i64, count: i64) -> Option<i64> {
    match count {
        0..64 => Some(value.wrapping_shl(count as u32)),
        -63..0 => Some(value >> -count),
        _ => Some(0),
    }
}

fn arithmetic(operator: BinaryOperator) -> bool {
    matches!(
        operator,
        BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
    )
}

/// Which functions change nothing but their own locals and do not call themselves.
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
