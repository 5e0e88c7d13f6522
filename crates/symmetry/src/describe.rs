//! Symmetries in terms of the source text: permutations of the values of declared types if possible, and otherwise the
//! parts of variables that move and the values that change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_ir::{Layout, Model, SlotId, TableIndex, TypeId, TypeKind, VariableId};

use crate::certify::CertifiedGroup;
use crate::individuals::short_value_name;
use crate::literals::{Literals, SlotMove, StateMap};
use crate::places::Places;

/// A symmetry in source terms. Everything moves as `types` says, except where `parts` and `values` say otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Types whose values permute wherever they occur, as values and as indices.
    pub types: Vec<TypeMove>,
    /// Parts of variables that are mapped to each other, cycle by cycle.
    pub parts: Vec<Vec<String>>,
    /// Values that change within their slots, or while moving to another slot.
    pub values: Vec<ValueMove>,
}

/// A permutation of the values of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMove {
    /// The type.
    pub ty: TypeId,
    /// Its name.
    pub name: String,
    /// The cycles, by the names of the values.
    pub cycles: Vec<Vec<String>>,
}

/// The images of the values of some slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueMove {
    /// The slots; `*` denotes all values of an index.
    pub places: Vec<String>,
    /// Cycles of values, if the values are the same before and after.
    pub cycles: Vec<Vec<String>>,
    /// Otherwise, pairs of values and their images.
    pub pairs: Vec<(String, String)>,
}

/// What a group moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Types that some generator permutes wherever they occur.
    pub types: BTreeSet<TypeId>,
    /// Variables with a part that is moved or whose values change.
    pub variables: BTreeSet<VariableId>,
}

impl Description {
    /// The cycles and maps, one text each: `(process 1 2)`, `n[1] ↔ n[2]`, `label[*]: 0 ↔ 1`.
    pub fn cycles(&self) -> Vec<String> {
        self.cycles_within(usize::MAX)
    }

    /// The same with a limit on the number of names per cycle or list.
    pub fn cycles_within(&self, longest: usize) -> Vec<String> {
        let mut texts = Vec::new();
        for TypeMove { name, cycles, .. } in &self.types {
            texts.extend(cycles.iter().map(|cycle| format!("({name} {})", shortened(cycle, longest, " "))));
        }
        texts.extend(self.parts.iter().map(|cycle| arrows(cycle, longest)));
        for ValueMove { places, cycles, pairs } in &self.values {
            let mut maps: Vec<String> = cycles.iter().map(|cycle| arrows(cycle, longest)).collect();
            maps.extend(pairs.iter().map(|(from, to)| format!("{from} → {to}")));
            texts.push(format!("{}: {}", shortened(places, longest, ", "), shortened(&maps, longest, ", ")));
        }
        texts
    }

    /// Everything on one line, with limits on the number of names per cycle and of cycles.
    pub fn line(&self, longest: usize) -> String {
        let texts = self.cycles_within(longest);
        let mut line = String::new();
        for (position, text) in texts.iter().take(longest).enumerate() {
            // Cycles in parentheses need no comma between them.
            if position > 0 && !(text.starts_with('(') && line.ends_with(')')) {
                line.push_str(", ");
            }
            line.push_str(text);
        }
        if texts.len() > longest {
            line.push_str(&format!(", … ({} more)", texts.len() - longest));
        }
        line
    }
}

impl fmt::Display for Description {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.line(usize::MAX))
    }
}

/// The names, or the first few and the last.
fn shortened(names: &[String], longest: usize, separator: &str) -> String {
    if names.len() <= longest.max(2) {
        return names.join(separator);
    }
    let (first, last) = (&names[..longest - 1], &names[names.len() - 1]);
    [&first.join(separator), "…", last].join(separator)
}

/// A cycle with arrows.
fn arrows(cycle: &[String], longest: usize) -> String {
    match cycle {
        [first, second] => format!("{first} ↔ {second}"),
        [first, ..] => format!("{} → {first}", shortened(cycle, longest, " → ")),
        [] => String::new(),
    }
}

/// Describes symmetries of a model.
pub struct Describer<'m> {
    model: &'m Model,
    layout: &'m Layout,
    literals: &'m Literals,
    places: Places<'m>,
    /// For each value of a type, the slots that have it as an index or a value.
    users: FxHashMap<(TypeId, i64), Vec<SlotId>>,
    /// Types that index an array.
    index_types: FxHashSet<TypeId>,
}

