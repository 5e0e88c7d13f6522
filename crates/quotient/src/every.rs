//! Claims about every size: all models of one text that differ in a constant, from a value of it on
//! ([why so](../../../docs/adr/0038-every-size.md)).
//!
//! Small members are searched one by one, and all others at once: by views of states, with more and more objects in a
//! view, and backward from what is wrong. The first violation is one with the smallest value of the constant.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quotient_engines::every::{
    Attempt, Backward, BackwardLimits, Invariant, Member, Members, Needs, Objects, Obstacle, Unchecked, attempt,
    backward, classify, compare, least_size, recheck, sizes,
};
use quotient_engines::{StopReason, Verdict};
use quotient_frontends::{NamedNumber, named_numbers};
use quotient_ir::{self as ir, Budget, Diagnostic, PropertyId, Span};
use quotient_symmetry::{Preserved, RoleReport, symmetries_of_text};

use crate::control::{Control, Observer, Phase, Supervised};
use crate::defect::Defect;
use crate::error::Error;
use crate::model::Model;
use crate::names::ERRORS;
use crate::options::{Limits, Options};
use crate::plan::{Plan, Refusal, refuse_every};
use crate::report::Report;
use crate::selection::{claims, named_properties};

/// The most objects of a view, besides those that shared variables name.
const MOST_KEPT: usize = 6;
/// The most views of an attempt.
const MOST_VIEWS: usize = 20_000_000;
/// The most steps and parts of a backward search.
const MOST_MOVES: usize = 3_000_000;
/// The most views of one object with which a backward search is tried although views of two objects may be fewer.
const MOST_VIEWS_TRIED: usize = 4_000;
/// After views of so many objects a backward search is tried, if the family is monotone; otherwise after two.
const BACKWARD_AFTER: usize = 1;
/// As many members are compared with an invariant, from the smallest one on.
const COMPARED: i64 = 6;
/// A member with more states than this, up to exchanges of objects, is not compared.
const MOST_COMPARED: usize = 300_000;

/// A claim about every value of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Every {
    /// The constant.
    pub constant: String,
    /// Its least value.
    pub from: i64,
    /// How it is proved.
    pub method: EveryMethod,
}

/// How a claim about every value of a constant is proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EveryMethod {
    /// In one way or another.
    #[default]
    Auto,
    /// By views of states.
    Views,
    /// By a search backward from what is wrong.
    Backward,
}

/// The result of a claim about every value of a constant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EveryReport {
    /// Violated if some member violates a property; holds if it was proved that none does.
    pub verdict: Verdict,
    /// The claim.
    pub claim: Every,
    /// The type of the objects.
    pub objects: String,
    /// The properties of the text that were checked, and run-time errors.
    pub properties: Vec<PropertyId>,
    /// The members that were searched, by the value of the constant, with the states stored.
    pub searched: Vec<(i64, u64)>,
    /// The attempts to prove it, in order.
    pub attempts: Vec<EveryAttempt>,
    /// The conditions because of which more objects may prevent a step, change what it does, or make right what is wrong,
    /// and where they are. Without any, the family is monotone, and a backward search decides.
    pub tests: Vec<(String, Span)>,
    /// Why the last attempt is a proof, if it is.
    pub proof: Option<EveryProof>,
    /// The member that violates a property, and the report about it.
    pub violation: Option<(i64, Model, Box<Report>)>,
    /// Why there is no verdict, if there is none.
    pub open: Option<String>,
    /// The limit that was reached, if one was.
    pub stop_reason: Option<StopReason>,
    /// The total time.
    pub elapsed: Duration,
}

/// An attempt to prove a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EveryAttempt {
    /// Views, or backward.
    pub method: EveryMethod,
    /// How many objects besides those that shared variables name a view has.
    pub kept: usize,
    /// How many views there were at its end.
    pub views: usize,
    /// How many parts of states a backward search had found.
    pub parts: usize,
    /// What was wrong with a state that the views stand for, or that something wrong can be reached, as far as a backward
    /// search can tell; and with how many objects.
    pub wrong: Option<(String, usize)>,
    /// The time it took.
    pub elapsed: Duration,
}

