//! The bits of the state that a piece of specialised code may read or write, and the fields it may leave undefined. All
//! answers are over-approximations.

use super::bits::BitSet;
use crate::evaluator::code::{
    Address, AddressId, Code, Command, CommandId, LoopId, LoopValues, Test, TestId, UNDEFINED, Value, ValueId,
};

/// The number of nodes visited for one query, beyond which the answer is "everything".
const NODE_LIMIT: u32 = 20_000;

/// Collects the reads and writes of code.
pub(super) struct Effects<'a> {
    code: &'a Code,
    pub(super) reads: BitSet,
    pub(super) writes: BitSet,
    /// Fields that may be left undefined.
    pub(super) undefines: BitSet,
    /// Bits copied from one location to another: if the source may be undefined, so may the target.
    pub(super) moves: Vec<Move>,
    fields: &'a PartialFields,
    budget: u32,
}

/// The masks of the fields that may be undefined, word by word.
#[derive(Clone, Debug)]
pub(super) struct PartialFields(Vec<Vec<u64>>);

impl PartialFields {
    pub(super) fn of(code: &Code, words: usize) -> Self {
        let mut fields = vec![Vec::new(); words];
        for slot in code.slots.iter().filter(|slot| slot.field.partial && slot.width > 0) {
            fields[slot.field.word as usize].push(slot.field.mask << slot.field.shift);
        }
        Self(fields)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(&self.0).flat_map(|(word, masks)| masks.iter().map(move |&mask| (word, mask)))
    }
    fn of_word(&self, word: u32) -> &[u64] {
        &self.0[word as usize]
    }
}

/// A copy of bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) from_word: u32,
    pub(super) from_mask: u64,
    pub(super) to_word: u32,
    pub(super) to_mask: u64,
}

/// The locations an address may point to.
enum Reach {
    /// Slots from the first to before the second.
    Slots(usize, usize),
    /// Cells of the frame.
    Frame,
    Anywhere,
}

impl<'a> Effects<'a> {
    pub(super) fn new(code: &'a Code, fields: &'a PartialFields, words: usize) -> Self {
        Self {
            code,
            fields,
            reads: BitSet::empty(words),
            writes: BitSet::empty(words),
            undefines: BitSet::empty(words),
            moves: Vec::new(),
            budget: NODE_LIMIT,
        }
    }

    /// Prepares for another query, whose answer is added.
    pub(super) fn refill(&mut self) {
        self.budget = NODE_LIMIT;
    }

    fn spend(&mut self) -> bool {
        if self.budget == 0 {
            self.everything();
            return false;
        }
        self.budget -= 1;
        true
    }

    fn everything(&mut self) {
        self.reads.add_everything();
        self.writes.add_everything();
        self.undefines.add_everything();
    }

    pub(super) fn test(&mut self, id: TestId) {
        let code = self.code;
        self.test_node(&code.tests[id]);
    }

    pub(super) fn test_node(&mut self, test: &Test) {
        if !self.spend() {
            return;
        }
        let code = self.code;
        match *test {
            Test::Constant(_) => {}
            // The reference interpreter may read anything.
            Test::Escape => self.everything(),
            Test::FieldIs { word, mask, .. } | Test::FieldIsNot { word, mask, .. } => self.reads.add(word, mask),
            Test::FieldIn { word, shift, mask, .. } => self.reads.add(word, u64::from(mask) << shift),
            Test::Compare { left, right, .. } => {
                self.value(left);
                self.value(right);
            }
            Test::Nonzero(value) | Test::Member { value, .. } => self.value(value),
            Test::Not(test) => self.test(test),
            Test::AllOf(list) | Test::AnyOf(list) => {
                for &test in code.test_lists.get(list) {
                    self.test(test);
                }
            }
            Test::Conditional { condition, then, otherwise } => {
                self.test(condition);
                self.test(then);
                self.test(otherwise);
            }
            Test::Quantified { range, body, .. } => {
                self.range(range);
                self.test(body);
            }
            Test::Undefined(address) | Test::Present(address) => self.read(address, 1),
            Test::SameContents { left, right, cells } => {
                self.read(left, cells);
                self.read(right, cells);
            }
        }
    }

