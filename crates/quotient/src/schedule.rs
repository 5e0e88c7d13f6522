//! Which run goes on, and how far: the one place where shares, restarts, trials and winners are decided.
//!
//! A schedule is a function from plain data to a decision. It starts no thread and reads no clock: it is told what
//! happened ([`Event`]), and says what to do next ([`Action`]). `course.rs` does it.
//!
//! The main search is held at marks ([`Schedule::marks`]), which depend on its counted work alone. At each mark, the runs
//! beside it go on for a share of its work, one after the other:
//!
//! * Detection looks for symmetries. What takes a few milliseconds is done before the search begins: that is all of it
//!   for most models. If it finds a group that pays, the search begins again with that.
//! * Relations between steps are found out, and then a search with a part of the steps is tried. Choosing steps takes
//!   longer than taking them, so this pays only where few suffice: an attempt may store a small share of the states of
//!   the main search; if it is then expected to end well before that ([`Reached::expected`]), it goes on to a large one.
//!   If it disappoints, it goes on when the main search is some times as large. If it finds a violation, its run need
//!   not be a shortest one: the main search continues for a while, and if it finds one, too, that is the answer.
//! * Adaptive reduction is tried. It must be much smaller at the same depth, or it is given up at once.
//! * All states of a net are found as one set.
//!
//! What is tried one after the other, before or after a search of single states, is decided in [`trials`].
//!
//! All work is counted in one unit, a nanosecond of an ordinary machine, by the table [`cost`].

pub(crate) mod trials;

use num_bigint::BigUint;
use quotient_search::{Marks, Progress, Reached};

/// What work costs, in nanoseconds: the fastest of the machines measured for what waits, the slowest for what it waits for.
pub(crate) mod cost {
    /// A step of a search with symmetries switched off. A node of the rules that adaptive reduction analyses takes as long.
    pub(crate) const STEP: u64 = 100;
    /// A unit of detection.
    pub(crate) const DETECTION: u64 = 160;
    /// A node of the functions that relations are found from.
    pub(crate) const RELATION: u64 = 50;
    /// A unit of saturation.
    pub(crate) const SATURATION: u64 = 40;
}

/// The work that a run may do beside a search of some steps, in its own units: one part in `share` of the cost of the steps.
const fn work_beside(steps: u64, share: u64, unit: u64) -> u64 {
    // Divisions in a row round like one by the product.
    steps / (share * unit / cost::STEP)
}

/// The work of detection before the search begins: about eight milliseconds.
pub(crate) const FREE_DETECTION: u64 = 120_000;
/// The same if symmetries were asked for: about three seconds.
const PATIENT_DETECTION: u64 = 1 << 25;
/// The share of detection, one part in this many.
const DETECTION_SHARE: u64 = 10;
/// The least work that is granted at a time: the search is not held for less.
const LEAST_GRANT: u64 = 20_000;
/// The nodes of expressions that take as long to evaluate as a step.
const NODES_PER_STEP: u64 = 20;

/// The number of states before an attempt with a part of the steps: smaller searches are over before it pays.
const FIRST_PARTS: u64 = 4_096;
/// An attempt may store one part in this many of the states stored so far.
const PARTS_SHARE: u64 = 8;
/// The same, at least, if it is promising.
const PROMISING_SHARE: u64 = 4;
/// The factor by which the number of states grows before an attempt that disappoints continues.
const PARTS_GROWTH: u64 = 2;
/// How often an attempt may disappoint before it is given up.
const DISAPPOINTMENTS: u32 = 3;
/// How many states the search must still be expected to store for one of the attempt. That one takes four to eight times as
/// long, and what is expected of an attempt early is half of the truth at times.
const GAIN: u64 = 16;
/// Nothing is looked for or tried while fewer than one state in this many waits: such a search is over soon.
const WAITING_SHARE: u64 = 256;
/// A promising attempt continues when the search has one part in this many more states.
const PORTION: u64 = 8;
/// The work for relations that is allowed in any case: some twenty milliseconds.
const LEAST_RELATIONS: u64 = 240_000;
/// The steps that must still be expected of the search: one that has fewer is over before that work pays.
const LEAST_REST: u64 = 20_000;
/// The share of relations, one part in this many.
const RELATIONS_SHARE: u64 = 6;
/// How many times as large a search may become while it looks for a shortest run to a violation that is known.
const PATIENCE: u64 = 2;

