//! The guarded annotated quotient (Sistla and Godefroid; Wahl and Donaldson 2010, section 8): the quotient of the
//! smallest symmetric super-structure of a model, whose edges say which transitions are real. No information is lost:
//! the transitions of the model can be recovered, so it preserves branching-time properties.
//!
//! A node is an orbit of states under all permutations of the families. An edge represents the images of one transition
//! under the permutations of its partition. Nodes may contain states that the model does not reach; the edges of the
//! model that leave these are included, too.

use std::ops::ControlFlow;

use quotient_ir::{Fault, Interpreter, Layout, RuleId};
use quotient_symmetry::{PartialSymmetry, Partition};
use rustc_hash::FxHashMap;

use super::stepper::{Fired, Stepper};
use super::{AdaptiveError, initial};
use quotient_search::{Event, Figures, Observer, Progress, Report, StopReason, TransitionSystem};
use quotient_systems::SpecialisedSystem;

/// Nodes expanded between reports of progress.
const PROGRESS_INTERVAL: usize = 64;

/// A guarded annotated quotient.
#[derive(Clone, Debug)]
pub struct GuardedQuotient {
    /// One packed state of each orbit.
    pub nodes: Vec<Vec<u64>>,
    /// The initial states: packed states, each with the partition whose permutations map it to initial states, and its
    /// node.
    pub initial: Vec<(Vec<u64>, Partition, u32)>,
    /// The edges.
    pub edges: Vec<GuardedEdge>,
    /// Instances with a run-time error, in states that the model need not reach.
    pub faults: Vec<(RuleId, Vec<i64>, Fault)>,
    /// Why it is incomplete, if it is.
    pub stop_reason: Option<StopReason>,
}

impl GuardedQuotient {
    /// Its size, as a report in which nothing is checked.
    pub fn report(&self, layout: &Layout) -> Report {
        let figures = Figures {
            states: self.nodes.len() as u64,
            transitions: self.edges.len() as u64,
            memory_bytes: self.nodes.iter().map(|node| 8 * node.len() as u64).sum(),
            words: layout.words(),
            ..Figures::default()
        };
        Report::new(Vec::new(), self.stop_reason.clone(), figures)
    }
}

/// An edge: for each permutation of its partition, the image of `before` has a transition to the image of `after`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedEdge {
    /// The node it leaves.
    pub from: u32,
    /// The node it leads to.
    pub to: u32,
    /// The rule.
    pub rule: RuleId,
    /// The cells of the parameters of an instance.
    pub arguments: Vec<i64>,
    /// The permutations for which the image of the transition is real.
    pub partition: Partition,
    /// A packed state of the node it leaves.
    pub before: Vec<u64>,
    /// The packed state that the instance leads to.
    pub after: Vec<u64>,
}

/// Builds the guarded annotated quotient of a model.
///
/// # Errors
/// If the arguments of certification contradict each other, which is a defect of this program.
pub fn guarded_quotient(
    partial: &mut PartialSymmetry<'_>,
    max_nodes: Option<u64>,
    observer: &mut dyn Observer,
) -> Result<GuardedQuotient, AdaptiveError> {
    let interpreter = Interpreter::new(partial.model(), partial.layout());
    let system = SpecialisedSystem::new(&interpreter);
    let mut stepper = Stepper::new(partial, &system, observer);
    let coarsest = stepper.partial.coarsest();
    let coarsest = stepper.partitions.number(&coarsest);
    let mut quotient = GuardedQuotient {
        nodes: Vec::new(),
        initial: Vec::new(),
        edges: Vec::new(),
        faults: Vec::new(),
        stop_reason: None,
    };
    let mut numbers: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
    let mut node_of = |stepper: &mut Stepper<'_, '_>, nodes: &mut Vec<Vec<u64>>, state: &[u64]| -> u32 {
        let mut state = state.to_vec();
        stepper.canonicalize(&mut state, coarsest);
        let next = nodes.len() as u32;
        *numbers.entry(state).or_insert_with_key(|state| {
            nodes.push(state.clone());
            next
        })
    };
    let mut starts: Vec<Vec<u64>> = Vec::new();
    system.starts(&mut system.scratch(), &mut |_, event| {
        if let Event::Next { state, .. } = event
            && !starts.iter().any(|known| known[..] == *state)
        {
            starts.push(state.to_vec());
        }
        ControlFlow::Continue(())
    });
    for (state, partition) in initial::annotate(&mut stepper, coarsest, &starts) {
        let node = node_of(&mut stepper, &mut quotient.nodes, &state);
        let partition = stepper.partitions.partition(partition).clone();
        quotient.initial.push((state, partition, node));
    }
    let rules: Vec<RuleId> = stepper.partial.model().rules.indices().collect();
    let mut next = 0;
    while next < quotient.nodes.len() {
        if max_nodes.is_some_and(|limit| quotient.nodes.len() as u64 > limit) {
            quotient.stop_reason = max_nodes.map(StopReason::StateLimit);
            break;
        }
        if next % PROGRESS_INTERVAL == 0 {
            let progress = Progress {
                states: quotient.nodes.len() as u64,
                transitions: quotient.edges.len() as u64,
                frontier: (quotient.nodes.len() - next) as u64,
                ..Progress::default()
            };
            stepper.progress = progress;
            let _ = stepper.report_progress();
        }
        quotient.stop_reason = stepper.stop_reason();
        if quotient.stop_reason.is_some() {
            break;
        }
        let state = quotient.nodes[next].clone();
        let kinds = stepper.kinds(&state, coarsest);
        for &rule in &rules {
            if stepper.is_out_of_reach(rule, &state, &kinds) {
                continue;
            }
            for edge in stepper.rule_edges(rule)? {
                let (partition, firings) = stepper.fire(edge, &state, coarsest, &kinds);
                for firing in firings {
                    match firing.fired {
                        Fired::Next { state: after, .. } => {
                            let to = node_of(&mut stepper, &mut quotient.nodes, &after);
                            quotient.edges.push(GuardedEdge {
                                from: next as u32,
                                to,
                                rule,
                                arguments: firing.arguments,
                                partition: stepper.partitions.partition(partition).clone(),
                                before: firing.before,
                                after,
                            });
                        }
                        Fired::Pruned => {}
                        Fired::Fault(fault) => quotient.faults.push((rule, firing.arguments, fault)),
                    }
                }
            }
        }
        next += 1;
    }
    if quotient.stop_reason.is_none() {
        quotient.stop_reason = stepper.stop_reason();
    }
    Ok(quotient)
}
