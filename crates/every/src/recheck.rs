//! An invariant checked again, by other code than the one that found it: the states for which the views stand are
//! enumerated in another way, the evaluator takes the steps instead of the reference interpreter, and all instances are
//! fired. In addition, all states of small members are visited and looked up. This also tells whether a member has all views of
//! the invariant: then no larger one has others (a cut-off that is found; A. Kaiser, D. Kroening, T. Wahl: *Dynamic cutoff
//! detection in parameterized concurrent programs*, CAV 2010).

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range, RangeInclusive};

use quotient_ir::{Action, Budget, Interpreter, Layout, PropertyId, RuleId, SlotId, TableIndex, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

use super::family::{Member, Parts, Row};
use super::rows::{arrange, choices, contents, gap_of, in_gap, row_number, sizes_of_rows, sort_of};
use super::scope::{Scope, Selection};
use super::sizes::{MOST_SORTS, Sizes, Value, sizes_of};
use super::views::{Invariant, View};
use quotient_search::{Event, TransitionSystem};
use quotient_systems::{EvaluatorScratch, SpecialisedSystem};

/// What an invariant was found not to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A step leads to a view that does not belong to it.
    #[error("with {objects} objects, {what} leaves the views")]
    Left {
        /// How many objects there were.
        objects: Sizes,
        /// The step.
        what: String,
    },
    /// A state that it stands for is wrong.
    #[error("with {objects} objects, {what} goes wrong in a state that the views stand for")]
    Wrong {
        /// How many objects there were.
        objects: Sizes,
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

/// Whether the views of an invariant occur is only noted if there are at most so many.
const MOST_NOTED: usize = 1_000_000;

/// The views of an invariant, by their contents.
struct Known<'a> {
    scope: &'a Scope,
    invariant: &'a Invariant,
    /// Whether states may have too few objects for a view.
    may_be_few: bool,
    rows: [FxHashMap<&'a [Value], u32>; MOST_SORTS],
    contexts: FxHashMap<(&'a [Value], &'a [u32]), u32>,
    /// The views, and what is left of them without the objects of the last type.
    beginnings: FxHashSet<&'a [u32]>,
    /// The other objects of the excluded parts, by context.
    excluded: FxHashMap<u32, Vec<&'a [u32]>>,
}

impl<'a> Known<'a> {
    fn new(scope: &'a Scope, invariant: &'a Invariant) -> Self {
        let rows = std::array::from_fn(|sort| {
            let numbered = invariant.rows[sort].iter().enumerate();
            numbered.map(|(place, row)| (&row[..], row_number(sort, place))).collect()
        });
        let contexts = invariant.contexts.iter().zip(0..);
        let contexts = contexts.map(|((shared, named), number)| ((&shared[..], &named[..]), number)).collect();
        let mut beginnings: FxHashSet<&[u32]> = FxHashSet::default();
        for view in &invariant.views {
            for sort in 0..MOST_SORTS {
                let others = view[1..].iter().filter(|&&row| sort_of(row) <= sort).count();
                beginnings.insert(&view[..=others]);
            }
        }
        let mut excluded: FxHashMap<u32, Vec<&[u32]>> = FxHashMap::default();
        for part in &invariant.excluded {
            excluded.entry(part[0]).or_default().push(&part[1..]);
        }
        Self { scope, invariant, may_be_few: false, rows, contexts, beginnings, excluded }
    }

    /// The number of views, less those that contain an excluded part.
    fn views(&self) -> usize {
        if self.excluded.is_empty() {
            return self.invariant.views.len();
        }
        self.invariant.views.iter().filter(|view| !self.is_excluded(view[0], &view[1..])).count()
    }

    fn number(&self, (sort, row): &Row) -> Option<u32> {
        self.rows[*sort].get(&row[..]).copied()
    }

    /// How many objects of each type a context names.
    fn named(&self, context: u32) -> Sizes {
        sizes_of_rows(&self.invariant.contexts[context as usize].1)
    }

    /// The numbers of a state: its context, then its other objects, arranged. None if it holds what is not known.
    fn numbers(&self, parts: &Parts) -> Option<Vec<u32>> {
        let named = parts.named.iter().map(|row| self.number(row)).collect::<Option<Vec<u32>>>()?;
        let context = *self.contexts.get(&(&parts.shared[..], &named[..]))?;
        let mut numbers = vec![context];
        for (gap, row) in &parts.others {
            numbers.push(in_gap(self.number(row)?, *gap));
        }
        arrange(&mut numbers[1..], self.scope.objects.is_ordered());
        Some(numbers)
    }

    /// Whether a state belongs to the invariant.
    fn contains(&self, numbers: &[u32]) -> bool {
        let (context, others) = (numbers[0], &numbers[1..]);
        self.all_views(context, others, MOST_SORTS) && !self.is_excluded(context, others)
    }

    /// Whether a state contains an excluded part: each row of the part at least as often as the part has it.
    fn is_excluded(&self, context: u32, others: &[u32]) -> bool {
        let times = |rows: &[u32], wanted: u32| rows.iter().filter(|row| **row == wanted).count();
        let parts = self.excluded.get(&context).map_or(&[][..], |parts| parts);
        parts.iter().any(|part| part.iter().all(|&row| times(part, row) <= times(others, row)))
    }

    /// Whether all views of a state are known, as far as the first types of objects show.
    fn all_views(&self, context: u32, others: &[u32], sorts: usize) -> bool {
        let kept = self.scope.kept(self.invariant.kept, self.named(context));
        self.all_beginnings(others, kept, 0..sorts, &mut vec![context])
    }

    /// Whether a part of a state, to which objects of the last type that it has are added, may belong to the invariant.
    fn may_occur(&self, context: u32, part: &[u32]) -> bool {
        let Some(&last) = part.last() else { return true };
        let kept = self.scope.kept(self.invariant.kept, self.named(context));
        let sort = sort_of(last);
        let present = sizes_of_rows(part);
        present[sort] < kept[sort] || self.all_views(context, part, sort + 1)
    }

    /// Whether everything is known that continues a view by rows of some types.
    fn all_beginnings(&self, others: &[u32], kept: Sizes, mut sorts: Range<usize>, view: &mut Vec<u32>) -> bool {
        let Some(sort) = sorts.next() else { return self.beginnings.contains(&view[..]) };
        let own: Vec<u32> = others.iter().copied().filter(|&row| sort_of(row) == sort).collect();
        let (kept_of_sort, length) = (kept[sort], view.len());
        if own.len() < kept_of_sort {
            return self.may_be_few;
        }
        let mut places: Vec<usize> = (0..kept_of_sort).collect();
        // All increasing sequences of places, in lexicographic order.
        loop {
            view.extend(places.iter().map(|&place| own[place]));
            let is_known = self.all_beginnings(others, kept, sorts.clone(), view);
            view.truncate(length);
            if !is_known {
                return false;
            }
            let may_turn = |turn: &usize| places[*turn] < own.len() - kept_of_sort + turn;
            let Some(turn) = (0..kept_of_sort).rev().find(may_turn) else {
                return true;
            };
            places[turn] += 1;
            for later in turn + 1..kept_of_sort {
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
    row_numbers: [FxHashMap<u128, Option<u32>>; MOST_SORTS],
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
            row_numbers: Default::default(),
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
            let number = self.row_numbers[member.sort(object)]
                .entry(key)
                .or_insert_with(|| known.number(&member.row(&member.layout.unpack(words), object)));
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
        self.numbers.extend(others.map(|(object, &row)| in_gap(row, member.gap(names, object))));
        arrange(&mut self.numbers[1..], member.is_ordered);
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
        self.system.successors(&mut self.scratch, &self.words, &mut |instance, event| match (instance.action, event) {
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
        self.system.evaluate(&mut self.scratch, property, &self.words, &mut |_, value| {
            holds &= value == Ok(true);
            ControlFlow::Continue(())
        });
        holds
    }

    fn starts(&mut self) -> Vec<Option<Parts>> {
        let (member, mut found) = (self.member, Vec::new());
        self.system.starts(&mut self.scratch, &mut |_, event| {
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
pub(super) fn recheck(selection: &Selection, invariant: &Invariant, budget: &Budget) -> Result<u64, Unchecked> {
    let Selection { members, scope } = selection;
    let known = Known::new(scope, invariant);
    let kept = invariant.kept;
    let interpreters: BTreeMap<Sizes, Interpreter<'_>> =
        members.iter().map(|(&counts, member)| (counts, Interpreter::new(&member.model, &member.layout))).collect();
    let systems: BTreeMap<Sizes, SpecialisedSystem<'_>> =
        interpreters.iter().map(|(&counts, interpreter)| (counts, SpecialisedSystem::new(interpreter))).collect();
    let mut steppers: BTreeMap<Sizes, Stepper<'_>> =
        systems.iter().map(|(&counts, system)| (counts, Stepper::new(&members[&counts], system, &known))).collect();
    let mut looked_at = 0;
    // Whether a state belongs to the invariant is decided by so many other objects. States with fewer are looked at, too.
    let widths = kept..=invariant.width();
    for (&objects, stepper) in &mut steppers {
        for start in stepper.starts() {
            let what = || "an initial-state program".to_owned();
            let Some(parts) = start else {
                return Err(Unchecked::Contradicted(Contradiction::Wrong { objects, what: what() }));
            };
            let named = sizes_of(parts.named.iter().map(|(sort, _)| *sort));
            let is_asked = widths.clone().any(|width| scope.counts(named, scope.of_starts(width)) == objects);
            let is_known = || known.numbers(&parts).is_some_and(|numbers| known.contains(&numbers));
            if is_asked && !is_known() {
                return Err(Unchecked::Contradicted(Contradiction::Left { objects, what: what() }));
            }
        }
    }
    let mut of_context: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for view in &invariant.views {
        of_context.entry(view[0]).or_default().extend_from_slice(&view[1..]);
    }
    for (context, mut rows) in of_context {
        rows.sort_unstable();
        rows.dedup();
        let (shared, names) = &invariant.contexts[context as usize];
        let named = known.named(context);
        if known.is_excluded(context, &[]) {
            continue;
        }
        for (counts, (rules, properties)) in asked(scope, named, widths.clone()) {
            let stepper = steppers.get_mut(&counts).expect("there is a member of every size needed");
            let others = counts - named;
            // Depth first, over sequences that do not decrease, or in which only gaps do not if there is an order; each is cut off
            // at its first unknown view or excluded part.
            let mut pending: Vec<Vec<u32>> = vec![Vec::new()];
            while let Some(part) = pending.pop() {
                if budget.spend(1).is_err() {
                    return Err(Unchecked::Interrupted);
                }
                let present = sizes_of_rows(&part);
                if known.is_excluded(context, &part) || !known.may_occur(context, &part) {
                    continue;
                }
                if let Some(sort) = (0..MOST_SORTS).find(|&sort| present[sort] < others[sort]) {
                    let last = part.last().copied().unwrap_or(0);
                    let may_follow = |row: u32| match scope.objects.is_ordered() {
                        true => gap_of(row) >= gap_of(last),
                        false => row >= last,
                    };
                    let next = rows.iter().filter(|&&row| sort_of(row) == sort && may_follow(row));
                    pending.extend(next.map(|&row| [&part[..], &[row]].concat()));
                    continue;
                }
                looked_at += 1;
                let state = stepper.member.state(shared, names, &part, |row| contents(&invariant.rows, row));
                judge(stepper, &state, &known, &|rule| rules.contains(&rule), &properties, &mut |_| {})?;
            }
        }
    }
    Ok(looked_at)
}

/// The rules and properties to be looked at.
type Asked = (Vec<RuleId>, Vec<PropertyId>);

/// What is to be looked at in states of which sizes.
fn asked(scope: &Scope, named: Sizes, widths: RangeInclusive<usize>) -> BTreeMap<Sizes, Asked> {
    let mut asked: BTreeMap<Sizes, Asked> = BTreeMap::new();
    for &(property, need) in &scope.needs.properties {
        let counts = scope.counts(named, scope.of_property(need, *widths.start()));
        asked.entry(counts).or_default().1.push(property);
    }
    for width in widths {
        for rule in scope.needs.rules.indices() {
            let (rules, _) = asked.entry(scope.counts(named, scope.of_rule(rule, width))).or_default();
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    asked
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
    let objects = stepper.member.counts;
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

/// What all states of a member show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// How many there are up to exchanges of objects.
    pub states: u64,
    /// Whether each view of the invariant is a view of one of them. Then they have all views that occur in any member that
    /// the invariant is about.
    pub has_all_views: bool,
}

/// Visits all states of a member that an invariant is about, up to `most` of them, and checks that they belong to it and that
/// nothing is wrong with them. Returns what they show, if these are all.
///
/// # Errors
/// If that is not so, or it was interrupted.
pub(super) fn compare(
    member: &Member,
    scope: &Scope,
    invariant: &Invariant,
    most: usize,
    budget: &Budget,
) -> Result<Option<Compared>, Unchecked> {
    visit(member, &Known::new(scope, invariant), most, budget)
}

/// Visits all states of a member that an invariant need not be about, up to `most` of them. Returns what they show, if these are
/// all, and nothing occurs in them that does not belong to the invariant.
pub(super) fn compare_smaller(
    member: &Member,
    scope: &Scope,
    invariant: &Invariant,
    most: usize,
    budget: &Budget,
) -> Option<Compared> {
    let known = Known { may_be_few: true, ..Known::new(scope, invariant) };
    visit(member, &known, most, budget).ok().flatten()
}

fn visit(member: &Member, known: &Known<'_>, most: usize, budget: &Budget) -> Result<Option<Compared>, Unchecked> {
    let (scope, invariant) = (known.scope, known.invariant);
    let interpreter = Interpreter::new(&member.model, &member.layout);
    let system = SpecialisedSystem::new(&interpreter);
    let mut stepper = Stepper::new(member, &system, known);
    let properties: Vec<PropertyId> = scope.needs.properties.iter().map(|(id, _)| *id).collect();
    let wanted = known.views();
    let mut found: FxHashSet<View> = FxHashSet::default();
    let mut note = |numbers: &[u32]| {
        if wanted > MOST_NOTED || found.len() == wanted {
            return;
        }
        let kept = scope.kept(invariant.kept, known.named(numbers[0]));
        choices(&numbers[1..], kept, &mut vec![numbers[0]], &mut |view| {
            if !found.contains(view) {
                found.insert(view.into());
            }
        });
    };
    let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
    let mut pending: Vec<Box<[u32]>> = Vec::new();
    for start in stepper.starts() {
        let what = "an initial-state program".to_owned();
        let Some(parts) = start else {
            return Err(Unchecked::Contradicted(Contradiction::Wrong { objects: member.counts, what }));
        };
        let numbers = known.numbers(&parts).filter(|numbers| known.contains(numbers));
        let Some(numbers) = numbers else {
            return Err(Unchecked::Contradicted(Contradiction::Left { objects: member.counts, what }));
        };
        if seen.insert(numbers[..].into()) {
            pending.push(numbers.into());
        }
    }
    while let Some(numbers) = pending.pop() {
        if budget.spend(1).is_err() {
            return Err(Unchecked::Interrupted);
        }
        if seen.len() > most {
            return Ok(None);
        }
        note(&numbers);
        let (shared, named) = &invariant.contexts[numbers[0] as usize];
        let state = member.state(shared, named, &numbers[1..], |row| contents(&invariant.rows, row));
        judge(&mut stepper, &state, known, &|_| true, &properties, &mut |next| {
            if !seen.contains(next) {
                seen.insert(next.into());
                pending.push(next.into());
            }
        })?;
    }
    Ok(Some(Compared { states: seen.len() as u64, has_all_views: found.len() == wanted && wanted <= MOST_NOTED }))
}
