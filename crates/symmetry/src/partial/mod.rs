//! Partial symmetry: for each single rule, which members of which families it does not distinguish.
//!
//! A global symmetry must preserve every rule. Here each rule has its own partition of the members: the coarsest one
//! whose permutations preserve the set of the rule's instances, guard and effect. Wahl (2007, section 5) requires the
//! user to give it for every edge. If a rule distinguishes members, its instances are split into *edges*: the orbits
//! under the rule's own permutations, each of which may distinguish less than the whole rule does.
//!
//! Candidates come from signatures (`signature`), and every partition is certified: a transposition and a cycle of each
//! cell, which generate all its permutations, are proved to map the edge to itself.

mod arrangement;
mod families;
mod kripke;
mod partition;
mod signature;
mod unwinding;
mod whole;

use rustc_hash::FxHashMap;

use quotient_functions::{self as functions, Circuit, Event, Node, NodeId, Preserved, TiedSlots, Ties, tied_values};
use quotient_groups::SparsePermutation;
use quotient_ir::{
    Action, Budget, ExprId, Interpreter, Iteration, Layout, Model, Parameter, PropertyId, PropertyKind, RuleId, SlotId,
    Span, Spent, TableIndex, TypeId,
};

use crate::certify::{CertificationReport, Certifier, EventSet};
use crate::error::DetectionError;
pub use arrangement::{Arrangement, Desk, Kind, OwnPart};
pub use families::{Families, Family, Held};
pub use kripke::{Classification, TooManyStates, Witness, classify};
pub use partition::Partition;
use signature::SlotMembers;
pub use unwinding::{Target, unwind};
pub use whole::{Sharing, most_permutations};

/// The largest number of members for which an event that is not tied to its arguments is tested for which of them it
/// distinguishes; beyond it, it is assumed to distinguish all of them.
const STABILISER_LIMIT: usize = 8;

/// Why partial symmetry does not support a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is nothing to permute.
    #[error("no type indexes an array or is a scalarset, so that there are no processes to permute")]
    NoFamilies,
    /// No rule treats any two members alike.
    #[error("every rule tells all values of {0} apart")]
    NothingShared(String),
    /// A rule or property has no functions.
    #[error("`{name}` could not be unfolded: {reason}")]
    Opaque {
        /// Its name.
        name: String,
        /// The reason.
        reason: String,
        /// Its location.
        span: Span,
    },
    /// The budget was spent.
    #[error(transparent)]
    GaveUp(#[from] Spent),
}

/// The partial symmetry of a rule.
#[derive(Clone, Debug)]
pub struct RuleSymmetry {
    /// The coarsest partition whose permutations preserve the set of the rule's instances.
    pub partition: Partition,
    /// Its instances, split into edges.
    pub edges: Vec<Edge>,
    /// If it distinguishes members, the part of the text that does.
    pub cause: Option<Cause>,
}

/// The part of the text that distinguishes two members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Its location.
    pub span: Span,
    /// The conjunct of the guard; `None` if it is the effect of the rule.
    pub part: Option<ExprId>,
    /// Two members that it distinguishes.
    pub members: (usize, usize),
}

/// The partial symmetry of a property. Its edges are the ways in which it can be violated (or, for a cover property,
/// reached); they have no arguments.
#[derive(Clone, Debug)]
pub struct PropertySymmetry {
    /// The coarsest partition whose permutations preserve the property.
    pub partition: Partition,
    /// The ways in which it can be violated or reached.
    pub edges: Vec<Edge>,
}

/// Instances of a rule that the permutations of a partition map to each other.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The coarsest partition whose permutations preserve the set of the instances.
    pub partition: Partition,
    /// The instances, with distinct effects.
    pub instances: Vec<EdgeInstance>,
    /// Whether a permutation maps an instance to the one with permuted arguments.
    pub natural: bool,
}

/// An instance of a rule in an edge.
#[derive(Clone, Debug)]
pub struct EdgeInstance {
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// For each of these, the member it denotes, if any.
    pub members: Vec<Option<usize>>,
    /// A partition whose permutations fix the instance.
    pub stabiliser: Partition,
    /// Necessary conditions on single slots for the instance to have an effect.
    pub needs: Vec<Need>,
}

/// The condition that a slot holds one of several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The slot.
    pub slot: SlotId,
    /// A bit for each stored code.
    pub codes: Box<[u64]>,
}

