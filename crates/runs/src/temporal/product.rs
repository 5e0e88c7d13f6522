//! The product of a system with an automaton, on representatives.
//!
//! A node is a state and a place: a state of the automaton, for a chosen instance of the formula or before that choice.
//! Each place has its level: the symmetries that preserve every atom that the automaton may still ask for. Nodes with
//! the same place whose states are in one orbit of that group are one node, so what the automaton no longer needs no
//! longer tells states apart, and there are never more nodes than with the symmetries that preserve the whole formula.
//!
//! Why this is exact: a symmetry of the level of a place maps the infinite runs of the product from there to such runs,
//! and the atoms needed later are among those needed now.
//!
//! A formula claimed for each instance is violated if it is for some instance. As long as the automaton takes
//! transitions that ask for no indexed atom, the instance need not be known: such places have the symmetries that
//! only permute the instances. A transition that asks for one chooses: for each instance, a symmetry that maps it to the
//! chosen one is applied, and the transition is taken from there.

use std::ops::ControlFlow;

use quotient_groups::SparsePermutation;
use quotient_ir::{Fault, FaultKind, Layout, PropertyId, SlotId, Span};
use quotient_representatives::Workspace;
use quotient_temporal::Automaton;
use quotient_temporal::automaton::Components;

use quotient_search::words::copy;
use quotient_search::{Event, FieldTest, Instance, SearchSpace, Sink, StopReason, Successors, Tag};
use quotient_systems::{Guard, PackedMap, Reduction};

/// A place of the product: a state of the automaton; those before a choice come after the others.
pub(crate) type Place = u32;

/// How an atom is evaluated.
#[derive(Clone, Copy, Debug)]
enum Atom {
    Field(FieldTest),
    Property(PropertyId),
}

/// Symmetries that preserve everything the automaton may still ask for.
#[derive(Debug)]
pub(crate) struct Level<'a> {
    pub(crate) reduction: Option<&'a Reduction>,
    guard: Option<Guard>,
}

impl<'a> Level<'a> {
    pub(crate) fn new(layout: &Layout, reduction: Option<&'a Reduction>) -> Self {
        let guard = reduction.map(|reduction| Guard::new(layout, reduction.group.literals()));
        Self { reduction, guard }
    }

    /// Replaces records, each followed by another word, by representatives.
    pub(crate) fn represent(
        &self,
        workspace: &mut Workspace,
        before: Option<&[u64]>,
        records: &mut [u64],
        stride: usize,
    ) -> Result<(), Trouble> {
        let Self { reduction: Some(reduction), guard } = self else { return Ok(()) };
        if let Some(guard) = guard
            && let Some(slot) =
                records.chunks_exact(stride).find_map(|record| match guard.passes(before, &record[..stride - 1]) {
                    true => None,
                    false => guard.caught(),
                })
        {
            return Err(Trouble::Impossible(slot));
        }
        reduction.canonicalizer.canonicalize_records(workspace, before, records, stride);
        Ok(())
    }
}

/// The instances that the chosen one stands for.
#[derive(Debug)]
pub(crate) struct Choice {
    /// The level before the choice.
    pub(crate) level: usize,
    /// The atoms that depend on the instance, as bits of the automaton's letters.
    pub(crate) indexed: u64,
    /// For each instance, a symmetry that maps it to the chosen one, also as a map of states.
    pub(crate) turns: Vec<(SparsePermutation, PackedMap)>,
}

/// What a transition of the automaton does, if its cube is satisfied.
#[derive(Clone, Copy, Debug)]
struct Move {
    to: Place,
    /// The acceptance sets, by number of their combination.
    marks: u32,
    level: u32,
}

/// How nodes are packed: the place follows the state, in the free bits of its last word if there are enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeCode {
    state_words: usize,
    pub(crate) words: usize,
    /// The word of the place, its shift, and the bits of the state in that word.
    word: usize,
    shift: u32,
    state_bits: u64,
}

