//! Loops whose iterations commute.

use quotient_ir::walk::{Node, push_statement_nodes, visit_nodes, visit_statements};
use quotient_ir::{
    Argument, BinaryOperator, Expr, ExprId, FunctionId, Iteration, LocalId, LocalKind, Model, MultisetElement, PlaceId,
    PropertyId, ReturnValue, Root, Statement, StatementKind, Step, VariableId,
};
use rustc_hash::FxHashMap;

use super::super::shapes::Scope;
use super::Orders;
use super::positions::read_local;

/// The most accesses of a loop that are compared.
const MOST_ACCESSES: usize = 600;
/// Calls nested more deeply are not looked into.
const DEEPEST_CALL: usize = 12;

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
    pub(in super::super) fn loop_commutes(&self, scope: Scope, local: LocalId, body: &[Statement]) -> bool {
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
