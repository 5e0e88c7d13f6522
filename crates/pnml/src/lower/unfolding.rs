//! A net with colours as one whose tokens are all alike: a cell for each colour of each place, and a change for each way to
//! fire.

use std::collections::BTreeMap;

use crate::net::{ClassId, Comparison, Condition, Factor, Net, Term, Transition, Value};
use quotient_covering::{Change, VectorNet};

/// Nets with colours that have more cells are not unfolded.
const MOST_CELLS: usize = 1 << 12;
/// Nor those that can fire in more ways.
const MOST_CHANGES: usize = 1 << 15;
/// The most tokens that all inscriptions name.
const MOST_TOKENS: usize = 1 << 20;

/// A net as a net of cells.
#[derive(Debug)]
pub(super) struct Unfolding {
    /// The net of cells.
    pub(super) net: VectorNet,
    /// The firing that each change is.
    pub(super) firings: Vec<Firing>,
    /// The place of each cell.
    pub(super) places: Vec<usize>,
}

/// A transition with the values of its variables, component by component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Firing {
    pub(super) transition: usize,
    pub(super) values: Vec<i64>,
}

impl Firing {
    /// The transition and its values, by their names.
    pub(super) fn text(&self, net: &Net) -> String {
        let transition = &net.transitions[self.transition];
        let classes = transition.variables.iter().flat_map(|&variable| &net.variables[variable].classes);
        let name = |(&class, &value): (&ClassId, &i64)| {
            let class = &net.classes[class];
            let member = class.members.get((value - class.first) as usize);
            member.cloned().unwrap_or_else(|| value.to_string())
        };
        let values: Vec<String> = classes.zip(&self.values).map(name).collect();
        match values.is_empty() {
            true => transition.name.clone(),
            false => format!("{}({})", transition.name, values.join(", ")),
        }
    }
}

/// The value of each component of a variable.
pub(super) type Binding = BTreeMap<(usize, usize), i64>;

/// Unfolds a net. None if that is too large.
pub(super) fn unfold(net: &Net) -> Option<Unfolding> {
    let mut first = Vec::with_capacity(net.places.len());
    let mut places = Vec::new();
    for (number, place) in net.places.iter().enumerate() {
        first.push(places.len());
        let cells = net.cells(&place.domain)?;
        places.resize(places.len().checked_add(cells)?, number);
        if places.len() > MOST_CELLS.max(net.places.len()) {
            return None;
        }
    }
    let mut named = 0;
    let mut cells = |place: usize, terms: &[Term], binding: &Binding| -> Option<Vec<(usize, i64)>> {
        let domain = &net.places[place].domain;
        named += terms.iter().map(|term| named_by(net, domain, term)).sum::<usize>();
        if named > MOST_TOKENS.max(net.places.len()) {
            return None;
        }
        let position = |token: &[i64]| {
            let digits = domain.iter().zip(token).map(|(&class, value)| (&net.classes[class], value));
            digits.fold(0, |code, (class, value)| code * class.size as usize + (value - class.first) as usize)
        };
        let counts = tokens(net, domain, terms, binding)?;
        Some(counts.into_iter().map(|(token, count)| (first[place] + position(&token), count)).collect())
    };
    let mut initial = vec![0i64; places.len()];
    for (number, place) in net.places.iter().enumerate() {
        for (cell, count) in cells(number, &place.marking, &Binding::new())? {
            initial[cell] = count;
        }
    }
    if initial.iter().any(|&count| count < 0) {
        return None;
    }
    let (mut changes, mut firings) = (Vec::new(), Vec::new());
    for (number, transition) in net.transitions.iter().enumerate() {
        for binding in bindings(net, transition)? {
            if !satisfies(net, &transition.guard, &binding) {
                continue;
            }
            let mut arcs = |arcs: &[(usize, Vec<Term>)]| -> Option<Vec<(usize, i64)>> {
                let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
                for (place, terms) in arcs {
                    for (cell, count) in cells(*place, terms, &binding)? {
                        let sum = sums.entry(cell).or_default();
                        *sum = sum.checked_add(count)?;
                    }
                }
                Some(sums.into_iter().filter(|(_, count)| *count != 0).collect())
            };
            let (takes, adds) = (arcs(&transition.inputs)?, arcs(&transition.outputs)?);
            // What is subtracted has to be there.
            if takes.iter().chain(&adds).any(|(_, count)| *count < 0) {
                continue;
            }
            let components =
                |&variable: &usize| (0..net.variables[variable].classes.len()).map(move |it| (variable, it));
            let values = transition.variables.iter().flat_map(components).map(|key| binding[&key]).collect();
            firings.push(Firing { transition: number, values });
            changes.push(Change { takes, adds });
            if changes.len() > MOST_CHANGES.max(net.transitions.len()) {
                return None;
            }
        }
    }
    Some(Unfolding { net: VectorNet { initial, changes }, firings, places })
}