/// The values of types that permute.
type TypeMaps = BTreeMap<TypeId, BTreeMap<i64, i64>>;

impl<'m> Describer<'m> {
    /// Prepares a model with the literals of a group.
    pub fn new(model: &'m Model, layout: &'m Layout, literals: &'m Literals) -> Self {
        let places = Places::new(model, layout);
        let mut users: FxHashMap<(TypeId, i64), Vec<SlotId>> = FxHashMap::default();
        let mut index_types = FxHashSet::default();
        for (slot, entry) in layout.slots.iter_enumerated() {
            // A slot with one value is a constant: its location does not matter.
            if !is_notable(literals, slot) {
                continue;
            }
            for &(ty, value) in &places.path(slot).indices {
                index_types.insert(ty);
                users.entry((member(model, ty, value), value)).or_default().push(slot);
            }
            for value in values(literals, slot) {
                users.entry((member(model, entry.ty, value), value)).or_default().push(slot);
            }
        }
        Self { model, layout, literals, places, users, index_types }
    }

    /// A symmetry in source terms.
    pub fn describe(&self, map: &StateMap) -> Description {
        let moves: FxHashMap<SlotId, &SlotMove> = map.moves().iter().map(|entry| (entry.from, entry)).collect();
        let types = self.type_maps(&moves);

        // Whatever moves, or would have to move with a type.
        let mut concerned: BTreeSet<SlotId> = moves.keys().copied().collect();
        for (&ty, values) in &types {
            for &value in values.keys() {
                concerned.extend(self.users.get(&(ty, value)).into_iter().flatten());
            }
        }
        let mut elsewhere: BTreeSet<SlotId> = BTreeSet::new();
        let mut changed: BTreeMap<Vec<(String, String)>, BTreeSet<SlotId>> = BTreeMap::new();
        for &slot in &concerned {
            if self.expected_slot(&types, slot) != Some(target(&moves, slot)) {
                // The whole cycle, so that it can be written as one.
                let mut next = slot;
                while elsewhere.insert(next) {
                    next = target(&moves, next);
                }
            }
            let ty = self.layout.slots[slot].ty;
            let mut images = Vec::new();
            let mut as_expected = true;
            for value in values(self.literals, slot) {
                let image = image(&moves, slot, value);
                as_expected &= image == mapped(&types, member(self.model, ty, value), value);
                images
                    .push((self.places.value(slot, Some(value)), self.places.value(target(&moves, slot), Some(image))));
            }
            if !as_expected {
                changed.entry(images).or_default().insert(slot);
            }
        }
        let mut value_moves: Vec<(SlotId, ValueMove)> = changed
            .into_iter()
            .map(|(images, slots)| {
                let first = *slots.first().expect("a map is that of a slot");
                let places = self.places.names(&slots, |slot| is_notable(self.literals, slot));
                (first, value_move(places, &images))
            })
            .collect();
        value_moves.sort_by_key(|(first, _)| *first);
        Description {
            types: types.iter().map(|(&ty, values)| self.type_move(ty, values)).collect(),
            parts: self.part_cycles(&moves, &elsewhere),
            values: value_moves.into_iter().map(|(_, entry)| entry).collect(),
        }
    }

    /// The values of types that a map permutes wherever they occur.
    pub(crate) fn value_maps(&self, map: &StateMap) -> BTreeMap<TypeId, BTreeMap<i64, i64>> {
        self.type_maps(&map.moves().iter().map(|entry| (entry.from, entry)).collect())
    }

    /// What the generators of a group move.
    pub fn moved(&self, group: &CertifiedGroup) -> Moved {
        let mut moved = Moved::default();
        for map in group.maps() {
            let moves: FxHashMap<SlotId, &SlotMove> = map.moves().iter().map(|entry| (entry.from, entry)).collect();
            moved.types.extend(self.type_maps(&moves).into_keys());
            moved.variables.extend(
                moves
                    .keys()
                    .filter(|&&slot| is_notable(self.literals, slot))
                    .map(|&slot| self.layout.slots[slot].variable),
            );
        }
        moved
    }

