//! The course of a search: does what a [`Schedule`] decides.
//!
//! The main search and the runs beside it take turns on threads of their own, but only one of them works at a time: a run
//! goes on where it had to wait, and how far it gets does not depend on the clock.

use std::sync::Arc;

use quotient_ir::PropertyId;
use quotient_relations::{Obstacle, relations_within};
use quotient_search::partial_order::Relations;
use quotient_search::{
    EngineError, Marks, Measure, Pacing, Run, SearchOptions, Step, StopReason, SymbolicReport, Verdict,
};
use quotient_systems::ReductionPlan;

use crate::adaptive::{self, Attempt, Searched};
use crate::control::{Control, Limited};
use crate::detection::{self, Symmetries, ToPreserve, Wish};
use crate::error::Error;
use crate::model::Model;
use crate::schedule::{Action, Beside, End, Event, Known, Schedule, Terms};
use crate::search;
use crate::symbolic::{SetAnswer, start_set, whole_set};

/// An attempt with a part of the steps may take one part in this many of the memory for states.
const PARTS_MEMORY: u64 = 4;
/// The same for an adaptive search.
const ADAPTIVE_MEMORY: u64 = 8;

/// What is searched.
pub(crate) struct Question<'a> {
    pub(crate) model: &'a Model,
    pub(crate) search: &'a SearchOptions,
    pub(crate) properties: &'a [PropertyId],
    /// Which symmetries are looked for, if any.
    pub(crate) wish: Option<Wish>,
    pub(crate) control: &'a Control,
}

/// How a course ended.
pub(crate) struct Finish<M> {
    pub(crate) winner: Winner<M>,
    /// The symmetries, as far as they were looked for.
    pub(crate) symmetries: Option<Symmetries>,
    /// Why all steps are needed, if that was found out.
    pub(crate) all_steps: Option<String>,
    /// A violation found with a part of the steps, whether or not it is the answer.
    pub(crate) violation: Option<quotient_search::Report>,
    /// The set of all states, as far as it got.
    pub(crate) set: Option<Run<SetAnswer>>,
}

/// What decides everything.
pub(crate) enum Winner<M> {
    /// The main search.
    Main(M),
    /// A search with a part of the steps.
    Parts(Box<quotient_search::Report>),
    /// An adaptive search.
    Adaptive(Box<Searched>),
    /// The set of all states.
    Set(Box<SymbolicReport>),
    /// Nothing: everything was stopped before the search began.
    Stopped(StopReason),
}

/// The runs beside a main search, and what they ended with.
struct Course<'a> {
    question: &'a Question<'a>,
    detection: Option<detection::Search>,
    /// The symmetries that the main search uses.
    in_use: Option<Symmetries>,
    /// Those that were found since it began.
    later: Option<Symmetries>,
    relations: Option<Run<Result<Relations, Obstacle>>>,
    known_relations: Option<Arc<Relations>>,
    all_steps: Option<String>,
    parts: Option<Run<Result<quotient_search::Report, EngineError>>>,
    parts_report: Option<quotient_search::Report>,
    adaptive: Option<Run<Attempt>>,
    adaptive_report: Option<Box<Searched>>,
    set: Option<Run<SetAnswer>>,
    set_report: Option<Box<SymbolicReport>>,
}

/// Begins the main search, which reports to its pace and is held at marks.
pub(crate) type Start<'a, M> = dyn FnMut(Option<Arc<ReductionPlan>>, Marks) -> Option<Run<M>> + 'a;

/// Follows a schedule from the beginning to the answer.
///
/// # Errors
/// If there is a defect in this program, or the model cannot be encoded.
pub(crate) fn follow<M: Send + 'static>(
    question: &Question<'_>,
    terms: Terms,
    start: &mut Start<'_, M>,
) -> Result<Finish<M>, Error> {
    let control = question.control;
    let (mut schedule, quantum) = (Schedule::new(terms), control.quantum());
    let mut course = Course::new(question);
    let mut main: Option<Run<M>> = None;
    let mut granted: u64 = 0;
    let mut action = schedule.next(Event::Begin);
    loop {
        let event = match action {
            Action::Search => {
                let run = match &mut main {
                    Some(run) => run,
                    None => {
                        if let Some(reason) = control.check() {
                            return Ok(course.finish(Winner::Stopped(reason)));
                        }
                        let plan = course.in_use.as_ref().and_then(Symmetries::plan).cloned();
                        let Some(run) = start(plan, schedule.marks()) else {
                            return Ok(course.finish(Winner::Stopped(StopReason::OutOfMemory)));
                        };
                        granted = 0;
                        main.insert(run)
                    }
                };
                granted = granted.saturating_add(quantum);
                match run.advance(granted) {
                    Step::Done(end) => return Ok(course.finish(Winner::Main(end?))),
                    Step::Working(reached) if reached.is_at_mark => {
                        let room = control.store_bytes(question.search.threads, false);
                        Event::Mark { reached, room }
                    }
                    Step::Working(_) | Step::Partial(_) => continue,
                }
            }
            Action::Restart => {
                // What it stored makes room for what comes next.
                course.begin_again();
                if let Some(main) = main.take() {
                    main.stop();
                }
                action = Action::Search;
                continue;
            }
            Action::Grant(beside, total) => course.grant(beside, total)?,
            Action::GiveUp(beside) => course.give_up(beside),
            Action::Take(beside) => {
                let winner = course.take(beside);
                return Ok(course.finish(winner));
            }
        };
        action = schedule.next(event);
    }
}

