//! Well-formedness of models, checked after every lowering. What [`verify`] accepts, the
//! interpreter runs without a panic and every analysis may rely on. It looks at each part of a
//! model once for each place it is used in, without recursion over expressions.
//!
//! # The invariants
//! Types:
//! * The first two types are the booleans and the integers. A type is made of types that stand
//!   before it, and nested at most [`crate::Layout::NESTING_LIMIT`] levels deep.
//! * Every scalar type has a value, and its values are 64-bit integers. A union has as members
//!   enumerations and scalarsets that share no value. An array is indexed by a scalar type other
//!   than the integers.
//! * Neither a variable nor a parameter of a rule, initial-state program or property holds an
//!   unbounded integer; such a parameter holds no multiset either.
//!
//! Expressions and places:
//! * All ids exist, and what something is made of was made before it.
//! * A constant is a value of its type. Conditions are boolean. Arithmetic is on numbers: ranges
//!   and integers. Compared values, the branches of a conditional, a value and where it goes are
//!   of one class: boolean, number, or symbol (enumerations, scalarsets, unions).
//! * The type of a place is the one its path leads to. Only scalar places are read. Contents are
//!   copied, compared and referred to where the layouts are equal, cell by cell; those compared
//!   hold no multiset.
//! * A call has an argument for each parameter: a reference for a reference, a value or copy for
//!   others. A function called for a scalar returns one; one called for a place does not.
//!
//! Owners (rules, initial-state programs, properties, functions) and their locals:
//! * Every local used exists. What a parameter, quantifier, count or loop binds is of the kind
//!   [`crate::LocalKind::Parameter`] and of the type it ranges over; what a statement binds to a place
//!   is a reference. Parameters are distinct.
//! * Steps of parameters of rules, initial-state programs and properties have constant bounds and
//!   lead from one to the other.
//! * A reference is a parameter, or bound by a statement before in the same block or one around it.
//! * Guards and properties have no effects: no function they call, however indirectly, writes to
//!   a variable or to what these give it by reference, or executes an assume or cover statement.
//! * What a function returned, or a choice between places, is never written to.
//! * Return statements carry a result where the function has one, and only there. Cover
//!   statements name a property whose formula is [`crate::Formula::CoverStatement`]; only cover properties
//!   have that formula.
//! * The parameter that names the process of a rule exists and is scalar, and so are those before it.
//! * What tells which states are passed through has no parameters.
//! * A variable that always has a value is not undefined.
//! * Statements are nested at most [`STATEMENT_NESTING_LIMIT`] levels deep.

mod effects;
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
/// Every problem found, in terms of the representation. Problems that would make others hard to
/// tell (in types, or with ids that do not exist) are reported alone.
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
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[cfg(test)]
mod tests;
