//! Numbers in variables of the environment, which make tests try more than usual.

/// The number in a variable, or `usual` if there is none.
///
/// # Panics
/// If the variable holds something else.
pub fn number_from(variable: &str, usual: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not `{text}`")),
        Err(_) => usual,
    }
}
