//! The operators on values, and membership in sets that need not be enumerated.

use std::collections::BTreeSet;
use std::rc::Rc;

use quotient_ir::Span;

use super::super::core::{Arrow, Expr, Kind, Operator, Sequences};
use super::super::types::Type;
use super::{Evaluator, Result, TroubleKind, Value, trouble};

type Members = Rc<BTreeSet<Value>>;

/// The sequence with the given items.
pub(super) fn sequence(items: Vec<Value>) -> Value {
    Value::set(items.into_iter().enumerate().map(|(at, item)| Value::pair(Value::Integer(at as i64 + 1), item)))
}

/// B's division rounds towards zero; its remainder is for natural numbers.
fn arithmetic(operator: Operator, left: i64, right: i64) -> std::result::Result<i64, &'static str> {
    let overflow = "integer overflow";
    match operator {
        Operator::Add => left.checked_add(right).ok_or(overflow),
        Operator::Minus => left.checked_sub(right).ok_or(overflow),
        Operator::Times => left.checked_mul(right).ok_or(overflow),
        Operator::Divide if right == 0 => Err("division by zero"),
        Operator::Divide => left.checked_div(right).ok_or(overflow),
        Operator::Modulo if right <= 0 => Err("`mod` by a number that is not positive"),
        Operator::Modulo if left < 0 => Err("`mod` of a negative number"),
        Operator::Modulo => left.checked_rem(right).ok_or(overflow),
        _ => match u32::try_from(right) {
            Ok(exponent) => left.checked_pow(exponent).ok_or(overflow),
            Err(_) => Err("a negative exponent"),
        },
    }
}

