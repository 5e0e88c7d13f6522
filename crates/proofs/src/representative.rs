//! Representatives of orbits: a predicate that holds in some state of each orbit, and a function from states to states of
//! their orbit.

use num_bigint::BigUint;
use quotient_groups::{Factor, PermutationGroup, SparsePermutation, Watch};
use quotient_ir::{Interrupt, Layout, TableIndex};
use quotient_symmetry::{CertifiedGroup, StateMap};

use crate::formula::{Bit, Formula};
use crate::system::System;
use quotient_booleans::{Full, Logic};

/// The largest factor of a group all of whose elements are tried for a normal form.
const FEW_ELEMENTS: usize = 24;
/// The largest number of images that are made for a normal form.
const MOST_IMAGES: usize = 256;
/// The bits of the order, and the number of points, of the largest group whose transversals are computed.
const MOST_BITS: u64 = 200;
const MOST_POINTS: usize = 4096;

/// A function that holds in at least one state of each orbit: no generator maps the state to a lesser one. States are
/// compared as sequences of bits. The least state of an orbit satisfies it; others may, too, since only generators are
/// looked at.
pub(crate) fn representative(system: &mut System, group: &CertifiedGroup) -> Result<Bit, Full> {
    let state = system.bits[..system.slots].to_vec();
    let mut conditions = Vec::with_capacity(group.maps().len());
    for map in group.maps() {
        if let Some(mut moved) = image(system, map, &state)? {
            moved.sort_unstable_by_key(|&(slot, _)| slot);
            let pairs: Vec<(Bit, Bit)> = moved.iter().flat_map(|(slot, bits)| zip(bits, &state[*slot])).collect();
            conditions.push(!is_less(&mut system.formula, &pairs)?);
        }
    }
    system.formula.all(conditions)
}

/// The bits of some state in the orbit of the state, as functions of its bits: if these agree for two states, the states
/// are in one orbit.
///
/// Level by level of chains of subgroups, the least image under the elements of the level is taken. Whatever permutations
/// are tried, the result is in the orbit, so some of them may be left out. It is the same for all states of an orbit if the
/// group permutes blocks of slots freely (the levels then sort the blocks, the least first), or has few elements, or is a
/// product of such groups. Values that are permuted in a large group can make a difference.
pub(crate) fn normal(
    system: &mut System,
    layout: &Layout,
    group: &CertifiedGroup,
    interrupt: &Interrupt,
) -> Result<Vec<Bit>, Full> {
    let mut state = system.bits[..system.slots].to_vec();
    let mut remaining = MOST_IMAGES;
    for level in levels(layout, group, interrupt)? {
        let mut least = state.clone();
        for map in level.maps.iter().take(remaining) {
            let Some(moved) = image(system, map, &state)? else { continue };
            let mut other = state.clone();
            for (slot, bits) in moved {
                other[slot] = bits;
            }
            let pairs: Vec<(Bit, Bit)> =
                level.compared.iter().flat_map(|&slot| zip(&other[slot], &least[slot])).collect();
            let is_less = is_less(&mut system.formula, &pairs)?;
            for &slot in &level.compared {
                for (least, other) in least[slot].iter_mut().zip(&other[slot]) {
                    *least = system.formula.choose(&is_less, other, least)?;
                }
            }
        }
        remaining = remaining.saturating_sub(level.maps.len());
        state = least;
    }
    Ok(state.concat())
}

/// Permutations that are tried together.
struct Level {
    maps: Vec<StateMap>,
    /// The slots by which states are compared, first those that later levels do not move.
    compared: Vec<usize>,
}

/// Small factors of a group as one level each, others by their transversals.
fn levels(layout: &Layout, group: &CertifiedGroup, interrupt: &Interrupt) -> Result<Vec<Level>, Full> {
    let interrupt = interrupt.clone();
    let watch = Watch::new(move |_| interrupt.is_raised());
    let literals = group.literals();
    let generators = group.generators().to_vec();
    let permutations = PermutationGroup::new_watched(literals.degree(), generators.clone(), &watch).ok_or(Full)?;
    let is_large = |factor: &Factor| factor.points.len() > MOST_POINTS;
    if permutations.order().bits() > MOST_BITS || permutations.factors().iter().any(is_large) {
        return Ok(generators
            .into_iter()
            .flat_map(|generator| of_chain(layout, group, vec![vec![generator]]))
            .collect());
    }
    let few = BigUint::from(FEW_ELEMENTS);
    let chain = |factor: &Factor| match factor.order <= few {
        true => vec![factor.elements(FEW_ELEMENTS).expect("there are few")],
        false => factor.transversals(),
    };
    Ok(permutations.factors().iter().flat_map(|factor| of_chain(layout, group, chain(factor))).collect())
}

