//! Assertions as properties.

use std::rc::Rc;

use quotient_ir::{
    Behaviour, BehaviourClaim, Diagnostic, ExprId, Formula, Objective, Positions, Property, PropertyKind, Span,
    StartId, Table, TableIndex, Temporal, TemporalClaim,
};
use quotient_kit::Building;
use quotient_temporal::{Atom, Formula as Node, Formulas};
use rustc_hash::FxHashMap;

use super::emission::Emission;
use super::moves::Move;
use super::steps::Label;
use super::symbols::Symbols;
use super::terms::{Event, Value};
use super::values::Context;
use crate::syntax::tree::{Assertion, Claim, Linear, LinearBinary, LinearKind, LinearUnary};

/// The most conditions of one formula: an automaton reads them as the bits of a word.
const ATOM_LIMIT: usize = 64;

/// An assertion with what it is about.
pub(super) struct Asserted<'t> {
    pub(super) tree: &'t Assertion,
    /// The process it is about; none: all.
    pub(super) root: Option<usize>,
    /// The process that it is compared with.
    pub(super) specification: Option<usize>,
    /// The condition to reach, or that holds.
    pub(super) condition: Option<Value>,
    /// The value of which the best is asked for, and whether the least is.
    pub(super) optimum: Option<(Value, bool)>,
    /// The propositions of a formula.
    pub(super) propositions: FxHashMap<Rc<str>, Value>,
}

/// What an atom of a formula means.
enum Meaning {
    Proposition(Value),
    Event(Event),
}

/// The event of an atom.
fn event_of(symbols: &mut Symbols<'_>, formula: &Linear) -> Option<Event> {
    match &formula.kind {
        LinearKind::Atom(name, arguments) => {
            let values = arguments.iter().map(|argument| symbols.number(argument)).collect::<Option<Vec<i64>>>()?;
            Some((name.text.clone(), values))
        }
        LinearKind::Quoted(text) => {
            // `c!1.2` and `c?1.2` are messages through a buffer.
            let text: String = text.split_whitespace().collect();
            let split = text.find(['!', '?', '.']).unwrap_or(text.len());
            let is_message = text[split..].starts_with(['!', '?']);
            let (name, rest) = text.split_at(split + usize::from(is_message));
            let rest = rest.trim_start_matches('.');
            let values: Result<Vec<i64>, _> = rest.split('.').filter(|part| !part.is_empty()).map(str::parse).collect();
            match values {
                Ok(values) => Some((name.into(), values)),
                Err(_) => {
                    symbols.error("unknown-event", format!("\"{text}\" is not an event"), formula.span);
                    None
                }
            }
        }
        _ => None,
    }
}

/// Resolves what the formulas of assertions mention; the events among that.
pub(super) fn propositions(symbols: &mut Symbols<'_>, asserted: &mut [Asserted<'_>]) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for it in asserted {
        let Claim::Linear(formula) = &it.tree.claim else { continue };
        let mut pending = vec![formula];
        while let Some(formula) = pending.pop() {
            match &formula.kind {
                LinearKind::Truth(_) | LinearKind::Condition(_) => {}
                LinearKind::Unary(_, inner) => pending.push(inner),
                LinearKind::Binary(_, left, right) => pending.extend([&**right, &**left]),
                LinearKind::Atom(name, arguments) if arguments.is_empty() => {
                    if let Some(expression) = symbols.proposition(&name.text) {
                        let value = symbols.closed_value(expression);
                        it.propositions.insert(name.text.clone(), value);
                        continue;
                    }
                    events.extend(event_of(symbols, formula));
                }
                LinearKind::Atom(..) | LinearKind::Quoted(_) => events.extend(event_of(symbols, formula)),
            }
        }
    }
    events.sort();
    events.dedup();
    events
}

