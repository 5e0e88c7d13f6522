//! Infers the roles of values from the text: one walk, in which positions between which values flow are unified. What
//! else the text does with values is noted: constants it names, what it computes, in which order it visits them.
//!
//! Nothing here is trusted: the checker reads the text again.

use std::sync::Arc;

use quotient_functions::Preserved;
use quotient_ir::walk::{Node, body_nodes, visit_nodes, visit_statements};
use quotient_ir::{
    Argument, BinaryOperator, Domain, Expr, ExprId, FunctionId, Iteration, LocalId, Model, MultisetElement, PlaceId,
    PropertyId, ReturnValue, Root, Span, Statement, StatementKind, Step, TableIndex, VariableId,
};
use rustc_hash::FxHashMap;

use super::opaque::{Computation, Run, computes, is_small};
use super::patch::{self, Patch, Write};
use super::shapes::{Part, Role, Scope, Shape, Shapes};
use super::strict::strict_pair;
use super::uses::Use;

/// Expressions deeper than this are not looked at.
const DEEPEST: usize = 2_000;

/// A place of the text that limits the permutations of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) scope: Option<Scope>,
    pub(super) span: Span,
    pub(super) why: Why,
}

/// Why a place of the text limits the permutations of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// A constant is named.
    Names(i64),
    /// A value is computed with.
    Computes(ExprId),
    /// A value is used as a number or a condition.
    Decides(ExprId),
    /// Every cell is set to the least value of its type.
    Clears,
    /// The variable begins with the least value of its type.
    Begins(VariableId),
    /// Values are visited in order.
    Visits(LocalId),
    /// A condition about all or some values may go wrong for one of them before another decides.
    MayFail(ExprId),
    /// An element of a multiset is found by its position.
    Positions,
    /// Constants are assigned to some cells.
    Sets,
    /// Arrays with different indices are copied.
    Copies,
    /// A particular instance of a property is preserved.
    Instance(PropertyId),
    /// The values are amounts.
    Amounts,
}

/// A function of values of roles that the text computes.
#[derive(Clone, Debug)]
pub(super) struct Computed {
    pub(super) computation: Computation,
    /// The roles of the leaves, and the values they can have.
    pub(super) leaves: Vec<(Role, Domain)>,
    /// Its results by runs of values, if there are too many values for a table. These results are told apart.
    pub(super) runs: Option<Vec<Run>>,
    pub(super) result: Role,
    pub(super) cause: Cause,
}

/// Values that are visited in order: by a loop, or by a quantifier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit<'m> {
    pub(super) scope: Scope,
    pub(super) role: Role,
    pub(super) local: LocalId,
    pub(super) visitor: Visitor<'m>,
    pub(super) cause: Cause,
}

/// What visits values in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Visitor<'m> {
    Loop(&'m [Statement]),
    Quantifier(ExprId),
    /// The instances of an assumption: the first that is false or fails decides.
    Assumption(ExprId),
}

/// What the text says about roles.
#[derive(Debug)]
pub(super) struct Findings<'m> {
    pub(super) shapes: Shapes,
    parents: Vec<u32>,
    /// Values that are named.
    pub(super) pins: Vec<(Role, i64, Cause)>,
    /// Roles all of whose values are distinguished.
    pub(super) fixed: Vec<(Role, Cause)>,
    /// Sets of values that are distinguished from others.
    pub(super) sets: Vec<(Role, Domain)>,
    /// Values that parameters and bound variables take.
    pub(super) sources: Vec<(Role, Domain)>,
    pub(super) computed: Vec<Computed>,
    pub(super) visits: Vec<Visit<'m>>,
    pub(super) patches: Vec<Patch>,
    /// How values are used where nothing can be noticed.
    pub(super) uses: Vec<(Role, Use)>,
}

/// A text is too deep or too large to be looked at.
pub(super) struct TooLarge;

type Walk<T> = Result<T, TooLarge>;

