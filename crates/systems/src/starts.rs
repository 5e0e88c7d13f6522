//! Starts up to symmetry.
//!
//! Some models start in any state: each cell of a parameter goes to a slot of its own. There can be millions of such
//! starts, and in a quotient one of each orbit is enough: the one whose arguments come first. So the arguments are
//! enumerated in order, and as soon as some element of the group shows that the first few of them cannot begin the
//! arguments that come first, everything that begins with them is skipped (orderly generation: Read 1978, Faradžev
//! 1978).

use std::ops::ControlFlow;

use quotient_ir::{
    Action, Expr, ExprId, Interpreter, Iteration, Layout, LocalId, Model, Outcome, PlaceId, Root, SlotId, Start,
    StartId, Statement, StatementKind, Step, TableIndex, Valuation,
};
use quotient_symmetry::CertifiedGroup;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::parameters::Parameters;
use quotient_search::{TransitionSystem, Visit};

/// With fewer instances than this, all of them are run.
const FEW_STARTS: u64 = 64;
/// The largest number of cells of the parameters of a start, and of values of a cell.
const CELL_LIMIT: usize = 1 << 10;
const VALUE_LIMIT: usize = 64;
/// The largest number of elements of the group that are tried, and of their entries. Trying only some is still right.
const ELEMENT_LIMIT: usize = 1 << 9;
const ENTRY_LIMIT: usize = 1 << 20;

/// The starts that suffice in a quotient, as far as that is known without running them.
#[derive(Debug, Default)]
pub struct StartSieve(Vec<Option<Sieve>>);

/// Starts up to symmetry: what a quotient needs of the system inside.
pub trait StartsUpTo: TransitionSystem {
    /// Like [`TransitionSystem::starts`], but instances that a sieve removes may be omitted: for each there is another one
    /// whose state a symmetry maps to that of the omitted one.
    fn starts_up_to(&self, scratch: &mut Self::Scratch, sieve: &StartSieve, visit: &mut Visit<'_>);
}

/// The elements of a group, as they act on the arguments of a start.
#[derive(Debug)]
pub(crate) struct Sieve {
    /// The values of each cell of the parameters, in order. A cell holds the rank of its value below.
    values: Vec<Vec<i64>>,
    elements: Vec<Element>,
}

/// The image of arguments under an element of the group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Element {
    /// For each cell of the image, the cell it comes from.
    sources: Box<[u32]>,
    /// For each cell of the image, the image of each rank of its source.
    images: Box<[Box<[u8]>]>,
}

/// The cells of the parameters of a start.
struct Cells {
    /// Their values, in order.
    values: Vec<Vec<i64>>,
    /// The slot that takes the value of each cell.
    slots: Vec<SlotId>,
    /// One of the states.
    base: Valuation,
}

impl StartSieve {
    /// The sieve for the starts of a model and a group that maps starts to starts.
    pub(crate) fn new(model: &Model, layout: &Layout, group: &CertifiedGroup) -> Self {
        let interpreter = Interpreter::new(model, layout);
        let sieve = |(id, start)| Sieve::new(&Cells::of(&interpreter, id, start)?, group);
        Self(model.starts.iter_enumerated().map(sieve).collect())
    }

    /// Whether there is a sieve for the start that an action is.
    pub(crate) fn sieves(&self, action: Action) -> bool {
        matches!(action, Action::Start(start) if self.of(start).is_some())
    }

    /// The sieve for one start, if there is one.
    pub(crate) fn of(&self, start: StartId) -> Option<&Sieve> {
        self.0.get(start.position())?.as_ref()
    }
}

