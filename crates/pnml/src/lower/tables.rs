//! Places that no transition changes are tables. Where a transition has very many values of its variables, those that
//! the tables allow are found by joining them, and each is a rule of its own; other variables remain parameters.

use super::unfolding::{Binding, evaluate, named_by, satisfies, tokens};
use crate::net::{Condition, Factor, Term, Value, merged};
use crate::net::{DOT, Net, Transition};

/// Transitions with fewer ways to fire are left as they are.
const MANY_WAYS: usize = 1 << 16;
/// The tables have to leave out all but one in this many ways.
const LEAST_GAIN: usize = 16;
/// The most rules that a transition becomes.
const MOST_RULES: usize = 1 << 14;
/// The most tokens of a table.
const MOST_TOKENS: usize = 1 << 16;
/// The most tokens that are looked at.
const MOST_WORK: usize = 1 << 27;

/// The tokens of the places that never change; none for others.
pub(super) struct Tables(Vec<Option<Vec<Vec<i64>>>>);

impl Tables {
    pub(super) fn of(net: &Net) -> Self {
        let mut changes = vec![false; net.places.len()];
        for transition in &net.transitions {
            let mut sums: Vec<(usize, Vec<Term>)> = Vec::new();
            let taken = transition.inputs.iter().map(|(place, terms)| (*place, terms, -1));
            let put = transition.outputs.iter().map(|(place, terms)| (*place, terms, 1));
            for (place, terms, sign) in taken.chain(put) {
                let position = sums.iter().position(|(own, _)| *own == place).unwrap_or_else(|| {
                    sums.push((place, Vec::new()));
                    sums.len() - 1
                });
                let terms = terms.iter();
                sums[position].1.extend(terms.map(|it| Term { coefficient: sign * it.coefficient, ..it.clone() }));
            }
            for (place, terms) in sums {
                changes[place] |= !merged(terms).is_empty();
            }
        }
        let tables = net.places.iter().zip(changes).map(|(place, changes)| {
            let named: usize =
                place.marking.iter().map(|term| named_by(net, &place.domain, term)).fold(0, usize::saturating_add);
            if changes || named > MOST_TOKENS {
                return None;
            }
            let counts = tokens(net, &place.domain, &place.marking, &Binding::new())?;
            Some(counts.into_iter().filter(|(_, count)| *count > 0).map(|(token, _)| token).collect())
        });
        Self(tables.collect())
    }

    /// The values of the variables that are looked up in tables, if a transition with so many ways to fire is better
    /// split by them.
    pub(super) fn ways(&self, net: &Net, transition: &Transition, ways: Option<usize>) -> Option<Vec<Binding>> {
        if ways.is_some_and(|ways| ways < MANY_WAYS) {
            return None;
        }
        let inputs = transition.inputs.iter();
        let mut lookups: Vec<(&[Vec<i64>], &Term)> = inputs
            .filter_map(|(place, terms)| Some((self.0[*place].as_deref()?, terms)))
            .flat_map(|(table, terms)| terms.iter().map(move |term| (table, term)))
            .filter(|(_, term)| term.coefficient > 0)
            .collect();
        let mut found = vec![dots(net, transition)];
        let mut work = 0usize;
        while !lookups.is_empty() {
            let known = found.first()?;
            let unknown = |term: &Term| term.factors.iter().filter(|factor| !is_known(factor, known)).count();
            let next = (0..lookups.len()).min_by_key(|&it| (unknown(lookups[it].1), lookups[it].0.len()))?;
            let (table, term) = lookups.swap_remove(next);
            work = work.saturating_add(found.len().saturating_mul(table.len()));
            if work > MOST_WORK {
                return None;
            }
            let mut longer = Vec::new();
            for binding in &found {
                let matching = table.iter().filter_map(|token| matched(net, term, token, binding));
                longer.extend(matching.filter(|binding| may_hold(net, &transition.guard, binding)));
                if longer.len() > MOST_RULES {
                    return None;
                }
            }
            longer.sort_unstable();
            longer.dedup();
            found = longer;
            if found.is_empty() {
                return Some(found);
            }
        }
        let rest = rest(net, transition, found.first()?)?;
        let is_better = ways.is_none_or(|ways| rest.saturating_mul(found.len()) <= ways / LEAST_GAIN);
        is_better.then_some(found)
    }
}

/// The components of the class of black tokens, which have one value.
fn dots(net: &Net, transition: &Transition) -> Binding {
    let variables = transition.variables.iter();
    let components = variables.flat_map(|&variable| {
        let classes = net.variables[variable].classes.iter().enumerate();
        classes.filter(|(_, class)| **class == DOT).map(move |(component, _)| (variable, component))
    });
    components.map(|component| (component, 0)).collect()
}

/// The number of values of the variables that a binding leaves open.
fn rest(net: &Net, transition: &Transition, binding: &Binding) -> Option<usize> {
    let mut count = 1usize;
    for &variable in &transition.variables {
        for (component, &class) in net.variables[variable].classes.iter().enumerate() {
            if !binding.contains_key(&(variable, component)) {
                count = count.checked_mul(net.classes[class].size as usize)?;
            }
        }
    }
    Some(count)
}

fn is_known(factor: &Factor, binding: &Binding) -> bool {
    match factor {
        Factor::All => true,
        Factor::One(value) => is_bound(value, binding),
    }
}

fn is_bound(value: &Value, binding: &Binding) -> bool {
    match value {
        Value::Constant(_) => true,
        Value::Variable { variable, component } => binding.contains_key(&(*variable, *component)),
        Value::Shifted { of, .. } | Value::Part { of, .. } => is_bound(of, binding),
    }
}

/// The binding with the values for which a term stands for a token.
fn matched(net: &Net, term: &Term, token: &[i64], binding: &Binding) -> Option<Binding> {
    let mut binding = binding.clone();
    for (factor, &value) in term.factors.iter().zip(token) {
        if let Factor::One(own) = factor {
            bind(net, own, value, &mut binding)?;
        }
    }
    Some(binding)
}

/// Gives a variable the value for which a term has a value. None if there is no such value.
fn bind(net: &Net, term: &Value, value: i64, binding: &mut Binding) -> Option<()> {
    match term {
        _ if is_bound(term, binding) => (evaluate(net, term, binding) == value).then_some(()),
        Value::Variable { variable, component } => {
            binding.insert((*variable, *component), value);
            Some(())
        }
        Value::Shifted { of, by, class } => {
            let class = &net.classes[*class];
            bind(net, of, class.first + (value - class.first - by).rem_euclid(class.size), binding)
        }
        // Several values are in the part: none is chosen.
        Value::Constant(_) | Value::Part { .. } => Some(()),
    }
}

/// Whether a condition may hold for some values of the variables that a binding leaves open.
fn may_hold(net: &Net, condition: &Condition, binding: &Binding) -> bool {
    match condition {
        Condition::And(parts) => parts.iter().all(|part| may_hold(net, part, binding)),
        Condition::Or(parts) => parts.iter().any(|part| may_hold(net, part, binding)),
        other => !is_closed(other, binding) || satisfies(net, other, binding),
    }
}

fn is_closed(condition: &Condition, binding: &Binding) -> bool {
    match condition {
        Condition::Constant(_) => true,
        Condition::Not(of) => is_closed(of, binding),
        Condition::And(parts) | Condition::Or(parts) => parts.iter().all(|part| is_closed(part, binding)),
        Condition::Differ(left, right) => is_closed(left, binding) && is_closed(right, binding),
        Condition::Compare(_, left, right) => is_bound(left, binding) && is_bound(right, binding),
    }
}
