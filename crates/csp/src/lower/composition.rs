//! Which steps of the parts of a composition happen together: events in alphabets, termination, and messages through
//! channels without a buffer.

use quotient_ir::{Diagnostic, Span};

use super::steps::Label;
use super::terms::{Event, Value};

/// The most steps of a composition.
pub(super) const COMBINATION_LIMIT: usize = 200_000;

/// Something with a label.
pub(super) trait Labelled {
    fn label(&self) -> &Label;
}

/// Steps of parts that happen together.
#[derive(Clone, Debug)]
pub(super) struct Combination {
    /// The part and the number of its step; of a message, the sender is first.
    pub(super) members: Vec<(usize, usize)>,
    pub(super) label: Label,
}

impl Combination {
    /// The indices of the channel on both sides of a message.
    pub(super) fn same_index<S: Labelled>(&self, all: &[Vec<S>]) -> Option<(Vec<Value>, Vec<Value>)> {
        let indices = |&(part, number): &(usize, usize)| match all[part][number].label() {
            Label::Send { indices, .. } | Label::Receive { indices, .. } => Some(indices.clone()),
            _ => None,
        };
        match (&self.label, &self.members[..]) {
            (Label::Passed { .. }, [sender, receiver]) => Some((indices(sender)?, indices(receiver)?)),
            _ => None,
        }
    }
}

/// The steps of a composition of parts with these steps. With alphabets, events are synchronised.
pub(super) fn compose<S: Labelled>(
    all: &[Vec<S>],
    alphabets: Option<&[Vec<Event>]>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Combination> {
    let mut combinations: Vec<Combination> = Vec::new();
    for (part, steps) in all.iter().enumerate() {
        for (number, step) in steps.iter().enumerate() {
            let label = step.label();
            match label {
                Label::Termination => {}
                Label::Event { name, arguments, joins: true } if alphabets.is_some() => {
                    let alphabets = alphabets.unwrap_or_default();
                    let constants: Option<Vec<i64>> = arguments.iter().map(Value::constant).collect();
                    let Some(constants) = constants else {
                        if alphabets.iter().enumerate().any(|(other, alphabet)| {
                            other != part
                                && alphabet.iter().any(|(it, values)| it == name && values.len() == arguments.len())
                        }) {
                            varying_event(name, diagnostics);
                        }
                        combinations.push(Combination { members: vec![(part, number)], label: label.clone() });
                        continue;
                    };
                    let has =
                        |part: usize| alphabets[part].iter().any(|(it, values)| it == name && *values == constants);
                    let others: Vec<usize> = (0..all.len()).filter(|&other| other != part && has(other)).collect();
                    // Counted once, with the first part.
                    if has(part) && others.first().is_some_and(|&first| first < part) {
                        continue;
                    }
                    let mut members = vec![vec![(part, number)]];
                    for other in others {
                        let fitting: Vec<usize> = (0..all[other].len())
                            .filter(|&number| same_event(all[other][number].label(), label))
                            .collect();
                        members = extended(&members, other, &fitting);
                    }
                    let synchronised = members.into_iter().map(|members| Combination { members, label: label.clone() });
                    combinations.extend(synchronised);
                }
                _ => combinations.push(Combination { members: vec![(part, number)], label: label.clone() }),
            }
            if combinations.len() > COMBINATION_LIMIT {
                too_large(diagnostics);
                return Vec::new();
            }
        }
    }
    messages(all, &mut combinations);
    // All terminate together.
    let mut members = vec![Vec::new()];
    for (part, steps) in all.iter().enumerate() {
        let ending: Vec<usize> =
            (0..steps.len()).filter(|&number| *steps[number].label() == Label::Termination).collect();
        members = extended(&members, part, &ending);
        if members.len() > COMBINATION_LIMIT {
            too_large(diagnostics);
            return Vec::new();
        }
    }
    combinations.extend(members.into_iter().map(|members| Combination { members, label: Label::Termination }));
    combinations
}

fn extended(members: &[Vec<(usize, usize)>], part: usize, numbers: &[usize]) -> Vec<Vec<(usize, usize)>> {
    let longer = |known: &Vec<(usize, usize)>, number: usize| {
        let mut longer = known.clone();
        longer.push((part, number));
        longer
    };
    members.iter().flat_map(|known| numbers.iter().map(|&number| longer(known, number))).collect()
}

fn same_event(left: &Label, right: &Label) -> bool {
    match (left, right) {
        (
            Label::Event { name, arguments, joins: true },
            Label::Event { name: other, arguments: others, joins: true },
        ) => {
            name == other
                && arguments.len() == others.len()
                && arguments.iter().zip(others).all(|(left, right)| left.constant() == right.constant())
        }
        _ => false,
    }
}

/// Pairs of a sender and a receiver of a message.
fn messages<S: Labelled>(all: &[Vec<S>], combinations: &mut Vec<Combination>) {
    let sends = |step: &S| matches!(step.label(), Label::Send { .. });
    for (sender, steps) in all.iter().enumerate() {
        for (number, step) in steps.iter().enumerate().filter(|(_, step)| sends(step)) {
            let Label::Send { channel, indices, values } = step.label() else { continue };
            for (receiver, others) in all.iter().enumerate().filter(|(receiver, _)| *receiver != sender) {
                for (other, step) in others.iter().enumerate() {
                    let Label::Receive { channel: same, indices: others, .. } = step.label() else { continue };
                    let differ = indices.iter().zip(others).any(|(left, right)| {
                        matches!((left.constant(), right.constant()), (Some(left), Some(right)) if left != right)
                    });
                    if channel != same || differ || combinations.len() > COMBINATION_LIMIT {
                        continue;
                    }
                    let (indices, values) = (indices.clone(), values.clone());
                    let label = Label::Passed { channel: *channel, indices, values };
                    combinations.push(Combination { members: vec![(sender, number), (receiver, other)], label });
                }
            }
        }
    }
}

fn varying_event(name: &str, diagnostics: &mut Vec<Diagnostic>) {
    let message = format!("the event `{name}` is synchronised, and what is behind its dots is not constant");
    if diagnostics.iter().any(|it| it.message == message) {
        return;
    }
    let error = Diagnostic::error("varying-event", message, Span::default());
    let error = error.with_help("use constants and parameters of processes there, or a channel");
    diagnostics.push(Diagnostic { primary: None, ..error });
}

pub(super) fn too_large(diagnostics: &mut Vec<Diagnostic>) {
    let message = format!("more than {COMBINATION_LIMIT} steps are possible in this model");
    if !diagnostics.iter().any(|it| it.message == message) {
        let error = Diagnostic::error("too-large", message, Span::default());
        diagnostics.push(Diagnostic { primary: None, ..error });
    }
}
