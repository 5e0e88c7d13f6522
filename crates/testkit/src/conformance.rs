//! The conformance matrix: every reduction × threads × store × memory or disk × interrupted or not × order, on one
//! model. All combinations must come to the same verdict; exact ones to the same counts, the others to reproducible
//! counts; every run must replay. Unsupported combinations must be refused, by the facade and by the engine.

use std::fmt;
use std::path::Path;

use num_bigint::BigUint;
use quotient::{Checkpoint, Options, Symmetry};
use quotient_engines::{
    AdaptiveError, EngineError, PartitionTime, ReductionPlan, Report, SearchOptions, SearchOrder, Silent, Spill,
    StopReason, StoreMode, SymmetrySource, Verdict,
};
use quotient_ir::{Budget, DeadlockMode, Interpreter, Layout, Model, Property, PropertyId, PropertyKind, replay};
use quotient_symmetry::{PartialSymmetry, Strategy};

use crate::search::{check_with, plan};

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

/// One combination of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// The reduction.
    pub reduction: Reduction,
    /// The number of threads.
    pub threads: u32,
    /// How states are stored.
    pub store: StoreMode,
    /// Whether it continues on disk.
    pub on_disk: bool,
    /// The share of its states (of 256) after which it is interrupted, and the number of threads with which it resumes.
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
        write!(formatter, ", {:?}, {:?}, {} threads", self.order, self.store, self.threads)?;
        if self.on_disk {
            write!(formatter, ", on disk")?;
        }
        if let Some((share, threads)) = self.interrupted {
            write!(formatter, ", interrupted after {share}/256, resumed on {threads} threads")?;
        }
        Ok(())
    }
}

/// The whole matrix. `random` decides where searches are interrupted.
pub fn ways(random: &mut impl FnMut(u64) -> u64) -> Vec<Way> {
    let mut ways = Vec::new();
    for reduction in Reduction::all() {
        for threads in [1, 2, 4] {
            let approximate = [StoreMode::Compact, StoreMode::Bitstate { bytes: BITSTATE_BYTES }];
            for store in [StoreMode::Exact, StoreMode::Dense].into_iter().chain(approximate) {
                for on_disk in [false, true] {
                    for is_interrupted in [false, true] {
                        for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
                            let interrupted =
                                is_interrupted.then(|| (random(256) as u8, [1, 2, 4][random(3) as usize]));
                            ways.push(Way { reduction, threads, store, on_disk, interrupted, order });
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
    let whole = quotient_engines::check(ir, layout, None, &first, &mut Silent).map_err(|error| error.to_string())?;
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
        tally: Tally::default(),
    };
    for &way in ways {
        cross.search(way).map_err(|error| format!("{way}: {error}"))?;
    }
    Ok(cross.tally)
}

/// Counts that must be reproducible, by reduction, order and store.
type Repeated = ((Reduction, SearchOrder, StoreMode, bool), (u64, u64, u64, Option<BigUint>));

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
            threads: way.threads,
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
            threads: way.threads,
            store: way.store,
            spill: way.on_disk.then(|| self.spill()),
            max_memory: way.on_disk.then_some(LITTLE_MEMORY),
            // An exact store becomes dense on the way, where that is possible.
            dense_from: (way.threads != 4).then_some(self.whole.memory_bytes / 2),
            // Some keep the order for a part of the states only.
            ordered_states: if way.threads == 4 { self.whole.states / 3 } else { u64::MAX },
            ..self.base.clone()
        };
        let Some((share, threads)) = way.interrupted else { return self.run_with(way.reduction, &options) };
        let checkpoint = self.folder.join("checkpoint");
        // The checkpoint of another combination must not be mistaken for one of this.
        let _ = std::fs::remove_file(&checkpoint);
        let limit = 1 + u64::from(share) * self.whole.states.saturating_sub(1) / 256;
        let begin = SearchOptions { checkpoint: Some(checkpoint.clone()), max_states: Some(limit), ..options.clone() };
        match self.run_with(way.reduction, &begin)? {
            Outcome::Found(report) if matches!(report.stop_reason, Some(StopReason::StateLimit(_))) => {}
            // A reduction may leave fewer states than that, or a violation may come first.
            other => return Ok(other),
        }
        if !checkpoint.exists() {
            // The main search finished, and an additional one for instances of liveness reached the limit: these are
            // small, and are repeated.
            return self.run_with(way.reduction, &options);
        }
        self.tally.resumed += 1;
        // Some continue on disk, if that is supported.
        let by_words = !matches!(
            way.reduction,
            Reduction::By(Strategy::Markers | Strategy::MarkersTrees | Strategy::MarkersCanonical)
        );
        let on_disk = share % 4 == 3 && by_words && !self.checks_liveness();
        let (spill, max_memory) = (on_disk.then(|| self.spill()), on_disk.then_some(LITTLE_MEMORY));
        // The earlier results have to fit.
        let max_memory = max_memory.map(|little| little + 4 * self.whole.memory_bytes);
        self.run_with(way.reduction, &SearchOptions { resume: Some(checkpoint), threads, spill, max_memory, ..options })
    }

    fn checks_liveness(&self) -> bool {
        let kinds = self.ir.properties.iter().map(|property| property.kind);
        self.subjects == Subjects::All && kinds.into_iter().any(|kind| kind == PropertyKind::AlwaysReachable)
    }

    fn run_with(&mut self, reduction: Reduction, options: &SearchOptions) -> Result<Outcome, String> {
        let (ir, layout) = (self.ir, self.layout);
        let result = match reduction {
            Reduction::None => quotient_engines::check(ir, layout, None, options, &mut Silent),
            Reduction::By(strategy) => {
                let plan = self.plan(strategy)?;
                if plan.reduction.is_none() {
                    return Ok(Outcome::Unsuited);
                }
                check_with(ir, layout, plan, options, &mut Silent)
            }
            Reduction::Adaptive => return self.run_adaptive(options),
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

    fn run_adaptive(&mut self, options: &SearchOptions) -> Result<Outcome, String> {
        if self.partial.is_none() {
            let properties = self.properties();
            self.partial = Some(PartialSymmetry::new(self.ir, self.layout, &properties, &Budget::unlimited()).ok());
        }
        let Some(Some(partial)) = &mut self.partial else { return Ok(Outcome::Unsuited) };
        match quotient_engines::check_adaptive(partial, options, PartitionTime::IfNeeded, &mut Silent) {
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
        // Threads, disk, interruptions and how densely states are stored do not change any counts.
        let store = if way.store == StoreMode::Dense { StoreMode::Exact } else { way.store };
        // Where states are found in any order, a level with a violation is searched to its end.
        let is_unordered = way.threads == 4 && report.verdict == Verdict::Violated;
        let key = (way.reduction, way.order, store, is_unordered);
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
}
