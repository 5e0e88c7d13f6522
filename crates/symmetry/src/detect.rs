//! Detection: a model and the properties of a run to generators of its symmetry group, through the
//! coloured graph. What comes out is a list of candidates; only `certify` makes a group of them.

use quotient_groups::{ColouredGraph, SparsePermutation};
use quotient_ir::{Layout, Model, PropertyId, SlotId, TableIndex};

use crate::behaviour::{self, Fixed};
use crate::graph::{self, Encoding};
use crate::literals::Literals;

/// What detection found, not yet certified.
#[derive(Debug)]
pub struct Candidates {
    /// The points that are permuted.
    pub literals: Literals,
    /// Generators, as permutations of the points.
    pub generators: Vec<SparsePermutation>,
    /// Whether the search for generators was complete.
    pub complete: bool,
    /// The graph.
    pub graph: ColouredGraph,
    /// What each vertex of the graph stands for.
    pub labels: Vec<String>,
    /// Variables that were treated as fixed, and why.
    pub fixed: Vec<Fixed>,
    /// Slots that can move but whose values are numbers that do not permute.
    pub numbers: Vec<SlotId>,
}

/// Finds generators of the symmetries of a model that preserve the given properties.
pub fn find_candidates(model: &Model, layout: &Layout, properties: &[PropertyId]) -> Candidates {
    let behaviour = behaviour::unfold(model, layout, properties);
    let encoding = graph::encode(model, layout, &behaviour);
    let literals = Literals::new(
        (0..behaviour.slots as u32)
            .map(|slot| (behaviour.circuit.values(slot).to_vec(), behaviour.circuit.is_wide(slot))),
    );
    let group = quotient_groups::generators(&encoding.graph);
    let mut generators = Vec::new();
    for generator in &group.generators {
        let restricted = restrict(&encoding, &literals, generator);
        if !restricted.is_identity() {
            generators.push(restricted);
        }
    }
    let numbers = layout
        .slots
        .indices()
        .filter(|slot| encoding.numbers[slot.position()] && literals.slots()[*slot].values.len() > 1)
        .collect();
    let labels = encoding.labels;
    Candidates {
        literals,
        generators,
        complete: group.complete,
        graph: encoding.graph,
        labels,
        fixed: behaviour.fixed,
        numbers,
    }
}

/// What an automorphism of the graph does to the literals.
fn restrict(encoding: &Encoding, literals: &Literals, automorphism: &SparsePermutation) -> SparsePermutation {
    let mut moves = Vec::new();
    for &vertex in automorphism.support() {
        let Some(slot) = encoding.slot_of_vertex(vertex) else { continue };
        let target = encoding.slot_of_vertex(automorphism.image(vertex)).expect("slots go to slots");
        let (from, to) = (&literals.slots()[slot], &literals.slots()[target]);
        if from.wide {
            moves.push((from.first, to.first));
            continue;
        }
        for position in 0..from.values.len() {
            // Literals without a vertex belong to slots whose values are numbers and stay the same.
            let image = match encoding.literals[slot.position()][position] {
                Some(literal) => encoding.position_of_literal(target, automorphism.image(literal)),
                None => position,
            };
            moves.push((from.first + position as u32, to.first + image as u32));
        }
    }
    for (slot, row) in encoding.literals.iter().enumerate().take(literals.slots().len()) {
        // Slots that stay but whose values permute.
        let owner = encoding.slots[slot];
        if owner.is_none_or(|owner| automorphism.moves_point(owner)) {
            continue;
        }
        let slot = SlotId::from_position(slot);
        let first = literals.slots()[slot].first;
        for (position, literal) in row.iter().enumerate() {
            if let Some(literal) = literal
                && automorphism.moves_point(*literal)
            {
                let image = encoding.position_of_literal(slot, automorphism.image(*literal));
                moves.push((first + position as u32, first + image as u32));
            }
        }
    }
    moves.retain(|(from, to)| from != to);
    SparsePermutation::from_moves(moves).expect("an automorphism permutes the literals")
}
