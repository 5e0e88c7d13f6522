//! Schedules as data: what happens, and what is decided.

use num_bigint::BigUint;
use quotient_search::{Progress, Reached};

use super::*;

const LITTLE: DetectionTerms = DetectionTerms { patience: Patience::Little, nodes: 0 };

fn progress(states: u64, steps: u64, waiting: u64) -> Progress {
    Progress { states, transitions: steps, frontier: waiting, depth: 10, memory_bytes: 8 * states }
}

fn at(states: u64, steps: u64, waiting: u64) -> Reached {
    Reached::after(&[progress(states, steps, waiting)])
}

fn mark(states: u64, steps: u64, waiting: u64) -> Event {
    Event::Mark { reached: at(states, steps, waiting), room: Some(1 << 30) }
}

fn known(order: u32, is_all: bool) -> Event {
    Event::Known(Known { order: Some(BigUint::from(order)), reduces: order > 1, is_all })
}

/// Tells a schedule what happens, and compares what it decides.
fn check(terms: Terms, course: impl IntoIterator<Item = (Event, Action)>) {
    let mut schedule = Schedule::new(terms);
    for (position, (event, expected)) in course.into_iter().enumerate() {
        let shown = format!("{event:?}");
        assert_eq!(schedule.next(event), expected, "event {position}: {shown}");
    }
}

fn detecting() -> Terms {
    Terms { detection: Some(LITTLE), ..Terms::default() }
}

fn with_parts() -> Terms {
    Terms { tries_parts: true, ..Terms::default() }
}

const DETECT: Action = Action::Grant(Beside::Detection, FREE_DETECTION);

#[test]
fn a_search_alone_is_never_held_up() {
    check(Terms::default(), [(Event::Begin, Action::Search), (mark(1 << 30, 1 << 32, 1 << 29), Action::Search)]);
}

#[test]
fn symmetries_that_are_found_at_once_are_used_at_once() {
    check(
        detecting(),
        [(Event::Begin, DETECT), (known(6, true), Action::Restart), (mark(1 << 20, 1 << 30, 1 << 19), Action::Search)],
    );
}

#[test]
fn detection_takes_a_share_of_the_search() {
    check(
        detecting(),
        [
            (Event::Begin, DETECT),
            (Event::Waits(Reached::default()), Action::Search),
            (mark(5_000, 300_000, 2_000), Action::Search),
            (mark(300_000, 16_000_000, 100_000), Action::Grant(Beside::Detection, 1_120_000)),
            (Event::Waits(Reached::default()), Action::Search),
        ],
    );
    assert!(detection_beside(u64::MAX) > 1 << 50);
}

#[test]
fn a_larger_group_that_is_found_later_is_used_if_it_pays() {
    let begun = || {
        [
            (Event::Begin, DETECT),
            (known(2, false), Action::Restart),
            (mark(1_000_000, 16_000_000, 300_000), Action::Grant(Beside::Detection, 1_120_000)),
        ]
    };
    check(detecting(), begun().into_iter().chain([(known(8, true), Action::Restart)]));
    check(detecting(), begun().into_iter().chain([(known(2, true), Action::Search)]));
}

#[test]
fn a_search_begins_again_if_much_is_left() {
    let pays = |order: u32, in_use: u32, frontier| {
        pays(&progress(1000, 0, frontier), &BigUint::from(order), &BigUint::from(in_use))
    };
    assert!(!pays(6, 6, 1000));
    assert!(pays(2, 1, 500) && !pays(2, 1, 300));
    assert!(pays(24, 6, 200) && !pays(24, 6, 100));
    assert!(pays(24, 1, 0) && !pays(24, 2, 0));
}

#[test]
fn symmetries_that_were_asked_for_are_used_whenever_they_are_found() {
    let terms = DetectionTerms { patience: Patience::Much, nodes: 0 };
    check(
        Terms { detection: Some(terms), tries_parts: true, ..Terms::default() },
        [
            (Event::Begin, Action::Grant(Beside::Detection, PATIENT_DETECTION)),
            (Event::Waits(Reached::default()), Action::Search),
            (mark(1 << 20, 1 << 24, 3), Action::Grant(Beside::Detection, PATIENT_DETECTION + (1 << 24))),
            (known(2, true), Action::Restart),
        ],
    );
}

