//! A specification with its names resolved and its control flow built: everything that does not depend on the number of
//! processes.

use std::collections::BTreeSet;
use std::rc::Rc;

use quotient_ir::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

use super::claims::Claim;
use super::events::EventTrace;
use super::flow::{Action, Element, ElementId, ElementKind, Flow, build};
use super::formulas::invariants;
use super::hidden::Hidden;
use super::pools::Pools;
use super::priorities::Priorities;
use super::symbols::{ChannelShape, ProcessSymbols, Scalar, Symbols, ValueType, VariableInfo};
use crate::syntax::tree::{
    Domain, Expression, ExpressionKind, Initial, Member, Name, Proctype, Specification, Statement, StatementKind,
};

/// A process type.
#[derive(Clone, Debug)]
pub(super) struct Process<'t> {
    pub(super) tree: &'t Proctype,
    pub(super) flow: Flow,
    pub(super) symbols: ProcessSymbols,
    /// The number of instances at the start.
    pub(super) active: i64,
}

/// The storage of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum VariableKey {
    Global(usize),
    /// Of a process type.
    Local(usize, usize),
}

/// Something that can hold channels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    /// A variable, or all fields of it with these positions.
    Variable(VariableKey, Vec<usize>),
    /// A field of the messages of a shape.
    Message(usize, usize),
}

/// A declaration that makes channels.
#[derive(Clone, Debug)]
pub(super) struct ChannelSite {
    pub(super) variable: VariableKey,
    /// The positions of the fields that lead to the channels from the variable.
    pub(super) path: Vec<usize>,
    pub(super) shape: usize,
    /// The number of channels it creates (for each process, if it is a local variable).
    pub(super) count: i64,
}

/// A specification with its names resolved.
#[derive(Clone, Debug)]
pub(super) struct Program<'t> {
    pub(super) tree: &'t Specification,
    pub(super) symbols: Symbols,
    pub(super) processes: Vec<Process<'t>>,
    /// The `never` claims whose positions are part of the state.
    pub(super) claims: Vec<Claim>,
    /// The other `never` claims that can be checked: automata beside the model.
    pub(super) automata: Vec<Claim>,
    /// The `trace` or `notrace`, if it can be checked.
    pub(super) trace: Option<EventTrace>,
    pub(super) shapes: Vec<ChannelShape>,
    pub(super) sites: Vec<ChannelSite>,
    /// Which shapes of channels something may hold.
    pub(super) holders: FxHashMap<Holder, BTreeSet<usize>>,
    /// Whether the text refers to the process that moved last.
    pub(super) uses_last: bool,
    pub(super) priorities: Priorities,
    /// The `hidden` variables that are not part of states.
    pub(super) hidden: Hidden,
    /// The points of each process type at which it goes on at once; none unless orders are merged.
    pub(super) private: Vec<FxHashSet<ElementId>>,
}

/// A `run` in the text of a process type.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSite {
    pub(super) element: usize,
    pub(super) creates: usize,
}

impl<'t> Program<'t> {
    /// Resolves the names of a specification.
    pub(super) fn new(tree: &'t Specification, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let symbols = Symbols::new(tree, diagnostics);
        let watched = watched_labels(tree);
        let mut processes = Vec::new();
        for proctype in &tree.proctypes {
            let (flow, process_symbols) = build(proctype, &symbols, &watched, diagnostics);
            let active = match &proctype.active {
                _ if proctype.is_init => 1,
                None => 0,
                Some(None) => 1,
                Some(Some(count)) => match symbols.constant(count).or_else(|| first_value(&symbols, count)) {
                    Some(value @ 0..=255) => value,
                    _ => {
                        diagnostics.push(
                            Diagnostic::error("bad-size", "this is not a number of processes", count.span)
                                .with_help("from 0 to 255 processes can be active"),
                        );
                        1
                    }
                },
            };
            processes.push(Process { tree: proctype, flow, symbols: process_symbols, active });
        }
        let claims = tree.claims.iter();
        let labelled = has_label(&processes, "accept");
        let claims = claims.filter_map(|claim| Claim::new(claim, &symbols, &watched, labelled, diagnostics));
        let (automata, claims) = claims.partition(Claim::is_automaton);
        let trace = match &tree.traces[..] {
            [] => None,
            [trace] => EventTrace::new(trace, &symbols, &watched, diagnostics),
            [_, second, ..] => {
                let message = "there is only one `trace` or `notrace`";
                diagnostics.push(Diagnostic::error("two-traces", message, second.span));
                None
            }
        };
        let mut program = Self {
            tree,
            symbols,
            processes,
            claims,
            automata,
            trace,
            shapes: Vec::new(),
            sites: Vec::new(),
            holders: FxHashMap::default(),
            uses_last: false,
            priorities: Priorities::None,
            hidden: Hidden::default(),
            private: vec![FxHashSet::default(); tree.proctypes.len()],
        };
        program.priorities = Priorities::new(&program);
        program.find_sites();
        program.note_assignments();
        program.follow_channels();
        program.hidden = Hidden::find(&program, diagnostics);
        program
    }