impl<'a> Course<'a> {
    fn new(question: &'a Question<'a>) -> Self {
        Self {
            question,
            detection: None,
            in_use: None,
            later: None,
            relations: None,
            known_relations: None,
            all_steps: None,
            parts: None,
            parts_report: None,
            adaptive: None,
            adaptive_report: None,
            set: None,
            set_report: None,
        }
    }

    /// Uses the symmetries that were found last.
    fn begin_again(&mut self) {
        self.in_use = self.later.take().or(self.in_use.take());
        (self.parts, self.adaptive) = (None, None);
    }

    fn grant(&mut self, beside: Beside, total: u64) -> Result<Event, Error> {
        match beside {
            Beside::Detection => self.detect(total),
            Beside::Relations => self.relate(total),
            Beside::Parts => self.search_parts(total),
            Beside::Adaptive => self.search_adaptively(total),
            Beside::Set => self.search_sets(total),
        }
    }

    fn detect(&mut self, total: u64) -> Result<Event, Error> {
        let Question { model, search, properties, wish, control } = *self.question;
        let Some(wish) = wish else { return Ok(Event::Ended(End::Nothing)) };
        let is_first = self.detection.is_none();
        let detection = self.detection.get_or_insert_with(|| {
            let preserved = ToPreserve::of_search(properties.to_vec(), search);
            detection::Search::start(model, wish, preserved, control.interrupt())
        });
        if detection.is_over() {
            self.later = Some(detection.unknown(detection::TOO_FEW_RESOURCES));
            return Ok(Event::Ended(End::Nothing));
        }
        let (symmetries, is_all) = match detection.advance(total)? {
            detection::Found::Nothing => return Ok(Event::Waits(Default::default())),
            detection::Found::Some(symmetries) => (symmetries, false),
            detection::Found::All(symmetries) => (symmetries, true),
        };
        // Symmetries that were asked for are used in any case, and a restart has been weighed.
        let symmetries = if is_first && wish == Wish::InSteps { symmetries.worthwhile() } else { symmetries };
        let known = Known { order: symmetries.order().cloned(), reduces: symmetries.reduces(), is_all };
        self.later = Some(symmetries);
        Ok(Event::Known(known))
    }

    /// Finds out what steps do to each other.
    fn relate(&mut self, total: u64) -> Result<Event, Error> {
        let Question { model, search, control, .. } = *self.question;
        if self.relations.is_none() {
            let (model, search) = (model.clone(), search.clone());
            self.relations = Run::start(control.interrupt(), move |pace| {
                relations_within(pace.budget(), model.ir(), model.layout(), &search)
            });
        }
        let Some(run) = &mut self.relations else { return Ok(Event::Ended(End::Nothing)) };
        let found = match run.advance_until_interrupted(total) {
            Step::Working(reached) => return Ok(Event::Waits(reached)),
            Step::Partial(found) | Step::Done(Ok(found)) => found,
            Step::Done(Err(defect)) => return Err(defect.into()),
        };
        self.relations = None;
        Ok(Event::Ended(match found {
            Ok(relations) => {
                self.known_relations = Some(Arc::new(relations));
                End::Ready
            }
            Err(Obstacle::Refused(reason)) => {
                // What was stopped may say that it cannot be told.
                self.all_steps = Some(reason).filter(|_| !control.interrupt().is_raised());
                End::Nothing
            }
            Err(Obstacle::TooMuchWork(_)) => End::Nothing,
        }))
    }

    /// Searches with a part of the steps.
    fn search_parts(&mut self, total: u64) -> Result<Event, Error> {
        let Question { model, search, control, .. } = *self.question;
        if self.parts.is_none() {
            // In order, so that several threads wait in the middle of a level, too.
            let options = SearchOptions {
                partial_order: self.known_relations.clone(),
                max_memory: control.store_bytes(search.threads, false).map(|memory| memory / PARTS_MEMORY),
                spill: None,
                ordered_states: u64::MAX,
                ..search.clone()
            };
            let plan = self.in_use.as_ref().and_then(Symmetries::plan).cloned();
            let pacing = Pacing { measure: Measure::States, marks: None };
            self.parts = search::begin(model, plan, options, Limited(control.clone()), pacing, control);
        }
        let Some(run) = &mut self.parts else { return Ok(Event::Ended(End::Nothing)) };
        let found = match run.advance_until_interrupted(total) {
            Step::Working(reached) => return Ok(Event::Waits(reached)),
            Step::Partial(found) | Step::Done(Ok(found)) => found,
            Step::Done(Err(defect)) => return Err(defect.into()),
        };
        self.parts = None;
        let report = found.map_err(|error| Error::of_engine(model.source(), error))?;
        let end = match report.verdict {
            Verdict::Inconclusive => End::Nothing,
            Verdict::Violated => End::Violation,
            Verdict::Holds => End::Answer,
        };
        self.parts_report = Some(report).filter(|_| end != End::Nothing);
        Ok(Event::Ended(end))
    }

