//! The slots of a state as levels, and steps as products of functions of single levels.
//!
//! The condition of a step is a conjunction. If no part of it, and nothing that is written, depends on slots of two levels,
//! the step is a function of each level on its own. Slots that are used together are put into one level. What a level can
//! hold is found as the search reaches it.

use std::collections::BTreeMap;
use std::rc::Rc;

use quotient_functions::{
    Assignment, Circuit, Evaluation, Event, Functions, KnownValues, Linear, Node, NodeId, Write, Written,
};
use quotient_ir::{Action, Budget, Layout, RuleId, SlotId, TableIndex, Valuation};
use rustc_hash::FxHashMap;

use crate::order::Order;
use crate::saturation::Halt;

/// The most contents of a level with all slots of an element: beyond, these are better kept apart.
const MOST_OF_ELEMENT: usize = 1 << 10;
/// The most contents of a level with slots that are used together.
const MOST_CONTENTS: usize = 1 << 14;

/// The work for a condition or an effect of a step: it is arranged some ten times.
const WORK_OF_PIECE: u64 = 8;
/// The most levels: the search is recursive.
const MOST_LEVELS: usize = 1 << 15;
/// The most ways in which a step can go wrong.
const MOST_FAULTS: usize = 256;

/// A step that is no product of functions, or contents of a level that are too many.
pub(super) struct Unsuited;

/// What the slots of a level hold.
type Content = Box<[Option<i64>]>;

/// What a function makes of what a level holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Not computed yet.
    Unknown,
    /// The step is not possible.
    Nothing,
    /// Other contents, by their number.
    To(u32),
    /// It has no value: if the step is possible as far as other levels are concerned, it goes wrong.
    Wrong,
}

/// What a step needs of one level, and does to it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Local<'f> {
    level: u32,
    conditions: Vec<NodeId>,
    effects: Vec<Effect<'f>>,
}

/// What a step writes to a slot, provided that it is taken.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Effect<'f> {
    slot: u32,
    written: Values<'f>,
}

/// The values that are written, each under a conjunction of conditions, as in [`Written`].
#[derive(Clone, PartialEq, Eq, Hash)]
enum Values<'f> {
    Cases(Vec<(Option<i64>, Vec<NodeId>)>),
    Number { when: Vec<NodeId>, undefined: Vec<NodeId>, value: &'f Linear },
}

impl<'f> Effect<'f> {
    fn of(write: &'f Write, guard: &Guard<'f>) -> Self {
        let written = match &write.written {
            Written::Cases(cases) => {
                Values::Cases(cases.iter().map(|&(value, condition)| (value, guard.remaining(condition))).collect())
            }
            Written::Number { when, undefined, value } => {
                Values::Number { when: guard.remaining(*when), undefined: guard.remaining(*undefined), value }
            }
        };
        Self { slot: write.slot, written }
    }

    /// The conditions and numbers that it depends on.
    fn roots(&self) -> Vec<NodeId> {
        match &self.written {
            Values::Cases(cases) => cases.iter().flat_map(|(_, conditions)| conditions).copied().collect(),
            Values::Number { when, undefined, value } => {
                let terms = value.terms.iter().map(|&(node, _)| node);
                when.iter().chain(undefined).copied().chain(terms).collect()
            }
        }
    }

    /// What the slot holds after the step, if it held something; none if that has no value.
    fn next(&self, evaluation: &mut Evaluation<'_>, old: Option<i64>) -> Option<Option<i64>> {
        let mut all = |conditions: &[NodeId]| {
            let mut holds = true;
            for &condition in conditions {
                holds &= evaluation.holds(condition)?;
            }
            Some(holds)
        };
        match &self.written {
            Values::Cases(cases) => {
                // The condition of the value that it holds already is meaningless.
                for (value, conditions) in cases.iter().filter(|(value, _)| *value != old) {
                    if all(conditions)? {
                        return Some(*value);
                    }
                }
                Some(old)
            }
            Values::Number { when, undefined, value } => match (all(when)?, all(undefined)?) {
                (false, _) => Some(old),
                (true, true) => Some(None),
                (true, false) => evaluation.form(value).map(Some),
            },
        }
    }
}

