//! The stored form of a state: objects that nothing distinguishes become one entity, and entities get an order that does
//! not depend on which objects they are. Two objects are alike if exchanging them leaves the state as it is; then neither
//! is named by a cell of another object or of the shared part.
//!
//! The order is found as in canonical labelling of graphs: entities are refined by what refers to them, ties are broken
//! in all ways, and the least encoding is kept. Colours are hashes; if two collide, there are more ties to break.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::Refused;
use super::cell::{code, decoded, read, write};
use super::columns::{Address, Columns, MultisetColumns, Scheme};
use super::numbered::{ENCODED, Group, Kind, NUMBERED, Numbered};
use super::world::{Area, Cell, World};

/// The number of orders of entities that are compared.
const MOST_ORDERS: u64 = 5040;

/// Entities of a family in an order.
type Order = Vec<usize>;

/// A state in its stored form.
pub(crate) struct Canonical {
    pub(crate) key: Vec<u8>,
    /// For each family, the entities of the given state in the order of the stored one. Others were merged with these.
    pub(crate) order: Vec<Vec<usize>>,
    /// The number of orders with the same encoding.
    pub(crate) automorphisms: u64,
}

/// The stored form of a state, in which entities that are alike are merged.
///
/// # Errors
/// If there are too many orders of entities.
pub(crate) fn canonical(scheme: &Scheme<'_>, world: &mut World) -> Result<Canonical, Refused> {
    sort_multisets(scheme, world);
    if let Some(canonical) = numbered(scheme, world)? {
        return Ok(canonical);
    }
    let kept = merge(scheme, world)?;
    let mut search = Search { scheme, world, kept: &kept, best: None, orders: 0 };
    let mut colours = search.colours();
    search.refine(&mut colours);
    search.break_ties(colours)?;
    let (key, orders) = search.best.take().expect("there is an order");
    let automorphisms = orders.len() as u64;
    let order = orders.into_iter().next().expect("there is an order");
    Ok(Canonical { key, order, automorphisms })
}

/// The stored form by numbers, if there is one. Then entities with the same row are alike unless they are named.
///
/// # Errors
/// If a cell names an entity that is not a single object: then the state is not one.
fn numbered(scheme: &Scheme<'_>, world: &World) -> Result<Option<Canonical>, Refused> {
    let names_others = |cells: &[Cell]| cells.iter().any(|cell| matches!(cell, Cell::Object { .. }));
    let columns = &scheme.globals;
    let lives = |family: usize| {
        let counts = world.counts[family].iter().copied().enumerate();
        counts.filter(|(_, count)| *count > 0)
    };
    let may_name = |family: &usize| scheme.names_others[*family];
    let mut naming = (0..scheme.families.len()).filter(may_name);
    if !scheme.has_numbers
        || naming.any(|family| lives(family).any(|(entity, _)| names_others(world.area.row(columns, family, entity))))
    {
        return Ok(None);
    }
    let mut numbers = scheme.numbers.borrow_mut();
    let mut names = Vec::new();
    let shared = numbers.shared(scheme.families.len(), &world.area.single, &mut names);
    if names.iter().any(|&(family, entity)| world.counts[family][entity] != 1) {
        let reason = "several interchangeable values are named as one".to_owned();
        return Err(Refused { reason, span: Default::default() });
    }
    let mut state = Numbered { shared, groups: Vec::with_capacity(world.counts.len()) };
    let mut order: Vec<Order> = Vec::with_capacity(world.counts.len());
    for family in 0..world.counts.len() {
        let mut found: Vec<(Group, usize)> = Vec::with_capacity(world.counts[family].len());
        for (entity, count) in lives(family) {
            let row = numbers.row(scheme.families.len(), family, world.area.row(columns, family, entity));
            let name = names.iter().position(|name| *name == (family, entity)).map_or(0, |number| number as u32 + 1);
            let kind = Kind { row: row.expect("it names no others"), name };
            found.push((Group { kind, count }, entity));
        }
        found.sort_unstable_by_key(|(group, entity)| (group.kind, *entity));
        order.push(found.chunk_by(|one, other| one.0.kind == other.0.kind).map(|alike| alike[0].1).collect());
        let mut groups = found.into_iter().map(|(group, _)| group).collect();
        Numbered::sort(&mut groups);
        state.groups.push(groups);
    }
    let mut key = Vec::with_capacity(32);
    state.write(&mut key);
    Ok(Some(Canonical { key, order, automorphisms: 1 }))
}