impl NodeCode {
    fn new(layout: &Layout, places: u32) -> Self {
        let state_words = layout.words();
        let needed = 32 - places.saturating_sub(1).leading_zeros();
        let last = layout.slots.iter().filter(|slot| slot.bit as usize / 64 == state_words - 1);
        let used = last.map(|slot| slot.bit % 64 + slot.width).max().unwrap_or(0);
        if used + needed <= 64 && used < 64 {
            let state_bits = (1u64 << used) - 1;
            Self { state_words, words: state_words, word: state_words - 1, shift: used, state_bits }
        } else {
            Self { state_words, words: state_words + 1, word: state_words, shift: 0, state_bits: 0 }
        }
    }
    /// Whether the place has words of its own.
    fn is_extra(&self) -> bool {
        self.words > self.state_words
    }
    /// The place of a node.
    #[inline]
    pub(crate) fn place(&self, node: &[u64]) -> Place {
        (node[self.word] >> self.shift) as Place
    }
    /// The state of a node.
    #[inline]
    pub(crate) fn state(&self, node: &[u64], state: &mut Vec<u64>) {
        state.clear();
        state.extend_from_slice(&node[..self.state_words]);
        if !self.is_extra() {
            state[self.word] &= self.state_bits;
        }
    }
    /// Writes a node.
    #[inline]
    fn write(&self, state: &[u64], place: Place, node: &mut [u64]) {
        copy(&mut node[..self.state_words], &state[..self.state_words]);
        match self.is_extra() {
            true => node[self.word] = u64::from(place),
            false => node[self.word] |= u64::from(place) << self.shift,
        }
    }
}

/// The product of a system with an automaton.
pub(crate) struct Product<'a, S> {
    pub(crate) system: &'a S,
    pub(crate) automaton: &'a Automaton,
    pub(crate) code: NodeCode,
    atoms: Vec<Atom>,
    assumptions: Vec<PropertyId>,
    pub(crate) levels: Vec<Level<'a>>,
    /// The level of each state of the automaton, for a chosen instance.
    level_of: Vec<usize>,
    choice: Option<Choice>,
    /// The first transition of each state of the automaton, and the end.
    offsets: Vec<usize>,
    /// The atoms that the transitions of each state ask for.
    asked: Vec<u64>,
    /// Whether each state of the automaton is on an accepting cycle of it, if transitions are taken freely.
    is_live: Vec<bool>,
    /// The combinations of acceptance sets on transitions.
    pub(crate) marks: Vec<u64>,
    marks_of: Vec<u32>,
}

/// The working memory of one run.
pub(crate) struct ProductScratch<S: SearchSpace> {
    system: S::Scratch,
    evaluating: S::Scratch,
    workspaces: Vec<Workspace>,
    sink: Collector,
    state: Vec<u64>,
    image: Vec<u64>,
    copy: Vec<u64>,
    moves: Vec<Move>,
    /// The number of rule instances fired.
    pub(crate) fired: u64,
}

/// Why a product cannot be searched further.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The search ends as inconclusive.
    Stop(StopReason),
    /// A slot holds a value that detection considered impossible.
    Impossible(SlotId),
}

/// A step of the model between nodes, with the data that replaying and fairness need.
pub(crate) struct ProductStep<'s> {
    /// The state in which the instance fires.
    pub(crate) state: &'s [u64],
    /// The instance fired; none if the run stays in its state.
    pub(crate) instance: Option<Instance<'s>>,
    /// Whether the choice was made in this step, and the symmetry that was applied before the instance fired.
    pub(crate) before: Option<&'s Turn>,
    /// The level, and the symmetry that leads from the state after the instance to the representative.
    pub(crate) level: usize,
    pub(crate) after: &'s SparsePermutation,
    /// The words of the node after it, and the acceptance sets.
    pub(crate) node: &'s [u64],
    pub(crate) marks: u32,
}

/// A symmetry applied before a step: of the level before the choice, then of the level after it.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) first_level: usize,
    pub(crate) first: SparsePermutation,
    pub(crate) second_level: usize,
    pub(crate) second: SparsePermutation,
}

