//! Statements and calls: loops and calls are unrolled, and writes take effect where control reaches them.

use quotient_ir::{
    Argument, Domain, FunctionId, PlaceId, ReturnValue, Statement, StatementKind, TableIndex, TypeId, TypeKind,
};

use super::{CALL_LIMIT, CallResult, Cell, LOOP_LIMIT, Refusal, Targets, Unfolder};
use crate::circuit::{NodeId, Value};

impl<'m> Unfolder<'m> {
    pub(super) fn call(
        &mut self,
        function: FunctionId,
        arguments: &'m [Argument],
    ) -> Result<Option<Vec<Cell>>, Refusal> {
        if self.frames.len() > CALL_LIMIT {
            return Err(Refusal::Recursion);
        }
        enum Passed {
            Cells(Vec<Cell>),
            Reference(Targets),
        }
        let callee = &self.model.functions[function];
        let mut passed = Vec::with_capacity(arguments.len());
        for (argument, &parameter) in arguments.iter().zip(&callee.parameters) {
            let ty = callee.locals[parameter].ty;
            passed.push(match argument {
                Argument::Value(value) => {
                    let value = self.scalar(*value)?;
                    self.check_range(&value, &self.model.domain(ty))?;
                    Passed::Cells(vec![Cell { undefined: NodeId::FALSE, value }])
                }
                Argument::Copy(place) => {
                    let targets = self.targets(*place)?;
                    let cells = self.load_range(&targets, self.model.cells(ty))?;
                    if self.model.is_scalar(ty) {
                        let saved = self.alive;
                        let defined = self.circuit.not(cells[0].undefined);
                        self.alive = self.circuit.and([saved, defined]);
                        self.check_range(&cells[0].value, &self.model.domain(ty))?;
                        self.alive = saved;
                    }
                    Passed::Cells(cells)
                }
                Argument::Reference(place) => Passed::Reference(self.targets(*place)?),
                Argument::Undefined => {
                    let mut cells = Vec::new();
                    self.undefined_cells(ty, &mut cells);
                    Passed::Cells(cells)
                }
            });
        }
        // The result of a plain function for given numbers is the same at every call, as long as the state has not
        // changed.
        let is_repeatable = self.plain[function.position()] && self.written.is_empty() && self.drops.is_empty();
        let numbers = || -> Option<Vec<i64>> {
            let number = |cell: &Cell| cell.value.form.as_constant().filter(|_| cell.undefined == NodeId::FALSE);
            let mut numbers = Vec::with_capacity(passed.len());
            for passed in &passed {
                match passed {
                    Passed::Cells(cells) => {
                        for cell in cells {
                            numbers.push(number(cell)?);
                        }
                    }
                    Passed::Reference(_) => return None,
                }
            }
            Some(numbers)
        };
        let key =
            if is_repeatable && self.assumed.is_empty() { numbers().map(|numbers| (function, numbers)) } else { None };
        if let Some(known) = key.as_ref().and_then(|key| self.results.get(key)) {
            let CallResult { result, faults } = known.clone();
            for fault in faults {
                self.fault_at(fault.condition, fault.span);
            }
            return Ok(result);
        }
        let caller = self.span;
        self.push_frame(&callee.locals, callee.result);
        for (passed, &parameter) in passed.into_iter().zip(&callee.parameters) {
            let frame = self.frames.last_mut().expect("just pushed");
            match passed {
                Passed::Reference(targets) => frame.references[parameter.position()] = Some(targets),
                Passed::Cells(cells) => {
                    let first = frame.first_cells[parameter.position()] as usize;
                    self.locals[first..first + cells.len()].clone_from_slice(&cells);
                }
            }
        }
        let saved = self.alive;
        let plain = self.plain[function.position()];
        let faults = self.faults.len();
        if plain {
            self.alive = NodeId::TRUE;
        }
        self.block(&callee.body)?;
        if callee.result.is_some() {
            self.span = callee.span;
            let fell_through = std::mem::replace(&mut self.alive, NodeId::TRUE);
            self.fault(fell_through);
        }
        self.span = caller;
        self.alive = saved;
        let result = self.frames.pop().expect("pushed above").result;
        if plain {
            let faults = self.faults.split_off(faults);
            if let Some(key) = key {
                self.results.insert(key, CallResult { result: result.clone(), faults: faults.clone() });
            }
            for fault in faults {
                self.fault_at(fault.condition, fault.span);
            }
        }
        Ok(result)
    }

