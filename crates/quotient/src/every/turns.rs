//! Which search is next: small members, views and backward by turns, and a cut-off at the end.

use std::collections::VecDeque;
use std::time::Instant;

use quotient_every::{
    Backward, BackwardLimits, BackwardOutcome, BackwardQuestion, Contents, ContentsQuestion, CutOff, EveryValue,
    Family, Guards, Region, Views, ViewsOutcome, ViewsQuestion, contain, multisets,
};
use quotient_ir::DeadlockMode;
use quotient_search::defect::Defect;
use quotient_search::{Engine, Job, Verdict};

use super::report::{Every, EveryAttempt, EveryGuards, EveryMethod, EveryReport, EveryTextCutOff};
use super::text::MemberText;
use crate::control::{Control, Observer, Phase, Supervised};
use crate::error::Error;
use crate::names::ERRORS;
use crate::options::{Limits, Options};
use crate::plan::Plan;
use crate::refusal::Refusal;

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
/// By default, a cut-off that the text shows is used if what its member has to store is at most this, as far as the contents of objects
/// tell.
const MOST_OF_CUT_OFF: u128 = 1_000_000;

/// A claim about every size, and what is known of it so far.
pub(super) struct Turns<'a> {
    pub(super) family: Family<MemberText<'a>>,
    pub(super) report: EveryReport,
    pub(super) claim: &'a Every,
    pub(super) options: &'a Options,
    pub(super) control: &'a Control,
    pub(super) observer: &'a mut dyn Observer,
    /// All members with at most this sum of the constants have been searched, unless they were proved.
    pub(super) searched: i64,
}

/// What an attempt led to.
pub(super) enum Progress {
    /// A proof.
    Proved,
    /// Nothing: another one may succeed.
    None,
    /// The end: a violation, or a limit.
    Stopped,
}

