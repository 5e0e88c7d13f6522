//! `never` claims as observers. In SPIN a claim makes a step in every state of a run, beginning with the first, and the
//! run violates the claim if it reaches its end. Here the possible positions of the claim after a run are part of the
//! state (one truth value per position), and nothing else changes: a claim that cannot move has no further effect. If
//! nothing moves, SPIN lets the claim observe the last state repeatedly, and so does this module.
//!
//! That is not enough for acceptance cycles, unless the claim can remain in an accepting state whatever happens: reaching
//! that state is then a violation, like reaching the end. Other claims with cycles through accepting states are automata
//! beside the model (`formulas`).

use std::rc::Rc;

use quotient_ir::{
    Diagnostic, ExprId, Fairness, Model, PlaceId, Property, PropertyKind, Rule, Span, Statement, Variable, VariableId,
};
use quotient_kit::Building;
use rustc_hash::FxHashSet;

use super::emission::{Emission, Origin};
use super::flow::{Action, ElementId, ElementKind, Flow, build};
use super::owner::{Context, Owner};
use super::pools::reachable;
use super::presentation::Telling;
use super::symbols::Symbols;
use crate::syntax::tree::{self, Expression, ExpressionKind, Proctype};

/// A claim whose steps can be observed.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) name: Rc<str>,
    pub(super) span: Span,
    flow: Flow,
    ways: Vec<Way>,
    /// Whether its acceptance cycles matter.
    is_automaton: bool,
}

/// A condition on the state, or that it does not hold.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    pub(super) condition: Expression,
    pub(super) outcome: bool,
}

/// A step of a claim.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The number of the point that it starts from.
    pub(super) from: i64,
    pub(super) guards: Vec<Guard>,
    /// The number of the point it leads to; zero for a violation.
    pub(super) to: i64,
}

/// The longest sequence of steps in one state.
const SEQUENCE_LIMIT: usize = 50;
/// The most steps of a claim.
const WAY_LIMIT: usize = 2000;

impl Claim {
    /// Translates a claim. None, with a warning, if it cannot be checked. Labels `accept` of processes count like those of
    /// the claim.
    pub(super) fn new(
        tree: &tree::Claim,
        symbols: &Symbols,
        watched: &FxHashSet<(Rc<str>, Rc<str>)>,
        accepts_by_processes: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let name: Rc<str> = tree.name.as_ref().map_or_else(|| "never".into(), |name| name.text.clone());
        let proctype = Proctype::of_claim(tree, name.clone());
        let (flow, process) = build(&proctype, symbols, watched, diagnostics);
        let mut claim = Self { name, span: tree.span, flow, ways: Vec::new(), is_automaton: false };
        claim.is_automaton = accepts_by_processes || claim.has_acceptance_cycle();
        let refusal = if process.variables.is_empty() { claim.find_ways().err() } else { Some("it has variables") };
        if let Some(reason) = refusal {
            let message = format!("this `never` claim cannot be checked: {reason}");
            diagnostics.push(
                Diagnostic::warning(quotient_kit::UNSUPPORTED_PROPERTY, message, tree.span)
                    .with_help("a claim consists of conditions on the state")
                    .about("never", &*claim.name),
            );
            return None;
        }
        Some(claim)
    }

