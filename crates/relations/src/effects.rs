//! What a step writes to a slot, in a form that is composed in a few look-ups: by the values of a few *selectors* (the
//! length of a queue), the slot keeps its value, gets a constant, or a function of one other slot.
//!
//! Functions of the circuit list a case for each value that is written. To compose and compare them case by case takes
//! time that grows with the square of the number of values; copies from slot to slot, which are most of what models
//! do, take none of it here.

use std::rc::Rc;

use quotient_functions::{Circuit, KnownValues, Node, NodeId, Write, Written};

/// The largest number of slots on which a write depends.
const SLOTS: usize = 4;
/// The largest number of combinations of values of these slots.
const CELLS: usize = 1 << 16;
/// The largest number of values of selectors together.
const LEAVES: usize = 1 << 10;
/// The largest number of boxes of a condition.
const BOXES: usize = 1 << 12;

/// The values of a function of one slot, by the positions of its values; `None` where the step is not taken.
pub(super) type Map = Rc<[Option<Option<i64>>]>;

/// What a step writes to a slot, where the step is taken.
#[derive(Debug)]
pub(super) struct Effect {
    /// The slots that it depends on, other than to keep the value.
    pub(super) reads: Vec<u32>,
    /// How, if that is known.
    pub(super) choice: Option<Choice>,
}

/// A leaf for each combination of values of the selectors, the last of which varies fastest.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) selectors: Vec<u32>,
    sizes: Vec<usize>,
    leaves: Vec<Leaf>,
}

/// What is written if the selectors have certain values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    /// Not known, or never the case where the step is taken.
    Unknown,
    Keep,
    Constant(Option<i64>),
    Copy(u32),
    Map(u32, Map),
}

impl Choice {
    /// The leaf for the positions of values of the selectors.
    pub(super) fn leaf(&self, positions: &[usize]) -> &Leaf {
        let at = positions.iter().zip(&self.sizes).fold(0, |at, (position, size)| at * size + position);
        &self.leaves[at]
    }
}

/// A set of assignments: for some slots the positions that are allowed.
type Cube = Vec<(u32, Vec<u16>)>;

/// The effect of a write on its slot, if the step is taken only from states with some known values.
pub(super) fn effect(circuit: &Circuit, write: &Write, support: Vec<u32>, known: &KnownValues) -> Effect {
    let choice = match &write.written {
        Written::Cases(cases) if !circuit.is_wide(write.slot) => choice(circuit, write.slot, cases, &support, known),
        _ => None,
    };
    Effect { reads: support, choice }
}

/// What a cell of a table holds: the position of the value that is written, or one of these.
const KEPT: u16 = u16::MAX;
const SEVERAL: u16 = u16::MAX - 1;

/// The positions of values that are open for each slot of a table.
struct Open {
    slots: Vec<u32>,
    positions: Vec<Vec<u16>>,
    sizes: Vec<usize>,
}

impl Open {
    /// `None` if there are too many combinations.
    fn new(circuit: &Circuit, slots: Vec<u32>, known: &KnownValues) -> Option<Self> {
        if slots.len() > SLOTS || slots.iter().any(|&slot| circuit.is_wide(slot)) {
            return None;
        }
        let positions = slots.iter().map(|slot| match known.get(slot) {
            Some(values) => values.iter().map(|position| position as u16).collect(),
            None => (0..circuit.values(*slot).len() as u16).collect(),
        });
        let positions = positions.collect();
        let sizes: Vec<usize> = slots.iter().map(|&slot| circuit.values(slot).len()).collect();
        let cells = sizes.iter().try_fold(1usize, |cells, &size| cells.checked_mul(size))?;
        (cells <= CELLS).then_some(Self { slots, positions, sizes })
    }

