//! The definitions of a Promela text and where they are used, with the scopes of `lower`: a block has its own names, which
//! are visible in all of it. The tree is that after preprocessing, with inlines expanded, so that a name in an inline can
//! mean something else at each use.

use quotient_ir::{Source, Span};
use quotient_kit::outline::{Builder, Kind};
use rustc_hash::FxHashMap;

use super::syntax::Macros;
use super::syntax::tree::{
    BaseType, Declaration, Domain, Expression, ExpressionKind, Initial, Member, Name, Proctype, Specification,
    Statement, StatementKind,
};

/// The outline of a text.
pub(super) fn outline<'s>(source: &'s Source, tree: &Specification, macros: &Macros) -> Builder<'s> {
    let mut walk = Walk {
        builder: Builder::new(source),
        source,
        structures: FxHashMap::default(),
        typedefs: FxHashMap::default(),
        types: FxHashMap::default(),
        subtypes: FxHashMap::default(),
        processes: FxHashMap::default(),
        locals: FxHashMap::default(),
        labels: Vec::new(),
        scopes: Vec::new(),
        covers: Span::default(),
    };
    walk.macros(macros);
    walk.inlines(tree);
    walk.globals(tree);
    for proctype in &tree.proctypes {
        walk.collect(proctype);
    }
    let claims = tree.claims.iter().map(|claim| (claim, "never"));
    let traces = tree.traces.iter().map(|claim| (claim, if claim.negated { "notrace" } else { "trace" }));
    let mut processes: Vec<Proctype> = Vec::new();
    for (claim, word) in claims.chain(traces) {
        let name = claim.name.as_ref().map_or(word.into(), |name| name.text.clone());
        let span = claim.name.as_ref().map_or(claim.span, |name| name.written);
        walk.builder.add(&name, Kind::Property, span, claim.span, word.to_owned());
        let mut process = Proctype::of_claim(claim, format!("{word} {}", processes.len()).into());
        process.closing = claim.body.last().map_or(claim.span, |last| last.span);
        processes.push(process);
    }
    for process in &processes {
        walk.collect(process);
    }
    for process in tree.proctypes.iter().chain(&processes) {
        walk.process(process);
    }
    for formula in &tree.formulas {
        let word = if formula.branching { "ctl" } else { "ltl" };
        let (title, span) = match &formula.name {
            Some(name) => (&*name.text, name.written),
            None => (word, formula.span),
        };
        walk.builder.add(title, Kind::Property, span, formula.span.to(formula.condition.span), word.to_owned());
        walk.expression(&formula.condition);
    }
    for (word, span) in &macros.words {
        if !super::syntax::KEYWORDS.contains(&&**word) {
            walk.builder.note_unread(word, *span);
        }
    }
    walk.builder
}

/// A label: its process, its scope, and its definition.
struct Label {
    process: String,
    name: String,
    scope: usize,
    number: usize,
}

struct Walk<'s> {
    builder: Builder<'s>,
    source: &'s Source,
    /// The fields of types.
    structures: FxHashMap<String, FxHashMap<String, usize>>,
    typedefs: FxHashMap<String, usize>,
    /// The types of variables and fields that have fields.
    types: FxHashMap<usize, String>,
    subtypes: FxHashMap<String, usize>,
    processes: FxHashMap<String, usize>,
    /// The variables of processes, as others see them.
    locals: FxHashMap<String, FxHashMap<String, usize>>,
    labels: Vec<Label>,
    /// The open scopes of the process being walked, by number.
    scopes: Vec<usize>,
    /// The process being walked.
    covers: Span,
}

