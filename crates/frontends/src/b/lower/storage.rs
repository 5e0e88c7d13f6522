//! Storing: statements that put the value of an item into the cells of a place. A value that does not
//! fit violates the part of the invariant that the cells were made from.

use std::rc::Rc;

use quotient_ir::{Expr as IrExpr, PlaceId, Quantifier as IrQuantifier, Span, Statement, StatementKind};

use super::super::core::{Expr, Kind, Operator};
use super::items::{Environment, Item, SetItem};
use super::predicates::is_empty;
use super::shapes::Shape;
use super::{Lowered, Lowerer};

impl Lowerer<'_> {
    /// Puts an item into a place that no part of the item reads. `what` is what is said of a value
    /// that does not fit.
    pub(super) fn store(
        &mut self,
        item: &Item,
        target: PlaceId,
        shape: &Shape,
        what: &str,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        match (item, shape) {
            (Item::Scalar(value, bounds), Shape::Scalar(scalar)) => {
                if !bounds.is_within(*scalar) {
                    let ty = self.scalar_type(*scalar);
                    let fits = self.expression(IrExpr::IsMember { value: *value, ty });
                    statements.push(assertion(fits, what, span));
                }
                statements.push(Self::statement(StatementKind::Assign { target, value: *value }, span));
                Ok(())
            }
            (Item::Pair(a, b), Shape::Pair(c, d)) => {
                let (left, right) = (self.field(target, 0), self.field(target, 1));
                self.store(a, left, c, what, span, statements)?;
                self.store(b, right, d, what, span, statements)
            }
            (Item::Record(items), Shape::Record(fields)) => {
                for (position, ((_, item), (_, field))) in items.iter().zip(fields).enumerate() {
                    let part = self.field(target, position);
                    self.store(item, part, field, what, span, statements)?;
                }
                Ok(())
            }
            (Item::Set(set), Shape::Set(element)) => self.store_set(set, target, element, what, span, statements),
            (Item::Set(set), Shape::Function(..)) => self.store_function(set, target, shape, what, span, statements),
            _ => super::refuse("unsupported", "this value cannot be stored", span),
        }
    }

    fn store_set(
        &mut self,
        set: &SetItem,
        target: PlaceId,
        element: &Shape,
        what: &str,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        self.check_shape(&Shape::set(element.clone()), span)?;
        if is_empty(set) {
            statements.push(Self::statement(StatementKind::Clear(target), span));
            return Ok(());
        }
        if let SetItem::Bits { place, .. } = set
            && self.model.pool[*place].ty == self.model.pool[target].ty
        {
            statements.push(Self::statement(StatementKind::Copy { target, source: *place }, span));
            return Ok(());
        }
        // A few members more or less change a few bits.
        if let SetItem::Formula(expr, environment) = set
            && let Kind::Operation(operator @ (Operator::Union | Operator::Minus), sides) = &expr.kind
            && let Kind::Extension(members) = &sides[1].kind
        {
            let (expr_members, environment) = (members.clone(), Rc::clone(environment));
            let rest = self.item(&sides[0], &environment)?;
            self.store(&rest, target, &Shape::set(element.clone()), what, span, statements)?;
            let added = *operator == Operator::Union;
            for member in &expr_members {
                let member = self.item(member, &environment)?;
                let (cell, inside) = self.cell(target, &member, element)?;
                let value = self.truth(added);
                let change = Self::statement(StatementKind::Assign { target: cell, value }, span);
                self.change_inside(inside, change, added, what, span, statements);
            }
            return Ok(());
        }
        self.check_members(set, element, what, span, statements)?;
        let name = self.fresh_name("x");
        let (member, binders) = self.binders(element, &name);
        let value = self.member_of(&member, set)?;
        let (cell, _) = self.cell(target, &member, element)?;
        let fill = Self::statement(StatementKind::Assign { target: cell, value }, span);
        statements.extend(Self::loops(&binders, vec![fill], span));
        Ok(())
    }

    /// Changes a cell if there is one; if it must be there and is not, the value does not fit.
    fn change_inside(
        &mut self,
        inside: quotient_ir::ExprId,
        change: Statement,
        required: bool,
        what: &str,
        span: Span,
        statements: &mut Vec<Statement>,
    ) {
        if self.constant_of(inside) == Some(1) {
            statements.push(change);
        } else if required {
            statements.push(assertion(inside, what, span));
            statements.push(change);
        } else {
            let branches = vec![(inside, vec![change])];
            statements.push(Self::statement(StatementKind::If { branches, otherwise: Vec::new() }, span));
        }
    }

    /// Asserts that a set has no members beyond a shape.
    fn check_members(
        &mut self,
        set: &SetItem,
        element: &Shape,
        what: &str,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        let universe = self.universe_of(set)?;
        if universe.is_within(element) {
            return Ok(());
        }
        let name = self.fresh_name("x");
        let (member, binders) = self.binders(&universe, &name);
        let belongs = self.member_of(&member, set)?;
        // Where there is a cell, it fits.
        let place = {
            let ty = self.shape_type(&Shape::set(element.clone()));
            let local = self.local("any", ty, quotient_ir::LocalKind::Variable);
            self.local_place(local)
        };
        let (_, inside) = self.cell(place, &member, element)?;
        let fits = self.implies(belongs, inside);
        let all = self.quantify(IrQuantifier::All, &binders, fits);
        if self.constant_of(all) != Some(1) {
            statements.push(assertion(all, what, span));
        }
        Ok(())
    }

    fn store_function(
        &mut self,
        set: &SetItem,
        target: PlaceId,
        shape: &Shape,
        what: &str,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        let Shape::Function(domain, value_scalar) = shape else {
            return Ok(());
        };
        self.check_shape(shape, span)?;
        if is_empty(set) {
            statements.push(Self::statement(StatementKind::Undefine(target), span));
            return Ok(());
        }
        if let SetItem::Cells { place, .. } = set
            && self.model.pool[*place].ty == self.model.pool[target].ty
        {
            statements.push(Self::statement(StatementKind::Copy { target, source: *place }, span));
            return Ok(());
        }
        if let SetItem::Formula(expr, environment) = set {
            let (expr, environment) = (Rc::clone(expr), Rc::clone(environment));
            if self.store_changed(&expr, &environment, target, shape, what, span, statements)? {
                return Ok(());
            }
        }
        if self.store_pointwise(set, target, shape, what, span, statements)? {
            return Ok(());
        }
        self.check_members(set, &shape.element(), what, span, statements)?;
        statements.push(Self::statement(StatementKind::Undefine(target), span));
        let (name, value_name) = (self.fresh_name("x"), self.fresh_name("y"));
        let (argument, mut binders) = self.binders(domain, &name);
        let (value, value_binders) = self.binders(&Shape::Scalar(*value_scalar), &value_name);
        binders.extend(value_binders);
        let belongs = self.member_of(&Item::pair(argument.clone(), value.clone()), set)?;
        let (cell, _) = self.cell(target, &argument, domain)?;
        let Item::Scalar(value, _) = value else {
            return Ok(());
        };
        let free = self.expression(IrExpr::IsUndefined(cell));
        let fill =
            vec![assertion(free, what, span), Self::statement(StatementKind::Assign { target: cell, value }, span)];
        let branch = StatementKind::If { branches: vec![(belongs, fill)], otherwise: Vec::new() };
        statements.extend(Self::loops(&binders, vec![Self::statement(branch, span)], span));
        Ok(())
    }

    /// Asserts that a function has a value for every argument of its shape.
    pub(super) fn require_total(
        &mut self,
        item: &Item,
        shape: &Shape,
        what: &str,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        if let (Item::Set(set), Shape::Function(domain, _)) = (item, shape) {
            let name = self.fresh_name("x");
            let (argument, binders) = self.binders(domain, &name);
            if let Some(partial) = self.partial_item(set, &argument)? {
                let all = self.quantify(IrQuantifier::All, &binders, partial.defined);
                if self.constant_of(all) != Some(1) {
                    statements.push(assertion(all, what, span));
                }
            }
        }
        Ok(())
    }

    /// Stores a function whose value at each argument the text tells. False if it does not.
    fn store_pointwise(
        &mut self,
        set: &SetItem,
        target: PlaceId,
        shape: &Shape,
        what: &str,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<bool> {
        let Shape::Function(domain, value_scalar) = shape else {
            return Ok(false);
        };
        let name = self.fresh_name("x");
        let (argument, binders) = self.binders(domain, &name);
        let Some(partial) = self.partial_item(set, &argument)? else {
            return Ok(false);
        };
        // An argument beyond the bounds must not be in the domain.
        let (universe, _) = self.universe_of(set)?.parts();
        if !universe.is_within(domain) {
            let name = self.fresh_name("x");
            let (outer, outer_binders) = self.binders(&universe, &name);
            if let Some(beyond) = self.partial_item(set, &outer)? {
                let (_, inside) = self.cell(target, &outer, domain)?;
                let fits = self.implies(beyond.defined, inside);
                let all = self.quantify(IrQuantifier::All, &outer_binders, fits);
                if self.constant_of(all) != Some(1) {
                    statements.push(assertion(all, what, span));
                }
            }
        }
        let (cell, _) = self.cell(target, &argument, domain)?;
        let mut body = Vec::new();
        let unique = self.not(partial.conflict);
        if self.constant_of(unique) != Some(1) {
            body.push(assertion(unique, what, span));
        }
        let mut fill = Vec::new();
        self.store(&partial.value, cell, &Shape::Scalar(*value_scalar), what, span, &mut fill)?;
        if self.constant_of(partial.defined) == Some(1) {
            body.extend(fill);
        } else {
            let otherwise = vec![Self::statement(StatementKind::Undefine(cell), span)];
            body.push(Self::statement(StatementKind::If { branches: vec![(partial.defined, fill)], otherwise }, span));
        }
        statements.extend(Self::loops(&binders, body, span));
        Ok(true)
    }

    /// A function that is another one with small changes. False if it is not.
    #[expect(clippy::too_many_arguments, reason = "passes on what storing takes, with the formula taken apart")]
    fn store_changed(
        &mut self,
        expr: &Expr,
        environment: &Environment,
        target: PlaceId,
        shape: &Shape,
        what: &str,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<bool> {
        let Shape::Function(domain, value_scalar) = shape else {
            return Ok(false);
        };
        let Kind::Operation(operator, sides) = &expr.kind else {
            return Ok(false);
        };
        match (operator, sides.as_slice()) {
            // Several pairs may have the same argument, so only one is put in this way.
            (Operator::Override, [rest, changed]) if matches!(&changed.kind, Kind::Extension(pairs) if pairs.len() == 1) =>
            {
                let Kind::Extension(pairs) = &changed.kind else {
                    return Ok(false);
                };
                let rest = self.item(rest, environment)?;
                self.store(&rest, target, shape, what, span, statements)?;
                let pair = self.item(&pairs[0], environment)?;
                let (argument, value) = pair.parts();
                let (cell, inside) = self.cell(target, argument, domain)?;
                let mut change = Vec::new();
                self.store(value, cell, &Shape::Scalar(*value_scalar), what, span, &mut change)?;
                if self.constant_of(inside) != Some(1) {
                    statements.push(assertion(inside, what, span));
                }
                statements.extend(change);
                Ok(true)
            }
            (Operator::DomainSubtraction | Operator::DomainRestriction, [arguments, rest]) => {
                let rest = self.item(rest, environment)?;
                self.store(&rest, target, shape, what, span, statements)?;
                if let (Operator::DomainSubtraction, Kind::Extension(members)) = (operator, &arguments.kind) {
                    for member in members {
                        let member = self.item(member, environment)?;
                        let (cell, inside) = self.cell(target, &member, domain)?;
                        let change = Self::statement(StatementKind::Undefine(cell), span);
                        self.change_inside(inside, change, false, what, span, statements);
                    }
                    return Ok(true);
                }
                let name = self.fresh_name("x");
                let (argument, binders) = self.binders(domain, &name);
                let belongs = self.member(&argument, arguments, environment)?;
                let dropped = if *operator == Operator::DomainSubtraction { belongs } else { self.not(belongs) };
                let (cell, _) = self.cell(target, &argument, domain)?;
                let change = Self::statement(StatementKind::Undefine(cell), span);
                let branch = StatementKind::If { branches: vec![(dropped, vec![change])], otherwise: Vec::new() };
                statements.extend(Self::loops(&binders, vec![Self::statement(branch, span)], span));
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// A violation unless a condition holds.
pub(super) fn assertion(condition: quotient_ir::ExprId, what: &str, span: Span) -> Statement {
    Statement { kind: StatementKind::Assert { condition, message: what.to_owned() }, span }
}
