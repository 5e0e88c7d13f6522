//! The output of the specialiser and input of the machine: trees of small nodes in shared arenas.
//!
//! Nodes are hash-consed, so that the common parts of many instances are stored (and cached by the processor) once.
//! Places that are known when a rule instance is specialised are bit fields of the packed state or cells of the frame;
//! only indices that depend on the state remain as addresses.

use std::hash::Hash;

use quotient_ir::{BinaryOperator, Layout, PropertyId, Table, TableIndex};
use rustc_hash::FxHashMap;

use crate::slot_domain::SlotDomain;
pub(crate) use crate::slot_domain::UNDEFINED;

/// Declares index types of the arenas.
macro_rules! node_ids {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name(u32);

        impl TableIndex for $name {
            fn from_position(position: usize) -> Self {
                Self(u32::try_from(position).expect("the specialiser stops long before 2^32 nodes"))
            }
            #[inline]
            fn position(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

node_ids! {
    /// A condition.
    TestId;
    /// An integer expression.
    ValueId;
    /// An expression for a location.
    AddressId;
    /// A statement.
    CommandId;
    /// A loop.
    LoopId;
    /// A set of values.
    DomainId;
    /// Initial contents of consecutive cells.
    TemplateId;
    /// A function that is called rather than inlined.
    SubroutineId;
}

/// A range of a list of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListRange {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A bit field of the packed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Field {
    pub(crate) word: u32,
    pub(crate) shift: u8,
    /// Whether zero means undefined.
    pub(crate) partial: bool,
    /// As many ones as the field is wide.
    pub(crate) mask: u64,
}

/// A condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    Constant(bool),
    /// A field holds a pattern; mask and pattern are in place.
    FieldIs {
        word: u32,
        partial: bool,
        mask: u64,
        pattern: u64,
    },
    /// A field holds another pattern.
    FieldIsNot {
        word: u32,
        partial: bool,
        mask: u64,
        pattern: u64,
    },
    /// The content of a field of at most six bits is a member of a set of numbers below 64.
    FieldIn {
        word: u32,
        shift: u8,
        mask: u8,
        partial: bool,
        set: u64,
    },
    Compare {
        operator: BinaryOperator,
        left: ValueId,
        right: ValueId,
    },
    Nonzero(ValueId),
    Not(TestId),
    /// All of a list of tests; stops at the first that fails.
    AllOf(ListRange),
    /// One of a list of tests; stops at the first that succeeds.
    AnyOf(ListRange),
    Conditional {
        condition: TestId,
        then: TestId,
        otherwise: TestId,
    },
    Quantified {
        all: bool,
        range: LoopId,
        body: TestId,
    },
    /// The cell at an address is undefined.
    Undefined(AddressId),
    /// A boolean cell that is never undefined holds 1.
    Present(AddressId),
    Member {
        value: ValueId,
        domain: DomainId,
    },
    SameContents {
        left: AddressId,
        right: AddressId,
        cells: u32,
    },
    /// Only the reference interpreter can decide.
    Escape,
}

impl Test {
    /// Whether it reads one field that is never undefined, so that it can be evaluated on a packed state.
    pub(super) fn is_of_field(&self) -> bool {
        matches!(
            self,
            Self::FieldIs { partial: false, .. }
                | Self::FieldIsNot { partial: false, .. }
                | Self::FieldIn { partial: false, .. }
        )
    }

    /// Whether it is a test of a field, and false in a packed state.
    #[inline]
    pub(super) fn fails_in(&self, state: &[u64]) -> bool {
        match *self {
            Self::FieldIs { word, mask, pattern, .. } => state[word as usize] & mask != pattern,
            Self::FieldIsNot { word, mask, pattern, .. } => state[word as usize] & mask == pattern,
            Self::FieldIn { word, shift, mask, set, .. } => {
                set >> (state[word as usize] >> shift & u64::from(mask)) & 1 == 0
            }
            _ => false,
        }
    }
}

/// An integer expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Constant(i64),
    /// A field whose stored number plus `offset` is its value.
    Field {
        word: u32,
        shift: u8,
        width: u8,
        partial: bool,
        offset: i64,
    },
    /// A cell of the frame.
    Cell(u32),
    /// The content of an address.
    Load(AddressId),
    Negate(ValueId),
    Complement(ValueId),
    Binary {
        operator: BinaryOperator,
        left: ValueId,
        right: ValueId,
    },
    /// 1 or 0.
    Truth(TestId),
    Conditional {
        condition: TestId,
        then: ValueId,
        otherwise: ValueId,
    },
    /// The number of present positions of a multiset that satisfy a test on the position in a cell.
    Count {
        multiset: AddressId,
        capacity: u32,
        stride: u32,
        cell: u32,
        test: TestId,
    },
    /// The value if it belongs to a domain.
    Checked {
        value: ValueId,
        domain: DomainId,
    },
    /// The content of a cell after a command.
    After {
        command: CommandId,
        cell: u32,
    },
    Escape,
}

