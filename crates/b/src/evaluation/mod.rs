//! Values of formulas: a direct implementation of B's operators on explicit sets. It is used to solve the PROPERTIES of
//! a machine and to find candidates for parameters.

mod operators;
mod solver;

use std::collections::BTreeSet;
use std::rc::Rc;

use quotient_ir::Span;
use rustc_hash::FxHashMap;

use super::core::{Core, Expr, Fold, Kind, Operator, Quantifier, SymbolId};
use super::types::{SetId, Type, Types};

/// The value of a formula.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    Integer(i64),
    Boolean(bool),
    Text(usize),
    Member(SetId, usize),
    Pair(Rc<(Value, Value)>),
    Record(Rc<Vec<Value>>),
    Set(Rc<BTreeSet<Value>>),
}

/// Why a formula has no value here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) kind: TroubleKind,
    pub(crate) message: String,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    /// It has no value at all: division by zero, a function outside its domain.
    Undefined,
    /// Too many values to enumerate.
    TooLarge,
    /// Infinitely many values to enumerate.
    Unbounded,
    /// It depends on the state.
    Open,
}

pub(crate) type Result<T> = std::result::Result<T, Trouble>;

/// The maximum number of members of a constructed set.
const MAXIMUM_MEMBERS: usize = 300_000;
/// The maximum work of one evaluation.
const MAXIMUM_WORK: u64 = 100_000_000;

pub(crate) struct Evaluator<'a> {
    pub(crate) core: &'a Core,
    pub(crate) types: &'a Types,
    pub(crate) values: FxHashMap<SymbolId, Value>,
    /// The range tried for integers that nothing bounds, if any.
    pub(crate) assumed: Option<(i64, i64)>,
    /// The symbols for which this range was used.
    pub(crate) assumptions: Vec<SymbolId>,
    work: u64,
}

impl Value {
    pub(crate) fn pair(left: Self, right: Self) -> Self {
        Self::Pair(Rc::new((left, right)))
    }
    pub(crate) fn set(members: impl IntoIterator<Item = Self>) -> Self {
        Self::Set(Rc::new(members.into_iter().collect()))
    }
    /// Both components; typing guarantees that there are two.
    pub(crate) fn parts(&self) -> (&Self, &Self) {
        match self {
            Self::Pair(pair) => (&pair.0, &pair.1),
            other => (other, other),
        }
    }
}

