//! `hidden` variables, which SPIN keeps outside the state.
//!
//! SPIN stores states without the values of `hidden` variables, and continues from a state with whatever value its
//! search left there. That is sound if the value that a variable had when a state was stored is never read: on every
//! path from a control point of a stored state, the variable is assigned before it is used. Such a variable is reset to
//! its initial value at the end of every step into a stored state, so that it distinguishes no states. Inside an atomic
//! sequence it keeps its value, since those states are transient. Every other `hidden` variable remains part of the
//! state, with a warning, since SPIN may then miss states.
//!
//! This is the usual backward analysis of live variables, with statements as nodes. An array or a structure is never
//! considered assigned as a whole, so it is omitted from states only if nothing reads it.

use quotient_ir::{Diagnostic, Span, Statement, StatementKind};
use quotient_kit::Building;
use rustc_hash::FxHashSet;

use super::emission::{Emission, FieldAddress};
use super::flow::{Action, Element, ElementId, ElementKind, Flow};
use super::owner::{Context, Owner};
use super::priorities::Priorities;
use super::program::{Program, VariableKey, expressions_of, walk};
use super::symbols::ValueType;
use crate::syntax::tree::{Expression, ExpressionKind, Initial, Member};

/// The `hidden` variables that are not part of states, and the data that determines where they are reset.
#[derive(Clone, Debug, Default)]
pub(super) struct Hidden {
    /// Their numbers, with the process types whose statements name them.
    forgotten: Vec<(usize, FxHashSet<usize>)>,
    /// The control points of each process type at which a process can be in a stored state.
    stored: Vec<FxHashSet<ElementId>>,
}

/// The effect of a statement on a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    /// It uses the previous value.
    reads: bool,
    /// It assigns a value that does not depend on the previous one.
    assigns: bool,
}

impl Hidden {
    /// Finds the variables that need not be stored, and warns about the others.
    pub(super) fn find(program: &Program<'_>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let globals = &program.symbols.globals;
        let mut hidden = Self::default();
        if !globals.iter().any(|info| info.hidden && info.assigned) {
            return hidden;
        }
        hidden.stored = (0..program.processes.len()).map(|process| stored_points(program, process)).collect();
        // A variable that is never assigned distinguishes no states anyway.
        for number in (0..globals.len()).filter(|&number| globals[number].hidden && globals[number].assigned) {
            let info = &globals[number];
            match hidden.reader(program, number) {
                None => hidden.forgotten.push((number, naming(program, number))),
                Some(reader) => {
                    let message = format!("the value of hidden variable `{}` matters in later states", info.name);
                    let mut warning = Diagnostic::warning("hidden-variable", message, info.span)
                        .with_label("part of the state here")
                        .with_help("SPIN leaves it out of states and may miss some of them; a variable that every step assigns before it reads it can be hidden");
                    if reader != Span::default() {
                        warning = warning.with_secondary(reader, "this may use a value from before");
                    }
                    diagnostics.push(warning);
                }
            }
        }
        hidden
    }

    /// A possible read of the value that a variable had in a stored state.
    fn reader(&self, program: &Program<'_>, number: usize) -> Option<Span> {
        let key = VariableKey::Global(number);
        let info = &program.symbols.globals[number];
        if info.channel.is_some() {
            return Some(info.span);
        }
        if let Some(Initial::Value(value)) = &info.initial
            && program.symbols.constant(value).is_none()
        {
            return Some(value.span);
        }
        let outside = |expression: &Expression| mentions(program, None, 0, key, expression).then_some(expression.span);
        if let Some(span) = program.claimed_conditions().find_map(outside) {
            return Some(span);
        }
        for (process, entry) in program.processes.iter().enumerate() {
            let own = |expression: &Expression| {
                mentions(program, Some(process), 0, key, expression).then_some(expression.span)
            };
            // The initial values of a process are evaluated when it starts.
            let initial = entry.symbols.variables.iter().filter_map(|local| match &local.initial {
                Some(Initial::Value(value)) => own(value),
                Some(Initial::List(values)) => values.iter().find_map(own),
                _ => None,
            });
            if let Some(span) = entry.tree.provided.as_ref().and_then(own).or(initial.into_iter().next()) {
                return Some(span);
            }
            let live = live_elements(program, process, key);
            for &point in &entry.flow.points {
                if self.stored[process].contains(&point)
                    && let Some(exit) = entry.flow.exits(point).iter().find(|exit| live[exit.element])
                {
                    return Some(first_reader(program, process, key, &live, exit.element));
                }
            }
        }
        None
    }
}