/// A set of views that contains those of all reachable states of all large members, and parts that none contains.
#[derive(Clone, Debug)]
pub struct EveryProof {
    /// How it was found.
    pub method: EveryMethod,
    /// The views in words.
    pub invariant: Vec<String>,
    /// The parts that no reachable state contains, in words.
    pub excluded: Vec<String>,
    /// How many shared parts occur, with the objects that they name.
    pub contexts: usize,
    /// How many contents of objects occur.
    pub rows: usize,
    /// The least value of the constant that the views are about.
    pub from: i64,
    /// How many states were looked at when the views were checked again.
    pub rechecked: u64,
    /// The members all of whose states were looked up in the views, by the value of the constant, with the number of
    /// states up to exchanges of objects.
    pub compared: Vec<(i64, u64)>,
}

/// Reads a model with constants set, by name and value.
type Loader<'a> = dyn FnMut(&[(String, String)]) -> Result<Model, Error> + 'a;

/// Checks the invariants of a model, and that nothing goes wrong, for all values of a constant from one on. `load` reads
/// the model with constants set.
///
/// # Errors
/// If the options cannot be used, or the text does not show that the members differ in nothing but the number of some
/// interchangeable objects.
pub fn every(
    model: &Model,
    claim: &Every,
    options: &Options,
    control: &Control,
    observer: &mut dyn Observer,
    load: &mut Loader<'_>,
) -> Result<EveryReport, Error> {
    let started = Instant::now();
    refuse_every(options)?;
    control.tighten(&options.limits);
    let mut family = Family::new(model, claim, options, control, load)?;
    let mut report = EveryReport {
        verdict: Verdict::Inconclusive,
        claim: claim.clone(),
        objects: family.objects.name(&family.base),
        properties: family.properties.clone(),
        searched: Vec::new(),
        attempts: Vec::new(),
        tests: family.needs.tests.iter().map(|test| (test.reason.clone(), test.span)).collect(),
        proof: None,
        violation: None,
        open: None,
        stop_reason: None,
        elapsed: Duration::ZERO,
    };
    family.decide(&mut report, options, control, observer)?;
    report.elapsed = started.elapsed();
    Ok(report)
}

/// The members of a text, as far as they were read.
struct Family<'a, 'l> {
    model: &'a Model,
    claim: &'a Every,
    control: &'a Control,
    load: &'a mut Loader<'l>,
    /// A member of which the others differ in the number of objects only.
    base: ir::Model,
    objects: Objects,
    properties: Vec<PropertyId>,
    /// Whether conditions about all objects are evaluated for all of them.
    is_strict: bool,
    /// The value of the constant less the number of objects.
    offset: i64,
    needs: Needs,
    members: Arc<Members>,
}

