//! Private points: control points at which a process can only do what concerns nobody else.
//!
//! A step that reads and writes only variables of its own process commutes with all steps of others, and these neither
//! enable nor disable it: it is a persistent set of its own (Godefroid, *Partial-Order Methods for the Verification of
//! Concurrent Systems*, 1996). So a process that comes to a private point goes on at once, as in an atomic sequence, and the
//! state in between is not stored. Nothing is put off forever, since no cycle consists of private points alone. Why that
//! preserves what is checked, and where it is not done: ADR 37.

use rustc_hash::FxHashSet;

use super::creation::{is_own, is_watched};
use super::flow::{Action, ElementId, ElementKind, Exit, Flow};
use super::program::{Program, VariableKey};
use super::rules::run_of;
use crate::syntax::tree::{Expression, ExpressionKind, StatementKind};

/// The private points of each process type; none if somebody can see where processes are.
pub(super) fn private_points(program: &Program<'_>, watches_runs: bool) -> Vec<FxHashSet<ElementId>> {
    let is_used = !is_watched(program, watches_runs) && !asks_for_partners(program) && !has_exclusive_channels(program);
    let points = |process: usize| {
        let flow = &program.processes[process].flow;
        let is_candidate = |point: &ElementId| is_used && is_private(program, process, *point);
        let mut points = flow.points.iter().copied().filter(is_candidate).collect();
        break_cycles(flow, &mut points);
        points
    };
    (0..program.processes.len()).map(points).collect()
}

/// Whether channels are declared to be used by one process alone. Partial order finds out itself that such sends and receives
/// depend on little, and passes through them as well, but less precisely where steps lead through transient states.
fn has_exclusive_channels(program: &Program<'_>) -> bool {
    let mut statements = program.processes.iter().flat_map(|process| &process.tree.body);
    statements.any(|statement| matches!(statement.kind, StatementKind::ChannelAssertion(_)))
}

/// Whether all that a process can do at a point concerns only itself. A point that is never left is not private: there is
/// nothing to go on with.
fn is_private(program: &Program<'_>, process: usize, point: ElementId) -> bool {
    let flow = &program.processes[process].flow;
    let is_closed = |exit: &Exit| match &flow.elements[exit.element].kind {
        ElementKind::Basic(Action::Condition(condition)) => program.symbols.constant(condition) == Some(0),
        _ => false,
    };
    if flow.exits(point).iter().all(is_closed) {
        return false;
    }
    flow.exits(point).iter().all(|exit| {
        let element = &flow.elements[exit.element];
        let is_own = |expression: &Expression| is_own(program, process, element.scope, expression);
        // An atomic sequence is one step for others.
        !element.atomic
            && exit.escape.is_none()
            && exit.below.is_empty()
            && match &element.kind {
                ElementKind::Else | ElementKind::Goto(_) => true,
                ElementKind::Basic(action) if run_of(action).is_some() => false,
                ElementKind::Basic(Action::Skip) => true,
                // What is printed is evaluated, and so may go wrong.
                ElementKind::Basic(Action::Print { arguments, .. }) => arguments.iter().all(is_own),
                ElementKind::Basic(Action::Condition(condition)) => is_own(condition),
                ElementKind::Basic(Action::Assign { target, value }) => {
                    let ExpressionKind::Reference(parts) = &target.kind else { return false };
                    let key = program.lookup(Some(process), element.scope, &parts[0].name.text);
                    matches!(key, Some(VariableKey::Local(..))) && is_own(target) && is_own(value)
                }
                _ => false,
            }
    })
}

/// Leaves out the points at which cycles of private points are closed.
fn break_cycles(flow: &Flow, private: &mut FxHashSet<ElementId>) {
    let mut done: FxHashSet<ElementId> = FxHashSet::default();
    for &start in &flow.points {
        if !private.contains(&start) || done.contains(&start) {
            continue;
        }
        // The path to the present point, each with the targets that are left.
        let mut path: Vec<(ElementId, Vec<ElementId>)> = vec![(start, targets(flow, start))];
        while let Some((point, left)) = path.last_mut() {
            let Some(target) = left.pop() else {
                done.insert(*point);
                path.pop();
                continue;
            };
            if !private.contains(&target) || done.contains(&target) {
                continue;
            }
            match path.iter().any(|(before, _)| *before == target) {
                true => _ = private.remove(&target),
                false => path.push((target, targets(flow, target))),
            }
        }
    }
}

fn targets(flow: &Flow, point: ElementId) -> Vec<ElementId> {
    flow.exits(point).iter().filter_map(|exit| flow.target(exit.element)).collect()
}

/// Whether what a process does depends on whether another one waits for its message, other than by sending it. Then the
/// steps that lead to a receive are seen.
fn asks_for_partners(program: &Program<'_>) -> bool {
    (0..program.processes.len()).any(|process| {
        let flow = &program.processes[process].flow;
        let is_handshake = |element: ElementId| {
            let element = &flow.elements[element];
            let ElementKind::Basic(action) = &element.kind else { return false };
            program.is_handshake(process, element.scope, action)
        };
        let exits = flow.points.iter().flat_map(|&point| flow.exits(point));
        let atomic = exits.filter(|exit| flow.elements[exit.element].atomic);
        // A sequence that has begun blocks where nobody receives, and then others move in the middle of it.
        let begun: FxHashSet<ElementId> = atomic.filter_map(|exit| flow.target(exit.element)).collect();
        let asks = |point: ElementId| {
            let exits = flow.exits(point);
            let is_asked =
                |exit: &Exit| exit.escape.is_some() || matches!(flow.elements[exit.element].kind, ElementKind::Else);
            exits.iter().any(|exit| is_handshake(exit.element))
                && (begun.contains(&point) || exits.iter().any(is_asked))
        };
        let in_step = |element: ElementId| flow.elements[element].in_step && is_handshake(element);
        (0..flow.elements.len()).any(in_step) || flow.points.iter().any(|&point| asks(point))
    })
}
