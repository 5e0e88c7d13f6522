//! The definitions of a CSP# model and where they are used. Values, processes and events have names of their own; an
//! event is defined where it stands first.

use quotient_ir::{Source, Span};
use quotient_kit::outline::{Builder, Kind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::syntax::tree::{
    Alphabet, Assertion, Block, Claim, Element, EventSet, Expression, ExpressionKind, Initial, Linear, LinearKind,
    Macro, MacroBody, Name, Process, ProcessKind, Range, RangeValues, Specification, Statement, StatementKind,
    Variable,
};

/// How deep macros may refer to each other.
const MACRO_DEPTH: usize = 50;

/// Functions that `call` knows.
const BUILT_IN: &[&str] = &["cfull", "cempty", "ccount", "csize", "cpeek", "abs", "max", "min", "pow"];

/// The outline of a model.
pub(super) fn outline<'s>(source: &'s Source, tree: &Specification) -> Builder<'s> {
    let mut walk = Walk {
        builder: Builder::new(source),
        tree,
        processes: FxHashMap::default(),
        events: FxHashMap::default(),
        channels: FxHashSet::default(),
        macros: FxHashMap::default(),
        covers: Span::default(),
        depth: 0,
    };
    walk.globals();
    for definition in &tree.macros {
        walk.macro_body(definition);
    }
    for variable in &tree.variables {
        walk.variable(variable);
    }
    for channel in &tree.channels {
        channel.sizes.iter().for_each(|size| walk.expression(size));
        walk.expression(&channel.capacity);
    }
    for definition in &tree.definitions {
        walk.covers = definition.name.span.to(definition.body.span);
        walk.builder.container = walk.processes.get(&*definition.name.text).copied();
        walk.builder.enter(walk.covers);
        for parameter in &definition.parameters {
            walk.declare(parameter, Kind::Parameter, format!("a parameter of `{}`", definition.name.text));
        }
        let alphabets = tree.alphabets.iter().filter(|it| it.name.text == definition.name.text);
        alphabets.for_each(|alphabet| walk.alphabet(alphabet));
        walk.process(&definition.body);
        walk.builder.leave();
        walk.builder.container = None;
    }
    for alphabet in &tree.alphabets {
        walk.refer_process(&alphabet.name);
    }
    for assertion in &tree.assertions {
        walk.assertion(assertion);
    }
    walk.builder
}

struct Walk<'s, 't> {
    builder: Builder<'s>,
    tree: &'t Specification,
    processes: FxHashMap<String, usize>,
    events: FxHashMap<String, usize>,
    channels: FxHashSet<&'t str>,
    /// Macros by name, with all names that stand in them and in the macros they use.
    macros: FxHashMap<&'t str, (&'t Macro, FxHashSet<&'t str>)>,
    /// The definition being walked.
    covers: Span,
    depth: usize,
}

