//! Regions and doors, as the facade uses them, with a family whose members are built instead of read.

use std::cell::RefCell;
use std::sync::Arc;

use quotient_ir::builder::{BuildError, ModelBuilder, Type, forall};
use quotient_ir::{Interrupt, Model, PropertyId, TableIndex};
use quotient_search::{Engine, Pacing, Silent, Step, answer};

use crate::{
    Backward, BackwardLimits, BackwardOutcome, BackwardQuestion, Compared, Comparison, Contents, ContentsQuestion,
    EverySize, EveryValue, Family, Invariant, Reading, Recheck, RecheckQuestion, Region, Relation, Text, Unread, Views,
    ViewsOutcome, ViewsQuestion,
};

/// Processes that share a lock, and perhaps do not wait for it.
struct Lock {
    waits: bool,
    /// The members that were read.
    read: RefCell<Vec<i64>>,
}

fn lock(processes: u64, waits: bool) -> Result<Model, BuildError> {
    let mut model = ModelBuilder::new("lock");
    let process = Type::scalarset("process", processes);
    let inside = model.variable("inside", Type::array(&process, Type::boolean()));
    let locked = model.variable("locked", Type::boolean());
    model.start("nobody is there", |start| {
        start.for_each("p", &process, |body, p| body.assign(inside.at(p), false));
        start.assign(&locked, false);
    });
    model.rule("enter", |rule| {
        let p = rule.parameter("p", &process);
        if waits {
            rule.guard(!&locked);
        }
        rule.assign(inside.at(&p), true);
        rule.assign(&locked, true);
    });
    model.rule("leave", |rule| {
        let p = rule.parameter("p", &process);
        rule.guard(inside.at(&p));
        rule.assign(inside.at(&p), false);
        rule.assign(&locked, false);
    });
    model.invariant("mutual exclusion", |_| {
        forall("p", &process, |p| forall("q", &process, |q| p.ne(&q).implies(!inside.at(&p).and(inside.at(&q)))))
    });
    model.build()
}

impl Text for Lock {
    type Error = BuildError;

    fn read(&self, values: &[i64]) -> Result<Reading, BuildError> {
        self.read.borrow_mut().push(values[0]);
        let model = lock(u64::try_from(values[0]).expect("a small number"), self.waits)?;
        let layout = quotient_ir::Layout::new(&model).expect("a small model");
        Ok(Reading { model: Arc::new(model), layout: Arc::new(layout) })
    }

    fn claimed(&self, _: &Model) -> Result<Vec<PropertyId>, BuildError> {
        Ok(vec![PropertyId::from_position(0)])
    }

    fn has_only_sizes(&self) -> bool {
        true
    }
}

fn family(waits: bool) -> (Family<Lock>, Region) {
    let text = Lock { waits, read: RefCell::default() };
    let sizes = vec![EverySize { constant: "N".to_owned(), from: 1 }];
    Family::new(text, sizes, Interrupt::new()).expect("its members differ in the number of processes")
}

fn invariant(family: &Family<Lock>, region: &mut Region) -> Arc<Invariant> {
    let sizes = region.scope().sizes(2..=2);
    let selection = family.select(region, &sizes).expect("all members can be read");
    let job = region.job(ViewsQuestion { selection, kept: 2, most: 1_000 });
    match answer(Views, job, Silent, &Interrupt::new()).expect("there is room for a thread") {
        ViewsOutcome::Closed(invariant) => Arc::from(invariant),
        other => panic!("views of two processes suffice: {other:?}"),
    }
}

