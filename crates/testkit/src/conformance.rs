//! The conformance matrix: every reduction × threads or workers × store × memory or disk × interrupted or not × order, on
//! one model. All combinations must come to the same verdict; exact ones to the same counts, the others to reproducible
//! counts; every run must replay. Unsupported combinations must be refused, by the facade and by the engine.

use std::fmt;
use std::path::{Path, PathBuf};

use num_bigint::BigUint;
use quotient::{Checkpoint, Options, Symmetry};
use quotient_distributed::{check_distributed, join};
use quotient_explicit::{AdaptiveError, PartitionTime};
use quotient_ir::{
    Budget, DeadlockMode, Interpreter, Interrupt, Layout, Model, Property, PropertyId, PropertyKind, replay,
};
use quotient_representatives::Strategy;
use quotient_search::{
    EngineError, PropertyReport, Report, SearchOptions, SearchOrder, Silent, Spill, StopReason, StoreMode, Verdict,
};
use quotient_symmetry::PartialSymmetry;
use quotient_systems::{ReductionPlan, SymmetrySource};

use crate::search::plan;
use crate::workers::{Crew, memberships, together};

/// So little memory that searches are on disk from their first state on.
const LITTLE_MEMORY: u64 = 1 << 12;
/// A bit table large enough for small models.
const BITSTATE_BYTES: u64 = 1 << 22;

/// The reduction of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// None.
    None,
    /// By a strategy.
    By(Strategy),
    /// By annotated states.
    Adaptive,
}

impl Reduction {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let strategies = Strategy::ALL.into_iter().map(Self::By);
        [Self::None].into_iter().chain(strategies).chain([Self::Adaptive]).collect()
    }
}

/// Who searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hands {
    /// This many threads of one process.
    Threads(u32),
    /// Workers of one or several processes.
    Workers(Crew),
}

/// Workers that find the states of a level in different orders.
const CREWS: [Crew; 4] = [
    Crew { processes: 2, workers: 1 },
    Crew { processes: 1, workers: 2 },
    Crew { processes: 2, workers: 2 },
    Crew { processes: 3, workers: 1 },
];

/// One combination of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// The reduction.
    pub reduction: Reduction,
    /// Threads, or workers.
    pub hands: Hands,
    /// How states are stored.
    pub store: StoreMode,
    /// Whether it continues on disk.
    pub on_disk: bool,
    /// The share of its states (of 256) after which it is interrupted, and the number of threads with which it resumes.
    /// Workers resume with as many as before.
    pub interrupted: Option<(u8, u32)>,
    /// The search order.
    pub order: SearchOrder,
}

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reduction {
            Reduction::None => write!(formatter, "unreduced")?,
            Reduction::By(strategy) => write!(formatter, "{strategy}")?,
            Reduction::Adaptive => write!(formatter, "adaptive")?,
        }
        write!(formatter, ", {:?}, {:?}, ", self.order, self.store)?;
        match self.hands {
            Hands::Threads(threads) => write!(formatter, "{threads} threads")?,
            Hands::Workers(Crew { processes, workers }) => {
                write!(formatter, "{processes} processes of {workers} workers")?;
            }
        }
        if self.on_disk {
            write!(formatter, ", on disk")?;
        }
        if let Some((share, threads)) = self.interrupted {
            write!(formatter, ", interrupted after {share}/256, resumed on {threads} threads")?;
        }
        Ok(())
    }
}

/// The whole matrix. `random` decides where searches are interrupted, and how many workers there are.
pub fn ways(random: &mut impl FnMut(u64) -> u64) -> Vec<Way> {
    let mut ways = Vec::new();
    for reduction in Reduction::all() {
        for threads in [Some(1), Some(2), Some(4), None] {
            let approximate = [StoreMode::Compact, StoreMode::Bitstate { bytes: BITSTATE_BYTES }];
            for store in [StoreMode::Exact, StoreMode::Dense].into_iter().chain(approximate) {
                for on_disk in [false, true] {
                    for is_interrupted in [false, true] {
                        for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
                            let interrupted =
                                is_interrupted.then(|| (random(256) as u8, [1, 2, 4][random(3) as usize]));
                            let hands = match threads {
                                Some(threads) => Hands::Threads(threads),
                                None => Hands::Workers(CREWS[random(CREWS.len() as u64) as usize]),
                            };
                            ways.push(Way { reduction, hands, store, on_disk, interrupted, order });
                        }
                    }
                }
            }
        }
    }
    ways
}

