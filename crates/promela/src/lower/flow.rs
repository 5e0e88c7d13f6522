//! The control flow of a process type, built as in SPIN (its `flow.c` and the tables that it generates), because the
//! choice of control points determines the number of states.
//!
//! Every statement is an element; so are the heads of selections, loops and blocks, and the joins after them. A control
//! point is the element to be executed next, after following unlabelled jumps and joins.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};
use quotient_kit::similar;
use rustc_hash::{FxHashMap, FxHashSet};

use super::symbols::{ProcessSymbols, Scope, Symbols, ValueType, VariableInfo};
use crate::syntax::tree::{
    Binary, Declaration, Expression, ExpressionKind, Initial, Member, Name, Proctype, Statement, StatementKind,
};

/// An element of a process type, by position.
pub(super) type ElementId = usize;

/// The effect of a basic element.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Skip,
    Condition(Expression),
    Assign {
        target: Expression,
        value: Expression,
    },
    Send {
        channel: Expression,
        sorted: bool,
        arguments: Vec<Expression>,
    },
    Receive {
        channel: Expression,
        random: bool,
        copying: bool,
        arguments: Vec<Expression>,
    },
    Print {
        format: Rc<str>,
        arguments: Vec<Expression>,
    },
    Assert(Expression),
    /// Gives a process another priority.
    SetPriority {
        process: Expression,
        priority: Expression,
    },
}

/// The kinds of elements.
#[derive(Clone, Debug)]
pub(super) enum ElementKind {
    /// A selection: one of its options.
    If,
    /// A loop: one of its options, again and again.
    Do,
    /// A sequence with an escape.
    Unless,
    Atomic,
    DeterministicStep,
    Block,
    /// The join after a selection, or before a loop.
    Join,
    /// The point after a loop.
    Exit,
    Goto(Option<ElementId>),
    Else,
    /// The end of the process.
    End,
    Basic(Action),
}

#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) kind: ElementKind,
    pub(super) next: Option<ElementId>,
    /// Options of a selection or loop; main and escape sequence of an unless.
    pub(super) options: Vec<Sequence>,
    /// The sequence of a block.
    pub(super) block: Option<Sequence>,
    /// Whether its process keeps exclusive control after it.
    pub(super) atomic: bool,
    /// Whether it is the last of an atomic sequence.
    pub(super) ends_atomic: bool,
    /// The first elements of its escapes, outermost first.
    pub(super) escapes: Vec<ElementId>,
    pub(super) labels: Vec<Rc<str>>,
    pub(super) scope: usize,
    pub(super) span: Span,
    /// Whether it lies in a deterministic step.
    pub(super) in_step: bool,
    /// SPIN's number of it as a state of its process.
    pub(super) state: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    pub(super) first: ElementId,
    pub(super) last: ElementId,
}

/// The control flow of a process type.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) elements: Vec<Element>,
    pub(super) first: ElementId,
    pub(super) labels: FxHashMap<Rc<str>, ElementId>,
    /// The control points that can be reached, in order; the point of a position is that plus one.
    pub(super) points: Vec<ElementId>,
    /// The number of each control point.
    pub(super) numbers: FxHashMap<ElementId, i64>,
    /// Where the text of the process type ends.
    pub(super) closing: Span,
}

/// One way to leave a control point.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    /// The basic element that is executed.
    pub(super) element: ElementId,
    /// The escape that it belongs to (its first element, or that of an equal escape), if any.
    pub(super) escape: Option<ElementId>,
    /// Escapes that this exit alone has to give way to.
    pub(super) below: Vec<ElementId>,
}

/// The most elements of one process type.
const ELEMENT_LIMIT: usize = 20_000;

/// A label and its scope: blocks have their own labels.
struct Label {
    name: Rc<str>,
    element: ElementId,
    scope: usize,
    span: Span,
}

struct Builder<'a> {
    symbols: &'a Symbols,
    process: ProcessSymbols,
    elements: Vec<Element>,
    labels: Vec<Label>,
    /// Jumps with their scopes.
    gotos: Vec<(ElementId, Name, usize)>,
    /// The exits of the loops around, innermost last.
    loops: Vec<ElementId>,
    /// The sequence under construction.
    sequence: Vec<Option<Sequence>>,
    scope: usize,
    /// Whether the control flow is that of a claim.
    is_claim: bool,
    /// Whether declarations still set initial values.
    at_start: bool,
    in_step: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
    hidden: usize,
    full: bool,
    /// The number of elements that have SPIN's numbers so far.
    states: i64,
    /// The name of the process type.
    name: Rc<str>,
    /// Labels that are referred to from outside, with their process types.
    watched: &'a FxHashSet<(Rc<str>, Rc<str>)>,
}

