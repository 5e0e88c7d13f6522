//! The symbolic engine: sets of states as decision diagrams, whole or reduced by symmetries ([why
//! so](../../../docs/adr/0035-sets-as-decision-diagrams.md)). The package of diagrams (oxidd) is only here. Knows no
//! other engine.
//!
//! * `diagrams` wraps the package; `order` is the order of the bits.
//! * `machine`: the model as sets and relations, one for each instance.
//! * `search`: reachability; `symmetry`: what permutations do to sets, and the ways to use them.
//! * `runs`: from sets back to single states, which the reference interpreter replays.
//! * `tree` and `witness`: formulas of CTL, and the runs that show why one does not hold.
//! * `saturation`: where only numbers are asked, diagrams of its own with a level for each element of an array ([why
//!   so](../../../docs/adr/0050-saturation-for-counting.md)). It also works as a run beside the search of a net.

mod diagrams;
mod door;
mod machine;
mod order;
mod runs;
mod saturation;
mod search;
mod symmetry;
mod tree;
mod witness;

#[cfg(test)]
mod orbits;
#[cfg(test)]
mod tests;

use num_bigint::BigUint;
use quotient_functions::{Functions, Preserved, possible_values, unfold_over};
use quotient_ir::{Budget, DeadlockMode, Interpreter, Layout, Model, PropertyId, Span, Spent, Violation};
use quotient_symmetry::CertifiedGroup;

use crate::diagrams::NODE_BYTES;
use crate::machine::Machine;
use crate::order::Order;
use crate::runs::{NoRun, failing_start, replayed, stop_reason};
use crate::saturation::{Halt as NotSaturated, Saturated, Work, saturate};
use crate::search::{Halt, Search};
use crate::symmetry::Symmetries;
use quotient_booleans::{Encoding, Full, Refusal};
use quotient_search::{Checks, EngineError, Figures, Observer, SearchOptions, Silent, StopReason, Verdicts};

pub use door::{OwnSymmetry, Saturation, Sets, SetsOfTrees};
pub use quotient_search::{SetsReport, SymbolicReport, Way};
pub use tree::check_symbolic_tree;

/// The room for diagrams if there is no limit.
const USUAL_BYTES: u64 = 4 << 30;

/// Symmetries for a symbolic search.
#[derive(Clone, Copy, Debug)]
pub struct SymbolicSymmetry<'a> {
    /// The group, which must preserve what is checked.
    pub group: &'a CertifiedGroup,
    /// How it is used; by default dynamic reduction where permutations that sort sets are known, otherwise
    /// representatives on the fly.
    pub way: Option<Way>,
}

/// Why a model cannot be checked symbolically.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolicError {
    /// A part of the model has no functions of bits.
    #[error("the model cannot be checked symbolically: {reason}")]
    Refused {
        /// The reason.
        reason: String,
        /// The place.
        span: Span,
    },
    /// The requested way to use symmetries is not known for the group.
    #[error("no small set of permutations is known that sorts states: use --reduction on-the-fly")]
    NotNice,
    /// The symmetries cannot be applied to sets.
    #[error("there are too many symmetries, or they map variables to others for which other values are possible")]
    Unsuited,
    /// As in other searches.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Checks a model with decision diagrams.
///
/// # Errors
/// If the model cannot be translated, or there is a defect of this program.
pub fn check_symbolic(
    model: &Model,
    layout: &Layout,
    symmetry: Option<SymbolicSymmetry<'_>>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<SymbolicReport, SymbolicError> {
    let checks = Checks::new(model, options.properties.as_deref());
    let properties: Vec<PropertyId> =
        [&checks.invariants, &checks.covers, &checks.liveness].into_iter().flatten().copied().collect();
    let (functions, order) = translated(model, layout, &properties, &Budget::until(&observer.interrupt()))?;
    let bytes = options.max_memory.unwrap_or(USUAL_BYTES);
    let interpreter = Interpreter::new(model, layout);
    let full = || unfinished(model, layout, &checks, options, &order, bytes);
    if symmetry.is_none() && is_counted(&functions, &checks, options) {
        let budget = Budget::until(&observer.interrupt());
        let work = Work::new(&budget, observer, bytes);
        match all_states(&interpreter, (&functions, &order), &checks, options, work) {
            Ok(report) => return Ok(report),
            Err(NotSaturated::Unsuited) => {}
            Err(NotSaturated::Full) => return Ok(full()),
            Err(NotSaturated::Spent) => return Err(EngineError::GaveUp(Spent).into()),
            Err(NotSaturated::Stopped(reason)) => {
                let mut report = full();
                report.report.stop_reason = Some(reason);
                return Ok(report);
            }
        }
    }
    let Ok(mut machine) = Machine::new(model, &functions, &order, bytes) else { return Ok(full()) };
    let Ok(symmetries) = suited(&mut machine, layout, symmetry) else { return Ok(full()) };
    let symmetries = symmetries?;
    let used = symmetries.as_ref().map(|(symmetries, way)| (symmetries, *way));
    let way = used.map(|(_, way)| way);
    let Ok(search) = Search::new(&mut machine, used, options, &checks, observer) else { return Ok(full()) };
    let mut report = judged(search, &interpreter, bytes)?;
    report.sets.order = order.name;
    report.sets.way = way;
    Ok(report)
}

