//! Smaller automata for the same words.
//!
//! * States that lie on no accepting run, and acceptance sets that others imply, are dropped.
//! * Cubes between the same states are joined.
//! * States are merged by bisimulation, then by direct and by reverse simulation, and transitions that another transition
//!   of the same state simulates are dropped (Etessami and Holzmann 2000; Somenzi and Bloem 2000; with acceptance on
//!   transitions: Babiak, Badie, Duret-Lutz, Křetínský, Strejček, Compositional approach to suspension, 2013).
//!
//! A state `t` simulates `s` if each transition of `s` is matched by one of `t` that reads at least the same letters, is in at
//! least the same acceptance sets, and leads to a state that simulates. Relations are computed on cubes, which may miss
//! pairs but finds no wrong ones.

use crate::automaton::{Automaton, Components, Cube, StateId, Transition};
use rustc_hash::FxHashMap;

/// Comparing all pairs of transitions is given up beyond this number of pairs.
const PAIR_LIMIT: usize = 20_000_000;
/// More cubes than this between two states are left as they are.
const CUBE_LIMIT: usize = 200;
/// How often all reductions are repeated.
const ROUNDS: usize = 6;

/// An automaton for the same words with fewer states, transitions or acceptance sets.
pub fn reduce(automaton: &Automaton) -> Automaton {
    reduce_with(automaton, false)
}

/// The same for an automaton with accepting states ([`Automaton::accepting_states`]), which it still has afterwards.
pub fn reduce_state_based(automaton: &Automaton) -> Automaton {
    reduce_with(automaton, automaton.acceptance_sets == 1 && automaton.accepting_states().is_some())
}

fn reduce_with(automaton: &Automaton, state_based: bool) -> Automaton {
    let mut current = automaton.clone();
    current.normalise();
    for _ in 0..ROUNDS {
        let before = (current.states, current.transitions.len(), current.acceptance_sets);
        current = trim(&current);
        drop_acceptance(&mut current, state_based);
        join_cubes(&mut current);
        current = merge_bisimilar(&current);
        let pairs = current.transitions.len().saturating_mul(current.transitions.len());
        if pairs <= PAIR_LIMIT {
            current = merge_similar(&current, Direction::Forwards);
            if !state_based {
                // Merging states with the same past would mix accepting and other states.
                current = merge_similar(&current, Direction::Backwards);
            }
        }
        current = trim(&current);
        if (current.states, current.transitions.len(), current.acceptance_sets) == before {
            break;
        }
    }
    join_cubes(&mut current);
    renumber(&current)
}

/// The acceptance sets inside each component, and whether the component has a transition.
fn accepting_components(automaton: &Automaton, components: &Components) -> (Vec<bool>, Vec<bool>) {
    let mut sets = vec![0_u64; components.count];
    let mut cyclic = vec![false; components.count];
    for transition in automaton.transitions.iter().filter(|transition| components.is_inside(transition)) {
        let component = components.of[transition.from as usize] as usize;
        sets[component] |= transition.acceptance;
        cyclic[component] = true;
    }
    let accepting = sets.iter().zip(&cyclic).map(|(sets, cyclic)| *cyclic && *sets == automaton.all_sets()).collect();
    (accepting, cyclic)
}

/// Drops states that cannot be reached or from which no word is accepted.
fn trim(automaton: &Automaton) -> Automaton {
    let components = Components::of(automaton);
    let (mut useful, _) = accepting_components(automaton, &components);
    // A component has a larger number than those it leads to.
    let mut leaving: Vec<(u32, u32)> = automaton
        .transitions
        .iter()
        .map(|t| (components.of[t.from as usize], components.of[t.to as usize]))
        .filter(|(from, to)| *from != u32::MAX && from != to)
        .collect();
    leaving.sort_unstable();
    for (from, to) in leaving {
        if useful[to as usize] {
            useful[from as usize] = true;
        }
    }
    let is_useful = |state: StateId| {
        let component = components.of[state as usize];
        component != u32::MAX && useful[component as usize]
    };
    let mut trimmed = automaton.clone();
    trimmed.initial.retain(|state| is_useful(*state));
    trimmed.transitions.retain(|transition| is_useful(transition.from) && is_useful(transition.to));
    if trimmed.initial.is_empty() {
        return Automaton::empty(automaton.atoms.clone());
    }
    renumber(&trimmed)
}