/// Builds the control flow of a process type and collects its variables.
pub(super) fn build(
    proctype: &Proctype,
    symbols: &Symbols,
    watched: &FxHashSet<(Rc<str>, Rc<str>)>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Flow, ProcessSymbols) {
    let mut process = ProcessSymbols { scopes: vec![Scope::default()], ..ProcessSymbols::default() };
    for declaration in &proctype.parameters {
        for variable in symbols.variables(declaration, &|name| symbols.bound(name), diagnostics) {
            if variable.count.is_some() {
                diagnostics.push(
                    Diagnostic::error("bad-parameter", "a parameter is no array", variable.span)
                        .with_help("pass it in a structure, or use a global variable"),
                );
            }
            let number = process.variables.len();
            process.scopes[0].names.insert(variable.name.clone(), number);
            process.variables.push(variable);
        }
    }
    process.parameters = process.variables.len();
    let mut builder = Builder {
        symbols,
        process,
        elements: Vec::new(),
        labels: Vec::new(),
        gotos: Vec::new(),
        loops: Vec::new(),
        sequence: vec![None],
        scope: 0,
        is_claim: !symbols.proctype_names.contains_key(&proctype.name.text),
        at_start: true,
        in_step: false,
        diagnostics,
        hidden: 0,
        full: false,
        states: 0,
        name: proctype.name.text.clone(),
        watched,
    };
    builder.statements(&proctype.body);
    builder.add(ElementKind::End, proctype.span);
    let body = builder.sequence.pop().flatten().expect("there is at least the end");
    builder.resolve_gotos();
    let Builder { mut elements, process, labels, .. } = builder;
    mark_atomics(&mut elements);
    // Of several labels of one name the first is seen from outside.
    let labels = labels.into_iter().rev().map(|label| (label.name, label.element)).collect();
    let mut flow = Flow {
        elements,
        first: body.first,
        labels,
        points: Vec::new(),
        numbers: FxHashMap::default(),
        closing: proctype.closing,
    };
    flow.first = flow.point_from(body.first, flow.elements[body.first].atomic);
    flow.find_points();
    (flow, process)
}