/// The inverses of the elements of each level: what a level maps its base point to comes to the place of the base point.
fn of_chain(layout: &Layout, group: &CertifiedGroup, chain: Vec<Vec<SparsePermutation>>) -> Vec<Level> {
    let map = |element: &SparsePermutation| group.literals().action(layout, &element.inverse()).ok();
    let level = |elements: &Vec<SparsePermutation>| -> Vec<StateMap> {
        elements.iter().filter(|element| !element.is_identity()).filter_map(map).collect()
    };
    let levels: Vec<Vec<StateMap>> = chain.iter().map(level).collect();
    let mut last_moved: Vec<Option<usize>> = vec![None; layout.slots.len()];
    for (number, maps) in levels.iter().enumerate() {
        for entry in maps.iter().flat_map(StateMap::moves) {
            last_moved[entry.to.position()] = Some(number);
        }
    }
    let mut slots: Vec<usize> = (0..last_moved.len()).filter(|&slot| last_moved[slot].is_some()).collect();
    slots.sort_by_key(|&slot| last_moved[slot]);
    let compared = |number: usize| slots.iter().copied().filter(|&slot| last_moved[slot] >= Some(number)).collect();
    levels.into_iter().enumerate().map(|(number, maps)| Level { maps, compared: compared(number) }).collect()
}

fn zip<'b>(one: &'b [Bit], other: &'b [Bit]) -> impl Iterator<Item = (Bit, Bit)> + 'b {
    one.iter().copied().zip(other.iter().copied())
}

/// A slot, and its bits.
type Moved = (usize, Vec<Bit>);

/// The bits of the slots that a permutation moves, in the image of a state. `None` if the image of some value has no
/// bits.
fn image(system: &mut System, map: &StateMap, state: &[Vec<Bit>]) -> Result<Option<Vec<Moved>>, Full> {
    if !map.multisets().is_empty() {
        return Ok(None);
    }
    let mut moved: Vec<Moved> = Vec::with_capacity(map.moves().len());
    for entry in map.moves() {
        let (from, to) = (entry.from.position(), entry.to.position());
        let bits = &state[from];
        let (slot, image) = (from as u32, to as u32);
        if entry.values.is_none() && system.encoding.has_same_code(slot, image) {
            moved.push((to, bits.clone()));
            continue;
        }
        if !system.encoding.is_listed(slot) || !system.encoding.is_listed(image) {
            return Ok(None);
        }
        let mut parts: Vec<Vec<Bit>> = vec![Vec::new(); system.encoding.width(image)];
        for (position, value) in system.encoding.values(slot).to_vec().into_iter().enumerate() {
            let Some(code) = system.encoding.encode(image, entry.value(value)) else { return Ok(None) };
            let digits = bits.iter().enumerate();
            let digits = digits.map(|(digit, bit)| bit.negated_if(position >> digit & 1 == 0)).collect();
            let is_value = system.formula.all(digits)?;
            for (part, _) in parts.iter_mut().zip(&code).filter(|(_, digit)| **digit) {
                part.push(is_value);
            }
        }
        let bits: Result<Vec<Bit>, Full> = parts.into_iter().map(|part| system.formula.any(part)).collect();
        moved.push((to, bits?));
    }
    Ok(Some(moved))
}