#[test]
fn a_part_of_the_steps_is_tried_when_relations_are_known() {
    check(
        with_parts(),
        [
            (Event::Begin, Action::Search),
            (mark(4_000, 90_000, 2_000), Action::Search),
            (mark(8_000, 180_000, 4_000), Action::Grant(Beside::Relations, LEAST_RELATIONS + 60_000)),
            (Event::Ended(End::Ready), Action::Grant(Beside::Parts, 1_000)),
            // A tenth of its states wait, half of those of the search: promising.
            (Event::Waits(at(1_000, 2_000, 100)), Action::Grant(Beside::Parts, 2_000)),
            (Event::Waits(at(2_000, 4_000, 100)), Action::Search),
            (mark(8_500, 190_000, 4_000), Action::Search),
            (mark(9_000, 200_000, 4_000), Action::Grant(Beside::Parts, 1_125)),
            (Event::Ended(End::Answer), Action::Take(Beside::Parts)),
        ],
    );
}

#[test]
fn an_attempt_that_disappoints_three_times_is_given_up() {
    let bad = || Event::Waits(at(1_000, 2_000, 1_000));
    check(
        with_parts(),
        [
            (Event::Begin, Action::Search),
            (mark(8_000, 180_000, 4_000), Action::Grant(Beside::Relations, LEAST_RELATIONS + 60_000)),
            (Event::Ended(End::Ready), Action::Grant(Beside::Parts, 1_000)),
            (bad(), Action::Search),
            (mark(15_000, 400_000, 7_000), Action::Search),
            (mark(16_000, 400_000, 8_000), Action::Grant(Beside::Parts, 2_000)),
            (bad(), Action::Search),
            (mark(32_000, 800_000, 16_000), Action::Grant(Beside::Parts, 4_000)),
            (bad(), Action::GiveUp(Beside::Parts)),
            (Event::GivenUp, Action::Search),
            (mark(64_000, 1_600_000, 32_000), Action::Search),
        ],
    );
}

#[test]
fn a_violation_of_an_attempt_is_the_answer_when_the_search_is_twice_as_large() {
    check(
        with_parts(),
        [
            (Event::Begin, Action::Search),
            (mark(8_000, 180_000, 4_000), Action::Grant(Beside::Relations, LEAST_RELATIONS + 60_000)),
            (Event::Ended(End::Ready), Action::Grant(Beside::Parts, 1_000)),
            (Event::Ended(End::Violation), Action::Search),
            (mark(15_999, 400_000, 7_000), Action::Search),
            (mark(16_000, 400_000, 7_000), Action::Take(Beside::Parts)),
        ],
    );
}

#[test]
fn adaptive_reduction_waits_for_the_number_of_symmetries() {
    let terms = Terms { tries_adaptive: true, ..detecting() };
    check(
        terms,
        [
            (Event::Begin, DETECT),
            (Event::Waits(Reached::default()), Action::Search),
            (mark(30_000, 100_000, 10_000), Action::Search),
            (mark(300_000, 16_000_000, 1_000), Action::Grant(Beside::Detection, 1_120_000)),
            (known(1, true), Action::Grant(Beside::Adaptive, 2_000_000 / ADAPTIVE_PORTIONS)),
            // At the same depth, it has more than its share of the states.
            (Event::Waits(at(5_000, 9_000, 100)), Action::GiveUp(Beside::Adaptive)),
            (Event::GivenUp, Action::Search),
        ],
    );
}

#[test]
fn a_set_goes_on_in_step_with_the_search() {
    let set = SetTerms { instances: 32, slots: 10, is_reduced: false };
    check(
        Terms { set: Some(set), ..Terms::default() },
        [
            (Event::Begin, Action::Search),
            (mark(400, 4_000_000, 100), Action::Search),
            (mark(600, 4_000_000, 100), Action::Grant(Beside::Set, 1_000_600)),
            (Event::Waits(Reached::default()), Action::Search),
            (mark(700, 4_010_000, 100), Action::Search),
            (mark(800, 4_100_000, 100), Action::Grant(Beside::Set, 1_025_800)),
            (Event::Ended(End::Answer), Action::Take(Beside::Set)),
        ],
    );
}
