//! The slots of a state that a run reads and writes.

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use crate::index::{SlotId, TableIndex};

/// The part of a state that a run depends on and the part that it changes. On every state that agrees with this one on
/// the slots read, the run is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The slots that were read before anything was written to them, each once, in order.
    pub reads: Vec<SlotId>,
    /// The slots that were written and the last value written, each once, in increasing order. A run that stopped early
    /// has its writes until then. Multisets are as the statements left them, before normalisation.
    pub writes: Vec<(SlotId, Option<i64>)>,
    /// The amount of work of the run: statements, expressions, iterations and copied cells.
    pub work: u64,
}

/// Records reads and writes during a run.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    notes: RefCell<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    reads: Vec<usize>,
    read: FxHashSet<usize>,
    written: FxHashSet<usize>,
}

impl Recorder {
    pub(super) fn read(&self, positions: std::ops::Range<usize>) {
        let notes = &mut *self.notes.borrow_mut();
        for position in positions {
            if !notes.written.contains(&position) && notes.read.insert(position) {
                notes.reads.push(position);
            }
        }
    }

    pub(super) fn write(&self, positions: std::ops::Range<usize>) {
        self.notes.borrow_mut().written.extend(positions);
    }

    /// The recorded footprint; `globals` are the cells at the end.
    pub(super) fn footprint(self, globals: &[Option<i64>], work: u64) -> Footprint {
        let notes = self.notes.into_inner();
        let mut written: Vec<usize> = notes.written.into_iter().collect();
        written.sort_unstable();
        Footprint {
            reads: notes.reads.into_iter().map(SlotId::from_position).collect(),
            writes: written.into_iter().map(|at| (SlotId::from_position(at), globals[at])).collect(),
            work,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Footprint;
    use crate::assembly::{Assembly, Locals};
    use crate::expression::{BinaryOperator, Expr};
    use crate::index::{PropertyId, RuleId, SlotId, TableIndex};
    use crate::interpreter::{Interpreter, Outcome};
    use crate::layout::Valuation;
    use crate::model::PropertyKind;
    use crate::statement::StatementKind;

    type Slots = (Vec<SlotId>, Vec<(SlotId, Option<i64>)>);

    fn slots(reads: &[usize], writes: &[(usize, Option<i64>)]) -> Slots {
        (
            reads.iter().map(|&position| SlotId::from_position(position)).collect(),
            writes.iter().map(|&(position, value)| (SlotId::from_position(position), value)).collect(),
        )
    }

    fn slots_of(footprint: Footprint) -> Slots {
        assert!(footprint.work > 0);
        (footprint.reads, footprint.writes)
    }

    #[test]
    fn reads_are_noted_once_in_order_and_only_before_a_write() {
        let mut builder = Assembly::new();
        let range = builder.range(0, 2);
        let array = builder.array(range, range);
        let (a, b, i) = (builder.variable("a", array), builder.variable("b", array), builder.variable("i", range));
        let (a, b, i) = (builder.global(a), builder.global(b), builder.global(i));
        let index = builder.read(i);
        let zero = builder.number(0);
        let (element, first) = (builder.at(a, index), builder.at(b, zero));
        let first_value = builder.read(first);
        let element_value = builder.read(element);
        // a[i] := b[0]; i := a[i]; b := a; undefine i
        let body = vec![
            builder.assign(element, first_value),
            builder.assign(i, element_value),
            builder.copy(b, a),
            builder.statement(StatementKind::Undefine(i)),
        ];
        builder.body(Locals::default(), body);
        let (model, layout) = builder.finish();
        let interpreter = Interpreter::new(&model, &layout);
        let state = Valuation([0, 1, 2, 2, 1, 0, 1].map(Some).to_vec());
        let rule = RuleId::from_position(0);
        let (outcome, found) = interpreter.fire_with_footprint(rule, &[], &state);
        // i, b[0], then the rest of a; a[1] was written before it is read.
        let writes = [(1, Some(2)), (3, Some(0)), (4, Some(2)), (5, Some(2)), (6, None)];
        assert_eq!(slots_of(found), slots(&[6, 3, 0, 2], &writes));
        assert_eq!(outcome, interpreter.fire(rule, &[], &state));
        assert!(matches!(outcome, Outcome::Next { .. }));
    }

    #[test]
    fn conditions_note_what_decides_and_what_was_read_before_a_fault() {
        let mut builder = Assembly::new();
        let range = builder.range(0, 2);
        let variables = ["x", "y", "z"].map(|name| builder.variable(name, range));
        let [x, y, z] = variables.map(|variable| builder.global(variable));
        let (x_is_1, y_is_1) = (builder.is(x, 1), builder.is(y, 1));
        let z_is_undefined = builder.expression(Expr::IsUndefined(z));
        let both = builder.binary(BinaryOperator::And, x_is_1, y_is_1);
        let condition = builder.binary(BinaryOperator::And, both, z_is_undefined);
        builder.property(PropertyKind::Invariant, vec![], Locals::default(), condition);
        let rule = builder.rule(vec![], Locals::default(), condition, vec![]);
        let (model, layout) = builder.finish();
        let interpreter = Interpreter::new(&model, &layout);
        for (state, reads, truth) in [
            ([Some(0), Some(1), None], vec![0], Some(false)),
            ([Some(1), Some(1), None], vec![0, 1, 2], Some(true)),
            ([Some(1), None, None], vec![0, 1], None),
        ] {
            let state = Valuation(state.to_vec());
            let property = PropertyId::from_position(0);
            let (holds, found) = interpreter.holds_with_footprint(property, &[], &state);
            assert_eq!((holds.ok(), slots_of(found)), (truth, slots(&reads, &[])));
            let (enabled, found) = interpreter.enabled_with_footprint(rule, &[], &state);
            assert_eq!((enabled.ok(), slots_of(found)), (truth, slots(&reads, &[])));
        }
    }
}
