//! Statements.

use quotient_ir::{
    ExprId, LocalId, MultisetElement, PlaceId, ReturnValue, Statement, StatementKind, TableIndex, TypeKind,
};

use super::expressions::Range;
use super::facts::Blank;
use super::places::{Base, Location};
use super::{Binding, Specialiser, Unsupported};
use crate::evaluator::code::{Command, CommandId, Test, UNDEFINED, Value};

impl<'m> Specialiser<'m> {
    /// Translates statements one after the other.
    pub(super) fn block_into(
        &mut self,
        statements: &'m [Statement],
        commands: &mut Vec<CommandId>,
    ) -> Result<(), Unsupported> {
        for statement in statements {
            let free = self.context.next_cell;
            self.nested(|specialiser| specialiser.statement(statement, commands))?;
            // Cells that only the statement used are free again; a reference it bound remains.
            if !matches!(statement.kind, StatementKind::Bind { .. }) {
                self.context.next_cell = free;
            }
            if commands.last().is_some_and(|&last| self.ends_here(last)) {
                break;
            }
        }
        Ok(())
    }

    /// Whether code after a command is unreachable.
    fn ends_here(&self, command: CommandId) -> bool {
        matches!(self.code.commands[command], Command::Return | Command::Escape)
    }

    /// A separate block: references that it binds are unknown after it.
    fn block(&mut self, statements: &'m [Statement]) -> Result<CommandId, Unsupported> {
        let mut commands = Vec::new();
        let free = self.context.next_cell;
        self.block_into(statements, &mut commands)?;
        self.context.next_cell = free;
        self.unbind(statements);
        Ok(self.sequence(&commands))
    }

    /// Forgets the bindings of references that statements bind. Which of several bindings applies may depend on the
    /// path taken.
    fn unbind(&mut self, statements: &[Statement]) {
        for local in bound_references(statements) {
            self.scope_mut().bindings[local.position()] = Binding::Nothing;
        }
    }

    /// One command for a list.
    pub(super) fn sequence(&mut self, commands: &[CommandId]) -> CommandId {
        let mut flat: Vec<CommandId> = Vec::with_capacity(commands.len());
        for &command in commands {
            match self.code.commands[command] {
                Command::Sequence(list) => {
                    for inner in self.code.command_lists.get(list).to_vec() {
                        self.append(&mut flat, inner);
                    }
                }
                _ => self.append(&mut flat, command),
            }
        }
        if let &[command] = &flat[..] {
            return command;
        }
        let list = self.code.command_lists.add(&flat);
        self.code.commands.add(Command::Sequence(list))
    }

    /// Appends a command to a list, merged with the last one if both set or move bits of one word.
    fn append(&mut self, commands: &mut Vec<CommandId>, command: CommandId) {
        let last = commands.last().map(|&last| self.code.commands[last]);
        match last.and_then(|last| merged(&last, &self.code.commands[command])) {
            Some(merged) => {
                commands.pop();
                commands.push(self.code.commands.add(merged));
            }
            None => commands.push(command),
        }
    }

    fn push(&mut self, commands: &mut Vec<CommandId>, command: Command) {
        commands.push(self.code.commands.add(command));
    }