/// The process types whose statements name a global variable.
fn naming(program: &Program<'_>, number: usize) -> FxHashSet<usize> {
    let key = VariableKey::Global(number);
    let named = program.actions().filter(|(process, element, action)| {
        expressions_with_printed(action).iter().any(|it| mentions(program, Some(*process), element.scope, key, it))
    });
    named.map(|(process, ..)| process).collect()
}

/// Whether an expression names a variable.
fn mentions(
    program: &Program<'_>,
    process: Option<usize>,
    scope: usize,
    key: VariableKey,
    expression: &Expression,
) -> bool {
    let mut found = false;
    walk(expression, &mut |inner| {
        if let ExpressionKind::Reference(parts) = &inner.kind {
            found |= program.lookup(process, scope, &parts[0].name.text) == Some(key);
        }
    });
    found
}

/// The control points at which a process of a type can be in a stored state: after a statement that is not followed by
/// the rest of an atomic sequence, and wherever such a sequence may block.
fn stored_points(program: &Program<'_>, process: usize) -> FxHashSet<ElementId> {
    let entry = &program.processes[process];
    let flow = &entry.flow;
    if entry.tree.provided.is_some() || !matches!(program.priorities, Priorities::None) {
        return flow.points.iter().copied().collect();
    }
    let mut stored: FxHashSet<ElementId> = FxHashSet::default();
    stored.insert(flow.first);
    for &point in &flow.points {
        let exits = flow.exits(point);
        if !exits.iter().any(|exit| is_surely_executable(flow, exit.element)) {
            stored.insert(point);
        }
        for exit in exits {
            let element = &flow.elements[exit.element];
            // A rendezvous send passes control to the receiver.
            let hands_over = match &element.kind {
                ElementKind::Basic(Action::Send { channel, .. }) => {
                    let shapes = program.channel_shapes(Some(process), element.scope, channel);
                    shapes.is_empty() || shapes.iter().any(|&shape| program.shapes[shape].capacity == 0)
                }
                _ => false,
            };
            if !element.atomic || hands_over {
                stored.extend(flow.target(exit.element));
            }
        }
    }
    stored
}

/// The expressions of an action with those it prints, which are evaluated like others.
fn expressions_with_printed(action: &Action) -> Vec<&Expression> {
    match action {
        Action::Print { arguments, .. } => arguments.iter().collect(),
        other => expressions_of(other),
    }
}

fn is_surely_executable(flow: &Flow, element: ElementId) -> bool {
    match &flow.elements[element].kind {
        ElementKind::Basic(action) => matches!(
            action,
            Action::Skip
                | Action::Print { .. }
                | Action::Assert(_)
                | Action::Assign { .. }
                | Action::SetPriority { .. }
        ),
        // It or another option can be.
        ElementKind::Else | ElementKind::Goto(_) => true,
        ElementKind::DeterministicStep => flow.elements[element].block.is_some_and(|block| {
            flow.leaves_of(flow.start_of(block.first)).into_iter().any(|leaf| is_surely_executable(flow, leaf))
        }),
        _ => false,
    }
}

/// The effect of a statement on a variable.
fn usage(program: &Program<'_>, process: usize, element: &Element, key: VariableKey) -> Usage {
    let ElementKind::Basic(action) = &element.kind else { return Usage::default() };
    let info = program.variable(key);
    let is_scalar = info.count.is_none() && matches!(info.ty, ValueType::Scalar(_));
    let named = |expression: &Expression| mentions(program, Some(process), element.scope, key, expression);
    let is_it = |parts: &[Member]| program.lookup(Some(process), element.scope, &parts[0].name.text) == Some(key);
    // What is written to, but for the indices on the way there.
    let written = |expression: &Expression| match &expression.kind {
        ExpressionKind::Reference(parts) if is_it(parts) => {
            let indices = parts.iter().filter_map(|part| part.index.as_deref());
            Usage { reads: indices.into_iter().any(named), assigns: is_scalar }
        }
        _ => Usage { reads: named(expression), assigns: false },
    };
    match action {
        Action::Assign { target, value } => {
            let target = written(target);
            Usage { reads: target.reads || named(value), assigns: target.assigns }
        }
        Action::Receive { channel, arguments, .. } => {
            let fields: Vec<Usage> = arguments.iter().map(written).collect();
            Usage {
                reads: named(channel) || fields.iter().any(|field| field.reads),
                assigns: fields.iter().any(|field| field.assigns),
            }
        }
        _ => Usage { reads: expressions_with_printed(action).into_iter().any(named), assigns: false },
    }
}

