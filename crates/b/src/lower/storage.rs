//! Storing: statements that store an item in the cells of a place. A value that does not fit violates the conjunct of
//! the invariant from which the cells were derived.

use std::rc::Rc;

use quotient_ir::{
    Expr as IrExpr, ExprId, PlaceId, PropertyId, Quantifier as IrQuantifier, Span, Statement, StatementKind,
    TableIndex, Violated,
};
use quotient_kit::Building;

use super::super::core::{Expr, Kind, Operator, Quantifier, SymbolId, SymbolKind};
use super::items::{Environment, Item, SetItem, bind};
use super::predicates::is_empty;
use super::shapes::{Scalar, Shape};
use super::{Lowered, Lowerer};

impl Lowerer<'_> {
    /// Stores an item in a place that no part of the item reads. `what` names the variable whose value may not fit.
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
                    let complaint = self.complain_unless(fits, what, Some(*value), span);
                    statements.push(complaint);
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
                    let part = self.field(target, position as u32);
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
                let change = vec![Self::statement(StatementKind::Assign { target: cell, value }, span)];
                let required = added.then_some((what, &member));
                self.change_inside(inside, change, required, span, statements);
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

    /// Changes a cell if there is one; if it must be there and is not, what would be put into it does not fit.
    fn change_inside(
        &mut self,
        inside: ExprId,
        change: Vec<Statement>,
        required: Option<(&Complaint, &Item)>,
        span: Span,
        statements: &mut Vec<Statement>,
    ) {
        if self.constant_of(inside) == Some(1) {
            statements.extend(change);
        } else if let Some((what, member)) = required {
            let complaint = self.complain_unless(inside, what, integer_of(member), span);
            statements.push(complaint);
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
        if self.constant_of(fits) == Some(1) {
            return Ok(());
        }
        // A number is named in the message, the least one of several; if the order of errors matters, none is.
        if let Some(value) = integer_of(&member)
            && !self.may_fail(fits)
        {
            let complaint = self.complain_unless(fits, what, Some(value), span);
            statements.extend(Self::loops(&binders, vec![complaint], span));
            return Ok(());
        }
        let all = self.quantify(IrQuantifier::All, &binders, fits);
        if self.constant_of(all) != Some(1) {
            let complaint = self.complain_unless(all, what, None, span);
            statements.push(complaint);
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
        let mut fill = vec![self.complain_unless(free, what, None, span)];
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

    /// Sets a place to the fixed contents that represent no value, whatever it held before.
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
                    let part = self.field(place, position as u32);
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
                    let complaint = self.complain_unless(all, what, None, span);
                    statements.push(complaint);
                }
            }
        }
        Ok(())
    }

    /// Stores a function whose value at each argument is determined by its text. False if it is not.
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
                    let complaint = self.complain_unless(all, what, None, span);
                    statements.push(complaint);
                }
            }
        }
        let (cell, _) = self.cell(target, &argument, domain)?;
        let mut body = Vec::new();
        let unique = self.not(partial.conflict);
        if self.constant_of(unique) != Some(1) {
            body.push(self.complain_unless(unique, what, None, span));
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
                    let complaint = self.complain_unless(inside, what, integer_of(argument), span);
                    statements.push(complaint);
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
                        self.change_inside(inside, change, None, span, statements);
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

impl Lowerer<'_> {
    /// Reports a value that does not fit, unless a condition holds. A value of a variable violates a conjunct of the
    /// invariant, since its cells are derived from these. To find it, the conjuncts that bound the variable are
    /// evaluated one by one for the value that does not fit.
    fn complain_unless(&mut self, condition: ExprId, what: &Complaint, value: Option<ExprId>, span: Span) -> Statement {
        let core = self.core;
        let name = &core.symbols[what.symbol.0].name;
        let is_variable = core.symbols[what.symbol.0].kind == SymbolKind::Variable;
        let is_assumed = self.unbounded.contains(&what.symbol);
        let (asked, sure) = match &what.new {
            Some(new) if is_variable => self.violated_conjuncts(what.symbol, new),
            // Intermediate values need not satisfy the invariant, but they still do not fit.
            None if is_variable && !is_assumed => {
                let message = format!("a value of `{name}` on the way to its last one has no room");
                return Statement { kind: StatementKind::Require { condition, message }, span };
            }
            _ => (Vec::new(), None),
        };
        let is_scalar = matches!(self.stored.get(&what.symbol), Some((_, Shape::Scalar(_))));
        let words = format!("`{name}` would {}", if is_scalar { "be" } else { "contain" });
        let violation = |condition: ExprId, position: usize| {
            let message = format!("the invariant `{}` does not hold", core.invariant[position].name);
            let property = PropertyId::from_position(position);
            let violates = Some(Violated { property, value: value.map(|value| (words.clone(), value)) });
            Statement { kind: StatementKind::Assert { condition, message, violates }, span }
        };
        let finally = |condition: ExprId| match sure {
            _ if is_assumed => {
                let message = format!("the value of `{name}` leaves the bounds that were assumed for it");
                Statement { kind: StatementKind::Require { condition, message }, span }
            }
            Some(position) => violation(condition, position),
            None => assertion(condition, &format!("the value of `{name}` is beyond its bounds"), span),
        };
        if asked.is_empty() {
            return finally(condition);
        }
        let (fits, fails, never) = (condition, self.not(condition), self.truth(false));
        if self.constant_of(fits) == Some(1) {
            return finally(fits);
        }
        let mut body: Vec<Statement> = asked.iter().map(|(holds, position)| violation(*holds, *position)).collect();
        body.push(finally(never));
        Statement { kind: StatementKind::If { branches: vec![(fails, body)], otherwise: Vec::new() }, span }
    }

    /// The conjuncts of the invariant that bound a variable, by position, each with whether it holds for a new value;
    /// and the violated one if all these hold and the value still does not fit, if that is certain.
    fn violated_conjuncts(&mut self, symbol: SymbolId, new: &NewValue) -> (Vec<(ExprId, usize)>, Option<usize>) {
        let core = self.core;
        let mut environment = Rc::clone(&new.environment);
        if let Some(item) = &new.item {
            environment = bind(&environment, symbol, item.clone());
        }
        let bounds = core
            .invariant
            .iter()
            .enumerate()
            .filter(|(_, claim)| claim.condition.mentions(symbol) && is_bound(&claim.condition));
        let bounds: Vec<(usize, &Expr)> = bounds.map(|(position, claim)| (position, &claim.condition)).collect();
        // Other variables may change in the same step, and may then not fit either.
        let speaks_of_others = |conjunct: &Expr| {
            let mut found = false;
            conjunct.symbols(&mut |it| found |= it != symbol && core.symbols[it.0].kind == SymbolKind::Variable);
            found
        };
        let is_assumed = self.unbounded.contains(&symbol);
        let mut sure = bounds.last().map(|(position, _)| *position).filter(|_| !is_assumed);
        if bounds.iter().any(|(_, conjunct)| speaks_of_others(conjunct)) {
            sure = None;
        }
        let mut asked = Vec::new();
        for (position, conjunct) in bounds {
            if sure == Some(position) || !new.is_complete && speaks_of_others(conjunct) {
                continue;
            }
            match self.predicate(conjunct, &environment) {
                Ok(holds) if self.constant_of(holds) == Some(1) => {}
                Ok(holds) if !self.may_fail(holds) => asked.push((holds, position)),
                // It cannot be evaluated, and may be the violated one.
                _ => sure = None,
            }
        }
        (asked, sure)
    }
}

