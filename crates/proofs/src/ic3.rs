//! IC3, also called property-directed reachability: proofs by clauses that exclude what cannot be reached, learned where
//! a state that violates something has a predecessor.
//!
//! There is one solver with two frames, the state and the next one. The clauses of level `i` hold in all states that are
//! at most `i` steps from the beginning, where nothing is started; so they hold there by convention. Each clause counts
//! only if the literal of its level is assumed.
//!
//! With a group of symmetries, the images of a learned clause are learned, too. That is sound: if a clause holds in all
//! states within `i` steps, so do its images, because the states within `i` steps are closed under the group. A
//! representative predicate has no place here: the states that it leaves are not closed under steps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use rustsat::types::Lit;

use crate::atoms::{Atom, Atoms, Clause, orbit};
use crate::clauses::{Clauses, Frame, Halted, Limits};
use crate::formula::Bit;
use crate::runs::Found;
use crate::system::System;
use crate::watch::Watch;
use quotient_search::StopReason;

/// The largest number of images of a clause that are learned.
const MOST_IMAGES: usize = 5040;
/// After so many atoms of a clause that could not be left out, the others are not tried.
const MOST_FAILURES: usize = 24;
/// After so many clauses that were needed once, the solver is made anew.
const MOST_TEMPORARY: usize = 2000;

/// How the proof ends.
pub(crate) enum Outcome {
    /// Nothing wrong can be reached: these clauses show it.
    Proved(Vec<Clause>),
    /// A run to something wrong.
    Found(Found),
}

/// What was learned.
#[derive(Clone, Debug)]
struct Learned {
    clause: Clause,
    /// A bit for each atom, with collisions: a subset has a subset of the bits.
    signature: u64,
    /// Clauses with the same number are images of each other.
    orbit: u32,
}

/// States that lead to something wrong, and are to be excluded at a level.
struct Obligation {
    /// A clause that is false in exactly these states.
    clause: Clause,
    /// The inputs of the step to the next obligation, or of what is wrong.
    inputs: Vec<(Bit, bool)>,
    next: Option<usize>,
}

/// The result of a question about the states before others.
enum Before {
    /// There are none; this part of the clause shows it.
    Nothing(Clause),
    /// The beginning, with these inputs.
    Beginning(Vec<(Bit, bool)>),
    /// A state: the clause that is false only there, and the inputs.
    State(Clause, Vec<(Bit, bool)>),
}

/// The state of the proof.
pub(crate) struct Prover<'a, 'w> {
    system: &'a System,
    atoms: &'a Atoms,
    permutations: &'a [Vec<Atom>],
    limits: &'a Limits,
    watch: &'a mut Watch<'w>,
    solver: Query<'a>,
    /// The clauses of each level that are not known to hold at the next.
    levels: Vec<Vec<Learned>>,
    orbits: u32,
    /// Whether the clauses of all levels are closed under the permutations.
    is_closed: bool,
}

/// The solver with its two frames.
struct Query<'a> {
    clauses: Clauses<'a>,
    now: Frame,
    then: Frame,
    started: Lit,
    bad: Lit,
    /// Implies that the chosen instance takes a step to a state that exists.
    taken: Lit,
    step: Lit,
    admitted: Lit,
    levels: Vec<Lit>,
    temporary: usize,
}

impl<'a> Query<'a> {
    fn new(system: &'a System, atoms: &Atoms, limits: &Limits) -> Self {
        let mut clauses = Clauses::new(&system.formula, limits);
        let (mut now, mut then) = (clauses.frame(), clauses.frame());
        let started = clauses.literal(&mut now, system.started);
        for (bits, next) in system.bits.iter().zip(&system.next) {
            for (&bit, &next) in bits.iter().zip(next) {
                let literal = clauses.literal(&mut now, next);
                then.set(bit, literal);
            }
        }
        then.set(system.started, clauses.truth());
        let bad = clauses.literal(&mut now, system.bad);
        let step = clauses.literal(&mut now, system.step);
        let admitted = clauses.literal(&mut then, system.admitted);
        let taken = clauses.variable();
        clauses.add(&[!taken, step]);
        clauses.add(&[!taken, admitted]);
        let exists = clauses.literal(&mut now, system.admitted);
        clauses.add(&[!started, exists]);
        for choice in atoms.choices() {
            let one = choice.map(|atom| clauses.literal(&mut now, atoms.function(atom)));
            let one: Vec<Lit> = one.chain([!started]).collect();
            clauses.add(&one);
        }
        for atom in 0..atoms.len() as Atom {
            clauses.literal(&mut now, atoms.function(atom));
        }
        Self { clauses, now, then, started, bad, taken, step, admitted, levels: Vec::new(), temporary: 0 }
    }

