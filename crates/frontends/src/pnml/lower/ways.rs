//! Whether different ways to fire always have different effects.
//!
//! Symmetries preserve which steps there are, not how many ways lead to one: an orbit of markings may have several numbers
//! of ways. So firings are counted in a quotient only if no two ways can be the same step.

use super::super::net::{Net, Transition};
use super::super::terms::{Factor, Term, Value, merged};

/// A transition of which two ways to fire may have the same effect, or of which one has the same as another transition.
pub(super) fn ambiguous(net: &Net) -> Option<&Transition> {
    let changes: Vec<Vec<(usize, Vec<Term>)>> = net.transitions.iter().map(|it| changes(net, it)).collect();
    let totals: Vec<Vec<i64>> = changes.iter().map(|it| totals(net, it)).collect();
    net.transitions.iter().enumerate().find_map(|(number, transition)| {
        let is_same = totals[..number].contains(&totals[number]);
        (is_same || !is_determined(transition, &changes[number])).then_some(transition)
    })
}

/// What a transition changes in each place.
fn changes(net: &Net, transition: &Transition) -> Vec<(usize, Vec<Term>)> {
    let of = |arcs: &[(usize, Vec<Term>)], place: usize, sign: i64| -> Vec<Term> {
        let terms = arcs.iter().filter(|(own, _)| *own == place).flat_map(|(_, terms)| terms.clone());
        terms.map(|term| Term { coefficient: sign * term.coefficient, ..term }).collect()
    };
    let change = |place| {
        let terms = [of(&transition.inputs, place, -1), of(&transition.outputs, place, 1)].concat();
        (place, merged(terms))
    };
    (0..net.places.len()).map(change).filter(|(_, terms)| !terms.is_empty()).collect()
}

/// How many tokens there are more in each place, whatever their colours.
fn totals(net: &Net, changes: &[(usize, Vec<Term>)]) -> Vec<i64> {
    let mut totals = vec![0i64; net.places.len()];
    for (place, terms) in changes {
        for term in terms {
            let all = term.factors.iter().zip(&net.places[*place].domain).filter(|(factor, _)| **factor == Factor::All);
            let size =
                all.fold(term.coefficient, |product, (_, &class)| product.saturating_mul(net.classes[class].size));
            totals[*place] = totals[*place].saturating_add(size);
        }
    }
    totals
}

/// Whether the values of all variables follow from what changes: a term that is the only one with unknown values shows
/// them.
fn is_determined(transition: &Transition, changes: &[(usize, Vec<Term>)]) -> bool {
    let mut needed: Vec<(usize, usize)> = Vec::new();
    let mut mention = |variable: usize| needed.push((variable, 0));
    for (_, terms) in transition.inputs.iter().chain(&transition.outputs) {
        terms.iter().for_each(|term| term.for_each_variable(&mut mention));
    }
    transition.guard.for_each_variable(&mut mention);
    let mut known: Vec<(usize, usize)> = Vec::new();
    loop {
        let before = known.len();
        for (_, terms) in changes {
            let mut open = terms.iter().filter(|term| shown(term).any(|it| !known.contains(&it)));
            if let (Some(term), None) = (open.next(), open.next()) {
                let new: Vec<(usize, usize)> = shown(term).filter(|it| !known.contains(it)).collect();
                known.extend(new);
            }
        }
        if known.len() == before {
            break;
        }
    }
    // A variable with several components is needed as a whole.
    needed.iter().all(|&(variable, _)| known.contains(&(variable, 0)) && !known.is_empty())
        && changes.iter().flat_map(|(_, terms)| terms).flat_map(shown).all(|it| known.contains(&it))
}

/// The components of variables that a term shows.
fn shown(term: &Term) -> impl Iterator<Item = (usize, usize)> + '_ {
    term.factors.iter().filter_map(|factor| match factor {
        Factor::One(Value::Variable { variable, component }) => Some((*variable, *component)),
        Factor::One(Value::Shifted { of, .. }) => match **of {
            Value::Variable { variable, component } => Some((variable, component)),
            _ => None,
        },
        _ => None,
    })
}
