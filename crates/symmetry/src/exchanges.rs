//! Exchanges of two values of a type, wherever they occur: as indices and as values. Finds which values of a type can
//! be exchanged freely, so that representatives can be found by sorting.
//!
//! If the group is not the full symmetric one (a ring of processes, the corners of a hypercube), n²/2 pairs of n values
//! would have to be tested. Almost all are ruled out by the *orbitals* of the group, its orbits on pairs: an exchange
//! of a and b that is in the group maps (a, c) to (b, c) for every other c. The remaining ones are certified like any
//! other generator.

use quotient_groups::{OrbitPartition, Point, SparsePermutation};
use quotient_ir::{Budget, Layout, Model, SlotId, Spent, TableIndex, TypeId, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::certify::Certifier;
use crate::error::DetectionError;
use crate::explain::collect_index_types;
use crate::interchangeable::InterchangeableValues;
use crate::literals::{Literals, StateMap};

/// The largest number of values of a type for which exchanges are searched.
const INTERCHANGE_LIMIT: u64 = 1024;
/// The largest number of objects for which the orbits on pairs are computed.
const ORBITAL_LIMIT: usize = 2048;

/// Finds which values of types can be exchanged freely. Only values whose parts and occurrences are in the same orbits
/// are tried, and every exchange is certified.
pub(crate) fn interchangeable_values(
    model: &Model,
    layout: &Layout,
    literals: &Literals,
    generators: &[(SparsePermutation, StateMap)],
    certifier: &mut Certifier<'_>,
    budget: &Budget,
) -> Result<Vec<InterchangeableValues>, DetectionError> {
    if generators.is_empty() {
        return Ok(Vec::new());
    }
    let mut types: Vec<TypeId> = Vec::new();
    for (_, map) in generators {
        for slot_move in map.moves() {
            let entry = &layout.slots[slot_move.from];
            if !types.contains(&entry.ty) {
                types.push(entry.ty);
            }
        }
    }
    for variable in model.variables.iter() {
        collect_index_types(model, variable.ty, &mut types);
    }
    let mut orbits = OrbitPartition::new(literals.degree());
    let mut slot_orbits = OrbitPartition::new(layout.slots.len());
    for (generator, map) in generators {
        budget.spend(generator.support().len() as u64)?;
        orbits.merge_cycles(generator);
        for slot_move in map.moves() {
            slot_orbits.merge(slot_move.from.position() as Point, slot_move.to.position() as Point);
        }
    }
    let mut found = Vec::new();
    for ty in types {
        let domain = model.domain(ty);
        let is_union = matches!(model.types[ty].kind, TypeKind::Union { .. });
        if is_union || domain.size() < 2 || domain.size() > INTERCHANGE_LIMIT {
            continue;
        }
        budget.spend(layout.slots.len() as u64)?;
        let exchanges = Exchanges::of_type(model, layout, literals, ty);
        let occurrences = exchanges.occurrences();
        if occurrences.as_ref().is_some_and(|occurrences| occurrences.are_apart(&mut orbits, &mut slot_orbits)) {
            continue;
        }
        let mut orbitals = match occurrences {
            Some(occurrences) => Orbitals::new(&occurrences, generators, budget)?,
            None => None,
        };
        let mut classes: Vec<InterchangeableValues> = Vec::new();
        'values: for value in domain.values() {
            for class in &mut classes {
                let last = *class.values.last().expect("a class has a value");
                let codes = [last, value].map(|value| domain.code_of(value).expect("a value of the type") as usize);
                if orbitals.as_mut().is_some_and(|orbitals| !orbitals.allow(codes)) {
                    continue;
                }
                budget.spend(1 + exchanges.size(codes) as u64)?;
                let Some(exchange) = exchanges.permutation(codes) else { continue };
                let plausible =
                    !exchange.is_identity() && exchange.moves().all(|(from, to)| orbits.find(from) == orbits.find(to));
                if !plausible {
                    continue;
                }
                match certifier.check(&exchange) {
                    Ok(_) => {
                        class.values.push(value);
                        class.exchanges.push(exchange);
                        continue 'values;
                    }
                    Err(rejection) => {
                        DetectionError::of_candidate(rejection, || literals.describe(model, layout, &exchange))?;
                    }
                }
            }
            classes.push(InterchangeableValues { ty, values: vec![value], exchanges: Vec::new() });
        }
        found.extend(classes.into_iter().filter(|class| class.values.len() > 1));
    }
    Ok(found)
}

