//! The methods by which a solver checks a model. The engine itself, which a build can leave out, is the crate
//! `quotient-proofs`.

/// How a solver proves and refutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SolverMethod {
    /// IC3; a run that it finds is replaced by a shortest one, as far as time allows.
    #[default]
    Ic3,
    /// Bounded checking: refutes, and proves only if all runs end.
    Bounded,
    /// Induction over simple paths.
    Induction,
}

impl SolverMethod {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ic3, Self::Bounded, Self::Induction];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ic3 => "ic3",
            Self::Bounded => "bounded",
            Self::Induction => "induction",
        }
    }
}
