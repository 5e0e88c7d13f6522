//! The brute-force symmetry oracle: the whole transition system of a small model, computed by the reference interpreter
//! alone, and all permutations of its literals that preserve it.
//!
//! A symmetry of a state space is a permutation of literals (slot = value; undefined is fixed) that maps each slot to
//! one slot, states to states, initial states to initial states, and steps to steps, and that preserves everything a
//! verdict depends on: in which states there is a run-time error or no step, a property holds, a cover statement is
//! reached. Steps have no labels: it does not matter which rule takes them. The elements of a multiset have no order: a
//! symmetry acts alike on all of them, and the slots of the first position represent this action.

mod eventwise;
mod full;

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigUint;
use quotient_groups::{GraphBuilder, PermutationGroup, Point, SparsePermutation, generators};
use quotient_ir::{
    Interpreter, Layout, Model, MultisetSlots, Outcome, PropertyId, PropertyKind, RuleId, SlotId, TableIndex, Valuation,
};
use quotient_symmetry::{Literals, StateMap, detect};
use rustc_hash::FxHashMap;

pub use full::{NoFullEncoding, full_symmetries};

/// The transition system of a model over some states.
#[derive(Clone, Debug)]
pub struct StateSpace {
    states: Vec<Valuation>,
    numbers: FxHashMap<Valuation, u32>,
    successors: Vec<Vec<u32>>,
    /// What a symmetry must preserve about each state, in some order.
    marks: Vec<Vec<bool>>,
    /// The name of each mark.
    mark_names: Vec<String>,
    /// For each instance of a liveness property, the states where it holds.
    goals: Vec<(PropertyId, Vec<bool>)>,
    /// The values that occur, each with its class of values that occur in the same states.
    literals: BTreeMap<(SlotId, Option<i64>), u32>,
    classes: u32,
    /// The multisets, except nested ones.
    multisets: Vec<MultisetSlots>,
}

/// The literals of a state.
struct Contents {
    /// The literals outside multisets.
    literals: Vec<(SlotId, Option<i64>)>,
    /// The literals of each element of a multiset, as if it were the first.
    elements: Vec<Vec<(SlotId, Option<i64>)>>,
}

/// Why there is no state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStateSpace {
    /// There are more states than the limit.
    TooLarge,
    /// A step leads out of the given states.
    NotClosed,
    /// States with multisets are not composed of independent literals.
    Multisets,
}

/// All symmetries of a state space.
#[derive(Clone, Debug)]
pub struct SymmetryGroup {
    /// The order of the group, as it acts on the states.
    pub order: BigUint,
    /// Generators: the image of each literal that is not fixed.
    pub generators: Vec<LiteralMap>,
}

/// The images of literals.
pub type LiteralMap = BTreeMap<(SlotId, Option<i64>), (SlotId, Option<i64>)>;

struct Instances {
    rules: Vec<(RuleId, Vec<Vec<i64>>)>,
    properties: Vec<(PropertyId, Vec<Vec<i64>>)>,
}

/// The events in one state.
struct Situation {
    successors: Vec<Valuation>,
    marks: Vec<bool>,
    goals: Vec<bool>,
}

impl StateSpace {
    /// The reachable states, with the properties of the model.
    ///
    /// # Errors
    /// If there are more than `limit`.
    pub fn reachable(model: &Model, layout: &Layout, limit: usize) -> Result<Self, NoStateSpace> {
        Self::explore(model, layout, limit, None)
    }

    /// All states composed of the given possible values.
    ///
    /// # Errors
    /// If there are more than `limit`, or multisets among the variables.
    pub fn possible(model: &Model, layout: &Layout, literals: &Literals, limit: usize) -> Result<Self, NoStateSpace> {
        if !layout.multisets().is_empty() {
            return Err(NoStateSpace::Multisets);
        }
        let states = all_states(literals, limit).ok_or(NoStateSpace::TooLarge)?;
        Self::explore(model, layout, limit, Some(states))
    }