impl Builder<'_> {
    fn new_element(&mut self, kind: ElementKind, span: Span) -> ElementId {
        if self.elements.len() == ELEMENT_LIMIT && !self.full {
            self.full = true;
            let message = format!("a process type has more than {ELEMENT_LIMIT} statements");
            self.diagnostics.push(Diagnostic::error("too-many-statements", message, span));
        }
        // SPIN creates the point after a loop when it has read the loop; here jumps need it earlier.
        let state = if matches!(kind, ElementKind::Exit) { 0 } else { self.next_state() };
        self.elements.push(Element {
            kind,
            next: None,
            options: Vec::new(),
            block: None,
            atomic: false,
            ends_atomic: false,
            escapes: Vec::new(),
            labels: Vec::new(),
            scope: self.scope,
            span,
            in_step: self.in_step,
            state,
        });
        self.elements.len() - 1
    }

    fn next_state(&mut self) -> i64 {
        self.states += 1;
        self.states
    }

    /// Appends an element to the sequence under construction.
    fn append(&mut self, element: ElementId) {
        let current = self.sequence.last_mut().expect("there is always a sequence");
        match current {
            None => *current = Some(Sequence { first: element, last: element }),
            Some(sequence) => {
                self.elements[sequence.last].next = Some(element);
                sequence.last = element;
            }
        }
    }

    fn append_to(&mut self, sequence: &mut Sequence, element: ElementId) {
        self.elements[sequence.last].next = Some(element);
        sequence.last = element;
    }

    fn add(&mut self, kind: ElementKind, span: Span) -> ElementId {
        let element = self.new_element(kind, span);
        self.append(element);
        element
    }

    /// Reads statements into a sequence of their own. Declarations in it are steps.
    fn subsequence(&mut self, read: impl FnOnce(&mut Self), span: Span) -> Sequence {
        self.at_start = false;
        self.sequence.push(None);
        read(self);
        match self.sequence.pop().flatten() {
            Some(sequence) => sequence,
            None => {
                let element = self.new_element(ElementKind::Basic(Action::Skip), span);
                Sequence { first: element, last: element }
            }
        }
    }

    fn scoped(&mut self, read: impl FnOnce(&mut Self)) {
        let parent = self.scope;
        self.scope = self.process.scopes.len();
        self.process.scopes.push(Scope { parent: Some(parent), names: FxHashMap::default() });
        read(self);
        self.scope = parent;
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn label(&mut self, labels: &[Name], element: ElementId) {
        for label in labels {
            let same = |other: &&Label| other.name == label.text && other.scope == self.scope;
            if let Some(first) = self.labels.iter().find(same) {
                let message = format!("label `{}` stands at two statements", label.text);
                self.diagnostics.push(
                    Diagnostic::error("duplicate-label", message, label.span).with_secondary(first.span, "first here"),
                );
                continue;
            }
            let (name, scope, span) = (label.text.clone(), self.scope, label.span);
            self.labels.push(Label { name, element, scope, span });
            self.elements[element].labels.push(label.text.clone());
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if self.full {
            return;
        }
        let span = statement.span;
        let labels = &statement.labels[..];
        let basic = |builder: &mut Self, action| {
            builder.at_start = false;
            let element = builder.new_element(ElementKind::Basic(action), span);
            builder.label(labels, element);
            builder.append(element);
        };
        match &statement.kind {
            StatementKind::Declaration(declaration) => self.declaration(declaration, labels),
            StatementKind::ChannelAssertion(_) => {
                if let Some(label) = labels.first() {
                    self.diagnostics.push(Diagnostic::error(
                        "label-at-declaration",
                        "a label cannot stand at `xr` or `xs`",
                        label.span,
                    ));
                }
            }
            StatementKind::Expression(expression) => match expression.kind {
                ExpressionKind::Number(1) | ExpressionKind::Truth(true) => basic(self, Action::Skip),
                _ => basic(self, Action::Condition(expression.clone())),
            },
            StatementKind::Assign { target, value } => {
                basic(self, Action::Assign { target: target.clone(), value: value.clone() });
            }
            StatementKind::Send { channel, sorted, arguments } => {
                let (channel, arguments) = (channel.clone(), arguments.clone());
                basic(self, Action::Send { channel, sorted: *sorted, arguments });
            }
            StatementKind::Receive { channel, random, copying, arguments } => {
                let (channel, arguments) = (channel.clone(), arguments.clone());
                basic(self, Action::Receive { channel, random: *random, copying: *copying, arguments });
            }
            StatementKind::Print { format, arguments } => {
                basic(self, Action::Print { format: format.clone(), arguments: arguments.clone() });
            }
            StatementKind::Assert(condition) => basic(self, Action::Assert(condition.clone())),
            StatementKind::SetPriority { process, priority } => {
                basic(self, Action::SetPriority { process: process.clone(), priority: priority.clone() });
            }
            StatementKind::Else => {
                self.at_start = false;
                let element = self.new_element(ElementKind::Else, span);
                self.label(labels, element);
                self.append(element);
            }
            StatementKind::Goto(target) => {
                self.at_start = false;
                let element = self.jump(labels, span);
                self.gotos.push((element, target.clone(), self.scope));
            }
            StatementKind::Break => {
                self.at_start = false;
                match self.loops.last().copied() {
                    None => self.diagnostics.push(
                        Diagnostic::error("stray-break", "`break` stands in no loop", span)
                            .with_help("`break` leaves the innermost `do` or `for`"),
                    ),
                    Some(exit) => {
                        let element = self.jump(labels, span);
                        self.elements[element].kind = ElementKind::Goto(Some(exit));
                    }
                }
            }
            StatementKind::If(options) => {
                let element = self.selection(options, span, false);
                self.label(labels, element);
            }
            StatementKind::Do(options) => {
                let element = self.selection(options, span, true);
                self.label(labels, element);
            }
            StatementKind::Atomic(body) => self.block(ElementKind::Atomic, body, labels, span),
            StatementKind::DeterministicStep(body) => {
                let outer = std::mem::replace(&mut self.in_step, true);
                let sequence = self.subsequence(|builder| builder.scoped(|builder| builder.statements(body)), span);
                self.in_step = outer;
                self.finish_block(ElementKind::DeterministicStep, sequence, labels, span);
            }
            StatementKind::Block(body) => self.block(ElementKind::Block, body, labels, span),
            StatementKind::Inlined(body) => self.block(ElementKind::Block, body, labels, span),
            StatementKind::Unless { main, escape } => self.unless(main, escape, labels, span),
            StatementKind::For { variable, from, to, body } => {
                self.counted_loop(variable, from.clone(), to.clone(), labels, span, |builder| builder.statements(body));
            }
            StatementKind::ForIn { variable, container, body } => {
                self.loop_in(variable, container, body, labels, span);
            }
            StatementKind::Select { variable, from, to } => self.select(variable, from, to, labels, span),
        }
    }

    /// A jump. One that carries a label which means something gets a step before it, as in SPIN.
    fn jump(&mut self, labels: &[Name], span: Span) -> ElementId {
        let telling = |label: &Name| ["end", "progress", "accept"].iter().any(|word| label.text.starts_with(word));
        let watched = |label: &Name| self.watched.contains(&(self.name.clone(), label.text.clone()));
        if labels.iter().any(|label| telling(label) || watched(label)) {
            // SPIN makes the jump first: that is how the two are numbered.
            let element = self.new_element(ElementKind::Goto(None), span);
            let skip = self.add(ElementKind::Basic(Action::Skip), span);
            self.label(labels, skip);
            self.append(element);
            element
        } else {
            let element = self.new_element(ElementKind::Goto(None), span);
            self.label(labels, element);
            self.append(element);
            element
        }
    }

    fn declare(&mut self, declaration: &Declaration) -> Vec<usize> {
        let mut numbers = Vec::new();
        let bound = |name: &str| match self.local(name) {
            Some(variable) => Some(self.symbols.bound_of(variable)),
            None => self.symbols.bound(name),
        };
        let mut found = Vec::new();
        let variables = self.symbols.variables(declaration, &bound, &mut found);
        self.diagnostics.append(&mut found);
        for variable in variables {
            let number = self.process.variables.len();
            let names = &mut self.process.scopes[self.scope].names;
            if let Some(&first) = names.get(&variable.name) {
                let message = format!("`{}` is declared twice", variable.name);
                let first = self.process.variables[first].span;
                self.diagnostics.push(
                    Diagnostic::error("duplicate-name", message, variable.span).with_secondary(first, "first here"),
                );
            }
            names.insert(variable.name.clone(), number);
            self.process.variables.push(variable);
            numbers.push(number);
        }
        numbers
    }

    /// A declaration before the first statement sets initial values; one after it is a step.
    fn declaration(&mut self, declaration: &Declaration, labels: &[Name]) {
        let at_start = self.at_start;
        for number in self.declare(declaration) {
            if at_start {
                continue;
            }
            let variable = &mut self.process.variables[number];
            let span = variable.span;
            if variable.channel.is_some() {
                // Channels are made with their process, wherever they are declared.
                continue;
            }
            let initial = variable.initial.take();
            let part = |index: Option<i64>| Member {
                name: Name { text: variable.name.clone(), span, written: span },
                index: index.map(|value| Box::new(Expression { kind: ExpressionKind::Number(value), span })),
            };
            if let Some(Initial::List(values)) = &initial {
                // As in SPIN's verifiers: all elements have these values when the process starts, and the statement
                // sets the first one again.
                let target = ExpressionKind::Reference(vec![part(Some(0))]);
                let value = values.first().cloned();
                let value = value.unwrap_or(Expression { kind: ExpressionKind::Number(0), span });
                let action = Action::Assign { target: Expression { kind: target, span }, value };
                variable.initial = initial;
                let message = "a list of initial values stands behind a statement";
                self.diagnostics.push(
                    Diagnostic::warning("list-as-step", message, span)
                        .with_label("set when the process starts; here only the first element is set again")
                        .with_help("SPIN calls this an error and makes such a verifier all the same; declare the array before the first statement of the process, or assign to its elements"),
                );
                let element = self.add(ElementKind::Basic(action), span);
                self.label(labels, element);
                continue;
            }
            let action = match (&initial, variable.ty) {
                (_, ValueType::Structure(_)) => Action::Skip,
                (_, ValueType::Scalar(_)) => {
                    let target = ExpressionKind::Reference(vec![part(variable.count.map(|_| 0))]);
                    let value = match initial {
                        Some(Initial::Value(value)) => value,
                        _ => Expression { kind: ExpressionKind::Number(0), span },
                    };
                    Action::Assign { target: Expression { kind: target, span }, value }
                }
            };
            let element = self.add(ElementKind::Basic(action), span);
            self.label(labels, element);
        }
    }

    fn block(&mut self, kind: ElementKind, body: &[Statement], labels: &[Name], span: Span) {
        let sequence = self.subsequence(|builder| builder.scoped(|builder| builder.statements(body)), span);
        self.finish_block(kind, sequence, labels, span);
    }

    fn finish_block(&mut self, kind: ElementKind, sequence: Sequence, labels: &[Name], span: Span) {
        let element = self.new_element(kind, span);
        self.elements[element].block = Some(sequence);
        self.label(labels, element);
        self.append(element);
    }

    fn selection(&mut self, options: &[Vec<Statement>], span: Span, is_loop: bool) -> ElementId {
        let exit = is_loop.then(|| self.new_element(ElementKind::Exit, span));
        if let Some(exit) = exit {
            self.loops.push(exit);
        }
        let mut sequences = Vec::new();
        for option in options {
            let span = option.first().map_or(span, |statement| statement.span);
            // Only braces open a scope: a declaration in an option is visible after the selection.
            sequences.push(self.subsequence(|builder| builder.statements(option), span));
        }
        if is_loop {
            self.loops.pop();
        }
        if !self.is_claim {
            for sequence in &sequences {
                self.drop_redundant_skips(*sequence);
            }
        }
        self.finish_selection(sequences, exit, span)
    }

    /// As SPIN does in options outside of claims: of several unlabelled skips in a row, prints among them,
    /// only the first stays, except for the last statement of the option.
    fn drop_redundant_skips(&mut self, sequence: Sequence) {
        let mut row = 0;
        let mut before = sequence.first;
        let mut current = Some(sequence.first);
        while let Some(element) = current {
            let entry = &self.elements[element];
            let next = entry.next;
            row = match &entry.kind {
                ElementKind::Basic(Action::Skip | Action::Print { .. }) if entry.labels.is_empty() => row + 1,
                _ => 0,
            };
            let is_skip = matches!(entry.kind, ElementKind::Basic(Action::Skip));
            if row > 1 && is_skip && element != sequence.last {
                self.elements[before].next = next;
            } else {
                before = element;
            }
            if element == sequence.last {
                break;
            }
            current = next;
        }
    }

    fn finish_selection(&mut self, mut sequences: Vec<Sequence>, exit: Option<ElementId>, span: Span) -> ElementId {
        let elements = &self.elements;
        let is_else = |sequence: &Sequence| matches!(elements[sequence.first].kind, ElementKind::Else);
        let elses: Vec<Sequence> = sequences.iter().copied().filter(is_else).collect();
        if elses.len() > 1 {
            let place = self.elements[elses[1].first].span;
            self.diagnostics.push(Diagnostic::error("two-elses", "a selection has only one `else`", place));
        }
        sequences.retain(|sequence| !is_else(sequence));
        sequences.extend(elses);
        let head = self.new_element(if exit.is_some() { ElementKind::Do } else { ElementKind::If }, span);
        let join = self.new_element(ElementKind::Join, span);
        for sequence in &mut sequences {
            self.append_to(sequence, join);
        }
        self.elements[head].options = sequences;
        match exit {
            Some(exit) => {
                self.elements[exit].state = self.next_state();
                self.append(join);
                self.append(head);
                self.append(exit);
            }
            None => {
                self.append(head);
                self.append(join);
            }
        }
        head
    }

    /// A sequence with an escape. As in SPIN, a label before it belongs to its first part: if that is a block, to a
    /// block around all of it.
    fn unless(&mut self, main: &Statement, escape: &Statement, labels: &[Name], span: Span) {
        if labels.is_empty() {
            return self.plain_unless(main, escape, span);
        }
        let (kind, body) = match &main.kind {
            StatementKind::Block(body) => (ElementKind::Block, body),
            StatementKind::Atomic(body) => (ElementKind::Atomic, body),
            StatementKind::DeterministicStep(body) => (ElementKind::DeterministicStep, body),
            _ => {
                let labelled = Statement { labels: labels.to_vec(), ..main.clone() };
                return self.plain_unless(&labelled, escape, span);
            }
        };
        let inner = Statement { kind: StatementKind::Block(body.clone()), ..main.clone() };
        let in_step = matches!(kind, ElementKind::DeterministicStep) || self.in_step;
        let outer = std::mem::replace(&mut self.in_step, in_step);
        let sequence = self.subsequence(|builder| builder.plain_unless(&inner, escape, span), span);
        self.in_step = outer;
        self.finish_block(kind, sequence, labels, span);
    }

    fn plain_unless(&mut self, main: &Statement, escape: &Statement, span: Span) {
        let single = |builder: &mut Self, statement: &Statement| match &statement.kind {
            StatementKind::Block(body) => {
                builder.subsequence(|builder| builder.scoped(|builder| builder.statements(body)), statement.span)
            }
            _ => builder.subsequence(|builder| builder.statement(statement), statement.span),
        };
        let mut main_sequence = single(self, main);
        let mut escape_sequence = single(self, escape);
        let head = self.new_element(ElementKind::Unless, span);
        let join = self.new_element(ElementKind::Join, span);
        self.append_to(&mut main_sequence, join);
        self.append_to(&mut escape_sequence, join);
        self.attach_escape(main_sequence, escape_sequence.first, join);
        self.elements[head].options = vec![main_sequence, escape_sequence];
        self.append(head);
        self.append(join);
    }

    /// Gives every element of a sequence an escape. Escapes attached later are further out.
    fn attach_escape(&mut self, sequence: Sequence, escape: ElementId, end: ElementId) {
        let mut current = Some(sequence.first);
        while let Some(element) = current {
            if element == end {
                break;
            }
            if !self.elements[element].escapes.contains(&escape) {
                self.elements[element].escapes.insert(0, escape);
            }
            let nested: Vec<Sequence> =
                self.elements[element].options.iter().copied().chain(self.elements[element].block).collect();
            for inner in nested {
                self.attach_escape(inner, escape, inner.last);
                let last = inner.last;
                if !self.elements[last].escapes.contains(&escape) {
                    self.elements[last].escapes.insert(0, escape);
                }
            }
            if element == sequence.last {
                break;
            }
            current = self.elements[element].next;
        }
    }

    fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
        let span = left.span;
        Expression { kind: ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span }
    }

    fn counted_loop(
        &mut self,
        variable: &Expression,
        from: Expression,
        to: Expression,
        labels: &[Name],
        span: Span,
        body: impl FnOnce(&mut Self),
    ) {
        self.at_start = false;
        let assign = Action::Assign { target: variable.clone(), value: from };
        self.add(ElementKind::Basic(assign), span);
        let exit = self.new_element(ElementKind::Exit, span);
        self.loops.push(exit);
        let condition = Self::binary(Binary::LessOrEqual, variable.clone(), to);
        let again = self.subsequence(
            |builder| {
                builder.add(ElementKind::Basic(Action::Condition(condition)), span);
                builder.scoped(body);
                let one = Expression { kind: ExpressionKind::Number(1), span };
                let value = Self::binary(Binary::Add, variable.clone(), one);
                let count = Action::Assign { target: variable.clone(), value };
                builder.add(ElementKind::Basic(count), span);
            },
            span,
        );
        self.loops.pop();
        let done = self.subsequence(
            |builder| {
                builder.add(ElementKind::Else, span);
                builder.add(ElementKind::Goto(Some(exit)), span);
            },
            span,
        );
        // As in SPIN, a label is placed after the assignment: a jump there does not restart the loop.
        let head = self.finish_selection(vec![again, done], Some(exit), span);
        self.label(labels, head);
    }

    fn number(value: i64, span: Span) -> Expression {
        Expression { kind: ExpressionKind::Number(value), span }
    }

    /// `for (x in a)`: over the indices of an array, or over the messages of a channel.
    fn loop_in(
        &mut self,
        variable: &Expression,
        container: &Expression,
        body: &[Statement],
        labels: &[Name],
        span: Span,
    ) {
        let found = match &container.kind {
            ExpressionKind::Reference(parts) => self
                .lookup(&parts[0].name.text)
                .map(|(ty, count)| (ty, count.filter(|_| parts[0].index.is_none()), parts.len())),
            _ => None,
        };
        match found {
            Some((_, Some(count), 1)) => {
                let (from, to) = (Self::number(0, span), Self::number(count - 1, span));
                self.counted_loop(variable, from, to, labels, span, |builder| builder.statements(body));
            }
            Some((ValueType::Scalar(super::symbols::Scalar::Chan), _, _)) => {
                // SPIN removes each message and appends it again.
                self.hidden += 1;
                let name: Rc<str> = format!("_counter{}", self.hidden).into();
                let number = self.process.variables.len();
                let counter = VariableInfo {
                    name: name.clone(),
                    ty: ValueType::Scalar(super::symbols::Scalar::Byte),
                    subtype: None,
                    count: None,
                    initial: None,
                    channel: None,
                    span,
                    assigned: true,
                    hidden: false,
                };
                self.process.scopes[0].names.insert(name.clone(), number);
                self.process.variables.push(counter);
                let part = Member { name: Name { text: name, span, written: span }, index: None };
                let counter = Expression { kind: ExpressionKind::Reference(vec![part]), span };
                let length = ExpressionKind::ChannelQuery(
                    crate::syntax::tree::ChannelQuery::Length,
                    Box::new(container.clone()),
                );
                let length = Expression { kind: length, span };
                let last = Self::binary(Binary::Subtract, length, Self::number(1, span));
                let receive = Action::Receive {
                    channel: container.clone(),
                    random: false,
                    copying: false,
                    arguments: vec![variable.clone()],
                };
                let send =
                    Action::Send { channel: container.clone(), sorted: false, arguments: vec![variable.clone()] };
                self.counted_loop(&counter, Self::number(0, span), last, labels, span, |builder| {
                    builder.add(ElementKind::Basic(receive), span);
                    builder.add(ElementKind::Basic(send), span);
                    builder.statements(body);
                });
            }
            _ => self.diagnostics.push(
                Diagnostic::error("not-a-container", "this is neither an array nor a channel", container.span)
                    .with_help("`for (i in a)` goes over the indices of an array or the messages of a channel"),
            ),
        }
    }

    fn local(&self, name: &str) -> Option<&VariableInfo> {
        let mut scope = Some(self.scope);
        while let Some(current) = scope {
            if let Some(&number) = self.process.scopes[current].names.get(name) {
                return Some(&self.process.variables[number]);
            }
            scope = self.process.scopes[current].parent;
        }
        None
    }

    fn lookup(&self, name: &str) -> Option<(ValueType, Option<i64>)> {
        let global = || Some(&self.symbols.globals[*self.symbols.global_names.get(name)?]);
        self.local(name).or_else(global).map(|variable| (variable.ty, variable.count))
    }

    /// `select (x : a .. b)`: one option a value if the bounds are constant, or else a loop that
    /// counts up and may stop at any value.
    fn select(&mut self, variable: &Expression, from: &Expression, to: &Expression, labels: &[Name], span: Span) {
        self.at_start = false;
        // Only plain numbers count as constants here.
        match (&from.kind, &to.kind) {
            (&ExpressionKind::Number(low), &ExpressionKind::Number(high)) if low <= high && high - low < 32 => {
                let mut sequences = Vec::new();
                for value in low..=high {
                    let assign = Action::Assign { target: variable.clone(), value: Self::number(value, span) };
                    let element = self.new_element(ElementKind::Basic(assign), span);
                    sequences.push(Sequence { first: element, last: element });
                }
                let element = self.finish_selection(sequences, None, span);
                self.label(labels, element);
            }
            _ => {
                let assign = Action::Assign { target: variable.clone(), value: from.clone() };
                self.add(ElementKind::Basic(assign), span);
                let exit = self.new_element(ElementKind::Exit, span);
                let condition = Self::binary(Binary::Less, variable.clone(), to.clone());
                let value = Self::binary(Binary::Add, variable.clone(), Self::number(1, span));
                let count = Action::Assign { target: variable.clone(), value };
                let again = self.subsequence(
                    |builder| {
                        builder.add(ElementKind::Basic(Action::Condition(condition)), span);
                        builder.add(ElementKind::Basic(count), span);
                    },
                    span,
                );
                let done = self.subsequence(
                    |builder| {
                        builder.add(ElementKind::Goto(Some(exit)), span);
                    },
                    span,
                );
                let head = self.finish_selection(vec![again, done], Some(exit), span);
                self.label(labels, head);
            }
        }
    }

    /// The target of a jump in a scope: a label of the same scope, otherwise the first one in an enclosing scope,
    /// otherwise the last one anywhere.
    fn destination(&self, name: &str, scope: usize) -> Option<ElementId> {
        let mut best: Option<&Label> = None;
        for label in self.labels.iter().rev().filter(|label| &*label.name == name) {
            if label.scope == scope {
                return Some(label.element);
            }
            if self.encloses(label.scope, scope) || best.is_none() {
                best = Some(label);
            }
        }
        best.map(|label| label.element)
    }

    fn encloses(&self, outer: usize, inner: usize) -> bool {
        let mut current = Some(inner);
        while let Some(scope) = current {
            if scope == outer {
                return true;
            }
            current = self.process.scopes[scope].parent;
        }
        false
    }

    fn resolve_gotos(&mut self) {
        for (element, name, scope) in std::mem::take(&mut self.gotos) {
            match self.destination(&name.text, scope) {
                Some(target) if self.elements[target].in_step && !self.elements[element].in_step => {
                    self.diagnostics.push(
                        Diagnostic::error("jump-into-step", "a jump cannot go into a `d_step`", name.span)
                            .with_help("put the label before the `d_step`, or use `atomic`"),
                    );
                }
                Some(target) => self.elements[element].kind = ElementKind::Goto(Some(target)),
                None => {
                    let message = format!("there is no label `{}` in this process", name.text);
                    let mut diagnostic = Diagnostic::error("unknown-label", message, name.span);
                    let names = self.labels.iter().map(|label| &*label.name);
                    diagnostic.help = similar(&name.text, names).map(|it| format!("did you mean `{it}`?"));
                    self.diagnostics.push(diagnostic);
                }
            }
        }
    }
}

