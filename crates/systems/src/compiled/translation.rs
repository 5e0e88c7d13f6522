//! From specialised code to Cranelift's representation, one function at a time.
//!
//! The words of the state are values in registers. A rule instance whose guard and body are short and always evaluate
//! is translated without a branch: its successor is always computed and written, and the end of the buffer moves only
//! if the guard holds. Which instances are enabled is hard to predict, so this saves more than it costs. Longer
//! instances branch on their guards. If few of many instances can be enabled at a time, tables show which (`dispatch`),
//! and the code jumps to these.
//!
//! Unusual cases jump to the *escape* of the function, and the evaluator repeats the work. What is not translated at
//! all is [`Unsupported`].

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, MemFlags, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use quotient_ir::BinaryOperator;
use rustc_hash::FxHashMap;

use super::bits::{BitSet, KnownBits};
use super::call::Table;
use super::dispatch::tests_of;
use super::effects::ones;
use super::plain::Plain;
use crate::evaluator::SpecialisedUnit;
use crate::evaluator::code::{Code, Command, CommandId, DomainId, SlotCode, Test, TestId, UNDEFINED, Value, ValueId};

mod groups;
mod guards;
mod loops;
mod places;

pub(super) use guards::Tail;

/// The evaluator has to run this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unsupported;

type Attempt<T> = Result<T, Unsupported>;

/// The largest number of instructions for which an instance is translated without a branch.
const BRANCHLESS_LIMIT: u32 = 40;
/// The largest number of instructions of tests that are evaluated together rather than one after the other.
const JOINT_LIMIT: u32 = 12;
/// The deepest nesting of nodes that is translated.
const DEPTH_LIMIT: u32 = 100;
/// The largest number of cells of a copy or comparison.
const CELL_LIMIT: u32 = 64;

/// A function under construction.
pub(super) struct Translator<'a, 'f> {
    pub(super) builder: FunctionBuilder<'f>,
    code: &'a Code,
    assured: &'a BitSet,
    /// The words of the current state. While a body is translated, those of its successor.
    words: Vec<Variable>,
    /// The state passed to the function, and its words.
    state: ir::Value,
    given: Vec<ir::Value>,
    /// The location of the current words, if they are in memory rather than in `words`: first the state, and while a
    /// body is translated, the record of its successor.
    base: Option<ir::Value>,
    /// Writes of constants that are not yet in `words`: mask and bits.
    pending: Vec<(u64, u64)>,
    /// What is known about the given words at the current point of the translation.
    known: KnownBits,
    cells: FxHashMap<u32, Variable>,
    escape: Block,
    /// The target of a failed assumption; the escape outside bodies.
    prune: Block,
    /// The target of a return; none where returns are not allowed.
    exit: Option<Block>,
    /// The end of the buffer.
    end: Option<Variable>,
    tables: &'a mut Vec<Table>,
    depth: u32,
    /// The number of nodes translated.
    pub(super) size: u32,
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Starts a function whose first argument is a state.
    pub(super) fn new(
        mut builder: FunctionBuilder<'f>,
        code: &'a Code,
        assured: &'a BitSet,
        tables: &'a mut Vec<Table>,
    ) -> Self {
        let count = assured.0.len();
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let state = builder.block_params(entry)[0];
        let flags = MemFlags::trusted().with_readonly();
        let given: Vec<ir::Value> =
            (0..count).map(|word| builder.ins().load(types::I64, flags, state, word as i32 * 8)).collect();
        let words = given
            .iter()
            .map(|&value| {
                let variable = builder.declare_var(types::I64);
                builder.def_var(variable, value);
                variable
            })
            .collect();
        let end = builder.block_params(entry).get(1).copied().map(|buffer| {
            let variable = builder.declare_var(types::I64);
            builder.def_var(variable, buffer);
            variable
        });
        let escape = builder.create_block();
        builder.set_cold_block(escape);
        Self {
            builder,
            code,
            assured,
            words,
            state,
            given,
            base: None,
            pending: vec![(0, 0); count],
            known: KnownBits::nothing(count),
            cells: FxHashMap::default(),
            escape,
            prune: escape,
            exit: None,
            end,
            tables,
            depth: 0,
            size: 0,
        }
    }