/// Merges entities that are alike; returns those that are left.
///
/// # Errors
/// If a cell names an entity that is not a single object: then the state is not one.
fn merge(scheme: &Scheme<'_>, world: &mut World) -> Result<Vec<Order>, Refused> {
    let mut is_named: Vec<Vec<bool>> = world.counts.iter().map(|counts| vec![false; counts.len()]).collect();
    let mut name = |cell: &Cell| {
        if let Cell::Object { family, entity } = *cell {
            is_named[family as usize][entity as usize] = true;
        }
    };
    world.area.single.iter().for_each(&mut name);
    for (family, counts) in world.counts.iter().enumerate() {
        // Nothing is left of an entity that was used up.
        for (entity, _) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            world.area.row(&scheme.globals, family, entity).iter().for_each(&mut name);
        }
    }
    let named = is_named.iter().flatten().zip(world.counts.iter().flatten());
    if named.into_iter().any(|(is_named, count)| *is_named && *count != 1) {
        let reason = "several interchangeable values are named as one".to_owned();
        return Err(Refused { reason, span: Default::default() });
    }
    let mut kept: Vec<Order> = Vec::with_capacity(world.counts.len());
    for (family, is_named) in is_named.iter().enumerate() {
        let mut own: Vec<usize> = Vec::new();
        for entity in 0..world.counts[family].len() {
            if world.counts[family][entity] == 0 {
                continue;
            }
            let alike = |&known: &usize| {
                !is_named[known] && !is_named[entity] && are_alike(scheme, world, family, known, entity)
            };
            match own.iter().copied().find(alike) {
                Some(known) => {
                    world.counts[family][known] += world.counts[family][entity];
                    world.counts[family][entity] = 0;
                    let (area, columns) = (&mut world.area, &scheme.globals);
                    for (pair, _) in scheme.pairs.iter().enumerate().filter(|(_, pair)| **pair == (family, family)) {
                        let width = columns.pair_widths[pair];
                        let rows = &mut area.pairs[pair];
                        for position in 0..width {
                            rows[known][known * width + position] = rows[known][entity * width + position];
                        }
                    }
                }
                None => own.push(entity),
            }
        }
        kept.push(own);
    }
    Ok(kept)
}

/// Whether objects of two entities can be exchanged.
fn are_alike(scheme: &Scheme<'_>, world: &World, family: usize, one: usize, other: usize) -> bool {
    let columns = &scheme.globals;
    if world.area.row(columns, family, one) != world.area.row(columns, family, other) {
        return false;
    }
    for (pair, &(first, second)) in scheme.pairs.iter().enumerate() {
        let width = columns.pair_widths[pair];
        if width == 0 || (first != family && second != family) {
            continue;
        }
        let rows = &world.area.pairs[pair];
        let cells = |row: usize, column: usize| &rows[row][column * width..(column + 1) * width];
        let is_apart = |x: usize| first != second || (x != one && x != other);
        let lives = |family: usize, x: usize| world.counts[family][x] > 0;
        if first == family {
            let others = 0..world.counts[second].len();
            let mut others = others.filter(|&x| is_apart(x) && lives(second, x));
            if others.any(|x| cells(one, x) != cells(other, x)) {
                return false;
            }
        }
        if second == family {
            let others = 0..world.counts[first].len();
            let mut others = others.filter(|&x| is_apart(x) && lives(first, x));
            if others.any(|x| cells(x, one) != cells(x, other)) {
                return false;
            }
        }
        if first == second {
            let between = cells(one, other);
            let is_same = |entity: usize| world.counts[family][entity] < 2 || cells(entity, entity) == between;
            if between != cells(other, one) || !is_same(one) || !is_same(other) {
                return false;
            }
        }
    }
    true
}

fn hash(parts: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    // The last operation of this hasher is a multiplication, whose low bits are weak.
    hasher.finish().rotate_left(23)
}

struct Search<'a> {
    scheme: &'a Scheme<'a>,
    world: &'a World,
    kept: &'a [Vec<usize>],
    /// The least encoding, and the orders that have it.
    best: Option<(Vec<u8>, Vec<Vec<Order>>)>,
    orders: u64,
}

