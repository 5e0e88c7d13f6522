//! The definitions of a DVE system and where they are used. Names of a process hide global ones; its states have names
//! of their own.

use quotient_ir::{Source, Span};
use quotient_kit::outline::{Builder, Kind};
use rustc_hash::FxHashMap;

use super::syntax::tree::{Expression, ExpressionKind, Initial, Name, Process, System, Variable};

/// The outline of a system.
pub(super) fn outline<'s>(source: &'s Source, tree: &System) -> Builder<'s> {
    let mut walk = Walk { builder: Builder::new(source), processes: FxHashMap::default() };
    for variable in &tree.variables {
        walk.variable(variable, Kind::Variable);
    }
    for channel in &tree.channels {
        let detail = format!("channel {}", channel.name.text);
        walk.declare(&channel.name, Kind::Channel, channel.name.span, detail);
        channel.size.iter().for_each(|size| walk.expression(size, None));
    }
    for process in &tree.processes {
        let detail = format!("process {}", process.name.text);
        let number = walk.declare(&process.name, Kind::Process, process.span, detail);
        walk.process_names(process, number);
    }
    for process in &tree.processes {
        walk.process(process);
    }
    for condition in &tree.assertions {
        walk.builder.add("assert", Kind::Property, condition.span, condition.span, String::new());
        walk.expression(condition, None);
    }
    if let Some(name) = tree.composition.as_ref().and_then(|it| it.property.as_ref()) {
        walk.builder.refer(&name.text, name.span);
    }
    walk.builder
}

/// The names of a process.
#[derive(Default)]
struct Names {
    variables: FxHashMap<String, usize>,
    states: FxHashMap<String, usize>,
}

struct Walk<'s> {
    builder: Builder<'s>,
    processes: FxHashMap<String, Names>,
}

impl Walk<'_> {
    fn declare(&mut self, name: &Name, kind: Kind, extent: Span, detail: String) -> usize {
        self.builder.declare(&name.text, kind, name.span, extent, detail)
    }

    fn variable(&mut self, variable: &Variable, kind: Kind) -> usize {
        variable.size.iter().for_each(|size| self.expression(size, None));
        let mut extent = variable.name.span;
        match &variable.initial {
            Initial::Zero => {}
            Initial::Value(value) => {
                self.expression(value, None);
                extent = extent.to(value.span);
            }
            Initial::List(values, span) => {
                values.iter().for_each(|value| self.expression(value, None));
                extent = extent.to(*span);
            }
        }
        if let Some(size) = &variable.size {
            extent = extent.to(Span { end: size.span.end + 1, ..size.span });
        }
        let word = if variable.is_constant { "const " } else { "" };
        let detail = format!("{word}{} {}", variable.scalar.name(), self.builder.excerpt(extent));
        let kind = if variable.is_constant { Kind::Constant } else { kind };
        self.declare(&variable.name, kind, extent, detail)
    }

    /// Declares what a process declares. Others may mention it.
    fn process_names(&mut self, process: &Process, number: usize) {
        let mut names = Names::default();
        let outer = self.builder.container.replace(number);
        self.builder.enter(process.span);
        for variable in &process.variables {
            let variable_number = self.variable(variable, Kind::Local);
            names.variables.entry(variable.name.text.to_string()).or_insert(variable_number);
        }
        for state in &process.states {
            let detail = format!("state {}", state.text);
            if names.variables.contains_key(&*state.text) || names.states.contains_key(&*state.text) {
                self.builder.note_duplicate(state.span);
            }
            let number = self.builder.add(&state.text, Kind::State, state.span, state.span, detail);
            names.states.entry(state.text.to_string()).or_insert(number);
        }
        self.builder.leave();
        self.builder.container = outer;
        self.processes.entry(process.name.text.to_string()).or_insert(names);
    }

    fn state(&mut self, process: &str, state: &Name) {
        match self.processes.get(process).and_then(|names| names.states.get(&*state.text)).copied() {
            Some(number) => self.builder.note_use(number, state.span),
            None => self.builder.note_unknown(&state.text, state.span),
        }
    }

    fn process(&mut self, process: &Process) {
        let own = &*process.name.text;
        let states = process.initial.iter().chain(&process.committed).chain(&process.accepting);
        states.for_each(|state| self.state(own, state));
        let outer = self.builder.container;
        self.builder.container = self.builder.defined_at(process.name.span);
        for (state, condition) in &process.assertions {
            self.state(own, state);
            self.expression(condition, Some(own));
            let (extent, title) = (state.span.to(condition.span), format!("assert {}", state.text));
            self.builder.add(&title, Kind::Property, extent, extent, String::new());
        }
        self.builder.container = outer;
        for transition in &process.transitions {
            self.state(own, &transition.from);
            self.state(own, &transition.to);
            transition.guard.iter().for_each(|guard| self.expression(guard, Some(own)));
            if let Some(sync) = &transition.sync {
                self.builder.refer(&sync.channel.text, sync.channel.span);
                sync.values.iter().for_each(|value| self.expression(value, Some(own)));
            }
            for effect in &transition.effects {
                self.expression(&effect.target, Some(own));
                self.expression(&effect.value, Some(own));
            }
        }
    }

    /// An expression in the text of a process, or outside of all.
    fn expression(&mut self, expression: &Expression, process: Option<&str>) {
        match &expression.kind {
            ExpressionKind::Number(_) | ExpressionKind::Truth(_) => {}
            ExpressionKind::Variable { process: of, name, index } => {
                index.iter().for_each(|index| self.expression(index, process));
                if let Some(of) = of {
                    self.builder.refer(&of.text, of.span);
                }
                let owner = of.as_ref().map(|of| &*of.text).or(process);
                let own = owner.and_then(|owner| self.processes.get(owner)?.variables.get(&*name.text).copied());
                match (own, of) {
                    (Some(number), _) => self.builder.note_use(number, name.span),
                    (None, Some(_)) => self.builder.note_unknown(&name.text, name.span),
                    (None, None) => {
                        self.builder.refer(&name.text, name.span);
                    }
                }
            }
            ExpressionKind::InState { process: of, state } => {
                self.builder.refer(&of.text, of.span);
                self.state(&of.text, state);
            }
            ExpressionKind::Unary(_, operand) => self.expression(operand, process),
            ExpressionKind::Binary(_, left, right) => {
                self.expression(left, process);
                self.expression(right, process);
            }
        }
    }
}
