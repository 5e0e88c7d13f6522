//! The model in which dead slots hold marks: statements at the end of rules and of start programs set them.

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Formula, Iteration, Local, LocalId, LocalKind, Model, Place, PlaceId, PropertyId,
    Root, Span, Statement, StatementKind, Step, Table, TypeId, TypeKind, UnaryOperator,
};
use rustc_hash::FxHashSet;

use super::Mask;
use super::facts::Member;
use super::marks::{Marked, control_slot};
use super::parts::{Parts, PathStep, has_several};
use super::values::Values;
use crate::slice::classes::Part;

/// When the slots of a part are dead.
pub(super) fn masks(parts: &Parts<'_, '_>, marked: &Marked) -> Vec<Mask> {
    let slots = parts.slots(marked.dead.part).iter();
    let mask = |&(slot, member)| {
        let control = control_slot(parts, &marked.dead, member)?;
        Some(Mask { slot, control, dead: marked.dead.values.clone(), mark: marked.mark })
    };
    slots.filter_map(mask).collect()
}

/// The model with marks. Claims that are not checked become true.
pub(super) fn rewritten(parts: &Parts<'_, '_>, checked: &FxHashSet<PropertyId>, found: &[Marked]) -> Model {
    let model = parts.classes.model;
    let mut writer = Writer { parts, marking: model.clone() };
    for marked in found {
        for set in &marked.dead.sets {
            let span = model.rules[set.rule].span;
            let index = match set.member {
                Member::At(index) => Some(index),
                Member::Only | Member::Unknown => None,
            };
            let statement = writer.set(marked, index, set.only_at.as_ref(), span);
            writer.marking.rules[set.rule].body.push(statement);
        }
        if marked.at_start.count() > 0 {
            for start in model.starts.indices() {
                let span = model.starts[start].span;
                let mut locals = std::mem::replace(&mut writer.marking.starts[start].locals, Table::new());
                let statement = writer.set_all(marked, &mut locals, span);
                writer.marking.starts[start].locals = locals;
                writer.marking.starts[start].body.push(statement);
            }
        }
    }
    let mut marking = writer.marking;
    // Its rules are others now.
    marking.net = None;
    let truth = marking.pool.expression(Expr::Constant { value: 1, ty: Model::BOOLEAN });
    for id in model.properties.indices().filter(|id| !checked.contains(id)) {
        if model.properties[id].formula.condition().is_some() {
            marking.properties[id].formula = Formula::Condition(truth);
        }
    }
    marking
}

struct Writer<'w, 'c, 'm> {
    parts: &'w Parts<'c, 'm>,
    marking: Model,
}

impl Writer<'_, '_, '_> {
    /// Sets the mark of a member, at once or only at some control values.
    fn set(&mut self, marked: &Marked, index: Option<ExprId>, only_at: Option<&Values>, span: Span) -> Statement {
        let place = self.place(marked.dead.part, index);
        let kind = match marked.mark {
            None => StatementKind::Undefine(place),
            Some(value) => match &self.marking.types[self.marking.pool[place].ty].kind {
                TypeKind::Array { .. } => StatementKind::Clear(place),
                _ => {
                    let value = self.constant(value, self.marking.pool[place].ty);
                    StatementKind::Assign { target: place, value }
                }
            },
        };
        let set = Statement { kind, span };
        let Some(values) = only_at else { return set };
        let condition = self.is_one_of(marked, index, values);
        Statement { kind: StatementKind::If { branches: vec![(condition, vec![set])], otherwise: Vec::new() }, span }
    }

    /// Sets the marks of all members that need it in a start state.
    fn set_all(&mut self, marked: &Marked, locals: &mut Table<LocalId, Local>, span: Span) -> Statement {
        let Some(index) = marked.dead.control.index else {
            return self.set(marked, None, Some(&marked.at_start), span);
        };
        let name = "member".to_owned();
        let local = locals.push(Local { name, ty: index, kind: LocalKind::Parameter, span });
        let variable = self.marking.pool.place(Place { root: Root::Local(local), steps: Vec::new(), ty: index });
        let member = self.marking.pool.expression(Expr::Read(variable));
        let set = self.set(marked, Some(member), Some(&marked.at_start), span);
        Statement { kind: StatementKind::For { local, range: Iteration::Over(index), body: vec![set] }, span }
    }

    /// Whether the control slot of a member has one of these values.
    fn is_one_of(&mut self, marked: &Marked, index: Option<ExprId>, values: &Values) -> ExprId {
        let control = &marked.dead.control;
        let place = self.place(control.part, index);
        let ty = self.marking.pool[place].ty;
        let read = self.marking.pool.expression(Expr::Read(place));
        let mut condition = None;
        for code in values.codes().filter(|&code| code < control.values()) {
            let value = self.constant(control.domain.value_of(code as u64), ty);
            let equal = Expr::Binary { operator: BinaryOperator::Equal, left: read, right: value };
            let equal = self.marking.pool.expression(equal);
            condition = Some(match condition {
                Some(others) => self.both(BinaryOperator::Or, others, equal),
                None => equal,
            });
        }
        if control.codes == control.values() {
            return condition.expect("there is a value");
        }
        let undefined = self.marking.pool.expression(Expr::IsUndefined(place));
        let is_undefined_meant = values.contains(control.values());
        match (condition, is_undefined_meant) {
            (None, _) => undefined,
            (Some(condition), true) => self.both(BinaryOperator::Or, undefined, condition),
            (Some(condition), false) => {
                let defined = Expr::Unary { operator: UnaryOperator::Not, operand: undefined };
                let defined = self.marking.pool.expression(defined);
                self.both(BinaryOperator::And, defined, condition)
            }
        }
    }

    fn both(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> ExprId {
        self.marking.pool.expression(Expr::Binary { operator, left, right })
    }

    /// A part of a member, as a whole.
    fn place(&mut self, part: Part, index: Option<ExprId>) -> PlaceId {
        let info = self.parts.get(part).expect("a part that is dead, or shows it, is a scalar of a variable");
        let (variable, path) = (info.variable, info.path.clone());
        let mut ty = self.marking.variables[variable].ty;
        let mut index = index;
        let mut steps = Vec::new();
        for step in path {
            match (step, self.marking.types[ty].kind.clone()) {
                (PathStep::Field(field), TypeKind::Record { fields }) => {
                    steps.push(Step::Field(field));
                    ty = fields[field as usize].ty;
                }
                (PathStep::Index(of), TypeKind::Array { element, .. }) => {
                    let at = if has_several(&self.marking, of) {
                        index.take()
                    } else {
                        let only = self.marking.domain(of).least();
                        Some(self.constant(only, of))
                    };
                    // What remains are elements of an array that are set together.
                    let Some(at) = at else { break };
                    steps.push(Step::Index(at));
                    ty = element;
                }
                _ => unreachable!("a path follows the type"),
            }
        }
        self.marking.pool.place(Place { root: Root::Variable(variable), steps, ty })
    }

    /// A constant of a scalar type.
    fn constant(&mut self, value: i64, ty: TypeId) -> ExprId {
        let ty = match &self.marking.types[ty].kind {
            TypeKind::Range { .. } => Model::INTEGER,
            TypeKind::Union { members } => {
                let holds = |member: &&TypeId| self.marking.domain(**member).contains(value);
                members.iter().find(holds).copied().unwrap_or(ty)
            }
            _ => ty,
        };
        self.marking.pool.expression(Expr::Constant { value, ty })
    }
}