impl<'a, S: SearchSpace> Product<'a, S> {
    /// The product with an automaton whose atoms are the given properties of the model, each with one instance.
    pub(crate) fn new(
        (system, layout): (&'a S, &Layout),
        automaton: &'a Automaton,
        atoms: &[PropertyId],
        assumptions: Vec<PropertyId>,
        (levels, level_of): (Vec<Level<'a>>, Vec<usize>),
        choice: Option<Choice>,
    ) -> Self {
        let atom = |&atom: &quotient_temporal::Atom| {
            let property = atoms[atom.0 as usize];
            system.facts().field_test(property).map_or(Atom::Property(property), Atom::Field)
        };
        let mut offsets = vec![0; automaton.states as usize + 1];
        let mut asked = vec![0; automaton.states as usize];
        let (mut marks, mut marks_of) = (Vec::new(), Vec::new());
        for transition in &automaton.transitions {
            offsets[transition.from as usize + 1] += 1;
            asked[transition.from as usize] |= transition.cube.positive | transition.cube.negative;
            let known = marks.iter().position(|&known| known == transition.acceptance).unwrap_or_else(|| {
                marks.push(transition.acceptance);
                marks.len() - 1
            });
            marks_of.push(known as u32);
        }
        for state in 0..automaton.states as usize {
            offsets[state + 1] += offsets[state];
        }
        let places = if choice.is_some() { 2 * automaton.states } else { automaton.states };
        Self {
            system,
            automaton,
            code: NodeCode::new(layout, places),
            atoms: automaton.atoms.iter().map(atom).collect(),
            assumptions,
            levels,
            level_of,
            choice,
            offsets,
            asked,
            is_live: live_states(automaton),
            marks,
            marks_of,
        }
    }

    pub(crate) fn scratch(&self) -> ProductScratch<S> {
        ProductScratch {
            system: self.system.scratch(),
            evaluating: self.system.scratch(),
            workspaces: self.levels.iter().map(|_| Workspace::default()).collect(),
            sink: Collector::new(self.system.words()),
            state: Vec::new(),
            image: Vec::new(),
            copy: Vec::new(),
            moves: Vec::new(),
            fired: 0,
        }
    }

    /// Whether an accepting cycle can go through a node.
    #[inline]
    pub(crate) fn is_live(&self, node: &[u64]) -> bool {
        self.is_live[(self.code.place(node) % self.automaton.states) as usize]
    }

    fn level(&self, place: Place) -> usize {
        match &self.choice {
            Some(choice) if place >= self.automaton.states => choice.level,
            _ => self.level_of[place as usize],
        }
    }

    /// The places in which runs start.
    fn first_places(&self) -> impl Iterator<Item = Place> + '_ {
        let shift = if self.choice.is_some() { self.automaton.states } else { 0 };
        self.automaton.initial.iter().map(move |&state| state + shift)
    }

    /// The true atoms among some, as bits.
    #[inline]
    fn letter(&self, scratch: &mut S::Scratch, state: &[u64], asked: u64) -> Result<u64, Trouble> {
        let (mut letter, mut rest) = (0, asked);
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let holds = match self.atoms[bit as usize] {
                Atom::Field(test) => test.holds(state),
                Atom::Property(property) => {
                    let mut value = Ok(false);
                    self.system.evaluate(scratch, property, state, &mut |_, result| {
                        value = result;
                        ControlFlow::Break(())
                    });
                    value.map_err(|fault| Trouble::Stop(without_value(fault)))?
                }
            };
            letter |= u64::from(holds) << bit;
        }
        Ok(letter)
    }