impl Search<'_> {
    /// Colours by the rows alone; those of entities that are gone mean nothing.
    fn colours(&self) -> Vec<Vec<u64>> {
        let columns = &self.scheme.globals;
        let mut colours: Vec<Vec<u64>> = self.world.counts.iter().map(|counts| vec![0; counts.len()]).collect();
        for (family, kept) in self.kept.iter().enumerate() {
            for &entity in kept {
                let cells = self.world.area.row(columns, family, entity);
                let masked = |cell: Cell| match cell {
                    Cell::Object { family, .. } => Cell::Object { family, entity: 0 },
                    cell => cell,
                };
                let own = (family, self.world.counts[family][entity]);
                colours[family][entity] = match columns.multisets.is_empty() {
                    true => {
                        let mut hasher = FxHasher::default();
                        own.hash(&mut hasher);
                        cells.iter().for_each(|&cell| masked(cell).hash(&mut hasher));
                        hasher.finish().rotate_left(23)
                    }
                    // The order of elements does not count.
                    false => {
                        let cells = cells.iter().zip(&self.scheme.labels.each[family]);
                        let sum = cells.fold(0u64, |sum, (cell, label)| sum.wrapping_add(hash((label, masked(*cell)))));
                        hash((own, sum))
                    }
                };
            }
        }
        colours
    }

    /// Refines colours by what refers to what until that tells no more entities apart.
    fn refine(&self, colours: &mut Vec<Vec<u64>>) {
        let has_names = |cells: &[Cell]| cells.iter().any(|cell| matches!(cell, Cell::Object { .. }));
        let area = &self.world.area;
        let has_pairs = self.scheme.globals.pair_widths.iter().any(|&width| width > 0);
        if !has_pairs && !has_names(&area.single) && !area.each.iter().any(|cells| has_names(cells)) {
            return;
        }
        let mut distinct = self.distinct(colours);
        let all: usize = self.kept.iter().map(Vec::len).sum();
        while distinct < all {
            let refined = self.refined(colours);
            let now = self.distinct(&refined);
            *colours = refined;
            if now <= distinct {
                break;
            }
            distinct = now;
        }
    }

    fn distinct(&self, colours: &[Vec<u64>]) -> usize {
        let kept = self.kept.iter().enumerate();
        let all = kept.flat_map(|(family, kept)| kept.iter().map(move |&entity| colours[family][entity]));
        let mut all: Vec<u64> = all.collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    fn refined(&self, colours: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let (scheme, area) = (self.scheme, &self.world.area);
        let columns = &scheme.globals;
        let mut sums: Vec<Vec<u64>> = colours.to_vec();
        let mut add = |family: usize, entity: usize, value: u64| {
            let sum = &mut sums[family][entity];
            *sum = sum.wrapping_add(value);
        };
        for (cell, label) in area.single.iter().zip(&self.scheme.labels.single) {
            if let Cell::Object { family, entity } = *cell {
                add(family as usize, entity as usize, hash((1, label)));
            }
        }
        for (family, kept) in self.kept.iter().enumerate() {
            for &entity in kept {
                for (cell, label) in area.row(columns, family, entity).iter().zip(&self.scheme.labels.each[family]) {
                    if let Cell::Object { family: target, entity: named } = *cell {
                        let (target, named) = (target as usize, named as usize);
                        add(family, entity, hash((2, label, colours[target][named])));
                        add(target, named, hash((3, family, label, colours[family][entity])));
                    }
                }
            }
        }
        for (pair, &(first, second)) in scheme.pairs.iter().enumerate() {
            let width = columns.pair_widths[pair];
            if width == 0 {
                continue;
            }
            for &one in &self.kept[first] {
                for &other in &self.kept[second] {
                    if first == second && one == other && self.world.counts[first][one] < 2 {
                        continue;
                    }
                    let cells = &area.pairs[pair][one][other * width..(other + 1) * width];
                    let cells = hash((pair, cells));
                    add(first, one, hash((4, cells, colours[second][other])));
                    add(second, other, hash((5, cells, colours[first][one])));
                }
            }
        }
        let rehash = |(sums, colours): (&Vec<u64>, &Vec<u64>)| {
            sums.iter().zip(colours).map(|(sum, colour)| hash((colour, sum))).collect()
        };
        sums.iter().zip(colours).map(rehash).collect()
    }

    /// Tries all orders that the colours leave open.
    fn break_ties(&mut self, colours: Vec<Vec<u64>>) -> Result<(), Refused> {
        let mut tied: Option<(usize, Vec<usize>)> = None;
        let mut order: Vec<Vec<usize>> = Vec::with_capacity(self.kept.len());
        for (family, kept) in self.kept.iter().enumerate() {
            let mut own = kept.clone();
            own.sort_by_key(|&entity| colours[family][entity]);
            for tie in own.chunk_by(|&one, &other| colours[family][one] == colours[family][other]) {
                let is_smaller = tied.as_ref().is_none_or(|(_, known)| tie.len() < known.len());
                if tie.len() > 1 && is_smaller {
                    tied = Some((family, tie.to_vec()));
                }
            }
            order.push(own);
        }
        let Some((family, tie)) = tied else {
            self.orders += 1;
            if self.orders > MOST_ORDERS {
                let reason = format!("more than {MOST_ORDERS} orders of values that name each other are alike");
                return Err(Refused { reason, span: Default::default() });
            }
            let key = encode(self.scheme, self.world, &order);
            match &mut self.best {
                // Ties of entities that are not alike may end in the same order.
                Some((known, orders)) if *known == key => {
                    if !orders.contains(&order) {
                        orders.push(order);
                    }
                }
                Some((known, _)) if *known < key => {}
                _ => self.best = Some((key, vec![order])),
            }
            return Ok(());
        };
        for entity in tie {
            let mut chosen = colours.clone();
            chosen[family][entity] = hash((6, chosen[family][entity]));
            self.refine(&mut chosen);
            self.break_ties(chosen)?;
        }
        Ok(())
    }
}

