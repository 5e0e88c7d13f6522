//! What the readers share: a position in a text, and conditions on letters as unions of cubes.

use super::FormatError;
use quotient_temporal::automaton::Cube;
use quotient_temporal::reduce::joined;

/// The most cubes of a label, and how deeply labels may be nested.
pub(super) const LIMIT: usize = 512;
pub(super) const DEPTH_LIMIT: usize = 256;

pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
    pub(super) fn error<Value>(&self, message: impl Into<String>) -> Result<Value, FormatError> {
        self.error_at(self.at, message)
    }
    pub(super) fn error_at<Value>(&self, offset: usize, message: impl Into<String>) -> Result<Value, FormatError> {
        let line =
            self.text.as_bytes()[..offset.min(self.text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
        Err(FormatError { message: message.into(), offset, line })
    }
    /// Skips white space and comments `/* … */`, which may contain others.
    pub(super) fn skip_space(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            if !self.text[self.at..].starts_with("/*") {
                return;
            }
            let (mut depth, bytes) = (0, self.text.as_bytes());
            while self.at < bytes.len() {
                match &bytes[self.at..(self.at + 2).min(bytes.len())] {
                    b"/*" => {
                        depth += 1;
                        self.at += 2;
                    }
                    b"*/" => {
                        depth -= 1;
                        self.at += 2;
                        if depth == 0 {
                            break;
                        }
                    }
                    _ => self.at += 1,
                }
            }
        }
    }
    /// The text from here on, after white space and comments.
    pub(super) fn rest(&mut self) -> &'a str {
        self.skip_space();
        &self.text[self.at..]
    }
    /// Takes a symbol if it is here.
    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }
    pub(super) fn expect(&mut self, symbol: &str) -> Result<(), FormatError> {
        if self.take(symbol) { Ok(()) } else { self.error(format!("expected `{symbol}`")) }
    }
    /// Takes the characters that satisfy a condition.
    pub(super) fn take_while(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !holds(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }
    pub(super) fn number(&mut self) -> Result<usize, FormatError> {
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) if digits.is_empty() => self.error("expected a number"),
            Err(_) => self.error_at(start, "the number is too large"),
        }
    }
}

/// A condition on letters: a union of cubes.
pub(super) type Condition = Vec<Cube>;

pub(super) fn and(a: &[Cube], b: &[Cube]) -> Option<Condition> {
    if a.len().saturating_mul(b.len()) > LIMIT {
        return None;
    }
    Some(joined(a.iter().flat_map(|x| b.iter().filter_map(|y| x.and(*y))).collect()))
}

pub(super) fn or(a: &[Cube], b: &[Cube]) -> Condition {
    joined(a.iter().chain(b).copied().collect())
}

pub(super) fn not(a: &[Cube]) -> Option<Condition> {
    let mut result = vec![Cube::TRUE];
    for cube in a {
        let mut opposite = Vec::new();
        for bit in (0..64).map(|shift| 1_u64 << shift) {
            if cube.positive & bit != 0 {
                opposite.push(Cube { positive: 0, negative: bit });
            }
            if cube.negative & bit != 0 {
                opposite.push(Cube { positive: bit, negative: 0 });
            }
        }
        result = and(&result, &opposite)?;
    }
    Some(result)
}

pub(super) fn literal(bit: usize) -> Condition {
    vec![Cube { positive: 1 << bit, negative: 0 }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_temporal::random::Random;

    #[test]
    fn conditions_are_boolean_functions() {
        let mut random = Random::new(61);
        for _ in 0..500 {
            let [a, b] = [(); 2].map(|()| {
                (0..random.below(4))
                    .map(|_| {
                        let positive = random.number() & random.number() & 7;
                        Cube { positive, negative: random.number() & random.number() & 7 & !positive }
                    })
                    .collect::<Condition>()
            });
            for letter in 0..8 {
                let holds = |cubes: &[Cube]| cubes.iter().any(|cube| cube.contains(letter));
                assert_eq!(holds(&and(&a, &b).expect("few cubes")), holds(&a) && holds(&b));
                assert_eq!(holds(&or(&a, &b)), holds(&a) || holds(&b));
                assert_eq!(holds(&not(&a).expect("few cubes")), !holds(&a));
            }
        }
    }

    #[test]
    fn comments_may_be_nested() {
        let mut scanner = Scanner::new(" /* a /* b */ c */ x");
        assert_eq!(scanner.rest(), "x");
        assert_eq!(Scanner::new("/* open").rest(), "");
    }
}