/// The number of states before adaptive reduction is tried: smaller models are not worth it.
const FIRST_ADAPTIVE: u64 = 20_000;
/// The share of adaptive reduction, one part in this many.
const ADAPTIVE_SHARE: u64 = 8;
/// The work it may do in any case: some ten milliseconds.
const LEAST_ADAPTIVE: u64 = 1 << 17;
/// It is granted its share in so many portions, and must be promising after each.
const ADAPTIVE_PORTIONS: u64 = 8;
/// The share of the states of the search that it may store up to the same depth.
const ADAPTIVE_STATES: u64 = 64;

/// The number of states before a set is begun, unless these take long: most nets have fewer.
const FIRST_SET: u64 = 512;
/// The share of the set with which it is begun whatever the number of states: some 40 ms.
const FIRST_SET_WORK: u64 = 1 << 20;
/// The share of the set, one part in this many.
const SET_SHARE: u64 = 10;
/// With symmetries, the slots for which a unit may be done at each step: they are sorted.
const SLOTS_PER_UNIT: u64 = 64;
/// The rule instances that are tried in a state for a unit: most of them are dismissed in a few nanoseconds.
const INSTANCES_PER_UNIT: u64 = 32;

/// When a larger group is worth restarting the search: the factor by which it is larger than the group in use, and the
/// share of states that must still wait, as one part in this many. The remaining search is taken to be as long as the
/// search so far, and longer if many states wait.
const PAYS: [(u32, u64); 3] = [(16, u64::MAX), (4, 8), (2, 3)];

/// The work of detection beside a search of so many steps.
pub(crate) fn detection_beside(steps: u64) -> u64 {
    FREE_DETECTION.saturating_add(work_beside(steps, DETECTION_SHARE, cost::DETECTION))
}

/// The work for relations that a search of some steps is worth.
pub(crate) fn relations_beside(steps: u64) -> u64 {
    LEAST_RELATIONS + work_beside(steps, RELATIONS_SHARE, cost::RELATION)
}

/// What may run beside a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// Whether symmetries are looked for.
    pub(crate) detection: Option<DetectionTerms>,
    /// Whether a part of the steps is tried.
    pub(crate) tries_parts: bool,
    /// Whether adaptive reduction is tried.
    pub(crate) tries_adaptive: bool,
    /// Whether the set of all states is computed.
    pub(crate) set: Option<SetTerms>,
}

/// How long symmetries are looked for, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetectionTerms {
    /// For how much work the search waits.
    pub(crate) patience: Patience,
    /// The nodes that are evaluated in each state, beside what its steps usually take.
    pub(crate) nodes: u64,
}

/// For how much detection a search waits before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// For what takes a few milliseconds. Larger groups that are found later are used if they pay.
    Little,
    /// For seconds: symmetries were asked for. Those that are found later are used in any case.
    Much,
    /// Until it ends.
    Unlimited,
}

/// What the steps of a net cost beside a set of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetTerms {
    /// The rule instances that are tried in a state, weighted by what they cost.
    pub(crate) instances: u64,
    /// The slots of a state.
    pub(crate) slots: u64,
    /// Whether states are sorted.
    pub(crate) is_reduced: bool,
}

/// A run beside the main search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Detection,
    Relations,
    Parts,
    Adaptive,
    Set,
}

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Nothing yet.
    Begin,
    /// The main search is at a mark, with this room for states in all.
    Mark { reached: Reached, room: Option<u64> },
    /// The run that was granted work waits for more, or could not begin.
    Waits(Reached),
    /// Detection knows symmetries.
    Known(Known),
    /// The run that was granted work has ended.
    Ended(End),
    /// The run that was to be given up is gone.
    GivenUp,
}

/// What detection knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The order of the group; none if detection gave up.
    pub(crate) order: Option<BigUint>,
    /// Whether the search can be reduced by it.
    pub(crate) reduces: bool,
    /// Whether detection is over.
    pub(crate) is_all: bool,
}

/// What a run ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It answers the question of the main search.
    Answer,
    /// It answers it by a violation, to which there may be a shorter run.
    Violation,
    /// Relations are known.
    Ready,
    /// There is nothing to be had from it.
    Nothing,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Let the main search go on to its next mark. Begin it if it has not begun.
    Search,
    /// Let a run go on until it has used this much work in all. Begin it if it has not begun.
    Grant(Beside, u64),
    /// Give up a run.
    GiveUp(Beside),
    /// Begin the main search again, with the symmetries that detection knows.
    Restart,
    /// The result of a run is the answer.
    Take(Beside),
}

