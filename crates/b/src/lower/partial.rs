//! Functions at an argument: the condition under which a function is defined there, and its value. This is more
//! informative than membership, for which a value must be guessed, so it is preferred where a function is stored or
//! applied.

use std::rc::Rc;

use quotient_ir::{BinaryOperator, Expr as IrExpr, ExprId};
use quotient_kit::Building;

use super::super::core::{Expr, Kind, Operator};
use super::items::{Environment, Item, SetItem};
use super::sets::destructure;
use super::shapes::Scalar;
use super::{Lowered, Lowerer};

/// A function at an argument.
#[derive(Clone, Debug)]
pub(super) struct Partial {
    /// Whether the argument belongs to the domain.
    pub(super) defined: ExprId,
    /// The value, meaningful only where the function is defined.
    pub(super) value: Item,
    /// Whether there are several values.
    pub(super) conflict: ExprId,
}

impl Lowerer<'_> {
    /// A function at an argument, if its text determines the value. None for relations that must be searched.
    pub(super) fn partial(
        &mut self,
        function: &Expr,
        argument: &Item,
        environment: &Environment,
    ) -> Lowered<Option<Partial>> {
        let certain = self.truth(false);
        let plain = |defined: ExprId, value: Item| Ok(Some(Partial { defined, value, conflict: certain }));
        match &function.kind {
            Kind::Symbol(_) | Kind::Field(..) => match self.item(function, environment)? {
                Item::Set(set) => self.partial_item(&set, argument),
                _ => Ok(None),
            },
            Kind::Lambda(symbols, condition, body) => {
                let inner = destructure(symbols, argument, environment);
                let defined = self.predicate(condition, &inner)?;
                let value = self.item(body, &inner)?;
                plain(defined, value)
            }
            Kind::Extension(members) if !members.is_empty() => {
                let mut found: Option<Partial> = None;
                for member in members {
                    let pair = self.item(member, environment)?;
                    let (key, value) = pair.parts();
                    let here = self.same(argument, key)?;
                    let next = Partial { defined: here, value: value.clone(), conflict: certain };
                    found = Some(match found {
                        Some(before) => self.both(&before, &next)?,
                        None => next,
                    });
                }
                Ok(found)
            }
            Kind::Sequence(items) if !items.is_empty() => {
                let mut found: Option<Partial> = None;
                for (at, item) in items.iter().enumerate() {
                    let position = at as i64 + 1;
                    let key = Item::Scalar(self.number(position), Scalar::integer(position, position));
                    let here = self.same(argument, &key)?;
                    let next = Partial { defined: here, value: self.item(item, environment)?, conflict: certain };
                    found = Some(match found {
                        Some(before) => self.either(&before, &next),
                        None => next,
                    });
                }
                Ok(found)
            }
            Kind::Conditional(condition, then, otherwise) => {
                let (Some(one), Some(other)) =
                    (self.partial(then, argument, environment)?, self.partial(otherwise, argument, environment)?)
                else {
                    return Ok(None);
                };
                let condition = self.predicate(condition, environment)?;
                Ok(Some(self.chosen(condition, &one, &other)))
            }
            Kind::Let(bindings, body) => {
                let inner = self.let_environment(bindings, environment)?;
                self.partial(body, argument, &inner)
            }
            Kind::Operation(operator, operands) => match (operator, operands.as_slice()) {
                (Operator::Override, [left, right]) => {
                    // Nothing is overridden by nothing.
                    if is_nothing(right) {
                        return self.partial(left, argument, environment);
                    }
                    let Some(new) = self.partial(right, argument, environment)? else {
                        return Ok(None);
                    };
                    if is_nothing(left) {
                        return Ok(Some(new));
                    }
                    let Some(old) = self.partial(left, argument, environment)? else {
                        return Ok(None);
                    };
                    let mut result = self.either(&new, &old);
                    // A conflict that is overridden is harmless.
                    result.conflict = self.conditional(new.defined, new.conflict, old.conflict);
                    Ok(Some(result))
                }
                (Operator::Union, [left, right]) => {
                    if is_nothing(left) {
                        return self.partial(right, argument, environment);
                    }
                    if is_nothing(right) {
                        return self.partial(left, argument, environment);
                    }
                    let (Some(one), Some(other)) =
                        (self.partial(left, argument, environment)?, self.partial(right, argument, environment)?)
                    else {
                        return Ok(None);
                    };
                    self.both(&one, &other).map(Some)
                }
                (Operator::DomainRestriction | Operator::DomainSubtraction, [arguments, rest]) => {
                    let Some(mut rest) = self.partial(rest, argument, environment)? else {
                        return Ok(None);
                    };
                    let belongs = self.member(argument, arguments, environment)?;
                    let kept = if *operator == Operator::DomainRestriction { belongs } else { self.not(belongs) };
                    rest.defined = self.and(rest.defined, kept);
                    rest.conflict = self.and(rest.conflict, kept);
                    Ok(Some(rest))
                }
                (Operator::RangeRestriction | Operator::RangeSubtraction, [rest, values]) => {
                    let Some(mut rest) = self.partial(rest, argument, environment)? else {
                        return Ok(None);
                    };
                    if self.constant_of(rest.conflict) != Some(0) {
                        return Ok(None);
                    }
                    let belongs = self.member(&rest.value, values, environment)?;
                    let kept = if *operator == Operator::RangeRestriction { belongs } else { self.not(belongs) };
                    rest.defined = self.and(rest.defined, kept);
                    Ok(Some(rest))
                }
                (Operator::Identity, [base]) => {
                    let defined = self.member(argument, base, environment)?;
                    plain(defined, argument.clone())
                }
                // A constant function.
                (Operator::Times, [arguments, values]) if matches!(&values.kind, Kind::Extension(it) if it.len() == 1) =>
                {
                    let Kind::Extension(value) = &values.kind else {
                        return Ok(None);
                    };
                    let defined = self.member(argument, arguments, environment)?;
                    let value = self.item(&value[0], environment)?;
                    plain(defined, value)
                }
                // A function that is itself a value of a function.
                (Operator::Apply, [outer, place]) => {
                    let place = self.item(place, environment)?;
                    let Some(found) = self.partial(outer, &place, environment)? else {
                        return Ok(None);
                    };
                    let Item::Set(inner) = &found.value else {
                        return Ok(None);
                    };
                    let Some(mut result) = self.partial_item(inner, argument)? else {
                        return Ok(None);
                    };
                    let unique = self.not(found.conflict);
                    let defined = self.and(found.defined, unique);
                    result.defined = self.inside_domain(defined, result.defined, function);
                    result.conflict = self.and(defined, result.conflict);
                    Ok(Some(result))
                }
                (Operator::Composition, [left, right]) => {
                    let Some(first) = self.partial(left, argument, environment)? else {
                        return Ok(None);
                    };
                    let Some(second) = self.partial(right, &first.value, environment)? else {
                        return Ok(None);
                    };
                    if self.constant_of(first.conflict) != Some(0) || self.constant_of(second.conflict) != Some(0) {
                        return Ok(None);
                    }
                    let defined = self.and(first.defined, second.defined);
                    plain(defined, second.value)
                }
                _ => self.partial_sequence(*operator, operands, function, argument, environment),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn partial_item(&mut self, function: &SetItem, argument: &Item) -> Lowered<Option<Partial>> {
        let certain = self.truth(false);
        match function {
            SetItem::Cells { place, domain, value, total } => {
                let (cell, inside) = self.cell(*place, argument, domain)?;
                let mut defined = inside;
                if !total {
                    let undefined = self.expression(IrExpr::IsUndefined(cell));
                    let present = self.not(undefined);
                    defined = self.and(inside, present);
                }
                let content = self.read(cell);
                Ok(Some(Partial { defined, value: Item::Scalar(content, *value), conflict: certain }))
            }
            SetItem::Table { place, domain, value } => {
                let (cell, inside) = self.cell(*place, argument, domain)?;
                let (present, content) = (self.field(cell, 0), self.field(cell, 1));
                let present = self.read(present);
                let defined = self.and(inside, present);
                let value = value.clone();
                Ok(Some(Partial { defined, value: self.stored_item(content, &value), conflict: certain }))
            }
            SetItem::Choice { condition, then, otherwise } => {
                let (Some(one), Some(other)) =
                    (self.partial_item(then, argument)?, self.partial_item(otherwise, argument)?)
                else {
                    return Ok(None);
                };
                Ok(Some(self.chosen(*condition, &one, &other)))
            }
            SetItem::Value(members, shape) if !members.is_empty() => {
                let (left, right) = shape.parts();
                let mut found: Option<Partial> = None;
                for pair in Rc::clone(members).iter() {
                    let (key, value) = pair.parts();
                    let (key, value) = (self.literal(key, &left), self.literal(value, &right));
                    let here = self.same(argument, &key)?;
                    let next = Partial { defined: here, value, conflict: certain };
                    found = Some(match found {
                        Some(before) => self.both(&before, &next)?,
                        None => next,
                    });
                }
                Ok(found)
            }
            SetItem::Formula(expr, environment) => {
                let (expr, environment) = (Rc::clone(expr), Rc::clone(environment));
                self.partial(&expr, argument, &environment)
            }
            _ => Ok(None),
        }
    }

    /// One of two, by a condition.
    fn chosen(&mut self, condition: ExprId, one: &Partial, other: &Partial) -> Partial {
        Partial {
            defined: self.conditional(condition, one.defined, other.defined),
            value: self.choose(condition, &one.value, &other.value),
            conflict: self.conditional(condition, one.conflict, other.conflict),
        }
    }

    /// The first where it is defined, else the second.
    fn either(&mut self, first: &Partial, second: &Partial) -> Partial {
        Partial {
            defined: self.or(first.defined, second.defined),
            value: self.choose(first.defined, &first.value, &second.value),
            conflict: self.or(first.conflict, second.conflict),
        }
    }

    /// Both at once, which must not differ.
    fn both(&mut self, first: &Partial, second: &Partial) -> Lowered<Partial> {
        let mut result = self.either(first, second);
        let overlap = self.and(first.defined, second.defined);
        if self.constant_of(overlap) != Some(0) {
            let same = self.same(&first.value, &second.value)?;
            let differ = self.not(same);
            let clash = self.and(overlap, differ);
            result.conflict = self.or(result.conflict, clash);
        }
        Ok(result)
    }

    fn partial_sequence(
        &mut self,
        operator: Operator,
        operands: &[Expr],
        whole: &Expr,
        argument: &Item,
        environment: &Environment,
    ) -> Lowered<Option<Partial>> {
        let Item::Scalar(index, Scalar::Integer { low, high }) = argument else {
            return Ok(None);
        };
        let (index, low, high) = (*index, *low, *high);
        let certain = self.truth(false);
        let one = self.number(1);
        Ok(match (operator, operands) {
            (Operator::Append, [list, item]) => {
                let size = self.size(list, environment)?;
                let end = self.arithmetic(BinaryOperator::Add, size, one);
                let at_end = self.equal(index, end);
                let new = Partial { defined: at_end, value: self.item(item, environment)?, conflict: certain };
                if is_nothing(list) {
                    return Ok(Some(new));
                }
                let Some(old) = self.partial(list, argument, environment)? else {
                    return Ok(None);
                };
                Some(self.either(&old, &new))
            }
            (Operator::Prepend, [item, list]) => {
                let at_start = self.equal(index, one);
                let new = Partial { defined: at_start, value: self.item(item, environment)?, conflict: certain };
                if is_nothing(list) {
                    return Ok(Some(new));
                }
                let before = self.arithmetic(BinaryOperator::Subtract, index, one);
                let before = Item::Scalar(before, Scalar::integer(low.saturating_sub(1), high.saturating_sub(1)));
                let Some(old) = self.partial(list, &before, environment)? else {
                    return Ok(None);
                };
                Some(self.either(&new, &old))
            }
            (Operator::Tail, [list]) => {
                let after = self.arithmetic(BinaryOperator::Add, index, one);
                let after = Item::Scalar(after, Scalar::integer(low.saturating_add(1), high.saturating_add(1)));
                let Some(mut old) = self.partial(list, &after, environment)? else {
                    return Ok(None);
                };
                let positive = self.arithmetic(BinaryOperator::LessOrEqual, one, index);
                if low < 1 {
                    old.defined = self.and(positive, old.defined);
                }
                old.defined = self.unless_empty(list, old.defined, "the tail of an empty sequence", environment)?;
                Some(old)
            }
            (Operator::Front, [list]) => {
                let Some(mut old) = self.partial(list, argument, environment)? else {
                    return Ok(None);
                };
                let size = self.size(list, environment)?;
                let before = self.arithmetic(BinaryOperator::Less, index, size);
                old.defined = self.and(old.defined, before);
                old.defined = self.unless_empty(list, old.defined, "the front of an empty sequence", environment)?;
                Some(old)
            }
            (Operator::Take, [list, count]) => {
                let Some(mut old) = self.partial(list, argument, environment)? else {
                    return Ok(None);
                };
                let count = self.integer(count, environment)?;
                let before = self.arithmetic(BinaryOperator::LessOrEqual, index, count);
                old.defined = self.and(old.defined, before);
                Some(old)
            }
            (Operator::Drop, [list, count]) => {
                let (least, greatest) = self.interval(count, environment)?;
                let count = self.integer(count, environment)?;
                let beyond = self.arithmetic(BinaryOperator::Add, index, count);
                let bounds = Scalar::integer(low.saturating_add(least), high.saturating_add(greatest));
                let Some(mut old) = self.partial(list, &Item::Scalar(beyond, bounds), environment)? else {
                    return Ok(None);
                };
                let positive = self.arithmetic(BinaryOperator::LessOrEqual, one, index);
                old.defined = self.and(positive, old.defined);
                Some(old)
            }
            (Operator::Concatenate, [left, right]) => {
                if is_nothing(left) {
                    return self.partial(right, argument, environment);
                }
                let bound = self.size_bound(left, environment)?;
                let size = self.size(left, environment)?;
                let rest = self.arithmetic(BinaryOperator::Subtract, index, size);
                let rest = Item::Scalar(rest, Scalar::integer(low.saturating_sub(bound), high));
                let Some(first) = self.partial(left, argument, environment)? else {
                    return Ok(None);
                };
                if is_nothing(right) {
                    return Ok(Some(first));
                }
                let Some(mut second) = self.partial(right, &rest, environment)? else {
                    return Ok(None);
                };
                let beyond = self.arithmetic(BinaryOperator::Less, size, index);
                second.defined = self.and(beyond, second.defined);
                Some(self.either(&first, &second))
            }
            (Operator::GeneralConcatenate, [lists]) => {
                let joined = self.concatenation(lists, whole, environment)?;
                return self.partial(&joined, argument, environment);
            }
            (Operator::Reverse, [list]) => {
                let bound = self.size_bound(list, environment)?;
                let size = self.size(list, environment)?;
                let end = self.arithmetic(BinaryOperator::Add, size, one);
                let mirrored = self.arithmetic(BinaryOperator::Subtract, end, index);
                let bounds = Scalar::integer(1_i64.saturating_sub(high), bound.saturating_add(1).saturating_sub(low));
                return self.partial(list, &Item::Scalar(mirrored, bounds), environment);
            }
            _ => None,
        })
    }
}

/// Whether a set is empty by its text.
fn is_nothing(expr: &Expr) -> bool {
    matches!(&expr.kind, Kind::Extension(members) | Kind::Sequence(members) if members.is_empty())
}
