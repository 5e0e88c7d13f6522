//! The names of a model and what they stand for.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::objects::{self, Object};
use super::terms::{Events, Term, Value};
use crate::syntax::tree::{
    Element, Expression, ExpressionKind, Initial, Macro, MacroBody, Name, Specification, Variable as Declared,
};

/// The most elements of all arrays and buffers together.
pub(super) const SIZE_LIMIT: i64 = 100_000;

/// The least and the greatest number.
pub(super) const NUMBERS: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// A global variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: Rc<str>,
    pub(super) is_boolean: bool,
    /// The sizes of an array.
    pub(super) sizes: Vec<i64>,
    pub(super) range: (i64, i64),
    pub(super) initial: Vec<i64>,
    /// Whether any values are initial.
    pub(super) is_any: bool,
    pub(super) span: Span,
}

/// A channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) name: Rc<str>,
    pub(super) sizes: Vec<i64>,
    /// The most messages in it. If zero, sender and receiver synchronise.
    pub(super) capacity: i64,
    /// The number of parts of a message, and where that is used first.
    pub(super) parts: Option<(usize, Span)>,
    pub(super) span: Span,
}

/// The definition of a process.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) name: Rc<str>,
    pub(super) parameters: Vec<Rc<str>>,
    pub(super) body: Rc<Term>,
    /// The alphabet, if the text has one.
    pub(super) alphabet: Option<Rc<[Events]>>,
    pub(super) span: Span,
}

/// What a global name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Symbol {
    Constant(i64),
    Macro(usize),
    Variable(usize),
    Channel(usize),
}

/// Errors for the imports that are not built in.
pub(crate) fn unsupported_imports(tree: &Specification) -> Vec<Diagnostic> {
    let error = |(name, span): &(_, Span)| {
        let message = format!("`{name}` is not read: only the text of the model is");
        Diagnostic::error("unsupported-import", message, *span).with_help(
            "put what it declares into this file, in CSP#; `PAT.Math` and `PAT.Lib.Set`, `List`, `Queue` and `Stack` are \
             built in",
        )
    };
    tree.imports.iter().filter(|(name, _)| !objects::is_built_in(name)).map(error).collect()
}

/// All names.
#[derive(Debug)]
pub(super) struct Symbols<'t> {
    pub(super) tree: &'t Specification,
    pub(super) names: FxHashMap<Rc<str>, (Symbol, Span)>,
    /// Values of macros that the command line gives.
    pub(super) overridden: FxHashMap<usize, Value>,
    pub(super) variables: Vec<Variable>,
    /// The numbers of variables that some block assigns, apart from objects.
    pub(super) written: FxHashSet<usize>,
    /// Objects, by the number of the variable of their name.
    pub(super) objects: FxHashMap<usize, Object>,
    pub(super) channels: Vec<Channel>,
    pub(super) definitions: Vec<Definition>,
    pub(super) definition_names: FxHashMap<Rc<str>, usize>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The number of variables of blocks so far.
    pub(super) locals: u32,
    /// The most events that a hiding of the text has.
    pub(super) widest_hiding: usize,
}