/// The state of a schedule.
#[derive(Debug)]
pub(crate) struct Schedule {
    has_begun: bool,
    main: Reached,
    /// The room for states in all, in bytes.
    room: Option<u64>,
    detection: Option<Detection>,
    /// The order of the group that the search is reduced by.
    in_use: BigUint,
    /// The order of the group, once detection is over.
    order: Option<BigUint>,
    parts: Parts,
    adaptive: Option<Adaptive>,
    set: Option<Set>,
    /// Whose turn it is.
    turn: Turn,
}

#[derive(Debug)]
struct Detection {
    terms: DetectionTerms,
    granted: u64,
}

#[derive(Debug)]
struct Parts {
    /// The number of states when an attempt begins or continues, if one is to.
    next: Option<u64>,
    relations: Relations,
    disappointments: u32,
    /// The number of states of the search at which a violation that is known is the answer.
    violated: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relations {
    Unknown,
    Begun { granted: u64 },
    Known,
}

#[derive(Debug, Default)]
struct Adaptive {
    granted: u64,
}

#[derive(Debug)]
struct Set {
    terms: SetTerms,
    granted: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Main,
    Detection,
    Relations,
    Parts,
    PromisingParts,
    Adaptive,
    Set,
}

impl Schedule {
    /// Where the main search is held: first after about ten milliseconds, so that small searches see no trials.
    pub(crate) fn marks(&self) -> Marks {
        let states_until = |work: u64, work_of_state: u64| (work / work_of_state.max(1)).max(1);
        let detection = self.detection.as_ref().map_or(FIRST_PARTS, |detection| {
            let steps = LEAST_GRANT * DETECTION_SHARE * cost::DETECTION / cost::STEP;
            states_until(steps * NODES_PER_STEP, detection.terms.nodes)
        });
        let set = self.set.as_ref().map_or(FIRST_PARTS, |set| {
            states_until(FIRST_SET_WORK * INSTANCES_PER_UNIT, set.terms.instances).min(FIRST_SET)
        });
        Marks { states: FIRST_PARTS.min(detection).min(set), steps: 1 << 16, share: 32 }
    }

    pub(crate) fn new(terms: Terms) -> Self {
        Self {
            has_begun: false,
            main: Reached::default(),
            room: None,
            detection: terms.detection.map(|terms| Detection { terms, granted: 0 }),
            in_use: BigUint::from(1u32),
            order: None,
            parts: Parts {
                next: terms.tries_parts.then_some(FIRST_PARTS),
                relations: Relations::Unknown,
                disappointments: 0,
                violated: None,
            },
            adaptive: terms.tries_adaptive.then(Adaptive::default),
            set: terms.set.map(|terms| Set { terms, granted: 0 }),
            turn: Turn::Main,
        }
    }

    /// What to do after something happened.
    pub(crate) fn next(&mut self, event: Event) -> Action {
        match event {
            Event::Begin => self.first(),
            Event::Mark { reached, room } => {
                (self.main, self.room, self.has_begun) = (reached, room, true);
                self.detection()
            }
            Event::Known(known) => self.found(known),
            Event::Waits(reached) => match self.turn {
                Turn::Main | Turn::Set => self.search(),
                Turn::Detection if !self.has_begun => self.search(),
                Turn::Detection => self.parts(),
                Turn::Relations | Turn::PromisingParts => self.adaptive(),
                Turn::Parts => self.continue_parts(&reached),
                Turn::Adaptive => self.continue_adaptive(&reached.progress),
            },
            Event::Ended(end) => self.ended(end),
            Event::GivenUp => match self.turn {
                Turn::Parts | Turn::PromisingParts => self.adaptive(),
                _ => self.search(),
            },
        }
    }

    fn search(&mut self) -> Action {
        (self.turn, self.has_begun) = (Turn::Main, true);
        Action::Search
    }

    fn grant(&mut self, turn: Turn, beside: Beside, total: u64) -> Action {
        self.turn = turn;
        Action::Grant(beside, total)
    }

    /// What is done before the search begins.
    fn first(&mut self) -> Action {
        let Some(detection) = &mut self.detection else { return self.search() };
        detection.granted = match detection.terms.patience {
            Patience::Little => FREE_DETECTION,
            Patience::Much => PATIENT_DETECTION,
            Patience::Unlimited => u64::MAX,
        };
        let granted = detection.granted;
        self.grant(Turn::Detection, Beside::Detection, granted)
    }

