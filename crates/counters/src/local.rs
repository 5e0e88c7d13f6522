//! Steps that depend on the shared cells and the cells of one object only. Many states agree in these, so such a step is
//! executed once and then looked up: what is enabled for a local state is known from the first state that had it.
//!
//! Objects that the cells name are replaced by numbers in the order in which they occur, the object itself by 0. An object
//! is only compared and copied, so what a step does is the same for all objects with the same numbers. Whether a step uses
//! anything else is observed as it is executed.

use std::ops::Range;
use std::rc::Rc;

use quotient_ir::{Iteration, PropertyId, RuleId, TableIndex};
use quotient_symmetry::Scope;
use rustc_hash::FxHashMap;

use super::columns::{FormKind, Scheme};
use super::world::{Cell, Chosen, World};

/// The object that a step is about, by its family and entity; none if it is about the shared cells.
pub(crate) type Own = Option<(usize, usize)>;

/// The most cells that are remembered; beyond, everything is forgotten.
const MOST_CELLS: usize = 1 << 22;
/// So often is looked before it is judged whether that pays.
const TRIAL: u64 = 1 << 13;

/// A step of a rule.
pub(crate) struct LocalStep {
    pub(crate) rule: RuleId,
    /// The parameters; the entity of the object is another one in each state.
    chosen: Vec<Chosen>,
    pub(crate) effect: Effect,
}

/// What a step does.
pub(crate) enum Effect {
    /// It depends on other objects.
    Unknown,
    Pruned,
    Fault,
    Next {
        change: Change,
        covered: Vec<PropertyId>,
        has_moved: bool,
    },
}

/// The cells after a step, with numbers for objects.
pub(crate) struct Change {
    single: Box<[Cell]>,
    row: Box<[Cell]>,
}

/// The steps of an object of a state that are known, and the objects that the numbers stand for.
pub(crate) struct Known {
    pub(crate) own: Own,
    pub(crate) steps: Rc<[LocalStep]>,
    names: Range<usize>,
}

/// The rules whose steps may be local, and those that are known.
pub(crate) struct LocalSteps {
    /// For each rule, the family of the object it is about; none if it is about several.
    families: Vec<Option<Option<usize>>>,
    known: FxHashMap<Box<[Cell]>, Rc<[LocalStep]>>,
    /// The objects behind the numbers of the current state.
    names: Vec<(u32, u32)>,
    key: Vec<Cell>,
    cells: usize,
    looked: u64,
    missed: u64,
    is_off: bool,
}

impl LocalSteps {
    pub(crate) fn new(scheme: &Scheme<'_>) -> Self {
        let rules = scheme.model.rules.iter_enumerated();
        Self {
            families: rules.map(|(rule, _)| family_of(scheme, rule)).collect(),
            known: FxHashMap::default(),
            names: Vec::new(),
            key: Vec::new(),
            cells: 0,
            looked: 0,
            missed: 0,
            is_off: false,
        }
    }

    /// The family of the object that a rule is about, if it is about one or none.
    pub(crate) fn family_of(&self, rule: RuleId) -> Option<Option<usize>> {
        self.families[rule.position()].filter(|_| !self.is_off)
    }

    /// The rules about an object like this.
    pub(crate) fn rules_of(&self, own: Own) -> Vec<RuleId> {
        let family = own.map(|(family, _)| family);
        let rules = self.families.iter().enumerate().filter(|(_, of)| **of == Some(family));
        rules.map(|(rule, _)| RuleId::from_position(rule)).collect()
    }

    /// What there are such rules for in a state.
    pub(crate) fn begin(&mut self, world: &World) -> Vec<Own> {
        self.names.clear();
        if self.looked > TRIAL && self.missed > self.looked / 2 {
            self.is_off = true;
            self.known = FxHashMap::default();
        }
        let mut objects = Vec::new();
        if self.is_off {
            return objects;
        }
        if self.families.contains(&Some(None)) {
            objects.push(None);
        }
        for (family, counts) in world.counts.iter().enumerate() {
            if self.families.contains(&Some(Some(family))) {
                objects.extend((0..counts.len()).map(|entity| Some((family, entity))));
            }
        }
        objects
    }

