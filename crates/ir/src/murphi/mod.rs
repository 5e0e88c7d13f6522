//! The Murphi printer: prints any model as a program that rumur reads, with the same states, the same steps and the
//! same verdicts. Constructs that the language lacks are expanded:
//!
//! * Enumerations and scalarsets whose values are mixed with others (all members of unions) become ranges, and unions
//!   with them ([`kinds`]).
//! * A multiset becomes an array of records that is sorted at the end of every step ([`multisets`]).
//! * A parameter of an array or record type becomes one parameter for each of its cells.
//! * An expression that needs statements (a count over a multiset, a field of a function's result) becomes a generated
//!   function ([`generated`]).
//! * Transient states become ordinary states to which claims do not apply.
//! * Locals without a declared range get the range of the values assigned to them ([`bounds`]), or all 64-bit integers
//!   except the least, which Murphi cannot hold beside "undefined".
//!
//! Names are kept unless Murphi does not allow them ([`names`]). Parsing printed text and printing it again gives the
//! same text, unless a construct above had to be expanded.

mod bounds;
mod expressions;
mod generated;
mod kinds;
mod multisets;
mod names;
mod owner;
mod program;
mod scope;
mod statements;
#[cfg(test)]
mod tests;
mod types;
mod walk;

use crate::expression::{BinaryOperator, Expr, UnaryOperator};
use crate::model::{Function, Model, PropertyKind};
use crate::statement::{ReturnValue, Statement, StatementKind};

/// Options for printing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// The greatest length of the program in bytes. Shared expressions are written out at every use, so a small model
    /// can have a very long text.
    pub max_bytes: usize,
    /// Whether temporal formulas and fairness are printed, which only quotient reads. Otherwise comments tell what is
    /// missing.
    pub extensions: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self { max_bytes: 1 << 28, extensions: false }
    }
}

/// Why a model cannot be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrintError {
    /// Something has no counterpart in Murphi.
    #[error("{place} cannot be written in Murphi: {reason}")]
    Unprintable {
        /// The rule, function, variable, … it is in.
        place: String,
        /// The obstacle.
        reason: String,
    },
    /// The text is too long.
    #[error("the Murphi text is longer than {limit} bytes")]
    TooLong {
        /// The limit that was set.
        limit: usize,
    },
}

/// A model as a Murphi program that rumur accepts.
///
/// # Errors
/// If the model has something that Murphi cannot express, or the text becomes too long.
pub fn print_murphi(model: &Model, options: &PrintOptions) -> Result<String, PrintError> {
    if model.passing().next().is_some() {
        let model = without_passing(model);
        return program::Printer::new(&model, options).print();
    }
    program::Printer::new(model, options).print()
}

/// The same model with transient states as ordinary states to which its claims do not apply: Murphi has no transient
/// states.
fn without_passing(model: &Model) -> Model {
    let mut plain = model.clone();
    let mut passing = Vec::new();
    for property in model.passing().map(|id| &model.properties[id]) {
        let Some(condition) = property.formula.condition() else { continue };
        if property.locals.is_empty() {
            passing.push(condition);
            continue;
        }
        // Its bound variables are its own.
        let (value, span) = (ReturnValue::Value(condition), property.span);
        let function = plain.functions.push(Function {
            name: "passes".into(),
            parameters: Vec::new(),
            locals: property.locals.clone(),
            result: Some(Model::BOOLEAN),
            body: vec![Statement { kind: StatementKind::Return(Some(value)), span }],
            span,
        });
        passing.push(plain.pool.expression(Expr::Call { function, arguments: Vec::new() }));
    }
    for (id, property) in model.properties.iter_enumerated().filter(|(_, property)| property.kind.is_claim()) {
        let Some(mut condition) = property.formula.condition() else { continue };
        for &passes in &passing {
            let (operator, left) = match property.kind {
                PropertyKind::Invariant => (BinaryOperator::Or, passes),
                _ => {
                    let not = Expr::Unary { operator: UnaryOperator::Not, operand: passes };
                    (BinaryOperator::And, plain.pool.expression(not))
                }
            };
            condition = plain.pool.expression(Expr::Binary { operator, left, right: condition });
        }
        plain.properties[id].formula = condition.into();
    }
    plain
}
