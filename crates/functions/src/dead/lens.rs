//! A model seen from one control part: its members, and the parts that belong to them.

use std::cell::Cell;

use quotient_ir::{Domain, Expr, ExprId, Local, LocalId, LocalKind, Model, PlaceId, Table, TypeId};

use super::facts::{Member, local_of};
use super::parts::{Denoted, PartInfo, Parts};
use super::values::{Values, code_of};
use crate::slice::classes::Part;

/// The expressions that are visited for one control part at most.
const WORK_LIMIT: u64 = 1_000_000;

/// A part that says where its member is: only constants are written to it, and conditions compare it with constants.
pub(super) struct Control {
    pub(super) part: Part,
    /// The type of the index of a member, if there are several.
    pub(super) index: Option<TypeId>,
    pub(super) members: Option<Domain>,
    pub(super) domain: Domain,
    /// The number of values, and one more if it can be undefined.
    pub(super) codes: usize,
    /// The expressions visited for it.
    pub(super) work: Cell<u64>,
}

impl Control {
    /// Counts the visit of an expression. Returns false if there were too many.
    pub(super) fn visits(&self) -> bool {
        self.work.set(self.work.get() + 1);
        self.work.get() < WORK_LIMIT
    }
    /// The number of values.
    pub(super) fn values(&self) -> usize {
        usize::try_from(self.domain.size()).expect("a control part has few values")
    }
    /// The set of one value, or of undefined.
    pub(super) fn single(&self, value: Option<i64>) -> Values {
        let mut values = Values::none(self.codes);
        if let Some(code) = code_of(&self.domain, value).filter(|&code| code < self.codes) {
            values.insert(code);
        }
        values
    }
    /// Whether a part has the members of this one, and each can be written as a whole.
    pub(super) fn governs(&self, model: &Model, part: Part, info: &PartInfo) -> bool {
        let fits = match &self.members {
            None => info.is_plain,
            Some(members) => {
                info.dimensions.first().is_some_and(|&index| model.domain(index) == *members)
                    && info.is_plain_behind_first
            }
        };
        fits && part != self.part
    }
}

/// The view of one owner.
pub(super) struct Lens<'l, 'c, 'm> {
    pub(super) parts: &'l Parts<'c, 'm>,
    pub(super) control: &'l Control,
    pub(super) locals: &'m Table<LocalId, Local>,
}

impl<'m> Lens<'_, '_, 'm> {
    pub(super) fn model(&self) -> &'m Model {
        self.parts.classes.model
    }
    /// The member that the indices of a place denote.
    pub(super) fn member(&self, denoted: &Denoted) -> Member {
        match (&self.control.members, denoted.given.first()) {
            (None, _) => Member::Only,
            (Some(_), Some(&index)) if self.is_fixed(index) => Member::At(index),
            _ => Member::Unknown,
        }
    }
    /// Whether an index is the same everywhere in its scope.
    fn is_fixed(&self, index: ExprId) -> bool {
        let model = self.model();
        match (&model.pool[index], local_of(model, index)) {
            (Expr::Constant { .. }, _) => true,
            (_, Some(local)) => self.locals[local].kind == LocalKind::Parameter,
            _ => false,
        }
    }
    /// The member whose control slot a place is.
    pub(super) fn control_member(&self, place: PlaceId) -> Option<Member> {
        let denoted = self.parts.denoted(place)?;
        let is_control = denoted.parts == (self.control.part..self.control.part + 1);
        Some(self.member(&denoted)).filter(|member| is_control && *member != Member::Unknown)
    }
    /// The number of indices that say which member it is.
    pub(super) fn depth(&self) -> usize {
        usize::from(self.control.members.is_some())
    }
}
