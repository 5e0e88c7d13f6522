//! The values of expressions and the locations of places.

use std::sync::Arc;

use super::instances::{Steps, Values};
use super::machine::{Area, Cells, Contents, Location, Machine, Run};
use crate::expression::{BinaryOperator, Expr, Iteration, Quantifier, Root, Step};
use crate::fault::FaultKind;
use crate::index::{ExprId, LocalId, PlaceId, TypeId};
use crate::types::{Domain, TypeKind};

impl<'i, 'm: 'i> Machine<'i, 'm> {
    /// The value of an expression.
    pub(super) fn evaluate(&mut self, expression: ExprId) -> Run<i64> {
        self.nested(|machine| machine.evaluate_here(expression))
    }

    /// Whether a condition holds.
    pub(super) fn is_true(&mut self, condition: ExprId) -> Run<bool> {
        Ok(self.evaluate(condition)? != 0)
    }

    fn evaluate_here(&mut self, expression: ExprId) -> Run<i64> {
        self.charge(1)?;
        match &self.model.pool[expression] {
            Expr::Constant { value, .. } => Ok(*value),
            Expr::Read(place) => {
                let location = self.locate(*place)?;
                match self.cell(&location) {
                    Some(value) => Ok(value),
                    None => {
                        let message = format!("read of undefined {}", self.named_place(*place, &location));
                        self.fault(FaultKind::UndefinedRead, message)
                    }
                }
            }
            Expr::Unary { operator, operand } => {
                let value = self.evaluate(*operand)?;
                self.unless_overflow(operator.apply(value), expression)
            }
            Expr::Binary { operator, left, right } => self.evaluate_binary(expression, *operator, *left, *right),
            Expr::Conditional { condition, then, otherwise } => {
                let chosen = if self.is_true(*condition)? { then } else { otherwise };
                self.evaluate(*chosen)
            }
            Expr::Quantified { quantifier, local, range, body } => {
                let values = self.values(range)?;
                // The value of the body that decides the quantifier.
                let decisive = *quantifier == Quantifier::Any;
                let found = self.binding(*local, |machine| {
                    let mut next = Some(values.first());
                    while let Some(value) = next {
                        machine.bind(*local, value)?;
                        if machine.is_true(*body)? == decisive {
                            return Ok(true);
                        }
                        next = values.after(value);
                    }
                    Ok(false)
                })?;
                Ok(i64::from(found == decisive))
            }
            Expr::Count { local, multiset, body } => {
                let location = self.locate(*multiset)?;
                let ty = self.model.pool[*multiset].ty;
                Ok(self.positions_where(*local, &location, ty, *body)?.len() as i64)
            }
            Expr::IsUndefined(place) => {
                let location = self.locate(*place)?;
                Ok(i64::from(self.cell(&location).is_none()))
            }
            Expr::IsPresent { multiset, position } => {
                let location = self.locate(*multiset)?;
                let ty = self.model.pool[*multiset].ty;
                let position = self.position(ty, *multiset, *position)?;
                Ok(i64::from(self.is_present(&self.position_location(&location, ty, position))))
            }
            Expr::IsMember { value, ty } => {
                let value = self.evaluate(*value)?;
                Ok(i64::from(self.domain(*ty).contains(value)))
            }
            Expr::SameContents { left, right } => {
                let count = self.interpreter.facts.of(self.model.pool[*left].ty).cells;
                let left = self.locate(*left)?;
                let right = self.locate(*right)?;
                self.charge(count)?;
                Ok(i64::from(self.cells(&left, count) == self.cells(&right, count)))
            }
            Expr::Call { function, arguments } => {
                let result = self.call(*function, arguments)?;
                let value = result.first().copied().flatten();
                Ok(value.expect("verified: the function returns a scalar, and a return has a value"))
            }
        }
    }

    fn evaluate_binary(
        &mut self,
        expression: ExprId,
        operator: BinaryOperator,
        left: ExprId,
        right: ExprId,
    ) -> Run<i64> {
        let left_value = self.evaluate(left)?;
        match operator {
            BinaryOperator::And if left_value == 0 => return Ok(0),
            BinaryOperator::Or if left_value != 0 => return Ok(1),
            BinaryOperator::Implies if left_value == 0 => return Ok(1),
            _ => {}
        }
        let (a, b) = (left_value, self.evaluate(right)?);
        match (operator.apply(a, b), operator) {
            (None, BinaryOperator::Divide | BinaryOperator::Remainder) if b == 0 => {
                let message = format!("division by zero in `{}`", self.expression_text(expression));
                self.fault(FaultKind::DivisionByZero, message)
            }
            (result, _) => self.unless_overflow(result, expression),
        }
    }

    fn unless_overflow(&self, result: Option<i64>, expression: ExprId) -> Run<i64> {
        match result {
            Some(value) => Ok(value),
            None => {
                let message = format!("integer overflow in `{}`", self.expression_text(expression));
                self.fault(FaultKind::Overflow, message)
            }
        }
    }

    /// The location of a place.
    pub(super) fn locate(&mut self, place: PlaceId) -> Run<Location> {
        self.nested(|machine| machine.locate_here(place))
    }

    fn locate_here(&mut self, place: PlaceId) -> Run<Location> {
        self.charge(1)?;
        let model = self.model;
        let entry = &model.pool[place];
        let (mut location, mut ty) = match &entry.root {
            Root::Variable(variable) => {
                let offset = crate::TableIndex::position(self.interpreter.layout.first_slot(*variable));
                (Location { area: Area::Globals, offset }, model.variables[*variable].ty)
            }
            Root::Local(local) => {
                let height = self.frames.len() - 1;
                let location = match &self.frame().contents[*local] {
                    Contents::Cells(_) => Location { area: Area::Local { height, local: *local }, offset: 0 },
                    Contents::Reference(target) => target.clone().expect("verified: a reference is bound before use"),
                };
                (location, self.frame().locals[*local].ty)
            }
            Root::Result { function, arguments } => {
                let cells = self.call(*function, arguments)?;
                let ty = model.functions[*function].result.expect("verified: the function has a result");
                (Location { area: Area::Temporary(Arc::new(cells)), offset: 0 }, ty)
            }
            Root::Choice { condition, then, otherwise } => {
                let chosen = if self.is_true(*condition)? { *then } else { *otherwise };
                (self.locate(chosen)?, model.pool[chosen].ty)
            }
        };
        for step in &entry.steps {
            match (step, &model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => {
                    location.offset += self.interpreter.facts.of(ty).field_offsets[*field as usize];
                    ty = fields[*field as usize].ty;
                }
                (Step::Index(index), TypeKind::Array { element, .. }) => {
                    let code = self.position(ty, place, *index)?;
                    location.offset += code * self.interpreter.facts.of(*element).cells;
                    ty = *element;
                }
                (Step::Index(index), TypeKind::Multiset { element, .. }) => {
                    let position = self.position(ty, place, *index)?;
                    location = self.position_location(&location, ty, position);
                    if !self.is_present(&location) {
                        let message = format!("`{}` is an absent element of a multiset", self.place_text(place));
                        return self.fault(FaultKind::AbsentElement, message);
                    }
                    location.offset += 1;
                    ty = *element;
                }
                _ => unreachable!("verified: a step fits the type it starts from"),
            }
        }
        Ok(location)
    }

    /// Evaluates an index of an array or multiset and converts it to a position from 0.
    pub(super) fn position(&mut self, container: TypeId, place: PlaceId, index: ExprId) -> Run<usize> {
        let value = self.evaluate(index)?;
        let domain = self.interpreter.facts.of(container).domain.as_ref();
        if let Some(code) = domain.and_then(|domain| domain.code_of(value)) {
            return Ok(usize::try_from(code).expect("the number of cells is limited"));
        }
        let range = match &self.model.types[container].kind {
            TypeKind::Array { index, .. } => self.range_text(*index),
            TypeKind::Multiset { capacity, .. } if *capacity > 0 => format!("0..{}", capacity - 1),
            _ => "of no position".to_owned(),
        };
        let shown = match &self.model.pool[index] {
            Expr::Constant { ty, .. } => self.model.value_name(*ty, value),
            Expr::Read(read) => self.model.value_name(self.model.pool[*read].ty, value),
            _ => value.to_string(),
        };
        let message = format!("index {shown} is out of range {range} in `{}`", self.place_text(place));
        self.fault(FaultKind::IndexOutOfRange, message)
    }

    /// The location of the "present" cell of a position of a multiset.
    pub(super) fn position_location(&self, multiset: &Location, ty: TypeId, position: usize) -> Location {
        let TypeKind::Multiset { element, .. } = &self.model.types[ty].kind else {
            unreachable!("verified: the place is a multiset");
        };
        let stride = self.interpreter.facts.of(*element).cells + 1;
        Location { area: multiset.area.clone(), offset: multiset.offset + position * stride }
    }

    /// Whether the "present" cell at a location is set.
    pub(super) fn is_present(&self, location: &Location) -> bool {
        self.cell(location) == Some(1)
    }

    /// The present positions of a multiset for which a condition holds, in order. The condition is
    /// evaluated for every present position.
    pub(super) fn positions_where(
        &mut self,
        local: LocalId,
        multiset: &Location,
        ty: TypeId,
        condition: ExprId,
    ) -> Run<Vec<usize>> {
        let TypeKind::Multiset { capacity, .. } = self.model.types[ty].kind else {
            unreachable!("verified: the place is a multiset");
        };
        self.binding(local, |machine| {
            let mut found = Vec::new();
            for position in 0..usize::try_from(capacity).expect("the number of cells is limited") {
                machine.charge(1)?;
                if machine.is_present(&machine.position_location(multiset, ty, position)) {
                    machine.bind(local, position as i64)?;
                    if machine.is_true(condition)? {
                        found.push(position);
                    }
                }
            }
            Ok(found)
        })
    }

    /// Evaluates the bounds of an iteration.
    pub(super) fn values(&mut self, range: &Iteration) -> Run<Values> {
        match range {
            Iteration::Over(ty) => Ok(Values::Domain(self.domain(*ty).clone())),
            Iteration::Steps { from, to, step } => {
                let from = self.evaluate(*from)?;
                let to = self.evaluate(*to)?;
                let step = match step {
                    Some(step) => self.evaluate(*step)?,
                    None if to < from => -1,
                    None => 1,
                };
                if step == 0 {
                    return self.fault(FaultKind::BadStep, "a range with a step of 0 never ends".into());
                }
                if (from < to && step < 0) || (from > to && step > 0) {
                    let message = format!("a step of {step} never leads from {from} to {to}");
                    return self.fault(FaultKind::BadStep, message);
                }
                Ok(Values::Steps(Steps { from, to, step }))
            }
        }
    }

    /// Runs something that binds a local, and restores the local's contents afterwards.
    pub(super) fn binding<T>(&mut self, local: LocalId, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let before = self.local_mut(local).clone();
        let result = run(self)?;
        *self.local_mut(local) = before;
        Ok(result)
    }

    /// Sets a bound variable; one iteration.
    pub(super) fn bind(&mut self, local: LocalId, value: i64) -> Run<()> {
        self.charge(1)?;
        let entry = &self.frame().locals[local];
        self.check_range(entry.ty, value, || format!("`{}`", entry.name))?;
        *self.local_mut(local) = Contents::Cells(vec![Some(value)]);
        Ok(())
    }

    fn domain(&self, ty: TypeId) -> &'i Domain {
        self.interpreter.facts.of(ty).domain.as_ref().expect("verified: the type is scalar")
    }

    /// A copy of the contents of a place.
    pub(super) fn contents(&mut self, place: PlaceId) -> Run<Cells> {
        let location = self.locate(place)?;
        let count = self.interpreter.facts.of(self.model.pool[place].ty).cells;
        self.charge(count)?;
        Ok(self.cells(&location, count).to_vec())
    }
}
