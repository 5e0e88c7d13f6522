//! Checks a claim about roles against the text: that a step of the image of a state is the image of a step of the state.
//!
//! The checker reads the text on its own, as a type checker does: it is given the roles of all declarations, and shows
//! for each expression and statement that the claimed permutations commute with it. It shares with the inference what
//! computations are (`opaque`), and when orders cannot be noticed (`order`), but neither the walk nor the unification.

use std::sync::Arc;

use quotient_functions::Preserved;
use quotient_ir::{
    Argument, BinaryOperator, Domain, Expr, ExprId, FunctionId, Iteration, Layout, LocalId, Model, MultisetElement,
    PlaceId, ReturnValue, Root, Span, Statement, StatementKind, Step, TableIndex, UnaryOperator, Valuation,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::inference::{Cause, Why};
use super::motion::Motion;
use super::opaque::{Computation, computes, is_checkable, is_small};
use super::order::{Orders, is_position, is_position_only};
use super::patch::{self, Patch, Write};
use super::shapes::{Part, Role, Scope, Shape, Shapes};
use super::strict::strict_pair;

/// Expressions deeper than this are refused.
const DEEPEST: usize = 4_000;

/// What is claimed: that these permutations of values are symmetries.
pub(super) enum Claim<'a> {
    /// All permutations within classes of values of one role.
    Free(Role, &'a [Vec<i64>]),
    /// One permutation.
    Motion(&'a Motion),
}

/// Where the text contradicts a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The place.
    pub span: Span,
    /// What is wrong there.
    pub reason: &'static str,
}

type Checked<T> = Result<T, Contradiction>;

impl Claim<'_> {
    fn moves(&self, role: Role) -> bool {
        match self {
            Self::Free(own, _) => *own == role,
            Self::Motion(motion) => motion.of(role).is_some(),
        }
    }

    fn fixes(&self, role: Role, value: i64) -> bool {
        match self {
            Self::Free(own, classes) => *own != role || !classes.iter().any(|class| class.contains(&value)),
            Self::Motion(motion) => motion.image(role, value) == value,
        }
    }

    fn preserves(&self, role: Role, domain: &Domain) -> bool {
        match self {
            Self::Free(own, classes) => {
                *own != role
                    || classes.iter().all(|class| {
                        let inside = class.iter().filter(|value| domain.contains(**value)).count();
                        inside == 0 || inside == class.len()
                    })
            }
            Self::Motion(motion) => motion.preserves(role, domain),
        }
    }

    /// Generators of what is claimed.
    pub(super) fn generators(&self) -> Vec<Motion> {
        match self {
            Self::Free(role, classes) => classes.iter().flat_map(|class| Motion::of_class(*role, class)).collect(),
            Self::Motion(motion) => vec![(*motion).clone()],
        }
    }
}

/// A computation, and the roles and values of its leaves.
type ComputedFrom = (Computation, Vec<(Role, Domain)>);

/// What is known about the value of an expression.
#[derive(Clone, Debug)]
enum Value {
    /// A constant.
    Constant(i64),
    /// The same in the image.
    Number,
    /// A value of a role: the image of it in the image.
    Of(Role),
    /// Computed from values of roles.
    Computed(Arc<ComputedFrom>),
    /// One of these: the same one in the image.
    Either(Arc<[Value; 2]>),
}

pub(super) struct Checker<'a> {
    pub(super) model: &'a Model,
    pub(super) shapes: &'a Shapes,
    pub(super) orders: &'a Orders<'a>,
    pub(super) claim: &'a Claim<'a>,
}

struct Walker<'a> {
    checker: &'a Checker<'a>,
    scope: Scope,
    span: Span,
    known: FxHashMap<ExprId, Value>,
    ranges: FxHashMap<LocalId, Domain>,
    depth: usize,
}

