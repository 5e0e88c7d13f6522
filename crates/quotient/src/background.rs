//! Symmetries that are looked for beside a search, for as much work as the search is worth.
//!
//! Detection runs on its own thread, but never at the same time as the search: the search grants it work, a share of its
//! own, and waits until that is used up. Work is counted, so that the same run has the same result. What takes a few
//! milliseconds is done before the search begins: that is all of it for most models.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_engines::{EngineError, Progress, ReductionPlan, plan_in_steps, too_large};
use quotient_ir::{
    self as ir, Budget, Expr, ExprId, Interrupt, Iteration, Meter, Parameter, PropertyId, PropertyKind, SlotId, TypeId,
};

use crate::clock;
use crate::control::{Control, STACK_BYTES};
use crate::defect::{self, Defect};
use crate::detection::{Symmetries, ToPreserve};
use crate::error::Error;
use crate::model::Model;

/// The work of detection before the search begins. A unit takes some 70 ns, so this is about eight milliseconds.
pub(crate) const FREE_WORK: u64 = 120_000;
/// The steps of the search for which detection may do one unit more. The fastest steps take some 100 ns, and the dearest
/// units 150 ns, so this is a tenth of the search.
const STEPS_PER_UNIT: u64 = 16;
/// The nodes of expressions that take as long to evaluate as a step.
const NODES_PER_STEP: u64 = 20;
/// Of the nodes in quantifiers of guards, one in this many is evaluated: most guards are decided before.
const NODES_PER_EVALUATED: u64 = 4;
/// The least work that is granted at a time: the search is not interrupted for less.
const LEAST_GRANT: u64 = 20_000;

/// The work of detection beside a search of so many steps.
pub(crate) fn work_for(steps: u64) -> u64 {
    FREE_WORK.saturating_add(steps / STEPS_PER_UNIT)
}

/// Detection beside a search.
pub(crate) struct Background {
    model: Model,
    receiver: Receiver<News>,
    meter: Meter,
    /// Stops detection when nobody waits for it any longer.
    interrupt: Interrupt,
    control: Control,
    started: Instant,
    /// How long the search had to wait before it began.
    before: Duration,
    granted: u64,
    /// The nodes that are evaluated in each state, beside what its steps usually take.
    nodes: u64,
}

/// What detection found, and the processor time that it took.
type News = (Step, Duration);

enum Step {
    Text(Box<ReductionPlan>),
    All(Result<Result<Box<ReductionPlan>, EngineError>, Defect>),
}

/// What detection knows.
pub(crate) enum Found {
    /// The symmetries that the text shows; there may be more.
    Some(Symmetries),
    /// All symmetries. Detection is over.
    All(Symmetries),
}

impl Drop for Background {
    fn drop(&mut self) {
        self.interrupt.raise();
        self.meter.end();
    }
}

impl Background {
    /// Begins to look for the symmetries that preserve something. None if there are too few resources.
    pub(crate) fn start(model: &Model, preserved: ToPreserve, control: &Control) -> Option<Self> {
        let (sender, receiver) = mpsc::channel();
        let (interrupt, meter) = (Interrupt::new(), Meter::new(FREE_WORK));
        let (job, ended, budget) = (model.clone(), meter.clone(), Budget::metered(&meter, &interrupt));
        let nodes = nodes_in_each_state(model, &preserved.properties);
        let work = move || {
            let text = |plan| {
                // The receiver is gone if the result is no longer needed.
                let _ = sender.send((Step::Text(Box::new(plan)), clock::of_thread()));
            };
            let all = defect::catch(|| {
                plan_in_steps(job.ir(), job.layout(), preserved.as_preserved(), &budget, text).map(Box::new)
            });
            let _ = sender.send((Step::All(all), clock::of_thread()));
            ended.end();
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).ok()?;
        let (model, control, started) = (model.clone(), control.clone(), Instant::now());
        let (before, granted) = (Duration::ZERO, FREE_WORK);
        Some(Self { model, receiver, meter, interrupt, control, started, before, granted, nodes })
    }

