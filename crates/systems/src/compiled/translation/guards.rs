//! Guards: tests in order, with a jump table where many of them test the contents of one field, and calls of common
//! parts of guards.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, FuncRef, InstBuilder, JumpTableData, types};

use super::super::dispatch::tests_of;
use super::{Attempt, JOINT_LIMIT, Translator};
use crate::evaluator::SpecialisedUnit;
use crate::evaluator::code::{ListRange, Test};

/// The smallest number of consecutive tests of one field worth a table.
const SWITCH_LEAST: usize = 4;
/// The largest width of a field with a jump table.
const SWITCH_WIDTH: u32 = 8;

/// The part of a guard that is a separate function: where it starts, and the function.
pub(in super::super) type Tail = Option<(usize, FuncRef)>;

/// A test for one content of a field, followed by further tests.
#[derive(Clone, Copy)]
struct Case {
    word: u32,
    mask: u64,
    pattern: u64,
    /// Fails if all of these hold; `None` if it always fails.
    fails_if: Option<ListRange>,
}

impl Translator<'_, '_> {
    /// Continues if the guard of an instance holds, and jumps otherwise. `positions` are those of the remaining tests.
    pub(super) fn guard(
        &mut self,
        unit: &SpecialisedUnit,
        positions: &[usize],
        tail: Tail,
        otherwise: Block,
    ) -> Attempt<()> {
        let all = tests_of(self.code, unit);
        let end = tail.map_or(all.len(), |(start, _)| start);
        let (before, after): (Vec<usize>, Vec<usize>) = positions.iter().partition(|&&position| position < end);
        let tests: Vec<Test> = before.into_iter().map(|position| all[position]).collect();
        self.tests_in_order(&tests, otherwise)?;
        if let Some((_, function)) = tail.filter(|_| !after.is_empty()) {
            self.call_tail(function, otherwise);
        }
        Ok(())
    }

    /// Continues if a function says that its tests hold, and jumps otherwise.
    fn call_tail(&mut self, function: FuncRef, otherwise: Block) {
        self.flush_all();
        let call = self.builder.ins().call(function, &[self.state]);
        let result = self.builder.inst_results(call)[0];
        let (onward, failed) = (self.builder.create_block(), self.builder.create_block());
        let holds = self.builder.ins().icmp_imm(IntCC::SignedGreaterThan, result, 0);
        self.builder.ins().brif(holds, onward, &[], failed, &[]);
        self.enter(failed);
        self.builder.ins().brif(result, self.escape, &[], otherwise, &[]);
        self.enter(onward);
    }

    /// Ends a function that decides whether tests hold: 1 if so, 0 if not, -1 if the evaluator has to decide.
    pub(in super::super) fn finish_tail(mut self, tests: &[Test]) -> Attempt<u32> {
        let failed = self.builder.create_block();
        self.tests_in_order(tests, failed)?;
        let results = [(None, 1), (Some(failed), 0), (Some(self.escape), -1)];
        for (block, result) in results {
            if let Some(block) = block {
                self.enter(block);
            }
            let result = self.constant(result);
            self.builder.ins().return_(&[result]);
        }
        Ok(self.finish())
    }

    /// Continues if all tests succeed, and jumps if one fails.
    pub(super) fn tests_in_order(&mut self, tests: &[Test], otherwise: Block) -> Attempt<()> {
        let mut position = 0;
        while position < tests.len() {
            let cases = self.cases(&tests[position..]);
            if cases.len() >= SWITCH_LEAST {
                self.switch(&cases, otherwise)?;
                position += cases.len();
                continue;
            }
            // As many as are cheap together.
            let mut cost = 0;
            let mut joint = position;
            while joint < tests.len()
                && let Some(more) = self.plain().test_node_cost(&tests[joint])
                && cost + more <= JOINT_LIMIT
            {
                cost += more;
                joint += 1;
            }
            let onward = self.builder.create_block();
            if joint > position + 1 {
                match self.conjunction(&tests[position..joint])? {
                    Some(value) => {
                        self.builder.ins().brif(value, onward, &[], otherwise, &[]);
                    }
                    None => {
                        self.builder.ins().jump(onward, &[]);
                    }
                }
                position = joint;
            } else {
                self.branch_node(&tests[position], onward, otherwise)?;
                position += 1;
            }
            self.enter(onward);
        }
        Ok(())
    }

    /// The first tests of a list that test contents of the same field.
    fn cases(&self, tests: &[Test]) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        for test in tests {
            let Some(case) = self.case(test) else { break };
            if cases.first().is_some_and(|first| (first.word, first.mask) != (case.word, case.mask)) {
                break;
            }
            cases.push(case);
        }
        cases
    }

    fn case(&self, test: &Test) -> Option<Case> {
        let (found, fails_if) = match *test {
            Test::FieldIsNot { word, mask, pattern, partial } => ((word, mask, pattern, partial), None),
            Test::Not(inner) => {
                let Test::AllOf(list) = self.code.tests[inner] else { return None };
                let first = self.code.tests[*self.code.test_lists.get(list).first()?];
                let Test::FieldIs { word, mask, pattern, partial } = first else { return None };
                let rest = ListRange { start: list.start + 1, ..list };
                ((word, mask, pattern, partial), Some(rest))
            }
            _ => return None,
        };
        let (word, mask, pattern, partial) = found;
        let bits = mask >> mask.trailing_zeros();
        let narrow = mask != 0 && bits & (bits + 1) == 0 && bits.count_ones() <= SWITCH_WIDTH;
        let known = narrow && self.plain().has_value(word, mask, partial);
        known.then_some(Case { word, mask, pattern, fails_if })
    }

    /// Jumps by the contents of a field to the tests for these contents. Tests for other contents succeed, and those
    /// for the same contents are in order, so nothing is evaluated that would not be evaluated one by one.
    fn switch(&mut self, cases: &[Case], otherwise: Block) -> Attempt<()> {
        self.flush_all();
        let Case { word, mask, .. } = cases[0];
        let shift = mask.trailing_zeros() as u8;
        let content = self.field(word, shift, mask >> shift);
        let content = self.builder.ins().ireduce(types::I32, content);
        let onward = self.builder.create_block();
        let mut blocks: Vec<Block> = Vec::new();
        for number in 0..=mask >> shift {
            let asked = cases.iter().any(|case| case.pattern == number << shift);
            blocks.push(if asked { self.builder.create_block() } else { onward });
        }
        let calls: Vec<ir::BlockCall> =
            blocks.iter().map(|&block| self.builder.func.dfg.block_call(block, &[])).collect();
        let default = self.builder.func.dfg.block_call(onward, &[]);
        let table = self.builder.create_jump_table(JumpTableData::new(default, &calls));
        self.builder.ins().br_table(content, table);
        let code = self.code;
        for (number, &block) in (0..).zip(&blocks).filter(|&(_, &block)| block != onward) {
            self.enter(block);
            for case in cases.iter().filter(|case| case.pattern == number << shift) {
                let passed = self.builder.create_block();
                let list = case.fails_if.map_or(&[][..], |list| code.test_lists.get(list));
                let tests: Vec<Test> = list.iter().map(|&test| code.tests[test]).collect();
                self.tests_in_order(&tests, passed)?;
                self.builder.ins().jump(otherwise, &[]);
                self.enter(passed);
            }
            self.builder.ins().jump(onward, &[]);
        }
        self.enter(onward);
        Ok(())
    }
}
