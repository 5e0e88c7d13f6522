//! The methods that find representatives, and the limits of each.

use std::fmt;

use quotient_ir::Spent;

/// How representatives are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One representative for each orbit, by a method that suits the structure of the group.
    Canonical,
    /// Interchangeable parts are sorted by their own contents, as far as these refer to none of them (SymmSpin's
    /// `sorted`; Bosnacki, Dams and Holenderski 2002). An orbit may have several representatives.
    Sorted,
    /// Sorting, and then the least over the permutations of parts that compare equal (SymmSpin's `segmented`).
    Segmented,
    /// Generators are applied as long as one of them yields a smaller state (Donaldson and Miller 2006). An orbit may
    /// have several representatives.
    LocalSearch,
    /// All states of the orbit are enumerated (ProB's permutation flooding).
    Flooding,
    /// The first state with the same marker (see [`quotient_symmetry::Marking`]); approximate if markers collide. Not a method of a
    /// canonicalizer: states are stored as they were reached.
    Markers,
    /// The same with markers that also include the neighbours of an element, up to some distance.
    MarkersTrees,
    /// The first state of the orbit, searched among those with the same marker; exact. Not a method of a canonicalizer,
    /// either.
    MarkersCanonical,
}

/// Why a method does not support a group.
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
    /// The allowed work was not enough to prepare it.
    #[error(transparent)]
    GaveUp(#[from] Spent),
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
    /// The methods of canonicalizers, which compute the representative of a state without other states.
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