impl<'t> Symbols<'t> {
    /// Reads all declarations. `constants` are those of the command line.
    pub(super) fn new(tree: &'t Specification, constants: &[(String, String)]) -> Self {
        let mut symbols = Self {
            tree,
            names: FxHashMap::default(),
            overridden: FxHashMap::default(),
            variables: Vec::new(),
            written: FxHashSet::default(),
            objects: FxHashMap::default(),
            channels: Vec::new(),
            definitions: Vec::new(),
            definition_names: FxHashMap::default(),
            diagnostics: Vec::new(),
            locals: 0,
            widest_hiding: 0,
        };
        symbols.diagnostics.extend(unsupported_imports(tree));
        for names in &tree.enumerations {
            for (value, name) in names.iter().enumerate() {
                symbols.declare(name, Symbol::Constant(value as i64));
            }
        }
        for (number, it) in tree.macros.iter().enumerate() {
            symbols.declare(&it.name, Symbol::Macro(number));
        }
        symbols.override_constants(constants);
        let mut cells = 0;
        for (number, variable) in tree.variables.iter().enumerate() {
            symbols.declare(&variable.name, Symbol::Variable(number));
            let variable = match &variable.class {
                Some(class) => symbols.read_object(variable, class, number, &mut cells),
                None => symbols.read_variable(variable, &mut cells),
            };
            symbols.variables.push(variable);
        }
        symbols.declare_counts();
        for (number, channel) in tree.channels.iter().enumerate() {
            symbols.declare(&channel.name, Symbol::Channel(number));
            let sizes = symbols.sizes(&channel.sizes, &mut cells);
            let capacity = symbols.number(&channel.capacity).unwrap_or(0);
            if capacity < 0 {
                symbols.error("wrong-size", "a capacity is at least 0", channel.capacity.span);
            }
            cells += capacity.max(0).saturating_mul(sizes.iter().product());
            symbols.check_size(cells, channel.capacity.span);
            let (name, span) = (channel.name.text.clone(), channel.name.span);
            symbols.channels.push(Channel { name, sizes, capacity: capacity.max(0), parts: None, span });
        }
        symbols.read_definitions();
        symbols
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.report(Diagnostic::error(code, message, span));
    }

    /// The value of a variable that nothing assigns, in every state.
    pub(super) fn fixed(&self, variable: usize, indices: &[Value]) -> Option<Value> {
        let it = &self.variables[variable];
        let is_object = self.tree.variables.get(variable).is_none_or(|declared| declared.class.is_some());
        if is_object || it.is_any || self.written.contains(&variable) || indices.len() != it.sizes.len() {
            return None;
        }
        let mut position = 0;
        for (index, &size) in indices.iter().zip(&it.sizes) {
            let index = index.constant().filter(|index| (0..size).contains(index))?;
            position = position * size + index;
        }
        let value = *it.initial.get(usize::try_from(position).ok()?)?;
        Some(if it.is_boolean { Value::Truth(value != 0) } else { Value::Number(value) })
    }

    fn declare(&mut self, name: &Name, symbol: Symbol) {
        if let Some((_, first)) = self.names.get(&name.text) {
            let message = format!("`{}` is declared twice", name.text);
            let error = Diagnostic::error("declared-twice", message, name.span);
            let error = error.with_secondary(*first, "first declared here");
            self.report(error);
        } else {
            self.names.insert(name.text.clone(), (symbol, name.span));
        }
    }

    fn override_constants(&mut self, constants: &[(String, String)]) {
        for (name, value) in constants {
            let number = match self.names.get(name.as_str()) {
                Some((Symbol::Macro(number), _)) => *number,
                _ => {
                    let message = format!("there is no constant `{name}` to override");
                    let mut error = Diagnostic::error("no-such-constant", message, Span::default());
                    let names = self.tree.macros.iter().map(|it| &*it.name.text);
                    error.help = quotient_kit::similar(name, names).map(|it| format!("did you mean `{it}`?"));
                    self.report(Diagnostic { primary: None, ..error });
                    continue;
                }
            };
            let read = match value.as_str() {
                "true" => Some(Value::Truth(true)),
                "false" => Some(Value::Truth(false)),
                _ => value.parse::<i32>().ok().map(|value| Value::Number(value.into())),
            };
            match read {
                Some(read) => {
                    self.overridden.insert(number, read);
                }
                None => {
                    let message = format!("`{value}` cannot be the value of `{name}`");
                    let error = Diagnostic::error("wrong-constant", message, Span::default());
                    let error = error.with_help("it is a number of 32 bits, `true` or `false`");
                    self.report(Diagnostic { primary: None, ..error });
                }
            }
        }
    }

    fn check_size(&mut self, cells: i64, span: Span) {
        if cells > SIZE_LIMIT {
            let message = format!("a state would have more than {SIZE_LIMIT} elements of arrays and buffers");
            self.error("too-large", message, span);
        }
    }

