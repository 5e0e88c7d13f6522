//! The choice among methods of finding representatives: by the work that each does on the first successors of a model.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use quotient_ir::Layout;
use quotient_representatives::{Canonicalizer, Workspace};
use quotient_symmetry::Literals;
use rustc_hash::FxHashSet;

use crate::guard::Guard;
use crate::reduction::ReductionPlan;
use quotient_search::{Event, TransitionSystem};

/// The number of successors that methods are compared on. Smaller searches use the method that is usually best.
const SAMPLE: usize = 1 << 11;
/// The number of starts the successors come from, at first.
const STARTS: usize = 1 << 6;
/// The number of reports of idle work after which there is no comparison.
const PATIENCE: usize = 1 << 6;

impl ReductionPlan {
    /// Whether methods could be compared.
    pub fn is_tunable(&self) -> bool {
        self.reduction
            .as_ref()
            .is_some_and(|reduction| reduction.markers.is_none() && reduction.canonicalizer.is_tunable())
    }

    /// Chooses the methods for the main search that do the least work. Representatives may be others afterwards.
    pub fn tune<S: TransitionSystem>(&mut self, system: &S, layout: &Layout) {
        if !self.is_tunable() {
            return;
        }
        let Some(reduction) = &mut self.reduction else { return };
        let literals = reduction.group.literals();
        if let Some(records) = sample(system, layout, literals, &reduction.canonicalizer)
            && reduction.canonicalizer.tune(&records, system.words() + 1)
        {
            self.method = reduction.canonicalizer.reason().to_owned();
        }
    }
}

/// The first successors of representatives, each followed by another word; `None` if there are not enough.
fn sample<S: TransitionSystem>(
    system: &S,
    layout: &Layout,
    literals: &Literals,
    canonicalizer: &Canonicalizer,
) -> Option<Vec<u64>> {
    let guard = Guard::new(layout, literals);
    let mut workspace = Workspace::default();
    let mut known: FxHashSet<Vec<u64>> = FxHashSet::default();
    let mut waiting: VecDeque<Vec<u64>> = VecDeque::new();
    let mut records: Vec<u64> = Vec::new();
    let mut idle = 0;
    let mut scratch = system.scratch();
    let stride = system.words() + 1;
    let mut take = |event: Event<'_>, waiting: &mut VecDeque<Vec<u64>>| {
        match event {
            Event::Next { state, .. } if guard.passes(None, state) => {
                records.extend_from_slice(state);
                records.push(0);
                let mut state = state.to_vec();
                canonicalizer.canonicalize(&mut workspace, &mut state);
                if known.insert(state.clone()) {
                    waiting.push_back(state);
                }
            }
            Event::Idle => idle += 1,
            _ => {}
        }
        (records.len() / stride, idle)
    };
    let flow = |goes_on: bool| if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let mut idle_for = 0;
    system.starts(&mut scratch, &mut |_, event| {
        let (count, idle) = take(event, &mut waiting);
        idle_for = idle;
        flow(count < STARTS && idle < PATIENCE)
    });
    while let Some(state) = waiting.pop_front() {
        let mut count = 0;
        system.successors(&mut scratch, &state, &mut |_, event| {
            (count, idle_for) = take(event, &mut waiting);
            flow(count < SAMPLE && idle_for < PATIENCE)
        });
        if count >= SAMPLE {
            return Some(records);
        }
        if idle_for >= PATIENCE {
            return None;
        }
    }
    None
}