/// Whether a conjunct has a form from which bounds of variables are taken.
fn is_bound(conjunct: &Expr) -> bool {
    match &conjunct.kind {
        Kind::Quantified(quantifier, ..) => *quantifier == Quantifier::Any,
        Kind::Operation(operator, _) => matches!(
            operator,
            Operator::Equal
                | Operator::Member
                | Operator::Subset
                | Operator::StrictSubset
                | Operator::Less
                | Operator::LessOrEqual
                | Operator::Or
        ),
        _ => false,
    }
}

/// An item that is a number.
fn integer_of(item: &Item) -> Option<ExprId> {
    match item {
        Item::Scalar(value, Scalar::Integer { .. }) => Some(*value),
        _ => None,
    }
}

/// Whose value is stored.
pub(super) struct Complaint {
    pub(super) symbol: SymbolId,
    /// Its value when the operation ends; none if it may change again.
    pub(super) new: Option<NewValue>,
}

/// What is known about the state after an operation.
pub(super) struct NewValue {
    /// The new value; none if the environment has it.
    pub(super) item: Option<Item>,
    pub(super) environment: Environment,
    /// Whether the environment has the new values of all variables.
    pub(super) is_complete: bool,
}

/// A violation unless a condition holds.
pub(super) fn assertion(condition: ExprId, what: &str, span: Span) -> Statement {
    Statement { kind: StatementKind::Assert { condition, message: what.to_owned(), violates: None }, span }
}
