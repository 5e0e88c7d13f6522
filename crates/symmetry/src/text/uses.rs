//! How the text uses the values of a role: the derivation of what is claimed about it, counted.

use super::shapes::Role;

/// One use of values of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A rule, a start or a property has a parameter.
    Parameter,
    /// An array is indexed.
    Index,
    /// Two values are compared for equality.
    Comparison,
    /// A value is assigned, copied, sent or returned.
    Copy,
    /// A value is passed to a function.
    Argument,
    /// A condition is about all or some values.
    Quantifier,
    /// A loop visits values.
    Loop,
}

/// How often values of a role are used, by the kind of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses([usize; 7]);

impl Uses {
    /// The uses of a role among those of all.
    pub(super) fn of(role: Role, uses: &[(Role, Use)]) -> Self {
        let mut counts = [0; 7];
        uses.iter().filter(|(own, _)| *own == role).for_each(|(_, one)| counts[*one as usize] += 1);
        Self(counts)
    }

    /// The kinds of use that occur, with their numbers: `3 parameters`.
    pub fn counted(&self) -> Vec<String> {
        let names = [
            ("parameter", "parameters"),
            ("index", "indices"),
            ("comparison", "comparisons"),
            ("assignment", "assignments"),
            ("argument", "arguments"),
            ("quantifier", "quantifiers"),
            ("loop", "loops"),
        ];
        let counted = self.0.iter().zip(names).filter(|(count, _)| **count > 0);
        counted.map(|(count, (one, many))| format!("{count} {}", if *count == 1 { one } else { many })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_counted_by_kind() {
        let uses = [(Role(1), Use::Index), (Role(2), Use::Loop), (Role(1), Use::Comparison), (Role(1), Use::Index)];
        assert_eq!(Uses::of(Role(1), &uses).counted(), ["2 indices", "1 comparison"]);
        assert_eq!(Uses::of(Role(2), &uses).counted(), ["1 loop"]);
    }
}
