//! Well-formedness of models, checked after every lowering. The interpreter runs whatever [`verify`] accepts without a
//! panic, and every analysis may rely on it. It visits each part of a model once for each use, without recursion over
//! expressions.
//!
//! # The invariants
//! Types:
//! * The first two types are the booleans and the integers. A type is composed of earlier types, and nested at most
//!   [`crate::Layout::NESTING_LIMIT`] levels deep.
//! * Every scalar type has a value, and its values are 64-bit integers. The members of a union are enumerations and
//!   scalarsets that share no value. An array is indexed by a scalar type other than the integers.
//! * A type of amounts is a range without negative values.
//! * Neither a variable nor a parameter of a rule, initial-state program or property holds an unbounded integer; such a
//!   parameter holds no multiset either.
//!
//! Expressions and places:
//! * All ids exist, and parts come before what they are part of.
//! * A constant is a value of its type. Conditions are boolean. Arithmetic is on numbers: ranges and integers. Compared
//!   values, the branches of a conditional, and a value and its target are of one class: boolean, number, or symbol
//!   (enumerations, scalarsets, unions).
//! * The type of a place is the one its path leads to. Only scalar places are read. Contents are copied, compared and
//!   referred to only if the layouts are equal, cell by cell; compared contents have no multiset.
//! * A call has an argument for each parameter: a reference for a reference, a value or copy for
//!   others. A function called for a scalar returns one; one called for a place does not.
//!
//! Owners (rules, initial-state programs, properties, functions) and their locals:
//! * Every local used exists. What a parameter, quantifier, count or loop binds is of the kind
//!   [`crate::LocalKind::Parameter`] and of the type it ranges over; what a statement binds to a place is a reference.
//!   Parameters are distinct.
//! * Steps of parameters of rules, initial-state programs and properties have constant bounds and lead from one to the
//!   other.
//! * A reference is a parameter, or bound by an earlier statement in the same block or an enclosing one.
//! * Guards and properties have no effects: no function they call, directly or indirectly, writes to a variable or to
//!   what they pass by reference, or executes an assume or cover statement.
//! * The result of a function, or a choice between places, is never written.
//! * Return statements have a result if and only if the function has one. Cover statements name a property whose
//!   formula is [`crate::Formula::CoverStatement`]; only cover properties have that formula.
//! * The parameter that names the process of a rule exists and is scalar, and so are those before it.
//! * The properties that define transient states have no parameters.
//! * A variable that always has a value is never undefined.
//! * Statements are nested at most [`STATEMENT_NESTING_LIMIT`] levels deep.
//!
//! A description as a net:
//! * Its cells are the scalars of its places. All it names exists, and numbers of tokens and weights are positive. A firing
//!   has an argument for each parameter. Goals are those of invariants and cover properties.

mod effects;
mod net;
mod owner;
mod pool;
mod types;

pub(crate) use self::pool::{Class, class_of};
use crate::model::Model;

/// The deepest nesting of statements.
pub(crate) const STATEMENT_NESTING_LIMIT: usize = 1000;

/// Checks the invariants that the documentation of this module lists.
///
/// # Errors
/// Every problem found, in terms of the representation. Problems that would obscure others (in types, or with ids that
/// do not exist) are reported alone.
pub fn verify(model: &Model) -> Result<(), Vec<String>> {
    let mut problems = Vec::new();
    types::check(model, &mut problems);
    if problems.is_empty() {
        pool::check_structure(model, &mut problems);
    }
    if problems.is_empty() {
        let shapes = types::Shapes::new(model);
        let classes = pool::classes(model);
        owner::check(model, &shapes, &classes, &mut problems);
        net::check(model, &mut problems);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[cfg(test)]
mod tests;