/// Marks elements in atomic sequences, and corrects jumps out of and into them.
fn mark_atomics(elements: &mut [Element]) {
    // Inner blocks come first in the list, outer ones are marked after them, as in SPIN.
    for element in 0..elements.len() {
        if matches!(elements[element].kind, ElementKind::Atomic) {
            let sequence = elements[element].block.expect("an atomic sequence has a body");
            make_atomic(elements, sequence);
        }
    }
    // Heads come after what they contain: outer blocks pass on their successors first.
    for element in (0..elements.len()).rev() {
        if let Some(sequence) = elements[element].block {
            let next = elements[element].next;
            if elements[sequence.last].next.is_none() {
                elements[sequence.last].next = next;
            }
        }
    }
    for element in (0..elements.len()).rev() {
        if let Some(sequence) = elements[element].block {
            patch_jumps(elements, sequence);
        }
    }
}

fn make_atomic(elements: &mut [Element], sequence: Sequence) {
    walk_atomic(elements, sequence);
    let last = sequence.last;
    match elements[last].kind {
        ElementKind::Block | ElementKind::Atomic => {
            let inner = elements[last].block.expect("a block has a body");
            make_atomic(elements, inner);
        }
        ElementKind::Unless => {
            let inner = elements[last].options[0];
            make_atomic(elements, inner);
        }
        _ => {
            elements[last].atomic = false;
            elements[last].ends_atomic = true;
        }
    }
}