    fn search_adaptively(&mut self, total: u64) -> Result<Event, Error> {
        let Question { model, search, properties, control, .. } = *self.question;
        if self.adaptive.is_none() {
            let options = SearchOptions {
                max_memory: control.store_bytes(search.threads, false).map(|memory| memory / ADAPTIVE_MEMORY),
                spill: None,
                ..search.clone()
            };
            let known = self.later.as_ref().or(self.in_use.as_ref()).and_then(Symmetries::order);
            let Some(order) = known.cloned() else { return Ok(Event::Ended(End::Nothing)) };
            let (model, properties, watched) = (model.clone(), properties.to_vec(), Limited(control.clone()));
            self.adaptive = Run::start(control.interrupt(), move |pace| {
                // A node of the analysis takes as long as a step.
                let mut observer = pace.observer(watched, Measure::Steps, None);
                adaptive::attempt(&model, &properties, &options, &order, pace.budget(), &mut observer)
            });
        }
        let Some(run) = &mut self.adaptive else { return Ok(Event::Ended(End::Nothing)) };
        let found = match run.advance_until_interrupted(total) {
            Step::Working(reached) => return Ok(Event::Waits(reached)),
            Step::Partial(found) | Step::Done(Ok(found)) => found,
            Step::Done(Err(defect)) => return Err(defect.into()),
        };
        self.adaptive = None;
        match found {
            Attempt::Made(searched) => {
                self.adaptive_report = Some(searched);
                Ok(Event::Ended(End::Answer))
            }
            Attempt::TooMuch | Attempt::Pointless => Ok(Event::Ended(End::Nothing)),
            Attempt::Failed(error) => Err(error),
        }
    }

    /// Computes the set of all states.
    fn search_sets(&mut self, total: u64) -> Result<Event, Error> {
        let Question { model, search, control, .. } = *self.question;
        if self.set.is_none() {
            self.set = start_set(model, search, control);
        }
        let Some(run) = &mut self.set else { return Ok(Event::Ended(End::Nothing)) };
        let found = match run.advance_until_interrupted(total) {
            Step::Working(reached) => return Ok(Event::Waits(reached)),
            Step::Partial(found) | Step::Done(Ok(found)) => found,
            Step::Done(Err(defect)) => return Err(defect.into()),
        };
        self.set = None;
        self.set_report = whole_set(model, found)?.map(Box::new);
        Ok(Event::Ended(if self.set_report.is_some() { End::Answer } else { End::Nothing }))
    }

    fn give_up(&mut self, beside: Beside) -> Event {
        match beside {
            Beside::Detection => self.detection = None,
            Beside::Relations => self.relations = None,
            Beside::Parts => self.parts = None,
            Beside::Adaptive => self.adaptive = None,
            Beside::Set => self.set = None,
        }
        Event::GivenUp
    }

    fn take<M>(&mut self, beside: Beside) -> Winner<M> {
        let found = match beside {
            Beside::Parts => self.parts_report.take().map(|report| Winner::Parts(Box::new(report))),
            Beside::Adaptive => self.adaptive_report.take().map(Winner::Adaptive),
            Beside::Set => self.set_report.take().map(Winner::Set),
            Beside::Detection | Beside::Relations => None,
        };
        found.expect("only a run that has an answer is taken")
    }

    fn finish<M>(self, winner: Winner<M>) -> Finish<M> {
        let is_stopped = matches!(winner, Winner::Stopped(_));
        let symmetries = match (self.in_use, self.later) {
            (Some(mut symmetries), Some(later)) if symmetries.reduces() => {
                symmetries.complete_by(&later);
                Some(symmetries)
            }
            (_, Some(later)) if self.question.wish == Some(Wish::InSteps) => {
                Some(later.unused("not used: they were found when most of the search was over"))
            }
            (_, Some(later)) => Some(later),
            (Some(symmetries), None) => Some(symmetries),
            (None, None) => self.detection.as_ref().map(|detection| {
                detection.unknown(match is_stopped {
                    true => detection::STOPPED,
                    false => "not known, since the search was over before they were found",
                })
            }),
        };
        let Self { all_steps, parts_report, set, .. } = self;
        Finish { winner, symmetries, all_steps, violation: parts_report, set }
    }
}

/// Computes the set of all states with as much work as it takes, from where it got beside a search.
///
/// # Errors
/// If there is a defect in this program.
pub(crate) fn finish_set(
    model: &Model,
    search: &SearchOptions,
    control: &Control,
    begun: Option<Run<SetAnswer>>,
) -> Result<Option<SymbolicReport>, Error> {
    match begun.or_else(|| start_set(model, search, control)) {
        Some(run) => whole_set(model, run.finish()?),
        None => Ok(None),
    }
}
