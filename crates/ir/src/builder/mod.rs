//! Writing a model in Rust: types, variables, initial states, rules and properties.
//!
//! A mutual exclusion for three processes that share a lock:
//!
//! ```
//! use quotient_ir::builder::{ModelBuilder, Type, forall};
//!
//! # fn main() -> Result<(), quotient_ir::builder::BuildError> {
//! let mut model = ModelBuilder::new("lock");
//! let process = Type::scalarset("process", 3);
//! let status = Type::enumeration("status", ["idle", "waiting", "critical"]);
//! let state = model.variable("state", Type::array(&process, &status));
//! let locked = model.variable("locked", Type::boolean());
//!
//! model.start("nobody is there", |start| {
//!     start.for_each("p", &process, |body, p| body.assign(state.at(p), "idle"));
//!     start.assign(&locked, false);
//! });
//! model.rule("ask", |rule| {
//!     let p = rule.parameter("p", &process);
//!     rule.guard(state.at(&p).eq("idle"));
//!     rule.assign(state.at(&p), "waiting");
//! });
//! model.rule("enter", |rule| {
//!     let p = rule.parameter("p", &process);
//!     rule.guard(state.at(&p).eq("waiting").and(!&locked));
//!     rule.assign(state.at(&p), "critical");
//!     rule.assign(&locked, true);
//! });
//! model.rule("leave", |rule| {
//!     let p = rule.parameter("p", &process);
//!     rule.guard(state.at(&p).eq("critical"));
//!     rule.assign(state.at(&p), "idle");
//!     rule.assign(&locked, false);
//! });
//! model.invariant("mutual exclusion", |_| {
//!     forall("p", &process, |p| {
//!         forall("q", &process, |q| {
//!             p.ne(&q).implies(!state.at(&p).eq("critical").and(state.at(&q).eq("critical")))
//!         })
//!     })
//! });
//! model.always_reachable("everyone can enter again", |property| {
//!     let p = property.parameter("p", &process);
//!     state.at(p).eq("critical")
//! });
//! let model = model.build()?;
//! assert_eq!(model.rules.len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Handles
//! Types and expressions are values that are not tied to a builder. [`Type`] makes types, and
//! [`ModelBuilder::variable`] and the `parameter` methods return expressions to start from. Comparison and logic are
//! methods (`x.eq(1).and(y.lt(&z))`), arithmetic and negation are Rust's operators (`&x + 1`, `!x`), and parts are
//! accessed with [`Expression::at`] and [`Expression::field`]. Members of enumerations are given by name.
//!
//! # Errors
//! A bad model never causes a panic. [`ModelBuilder::build`] resolves names and types, reports all errors with the
//! declaration they are in, and checks the result with [`crate::verify`].
//!
//! # The source of a built model
//! A built model has a source text: one line for each declaration and statement, in Murphi notation. Messages about
//! runs quote it.

mod body;
mod expression;
mod lowering;
#[cfg(test)]
mod tests;
mod types;

use std::fmt;

pub use body::{Body, Branches, PropertyBuilder, RuleBuilder, StartBuilder};
pub use expression::{Expression, Values, conjunction, disjunction, exists, forall};
pub use types::Type;

use crate::diagnostics::{Diagnostic, Source};
use crate::model::{Model, PropertyKind};

/// A model under construction. See the [module](self).
#[derive(Debug)]
pub struct ModelBuilder {
    name: String,
    variables: Vec<Variable>,
    starts: Vec<(String, StartBuilder)>,
    rules: Vec<(String, RuleBuilder)>,
    properties: Vec<Property>,
}

#[derive(Debug)]
struct Variable {
    name: String,
    ty: Type,
    may_be_undefined: bool,
}

#[derive(Debug)]
struct Property {
    name: String,
    kind: PropertyKind,
    parameters: PropertyBuilder,
    condition: Expression,
}

/// Why a model could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// The text of the model, which the locations of the messages refer to.
    pub source: Source,
    /// The errors, in the order of the model: at least one. Each names the declaration it is about.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model `{}` cannot be built", self.source.name)?;
        for diagnostic in &self.diagnostics {
            write!(f, "\n{}", diagnostic.message)?;
            if let Some(help) = &diagnostic.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for BuildError {}

impl ModelBuilder {
    /// An empty model.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), variables: Vec::new(), starts: Vec::new(), rules: Vec::new(), properties: Vec::new() }
    }

    /// A variable. It is undefined until a start assigns a value; reading it before is a run-time error.
    pub fn variable(&mut self, name: impl Into<String>, ty: impl Into<Type>) -> Expression {
        self.add_variable(name.into(), ty.into(), true)
    }
    /// A variable that always has a value: before the starts, the least value of its type.
    pub fn defined_variable(&mut self, name: impl Into<String>, ty: impl Into<Type>) -> Expression {
        self.add_variable(name.into(), ty.into(), false)
    }
    fn add_variable(&mut self, name: String, ty: Type, may_be_undefined: bool) -> Expression {
        let expression = Expression::new(expression::Kind::Variable(name.clone()));
        self.variables.push(Variable { name, ty, may_be_undefined });
        expression
    }

    /// An initial-state program. A model needs at least one.
    pub fn start(&mut self, name: impl Into<String>, fill: impl FnOnce(&mut StartBuilder)) {
        let mut start = StartBuilder::default();
        fill(&mut start);
        self.starts.push((name.into(), start));
    }
    /// A rule. The rules of a model fire one at a time, in any order.
    pub fn rule(&mut self, name: impl Into<String>, fill: impl FnOnce(&mut RuleBuilder)) {
        let mut rule = RuleBuilder::default();
        fill(&mut rule);
        self.rules.push((name.into(), rule));
    }

    /// Claims that a condition holds in every reachable state (AG).
    pub fn invariant<E: Into<Expression>>(
        &mut self,
        name: impl Into<String>,
        condition: impl FnOnce(&mut PropertyBuilder) -> E,
    ) {
        self.property(name.into(), PropertyKind::Invariant, condition);
    }
    /// Claims that a condition holds in some reachable state (EF).
    pub fn cover<E: Into<Expression>>(
        &mut self,
        name: impl Into<String>,
        condition: impl FnOnce(&mut PropertyBuilder) -> E,
    ) {
        self.property(name.into(), PropertyKind::Cover, condition);
    }
    /// Claims that from every reachable state, a state in which a condition holds can be reached (AG EF; what rumur
    /// calls liveness).
    pub fn always_reachable<E: Into<Expression>>(
        &mut self,
        name: impl Into<String>,
        condition: impl FnOnce(&mut PropertyBuilder) -> E,
    ) {
        self.property(name.into(), PropertyKind::AlwaysReachable, condition);
    }
    /// Drops all states in which a condition does not hold.
    pub fn assumption<E: Into<Expression>>(
        &mut self,
        name: impl Into<String>,
        condition: impl FnOnce(&mut PropertyBuilder) -> E,
    ) {
        self.property(name.into(), PropertyKind::Assumption, condition);
    }
    fn property<E: Into<Expression>>(
        &mut self,
        name: String,
        kind: PropertyKind,
        condition: impl FnOnce(&mut PropertyBuilder) -> E,
    ) {
        let mut parameters = PropertyBuilder::default();
        let condition = condition(&mut parameters).into();
        self.properties.push(Property { name, kind, parameters, condition });
    }

    /// Builds the model.
    ///
    /// # Errors
    /// All errors: names that are unknown or declared twice, type mismatches, assignments to what cannot be assigned
    /// to, and whatever else [`crate::verify`] refuses.
    pub fn build(self) -> Result<Model, BuildError> {
        lowering::lower(&self)
    }
}