/// The occurrences of the values of a type. Values are given by their codes.
struct Exchanges<'a> {
    literals: &'a Literals,
    /// The first value.
    first: i64,
    /// For each value, the slots with it as an index on their path.
    indexed: Vec<Vec<SlotId>>,
    /// For each slot, the indices of the type on its path: the value, and the distance between the slots of
    /// neighbouring values.
    steps: Vec<Vec<(u32, u64)>>,
    /// Slots that hold values of the type.
    holders: Vec<SlotId>,
}

impl<'a> Exchanges<'a> {
    fn of_type(model: &Model, layout: &Layout, literals: &'a Literals, ty: TypeId) -> Self {
        let domain = model.domain(ty);
        let mut steps: Vec<Vec<(u32, u64)>> = Vec::with_capacity(layout.slots.len());
        for variable in model.variables.iter() {
            index_steps(model, variable.ty, ty, &mut steps);
        }
        let mut indexed = vec![Vec::new(); domain.size() as usize];
        for (slot, steps) in steps.iter().enumerate() {
            let slot = SlotId::from_position(slot);
            for &(code, _) in steps {
                let slots: &mut Vec<SlotId> = &mut indexed[code as usize];
                if slots.last() != Some(&slot) {
                    slots.push(slot);
                }
            }
        }
        let mut holding: FxHashMap<TypeId, bool> = FxHashMap::default();
        let holders = layout
            .slots
            .iter_enumerated()
            .filter(|(_, slot)| *holding.entry(slot.ty).or_insert_with(|| holds(model, slot.ty, ty)))
            .map(|(slot, _)| slot)
            .collect();
        Self { literals, first: domain.least(), indexed, steps, holders }
    }

    /// The number of slots affected by the exchange of two values.
    fn size(&self, [first, second]: [usize; 2]) -> usize {
        self.indexed[first].len() + self.indexed[second].len() + self.holders.len()
    }

    /// The exchange of two values as a permutation of literals, if it is one.
    fn permutation(&self, [first, second]: [usize; 2]) -> Option<SparsePermutation> {
        let mut slots: Vec<SlotId> = [&self.indexed[first], &self.indexed[second], &self.holders]
            .into_iter()
            .flat_map(|slots| slots.iter().copied())
            .collect();
        slots.sort_unstable();
        slots.dedup();
        let codes = [first as i64, second as i64];
        let values = codes.map(|code| self.first + code);
        let exchanged = |value: Option<i64>| match value {
            Some(value) if value == values[0] => Some(values[1]),
            Some(value) if value == values[1] => Some(values[0]),
            value => value,
        };
        let mut moves: Vec<(Point, Point)> = Vec::new();
        for slot in slots {
            let mut image = slot.position() as i64;
            for &(code, stride) in &self.steps[slot.position()] {
                let to = exchanged(Some(self.first + i64::from(code))).expect("a value goes to a value") - self.first;
                image += (to - i64::from(code)) * stride as i64;
            }
            let image = SlotId::from_position(image as usize);
            let (own, other) = (&self.literals.slots()[slot], &self.literals.slots()[image]);
            let is_holder = self.holders.binary_search(&slot).is_ok();
            if own.wide {
                if is_holder {
                    return None;
                }
                moves.push((own.first, other.first));
            } else if own.values.len() == 1 && other.values.len() == 1 {
                // Constants: functions read their values, wherever they lie.
            } else if image == slot {
                for (position, value) in own.values.iter().enumerate().filter(|&(_, &value)| exchanged(value) != value)
                {
                    let point = self.literals.point(slot, exchanged(*value))?;
                    moves.push((own.first + position as Point, point));
                }
            } else {
                for (position, &value) in own.values.iter().enumerate() {
                    let value = if is_holder { exchanged(value) } else { value };
                    moves.push((own.first + position as Point, self.literals.point(image, value)?));
                }
            }
        }
        moves.retain(|(from, to)| from != to);
        SparsePermutation::from_moves(moves).ok()
    }

    /// An occurrence of each value that every exchange permutes like the values.
    fn occurrences(&self) -> Option<Occurrences<'_>> {
        let count = self.indexed.len();
        let is_constant = |slot: SlotId| {
            let entry = &self.literals.slots()[slot];
            !entry.wide && entry.values.len() < 2
        };
        for &slot in &self.indexed[0] {
            let steps = &self.steps[slot.position()];
            if steps.iter().any(|&(code, _)| code != 0) {
                continue;
            }
            let stride: u64 = steps.iter().map(|&(_, stride)| stride).sum();
            let slots = (0..count).map(|code| SlotId::from_position(slot.position() + code * stride as usize));
            if slots.clone().all(|slot| !is_constant(slot)) {
                let names = slots.map(|slot| slot.position() as u32).collect();
                return Some(Occurrences { literals: self.literals, kind: Occurrence::Slot, names });
            }
        }
        for &slot in &self.holders {
            if !self.steps[slot.position()].is_empty() || self.literals.slots()[slot].wide {
                continue;
            }
            let points = (0..count).map(|code| self.literals.point(slot, Some(self.first + code as i64)));
            if let Some(names) = points.collect() {
                return Some(Occurrences { literals: self.literals, kind: Occurrence::Literal, names });
            }
        }
        None
    }
}

