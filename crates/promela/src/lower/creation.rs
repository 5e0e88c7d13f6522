//! Orders that nobody can tell apart: processes are created before any of them moves, and stay at their ends.
//!
//! A process that creates others one by one (`do :: i < N -> run node(i); i++ …`) leaves room between its steps, in which
//! those that exist move while others do not. These states have no symmetry, and nothing is found in them that is not
//! found later: as long as the creator only touches what is its own, its steps commute with all steps of others, which can
//! neither enable nor disable them. So it is enough to take them first (a persistent set of one step, Godefroid 1996),
//! unless somebody can see how far it is. Creating a process commutes with steps of others that neither create nor remove
//! one, since numbers are given in the order of creation.

use super::super::syntax::tree::{Expression, ExpressionKind, Formula};
use super::emission::Emission;
use super::flow::{Action, ElementKind};
use super::pools::{Living, creations_from, reachable};
use super::priorities::Priorities;
use super::program::{ChannelSite, Program, VariableKey, expressions_of, walk};

/// The process that creates all others, if it may do so before they move: its number and type.
pub(super) fn creator(emission: &Emission<'_, '_>) -> Option<(i64, usize)> {
    let program = emission.program;
    let creates = |process: &usize| !program.run_sites(*process).is_empty();
    let mut creators = (0..program.processes.len()).filter(creates);
    let (Some(process), None) = (creators.next(), creators.next()) else { return None };
    if program.processes[process].active != 1 || is_watched(program, emission.watches_runs) {
        return None;
    }
    // A process that ends gives its number to a later one.
    if (0..program.processes.len()).any(|other| other != process && can_end(program, other)) {
        return None;
    }
    let before: i64 = program.processes[..process].iter().map(|entry| entry.active).sum();
    Some((before, process))
}

/// Whether anything but the processes themselves can see where they are, or which exist.
pub(super) fn is_watched(program: &Program<'_>, watches_runs: bool) -> bool {
    let is_plain = !watches_runs
        && program.tree.formulas.iter().all(Formula::is_watched)
        && program.claims.is_empty()
        && program.automata.is_empty()
        && program.trace.is_none()
        && !program.uses_last
        && matches!(program.priorities, Priorities::None)
        && program.processes.iter().all(|process| process.tree.provided.is_none());
    let mut sees = !is_plain;
    for (_, _, action) in program.actions() {
        for expression in expressions_of(action) {
            walk(expression, &mut |part| sees |= sees_processes(part));
        }
    }
    sees
}

/// Whether processes may stay at their ends. SPIN removes the youngest first, which distinguishes them. A process at its
/// end can do nothing else, so nobody can tell whether it is still there, unless a process is created later, which gets its
/// number, or others use its channels.
pub(super) fn may_stay_at_end(program: &Program<'_>, living: &[Living], watches_runs: bool) -> bool {
    let creates = |it: &Living| {
        let flow = &program.processes[it.process].flow;
        !creations_from(program, it.process, flow.point(it.point)).is_empty()
    };
    let has_channels =
        |site: &ChannelSite| matches!(site.variable, VariableKey::Local(process, _) if can_end(program, process));
    let ending = living.iter().filter(|it| can_end(program, it.process)).count();
    living.len() > 1
        && ending > 0
        && !living.iter().any(creates)
        && !program.sites.iter().any(has_channels)
        && !is_watched(program, watches_runs)
}

/// Whether a process of a type can end.
fn can_end(program: &Program<'_>, process: usize) -> bool {
    let flow = &program.processes[process].flow;
    let points = reachable(flow, flow.first);
    let mut exits = points.iter().flat_map(|&point| flow.exits(point));
    exits.any(|exit| matches!(flow.elements[exit.element].kind, ElementKind::End))
}

fn sees_processes(part: &Expression) -> bool {
    match &part.kind {
        ExpressionKind::Enabled(_)
        | ExpressionKind::PcValue(_)
        | ExpressionKind::Priority(_)
        | ExpressionKind::AtLabel { .. }
        | ExpressionKind::RemoteVariable { .. }
        | ExpressionKind::NonProgress => true,
        ExpressionKind::Reference(parts) => matches!(&*parts[0].name.text, "_nr_pr" | "_last"),
        _ => false,
    }
}

/// Whether all that a process can do where it is concerns only itself, and processes that it creates.
pub(super) fn is_local(program: &Program<'_>, it: Living) -> bool {
    let flow = &program.processes[it.process].flow;
    let exits = flow.exits(flow.point(it.point));
    exits.iter().all(|exit| {
        let element = &flow.elements[exit.element];
        let is_own = |expression: &Expression| is_own(program, it.process, element.scope, expression);
        exit.escape.is_none()
            && exit.below.is_empty()
            && match &element.kind {
                ElementKind::Else | ElementKind::Goto(_) => true,
                ElementKind::Basic(Action::Skip | Action::Print { .. }) => true,
                ElementKind::Basic(Action::Condition(condition)) => is_own(condition),
                ElementKind::Basic(Action::Assign { target, value }) => {
                    let ExpressionKind::Reference(parts) = &target.kind else { return false };
                    let key = program.lookup(Some(it.process), element.scope, &parts[0].name.text);
                    matches!(key, Some(VariableKey::Local(..))) && is_own(target) && is_own(value)
                }
                _ => false,
            }
    })
}

/// Whether the value of an expression depends only on what nobody else can change.
pub(super) fn is_own(program: &Program<'_>, process: usize, scope: usize, expression: &Expression) -> bool {
    let mut own = true;
    walk(expression, &mut |part| {
        own &= match &part.kind {
            ExpressionKind::Number(_)
            | ExpressionKind::Truth(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::Unary(..)
            | ExpressionKind::Binary(..)
            | ExpressionKind::Conditional(..)
            | ExpressionKind::Run { .. }
            | ExpressionKind::Eval(_) => true,
            ExpressionKind::Reference(parts) => match program.lookup(Some(process), scope, &parts[0].name.text) {
                Some(VariableKey::Local(..)) => true,
                Some(key @ VariableKey::Global(_)) => !program.variable(key).assigned,
                // A name of a message, or the number of the process.
                None => program.symbols.constant(part).is_some() || &*parts[0].name.text == "_pid",
            },
            _ => false,
        };
    });
    own
}
