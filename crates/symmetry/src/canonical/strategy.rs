//! The methods that find representatives, and what is beyond each.

use std::fmt;

/// How representatives are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One representative for each orbit, by whatever suits the structure of the group.
    Canonical,
    /// Interchangeable parts are sorted by what is theirs and mentions none of them (SymmSpin's
    /// `sorted`; Bosnacki, Dams and Holenderski 2002). An orbit may have several representatives.
    Sorted,
    /// Sorting, and then the least over the permutations of parts that sorting could not tell apart
    /// (SymmSpin's `segmented`).
    Segmented,
    /// Generators are applied for as long as one makes the state less (Donaldson and Miller 2006).
    /// An orbit may have several representatives.
    LocalSearch,
    /// All states of the orbit are enumerated (ProB's permutation flooding).
    Flooding,
    /// The first state with the same marker (see [`crate::Marking`]); approximate where markers collide.
    /// No method of a canonicalizer: states stay as they were reached.
    Markers,
    /// The same with markers that also tell what stands beside an element, some steps far.
    MarkersTrees,
    /// The first state of the orbit, which is looked for among those with the same marker; exact.
    /// No method of a canonicalizer, either.
    MarkersCanonical,
}

/// Why a method does not work for a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// The method has nothing to work on.
    #[error("`{strategy}` does not apply to this group: {reason}")]
    NotApplicable {
        /// The method.
        strategy: Strategy,
        /// What is missing.
        reason: String,
    },
}

impl Strategy {
    /// All methods.
    pub const ALL: [Strategy; 8] = [
        Strategy::Canonical,
        Strategy::Sorted,
        Strategy::Segmented,
        Strategy::LocalSearch,
        Strategy::Flooding,
        Strategy::Markers,
        Strategy::MarkersTrees,
        Strategy::MarkersCanonical,
    ];
    /// Those of canonicalizers, which give each state a representative by itself.
    pub const OF_CANONICALIZERS: [Strategy; 5] =
        [Strategy::Canonical, Strategy::Sorted, Strategy::Segmented, Strategy::LocalSearch, Strategy::Flooding];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Canonical => "canonical",
            Strategy::Sorted => "sorted",
            Strategy::Segmented => "segmented",
            Strategy::LocalSearch => "local-search",
            Strategy::Flooding => "flooding",
            Strategy::Markers => "markers",
            Strategy::MarkersTrees => "markers-trees",
            Strategy::MarkersCanonical => "markers-canonical",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
