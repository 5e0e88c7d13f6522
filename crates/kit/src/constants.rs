//! The constants of a text that can be set from outside, and what they are for.

/// A number that a text names and that can be set from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedNumber {
    /// The name.
    pub name: String,
    /// The value in the text.
    pub value: i64,
    /// Whether it is nothing but the size of types and arrays, an end of ranges and a modulus: it decides nothing else.
    pub is_size: bool,
}

/// How far constants are followed through others.
const DEEPEST: usize = 16;

/// Whether a name occurs only as a size, as an end of a range, as a modulus, or in such a constant.
pub(crate) fn is_size(tokens: &[&str], name: &str, depth: usize) -> bool {
    let at = |position: Option<usize>| position.and_then(|position| tokens.get(position)).copied().unwrap_or("");
    let is_summand =
        |token: &str| token == name || token == "+" || token == "-" || token.bytes().all(|byte| byte.is_ascii_digit());
    let occurrences = tokens.iter().enumerate().filter(|(_, token)| **token == name).map(|(position, _)| position);
    let mut occurrences = occurrences;
    occurrences.all(|position| {
        let first = (0..position).rev().take_while(|&before| is_summand(tokens[before])).last().unwrap_or(position);
        let last = (position..tokens.len()).take_while(|&after| is_summand(tokens[after])).last().unwrap_or(position);
        let before = at(first.checked_sub(1));
        let two_before = at(first.checked_sub(2));
        let after = at(Some(last + 1));
        let is_declared = at(Some(position + 1)) == ":" || at(position.checked_sub(1)) == "define";
        let is_end = before == ".." || after == "..";
        let is_length = before == "[" && after == "]";
        let is_modulus = before == "%" && first == last;
        let is_scalarset = before == "(" && two_before.eq_ignore_ascii_case("scalarset");
        let constant = match (before, two_before) {
            (":", constant) if after == ";" => Some(constant),
            (constant, "define") => Some(constant),
            _ => None,
        };
        let is_inside = constant.is_some_and(|constant| depth < DEEPEST && is_size(tokens, constant, depth + 1));
        is_declared || is_end || is_length || is_modulus || is_scalarset || is_inside
    })
}
