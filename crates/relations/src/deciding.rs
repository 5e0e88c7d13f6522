//! Decides what steps do to conditions and to each other: first on [`Effect`]s, by cases of the few slots that matter,
//! and where that does not suffice on the functions themselves (`composition`).

use std::rc::Rc;

use quotient_functions::{Circuit, Event, KnownValues, Node, NodeId, Written};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::composition::{Composer, Slots, exclude_each_other};
use crate::effects::{Choice, Effect, Leaf, Map, effect};

/// The largest number of cases of one question.
const CASES: usize = 512;
/// The largest number of values that are written to a slot whose function is composed with others.
const MANY: usize = 64;
/// The number of slots from which on a condition is treated part by part.
const LARGE: usize = 6;
/// The same where a condition in doubt is said to be enabled.
const ENABLING_CASES: usize = 24;
/// The largest number of values of a slot that is split into cases.
const SPLIT_VALUES: usize = 64;

/// The work of one case.
const WORK_OF_CASE: usize = 4;

/// For some slots, in increasing order, the positions of the values that each may hold, and the slot before that decides
/// which one.
#[derive(Default)]
struct Contents(Vec<(u32, Vec<u16>, Option<u32>)>);

impl Contents {
    fn get(&self, slot: u32) -> Option<(&[u16], Option<u32>)> {
        let at = self.0.binary_search_by_key(&slot, |(own, ..)| *own).ok()?;
        let (_, positions, source) = &self.0[at];
        Some((positions, *source))
    }
}

/// Whether a condition holds whatever slots hold of what they may hold, or never does.
fn truth(circuit: &Circuit, condition: NodeId, contents: &Contents) -> Truth {
    match circuit.node(condition) {
        Node::True => Truth::Holds,
        Node::False => Truth::Fails,
        Node::In { slot, values } => {
            let Some((open, source)) = contents.get(*slot) else { return Truth::Depends(None) };
            match open.iter().filter(|&&position| values.contains(usize::from(position))).count() {
                0 => Truth::Fails,
                inside if inside == open.len() => Truth::Holds,
                _ => Truth::Depends(source),
            }
        }
        Node::Table { slots, tuples } => {
            let mut open: Vec<&[u16]> = Vec::with_capacity(slots.len());
            let mut split: Option<(usize, u32)> = None;
            for slot in slots {
                let Some((positions, source)) = contents.get(*slot) else { return Truth::Depends(None) };
                if let Some(source) = source
                    && split.is_none_or(|(size, _)| positions.len() < size)
                {
                    split = Some((positions.len(), source));
                }
                open.push(positions);
            }
            let is_open =
                |tuple: &[u16]| tuple.iter().zip(&open).all(|(position, open)| open.binary_search(position).is_ok());
            match tuples.iter().filter(|tuple| is_open(tuple)).count() {
                0 => Truth::Fails,
                inside if inside == open.iter().map(|open| open.len()).product::<usize>() => Truth::Holds,
                _ => Truth::Depends(split.map(|(_, slot)| slot)),
            }
        }
        Node::And(children) => connective(circuit, children, contents, Truth::Fails, Truth::Holds),
        Node::Or(children) => connective(circuit, children, contents, Truth::Holds, Truth::Fails),
        _ => Truth::Depends(None),
    }
}

fn connective(circuit: &Circuit, children: &[NodeId], contents: &Contents, decisive: Truth, neutral: Truth) -> Truth {
    let mut all = neutral;
    for &child in children {
        let own = truth(circuit, child, contents);
        if own == decisive {
            return decisive;
        }
        if own != neutral && !matches!(all, Truth::Depends(Some(_))) {
            all = own;
        }
    }
    all
}

/// Answers questions about the events of a model.
pub(super) struct Decider<'a> {
    pub(super) composer: Composer<'a>,
    pub(super) events: &'a [Event],
    effects: FxHashMap<(usize, u32), Rc<Effect>>,
    known: FxHashMap<NodeId, Rc<KnownValues>>,
    /// For each event the slots that it reads and writes.
    slots: FxHashMap<usize, Rc<Slots>>,
}

