//! Promela texts lowered with all orders of steps, or with merged ones, whatever is asked of the model.

use quotient::Model;
use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::Source;

/// The model of a text. The facade takes it as it is, since it does not know the text.
///
/// # Errors
/// If the text is not a model.
pub fn lowered(text: &str, merges_orders: bool) -> Result<Model, String> {
    let options = LoadOptions { watch_claims: true, merges_orders, ..LoadOptions::default() };
    let loaded = load(Source::new("random.pml", text), Language::Promela, &options);
    let loaded = loaded.map_err(|diagnostics| format!("{diagnostics:?}"))?;
    Model::new(loaded.model).map_err(|error| error.to_string())
}
