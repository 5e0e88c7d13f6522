//! Generalised Büchi automata with acceptance on transitions.
//!
//! A run is accepting if it takes transitions of every acceptance set infinitely often; without acceptance sets every run
//! is. The label of a transition is a cube, a conjunction of literals, as two bit masks over the atoms of the automaton, so
//! that an engine evaluates it with two operations on words.

use crate::formula::Atom;
use crate::lasso::{Lasso, Letter};
use rustc_hash::FxHashMap;

/// The number of a state of an automaton.
pub type StateId = u32;

/// A conjunction of literals. Bit `i` stands for atom `i` of the automaton; no bit is in both masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube {
    /// The atoms that must be true.
    pub positive: u64,
    /// The atoms that must be false.
    pub negative: u64,
}

impl Cube {
    /// The cube without literals.
    pub const TRUE: Self = Self { positive: 0, negative: 0 };

    /// Whether a letter (the true atoms as bits) satisfies the cube.
    pub fn contains(self, letter: Letter) -> bool {
        letter & self.positive == self.positive && letter & self.negative == 0
    }
    /// The conjunction of two cubes, if it is satisfiable.
    pub fn and(self, other: Self) -> Option<Self> {
        let both = Self { positive: self.positive | other.positive, negative: self.negative | other.negative };
        (both.positive & both.negative == 0).then_some(both)
    }
    /// Whether every letter of this cube is one of the other.
    pub fn implies(self, other: Self) -> bool {
        self.positive & other.positive == other.positive && self.negative & other.negative == other.negative
    }
    /// How many literals it has.
    pub fn literals(self) -> u32 {
        self.positive.count_ones() + self.negative.count_ones()
    }
    /// One letter that satisfies the cube.
    pub fn letter(self) -> Letter {
        self.positive
    }
}

/// A transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transition {
    /// The state it leaves.
    pub from: StateId,
    /// The state it enters.
    pub to: StateId,
    /// The letters it reads.
    pub cube: Cube,
    /// The acceptance sets it belongs to, as bits.
    pub acceptance: u64,
}

/// An automaton on infinite words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// The atoms that the bits of cubes stand for, at most 64.
    pub atoms: Vec<Atom>,
    /// How many states there are, numbered from 0.
    pub states: u32,
    /// The initial states.
    pub initial: Vec<StateId>,
    /// How many acceptance sets there are, at most 64.
    pub acceptance_sets: u32,
    /// The transitions, sorted by the state they leave.
    pub transitions: Vec<Transition>,
}