struct Inference<'m, 'f> {
    model: &'m Model,
    findings: &'f mut Findings<'m>,
    scope: Scope,
    span: Span,
    known: FxHashMap<ExprId, Role>,
    /// The values of parameters, loop variables and bound variables.
    ranges: FxHashMap<LocalId, Domain>,
    depth: usize,
    /// Whether only the flow of values counts.
    only_flow: bool,
}

/// The roles of values in the text of some scopes. Of the scopes in `only_flow` nothing but the flow of values counts.
pub(super) fn infer<'m>(model: &'m Model, scopes: &[Scope], only_flow: &[Scope]) -> Walk<Findings<'m>> {
    let shapes = Shapes::distinct(model).ok_or(TooLarge)?;
    let parents = (0..shapes.roles).collect();
    let mut findings = Findings {
        shapes,
        parents,
        pins: Vec::new(),
        fixed: Vec::new(),
        sets: Vec::new(),
        sources: Vec::new(),
        computed: Vec::new(),
        visits: Vec::new(),
        patches: Vec::new(),
        uses: Vec::new(),
    };
    for &scope in scopes.iter().chain(only_flow) {
        let mut inference = Inference {
            model,
            findings: &mut findings,
            scope,
            span: scope.span(model),
            known: FxHashMap::default(),
            ranges: FxHashMap::default(),
            depth: 0,
            only_flow: only_flow.contains(&scope),
        };
        inference.scope()?;
    }
    findings.declare(model);
    Ok(findings)
}

impl<'m> Findings<'m> {
    /// The representative of a role.
    pub(super) fn find(&mut self, role: Role) -> Role {
        let mut root = role.0;
        while self.parents[root as usize] != root {
            root = self.parents[root as usize];
        }
        let mut current = role.0;
        while self.parents[current as usize] != root {
            let next = self.parents[current as usize];
            self.parents[current as usize] = root;
            current = next;
        }
        Role(root)
    }

    fn unify(&mut self, left: Role, right: Role) {
        let (left, right) = (self.find(left), self.find(right));
        // The smaller number stays: variables have the first ones.
        let (least, other) = if left.0 <= right.0 { (left, right) } else { (right, left) };
        self.parents[other.0 as usize] = least.0;
    }

    fn fresh(&mut self) -> Role {
        let role = self.parents.len() as u32;
        self.parents.push(role);
        Role(role)
    }

    /// The sets of values of all declared types.
    fn declare(&mut self, model: &Model) {
        let shapes = self.shapes.clone();
        let mut sets = Vec::new();
        let mut add = |role: Role, ty, _: Part| sets.push((role, ty));
        shapes.variables.iter().for_each(|shape| shape.visit(&mut add));
        shapes.locals.values().flatten().for_each(|shape| shape.visit(&mut add));
        shapes.results.iter().flatten().for_each(|shape| shape.visit(&mut add));
        sets.sort_unstable_by_key(|&(role, ty)| (role, ty.position()));
        for (role, ty) in sets {
            let entry = (self.find(role), model.domain(ty));
            if self.sets.last() != Some(&entry) {
                self.sets.push(entry);
            }
        }
    }

    /// Adds a value that is distinguished.
    pub(super) fn pin(&mut self, role: Role, value: i64, cause: Cause) {
        self.pins.push((role, value, cause));
    }

