//! Symmetry shared by the rules, compared with that of the whole model. If a model distinguishes no members at all, the
//! permutations of its families are symmetries, and nothing has to be recorded about the path to a state.

use num_bigint::BigUint;
use quotient_ir::{Budget, Layout, Model, Spent, TableIndex};

use super::{Families, PartialSymmetry, cycle_places};
use crate::certify::CertifiedGroup;
use crate::error::DetectionError;

/// The symmetry that at least half of the rules share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The number of permutations that preserve each of these rules.
    pub order: BigUint,
    /// The number of rules preserved by at least that many permutations.
    pub rules: usize,
    /// The number of rules that can fire.
    pub of: usize,
}

/// An upper bound on what rules can share, without analysing them: the permutations of all families.
///
/// # Errors
/// If the budget is spent.
pub fn most_permutations(model: &Model, layout: &Layout, budget: &Budget) -> Result<BigUint, Spent> {
    budget.spend(layout.slots.len() as u64)?;
    let sizes = Families::candidates(model, layout);
    let sizes = sizes.list().iter().map(|family| family.size as u32);
    Ok(sizes.flat_map(|size| 1..=size).fold(BigUint::from(1u32), |product, number| product * number))
}

impl PartialSymmetry<'_> {
    /// The symmetry that at least half of the rules share.
    ///
    /// # Errors
    /// As for [`PartialSymmetry::rule`].
    pub fn sharing(&mut self) -> Result<Sharing, DetectionError> {
        let mut orders = Vec::new();
        for rule in self.model.rules.indices() {
            if !self.rules[rule.position()].events.is_empty() {
                orders.push(self.rule(rule)?.partition.order());
            }
        }
        orders.sort_unstable_by(|first, second| second.cmp(first));
        let order = orders.get(orders.len().saturating_sub(1) / 2).cloned().unwrap_or_default();
        let rules = orders.iter().filter(|own| **own >= order).count();
        Ok(Sharing { order, rules, of: orders.len() })
    }

    /// The group of all permutations of families and its order, if all of them preserve every start, rule and property.
    /// If signatures already show that some rule distinguishes members, nothing else is computed.
    ///
    /// # Errors
    /// As for [`PartialSymmetry::rule`].
    pub fn whole_group(&mut self) -> Result<Option<(CertifiedGroup, BigUint)>, DetectionError> {
        if !self.seems_whole {
            return Ok(None);
        }
        let mut generators = Vec::new();
        let mut order = BigUint::from(1u32);
        for family in self.families.list().to_vec() {
            let known = generators.len();
            let members: Vec<usize> = (family.first..family.first + family.size).collect();
            // A transposition and a cycle generate all permutations.
            for length in if family.size == 2 { vec![2] } else { vec![2, family.size] } {
                let place_of = cycle_places(self.families.members(), &members[..length]);
                let Some(generator) = self.literal_permutation(&place_of) else { return Ok(None) };
                match self.certifier.check(&generator) {
                    Ok(_) if generator.is_identity() => {}
                    Ok(map) => generators.push((generator, map)),
                    Err(rejection) => {
                        let describe = || self.certifier.literals().describe(self.model, self.layout, &generator);
                        DetectionError::of_candidate(rejection, describe)?;
                        return Ok(None);
                    }
                }
            }
            // Permutations of values that no slot can hold have no effect.
            if generators.len() > known {
                order = (1..=family.size as u32).fold(order, |order, number| order * number);
            }
        }
        Ok(Some((self.certifier.group(generators, Vec::new()), order)))
    }
}