    /// The conditions of its steps.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &Expression> {
        self.ways.iter().flat_map(|way| &way.guards).map(|guard| &guard.condition)
    }

    /// Its control flow.
    pub(super) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Whether it is an automaton beside the model and not part of the state.
    pub(super) fn is_automaton(&self) -> bool {
        self.is_automaton
    }

    /// Its steps.
    pub(super) fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// The number of the point that it starts at; zero if it has ended.
    pub(super) fn first(&self) -> i64 {
        if self.is_forbidden(self.flow.first) { 0 } else { self.flow.number(self.flow.first) }
    }

    /// Whether the point of a number has an `accept` label.
    pub(super) fn accepts(&self, number: i64) -> bool {
        self.is_accepting(self.flow.point(number))
    }

    fn is_accepting(&self, point: ElementId) -> bool {
        self.flow.elements[point].labels.iter().any(|label| label.starts_with("accept"))
    }

    /// How many control points it has.
    pub(super) fn points(&self) -> i64 {
        self.flow.points.len() as i64
    }

    /// Whether a point is one that the claim must never reach.
    fn is_forbidden(&self, point: ElementId) -> bool {
        let element = &self.flow.elements[point];
        let stays = |element: ElementId| {
            matches!(self.flow.elements[element].kind, ElementKind::Basic(Action::Skip) | ElementKind::Goto(_))
                && self.flow.target(element) == Some(point)
        };
        matches!(element.kind, ElementKind::End)
            || self.is_accepting(point) && self.flow.exits(point).iter().any(|exit| stays(exit.element))
    }

    /// Whether it can come back to an accepting point, other than one that it can remain at.
    fn has_acceptance_cycle(&self) -> bool {
        let flow = &self.flow;
        flow.points.iter().any(|&point| {
            let returns = |exit: &super::flow::Exit| {
                flow.target(exit.element).is_some_and(|target| reachable(flow, target).contains(&point))
            };
            !self.is_forbidden(point) && self.is_accepting(point) && flow.exits(point).iter().any(returns)
        })
    }

    fn find_ways(&mut self) -> Result<(), &'static str> {
        let flow = self.flow.clone();
        for &point in &flow.points {
            if self.is_forbidden(point) {
                continue;
            }
            self.ways_from(&flow, flow.number(point), point, &mut Vec::new(), 0)?;
        }
        Ok(())
    }

    fn ways_from(
        &mut self,
        flow: &Flow,
        from: i64,
        point: ElementId,
        guards: &mut Vec<Guard>,
        depth: usize,
    ) -> Result<(), &'static str> {
        if depth > SEQUENCE_LIMIT || self.ways.len() > WAY_LIMIT {
            return Err("it is too large");
        }
        let exits = flow.exits(point);
        for (position, exit) in exits.iter().enumerate() {
            let element = &flow.elements[exit.element];
            if exit.escape.is_some() {
                return Err("it has escapes");
            }
            let known = guards.len();
            match &element.kind {
                ElementKind::Basic(Action::Skip | Action::Print { .. }) | ElementKind::Goto(_) => {}
                ElementKind::Basic(Action::Condition(condition)) => {
                    if matches!(condition.kind, ExpressionKind::Run { .. }) {
                        return Err("it does more than look at the state");
                    }
                    guards.push(Guard { condition: condition.clone(), outcome: true });
                }
                ElementKind::Basic(Action::Assert(condition)) => {
                    guards.push(Guard { condition: condition.clone(), outcome: false });
                    self.ways.push(Way { from, guards: guards.clone(), to: 0 });
                    guards.truncate(known);
                    guards.push(Guard { condition: condition.clone(), outcome: true });
                }
                ElementKind::Else => {
                    for other in &exits[..position] {
                        match &flow.elements[other.element].kind {
                            ElementKind::Basic(Action::Condition(condition)) => {
                                guards.push(Guard { condition: condition.clone(), outcome: false });
                            }
                            // Something else can always be executed.
                            _ => {
                                let kind = ExpressionKind::Truth(false);
                                let condition = Expression { kind, span: element.span };
                                guards.push(Guard { condition, outcome: true });
                            }
                        }
                    }
                }
                _ => return Err("it does more than look at the state"),
            }
            if let Some(target) = flow.target(exit.element) {
                if element.atomic {
                    self.ways_from(flow, from, target, guards, depth + 1)?;
                } else {
                    let to = if self.is_forbidden(target) { 0 } else { flow.number(target) };
                    self.ways.push(Way { from, guards: guards.clone(), to });
                }
            }
            guards.truncate(known);
        }
        Ok(())
    }
}

impl Emission<'_, '_> {
    /// Declares the positions of the claims.
    pub(super) fn declare_claims(&mut self) {
        let program = self.program;
        for claim in &program.claims {
            let index = self.range_type(0, claim.points());
            let ty = self.array_type(index, Model::BOOLEAN);
            let name = self.unique_name(&claim.name);
            let span = claim.span;
            self.claims.push(self.model.variables.push(Variable { name, ty, may_be_undefined: false, span }));
        }
    }

    fn claim_place(&mut self, claim: VariableId, point: i64) -> PlaceId {
        let place = self.variable_place(claim);
        let point = self.number(point);
        self.element(place, point)
    }

    /// Statements that set the claims to their initial positions and let them observe the first state.
    pub(super) fn start_claims(&mut self, owner: &mut Owner) -> Vec<Statement> {
        let program = self.program;
        let mut statements = Vec::new();
        for (position, claim) in program.claims.iter().enumerate() {
            let place = self.claim_place(self.claims[position], claim.first());
            let yes = self.truth(true);
            statements.push(self.set(place, yes, claim.span));
        }
        statements.extend(self.observe(owner));
        statements
    }

