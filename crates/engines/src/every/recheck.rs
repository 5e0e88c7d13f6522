//! An invariant checked again, by other code than the one that found it: the states for which the views stand are
//! enumerated in another way, the evaluator takes the steps instead of the reference interpreter, and all instances are
//! fired. In addition, all states of small members are visited and looked up.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use quotient_ir::{Action, Interpreter, Interrupt, PropertyId, RuleId, TableIndex, Valuation};
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

    /// Whether all views of a state are known.
    fn contains(&self, parts: &Parts) -> bool {
        let number = |row: &Vec<Value>| self.rows.get(&row[..]).copied();
        let Some(named) = parts.named.iter().map(number).collect::<Option<Vec<u32>>>() else { return false };
        let Some(&context) = self.contexts.get(&(&parts.shared[..], &named[..])) else { return false };
        let Some(mut others) = parts.others.iter().map(number).collect::<Option<Vec<u32>>>() else { return false };
        others.sort_unstable();
        self.all_views(context, &others) && !self.is_excluded(context, &others)
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
        // All increasing sequences of places, in lexicographic order.
        loop {
            let view: Vec<u32> = std::iter::once(context).chain(places.iter().map(|&place| others[place])).collect();
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

/// A member with its evaluator.
struct Stepper<'a> {
    member: &'a Member,
    system: &'a SpecialisedSystem<'a>,
    scratch: EvaluatorScratch,
    words: Vec<u64>,
}

impl<'a> Stepper<'a> {
    fn new(member: &'a Member, system: &'a SpecialisedSystem<'a>) -> Self {
        let words = vec![0; member.layout.words()];
        Self { member, system, scratch: system.scratch(), words }
    }

    /// What the rules lead to; `None` for what goes wrong.
    fn steps(&mut self, state: &Valuation, rules: &dyn Fn(RuleId) -> bool) -> Vec<(RuleId, Option<Parts>)> {
        self.member.layout.pack(state, &mut self.words);
        let (member, mut found) = (self.member, Vec::new());
        self.system.successors(&mut self.scratch, &self.words, |instance, event| {
            if let Action::Rule(rule) = instance.action
                && rules(rule)
            {
                match event {
                    Event::Next { state, .. } => {
                        found.push((rule, Some(member.parts(&member.layout.unpack(state)))));
                    }
                    Event::Fault(_) | Event::Wrong { .. } => found.push((rule, None)),
                    Event::Pruned | Event::Passed { .. } | Event::Idle => {}
                }
            }
            ControlFlow::Continue(())
        });
        found
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
        systems.iter().map(|(&count, system)| (count, Stepper::new(&members[&count], system))).collect();
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
            if beginning.contains(&parts.others.len()) && !known.contains(&parts) {
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
            judge(stepper, &state, &known, &rules, &properties)?;
        }
    }
    Ok(looked_at)
}

/// Checks the steps and properties of a state.
fn judge(
    stepper: &mut Stepper<'_>,
    state: &Valuation,
    known: &Known<'_>,
    rules: &dyn Fn(RuleId) -> bool,
    properties: &[PropertyId],
) -> Result<(), Unchecked> {
    let objects = stepper.member.count;
    for (rule, parts) in stepper.steps(state, rules) {
        let what = stepper.rule_name(rule);
        match parts {
            None => return Err(Unchecked::Contradicted(Contradiction::Wrong { objects, what })),
            Some(parts) if !known.contains(&parts) => {
                return Err(Unchecked::Contradicted(Contradiction::Left { objects, what }));
            }
            Some(_) => {}
        }
    }
    for &property in properties {
        if !stepper.holds(state, property) {
            let what = stepper.property_name(property);
            return Err(Unchecked::Contradicted(Contradiction::Wrong { objects, what }));
        }
    }
    Ok(())
}

/// Visits all states of a member, up to `most` of them, and checks that their views are known and that nothing is wrong
/// with them. Returns how many there are up to exchanges of objects, if that is all.
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
    let mut stepper = Stepper::new(member, &system);
    let properties: Vec<PropertyId> = needs.properties.iter().map(|(id, _)| *id).collect();
    let mut seen: FxHashSet<Parts> = FxHashSet::default();
    let mut pending: Vec<Parts> = Vec::new();
    let sorted = |mut parts: Parts| {
        parts.others.sort_unstable();
        parts
    };
    for start in stepper.starts() {
        let what = "an initial-state program".to_owned();
        let Some(parts) = start else {
            return Err(Unchecked::Contradicted(Contradiction::Wrong { objects: member.count, what }));
        };
        if !known.contains(&parts) {
            return Err(Unchecked::Contradicted(Contradiction::Left { objects: member.count, what }));
        }
        let parts = sorted(parts);
        if seen.insert(parts.clone()) {
            pending.push(parts);
        }
    }
    while let Some(parts) = pending.pop() {
        if interrupt.is_raised() {
            return Err(Unchecked::Interrupted);
        }
        if seen.len() > most {
            return Ok(None);
        }
        let state = member.state(&parts.shared, parts.named.iter().chain(&parts.others).map(|row| &row[..]));
        judge(&mut stepper, &state, &known, &|_| true, &properties)?;
        for (_, next) in stepper.steps(&state, &|_| true) {
            let next = sorted(next.expect("judged: nothing goes wrong"));
            if seen.insert(next.clone()) {
                pending.push(next);
            }
        }
    }
    Ok(Some(seen.len() as u64))
}
