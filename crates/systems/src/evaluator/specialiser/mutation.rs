//! What may be written: locals whose value is not fixed by their initialisation, and slots of the state that no rule
//! ever changes.

use std::rc::Rc;

use quotient_ir::walk::{Node, call_of, push_statement_nodes, visit_nodes, visit_statements, written_place};
use quotient_ir::{
    Argument, Expr, ExprId, Interpreter, Layout, Local, LocalId, Model, Outcome, PlaceId, Root, Statement,
    StatementKind, Step, Table, TableIndex, TypeId, TypeKind,
};

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
    search.roots.extend(condition.map(Node::Expression));
    search.statements(body);
    let mut mutated = vec![false; locals.len()];
    for place in search.finish() {
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
        search.roots.push(Node::Expression(rule.guard));
        search.statements(&rule.body);
    }
    for property in model.properties.iter() {
        search.roots.extend(property.formula.conditions().map(Node::Expression));
    }
    // Whoever calls it: writes of a function count as written.
    for function in model.functions.iter() {
        search.statements(&function.body);
    }
    let mut written = search.finish();
    written.sort_unstable();
    written.dedup();
    for place in written {
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
    let mut untouched = vec![Some(0); layout.slots.len()];
    for place in search.finish() {
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

/// Finds the places that are written to, or that references are made to.
struct WrittenPlaces<'m> {
    model: &'m Model,
    written: Vec<PlaceId>,
    /// What statements use.
    roots: Vec<Node>,
}

impl<'m> WrittenPlaces<'m> {
    fn new(model: &'m Model) -> Self {
        Self { model, written: Vec::new(), roots: Vec::new() }
    }

    fn statements(&mut self, statements: &[Statement]) {
        visit_statements(statements, &mut |statement| {
            match &statement.kind {
                StatementKind::Bind { place, .. } => self.written(*place),
                StatementKind::Call { arguments, .. } => self.references(arguments),
                _ => written_place(statement).into_iter().for_each(|place| self.written(place)),
            }
            push_statement_nodes(statement, &mut self.roots);
        });
    }

    /// All places, also those that references are made to in calls inside expressions.
    fn finish(mut self) -> Vec<PlaceId> {
        let model = self.model;
        visit_nodes(model, std::mem::take(&mut self.roots), |node| {
            if let Some((_, arguments)) = call_of(model, node) {
                self.references(arguments);
            }
        });
        self.written
    }

    fn references(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            if let Argument::Reference(place) = argument {
                self.written(*place);
            }
        }
    }

    fn written(&mut self, place: PlaceId) {
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            self.written.push(place);
            if let Root::Choice { then, otherwise, .. } = &self.model.pool[place].root {
                waiting.extend([*then, *otherwise]);
            }
        }
    }
}