    /// With every role by its representative.
    pub(super) fn resolve(mut self) -> Self {
        let mut shapes = self.shapes.clone();
        shapes = shapes.renamed(&mut |role| self.find(role));
        self.shapes = shapes;
        let mut pins = std::mem::take(&mut self.pins);
        pins.iter_mut().for_each(|entry| entry.0 = self.find(entry.0));
        let mut fixed = std::mem::take(&mut self.fixed);
        fixed.iter_mut().for_each(|entry| entry.0 = self.find(entry.0));
        let mut sets = std::mem::take(&mut self.sets);
        sets.iter_mut().for_each(|entry| entry.0 = self.find(entry.0));
        let mut sources = std::mem::take(&mut self.sources);
        sources.iter_mut().for_each(|entry| entry.0 = self.find(entry.0));
        let mut computed = std::mem::take(&mut self.computed);
        for entry in &mut computed {
            entry.leaves.iter_mut().for_each(|leaf| leaf.0 = self.find(leaf.0));
            entry.result = self.find(entry.result);
        }
        let mut visits = std::mem::take(&mut self.visits);
        visits.iter_mut().for_each(|visit| visit.role = self.find(visit.role));
        let mut uses = std::mem::take(&mut self.uses);
        uses.iter_mut().for_each(|entry| entry.0 = self.find(entry.0));
        let mut patches = std::mem::take(&mut self.patches);
        let writes = patches.iter_mut().flat_map(|patch| &mut patch.writes);
        writes.for_each(|write| write.rename(&mut |role| self.find(role)));
        Self { pins, fixed, sets, sources, computed, visits, patches, uses, ..self }
    }
}