/// Adds the indices of a type on the path to each cell of another type.
fn index_steps(model: &Model, ty: TypeId, wanted: TypeId, steps: &mut Vec<Vec<(u32, u64)>>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            let start = steps.len();
            index_steps(model, *element, wanted, steps);
            let stride = steps.len() - start;
            let domain = model.domain(*index);
            let wanted_domain = model.domain(wanted);
            let has_wanted = holds(model, *index, wanted);
            let element_steps = steps.split_off(start);
            for value in domain.values() {
                let code = wanted_domain.code_of(value).filter(|_| has_wanted);
                let own = code.map(|code| (code as u32, stride as u64));
                steps.extend(element_steps.iter().map(|inner| own.into_iter().chain(inner.iter().copied()).collect()));
            }
        }
        TypeKind::Record { fields } => {
            for field in fields {
                index_steps(model, field.ty, wanted, steps);
            }
        }
        // The cells of a multiset have no indices.
        TypeKind::Multiset { .. } => steps.resize(steps.len() + model.cells(ty) as usize, Vec::new()),
        _ => steps.push(Vec::new()),
    }
}

/// Whether a scalar type is the given one or a union that contains it.
fn holds(model: &Model, ty: TypeId, wanted: TypeId) -> bool {
    match &model.types[ty].kind {
        TypeKind::Union { members } => members.iter().any(|&member| holds(model, member, wanted)),
        _ => ty == wanted,
    }
}

/// A slot or literal for each value of a type.
struct Occurrences<'a> {
    literals: &'a Literals,
    kind: Occurrence,
    names: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Occurrence {
    Slot,
    Literal,
}

impl Occurrences<'_> {
    /// Whether all are in different orbits, so that no two values can be exchanged.
    fn are_apart(&self, orbits: &mut OrbitPartition, slot_orbits: &mut OrbitPartition) -> bool {
        let orbits = match self.kind {
            Occurrence::Slot => slot_orbits,
            Occurrence::Literal => orbits,
        };
        let mut seen = FxHashSet::default();
        self.names.iter().all(|&name| seen.insert(orbits.find(name)))
    }

    fn image(&self, generator: &SparsePermutation, name: u32) -> u32 {
        match self.kind {
            Occurrence::Literal => generator.image(name),
            Occurrence::Slot => {
                let first = self.literals.slots()[SlotId::from_position(name as usize)].first;
                self.literals.slot_of(generator.image(first)).position() as u32
            }
        }
    }
}

/// The orbits of the group on pairs of occurrences.
struct Orbitals {
    values: usize,
    things: usize,
    pairs: OrbitPartition,
}

impl Orbitals {
    /// `None` if there are too many.
    ///
    /// # Errors
    /// If the budget is spent.
    fn new(
        occurrences: &Occurrences<'_>,
        generators: &[(SparsePermutation, StateMap)],
        budget: &Budget,
    ) -> Result<Option<Self>, Spent> {
        let mut things = occurrences.names.clone();
        let mut numbers: FxHashMap<u32, u32> =
            things.iter().enumerate().map(|(number, &thing)| (thing, number as u32)).collect();
        let mut next = 0;
        // The moves of each generator on the objects, which are closed under all generators.
        let mut moves: Vec<Vec<(u32, u32)>> = vec![Vec::new(); generators.len()];
        while next < things.len() {
            budget.spend(generators.len() as u64)?;
            for ((generator, _), moves) in generators.iter().zip(&mut moves) {
                let image = occurrences.image(generator, things[next]);
                if image != things[next] {
                    let number = *numbers.entry(image).or_insert_with(|| {
                        things.push(image);
                        things.len() as u32 - 1
                    });
                    moves.push((next as u32, number));
                }
            }
            if things.len() > ORBITAL_LIMIT {
                return Ok(None);
            }
            next += 1;
        }
        let count = things.len() as u32;
        let mut pairs = OrbitPartition::new((count * count) as usize);
        let mut images: Vec<u32> = (0..count).collect();
        for moves in &moves {
            for &(from, to) in moves {
                images[from as usize] = to;
            }
            for &(from, to) in moves {
                budget.spend(u64::from(count))?;
                for (other, &image) in (0..count).zip(&images) {
                    pairs.merge(from * count + other, to * count + image);
                    if other == image {
                        pairs.merge(other * count + from, image * count + to);
                    }
                }
            }
            for &(from, _) in moves {
                images[from as usize] = from;
            }
        }
        Ok(Some(Self { values: occurrences.names.len(), things: things.len(), pairs }))
    }

