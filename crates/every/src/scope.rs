//! The members that a search is about, and which of them it needs.
//!
//! The number of objects of a type is either open, from some number on, or fixed. Of an open type, states are built with as
//! many objects as a step concerns; of a fixed one, all objects are always there.

use std::ops::RangeInclusive;
use std::sync::Arc;

use quotient_ir::RuleId;

use super::classification::{Need, Needs};
use super::family::{Members, Objects};
use super::sizes::{MOST_SORTS, Sizes};

/// The members that a search needs, and which ones it is about.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Those that it needs.
    pub members: Members,
    /// Those that it is about.
    pub scope: Arc<Scope>,
}

/// The members that a search is about.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The types of objects.
    pub objects: Objects,
    /// What steps and properties concern.
    pub needs: Needs,
    /// How many objects of each type the shared part can name at most.
    pub pointers: Sizes,
    /// The number of objects of each type that has a fixed one.
    pub fixed: [Option<usize>; MOST_SORTS],
}

impl Scope {
    /// How many other objects of each type a view has beside the named ones: `kept` of an open type, all of a fixed one.
    pub(super) fn kept(&self, kept: usize, named: Sizes) -> Sizes {
        Sizes::of(|sort| match self.fixed[sort] {
            _ if sort >= self.objects.sorts() => 0,
            Some(count) => count - named[sort],
            None => kept,
        })
    }

    /// The numbers of objects of the smallest member with so many others beside the named ones.
    pub(super) fn counts(&self, named: Sizes, others: Sizes) -> Sizes {
        let fitting = self.objects.fitting(named + others);
        Sizes::of(|sort| self.fixed[sort].unwrap_or(fitting[sort]))
    }

    /// How many other objects of open types suffice to see the effect of the starts on `kept` of them.
    pub(super) fn of_starts(&self, kept: usize) -> Sizes {
        self.open(self.needs.starts.others(self.all(kept)))
    }

    /// The same for a rule.
    pub(super) fn of_rule(&self, rule: RuleId, kept: usize) -> Sizes {
        self.open(self.needs.rules[rule].others(self.all(kept)))
    }

    /// How many other objects suffice to see that a property does not hold, but at least `kept`.
    pub(super) fn of_property(&self, need: Need, kept: usize) -> Sizes {
        self.open(need.others(Sizes::default()).or(self.all(kept)))
    }

    /// The same number for all types.
    fn all(&self, number: usize) -> Sizes {
        Sizes::of(|sort| if sort < self.objects.sorts() { number } else { 0 })
    }

    /// Numbers of other objects for which there are members; 0 for fixed types.
    fn open(&self, others: Sizes) -> Sizes {
        let others = others.or(self.needs.least);
        Sizes::of(|sort| if self.fixed[sort].is_none() { others[sort] } else { 0 })
    }

    /// The numbers of other objects that steps and properties concern.
    pub(super) fn others(&self, kept: usize) -> Vec<Sizes> {
        let rules = self.needs.rules.indices().map(|rule| self.of_rule(rule, kept));
        let properties = self.needs.properties.iter().map(|(_, need)| self.of_property(*need, kept));
        let mut others: Vec<Sizes> = rules.chain(properties).chain([self.of_starts(kept)]).collect();
        others.sort_unstable();
        others.dedup();
        others
    }

    /// The numbers of objects of the members that are needed to see the effects of steps on so many other objects.
    pub fn sizes(&self, kept: RangeInclusive<usize>) -> Vec<Sizes> {
        let mut named = vec![Sizes::default()];
        for sort in 0..MOST_SORTS {
            let more = |sizes: &Sizes| {
                let sizes = *sizes;
                (0..=self.pointers[sort])
                    .map(move |number| Sizes::of(|own| if own == sort { number } else { sizes[own] }))
            };
            named = named.iter().flat_map(more).collect();
        }
        let others: Vec<Sizes> = kept.flat_map(|kept| self.others(kept)).collect();
        let mut sizes: Vec<Sizes> =
            named.iter().flat_map(|&named| others.iter().map(move |&others| self.counts(named, others))).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// From which numbers of objects on an attempt speaks about all states; for fixed types these numbers.
    pub fn least(&self, kept: usize) -> Sizes {
        let others = self.others(kept).into_iter().fold(Sizes::default(), Sizes::or);
        self.counts(self.pointers, others)
    }
}
