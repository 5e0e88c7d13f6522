//! The rule, function or property being lowered: its locals, and what is allowed in it.

use quotient_ir::{Local, LocalId, LocalKind, Place, PlaceId, Root, Span, Table, TypeId};

use super::Lowering;
use super::effects::{Effects, Origin};
use super::scopes::Size;

/// What is being lowered.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) kind: OwnerKind,
    pub(super) locals: Table<LocalId, Local>,
    /// Where the place or value that each local denotes is stored.
    origins: Table<LocalId, Origin>,
    /// Why expressions may not have side effects here, as in "in the guard of a rule".
    pub(super) pure: Option<&'static str>,
    pub(super) effects: Effects,
    /// How many calls were lowered so far.
    pub(super) calls: usize,
    pub(super) measure: Measure,
    /// The cells of the locals so far.
    pub(super) cells: u64,
}

/// How large the expressions being lowered are, aliases substituted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measure {
    /// How deep inside expressions we are.
    depth: u32,
    /// The deepest since the measuring began.
    deepest: u32,
    /// The parts so far.
    weight: u32,
}

impl Measure {
    /// One level further into an expression.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
        self.add(Size { height: 0, weight: 1 });
    }

    /// One level back.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// What an alias denotes is part of the expression that uses it.
    pub(super) fn add(&mut self, size: Size) {
        self.deepest = self.deepest.max(self.depth.saturating_add(size.height));
        self.weight = self.weight.saturating_add(size.weight);
    }
}

/// The kinds of owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnerKind {
    /// No owner: the declarations between functions and rules.
    Outside,
    /// A function with a result (of unknown type if that was invalid), declared here.
    Function {
        result: Option<TypeId>,
        declared: Span,
    },
    Procedure,
    Rule,
    Start,
    Property,
}

impl Owner {
    pub(super) fn new(kind: OwnerKind) -> Self {
        Self {
            kind,
            locals: Table::new(),
            origins: Table::new(),
            pure: None,
            effects: Effects::default(),
            calls: 0,
            measure: Measure::default(),
            cells: 0,
        }
    }

    pub(super) fn outside() -> Self {
        Self { pure: Some("in a declaration"), ..Self::new(OwnerKind::Outside) }
    }

    /// Adds a local that lives in the owner itself.
    pub(super) fn local(&mut self, name: &str, ty: TypeId, kind: LocalKind, span: Span) -> LocalId {
        self.reference(name, ty, kind, Origin::Local, span)
    }

    /// Adds a local that denotes something elsewhere.
    pub(super) fn reference(&mut self, name: &str, ty: TypeId, kind: LocalKind, origin: Origin, span: Span) -> LocalId {
        self.origins.push(origin);
        self.locals.push(Local { name: name.into(), ty, kind, span })
    }
}

impl Lowering<'_> {
    /// Runs a closure and returns the size of the expressions lowered meanwhile.
    pub(super) fn measured<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, Size) {
        let before = self.owner.measure;
        self.owner.measure = Measure::default();
        let result = work(self);
        let Measure { deepest, weight, .. } = self.owner.measure;
        self.owner.measure = before;
        (result, Size { height: deepest, weight })
    }

    /// Where a place lives.
    pub(super) fn origin(&self, place: PlaceId) -> Origin {
        match self.model.pool[place].root {
            Root::Variable(_) => Origin::Global,
            Root::Local(local) => self.owner.origins[local],
            Root::Result { .. } | Root::Choice { .. } => Origin::Local,
        }
    }

    /// The whole of a local, as a place.
    pub(super) fn local_place(&mut self, local: LocalId) -> PlaceId {
        let ty = self.owner.locals[local].ty;
        self.model.pool.place(Place { root: Root::Local(local), steps: Vec::new(), ty })
    }
}