impl Need {
    /// Whether a stored code is among them.
    pub fn allows(&self, code: u64) -> bool {
        self.codes.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
    }
}

/// The partial symmetry of a model, computed rule by rule on demand.
pub struct PartialSymmetry<'m> {
    model: &'m Model,
    layout: &'m Layout,
    budget: Budget,
    families: Families,
    certifier: Certifier<'m>,
    slots: SlotMembers,
    rules: Vec<EventSet>,
    known: Vec<Option<RuleSymmetry>>,
    conditions: FxHashMap<PropertyId, Vec<Event>>,
    /// Whether, judging by signatures, no rule distinguishes any members.
    seems_whole: bool,
}

/// A partition of members that preserves a group of events.
struct Kept {
    partition: Partition,
    generators: Vec<Generator>,
}

/// A certified permutation of members (the image of each), and its action on the events.
type Generator = (Vec<usize>, Vec<u32>);

impl<'m> PartialSymmetry<'m> {
    /// Prepares a model with the properties of a run. Later queries draw on the budget, too.
    ///
    /// # Errors
    /// If there are no families, or a rule or property cannot be turned into functions, or the budget is spent.
    pub fn new(
        model: &'m Model,
        layout: &'m Layout,
        properties: &[PropertyId],
        budget: &Budget,
    ) -> Result<Self, Refusal> {
        budget.spend(layout.slots.len() as u64)?;
        let candidates = Families::candidates(model, layout);
        if candidates.list().is_empty() {
            return Err(Refusal::NoFamilies);
        }
        if let Some(multiset) = layout.multisets().iter().find(|multiset| multiset.capacity > 0) {
            // Members are exchanged slot by slot here, which does not preserve the order of elements.
            let variable = &model.variables[layout.slots[multiset.first].variable];
            let reason = "the elements of a multiset have no order".to_owned();
            return Err(Refusal::Opaque { name: variable.name.clone(), reason, span: variable.span });
        }
        let possible = tied_values(model, layout, ties(layout, &candidates), budget)?;
        let behaviour = functions::unfold_over(model, layout, Preserved::Properties(properties), possible, budget)?;
        let mut rules: Vec<Vec<(u32, Event)>> = vec![Vec::new(); model.rules.len()];
        let mut unfolded = vec![0usize; model.rules.len()];
        for (number, event) in behaviour.events.iter().enumerate() {
            if let Action::Rule(rule) = event.action {
                rules[rule.position()].push((number as u32, event.clone()));
                unfolded[rule.position()] += 1;
            }
        }
        for instance in &behaviour.idle {
            if let quotient_functions::Subject::Action(Action::Rule(rule)) = instance.subject {
                unfolded[rule.position()] += 1;
            }
        }
        let reason_of = |variables: &quotient_functions::Fixed| variables.reason.clone();
        let interpreter = Interpreter::new(model, layout);
        for (rule, entry) in model.rules.iter_enumerated() {
            let count = unfolded[rule.position()];
            budget.spend(1 + count as u64)?;
            let mut instances = interpreter.instances(&entry.parameters, &entry.locals);
            let is_open = behaviour.inputs.iter().any(|(action, _)| *action == Action::Rule(rule));
            if is_open || instances.by_ref().take(count).count() < count || instances.next().is_some() {
                let reason = if is_open {
                    "it has a parameter of too many values".to_owned()
                } else {
                    behaviour.fixed.first().map_or_else(|| "its text is too large".to_owned(), reason_of)
                };
                let name = entry.name.clone().unwrap_or_else(|| format!("rule {}", rule.position() + 1));
                return Err(Refusal::Opaque { name, reason, span: entry.span });
            }
        }
        for (property, entry) in model.properties.iter_enumerated() {
            let is_needed = properties.contains(&property) || !entry.kind.is_claim();
            if !is_needed || entry.formula.condition().is_none() {
                continue;
            }
            if !behaviour.claims.iter().any(|claim| claim.property == property)
                && interpreter.instances(&entry.parameters, &entry.locals).next().is_some()
            {
                let name = entry.name.clone().unwrap_or_else(|| format!("property {}", property.position() + 1));
                let reason = behaviour.fixed.first().map_or_else(|| "its text is too large".to_owned(), reason_of);
                return Err(Refusal::Opaque { name, reason, span: entry.span });
            }
        }
        // If every rule that involves a family distinguishes all its members, the family is pure overhead: it only
        // makes states look different.
        let slots = SlotMembers::new(&candidates, layout, &behaviour.circuit);
        let mut shared = vec![false; candidates.list().len()];
        let mut whole = vec![true; candidates.list().len()];
        let rules: Vec<EventSet> = rules.into_iter().map(EventSet::of_instances).collect();
        for part in rules.iter().filter(|part| !part.events.is_empty()) {
            let labels = labels(&slots, &behaviour.circuit, part, candidates.members(), budget)?;
            for (number, family) in candidates.list().iter().enumerate() {
                let own = &labels[family.first..family.first + family.size];
                let mut sums: Vec<u64> = own.iter().map(|label| label.sum).collect();
                sums.sort_unstable();
                sums.dedup();
                shared[number] |= sums.len() < family.size && own.iter().any(|label| label.concerned);
                whole[number] &= sums.len() == 1;
            }
        }
        // A family that no rule involves costs nothing.
        let is_kept = |number: usize| shared[number] || whole[number];
        let kept = candidates.list().iter().enumerate().filter(|(number, _)| is_kept(*number));
        let types: Vec<TypeId> = kept.map(|(_, family)| family.ty).collect();
        if types.is_empty() {
            return Err(Refusal::NothingShared(candidates.list()[0].name.clone()));
        }
        let seems_whole = shared.iter().zip(&whole).all(|(shared, whole)| !shared || *whole);
        let families = Families::of_types(model, layout, &types);
        let slots = SlotMembers::new(&families, layout, &behaviour.circuit);
        let known = vec![None; model.rules.len()];
        let certifier = Certifier::of_behaviour(model, layout, behaviour, budget)?;
        let conditions = FxHashMap::default();
        let budget = budget.clone();
        let mut partial =
            Self { model, layout, budget, families, certifier, slots, rules, known, conditions, seems_whole };
        for (property, entry) in model.properties.iter_enumerated() {
            if properties.contains(&property) || !entry.kind.is_claim() {
                let events = partial.alarms(property);
                partial.conditions.insert(property, events);
            }
        }
        partial.require_sound()?;
        Ok(partial)
    }

