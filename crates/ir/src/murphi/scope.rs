//! The visibility and names of the locals of one owner.

use std::fmt::Write as _;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::Bounds;
use super::names::Names;
use super::owner::Owner;
use crate::index::{LocalId, TableIndex};

/// How a local is currently written.
#[derive(Clone, Debug, Default)]
pub(super) enum Binding {
    /// Not at all: it is not bound here.
    #[default]
    None,
    /// By name.
    Name(String),
    /// As an expression (in parentheses if needed).
    Value(String),
    /// As one name for each of its cells.
    Cells(Rc<[String]>),
}

/// The state of printing one owner.
#[derive(Clone)]
pub(super) struct Scope<'m> {
    /// The owner being printed.
    pub(super) owner: Owner<'m>,
    /// Its description in errors.
    pub(super) what: Rc<str>,
    /// The bounds of its numbers.
    pub(super) bounds: Rc<Bounds>,
    /// The locals its body writes to.
    pub(super) written: Rc<FxHashSet<LocalId>>,
    /// The lines to execute before leaving the owner's body.
    pub(super) epilogue: Rc<[String]>,
    /// The variable in which results are stored for checking, once there is one.
    pub(super) checked_result: Option<String>,
    /// Declarations of local variables: names and types.
    pub(super) declarations: Vec<(String, String)>,
    bindings: FxHashMap<LocalId, Binding>,
    visible: FxHashSet<String>,
}

impl<'m> Scope<'m> {
    pub(super) fn new(owner: Owner<'m>, what: String, bounds: Bounds, written: FxHashSet<LocalId>) -> Self {
        Self {
            owner,
            what: what.into(),
            bounds: Rc::new(bounds),
            written: Rc::new(written),
            epilogue: Rc::new([]),
            checked_result: None,
            declarations: Vec::new(),
            bindings: FxHashMap::default(),
            visible: FxHashSet::default(),
        }
    }
    /// The same owner with nothing bound, for a generated function.
    pub(super) fn outside(&self) -> Self {
        Self {
            owner: self.owner,
            what: self.what.clone(),
            bounds: self.bounds.clone(),
            written: self.written.clone(),
            epilogue: Rc::new([]),
            checked_result: None,
            declarations: Vec::new(),
            bindings: FxHashMap::default(),
            visible: FxHashSet::default(),
        }
    }
    /// How a local is currently written.
    pub(super) fn binding(&self, local: LocalId) -> &Binding {
        self.bindings.get(&local).unwrap_or(&Binding::None)
    }
    /// Sets how a local is written from now on; returns how it was written before.
    pub(super) fn bind(&mut self, local: LocalId, binding: Binding) -> Binding {
        self.bindings.insert(local, binding).unwrap_or_default()
    }
    /// Chooses a free name for a local, as close to its own as possible, and reserves it.
    pub(super) fn name(&mut self, names: &Names, local: LocalId) -> String {
        let own = self.owner.locals.get(local).map_or("local", |local| local.name.as_str());
        let name = names.local(own, &self.visible);
        self.visible.insert(name.clone());
        name
    }
    /// Chooses a name that does not occur in the model.
    pub(super) fn generated_name(&mut self, names: &Names, like: &str) -> String {
        let name = names.generated_local(like, &self.visible);
        self.visible.insert(name.clone());
        name
    }
    /// Reserves a given name.
    pub(super) fn take_name(&mut self, name: &str) {
        self.visible.insert(name.to_owned());
    }
    /// Releases a name.
    pub(super) fn release(&mut self, name: &str) {
        self.visible.remove(name);
    }
    /// Declares a generated variable of the body.
    pub(super) fn declare(&mut self, names: &Names, like: &str, ty: String) -> String {
        let name = self.generated_name(names, like);
        self.declarations.push((name.clone(), ty));
        name
    }
    /// The name of the owner's local in the source, for errors.
    pub(super) fn source_name(&self, local: LocalId) -> String {
        match self.owner.locals.get(local) {
            Some(local) => local.name.clone(),
            None => format!("local {}", local.position()),
        }
    }
}

/// Lines of a program, indented.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) depth: usize,
}

impl Lines {
    pub(super) fn new(depth: usize) -> Self {
        Self { text: String::new(), depth }
    }
    /// Appends a line at the current depth.
    pub(super) fn push(&mut self, line: impl AsRef<str>) {
        for part in line.as_ref().split('\n') {
            let _ = writeln!(self.text, "{:indent$}{part}", "", indent = 2 * self.depth);
        }
    }
    /// Appends lines unchanged.
    pub(super) fn push_raw(&mut self, lines: &str) {
        self.text.push_str(lines);
    }
}