/// How many tokens a term names.
pub(super) fn named_by(net: &Net, domain: &[ClassId], term: &Term) -> usize {
    let alls = term.factors.iter().zip(domain).filter(|(factor, _)| **factor == Factor::All);
    alls.map(|(_, &class)| net.classes[class].size as usize).fold(1, usize::saturating_mul)
}

/// The tokens of a multiset; none if there are too many of one.
pub(super) fn tokens(
    net: &Net,
    domain: &[ClassId],
    terms: &[Term],
    binding: &Binding,
) -> Option<BTreeMap<Vec<i64>, i64>> {
    let mut counts: BTreeMap<Vec<i64>, i64> = BTreeMap::new();
    for term in terms {
        let mut tokens: Vec<Vec<i64>> = vec![Vec::new()];
        for (factor, &class) in term.factors.iter().zip(domain) {
            let class = &net.classes[class];
            let values: Vec<i64> = match factor {
                Factor::All => (class.first..=class.last()).collect(),
                Factor::One(value) => vec![evaluate(net, value, binding)],
            };
            let longer = tokens
                .iter()
                .flat_map(|token| values.iter().map(move |&value| token.iter().copied().chain([value]).collect()));
            tokens = longer.collect();
        }
        for token in tokens {
            let count = counts.entry(token).or_default();
            *count = count.checked_add(term.coefficient)?;
        }
    }
    Some(counts)
}

/// The values of the variables of a transition; none if there are too many.
fn bindings(net: &Net, transition: &Transition) -> Option<Vec<Binding>> {
    let mut bindings = vec![Binding::new()];
    for &variable in &transition.variables {
        for (component, &class) in net.variables[variable].classes.iter().enumerate() {
            let class = &net.classes[class];
            if bindings.len().checked_mul(class.size as usize)? > MOST_CHANGES {
                return None;
            }
            let more = bindings.iter().flat_map(|binding| {
                (class.first..=class.last()).map(move |value| {
                    let mut binding = binding.clone();
                    binding.insert((variable, component), value);
                    binding
                })
            });
            bindings = more.collect();
        }
    }
    Some(bindings)
}

pub(super) fn evaluate(net: &Net, value: &Value, binding: &Binding) -> i64 {
    match value {
        Value::Variable { variable, component } => binding.get(&(*variable, *component)).copied().unwrap_or(0),
        Value::Constant(value) => *value,
        Value::Shifted { of, by, class } => {
            let class = &net.classes[*class];
            class.first + (evaluate(net, of, binding) - class.first + by).rem_euclid(class.size)
        }
        Value::Part { of, partition } => {
            let of = evaluate(net, of, binding);
            let part = net.partitions[*partition].parts.iter().position(|values| values.contains(&of));
            part.unwrap_or(0) as i64
        }
    }
}

pub(super) fn satisfies(net: &Net, condition: &Condition, binding: &Binding) -> bool {
    match condition {
        Condition::Constant(value) => *value,
        Condition::Not(of) => !satisfies(net, of, binding),
        Condition::And(parts) => parts.iter().all(|part| satisfies(net, part, binding)),
        Condition::Or(parts) => parts.iter().any(|part| satisfies(net, part, binding)),
        Condition::Differ(left, right) => satisfies(net, left, binding) != satisfies(net, right, binding),
        Condition::Compare(comparison, left, right) => {
            let (left, right) = (evaluate(net, left, binding), evaluate(net, right, binding));
            match comparison {
                Comparison::Equal => left == right,
                Comparison::NotEqual => left != right,
                Comparison::Less => left < right,
                Comparison::LessOrEqual => left <= right,
                Comparison::Greater => left > right,
                Comparison::GreaterOrEqual => left >= right,
            }
        }
    }
}