/// Counts all states of a model of which nothing else is asked, by saturation alone, for as much work as is granted. None
/// if something is asked, or its steps are not products of functions of few slots.
///
/// # Errors
/// If the work that is granted is used up, or the model cannot be translated.
pub fn count_by_saturation(
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
    budget: &Budget,
) -> Result<Option<SymbolicReport>, SymbolicError> {
    let checks = Checks::new(model, options.properties.as_deref());
    let (functions, order) = translated(model, layout, &[], budget)?;
    if !is_counted(&functions, &checks, options) {
        return Ok(None);
    }
    let bytes = options.max_memory.unwrap_or(USUAL_BYTES);
    let (interpreter, observer) = (Interpreter::new(model, layout), &mut Silent);
    let work = Work::new(budget, observer, bytes);
    match all_states(&interpreter, (&functions, &order), &checks, options, work) {
        Ok(report) => Ok(Some(report)),
        Err(NotSaturated::Unsuited) => Ok(None),
        Err(NotSaturated::Full) => Ok(Some(unfinished(model, layout, &checks, options, &order, bytes))),
        Err(NotSaturated::Spent | NotSaturated::Stopped(_)) => Err(EngineError::GaveUp(Spent).into()),
    }
}

/// Whether nothing is asked but numbers, and nothing leaves states out.
fn is_counted(functions: &Functions, checks: &Checks, options: &SearchOptions) -> bool {
    let asked = [&checks.invariants, &checks.covers, &checks.liveness, &checks.remarks];
    options.deadlock == DeadlockMode::Off
        && options.max_depth.is_none()
        && asked.iter().all(|properties| properties.is_empty())
        && functions.behaviour().claims.is_empty()
}

/// The functions of a model that preserve some properties, and the order of its slots.
fn translated(
    model: &Model,
    layout: &Layout,
    properties: &[PropertyId],
    budget: &Budget,
) -> Result<(Functions, Order), SymbolicError> {
    let spent = |_| EngineError::GaveUp(Spent);
    let mut possible = possible_values(model, layout, budget).map_err(spent)?;
    if model.holds_only_amounts() {
        // The greatest sums of tokens are sums over bits.
        possible = possible.evenly_spaced();
    }
    let behaviour = unfold_over(model, layout, Preserved::Properties(properties), possible, budget).map_err(spent)?;
    if let Some(Refusal { reason, span }) = Refusal::of(model, layout, &behaviour) {
        return Err(SymbolicError::Refused { reason, span });
    }
    let functions = Functions::of_behaviour(behaviour);
    let encoding = Encoding::new(functions.circuit());
    let order = Order::of(&functions, &encoding, layout.slots.len());
    Ok((functions, order))
}

/// All states of a model, of which nothing is asked but numbers.
fn all_states(
    interpreter: &Interpreter<'_>,
    (functions, order): (&Functions, &Order),
    checks: &Checks,
    options: &SearchOptions,
    work: Work<'_>,
) -> Result<SymbolicReport, NotSaturated> {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let found = saturate(interpreter, functions, order, work)?;
    let Saturated { figures: found, nodes, peak_nodes, bytes, images } = found;
    let figures = Figures {
        states: saturated(&found.states),
        represented: Some(found.states.clone()),
        transitions: saturated(&found.transitions),
        memory_bytes: bytes,
        words: layout.words(),
        ..Figures::default()
    };
    let mut report = Verdicts::new(model, checks, options, true, &[]).report(None, figures);
    report.never_fired = Some(found.never_fired);
    let encoding = Encoding::new(functions.circuit());
    let sets = SetsReport {
        orbits: Some(found.states.clone()),
        states: found.states,
        transitions: found.transitions,
        greatest: found.greatest,
        nodes,
        peak_nodes,
        images,
        bits: order.slots.iter().map(|&slot| encoding.width(slot) as u32).sum(),
        order: order.name,
        way: None,
    };
    Ok(SymbolicReport { report, sets })
}