/// Numbers the states that can be reached in the order in which they are met.
fn renumber(automaton: &Automaton) -> Automaton {
    let offsets = automaton.offsets();
    let mut numbers: Vec<Option<StateId>> = vec![None; automaton.states as usize];
    let mut order: Vec<StateId> = Vec::new();
    for state in &automaton.initial {
        if numbers[*state as usize].is_none() {
            numbers[*state as usize] = Some(order.len() as StateId);
            order.push(*state);
        }
    }
    let mut done = 0;
    while done < order.len() {
        let state = order[done] as usize;
        done += 1;
        for transition in &automaton.transitions[offsets[state]..offsets[state + 1]] {
            if numbers[transition.to as usize].is_none() {
                numbers[transition.to as usize] = Some(order.len() as StateId);
                order.push(transition.to);
            }
        }
    }
    let number = |state: StateId| numbers[state as usize];
    let mut renumbered = Automaton {
        atoms: automaton.atoms.clone(),
        states: (order.len() as u32).max(1),
        initial: automaton.initial.iter().filter_map(|state| number(*state)).collect(),
        acceptance_sets: automaton.acceptance_sets,
        transitions: automaton
            .transitions
            .iter()
            .filter_map(|t| Some(Transition { from: number(t.from)?, to: number(t.to)?, ..*t }))
            .collect(),
    };
    renumbered.normalise();
    renumbered
}

/// Drops acceptance where it has no effect: outside accepting components, and sets that others imply.
fn drop_acceptance(automaton: &mut Automaton, state_based: bool) {
    let components = Components::of(automaton);
    let (accepting, cyclic) = accepting_components(automaton, &components);
    let matters = |transition: &Transition| {
        accepting[components.of[transition.from as usize] as usize] && components.is_inside(transition)
    };
    for transition in &mut automaton.transitions {
        let keep =
            if state_based { accepting[components.of[transition.from as usize] as usize] } else { matters(transition) };
        if !keep {
            transition.acceptance = 0;
        }
    }
    if state_based {
        return;
    }
    let mut kept: Vec<u32> = (0..automaton.acceptance_sets).collect();
    let has_rejecting_cycle = cyclic.iter().zip(&accepting).any(|(cyclic, accepting)| *cyclic && !accepting);
    let mut position = 0;
    while position < kept.len() {
        let set = kept[position];
        let relevant = || automaton.transitions.iter().filter(|transition| matters(transition));
        let always = relevant().all(|transition| transition.acceptance >> set & 1 == 1);
        let implied = kept.iter().any(|other| {
            *other != set && relevant().all(|t| t.acceptance >> other & 1 == 0 || t.acceptance >> set & 1 == 1)
        });
        // One set must remain to reject the cycles that are not accepting.
        if implied || (always && (kept.len() > 1 || !has_rejecting_cycle)) {
            kept.remove(position);
        } else {
            position += 1;
        }
    }
    for transition in &mut automaton.transitions {
        transition.acceptance =
            kept.iter().enumerate().map(|(bit, set)| (transition.acceptance >> set & 1) << bit).sum();
    }
    automaton.acceptance_sets = kept.len() as u32;
    automaton.normalise();
}

/// Joins the cubes of transitions that otherwise agree: drops those that others contain, and the literal in which two
/// differ.
fn join_cubes(automaton: &mut Automaton) {
    let mut groups: FxHashMap<(StateId, StateId, u64), Vec<Cube>> = FxHashMap::default();
    for t in &automaton.transitions {
        groups.entry((t.from, t.to, t.acceptance)).or_default().push(t.cube);
    }
    automaton.transitions = groups
        .into_iter()
        .flat_map(|((from, to, acceptance), cubes)| {
            joined(cubes).into_iter().map(move |cube| Transition { from, to, cube, acceptance })
        })
        .collect();
    automaton.normalise();
}

