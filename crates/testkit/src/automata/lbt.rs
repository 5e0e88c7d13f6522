//! The output of lbt (Rönkkö 1999): a generalised Büchi automaton with labels on transitions and acceptance sets of states.
//!
//! First the numbers of states and acceptance sets. For each state its number, 1 if it is initial, its acceptance sets and
//! -1; then its transitions, each a state and a condition in prefix form over `p0`, `p1`, …, and -1.

use super::FormatError;
use super::scanner::{Condition, DEPTH_LIMIT, Scanner, and, literal, not, or};
use quotient_temporal::automaton::{Automaton, Cube, StateId, Transition};
use quotient_temporal::formula::Atom;
use rustc_hash::FxHashMap;

/// Reads what lbt printed. Atoms keep their numbers, which must be below 64.
///
/// # Errors
/// If the text is not in that form.
pub fn read(text: &str) -> Result<Automaton, FormatError> {
    let mut scanner = Scanner::new(text);
    let states = scanner.number()?;
    let sets = if states == 0 { 0 } else { scanner.number()? };
    if sets > 64 || states > 1 << 24 {
        return scanner.error("the automaton is too large");
    }
    let mut numbers: FxHashMap<usize, StateId> = FxHashMap::default();
    let mut number_of = |name: usize| {
        let next = numbers.len() as StateId;
        *numbers.entry(name).or_insert(next)
    };
    let (mut initial, mut transitions) = (Vec::new(), Vec::new());
    for _ in 0..states {
        let from = number_of(scanner.number()?);
        if scanner.number()? == 1 {
            initial.push(from);
        }
        let mut acceptance = 0;
        while !scanner.take("-1") {
            let set = scanner.number()?;
            if set >= sets {
                return scanner.error(format!("there is no acceptance set {set}"));
            }
            acceptance |= 1 << set;
        }
        while !scanner.take("-1") {
            let to = number_of(scanner.number()?);
            let condition = condition(&mut scanner, 0)?;
            transitions.extend(condition.into_iter().map(|cube| Transition { from, to, cube, acceptance }));
        }
    }
    if numbers.len() > states {
        return scanner.error("a transition leads to a state that is missing");
    }
    let mut automaton = Automaton {
        atoms: (0..64).map(Atom).collect(),
        states: (states as u32).max(1),
        initial,
        acceptance_sets: sets as u32,
        transitions,
    };
    automaton.normalise();
    Ok(automaton)
}

fn condition(scanner: &mut Scanner<'_>, depth: usize) -> Result<Condition, FormatError> {
    if depth > DEPTH_LIMIT {
        return scanner.error("the condition is nested too deeply");
    }
    let checked = |scanner: &Scanner<'_>, condition: Option<Condition>| {
        condition.map_or_else(|| scanner.error("the condition is too large"), Ok)
    };
    if scanner.take("!") {
        let inner = condition(scanner, depth + 1)?;
        return checked(scanner, not(&inner));
    }
    if scanner.take("&") {
        let (a, b) = (condition(scanner, depth + 1)?, condition(scanner, depth + 1)?);
        return checked(scanner, and(&a, &b));
    }
    if scanner.take("|") {
        let (a, b) = (condition(scanner, depth + 1)?, condition(scanner, depth + 1)?);
        return Ok(or(&a, &b));
    }
    if scanner.take("t") {
        return Ok(vec![Cube::TRUE]);
    }
    if scanner.take("f") {
        return Ok(Vec::new());
    }
    if scanner.take("p") {
        let number = scanner.number()?;
        return if number < 64 { Ok(literal(number)) } else { scanner.error("atoms must be below 64") };
    }
    scanner.error("expected a condition")
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_temporal::lasso::Lasso;

    #[test]
    fn a_response_automaton() {
        let text = "6 1\n0 1 -1\n1 ! p0\n2 p1\n3 t\n-1\n1 0 0 -1\n1 ! p0\n2 p1\n3 t\n-1\n2 0 0 -1\n1 ! p0\n2 p1\n3 t\n-1\n3 0 -1\n2 p1\n3 t\n4 & ! p0 p1\n5 ! p0\n-1\n4 0 0 -1\n1 ! p0\n2 p1\n3 t\n-1\n5 0 -1\n2 p1\n3 t\n4 & ! p0 p1\n5 ! p0\n-1\n";
        let automaton = read(text).expect("an automaton");
        assert_eq!(automaton.states, 6);
        assert!(automaton.accepts(&Lasso { prefix: vec![1], cycle: vec![1, 2] }));
        assert!(!automaton.accepts(&Lasso { prefix: vec![2], cycle: vec![1] }));
        assert_eq!(read("0").map(|automaton| automaton.is_empty()), Ok(true));
        assert_eq!(read("1 0\n0 1 -1\n0 q\n-1").expect_err("a name").to_string(), "line 3: expected a condition");
    }
}