/// The condition of a step, and what follows from it.
struct Guard<'f> {
    circuit: &'f Circuit,
    conditions: Vec<NodeId>,
    known: KnownValues,
}

impl<'f> Guard<'f> {
    fn of(event: &Event, circuit: &'f Circuit) -> Self {
        let conditions = conjuncts(circuit, event.guard);
        Self { circuit, conditions, known: circuit.known_values(event.guard) }
    }

    /// The parts of a conjunction that do not follow.
    fn remaining(&self, condition: NodeId) -> Vec<NodeId> {
        let mut parts = conjuncts(self.circuit, condition);
        parts.retain(|part| {
            let follows = match self.circuit.node(*part) {
                Node::In { slot, values } => {
                    let known = self.known.get(slot);
                    known.is_some_and(|known| known.iter().all(|value| values.contains(value)))
                }
                _ => self.conditions.contains(part),
            };
            !follows
        });
        parts
    }
}

/// The number of a function of one level.
pub(super) type LocalId = u32;

/// What remains of a step below some level, by its number. Steps share what they have in common.
pub(super) type PartId = u32;

/// Nothing remains.
pub(super) const DONE: PartId = 0;

/// A function of one level and what remains below it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub(super) level: u32,
    pub(super) local: LocalId,
    pub(super) rest: PartId,
}

/// Which slots are in one level, whether or not they are used together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grain {
    /// All that belong to the same element of arrays, such as a process.
    Elements,
    /// Each is on its own.
    Slots,
}

/// What a step does to a level, if its topmost level holds something.
pub(super) struct Move {
    /// What it does below.
    pub(super) rest: PartId,
    /// What the level can hold afterwards.
    pub(super) to: Vec<u32>,
    /// Whether that has no value in some step.
    pub(super) is_wrong: bool,
}

/// Steps whose topmost levels are the same, and that do the same below them.
pub(super) struct Steps {
    /// What they do at the topmost level, and the rules, with the number of instances.
    pub(super) top: Vec<(LocalId, RuleId, u64)>,
    pub(super) rest: PartId,
}

/// The levels of a model and its steps.
pub(super) struct Levels<'f> {
    circuit: &'f Circuit,
    /// The slots of each level, from the bottom.
    pub(super) slots: Vec<Vec<u32>>,
    contents: Vec<Vec<Content>>,
    numbers: Vec<FxHashMap<Content, u32>>,
    locals: Vec<(Local<'f>, Vec<Next>)>,
    parts: Vec<Part>,
    /// For each level the steps for which it is the topmost one.
    pub(super) steps: Vec<Vec<Steps>>,
    /// What steps do to what their topmost level holds, as far as it was asked for.
    moves: Vec<Vec<Option<Rc<[Move]>>>>,
    most_contents: usize,
    /// The steps without any level: these change nothing, and are always possible.
    pub(super) always: Vec<(RuleId, u64)>,
    /// Where steps go wrong: what must hold in some levels, each on its own.
    pub(super) faults: Vec<PartId>,
    /// A state to evaluate functions in. Slots without a level hold the only value that they can hold.
    scratch: Valuation,
}

