//! The steps of the whole model, put together from those of components.

use quotient_ir::{ChartStep, EventLabel, Exchange};

use super::alphabets;
use super::components::Network;
use super::composition::{COMBINATION_LIMIT, Labelled, compose, too_large};
use super::steps::{Label, Via};
use super::symbols::Symbols;

/// A component that takes part in a step: its position, and the number of its step there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) component: usize,
    pub(super) location: usize,
    pub(super) step: usize,
}

/// A step of the model.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) parts: Vec<Part>,
    /// Components that must be in a position, and stay there.
    pub(super) staying: Vec<(usize, usize)>,
    pub(super) label: Label,
    /// The part that the values of the label belong to.
    pub(super) labelled: usize,
    pub(super) is_atomic: bool,
    /// The sender and the receiver of messages, among the parts.
    pub(super) passed: Vec<(usize, usize)>,
}

impl Labelled for Move {
    fn label(&self) -> &Label {
        &self.label
    }
}

/// Who takes part in a step, and what is exchanged.
pub(super) fn chart_step(symbols: &Symbols<'_>, it: &Move, label: EventLabel) -> ChartStep {
    let exchange = match &it.label {
        Label::Passed { .. } => Exchange::Passed,
        Label::Queue { channel, sends, .. } => {
            let indices = symbols.channels[*channel].sizes.len();
            if *sends { Exchange::Sent(indices) } else { Exchange::Received(indices) }
        }
        _ => Exchange::Nothing,
    };
    let mut parts: Vec<usize> = (0..it.parts.len()).collect();
    if let Some(&(sender, receiver)) = it.passed.first() {
        parts = vec![sender, receiver];
    }
    let participants = parts.into_iter().map(|part| it.parts[part].component).collect();
    ChartStep { participants, label, exchange }
}

/// The steps of a root. Halves of messages are left out.
pub(super) fn of_root(network: &Network, symbols: &mut Symbols<'_>, root: usize) -> Vec<Move> {
    let mut moves = of_component(network, symbols, network.roots[root].0);
    moves.retain(|it| !matches!(it.label, Label::Send { .. } | Label::Receive { .. }));
    moves
}

fn of_component(network: &Network, symbols: &mut Symbols<'_>, component: usize) -> Vec<Move> {
    let mut all = Vec::new();
    let own: Vec<usize> = (0..network.forks.len()).filter(|&fork| network.forks[fork].component == component).collect();
    let inside: Vec<(usize, Vec<Move>)> = own.into_iter().map(|fork| (fork, of_fork(network, symbols, fork))).collect();
    let locations = &network.components[component].locations;
    for (location, it) in locations.iter().enumerate() {
        for (number, (step, _)) in it.steps.iter().enumerate() {
            let part = Part { component, location, step: number };
            match step.via {
                None => all.push(Move {
                    parts: vec![part],
                    staying: Vec::new(),
                    label: step.label.clone(),
                    labelled: 0,
                    is_atomic: step.is_atomic,
                    passed: Vec::new(),
                }),
                Some(Via::Parts(fork)) => {
                    // While its parts are active, the component is in one of the positions with this fork.
                    let is_only = locations.iter().filter(|location| location.forks.contains(&fork)).count() == 1;
                    let moves = inside.iter().filter(|(number, _)| *number == fork).flat_map(|(_, moves)| moves);
                    for inner in moves.filter(|inner| inner.label != Label::Termination) {
                        let mut inner = inner.clone();
                        inner.is_atomic |= step.is_atomic;
                        if !is_only {
                            inner.staying.push((component, location));
                        }
                        if let Label::Event { name, arguments, .. } = &inner.label
                            && step
                                .hidden
                                .iter()
                                .any(|hidden| alphabets::contains(symbols, hidden, name, arguments, step.span))
                        {
                            inner.label = Label::Internal;
                        }
                        all.push(inner);
                    }
                }
                Some(Via::End(fork)) => {
                    let moves = inside.iter().filter(|(number, _)| *number == fork).flat_map(|(_, moves)| moves);
                    for inner in moves.filter(|inner| inner.label == Label::Termination) {
                        let mut inner = inner.clone();
                        inner.is_atomic |= step.is_atomic;
                        inner.parts.push(part);
                        inner.labelled = inner.parts.len() - 1;
                        inner.label = step.label.clone();
                        all.push(inner);
                    }
                }
            }
            if all.len() > COMBINATION_LIMIT {
                too_large(&mut symbols.diagnostics);
                return Vec::new();
            }
        }
    }
    all
}

fn of_fork(network: &Network, symbols: &mut Symbols<'_>, fork: usize) -> Vec<Move> {
    let it = &network.forks[fork];
    let all: Vec<Vec<Move>> = it.parts.iter().map(|&part| of_component(network, symbols, part)).collect();
    let combinations = compose(&all, it.alphabets.as_deref(), &mut symbols.diagnostics);
    let join = |members: &[(usize, usize)], label: &Label| {
        let mut joined = Move {
            parts: Vec::new(),
            staying: Vec::new(),
            label: label.clone(),
            labelled: 0,
            is_atomic: false,
            passed: Vec::new(),
        };
        let mut labelled = Vec::new();
        for &(part, number) in members {
            let inner = &all[part][number];
            let offset = joined.parts.len();
            labelled.push(offset + inner.labelled);
            joined.parts.extend(&inner.parts);
            joined.staying.extend(&inner.staying);
            joined.is_atomic |= inner.is_atomic;
            joined.passed.extend(inner.passed.iter().map(|(sender, receiver)| (sender + offset, receiver + offset)));
        }
        joined.labelled = labelled.first().copied().unwrap_or(0);
        if let (Label::Passed { .. }, [sender, receiver]) = (label, &labelled[..])
            && !matches!(all[members[0].0][members[0].1].label, Label::Passed { .. })
        {
            joined.passed.push((*sender, *receiver));
        }
        joined
    };
    combinations.iter().map(|combination| join(&combination.members, &combination.label)).collect()
}
