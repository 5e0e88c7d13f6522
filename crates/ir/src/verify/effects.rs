//! The effects of calling a function, directly or indirectly: the closure of "if this is written, so is that" over
//! calls, reference parameters and bound references.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pool::{Parts, for_each_inside};
use crate::expression::{Argument, Root};
use crate::index::{ExprId, FunctionId, LocalId, PlaceId};
use crate::model::{Function, LocalKind, Model};
use crate::statement::{Statement, StatementKind};
use crate::walk::{blocks, call_of, written_place};

/// An effect of a function outside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Effect {
    /// It writes to a variable.
    Global,
    /// It executes an assume or cover statement.
    Path,
    /// It writes to what a reference local denotes.
    Reference(LocalId),
}

/// The effects of all functions.
pub(super) struct Effects {
    known: FxHashSet<(FunctionId, Effect)>,
}

impl Effects {
    /// The effects of the functions of a model whose pool has no cycles.
    pub(super) fn new(model: &Model) -> Self {
        let mut closure = Closure { model, known: FxHashSet::default(), implied: FxHashMap::default() };
        for (id, function) in model.functions.iter_enumerated() {
            closure.add_function(id, function);
        }
        let mut pending: Vec<(FunctionId, Effect)> = closure.known.iter().copied().collect();
        while let Some(effect) = pending.pop() {
            for implied in closure.implied.remove(&effect).unwrap_or_default() {
                if closure.known.insert(implied) {
                    pending.push(implied);
                }
            }
        }
        Self { known: closure.known }
    }

    /// Whether a function has an effect.
    pub(super) fn has(&self, function: FunctionId, effect: Effect) -> bool {
        self.known.contains(&(function, effect))
    }
}

struct Closure<'m> {
    model: &'m Model,
    known: FxHashSet<(FunctionId, Effect)>,
    implied: FxHashMap<(FunctionId, Effect), Vec<(FunctionId, Effect)>>,
}

impl Closure<'_> {
    fn add_function(&mut self, id: FunctionId, function: &Function) {
        let found = Uses::of(self.model, &function.body);
        for place in found.written {
            for effect in self.effects_of_writing(function, place) {
                self.known.insert((id, effect));
            }
        }
        if found.path {
            self.known.insert((id, Effect::Path));
        }
        for (local, place) in found.bound {
            for effect in self.effects_of_writing(function, place) {
                self.implied.entry((id, Effect::Reference(local))).or_default().push((id, effect));
            }
        }
        for (callee, arguments) in found.calls {
            for effect in [Effect::Global, Effect::Path] {
                self.implied.entry((callee, effect)).or_default().push((id, effect));
            }
            let parameters = &self.model.functions[callee].parameters;
            for (parameter, argument) in parameters.iter().zip(arguments) {
                if let Argument::Reference(place) = argument {
                    for effect in self.effects_of_writing(function, *place) {
                        self.implied.entry((callee, Effect::Reference(*parameter))).or_default().push((id, effect));
                    }
                }
            }
        }
    }

    /// The effects of writing to a place of a function.
    fn effects_of_writing(&self, function: &Function, place: PlaceId) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut pending = vec![place];
        let mut seen = FxHashSet::default();
        while let Some(place) = pending.pop() {
            if !seen.insert(place) {
                continue;
            }
            match &self.model.pool[place].root {
                Root::Variable(_) => effects.push(Effect::Global),
                Root::Local(local) => {
                    if function.locals.get(*local).is_some_and(|local| local.kind == LocalKind::Reference) {
                        effects.push(Effect::Reference(*local));
                    }
                }
                Root::Result { .. } => {}
                Root::Choice { then, otherwise, .. } => pending.extend([*then, *otherwise]),
            }
        }
        effects
    }
}

/// The uses of an owner's statements that matter outside them.
#[derive(Default)]
pub(super) struct Uses<'m> {
    /// The places written to.
    pub(super) written: Vec<PlaceId>,
    /// The references bound, and their places.
    pub(super) bound: Vec<(LocalId, PlaceId)>,
    /// The functions called, and their arguments.
    pub(super) calls: Vec<(FunctionId, &'m [Argument])>,
    /// Whether there is an assume or cover statement.
    pub(super) path: bool,
}

impl<'m> Uses<'m> {
    /// The uses of statements and everything nested in them.
    pub(super) fn of(model: &'m Model, body: &'m [Statement]) -> Self {
        let mut uses = Self::default();
        let mut parts = Parts::default();
        let mut pending: Vec<&'m Statement> = body.iter().collect();
        while let Some(statement) = pending.pop() {
            parts.add_statement(statement);
            pending.extend(blocks(statement).flatten());
            uses.written.extend(written_place(statement));
            match &statement.kind {
                StatementKind::Bind { local, place } => uses.bound.push((*local, *place)),
                StatementKind::Call { function, arguments } => uses.calls.push((*function, arguments)),
                StatementKind::Assume(_) | StatementKind::Cover { .. } => uses.path = true,
                _ => {}
            }
        }
        uses.add_calls_inside(model, parts);
        uses
    }

    /// The uses of an expression.
    pub(super) fn of_expression(model: &'m Model, expression: ExprId) -> Self {
        let mut uses = Self::default();
        uses.add_calls_inside(model, Parts { expressions: vec![expression], ..Parts::default() });
        uses
    }

    fn add_calls_inside(&mut self, model: &'m Model, roots: Parts) {
        for_each_inside(model, roots, |part| self.calls.extend(call_of(model, part)));
    }
}
