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
        what: &Complaint,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        match (item, shape) {
            (Item::Scalar(value, bounds), Shape::Scalar(scalar)) => {
                if !bounds.is_within(*scalar) {
                    let ty = self.scalar_type(*scalar);
                    let fits = self.expression(IrExpr::IsMember { value: *value, ty });
                    statements.push(what.unless(fits, span));
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
            (Item::Set(set), Shape::Function(..) | Shape::Table(..)) => {
                self.store_function(set, target, shape, what, span, statements)
            }
            _ => super::refuse("unsupported", "this value cannot be stored", span),
        }
    }

    fn store_set(
        &mut self,
        set: &SetItem,
        target: PlaceId,
        element: &Shape,
        what: &Complaint,
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
                self.change_inside(inside, vec![change], added, what, span, statements);
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
        change: Vec<Statement>,
        required: bool,
        what: &Complaint,
        span: Span,
        statements: &mut Vec<Statement>,
    ) {
        if self.constant_of(inside) == Some(1) {
            statements.extend(change);
        } else if required {
            statements.push(what.unless(inside, span));
            statements.extend(change);
        } else {
            let branches = vec![(inside, change)];
            statements.push(Self::statement(StatementKind::If { branches, otherwise: Vec::new() }, span));
        }
    }

    /// Asserts that a set has no members beyond a shape.
    fn check_members(
        &mut self,
        set: &SetItem,
        element: &Shape,
        what: &Complaint,
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
            statements.push(what.unless(all, span));
        }
        Ok(())
    }

    fn store_function(
        &mut self,
        set: &SetItem,
        target: PlaceId,
        shape: &Shape,
        what: &Complaint,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        let (domain, value_shape) = shape.element().parts();
        self.check_shape(shape, span)?;
        if is_empty(set) {
            return self.vacate(target, shape, span, statements);
        }
        if let SetItem::Cells { place, .. } | SetItem::Table { place, .. } = set
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
        self.check_shape(&Shape::set(shape.element()), span)?;
        self.check_members(set, &shape.element(), what, span, statements)?;
        self.vacate(target, shape, span, statements)?;
        let (name, value_name) = (self.fresh_name("x"), self.fresh_name("y"));
        let (argument, mut binders) = self.binders(&domain, &name);
        let (value, value_binders) = self.binders(&value_shape, &value_name);
        binders.extend(value_binders);
        let belongs = self.member_of(&Item::pair(argument.clone(), value.clone()), set)?;
        let (cell, _) = self.cell(target, &argument, &domain)?;
        let free = if matches!(shape, Shape::Table(..)) {
            let present = self.field(cell, 0);
            let present = self.read(present);
            self.not(present)
        } else {
            self.expression(IrExpr::IsUndefined(cell))
        };
        let mut fill = vec![what.unless(free, span)];
        self.put(&value, cell, shape, what, span, &mut fill)?;
        let branch = StatementKind::If { branches: vec![(belongs, fill)], otherwise: Vec::new() };
        statements.extend(Self::loops(&binders, vec![Self::statement(branch, span)], span));
        Ok(())
    }

    /// Puts a value into the cell of a function of a shape.
    fn put(
        &mut self,
        value: &Item,
        cell: PlaceId,
        function: &Shape,
        what: &Complaint,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        let (_, shape) = function.element().parts();
        if let Shape::Table(..) = function {
            let (target, inside) = (self.field(cell, 0), self.field(cell, 1));
            let present = self.truth(true);
            statements.push(Self::statement(StatementKind::Assign { target, value: present }, span));
            return self.store(value, inside, &shape, what, span, statements);
        }
        self.store(value, cell, &shape, what, span, statements)
    }

    /// Takes the value out of the cell of a function of a shape.
    fn take_out(
        &mut self,
        cell: PlaceId,
        function: &Shape,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        if let Shape::Table(_, value) = function {
            let (target, inside) = (self.field(cell, 0), self.field(cell, 1));
            let absent = self.truth(false);
            statements.push(Self::statement(StatementKind::Assign { target, value: absent }, span));
            return self.vacate(inside, value, span, statements);
        }
        statements.push(Self::statement(StatementKind::Undefine(cell), span));
        Ok(())
    }

    /// Makes a place hold what it holds where there is no value: the same whatever was there before.
    pub(super) fn vacate(
        &mut self,
        place: PlaceId,
        shape: &Shape,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        match shape {
            // No element of a deferred set may be special.
            Shape::Scalar(scalar) if self.is_deferred(*scalar) => {
                statements.push(Self::statement(StatementKind::Undefine(place), span));
            }
            Shape::Scalar(_) | Shape::Set(_) => statements.push(Self::statement(StatementKind::Clear(place), span)),
            Shape::Function(..) => statements.push(Self::statement(StatementKind::Undefine(place), span)),
            Shape::Pair(left, right) => {
                let (one, other) = (self.field(place, 0), self.field(place, 1));
                self.vacate(one, left, span, statements)?;
                self.vacate(other, right, span, statements)?;
            }
            Shape::Record(fields) => {
                for (position, (_, field)) in fields.iter().enumerate() {
                    let part = self.field(place, position);
                    self.vacate(part, field, span, statements)?;
                }
            }
            Shape::Table(domain, _) => {
                let name = self.fresh_name("x");
                let (argument, binders) = self.binders(domain, &name);
                let (cell, _) = self.cell(place, &argument, domain)?;
                let mut body = Vec::new();
                self.take_out(cell, shape, span, &mut body)?;
                statements.extend(Self::loops(&binders, body, span));
            }
        }
        Ok(())
    }

    /// Asserts that a function has a value for every argument of its shape.
    pub(super) fn require_total(
        &mut self,
        item: &Item,
        shape: &Shape,
        what: &Complaint,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        if let (Item::Set(set), Shape::Function(domain, _)) = (item, shape) {
            let name = self.fresh_name("x");
            let (argument, binders) = self.binders(domain, &name);
            if let Some(partial) = self.partial_item(set, &argument)? {
                let all = self.quantify(IrQuantifier::All, &binders, partial.defined);
                if self.constant_of(all) != Some(1) {
                    statements.push(what.unless(all, span));
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
        what: &Complaint,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<bool> {
        let (domain, _) = shape.element().parts();
        let domain = &domain;
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
                    statements.push(what.unless(all, span));
                }
            }
        }
        let (cell, _) = self.cell(target, &argument, domain)?;
        let mut body = Vec::new();
        let unique = self.not(partial.conflict);
        if self.constant_of(unique) != Some(1) {
            body.push(what.unless(unique, span));
        }
        let mut fill = Vec::new();
        self.put(&partial.value, cell, shape, what, span, &mut fill)?;
        if self.constant_of(partial.defined) == Some(1) {
            body.extend(fill);
        } else {
            let mut otherwise = Vec::new();
            self.take_out(cell, shape, span, &mut otherwise)?;
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
        what: &Complaint,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<bool> {
        let (domain, _) = shape.element().parts();
        let domain = &domain;
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
                self.put(value, cell, shape, what, span, &mut change)?;
                if self.constant_of(inside) != Some(1) {
                    statements.push(what.unless(inside, span));
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
                        let mut change = Vec::new();
                        self.take_out(cell, shape, span, &mut change)?;
                        self.change_inside(inside, change, false, what, span, statements);
                    }
                    return Ok(true);
                }
                let name = self.fresh_name("x");
                let (argument, binders) = self.binders(domain, &name);
                let belongs = self.member(&argument, arguments, environment)?;
                let dropped = if *operator == Operator::DomainSubtraction { belongs } else { self.not(belongs) };
                let (cell, _) = self.cell(target, &argument, domain)?;
                let mut change = Vec::new();
                self.take_out(cell, shape, span, &mut change)?;
                let branch = StatementKind::If { branches: vec![(dropped, change)], otherwise: Vec::new() };
                statements.extend(Self::loops(&binders, vec![Self::statement(branch, span)], span));
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// What to say of a value that has no room where it is stored.
pub(super) struct Complaint {
    pub(super) message: String,
    /// Whether the room is what was assumed, so that nothing is wrong with the machine.
    pub(super) is_assumed: bool,
}

impl Complaint {
    /// Complains unless a condition holds.
    fn unless(&self, condition: quotient_ir::ExprId, span: Span) -> Statement {
        if self.is_assumed {
            return Statement { kind: StatementKind::Require { condition, message: self.message.clone() }, span };
        }
        assertion(condition, &self.message, span)
    }
}

/// A violation unless a condition holds.
pub(super) fn assertion(condition: quotient_ir::ExprId, what: &str, span: Span) -> Statement {
    Statement { kind: StatementKind::Assert { condition, message: what.to_owned() }, span }
}