impl Checker<'_> {
    /// Checks the text of scopes, and that what is preserved is.
    pub(super) fn check(&self, scopes: &[Scope], preserved: Preserved<'_>) -> Checked<()> {
        if let Claim::Motion(motion) = self.claim
            && !motion.is_permutation()
        {
            return Err(Contradiction { span: Span::default(), reason: "it does not permute the values" });
        }
        self.declarations()?;
        let exchanged = self.exchanged(scopes);
        for &scope in scopes.iter().filter(|scope| !exchanged.contains(scope)) {
            let span = scope.span(self.model);
            let mut walker = Walker {
                checker: self,
                scope,
                span,
                known: FxHashMap::default(),
                ranges: FxHashMap::default(),
                depth: 0,
            };
            walker.scope()?;
            if let (Scope::Property(property), Preserved::Instances { properties, arguments }) = (scope, preserved)
                && properties.contains(&property)
            {
                walker.instance(arguments)?;
            }
        }
        Ok(())
    }

    /// Rules that do nothing but assign constants, under a condition that only reads what stays, and that the claim maps
    /// to such rules with the same condition.
    fn exchanged(&self, scopes: &[Scope]) -> Vec<Scope> {
        let rules = scopes.iter().filter_map(|scope| if let Scope::Rule(rule) = scope { Some(*rule) } else { None });
        let mut patches = Vec::new();
        for rule in rules.filter(|rule| self.model.rules[*rule].parameters.is_empty()) {
            let entry = &self.model.rules[rule];
            if let Some((count, writes)) = patch::leading(self.model, self.shapes, &entry.body)
                && count == entry.body.len()
            {
                let cause = Cause { scope: None, span: entry.span, why: Why::Sets };
                patches.push(Patch { writes, rule: Some(rule), cause });
            }
        }
        let generators = self.claim.generators();
        let mut exchanged = Vec::new();
        for group in patch::groups(self.model, &patches).into_iter().filter(|group| group.len() > 1) {
            let sorted = |mut writes: Vec<Write>| {
                writes.sort_unstable();
                writes
            };
            let known: FxHashSet<Vec<Write>> =
                group.iter().map(|number| sorted(patches[*number].writes.clone())).collect();
            let is_mapped = |number: &usize| {
                generators.iter().all(|motion| {
                    let image = patches[*number].writes.iter();
                    let image = image.map(|write| write.image(|role, value| motion.image(role, value)));
                    known.contains(&sorted(image.collect()))
                })
            };
            let stays =
                |number: &usize| patches[*number].rule.is_some_and(|rule| self.stays(self.model.rules[rule].guard));
            if known.len() == group.len() && group.iter().all(is_mapped) && group.iter().all(stays) {
                exchanged.extend(group.iter().filter_map(|number| patches[*number].rule.map(Scope::Rule)));
            }
        }
        exchanged
    }

    /// Whether a condition reads nothing but plain variables that the claim does not move.
    fn stays(&self, condition: ExprId) -> bool {
        match &self.model.pool[condition] {
            Expr::Constant { .. } => true,
            Expr::Read(place) => {
                let place = &self.model.pool[*place];
                match place.root {
                    Root::Variable(variable) if place.steps.is_empty() => match &*self.shapes.variables[variable] {
                        Shape::Scalar { role, .. } => !self.claim.moves(*role),
                        _ => false,
                    },
                    _ => false,
                }
            }
            Expr::Binary { left, right, .. } => self.stays(*left) && self.stays(*right),
            Expr::Unary { operand, .. } => self.stays(*operand),
            _ => false,
        }
    }

    /// The values of every type are mapped to values of the same type.
    fn declarations(&self) -> Checked<()> {
        let variables = self.model.variables.iter().zip(self.shapes.variables.iter());
        for (variable, shape) in variables {
            self.declaration(shape, variable.span)?;
            let mut keeps_amounts = true;
            shape.visit(&mut |role, ty, part| {
                let is_amount = part == Part::Contents && self.model.is_amount(ty);
                keeps_amounts &= !is_amount || !self.claim.moves(role);
            });
            if !keeps_amounts {
                return Err(Contradiction { span: variable.span, reason: "it changes amounts" });
            }
        }
        for (scope, locals) in &self.shapes.locals {
            for shape in locals {
                self.declaration(shape, scope.span(self.model))?;
            }
        }
        for (function, result) in self.model.functions.iter().zip(&self.shapes.results) {
            if let Some(shape) = result {
                self.declaration(shape, function.span)?;
            }
        }
        Ok(())
    }

    fn declaration(&self, shape: &Shape, span: Span) -> Checked<()> {
        let mut closed = true;
        shape.visit(&mut |role, ty, _| {
            closed = closed && (!self.claim.moves(role) || self.claim.preserves(role, &self.model.domain(ty)));
        });
        if closed {
            Ok(())
        } else {
            Err(Contradiction { span, reason: "the values of a type are not mapped to each other" })
        }
    }

    /// Whether a computation commutes with the claim, with results in a role (or fixed).
    fn commutes(&self, computed: &ComputedFrom, result: Option<Role>) -> bool {
        let (computation, leaves) = computed;
        let moved: Vec<Motion> = self.claim.generators();
        let involved = |motion: &Motion| {
            leaves.iter().any(|(role, _)| motion.of(*role).is_some())
                || result.is_some_and(|role| motion.of(role).is_some())
        };
        moved.iter().filter(|motion| involved(motion)).all(|motion| {
            all_tuples(leaves, &mut |tuple, image| {
                let images = leaves.iter().zip(tuple).map(|((role, _), value)| motion.image(*role, *value));
                image.clear();
                image.extend(images);
                let value = computation.value(self.model, tuple);
                let expected = value.map(|value| result.map_or(value, |role| motion.image(role, value)));
                computation.value(self.model, image) == expected
            })
        })
    }
}

