//! From automorphisms of the graph to permutations of literals.

use quotient_functions::Multisets;
use quotient_groups::SparsePermutation;
use quotient_ir::{SlotId, TableIndex};

use super::Encoding;
use crate::literals::Literals;

/// The action of an automorphism of the graph on the literals.
pub(crate) fn restrict(
    encoding: &Encoding,
    multisets: &Multisets,
    literals: &Literals,
    automorphism: &SparsePermutation,
) -> SparsePermutation {
    let mut moves = Vec::new();
    for &vertex in automorphism.support() {
        let slot = encoding.slot_of_vertex(vertex).or(encoding.literal_of_vertex(vertex).map(|(slot, _)| slot));
        if slot.is_some_and(|slot| multisets.of_slot(slot.position() as u32).is_some()) {
            // The order of elements has no meaning: only the images of the columns count.
            continue;
        }
        if let Some(slot) = encoding.slot_of_vertex(vertex) {
            let target = encoding.slot_of_vertex(automorphism.image(vertex)).expect("slots go to slots");
            let (from, to) = (&literals.slots()[slot], &literals.slots()[target]);
            if from.wide {
                moves.push((from.first, to.first));
                continue;
            }
            for position in 0..from.values.len() {
                // Literals without a vertex belong to slots whose values are numbers and are fixed.
                let image = match encoding.literals[slot.position()][position] {
                    Some(literal) => encoding.position_of_literal(target, automorphism.image(literal)),
                    None => position,
                };
                moves.push((from.first + position as u32, to.first + image as u32));
            }
        } else if let Some((slot, position)) = encoding.literal_of_vertex(vertex)
            && !automorphism.moves_point(encoding.slots[slot.position()].expect("a literal has a slot"))
        {
            // The slot is fixed, its values permute.
            let first = literals.slots()[slot].first;
            let image = encoding.position_of_literal(slot, automorphism.image(vertex));
            moves.push((first + position as u32, first + image as u32));
        }
    }
    for multiset in multisets.iter() {
        for column in 0..multiset.stride {
            let whole = multiset.columns + column;
            let Some((to, values)) = encoding.column_image(whole, automorphism) else { continue };
            let image = multisets.iter().find(|image| (image.columns..image.columns + image.stride).contains(&to));
            let image = image.expect("a column goes to a column");
            for position in 0..multiset.capacity {
                let slot = |slot: u32| &literals.slots()[SlotId::from_position(slot as usize)];
                let from = slot(multiset.slot(position, column));
                let to = slot(image.slot(position, to - image.columns));
                match from.wide {
                    true => moves.push((from.first, to.first)),
                    false => {
                        let pairs = values.iter().enumerate();
                        moves.extend(pairs.map(|(at, &image)| (from.first + at as u32, to.first + image as u32)));
                    }
                }
            }
        }
    }
    moves.retain(|(from, to)| from != to);
    SparsePermutation::from_moves(moves).expect("an automorphism permutes the literals")
}
