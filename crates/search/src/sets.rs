//! The plain data of searches over sets of states: how they use symmetries, and what they report. The engine itself, which a
//! build can leave out, is the crate `quotient-sets`.

use num_bigint::BigUint;

use crate::report::Report;

/// How a symbolic search uses symmetries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// The relation of states in the same orbit is built, and gives each state its least one.
    OrbitRelation,
    /// Some permutations are tried on each state, and those that are least among these images stay
    /// (Clarke, Enders, Filkorn, Jha 1996).
    MultipleRepresentatives,
    /// Whatever is reached first in an orbit represents it (Barner, Grumberg 2002).
    OnTheFly,
    /// The same, but of new states with a larger diagram than so many nodes only a part is followed. What was not
    /// followed may remain unknown: then only violations are found (Barner, Grumberg 2002, under-approximation).
    SomeRepresentatives {
        /// The most nodes of the diagram of new states.
        nodes: u32,
    },
    /// Sets are sorted: a permutation is applied to the states that it makes less, until there are none
    /// (Emerson, Wahl 2005).
    Dynamic,
}

impl Way {
    /// The most nodes of new states when some representatives are followed, if nothing else is asked for.
    pub const USUAL_NODES: u32 = 1_000;

    /// Those that leave nothing out.
    pub const ALL: [Self; 4] = [Self::OrbitRelation, Self::MultipleRepresentatives, Self::OnTheFly, Self::Dynamic];

    /// Whether it may keep several states of an orbit.
    pub fn keeps_several(self) -> bool {
        matches!(self, Self::MultipleRepresentatives | Self::OnTheFly | Self::SomeRepresentatives { .. })
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OrbitRelation => "orbit-relation",
            Self::MultipleRepresentatives => "multiple-representatives",
            Self::OnTheFly => "on-the-fly",
            Self::SomeRepresentatives { .. } => "some-representatives",
            Self::Dynamic => "dynamic",
        }
    }
}

/// The result of a symbolic search.
#[derive(Clone, Debug)]
pub struct SymbolicReport {
    /// The verdicts and runs. Its figures are exact unless they do not fit.
    pub report: Report,
    /// The sets of states.
    pub sets: SetsReport,
}

/// What a symbolic search computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetsReport {
    /// The states in the set: all of them, or representatives of orbits.
    pub states: BigUint,
    /// The orbits they represent, if they could be counted.
    pub orbits: Option<BigUint>,
    /// How often rules can fire in these states.
    pub transitions: BigUint,
    /// The greatest value of a variable, and the greatest sum of all, in a model that counts tokens. None if they are not
    /// known.
    pub greatest: Option<(u64, u64)>,
    /// The nodes of the diagram of the set.
    pub nodes: usize,
    /// The greatest number of nodes at a time.
    pub peak_nodes: usize,
    /// The number of images of sets.
    pub images: u64,
    /// The bits of a state.
    pub bits: u32,
    /// Why bits are in their order.
    pub order: &'static str,
    /// How symmetries were used.
    pub way: Option<Way>,
}

impl SetsReport {
    /// Whether each orbit is counted once.
    pub fn is_exact(&self) -> bool {
        self.orbits.is_some() || !self.way.is_some_and(Way::keeps_several)
    }

    /// How symmetries were used, in words.
    pub fn method(&self) -> &'static str {
        match self.way {
            None => "there are too many for sets, or they are not alike in all values",
            Some(Way::OrbitRelation) => "the least state of each orbit, by the relation of its states",
            Some(Way::MultipleRepresentatives) => "images under some permutations that none of them makes less",
            Some(Way::OnTheFly) => "what is found first in an orbit",
            Some(Way::SomeRepresentatives { .. }) => "some of what is found first in an orbit",
            Some(Way::Dynamic) => "sets are sorted by permutations that make states less",
        }
    }
}
