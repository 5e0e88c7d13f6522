//! From the syntax tree of a Murphi model to the intermediate representation.

use quotient_ir::{Diagnostic, Model, Source};

use super::syntax::tree::Tree;
use crate::LoadOptions;

/// Lowers a tree: the model if it is right, and every error and warning about names, types and
/// values.
pub(crate) fn lower(_source: &Source, _tree: &Tree, _options: &LoadOptions) -> (Option<Model>, Vec<Diagnostic>) {
    (None, Vec::new())
}
