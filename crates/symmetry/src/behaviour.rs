//! A whole model as functions of its state: all events and properties, over the values each slot
//! can ever hold. Values that never occur are left out here, so that they cannot permute (the
//! "redundant value symmetries" of Zhang et al. 2013, section IV-D2).

use std::collections::BTreeSet;

use quotient_ir::{
    Action, Argument, Domain, Expr, ExprId, FunctionId, Interpreter, Iteration, Layout, Local, LocalId, Model,
    Parameter, PlaceId, PropertyId, ReturnValue, Root, Span, Statement, StatementKind, Step, Table, VariableId,
};

use crate::circuit::{CASE_LIMIT, Circuit, NodeId};
use crate::possible::{Holds, is_enumerated, possible_values, scalar_types};
use crate::unfold::{Event, Refusal, Unfolder};

/// The functions of a model.
#[derive(Debug)]
pub(crate) struct Behaviour {
    /// All nodes. Slots from `slots` on are inputs.
    pub(crate) circuit: Circuit,
    /// How many of the circuit's slots are slots of the state.
    pub(crate) slots: usize,
    /// The inputs that belong to an action whose parameters are not enumerated.
    pub(crate) inputs: Vec<(Action, std::ops::Range<u32>)>,
    /// Instances of rules and initial-state programs.
    pub(crate) events: Vec<Event>,
    /// Instances of properties.
    pub(crate) claims: Vec<Claim>,
    /// Variables that are treated as fixed, and why.
    pub(crate) fixed: Vec<Fixed>,
}

/// An instance of a property.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) property: PropertyId,
    pub(crate) condition: NodeId,
    pub(crate) fault: NodeId,
}

/// A variable whose slots and values are not permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The variable.
    pub variable: VariableId,
    /// Why.
    pub reason: String,
    /// The text that is responsible.
    pub span: Span,
}

/// Unfolds a model, with the properties of a run.
pub(crate) fn unfold(model: &Model, layout: &Layout, properties: &[PropertyId]) -> Behaviour {
    let interpreter = Interpreter::new(model, layout);
    let mut actions: Vec<(Action, &[Parameter], &Table<LocalId, Local>)> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        actions.push((Action::Start(start), &entry.parameters, &entry.locals));
    }
    for (rule, entry) in model.rules.iter_enumerated() {
        actions.push((Action::Rule(rule), &entry.parameters, &entry.locals));
    }
    let possible = possible_values(model, layout);
    let mut values: Vec<Vec<Option<i64>>> = possible.iter().map(Holds::values).collect();
    let mut wide: Vec<bool> = possible.iter().map(Holds::is_wide).collect();
    let mut inputs = Vec::new();
    for &(action, parameters, locals) in &actions {
        if !is_enumerated(model, parameters, locals) {
            let first = values.len() as u32;
            for parameter in parameters {
                let mut scalars = Vec::new();
                scalar_types(model, locals[parameter.local].ty, &mut scalars);
                match parameter.range {
                    Iteration::Over(_) => {
                        for ty in scalars {
                            let domain = model.domain(ty);
                            wide.push(is_wide(&domain));
                            values.push(if is_wide(&domain) {
                                vec![Some(domain.least()), Some(domain.greatest())]
                            } else {
                                domain.values().map(Some).collect()
                            });
                        }
                    }
                    Iteration::Steps { .. } => {
                        wide.push(false);
                        values.push(interpreter_values(&interpreter, parameter, locals));
                    }
                }
            }
            inputs.push((action, first..values.len() as u32));
        }
    }
    let mut fixed: Vec<Fixed> = Vec::new();
    let mut fix = |variables: BTreeSet<VariableId>, reason: &Refusal, span: Span| {
        for variable in variables {
            if !fixed.iter().any(|entry| entry.variable == variable) {
                fixed.push(Fixed { variable, reason: reason.to_string(), span });
            }
        }
    };
    let mut unfolder = Unfolder::new(model, layout, values, wide);
    let mut events = Vec::new();
    for &(action, parameters, locals) in &actions {
        let first_input = inputs.iter().find(|(owner, _)| *owner == action).map(|(_, range)| range.start);
        let mut unfold_one = |arguments: &[i64]| unfolder.event(action, arguments, first_input);
        let result: Result<Vec<Event>, Refusal> = if first_input.is_some() {
            unfold_one(&[]).map(|event| vec![event])
        } else {
            interpreter.instances(parameters, locals).map(|arguments| unfold_one(&arguments)).collect()
        };
        match result {
            Ok(found) => events.extend(found.into_iter().filter(|event| event.guard != NodeId::FALSE)),
            Err(refusal) => fix(action_variables(model, action), &refusal, action_span(model, action)),
        }
    }
    let mut claims = Vec::new();
    for &property in properties {
        let entry = &model.properties[property];
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            match unfolder.property(property, &arguments) {
                Ok((condition, fault)) => claims.push(Claim { property, condition, fault }),
                Err(refusal) => {
                    fix(property_variables(model, property), &refusal, entry.span);
                    break;
                }
            }
        }
    }
    Behaviour { circuit: unfolder.circuit, slots: layout.slots.len(), inputs, events, claims, fixed }
}

