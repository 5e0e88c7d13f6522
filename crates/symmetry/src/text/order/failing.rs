//! What can go wrong, as far as declarations and the conditions before it say.

use quotient_ir::walk::{Node, visit_nodes, visit_statements};
use quotient_ir::{
    Argument, BinaryOperator, Domain, Expr, ExprId, FunctionId, Iteration, LocalId, LocalKind, Model, MultisetElement,
    PlaceId, ReturnValue, Root, Statement, StatementKind, Step, TypeId, TypeKind, UnaryOperator,
};
use rustc_hash::FxHashSet;

use super::super::opaque::computes;
use super::super::shapes::{Part, Role, Scope, Shape, Shapes};
use super::Orders;
use super::positions::nodes_of;

/// Expressions nested more deeply are taken to fail.
const DEEPEST: usize = 400;
/// Numbers up to this size do not overflow when they are added or multiplied.
const SMALL: i64 = 1 << 31;

/// Roles whose cells may be undefined in a reachable state.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Undefined {
    /// Parameters of functions that are passed otherwise than as values.
    passed: FxHashSet<(FunctionId, LocalId)>,
    roles: FxHashSet<Role>,
}

impl Undefined {
    /// From the roles of cells that are undefined in an initial state, and the text.
    pub(in super::super) fn new(model: &Model, shapes: &Shapes, initially: FxHashSet<Role>) -> Self {
        let mut roles = initially;
        let mut passed = FxHashSet::default();
        let contents = |shape: &Shape, roles: &mut FxHashSet<Role>| {
            shape.visit(&mut |role, _, part| {
                if part == Part::Contents {
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

impl Orders<'_> {
    /// Whether evaluating an expression may be a run-time error, as far as declarations and the conditions before it say.
    pub(in super::super) fn can_fail(&self, scope: Scope, expression: ExprId) -> bool {
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

    pub(super) fn indices_can_fail(
        &self,
        scope: Scope,
        place: PlaceId,
        defined: &mut Vec<PlaceId>,
        depth: usize,
    ) -> bool {
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
    pub(super) fn interval(&self, scope: Scope, id: ExprId) -> Option<(i64, i64)> {
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
