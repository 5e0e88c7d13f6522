//! The doors of claims about every size. Each search has the members that it needs in its question; the model of its job is
//! one of those that it is about. They charge a unit for each state or view that they look at.

use std::sync::Arc;

use quotient_ir::{Layout, Model};
use quotient_search::need::EngineKind;
use quotient_search::{Engine, Job, Observer, Pace, SearchOptions};

use super::backward::{BackwardLimits, BackwardOutcome, backward};
use super::family::Member;
use super::recheck::{Compared, Unchecked, compare, compare_smaller, recheck};
use super::scope::{Scope, Selection};
use super::views::{Invariant, ViewsOutcome, by_views, contents_of_one};

/// Searches for a set of views of states that no step leaves.
#[derive(Clone, Copy, Debug)]
pub struct Views;

/// Which views are searched for. There must be members of all [`Scope::sizes`].
#[derive(Clone, Debug)]
pub struct ViewsQuestion {
    /// The members.
    pub selection: Selection,
    /// How many other objects of each open type a view has.
    pub kept: usize,
    /// The most views.
    pub most: usize,
}

/// Searches backward from what is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Backward;

/// Where a search backward is to go. There must be members of all [`Scope::sizes`] for views of one other object.
#[derive(Clone, Debug)]
pub struct BackwardQuestion {
    /// The members.
    pub selection: Selection,
    /// How far.
    pub limits: BackwardLimits,
}

/// Counts what a single object can hold in members with at least [`Scope::least`] objects for views of one: at most so many
/// contents. None if it was interrupted, or there were too many views.
#[derive(Clone, Copy, Debug)]
pub struct Contents;

/// Whose contents are counted. There must be members of all [`Scope::sizes`] for views of one.
#[derive(Clone, Debug)]
pub struct ContentsQuestion {
    /// The members.
    pub selection: Selection,
    /// The most views.
    pub most: usize,
}

/// Checks an invariant again, and counts the states that it looked at.
#[derive(Clone, Copy, Debug)]
pub struct Recheck;

/// What is checked again. There must be members of all [`Scope::sizes`] up to [`Invariant::width`].
#[derive(Clone, Debug)]
pub struct RecheckQuestion {
    /// The members.
    pub selection: Selection,
    /// The invariant that was found.
    pub invariant: Arc<Invariant>,
}

/// Visits all states of one member, and looks them up in an invariant. None if they are too many, or something occurs in a
/// smaller member that does not belong to the invariant.
#[derive(Clone, Copy, Debug)]
pub struct Comparison;

/// What is looked up. The model of the job is that of the member.
#[derive(Clone, Debug)]
pub struct ComparisonQuestion {
    /// The member.
    pub member: Arc<Member>,
    /// The members that the invariant is about.
    pub scope: Arc<Scope>,
    /// The invariant.
    pub invariant: Arc<Invariant>,
    /// Why it is compared.
    pub relation: Relation,
    /// The most states.
    pub most: usize,
}

/// How a member is related to an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The invariant is about it, so what contradicts the invariant is a defect.
    Covered,
    /// It is smaller than those that the invariant is about.
    Smaller,
}

/// What a search of some members works on.
pub(super) fn job<Q>(model: &Arc<Model>, layout: &Arc<Layout>, question: Q) -> Job<Q> {
    Job { model: Arc::clone(model), layout: Arc::clone(layout), options: SearchOptions::default(), question }
}

impl ComparisonQuestion {
    /// The job with this question.
    pub fn job(self) -> Job<Self> {
        let member = Arc::clone(&self.member);
        job(&member.model, &member.layout, self)
    }
}

impl Engine for Views {
    type Question = ViewsQuestion;
    type Answer = ViewsOutcome;

    fn kind(self) -> EngineKind {
        EngineKind::Every
    }

    fn answer(self, job: &Job<Self::Question>, pace: &Pace<Self::Answer>, _: &mut dyn Observer) -> Self::Answer {
        let ViewsQuestion { selection, kept, most } = &job.question;
        by_views(selection, *kept, *most, pace.budget())
    }
}

impl Engine for Backward {
    type Question = BackwardQuestion;
    type Answer = BackwardOutcome;

    fn kind(self) -> EngineKind {
        EngineKind::Every
    }

    fn answer(self, job: &Job<Self::Question>, pace: &Pace<Self::Answer>, _: &mut dyn Observer) -> Self::Answer {
        let BackwardQuestion { selection, limits } = &job.question;
        backward(selection, *limits, pace.budget())
    }
}

impl Engine for Contents {
    type Question = ContentsQuestion;
    type Answer = Option<usize>;

    fn kind(self) -> EngineKind {
        EngineKind::Every
    }

    fn answer(self, job: &Job<Self::Question>, pace: &Pace<Self::Answer>, _: &mut dyn Observer) -> Self::Answer {
        let ContentsQuestion { selection, most } = &job.question;
        contents_of_one(selection, *most, pace.budget())
    }
}

impl Engine for Recheck {
    type Question = RecheckQuestion;
    type Answer = Result<u64, Unchecked>;

    fn kind(self) -> EngineKind {
        EngineKind::Every
    }

    fn answer(self, job: &Job<Self::Question>, pace: &Pace<Self::Answer>, _: &mut dyn Observer) -> Self::Answer {
        let RecheckQuestion { selection, invariant } = &job.question;
        recheck(selection, invariant, pace.budget())
    }
}

impl Engine for Comparison {
    type Question = ComparisonQuestion;
    type Answer = Result<Option<Compared>, Unchecked>;

    fn kind(self) -> EngineKind {
        EngineKind::Every
    }

    fn answer(self, job: &Job<Self::Question>, pace: &Pace<Self::Answer>, _: &mut dyn Observer) -> Self::Answer {
        let ComparisonQuestion { member, scope, invariant, relation, most } = &job.question;
        match relation {
            Relation::Covered => compare(member, scope, invariant, *most, pace.budget()),
            Relation::Smaller => Ok(compare_smaller(member, scope, invariant, *most, pace.budget())),
        }
    }
}