    /// The types whose values permute wherever they occur.
    fn type_maps(&self, moves: &FxHashMap<SlotId, &SlotMove>) -> TypeMaps {
        let mut maps = TypeMaps::new();
        let mut torn: BTreeSet<TypeId> = BTreeSet::new();
        let mut add = |(ty, value): (TypeId, i64), (image_type, image): (TypeId, i64)| {
            let own = member(self.model, ty, value);
            let known = maps.entry(own).or_default().insert(value, image);
            if known.is_some_and(|known| known != image) || own != member(self.model, image_type, image) {
                torn.insert(own);
            }
        };
        for (&from, entry) in moves.iter().filter(|(slot, _)| is_notable(self.literals, **slot)) {
            let (path, target) = (self.places.path(from), self.places.path(entry.to));
            if path.shape == target.shape {
                for (&index, &image) in path.indices.iter().zip(&target.indices) {
                    add(index, image);
                }
            }
            if let Some(pairs) = &entry.values {
                let (ty, target_type) = (self.layout.slots[from].ty, self.layout.slots[entry.to].ty);
                for (value, image) in pairs.iter().filter_map(|&(value, image)| value.zip(image)) {
                    add((ty, value), (target_type, image));
                }
            }
        }
        maps.retain(|ty, values| {
            values.retain(|value, image| value != image);
            let images: BTreeSet<i64> = values.values().copied().collect();
            !values.is_empty()
                && !torn.contains(ty)
                && self.model.types[*ty].name.is_some()
                // "All booleans" is less informative than which.
                && (self.model.types[*ty].kind != TypeKind::Boolean || self.index_types.contains(ty))
                && images.iter().eq(values.keys())
        });
        maps.retain(|&ty, values| self.is_followed(ty, values, moves));
        maps
    }

    /// Whether every slot affected by a permutation of a type's values moves accordingly.
    fn is_followed(&self, ty: TypeId, map: &BTreeMap<i64, i64>, moves: &FxHashMap<SlotId, &SlotMove>) -> bool {
        let image_of = |value: i64| map.get(&value).copied().unwrap_or(value);
        map.keys().filter_map(|&value| self.users.get(&(ty, value))).flatten().all(|&slot| {
            let (path, target) = (self.places.path(slot), self.places.path(target(moves, slot)));
            let indices_follow = path.indices.iter().enumerate().all(|(position, &(index, value))| {
                member(self.model, index, value) != ty
                    || (path.shape == target.shape && target.indices[position].1 == image_of(value))
            });
            let own = self.layout.slots[slot].ty;
            let values_follow = values(self.literals, slot)
                .all(|value| member(self.model, own, value) != ty || image(moves, slot, value) == image_of(value));
            indices_follow && values_follow
        })
    }

    /// The image of a slot under permutations of types.
    fn expected_slot(&self, types: &TypeMaps, slot: SlotId) -> Option<SlotId> {
        let path = self.places.path(slot);
        let image = |&(ty, value): &(TypeId, i64)| mapped(types, member(self.model, ty, value), value);
        self.places.slot(path.shape, path.indices.iter().map(image).collect())
    }

    fn type_move(&self, ty: TypeId, values: &BTreeMap<i64, i64>) -> TypeMove {
        let name = self.model.types[ty].name.clone().unwrap_or_default();
        let cycles = cycles_of(values)
            .into_iter()
            .map(|cycle| cycle.into_iter().map(|value| short_value_name(self.model, ty, value)).collect());
        TypeMove { ty, name, cycles: cycles.collect() }
    }

    /// The cycles of the given slots, as parts of variables that are as large as possible.
    fn part_cycles(&self, moves: &FxHashMap<SlotId, &SlotMove>, slots: &BTreeSet<SlotId>) -> Vec<Vec<String>> {
        let mut cycles = Vec::new();
        let mut done: FxHashSet<SlotId> = FxHashSet::default();
        let mut variables: Vec<VariableId> = slots.iter().map(|&slot| self.layout.slots[slot].variable).collect();
        variables.dedup();
        for variable in variables {
            let first = self.layout.first_slot(variable).position();
            self.add_part_cycles(moves, slots, self.model.variables[variable].ty, first, &mut done, &mut cycles);
        }
        cycles
    }

