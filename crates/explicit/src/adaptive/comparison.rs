//! Compares an adaptive search with the unreduced one: the verdicts agree, and the annotated states represent exactly
//! the reachable states.

use num_bigint::BigUint;
use quotient_ir::Interpreter;
use quotient_symmetry::{Arrangement, Desk, PartialSymmetry, Partition, Target, unwind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

use super::AdaptiveReport;
use crate::explore::OneProcess;
use quotient_search::{CrossCheck, EngineError, Extent, Observer, SearchOptions, StopReason};
use quotient_states::{Shards, compare_verdicts, differ, search_and_judge, state_text, unfinished};
use quotient_systems::{DeferredSystem, PassingSystem, SpecialisedSystem};

/// Runs the unreduced search and compares.
///
/// # Errors
/// If something differs.
pub(super) fn compare(
    partial: &PartialSymmetry<'_>,
    adaptive: &AdaptiveReport,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<CrossCheck, EngineError> {
    let interpreter = Interpreter::new(partial.model(), partial.layout());
    let evaluator = SpecialisedSystem::new(&interpreter);
    let system = DeferredSystem::new(&evaluator, false);
    let system = PassingSystem::new(&system, &interpreter, options);
    let (whole, all) = search_and_judge(&OneProcess, &system, &interpreter, options, None, observer, None)?;
    let report = &adaptive.report;
    let extent = match unfinished(report, &whole) {
        Some(reason) => Extent::Nothing(reason),
        None => {
            compare_verdicts(report, &whole)?;
            if report.stop_reason == Some(StopReason::Violation) || whole.stop_reason.is_some() {
                Extent::Verdicts
            } else {
                let arrangement = Arrangement::new(partial.families(), partial.layout());
                compare_states(&arrangement, &interpreter, adaptive, &all.store)?;
                Extent::Everything
            }
        }
    };
    Ok(CrossCheck { whole: Box::new(whole), extent })
}

/// The annotated states of one partition.
struct Group<'a> {
    partition: &'a Partition,
    cells: Vec<Vec<usize>>,
    states: FxHashSet<&'a [u64]>,
}

fn compare_states(
    arrangement: &Arrangement,
    interpreter: &Interpreter<'_>,
    adaptive: &AdaptiveReport,
    all: &Shards,
) -> Result<(), EngineError> {
    if adaptive.annotated.len() as u64 != adaptive.report.states {
        return differ(format!("{} annotated states are too many to compare", adaptive.report.states));
    }
    let mut desk = Desk::default();
    let mut numbers: FxHashMap<&Partition, usize> = FxHashMap::default();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (state, partition) in &adaptive.annotated {
        let number = *numbers.entry(partition).or_insert_with(|| {
            groups.push(Group { partition, cells: partition.cells(), states: FxHashSet::default() });
            groups.len() - 1
        });
        groups[number].states.insert(state);
        if !all.contains(state) {
            return differ(format!("an annotated state is not reachable: {}", state_text(interpreter, state)));
        }
    }
    // Partitions that represent many states are tried first.
    groups.sort_by_key(|group| (group.partition.cell_count(), std::cmp::Reverse(group.states.len())));
    for number in all.numbers() {
        let state = all.state(number);
        let is_represented = groups.iter().any(|group| {
            let mut image = state.to_vec();
            arrangement.canonicalize(&mut desk, &mut image, &group.cells);
            group.states.contains(&image[..])
        });
        if !is_represented {
            return differ(format!("no annotated state stands for {}", state_text(interpreter, state)));
        }
    }
    // Every reachable state is represented; it remains to check that no other state is.
    match &adaptive.report.represented {
        Some(represented) if *represented == BigUint::from(all.len()) => Ok(()),
        Some(represented) => differ(format!("{represented} states represented, {} reachable", all.len())),
        None => groups.iter().try_for_each(|group| {
            let states = group.states.iter();
            states.copied().try_for_each(|state| are_reachable(arrangement, &mut desk, interpreter, group, state, all))
        }),
    }
}

/// Whether all states that an annotated state represents are reachable.
fn are_reachable(
    arrangement: &Arrangement,
    desk: &mut Desk,
    interpreter: &Interpreter<'_>,
    group: &Group<'_>,
    state: &[u64],
    all: &Shards,
) -> Result<(), EngineError> {
    let kinds = arrangement.kinds(desk, state, &group.cells);
    let single = |cell: &Vec<usize>| cell.iter().map(|&place| Target { places: vec![place] }).collect();
    let targets: Vec<Vec<Target>> = group.cells.iter().map(single).collect();
    let mut image = Vec::new();
    let mut unreachable = None;
    let _ = unwind(&kinds, &targets, arrangement.members(), &mut |_, _, _| true, &mut |place_of| {
        arrangement.apply(state, place_of, &mut image);
        if all.contains(&image) {
            return ControlFlow::Continue(());
        }
        unreachable = Some(image.clone());
        ControlFlow::Break(())
    });
    match unreachable {
        None => Ok(()),
        Some(image) => differ(format!("a state is represented and not reachable: {}", state_text(interpreter, &image))),
    }
}
