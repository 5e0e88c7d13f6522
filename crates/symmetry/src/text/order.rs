//! Whether the order in which a loop or a quantifier visits values can be noticed.
//!
//! Iterations of a loop commute if no two of them touch the same cell, except in ways that commute: both add to it, both
//! set it to the same value, both put elements into a multiset. A quantifier stops at the first value that decides, so
//! its order can be noticed if a condition may go wrong for another value.

use quotient_ir::walk::{Node, body_nodes, push_statement_nodes, visit_nodes, visit_statements};
use quotient_ir::{
    Argument, BinaryOperator, Domain, Expr, ExprId, FunctionId, Iteration, LocalId, LocalKind, Model, MultisetElement,
    PlaceId, PropertyId, ReturnValue, Root, Statement, StatementKind, Step, TypeId, TypeKind, UnaryOperator,
    VariableId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::opaque::computes;
use super::shapes::{Role, Scope, Shape, Shapes};
use super::strict::never_decides;

/// The most accesses of a loop that are compared.
const MOST_ACCESSES: usize = 600;
/// Calls nested more deeply are not looked into.
const DEEPEST_CALL: usize = 12;
/// Expressions nested more deeply are taken to fail.
const DEEPEST: usize = 400;
/// Numbers up to this size do not overflow when they are added or multiplied.
const SMALL: i64 = 1 << 31;

// ---- positions of multisets ----

/// Whether a position of a multiset is any position: a parameter of a rule that ranges over all of them, is used for
/// nothing else and requires an element there, or a position bound by a count or a removal.
pub(super) fn is_position(model: &Model, scope: Scope, position: ExprId, capacity: u64) -> bool {
    let Some(local) = read_local(model, position) else { return false };
    if !is_position_only(model, scope, local) {
        return false;
    }
    let range = scope.parameters(model).iter().find(|parameter| parameter.local == local).map(|it| &it.range);
    match (scope, range) {
        (Scope::Rule(_), Some(range)) => {
            let values = match *range {
                Iteration::Over(ty) => Some(model.domain(ty)),
                Iteration::Steps { from, to, step: None } => match (&model.pool[from], &model.pool[to]) {
                    (&Expr::Constant { value: from, .. }, &Expr::Constant { value: to, .. }) if from <= to => {
                        Some(Domain::interval(from, to))
                    }
                    _ => None,
                },
                Iteration::Steps { .. } => None,
            };
            let values = values.filter(|values| (0..capacity as i64).all(|position| values.contains(position)));
            values.is_some() && requires_presence(model, scope, local)
        }
        _ => binds_position(model, scope, local),
    }
}

/// Whether a parameter of a rule selects an element of a multiset by its position.
pub(super) fn selects_element(model: &Model, scope: Scope, local: LocalId) -> bool {
    is_position_only(model, scope, local) && requires_presence(model, scope, local)
}

/// Whether the guard of a rule requires an element at a position.
fn requires_presence(model: &Model, scope: Scope, local: LocalId) -> bool {
    let mut pending = scope.conditions(model);
    while let Some(condition) = pending.pop() {
        match model.pool[condition] {
            Expr::Binary { operator: BinaryOperator::And, left, right } => pending.extend([left, right]),
            Expr::IsPresent { position, .. } if read_local(model, position) == Some(local) => return true,
            _ => {}
        }
    }
    false
}

/// Whether a count or a removal binds the local.
fn binds_position(model: &Model, scope: Scope, local: LocalId) -> bool {
    let mut found = false;
    visit_statements(scope.body(model), &mut |statement| {
        found |= matches!(statement.kind, StatementKind::MultisetRemoveIf { local: bound, .. } if bound == local);
    });
    let mut others = false;
    visit_nodes(model, nodes_of(model, scope), |node| {
        if let Node::Expression(id) = node {
            found |= matches!(model.pool[id], Expr::Count { local: bound, .. } if bound == local);
            others |= matches!(model.pool[id], Expr::Quantified { local: bound, .. } if bound == local);
        }
    });
    visit_statements(scope.body(model), &mut |statement| {
        others |= matches!(statement.kind, StatementKind::For { local: bound, .. } if bound == local);
    });
    found && !others
}

fn nodes_of(model: &Model, scope: Scope) -> Vec<Node> {
    let mut nodes = body_nodes(scope.body(model));
    nodes.extend(scope.conditions(model).into_iter().map(Node::Expression));
    nodes
}

/// The local that an expression reads, if it is nothing else.
fn read_local(model: &Model, expression: ExprId) -> Option<LocalId> {
    let Expr::Read(place) = model.pool[expression] else { return None };
    match &model.pool[place] {
        place if !place.steps.is_empty() => None,
        place => match place.root {
            Root::Local(local) => Some(local),
            _ => None,
        },
    }
}

/// Whether a local is used as a position of multisets only.
pub(super) fn is_position_only(model: &Model, scope: Scope, local: LocalId) -> bool {
    let is_it = |expression: ExprId| read_local(model, expression) == Some(local);
    let mut only = true;
    let direct = |node: &Node, only: &mut bool| match *node {
        Node::Expression(id) => *only &= !is_it(id),
        Node::Place(id) => *only &= model.pool[id].root != Root::Local(local),
    };
    for condition in scope.conditions(model) {
        direct(&Node::Expression(condition), &mut only);
    }
    visit_statements(scope.body(model), &mut |statement| {
        let mut nodes = Vec::new();
        match &statement.kind {
            StatementKind::MultisetRemove { multiset, .. } => nodes.push(Node::Place(*multiset)),
            _ => push_statement_nodes(statement, &mut nodes),
        }
        nodes.iter().for_each(|node| direct(node, &mut only));
    });
    visit_nodes(model, nodes_of(model, scope), |node| match node {
        Node::Expression(id) => match &model.pool[id] {
            Expr::Constant { .. } | Expr::Read(_) | Expr::IsUndefined(_) | Expr::SameContents { .. } => {}
            Expr::Unary { operand, .. } | Expr::IsMember { value: operand, .. } => only &= !is_it(*operand),
            Expr::Binary { left, right, .. } => only &= !is_it(*left) && !is_it(*right),
            Expr::Conditional { condition, then, otherwise } => {
                only &= ![condition, then, otherwise].into_iter().any(|id| is_it(*id));
            }
            Expr::Quantified { range, body, .. } => {
                only &= !is_it(*body);
                if let Iteration::Steps { from, to, step } = range {
                    only &= !is_it(*from) && !is_it(*to) && !step.is_some_and(is_it);
                }
            }
            Expr::Count { body, .. } => only &= !is_it(*body),
            Expr::IsPresent { .. } => {}
            Expr::Call { arguments, .. } => only &= arguments_avoid(model, arguments, local),
        },
        Node::Place(id) => {
            let place = &model.pool[id];
            let mut ty = match &place.root {
                Root::Variable(variable) => model.variables[*variable].ty,
                Root::Local(own) => scope.locals(model)[*own].ty,
                Root::Result { function, arguments } => {
                    only &= arguments_avoid(model, arguments, local);
                    model.functions[*function].result.expect("verified: it has a result")
                }
                Root::Choice { condition, then, .. } => {
                    only &= !is_it(*condition);
                    model.pool[*then].ty
                }
            };
            for step in &place.steps {
                ty = match (step, &model.types[ty].kind) {
                    (Step::Field(field), TypeKind::Record { fields }) => fields[*field as usize].ty,
                    (Step::Index(index), TypeKind::Array { element, .. }) => {
                        only &= !is_it(*index);
                        *element
                    }
                    (Step::Index(_), TypeKind::Multiset { element, .. }) => *element,
                    _ => unreachable!("verified: a step fits the type it starts from"),
                };
            }
        }
    });
    only
}

fn arguments_avoid(model: &Model, arguments: &[Argument], local: LocalId) -> bool {
    arguments.iter().all(|argument| match *argument {
        Argument::Value(value) => read_local(model, value) != Some(local),
        Argument::Copy(place) | Argument::Reference(place) => model.pool[place].root != Root::Local(local),
        Argument::Undefined => true,
    })
}

// ---- what can go wrong ----

/// Roles whose cells may be undefined in a reachable state.
#[derive(Clone, Debug, Default)]
pub(super) struct Undefined {
    /// Parameters of functions that are passed otherwise than as values.
    passed: FxHashSet<(FunctionId, LocalId)>,
    roles: FxHashSet<Role>,
}

impl Undefined {
    /// From the roles of cells that are undefined in an initial state, and the text.
    pub(super) fn new(model: &Model, shapes: &Shapes, initially: FxHashSet<Role>) -> Self {
        let mut roles = initially;
        let mut passed = FxHashSet::default();
        let contents = |shape: &Shape, roles: &mut FxHashSet<Role>| {
            shape.visit(&mut |role, _, part| {
                if part == super::shapes::Part::Contents {
                    roles.insert(role);
                }
            });
        };
        for scope in Scope::all(model) {
            if matches!(scope, Scope::Start(_)) {
                continue;
            }
            let copied = |place: PlaceId, roles: &mut FxHashSet<Role>| {
                // Variables of a scope begin undefined.
                if let Root::Local(local) = model.pool[place].root
                    && scope.locals(model)[local].kind == LocalKind::Variable
                    && let Some(shape) = shape_of(model, shapes, scope, place)
                {
                    contents(shape, roles);
                }
            };
            visit_statements(scope.body(model), &mut |statement| match &statement.kind {
                StatementKind::Undefine(place) => {
                    if let Some(shape) = shape_of(model, shapes, scope, *place) {
                        contents(shape, &mut roles);
                    }
                }
                StatementKind::Copy { source, .. }
                | StatementKind::MultisetAdd { element: MultisetElement::Copy(source), .. }
                | StatementKind::Return(Some(ReturnValue::Copy(source))) => copied(*source, &mut roles),
                _ => {}
            });
            visit_nodes(model, nodes_of(model, scope), |node| {
                if let Node::Expression(id) = node
                    && let Expr::Call { function, arguments } = &model.pool[id]
                {
                    arguments.iter().zip(&model.functions[*function].parameters).for_each(|(argument, parameter)| {
                        let own = shapes.local(Scope::Function(*function), *parameter);
                        if !matches!(argument, Argument::Value(_)) {
                            passed.insert((*function, *parameter));
                        }
                        match argument {
                            Argument::Copy(place) | Argument::Reference(place) => copied(*place, &mut roles),
                            Argument::Undefined => contents(own, &mut roles),
                            Argument::Value(_) => {}
                        }
                    });
                }
            });
            visit_statements(scope.body(model), &mut |statement| {
                if let StatementKind::Call { function, arguments } = &statement.kind {
                    for (argument, parameter) in arguments.iter().zip(&model.functions[*function].parameters) {
                        if !matches!(argument, Argument::Value(_)) {
                            passed.insert((*function, *parameter));
                        }
                        match argument {
                            Argument::Copy(place) | Argument::Reference(place) => copied(*place, &mut roles),
                            Argument::Undefined => {
                                contents(shapes.local(Scope::Function(*function), *parameter), &mut roles);
                            }
                            Argument::Value(_) => {}
                        }
                    }
                }
            });
        }
        Self { passed, roles }
    }
}

/// Whether a condition says that a place is defined that is known to be.
fn is_known_to_hold(model: &Model, condition: ExprId, defined: &[PlaceId]) -> bool {
    match model.pool[condition] {
        Expr::Unary { operator: UnaryOperator::Not, operand } => {
            matches!(model.pool[operand], Expr::IsUndefined(place) if is_among(model, place, defined))
        }
        _ => false,
    }
}

/// Whether a place is one of those given, or written like one of them. Nothing changes while a condition is evaluated.
fn is_among(model: &Model, place: PlaceId, places: &[PlaceId]) -> bool {
    fn same(model: &Model, left: ExprId, right: ExprId, depth: usize) -> bool {
        match (&model.pool[left], &model.pool[right]) {
            _ if left == right => true,
            (Expr::Constant { value, .. }, Expr::Constant { value: other, .. }) => value == other,
            (Expr::Read(place), Expr::Read(other)) => depth < 8 && same_place(model, *place, *other, depth + 1),
            _ => false,
        }
    }
    fn same_place(model: &Model, left: PlaceId, right: PlaceId, depth: usize) -> bool {
        let (one, other) = (&model.pool[left], &model.pool[right]);
        let step = |(one, other): (&Step, &Step)| match (one, other) {
            (Step::Field(one), Step::Field(other)) => one == other,
            (Step::Index(one), Step::Index(other)) => same(model, *one, *other, depth),
            _ => false,
        };
        let is_plain = matches!(one.root, Root::Variable(_) | Root::Local(_));
        left == right
            || (is_plain
                && one.root == other.root
                && one.steps.len() == other.steps.len()
                && one.steps.iter().zip(&other.steps).all(step))
    }
    places.iter().any(|known| same_place(model, place, *known, 0))
}

/// Whether a local is a parameter of a function.
fn is_argument(model: &Model, scope: Scope, local: LocalId) -> bool {
    matches!(scope, Scope::Function(function) if model.functions[function].parameters.contains(&local))
}

/// The shape of a place; `None` for results of functions and choices.
fn shape_of<'s>(model: &Model, shapes: &'s Shapes, scope: Scope, place: PlaceId) -> Option<&'s Shape> {
    let place = &model.pool[place];
    let mut shape: &Shape = match place.root {
        Root::Variable(variable) => &shapes.variables[variable],
        Root::Local(local) => shapes.local(scope, local),
        Root::Result { .. } | Root::Choice { .. } => return None,
    };
    for step in &place.steps {
        shape = match (step, shape) {
            (Step::Field(field), Shape::Record(fields)) => &fields[*field as usize],
            (Step::Index(_), Shape::Array { element, .. } | Shape::Multiset { element, .. }) => element,
            _ => return None,
        };
    }
    Some(shape)
}