    fn explore(
        model: &Model,
        layout: &Layout,
        limit: usize,
        all: Option<Vec<Valuation>>,
    ) -> Result<Self, NoStateSpace> {
        let interpreter = Interpreter::new(model, layout);
        let instances = Instances::new(&interpreter);
        let is_closed = all.is_some();
        let mut space = Self {
            states: Vec::new(),
            numbers: FxHashMap::default(),
            successors: Vec::new(),
            marks: Vec::new(),
            mark_names: Vec::new(),
            goals: Vec::new(),
            literals: BTreeMap::new(),
            classes: 0,
            multisets: outer_multisets(layout),
        };
        for state in all.into_iter().flatten() {
            space.number(state);
        }
        let mut initial = Vec::new();
        for (start, entry) in model.starts.iter_enumerated() {
            for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                if let Outcome::Next { state, .. } = interpreter.run_start(start, &arguments) {
                    if instances.assumptions(&interpreter, &state) != Ok(true) {
                        continue;
                    }
                    if is_closed && !space.numbers.contains_key(&state) {
                        return Err(NoStateSpace::NotClosed);
                    }
                    initial.push(space.number(state));
                    if space.states.len() > limit {
                        return Err(NoStateSpace::TooLarge);
                    }
                }
            }
        }
        let mut goals: Vec<Vec<bool>> = Vec::new();
        let mut next = 0;
        while next < space.states.len() {
            let situation = instances.situation(&interpreter, &space.states[next].clone());
            let mut successors = Vec::new();
            for state in situation.successors {
                if is_closed && !space.numbers.contains_key(&state) {
                    return Err(NoStateSpace::NotClosed);
                }
                successors.push(space.number(state));
                if space.states.len() > limit {
                    return Err(NoStateSpace::TooLarge);
                }
            }
            successors.sort_unstable();
            successors.dedup();
            space.successors.push(successors);
            space.marks.push(situation.marks);
            goals.push(situation.goals);
            next += 1;
        }
        for marks in &mut space.marks {
            marks.push(false);
        }
        for number in initial {
            *space.marks[number as usize].last_mut().expect("just pushed") = true;
        }
        space.mark_names = instances.mark_names(model);
        space.goals = instances
            .goals(model)
            .enumerate()
            .map(|(goal, property)| (property, goals.iter().map(|holds| holds[goal]).collect()))
            .collect();
        space.classify_literals();
        Ok(space)
    }

    fn number(&mut self, state: Valuation) -> u32 {
        let next = self.states.len() as u32;
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.states.push(state.clone());
            next
        })
    }

    /// Literals that occur in the same states cannot be distinguished by the action of a permutation on states; those
    /// in no state or in all have no effect.
    fn classify_literals(&mut self) {
        let mut occurrences: BTreeMap<(SlotId, Option<i64>), Vec<u32>> = BTreeMap::new();
        let mut occurrence = 0;
        for state in &self.states {
            let contents = self.contents(state);
            for (number, literals) in std::iter::once(contents.literals).chain(contents.elements).enumerate() {
                for literal in literals {
                    occurrences.entry(literal).or_default().push(occurrence + number as u32);
                }
            }
            occurrence += state.0.len() as u32 + 1;
        }
        let mut classes: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        for (literal, states) in occurrences {
            let next = classes.len() as u32;
            let class = *classes.entry(states).or_insert(next);
            self.literals.insert(literal, class);
        }
        self.classes = classes.len() as u32;
    }

    /// The literals of a state.
    fn contents(&self, state: &Valuation) -> Contents {
        let mut contents = Contents { literals: Vec::new(), elements: Vec::new() };
        let mut next = 0;
        for multiset in &self.multisets {
            let first = multiset.first.position();
            contents.literals.extend((next..first).map(|at| (SlotId::from_position(at), state.0[at])));
            next = first + multiset.capacity * multiset.stride;
            for element in state.0[first..next].chunks(multiset.stride).filter(|cells| cells[0] == Some(1)) {
                let cells = element.iter().enumerate();
                contents.elements.push(cells.map(|(at, &value)| (SlotId::from_position(first + at), value)).collect());
            }
        }
        contents.literals.extend((next..state.0.len()).map(|at| (SlotId::from_position(at), state.0[at])));
        contents
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Checks that a map of states is a symmetry.
    ///
    /// # Errors
    /// What it does not preserve.
    pub fn preserves(&self, map: &StateMap) -> Result<(), String> {
        let mut images = Vec::with_capacity(self.states.len());
        for state in &self.states {
            match self.numbers.get(&map.apply(state)) {
                Some(&image) => images.push(image as usize),
                None => return Err(format!("the image of {:?} is not one of the states", state.0)),
            }
        }
        let mut hit = vec![false; images.len()];
        for &image in &images {
            if std::mem::replace(&mut hit[image], true) {
                return Err(format!("two states have the image {:?}", self.states[image].0));
            }
        }
        for (number, &image) in images.iter().enumerate() {
            let differs = self.marks[number].iter().zip(&self.marks[image]).position(|(a, b)| a != b);
            if let Some(mark) = differs {
                let (state, image) = (&self.states[number].0, &self.states[image].0);
                return Err(format!("{} in only one of {state:?} and {image:?}", self.mark_names[mark]));
            }
            let mut expected: Vec<u32> =
                self.successors[number].iter().map(|&next| images[next as usize] as u32).collect();
            expected.sort_unstable();
            if expected != self.successors[image] {
                let (state, image) = (&self.states[number].0, &self.states[image].0);
                return Err(format!("the steps from {state:?} do not go to those from {image:?}"));
            }
        }
        for (property, holds) in &self.goals {
            let mut expected = vec![false; holds.len()];
            for (number, &image) in images.iter().enumerate() {
                expected[image] = holds[number];
            }
            if !self.goals.contains(&(*property, expected)) {
                return Err("an instance of a liveness property goes to none".to_owned());
            }
        }
        Ok(())
    }

    /// The order of the group generated by maps, as it acts on states.
    pub fn order_of(&self, maps: &[StateMap]) -> BigUint {
        self.order_on_classes(&maps.iter().map(|map| self.literal_map(map)).collect::<Vec<_>>())
    }

    /// A generator that is not in the group generated by maps, if there is one.
    fn missed(&self, generators: &[LiteralMap], maps: &[StateMap]) -> Option<LiteralMap> {
        let maps: Vec<LiteralMap> = maps.iter().map(|map| self.literal_map(map)).collect();
        let order = self.order_on_classes(&maps);
        generators
            .iter()
            .find(|generator| {
                let mut more = maps.clone();
                more.push((*generator).clone());
                self.order_on_classes(&more) != order
            })
            .cloned()
    }

    fn literal_map(&self, map: &StateMap) -> LiteralMap {
        let mut images = LiteralMap::new();
        for slot_move in map.moves() {
            for (&(slot, value), _) in self.literals.range((slot_move.from, None)..) {
                if slot != slot_move.from {
                    break;
                }
                images.insert((slot, value), (slot_move.to, slot_move.value(value)));
            }
        }
        images
    }

    fn order_on_classes(&self, maps: &[LiteralMap]) -> BigUint {
        if self.states.is_empty() {
            return BigUint::from(1u32);
        }
        let on_classes = |map: &LiteralMap| {
            let mut moves: Vec<(Point, Point)> =
                map.iter().map(|(from, to)| (self.literals[from], self.literals[to])).collect();
            moves.sort_unstable();
            moves.dedup();
            moves.retain(|(from, to)| from != to);
            SparsePermutation::from_moves(moves).expect("symmetries permute the classes")
        };
        PermutationGroup::new(self.classes as usize, maps.iter().map(on_classes).collect()).order()
    }

    /// All symmetries.
    pub fn symmetries(&self) -> SymmetryGroup {
        const SLOT: u32 = 0;
        const LITERAL: u32 = 1;
        const UNDEFINED: u32 = 2;
        const TARGET: u32 = 3;
        const ELEMENT: u32 = u32::MAX - 1;
        const PRESENCE: u32 = u32::MAX - 2;
        let mut colours: FxHashMap<(Option<PropertyId>, &[bool]), u32> = FxHashMap::default();
        let mut builder = GraphBuilder::new();
        let is_presence = |slot: SlotId| self.multisets.iter().any(|multiset| multiset.first == slot);
        // A slot with a single value has no effect, wherever it is mapped, unless it belongs to a multiset.
        let mut values: BTreeMap<SlotId, u32> = BTreeMap::new();
        for &(slot, _) in self.literals.keys() {
            *values.entry(slot).or_default() += 1;
        }
        values.retain(|slot, count| *count > 1 || is_presence(*slot));
        let slots: BTreeMap<SlotId, Point> = values
            .keys()
            .map(|&slot| (slot, builder.add_vertex(if is_presence(slot) { PRESENCE } else { SLOT })))
            .collect();
        let mut literals: BTreeMap<(SlotId, Option<i64>), Point> = BTreeMap::new();
        for &(slot, value) in self.literals.keys() {
            if let Some(&owner) = slots.get(&slot) {
                let vertex = builder.add_vertex(if value.is_none() { UNDEFINED } else { LITERAL });
                builder.add_edge(owner, vertex);
                literals.insert((slot, value), vertex);
            }
        }
        // Each state has two vertices, as a source and as a target of steps.
        let mut sources = Vec::with_capacity(self.states.len());
        for (state, marks) in self.states.iter().zip(&self.marks) {
            let next = TARGET + 1 + colours.len() as u32;
            let vertex = builder.add_vertex(*colours.entry((None, marks)).or_insert(next));
            let contents = self.contents(state);
            for literal in contents.literals.iter().filter_map(|literal| literals.get(literal)) {
                builder.add_edge(vertex, *literal);
            }
            for element in contents.elements {
                let of_element = builder.add_vertex(ELEMENT);
                builder.add_edge(vertex, of_element);
                for literal in element.iter().filter_map(|literal| literals.get(literal)) {
                    builder.add_edge(of_element, *literal);
                }
            }
            sources.push(vertex);
        }
        let targets: Vec<Point> = sources
            .iter()
            .map(|&source| {
                let target = builder.add_vertex(TARGET);
                builder.add_edge(source, target);
                target
            })
            .collect();
        for (number, successors) in self.successors.iter().enumerate() {
            for &next in successors {
                // A step to the same state is represented by a neighbour that only such states have.
                if next as usize != number {
                    builder.add_edge(sources[number], targets[next as usize]);
                } else {
                    let marker = builder.add_vertex(u32::MAX);
                    builder.add_edge(sources[number], marker);
                }
            }
        }
        for (property, holds) in &self.goals {
            let next = TARGET + 1 + colours.len() as u32;
            let vertex = builder.add_vertex(*colours.entry((Some(*property), &[])).or_insert(next));
            for (number, &holds) in holds.iter().enumerate() {
                if holds {
                    builder.add_edge(vertex, sources[number]);
                }
            }
        }
        let graph = builder.build().expect("edges join vertices that exist");
        let found = generators(&graph);
        assert!(found.complete, "the search has no limit");
        let literal_of: FxHashMap<Point, (SlotId, Option<i64>)> =
            literals.iter().map(|(&literal, &vertex)| (vertex, literal)).collect();
        let generators: Vec<LiteralMap> = found
            .generators
            .iter()
            .map(|generator| {
                let moves = generator.moves().filter_map(|(from, to)| Some((*literal_of.get(&from)?, literal_of[&to])));
                moves.collect()
            })
            .filter(|map: &LiteralMap| !map.is_empty())
            .collect();
        SymmetryGroup { order: self.order_on_classes(&generators), generators }
    }
}

