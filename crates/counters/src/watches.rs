//! The state of loops over families during execution: which entities have been handled, and whether iterations for objects
//! of the same entity can affect each other.

/// The iteration of a loop for one object of an entity: whether the other objects of the entity can notice it.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) family: usize,
    /// The object, which is an entity of its own.
    pub(crate) own: usize,
    /// The entity it was split off.
    pub(crate) source: usize,
    /// Entities from here on may have been split off that one, too.
    pub(crate) since: usize,
    pub(crate) is_noticed: bool,
}

impl Watch {
    /// A cell of an object is used.
    pub(crate) fn uses(&mut self, family: usize, entity: usize) {
        let is_alike = entity == self.source || entity >= self.since;
        self.is_noticed |= family == self.family && entity != self.own && is_alike;
    }

    /// A cell of these objects changes.
    pub(crate) fn changes(&mut self, objects: &[(usize, usize)]) {
        self.is_noticed |= !objects.contains(&(self.family, self.own));
    }

    /// Cells of all objects are used.
    pub(crate) fn uses_all(&mut self) {
        self.is_noticed = true;
    }
}

/// A loop over a family: the entities that were treated.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub(crate) family: usize,
    pub(crate) done: Vec<bool>,
}