    fn value(&mut self, id: ValueId) {
        if !self.spend() {
            return;
        }
        match self.code.values[id] {
            Value::Constant(_) | Value::Cell(_) => {}
            Value::Escape => self.everything(),
            Value::Field { word, shift, width, .. } => self.reads.add(word, ones(width) << shift),
            Value::Load(address) => self.read(address, 1),
            Value::Negate(value) | Value::Complement(value) | Value::Checked { value, .. } => self.value(value),
            Value::Binary { left, right, .. } => {
                self.value(left);
                self.value(right);
            }
            Value::Truth(test) => self.test(test),
            Value::Conditional { condition, then, otherwise } => {
                self.test(condition);
                self.value(then);
                self.value(otherwise);
            }
            Value::Count { multiset, capacity, stride, test, .. } => {
                self.read(multiset, capacity * stride);
                self.test(test);
            }
            Value::After { command, .. } => self.command(command),
        }
    }

    fn range(&mut self, id: LoopId) {
        if let LoopValues::Steps { from, to, step } = self.code.loops[id].values {
            self.value(from);
            self.value(to);
            if let Some(step) = step {
                self.value(step);
            }
        }
    }

    pub(super) fn command(&mut self, id: CommandId) {
        if !self.spend() {
            return;
        }
        let code = self.code;
        match code.commands[id] {
            Command::SetBits { word, mask, bits } => {
                self.writes.add(word, mask);
                for &field in self.fields.of_word(word) {
                    if field & mask != 0 && field & bits == 0 {
                        self.undefines.add(word, field);
                    }
                }
            }
            Command::SetField { word, shift, width, value, .. } => {
                self.value(value);
                self.writes.add(word, ones(width) << shift);
            }
            Command::MoveBits { from_word, from_shift, to_word, to_shift, width } => {
                let from_mask = ones(width) << from_shift;
                let to_mask = ones(width) << to_shift;
                self.reads.add(from_word, from_mask);
                self.writes.add(to_word, to_mask);
                self.moves.push(Move { from_word, from_mask, to_word, to_mask });
            }
            Command::SetCell { value, .. } => self.value(value),
            Command::Store { address, value, .. } => {
                self.value(value);
                self.write(address, 1, false);
            }
            Command::Copy { to, from, cells } => {
                self.read(from, cells);
                self.write(to, cells, true);
            }
            Command::CopyChecked { to, from, .. } => {
                self.read(from, 1);
                self.write(to, 1, true);
            }
            Command::Fill { address, template } => {
                let template = &code.templates[template];
                self.write(address, template.len() as u32, template.contains(&UNDEFINED));
            }
            Command::Bind { address, .. } => {
                // Effects through the reference are not tracked.
                self.address(address);
                self.everything();
            }
            Command::If { condition, then, otherwise } => {
                self.test(condition);
                self.command(then);
                self.command(otherwise);
            }
            Command::Sequence(list) => {
                for &command in code.command_lists.get(list) {
                    self.command(command);
                }
            }
            Command::While { condition, body, .. } => {
                self.test(condition);
                self.command(body);
            }
            Command::For { range, body } => {
                self.range(range);
                self.command(body);
            }
            Command::Return => {}
            Command::Unfolded(body) => self.command(body),
            Command::Assert(condition) | Command::Assume(condition) | Command::Cover { condition, .. } => {
                self.test(condition);
            }
            // An escape hides the effects of the reference interpreter.
            Command::Invoke { .. }
            | Command::MultisetAdd { .. }
            | Command::MultisetRemove { .. }
            | Command::MultisetRemoveIf { .. }
            | Command::Escape => self.everything(),
        }
    }

    fn read(&mut self, address: AddressId, cells: u32) {
        match self.address(address) {
            Reach::Slots(first, end) => {
                for slot in first..end - 1 + cells as usize {
                    let Some(slot) = self.code.slots.get(slot) else { return self.reads.add_everything() };
                    self.reads.add(slot.field.word, slot.field.mask << slot.field.shift);
                }
            }
            Reach::Frame => {}
            Reach::Anywhere => self.reads.add_everything(),
        }
    }

