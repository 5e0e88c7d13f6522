//! The definitions of B machines and where they are used: those of all files of a source, with what each machine sees of
//! the others. A definition of the DEFINITIONS clause is text: names in it mean what they mean where it is used.

use std::rc::Rc;

use quotient_ir::{Source, Span};
use quotient_kit::outline::{Builder, Kind};
use quotient_temporal::syntax::{Dialect, parse};
use rustc_hash::{FxHashMap, FxHashSet};

use super::syntax;
use super::syntax::tree::{
    Component, Definition, DefinitionBody, Formula, FormulaKind, Machine, Name, Operation, Substitution,
    SubstitutionKind,
};
use super::typing::within;

/// How deep definitions may use each other, and machines mention each other.
const MOST_EXPANSIONS: usize = 40;

/// The outline of the machines of a source.
pub(super) fn outline(source: &Source) -> Builder<'_> {
    let parts = super::parts(source);
    let mut files: Vec<(String, Machine, Span)> = Vec::new();
    for part in parts {
        let start = u32::try_from(part.start).unwrap_or(u32::MAX);
        let covers = Span::new(part.start, part.end);
        files.push((source.file_at(start).0.to_owned(), syntax::parse(&source.text, part).0, covers));
    }
    let definition_files: Vec<(String, Machine)> =
        files.iter().filter(|(_, it, _)| it.name.is_none()).map(|(name, it, _)| (name.clone(), it.clone())).collect();
    let mut walk = Walk {
        builder: Builder::new(source),
        text: &source.text,
        machines: Vec::new(),
        visible: FxHashMap::default(),
        definitions: FxHashMap::default(),
        operations: FxHashMap::default(),
        depth: 0,
    };
    for (_, mut machine, covers) in files {
        if machine.name.is_some() {
            super::add_definitions(&mut machine, &definition_files, &mut Vec::new());
        }
        walk.declare_machine(machine, covers);
    }
    for number in 0..walk.machines.len() {
        let visible = walk.visible_of(number, 0);
        walk.visible.insert(number, visible);
    }
    for number in 0..walk.machines.len() {
        walk.machine(number);
    }
    walk.builder
}

/// A machine and what it declares.
struct Declared {
    machine: Rc<Machine>,
    covers: Span,
    names: FxHashMap<String, usize>,
    operations: FxHashMap<String, usize>,
}

/// The names that can be used in a machine, and the operations that can be called.
#[derive(Clone, Default)]
struct Visible {
    names: FxHashMap<String, usize>,
    operations: FxHashMap<String, usize>,
}

/// A definition of the DEFINITIONS clause, its number, and the names in it and in those it uses.
struct Text {
    definition: Definition,
    number: usize,
    names: FxHashSet<String>,
}

struct Walk<'s> {
    builder: Builder<'s>,
    text: &'s str,
    machines: Vec<Declared>,
    visible: FxHashMap<usize, Rc<Visible>>,
    /// Those of the machine being walked.
    definitions: FxHashMap<String, Rc<Text>>,
    operations: FxHashMap<String, usize>,
    depth: usize,
}

