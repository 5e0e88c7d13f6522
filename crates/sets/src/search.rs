//! Reachability: all states, or representatives of their orbits, and the first set of them in which something is wrong.

use quotient_ir::{DeadlockMode, PropertyId, PropertyKind};

use crate::diagrams::{NODE_BYTES, Set};
use crate::machine::Machine;
use crate::symmetry::Symmetries;
use quotient_booleans::{Full, Logic};
use quotient_search::{Checks, Observer, Progress, SearchOptions, StopReason, Way};

/// The number of times that an instance is applied in a row.
const LOCAL_ROUNDS: usize = 64;

/// Why a search ends before all states are reached.
pub(crate) enum Halt {
    /// There is no room.
    Full,
    /// The observer says so, or a limit is reached.
    Stopped(StopReason),
    /// Something is wrong in these states, which are reached from the others by at most one step.
    Found(Set),
}

impl From<Full> for Halt {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// What represents a state in the set of those that are reached.
enum Representation<'s> {
    Itself,
    /// The state that symmetries sort it to.
    Sorted(&'s Symmetries),
    /// Those that a relation leads to.
    Related(Set),
}

/// A search and what it has reached.
pub(crate) struct Search<'s, 'm> {
    pub(crate) machine: &'s mut Machine<'m>,
    pub(crate) symmetries: Option<(&'s Symmetries, Way)>,
    pub(crate) options: &'s SearchOptions,
    pub(crate) checks: &'s Checks,
    pub(crate) observer: &'s mut dyn Observer,
    /// What is wrong wherever it is reached, apart from deadlocks.
    wrong: Set,
    /// States that are known to be no deadlocks.
    moving: Set,
    /// Of assumptions and what they drop.
    checks_assumptions: bool,
    /// The states reached, or representatives of them.
    pub(crate) reached: Set,
    /// What was new at each step from the starts, if the search goes step by step.
    pub(crate) rings: Option<Vec<Set>>,
    /// Cover properties and remarks that were reached.
    pub(crate) covered: Vec<PropertyId>,
    /// The number of images of sets.
    pub(crate) images: u64,
    /// States that are not expanded, since a constraint does not hold.
    pub(crate) is_constrained: bool,
}

impl<'s, 'm> Search<'s, 'm> {
    /// A search for everything that is checked.
    ///
    /// # Errors
    /// If there is no room for the sets of what is wrong.
    pub(crate) fn new(
        machine: &'s mut Machine<'m>,
        symmetries: Option<(&'s Symmetries, Way)>,
        options: &'s SearchOptions,
        checks: &'s Checks,
        observer: &'s mut dyn Observer,
    ) -> Result<Self, Full> {
        let mut search = Self::of_all(machine, symmetries, options, checks, observer);
        search.wrong = wrong(search.machine, checks)?;
        if options.deadlock != DeadlockMode::Off {
            search.moving = search.machine.moving(options)?;
        }
        Ok(search)
    }

    /// A search for all states, whatever is wrong in them.
    pub(crate) fn of_all(
        machine: &'s mut Machine<'m>,
        symmetries: Option<(&'s Symmetries, Way)>,
        options: &'s SearchOptions,
        checks: &'s Checks,
        observer: &'s mut dyn Observer,
    ) -> Self {
        let is_fault = |claim: &crate::machine::Claim| {
            claim.kind == PropertyKind::Assumption && !machine.diagrams.is_empty(&claim.fault)
        };
        let checks_assumptions = machine.claims.iter().any(is_fault);
        let is_constrained = machine.claims.iter().any(|claim| claim.kind == PropertyKind::Constraint);
        let empty = machine.diagrams.empty().clone();
        Self {
            machine,
            symmetries,
            options,
            checks,
            observer,
            wrong: empty.clone(),
            moving: empty.clone(),
            checks_assumptions,
            reached: empty,
            rings: None,
            covered: Vec::new(),
            images: 0,
            is_constrained,
        }
    }

    /// Reaches everything that can be reached.
    ///
    /// # Errors
    /// What ends it before.
    pub(crate) fn run(&mut self) -> Result<(), Halt> {
        for property in self.machine.start_covers() {
            if self.checks.covers.contains(&property) && !self.covered.contains(&property) {
                self.covered.push(property);
            }
        }
        let initial = self.machine.initial.clone();
        let initial = self.admitted(&initial)?;
        let representation = match self.symmetries {
            None => Representation::Itself,
            Some((symmetries, Way::OnTheFly)) => return self.on_the_fly(initial, symmetries, usize::MAX),
            Some((symmetries, Way::SomeRepresentatives { nodes })) => {
                return self.on_the_fly(initial, symmetries, nodes as usize);
            }
            Some((symmetries, Way::Dynamic)) => Representation::Sorted(symmetries),
            Some((symmetries, Way::OrbitRelation)) => {
                let relation = symmetries.orbit_relation(self.machine)?;
                let least = symmetries.least(self.machine, &relation)?;
                let least = self.machine.after(&least)?;
                Representation::Related(self.machine.diagrams.common(&relation, &least)?)
            }
            Some((symmetries, Way::MultipleRepresentatives)) => {
                Representation::Related(symmetries.multiple_representatives(self.machine)?)
            }
        };
        let initial = self.represented(&initial, &representation)?;
        match self.options.max_depth {
            Some(_) => self.step_by_step(initial, &representation),
            None => self.chaining(initial, &representation),
        }
    }

    /// What represents the states of a set.
    fn represented(&mut self, states: &Set, representation: &Representation<'_>) -> Result<Set, Full> {
        match representation {
            Representation::Itself => Ok(states.clone()),
            Representation::Sorted(symmetries) => symmetries.sorted(self.machine, states),
            Representation::Related(relation) => {
                let cube = self.machine.state_cube.clone();
                let after = self.machine.diagrams.product(states, relation, &cube)?;
                self.machine.before(&after)
            }
        }
    }

    /// Says how far it is, and ends if it is to end.
    pub(crate) fn pause(&mut self) -> Result<(), Halt> {
        let progress = Progress {
            depth: self.rings.as_ref().map_or(0, |rings| rings.len() as u64 - 1),
            memory_bytes: self.machine.diagrams.peak() as u64 * NODE_BYTES,
            ..Progress::default()
        };
        match self.observer.progress(&progress) {
            std::ops::ControlFlow::Continue(()) => Ok(()),
            std::ops::ControlFlow::Break(reason) => Err(Halt::Stopped(reason)),
        }
    }

    /// The states of a set that exist, if nothing is wrong in them.
    fn admitted(&mut self, states: &Set) -> Result<Set, Halt> {
        let mut states = states.clone();
        if self.checks_assumptions {
            for number in 0..self.machine.claims.len() {
                let claim = &self.machine.claims[number];
                if claim.kind != PropertyKind::Assumption {
                    continue;
                }
                let failing = self.machine.diagrams.common(&states, &claim.fault)?;
                if !self.machine.diagrams.is_empty(&failing) {
                    return Err(Halt::Found(failing));
                }
                states = self.machine.diagrams.common(&states, &self.machine.claims[number].holds)?;
            }
        } else {
            states = self.machine.assumed(&states)?;
        }
        self.judge(&states)?;
        Ok(states)
    }

    /// Looks for what is wrong in new states, and for what is to be reached.
    fn judge(&mut self, states: &Set) -> Result<(), Halt> {
        let wrong = self.machine.diagrams.common(states, &self.wrong)?;
        if !self.machine.diagrams.is_empty(&wrong) {
            return Err(Halt::Found(wrong));
        }
        if self.options.deadlock != DeadlockMode::Off {
            let stuck = self.machine.diagrams.without(states, &self.moving)?;
            let stuck = self.machine.deadlocks(self.options, &stuck)?;
            if !self.machine.diagrams.is_empty(&stuck) {
                return Err(Halt::Found(stuck));
            }
        }
        self.cover(states)?;
        Ok(())
    }

    /// Notes the covers and remarks that hold in some new state.
    fn cover(&mut self, states: &Set) -> Result<(), Full> {
        let stored = self.machine.diagrams.without(states, &self.machine.passing.clone())?;
        for number in 0..self.machine.claims.len() {
            let claim = &self.machine.claims[number];
            let property = claim.property;
            let is_asked = self.checks.covers.contains(&property) || self.checks.remarks.contains(&property);
            if is_asked && !self.covered.contains(&property) {
                let holds = claim.holds.clone();
                if self.machine.diagrams.meet(&stored, &holds)? {
                    self.covered.push(property);
                }
            }
        }
        let expanded = self.machine.diagrams.common(states, &self.machine.expanded.clone())?;
        for rule in 0..self.machine.rules.len() {
            for cover in 0..self.machine.rules[rule].covers.len() {
                let (property, set) = self.machine.rules[rule].covers[cover].clone();
                let is_new = self.checks.covers.contains(&property) && !self.covered.contains(&property);
                if is_new && self.machine.diagrams.meet(&expanded, &set)? {
                    self.covered.push(property);
                }
            }
        }
        Ok(())
    }

    /// Adds what represents some states to what is reached, and returns what is new.
    fn add(&mut self, states: &Set, representation: &Representation<'_>) -> Result<Set, Halt> {
        let new = self.machine.diagrams.without(states, &self.reached)?;
        if self.machine.diagrams.is_empty(&new) {
            return Ok(new);
        }
        // What does not exist, or where something is wrong, need not be a representative.
        let mut new = self.admitted(&new)?;
        if !matches!(representation, Representation::Itself) {
            let representatives = self.represented(&new, representation)?;
            new = self.machine.diagrams.without(&representatives, &self.reached)?;
        }
        self.reached = self.machine.diagrams.union(&self.reached, &new)?;
        Ok(new)
    }

    /// Applies one instance after the other, each as often as it leads to something new, to all that was reached so far.
    fn chaining(&mut self, initial: Set, representation: &Representation<'_>) -> Result<(), Halt> {
        self.reached = initial;
        let empty = self.machine.diagrams.empty().clone();
        // What each instance was applied to.
        let mut done: Vec<Set> = vec![empty; self.machine.rules.len()];
        loop {
            let before = self.reached.clone();
            for (number, done) in done.iter_mut().enumerate() {
                for _ in 0..LOCAL_ROUNDS {
                    if *done == self.reached {
                        break;
                    }
                    self.pause()?;
                    let new = self.machine.diagrams.without(&self.reached, done)?;
                    done.clone_from(&self.reached);
                    let new = self.machine.diagrams.common(&new, &self.machine.expanded.clone())?;
                    // The larger set may have the smaller diagram.
                    let all = self.machine.diagrams.common(&self.reached, &self.machine.expanded.clone())?;
                    let is_smaller = self.machine.diagrams.size(&all) < self.machine.diagrams.size(&new);
                    let from = if is_smaller { all } else { new };
                    self.images += 1;
                    let image = self.machine.image(number, &from)?;
                    let found = self.add(&image, representation)?;
                    if self.machine.diagrams.is_empty(&found) {
                        break;
                    }
                }
            }
            if self.reached == before {
                return Ok(());
            }
        }
    }

    /// The states in a goal, and those inside from which one of them can be reached through states inside.
    pub(crate) fn reach_back(&mut self, goal: &Set, inside: &Set) -> Result<Set, Halt> {
        self.closure(goal, inside, Machine::preimage)
    }

    /// The least set with the given states that contains what instances lead to from it, as far as it is inside.
    pub(crate) fn closure(
        &mut self,
        from: &Set,
        inside: &Set,
        step: impl Fn(&mut Machine<'m>, usize, &Set) -> Result<Set, Full>,
    ) -> Result<Set, Halt> {
        let mut all = from.clone();
        if self.machine.diagrams.is_empty(inside) {
            return Ok(all);
        }
        loop {
            let before = all.clone();
            for number in 0..self.machine.rules.len() {
                for _ in 0..LOCAL_ROUNDS {
                    self.pause()?;
                    let found = step(self.machine, number, &all)?;
                    let found = self.machine.diagrams.common(&found, inside)?;
                    let more = self.machine.diagrams.union(&all, &found)?;
                    if more == all {
                        break;
                    }
                    all = more;
                }
            }
            if all == before {
                return Ok(all);
            }
        }
    }

    /// Whether another step may be taken from a ring; a break ends as inconclusive.
    fn go_on(&mut self, ring: &Set) -> Result<bool, Halt> {
        self.pause()?;
        if self.machine.diagrams.is_empty(ring) {
            return Ok(false);
        }
        let depth = self.rings.as_ref().map_or(0, |rings| rings.len() as u64 - 1);
        match self.options.max_depth {
            Some(limit) if depth >= limit => Err(Halt::Stopped(StopReason::DepthLimit(limit))),
            _ => Ok(true),
        }
    }

    /// All states that some step leads to.
    fn next(&mut self, ring: &Set) -> Result<Set, Halt> {
        self.images += self.machine.rules.len() as u64;
        Ok(self.machine.any_image(ring)?)
    }

    fn step_by_step(&mut self, initial: Set, representation: &Representation<'_>) -> Result<(), Halt> {
        self.reached = initial.clone();
        self.rings = Some(vec![initial.clone()]);
        let mut ring = initial;
        while self.go_on(&ring)? {
            let image = self.next(&ring)?;
            ring = self.add(&image, representation)?;
            self.note(&ring);
        }
        Ok(())
    }

    fn note(&mut self, ring: &Set) {
        if !self.machine.diagrams.is_empty(ring) {
            self.rings.get_or_insert_default().push(ring.clone());
        }
    }

    /// Whatever is found first in an orbit represents it. All of its orbit counts as known. Of new states with more nodes
    /// than given, a part is followed; the search is finished if all others become known too.
    fn on_the_fly(&mut self, initial: Set, symmetries: &Symmetries, nodes: usize) -> Result<(), Halt> {
        let mut left = self.machine.diagrams.empty().clone();
        let mut ring = self.machine.diagrams.part(&initial, nodes)?;
        let mut dropped = self.machine.diagrams.without(&initial, &ring)?;
        self.rings = Some(vec![ring.clone()]);
        self.reached = ring.clone();
        let mut known = symmetries.orbits(self.machine, &ring)?;
        loop {
            left = self.machine.diagrams.union(&left, &dropped)?;
            if !self.go_on(&ring)? {
                break;
            }
            let image = self.next(&ring)?;
            let new = self.machine.diagrams.without(&image, &known)?;
            let new = self.admitted(&new)?;
            ring = self.machine.diagrams.part(&new, nodes)?;
            dropped = self.machine.diagrams.without(&new, &ring)?;
            self.reached = self.machine.diagrams.union(&self.reached, &ring)?;
            let orbits = symmetries.orbits(self.machine, &ring)?;
            known = self.machine.diagrams.union(&known, &orbits)?;
            self.note(&ring);
        }
        let unknown = self.machine.diagrams.without(&left, &known)?;
        match self.machine.diagrams.is_empty(&unknown) {
            true => Ok(()),
            false => Err(Halt::Stopped(StopReason::Undecided("states were left out, so only violations are found"))),
        }
    }
}

/// Where something is wrong that ends a search, apart from deadlocks.
fn wrong(machine: &mut Machine<'_>, checks: &Checks) -> Result<Set, Full> {
    let mut all = Vec::new();
    for number in 0..machine.claims.len() {
        let claim = &machine.claims[number];
        let is_observed = checks.covers.contains(&claim.property) || checks.liveness.contains(&claim.property);
        match claim.kind {
            PropertyKind::Invariant if checks.invariants.contains(&claim.property) => {
                let violated = machine.diagrams.not(&claim.holds)?;
                all.push(violated);
            }
            PropertyKind::Constraint => all.push(claim.fault.clone()),
            _ if is_observed => all.push(claim.fault.clone()),
            _ => {}
        }
    }
    let claimed = machine.diagrams.any(all)?;
    let passing = machine.passing.clone();
    let mut wrong = vec![machine.diagrams.without(&claimed, &passing)?];
    for number in 0..machine.rules.len() {
        let fault = machine.fault(number)?;
        let expanded = machine.expanded.clone();
        wrong.push(machine.diagrams.common(&fault, &expanded)?);
    }
    machine.diagrams.any(wrong)
}