    /// Functions made after the budget was spent are meaningless.
    fn require_sound(&self) -> Result<(), Spent> {
        if self.certifier.behaviour().circuit.is_spent() { Err(Spent) } else { Ok(()) }
    }

    /// The families.
    pub fn families(&self) -> &Families {
        &self.families
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The layout of its states.
    pub fn layout(&self) -> &'m Layout {
        self.layout
    }

    /// The values each slot is assumed to hold: the possible ones, closed under permutations of members.
    pub fn literals(&self) -> &crate::literals::Literals {
        self.certifier.literals()
    }

    /// How everything certified so far was certified.
    pub fn report(&self) -> CertificationReport {
        self.certifier.report()
    }

    /// The partition that keeps every family together.
    pub fn coarsest(&self) -> Partition {
        Partition::from_labels((0..self.families.members()).map(|member| self.families.family_of(member)))
    }

    /// Whether a rule has been queried.
    pub fn is_known(&self, rule: RuleId) -> bool {
        self.known[rule.position()].is_some()
    }

    /// Necessary conditions on single slots for any instance of a rule to have an effect, one entry for each instance.
    /// This does not compute what the rule distinguishes. Once the budget is spent, fewer conditions are known, which
    /// is sound: nothing is required then.
    pub fn rule_needs(&mut self, rule: RuleId) -> Vec<Vec<Need>> {
        let events = self.rules[rule.position()].events.clone();
        events.iter().map(|event| self.needs(event)).collect()
    }

    /// The partial symmetry of a rule.
    ///
    /// # Errors
    /// If the arguments of certification contradict each other, which is a defect of this program; or if the budget is
    /// spent.
    pub fn rule(&mut self, rule: RuleId) -> Result<&RuleSymmetry, DetectionError> {
        if self.known[rule.position()].is_none() {
            let part = self.rules[rule.position()].clone();
            let preserved = self.coarsest_partition(&part)?;
            let cause = self.cause(&part, &preserved.partition);
            let partition = preserved.partition.clone();
            let edges = self.take_apart(&part, preserved, &self.model.rules[rule].parameters)?;
            self.require_sound()?;
            self.known[rule.position()] = Some(RuleSymmetry { partition, edges, cause });
        }
        Ok(self.known[rule.position()].as_ref().expect("it was just computed"))
    }

