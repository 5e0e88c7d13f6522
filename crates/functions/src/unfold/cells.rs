//! Cells during the unfolding of an event: their values after the writes so far, each with its condition.

use quotient_ir::{SlotId, TableIndex};

use super::{Cell, GlobalCell, Location, Refusal, Targets, Unfolder};
use crate::circuit::NodeId;

impl Unfolder<'_> {
    pub(super) fn initial_cell(&mut self, slot: u32) -> Cell {
        if let Some(&(_, value)) = self.assumed.iter().find(|(own, _)| *own == slot) {
            return match value {
                Some(number) => Cell { undefined: NodeId::FALSE, value: self.circuit.constant(number) },
                None => Cell { undefined: NodeId::TRUE, value: self.circuit.nothing() },
            };
        }
        if let Some(presence) = self.multisets.presence_of(slot) {
            // Present elements have a value.
            let absent = self.circuit.values(presence).binary_search(&Some(0)).ok();
            let undefined = self.circuit.slot_in(presence, absent);
            let value = self.circuit.slot(slot);
            let value = match value.form.as_constant().filter(|_| !value.is_nothing()) {
                Some(number) => self.circuit.constant(number),
                None => value,
            };
            return Cell { undefined, value };
        }
        let undefined = match self.circuit.values(slot).first() {
            Some(None) => self.circuit.slot_in(slot, [0]),
            _ => NodeId::FALSE,
        };
        Cell { undefined, value: self.circuit.slot(slot) }
    }

    pub(super) fn load(&mut self, location: Location) -> Result<Cell, Refusal> {
        match location {
            Location::Local(cell) => Ok(self.locals[cell as usize].clone()),
            Location::Global(slot) => {
                let initial = self.initial_cell(slot);
                match self.globals[slot as usize].clone() {
                    None => Ok(initial),
                    Some(global) => self.choose_cell(global.written, &global.cell, &initial),
                }
            }
        }
    }

    pub(super) fn choose_cell(&mut self, condition: NodeId, then: &Cell, otherwise: &Cell) -> Result<Cell, Refusal> {
        if condition == NodeId::TRUE {
            return Ok(then.clone());
        }
        if condition == NodeId::FALSE {
            return Ok(otherwise.clone());
        }
        let undefined = self.circuit.choose(condition, then.undefined, otherwise.undefined);
        // An undefined cell has no number to keep.
        let value = if then.undefined == NodeId::TRUE {
            otherwise.value.clone()
        } else if otherwise.undefined == NodeId::TRUE {
            then.value.clone()
        } else {
            self.circuit.choose_value(condition, &then.value, &otherwise.value)?
        };
        Ok(Cell { undefined, value })
    }

    pub(super) fn load_any(&mut self, targets: &Targets) -> Result<Cell, Refusal> {
        self.charge(1)?;
        if let [(location, _)] = targets[..] {
            return self.load(location);
        }
        let mut cells = Vec::with_capacity(targets.len());
        for &(location, condition) in targets {
            cells.push((self.load(location)?, condition));
        }
        let undefined: Vec<NodeId> =
            cells.iter().map(|(cell, condition)| self.circuit.and([*condition, cell.undefined])).collect();
        let undefined = self.circuit.or(undefined);
        if cells.iter().all(|(cell, _)| cell.value.cases.is_some()) {
            let mut cases = Vec::new();
            for (cell, condition) in &cells {
                for &(value, case) in cell.value.cases.as_ref().expect("just checked").iter() {
                    cases.push((value, self.circuit.and([*condition, case])));
                }
            }
            return Ok(Cell { undefined, value: self.circuit.value_of_cases(cases)? });
        }
        let mut value = cells.last().map_or_else(|| self.circuit.nothing(), |(cell, _)| cell.value.clone());
        for (cell, condition) in cells.iter().rev().skip(1) {
            value = self.circuit.choose_value(*condition, &cell.value, &value)?;
        }
        Ok(Cell { undefined, value })
    }

    pub(super) fn store(&mut self, location: Location, condition: NodeId, new: &Cell) -> Result<(), Refusal> {
        if condition == NodeId::FALSE {
            return Ok(());
        }
        match location {
            Location::Local(cell) => {
                let old = self.locals[cell as usize].clone();
                self.locals[cell as usize] = self.choose_cell(condition, new, &old)?;
            }
            Location::Global(slot) => {
                self.writers.insert(slot, self.span);
                let updated = match self.globals[slot as usize].take() {
                    None => {
                        self.written.push(slot);
                        GlobalCell { written: condition, cell: new.clone() }
                    }
                    Some(old) => GlobalCell {
                        written: self.circuit.or([old.written, condition]),
                        cell: self.choose_cell(condition, new, &old.cell)?,
                    },
                };
                self.globals[slot as usize] = Some(updated);
            }
        }
        Ok(())
    }

    pub(super) fn store_any(&mut self, targets: &Targets, offset: u64, new: &Cell) -> Result<(), Refusal> {
        self.charge(1)?;
        for &(location, condition) in targets {
            let location = location.offset(offset);
            if let Location::Global(slot) = location
                && new.undefined != NodeId::FALSE
                && !self.layout.slots[SlotId::from_position(slot as usize)].may_be_undefined
            {
                let undefined = self.circuit.and([condition, new.undefined]);
                self.fault(undefined);
            }
            let condition = self.circuit.and([self.alive, condition]);
            self.store(location, condition, new)?;
        }
        Ok(())
    }

    pub(super) fn load_range(&mut self, targets: &Targets, cells: u64) -> Result<Vec<Cell>, Refusal> {
        self.require_nothing_added_within(targets, cells)?;
        (0..cells)
            .map(|offset| {
                let moved = targets.iter().map(|&(location, condition)| (location.offset(offset), condition)).collect();
                self.load_any(&moved)
            })
            .collect()
    }
}