/// Decides whether orders can be noticed.
pub(super) struct Orders<'a> {
    pub(super) model: &'a Model,
    pub(super) shapes: &'a Shapes,
    pub(super) undefined: &'a Undefined,
    /// Whether it matters which run-time error comes first.
    pub(super) errors: bool,
}

impl Orders<'_> {
    /// Whether the order of a quantifier cannot be noticed.
    pub(super) fn quantifier_commutes(&self, scope: Scope, quantifier: ExprId) -> bool {
        let Expr::Quantified { body, .. } = self.model.pool[quantifier] else { return false };
        let evaluates_all = never_decides(self.model, quantifier) && !self.errors;
        evaluates_all || !self.can_fail(scope, body)
    }

    /// Whether evaluating an expression may be a run-time error, as far as declarations and the conditions before it say.
    pub(super) fn can_fail(&self, scope: Scope, expression: ExprId) -> bool {
        self.can_fail_knowing(scope, expression, &mut Vec::new(), 0)
    }

    /// The same, where some places are known to be defined.
    fn can_fail_knowing(&self, scope: Scope, id: ExprId, defined: &mut Vec<PlaceId>, depth: usize) -> bool {
        if depth > DEEPEST {
            return true;
        }
        let model = self.model;
        let holds = matches!(model.pool[id], Expr::Conditional { condition, .. }
            if is_known_to_hold(model, condition, defined));
        let mut within = |id: ExprId, condition: Option<(ExprId, bool)>| {
            let before = defined.len();
            if let Some((condition, outcome)) = condition {
                self.learn(condition, outcome, defined, 0);
            }
            let fails = self.can_fail_knowing(scope, id, defined, depth + 1);
            defined.truncate(before);
            fails
        };
        let operands_fail = match &model.pool[id] {
            Expr::Constant { .. } => false,
            Expr::Read(place) | Expr::IsUndefined(place) => self.indices_can_fail(scope, *place, defined, depth),
            Expr::Unary { operand, .. } | Expr::IsMember { value: operand, .. } => within(*operand, None),
            Expr::Binary { operator, left, right } => {
                let known = match operator {
                    BinaryOperator::And | BinaryOperator::Implies => Some((*left, true)),
                    BinaryOperator::Or => Some((*left, false)),
                    _ => None,
                };
                within(*left, None) || within(*right, known)
            }
            Expr::Conditional { condition, then, otherwise } => {
                within(*condition, None)
                    || within(*then, Some((*condition, true)))
                    || (!holds && within(*otherwise, Some((*condition, false))))
            }
            Expr::Quantified { body, .. } => within(*body, None),
            Expr::Call { function, arguments } => {
                return self.call_can_fail(scope, *function, arguments, defined, depth);
            }
            Expr::SameContents { left, right } => {
                self.indices_can_fail(scope, *left, defined, depth)
                    || self.indices_can_fail(scope, *right, defined, depth)
            }
            Expr::Count { .. } | Expr::IsPresent { .. } => true,
        };
        let is_known = matches!(model.pool[id], Expr::Read(place) if is_among(model, place, defined));
        operands_fail || (!is_known && self.operation_can_fail(scope, id))
    }

    /// Whether a call may fail; only functions that do nothing but return a value are looked at.
    fn call_can_fail(
        &self,
        scope: Scope,
        function: FunctionId,
        arguments: &[Argument],
        defined: &mut Vec<PlaceId>,
        depth: usize,
    ) -> bool {
        let model = self.model;
        let entry = &model.functions[function];
        let fits = |scope: Scope, id: ExprId, ty: TypeId| {
            let domain = model.domain(ty);
            match (&model.pool[id], self.interval(scope, id)) {
                (Expr::Read(place), _) if self.is_within(scope, *place, &domain) => true,
                (_, Some((low, high))) => {
                    domain.between(low, high).is_some_and(|inside| inside.pieces() == [(low, high)])
                }
                _ => false,
            }
        };
        let [Statement { kind: StatementKind::Return(Some(ReturnValue::Value(value))), .. }] = &entry.body[..] else {
            return true;
        };
        let Some(result) = entry.result else { return true };
        let pass = arguments.iter().zip(&entry.parameters).all(|(argument, parameter)| match argument {
            Argument::Value(value) => {
                fits(scope, *value, entry.locals[*parameter].ty)
                    && !self.can_fail_knowing(scope, *value, defined, depth + 1)
            }
            _ => false,
        });
        let inside = Scope::Function(function);
        !pass || !fits(inside, *value, result) || self.can_fail_knowing(inside, *value, &mut Vec::new(), depth + 1)
    }

    fn indices_can_fail(&self, scope: Scope, place: PlaceId, defined: &mut Vec<PlaceId>, depth: usize) -> bool {
        let steps = &self.model.pool[place].steps;
        let mut indices = steps.iter().filter_map(|step| match step {
            Step::Index(index) => Some(*index),
            Step::Field(_) => None,
        });
        indices.any(|index| self.can_fail_knowing(scope, index, defined, depth + 1))
            || self.place_can_fail(scope, place)
    }

    /// The places that are defined if a condition has an outcome.
    fn learn(&self, condition: ExprId, outcome: bool, defined: &mut Vec<PlaceId>, depth: usize) {
        match (&self.model.pool[condition], outcome) {
            _ if depth > DEEPEST => {}
            (Expr::IsUndefined(place), false) => defined.push(*place),
            (Expr::Unary { operator: UnaryOperator::Not, operand }, _) => {
                self.learn(*operand, !outcome, defined, depth + 1);
            }
            (Expr::Binary { operator: BinaryOperator::And, left, right }, true)
            | (Expr::Binary { operator: BinaryOperator::Or, left, right }, false) => {
                self.learn(*left, outcome, defined, depth + 1);
                self.learn(*right, outcome, defined, depth + 1);
            }
            _ => {}
        }
    }

    /// Whether the operation itself may fail, if its operands do not.
    fn operation_can_fail(&self, scope: Scope, id: ExprId) -> bool {
        match &self.model.pool[id] {
            Expr::Read(place) => self.may_be_undefined(scope, *place),
            Expr::Unary { operator: UnaryOperator::Negate, .. } => self.interval(scope, id).is_none(),
            Expr::Binary { operator, .. } if computes(*operator) && !operator.is_comparison() => {
                self.interval(scope, id).is_none()
            }
            Expr::Quantified { range: Iteration::Steps { from, to, step }, .. } => {
                let constant = |id: &ExprId| matches!(self.model.pool[*id], Expr::Constant { .. });
                !constant(from) || !constant(to) || step.is_some()
            }
            Expr::IsPresent { .. } => true,
            _ => false,
        }
    }

    fn may_be_undefined(&self, scope: Scope, place: PlaceId) -> bool {
        match self.model.pool[place].root {
            Root::Variable(variable) if !self.model.variables[variable].may_be_undefined => {
                // Cells of absent elements are undefined.
                self.enters_multiset(place, self.model.variables[variable].ty)
            }
            Root::Local(local) if scope.locals(self.model)[local].kind == LocalKind::Variable => true,
            // Whatever is bound by a rule, a loop or a quantifier has a value.
            Root::Local(local)
                if scope.locals(self.model)[local].kind == LocalKind::Parameter
                    && (!is_argument(self.model, scope, local) || self.is_passed_by_value(scope, local)) =>
            {
                false
            }
            _ => match shape_of(self.model, self.shapes, scope, place) {
                Some(Shape::Scalar { role, .. }) => {
                    let ty = match self.model.pool[place].root {
                        Root::Variable(variable) => self.model.variables[variable].ty,
                        Root::Local(local) => scope.locals(self.model)[local].ty,
                        _ => return true,
                    };
                    self.undefined.roles.contains(role) || self.enters_multiset(place, ty)
                }
                _ => true,
            },
        }
    }

    /// Whether a parameter of a function that only returns a value always gets one.
    fn is_passed_by_value(&self, scope: Scope, local: LocalId) -> bool {
        let Scope::Function(function) = scope else { return false };
        let returns =
            matches!(&self.model.functions[function].body[..], [one] if matches!(one.kind, StatementKind::Return(_)));
        returns
            && self.model.is_scalar(scope.locals(self.model)[local].ty)
            && !self.undefined.passed.contains(&(function, local))
    }

    fn enters_multiset(&self, place: PlaceId, mut ty: TypeId) -> bool {
        for step in &self.model.pool[place].steps {
            ty = match (step, &self.model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => fields[*field as usize].ty,
                (Step::Index(_), TypeKind::Array { element, .. }) => *element,
                _ => return true,
            };
        }
        false
    }

    /// Whether an index may be out of range.
    fn place_can_fail(&self, scope: Scope, place: PlaceId) -> bool {
        let entry = &self.model.pool[place];
        let mut ty = match &entry.root {
            Root::Variable(variable) => self.model.variables[*variable].ty,
            Root::Local(local) => scope.locals(self.model)[*local].ty,
            Root::Result { .. } => return true,
            Root::Choice { then, .. } => self.model.pool[*then].ty,
        };
        for step in &entry.steps {
            ty = match (step, &self.model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => fields[*field as usize].ty,
                (Step::Index(index), TypeKind::Array { index: index_type, element }) => {
                    let domain = self.model.domain(*index_type);
                    let inside = match (&self.model.pool[*index], self.interval(scope, *index)) {
                        (Expr::Read(place), _) if self.is_within(scope, *place, &domain) => true,
                        (_, Some((low, high))) => {
                            domain.between(low, high).is_some_and(|inside| inside.pieces() == [(low, high)])
                        }
                        _ => false,
                    };
                    if !inside {
                        return true;
                    }
                    *element
                }
                // A position of a multiset may be absent.
                _ => return true,
            };
        }
        false
    }

    /// Whether all values of the type of a place are in a domain.
    fn is_within(&self, _: Scope, place: PlaceId, domain: &Domain) -> bool {
        let own = self.model.domain(self.model.pool[place].ty);
        own.pieces()
            .iter()
            .all(|&(low, high)| domain.between(low, high).is_some_and(|inside| inside.pieces() == [(low, high)]))
    }

    /// Bounds of the values of an expression, if no operation in it can go wrong by being too large.
    fn interval(&self, scope: Scope, id: ExprId) -> Option<(i64, i64)> {
        self.interval_within(scope, id, 64)
    }

    fn interval_within(&self, scope: Scope, id: ExprId, depth: usize) -> Option<(i64, i64)> {
        let deeper = |id: ExprId| self.interval_within(scope, id, depth.checked_sub(1)?);
        let small = |(low, high): (i64, i64)| (low > -SMALL && high < SMALL).then_some((low, high));
        match &self.model.pool[id] {
            &Expr::Constant { value, .. } => small((value, value)),
            Expr::Read(place) => {
                let place = &self.model.pool[*place];
                if let Root::Local(local) = place.root
                    && place.steps.is_empty()
                    && let Some(range) = self.range_of(scope, local)
                {
                    return small(range);
                }
                let domain = self.model.domain(place.ty);
                small((domain.least(), domain.greatest()))
            }
            Expr::Unary { operator, operand } => match operator {
                UnaryOperator::Not => Some((0, 1)),
                UnaryOperator::Negate => deeper(*operand).map(|(low, high)| (-high, -low)),
                UnaryOperator::Complement => deeper(*operand).map(|(low, high)| (!high, !low)),
            },
            Expr::Binary { operator, left, right } => {
                if !computes(*operator) || operator.is_comparison() {
                    return Some((0, 1));
                }
                let ((a, b), (c, d)) = (deeper(*left)?, deeper(*right)?);
                small(match operator {
                    BinaryOperator::Add => (a + c, b + d),
                    BinaryOperator::Subtract => (a - d, b - c),
                    BinaryOperator::Multiply => {
                        let corners = [a * c, a * d, b * c, b * d];
                        (*corners.iter().min()?, *corners.iter().max()?)
                    }
                    BinaryOperator::Divide if c > 0 && a >= 0 => (a / d, b / c),
                    BinaryOperator::Remainder if c > 0 && a >= 0 => (0, b.min(d - 1)),
                    BinaryOperator::BitAnd if a >= 0 && c >= 0 => (0, b.min(d)),
                    _ => return None,
                })
            }
            Expr::Conditional { then, otherwise, .. } => {
                let ((a, b), (c, d)) = (deeper(*then)?, deeper(*otherwise)?);
                Some((a.min(c), b.max(d)))
            }
            Expr::Call { function, .. } => {
                let domain = self.model.domain(self.model.functions[*function].result?);
                small((domain.least(), domain.greatest()))
            }
            Expr::Quantified { .. } | Expr::IsUndefined(_) | Expr::IsPresent { .. } | Expr::IsMember { .. } => {
                Some((0, 1))
            }
            Expr::SameContents { .. } => Some((0, 1)),
            Expr::Count { .. } => None,
        }
    }

    /// The values of a parameter, if it ranges over constants.
    fn range_of(&self, scope: Scope, local: LocalId) -> Option<(i64, i64)> {
        let parameters = scope.parameters(self.model);
        let range = &parameters.iter().find(|parameter| parameter.local == local)?.range;
        self.bounds(range)
    }

    fn bounds(&self, range: &Iteration) -> Option<(i64, i64)> {
        match *range {
            Iteration::Over(ty) if self.model.is_scalar(ty) => {
                let domain = self.model.domain(ty);
                Some((domain.least(), domain.greatest()))
            }
            Iteration::Steps { from, to, .. } => match (&self.model.pool[from], &self.model.pool[to]) {
                (&Expr::Constant { value: from, .. }, &Expr::Constant { value: to, .. }) => {
                    Some((from.min(to), from.max(to)))
                }
                _ => None,
            },
            Iteration::Over(_) => None,
        }
    }
}

