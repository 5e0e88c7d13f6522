//! Membership: whether a value belongs to a set, for every operator that forms sets. The definitions are those of the
//! B-Book, read as conditions on a member.

use std::rc::Rc;

use quotient_ir::{BinaryOperator, Expr as IrExpr, ExprId, PlaceId, Quantifier as IrQuantifier};
use quotient_kit::Building;

use super::super::core::{Arrow, Expr, Fold, Kind, Operator, Sequences};
use super::super::evaluation::Value;
use super::super::types::Type;
use super::items::{Environment, Item, SetItem, bind};
use super::shapes::{Leaf, Scalar, Shape};
use super::{Lowered, Lowerer, refuse};

impl Lowerer<'_> {
    /// Whether an element belongs to the set that a formula denotes.
    pub(super) fn member(&mut self, element: &Item, set: &Expr, environment: &Environment) -> Lowered<ExprId> {
        match &set.kind {
            Kind::GivenSet(_) | Kind::Booleans | Kind::Texts | Kind::Integers(None) => Ok(self.truth(true)),
            Kind::Integers(Some(least)) => {
                let Item::Scalar(value, bounds) = element else {
                    return Ok(self.truth(false));
                };
                if matches!(bounds, Scalar::Integer { low, .. } if low >= least) {
                    return Ok(self.truth(true));
                }
                let least = self.number(*least);
                Ok(self.arithmetic(BinaryOperator::LessOrEqual, least, *value))
            }
            Kind::Symbol(_) | Kind::Field(..) => match self.item(set, environment)? {
                Item::Set(item) => self.member_of(element, &item),
                _ => Ok(self.truth(false)),
            },
            Kind::Extension(members) => {
                let mut any = self.truth(false);
                for member in members {
                    let member = self.item(member, environment)?;
                    let same = self.same(element, &member)?;
                    any = self.or(any, same);
                }
                Ok(any)
            }
            Kind::Sequence(items) => {
                let (position, value) = element.parts();
                let mut any = self.truth(false);
                for (at, item) in items.iter().enumerate() {
                    let item = self.item(item, environment)?;
                    let number = self.number(at as i64 + 1);
                    let here = Item::Scalar(number, Scalar::integer(at as i64 + 1, at as i64 + 1));
                    let first = self.same(position, &here)?;
                    let second = self.same(value, &item)?;
                    let both = self.and(first, second);
                    any = self.or(any, both);
                }
                Ok(any)
            }
            Kind::Comprehension(symbols, body) => {
                let inner = destructure(symbols, element, environment);
                self.predicate(body, &inner)
            }
            Kind::Lambda(symbols, condition, body) => {
                let (argument, value) = element.parts();
                let inner = destructure(symbols, argument, environment);
                let condition = self.predicate(condition, &inner)?;
                let result = self.item(body, &inner)?;
                let same = self.same(value, &result)?;
                Ok(self.and(condition, same))
            }
            Kind::Fold(fold @ (Fold::Union | Fold::Intersection), symbols, condition, body) => {
                let bound = self.bound(symbols, &condition.conjuncts(), environment)?;
                let inside = self.member(element, body, &bound.environment)?;
                if *fold == Fold::Union {
                    let both = self.and(bound.condition, inside);
                    Ok(self.quantify(IrQuantifier::Any, &bound.binders, both))
                } else {
                    let some = self.quantify(IrQuantifier::Any, &bound.binders, bound.condition);
                    let body = self.implies(bound.condition, inside);
                    let all = self.quantify(IrQuantifier::All, &bound.binders, body);
                    Ok(self.unless_no_sets(some, all, set.span))
                }
            }
            Kind::RecordSet(fields) => {
                let Item::Record(items) = element else {
                    return Ok(self.truth(false));
                };
                let mut all = self.truth(true);
                for ((_, field), (_, item)) in fields.iter().zip(items) {
                    let inside = self.member(item, field, environment)?;
                    all = self.and(all, inside);
                }
                Ok(all)
            }
            Kind::Conditional(condition, then, otherwise) => {
                let condition = self.predicate(condition, environment)?;
                let then = self.member(element, then, environment)?;
                let otherwise = self.member(element, otherwise, environment)?;
                Ok(self.conditional(condition, then, otherwise))
            }
            Kind::Let(bindings, body) => {
                let inner = self.let_environment(bindings, environment)?;
                self.member(element, body, &inner)
            }
            Kind::Operation(operator, operands) => {
                self.member_of_operation(element, *operator, operands, set, environment)
            }
            _ => refuse("unsupported", "this is not supported as a set", set.span),
        }
    }

    fn exists(&mut self, shape: &Shape, body: impl FnOnce(&mut Self, &Item) -> Lowered<ExprId>) -> Lowered<ExprId> {
        let name = self.fresh_name("x");
        let (item, binders) = self.binders(shape, &name);
        let body = body(self, &item)?;
        Ok(self.quantify(IrQuantifier::Any, &binders, body))
    }

    fn for_all(&mut self, shape: &Shape, body: impl FnOnce(&mut Self, &Item) -> Lowered<ExprId>) -> Lowered<ExprId> {
        let name = self.fresh_name("x");
        let (item, binders) = self.binders(shape, &name);
        let body = body(self, &item)?;
        Ok(self.quantify(IrQuantifier::All, &binders, body))
    }

    fn member_of_operation(
        &mut self,
        element: &Item,
        operator: Operator,
        operands: &[Expr],
        set: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        let (left_item, right_item) = element.parts();
        match (operator, operands) {
            (Operator::Interval, [low, high]) => {
                let Item::Scalar(value, bounds) = element else {
                    return Ok(self.truth(false));
                };
                let (low_bounds, high_bounds) = (self.interval(low, environment)?, self.interval(high, environment)?);
                let mut all = self.truth(true);
                let (least, greatest) = match bounds {
                    Scalar::Integer { low, high } => (*low, *high),
                    _ => (i64::MIN, i64::MAX),
                };
                if least < low_bounds.1 {
                    let low = self.integer(low, environment)?;
                    all = self.arithmetic(BinaryOperator::LessOrEqual, low, *value);
                }
                if greatest > high_bounds.0 {
                    let high = self.integer(high, environment)?;
                    let below = self.arithmetic(BinaryOperator::LessOrEqual, *value, high);
                    all = self.and(all, below);
                }
                Ok(all)
            }
            (Operator::Union | Operator::Intersection | Operator::Minus, [left, right]) => {
                let left = self.member(element, left, environment)?;
                let right = self.member(element, right, environment)?;
                Ok(match operator {
                    Operator::Union => self.or(left, right),
                    Operator::Intersection => self.and(left, right),
                    _ => {
                        let outside = self.not(right);
                        self.and(left, outside)
                    }
                })
            }
            (Operator::Times, [left, right]) => {
                let left = self.member(left_item, left, environment)?;
                let right = self.member(right_item, right, environment)?;
                Ok(self.and(left, right))
            }
            (Operator::PowerSet, [base]) => self.item_subset(element, base, environment),
            (Operator::PowerSet1, [base]) => {
                let subset = self.item_subset(element, base, environment)?;
                let nonempty = self.nonempty(element)?;
                Ok(self.and(subset, nonempty))
            }
            (Operator::GeneralUnion, [sets]) => {
                // The values of a function need not be guessed.
                if let Kind::Operation(Operator::Range, inner) = &sets.kind
                    && let Item::Set(function @ SetItem::Table { .. }) = self.item(&inner[0], environment)?
                {
                    let (arguments, _) = self.universe_of(&function)?.parts();
                    return self.exists(&arguments, |lowerer, argument| {
                        let Some(partial) = lowerer.partial_item(&function, argument)? else {
                            return Ok(lowerer.truth(false));
                        };
                        let inside = lowerer.member_of_item(element, &partial.value)?;
                        Ok(lowerer.and(partial.defined, inside))
                    });
                }
                let shape = self.universe(sets, environment)?;
                self.exists(&shape, |lowerer, inner| {
                    let belongs = lowerer.member(inner, sets, environment)?;
                    let inside = lowerer.member_of_item(element, inner)?;
                    Ok(lowerer.and(belongs, inside))
                })
            }
            (Operator::GeneralIntersection, [sets]) => {
                let shape = self.universe(sets, environment)?;
                let some = self.exists(&shape, |lowerer, inner| lowerer.member(inner, sets, environment))?;
                let all = self.for_all(&shape, |lowerer, inner| {
                    let belongs = lowerer.member(inner, sets, environment)?;
                    let inside = lowerer.member_of_item(element, inner)?;
                    Ok(lowerer.implies(belongs, inside))
                })?;
                Ok(self.unless_no_sets(some, all, set.span))
            }
            (Operator::Arrow(arrow), [from, to]) => self.is_arrow(arrow, element, from, to, environment),
            (Operator::Sequences(kind), [items]) => self.is_sequence(kind, element, items, environment),
            (Operator::Domain, [relation]) => self.in_domain(element, relation, environment),
            (Operator::Range, [relation]) => {
                let (from, _) = self.universe(relation, environment)?.parts();
                self.exists(&from, |lowerer, argument| {
                    lowerer.member(&Item::pair(argument.clone(), element.clone()), relation, environment)
                })
            }
            (Operator::Inverse, [relation]) => {
                self.member(&Item::pair(right_item.clone(), left_item.clone()), relation, environment)
            }
            (Operator::Image, [relation, arguments]) => {
                // The image of one argument needs no search.
                if let Kind::Extension(members) = &arguments.kind {
                    let mut any = self.truth(false);
                    for member in members {
                        let member = self.item(member, environment)?;
                        let related = self.member(&Item::pair(member, element.clone()), relation, environment)?;
                        any = self.or(any, related);
                    }
                    return Ok(any);
                }
                let (from, _) = self.universe(relation, environment)?.parts();
                self.exists(&from, |lowerer, argument| {
                    let belongs = lowerer.member(argument, arguments, environment)?;
                    let related =
                        lowerer.member(&Item::pair(argument.clone(), element.clone()), relation, environment)?;
                    Ok(lowerer.and(belongs, related))
                })
            }
            (Operator::DomainRestriction | Operator::DomainSubtraction, [restriction, relation])
            | (Operator::RangeRestriction | Operator::RangeSubtraction, [relation, restriction]) => {
                let by_argument = matches!(operator, Operator::DomainRestriction | Operator::DomainSubtraction);
                let keeps = matches!(operator, Operator::DomainRestriction | Operator::RangeRestriction);
                let related = self.member(element, relation, environment)?;
                let belongs =
                    self.member(if by_argument { left_item } else { right_item }, restriction, environment)?;
                let kept = if keeps { belongs } else { self.not(belongs) };
                Ok(self.and(related, kept))
            }
            (Operator::Override, [left, right]) => {
                let new = self.member(element, right, environment)?;
                let old = self.member(element, left, environment)?;
                let overridden = self.in_domain(left_item, right, environment)?;
                let kept = self.not(overridden);
                let old = self.and(old, kept);
                Ok(self.or(new, old))
            }
            (Operator::Composition, [left, right]) => {
                let (_, between) = self.universe(left, environment)?.parts();
                let (other, _) = self.universe(right, environment)?.parts();
                self.exists(&between.meet(&other), |lowerer, middle| {
                    let first = lowerer.member(&Item::pair(left_item.clone(), middle.clone()), left, environment)?;
                    let second = lowerer.member(&Item::pair(middle.clone(), right_item.clone()), right, environment)?;
                    Ok(lowerer.and(first, second))
                })
            }
            (Operator::DirectProduct, [left, right]) => {
                let (one, other) = right_item.parts();
                let first = self.member(&Item::pair(left_item.clone(), one.clone()), left, environment)?;
                let second = self.member(&Item::pair(left_item.clone(), other.clone()), right, environment)?;
                Ok(self.and(first, second))
            }
            (Operator::ParallelProduct, [left, right]) => {
                let (a, c) = left_item.parts();
                let (b, d) = right_item.parts();
                let first = self.member(&Item::pair(a.clone(), b.clone()), left, environment)?;
                let second = self.member(&Item::pair(c.clone(), d.clone()), right, environment)?;
                Ok(self.and(first, second))
            }
            (Operator::Identity, [base]) => {
                let same = self.same(left_item, right_item)?;
                let belongs = self.member(left_item, base, environment)?;
                Ok(self.and(belongs, same))
            }
            (Operator::FirstProjection | Operator::SecondProjection, [left, right]) => {
                let (one, other) = left_item.parts();
                let first = self.member(one, left, environment)?;
                let second = self.member(other, right, environment)?;
                let same = self.same(if operator == Operator::FirstProjection { one } else { other }, right_item)?;
                let both = self.and(first, second);
                Ok(self.and(both, same))
            }
            (Operator::Closure | Operator::Closure1 | Operator::Iterate, _) => {
                let stored = self.closure(operator, operands, set, environment)?;
                self.member_of(element, &stored)
            }
            (Operator::ToFunction, [relation]) => {
                let domain = self.in_domain(left_item, relation, environment)?;
                let (_, values) = self.universe(relation, environment)?.parts();
                let Item::Set(image) = right_item else {
                    return Ok(self.truth(false));
                };
                let shape = values.join(&self.universe_of(image)?);
                let image = image.clone();
                let same = self.for_all(&shape, |lowerer, value| {
                    let inside = lowerer.member_of(value, &image)?;
                    let related =
                        lowerer.member(&Item::pair(left_item.clone(), value.clone()), relation, environment)?;
                    Ok(lowerer.equal(inside, related))
                })?;
                Ok(self.and(domain, same))
            }
            (Operator::ToRelation, [function]) => {
                let (_, values) = self.universe(function, environment)?.parts();
                self.exists(&values, |lowerer, image| {
                    let related =
                        lowerer.member(&Item::pair(left_item.clone(), image.clone()), function, environment)?;
                    let inside = lowerer.member_of_item(right_item, image)?;
                    Ok(lowerer.and(related, inside))
                })
            }
            (Operator::Apply, [function, argument]) => {
                let argument = self.item(argument, environment)?;
                self.member_of_application(element, function, &argument, set, environment)
            }
            _ => self.member_of_sequence(element, operator, operands, set, environment),
        }
    }

    /// Whether an element belongs to the set that a function has as its value.
    fn member_of_application(
        &mut self,
        element: &Item,
        function: &Expr,
        argument: &Item,
        set: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        if let Some(partial) = self.partial(function, argument, environment)? {
            let found = self.member_of_item(element, &partial.value)?;
            let unique = self.not(partial.conflict);
            let defined = self.and(partial.defined, unique);
            return Ok(self.inside_domain(defined, found, set));
        }
        let (_, values) = self.universe(function, environment)?.parts();
        let found = self.exists(&values, |lowerer, value| {
            let related = lowerer.member(&Item::pair(argument.clone(), value.clone()), function, environment)?;
            let inside = lowerer.member_of_item(element, value)?;
            Ok(lowerer.and(related, inside))
        })?;
        let defined = self.in_domain(argument, function, environment)?;
        Ok(self.inside_domain(defined, found, set))
    }

    /// A condition on the value of an application, which is a run-time error if it has none.
    pub(super) fn inside_domain(&mut self, defined: ExprId, condition: ExprId, application: &Expr) -> ExprId {
        let message = "a function applied outside its domain";
        let failure = self.failure(message, quotient_ir::Model::BOOLEAN, application.span);
        self.conditional(defined, condition, failure)
    }

    /// Sequences as relations from positions to items.
    fn member_of_sequence(
        &mut self,
        element: &Item,
        operator: Operator,
        operands: &[Expr],
        set: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        let (position, value) = element.parts();
        let Item::Scalar(index, Scalar::Integer { low, high }) = position else {
            return refuse("unsupported", "this is not supported as a set", set.span);
        };
        let (index, low, high) = (*index, *low, *high);
        // The item of a sequence at a position that is an expression.
        let shifted = |index: ExprId, low: i64, high: i64| {
            Item::pair(Item::Scalar(index, Scalar::integer(low, high)), value.clone())
        };
        match (operator, operands) {
            (Operator::Append, [list, item]) => {
                let old = self.member(element, list, environment)?;
                let size = self.size(list, environment)?;
                let one = self.number(1);
                let end = self.arithmetic(BinaryOperator::Add, size, one);
                let at_end = self.equal(index, end);
                let item = self.item(item, environment)?;
                let same = self.same(value, &item)?;
                let new = self.and(at_end, same);
                Ok(self.or(old, new))
            }
            (Operator::Prepend, [item, list]) => {
                let one = self.number(1);
                let at_start = self.equal(index, one);
                let item = self.item(item, environment)?;
                let same = self.same(value, &item)?;
                let new = self.and(at_start, same);
                let before = self.arithmetic(BinaryOperator::Subtract, index, one);
                let old =
                    self.member(&shifted(before, low.saturating_sub(1), high.saturating_sub(1)), list, environment)?;
                Ok(self.or(new, old))
            }
            (Operator::Tail, [list]) => {
                let one = self.number(1);
                let after = self.arithmetic(BinaryOperator::Add, index, one);
                let old =
                    self.member(&shifted(after, low.saturating_add(1), high.saturating_add(1)), list, environment)?;
                let positive = self.arithmetic(BinaryOperator::LessOrEqual, one, index);
                let found = self.and(positive, old);
                self.unless_empty(list, found, "the tail of an empty sequence", environment)
            }
            (Operator::Front, [list]) => {
                let old = self.member(element, list, environment)?;
                let size = self.size(list, environment)?;
                let before = self.arithmetic(BinaryOperator::Less, index, size);
                let found = self.and(old, before);
                self.unless_empty(list, found, "the front of an empty sequence", environment)
            }
            (Operator::Reverse, [list]) => {
                let bounds = self.size_bound(list, environment)?;
                let size = self.size(list, environment)?;
                let one = self.number(1);
                let end = self.arithmetic(BinaryOperator::Add, size, one);
                let mirrored = self.arithmetic(BinaryOperator::Subtract, end, index);
                let low_mirrored = 1_i64.saturating_sub(high);
                let high_mirrored = bounds.saturating_add(1).saturating_sub(low);
                self.member(&shifted(mirrored, low_mirrored, high_mirrored), list, environment)
            }
            (Operator::Concatenate, [left, right]) => {
                let old = self.member(element, left, environment)?;
                let bound = self.size_bound(left, environment)?;
                let size = self.size(left, environment)?;
                let beyond = self.arithmetic(BinaryOperator::Less, size, index);
                let rest = self.arithmetic(BinaryOperator::Subtract, index, size);
                let new = self.member(&shifted(rest, low.saturating_sub(bound), high), right, environment)?;
                let new = self.and(beyond, new);
                Ok(self.or(old, new))
            }
            (Operator::Take, [list, count]) => {
                let old = self.member(element, list, environment)?;
                let count = self.integer(count, environment)?;
                let before = self.arithmetic(BinaryOperator::LessOrEqual, index, count);
                Ok(self.and(before, old))
            }
            (Operator::Drop, [list, count]) => {
                let (least, greatest) = self.interval(count, environment)?;
                let count = self.integer(count, environment)?;
                let beyond = self.arithmetic(BinaryOperator::Add, index, count);
                let old = self.member(
                    &shifted(beyond, low.saturating_add(least), high.saturating_add(greatest)),
                    list,
                    environment,
                )?;
                let one = self.number(1);
                let positive = self.arithmetic(BinaryOperator::LessOrEqual, one, index);
                Ok(self.and(positive, old))
            }
            (Operator::GeneralConcatenate, [lists]) => {
                let joined = self.concatenation(lists, set, environment)?;
                self.member(element, &joined, environment)
            }
            _ => refuse("unsupported", "this is not supported as a set", set.span),
        }
    }

    /// A condition on the intersection of sets, which has no value where there are none.
    fn unless_no_sets(&mut self, some: ExprId, condition: ExprId, span: quotient_ir::Span) -> ExprId {
        let failure = self.failure("the intersection of no sets", quotient_ir::Model::BOOLEAN, span);
        self.conditional(some, condition, failure)
    }

    /// A condition that is a run-time error if a sequence is empty.
    pub(super) fn unless_empty(
        &mut self,
        list: &Expr,
        found: ExprId,
        message: &str,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        // A sequence has a first item if it has any.
        let first = Item::Scalar(self.number(1), Scalar::integer(1, 1));
        let nonempty = self.in_domain(&first, list, environment)?;
        let failure = self.failure(message, quotient_ir::Model::BOOLEAN, list.span);
        Ok(self.conditional(nonempty, found, failure))
    }

    pub(super) fn nonempty(&mut self, item: &Item) -> Lowered<ExprId> {
        let Item::Set(set) = item else {
            return Ok(self.truth(true));
        };
        if super::predicates::is_empty(set) {
            return Ok(self.truth(false));
        }
        let shape = self.universe_of(set)?;
        let set = set.clone();
        self.exists(&shape, |lowerer, element| lowerer.member_of(element, &set))
    }

    /// Whether a relation has a value for an argument.
    pub(super) fn in_domain(&mut self, argument: &Item, relation: &Expr, environment: &Environment) -> Lowered<ExprId> {
        match &relation.kind {
            Kind::Extension(members) | Kind::Sequence(members) if members.is_empty() => return Ok(self.truth(false)),
            Kind::Operation(Operator::Override | Operator::Union, sides) => {
                let left = self.in_domain(argument, &sides[0], environment)?;
                let right = self.in_domain(argument, &sides[1], environment)?;
                return Ok(self.or(left, right));
            }
            _ => {}
        }
        if let Some(partial) = self.partial(relation, argument, environment)? {
            return Ok(partial.defined);
        }
        let (_, values) = self.universe(relation, environment)?.parts();
        self.exists(&values, |lowerer, value| {
            lowerer.member(&Item::pair(argument.clone(), value.clone()), relation, environment)
        })
    }

    pub(super) fn member_of_item(&mut self, element: &Item, set: &Item) -> Lowered<ExprId> {
        match set {
            Item::Set(set) => self.member_of(element, set),
            _ => Ok(self.truth(false)),
        }
    }

    /// Whether an element belongs to a set item.
    pub(super) fn member_of(&mut self, element: &Item, set: &SetItem) -> Lowered<ExprId> {
        match set {
            SetItem::Formula(expr, environment) => {
                let (expr, environment) = (Rc::clone(expr), Rc::clone(environment));
                self.member(element, &expr, &environment)
            }
            SetItem::Bits { place, element: shape } => {
                let (cell, inside) = self.cell(*place, element, shape)?;
                let bit = self.read(cell);
                Ok(self.and(inside, bit))
            }
            SetItem::Cells { .. } | SetItem::Table { .. } => {
                let (argument, value) = element.parts();
                let Some(partial) = self.partial_item(set, argument)? else {
                    return Ok(self.truth(false));
                };
                let same = self.same(&partial.value, value)?;
                Ok(self.and(partial.defined, same))
            }
            SetItem::Choice { condition, then, otherwise } => {
                let then = self.member_of(element, then)?;
                let otherwise = self.member_of(element, otherwise)?;
                Ok(self.conditional(*condition, then, otherwise))
            }
            SetItem::Code { code, element: shape } => {
                let (position, inside) = self.position(element, shape)?;
                let shifted = self.arithmetic(BinaryOperator::ShiftRight, *code, position);
                let one = self.number(1);
                let bit = self.arithmetic(BinaryOperator::BitAnd, shifted, one);
                let set = self.equal(bit, one);
                Ok(self.and(inside, set))
            }
            SetItem::Value(members, shape) => {
                let mut any = self.truth(false);
                let (members, shape) = (Rc::clone(members), shape.clone());
                for member in members.iter() {
                    let member = self.literal(member, &shape);
                    let same = self.same(element, &member)?;
                    any = self.or(any, same);
                }
                Ok(any)
            }
        }
    }

    /// The cell of a place that an element indexes, and the condition that it is one of its indices.
    pub(super) fn cell(&mut self, place: PlaceId, element: &Item, shape: &Shape) -> Lowered<(PlaceId, ExprId)> {
        let mut inside = self.truth(true);
        let mut indices = Vec::new();
        self.indices(element, shape, &mut indices, &mut inside)?;
        Ok((self.at_all(place, &indices), inside))
    }

    fn indices(
        &mut self,
        element: &Item,
        shape: &Shape,
        indices: &mut Vec<ExprId>,
        inside: &mut ExprId,
    ) -> Lowered<()> {
        match (element, shape) {
            (Item::Scalar(value, bounds), Shape::Scalar(scalar)) => {
                if !bounds.is_within(*scalar) {
                    let ty = self.scalar_type(*scalar);
                    let belongs = match self.constant_of(*value) {
                        Some(value) => {
                            let contained = self.model.domain(ty).contains(value);
                            self.truth(contained)
                        }
                        None => self.expression(IrExpr::IsMember { value: *value, ty }),
                    };
                    *inside = self.and(*inside, belongs);
                    if self.constant_of(*inside) == Some(0) {
                        // Never read, but it must be an index that there is.
                        let least = self.model.domain(ty).least();
                        let least = self.number(least);
                        indices.push(least);
                        return Ok(());
                    }
                }
                indices.push(*value);
            }
            (Item::Pair(a, b), Shape::Pair(c, d)) => {
                self.indices(a, c, indices, inside)?;
                self.indices(b, d, indices, inside)?;
            }
            (Item::Record(items), Shape::Record(fields)) => {
                for ((_, item), (_, field)) in items.iter().zip(fields) {
                    self.indices(item, field, indices, inside)?;
                }
            }
            (Item::Set(set), Shape::Set(_) | Shape::Function(..) | Shape::Table(..)) => {
                let (code, fits) = self.code(set, &shape.element())?;
                *inside = self.and(*inside, fits);
                indices.push(code);
            }
            _ => {}
        }
        Ok(())
    }

    /// A set as a number with a bit for each value of a shape, and the condition that it has no other
    /// members.
    fn code(&mut self, set: &SetItem, shape: &Shape) -> Lowered<(ExprId, ExprId)> {
        if let SetItem::Code { code, element } = set
            && element == shape
        {
            let fits = self.truth(true);
            return Ok((*code, fits));
        }
        let mut code = self.number(0);
        for (position, value) in all_values(self.core, shape).into_iter().enumerate() {
            let element = self.literal(&value, shape);
            let inside = self.member_of(&element, set)?;
            let (bit, zero) = (self.number(1 << position), self.number(0));
            let part = self.conditional(inside, bit, zero);
            code = self.arithmetic(BinaryOperator::Add, code, part);
        }
        let universe = self.universe_of(set)?;
        let mut fits = self.truth(true);
        if !universe.is_within(shape) {
            fits = self.for_all(&universe, |lowerer, element| {
                let belongs = lowerer.member_of(element, set)?;
                let mut inside = lowerer.truth(true);
                lowerer.indices(element, shape, &mut Vec::new(), &mut inside)?;
                Ok(lowerer.implies(belongs, inside))
            })?;
        }
        Ok((code, fits))
    }

    /// The position of an element among the values of a shape.
    fn position(&mut self, element: &Item, shape: &Shape) -> Lowered<(ExprId, ExprId)> {
        let mut inside = self.truth(true);
        let mut indices = Vec::new();
        self.indices(element, shape, &mut indices, &mut inside)?;
        let mut position = self.number(0);
        for (index, leaf) in indices.iter().zip(shape.leaves(self.core)) {
            let (first, size) = match &leaf {
                Leaf::Scalar(scalar) => {
                    let ty = self.scalar_type(*scalar);
                    (self.model.domain(ty).least(), scalar.size(self.core) as i64)
                }
                Leaf::Code(_, bits) => (0, 1_i64 << bits.min(&62)),
            };
            let offset = match &leaf {
                Leaf::Scalar(scalar @ (Scalar::Given(_) | Scalar::Text | Scalar::Boolean)) => {
                    self.ordinal(*index, *scalar, size)
                }
                _ => {
                    let first = self.number(first);
                    self.arithmetic(BinaryOperator::Subtract, *index, first)
                }
            };
            let size = self.number(size);
            let scaled = self.arithmetic(BinaryOperator::Multiply, position, size);
            position = self.arithmetic(BinaryOperator::Add, scaled, offset);
        }
        Ok((position, inside))
    }

    /// The position of a non-numeric value, by cases.
    fn ordinal(&mut self, value: ExprId, scalar: Scalar, size: i64) -> ExprId {
        let last = (size - 1).max(0);
        let mut ordinal = self.number(last);
        for position in (0..last).rev() {
            let member = match scalar {
                Scalar::Boolean => self.truth(position == 1),
                _ => self.member_constant(scalar, position as usize),
            };
            let here = self.equal(value, member);
            let number = self.number(position);
            ordinal = self.conditional(here, number, ordinal);
        }
        ordinal
    }

    fn is_arrow(
        &mut self,
        arrow: Arrow,
        element: &Item,
        from: &Expr,
        to: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        let Item::Set(relation) = element else {
            return Ok(self.truth(false));
        };
        let shape = self.universe_of(relation)?;
        let (arguments, values) = shape.parts();
        let relation = relation.clone();
        let mut all = self.all_members(&relation, |lowerer, pair| {
            let (argument, value) = pair.parts();
            let first = lowerer.member(argument, from, environment)?;
            let second = lowerer.member(value, to, environment)?;
            Ok(lowerer.and(first, second))
        })?;
        if arrow.function {
            let unique = self.is_functional(&relation, &arguments, &values)?;
            all = self.and(all, unique);
        }
        if arrow.total {
            let domain = self.universe(from, environment)?;
            let total = self.for_all(&domain, |lowerer, argument| {
                let belongs = lowerer.member(argument, from, environment)?;
                let defined = lowerer.in_domain_of(argument, &relation, &values)?;
                Ok(lowerer.implies(belongs, defined))
            })?;
            all = self.and(all, total);
        }
        if arrow.injective {
            let unique = self.is_injective(&relation, &arguments, &values)?;
            all = self.and(all, unique);
        }
        if arrow.surjective {
            let onto = self.is_onto(&relation, &arguments, to, environment)?;
            all = self.and(all, onto);
        }
        Ok(all)
    }

    /// Whether no argument has two values.
    fn is_functional(&mut self, relation: &SetItem, arguments: &Shape, values: &Shape) -> Lowered<ExprId> {
        if matches!(relation, SetItem::Cells { .. } | SetItem::Table { .. }) {
            return Ok(self.truth(true));
        }
        self.for_all(arguments, |lowerer, argument| {
            if values.is_set_inside()
                && let Some(partial) = lowerer.partial_item(relation, argument)?
            {
                return Ok(lowerer.not(partial.conflict));
            }
            lowerer.for_all(values, |lowerer, one| {
                let first = lowerer.member_of(&Item::pair(argument.clone(), one.clone()), relation)?;
                let others = lowerer.for_all(values, |lowerer, other| {
                    let second = lowerer.member_of(&Item::pair(argument.clone(), other.clone()), relation)?;
                    let same = lowerer.same(one, other)?;
                    Ok(lowerer.implies(second, same))
                })?;
                Ok(lowerer.implies(first, others))
            })
        })
    }

    /// Whether no value has two arguments.
    fn is_injective(&mut self, relation: &SetItem, arguments: &Shape, values: &Shape) -> Lowered<ExprId> {
        if matches!(relation, SetItem::Table { .. }) {
            return self.for_all(arguments, |lowerer, one| {
                lowerer.for_all(arguments, |lowerer, other| {
                    let (Some(first), Some(second)) =
                        (lowerer.partial_item(relation, one)?, lowerer.partial_item(relation, other)?)
                    else {
                        return Ok(lowerer.truth(false));
                    };
                    let both = lowerer.and(first.defined, second.defined);
                    let equal = lowerer.same(&first.value, &second.value)?;
                    let meet = lowerer.and(both, equal);
                    let same = lowerer.same(one, other)?;
                    Ok(lowerer.implies(meet, same))
                })
            });
        }
        self.for_all(values, |lowerer, value| {
            lowerer.for_all(arguments, |lowerer, one| {
                let first = lowerer.member_of(&Item::pair(one.clone(), value.clone()), relation)?;
                let others = lowerer.for_all(arguments, |lowerer, other| {
                    let second = lowerer.member_of(&Item::pair(other.clone(), value.clone()), relation)?;
                    let same = lowerer.same(one, other)?;
                    Ok(lowerer.implies(second, same))
                })?;
                Ok(lowerer.implies(first, others))
            })
        })
    }

    /// Whether every member of a set is a value of a relation.
    fn is_onto(
        &mut self,
        relation: &SetItem,
        arguments: &Shape,
        to: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        let range = self.universe(to, environment)?;
        self.for_all(&range, |lowerer, value| {
            let belongs = lowerer.member(value, to, environment)?;
            let reached = lowerer.exists(arguments, |lowerer, argument| {
                lowerer.member_of(&Item::pair(argument.clone(), value.clone()), relation)
            })?;
            Ok(lowerer.implies(belongs, reached))
        })
    }

    /// Whether a relation item has a value for an argument.
    pub(super) fn in_domain_of(&mut self, argument: &Item, relation: &SetItem, values: &Shape) -> Lowered<ExprId> {
        if matches!(relation, SetItem::Cells { .. } | SetItem::Table { .. })
            && let Some(partial) = self.partial_item(relation, argument)?
        {
            return Ok(partial.defined);
        }
        self.exists(values, |lowerer, value| lowerer.member_of(&Item::pair(argument.clone(), value.clone()), relation))
    }

    fn is_sequence(
        &mut self,
        kind: Sequences,
        element: &Item,
        items: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        let Item::Set(list) = element else {
            return Ok(self.truth(false));
        };
        let list = list.clone();
        let shape = self.universe_of(&list)?;
        let (positions, values) = shape.parts();
        // A function whose domain has with each position the one before, down to one.
        let mut all = self.for_all(&positions, |lowerer, position| {
            let Item::Scalar(index, Scalar::Integer { low, high }) = position else {
                return Ok(lowerer.truth(false));
            };
            let defined = lowerer.in_domain_of(position, &list, &values)?;
            let one = lowerer.number(1);
            let positive = lowerer.arithmetic(BinaryOperator::LessOrEqual, one, *index);
            let first = lowerer.equal(*index, one);
            let before = lowerer.arithmetic(BinaryOperator::Subtract, *index, one);
            let before = Item::Scalar(before, Scalar::integer(low - 1, high - 1));
            let continued = lowerer.in_domain_of(&before, &list, &values)?;
            let reached = lowerer.or(first, continued);
            let fits = lowerer.and(positive, reached);
            Ok(lowerer.implies(defined, fits))
        })?;
        let unique = self.is_functional(&list, &positions, &values)?;
        all = self.and(all, unique);
        let belong = self.all_members(&list, |lowerer, pair| lowerer.member(pair.parts().1, items, environment))?;
        all = self.and(all, belong);
        if matches!(kind, Sequences::Injective | Sequences::InjectiveNonempty | Sequences::Permutations) {
            let distinct = self.is_injective(&list, &positions, &values)?;
            all = self.and(all, distinct);
        }
        if matches!(kind, Sequences::Nonempty | Sequences::InjectiveNonempty) {
            let nonempty = self.nonempty(element)?;
            all = self.and(all, nonempty);
        }
        if kind == Sequences::Permutations {
            let onto = self.is_onto(&list, &positions, items, environment)?;
            all = self.and(all, onto);
        }
        Ok(all)
    }

    /// Whether an expression is a set by its type.
    pub(super) fn is_set(&self, expr: &Expr) -> bool {
        matches!(self.types.resolve(&expr.ty), Type::Set(_))
    }
}

