//! The solver engine: a model as clauses, and proofs and runs by a solver for propositional satisfiability ([why
//! so](../../../docs/adr/0036-the-solver-engine.md)). The solver (rustsat) is only here. Knows no other engine.
//!
//! * `formula`: Boolean functions as an and-inverter graph; `clauses` makes clauses of it, frame by frame;
//! * `system`: a model as such functions, with all that can be wrong in a state;
//! * `bounded`: bounded checking and induction over simple paths, with a `representative` of each orbit;
//! * `ic3`: proofs by learned clauses over `atoms` (slot = value, which symmetries permute);
//! * `strengthening`: what was learned, checked by a solver of its own and in names of the model;
//! * `runs`: runs by the reference interpreter;
//! * `aiger`: the formula as a circuit for other provers.
//!
//! States are not counted. Whatever is wrong ends the work: a run shows it, replayed by the reference interpreter. A
//! further method is a [`SolverMethod`] and a task here, and a value of `quotient::Engine` and of the command line.

mod aiger;
mod atoms;
mod bounded;
mod clauses;
mod door;
mod formula;
mod ic3;
mod representative;
mod runs;
mod strengthening;
mod system;
mod watch;

use quotient_ir::{Interpreter, Layout, Model, TableIndex, Trace};
use quotient_symmetry::CertifiedGroup;

pub use aiger::as_aiger;
use atoms::{Atom, Atoms};
use bounded::{Bounded, BoundedCheck, Induction, Proof, by_induction, confirms};
use clauses::{Halted, Limits};
pub use door::{ProofQuestion, Proofs};
use formula::Bit;
use ic3::{Outcome, Prover};
pub use quotient_search::SolverMethod;
use quotient_search::{
    Checks, EngineError, Figures, Observer, Report, SearchOptions, StopReason, Subject, Verdict, Verdicts, excuse,
};
use representative::{normal, representative};
use runs::Found;
use strengthening::is_inductive;
pub use strengthening::{Content, Operators, Part, Strengthening};
use system::{NoSystem, System};
use watch::Watch;

/// The bytes that a gate of a formula takes, with its entry in the table of known ones.
const GATE_BYTES: u64 = 32;

/// The result of a check by a solver.
#[derive(Clone, Debug)]
pub struct SolverReport {
    /// The verdicts. States are not counted.
    pub report: Report,
    /// How they were found.
    pub method: String,
    /// Gates of the formula.
    pub gates: usize,
    /// Questions to the solver.
    pub queries: u64,
    /// Clauses that were learned, with their images under symmetries.
    pub clauses: u64,
    /// Steps that were unrolled, or levels of the proof.
    pub depth: u64,
    /// Generators of symmetries that were used.
    pub generators: usize,
    /// What was proved, if IC3 proved it. A new solver has checked that it is inductive.
    pub invariant: Option<Strengthening>,
}

