//! The full encoding of a model as a graph, after Zhang et al. 2013, section IV: a vertex for each variable, each
//! literal, and each allowed tuple of the relation between the states before and after a rule. It is an oracle for the
//! compact graph of detection and shares nothing with it: the tables are filled by the reference interpreter. It grows
//! with the tables, so it is meant for models whose rules involve few slots.
//!
//! The relation of a rule is over the relevant slots: those whose value makes a difference, and those it can change.
//! Rules with the same relation are represented once.

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_groups::{GraphBuilder, Point, SparsePermutation, generators};
use quotient_ir::{
    FaultKind, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, RuleId, SlotId, Valuation,
};
use quotient_symmetry::Literals;

/// Why there is no full encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFullEncoding {
    /// A table would be too large.
    #[error("a table has too many rows")]
    TooLarge,
    /// The elements of multisets have no literals of their own.
    #[error("multisets have no tables")]
    Multiset,
    /// Instances of an assumption that can cause a run-time error are not independent.
    #[error("an assumption can go wrong")]
    Assumption,
    /// A variable has no possible value.
    #[error("there are no states")]
    NoStates,
    /// A run did not finish.
    #[error("a run does not end")]
    Endless,
}

/// The effect of a rule or property for one tuple of values, over its own slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Effect {
    Nothing,
    Fault,
    Holds,
    /// The values afterwards, and the cover statements reached.
    Next(Vec<Option<i64>>, Vec<PropertyId>),
}

/// What a relation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Subject {
    Rule,
    Property(PropertyId),
}

/// A relation: its slots, and the effect for each tuple of their values that has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Relation {
    subject: Subject,
    slots: Vec<SlotId>,
    rows: Vec<(Vec<Option<i64>>, Effect)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Colour {
    Slot,
    Literal,
    Undefined,
    Next,
    Start(Vec<PropertyId>),
    Relation(Subject),
    Fault,
    Holds,
    Step(Vec<PropertyId>),
}

/// Generators of the symmetries of a model and of some properties, computed from the full encoding: permutations of the
/// given literals. `limit` bounds the rows of a table and the number of initial states.
///
/// # Errors
/// If the model has no full encoding of that size.
pub fn full_symmetries(
    model: &Model,
    layout: &Layout,
    literals: &Literals,
    properties: &[PropertyId],
    limit: usize,
) -> Result<Vec<SparsePermutation>, NoFullEncoding> {
    if !layout.multisets().is_empty() {
        return Err(NoFullEncoding::Multiset);
    }
    if literals.slots().iter().any(|slot| slot.values.is_empty()) {
        return Err(NoFullEncoding::NoStates);
    }
    let tabulation = Tabulation { interpreter: Interpreter::new(model, layout), literals, limit };
    let mut relations: FxHashSet<Relation> = FxHashSet::default();
    let mut instances = 0;
    for (rule, entry) in model.rules.iter_enumerated() {
        for arguments in tabulation.interpreter.instances(&entry.parameters, &entry.locals) {
            instances += 1;
            if instances > limit {
                return Err(NoFullEncoding::TooLarge);
            }
            relations.insert(tabulation.rule_relation(rule, &arguments)?);
        }
    }
    for (property, entry) in model.properties.iter_enumerated() {
        let is_assumption = entry.kind == PropertyKind::Assumption;
        if entry.formula.condition().is_none() || entry.kind.is_claim() && !properties.contains(&property) {
            continue;
        }
        for arguments in tabulation.interpreter.instances(&entry.parameters, &entry.locals) {
            instances += 1;
            if instances > limit {
                return Err(NoFullEncoding::TooLarge);
            }
            let relation = tabulation.property_relation(property, &arguments)?;
            if is_assumption && relation.rows.iter().any(|(_, effect)| *effect == Effect::Fault) {
                return Err(NoFullEncoding::Assumption);
            }
            relations.insert(relation);
        }
    }
    let mut initial: FxHashSet<(Valuation, Vec<PropertyId>)> = FxHashSet::default();
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in tabulation.interpreter.instances(&entry.parameters, &entry.locals) {
            if let Outcome::Next { state, covered } = tabulation.interpreter.run_start(start, &arguments) {
                initial.insert((state, covered));
            }
            if initial.len() > limit {
                return Err(NoFullEncoding::TooLarge);
            }
        }
    }
    let mut relations: Vec<Relation> = relations.into_iter().collect();
    relations.sort();
    let mut initial: Vec<(Valuation, Vec<PropertyId>)> = initial.into_iter().collect();
    initial.sort_by(|one, other| one.0.0.cmp(&other.0.0).then_with(|| one.1.cmp(&other.1)));
    Ok(search(literals, &relations, &initial))
}

