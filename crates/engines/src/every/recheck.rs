//! An invariant checked again, by other code than the one that found it: the states for which the views stand are
//! enumerated in another way, the evaluator takes the steps instead of the reference interpreter, and all instances are
//! fired. In addition, all states of small members are visited and looked up.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use quotient_ir::{Action, Interpreter, Interrupt, Layout, PropertyId, RuleId, SlotId, TableIndex, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

use super::classification::Needs;
use super::family::{Member, Parts, Value};
use super::views::{Invariant, Members};
use crate::seam::{Event, TransitionSystem};
use crate::systems::evaluator::{EvaluatorScratch, SpecialisedSystem};

/// What an invariant was found not to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A step leads to a view that does not belong to it.
    #[error("with {objects} objects, {what} leaves the views")]
    Left {
        /// How many objects there were.
        objects: usize,
        /// The step.
        what: String,
    },
    /// A state that it stands for is wrong.
    #[error("with {objects} objects, {what} goes wrong in a state that the views stand for")]
    Wrong {
        /// How many objects there were.
        objects: usize,
        /// The step or property.
        what: String,
    },
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// It is not an invariant.
    Contradicted(Contradiction),
    /// It was interrupted.
    Interrupted,
}

/// The views of an invariant, by their contents.
struct Known<'a> {
    invariant: &'a Invariant,
    rows: FxHashMap<&'a [Value], u32>,
    contexts: FxHashMap<(&'a [Value], &'a [u32]), u32>,
    views: FxHashSet<&'a [u32]>,
    /// The other objects of the excluded parts, by context.
    excluded: FxHashMap<u32, Vec<&'a [u32]>>,
}

impl<'a> Known<'a> {
    fn new(invariant: &'a Invariant) -> Self {
        let rows = invariant.rows.iter().zip(0..).map(|(row, number)| (&row[..], number)).collect();
        let contexts = invariant.contexts.iter().zip(0..);
        let contexts = contexts.map(|((shared, named), number)| ((&shared[..], &named[..]), number)).collect();
        let mut excluded: FxHashMap<u32, Vec<&[u32]>> = FxHashMap::default();
        for part in &invariant.excluded {
            excluded.entry(part[0]).or_default().push(&part[1..]);
        }
        Self { invariant, rows, contexts, views: invariant.views.iter().map(|view| &view[..]).collect(), excluded }
    }

    /// The numbers of a state: its context, then its other objects, sorted. None if it holds what is not known.
    fn numbers(&self, parts: &Parts) -> Option<Vec<u32>> {
        let number = |row: &Vec<Value>| self.rows.get(&row[..]).copied();
        let named = parts.named.iter().map(number).collect::<Option<Vec<u32>>>()?;
        let context = *self.contexts.get(&(&parts.shared[..], &named[..]))?;
        let mut numbers = vec![context];
        for row in &parts.others {
            numbers.push(number(row)?);
        }
        numbers[1..].sort_unstable();
        Some(numbers)
    }

    /// Whether a state belongs to the invariant.
    fn contains(&self, numbers: &[u32]) -> bool {
        let (context, others) = (numbers[0], &numbers[1..]);
        self.all_views(context, others) && !self.is_excluded(context, others)
    }

    /// Whether a state contains an excluded part: each row of the part at least as often as the part has it.
    fn is_excluded(&self, context: u32, others: &[u32]) -> bool {
        let times = |rows: &[u32], wanted: u32| rows.iter().filter(|row| **row == wanted).count();
        let parts = self.excluded.get(&context).map_or(&[][..], |parts| parts);
        parts.iter().any(|part| part.iter().all(|&row| times(part, row) <= times(others, row)))
    }

    fn all_views(&self, context: u32, others: &[u32]) -> bool {
        let kept = self.invariant.kept;
        let mut places: Vec<usize> = (0..kept).collect();
        if others.len() < kept {
            return false;
        }
        let mut view = Vec::with_capacity(kept + 1);
        // All increasing sequences of places, in lexicographic order.
        loop {
            view.clear();
            view.push(context);
            view.extend(places.iter().map(|&place| others[place]));
            if !self.views.contains(&view[..]) {
                return false;
            }
            let Some(turn) = (0..kept).rev().find(|&turn| places[turn] < others.len() - kept + turn) else {
                return true;
            };
            places[turn] += 1;
            for later in turn + 1..kept {
                places[later] = places[later - 1] + 1;
            }
        }
    }
}

/// A slot of a packed state: its word, its lowest bit there, and as many ones as it has bits.
#[derive(Clone, Copy)]
struct Bits {
    word: usize,
    shift: u32,
    mask: u64,
    width: u32,
}

