//! Predicates: conditions of the model.

use std::rc::Rc;

use quotient_ir::{BinaryOperator, Expr as IrExpr, ExprId, LocalId, Quantifier as IrQuantifier, TypeId};
use quotient_kit::Building;

use super::super::core::{Expr, Kind, Operator, Quantifier, SymbolId};
use super::items::{Environment, Item, SetItem, bind};
use super::shapes::Shape;
use super::{Lowered, Lowerer, refuse};

/// Bound variables, ready for a quantifier or loop.
pub(super) struct Bound {
    /// What the symbols denote inside.
    pub(super) environment: Environment,
    /// What to range over.
    pub(super) binders: Vec<(LocalId, TypeId)>,
    /// The condition under which the values count.
    pub(super) condition: ExprId,
}

impl Lowerer<'_> {
    pub(super) fn predicate(&mut self, expr: &Expr, environment: &Environment) -> Lowered<ExprId> {
        match &expr.kind {
            Kind::Truth(value) => Ok(self.truth(*value)),
            Kind::Quantified(quantifier, symbols, body) => self.quantified(*quantifier, symbols, body, environment),
            Kind::Conditional(condition, then, otherwise) => {
                let condition = self.predicate(condition, environment)?;
                let then = self.predicate(then, environment)?;
                let otherwise = self.predicate(otherwise, environment)?;
                Ok(self.conditional(condition, then, otherwise))
            }
            Kind::Let(bindings, body) => {
                let inner = self.let_environment(bindings, environment)?;
                self.predicate(body, &inner)
            }
            Kind::Operation(operator, operands) => match (operator, operands.as_slice()) {
                (Operator::And, [left, right]) => {
                    let left = self.predicate(left, environment)?;
                    // Nothing more is needed after a condition that is certainly false, and the rest may rely on it.
                    if self.constant_of(left) == Some(0) {
                        return Ok(left);
                    }
                    let right = self.predicate(right, environment)?;
                    Ok(self.and(left, right))
                }
                (Operator::Or, [left, right]) => {
                    let left = self.predicate(left, environment)?;
                    let right = self.predicate(right, environment)?;
                    Ok(self.or(left, right))
                }
                (Operator::Implies, [left, right]) => {
                    let left = self.predicate(left, environment)?;
                    let right = self.predicate(right, environment)?;
                    Ok(self.implies(left, right))
                }
                (Operator::Equivalent, [left, right]) => {
                    let left = self.predicate(left, environment)?;
                    let right = self.predicate(right, environment)?;
                    Ok(self.equal(left, right))
                }
                (Operator::Not, [operand]) => {
                    let operand = self.predicate(operand, environment)?;
                    Ok(self.not(operand))
                }
                (Operator::Equal, [left, right]) => {
                    let left = self.item(left, environment)?;
                    let right = self.item(right, environment)?;
                    self.same(&left, &right)
                }
                (Operator::Member, [element, set]) => {
                    let element = self.item(element, environment)?;
                    self.member(&element, set, environment)
                }
                (Operator::Subset, [left, right]) => self.subset(left, right, environment),
                (Operator::StrictSubset, [left, right]) => {
                    let subset = self.subset(left, right, environment)?;
                    let left = self.item(left, environment)?;
                    let right = self.item(right, environment)?;
                    let same = self.same(&left, &right)?;
                    let different = self.not(same);
                    Ok(self.and(subset, different))
                }
                (Operator::Less | Operator::LessOrEqual, [left, right]) => {
                    let left = self.integer(left, environment)?;
                    let right = self.integer(right, environment)?;
                    let operator =
                        if *operator == Operator::Less { BinaryOperator::Less } else { BinaryOperator::LessOrEqual };
                    Ok(self.arithmetic(operator, left, right))
                }
                _ => refuse("unsupported", "this is not supported as a predicate", expr.span),
            },
            _ => refuse("unsupported", "this is not supported as a predicate", expr.span),
        }
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        symbols: &[SymbolId],
        body: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        if quantifier == Quantifier::All {
            let (conditions, conclusion) = match &body.kind {
                Kind::Operation(Operator::Implies, sides) => (sides[0].conjuncts(), &sides[1]),
                _ => (Vec::new(), body),
            };
            let bound = self.bound(symbols, &conditions, environment)?;
            let conclusion = self.predicate(conclusion, &bound.environment)?;
            let body = self.implies(bound.condition, conclusion);
            Ok(self.quantify(IrQuantifier::All, &bound.binders, body))
        } else {
            let bound = self.bound(symbols, &body.conjuncts(), environment)?;
            Ok(self.quantify(IrQuantifier::Any, &bound.binders, bound.condition))
        }
    }

    pub(super) fn let_environment(
        &mut self,
        bindings: &[(SymbolId, Expr)],
        environment: &Environment,
    ) -> Lowered<Environment> {
        let mut inner = environment.clone();
        for (symbol, value) in bindings {
            let item = self.item(value, &inner)?;
            inner = bind(&inner, *symbol, item);
        }
        Ok(inner)
    }

    /// Bound variables and the conjuncts they must satisfy. A symbol with an equation denotes that value; the others
    /// range over the smallest shape implied by the conjuncts.
    pub(super) fn bound(
        &mut self,
        symbols: &[SymbolId],
        conjuncts: &[&Expr],
        environment: &Environment,
    ) -> Lowered<Bound> {
        let mut inner = environment.clone();
        let mut binders = Vec::new();
        let mut pending: Vec<SymbolId> = symbols.to_vec();
        let mut used = vec![false; conjuncts.len()];
        while !pending.is_empty() {
            let before = pending.len();
            // An equation first: it costs nothing.
            let mut position = 0;
            while position < pending.len() {
                let symbol = pending[position];
                let equation = conjuncts.iter().enumerate().find_map(|(at, conjunct)| {
                    let value = equation_for(conjunct, symbol)?;
                    (!used[at] && !pending.iter().any(|other| value.mentions(*other))).then_some((at, value))
                });
                match equation {
                    Some((at, value)) => {
                        let item = self.item(value, &inner)?;
                        inner = bind(&inner, symbol, item);
                        used[at] = true;
                        pending.remove(position);
                    }
                    None => position += 1,
                }
            }
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
            if let Some((position, shape)) = chosen {
                let symbol = pending.remove(position);
                let entry = &self.core.symbols[symbol.0];
                let (name, span) = (entry.name.replace(['\'', '.', '(', ')', ' '], "_"), entry.span);
                self.check_binder(&shape, span)?;
                let name = self.fresh_name(&format!("{name}_"));
                let (item, own) = self.binders(&shape, &name);
                binders.extend(own);
                inner = bind(&inner, symbol, item);
            } else if pending.len() == before {
                return Err(failure.expect("a pending symbol without a shape has a reason"));
            }
        }
        let mut condition = self.truth(true);
        for (conjunct, used) in conjuncts.iter().zip(used) {
            if used {
                continue;
            }
            let next = self.predicate(conjunct, &inner)?;
            condition = self.and(condition, next);
        }
        Ok(Bound { environment: inner, binders, condition })
    }

    /// Reports a bound variable with too many values to enumerate.
    fn check_binder(&self, shape: &Shape, span: quotient_ir::Span) -> Lowered<()> {
        if shape.size(self.core) > super::shapes::MAXIMUM_LEAF {
            let diagnostic =
                quotient_ir::Diagnostic::error("too-large", "this bound variable has too many possible values", span)
                    .with_help("take smaller given sets, or tighter bounds of integers");
            return Err(Box::new(diagnostic));
        }
        Ok(())
    }

    /// Whether two items are equal.
    pub(super) fn same(&mut self, left: &Item, right: &Item) -> Lowered<ExprId> {
        match (left, right) {
            (Item::Scalar(one, _), Item::Scalar(other, _)) => {
                if one == other && matches!(self.model.pool[*one], IrExpr::Constant { .. }) {
                    return Ok(self.truth(true));
                }
                Ok(self.equal(*one, *other))
            }
            (Item::Pair(a, b), Item::Pair(c, d)) => {
                let first = self.same(a, c)?;
                let second = self.same(b, d)?;
                Ok(self.and(first, second))
            }
            (Item::Record(one), Item::Record(other)) => {
                let mut all = self.truth(true);
                for ((_, a), (_, b)) in one.iter().zip(other) {
                    let same = self.same(a, b)?;
                    all = self.and(all, same);
                }
                Ok(all)
            }
            (Item::Set(one), Item::Set(other)) => self.same_sets(one, other),
            _ => Ok(self.truth(false)),
        }
    }

    fn same_sets(&mut self, left: &SetItem, right: &SetItem) -> Lowered<ExprId> {
        if let (
            SetItem::Bits { place: one, .. } | SetItem::Cells { place: one, .. } | SetItem::Table { place: one, .. },
            SetItem::Bits { place: other, .. }
            | SetItem::Cells { place: other, .. }
            | SetItem::Table { place: other, .. },
        ) = (left, right)
            && self.model.pool[*one].ty == self.model.pool[*other].ty
            && std::mem::discriminant(left) == std::mem::discriminant(right)
            && !self.model.is_scalar(self.model.pool[*one].ty)
        {
            return Ok(self.expression(IrExpr::SameContents { left: *one, right: *other }));
        }
        // If one side is empty, only the other needs to be evaluated.
        for (side, other) in [(left, right), (right, left)] {
            if is_empty(side) {
                let shape = self.universe_of(other)?;
                let name = self.fresh_name("x");
                let (element, binders) = self.binders(&shape, &name);
                let inside = self.member_of(&element, other)?;
                let outside = self.not(inside);
                return Ok(self.quantify(IrQuantifier::All, &binders, outside));
            }
        }
        let shape = self.universe_of(left)?.join(&self.universe_of(right)?);
        if let (SetItem::Table { .. }, _) | (_, SetItem::Table { .. }) = (left, right)
            && let Some(same) = self.same_functions(left, right, &shape.parts().0)?
        {
            return Ok(same);
        }
        let name = self.fresh_name("x");
        let (element, binders) = self.binders(&shape, &name);
        let one = self.member_of(&element, left)?;
        let other = self.member_of(&element, right)?;
        let same = self.equal(one, other);
        Ok(self.quantify(IrQuantifier::All, &binders, same))
    }

    /// Whether two functions have the same values at all arguments of a shape. None if their texts do not determine
    /// their values.
    fn same_functions(&mut self, left: &SetItem, right: &SetItem, arguments: &Shape) -> Lowered<Option<ExprId>> {
        let name = self.fresh_name("x");
        let (argument, binders) = self.binders(arguments, &name);
        let (Some(one), Some(other)) = (self.partial_item(left, &argument)?, self.partial_item(right, &argument)?)
        else {
            return Ok(None);
        };
        let alike = self.equal(one.defined, other.defined);
        let same = self.same(&one.value, &other.value)?;
        let same = self.implies(one.defined, same);
        let mut all = self.and(alike, same);
        for conflict in [one.conflict, other.conflict] {
            let certain = self.not(conflict);
            all = self.and(certain, all);
        }
        Ok(Some(self.quantify(IrQuantifier::All, &binders, all)))
    }

    fn subset(&mut self, left: &Expr, right: &Expr, environment: &Environment) -> Lowered<ExprId> {
        let left = self.item(left, environment)?;
        self.item_subset(&left, right, environment)
    }

    /// Whether all members of an item belong to a set.
    pub(super) fn item_subset(&mut self, left: &Item, right: &Expr, environment: &Environment) -> Lowered<ExprId> {
        let Item::Set(left) = left else {
            return Ok(self.truth(true));
        };
        if let SetItem::Formula(expr, inner) = left
            && let Kind::Extension(members) = &expr.kind
        {
            let mut all = self.truth(true);
            let (members, inner) = (members.clone(), Rc::clone(inner));
            for member in &members {
                let member = self.item(member, &inner)?;
                let inside = self.member(&member, right, environment)?;
                all = self.and(all, inside);
            }
            return Ok(all);
        }
        let left = left.clone();
        self.all_members(&left, |lowerer, element| lowerer.member(element, right, environment))
    }

    /// Whether a condition holds for all members of a set. Of a function, every argument has one value, which
    /// need not be searched for.
    pub(super) fn all_members(
        &mut self,
        set: &SetItem,
        condition: impl FnOnce(&mut Self, &Item) -> Lowered<ExprId>,
    ) -> Lowered<ExprId> {
        let shape = self.universe_of(set)?;
        let name = self.fresh_name("x");
        let (element, belongs, binders) = if let SetItem::Table { domain, .. } = set {
            let (argument, binders) = self.binders(domain, &name);
            match self.partial_item(set, &argument)? {
                Some(partial) => (Item::pair(argument, partial.value), Some(partial.defined), binders),
                None => (Item::pair(argument.clone(), argument), None, binders),
            }
        } else {
            let (element, binders) = self.binders(&shape, &name);
            (element, None, binders)
        };
        let condition = condition(self, &element)?;
        if self.constant_of(condition) == Some(1) {
            return Ok(condition);
        }
        let belongs = match belongs {
            Some(belongs) => belongs,
            None => self.member_of(&element, set)?,
        };
        let body = self.implies(belongs, condition);
        Ok(self.quantify(IrQuantifier::All, &binders, body))
    }
}

/// Whether a set has no members by its text.
pub(super) fn is_empty(set: &SetItem) -> bool {
    match set {
        SetItem::Value(members, _) => members.is_empty(),
        SetItem::Formula(expr, _) => {
            matches!(&expr.kind, Kind::Extension(members) | Kind::Sequence(members) if members.is_empty())
        }
        _ => false,
    }
}

/// The other side of an equation with a symbol on one side.
pub(super) fn equation_for(conjunct: &Expr, symbol: SymbolId) -> Option<&Expr> {
    let Kind::Operation(Operator::Equal, sides) = &conjunct.kind else {
        return None;
    };
    let is_symbol = |expr: &Expr| matches!(expr.kind, Kind::Symbol(it) if it == symbol);
    if is_symbol(&sides[0]) && !sides[1].mentions(symbol) {
        Some(&sides[1])
    } else if is_symbol(&sides[1]) && !sides[0].mentions(symbol) {
        Some(&sides[0])
    } else {
        None
    }
}
