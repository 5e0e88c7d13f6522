//! The names of a text and what they stand for: variables with their sizes and initial values, channels, processes and
//! their states.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::constants::Constants;
use crate::syntax::tree::{self, Initial, Name, System};

/// The most elements of all arrays and buffers together.
const SIZE_LIMIT: usize = 100_000;

/// What a global name stands for, by its number among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Variable(usize),
    Channel(usize),
    Process(usize),
}

/// A variable or constant.
#[derive(Debug)]
pub(super) struct Variable<'t> {
    pub(super) tree: &'t tree::Variable,
    /// The number of elements, if it is an array.
    pub(super) size: Option<usize>,
    /// The initial values of all elements.
    pub(super) values: Vec<i64>,
}

impl Variable<'_> {
    /// Whether it is a number with a name. Constant arrays are variables of the model, which nothing assigns to.
    pub(super) fn is_plain_constant(&self) -> bool {
        self.tree.is_constant && self.size.is_none()
    }
}

/// A channel.
#[derive(Debug)]
pub(super) struct Channel<'t> {
    pub(super) tree: &'t tree::Channel,
    /// The most messages in it. If zero, sender and receiver synchronise.
    pub(super) capacity: usize,
}

/// A process.
#[derive(Debug)]
pub(super) struct Process<'t> {
    pub(super) tree: &'t tree::Process,
    pub(super) variables: Vec<Variable<'t>>,
    pub(super) names: FxHashMap<Rc<str>, usize>,
    pub(super) states: FxHashMap<Rc<str>, usize>,
    pub(super) initial: Option<usize>,
    pub(super) committed: Vec<usize>,
}

/// All names.
#[derive(Debug)]
pub(super) struct Symbols<'t> {
    pub(super) names: FxHashMap<Rc<str>, (Symbol, Span)>,
    pub(super) variables: Vec<Variable<'t>>,
    pub(super) channels: Vec<Channel<'t>>,
    pub(super) processes: Vec<Process<'t>>,
    /// The processes of the system, without the automaton of a property.
    pub(super) moving: Vec<usize>,
    /// The automaton of a property.
    pub(super) property: Option<usize>,
}

impl<'t> Symbols<'t> {
    pub(super) fn new(tree: &'t System, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut symbols = Self {
            names: FxHashMap::default(),
            variables: Vec::new(),
            channels: Vec::new(),
            processes: Vec::new(),
            moving: Vec::new(),
            property: None,
        };
        let mut cells = 0;
        let mut constants = Constants::default();
        for (number, variable) in tree.variables.iter().enumerate() {
            symbols.declare(&variable.name, Symbol::Variable(number), diagnostics);
            let variable = read_variable(variable, &constants, &mut cells, diagnostics);
            constants.learn(&variable);
            symbols.variables.push(variable);
        }
        for (number, channel) in tree.channels.iter().enumerate() {
            symbols.declare(&channel.name, Symbol::Channel(number), diagnostics);
            let capacity = match &channel.size {
                None => 0,
                Some(size) => {
                    let least = 0;
                    read_size(
                        size,
                        least,
                        channel.types.as_ref().map_or(1, Vec::len),
                        &constants,
                        &mut cells,
                        diagnostics,
                    )
                }
            };
            if capacity > 0 && channel.types.is_none() {
                let error =
                    Diagnostic::error("untyped-buffer", "a channel with a buffer needs types", channel.name.span)
                        .with_help(format!(
                            "write what its messages hold: `channel {{byte}} {}[{capacity}];`",
                            channel.name.text
                        ));
                diagnostics.push(error);
            }
            symbols.channels.push(Channel { tree: channel, capacity });
        }
        for (number, process) in tree.processes.iter().enumerate() {
            symbols.declare(&process.name, Symbol::Process(number), diagnostics);
            let process = read_process(process, &constants, &mut cells, diagnostics);
            symbols.processes.push(process);
        }
        if let Some(name) = tree.composition.as_ref().and_then(|it| it.property.as_ref()) {
            match symbols.names.get(&name.text) {
                Some((Symbol::Process(number), _)) => symbols.property = Some(*number),
                _ => {
                    let message = format!("there is no process `{}`", name.text);
                    let processes = tree.processes.iter().map(|it| &*it.name.text);
                    let mut error = Diagnostic::error("unknown-name", message, name.span);
                    error.help = quotient_kit::similar(&name.text, processes).map(|it| format!("did you mean `{it}`?"));
                    diagnostics.push(error);
                }
            }
        }
        symbols.moving = (0..tree.processes.len()).filter(|&number| Some(number) != symbols.property).collect();
        symbols
    }

    fn declare(&mut self, name: &Name, symbol: Symbol, diagnostics: &mut Vec<Diagnostic>) {
        if let Some((_, first)) = self.names.get(&name.text) {
            diagnostics.push(declared_twice(name, *first));
        } else {
            self.names.insert(name.text.clone(), (symbol, name.span));
        }
    }
}

fn declared_twice(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::error("declared-twice", format!("`{}` is declared twice", name.text), name.span)
        .with_secondary(first, "first declared here")
}