    /// The value of a constant expression.
    pub(super) fn number(&mut self, expression: &Expression) -> Option<i64> {
        let errors = self.diagnostics.len();
        let value = self.closed_value(expression);
        let constant = value.constant();
        if constant.is_none() && self.diagnostics.len() == errors {
            let error = Diagnostic::error("not-constant", "this must be a constant", expression.span);
            self.report(error.with_help("use numbers and what `#define` gives names to"));
        }
        constant
    }

    fn sizes(&mut self, sizes: &[Expression], cells: &mut i64) -> Vec<i64> {
        let mut all = Vec::new();
        let mut product: i64 = 1;
        for size in sizes {
            let value = self.number(size).unwrap_or(1);
            if value < 1 {
                self.error("wrong-size", format!("a size is at least 1, not {value}"), size.span);
            }
            product = product.saturating_mul(value.max(1));
            self.check_size(cells.saturating_add(product), size.span);
            all.push(value.clamp(1, SIZE_LIMIT));
        }
        *cells = cells.saturating_add(product);
        all
    }

    fn read_variable(&mut self, tree: &Declared, cells: &mut i64) -> Variable {
        let (name, span) = (tree.name.text.clone(), tree.name.span);
        self.warn_of_hidden(tree);
        let mut range = self.declared_range(tree).unwrap_or(NUMBERS);
        let mut sizes = self.sizes(&tree.sizes, cells);
        let (mut is_boolean, mut initial) = (false, Vec::new());
        match &tree.initial {
            Initial::Zero => {}
            Initial::Any(span) => {
                if range == NUMBERS {
                    let message = format!("`{name}` needs a range to begin with any value of");
                    let error = Diagnostic::error("wrong-initial-value", message, *span);
                    self.report(error.with_help(format!("declare it as `var {name}:{{0..1}} = *;`")));
                }
            }
            Initial::Value(value) => {
                let constant = self.closed_value(value);
                is_boolean = matches!(constant, Value::Truth(_));
                initial.extend(self.number(value));
                if !sizes.is_empty() {
                    let error = Diagnostic::error("wrong-initial-value", "an array has a list of values", value.span);
                    self.report(error.with_help("write `[1, 2]`, or `[0(5)]` for five zeros"));
                }
            }
            Initial::List(elements, span) => {
                is_boolean = matches!(elements.first(), Some(Element::One(first) | Element::Repeated(first, _))
                    if matches!(self.closed_value(first), Value::Truth(_)));
                for element in elements {
                    self.read_element(element, &mut initial);
                }
                let size: i64 = sizes.iter().product();
                if sizes.is_empty() {
                    sizes.push(initial.len().max(1) as i64);
                    *cells = cells.saturating_add(initial.len() as i64);
                    self.check_size(*cells, *span);
                } else if size != initial.len() as i64 {
                    let message = format!("there are {} values for {size} elements", initial.len());
                    self.error("wrong-initial-value", message, *span);
                }
            }
        }
        if is_boolean {
            range = (0, 1);
        }
        let is_any = matches!(tree.initial, Initial::Any(_));
        initial.resize(usize::try_from(sizes.iter().product::<i64>()).unwrap_or(1), 0);
        for &value in initial.iter().filter(|_| !is_any) {
            if value < range.0 || range.1 < value {
                let message = format!("{value} is not in the range of `{name}`: {} to {}", range.0, range.1);
                self.error("wrong-initial-value", message, span);
                break;
            }
        }
        Variable { name, is_boolean, sizes, range, initial, is_any, span }
    }

    pub(super) fn warn_of_hidden(&mut self, tree: &Declared) {
        if tree.is_hidden {
            let message = "this variable is part of the state here";
            let warning = Diagnostic::warning("hidden-variable", message, tree.name.span);
            self.report(warning.with_help("PAT does not distinguish states by variables declared with `hvar`"));
        }
    }

