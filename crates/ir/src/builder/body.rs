//! What rules and initial-state programs do: parameters, a guard, statements.

use std::ops::{Deref, DerefMut};

use super::expression::{Binder, Expression, Values};
use super::types::Type;
use crate::ownership::Fairness;

/// Statements, executed one after the other as one step.
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

    /// A local variable, without a value at first, known until the end of these statements.
    pub fn local(&mut self, name: impl Into<String>, ty: impl Into<Type>) -> Expression {
        let binder = Binder::new(name, ty.into());
        let expression = binder.expression();
        self.0.push(Statement::Local(binder));
        expression
    }
    /// Assigns a value, or copies an array or record. A value out of the range of the target is an error of the
    /// model, found when it runs.
    pub fn assign(&mut self, target: impl Into<Expression>, value: impl Into<Expression>) {
        self.0.push(Statement::Assign { target: target.into(), value: value.into() });
    }
    /// Sets everything in a place to the least value of its type.
    pub fn clear(&mut self, place: impl Into<Expression>) {
        self.0.push(Statement::Clear(place.into()));
    }
    /// Leaves a place without a value.
    pub fn undefine(&mut self, place: impl Into<Expression>) {
        self.0.push(Statement::Undefine(place.into()));
    }
    /// Does something if a condition holds. What is done otherwise can be added to the result.
    pub fn when(&mut self, condition: impl Into<Expression>, then: impl FnOnce(&mut Body)) -> Branches<'_> {
        let branches = vec![(condition.into(), Body::of(then))];
        self.0.push(Statement::If { branches, otherwise: Body::default() });
        match self.0.last_mut() {
            Some(Statement::If { branches, otherwise }) => Branches { branches, otherwise },
            _ => unreachable!("the statement was just added"),
        }
    }
    /// Repeats something while a condition holds. A loop without an end is an error of the model.
    pub fn while_loop(&mut self, condition: impl Into<Expression>, body: impl FnOnce(&mut Body)) {
        self.0.push(Statement::While { condition: condition.into(), body: Body::of(body) });
    }
    /// Repeats something for each value in turn.
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
    /// An error of the model unless a condition holds.
    pub fn assert(&mut self, condition: impl Into<Expression>, message: impl Into<String>) {
        self.0.push(Statement::Assert { condition: condition.into(), message: message.into() });
    }
    /// Drops the step, as if the rule had not fired, unless a condition holds.
    pub fn assume(&mut self, condition: impl Into<Expression>) {
        self.0.push(Statement::Assume(condition.into()));
    }
    /// Claims that this statement is executed in some run with a condition that holds.
    pub fn cover(&mut self, name: impl Into<String>, condition: impl Into<Expression>) {
        self.0.push(Statement::Cover { name: name.into(), condition: condition.into() });
    }
    /// An error of the model.
    pub fn error(&mut self, message: impl Into<String>) {
        self.0.push(Statement::Error { message: message.into() });
    }
    /// Ends the rule or initial-state program here.
    pub fn finish(&mut self) {
        self.0.push(Statement::Finish);
    }
}

/// What is done if a condition does not hold.
#[derive(Debug)]
pub struct Branches<'b> {
    branches: &'b mut Vec<(Expression, Body)>,
    otherwise: &'b mut Body,
}

impl Branches<'_> {
    /// Does something else if none of the conditions before holds and this one does.
    pub fn or_when(self, condition: impl Into<Expression>, then: impl FnOnce(&mut Body)) -> Self {
        self.branches.push((condition.into(), Body::of(then)));
        self
    }
    /// Does something if no condition holds.
    pub fn otherwise(self, then: impl FnOnce(&mut Body)) {
        then(self.otherwise);
    }
}

/// A rule: parameters, a guard and, as a [`Body`], what it does.
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
    /// When the rule can fire: always, if nothing is said; if several guards are given, when all hold.
    pub fn guard(&mut self, condition: impl Into<Expression>) {
        self.guard.push(condition.into());
    }
    /// The process that takes the step: one of the parameters, or a number.
    pub fn owner(&mut self, process: impl Into<Expression>) {
        self.owner = Some(process.into());
    }
    /// What infinite runs are assumed to grant the rule: nothing, if nothing is said.
    pub fn fairness(&mut self, fairness: Fairness) {
        self.fairness = fairness;
    }
}

/// An initial-state program: parameters and, as a [`Body`], what it does. It begins with all variables without
/// a value, or at the least value of their type if they always have one.
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
    /// A parameter. An invariant or assumption must hold for all its values, a cover for some, and what must always
    /// be reachable must be so for each by itself.
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
