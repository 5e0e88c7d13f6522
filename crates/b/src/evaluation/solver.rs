//! The solver: all values of some symbols for which conjuncts hold. A conjunct is tested as soon as all its symbols
//! have values. The symbol with the fewest candidates comes first: a value given by an equation, members of a
//! computable set, bounds of an integer.

use std::rc::Rc;

use super::super::core::{Expr, Kind, Operator, SymbolId};
use super::super::types::Type;
use super::{Evaluator, MAXIMUM_MEMBERS, Result, TroubleKind, Value, trouble};

/// Where the candidates of a symbol come from.
enum Source<'e> {
    Equal(&'e Expr),
    /// The member of the tuple pattern, a set, and the pattern itself.
    Members(&'e Expr, &'e Expr),
    Subsets(&'e Expr),
    Bounds(i64, i64),
    Type(Type),
    /// This value.
    Value(Value),
}

impl<'a> Evaluator<'a> {
    /// Calls `found` with each solution in place, until it returns false. The symbols have no values before and after.
    pub(crate) fn solve(
        &mut self,
        symbols: &[SymbolId],
        conjuncts: &[&Expr],
        found: &mut dyn FnMut(&mut Self) -> Result<bool>,
    ) -> Result<()> {
        // Values of outer uses of the same binder, in a recursive expansion.
        let outer: Vec<Option<Value>> = symbols.iter().map(|symbol| self.values.remove(symbol)).collect();
        let result = self.search(symbols, &mut vec![false; conjuncts.len()], conjuncts, found);
        for (symbol, value) in symbols.iter().zip(outer) {
            match value {
                Some(value) => self.values.insert(*symbol, value),
                None => self.values.remove(symbol),
            };
        }
        result.map(drop)
    }

    /// Whether all values that an expression needs are known.
    fn is_ready(&self, expr: &Expr, symbols: &[SymbolId]) -> bool {
        let mut ready = true;
        expr.symbols(&mut |symbol| ready &= !symbols.contains(&symbol) || self.values.contains_key(&symbol));
        ready
    }

    /// False if `found` wants no more solutions.
    fn search(
        &mut self,
        symbols: &[SymbolId],
        done: &mut Vec<bool>,
        conjuncts: &[&Expr],
        found: &mut dyn FnMut(&mut Self) -> Result<bool>,
    ) -> Result<bool> {
        let before = done.clone();
        for (position, conjunct) in conjuncts.iter().enumerate() {
            if done[position] || !self.is_ready(conjunct, symbols) {
                continue;
            }
            match self.holds(conjunct) {
                Ok(true) => done[position] = true,
                Ok(false) => {
                    *done = before;
                    return Ok(true);
                }
                // Another conjunct may be meant to protect it; that is decided at the end.
                Err(error) if error.kind == TroubleKind::Undefined => {}
                Err(error) => return Err(error),
            }
        }
        let unknown: Vec<SymbolId> =
            symbols.iter().copied().filter(|symbol| !self.values.contains_key(symbol)).collect();
        if unknown.is_empty() {
            for (position, conjunct) in conjuncts.iter().enumerate() {
                if !done[position] && !self.holds(conjunct)? {
                    *done = before;
                    return Ok(true);
                }
            }
            let result = found(self);
            *done = before;
            return result;
        }
        let mut best: Option<(f64, SymbolId, Source<'_>)> = None;
        let mut failure = None;
        for &symbol in &unknown {
            match self.source(symbol, symbols, conjuncts, done) {
                Ok((cost, source)) => {
                    if best.as_ref().is_none_or(|(least, _, _)| cost < *least) {
                        best = Some((cost, symbol, source));
                    }
                }
                Err(error) => failure = Some(error),
            }
        }
        let Some((_, symbol, source)) = best else {
            *done = before;
            return match failure {
                Some(error) => Err(error),
                None => Ok(true),
            };
        };
        let result = self.try_candidates(symbol, &source, symbols, done, conjuncts, found);
        *done = before;
        result
    }

    fn try_candidates(
        &mut self,
        symbol: SymbolId,
        source: &Source<'_>,
        symbols: &[SymbolId],
        done: &mut Vec<bool>,
        conjuncts: &[&Expr],
        found: &mut dyn FnMut(&mut Self) -> Result<bool>,
    ) -> Result<bool> {
        let span = self.core.symbols[symbol.0].span;
        let candidates: Vec<Value> = match source {
            Source::Equal(value) => vec![self.value(value)?],
            Source::Members(pattern, set) => {
                let members = self.members(set)?;
                // Candidates for a component of a tuple are tried once each.
                let mut values: Vec<Value> =
                    members.iter().filter_map(|member| part_of(pattern, member, symbol)).collect();
                values.sort();
                values.dedup();
                values
            }
            Source::Subsets(set) => {
                let members: Vec<Value> = self.members(set)?.iter().cloned().collect();
                self.subsets(&members, span)?
            }
            Source::Bounds(low, high) => {
                if high.saturating_sub(*low) > MAXIMUM_MEMBERS as i64 {
                    return trouble(TroubleKind::TooLarge, "too many integers to go through", span);
                }
                (*low..=*high).map(Value::Integer).collect()
            }
            Source::Type(ty) => self.of_type(ty, span)?,
            Source::Value(value) => vec![value.clone()],
        };
        for candidate in candidates {
            self.charge(1, span)?;
            self.values.insert(symbol, candidate);
            let result = self.search(symbols, done, conjuncts, found);
            self.values.remove(&symbol);
            if !result? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The cheapest source of candidates for a symbol, and an estimate of their number.
    fn source<'e>(
        &mut self,
        symbol: SymbolId,
        symbols: &[SymbolId],
        conjuncts: &[&'e Expr],
        done: &[bool],
    ) -> Result<(f64, Source<'e>)> {
        let mut best: Option<(f64, Source<'e>)> = None;
        let mut offer = |cost: f64, source: Source<'e>| {
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, source));
            }
        };
        let (mut low, mut high) = (None, None);
        let is_symbol = |expr: &Expr| matches!(expr.kind, Kind::Symbol(it) if it == symbol);
        for (conjunct, done) in conjuncts.iter().zip(done) {
            let Kind::Operation(operator, sides) = &conjunct.kind else {
                continue;
            };
            if *done || sides.len() != 2 {
                continue;
            }
            let (left, right) = (&sides[0], &sides[1]);
            match operator {
                Operator::Equal => {
                    for (one, other) in [(left, right), (right, left)] {
                        if is_symbol(one) && self.is_ready(other, symbols) {
                            offer(0.5, Source::Equal(other));
                        }
                    }
                }
                Operator::Member if contains_symbol(left, symbol) && self.is_ready(right, symbols) => {
                    if let Some(cost) = self.estimate(right) {
                        offer(cost, Source::Members(left, right));
                    }
                }
                Operator::Subset | Operator::StrictSubset if is_symbol(left) && self.is_ready(right, symbols) => {
                    if let Some(cost) = self.estimate(right) {
                        offer(cost.min(60.0).exp2(), Source::Subsets(right));
                    }
                }
                Operator::Less | Operator::LessOrEqual => {
                    let strict = i64::from(*operator == Operator::Less);
                    if is_symbol(left) && self.is_ready(right, symbols) {
                        if let Ok(bound) = self.integer(right) {
                            high = Some(high.unwrap_or(i64::MAX).min(bound.saturating_sub(strict)));
                        }
                    } else if is_symbol(right)
                        && self.is_ready(left, symbols)
                        && let Ok(bound) = self.integer(left)
                    {
                        low = Some(low.unwrap_or(i64::MIN).max(bound.saturating_add(strict)));
                    }
                }
                _ => {}
            }
            if *operator == Operator::Member
                && is_symbol(left)
                && let Kind::Integers(Some(least)) = right.kind
            {
                low = Some(low.unwrap_or(i64::MIN).max(least));
            }
        }
        if let (Some(low), Some(high)) = (low, high) {
            offer((high.saturating_sub(low).max(0) as f64) + 1.0, Source::Bounds(low, high));
        }
        if let Some(function) = self.given_pointwise(symbol, symbols, conjuncts) {
            return Ok((0.6, Source::Value(function)));
        }
        if let Some(found) = best {
            return Ok(found);
        }
        let entry = &self.core.symbols[symbol.0];
        let (ty, span, name) = (self.types.full(&entry.ty), entry.span, entry.name.clone());
        match (self.count(&ty), self.assumed) {
            (Some(count), _) => Ok((count * 4.0, Source::Type(ty))),
            // The last resort, since everything else may follow from the other symbols. Values are omitted only for
            // constants: a set or function must not lose members.
            (None, Some(bounds)) if ty == Type::Integer && self.core.constants.contains(&symbol) => {
                if !self.assumptions.contains(&symbol) {
                    self.assumptions.push(symbol);
                }
                Ok((1e12, Source::Bounds(low.unwrap_or(bounds.0), high.unwrap_or(bounds.1))))
            }
            _ => trouble(TroubleKind::Unbounded, format!("nothing bounds the values of `{name}`"), span),
        }
    }

    /// The value of a symbol that is a total function and has a value given for each argument:
    /// `f : A --> NATURAL & f(a) = 1 & f(b) = 2`.
    fn given_pointwise(&mut self, symbol: SymbolId, symbols: &[SymbolId], conjuncts: &[&Expr]) -> Option<Value> {
        let is_symbol = |expr: &Expr| matches!(expr.kind, Kind::Symbol(it) if it == symbol);
        let mut domain = None;
        let mut given: Vec<(&Expr, &Expr)> = Vec::new();
        for conjunct in conjuncts {
            let Kind::Operation(operator, sides) = &conjunct.kind else { continue };
            let [left, right] = &sides[..] else { continue };
            match (operator, &right.kind) {
                (Operator::Member, Kind::Operation(Operator::Arrow(arrow), sets))
                    if is_symbol(left) && arrow.total && arrow.function && self.is_ready(&sets[0], symbols) =>
                {
                    domain = Some(&sets[0]);
                }
                (Operator::Equal, _) => {
                    for (one, other) in [(left, right), (right, left)] {
                        if let Kind::Operation(Operator::Apply, parts) = &one.kind
                            && is_symbol(&parts[0])
                            && self.is_ready(&parts[1], symbols)
                            && self.is_ready(other, symbols)
                        {
                            given.push((&parts[1], other));
                        }
                    }
                }
                _ => {}
            }
        }
        let domain = domain.filter(|_| !given.is_empty())?;
        let domain: Vec<Value> = self.members(domain).ok()?.iter().cloned().collect();
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        for (argument, value) in given {
            let (argument, value) = (self.value(argument).ok()?, self.value(value).ok()?);
            if !pairs.iter().any(|(known, _)| *known == argument) {
                pairs.push((argument, value));
            }
        }
        let is_whole = domain.iter().all(|argument| pairs.iter().any(|(known, _)| known == argument));
        is_whole.then(|| Value::set(pairs.into_iter().map(|(argument, value)| Value::pair(argument, value))))
    }

    /// The number of values of a type, if finite.
    fn count(&self, ty: &Type) -> Option<f64> {
        Some(match self.types.resolve(ty) {
            Type::Integer => return None,
            Type::Boolean | Type::Unknown(_) | Type::Error | Type::Predicate => 2.0,
            Type::Text => self.core.texts.len() as f64,
            Type::Given(set) => self.core.sets[set.0].members.len() as f64,
            Type::Set(element) => self.count(&element)?.min(1000.0).exp2(),
            Type::Pair(left, right) => self.count(&left)? * self.count(&right)?,
            Type::Record(fields) => {
                let mut product = 1.0;
                for (_, ty) in fields.iter() {
                    product *= self.count(ty)?;
                }
                product
            }
        })
    }

    /// An estimate of the number of members of a set, without constructing it if that is expensive; none if it is
    /// infinite.
    fn estimate(&mut self, set: &Expr) -> Option<f64> {
        match &set.kind {
            Kind::GivenSet(given) => Some(self.core.sets[given.0].members.len() as f64),
            Kind::Booleans => Some(2.0),
            Kind::Texts => Some(self.core.texts.len() as f64),
            Kind::Integers(_) => None,
            Kind::Extension(members) => Some(members.len() as f64),
            Kind::Operation(operator, operands) => match (operator, operands.as_slice()) {
                (Operator::Interval, [low, high]) => {
                    let (low, high) = (self.integer(low).ok()?, self.integer(high).ok()?);
                    Some((high.saturating_sub(low).max(0) as f64) + 1.0)
                }
                (Operator::PowerSet | Operator::PowerSet1, [base]) => Some(self.estimate(base)?.min(1000.0).exp2()),
                (Operator::Times, [left, right]) => Some(self.estimate(left)? * self.estimate(right)?),
                (Operator::Arrow(arrow), [from, to]) => {
                    let (from, to) = (self.estimate(from)?, self.estimate(to)?);
                    Some(if !arrow.function {
                        (from * to).min(1000.0).exp2()
                    } else if arrow.injective {
                        (1..=from.min(30.0) as u64).map(|it| it as f64).product()
                    } else {
                        (to + f64::from(u8::from(!arrow.total))).powf(from)
                    })
                }
                (Operator::Sequences(_), [items]) => {
                    let items = self.estimate(items)?.min(30.0) as u64;
                    Some((1..=items).map(|it| it as f64).product::<f64>() * 3.0)
                }
                (Operator::Minus, [left, _]) => self.estimate(left),
                (Operator::Intersection, [left, right]) => match (self.estimate(left), self.estimate(right)) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                },
                (Operator::Union, [left, right]) => Some(self.estimate(left)? + self.estimate(right)?),
                _ => self.members(set).ok().map(|members| members.len() as f64),
            },
            Kind::RecordSet(fields) => {
                let mut product = 1.0;
                for (_, field) in fields {
                    product *= self.estimate(field)?;
                }
                Some(product)
            }
            _ => self.members(set).ok().map(|members| members.len() as f64),
        }
    }
}

/// Whether a pattern of pairs and records has a symbol as a part.
fn contains_symbol(pattern: &Expr, symbol: SymbolId) -> bool {
    match &pattern.kind {
        Kind::Symbol(it) => *it == symbol,
        Kind::Operation(Operator::Pair, parts) => parts.iter().any(|part| contains_symbol(part, symbol)),
        Kind::Record(fields) => fields.iter().any(|(_, part)| contains_symbol(part, symbol)),
        _ => false,
    }
}

/// The component of a value at the position of a symbol in a pattern.
fn part_of(pattern: &Expr, value: &Value, symbol: SymbolId) -> Option<Value> {
    match (&pattern.kind, value) {
        (Kind::Symbol(it), _) if *it == symbol => Some(value.clone()),
        (Kind::Operation(Operator::Pair, parts), Value::Pair(pair)) => {
            part_of(&parts[0], &pair.0, symbol).or_else(|| part_of(&parts[1], &pair.1, symbol))
        }
        (Kind::Record(fields), Value::Record(values)) => {
            let values: &Rc<Vec<Value>> = values;
            fields.iter().zip(values.iter()).find_map(|((_, part), value)| part_of(part, value, symbol))
        }
        _ => None,
    }
}
