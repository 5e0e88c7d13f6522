//! Properties of unbounded nets that may need no search: those that ask whether numbers of tokens can be reached or exceeded,
//! as goals. What the answer is, an engine finds out.

use std::collections::BTreeMap;

use super::Lowering;
use super::coverability::Coverability;
use super::formulas::only;
use super::unfolding::Unfolding;
use crate::net::Net;
use crate::xml::Element;
use quotient_covering::Goal;

impl Lowering<'_> {
    /// What decides a formula `AG p` or `EF p` if it is reached, whatever the bounds: that `p` is violated, or satisfied. None if
    /// more tokens may turn that false, or nothing is known of the net.
    pub(super) fn goal(&self, formula: &Element) -> Option<Goal> {
        let coverability = self.coverability.as_ref()?;
        let (decisive, value) = match formula.name.as_str() {
            "all-paths" => only(formula).filter(|it| it.name == "globally").map(|it| (it, false)),
            "exists-path" => only(formula).filter(|it| it.name == "finally").map(|it| (it, true)),
            _ => None,
        }?;
        Reading { net: self.net, coverability }.goal(only(decisive)?, value)
    }
}

/// A net whose formulas are read.
struct Reading<'n> {
    net: &'n Net,
    coverability: &'n Coverability,
}

/// A sum of cells, each with a weight, and a constant.
#[derive(Default)]
struct Linear {
    weights: BTreeMap<usize, i128>,
    constant: i128,
}

impl Linear {
    /// This and so many times the other.
    fn plus(mut self, factor: i128, other: &Self) -> Option<Self> {
        for (&cell, &weight) in &other.weights {
            let sum = self.weights.entry(cell).or_default();
            *sum = sum.checked_add(weight.checked_mul(factor)?)?;
        }
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(self)
    }

    /// That it is at least zero; none if more tokens may turn that false.
    fn is_natural(&self) -> Option<Goal> {
        let weights: Vec<(usize, i128)> = self.weights.iter().map(|(&cell, &weight)| (cell, weight)).collect();
        let is_never_more = weights.iter().all(|&(_, weight)| weight <= 0);
        match self.constant < 0 {
            true if is_never_more => return Some(Goal::NEVER),
            false if is_never_more && weights.iter().all(|&(_, weight)| weight == 0) => return Some(Goal::ALWAYS),
            _ => {}
        }
        let weights: Option<Vec<(usize, i64)>> = weights
            .into_iter()
            .filter(|&(_, weight)| weight != 0)
            .map(|(cell, weight)| Some((cell, i64::try_from(weight).ok().filter(|&weight| weight > 0)?)))
            .collect();
        Some(Goal::AtLeast { weights: weights?, tokens: -self.constant })
    }
}

/// That all parts hold; none if more tokens may turn that false.
fn all(parts: impl IntoIterator<Item = Option<Goal>>) -> Option<Goal> {
    let parts: Vec<Option<Goal>> = parts.into_iter().collect();
    if parts.contains(&Some(Goal::NEVER)) {
        return Some(Goal::NEVER);
    }
    parts.into_iter().collect::<Option<_>>().map(Goal::All)
}

/// That some part holds; none if more tokens may turn that false.
fn any(parts: impl IntoIterator<Item = Option<Goal>>) -> Option<Goal> {
    parts.into_iter().collect::<Option<_>>().map(Goal::Any)
}

