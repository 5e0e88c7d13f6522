//! From the syntax tree to terms: names are resolved, macros are inserted.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};

use super::equality::size_in_text;
use super::objects::arithmetic;
use super::substitution::{NOWHERE, SIZE_LIMIT, valuations};
use super::symbols::{Symbol, Symbols, plain_name};
use super::terms::{
    At, Domain, Events, Index, Pattern, Question, Statement, StatementKind, Term, Value, binary, unary,
};
use crate::syntax::tree::{
    self, Binary, Block, EventSet, Expression, ExpressionKind, MacroBody, Name, Process, ProcessKind, Range,
    RangeValues,
};

/// How deep macros may refer to each other.
const MACRO_DEPTH: usize = 50;

/// The names that are known where something is resolved.
#[derive(Clone, Default)]
pub(super) struct Scope {
    /// Parameters, indices and variables of inputs.
    bound: Vec<Rc<str>>,
    /// Variables of blocks: their number, and whether they are arrays.
    locals: Vec<(Rc<str>, u32, bool)>,
    /// Parameters of macros.
    given: Vec<(Rc<str>, Value)>,
    depth: usize,
}

/// An expression to evaluate that is given beside the text.
pub(super) enum Watched {
    Value(Value),
    /// A whole array, or a part of it with less indices than it has.
    Array(usize, Vec<Value>),
    /// The contents of a channel, or of an array of channels.
    Contents(usize, Vec<Value>),
}