/// Symmetries and the way in which they are used.
type Used = Option<(Symmetries, Way)>;

/// The symmetries that a search uses, if they can be applied to sets.
fn suited(
    machine: &mut Machine<'_>,
    layout: &Layout,
    symmetry: Option<SymbolicSymmetry<'_>>,
) -> Result<Result<Used, SymbolicError>, Full> {
    let Some(SymbolicSymmetry { group, way }) = symmetry.filter(|symmetry| !symmetry.group.is_trivial()) else {
        return Ok(Ok(None));
    };
    Ok(match (Symmetries::new(machine, layout, group)?, way) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(SymbolicError::Unsuited),
        (Some(symmetries), Some(Way::Dynamic)) if !symmetries.is_nice() => Err(SymbolicError::NotNice),
        (Some(symmetries), way) => {
            let usual = if symmetries.is_nice() { Way::Dynamic } else { Way::OnTheFly };
            Ok(Some((symmetries, way.unwrap_or(usual))))
        }
    })
}

/// Runs a search and assembles its report.
fn judged(
    mut search: Search<'_, '_>,
    interpreter: &Interpreter<'_>,
    bytes: u64,
) -> Result<SymbolicReport, SymbolicError> {
    let (model, options, checks) = (interpreter.model(), search.options, search.checks);
    let failing = search.machine.failing_start();
    let ended = match failing {
        Some(_) => Err(Halt::Full),
        None => search.run(),
    };
    let is_finished = ended.is_ok();
    let mut verdicts = Verdicts::new(model, checks, options, is_finished, &search.covered);
    let mut stop = None;
    let found = match (&failing, &ended) {
        (Some(instance), _) => Some(failing_start(instance.clone(), interpreter)),
        (None, Err(Halt::Found(states))) => Some(search.run_to(states, interpreter)),
        (None, Err(halt)) => {
            stop = Some(stop_reason(halt, bytes));
            None
        }
        (None, Ok(())) => None,
    };
    if let Some(found) = found {
        stop = Some(match found {
            Ok(trace) => verdicts.conclude(trace),
            Err(NoRun::Halt(halt)) => stop_reason(&halt, bytes),
            Err(NoRun::Unknown(fault)) => StopReason::Exhausted(fault),
            Err(NoRun::Error(error)) => return Err(error.into()),
        });
    }
    if is_finished {
        match live(&mut search, interpreter) {
            Ok(traces) => traces.into_iter().for_each(|trace| {
                verdicts.conclude(trace);
            }),
            Err(NoRun::Halt(halt)) => {
                stop = Some(stop_reason(&halt, bytes));
                verdicts.leave_open();
            }
            Err(NoRun::Unknown(fault)) => {
                stop = Some(StopReason::Exhausted(fault));
                verdicts.leave_open();
            }
            Err(NoRun::Error(error)) => return Err(error.into()),
        }
    }
    let counted = counted(&mut search, is_finished);
    let Counted { states, orbits, represented, transitions, unexpanded, never_fired } = counted.unwrap_or_default();
    if is_finished && let Some(unexpanded) = unexpanded {
        stop.get_or_insert(StopReason::Constraint(saturated(&unexpanded)));
        verdicts.leave_open();
    }
    let figures = Figures {
        states: saturated(&states),
        represented,
        transitions: saturated(&transitions),
        depth: search.rings.as_ref().map_or(0, |rings| rings.len() as u64 - 1),
        memory_bytes: search.machine.diagrams.peak() as u64 * NODE_BYTES,
        words: interpreter.layout().words(),
        ..Figures::default()
    };
    let mut report = verdicts.report(stop, figures);
    report.never_fired = never_fired;
    let greatest = match model.holds_only_amounts() && is_finished {
        true => search.machine.greatest_values(&search.reached),
        false => None,
    };
    let sets = SetsReport {
        states,
        orbits,
        transitions,
        greatest,
        nodes: search.machine.diagrams.size(&search.reached),
        peak_nodes: search.machine.diagrams.peak(),
        images: search.images,
        bits: search.machine.variables.bits,
        order: "",
        way: None,
    };
    Ok(SymbolicReport { report, sets })
}