/// The multisets that are not nested.
fn outer_multisets(layout: &Layout) -> Vec<MultisetSlots> {
    let end = |multiset: &MultisetSlots| multiset.first.position() + multiset.capacity * multiset.stride;
    let is_inside =
        |one: &MultisetSlots, other: &MultisetSlots| one != other && other.first <= one.first && end(one) <= end(other);
    let all = layout.multisets();
    let mut outer: Vec<MultisetSlots> =
        all.iter().filter(|one| one.capacity > 0 && !all.iter().any(|other| is_inside(one, other))).copied().collect();
    outer.sort_unstable_by_key(|multiset| multiset.first);
    outer
}

/// All states composed of possible values, if there are at most `limit`.
fn all_states(literals: &Literals, limit: usize) -> Option<Vec<Valuation>> {
    let mut states = vec![Vec::new()];
    for entry in literals.slots().iter() {
        if entry.wide || states.len().saturating_mul(entry.values.len()) > limit {
            return None;
        }
        states = states
            .into_iter()
            .flat_map(|state: Vec<Option<i64>>| {
                entry.values.iter().map(move |&value| [state.as_slice(), &[value]].concat())
            })
            .collect();
    }
    Some(states.into_iter().map(Valuation).collect())
}

impl Instances {
    fn new(interpreter: &Interpreter<'_>) -> Self {
        let model = interpreter.model();
        Self {
            rules: model
                .rules
                .iter_enumerated()
                .map(|(id, rule)| (id, interpreter.instances(&rule.parameters, &rule.locals).collect()))
                .collect(),
            properties: model
                .properties
                .iter_enumerated()
                .map(|(id, entry)| (id, interpreter.instances(&entry.parameters, &entry.locals).collect()))
                .collect(),
        }
    }