impl Walk<'_> {
    fn declare_machine(&mut self, machine: Machine, covers: Span) {
        let mut names: FxHashMap<String, usize> = FxHashMap::default();
        let mut operations = FxHashMap::default();
        if let Some(name) = &machine.name {
            let word = match machine.component {
                Component::Machine => "MACHINE",
                Component::Refinement => "REFINEMENT",
                Component::Implementation => "IMPLEMENTATION",
            };
            let detail = format!("{word} {}", name.text);
            let number = self.builder.add(&name.text, Kind::Machine, name.span, covers, detail);
            self.builder.definition(number).fixed = Some("its file has the same name");
            self.builder.container = Some(number);
        }
        let mut add = |builder: &mut Builder<'_>, name: &Name, kind, detail: String| {
            let number = builder.add(&name.text, kind, name.span, name.span, detail);
            if names.insert(name.text.to_string(), number).is_some_and(|known| known != number) {
                builder.note_duplicate(name.span);
            }
            number
        };
        for parameter in &machine.parameters {
            add(
                &mut self.builder,
                parameter,
                Kind::Constant,
                format!("a parameter of the machine: {}", parameter.text),
            );
        }
        for set in &machine.sets {
            let members: Vec<&str> = set.members.iter().flatten().map(|it| &*it.text).collect();
            let detail = match &set.members {
                Some(_) => format!("SETS {} = {{{}}}", set.name.text, members.join(", ")),
                None => format!("SETS {}", set.name.text),
            };
            let number = add(&mut self.builder, &set.name, Kind::Type, detail.clone());
            let scope = format!("scope_{}", set.name.text);
            if machine.definitions.iter().any(|it| *it.name.text == scope) {
                self.builder.definition(number).fixed = Some("a definition `scope_…` has its name");
            }
            let outer = self.builder.container.replace(number);
            for member in set.members.iter().flatten() {
                add(&mut self.builder, member, Kind::Member, detail.clone());
            }
            self.builder.container = outer;
        }
        for constant in &machine.constants {
            add(&mut self.builder, constant, Kind::Constant, format!("CONSTANTS {}", constant.text));
        }
        for variable in &machine.variables {
            add(&mut self.builder, variable, Kind::Variable, format!("VARIABLES {}", variable.text));
        }
        for operation in &machine.operations {
            let (name, span) = (&operation.name, operation.span);
            let number = self.builder.add(&name.text, Kind::Operation, name.span, span, header(operation));
            if operations.insert(name.text.to_string(), number).is_some() {
                self.builder.note_duplicate(name.span);
            }
        }
        for definition in &machine.definitions {
            self.declare_definition(definition);
        }
        if let Some(invariant) = &machine.invariant {
            self.builder.add("INVARIANT", Kind::Property, invariant.span, invariant.span, String::new());
        }
        for assertion in &machine.assertions {
            let title = self.builder.excerpt(assertion.span);
            self.builder.add(&title, Kind::Property, assertion.span, assertion.span, String::new());
        }
        self.builder.container = None;
        self.machines.push(Declared { machine: Rc::new(machine), covers, names, operations });
    }

    fn declare_definition(&mut self, definition: &Definition) -> usize {
        let (name, body) = (&definition.name, &definition.body);
        let end = match body {
            DefinitionBody::Formula(body) => body.span,
            DefinitionBody::Substitution(body) => body.span,
        };
        let extent = name.span.to(end);
        let is_claim =
            name.text.starts_with("ASSERT_LTL") || name.text.starts_with("ASSERT_CTL") || &*name.text == "GOAL";
        let kind = if is_claim { Kind::Property } else { Kind::Macro };
        let detail = self.builder.excerpt(extent);
        let number = self.builder.add(&name.text, kind, name.span, extent, detail);
        let is_setting = ["SET_PREF_", "scope_", "SCOPE", "ANIMATION_", "CUSTOM_", "HEURISTIC_"];
        if is_claim || is_setting.iter().any(|it| name.text.starts_with(it)) {
            self.builder.definition(number).fixed = Some("this name has a meaning of its own");
        }
        number
    }

    /// The machine of a name, which may have a prefix.
    fn machine_named(&self, name: &str) -> Option<usize> {
        let name = name.rsplit('.').next().unwrap_or(name);
        self.machines.iter().position(|it| it.machine.name.as_ref().is_some_and(|known| &*known.text == name))
    }

    /// What can be used in a machine.
    fn visible_of(&mut self, number: usize, depth: usize) -> Rc<Visible> {
        if let Some(known) = self.visible.get(&number) {
            return known.clone();
        }
        let machine = self.machines[number].machine.clone();
        let mut visible = Visible::default();
        if depth > MOST_EXPANSIONS {
            return Rc::new(visible);
        }
        if let Some(refined) = machine.refines.as_ref().and_then(|name| self.machine_named(&name.text)) {
            visible = (*self.visible_of(refined, depth + 1)).clone();
        }
        let own = &self.machines[number];
        for (own, all) in [(&own.names, &mut visible.names), (&own.operations, &mut visible.operations)] {
            for (name, &declared) in own {
                if let Some(abstraction) = all.insert(name.clone(), declared) {
                    for same in [abstraction, declared] {
                        self.builder.definition(same).fixed = Some("a refinement has the same name");
                    }
                }
            }
        }
        let groups = [&machine.sees, &machine.uses, &machine.includes, &machine.imports, &machine.extends];
        for reference in groups.into_iter().flatten() {
            let Some(other) = self.machine_named(&reference.name.text) else { continue };
            let prefix = reference.name.text.rsplit_once('.').map(|(prefix, _)| format!("{prefix}."));
            let prefix = prefix.unwrap_or_default();
            let of_other = self.visible_of(other, depth + 1);
            for (name, &declared) in &of_other.names {
                let is_variable = self.builder.definition(declared).kind == Kind::Variable;
                let seen = if is_variable { format!("{prefix}{name}") } else { name.clone() };
                visible.names.entry(seen).or_insert(declared);
            }
            for (name, &declared) in &of_other.operations {
                visible.operations.entry(format!("{prefix}{name}")).or_insert(declared);
            }
        }
        Rc::new(visible)
    }

    fn machine(&mut self, number: usize) {
        let Declared { machine, covers, .. } = &self.machines[number];
        let (machine, covers) = (machine.clone(), *covers);
        let visible = self.visible[&number].clone();
        self.builder.container = machine.name.as_ref().and_then(|name| self.builder.defined_at(name.span));
        self.builder.enter(covers);
        for (name, &declared) in &visible.names {
            self.builder.hide(name, declared);
        }
        self.operations.clone_from(&visible.operations);
        self.read_definitions(&machine);
        let groups = [&machine.sees, &machine.uses, &machine.includes, &machine.imports, &machine.extends];
        for reference in groups.into_iter().flatten() {
            self.refer_machine(&reference.name);
            reference.arguments.iter().for_each(|argument| self.formula(argument));
        }
        machine.refines.iter().for_each(|name| self.refer_machine(name));
        machine.promotes.iter().for_each(|name| self.refer_operation(name));
        for text in self.definitions.values().cloned().collect::<Vec<_>>() {
            self.body(&text, covers);
        }
        let clauses = [&machine.constraints, &machine.properties, &machine.invariant];
        clauses.into_iter().flatten().chain(&machine.assertions).for_each(|clause| self.formula(clause));
        for (name, value) in &machine.values {
            self.name(&name.text, name.span);
            self.formula(value);
        }
        machine.initialisation.iter().for_each(|it| self.substitution(it));
        for operation in &machine.operations {
            let outer = self.builder.container;
            self.builder.container = self.builder.defined_at(operation.name.span);
            self.bound(&operation.parameters, operation.span, |walk| {
                walk.bound(&operation.outputs, operation.span, |walk| walk.substitution(&operation.body));
            });
            self.builder.container = outer;
        }
        self.builder.leave();
        self.builder.container = None;
    }

    /// Collects the definitions of a machine with the names in them.
    fn read_definitions(&mut self, machine: &Machine) {
        self.definitions.clear();
        let mut all: FxHashMap<String, (usize, Definition, FxHashSet<String>)> = FxHashMap::default();
        for definition in &machine.definitions {
            let number = self.declare_definition(definition);
            let mut names = FxHashSet::default();
            match &definition.body {
                DefinitionBody::Formula(body) => names_in(body, &mut names),
                DefinitionBody::Substitution(body) => names_in_substitution(body, &mut names),
            }
            let name = definition.name.text.to_string();
            if all.contains_key(&name) {
                self.builder.note_duplicate(definition.name.span);
            }
            all.insert(name, (number, definition.clone(), names));
        }
        loop {
            let before: usize = all.values().map(|(_, _, names)| names.len()).sum();
            let known: FxHashMap<String, FxHashSet<String>> =
                all.iter().map(|(name, (_, _, names))| (name.clone(), names.clone())).collect();
            for (_, _, names) in all.values_mut() {
                let inner: Vec<&FxHashSet<String>> = names.iter().filter_map(|name| known.get(name)).collect();
                let more: Vec<String> = inner.into_iter().flatten().cloned().collect();
                names.extend(more);
            }
            if all.values().map(|(_, _, names)| names.len()).sum::<usize>() == before {
                break;
            }
        }
        for (name, (number, definition, names)) in all {
            self.definitions.insert(name, Rc::new(Text { definition, number, names }));
        }
    }

    /// The body of a definition, with the names that are visible here.
    fn body(&mut self, text: &Text, covers: Span) {
        let is_text = |body: &Formula| matches!(body.kind, FormulaKind::Text(_));
        let name = &text.definition.name.text;
        match &text.definition.body {
            DefinitionBody::Formula(body) if is_text(body) && name.starts_with("ASSERT_") => self.claim(body.span),
            DefinitionBody::Formula(body) => {
                self.bound(&text.definition.parameters, covers, |walk| walk.formula(body));
            }
            DefinitionBody::Substitution(body) => {
                self.bound(&text.definition.parameters, covers, |walk| walk.substitution(body));
            }
        }
    }

    /// A temporal formula in a string.
    fn claim(&mut self, quoted: Span) {
        let span = Span { start: quoted.start + 1, end: quoted.end.saturating_sub(1) };
        let Some(text) = self.text.get(span.range()) else { return };
        let Ok(tree) = parse(text, &Dialect::prob()) else { return };
        for part in tree.atoms() {
            let atom = within(part, span);
            let is_bracketed = part.of(text).starts_with(['{', '[']);
            let inside = if is_bracketed { Span { start: atom.start + 1, end: atom.end - 1 } } else { atom };
            let (Some(formula), _) = syntax::parse_formula(self.text, inside.range()) else { continue };
            if part.of(text).starts_with('{') {
                self.formula(&formula);
            } else {
                self.step(&formula);
            }
        }
    }

    /// An atom about steps: names in it are operations first.
    fn step(&mut self, formula: &Formula) {
        match &formula.kind {
            FormulaKind::Name(name) if self.operations.contains_key(&**name) => {
                let (text, span) = (name.clone(), formula.span);
                self.refer_operation(&Name { text, span });
            }
            FormulaKind::Apply(function, arguments) => {
                self.step(function);
                arguments.iter().for_each(|argument| self.step(argument));
            }
            _ => self.formula(formula),
        }
    }

    /// Walks something with bound names.
    fn bound(&mut self, names: &[Name], covers: Span, walk: impl FnOnce(&mut Self)) {
        self.builder.enter(covers);
        for name in names {
            let detail = format!("bound here: {}", name.text);
            self.builder.declare(&name.text, Kind::Parameter, name.span, name.span, detail);
        }
        walk(self);
        self.builder.leave();
    }

    fn refer_machine(&mut self, name: &Name) {
        let own = self.machine_named(&name.text);
        let place = own.and_then(|number| self.machines[number].machine.name.as_ref()).map(|name| name.span);
        match place.and_then(|place| self.builder.defined_at(place)) {
            Some(number) => self.note_use(number, name.span),
            None => self.builder.note_unknown(&name.text, name.span),
        }
    }

    fn refer_operation(&mut self, name: &Name) {
        match self.operations.get(&*name.text).copied() {
            Some(number) => self.note_use(number, name.span),
            None => self.builder.note_unknown(&name.text, name.span),
        }
    }

    /// A use, perhaps with a prefix.
    fn note_use(&mut self, number: usize, span: Span) {
        let length = self.builder.definition(number).name.len() as u32;
        let is_prefixed = self.text.get(span.range()).is_some_and(|text| text.contains('.'));
        let start = if is_prefixed { span.end - length.min(span.end) } else { span.start };
        self.builder.note_use(number, Span { start, ..span });
    }

    fn name(&mut self, name: &str, span: Span) {
        if let Some(number) = self.builder.find(name) {
            return self.note_use(number, span);
        }
        match self.definitions.get(name).cloned() {
            Some(text) => self.insert(&text, span),
            None => self.builder.note_unknown(name, span),
        }
    }

    /// The use of a definition. Its text is walked again where a name in it means something else than in the machine.
    fn insert(&mut self, text: &Rc<Text>, span: Span) {
        self.builder.note_use(text.number, span);
        let differs = |name: &String| self.builder.is_local(name, 2);
        if self.depth < MOST_EXPANSIONS && text.names.iter().any(differs) {
            self.depth += 1;
            self.body(text, span);
            self.depth -= 1;
        }
    }

    fn formulas(&mut self, formulas: &[Formula]) {
        formulas.iter().for_each(|formula| self.formula(formula));
    }

    fn formula(&mut self, formula: &Formula) {
        let span = formula.span;
        match &formula.kind {
            FormulaKind::Number(_) | FormulaKind::Text(_) | FormulaKind::Word(_) => {}
            FormulaKind::Name(name) => self.name(name, span),
            FormulaKind::Before(name) => {
                self.name(name, Span { start: span.start, end: span.start + name.len() as u32 });
            }
            FormulaKind::Unary(_, operand) | FormulaKind::Inverse(operand) | FormulaKind::Truth(operand) => {
                self.formula(operand);
            }
            FormulaKind::Field(record, _) => self.formula(record),
            FormulaKind::Binary(_, left, right) | FormulaKind::Image(left, right) => {
                self.formula(left);
                self.formula(right);
            }
            FormulaKind::Apply(function, arguments) => {
                self.formula(function);
                self.formulas(arguments);
            }
            FormulaKind::Extension(members) | FormulaKind::Sequence(members) => self.formulas(members),
            FormulaKind::Comprehension(names, body) | FormulaKind::Quantified(_, names, body) => {
                self.bound(names, span, |walk| walk.formula(body));
            }
            FormulaKind::Binder(_, names, condition, body) | FormulaKind::Let(names, condition, body) => {
                self.bound(names, span, |walk| {
                    walk.formula(condition);
                    walk.formula(body);
                });
            }
            FormulaKind::Record(_, fields) => fields.iter().for_each(|(_, value)| self.formula(value)),
            FormulaKind::Conditional(condition, then, otherwise) => {
                self.formula(condition);
                self.formula(then);
                self.formula(otherwise);
            }
        }
    }

    fn substitutions(&mut self, parts: &[Substitution]) {
        parts.iter().for_each(|part| self.substitution(part));
    }

    fn substitution(&mut self, substitution: &Substitution) {
        let span = substitution.span;
        match &substitution.kind {
            SubstitutionKind::Skip => {}
            SubstitutionKind::Assign(targets, values) => {
                self.formulas(targets);
                self.formulas(values);
            }
            SubstitutionKind::Choose(targets, value) | SubstitutionKind::Become(targets, value) => {
                self.formulas(targets);
                self.formula(value);
            }
            SubstitutionKind::Parallel(parts) | SubstitutionKind::Sequence(parts) | SubstitutionKind::Choice(parts) => {
                self.substitutions(parts);
            }
            SubstitutionKind::Block(body) => self.substitution(body),
            SubstitutionKind::Precondition(condition, body) | SubstitutionKind::Assert(condition, body) => {
                self.formula(condition);
                self.substitution(body);
            }
            SubstitutionKind::If(branches, otherwise) | SubstitutionKind::Select(branches, otherwise) => {
                for (condition, body) in branches {
                    self.formula(condition);
                    self.substitution(body);
                }
                otherwise.iter().for_each(|body| self.substitution(body));
            }
            SubstitutionKind::Any(names, condition, body) | SubstitutionKind::Let(names, condition, body) => {
                self.bound(names, span, |walk| {
                    walk.formula(condition);
                    walk.substitution(body);
                });
            }
            SubstitutionKind::Var(names, body) => self.bound(names, span, |walk| walk.substitution(body)),
            SubstitutionKind::Case(subject, cases, otherwise) => {
                self.formula(subject);
                for (values, body) in cases {
                    self.formulas(values);
                    self.substitution(body);
                }
                otherwise.iter().for_each(|body| self.substitution(body));
            }
            SubstitutionKind::While { condition, body, invariant, variant } => {
                self.formula(condition);
                self.substitution(body);
                invariant.iter().chain(variant).for_each(|formula| self.formula(formula));
            }
            SubstitutionKind::Call { outputs, operation, arguments } => {
                self.formulas(outputs);
                self.formulas(arguments);
                let text = self.definitions.get(&*operation.text).cloned();
                match text.filter(|it| matches!(it.definition.body, DefinitionBody::Substitution(_))) {
                    Some(text) => self.insert(&text, operation.span),
                    None => self.refer_operation(operation),
                }
            }
        }
    }
}