impl<'f> Levels<'f> {
    /// The levels of a model with some initial states.
    ///
    /// # Errors
    /// If a step is not a product of functions of levels, or it takes too much work.
    pub(super) fn new(
        functions: &'f Functions,
        layout: &Layout,
        order: &Order,
        grain: Grain,
        initial: &Valuation,
        budget: &Budget,
    ) -> Result<Self, Halt> {
        let behaviour = functions.behaviour();
        let rules = || behaviour.events.iter().filter(|event| !event.is_start());
        let mut varies = vec![false; behaviour.circuit.slot_count()];
        order.slots.iter().for_each(|&slot| varies[slot as usize] = true);
        let mut supports = Supports { circuit: &behaviour.circuit, varies, known: FxHashMap::default() };
        let mut together = Together::new(behaviour.slots);
        let mut split: Vec<(&'f Event, Pieces<'f>)> = Vec::new();
        for event in rules() {
            let is_plain = event.dropped == NodeId::FALSE && event.additions.is_empty();
            if !is_plain || behaviour.inputs.iter().any(|(action, _)| *action == event.action) {
                return Err(Halt::Unsuited);
            }
            let pieces = Pieces::of(event, &mut supports)?;
            let used = pieces.supports(&mut supports);
            budget.spend(used.len() as u64 * WORK_OF_PIECE)?;
            used.iter().for_each(|slots| together.join(slots));
            split.push((event, pieces));
        }
        if grain == Grain::Elements {
            let mut elements: FxHashMap<(usize, usize), Vec<u32>> = FxHashMap::default();
            for &slot in &order.slots {
                if let Some(element) = layout.element(SlotId::from_position(slot as usize)) {
                    elements.entry(element).or_default().push(slot);
                }
            }
            elements.values().for_each(|slots| together.join(slots));
        }
        let uses: Vec<Vec<u32>> = split.iter().map(|(_, pieces)| pieces.supports(&mut supports).concat()).collect();
        let (slots, level_of) = together.levels(order, uses);
        let count = slots.len();
        if count > MOST_LEVELS {
            return Err(Halt::Unsuited);
        }
        let mut levels = Self {
            circuit: &behaviour.circuit,
            slots,
            contents: vec![Vec::new(); count],
            numbers: vec![FxHashMap::default(); count],
            locals: Vec::new(),
            parts: vec![Part { level: u32::MAX, local: 0, rest: DONE }],
            steps: (0..count).map(|_| Vec::new()).collect(),
            moves: vec![Vec::new(); count],
            most_contents: if grain == Grain::Elements { MOST_OF_ELEMENT } else { MOST_CONTENTS },
            always: Vec::new(),
            faults: Vec::new(),
            scratch: initial.clone(),
        };
        levels.add_steps(split, &mut supports, &level_of)?;
        Ok(levels)
    }

    fn add_steps(
        &mut self,
        split: Vec<(&'f Event, Pieces<'f>)>,
        supports: &mut Supports<'f>,
        level_of: &[Option<u32>],
    ) -> Result<(), Unsuited> {
        let mut known = Known::default();
        let mut group_ids: FxHashMap<(u32, PartId), usize> = FxHashMap::default();
        for (event, pieces) in split {
            let Action::Rule(rule) = event.action else { return Err(Unsuited) };
            for fault in &pieces.faults {
                let own = by_level(fault, Vec::new(), supports, level_of)?;
                let fault = own.into_iter().fold(DONE, |rest, local| self.add_part(local, rest, &mut known));
                if fault == DONE {
                    return Err(Unsuited);
                }
                self.faults.push(fault);
            }
            let mut own = by_level(&pieces.conditions, pieces.effects, supports, level_of)?;
            let top = own.pop();
            let rest = own.into_iter().fold(DONE, |rest, local| self.add_part(local, rest, &mut known));
            let top = top.map(|local| (local.level, self.add_local(local, &mut known)));
            let Some((level, local)) = top else {
                self.always.push((rule, 1));
                continue;
            };
            let groups = &mut self.steps[level as usize];
            let group = *group_ids.entry((level, rest)).or_insert_with(|| {
                groups.push(Steps { top: Vec::new(), rest });
                groups.len() - 1
            });
            let found = groups[group].top.iter_mut().find(|(own, of, _)| (*own, *of) == (local, rule));
            match found {
                Some((_, _, instances)) => *instances += 1,
                None => groups[group].top.push((local, rule, 1)),
            }
        }
        self.faults.sort_unstable();
        self.faults.dedup();
        Ok(())
    }