impl Reading<'_> {
    /// That a condition has a value; none if more tokens may turn that false.
    fn goal(&self, element: &Element, value: bool) -> Option<Goal> {
        let name = element.name.as_str();
        let parts = |value: bool| element.children.iter().map(move |part| self.goal(part, value));
        match name {
            "true" | "false" => Some(if (name == "true") == value { Goal::ALWAYS } else { Goal::NEVER }),
            "negation" => self.goal(only(element)?, !value),
            "conjunction" | "disjunction" => match (name == "conjunction") == value {
                true => all(parts(value)),
                false => any(parts(value)),
            },
            "implication" | "equivalence" | "exclusive-disjunction" => {
                let [left, right] = &element.children[..] else { return None };
                let both = |of_left, of_right| [self.goal(left, of_left), self.goal(right, of_right)];
                match (name, (name == "equivalence") == value) {
                    ("implication", _) if value => any(both(false, true)),
                    ("implication", _) => all(both(true, false)),
                    (_, true) => any([all(both(true, true)), all(both(false, false))]),
                    (_, false) => any([all(both(true, false)), all(both(false, true))]),
                }
            }
            "deadlock" if !value => any((0..self.net.transitions.len()).map(|it| Some(self.is_fireable(it)))),
            "is-fireable" if value => any(element.named("transition").map(|transition| {
                let id = transition.text.trim();
                self.net.transitions.iter().position(|it| it.id == id).map(|it| self.is_fireable(it))
            })),
            "integer-le" | "integer-lt" | "integer-ge" | "integer-gt" | "integer-eq" | "integer-ne" => {
                let [left, right] = &element.children[..] else { return None };
                let (left, right) = (self.linear(left)?, self.linear(right)?);
                self.comparison(name, &left, &right, value)
            }
            _ => None,
        }
    }

    fn comparison(&self, name: &str, left: &Linear, right: &Linear, value: bool) -> Option<Goal> {
        // That the first is greater by at least so much.
        let exceeds = |first: &Linear, second: &Linear, by: i128| {
            let difference = Linear { constant: -by, ..Linear::default() };
            difference.plus(1, first)?.plus(-1, second)?.is_natural()
        };
        match (name, value) {
            ("integer-le", true) | ("integer-gt", false) => exceeds(right, left, 0),
            ("integer-lt", true) | ("integer-ge", false) => exceeds(right, left, 1),
            ("integer-ge", true) | ("integer-lt", false) => exceeds(left, right, 0),
            ("integer-gt", true) | ("integer-le", false) => exceeds(left, right, 1),
            ("integer-eq", true) | ("integer-ne", false) => all([exceeds(left, right, 0), exceeds(right, left, 0)]),
            _ => any([exceeds(left, right, 1), exceeds(right, left, 1)]),
        }
    }

    fn linear(&self, element: &Element) -> Option<Linear> {
        match element.name.as_str() {
            "integer-constant" => {
                let constant = element.text.trim().parse().ok()?;
                Some(Linear { constant, ..Linear::default() })
            }
            "tokens-count" => {
                let mut sum = Linear::default();
                for place in element.named("place") {
                    let id = place.text.trim();
                    let number = self.net.places.iter().position(|it| it.id == id)?;
                    let places = self.coverability.unfolding.places.iter();
                    for (cell, _) in places.enumerate().filter(|&(_, &place)| place == number) {
                        *sum.weights.entry(cell).or_default() += 1;
                    }
                }
                Some(sum)
            }
            "integer-sum" | "integer-difference" => {
                let sign = if element.name == "integer-sum" { 1 } else { -1 };
                let (first, rest) = element.children.split_first()?;
                rest.iter().try_fold(self.linear(first)?, |sum, part| sum.plus(sign, &self.linear(part)?))
            }
            _ => None,
        }
    }

    /// That a transition can fire, for some values of its variables.
    fn is_fireable(&self, transition: usize) -> Goal {
        let Unfolding { net, firings, .. } = &self.coverability.unfolding;
        let changes = net.changes.iter().zip(firings).filter(|(_, firing)| firing.transition == transition);
        let takes = changes.map(|(change, _)| {
            let parts = change.takes.iter();
            let part =
                |&(cell, tokens): &(usize, i64)| Goal::AtLeast { weights: vec![(cell, 1)], tokens: i128::from(tokens) };
            Goal::All(parts.map(part).collect())
        });
        Goal::Any(takes.collect())
    }
}