    fn find_sites(&mut self) {
        let mut found: Vec<(VariableKey, Vec<usize>, ChannelShape, i64)> = Vec::new();
        let globals = self.symbols.globals.iter().enumerate().map(|(number, info)| (VariableKey::Global(number), info));
        let locals = self.processes.iter().enumerate().flat_map(|(process, entry)| {
            let variables = entry.symbols.variables.iter().enumerate();
            variables.map(move |(number, info)| (VariableKey::Local(process, number), info))
        });
        for (key, info) in globals.chain(locals) {
            self.symbols.channels_in(info, &mut Vec::new(), 1, &mut |path, shape, count| {
                found.push((key, path.to_vec(), shape.clone(), count));
            });
        }
        for (variable, path, shape, count) in found {
            let number = match self.shapes.iter().position(|other| *other == shape) {
                Some(number) => number,
                None => {
                    self.shapes.push(shape);
                    self.shapes.len() - 1
                }
            };
            self.sites.push(ChannelSite { variable, path, shape: number, count });
        }
    }

    /// Whether a process goes on at once after an element: in an atomic sequence, or at a private point.
    pub(super) fn goes_on(&self, process: usize, element: ElementId) -> bool {
        self.processes[process].flow.elements[element].atomic || self.is_before_private(process, element)
    }

    /// Whether an element leads to a private point.
    pub(super) fn is_before_private(&self, process: usize, element: ElementId) -> bool {
        self.processes[process].flow.target(element).is_some_and(|target| self.private[process].contains(&target))
    }

    /// Whether both processes of a rendezvous may go on at once, one of them to a private point.
    pub(super) fn both_may_go_on(&self) -> bool {
        let any = |goes_on: &dyn Fn(usize, ElementId, &Element) -> bool| {
            let mut processes = self.processes.iter().enumerate();
            processes.any(|(process, entry)| {
                let mut elements = entry.flow.elements.iter().enumerate();
                elements.any(|(id, element)| goes_on(process, id, element))
            })
        };
        let sends = |process: usize, id: ElementId, element: &Element| match &element.kind {
            ElementKind::Basic(action) => {
                self.is_handshake(process, element.scope, action) && self.is_before_private(process, id)
            }
            _ => false,
        };
        let takes = |process: usize, id: ElementId, element: &Element| match &element.kind {
            ElementKind::Basic(Action::Receive { .. }) | ElementKind::DeterministicStep => self.goes_on(process, id),
            _ => false,
        };
        any(&sends) && any(&takes)
    }

    /// Whether an action is a send to a process that waits for it, or may be one.
    pub(super) fn is_handshake(&self, process: usize, scope: usize, action: &Action) -> bool {
        let Action::Send { channel, .. } = action else { return false };
        let shapes = self.channel_shapes(Some(process), scope, channel);
        shapes.is_empty() || shapes.iter().any(|&shape| self.shapes[shape].capacity == 0)
    }

    /// The meaning of a name in a scope of a process type (or outside all of them).
    pub(super) fn lookup(&self, process: Option<usize>, scope: usize, name: &str) -> Option<VariableKey> {
        if let Some(process) = process {
            let symbols = &self.processes[process].symbols;
            let mut current = Some(scope);
            while let Some(scope) = current {
                if let Some(&number) = symbols.scopes[scope].names.get(name) {
                    return Some(VariableKey::Local(process, number));
                }
                current = symbols.scopes[scope].parent;
            }
        }
        self.symbols.global_names.get(name).map(|&number| VariableKey::Global(number))
    }

    /// What is known of a variable.
    pub(super) fn variable(&self, key: VariableKey) -> &VariableInfo {
        match key {
            VariableKey::Global(number) => &self.symbols.globals[number],
            VariableKey::Local(process, number) => &self.processes[process].symbols.variables[number],
        }
    }

