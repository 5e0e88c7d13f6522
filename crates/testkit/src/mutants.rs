//! Texts with one occurrence changed: a number, an operator, a quantifier, one name for another. Many of them are no
//! models; the others are nearly the model they come from.

use crate::random_murphi::Random;

/// Operators, with what they become.
const OPERATORS: [(&str, &str); 14] = [
    (" == ", " != "),
    (" != ", " == "),
    (" = ", " != "),
    (" & ", " | "),
    (" | ", " & "),
    (" && ", " || "),
    (" || ", " && "),
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" + ", " - "),
    (" - ", " + "),
    (" -> ", " & "),
];

/// The text of a seed with one change after `from`.
pub fn mutant(text: &str, from: usize, seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x004d_7574);
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let mut at = from;
    while at < bytes.len() {
        // Comments say what is expected, which is not looked at here.
        let line_ends = text[at..].find('\n').map_or(bytes.len(), |end| at + end + 1);
        if text[at..].starts_with("--") || text[at..].starts_with("//") {
            at = line_ends;
            continue;
        }
        if is_word(bytes[at]) {
            let length = text[at..].bytes().take_while(|&byte| is_word(byte)).count();
            let word = &text[at..at + length];
            match word {
                "forall" => changes.push((at, length, "exists".to_owned())),
                "exists" => changes.push((at, length, "forall".to_owned())),
                "true" => changes.push((at, length, "false".to_owned())),
                "false" => changes.push((at, length, "true".to_owned())),
                _ => match word.parse::<i64>() {
                    Ok(number) => {
                        changes.push((at, length, (number + 1).to_string()));
                        changes.push((at, length, (number - 1).max(0).to_string()));
                    }
                    // Names of one letter are mostly parameters and bound variables.
                    Err(_) if length == 1 => {
                        changes.push((at, length, random.below(3).to_string()));
                        changes.extend(names.last().map(|name| (at, length, (*name).to_owned())));
                        if names.last() != Some(&word) {
                            names.push(word);
                        }
                    }
                    Err(_) => {}
                },
            }
            at += length;
            continue;
        }
        if text.is_char_boundary(at) {
            let found = OPERATORS.iter().find(|(operator, _)| text[at..].starts_with(operator));
            changes.extend(found.map(|(operator, other)| (at, operator.len(), (*other).to_owned())));
        }
        at += 1;
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    if changes.is_empty() {
        return text.to_owned();
    }
    let (at, length, replacement) = random.pick(&changes).clone();
    format!("{}{replacement}{}", &text[..at], &text[at + length..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_change_at_a_time() {
        let text = "-- 3\nrule a[p] = 1 & b ==> a[q] := 2;";
        let mutants: Vec<String> = (0..50).map(|seed| mutant(text, 0, seed)).collect();
        assert!(mutants.iter().all(|mutant| mutant.starts_with("-- 3\nrule") && mutant != text), "{mutants:?}");
        assert!(mutants.iter().any(|mutant| mutant.contains(" | ")), "{mutants:?}");
    }
}
