//! Slots that say which elements of an array a rule uses: the channel that a process has got, say. Where such a slot is
//! read as the index of a record or array, the instances of the rule can be unfolded for each of its values on its own:
//! their functions are small, and each concerns one element only.

use quotient_ir::walk::{Node, push_statement_nodes, visit_nodes, visit_statements};
use quotient_ir::{
    Expr, ExprId, Layout, LocalId, Model, Parameter, PlaceId, Root, Rule, StatementKind, Step, TableIndex, TypeKind,
};

/// The largest number of values of such a slot.
const VALUES: usize = 16;
/// The largest number of such slots of one instance.
const POINTERS: usize = 2;

/// For an instance of a rule, the slots by whose values it is unfolded.
pub(crate) fn pointers(
    model: &Model,
    layout: &Layout,
    rule: &Rule,
    arguments: &[i64],
    values: &impl Fn(u32) -> usize,
) -> Vec<u32> {
    let mut nodes = vec![Node::Expression(rule.guard)];
    visit_statements(&rule.body, &mut |statement| push_statement_nodes(statement, &mut nodes));
    let mut places = Vec::new();
    visit_nodes(model, nodes, |node| {
        if let Node::Place(place) = node {
            places.push(place);
        }
    });
    let mut slots: Vec<u32> = Vec::new();
    for place in places {
        for index in indices_of_elements(model, &rule.parameters, place) {
            let Expr::Read(read) = &model.pool[index] else { continue };
            slots.extend(slot_of(model, layout, rule, arguments, *read));
        }
    }
    // A slot that the rule itself changes, such as the length of a queue, is not one.
    let mut written = Vec::new();
    visit_statements(&rule.body, &mut |statement| match &statement.kind {
        StatementKind::Assign { target, .. } => written.push(*target),
        StatementKind::Clear(target) | StatementKind::Undefine(target) => written.push(*target),
        _ => {}
    });
    let written: Vec<u32> =
        written.into_iter().filter_map(|place| slot_of(model, layout, rule, arguments, place)).collect();
    slots.sort_unstable();
    slots.dedup();
    slots.retain(|slot| !written.contains(slot));
    slots.retain(|&slot| (2..=VALUES).contains(&values(slot)));
    slots.truncate(POINTERS);
    slots
}

/// The indices with which a place of a variable chooses a record or array.
fn indices_of_elements(model: &Model, parameters: &[Parameter], place: PlaceId) -> Vec<ExprId> {
    let place = &model.pool[place];
    let Root::Variable(variable) = &place.root else { return Vec::new() };
    let mut ty = model.variables[*variable].ty;
    let mut found = Vec::new();
    for step in &place.steps {
        match (step, &model.types[ty].kind) {
            (Step::Field(field), TypeKind::Record { fields }) => ty = fields[*field as usize].ty,
            (Step::Index(index), TypeKind::Array { element, .. }) => {
                let is_parameter = matches!(&model.pool[*index], Expr::Read(read)
                    if local(model, *read).is_some_and(|local| parameters.iter().any(|own| own.local == local)));
                if model.cells(*element) > 1 && !is_parameter {
                    found.push(*index);
                }
                ty = *element;
            }
            _ => break,
        }
    }
    found
}

/// The local that a place is, as a whole.
fn local(model: &Model, place: PlaceId) -> Option<LocalId> {
    match &model.pool[place] {
        quotient_ir::Place { root: Root::Local(local), steps, .. } if steps.is_empty() => Some(*local),
        _ => None,
    }
}

/// The slot that a place of an instance is, whatever the state.
fn slot_of(model: &Model, layout: &Layout, rule: &Rule, arguments: &[i64], place: PlaceId) -> Option<u32> {
    let place = &model.pool[place];
    let Root::Variable(variable) = &place.root else { return None };
    let mut ty = model.variables[*variable].ty;
    let mut slot = layout.first_slot(*variable).position() as u64;
    for step in &place.steps {
        match (step, &model.types[ty].kind) {
            (Step::Field(field), TypeKind::Record { fields }) => {
                slot += fields[..*field as usize].iter().map(|field| model.cells(field.ty)).sum::<u64>();
                ty = fields[*field as usize].ty;
            }
            (Step::Index(index), TypeKind::Array { index: index_type, element }) => {
                let value = match &model.pool[*index] {
                    Expr::Constant { value, .. } => *value,
                    Expr::Read(read) => argument(model, rule, arguments, local(model, *read)?)?,
                    _ => return None,
                };
                slot += model.domain(*index_type).code_of(value)? * model.cells(*element);
                ty = *element;
            }
            _ => return None,
        }
    }
    (model.cells(ty) == 1).then_some(slot as u32)
}

/// The value of a parameter.
fn argument(model: &Model, rule: &Rule, arguments: &[i64], local: LocalId) -> Option<i64> {
    let mut first = 0;
    for parameter in &rule.parameters {
        let cells = model.cells(rule.locals[parameter.local].ty) as usize;
        if parameter.local == local {
            return if cells == 1 { arguments.get(first).copied() } else { None };
        }
        first += cells;
    }
    None
}