impl Evaluator<'_> {
    /// Whether a value belongs to a set, which may be infinite or too large to enumerate.
    pub(crate) fn member(&mut self, element: &Value, set: &Expr) -> Result<bool> {
        self.charge(1, set.span)?;
        match &set.kind {
            Kind::GivenSet(_) | Kind::Booleans | Kind::Texts | Kind::Integers(None) => Ok(true),
            Kind::Integers(Some(least)) => Ok(matches!(element, Value::Integer(value) if value >= least)),
            Kind::RecordSet(fields) => {
                let Value::Record(values) = element else {
                    return trouble(TroubleKind::Open, "not a record", set.span);
                };
                for ((_, field), value) in fields.iter().zip(values.iter()) {
                    if !self.member(value, field)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Kind::Operation(operator, operands) => match (operator, operands.as_slice()) {
                (Operator::Interval, [low, high]) => {
                    let Value::Integer(value) = element else {
                        return trouble(TroubleKind::Open, "not an integer", set.span);
                    };
                    Ok(self.integer(low)? <= *value && *value <= self.integer(high)?)
                }
                (Operator::PowerSet, [base]) => self.subset(element, base),
                (Operator::PowerSet1, [base]) => {
                    Ok(matches!(element, Value::Set(members) if !members.is_empty()) && self.subset(element, base)?)
                }
                (Operator::Times, [left, right]) => {
                    let (one, other) = element.parts();
                    Ok(self.member(one, left)? && self.member(other, right)?)
                }
                (Operator::Union, [left, right]) => Ok(self.member(element, left)? || self.member(element, right)?),
                (Operator::Intersection, [left, right]) => {
                    Ok(self.member(element, left)? && self.member(element, right)?)
                }
                (Operator::Minus, [left, right]) => Ok(self.member(element, left)? && !self.member(element, right)?),
                (Operator::Arrow(arrow), [from, to]) => self.is_arrow(*arrow, element, from, to),
                (Operator::Sequences(kind), [items]) => self.is_sequence(*kind, element, items),
                _ => Ok(self.members(set)?.contains(element)),
            },
            _ => Ok(self.members(set)?.contains(element)),
        }
    }

    fn is_arrow(&mut self, arrow: Arrow, element: &Value, from: &Expr, to: &Expr) -> Result<bool> {
        let Value::Set(pairs) = element else {
            return trouble(TroubleKind::Open, "not a relation", from.span);
        };
        let mut arguments = BTreeSet::new();
        let mut results = BTreeSet::new();
        for pair in pairs.iter() {
            let (left, right) = pair.parts();
            if !self.member(left, from)? || !self.member(right, to)? {
                return Ok(false);
            }
            let new_argument = arguments.insert(left.clone());
            let new_result = results.insert(right.clone());
            if arrow.function && !new_argument || arrow.injective && !new_result {
                return Ok(false);
            }
        }
        if arrow.total && !self.members(from)?.is_subset(&arguments) {
            return Ok(false);
        }
        Ok(!arrow.surjective || self.members(to)?.is_subset(&results))
    }

    fn is_sequence(&mut self, kind: Sequences, element: &Value, items: &Expr) -> Result<bool> {
        let Some(list) = self.items(element) else {
            return Ok(false);
        };
        for item in &list {
            if !self.member(item, items)? {
                return Ok(false);
            }
        }
        let distinct: BTreeSet<&Value> = list.iter().collect();
        let injective = distinct.len() == list.len();
        Ok(match kind {
            Sequences::All => true,
            Sequences::Nonempty => !list.is_empty(),
            Sequences::Injective => injective,
            Sequences::InjectiveNonempty => injective && !list.is_empty(),
            Sequences::Permutations => injective && self.members(items)?.len() == list.len(),
        })
    }

    /// The items of a sequence in order, if the value is one.
    pub(crate) fn items(&self, value: &Value) -> Option<Vec<Value>> {
        let Value::Set(pairs) = value else {
            return None;
        };
        pairs
            .iter()
            .enumerate()
            .map(|(at, pair)| {
                let (left, right) = pair.parts();
                (*left == Value::Integer(at as i64 + 1)).then(|| right.clone())
            })
            .collect()
    }

    fn sequence_items(&mut self, expr: &Expr) -> Result<Vec<Value>> {
        let value = self.value(expr)?;
        self.items(&value).map_or_else(|| trouble(TroubleKind::Undefined, "this is not a sequence", expr.span), Ok)
    }

    pub(super) fn operation(&mut self, operator: Operator, operands: &[Expr], expr: &Expr) -> Result<Value> {
        let span = expr.span;
        Ok(match (operator, operands) {
            (Operator::Truth, [predicate]) => Value::Boolean(self.holds(predicate)?),
            (Operator::Negate, [operand]) => match self.integer(operand)?.checked_neg() {
                Some(value) => Value::Integer(value),
                None => return trouble(TroubleKind::Undefined, "integer overflow", span),
            },
            (Operator::Minus, [left, right]) if matches!(self.types.resolve(&expr.ty), Type::Set(_)) => {
                let left = self.members(left)?;
                let mut kept = BTreeSet::new();
                for member in left.iter() {
                    if !self.member(member, right)? {
                        kept.insert(member.clone());
                    }
                }
                Value::Set(Rc::new(kept))
            }
            (Operator::Times, [left, right]) if matches!(self.types.resolve(&expr.ty), Type::Set(_)) => {
                let (left, right) = (self.members(left)?, self.members(right)?);
                self.check_size(left.len().saturating_mul(right.len()), span)?;
                self.charge(left.len() * right.len(), span)?;
                Value::set(left.iter().flat_map(|a| right.iter().map(move |b| Value::pair(a.clone(), b.clone()))))
            }
            (
                Operator::Add
                | Operator::Minus
                | Operator::Times
                | Operator::Divide
                | Operator::Modulo
                | Operator::Power,
                [left, right],
            ) => match arithmetic(operator, self.integer(left)?, self.integer(right)?) {
                Ok(value) => Value::Integer(value),
                Err(message) => return trouble(TroubleKind::Undefined, message, span),
            },
            (Operator::Minimum | Operator::Maximum, [set]) => {
                let members = self.members(set)?;
                let chosen = if operator == Operator::Minimum { members.first() } else { members.last() };
                match chosen {
                    Some(value) => value.clone(),
                    None => {
                        return trouble(TroubleKind::Undefined, "the least or greatest member of an empty set", span);
                    }
                }
            }
            (Operator::Cardinality, [set]) => Value::Integer(self.members(set)?.len() as i64),
            (Operator::Pair, [left, right]) => Value::pair(self.value(left)?, self.value(right)?),
            (Operator::Interval, [low, high]) => {
                let (low, high) = (self.integer(low)?, self.integer(high)?);
                self.check_size(usize::try_from(high.saturating_sub(low)).unwrap_or(0), span)?;
                self.charge(usize::try_from(high.saturating_sub(low)).unwrap_or(0), span)?;
                Value::set((low..=high).map(Value::Integer))
            }
            (Operator::Union, [left, right]) => {
                let (left, right) = (self.members(left)?, self.members(right)?);
                self.charge(left.len() + right.len(), span)?;
                Value::Set(Rc::new(left.union(&right).cloned().collect()))
            }
            (Operator::Intersection, [left, right]) => {
                // One side may be infinite.
                let (members, other) = match self.members(left) {
                    Ok(members) => (members, right),
                    Err(_) => (self.members(right)?, left),
                };
                let mut kept = BTreeSet::new();
                for member in members.iter() {
                    if self.member(member, other)? {
                        kept.insert(member.clone());
                    }
                }
                Value::Set(Rc::new(kept))
            }
            (Operator::PowerSet | Operator::PowerSet1, [set]) => {
                let members: Vec<Value> = self.members(set)?.iter().cloned().collect();
                let subsets = self.subsets(&members, span)?;
                Value::set(subsets.into_iter().skip(usize::from(operator == Operator::PowerSet1)))
            }
            (Operator::GeneralUnion, [sets]) => {
                let mut all = BTreeSet::new();
                for set in self.members(sets)?.iter() {
                    if let Value::Set(members) = set {
                        all.extend(members.iter().cloned());
                    }
                }
                Value::Set(Rc::new(all))
            }
            (Operator::GeneralIntersection, [sets]) => {
                let sets = self.members(sets)?;
                let mut parts = sets.iter().filter_map(|set| match set {
                    Value::Set(members) => Some(members),
                    _ => None,
                });
                let Some(first) = parts.next() else {
                    return trouble(TroubleKind::Undefined, "the intersection of no sets", span);
                };
                Value::Set(Rc::new(
                    parts.fold((**first).clone(), |all, part| all.intersection(part).cloned().collect()),
                ))
            }
            (Operator::Arrow(arrow), [from, to]) => self.arrows(arrow, from, to, span)?,
            (Operator::Sequences(kind), [items]) => self.sequences(kind, items, span)?,
            (Operator::Apply, [function, argument]) => {
                let argument = self.value(argument)?;
                self.apply(function, &argument, span)?
            }
            (Operator::Size, [sequence]) => Value::Integer(self.sequence_items(sequence)?.len() as i64),
            (Operator::First | Operator::Last, [list]) => {
                let items = self.sequence_items(list)?;
                let item = if operator == Operator::First { items.first() } else { items.last() };
                match item {
                    Some(item) => item.clone(),
                    None => {
                        return trouble(TroubleKind::Undefined, "the first or last item of an empty sequence", span);
                    }
                }
            }
            (Operator::Front | Operator::Tail, [list]) => {
                let mut items = self.sequence_items(list)?;
                if items.is_empty() {
                    return trouble(TroubleKind::Undefined, "the front or tail of an empty sequence", span);
                }
                items.remove(if operator == Operator::Tail { 0 } else { items.len() - 1 });
                sequence(items)
            }
            (Operator::Reverse, [list]) => {
                let mut items = self.sequence_items(list)?;
                items.reverse();
                sequence(items)
            }
            (Operator::Concatenate, [left, right]) => {
                let mut items = self.sequence_items(left)?;
                items.extend(self.sequence_items(right)?);
                sequence(items)
            }
            (Operator::Append, [list, item]) => {
                let mut items = self.sequence_items(list)?;
                items.push(self.value(item)?);
                sequence(items)
            }
            (Operator::Prepend, [item, list]) => {
                let mut items = vec![self.value(item)?];
                items.extend(self.sequence_items(list)?);
                sequence(items)
            }
            (Operator::Take | Operator::Drop, [list, count]) => {
                let items = self.sequence_items(list)?;
                match usize::try_from(self.integer(count)?).ok().filter(|count| *count <= items.len()) {
                    Some(count) if operator == Operator::Take => sequence(items[..count].to_vec()),
                    Some(count) => sequence(items[count..].to_vec()),
                    None => return trouble(TroubleKind::Undefined, "a part of a sequence beyond its end", span),
                }
            }
            (Operator::GeneralConcatenate, [lists]) => {
                let mut items = Vec::new();
                for list in self.sequence_items(lists)? {
                    match self.items(&list) {
                        Some(more) => items.extend(more),
                        None => return trouble(TroubleKind::Undefined, "this is not a sequence of sequences", span),
                    }
                }
                sequence(items)
            }
            _ => self.relational(operator, operands, span)?,
        })
    }

    /// The value of a function for an argument.
    pub(crate) fn apply(&mut self, function: &Expr, argument: &Value, span: Span) -> Result<Value> {
        if let Kind::Lambda(symbols, condition, body) = &function.kind {
            // It may have infinitely many arguments; only this one is needed.
            let mut rest = argument.clone();
            let mut outer = Vec::new();
            for (position, symbol) in symbols.iter().enumerate().rev() {
                let value = if position == 0 {
                    rest.clone()
                } else {
                    let (left, right) = (rest.parts().0.clone(), rest.parts().1.clone());
                    rest = left;
                    right
                };
                outer.push((*symbol, self.values.insert(*symbol, value)));
            }
            let result = match self.holds(condition) {
                Ok(true) => self.value(body),
                Ok(false) => trouble(TroubleKind::Undefined, "a function applied outside its domain", span),
                Err(error) => Err(error),
            };
            for (symbol, value) in outer {
                match value {
                    Some(value) => self.values.insert(symbol, value),
                    None => self.values.remove(&symbol),
                };
            }
            return result;
        }
        let members = self.members(function)?;
        let mut found = members.iter().filter(|pair| pair.parts().0 == argument).map(|pair| pair.parts().1);
        match (found.next(), found.next()) {
            (Some(value), None) => Ok(value.clone()),
            (None, _) => trouble(TroubleKind::Undefined, "a function applied outside its domain", span),
            _ => {
                trouble(TroubleKind::Undefined, "a relation with several values here is applied like a function", span)
            }
        }
    }

    fn relational(&mut self, operator: Operator, operands: &[Expr], span: Span) -> Result<Value> {
        let keep = |members: &Members, test: &dyn Fn(&Value) -> bool| {
            Value::Set(Rc::new(members.iter().filter(|pair| test(pair)).cloned().collect()))
        };
        Ok(match (operator, operands) {
            (Operator::Domain, [relation]) => {
                Value::set(self.members(relation)?.iter().map(|pair| pair.parts().0.clone()))
            }
            (Operator::Range, [relation]) => {
                Value::set(self.members(relation)?.iter().map(|pair| pair.parts().1.clone()))
            }
            (Operator::Inverse, [relation]) => Value::set(self.members(relation)?.iter().map(|pair| {
                let (left, right) = pair.parts();
                Value::pair(right.clone(), left.clone())
            })),
            (Operator::Image, [relation, set]) => {
                let (relation, set) = (self.members(relation)?, self.members(set)?);
                Value::set(
                    relation.iter().filter(|pair| set.contains(pair.parts().0)).map(|pair| pair.parts().1.clone()),
                )
            }
            (Operator::DomainRestriction, [set, relation]) => {
                let (set, relation) = (self.members(set)?, self.members(relation)?);
                keep(&relation, &|pair| set.contains(pair.parts().0))
            }
            (Operator::DomainSubtraction, [set, relation]) => {
                let (set, relation) = (self.members(set)?, self.members(relation)?);
                keep(&relation, &|pair| !set.contains(pair.parts().0))
            }
            (Operator::RangeRestriction, [relation, set]) => {
                let (relation, set) = (self.members(relation)?, self.members(set)?);
                keep(&relation, &|pair| set.contains(pair.parts().1))
            }
            (Operator::RangeSubtraction, [relation, set]) => {
                let (relation, set) = (self.members(relation)?, self.members(set)?);
                keep(&relation, &|pair| !set.contains(pair.parts().1))
            }
            (Operator::Override, [left, right]) => {
                let (left, right) = (self.members(left)?, self.members(right)?);
                let arguments: BTreeSet<&Value> = right.iter().map(|pair| pair.parts().0).collect();
                let kept = left.iter().filter(|pair| !arguments.contains(pair.parts().0));
                Value::set(kept.chain(right.iter()).cloned())
            }
            (Operator::Composition, [left, right]) => {
                let (left, right) = (self.members(left)?, self.members(right)?);
                self.compose_members(&left, &right, span)?
            }
            (Operator::DirectProduct, [left, right]) => {
                let (left, right) = (self.members(left)?, self.members(right)?);
                self.charge(left.len() * right.len(), span)?;
                let mut members = BTreeSet::new();
                for one in left.iter() {
                    for other in right.iter().filter(|other| other.parts().0 == one.parts().0) {
                        let values = Value::pair(one.parts().1.clone(), other.parts().1.clone());
                        members.insert(Value::pair(one.parts().0.clone(), values));
                    }
                }
                Value::Set(Rc::new(members))
            }
            (Operator::ParallelProduct, [left, right]) => {
                let (left, right) = (self.members(left)?, self.members(right)?);
                self.check_size(left.len().saturating_mul(right.len()), span)?;
                self.charge(left.len() * right.len(), span)?;
                Value::set(left.iter().flat_map(|one| {
                    right.iter().map(move |other| {
                        Value::pair(
                            Value::pair(one.parts().0.clone(), other.parts().0.clone()),
                            Value::pair(one.parts().1.clone(), other.parts().1.clone()),
                        )
                    })
                }))
            }
            (Operator::Identity, [set]) => {
                Value::set(self.members(set)?.iter().map(|it| Value::pair(it.clone(), it.clone())))
            }
            (Operator::FirstProjection | Operator::SecondProjection, [left, right]) => {
                let (left, right) = (self.members(left)?, self.members(right)?);
                self.check_size(left.len().saturating_mul(right.len()), span)?;
                let first = operator == Operator::FirstProjection;
                Value::set(left.iter().flat_map(|a| {
                    right.iter().map(move |b| {
                        Value::pair(Value::pair(a.clone(), b.clone()), if first { a.clone() } else { b.clone() })
                    })
                }))
            }
            (Operator::Iterate, [relation, count]) => {
                let relation_members = self.members(relation)?;
                let count = self.integer(count)?;
                if count < 0 {
                    return trouble(TroubleKind::Undefined, "a negative number of iterations", span);
                }
                let Value::Set(mut power) = self.identity_of(relation)? else {
                    return trouble(TroubleKind::Open, "not a relation", span);
                };
                for _ in 0..count {
                    let Value::Set(next) = self.compose_members(&power, &relation_members, span)? else {
                        break;
                    };
                    power = next;
                }
                Value::Set(power)
            }
            (Operator::Closure | Operator::Closure1, [relation]) => {
                let members = self.members(relation)?;
                let mut all = (*members).clone();
                loop {
                    let before = all.len();
                    let so_far = Rc::new(all.clone());
                    let Value::Set(more) = self.compose_members(&so_far, &members, span)? else {
                        break;
                    };
                    all.extend(more.iter().cloned());
                    if all.len() == before {
                        break;
                    }
                }
                if operator == Operator::Closure
                    && let Value::Set(identity) = self.identity_of(relation)?
                {
                    all.extend(identity.iter().cloned());
                }
                Value::Set(Rc::new(all))
            }
            (Operator::ToFunction, [relation]) => {
                let members = self.members(relation)?;
                let arguments: BTreeSet<&Value> = members.iter().map(|pair| pair.parts().0).collect();
                Value::set(arguments.into_iter().map(|argument| {
                    let image =
                        members.iter().filter(|pair| pair.parts().0 == argument).map(|pair| pair.parts().1.clone());
                    Value::pair(argument.clone(), Value::set(image))
                }))
            }
            (Operator::ToRelation, [function]) => {
                let mut members = BTreeSet::new();
                for pair in self.members(function)?.iter() {
                    if let (argument, Value::Set(values)) = pair.parts() {
                        members.extend(values.iter().map(|value| Value::pair(argument.clone(), value.clone())));
                    }
                }
                Value::Set(Rc::new(members))
            }
            _ => return trouble(TroubleKind::Open, "this operator is not worked out here", span),
        })
    }

    fn compose_members(&mut self, left: &Members, right: &Members, span: Span) -> Result<Value> {
        self.charge(left.len().saturating_mul(right.len()), span)?;
        let mut members = BTreeSet::new();
        for one in left.iter() {
            for other in right.iter().filter(|other| other.parts().0 == one.parts().1) {
                members.insert(Value::pair(one.parts().0.clone(), other.parts().1.clone()));
            }
        }
        Ok(Value::Set(Rc::new(members)))
    }

    /// The identity on the type of a relation; for integers, on the values that occur in it.
    fn identity_of(&mut self, relation: &Expr) -> Result<Value> {
        let Type::Set(pair) = self.types.full(&relation.ty) else {
            return trouble(TroubleKind::Open, "not a relation", relation.span);
        };
        let Type::Pair(element, _) = &*pair else {
            return trouble(TroubleKind::Open, "not a relation", relation.span);
        };
        let all = match self.of_type(element, relation.span) {
            Ok(all) => all,
            Err(_) => {
                let members = self.members(relation)?;
                members.iter().flat_map(|pair| [pair.parts().0.clone(), pair.parts().1.clone()]).collect()
            }
        };
        Ok(Value::set(all.into_iter().map(|it| Value::pair(it.clone(), it))))
    }

    /// All relations or functions of a kind, built argument by argument, without visiting impossible ones.
    fn arrows(&mut self, arrow: Arrow, from: &Expr, to: &Expr, span: Span) -> Result<Value> {
        let from: Vec<Value> = self.members(from)?.iter().cloned().collect();
        let to: Vec<Value> = self.members(to)?.iter().cloned().collect();
        if !arrow.function {
            let pairs: Vec<Value> =
                from.iter().flat_map(|a| to.iter().map(move |b| Value::pair(a.clone(), b.clone()))).collect();
            let mut relations = self.subsets(&pairs, span)?;
            relations.retain(|relation| {
                let Value::Set(pairs) = relation else {
                    return false;
                };
                let covers = |all: &[Value], part: &dyn Fn(&Value) -> Value| {
                    all.iter().all(|it| pairs.iter().any(|pair| part(pair) == *it))
                };
                (!arrow.total || covers(&from, &|pair| pair.parts().0.clone()))
                    && (!arrow.surjective || covers(&to, &|pair| pair.parts().1.clone()))
            });
            return Ok(Value::set(relations));
        }
        if arrow.total && arrow.injective && from.len() > to.len() || arrow.surjective && from.len() < to.len() {
            return Ok(Value::set([]));
        }
        // A lower bound on their number, so that nothing too large is built.
        let falling = |count: usize| (0..count).fold(1_usize, |product, it| product.saturating_mul(to.len() - it));
        let exponent = u32::try_from(from.len()).unwrap_or(u32::MAX);
        let least = match (arrow.injective, arrow.surjective, arrow.total) {
            (true, _, _) if arrow.total || !arrow.surjective => falling(from.len().min(to.len())),
            (false, false, true) => to.len().saturating_pow(exponent),
            (false, false, false) => (to.len() + 1).saturating_pow(exponent),
            _ => 0,
        };
        self.check_size(least, span)?;
        let mut found = BTreeSet::new();
        let mut used = vec![0_usize; to.len()];
        let mut chosen: Vec<Option<usize>> = Vec::new();
        self.extend_arrow(arrow, &from, &to, &mut chosen, &mut used, &mut found, span)?;
        Ok(Value::Set(Rc::new(found)))
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one recursion, used nowhere else")]
    fn extend_arrow(
        &mut self,
        arrow: Arrow,
        from: &[Value],
        to: &[Value],
        chosen: &mut Vec<Option<usize>>,
        used: &mut Vec<usize>,
        found: &mut BTreeSet<Value>,
        span: Span,
    ) -> Result<()> {
        self.charge(1, span)?;
        let missing = used.iter().filter(|count| **count == 0).count();
        if arrow.surjective && missing > from.len() - chosen.len() {
            return Ok(());
        }
        if chosen.len() == from.len() {
            let pairs = from.iter().zip(chosen.iter());
            found.insert(Value::set(pairs.filter_map(|(a, b)| Some(Value::pair(a.clone(), to[(*b)?].clone())))));
            self.charge(from.len(), span)?;
            return self.check_size(found.len(), span);
        }
        if !arrow.total {
            chosen.push(None);
            self.extend_arrow(arrow, from, to, chosen, used, found, span)?;
            chosen.pop();
        }
        for value in 0..to.len() {
            if arrow.injective && used[value] > 0 {
                continue;
            }
            used[value] += 1;
            chosen.push(Some(value));
            self.extend_arrow(arrow, from, to, chosen, used, found, span)?;
            chosen.pop();
            used[value] -= 1;
        }
        Ok(())
    }

    /// All sequences of a kind that has finitely many.
    fn sequences(&mut self, kind: Sequences, items: &Expr, span: Span) -> Result<Value> {
        let items: Vec<Value> = self.members(items)?.iter().cloned().collect();
        if matches!(kind, Sequences::All | Sequences::Nonempty) && !items.is_empty() {
            return trouble(TroubleKind::Unbounded, "nothing bounds the length of this sequence", span);
        }
        let mut found = BTreeSet::new();
        let mut pending: Vec<Vec<usize>> = vec![Vec::new()];
        while let Some(list) = pending.pop() {
            let fits = match kind {
                Sequences::All | Sequences::Injective => true,
                Sequences::Nonempty | Sequences::InjectiveNonempty => !list.is_empty(),
                Sequences::Permutations => list.len() == items.len(),
            };
            if fits {
                found.insert(sequence(list.iter().map(|at| items[*at].clone()).collect()));
                self.check_size(found.len(), span)?;
            }
            for next in (0..items.len()).filter(|next| !list.contains(next)) {
                pending.push(list.iter().copied().chain([next]).collect());
            }
            self.charge(list.len() + 1, span)?;
        }
        Ok(Value::Set(Rc::new(found)))
    }
}
