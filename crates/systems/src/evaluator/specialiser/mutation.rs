//! What may be written: locals whose value is not fixed by their initialisation, and slots of the state that no rule
//! ever changes.

use std::rc::Rc;

use quotient_ir::{
    Argument, Expr, ExprId, Interpreter, Iteration, Layout, Local, LocalId, Model, MultisetElement, Outcome, PlaceId,
    ReturnValue, Root, Statement, StatementKind, Step, Table, TableIndex, TypeId, TypeKind,
};
use rustc_hash::FxHashSet;

/// The largest number of starts that are run to see whether they agree.
const START_LIMIT: usize = 256;

/// For each local of an owner whether a statement writes to it or makes a reference to it.
pub(super) fn mutated_locals(
    model: &Model,
    locals: &Table<LocalId, Local>,
    condition: Option<ExprId>,
    body: &[Statement],
) -> Rc<[bool]> {
    let mut search = WrittenPlaces::new(model);
    search.expressions.extend(condition);
    search.statements(body);
    search.drain();
    let mut mutated = vec![false; locals.len()];
    for place in search.written {
        if let Root::Local(local) = &model.pool[place].root {
            mutated[local.position()] = true;
        }
    }
    mutated.into()
}

/// For each slot its value, if it is the same in every start and no rule writes to it.
///
/// The slot then has that value in every reachable state and in every image of one under a symmetry of the model:
/// symmetries map starts to starts and steps to steps.
pub(in crate::evaluator) fn constant_slots(interpreter: &Interpreter<'_>) -> Vec<Option<i64>> {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let nothing = vec![None; layout.slots.len()];
    // Multisets are sorted after each step, which writes to them implicitly.
    if !layout.multisets().is_empty() {
        return nothing;
    }
    let mut constants: Option<Vec<Option<i64>>> = None;
    let mut runs = 0;
    for (id, start) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&start.parameters, &start.locals) {
            runs += 1;
            if runs > START_LIMIT {
                return nothing;
            }
            match (interpreter.run_start(id, &arguments), &mut constants) {
                (Outcome::Next { state, .. }, None) => constants = Some(state.0),
                (Outcome::Next { state, .. }, Some(constants)) => {
                    for (constant, value) in constants.iter_mut().zip(&state.0) {
                        *constant = constant.filter(|_| constant == value);
                    }
                }
                (Outcome::Pruned, _) => {}
                (Outcome::Fault(_), _) => return nothing,
            }
        }
    }
    let Some(mut constants) = constants else { return nothing };
    let mut search = WrittenPlaces::new(model);
    for rule in model.rules.iter() {
        search.expressions.push(rule.guard);
        search.statements(&rule.body);
    }
    for property in model.properties.iter() {
        search.expressions.extend(property.formula.conditions());
    }
    // Whoever calls it: writes of a function count as written.
    for function in model.functions.iter() {
        search.statements(&function.body);
    }
    search.drain();
    search.written.sort_unstable();
    search.written.dedup();
    for place in search.written {
        forget(model, layout, place, &mut constants);
    }
    constants
}

/// For each slot, whether statements may write to it, including everything functions may write.
pub(super) fn written_slots(model: &Model, layout: &Layout, body: &[Statement]) -> Vec<bool> {
    let mut search = WrittenPlaces::new(model);
    search.statements(body);
    for function in model.functions.iter() {
        search.statements(&function.body);
    }
    search.drain();
    let mut untouched = vec![Some(0); layout.slots.len()];
    for place in search.written {
        forget(model, layout, place, &mut untouched);
    }
    untouched.iter().map(Option::is_none).collect()
}

/// Forgets the contents of all slots that a place may denote.
fn forget(model: &Model, layout: &Layout, place: PlaceId, constants: &mut [Option<i64>]) {
    let entry = &model.pool[place];
    // References are followed where they are made.
    let Root::Variable(variable) = entry.root else { return };
    let first = layout.first_slot(variable).position();
    forget_within(model, first, model.variables[variable].ty, &entry.steps, constants);
}

fn forget_within(model: &Model, first: usize, ty: TypeId, steps: &[Step], constants: &mut [Option<i64>]) {
    let cells = model.cells(ty) as usize;
    match (steps.split_first(), &model.types[ty].kind) {
        (Some((Step::Field(field), rest)), TypeKind::Record { fields }) => {
            let field = *field as usize;
            let offset: u64 = fields[..field].iter().map(|before| model.cells(before.ty)).sum();
            forget_within(model, first + offset as usize, fields[field].ty, rest, constants);
        }
        (Some((Step::Index(index), rest)), TypeKind::Array { index: index_type, element }) => {
            let stride = model.cells(*element) as usize;
            let domain = model.domain(*index_type);
            let known = match model.pool[*index] {
                Expr::Constant { value, .. } => domain.code_of(value),
                _ => None,
            };
            let codes = known.map_or(0..domain.size(), |code| code..code + 1);
            for code in codes {
                forget_within(model, first + code as usize * stride, *element, rest, constants);
            }
        }
        _ => constants[first..first + cells].fill(None),
    }
}