impl Symbols<'_> {
    /// An expression to evaluate. Names of arrays, objects and channels with a buffer mean all of them.
    pub(super) fn watched(&mut self, expression: &Expression) -> Watched {
        let scope = Scope::default();
        let (text, indices) = match &expression.kind {
            ExpressionKind::Name(text) => (text, &[][..]),
            ExpressionKind::Element(name, indices) => (&name.text, &indices[..]),
            _ => return Watched::Value(self.closed_value(expression)),
        };
        let resolved = |symbols: &mut Self| indices.iter().map(|index| symbols.value(index, &scope)).collect();
        match self.names.get(text).map(|(symbol, _)| *symbol) {
            Some(Symbol::Variable(number))
                if self.variables.get(number).is_some_and(|it| indices.len() < it.sizes.len()) =>
            {
                Watched::Array(number, resolved(self))
            }
            Some(Symbol::Channel(number))
                if self.channels[number].capacity > 0 && indices.len() <= self.channels[number].sizes.len() =>
            {
                Watched::Contents(number, resolved(self))
            }
            _ => Watched::Value(self.closed_value(expression)),
        }
    }

    /// An expression outside of all processes.
    pub(super) fn closed_value(&mut self, expression: &Expression) -> Value {
        self.value(expression, &Scope::default())
    }

    /// The body of a definition.
    pub(super) fn template(&mut self, process: &Process, parameters: &[Rc<str>]) -> Rc<Term> {
        let scope = Scope { bound: parameters.to_vec(), ..Scope::default() };
        self.term(process, &scope)
    }

    /// The events of an alphabet.
    pub(super) fn events(&mut self, events: &[EventSet], parameters: &[Rc<str>]) -> Rc<[Events]> {
        let scope = Scope { bound: parameters.to_vec(), ..Scope::default() };
        self.event_sets(events, &scope)
    }

    /// Arguments of a process in an assertion.
    pub(super) fn reference(&mut self, name: &Name, arguments: &[Expression]) -> Option<Rc<Term>> {
        let term = self.reference_term(name, arguments, &Scope::default());
        matches!(*term, Term::Reference(..)).then_some(term)
    }

    pub(super) fn value(&mut self, expression: &Expression, scope: &Scope) -> Value {
        match &expression.kind {
            ExpressionKind::Number(value) => Value::Number(*value),
            ExpressionKind::Truth(value) => Value::Truth(*value),
            ExpressionKind::Name(text) => self.name(&Name { text: text.clone(), span: expression.span }, &[], scope),
            ExpressionKind::Element(name, indices) => self.name(name, indices, scope),
            ExpressionKind::Unary(operator, inner) => {
                let inner = self.value(inner, scope);
                unary(*operator, inner)
            }
            ExpressionKind::Binary(operator, left, right) => {
                let left = self.value(left, scope);
                let right = self.value(right, scope);
                match operator {
                    // Both operands count as truth values.
                    Binary::Xor => binary(Binary::NotEqual, truth(left), truth(right)),
                    _ => binary(*operator, left, right),
                }
            }
            ExpressionKind::Call(name, arguments) => self.call(name, arguments, scope),
            ExpressionKind::Quantified { universal, ranges, body } => {
                let (indices, inner) = self.indices(ranges, scope);
                let body = self.value(body, &inner);
                let all = valuations(&indices).filter(|all| all.len().saturating_mul(body.size()) <= SIZE_LIMIT);
                let Some(all) = all else {
                    let error = Diagnostic::error("not-constant", "the range of an index is constant", expression.span);
                    self.report(error.with_help("and not too large"));
                    return Value::Truth(false);
                };
                let operator = if *universal { Binary::And } else { Binary::Or };
                let instances = all.into_iter().map(|valuation| {
                    super::substitution::map_value(&body, &mut super::substitution::Environment(valuation))
                });
                let instances: Vec<Value> = instances.map(truth).collect();
                let conjunction = instances.into_iter().reduce(|left, right| binary(operator, left, right));
                conjunction.unwrap_or(Value::Truth(*universal))
            }
            ExpressionKind::Method(name, method, arguments) => {
                self.method_value(name, method, arguments, scope).unwrap_or(Value::Number(0))
            }
            ExpressionKind::New(class, _) => {
                let message = format!("a new `{}` is not a value here", class.text);
                let error = Diagnostic::error("unsupported", message, expression.span);
                self.report(error.with_help("declare an object: `var<Set> s;`"));
                Value::Number(0)
            }
            ExpressionKind::Foreign(what) => {
                let error = Diagnostic::error("unsupported", format!("{what} are not supported"), expression.span);
                self.report(error.with_help("use numbers, truth values and arrays"));
                Value::Number(0)
            }
        }
    }

    /// What a name means, perhaps with indices.
    fn name(&mut self, name: &Name, indices: &[Expression], scope: &Scope) -> Value {
        let mut resolved = Vec::new();
        for index in indices {
            resolved.push(self.value(index, scope));
        }
        let not_an_array = |symbols: &mut Self| {
            let message = format!("`{}` is not an array", name.text);
            symbols.error("not-an-array", message, name.span);
            Value::Number(0)
        };
        if let Some((_, value)) = scope.given.iter().rev().find(|(given, _)| *given == name.text) {
            return if indices.is_empty() { value.clone() } else { not_an_array(self) };
        }
        if let Some((_, number, is_array)) = scope.locals.iter().rev().find(|(local, ..)| *local == name.text) {
            if *is_array != (resolved.len() == 1) {
                return not_an_array(self);
            }
            return Value::Local(*number, resolved);
        }
        if scope.bound.contains(&name.text) {
            return if indices.is_empty() { Value::Bound(name.text.clone()) } else { not_an_array(self) };
        }
        match self.names.get(&name.text).map(|(symbol, _)| *symbol) {
            Some(Symbol::Constant(value)) if indices.is_empty() => Value::Number(value),
            Some(Symbol::Macro(number)) if indices.is_empty() => self.insert(number, name, &[], scope),
            Some(Symbol::Variable(number)) if self.objects.contains_key(&number) => {
                let error = Diagnostic::error("not-a-value", format!("`{}` is an object", name.text), name.span);
                self.report(error.with_help("call its methods: `s.Count()`, `s.Contains(1)`"));
                Value::Number(0)
            }
            Some(Symbol::Variable(number)) => {
                let Some(variable) = self.variables.get(number) else {
                    // An initial value that mentions a later variable.
                    self.error("not-constant", "this must be a constant", name.span);
                    return Value::Number(0);
                };
                let (dimensions, boolean) = (variable.sizes.len(), variable.is_boolean);
                if dimensions != resolved.len() {
                    let message = match dimensions {
                        0 => format!("`{}` is not an array", name.text),
                        1 => format!("`{}` is an array: one index is needed", name.text),
                        _ => format!("`{}` is an array with {dimensions} indices", name.text),
                    };
                    self.error("not-an-array", message, name.span);
                    return Value::Number(0);
                }
                Value::Global(number, resolved, boolean)
            }
            Some(Symbol::Channel(_)) => {
                let error = Diagnostic::error("not-a-value", format!("`{}` is a channel", name.text), name.span);
                self.report(error.with_help("ask for its contents by `call(ccount, c)` and the like"));
                Value::Number(0)
            }
            Some(_) => not_an_array(self),
            None => {
                let message = format!("`{}` is not declared", name.text);
                let mut error = Diagnostic::error("unknown-name", message, name.span);
                let known = self.names.keys().chain(&scope.bound).map(|it| &**it);
                error.help = quotient_kit::similar(&name.text, known).map(|it| format!("did you mean `{it}`?"));
                self.report(error);
                Value::Number(0)
            }
        }
    }

    /// The expression that a macro stands for.
    fn insert(&mut self, number: usize, name: &Name, arguments: &[Value], scope: &Scope) -> Value {
        if let Some(value) = self.overridden.get(&number) {
            return value.clone();
        }
        let definition = self.macro_at(number);
        let MacroBody::Expression(body) = &definition.body else {
            self.error("not-a-value", format!("`{}` stands for statements", name.text), name.span);
            return Value::Number(0);
        };
        let Some(inner) = self.macro_scope(number, name, arguments, scope) else { return Value::Number(0) };
        self.value(body, &inner)
    }

    /// The scope inside of a macro: only global names and its parameters.
    fn macro_scope(&mut self, number: usize, name: &Name, arguments: &[Value], scope: &Scope) -> Option<Scope> {
        let definition = self.macro_at(number);
        if definition.parameters.len() != arguments.len() {
            let message =
                format!("`{}` has {} parameters, not {}", name.text, definition.parameters.len(), arguments.len());
            self.error("wrong-arguments", message, name.span);
            return None;
        }
        if scope.depth >= MACRO_DEPTH {
            self.error("recursive-macro", format!("`{}` refers to itself", name.text), definition.name.span);
            return None;
        }
        let parameters = definition.parameters.iter().map(|it| it.text.clone());
        let given = parameters.zip(arguments.iter().cloned()).collect();
        // A macro without parameters is text: it may mention parameters of the process it is used in.
        let bound = if arguments.is_empty() { scope.bound.clone() } else { Vec::new() };
        let locals = if arguments.is_empty() { scope.locals.clone() } else { Vec::new() };
        Some(Scope { bound, locals, given, depth: scope.depth + 1 })
    }

    fn call(&mut self, name: &Name, arguments: &[Expression], scope: &Scope) -> Value {
        let question = match &*name.text {
            "cfull" => Some(Question::IsFull),
            "cempty" => Some(Question::IsEmpty),
            "ccount" => Some(Question::Count),
            "csize" => Some(Question::Capacity),
            "cpeek" => Some(Question::First(0)),
            _ => None,
        };
        if let Some(question) = question {
            let channel = match arguments {
                [channel] => match &channel.kind {
                    ExpressionKind::Name(text) => Some((Name { text: text.clone(), span: channel.span }, &[][..])),
                    ExpressionKind::Element(name, indices) => Some((name.clone(), &indices[..])),
                    _ => None,
                },
                _ => None,
            };
            let Some((channel, indices)) = channel else {
                self.error("wrong-arguments", format!("`{}` is called with a channel", name.text), name.span);
                return Value::Number(0);
            };
            let Some((channel, indices)) = self.channel(&channel, indices, scope) else { return Value::Number(0) };
            let it = &self.channels[channel];
            if question == Question::Capacity {
                return Value::Number(it.capacity);
            }
            if it.capacity == 0 {
                let message = format!("`{}` has no buffer to ask about", it.name);
                self.error("no-buffer", message, name.span);
                return Value::Number(0);
            }
            return Value::Queue(question, channel, indices);
        }
        match self.names.get(&name.text).map(|(symbol, _)| *symbol) {
            Some(Symbol::Macro(number)) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(argument, scope));
                }
                self.insert(number, name, &values, scope)
            }
            _ => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(argument, scope));
                }
                if self.tree.imports.iter().any(|(import, _)| &**import == "PAT.Math")
                    && let Some(value) = arithmetic(&name.text, &values)
                {
                    return value;
                }
                let message = format!("`{}` cannot be called", name.text);
                let error = Diagnostic::error("unsupported", message, name.span);
                self.report(error.with_help(
                    "there are `cfull`, `cempty`, `ccount`, `csize`, `cpeek`, macros, and with `PAT.Math` `abs`, `max`, \
                     `min` and `pow` with a constant; methods of C# are not read",
                ));
                Value::Number(0)
            }
        }
    }

    fn channel(&mut self, name: &Name, indices: &[Expression], scope: &Scope) -> Option<(usize, Vec<Value>)> {
        let Some((Symbol::Channel(number), _)) = self.names.get(&name.text) else {
            let message = format!("there is no channel `{}`", name.text);
            let mut error = Diagnostic::error("unknown-channel", message, name.span);
            let known = self.channels.iter().map(|it| &*it.name);
            error.help = quotient_kit::similar(&name.text, known).map(|it| format!("did you mean `{it}`?"));
            self.report(error);
            return None;
        };
        let number = *number;
        let mut resolved = Vec::new();
        for index in indices {
            resolved.push(self.value(index, scope));
        }
        let needed = self.channels[number].sizes.len();
        if needed != resolved.len() {
            let message = format!("`{}` needs {needed} indices, not {}", name.text, resolved.len());
            self.error("wrong-channel", message, name.span);
            return None;
        }
        Some((number, resolved))
    }

    /// Checks the number of parts of a message.
    fn check_parts(&mut self, channel: usize, parts: usize, span: Span) {
        match self.channels[channel].parts {
            None => self.channels[channel].parts = Some((parts, span)),
            Some((known, first)) if known != parts => {
                let message = format!("messages of `{}` have {known} parts, not {parts}", self.channels[channel].name);
                let error = Diagnostic::error("wrong-message", message, span);
                self.report(error.with_secondary(first, "according to this"));
            }
            Some(_) => {}
        }
    }

    fn indices(&mut self, ranges: &[Range], scope: &Scope) -> (Vec<Index>, Scope) {
        let mut inner = scope.clone();
        let mut indices = Vec::new();
        for range in ranges {
            let domain = match &range.values {
                RangeValues::Interval(low, high) => {
                    let low = self.value(low, &inner);
                    Domain::Interval(low, self.value(high, &inner))
                }
                RangeValues::List(values) => {
                    let mut all = Vec::new();
                    for value in values {
                        all.push(self.value(value, &inner));
                    }
                    if range.variable.is_none() && all.len() != 1 {
                        let error = Diagnostic::error("wrong-range", "a number of copies is one number", range.span);
                        self.report(error.with_help("write `{3}`"));
                    }
                    Domain::List(all)
                }
                RangeValues::Unknown => {
                    let error = Diagnostic::error("unknown-range", "the range of an index must be known", range.span);
                    self.report(error.with_help("write its bounds: `{0..2}`"));
                    Domain::List(Vec::new())
                }
            };
            let variable = range.variable.as_ref().map(|name| name.text.clone());
            if let Some(name) = &variable {
                inner.given.retain(|(given, _)| given != name);
                inner.locals.retain(|(local, ..)| local != name);
                inner.bound.push(name.clone());
            }
            indices.push(Index { variable, domain, at: At(range.span) });
        }
        (indices, inner)
    }

    fn event_sets(&mut self, events: &[EventSet], scope: &Scope) -> Rc<[Events]> {
        let mut all = Vec::new();
        for set in events {
            let (indices, inner) = self.indices(&set.ranges, scope);
            let mut arguments = Vec::new();
            for argument in &set.arguments {
                arguments.push(self.value(argument, &inner));
            }
            all.push(Events { indices, name: set.name.text.clone(), arguments, at: At(set.name.span) });
        }
        all.into()
    }

    fn reference_term(&mut self, name: &Name, arguments: &[Expression], scope: &Scope) -> Rc<Term> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument, scope));
        }
        let Some(&definition) = self.definition_names.get(&name.text) else {
            self.unknown_process(name);
            return Rc::new(Term::Stop);
        };
        let parameters = self.tree.definitions[definition].parameters.len();
        if parameters != values.len() {
            let message = format!("`{}` has {parameters} parameters, not {}", name.text, values.len());
            let error = Diagnostic::error("wrong-arguments", message, name.span);
            let error = error.with_secondary(self.tree.definitions[definition].name.span, "defined here");
            self.report(error);
            return Rc::new(Term::Stop);
        }
        Rc::new(Term::Reference(definition, values, At(name.span)))
    }

    fn term(&mut self, process: &Process, scope: &Scope) -> Rc<Term> {
        let at = At(process.span);
        let term = match &process.kind {
            ProcessKind::Stop => Term::Stop,
            ProcessKind::Skip => Term::Skip,
            ProcessKind::Reference(name, arguments) => return self.reference_term(name, arguments, scope),
            ProcessKind::Prefix { event, fairness, block, next } => {
                let at = At(event.as_ref().map_or(process.span, |(name, arguments)| {
                    arguments.last().map_or(name.span, |last| name.span.to(last.span))
                }));
                let event = event.as_ref().map(|(name, arguments)| {
                    let arguments = arguments.iter().map(|argument| self.value(argument, scope)).collect();
                    (name.text.clone(), arguments)
                });
                let block = self.optional_block(block, scope);
                Term::Prefix { event, fairness: *fairness, block, at, next: self.term(next, scope) }
            }
            ProcessKind::Output { channel: name, indices, values, block, next } => {
                let found = self.channel(name, indices, scope);
                let values: Vec<Value> = values.iter().map(|value| self.value(value, scope)).collect();
                let block = self.optional_block(block, scope);
                let next = self.term(next, scope);
                let Some((channel, indices)) = found else { return next };
                self.check_parts(channel, values.len(), name.span);
                Term::Output { channel, indices, values, block, at: At(name.span), next }
            }
            ProcessKind::Input { channel: name, indices, guard, patterns, block, next } => {
                let found = self.channel(name, indices, scope);
                let mut inner = scope.clone();
                let mut resolved = Vec::new();
                for pattern in patterns {
                    resolved.push(self.pattern(pattern, &mut inner));
                }
                let guard = guard.as_ref().map(|guard| self.value(guard, &inner));
                let block = self.optional_block(block, &inner);
                let next = self.term(next, &inner);
                let Some((channel, indices)) = found else { return next };
                self.check_parts(channel, resolved.len(), name.span);
                Term::Input { channel, indices, guard, patterns: resolved, block, at: At(name.span), next }
            }
            ProcessKind::Guard(condition, next) => {
                let condition = self.value(condition, scope);
                Term::Guard(condition, self.term(next, scope))
            }
            ProcessKind::If { check, condition, then, otherwise } => {
                let condition = self.value(condition, scope);
                let then = self.term(then, scope);
                let otherwise = match otherwise {
                    Some(otherwise) => self.term(otherwise, scope),
                    None => Rc::new(Term::Skip),
                };
                Term::If(*check, condition, then, otherwise, at)
            }
            ProcessKind::Case { branches, default } => {
                let mut all = Vec::new();
                for (condition, branch) in branches {
                    let condition = self.value(condition, scope);
                    all.push((condition, self.term(branch, scope)));
                }
                let default = match default {
                    Some(default) => self.term(default, scope),
                    None => Rc::new(Term::Skip),
                };
                Term::Case(all, default, at)
            }
            ProcessKind::Several(operator, parts) => {
                Term::Several(*operator, parts.iter().map(|part| self.term(part, scope)).collect())
            }
            ProcessKind::Indexed { operator, ranges, body } => {
                let (indices, inner) = self.indices(ranges, scope);
                Term::Indexed(*operator, indices, self.term(body, &inner), at)
            }
            ProcessKind::Sequence(first, second) => {
                let first = self.term(first, scope);
                Term::Sequence(first, self.term(second, scope))
            }
            ProcessKind::Interrupt(first, second) => {
                let first = self.term(first, scope);
                Term::Interrupt(first, self.term(second, scope))
            }
            ProcessKind::Hide(inner, events) => {
                let events = self.event_sets(events, scope);
                self.widest_hiding = self.widest_hiding.max(size_in_text(&events));
                Term::Hide(self.term(inner, scope), events)
            }
            ProcessKind::Atomic(inner) => Term::Atomic(self.term(inner, scope)),
        };
        Rc::new(term)
    }

    /// A name that is not known is bound; everything else has to be equal.
    fn pattern(&mut self, pattern: &Expression, scope: &mut Scope) -> Pattern {
        if let Some(name) = plain_name(pattern) {
            let is_known = scope.bound.contains(&name.text) || scope.given.iter().any(|(given, _)| *given == name.text);
            let symbol = self.names.get(&name.text).map(|(symbol, _)| *symbol);
            if !is_known && !matches!(symbol, Some(Symbol::Constant(_) | Symbol::Macro(_))) {
                if matches!(symbol, Some(Symbol::Variable(_))) {
                    let message = format!("this is a new `{}`, not the global variable", name.text);
                    let warning = Diagnostic::warning("shadowed", message, name.span);
                    self.report(warning.with_help("choose another name, and assign it in a block"));
                }
                scope.bound.push(name.text.clone());
                return Pattern::Bind(name.text);
            }
        }
        Pattern::Match(self.value(pattern, scope))
    }

    fn optional_block(&mut self, block: &Option<Block>, scope: &Scope) -> Option<Rc<[Statement]>> {
        block.as_ref().map(|block| self.block(block, scope).into())
    }

    fn block(&mut self, block: &Block, scope: &Scope) -> Vec<Statement> {
        let mut inner = scope.clone();
        let mut statements = Vec::new();
        for statement in &block.statements {
            self.statement(statement, &mut inner, &mut statements);
        }
        statements
    }

    fn is_object(&self, name: &Name, scope: &Scope) -> bool {
        let is_hidden = scope.bound.contains(&name.text) || scope.locals.iter().any(|(local, ..)| *local == name.text);
        !is_hidden && self.object(&name.text).is_some()
    }

    /// A value that is assigned: a method with an effect is called before.
    fn result(&mut self, value: &Expression, scope: &Scope, at: At, statements: &mut Vec<Statement>) -> Value {
        let ExpressionKind::Method(name, method, arguments) = &value.kind else { return self.value(value, scope) };
        let result = self.method_statements((name, method, arguments), scope, at, statements);
        result.unwrap_or(Value::Number(0))
    }

    fn statement(&mut self, statement: &tree::Statement, scope: &mut Scope, statements: &mut Vec<Statement>) {
        let at = At(statement.span);
        let kind = match &statement.kind {
            tree::StatementKind::Assign { target, value, .. } if self.is_object(target, scope) => {
                self.assign_object(target, value, at, statements);
                return;
            }
            tree::StatementKind::Assign { target, indices, value } => {
                let value = self.result(value, scope, at, statements);
                if scope.bound.contains(&target.text) && !scope.locals.iter().any(|(local, ..)| *local == target.text) {
                    let message = format!("`{}` cannot be changed: it is a parameter", target.text);
                    let error = Diagnostic::error("not-a-variable", message, target.span);
                    self.report(error.with_help("pass the new value to a process"));
                    return;
                }
                match self.name(target, indices, scope) {
                    Value::Global(variable, indices, _) => {
                        self.written.insert(variable);
                        StatementKind::Assign(variable, indices, value)
                    }
                    Value::Local(local, indices) => StatementKind::AssignLocal(local, indices, value),
                    Value::Number(_) | Value::Truth(_) if !self.names.contains_key(&target.text) => return,
                    _ => {
                        let message = format!("`{}` is not a variable", target.text);
                        self.error("not-a-variable", message, target.span);
                        return;
                    }
                }
            }
            tree::StatementKind::Local { name, sizes, value } => {
                let size = match &sizes[..] {
                    [] => None,
                    [size] => self.number(size),
                    [_, second, ..] => {
                        self.error("unsupported", "an array of a block has one index", second.span);
                        None
                    }
                };
                if size.is_some_and(|size| !(1..=1000).contains(&size)) {
                    self.error("wrong-size", "an array of a block has 1 to 1000 elements", name.span);
                    return;
                }
                let value = value.as_ref().map(|value| self.result(value, scope, at, statements));
                let number = self.locals;
                self.locals += 1;
                scope.locals.push((name.text.clone(), number, size.is_some()));
                StatementKind::Declare(number, name.text.clone(), size, value)
            }
            tree::StatementKind::If(condition, then, otherwise) => {
                let condition = self.value(condition, scope);
                let then = self.block(then, scope);
                let otherwise = otherwise.as_ref().map(|block| self.block(block, scope)).unwrap_or_default();
                StatementKind::If(condition, then, otherwise)
            }
            tree::StatementKind::While(condition, body) => {
                let condition = self.value(condition, scope);
                StatementKind::While(condition, self.block(body, scope))
            }
            tree::StatementKind::Block(block) => {
                let inner = self.block(block, scope);
                statements.extend(inner);
                return;
            }
            tree::StatementKind::Call(name, arguments) => {
                let Some((Symbol::Macro(number), _)) = self.names.get(&name.text).copied() else {
                    let message = format!("`{}` is not a macro", name.text);
                    let error = Diagnostic::error("unsupported", message, name.span);
                    self.report(error.with_help("define it: `#define reset {x = 0};`"));
                    return;
                };
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(argument, scope));
                }
                let MacroBody::Block(body) = &self.macro_at(number).body else {
                    let message = format!("`{}` is an expression, not a statement", name.text);
                    self.error("not-a-statement", message, name.span);
                    return;
                };
                let Some(inner) = self.macro_scope(number, name, &values, scope) else { return };
                let inserted = self.block(body, &inner);
                statements.extend(inserted);
                return;
            }
            tree::StatementKind::Method(name, method, arguments) => {
                self.method_statements((name, method, arguments), scope, at, statements);
                return;
            }
            tree::StatementKind::Field(name) => {
                let message = format!("fields of `{}` are not supported", name.text);
                let error = Diagnostic::error("unsupported", message, statement.span);
                self.report(error.with_help("use numbers and arrays"));
                return;
            }
        };
        statements.push(Statement { kind, at });
    }
}

/// A value as a truth value.
fn truth(value: Value) -> Value {
    if value.is_boolean() { value } else { binary(Binary::NotEqual, value, Value::Number(0)) }
}

impl Symbols<'_> {
    /// The term without a location.
    pub(super) fn reference_to(&self, definition: usize) -> Rc<Term> {
        Rc::new(Term::Reference(definition, Vec::new(), NOWHERE))
    }
}