// ---- loops ----

/// One step of the path to a cell, as far as iterations are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Field(u32),
    /// The value of the loop variable: a different one in each iteration.
    Own,
    Constant(i64),
    Any,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Base {
    Variable(VariableId),
    /// A variable of the scope of the loop.
    Local(LocalId),
    /// A reference to an unknown place.
    Unknown,
}

/// What an iteration does to cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    Read,
    /// Adds a number that is not negative.
    Increase,
    Decrease,
    Or,
    And,
    Set(i64),
    Undefine,
    Clear,
    Insert,
    Write,
}

#[derive(Clone, Debug)]
struct Access {
    base: Base,
    path: Vec<Position>,
    touch: Touch,
}

/// What locals stand for while a body is read.
#[derive(Clone, Debug)]
enum Binding {
    /// The value of the loop variable.
    Own,
    /// A place, by reference.
    Place(Base, Vec<Position>),
    /// Something of this call alone.
    Private,
}

struct Frame {
    scope: Scope,
    bindings: FxHashMap<LocalId, Binding>,
    /// Whether this is the scope of the loop, whose variables outlive an iteration.
    is_outer: bool,
    depth: usize,
}

struct Accesses<'a> {
    orders: &'a Orders<'a>,
    found: Vec<Access>,
    returns: Vec<Option<i64>>,
    /// The invariants that assertions stand for.
    violates: Vec<PropertyId>,
    can_fail: bool,
}