    /// The partial symmetry of a property. It must be one of those the model was prepared with, or an assumption.
    ///
    /// # Errors
    /// As for [`PartialSymmetry::rule`].
    pub fn property(&mut self, property: PropertyId) -> Result<PropertySymmetry, DetectionError> {
        let events = self.conditions.get(&property).cloned().unwrap_or_default();
        let part = EventSet::of_conditions(events);
        let preserved = self.coarsest_partition(&part)?;
        let partition = preserved.partition.clone();
        // If nothing is distinguished, checking one state is enough.
        let edges = if partition == self.coarsest() { Vec::new() } else { self.take_apart(&part, preserved, &[])? };
        self.require_sound()?;
        Ok(PropertySymmetry { partition, edges })
    }

    /// The ways in which a property can be violated or, for a cover property, hold: the operands of the corresponding
    /// disjunction.
    fn alarms(&mut self, property: PropertyId) -> Vec<Event> {
        let is_cover = matches!(self.model.properties[property].kind, PropertyKind::Cover | PropertyKind::Remark);
        let behaviour = self.certifier.behaviour_mut();
        let claims: Vec<(NodeId, NodeId)> = behaviour
            .claims
            .iter()
            .filter(|claim| claim.property == property)
            .map(|claim| (claim.condition, claim.fault))
            .collect();
        let mut alarms = Vec::new();
        for (condition, fault) in claims {
            let circuit = &mut behaviour.circuit;
            let wanted = if is_cover { condition } else { circuit.not(condition) };
            let alarm = circuit.or([wanted, fault]);
            match circuit.node(alarm) {
                Node::False => {}
                Node::Or(parts) => alarms.extend(parts.iter().copied()),
                _ => alarms.push(alarm),
            }
        }
        alarms.sort_unstable();
        alarms.dedup();
        let event = |guard: NodeId| Event {
            action: Action::Rule(RuleId::from_position(0)),
            arguments: Vec::new(),
            guard,
            fault: NodeId::FALSE,
            dropped: NodeId::FALSE,
            additions: Vec::new(),
            writes: Vec::new(),
            covers: Vec::new(),
            fault_places: Vec::new(),
            guard_parts: Vec::new(),
            write_spans: Vec::new(),
        };
        alarms.into_iter().map(event).collect()
    }