fn read_process<'t>(
    tree: &'t tree::Process,
    globals: &Constants,
    cells: &mut usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Process<'t> {
    let mut constants = globals.clone();
    let mut locations: FxHashMap<Rc<str>, Span> = FxHashMap::default();
    let mut is_new = |name: &Name, diagnostics: &mut Vec<Diagnostic>| match locations.get(&name.text) {
        Some(first) => {
            diagnostics.push(declared_twice(name, *first));
            false
        }
        None => {
            locations.insert(name.text.clone(), name.span);
            true
        }
    };
    let mut process = Process {
        tree,
        variables: Vec::new(),
        names: FxHashMap::default(),
        states: FxHashMap::default(),
        initial: None,
        committed: Vec::new(),
    };
    for variable in &tree.variables {
        if is_new(&variable.name, diagnostics) {
            process.names.insert(variable.name.text.clone(), process.variables.len());
        }
        let variable = read_variable(variable, &constants, cells, diagnostics);
        constants.learn(&variable);
        process.variables.push(variable);
    }
    for (number, state) in tree.states.iter().enumerate() {
        if is_new(state, diagnostics) {
            process.states.insert(state.text.clone(), number);
        }
    }
    if tree.states.is_empty() {
        let message = format!("process `{}` has no state", tree.name.text);
        let error = Diagnostic::error("no-state", message, tree.name.span);
        diagnostics.push(error.with_help("declare its states: `state idle, busy; init idle;`"));
    }
    let mut number_of = |name: &Name| {
        let number = process.states.get(&name.text).copied();
        if number.is_none() {
            diagnostics.push(unknown_state(&process, name));
        }
        number
    };
    let initial = tree.initial.as_ref().and_then(&mut number_of);
    let committed: Vec<usize> = tree.committed.iter().filter_map(&mut number_of).collect();
    for accepting in &tree.accepting {
        number_of(accepting);
    }
    for (state, _) in &tree.assertions {
        number_of(state);
    }
    (process.initial, process.committed) = (initial, committed);
    if tree.initial.is_none() && !tree.states.is_empty() {
        let message = format!("process `{}` has no initial state", tree.name.text);
        let error = Diagnostic::error("no-initial-state", message, tree.name.span);
        diagnostics.push(error.with_help(format!("write `init {};` after the states", tree.states[0].text)));
    }
    process
}

/// The message about a name that is not a state of a process.
pub(super) fn unknown_state(process: &Process<'_>, name: &Name) -> Diagnostic {
    let message = format!("process `{}` has no state `{}`", process.tree.name.text, name.text);
    let mut error = Diagnostic::error("unknown-state", message, name.span);
    error.help = quotient_kit::similar(&name.text, process.tree.states.iter().map(|it| &*it.text))
        .map(|it| format!("did you mean `{it}`?"));
    error
}

fn read_variable<'t>(
    tree: &'t tree::Variable,
    constants: &Constants,
    cells: &mut usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Variable<'t> {
    let size = tree.size.as_ref().map(|size| read_size(size, 1, 1, constants, cells, diagnostics));
    let mut values = vec![0; size.unwrap_or(1)];
    let expressions = match &tree.initial {
        Initial::Zero => {
            if tree.is_constant {
                let message = format!("the constant `{}` has no value", tree.name.text);
                let error = Diagnostic::error("no-value", message, tree.name.span);
                diagnostics.push(error.with_help(format!("write it behind: `{} = 1`", tree.name.text)));
            }
            &[][..]
        }
        Initial::Value(value) => {
            if size.is_some() {
                let error = Diagnostic::error("wrong-initial-value", "an array has a list of values", value.span);
                diagnostics.push(error.with_help("write `{1, 2}`"));
            }
            std::slice::from_ref(value)
        }
        Initial::List(list, span) => {
            if size.is_none() {
                let message = format!("`{}` is not an array", tree.name.text);
                diagnostics.push(Diagnostic::error("wrong-initial-value", message, *span));
            } else if list.len() > values.len() {
                let message = format!("there are {} values for {} elements", list.len(), values.len());
                let warning = Diagnostic::warning("too-many-values", message, list[values.len()].span);
                diagnostics.push(warning.with_label("this and what follows is not used"));
            }
            &list[..]
        }
    };
    for (position, expression) in expressions.iter().enumerate() {
        let Some(value) = constants.value(expression, diagnostics) else { continue };
        let (low, high) = tree.scalar.range();
        if value < low || high < value {
            let message = format!("{value} does not fit the type `{}`", tree.scalar.name());
            let error = Diagnostic::error("does-not-fit", message, expression.span);
            diagnostics.push(error.with_help(format!("its values are {low} to {high}")));
        } else if let Some(place) = values.get_mut(position) {
            *place = value;
        }
    }
    Variable { tree, size, values }
}

/// A number of elements.
fn read_size(
    size: &tree::Expression,
    least: i64,
    cells_each: usize,
    constants: &Constants,
    cells: &mut usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> usize {
    let Some(value) = constants.value(size, diagnostics) else { return least as usize };
    if value < least {
        let message = format!("a size is at least {least}, not {value}");
        diagnostics.push(Diagnostic::error("wrong-size", message, size.span));
        return least as usize;
    }
    let number = usize::try_from(value).unwrap_or(usize::MAX);
    let total = number.saturating_mul(cells_each).saturating_add(*cells);
    if total > SIZE_LIMIT {
        let message = format!("a state would have more than {SIZE_LIMIT} elements of arrays and buffers");
        diagnostics.push(Diagnostic::error("too-large", message, size.span));
        return least as usize;
    }
    *cells = total;
    number
}