    fn now(&mut self, atoms: &Atoms, atom: Atom) -> Lit {
        self.clauses.literal(&mut self.now, atoms.function(atom))
    }

    fn then(&mut self, atoms: &Atoms, atom: Atom) -> Lit {
        self.clauses.literal(&mut self.then, atoms.function(atom))
    }

    /// Makes a clause count at a level.
    fn learn(&mut self, atoms: &Atoms, clause: &Clause, level: usize) {
        while self.levels.len() <= level {
            let literal = self.clauses.variable();
            self.levels.push(literal);
        }
        let mut literals = vec![!self.levels[level], !self.started];
        for &atom in clause {
            literals.push(self.now(atoms, atom));
        }
        self.clauses.add(&literals);
    }

    /// A literal that implies a clause once.
    fn once(&mut self, clause: impl IntoIterator<Item = Lit>) -> Lit {
        let literal = self.clauses.variable();
        let clause: Vec<Lit> = std::iter::once(!literal).chain(clause).collect();
        self.clauses.add(&clause);
        self.temporary += 1;
        literal
    }

    /// The literals to assume for a level.
    fn within(&self, level: usize) -> Vec<Lit> {
        match level {
            0 => vec![!self.started],
            _ => self.levels.iter().skip(level).copied().collect(),
        }
    }

    /// The clause that is false only in the state of the solution, and the values of the inputs.
    fn state(&mut self, system: &System, atoms: &Atoms) -> (Clause, Vec<(Bit, bool)>) {
        let mut clause = Clause::new();
        for atom in 0..atoms.len() as Atom {
            let literal = self.now(atoms, atom);
            if !self.clauses.value(literal) {
                clause.push(atom);
            }
        }
        let known = system.inputs.iter().filter_map(|&bit| Some((bit, self.now.known(bit)?)));
        let inputs = known.map(|(bit, literal)| (bit, self.clauses.value(literal))).collect();
        (clause, inputs)
    }
}

impl<'a, 'w> Prover<'a, 'w> {
    /// Begins a proof; the permutations are those of symmetries.
    pub(crate) fn new(
        system: &'a System,
        atoms: &'a Atoms,
        permutations: &'a [Vec<Atom>],
        limits: &'a Limits,
        watch: &'a mut Watch<'w>,
    ) -> Self {
        let solver = Query::new(system, atoms, limits);
        let levels = vec![Vec::new(), Vec::new()];
        Self { system, atoms, permutations, limits, watch, solver, levels, orbits: 0, is_closed: true }
    }

    /// Proves that nothing is wrong, or finds a run.
    ///
    /// # Errors
    /// If the work was stopped.
    pub(crate) fn run(&mut self, most_levels: Option<u64>) -> Result<Outcome, Halted> {
        let (started, bad) = (self.solver.started, self.solver.bad);
        if self.ask(&[!started, bad])? {
            let (_, inputs) = self.solver.state(self.system, self.atoms);
            return Ok(Outcome::Found(Found { steps: Vec::new(), inputs }));
        }
        loop {
            let level = self.levels.len() - 1;
            if let Some(most) = most_levels.filter(|&most| level as u64 > most.saturating_add(1)) {
                return Err(Halted::Stopped(StopReason::DepthLimit(most)));
            }
            while let Some(obligation) = self.wrong(level)? {
                if let Some(found) = self.exclude(obligation, level)? {
                    return Ok(Outcome::Found(found));
                }
            }
            self.levels.push(Vec::new());
            if let Some(clauses) = self.propagate()? {
                return Ok(Outcome::Proved(clauses));
            }
        }
    }

    /// Asks the solver, and the watch whether to go on.
    fn ask(&mut self, assumed: &[Lit]) -> Result<bool, Halted> {
        self.watch.tick(self.levels.len() as u64 - 1, self.solver.clauses.bytes())?;
        self.solver.clauses.is_satisfiable(assumed)
    }

