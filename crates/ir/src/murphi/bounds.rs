//! Bounds on the values of expressions, by interval arithmetic. The printer needs them for locals without a declared
//! range, and to decide whether rumur's choice of a value type (the narrowest one that holds every declared range and
//! every literal) is wide enough to compute in: the representation computes in 64 bits.

use rustc_hash::FxHashMap;

use super::owner::Owner;
use super::walk::{Node, body_nodes, push_statement_nodes, visit_nodes, visit_statements};
use crate::expression::{Argument, BinaryOperator, Expr, Iteration, Root, Step, UnaryOperator};
use crate::index::{ExprId, LocalId, TableIndex, TypeId};
use crate::model::Model;
use crate::statement::{MultisetElement, StatementKind};
use crate::types::TypeKind;

/// A least and a greatest value. Wide enough that no operation on 64-bit numbers overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Interval {
    /// All 64-bit integers.
    pub(super) const ALL: Self = Self { low: i64::MIN as i128, high: i64::MAX as i128 };
    const TRUTH: Self = Self { low: 0, high: 1 };

    fn new(low: i128, high: i128) -> Self {
        // A result beyond 64 bits is a run-time error, so what follows it can be ignored.
        let clamp = |value: i128| value.clamp(Self::ALL.low, Self::ALL.high);
        Self { low: clamp(low), high: clamp(high) }
    }
    fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
    fn corners(self, other: Self, operation: impl Fn(i128, i128) -> i128) -> Self {
        let corners = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)]
            .map(|(left, right)| operation(left, right));
        let low = corners.into_iter().min().expect("there are four");
        let high = corners.into_iter().max().expect("there are four");
        Self::new(low, high)
    }
    fn magnitude(self) -> i128 {
        self.low.abs().max(self.high.abs())
    }
    fn within(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    fn binary(operator: BinaryOperator, left: Self, right: Self) -> Self {
        let non_negative = left.low >= 0 && right.low >= 0;
        match operator {
            BinaryOperator::Add => Self::new(left.low + right.low, left.high + right.high),
            BinaryOperator::Subtract => Self::new(left.low - right.high, left.high - right.low),
            BinaryOperator::Multiply => left.corners(right, |left, right| left * right),
            BinaryOperator::Divide if right.low > 0 || right.high < 0 => {
                left.corners(right, |left, right| left / right)
            }
            BinaryOperator::Divide => Self::new(-left.magnitude(), left.magnitude()),
            BinaryOperator::Remainder => {
                let most = left.magnitude().min((right.magnitude() - 1).max(0));
                Self::new(if left.low < 0 { -most } else { 0 }, if left.high > 0 { most } else { 0 })
            }
            BinaryOperator::ShiftLeft if right.low >= 0 && right.high < 63 && left.magnitude() < 1 << 63 => {
                let shifted = left.corners(right, |left, right| left << right);
                // Bits shifted out are lost without an error, so nothing is known then.
                if shifted.low > Self::ALL.low && shifted.high < Self::ALL.high { shifted } else { Self::ALL }
            }
            BinaryOperator::ShiftRight if right.low >= 0 => Self::new(left.low.min(0), left.high.max(0)),
            BinaryOperator::BitAnd if non_negative => Self::new(0, left.high.min(right.high)),
            BinaryOperator::BitAnd if left.low >= 0 => Self::new(0, left.high),
            BinaryOperator::BitAnd if right.low >= 0 => Self::new(0, right.high),
            BinaryOperator::BitOr | BinaryOperator::BitXor if non_negative => {
                let most = left.high.max(right.high) as u128;
                Self::new(0, (most + 1).next_power_of_two() as i128 - 1)
            }
            BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor => Self::ALL,
            _ => Self::TRUTH,
        }
    }
}

/// The values of a scalar type, as an interval.
pub(super) fn type_interval(model: &Model, ty: TypeId) -> Interval {
    let domain = model.domain(ty);
    Interval { low: i128::from(domain.least()), high: i128::from(domain.greatest()) }
}

