//! The effect of a step on assumptions and invariants. They held in the state before the step, so only those that read
//! what the step changed must be checked again; and of these, only the ones that are not already implied by what is
//! known about the new state (tested by the guard, or written by the body).

use super::bits::{BitSet, KnownBits};
use super::effects::{Effects, PartialFields};
use crate::evaluator::SpecialisedUnit;
use crate::evaluator::code::{Code, Command, CommandId, Test, TestId};

/// What is known about a test without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Foresight {
    /// It succeeds.
    Succeeds,
    /// It fails.
    Fails,
    /// It succeeds or fails.
    Decides,
    /// Its evaluation may fail.
    Unknown,
}

/// One test that must succeed in every state, and the bits it reads.
#[derive(Clone, Debug)]
pub(super) struct Conjunct {
    pub(super) test: TestId,
    reads: BitSet,
}

impl Conjunct {
    pub(super) fn new(code: &Code, fields: &PartialFields, words: usize, test: TestId) -> Self {
        let mut effects = Effects::new(code, fields, words);
        effects.test(test);
        Self { test, reads: effects.reads }
    }
}

/// What is known after a step.
pub(super) struct Step<'a> {
    code: &'a Code,
    known: KnownBits,
    writes: BitSet,
    /// Fields that certainly have a value after the step.
    assured: BitSet,
}

impl<'a> Step<'a> {
    /// The effect of a unit on a state whose expected fields all have values.
    pub(super) fn of(code: &'a Code, fields: &PartialFields, expected: &BitSet, unit: &SpecialisedUnit) -> Self {
        let words = expected.0.len();
        let mut known = KnownBits::nothing(words);
        learn(&mut known, &unit.first_test);
        for &test in unit.tests() {
            learn(&mut known, &code.tests[test]);
        }
        let mut effects = Effects::new(code, fields, words);
        effects.test_node(&unit.first_test);
        for &test in unit.tests() {
            effects.test(test);
        }
        if let Some(body) = unit.body {
            effects.command(body);
            follow(code, fields, &mut known, body);
        }
        let mut assured = expected.clone();
        for (word, mask) in fields.iter().filter(|&(word, mask)| effects.writes.meets(word, mask)) {
            assured.remove(word, mask);
        }
        Self { code, known, writes: effects.writes, assured }
    }

    /// Whether a test that succeeded before the step certainly succeeds after it.
    pub(super) fn keeps(&self, conjunct: &Conjunct) -> bool {
        conjunct.reads.is_disjoint(&self.writes)
            || self.foresee(&self.code.tests[conjunct.test], 0) == Foresight::Succeeds
    }

    fn foresee(&self, test: &Test, depth: u32) -> Foresight {
        if depth > 50 {
            return Foresight::Unknown;
        }
        let below = |id: TestId| self.foresee(&self.code.tests[id], depth + 1);
        match *test {
            Test::Constant(true) => Foresight::Succeeds,
            Test::Constant(false) => Foresight::Fails,
            Test::FieldIs { word, partial, mask, pattern } => self.field_is(word, partial, mask, pattern),
            Test::FieldIsNot { word, partial, mask, pattern } => opposite(self.field_is(word, partial, mask, pattern)),
            Test::FieldIn { word, shift, mask, partial, set } => {
                let mask = u64::from(mask) << shift;
                if self.known.mask[word as usize] & mask == mask {
                    let found = (self.known.bits[word as usize] & mask) >> shift;
                    match (found == 0 && partial, set >> found & 1 == 1) {
                        (true, _) => Foresight::Unknown,
                        (false, true) => Foresight::Succeeds,
                        (false, false) => Foresight::Fails,
                    }
                } else if partial && !self.assured.contains(word, mask) {
                    Foresight::Unknown
                } else {
                    Foresight::Decides
                }
            }
            Test::Not(test) => opposite(below(test)),
            Test::AllOf(list) => {
                let parts = self.code.test_lists.get(list).iter().map(|&test| below(test));
                junction(parts, Foresight::Fails, Foresight::Succeeds)
            }
            Test::AnyOf(list) => {
                let parts = self.code.test_lists.get(list).iter().map(|&test| below(test));
                junction(parts, Foresight::Succeeds, Foresight::Fails)
            }
            Test::Conditional { condition, then, otherwise } => match below(condition) {
                Foresight::Succeeds => below(then),
                Foresight::Fails => below(otherwise),
                Foresight::Unknown => Foresight::Unknown,
                Foresight::Decides => match (below(then), below(otherwise)) {
                    (Foresight::Unknown, _) | (_, Foresight::Unknown) => Foresight::Unknown,
                    (then, otherwise) if then == otherwise => then,
                    _ => Foresight::Decides,
                },
            },
            _ => Foresight::Unknown,
        }
    }

    fn field_is(&self, word: u32, partial: bool, mask: u64, pattern: u64) -> Foresight {
        let known = self.known.mask[word as usize] & mask;
        let bits = self.known.bits[word as usize] & mask;
        let has_value = !partial || bits != 0 || self.assured.contains(word, mask);
        if known == mask && bits == pattern {
            Foresight::Succeeds
        } else if !has_value {
            Foresight::Unknown
        } else if bits != pattern & known {
            Foresight::Fails
        } else {
            Foresight::Decides
        }
    }
}

fn opposite(foresight: Foresight) -> Foresight {
    match foresight {
        Foresight::Succeeds => Foresight::Fails,
        Foresight::Fails => Foresight::Succeeds,
        other => other,
    }
}

/// Consecutive tests; the first with a decisive result ends the evaluation.
fn junction(parts: impl Iterator<Item = Foresight>, decisive: Foresight, neutral: Foresight) -> Foresight {
    let mut result = neutral;
    for part in parts {
        if part == Foresight::Unknown {
            return Foresight::Unknown;
        }
        if part == decisive {
            return decisive;
        }
        if part == Foresight::Decides {
            result = Foresight::Decides;
        }
    }
    result
}

/// Records what a successful test shows.
fn learn(known: &mut KnownBits, test: &Test) {
    if let Test::FieldIs { word, mask, pattern, .. } = *test {
        known.learn(word, mask, pattern);
    }
}

/// Records what a body writes.
fn follow(code: &Code, fields: &PartialFields, known: &mut KnownBits, id: CommandId) {
    match code.commands[id] {
        Command::Sequence(list) => {
            let commands = code.command_lists.get(list);
            // After a return, the rest may not run.
            let straight = commands.iter().all(|&command| is_plain_write(&code.commands[command]));
            for &command in commands {
                if straight {
                    follow(code, fields, known, command);
                } else {
                    forget(code, fields, known, command);
                }
            }
        }
        Command::SetBits { word, mask, bits } => known.learn(word, mask, bits),
        _ => forget(code, fields, known, id),
    }
}

fn is_plain_write(command: &Command) -> bool {
    matches!(
        command,
        Command::SetBits { .. } | Command::SetField { .. } | Command::MoveBits { .. } | Command::Store { .. }
    )
}

fn forget(code: &Code, fields: &PartialFields, known: &mut KnownBits, id: CommandId) {
    let mut effects = Effects::new(code, fields, known.mask.len());
    effects.command(id);
    known.forget_all(&effects.writes);
}
