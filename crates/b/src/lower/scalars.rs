//! Expressions as items: scalars as expressions of the model, sets as objects whose members can be tested.

use std::rc::Rc;

use quotient_ir::{BinaryOperator, Diagnostic, Expr as IrExpr, ExprId, UnaryOperator};
use quotient_kit::Building;

use super::super::core::{Expr, Fold, Kind, Operator};
use super::super::evaluation::{Evaluator, Value};
use super::super::types::Type;
use super::items::{Environment, Item, SetItem};
use super::shapes::Scalar;
use super::{Lowered, Lowerer, refuse};

impl Lowerer<'_> {
    /// The value of an integer expression.
    pub(super) fn integer(&mut self, expr: &Expr, environment: &Environment) -> Lowered<ExprId> {
        match self.item(expr, environment)? {
            Item::Scalar(value, _) => Ok(value),
            _ => refuse("unsupported", "this is not supported as an integer", expr.span),
        }
    }

    /// The value of an expression.
    pub(super) fn item(&mut self, expr: &Expr, environment: &Environment) -> Lowered<Item> {
        Ok(match &expr.kind {
            Kind::Integer(value) => Item::Scalar(self.number(*value), Scalar::integer(*value, *value)),
            Kind::Boolean(value) => Item::Scalar(self.truth(*value), Scalar::Boolean),
            Kind::Text(text) => {
                let (constant, scalar) = self.scalar_constant(&Value::Text(*text)).expect("a string is a scalar");
                Item::Scalar(constant, scalar)
            }
            Kind::Member(set, member) => {
                let (constant, scalar) =
                    self.scalar_constant(&Value::Member(*set, *member)).expect("a member is a scalar");
                Item::Scalar(constant, scalar)
            }
            Kind::Symbol(symbol) => match environment.get(symbol) {
                Some(item) => item.clone(),
                None => {
                    let name = &self.core.symbols[symbol.0].name;
                    let diagnostic = Diagnostic::error("no-value", format!("`{name}` has no value here"), expr.span)
                        .with_help("only what is assigned before can be used here");
                    return Err(Box::new(diagnostic));
                }
            },
            Kind::Truth(_) | Kind::Quantified(..) => Item::Scalar(self.predicate(expr, environment)?, Scalar::Boolean),
            Kind::Record(fields) => {
                let mut items = Vec::new();
                for (name, field) in fields {
                    items.push((name.to_string(), self.item(field, environment)?));
                }
                Item::Record(items)
            }
            Kind::Field(record, position) => match self.item(record, environment)? {
                Item::Record(mut fields) if *position < fields.len() => fields.swap_remove(*position).1,
                _ => return refuse("unsupported", "this is not supported as a record", record.span),
            },
            Kind::Let(bindings, body) if !self.is_set(expr) => {
                let inner = self.let_environment(bindings, environment)?;
                self.item(body, &inner)?
            }
            Kind::Conditional(condition, then, otherwise) if !self.is_set(expr) => {
                let condition = self.predicate(condition, environment)?;
                let then = self.item(then, environment)?;
                let otherwise = self.item(otherwise, environment)?;
                self.choose(condition, &then, &otherwise)
            }
            Kind::Fold(fold @ (Fold::Sum | Fold::Product), symbols, condition, body) => {
                let (low, high) = self.interval(expr, environment)?;
                let value = self.fold(*fold, symbols, condition, body, expr, environment)?;
                Item::Scalar(value, Scalar::integer(low, high))
            }
            Kind::Operation(Operator::Pair, parts) => {
                let left = self.item(&parts[0], environment)?;
                Item::pair(left, self.item(&parts[1], environment)?)
            }
            Kind::Operation(Operator::Apply, parts) if !self.is_set(expr) => {
                let argument = self.item(&parts[1], environment)?;
                self.apply(&parts[0], &argument, expr, environment)?
            }
            Kind::Operation(Operator::First | Operator::Last, parts) if !self.is_set(expr) => {
                let Kind::Operation(operator, _) = &expr.kind else {
                    return refuse("unsupported", "this is not supported", expr.span);
                };
                let position =
                    if *operator == Operator::First { self.number(1) } else { self.size(&parts[0], environment)? };
                let bound = self.size_bound(&parts[0], environment)?;
                let position = Item::Scalar(position, Scalar::integer(0, bound.max(1)));
                self.apply(&parts[0], &position, expr, environment)?
            }
            _ if self.is_set(expr) => {
                // A symbol's own item is found above; everything else is tested member by member.
                Item::Set(SetItem::Formula(Rc::new(expr.clone()), Rc::clone(environment)))
            }
            Kind::Operation(operator, operands) => self.scalar_operation(*operator, operands, expr, environment)?,
            _ => return refuse("unsupported", "this is not supported as a value", expr.span),
        })
    }

    /// One of two items.
    pub(super) fn choose(&mut self, condition: ExprId, then: &Item, otherwise: &Item) -> Item {
        match (then, otherwise) {
            (Item::Scalar(one, a), Item::Scalar(other, b)) => {
                Item::Scalar(self.conditional(condition, *one, *other), a.join(*b))
            }
            (Item::Pair(a, b), Item::Pair(c, d)) => {
                let left = self.choose(condition, a, c);
                Item::pair(left, self.choose(condition, b, d))
            }
            (Item::Record(one), Item::Record(other)) => Item::Record(
                one.iter().zip(other).map(|((name, a), (_, b))| (name.clone(), self.choose(condition, a, b))).collect(),
            ),
            (Item::Set(one), Item::Set(other)) => match self.constant_of(condition) {
                Some(0) => otherwise.clone(),
                Some(_) => then.clone(),
                None => Item::Set(SetItem::Choice {
                    condition,
                    then: Box::new(one.clone()),
                    otherwise: Box::new(other.clone()),
                }),
            },
            _ => then.clone(),
        }
    }

    fn scalar_operation(
        &mut self,
        operator: Operator,
        operands: &[Expr],
        expr: &Expr,
        environment: &Environment,
    ) -> Lowered<Item> {
        if let (Operator::Truth, [predicate]) = (operator, operands) {
            return Ok(Item::Scalar(self.predicate(predicate, environment)?, Scalar::Boolean));
        }
        if self.types.resolve(&expr.ty) != Type::Integer {
            return refuse("unsupported", "this is not supported as a value", expr.span);
        }
        if let Some(Value::Integer(value)) = self.static_value(expr) {
            return Ok(Item::Scalar(self.number(value), Scalar::integer(value, value)));
        }
        let (low, high) = self.interval(expr, environment)?;
        let value = match (operator, operands) {
            (Operator::Negate, [operand]) => {
                let operand = self.integer(operand, environment)?;
                match self.constant_of(operand).and_then(i64::checked_neg) {
                    Some(value) => self.number(value),
                    None => self.expression(IrExpr::Unary { operator: UnaryOperator::Negate, operand }),
                }
            }
            (Operator::Add | Operator::Minus | Operator::Times | Operator::Divide, [left, right]) => {
                let (left, right) = (self.integer(left, environment)?, self.integer(right, environment)?);
                let operator = match operator {
                    Operator::Add => BinaryOperator::Add,
                    Operator::Minus => BinaryOperator::Subtract,
                    Operator::Times => BinaryOperator::Multiply,
                    _ => BinaryOperator::Divide,
                };
                self.arithmetic(operator, left, right)
            }
            (Operator::Modulo, [left, right]) => {
                // Only natural numbers have a remainder in B.
                let (dividend, divisor) = (self.interval(left, environment)?, self.interval(right, environment)?);
                let (left, right) = (self.integer(left, environment)?, self.integer(right, environment)?);
                let remainder = self.arithmetic(BinaryOperator::Remainder, left, right);
                if dividend.0 >= 0 && divisor.0 > 0 {
                    remainder
                } else {
                    let (zero, one) = (self.number(0), self.number(1));
                    let natural = self.arithmetic(BinaryOperator::LessOrEqual, zero, left);
                    let positive = self.arithmetic(BinaryOperator::LessOrEqual, one, right);
                    let defined = self.and(natural, positive);
                    let ty = self.scalar_type(Scalar::integer(low, high));
                    let failure = self.failure("`mod` of numbers that are not natural", ty, expr.span);
                    self.conditional(defined, remainder, failure)
                }
            }
            (Operator::Power, [left, right]) => {
                let (_, greatest) = self.interval(right, environment)?;
                if greatest > 64 {
                    return refuse("unsupported", "the exponent may be too large", right.span);
                }
                let (base, exponent) = (self.integer(left, environment)?, self.integer(right, environment)?);
                self.power(base, exponent, greatest, expr)
            }
            (Operator::Cardinality, [set]) => self.cardinality(set, environment)?,
            (Operator::Size, [list]) => self.size(list, environment)?,
            (Operator::Minimum | Operator::Maximum, [set]) => {
                self.extreme(operator == Operator::Minimum, set, expr, environment)?
            }
            _ => return refuse("unsupported", "this is not supported as a value", expr.span),
        };
        Ok(Item::Scalar(value, Scalar::integer(low, high)))
    }

    /// The value of an expression that depends on nothing but constants with one value.
    pub(super) fn static_value(&self, expr: &Expr) -> Option<Value> {
        let mut is_static = true;
        expr.symbols(&mut |symbol| is_static &= self.known.contains_key(&symbol));
        if !is_static {
            return None;
        }
        let mut evaluator = Evaluator::new(self.core, self.types);
        evaluator.values.clone_from(&self.known);
        evaluator.value(expr).ok()
    }

    /// A power with a bounded exponent, by cases.
    fn power(&mut self, base: ExprId, exponent: ExprId, greatest: i64, expr: &Expr) -> ExprId {
        let ty = self.scalar_type(Scalar::integer(i64::MIN / 2, i64::MAX / 2));
        let mut result = self.failure("a negative exponent", ty, expr.span);
        let mut power = self.number(1);
        for value in 0..=greatest.max(0) {
            let number = self.number(value);
            let here = self.equal(exponent, number);
            result = self.conditional(here, power, result);
            power = self.arithmetic(BinaryOperator::Multiply, power, base);
        }
        result
    }

    /// The length of a sequence: how many positions it has.
    pub(super) fn size(&mut self, list: &Expr, environment: &Environment) -> Lowered<ExprId> {
        match &list.kind {
            Kind::Sequence(items) => Ok(self.number(items.len() as i64)),
            Kind::Conditional(condition, then, otherwise) => {
                let condition = self.predicate(condition, environment)?;
                let then = self.size(then, environment)?;
                let otherwise = self.size(otherwise, environment)?;
                Ok(self.conditional(condition, then, otherwise))
            }
            Kind::Operation(operator, operands) => match (operator, operands.as_slice()) {
                (Operator::Append, [rest, _]) | (Operator::Prepend, [_, rest]) => {
                    let (size, one) = (self.size(rest, environment)?, self.number(1));
                    Ok(self.arithmetic(BinaryOperator::Add, size, one))
                }
                (Operator::Concatenate, [left, right]) => {
                    let (left, right) = (self.size(left, environment)?, self.size(right, environment)?);
                    Ok(self.arithmetic(BinaryOperator::Add, left, right))
                }
                (Operator::Reverse, [rest]) => self.size(rest, environment),
                (Operator::Tail | Operator::Front, [rest]) => {
                    let bound = self.size_bound(rest, environment)?;
                    let (size, one) = (self.size(rest, environment)?, self.number(1));
                    let shorter = self.arithmetic(BinaryOperator::Subtract, size, one);
                    let there = self.arithmetic(BinaryOperator::LessOrEqual, one, size);
                    let ty = self.scalar_type(Scalar::integer(0, bound));
                    let word = if *operator == Operator::Tail { "tail" } else { "front" };
                    let failure = self.failure(&format!("the {word} of an empty sequence"), ty, list.span);
                    Ok(self.conditional(there, shorter, failure))
                }
                (Operator::Take | Operator::Drop, [rest, count]) => {
                    let (size, count) = (self.size(rest, environment)?, self.integer(count, environment)?);
                    let fewer = self.arithmetic(BinaryOperator::Less, count, size);
                    if *operator == Operator::Take {
                        return Ok(self.conditional(fewer, count, size));
                    }
                    let (rest, zero) = (self.arithmetic(BinaryOperator::Subtract, size, count), self.number(0));
                    Ok(self.conditional(fewer, rest, zero))
                }
                (Operator::GeneralConcatenate, [lists]) => {
                    let joined = self.concatenation(lists, list, environment)?;
                    self.size(&joined, environment)
                }
                _ => self.cardinality(list, environment),
            },
            _ => self.cardinality(list, environment),
        }
    }
}
