//! A map of states as a relabelling of the slots and values of functions: the slots of the state, the inputs of actions
//! and the columns of multisets.

use quotient_functions::{Behaviour, InputMove, Multisets, Relabelling};
use quotient_ir::TableIndex;

use crate::literals::StateMap;

/// A map of states as a relabelling of the circuit's slots and values, including inputs. The images of the inputs may
/// be given; otherwise they follow the slots they are copied to.
pub(crate) fn relabelling(behaviour: &Behaviour, map: &StateMap, inputs: Option<&[InputMove]>) -> Relabelling {
    let circuit = &behaviour.circuit;
    let mut relabelling = Relabelling::default();
    for slot_move in map.moves() {
        let (from, to) = (slot_move.from.position() as u32, slot_move.to.position() as u32);
        let positions = (!circuit.is_wide(from)).then(|| {
            let image_of = |value: &Option<i64>| {
                let image = slot_move.value(*value);
                circuit.values(to).binary_search(&image).expect("the action maps onto the values") as u16
            };
            circuit.values(from).iter().map(image_of).collect()
        });
        relabelling.insert(from, to, positions);
    }
    extend_to_columns(&behaviour.multisets, map, &mut relabelling);
    behaviour.extend_to_inputs(&mut relabelling, inputs);
    relabelling
}

/// Extends a relabelling of slots to the columns: each follows its slot of the first position. The relabelling treats
/// all positions alike.
fn extend_to_columns(multisets: &Multisets, map: &StateMap, relabelling: &mut Relabelling) {
    for slot_move in map.moves() {
        let from = slot_move.from.position() as u32;
        let Some((_, entry)) = multisets.of_slot(from) else { continue };
        let column = from - entry.first;
        if column >= entry.stride {
            continue;
        }
        let to = relabelling.slot(from);
        let Some((_, image)) = multisets.of_slot(to) else { continue };
        let positions = relabelling.positions(from);
        relabelling.insert(entry.columns + column, image.columns + (to - image.first), positions);
    }
}
