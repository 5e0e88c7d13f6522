//! The symmetries of a model, for people and for programs.

pub(crate) mod human;
pub(crate) mod json;

use std::time::Duration;

use num_bigint::BigUint;
use quotient_ir::{Model, PropertyId, Span, VariableId};
use quotient_symmetry::{CertificationReport, Description, Family, Fixed, Moved, Reason, Refused};

use crate::arguments::SymmetryName;

/// What detection found.
pub(crate) struct Findings<'m> {
    /// The model.
    pub(crate) model: &'m Model,
    /// Which symmetries were looked for.
    pub(crate) source: SymmetryName,
    /// The properties that they preserve.
    pub(crate) properties: Vec<PropertyId>,
    /// How many there are.
    pub(crate) order: BigUint,
    /// What group they are.
    pub(crate) structure: String,
    /// Whether they are all that the graph has.
    pub(crate) complete: bool,
    /// Symmetries that generate all others.
    pub(crate) generators: Vec<Description>,
    /// How they were certified.
    pub(crate) certification: Option<CertificationReport>,
    /// What they move.
    pub(crate) moved: Moved,
    /// What was treated as fixed, and why.
    pub(crate) fixed: Vec<Fixed>,
    /// Variables whose values are tied to their numbers.
    pub(crate) numbers: Vec<VariableId>,
    /// Vertices and edges of the graph.
    pub(crate) graph: Option<(usize, usize)>,
    /// Declarations that do not hold.
    pub(crate) refused: Vec<Refused>,
    /// What was asked besides.
    pub(crate) answer: Option<Answer>,
    /// How long each phase took.
    pub(crate) phases: Phases,
    /// How long everything took.
    pub(crate) elapsed: Duration,
    /// The most memory the program took, if the system tells.
    pub(crate) peak_memory: Option<u64>,
}

/// The answer to `--why-not`.
pub(crate) enum Answer {
    /// About one permutation; no reasons if it is a symmetry.
    Request {
        /// The request as it was written.
        text: String,
        /// What breaks it.
        reasons: Vec<Reason>,
    },
    /// About the values of all index types.
    Families(Vec<Family>),
}

/// How long each phase took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Phases {
    /// Text to functions.
    pub(crate) unfolding: Duration,
    /// Functions to graph.
    pub(crate) graph: Duration,
    /// Graph to automorphisms.
    pub(crate) automorphisms: Duration,
    /// Certification of what was found.
    pub(crate) certification: Duration,
    /// Order and structure of the group.
    pub(crate) structure: Duration,
}

impl<'m> Findings<'m> {
    /// No symmetry but the identity.
    pub(crate) fn none(model: &'m Model, source: SymmetryName) -> Self {
        Self {
            model,
            source,
            properties: Vec::new(),
            order: BigUint::from(1u32),
            structure: "trivial".to_owned(),
            complete: true,
            generators: Vec::new(),
            certification: None,
            moved: Moved::default(),
            fixed: Vec::new(),
            numbers: Vec::new(),
            graph: None,
            refused: Vec::new(),
            answer: None,
            phases: Phases::default(),
            elapsed: Duration::ZERO,
            peak_memory: None,
        }
    }

    /// Where a reason stands, if it is about a place at all.
    fn place(span: Span) -> Option<Span> {
        (span != Span::default()).then_some(span)
    }
}

impl Phases {
    /// Their names and durations, in order.
    fn named(&self) -> [(&'static str, Duration); 5] {
        [
            ("unfolding", self.unfolding),
            ("graph", self.graph),
            ("automorphisms", self.automorphisms),
            ("certification", self.certification),
            ("structure", self.structure),
        ]
    }
}