    fn add_local(&mut self, local: Local<'f>, known: &mut Known<'f>) -> LocalId {
        *known.locals.entry(local).or_insert_with_key(|local| {
            self.locals.push((local.clone(), Vec::new()));
            self.locals.len() as LocalId - 1
        })
    }

    fn add_part(&mut self, local: Local<'f>, rest: PartId, known: &mut Known<'f>) -> PartId {
        let part = Part { level: local.level, local: self.add_local(local, known), rest };
        *known.parts.entry(part).or_insert_with(|| {
            self.parts.push(part);
            self.parts.len() as PartId - 1
        })
    }

    pub(super) fn count(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn part(&self, part: PartId) -> Part {
        self.parts[part as usize]
    }

    /// What the slots of a level hold.
    pub(super) fn content(&self, level: usize, number: u32) -> &[Option<i64>] {
        &self.contents[level][number as usize]
    }

    /// What the slots without a level hold.
    pub(super) fn constants(&self) -> impl Iterator<Item = Option<i64>> {
        let mut has_level = vec![false; self.scratch.0.len()];
        self.slots.iter().flatten().for_each(|&slot| has_level[slot as usize] = true);
        self.scratch.0.iter().zip(has_level).filter(|(_, has_level)| !has_level).map(|(&value, _)| value)
    }

    /// The number of what a level holds in a state.
    pub(super) fn number_in(&mut self, level: usize, state: &Valuation) -> Result<u32, Unsuited> {
        let content: Content = self.slots[level].iter().map(|&slot| state.0[slot as usize]).collect();
        self.number(level, content)
    }

    fn number(&mut self, level: usize, content: Content) -> Result<u32, Unsuited> {
        if let Some(&number) = self.numbers[level].get(&content) {
            return Ok(number);
        }
        let number = self.contents[level].len();
        if number == self.most_contents {
            return Err(Unsuited);
        }
        self.contents[level].push(content.clone());
        self.numbers[level].insert(content, number as u32);
        Ok(number as u32)
    }

    /// The steps that are possible as far as their topmost level is concerned, which holds something.
    pub(super) fn moves(&mut self, level: usize, content: u32) -> Result<Rc<[Move]>, Unsuited> {
        if let Some(Some(known)) = self.moves[level].get(content as usize) {
            return Ok(Rc::clone(known));
        }
        let mut moves: Vec<Move> = Vec::new();
        for group in 0..self.steps[level].len() {
            let (mut to, mut is_wrong) = (Vec::new(), false);
            for step in 0..self.steps[level][group].top.len() {
                match self.next(self.steps[level][group].top[step].0, content)? {
                    Next::To(number) => to.push(number),
                    Next::Wrong => is_wrong = true,
                    Next::Nothing | Next::Unknown => {}
                }
            }
            to.sort_unstable();
            to.dedup();
            if is_wrong || !to.is_empty() {
                moves.push(Move { rest: self.steps[level][group].rest, to, is_wrong });
            }
        }
        let moves: Rc<[Move]> = moves.into();
        if self.moves[level].len() <= content as usize {
            self.moves[level].resize(content as usize + 1, None);
        }
        self.moves[level][content as usize] = Some(Rc::clone(&moves));
        Ok(moves)
    }

    /// What a function makes of what its level holds.
    pub(super) fn next(&mut self, local: LocalId, content: u32) -> Result<Next, Unsuited> {
        let (_, known) = &self.locals[local as usize];
        match known.get(content as usize) {
            None | Some(Next::Unknown) => {}
            Some(&next) => return Ok(next),
        }
        let next = self.evaluate(local, content)?;
        let (_, known) = &mut self.locals[local as usize];
        if known.len() <= content as usize {
            known.resize(content as usize + 1, Next::Unknown);
        }
        known[content as usize] = next;
        Ok(next)
    }

    fn evaluate(&mut self, local: LocalId, content: u32) -> Result<Next, Unsuited> {
        let function = &self.locals[local as usize].0;
        let level = function.level as usize;
        let mut after = self.contents[level][content as usize].clone();
        for (&slot, &value) in self.slots[level].iter().zip(&after) {
            self.scratch.0[slot as usize] = value;
        }
        let mut evaluation = Evaluation::new(self.circuit, Assignment::of_state(&self.scratch));
        for &condition in &function.conditions {
            match evaluation.holds(condition) {
                Some(true) => {}
                Some(false) => return Ok(Next::Nothing),
                None => return Ok(Next::Wrong),
            }
        }
        for effect in &function.effects {
            let own = self.slots[level].iter().position(|&slot| slot == effect.slot);
            let position = own.expect("the slot is of this level");
            let Some(value) = effect.next(&mut evaluation, after[position]) else { return Ok(Next::Wrong) };
            after[position] = value;
        }
        self.number(level, after).map(Next::To)
    }
}

/// The functions and parts that are known, by their contents.
#[derive(Default)]
struct Known<'f> {
    locals: FxHashMap<Local<'f>, LocalId>,
    parts: FxHashMap<Part, PartId>,
}