    /// Lets detection do its share.
    fn detection(&mut self) -> Action {
        let Progress { states, transitions, .. } = self.main.progress;
        let Some(detection) = &mut self.detection else { return self.parts() };
        let DetectionTerms { patience, nodes } = detection.terms;
        let steps = transitions.saturating_add(states.saturating_mul(nodes) / NODES_PER_STEP);
        let share = match patience {
            Patience::Little => detection_beside(steps),
            // As much as the search.
            Patience::Much | Patience::Unlimited => {
                PATIENT_DETECTION.saturating_add(work_beside(steps, 1, cost::DETECTION))
            }
        };
        if share < detection.granted.saturating_add(LEAST_GRANT) {
            return self.parts();
        }
        detection.granted = share;
        self.grant(Turn::Detection, Beside::Detection, share)
    }

    /// Decides what to do with symmetries.
    fn found(&mut self, known: Known) -> Action {
        let Known { order, reduces, is_all } = known;
        let is_asked = self.is_asked();
        if is_all {
            self.detection = None;
            self.order.clone_from(&order);
        }
        let is_larger = |order: &BigUint| pays(&self.main.progress, order, &self.in_use);
        let pays = reduces && (is_asked || order.as_ref().is_some_and(is_larger));
        if self.has_begun && !pays {
            return self.parts();
        }
        self.order.clone_from(&order);
        self.in_use = order.filter(|_| reduces).unwrap_or_else(|| BigUint::from(1u32));
        // What is tried beside a search has the same symmetries.
        if let Some(adaptive) = &mut self.adaptive {
            *adaptive = Adaptive::default();
        }
        self.main = Reached::default();
        self.turn = Turn::Main;
        Action::Restart
    }

    /// Whether symmetries were asked for, and are not known yet.
    fn is_asked(&self) -> bool {
        self.detection.as_ref().is_some_and(|detection| detection.terms.patience != Patience::Little)
    }

    /// Lets an attempt with a part of the steps begin or continue, if that is due.
    fn parts(&mut self) -> Action {
        let Progress { states, transitions, frontier, .. } = self.main.progress;
        if let Some(end) = self.parts.violated {
            return if states >= end { Action::Take(Beside::Parts) } else { self.search() };
        }
        let is_over_soon = frontier < states / WAITING_SHARE;
        if self.parts.next.is_none() || states < FIRST_PARTS || is_over_soon || self.is_asked() {
            return self.adaptive();
        }
        let granted = match self.parts.relations {
            Relations::Known => return self.begin_parts(),
            Relations::Begun { granted } => granted,
            Relations::Unknown => 0,
        };
        let steps = self.expected_steps();
        let is_short = self.main.expected().is_some() && steps.saturating_sub(transitions) < LEAST_REST;
        let work = relations_beside(steps);
        if granted == 0 && is_short || work < granted.saturating_add(LEAST_GRANT) {
            return self.adaptive();
        }
        self.parts.relations = Relations::Begun { granted: work };
        self.grant(Turn::Relations, Beside::Relations, work)
    }

    /// The number of steps that the search is expected to have.
    fn expected_steps(&self) -> u64 {
        let Progress { states, transitions, .. } = self.main.progress;
        let expected = self.main.expected().unwrap_or(0).max(states);
        let steps = u128::from(transitions) * u128::from(expected) / u128::from(states.max(1));
        u64::try_from(steps).unwrap_or(u64::MAX)
    }

    fn begin_parts(&mut self) -> Action {
        let Progress { states, memory_bytes, .. } = self.main.progress;
        if self.parts.next.is_some_and(|next| states < next) {
            return self.adaptive();
        }
        self.turn = Turn::Parts;
        if self.room.is_some_and(|room| memory_bytes > room / 2) {
            self.parts.next = None;
            return Action::GiveUp(Beside::Parts);
        }
        Action::Grant(Beside::Parts, states / PARTS_SHARE)
    }

    /// Decides how far an attempt goes that has used its first share.
    fn continue_parts(&mut self, attempt: &Reached) -> Action {
        let states = self.main.progress.states;
        let rest = self.main.expected().map(|expected| expected.saturating_sub(states));
        if is_promising(attempt, &self.main.progress, rest) {
            self.parts.next = Some(states.saturating_add(states / PORTION));
            let further = attempt.progress.states.saturating_add(rest.unwrap_or(0) / (2 * GAIN));
            return self.grant(Turn::PromisingParts, Beside::Parts, further.max(states / PROMISING_SHARE));
        }
        self.parts.next = Some(states.saturating_mul(PARTS_GROWTH));
        self.parts.disappointments += 1;
        if self.parts.disappointments < DISAPPOINTMENTS {
            return self.adaptive();
        }
        self.parts.next = None;
        Action::GiveUp(Beside::Parts)
    }