impl Orders<'_> {
    /// Whether the iterations of a loop can run in any order.
    pub(super) fn loop_commutes(&self, scope: Scope, local: LocalId, body: &[Statement]) -> bool {
        if self.errors {
            return false;
        }
        let (found, returns, violates) = (Vec::new(), Vec::new(), Vec::new());
        let mut accesses = Accesses { orders: self, found, returns, violates, can_fail: false };
        let bindings = FxHashMap::from_iter([(local, Binding::Own)]);
        let mut frame = Frame { scope, bindings, is_outer: true, depth: 0 };
        if accesses.statements(&mut frame, body).is_none() {
            return false;
        }
        let Accesses { mut found, returns, can_fail, violates, .. } = accesses;
        if violates.windows(2).any(|pair| pair[0] != pair[1]) || (!violates.is_empty() && can_fail) {
            // It matters what goes wrong first.
            return false;
        }
        let mut private = FxHashMap::default();
        found.retain(|access| match access.base {
            Base::Local(own) => !*private.entry(own).or_insert_with(|| self.is_private(scope, own, body)),
            Base::Variable(_) | Base::Unknown => true,
        });
        if !returns.is_empty() {
            // The first iteration that returns ends the loop.
            let same = returns.windows(2).all(|pair| pair[0] == pair[1]) && returns[0].is_some();
            return same && !can_fail && violates.is_empty() && found.iter().all(|access| access.touch == Touch::Read);
        }
        let writes: Vec<&Access> = found.iter().filter(|access| access.touch != Touch::Read).collect();
        writes.iter().all(|write| found.iter().all(|access| write.commutes_with(access)))
    }

    /// Whether a variable of the scope is used in one iteration at a time: it occurs nowhere else, and every iteration
    /// sets it first.
    fn is_private(&self, scope: Scope, local: LocalId, body: &[Statement]) -> bool {
        let mentions = |statement: &Statement| {
            let mut nodes = Vec::new();
            visit_statements(std::slice::from_ref(statement), &mut |inner| push_statement_nodes(inner, &mut nodes));
            let mut found = false;
            visit_nodes(self.model, nodes, |node| {
                found |= matches!(node, Node::Place(id) if self.model.pool[id].root == Root::Local(local));
            });
            found
        };
        let Some(first) = body.iter().find(|statement| mentions(statement)) else { return false };
        let sets = match &first.kind {
            StatementKind::Assign { target, value } => {
                let mut reads = false;
                visit_nodes(self.model, [Node::Expression(*value)], |node| {
                    reads |= matches!(node, Node::Place(id) if self.model.pool[id].root == Root::Local(local));
                });
                (!reads).then_some(*target)
            }
            StatementKind::Copy { target, source } if self.model.pool[*source].root != Root::Local(local) => {
                Some(*target)
            }
            StatementKind::Clear(place) | StatementKind::Undefine(place) => Some(*place),
            _ => None,
        };
        let is_set = sets.is_some_and(|place| {
            let place = &self.model.pool[place];
            place.root == Root::Local(local) && place.steps.is_empty()
        });
        is_set && !self.is_mentioned_outside(scope.body(self.model), body, local)
    }

    /// Whether statements other than a body mention a local.
    fn is_mentioned_outside(&self, statements: &[Statement], body: &[Statement], local: LocalId) -> bool {
        statements.iter().any(|statement| {
            let mut nodes = Vec::new();
            push_statement_nodes(statement, &mut nodes);
            let mut found = false;
            visit_nodes(self.model, nodes, |node| {
                found |= matches!(node, Node::Place(id) if self.model.pool[id].root == Root::Local(local));
            });
            found
                || match &statement.kind {
                    StatementKind::If { branches, otherwise } => {
                        let mut inner = branches.iter().map(|(_, inner)| inner).chain([otherwise]);
                        inner.any(|inner| self.is_mentioned_outside(inner, body, local))
                    }
                    StatementKind::While { body: inner, .. } | StatementKind::For { body: inner, .. } => {
                        !std::ptr::eq(inner.as_slice(), body) && self.is_mentioned_outside(inner, body, local)
                    }
                    _ => false,
                }
        })
    }
}