fn walk_atomic(elements: &mut [Element], sequence: Sequence) {
    let mut current = Some(sequence.first);
    while let Some(element) = current {
        elements[element].atomic = true;
        match elements[element].kind {
            ElementKind::Atomic | ElementKind::Block => {
                elements[element].kind = ElementKind::Block;
                let inner = elements[element].block.expect("a block has a body");
                walk_atomic(elements, inner);
            }
            _ => {}
        }
        for option in elements[element].options.clone() {
            walk_atomic(elements, option);
        }
        if element == sequence.last {
            break;
        }
        current = elements[element].next;
    }
}

fn patch_jumps(elements: &mut [Element], sequence: Sequence) {
    let mut current = Some(sequence.first);
    while let Some(element) = current {
        if let ElementKind::Goto(target) = elements[element].kind {
            if let Some(target) = target {
                let inside = elements[target].atomic || elements[target].ends_atomic;
                if (elements[element].atomic || elements[element].ends_atomic) && !inside {
                    elements[element].atomic = false;
                    elements[element].ends_atomic = true;
                }
                if elements[element].ends_atomic && inside {
                    elements[element].ends_atomic = false;
                    elements[element].atomic = true;
                }
            }
        } else {
            for option in elements[element].options.clone() {
                patch_jumps(elements, option);
            }
        }
        if element == sequence.last {
            break;
        }
        current = elements[element].next;
    }
}

