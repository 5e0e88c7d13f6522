//! Names and their meanings, scope by scope. The innermost declaration of a name applies, whatever it declares.

use quotient_ir::{FunctionId, Span, TypeId};
use rustc_hash::FxHashMap;

use super::operands::Operand;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// A constant, variable, parameter or alias.
    Operand {
        operand: Operand,
        /// Its kind, for messages.
        noun: &'static str,
        /// The size of the expression it denotes.
        size: Size,
    },
    /// A type; `None` after an error.
    Type(Option<TypeId>),
    Function(FunctionId),
    /// Something with an invalid declaration.
    Unknown,
}

/// The size of an expression after aliases are substituted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// How deep it is.
    pub(super) height: u32,
    /// How many parts it has.
    pub(super) weight: u32,
}

impl Meaning {
    /// A constant, variable or parameter, with what to call it in messages.
    pub(super) fn named(operand: Operand, noun: &'static str) -> Self {
        Self::Operand { operand, noun, size: Size::default() }
    }

    /// Whether two meanings can be used in the same way.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Operand { operand, .. }, Self::Operand { operand: other, .. }) => operand.ty == other.ty,
            (Self::Type(one), Self::Type(other)) => one == other,
            _ => false,
        }
    }

    /// Its kind, for messages.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Operand { noun, .. } => noun,
            Self::Type(_) => "type",
            Self::Function(_) => "function",
            Self::Unknown => "name",
        }
    }
}

/// A declared name.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) meaning: Meaning,
    pub(super) span: Span,
}

/// The scopes that are open, innermost last.
#[derive(Debug)]
pub(super) struct Scopes {
    open: Vec<FxHashMap<String, Symbol>>,
}

/// The name under which a spelling is known: `true` and `false` are written in any case.
fn key(text: &str) -> &str {
    ["true", "false"].into_iter().find(|it| it.eq_ignore_ascii_case(text)).unwrap_or(text)
}

impl Scopes {
    /// Only the outermost scope.
    pub(super) fn new() -> Self {
        Self { open: vec![FxHashMap::default()] }
    }

    pub(super) fn enter(&mut self) {
        self.open.push(FxHashMap::default());
    }

    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    /// Declares a name of the language itself.
    pub(super) fn declare_built_in(&mut self, text: &str, meaning: Meaning) {
        self.open[0].insert(text.into(), Symbol { meaning, span: Span::default() });
    }

    /// Declares a name in the innermost scope.
    ///
    /// # Errors
    /// Where the name is already declared in this scope, if at another position.
    pub(super) fn declare(&mut self, text: &str, span: Span, meaning: Meaning) -> Result<(), Span> {
        let scope = self.open.last_mut().expect("the outermost scope is never left");
        match scope.get_mut(key(text)) {
            Some(earlier) if earlier.span != span => {
                // Which of the two is meant later is unknown.
                if !earlier.meaning.is_like(&meaning) {
                    earlier.meaning = Meaning::Unknown;
                }
                Err(earlier.span)
            }
            _ => {
                scope.insert(key(text).into(), Symbol { meaning, span });
                Ok(())
            }
        }
    }

    /// What a name means here.
    pub(super) fn find(&self, text: &str) -> Option<&Symbol> {
        self.open.iter().rev().find_map(|scope| scope.get(key(text)))
    }

    /// All visible names for which `wanted` holds.
    pub(super) fn names(&self, wanted: impl Fn(&Meaning) -> bool) -> impl Iterator<Item = &str> {
        let symbols = self.open.iter().flat_map(|scope| scope.iter());
        symbols.filter(move |(_, symbol)| wanted(&symbol.meaning)).map(|(name, _)| name.as_str())
    }
}

/// The candidate nearest to a misspelt name, if one is near enough.
pub(super) fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // Longer names are unlikely to be mistyped, and comparing them takes long.
    const LONGEST: usize = 100;
    if name.len() > LONGEST {
        return None;
    }
    let most = (name.chars().count() / 3).max(1);
    let distance = |candidate: &str| {
        // A name in the wrong case is the likeliest mistake.
        if candidate.eq_ignore_ascii_case(name) { 0 } else { strsim::damerau_levenshtein(name, candidate) }
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= most)
        .map(|candidate| (distance(candidate), candidate))
        .filter(|&(distance, candidate)| distance <= most && distance < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("cuont", ["count", "mount"]), Some("count"));
        assert_eq!(nearest("Count", ["count", "court"]), Some("count"));
        assert_eq!(nearest("x", ["y", "longer"]), None);
        assert_eq!(nearest("xy", ["xz"]), Some("xz"));
        assert_eq!(nearest("completely", ["different"]), None);
        assert_eq!(nearest(&"a".repeat(1000), [&*"a".repeat(999)]), None);
    }
}