/// A location: the number of a slot, or the number of slots plus a position in the stack of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    Slot(u32),
    /// A cell of the frame.
    Frame(u32),
    /// The address that a cell of the frame holds.
    Reference(u32),
    Offset {
        base: AddressId,
        cells: u32,
    },
    /// An element of an array with consecutive index values.
    Element {
        base: AddressId,
        index: ValueId,
        first: i64,
        count: u32,
        stride: u32,
    },
    /// The same for an array at a known slot.
    SlotElement {
        slot: u32,
        index: ValueId,
        first: i64,
        count: u32,
        stride: u32,
    },
    /// An element of an array with any index values.
    ElementOf {
        base: AddressId,
        index: ValueId,
        domain: DomainId,
        stride: u32,
    },
    /// The cell after a "present" cell, which must be set.
    AfterPresent(AddressId),
    Choice {
        condition: TestId,
        then: AddressId,
        otherwise: AddressId,
    },
    /// An address that is valid after a command has run.
    After {
        command: CommandId,
        address: AddressId,
    },
    Escape,
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Command {
    /// Replaces the masked bits of a word.
    SetBits {
        word: u32,
        mask: u64,
        bits: u64,
    },
    /// Stores a value in a field: `value - low` plus one if the field is partial.
    SetField {
        word: u32,
        shift: u8,
        width: u8,
        partial: bool,
        value: ValueId,
        domain: DomainId,
    },
    /// Copies bits from one place to another.
    MoveBits {
        from_word: u32,
        from_shift: u8,
        to_word: u32,
        to_shift: u8,
        width: u8,
    },
    /// Stores a value in a cell of the frame.
    SetCell {
        cell: u32,
        value: ValueId,
        domain: DomainId,
    },
    /// Stores a value at an address.
    Store {
        address: AddressId,
        value: ValueId,
        domain: DomainId,
    },
    /// Copies cells, including undefined ones.
    Copy {
        to: AddressId,
        from: AddressId,
        cells: u32,
    },
    /// Copies one cell; a defined value must belong to the domain.
    CopyChecked {
        to: AddressId,
        from: AddressId,
        domain: DomainId,
    },
    /// Copies a template to cells.
    Fill {
        address: AddressId,
        template: TemplateId,
    },
    /// Puts an address into a cell of the frame.
    Bind {
        cell: u32,
        address: AddressId,
    },
    If {
        condition: TestId,
        then: CommandId,
        otherwise: CommandId,
    },
    Sequence(ListRange),
    While {
        condition: TestId,
        body: CommandId,
        weight: u32,
    },
    For {
        range: LoopId,
        body: CommandId,
    },
    Return,
    /// Runs an inlined function: a return inside ends only this.
    Unfolded(CommandId),
    /// Calls a function: its parameters are cells from `arguments` on, its result goes to cells from `result` on.
    Invoke {
        subroutine: SubroutineId,
        arguments: u32,
        result: u32,
    },
    Assert(TestId),
    Assume(TestId),
    Cover {
        condition: TestId,
        property: PropertyId,
    },
    /// Puts the cells from `cell` on into the first free position of a multiset.
    MultisetAdd {
        multiset: AddressId,
        capacity: u32,
        stride: u32,
        contents: CommandId,
        cell: u32,
    },
    /// Clears the position whose "present" cell is at an address, which must be set.
    MultisetRemove {
        present: AddressId,
        template: TemplateId,
    },
    /// Clears all positions that satisfy a test on the position in a cell.
    MultisetRemoveIf {
        multiset: AddressId,
        capacity: u32,
        cell: u32,
        test: TestId,
        template: TemplateId,
    },
    Escape,
}

/// The values of a loop and the cell they are assigned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Loop {
    pub(crate) cell: u32,
    pub(crate) values: LoopValues,
    /// The values the cell may hold.
    pub(crate) domain: DomainId,
    /// The work of an iteration.
    pub(crate) weight: u32,
}

/// The values a loop iterates over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LoopValues {
    Domain(DomainId),
    Steps { from: ValueId, to: ValueId, step: Option<ValueId> },
}

/// A function that is called rather than inlined. Its frame starts with the parameters, then the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subroutine {
    pub(crate) parameters: u32,
    pub(crate) results: u32,
    pub(crate) frame: u32,
    pub(crate) body: CommandId,
    pub(crate) weight: u32,
    /// The nesting depth of its nodes.
    pub(crate) depth: u32,
}

