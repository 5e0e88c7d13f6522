//! States packed by the values that occur.
//!
//! The declared types of a model often have room for much more than ever happens: queues that are never full, bytes
//! that count to five, processes that are never created. So a search of large states examines its first states, and
//! some deep ones, and continues with a layout that has room only for the values seen: slots that never changed take no
//! bits and are constants for the compiled rules, and the others take the bits that their values needed. This is a
//! guess, not a claim about the model: every stored state is checked to fit, and a state that does not fit ends the
//! search, which then continues from the same point with more room. So the results never depend on the guess.
//!
//! * `seen` guesses; `systems::repacking` converts states from one layout to another.

mod seen;

use std::ops::ControlFlow;

use quotient_ir::{Interpreter, Layout, Model, Valuation};

use crate::explore::OneProcess;
use quotient_search::{
    Checks, EngineError, Identity, Narrowing, Observer, Progress, Report, SearchOptions, SearchOrder, StopReason,
    StoreMode, ViolationLimit,
};
use quotient_states::checkpoint::Saved;
use quotient_states::store::NO_PARENT;
use quotient_states::{Exploration, search_and_judge};
use quotient_systems::{DeferredSystem, PassingSystem, Patience, Repacking, SLOW_STEPS, SpecialisedSystem};
use seen::Seen;

/// Repacking is first considered after 1/16 of the states that would trigger it.
const FIRST_LOOK: u64 = 16;
/// The number of states of the sample of deep states.
const DEEP_STATES: u64 = 1 << 12;

/// The limit on attempts for a search on several threads, which restarts when the layout is outgrown.
const PARALLEL_ATTEMPTS: u32 = 2;

/// The number of states after which a search continues with a layout of fewer words, given the number of nodes of the
/// compiled rules.
fn states_for(narrowing: &Narrowing, nodes: u32, words: usize, fewer: usize) -> u64 {
    let saved = words.saturating_sub(fewer).max(1) as u64;
    narrowing.states.max(narrowing.states_per_node * u64::from(nodes) / saved)
}

/// Whether states are packed by the values seen. Not if an observer depends on the words of states, or a search resumes
/// that began with another layout.
fn applies(narrowing: &Narrowing, layout: &Layout, options: &SearchOptions, observer: &dyn Observer) -> bool {
    layout.words() >= narrowing.least_words
        && layout.multisets().is_empty()
        && !options.store.is_approximate()
        && options.checkpoint.is_none()
        && options.resume.is_none()
        && options.spill.is_none()
        && !observer.wants_graph()
}

/// Searches the reachable states of a model with states packed by the values that occur.
///
/// # Errors
/// As for `check`.
pub(crate) fn check_whole(
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    let narrowing = &options.narrowing;
    // A first look at few states stores them in another form, and would not refuse what the whole search does.
    let judges = !Checks::new(model, options.properties.as_deref()).liveness.is_empty();
    if let Some(reason) = options.refusal(Identity::Words, observer.wants_graph(), judges) {
        return Err(EngineError::Refused(reason));
    }
    let interpreter = Interpreter::new(model, layout);
    let evaluator = SpecialisedSystem::of_reachable_until(&interpreter, observer.interrupt());
    let system = DeferredSystem::for_search(&evaluator, false, options);
    let packed = |mut report: Report, outgrown| {
        // Regardless of the layout with which a rule fired.
        evaluator.fired().report(None, &mut report);
        Report { outgrown, ..report }
    };
    if !applies(narrowing, layout, options, observer) {
        let (report, _) = search(&system, &interpreter, options, None, observer)?;
        return Ok(packed(report, 0));
    }
    let mut seen = Seen::new(model, layout);
    let alone = options.threads <= 1;
    let least_words = if alone { 0 } else { narrowing.parallel_saving };
    let pays = |narrow: &Layout| {
        let (words, fewer) = (layout.words(), narrow.words());
        100 * fewer <= (100 - narrowing.least_saving.min(100)) * words && fewer + least_words <= words
    };
    // A first look at few states, so that searches that have nothing to gain lose nothing.
    let mut first: Option<Exploration> = None;
    let mut limit = narrowing.states.div_ceil(FIRST_LOOK);
    for is_last in [false, true] {
        let max_states = Some(options.max_states.map_or(limit, |most| most.min(limit)));
        // What comes next reads the states.
        let (store, dense_from) = (StoreMode::Exact, None);
        let short = SearchOptions { max_states, threads: 1, store, dense_from, ..options.clone() };
        let begin = first.take().and_then(|first| transferred(layout, &first, layout).ok().flatten());
        let (report, exploration) = search(&system, &interpreter, &short, begin, observer)?;
        let is_cut = report.stop_reason == Some(StopReason::StateLimit(limit));
        if !is_cut || options.max_states == Some(limit) {
            return Ok(packed(report, 0));
        }
        seen.include_some(layout, &exploration);
        first = Some(exploration);
        let narrow = seen.layout(layout);
        if !pays(&narrow) {
            break;
        }
        if !is_last {
            limit = states_for(narrowing, system.size(), layout.words(), narrow.words());
            if !alone {
                limit = limit.max(narrowing.parallel_states);
            }
        } else {
            // One process after the other, as far as it goes: this fills queues and produces large numbers. Also
            // transient states, which need room, too.
            for order in [SearchOrder::DepthFirst, SearchOrder::BreadthFirst] {
                let (properties, max_states) = (Some(Vec::new()), Some(limit.min(DEEP_STATES)));
                let violations = ViolationLimit::First;
                let sample =
                    SearchOptions { order, properties, max_states, violations, store_passing: true, ..short.clone() };
                let mut relay = Relay { observer: &mut *observer, stopped: None };
                let (_, sample) = search(&system, &interpreter, &sample, None, &mut relay)?;
                if let Some(reason) = relay.stopped {
                    return Ok(packed(Report { stop_reason: Some(reason), ..report }, 0));
                }
                seen.include_some(layout, &sample);
            }
        }
    }
    let first = first.expect("the first look was cut short");

    let attempts = if alone { narrowing.attempts } else { narrowing.attempts.min(PARALLEL_ATTEMPTS) };
    let mut before = (layout.clone(), first);
    let mut outgrown = 0;
    while outgrown < attempts {
        let narrow = seen.layout(layout);
        if !pays(&narrow) {
            break;
        }
        let begin = match transferred(&before.0, &before.1, &narrow) {
            Ok(begin) => begin,
            Err(state) => {
                seen.widen(&narrow, &state);
                outgrown += 1;
                continue;
            }
        };
        let (report, exploration, outcome) = continue_with(&narrow, &evaluator, options, begin, observer)?;
        match &outcome {
            Outcome::Done => return Ok(packed(report, outgrown)),
            Outcome::TooNarrow(state) => seen.widen(&narrow, state),
            Outcome::Slow => {}
        }
        outgrown += 1;
        if exploration.rest.is_some() {
            before = (narrow, exploration);
        }
        if matches!(outcome, Outcome::Slow) {
            break;
        }
    }
    let begin = transferred(&before.0, &before.1, layout).ok().flatten();
    drop(before);
    let found = search(&system, &interpreter, options, begin, observer);
    let (report, _) = match found {
        Err(EngineError::Resume { .. }) => search(&system, &interpreter, options, None, observer)?,
        found => found?,
    };
    Ok(packed(report, outgrown))
}