impl<'m> Inference<'m, '_> {
    fn cause(&self, why: Why) -> Cause {
        Cause { scope: Some(self.scope), span: self.span, why }
    }

    fn fix(&mut self, role: Role, why: Why) {
        if !self.only_flow {
            let cause = self.cause(why);
            self.findings.fixed.push((role, cause));
        }
    }

    fn pin(&mut self, role: Role, value: i64, why: Why) {
        if !self.only_flow {
            let cause = self.cause(why);
            self.findings.pin(role, value, cause);
        }
    }

    fn uses(&mut self, role: Role, how: Use) {
        if !self.only_flow {
            self.findings.uses.push((role, how));
        }
    }

    /// A role of values that no permutation moves.
    fn number(&mut self) -> Role {
        let role = self.findings.fresh();
        let cause = Cause { scope: Some(self.scope), span: self.span, why: Why::Positions };
        self.findings.fixed.push((role, cause));
        role
    }

    fn scope(&mut self) -> Walk<()> {
        for parameter in self.scope.parameters(self.model) {
            let shape = Arc::clone(self.findings.shapes.local(self.scope, parameter.local));
            match (&parameter.range, &*shape) {
                (range, Shape::Scalar { role, .. }) => {
                    self.uses(*role, Use::Parameter);
                    self.iteration(parameter.local, *role, range)?;
                }
                (_, shape) => {
                    let mut sources = Vec::new();
                    shape.visit(&mut |role, ty, part| sources.extend((part == Part::Contents).then_some((role, ty))));
                    for (role, ty) in sources {
                        self.source(role, self.model.domain(ty));
                    }
                }
            }
        }
        for condition in self.scope.conditions(self.model) {
            self.condition(condition)?;
            if self.scope.is_assumption(self.model) {
                for parameter in self.scope.parameters(self.model) {
                    let shape = Arc::clone(self.findings.shapes.local(self.scope, parameter.local));
                    shape.visit(&mut |role, _, _| {
                        self.visit(role, parameter.local, Visitor::Assumption(condition), Why::MayFail(condition));
                    });
                }
            }
        }
        self.statements(self.scope.body(self.model))
    }

    fn source(&mut self, role: Role, domain: Domain) {
        if !self.only_flow {
            self.findings.sources.push((role, domain.clone()));
            self.findings.sets.push((role, domain));
        }
    }

    /// A local takes values one after the other.
    fn iteration(&mut self, local: LocalId, role: Role, range: &Iteration) -> Walk<()> {
        let domain = match *range {
            Iteration::Over(ty) => self.model.domain(ty),
            Iteration::Steps { from, to, step } => {
                let unit = step.is_none_or(|step| matches!(self.constant(step), Some(1 | -1)));
                match (self.constant(from), self.constant(to)) {
                    (Some(from), Some(to)) if unit => Domain::interval(from.min(to), from.max(to)),
                    _ => {
                        for bound in [from, to].into_iter().chain(step) {
                            let bound_role = self.expression(bound)?;
                            self.fix(bound_role, Why::Computes(bound));
                        }
                        self.fix(role, Why::Visits(local));
                        return Ok(());
                    }
                }
            }
        };
        self.ranges.insert(local, domain.clone());
        self.source(role, domain);
        Ok(())
    }

    fn constant(&self, expression: ExprId) -> Option<i64> {
        match self.model.pool[expression] {
            Expr::Constant { value, .. } => Some(value),
            _ => None,
        }
    }

    // ---- expressions ----

    fn condition(&mut self, expression: ExprId) -> Walk<()> {
        let role = self.expression(expression)?;
        self.fix(role, Why::Decides(expression));
        Ok(())
    }

    fn expression(&mut self, expression: ExprId) -> Walk<Role> {
        if let &Expr::Constant { value, .. } = &self.model.pool[expression] {
            let role = self.findings.fresh();
            self.pin(role, value, Why::Names(value));
            return Ok(role);
        }
        if let Some(&role) = self.known.get(&expression) {
            return Ok(role);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(TooLarge);
        }
        let role = self.operation(expression)?;
        self.depth -= 1;
        self.known.insert(expression, role);
        Ok(role)
    }

    fn operation(&mut self, expression: ExprId) -> Walk<Role> {
        Ok(match &self.model.pool[expression] {
            Expr::Constant { .. } => unreachable!("constants have a role for each occurrence"),
            Expr::Read(place) => {
                let shape = self.place(*place)?;
                scalar(&shape)
            }
            Expr::Unary { operator: quotient_ir::UnaryOperator::Not, operand } => {
                self.condition(*operand)?;
                self.number()
            }
            Expr::Unary { .. } => self.computation(expression)?,
            Expr::Binary { operator, .. } if computes(*operator) => self.computation(expression)?,
            Expr::Binary { operator: BinaryOperator::Equal | BinaryOperator::NotEqual, left, right } => {
                let (left, right) = (self.expression(*left)?, self.expression(*right)?);
                self.findings.unify(left, right);
                self.uses(left, Use::Comparison);
                self.number()
            }
            Expr::Binary { .. } if strict_pair(self.model, expression).is_some() => {
                let (probe, quantifier) = strict_pair(self.model, expression).expect("it is one");
                self.condition(probe)?;
                // Its condition does not go wrong any more.
                if let Expr::Quantified { local, range, body, .. } = &self.model.pool[quantifier] {
                    let role = scalar(&Arc::clone(self.findings.shapes.local(self.scope, *local)));
                    self.iteration(*local, role, range)?;
                    self.uses(role, Use::Quantifier);
                    self.condition(*body)?;
                }
                self.number()
            }
            Expr::Binary { left, right, .. } => {
                self.condition(*left)?;
                self.condition(*right)?;
                self.number()
            }
            Expr::Conditional { condition, then, otherwise } => {
                let whole = Computation::new(self.model, expression, 1);
                if whole.is_some_and(|whole| whole.computes && !whole.leaves.is_empty()) {
                    return self.computation(expression);
                }
                self.condition(*condition)?;
                let (then, otherwise) = (self.expression(*then)?, self.expression(*otherwise)?);
                self.findings.unify(then, otherwise);
                then
            }
            Expr::Quantified { local, range, body, .. } => {
                let role = scalar(&Arc::clone(self.findings.shapes.local(self.scope, *local)));
                self.iteration(*local, role, range)?;
                self.condition(*body)?;
                self.uses(role, Use::Quantifier);
                self.visit(role, *local, Visitor::Quantifier(expression), Why::MayFail(expression));
                self.number()
            }
            Expr::Count { local, multiset, body } => {
                let shape = self.place(*multiset)?;
                self.position_local(*local, &shape)?;
                self.condition(*body)?;
                self.number()
            }
            Expr::IsUndefined(place) => {
                self.place(*place)?;
                self.number()
            }
            Expr::IsPresent { multiset, position } => {
                let shape = self.place(*multiset)?;
                self.position(*position, &shape)?;
                self.number()
            }
            Expr::IsMember { value, ty } => {
                let role = self.expression(*value)?;
                if !self.only_flow {
                    self.findings.sets.push((role, self.model.domain(*ty)));
                }
                self.number()
            }
            Expr::SameContents { left, right } => {
                let (left, right) = (self.place(*left)?, self.place(*right)?);
                self.unify(&left, &right);
                self.number()
            }
            Expr::Call { function, arguments } => {
                self.call(*function, arguments)?;
                let result = self.findings.shapes.results[function.position()].clone();
                scalar(&result.expect("verified: a function in an expression has a result"))
            }
        })
    }

    fn visit(&mut self, role: Role, local: LocalId, visitor: Visitor<'m>, why: Why) {
        if !self.only_flow {
            let cause = self.cause(why);
            self.findings.visits.push(Visit { scope: self.scope, role, local, visitor, cause });
        }
    }

    /// A value is computed from others.
    fn computation(&mut self, expression: ExprId) -> Walk<Role> {
        if let Some(computation) = Computation::new(self.model, expression, 2)
            && !computation.leaves.is_empty()
        {
            let domains: Vec<Option<Domain>> = computation.leaves.iter().map(|leaf| self.domain(*leaf)).collect();
            let domains: Option<Vec<Domain>> = domains.into_iter().collect();
            let is_table = domains.as_ref().is_some_and(|domains| is_small(domains.iter().map(Domain::size)));
            let runs = match domains.as_deref() {
                Some([domain]) if !is_table => computation.runs(self.model, domain),
                _ => None,
            };
            if let Some(domains) = domains.filter(|_| is_table || runs.is_some()) {
                let mut leaves = Vec::new();
                for (&leaf, domain) in computation.leaves.iter().zip(domains) {
                    leaves.push((self.expression(leaf)?, domain));
                }
                let result = self.findings.fresh();
                let cause = self.cause(Why::Computes(expression));
                if !self.only_flow {
                    self.findings.computed.push(Computed { computation, leaves, runs, result, cause });
                }
                return Ok(result);
            }
        }
        match &self.model.pool[expression] {
            Expr::Unary { operand, .. } => self.computed_with(*operand, expression)?,
            Expr::Binary { left, right, .. } => {
                self.computed_with(*left, expression)?;
                self.computed_with(*right, expression)?;
            }
            Expr::Conditional { condition, then, otherwise } => {
                for operand in [*condition, *then, *otherwise] {
                    self.computed_with(operand, expression)?;
                }
            }
            _ => unreachable!("only operators compute"),
        }
        Ok(self.number())
    }

    fn computed_with(&mut self, operand: ExprId, expression: ExprId) -> Walk<()> {
        let role = self.expression(operand)?;
        self.fix(role, Why::Computes(expression));
        Ok(())
    }

    /// The values that an expression can have, as far as its declaration says.
    fn domain(&self, expression: ExprId) -> Option<Domain> {
        let Expr::Read(place) = self.model.pool[expression] else { return None };
        let place = &self.model.pool[place];
        match place.root {
            Root::Local(local) if place.steps.is_empty() && self.ranges.contains_key(&local) => {
                Some(self.ranges[&local].clone())
            }
            _ => Some(self.model.domain(place.ty)),
        }
    }

    // ---- places ----

    fn place(&mut self, place: PlaceId) -> Walk<Arc<Shape>> {
        let place = &self.model.pool[place];
        let mut shape = match &place.root {
            Root::Variable(variable) => Arc::clone(&self.findings.shapes.variables[*variable]),
            Root::Local(local) => Arc::clone(self.findings.shapes.local(self.scope, *local)),
            Root::Result { function, arguments } => {
                self.call(*function, arguments)?;
                let result = self.findings.shapes.results[function.position()].clone();
                result.expect("verified: it has a result")
            }
            Root::Choice { condition, then, otherwise } => {
                self.condition(*condition)?;
                let (then, otherwise) = (self.place(*then)?, self.place(*otherwise)?);
                self.unify(&then, &otherwise);
                then
            }
        };
        for step in &place.steps {
            shape = match (step, &*shape) {
                (Step::Field(field), Shape::Record(fields)) => Arc::clone(&fields[*field as usize]),
                (Step::Index(index), Shape::Array { role, element, .. }) => {
                    let (own, element) = (*role, Arc::clone(element));
                    let index = self.expression(*index)?;
                    self.findings.unify(index, own);
                    self.uses(own, Use::Index);
                    element
                }
                (Step::Index(index), Shape::Multiset { element, .. }) => {
                    let element = Arc::clone(element);
                    self.position(*index, &shape)?;
                    element
                }
                _ => unreachable!("verified: a step fits the type it starts from"),
            };
        }
        Ok(shape)
    }

    /// A position of a multiset. Elements are sorted again in the image of a state, so a position means something only
    /// if any could be meant: a parameter or a bound variable that is used for nothing else.
    fn position(&mut self, position: ExprId, multiset: &Shape) -> Walk<()> {
        self.expression(position)?;
        let Shape::Multiset { capacity, .. } = multiset else { unreachable!("verified: it is a multiset") };
        if !super::order::is_position(self.model, self.scope, position, *capacity) {
            self.fix_contents(multiset, Why::Positions);
        }
        Ok(())
    }

    fn position_local(&mut self, local: LocalId, multiset: &Shape) -> Walk<()> {
        if !super::order::is_position_only(self.model, self.scope, local) {
            self.fix_contents(multiset, Why::Positions);
        }
        Ok(())
    }

    fn fix_contents(&mut self, shape: &Shape, why: Why) {
        let mut roles = Vec::new();
        shape.visit(&mut |role, _, _| roles.push(role));
        roles.into_iter().for_each(|role| self.fix(role, why));
    }

    fn unify(&mut self, left: &Shape, right: &Shape) {
        match (left, right) {
            (Shape::Scalar { role: left, .. }, Shape::Scalar { role: right, .. }) => self.findings.unify(*left, *right),
            (
                Shape::Array { role: left, index: left_index, element: left_element },
                Shape::Array { role: right, index: right_index, element: right_element },
            ) => {
                if self.model.domain(*left_index) == self.model.domain(*right_index) {
                    self.findings.unify(*left, *right);
                } else {
                    self.fix(*left, Why::Copies);
                    self.fix(*right, Why::Copies);
                }
                self.unify(left_element, right_element);
            }
            (Shape::Record(left), Shape::Record(right)) if left.len() == right.len() => {
                left.iter().zip(right).for_each(|(left, right)| self.unify(left, right));
            }
            (Shape::Multiset { element: left, .. }, Shape::Multiset { element: right, .. }) => self.unify(left, right),
            _ => {
                self.fix_contents(left, Why::Copies);
                self.fix_contents(right, Why::Copies);
            }
        }
    }

    // ---- statements ----

    fn call(&mut self, function: FunctionId, arguments: &'m [Argument]) -> Walk<()> {
        let parameters = &self.model.functions[function].parameters;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let shape = Arc::clone(self.findings.shapes.local(Scope::Function(function), *parameter));
            match argument {
                Argument::Value(value) => {
                    let role = self.expression(*value)?;
                    self.findings.unify(role, scalar(&shape));
                    self.uses(role, Use::Argument);
                }
                Argument::Copy(place) | Argument::Reference(place) => {
                    let place = self.place(*place)?;
                    self.unify(&place, &shape);
                }
                Argument::Undefined => {}
            }
        }
        Ok(())
    }

    fn statements(&mut self, statements: &'m [Statement]) -> Walk<()> {
        let mut rest = statements;
        // A run that is none does not become one without its first statements.
        let mut is_begin = true;
        while let [statement, others @ ..] = rest {
            let is_constant = matches!(statement.kind, StatementKind::Assign { value, .. }
                if matches!(self.model.pool[value], Expr::Constant { .. }));
            if is_begin
                && is_constant
                && !self.only_flow
                && let Some((count, writes)) = patch::leading(self.model, &self.findings.shapes, rest)
            {
                self.patch(statement.span, statements.len() == count, writes);
                rest = &rest[count..];
                continue;
            }
            is_begin = !is_constant;
            rest = others;
            let outer = std::mem::replace(&mut self.span, statement.span);
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(TooLarge);
            }
            self.statement(statement)?;
            self.depth -= 1;
            self.span = outer;
        }
        Ok(())
    }

    /// Constants are assigned to cells that constants name.
    fn patch(&mut self, span: Span, is_whole: bool, writes: Vec<Write>) {
        let rule = match self.scope {
            Scope::Rule(rule) if is_whole && self.model.rules[rule].parameters.is_empty() => Some(rule),
            _ => None,
        };
        let rule = rule.filter(|rule| self.model.rules[*rule].body.len() == writes.len());
        let cause = Cause { scope: Some(self.scope), span, why: Why::Sets };
        self.findings.patches.push(Patch { writes, rule, cause });
    }

    fn statement(&mut self, statement: &'m Statement) -> Walk<()> {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let target = self.place(*target)?;
                let value = self.expression(*value)?;
                self.findings.unify(value, scalar(&target));
                self.uses(value, Use::Copy);
            }
            StatementKind::Copy { target, source } => {
                let (target, source) = (self.place(*target)?, self.place(*source)?);
                self.unify(&target, &source);
            }
            StatementKind::Clear(place) => {
                let shape = self.place(*place)?;
                let mut cells = Vec::new();
                shape.visit(&mut |role, ty, part| cells.extend((part == Part::Contents).then_some((role, ty))));
                for (role, ty) in cells {
                    self.pin(role, self.model.domain(ty).least(), Why::Clears);
                }
            }
            StatementKind::Undefine(place) => {
                self.place(*place)?;
            }
            StatementKind::Bind { local, place } => {
                let place = self.place(*place)?;
                let local = Arc::clone(self.findings.shapes.local(self.scope, *local));
                self.unify(&local, &place);
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.condition(*condition)?;
                    self.statements(body)?;
                }
                self.statements(otherwise)?;
            }
            StatementKind::While { condition, body } => {
                self.condition(*condition)?;
                self.statements(body)?;
            }
            StatementKind::For { local, range, body } => {
                let role = scalar(&Arc::clone(self.findings.shapes.local(self.scope, *local)));
                self.iteration(*local, role, range)?;
                self.uses(role, Use::Loop);
                self.visit(role, *local, Visitor::Loop(body), Why::Visits(*local));
                self.statements(body)?;
            }
            StatementKind::Call { function, arguments } => self.call(*function, arguments)?,
            StatementKind::Return(Some(ReturnValue::Value(value))) => {
                let value = self.expression(*value)?;
                let result = self.result();
                self.findings.unify(value, scalar(&result));
                self.uses(value, Use::Copy);
            }
            StatementKind::Return(Some(ReturnValue::Copy(place))) => {
                let (place, result) = (self.place(*place)?, self.result());
                self.unify(&place, &result);
            }
            StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => {}
            StatementKind::Assert { condition, .. }
            | StatementKind::Require { condition, .. }
            | StatementKind::Assume(condition)
            | StatementKind::Cover { condition, .. } => self.condition(*condition)?,
            StatementKind::MultisetAdd { multiset, element } => {
                let shape = self.place(*multiset)?;
                let Shape::Multiset { element: own, .. } = &*shape else { unreachable!("verified: it is a multiset") };
                match element {
                    MultisetElement::Value(value) => {
                        let value = self.expression(*value)?;
                        self.findings.unify(value, scalar(own));
                        self.uses(value, Use::Copy);
                    }
                    MultisetElement::Copy(place) => {
                        let place = self.place(*place)?;
                        self.unify(own, &place);
                    }
                }
            }
            StatementKind::MultisetRemove { multiset, position } => {
                let shape = self.place(*multiset)?;
                self.position(*position, &shape)?;
            }
            StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                let shape = self.place(*multiset)?;
                self.position_local(*local, &shape)?;
                self.condition(*condition)?;
            }
        }
        Ok(())
    }

    fn result(&self) -> Arc<Shape> {
        let Scope::Function(function) = self.scope else { unreachable!("verified: only functions return values") };
        self.findings.shapes.results[function.position()].clone().expect("verified: it has a result")
    }
}