impl Automaton {
    /// An automaton without words.
    pub fn empty(atoms: Vec<Atom>) -> Self {
        Self { atoms, states: 1, initial: vec![0], acceptance_sets: 0, transitions: Vec::new() }
    }
    /// All acceptance sets, as bits.
    pub fn all_sets(&self) -> u64 {
        if self.acceptance_sets == 64 { u64::MAX } else { (1 << self.acceptance_sets) - 1 }
    }
    /// Sorts the transitions and drops repeated ones, as the other methods expect.
    pub fn normalise(&mut self) {
        self.transitions.sort_unstable();
        self.transitions.dedup();
        self.initial.sort_unstable();
        self.initial.dedup();
    }
    /// The transitions that leave a state.
    pub fn leaving(&self, state: StateId) -> &[Transition] {
        let start = self.transitions.partition_point(|transition| transition.from < state);
        let length = self.transitions[start..].partition_point(|transition| transition.from == state);
        &self.transitions[start..start + length]
    }
    /// For each state, where its transitions start; one more entry for the end.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0; self.states as usize + 1];
        for transition in &self.transitions {
            offsets[transition.from as usize + 1] += 1;
        }
        for state in 0..self.states as usize {
            offsets[state + 1] += offsets[state];
        }
        offsets
    }
    /// Whether all transitions that leave a state are accepting together or not at all, so that a state can be said to be
    /// accepting. Only for automata with one acceptance set, or none.
    pub fn accepting_states(&self) -> Option<Vec<bool>> {
        if self.acceptance_sets > 1 {
            return None;
        }
        let mut accepting = vec![self.acceptance_sets == 0; self.states as usize];
        if self.acceptance_sets == 0 {
            return Some(accepting);
        }
        for state in 0..self.states {
            let leaving = self.leaving(state);
            let value = leaving.first().is_some_and(|transition| transition.acceptance == 1);
            if leaving.iter().any(|transition| (transition.acceptance == 1) != value) {
                return None;
            }
            accepting[state as usize] = value;
        }
        Some(accepting)
    }
    /// Whether the automaton accepts the word of a lasso. Letters have a bit for each atom's number.
    ///
    /// # Panics
    /// If an atom is above 63.
    pub fn accepts(&self, lasso: &Lasso) -> bool {
        let positions = lasso.prefix.len() + lasso.cycle.len();
        let letters: Vec<Letter> = (0..positions)
            .map(|position| {
                let letter = lasso.letter(position);
                self.atoms
                    .iter()
                    .enumerate()
                    .map(|(bit, Atom(number))| {
                        assert!(*number < 64, "a letter has 64 atoms");
                        (letter >> number & 1) << bit
                    })
                    .sum()
            })
            .collect();
        let following = |position: usize| if position + 1 == positions { lasso.prefix.len() } else { position + 1 };
        let word = Self {
            atoms: self.atoms.clone(),
            states: positions as u32,
            initial: vec![0],
            acceptance_sets: 0,
            transitions: (0..positions)
                .map(|position| Transition {
                    from: position as u32,
                    to: following(position) as u32,
                    cube: Cube { positive: letters[position], negative: !letters[position] & mask(self.atoms.len()) },
                    acceptance: 0,
                })
                .collect(),
        };
        !self.intersection(&word).is_empty()
    }
    /// The automaton for the words that both accept.
    ///
    /// # Panics
    /// If the automata have more than 64 atoms or acceptance sets together.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut atoms = self.atoms.clone();
        let bits: Vec<usize> = other
            .atoms
            .iter()
            .map(|atom| {
                atoms.iter().position(|known| known == atom).unwrap_or_else(|| {
                    atoms.push(*atom);
                    atoms.len() - 1
                })
            })
            .collect();
        let sets = self.acceptance_sets + other.acceptance_sets;
        assert!(atoms.len() <= 64 && sets <= 64, "too many atoms or acceptance sets");
        let renamed = |mask: u64| bits.iter().enumerate().map(|(from, to)| (mask >> from & 1) << to).sum();
        let renamed: Vec<Transition> = other
            .transitions
            .iter()
            .map(|t| {
                let cube = Cube { positive: renamed(t.cube.positive), negative: renamed(t.cube.negative) };
                Transition { cube, ..*t }
            })
            .collect();
        let (ours, theirs) = (self.offsets(), other.offsets());
        let mut numbers: FxHashMap<(StateId, StateId), StateId> = FxHashMap::default();
        let mut pending = Vec::new();
        let mut number_of = |pair: (StateId, StateId), pending: &mut Vec<(StateId, StateId)>| {
            let next = numbers.len() as StateId;
            *numbers.entry(pair).or_insert_with(|| {
                pending.push(pair);
                next
            })
        };
        let mut initial = Vec::new();
        for a in &self.initial {
            for b in &other.initial {
                initial.push(number_of((*a, *b), &mut pending));
            }
        }
        let mut transitions = Vec::new();
        let mut done = 0;
        while done < pending.len() {
            let (a, b) = pending[done];
            let from = done as StateId;
            done += 1;
            for mine in &self.transitions[ours[a as usize]..ours[a as usize + 1]] {
                for yours in &renamed[theirs[b as usize]..theirs[b as usize + 1]] {
                    if let Some(cube) = mine.cube.and(yours.cube) {
                        let to = number_of((mine.to, yours.to), &mut pending);
                        let acceptance =
                            mine.acceptance | yours.acceptance.checked_shl(self.acceptance_sets).unwrap_or_default();
                        transitions.push(Transition { from, to, cube, acceptance });
                    }
                }
            }
        }
        let states = (pending.len() as u32).max(1);
        let mut product = Self { atoms, states, initial, acceptance_sets: sets, transitions };
        product.normalise();
        product
    }
    /// Whether it accepts no word.
    pub fn is_empty(&self) -> bool {
        let components = Components::of(self);
        let mut sets: Vec<Option<u64>> = vec![None; components.count];
        for transition in &self.transitions {
            if components.is_inside(transition) {
                let component = components.of[transition.from as usize] as usize;
                *sets[component].get_or_insert(0) |= transition.acceptance;
            }
        }
        !sets.contains(&Some(self.all_sets()))
    }
    /// A word that it accepts, if there is one. Letters have a bit for each atom's number.
    ///
    /// # Panics
    /// If an atom is above 63.
    pub fn accepted_word(&self) -> Option<Lasso> {
        let components = Components::of(self);
        let mut sets: Vec<Option<u64>> = vec![None; components.count];
        for transition in self.transitions.iter().filter(|transition| components.is_inside(transition)) {
            let component = components.of[transition.from as usize] as usize;
            *sets[component].get_or_insert(0) |= transition.acceptance;
        }
        let component = sets.iter().position(|sets| *sets == Some(self.all_sets()))? as u32;
        let offsets = self.offsets();
        // Breadth first from some states to a goal; the transitions of the way.
        let way = |starts: &[StateId], inside: bool, goal: &dyn Fn(&Transition) -> bool| -> Option<Vec<Transition>> {
            let mut came_by: Vec<Option<Transition>> = vec![None; self.states as usize];
            let mut seen = vec![false; self.states as usize];
            let mut queue: Vec<StateId> = starts.to_vec();
            starts.iter().for_each(|state| seen[*state as usize] = true);
            let mut done = 0;
            while done < queue.len() {
                let state = queue[done] as usize;
                done += 1;
                for transition in &self.transitions[offsets[state]..offsets[state + 1]] {
                    if inside && components.of[transition.to as usize] != component {
                        continue;
                    }
                    if goal(transition) {
                        let mut steps = vec![*transition];
                        let mut state = state;
                        while let Some(step) = came_by[state] {
                            steps.push(step);
                            state = step.from as usize;
                        }
                        steps.reverse();
                        return Some(steps);
                    }
                    if !seen[transition.to as usize] {
                        seen[transition.to as usize] = true;
                        came_by[transition.to as usize] = Some(*transition);
                        queue.push(transition.to);
                    }
                }
            }
            None
        };
        let starts_inside = self.initial.iter().copied().find(|state| components.of[*state as usize] == component);
        let prefix = match starts_inside {
            Some(_) => Vec::new(),
            None => way(&self.initial, false, &|transition| components.of[transition.to as usize] == component)?,
        };
        let entry = prefix.last().map_or_else(|| starts_inside, |step| Some(step.to))?;
        let (mut cycle, mut at, mut seen) = (Vec::new(), entry, 0);
        while seen != self.all_sets() {
            let steps = way(&[at], true, &|transition| transition.acceptance & !seen != 0)?;
            seen |= steps.iter().fold(0, |sets, step| sets | step.acceptance);
            at = steps.last()?.to;
            cycle.extend(steps);
        }
        if at != entry || cycle.is_empty() {
            cycle.extend(way(&[at], true, &|transition| transition.to == entry)?);
        }
        let letters = |steps: &[Transition]| {
            steps
                .iter()
                .map(|step| {
                    let letter = step.cube.letter();
                    self.atoms
                        .iter()
                        .enumerate()
                        .map(|(bit, Atom(number))| {
                            assert!(*number < 64, "a letter has 64 atoms");
                            (letter >> bit & 1) << number
                        })
                        .sum()
                })
                .collect()
        };
        Some(Lasso { prefix: letters(&prefix), cycle: letters(&cycle) })
    }
    /// The same automaton with one acceptance set, still on transitions.
    ///
    /// A state is paired with the set that is waited for; a transition that belongs to several sets in turn skips them. Only
    /// inside strongly connected components is anything waited for.
    #[must_use]
    pub fn degeneralised(&self) -> Self {
        if self.acceptance_sets == 1 {
            return self.clone();
        }
        self.with_levels(false)
    }
    /// The same automaton with acceptance of states: all transitions that leave a state are in the only acceptance set, or
    /// none of them ([`Self::accepting_states`]).
    #[must_use]
    pub fn state_based(&self) -> Self {
        if self.acceptance_sets == 1 && self.accepting_states().is_some() {
            return self.clone();
        }
        self.with_levels(true)
    }
    fn with_levels(&self, state_based: bool) -> Self {
        let components = Components::of(self);
        let sets = self.acceptance_sets;
        // Where every transition is in every set nothing is waited for: with accepting states, all are accepting.
        let mut is_accepting = vec![state_based; components.count];
        for transition in self.transitions.iter().filter(|transition| components.is_inside(transition)) {
            let component = components.of[transition.from as usize] as usize;
            is_accepting[component] &= transition.acceptance == self.all_sets();
        }
        let first_level = |state: StateId| {
            let component = components.of[state as usize];
            if component != u32::MAX && is_accepting[component as usize] { sets } else { 0 }
        };
        let offsets = self.offsets();
        let mut numbers: FxHashMap<(StateId, u32), StateId> = FxHashMap::default();
        let mut pending: Vec<(StateId, u32)> = Vec::new();
        let mut number_of = |pair: (StateId, u32), pending: &mut Vec<(StateId, u32)>| {
            let next = numbers.len() as StateId;
            *numbers.entry(pair).or_insert_with(|| {
                pending.push(pair);
                next
            })
        };
        let initial: Vec<StateId> =
            self.initial.iter().map(|state| number_of((*state, first_level(*state)), &mut pending)).collect();
        let mut transitions = Vec::new();
        let mut done = 0;
        while done < pending.len() {
            let (state, level) = pending[done];
            let from = done as StateId;
            done += 1;
            let complete = level == sets;
            for transition in &self.transitions[offsets[state as usize]..offsets[state as usize + 1]] {
                let mut next = first_level(transition.to);
                let mut accepting = false;
                if components.is_inside(transition) {
                    next = if complete { 0 } else { level };
                    while next < sets && transition.acceptance >> next & 1 == 1 {
                        next += 1;
                    }
                    if !state_based && next == sets {
                        // All were seen: accepting, and waiting begins again, perhaps with this transition.
                        accepting = true;
                        next = 0;
                        while next < sets && transition.acceptance >> next & 1 == 1 {
                            next += 1;
                        }
                        if next == sets {
                            next = 0;
                        }
                    }
                }
                let acceptance = u64::from(if state_based { complete } else { accepting });
                let to = number_of((transition.to, next), &mut pending);
                transitions.push(Transition { from, to, cube: transition.cube, acceptance });
            }
        }
        let mut automaton = Self {
            atoms: self.atoms.clone(),
            states: (pending.len() as u32).max(1),
            initial,
            acceptance_sets: 1,
            transitions,
        };
        automaton.normalise();
        automaton
    }
}

