//! What a piece of text mentions: variables, functions, effects. A traversal of the text that ignores reachability.

use std::collections::BTreeSet;

use quotient_ir::{
    Action, Argument, Expr, ExprId, FunctionId, Iteration, Local, LocalId, LocalKind, Model, MultisetElement, PlaceId,
    PropertyId, ReturnValue, Root, Statement, StatementKind, Step, Table, VariableId,
};

/// What a piece of text mentions.
pub(crate) struct Mentions<'m> {
    model: &'m Model,
    variables: BTreeSet<VariableId>,
    functions: BTreeSet<FunctionId>,
    expressions: BTreeSet<ExprId>,
    effects: bool,
    /// The locals of the function whose body is being walked.
    locals: Option<&'m Table<LocalId, Local>>,
}

impl<'m> Mentions<'m> {
    fn new(model: &'m Model) -> Self {
        Self {
            model,
            variables: BTreeSet::new(),
            functions: BTreeSet::new(),
            expressions: BTreeSet::new(),
            effects: false,
            locals: None,
        }
    }

    /// An expression.
    pub(crate) fn of_expression(model: &'m Model, expression: ExprId) -> Self {
        let mut mentions = Self::new(model);
        mentions.expression(expression);
        mentions
    }

    /// A place.
    pub(crate) fn of_place(model: &'m Model, place: PlaceId) -> Self {
        let mut mentions = Self::new(model);
        mentions.place(place);
        mentions
    }

    /// An initial-state program or a rule.
    pub(crate) fn of_action(model: &'m Model, action: Action) -> Self {
        let mut mentions = Self::new(model);
        match action {
            Action::Start(start) => mentions.statements(&model.starts[start].body),
            Action::Rule(rule) => {
                mentions.expression(model.rules[rule].guard);
                mentions.statements(&model.rules[rule].body);
            }
        }
        mentions
    }

    /// A property.
    pub(crate) fn of_property(model: &'m Model, property: PropertyId) -> Self {
        let mut mentions = Self::new(model);
        for condition in model.properties[property].formula.conditions() {
            mentions.expression(condition);
        }
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

    fn target(&mut self, place: PlaceId) {
        self.effects |= match (&self.model.pool[place].root, self.locals) {
            (Root::Local(local), Some(locals)) => locals[*local].kind == LocalKind::Reference,
            _ => true,
        };
        self.place(place);
    }

    fn function(&mut self, function: FunctionId, arguments: &[Argument]) {
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.expression(*value),
                Argument::Copy(place) | Argument::Reference(place) => self.place(*place),
                Argument::Undefined => {}
            }
        }
        if self.functions.insert(function) {
            let callee = &self.model.functions[function];
            let outer = self.locals.replace(&callee.locals);
            self.statements(&callee.body);
            self.locals = outer;
        }
    }

    fn place(&mut self, place: PlaceId) {
        let place = &self.model.pool[place];
        match &place.root {
            Root::Variable(variable) => {
                self.variables.insert(*variable);
            }
            Root::Local(_) => {}
            Root::Result { function, arguments } => self.function(*function, arguments),
            Root::Choice { condition, then, otherwise } => {
                self.expression(*condition);
                self.place(*then);
                self.place(*otherwise);
            }
        }
        for step in &place.steps {
            if let Step::Index(index) = step {
                self.expression(*index);
            }
        }
    }

    fn range(&mut self, range: &Iteration) {
        if let Iteration::Steps { from, to, step } = range {
            self.expression(*from);
            self.expression(*to);
            if let Some(step) = step {
                self.expression(*step);
            }
        }
    }

    fn expression(&mut self, expression: ExprId) {
        if !self.expressions.insert(expression) {
            return;
        }
        match &self.model.pool[expression] {
            Expr::Constant { .. } => {}
            Expr::Read(place) | Expr::IsUndefined(place) => self.place(*place),
            Expr::Unary { operand, .. } => self.expression(*operand),
            Expr::Binary { left, right, .. } => {
                self.expression(*left);
                self.expression(*right);
            }
            Expr::Conditional { condition, then, otherwise } => {
                self.expression(*condition);
                self.expression(*then);
                self.expression(*otherwise);
            }
            Expr::Quantified { range, body, .. } => {
                self.range(range);
                self.expression(*body);
            }
            Expr::Count { multiset, body, .. } => {
                self.place(*multiset);
                self.expression(*body);
            }
            Expr::IsPresent { multiset, position } => {
                self.place(*multiset);
                self.expression(*position);
            }
            Expr::IsMember { value, .. } => self.expression(*value),
            Expr::SameContents { left, right } => {
                self.place(*left);
                self.place(*right);
            }
            Expr::Call { function, arguments } => self.function(*function, arguments),
        }
    }

    fn statements(&mut self, statements: &'m [Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    self.target(*target);
                    self.expression(*value);
                }
                StatementKind::Copy { target, source } => {
                    self.target(*target);
                    self.place(*source);
                }
                StatementKind::Clear(place) | StatementKind::Undefine(place) => self.target(*place),
                StatementKind::Bind { place, .. } => self.place(*place),
                StatementKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        self.expression(*condition);
                        self.statements(body);
                    }
                    self.statements(otherwise);
                }
                StatementKind::While { condition, body } => {
                    self.expression(*condition);
                    self.statements(body);
                }
                StatementKind::For { range, body, .. } => {
                    self.range(range);
                    self.statements(body);
                }
                StatementKind::Call { function, arguments } => self.function(*function, arguments),
                StatementKind::Return(Some(ReturnValue::Value(value))) => self.expression(*value),
                StatementKind::Return(Some(ReturnValue::Copy(place))) => self.place(*place),
                StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => {}
                StatementKind::Assert { condition, .. } | StatementKind::Require { condition, .. } => {
                    self.expression(*condition);
                }
                StatementKind::Assume(condition) | StatementKind::Cover { condition, .. } => {
                    self.effects = true;
                    self.expression(*condition);
                }
                StatementKind::MultisetAdd { multiset, element } => {
                    self.target(*multiset);
                    match element {
                        MultisetElement::Value(value) => self.expression(*value),
                        MultisetElement::Copy(place) => self.place(*place),
                    }
                }
                StatementKind::MultisetRemove { multiset, position } => {
                    self.target(*multiset);
                    self.expression(*position);
                }
                StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
                    self.target(*multiset);
                    self.expression(*condition);
                }
            }
        }
    }
}