    /// The depth of the recursion is that of the type.
    fn add_part_cycles(
        &self,
        moves: &FxHashMap<SlotId, &SlotMove>,
        slots: &BTreeSet<SlotId>,
        ty: TypeId,
        first: usize,
        done: &mut FxHashSet<SlotId>,
        cycles: &mut Vec<Vec<String>>,
    ) {
        let cells = self.model.cells(ty) as usize;
        let range = SlotId::from_position(first)..SlotId::from_position(first + cells);
        if slots.range(range).all(|slot| done.contains(slot)) {
            return;
        }
        if let Some(cycle) = self.part_cycle(moves, ty, first) {
            for &part in &cycle {
                done.extend((part..part + cells).map(SlotId::from_position));
            }
            let name = |&part: &usize| self.places.part(SlotId::from_position(part), ty);
            cycles.push(cycle.iter().filter_map(name).collect());
            return;
        }
        match &self.model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let stride = self.model.cells(*element) as usize;
                for code in 0..self.model.domain(*index).size() as usize {
                    self.add_part_cycles(moves, slots, *element, first + code * stride, done, cycles);
                }
            }
            TypeKind::Record { fields } => {
                let mut first = first;
                for field in fields {
                    self.add_part_cycles(moves, slots, field.ty, first, done, cycles);
                    first += self.model.cells(field.ty) as usize;
                }
            }
            _ => {
                // A scalar that is mapped to one of another type, or a part of a multiset.
                let mut cycle = Vec::new();
                let mut next = SlotId::from_position(first);
                while slots.contains(&next) && done.insert(next) {
                    cycle.push(self.places.name(next));
                    next = target(moves, next);
                }
                if cycle.len() > 1 {
                    cycles.push(cycle);
                }
            }
        }
    }

    /// The first slots of the parts in the cycle of a part, if each is mapped to the next as a whole.
    fn part_cycle(&self, moves: &FxHashMap<SlotId, &SlotMove>, ty: TypeId, first: usize) -> Option<Vec<usize>> {
        let cells = self.model.cells(ty) as usize;
        let mut cycle = vec![first];
        loop {
            let part = *cycle.last().expect("it starts with one");
            let mut next: Option<usize> = None;
            for offset in 0..cells {
                let slot = SlotId::from_position(part + offset);
                if !is_notable(self.literals, slot) {
                    continue;
                }
                let image = target(moves, slot).position().checked_sub(offset)?;
                if next.is_some_and(|known| known != image) {
                    return None;
                }
                next = Some(image);
            }
            let next = next?;
            if next == first {
                return (cycle.len() > 1).then_some(cycle);
            }
            if next == part {
                return None;
            }
            self.places.part(SlotId::from_position(next), ty)?;
            cycle.push(next);
        }
    }
}

/// Whether a slot has more than one value. Others are constants and not mentioned.
fn is_notable(literals: &Literals, slot: SlotId) -> bool {
    literals.slots()[slot].values.len() > 1
}

/// The values of a slot that could permute.
fn values(literals: &Literals, slot: SlotId) -> impl Iterator<Item = i64> + '_ {
    let entry = &literals.slots()[slot];
    entry.values.iter().filter(|_| !entry.wide).filter_map(|&value| value)
}

/// The type that a value of a union belongs to; the type itself if it is not a union.
pub(crate) fn member(model: &Model, ty: TypeId, value: i64) -> TypeId {
    match &model.types[ty].kind {
        TypeKind::Union { members } => {
            members.iter().copied().find(|&member| model.domain(member).contains(value)).unwrap_or(ty)
        }
        _ => ty,
    }
}

fn target(moves: &FxHashMap<SlotId, &SlotMove>, slot: SlotId) -> SlotId {
    moves.get(&slot).map_or(slot, |entry| entry.to)
}

fn image(moves: &FxHashMap<SlotId, &SlotMove>, slot: SlotId, value: i64) -> i64 {
    moves.get(&slot).and_then(|entry| entry.value(Some(value))).unwrap_or(value)
}

fn mapped(types: &TypeMaps, ty: TypeId, value: i64) -> i64 {
    types.get(&ty).and_then(|values| values.get(&value)).copied().unwrap_or(value)
}