/// `x, y <-- operation(a, b)`
fn header(operation: &Operation) -> String {
    let list = |names: &[Name]| names.iter().map(|it| &*it.text).collect::<Vec<_>>().join(", ");
    let outputs = list(&operation.outputs);
    let outputs = if outputs.is_empty() { outputs } else { format!("{outputs} <-- ") };
    let parameters = list(&operation.parameters);
    let parameters = if parameters.is_empty() { parameters } else { format!("({parameters})") };
    format!("{outputs}{}{parameters}", operation.name.text)
}

/// All names in a formula.
fn names_in(formula: &Formula, names: &mut FxHashSet<String>) {
    let mut pending = vec![formula];
    while let Some(formula) = pending.pop() {
        match &formula.kind {
            FormulaKind::Number(_) | FormulaKind::Text(_) | FormulaKind::Word(_) => {}
            FormulaKind::Name(name) | FormulaKind::Before(name) => {
                names.insert(name.to_string());
            }
            FormulaKind::Unary(_, one)
            | FormulaKind::Inverse(one)
            | FormulaKind::Truth(one)
            | FormulaKind::Field(one, _)
            | FormulaKind::Comprehension(_, one)
            | FormulaKind::Quantified(_, _, one) => pending.push(one),
            FormulaKind::Binary(_, one, other)
            | FormulaKind::Image(one, other)
            | FormulaKind::Binder(_, _, one, other)
            | FormulaKind::Let(_, one, other) => pending.extend([&**one, &**other]),
            FormulaKind::Apply(function, arguments) => {
                pending.push(function);
                pending.extend(arguments);
            }
            FormulaKind::Extension(members) | FormulaKind::Sequence(members) => pending.extend(members),
            FormulaKind::Record(_, fields) => pending.extend(fields.iter().map(|(_, value)| value)),
            FormulaKind::Conditional(condition, then, otherwise) => {
                pending.extend([&**condition, &**then, &**otherwise]);
            }
        }
    }
}