    /// Whether the group may contain the exchange of two values.
    fn allow(&mut self, [first, second]: [usize; 2]) -> bool {
        let things = self.things;
        let mut same = |a: (usize, usize), b: (usize, usize)| {
            self.pairs.find((a.0 * things + a.1) as Point) == self.pairs.find((b.0 * things + b.1) as Point)
        };
        same((first, second), (second, first))
            && (0..self.values)
                .filter(|&other| other != first && other != second)
                .all(|other| same((first, other), (second, other)) && same((other, first), (other, second)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Request;
    use quotient_functions::{self as functions, Preserved};
    use quotient_ir::Source;
    use quotient_kit::LoadOptions;
    use quotient_murphi::LANGUAGE;

    fn model(text: &str) -> Model {
        let source = Source::new("test.m", text.to_owned());
        LANGUAGE.load(source, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error:?}")).model
    }

    /// Indices once and twice on a path, values, indices and values of unions, records, constants.
    const EVERYWHERE: &str = "
        type
          p: scalarset(3); q: enum { a, b }; u: union { p, q };
          r: record own: p; others: array [p] of boolean end;
        var
          m: array [p] of array [p] of 0..2;
          w: array [u] of r;
          owner: u; holder: p; small: 0..1; constant: array [p] of 1..5;
        startstate
          for i: p do
            for j: p do m[i][j] := 0 end;
            constant[i] := 3
          end;
          for i: u do clear w[i] end;
          small := 0
        end;
        ruleset i: p; j: p do
          rule true ==> m[i][j] := (m[i][j] + 1) % 3; owner := i; holder := j; w[i].own := j; w[a].others[i] := true end
        end;
        rule true ==> owner := b; small := 1 - small end;";

    #[test]
    fn exchanges_are_those_that_are_asked_for() {
        let model = model(EVERYWHERE);
        let layout = Layout::new(&model).expect("a layout");
        let literals = Literals::of_functions(
            &functions::unfold(&model, &layout, Preserved::Properties(&[]), &Budget::unlimited()).expect("unlimited"),
        );
        let mut compared = 0;
        for (ty, entry) in model.types.iter_enumerated() {
            let is_union = matches!(entry.kind, TypeKind::Union { .. });
            if !model.is_scalar(ty) || is_union || !(2..16).contains(&model.domain(ty).size()) {
                continue;
            }
            let exchanges = Exchanges::of_type(&model, &layout, &literals, ty);
            let domain = model.domain(ty);
            for (code, first) in domain.values().enumerate() {
                for (other, second) in domain.values().enumerate().skip(code + 1) {
                    let request = Request::Exchange { ty, first, second };
                    let expected = request.permutation(&model, &layout, &literals).ok();
                    assert_eq!(exchanges.permutation([code, other]), expected, "{request:?}");
                    compared += usize::from(expected.is_some_and(|permutation| !permutation.is_identity()));
                }
            }
        }
        assert!(compared >= 3, "{compared}");
    }

    #[test]
    fn orbitals_rule_out_what_a_ring_does_not_have() {
        let check = |next: &str, expected: &[usize]| {
            let model = model(&format!(
                "type p: 0..5; var x: array [p] of boolean;
                 startstate for i: p do x[i] := false end end;
                 ruleset i: p; j: p do rule {next} & (x[i] | !x[j]) ==> x[j] := !x[j] end end;"
            ));
            let layout = Layout::new(&model).expect("a layout");
            let found = crate::detect(&model, &layout, &[], &Budget::unlimited()).expect("certified");
            let sizes: Vec<usize> = found.group.interchangeable().iter().map(|class| class.values.len()).collect();
            assert_eq!(sizes, expected, "{next}");
        };
        check("j = (i + 1) % 6", &[]);
        check("i != j", &[6]);
        check("(i < 3) = (j < 3)", &[3, 3]);
        check("(i < 2) = (j < 4)", &[2, 2, 2]);
    }
}