/// The counts of a matrix run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Searches performed.
    pub searched: u64,
    /// Combinations refused.
    pub refused: u64,
    /// Combinations for which the model is unsuitable: no symmetries, or none that a strategy can use.
    pub unsuited: u64,
    /// Searches that had to continue on disk.
    pub on_disk: u64,
    /// Searches that were interrupted and resumed.
    pub resumed: u64,
    /// Searches by workers.
    pub by_workers: u64,
    /// Runs that were replayed.
    pub replayed: u64,
}

impl Tally {
    /// Adds another one.
    pub fn add(&mut self, other: &Self) {
        self.searched += other.searched;
        self.refused += other.refused;
        self.unsuited += other.unsuited;
        self.on_disk += other.on_disk;
        self.resumed += other.resumed;
        self.by_workers += other.by_workers;
        self.replayed += other.replayed;
    }
}

/// The subjects checked in each search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// Everything, so that many searches end at a violation.
    All,
    /// Run-time errors only, so that most searches finish.
    Errors,
}

/// Searches a model with several combinations. It is searched without reduction first, and is skipped unless it has
/// fewer states than the limit.
///
/// # Errors
/// A description of the disagreement.
pub fn cross(
    model: &quotient::Model,
    subjects: Subjects,
    ways: &[Way],
    most_states: u64,
    folder: &Path,
) -> Result<Tally, String> {
    let (ir, layout) = (model.ir(), model.layout());
    let base = match subjects {
        Subjects::All => SearchOptions { deadlock: model.usual_deadlock_mode(), ..SearchOptions::default() },
        Subjects::Errors => {
            SearchOptions { deadlock: DeadlockMode::Off, properties: Some(Vec::new()), ..SearchOptions::default() }
        }
    };
    let first = SearchOptions { max_states: Some(most_states), ..base.clone() };
    let whole = quotient_explicit::check(ir, layout, None, &first, &mut Silent).map_err(|error| error.to_string())?;
    if matches!(whole.stop_reason, Some(StopReason::StateLimit(_))) {
        return Ok(Tally::default());
    }
    let mut cross = Cross {
        model,
        subjects,
        ir,
        layout,
        base,
        whole,
        folder,
        plans: Vec::new(),
        partial: None,
        repeated: Vec::new(),
        alone: Vec::new(),
        tally: Tally::default(),
    };
    for &way in ways {
        cross.search(way).map_err(|error| format!("{way}: {error}"))?;
    }
    Ok(cross.tally)
}

/// How far a search goes at which something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// It ends at once, or nothing is wrong.
    First,
    /// Where states are found in any order, the level is searched to its end, unless that is before.
    Mixed,
    /// Workers search each level to its end.
    Level,
}

/// Counts that must be reproducible, by reduction, order and store.
type Repeated = ((Reduction, SearchOrder, StoreMode, Reach), (u64, u64, u64, Option<BigUint>));

struct Cross<'m> {
    model: &'m quotient::Model,
    subjects: Subjects,
    ir: &'m Model,
    layout: &'m Layout,
    base: SearchOptions,
    whole: Report,
    folder: &'m Path,
    plans: Vec<(Strategy, ReductionPlan)>,
    /// None until it is needed; then `Some(None)` if the model is unsuitable.
    partial: Option<Option<PartialSymmetry<'m>>>,
    repeated: Vec<Repeated>,
    /// The searches of one thread in memory that those by workers are compared with.
    alone: Vec<(Reduction, Report)>,
    tally: Tally,
}

/// The outcome of a search.
enum Outcome {
    Found(Box<Report>),
    Refused,
    /// The model has nothing that the combination could use.
    Unsuited,
}

impl<'m> Cross<'m> {
    fn search(&mut self, way: Way) -> Result<(), String> {
        let is_refused = quotient::Plan::new(self.model, &self.facade_options(way)).is_err();
        match self.run(way)? {
            Outcome::Refused if is_refused => self.tally.refused += 1,
            Outcome::Refused => return Err("the engine refuses what the facade accepts".to_owned()),
            // Combinations that the facade refuses for every model may be harmless for one without symmetries.
            Outcome::Unsuited => self.tally.unsuited += 1,
            Outcome::Found(_) if is_refused => return Err("the facade refuses what the engine does".to_owned()),
            Outcome::Found(report) => {
                self.tally.searched += 1;
                self.compare(way, &report)?;
            }
        }
        Ok(())
    }