/// All names in a substitution.
fn names_in_substitution(substitution: &Substitution, names: &mut FxHashSet<String>) {
    let mut pending = vec![substitution];
    while let Some(substitution) = pending.pop() {
        match &substitution.kind {
            SubstitutionKind::Skip => {}
            SubstitutionKind::Assign(targets, values) => {
                targets.iter().chain(values).for_each(|it| names_in(it, names));
            }
            SubstitutionKind::Choose(targets, value) | SubstitutionKind::Become(targets, value) => {
                targets.iter().for_each(|it| names_in(it, names));
                names_in(value, names);
            }
            SubstitutionKind::Parallel(parts) | SubstitutionKind::Sequence(parts) | SubstitutionKind::Choice(parts) => {
                pending.extend(parts);
            }
            SubstitutionKind::Block(body) | SubstitutionKind::Var(_, body) => pending.push(body),
            SubstitutionKind::Precondition(condition, body)
            | SubstitutionKind::Assert(condition, body)
            | SubstitutionKind::Any(_, condition, body)
            | SubstitutionKind::Let(_, condition, body) => {
                names_in(condition, names);
                pending.push(body);
            }
            SubstitutionKind::If(branches, otherwise) | SubstitutionKind::Select(branches, otherwise) => {
                for (condition, body) in branches {
                    names_in(condition, names);
                    pending.push(body);
                }
                pending.extend(otherwise.as_deref());
            }
            SubstitutionKind::Case(subject, cases, otherwise) => {
                names_in(subject, names);
                for (values, body) in cases {
                    values.iter().for_each(|it| names_in(it, names));
                    pending.push(body);
                }
                pending.extend(otherwise.as_deref());
            }
            SubstitutionKind::While { condition, body, invariant, variant } => {
                names_in(condition, names);
                invariant.iter().chain(variant).for_each(|it| names_in(it, names));
                pending.push(body);
            }
            SubstitutionKind::Call { outputs, operation, arguments } => {
                names.insert(operation.text.to_string());
                outputs.iter().chain(arguments).for_each(|it| names_in(it, names));
            }
        }
    }
}