    /// All basic elements of all process types.
    pub(super) fn actions(&self) -> impl Iterator<Item = (usize, &Element, &Action)> {
        self.processes.iter().enumerate().flat_map(|(number, process)| {
            process.flow.elements.iter().filter_map(move |element| match &element.kind {
                ElementKind::Basic(action) => Some((number, element, action)),
                _ => None,
            })
        })
    }

    fn note_assignments(&mut self) {
        let mut assigned: Vec<VariableKey> = Vec::new();
        for (process, element, action) in self.actions() {
            let targets: Vec<&Expression> = match action {
                Action::Assign { target, .. } => vec![target],
                Action::Receive { arguments, .. } => arguments.iter().collect(),
                _ => continue,
            };
            for target in targets {
                if let ExpressionKind::Reference(parts) = &target.kind
                    && let Some(key) = self.lookup(Some(process), element.scope, &parts[0].name.text)
                {
                    assigned.push(key);
                }
            }
        }
        for key in assigned {
            match key {
                VariableKey::Global(number) => self.symbols.globals[number].assigned = true,
                VariableKey::Local(process, number) => {
                    self.processes[process].symbols.variables[number].assigned = true;
                }
            }
        }
        let mut uses_last = false;
        let own = self.actions().flat_map(|(_, _, action)| expressions_of(action));
        for expression in own.chain(self.claimed_conditions()) {
            walk(expression, &mut |inner| {
                if let ExpressionKind::Reference(parts) = &inner.kind {
                    uses_last |= &*parts[0].name.text == "_last";
                }
            });
        }
        self.uses_last = uses_last;
    }

    /// The expressions of all formulas and claims.
    pub(super) fn claimed_conditions(&self) -> impl Iterator<Item = &Expression> {
        let claims = self.claims.iter().chain(&self.automata);
        self.tree.formulas.iter().map(|formula| &formula.condition).chain(claims.flat_map(Claim::conditions))
    }

    /// Whether a formula or claim of the text is about whole runs.
    pub(super) fn watches_runs(&self) -> bool {
        let mut formulas = self.tree.formulas.iter();
        !self.automata.is_empty() || formulas.any(|formula| invariants(&formula.condition).is_none())
    }

    /// Whether a process type has a label with a prefix.
    pub(super) fn has_label(&self, prefix: &str) -> bool {
        has_label(&self.processes, prefix)
    }

    /// What a reference leads to, as something that can hold channels.
    fn holder(&self, process: Option<usize>, scope: usize, parts: &[Member]) -> Option<Holder> {
        let key = self.lookup(process, scope, &parts[0].name.text)?;
        let mut ty = self.variable(key).ty;
        let mut path = Vec::new();
        for part in &parts[1..] {
            let ValueType::Structure(number) = ty else { return None };
            let fields = &self.symbols.structures[number].fields;
            let position = fields.iter().position(|field| field.name == part.name.text)?;
            path.push(position);
            ty = fields[position].ty;
        }
        Some(Holder::Variable(key, path))
    }

    /// The shapes of channels that an expression may denote.
    pub(super) fn channel_shapes(
        &self,
        process: Option<usize>,
        scope: usize,
        expression: &Expression,
    ) -> BTreeSet<usize> {
        match &expression.kind {
            ExpressionKind::Reference(parts) => match self.holder(process, scope, parts) {
                Some(holder) => self.holders.get(&holder).cloned().unwrap_or_default(),
                None => BTreeSet::new(),
            },
            ExpressionKind::Conditional(_, then, otherwise) => {
                let mut shapes = self.channel_shapes(process, scope, then);
                shapes.extend(self.channel_shapes(process, scope, otherwise));
                shapes
            }
            ExpressionKind::Eval(inner) => self.channel_shapes(process, scope, inner),
            _ => BTreeSet::new(),
        }
    }