impl Turns<'_> {
    /// The answer of an engine; none if it was abandoned.
    pub(super) fn ask<E: Engine>(&mut self, engine: E, job: Job<E::Question>) -> Result<Option<E::Answer>, Error> {
        match self.control.ask(engine, job, self.observer)? {
            Supervised::Done(answer) => Ok(Some(answer)),
            Supervised::Abandoned(_) => Ok(None),
        }
    }

    /// Searches small members, views and backward by turns.
    pub(super) fn decide(&mut self, whole: Region) -> Result<(), Error> {
        let has_two = self.family.sorts() > 1;
        let has_order = whole.scope().objects.is_ordered();
        if self.claim.method == EveryMethod::Backward {
            let refused = |reason: &str| Err(Refusal::Every(format!("a search backward is for {reason}")).into());
            if has_two {
                return refused("one type of objects, and there are two here");
            }
            if has_order {
                return refused("objects without an order, and they are compared by it here");
            }
        }
        let text = *self.family.text();
        if self.claim.method == EveryMethod::CutOff {
            let shown = text.known(self.family.cut_off(&whole))?;
            return self.by_cut_off(whole, shown.map_err(|obstacles| text.no_cut_off(obstacles))?);
        }
        let backward_after = match self.claim.method {
            EveryMethod::Views | EveryMethod::CutOff => MOST_KEPT + 1,
            EveryMethod::Backward => 1,
            EveryMethod::Auto if has_two || has_order => MOST_KEPT + 1,
            EveryMethod::Auto if whole.scope().needs.tests.is_empty() => BACKWARD_AFTER,
            EveryMethod::Auto => BACKWARD_AFTER + 1,
        };
        let most_kept = if self.claim.method == EveryMethod::Backward { 1 } else { MOST_KEPT };
        let mut regions = vec![whole];
        for kept in 1..=most_kept {
            let mut pending = VecDeque::from(std::mem::take(&mut regions));
            while let Some(mut region) = pending.pop_front() {
                let about = self.family.about(&region, kept);
                if !self.search_below(&about)? {
                    return Ok(());
                }
                if self.claim.method == EveryMethod::Backward {
                    regions.push(region);
                    continue;
                }
                match self.by_views(&mut region, kept)? {
                    Progress::Proved => {
                        let proved: Vec<_> = self.report.proofs.iter().map(|proof| proof.values.clone()).collect();
                        pending.extend(text.known(self.family.left_by(&region, &about, &proved))?);
                    }
                    Progress::None => regions.push(region),
                    Progress::Stopped => return Ok(()),
                }
            }
            if regions.is_empty() {
                self.report.verdict = Verdict::Holds;
                return Ok(());
            }
            // It is tried with one type of objects, which is one region.
            if let [region] = &mut regions[..]
                && kept == backward_after
            {
                match self.by_parts(region)? {
                    Progress::Proved => {
                        self.report.verdict = Verdict::Holds;
                        return Ok(());
                    }
                    Progress::None => {}
                    Progress::Stopped => return Ok(()),
                }
            }
        }
        // With two types of objects, there is none.
        if regions.len() == 1
            && self.claim.method == EveryMethod::Auto
            && let Some(region) = regions.pop()
            && let Ok(shown) = text.known(self.family.cut_off(&region))?
        {
            self.by_cut_off(region, shown)?;
            if self.report.verdict != Verdict::Inconclusive || self.report.stop_reason.is_some() {
                return Ok(());
            }
        }
        if self.report.open.is_none() {
            self.report.open = Some(match self.claim.method {
                EveryMethod::Backward => "the family is not monotone, and a search backward is too coarse".to_owned(),
                _ => format!("views of up to {MOST_KEPT} objects are too coarse"),
            });
        }
        Ok(())
    }

    /// Searches all members that have not been searched or proved, as far as an attempt leaves members with the same sum of the
    /// constants. Returns whether they are right.
    fn search_below(&mut self, about: &[EveryValue]) -> Result<bool, Error> {
        let largest = |values: &EveryValue| match *values {
            EveryValue::Is(value) => value,
            EveryValue::AtLeast(least) => least - 1,
        };
        self.search_to(about.iter().map(largest).sum())
    }

    /// Searches all members up to a sum of the constants that have not been searched or proved. Returns whether they are right.
    fn search_to(&mut self, sum: i64) -> Result<bool, Error> {
        let of_members = member_options(self.options);
        while self.searched < sum {
            for values in self.family.with_sum(self.searched + 1) {
                if self.report.proofs.iter().any(|proof| contain(&proof.values, &values)) {
                    continue;
                }
                let model = self.family.text().member(&values)?;
                let found = Plan::of(&model, &of_members)?.run_with(self.control, self.observer)?;
                self.report.searched.push((values.clone(), found.states));
                match found.verdict {
                    Verdict::Holds => {}
                    Verdict::Violated => {
                        self.report.verdict = Verdict::Violated;
                        self.report.violation = Some((values, model, Box::new(found)));
                        return Ok(false);
                    }
                    Verdict::Inconclusive => {
                        let values = self.claim.equations(&values);
                        self.report.open = Some(format!("the search with {values} did not finish"));
                        self.report.stop_reason = found.stop_reason;
                        return Ok(false);
                    }
                }
            }
            self.searched += 1;
        }
        Ok(true)
    }

    /// Searches with views.
    fn by_views(&mut self, region: &mut Region, kept: usize) -> Result<Progress, Error> {
        let sizes = region.scope().sizes(kept..=kept);
        let selection = self.family.text().known(self.family.select(region, &sizes))?;
        self.control.enter(Phase::Searching);
        let started = Instant::now();
        let question = ViewsQuestion { selection: selection.clone(), kept, most: MOST_VIEWS };
        let outcome = self.ask(Views, region.job(question))?.unwrap_or(ViewsOutcome::Stopped { views: 0 });
        let (method, elapsed, values) = (EveryMethod::Views, started.elapsed(), self.family.about(region, kept));
        let attempt = |views, wrong| EveryAttempt { method, values, kept, views, parts: 0, wrong, elapsed };
        match outcome {
            ViewsOutcome::Closed(invariant) => {
                self.report.attempts.push(attempt(invariant.len(), None));
                self.confirm(region, *invariant, selection)
            }
            ViewsOutcome::Wrong { what, objects, views } => {
                self.report.attempts.push(attempt(views, Some((what, self.family.numbers(objects)))));
                Ok(Progress::None)
            }
            ViewsOutcome::Stopped { views } => {
                self.report.attempts.push(attempt(views, None));
                self.report.open = Some(format!("the search for views of {kept} objects did not finish"));
                self.report.stop_reason = self.control.check();
                Ok(Progress::Stopped)
            }
        }
    }

    /// Searches backward.
    fn by_parts(&mut self, region: &mut Region) -> Result<Progress, Error> {
        let sizes = region.scope().sizes(1..=1);
        let selection = self.family.text().known(self.family.select(region, &sizes))?;
        self.control.enter(Phase::Searching);
        let started = Instant::now();
        let views = if self.claim.method == EveryMethod::Auto { MOST_VIEWS_TRIED } else { MOST_VIEWS };
        let question = BackwardQuestion { selection, limits: BackwardLimits { views, moves: MOST_MOVES } };
        let outcome = self.ask(Backward, region.job(question))?;
        let outcome = outcome.unwrap_or(BackwardOutcome::Stopped { parts: 0, views: 0 });
        let (method, elapsed, values) = (EveryMethod::Backward, started.elapsed(), self.family.about(region, 1));
        let attempt = |views, parts, wrong| EveryAttempt { method, values, kept: 1, views, parts, wrong, elapsed };
        match outcome {
            BackwardOutcome::Closed(invariant) => {
                self.report.attempts.push(attempt(invariant.len(), invariant.excluded(), None));
                let sizes = region.scope().sizes(1..=invariant.width());
                let selection = self.family.text().known(self.family.select(region, &sizes))?;
                self.confirm(region, *invariant, selection)
            }
            BackwardOutcome::Reached { objects, parts, views } => {
                let wrong = ("an initial state contains one of them".to_owned(), self.family.numbers(objects));
                self.report.attempts.push(attempt(views, parts, Some(wrong)));
                let is_exact = region.scope().needs.tests.is_empty();
                if !is_exact && self.claim.method == EveryMethod::Auto {
                    return Ok(Progress::None);
                }
                let values = self.family.values(objects);
                let is_right = self.search_to(values.iter().sum())?;
                if is_right && is_exact {
                    let values = self.claim.equations(&values);
                    return Err(Defect::noticed(format!("with {values} there is no violation")).into());
                }
                Ok(if is_right { Progress::None } else { Progress::Stopped })
            }
            BackwardOutcome::Stopped { parts, views } => {
                self.report.attempts.push(attempt(views, parts, None));
                self.report.stop_reason = self.control.check();
                if self.report.stop_reason.is_some() || self.claim.method == EveryMethod::Backward {
                    self.report.open = Some("the search backward did not finish".to_owned());
                    return Ok(Progress::Stopped);
                }
                Ok(Progress::None)
            }
        }
    }

    /// Searches all members up to a cut-off that the text shows. By default, only if that is cheap.
    fn by_cut_off(&mut self, mut region: Region, shown: CutOff) -> Result<(), Error> {
        let is_auto = self.claim.method == EveryMethod::Auto;
        let from = self.family.least_sum();
        let mut contents = None;
        if is_auto || shown.guards == Guards::Some {
            let sizes = region.scope().sizes(1..=1);
            let selection = self.family.text().known(self.family.select(&mut region, &sizes))?;
            self.control.enter(Phase::Searching);
            let question = ContentsQuestion { selection, most: MOST_VIEWS };
            contents = self.ask(Contents, region.job(question))?.flatten();
            if contents.is_none() {
                self.report.open = Some("the search for all that a process can hold did not finish".to_owned());
                self.report.stop_reason = self.control.check();
                return Ok(());
            }
        }
        let value = self.family.cut_off_value(&region, &shown, contents.unwrap_or(0));
        let (guards, of_contents) = match shown.guards {
            Guards::Some => (EveryGuards::Some, contents),
            Guards::All => (EveryGuards::All, None),
        };
        let noted =
            EveryTextCutOff { value, guards, contents: of_contents, concerned: shown.concerned, is_proof: false };
        self.report.cut_off = Some(noted);
        let is_cheap = contents.is_some_and(|contents| multisets(contents, value.max(from)) <= MOST_OF_CUT_OFF);
        if is_auto && self.searched < value && !is_cheap {
            return Ok(());
        }
        // If more are asked for than the cut-off, the smallest of these is like one of its size.
        if self.search_to(value.max(from))? {
            self.report.verdict = Verdict::Holds;
            self.report.cut_off = Some(EveryTextCutOff { is_proof: true, ..noted });
        }
        Ok(())
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
        deadlock: Some(DeadlockMode::Off),
        threads: options.threads,
        limits: Limits::default(),
        ..Options::default()
    }
}
