//! The bodies of rules and initial-state programs: parameters, a guard, statements.

use std::ops::{Deref, DerefMut};

use super::expression::{Binder, Expression, Values};
use super::types::Type;
use crate::ownership::Fairness;

/// Statements, executed in order as one step.
#[derive(Debug, Default)]
pub struct Body(pub(super) Vec<Statement>);

/// One statement.
#[derive(Debug)]
pub(super) enum Statement {
    Local(Binder),
    Assign { target: Expression, value: Expression },
    Clear(Expression),
    Undefine(Expression),
    If { branches: Vec<(Expression, Body)>, otherwise: Body },
    While { condition: Expression, body: Body },
    For { binder: Binder, body: Body },
    Assert { condition: Expression, message: String },
    Assume(Expression),
    Cover { name: String, condition: Expression },
    Error { message: String },
    Finish,
}

impl Body {
    fn of(fill: impl FnOnce(&mut Self)) -> Self {
        let mut body = Self::default();
        fill(&mut body);
        body
    }

    /// A local variable, initially undefined, visible until the end of these statements.
    pub fn local(&mut self, name: impl Into<String>, ty: impl Into<Type>) -> Expression {
        let binder = Binder::new(name, ty.into());
        let expression = binder.expression();
        self.0.push(Statement::Local(binder));
        expression
    }
    /// Assigns a value, or copies an array or record. A value out of the range of the target is a run-time error.
    pub fn assign(&mut self, target: impl Into<Expression>, value: impl Into<Expression>) {
        self.0.push(Statement::Assign { target: target.into(), value: value.into() });
    }
    /// Sets every cell of a place to the least value of its type.
    pub fn clear(&mut self, place: impl Into<Expression>) {
        self.0.push(Statement::Clear(place.into()));
    }
    /// Makes a place undefined.
    pub fn undefine(&mut self, place: impl Into<Expression>) {
        self.0.push(Statement::Undefine(place.into()));
    }
    /// Executes statements if a condition holds. Alternatives can be added to the result.
    pub fn when(&mut self, condition: impl Into<Expression>, then: impl FnOnce(&mut Body)) -> Branches<'_> {
        let branches = vec![(condition.into(), Body::of(then))];
        self.0.push(Statement::If { branches, otherwise: Body::default() });
        match self.0.last_mut() {
            Some(Statement::If { branches, otherwise }) => Branches { branches, otherwise },
            _ => unreachable!("the statement was just added"),
        }
    }
    /// Repeats statements while a condition holds. A loop that does not terminate is a run-time error.
    pub fn while_loop(&mut self, condition: impl Into<Expression>, body: impl FnOnce(&mut Body)) {
        self.0.push(Statement::While { condition: condition.into(), body: Body::of(body) });
    }
    /// Repeats statements for each value in turn.
    pub fn for_each(
        &mut self,
        name: impl Into<String>,
        values: impl Into<Values>,
        body: impl FnOnce(&mut Body, Expression),
    ) {
        let binder = Binder::new(name, values);
        let variable = binder.expression();
        self.0.push(Statement::For { binder, body: Body::of(|inner| body(inner, variable)) });
    }
    /// A run-time error unless a condition holds.
    pub fn assert(&mut self, condition: impl Into<Expression>, message: impl Into<String>) {
        self.0.push(Statement::Assert { condition: condition.into(), message: message.into() });
    }
    /// Drops the step, as if the rule had not fired, unless a condition holds.
    pub fn assume(&mut self, condition: impl Into<Expression>) {
        self.0.push(Statement::Assume(condition.into()));
    }
    /// Claims that this statement is executed in some run while a condition holds.
    pub fn cover(&mut self, name: impl Into<String>, condition: impl Into<Expression>) {
        self.0.push(Statement::Cover { name: name.into(), condition: condition.into() });
    }
    /// A run-time error.
    pub fn error(&mut self, message: impl Into<String>) {
        self.0.push(Statement::Error { message: message.into() });
    }
    /// Ends the rule or initial-state program here.
    pub fn finish(&mut self) {
        self.0.push(Statement::Finish);
    }
}

/// The alternatives if a condition does not hold.
#[derive(Debug)]
pub struct Branches<'b> {
    branches: &'b mut Vec<(Expression, Body)>,
    otherwise: &'b mut Body,
}

impl Branches<'_> {
    /// Executes statements if no earlier condition holds and this one does.
    pub fn or_when(self, condition: impl Into<Expression>, then: impl FnOnce(&mut Body)) -> Self {
        self.branches.push((condition.into(), Body::of(then)));
        self
    }
    /// Executes statements if no condition holds.
    pub fn otherwise(self, then: impl FnOnce(&mut Body)) {
        then(self.otherwise);
    }
}

/// A rule: parameters, a guard and a [`Body`].
#[derive(Debug, Default)]
pub struct RuleBuilder {
    pub(super) parameters: Vec<Binder>,
    pub(super) guard: Vec<Expression>,
    pub(super) owner: Option<Expression>,
    pub(super) fairness: Fairness,
    pub(super) body: Body,
}

impl RuleBuilder {
    /// A parameter: the rule has an instance for each of its values (Murphi's `ruleset`).
    pub fn parameter(&mut self, name: impl Into<String>, values: impl Into<Values>) -> Expression {
        parameter(&mut self.parameters, name, values)
    }
    /// The condition under which the rule can fire: always by default; if several guards are given, all must hold.
    pub fn guard(&mut self, condition: impl Into<Expression>) {
        self.guard.push(condition.into());
    }
    /// The process that takes the step: one of the parameters, or a number.
    pub fn owner(&mut self, process: impl Into<Expression>) {
        self.owner = Some(process.into());
    }
    /// The fairness that infinite runs are assumed to grant the rule: none by default.
    pub fn fairness(&mut self, fairness: Fairness) {
        self.fairness = fairness;
    }
}

/// An initial-state program: parameters and a [`Body`]. It begins with all variables undefined, or at the least value
/// of their type if they always have a value.
#[derive(Debug, Default)]
pub struct StartBuilder {
    pub(super) parameters: Vec<Binder>,
    pub(super) body: Body,
}

impl StartBuilder {
    /// A parameter: there is an initial state for each of its values.
    pub fn parameter(&mut self, name: impl Into<String>, values: impl Into<Values>) -> Expression {
        parameter(&mut self.parameters, name, values)
    }
}

/// The parameters of a property.
#[derive(Debug, Default)]
pub struct PropertyBuilder {
    pub(super) parameters: Vec<Binder>,
}

impl PropertyBuilder {
    /// A parameter. An invariant or assumption must hold for all its values, a cover for some, and an always-reachable
    /// condition must be so for each value separately.
    pub fn parameter(&mut self, name: impl Into<String>, values: impl Into<Values>) -> Expression {
        parameter(&mut self.parameters, name, values)
    }
}

fn parameter(parameters: &mut Vec<Binder>, name: impl Into<String>, values: impl Into<Values>) -> Expression {
    let binder = Binder::new(name, values);
    let expression = binder.expression();
    parameters.push(binder);
    expression
}

/// The statements of a rule are added to the rule itself.
impl Deref for RuleBuilder {
    type Target = Body;
    fn deref(&self) -> &Body {
        &self.body
    }
}

impl DerefMut for RuleBuilder {
    fn deref_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

/// The statements of an initial-state program are added to the program itself.
impl Deref for StartBuilder {
    type Target = Body;
    fn deref(&self) -> &Body {
        &self.body
    }
}

impl DerefMut for StartBuilder {
    fn deref_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}