    /// Finds which channels every variable and message field may hold, without regard to order.
    fn follow_channels(&mut self) {
        let mut holders: FxHashMap<Holder, BTreeSet<usize>> = FxHashMap::default();
        for site in &self.sites {
            holders.entry(Holder::Variable(site.variable, site.path.clone())).or_default().insert(site.shape);
        }
        self.holders = holders;
        loop {
            let mut news: Vec<(Holder, BTreeSet<usize>)> = Vec::new();
            let globals = self.symbols.globals.iter().enumerate();
            for (number, info) in globals {
                if let Some(Initial::Value(value)) = &info.initial {
                    let shapes = self.channel_shapes(None, 0, value);
                    news.push((Holder::Variable(VariableKey::Global(number), Vec::new()), shapes));
                }
            }
            for (process, entry) in self.processes.iter().enumerate() {
                for (number, info) in entry.symbols.variables.iter().enumerate() {
                    if let Some(Initial::Value(value)) = &info.initial {
                        let shapes = self.channel_shapes(Some(process), 0, value);
                        news.push((Holder::Variable(VariableKey::Local(process, number), Vec::new()), shapes));
                    }
                }
            }
            for (process, element, action) in self.actions() {
                let shapes_of = |expression: &Expression| self.channel_shapes(Some(process), element.scope, expression);
                let holder_of = |expression: &Expression| match &expression.kind {
                    ExpressionKind::Reference(parts) => self.holder(Some(process), element.scope, parts),
                    _ => None,
                };
                match action {
                    Action::Assign { target, value } => {
                        if let Some(holder) = holder_of(target) {
                            news.push((holder, shapes_of(value)));
                        }
                    }
                    Action::Send { channel, arguments, .. } => {
                        let arguments = self.message_arguments(Some(process), element.scope, arguments);
                        for shape in shapes_of(channel) {
                            for (position, argument) in arguments.iter().enumerate() {
                                news.push((Holder::Message(shape, position), shapes_of(argument)));
                            }
                        }
                    }
                    Action::Receive { channel, arguments, .. } => {
                        let arguments = self.message_arguments(Some(process), element.scope, arguments);
                        for shape in shapes_of(channel) {
                            for (position, argument) in arguments.iter().enumerate() {
                                if let Some(holder) = holder_of(argument) {
                                    let field = self.holders.get(&Holder::Message(shape, position));
                                    news.push((holder, field.cloned().unwrap_or_default()));
                                }
                            }
                        }
                    }
                    _ => {}
                }
                for expression in expressions_of(action) {
                    walk(expression, &mut |inner| {
                        if let ExpressionKind::Run { proctype, arguments, .. } = &inner.kind
                            && let Some(&created) = self.symbols.proctype_names.get(&proctype.text)
                        {
                            let arguments = self.message_arguments(Some(process), element.scope, arguments);
                            for (holder, argument) in self.parameter_holders(created).into_iter().zip(&arguments) {
                                news.push((holder, shapes_of(argument)));
                            }
                        }
                    });
                }
            }
            let mut changed = false;
            for (holder, shapes) in news {
                if shapes.is_empty() {
                    continue;
                }
                let known = self.holders.entry(holder).or_default();
                for shape in shapes {
                    changed |= known.insert(shape);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// What the arguments of a new process go to: a structure takes one for each of its fields.
    fn parameter_holders(&self, process: usize) -> Vec<Holder> {
        let mut holders = Vec::new();
        let symbols = &self.processes[process].symbols;
        for (position, info) in symbols.variables[..symbols.parameters].iter().enumerate() {
            self.holders_in(VariableKey::Local(process, position), info, &mut Vec::new(), &mut holders);
        }
        holders
    }

    fn holders_in(&self, key: VariableKey, info: &VariableInfo, path: &mut Vec<usize>, holders: &mut Vec<Holder>) {
        for _ in 0..info.count.unwrap_or(1) {
            match info.ty {
                _ if holders.len() > 1024 => return,
                ValueType::Scalar(_) => holders.push(Holder::Variable(key, path.clone())),
                ValueType::Structure(number) => {
                    for (position, field) in self.symbols.structures[number].fields.iter().enumerate() {
                        path.push(position);
                        self.holders_in(key, field, path, holders);
                        path.pop();
                    }
                }
            }
        }
    }

    /// The number of arguments of a new process.
    pub(super) fn argument_count(&self, process: usize) -> usize {
        self.parameter_holders(process).len()
    }

    /// Structures among the arguments of a send or receive are expanded to their fields.
    pub(super) fn message_arguments(
        &self,
        process: Option<usize>,
        scope: usize,
        arguments: &[Expression],
    ) -> Vec<Expression> {
        let mut flat = Vec::new();
        for argument in arguments {
            self.flatten_argument((process, scope), argument, &mut flat);
        }
        flat
    }

    fn flatten_argument(&self, place: (Option<usize>, usize), argument: &Expression, flat: &mut Vec<Expression>) {
        let ExpressionKind::Reference(parts) = &argument.kind else {
            return flat.push(argument.clone());
        };
        let Some(key) = self.lookup(place.0, place.1, &parts[0].name.text) else {
            return flat.push(argument.clone());
        };
        let mut info = self.variable(key);
        for part in &parts[1..] {
            let ValueType::Structure(number) = info.ty else { return flat.push(argument.clone()) };
            let fields = &self.symbols.structures[number].fields;
            match fields.iter().find(|field| field.name == part.name.text) {
                Some(field) => info = field,
                None => return flat.push(argument.clone()),
            }
        }
        let ValueType::Structure(number) = info.ty else {
            return flat.push(argument.clone());
        };
        for field in &self.symbols.structures[number].fields {
            for element in 0..field.count.unwrap_or(1) {
                if flat.len() > 1024 {
                    return;
                }
                let span = argument.span;
                let index = field.count.map(|_| Box::new(Expression { kind: ExpressionKind::Number(element), span }));
                let mut parts = parts.clone();
                parts.push(Member { name: Name { text: field.name.clone(), span, written: span }, index });
                let inner = Expression { kind: ExpressionKind::Reference(parts), span };
                self.flatten_argument(place, &inner, flat);
            }
        }
    }

    /// The places where a process type creates others.
    pub(super) fn run_sites(&self, process: usize) -> Vec<RunSite> {
        let mut sites = Vec::new();
        for (number, element) in self.processes[process].flow.elements.iter().enumerate() {
            let ElementKind::Basic(action) = &element.kind else { continue };
            for expression in expressions_of(action) {
                walk(expression, &mut |inner| {
                    if let ExpressionKind::Run { proctype, .. } = &inner.kind
                        && let Some(&creates) = self.symbols.proctype_names.get(&proctype.text)
                    {
                        sites.push(RunSite { element: number, creates });
                    }
                });
            }
        }
        sites
    }

    /// The scalar type that a reference leads to.
    pub(super) fn scalar_of(&self, process: Option<usize>, scope: usize, parts: &[Member]) -> Option<Scalar> {
        let info = self.variable(self.lookup(process, scope, &parts[0].name.text)?);
        let mut ty = info.ty;
        for part in &parts[1..] {
            let ValueType::Structure(number) = ty else { return None };
            ty = self.symbols.structures[number].fields.iter().find(|field| field.name == part.name.text)?.ty;
        }
        match ty {
            ValueType::Scalar(scalar) => Some(scalar),
            ValueType::Structure(_) => None,
        }
    }

    /// The number of scalars of a state with room for some processes.
    pub(super) fn state_size(&self, pools: &Pools) -> i64 {
        let processes = |process: usize| pools.ranges[process].map_or(0, |(low, high)| high - low + 1);
        let sum = |variables: &[VariableInfo]| {
            variables.iter().map(|info| self.symbols.size_of(info)).fold(0, i64::saturating_add)
        };
        let mut size = sum(&self.symbols.globals);
        for (process, entry) in self.processes.iter().enumerate() {
            size = size.saturating_add(sum(&entry.symbols.variables).saturating_mul(processes(process)));
        }
        for site in &self.sites {
            let owners = match site.variable {
                VariableKey::Global(_) => 1,
                VariableKey::Local(process, _) => processes(process),
            };
            let shape = &self.shapes[site.shape];
            let queue = 1 + shape.capacity * shape.fields.len() as i64;
            size = size.saturating_add(queue.saturating_mul(site.count).saturating_mul(owners));
        }
        size
    }

    /// The name of a process type.
    pub(super) fn name(&self, process: usize) -> &Rc<str> {
        &self.processes[process].tree.name.text
    }
}

fn has_label(processes: &[Process<'_>], prefix: &str) -> bool {
    let mut elements = processes.iter().flat_map(|process| &process.flow.elements);
    elements.any(|element| element.labels.iter().any(|label| label.starts_with(prefix)))
}

/// The initial value of a variable, which can determine the number of processes.
fn first_value(symbols: &Symbols, expression: &Expression) -> Option<i64> {
    let ExpressionKind::Reference(parts) = &expression.kind else { return None };
    let number = symbols.global_names.get(&parts[0].name.text)?;
    match &symbols.globals[*number].initial {
        Some(Initial::Value(value)) => symbols.constant(value),
        _ => Some(0),
    }
}

/// All labels that expressions of the text refer to, with their process types.
fn watched_labels(tree: &Specification) -> FxHashSet<(Rc<str>, Rc<str>)> {
    let mut watched = FxHashSet::default();
    let mut look = |expression: &Expression| {
        walk(expression, &mut |inner| {
            if let ExpressionKind::AtLabel { proctype, label, .. } = &inner.kind {
                watched.insert((proctype.text.clone(), label.text.clone()));
            }
        });
    };
    for formula in &tree.formulas {
        look(&formula.condition);
    }
    let bodies = tree.proctypes.iter().map(|proctype| &proctype.body);
    let claims = tree.claims.iter().chain(&tree.traces).map(|claim| &claim.body);
    for body in bodies.chain(claims) {
        visit_statements(body, &mut look);
    }
    watched
}

/// Visits the expressions of statements.
fn visit_statements(statements: &[Statement], look: &mut impl FnMut(&Expression)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Expression(expression) | StatementKind::Assert(expression) => look(expression),
            StatementKind::Assign { target, value } => {
                look(target);
                look(value);
            }
            StatementKind::SetPriority { process, priority } => {
                look(process);
                look(priority);
            }
            StatementKind::Send { arguments, .. } | StatementKind::Receive { arguments, .. } => {
                arguments.iter().for_each(&mut *look);
            }
            StatementKind::If(options) | StatementKind::Do(options) => {
                for option in options {
                    visit_statements(option, look);
                }
            }
            StatementKind::For { body, .. }
            | StatementKind::ForIn { body, .. }
            | StatementKind::Atomic(body)
            | StatementKind::DeterministicStep(body)
            | StatementKind::Block(body)
            | StatementKind::Inlined(body) => visit_statements(body, look),
            StatementKind::Unless { main, escape } => {
                visit_statements(std::slice::from_ref(main), look);
                visit_statements(std::slice::from_ref(escape), look);
            }
            _ => {}
        }
    }
}

/// The expressions of an action.
pub(super) fn expressions_of(action: &Action) -> Vec<&Expression> {
    match action {
        // What is only printed is not part of the state.
        Action::Skip | Action::Print { .. } => Vec::new(),
        Action::Condition(condition) | Action::Assert(condition) => vec![condition],
        Action::Assign { target, value } => vec![target, value],
        Action::SetPriority { process, priority } => vec![process, priority],
        Action::Send { channel, arguments, .. } | Action::Receive { channel, arguments, .. } => {
            std::iter::once(channel).chain(arguments).collect()
        }
    }
}

/// Visits an expression and all its parts.
pub(super) fn walk(expression: &Expression, visit: &mut impl FnMut(&Expression)) {
    visit(expression);
    let mut parts = |parts: &[Member]| {
        for part in parts {
            if let Some(index) = &part.index {
                walk(index, visit);
            }
        }
    };
    match &expression.kind {
        ExpressionKind::Reference(it) => parts(it),
        ExpressionKind::RemoteVariable { process, variable, .. } => {
            parts(variable);
            if let Some(process) = process {
                walk(process, visit);
            }
        }
        ExpressionKind::AtLabel { process: Some(process), .. } => walk(process, visit),
        ExpressionKind::Unary(_, operand)
        | ExpressionKind::ChannelQuery(_, operand)
        | ExpressionKind::Eval(operand)
        | ExpressionKind::Enabled(operand)
        | ExpressionKind::PcValue(operand)
        | ExpressionKind::Priority(operand) => walk(operand, visit),
        ExpressionKind::Binary(_, left, right) => {
            walk(left, visit);
            walk(right, visit);
        }
        ExpressionKind::Path(_, operand) => walk(operand, visit),
        ExpressionKind::Quantified(quantified) => {
            if let Domain::Range(low, high) = &quantified.domain {
                walk(low, visit);
                walk(high, visit);
            }
            walk(&quantified.body, visit);
        }
        ExpressionKind::Conditional(condition, then, otherwise) => {
            walk(condition, visit);
            walk(then, visit);
            walk(otherwise, visit);
        }
        ExpressionKind::Poll { channel, arguments, .. } => {
            walk(channel, visit);
            for argument in arguments {
                walk(argument, visit);
            }
        }
        ExpressionKind::Run { arguments, .. } => {
            for argument in arguments {
                walk(argument, visit);
            }
        }
        ExpressionKind::AtLabel { process: None, .. }
        | ExpressionKind::Number(_)
        | ExpressionKind::Truth(_)
        | ExpressionKind::Text(_)
        | ExpressionKind::Timeout
        | ExpressionKind::NonProgress => {}
    }
}