    /// The true atoms among the first ones in a node, as bits.
    pub(crate) fn letter_of(
        &self,
        scratch: &mut ProductScratch<S>,
        node: &[u64],
        atoms: usize,
    ) -> Result<u64, Trouble> {
        let mut state = std::mem::take(&mut scratch.state);
        self.code.state(node, &mut state);
        let asked = if atoms == 64 { u64::MAX } else { (1 << atoms) - 1 };
        let letter = self.letter(&mut scratch.evaluating, &state, asked);
        scratch.state = state;
        letter
    }

    /// The moves of the automaton in a state, for a chosen instance. `neutral` restricts them to those that ask for an
    /// indexed atom (false) or for none (true).
    fn moves(
        &self,
        scratch: &mut S::Scratch,
        state: &[u64],
        from: u32,
        neutral: Option<bool>,
        moves: &mut Vec<Move>,
    ) -> Result<(), Trouble> {
        moves.clear();
        let indexed = self.choice.as_ref().map_or(0, |choice| choice.indexed);
        let (excluded, shift) = if neutral == Some(true) { (indexed, self.automaton.states) } else { (0, 0) };
        let asked = self.asked[from as usize] & !excluded;
        let letter = self.letter(scratch, state, asked)?;
        for number in self.offsets[from as usize]..self.offsets[from as usize + 1] {
            let transition = &self.automaton.transitions[number];
            let cube = transition.cube;
            let is_neutral = (cube.positive | cube.negative) & indexed == 0;
            if neutral.is_none_or(|wanted| wanted == is_neutral) && cube.contains(letter) {
                let to = transition.to + shift;
                moves.push(Move { to, marks: self.marks_of[number], level: self.level(to) as u32 });
            }
        }
        Ok(())
    }

    /// Replaces records, each followed by another word, by representatives of a level.
    fn represent(
        &self,
        workspaces: &mut [Workspace],
        level: usize,
        before: Option<&[u64]>,
        records: &mut [u64],
        stride: usize,
    ) -> Result<(), Trouble> {
        self.levels[level].represent(&mut workspaces[level], before, records, stride)
    }

    /// The nodes in which runs start. Their tags mean nothing.
    pub(crate) fn starts(&self, scratch: &mut ProductScratch<S>, found: &mut Successors) -> Result<(), Trouble> {
        let stride = self.system.words() + 1;
        let ProductScratch { system, evaluating, workspaces, sink, copy, .. } = scratch;
        found.clear();
        let mut levels: Vec<usize> = self.first_places().map(|place| self.level(place)).collect();
        levels.sort_unstable();
        levels.dedup();
        sink.clear();
        self.system.starts(system, &mut |instance, event| sink.event(instance, event));
        sink.check()?;
        self.assume(evaluating, &mut sink.successors)?;
        for level in levels {
            copy.clear();
            sink.successors.records().for_each(|record| copy.extend_from_slice(record));
            self.represent(workspaces, level, None, copy, stride)?;
            for record in copy.chunks_exact(stride) {
                for place in self.first_places().filter(|&place| self.level(place) == level) {
                    found.push_with(|node| self.code.write(&record[..stride - 1], place, node), 0);
                }
            }
        }
        Ok(())
    }

    /// Removes successors that assumptions drop.
    fn assume(&self, scratch: &mut S::Scratch, successors: &mut Successors) -> Result<(), Trouble> {
        if self.assumptions.is_empty() {
            return Ok(());
        }
        let mut kept = 0;
        for position in 0..successors.len() {
            let (state, tag) = successors.get(position);
            if self.system.facts().is_safe(tag, state) || self.is_assumed(scratch, state)? {
                if kept < position {
                    successors.replace(kept, position);
                }
                kept += 1;
            }
        }
        successors.truncate(kept);
        Ok(())
    }

