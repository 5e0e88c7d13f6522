//! Runs the nodes of the specialiser on a packed state.
//!
//! The machine has no diagnostics: every unusual case ends with [`Stop::Escape`], and the caller asks the reference
//! interpreter what happens. So the machine may escape too often (which only costs time), but must never continue where
//! the reference interpreter would not.

use quotient_ir::{BinaryOperator, MultisetSlots, PropertyId, TableIndex};

use super::code::{
    Address, AddressId, Code, Command, CommandId, Field, Loop, LoopId, LoopValues, SubroutineId, TemplateId, Test,
    TestId, UNDEFINED, Value, ValueId,
};

/// Why a run ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The reference interpreter has to decide.
    Escape,
    /// An assume statement failed.
    Pruned,
}

/// How a statement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Onward,
    Return,
}

/// The work after which a run is left to the reference interpreter, whose own limit is higher.
const WORK_LIMIT: u64 = 1 << 22;
/// The nesting of active nodes at which a run is left to the reference interpreter, which has a larger stack.
pub(crate) const DEPTH_LIMIT: u32 = 600;
/// The number of cells of all frames at which a run is left to the reference interpreter.
const FRAME_LIMIT: usize = 1 << 18;

/// The working memory of one run.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// The packed state.
    pub(crate) words: Vec<u64>,
    /// The stack of frames; the current one starts at `base`.
    pub(crate) frames: Vec<i64>,
    base: usize,
    /// The size of the current frame.
    pub(crate) extent: u32,
    /// The depth of the active calls.
    depth: u32,
    work: u64,
    /// Cover statements reached.
    pub(crate) covered: Vec<PropertyId>,
}

impl Memory {
    pub(crate) fn new(words: usize, frame: u32) -> Self {
        Self {
            words: vec![0; words],
            frames: vec![UNDEFINED; frame as usize],
            base: 0,
            extent: 0,
            depth: 0,
            work: 0,
            covered: Vec::new(),
        }
    }
    /// Loads a state into memory.
    #[inline]
    pub(crate) fn set_state(&mut self, state: &[u64]) {
        // Most states have one or two words, for which a call to copy memory costs more.
        for (word, &new) in self.words.iter_mut().zip(state) {
            *word = new;
        }
    }
    /// Prepares a run with a frame of a number of cells.
    #[inline]
    pub(crate) fn begin(&mut self, frame: u32) {
        self.base = 0;
        self.extent = frame;
        self.depth = 0;
        self.work = 0;
    }
}

/// Code and memory together.
pub(crate) struct Machine<'a> {
    pub(crate) code: &'a Code,
    pub(crate) memory: &'a mut Memory,
}