/// Whether a slot has too many values to list.
fn is_wide(domain: &Domain) -> bool {
    domain.size() == 0 || domain.size() > CASE_LIMIT as u64
}

fn interpreter_values(
    interpreter: &Interpreter<'_>,
    parameter: &Parameter,
    locals: &Table<LocalId, Local>,
) -> Vec<Option<i64>> {
    interpreter.instances(std::slice::from_ref(parameter), locals).map(|cells| Some(cells[0])).collect()
}

fn action_span(model: &Model, action: Action) -> Span {
    match action {
        Action::Start(start) => model.starts[start].span,
        Action::Rule(rule) => model.rules[rule].span,
    }
}

/// The global variables an action mentions, also through calls.
fn action_variables(model: &Model, action: Action) -> BTreeSet<VariableId> {
    let mut mentions = Mentions::new(model);
    match action {
        Action::Start(start) => mentions.statements(&model.starts[start].body),
        Action::Rule(rule) => {
            mentions.expression(model.rules[rule].guard);
            mentions.statements(&model.rules[rule].body);
        }
    }
    mentions.variables
}

fn property_variables(model: &Model, property: PropertyId) -> BTreeSet<VariableId> {
    let mut mentions = Mentions::new(model);
    if let Some(condition) = model.properties[property].condition {
        mentions.expression(condition);
    }
    mentions.variables
}

/// Collects the global variables that a piece of text mentions.
struct Mentions<'m> {
    model: &'m Model,
    variables: BTreeSet<VariableId>,
    functions: BTreeSet<FunctionId>,
    expressions: BTreeSet<ExprId>,
}

impl<'m> Mentions<'m> {
    fn new(model: &'m Model) -> Self {
        Self { model, variables: BTreeSet::new(), functions: BTreeSet::new(), expressions: BTreeSet::new() }
    }

    fn function(&mut self, function: FunctionId, arguments: &[Argument]) {
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.expression(*value),
                Argument::Copy(place) | Argument::Reference(place) => self.place(*place),
            }
        }
        if self.functions.insert(function) {
            self.statements(&self.model.functions[function].body);
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
                    self.place(*target);
                    self.expression(*value);
                }
                StatementKind::Copy { target, source } => {
                    self.place(*target);
                    self.place(*source);
                }
                StatementKind::Clear(place) | StatementKind::Undefine(place) | StatementKind::Bind { place, .. } => {
                    self.place(*place)
                }
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
                StatementKind::Return(None) | StatementKind::Error { .. } => {}
                StatementKind::Assert { condition, .. }
                | StatementKind::Assume(condition)
                | StatementKind::Cover { condition, .. } => self.expression(*condition),
                StatementKind::MultisetAdd { multiset, element } => {
                    self.place(*multiset);
                    match element {
                        quotient_ir::MultisetElement::Value(value) => self.expression(*value),
                        quotient_ir::MultisetElement::Copy(place) => self.place(*place),
                    }
                }
                StatementKind::MultisetRemove { multiset, position } => {
                    self.place(*multiset);
                    self.expression(*position);
                }
                StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
                    self.place(*multiset);
                    self.expression(*condition);
                }
            }
        }
    }
}
