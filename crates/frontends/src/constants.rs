//! The constants of a text that can be set from outside, and what they are for.

use quotient_ir::Source;

use crate::{Language, murphi, promela};

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

/// The numbers of a text that can be set from outside, in the order of the text. Sizes of deferred sets, which a B
/// machine need not mention, are not among them.
pub fn named_numbers(source: &Source, language: Language) -> Vec<NamedNumber> {
    let (numbers, tokens) = match language {
        Language::Murphi => murphi::named_numbers(source),
        Language::Promela => promela::named_numbers(source),
        Language::B | Language::Csp | Language::Dve | Language::Pnml => return Vec::new(),
    };
    let named = |(name, value): (String, i64)| {
        let is_size = is_size(&tokens, &name, 0);
        NamedNumber { name, value, is_size }
    };
    numbers.into_iter().map(named).collect()
}

/// How far constants are followed through others.
const DEEPEST: usize = 16;

/// Whether a name occurs only as a size, as an end of a range, as a modulus, or in such a constant.
fn is_size(tokens: &[&str], name: &str, depth: usize) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str, language: Language) -> Vec<(String, i64, bool)> {
        let numbers = named_numbers(&Source::new("test", text), language);
        numbers.into_iter().map(|it| (it.name, it.value, it.is_size)).collect()
    }

    #[test]
    fn sizes_of_murphi() {
        let text = "const N: 3; L: N - 1; K: 2; B: true;\n\
            type p: 0..L; s: scalarset(N); -- K\n\
            var x: array[p] of 0..N-1; y: p;\n\
            startstate y := 0; end;\n\
            rule y = K ==> y := (y + 1) % N; end;";
        let expected = [("N".to_owned(), 3, true), ("K".to_owned(), 2, false)];
        assert_eq!(sizes(text, Language::Murphi), expected);
    }

    #[test]
    fn a_number_that_decides_is_no_size() {
        let text = "const N: 3; type p: 0..N-1; var y: p; startstate y := 0; end; rule N > 5 ==> y := 1; end;";
        assert_eq!(sizes(text, Language::Murphi), [("N".to_owned(), 3, false)]);
    }

    #[test]
    fn sizes_of_promela() {
        let text = "#define N 4 /* N < 3 */\n#define TEXT hello\n#define K 2\nbyte x[N];\n\
            active [N] proctype p() { x[_pid % N] = 1; do :: x[0] < K od }\n";
        assert_eq!(sizes(text, Language::Promela), [("N".to_owned(), 4, true), ("K".to_owned(), 2, false)]);
    }
}