    /// The same combination as a user would specify it.
    fn facade_options(&self, way: Way) -> Options {
        let path = self.folder.join("asked");
        Options {
            symmetry: if way.reduction == Reduction::None { Symmetry::Off } else { Symmetry::Auto },
            reduction: match way.reduction {
                Reduction::None => quotient::Reduction::None,
                Reduction::By(strategy) => quotient::Reduction::By(strategy),
                Reduction::Adaptive => quotient::Reduction::Adaptive,
            },
            properties: match self.subjects {
                Subjects::All => Vec::new(),
                Subjects::Errors => vec!["errors".to_owned()],
            },
            order: way.order,
            threads: if let Hands::Threads(threads) = way.hands { threads } else { 1 },
            workers: match way.hands {
                Hands::Threads(_) => None,
                Hands::Workers(crew) => memberships(crew).pop(),
            },
            store: way.store,
            spill: way.on_disk.then(|| self.spill()),
            checkpoint: way.interrupted.map(|_| Checkpoint::new(path)),
            ..Options::default()
        }
    }

    fn spill(&self) -> Spill {
        Spill { folder: self.folder.to_owned(), max_bytes: None }
    }

    fn run(&mut self, way: Way) -> Result<Outcome, String> {
        let options = SearchOptions {
            order: way.order,
            store: way.store,
            spill: way.on_disk.then(|| self.spill()),
            max_memory: way.on_disk.then_some(LITTLE_MEMORY),
            ..self.base.clone()
        };
        let options = match way.hands {
            Hands::Workers(_) => options,
            Hands::Threads(threads) => SearchOptions {
                threads,
                // An exact store becomes dense on the way, where that is possible.
                dense_from: (threads != 4).then_some(self.whole.memory_bytes / 2),
                // Some keep the order for a part of the states only.
                ordered_states: if threads == 4 { self.whole.states / 3 } else { u64::MAX },
                ..options
            },
        };
        let Some((share, threads)) = way.interrupted else { return self.run_with(way, &options) };
        let checkpoint = self.forget_checkpoints(way.hands);
        let limit = 1 + u64::from(share) * self.whole.states.saturating_sub(1) / 256;
        let begin = SearchOptions { checkpoint: Some(checkpoint.clone()), max_states: Some(limit), ..options.clone() };
        match self.run_with(way, &begin)? {
            Outcome::Found(report) if matches!(report.stop_reason, Some(StopReason::StateLimit(_))) => {}
            // A reduction may leave fewer states than that, or a violation may come first.
            other => return Ok(other),
        }
        if !checkpoint.exists() {
            // The main search finished, and an additional one for instances of liveness reached the limit: these are
            // small, and are repeated. Or workers have not come to the end of a level.
            return self.run_with(way, &options);
        }
        self.tally.resumed += 1;
        let resumed = SearchOptions { resume: Some(checkpoint), ..options };
        if let Hands::Workers(_) = way.hands {
            return self.run_with(way, &resumed);
        }
        // Some continue on disk, if that is supported.
        let by_words = !matches!(
            way.reduction,
            Reduction::By(Strategy::Markers | Strategy::MarkersTrees | Strategy::MarkersCanonical)
        );
        let on_disk = share % 4 == 3 && by_words && !self.checks_liveness();
        let (spill, max_memory) = (on_disk.then(|| self.spill()), on_disk.then_some(LITTLE_MEMORY));
        // The earlier results have to fit.
        let max_memory = max_memory.map(|little| little + 4 * self.whole.memory_bytes);
        self.run_with(way, &SearchOptions { threads, spill, max_memory, ..resumed })
    }