/// The role of a scalar.
pub(super) fn scalar(shape: &Shape) -> Role {
    match shape {
        Shape::Scalar { role, .. } => *role,
        _ => unreachable!("verified: the place is scalar"),
    }
}

/// The functions that the text of a scope calls.
pub(super) fn called_functions(model: &Model, scope: Scope) -> Vec<FunctionId> {
    let mut functions = Vec::new();
    visit_statements(scope.body(model), &mut |statement| {
        if let StatementKind::Call { function, .. } = &statement.kind {
            functions.push(*function);
        }
    });
    let mut nodes = body_nodes(scope.body(model));
    nodes.extend(scope.conditions(model).into_iter().map(Node::Expression));
    visit_nodes(model, nodes, |node| match node {
        Node::Expression(id) => {
            if let Expr::Call { function, .. } = &model.pool[id] {
                functions.push(*function);
            }
        }
        Node::Place(id) => {
            if let Root::Result { function, .. } = &model.pool[id].root {
                functions.push(*function);
            }
        }
    });
    functions
}

/// Pins the arguments of the instances that are preserved as they are.
pub(super) fn pin_instance(model: &Model, findings: &mut Findings<'_>, preserved: Preserved<'_>) {
    let Preserved::Instances { properties, arguments } = preserved else { return };
    for &property in properties {
        let scope = Scope::Property(property);
        let cause = Cause { scope: Some(scope), span: scope.span(model), why: Why::Instance(property) };
        let mut cells = arguments.iter();
        for parameter in scope.parameters(model) {
            match &*Arc::clone(findings.shapes.local(scope, parameter.local)) {
                Shape::Scalar { role, .. } => {
                    findings.pin(*role, cells.next().copied().unwrap_or_default(), cause);
                }
                shape => shape.visit(&mut |role, _, _| findings.fixed.push((role, cause))),
            }
        }
    }
}

/// Fixes amounts, which are added up whatever the text does with them.
pub(super) fn fix_amounts(model: &Model, findings: &mut Findings<'_>) {
    for (id, variable) in model.variables.iter_enumerated() {
        let cause = Cause { scope: None, span: variable.span, why: Why::Amounts };
        let shape = Arc::clone(&findings.shapes.variables[id]);
        shape.visit(&mut |role, ty, part| {
            if part == Part::Contents && model.is_amount(ty) {
                findings.fixed.push((role, cause));
            }
        });
    }
}

/// Pins the values with which variables begin, if initial states are not run.
pub(super) fn pin_beginnings(model: &Model, findings: &mut Findings<'_>) {
    for (id, variable) in model.variables.iter_enumerated().filter(|(_, variable)| !variable.may_be_undefined) {
        let cause = Cause { scope: None, span: variable.span, why: Why::Begins(id) };
        let shape = Arc::clone(&findings.shapes.variables[id]);
        shape.visit(&mut |role, ty, part| {
            if part == Part::Contents {
                findings.pin(role, model.domain(ty).least(), cause);
            }
        });
    }
}