impl<'t> Walk<'_, 't> {
    fn declare(&mut self, name: &Name, kind: Kind, detail: String) -> usize {
        self.builder.declare(&name.text, kind, name.span, name.span, detail)
    }

    fn globals(&mut self) {
        let tree = self.tree;
        for names in &tree.enumerations {
            let all: Vec<&str> = names.iter().map(|it| &*it.text).collect();
            for name in names {
                self.declare(name, Kind::Member, format!("enum {{{}}}", all.join(", ")));
            }
        }
        for definition in &tree.macros {
            let parameters = &definition.parameters;
            let extent = match &definition.body {
                MacroBody::Expression(body) => definition.name.span.to(body.span),
                MacroBody::Block(body) => {
                    body.statements.last().map_or(definition.name.span, |last| definition.name.span.to(last.span))
                }
            };
            let detail = format!("#define {}", self.builder.excerpt(extent));
            let is_number = parameters.is_empty()
                && matches!(&definition.body, MacroBody::Expression(body)
                    if matches!(body.kind, ExpressionKind::Number(_) | ExpressionKind::Truth(_)));
            let kind = if is_number { Kind::Constant } else { Kind::Macro };
            self.builder.declare(&definition.name.text, kind, definition.name.span, extent, detail);
        }
        for variable in &tree.variables {
            let extent = self.extent_of(variable);
            let detail = format!("var {}", self.builder.excerpt(extent));
            self.builder.declare(&variable.name.text, Kind::Variable, variable.name.span, extent, detail);
        }
        for channel in &tree.channels {
            let extent = channel.name.span.to(channel.capacity.span);
            let detail = format!("channel {}", self.builder.excerpt(extent));
            self.builder.declare(&channel.name.text, Kind::Channel, channel.name.span, extent, detail);
            self.channels.insert(&channel.name.text);
        }
        for definition in &tree.definitions {
            let extent = definition.name.span.to(definition.body.span);
            let parameters: Vec<&str> = definition.parameters.iter().map(|it| &*it.text).collect();
            let detail = format!("{}({})", definition.name.text, parameters.join(", "));
            let number = self.builder.add(&definition.name.text, Kind::Process, definition.name.span, extent, detail);
            if self.processes.contains_key(&*definition.name.text) {
                self.builder.note_duplicate(definition.name.span);
            }
            self.processes.entry(definition.name.text.to_string()).or_insert(number);
        }
        self.read_macros();
    }

    /// The names that stand in each macro, and in those it uses.
    fn read_macros(&mut self) {
        for definition in &self.tree.macros {
            let mut names = FxHashSet::default();
            match &definition.body {
                MacroBody::Expression(body) => names_in(body, &mut names),
                MacroBody::Block(body) => names_in_block(body, &mut names),
            }
            self.macros.entry(&definition.name.text).or_insert((definition, names));
        }
        loop {
            let mut grown = false;
            let known = self.macros.clone();
            for (_, names) in self.macros.values_mut() {
                let before = names.len();
                let inner: Vec<&str> = names.iter().copied().collect();
                for name in inner {
                    if let Some((_, more)) = known.get(name) {
                        names.extend(more);
                    }
                }
                grown |= names.len() > before;
            }
            if !grown {
                break;
            }
        }
    }

    fn extent_of(&self, variable: &Variable) -> Span {
        let mut extent = variable.name.span;
        if let Some(size) = variable.sizes.last() {
            extent = extent.to(Span { end: size.span.end + 1, ..size.span });
        }
        if let Some((_, Some(high))) = &variable.range {
            extent = extent.to(Span { end: high.span.end + 1, ..high.span });
        }
        match &variable.initial {
            Initial::Zero => extent,
            Initial::Any(span) | Initial::List(_, span) => extent.to(*span),
            Initial::Value(value) => extent.to(value.span),
        }
    }

    fn variable(&mut self, variable: &'t Variable) {
        variable.sizes.iter().for_each(|size| self.expression(size));
        if let Some((low, high)) = &variable.range {
            low.iter().chain(high).for_each(|bound| self.expression(bound));
        }
        match &variable.initial {
            Initial::Zero | Initial::Any(_) => {}
            Initial::Value(value) => self.expression(value),
            Initial::List(elements, _) => {
                for element in elements {
                    match element {
                        Element::One(value) => self.expression(value),
                        Element::Repeated(one, other) | Element::Range(one, other) => {
                            self.expression(one);
                            self.expression(other);
                        }
                    }
                }
            }
        }
    }

    /// The body of a macro as it is outside of processes.
    fn macro_body(&mut self, definition: &'t Macro) {
        let end = match &definition.body {
            MacroBody::Expression(body) => body.span,
            MacroBody::Block(body) => body.statements.last().map_or(definition.name.span, |last| last.span),
        };
        self.builder.enter(definition.name.span.to(end));
        for parameter in &definition.parameters {
            self.declare(parameter, Kind::Parameter, format!("a parameter of `{}`", definition.name.text));
        }
        match &definition.body {
            MacroBody::Expression(body) => self.expression(body),
            MacroBody::Block(body) => self.block(body),
        }
        self.builder.leave();
    }

    /// The use of a name that may be a macro. One without parameters is text, which may mention names of its use.
    fn value_name(&mut self, text: &'t str, span: Span) {
        let found = self.builder.refer(text, span);
        let Some((definition, names)) = self.macros.get(text) else { return };
        if found != self.builder.defined_at(definition.name.span) || !definition.parameters.is_empty() {
            return;
        }
        let is_local = |name: &&str| self.builder.is_local(name, 1);
        if self.depth < MACRO_DEPTH && names.iter().any(is_local) {
            self.depth += 1;
            match &definition.body {
                MacroBody::Expression(body) => self.expression(body),
                MacroBody::Block(body) => self.block(body),
            }
            self.depth -= 1;
        }
    }

    fn refer_process(&mut self, name: &Name) {
        match self.processes.get(&*name.text) {
            Some(&number) => self.builder.note_use(number, name.span),
            None => self.builder.note_unknown(&name.text, name.span),
        }
    }

    /// An event, or a message through a channel without a buffer.
    fn event(&mut self, name: &Name) {
        if self.channels.contains(&*name.text)
            && let Some(number) = self.builder.find_global(&name.text)
        {
            return self.builder.note_use(number, name.span);
        }
        match self.events.get(&*name.text) {
            Some(&number) => self.builder.note_use(number, name.span),
            None => {
                let container = self.builder.container.take();
                let detail = format!("the event `{}`", name.text);
                let number = self.builder.add(&name.text, Kind::Event, name.span, name.span, detail);
                self.builder.definition(number).scope = None;
                self.builder.container = container;
                self.events.insert(name.text.to_string(), number);
            }
        }
    }

    fn alphabet(&mut self, alphabet: &'t Alphabet) {
        for parameter in &alphabet.parameters {
            self.builder.refer(&parameter.text, parameter.span);
        }
        alphabet.events.iter().for_each(|set| self.event_set(set));
    }

    fn event_set(&mut self, set: &'t EventSet) {
        self.builder.enter(self.covers);
        self.ranges(&set.ranges);
        self.event(&set.name);
        set.arguments.iter().for_each(|argument| self.expression(argument));
        self.builder.leave();
    }

    fn ranges(&mut self, ranges: &'t [Range]) {
        for range in ranges {
            match &range.values {
                RangeValues::Interval(low, high) => {
                    self.expression(low);
                    self.expression(high);
                }
                RangeValues::List(values) => values.iter().for_each(|value| self.expression(value)),
                RangeValues::Unknown => {}
            }
            if let Some(name) = &range.variable {
                let detail = self.builder.excerpt(range.span);
                let number = self.builder.add(&name.text, Kind::Parameter, name.span, range.span, detail);
                // Each range hides those before it.
                self.builder.hide(&name.text, number);
            }
        }
    }

    fn assertion(&mut self, assertion: &'t Assertion) {
        let title = self.builder.excerpt(assertion.span);
        self.builder.add(&title, Kind::Property, assertion.span, assertion.span, String::new());
        if let Some((name, arguments)) = &assertion.process {
            self.refer_process(name);
            arguments.iter().for_each(|argument| self.expression(argument));
        }
        match &assertion.claim {
            Claim::DeadlockFree | Claim::NonTerminating | Claim::DivergenceFree | Claim::Deterministic => {}
            Claim::Reaches(condition, optimum) => {
                self.expression(condition);
                optimum.iter().for_each(|optimum| self.expression(&optimum.value));
            }
            Claim::Invariant(condition) => self.expression(condition),
            Claim::Linear(formula) => self.linear(formula),
            Claim::Refines(_, name, arguments) => {
                self.refer_process(name);
                arguments.iter().for_each(|argument| self.expression(argument));
            }
        }
    }

    fn linear(&mut self, formula: &'t Linear) {
        match &formula.kind {
            LinearKind::Truth(_) => {}
            LinearKind::Atom(name, arguments) => {
                arguments.iter().for_each(|argument| self.expression(argument));
                let is_proposition = self.macros.get(&*name.text).is_some_and(|(definition, _)| {
                    definition.parameters.is_empty() && matches!(definition.body, MacroBody::Expression(_))
                });
                if arguments.is_empty() && is_proposition {
                    self.value_name(&name.text, name.span);
                } else {
                    self.event(name);
                }
            }
            LinearKind::Quoted(text) => {
                let name = text.split(['!', '?', '.']).next().unwrap_or("").trim();
                let channel = self.builder.find_global(name).filter(|_| self.channels.contains(name));
                if let Some(number) = channel.or_else(|| self.events.get(name).copied()) {
                    self.builder.definition(number).fixed = Some("a formula has its name in quotes");
                }
            }
            LinearKind::Condition(condition) => self.expression(condition),
            LinearKind::Unary(_, inner) => self.linear(inner),
            LinearKind::Binary(_, left, right) => {
                self.linear(left);
                self.linear(right);
            }
        }
    }

    fn process(&mut self, process: &'t Process) {
        match &process.kind {
            ProcessKind::Stop | ProcessKind::Skip => {}
            ProcessKind::Reference(name, arguments) => {
                arguments.iter().for_each(|argument| self.expression(argument));
                self.refer_process(name);
            }
            ProcessKind::Prefix { event, block, next, .. } => {
                if let Some((name, arguments)) = event {
                    self.event(name);
                    arguments.iter().for_each(|argument| self.expression(argument));
                }
                block.iter().for_each(|block| self.block(block));
                self.process(next);
            }
            ProcessKind::Output { channel, indices, values, block, next } => {
                self.builder.refer(&channel.text, channel.span);
                indices.iter().chain(values).for_each(|value| self.expression(value));
                block.iter().for_each(|block| self.block(block));
                self.process(next);
            }
            ProcessKind::Input { channel, indices, guard, patterns, block, next } => {
                self.builder.refer(&channel.text, channel.span);
                indices.iter().for_each(|index| self.expression(index));
                self.builder.enter(self.covers);
                patterns.iter().for_each(|pattern| self.pattern(pattern));
                guard.iter().for_each(|guard| self.expression(guard));
                block.iter().for_each(|block| self.block(block));
                self.process(next);
                self.builder.leave();
            }
            ProcessKind::Guard(condition, next) => {
                self.expression(condition);
                self.process(next);
            }
            ProcessKind::If { condition, then, otherwise, .. } => {
                self.expression(condition);
                self.process(then);
                otherwise.iter().for_each(|otherwise| self.process(otherwise));
            }
            ProcessKind::Case { branches, default } => {
                for (condition, branch) in branches {
                    self.expression(condition);
                    self.process(branch);
                }
                default.iter().for_each(|default| self.process(default));
            }
            ProcessKind::Several(_, parts) => parts.iter().for_each(|part| self.process(part)),
            ProcessKind::Indexed { ranges, body, .. } => {
                self.builder.enter(self.covers);
                self.ranges(ranges);
                self.process(body);
                self.builder.leave();
            }
            ProcessKind::Sequence(first, second) | ProcessKind::Interrupt(first, second) => {
                self.process(first);
                self.process(second);
            }
            ProcessKind::Hide(inner, events) => {
                events.iter().for_each(|set| self.event_set(set));
                self.process(inner);
            }
            ProcessKind::Atomic(inner) => self.process(inner),
        }
    }

    /// A name that is not known is bound; everything else has to be equal.
    fn pattern(&mut self, pattern: &'t Expression) {
        if let ExpressionKind::Name(text) = &pattern.kind {
            let known = self.builder.find(text).map(|number| self.builder.definition(number).kind);
            if !matches!(known, Some(Kind::Parameter | Kind::Member | Kind::Constant | Kind::Macro)) {
                let name = Name { text: text.clone(), span: pattern.span };
                self.declare(&name, Kind::Parameter, format!("received here: `{text}`"));
                return;
            }
        }
        self.expression(pattern);
    }

    fn block(&mut self, block: &'t Block) {
        self.builder.enter(self.covers);
        block.statements.iter().for_each(|statement| self.statement(statement));
        self.builder.leave();
    }

    fn statement(&mut self, statement: &'t Statement) {
        match &statement.kind {
            StatementKind::Assign { target, indices, value } => {
                self.expression(value);
                indices.iter().for_each(|index| self.expression(index));
                self.builder.refer(&target.text, target.span);
            }
            StatementKind::Local { name, sizes, value } => {
                sizes.iter().chain(value).for_each(|value| self.expression(value));
                let detail = self.builder.excerpt(statement.span);
                let number = self.builder.add(&name.text, Kind::Local, name.span, statement.span, detail);
                // A later one of the same name hides an earlier one.
                self.builder.hide(&name.text, number);
            }
            StatementKind::If(condition, then, otherwise) => {
                self.expression(condition);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::While(condition, body) => {
                self.expression(condition);
                self.block(body);
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Call(name, arguments) => {
                arguments.iter().for_each(|argument| self.expression(argument));
                self.value_name(&name.text, name.span);
            }
            StatementKind::Method(name, _, arguments) => {
                self.builder.refer(&name.text, name.span);
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            StatementKind::Field(name) => {
                self.builder.refer(&name.text, name.span);
            }
        }
    }

    fn expression(&mut self, expression: &'t Expression) {
        match &expression.kind {
            ExpressionKind::Number(_) | ExpressionKind::Truth(_) | ExpressionKind::Foreign(_) => {}
            ExpressionKind::Name(text) => self.value_name(text, expression.span),
            ExpressionKind::Element(name, indices) => {
                self.value_name(&name.text, name.span);
                indices.iter().for_each(|index| self.expression(index));
            }
            ExpressionKind::Unary(_, operand) => self.expression(operand),
            ExpressionKind::Binary(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExpressionKind::Call(name, arguments) => {
                arguments.iter().for_each(|argument| self.expression(argument));
                if !BUILT_IN.contains(&&*name.text) || self.builder.find(&name.text).is_some() {
                    self.value_name(&name.text, name.span);
                }
            }
            ExpressionKind::Quantified { ranges, body, .. } => {
                self.builder.enter(self.covers);
                self.ranges(ranges);
                self.expression(body);
                self.builder.leave();
            }
            ExpressionKind::Method(name, _, arguments) => {
                self.builder.refer(&name.text, name.span);
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            ExpressionKind::New(_, arguments) => arguments.iter().for_each(|argument| self.expression(argument)),
        }
    }
}

/// All names in an expression.
fn names_in<'t>(expression: &'t Expression, names: &mut FxHashSet<&'t str>) {
    match &expression.kind {
        ExpressionKind::Number(_) | ExpressionKind::Truth(_) | ExpressionKind::Foreign(_) => {}
        ExpressionKind::Name(text) => {
            names.insert(text);
        }
        ExpressionKind::Element(name, parts) | ExpressionKind::Call(name, parts) | ExpressionKind::New(name, parts) => {
            names.insert(&name.text);
            parts.iter().for_each(|part| names_in(part, names));
        }
        ExpressionKind::Method(name, _, arguments) => {
            names.insert(&name.text);
            arguments.iter().for_each(|part| names_in(part, names));
        }
        ExpressionKind::Unary(_, operand) => names_in(operand, names),
        ExpressionKind::Binary(_, left, right) => {
            names_in(left, names);
            names_in(right, names);
        }
        ExpressionKind::Quantified { ranges, body, .. } => {
            for range in ranges {
                match &range.values {
                    RangeValues::Interval(low, high) => {
                        names_in(low, names);
                        names_in(high, names);
                    }
                    RangeValues::List(values) => values.iter().for_each(|value| names_in(value, names)),
                    RangeValues::Unknown => {}
                }
            }
            names_in(body, names);
        }
    }
}

fn names_in_block<'t>(block: &'t Block, names: &mut FxHashSet<&'t str>) {
    for statement in &block.statements {
        match &statement.kind {
            StatementKind::Assign { target, indices, value } => {
                names.insert(&target.text);
                indices.iter().for_each(|index| names_in(index, names));
                names_in(value, names);
            }
            StatementKind::Local { sizes, value, .. } => {
                sizes.iter().chain(value).for_each(|value| names_in(value, names));
            }
            StatementKind::If(condition, then, otherwise) => {
                names_in(condition, names);
                names_in_block(then, names);
                otherwise.iter().for_each(|block| names_in_block(block, names));
            }
            StatementKind::While(condition, body) => {
                names_in(condition, names);
                names_in_block(body, names);
            }
            StatementKind::Block(block) => names_in_block(block, names),
            StatementKind::Call(name, arguments) | StatementKind::Method(name, _, arguments) => {
                names.insert(&name.text);
                arguments.iter().for_each(|argument| names_in(argument, names));
            }
            StatementKind::Field(name) => {
                names.insert(&name.text);
            }
        }
    }
}