    /// The coarsest partition whose permutations map the events of a group to events of the group. Being exchangeable
    /// is an equivalence on members, so there is one.
    fn coarsest_partition(&mut self, part: &EventSet) -> Result<Kept, DetectionError> {
        let circuit = &self.certifier.behaviour().circuit;
        let labels = labels(&self.slots, circuit, part, self.families.members(), &self.budget)?;
        let mut generators = Vec::new();
        let mut cell_of: Vec<usize> = (0..self.families.members()).collect();
        let candidates =
            (0..self.families.members()).map(|member| (self.families.family_of(member), labels[member].sum));
        for cell in Partition::from_labels(candidates).cells() {
            if cell.len() < 2 {
                continue;
            }
            // A transposition and a cycle generate all permutations of the cell.
            let mut certified = Vec::new();
            for length in if cell.len() == 2 { vec![2] } else { vec![2, cell.len()] } {
                match self.certify(part, &cell[..length])? {
                    Some(generator) => certified.push(generator),
                    None => break,
                }
            }
            if certified.len() == cell.len().min(3) - 1 {
                generators.append(&mut certified);
                for &member in &cell {
                    cell_of[member] = cell[0];
                }
                continue;
            }
            // The signatures are too optimistic: compare members one by one.
            let mut classes: Vec<usize> = Vec::new();
            'members: for &member in &cell {
                for &known in &classes {
                    if let Some(generator) = self.certify(part, &[known, member])? {
                        generators.push(generator);
                        cell_of[member] = known;
                        continue 'members;
                    }
                }
                classes.push(member);
            }
        }
        Ok(Kept { partition: Partition::from_labels(cell_of), generators })
    }

    /// Certifies that mapping each of some members to the next preserves a group of events.
    fn certify(&mut self, part: &EventSet, cycle: &[usize]) -> Result<Option<Generator>, DetectionError> {
        let place_of = cycle_places(self.families.members(), cycle);
        let Some(generator) = self.literal_permutation(&place_of) else { return Ok(None) };
        match self.certifier.check_part(&generator, part) {
            Ok(images) => Ok(Some((place_of, images))),
            Err(rejection) => {
                let describe = || self.certifier.literals().describe(self.model, self.layout, &generator);
                DetectionError::of_candidate(rejection, describe)?;
                Ok(None)
            }
        }
    }

    fn literal_permutation(&self, place_of: &[usize]) -> Option<SparsePermutation> {
        self.families.permutation(self.layout, self.certifier.literals(), place_of)
    }

    /// Splits the events of a group into orbits under its permutations.
    fn take_apart(
        &mut self,
        part: &EventSet,
        preserved: Kept,
        parameters: &[Parameter],
    ) -> Result<Vec<Edge>, DetectionError> {
        let mut owner: Vec<usize> = (0..part.events.len()).collect();
        fn find(owner: &mut [usize], mut event: usize) -> usize {
            while owner[event] != event {
                owner[event] = owner[owner[event]];
                event = owner[event];
            }
            event
        }
        for (_, images) in &preserved.generators {
            for (event, &image) in images.iter().enumerate() {
                let (one, other) = (find(&mut owner, event), find(&mut owner, image as usize));
                owner[one.max(other)] = one.min(other);
            }
        }
        let roots: Vec<usize> = (0..part.events.len()).map(|event| find(&mut owner, event)).collect();
        let is_whole = preserved.partition == self.coarsest() || roots.iter().all(|&root| root == 0);
        if is_whole {
            return Ok(vec![self.edge(part, &preserved, parameters)?]);
        }
        let mut edges = Vec::new();
        let mut by_root: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (event, &root) in roots.iter().enumerate() {
            by_root.entry(root).or_default().push(event);
        }
        let mut sets: Vec<Vec<usize>> = by_root.into_values().collect();
        sets.sort_unstable();
        for set in sets {
            let own = part.select(set);
            let preserved = self.coarsest_partition(&own)?;
            edges.push(self.edge(&own, &preserved, parameters)?);
        }
        Ok(edges)
    }

    fn edge(&mut self, part: &EventSet, preserved: &Kept, parameters: &[Parameter]) -> Result<Edge, Spent> {
        let type_of = |parameter: &Parameter| match parameter.range {
            Iteration::Over(ty) => Some(ty),
            Iteration::Steps { .. } => None,
        };
        let types: Vec<Option<TypeId>> = parameters.iter().map(type_of).collect();
        let numbers: FxHashMap<&[i64], u32> =
            part.events.iter().enumerate().map(|(number, event)| (&event.arguments[..], number as u32)).collect();
        let permuted = |families: &Families, arguments: &[i64], place_of: &[usize]| -> Vec<i64> {
            if arguments.len() != types.len() {
                return arguments.to_vec();
            }
            let image = |(ty, &value): (&Option<TypeId>, &i64)| match ty {
                Some(ty) => families.argument(*ty, value, place_of),
                None => value,
            };
            types.iter().zip(arguments).map(image).collect()
        };
        let natural = part.numbers.is_some()
            && preserved.generators.iter().all(|(place_of, images)| {
                part.events.iter().zip(images).all(|(event, image)| {
                    let arguments = permuted(&self.families, &event.arguments, place_of);
                    numbers.get(&arguments[..]) == Some(image)
                })
            });
        let mut instances = Vec::with_capacity(part.events.len());
        for event in &part.events {
            self.budget.spend(1 + event.writes.len() as u64)?;
            let mut members = vec![None; event.arguments.len()];
            if event.arguments.len() == types.len() {
                for (position, (ty, &value)) in types.iter().zip(&event.arguments).enumerate() {
                    let family = self.families.list().iter().find(|family| Some(family.ty) == *ty);
                    members[position] = family.and_then(|family| family.member(value));
                }
            }
            let stabiliser = if natural {
                let own: Vec<usize> = members.iter().flatten().copied().collect();
                preserved.partition.individualized(&own)
            } else {
                self.stabiliser(event, &preserved.partition)
            };
            let needs = self.needs(event);
            instances.push(EdgeInstance { arguments: event.arguments.clone(), members, stabiliser, needs });
        }
        self.require_sound()?;
        Ok(Edge { partition: preserved.partition.clone(), instances, natural })
    }

    /// A partition whose permutations fix an event.
    fn stabiliser(&mut self, event: &Event, partition: &Partition) -> Partition {
        let circuit = &self.certifier.behaviour().circuit;
        let signature = self.slots.sign(circuit, event);
        let mut slots = slots_below(circuit, event.roots());
        slots.extend(event.writes.iter().map(|write| write.slot));
        let mut touched: Vec<usize> = slots.iter().flat_map(|&slot| self.slots.path(slot)).collect();
        touched.sort_unstable();
        touched.dedup();
        // A slot that holds members involves all of them.
        if slots.iter().any(|&slot| self.slots.holds_members(slot)) {
            touched = (0..self.families.members()).collect();
        }
        if touched.len() <= STABILISER_LIMIT {
            return partition.individualized(&touched);
        }
        let mut cell_of: Vec<usize> = (0..self.families.members()).collect();
        let labels = (0..self.families.members())
            .map(|member| (partition.cell(member), touched.contains(&member), signature.members[member]));
        let key = event.key();
        for cell in Partition::from_labels(labels).cells() {
            if cell.len() < 2 {
                continue;
            }
            let untouched = !touched.contains(&cell[0]);
            let lengths = if cell.len() == 2 { vec![2] } else { vec![2, cell.len()] };
            let keeps = |partial: &mut Self, cycle: &[usize]| {
                let place_of = cycle_places(partial.families.members(), cycle);
                let generator = partial.literal_permutation(&place_of)?;
                let (_, relabelling) = partial.certifier.relabelling(&generator).ok()?;
                let circuit = &mut partial.certifier.behaviour_mut().circuit;
                let image = event.relabelled(circuit, &relabelling, &mut FxHashMap::default())?;
                (image == key).then_some(())
            };
            if untouched || lengths.iter().all(|&length| keeps(self, &cell[..length]).is_some()) {
                for &member in &cell {
                    cell_of[member] = cell[0];
                }
            }
        }
        Partition::from_labels(cell_of)
    }

    /// Necessary conditions on single slots for an event to have an effect.
    fn needs(&mut self, event: &Event) -> Vec<Need> {
        let circuit = &mut self.certifier.behaviour_mut().circuit;
        if circuit.is_spent() {
            return Vec::new();
        }
        let condition = if event.fault == NodeId::FALSE { event.guard } else { circuit.or([event.guard, event.fault]) };
        let slot_count = self.layout.slots.len();
        let mut needs = Vec::new();
        for (slot, values) in circuit.known_values(condition) {
            if slot as usize >= slot_count || circuit.is_wide(slot) {
                continue;
            }
            let entry = &self.layout.slots[SlotId::from_position(slot as usize)];
            let mut codes: Vec<u64> = Vec::new();
            for position in values.iter() {
                let code = entry.stored(circuit.values(slot)[position]).expect("a value of the slot") as usize;
                if codes.len() <= code / 64 {
                    codes.resize(code / 64 + 1, 0);
                }
                codes[code / 64] |= 1 << (code % 64);
            }
            needs.push(Need { slot: SlotId::from_position(slot as usize), codes: codes.into() });
        }
        needs.sort_by_key(|need| need.slot);
        needs
    }

    /// The part of the text that distinguishes the first members of two cells.
    fn cause(&mut self, part: &EventSet, partition: &Partition) -> Option<Cause> {
        if *partition == self.coarsest() || part.events.is_empty() {
            return None;
        }
        let cells = partition.cells();
        let (first, second) = cells.iter().find_map(|cell| {
            let other = cells.iter().find(|other| {
                other[0] != cell[0] && self.families.family_of(other[0]) == self.families.family_of(cell[0])
            })?;
            Some((cell[0], other[0]))
        })?;
        let place_of = cycle_places(self.families.members(), &[first, second]);
        let generator = self.literal_permutation(&place_of)?;
        let (_, relabelling) = self.certifier.relabelling(&generator).ok()?;
        let members = (first, second);
        let by_arguments: FxHashMap<&[i64], &Event> =
            part.events.iter().map(|event| (&event.arguments[..], event)).collect();
        let mut known = FxHashMap::default();
        for event in &part.events {
            let circuit = &mut self.certifier.behaviour_mut().circuit;
            let image = event.relabelled(circuit, &relabelling, &mut known);
            if image.is_some_and(|image| part.contains(&image)) {
                continue;
            }
            let Action::Rule(rule) = event.action else { continue };
            let entry = &self.model.rules[rule];
            let arguments: Vec<i64> = if entry.parameters.len() == event.arguments.len() {
                let permuted = entry.parameters.iter().zip(&event.arguments);
                permuted
                    .map(|(parameter, &value)| match parameter.range {
                        Iteration::Over(ty) => self.families.argument(ty, value, &place_of),
                        Iteration::Steps { .. } => value,
                    })
                    .collect()
            } else {
                event.arguments.clone()
            };
            let guard = |part: ExprId| Some(Cause { span: entry.span, part: Some(part), members });
            match by_arguments.get(&arguments[..]) {
                // The instance with the exchanged arguments can never fire, because of a condition of the guard on its
                // arguments.
                None => {
                    let mut always = event.guard_parts.iter().filter(|(_, condition)| *condition == NodeId::TRUE);
                    if let Some(&(part, _)) = always.next() {
                        return guard(part);
                    }
                }
                // The conjunct of the guard that differs.
                Some(other) => {
                    for &(part, condition) in &event.guard_parts {
                        let image = circuit.relabelled(condition, &relabelling, &mut known);
                        let other = other.guard_parts.iter().find(|(own, _)| *own == part);
                        if image.is_none() || image != other.map(|&(_, condition)| condition) {
                            return guard(part);
                        }
                    }
                }
            }
            let span = event.write_spans.first().copied().unwrap_or(entry.span);
            return Some(Cause { span, part: None, members });
        }
        None
    }
}