    pub(super) fn block(&mut self, statements: &'m [Statement]) -> Result<(), Refusal> {
        for statement in statements {
            if self.alive == NodeId::FALSE {
                break;
            }
            self.statement(statement)?;
        }
        Ok(())
    }

    pub(super) fn statement(&mut self, statement: &'m Statement) -> Result<(), Refusal> {
        self.charge(1)?;
        self.span = statement.span;
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let ty = self.model.pool[*target].ty;
                let targets = self.targets(*target)?;
                let value = self.scalar(*value)?;
                let domain = self.model.domain(ty);
                self.check_range(&value, &domain)?;
                let value = self.within(value, &domain)?;
                self.store_any(&targets, 0, &Cell { undefined: NodeId::FALSE, value })
            }
            StatementKind::Copy { target, source } => {
                let cells = self.model.cells(self.model.pool[*target].ty);
                let targets = self.targets(*target)?;
                let source = self.targets(*source)?;
                let copied = self.load_range(&source, cells)?;
                self.require_nothing_added_within(&targets, cells)?;
                for (offset, cell) in copied.iter().enumerate() {
                    self.store_any(&targets, offset as u64, cell)?;
                }
                Ok(())
            }
            StatementKind::Clear(place) => self.fill(*place, true),
            StatementKind::Undefine(place) => self.fill(*place, false),
            StatementKind::Bind { local, place } => {
                let targets = self.targets(*place)?;
                let frame = self.frames.last_mut().expect("a body is being unfolded");
                frame.references[local.position()] = Some(targets);
                Ok(())
            }
            StatementKind::If { branches, otherwise } => {
                let entry = self.alive;
                let mut remaining = entry;
                let mut ends = Vec::with_capacity(branches.len() + 1);
                let mut unchanged = true;
                for (condition, body) in branches {
                    self.alive = remaining;
                    if self.alive == NodeId::FALSE {
                        break;
                    }
                    let condition = self.condition(*condition)?;
                    let opposite = self.circuit.not(condition);
                    let start = self.circuit.and([remaining, condition]);
                    self.alive = start;
                    self.block(body)?;
                    unchanged &= self.alive == start;
                    ends.push(self.alive);
                    remaining = self.circuit.and([remaining, opposite]);
                }
                self.alive = remaining;
                self.block(otherwise)?;
                unchanged &= self.alive == remaining;
                ends.push(self.alive);
                self.alive = if unchanged { entry } else { self.circuit.or(ends) };
                Ok(())
            }
            StatementKind::While { condition, body } => {
                let entry = self.alive;
                let mut ends = Vec::new();
                let mut unchanged = true;
                for iteration in 0.. {
                    if iteration == LOOP_LIMIT {
                        return Err(Refusal::Loop);
                    }
                    let condition = self.condition(*condition)?;
                    let opposite = self.circuit.not(condition);
                    ends.push(self.circuit.and([self.alive, opposite]));
                    let start = self.circuit.and([self.alive, condition]);
                    self.alive = start;
                    if self.alive == NodeId::FALSE {
                        break;
                    }
                    self.block(body)?;
                    unchanged &= self.alive == start;
                    if self.alive == NodeId::FALSE {
                        break;
                    }
                }
                self.alive = if unchanged { entry } else { self.circuit.or(ends) };
                Ok(())
            }
            StatementKind::For { local, range, body } => {
                let entry = self.alive;
                let mut ends = Vec::new();
                let mut unchanged = true;
                for (case, values) in self.iterations(range)? {
                    let start = self.circuit.and([entry, case]);
                    self.alive = start;
                    for value in values {
                        if self.alive == NodeId::FALSE {
                            break;
                        }
                        self.set_local(*local, value);
                        self.block(body)?;
                    }
                    unchanged &= self.alive == start;
                    ends.push(self.alive);
                }
                self.alive = if unchanged { entry } else { self.circuit.or(ends) };
                Ok(())
            }
            StatementKind::Call { function, arguments } => self.call(*function, arguments).map(drop),
            StatementKind::Return(value) => {
                let cells = match value {
                    None => None,
                    Some(ReturnValue::Value(value)) => {
                        let value = self.scalar(*value)?;
                        if let Some(ty) = self.frame().result_type {
                            self.check_range(&value, &self.model.domain(ty))?;
                        }
                        Some(vec![Cell { undefined: NodeId::FALSE, value }])
                    }
                    Some(ReturnValue::Copy(place)) => {
                        let cells = self.model.cells(self.model.pool[*place].ty);
                        let targets = self.targets(*place)?;
                        Some(self.load_range(&targets, cells)?)
                    }
                };
                if let Some(cells) = cells {
                    let old = self.frames.last_mut().expect("a body is being unfolded").result.take();
                    let merged = match old {
                        None => cells,
                        Some(old) => {
                            let alive = self.alive;
                            let mut merged = Vec::with_capacity(cells.len());
                            for (new, old) in cells.iter().zip(&old) {
                                merged.push(self.choose_cell(alive, new, old)?);
                            }
                            merged
                        }
                    };
                    self.frames.last_mut().expect("a body is being unfolded").result = Some(merged);
                }
                self.alive = NodeId::FALSE;
                Ok(())
            }
            StatementKind::Assert { condition, .. } | StatementKind::Require { condition, .. } => {
                // A call in it changes state only where it is reached.
                let holds =
                    if self.calls(*condition) { self.condition(*condition)? } else { self.decided(*condition, true)? };
                let fails = self.circuit.not(holds);
                self.fault(fails);
                Ok(())
            }
            StatementKind::Assume(condition) => {
                let condition = self.condition(*condition)?;
                let opposite = self.circuit.not(condition);
                let dropped = self.circuit.and([self.alive, opposite]);
                if dropped != NodeId::FALSE {
                    self.drops.push(dropped);
                }
                self.alive = self.circuit.and([self.alive, condition]);
                Ok(())
            }
            StatementKind::Cover { condition, property } => {
                let condition = self.condition(*condition)?;
                let reached = self.circuit.and([self.alive, condition]);
                match self.covers.iter_mut().find(|(known, _)| known == property) {
                    Some((_, before)) => *before = self.circuit.or([*before, reached]),
                    None => self.covers.push((*property, reached)),
                }
                Ok(())
            }
            StatementKind::Print(_) => Ok(()),
            StatementKind::Error { .. } => {
                self.fault(NodeId::TRUE);
                self.alive = NodeId::FALSE;
                Ok(())
            }
            StatementKind::MultisetAdd { multiset, element } => self.add(*multiset, *element),
            StatementKind::MultisetRemove { multiset, position } => self.remove(*multiset, *position),
            StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                self.remove_where(*local, *multiset, *condition)
            }
        }
    }

    /// Drops the cases that are out of range: they are run-time errors and never written.
    pub(super) fn within(&mut self, value: Value, domain: &Domain) -> Result<Value, Refusal> {
        match &value.cases {
            Some(cases) if cases.iter().any(|&(number, _)| !domain.contains(number)) => {
                let inside = cases.iter().copied().filter(|&(number, _)| domain.contains(number)).collect::<Vec<_>>();
                Ok(self.circuit.value_of_cases(inside)?)
            }
            _ => Ok(value),
        }
    }

    pub(super) fn fill(&mut self, place: PlaceId, least: bool) -> Result<(), Refusal> {
        let ty = self.model.pool[place].ty;
        let targets = self.targets(place)?;
        let mut cells = Vec::new();
        self.emptied_cells(ty, least, &mut cells);
        self.require_nothing_added_within(&targets, cells.len() as u64)?;
        for (offset, cell) in cells.iter().enumerate() {
            self.store_any(&targets, offset as u64, cell)?;
        }
        Ok(())
    }

    /// The cells of a type when it is cleared or undefined; multisets are empty either way.
    fn emptied_cells(&self, ty: TypeId, least: bool, cells: &mut Vec<Cell>) {
        match &self.model.types[ty].kind {
            TypeKind::Array { index, element } => {
                for _ in 0..self.model.domain(*index).size() {
                    self.emptied_cells(*element, least, cells);
                }
            }
            TypeKind::Record { fields } => {
                for field in fields {
                    self.emptied_cells(field.ty, least, cells);
                }
            }
            TypeKind::Multiset { .. } => self.undefined_cells(ty, cells),
            _ if least => {
                let value = self.circuit.constant(self.model.domain(ty).least());
                cells.push(Cell { undefined: NodeId::FALSE, value });
            }
            _ => cells.push(Cell { undefined: NodeId::TRUE, value: self.circuit.nothing() }),
        }
    }
}
