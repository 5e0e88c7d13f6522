//! Conditions about objects that are known: the value of a guard, or of the body of a quantifier, that used nothing but the
//! shared cells and the cells of the objects that the locals hold is remembered ([`facts`](super::facts)) by the numbers of
//! these ([`numbered`](super::numbered)) and the other locals. That nothing else is used is observed at the first evaluation.

use quotient_ir::{ExprId, LocalId, TableIndex};

use super::facts::{ATTEMPTS, Fact, Facts};
use super::machine::{Machine, Run, Stop};
use super::numbered::Kind;
use super::world::Cell;

impl Machine<'_> {
    /// Prepares the question for the value of a condition, with an object of an entity in a local. Nothing if it cannot be
    /// known: then other things count as well.
    fn ask(&mut self, condition: ExprId, bound: Option<(LocalId, usize, usize)>) -> Option<()> {
        let frame = self.frames.last()?;
        if !self.facts.is_current
            || self.facts.futile.get(condition.position()).is_some_and(|&attempts| attempts == ATTEMPTS)
            || !self.watches.is_empty()
            || !self.loops.is_empty()
            || frame.references.iter().any(Option::is_some)
            || frame.area.each.iter().any(|cells| !cells.is_empty())
            || frame.area.pairs.iter().any(|rows| !rows.is_empty())
        {
            return None;
        }
        let bound = bound.map(|(local, family, entity)| (self.local_position(local), family, entity));
        let Self { facts, sources, world, .. } = self;
        let Facts { key, kinds, shared, .. } = facts;
        key.clear();
        // Expressions may be shared by scopes, whose locals differ.
        key.push((condition.position() as u64) << 32 | u64::from(*shared));
        key.push(std::ptr::from_ref(frame.columns).addr() as u64);
        let mut met: [(usize, usize); 8] = [(0, 0); 8];
        let mut objects = 0;
        for (position, &cell) in frame.area.single.iter().enumerate() {
            let (family, entity, is_new) = match (bound, cell) {
                // One of several is none of the others.
                (Some((own, family, entity)), _) if own == position => {
                    (family, entity, world.counts[family][entity] > 1)
                }
                (_, Cell::Object { family, entity }) => (family as usize, entity as usize, false),
                (_, Cell::Int(value)) => {
                    key.extend([1, value as u64]);
                    continue;
                }
                (_, Cell::Undefined | Cell::Own) => {
                    key.push(0);
                    continue;
                }
            };
            // What is left over from another valuation may be gone.
            if entity >= sources[family].len() {
                return None;
            }
            let mut origin = entity;
            while origin >= kinds[family].len() {
                origin = sources[family][origin];
            }
            let same = met[..objects].iter().position(|object| !is_new && *object == (family, entity));
            let number = same.unwrap_or(objects);
            if number == objects {
                *met.get_mut(objects)? = (family, if is_new { usize::MAX } else { entity });
                objects += 1;
            }
            let Kind { row, name } = kinds[family][origin];
            key.extend([2 | (number as u64) << 2 | (family as u64) << 8, u64::from(row) << 32 | u64::from(name)]);
        }
        Some(())
    }

    /// The value of a condition, with an object of an entity in a local if one is given: looked up, or evaluated and
    /// remembered. The local keeps some value.
    ///
    /// `evaluate` is told whether it is watched: then it adds the object that it puts into the local to those that may
    /// be used.
    pub(crate) fn known_or(
        &mut self,
        condition: ExprId,
        bound: Option<(LocalId, usize, usize)>,
        evaluate: impl FnOnce(&mut Self, bool) -> Run<bool>,
    ) -> Run<bool> {
        if self.ask(condition, bound).is_none() {
            return evaluate(self, false);
        }
        self.facts.looked += 1;
        if let Some(&fact) = self.facts.known.get(&self.facts.key[..]) {
            if let Some(attempts) = self.facts.futile.get_mut(condition.position()) {
                *attempts = 0;
            }
            return match fact {
                Fact::False => Ok(false),
                Fact::True => Ok(true),
                Fact::Fault => Err(Stop::Fault),
            };
        }
        self.facts.missed += 1;
        let key: Box<[u64]> = self.facts.key.as_slice().into();
        let objects = self.objects_of_locals(bound.map(|(local, ..)| self.local_position(local)));
        let own = std::mem::replace(&mut self.own, objects);
        let uses_others = std::mem::replace(&mut self.uses_others, false);
        let moves_all = std::mem::replace(&mut self.moves_all, false);
        let written = std::mem::replace(&mut self.lowest_write, usize::MAX);
        let height = self.frames.len();
        let value = evaluate(self, true);
        let is_local = !self.uses_others && !self.moves_all && self.lowest_write > height && self.facts.is_current;
        // An object that may be used here may be none of those that may be used around it.
        let is_more = self.own.iter().any(|object| !own.contains(object));
        self.uses_others |= uses_others || is_more;
        self.moves_all |= moves_all;
        self.own = own;
        self.lowest_write = self.lowest_write.min(written);
        let fact = match value {
            Ok(false) => Fact::False,
            Ok(true) => Fact::True,
            Err(Stop::Fault) => Fact::Fault,
            Err(_) => return value,
        };
        let attempts = &mut self.facts.futile;
        attempts.resize(attempts.len().max(condition.position() + 1), 0);
        let attempts = &mut attempts[condition.position()];
        if is_local {
            *attempts = 0;
            self.facts.learn(key, fact);
        } else {
            *attempts = (*attempts + 1).min(ATTEMPTS);
        }
        value
    }

    /// The objects that the locals of the innermost scope hold, but for one that gets another value.
    fn objects_of_locals(&self, without: Option<usize>) -> Vec<(usize, usize)> {
        let cells = self.frame().area.single.iter().enumerate();
        let object = |(position, cell): (usize, &Cell)| match *cell {
            Cell::Object { family, entity } if Some(position) != without => Some((family as usize, entity as usize)),
            _ => None,
        };
        cells.filter_map(object).collect()
    }
}