/// The encoding of a state with its entities in an order.
fn encode(scheme: &Scheme<'_>, world: &World, order: &[Vec<usize>]) -> Vec<u8> {
    let columns = &scheme.globals;
    let mut renamed: Vec<Vec<u32>> = world.counts.iter().map(|counts| vec![u32::MAX; counts.len()]).collect();
    for (family, order) in order.iter().enumerate() {
        for (position, &entity) in order.iter().enumerate() {
            renamed[family][entity] = position as u32;
        }
    }
    let mut key = Vec::with_capacity(64);
    key.push(ENCODED);
    for (order, counts) in order.iter().zip(&world.counts) {
        write(&mut key, order.len() as u128);
        order.iter().for_each(|&entity| write(&mut key, u128::from(counts[entity])));
    }
    let rename = |cell: Cell| match cell {
        Cell::Object { family, entity } => Cell::Object { family, entity: renamed[family as usize][entity as usize] },
        cell => cell,
    };
    let families = scheme.families.len() as u128;
    let mut push = |cell: Cell| write(&mut key, code(cell, families));
    if columns.multisets.is_empty() {
        world.area.single.iter().for_each(|&cell| push(rename(cell)));
        for (family, order) in order.iter().enumerate() {
            let rows = order.iter().flat_map(|&entity| world.area.row(columns, family, entity));
            rows.for_each(|&cell| push(rename(cell)));
        }
    } else {
        // The elements of multisets are sorted by the new names.
        let mut area = Area { single: world.area.single.iter().copied().map(rename).collect(), ..Area::default() };
        for (family, order) in order.iter().enumerate() {
            let rows = order.iter().flat_map(|&entity| world.area.row(columns, family, entity));
            area.each.push(rows.copied().map(rename).collect());
        }
        let counts = order.iter().map(|order| vec![1; order.len()]).collect();
        let mut sorted = World { counts, area };
        sort_multisets(scheme, &mut sorted);
        sorted.area.single.iter().chain(sorted.area.each.iter().flatten()).for_each(|&cell| push(cell));
    }
    for (pair, &(first, second)) in scheme.pairs.iter().enumerate() {
        let width = columns.pair_widths[pair];
        for &one in order[first].iter().filter(|_| width > 0) {
            for &other in &order[second] {
                // One object has no other one of its entity.
                let is_void = first == second && one == other && world.counts[first][one] < 2;
                let own = &world.area.pairs[pair][one][other * width..(other + 1) * width];
                own.iter().for_each(|&cell| push(if is_void { Cell::Undefined } else { cell }));
            }
        }
    }
    key
}