impl Cells {
    /// The cells of the parameters of a start, if each of them goes to a slot of its own and nothing else happens.
    fn of(interpreter: &Interpreter<'_>, id: StartId, start: &Start) -> Option<Self> {
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let parameters = Parameters::new(model, &start.parameters)?;
        let values = parameters.values(CELL_LIMIT, VALUE_LIMIT)?;
        let instances = values.iter().fold(1u64, |product, values| product.saturating_mul(values.len() as u64));
        if instances < FEW_STARTS || !layout.multisets().is_empty() {
            return None;
        }
        let own: FxHashSet<LocalId> = start.parameters.iter().map(|parameter| parameter.local).collect();
        if !(Text { model, parameters: &own }).only_moves(&start.body) {
            return None;
        }
        // Values are moved and nothing depends on them, so one other value shows where a cell goes.
        let run = |arguments: &[i64]| match interpreter.run_start(id, arguments) {
            Outcome::Next { state, covered } if covered.is_empty() => Some(state),
            _ => None,
        };
        let mut arguments: Vec<i64> = values.iter().map(|values| values[0]).collect();
        let base = run(&arguments)?;
        let mut slots = Vec::new();
        for (cell, values) in values.iter().enumerate() {
            // A cell with a single value would go nowhere.
            let other = *values.get(1)?;
            let first = std::mem::replace(&mut arguments[cell], other);
            let changed = run(&arguments)?;
            arguments[cell] = first;
            let mut moved = layout.slots.indices().filter(|&slot| base[slot] != changed[slot]);
            let slot = moved.next().filter(|&slot| changed[slot] == Some(other))?;
            let entry = &layout.slots[slot];
            if moved.next().is_some() || values.iter().any(|&value| entry.stored(Some(value)).is_none()) {
                return None;
            }
            slots.push(slot);
        }
        Some(Self { values, slots, base })
    }
}

/// The text of a start.
struct Text<'m> {
    model: &'m Model,
    parameters: &'m FxHashSet<LocalId>,
}

impl Text<'_> {
    /// Whether statements only move values, and what they do does not depend on the values.
    fn only_moves(&self, body: &[Statement]) -> bool {
        body.iter().all(|statement| match &statement.kind {
            StatementKind::Assign { target, value } => {
                let is_moved = match &self.model.pool[*value] {
                    Expr::Read(place) => self.is_source(*place),
                    _ => false,
                };
                self.is_target(*target) && (is_moved || self.is_known(*value))
            }
            StatementKind::Copy { target, source } => self.is_target(*target) && self.is_source(*source),
            StatementKind::Clear(place) | StatementKind::Undefine(place) => self.is_target(*place),
            StatementKind::For { range, body, .. } => {
                let is_known = match range {
                    Iteration::Over(_) => true,
                    Iteration::Steps { from, to, step } => {
                        self.is_known(*from) && self.is_known(*to) && step.is_none_or(|step| self.is_known(step))
                    }
                };
                is_known && self.only_moves(body)
            }
            _ => false,
        })
    }

    /// Whether a place is a part of a variable that is known without running anything.
    fn is_target(&self, place: PlaceId) -> bool {
        let place = &self.model.pool[place];
        matches!(place.root, Root::Variable(_)) && self.are_known(&place.steps)
    }

    /// The same for a variable or a parameter.
    fn is_source(&self, place: PlaceId) -> bool {
        let place = &self.model.pool[place];
        let is_root = match &place.root {
            Root::Variable(_) => true,
            Root::Local(local) => self.parameters.contains(local),
            _ => false,
        };
        is_root && self.are_known(&place.steps)
    }

    fn are_known(&self, steps: &[Step]) -> bool {
        steps.iter().all(|step| match step {
            Step::Field(_) => true,
            Step::Index(index) => self.is_known(*index),
        })
    }

    /// Whether an expression depends on nothing but loop variables.
    fn is_known(&self, expression: ExprId) -> bool {
        match &self.model.pool[expression] {
            Expr::Constant { .. } => true,
            Expr::Read(place) => {
                let place = &self.model.pool[*place];
                place.steps.is_empty() && matches!(&place.root, Root::Local(local) if !self.parameters.contains(local))
            }
            Expr::Unary { operand, .. } => self.is_known(*operand),
            Expr::Binary { left, right, .. } => self.is_known(*left) && self.is_known(*right),
            _ => false,
        }
    }
}