impl Checker<'_> {
    /// Whether a comparison of a computed value with a constant has the same outcome in the image, by its table.
    fn compares_alike_with(&self, (computation, leaves): &ComputedFrom, constant: i64) -> bool {
        let compared = |tuple: &[i64]| computation.value(self.model, tuple).map(|value| value == constant);
        self.is_kept(leaves, &compared)
    }

    /// Whether a function of leaves has the same result in the image.
    fn is_kept(&self, leaves: &[(Role, Domain)], function: &dyn Fn(&[i64]) -> Option<bool>) -> bool {
        let generators = self.claim.generators();
        let involved = |motion: &&Motion| leaves.iter().any(|(role, _)| motion.of(*role).is_some());
        generators.iter().filter(involved).all(|motion| {
            all_tuples(leaves, &mut |tuple, image| {
                image.clear();
                image.extend(leaves.iter().zip(tuple).map(|((role, _), value)| motion.image(*role, *value)));
                function(image) == function(tuple)
            })
        })
    }

    /// Whether a comparison of two computed values has the same outcome in the image, by its table.
    fn compares_alike(&self, left: &ComputedFrom, right: &ComputedFrom) -> bool {
        let is_own = |leaf: &&ExprId| !left.0.leaves.contains(leaf);
        let others = right.0.leaves.iter().zip(&right.1).filter(|(leaf, _)| is_own(leaf));
        let mut places: Vec<ExprId> = left.0.leaves.clone();
        let mut leaves: Vec<(Role, Domain)> = left.1.clone();
        for (leaf, domain) in others {
            places.push(*leaf);
            leaves.push(domain.clone());
        }
        if !is_small(leaves.iter().map(|(_, domain)| domain.size())) {
            return false;
        }
        let compared = |tuple: &[i64]| {
            let of = |leaf: &ExprId| tuple[places.iter().position(|place| place == leaf).expect("it is a leaf")];
            let values = |computation: &Computation| computation.leaves.iter().map(of).collect::<Vec<i64>>();
            let left = left.0.value(self.model, &values(&left.0))?;
            Some(left == right.0.value(self.model, &values(&right.0))?)
        };
        self.is_kept(&leaves, &compared)
    }
}

/// Whether something holds for all values of some leaves. It is given room for the values of an image.
fn all_tuples(leaves: &[(Role, Domain)], holds: &mut dyn FnMut(&[i64], &mut Vec<i64>) -> bool) -> bool {
    fn each(
        leaves: &[(Role, Domain)],
        tuple: &mut Vec<i64>,
        room: &mut Vec<i64>,
        holds: &mut dyn FnMut(&[i64], &mut Vec<i64>) -> bool,
    ) -> bool {
        let Some((_, domain)) = leaves.get(tuple.len()) else { return holds(tuple, room) };
        domain.values().all(|value| {
            tuple.push(value);
            let holds = each(leaves, tuple, room, holds);
            tuple.pop();
            holds
        })
    }
    each(leaves, &mut Vec::with_capacity(leaves.len()), &mut Vec::with_capacity(leaves.len()), holds)
}