/// The conditions and writes of an event, each of which is about few slots.
struct Pieces<'f> {
    conditions: Vec<NodeId>,
    /// Where it goes wrong: one of these conjunctions.
    faults: Vec<Vec<NodeId>>,
    effects: Vec<Effect<'f>>,
}

impl<'f> Pieces<'f> {
    fn of(event: &'f Event, supports: &mut Supports<'f>) -> Result<Self, Unsuited> {
        let guard = Guard::of(event, supports.circuit);
        // A slot that can hold one value only is not changed.
        let changes = event.writes.iter().filter(|write| supports.varies[write.slot as usize]);
        let effects = changes.map(|write| Effect::of(write, &guard)).collect();
        let mut faults = Vec::new();
        let mut pending = vec![vec![event.fault]];
        while let Some(fault) = pending.pop() {
            let mut parts: Vec<NodeId> = fault.iter().flat_map(|&node| conjuncts(supports.circuit, node)).collect();
            if parts.contains(&NodeId::FALSE) {
                continue;
            }
            let wide = parts
                .iter()
                .position(|&part| matches!(supports.circuit.node(part), Node::Or(_)) && supports.of(part).len() > 1);
            match wide.map(|position| supports.circuit.node(parts.swap_remove(position))) {
                Some(Node::Or(children)) => {
                    pending.extend(children.iter().map(|&child| [&parts[..], &[child]].concat()));
                }
                _ => faults.push(parts),
            }
            if faults.len() + pending.len() > MOST_FAULTS {
                return Err(Unsuited);
            }
        }
        Ok(Self { conditions: guard.conditions, faults, effects })
    }

    /// The slots that each of them is about.
    fn supports(&self, supports: &mut Supports<'f>) -> Vec<Vec<u32>> {
        let conditions = self.conditions.iter().chain(self.faults.iter().flatten());
        let mut all: Vec<Vec<u32>> = conditions.map(|&node| supports.of(node).to_vec()).collect();
        all.extend(self.effects.iter().map(|effect| supports.of_effect(effect)));
        all
    }
}

/// The parts of a conjunction; none if it always holds.
fn conjuncts(circuit: &Circuit, condition: NodeId) -> Vec<NodeId> {
    match circuit.node(condition) {
        Node::And(children) => children.to_vec(),
        Node::True => Vec::new(),
        _ => vec![condition],
    }
}