struct WrittenPlaces<'m> {
    model: &'m Model,
    /// Places that are written to, or that references are made to.
    written: Vec<PlaceId>,
    // Expressions may be nested deeply, so they wait in a list rather than on the stack.
    expressions: Vec<ExprId>,
    places: Vec<PlaceId>,
    seen_expressions: FxHashSet<ExprId>,
    seen_places: FxHashSet<PlaceId>,
}

impl<'m> WrittenPlaces<'m> {
    fn new(model: &'m Model) -> Self {
        Self {
            model,
            written: Vec::new(),
            expressions: Vec::new(),
            places: Vec::new(),
            seen_expressions: FxHashSet::default(),
            seen_places: FxHashSet::default(),
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        let mut waiting: Vec<&Statement> = statements.iter().collect();
        while let Some(statement) = waiting.pop() {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    self.written(*target);
                    self.expressions.push(*value);
                }
                StatementKind::Copy { target, source } => {
                    self.written(*target);
                    self.places.push(*source);
                }
                StatementKind::Clear(place) | StatementKind::Undefine(place) => self.written(*place),
                StatementKind::Bind { place, .. } => self.written(*place),
                StatementKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        self.expressions.push(*condition);
                        waiting.extend(body);
                    }
                    waiting.extend(otherwise);
                }
                StatementKind::While { condition, body } => {
                    self.expressions.push(*condition);
                    waiting.extend(body);
                }
                StatementKind::For { range, body, .. } => {
                    self.iteration(range);
                    waiting.extend(body);
                }
                StatementKind::Call { arguments, .. } => self.arguments(arguments),
                StatementKind::Return(Some(ReturnValue::Value(value))) => self.expressions.push(*value),
                StatementKind::Return(Some(ReturnValue::Copy(place))) => self.places.push(*place),
                StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => {}
                StatementKind::Assert { condition, .. }
                | StatementKind::Require { condition, .. }
                | StatementKind::Assume(condition)
                | StatementKind::Cover { condition, .. } => self.expressions.push(*condition),
                StatementKind::MultisetAdd { multiset, element } => {
                    self.written(*multiset);
                    match element {
                        MultisetElement::Value(value) => self.expressions.push(*value),
                        MultisetElement::Copy(place) => self.places.push(*place),
                    }
                }
                StatementKind::MultisetRemove { multiset, position } => {
                    self.written(*multiset);
                    self.expressions.push(*position);
                }
                StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
                    self.written(*multiset);
                    self.expressions.push(*condition);
                }
            }
        }
    }

    fn drain(&mut self) {
        loop {
            if let Some(expression) = self.expressions.pop() {
                if self.seen_expressions.insert(expression) {
                    self.expression(expression);
                }
            } else if let Some(place) = self.places.pop() {
                if self.seen_places.insert(place) {
                    self.place(place);
                }
            } else {
                return;
            }
        }
    }

    fn expression(&mut self, expression: ExprId) {
        let model = self.model;
        match &model.pool[expression] {
            Expr::Constant { .. } => {}
            Expr::Read(place) | Expr::IsUndefined(place) => self.places.push(*place),
            Expr::Unary { operand, .. } => self.expressions.push(*operand),
            Expr::Binary { left, right, .. } => self.expressions.extend([*left, *right]),
            Expr::Conditional { condition, then, otherwise } => {
                self.expressions.extend([*condition, *then, *otherwise]);
            }
            Expr::Quantified { range, body, .. } => {
                self.iteration(range);
                self.expressions.push(*body);
            }
            Expr::Count { multiset, body, .. } => {
                self.places.push(*multiset);
                self.expressions.push(*body);
            }
            Expr::IsPresent { multiset, position } => {
                self.places.push(*multiset);
                self.expressions.push(*position);
            }
            Expr::IsMember { value, .. } => self.expressions.push(*value),
            Expr::SameContents { left, right } => self.places.extend([*left, *right]),
            Expr::Call { arguments, .. } => self.arguments(arguments),
        }
    }

    fn place(&mut self, place: PlaceId) {
        let model = self.model;
        let entry = &model.pool[place];
        match &entry.root {
            Root::Variable(_) | Root::Local(_) => {}
            Root::Result { arguments, .. } => self.arguments(arguments),
            Root::Choice { condition, then, otherwise } => {
                self.expressions.push(*condition);
                self.places.extend([*then, *otherwise]);
            }
        }
        for step in &entry.steps {
            if let Step::Index(index) = step {
                self.expressions.push(*index);
            }
        }
    }

    fn iteration(&mut self, range: &Iteration) {
        if let Iteration::Steps { from, to, step } = range {
            self.expressions.extend([*from, *to]);
            self.expressions.extend(*step);
        }
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.expressions.push(*value),
                Argument::Copy(place) => self.places.push(*place),
                Argument::Reference(place) => self.written(*place),
                Argument::Undefined => {}
            }
        }
    }

    /// A place that is written to, or that a reference is made to.
    fn written(&mut self, place: PlaceId) {
        self.places.push(place);
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            self.written.push(place);
            if let Root::Choice { then, otherwise, .. } = &self.model.pool[place].root {
                waiting.extend([*then, *otherwise]);
            }
        }
    }
}
