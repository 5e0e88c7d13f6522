//! Explores the reachable states: in memory (`memory`, `threads`, `unordered`) and, when that is full, on disk (`disk`).

use std::collections::BTreeMap;

use crate::{disk, memory, threads, unordered};
use quotient_states::checkpoint;

use crate::form::Form;
use quotient_search::{
    Checks, EngineError, Observer, SearchOptions, SearchOrder, SearchSpace, Space, StopReason, ViolationLimit,
};
use quotient_states::checkpoint::{CheckpointSubject, ResumeError, Saved};
use quotient_states::store::{Entries, StateNumber, Store};
use quotient_states::{End, Exploration, Explorer, Finding, Orbits, Shards};

/// The largest number of states that one thread takes over from another search for a search in no particular order.
const LARGEST_BEGINNING: u64 = 1 << 20;

/// Searches in this process alone, on as many threads as the options say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneProcess;

impl Explorer for OneProcess {
    fn is_shared(&self) -> bool {
        false
    }

    fn explore(
        &self,
        system: &Space<'_>,
        (checks, options): (&Checks, &SearchOptions),
        subject: &CheckpointSubject,
        begin: Option<Saved>,
        _orbits: Option<&Orbits<'_>>,
        observer: &mut dyn Observer,
    ) -> Result<Exploration, EngineError> {
        explore(system, checks, options, subject, begin, observer)
    }

    fn retrace(
        &self,
        system: &Space<'_>,
        (checks, options): (&Checks, &SearchOptions),
        exploration: &mut Exploration,
        observer: &mut dyn Observer,
    ) {
        retrace(system, checks, options, exploration, observer);
    }
}

/// Searches the reachable states of a system, from the start or from the point where another search was stopped.
pub(crate) fn explore<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    subject: &CheckpointSubject,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
) -> Result<Exploration, EngineError> {
    let refused = |error: ResumeError| {
        let path = options.resume.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        EngineError::Resume { path, reason: error.to_string() }
    };
    let mut begin = match (begin, &options.resume) {
        (None, Some(path)) => {
            let saved = checkpoint::read(path, subject, system.words(), options).map_err(refused)?;
            observer.resumed(saved.states());
            Some(saved)
        }
        (begin, _) => begin,
    };
    if let Some(saved) = &begin {
        system.facts().note_fired_rules(&saved.fired);
    }
    let graph = observer.wants_graph();
    let identity = system.identity();
    if let Some(reason) = options.refusal(identity, graph, !checks.liveness.is_empty()) {
        return Err(EngineError::Refused(reason));
    }
    // Drawing the graph and rebuilding runs that violate liveness require the order of the whole search.
    let alone = graph || !checks.liveness.is_empty() || options.order == SearchOrder::DepthFirst;
    let form = Form::of(system, checks, options, graph);
    let limited;
    let (whole, options) = match options.spill {
        None => (options, options),
        Some(_) => {
            limited = SearchOptions { max_memory: options.max_memory.map(disk::share_for_states), ..options.clone() };
            (options, &limited)
        }
    };
    let is_shared = options.threads > 1 && !alone && !form.entries.is_approximate();
    let known = begin.as_ref().map_or(0, Saved::states);
    if is_shared && known <= LARGEST_BEGINNING && options.permits_any_order(identity) {
        let ordered = options.ordered_states.max(known + 1);
        let first = SearchOptions { max_states: Some(ordered), ..options.clone() };
        // Its states are kept in order: they are few.
        let usual = Form { dense_at: None, ..form };
        let found = memory::search(system, checks, &first, usual, subject, begin.take(), &mut *observer);
        let (mut exploration, _) = found.map_err(refused)?;
        match (&exploration.end, exploration.rest.take()) {
            (End::Stopped(StopReason::StateLimit(limit)), Some(rest)) if *limit == ordered => {
                return Ok(unordered::continue_search(system, checks, options, form, exploration, rest, observer));
            }
            // There are very many starts, so nothing has begun.
            (End::Stopped(StopReason::StateLimit(limit)), None) if *limit == ordered => {}
            (_, rest) => {
                exploration.rest = rest;
                return Ok(exploration);
            }
        }
    }
    let (exploration, handover) = if is_shared {
        threads::search(system, checks, options, form, subject, begin, &mut *observer)?
    } else {
        memory::search(system, checks, options, form, subject, begin, &mut *observer).map_err(refused)?
    };
    if let (Some(spill), Some(handover)) = (&options.spill, handover) {
        return Ok(disk::search_on_disk(system, checks, whole, spill, exploration, handover, observer));
    }
    Ok(exploration)
}

/// Finds the states of the runs to what a search has found, if the store has forgotten them, by repeating the search. The
/// store then has no other states.
pub(crate) fn retrace<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    exploration: &mut Exploration,
    observer: &mut dyn Observer,
) {
    if exploration.approximation.is_none() && exploration.ancestry.is_none() && exploration.origins.is_empty() {
        return;
    }
    let form = Form::of(system, checks, options, observer.wants_graph());
    let Exploration { end, findings, store, ancestry, origins, .. } = exploration;
    let last = if let End::Found(finding) = end { Some(finding) } else { None };
    let mut found: Vec<&mut Finding> = findings.iter_mut().chain(last).collect();
    if found.is_empty() {
        return;
    }
    let past_violations;
    let mut options = options;
    if !origins.is_empty() {
        past_violations = SearchOptions { violations: ViolationLimit::All, ..options.clone() };
        options = &past_violations;
        *store = Shards::single(Store::new(system.words(), Entries::Numbers, None));
        let form = Form { dense_at: Some(0), ..form };
        let located = memory::locate(system, checks, options, form, origins.values().cloned(), &mut *observer);
        match located {
            Ok((numbers, parents)) => {
                for finding in &mut found {
                    finding.origin = finding.origin.map(|origin| numbers[&origins[&origin]]);
                }
                *ancestry = Some(parents);
            }
            Err(reason) => {
                *end = End::Stopped(reason);
                findings.clear();
                return;
            }
        }
    }
    let parent = |number: StateNumber| match &*ancestry {
        Some(ancestry) => ancestry.parent(number),
        None => store.parent(number),
    };
    let mut links: BTreeMap<StateNumber, Option<StateNumber>> = BTreeMap::new();
    for finding in &found {
        let mut number = finding.origin;
        while let Some(state) = number
            && !links.contains_key(&state)
        {
            number = parent(state);
            links.insert(state, number);
        }
    }
    let form = Form { dense_at: ancestry.is_some().then_some(0), ..form };
    // There may not be room for both searches.
    *store = Shards::single(Store::new(system.words(), Entries::Numbers, None));
    match memory::retrace(system, checks, options, form, &links, observer) {
        Ok(states) => {
            *store = Shards::single(states);
            for finding in &mut found {
                let number = finding.origin.and_then(|origin| links.keys().position(|&number| number == origin));
                finding.origin = number.map(|number| number as StateNumber);
            }
        }
        Err(reason) => {
            *end = End::Stopped(reason);
            findings.clear();
        }
    }
}
