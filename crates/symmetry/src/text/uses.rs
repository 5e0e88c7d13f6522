//! How the text uses the values of a role: the derivation of what is claimed about it, counted.

use std::collections::BTreeMap;

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
    /// The uses of each role that has some.
    pub(super) fn by_role(uses: &[(Role, Use)]) -> BTreeMap<Role, Self> {
        let mut of: BTreeMap<Role, Self> = BTreeMap::new();
        for &(role, one) in uses {
            of.entry(role).or_default().0[one as usize] += 1;
        }
        of
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
        let of = Uses::by_role(&uses);
        assert_eq!(of[&Role(1)].counted(), ["2 indices", "1 comparison"]);
        assert_eq!(of[&Role(2)].counted(), ["1 loop"]);
    }
}