/// Checks the invariants of a model, that nothing goes wrong at run time, and that there are no deadlocks, with a solver.
/// The group must preserve all properties that are checked. Properties of other kinds stay undecided.
///
/// # Errors
/// If the model has no formula, or a violation cannot be replayed with the reference interpreter or a proof cannot be
/// confirmed: the last two are defects of this program and never a verdict.
pub fn check_by_solver(
    model: &Model,
    layout: &Layout,
    group: Option<&CertifiedGroup>,
    method: SolverMethod,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<SolverReport, EngineError> {
    if options.violations.collects() {
        return Err(EngineError::Refused("the solver finds one violation"));
    }
    let checks = Checks::new(model, options.properties.as_deref());
    let interrupt = observer.interrupt();
    let limits = Limits { interrupt, bytes: options.max_memory.unwrap_or(u64::MAX) };
    let mut watch = Watch::new(observer);
    let group = group.filter(|group| !group.is_trivial() && keeps_movers(group, options));
    let judge = Judge { interpreter: Interpreter::new(model, layout), checks, options };
    let task = match Task::new(&judge, group, method, &limits) {
        Ok(task) => task,
        Err(NoSystem::Refused(error)) => return Err(error),
        Err(NoSystem::Spent) => {
            let halted = if limits.interrupt.is_raised() { Halted::Interrupted } else { Halted::Memory };
            let reason = watch.reason(halted, limits.bytes);
            return Ok(judge.report(End::Stopped(reason), method.name().to_owned(), None, &watch, 0));
        }
    };
    let attempt = match method {
        SolverMethod::Ic3 => task.ic3(&mut watch),
        SolverMethod::Bounded => task.bounded(&mut watch),
        SolverMethod::Induction => task.induction(&mut watch),
    };
    let (attempt, used) = match attempt {
        Ok(found) => found,
        Err(halted) => (Attempt::Stopped(watch.reason(halted, limits.bytes)), task.generators()),
    };
    let (end, invariant) = match attempt {
        Attempt::Found(found) => (End::Run(runs::trace(&task.system, &judge.interpreter, options, &found)?), None),
        Attempt::Proved(invariant) => (End::Proved, invariant),
        Attempt::Unconfirmed => return Err(EngineError::Unconfirmed),
        Attempt::Stopped(reason) => (End::Stopped(reason), None),
    };
    let name = match used {
        0 => method.name().to_owned(),
        _ => format!("{}, with symmetries", method.name()),
    };
    let gates = task.system.formula.gates().len();
    let report = judge.report(end, name, invariant, &watch, gates);
    Ok(SolverReport { generators: used, ..report })
}

/// Whether symmetries keep the rules that count as moving.
fn keeps_movers(group: &CertifiedGroup, options: &SearchOptions) -> bool {
    let classes = group.rule_classes();
    let moving: Vec<usize> = options.moving_rules.iter().map(|rule| rule.position()).collect();
    let is_exchanged = |rule: usize| moving.iter().any(|&other| classes[other] == classes[rule]);
    (0..classes.len()).all(|rule| moving.contains(&rule) || !is_exchanged(rule))
}

/// What a method found.
enum Attempt {
    /// A run to something wrong.
    Found(Found),
    /// Nothing is wrong, and new solvers have confirmed the proof.
    Proved(Option<Strengthening>),
    /// A proof that new solvers do not confirm.
    Unconfirmed,
    /// It was stopped.
    Stopped(StopReason),
}

/// A model as a formula, ready for a method.
struct Task<'a> {
    system: System,
    atoms: Atoms,
    /// A predicate that holds in some state of each orbit.
    representative: Bit,
    /// Functions that agree only for states of one orbit; the bits of a state without symmetries.
    different: Vec<Bit>,
    /// The permutations of atoms by symmetries.
    permutations: Vec<Vec<Atom>>,
    limits: &'a Limits,
    most: Option<u64>,
}

/// A method's result, and the number of generators of symmetries that it relied on.
type Attempted = Result<(Attempt, usize), Halted>;

impl<'a> Task<'a> {
    fn new(
        judge: &Judge<'_>,
        group: Option<&CertifiedGroup>,
        method: SolverMethod,
        limits: &'a Limits,
    ) -> Result<Self, NoSystem> {
        let Judge { interpreter, checks, options } = judge;
        let most_gates = usize::try_from(limits.bytes / GATE_BYTES).unwrap_or(usize::MAX);
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let mut system = System::new(model, layout, checks, options, most_gates, &limits.interrupt)?;
        let atoms = Atoms::new(&mut system)?;
        let (representative, permutations) = match group {
            Some(group) => (representative(&mut system, group)?, atoms.permutations(&system, group)),
            None => (Bit::TRUE, Vec::new()),
        };
        let different = match group.filter(|_| method == SolverMethod::Induction) {
            Some(group) => normal(&mut system, layout, group, &limits.interrupt)?,
            None => system.bits[..system.slots].concat(),
        };
        Ok(Self { system, atoms, representative, different, permutations, limits, most: options.max_depth })
    }

    fn generators(&self) -> usize {
        self.permutations.len()
    }

    fn ic3(&self, watch: &mut Watch<'_>) -> Attempted {
        let (attempt, used) = match self.ic3_with(&self.permutations, watch)? {
            // On states that cannot be reached, the formula need not be symmetric, and what is learned about them need
            // not hold for their images.
            Attempt::Unconfirmed if !self.permutations.is_empty() => (self.ic3_with(&[], watch)?, 0),
            attempt => (attempt, self.permutations.len()),
        };
        let Attempt::Found(found) = attempt else { return Ok((attempt, used)) };
        let Some(shorter) = found.steps.len().checked_sub(2) else { return Ok((Attempt::Found(found), used)) };
        let mut check = BoundedCheck::new(&self.system, self.limits, self.representative);
        // The run counts, whether or not there is time to find a shorter one.
        match check.run(Some(shorter as u64), watch) {
            Ok(Bounded::Found(found)) => Ok((Attempt::Found(found), used)),
            _ => Ok((Attempt::Found(found), used)),
        }
    }