/// What can come after an element without a statement between them.
fn followers(element: &Element) -> Vec<ElementId> {
    let mut followers: Vec<ElementId> = element.escapes.clone();
    match &element.kind {
        ElementKind::If | ElementKind::Do | ElementKind::Unless => {
            followers.extend(element.options.iter().map(|option| option.first));
        }
        ElementKind::Atomic | ElementKind::Block | ElementKind::DeterministicStep => {
            followers.extend(element.block.map(|block| block.first));
        }
        ElementKind::Goto(target) => followers.extend(target),
        ElementKind::Join | ElementKind::Exit | ElementKind::Else | ElementKind::Basic(_) => {
            followers.extend(element.next);
        }
        ElementKind::End => {}
    }
    followers
}

/// The elements from which control can get to a use of a variable before it is assigned.
fn live_elements(program: &Program<'_>, process: usize, key: VariableKey) -> Vec<bool> {
    let flow = &program.processes[process].flow;
    let usages: Vec<Usage> = flow.elements.iter().map(|element| usage(program, process, element, key)).collect();
    let mut live: Vec<bool> = usages.iter().map(|usage| usage.reads).collect();
    loop {
        let mut changed = false;
        for number in (0..flow.elements.len()).rev() {
            let element = &flow.elements[number];
            // An escape is taken before the statement, too.
            let ways = match usages[number].assigns {
                true => element.escapes.clone(),
                false => followers(element),
            };
            if !live[number] && ways.into_iter().any(|way| live[way]) {
                live[number] = true;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

/// A use that is reached from an element before an assignment.
fn first_reader(program: &Program<'_>, process: usize, key: VariableKey, live: &[bool], from: ElementId) -> Span {
    let flow = &program.processes[process].flow;
    let mut found = vec![from];
    let mut position = 0;
    while position < found.len() {
        let element = &flow.elements[found[position]];
        let usage = usage(program, process, element, key);
        if usage.reads {
            return element.span;
        }
        let ways = if usage.assigns { element.escapes.clone() } else { followers(element) };
        for way in ways.into_iter().filter(|&way| live[way]) {
            if !found.contains(&way) {
                found.push(way);
            }
        }
        position += 1;
    }
    flow.elements[from].span
}

impl Emission<'_, '_> {
    /// Statements that reset hidden variables at the end of a step that leads to a stored state. `taker` is the process
    /// type and the element that receives the message of a send.
    pub(super) fn forget_hidden(
        &mut self,
        mover: (usize, ElementId),
        taker: Option<(usize, ElementId)>,
    ) -> Vec<Statement> {
        let program = self.program;
        let mut statements = Vec::new();
        // The process that has control after the step: the receiver of a message continues in its atomic sequence.
        let (process, element) = taker.unwrap_or(mover);
        let target = program.processes[process].flow.target(element);
        let Some(stored) = program.hidden.stored.get(process) else { return statements };
        if target.is_some_and(|target| !stored.contains(&target)) {
            return statements;
        }
        for (number, naming) in &program.hidden.forgotten {
            let involved = naming.contains(&mover.0) || naming.contains(&process);
            let Some(variable) = self.globals[*number].filter(|_| involved) else { continue };
            let info = &program.symbols.globals[*number];
            let place = self.variable_place(variable);
            let span = program.processes[process].flow.elements[element].span;
            statements.push(Statement { kind: StatementKind::Clear(place), span });
            let at = FieldAddress { variable: VariableKey::Global(*number), path: &[], index: 0 };
            self.initialize(&mut Owner::default(), Context::outside(), place, info, at, &mut statements);
        }
        statements
    }
}