fn trouble<T>(kind: TroubleKind, message: impl Into<String>, span: Span) -> Result<T> {
    Err(Trouble { kind, message: message.into(), span })
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(core: &'a Core, types: &'a Types) -> Self {
        Self { core, types, values: FxHashMap::default(), assumed: None, assumptions: Vec::new(), work: 0 }
    }

    fn charge(&mut self, work: usize, span: Span) -> Result<()> {
        self.work += work as u64;
        if self.work > MAXIMUM_WORK {
            return trouble(TroubleKind::TooLarge, "this takes too long to work out", span);
        }
        Ok(())
    }

    pub(crate) fn integer(&mut self, expr: &Expr) -> Result<i64> {
        match self.value(expr)? {
            Value::Integer(value) => Ok(value),
            _ => trouble(TroubleKind::Open, "not an integer", expr.span),
        }
    }

    pub(crate) fn members(&mut self, expr: &Expr) -> Result<Rc<BTreeSet<Value>>> {
        match self.value(expr)? {
            Value::Set(members) => Ok(members),
            _ => trouble(TroubleKind::Open, "not a set", expr.span),
        }
    }

    /// All values of a type.
    pub(crate) fn of_type(&mut self, ty: &Type, span: Span) -> Result<Vec<Value>> {
        Ok(match self.types.resolve(ty) {
            Type::Boolean | Type::Unknown(_) | Type::Error | Type::Predicate => {
                vec![Value::Boolean(false), Value::Boolean(true)]
            }
            Type::Text => (0..self.core.texts.len()).map(Value::Text).collect(),
            Type::Given(set) => {
                (0..self.core.sets[set.0].members.len()).map(|member| Value::Member(set, member)).collect()
            }
            Type::Integer => return trouble(TroubleKind::Unbounded, "nothing bounds this integer", span),
            Type::Set(element) => {
                let elements = self.of_type(&element, span)?;
                self.subsets(&elements, span)?
            }
            Type::Pair(left, right) => {
                let (left, right) = (self.of_type(&left, span)?, self.of_type(&right, span)?);
                self.charge(left.len().saturating_mul(right.len()), span)?;
                if left.len().saturating_mul(right.len()) > MAXIMUM_MEMBERS {
                    return trouble(TroubleKind::TooLarge, "there are too many pairs", span);
                }
                left.iter().flat_map(|a| right.iter().map(move |b| Value::pair(a.clone(), b.clone()))).collect()
            }
            Type::Record(fields) => {
                let mut records = vec![Vec::new()];
                for (_, ty) in fields.iter() {
                    let values = self.of_type(ty, span)?;
                    if records.len().saturating_mul(values.len()) > MAXIMUM_MEMBERS {
                        return trouble(TroubleKind::TooLarge, "there are too many records", span);
                    }
                    records = records
                        .iter()
                        .flat_map(|record| {
                            values.iter().map(move |value| {
                                let mut longer: Vec<Value> = record.clone();
                                longer.push(value.clone());
                                longer
                            })
                        })
                        .collect();
                }
                records.into_iter().map(|record| Value::Record(Rc::new(record))).collect()
            }
        })
    }

    /// All subsets.
    pub(crate) fn subsets(&mut self, elements: &[Value], span: Span) -> Result<Vec<Value>> {
        if elements.len() > 18 {
            let message = format!("a set of {} members has too many subsets to go through", elements.len());
            return trouble(TroubleKind::TooLarge, message, span);
        }
        self.charge(elements.len() << elements.len(), span)?;
        Ok((0..1_usize << elements.len())
            .map(|bits| {
                Value::set(elements.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, it)| it.clone()))
            })
            .collect())
    }

    /// Whether a predicate holds.
    pub(crate) fn holds(&mut self, expr: &Expr) -> Result<bool> {
        self.charge(1, expr.span)?;
        match &expr.kind {
            Kind::Truth(value) => Ok(*value),
            Kind::Quantified(quantifier, symbols, body) => self.quantified(*quantifier, symbols, body),
            Kind::Conditional(condition, then, otherwise) => {
                if self.holds(condition)? {
                    self.holds(then)
                } else {
                    self.holds(otherwise)
                }
            }
            Kind::Let(bindings, body) => self.with_bindings(bindings, |evaluator| evaluator.holds(body)),
            Kind::Operation(operator, operands) => match (operator, operands.as_slice()) {
                (Operator::And, [left, right]) => Ok(self.holds(left)? && self.holds(right)?),
                (Operator::Or, [left, right]) => Ok(self.holds(left)? || self.holds(right)?),
                (Operator::Implies, [left, right]) => Ok(!self.holds(left)? || self.holds(right)?),
                (Operator::Equivalent, [left, right]) => Ok(self.holds(left)? == self.holds(right)?),
                (Operator::Not, [operand]) => Ok(!self.holds(operand)?),
                (Operator::Equal, [left, right]) => Ok(self.value(left)? == self.value(right)?),
                (Operator::Member, [element, set]) => {
                    let element = self.value(element)?;
                    self.member(&element, set)
                }
                (Operator::Subset, [left, right]) => {
                    let left = self.value(left)?;
                    self.subset(&left, right)
                }
                (Operator::StrictSubset, [left, right]) => {
                    let left_value = self.value(left)?;
                    Ok(self.subset(&left_value, right)? && self.value(right)? != left_value)
                }
                (Operator::Less, [left, right]) => Ok(self.integer(left)? < self.integer(right)?),
                (Operator::LessOrEqual, [left, right]) => Ok(self.integer(left)? <= self.integer(right)?),
                _ => trouble(TroubleKind::Open, "not a predicate", expr.span),
            },
            _ => trouble(TroubleKind::Open, "not a predicate", expr.span),
        }
    }

    fn quantified(&mut self, quantifier: Quantifier, symbols: &[SymbolId], body: &Expr) -> Result<bool> {
        let all = quantifier == Quantifier::All;
        let (conditions, conclusion) = match &body.kind {
            Kind::Operation(Operator::Implies, sides) if all => (sides[0].conjuncts(), Some(&sides[1])),
            _ if all => (Vec::new(), Some(body)),
            _ => (body.conjuncts(), None),
        };
        let mut decided = false;
        self.solve(symbols, &conditions, &mut |evaluator| {
            decided = match conclusion {
                Some(conclusion) => !evaluator.holds(conclusion)?,
                None => true,
            };
            Ok(!decided)
        })?;
        Ok(decided != all)
    }

    pub(crate) fn with_bindings<T>(
        &mut self,
        bindings: &[(SymbolId, Expr)],
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        for (symbol, value) in bindings {
            let value = self.value(value)?;
            self.values.insert(*symbol, value);
        }
        let result = work(self);
        for (symbol, _) in bindings {
            self.values.remove(symbol);
        }
        result
    }

    fn subset(&mut self, left: &Value, right: &Expr) -> Result<bool> {
        let Value::Set(members) = left else {
            return trouble(TroubleKind::Open, "not a set", right.span);
        };
        if let Ok(Value::Set(all)) = self.value(right) {
            return Ok(members.is_subset(&all));
        }
        for member in members.iter() {
            if !self.member(member, right)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expr: &Expr) -> Result<Value> {
        self.charge(1, expr.span)?;
        let span = expr.span;
        Ok(match &expr.kind {
            Kind::Integer(value) => Value::Integer(*value),
            Kind::Boolean(value) => Value::Boolean(*value),
            Kind::Text(text) => Value::Text(*text),
            Kind::Member(set, member) => Value::Member(*set, *member),
            Kind::Symbol(symbol) => match self.values.get(symbol) {
                Some(value) => value.clone(),
                None => {
                    let name = &self.core.symbols[symbol.0].name;
                    return trouble(TroubleKind::Open, format!("`{name}` has no value here"), span);
                }
            },
            Kind::GivenSet(set) => {
                Value::set((0..self.core.sets[set.0].members.len()).map(|member| Value::Member(*set, member)))
            }
            Kind::Booleans => Value::set([Value::Boolean(false), Value::Boolean(true)]),
            Kind::Texts => Value::set((0..self.core.texts.len()).map(Value::Text)),
            Kind::Integers(_) => return trouble(TroubleKind::Unbounded, "this set is infinite", span),
            Kind::Extension(members) => {
                Value::set(members.iter().map(|member| self.value(member)).collect::<Result<Vec<_>>>()?)
            }
            Kind::Sequence(items) => {
                let items = items.iter().map(|item| self.value(item)).collect::<Result<Vec<_>>>()?;
                operators::sequence(items)
            }
            Kind::Comprehension(symbols, body) => {
                let mut members = BTreeSet::new();
                self.solve(symbols, &body.conjuncts(), &mut |evaluator| {
                    members.insert(evaluator.tuple(symbols, span)?);
                    evaluator.check_size(members.len(), span)?;
                    Ok(true)
                })?;
                Value::Set(Rc::new(members))
            }
            Kind::Lambda(symbols, condition, body) => {
                let mut members = BTreeSet::new();
                self.solve(symbols, &condition.conjuncts(), &mut |evaluator| {
                    let argument = evaluator.tuple(symbols, span)?;
                    let value = evaluator.value(body)?;
                    members.insert(Value::pair(argument, value));
                    evaluator.check_size(members.len(), span)?;
                    Ok(true)
                })?;
                Value::Set(Rc::new(members))
            }
            Kind::Fold(fold, symbols, condition, body) => self.fold(*fold, symbols, condition, body, span)?,
            Kind::Record(fields) => {
                let values = fields.iter().map(|(_, value)| self.value(value)).collect::<Result<Vec<_>>>()?;
                Value::Record(Rc::new(values))
            }
            Kind::RecordSet(fields) => {
                let mut records = vec![Vec::new()];
                for (_, set) in fields {
                    let members = self.members(set)?;
                    self.check_size(records.len().saturating_mul(members.len()), span)?;
                    records = records
                        .iter()
                        .flat_map(|record: &Vec<Value>| {
                            members.iter().map(move |member| record.iter().cloned().chain([member.clone()]).collect())
                        })
                        .collect();
                }
                Value::set(records.into_iter().map(|record| Value::Record(Rc::new(record))))
            }
            Kind::Field(record, position) => match self.value(record)? {
                Value::Record(fields) if *position < fields.len() => fields[*position].clone(),
                _ => return trouble(TroubleKind::Open, "not a record", span),
            },
            Kind::Conditional(condition, then, otherwise) => {
                let chosen = if self.holds(condition)? { then } else { otherwise };
                self.value(chosen)?
            }
            Kind::Let(bindings, body) => self.with_bindings(bindings, |evaluator| evaluator.value(body))?,
            Kind::Operation(operator, operands) => self.operation(*operator, operands, expr)?,
            Kind::Truth(_) | Kind::Quantified(..) => Value::Boolean(self.holds(expr)?),
        })
    }

    fn check_size(&mut self, size: usize, span: Span) -> Result<()> {
        self.charge(1, span)?;
        if size > MAXIMUM_MEMBERS {
            return trouble(TroubleKind::TooLarge, format!("a set with more than {MAXIMUM_MEMBERS} members"), span);
        }
        Ok(())
    }

    /// The tuple of the values of bound variables.
    fn tuple(&self, symbols: &[SymbolId], span: Span) -> Result<Value> {
        let mut values = symbols.iter().map(|symbol| self.values.get(symbol).cloned());
        let first = values.next().flatten();
        let tuple = values.fold(first, |left, right| Some(Value::pair(left?, right?)));
        tuple.map_or_else(|| trouble(TroubleKind::Open, "a bound variable has no value", span), Ok)
    }

    fn fold(&mut self, fold: Fold, symbols: &[SymbolId], condition: &Expr, body: &Expr, span: Span) -> Result<Value> {
        match fold {
            Fold::Sum | Fold::Product => {
                let mut total: i64 = i64::from(fold == Fold::Product);
                self.solve(symbols, &condition.conjuncts(), &mut |evaluator| {
                    let value = evaluator.integer(body)?;
                    let next = if fold == Fold::Sum { total.checked_add(value) } else { total.checked_mul(value) };
                    match next {
                        Some(next) => total = next,
                        None => return trouble(TroubleKind::Undefined, "integer overflow", span),
                    }
                    Ok(true)
                })?;
                Ok(Value::Integer(total))
            }
            Fold::Union | Fold::Intersection => {
                let mut total: Option<BTreeSet<Value>> = None;
                self.solve(symbols, &condition.conjuncts(), &mut |evaluator| {
                    let members = evaluator.members(body)?;
                    evaluator.charge(members.len(), span)?;
                    total = Some(match total.take() {
                        None => (*members).clone(),
                        Some(before) if fold == Fold::Union => before.union(&members).cloned().collect(),
                        Some(before) => before.intersection(&members).cloned().collect(),
                    });
                    Ok(true)
                })?;
                match total {
                    Some(total) => Ok(Value::Set(Rc::new(total))),
                    None if fold == Fold::Union => Ok(Value::set([])),
                    None => trouble(TroubleKind::Undefined, "the intersection of no sets", span),
                }
            }
        }
    }
}