/// What is about each level, from the bottom.
fn by_level<'f>(
    conditions: &[NodeId],
    effects: Vec<Effect<'f>>,
    supports: &mut Supports<'f>,
    level_of: &[Option<u32>],
) -> Result<Vec<Local<'f>>, Unsuited> {
    let mut found: BTreeMap<u32, Local<'f>> = BTreeMap::new();
    let level = |slots: &[u32]| slots.iter().find_map(|&slot| level_of[slot as usize]).ok_or(Unsuited);
    let new = |level| Local { level, conditions: Vec::new(), effects: Vec::new() };
    for &condition in conditions {
        let level = level(supports.of(condition))?;
        found.entry(level).or_insert_with(|| new(level)).conditions.push(condition);
    }
    for effect in effects {
        let level = level(&[effect.slot])?;
        found.entry(level).or_insert_with(|| new(level)).effects.push(effect);
    }
    Ok(found.into_values().collect())
}

/// The slots of the state that nodes depend on.
struct Supports<'f> {
    circuit: &'f Circuit,
    /// The slots that can hold several values.
    varies: Vec<bool>,
    known: FxHashMap<NodeId, Box<[u32]>>,
}

impl Supports<'_> {
    fn of(&mut self, root: NodeId) -> &[u32] {
        if !self.known.contains_key(&root) {
            let slots = self.of_all(vec![root]);
            self.known.insert(root, slots.into());
        }
        &self.known[&root]
    }

    fn of_all(&self, mut pending: Vec<NodeId>) -> Vec<u32> {
        let (mut seen, mut slots) = (rustc_hash::FxHashSet::default(), Vec::new());
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            match self.circuit.node(node) {
                Node::In { slot, .. } | Node::SlotValue(slot) => slots.push(*slot),
                Node::Table { slots: own, .. } => slots.extend(own.iter()),
                other => other.for_each_child(|child| pending.push(child)),
            }
        }
        slots.retain(|&slot| self.varies[slot as usize]);
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// The slot that is written, and those that the value depends on.
    fn of_effect(&self, effect: &Effect<'_>) -> Vec<u32> {
        let mut slots = self.of_all(effect.roots());
        slots.push(effect.slot);
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

/// Which slots are in one level.
struct Together {
    parents: Vec<u32>,
}

impl Together {
    fn new(slots: usize) -> Self {
        Self { parents: (0..slots as u32).collect() }
    }

    fn find(&mut self, mut slot: u32) -> u32 {
        while self.parents[slot as usize] != slot {
            let above = self.parents[self.parents[slot as usize] as usize];
            self.parents[slot as usize] = above;
            slot = above;
        }
        slot
    }

    /// The slots of each level, from the bottom, and the level of each slot. Levels that steps use together are neighbours.
    fn levels(&mut self, order: &Order, mut uses: Vec<Vec<u32>>) -> (Vec<Vec<u32>>, Vec<Option<u32>>) {
        // A level is first called like one of its slots.
        let mut slots: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut declared = Vec::new();
        for &slot in &order.slots {
            let own = slots.entry(self.find(slot)).or_default();
            if own.is_empty() {
                declared.push(self.find(slot));
            }
            own.push(slot);
        }
        for own in &mut uses {
            own.iter_mut().for_each(|slot| *slot = self.find(*slot));
            own.sort_unstable();
            own.dedup();
        }
        uses.retain(|own| own.len() > 1);
        uses.sort_unstable();
        uses.dedup();
        let arranged = Order::of_uses(declared, &uses, |_| 1, self.parents.len());
        let mut level_of = vec![None; self.parents.len()];
        let mut levels = Vec::new();
        for name in arranged.slots.iter().rev() {
            let own = slots.remove(name).expect("each level is there once");
            own.iter().for_each(|&slot| level_of[slot as usize] = Some(levels.len() as u32));
            levels.push(own);
        }
        (levels, level_of)
    }

    fn join(&mut self, slots: &[u32]) {
        for pair in slots.windows(2) {
            let (left, right) = (self.find(pair[0]), self.find(pair[1]));
            self.parents[left as usize] = right;
        }
    }
}