impl Machine<'_> {
    #[inline]
    pub(crate) fn test(&mut self, id: TestId) -> Result<bool, Stop> {
        let code = self.code;
        self.test_node(&code.tests[id])
    }

    #[inline]
    pub(crate) fn test_node(&mut self, test: &Test) -> Result<bool, Stop> {
        match *test {
            Test::FieldIs { word, partial, mask, pattern } => {
                let found = self.memory.words[word as usize] & mask;
                if found == pattern {
                    Ok(true)
                } else if found != 0 || !partial {
                    Ok(false)
                } else {
                    Err(Stop::Escape)
                }
            }
            Test::FieldIsNot { word, partial, mask, pattern } => {
                let found = self.memory.words[word as usize] & mask;
                if found == pattern {
                    Ok(false)
                } else if found != 0 || !partial {
                    Ok(true)
                } else {
                    Err(Stop::Escape)
                }
            }
            Test::FieldIn { word, shift, mask, partial, set } => {
                let found = (self.memory.words[word as usize] >> shift) as u8 & mask;
                if found == 0 && partial { Err(Stop::Escape) } else { Ok(set >> found & 1 == 1) }
            }
            _ => self.other_test(test),
        }
    }

    fn other_test(&mut self, test: &Test) -> Result<bool, Stop> {
        let code = self.code;
        match *test {
            Test::FieldIs { .. } | Test::FieldIsNot { .. } | Test::FieldIn { .. } => self.test_node(test),
            Test::Constant(value) => Ok(value),
            Test::Compare { operator, left, right } => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                Ok(match operator {
                    BinaryOperator::Equal => left == right,
                    BinaryOperator::NotEqual => left != right,
                    BinaryOperator::Less => left < right,
                    BinaryOperator::LessOrEqual => left <= right,
                    BinaryOperator::Greater => left > right,
                    BinaryOperator::GreaterOrEqual => left >= right,
                    _ => return Err(Stop::Escape),
                })
            }
            Test::Nonzero(value) => Ok(self.value(value)? != 0),
            Test::Not(test) => Ok(!self.test(test)?),
            Test::AllOf(list) => {
                for &test in code.test_lists.get(list) {
                    if !self.test(test)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Test::AnyOf(list) => {
                for &test in code.test_lists.get(list) {
                    if self.test(test)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Test::Conditional { condition, then, otherwise } => {
                let chosen = if self.test(condition)? { then } else { otherwise };
                self.test(chosen)
            }
            Test::Quantified { all, range, body } => {
                let decided = self.iterate(range, |machine| Ok(machine.test(body)? != all))?;
                Ok(decided != all)
            }
            Test::Undefined(address) => {
                let address = self.address(address)?;
                Ok(self.load(address) == UNDEFINED)
            }
            Test::Present(address) => {
                let address = self.address(address)?;
                Ok(self.load(address) == 1)
            }
            Test::Member { value, domain } => {
                let value = self.value(value)?;
                Ok(code.domains[domain].contains(defined(value)?))
            }
            Test::SameContents { left, right, cells } => {
                let left = self.address(left)?;
                let right = self.address(right)?;
                Ok((0..cells as usize).all(|cell| self.load(left + cell) == self.load(right + cell)))
            }
            Test::Escape => Err(Stop::Escape),
        }
    }

    pub(crate) fn value(&mut self, id: ValueId) -> Result<i64, Stop> {
        let code = self.code;
        match code.values[id] {
            Value::Constant(value) => Ok(value),
            Value::Field { word, shift, width, partial, offset } => {
                let found = (self.memory.words[word as usize] >> shift) & mask(width);
                if found == 0 && partial { Err(Stop::Escape) } else { Ok((found as i64).wrapping_add(offset)) }
            }
            Value::Cell(cell) => defined(self.memory.frames[self.memory.base + cell as usize]),
            Value::Load(address) => {
                let address = self.address(address)?;
                defined(self.load(address))
            }
            Value::Negate(operand) => self.value(operand)?.checked_neg().ok_or(Stop::Escape),
            Value::Complement(operand) => Ok(!self.value(operand)?),
            Value::Binary { operator, left, right } => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                calculate(operator, left, right).ok_or(Stop::Escape)
            }
            Value::Truth(test) => Ok(i64::from(self.test(test)?)),
            Value::Conditional { condition, then, otherwise } => {
                let chosen = if self.test(condition)? { then } else { otherwise };
                self.value(chosen)
            }
            Value::Count { multiset, capacity, stride, cell, test } => {
                let multiset = self.address(multiset)?;
                let mut count = 0;
                for position in 0..capacity {
                    count += i64::from(self.satisfies(multiset, stride, position, cell, test)?);
                }
                Ok(count)
            }
            Value::Checked { value, domain } => {
                let value = self.value(value)?;
                if code.domains[domain].contains(value) { Ok(value) } else { Err(Stop::Escape) }
            }
            Value::After { command, cell } => {
                self.run(command)?;
                defined(self.memory.frames[self.memory.base + cell as usize])
            }
            Value::Escape => Err(Stop::Escape),
        }
    }

    fn address(&mut self, id: AddressId) -> Result<usize, Stop> {
        let code = self.code;
        match code.addresses[id] {
            Address::Slot(slot) => Ok(slot as usize),
            Address::Frame(cell) => Ok(code.slots.len() + self.memory.base + cell as usize),
            Address::Reference(cell) => {
                let address = self.memory.frames[self.memory.base + cell as usize];
                usize::try_from(address).map_err(|_| Stop::Escape)
            }
            Address::Offset { base, cells } => Ok(self.address(base)? + cells as usize),
            Address::SlotElement { slot, index, first, count, stride } => {
                element(slot as usize, self.value(index)?, first, count, stride)
            }
            Address::Element { base, index, first, count, stride } => {
                let base = self.address(base)?;
                element(base, self.value(index)?, first, count, stride)
            }
            Address::ElementOf { base, index, domain, stride } => {
                let base = self.address(base)?;
                let index = self.value(index)?;
                let position = code.domains[domain].code_of(index).ok_or(Stop::Escape)?;
                Ok(base + position as usize * stride as usize)
            }
            Address::AfterPresent(present) => {
                let present = self.address(present)?;
                if self.load(present) == 1 { Ok(present + 1) } else { Err(Stop::Escape) }
            }
            Address::Choice { condition, then, otherwise } => {
                let chosen = if self.test(condition)? { then } else { otherwise };
                self.address(chosen)
            }
            Address::After { command, address } => {
                self.run(command)?;
                self.address(address)
            }
            Address::Escape => Err(Stop::Escape),
        }
    }

    pub(crate) fn run(&mut self, mut id: CommandId) -> Result<Flow, Stop> {
        let code = self.code;
        // A chain of alternatives may be long, so it must not use the stack.
        while let Command::If { condition, then, otherwise } = code.commands[id] {
            id = if self.test(condition)? { then } else { otherwise };
        }
        match code.commands[id] {
            Command::SetBits { word, mask, bits } => {
                let word = &mut self.memory.words[word as usize];
                *word = *word & !mask | bits;
            }
            Command::SetField { word, shift, width, partial, value, domain } => {
                let value = self.value(value)?;
                let domain = &code.domains[domain];
                if value < domain.low || value > domain.high {
                    return Err(Stop::Escape);
                }
                let bits = (value.wrapping_sub(domain.low) as u64 + u64::from(partial)) << shift;
                let word = &mut self.memory.words[word as usize];
                *word = *word & !(mask(width) << shift) | bits;
            }
            Command::MoveBits { from_word, from_shift, to_word, to_shift, width } => {
                let bits = (self.memory.words[from_word as usize] >> from_shift) & mask(width);
                let word = &mut self.memory.words[to_word as usize];
                *word = *word & !(mask(width) << to_shift) | bits << to_shift;
            }
            Command::SetCell { cell, value, domain } => {
                let value = self.value(value)?;
                if !code.domains[domain].contains(value) {
                    return Err(Stop::Escape);
                }
                self.memory.frames[self.memory.base + cell as usize] = value;
            }
            Command::Store { address, value, domain } => {
                let address = self.address(address)?;
                let value = self.value(value)?;
                if !code.domains[domain].contains(value) {
                    return Err(Stop::Escape);
                }
                self.store(address, value)?;
            }
            Command::Sequence(list) => {
                for &command in code.command_lists.get(list) {
                    if self.run(command)? == Flow::Return {
                        return Ok(Flow::Return);
                    }
                }
            }
            _ => return self.run_other(id),
        }
        Ok(Flow::Onward)
    }

    fn run_other(&mut self, id: CommandId) -> Result<Flow, Stop> {
        let code = self.code;
        match code.commands[id] {
            Command::SetBits { .. }
            | Command::SetField { .. }
            | Command::MoveBits { .. }
            | Command::SetCell { .. }
            | Command::Store { .. }
            | Command::Sequence(_)
            | Command::If { .. } => return self.run(id),
            Command::Copy { to, from, cells } => {
                let to = self.address(to)?;
                let from = self.address(from)?;
                for cell in 0..cells as usize {
                    let value = self.load(from + cell);
                    self.store(to + cell, value)?;
                }
            }
            Command::CopyChecked { to, from, domain } => {
                let to = self.address(to)?;
                let from = self.address(from)?;
                let value = self.load(from);
                if value != UNDEFINED && !code.domains[domain].contains(value) {
                    return Err(Stop::Escape);
                }
                self.store(to, value)?;
            }
            Command::Fill { address, template } => {
                let address = self.address(address)?;
                self.fill(address, template)?;
            }
            Command::Bind { cell, address } => {
                let address = self.address(address)?;
                self.memory.frames[self.memory.base + cell as usize] = address as i64;
            }
            Command::While { condition, body, weight } => {
                while self.test(condition)? {
                    self.charge(weight)?;
                    if self.run(body)? == Flow::Return {
                        return Ok(Flow::Return);
                    }
                }
            }
            Command::For { range, body } => {
                let returned = self.iterate(range, |machine| Ok(machine.run(body)? == Flow::Return))?;
                return Ok(if returned { Flow::Return } else { Flow::Onward });
            }
            Command::Return => return Ok(Flow::Return),
            Command::Unfolded(body) => {
                self.run(body)?;
            }
            Command::Invoke { subroutine, arguments, result } => self.invoke(subroutine, arguments, result)?,
            Command::Assert(condition) => {
                if !self.test(condition)? {
                    return Err(Stop::Escape);
                }
            }
            Command::Assume(condition) => {
                if !self.test(condition)? {
                    return Err(Stop::Pruned);
                }
            }
            Command::Cover { condition, property } => {
                if self.test(condition)?
                    && let Err(position) = self.memory.covered.binary_search(&property)
                {
                    self.memory.covered.insert(position, property);
                }
            }
            Command::MultisetAdd { multiset, capacity, stride, contents, cell } => {
                let multiset = self.address(multiset)?;
                self.run(contents)?;
                let free = (0..capacity as usize).map(|position| multiset + position * stride as usize);
                let free = free.into_iter().find(|&present| self.load(present) != 1).ok_or(Stop::Escape)?;
                self.store(free, 1)?;
                for offset in 1..stride as usize {
                    let value = self.memory.frames[self.memory.base + cell as usize + offset - 1];
                    self.store(free + offset, value)?;
                }
            }
            Command::MultisetRemove { present, template } => {
                let present = self.address(present)?;
                if self.load(present) != 1 {
                    return Err(Stop::Escape);
                }
                self.fill(present, template)?;
            }
            Command::MultisetRemoveIf { multiset, capacity, cell, test, template } => {
                let multiset = self.address(multiset)?;
                let stride = code.templates[template].len();
                let mut found = Vec::new();
                for position in 0..capacity {
                    if self.satisfies(multiset, stride as u32, position, cell, test)? {
                        found.push(multiset + position as usize * stride);
                    }
                }
                for present in found {
                    self.fill(present, template)?;
                }
            }
            Command::Escape => return Err(Stop::Escape),
        }
        Ok(Flow::Onward)
    }

    /// Whether a position of a multiset is present and satisfies a test.
    #[inline]
    fn satisfies(
        &mut self,
        multiset: usize,
        stride: u32,
        position: u32,
        cell: u32,
        test: TestId,
    ) -> Result<bool, Stop> {
        self.charge(1)?;
        if self.load(multiset + position as usize * stride as usize) != 1 {
            return Ok(false);
        }
        self.memory.frames[self.memory.base + cell as usize] = i64::from(position);
        self.test(test)
    }

    /// Runs a function for each value of a loop until it reports a decision.
    fn iterate(&mut self, range: LoopId, mut body: impl FnMut(&mut Self) -> Result<bool, Stop>) -> Result<bool, Stop> {
        let code = self.code;
        let Loop { cell, values, domain, weight } = code.loops[range];
        let cell_domain = &code.domains[domain];
        let mut iteration = |machine: &mut Self, value: i64| {
            machine.charge(weight)?;
            if !cell_domain.contains(value) {
                return Err(Stop::Escape);
            }
            machine.memory.frames[machine.memory.base + cell as usize] = value;
            body(machine)
        };
        match values {
            LoopValues::Domain(values) => {
                let values = &code.domains[values];
                let mut next = Some(values.low);
                while let Some(value) = next {
                    if iteration(self, value)? {
                        return Ok(true);
                    }
                    next = values.after(value);
                }
            }
            LoopValues::Steps { from, to, step } => {
                let from = self.value(from)?;
                let to = self.value(to)?;
                let step = match step {
                    Some(step) => self.value(step)?,
                    None if to < from => -1,
                    None => 1,
                };
                if step == 0 || (from < to && step < 0) || (from > to && step > 0) {
                    return Err(Stop::Escape);
                }
                let mut value = from;
                loop {
                    if iteration(self, value)? {
                        return Ok(true);
                    }
                    let next = value.checked_add(step).filter(|_| from != to);
                    match next.filter(|&next| if step > 0 { next <= to } else { next >= to }) {
                        Some(next) => value = next,
                        None => break,
                    }
                }
            }
        }
        Ok(false)
    }

    fn invoke(&mut self, id: SubroutineId, arguments: u32, result: u32) -> Result<(), Stop> {
        let subroutine = self.code.subroutines[id];
        self.charge(subroutine.weight)?;
        let (base, extent, depth) = (self.memory.base, self.memory.extent, self.memory.depth);
        let new_base = base + extent as usize;
        let end = new_base + subroutine.frame as usize;
        if end > FRAME_LIMIT || depth + subroutine.depth > DEPTH_LIMIT {
            return Err(Stop::Escape);
        }
        if self.memory.frames.len() < end {
            self.memory.frames.resize(end, UNDEFINED);
        }
        let first = base + arguments as usize;
        self.memory.frames.copy_within(first..first + subroutine.parameters as usize, new_base);
        self.memory.base = new_base;
        self.memory.extent = subroutine.frame;
        self.memory.depth = depth + subroutine.depth;
        self.run(subroutine.body)?;
        self.memory.base = base;
        self.memory.extent = extent;
        self.memory.depth = depth;
        let first = new_base + subroutine.parameters as usize;
        self.memory.frames.copy_within(first..first + subroutine.results as usize, base + result as usize);
        Ok(())
    }

    #[inline]
    fn fill(&mut self, address: usize, template: TemplateId) -> Result<(), Stop> {
        let code = self.code;
        for (offset, &value) in code.templates[template].iter().enumerate() {
            self.store(address + offset, value)?;
        }
        Ok(())
    }

    /// The content of an address.
    #[inline]
    fn load(&self, address: usize) -> i64 {
        let slots = &self.code.slots;
        match slots.get(address) {
            Some(slot) => {
                let Field { word, shift, partial, mask } = slot.field;
                let stored = (self.memory.words[word as usize] >> shift) & mask;
                match stored.checked_sub(u64::from(partial)) {
                    Some(code) => slot.domain.value_of(code),
                    None => UNDEFINED,
                }
            }
            None => self.memory.frames[address - slots.len()],
        }
    }

    /// Stores a value or [`UNDEFINED`] at an address.
    #[inline]
    fn store(&mut self, address: usize, value: i64) -> Result<(), Stop> {
        let slots = &self.code.slots;
        match slots.get(address) {
            Some(slot) => {
                let Field { word, shift, partial, mask } = slot.field;
                let stored = if value == UNDEFINED {
                    if !partial {
                        return Err(Stop::Escape);
                    }
                    0
                } else {
                    slot.domain.code_of(value).ok_or(Stop::Escape)? + u64::from(partial)
                };
                let word = &mut self.memory.words[word as usize];
                *word = *word & !(mask << shift) | stored << shift;
            }
            None => self.memory.frames[address - slots.len()] = value,
        }
        Ok(())
    }

    #[inline]
    fn charge(&mut self, work: u32) -> Result<(), Stop> {
        self.memory.work += u64::from(work);
        if self.memory.work > WORK_LIMIT { Err(Stop::Escape) } else { Ok(()) }
    }

    /// Brings a multiset of the state into normal form.
    pub(crate) fn normalize(&mut self, multiset: &MultisetSlots) {
        let first = multiset.first.position();
        let cells = multiset.capacity * multiset.stride;
        let contents: Vec<i64> = (first..first + cells).map(|slot| self.load(slot)).collect();
        let positions = contents.chunks_exact(multiset.stride);
        let mut present: Vec<&[i64]> = positions.filter(|position| position[0] == 1).collect();
        // The marker of an undefined cell is less than every value, as required.
        present.sort_unstable();
        let sorted = present.iter().copied().flatten().copied();
        let mut slot = first;
        for value in sorted {
            self.store(slot, value).expect("a value of another position of the same multiset fits");
            slot += 1;
        }
        for absent in slot..first + cells {
            // Undefined and the least value are both stored as zero.
            let Field { word, shift, mask, .. } = self.code.slots[absent].field;
            self.memory.words[word as usize] &= !(mask << shift);
        }
    }
}

#[inline]
fn mask(width: u8) -> u64 {
    // Two shifts, since one by 64 is not allowed.
    !(u64::MAX << (width / 2) << (width - width / 2))
}

#[inline]
fn defined(value: i64) -> Result<i64, Stop> {
    if value == UNDEFINED { Err(Stop::Escape) } else { Ok(value) }
}

#[inline]
fn element(base: usize, index: i64, first: i64, count: u32, stride: u32) -> Result<usize, Stop> {
    let position = index.wrapping_sub(first) as u64;
    if position < u64::from(count) { Ok(base + position as usize * stride as usize) } else { Err(Stop::Escape) }
}

/// The result of an operator on integers, if it has one. The specialiser also folds constants with it.
pub(crate) fn calculate(operator: BinaryOperator, left: i64, right: i64) -> Option<i64> {
    match operator {
        BinaryOperator::Add => left.checked_add(right),
        BinaryOperator::Subtract => left.checked_sub(right),
        BinaryOperator::Multiply => left.checked_mul(right),
        BinaryOperator::Divide => left.checked_div(right),
        BinaryOperator::Remainder => left.checked_rem(right),
        BinaryOperator::ShiftLeft => Some(shift_left(left, i128::from(right))),
        BinaryOperator::ShiftRight => Some(shift_left(left, -i128::from(right))),
        BinaryOperator::BitAnd => Some(left & right),
        BinaryOperator::BitOr => Some(left | right),
        BinaryOperator::BitXor => Some(left ^ right),
        BinaryOperator::Equal => Some(i64::from(left == right)),
        BinaryOperator::NotEqual => Some(i64::from(left != right)),
        BinaryOperator::Less => Some(i64::from(left < right)),
        BinaryOperator::LessOrEqual => Some(i64::from(left <= right)),
        BinaryOperator::Greater => Some(i64::from(left > right)),
        BinaryOperator::GreaterOrEqual => Some(i64::from(left >= right)),
        // These do not evaluate both operands.
        BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies => None,
    }
}

/// Shifts by 64 or more in either direction give zero.
fn shift_left(value: i64, count: i128) -> i64 {
    match count {
        0..64 => value << count,
        -63..0 => value >> -count,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        assert_eq!(mask(0), 0);
        assert_eq!(mask(1), 1);
        assert_eq!(mask(7), 0x7f);
        assert_eq!(mask(63), u64::MAX >> 1);
        assert_eq!(mask(64), u64::MAX);
    }
}