#[test]
fn engines_answer_through_their_doors() {
    let (family, mut region) = family(true);
    let found = invariant(&family, &mut region);
    assert_eq!(family.about(&region, found.kept), [EveryValue::AtLeast(4)]);
    let sizes = region.scope().sizes(1..=found.width());
    let selection = family.select(&mut region, &sizes).expect("all members can be read");
    let question = RecheckQuestion { selection: selection.clone(), invariant: Arc::clone(&found) };
    let rechecked = answer(Recheck, region.job(question), Silent, &Interrupt::new()).expect("a thread");
    assert!(rechecked.is_ok_and(|states| states > 0));
    // Nobody is inside, or one is.
    let compare = |value, relation| {
        let question = family.comparison(&region, &[value], &found, relation, 100).expect("it can be read");
        answer(Comparison, question.job(), Silent, &Interrupt::new()).expect("there is room for a thread")
    };
    for value in 4..7 {
        assert_eq!(compare(value, Relation::Covered), Ok(Some(Compared { states: 2, has_all_views: true })));
    }
    assert_eq!(compare(3, Relation::Smaller), Ok(Some(Compared { states: 2, has_all_views: true })));
    let contents = ContentsQuestion { selection: selection.clone(), most: 1_000 };
    let contents = answer(Contents, region.job(contents), Silent, &Interrupt::new()).expect("a thread");
    assert_eq!(contents, Some(2));
    let question = BackwardQuestion { selection, limits: BackwardLimits { views: 1_000, moves: 1_000 } };
    let backward = answer(Backward, region.job(question), Silent, &Interrupt::new()).expect("a thread");
    assert!(matches!(backward, BackwardOutcome::Closed(_)), "{backward:?}");
}

#[test]
fn runs_wait_for_grants_and_end_with_their_interrupt() {
    let (family, mut region) = family(true);
    let sizes = region.scope().sizes(2..=2);
    let selection = family.select(&mut region, &sizes).expect("all members can be read");
    let question = ViewsQuestion { selection, kept: 2, most: 1_000 };
    let interrupt = Interrupt::new();
    let start = || Views.start(region.job(question.clone()), Silent, Pacing::WITHOUT_MARKS, &interrupt);
    let mut run = start().expect("there is room for a thread");
    let mut granted = 0;
    let outcome = loop {
        granted += 1;
        match run.advance(granted) {
            Step::Working(_) | Step::Partial(_) => {}
            Step::Done(outcome) => break outcome.expect("it does not panic"),
        }
    };
    assert!(granted > 3 && matches!(outcome, ViewsOutcome::Closed(_)), "{granted}, {outcome:?}");
    let run = start().expect("there is room for a thread");
    interrupt.raise();
    assert!(matches!(run.finish(), Ok(ViewsOutcome::Stopped { .. })));
}

#[test]
fn what_is_wrong_is_found_with_the_number_of_objects() {
    let (family, mut region) = family(false);
    let sizes = region.scope().sizes(1..=1);
    let selection = family.select(&mut region, &sizes).expect("all members can be read");
    let question = ViewsQuestion { selection, kept: 1, most: 1_000 };
    let outcome = answer(Views, region.job(question), Silent, &Interrupt::new()).expect("a thread");
    let ViewsOutcome::Wrong { what, objects, .. } = outcome else { panic!("two can be inside: {outcome:?}") };
    assert_eq!(what, "`mutual exclusion` does not hold");
    assert!(sizes.contains(&objects), "{:?}", family.numbers(objects));
}

#[test]
fn members_are_read_once() {
    let (family, mut region) = family(true);
    let sizes = region.scope().sizes(1..=2);
    family.text().read.borrow_mut().clear();
    for _ in 0..2 {
        let selection = family.select(&mut region, &sizes).expect("all members can be read");
        assert!(selection.members.keys().eq(&sizes));
    }
    let read = family.text().read.take();
    assert_eq!(read.len(), sizes.len(), "{read:?}");
}

/// A text in which the constant is more than a number of values.
struct Marked(Lock);

impl Text for Marked {
    type Error = BuildError;

    fn read(&self, values: &[i64]) -> Result<Reading, BuildError> {
        self.0.read(values)
    }

    fn claimed(&self, model: &Model) -> Result<Vec<PropertyId>, BuildError> {
        self.0.claimed(model)
    }

    fn has_only_sizes(&self) -> bool {
        false
    }
}

#[test]
fn constants_that_are_more_than_sizes_are_refused() {
    let sizes = vec![EverySize { constant: "N".to_owned(), from: 1 }];
    let text = Marked(Lock { waits: true, read: RefCell::default() });
    let Err(Unread::Obstacles(obstacles)) = Family::new(text, sizes, Interrupt::new()) else {
        panic!("the text says that it is more")
    };
    assert_eq!(obstacles[0].reason, "`N` is used for more than the number of values of a type");
}