impl Flow {
    /// Where a sequence that begins with an element really begins.
    pub(super) fn start_of(&self, element: ElementId) -> ElementId {
        let mut element = element;
        for _ in 0..self.elements.len() {
            match (&self.elements[element].kind, self.elements[element].next) {
                (ElementKind::Join, Some(next)) => element = next,
                (ElementKind::Unless, _) => element = self.elements[element].options[0].first,
                _ => break,
            }
        }
        element
    }

    /// The control point that an element denotes when it is reached from an element, atomic or not.
    pub(super) fn point_from(&self, element: ElementId, atomic: bool) -> ElementId {
        let mut element = element;
        for _ in 0..500 {
            let next = match &self.elements[element].kind {
                ElementKind::Goto(Some(target)) => *target,
                ElementKind::Join | ElementKind::Exit => match self.elements[element].next {
                    Some(next) => next,
                    None => return element,
                },
                ElementKind::Unless => self.point_from(self.elements[element].options[0].first, atomic),
                _ => return element,
            };
            if next == element || atomic && !self.elements[next].atomic {
                return element;
            }
            element = next;
        }
        element
    }

    /// Where control is after a basic element; none after the end of the process.
    pub(super) fn target(&self, element: ElementId) -> Option<ElementId> {
        let entry = &self.elements[element];
        match entry.kind {
            ElementKind::End => None,
            ElementKind::Goto(Some(target)) => Some(self.point_from(target, entry.atomic)),
            _ => entry.next.map(|next| self.point_from(next, entry.atomic)),
        }
    }

