//! The net beside the model: which instance of a rule is which way to fire, for an engine of nets.

use std::sync::Arc;

use quotient_ir::{RuleId, TableIndex};

use super::coverability::Coverability;
use super::unfolding::{Firing, Unfolding};
use super::{Binding, Lowering};
use crate::net::DOT;

impl Lowering<'_> {
    /// Describes the model as a net, if properties of it may be answered so. To be called at the end.
    pub(super) fn describe(&mut self) {
        if self.goals.is_empty() {
            return;
        }
        let Some(Coverability { unfolding: Unfolding { net, firings, .. }, set, .. }) = self.coverability.take() else {
            return;
        };
        // The first rule of each transition.
        let rules = self.ways.iter().scan(0, |next, ways| Some(std::mem::replace(next, *next + ways.len())));
        let rules: Vec<usize> = rules.collect();
        let firings = firings.iter().map(|firing| self.instance(&rules, firing)).collect();
        self.model.net = Some(Arc::new(quotient_ir::Net {
            vectors: net,
            places: self.places.clone(),
            firings,
            goals: std::mem::take(&mut self.goals),
            claimed: set,
        }));
    }

    /// The rule and the arguments of a way to fire. None if tables exclude it.
    fn instance(&self, rules: &[usize], firing: &Firing) -> Option<(RuleId, Vec<i64>)> {
        let net = self.net;
        let variables = net.transitions[firing.transition].variables.iter();
        let components = variables.flat_map(|&variable| {
            let classes = net.variables[variable].classes.iter().enumerate();
            classes.map(move |(component, &class)| ((variable, component), class))
        });
        let values: Vec<_> = components.zip(&firing.values).map(|((key, class), &value)| (key, class, value)).collect();
        let is_own = |fixed: &Binding| {
            fixed.iter().all(|(key, value)| values.iter().any(|(own, _, is)| own == key && is == value))
        };
        let ways = &self.ways[firing.transition];
        let way = ways.iter().position(is_own)?;
        let is_argument = |key: &(usize, usize), class: usize| class != DOT && !ways[way].contains_key(key);
        let arguments = values.iter().filter(|(key, class, _)| is_argument(key, *class)).map(|(.., value)| *value);
        Some((RuleId::from_position(rules[firing.transition] + way), arguments.collect()))
    }
}