    /// Where a search is saved. The checkpoint of another combination must not be mistaken for one of this.
    fn forget_checkpoints(&self, hands: Hands) -> PathBuf {
        let path = self.folder.join(if let Hands::Threads(_) = hands { "checkpoint" } else { "checkpoints" });
        // It need not exist.
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    fn checks_liveness(&self) -> bool {
        let kinds = self.ir.properties.iter().map(|property| property.kind);
        self.subjects == Subjects::All && kinds.into_iter().any(|kind| kind == PropertyKind::AlwaysReachable)
    }

    fn run_with(&mut self, way: Way, options: &SearchOptions) -> Result<Outcome, String> {
        let (ir, layout) = (self.ir, self.layout);
        let plan = match way.reduction {
            Reduction::None => None,
            Reduction::By(strategy) => match self.plan(strategy)? {
                plan if plan.reduction.is_none() => return Ok(Outcome::Unsuited),
                plan => Some(plan),
            },
            Reduction::Adaptive => return self.run_adaptive(way, options),
        };
        let check = |options: &SearchOptions| quotient_explicit::check(ir, layout, plan, options, &mut Silent);
        let result = match way.hands {
            Hands::Threads(_) => check(options),
            Hands::Workers(crew) => alike(together(crew, |membership| {
                let network = join(&membership, &[], &Interrupt::new()).map_err(|error| error.to_string())?;
                let options = SearchOptions { threads: crew.workers, ..options.clone() };
                Ok(check_distributed(ir, layout, plan, &network, &options, &mut Silent))
            }))?,
        };
        match result {
            Ok(report) => Ok(Outcome::Found(Box::new(report))),
            Err(EngineError::Refused(_)) => Ok(Outcome::Refused),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The properties that symmetries must preserve.
    fn properties(&self) -> Vec<PropertyId> {
        let kept =
            |(_, property): &(PropertyId, &Property)| self.subjects == Subjects::All || !property.kind.is_claim();
        self.ir.properties.iter_enumerated().filter(kept).map(|(id, _)| id).collect()
    }

    fn plan(&mut self, strategy: Strategy) -> Result<&ReductionPlan, String> {
        if !self.plans.iter().any(|(known, _)| *known == strategy) {
            let properties = self.properties();
            let plan = plan(self.ir, self.layout, &properties, SymmetrySource::Detected, Some(strategy));
            self.plans.push((strategy, plan.map_err(|error| error.to_string())?));
        }
        Ok(self.plans.iter().find(|(known, _)| *known == strategy).map(|(_, plan)| plan).expect("it was just added"))
    }

    fn run_adaptive(&mut self, way: Way, options: &SearchOptions) -> Result<Outcome, String> {
        if let Hands::Workers(_) = way.hands {
            // What it removes is known to one process only: several have no way to search like this.
            return Ok(Outcome::Refused);
        }
        if self.partial.is_none() {
            let properties = self.properties();
            self.partial = Some(PartialSymmetry::new(self.ir, self.layout, &properties, &Budget::unlimited()).ok());
        }
        let Some(Some(partial)) = &mut self.partial else { return Ok(Outcome::Unsuited) };
        match quotient_explicit::check_adaptive(partial, options, PartitionTime::IfNeeded, &mut Silent) {
            Ok(found) => Ok(Outcome::Found(Box::new(found.report))),
            Err(AdaptiveError::Unsupported(_)) => Ok(Outcome::Refused),
            Err(AdaptiveError::Refused(_)) => Ok(Outcome::Unsuited),
            Err(error) => Err(error.to_string()),
        }
    }

    fn compare(&mut self, way: Way, report: &Report) -> Result<(), String> {
        self.tally.on_disk += u64::from(way.on_disk);
        let interpreter = Interpreter::new(self.ir, self.layout);
        for trace in report.properties.iter().filter_map(|property| property.trace.as_ref()) {
            replay(&interpreter, trace).map_err(|error| format!("a run does not replay: {error}"))?;
            self.tally.replayed += 1;
        }
        let is_approximate = report.approximation.is_some() || report.stop_reason == Some(StopReason::Approximate);
        if is_approximate {
            // An approximate search may miss violations, but those it finds must be real.
            if report.verdict == Verdict::Violated && self.whole.verdict != Verdict::Violated {
                return Err("an approximate search finds a violation that is not there".to_owned());
            }
        } else if report.verdict != self.whole.verdict {
            return Err(format!("{:?}, and {:?} without reduction", report.verdict, self.whole.verdict));
        }
        let is_finished = report.stop_reason.is_none() && self.whole.stop_reason.is_none();
        if is_finished && !is_approximate {
            for (found, known) in report.properties.iter().zip(&self.whole.properties) {
                if (found.subject, found.verdict) != (known.subject, known.verdict) {
                    return Err(format!("{:?} on {:?}, {:?} expected", found.verdict, found.subject, known.verdict));
                }
            }
        }
        if is_finished
            && let Some(represented) = &report.represented
            && *represented != BigUint::from(self.whole.states)
        {
            return Err(format!("{represented} states represented, {} reachable", self.whole.states));
        }
        if let Hands::Workers(_) = way.hands {
            self.tally.by_workers += 1;
            self.compare_with_one(way, report)?;
        }
        // Threads, workers, disk, interruptions and how densely states are stored do not change any counts. But a search that
        // finds a violation stops elsewhere if it takes states in another order. Four threads and workers keep none, except on
        // disk and in dense stores; at a limit workers complete no level; and a search that is saved has other representatives.
        let is_ordered = matches!(way.hands, Hands::Threads(1 | 2));
        let is_other = way.interrupted.is_some() && !(is_ordered && way.reduction == Reduction::None);
        if report.verdict == Verdict::Violated && (is_other || way.on_disk && !is_ordered) {
            return Ok(());
        }
        let is_exact = way.store == StoreMode::Dense && (is_ordered || report.verdict != Verdict::Violated);
        let store = if is_exact { StoreMode::Exact } else { way.store };
        let reach = match way.hands {
            _ if report.verdict != Verdict::Violated => Reach::First,
            Hands::Threads(4) => Reach::Mixed,
            Hands::Threads(_) => Reach::First,
            Hands::Workers(_) => Reach::Level,
        };
        let key = (way.reduction, way.order, store, reach);
        let counts = (report.states, report.transitions, report.depth, report.represented.clone());
        match self.repeated.iter().find(|(known, _)| *known == key) {
            Some((_, known)) if *known != counts => Err(format!("{counts:?} counted, {known:?} before")),
            Some(_) => Ok(()),
            None => {
                self.repeated.push((key, counts));
                Ok(())
            }
        }
    }
    /// Compares a search by workers with one on one thread: levels, and the lengths of runs.
    fn compare_with_one(&mut self, way: Way, report: &Report) -> Result<(), String> {
        if !self.alone.iter().any(|(known, _)| *known == way.reduction) {
            let one = Way { hands: Hands::Threads(1), interrupted: None, ..way };
            let options = self.base.clone();
            let Outcome::Found(found) = self.run_with(one, &options)? else {
                return Err("workers search what one thread does not".to_owned());
            };
            self.alone.push((way.reduction, *found));
        }
        let one = self.alone.iter().find(|(known, _)| *known == way.reduction).map(|(_, report)| report);
        let one = one.expect("it was just added");
        let lengths = |report: &Report| -> Vec<Option<usize>> {
            let length = |found: &PropertyReport| found.trace.as_ref().map(|trace| trace.steps.len());
            report.properties.iter().map(length).collect()
        };
        let (found, known) = (lengths(report), lengths(one));
        let finished = |report: &Report| (report.levels.clone(), report.never_fired.clone());
        match one.stop_reason {
            None if (finished(report), &found) != (finished(one), &known) => Err(format!(
                "{:?}, runs {found:?}; {:?}, runs {known:?} on one thread",
                finished(report),
                finished(one)
            )),
            // One thread ends at the first violation, which may be a step further away than another one of its level.
            Some(StopReason::Violation) if found.iter().flatten().min() > known.iter().flatten().min() => {
                Err(format!("runs of {found:?} steps, {known:?} on one thread"))
            }
            _ => Ok(()),
        }
    }
}

/// What all processes say, if they agree.
fn alike(results: Vec<Result<Result<Report, EngineError>, String>>) -> Result<Result<Report, EngineError>, String> {
    let results = results.into_iter().collect::<Result<Vec<_>, String>>()?;
    let said = |result: &Result<Report, EngineError>| match result {
        Ok(report) => Ok((report.verdict, report.states, report.transitions, report.depth, report.levels.clone())),
        Err(error) => Err(error.to_string()),
    };
    let sayings: Vec<_> = results.iter().map(said).collect();
    if sayings.iter().any(|saying| *saying != sayings[0]) {
        return Err(format!("processes disagree: {sayings:?}"));
    }
    Ok(results.into_iter().next().expect("a crew has a process"))
}