impl Walk<'_> {
    fn macros(&mut self, macros: &Macros) {
        for text in &macros.texts {
            let kind = if text.is_number { Kind::Constant } else { Kind::Macro };
            let detail = format!("#define {}", self.builder.excerpt(text.extent));
            let number = self.builder.add(&text.name, kind, text.span, text.extent, detail);
            self.builder.enter(text.extent);
            self.parameters(number, &text.name, &text.parameters, &text.mentions);
            self.builder.leave();
        }
        for (first, text) in macros.texts.iter().enumerate() {
            // Each definition is another macro, but all have one name.
            if macros.texts[..first].iter().any(|it| it.name == text.name) {
                for it in macros.texts.iter().filter(|it| it.name == text.name) {
                    if let Some(number) = self.builder.defined_at(it.span) {
                        self.builder.definition(number).fixed = Some("it is defined several times");
                    }
                }
            }
        }
        for (span, definition) in &macros.uses {
            if let Some(number) = self.builder.defined_at(*definition) {
                self.builder.note_use(number, *span);
            }
        }
    }

    fn inlines(&mut self, tree: &Specification) {
        for inline in &tree.inlines {
            let parameters: Vec<&str> = inline.parameters.iter().map(|it| &*it.text).collect();
            let detail = format!("inline {}({})", inline.name.text, parameters.join(", "));
            let number = self.builder.add(&inline.name.text, Kind::Macro, inline.name.written, inline.span, detail);
            inline.uses.iter().for_each(|span| self.builder.note_use(number, *span));
            let parameters: Vec<_> = inline.parameters.iter().map(|it| (it.text.clone(), it.written)).collect();
            self.builder.enter(inline.span);
            self.parameters(number, &inline.name.text, &parameters, &inline.mentions);
            self.builder.leave();
        }
    }

    fn parameters(&mut self, of: usize, name: &str, parameters: &[(std::rc::Rc<str>, Span)], uses: &[(usize, Span)]) {
        let outer = self.builder.container.replace(of);
        let mut numbers = Vec::new();
        for (position, (parameter, span)) in parameters.iter().enumerate() {
            let detail = format!("a parameter of `{name}`");
            numbers.push(self.builder.add(parameter, Kind::Parameter, *span, *span, detail));
            if parameters[..position].iter().any(|(other, _)| other == parameter) {
                self.builder.note_duplicate(*span);
            }
        }
        for (position, span) in uses {
            self.builder.note_use(numbers[*position], *span);
        }
        self.builder.container = outer;
    }

    fn globals(&mut self, tree: &Specification) {
        for declaration in &tree.mtypes {
            if let Some(subtype) = &declaration.subtype {
                self.subtype(subtype);
            }
            for member in &declaration.members {
                self.declare(member, Kind::Member, member.written, format!("mtype {}", member.text));
            }
        }
        for proctype in tree.proctypes.iter().filter(|it| !it.is_init) {
            let name = &proctype.name;
            let extent = self.extent_of(proctype);
            let parameters: Vec<String> = proctype.parameters.iter().map(|it| self.text_of(it)).collect();
            let detail = format!("proctype {}({})", name.text, parameters.join("; "));
            let number = self.builder.add(&name.text, Kind::Process, name.written, extent, detail);
            if self.processes.insert(name.text.to_string(), number).is_some_and(|known| known != number) {
                self.builder.note_duplicate(name.written);
            }
        }
        for typedef in &tree.typedefs {
            let name = &typedef.name;
            let detail = format!("typedef {}", name.text);
            let number = self.builder.add(&name.text, Kind::Type, name.written, name.written, detail);
            let outer = self.builder.container.replace(number);
            let mut fields: FxHashMap<String, usize> = FxHashMap::default();
            for declaration in &typedef.fields {
                self.declaration_parts(declaration);
                for variable in &declaration.variables {
                    let (field, detail) = (&variable.name, self.detail_of(declaration, &variable.name));
                    let number = self.builder.add(&field.text, Kind::Field, field.written, field.written, detail);
                    self.note_type(number, declaration);
                    if fields.insert(field.text.to_string(), number).is_some_and(|known| known != number) {
                        self.builder.note_duplicate(field.written);
                    }
                }
            }
            self.builder.container = outer;
            if self.structures.insert(name.text.to_string(), fields).is_some() {
                self.builder.note_duplicate(name.written);
            }
            self.typedefs.insert(name.text.to_string(), number);
        }
        for declaration in &tree.globals {
            self.declare_all(declaration, Kind::Variable);
        }
        for declaration in &tree.globals {
            self.declaration_parts(declaration);
        }
    }

    fn extent_of(&self, proctype: &Proctype) -> Span {
        let file = |span: Span| self.source.file_at(span.start).1.start;
        let (first, last) = (proctype.span, proctype.closing);
        if file(first) == file(last) { first.to(last) } else { first }
    }

    fn type_name(declaration: &Declaration) -> String {
        match &declaration.ty {
            BaseType::Bit => "bit".into(),
            BaseType::Bool => "bool".into(),
            BaseType::Byte => "byte".into(),
            BaseType::Short => "short".into(),
            BaseType::Int => "int".into(),
            BaseType::Unsigned => "unsigned".into(),
            BaseType::Mtype(None) => "mtype".into(),
            BaseType::Mtype(Some(subtype)) => format!("mtype:{}", subtype.text),
            BaseType::Chan => "chan".into(),
            BaseType::Pid => "pid".into(),
            BaseType::User(name) => name.text.to_string(),
        }
    }

    fn text_of(&self, declaration: &Declaration) -> String {
        let names: Vec<&str> = declaration.variables.iter().map(|it| &*it.name.text).collect();
        format!("{} {}", Self::type_name(declaration), names.join(", "))
    }

    fn detail_of(&self, declaration: &Declaration, name: &Name) -> String {
        let variable = declaration.variables.iter().find(|it| it.name == *name);
        let size = variable.and_then(|it| it.size.as_ref()).map(|it| self.builder.excerpt(it.span));
        let size = size.map_or(String::new(), |size| format!("[{size}]"));
        let channel = variable.and_then(|it| match &it.initial {
            Some(Initial::Channel { span, .. }) => Some(format!(" = {}", self.builder.excerpt(*span))),
            Some(Initial::Value(value)) => Some(format!(" = {}", self.builder.excerpt(value.span))),
            _ => None,
        });
        format!("{} {}{size}{}", Self::type_name(declaration), name.text, channel.unwrap_or_default())
    }

    fn declare(&mut self, name: &Name, kind: Kind, extent: Span, detail: String) -> usize {
        self.builder.declare(&name.text, kind, name.written, extent, detail)
    }

    fn note_type(&mut self, number: usize, declaration: &Declaration) {
        if let BaseType::User(name) = &declaration.ty {
            self.types.insert(number, name.text.to_string());
        }
    }

    fn subtype(&mut self, name: &Name) {
        match self.subtypes.get(&*name.text) {
            Some(&number) => self.builder.note_use(number, name.written),
            None => {
                let detail = format!("mtype:{}", name.text);
                let number = self.builder.add(&name.text, Kind::Type, name.written, name.written, detail);
                self.builder.definition(number).scope = None;
                self.subtypes.insert(name.text.to_string(), number);
            }
        }
    }

    fn base_type(&mut self, ty: &BaseType) {
        match ty {
            BaseType::User(name) => match self.typedefs.get(&*name.text) {
                Some(&number) => self.builder.note_use(number, name.written),
                None => self.builder.note_unknown(&name.text, name.written),
            },
            BaseType::Mtype(Some(subtype)) => self.subtype(subtype),
            _ => {}
        }
    }

    /// What a declaration mentions.
    fn declaration_parts(&mut self, declaration: &Declaration) {
        self.base_type(&declaration.ty);
        for variable in &declaration.variables {
            variable.size.iter().chain(&variable.width).for_each(|it| self.expression(it));
            match &variable.initial {
                None => {}
                Some(Initial::Value(value)) => self.expression(value),
                Some(Initial::List(values)) => values.iter().for_each(|value| self.expression(value)),
                Some(Initial::Channel { capacity, fields, .. }) => {
                    self.expression(capacity);
                    fields.iter().for_each(|field| self.base_type(field));
                }
            }
        }
    }

    /// Declares the variables of a declaration.
    fn declare_all(&mut self, declaration: &Declaration, kind: Kind) {
        for variable in &declaration.variables {
            let detail = self.detail_of(declaration, &variable.name);
            let is_channel = declaration.ty == BaseType::Chan && kind == Kind::Variable;
            let kind = if is_channel { Kind::Channel } else { kind };
            let number = self.declare(&variable.name, kind, variable.name.written, detail);
            self.note_type(number, declaration);
        }
    }

    /// Collects the labels and variables of a process, which others may mention.
    fn collect(&mut self, process: &Proctype) {
        let name = process.name.text.to_string();
        self.covers = self.extent_of(process);
        self.builder.container = self.processes.get(&name).copied();
        self.builder.enter(self.covers);
        let mut names: FxHashMap<String, usize> = FxHashMap::default();
        let mut position = Position { process: name, next: 1 };
        for declaration in &process.parameters {
            self.declare_all(declaration, Kind::Parameter);
            for variable in &declaration.variables {
                let number = self.builder.find(&variable.name.text);
                names.extend(number.map(|number| (variable.name.text.to_string(), number)));
            }
        }
        self.collect_statements(&process.body, 0, &mut position, &mut names);
        self.builder.leave();
        self.builder.container = None;
        self.locals.insert(position.process, names);
    }

    fn collect_statements(
        &mut self,
        statements: &[Statement],
        scope: usize,
        position: &mut Position,
        names: &mut FxHashMap<String, usize>,
    ) {
        for statement in statements {
            for label in &statement.labels {
                let detail = format!("{}:", label.text);
                let number = self.builder.add(&label.text, Kind::Label, label.written, label.written, detail);
                let is_special = ["end", "progress", "accept"].iter().any(|word| label.text.starts_with(word));
                if is_special {
                    self.builder.definition(number).fixed = Some("a label of this name has a meaning of its own");
                }
                let (process, name) = (position.process.clone(), label.text.to_string());
                let same = |it: &&Label| it.process == process && it.name == name && it.scope == scope;
                if self.labels.iter().find(same).is_some_and(|it| it.number != number) {
                    self.builder.note_duplicate(label.written);
                }
                self.labels.push(Label { process, name, scope, number });
            }
            match &statement.kind {
                StatementKind::Declaration(declaration) => {
                    for variable in &declaration.variables {
                        let (name, detail) = (&variable.name, self.detail_of(declaration, &variable.name));
                        let number = self.builder.add(&name.text, Kind::Local, name.written, name.written, detail);
                        self.note_type(number, declaration);
                        names.entry(name.text.to_string()).or_insert(number);
                    }
                }
                StatementKind::If(options) | StatementKind::Do(options) => {
                    options.iter().for_each(|option| self.collect_statements(option, scope, position, names));
                }
                StatementKind::For { body, .. }
                | StatementKind::ForIn { body, .. }
                | StatementKind::Atomic(body)
                | StatementKind::DeterministicStep(body)
                | StatementKind::Block(body)
                | StatementKind::Inlined(body) => {
                    let inner = position.fresh();
                    self.collect_statements(body, inner, position, names);
                }
                StatementKind::Unless { main, escape } => {
                    self.collect_statements(std::slice::from_ref(main), scope, position, names);
                    self.collect_statements(std::slice::from_ref(escape), scope, position, names);
                }
                _ => {}
            }
        }
    }

    fn process(&mut self, process: &Proctype) {
        if let Some(Some(count)) = &process.active {
            self.expression(count);
        }
        self.covers = self.extent_of(process);
        self.builder.container = self.processes.get(&*process.name.text).copied();
        self.builder.enter(self.covers);
        let mut position = Position { process: process.name.text.to_string(), next: 1 };
        for declaration in &process.parameters {
            self.declaration_parts(declaration);
            self.declare_all(declaration, Kind::Parameter);
        }
        process.priority.iter().chain(&process.provided).for_each(|it| self.expression(it));
        self.scopes = vec![0];
        self.declare_in(&process.body);
        self.statements(&process.body, &mut position);
        self.builder.leave();
        self.builder.container = None;
    }

    /// Declares the variables of a scope: those of its statements, and of selections in it.
    fn declare_in(&mut self, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Declaration(declaration) => self.declare_all(declaration, Kind::Local),
                StatementKind::If(options) | StatementKind::Do(options) => {
                    options.iter().for_each(|option| self.declare_in(option));
                }
                StatementKind::Unless { main, escape } => {
                    self.declare_in(std::slice::from_ref(main));
                    self.declare_in(std::slice::from_ref(escape));
                }
                _ => {}
            }
        }
    }

    fn block(&mut self, body: &[Statement], position: &mut Position) {
        self.builder.enter(self.covers);
        self.scopes.push(position.fresh());
        self.declare_in(body);
        self.statements(body, position);
        self.scopes.pop();
        self.builder.leave();
    }

    fn statements(&mut self, statements: &[Statement], position: &mut Position) {
        statements.iter().for_each(|statement| self.statement(statement, position));
    }

    fn statement(&mut self, statement: &Statement, position: &mut Position) {
        match &statement.kind {
            StatementKind::Declaration(declaration) => self.declaration_parts(declaration),
            StatementKind::ChannelAssertion(channels) => channels.iter().for_each(|it| self.expression(it)),
            StatementKind::Expression(it) | StatementKind::Assert(it) => self.expression(it),
            StatementKind::Assign { target, value } => {
                self.expression(target);
                self.expression(value);
            }
            StatementKind::Send { channel, arguments, .. } | StatementKind::Receive { channel, arguments, .. } => {
                self.expression(channel);
                arguments.iter().for_each(|it| self.expression(it));
            }
            StatementKind::If(options) | StatementKind::Do(options) => {
                options.iter().for_each(|option| self.statements(option, position));
            }
            StatementKind::For { variable, from, to, body } => {
                [variable, from, to].into_iter().for_each(|it| self.expression(it));
                self.block(body, position);
            }
            StatementKind::ForIn { variable, container, body } => {
                [variable, container].into_iter().for_each(|it| self.expression(it));
                self.block(body, position);
            }
            StatementKind::Select { variable, from, to } => {
                [variable, from, to].into_iter().for_each(|it| self.expression(it));
            }
            StatementKind::Atomic(body)
            | StatementKind::DeterministicStep(body)
            | StatementKind::Block(body)
            | StatementKind::Inlined(body) => self.block(body, position),
            StatementKind::Unless { main, escape } => {
                self.statement(main, position);
                self.statement(escape, position);
            }
            StatementKind::Goto(target) => {
                match self.destination(&position.process, &target.text) {
                    Some(number) => self.builder.note_use(number, target.written),
                    None => self.builder.note_unknown(&target.text, target.written),
                };
            }
            StatementKind::Print { arguments, .. } => arguments.iter().for_each(|it| self.expression(it)),
            StatementKind::SetPriority { process, priority } => {
                self.expression(process);
                self.expression(priority);
            }
            StatementKind::Break | StatementKind::Else => {}
        }
    }

    /// The label that a jump goes to: one of the same scope, otherwise the first of an enclosing one, otherwise the last
    /// one anywhere.
    fn destination(&self, process: &str, name: &str) -> Option<usize> {
        let own = self.scopes.last();
        let mut best: Option<&Label> = None;
        for label in self.labels.iter().rev().filter(|it| it.process == process && it.name == name) {
            if Some(&label.scope) == own {
                return Some(label.number);
            }
            if self.scopes.contains(&label.scope) || best.is_none() {
                best = Some(label);
            }
        }
        best.map(|label| label.number)
    }

    fn refer_process(&mut self, name: &Name) {
        match self.processes.get(&*name.text) {
            Some(&number) => self.builder.note_use(number, name.written),
            None => self.builder.note_unknown(&name.text, name.written),
        }
    }

    /// A variable and its fields.
    fn members(&mut self, members: &[Member], first: Option<usize>) {
        members.iter().filter_map(|it| it.index.as_ref()).for_each(|index| self.expression(index));
        let Some((name, fields)) = members.split_first() else { return };
        let mut current = first.or_else(|| self.builder.find(&name.name.text));
        match current {
            Some(number) => self.builder.note_use(number, name.name.written),
            None => self.builder.note_unknown(&name.name.text, name.name.written),
        }
        for Member { name, .. } in fields {
            let structure = current.and_then(|number| self.types.get(&number));
            current = structure.and_then(|it| self.structures.get(it)?.get(&*name.text).copied());
            match current {
                Some(number) => self.builder.note_use(number, name.written),
                None => self.builder.note_unknown(&name.text, name.written),
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Number(_)
            | ExpressionKind::Truth(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::Timeout
            | ExpressionKind::NonProgress => {}
            ExpressionKind::Reference(members) => self.members(members, None),
            ExpressionKind::Unary(_, inner)
            | ExpressionKind::ChannelQuery(_, inner)
            | ExpressionKind::Eval(inner)
            | ExpressionKind::Enabled(inner)
            | ExpressionKind::PcValue(inner)
            | ExpressionKind::Priority(inner)
            | ExpressionKind::Path(_, inner) => self.expression(inner),
            ExpressionKind::Binary(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                self.expression(condition);
                self.expression(then);
                self.expression(otherwise);
            }
            ExpressionKind::Poll { channel, arguments, .. } => {
                self.expression(channel);
                arguments.iter().for_each(|it| self.expression(it));
            }
            ExpressionKind::Run { proctype, arguments, priority } => {
                self.refer_process(proctype);
                arguments.iter().for_each(|it| self.expression(it));
                priority.iter().for_each(|it| self.expression(it));
            }
            ExpressionKind::AtLabel { proctype, process, label } => {
                self.refer_process(proctype);
                process.iter().for_each(|it| self.expression(it));
                // Of several labels of one name the first is seen from outside.
                let mut labels = self.labels.iter();
                let found = labels.find(|it| *it.process == *proctype.text && *it.name == *label.text);
                match found.map(|it| it.number) {
                    Some(number) => self.builder.note_use(number, label.written),
                    None => self.builder.note_unknown(&label.text, label.written),
                }
            }
            ExpressionKind::RemoteVariable { proctype, process, variable } => {
                self.refer_process(proctype);
                process.iter().for_each(|it| self.expression(it));
                let names = self.locals.get(&*proctype.text);
                let first = variable.first().and_then(|it| names?.get(&*it.name.text).copied());
                self.members(variable, first);
            }
            ExpressionKind::Quantified(quantified) => {
                match &quantified.domain {
                    Domain::Processes(name) => self.refer_process(name),
                    Domain::Range(low, high) => {
                        self.expression(low);
                        self.expression(high);
                    }
                }
                self.builder.enter(expression.span);
                let (name, detail) = (&quantified.variable, format!("bound here: {}", quantified.variable.text));
                self.declare(name, Kind::Parameter, name.written, detail);
                self.expression(&quantified.body);
                self.builder.leave();
            }
        }
    }
}

/// The process being walked, and the number of its next scope: the same whenever it is walked.
struct Position {
    process: String,
    next: usize,
}

impl Position {
    fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}
