//! What a piece of text mentions: variables, functions, effects. A traversal of the text that ignores reachability.

use std::collections::BTreeSet;

use quotient_ir::walk::{Node, body_nodes, call_of, visit_nodes, visit_statements, written_place};
use quotient_ir::{
    Action, ExprId, FunctionId, Local, LocalId, LocalKind, Model, PlaceId, PropertyId, Root, Statement, StatementKind,
    Table, VariableId,
};

/// What a piece of text mentions.
pub(crate) struct Mentions<'m> {
    model: &'m Model,
    variables: BTreeSet<VariableId>,
    functions: BTreeSet<FunctionId>,
    effects: bool,
    /// The locals of the function whose body is being walked.
    locals: Option<&'m Table<LocalId, Local>>,
}

impl<'m> Mentions<'m> {
    fn new(model: &'m Model) -> Self {
        Self { model, variables: BTreeSet::new(), functions: BTreeSet::new(), effects: false, locals: None }
    }

    /// An expression.
    pub(crate) fn of_expression(model: &'m Model, expression: ExprId) -> Self {
        let mut mentions = Self::new(model);
        mentions.nodes([Node::Expression(expression)]);
        mentions
    }

    /// A place.
    pub(crate) fn of_place(model: &'m Model, place: PlaceId) -> Self {
        let mut mentions = Self::new(model);
        mentions.nodes([Node::Place(place)]);
        mentions
    }

    /// An initial-state program or a rule.
    pub(crate) fn of_action(model: &'m Model, action: Action) -> Self {
        let mut mentions = Self::new(model);
        match action {
            Action::Start(start) => mentions.statements(&model.starts[start].body),
            Action::Rule(rule) => {
                mentions.nodes([Node::Expression(model.rules[rule].guard)]);
                mentions.statements(&model.rules[rule].body);
            }
        }
        mentions
    }

    /// A property.
    pub(crate) fn of_property(model: &'m Model, property: PropertyId) -> Self {
        let mut mentions = Self::new(model);
        mentions.nodes(model.properties[property].formula.conditions().map(Node::Expression));
        mentions
    }

    /// The body of a function; the function itself counts as mentioned only if its body calls it.
    pub(crate) fn of_function_body(model: &'m Model, function: FunctionId) -> Self {
        let mut mentions = Self::new(model);
        mentions.locals = Some(&model.functions[function].locals);
        mentions.statements(&model.functions[function].body);
        mentions
    }

    /// The global variables.
    pub(crate) fn into_variables(self) -> BTreeSet<VariableId> {
        self.variables
    }

    /// Visits the functions, also those called by others.
    pub(crate) fn visit_functions(&self, mut visit: impl FnMut(FunctionId)) {
        self.functions.iter().copied().for_each(&mut visit);
    }

    /// Whether it changes anything other than non-reference locals, or can drop a step.
    pub(crate) fn has_effects(&self) -> bool {
        self.effects
    }

    /// Whether writing to a place changes anything other than a local.
    fn is_effect(&self, place: PlaceId) -> bool {
        match (&self.model.pool[place].root, self.locals) {
            (Root::Local(local), Some(locals)) => locals[*local].kind == LocalKind::Reference,
            _ => true,
        }
    }

    fn function(&mut self, function: FunctionId) {
        if self.functions.insert(function) {
            let callee = &self.model.functions[function];
            let outer = self.locals.replace(&callee.locals);
            self.statements(&callee.body);
            self.locals = outer;
        }
    }

    fn nodes(&mut self, roots: impl IntoIterator<Item = Node>) {
        let model = self.model;
        let mut called = Vec::new();
        visit_nodes(model, roots, |node| {
            called.extend(call_of(model, node).map(|(function, _)| function));
            if let Node::Place(place) = node
                && let Root::Variable(variable) = model.pool[place].root
            {
                self.variables.insert(variable);
            }
        });
        called.into_iter().for_each(|function| self.function(function));
    }

    fn statements(&mut self, statements: &'m [Statement]) {
        let mut called = Vec::new();
        visit_statements(statements, &mut |statement| {
            self.effects |= written_place(statement).is_some_and(|place| self.is_effect(place));
            match &statement.kind {
                StatementKind::Call { function, .. } => called.push(*function),
                StatementKind::Assume(_) | StatementKind::Cover { .. } => self.effects = true,
                _ => {}
            }
        });
        called.into_iter().for_each(|function| self.function(function));
        self.nodes(body_nodes(statements));
    }
}