    fn ic3_with(&self, permutations: &[Vec<Atom>], watch: &mut Watch<'_>) -> Result<Attempt, Halted> {
        let Self { system, atoms, limits, .. } = self;
        match Prover::new(system, atoms, permutations, limits, watch).run(self.most)? {
            Outcome::Found(found) => Ok(Attempt::Found(found)),
            Outcome::Proved(clauses) => Ok(match is_inductive(system, atoms, &clauses, limits, watch)? {
                true => Attempt::Proved(Some(Strengthening::new(system, atoms, &clauses))),
                false => Attempt::Unconfirmed,
            }),
        }
    }

    fn bounded(&self, watch: &mut Watch<'_>) -> Attempted {
        let mut check = BoundedCheck::new(&self.system, self.limits, self.representative);
        let attempt = match check.run(self.most, watch)? {
            Bounded::Found(found) => Attempt::Found(found),
            Bounded::Ends(steps) => self.confirmed(Proof::Ends(steps), None, watch)?,
            Bounded::Nothing => Attempt::Stopped(StopReason::DepthLimit(self.most.unwrap_or(u64::MAX))),
        };
        Ok((attempt, self.generators()))
    }

    fn induction(&self, watch: &mut Watch<'_>) -> Attempted {
        let Self { system, limits, representative, different, most, .. } = self;
        let attempt = match by_induction(system, limits, *representative, different, *most, watch)? {
            Induction::Found(found) => Attempt::Found(found),
            Induction::Proved(proof) => self.confirmed(proof, Some(different), watch)?,
        };
        Ok((attempt, self.generators()))
    }

    fn confirmed(&self, proof: Proof, different: Option<&[Bit]>, watch: &mut Watch<'_>) -> Result<Attempt, Halted> {
        let is_confirmed = confirms(&self.system, self.limits, different, proof, watch)?;
        Ok(if is_confirmed { Attempt::Proved(None) } else { Attempt::Unconfirmed })
    }
}

/// How a check ends.
enum End {
    Run(Trace),
    Proved,
    Stopped(StopReason),
}

/// What is checked.
struct Judge<'a> {
    interpreter: Interpreter<'a>,
    checks: Checks,
    options: &'a SearchOptions,
}

impl Judge<'_> {
    fn report(
        &self,
        end: End,
        method: String,
        invariant: Option<Strengthening>,
        watch: &Watch<'_>,
        gates: usize,
    ) -> SolverReport {
        let Self { interpreter, checks, options } = self;
        let is_proved = matches!(end, End::Proved);
        let mut verdicts = Verdicts::new(interpreter.model(), checks, options, is_proved, &[]);
        let stop_reason = match end {
            End::Run(trace) => match trace.violation.as_ref().and_then(excuse) {
                Some(reason) => Some(reason),
                None => Some(verdicts.conclude(trace)),
            },
            End::Stopped(reason) => Some(reason),
            End::Proved => None,
        };
        let progress = watch.progress();
        let (depth, memory_bytes) = (progress.depth, progress.memory_bytes);
        let words = interpreter.layout().words();
        let mut report = verdicts.report(stop_reason, Figures { memory_bytes, words, ..Figures::default() });
        let undecided = checks.covers.iter().chain(&checks.liveness);
        let undecided: Vec<Subject> = undecided.map(|&property| Subject::Property(property)).collect();
        if is_proved && !undecided.is_empty() {
            for property in report.properties.iter_mut().filter(|report| undecided.contains(&report.subject)) {
                property.verdict = Verdict::Inconclusive;
            }
            report.stop_reason = Some(StopReason::Undecided("the solver does not decide what can be reached"));
            report.summarize();
        }
        report.method = Some(method.clone());
        let (queries, clauses, generators) = (watch.queries, watch.learned, 0);
        SolverReport { report, method, gates, queries, clauses, depth, generators, invariant }
    }
}
