//! The rule, function or property under construction, and the process whose text is being lowered.

use std::rc::Rc;

use quotient_ir::{ExprId, Local, LocalId, LocalKind, Span, Table, TypeId};
use rustc_hash::FxHashMap;

use super::words::Value;

/// The locals of a rule, function or property under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Owner {
    pub(super) locals: Table<LocalId, Local>,
    /// The names in use, and the number of locals that requested each.
    names: FxHashMap<String, usize>,
    /// The variables of the quantifiers around, innermost last.
    pub(super) bound: Vec<Bound>,
}

/// The variable of a quantifier.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) name: Rc<str>,
    pub(super) value: Value,
}

impl Owner {
    /// A parameter or bound variable.
    pub(super) fn parameter(&mut self, name: &str, ty: TypeId) -> LocalId {
        self.add(name, ty, LocalKind::Parameter)
    }
    /// A variable.
    pub(super) fn variable(&mut self, name: &str, ty: TypeId) -> LocalId {
        self.add(name, ty, LocalKind::Variable)
    }
    fn add(&mut self, name: &str, ty: TypeId, kind: LocalKind) -> LocalId {
        let wishes = self.names.entry(name.to_owned()).or_default();
        *wishes += 1;
        let mut number = *wishes;
        let mut unique = name.to_owned();
        while number > 1 {
            unique = format!("{name}{number}");
            if !self.names.contains_key(&unique) {
                self.names.insert(unique.clone(), 1);
                break;
            }
            number += 1;
        }
        self.locals.push(Local { name: unique, ty, kind, span: Span::default() })
    }
}

/// Whose text is being lowered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// The process type; none outside of processes.
    pub(super) process: Option<usize>,
    /// The process.
    pub(super) pid: Option<ExprId>,
    /// The scope its names are seen in.
    pub(super) scope: usize,
    /// The meaning of `timeout`: whether no process can move, or false.
    pub(super) asks_timeout: bool,
}

impl Context {
    /// Outside of all processes.
    pub(super) fn outside() -> Self {
        Self { process: None, pid: None, scope: 0, asks_timeout: false }
    }
    /// In a formula or claim, which looks at a state before anybody moves.
    pub(super) fn of_formula() -> Self {
        Self { asks_timeout: true, ..Self::outside() }
    }
}
