//! A predicate that holds in some state of each orbit.

use quotient_ir::TableIndex;
use quotient_symmetry::{CertifiedGroup, StateMap};

use crate::booleans::{Full, Logic};
use crate::solver::formula::Bit;
use crate::solver::system::System;

/// A function that holds in at least one state of each orbit: no generator maps the state to a lesser one. States are
/// compared as sequences of bits. The least state of an orbit satisfies it; others may, too, since only generators are
/// looked at.
pub(crate) fn representative(system: &mut System, group: &CertifiedGroup) -> Result<Bit, Full> {
    let mut conditions = Vec::with_capacity(group.maps().len());
    for map in group.maps() {
        conditions.push(is_not_greater(system, map)?);
    }
    system.formula.all(conditions)
}

/// Whether a state is at most its image. True if the image of some value has no bits.
fn is_not_greater(system: &mut System, map: &StateMap) -> Result<Bit, Full> {
    if !map.multisets().is_empty() {
        return Ok(Bit::TRUE);
    }
    // The slots that change, with their bits in the image.
    let mut changes: Vec<(usize, Vec<Bit>)> = Vec::new();
    for entry in map.moves() {
        let (from, to) = (entry.from.position(), entry.to.position());
        let bits = system.bits[from].clone();
        let (slot, image) = (from as u32, to as u32);
        if entry.values.is_none() && system.encoding.has_same_code(slot, image) {
            changes.push((to, bits));
            continue;
        }
        if !system.encoding.is_listed(slot) || !system.encoding.is_listed(image) {
            return Ok(Bit::TRUE);
        }
        let mut parts: Vec<Vec<Bit>> = vec![Vec::new(); system.encoding.width(image)];
        for (position, value) in system.encoding.values(slot).to_vec().into_iter().enumerate() {
            let Some(code) = system.encoding.encode(image, entry.value(value)) else { return Ok(Bit::TRUE) };
            let digits = bits.iter().enumerate();
            let digits = digits.map(|(digit, bit)| bit.negated_if(position >> digit & 1 == 0)).collect();
            let is_value = system.formula.all(digits)?;
            for (part, _) in parts.iter_mut().zip(&code).filter(|(_, digit)| **digit) {
                part.push(is_value);
            }
        }
        let bits: Result<Vec<Bit>, Full> = parts.into_iter().map(|part| system.formula.any(part)).collect();
        changes.push((to, bits?));
    }
    changes.sort_unstable_by_key(|&(slot, _)| slot);
    let pairs = changes.iter().flat_map(|(slot, image)| system.bits[*slot].iter().copied().zip(image.iter().copied()));
    let pairs: Vec<(Bit, Bit)> = pairs.collect();
    let formula = &mut system.formula;
    let mut result = Bit::TRUE;
    for (bit, image) in pairs.into_iter().rev() {
        let less = formula.and(&!bit, &image)?;
        let greater = formula.and(&bit, &!image)?;
        let not_greater = formula.and(&!greater, &result)?;
        result = formula.or(&less, &not_greater)?;
    }
    Ok(result)
}