struct Tabulation<'m> {
    interpreter: Interpreter<'m>,
    literals: &'m Literals,
    limit: usize,
}

impl Tabulation<'_> {
    /// The relation of an instance of a rule.
    fn rule_relation(&self, rule: RuleId, arguments: &[i64]) -> Result<Relation, NoFullEncoding> {
        let interpreter = &self.interpreter;
        self.tabulate(Subject::Rule, |state| {
            let (enabled, mut footprint) = interpreter.enabled_with_footprint(rule, arguments, state);
            let mut touched = std::mem::take(&mut footprint.reads);
            let effect = match enabled {
                Err(fault) if fault.kind == FaultKind::Exhausted => return None,
                Err(_) => Run::Fault,
                Ok(false) => Run::Nothing,
                Ok(true) => {
                    let (outcome, footprint) = interpreter.fire_with_footprint(rule, arguments, state);
                    touched.extend(footprint.reads);
                    touched.extend(footprint.writes.iter().map(|&(slot, _)| slot));
                    match outcome {
                        Outcome::Next { state, covered } => Run::Next(state, covered),
                        Outcome::Pruned => Run::Nothing,
                        Outcome::Fault(fault) if fault.kind == FaultKind::Exhausted => return None,
                        Outcome::Fault(_) => Run::Fault,
                    }
                }
            };
            Some((effect, touched))
        })
    }

    /// The relation of an instance of a property.
    fn property_relation(&self, property: PropertyId, arguments: &[i64]) -> Result<Relation, NoFullEncoding> {
        let interpreter = &self.interpreter;
        let kind = interpreter.model().properties[property].kind;
        let only_holds = matches!(kind, PropertyKind::Invariant | PropertyKind::Passing | PropertyKind::Remark);
        self.tabulate(Subject::Property(property), |state| {
            let (holds, footprint) = interpreter.holds_with_footprint(property, arguments, state);
            let effect = match holds {
                Ok(true) => Run::Holds,
                Ok(false) => Run::Nothing,
                Err(fault) if fault.kind == FaultKind::Exhausted => return None,
                // A run-time error also violates an invariant, and a state with one is not transient.
                Err(_) if only_holds => Run::Nothing,
                Err(_) => Run::Fault,
            };
            Some((effect, footprint.reads))
        })
    }

    /// Runs an instance for all values of the slots it touches, which are found along the way.
    fn tabulate(
        &self,
        subject: Subject,
        run: impl Fn(&Valuation) -> Option<(Run, Vec<SlotId>)>,
    ) -> Result<Relation, NoFullEncoding> {
        let mut slots: Vec<SlotId> = Vec::new();
        'again: loop {
            let mut rows = Vec::new();
            for tuple in self.tuples(&slots)? {
                let mut state = Valuation(self.literals.slots().iter().map(|slot| slot.values[0]).collect());
                for (&slot, &value) in slots.iter().zip(&tuple) {
                    state[slot] = value;
                }
                let (effect, touched) = run(&state).ok_or(NoFullEncoding::Endless)?;
                let is_new =
                    |slot: &SlotId| slots.binary_search(slot).is_err() && self.literals.slots()[*slot].values.len() > 1;
                let more: Vec<SlotId> = touched.into_iter().filter(is_new).collect();
                if !more.is_empty() {
                    slots.extend(more);
                    slots.sort_unstable();
                    slots.dedup();
                    continue 'again;
                }
                let effect = match effect {
                    Run::Nothing => Effect::Nothing,
                    Run::Fault => Effect::Fault,
                    Run::Holds => Effect::Holds,
                    Run::Next(next, covered) => Effect::Next(slots.iter().map(|&slot| next[slot]).collect(), covered),
                };
                rows.push((tuple, effect));
            }
            return Ok(essential(subject, slots, rows));
        }
    }

    fn tuples(&self, slots: &[SlotId]) -> Result<Vec<Vec<Option<i64>>>, NoFullEncoding> {
        let mut tuples: Vec<Vec<Option<i64>>> = vec![Vec::new()];
        for &slot in slots {
            let entry = &self.literals.slots()[slot];
            if entry.wide || tuples.len().saturating_mul(entry.values.len()) > self.limit {
                return Err(NoFullEncoding::TooLarge);
            }
            tuples = tuples
                .iter()
                .flat_map(|tuple| entry.values.iter().map(move |&value| [tuple.as_slice(), &[value]].concat()))
                .collect();
        }
        Ok(tuples)
    }
}

