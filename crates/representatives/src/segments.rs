//! The published methods for full symmetry: sorting by what refers to no interchangeable object, and then the least
//! image over the permutations of objects that compare equal (Bosnacki, Dams and Holenderski 2002; Wahl and Donaldson
//! 2010, section 4.3).

use num_bigint::BigUint;

use quotient_groups::arrangement::arrangement;

use crate::elements::CodeMap;
use crate::factor::{Factor, FactorScratch};
use crate::keys::KeyPlan;
use crate::nesting::{NestedSort, SortScratch};
use crate::points::View;

/// The largest number of objects for which every exchange is listed.
const LARGEST_NESTING: usize = 64;
/// The largest number of permutations listed for one state; beyond it, the general search finds the least image.
const LISTED_PERMUTATIONS: u64 = 50_000;

/// One factor of a group that is sorted.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    view: View,
    kind: Kind,
    /// Used for states with too many permutations.
    fallback: Option<Factor>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Nothing refers to objects: sorting suffices.
    Nested(Vec<NestedSort>),
    Single(Vec<Things>),
}

/// Objects of one kind.
#[derive(Clone, Debug)]
struct Things {
    plan: KeyPlan,
    /// The exchange of each pair, ordered by the first object and then the second.
    exchanges: Vec<CodeMap>,
}

/// Objects that compare equal: their kind, and the range of positions.
type Cell = (usize, usize, usize);

/// Working memory for sorting by segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentScratch {
    codes: Vec<u64>,
    image: Vec<u64>,
    tokens: Vec<u64>,
    order: Vec<u32>,
    cells: Vec<Cell>,
    sort: SortScratch,
    part: FactorScratch,
}

impl Segments {
    /// The method for a factor, if it is a product of full symmetric groups.
    pub(crate) fn new(view: &View, order: &BigUint, is_segmented: bool) -> Option<Self> {
        let found = arrangement(&view.action, order)?;
        if found.is_complete() {
            let sorts: Option<Vec<NestedSort>> =
                (0..found.nestings.len()).map(|number| NestedSort::new(view, &found, number)).collect();
            let sorts = sorts?;
            if !sorts.iter().any(NestedSort::has_holders) {
                return Some(Self { view: view.clone(), kind: Kind::Nested(sorts), fallback: None });
            }
        }
        if found.nestings.iter().any(|nesting| nesting.arities.len() > 1 || nesting.arities[0] > LARGEST_NESTING) {
            return None;
        }
        let exchanges = found.exchanges(&view.action, order);
        let mut all = Vec::new();
        for (number, nesting) in found.nestings.iter().enumerate() {
            let count = nesting.arities[0];
            let place = |point: u32| {
                found.places[point as usize].filter(|place| place.nesting == number).map(|place| place.node)
            };
            let plan = KeyPlan::new(view, count, place, |point| found.orbits[point as usize], false)?;
            let own = exchanges.iter().filter(|exchange| exchange.nesting == number);
            let exchanges = own.map(|exchange| CodeMap::new(view, &exchange.element)).collect();
            all.push(Things { plan, exchanges });
        }
        let fallback = is_segmented.then(|| Factor::searching(view.clone(), order.clone()));
        Some(Self { view: view.clone(), kind: Kind::Single(all), fallback })
    }

    /// Whether every orbit has exactly one representative.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.kind, Kind::Nested(_)) || self.fallback.is_some()
    }

    pub(crate) fn canonicalize(&self, state: &mut [u64], scratch: &mut SegmentScratch) {
        let things = match &self.kind {
            Kind::Nested(sorts) => {
                for sort in sorts {
                    sort.canonicalize(state, &mut scratch.sort);
                }
                return;
            }
            Kind::Single(things) => things,
        };
        scratch.cells.clear();
        let mut permutations = 1u64;
        for (kind, entry) in things.iter().enumerate() {
            let SegmentScratch { codes, image, tokens, order, cells, .. } = scratch;
            let words = entry.plan.load_wide(state, tokens);
            let count = entry.plan.count;
            let key = |thing: u32| &tokens[thing as usize * words..][..words];
            order.clear();
            order.extend(0..count as u32);
            order.sort_by(|&left, &right| key(left).cmp(key(right)));
            let mut first = 0;
            for place in 1..=count {
                if place == count || key(order[place]) != key(order[first]) {
                    cells.push((kind, first, place));
                    permutations = (1..=(place - first) as u64).fold(permutations, u64::saturating_mul);
                    first = place;
                }
            }
            // One exchange for each object that is not yet in its position.
            self.view.read(state, codes);
            let mut at: Vec<u32> = (0..count as u32).collect();
            for (place, wanted) in order.iter().enumerate() {
                let now = at.iter().position(|thing| thing == wanted).expect("every thing is somewhere");
                if now != place {
                    entry.exchange(place, now).apply(codes, image);
                    std::mem::swap(codes, image);
                    at.swap(place, now);
                }
            }
            self.view.write(codes, state);
        }
        let Some(fallback) = &self.fallback else { return };
        if permutations > LISTED_PERMUTATIONS {
            return fallback.canonicalize(state, &mut scratch.part);
        }
        self.view.read(state, &mut scratch.codes);
        let mut best = scratch.codes.clone();
        let cells: Vec<Cell> = scratch.cells.iter().copied().filter(|(_, first, end)| end - first > 1).collect();
        permute(things, &cells, &scratch.codes, &mut best);
        self.view.write(&best, state);
    }
}

impl Things {
    fn exchange(&self, first: usize, second: usize) -> &CodeMap {
        let count = self.plan.count;
        // The pairs before those that begin with `first`, then the position among these.
        &self.exchanges[first * (2 * count - first - 1) / 2 + second - first - 1]
    }
}

/// Tries all permutations within cells. The recursion is as deep as there are objects.
fn permute(things: &[Things], cells: &[Cell], codes: &[u64], best: &mut Vec<u64>) {
    let Some((&(kind, first, end), rest)) = cells.split_first() else {
        if codes < &best[..] {
            best.clear();
            best.extend_from_slice(codes);
        }
        return;
    };
    if end - first < 2 {
        return permute(things, rest, codes, best);
    }
    let mut smaller = cells.to_vec();
    smaller[0] = (kind, first + 1, end);
    permute(things, &smaller, codes, best);
    let mut image = Vec::new();
    for other in first + 1..end {
        things[kind].exchange(first, other).apply(codes, &mut image);
        permute(things, &smaller, &image, best);
    }
}