/// The cycles of a permutation, each from its least element.
fn cycles_of<T: Copy + Ord>(map: &BTreeMap<T, T>) -> Vec<Vec<T>> {
    let mut seen = BTreeSet::new();
    let mut cycles = Vec::new();
    for &start in map.keys() {
        let mut cycle = Vec::new();
        let mut next = start;
        while seen.insert(next) {
            cycle.push(next);
            next = map[&next];
        }
        if cycle.len() > 1 {
            cycles.push(cycle);
        }
    }
    cycles
}

/// A map of values by their names; cycles if the names are the same before and after.
fn value_move(places: Vec<String>, images: &[(String, String)]) -> ValueMove {
    let position_of: FxHashMap<&str, usize> =
        images.iter().enumerate().map(|(position, (value, _))| (value.as_str(), position)).collect();
    let positions: Option<BTreeMap<usize, usize>> = images
        .iter()
        .enumerate()
        .map(|(position, (_, image))| Some((position, *position_of.get(image.as_str())?)))
        .collect();
    match positions {
        Some(map) => {
            let named = |cycle: Vec<usize>| cycle.into_iter().map(|position| images[position].0.clone()).collect();
            let cycles: Vec<Vec<String>> = cycles_of(&map).into_iter().map(named).collect();
            // If a type implies that values move, the description must say that these do not.
            let pairs = if cycles.is_empty() { images.to_vec() } else { Vec::new() };
            ValueMove { places, cycles, pairs }
        }
        None => ValueMove { places, cycles: Vec::new(), pairs: images.to_vec() },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use quotient_groups::{Point, SparsePermutation};
    use quotient_ir::Source;
    use quotient_kit::LoadOptions;
    use quotient_murphi::LANGUAGE;

    use super::*;
    use quotient_functions::{self as functions, Preserved};

    /// A model whose variables can hold anything.
    fn with_model<T>(declarations: &str, use_it: impl FnOnce(&Model, &Layout, &Literals) -> T) -> T {
        let mut text = format!("type {declarations}\nstartstate begin end;\n");
        let variables = declarations.split("var").nth(1).expect("variables");
        for declaration in variables.split(';').filter(|declaration| declaration.contains(':')) {
            let (name, ty) = declaration.split_once(':').expect("a name and a type");
            let (name, ty) = (name.trim(), ty.trim());
            text.push_str(&format!("ruleset v: {ty} do rule true ==> {name} := v; end; end;\n"));
        }
        let loaded = LANGUAGE.load(Source::new("model.m", text.clone()), &LoadOptions::default());
        let model = loaded.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).model;
        let layout = Layout::new(&model).expect("a layout");
        let literals = Literals::of_functions(
            &functions::unfold(&model, &layout, Preserved::Properties(&[]), &quotient_ir::Budget::unlimited())
                .expect("unlimited"),
        );
        use_it(&model, &layout, &literals)
    }

    /// Parses cycles of slots or literals, such as `x y`, `x=0 x=1`; the values of a slot move with it.
    fn permutation(model: &Model, layout: &Layout, literals: &Literals, cycles: &[&str]) -> SparsePermutation {
        let slot_named = |name: &str| {
            let found = layout.slots.iter_enumerated().find(|(_, slot)| slot.name == name);
            found.unwrap_or_else(|| panic!("no slot {name}")).0
        };
        let point = |text: &str| -> Point {
            let (slot, name) = text.split_once('=').expect("slot=value");
            let slot = slot_named(slot);
            let ty = layout.slots[slot].ty;
            let name_of =
                |value: Option<i64>| value.map_or("undefined".to_owned(), |value| model.value_name(ty, value));
            let mut values = literals.slots()[slot].values.iter();
            let value = values.find(|&&value| name_of(value) == name).unwrap_or_else(|| panic!("no literal {text}"));
            literals.point(slot, *value).expect("a literal")
        };
        let mut lists: Vec<Vec<Point>> = Vec::new();
        for cycle in cycles {
            let names: Vec<&str> = cycle.split(' ').collect();
            if names[0].contains('=') {
                lists.push(names.into_iter().map(point).collect());
            } else {
                let slots: Vec<SlotId> = names.into_iter().map(slot_named).collect();
                for position in 0..literals.slots()[slots[0]].values.len() {
                    lists.push(slots.iter().map(|&slot| literals.slots()[slot].first + position as Point).collect());
                }
            }
        }
        SparsePermutation::from_cycles(&lists).expect("disjoint cycles")
    }

    #[track_caller]
    fn check(declarations: &str, cycles: &[&str], expected: &str) {
        let said = with_model(declarations, |model, layout, literals| {
            let permutation = permutation(model, layout, literals, cycles);
            let map = literals.action(layout, &permutation).expect("an action on states");
            Describer::new(model, layout, literals).describe(&map).to_string()
        });
        assert_eq!(said, expected);
    }

    #[test]
    fn values_of_types() {
        let ring = "agent: 0..2; var n: array [agent] of 0..1;";
        check(ring, &["n[0] n[1] n[2]"], "(agent 0 1 2)");
        check(ring, &["n[1] n[2]"], "(agent 1 2)");
        let owner = "id: 1..3; var n: array [id] of 0..1; owner: id;";
        check(owner, &["n[1] n[2]", "owner=1 owner=2"], "(id 1 2)");
        check(owner, &["n[1] n[2] n[3]", "owner=1 owner=2 owner=3"], "(id 1 2 3)");
        let colours = "colour: enum { red, green, blue }; var c: array [1..2] of colour; last: colour;";
        check(colours, &["c[1]=red c[1]=blue", "c[2]=red c[2]=blue", "last=red last=blue"], "(colour red blue)");
        let two = "a: 1..2; b: 1..2; var n: array [a] of array [b] of 0..1;";
        check(two, &["n[1][1] n[2][2]", "n[1][2] n[2][1]"], "(a 1 2)(b 1 2)");
        check(two, &["n[1][1] n[2][1]", "n[1][2] n[2][2]"], "(a 1 2)");
    }

    #[test]
    fn values_of_scalarsets_and_unions() {
        let union = "proc: scalarset(3); place: union { proc, enum { home } };
            var n: array [proc] of 0..1; at: place; back: array [place] of 0..1;";
        check(union, &["n[proc_0] n[proc_1]", "at=proc_0 at=proc_1", "back[proc_0] back[proc_1]"], "(proc 0 1)");
        check(union, &["at=home at=proc_0"], "at: proc_0 ↔ home");
    }

    #[test]
    fn values_of_slots() {
        let labels = "bit: 0..1; agent: 0..2; var token: array [agent] of bit; label: array [agent] of bit;";
        let flip = ["label[0]=0 label[0]=1", "label[1]=0 label[1]=1", "label[2]=0 label[2]=1"];
        check(labels, &flip, "label[*]: 0 ↔ 1");
        check(labels, &flip[1..], "label[{1, 2}]: 0 ↔ 1");
        check(labels, &flip[..1], "label[0]: 0 ↔ 1");
        let weeks = "week: 1..2; golfer: 1..2; team: 1..3; var plays: array [week] of array [golfer] of team;";
        let three = ["plays[1][1]=1 plays[1][1]=2 plays[1][1]=3", "plays[1][2]=1 plays[1][2]=2 plays[1][2]=3"];
        check(weeks, &three, "plays[1][*]: 1 → 2 → 3 → 1");
        let corners = ["plays[1][1]=1 plays[1][1]=2", "plays[2][2]=1 plays[2][2]=2"];
        check(weeks, &corners, "plays[1][1], plays[2][2]: 1 ↔ 2");
        check("a: 0..1; var x: boolean; y: boolean;", &["x=false x=true", "y=false y=true"], "x, y: false ↔ true");
    }

    #[test]
    fn parts_of_variables() {
        check("a: 0..1; var x: 0..3; y: 0..3; z: 0..3;", &["x y"], "x ↔ y");
        check("a: 0..1; var x: 0..3; y: 0..3; z: 0..3;", &["x y z"], "x → y → z → x");
        let records = "pair: record a: 0..1; b: 0..1; end; var left: pair; right: pair;";
        check(records, &["left.a right.a", "left.b right.b"], "left ↔ right");
        check(records, &["left.a right.b"], "left.a ↔ right.b");
        check("a: 0..1; var n: array [1..3] of 0..1;", &["n[1] n[2]"], "n[1] ↔ n[2]");
        let matrix = "a: 0..1; var n: array [1..2] of array [1..2] of 0..1;";
        check(matrix, &["n[1][1] n[2][1]", "n[1][2] n[2][2]"], "n[1] ↔ n[2]");
        check(matrix, &["n[1][1] n[1][2]"], "n[1][1] ↔ n[1][2]");
    }

    #[test]
    fn types_that_not_everything_follows() {
        let owner = "id: 1..3; var n: array [id] of 0..1; m: array [id] of 0..1; owner: id;";
        // The owner is fixed, so it is not the ids that are exchanged.
        check(owner, &["n[1] n[2]", "m[1] m[2]"], "n[1] ↔ n[2], m[1] ↔ m[2]");
        check(owner, &["n[1] n[2]", "owner=1 owner=2"], "n[1] ↔ n[2], owner: 1 ↔ 2");
        check(owner, &["n[1] m[1]", "n[2] m[2]", "n[3] m[3]"], "n ↔ m");
    }

    #[test]
    fn moving_and_changing() {
        let ring = "agent: 0..1; bit: 0..1; var n: array [agent] of bit; m: bit;";
        check(ring, &["n[0]=undefined n[1]=undefined", "n[0]=0 n[1]=1", "n[0]=1 n[1]=0"], "(agent 0 1), n[*]: 0 ↔ 1");
        check(ring, &["n[0]=undefined n[1]=undefined", "n[0]=0 n[1]=0 n[0]=1 n[1]=1"], "(agent 0 1), n[1]: 0 ↔ 1");
        check(
            "a: 1..2; b: 5..6; var x: a; y: b;",
            &["x=undefined y=undefined", "x=1 y=5", "x=2 y=6"],
            "x ↔ y, x: 1 → 5, 2 → 6, y: 5 → 1, 6 → 2",
        );
    }

    #[test]
    fn long_cycles_are_shortened() {
        with_model("agent: 0..99; var n: array [agent] of 0..1;", |model, layout, literals| {
            let ring: Vec<String> = (0..100).map(|agent| format!("n[{agent}]")).collect();
            let permutation = permutation(model, layout, literals, &[&ring.join(" ")]);
            let map = literals.action(layout, &permutation).expect("an action on states");
            let description = Describer::new(model, layout, literals).describe(&map);
            assert_eq!(description.line(4), "(agent 0 1 2 … 99)");
            assert!(description.to_string().ends_with(" 98 99)"));
            assert_eq!(description.cycles().len(), 1);
        });
    }

    /// Different symmetries have different descriptions: no information is lost. All permutations of four bits with all
    /// ways of complementing them, in variables of several shapes.
    #[test]
    fn nothing_is_lost() {
        for declarations in [
            "a: 0..3; var n: array [a] of boolean;",
            "a: 0..1; b: 0..1; var n: array [a] of array [b] of boolean;",
            "a: 0..1; var n: array [a] of boolean; x: boolean; y: boolean;",
            "a: 0..1; bit: 0..1; var n: array [a] of bit; x: bit; y: a;",
            "r: record f: 0..1; g: 0..1; end; var n: array [1..2] of r;",
        ] {
            with_model(declarations, |model, layout, literals| {
                let describer = Describer::new(model, layout, literals);
                // Undefined comes first.
                let first: Vec<Point> = literals.slots().iter().map(|slot| slot.first).collect();
                let mut said = BTreeSet::new();
                let mut count = 0;
                for arrangement in 0..256usize {
                    let images: Vec<usize> = (0..4).map(|slot| arrangement >> (2 * slot) & 3).collect();
                    if images.iter().collect::<BTreeSet<_>>().len() < 4 {
                        continue;
                    }
                    for flips in 0..16u32 {
                        let mut moves = Vec::new();
                        for (slot, &image) in images.iter().enumerate() {
                            let flip = flips >> slot & 1;
                            moves.push((first[slot], first[image]));
                            moves.push((first[slot] + 1, first[image] + 1 + flip));
                            moves.push((first[slot] + 2, first[image] + 2 - flip));
                        }
                        let permutation = SparsePermutation::from_moves(moves).expect("a permutation");
                        let map = literals.action(layout, &permutation).expect("an action on states");
                        said.insert(describer.describe(&map).to_string());
                        count += 1;
                    }
                }
                assert_eq!(count, 24 * 16);
                assert_eq!(said.len(), count, "{declarations}");
            });
        }
    }
}