/// Warns about events of formulas that no step has.
pub(super) fn check_events(
    symbols: &mut Symbols<'_>,
    events: &[Event],
    moves: &[Vec<Move>],
    asserted: &[Asserted<'_>],
) {
    let mut known: Vec<String> = Vec::new();
    for it in moves.iter().flatten() {
        known.push(match &it.label {
            Label::Event { name, .. } => name.to_string(),
            Label::Passed { channel, .. } => symbols.channels[*channel].name.to_string(),
            Label::Queue { channel, sends, .. } => {
                format!("{}{}", symbols.channels[*channel].name, if *sends { '!' } else { '?' })
            }
            _ => continue,
        });
    }
    known.sort();
    known.dedup();
    for (name, _) in events.iter().filter(|(name, _)| !known.iter().any(|it| **it == **name)) {
        let span = asserted.iter().find_map(|it| match &it.tree.claim {
            Claim::Linear(formula) => atom_span(formula, name),
            _ => None,
        });
        let message = format!("`{name}` is neither a proposition nor an event that can happen");
        let mut warning = Diagnostic::warning("unknown-event", message, span.unwrap_or_default());
        let propositions = symbols.tree.macros.iter().map(|it| &*it.name.text);
        let similar = quotient_kit::similar(name, known.iter().map(|it| &**it).chain(propositions));
        warning.help = similar.map(|it| format!("did you mean `{it}`?"));
        symbols.report(warning);
    }
}

fn atom_span(formula: &Linear, name: &str) -> Option<quotient_ir::Span> {
    match &formula.kind {
        LinearKind::Atom(atom, _) => (*atom.text == *name).then_some(formula.span),
        LinearKind::Quoted(text) => text.starts_with(name).then_some(formula.span),
        LinearKind::Unary(_, inner) => atom_span(inner, name),
        LinearKind::Binary(_, left, right) => atom_span(left, name).or_else(|| atom_span(right, name)),
        LinearKind::Truth(_) | LinearKind::Condition(_) => None,
    }
}

fn is_temporal(formula: &Linear) -> bool {
    match &formula.kind {
        LinearKind::Unary(LinearUnary::Not, inner) => is_temporal(inner),
        LinearKind::Unary(..) | LinearKind::Binary(LinearBinary::Until | LinearBinary::Release, ..) => true,
        LinearKind::Binary(_, left, right) => is_temporal(left) || is_temporal(right),
        _ => false,
    }
}

/// The conditions of a formula under construction.
#[derive(Default)]
struct Atoms {
    conditions: Vec<ExprId>,
    names: Vec<String>,
}

impl Emission<'_, '_> {
    /// Adds the property of an assertion.
    pub(super) fn claim(&mut self, it: &Asserted<'_>, symbols: &mut Symbols<'_>) {
        let span = it.tree.span;
        let text = self.model.source.text.get(span.range()).unwrap_or_default();
        let text = text.trim_start_matches('#').trim_start().trim_start_matches("assert");
        let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let elsewhere = match it.root {
            Some(root) if self.network.roots.len() > 1 => {
                let running = self.is_running(root);
                Some(self.not(running))
            }
            _ => None,
        };
        match (&it.tree.claim, it.root) {
            (Claim::DeadlockFree | Claim::NonTerminating, Some(root)) => {
                if self.is_found_by_search(&it.tree.claim) {
                    return;
                }
                let mut fine = self.guards[root].clone();
                if matches!(it.tree.claim, Claim::DeadlockFree) {
                    fine.insert(0, self.has_terminated(root));
                }
                let fine = self.any(fine);
                let formula = self.guarded_by_root(elsewhere, fine);
                self.property(name, PropertyKind::Invariant, formula, span);
            }
            (Claim::Reaches(..), _) => {
                let Some(condition) = &it.condition else { return };
                let mut condition = self.closed_condition(condition);
                if let Some(elsewhere) = elsewhere {
                    let running = self.not(elsewhere);
                    condition = self.and(running, condition);
                }
                let property = self.property(name, PropertyKind::Cover, condition, span);
                if let Some((value, is_least)) = &it.optimum {
                    let captured = FxHashMap::default();
                    let context = Context { component: 0, captured: &captured };
                    let value = self.number_value(value, context, None);
                    self.model.objectives.push(Objective { property, value, is_least: *is_least });
                }
            }
            (Claim::Invariant(_), _) => {
                let Some(condition) = &it.condition else { return };
                let condition = self.closed_condition(condition);
                self.property(name, PropertyKind::Invariant, condition, span);
            }
            (Claim::DeadlockFree | Claim::NonTerminating, None) => {}
            (Claim::Linear(formula), _) => self.linear(it, formula, name, elsewhere, symbols),
            (Claim::DivergenceFree, Some(root)) => self.behaviour(root, BehaviourClaim::DivergenceFree, name, span),
            (Claim::Deterministic, Some(root)) => self.behaviour(root, BehaviourClaim::Deterministic, name, span),
            (Claim::Refines(sense, ..), Some(root)) => {
                let Some(specification) = it.specification else { return };
                let specification = StartId::from_position(specification);
                self.behaviour(root, BehaviourClaim::Refines { specification, sense: *sense }, name, span);
            }
            (Claim::DivergenceFree | Claim::Deterministic | Claim::Refines(..), None) => {}
        }
    }

    /// A claim about the events of a process. Each has a start of its own.
    fn behaviour(&mut self, root: usize, claim: BehaviourClaim, name: String, span: Span) {
        let process = StartId::from_position(root);
        let behaviour = Behaviour { process, claim, labels: self.labels.clone() };
        let temporal = Temporal {
            claim: TemporalClaim::Behaviour(Box::new(behaviour)),
            atoms: Vec::new(),
            names: Vec::new(),
            text: name.clone(),
            positions: Positions::Stored,
        };
        self.push_temporal(name, temporal, span);
    }

    fn push_temporal(&mut self, name: String, temporal: Temporal, span: Span) {
        self.model.properties.push(Property {
            name: Some(name),
            kind: PropertyKind::Temporal,
            parameters: Vec::new(),
            locals: Table::new(),
            formula: Formula::Temporal(Box::new(temporal)),
            span,
        });
    }

    /// Claims that no state is stuck, for one process. The search finds such states by itself; if states after
    /// termination may be stuck, they get a step that does nothing.
    pub(super) fn claim_no_deadlock(&mut self, asserted: &[Asserted<'_>]) {
        if self.network.roots.len() > 1 {
            return;
        }
        let has = |claim: fn(&Claim) -> bool| asserted.iter().any(|it| claim(&it.tree.claim));
        let may_terminate = has(|claim| matches!(claim, Claim::DeadlockFree));
        if may_terminate {
            self.stay_terminated();
        }
        if may_terminate || has(|claim| matches!(claim, Claim::NonTerminating)) {
            self.model.claims_no_deadlock = true;
            self.may_terminate = may_terminate;
        }
    }

    fn is_found_by_search(&self, claim: &Claim) -> bool {
        self.model.claims_no_deadlock && matches!(claim, Claim::DeadlockFree) == self.may_terminate
    }

    /// A condition for one root.
    fn guarded_by_root(&mut self, elsewhere: Option<ExprId>, condition: ExprId) -> ExprId {
        match elsewhere {
            Some(elsewhere) => self.or(elsewhere, condition),
            None => condition,
        }
    }

    /// A condition without processes.
    pub(super) fn closed_condition(&mut self, value: &Value) -> ExprId {
        let captured = FxHashMap::default();
        self.condition(value, Context { component: 0, captured: &captured }, None)
    }

    fn linear(
        &mut self,
        it: &Asserted<'_>,
        formula: &Linear,
        name: String,
        elsewhere: Option<ExprId>,
        symbols: &mut Symbols<'_>,
    ) {
        let span = it.tree.span;
        if let LinearKind::Unary(LinearUnary::Always, inner) = &formula.kind
            && !is_temporal(inner)
        {
            let Some(condition) = self.state_condition(it, inner, symbols) else { return };
            let condition = self.guarded_by_root(elsewhere, condition);
            self.property(name, PropertyKind::Invariant, condition, span);
            return;
        }
        let mut pool = Formulas::new();
        let mut atoms = Atoms::default();
        let Some(mut root) = self.node(it, formula, &mut pool, &mut atoms, symbols) else { return };
        if let Some(elsewhere) = elsewhere {
            let other = self.atom(elsewhere, "another process".into(), &mut pool, &mut atoms);
            root = pool.or([other, root]);
        }
        if atoms.conditions.len() > ATOM_LIMIT {
            let message = format!("the formula has {} conditions, more than {ATOM_LIMIT}", atoms.conditions.len());
            let error = Diagnostic::error("too-many-conditions", message, formula.span);
            self.diagnostics.push(error.with_help("split it into several assertions"));
            return;
        }
        let text = self.model.source.text.get(formula.span.range()).unwrap_or_default();
        let temporal = Temporal {
            claim: TemporalClaim::Linear { pool, formula: root },
            atoms: atoms.conditions,
            names: atoms.names,
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            positions: Positions::Stored,
        };
        self.push_temporal(name, temporal, span);
    }

    fn meaning(&self, it: &Asserted<'_>, formula: &Linear, symbols: &mut Symbols<'_>) -> Option<Meaning> {
        if let LinearKind::Atom(name, arguments) = &formula.kind
            && arguments.is_empty()
            && let Some(value) = it.propositions.get(&name.text)
        {
            return Some(Meaning::Proposition(value.clone()));
        }
        if let LinearKind::Condition(condition) = &formula.kind {
            return Some(Meaning::Proposition(symbols.closed_value(condition)));
        }
        event_of(symbols, formula).map(Meaning::Event)
    }

    fn atom_condition(&mut self, it: &Asserted<'_>, formula: &Linear, symbols: &mut Symbols<'_>) -> Option<ExprId> {
        match self.meaning(it, formula, symbols)? {
            Meaning::Proposition(value) => Some(self.closed_condition(&value)),
            Meaning::Event(event) => self.is_last(&event),
        }
    }

    /// A formula without temporal operators as a condition.
    fn state_condition(&mut self, it: &Asserted<'_>, formula: &Linear, symbols: &mut Symbols<'_>) -> Option<ExprId> {
        match &formula.kind {
            LinearKind::Truth(value) => Some(self.truth(*value)),
            LinearKind::Atom(..) | LinearKind::Quoted(_) | LinearKind::Condition(_) => {
                self.atom_condition(it, formula, symbols)
            }
            LinearKind::Unary(_, inner) => {
                let inner = self.state_condition(it, inner, symbols)?;
                Some(self.not(inner))
            }
            LinearKind::Binary(operator, left, right) => {
                let left = self.state_condition(it, left, symbols)?;
                let right = self.state_condition(it, right, symbols)?;
                Some(match operator {
                    LinearBinary::And => self.and(left, right),
                    LinearBinary::Or => self.or(left, right),
                    LinearBinary::Equivalent => self.equal(left, right),
                    _ => {
                        let not = self.not(left);
                        self.or(not, right)
                    }
                })
            }
        }
    }

    fn atom(&mut self, condition: ExprId, name: String, pool: &mut Formulas, atoms: &mut Atoms) -> Node {
        let known = atoms.conditions.iter().position(|it| *it == condition);
        let number = known.unwrap_or_else(|| {
            atoms.conditions.push(condition);
            atoms.names.push(name);
            atoms.conditions.len() - 1
        });
        pool.atom(Atom(number as u32))
    }

    fn node(
        &mut self,
        it: &Asserted<'_>,
        formula: &Linear,
        pool: &mut Formulas,
        atoms: &mut Atoms,
        symbols: &mut Symbols<'_>,
    ) -> Option<Node> {
        Some(match &formula.kind {
            LinearKind::Truth(value) => pool.constant(*value),
            LinearKind::Atom(..) | LinearKind::Quoted(_) | LinearKind::Condition(_) => {
                let condition = self.atom_condition(it, formula, symbols)?;
                let name = self.model.source.text.get(formula.span.range()).unwrap_or_default().to_owned();
                self.atom(condition, name, pool, atoms)
            }
            LinearKind::Unary(operator, inner) => {
                let inner = self.node(it, inner, pool, atoms, symbols)?;
                match operator {
                    LinearUnary::Not => pool.not(inner),
                    LinearUnary::Next => pool.next(inner),
                    LinearUnary::Always => pool.always(inner),
                    LinearUnary::Eventually => pool.eventually(inner),
                }
            }
            LinearKind::Binary(operator, left, right) => {
                let left = self.node(it, left, pool, atoms, symbols)?;
                let right = self.node(it, right, pool, atoms, symbols)?;
                match operator {
                    LinearBinary::And => pool.and([left, right]),
                    LinearBinary::Or => pool.or([left, right]),
                    LinearBinary::Implies => pool.implies(left, right),
                    LinearBinary::Equivalent => pool.equivalent(left, right),
                    LinearBinary::Until => pool.until(left, right),
                    LinearBinary::Release => pool.release(left, right),
                }
            }
        })
    }
}