impl Sieve {
    fn new(cells: &Cells, group: &CertifiedGroup) -> Option<Self> {
        let generators: Vec<Element> = group.maps().iter().map(|map| Element::of(cells, map)).collect::<Option<_>>()?;
        let limit = ELEMENT_LIMIT.min(ENTRY_LIMIT / cells.slots.len().max(1));
        let mut known: FxHashSet<Element> = FxHashSet::default();
        let mut elements = vec![Element::identity(cells)];
        known.insert(elements[0].clone());
        let mut next = 0;
        while next < elements.len() && elements.len() < limit {
            for generator in &generators {
                let product = elements[next].then(generator);
                if known.insert(product.clone()) {
                    elements.push(product);
                }
            }
            next += 1;
        }
        // The identity shows nothing.
        elements.remove(0);
        (!elements.is_empty()).then(|| Self { values: cells.values.clone(), elements })
    }

    /// Enumerates the arguments that may come first in their orbits, in order. Passes `None` to `visit` instead of
    /// arguments that are skipped together.
    pub(crate) fn visit(&self, mut visit: impl FnMut(Option<&[i64]>) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut ranks = vec![0u8; self.values.len()];
        let mut arguments: Vec<i64> = self.values.iter().map(|values| values[0]).collect();
        loop {
            let cut = self.cut(&ranks);
            visit(cut.is_none().then_some(&arguments))?;
            // The last of the cells that can be advanced; those after it begin anew.
            let beginning = cut.unwrap_or(ranks.len());
            let last = (0..beginning).rev().find(|&cell| usize::from(ranks[cell]) + 1 < self.values[cell].len());
            let Some(last) = last else { return ControlFlow::Continue(()) };
            ranks[last] += 1;
            ranks[last + 1..].fill(0);
            for cell in last..ranks.len() {
                arguments[cell] = self.values[cell][usize::from(ranks[cell])];
            }
        }
    }

    /// The least number of arguments which already show that no arguments beginning with these come first in their
    /// orbit; `None` if these may.
    fn cut(&self, ranks: &[u8]) -> Option<usize> {
        let mut least = None;
        for Element { sources, images } in &self.elements {
            let mut needed = 0;
            for (target, (&source, images)) in sources.iter().zip(images).enumerate() {
                needed = needed.max(source as usize + 1).max(target + 1);
                if least.is_some_and(|least| needed >= least) {
                    break;
                }
                match images[usize::from(ranks[source as usize])].cmp(&ranks[target]) {
                    std::cmp::Ordering::Equal => {}
                    std::cmp::Ordering::Greater => break,
                    std::cmp::Ordering::Less => {
                        least = Some(needed);
                        break;
                    }
                }
            }
        }
        least
    }
}

impl Element {
    fn identity(cells: &Cells) -> Self {
        let images = cells.values.iter().map(|values| (0..values.len() as u8).collect()).collect();
        Self { sources: (0..cells.slots.len() as u32).collect(), images }
    }

    /// The action of a symmetry on the cells. `None` if it does not map the states of the start to each other.
    fn of(cells: &Cells, map: &quotient_symmetry::StateMap) -> Option<Self> {
        let cell_of: FxHashMap<SlotId, usize> =
            cells.slots.iter().enumerate().map(|(cell, &slot)| (slot, cell)).collect();
        let mut element = Self::identity(cells);
        for slot_move in map.moves() {
            match (cell_of.get(&slot_move.from), cell_of.get(&slot_move.to)) {
                (Some(&from), Some(&to)) => {
                    let image = |&value: &i64| {
                        let image = slot_move.value(Some(value))?;
                        cells.values[to].binary_search(&image).ok().map(|rank| rank as u8)
                    };
                    let images: Box<[u8]> = cells.values[from].iter().map(image).collect::<Option<_>>()?;
                    if images.len() != cells.values[to].len() {
                        return None;
                    }
                    element.sources[to] = from as u32;
                    element.images[to] = images;
                }
                // Everything else is the same in all states of the start.
                (None, None) if slot_move.value(cells.base[slot_move.from]) == cells.base[slot_move.to] => {}
                _ => return None,
            }
        }
        Some(element)
    }

    /// This element followed by another.
    fn then(&self, other: &Self) -> Self {
        let mut sources = Vec::new();
        let mut images = Vec::new();
        for (&between, after) in other.sources.iter().zip(&other.images) {
            sources.push(self.sources[between as usize]);
            images.push(self.images[between as usize].iter().map(|&rank| after[usize::from(rank)]).collect());
        }
        Self { sources: sources.into(), images: images.into() }
    }
}