impl<'a, 'l> Family<'a, 'l> {
    fn new(
        model: &'a Model,
        claim: &'a Every,
        options: &Options,
        control: &'a Control,
        load: &'a mut Loader<'l>,
    ) -> Result<Self, Error> {
        control.enter(Phase::Detecting);
        let is_size = constant(model, &claim.constant)?;
        if claim.from < 1 {
            return Err(
                Refusal::Every(format!("`{}` is the number of objects, and begins with 1", claim.constant)).into()
            );
        }
        let mut read = |value: i64| load(&[(claim.constant.clone(), value.to_string())]);
        let smaller = read(claim.from + 2)?;
        let larger = read(claim.from + 3)?;
        let of_text = |obstacle: Obstacle| refused(model, &claim.constant, vec![obstacle]);
        let objects = Objects::between(smaller.ir(), larger.ir()).map_err(of_text)?;
        if !is_size || objects.count(larger.ir()) != objects.count(smaller.ir()) + 1 {
            let reason = format!("`{}` is used for more than the number of values of a type", claim.constant);
            return Err(of_text(Obstacle { reason, span: Span::default() }));
        }
        let properties = match options.properties.is_empty() {
            true => claims(smaller.ir(), None),
            false => named_properties(smaller.ir(), &options.properties)?,
        };
        let offset = claim.from + 2 - objects.count(smaller.ir()) as i64;
        let least = usize::try_from(claim.from - offset).unwrap_or(0).max(2);
        let classified = |ir: &ir::Model| {
            let obstacles = |obstacles| refused(model, &claim.constant, obstacles);
            classify(ir, &objects, &properties, least).map_err(obstacles)
        };
        // These obstacles have better places than those against symmetry.
        Member::new(smaller.ir().clone(), smaller.layout().clone(), &objects).map_err(of_text)?;
        classified(smaller.ir())?;
        let (base, is_strict) = symmetric(&smaller, &objects, &properties, control, &claim.constant)?;
        let needs = classified(&base)?;
        let members = Arc::new(BTreeMap::new());
        Ok(Self { model, claim, control, load, base, objects, properties, is_strict, offset, needs, members })
    }

    fn read(&mut self, value: i64) -> Result<Model, Error> {
        (self.load)(&[(self.claim.constant.clone(), value.to_string())])
    }

    /// A member, compared with the others.
    fn member(&mut self, count: usize) -> Result<Member, Error> {
        let model = self.read(count as i64 + self.offset)?;
        let (ir, is_strict) = symmetric(&model, &self.objects, &self.properties, self.control, &self.claim.constant)?;
        let obstacle = |obstacle| refused(self.model, &self.claim.constant, vec![obstacle]);
        self.objects.compare(&self.base, &ir).map_err(obstacle)?;
        if self.objects.count(&ir) != count || is_strict != self.is_strict {
            let reason =
                format!("the text reads differently with {} = {}", self.claim.constant, count as i64 + self.offset);
            return Err(obstacle(Obstacle { reason, span: Span::default() }));
        }
        Member::new(ir, model.layout().clone(), &self.objects).map_err(obstacle)
    }

    /// Reads the members of some sizes.
    fn prepare(&mut self, counts: &[usize]) -> Result<(), Error> {
        let mut members = (*self.members).clone();
        for &count in counts {
            if let Entry::Vacant(entry) = members.entry(count) {
                entry.insert(self.member(count)?);
            }
        }
        self.members = Arc::new(members);
        Ok(())
    }

    /// The members of some sizes, and no others.
    fn only(&self, counts: &[usize]) -> Members {
        self.members
            .iter()
            .filter(|(count, _)| counts.contains(count))
            .map(|(&count, it)| (count, it.clone()))
            .collect()
    }

    /// Searches small members, views and backward by turns.
    fn decide(
        &mut self,
        report: &mut EveryReport,
        options: &Options,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        // All members have the same variables.
        self.prepare(&[self.needs.least])?;
        let pointers = self.members[&self.needs.least].pointers();
        let backward_after = match self.claim.method {
            EveryMethod::Views => MOST_KEPT + 1,
            EveryMethod::Backward => 1,
            EveryMethod::Auto if self.needs.tests.is_empty() => BACKWARD_AFTER,
            EveryMethod::Auto => BACKWARD_AFTER + 1,
        };
        let most_kept = if self.claim.method == EveryMethod::Backward { 1 } else { MOST_KEPT };
        for kept in 1..=most_kept {
            let from = least_size(&self.needs, pointers, kept) as i64 + self.offset;
            if !self.search_below(from, report, options, control, observer)? {
                return Ok(());
            }
            if self.claim.method != EveryMethod::Backward
                && self.by_views(kept, pointers, from, report, control, observer)?
            {
                return Ok(());
            }
            if kept == backward_after && self.by_parts(pointers, report, options, control, observer)? {
                return Ok(());
            }
        }
        if report.open.is_none() {
            report.open = Some(match self.claim.method {
                EveryMethod::Backward => "the family is not monotone, and a search backward is too coarse".to_owned(),
                _ => format!("views of up to {MOST_KEPT} objects are too coarse"),
            });
        }
        Ok(())
    }