    /// States of a level in which something is wrong.
    fn wrong(&mut self, level: usize) -> Result<Option<Obligation>, Halted> {
        self.renew();
        let bad = self.solver.bad;
        let mut assumed = self.solver.within(level);
        assumed.extend([self.solver.started, bad]);
        if !self.ask(&assumed)? {
            return Ok(None);
        }
        let (state, inputs) = self.solver.state(self.system, self.atoms);
        let clause = self.lifted(state, &inputs, !bad)?;
        Ok(Some(Obligation { clause, inputs, next: None }))
    }

    /// The states that do with some inputs what a state does: the part of its clause that contradicts the failure.
    fn lifted(&mut self, state: Clause, inputs: &[(Bit, bool)], fails: Lit) -> Result<Clause, Halted> {
        let mut assumed = vec![fails, self.solver.started];
        for &(bit, value) in inputs {
            let literal = self.solver.now.known(bit).expect("inputs have literals");
            assumed.push(if value { literal } else { !literal });
        }
        let first = assumed.len();
        for &atom in &state {
            let literal = self.solver.now(self.atoms, atom);
            assumed.push(!literal);
        }
        if self.ask(&assumed)? {
            return Ok(state);
        }
        let core = self.solver.clauses.core(&assumed[first..]);
        Ok(self.part(&state, &assumed[first..], &core))
    }

    /// The atoms of a clause whose literals are in a core.
    fn part(&self, clause: &Clause, literals: &[Lit], core: &[Lit]) -> Clause {
        clause.iter().zip(literals).filter(|(_, literal)| core.contains(literal)).map(|(&atom, _)| atom).collect()
    }

    /// Whether a step leads from a state within a level, in which a clause holds, to one in which it does not.
    fn before(&mut self, clause: &Clause, level: usize) -> Result<Before, Halted> {
        self.renew();
        let mut assumed = self.solver.within(level);
        assumed.push(self.solver.taken);
        let mut once = None;
        if level > 0 {
            let mut literals = vec![!self.solver.started];
            for &atom in clause {
                literals.push(self.solver.now(self.atoms, atom));
            }
            let literal = self.solver.once(literals);
            assumed.push(literal);
            once = Some(literal);
        }
        let first = assumed.len();
        for &atom in clause {
            let literal = self.solver.then(self.atoms, atom);
            assumed.push(!literal);
        }
        let is_satisfiable = self.ask(&assumed)?;
        let result = if is_satisfiable {
            let is_started = self.solver.clauses.value(self.solver.started);
            let (state, inputs) = self.solver.state(self.system, self.atoms);
            if is_started { Before::State(state, inputs) } else { Before::Beginning(inputs) }
        } else {
            let core = self.solver.clauses.core(&assumed[first..]);
            Before::Nothing(self.part(clause, &assumed[first..], &core))
        };
        if let Some(once) = once {
            self.solver.clauses.add(&[!once]);
        }
        Ok(result)
    }