    fn cells(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Visits the open cells of a cube.
    fn visit(&self, cube: &Cube, mut visit: impl FnMut(usize)) {
        let mut cells = vec![0usize];
        for ((slot, open), size) in self.slots.iter().zip(&self.positions).zip(&self.sizes) {
            let allowed = cube.iter().find(|(own, _)| own == slot).map(|(_, allowed)| allowed);
            let own: Vec<u16> = match allowed {
                None => open.clone(),
                Some(allowed) => allowed.iter().copied().filter(|at| open.binary_search(at).is_ok()).collect(),
            };
            cells = cells.iter().flat_map(|cell| own.iter().map(move |&at| cell * size + usize::from(at))).collect();
        }
        cells.into_iter().for_each(&mut visit);
    }
}

fn choice(
    circuit: &Circuit,
    slot: u32,
    cases: &[(Option<i64>, NodeId)],
    support: &[u32],
    known: &KnownValues,
) -> Option<Choice> {
    tabulated(circuit, slot, cases, support, known).or_else(|| selected(circuit, slot, cases, support, known))
}

/// The choice from a table of all combinations of values.
fn tabulated(
    circuit: &Circuit,
    slot: u32,
    cases: &[(Option<i64>, NodeId)],
    support: &[u32],
    known: &KnownValues,
) -> Option<Choice> {
    let open = Open::new(circuit, support.to_vec(), known)?;
    let mut cells = filled(circuit, slot, cases, &open)?;
    if support.contains(&slot) || !cells.contains(&SEVERAL) {
        return arranged(circuit, slot, &open, &cells);
    }
    // What is written depends on the value that the slot holds, which is not written again.
    let mut slots = support.to_vec();
    slots.push(slot);
    slots.sort_unstable();
    let open = Open::new(circuit, slots, known)?;
    cells = filled(circuit, slot, cases, &open)?;
    arranged(circuit, slot, &open, &cells)
}

/// The choice of a write that depends on many slots, but on one of them once a few have values: an element of an array is
/// a function of one slot for each value of the index. Selectors are added until that is so.
fn selected(
    circuit: &Circuit,
    slot: u32,
    cases: &[(Option<i64>, NodeId)],
    support: &[u32],
    known: &KnownValues,
) -> Option<Choice> {
    if support.iter().any(|&slot| circuit.is_wide(slot)) {
        return None;
    }
    let mut boxes: Vec<(u16, Cube)> = Vec::new();
    for &(value, condition) in cases {
        let held = circuit.values(slot).binary_search(&value).ok()? as u16;
        boxes.extend(cubes(circuit, condition)?.into_iter().map(|cube| (held, cube)));
        if boxes.len() > BOXES {
            return None;
        }
    }
    let mut selectors: Vec<u32> = Vec::new();
    loop {
        match selected_by(circuit, slot, &boxes, &selectors, known)? {
            Ok(leaves) => {
                let sizes = selectors.iter().map(|&selector| circuit.values(selector).len()).collect();
                return Some(Choice { selectors, sizes, leaves });
            }
            Err(missing) => selectors.push(missing),
        }
    }
}

/// The leaves for some selectors, or a slot that is missing among them. `None` if there are too many.
fn selected_by(
    circuit: &Circuit,
    slot: u32,
    boxes: &[(u16, Cube)],
    selectors: &[u32],
    known: &KnownValues,
) -> Option<Result<Vec<Leaf>, u32>> {
    let count = selectors.iter().try_fold(1usize, |count, &slot| count.checked_mul(circuit.values(slot).len()))?;
    if count > LEAVES || count.saturating_mul(boxes.len()) > CELLS {
        return None;
    }
    let open = |slot: u32| match known.get(&slot) {
        Some(values) => values.iter().map(|position| position as u16).collect(),
        None => (0..circuit.values(slot).len() as u16).collect::<Vec<u16>>(),
    };
    // Whether a box allows a value. The condition of a value that the slot holds is meaningless.
    let allows = |&(held, ref cube): &(u16, Cube), of: u32, position: u16| {
        let allowed = cube.iter().find(|(own, _)| *own == of);
        (of != slot || held != position) && allowed.is_none_or(|(_, allowed)| allowed.contains(&position))
    };
    let mut rows: Vec<(usize, Vec<&(u16, Cube)>)> = vec![(0, boxes.iter().collect())];
    for &selector in selectors {
        let (positions, size) = (open(selector), circuit.values(selector).len());
        let mut next = Vec::with_capacity(rows.len() * positions.len());
        for (leaf, inside) in rows {
            for &position in &positions {
                let inside = inside.iter().copied().filter(|own| allows(own, selector, position)).collect();
                next.push((leaf * size + usize::from(position), inside));
            }
        }
        rows = next;
    }
    let mut leaves = vec![Leaf::Unknown; count];
    for (leaf, inside) in rows {
        let mut sources: Vec<(u32, usize)> = Vec::new();
        for (of, _) in inside.iter().flat_map(|(_, cube)| cube).filter(|(of, _)| !selectors.contains(of)) {
            match sources.iter_mut().find(|(known, _)| known == of) {
                Some((_, uses)) => *uses += 1,
                None => sources.push((*of, 1)),
            }
        }
        // The slot that most boxes ask for, the one with the fewest values if there are several.
        let most = sources.iter().max_by_key(|&&(of, uses)| (uses, std::cmp::Reverse((circuit.values(of).len(), of))));
        let Some(&(source, _)) = most else {
            let mut written: Vec<u16> = inside.iter().map(|(held, _)| *held).collect();
            written.sort_unstable();
            written.dedup();
            leaves[leaf] = match written[..] {
                [] => Leaf::Keep,
                [position] => Leaf::Constant(circuit.values(slot)[usize::from(position)]),
                _ if selectors.contains(&slot) => Leaf::Unknown,
                _ => return Some(Err(slot)),
            };
            continue;
        };
        if sources.len() > 1 {
            return Some(Err(source));
        }
        let row = open(source).into_iter().map(|position| {
            let mut written = inside.iter().filter(|own| allows(own, source, position)).map(|(held, _)| *held);
            let first = written.next();
            let is_only = first.is_none_or(|first| written.all(|other| other == first));
            (position, if is_only { first.unwrap_or(KEPT) } else { SEVERAL })
        });
        let row: Vec<(u16, u16)> = row.collect();
        match row_leaf(circuit, slot, source, row.iter().copied()) {
            Some(found) => leaves[leaf] = found,
            None => return Some(Err(source)),
        }
    }
    Some(Ok(leaves))
}

/// For each open cell what is written.
fn filled(circuit: &Circuit, slot: u32, cases: &[(Option<i64>, NodeId)], open: &Open) -> Option<Vec<u16>> {
    let mut cells = vec![KEPT; open.cells()];
    let own = open.slots.iter().position(|&other| other == slot);
    for &(value, condition) in cases {
        let held = circuit.values(slot).binary_search(&value).ok()? as u16;
        for mut cube in cubes(circuit, condition)? {
            if let Some(own) = own {
                // The condition of a value that the slot holds is meaningless.
                match cube.iter_mut().find(|(other, _)| *other == slot) {
                    Some((_, positions)) => positions.retain(|&position| position != held),
                    None => {
                        let others = open.positions[own].iter().copied().filter(|&position| position != held);
                        cube.push((slot, others.collect()));
                    }
                }
            }
            open.visit(&cube, |at| {
                let is_free = cells[at] == KEPT || cells[at] == held;
                cells[at] = if is_free { held } else { SEVERAL };
            });
        }
    }
    Some(cells)
}

/// A condition as a union of sets of assignments; `None` if it is not of a simple form.
fn cubes(circuit: &Circuit, condition: NodeId) -> Option<Vec<Cube>> {
    Some(match circuit.node(condition) {
        Node::True => vec![Vec::new()],
        Node::False => Vec::new(),
        Node::In { slot, values } => vec![vec![(*slot, values.iter().map(|at| at as u16).collect())]],
        Node::Table { slots, tuples } => {
            let cube = |tuple: &[u16]| slots.iter().zip(tuple).map(|(&slot, &at)| (slot, vec![at])).collect();
            tuples.iter().map(|tuple| cube(tuple)).collect()
        }
        Node::Or(children) => {
            let mut all = Vec::new();
            for &child in children {
                all.extend(cubes(circuit, child)?);
                if all.len() > BOXES {
                    return None;
                }
            }
            all
        }
        Node::And(children) => {
            let mut all: Vec<Cube> = vec![Vec::new()];
            for &child in children {
                let own = cubes(circuit, child)?;
                if all.len() * own.len() > BOXES {
                    return None;
                }
                all = all.iter().flat_map(|left| own.iter().filter_map(|right| meet(left, right))).collect();
            }
            all
        }
        _ => return None,
    })
}

fn meet(left: &Cube, right: &Cube) -> Option<Cube> {
    let mut both = left.clone();
    for (slot, positions) in right {
        match both.iter_mut().find(|(own, _)| own == slot) {
            Some((_, own)) => {
                own.retain(|position| positions.contains(position));
                if own.is_empty() {
                    return None;
                }
            }
            None => both.push((*slot, positions.clone())),
        }
    }
    Some(both)
}

/// A table as a choice: all slots but one are selectors, and what is written is a function of that one.
fn arranged(circuit: &Circuit, slot: u32, open: &Open, cells: &[u16]) -> Option<Choice> {
    let mut sources: Vec<usize> = (0..open.slots.len()).collect();
    sources.sort_by_key(|&source| std::cmp::Reverse(open.sizes[source]));
    let found = sources.into_iter().find_map(|source| with_source(circuit, slot, open, cells, source));
    found.or_else(|| all_selectors(circuit, slot, open, cells))
}

fn all_selectors(circuit: &Circuit, slot: u32, open: &Open, cells: &[u16]) -> Option<Choice> {
    let leaf = |&cell: &u16| match cell {
        KEPT => Leaf::Keep,
        SEVERAL => Leaf::Unknown,
        position => Leaf::Constant(circuit.values(slot)[usize::from(position)]),
    };
    let is_small = cells.len() <= LEAVES;
    is_small.then(|| Choice {
        selectors: open.slots.clone(),
        sizes: open.sizes.clone(),
        leaves: cells.iter().map(leaf).collect(),
    })
}

fn with_source(circuit: &Circuit, slot: u32, open: &Open, cells: &[u16], source: usize) -> Option<Choice> {
    let strides: Vec<usize> = (0..open.sizes.len()).map(|at| open.sizes[at + 1..].iter().product()).collect();
    let others: Vec<usize> = (0..open.slots.len()).filter(|&at| at != source).collect();
    let count: usize = others.iter().map(|&at| open.sizes[at]).product();
    if count > LEAVES {
        return None;
    }
    let mut leaves = vec![Leaf::Unknown; count];
    let mut rows = vec![(0usize, 0usize)];
    for &other in &others {
        let steps = &open.positions[other];
        let (size, stride) = (open.sizes[other], strides[other]);
        let next = |&(leaf, cell): &(usize, usize)| {
            steps.iter().map(move |&at| (leaf * size + usize::from(at), cell + usize::from(at) * stride))
        };
        rows = rows.iter().flat_map(next).collect();
    }
    for (leaf, first) in rows {
        let row = open.positions[source].iter().map(|&at| (at, cells[first + usize::from(at) * strides[source]]));
        leaves[leaf] = row_leaf(circuit, slot, open.slots[source], row)?;
    }
    let selectors = others.iter().map(|&at| open.slots[at]).collect();
    Some(Choice { selectors, sizes: others.iter().map(|&at| open.sizes[at]).collect(), leaves })
}

/// What is written as a function of one slot; `None` if it is not one.
fn row_leaf(circuit: &Circuit, slot: u32, source: u32, row: impl Iterator<Item = (u16, u16)> + Clone) -> Option<Leaf> {
    let (values, sources) = (circuit.values(slot), circuit.values(source));
    if row.clone().all(|(_, cell)| cell == KEPT) {
        return Some(Leaf::Keep);
    }
    let mut map = vec![None; sources.len()];
    for (at, cell) in row {
        map[usize::from(at)] = Some(match cell {
            // A slot keeps its value as a function of itself.
            KEPT if source == slot => values[usize::from(at)],
            KEPT | SEVERAL => return None,
            position => values[usize::from(position)],
        });
    }
    let mut written = map.iter().flatten();
    let first = *written.next()?;
    if written.all(|&value| value == first) {
        return Some(Leaf::Constant(first));
    }
    let is_copy = map.iter().zip(sources).all(|(value, own)| value.is_none_or(|value| value == *own));
    Some(if is_copy { Leaf::Copy(source) } else { Leaf::Map(source, map.into()) })
}

#[cfg(test)]
mod tests {
    use quotient_ir::Budget;

