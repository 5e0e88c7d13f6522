//! The order of the bits of a state in diagrams. A diagram is small if what is read together stands together, so an
//! order is judged by the length of what each instance spans.

use quotient_functions::{Functions, InstanceId};
use quotient_ir::TableIndex;

use quotient_booleans::Encoding;

/// The number of rounds after which the arrangement is left as it is.
const ROUNDS: usize = 64;

/// An order of the slots of a state, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The slots, from the top of diagrams to the bottom.
    pub(crate) slots: Vec<u32>,
    /// Its name, for reports.
    pub(crate) name: &'static str,
    /// The sum over all instances of the number of bits between the first and the last that it reads or writes.
    pub(crate) span: u64,
}

impl Order {
    /// The order of the declarations, or one in which slots that instances use together are neighbours, whichever spans
    /// less.
    pub(crate) fn of(functions: &Functions, encoding: &Encoding, slots: usize) -> Self {
        let uses = uses(functions, encoding);
        let declared: Vec<u32> = (0..slots as u32).filter(|&slot| encoding.width(slot) > 0).collect();
        Self::of_uses(declared, &uses, |slot| encoding.width(slot) as u64, slots)
    }

    /// The same for things with a width, given those that are used together.
    pub(crate) fn of_uses(declared: Vec<u32>, uses: &[Vec<u32>], width: impl Fn(u32) -> u64, count: usize) -> Self {
        let span = |order: &[u32]| span(order, uses, &width);
        let mut best = Self { span: span(&declared), slots: declared.clone(), name: "as declared" };
        // Each round moves every slot to where the instances that use it are on average (Aloul, Markov, Sakallah 2003).
        let mut current = declared;
        for _ in 0..ROUNDS {
            let arranged = arranged(&current, uses, count);
            if arranged == current {
                break;
            }
            current = arranged;
            let reached = span(&current);
            if reached < best.span {
                best = Self { span: reached, slots: current.clone(), name: "what is used together stands together" };
            }
        }
        best
    }
}

/// The slots that each instance reads and writes, without those that have no bits.
fn uses(functions: &Functions, encoding: &Encoding) -> Vec<Vec<u32>> {
    let of_instance = |id: InstanceId| {
        let slots = functions.reads(id).into_iter().chain(functions.writes(id));
        let mut slots: Vec<u32> = slots.map(|slot| slot.position() as u32).collect();
        slots.retain(|&slot| encoding.width(slot) > 0);
        slots.sort_unstable();
        slots.dedup();
        slots
    };
    let is_start = |id: InstanceId| functions.event(id).is_some_and(|event| event.is_start());
    let all = functions.instances().filter(|&id| !is_start(id)).map(of_instance);
    let mut all: Vec<Vec<u32>> = all.filter(|slots| slots.len() > 1).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn places(order: &[u32], slots: usize) -> Vec<u32> {
    let mut places = vec![0; slots];
    for (place, &slot) in order.iter().enumerate() {
        places[slot as usize] = place as u32;
    }
    places
}

fn span(order: &[u32], uses: &[Vec<u32>], width: impl Fn(u32) -> u64) -> u64 {
    let mut begins: Vec<u64> = vec![0; order.iter().max().map_or(0, |&slot| slot as usize + 1)];
    let mut total = 0;
    for &slot in order {
        begins[slot as usize] = total;
        total += width(slot);
    }
    let of = |slots: &Vec<u32>| {
        let first = slots.iter().map(|&slot| begins[slot as usize]).min().unwrap_or(0);
        let last = slots.iter().map(|&slot| begins[slot as usize] + width(slot)).max();
        last.unwrap_or(first) - first
    };
    uses.iter().map(of).sum()
}

fn arranged(order: &[u32], uses: &[Vec<u32>], slots: usize) -> Vec<u32> {
    let places = places(order, slots);
    let mut sums: Vec<(u64, u64)> = vec![(0, 0); slots];
    // Places are scaled, so that averages of integers are exact enough and the same everywhere.
    const SCALE: u64 = 1 << 16;
    for own in uses {
        let total: u64 = own.iter().map(|&slot| u64::from(places[slot as usize])).sum();
        let centre = total * SCALE / own.len() as u64;
        for &slot in own {
            let (sum, count) = &mut sums[slot as usize];
            *sum += centre;
            *count += 1;
        }
    }
    let key = |slot: u32| match sums[slot as usize] {
        (_, 0) => u64::from(places[slot as usize]) * SCALE,
        (sum, count) => sum / count,
    };
    let mut arranged = order.to_vec();
    arranged.sort_by_key(|&slot| (key(slot), places[slot as usize]));
    arranged
}