    /// Excludes states at a level, or finds a run to them.
    fn exclude(&mut self, root: Obligation, level: usize) -> Result<Option<Found>, Halted> {
        let mut obligations = vec![root];
        let mut queue = BinaryHeap::from([Reverse((level, 0))]);
        while let Some(Reverse((at, number))) = queue.pop() {
            let clause = obligations[number].clause.clone();
            if let Some(known) = self.excluded_up_to(&clause, at) {
                if known < level {
                    queue.push(Reverse((known + 1, number)));
                }
                continue;
            }
            match self.before(&clause, at - 1)? {
                Before::Beginning(inputs) => return Ok(Some(self.run_from(&obligations, number, inputs))),
                Before::State(state, inputs) => {
                    let mut leaves = vec![!self.solver.step, !self.solver.admitted];
                    for &atom in &clause {
                        leaves.push(self.solver.then(self.atoms, atom));
                    }
                    let fails = self.solver.once(leaves);
                    let lifted = self.lifted(state, &inputs, fails)?;
                    self.solver.clauses.add(&[!fails]);
                    obligations.push(Obligation { clause: lifted, inputs, next: Some(number) });
                    queue.push(Reverse((at, number)));
                    queue.push(Reverse((at - 1, obligations.len() - 1)));
                }
                Before::Nothing(part) => {
                    let (clause, reached) = self.generalised(part, at, level)?;
                    self.learn(&clause, reached);
                    if reached < level {
                        queue.push(Reverse((reached + 1, number)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// A part of a clause that still holds at a level, and the highest level at which it does.
    fn generalised(&mut self, mut clause: Clause, at: usize, level: usize) -> Result<(Clause, usize), Halted> {
        let mut failures = 0;
        for atom in clause.clone() {
            if failures > MOST_FAILURES {
                break;
            }
            let Ok(position) = clause.binary_search(&atom) else { continue };
            let mut candidate = clause.clone();
            candidate.remove(position);
            match self.before(&candidate, at - 1)? {
                Before::Nothing(part) => clause = part,
                Before::State(..) | Before::Beginning(_) => failures += 1,
            }
        }
        let mut reached = at;
        while reached < level {
            match self.before(&clause, reached)? {
                Before::Nothing(part) => clause = part,
                Before::State(..) | Before::Beginning(_) => break,
            }
            reached += 1;
        }
        Ok((clause, reached))
    }

    /// The highest level at which a known clause excludes what a clause excludes, if that is at least a level.
    fn excluded_up_to(&self, clause: &Clause, at: usize) -> Option<usize> {
        let signature = signature(clause);
        (at..self.levels.len()).rev().find(|&level| {
            self.levels[level].iter().any(|known| known.signature & !signature == 0 && is_subset(&known.clause, clause))
        })
    }

    /// Learns a clause and its images at a level.
    fn learn(&mut self, clause: &Clause, level: usize) {
        let (images, is_whole) = orbit(clause, self.permutations, MOST_IMAGES);
        self.is_closed &= is_whole;
        self.orbits += 1;
        for image in images {
            if self.excluded_up_to(&image, level).is_some() {
                continue;
            }
            let signature = signature(&image);
            for known in &mut self.levels[..=level] {
                known.retain(|known| signature & !known.signature != 0 || !is_subset(&image, &known.clause));
            }
            self.solver.learn(self.atoms, &image, level);
            self.watch.learned += 1;
            self.levels[level].push(Learned { clause: image, signature, orbit: self.orbits });
        }
    }

    /// Moves clauses to the next level where they hold there. Returns the clauses of the proof, if a level has the same
    /// clauses as the next.
    fn propagate(&mut self) -> Result<Option<Vec<Clause>>, Halted> {
        for level in 1..self.levels.len() - 1 {
            let mut decided: FxHashMap<u32, bool> = FxHashMap::default();
            let (mut kept, mut moved) = (Vec::new(), Vec::new());
            for learned in self.levels[level].clone() {
                let known = decided.get(&learned.orbit).copied().filter(|_| self.is_closed);
                let holds = match known {
                    Some(holds) => holds,
                    None => matches!(self.before(&learned.clause, level)?, Before::Nothing(_)),
                };
                decided.insert(learned.orbit, holds);
                if holds { moved.push(learned) } else { kept.push(learned) }
            }
            self.levels[level] = kept;
            for learned in moved {
                self.solver.learn(self.atoms, &learned.clause, level + 1);
                self.levels[level + 1].push(learned);
            }
            if self.levels[level].is_empty() {
                let rest = self.levels[level + 1..].iter().flatten();
                return Ok(Some(rest.map(|learned| learned.clause.clone()).collect()));
            }
        }
        Ok(None)
    }

    /// Makes a new solver, if the present one is full of clauses that were needed once.
    fn renew(&mut self) {
        if self.solver.temporary < MOST_TEMPORARY {
            return;
        }
        self.solver = Query::new(self.system, self.atoms, self.limits);
        for (level, learned) in self.levels.iter().enumerate() {
            for learned in learned {
                self.solver.learn(self.atoms, &learned.clause, level);
            }
        }
    }

    /// The run from the beginning through obligations.
    fn run_from(&self, obligations: &[Obligation], first: usize, inputs: Vec<(Bit, bool)>) -> Found {
        let mut steps = vec![self.system.taken(&inputs)];
        let mut number = first;
        while let Some(next) = obligations[number].next {
            steps.push(self.system.taken(&obligations[number].inputs));
            number = next;
        }
        let steps = steps.into_iter().map(|taken| taken.expect("a step is chosen")).collect();
        Found { steps, inputs: obligations[number].inputs.clone() }
    }
}

/// A bit for each atom, with collisions.
fn signature(clause: &Clause) -> u64 {
    clause.iter().fold(0, |signature, atom| signature | 1 << (atom % 64))
}

/// Whether each atom of a clause is one of another.
fn is_subset(small: &Clause, large: &Clause) -> bool {
    let mut large = large.iter();
    small.iter().all(|atom| large.any(|other| other == atom))
}