impl Walker<'_> {
    fn refuse<T>(&self, reason: &'static str) -> Checked<T> {
        Err(Contradiction { span: self.span, reason })
    }

    fn require(&self, holds: bool, reason: &'static str) -> Checked<()> {
        if holds { Ok(()) } else { self.refuse(reason) }
    }

    fn moves(&self, role: Role) -> bool {
        self.checker.claim.moves(role)
    }

    fn scope(&mut self) -> Checked<()> {
        let model = self.checker.model;
        for parameter in self.scope.parameters(model) {
            let shape = self.local(parameter.local);
            // Others range over all values of their type, which is closed.
            if let Shape::Scalar { role, .. } = &*shape {
                self.iteration(parameter.local, *role, &parameter.range)?;
            }
        }
        let parameters = self.scope.parameters(model).iter();
        let mut moves = false;
        parameters.for_each(|parameter| self.local(parameter.local).visit(&mut |role, _, _| moves |= self.moves(role)));
        for condition in self.scope.conditions(model) {
            self.fixed(condition)?;
            if moves && self.scope.is_assumption(model) {
                let fails = self.checker.orders.can_fail(self.scope, condition);
                self.require(!fails, "an assumption may go wrong before it is decided")?;
            }
        }
        self.statements(self.scope.body(model))
    }

    /// The instance of a property with these arguments is its own image.
    fn instance(&self, arguments: &[i64]) -> Checked<()> {
        let model = self.checker.model;
        let mut cells = arguments.iter();
        for parameter in self.scope.parameters(model) {
            match &*self.local(parameter.local) {
                Shape::Scalar { role, .. } => {
                    let value = cells.next().copied().unwrap_or_default();
                    self.require(self.checker.claim.fixes(*role, value), "an instance of a property is preserved")?;
                }
                shape => {
                    let mut moves = false;
                    shape.visit(&mut |role, _, _| moves |= self.moves(role));
                    self.require(!moves, "an instance of a property is preserved")?;
                }
            }
        }
        Ok(())
    }

    fn local(&self, local: LocalId) -> Arc<Shape> {
        Arc::clone(self.checker.shapes.local(self.scope, local))
    }

    fn constant(&self, expression: ExprId) -> Option<i64> {
        match self.checker.model.pool[expression] {
            Expr::Constant { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The values that a local takes one after the other are mapped to each other.
    fn iteration(&mut self, local: LocalId, role: Role, range: &Iteration) -> Checked<()> {
        let domain = match *range {
            Iteration::Over(ty) => self.checker.model.domain(ty),
            Iteration::Steps { from, to, step } => {
                let unit = step.is_none_or(|step| matches!(self.constant(step), Some(1 | -1)));
                match (self.constant(from), self.constant(to)) {
                    (Some(from), Some(to)) if unit => Domain::interval(from.min(to), from.max(to)),
                    _ => {
                        for bound in [from, to].into_iter().chain(step) {
                            self.fixed(bound)?;
                        }
                        return self.require(!self.moves(role), "values are visited between computed bounds");
                    }
                }
            }
        };
        self.require(
            !self.moves(role) || self.checker.claim.preserves(role, &domain),
            "a set of values is not mapped to itself",
        )?;
        self.ranges.insert(local, domain);
        Ok(())
    }

    // ---- expressions ----

    /// An expression has the same value in the image.
    fn fixed(&mut self, expression: ExprId) -> Checked<()> {
        let value = self.expression(expression)?;
        self.fixed_value(&value)
    }

    fn fixed_value(&self, value: &Value) -> Checked<()> {
        let fixed = match value {
            Value::Constant(_) | Value::Number => true,
            Value::Of(role) => !self.moves(*role),
            Value::Computed(computed) => self.checker.commutes(computed, None),
            Value::Either(values) => return values.iter().try_for_each(|value| self.fixed_value(value)),
        };
        self.require(fixed, "a value is used as a number")
    }

    /// A value is used in a role.
    fn plays(&self, value: &Value, role: Role) -> Checked<()> {
        let plays = match value {
            Value::Constant(value) => self.checker.claim.fixes(role, *value),
            Value::Number => !self.moves(role),
            Value::Of(own) => *own == role || (!self.moves(*own) && !self.moves(role)),
            Value::Computed(computed) => self.checker.commutes(computed, Some(role)),
            Value::Either(values) => return values.iter().try_for_each(|value| self.plays(value, role)),
        };
        self.require(plays, "a value is used in different roles, or named")
    }

    /// Two values are compared for equality.
    fn compared(&self, left: &Value, right: &Value) -> Checked<()> {
        match (left, right) {
            (Value::Either(values), other) | (other, Value::Either(values)) => {
                values.iter().try_for_each(|value| self.compared(value, other))
            }
            (value, Value::Of(role)) | (Value::Of(role), value) => self.plays(value, *role),
            (Value::Computed(first), Value::Computed(second)) => {
                if self.checker.compares_alike(first, second) {
                    return Ok(());
                }
                let roles = first.1.iter().chain(&second.1).map(|(role, _)| Some(*role)).chain([None]);
                let mut roles = roles;
                let commute =
                    roles.any(|role| self.checker.commutes(first, role) && self.checker.commutes(second, role));
                self.require(commute, "computed values are compared")
            }
            (Value::Computed(computed), Value::Constant(constant))
            | (Value::Constant(constant), Value::Computed(computed))
                if self.checker.compares_alike_with(computed, *constant) =>
            {
                Ok(())
            }
            (value, Value::Constant(_) | Value::Number) | (Value::Constant(_) | Value::Number, value) => {
                self.fixed_value(value)
            }
        }
    }

    fn expression(&mut self, expression: ExprId) -> Checked<Value> {
        if let Some(value) = self.known.get(&expression) {
            return Ok(value.clone());
        }
        self.depth += 1;
        self.require(self.depth < DEEPEST, "the text is nested too deeply")?;
        let value = self.operation(expression)?;
        self.depth -= 1;
        self.known.insert(expression, value.clone());
        Ok(value)
    }

    fn operation(&mut self, expression: ExprId) -> Checked<Value> {
        let model = self.checker.model;
        Ok(match &model.pool[expression] {
            Expr::Constant { value, .. } => Value::Constant(*value),
            Expr::Read(place) => match &*self.place(*place)? {
                Shape::Scalar { role, .. } => Value::Of(*role),
                _ => return self.refuse("a value is not scalar"),
            },
            Expr::Unary { operator: UnaryOperator::Not, operand } => {
                self.fixed(*operand)?;
                Value::Number
            }
            Expr::Unary { .. } => self.computation(expression)?,
            Expr::Binary { operator, .. } if computes(*operator) => self.computation(expression)?,
            Expr::Binary { operator: BinaryOperator::Equal | BinaryOperator::NotEqual, left, right } => {
                let (left, right) = (self.expression(*left)?, self.expression(*right)?);
                self.compared(&left, &right)?;
                Value::Number
            }
            Expr::Binary { left, right, .. } => {
                self.fixed(*left)?;
                match (&model.pool[*right], strict_pair(model, expression)) {
                    // Its condition has been evaluated for all values.
                    (Expr::Quantified { local, range, body, .. }, Some(_)) => {
                        let Shape::Scalar { role, .. } = *self.local(*local) else {
                            return self.refuse("a bound variable is not scalar");
                        };
                        self.iteration(*local, role, range)?;
                        self.fixed(*body)?;
                    }
                    _ => self.fixed(*right)?,
                }
                Value::Number
            }
            Expr::Conditional { condition, then, otherwise } => {
                if let Some(whole) = Computation::new(model, expression, 1)
                    && whole.computes
                    && !whole.leaves.is_empty()
                {
                    return self.computation(expression);
                }
                self.fixed(*condition)?;
                let (then, otherwise) = (self.expression(*then)?, self.expression(*otherwise)?);
                match (then, otherwise) {
                    (Value::Of(role), other) | (other, Value::Of(role)) => {
                        self.plays(&other, role)?;
                        Value::Of(role)
                    }
                    (then, otherwise) => Value::Either(Arc::new([then, otherwise])),
                }
            }
            Expr::Quantified { local, range, body, .. } => {
                let Shape::Scalar { role, .. } = *self.local(*local) else {
                    return self.refuse("a bound variable is not scalar");
                };
                self.iteration(*local, role, range)?;
                self.fixed(*body)?;
                let commutes = !self.moves(role) || self.checker.orders.quantifier_commutes(self.scope, expression);
                self.require(commutes, "a quantifier may go wrong before it is decided")?;
                Value::Number
            }
            Expr::Count { local, multiset, body } => {
                let shape = self.place(*multiset)?;
                self.require(
                    !self.moves_contents(&shape) || is_position_only(model, self.scope, *local),
                    "a position of a multiset is used as a number",
                )?;
                self.fixed(*body)?;
                Value::Number
            }
            Expr::IsUndefined(place) => {
                self.place(*place)?;
                Value::Number
            }
            Expr::IsPresent { multiset, position } => {
                let shape = self.place(*multiset)?;
                self.position(*position, &shape)?;
                Value::Number
            }
            Expr::IsMember { value, ty } => {
                let domain = model.domain(*ty);
                match self.expression(*value)? {
                    Value::Of(role) => self.require(
                        !self.moves(role) || self.checker.claim.preserves(role, &domain),
                        "a set of values is not mapped to itself",
                    )?,
                    value => self.fixed_value(&value)?,
                }
                Value::Number
            }
            Expr::SameContents { left, right } => {
                let (left, right) = (self.place(*left)?, self.place(*right)?);
                self.same(&left, &right)?;
                Value::Number
            }
            Expr::Call { function, arguments } => {
                self.call(*function, arguments)?;
                match self.checker.shapes.results[function.position()].as_deref() {
                    Some(Shape::Scalar { role, .. }) => Value::Of(*role),
                    _ => return self.refuse("a result is not scalar"),
                }
            }
        })
    }

    fn computation(&mut self, expression: ExprId) -> Checked<Value> {
        let model = self.checker.model;
        if let Some(computation) = Computation::new(model, expression, 2)
            && !computation.leaves.is_empty()
        {
            let mut leaves = Vec::new();
            for &leaf in &computation.leaves {
                if let Value::Of(role) = self.expression(leaf)?
                    && let Some(domain) = self.domain(leaf)
                {
                    leaves.push((role, domain));
                }
            }
            let is_complete = leaves.len() == computation.leaves.len();
            let closed = leaves.iter().all(|(role, domain)| self.checker.claim.preserves(*role, domain));
            let domains: Vec<&Domain> = leaves.iter().map(|(_, domain)| domain).collect();
            if is_complete && closed && is_checkable(&domains) {
                return Ok(Value::Computed(Arc::new((computation, leaves))));
            }
        }
        match &model.pool[expression] {
            Expr::Unary { operand, .. } => self.fixed(*operand)?,
            Expr::Binary { left, right, .. } => {
                self.fixed(*left)?;
                self.fixed(*right)?;
            }
            Expr::Conditional { condition, then, otherwise } => {
                for operand in [*condition, *then, *otherwise] {
                    self.fixed(operand)?;
                }
            }
            _ => return self.refuse("only operators compute"),
        }
        Ok(Value::Number)
    }

    /// The values that an expression can have, as far as its declaration says.
    fn domain(&self, expression: ExprId) -> Option<Domain> {
        let model = self.checker.model;
        let Expr::Read(place) = model.pool[expression] else { return None };
        let place = &model.pool[place];
        match place.root {
            Root::Local(local) if place.steps.is_empty() && self.ranges.contains_key(&local) => {
                Some(self.ranges[&local].clone())
            }
            _ => Some(model.domain(place.ty)),
        }
    }

    // ---- places ----

    fn place(&mut self, place: PlaceId) -> Checked<Arc<Shape>> {
        let checker = self.checker;
        let entry = &checker.model.pool[place];
        let mut shape = match &entry.root {
            Root::Variable(variable) => Arc::clone(&checker.shapes.variables[*variable]),
            Root::Local(local) => self.local(*local),
            Root::Result { function, arguments } => {
                self.call(*function, arguments)?;
                match &checker.shapes.results[function.position()] {
                    Some(shape) => Arc::clone(shape),
                    None => return self.refuse("a function has no result"),
                }
            }
            Root::Choice { condition, then, otherwise } => {
                self.fixed(*condition)?;
                let (then, otherwise) = (self.place(*then)?, self.place(*otherwise)?);
                self.same(&then, &otherwise)?;
                then
            }
        };
        for step in &entry.steps {
            shape = match (step, &*shape) {
                (Step::Field(field), Shape::Record(fields)) => Arc::clone(&fields[*field as usize]),
                (Step::Index(index), Shape::Array { role, element, .. }) => {
                    let index = self.expression(*index)?;
                    self.plays(&index, *role)?;
                    Arc::clone(element)
                }
                (Step::Index(index), Shape::Multiset { element, .. }) => {
                    self.position(*index, &shape)?;
                    Arc::clone(element)
                }
                _ => return self.refuse("a step does not fit"),
            };
        }
        Ok(shape)
    }

    fn moves_contents(&self, shape: &Shape) -> bool {
        let mut moves = false;
        shape.visit(&mut |role, _, _| moves |= self.moves(role));
        moves
    }

    fn position(&mut self, position: ExprId, multiset: &Shape) -> Checked<()> {
        self.fixed(position)?;
        let Shape::Multiset { capacity, .. } = multiset else { return self.refuse("it is not a multiset") };
        self.require(
            !self.moves_contents(multiset) || is_position(self.checker.model, self.scope, position, *capacity),
            "an element of a multiset is found by its position",
        )
    }

    /// Values are copied from one place to the other, or compared.
    fn same(&self, left: &Shape, right: &Shape) -> Checked<()> {
        let alike = |left: Role, right: Role| left == right || (!self.moves(left) && !self.moves(right));
        match (left, right) {
            (Shape::Scalar { role: left, .. }, Shape::Scalar { role: right, .. }) => {
                self.require(alike(*left, *right), "values of different roles are copied")
            }
            (
                Shape::Array { role: left, index: first, element: left_element },
                Shape::Array { role: right, index: second, element: right_element },
            ) => {
                let model = self.checker.model;
                let fits = match model.domain(*first) == model.domain(*second) {
                    true => alike(*left, *right),
                    false => !self.moves(*left) && !self.moves(*right),
                };
                self.require(fits, "arrays with different indices are copied")?;
                self.same(left_element, right_element)
            }
            (Shape::Record(left), Shape::Record(right)) if left.len() == right.len() => {
                left.iter().zip(right).try_for_each(|(left, right)| self.same(left, right))
            }
            (Shape::Multiset { element: left, .. }, Shape::Multiset { element: right, .. }) => self.same(left, right),
            _ => {
                let moves = self.moves_contents(left) || self.moves_contents(right);
                self.require(!moves, "different structures are copied")
            }
        }
    }

    // ---- statements ----

    fn call(&mut self, function: FunctionId, arguments: &[Argument]) -> Checked<()> {
        let checker = self.checker;
        for (parameter, argument) in checker.model.functions[function].parameters.iter().zip(arguments) {
            let own = checker.shapes.local(Scope::Function(function), *parameter);
            match argument {
                Argument::Value(value) => {
                    let value = self.expression(*value)?;
                    self.stored(&value, own)?;
                }
                Argument::Copy(place) | Argument::Reference(place) => {
                    let place = self.place(*place)?;
                    self.same(&place, own)?;
                }
                Argument::Undefined => {}
            }
        }
        Ok(())
    }

    /// A scalar is stored in a place of a shape.
    fn stored(&self, value: &Value, shape: &Shape) -> Checked<()> {
        match shape {
            Shape::Scalar { role, .. } => self.plays(value, *role),
            _ => self.refuse("a scalar is stored in a structure"),
        }
    }

    /// The run of assignments of constants that statements begin with, if the claim maps what it writes to itself.
    fn patch(&self, statements: &[Statement]) -> Option<usize> {
        let checker = self.checker;
        let (count, writes) = patch::leading(checker.model, checker.shapes, statements)?;
        let known: FxHashSet<&Write> = writes.iter().collect();
        let maps = |motion: &Motion| {
            writes.iter().all(|write| known.contains(&write.image(|role, value| motion.image(role, value))))
        };
        checker.claim.generators().iter().all(maps).then_some(count)
    }

    fn statements(&mut self, statements: &[Statement]) -> Checked<()> {
        let mut rest = statements;
        let mut is_begin = true;
        while let [statement, others @ ..] = rest {
            if is_begin && let Some(count) = self.patch(rest) {
                rest = &rest[count..];
                continue;
            }
            is_begin = !matches!(statement.kind, StatementKind::Assign { value, .. } if self.constant(value).is_some());
            rest = others;
            let outer = std::mem::replace(&mut self.span, statement.span);
            self.depth += 1;
            self.require(self.depth < DEEPEST, "the text is nested too deeply")?;
            self.statement(statement)?;
            self.depth -= 1;
            self.span = outer;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Checked<()> {
        let checker = self.checker;
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let target = self.place(*target)?;
                let value = self.expression(*value)?;
                self.stored(&value, &target)
            }
            StatementKind::Copy { target, source } => {
                let (target, source) = (self.place(*target)?, self.place(*source)?);
                self.same(&target, &source)
            }
            StatementKind::Clear(place) => {
                let shape = self.place(*place)?;
                let mut fixed = true;
                shape.visit(&mut |role, ty, part| {
                    fixed &= part == Part::Index
                        || !checker.claim.moves(role)
                        || checker.claim.fixes(role, checker.model.domain(ty).least());
                });
                self.require(fixed, "cells are set to the least value of their type")
            }
            StatementKind::Undefine(place) => self.place(*place).map(|_| ()),
            StatementKind::Bind { local, place } => {
                let place = self.place(*place)?;
                self.same(&self.local(*local), &place)
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.fixed(*condition)?;
                    self.statements(body)?;
                }
                self.statements(otherwise)
            }
            StatementKind::While { condition, body } => {
                self.fixed(*condition)?;
                self.statements(body)
            }
            StatementKind::For { local, range, body } => {
                let Shape::Scalar { role, .. } = *self.local(*local) else {
                    return self.refuse("a loop variable is not scalar");
                };
                self.iteration(*local, role, range)?;
                let commutes = !self.moves(role) || checker.orders.loop_commutes(self.scope, *local, body);
                self.require(commutes, "the order of a loop can be noticed")?;
                self.statements(body)
            }
            StatementKind::Call { function, arguments } => self.call(*function, arguments),
            StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => Ok(()),
            StatementKind::Return(Some(value)) => {
                let Scope::Function(function) = self.scope else { return self.refuse("only functions return values") };
                let Some(result) = &checker.shapes.results[function.position()] else {
                    return self.refuse("a function has no result");
                };
                match value {
                    ReturnValue::Value(value) => {
                        let value = self.expression(*value)?;
                        self.stored(&value, result)
                    }
                    ReturnValue::Copy(place) => {
                        let place = self.place(*place)?;
                        self.same(&place, result)
                    }
                }
            }
            StatementKind::Assert { condition, .. }
            | StatementKind::Require { condition, .. }
            | StatementKind::Assume(condition)
            | StatementKind::Cover { condition, .. } => self.fixed(*condition),
            StatementKind::MultisetAdd { multiset, element } => {
                let shape = self.place(*multiset)?;
                let Shape::Multiset { element: own, .. } = &*shape else { return self.refuse("it is not a multiset") };
                match element {
                    MultisetElement::Value(value) => {
                        let value = self.expression(*value)?;
                        self.stored(&value, own)
                    }
                    MultisetElement::Copy(place) => {
                        let place = self.place(*place)?;
                        self.same(own, &place)
                    }
                }
            }
            StatementKind::MultisetRemove { multiset, position } => {
                let shape = self.place(*multiset)?;
                self.position(*position, &shape)
            }
            StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                let shape = self.place(*multiset)?;
                self.require(
                    !self.moves_contents(&shape) || is_position_only(checker.model, self.scope, *local),
                    "a position of a multiset is used as a number",
                )?;
                self.fixed(*condition)
            }
        }
    }
}

/// The initial states.
pub(super) struct Starts<'a> {
    pub(super) model: &'a Model,
    pub(super) layout: &'a Layout,
    pub(super) shapes: &'a Shapes,
    /// What the start programs lead to; without them, their text is checked.
    pub(super) states: Option<&'a [Valuation]>,
}

impl Starts<'_> {
    /// Checks that a motion maps initial states to initial states.
    pub(super) fn check(&self, motion: &Motion) -> Checked<()> {
        let maps = match self.states {
            Some(states) => states.iter().all(|state| {
                motion.fixes(self.model, self.layout, self.shapes, state)
                    || states.contains(&motion.apply(self.model, self.layout, self.shapes, state))
            }),
            None => self.model.variables.iter_enumerated().all(|(id, variable)| {
                let mut fixed = true;
                self.shapes.variables[id].visit(&mut |role, ty, part| {
                    let least = self.model.domain(ty).least();
                    fixed &= variable.may_be_undefined || part == Part::Index || motion.image(role, least) == least;
                });
                fixed
            }),
        };
        let reason = "the image of an initial state is not an initial state";
        if maps { Ok(()) } else { Err(Contradiction { span: Span::default(), reason }) }
    }
}