    fn statement(&mut self, statement: &'m Statement, commands: &mut Vec<CommandId>) -> Result<(), Unsupported> {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let location = self.locate(*target)?;
                let value = self.value(*value)?;
                let command = self.assign(location, value)?;
                self.push(commands, command);
            }
            StatementKind::Copy { target, source } => {
                let location = self.locate(*target)?;
                self.copy(location, *source, commands)?;
            }
            StatementKind::Clear(place) => self.fill(*place, Blank::Least, commands)?,
            StatementKind::Undefine(place) => self.fill(*place, Blank::Undefined, commands)?,
            StatementKind::Bind { local, place } => {
                let ty = self.scope().locals[*local].ty;
                let binding = self.reference(*place, ty, commands)?;
                self.scope_mut().bindings[local.position()] = binding;
            }
            StatementKind::If { branches, otherwise } => self.conditional(branches, otherwise, commands)?,
            StatementKind::While { condition, body } => {
                let before = self.context.weight;
                self.unbind(body);
                let condition = self.test_id(*condition)?;
                let body = self.block(body)?;
                let weight = self.weight_since(before);
                self.push(commands, Command::While { condition, body, weight });
            }
            StatementKind::For { local, range, body } => match self.range(*local, range)? {
                Range::Escape => self.push(commands, Command::Escape),
                Range::Unrolled(values) => {
                    let repetitions = self.context.repetitions;
                    self.context.repetitions *= values.len() as u64;
                    for value in values {
                        let iteration = self.with_binding(*local, Binding::Known(value), |inner| inner.block(body))?;
                        commands.push(iteration);
                    }
                    self.context.repetitions = repetitions;
                }
                Range::AtRunTime(values) => {
                    self.unbind(body);
                    let (range, body) = self.loop_over(*local, values, |inner| inner.block(body))?;
                    self.push(commands, Command::For { range, body });
                }
            },
            StatementKind::Call { function, arguments } => {
                let (command, _) = self.call(*function, arguments)?;
                commands.push(command);
            }
            StatementKind::Return(result) => {
                match (*result, self.scope().result) {
                    (None, _) => {}
                    (Some(ReturnValue::Value(value)), Some((cell, ty))) => {
                        let value = self.value(value)?;
                        let value = self.code.values.add(value);
                        let domain = self.domain(ty)?;
                        self.push(commands, Command::SetCell { cell, value, domain });
                    }
                    (Some(ReturnValue::Copy(place)), Some((cell, ty))) if !self.model.is_scalar(ty) => {
                        commands.push(self.copy_to_cells(place, ty, cell)?);
                    }
                    _ => return Err(Unsupported),
                }
                self.push(commands, Command::Return);
            }
            StatementKind::Assert { condition, .. } | StatementKind::Require { condition, .. } => {
                match self.test(*condition)? {
                    Test::Constant(true) => {}
                    Test::Constant(false) | Test::Escape => self.push(commands, Command::Escape),
                    test => {
                        let test = self.code.tests.add(test);
                        self.push(commands, Command::Assert(test));
                    }
                }
            }
            StatementKind::Assume(condition) => {
                let condition = self.test_id(*condition)?;
                self.push(commands, Command::Assume(condition));
            }
            StatementKind::Cover { condition, property } => {
                let condition = self.test_id(*condition)?;
                self.push(commands, Command::Cover { condition, property: *property });
            }
            StatementKind::Print(_) => {}
            StatementKind::Error { .. } => self.push(commands, Command::Escape),
            StatementKind::MultisetAdd { multiset, element } => {
                let command = self.multiset_add(*multiset, *element)?;
                self.push(commands, command);
            }
            StatementKind::MultisetRemove { multiset, position } => {
                self.context.writes_state = true;
                let location = self.locate(*multiset)?;
                let present = self.position(location, *position)?;
                let template = self.removal(location)?;
                let template = self.template(template);
                self.push(commands, Command::MultisetRemove { present, template });
            }
            StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                self.context.writes_state = true;
                let location = self.locate(*multiset)?;
                let multiset = self.address_of(location);
                let (capacity, cell, test) = self.position_test(location.ty, *local, *condition)?;
                let template = self.removal(location)?;
                let template = self.template(template);
                self.push(commands, Command::MultisetRemoveIf { multiset, capacity, cell, test, template });
            }
        }
        Ok(())
    }

    fn assign(&mut self, location: Location, value: Value) -> Result<Command, Unsupported> {
        let domain = self.domain(location.ty)?;
        if let Value::Constant(value) = value
            && !self.code.domains[domain].contains(value)
        {
            return Ok(Command::Escape);
        }
        if self.is_nowhere(location.base) {
            return Ok(Command::Escape);
        }
        match location.base {
            Base::Slot(slot) => {
                self.context.writes_state = true;
                if let Value::Constant(value) = value {
                    return Ok(self.set_slot(slot, value));
                }
                let slot_code = &self.code.slots[slot as usize];
                let (field, width) = (slot_code.field, slot_code.width);
                // Values that the slot has no room for, whether of the type or not, are left to the reference
                // interpreter.
                let own = self.layout.slots.as_slice()[slot as usize].ty;
                if slot_code.domain.is_interval() && self.facts[own].domain == self.facts[location.ty].domain {
                    let domain = self.code.domains.add(slot_code.domain.clone());
                    let value = self.code.values.add(value);
                    return Ok(Command::SetField {
                        word: field.word,
                        shift: field.shift,
                        width,
                        partial: field.partial,
                        value,
                        domain,
                    });
                }
            }
            Base::Cell(cell) => {
                let value = self.code.values.add(value);
                return Ok(Command::SetCell { cell, value, domain });
            }
            Base::Dynamic(_) => self.context.writes_state = true,
        }
        let address = self.address_of(location);
        let value = self.code.values.add(value);
        Ok(Command::Store { address, value, domain })
    }

    /// Stores a known value, or undefined, in a slot.
    fn set_slot(&mut self, slot: u32, value: i64) -> Command {
        let entry = &self.layout.slots.as_slice()[slot as usize];
        let value = (value != UNDEFINED).then_some(value);
        let field = self.code.slots[slot as usize].field;
        match entry.stored(value) {
            Some(stored) => {
                Command::SetBits { word: field.word, mask: field.mask << field.shift, bits: stored << field.shift }
            }
            None => Command::Escape,
        }
    }

    /// Clears or undefines a place.
    fn fill(&mut self, place: PlaceId, blank: Blank, commands: &mut Vec<CommandId>) -> Result<(), Unsupported> {
        let location = self.locate(place)?;
        let cells = self.blank_cells(location.ty, blank)?;
        self.context.weight += cells.len() as u64;
        if let Base::Slot(slot) = location.base {
            self.context.writes_state = true;
            for (slot, value) in (slot..).zip(cells) {
                let command = self.set_slot(slot, value);
                let command = self.code.commands.add(command);
                self.append(commands, command);
            }
            return Ok(());
        }
        if self.is_nowhere(location.base) {
            self.push(commands, Command::Escape);
            return Ok(());
        }
        if let Base::Dynamic(_) = location.base {
            self.context.writes_state = true;
        }
        let address = self.address_of(location);
        let template = self.template(cells);
        self.push(commands, Command::Fill { address, template });
        Ok(())
    }

    /// Copies an array, record or multiset.
    fn copy(&mut self, target: Location, source: PlaceId, commands: &mut Vec<CommandId>) -> Result<(), Unsupported> {
        let cells = self.cells(target.ty)?;
        self.context.weight += u64::from(cells);
        self.context.writes_state |= !matches!(target.base, Base::Cell(_));
        let source = self.locate(source)?;
        if self.cells(source.ty)? != cells {
            return Err(Unsupported);
        }
        if let (Base::Slot(to), Base::Slot(from)) = (target.base, source.base)
            && let Some(moves) = self.moves(from, to, cells)
        {
            for command in moves {
                self.push(commands, command);
            }
            return Ok(());
        }
        if self.is_nowhere(target.base) || self.is_nowhere(source.base) {
            self.push(commands, Command::Escape);
            return Ok(());
        }
        let to = self.address_of(target);
        let from = self.address_of(source);
        self.push(commands, Command::Copy { to, from, cells });
        Ok(())
    }

    /// Moves of bits that copy slots to others of the same domains.
    fn moves(&self, from: u32, to: u32, cells: u32) -> Option<Vec<Command>> {
        let mut moves: Vec<Command> = Vec::new();
        for cell in 0..cells {
            let source = &self.code.slots[(from + cell) as usize];
            let target = &self.code.slots[(to + cell) as usize];
            if source.domain != target.domain || source.field.partial != target.field.partial {
                return None;
            }
            if source.width == 0 {
                continue;
            }
            // Extends the last move if both sides continue without a gap.
            if let Some(Command::MoveBits { from_word, from_shift, to_word, to_shift, width }) = moves.last_mut()
                && *from_word == source.field.word
                && *from_shift + *width == source.field.shift
                && *to_word == target.field.word
                && *to_shift + *width == target.field.shift
            {
                *width += source.width;
                continue;
            }
            moves.push(Command::MoveBits {
                from_word: source.field.word,
                from_shift: source.field.shift,
                to_word: target.field.word,
                to_shift: target.field.shift,
                width: source.width,
            });
        }
        Some(moves)
    }

    fn conditional(
        &mut self,
        branches: &'m [(ExprId, Vec<Statement>)],
        otherwise: &'m [Statement],
        commands: &mut Vec<CommandId>,
    ) -> Result<(), Unsupported> {
        // The conditions are evaluated in order until one holds, so each is nested in the alternative of the one
        // before.
        let mut alternatives: Vec<(Test, CommandId)> = Vec::new();
        let mut last = None;
        for (condition, body) in branches {
            match self.test(*condition)? {
                Test::Constant(false) => {}
                Test::Constant(true) => {
                    last = Some(self.block(body)?);
                    break;
                }
                Test::Escape => {
                    last = Some(self.code.commands.add(Command::Escape));
                    break;
                }
                test => {
                    let body = self.block(body)?;
                    alternatives.push((test, body));
                }
            }
        }
        let mut command = match last {
            Some(last) => last,
            None => self.block(otherwise)?,
        };
        for (condition, then) in alternatives.into_iter().rev() {
            let condition = self.code.tests.add(condition);
            command = self.code.commands.add(Command::If { condition, then, otherwise: command });
        }
        commands.push(command);
        Ok(())
    }

    fn multiset_add(&mut self, multiset: PlaceId, element: MultisetElement) -> Result<Command, Unsupported> {
        self.context.writes_state = true;
        let location = self.locate(multiset)?;
        let TypeKind::Multiset { capacity, element: element_type } = self.model.types[location.ty].kind else {
            return Err(Unsupported);
        };
        let multiset = self.address_of(location);
        let cell = self.allocate_for(element_type)?;
        let stride = self.cells(element_type)?.checked_add(1).ok_or(Unsupported)?;
        self.context.weight += capacity;
        let contents = match element {
            MultisetElement::Value(value) => {
                let value = self.value(value)?;
                let value = self.code.values.add(value);
                let domain = self.domain(element_type)?;
                self.code.commands.add(Command::SetCell { cell, value, domain })
            }
            MultisetElement::Copy(place) => self.copy_to_cells(place, element_type, cell)?,
        };
        let capacity = u32::try_from(capacity).map_err(|_| Unsupported)?;
        Ok(Command::MultisetAdd { multiset, capacity, stride, contents, cell })
    }

    /// The cells of an absent position of a multiset.
    fn removal(&self, multiset: Location) -> Result<Vec<i64>, Unsupported> {
        let TypeKind::Multiset { element, .. } = self.model.types[multiset.ty].kind else {
            return Err(Unsupported);
        };
        let mut cells = vec![0];
        cells.extend(self.blank_cells(element, Blank::Undefined)?);
        Ok(cells)
    }
}