    /// Whether a state satisfies the assumptions; the first that is false or fails decides.
    fn assumptions(&self, interpreter: &Interpreter<'_>, state: &Valuation) -> Result<bool, ()> {
        for (property, arguments) in &self.properties {
            if interpreter.model().properties[*property].kind == PropertyKind::Assumption {
                for arguments in arguments {
                    if !interpreter.holds(*property, arguments, state).map_err(drop)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// The names of the marks of a situation, then of the mark of initial states.
    fn mark_names(&self, model: &Model) -> Vec<String> {
        let mut names: Vec<String> =
            ["a fault", "a step", "a step elsewhere", "an assumption fails"].map(str::to_owned).to_vec();
        for (property, _) in &self.properties {
            let name = model.properties[*property].name.clone().unwrap_or_else(|| format!("{property:?}"));
            names.extend([format!("{name} holds"), format!("{name} is covered by a step")]);
        }
        names.push("initial".to_owned());
        names
    }

    /// The property of each goal.
    fn goals<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = PropertyId> + 'a {
        let is_goal = |property: PropertyId| model.properties[property].kind == PropertyKind::AlwaysReachable;
        self.properties
            .iter()
            .filter(move |(property, _)| is_goal(*property))
            .flat_map(|(property, arguments)| arguments.iter().map(|_| *property))
    }

    fn situation(&self, interpreter: &Interpreter<'_>, state: &Valuation) -> Situation {
        let model = interpreter.model();
        let mut successors = Vec::new();
        let (mut fault, mut steps, mut elsewhere) = (false, false, false);
        let mut covered_by_step = vec![false; model.properties.len()];
        let assumed = self.assumptions(interpreter, state);
        fault |= assumed.is_err();
        if assumed == Ok(true) {
            for (rule, arguments) in &self.rules {
                for arguments in arguments {
                    match interpreter.enabled(*rule, arguments, state) {
                        Err(_) => fault = true,
                        Ok(false) => {}
                        Ok(true) => match interpreter.fire(*rule, arguments, state) {
                            Outcome::Fault(_) => fault = true,
                            Outcome::Pruned => {}
                            Outcome::Next { state: next, covered } => {
                                steps = true;
                                elsewhere |= next != *state;
                                for property in covered {
                                    covered_by_step[property.position()] = true;
                                }
                                match self.assumptions(interpreter, &next) {
                                    Ok(true) => successors.push(next),
                                    Ok(false) => {}
                                    Err(()) => fault = true,
                                }
                            }
                        },
                    }
                }
            }
        }
        let mut marks = vec![fault, steps, elsewhere, assumed != Ok(true)];
        let mut goals = Vec::new();
        for (property, arguments) in &self.properties {
            let entry = &model.properties[*property];
            let mut values = Vec::new();
            if assumed == Ok(true) && entry.formula.condition().is_some() {
                values.extend(arguments.iter().map(|arguments| interpreter.holds(*property, arguments, state)));
            }
            let only_holds =
                matches!(entry.kind, PropertyKind::Invariant | PropertyKind::Passing | PropertyKind::Remark);
            marks[0] |= !only_holds && values.iter().any(Result::is_err);
            let truths: Vec<bool> = values.into_iter().map(|value| value.unwrap_or(false)).collect();
            match entry.kind {
                PropertyKind::Invariant
                | PropertyKind::Assumption
                | PropertyKind::Passing
                | PropertyKind::Constraint
                | PropertyKind::Atom => marks.push(truths.iter().all(|&holds| holds)),
                // Instances are mapped to each other; which letters they have is compared where there is one.
                PropertyKind::Temporal => {
                    if let [arguments] = &arguments[..] {
                        let letter = interpreter.letter(*property, arguments, state);
                        marks.extend((0..64).map(|bit| letter >> bit & 1 == 1));
                    }
                }
                PropertyKind::Cover | PropertyKind::Remark => marks.push(truths.iter().any(|&holds| holds)),
                PropertyKind::AlwaysReachable => {
                    marks.push(false);
                    goals.extend(arguments.iter().enumerate().map(|(at, _)| truths.get(at).copied().unwrap_or(false)));
                }
            }
            marks.push(covered_by_step[property.position()]);
        }
        Situation { successors, marks, goals }
    }
}

/// The result of detection on a model, compared with its state spaces.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The order of the group found, as permutations of literals.
    pub order: BigUint,
    /// Why variables were treated as fixed, if some were.
    pub fixed: Vec<String>,
    /// Over the reachable states.
    pub reachable: Option<Comparison>,
    /// Over all states composed of values considered possible.
    pub possible: Option<Comparison>,
}

/// The group found and the actual group.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The number of states.
    pub states: usize,
    /// The order of the group found, as it acts on these states.
    pub found: BigUint,
    /// The order of the group of all symmetries, if requested.
    pub all: Option<BigUint>,
    /// The order of the group of those that map each event to an event, if requested and all states are included.
    pub by_events: Option<BigUint>,
    /// A symmetry that was not found, if there is one.
    pub missed: Option<LiteralMap>,
}

/// Whether an audit searches for all symmetries or only checks those found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Check the symmetries found.
    Soundness,
    /// Search for others, too.
    Completeness,
}