/// The state of an encoding.
pub(crate) fn decode(scheme: &Scheme<'_>, key: &[u8]) -> World {
    if key[0] == NUMBERED {
        let (mut state, mut world) = (Numbered::default(), World::default());
        state.read(scheme.families.len(), key);
        decode_numbered(scheme, &state, &mut world);
        return world;
    }
    let mut bytes = key[1..].iter().copied();
    let mut next = || read(&mut bytes);
    let mut counts: Vec<Vec<u64>> = Vec::with_capacity(scheme.families.len());
    for _ in &scheme.families {
        let entities = next();
        counts.push((0..entities).map(|_| next() as u64).collect());
    }
    let families = scheme.families.len() as u128;
    let mut cells = |count: usize| -> Vec<Cell> { (0..count).map(|_| decoded(next(), families)).collect() };
    let columns = &scheme.globals;
    let single = cells(columns.singles);
    let each = columns.widths.iter().zip(&counts).map(|(width, counts)| cells(width * counts.len())).collect();
    let mut pairs = Vec::with_capacity(scheme.pairs.len());
    for (&width, &(first, second)) in columns.pair_widths.iter().zip(&scheme.pairs) {
        let rows = if width == 0 { 0 } else { counts[first].len() };
        pairs.push((0..rows).map(|_| cells(width * counts[second].len())).collect());
    }
    World { counts, area: Area { single, each, pairs } }
}

/// The cells of a state by numbers.
pub(crate) fn decode_numbered(scheme: &Scheme<'_>, state: &Numbered, world: &mut World) {
    let (numbers, columns, families) = (scheme.numbers.borrow(), &scheme.globals, scheme.families.len());
    world.counts.resize_with(families, Vec::new);
    world.area.each.resize_with(families, Vec::new);
    world.area.pairs.resize_with(scheme.pairs.len(), Vec::new);
    for (family, groups) in state.groups.iter().enumerate() {
        let (counts, cells) = (&mut world.counts[family], &mut world.area.each[family]);
        counts.clear();
        cells.clear();
        for group in groups {
            counts.push(group.count);
            numbers.read_row(families, group.kind.row, columns.widths[family], cells);
        }
    }
    numbers.read_shared(families, state.shared, columns.singles, &mut world.area.single);
    for cell in &mut world.area.single {
        if let Cell::Object { family, entity: number } = *cell {
            let groups = &state.groups[family as usize];
            let named = groups.iter().position(|group| group.kind.name == number + 1);
            *cell = Cell::object(family as usize, named.expect("a name has an object"));
        }
    }
}

/// Puts the elements of multisets in order: present ones first, sorted.
pub(crate) fn sort_multisets(scheme: &Scheme<'_>, world: &mut World) {
    let columns = &scheme.globals;
    for multiset in &columns.multisets {
        match columns.columns[multiset.first].address {
            Address::Single(_) => sort_multiset(columns, multiset, &mut world.area, &[]),
            Address::Each(family, _) => {
                for entity in 0..world.counts[family].len() {
                    sort_multiset(columns, multiset, &mut world.area, &[entity]);
                }
            }
            Address::Pairs { .. } => unreachable!("a multiset in an array over pairs is refused"),
        }
    }
}

fn sort_multiset(columns: &Columns, multiset: &MultisetColumns, area: &mut Area, entities: &[usize]) {
    let MultisetColumns { first, capacity, stride } = *multiset;
    let address = |position: usize, offset: usize| columns.columns[first + position * stride + offset].address;
    let element = |position: usize| -> Vec<Cell> {
        (0..stride).map(|offset| area.get(columns, address(position, offset), entities)).collect()
    };
    let mut elements: Vec<Vec<Cell>> = (0..capacity).map(element).collect();
    // Those that are present begin with 1, the others with 0.
    elements.sort_unstable_by(|one, other| other[0].cmp(&one[0]).then_with(|| one.cmp(other)));
    for (position, element) in elements.into_iter().enumerate() {
        for (offset, cell) in element.into_iter().enumerate() {
            *area.get_mut(columns, address(position, offset), entities) = cell;
        }
    }
}

/// The numbers of objects of the entities of a stored form, by families.
pub(crate) fn counts(scheme: &Scheme<'_>, key: &[u8]) -> Vec<Vec<u64>> {
    if key[0] == NUMBERED {
        let mut state = Numbered::default();
        state.read(scheme.families.len(), key);
        return state.groups.iter().map(|groups| groups.iter().map(|group| group.count).collect()).collect();
    }
    let mut bytes = key[1..].iter().copied();
    let mut of_family = || {
        let entities = read(&mut bytes);
        (0..entities).map(|_| read(&mut bytes) as u64).collect()
    };
    scheme.families.iter().map(|_| of_family()).collect()
}