    /// Searches the members below a value of the constant that were not searched yet. Returns whether they are right.
    fn search_below(
        &mut self,
        value: i64,
        report: &mut EveryReport,
        options: &Options,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let of_members = member_options(options);
        let first = report.searched.last().map_or(self.claim.from, |(last, _)| last + 1);
        for next in first..value {
            let model = self.read(next)?;
            let found = Plan::new(&model, &of_members)?.run_with(control, observer)?;
            report.searched.push((next, found.states));
            match found.verdict {
                Verdict::Holds => {}
                Verdict::Violated => {
                    report.verdict = Verdict::Violated;
                    report.violation = Some((next, model, Box::new(found)));
                    return Ok(false);
                }
                Verdict::Inconclusive => {
                    report.open = Some(format!("the search with {} = {next} did not finish", self.claim.constant));
                    report.stop_reason = found.stop_reason;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Searches with views. Returns whether that was the last attempt.
    fn by_views(
        &mut self,
        kept: usize,
        pointers: usize,
        from: i64,
        report: &mut EveryReport,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let counts = sizes(&self.needs, pointers, kept..=kept);
        self.prepare(&counts)?;
        control.enter(Phase::Searching);
        let started = Instant::now();
        let (members, objects, needs) = (self.only(&counts), self.objects.clone(), self.needs.clone());
        let interrupt = control.interrupt().clone();
        let work = move || attempt(&members, &objects, &needs, kept, MOST_VIEWS, &interrupt);
        let outcome = match control.supervise(observer, work)? {
            Supervised::Done(outcome) => outcome,
            Supervised::Abandoned(_) => Attempt::Stopped { views: 0 },
        };
        let elapsed = started.elapsed();
        let mut note = |views, wrong| {
            let method = EveryMethod::Views;
            report.attempts.push(EveryAttempt { method, kept, views, parts: 0, wrong, elapsed });
        };
        match outcome {
            Attempt::Closed(invariant) => {
                note(invariant.len(), None);
                self.confirm(report, *invariant, &counts, from, control, observer)?;
                Ok(true)
            }
            Attempt::Wrong { what, objects, views } => {
                note(views, Some((what, objects)));
                Ok(false)
            }
            Attempt::Stopped { views } => {
                note(views, None);
                report.open = Some(format!("the search for views of {kept} objects did not finish"));
                report.stop_reason = control.check();
                Ok(true)
            }
        }
    }

    /// Searches backward. Returns whether that was the last attempt.
    fn by_parts(
        &mut self,
        pointers: usize,
        report: &mut EveryReport,
        options: &Options,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let counts = sizes(&self.needs, pointers, 1..=1);
        self.prepare(&counts)?;
        control.enter(Phase::Searching);
        let started = Instant::now();
        let (members, objects, needs) = (self.only(&counts), self.objects.clone(), self.needs.clone());
        let interrupt = control.interrupt().clone();
        let views = if self.claim.method == EveryMethod::Auto { MOST_VIEWS_TRIED } else { MOST_VIEWS };
        let limits = BackwardLimits { views, moves: MOST_MOVES };
        let work = move || backward(&members, &objects, &needs, pointers, limits, &interrupt);
        let outcome = match control.supervise(observer, work)? {
            Supervised::Done(outcome) => outcome,
            Supervised::Abandoned(_) => Backward::Stopped { parts: 0, views: 0 },
        };
        let elapsed = started.elapsed();
        let mut note = |views, parts, wrong| {
            let method = EveryMethod::Backward;
            report.attempts.push(EveryAttempt { method, kept: 1, views, parts, wrong, elapsed });
        };
        match outcome {
            Backward::Closed(invariant) => {
                note(invariant.len(), invariant.excluded(), None);
                let from = least_size(&self.needs, pointers, 1) as i64 + self.offset;
                let counts = sizes(&self.needs, pointers, 1..=invariant.width());
                self.prepare(&counts)?;
                self.confirm(report, *invariant, &counts, from, control, observer)?;
                Ok(true)
            }
            Backward::Reached { objects, parts, views } => {
                note(views, parts, Some(("an initial state contains one of them".to_owned(), objects)));
                let is_exact = self.needs.tests.is_empty();
                if !is_exact && self.claim.method == EveryMethod::Auto {
                    return Ok(false);
                }
                let value = objects as i64 + self.offset;
                let is_right = self.search_below(value + 1, report, options, control, observer)?;
                if is_right && is_exact {
                    let name = &self.claim.constant;
                    return Err(Defect::noticed(format!("with {name} = {value} there is no violation")).into());
                }
                Ok(!is_right)
            }
            Backward::Stopped { parts, views } => {
                note(views, parts, None);
                report.stop_reason = control.check();
                if report.stop_reason.is_some() || self.claim.method == EveryMethod::Backward {
                    report.open = Some("the search backward did not finish".to_owned());
                    return Ok(true);
                }
                Ok(false)
            }
        }
    }

    /// Checks an invariant again, and against all states of small members.
    fn confirm(
        &mut self,
        report: &mut EveryReport,
        invariant: Invariant,
        counts: &[usize],
        from: i64,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        control.enter(Phase::Comparing);
        let mut rechecked = None;
        let mut compared = Vec::new();
        let invariant = Arc::new(invariant);
        {
            let (members, needs) = (self.only(counts), self.needs.clone());
            let (interrupt, invariant) = (control.interrupt().clone(), Arc::clone(&invariant));
            let work = move || recheck(&members, &needs, &invariant, &interrupt);
            if let Supervised::Done(outcome) = control.supervise(observer, work)? {
                rechecked = unless_contradicted(outcome)?;
            }
        }
        let Some(rechecked) = rechecked else {
            report.open = Some("an invariant was found, and not all of it checked again".to_owned());
            report.stop_reason = control.check();
            return Ok(());
        };
        for value in from.max(self.claim.from)..self.claim.from + COMPARED {
            let count = usize::try_from(value - self.offset).unwrap_or(0);
            let (member, needs) = (self.member(count)?, self.needs.clone());
            let (interrupt, invariant) = (control.interrupt().clone(), Arc::clone(&invariant));
            let work = move || compare(&member, &needs, &invariant, MOST_COMPARED, &interrupt);
            let Supervised::Done(outcome) = control.supervise(observer, work)? else { break };
            // What is proved does not depend on whether there is time for this.
            let Some(Some(states)) = unless_contradicted(outcome)? else { break };
            compared.push((value, states));
        }
        let member = &self.members[&self.needs.least];
        report.proof = Some(EveryProof {
            method: report.attempts.last().map_or(EveryMethod::Views, |attempt| attempt.method),
            invariant: invariant.lines(member),
            excluded: invariant.excluded_lines(member),
            contexts: invariant.contexts(),
            rows: invariant.rows(),
            from: from.max(self.claim.from),
            rechecked,
            compared,
        });
        report.verdict = Verdict::Holds;
        Ok(())
    }
}

/// The result of a check, if it was not interrupted. A contradiction is a defect of this program.
fn unless_contradicted<T>(outcome: Result<T, Unchecked>) -> Result<Option<T>, Error> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Unchecked::Interrupted) => Ok(None),
        Err(Unchecked::Contradicted(contradiction)) => Err(Defect::noticed(contradiction.to_string()).into()),
    }
}

/// The options with which single members are searched.
fn member_options(options: &Options) -> Options {
    let mut properties = options.properties.clone();
    if !properties.is_empty() && !properties.iter().any(|name| name == ERRORS) {
        properties.push(ERRORS.to_owned());
    }
    Options {
        properties,
        deadlock: Some(ir::DeadlockMode::Off),
        threads: options.threads,
        limits: Limits::default(),
        ..Options::default()
    }
}

/// Whether a constant is nothing but a size.
fn constant(model: &Model, name: &str) -> Result<bool, Error> {
    let numbers = model.language().map(|language| named_numbers(model.source(), language)).unwrap_or_default();
    if let Some(NamedNumber { is_size, .. }) = numbers.iter().find(|number| number.name == name) {
        return Ok(*is_size);
    }
    let known: Vec<String> = numbers.iter().map(|number| format!("`{}`", number.name)).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Refusal::Every(format!("the text has no constant `{name}` that can be set; there are: {known}")).into())
}