/// The references that statements bind, at any depth.
fn bound_references(statements: &[Statement]) -> Vec<LocalId> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = waiting.pop() {
        match &statement.kind {
            StatementKind::Bind { local, .. } => found.push(*local),
            StatementKind::If { branches, otherwise } => {
                waiting.extend(branches.iter().flat_map(|(_, body)| body));
                waiting.extend(otherwise);
            }
            StatementKind::While { body, .. } | StatementKind::For { body, .. } => waiting.extend(body),
            _ => {}
        }
    }
    found
}

/// One command for two consecutive ones that set or move bits of one word.
fn merged(first: &Command, second: &Command) -> Option<Command> {
    match (first, second) {
        (
            &Command::SetBits { word, mask, bits },
            &Command::SetBits { word: next_word, mask: next_mask, bits: next_bits },
        ) if word == next_word => {
            Some(Command::SetBits { word, mask: mask | next_mask, bits: bits & !next_mask | next_bits })
        }
        (
            &Command::MoveBits { from_word, from_shift, to_word, to_shift, width },
            &Command::MoveBits {
                from_word: next_from_word,
                from_shift: next_from_shift,
                to_word: next_to_word,
                to_shift: next_to_shift,
                width: more,
            },
        ) => {
            let adjacent = (from_word, from_shift + width) == (next_from_word, next_from_shift)
                && (to_word, to_shift + width) == (next_to_word, next_to_shift);
            // The second must not read what the first wrote.
            let apart =
                to_word != from_word || next_from_shift >= to_shift + width || next_from_shift + more <= to_shift;
            (adjacent && apart).then_some(Command::MoveBits {
                from_word,
                from_shift,
                to_word,
                to_shift,
                width: width + more,
            })
        }
        _ => None,
    }
}