    /// The basic elements that can be executed first at an element.
    fn leaves(&self, element: ElementId, leaves: &mut Vec<ElementId>) {
        match &self.elements[element].kind {
            ElementKind::If | ElementKind::Do => {
                for option in &self.elements[element].options {
                    self.leaves(self.start_of(option.first), leaves);
                }
            }
            ElementKind::Atomic | ElementKind::Block => {
                let block = self.elements[element].block.expect("a block has a body");
                self.leaves(self.start_of(block.first), leaves);
            }
            ElementKind::Unless => self.leaves(self.start_of(self.elements[element].options[0].first), leaves),
            _ => leaves.push(element),
        }
    }

    /// The basic elements that can be executed first at an element.
    pub(super) fn leaves_of(&self, element: ElementId) -> Vec<ElementId> {
        let mut leaves = Vec::new();
        self.leaves(element, &mut leaves);
        leaves
    }

    /// The receive that an exit begins with: the exit itself, or the one statement that a deterministic
    /// step begins with.
    pub(super) fn receive_of(&self, element: ElementId) -> Option<ElementId> {
        let leaf = match &self.elements[element].kind {
            ElementKind::DeterministicStep => {
                let block = self.elements[element].block?;
                match &self.leaves_of(self.start_of(block.first))[..] {
                    &[leaf] => leaf,
                    _ => return None,
                }
            }
            _ => element,
        };
        matches!(self.elements[leaf].kind, ElementKind::Basic(Action::Receive { .. })).then_some(leaf)
    }

