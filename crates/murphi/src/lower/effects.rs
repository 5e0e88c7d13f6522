//! The side effects of functions, so that guards and properties call only functions without any. A function that only
//! reads what it is given by reference has no side effect.

use quotient_ir::{Diagnostic, FunctionId, PlaceId, Span};
use rustc_hash::FxHashSet;

use super::Lowering;
use super::functions::Signature;

/// Where a place lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// In the state.
    Global,
    /// In the owner.
    Local,
    /// Wherever the caller's argument for this reference parameter (by position) lives.
    Parameter(usize),
}

/// What a function may change.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    /// Where it changes the state.
    pub(super) global: Option<Span>,
    /// Where it changes what it was given by reference, by position of the parameter.
    pub(super) parameters: Vec<(usize, Span)>,
    /// Where it drops the step or notes a cover.
    pub(super) path: Option<Span>,
    /// Calls of itself: a reference parameter by position, and where the argument lives.
    own_calls: FxHashSet<(usize, Origin)>,
}

impl Effects {
    fn write(&mut self, origin: Origin, span: Span) -> bool {
        match origin {
            Origin::Local => false,
            Origin::Global => {
                let new = self.global.is_none();
                self.global.get_or_insert(span);
                new
            }
            Origin::Parameter(position) => {
                let new = !self.parameters.iter().any(|&(known, _)| known == position);
                if new {
                    self.parameters.push((position, span));
                }
                new
            }
        }
    }

    /// The side effects of its recursive calls.
    pub(super) fn close(&mut self) {
        loop {
            let mut changed = false;
            for (position, origin) in self.own_calls.clone() {
                if let Some(&(_, span)) = self.parameters.iter().find(|&&(known, _)| known == position) {
                    changed |= self.write(origin, span);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Where it has a side effect of any kind.
    fn any(&self) -> Option<Span> {
        self.global.or(self.path).or(self.parameters.first().map(|&(_, span)| span))
    }
}

impl Lowering<'_> {
    /// Records that a statement of the owner writes to a place.
    pub(super) fn note_write(&mut self, place: PlaceId, span: Span) {
        let origin = self.origin(place);
        self.owner.effects.write(origin, span);
    }

    /// Notes that a statement of the owner drops the step or notes a cover.
    pub(super) fn note_path_effect(&mut self, span: Span) {
        self.owner.effects.path.get_or_insert(span);
    }

    /// Records what a call changes, or reports it where nothing may change. `references` are the places passed by
    /// reference, with the positions of their parameters.
    pub(super) fn note_call(&mut self, function: FunctionId, references: &[(usize, PlaceId)], span: Span) {
        self.owner.calls += 1;
        let Signature { name, effects, complete, .. } = &self.signatures[function];
        if !complete {
            let own_calls: Vec<_> = references.iter().map(|&(at, place)| (at, self.origin(place))).collect();
            self.owner.effects.own_calls.extend(own_calls);
            return;
        }
        if let (Some(context), Some(cause)) = (self.owner.pure, effects.any()) {
            let error = Diagnostic::error("side-effect", format!("`{name}` has side effects"), span)
                .with_label(format!("called {context}, where nothing may change"))
                .with_secondary(cause, "the side effect")
                .with_help("call a function that only looks at the state, or move this into the body of a rule");
            self.report(error);
            return;
        }
        let effects = effects.clone();
        if effects.global.is_some() {
            self.owner.effects.global.get_or_insert(span);
        }
        if effects.path.is_some() {
            self.owner.effects.path.get_or_insert(span);
        }
        for (written, _) in effects.parameters {
            if let Some(&(_, place)) = references.iter().find(|&&(position, _)| position == written) {
                self.note_write(place, span);
            }
        }
    }
}