    /// The next positions of a claim, for each point.
    fn claim_successors(&mut self, owner: &mut Owner, position: usize) -> Vec<ExprId> {
        let program = self.program;
        let claim = &program.claims[position];
        let variable = self.claims[position];
        let mut conditions: Vec<Vec<ExprId>> = vec![Vec::new(); claim.points() as usize + 1];
        for way in &claim.ways {
            let place = self.claim_place(variable, way.from);
            let mut all = vec![self.read(place)];
            for guard in &way.guards {
                let Some(condition) = self.condition(owner, Context::of_formula(), &guard.condition) else { continue };
                all.push(if guard.outcome { condition } else { self.not(condition) });
            }
            let all = self.all(all);
            conditions[way.to as usize].push(all);
        }
        // What happened once has happened.
        let place = self.claim_place(variable, 0);
        conditions[0].push(self.read(place));
        conditions.into_iter().map(|ways| self.any(ways)).collect()
    }

    /// Statements that let every claim observe a state, unless a process has exclusive control.
    pub(super) fn observe(&mut self, owner: &mut Owner) -> Vec<Statement> {
        let mut statements = Vec::new();
        for position in 0..self.claims.len() {
            let span = self.program.claims[position].span;
            let mut stores = Vec::new();
            for (point, value) in self.claim_successors(owner, position).into_iter().enumerate() {
                let place = self.claim_place(self.claims[position], point as i64);
                if self.constant_of(value).is_some() {
                    stores.push(self.set(place, value, span));
                    continue;
                }
                let local = owner.variable("next", Model::BOOLEAN);
                let next = self.local_place(owner, local);
                statements.push(self.set(next, value, span));
                let value = self.read(next);
                stores.push(self.set(place, value, span));
            }
            statements.extend(stores);
        }
        match self.exclusive {
            Some(exclusive) if !statements.is_empty() => {
                let place = self.variable_place(exclusive);
                let (holder, nobody) = (self.read(place), self.number(-1));
                let free = self.equal(holder, nobody);
                vec![Self::when(free, statements, Vec::new(), Span::default())]
            }
            _ => statements,
        }
    }

    /// If nothing moves, the claims observe the state again. New positions are added to the old ones, so that this
    /// terminates.
    pub(super) fn emit_stutter(&mut self) {
        for position in 0..self.claims.len() {
            let span = self.program.claims[position].span;
            let mut owner = Owner::default();
            let mut news = Vec::new();
            let mut body = Vec::new();
            let mut stores = Vec::new();
            for (point, value) in self.claim_successors(&mut owner, position).into_iter().enumerate() {
                let place = self.claim_place(self.claims[position], point as i64);
                let known = self.read(place);
                let unknown = self.not(known);
                let new = self.and(value, unknown);
                if self.constant_of(new) == Some(0) {
                    continue;
                }
                news.push(new);
                let local = owner.variable("next", Model::BOOLEAN);
                let next = self.local_place(&owner, local);
                let joined = self.or(known, value);
                body.push(self.set(next, joined, span));
                let value = self.read(next);
                stores.push(self.set(place, value, span));
            }
            body.extend(stores);
            let news = self.any(news);
            let quiet = self.nobody_moves(&mut owner, true);
            let guard = self.and(news, quiet);
            if self.constant_of(guard) == Some(0) {
                continue;
            }
            let name = Some(format!("{}: nothing moves", self.program.claims[position].name));
            self.model.rules.push(Rule {
                name,
                owner: quotient_ir::Owner::None,
                fairness: Fairness::None,
                parameters: Vec::new(),
                locals: owner.locals,
                guard,
                body,
                span,
            });
            let telling =
                Telling::Remark(None, format!("nothing moves, and {} looks again", self.program.claims[position].name));
            self.origins.push(Origin { mover: None, telling });
        }
    }

    /// The properties that no claim reaches its end.
    pub(super) fn emit_claim_properties(&mut self) {
        for position in 0..self.claims.len() {
            let claim = &self.program.claims[position];
            let (name, span) = (Some(claim.name.to_string()), claim.span);
            let place = self.claim_place(self.claims[position], 0);
            let ended = self.read(place);
            let formula = self.not(ended).into();
            self.model.properties.push(Property {
                name,
                kind: PropertyKind::Invariant,
                parameters: Vec::new(),
                locals: quotient_ir::Table::new(),
                formula,
                span,
            });
        }
    }
}