    fn is_assumed(&self, scratch: &mut S::Scratch, state: &[u64]) -> Result<bool, Trouble> {
        for &property in &self.assumptions {
            let mut value = Ok(true);
            self.system.evaluate(scratch, property, state, &mut |_, result| {
                value = result;
                if value == Ok(true) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            match value {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(fault) => return Err(Trouble::Stop(without_value(fault))),
            }
        }
        Ok(true)
    }

    /// Adds the successors of a node. Their tags are numbers of combinations of acceptance sets.
    pub(crate) fn expand(
        &self,
        scratch: &mut ProductScratch<S>,
        node: &[u64],
        found: &mut Successors,
    ) -> Result<(), Trouble> {
        let mut state = std::mem::take(&mut scratch.state);
        self.code.state(node, &mut state);
        let place = self.code.place(node);
        let result = match &self.choice {
            Some(choice) if place >= self.automaton.states => {
                self.expand_undecided(scratch, choice, &state, place - self.automaton.states, found)
            }
            _ => self.expand_from(scratch, &state, place, None, self.level(place), found),
        };
        scratch.state = state;
        result
    }

    /// The successors of a node whose instance is not chosen yet.
    fn expand_undecided(
        &self,
        scratch: &mut ProductScratch<S>,
        choice: &Choice,
        state: &[u64],
        from: u32,
        found: &mut Successors,
    ) -> Result<(), Trouble> {
        self.expand_from(scratch, state, from, Some(true), choice.level, found)?;
        if self.asked[from as usize] & choice.indexed == 0 {
            return Ok(());
        }
        let mut seen: Vec<Vec<u64>> = Vec::new();
        for (_, turn) in &choice.turns {
            let image = self.turned(scratch, turn, state, from)?;
            if !seen.contains(&image) {
                self.expand_from(scratch, &image, from, Some(false), self.level_of[from as usize], found)?;
                seen.push(image);
            }
        }
        Ok(())
    }

    /// The representative of the image of a state after a choice.
    fn turned(
        &self,
        scratch: &mut ProductScratch<S>,
        turn: &PackedMap,
        state: &[u64],
        from: u32,
    ) -> Result<Vec<u64>, Trouble> {
        let mut image = std::mem::take(&mut scratch.image);
        turn.apply(state, &mut image);
        image.push(0);
        let stride = image.len();
        let represented =
            self.represent(&mut scratch.workspaces, self.level_of[from as usize], None, &mut image, stride);
        let representative = image[..stride - 1].to_vec();
        scratch.image = image;
        represented.map(|()| representative)
    }

    /// The successors of a state by some moves of the automaton. `level` is that of the state.
    fn expand_from(
        &self,
        scratch: &mut ProductScratch<S>,
        state: &[u64],
        from: u32,
        neutral: Option<bool>,
        level: usize,
        found: &mut Successors,
    ) -> Result<(), Trouble> {
        let ProductScratch { system, evaluating, workspaces, sink, moves, copy, fired, .. } = scratch;
        self.moves(evaluating, state, from, neutral, moves)?;
        let Some(&first) = moves.first() else { return Ok(()) };
        sink.clear();
        self.system.expand_part(system, state, sink);
        sink.check()?;
        *fired += sink.successors.len() as u64;
        self.assume(evaluating, &mut sink.successors)?;
        if sink.successors.is_empty() && !sink.has_fault {
            if sink.has_passed || sink.successors.passed() > 0 {
                return Err(Trouble::Stop(StopReason::Exhausted(Fault {
                    kind: FaultKind::Exhausted,
                    span: Span::default(),
                    message: "a run stays in an atomic sequence forever, where a temporal formula sees no state".into(),
                })));
            }
            // The run stays here.
            sink.successors.push(state, Tag::EVERYTHING);
        }
        let stride = state.len() + 1;
        let is_uniform = moves.iter().all(|one| one.level == first.level);
        let mut push = |records: &[u64], moves: &[Move], level: u32| {
            for record in records.chunks_exact(stride) {
                for one in moves.iter().filter(|one| one.level == level) {
                    let marks = u64::from(one.marks);
                    found.push_with(|node| self.code.write(&record[..stride - 1], one.to, node), marks);
                }
            }
        };
        if is_uniform {
            let before = (first.level as usize == level).then_some(state);
            let records = sink.successors.records_from(0);
            self.represent(workspaces, first.level as usize, before, records, stride)?;
            push(records, moves, first.level);
            return Ok(());
        }
        let mut levels: Vec<u32> = moves.iter().map(|one| one.level).collect();
        levels.sort_unstable();
        levels.dedup();
        for target in levels {
            copy.clear();
            copy.extend_from_slice(sink.successors.records_from(0));
            let before = (target as usize == level).then_some(state);
            self.represent(workspaces, target as usize, before, copy, stride)?;
            push(copy, moves, target);
        }
        Ok(())
    }

    /// The steps from a node one by one, with their instances and symmetries. Slower than [`Product::expand`], with the
    /// same successors.
    pub(crate) fn steps(
        &self,
        scratch: &mut ProductScratch<S>,
        node: &[u64],
        visit: &mut dyn FnMut(ProductStep<'_>),
    ) -> Result<(), Trouble> {
        let mut state = Vec::new();
        self.code.state(node, &mut state);
        let place = self.code.place(node);
        let Some(choice) = self.choice.as_ref().filter(|_| place >= self.automaton.states) else {
            return self.steps_from(scratch, &state, place, None, None, visit);
        };
        let from = place - self.automaton.states;
        self.steps_from(scratch, &state, from, Some(true), None, visit)?;
        if self.asked[from as usize] & choice.indexed == 0 {
            return Ok(());
        }
        let second_level = self.level_of[from as usize];
        for (first, map) in &choice.turns {
            let mut image = state.clone();
            map.apply(&state, &mut image);
            let second = self.represent_with_witness(scratch, second_level, &mut image);
            let turn = Turn { first_level: choice.level, first: first.clone(), second_level, second };
            self.steps_from(scratch, &image, from, Some(false), Some(&turn), visit)?;
        }
        Ok(())
    }

    fn steps_from(
        &self,
        scratch: &mut ProductScratch<S>,
        state: &[u64],
        from: u32,
        neutral: Option<bool>,
        before: Option<&Turn>,
        visit: &mut dyn FnMut(ProductStep<'_>),
    ) -> Result<(), Trouble> {
        let mut moves = Vec::new();
        self.moves(&mut scratch.evaluating, state, from, neutral, &mut moves)?;
        if moves.is_empty() {
            return Ok(());
        }
        let mut steps: Vec<(quotient_ir::Action, Vec<i64>, Vec<u64>)> = Vec::new();
        let mut has_fault = false;
        self.system.successors(&mut scratch.system, state, &mut |instance, event| {
            match event {
                Event::Next { state, .. } => {
                    steps.push((instance.action, instance.arguments.to_vec(), state.to_vec()));
                }
                Event::Fault(_) | Event::Wrong { .. } => has_fault = true,
                _ => {}
            }
            ControlFlow::Continue(())
        });
        let mut kept = Vec::with_capacity(steps.len());
        for step in steps {
            if self.is_assumed(&mut scratch.evaluating, &step.2)? {
                kept.push(step);
            }
        }
        let stays = kept.is_empty() && !has_fault;
        let none = Instance::none();
        if stays {
            kept.push((none.action, Vec::new(), state.to_vec()));
        }
        let mut words = vec![0; self.code.words];
        for (action, arguments, next) in &kept {
            let mut last: Option<(u32, Vec<u64>, SparsePermutation)> = None;
            for one in &moves {
                let (representative, after) = match last.take() {
                    Some((level, representative, after)) if level == one.level => (representative, after),
                    _ => {
                        let mut representative = next.clone();
                        let after = self.represent_with_witness(scratch, one.level as usize, &mut representative);
                        (representative, after)
                    }
                };
                self.code.write(&representative, one.to, &mut words);
                let instance = Instance { action: *action, arguments };
                visit(ProductStep {
                    state,
                    instance: (!stays).then_some(instance),
                    before,
                    level: one.level as usize,
                    after: &after,
                    node: &words,
                    marks: one.marks,
                });
                last = Some((one.level, representative, after));
            }
        }
        Ok(())
    }

    /// Replaces a state by its representative of a level, and returns the symmetry that leads there.
    pub(crate) fn represent_with_witness(
        &self,
        scratch: &mut ProductScratch<S>,
        level: usize,
        state: &mut [u64],
    ) -> SparsePermutation {
        match self.levels[level].reduction {
            Some(reduction) => reduction.canonicalizer.canonicalize_with_witness(&mut scratch.workspaces[level], state),
            None => SparsePermutation::identity(),
        }
    }

    /// The level of a node.
    pub(crate) fn level_of_node(&self, node: &[u64]) -> usize {
        self.level(self.code.place(node))
    }

    /// The instances that can fire in a state of the model, whatever the automaton does.
    pub(crate) fn enabled(
        &self,
        scratch: &mut ProductScratch<S>,
        state: &[u64],
        visit: &mut dyn FnMut(Instance<'_>),
    ) -> Result<(), Trouble> {
        let mut dropped: Result<(), Trouble> = Ok(());
        let ProductScratch { system, evaluating, .. } = scratch;
        self.system.successors(system, state, &mut |instance, event| {
            if let Event::Next { state, .. } = event {
                match self.is_assumed(evaluating, state) {
                    Ok(true) => visit(instance),
                    Ok(false) => {}
                    Err(trouble) => {
                        dropped = Err(trouble);
                        return ControlFlow::Break(());
                    }
                }
            }
            ControlFlow::Continue(())
        });
        dropped
    }
}

/// The states of an automaton on cycles with all acceptance sets.
fn live_states(automaton: &Automaton) -> Vec<bool> {
    let components = Components::of(automaton);
    let mut sets: Vec<Option<u64>> = vec![None; components.count];
    for transition in automaton.transitions.iter().filter(|transition| components.is_inside(transition)) {
        *sets[components.of[transition.from as usize] as usize].get_or_insert(0) |= transition.acceptance;
    }
    let all = automaton.all_sets();
    let is_live = |&component: &u32| sets.get(component as usize).is_some_and(|sets| *sets == Some(all));
    components.of.iter().map(is_live).collect()
}

fn without_value(fault: Fault) -> StopReason {
    if fault.kind == FaultKind::Exhausted { StopReason::Exhausted(fault) } else { StopReason::Fault(fault) }
}

/// Collects the successors of a state.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) successors: Successors,
    /// Whether something went wrong in some step, which then leads nowhere.
    has_fault: bool,
    /// Whether steps led to transient states.
    has_passed: bool,
    exhausted: Option<Fault>,
}

impl Collector {
    pub(crate) fn new(words: usize) -> Self {
        Self { successors: Successors::new(words), has_fault: false, has_passed: false, exhausted: None }
    }
    pub(crate) fn clear(&mut self) {
        self.successors.clear();
        (self.has_fault, self.has_passed) = (false, false);
    }
    /// Whether the successors are known.
    pub(crate) fn check(&mut self) -> Result<(), Trouble> {
        self.exhausted.take().map_or(Ok(()), |fault| Err(Trouble::Stop(StopReason::Exhausted(fault))))
    }
}

impl Sink for Collector {
    #[inline]
    fn successors(&mut self) -> &mut Successors {
        &mut self.successors
    }
    fn event(&mut self, _: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Next { state, .. } => self.successors.push(state, Tag::EVERYTHING),
            Event::Passed { steps, .. } => self.has_passed |= steps > 0,
            Event::Pruned | Event::Idle => {}
            Event::Fault(fault) if fault.kind == FaultKind::Exhausted => {
                self.exhausted = Some(fault);
                return ControlFlow::Break(());
            }
            Event::Wrong { violation, .. } if violation.fault().is_some_and(|f| f.kind == FaultKind::Exhausted) => {
                self.exhausted = violation.fault().cloned();
                return ControlFlow::Break(());
            }
            Event::Fault(_) | Event::Wrong { .. } => self.has_fault = true,
        }
        ControlFlow::Continue(())
    }
}