/// The environment in which bound symbols denote the components of a tuple.
pub(super) fn destructure(
    symbols: &[super::super::core::SymbolId],
    element: &Item,
    environment: &Environment,
) -> Environment {
    let mut inner = environment.clone();
    let mut rest = element.clone();
    for (position, symbol) in symbols.iter().enumerate().rev() {
        if position == 0 {
            inner = bind(&inner, *symbol, rest.clone());
        } else {
            let (left, right) = rest.parts();
            let (left, right) = (left.clone(), right.clone());
            inner = bind(&inner, *symbol, right);
            rest = left;
        }
    }
    inner
}

/// All values of a shape, in the order of their positions.
pub(super) fn all_values(core: &super::super::core::Core, shape: &Shape) -> Vec<Value> {
    match shape {
        Shape::Scalar(Scalar::Boolean) => vec![Value::Boolean(false), Value::Boolean(true)],
        Shape::Scalar(Scalar::Text) => (0..core.texts.len()).map(Value::Text).collect(),
        Shape::Scalar(Scalar::Given(set)) => {
            (0..core.sets[set.0].members.len()).map(|member| Value::Member(*set, member)).collect()
        }
        Shape::Scalar(Scalar::Integer { low, high }) => (*low..=*high).map(Value::Integer).collect(),
        Shape::Pair(left, right) => {
            let right = all_values(core, right);
            let left = all_values(core, left);
            left.iter().flat_map(|a| right.iter().map(move |b| Value::pair(a.clone(), b.clone()))).collect()
        }
        Shape::Record(fields) => fields
            .iter()
            .fold(vec![Vec::new()], |records: Vec<Vec<Value>>, (_, field)| {
                let values = all_values(core, field);
                records
                    .iter()
                    .flat_map(|record| {
                        values.iter().map(move |value| record.iter().cloned().chain([value.clone()]).collect())
                    })
                    .collect()
            })
            .into_iter()
            .map(|record| Value::Record(Rc::new(record)))
            .collect(),
        Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => {
            let elements = all_values(core, &shape.element());
            (0..1_u64 << elements.len().min(20))
                .map(|bits| {
                    Value::set(
                        elements.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, it)| it.clone()),
                    )
                })
                .collect()
        }
    }
}