/// The role of a member in the events of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Label {
    /// Equal for members that can be exchanged.
    sum: u64,
    /// Whether any of the events involves it.
    concerned: bool,
}

/// The role of each member in the events of a group.
fn labels(
    slots: &SlotMembers,
    circuit: &Circuit,
    part: &EventSet,
    members: usize,
    budget: &Budget,
) -> Result<Vec<Label>, Spent> {
    let mut labels = vec![Label::default(); members];
    for event in &part.events {
        budget.spend((1 + members + event.writes.len()) as u64)?;
        let signature = slots.sign(circuit, event);
        for (label, own) in labels.iter_mut().zip(&signature.members) {
            let both = (own ^ signature.whole.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15 | 1);
            label.sum = label.sum.wrapping_add(both).wrapping_add(own.wrapping_mul(signature.whole | 1));
            label.concerned |= *own != 0;
        }
    }
    Ok(labels)
}

/// The slots that nodes depend on.
fn slots_below(circuit: &Circuit, roots: Vec<NodeId>) -> Vec<u32> {
    let mut slots = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut pending = roots;
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        match circuit.node(node) {
            Node::In { slot, .. } | Node::SlotValue(slot) => slots.push(*slot),
            Node::Table { slots: own, .. } => slots.extend(own.iter()),
            other => other.for_each_child(|child| pending.push(child)),
        }
    }
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// The permutation of members that maps each of some members to the next.
fn cycle_places(members: usize, cycle: &[usize]) -> Vec<usize> {
    let mut place_of: Vec<usize> = (0..members).collect();
    for (position, &member) in cycle.iter().enumerate() {
        place_of[member] = cycle[(position + 1) % cycle.len()];
    }
    place_of
}

/// All slots of a role are assumed to hold the same values, closed under renaming of members. Otherwise a value that
/// only one member can take would prevent it from being exchanged.
fn ties(layout: &Layout, families: &Families) -> Ties {
    let mut ties = Ties { set_of: vec![None; layout.slots.len()], sets: Vec::new() };
    for role in families.roles() {
        let mut tied = TiedSlots::default();
        role.for_each_slot(|slot, _| {
            ties.set_of[slot] = Some(ties.sets.len() as u32);
            tied.slots.push(slot as u32);
        });
        if let Some(held) = &role.held {
            for family in families.list().iter().filter(|family| held.code(family.first) != u64::MAX) {
                tied.together.push((0..family.size).map(|position| family.value(position)).collect());
            }
        }
        ties.sets.push(tied);
    }
    ties
}