    fn plain(&self) -> Plain<'a> {
        Plain { code: self.code, assured: self.assured }
    }

    /// Jumps to the escape unless all expected fields have values.
    pub(super) fn require_expected(&mut self) {
        // For each word, the lowest bits of the fields of each width.
        let mut lowest: Vec<Vec<(u8, u64)>> = vec![Vec::new(); self.given.len()];
        for SlotCode { field, width, .. } in &self.code.slots {
            let mask = field.mask << field.shift;
            if field.partial && *width > 0 && self.assured.contains(field.word, mask) {
                let lowest = &mut lowest[field.word as usize];
                match lowest.iter_mut().find(|(other, _)| other == width) {
                    Some((_, bits)) => *bits |= 1 << field.shift,
                    None => lowest.push((*width, 1 << field.shift)),
                }
            }
        }
        let mut wrong: Option<ir::Value> = None;
        for (word, mut lowest) in lowest.into_iter().enumerate() {
            lowest.sort_unstable();
            let (mut folded, mut reach) = (self.given[word], 1);
            for (width, bits) in lowest {
                // Bit n of `folded` is set if any of the bits n, n + 1, … n + reach - 1 is.
                while reach < width {
                    let step = reach.min(width - reach);
                    let shifted = self.builder.ins().ushr_imm(folded, i64::from(step));
                    folded = self.builder.ins().bor(folded, shifted);
                    reach += step;
                }
                let constant = self.constant(bits as i64);
                let missing = self.builder.ins().band_not(constant, folded);
                wrong = Some(match wrong {
                    Some(before) => self.builder.ins().bor(before, missing),
                    None => missing,
                });
            }
        }
        if let Some(wrong) = wrong {
            let onward = self.builder.create_block();
            self.builder.ins().brif(wrong, self.escape, &[], onward, &[]);
            self.enter(onward);
        }
    }

    /// Ends an expansion.
    pub(super) fn finish_expansion(mut self, buffer: ir::Value) -> u32 {
        let end = self.builder.use_var(self.end.expect("an expansion has a buffer"));
        let bytes = self.builder.ins().isub(end, buffer);
        self.builder.ins().return_(&[bytes]);
        self.enter(self.escape);
        let minus_one = self.builder.ins().iconst(types::I64, -1);
        self.builder.ins().return_(&[minus_one]);
        self.finish()
    }

    /// Ends a check.
    pub(super) fn finish_check(mut self) -> u32 {
        let one = self.builder.ins().iconst(types::I64, 1);
        self.builder.ins().return_(&[one]);
        self.enter(self.escape);
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().return_(&[zero]);
        self.finish()
    }

    fn finish(mut self) -> u32 {
        self.builder.seal_all_blocks();
        self.builder.finalize();
        self.size
    }

    /// The buffer passed to an expansion.
    pub(super) fn buffer(&mut self) -> ir::Value {
        self.builder.use_var(self.end.expect("an expansion has a buffer"))
    }

    /// Jumps to the escape unless a test succeeds.
    pub(super) fn require(&mut self, test: TestId) -> Attempt<()> {
        let onward = self.builder.create_block();
        self.branch(test, onward, self.escape)?;
        self.enter(onward);
        Ok(())
    }

    /// Adds a rule instance. After an error the function must not be used.
    pub(super) fn instance(&mut self, unit: &SpecialisedUnit, tag: u64, tail: Tail) -> Attempt<()> {
        if unit.tests_write {
            return Err(Unsupported);
        }
        let body = unit.body.ok_or(Unsupported)?;
        self.begin_instance(unit);
        let tests = tests_of(self.code, unit);
        if let Some(cost) = self.branchless_cost(&tests, body)
            && cost <= BRANCHLESS_LIMIT
        {
            let enabled = self.conjunction(&tests)?;
            self.learn_all(&tests);
            self.straight(body)?;
            self.write_successor(tag);
            let stride = 8 * (self.words.len() as i64 + 1);
            let stride = self.constant(stride);
            let zero = self.constant(0);
            let step = match enabled {
                Some(enabled) => self.builder.ins().select(enabled, stride, zero),
                None => stride,
            };
            self.advance(step);
            return Ok(());
        }
        let next = self.builder.create_block();
        let positions: Vec<usize> = (0..tests.len()).collect();
        self.guard(unit, &positions, tail, next)?;
        self.learn_all(&tests);
        self.branching_body(body, tag, next)?;
        self.enter(next);
        Ok(())
    }

    /// Resets what the previous instance left.
    fn begin_instance(&mut self, unit: &SpecialisedUnit) {
        self.cells.clear();
        self.pending.fill((0, 0));
        self.known = KnownBits::nothing(self.given.len());
        if self.base.is_none() {
            for word in 0..self.words.len() {
                self.builder.def_var(self.words[word], self.given[word]);
            }
        }
        if unit.reads_parameters {
            for (cell, &argument) in (0..).zip(&unit.arguments) {
                let value = self.constant(argument);
                self.set_cell(cell, value);
            }
        }
    }

    /// The body of an enabled instance, followed by a jump to `next`.
    fn branching_body(&mut self, body: CommandId, tag: u64, next: Block) -> Attempt<()> {
        let done = self.builder.create_block();
        self.exit = Some(done);
        self.prune = next;
        if self.base.is_some() {
            let end = self.builder.use_var(self.end.expect("an expansion has a buffer"));
            self.copy_state(end);
            self.base = Some(end);
        }
        self.command(body)?;
        self.flush_all();
        self.exit = None;
        self.prune = self.escape;
        self.builder.ins().jump(done, &[]);
        self.enter(done);
        self.write_successor(tag);
        let stride = self.constant(8 * (self.words.len() as i64 + 1));
        self.advance(stride);
        self.builder.ins().jump(next, &[]);
        Ok(())
    }

    fn learn_all(&mut self, tests: &[Test]) {
        for test in tests {
            if let Test::FieldIs { word, mask, pattern, .. } = *test {
                self.known.learn(word, mask, pattern);
            }
        }
    }

    /// The cost of guard and body without a branch; `None` if they need one.
    fn branchless_cost(&self, tests: &[Test], body: CommandId) -> Option<u32> {
        let mut cost = 0;
        for test in tests {
            cost += self.plain().test_node_cost(test)?;
        }
        Some(cost + self.straight_cost(body)?)
    }

    fn straight_cost(&self, id: CommandId) -> Option<u32> {
        match self.code.commands[id] {
            Command::SetBits { .. } => Some(2),
            Command::MoveBits { .. } => Some(6),
            Command::SetField { value, domain, .. } => {
                let (low, high) = self.plain().range(value)?;
                let domain = &self.code.domains[domain];
                (domain.low <= low && high <= domain.high).then_some(())?;
                Some(5 + self.plain().value_cost(value)?)
            }
            Command::Sequence(list) => {
                let mut cost = 0;
                for &command in self.code.command_lists.get(list) {
                    cost += self.straight_cost(command)?;
                    if cost > BRANCHLESS_LIMIT {
                        return None;
                    }
                }
                Some(cost)
            }
            _ => None,
        }
    }

    /// A body without branches.
    fn straight(&mut self, body: CommandId) -> Attempt<()> {
        self.command(body)?;
        self.flush_all();
        Ok(())
    }

    /// Writes the words and the tag to the end of the buffer.
    fn write_successor(&mut self, tag: u64) {
        let end = self.builder.use_var(self.end.expect("an expansion has a buffer"));
        let flags = MemFlags::trusted();
        if self.base.is_none() {
            for word in 0..self.words.len() {
                let value = self.builder.use_var(self.words[word]);
                self.builder.ins().store(flags, value, end, word as i32 * 8);
            }
        }
        let tag = self.constant(tag as i64);
        self.builder.ins().store(flags, tag, end, self.words.len() as i32 * 8);
    }

    fn advance(&mut self, step: ir::Value) {
        let end = self.end.expect("an expansion has a buffer");
        let value = self.builder.use_var(end);
        let value = self.builder.ins().iadd(value, step);
        self.builder.def_var(end, value);
    }

    fn enter(&mut self, block: Block) {
        self.builder.switch_to_block(block);
    }

    fn constant(&mut self, value: i64) -> ir::Value {
        self.builder.ins().iconst(types::I64, value)
    }

    /// Counts a node, up to a nesting limit.
    fn nested<T>(&mut self, translate: impl FnOnce(&mut Self) -> Attempt<T>) -> Attempt<T> {
        if self.depth == DEPTH_LIMIT {
            return Err(Unsupported);
        }
        self.depth += 1;
        self.size += 1;
        let result = translate(self);
        self.depth -= 1;
        result
    }

    // Words, fields and cells.

    /// A word with all writes so far.
    fn word(&mut self, word: u32) -> ir::Value {
        self.flush(word);
        self.current(word)
    }

    /// A word without the pending writes.
    fn current(&mut self, word: u32) -> ir::Value {
        match self.base {
            None => self.builder.use_var(self.words[word as usize]),
            Some(base) => self.builder.ins().load(types::I64, MemFlags::trusted(), base, word as i32 * 8),
        }
    }

    fn put(&mut self, word: u32, value: ir::Value) {
        match self.base {
            None => self.builder.def_var(self.words[word as usize], value),
            Some(base) => {
                self.builder.ins().store(MemFlags::trusted(), value, base, word as i32 * 8);
            }
        }
    }

    fn set_word(&mut self, word: u32, value: ir::Value) {
        self.put(word, value);
        self.known.forget(word, u64::MAX);
    }

    /// Puts the pending writes of a word into it.
    fn flush(&mut self, word: u32) {
        let index = word as usize;
        let (mask, bits) = std::mem::take(&mut self.pending[index]);
        if mask == 0 {
            return;
        }
        let before = self.current(word);
        let value = if self.known.mask[index] & mask == mask {
            let change = (self.known.bits[index] ^ bits) & mask;
            self.toggle(before, change)
        } else if bits == mask {
            let constant = self.constant(bits as i64);
            self.builder.ins().bor(before, constant)
        } else {
            let constant = self.constant(!mask as i64);
            let cleared = self.builder.ins().band(before, constant);
            if bits == 0 {
                cleared
            } else {
                let constant = self.constant(bits as i64);
                self.builder.ins().bor(cleared, constant)
            }
        };
        self.put(word, value);
        self.known.learn(word, mask, bits);
    }

    fn toggle(&mut self, value: ir::Value, change: u64) -> ir::Value {
        if change == 0 {
            return value;
        }
        let constant = self.constant(change as i64);
        self.builder.ins().bxor(value, constant)
    }

    fn flush_all(&mut self) {
        for word in 0..self.words.len() {
            self.flush(word as u32);
        }
    }

    /// The bits of a field, shifted right.
    fn field(&mut self, word: u32, shift: u8, mask: u64) -> ir::Value {
        let value = self.word(word);
        let shifted = if shift == 0 { value } else { self.builder.ins().ushr_imm(value, i64::from(shift)) };
        if mask == u64::MAX >> shift { shifted } else { self.builder.ins().band_imm(shifted, mask as i64) }
    }

    /// Whether masked bits of a word equal a pattern.
    fn masked_compare(&mut self, condition: IntCC, word: u32, mask: u64, pattern: u64) -> ir::Value {
        // Narrow constants make short instructions.
        let shift = if mask <= 0x7fff_ffff { 0 } else { mask.trailing_zeros() as u8 };
        let field = self.field(word, shift, mask >> shift);
        let constant = self.constant((pattern >> shift) as i64);
        self.builder.ins().icmp(condition, field, constant)
    }

    fn put_field(&mut self, word: u32, shift: u8, mask: u64, bits: ir::Value) {
        let before = self.word(word);
        let cleared = self.constant(!(mask << shift) as i64);
        let cleared = self.builder.ins().band(before, cleared);
        let moved = if shift == 0 { bits } else { self.builder.ins().ishl_imm(bits, i64::from(shift)) };
        let after = self.builder.ins().bor(cleared, moved);
        self.set_word(word, after);
    }

    fn cell(&mut self, cell: u32) -> Variable {
        let builder = &mut self.builder;
        *self.cells.entry(cell).or_insert_with(|| builder.declare_var(types::I64))
    }

    fn set_cell(&mut self, cell: u32, value: ir::Value) {
        let variable = self.cell(cell);
        self.builder.def_var(variable, value);
    }

    fn escape_if(&mut self, condition: ir::Value) {
        let onward = self.builder.create_block();
        self.builder.ins().brif(condition, self.escape, &[], onward, &[]);
        self.enter(onward);
    }

    fn escape_unless(&mut self, condition: ir::Value) {
        let onward = self.builder.create_block();
        self.builder.ins().brif(condition, onward, &[], self.escape, &[]);
        self.enter(onward);
    }

    /// Escapes unconditionally; what follows is not reached.
    fn escape_always(&mut self) {
        self.builder.ins().jump(self.escape, &[]);
        let unreachable = self.builder.create_block();
        self.enter(unreachable);
    }

    /// Escapes unless a value is between two numbers.
    fn require_range(&mut self, value: ir::Value, low: i64, high: i64) {
        // One unsigned comparison: values below the range wrap around to above it.
        let width = high.wrapping_sub(low);
        let low = self.constant(low);
        let distance = self.builder.ins().isub(value, low);
        let width = self.constant(width);
        let fits = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, distance, width);
        self.escape_unless(fits);
    }

    fn require_defined(&mut self, value: ir::Value) {
        let undefined = self.constant(UNDEFINED);
        let lacking = self.builder.ins().icmp(IntCC::Equal, value, undefined);
        self.escape_if(lacking);
    }

    /// Escapes unless the value of an expression is between two numbers; no check if it always is.
    fn require_domain(&mut self, id: ValueId, value: ir::Value, domain: DomainId) -> Attempt<()> {
        let domain = &self.code.domains[domain];
        if !domain.is_interval() {
            return Err(Unsupported);
        }
        let fits = self.plain().range(id).is_some_and(|(low, high)| domain.low <= low && high <= domain.high);
        if !fits {
            self.require_range(value, domain.low, domain.high);
        }
        Ok(())
    }

    // Tests.

    /// The conjunction of tests that need no branch; `None` if it is true.
    fn conjunction(&mut self, tests: &[Test]) -> Attempt<Option<ir::Value>> {
        let mut result = None;
        let mut position = 0;
        while position < tests.len() {
            let value = match tests[position] {
                Test::Constant(true) => {
                    position += 1;
                    continue;
                }
                Test::FieldIs { word, mut mask, mut pattern, .. } => {
                    // Fields of the same word are compared together.
                    let mut contradiction = false;
                    while let Some(&Test::FieldIs { word: other, mask: more, pattern: others, .. }) =
                        tests.get(position + 1)
                        && other == word
                    {
                        contradiction |= (pattern ^ others) & mask & more != 0;
                        mask |= more;
                        pattern |= others;
                        position += 1;
                    }
                    if contradiction {
                        self.builder.ins().iconst(types::I8, 0)
                    } else {
                        self.masked_compare(IntCC::Equal, word, mask, pattern)
                    }
                }
                ref test => self.plain_test(test)?,
            };
            position += 1;
            result = Some(match result {
                Some(before) => self.builder.ins().band(before, value),
                None => value,
            });
        }
        Ok(result)
    }

    /// A test that needs no branch, as 1 or 0.
    fn plain_test(&mut self, test: &Test) -> Attempt<ir::Value> {
        let test = *test;
        self.nested(|translator| translator.plain_test_node(test))
    }

    fn plain_test_node(&mut self, test: Test) -> Attempt<ir::Value> {
        let code = self.code;
        Ok(match test {
            Test::Constant(value) => self.builder.ins().iconst(types::I8, i64::from(value)),
            Test::FieldIs { word, mask, pattern, .. } => self.masked_compare(IntCC::Equal, word, mask, pattern),
            Test::FieldIsNot { word, mask, pattern, .. } => self.masked_compare(IntCC::NotEqual, word, mask, pattern),
            Test::FieldIn { word, shift, mask, set, .. } => self.membership(word, shift, mask, set),
            Test::Compare { operator, left, right } => {
                let condition = condition_of(operator).ok_or(Unsupported)?;
                let left = self.value(left)?;
                let right = self.value(right)?;
                self.builder.ins().icmp(condition, left, right)
            }
            Test::Nonzero(value) => {
                let value = self.value(value)?;
                let zero = self.constant(0);
                self.builder.ins().icmp(IntCC::NotEqual, value, zero)
            }
            Test::Not(test) => {
                let value = self.plain_test(&code.tests[test])?;
                self.builder.ins().bxor_imm(value, 1)
            }
            Test::AllOf(list) => {
                let tests: Vec<Test> = code.test_lists.get(list).iter().map(|&test| code.tests[test]).collect();
                match self.conjunction(&tests)? {
                    Some(value) => value,
                    None => self.builder.ins().iconst(types::I8, 1),
                }
            }
            Test::AnyOf(list) => {
                let mut result = None;
                for &test in code.test_lists.get(list) {
                    let value = self.plain_test(&code.tests[test])?;
                    result = Some(match result {
                        Some(before) => self.builder.ins().bor(before, value),
                        None => value,
                    });
                }
                match result {
                    Some(value) => value,
                    None => self.builder.ins().iconst(types::I8, 0),
                }
            }
            Test::Conditional { condition, then, otherwise } => {
                let condition = self.plain_test(&code.tests[condition])?;
                let then = self.plain_test(&code.tests[then])?;
                let otherwise = self.plain_test(&code.tests[otherwise])?;
                self.builder.ins().select(condition, then, otherwise)
            }
            Test::Undefined(address) => {
                let value = self.load(address)?;
                let undefined = self.constant(UNDEFINED);
                self.builder.ins().icmp(IntCC::Equal, value, undefined)
            }
            Test::Member { value, domain } => {
                let domain = &code.domains[domain];
                let value = self.value(value)?;
                let low = self.constant(domain.low);
                let distance = self.builder.ins().isub(value, low);
                let width = self.constant(domain.high.wrapping_sub(domain.low));
                self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, distance, width)
            }
            _ => return Err(Unsupported),
        })
    }

    fn membership(&mut self, word: u32, shift: u8, mask: u8, set: u64) -> ir::Value {
        let found = self.field(word, shift, u64::from(mask));
        let set = self.constant(set as i64);
        let moved = self.builder.ins().ushr(set, found);
        let bit = self.builder.ins().band_imm(moved, 1);
        self.builder.ins().ireduce(types::I8, bit)
    }

    /// Jumps to one of two blocks.
    fn branch(&mut self, id: TestId, then: Block, otherwise: Block) -> Attempt<()> {
        let code = self.code;
        self.branch_node(&code.tests[id], then, otherwise)
    }

    fn branch_node(&mut self, test: &Test, then: Block, otherwise: Block) -> Attempt<()> {
        let test = *test;
        self.nested(|translator| translator.branch_on(test, then, otherwise))
    }

    /// Jumps to one of two blocks. Writes of the expression so far are the same on both paths.
    fn fork(&mut self, condition: ir::Value, then: Block, otherwise: Block) {
        self.flush_all();
        self.builder.ins().brif(condition, then, &[], otherwise, &[]);
    }

    fn branch_on(&mut self, test: Test, then: Block, otherwise: Block) -> Attempt<()> {
        // Pending writes must be done on all paths alike.
        self.flush_all();
        let code = self.code;
        if let Some(cost) = self.plain().test_node_cost(&test)
            && (cost <= JOINT_LIMIT || !matches!(test, Test::AllOf(_) | Test::AnyOf(_)))
        {
            let value = self.plain_test_node(test)?;
            self.fork(value, then, otherwise);
            return Ok(());
        }
        match test {
            Test::FieldIs { word, mask, pattern, .. } | Test::FieldIsNot { word, mask, pattern, .. } => {
                // A field that may be undefined: zero.
                let positive = matches!(test, Test::FieldIs { .. });
                let (equal, different) = if positive { (then, otherwise) } else { (otherwise, then) };
                let shift = if mask <= 0x7fff_ffff { 0 } else { mask.trailing_zeros() as u8 };
                let field = self.field(word, shift, mask >> shift);
                let constant = self.constant((pattern >> shift) as i64);
                let same = self.builder.ins().icmp(IntCC::Equal, field, constant);
                let other = self.builder.create_block();
                self.builder.ins().brif(same, equal, &[], other, &[]);
                self.enter(other);
                self.builder.ins().brif(field, different, &[], self.escape, &[]);
            }
            Test::FieldIn { word, shift, mask, set, .. } => {
                let found = self.field(word, shift, u64::from(mask));
                let onward = self.builder.create_block();
                self.builder.ins().brif(found, onward, &[], self.escape, &[]);
                self.enter(onward);
                let value = self.membership(word, shift, mask, set);
                self.fork(value, then, otherwise);
            }
            Test::Compare { operator, left, right } => {
                let condition = condition_of(operator).ok_or(Unsupported)?;
                let left = self.value(left)?;
                let right = self.value(right)?;
                let value = self.builder.ins().icmp(condition, left, right);
                self.fork(value, then, otherwise);
            }
            Test::Nonzero(value) => {
                let value = self.value(value)?;
                self.fork(value, then, otherwise);
            }
            Test::Not(test) => self.branch(test, otherwise, then)?,
            Test::AllOf(list) => {
                let tests: Vec<Test> = code.test_lists.get(list).iter().map(|&test| code.tests[test]).collect();
                self.tests_in_order(&tests, otherwise)?;
                self.builder.ins().jump(then, &[]);
            }
            Test::AnyOf(list) => {
                for &test in code.test_lists.get(list) {
                    let onward = self.builder.create_block();
                    self.branch(test, then, onward)?;
                    self.enter(onward);
                }
                self.builder.ins().jump(otherwise, &[]);
            }
            Test::Conditional { condition, then: if_true, otherwise: if_false } => {
                let true_block = self.builder.create_block();
                let false_block = self.builder.create_block();
                self.branch(condition, true_block, false_block)?;
                self.enter(true_block);
                self.branch(if_true, then, otherwise)?;
                self.enter(false_block);
                self.branch(if_false, then, otherwise)?;
            }
            Test::Undefined(address) => {
                let value = self.load(address)?;
                let undefined = self.constant(UNDEFINED);
                let lacking = self.builder.ins().icmp(IntCC::Equal, value, undefined);
                self.fork(lacking, then, otherwise);
            }
            Test::Member { value, domain } => {
                if !code.domains[domain].is_interval() {
                    return Err(Unsupported);
                }
                let value = self.plain_test_node(Test::Member { value, domain })?;
                self.fork(value, then, otherwise);
            }
            Test::SameContents { left, right, cells } => {
                if cells > CELL_LIMIT {
                    return Err(Unsupported);
                }
                let left = self.place(left)?;
                let right = self.place(right)?;
                for cell in 0..cells {
                    let left = self.load_place(&self.after(&left, cell))?;
                    let right = self.load_place(&self.after(&right, cell))?;
                    let same = self.builder.ins().icmp(IntCC::Equal, left, right);
                    let onward = self.builder.create_block();
                    self.fork(same, onward, otherwise);
                    self.enter(onward);
                }
                self.builder.ins().jump(then, &[]);
            }
            Test::Escape => {
                self.builder.ins().jump(self.escape, &[]);
            }
            Test::Constant(_) | Test::Quantified { .. } | Test::Present(_) => return Err(Unsupported),
        }
        Ok(())
    }

    // Values.

    fn value(&mut self, id: ValueId) -> Attempt<ir::Value> {
        self.nested(|translator| translator.value_node(id))
    }

    fn value_node(&mut self, id: ValueId) -> Attempt<ir::Value> {
        let code = self.code;
        Ok(match code.values[id] {
            Value::Constant(value) => self.constant(value),
            Value::Field { word, shift, width, partial, offset } => {
                let mask = ones(width);
                let found = self.field(word, shift, mask);
                if !self.plain().has_value(word, mask << shift, partial) {
                    let onward = self.builder.create_block();
                    self.builder.ins().brif(found, onward, &[], self.escape, &[]);
                    self.enter(onward);
                }
                if offset == 0 { found } else { self.builder.ins().iadd_imm(found, offset) }
            }
            Value::Cell(cell) => {
                let variable = self.cell(cell);
                let value = self.builder.use_var(variable);
                self.require_defined(value);
                value
            }
            Value::Load(address) => {
                let place = self.place(address)?;
                let value = self.load_place(&place)?;
                if self.may_lack_value(&place)? {
                    self.require_defined(value);
                }
                value
            }
            Value::Negate(operand) => {
                let value = self.value(operand)?;
                self.require_defined(value);
                self.builder.ins().ineg(value)
            }
            Value::Complement(operand) => {
                let value = self.value(operand)?;
                self.builder.ins().bnot(value)
            }
            Value::Binary { operator, left, right } => {
                let fits = self.plain().range(id).is_some();
                let left = self.value(left)?;
                let right_value = self.value(right)?;
                self.calculate(operator, left, right, right_value, fits)?
            }
            Value::Truth(test) => {
                if self.plain().test_cost(test).is_some() {
                    let value = self.plain_test(&code.tests[test])?;
                    self.builder.ins().uextend(types::I64, value)
                } else {
                    let result = self.builder.declare_var(types::I64);
                    let (then, otherwise, joined) = self.three_blocks();
                    self.branch(test, then, otherwise)?;
                    for (block, number) in [(then, 1), (otherwise, 0)] {
                        self.enter(block);
                        let value = self.constant(number);
                        self.builder.def_var(result, value);
                        self.builder.ins().jump(joined, &[]);
                    }
                    self.enter(joined);
                    self.builder.use_var(result)
                }
            }
            Value::Conditional { condition, then, otherwise } => {
                if self.plain().value_cost(id).is_some_and(|cost| cost <= JOINT_LIMIT) {
                    let condition = self.plain_test(&code.tests[condition])?;
                    let then = self.value(then)?;
                    let otherwise = self.value(otherwise)?;
                    return Ok(self.builder.ins().select(condition, then, otherwise));
                }
                let result = self.builder.declare_var(types::I64);
                let (then_block, otherwise_block, joined) = self.three_blocks();
                self.branch(condition, then_block, otherwise_block)?;
                let known = self.known.clone();
                for (block, value) in [(then_block, then), (otherwise_block, otherwise)] {
                    self.enter(block);
                    self.known = known.clone();
                    let value = self.value(value)?;
                    self.builder.def_var(result, value);
                    self.flush_all();
                    self.builder.ins().jump(joined, &[]);
                }
                self.known = KnownBits::nothing(self.given.len());
                self.enter(joined);
                self.builder.use_var(result)
            }
            Value::Checked { value, domain } => {
                let found = self.value(value)?;
                self.require_domain(value, found, domain)?;
                found
            }
            Value::After { command, cell } => {
                self.before(command)?;
                let variable = self.cell(cell);
                let value = self.builder.use_var(variable);
                self.require_defined(value);
                value
            }
            Value::Escape => {
                self.escape_always();
                self.constant(0)
            }
            Value::Count { .. } => return Err(Unsupported),
        })
    }

    fn three_blocks(&mut self) -> (Block, Block, Block) {
        (self.builder.create_block(), self.builder.create_block(), self.builder.create_block())
    }

    fn calculate(
        &mut self,
        operator: BinaryOperator,
        left: ir::Value,
        right_id: ValueId,
        right: ir::Value,
        fits: bool,
    ) -> Attempt<ir::Value> {
        if let Some(condition) = condition_of(operator).filter(|_| operator.is_comparison()) {
            let value = self.builder.ins().icmp(condition, left, right);
            return Ok(self.builder.ins().uextend(types::I64, value));
        }
        Ok(match operator {
            BinaryOperator::Add if fits => self.builder.ins().iadd(left, right),
            BinaryOperator::Subtract if fits => self.builder.ins().isub(left, right),
            BinaryOperator::Multiply if fits => self.builder.ins().imul(left, right),
            BinaryOperator::Add => {
                let (value, overflow) = self.builder.ins().sadd_overflow(left, right);
                self.escape_if(overflow);
                value
            }
            BinaryOperator::Subtract => {
                let (value, overflow) = self.builder.ins().ssub_overflow(left, right);
                self.escape_if(overflow);
                value
            }
            BinaryOperator::Multiply => {
                let (value, overflow) = self.builder.ins().smul_overflow(left, right);
                self.escape_if(overflow);
                value
            }
            BinaryOperator::Divide | BinaryOperator::Remainder => {
                // The only exceptional divisors are 0 and -1.
                let Value::Constant(divisor) = self.code.values[right_id] else { return Err(Unsupported) };
                if divisor == 0 || divisor == -1 {
                    return Err(Unsupported);
                }
                if operator == BinaryOperator::Divide {
                    self.builder.ins().sdiv(left, right)
                } else {
                    self.builder.ins().srem(left, right)
                }
            }
            BinaryOperator::BitAnd => self.builder.ins().band(left, right),
            BinaryOperator::BitOr => self.builder.ins().bor(left, right),
            BinaryOperator::BitXor => self.builder.ins().bxor(left, right),
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                let Value::Constant(count @ 0..64) = self.code.values[right_id] else { return Err(Unsupported) };
                if operator == BinaryOperator::ShiftLeft {
                    self.builder.ins().ishl_imm(left, count)
                } else {
                    self.builder.ins().sshr_imm(left, count)
                }
            }
            _ => return Err(Unsupported),
        })
    }

    // Commands.

    fn command(&mut self, id: CommandId) -> Attempt<()> {
        self.nested(|translator| translator.command_node(id))
    }

    /// A command inside an expression. There may be several paths out of an expression, of which this is one, so
    /// nothing learnt here may be relied on later.
    fn before(&mut self, id: CommandId) -> Attempt<()> {
        self.command(id)?;
        self.flush_all();
        self.known = KnownBits::nothing(self.given.len());
        Ok(())
    }

    fn command_node(&mut self, id: CommandId) -> Attempt<()> {
        let code = self.code;
        match code.commands[id] {
            Command::SetBits { word, mask, bits } => {
                let (before_mask, before_bits) = self.pending[word as usize];
                self.pending[word as usize] = (before_mask | mask, before_bits & !mask | bits);
            }
            Command::SetField { word, shift, width, partial, value, domain } => {
                let found = self.value(value)?;
                self.require_domain(value, found, domain)?;
                if width == 0 {
                    return Ok(());
                }
                let offset = code.domains[domain].low.wrapping_sub(i64::from(partial));
                let bits = if offset == 0 { found } else { self.builder.ins().iadd_imm(found, offset.wrapping_neg()) };
                self.put_field(word, shift, ones(width), bits);
            }
            Command::MoveBits { from_word, from_shift, to_word, to_shift, width } => {
                if width == 0 {
                    return Ok(());
                }
                let bits = self.field(from_word, from_shift, ones(width));
                self.put_field(to_word, to_shift, ones(width), bits);
            }
            Command::SetCell { cell, value, domain } => {
                let found = self.value(value)?;
                self.require_domain(value, found, domain)?;
                self.set_cell(cell, found);
            }
            Command::Store { address, value, domain } => {
                let place = self.place(address)?;
                let found = self.value(value)?;
                self.require_domain(value, found, domain)?;
                self.store_place(&place, found, true)?;
            }
            Command::Copy { to, from, cells } => {
                if cells > CELL_LIMIT {
                    return Err(Unsupported);
                }
                let to = self.place(to)?;
                let from = self.place(from)?;
                for cell in 0..cells {
                    let value = self.load_place(&self.after(&from, cell))?;
                    self.store_place(&self.after(&to, cell), value, false)?;
                }
            }
            Command::CopyChecked { to, from, domain } => {
                let domain = &code.domains[domain];
                if !domain.is_interval() {
                    return Err(Unsupported);
                }
                let to = self.place(to)?;
                let from = self.place(from)?;
                let value = self.load_place(&from)?;
                let undefined = self.constant(UNDEFINED);
                let lacking = self.builder.ins().icmp(IntCC::Equal, value, undefined);
                let least = self.constant(domain.low);
                let checked = self.builder.ins().select(lacking, least, value);
                self.require_range(checked, domain.low, domain.high);
                self.store_place(&to, value, false)?;
            }
            Command::Fill { address, template } => {
                let template = &code.templates[template];
                if template.len() > CELL_LIMIT as usize {
                    return Err(Unsupported);
                }
                let place = self.place(address)?;
                for (offset, &value) in (0..).zip(template.iter()) {
                    let value = self.constant(value);
                    self.store_place(&self.after(&place, offset), value, false)?;
                }
            }
            Command::If { condition, then, otherwise } => {
                let (then_block, otherwise_block, joined) = self.three_blocks();
                self.branch(condition, then_block, otherwise_block)?;
                let known = self.known.clone();
                for (block, command) in [(then_block, then), (otherwise_block, otherwise)] {
                    self.enter(block);
                    self.known = known.clone();
                    self.command(command)?;
                    self.flush_all();
                    self.builder.ins().jump(joined, &[]);
                }
                self.known = KnownBits::nothing(self.given.len());
                self.enter(joined);
            }
            Command::Sequence(list) => {
                for &command in code.command_lists.get(list) {
                    self.command(command)?;
                }
            }
            Command::Return => {
                let exit = self.exit.ok_or(Unsupported)?;
                self.flush_all();
                self.builder.ins().jump(exit, &[]);
                let unreachable = self.builder.create_block();
                self.enter(unreachable);
            }
            Command::Unfolded(body) => {
                let joined = self.builder.create_block();
                let exit = self.exit.replace(joined);
                self.command(body)?;
                self.flush_all();
                self.exit = exit;
                self.builder.ins().jump(joined, &[]);
                self.known = KnownBits::nothing(self.given.len());
                self.enter(joined);
            }
            Command::Assert(condition) => {
                let onward = self.builder.create_block();
                self.branch(condition, onward, self.escape)?;
                self.enter(onward);
            }
            Command::Assume(condition) => {
                let onward = self.builder.create_block();
                self.branch(condition, onward, self.prune)?;
                self.enter(onward);
            }
            Command::Escape => self.escape_always(),
            Command::While { condition, body, .. } => self.repeat_while(condition, body)?,
            Command::For { range, body } => self.repeat_for(range, body)?,
            Command::Bind { .. }
            | Command::Invoke { .. }
            | Command::Cover { .. }
            | Command::MultisetAdd { .. }
            | Command::MultisetRemove { .. }
            | Command::MultisetRemoveIf { .. } => return Err(Unsupported),
        }
        Ok(())
    }
}

fn condition_of(operator: BinaryOperator) -> Option<IntCC> {
    Some(match operator {
        BinaryOperator::Equal => IntCC::Equal,
        BinaryOperator::NotEqual => IntCC::NotEqual,
        BinaryOperator::Less => IntCC::SignedLessThan,
        BinaryOperator::LessOrEqual => IntCC::SignedLessThanOrEqual,
        BinaryOperator::Greater => IntCC::SignedGreaterThan,
        BinaryOperator::GreaterOrEqual => IntCC::SignedGreaterThanOrEqual,
        _ => return None,
    })
}