    /// Lets detection do its share beside a search, and returns what is new.
    pub(crate) fn work(&mut self, progress: &Progress) -> Result<Option<Found>, Error> {
        let evaluated = progress.states.saturating_mul(self.nodes) / NODES_PER_STEP;
        let share = work_for(progress.transitions.saturating_add(evaluated));
        if share < self.granted.saturating_add(LEAST_GRANT) {
            return Ok(None);
        }
        self.granted = share;
        self.found()
    }

    /// What detection finds with the work that it was granted.
    pub(crate) fn found(&mut self) -> Result<Option<Found>, Error> {
        self.meter.grant(self.granted, self.control.interrupt());
        if self.granted == FREE_WORK {
            self.before = self.started.elapsed();
        }
        let mut found = None;
        loop {
            found = match self.receiver.try_recv() {
                Ok((Step::Text(plan), elapsed)) => Some(Found::Some(self.symmetries(*plan, elapsed))),
                Ok((Step::All(Ok(Ok(plan))), elapsed)) => Some(Found::All(self.symmetries(*plan, elapsed))),
                Ok((Step::All(Ok(Err(EngineError::GaveUp(_)))), elapsed)) if too_large(self.model.ir()).is_some() => {
                    let reason = "the text shows none, and the model is too large for more";
                    Some(Found::All(Symmetries { elapsed, ..Symmetries::unknown(reason, self.started) }))
                }
                Ok((Step::All(Ok(Err(error))), _)) => return Err(Error::of_engine(self.model.source(), error)),
                Ok((Step::All(Err(defect)), _)) => return Err(defect.into()),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return Ok(found),
            };
        }
    }

    /// The symmetries of a plan. The time since the beginning would include that of the search.
    fn symmetries(&self, plan: ReductionPlan, elapsed: Duration) -> Symmetries {
        Symmetries { elapsed, ..Symmetries::known(&self.model, plan, self.started) }
    }

    /// What to say if the search ends first.
    pub(crate) fn unknown(&self) -> Symmetries {
        let reason = "not known, since the search was over before they were found";
        Symmetries { elapsed: self.before, ..Symmetries::unknown(reason, self.started) }
    }
}

/// The nodes that are evaluated in every state, beside what a step usually takes: those of what can always be reached,
/// and those of quantifiers in guards, as far as they are evaluated.
fn nodes_in_each_state(model: &Model, properties: &[PropertyId]) -> u64 {
    let model = model.ir();
    let known = &mut HashMap::default();
    let mut nodes: u64 = 0;
    for rule in model.rules.iter() {
        let quantifiers = outermost_quantifiers(model, rule.guard);
        let guard = quantifiers.into_iter().map(|it| nodes_of(model, it, known)).fold(0, u64::saturating_add);
        nodes = nodes.saturating_add(guard.saturating_mul(instances(model, &rule.parameters)) / NODES_PER_EVALUATED);
    }
    let properties = properties.iter().map(|&id| &model.properties[id]);
    for property in properties.filter(|property| property.kind == PropertyKind::AlwaysReachable) {
        let condition = property.formula.condition().map_or(0, |condition| nodes_of(model, condition, known));
        nodes = nodes.saturating_add(condition.saturating_mul(instances(model, &property.parameters)));
    }
    nodes
}

/// The number of ways to choose parameters.
pub(crate) fn instances(model: &ir::Model, parameters: &[Parameter]) -> u64 {
    let sizes = parameters.iter().map(|parameter| match parameter.range {
        Iteration::Over(ty) => values_of(model, ty),
        Iteration::Steps { .. } => 1,
    });
    sizes.fold(1, u64::saturating_mul)
}

/// The number of values of a type; of one that is not scalar, as if each cell had two: most are sets.
fn values_of(model: &ir::Model, ty: TypeId) -> u64 {
    if model.is_scalar(ty) { model.domain(ty).size() } else { 1 << model.cells(ty).min(63) }
}