/// The value of a slot after steps, as a function of the state before them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Known(Option<i64>),
    /// The value of a slot.
    Of(u32),
    /// A function of the value of a slot.
    Mapped(u32, Map),
}

/// Why a question has no answer in a case.
enum Open {
    /// It depends on the value of a slot.
    Split(u32),
    /// It is not decided here.
    Undecided,
}

/// Some of the states: what is known of slots, and the values of slots that were split.
struct Case {
    known: Rc<KnownValues>,
    fixed: Vec<(u32, usize)>,
}

impl Case {
    /// The positions of the values that a slot may have.
    fn positions(&self, circuit: &Circuit, slot: u32) -> Vec<usize> {
        if let Some(position) = self.position(slot) {
            return vec![position];
        }
        match self.known.get(&slot) {
            Some(values) => values.iter().collect(),
            None => (0..circuit.values(slot).len()).collect(),
        }
    }

    fn position(&self, slot: u32) -> Option<usize> {
        if let Some(&(_, position)) = self.fixed.iter().find(|(own, _)| *own == slot) {
            return Some(position);
        }
        let mut open = self.known.get(&slot)?.iter();
        let first = open.next()?;
        open.next().is_none().then_some(first)
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Truth {
    Holds,
    Fails,
    /// It depends on the value of a slot, if that is known.
    Depends(Option<u32>),
}

/// A question about single cases: whether all is well.
type Question<'q, 'a> = &'q mut dyn FnMut(&mut Decider<'a>, &Case) -> Result<bool, Open>;

impl<'a> Decider<'a> {
    pub(super) fn new(composer: Composer<'a>, events: &'a [Event]) -> Self {
        let (effects, known, slots) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Self { composer, events, effects, known, slots }
    }

    /// The values that a condition allows for single slots.
    pub(super) fn known(&mut self, condition: NodeId) -> Rc<KnownValues> {
        if let Some(known) = self.known.get(&condition) {
            return known.clone();
        }
        let known = Rc::new(self.composer.circuit.known_values(condition));
        self.composer.circuit.charge(known.len());
        self.known.insert(condition, known.clone());
        known
    }

    /// Whether two conditions allow no common value of some slot.
    pub(super) fn exclude_each_other(&mut self, first: NodeId, second: NodeId) -> bool {
        exclude_each_other(&self.known(first), &self.known(second))
    }

    /// What an event writes to a slot, if it does.
    fn effect(&mut self, event: usize, slot: u32) -> Option<Rc<Effect>> {
        let own = &self.events[event];
        let at = own.writes.binary_search_by_key(&slot, |write| write.slot).ok()?;
        if let Some(known) = self.effects.get(&(event, slot)) {
            return Some(known.clone());
        }
        let write = &own.writes[at];
        let mut support: Vec<u32> = Vec::new();
        let roots: Vec<NodeId> = match &write.written {
            Written::Cases(cases) => cases.iter().map(|&(_, condition)| condition).collect(),
            Written::Number { when, undefined, value } => {
                let terms = value.terms.iter().map(|&(node, _)| node);
                [*when, *undefined].into_iter().chain(terms).collect()
            }
        };
        for root in roots {
            support.extend(self.composer.support(root).iter());
            if support.len() > 1024 {
                support.sort_unstable();
                support.dedup();
            }
        }
        support.sort_unstable();
        support.dedup();
        let known = self.known(own.guard);
        let effect = Rc::new(effect(self.composer.circuit, write, support, &known));
        self.effects.insert((event, slot), effect.clone());
        Some(effect)
    }

    /// The value of a slot in a state.
    fn before(&self, slot: u32, case: &Case) -> Term {
        match case.position(slot) {
            Some(position) if !self.composer.circuit.is_wide(slot) => {
                Term::Known(self.composer.circuit.values(slot)[position])
            }
            _ => Term::Of(slot),
        }
    }