    /// The steps that are known for an object; otherwise a place for them.
    pub(crate) fn look(&mut self, scheme: &Scheme<'_>, world: &World, own: Own) -> Result<Known, Missing> {
        let begin = self.names.len();
        // Number 0 is the object itself, if there is one.
        self.names.push(own.map_or((u32::MAX, 0), |(family, entity)| (family as u32, entity as u32)));
        self.key.clear();
        self.key.push(Cell::Int(own.map_or(-1, |(family, _)| family as i64)));
        let row = own.map_or(&[][..], |(family, entity)| world.area.row(&scheme.globals, family, entity));
        for &cell in world.area.single.iter().chain(row) {
            let names = &mut self.names;
            self.key.push(match cell {
                Cell::Object { family, entity } => {
                    let known = names[begin..].iter().position(|name| *name == (family, entity));
                    let number = known.unwrap_or_else(|| {
                        names.push((family, entity));
                        names.len() - 1 - begin
                    });
                    Cell::Object { family, entity: number as u32 }
                }
                cell => cell,
            });
        }
        let names = begin..self.names.len();
        self.looked += 1;
        match self.known.get(&self.key[..]) {
            Some(steps) => Ok(Known { own, steps: Rc::clone(steps), names }),
            None => {
                self.missed += 1;
                Err(Missing { own, key: self.key.as_slice().into(), names })
            }
        }
    }

    /// Remembers the steps of an object.
    pub(crate) fn learn(&mut self, missing: Missing, steps: Vec<LocalStep>) -> Known {
        let Missing { own, key, names } = missing;
        let effects = steps.iter().map(|step| match &step.effect {
            Effect::Next { change, .. } => change.single.len() + change.row.len(),
            _ => 0,
        });
        self.cells += key.len() + effects.map(|cells| cells + 8).sum::<usize>();
        if self.cells > MOST_CELLS {
            self.known.clear();
            self.cells = 0;
        }
        let steps: Rc<[LocalStep]> = steps.into();
        self.known.insert(key, Rc::clone(&steps));
        Known { own, steps, names }
    }

    /// The cells of a state after a step, for which `object` is what was split off for it.
    pub(crate) fn change(&self, scheme: &Scheme<'_>, missing: &Missing, world: &World, object: Own) -> Change {
        let names = &self.names[missing.names.clone()];
        let numbered = |&cell: &Cell| match cell {
            Cell::Object { family, entity } => {
                let is_own = object == Some((family as usize, entity as usize));
                let number = || names.iter().position(|name| *name == (family, entity));
                let number = if is_own { 0 } else { number().expect("a step names what was named before") };
                Cell::Object { family, entity: number as u32 }
            }
            cell => cell,
        };
        let row = object.map_or(&[][..], |(family, entity)| world.area.row(&scheme.globals, family, entity));
        Change { single: world.area.single.iter().map(numbered).collect(), row: row.iter().map(numbered).collect() }
    }

    /// Changes a state as a step does.
    pub(crate) fn apply(&self, scheme: &Scheme<'_>, known: &Known, change: &Change, world: &mut World) {
        let object = known.own.map(|(family, entity)| match world.counts[family][entity] {
            1 => (family, entity),
            _ => (family, world.split(scheme, family, entity)),
        });
        let names = &self.names[known.names.clone()];
        let actual = |&cell: &Cell| match (cell, object) {
            (Cell::Object { entity: 0, .. }, Some((family, entity))) => Cell::object(family, entity),
            (Cell::Object { entity, .. }, _) => {
                let (family, entity) = names[entity as usize];
                Cell::Object { family, entity }
            }
            (cell, _) => cell,
        };
        world.area.single.clear();
        world.area.single.extend(change.single.iter().map(actual));
        if let Some((family, entity)) = object {
            let width = change.row.len();
            let row = &mut world.area.each[family][entity * width..(entity + 1) * width];
            row.iter_mut().zip(&change.row).for_each(|(cell, after)| *cell = actual(after));
        }
    }
}

/// An object whose steps are not known yet.
pub(crate) struct Missing {
    pub(crate) own: Own,
    key: Box<[Cell]>,
    names: Range<usize>,
}

impl LocalStep {
    pub(crate) fn new(rule: RuleId, chosen: &[Chosen], effect: Effect) -> Self {
        Self { rule, chosen: chosen.to_vec(), effect }
    }

    /// The parameters for an object.
    pub(crate) fn chosen(&self, own: Own) -> Vec<Chosen> {
        let parameter = |chosen: &Chosen| match (*chosen, own) {
            (Chosen::Object { family, .. }, Some((_, entity))) => Chosen::Object { family, entity },
            (chosen, _) => chosen,
        };
        self.chosen.iter().map(parameter).collect()
    }
}

/// The family of the only parameter of a rule that ranges over objects: over those of one family and nothing else. None if
/// there are more, or a range depends on the state.
pub(crate) fn family_of(scheme: &Scheme<'_>, rule: RuleId) -> Option<Option<usize>> {
    let mut found = None;
    for parameter in &scheme.model.rules[rule].parameters {
        let (form, _) = scheme.local(Scope::Rule(rule), parameter.local);
        let (FormKind::Scalar { families, .. }, Iteration::Over(ty)) = (&form.kind, &parameter.range) else {
            return None;
        };
        match families[..] {
            [] => {}
            [family] if found.is_none() && scheme.domain(*ty).size() == scheme.families[family].size => {
                found = Some(family);
            }
            _ => return None,
        }
    }
    Some(found)
}
