//! The doors of searches for sets of states.

use quotient_graphs::TemporalReport;
use quotient_ir::PropertyId;
use quotient_search::need::EngineKind;
use quotient_search::{Engine, Job, Observer, Pace};
use quotient_symmetry::CertifiedGroup;

use crate::{
    SymbolicError, SymbolicReport, SymbolicSymmetry, Way, check_symbolic, check_symbolic_tree, count_by_saturation,
};

/// Searches sets of states.
#[derive(Clone, Copy, Debug)]
pub struct Sets;

/// Decides a formula of CTL on sets of states.
#[derive(Clone, Copy, Debug)]
pub struct SetsOfTrees;

/// Counts all states as one set.
#[derive(Clone, Copy, Debug)]
pub struct Saturation;

/// The symmetries that sets are reduced by.
#[derive(Clone, Debug)]
pub struct OwnSymmetry {
    /// The group, which must preserve what is checked.
    pub group: CertifiedGroup,
    /// How it is used, if that was asked for.
    pub way: Option<Way>,
}

impl OwnSymmetry {
    fn borrowed(&self) -> SymbolicSymmetry<'_> {
        SymbolicSymmetry { group: &self.group, way: self.way }
    }
}

impl Engine for Sets {
    type Question = Option<OwnSymmetry>;
    type Answer = Result<SymbolicReport, SymbolicError>;

    fn kind(self) -> EngineKind {
        EngineKind::Sets
    }

    fn answer(self, job: &Job<Self::Question>, _: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer {
        let symmetry = job.question.as_ref().map(OwnSymmetry::borrowed);
        check_symbolic(&job.model, &job.layout, symmetry, &job.options, observer)
    }
}

impl Engine for SetsOfTrees {
    type Question = (PropertyId, Option<OwnSymmetry>);
    type Answer = Result<TemporalReport, SymbolicError>;

    fn kind(self) -> EngineKind {
        EngineKind::Sets
    }

    fn answer(self, job: &Job<Self::Question>, _: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer {
        let (property, symmetry) = &job.question;
        let symmetry = symmetry.as_ref().map(OwnSymmetry::borrowed);
        check_symbolic_tree(&job.model, &job.layout, *property, symmetry, &job.options, observer)
    }
}

impl Engine for Saturation {
    type Question = ();
    type Answer = Result<Option<SymbolicReport>, SymbolicError>;

    fn kind(self) -> EngineKind {
        EngineKind::Sets
    }

    fn answer(self, job: &Job<Self::Question>, pace: &Pace<Self::Answer>, _: &mut dyn Observer) -> Self::Answer {
        count_by_saturation(&job.model, &job.layout, &job.options, pace.budget())
    }
}