/// Fewer cubes with the same union.
pub fn joined(mut cubes: Vec<Cube>) -> Vec<Cube> {
    cubes.sort_unstable();
    cubes.dedup();
    if cubes.len() > CUBE_LIMIT {
        return cubes;
    }
    loop {
        let mut new = None;
        'pairs: for (position, a) in cubes.iter().enumerate() {
            for b in &cubes[position + 1..] {
                // The same atoms, and one of them with another sign: the literal is not needed.
                let differing = a.positive ^ b.positive;
                let same_atoms = a.positive | a.negative == b.positive | b.negative;
                if same_atoms && differing.count_ones() == 1 {
                    new = Some(Cube { positive: a.positive & !differing, negative: a.negative & !differing });
                    break 'pairs;
                }
                // `a & c` beside `!a`: the literal a is not needed.
                for (wide, narrow) in [(a, b), (b, a)] {
                    let opposite = (wide.positive & narrow.negative) | (wide.negative & narrow.positive);
                    let rest = Cube { positive: wide.positive & !opposite, negative: wide.negative & !opposite };
                    let shorter = Cube { positive: narrow.positive & !opposite, negative: narrow.negative & !opposite };
                    if opposite.count_ones() == 1 && shorter.implies(rest) && !cubes.contains(&shorter) {
                        new = Some(shorter);
                        break 'pairs;
                    }
                }
            }
        }
        if let Some(cube) = new {
            cubes.push(cube);
        }
        let all = cubes.clone();
        let mut position = 0;
        cubes.retain(|cube| {
            let here = position;
            position += 1;
            !all.iter()
                .enumerate()
                .any(|(other, wider)| other != here && cube.implies(*wider) && (other < here || !wider.implies(*cube)))
        });
        if new.is_none() {
            cubes.sort_unstable();
            return cubes;
        }
    }
}

/// A transition from a state: its label, its acceptance sets, and the class of the state it enters.
type Move = (Cube, u64, u32);

/// Merges states whose transitions are the same up to merged states.
fn merge_bisimilar(automaton: &Automaton) -> Automaton {
    let offsets = automaton.offsets();
    let states = automaton.states as usize;
    let mut class = vec![0_u32; states];
    let mut count = 1;
    loop {
        let mut numbers: FxHashMap<(u32, Vec<Move>), u32> = FxHashMap::default();
        let next: Vec<u32> = (0..states)
            .map(|state| {
                let mut signature: Vec<Move> = automaton.transitions[offsets[state]..offsets[state + 1]]
                    .iter()
                    .map(|t| (t.cube, t.acceptance, class[t.to as usize]))
                    .collect();
                signature.sort_unstable();
                signature.dedup();
                let number = numbers.len() as u32;
                *numbers.entry((class[state], signature)).or_insert(number)
            })
            .collect();
        class = next;
        if numbers.len() == count {
            break;
        }
        count = numbers.len();
    }
    if count == states {
        return automaton.clone();
    }
    let mut merged = Automaton {
        states: count as u32,
        initial: automaton.initial.iter().map(|state| class[*state as usize]).collect(),
        transitions: automaton
            .transitions
            .iter()
            .map(|t| Transition { from: class[t.from as usize], to: class[t.to as usize], ..*t })
            .collect(),
        ..automaton.clone()
    };
    merged.normalise();
    merged
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forwards,
    Backwards,
}