    /// Lets an adaptive search do its share, if that is due. Not while the number of symmetries is unknown.
    fn adaptive(&mut self) -> Action {
        let Progress { states, transitions, .. } = self.main.progress;
        let is_due = states >= FIRST_ADAPTIVE && self.order.is_some();
        let Some(adaptive) = self.adaptive.as_mut().filter(|_| is_due) else { return self.set() };
        let share = work_beside(transitions, ADAPTIVE_SHARE, cost::STEP).max(LEAST_ADAPTIVE);
        if share < adaptive.granted.saturating_add(LEAST_GRANT) {
            return self.set();
        }
        let portion = (share / ADAPTIVE_PORTIONS).clamp(LEAST_GRANT, share - adaptive.granted);
        adaptive.granted += portion;
        let granted = adaptive.granted;
        self.grant(Turn::Adaptive, Beside::Adaptive, granted)
    }

    fn continue_adaptive(&mut self, attempt: &Progress) -> Action {
        let beside = &self.main.progress;
        let is_small = attempt.states <= beside.states / ADAPTIVE_STATES || attempt.depth > beside.depth;
        if is_small {
            return self.adaptive();
        }
        self.adaptive = None;
        Action::GiveUp(Beside::Adaptive)
    }

    /// Lets the set of all states do its share.
    fn set(&mut self) -> Action {
        let Progress { states, transitions, .. } = self.main.progress;
        let Some(set) = &mut self.set else { return self.search() };
        let SetTerms { instances, slots, is_reduced } = set.terms;
        let steps = match is_reduced {
            true => transitions.saturating_mul(1 + slots / SLOTS_PER_UNIT),
            false => work_beside(transitions, SET_SHARE, cost::SATURATION),
        };
        let share = steps.saturating_add(states.saturating_mul(instances) / INSTANCES_PER_UNIT);
        let is_early = states < FIRST_SET && share < FIRST_SET_WORK;
        if is_early || share < set.granted.saturating_add(LEAST_GRANT) {
            return self.search();
        }
        set.granted = share;
        self.grant(Turn::Set, Beside::Set, share)
    }

    fn ended(&mut self, end: End) -> Action {
        match (self.turn, end) {
            (Turn::Relations, End::Ready) => {
                self.parts.relations = Relations::Known;
                self.begin_parts()
            }
            (Turn::Relations, _) => {
                self.parts.next = None;
                self.adaptive()
            }
            (Turn::Parts | Turn::PromisingParts, End::Answer) => Action::Take(Beside::Parts),
            (Turn::Parts | Turn::PromisingParts, End::Violation) => {
                self.parts.next = None;
                self.parts.violated = Some(self.main.progress.states.saturating_mul(PATIENCE));
                self.search()
            }
            (Turn::Parts | Turn::PromisingParts, _) => {
                self.parts.next = None;
                self.adaptive()
            }
            (Turn::Adaptive, End::Answer) => Action::Take(Beside::Adaptive),
            (Turn::Adaptive, _) => {
                self.adaptive = None;
                self.set()
            }
            (Turn::Set, End::Answer) => Action::Take(Beside::Set),
            (Turn::Detection, _) => {
                self.detection = None;
                if self.has_begun { self.parts() } else { self.search() }
            }
            (Turn::Main | Turn::Set, _) => {
                self.set = None;
                self.search()
            }
        }
    }
}

/// Whether a search should begin again with a group of this order, given that of the group in use.
fn pays(progress: &Progress, order: &BigUint, in_use: &BigUint) -> bool {
    PAYS.iter().any(|&(times, share)| {
        let waits = share == u64::MAX || progress.frontier >= progress.states / share;
        *order >= in_use * times && waits
    })
}

/// Whether an attempt will be over well before the search beside which it is made, whose rest is expected to have some
/// states. If nothing is expected yet: whether it is nearer to its end, since it is deeper, or fewer of its states wait.
/// States are passed through in an attempt, so depth alone would not do.
fn is_promising(attempt: &Reached, search: &Progress, rest: Option<u64>) -> bool {
    let progress = &attempt.progress;
    match (attempt.expected(), rest) {
        (Some(expected), Some(rest)) => expected.saturating_sub(progress.states).saturating_mul(GAIN) <= rest,
        _ => {
            let waiting = |of: &Progress, beside: &Progress| u128::from(of.frontier) * u128::from(beside.states);
            progress.depth > search.depth || waiting(progress, search) < waiting(search, progress)
        }
    }
}

#[cfg(test)]
mod tests;