/// The lowest bits.
pub(crate) fn mask(bits: usize) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The strongly connected components of the states that can be reached, by Tarjan's algorithm (1972) without recursion.
#[derive(Clone, Debug)]
pub struct Components {
    /// The component of each state; `u32::MAX` for a state that cannot be reached. A component has a larger number than
    /// those that can be reached from it.
    pub of: Vec<u32>,
    /// How many components there are.
    pub count: usize,
}

impl Components {
    /// The components of an automaton.
    pub fn of(automaton: &Automaton) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let offsets = automaton.offsets();
        let states = automaton.states as usize;
        let mut of = vec![UNSEEN; states];
        let (mut order, mut low) = (vec![UNSEEN; states], vec![0_u32; states]);
        let (mut stack, mut work): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        let (mut time, mut count) = (0, 0);
        for start in &automaton.initial {
            if order[*start as usize] != UNSEEN {
                continue;
            }
            work.push((*start as usize, offsets[*start as usize]));
            while let Some((state, next)) = work.pop() {
                if order[state] == UNSEEN {
                    order[state] = time;
                    low[state] = time;
                    time += 1;
                    stack.push(state);
                }
                let mut next = next;
                let mut child = None;
                while next < offsets[state + 1] {
                    let to = automaton.transitions[next].to as usize;
                    next += 1;
                    if order[to] == UNSEEN {
                        child = Some(to);
                        break;
                    }
                    if of[to] == UNSEEN {
                        low[state] = low[state].min(order[to]);
                    }
                }
                if let Some(child) = child {
                    work.push((state, next));
                    work.push((child, offsets[child]));
                    continue;
                }
                if low[state] == order[state] {
                    loop {
                        let member = stack.pop().expect("the state is on the stack");
                        of[member] = count as u32;
                        if member == state {
                            break;
                        }
                    }
                    count += 1;
                }
                if let Some((parent, _)) = work.last() {
                    low[*parent] = low[*parent].min(low[state]);
                }
            }
        }
        Self { of, count }
    }
    /// Whether a transition stays in its component, so that it can be taken infinitely often.
    pub fn is_inside(&self, transition: &Transition) -> bool {
        let component = self.of[transition.from as usize];
        component != u32::MAX && component == self.of[transition.to as usize]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::random::{Random, random_lasso};

    /// A random automaton over two atoms.
    pub(crate) fn random_automaton(random: &mut Random) -> Automaton {
        let states = 1 + random.below(6) as u32;
        let acceptance_sets = random.below(4) as u32;
        let transitions = (0..states as usize * 2 + random.below(8))
            .map(|_| {
                let positive = random.number() & random.number() & 3;
                Transition {
                    from: random.below(states as usize) as u32,
                    to: random.below(states as usize) as u32,
                    cube: Cube { positive, negative: random.number() & random.number() & 3 & !positive },
                    acceptance: random.number() & mask(acceptance_sets as usize),
                }
            })
            .collect();
        let mut automaton =
            Automaton { atoms: vec![Atom(0), Atom(1)], states, initial: vec![0], acceptance_sets, transitions };
        automaton.normalise();
        automaton
    }

    #[test]
    fn one_acceptance_set_accepts_the_same_words() {
        let mut random = Random::new(21);
        for _ in 0..500 {
            let automaton = random_automaton(&mut random);
            let single = automaton.degeneralised();
            let states = automaton.state_based();
            assert_eq!((single.acceptance_sets, states.acceptance_sets), (1, 1));
            assert!(states.accepting_states().is_some());
            for _ in 0..10 {
                let lasso = random_lasso(&mut random, 2);
                let accepted = automaton.accepts(&lasso);
                assert_eq!(single.accepts(&lasso), accepted, "{automaton:?} {lasso:?}");
                assert_eq!(states.accepts(&lasso), accepted, "{automaton:?} {lasso:?}");
            }
        }
    }

    #[test]
    fn intersections_and_words() {
        let mut random = Random::new(22);
        let (mut words, mut both) = (0, 0);
        for _ in 0..500 {
            let (a, b) = (random_automaton(&mut random), random_automaton(&mut random));
            let product = a.intersection(&b);
            match product.accepted_word() {
                Some(word) => {
                    words += 1;
                    assert!(!product.is_empty());
                    assert!(a.accepts(&word) && b.accepts(&word));
                }
                None => assert!(product.is_empty()),
            }
            for _ in 0..5 {
                let lasso = random_lasso(&mut random, 2);
                let expected = a.accepts(&lasso) && b.accepts(&lasso);
                both += usize::from(expected);
                assert_eq!(product.accepts(&lasso), expected);
            }
        }
        assert!(words > 50 && both > 50, "{words} {both}");
    }
}