/// The bounds of the expressions and numeric locals of one owner.
#[derive(Debug)]
pub(super) struct Bounds {
    expressions: FxHashMap<ExprId, Interval>,
    locals: Vec<Interval>,
}

impl Bounds {
    /// Finds the bounds of everything in an owner.
    pub(super) fn new(model: &Model, owner: &Owner<'_>) -> Self {
        let local_interval = |ty| if model.is_scalar(ty) { type_interval(model, ty) } else { Interval::ALL };
        let locals = owner.locals.iter().map(|local| local_interval(local.ty)).collect();
        let mut bounds = Self { expressions: FxHashMap::default(), locals };
        // Every pass starts from valid bounds and can only tighten them; a few passes suffice for typical locals.
        for _ in 0..3 {
            let before = bounds.locals.clone();
            bounds.refresh_expressions(model, owner);
            bounds.refresh_locals(model, owner);
            if bounds.locals == before {
                break;
            }
        }
        bounds.refresh_expressions(model, owner);
        bounds
    }
    /// The bounds of an expression of the owner.
    pub(super) fn of_expression(&self, expression: ExprId) -> Interval {
        self.expressions.get(&expression).copied().unwrap_or(Interval::ALL)
    }
    /// The bounds of a local of the owner.
    pub(super) fn of_local(&self, local: LocalId) -> Interval {
        self.locals[local.position()]
    }

    fn refresh_expressions(&mut self, model: &Model, owner: &Owner<'_>) {
        let mut expressions: FxHashMap<ExprId, Interval> = FxHashMap::default();
        let roots = owner_nodes(owner);
        visit_nodes(model, roots, |node| {
            let Node::Expression(id) = node else { return };
            let of = |operand: ExprId| expressions.get(&operand).copied().unwrap_or(Interval::ALL);
            let interval = match &model.pool[id] {
                Expr::Constant { value, .. } => Interval::new(i128::from(*value), i128::from(*value)),
                Expr::Read(place) => match model.pool[*place].root {
                    Root::Local(local) if model.pool[*place].steps.is_empty() => self.of_local(local),
                    _ => type_interval(model, model.pool[*place].ty),
                },
                &Expr::Unary { operator, operand } => match operator {
                    UnaryOperator::Not => Interval::TRUTH,
                    UnaryOperator::Negate => Interval::new(-of(operand).high, -of(operand).low),
                    UnaryOperator::Complement => Interval::new(-1 - of(operand).high, -1 - of(operand).low),
                },
                &Expr::Binary { operator, left, right } => Interval::binary(operator, of(left), of(right)),
                &Expr::Conditional { then, otherwise, .. } => of(then).hull(of(otherwise)),
                Expr::Count { multiset, .. } => match model.types[model.pool[*multiset].ty].kind {
                    TypeKind::Multiset { capacity, .. } => Interval::new(0, i128::from(capacity)),
                    _ => Interval::ALL,
                },
                Expr::Call { function, .. } => {
                    model.functions[*function].result.map_or(Interval::ALL, |ty| type_interval(model, ty))
                }
                Expr::Quantified { .. }
                | Expr::IsUndefined(_)
                | Expr::IsPresent { .. }
                | Expr::IsMember { .. }
                | Expr::SameContents { .. } => Interval::TRUTH,
            };
            expressions.insert(id, interval);
        });
        self.expressions = expressions;
    }