    fn write(&mut self, address: AddressId, cells: u32, undefines: bool) {
        match self.address(address) {
            Reach::Slots(first, end) => {
                for slot in first..end - 1 + cells as usize {
                    let Some(slot) = self.code.slots.get(slot) else { return self.everything() };
                    let mask = slot.field.mask << slot.field.shift;
                    self.writes.add(slot.field.word, mask);
                    if undefines {
                        self.undefines.add(slot.field.word, mask);
                    }
                }
            }
            Reach::Frame => {}
            Reach::Anywhere => self.everything(),
        }
    }

    /// The locations an address may point to; also adds the reads needed to compute it.
    fn address(&mut self, id: AddressId) -> Reach {
        if !self.spend() {
            return Reach::Anywhere;
        }
        match self.code.addresses[id] {
            Address::Slot(slot) => Reach::Slots(slot as usize, slot as usize + 1),
            Address::Frame(_) => Reach::Frame,
            Address::Offset { base, cells } => match self.address(base) {
                Reach::Slots(first, end) => Reach::Slots(first + cells as usize, end + cells as usize),
                other => other,
            },
            Address::SlotElement { slot, index, count, stride, .. } => {
                self.value(index);
                let last = count.saturating_sub(1) as usize * stride as usize;
                Reach::Slots(slot as usize, slot as usize + last + 1)
            }
            Address::Element { base, index, count, stride, .. } => {
                self.value(index);
                let last = count.saturating_sub(1) as usize * stride as usize;
                self.extend(base, last)
            }
            Address::ElementOf { base, index, domain, stride } => {
                self.value(index);
                let domain = &self.code.domains[domain];
                match domain.code_of(domain.high) {
                    Some(greatest) => self.extend(base, greatest as usize * stride as usize),
                    None => Reach::Anywhere,
                }
            }
            Address::After { command, address } => {
                self.command(command);
                self.address(address)
            }
            Address::Choice { condition, then, otherwise } => {
                self.test(condition);
                match (self.address(then), self.address(otherwise)) {
                    (Reach::Slots(first, end), Reach::Slots(other_first, other_end)) => {
                        Reach::Slots(first.min(other_first), end.max(other_end))
                    }
                    (Reach::Frame, Reach::Frame) => Reach::Frame,
                    _ => Reach::Anywhere,
                }
            }
            Address::Reference(_) | Address::AfterPresent(_) | Address::Escape => Reach::Anywhere,
        }
    }

    fn extend(&mut self, base: AddressId, last: usize) -> Reach {
        match self.address(base) {
            Reach::Slots(first, end) => Reach::Slots(first, end + last),
            other => other,
        }
    }
}

/// As many ones as a field is wide.
pub(super) fn ones(width: u8) -> u64 {
    if width == 0 { 0 } else { u64::MAX >> (64 - width) }
}

/// The partial fields that can be expected to have a value: those that have one in every given state and that no rule
/// leaves undefined. This is a guess that makes code fast; the code checks it before relying on it.
pub(super) fn expected_fields(effects: &Effects<'_>, states: &[Vec<u64>], words: usize) -> BitSet {
    let fields = effects.fields;
    let mut lacking = effects.undefines.clone();
    for state in states {
        for (word, mask) in fields.iter() {
            if state[word as usize] & mask == 0 {
                lacking.add(word, mask);
            }
        }
    }
    // A field copied from one that may be undefined may be undefined, too.
    loop {
        let before = lacking.clone();
        for copy in effects.moves.iter().filter(|copy| before.meets(copy.from_word, copy.from_mask)) {
            for &field in fields.of_word(copy.to_word).iter().filter(|&field| field & copy.to_mask != 0) {
                lacking.add(copy.to_word, field);
            }
        }
        if lacking == before {
            break;
        }
    }
    let mut expected = BitSet::empty(words);
    for (word, mask) in fields.iter().filter(|&(word, mask)| !lacking.meets(word, mask)) {
        expected.add(word, mask);
    }
    expected
}