/// The outermost quantifiers of a condition.
fn outermost_quantifiers(model: &ir::Model, condition: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let (mut pending, mut seen) = (vec![condition], HashSet::from([condition]));
    while let Some(expression) = pending.pop() {
        let parts: &[ExprId] = match &model.pool[expression] {
            Expr::Unary { operand, .. } => &[*operand],
            Expr::Binary { left, right, .. } => &[*left, *right],
            Expr::Conditional { condition, then, otherwise } => &[*condition, *then, *otherwise],
            Expr::Quantified { .. } => {
                found.push(expression);
                continue;
            }
            _ => continue,
        };
        pending.extend(parts.iter().filter(|&&part| seen.insert(part)));
    }
    found
}

/// How many nodes of an expression are evaluated if nothing decides early. What a function does is not counted.
fn nodes_of(model: &ir::Model, expression: ExprId, known: &mut HashMap<ExprId, u64>) -> u64 {
    if let Some(&nodes) = known.get(&expression) {
        return nodes;
    }
    let mut all =
        |parts: &[ExprId]| parts.iter().map(|&part| nodes_of(model, part, known)).fold(1, u64::saturating_add);
    let nodes = match &model.pool[expression] {
        Expr::Unary { operand, .. } | Expr::IsMember { value: operand, .. } => all(&[*operand]),
        Expr::Binary { left, right, .. } => all(&[*left, *right]),
        Expr::Conditional { condition, then, otherwise } => all(&[*condition, *then, *otherwise]),
        Expr::Quantified { range: Iteration::Over(ty), body, .. } => {
            values_of(model, *ty).saturating_mul(all(&[*body]))
        }
        Expr::Quantified { body, .. } | Expr::Count { body, .. } => all(&[*body]),
        _ => 1,
    };
    known.insert(expression, nodes);
    nodes
}

/// With fewer symmetries than this, a search is at most so much smaller: representatives must be cheap.
const FEW_SYMMETRIES: u32 = 4;
/// The number of slots that a few symmetries may move. All of them are compared where parts of a state look alike, at
/// some nanoseconds each; a step takes about a hundred.
const FEW_SLOTS: usize = 24;

/// The same symmetries, without a reduction by them if that would take longer than it saves.
pub(crate) fn worthwhile(symmetries: Symmetries) -> Symmetries {
    let Some(plan) = symmetries.plan.as_ref().filter(|plan| plan.reduction.is_some()) else { return symmetries };
    if plan.symmetry.order >= BigUint::from(FEW_SYMMETRIES) {
        return symmetries;
    }
    let mut moved: Vec<SlotId> = Vec::new();
    for map in plan.symmetry.group.maps() {
        moved.extend(map.moves().iter().map(|slot_move| slot_move.from));
    }
    moved.sort_unstable();
    moved.dedup();
    match moved.len() > FEW_SLOTS {
        true => symmetries.unused("not used: representatives would take longer than they save (--reduction canonical)"),
        false => symmetries,
    }
}

/// Whether a search should begin again with a group that is so many times as large as the one in use. What is left of the
/// search is not known: it is taken to be as long as the search so far, and longer if many states wait.
pub(crate) fn pays(progress: &Progress, order: &BigUint, in_use: &BigUint) -> bool {
    let times = |factor: u32| *order >= in_use * factor;
    times(16)
        || (times(4) && progress.frontier >= progress.states / 8)
        || (times(2) && progress.frontier >= progress.states / 3)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use quotient_engines::Progress;

    use super::{pays, work_for};

    #[test]
    fn a_search_begins_again_if_much_is_left() {
        let pays = |order: u32, in_use: u32, frontier| {
            let progress = Progress { states: 1000, frontier, ..Progress::default() };
            pays(&progress, &BigUint::from(order), &BigUint::from(in_use))
        };
        assert!(!pays(6, 6, 1000));
        assert!(pays(2, 1, 500) && !pays(2, 1, 300));
        assert!(pays(24, 6, 200) && !pays(24, 6, 100));
        assert!(pays(24, 1, 0) && !pays(24, 2, 0));
    }

    #[test]
    fn detection_takes_a_share_of_the_search() {
        assert_eq!(work_for(0), 120_000);
        assert_eq!(work_for(16_000_000), 1_120_000);
        assert!(work_for(u64::MAX) > 1 << 50);
    }
}