    /// All ways to leave a control point, escapes first.
    pub(super) fn exits(&self, point: ElementId) -> Vec<Exit> {
        let mut exits = Vec::new();
        let outer = &self.elements[point].escapes;
        let escape_exits = |escape: ElementId, group: ElementId, exits: &mut Vec<Exit>| {
            for leaf in self.leaves_of(self.start_of(escape)) {
                exits.push(Exit { element: leaf, escape: Some(group), below: Vec::new() });
            }
        };
        for &escape in outer {
            escape_exits(escape, escape, &mut exits);
        }
        // Escapes that only lie further in: those that come with one element are equals, and come before
        // those of elements before it.
        let mut groups: FxHashMap<ElementId, ElementId> = FxHashMap::default();
        let mut inner: Vec<Vec<Exit>> = Vec::new();
        let mut plain = Vec::new();
        for leaf in self.leaves_of(point) {
            let own: Vec<ElementId> =
                self.elements[leaf].escapes.iter().rev().copied().filter(|escape| !outer.contains(escape)).collect();
            let news: Vec<ElementId> = own.iter().copied().filter(|escape| !groups.contains_key(escape)).collect();
            if let Some(&group) = news.first() {
                let mut together = Vec::new();
                for &escape in &news {
                    groups.insert(escape, group);
                    escape_exits(escape, group, &mut together);
                }
                inner.push(together);
            }
            let below = own.iter().map(|escape| groups[escape]).collect();
            plain.push(Exit { element: leaf, escape: None, below });
        }
        exits.extend(inner.into_iter().rev().flatten());
        exits.extend(plain);
        exits
    }

    fn find_points(&mut self) {
        let mut points = vec![self.first];
        let mut seen: FxHashMap<ElementId, ()> = FxHashMap::default();
        seen.insert(self.first, ());
        let mut position = 0;
        while position < points.len() {
            for exit in self.exits(points[position]) {
                if let Some(target) = self.target(exit.element)
                    && seen.insert(target, ()).is_none()
                {
                    points.push(target);
                }
            }
            position += 1;
        }
        // In the order of the text: elements are numbered along it, heads after their contents.
        points.sort_by_key(|&point| (self.elements[point].span.start, point));
        self.numbers = points.iter().enumerate().map(|(position, &point)| (point, position as i64 + 1)).collect();
        self.points = points;
    }

    /// The control point of a number.
    pub(super) fn point(&self, number: i64) -> ElementId {
        self.points[usize::try_from(number - 1).expect("control points are numbered from one")]
    }

    /// All elements of a deterministic step.
    pub(super) fn elements_of_step(&self, step: ElementId) -> Vec<ElementId> {
        let mut found: Vec<ElementId> = self.elements[step].block.iter().map(|block| block.first).collect();
        let mut position = 0;
        while position < found.len() {
            let element = &self.elements[found[position]];
            let mut nexts: Vec<ElementId> = element.options.iter().map(|option| option.first).collect();
            nexts.extend(element.block.map(|block| block.first));
            match element.kind {
                ElementKind::Goto(target) => nexts.extend(target),
                _ => nexts.extend(element.next),
            }
            for next in nexts {
                if self.elements[next].in_step && !found.contains(&next) {
                    found.push(next);
                }
            }
            position += 1;
        }
        found
    }

    /// The number of a control point.
    pub(super) fn number(&self, point: ElementId) -> i64 {
        self.numbers[&point]
    }

    /// Whether a process may stop at a control point.
    pub(super) fn is_end(&self, point: ElementId) -> bool {
        matches!(self.elements[point].kind, ElementKind::End)
            || self.elements[point].labels.iter().any(|label| label.starts_with("end"))
    }
}
