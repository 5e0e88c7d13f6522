//! Loops with an unknown number of iterations.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types};

use super::super::bits::KnownBits;
use super::{Attempt, Translator, Unsupported};
use crate::evaluator::code::{CommandId, Loop, LoopId, LoopValues, TestId};

/// The number of iterations of a loop after which the evaluator takes over.
const PASS_LIMIT: i64 = 1 << 14;

impl Translator<'_, '_> {
    /// Repeats a command while a test succeeds.
    pub(super) fn repeat_while(&mut self, condition: TestId, body: CommandId) -> Attempt<()> {
        let head = self.begin_loop();
        let (inside, after) = (self.builder.create_block(), self.builder.create_block());
        self.branch(condition, inside, after)?;
        self.repeat(inside, body, head)?;
        self.leave_loop(after);
        Ok(())
    }

    /// Repeats a command for consecutive values of a cell.
    pub(super) fn repeat_for(&mut self, range: LoopId, body: CommandId) -> Attempt<()> {
        let code = self.code;
        let Loop { cell, values: LoopValues::Domain(values), domain, .. } = code.loops[range] else {
            return Err(Unsupported);
        };
        let (values, domain) = (&code.domains[values], &code.domains[domain]);
        if !values.is_interval() || !domain.is_interval() || values.low < domain.low || domain.high < values.high {
            return Err(Unsupported);
        }
        let next = self.builder.declare_var(types::I64);
        let first = self.constant(values.low);
        self.builder.def_var(next, first);
        let head = self.begin_loop();
        let (inside, after) = (self.builder.create_block(), self.builder.create_block());
        let value = self.builder.use_var(next);
        let last = self.constant(values.high);
        let more = self.builder.ins().icmp(IntCC::SignedLessThanOrEqual, value, last);
        self.builder.ins().brif(more, inside, &[], after, &[]);
        self.enter(inside);
        let one_more = self.builder.ins().iadd_imm(value, 1);
        self.builder.def_var(next, one_more);
        self.set_cell(cell, value);
        let start = self.builder.create_block();
        self.builder.ins().jump(start, &[]);
        self.repeat(start, body, head)?;
        self.leave_loop(after);
        Ok(())
    }

    /// Enters the head of a loop, with a limited number of iterations: the evaluator detects loops that do not
    /// terminate.
    fn begin_loop(&mut self) -> Block {
        self.flush_all();
        let passes = self.builder.declare_var(types::I64);
        let limit = self.constant(PASS_LIMIT);
        self.builder.def_var(passes, limit);
        let head = self.builder.create_block();
        self.builder.ins().jump(head, &[]);
        self.enter(head);
        // What holds before the first iteration need not hold before the others.
        self.known = KnownBits::nothing(self.given.len());
        let left = self.builder.use_var(passes);
        let fewer = self.builder.ins().iadd_imm(left, -1);
        self.builder.def_var(passes, fewer);
        self.escape_unless(left);
        head
    }

    /// The body of a loop, followed by a jump back to its head.
    fn repeat(&mut self, start: Block, body: CommandId, head: Block) -> Attempt<()> {
        self.enter(start);
        self.known = KnownBits::nothing(self.given.len());
        self.command(body)?;
        self.flush_all();
        self.builder.ins().jump(head, &[]);
        Ok(())
    }

    fn leave_loop(&mut self, after: Block) {
        self.enter(after);
        self.known = KnownBits::nothing(self.given.len());
    }
}
