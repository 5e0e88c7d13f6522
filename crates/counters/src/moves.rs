//! Steps that are known, for states by numbers ([`numbered`](super::numbered)): what a rule about one object does is looked
//! up by the numbers of the shared part and of the row, as in [`local`](super::local), and gives the numbers of the next state.
//!
//! A step may copy or set cells of all objects, each on its own, such as `to_invalidate := holder`. What becomes of the
//! others is then known by their rows, one by one.

use quotient_ir::{PropertyId, RuleId, TableIndex};
use rustc_hash::FxHashMap;

use super::columns::Scheme;
use super::local::{Own, family_of};
use super::machine::Machine;
use super::numbered::{Group, Kind, Numbered};
use super::world::{Chosen, World};

/// The most words that are remembered; beyond, everything is forgotten.
const MOST_WORDS: usize = 1 << 22;
/// So often is looked before it is judged whether that pays.
const TRIAL: u64 = 1 << 13;

/// A step of a rule.
pub(crate) struct Move {
    pub(crate) rule: RuleId,
    /// The parameters; the entity of the object is another one in each state.
    chosen: Box<[Chosen]>,
    pub(crate) effect: Effect,
}

/// What a step does.
pub(crate) enum Effect {
    /// It depends on other objects.
    Unknown,
    Pruned,
    Fault,
    Next(Next),
}

/// The numbers after a step.
pub(crate) struct Next {
    change: Change,
    /// Whether the others change as well.
    moves_all: bool,
    pub(crate) covered: Vec<PropertyId>,
    /// Whether the shared part or the object changes.
    has_moved: bool,
}

/// The shared part after a step, the object, and the names of objects that had one.
pub(crate) struct Change {
    shared: u32,
    own: Option<Kind>,
    names: Box<[u32]>,
}

/// The rules whose steps may be known, and those that are.
pub(crate) struct Moves {
    /// For each rule, the family of the object it is about; none if it is about several.
    families: Vec<Option<Option<usize>>>,
    /// Where the steps are for a shared part and an object.
    known: FxHashMap<(u32, Kind), (u32, u32)>,
    moves: Vec<Move>,
    /// The rows of others after a step.
    rows: FxHashMap<(u32, u32), u32>,
    words: usize,
    looked: u64,
    missed: u64,
    is_off: bool,
}

/// No object.
const NOBODY: Kind = Kind { row: u32::MAX, name: 0 };

impl Moves {
    pub(crate) fn new(scheme: &Scheme<'_>) -> Self {
        let rules = scheme.model.rules.iter_enumerated();
        Self {
            families: rules.map(|(rule, _)| family_of(scheme, rule)).collect(),
            known: FxHashMap::default(),
            moves: Vec::new(),
            rows: FxHashMap::default(),
            words: 0,
            looked: 0,
            missed: 0,
            is_off: false,
        }
    }

    /// The rules whose steps are not remembered.
    pub(crate) fn unknown_rules(&self) -> impl Iterator<Item = RuleId> {
        let rules = self.families.iter().enumerate().filter(|(_, of)| self.is_off || of.is_none());
        rules.map(|(rule, _)| RuleId::from_position(rule))
    }

    /// The rules about an object like this.
    pub(crate) fn rules_of(&self, own: Own) -> Vec<RuleId> {
        let family = own.map(|(family, _)| family);
        let rules = self.families.iter().enumerate().filter(|(_, of)| **of == Some(family));
        rules.map(|(rule, _)| RuleId::from_position(rule)).collect()
    }

    /// What there are such rules for in a state.
    pub(crate) fn begin(&mut self, state: &Numbered, objects: &mut Vec<Own>) {
        objects.clear();
        if self.looked > TRIAL && self.missed > self.looked / 2 {
            self.is_off = true;
        }
        if self.words > MOST_WORDS || self.is_off {
            self.known.clear();
            self.moves.clear();
            self.rows.clear();
            self.words = 0;
        }
        if self.is_off {
            return;
        }
        if self.families.contains(&Some(None)) {
            objects.push(None);
        }
        for (family, groups) in state.groups.iter().enumerate() {
            if self.families.contains(&Some(Some(family))) {
                objects.extend((0..groups.len()).map(|entity| Some((family, entity))));
            }
        }
    }

    /// The steps that are known for an object: from one to before another.
    pub(crate) fn look(&mut self, state: &Numbered, own: Own) -> Option<(u32, u32)> {
        self.looked += 1;
        let found = self.known.get(&(state.shared, kind(state, own))).copied();
        self.missed += u64::from(found.is_none());
        found
    }

    /// Remembers the steps of an object, each with the rows of others before and after it.
    pub(crate) fn learn(&mut self, state: &Numbered, own: Own, steps: Vec<(Move, Vec<(u32, u32)>)>) -> (u32, u32) {
        let begin = self.moves.len() as u32;
        for (step, rows) in steps {
            self.words += 16 + step.chosen.len();
            self.moves.push(step);
            self.learn_rows(self.moves.len() as u32 - 1, rows);
        }
        let found = (begin, self.moves.len() as u32);
        self.words += 8;
        self.known.insert((state.shared, kind(state, own)), found);
        found
    }

