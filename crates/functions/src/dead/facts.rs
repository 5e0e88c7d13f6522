//! What a condition says about the control slots of single members.

use quotient_ir::{BinaryOperator, Expr, ExprId, LocalId, Model, PlaceId, Root, UnaryOperator};

use super::lens::Lens;
use super::values::{Values, code_of};

/// The nesting of conditions beyond which nothing is concluded.
const DEPTH_LIMIT: usize = 200;

/// Which member of a part is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Member {
    /// There is only one.
    Only,
    /// The one with this index: a constant, or a parameter, a loop variable or a bound variable.
    At(ExprId),
    /// It is not known which, or there are several.
    Unknown,
}

/// The values that the control slots of some members can have; of others nothing is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    known: Vec<(Member, Values)>,
}

impl Facts {
    /// The possible values of the control slot of a member.
    pub(super) fn of(&self, lens: &Lens<'_, '_, '_>, member: Member) -> Values {
        let known = self.known.iter().find(|(other, _)| *other == member && member != Member::Unknown);
        known.map_or_else(|| Values::all(lens.control.codes), |(_, values)| values.clone())
    }
    /// Both.
    pub(super) fn and(mut self, other: Self) -> Self {
        for (member, values) in other.known {
            match self.known.iter_mut().find(|(own, _)| *own == member) {
                Some((_, own)) => *own = own.and(&values),
                None => self.known.push((member, values)),
            }
        }
        self
    }
    /// One of them.
    fn or(self, other: Self) -> Self {
        let both = |(member, values): (Member, Values)| {
            let (_, more) = other.known.iter().find(|(own, _)| *own == member)?;
            Some((member, values.or(more)))
        };
        Self { known: self.known.into_iter().filter_map(both).collect() }
    }
    /// Without what is known about a member with this index.
    pub(super) fn without(&self, model: &Model, local: LocalId) -> Self {
        let is_other = |(member, _): &&(Member, Values)| match member {
            Member::At(index) => local_of(model, *index) != Some(local),
            _ => true,
        };
        Self { known: self.known.iter().filter(is_other).cloned().collect() }
    }
    /// Whether they contradict each other.
    pub(super) fn is_impossible(&self) -> bool {
        self.known.iter().any(|(_, values)| values.count() == 0)
    }

    /// What follows from a condition that has a value.
    pub(super) fn from_condition(lens: &Lens<'_, '_, '_>, condition: ExprId, truth: bool) -> Self {
        Self::from(lens, condition, truth, 0)
    }

    fn from(lens: &Lens<'_, '_, '_>, condition: ExprId, truth: bool, depth: usize) -> Self {
        if depth == DEPTH_LIMIT || !lens.control.visits() {
            return Self::default();
        }
        let of = |condition, truth| Self::from(lens, condition, truth, depth + 1);
        match &lens.model().pool[condition] {
            Expr::Unary { operator: UnaryOperator::Not, operand } => of(*operand, !truth),
            Expr::Binary { operator, left, right } => {
                let (left, right) = (*left, *right);
                match (operator, truth) {
                    (BinaryOperator::And, true) => of(left, true).and(of(right, true)),
                    (BinaryOperator::And, false) => of(left, false).or(of(right, false)),
                    (BinaryOperator::Or, true) => of(left, true).or(of(right, true)),
                    (BinaryOperator::Or, false) => of(left, false).and(of(right, false)),
                    (BinaryOperator::Implies, true) => of(left, false).or(of(right, true)),
                    (BinaryOperator::Implies, false) => of(left, true).and(of(right, false)),
                    (operator, truth) if operator.is_comparison() => {
                        Self::from_comparison(lens, *operator, (left, right), truth)
                    }
                    _ => Self::default(),
                }
            }
            Expr::Read(place) => Self::where_value(lens, *place, |value| (value != 0) == truth),
            Expr::IsUndefined(place) => match lens.control_member(*place) {
                Some(member) => {
                    let mut values = Values::none(lens.control.codes);
                    if lens.control.codes > lens.control.values() {
                        values.insert(lens.control.values());
                    }
                    let values = if truth { values } else { values.complement() };
                    Self { known: vec![(member, values)] }
                }
                None => Self::default(),
            },
            Expr::IsMember { value, ty } => match &lens.model().pool[*value] {
                Expr::Read(place) => {
                    let domain = lens.model().domain(*ty);
                    Self::where_value(lens, *place, |value| domain.contains(value) == truth)
                }
                _ => Self::default(),
            },
            _ => Self::default(),
        }
    }

    fn from_comparison(
        lens: &Lens<'_, '_, '_>,
        operator: BinaryOperator,
        operands: (ExprId, ExprId),
        truth: bool,
    ) -> Self {
        let holds = |left: i64, right: i64| operator.apply(left, right).is_none_or(|value| (value != 0) == truth);
        match (&lens.model().pool[operands.0], &lens.model().pool[operands.1]) {
            (Expr::Read(place), &Expr::Constant { value, .. }) => {
                Self::where_value(lens, *place, |own| holds(own, value))
            }
            (&Expr::Constant { value, .. }, Expr::Read(place)) => {
                Self::where_value(lens, *place, |own| holds(value, own))
            }
            _ => Self::default(),
        }
    }

    /// The place, if it is a control slot, has a value that satisfies a condition.
    fn where_value(lens: &Lens<'_, '_, '_>, place: PlaceId, holds: impl Fn(i64) -> bool) -> Self {
        let Some(member) = lens.control_member(place) else { return Self::default() };
        let mut values = Values::none(lens.control.codes);
        for value in lens.control.domain.values().filter(|&value| holds(value)) {
            values.insert(code_of(&lens.control.domain, Some(value)).expect("a value of the domain"));
        }
        Self { known: vec![(member, values)] }
    }
}

/// The parameter or bound variable that an index is.
pub(super) fn local_of(model: &Model, index: ExprId) -> Option<LocalId> {
    match &model.pool[index] {
        Expr::Read(place) => match &model.pool[*place] {
            place if place.steps.is_empty() => match place.root {
                Root::Local(local) => Some(local),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