    /// Tightens the bounds of the locals declared as integers: loop variables, and variables that are only assigned.
    fn refresh_locals(&mut self, model: &Model, owner: &Owner<'_>) {
        let mut found: FxHashMap<LocalId, Option<Interval>> = FxHashMap::default();
        let mut add = |local: LocalId, interval: Option<Interval>| {
            let entry = found.entry(local).or_insert(interval);
            *entry = entry.zip(interval).map(|(one, other)| one.hull(other));
        };
        let steps = |range: &Iteration| match *range {
            Iteration::Steps { from, to, .. } => Some(self.of_expression(from).hull(self.of_expression(to))),
            Iteration::Over(ty) => model.is_scalar(ty).then(|| type_interval(model, ty)),
        };
        for parameter in owner.parameters {
            add(parameter.local, steps(&parameter.range));
        }
        for &formal in owner.formals {
            add(formal, None);
        }
        visit_statements(owner.body, &mut |statement| match &statement.kind {
            &StatementKind::Assign { target, value } => {
                if let Root::Local(local) = model.pool[target].root {
                    add(local, Some(self.of_expression(value)));
                }
            }
            StatementKind::For { local, range, .. } => add(*local, steps(range)),
            &StatementKind::Clear(place) | &StatementKind::Bind { place, .. } => {
                if let Root::Local(local) = model.pool[place].root {
                    add(local, None);
                }
            }
            &StatementKind::MultisetRemoveIf { local, .. } => add(local, None),
            StatementKind::Call { arguments, .. } => {
                reference_arguments(model, arguments, |local| add(local, None));
            }
            _ => {}
        });
        visit_nodes(model, owner_nodes(owner), |node| match node {
            Node::Expression(id) => match &model.pool[id] {
                Expr::Quantified { local, range, .. } => add(*local, steps(range)),
                Expr::Count { local, .. } => add(*local, None),
                Expr::Call { arguments, .. } => reference_arguments(model, arguments, |local| add(local, None)),
                _ => {}
            },
            Node::Place(id) => {
                if let Root::Result { arguments, .. } = &model.pool[id].root {
                    reference_arguments(model, arguments, |local| add(local, None));
                }
            }
        });
        for (local, entry) in owner.locals.iter_enumerated() {
            if matches!(model.types[entry.ty].kind, TypeKind::Integer)
                && let Some(Some(interval)) = found.get(&local)
            {
                self.locals[local.position()] = *interval;
            }
        }
    }
}

fn reference_arguments(model: &Model, arguments: &[Argument], mut visit: impl FnMut(LocalId)) {
    for argument in arguments {
        if let Argument::Reference(place) = argument
            && let Root::Local(local) = model.pool[*place].root
        {
            visit(local);
        }
    }
}

/// The nodes that an owner uses directly.
pub(super) fn owner_nodes(owner: &Owner<'_>) -> Vec<Node> {
    let mut nodes = Vec::new();
    for parameter in owner.parameters {
        if let Iteration::Steps { from, to, step } = parameter.range {
            nodes.extend([Some(from), Some(to), step].into_iter().flatten().map(Node::Expression));
        }
    }
    nodes.extend(owner.condition.map(Node::Expression));
    nodes.extend(body_nodes(owner.body));
    nodes
}

/// The numbers rumur's value type is chosen to hold: the bounds of all types and all literals.
pub(super) fn declared_numbers(model: &Model) -> Interval {
    let mut declared = Interval::TRUTH;
    for (ty, entry) in model.types.iter_enumerated() {
        match entry.kind {
            TypeKind::Integer | TypeKind::Array { .. } | TypeKind::Record { .. } => {}
            TypeKind::Multiset { capacity, .. } => declared = declared.hull(Interval::new(0, i128::from(capacity))),
            _ => declared = declared.hull(type_interval(model, ty)),
        }
    }
    for expression in model.pool.expressions().iter() {
        if let Expr::Constant { value, .. } = expression {
            // A negative number is written as a negation.
            let value = i128::from(*value).abs();
            declared = declared.hull(Interval { low: value, high: value });
        }
    }
    declared
}

/// The values that rumur's value type for some declared numbers can hold.
pub(super) fn value_type(declared: Interval) -> Interval {
    for bits in [8, 16, 32, 64] {
        let choice = if declared.low >= 0 {
            Interval { low: 0, high: (1 << bits) - 1 }
        } else {
            Interval { low: -(1 << (bits - 1)), high: (1 << (bits - 1)) - 1 }
        };
        if declared.within(choice) {
            return choice;
        }
    }
    Interval::ALL
}