/// The largest number of states times events for which event-wise symmetries are computed.
const EVENT_LIMIT: usize = 60_000;

/// Checks every symmetry that detection finds in a model against the model's state spaces, if these have at most
/// `limit` states.
///
/// # Errors
/// Which permutation is not a symmetry, or why detection failed.
pub fn audit(model: &Model, limit: usize, extent: Extent) -> Result<Audit, String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let detection = detect(model, &layout, &properties, &quotient_ir::Budget::unlimited())
        .map_err(|error| format!("{error}: {error:?}"))?;
    let group = &detection.group;
    let literals = group.literals();
    let reachable = StateSpace::reachable(model, &layout, limit);
    let possible = StateSpace::possible(model, &layout, literals, limit);
    if let Ok(space) = &reachable {
        for ((slot, value), _) in space.literals.iter() {
            let entry = &literals.slots()[*slot];
            if !entry.wide && entry.values.binary_search(value).is_err() {
                return Err(format!("{} can be {value:?}, which was not thought possible", layout.slots[*slot].name));
            }
        }
    }
    if possible.as_ref().err() == Some(&NoStateSpace::NotClosed) {
        return Err("a step leads out of the possible values".to_owned());
    }
    let check = |space: &StateSpace, is_possible: bool| -> Result<Comparison, String> {
        for (generator, map) in group.generators().iter().zip(group.maps()) {
            space.preserves(map).map_err(|reason| {
                format!("{} is not a symmetry: {reason}", literals.describe(model, &layout, generator))
            })?;
        }
        let found = space.order_of(group.maps());
        let mut comparison = Comparison { states: space.len(), found, all: None, by_events: None, missed: None };
        if extent == Extent::Completeness {
            let all = space.symmetries();
            let mut missed_from = all.generators;
            if is_possible
                && let Some(by_events) = eventwise::generators_by_events(model, &layout, literals, EVENT_LIMIT)
            {
                let order = space.order_on_classes(&by_events);
                // What detection could have found is more informative than what else exists.
                if order != comparison.found {
                    missed_from = by_events;
                }
                comparison.by_events = Some(order);
            }
            if all.order != comparison.found {
                comparison.missed = space.missed(&missed_from, group.maps());
            }
            comparison.all = Some(all.order);
        }
        Ok(comparison)
    };
    let mut fixed: Vec<String> = detection.fixed.iter().map(|entry| entry.reason.clone()).collect();
    fixed.sort_unstable();
    fixed.dedup();
    Ok(Audit {
        order: PermutationGroup::new(literals.degree(), group.generators().to_vec()).order(),
        fixed,
        reachable: reachable.ok().map(|space| check(&space, false)).transpose()?,
        possible: possible.ok().map(|space| check(&space, true)).transpose()?,
    })
}

/// A map of literals in source terms.
pub fn describe(model: &Model, layout: &Layout, map: &LiteralMap) -> String {
    let name = |(slot, value): (SlotId, Option<i64>)| {
        let entry = &layout.slots[slot];
        let value = value.map_or_else(|| "undefined".to_owned(), |value| model.value_name(entry.ty, value));
        format!("{}={value}", entry.name)
    };
    let mut text = String::new();
    let mut seen: BTreeSet<(SlotId, Option<i64>)> = BTreeSet::new();
    for &first in map.keys() {
        if map[&first] == first || seen.contains(&first) {
            continue;
        }
        let mut cycle = Vec::new();
        let mut next = first;
        while seen.insert(next) {
            cycle.push(name(next));
            next = map.get(&next).copied().unwrap_or(next);
        }
        text.push_str(&format!("({})", cycle.join(" ")));
    }
    text
}
