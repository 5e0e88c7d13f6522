//! The value of one slot that the guard of an instance requires first: that of the place in the text where a process is,
//! as a rule.

use quotient_ir::{BinaryOperator, Expr, Layout, Model, PlaceId, Root, RuleId, SlotId, Step, TableIndex, TypeKind};

/// The slot that the guard of an instance of a rule asks for first, and the value without which it is false.
pub(super) fn required(model: &Model, layout: &Layout, rule: RuleId, arguments: &[i64]) -> Option<(SlotId, i64)> {
    let mut guard = model.rules[rule].guard;
    // What is asked first is asked in any case.
    while let &Expr::Binary { operator: BinaryOperator::And, left, .. } = &model.pool[guard] {
        guard = left;
    }
    let &Expr::Binary { operator: BinaryOperator::Equal, left, right } = &model.pool[guard] else { return None };
    let (&Expr::Read(place), &Expr::Constant { value, .. }) = (&model.pool[left], &model.pool[right]) else {
        return None;
    };
    slot_of(model, layout, rule, arguments, place).map(|slot| (slot, value))
}

/// The slot at a place of a rule, if its indices are constants or parameters.
fn slot_of(model: &Model, layout: &Layout, rule: RuleId, arguments: &[i64], place: PlaceId) -> Option<SlotId> {
    let place = &model.pool[place];
    let Root::Variable(variable) = place.root else { return None };
    let mut ty = model.variables[variable].ty;
    let mut offset = 0;
    for step in &place.steps {
        match (step, &model.types[ty].kind) {
            (Step::Field(field), TypeKind::Record { fields }) => {
                offset += fields[..*field as usize].iter().map(|field| model.cells(field.ty)).sum::<u64>();
                ty = fields[*field as usize].ty;
            }
            (&Step::Index(index), &TypeKind::Array { index: index_type, element }) => {
                let value = match model.pool[index] {
                    Expr::Constant { value, .. } => value,
                    Expr::Read(read) => parameter(model, rule, arguments, read)?,
                    _ => return None,
                };
                offset += model.domain(index_type).code_of(value)? * model.cells(element);
                ty = element;
            }
            _ => return None,
        }
    }
    Some(SlotId::from_position(layout.first_slot(variable).position() + offset as usize))
}

/// The value of a parameter of a rule whose parameters are all scalars.
fn parameter(model: &Model, rule: RuleId, arguments: &[i64], place: PlaceId) -> Option<i64> {
    let place = &model.pool[place];
    let parameters = &model.rules[rule].parameters;
    let Root::Local(local) = place.root else { return None };
    let position = parameters.iter().position(|parameter| parameter.local == local)?;
    let is_plain = place.steps.is_empty() && arguments.len() == parameters.len();
    is_plain.then(|| arguments[position])
}