impl Bits {
    fn of(layout: &Layout, slot: SlotId) -> Option<Self> {
        let slot = &layout.slots[slot];
        let mask = u64::MAX.checked_shr(64 - slot.width)?;
        Some(Self { word: slot.bit as usize / 64, shift: slot.bit % 64, mask, width: slot.width })
    }
}

/// Finds the numbers of packed states. What was found for the bits of an object, or of what is shared, is kept.
struct Reader<'a> {
    member: &'a Member,
    known: &'a Known<'a>,
    /// The slots of each object, if these have few bits.
    rows: Option<Vec<Vec<Bits>>>,
    /// The bits of what is shared.
    shared: Vec<u64>,
    row_numbers: FxHashMap<u128, Option<u32>>,
    /// The objects that are named, and a number, by what is shared.
    names: FxHashMap<Box<[u64]>, (Vec<usize>, u32)>,
    /// Contexts by that number and the rows of the named objects.
    contexts: FxHashMap<Box<[u32]>, Option<u32>>,
    /// Space for what is looked up.
    masked: Vec<u64>,
    of_objects: Vec<u32>,
    named: Vec<u32>,
    numbers: Vec<u32>,
}

impl<'a> Reader<'a> {
    fn new(member: &'a Member, known: &'a Known<'a>) -> Self {
        let layout = &member.layout;
        let bits =
            |slots: &Vec<SlotId>| -> Vec<Bits> { slots.iter().filter_map(|&slot| Bits::of(layout, slot)).collect() };
        let rows: Vec<Vec<Bits>> = member.rows.iter().map(bits).collect();
        let is_narrow = rows.iter().all(|row| row.iter().map(|bits| bits.width).sum::<u32>() <= 128);
        let mut shared = vec![0; layout.words()];
        for bits in bits(&member.shared) {
            shared[bits.word] |= bits.mask << bits.shift;
        }
        Self {
            member,
            known,
            rows: is_narrow.then_some(rows),
            shared,
            row_numbers: FxHashMap::default(),
            names: FxHashMap::default(),
            contexts: FxHashMap::default(),
            masked: Vec::new(),
            of_objects: Vec::new(),
            named: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// The numbers of a packed state, if it holds nothing unknown.
    fn numbers(&mut self, words: &[u64]) -> Option<&[u32]> {
        let (member, known) = (self.member, self.known);
        let Some(rows) = &self.rows else {
            self.numbers = known.numbers(&member.parts(&member.layout.unpack(words)))?;
            return Some(&self.numbers);
        };
        self.of_objects.clear();
        for (object, slots) in rows.iter().enumerate() {
            let key = slots
                .iter()
                .fold(0u128, |key, bits| key << bits.width | u128::from(words[bits.word] >> bits.shift & bits.mask));
            let number = self
                .row_numbers
                .entry(key)
                .or_insert_with(|| known.rows.get(&member.row(&member.layout.unpack(words), object)[..]).copied());
            self.of_objects.push((*number)?);
        }
        self.masked.clear();
        self.masked.extend(words.iter().zip(&self.shared).map(|(word, mask)| word & mask));
        if !self.names.contains_key(&self.masked[..]) {
            let (_, names) = member.shared(&member.layout.unpack(words));
            let number = u32::try_from(self.names.len()).expect("memory ends first");
            self.names.insert(self.masked[..].into(), (names, number));
        }
        let (names, shared) = &self.names[&self.masked[..]];
        self.named.clear();
        self.named.push(*shared);
        self.named.extend(names.iter().map(|&object| self.of_objects[object]));
        if !self.contexts.contains_key(&self.named[..]) {
            let (shared, _) = member.shared(&member.layout.unpack(words));
            let context = known.contexts.get(&(&shared[..], &self.named[1..])).copied();
            self.contexts.insert(self.named[..].into(), context);
        }
        let context = self.contexts[&self.named[..]]?;
        self.numbers.clear();
        self.numbers.push(context);
        let others = self.of_objects.iter().enumerate().filter(|(object, _)| !names.contains(object));
        self.numbers.extend(others.map(|(_, &row)| row));
        self.numbers[1..].sort_unstable();
        Some(&self.numbers)
    }
}

/// A member with its evaluator.
struct Stepper<'a> {
    member: &'a Member,
    system: &'a SpecialisedSystem<'a>,
    scratch: EvaluatorScratch,
    words: Vec<u64>,
    reader: Reader<'a>,
}

/// What a step leads to.
enum Found<'s> {
    /// Something went wrong.
    Wrong,
    /// A state with something that is not known.
    Unknown,
    /// The numbers of a state.
    State(&'s [u32]),
}

impl<'a> Stepper<'a> {
    fn new(member: &'a Member, system: &'a SpecialisedSystem<'a>, known: &'a Known<'a>) -> Self {
        let words = vec![0; member.layout.words()];
        Self { member, system, scratch: system.scratch(), words, reader: Reader::new(member, known) }
    }