/// Whether an owner computes something that may not fit a value type and is not checked immediately. A sum that does
/// not fit is a run-time error for rumur; if it is only stored, it is a run-time error for the model, too, since every
/// stored type fits.
pub(super) fn escapes(model: &Model, owner: &Owner<'_>, bounds: &Bounds, fitting: Interval) -> bool {
    let mut escapes = false;
    let mut use_of = |expression: ExprId, checked: bool| {
        let detected = matches!(
            model.pool[expression],
            Expr::Binary { operator: BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply, .. }
        );
        let harmless = checked && detected;
        escapes |= !harmless && !bounds.of_expression(expression).within(fitting);
    };
    fn arguments(list: &[Argument], use_of: &mut impl FnMut(ExprId, bool)) {
        for argument in list {
            if let Argument::Value(value) = argument {
                use_of(*value, true);
            }
        }
    }
    let mut nodes = owner_nodes(owner);
    visit_nodes(model, nodes.drain(..), |node| match node {
        Node::Expression(id) => match &model.pool[id] {
            &Expr::Unary { operand, .. } => use_of(operand, false),
            &Expr::Binary { left, right, .. } => {
                use_of(left, false);
                use_of(right, false);
            }
            &Expr::Conditional { then, otherwise, .. } => {
                use_of(then, false);
                use_of(otherwise, false);
            }
            Expr::Quantified { range: Iteration::Steps { from, to, step }, .. } => {
                for bound in [Some(*from), Some(*to), *step].into_iter().flatten() {
                    use_of(bound, false);
                }
            }
            &Expr::IsMember { value, .. } => use_of(value, false),
            Expr::Call { arguments: list, .. } => arguments(list, &mut use_of),
            _ => {}
        },
        Node::Place(id) => {
            if let Root::Result { arguments: list, .. } = &model.pool[id].root {
                arguments(list, &mut use_of);
            }
            for step in &model.pool[id].steps {
                if let Step::Index(index) = step {
                    use_of(*index, true);
                }
            }
        }
    });
    visit_statements(owner.body, &mut |statement| match &statement.kind {
        &StatementKind::Assign { value, .. }
        | &StatementKind::MultisetAdd { element: MultisetElement::Value(value), .. } => use_of(value, true),
        StatementKind::Call { arguments: list, .. } => arguments(list, &mut use_of),
        _ => {
            nodes.clear();
            push_statement_nodes(statement, &mut nodes);
            for node in &nodes {
                if let Node::Expression(expression) = node {
                    use_of(*expression, false);
                }
            }
        }
    });
    escapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_contain_every_result() {
        use BinaryOperator::{
            Add, BitAnd, BitOr, BitXor, Divide, Multiply, Remainder, ShiftLeft, ShiftRight, Subtract,
        };
        let edges = [(-3, -1), (-2, 0), (-3, 4), (0, 0), (0, 3), (1, 2), (2, 5)];
        for (operator, apply) in [
            (Add, (|a, b| Some(a + b)) as fn(i64, i64) -> Option<i64>),
            (Subtract, |a, b| Some(a - b)),
            (Multiply, |a, b| Some(a * b)),
            (Divide, |a, b| a.checked_div(b)),
            (Remainder, |a, b| a.checked_rem(b)),
            (BitAnd, |a, b| Some(a & b)),
            (BitOr, |a, b| Some(a | b)),
            (BitXor, |a, b| Some(a ^ b)),
            (ShiftLeft, |a, b| (b >= 0).then(|| a << b)),
            (ShiftRight, |a, b| (b >= 0).then(|| a >> b)),
        ] {
            for left in edges {
                for right in edges {
                    let interval = |(low, high): (i64, i64)| Interval::new(low.into(), high.into());
                    let result = Interval::binary(operator, interval(left), interval(right));
                    for a in left.0..=left.1 {
                        for value in (right.0..=right.1).filter_map(|b| apply(a, b)) {
                            let value = i128::from(value);
                            assert!(result.low <= value && value <= result.high, "{operator:?} {left:?} {right:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_narrowest_value_type_is_chosen() {
        assert_eq!(value_type(Interval::new(0, 7)), Interval { low: 0, high: 255 });
        assert_eq!(value_type(Interval::new(-1, 7)), Interval { low: -128, high: 127 });
        assert_eq!(value_type(Interval::new(-1, 200)), Interval { low: -32768, high: 32767 });
        assert_eq!(value_type(Interval::ALL), Interval::ALL);
    }
}