    /// The value of a slot after an event, given the values of slots before it.
    fn after(
        &mut self,
        event: usize,
        slot: u32,
        before: &mut dyn FnMut(&mut Self, u32) -> Result<Term, Open>,
    ) -> Result<Term, Open> {
        let Some(effect) = self.effect(event, slot) else { return before(self, slot) };
        let Some(choice) = &effect.choice else { return Err(Open::Undecided) };
        match self.leaf(choice, before)? {
            Leaf::Unknown => Err(Open::Undecided),
            Leaf::Keep => before(self, slot),
            Leaf::Constant(value) => Ok(Term::Known(*value)),
            Leaf::Copy(source) => before(self, *source),
            Leaf::Map(source, map) => {
                let term = before(self, *source)?;
                self.mapped(term, *source, map)
            }
        }
    }

    /// What is written, by the values of the selectors.
    fn leaf<'c>(
        &mut self,
        choice: &'c Choice,
        before: &mut dyn FnMut(&mut Self, u32) -> Result<Term, Open>,
    ) -> Result<&'c Leaf, Open> {
        let mut positions = Vec::with_capacity(choice.selectors.len());
        for &selector in &choice.selectors {
            match before(self, selector)? {
                Term::Known(value) => {
                    let position = self.composer.circuit.values(selector).binary_search(&value);
                    positions.push(position.map_err(|_| Open::Undecided)?);
                }
                Term::Of(slot) | Term::Mapped(slot, _) => return Err(Open::Split(slot)),
            }
        }
        Ok(choice.leaf(&positions))
    }

    /// A function of a slot applied to what the slot holds.
    fn mapped(&self, term: Term, source: u32, map: &Map) -> Result<Term, Open> {
        let values = self.composer.circuit.values(source);
        let apply = |value: Option<i64>| values.binary_search(&value).ok().and_then(|position| map[position]);
        Ok(match term {
            Term::Known(value) => Term::Known(apply(value).ok_or(Open::Undecided)?),
            Term::Of(slot) if slot == source => Term::Mapped(slot, map.clone()),
            Term::Of(slot) => {
                let own = self.composer.circuit.values(slot).iter();
                Term::Mapped(slot, own.map(|&value| apply(value)).collect())
            }
            Term::Mapped(slot, inner) => Term::Mapped(slot, inner.iter().map(|&value| apply(value?)).collect()),
        })
    }

    fn after_one(&mut self, event: usize, slot: u32, case: &Case) -> Result<Term, Open> {
        self.after(event, slot, &mut |this, slot| Ok(this.before(slot, case)))
    }

    fn after_both(&mut self, first: usize, second: usize, slot: u32, case: &Case) -> Result<Term, Open> {
        self.after(second, slot, &mut |this, slot| this.after_one(first, slot, case))
    }

    /// The values that a term may have; `None` where it has none that is known.
    fn values(&self, term: &Term, case: &Case) -> Option<Vec<Option<i64>>> {
        let circuit = &*self.composer.circuit;
        match term {
            Term::Known(value) => Some(vec![*value]),
            Term::Of(slot) if circuit.is_wide(*slot) => None,
            Term::Of(slot) => {
                Some(case.positions(circuit, *slot).iter().map(|&at| circuit.values(*slot)[at]).collect())
            }
            Term::Mapped(slot, map) => case.positions(circuit, *slot).iter().map(|&at| map[at]).collect(),
        }
    }

    /// Whether two terms are the same in all states of a case.
    fn are_same(&self, one: &Term, other: &Term, case: &Case) -> Result<bool, Open> {
        if one == other {
            return Ok(true);
        }
        let slots: Vec<u32> = [one, other]
            .into_iter()
            .filter_map(|term| match term {
                Term::Known(_) => None,
                Term::Of(slot) | Term::Mapped(slot, _) => Some(*slot),
            })
            .collect();
        if slots.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Open::Split(slots[0]));
        }
        let own = (self.values(one, case).ok_or(Open::Undecided)?, self.values(other, case).ok_or(Open::Undecided)?);
        // A constant has one value where functions of a slot have one for each of its values.
        let size = own.0.len().max(own.1.len());
        Ok((0..size).all(|at| own.0[at.min(own.0.len() - 1)] == own.1[at.min(own.1.len() - 1)]))
    }

    /// What slots may hold, given their terms. The slots are in increasing order.
    fn contents(
        &mut self,
        slots: &[u32],
        case: &Case,
        term: &mut dyn FnMut(&mut Self, u32) -> Result<Term, Open>,
    ) -> Result<Contents, Open> {
        let mut contents = Contents(Vec::with_capacity(slots.len()));
        for &slot in slots {
            if self.composer.circuit.is_wide(slot) {
                continue;
            }
            let term = match term(self, slot) {
                Err(Open::Undecided) => continue,
                other => other?,
            };
            let Some(positions) = self.positions(slot, &term, case) else { continue };
            let source = match term {
                Term::Known(_) => None,
                Term::Of(source) | Term::Mapped(source, _) => Some(source),
            };
            contents.0.push((slot, positions, source));
        }
        Ok(contents)
    }

    /// The positions, in increasing order, of the values that a slot may hold, given its term. With a value that the slot
    /// never holds, no step is taken.
    fn positions(&self, slot: u32, term: &Term, case: &Case) -> Option<Vec<u16>> {
        let circuit = &*self.composer.circuit;
        let domain = circuit.values(slot);
        match term {
            Term::Of(source) if *source == slot => {
                Some(case.positions(circuit, slot).into_iter().map(|position| position as u16).collect())
            }
            Term::Known(value) => Some(domain.binary_search(value).ok().map(|at| at as u16).into_iter().collect()),
            _ => {
                let values = self.values(term, case)?;
                let positions = values.iter().filter_map(|value| domain.binary_search(value).ok());
                let mut positions: Vec<u16> = positions.map(|position| position as u16).collect();
                positions.sort_unstable();
                positions.dedup();
                Some(positions)
            }
        }
    }

    /// Whether a condition holds in all states of a case after an event, or in none.
    fn truth_after(&mut self, event: usize, condition: NodeId, case: &Case) -> Result<Truth, Open> {
        let support = self.composer.support(condition);
        let contents = self.contents(&support, case, &mut |this, slot| this.after_one(event, slot, case))?;
        Ok(truth(self.composer.circuit, condition, &contents))
    }

    /// Whether all is well in all cases of some states; `None` if that is not decided.
    fn in_every_case(
        &mut self,
        states: NodeId,
        known: Rc<KnownValues>,
        mut left: usize,
        question: Question<'_, 'a>,
    ) -> Option<bool> {
        let mut case = Case { known, fixed: Vec::new() };
        self.ask(states, &mut case, &mut left, question)
    }

    fn ask(&mut self, states: NodeId, case: &mut Case, left: &mut usize, question: Question<'_, 'a>) -> Option<bool> {
        *left = left.checked_sub(1)?;
        self.composer.circuit.charge(WORK_OF_CASE);
        match question(self, case) {
            Ok(true) => Some(true),
            Ok(false) => {
                // Not every combination of values occurs.
                let mut parts = vec![states];
                for &(slot, position) in &case.fixed {
                    parts.push(self.composer.circuit.slot_in(slot, [position]));
                }
                let states = self.composer.circuit.and(parts);
                Some(self.composer.is_refuted(states))
            }
            Err(Open::Undecided) => None,
            Err(Open::Split(slot)) => {
                if self.composer.circuit.is_wide(slot) || case.position(slot).is_some() {
                    return None;
                }
                let positions = case.positions(self.composer.circuit, slot);
                if positions.len() > SPLIT_VALUES {
                    return None;
                }
                let mut answer = Some(true);
                for position in positions {
                    case.fixed.push((slot, position));
                    let own = self.ask(states, case, left, question);
                    case.fixed.pop();
                    match own {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => answer = None,
                    }
                }
                answer
            }
        }
    }

    /// Whether an event writes something that another one reads or writes.
    pub(super) fn touch(&mut self, event: usize, other: usize) -> bool {
        let (one, other) = (self.slots(event), self.slots(other));
        let is_used = |slot: &u32| other.0.binary_search(slot).is_ok() || other.1.binary_search(slot).is_ok();
        one.1.iter().any(is_used)
    }

    /// The slots that an event reads and writes. A multiset is all of its slots.
    fn slots(&mut self, event: usize) -> Rc<Slots> {
        if let Some(known) = self.slots.get(&event) {
            return known.clone();
        }
        let slots = Rc::new(self.composer.slots(&self.events[event]));
        self.slots.insert(event, slots.clone());
        slots
    }

    /// Whether an event may change when another one goes wrong, is dropped or reaches cover statements.
    pub(super) fn changes_findings(&mut self, event: usize, other: usize) -> bool {
        let (one, other) = (&self.events[event], &self.events[other]);
        let covers = other.covers.iter().map(|&(_, condition)| condition);
        [other.fault, other.dropped].into_iter().chain(covers).any(|root| self.composer.touches(one, root))
    }

    /// Whether an event writes one of many values to a slot of a condition.
    fn writes_many(&mut self, event: usize, condition: NodeId) -> bool {
        let support = self.composer.support(condition);
        let writes = &self.events[event].writes;
        let is_many = |written: &Written| matches!(written, Written::Cases(cases) if cases.len() > MANY);
        writes.iter().any(|write| support.binary_search(&write.slot).is_ok() && is_many(&write.written))
    }

    /// Whether effects say nothing about an event and a condition.
    fn is_beyond(&mut self, event: usize, condition: NodeId) -> bool {
        let support = self.composer.support(condition);
        self.composer.changes_multisets(&self.events[event])
            || support.iter().any(|&slot| self.composer.is_in_multiset(slot) || self.composer.circuit.is_wide(slot))
    }

    /// Whether an event can make a condition true that was false, from states where it takes a step.
    pub(super) fn may_enable(&mut self, event: usize, steps: NodeId, condition: NodeId) -> bool {
        if !self.composer.touches(&self.events[event], condition) {
            return false;
        }
        if self.is_beyond(event, condition) {
            return true;
        }
        let known = self.known(steps);
        let support = self.composer.support(condition);
        if support.len() > LARGE
            && let Node::And(children) | Node::Or(children) = self.composer.circuit.node(condition)
        {
            // Whichever it is, one of its parts becomes true with it.
            let children = children.clone();
            return children.iter().any(|&child| self.may_enable(event, steps, child));
        }
        let answer = self.in_every_case(steps, known, ENABLING_CASES, &mut |this, case| {
            let mut is_kept = true;
            for &slot in support.iter() {
                let is_written = this.effect(event, slot).is_some();
                is_kept &= !is_written || this.after_one(event, slot, case)? == this.before(slot, case);
            }
            if is_kept {
                return Ok(true);
            }
            let contents = this.contents(&support, case, &mut |this, slot| Ok(this.before(slot, case)))?;
            let before = truth(this.composer.circuit, condition, &contents);
            if before == Truth::Holds {
                return Ok(true);
            }
            let after = this.truth_after(event, condition, case)?;
            match (before, after) {
                (_, Truth::Fails) => Ok(true),
                (Truth::Fails, Truth::Holds) => Ok(false),
                (_, Truth::Depends(Some(slot))) | (Truth::Depends(Some(slot)), _) => Err(Open::Split(slot)),
                _ => Err(Open::Undecided),
            }
        });
        // To enable a condition in doubt costs a little precision, to find out may cost much time.
        answer != Some(true)
    }

    /// Whether an event can make a condition false that was true, from states where it takes a step.
    pub(super) fn may_disable(&mut self, event: usize, steps: NodeId, condition: NodeId) -> bool {
        if !self.composer.touches(&self.events[event], condition) || self.exclude_each_other(steps, condition) {
            return false;
        }
        let both = self.composer.circuit.and([steps, condition]);
        let known = self.known(both);
        self.may_end(event, condition, both, &known)
    }

    /// Whether an event can make a condition false, from states where it takes a step and the condition holds.
    fn may_end(&mut self, event: usize, condition: NodeId, both: NodeId, known: &Rc<KnownValues>) -> bool {
        let parts = match self.composer.circuit.node(condition).clone() {
            Node::And(children) => children.to_vec(),
            _ => vec![condition],
        };
        parts.into_iter().any(|part| {
            if !self.composer.touches(&self.events[event], part) {
                return false;
            }
            if self.composer.support(part).len() > LARGE
                && let Node::Or(children) = self.composer.circuit.node(part)
            {
                // One of its parts becomes false with it.
                let children = children.clone();
                return children.iter().any(|&child| self.may_disable(event, both, child));
            }
            let answer = if self.is_beyond(event, part) {
                None
            } else {
                self.in_every_case(both, Rc::clone(known), CASES, &mut |this, case| match this
                    .truth_after(event, part, case)?
                {
                    Truth::Holds => Ok(true),
                    Truth::Fails => Ok(false),
                    Truth::Depends(Some(slot)) => Err(Open::Split(slot)),
                    Truth::Depends(None) => Err(Open::Undecided),
                })
            };
            match answer {
                Some(is_well) => !is_well,
                // To compose functions takes time that grows with the square of the number of values.
                None if self.writes_many(event, part) => true,
                None => self.composer.may_disable_given(&self.events[event], part, both),
            }
        })
    }

    /// Whether two events accord: wherever both take a step, each does so after the other, and both orders lead to the
    /// same state. The conditions are those under which they take a step.
    pub(super) fn accord(&mut self, first: (usize, NodeId), second: (usize, NodeId)) -> bool {
        self.accord_but_for(first, second, &FxHashSet::default())
    }

    /// The same, but some slots may have other values. What is written to them must not depend on the other event.
    pub(super) fn accord_but_for(
        &mut self,
        first: (usize, NodeId),
        second: (usize, NodeId),
        ignored: &FxHashSet<u32>,
    ) -> bool {
        if self.exclude_each_other(first.1, second.1) {
            return true;
        }
        let (one, other) = (&self.events[first.0], &self.events[second.0]);
        if self.composer.changes_multisets(one) || self.composer.changes_multisets(other) {
            return ignored.is_empty() && self.composer.accord((one, first.1), (other, second.1));
        }
        let both = self.composer.circuit.and([first.1, second.1]);
        if both == NodeId::FALSE {
            return true;
        }
        let known = self.known(both);
        if self.may_end(first.0, second.1, both, &known) || self.may_end(second.0, first.1, both, &known) {
            return self.composer.is_refuted(both);
        }
        let mut slots: Vec<u32> = Vec::new();
        for (event, other) in [(first.0, second.0), (second.0, first.0)] {
            let writes: Vec<u32> = self.events[event].writes.iter().map(|write| write.slot).collect();
            let others = &self.events[other].writes;
            let is_written = |slot: &u32| others.binary_search_by_key(slot, |write| write.slot).is_ok();
            for slot in writes {
                let effect = self.effect(event, slot).expect("it is written");
                if ignored.contains(&slot) {
                    if effect.reads.iter().any(|read| is_written(read) && !ignored.contains(read)) {
                        return false;
                    }
                    continue;
                }
                if is_written(&slot) || effect.reads.iter().any(is_written) {
                    slots.push(slot);
                }
            }
        }
        slots.sort_unstable();
        slots.dedup();
        let mut undecided = Vec::new();
        for slot in slots {
            let answer = self.in_every_case(both, Rc::clone(&known), CASES, &mut |this, case| {
                let one = this.after_both(first.0, second.0, slot, case)?;
                let other = this.after_both(second.0, first.0, slot, case)?;
                this.are_same(&one, &other, case)
            });
            match answer {
                Some(true) => {}
                Some(false) => return self.composer.is_refuted(both),
                None => undecided.push(slot),
            }
        }
        undecided.is_empty() || self.composer.same(one, other, &undecided, both) || self.composer.is_refuted(both)
    }
}