/// For each state, which states simulate it. Backwards, transitions are followed against their direction, and a state that
/// simulates an initial one must be initial.
fn simulation(automaton: &Automaton, direction: Direction) -> Vec<Vec<bool>> {
    let states = automaton.states as usize;
    let ends = |t: &Transition| match direction {
        Direction::Forwards => (t.from as usize, t.to as usize),
        Direction::Backwards => (t.to as usize, t.from as usize),
    };
    let mut moves: Vec<Vec<(Cube, u64, usize)>> = vec![Vec::new(); states];
    for transition in &automaton.transitions {
        let (here, there) = ends(transition);
        moves[here].push((transition.cube, transition.acceptance, there));
    }
    let mut is_initial = vec![false; states];
    automaton.initial.iter().for_each(|state| is_initial[*state as usize] = true);
    let mut simulates: Vec<Vec<bool>> = (0..states)
        .map(|state| {
            (0..states)
                .map(|other| direction == Direction::Forwards || !is_initial[state] || is_initial[other])
                .collect()
        })
        .collect();
    loop {
        let mut changed = false;
        for state in 0..states {
            for other in 0..states {
                if state == other || !simulates[state][other] {
                    continue;
                }
                let matched = moves[state].iter().all(|(cube, acceptance, to)| {
                    moves[other].iter().any(|(wider, more, target)| {
                        cube.implies(*wider) && acceptance & !more == 0 && simulates[*to][*target]
                    })
                });
                if !matched {
                    simulates[state][other] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return simulates;
        }
    }
}

/// Merges states that simulate each other, and drops transitions that another one makes superfluous.
fn merge_similar(automaton: &Automaton, direction: Direction) -> Automaton {
    let simulates = simulation(automaton, direction);
    let states = automaton.states as usize;
    let representative: Vec<StateId> = (0..states)
        .map(|state| {
            (0..=state)
                .find(|other| simulates[state][*other] && simulates[*other][state])
                .expect("a state simulates itself") as StateId
        })
        .collect();
    let is_representative = |state: StateId| representative[state as usize] == state;
    // The transitions of the representative stand for those of all that it stands for.
    let mut transitions: Vec<Transition> = automaton
        .transitions
        .iter()
        .filter(|t| is_representative(if direction == Direction::Forwards { t.from } else { t.to }))
        .map(|t| Transition { from: representative[t.from as usize], to: representative[t.to as usize], ..*t })
        .collect();
    transitions.sort_unstable();
    transitions.dedup();
    let ends = |t: &Transition| match direction {
        Direction::Forwards => (t.from, t.to),
        Direction::Backwards => (t.to, t.from),
    };
    let mut groups: FxHashMap<StateId, Vec<Transition>> = FxHashMap::default();
    for transition in &transitions {
        groups.entry(ends(transition).0).or_default().push(*transition);
    }
    transitions.retain(|transition| {
        let (here, there) = ends(transition);
        !groups[&here].iter().any(|other| {
            other != transition
                && transition.cube.implies(other.cube)
                && transition.acceptance & !other.acceptance == 0
                && simulates[there as usize][ends(other).1 as usize]
        })
    });
    let mut initial: Vec<StateId> = automaton.initial.iter().map(|state| representative[*state as usize]).collect();
    initial.sort_unstable();
    initial.dedup();
    if direction == Direction::Forwards {
        let all = initial.clone();
        initial.retain(|state| !all.iter().any(|other| other != state && simulates[*state as usize][*other as usize]));
    }
    let merged = Automaton { initial, transitions, ..automaton.clone() };
    renumber(&merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::tests::random_automaton;
    use crate::random::{Random, random_lasso};

    #[test]
    fn reduced_automata_accept_the_same_words() {
        let mut random = Random::new(31);
        let mut smaller = 0;
        for _ in 0..3000 {
            let automaton = random_automaton(&mut random);
            let states = automaton.state_based();
            let variants =
                [reduce(&automaton), reduce(&automaton.degeneralised()), reduce_state_based(&states), reduce(&states)];
            assert!(variants[2].accepting_states().is_some());
            for reduced in &variants {
                smaller += usize::from(reduced.states < automaton.states);
                assert!(reduced.states <= states.states);
                for _ in 0..8 {
                    let lasso = random_lasso(&mut random, 2);
                    assert_eq!(
                        automaton.accepts(&lasso),
                        reduced.accepts(&lasso),
                        "{automaton:?} {reduced:?} {lasso:?}"
                    );
                }
            }
        }
        assert!(smaller > 1000, "{smaller}");
    }

    #[test]
    fn cubes_are_joined() {
        let cube = |positive, negative| Cube { positive, negative };
        assert_eq!(joined(vec![cube(1, 2), cube(3, 0)]), [cube(1, 0)]);
        assert_eq!(joined(vec![cube(1, 0), cube(0, 1)]), [Cube::TRUE]);
        assert_eq!(joined(vec![cube(1, 0), cube(2, 1)]), [cube(1, 0), cube(2, 0)]);
        assert_eq!(joined(vec![cube(3, 0), cube(1, 2), cube(2, 1), cube(0, 3)]), [Cube::TRUE]);
    }

    #[test]
    fn unions_of_joined_cubes_are_the_same() {
        let mut random = Random::new(32);
        for _ in 0..2000 {
            let cubes: Vec<Cube> = (0..random.below(6))
                .map(|_| {
                    let positive = random.number() & random.number() & 7;
                    Cube { positive, negative: random.number() & random.number() & 7 & !positive }
                })
                .collect();
            let fewer = joined(cubes.clone());
            for letter in 0..8 {
                let holds = |cubes: &[Cube]| cubes.iter().any(|cube| cube.contains(letter));
                assert_eq!(holds(&cubes), holds(&fewer), "{cubes:?} {fewer:?}");
            }
        }
    }
}