/// The runs to states from which a condition that should always be reachable is not.
fn live(search: &mut Search<'_, '_>, interpreter: &Interpreter<'_>) -> Result<Vec<quotient_ir::Trace>, NoRun> {
    let mut traces = Vec::new();
    if search.checks.liveness.is_empty() {
        return Ok(traces);
    }
    let reached = search.reached.clone();
    let whole = search.orbits_of(&reached)?;
    let passing = search.machine.passing.clone();
    let stored = search.machine.diagrams.without(&whole, &passing)?;
    let moving = search.machine.diagrams.common(&whole, &search.machine.expanded.clone())?;
    let mut decided = Vec::new();
    for &property in &search.checks.liveness.clone() {
        let own: Vec<usize> = (0..search.machine.claims.len())
            .filter(|&number| search.machine.claims[number].property == property)
            .collect();
        for number in own {
            let (holds, arguments) = {
                let claim = &search.machine.claims[number];
                (claim.holds.clone(), claim.arguments.clone())
            };
            if !search.options.evaluates(property, &arguments) {
                continue;
            }
            // What symmetries make of a condition that is always reachable is always reachable too.
            if decided.contains(&holds) {
                continue;
            }
            let goal = search.machine.diagrams.common(&stored, &holds)?;
            let can = search.reach_back(&goal, &moving)?;
            let cannot = search.machine.diagrams.without(&stored, &can)?;
            if !search.machine.diagrams.is_empty(&cannot) {
                let steps = search.steps_within(&whole, &cannot)?;
                traces.push(replayed(steps, Violation::Unreachable { property, arguments }, interpreter)?);
                break;
            }
            match search.symmetries {
                Some((symmetries, _)) => decided.extend(symmetries.images_of_set(search.machine, &holds)?),
                None => decided.push(holds),
            }
        }
    }
    Ok(traces)
}

/// The numbers of a finished search.
#[derive(Default)]
struct Counted {
    states: BigUint,
    orbits: Option<BigUint>,
    represented: Option<BigUint>,
    transitions: BigUint,
    /// The states that are not expanded, if there are any.
    unexpanded: Option<BigUint>,
    never_fired: Option<Vec<quotient_ir::RuleId>>,
}

fn counted(search: &mut Search<'_, '_>, is_finished: bool) -> Result<Counted, Full> {
    let reached = search.reached.clone();
    let (passing, expanded) = (search.machine.passing.clone(), search.machine.expanded.clone());
    let is_passed = !search.options.store_passing;
    let stored = match is_passed {
        true => search.machine.diagrams.without(&reached, &passing)?,
        false => reached.clone(),
    };
    let states = search.machine.count(&stored);
    let moving = search.machine.diagrams.common(&reached, &expanded)?;
    let transitions = search.machine.count_steps(&moving)?;
    if !is_finished {
        return Ok(Counted { states, transitions, ..Counted::default() });
    }
    let whole = search.orbits_of(&reached)?;
    let never_fired = search.machine.never_fired(&whole)?;
    let unexpanded = match search.is_constrained {
        true => {
            let left = search.machine.diagrams.without(&stored, &expanded)?;
            Some(search.machine.count(&left)).filter(|count| *count > BigUint::default())
        }
        false => None,
    };
    let (represented, orbits) = match search.symmetries {
        None => (states.clone(), Some(states.clone())),
        Some((symmetries, way)) => {
            let whole = match is_passed {
                true => search.machine.diagrams.without(&whole, &passing)?,
                false => whole,
            };
            let orbits = match way {
                Way::OrbitRelation | Way::Dynamic => Some(states.clone()),
                Way::MultipleRepresentatives | Way::OnTheFly | Way::SomeRepresentatives { .. } => {
                    symmetries.count_orbits(search.machine, &whole)?
                }
            };
            (search.machine.count(&whole), orbits)
        }
    };
    Ok(Counted {
        states,
        orbits,
        represented: Some(represented),
        transitions,
        unexpanded,
        never_fired: Some(never_fired),
    })
}

/// A number, or the greatest that fits.
fn saturated(number: &BigUint) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The report of a search for which there was no room from the beginning.
fn unfinished(
    model: &Model,
    layout: &Layout,
    checks: &Checks,
    options: &SearchOptions,
    order: &Order,
    bytes: u64,
) -> SymbolicReport {
    let verdicts = Verdicts::new(model, checks, options, false, &[]);
    let figures = Figures { words: layout.words(), ..Figures::default() };
    let sets = SetsReport {
        states: BigUint::default(),
        orbits: None,
        transitions: BigUint::default(),
        greatest: None,
        nodes: 0,
        peak_nodes: (bytes / NODE_BYTES) as usize,
        images: 0,
        bits: 0,
        order: order.name,
        way: None,
    };
    SymbolicReport { report: verdicts.report(Some(StopReason::MemoryLimit(bytes)), figures), sets }
}