    use super::*;

    /// Slots that hold the numbers below these sizes.
    fn circuit(sizes: &[usize]) -> Circuit {
        let values = sizes.iter().map(|&size| (0..size as i64).map(Some).collect()).collect();
        Circuit::new(values, vec![false; sizes.len()], &Budget::unlimited())
    }

    /// All states of some slots.
    fn states(sizes: &[usize]) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for &size in sizes {
            let longer = |state: &Vec<usize>| {
                let state = state.clone();
                (0..size).map(move |position| [&state[..], &[position]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// The cases of a write to a slot, as a function of the other slots in `reads`; `None` keeps the value.
    fn cases(
        circuit: &mut Circuit,
        sizes: &[usize],
        reads: &[u32],
        function: impl Fn(&[usize]) -> Option<i64>,
    ) -> Vec<(Option<i64>, NodeId)> {
        let mut cases: Vec<(Option<i64>, Vec<NodeId>)> = Vec::new();
        let own: Vec<usize> = reads.iter().map(|&slot| sizes[slot as usize]).collect();
        for state in states(&own) {
            let Some(value) = function(&state) else { continue };
            let parts: Vec<NodeId> =
                reads.iter().zip(&state).map(|(&slot, &position)| circuit.slot_in(slot, [position])).collect();
            let here = circuit.and(parts);
            match cases.iter_mut().find(|(known, _)| *known == Some(value)) {
                Some((_, ways)) => ways.push(here),
                None => cases.push((Some(value), vec![here])),
            }
        }
        cases.into_iter().map(|(value, ways)| (value, circuit.or(ways))).collect()
    }

    /// Compares a choice with a function in all states. Returns the number of states in which it says something.
    fn compare(
        circuit: &Circuit,
        (sizes, slot): (&[usize], u32),
        choice: &Choice,
        function: impl Fn(&[usize]) -> Option<i64>,
    ) -> usize {
        let mut known = 0;
        for state in states(sizes) {
            let value = |slot: u32| circuit.values(slot)[state[slot as usize]];
            let positions: Vec<usize> = choice.selectors.iter().map(|&selector| state[selector as usize]).collect();
            let after = match choice.leaf(&positions) {
                Leaf::Unknown => continue,
                Leaf::Keep => value(slot),
                Leaf::Constant(value) => *value,
                Leaf::Copy(source) => value(*source),
                Leaf::Map(source, map) => map[state[*source as usize]].expect("all values are open"),
            };
            known += 1;
            assert_eq!(after, function(&state).or(value(slot)), "{state:?}, {choice:?}");
        }
        known
    }

    #[test]
    fn an_element_of_an_array_is_selected_by_the_index() {
        // The index, four elements, the length of a queue, and its first message.
        let sizes = [4, 7, 7, 7, 7, 3, 7];
        let mut circuit = circuit(&sizes);
        let reads = [0, 1, 2, 3, 4, 5];
        let function = |state: &[usize]| (state[5] == 0).then(|| state[1 + state[0]] as i64);
        let mut ways = Vec::new();
        for value in 0..7 {
            let mut own = Vec::new();
            for index in 0..4 {
                let parts = [(0, index), (1 + index as u32, value), (5, 0)];
                let parts = parts.map(|(slot, position)| circuit.slot_in(slot, [position]));
                own.push(circuit.and(parts));
            }
            ways.push((Some(value as i64), circuit.or(own)));
        }
        let known = KnownValues::default();
        assert!(tabulated(&circuit, 6, &ways, &reads, &known).is_none());
        let choice = selected(&circuit, 6, &ways, &reads, &known).expect("it is small");
        assert_eq!(choice.leaves.len(), 12);
        assert_eq!(compare(&circuit, (&sizes, 6), &choice, function), states(&sizes).len());
    }

    #[test]
    fn selectors_agree_with_random_functions() {
        let sizes = [2, 3, 2, 3];
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..500 {
            let mut circuit = circuit(&sizes);
            let table: Vec<Option<i64>> = (0..12).map(|_| random(4).checked_sub(1).map(|value| value as i64)).collect();
            let function = |state: &[usize]| table[(state[0] * 3 + state[1]) * 2 + state[2]];
            let ways = cases(&mut circuit, &sizes, &[0, 1, 2], function);
            let known = KnownValues::default();
            for choice in
                [tabulated(&circuit, 3, &ways, &[0, 1, 2], &known), selected(&circuit, 3, &ways, &[0, 1, 2], &known)]
            {
                let choice = choice.expect("it is small");
                assert_eq!(compare(&circuit, (&sizes, 3), &choice, function), states(&sizes).len());
            }
        }
    }
}
