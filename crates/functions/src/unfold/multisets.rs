//! Multisets: elements are read, changed and removed by position, but added to no particular position. Elements added
//! during the unfolding of an event are kept separately, and nothing may depend on their positions.

use quotient_ir::{Domain, ExprId, LocalId, MultisetElement, PlaceId, TypeId, TypeKind};

use super::{Cell, Location, Refusal, Targets, Unfolder};
use crate::circuit::{NodeId, Value};

/// An element that an event adds.
#[derive(Clone, Debug)]
pub(super) struct Added {
    /// The index of the multiset.
    pub(super) multiset: usize,
    pub(super) condition: NodeId,
    pub(super) cells: Vec<Cell>,
}

/// The dimensions of a multiset.
#[derive(Clone, Copy, Debug)]
struct Shape {
    capacity: u64,
    element: TypeId,
    stride: u64,
}

impl<'m> Unfolder<'m> {
    fn shape(&self, ty: TypeId) -> Shape {
        let TypeKind::Multiset { capacity, element } = self.model.types[ty].kind else {
            unreachable!("verified: the place is a multiset")
        };
        Shape { capacity, element, stride: self.model.cells(element) + 1 }
    }

    /// Whether a position holds an element.
    fn present(&mut self, position: Location) -> Result<NodeId, Refusal> {
        let cell = self.load(position)?;
        Ok(self.circuit.equals_constant(&cell.value, 1)?)
    }

    /// The condition that an element was added to a multiset so far.
    fn added_to(&mut self, multiset: Location) -> NodeId {
        let Location::Global(first) = multiset else { return NodeId::FALSE };
        let Some((number, _)) = self.multisets.at(first) else { return NodeId::FALSE };
        let conditions: Vec<NodeId> =
            self.additions.iter().filter(|added| added.multiset == number).map(|added| added.condition).collect();
        self.circuit.or(conditions)
    }

    /// Refuses if a condition can hold after an element was added to a multiset: then the position it took would
    /// matter.
    fn require_nothing_added(&mut self, multiset: Location, condition: NodeId) -> Result<(), Refusal> {
        let added = self.added_to(multiset);
        let both = self.circuit.and([self.guard, self.alive, condition, added]);
        if both == NodeId::FALSE { Ok(()) } else { Err(Refusal::MultisetOrder) }
    }

    /// The same for multisets within some cells.
    pub(super) fn require_nothing_added_within(&mut self, targets: &Targets, cells: u64) -> Result<(), Refusal> {
        if self.additions.is_empty() {
            return Ok(());
        }
        for &(location, condition) in targets {
            let Location::Global(start) = location else { continue };
            let firsts: Vec<u32> = self
                .multisets
                .iter()
                .map(|entry| entry.first)
                .filter(|&first| start <= first && u64::from(first) < u64::from(start) + cells)
                .collect();
            for first in firsts {
                self.require_nothing_added(Location::Global(first), condition)?;
            }
        }
        Ok(())
    }

    /// The positions that an index denotes. An empty position is a run-time error.
    fn indexed_positions(
        &mut self,
        multisets: &Targets,
        ty: TypeId,
        index: ExprId,
    ) -> Result<Vec<(Location, NodeId, NodeId)>, Refusal> {
        let shape = self.shape(ty);
        let index = self.scalar(index)?;
        let Some(domain) = positions(shape.capacity) else {
            self.fault(NodeId::TRUE);
            return Ok(Vec::new());
        };
        let cases = self.index_cases(&index, &domain)?;
        let mut found = Vec::with_capacity(multisets.len() * cases.len());
        for &(location, outer) in multisets {
            for &(code, case) in &cases {
                let condition = self.circuit.and([outer, case]);
                if condition == NodeId::FALSE {
                    continue;
                }
                let position = location.offset(code * shape.stride);
                let present = self.present(position)?;
                let absent = self.circuit.not(present);
                let is_absent = self.circuit.and([condition, absent]);
                self.require_nothing_added(location, is_absent)?;
                found.push((position, condition, present));
            }
        }
        Ok(found)
    }

    /// The elements at an index.
    pub(super) fn element_targets(
        &mut self,
        multisets: &Targets,
        ty: TypeId,
        index: ExprId,
    ) -> Result<Targets, Refusal> {
        let mut targets = Vec::new();
        for (position, condition, present) in self.indexed_positions(multisets, ty, index)? {
            let absent = self.circuit.not(present);
            let fault = self.circuit.and([condition, absent]);
            self.fault(fault);
            targets.push((position.offset(1), condition));
        }
        Ok(targets)
    }

    /// Whether there is an element at an index.
    pub(super) fn is_present(&mut self, multiset: PlaceId, index: ExprId) -> Result<NodeId, Refusal> {
        let ty = self.model.pool[multiset].ty;
        let multisets = self.targets(multiset)?;
        let mut cases = Vec::new();
        for (_, condition, present) in self.indexed_positions(&multisets, ty, index)? {
            cases.push(self.circuit.and([condition, present]));
        }
        Ok(self.circuit.or(cases))
    }