/// The model, with strict quantifiers if need be, if its text shows that objects can be exchanged; and whether
/// quantifiers are strict.
fn symmetric(
    model: &Model,
    objects: &Objects,
    properties: &[PropertyId],
    control: &Control,
    constant: &str,
) -> Result<(ir::Model, bool), Error> {
    let budget = Budget::until(control.interrupt());
    let (ir, layout, preserved) = (model.ir(), model.layout(), Preserved::Properties(properties));
    let spent = |_| Error::Stopped(control.stop_reason().unwrap_or(StopReason::Interrupted));
    let too_large =
        || refused(model, constant, vec![Obstacle { reason: "the text is too large".into(), span: Span::default() }]);
    let plain = symmetries_of_text(ir, layout, preserved, &budget).map_err(spent)?.ok_or_else(too_large)?;
    let values = objects.values(ir);
    // Values that nothing names and that index nothing are not permuted if they never occur. If they do and the starts
    // tell them apart, a loop did that, which the classification refuses.
    let is_idle = |role: &RoleReport| {
        role.free.is_empty() && role.limits.is_empty() && role.others == 0 && role.indexes.is_empty()
    };
    let is_free = |role: &RoleReport| {
        is_idle(role) || role.free.iter().any(|class| values.iter().all(|value| class.contains(value)))
    };
    let bound = |roles: Vec<RoleReport>| -> Vec<RoleReport> {
        roles.into_iter().filter(|role| objects.may_be(role.ty) && !is_free(role)).collect()
    };
    let against = bound(plain.roles(ir));
    if values.len() < 2 || against.is_empty() {
        return Ok((ir.clone(), false));
    }
    if let Some((strict, found)) = plain.with_strict_quantifiers(ir, layout, preserved, &budget).map_err(spent)?
        && bound(found.roles(&strict)).is_empty()
    {
        return Ok((strict, true));
    }
    let limits = against.iter().flat_map(|role| &role.limits);
    let mut obstacles: Vec<Obstacle> =
        limits.map(|limit| Obstacle { reason: limit.text.clone(), span: limit.span }).collect();
    if obstacles.is_empty() {
        let reason = "the text does not show that objects can be exchanged".to_owned();
        obstacles.push(Obstacle { reason, span: Span::default() });
    }
    Err(refused(model, constant, obstacles))
}

/// An error with a diagnostic for each obstacle.
fn refused(model: &Model, constant: &str, obstacles: Vec<Obstacle>) -> Error {
    let diagnostics = obstacles.into_iter().map(|Obstacle { reason, span }| {
        let message = format!("not for every {constant}: {reason}");
        let diagnostic = Diagnostic::error("not-every-size", message, span);
        if span == Span::default() { Diagnostic { primary: None, ..diagnostic } } else { diagnostic }
    });
    Error::model(model.source().clone(), diagnostics.collect())
}
