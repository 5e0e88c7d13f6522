//! Composition of machines: what a machine includes, sees and refines, and then its own clauses.

use std::rc::Rc;
use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};
use quotient_kit::watched::WATCHED;
use rustc_hash::FxHashMap;

use super::super::core::{Expr, GivenSet, Kind, Operation, Operator, SymbolKind};
use super::super::syntax::tree::{self, Component, Machine, Name, Reference};
use super::super::types::{SetId, Type};
use super::{Callable, Elaborator, Entry, Instance, Mention};

/// The maximum depth of inclusion.
const MAXIMUM_INCLUSIONS: usize = 20;

/// The role of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The machine that is checked.
    Main,
    /// Included, imported, extended, seen or used: a part of the state.
    Included,
    /// Refined by the main machine: only its sets and constants count.
    Refined,
}

impl Elaborator<'_> {
    pub(super) fn compose(&mut self, machine: &Rc<Machine>) {
        let main = self.machine(machine, None, &[], Role::Main, 0);
        self.offer_seen_operations();
        self.instance = main;
        self.temporal_formulas(machine);
    }

    /// The operations of machines that are seen or used but not included: an unknown owner calls them at any time, as
    /// in ProB. An included machine changes only through the machine that includes it.
    fn offer_seen_operations(&mut self) {
        let mut done: Vec<usize> = Vec::new();
        for (part, prefix) in std::mem::take(&mut self.seen) {
            if self.owned.contains(&part) || done.contains(&part) {
                continue;
            }
            done.push(part);
            for name in self.instances[part].offered.clone() {
                let shown = prefixed(prefix.as_deref(), &name);
                if let Some(callable) = self.instances[part].operations.get(&name).cloned() {
                    self.instance = callable.instance;
                    self.operation(&callable.operation, Some(shown));
                }
            }
        }
    }

    /// Elaborates a machine and everything it mentions; the position of its instance.
    fn machine(
        &mut self,
        machine: &Rc<Machine>,
        prefix: Option<&str>,
        arguments: &[Expr],
        role: Role,
        depth: usize,
    ) -> usize {
        let mut instance = Instance::default();
        if machine.component != Component::Machine {
            self.refined(machine, &mut instance, depth);
        }
        let mut promoted: Vec<(Arc<str>, Callable)> = Vec::new();
        let parts = [
            (&machine.sees, Mention::Sees),
            (&machine.uses, Mention::Sees),
            (&machine.includes, Mention::Includes),
            (&machine.imports, Mention::Includes),
            (&machine.extends, Mention::Extends),
        ];
        // The arguments of included machines use names of this machine, so it must exist already.
        let position = self.instances.len();
        self.instances.push(instance);
        self.declare_own(machine, prefix, arguments, role, position);
        for (references, mention) in parts {
            for reference in references {
                self.include(reference, mention, position, role, depth, &mut promoted);
            }
        }
        for name in &machine.promotes {
            match self.instances[position].operations.get(&name.text).cloned() {
                Some(_) if promoted.iter().any(|(known, _)| *known == name.text) => {}
                Some(callable) => promoted.push((name.text.clone(), callable)),
                None => {
                    let message = format!("there is no operation `{}` to promote", name.text);
                    self.error("unknown-operation", message, name.span);
                }
            }
        }
        let own = machine.operations.iter().map(|operation| operation.name.text.clone());
        let offered: Vec<Arc<str>> = own.chain(promoted.iter().map(|(name, _)| name.clone())).collect();
        self.instances[position].offered = offered;
        self.clauses(machine, role, position);
        if role == Role::Main {
            for (name, callable) in promoted {
                let outer = std::mem::replace(&mut self.instance, callable.instance);
                self.operation(&callable.operation, Some(name));
                self.instance = outer;
            }
        } else {
            let names: Vec<_> = promoted.into_iter().collect();
            self.instances[position].operations.extend(names);
        }
        position
    }

    /// What a refinement inherits from the machine it refines.
    fn refined(&mut self, machine: &Machine, instance: &mut Instance, depth: usize) {
        let Some(name) = &machine.refines else {
            let span = machine.name.as_ref().map_or(Span::default(), |name| name.span);
            let diagnostic = Diagnostic::error("no-refines", "a refinement says what it refines", span)
                .with_help("add `REFINES Name` after its first line");
            self.report(diagnostic);
            return;
        };
        let Some(abstraction) = self.find(name, depth) else {
            return;
        };
        let position = self.machine(&abstraction, None, &[], Role::Refined, depth + 1);
        instance.names.clone_from(&self.instances[position].names);
        instance.operations.clone_from(&self.instances[position].operations);
    }

    fn find(&mut self, name: &Name, depth: usize) -> Option<Rc<Machine>> {
        if depth >= MAXIMUM_INCLUSIONS {
            self.error("inclusion", format!("`{}` includes itself", name.text), name.span);
            return None;
        }
        let found = self.machines.get(&*name.text).cloned();
        if found.is_none() {
            let diagnostic =
                Diagnostic::error("unknown-machine", format!("there is no machine `{}`", name.text), name.span)
                    .with_help(format!("put `{0}.mch` or `{0}.ref` into the folder of this machine", name.text));
            self.report(diagnostic);
        }
        found
    }

    fn include(
        &mut self,
        reference: &Reference,
        mention: Mention,
        position: usize,
        role: Role,
        depth: usize,
        promoted: &mut Vec<(Arc<str>, Callable)>,
    ) {
        // `left.Counter` is the machine `Counter`, its variables and operations named `left.…`.
        let full = &reference.name.text;
        let (prefix, name) = match full.rsplit_once('.') {
            Some((prefix, name)) => (Some(prefix), name),
            None => (None, &**full),
        };
        let name = Name { text: Arc::from(name), span: reference.name.span };
        let Some(machine) = self.find(&name, depth) else {
            return;
        };
        self.instance = position;
        let arguments: Vec<Expr> = reference.arguments.iter().map(|argument| self.formula(argument)).collect();
        let key = (role == Role::Refined, full.to_string());
        // A machine that sees or uses another leaves its parameters to the one that includes it.
        let is_settled = mention == Mention::Sees && arguments.is_empty() && self.known_instances.contains_key(&key);
        if arguments.len() != machine.parameters.len() && !is_settled {
            let message =
                format!("`{}` has {} parameters, not {}", name.text, machine.parameters.len(), arguments.len());
            self.error("arity", message, reference.name.span);
            return;
        }
        let part = match self.known_instances.get(&key) {
            // A machine that several others see has one instance.
            Some(&part) => part,
            None => {
                let part = self.machine(
                    &machine,
                    prefix,
                    &arguments,
                    if role == Role::Refined { role } else { Role::Included },
                    depth + 1,
                );
                self.known_instances.insert(key, part);
                part
            }
        };
        self.instance = position;
        match mention {
            _ if role == Role::Refined => {}
            Mention::Sees => self.seen.push((part, prefix.map(str::to_owned))),
            Mention::Includes | Mention::Extends => {
                self.owned.insert(part);
            }
        }
        let visible = self.instances[part].clone();
        for (known, entry) in visible.names {
            let is_variable =
                matches!(entry, Entry::Symbol(symbol) if self.core.symbols[symbol.0].kind != SymbolKind::Constant);
            let seen = if is_variable { prefixed(prefix, &known) } else { known };
            // What a refinement itself sees or includes is available, whatever the refined machine sees.
            let is_abstract = matches!(self.instances[position].names.get(&seen),
                Some(Entry::Symbol(symbol)) if self.core.symbols[symbol.0].kind == SymbolKind::Abstract);
            if is_abstract && is_variable {
                self.instances[position].names.insert(seen, entry);
            } else {
                self.instances[position].names.entry(seen).or_insert(entry);
            }
        }
        for known in visible.offered {
            let Some(callable) = visible.operations.get(&known).cloned() else {
                continue;
            };
            let seen = prefixed(prefix, &known);
            if mention == Mention::Extends {
                promoted.push((seen.clone(), callable.clone()));
            }
            self.instances[position].operations.insert(seen, callable);
        }
    }

    fn declare(&mut self, position: usize, name: &Name, entry: Entry) {
        let names = &mut self.instances[position].names;
        if names.insert(name.text.clone(), entry).is_some() {
            names.insert(name.text.clone(), Entry::Poisoned);
            self.error("duplicate-name", format!("`{}` is declared twice", name.text), name.span);
        }
    }

    /// Declares the sets, constants, variables, definitions and operations of a machine.
    fn declare_own(
        &mut self,
        machine: &Rc<Machine>,
        prefix: Option<&str>,
        arguments: &[Expr],
        role: Role,
        position: usize,
    ) {
        self.parameters(machine, arguments, position);
        let machine_name = machine.name.as_ref().map(|name| name.text.to_string()).unwrap_or_default();
        if let Some(known) = self.known_sets.get(&machine_name) {
            let known = known.clone();
            self.instances[position].names.extend(known);
        } else {
            let before: Vec<Arc<str>> = self.instances[position].names.keys().cloned().collect();
            for set in &machine.sets {
                self.declare_set(set, position);
            }
            for name in &machine.constants {
                // A refinement may make an abstract constant concrete.
                if machine.component != Component::Machine && self.instances[position].names.contains_key(&name.text) {
                    continue;
                }
                let symbol = self.symbol(name, SymbolKind::Constant);
                self.core.constants.push(symbol);
                self.declare(position, name, Entry::Symbol(symbol));
            }
            let own: FxHashMap<Arc<str>, Entry> = self.instances[position]
                .names
                .iter()
                .filter(|(name, _)| !before.contains(name))
                .map(|(name, entry)| (name.clone(), entry.clone()))
                .collect();
            self.known_sets.insert(machine_name, own);
        }
        for name in &machine.variables {
            let kind = if role == Role::Refined { SymbolKind::Abstract } else { SymbolKind::Variable };
            let shown = match prefix {
                Some(prefix) => Name { text: Arc::from(format!("{prefix}.{}", name.text)), span: name.span },
                None => name.clone(),
            };
            let symbol = self.symbol(&shown, kind);
            if role != Role::Refined {
                self.core.variables.push(symbol);
            }
            // A variable of a refinement with the name of an abstract one is the same variable.
            if machine.component != Component::Machine
                && let Some(Entry::Symbol(abstraction)) = self.instances[position].names.get(&name.text)
                && self.core.symbols[abstraction.0].kind == SymbolKind::Abstract
            {
                self.core.symbols[symbol.0].ty = self.core.symbols[abstraction.0].ty.clone();
                self.instances[position].names.remove(&name.text);
            }
            self.declare(position, name, Entry::Symbol(symbol));
        }
        for definition in &machine.definitions {
            let name = definition.name.text.clone();
            if self.instances[position].definitions.insert(name.clone(), Rc::new(definition.clone())).is_some() {
                self.error("duplicate-name", format!("`{name}` is defined twice"), definition.name.span);
            }
        }
        let mut own: Vec<&str> = Vec::new();
        for operation in &machine.operations {
            if own.contains(&&*operation.name.text) {
                self.error(
                    "duplicate-name",
                    format!("the operation `{}` is declared twice", operation.name.text),
                    operation.name.span,
                );
            }
            own.push(&operation.name.text);
            let callable = Callable { operation: Rc::new(operation.clone()), instance: position };
            self.instances[position].operations.insert(operation.name.text.clone(), callable);
        }
    }

    /// The parameters of a machine: sets if in capitals, else constants; of an included machine, what
    /// they are given.
    fn parameters(&mut self, machine: &Machine, arguments: &[Expr], position: usize) {
        for (index, name) in machine.parameters.iter().enumerate() {
            let is_set = !name.text.chars().any(char::is_lowercase);
            // A refinement has the parameters of what it refines.
            if machine.component != Component::Machine
                && arguments.is_empty()
                && self.instances[position].names.contains_key(&name.text)
            {
                continue;
            }
            match arguments.get(index) {
                Some(argument) => {
                    if let (true, Kind::GivenSet(set)) = (is_set, &argument.kind) {
                        let set = *set;
                        self.declare(position, name, Entry::Set(set));
                    } else {
                        let symbol = self.symbol(name, SymbolKind::Constant);
                        self.core.constants.push(symbol);
                        self.core.symbols[symbol.0].ty = argument.ty.clone();
                        self.declare(position, name, Entry::Symbol(symbol));
                        let own = Expr { kind: Kind::Symbol(symbol), ty: argument.ty.clone(), span: argument.span };
                        let sides = vec![own, argument.clone()];
                        self.core.properties.push(Expr::operation(
                            Operator::Equal,
                            sides,
                            Type::Predicate,
                            argument.span,
                        ));
                    }
                }
                None if is_set => {
                    self.declare_set(&tree::SetDeclaration { name: name.clone(), members: None }, position)
                }
                None => {
                    let symbol = self.symbol(name, SymbolKind::Constant);
                    self.core.constants.push(symbol);
                    self.declare(position, name, Entry::Symbol(symbol));
                }
            }
        }
    }

    fn declare_set(&mut self, declaration: &tree::SetDeclaration, position: usize) {
        let set = SetId(self.core.sets.len());
        let members = declaration.members.as_ref();
        self.core.sets.push(GivenSet {
            name: declaration.name.text.clone(),
            members: members.map(|them| them.iter().map(|name| name.text.clone()).collect()).unwrap_or_default(),
            is_deferred: members.is_none(),
            span: declaration.name.span,
        });
        self.declare(position, &declaration.name, Entry::Set(set));
        for (index, member) in members.into_iter().flatten().enumerate() {
            self.declare(position, member, Entry::Member(set, index));
        }
    }

    /// The clauses that are formulas and substitutions.
    fn clauses(&mut self, machine: &Machine, role: Role, position: usize) {
        self.instance = position;
        for clause in [&machine.constraints, &machine.properties].into_iter().flatten() {
            let predicate = self.predicate(clause);
            let conjuncts: Vec<Expr> = predicate.conjuncts().into_iter().cloned().collect();
            self.core.properties.extend(conjuncts);
        }
        for (name, value) in &machine.values {
            self.valuation(name, value);
        }
        if let Some(clause) = &machine.invariant {
            let predicate = self.predicate(clause);
            for conjunct in predicate.conjuncts() {
                let mut abstraction = None;
                conjunct.symbols(&mut |symbol| {
                    if self.core.symbols[symbol.0].kind == SymbolKind::Abstract {
                        abstraction = Some(symbol);
                    }
                });
                match abstraction {
                    Some(symbol) if role != Role::Refined => {
                        let name = self.core.symbols[symbol.0].name.clone();
                        let diagnostic = Diagnostic::warning(
                            "gluing-invariant",
                            format!("not checked: this depends on the abstract variable `{name}`"),
                            conjunct.span,
                        );
                        self.report(diagnostic);
                    }
                    _ if role == Role::Refined => {}
                    _ => {
                        let claim = self.claim(conjunct.clone());
                        self.core.invariant.push(claim);
                    }
                }
            }
        }
        for assertion in &machine.assertions {
            let predicate = self.predicate(assertion);
            let mut is_abstract = role == Role::Refined;
            predicate.symbols(&mut |symbol| is_abstract |= self.core.symbols[symbol.0].kind == SymbolKind::Abstract);
            if !is_abstract {
                let claim = self.claim(predicate);
                self.core.assertions.push(claim);
            }
        }
        if role == Role::Refined {
            return;
        }
        if role == Role::Main
            && let Some(definition) = self.definition("GOAL")
            && let tree::DefinitionBody::Formula(body) = &definition.body
        {
            let condition = self.predicate(body);
            self.core.goal = Some(super::super::core::Claim { name: "GOAL".into(), condition });
        }
        if role == Role::Main
            && let Some(definition) = self.definition(WATCHED)
            && let tree::DefinitionBody::Formula(body) = &definition.body
        {
            let value = self.formula(body);
            self.settle_products(false);
            let symbol = self.symbol(&definition.name, SymbolKind::Bound);
            // Nothing else mentions it.
            self.core.symbols[symbol.0].ty = Type::Error;
            self.core.watched = Some((symbol, value));
        }
        match &machine.initialisation {
            Some(initialisation) => {
                let initialisation = self.substitution(initialisation);
                self.core.initialisation.push(initialisation);
            }
            None if !machine.variables.is_empty() => {
                let diagnostic = Diagnostic::error(
                    "no-initialisation",
                    "the variables are never initialised",
                    machine.variables[0].span,
                )
                .with_help("add an INITIALISATION clause");
                self.report(diagnostic);
            }
            None => {}
        }
        if role == Role::Main {
            for operation in &machine.operations {
                self.operation(operation, None);
            }
        } else {
            // Typed once even if never called, so that its errors are known.
            let kept = self.core.operations.len();
            for operation in &machine.operations {
                self.operation(operation, None);
            }
            self.core.operations.truncate(kept);
        }
    }

    /// `VALUES x = E`, of an implementation.
    fn valuation(&mut self, name: &Name, value: &tree::Formula) {
        let value = self.formula(value);
        match self.lookup(&name.text) {
            Some(Entry::Symbol(symbol)) => {
                let ty = self.core.symbols[symbol.0].ty.clone();
                self.expect(&value, &ty);
                let own = Expr { kind: Kind::Symbol(symbol), ty, span: name.span };
                self.core.properties.push(Expr::operation(
                    Operator::Equal,
                    vec![own, value],
                    Type::Predicate,
                    name.span,
                ));
            }
            Some(Entry::Set(_)) => {
                let diagnostic = Diagnostic::error(
                    "unsupported",
                    format!("a value for the set `{}` is not supported", name.text),
                    name.span,
                )
                .with_help("give its size with `-D` instead");
                self.report(diagnostic);
            }
            Some(_) => {}
            None => self.unknown(&name.text, name.span),
        }
    }

    fn operation(&mut self, operation: &tree::Operation, name: Option<Arc<str>>) {
        let parameters = self.bind(&operation.parameters);
        self.bind(&operation.outputs);
        let body = self.substitution(&operation.body);
        self.scopes.pop();
        self.scopes.pop();
        let name = name.unwrap_or_else(|| operation.name.text.clone());
        self.core.operations.push(Operation { name, parameters, body, span: operation.span });
    }
}

/// A name of a machine that is mentioned with a prefix, as others see it.
fn prefixed(prefix: Option<&str>, name: &Arc<str>) -> Arc<str> {
    match prefix {
        Some(prefix) => Arc::from(format!("{prefix}.{name}")),
        None => Arc::clone(name),
    }
}