    /// The elements for which a condition holds: their positions, with conditions.
    fn elements_where(
        &mut self,
        local: LocalId,
        multiset: PlaceId,
        body: ExprId,
    ) -> Result<Vec<(Location, NodeId)>, Refusal> {
        let shape = self.shape(self.model.pool[multiset].ty);
        let saved = self.alive;
        let mut found = Vec::new();
        for (location, condition) in self.targets(multiset)? {
            self.require_nothing_added(location, condition)?;
            for position in 0..shape.capacity {
                let place = location.offset(position * shape.stride);
                let present = self.present(place)?;
                let meant = self.circuit.and([condition, present]);
                self.alive = self.circuit.and([saved, meant]);
                if self.alive != NodeId::FALSE {
                    self.set_local(local, position as i64);
                    let holds = self.condition(body)?;
                    found.push((place, self.circuit.and([meant, holds])));
                }
                self.alive = saved;
            }
        }
        Ok(found)
    }

    /// The number of elements that satisfy a condition.
    pub(super) fn count(&mut self, local: LocalId, multiset: PlaceId, body: ExprId) -> Result<Value, Refusal> {
        let conditions = self.elements_where(local, multiset, body)?;
        self.number_of(conditions.into_iter().map(|(_, condition)| condition).collect())
    }

    /// The number of conditions that hold.
    fn number_of(&mut self, conditions: Vec<NodeId>) -> Result<Value, Refusal> {
        let mut sum = self.circuit.constant(0);
        for condition in conditions {
            let one = self.circuit.indicator(condition);
            sum = self.circuit.sum(&sum, 1, &one)?;
        }
        Ok(sum)
    }

    pub(super) fn add(&mut self, multiset: PlaceId, element: MultisetElement) -> Result<(), Refusal> {
        let shape = self.shape(self.model.pool[multiset].ty);
        let targets = self.targets(multiset)?;
        let mut cells = match element {
            MultisetElement::Value(value) => vec![Cell { undefined: NodeId::FALSE, value: self.scalar(value)? }],
            MultisetElement::Copy(place) => {
                let source = self.targets(place)?;
                self.load_range(&source, self.model.cells(shape.element))?
            }
        };
        if self.model.is_scalar(shape.element) {
            let domain = self.model.domain(shape.element);
            let saved = self.alive;
            let defined = self.circuit.not(cells[0].undefined);
            self.alive = self.circuit.and([saved, defined]);
            self.check_range(&cells[0].value, &domain)?;
            self.alive = saved;
            cells[0].value = self.within(cells[0].value.clone(), &domain)?;
        }
        for (location, condition) in targets {
            let mut presences = Vec::with_capacity(shape.capacity as usize);
            for position in 0..shape.capacity {
                presences.push(self.present(location.offset(position * shape.stride))?);
            }
            let known = match location {
                Location::Global(first) => self.multisets.at(first).map(|(number, _)| number),
                Location::Local(_) => None,
            };
            match known {
                Some(multiset) => {
                    presences
                        .extend(self.additions.iter().filter(|added| added.multiset == multiset).map(|a| a.condition));
                    let elements = self.number_of(presences)?;
                    let capacity = self.circuit.constant(shape.capacity as i64);
                    let fits = self.circuit.less(&elements, &capacity, 0)?;
                    let is_full = self.circuit.not(fits);
                    let full = self.circuit.and([condition, is_full]);
                    self.fault(full);
                    let condition = self.circuit.and([self.alive, condition]);
                    if condition != NodeId::FALSE {
                        self.additions.push(Added { multiset, condition, cells: cells.clone() });
                    }
                }
                // The first position that is free.
                None => {
                    let mut taken = condition;
                    for (position, present) in presences.into_iter().enumerate() {
                        let free = self.circuit.not(present);
                        let here = self.circuit.and([self.alive, taken, free]);
                        let place = location.offset(position as u64 * shape.stride);
                        let one = Cell { undefined: NodeId::FALSE, value: self.circuit.constant(1) };
                        for (offset, cell) in std::iter::once(&one).chain(&cells).enumerate() {
                            self.store(place.offset(offset as u64), here, cell)?;
                        }
                        taken = self.circuit.and([taken, present]);
                    }
                    self.fault(taken);
                }
            }
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, multiset: PlaceId, index: ExprId) -> Result<(), Refusal> {
        let ty = self.model.pool[multiset].ty;
        let multisets = self.targets(multiset)?;
        for (position, condition, present) in self.indexed_positions(&multisets, ty, index)? {
            let absent = self.circuit.not(present);
            let fault = self.circuit.and([condition, absent]);
            self.fault(fault);
            self.remove_at(position, ty, condition)?;
        }
        Ok(())
    }

    pub(super) fn remove_where(&mut self, local: LocalId, multiset: PlaceId, body: ExprId) -> Result<(), Refusal> {
        let ty = self.model.pool[multiset].ty;
        for (position, condition) in self.elements_where(local, multiset, body)? {
            self.remove_at(position, ty, condition)?;
        }
        Ok(())
    }

    fn remove_at(&mut self, position: Location, ty: TypeId, condition: NodeId) -> Result<(), Refusal> {
        let condition = self.circuit.and([self.alive, condition]);
        let mut cells = vec![Cell { undefined: NodeId::FALSE, value: self.circuit.constant(0) }];
        self.undefined_cells(self.shape(ty).element, &mut cells);
        for (offset, cell) in cells.iter().enumerate() {
            self.store(position.offset(offset as u64), condition, cell)?;
        }
        Ok(())
    }
}

/// The positions of a multiset, if it has any.
fn positions(capacity: u64) -> Option<Domain> {
    let last = i64::try_from(capacity).ok()?.checked_sub(1).filter(|&last| last >= 0)?;
    Some(Domain::interval(0, last))
}