/// A layout with room for some states, and perhaps for others.
pub fn layout_for<'s>(model: &Model, layout: &Layout, states: impl IntoIterator<Item = &'s Valuation>) -> Layout {
    let mut seen = Seen::new(model, layout);
    states.into_iter().for_each(|state| seen.include(state));
    seen.layout(layout)
}

/// Searches a system, from the start or from where another search stopped.
fn search(
    system: &DeferredSystem<'_>,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
) -> Result<(Report, Exploration), EngineError> {
    let system = PassingSystem::new(system, interpreter, options);
    search_and_judge(&OneProcess, &system, interpreter, options, begin, observer, None)
}

/// The outcome of a search with another layout.
enum Outcome {
    /// Finished.
    Done,
    /// The layout had no room for a state. The report must not be used.
    TooNarrow(Box<Valuation>),
    /// It had no room for intermediate states of very many steps. The report must not be used.
    Slow,
}

/// Continues with another layout where a search stopped.
fn continue_with(
    layout: &Layout,
    whole: &SpecialisedSystem<'_>,
    options: &SearchOptions,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
) -> Result<(Report, Exploration, Outcome), EngineError> {
    let interpreter = Interpreter::new(whole.model(), layout);
    let evaluator = SpecialisedSystem::of_reachable_until(&interpreter, observer.interrupt());
    let system = DeferredSystem::for_search(&evaluator, false, options);
    // If that happens with any layout, another one does not help.
    let patience = SLOW_STEPS + SLOW_STEPS * whole.consulted();
    let mut watch = Patience::new(observer, &evaluator, patience);
    let (report, exploration) = match search(&system, &interpreter, options, begin, &mut watch) {
        // There was no memory for both; a restart may fit.
        Err(EngineError::Resume { .. }) => search(&system, &interpreter, options, None, &mut watch)?,
        found => found?,
    };
    whole.fired().include(evaluator.fired());
    let outcome = match evaluator.outgrown() {
        Some(state) => Outcome::TooNarrow(Box::new(state.clone())),
        None if watch.is_spent() => Outcome::Slow,
        None => Outcome::Done,
    };
    Ok((report, exploration, outcome))
}

/// The point where a search stopped, with its states in another layout; or a state for which that has no room.
fn transferred(layout: &Layout, exploration: &Exploration, target: &Layout) -> Result<Option<Saved>, Valuation> {
    let Some(rest) = &exploration.rest else { return Ok(None) };
    let repacking = Repacking::new(layout, target);
    let (mut states, mut parents) = (Vec::new(), Vec::new());
    for number in exploration.store.numbers() {
        let state = exploration.store.state(number);
        if !repacking.append(state, &mut states) {
            return Err(layout.unpack(state));
        }
        parents.push(exploration.store.parent(number).unwrap_or(NO_PARENT));
    }
    let mut totals = rest.totals.clone();
    for state in totals.findings.iter_mut().filter_map(|finding| finding.state.as_mut()) {
        let mut packed = Vec::with_capacity(target.words());
        if !repacking.append(state, &mut packed) {
            return Err(layout.unpack(state));
        }
        *state = packed;
    }
    Ok(Some(Saved::new(target.words(), totals, rest.current.clone(), rest.next.clone(), (states, parents))))
}

/// Forwards to an observer whether to continue, and remembers if not.
struct Relay<'a> {
    observer: &'a mut dyn Observer,
    stopped: Option<StopReason>,
}

impl Observer for Relay<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        let flow = self.observer.progress(progress);
        if let ControlFlow::Break(reason) = &flow {
            self.stopped = Some(reason.clone());
        }
        flow
    }
}
