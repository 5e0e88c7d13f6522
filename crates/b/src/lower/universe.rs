//! Bounds: a finite shape that contains all possible members of a set, and an interval that contains all possible
//! values of an integer, in any state.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};
use quotient_kit::Building;

use super::super::core::{Expr, Fold, Kind, Operator, Quantifier, Sequences, SymbolId};
use super::super::evaluation::Value;
use super::super::types::Type;
use super::items::{Environment, Item, SetItem, bind};
use super::shapes::{Scalar, Shape, shape_of_type};
use super::{Lowered, Lowerer};

impl Lowerer<'_> {
    fn unbounded<T>(&self, message: impl Into<String>, span: Span) -> Lowered<T> {
        let diagnostic = Diagnostic::error("unbounded", message, span).with_help(
            "bound it by a condition such as `… : 0..10`, or set bounds for all integers with `-D MAXINT=…`",
        );
        Err(Box::new(diagnostic))
    }

    /// The range of otherwise unbounded integers, if one was given.
    pub(super) fn integers(&self) -> Option<(i64, i64)> {
        let given = (self.settings.least_integer, self.settings.greatest_integer);
        self.assumed.or((self.settings.integers_given && !self.declares).then_some(given))
    }

    /// The shape of all values of an expression's type, if it needs no bounds of integers.
    fn type_shape(&self, ty: &Type) -> Option<Shape> {
        shape_of_type(self.types, ty, None)
    }

    /// A shape for the members of an empty set.
    fn empty_shape(&self, ty: &Type) -> Shape {
        let element = match self.types.resolve(ty) {
            Type::Set(element) => (*element).clone(),
            other => other,
        };
        shape_of_type(self.types, &element, Some((0, 0))).unwrap_or(Shape::Scalar(Scalar::Boolean))
    }

    /// The shape of a value.
    pub(super) fn shape(&mut self, expr: &Expr, environment: &Environment) -> Lowered<Shape> {
        if let Some(shape) = self.type_shape(&expr.ty)
            && !matches!(shape, Shape::Set(_))
        {
            return Ok(shape);
        }
        match self.types.resolve(&expr.ty) {
            Type::Integer => {
                let (low, high) = self.interval(expr, environment)?;
                Ok(Shape::integer(low, high))
            }
            Type::Set(_) => {
                if let Kind::Symbol(symbol) = &expr.kind
                    && let Some(item) = environment.get(symbol)
                {
                    let item = item.clone();
                    return self.item_shape(&item);
                }
                Ok(Shape::set(self.universe(expr, environment)?))
            }
            _ => match &expr.kind {
                Kind::Operation(Operator::Pair, parts) => {
                    let left = self.shape(&parts[0], environment)?;
                    Ok(Shape::pair(left, self.shape(&parts[1], environment)?))
                }
                Kind::Record(fields) => {
                    let mut shapes = Vec::new();
                    for (name, field) in fields {
                        shapes.push((name.to_string(), self.shape(field, environment)?));
                    }
                    Ok(Shape::Record(shapes))
                }
                Kind::Operation(Operator::Apply, parts) => Ok(self.universe(&parts[0], environment)?.parts().1),
                Kind::Operation(Operator::First | Operator::Last, parts) => {
                    Ok(self.universe(&parts[0], environment)?.parts().1)
                }
                Kind::Conditional(_, then, otherwise) => {
                    Ok(self.shape(then, environment)?.join(&self.shape(otherwise, environment)?))
                }
                _ => {
                    let item = self.item(expr, environment)?;
                    self.item_shape(&item)
                }
            },
        }
    }

    /// The shape of an item.
    pub(super) fn item_shape(&mut self, item: &Item) -> Lowered<Shape> {
        Ok(match item {
            Item::Scalar(_, scalar) => Shape::Scalar(*scalar),
            Item::Pair(left, right) => {
                let left = self.item_shape(left)?;
                Shape::pair(left, self.item_shape(right)?)
            }
            Item::Record(fields) => {
                let mut shapes = Vec::new();
                for (name, field) in fields {
                    shapes.push((name.clone(), self.item_shape(field)?));
                }
                Shape::Record(shapes)
            }
            Item::Set(SetItem::Cells { domain, value, .. }) => Shape::Function(Box::new(domain.clone()), *value),
            Item::Set(SetItem::Table { domain, value, .. }) => Shape::function(domain.clone(), value.clone()),
            Item::Set(set) => Shape::set(self.universe_of(set)?),
        })
    }

    /// The shape of the members of a set item.
    pub(super) fn universe_of(&mut self, set: &SetItem) -> Lowered<Shape> {
        match set {
            SetItem::Bits { element, .. } | SetItem::Code { element, .. } | SetItem::Value(_, element) => {
                Ok(element.clone())
            }
            SetItem::Cells { domain, value, .. } => Ok(Shape::pair(domain.clone(), Shape::Scalar(*value))),
            SetItem::Table { domain, value, .. } => Ok(Shape::pair(domain.clone(), value.clone())),
            SetItem::Choice { then, otherwise, .. } => Ok(self.universe_of(then)?.join(&self.universe_of(otherwise)?)),
            SetItem::Formula(expr, environment) => {
                let (expr, environment) = (Rc::clone(expr), Rc::clone(environment));
                self.universe(&expr, &environment)
            }
        }
    }

    /// The shape of the members of the set that a formula denotes.
    pub(super) fn universe(&mut self, set: &Expr, environment: &Environment) -> Lowered<Shape> {
        // Without integers, the type is sufficient, unless a function can be recognised.
        if let Some(Shape::Set(element)) = self.type_shape(&set.ty)
            && !matches!(*element, Shape::Set(_))
        {
            return Ok(*element);
        }
        let shape = match &set.kind {
            Kind::Symbol(_) | Kind::Field(..) => match self.item(set, environment)? {
                Item::Set(item) => self.universe_of(&item)?,
                _ => return self.unbounded("nothing bounds this set", set.span),
            },
            Kind::Integers(_) => match self.integers() {
                Some((low, high)) => {
                    Shape::integer(if let Kind::Integers(Some(least)) = set.kind { least } else { low }, high)
                }
                None => return self.unbounded("this set is infinite", set.span),
            },
            Kind::Extension(members) => {
                let mut joined: Option<Shape> = None;
                for member in members {
                    let shape = self.shape(member, environment)?;
                    joined = Some(joined.map_or_else(|| shape.clone(), |before| before.join(&shape)));
                }
                joined.unwrap_or_else(|| self.empty_shape(&set.ty))
            }
            Kind::Sequence(items) => {
                let mut joined: Option<Shape> = None;
                for item in items {
                    let shape = self.shape(item, environment)?;
                    joined = Some(joined.map_or_else(|| shape.clone(), |before| before.join(&shape)));
                }
                match joined {
                    Some(shape) => Shape::pair(Shape::integer(1, items.len() as i64), shape),
                    None => match self.empty_shape(&set.ty) {
                        Shape::Pair(_, value) => Shape::pair(Shape::integer(1, 1), *value),
                        other => other,
                    },
                }
            }
            Kind::Comprehension(symbols, body) => {
                let inner = self.bounded_environment(symbols, &body.conjuncts(), environment)?;
                self.tuple_shape(symbols, &inner)?
            }
            Kind::Lambda(symbols, condition, body) => {
                let inner = self.bounded_environment(symbols, &condition.conjuncts(), environment)?;
                let argument = self.tuple_shape(symbols, &inner)?;
                Shape::pair(argument, self.shape(body, &inner)?)
            }
            Kind::Fold(_, symbols, condition, body) => {
                let inner = self.bounded_environment(symbols, &condition.conjuncts(), environment)?;
                self.universe(body, &inner)?
            }
            Kind::RecordSet(fields) => {
                let mut shapes = Vec::new();
                for (name, field) in fields {
                    shapes.push((name.to_string(), self.universe(field, environment)?));
                }
                Shape::Record(shapes)
            }
            Kind::Conditional(_, then, otherwise) => {
                self.universe(then, environment)?.join(&self.universe(otherwise, environment)?)
            }
            Kind::Let(bindings, body) => {
                let inner = self.let_environment(bindings, environment)?;
                self.universe(body, &inner)?
            }
            Kind::Operation(operator, operands) => self.universe_of_operation(*operator, operands, set, environment)?,
            _ => return self.unbounded("nothing bounds this set", set.span),
        };
        Ok(shape)
    }

    fn universe_of_operation(
        &mut self,
        operator: Operator,
        operands: &[Expr],
        set: &Expr,
        environment: &Environment,
    ) -> Lowered<Shape> {
        Ok(match (operator, operands) {
            (Operator::Interval, [low, high]) => {
                let (low, high) = (self.interval(low, environment)?, self.interval(high, environment)?);
                Shape::integer(low.0, high.1)
            }
            (Operator::Union, [left, right]) => {
                self.universe(left, environment)?.join(&self.universe(right, environment)?)
            }
            (Operator::Intersection, [left, right]) => {
                match (self.universe(left, environment), self.universe(right, environment)) {
                    (Ok(one), Ok(other)) => one.meet(&other),
                    (Ok(one), Err(_)) | (Err(_), Ok(one)) => one,
                    (Err(error), Err(_)) => return Err(error),
                }
            }
            (Operator::Minus, [left, _]) => self.universe(left, environment)?,
            (Operator::Times, [left, right]) => {
                let left = self.universe(left, environment)?;
                Shape::pair(left, self.universe(right, environment)?)
            }
            (Operator::PowerSet | Operator::PowerSet1, [base]) => Shape::set(self.universe(base, environment)?),
            (Operator::GeneralUnion | Operator::GeneralIntersection, [sets]) => {
                self.universe(sets, environment)?.element()
            }
            (Operator::Arrow(arrow), [from, to]) => {
                let (from, to) = (self.universe(from, environment)?, self.universe(to, environment)?);
                if arrow.function { Shape::function(from, to) } else { Shape::set(Shape::pair(from, to)) }
            }
            (Operator::Sequences(kind), [items]) => {
                let items = self.universe(items, environment)?;
                let longest = match kind {
                    Sequences::Injective | Sequences::InjectiveNonempty | Sequences::Permutations => {
                        i64::try_from(items.size(self.core)).unwrap_or(i64::MAX)
                    }
                    Sequences::All | Sequences::Nonempty => match self.integers() {
                        Some((_, high)) => high.max(1),
                        None => {
                            let diagnostic = Diagnostic::error("unbounded", "nothing bounds the length of this sequence", set.span)
                                .with_help("add `size(…) <= 5` to the invariant, use `iseq`, or set a greatest length with `-D MAXINT=…`");
                            return Err(Box::new(diagnostic));
                        }
                    },
                };
                sequence_shape(longest, items)
            }
            (Operator::Domain, [relation]) => self.universe(relation, environment)?.parts().0,
            (Operator::Range | Operator::Image, [relation, ..]) => self.universe(relation, environment)?.parts().1,
            (Operator::Inverse, [relation]) => {
                let (left, right) = self.universe(relation, environment)?.parts();
                Shape::pair(right, left)
            }
            (Operator::DomainRestriction, [arguments, relation]) => {
                let (left, right) = self.universe(relation, environment)?.parts();
                let left =
                    self.universe(arguments, environment).map_or_else(|_| left.clone(), |shape| left.meet(&shape));
                Shape::pair(left, right)
            }
            (Operator::RangeRestriction, [relation, values]) => {
                let (left, right) = self.universe(relation, environment)?.parts();
                let right =
                    self.universe(values, environment).map_or_else(|_| right.clone(), |shape| right.meet(&shape));
                Shape::pair(left, right)
            }
            (Operator::DomainSubtraction, [_, relation]) | (Operator::RangeSubtraction, [relation, _]) => {
                self.universe(relation, environment)?
            }
            (Operator::Override, [left, right]) => {
                self.universe(left, environment)?.join(&self.universe(right, environment)?)
            }
            (Operator::Composition, [left, right]) => {
                Shape::pair(self.universe(left, environment)?.parts().0, self.universe(right, environment)?.parts().1)
            }
            (Operator::DirectProduct, [left, right]) => {
                let (a, b) = self.universe(left, environment)?.parts();
                let (c, d) = self.universe(right, environment)?.parts();
                Shape::pair(a.meet(&c), Shape::pair(b, d))
            }
            (Operator::ParallelProduct, [left, right]) => {
                let (a, b) = self.universe(left, environment)?.parts();
                let (c, d) = self.universe(right, environment)?.parts();
                Shape::pair(Shape::pair(a, c), Shape::pair(b, d))
            }
            (Operator::Identity, [base]) => {
                let shape = self.universe(base, environment)?;
                Shape::pair(shape.clone(), shape)
            }
            (Operator::FirstProjection | Operator::SecondProjection, [left, right]) => {
                let (left, right) = (self.universe(left, environment)?, self.universe(right, environment)?);
                let value = if operator == Operator::FirstProjection { left.clone() } else { right.clone() };
                Shape::pair(Shape::pair(left, right), value)
            }
            (Operator::Iterate | Operator::Closure | Operator::Closure1, [relation, ..]) => {
                let (left, right) = self.universe(relation, environment)?.parts();
                let both = left.join(&right);
                Shape::pair(both.clone(), both)
            }
            (Operator::ToFunction, [relation]) => {
                let (left, right) = self.universe(relation, environment)?.parts();
                Shape::pair(left, Shape::set(right))
            }
            (Operator::ToRelation, [function]) => {
                let (left, right) = self.universe(function, environment)?.parts();
                Shape::pair(left, right.element())
            }
            (Operator::Apply, [function, _]) => self.universe(function, environment)?.parts().1.element(),
            (Operator::Append, [list, item]) => {
                let item = self.shape(item, environment)?;
                self.longer(list, &Shape::integer(1, 1), &item, environment)?
            }
            (Operator::Prepend, [item, list]) => {
                let item = self.shape(item, environment)?;
                self.longer(list, &Shape::integer(1, 1), &item, environment)?
            }
            (Operator::Concatenate, [left, right]) => {
                let (length, item) = self.universe(right, environment)?.parts();
                self.longer(left, &length, &item, environment)?
            }
            (Operator::Front | Operator::Tail | Operator::Reverse | Operator::Take | Operator::Drop, [list, ..]) => {
                let (positions, items) = self.universe(list, environment)?.parts();
                // Positions of a sequence are positive, whatever its universe allows.
                Shape::pair(positions.meet(&Shape::integer(1, i64::MAX)), items)
            }
            (Operator::GeneralConcatenate, [lists]) => {
                let joined = self.concatenation(lists, set, environment)?;
                self.universe(&joined, environment)?
            }
            (Operator::First | Operator::Last, [list]) => self.universe(list, environment)?.parts().1.element(),
            _ => return self.unbounded("nothing bounds this set", set.span),
        })
    }

    /// The sequences of a sequence, one after another, as far as there may be any.
    pub(super) fn concatenation(&mut self, lists: &Expr, whole: &Expr, environment: &Environment) -> Lowered<Expr> {
        let (ty, span) = (whole.ty.clone(), whole.span);
        let nothing = Expr { kind: Kind::Extension(Vec::new()), ty: ty.clone(), span };
        let parts: Vec<Expr> = match &lists.kind {
            Kind::Sequence(items) => items.clone(),
            _ => (1..=self.size_bound(lists, environment)?)
                .map(|position| {
                    let position = Expr { kind: Kind::Integer(position), ty: Type::Integer, span };
                    let numbers = Type::Set(Rc::new(Type::Integer));
                    let domain = Expr::operation(Operator::Domain, vec![lists.clone()], numbers, span);
                    let there =
                        Expr::operation(Operator::Member, vec![position.clone(), domain], Type::Predicate, span);
                    let list = Expr::operation(Operator::Apply, vec![lists.clone(), position], ty.clone(), span);
                    let kind = Kind::Conditional(Rc::new(there), Rc::new(list), Rc::new(nothing.clone()));
                    Expr { kind, ty: ty.clone(), span }
                })
                .collect(),
        };
        let join = |one: Expr, other: Expr| Expr::operation(Operator::Concatenate, vec![one, other], ty.clone(), span);
        Ok(parts.into_iter().reduce(join).unwrap_or(nothing))
    }

    /// The universe of a sequence with more items.
    fn longer(&mut self, list: &Expr, more: &Shape, item: &Shape, environment: &Environment) -> Lowered<Shape> {
        let (positions, items) = self.universe(list, environment)?.parts();
        let top = |shape: &Shape| match shape {
            Shape::Scalar(Scalar::Integer { high, .. }) => *high,
            _ => 0,
        };
        // An empty sequence adds nothing, though its universe has a position.
        let is_empty = matches!(&list.kind, Kind::Sequence(items) | Kind::Extension(items) if items.is_empty());
        let before = if is_empty { 0 } else { top(&positions).max(0) };
        Ok(Shape::pair(Shape::integer(1, before.saturating_add(top(more)).max(1)), items.join(item)))
    }

    fn tuple_shape(&mut self, symbols: &[SymbolId], environment: &Environment) -> Lowered<Shape> {
        let mut joined: Option<Shape> = None;
        for symbol in symbols {
            let shape = match environment.get(symbol).cloned() {
                Some(item) => self.item_shape(&item)?,
                None => Shape::Scalar(Scalar::Boolean),
            };
            joined = Some(match joined {
                Some(before) => Shape::pair(before, shape),
                None => shape,
            });
        }
        Ok(joined.unwrap_or(Shape::Scalar(Scalar::Boolean)))
    }

    /// Symbols bound to items of the right bounds, only for computing bounds.
    pub(super) fn bounded_environment(
        &mut self,
        symbols: &[SymbolId],
        conjuncts: &[&Expr],
        environment: &Environment,
    ) -> Lowered<Environment> {
        let mut inner = environment.clone();
        let mut pending: Vec<SymbolId> = symbols.to_vec();
        while !pending.is_empty() {
            let mut failure = None;
            let mut chosen = None;
            for (position, symbol) in pending.iter().enumerate() {
                match self.symbol_shape(*symbol, conjuncts, &pending, &inner) {
                    Ok(shape) => {
                        chosen = Some((position, shape));
                        break;
                    }
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            match chosen {
                Some((position, shape)) => {
                    let symbol = pending.remove(position);
                    let item = self.placeholder(&shape);
                    inner = bind(&inner, symbol, item);
                }
                None => return Err(failure.expect("a pending symbol without a shape has a reason")),
            }
        }
        Ok(inner)
    }

    /// An item with the bounds of a shape and no value.
    fn placeholder(&mut self, shape: &Shape) -> Item {
        match shape {
            Shape::Scalar(scalar) => {
                let value = self.number(0);
                Item::Scalar(value, *scalar)
            }
            Shape::Pair(left, right) => {
                let left = self.placeholder(left);
                Item::pair(left, self.placeholder(right))
            }
            Shape::Record(fields) => {
                Item::Record(fields.iter().map(|(name, shape)| (name.clone(), self.placeholder(shape))).collect())
            }
            Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => {
                let code = self.number(0);
                Item::Set(SetItem::Code { code, element: shape.element() })
            }
        }
    }

    /// The smallest shape that conjuncts imply for a symbol, without evaluating the symbols that are still pending.
    pub(super) fn symbol_shape(
        &mut self,
        symbol: SymbolId,
        conjuncts: &[&Expr],
        pending: &[SymbolId],
        environment: &Environment,
    ) -> Lowered<Shape> {
        let entry = &self.core.symbols[symbol.0];
        let (ty, name, span) = (self.types.full(&entry.ty), entry.name.clone(), entry.span);
        if let Some(shape) = self.type_shape(&ty)
            && !matches!(shape, Shape::Set(_))
        {
            return Ok(shape);
        }
        let is_symbol = |expr: &Expr| matches!(expr.kind, Kind::Symbol(it) if it == symbol);
        let mut found: Option<Shape> = None;
        let mut meet = |shape: Shape| {
            found = Some(match found.take() {
                Some(before) => before.meet(&shape),
                None => shape,
            });
        };
        let (mut low, mut high) = (None, None);
        let mut reason = None;
        for conjunct in conjuncts {
            if let Kind::Quantified(Quantifier::Any, inner, body) = &conjunct.kind
                && body.mentions(symbol)
                && let Ok(inner) = self.bounded_environment(inner, &body.conjuncts(), environment)
                && let Ok(shape) = self.symbol_shape(symbol, &body.conjuncts(), pending, &inner)
            {
                meet(shape);
            }
            let Kind::Operation(operator, sides) = &conjunct.kind else {
                continue;
            };
            if let (Operator::Or, [left, right]) = (operator, sides.as_slice())
                && left.mentions(symbol)
                && right.mentions(symbol)
                && let Ok(one) = self.symbol_shape(symbol, &left.conjuncts(), pending, environment)
                && let Ok(other) = self.symbol_shape(symbol, &right.conjuncts(), pending, environment)
            {
                meet(one.join(&other));
            }
            let [left, right] = sides.as_slice() else {
                continue;
            };
            let is_open = |expr: &Expr| pending.iter().any(|it| expr.mentions(*it));
            match operator {
                Operator::Equal => {
                    for (one, other) in [(left, right), (right, left)] {
                        if is_symbol(one) && !is_open(other) {
                            match self.shape(other, environment) {
                                Ok(shape) => meet(shape),
                                Err(error) => reason = Some(error),
                            }
                        } else if let (Some(limit), false) = (size_of(one, symbol), is_open(other))
                            && limit
                            && let Ok((_, bound)) = self.interval(other, environment)
                        {
                            high = Some(high.map_or(bound, |before: i64| before.min(bound)));
                        }
                    }
                }
                Operator::Member if !is_open(right) => {
                    if is_symbol(left) || pattern_contains(left, symbol) {
                        match self.universe(right, environment) {
                            Ok(shape) => {
                                if let Some(part) = pattern_part(left, &shape, symbol) {
                                    meet(part);
                                }
                            }
                            Err(error) => {
                                if let Kind::Integers(Some(least)) = right.kind {
                                    low = Some(low.map_or(least, |before: i64| before.max(least)));
                                }
                                reason = Some(error);
                            }
                        }
                    } else if size_of(left, symbol) == Some(true)
                        && let Ok(Shape::Scalar(Scalar::Integer { high: bound, .. })) =
                            self.universe(right, environment)
                    {
                        high = Some(high.map_or(bound, |before: i64| before.min(bound)));
                    }
                }
                Operator::Subset | Operator::StrictSubset if is_symbol(left) && !is_open(right) => {
                    match self.universe(right, environment) {
                        Ok(shape) => meet(Shape::set(shape)),
                        Err(error) => reason = Some(error),
                    }
                }
                Operator::Less | Operator::LessOrEqual => {
                    let strict = i64::from(*operator == Operator::Less);
                    if (is_symbol(left) || size_of(left, symbol) == Some(true)) && !is_open(right) {
                        if let Ok((_, bound)) = self.interval(right, environment) {
                            let bound = bound.saturating_sub(strict);
                            high = Some(high.map_or(bound, |before: i64| before.min(bound)));
                        }
                    } else if is_symbol(right)
                        && !is_open(left)
                        && let Ok((bound, _)) = self.interval(left, environment)
                    {
                        let bound = bound.saturating_add(strict);
                        low = Some(low.map_or(bound, |before: i64| before.max(bound)));
                    }
                }
                _ => {}
            }
        }
        if ty == Type::Integer {
            let given = self.integers();
            if let Some(shape) = &found {
                let bounds = Shape::integer(low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX));
                found = Some(shape.meet(&bounds));
            } else if let (Some(low), Some(high)) = (low.or(given.map(|it| it.0)), high.or(given.map(|it| it.1))) {
                found = Some(Shape::integer(low, high));
            }
        } else if let (Some(high), Type::Set(_)) = (high, &ty) {
            // A bounded length of a sequence of something.
            match &found {
                Some(shape @ (Shape::Function(domain, _) | Shape::Table(domain, _)))
                    if matches!(**domain, Shape::Scalar(Scalar::Integer { .. })) =>
                {
                    let (domain, value) = shape.element().parts();
                    found = Some(Shape::function(domain.meet(&Shape::integer(1, high.max(1))), value));
                }
                None => {
                    if let Some(items) = self.sequence_items(symbol, conjuncts, environment) {
                        found = Some(sequence_shape(high, items));
                    }
                }
                _ => {}
            }
        }
        if let Some(shape) = found {
            return Ok(shape);
        }
        if let Some(shape) = shape_of_type(self.types, &ty, self.integers()) {
            return Ok(shape);
        }
        match reason {
            Some(reason) => Err(reason),
            None => self.unbounded(format!("nothing bounds the integers of `{name}`"), span),
        }
    }

    /// The shape of the items of a symbol that a conjunct declares to be a sequence.
    fn sequence_items(&mut self, symbol: SymbolId, conjuncts: &[&Expr], environment: &Environment) -> Option<Shape> {
        for conjunct in conjuncts {
            if let Kind::Operation(Operator::Member, sides) = &conjunct.kind
                && matches!(sides[0].kind, Kind::Symbol(it) if it == symbol)
                && let Kind::Operation(Operator::Sequences(_), items) = &sides[1].kind
            {
                return self.universe(&items[0], environment).ok();
            }
        }
        None
    }

    /// The greatest length of a sequence.
    pub(super) fn size_bound(&mut self, list: &Expr, environment: &Environment) -> Lowered<i64> {
        if matches!(&list.kind, Kind::Sequence(items) | Kind::Extension(items) if items.is_empty()) {
            return Ok(0);
        }
        match self.universe(list, environment)?.parts().0 {
            Shape::Scalar(Scalar::Integer { high, .. }) => Ok(high.max(0)),
            _ => Ok(0),
        }
    }

    /// Bounds of an integer.
    pub(super) fn interval(&mut self, expr: &Expr, environment: &Environment) -> Lowered<(i64, i64)> {
        if let Some(Value::Integer(value)) = self.static_value(expr) {
            return Ok((value, value));
        }
        Ok(match &expr.kind {
            Kind::Integer(value) => (*value, *value),
            Kind::Symbol(_) | Kind::Field(..) => match self.item(expr, environment)? {
                Item::Scalar(_, Scalar::Integer { low, high }) => (low, high),
                _ => return self.unbounded("nothing bounds this integer", expr.span),
            },
            Kind::Conditional(_, then, otherwise) => {
                let (one, other) = (self.interval(then, environment)?, self.interval(otherwise, environment)?);
                (one.0.min(other.0), one.1.max(other.1))
            }
            Kind::Let(bindings, body) => {
                let inner = self.let_environment(bindings, environment)?;
                self.interval(body, &inner)?
            }
            Kind::Fold(fold, symbols, condition, body) => {
                let inner = self.bounded_environment(symbols, &condition.conjuncts(), environment)?;
                let (low, high) = self.interval(body, &inner)?;
                let count = i64::try_from(self.tuple_shape(symbols, &inner)?.size(self.core)).unwrap_or(i64::MAX);
                if *fold == Fold::Sum {
                    (low.min(0).saturating_mul(count), high.max(0).saturating_mul(count))
                } else {
                    let most = low.saturating_abs().max(high.saturating_abs()).max(1);
                    let bound = most.saturating_pow(u32::try_from(count).unwrap_or(u32::MAX));
                    (if low < 0 { -bound } else { 0 }, bound)
                }
            }
            Kind::Operation(operator, operands) => {
                let corners = |one: (i64, i64), other: (i64, i64), work: &dyn Fn(i64, i64) -> i64| {
                    let values =
                        [work(one.0, other.0), work(one.0, other.1), work(one.1, other.0), work(one.1, other.1)];
                    (values.into_iter().min().unwrap_or(0), values.into_iter().max().unwrap_or(0))
                };
                match (operator, operands.as_slice()) {
                    (Operator::Negate, [operand]) => {
                        let (low, high) = self.interval(operand, environment)?;
                        (high.saturating_neg(), low.saturating_neg())
                    }
                    (Operator::Add, [left, right]) => {
                        let (one, other) = (self.interval(left, environment)?, self.interval(right, environment)?);
                        (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
                    }
                    (Operator::Minus, [left, right]) => {
                        let (one, other) = (self.interval(left, environment)?, self.interval(right, environment)?);
                        (one.0.saturating_sub(other.1), one.1.saturating_sub(other.0))
                    }
                    (Operator::Times, [left, right]) => {
                        let (one, other) = (self.interval(left, environment)?, self.interval(right, environment)?);
                        corners(one, other, &i64::saturating_mul)
                    }
                    (Operator::Divide, [left, right]) => {
                        let (one, other) = (self.interval(left, environment)?, self.interval(right, environment)?);
                        let most = one.0.saturating_abs().max(one.1.saturating_abs());
                        (if one.0 >= 0 && other.0 > 0 { 0 } else { -most }, most)
                    }
                    (Operator::Modulo, [left, right]) => {
                        let (one, other) = (self.interval(left, environment)?, self.interval(right, environment)?);
                        (0, one.1.min(other.1.saturating_sub(1)).max(0))
                    }
                    (Operator::Power, [left, right]) => {
                        let (one, other) = (self.interval(left, environment)?, self.interval(right, environment)?);
                        let exponent = u32::try_from(other.1.max(0)).unwrap_or(u32::MAX);
                        let most = one.0.saturating_abs().max(one.1.saturating_abs()).max(1).saturating_pow(exponent);
                        (if one.0 < 0 { -most } else { 0 }, most)
                    }
                    (Operator::Minimum | Operator::Maximum, [set]) => match self.universe(set, environment)? {
                        Shape::Scalar(Scalar::Integer { low, high }) => (low, high),
                        _ => return self.unbounded("nothing bounds this integer", expr.span),
                    },
                    (Operator::Cardinality, [set]) => {
                        let universe = match self.shape(set, environment)? {
                            Shape::Function(domain, _) | Shape::Table(domain, _) => *domain,
                            shape => shape.element(),
                        };
                        (0, i64::try_from(universe.size(self.core)).unwrap_or(i64::MAX))
                    }
                    (Operator::Size, [list]) => (0, self.size_bound(list, environment)?),
                    (Operator::Apply, [function, _]) | (Operator::First | Operator::Last, [function]) => {
                        match self.universe(function, environment)?.parts().1 {
                            Shape::Scalar(Scalar::Integer { low, high }) => (low, high),
                            _ => return self.unbounded("nothing bounds this integer", expr.span),
                        }
                    }
                    _ => return self.unbounded("nothing bounds this integer", expr.span),
                }
            }
            _ => return self.unbounded("nothing bounds this integer", expr.span),
        })
    }
}

/// The shape of sequences up to a length.
pub(super) fn sequence_shape(longest: i64, items: Shape) -> Shape {
    Shape::function(Shape::integer(1, longest.max(1)), items)
}

/// Whether an expression is the size of a symbol: `size(s)` or `card(s)` (`Some(true)`).
fn size_of(expr: &Expr, symbol: SymbolId) -> Option<bool> {
    match &expr.kind {
        Kind::Operation(Operator::Size, operands) => Some(matches!(operands[0].kind, Kind::Symbol(it) if it == symbol)),
        _ => None,
    }
}

fn pattern_contains(pattern: &Expr, symbol: SymbolId) -> bool {
    match &pattern.kind {
        Kind::Symbol(it) => *it == symbol,
        Kind::Operation(Operator::Pair, parts) => parts.iter().any(|part| pattern_contains(part, symbol)),
        Kind::Record(fields) => fields.iter().any(|(_, part)| pattern_contains(part, symbol)),
        _ => false,
    }
}

/// The component of a shape at the position of a symbol in a pattern.
fn pattern_part(pattern: &Expr, shape: &Shape, symbol: SymbolId) -> Option<Shape> {
    match (&pattern.kind, shape) {
        (Kind::Symbol(it), _) => (*it == symbol).then(|| shape.clone()),
        (Kind::Operation(Operator::Pair, parts), Shape::Pair(left, right)) => {
            pattern_part(&parts[0], left, symbol).or_else(|| pattern_part(&parts[1], right, symbol))
        }
        (Kind::Record(fields), Shape::Record(shapes)) => {
            fields.iter().zip(shapes).find_map(|((_, part), (_, shape))| pattern_part(part, shape, symbol))
        }
        _ => None,
    }
}