/// The outcome of a run.
enum Run {
    Nothing,
    Fault,
    Holds,
    Next(Valuation, Vec<PropertyId>),
}

/// A relation without the slots that make no difference and never change.
fn essential(subject: Subject, mut slots: Vec<SlotId>, mut rows: Vec<(Vec<Option<i64>>, Effect)>) -> Relation {
    let mut column = 0;
    while column < slots.len() {
        let without = |(tuple, effect): &(Vec<Option<i64>>, Effect)| {
            let mut shorter = tuple.clone();
            let value = shorter.remove(column);
            let effect = match effect {
                Effect::Next(next, covered) => {
                    let mut next = next.clone();
                    if next.remove(column) != value {
                        return None;
                    }
                    Effect::Next(next, covered.clone())
                }
                other => other.clone(),
            };
            Some((shorter, effect))
        };
        let mut shorter: FxHashMap<Vec<Option<i64>>, Effect> = FxHashMap::default();
        let is_inessential = rows.iter().all(|row| match without(row) {
            None => false,
            Some((tuple, effect)) => *shorter.entry(tuple).or_insert_with(|| effect.clone()) == effect,
        });
        if is_inessential {
            slots.remove(column);
            rows = shorter.into_iter().collect();
        } else {
            column += 1;
        }
    }
    rows.retain(|(_, effect)| *effect != Effect::Nothing);
    rows.sort();
    Relation { subject, slots, rows }
}

fn search(
    literals: &Literals,
    relations: &[Relation],
    initial: &[(Valuation, Vec<PropertyId>)],
) -> Vec<SparsePermutation> {
    let mut colours: FxHashMap<Colour, u32> = FxHashMap::default();
    let mut builder = GraphBuilder::new();
    let mut add = |builder: &mut GraphBuilder, colour: Colour| {
        let next = colours.len() as u32;
        builder.add_vertex(*colours.entry(colour).or_insert(next))
    };
    let mut before: FxHashMap<(SlotId, Option<i64>), Point> = FxHashMap::default();
    let mut after: FxHashMap<(SlotId, Option<i64>), Point> = FxHashMap::default();
    for (slot, entry) in literals.slots().iter_enumerated() {
        // The values of a wide slot are not listed; they are in no table and are fixed.
        if entry.values.len() < 2 || entry.wide {
            continue;
        }
        let owner = add(&mut builder, Colour::Slot);
        for &value in &entry.values {
            let literal = add(&mut builder, if value.is_none() { Colour::Undefined } else { Colour::Literal });
            let next = add(&mut builder, Colour::Next);
            builder.add_edge(owner, literal);
            builder.add_edge(literal, next);
            before.insert((slot, value), literal);
            after.insert((slot, value), next);
        }
    }
    for (state, covered) in initial {
        let start = add(&mut builder, Colour::Start(covered.clone()));
        for slot in literals.slots().indices() {
            if let Some(&literal) = before.get(&(slot, state[slot])) {
                builder.add_edge(start, literal);
            }
        }
    }
    for relation in relations {
        let owner = add(&mut builder, Colour::Relation(relation.subject));
        for (tuple, effect) in &relation.rows {
            let row = add(
                &mut builder,
                match effect {
                    Effect::Nothing => continue,
                    Effect::Fault => Colour::Fault,
                    Effect::Holds => Colour::Holds,
                    Effect::Next(_, covered) => Colour::Step(covered.clone()),
                },
            );
            builder.add_edge(owner, row);
            for (&slot, &value) in relation.slots.iter().zip(tuple) {
                builder.add_edge(row, before[&(slot, value)]);
            }
            if let Effect::Next(next, _) = effect {
                for (&slot, &value) in relation.slots.iter().zip(next) {
                    builder.add_edge(row, after[&(slot, value)]);
                }
            }
        }
    }
    let literal_of: FxHashMap<Point, (SlotId, Option<i64>)> =
        before.iter().map(|(&literal, &vertex)| (vertex, literal)).collect();
    let graph = builder.build().expect("edges join vertices that exist");
    generators(&graph)
        .generators
        .iter()
        .map(|automorphism| {
            let point = |(slot, value)| literals.point(slot, value).expect("a literal");
            let moves = automorphism
                .moves()
                .filter_map(|(from, to)| Some((point(*literal_of.get(&from)?), point(*literal_of.get(&to)?))));
            SparsePermutation::from_moves(moves.collect()).expect("literals go to literals")
        })
        .filter(|permutation| !permutation.is_identity())
        .collect()
}