impl Access {
    /// Whether two accesses of different iterations touch different cells, or commute.
    fn commutes_with(&self, other: &Self) -> bool {
        let same = match (self.base, other.base) {
            (Base::Variable(left), Base::Variable(right)) => left == right,
            (Base::Local(left), Base::Local(right)) => left == right,
            (Base::Unknown, Base::Local(_)) | (Base::Local(_), Base::Unknown) => true,
            (Base::Unknown, _) | (_, Base::Unknown) => return self.does_as(other),
            _ => false,
        };
        let apart = self.path.iter().zip(&other.path).any(|pair| match pair {
            (Position::Field(left), Position::Field(right)) => left != right,
            (Position::Constant(left), Position::Constant(right)) => left != right,
            (Position::Own, Position::Own) => true,
            _ => false,
        });
        !same || apart || self.does_as(other)
    }

    /// Whether both do the same, in a way that commutes.
    fn does_as(&self, other: &Self) -> bool {
        self.touch == other.touch && !matches!(self.touch, Touch::Write)
    }
}

impl Accesses<'_> {
    fn model(&self) -> &Model {
        self.orders.model
    }

    fn add(&mut self, (base, path): (Base, Vec<Position>), touch: Touch) -> Option<()> {
        self.found.push(Access { base, path, touch });
        (self.found.len() <= MOST_ACCESSES).then_some(())
    }

    /// Where a place is, with what its indices read. `None` in the result: in something that belongs to one iteration
    /// alone.
    fn locate(&mut self, frame: &Frame, place: PlaceId) -> Option<Option<(Base, Vec<Position>)>> {
        let entry = &self.orders.model.pool[place];
        match &entry.root {
            Root::Variable(_) | Root::Local(_) => {}
            Root::Result { function, arguments } => self.call(frame, *function, arguments)?,
            Root::Choice { condition, then, otherwise } => {
                self.expression(frame, *condition)?;
                self.touch(frame, *then, Touch::Read)?;
                self.touch(frame, *otherwise, Touch::Read)?;
            }
        }
        for step in &entry.steps {
            if let Step::Index(index) = step {
                self.expression(frame, *index)?;
            }
        }
        Some(self.locate_only(frame, place))
    }

    /// What a reference that was bound before the loop stands for.
    fn reference(&self, frame: &Frame, local: LocalId) -> (Base, Vec<Position>) {
        let unknown = (Base::Unknown, Vec::new());
        let model = self.model();
        let mut bound = Vec::new();
        visit_statements(frame.scope.body(model), &mut |statement| {
            if let StatementKind::Bind { local: own, place } = statement.kind
                && own == local
            {
                bound.push(place);
            }
        });
        let [place] = bound[..] else { return unknown };
        let place = &model.pool[place];
        let base = match place.root {
            Root::Variable(variable) => Base::Variable(variable),
            Root::Local(own) if frame.is_outer && frame.scope.locals(model)[own].kind == LocalKind::Variable => {
                Base::Local(own)
            }
            _ => return unknown,
        };
        let position = |step: &Step| match *step {
            Step::Field(field) => Position::Field(field),
            Step::Index(index) => match model.pool[index] {
                Expr::Constant { value, .. } => Position::Constant(value),
                _ => Position::Any,
            },
        };
        (base, place.steps.iter().map(position).collect())
    }

    /// Whether an expression is the loop variable.
    fn is_own(&self, frame: &Frame, expression: ExprId) -> bool {
        read_local(self.model(), expression)
            .is_some_and(|local| matches!(frame.bindings.get(&local), Some(Binding::Own)))
    }

    fn touch(&mut self, frame: &Frame, place: PlaceId, touch: Touch) -> Option<()> {
        if let Root::Local(local) = self.model().pool[place].root
            && touch != Touch::Read
            && matches!(frame.bindings.get(&local), Some(Binding::Own))
        {
            return None;
        }
        match self.locate(frame, place)? {
            Some(located) => self.add(located, touch),
            None => Some(()),
        }
    }

    /// What evaluating an expression reads.
    fn expression(&mut self, frame: &Frame, expression: ExprId) -> Option<()> {
        let orders = self.orders;
        if frame.is_outer && !self.can_fail {
            self.can_fail = orders.can_fail(frame.scope, expression);
        }
        let mut nodes = Vec::new();
        visit_nodes(orders.model, [Node::Expression(expression)], |node| nodes.push(node));
        if nodes.len() > MOST_ACCESSES {
            return None;
        }
        for node in nodes {
            match node {
                // Places are nodes of their own.
                Node::Expression(id) => {
                    if let Expr::Call { function, arguments } = &orders.model.pool[id] {
                        self.call(frame, *function, arguments)?;
                    }
                }
                Node::Place(id) => {
                    // Indices are nodes of their own.
                    if let Some(located) = self.locate_only(frame, id) {
                        self.add(located, Touch::Read)?;
                    }
                    if let Root::Result { function, arguments } = &orders.model.pool[id].root {
                        self.call(frame, *function, arguments)?;
                    }
                }
            }
        }
        Some(())
    }

    /// Where a place is, without what its indices read.
    fn locate_only(&self, frame: &Frame, place: PlaceId) -> Option<(Base, Vec<Position>)> {
        let model = self.model();
        let entry = &model.pool[place];
        let (base, mut path) = match &entry.root {
            Root::Variable(variable) => (Base::Variable(*variable), Vec::new()),
            Root::Local(local) => match frame.bindings.get(local) {
                Some(Binding::Own | Binding::Private) => return None,
                Some(Binding::Place(base, path)) => (*base, path.clone()),
                None => match frame.scope.locals(model)[*local].kind {
                    LocalKind::Reference => self.reference(frame, *local),
                    _ if frame.is_outer => (Base::Local(*local), Vec::new()),
                    LocalKind::Parameter | LocalKind::Variable => return None,
                },
            },
            Root::Result { .. } | Root::Choice { .. } => return None,
        };
        for step in &entry.steps {
            path.push(match step {
                Step::Field(field) => Position::Field(*field),
                Step::Index(index) => match &model.pool[*index] {
                    Expr::Constant { value, .. } => Position::Constant(*value),
                    _ if self.is_own(frame, *index) => Position::Own,
                    _ => Position::Any,
                },
            });
        }
        Some((base, path))
    }

    fn call(&mut self, frame: &Frame, function: FunctionId, arguments: &[Argument]) -> Option<()> {
        if frame.depth == DEEPEST_CALL {
            return None;
        }
        self.can_fail = true;
        let orders = self.orders;
        let entry = &orders.model.functions[function];
        let mut bindings = FxHashMap::default();
        for (parameter, argument) in entry.parameters.iter().zip(arguments) {
            let binding = match argument {
                Argument::Value(value) => {
                    self.expression(frame, *value)?;
                    if self.is_own(frame, *value) { Binding::Own } else { Binding::Private }
                }
                Argument::Copy(place) => {
                    self.touch(frame, *place, Touch::Read)?;
                    let place = &orders.model.pool[*place];
                    match place.root {
                        Root::Local(local)
                            if place.steps.is_empty() && matches!(frame.bindings.get(&local), Some(Binding::Own)) =>
                        {
                            Binding::Own
                        }
                        _ => Binding::Private,
                    }
                }
                Argument::Reference(place) => match self.locate(frame, *place)? {
                    Some((base, path)) => Binding::Place(base, path),
                    None => Binding::Private,
                },
                Argument::Undefined => Binding::Private,
            };
            bindings.insert(*parameter, binding);
        }
        let scope = Scope::Function(function);
        // A parameter that is assigned to is no longer the loop variable.
        visit_statements(&entry.body, &mut |statement| {
            let target = match &statement.kind {
                StatementKind::Assign { target, .. } | StatementKind::Copy { target, .. } => Some(*target),
                StatementKind::Clear(place) | StatementKind::Undefine(place) => Some(*place),
                _ => None,
            };
            if let Some(place) = target
                && let Root::Local(local) = orders.model.pool[place].root
                && matches!(bindings.get(&local), Some(Binding::Own))
            {
                bindings.insert(local, Binding::Private);
            }
        });
        let returns = std::mem::take(&mut self.returns);
        let mut inner = Frame { scope, bindings, is_outer: false, depth: frame.depth + 1 };
        self.statements(&mut inner, &entry.body)?;
        self.returns = returns;
        Some(())
    }

    /// Reads statements; `None` if something cannot be judged.
    fn statements(&mut self, frame: &mut Frame, statements: &[Statement]) -> Option<()> {
        for statement in statements {
            self.statement(frame, statement)?;
        }
        Some(())
    }

    fn statement(&mut self, frame: &mut Frame, statement: &Statement) -> Option<()> {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let touch = self.assignment(frame, *target, *value)?;
                self.touch(frame, *target, touch)
            }
            StatementKind::Copy { target, source } => {
                self.touch(frame, *source, Touch::Read)?;
                self.touch(frame, *target, Touch::Write)
            }
            StatementKind::Clear(place) => self.touch(frame, *place, Touch::Clear),
            StatementKind::Undefine(place) => self.touch(frame, *place, Touch::Undefine),
            StatementKind::Bind { local, place } => {
                let binding = match self.locate(frame, *place)? {
                    Some((base, path)) => Binding::Place(base, path),
                    None => Binding::Private,
                };
                frame.bindings.insert(*local, binding);
                Some(())
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.expression(frame, *condition)?;
                    self.statements(frame, body)?;
                }
                self.statements(frame, otherwise)
            }
            StatementKind::While { condition, body } => {
                self.can_fail = true;
                self.expression(frame, *condition)?;
                self.statements(frame, body)
            }
            StatementKind::For { range, body, .. } => {
                if let Iteration::Steps { from, to, step } = range {
                    for bound in [*from, *to].into_iter().chain(*step) {
                        self.expression(frame, bound)?;
                    }
                }
                self.statements(frame, body)
            }
            StatementKind::Call { function, arguments } => self.call(frame, *function, arguments),
            StatementKind::Return(value) => {
                let constant = match value {
                    None => Some(0),
                    Some(ReturnValue::Value(value)) => {
                        self.expression(frame, *value)?;
                        match self.model().pool[*value] {
                            Expr::Constant { value, .. } => Some(value),
                            _ => None,
                        }
                    }
                    Some(ReturnValue::Copy(place)) => {
                        self.touch(frame, *place, Touch::Read)?;
                        None
                    }
                };
                self.returns.push(constant);
                Some(())
            }
            StatementKind::Assert { condition, violates: None, .. } => {
                self.can_fail = true;
                self.expression(frame, *condition)
            }
            StatementKind::Error { .. } => {
                self.can_fail = true;
                Some(())
            }
            StatementKind::Print(_) => Some(()),
            StatementKind::MultisetAdd { multiset, element } => {
                self.can_fail = true;
                match element {
                    MultisetElement::Value(value) => self.expression(frame, *value)?,
                    MultisetElement::Copy(place) => self.touch(frame, *place, Touch::Read)?,
                }
                self.touch(frame, *multiset, Touch::Insert)
            }
            StatementKind::Assert { condition, violates: Some(violated), .. } => {
                self.violates.push(violated.property);
                self.expression(frame, *condition)
            }
            // What ends or drops a step, or depends on the other iterations.
            StatementKind::Require { .. }
            | StatementKind::Assume(_)
            | StatementKind::Cover { .. }
            | StatementKind::MultisetRemove { .. }
            | StatementKind::MultisetRemoveIf { .. } => None,
        }
    }

    /// What an assignment does to its target.
    fn assignment(&mut self, frame: &Frame, target: PlaceId, value: ExprId) -> Option<Touch> {
        let orders = self.orders;
        let is_target = |id: ExprId| matches!(orders.model.pool[id], Expr::Read(place) if place == target);
        let scope = frame.scope;
        let at_least_zero = |id: ExprId| orders.interval(scope, id).is_some_and(|(low, _)| low >= 0);
        let accumulated = match orders.model.pool[value] {
            Expr::Binary { operator, left, right } => match operator {
                BinaryOperator::Add if is_target(left) && at_least_zero(right) => Some((right, Touch::Increase)),
                BinaryOperator::Add if is_target(right) && at_least_zero(left) => Some((left, Touch::Increase)),
                BinaryOperator::Subtract if is_target(left) && at_least_zero(right) => Some((right, Touch::Decrease)),
                BinaryOperator::Or if is_target(left) && !orders.can_fail(scope, right) => Some((right, Touch::Or)),
                BinaryOperator::And if is_target(left) && !orders.can_fail(scope, right) => Some((right, Touch::And)),
                _ => None,
            },
            _ => None,
        };
        Some(match accumulated {
            Some((added, touch)) => {
                // The target itself may be undefined, whatever the order.
                self.can_fail = true;
                self.expression(frame, added)?;
                touch
            }
            None => {
                self.expression(frame, value)?;
                let domain = orders.model.domain(orders.model.pool[target].ty);
                let fits = |(low, high): (i64, i64)| {
                    domain.between(low, high).is_some_and(|inside| inside.pieces() == [(low, high)])
                };
                let fits = orders.interval(scope, value).is_some_and(fits);
                let place_fails = orders.indices_can_fail(scope, target, &mut Vec::new(), 0);
                self.can_fail |= !fits || place_fails || !frame.is_outer;
                match orders.model.pool[value] {
                    Expr::Constant { value, .. } => Touch::Set(value),
                    _ => Touch::Write,
                }
            }
        })
    }
}
