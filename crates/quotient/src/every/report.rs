//! A claim about every size, and what is reported about it.

use std::fmt;
use std::time::Duration;

use quotient_every::{EverySize, EveryValue};
use quotient_ir::{PropertyId, Span};
use quotient_search::{StopReason, Verdict};

use crate::model::Model;
use crate::report::Report;

/// A claim about every value of some constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Every {
    /// The constants, each the number of values of a type.
    pub sizes: Vec<EverySize>,
    /// How it is proved.
    pub method: EveryMethod,
}

impl Every {
    /// Values of the constants in words.
    pub fn words<T: fmt::Display>(&self, values: &[T]) -> String {
        let words = self.sizes.iter().zip(values).map(|(size, value)| format!("{} {value}", size.constant));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Single values of the constants in words.
    pub fn equations(&self, values: &[i64]) -> String {
        self.words(&values.iter().map(|&value| EveryValue::Is(value)).collect::<Vec<_>>())
    }

    /// The constants in words.
    pub(super) fn names(&self) -> String {
        self.sizes.iter().map(|size| size.constant.as_str()).collect::<Vec<_>>().join(" and ")
    }
}

/// How a claim about every value of a constant is proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EveryMethod {
    /// In one way or another.
    #[default]
    Auto,
    /// By views of states.
    Views,
    /// By a search backward from what is wrong.
    Backward,
    /// By a search of all members up to a cut-off that the text shows.
    CutOff,
}

/// What the guards of a text ask about all objects. It depends on this which cut-off the text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EveryGuards {
    /// Whether some object is somewhere.
    Some,
    /// Whether all are somewhere; or nothing.
    All,
}

/// A number of objects that the text shows to suffice: if something goes wrong in a larger member, something goes wrong in one with so
/// many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EveryTextCutOff {
    /// The value of the constant.
    pub value: i64,
    /// What guards ask.
    pub guards: EveryGuards,
    /// How many contents of an object occur, at most; none if the cut-off does not depend on it.
    pub contents: Option<usize>,
    /// How many objects it takes to see that something is wrong.
    pub concerned: usize,
    /// Whether all members up to it were searched, so that they are the proof.
    pub is_proof: bool,
}

/// The result of a claim about every value of a constant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EveryReport {
    /// Violated if some member violates a property; holds if it was proved that none does.
    pub verdict: Verdict,
    /// The claim.
    pub claim: Every,
    /// The types of the objects, each after the place of its constant in the claim.
    pub objects: Vec<(usize, String)>,
    /// Whether the text compares objects by their order: then a view has them in this order.
    pub is_ordered: bool,
    /// The properties of the text that were checked, and run-time errors.
    pub properties: Vec<PropertyId>,
    /// The members that were searched, by the values of the constants, with the states stored.
    pub searched: Vec<(Vec<i64>, u64)>,
    /// The attempts to prove it, in order.
    pub attempts: Vec<EveryAttempt>,
    /// The conditions because of which more objects may prevent a step, change what it does, or make right what is wrong,
    /// and where they are. Without any, the family is monotone, and a backward search decides.
    pub tests: Vec<(String, Span)>,
    /// What was proved: the first one is about all members with large values of all constants. If it holds, these and the
    /// members that were searched are all.
    pub proofs: Vec<EveryProof>,
    /// The cut-off that the text shows, if it was asked for.
    pub cut_off: Option<EveryTextCutOff>,
    /// The member that violates a property, and the report about it. Of all that do, its constants have the least sum, and
    /// among those with this sum the first constant is least.
    pub violation: Option<(Vec<i64>, Model, Box<Report>)>,
    /// Why there is no verdict, if there is none.
    pub open: Option<String>,
    /// The limit that was reached, if one was.
    pub stop_reason: Option<StopReason>,
    /// The total time.
    pub elapsed: Duration,
}

/// An attempt to prove a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EveryAttempt {
    /// Views, or backward.
    pub method: EveryMethod,
    /// The values of the constants that it is about.
    pub values: Vec<EveryValue>,
    /// How many objects of each type besides those that shared variables name a view has.
    pub kept: usize,
    /// How many views there were at its end.
    pub views: usize,
    /// How many parts of states a backward search had found.
    pub parts: usize,
    /// What was wrong with a state that the views stand for, or that something wrong can be reached, as far as a backward
    /// search can tell; and with how many objects of each type.
    pub wrong: Option<(String, Vec<usize>)>,
    /// The time it took.
    pub elapsed: Duration,
}

/// A set of views that contains those of all reachable states of some members, and parts that none contains.
#[derive(Clone, Debug)]
pub struct EveryProof {
    /// The values of the constants of these members.
    pub values: Vec<EveryValue>,
    /// How many objects of each type besides those that shared variables name a view has; all, if the number is fixed.
    pub kept: usize,
    /// How it was found.
    pub method: EveryMethod,
    /// The views in words.
    pub invariant: Vec<String>,
    /// The parts that no reachable state contains, in words.
    pub excluded: Vec<String>,
    /// How many shared parts occur, with the objects that they name.
    pub contexts: usize,
    /// How many contents of objects occur.
    pub rows: usize,
    /// How many states were looked at when the views were checked again.
    pub rechecked: u64,
    /// The members all of whose states were looked up in the views, by the values of the constants, with the number of
    /// states up to exchanges of objects.
    pub compared: Vec<(Vec<i64>, u64)>,
    /// A member that has all these views, if one was found.
    pub cut_off: Option<EveryCutOff>,
}

/// A member that has all views that occur in others: what the shared variables, the objects that these name and as many others as a
/// view has hold in one of these, they also hold in a reachable state of this member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EveryCutOff {
    /// The values of the constants of the member.
    pub values: Vec<i64>,
    /// The values of the constants of the others.
    pub about: Vec<EveryValue>,
}