/// A slot of the state with the data for reading and writing it.
#[derive(Clone, Debug)]
pub(crate) struct SlotCode {
    pub(crate) field: Field,
    pub(crate) width: u8,
    pub(crate) domain: SlotDomain,
}

impl SlotCode {
    /// The slots of a layout.
    pub(crate) fn all(layout: &Layout) -> Vec<Self> {
        let slots = layout.slots.iter().map(|slot| {
            let (word, shift) = if slot.width == 0 { (0, 0) } else { (slot.bit / 64, slot.bit % 64) };
            let mask = if slot.width == 0 { 0 } else { u64::MAX >> (64 - slot.width) };
            Self {
                field: Field { word, shift: shift as u8, partial: slot.has_undefined, mask },
                width: slot.width as u8,
                domain: SlotDomain::new(&slot.domain),
            }
        });
        slots.collect()
    }
}

/// An arena in which equal nodes are stored once.
#[derive(Clone, Debug)]
pub(crate) struct Arena<I: TableIndex, N> {
    nodes: Table<I, N>,
    ids: FxHashMap<N, I>,
}

impl<I: TableIndex, N: Clone + Eq + Hash> Arena<I, N> {
    fn new() -> Self {
        Self { nodes: Table::new(), ids: FxHashMap::default() }
    }
    pub(crate) fn add(&mut self, node: N) -> I {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Frees the memory needed only for adding.
    fn seal(&mut self) {
        self.ids = FxHashMap::default();
    }
}

impl<I: TableIndex, N> std::ops::Index<I> for Arena<I, N> {
    type Output = N;
    #[inline]
    fn index(&self, id: I) -> &N {
        &self.nodes[id]
    }
}

/// Consecutive lists of nodes; equal lists are stored once.
#[derive(Clone, Debug)]
pub(crate) struct Lists<I> {
    entries: Vec<I>,
    ranges: FxHashMap<Box<[I]>, ListRange>,
}

impl<I: Copy + Eq + Hash> Lists<I> {
    fn new() -> Self {
        Self { entries: Vec::new(), ranges: FxHashMap::default() }
    }
    pub(crate) fn add(&mut self, list: &[I]) -> ListRange {
        if let Some(&range) = self.ranges.get(list) {
            return range;
        }
        let start = self.entries.len() as u32;
        self.entries.extend_from_slice(list);
        let range = ListRange { start, end: self.entries.len() as u32 };
        self.ranges.insert(list.into(), range);
        range
    }
    #[inline]
    pub(crate) fn get(&self, range: ListRange) -> &[I] {
        &self.entries[range.start as usize..range.end as usize]
    }
    fn len(&self) -> usize {
        self.entries.len()
    }
    fn seal(&mut self) {
        self.ranges = FxHashMap::default();
    }
}

/// All nodes of a model.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) slots: Vec<SlotCode>,
    pub(crate) tests: Arena<TestId, Test>,
    pub(crate) values: Arena<ValueId, Value>,
    pub(crate) addresses: Arena<AddressId, Address>,
    pub(crate) commands: Arena<CommandId, Command>,
    pub(crate) loops: Arena<LoopId, Loop>,
    pub(crate) domains: Arena<DomainId, SlotDomain>,
    pub(crate) templates: Arena<TemplateId, Box<[i64]>>,
    pub(crate) test_lists: Lists<TestId>,
    pub(crate) command_lists: Lists<CommandId>,
    pub(crate) subroutines: Table<SubroutineId, Subroutine>,
}

impl Code {
    pub(crate) fn new(layout: &Layout) -> Self {
        Self {
            slots: SlotCode::all(layout),
            tests: Arena::new(),
            values: Arena::new(),
            addresses: Arena::new(),
            commands: Arena::new(),
            loops: Arena::new(),
            domains: Arena::new(),
            templates: Arena::new(),
            test_lists: Lists::new(),
            command_lists: Lists::new(),
            subroutines: Table::new(),
        }
    }
    /// The approximate number of nodes.
    pub(crate) fn size(&self) -> usize {
        self.tests.len()
            + self.values.len()
            + self.addresses.len()
            + self.commands.len()
            + self.test_lists.len()
            + self.command_lists.len()
    }
    /// Frees the memory that only the specialiser needs.
    pub(crate) fn seal(&mut self) {
        self.tests.seal();
        self.values.seal();
        self.addresses.seal();
        self.commands.seal();
        self.loops.seal();
        self.domains.seal();
        self.templates.seal();
        self.test_lists.seal();
        self.command_lists.seal();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_stay_small() {
        assert!(size_of::<Test>() <= 24);
        assert!(size_of::<Value>() <= 24);
        assert!(size_of::<Address>() <= 32);
        assert!(size_of::<Command>() <= 32);
    }
}
