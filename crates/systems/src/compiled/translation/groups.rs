//! Groups of instances of which few are enabled at a time: a loop over those that the tables leave.

use cranelift_codegen::ir::{self, Block, InstBuilder, JumpTableData, MemFlags, types};
use cranelift_frontend::Variable;

use super::super::call::Table;
use super::super::dispatch::{Dispatch, FieldTable, GROUP, tests_of};
use super::{Attempt, BRANCHLESS_LIMIT, Tail, Translator, Unsupported};
use crate::evaluator::SpecialisedUnit;

/// The largest number of words of a state that instances of a group keep in registers.
const REGISTER_LIMIT: usize = 4;
/// The largest number of nodes of an instance of a group; the evaluator runs larger ones.
const INSTANCE_LIMIT: u32 = 1500;

impl Translator<'_, '_> {
    /// Adds a group of instances that are selected by tables. The evaluator runs those that are left out, and those
    /// that meet an unusual case. After an error the function must not be used; the error says which instance has to be
    /// left out.
    pub(in super::super) fn group(
        &mut self,
        dispatch: Dispatch,
        instances: &[(&SpecialisedUnit, u64, Tail)],
        left_out: &[bool],
        in_memory: bool,
    ) -> Result<(), usize> {
        let entry = self.builder.func.layout.entry_block().expect("a function has an entry");
        let [_, buffer, asked] = self.builder.block_params(entry)[..] else { return Err(0) };
        let all = self.constant((u64::MAX >> (GROUP - instances.len())) as i64);
        let mut enabled = self.builder.ins().band(asked, all);
        for FieldTable { word, shift, mask, enabled: table } in dispatch.tables {
            let content = self.field(word, shift, mask);
            let offset = self.builder.ins().ishl_imm(content, 3);
            let address = self.constant(table.as_ptr() as usize as i64);
            self.tables.push(Table::Masks(table));
            let address = self.builder.ins().iadd(address, offset);
            let entry = self.builder.ins().load(types::I64, MemFlags::trusted().with_readonly(), address, 0);
            enabled = self.builder.ins().band(enabled, entry);
        }
        let left = self.builder.declare_var(types::I64);
        self.builder.def_var(left, enabled);
        let (head, choice, done) = self.three_blocks();
        self.builder.ins().jump(head, &[]);
        self.enter(head);
        let enabled = self.builder.use_var(left);
        self.builder.ins().brif(enabled, choice, &[], done, &[]);
        self.enter(choice);
        let first = self.builder.ins().ctz(enabled);
        let less = self.builder.ins().iadd_imm(enabled, -1);
        let rest = self.builder.ins().band(enabled, less);
        self.builder.def_var(left, rest);
        let blocks: Vec<Block> = instances.iter().map(|_| self.builder.create_block()).collect();
        let calls: Vec<ir::BlockCall> =
            blocks.iter().map(|&block| self.builder.func.dfg.block_call(block, &[])).collect();
        let default = self.builder.func.dfg.block_call(self.escape, &[]);
        let table = self.builder.create_jump_table(JumpTableData::new(default, &calls));
        let first = self.builder.ins().ireduce(types::I32, first);
        self.builder.ins().br_table(first, table);
        for (number, (&(unit, tag, tail), rest)) in instances.iter().zip(&dispatch.rest).enumerate() {
            self.enter(blocks[number]);
            let function_escape = self.escape;
            if left_out[number] {
                self.pause(buffer, number, left);
                continue;
            }
            self.escape = self.builder.create_block();
            self.builder.set_cold_block(self.escape);
            self.prune = self.escape;
            let before = self.size;
            // Separate loads for each instance relieve register pressure.
            if in_memory || self.words.len() > REGISTER_LIMIT {
                self.base = Some(self.state);
            } else {
                let flags = MemFlags::trusted();
                for word in 0..self.words.len() {
                    self.given[word] = self.builder.ins().load(types::I64, flags, self.state, word as i32 * 8);
                }
            }
            self.grouped_instance((unit, tag, tail), rest, head).map_err(|Unsupported| number)?;
            if self.size - before > INSTANCE_LIMIT {
                return Err(number);
            }
            self.base = None;
            self.enter(self.escape);
            self.pause(buffer, number, left);
            self.escape = function_escape;
            self.prune = function_escape;
        }
        self.enter(done);
        Ok(())
    }

    /// Returns before an instance that the evaluator has to run. After the successors, it leaves the number of the
    /// instance and the remaining ones; the lowest bit of the result says that it did.
    fn pause(&mut self, buffer: ir::Value, number: usize, left: Variable) {
        let end = self.builder.use_var(self.end.expect("an expansion has a buffer"));
        let number = self.constant(number as i64);
        let left = self.builder.use_var(left);
        self.builder.ins().store(MemFlags::trusted(), number, end, 0);
        self.builder.ins().store(MemFlags::trusted(), left, end, 8);
        let bytes = self.builder.ins().isub(end, buffer);
        let result = self.builder.ins().bor_imm(bytes, 1);
        self.builder.ins().return_(&[result]);
    }

    fn grouped_instance(
        &mut self,
        (unit, tag, tail): (&SpecialisedUnit, u64, Tail),
        rest: &[usize],
        next: Block,
    ) -> Attempt<()> {
        if unit.tests_write {
            return Err(Unsupported);
        }
        let body = unit.body.ok_or(Unsupported)?;
        self.begin_instance(unit);
        self.guard(unit, rest, tail, next)?;
        // All tests hold here, including those that a table decided.
        self.learn_all(&tests_of(self.code, unit));
        self.branching_body(body, tag, next)
    }

    /// Copies the state to a record, two words at a time.
    pub(super) fn copy_state(&mut self, record: ir::Value) {
        // Pairs of words need not be aligned.
        let unaligned = MemFlags::new().with_notrap();
        for word in (0..self.words.len()).step_by(2) {
            let pair = word + 1 < self.words.len();
            let (ty, flags) = if pair { (types::I64X2, unaligned) } else { (types::I64, MemFlags::trusted()) };
            let value = self.builder.ins().load(ty, flags, self.state, word as i32 * 8);
            self.builder.ins().store(flags, value, record, word as i32 * 8);
        }
    }

    /// The cost of trying an instance in a sequence of others: all of it if it has no branches, its guard otherwise.
    pub(in super::super) fn cost_in_a_row(&self, unit: &SpecialisedUnit) -> u32 {
        let tests = tests_of(self.code, unit);
        let whole = unit.body.and_then(|body| self.branchless_cost(&tests, body));
        match whole.filter(|&cost| cost <= BRANCHLESS_LIMIT) {
            Some(cost) => cost + self.words.len() as u32 + 3,
            None => 4 + self.plain().test_node_cost(&unit.first_test).unwrap_or(8),
        }
    }
}