    /// Calls `visit` with what the rules lead to, until it breaks.
    fn steps(
        &mut self,
        state: &Valuation,
        rules: &dyn Fn(RuleId) -> bool,
        visit: &mut dyn FnMut(RuleId, Found<'_>) -> ControlFlow<()>,
    ) {
        self.member.layout.pack(state, &mut self.words);
        let reader = &mut self.reader;
        self.system.successors(&mut self.scratch, &self.words, |instance, event| match (instance.action, event) {
            (Action::Rule(rule), event) if rules(rule) => match event {
                Event::Next { state, .. } => match reader.numbers(state) {
                    Some(numbers) => visit(rule, Found::State(numbers)),
                    None => visit(rule, Found::Unknown),
                },
                Event::Fault(_) | Event::Wrong { .. } => visit(rule, Found::Wrong),
                Event::Pruned | Event::Passed { .. } | Event::Idle => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        });
    }

    fn holds(&mut self, state: &Valuation, property: PropertyId) -> bool {
        self.member.layout.pack(state, &mut self.words);
        let mut holds = true;
        self.system.evaluate(&mut self.scratch, property, &self.words, |_, value| {
            holds &= value == Ok(true);
            ControlFlow::Continue(())
        });
        holds
    }

    fn starts(&mut self) -> Vec<Option<Parts>> {
        let (member, mut found) = (self.member, Vec::new());
        self.system.starts(&mut self.scratch, |_, event| {
            match event {
                Event::Next { state, .. } => found.push(Some(member.parts(&member.layout.unpack(state)))),
                Event::Fault(_) | Event::Wrong { .. } => found.push(None),
                Event::Pruned | Event::Passed { .. } | Event::Idle => {}
            }
            ControlFlow::Continue(())
        });
        found
    }

    fn rule_name(&self, rule: RuleId) -> String {
        let name = self.member.model.rules[rule].name.as_deref();
        name.map_or_else(|| format!("rule {}", rule.position() + 1), |name| format!("`{name}`"))
    }

    fn property_name(&self, property: PropertyId) -> String {
        let name = self.member.model.properties[property].name.as_deref();
        name.map_or_else(|| "an invariant".to_owned(), |name| format!("`{name}`"))
    }
}

/// Checks that an invariant contains the views of the initial states, that no step leaves it, and that nothing that it
/// stands for is wrong. Returns how many states were looked at.
///
/// # Errors
/// If that is not so, or it was interrupted.
pub fn recheck(
    members: &Members,
    needs: &Needs,
    invariant: &Invariant,
    interrupt: &Interrupt,
) -> Result<u64, Unchecked> {
    let known = Known::new(invariant);
    let kept = invariant.kept;
    let interpreters: BTreeMap<usize, Interpreter<'_>> =
        members.iter().map(|(&count, member)| (count, Interpreter::new(&member.model, &member.layout))).collect();
    let systems: BTreeMap<usize, SpecialisedSystem<'_>> =
        interpreters.iter().map(|(&count, interpreter)| (count, SpecialisedSystem::new(interpreter))).collect();
    let mut steppers: BTreeMap<usize, Stepper<'_>> =
        systems.iter().map(|(&count, system)| (count, Stepper::new(&members[&count], system, &known))).collect();
    let mut looked_at = 0;
    // Whether a state belongs to the invariant is decided by so many other objects. States with fewer are looked at, too.
    let width = invariant.width();
    let beginning = needs.of_starts(kept)..=needs.of_starts(width);
    for (&count, stepper) in &mut steppers {
        for start in stepper.starts() {
            let what = || "an initial-state program".to_owned();
            let Some(parts) = start else {
                return Err(Unchecked::Contradicted(Contradiction::Wrong { objects: count, what: what() }));
            };
            let is_known = || known.numbers(&parts).is_some_and(|numbers| known.contains(&numbers));
            if beginning.contains(&parts.others.len()) && !is_known() {
                return Err(Unchecked::Contradicted(Contradiction::Left { objects: count, what: what() }));
            }
        }
    }
    let of_rules = needs.rules.indices().map(|rule| needs.of_rule(rule, width));
    let of_properties = needs.properties.iter().map(|(_, need)| needs.of_property(*need, kept));
    let largest = of_rules.chain(of_properties).max().unwrap_or(kept);
    let mut of_context: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for view in &invariant.views {
        of_context.entry(view[0]).or_default().extend_from_slice(&view[1..]);
    }
    for (context, mut rows) in of_context {
        rows.sort_unstable();
        rows.dedup();
        let (shared, named) = &invariant.contexts[context as usize];
        // Depth first, over sequences that do not decrease; each is cut off at its first unknown view or excluded part.
        let mut pending: Vec<Vec<u32>> = rows.iter().map(|&row| vec![row]).collect();
        if known.is_excluded(context, &[]) {
            continue;
        }
        while let Some(others) = pending.pop() {
            if interrupt.is_raised() {
                return Err(Unchecked::Interrupted);
            }
            let size = others.len();
            if size >= kept && !known.all_views(context, &others) || known.is_excluded(context, &others) {
                continue;
            }
            if size < largest {
                let last = others[size - 1];
                pending.extend(rows.iter().filter(|row| **row >= last).map(|&row| {
                    let mut longer = others.clone();
                    longer.push(row);
                    longer
                }));
            }
            let rules = |rule: RuleId| (needs.of_rule(rule, kept)..=needs.of_rule(rule, width)).contains(&size);
            let properties: Vec<PropertyId> = needs
                .properties
                .iter()
                .filter(|(_, need)| needs.of_property(*need, kept) == size)
                .map(|(id, _)| *id)
                .collect();
            if properties.is_empty() && !needs.rules.indices().any(rules) {
                continue;
            }
            looked_at += 1;
            let stepper = steppers.get_mut(&(named.len() + size)).expect("there is a member of every size needed");
            let contents = named.iter().chain(&others).map(|&row| &invariant.rows[row as usize][..]);
            let state = stepper.member.state(shared, contents);
            judge(stepper, &state, &known, &rules, &properties, &mut |_| {})?;
        }
    }
    Ok(looked_at)
}

/// Checks the steps and properties of a state. Calls `visit` with the numbers of what the steps lead to.
fn judge(
    stepper: &mut Stepper<'_>,
    state: &Valuation,
    known: &Known<'_>,
    rules: &dyn Fn(RuleId) -> bool,
    properties: &[PropertyId],
    visit: &mut dyn FnMut(&[u32]),
) -> Result<(), Unchecked> {
    let objects = stepper.member.count;
    let mut contradicted: Option<(RuleId, bool)> = None;
    stepper.steps(state, rules, &mut |rule, found| {
        contradicted = match found {
            Found::Wrong => Some((rule, true)),
            Found::State(numbers) if known.contains(numbers) => {
                visit(numbers);
                return ControlFlow::Continue(());
            }
            Found::Unknown | Found::State(_) => Some((rule, false)),
        };
        ControlFlow::Break(())
    });
    if let Some((rule, is_wrong)) = contradicted {
        let what = stepper.rule_name(rule);
        let wrong = Contradiction::Wrong { objects, what: what.clone() };
        let left = Contradiction::Left { objects, what };
        return Err(Unchecked::Contradicted(if is_wrong { wrong } else { left }));
    }
    for &property in properties {
        if !stepper.holds(state, property) {
            let what = stepper.property_name(property);
            return Err(Unchecked::Contradicted(Contradiction::Wrong { objects, what }));
        }
    }
    Ok(())
}

/// Visits all states of a member, up to `most` of them, and checks that they belong to the invariant and that nothing is
/// wrong with them. Returns how many there are up to exchanges of objects, if that is all.
///
/// # Errors
/// If that is not so, or it was interrupted.
pub fn compare(
    member: &Member,
    needs: &Needs,
    invariant: &Invariant,
    most: usize,
    interrupt: &Interrupt,
) -> Result<Option<u64>, Unchecked> {
    let known = Known::new(invariant);
    let interpreter = Interpreter::new(&member.model, &member.layout);
    let system = SpecialisedSystem::new(&interpreter);
    let mut stepper = Stepper::new(member, &system, &known);
    let properties: Vec<PropertyId> = needs.properties.iter().map(|(id, _)| *id).collect();
    let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
    let mut pending: Vec<Box<[u32]>> = Vec::new();
    for start in stepper.starts() {
        let what = "an initial-state program".to_owned();
        let Some(parts) = start else {
            return Err(Unchecked::Contradicted(Contradiction::Wrong { objects: member.count, what }));
        };
        let numbers = known.numbers(&parts).filter(|numbers| known.contains(numbers));
        let Some(numbers) = numbers else {
            return Err(Unchecked::Contradicted(Contradiction::Left { objects: member.count, what }));
        };
        if seen.insert(numbers[..].into()) {
            pending.push(numbers.into());
        }
    }
    while let Some(numbers) = pending.pop() {
        if interrupt.is_raised() {
            return Err(Unchecked::Interrupted);
        }
        if seen.len() > most {
            return Ok(None);
        }
        let (shared, named) = &invariant.contexts[numbers[0] as usize];
        let rows = named.iter().chain(&numbers[1..]).map(|&row| &invariant.rows[row as usize][..]);
        let state = member.state(shared, rows);
        judge(&mut stepper, &state, &known, &|_| true, &properties, &mut |next| {
            if !seen.contains(next) {
                seen.insert(next.into());
                pending.push(next.into());
            }
        })?;
    }
    Ok(Some(seen.len() as u64))
}
