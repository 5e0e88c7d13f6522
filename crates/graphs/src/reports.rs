//! The results of checking temporal properties, whichever engine checks them.

use num_bigint::BigUint;
use quotient_ir::{PropertyId, Temporal, Trace};
use quotient_temporal::print::{Notation, print};
use quotient_temporal::{Atom, Formulas};

use crate::tree::Open;
use quotient_search::{FairnessMode, StopReason, Verdict};

/// The result of checking a temporal property.
#[derive(Clone, Debug)]
pub struct TemporalReport {
    /// The property.
    pub property: PropertyId,
    /// The verdict.
    pub verdict: Verdict,
    /// A run that violates it.
    pub trace: Option<Trace>,
    /// What a run that violates a claim about trees does not show: the formulas that decide at its branching points.
    pub remarks: Vec<String>,
    /// Why a search ended before it was finished.
    pub stop_reason: Option<StopReason>,
    /// The searches: one for each orbit of instances, as far as they were needed.
    pub searches: Vec<ProductReport>,
    /// Why all steps of each state were taken although a part was asked for or tried.
    pub all_steps: Option<String>,
    /// Which infinite runs count.
    pub fairness: FairnessMode,
}

impl TemporalReport {
    /// The report on a property that nothing violates so far.
    pub fn new(property: PropertyId, fairness: FairnessMode) -> Self {
        Self {
            property,
            verdict: Verdict::Holds,
            trace: None,
            remarks: Vec::new(),
            stop_reason: None,
            searches: Vec::new(),
            all_steps: None,
            fairness,
        }
    }

    /// There is no verdict by a part of the steps.
    pub fn give_up_parts(&mut self, reason: String) {
        self.verdict = Verdict::Inconclusive;
        self.all_steps = Some(reason);
    }
}

/// The search of one product.
#[derive(Clone, Debug)]
pub struct ProductReport {
    /// The instances of the formula it decides; the first one was checked.
    pub instances: Vec<Vec<i64>>,
    /// The states of the automaton for the negation of the formula, and its acceptance sets.
    pub automaton: (u32, u32),
    /// The symmetries used.
    pub symmetry: UsedSymmetry,
    /// What partial order left, if it was used.
    pub parts: Option<PartsReport>,
    /// The nodes stored.
    pub states: u64,
    /// The rule instances fired.
    pub transitions: u64,
    /// Bytes used for nodes.
    pub memory_bytes: u64,
}

/// The states that a part of the steps leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartsReport {
    /// The states of the model.
    pub states: u64,
    /// Those of which some steps are left out, at least.
    pub reduced: u64,
}

/// The symmetries that a product was reduced by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsedSymmetry {
    /// None.
    None,
    /// The same everywhere: this many.
    Whole(BigUint),
    /// All permutations of the values of some families, which were counted: the sizes of the families.
    Counted(Vec<u64>),
    /// More where the automaton needs to know less.
    Annotated {
        /// The number of symmetries where nothing is tracked: before an instance is chosen, or when it is no longer
        /// needed.
        most: BigUint,
        /// The number of symmetries that preserve the whole formula.
        least: BigUint,
    },
}

/// What a run does not show, with the step of each position of its path.
pub fn remarks(pool: &Formulas, temporal: &Temporal, open: &[Open], step: &dyn Fn(usize) -> usize) -> Vec<String> {
    let name = |atom: Atom| temporal.names.get(atom.0 as usize).cloned().unwrap_or_default();
    let remark = |open: &Open| {
        let text = print(pool, open.formula, Notation::Plain, &name);
        let verb = if open.holds { "holds" } else { "does not hold" };
        format!("after step {}: {text} {verb}", step(open.position))
    };
    open.iter().map(remark).collect()
}