    /// The range that a declaration gives.
    pub(super) fn declared_range(&mut self, tree: &Declared) -> Option<(i64, i64)> {
        let (low, high) = tree.range.as_ref()?;
        let low = low.as_ref().and_then(|low| self.number(low)).unwrap_or(NUMBERS.0);
        let high = high.as_ref().and_then(|high| self.number(high)).unwrap_or(NUMBERS.1);
        if low > high {
            let message = format!("the range of `{}` is empty: {low} to {high}", tree.name.text);
            self.error("wrong-range", message, tree.name.span);
            return None;
        }
        Some((low, high))
    }

    fn read_element(&mut self, element: &Element, initial: &mut Vec<i64>) {
        let room = (SIZE_LIMIT + 1 - initial.len() as i64).max(0);
        match element {
            Element::One(value) => initial.extend(self.number(value)),
            Element::Repeated(value, times) => {
                if let (Some(value), Some(times)) = (self.number(value), self.number(times)) {
                    initial.extend((0..times.min(room)).map(|_| value));
                }
            }
            Element::Range(from, to) => {
                if let (Some(from), Some(to)) = (self.number(from), self.number(to)) {
                    let step = if from <= to { 1 } else { -1 };
                    let count = ((to - from).abs() + 1).min(room);
                    initial.extend((0..count).map(|offset| from + step * offset));
                }
            }
        }
    }

    fn read_definitions(&mut self) {
        let tree = self.tree;
        for (number, definition) in tree.definitions.iter().enumerate() {
            let name = &definition.name;
            if let Some(&first) = self.definition_names.get(&name.text) {
                let message = format!("the process `{}` is defined twice", name.text);
                let error = Diagnostic::error("declared-twice", message, name.span);
                let error = error.with_secondary(tree.definitions[first].name.span, "first defined here");
                self.report(error);
            } else {
                self.definition_names.insert(name.text.clone(), number);
            }
        }
        for definition in &tree.definitions {
            let parameters: Vec<Rc<str>> = definition.parameters.iter().map(|it| it.text.clone()).collect();
            for (position, parameter) in definition.parameters.iter().enumerate() {
                if parameters[..position].contains(&parameter.text) {
                    let message = format!("two parameters are called `{}`", parameter.text);
                    self.error("declared-twice", message, parameter.span);
                }
            }
            let alphabet = tree.alphabets.iter().find(|it| it.name.text == definition.name.text);
            let alphabet = alphabet.map(|it| self.events(&it.events, &parameters));
            let body = self.template(&definition.body, &parameters);
            let (name, span) = (definition.name.text.clone(), definition.name.span);
            self.definitions.push(Definition { name, parameters, body, alphabet, span });
        }
        for alphabet in &tree.alphabets {
            if !self.definition_names.contains_key(&alphabet.name.text) {
                self.unknown_process(&alphabet.name);
            }
        }
    }

    pub(super) fn unknown_process(&mut self, name: &Name) {
        let message = format!("there is no process `{}`", name.text);
        let mut error = Diagnostic::error("unknown-process", message, name.span);
        let names = self.tree.definitions.iter().map(|it| &*it.name.text);
        error.help = quotient_kit::similar(&name.text, names).map(|it| format!("did you mean `{it}`?"));
        self.report(error);
    }

    /// The macro of a number.
    pub(super) fn macro_at(&self, number: usize) -> &'t Macro {
        &self.tree.macros[number]
    }

    /// Whether a name is a macro that stands for an expression without parameters.
    pub(super) fn proposition(&self, name: &str) -> Option<&'t Expression> {
        let Some((Symbol::Macro(number), _)) = self.names.get(name) else { return None };
        match &self.macro_at(*number).body {
            MacroBody::Expression(expression) if self.macro_at(*number).parameters.is_empty() => Some(expression),
            _ => None,
        }
    }
}

/// Whether an expression is a plain name.
pub(super) fn plain_name(expression: &Expression) -> Option<Name> {
    match &expression.kind {
        ExpressionKind::Name(text) => Some(Name { text: text.clone(), span: expression.span }),
        _ => None,
    }
}