    /// Remembers what becomes of other objects after a step.
    pub(crate) fn learn_rows(&mut self, step: u32, rows: Vec<(u32, u32)>) {
        self.words += 4 * rows.len();
        self.rows.extend(rows.into_iter().map(|(before, after)| ((step, before), after)));
    }

    pub(crate) fn step(&self, step: u32) -> &Move {
        &self.moves[step as usize]
    }

    /// The state after a step, and whether it is another one. None if it is not known what becomes of some object.
    pub(crate) fn apply(&self, state: &Numbered, own: Own, step: u32, after: &mut Numbered) -> Option<bool> {
        let Effect::Next(Next { change, moves_all, has_moved, .. }) = &self.step(step).effect else { return None };
        let mut has_moved = *has_moved;
        after.shared = change.shared;
        after.groups.resize_with(state.groups.len(), Vec::new);
        for (family, (groups, next)) in state.groups.iter().zip(&mut after.groups).enumerate() {
            next.clear();
            for (entity, &Group { kind: Kind { row, name }, count }) in groups.iter().enumerate() {
                let is_own = own == Some((family, entity));
                let others = count - u64::from(is_own);
                if others > 0 {
                    let now = if *moves_all { *self.rows.get(&(step, row))? } else { row };
                    has_moved |= now != row;
                    let name = if name > 0 { change.names[name as usize - 1] } else { 0 };
                    next.push(Group { kind: Kind { row: now, name }, count: others });
                }
                if let (true, Some(kind)) = (is_own, change.own) {
                    next.push(Group { kind, count: 1 });
                }
            }
            Numbered::sort(next);
        }
        Some(has_moved)
    }
}

fn kind(state: &Numbered, own: Own) -> Kind {
    own.map_or(NOBODY, |(family, entity)| state.groups[family][entity].kind)
}

impl Move {
    pub(crate) fn new(rule: RuleId, chosen: &[Chosen], effect: Effect) -> Self {
        Self { rule, chosen: chosen.into(), effect }
    }

    /// The parameters for an object.
    pub(crate) fn chosen(&self, own: Own) -> impl Iterator<Item = Chosen> {
        self.chosen.iter().map(move |chosen| match (*chosen, own) {
            (Chosen::Object { family, .. }, Some((_, entity))) => Chosen::Object { family, entity },
            (chosen, _) => chosen,
        })
    }
}

impl Next {
    /// What a step did in a state, with what became of the rows of others. None if the numbers do not show it.
    ///
    /// `object` is what was split off for it, and `differs` whether the state is another one.
    pub(crate) fn new(
        scheme: &Scheme<'_>,
        (state, own): (&Numbered, Own),
        (after, object): (&Machine<'_>, Own),
        differs: bool,
    ) -> Option<(Self, Vec<(u32, u32)>)> {
        let mut numbers = scheme.numbers.borrow_mut();
        let (world, columns): (&World, _) = (&after.world, &scheme.globals);
        let (mut named, mut names) = (Vec::new(), Vec::new());
        state.named(&mut named);
        let shared = numbers.shared(scheme.families.len(), &world.area.single, &mut names);
        if names.iter().any(|&name| !named.contains(&name) && Some(name) != object) {
            return None;
        }
        let name_of = |object: &(usize, usize)| {
            let number = names.iter().position(|name| name == object);
            number.map_or(0, |number| number as u32 + 1)
        };
        let mut row = |family: usize, entity: usize| {
            numbers.row(scheme.families.len(), family, world.area.row(columns, family, entity))
        };
        let own_after = match object {
            None => None,
            Some(object) => Some(Kind { row: row(object.0, object.1)?, name: name_of(&object) }),
        };
        let names: Box<[u32]> = named.iter().map(name_of).collect();
        let moves_all = after.moves_all;
        let mut rows = Vec::new();
        let mut has_moved = differs;
        if moves_all {
            for (family, groups) in state.groups.iter().enumerate() {
                for (entity, group) in groups.iter().enumerate() {
                    if Some((family, entity)) != object && world.counts[family][entity] > 0 {
                        rows.push((group.kind.row, row(family, entity)?));
                    }
                }
            }
            let is_same = shared == state.shared && names.iter().zip(1..).all(|(&now, before)| now == before);
            has_moved = !is_same || own_after.map(|kind| kind.row) != own.map(|_| kind_row(state, own));
        }
        let covered = after.covered.iter().copied().collect();
        let change = Change { shared, own: own_after, names };
        Some((Self { change, moves_all, covered, has_moved }, rows))
    }
}

fn kind_row(state: &Numbered, own: Own) -> u32 {
    kind(state, own).row
}