/// Whether the sequence of the first bits of pairs is less than that of the second ones.
fn is_less(formula: &mut Formula, pairs: &[(Bit, Bit)]) -> Result<Bit, Full> {
    let mut result = Bit::FALSE;
    for (one, other) in pairs.iter().rev() {
        let less = formula.and(&!*one, other)?;
        let greater = formula.and(one, &!*other)?;
        let not_greater = formula.and(&!greater, &result)?;
        result = formula.or(&less, &not_greater)?;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::collections::hash_map::Entry;
    use std::collections::{HashMap, HashSet};

    use quotient_ir::{Budget, Source, Valuation};
    use quotient_kit::LoadOptions;
    use quotient_murphi::LANGUAGE;
    use quotient_symmetry::Preserved;

    use super::*;
    use quotient_search::{Checks, SearchOptions};
    use quotient_systems::SymmetrySource;

    type State = Vec<Option<i64>>;

    /// All states of possible values, and the orbit of each.
    fn orbits(system: &System, group: &CertifiedGroup) -> HashMap<State, usize> {
        let mut states: Vec<State> = vec![Vec::new()];
        for slot in 0..system.slots as u32 {
            let values = system.encoding.values(slot);
            let longer =
                |state: &State| values.iter().map(|&value| [&state[..], &[value]].concat()).collect::<Vec<_>>();
            states = states.iter().flat_map(longer).collect();
        }
        let mut orbits = HashMap::new();
        for (number, state) in states.into_iter().enumerate() {
            let mut pending = vec![state];
            while let Some(state) = pending.pop() {
                if let Entry::Vacant(entry) = orbits.entry(state) {
                    let state = Valuation(entry.key().clone());
                    pending.extend(group.maps().iter().map(|map| map.apply(&state).0));
                    entry.insert(number);
                }
            }
        }
        orbits
    }

    /// All states: the normal form is in the orbit. Returns the number of orbits, and of normal forms.
    fn check(text: &str) -> (usize, usize) {
        let source = Source::new("blocks", text.to_owned());
        let model = LANGUAGE.load(source, &LoadOptions::default()).expect("a model").model;
        let layout = Layout::new(&model).expect("a layout");
        let preserved = Preserved::Properties(&[]);
        let plan =
            quotient_systems::plan(&model, &layout, preserved, SymmetrySource::Detected, None, &Budget::unlimited());
        let group = plan.expect("symmetries").symmetry.group;
        let (options, interrupt) = (SearchOptions::default(), Interrupt::new());
        let checks = Checks::new(&model, None);
        let Ok(mut system) = System::new(&model, &layout, &checks, &options, usize::MAX, &interrupt) else {
            panic!("a formula")
        };
        let normal = normal(&mut system, &layout, &group, &interrupt).expect("room");
        let orbits = orbits(&system, &group);
        let mut forms = HashSet::new();
        for (state, orbit) in &orbits {
            let values = system.values(Some(&Valuation(state.clone())), &[]).expect("the state has bits");
            let mut bits = normal.iter().map(|&bit| values.of(bit));
            let form: State = (0..system.slots as u32)
                .map(|slot| {
                    let own: Vec<bool> = bits.by_ref().take(system.encoding.width(slot)).collect();
                    system.encoding.decode(slot, &own).expect("the bits of a value")
                })
                .collect();
            assert_eq!(orbits.get(&form), Some(orbit), "{state:?} has the form {form:?}");
            forms.insert(form);
        }
        (orbits.values().collect::<HashSet<_>>().len(), forms.len())
    }

    #[test]
    fn normal_forms_are_in_the_orbit() {
        // Blocks that are permuted freely: five of them with two slots, ten values of a block.
        let blocks = "type p: scalarset(5); var a: array [p] of 0..2; b: array [p] of boolean;
            startstate for i: p do a[i] := 0; b[i] := false end end;
            ruleset i: p do rule a[i] < 2 ==> a[i] := a[i] + 1 end; rule b[i] ==> b[i] := false; a[i] := 0 end;
            rule a[i] = 2 ==> b[i] := true end end;";
        assert_eq!(check(blocks), (252, 252));
        // Rotations of six slots with two values.
        let ring = "type p: 0..5; var a: array [p] of boolean; startstate for i: p do a[i] := false end end;
            ruleset i: p do rule !a[(i + 1) % 6] & !a[(i + 2) % 6] ==> a[i] := true end;
            rule a[i] & a[(i + 1) % 6] ==> a[i] := false end end;";
        assert_eq!(check(ring), (14, 14));
        // Few elements, and values that they permute.
        let owner = |count: usize| {
            format!(
                "type p: scalarset({count}); var a: array [p] of p; startstate for i: p do a[i] := i end end;
                ruleset i: p; j: p do rule a[i] = i ==> a[i] := a[j] end end;"
            )
        };
        assert_eq!(check(&owner(4)), (19, 19));
        // Many, and values that they permute: forms of an orbit differ.
        let (orbits, forms) = check(&owner(5));
        assert_eq!(orbits, 47);
        assert!((orbits..3125 / 8).contains(&forms), "{forms} forms");
    }
}
