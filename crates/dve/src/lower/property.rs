//! The automaton of a property, as a claim that it accepts no run.
//!
//! As in DiVinE, the automaton takes a transition with each step of the system, and its guards are evaluated in the
//! state before the step. It accepts a run in which it is in an accepting state infinitely often. In an asynchronous
//! system it also moves where the system cannot: a run that ends stays in its last state forever. In a synchronous
//! system the automaton is one of the processes that move together, so a run that ends is not infinite and is not
//! accepted.

use quotient_ir::walk::{Node, visit_nodes};
use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Formula, Positions, Property, PropertyKind, Span, Step, Table, Temporal,
    TemporalClaim,
};
use quotient_kit::Building;
use quotient_temporal::{Atom, Automaton, Cube, Transition};

use super::Lowering;
use crate::syntax::tree::{Binary, Composition, Expression, ExpressionKind, Unary};

/// The most conditions of an automaton: cubes are words of so many bits.
const MOST_CONDITIONS: usize = 64;

/// The conditions of an automaton.
#[derive(Default)]
struct Conditions {
    atoms: Vec<ExprId>,
    names: Vec<String>,
}

impl<'t> Lowering<'t> {
    /// The automaton of a property.
    pub(super) fn property(&mut self, composition: &Composition) {
        let (Some(name), Some(number)) = (&composition.property, self.symbols.property) else { return };
        let entry = &self.symbols.processes[number];
        let process = entry.tree;
        self.check_observation(number);
        let mut conditions = Conditions::default();
        let always = if composition.is_synchronous { self.system_moves(&mut conditions) } else { Cube::TRUE };
        let accepting: Vec<Option<usize>> =
            process.accepting.iter().map(|state| entry.states.get(&state.text).copied()).collect();
        let mut transitions = Vec::new();
        for transition in &process.transitions {
            let (from, to) = (self.state_of(number, &transition.from), self.state_of(number, &transition.to));
            let cube = match &transition.guard {
                Some(guard) => {
                    // Checks the whole text, also behind what is never true.
                    self.condition(guard, Some(number));
                    self.cube(guard, number, &mut conditions)
                }
                None => Some(Cube::TRUE),
            };
            let cube = cube.and_then(|cube| cube.and(always));
            if let (Some(from), Some(to), Some(cube)) = (from, to, cube) {
                let acceptance = u64::from(accepting.contains(&Some(from)));
                transitions.push(Transition { from: from as u32, to: to as u32, cube, acceptance });
            }
        }
        if process.accepting.is_empty() {
            let message = format!("the automaton `{}` has no accepting state", process.name.text);
            let warning = Diagnostic::warning("no-accepting-state", message, process.name.span);
            self.report(warning.with_help("it accepts nothing, so the property always holds; write `accept s;`"));
        }
        let Conditions { atoms, names } = conditions;
        let mut automaton = Automaton {
            atoms: (0..atoms.len() as u32).map(Atom).collect(),
            states: process.states.len() as u32,
            initial: entry.initial.iter().map(|&state| state as u32).collect(),
            acceptance_sets: 1,
            transitions,
        };
        automaton.normalise();
        let temporal = Temporal {
            claim: TemporalClaim::Never(automaton),
            atoms,
            names,
            text: format!("never {}", name.text),
            positions: Positions::Stored,
        };
        self.model.properties.push(Property {
            name: Some(name.text.to_string()),
            kind: PropertyKind::Temporal,
            parameters: Vec::new(),
            locals: Table::new(),
            formula: Formula::Temporal(Box::new(temporal)),
            span: name.span,
        });
    }

    /// The automaton of a property only observes the system.
    fn check_observation(&mut self, number: usize) {
        let process = self.symbols.processes[number].tree;
        let effects = process.transitions.iter().flat_map(|it| &it.effects).map(|it| it.span);
        let syncs = process.transitions.iter().filter_map(|it| it.sync.as_ref()).map(|it| it.span);
        let problems: Vec<(&'static str, &'static str, Span)> =
            effects
                .map(|span| ("property-effect", "the automaton of a property has effects", span))
                .chain(syncs.map(|span| ("property-sync", "the automaton of a property uses a channel", span)))
                .chain(
                    process.committed.iter().map(|state| {
                        ("property-commit", "the automaton of a property has a committed state", state.span)
                    }),
                )
                .chain(process.assertions.iter().map(|(state, _)| {
                    ("property-assertion", "the automaton of a property has an assertion", state.span)
                }))
                .collect();
        for (code, message, span) in problems {
            self.report(Diagnostic::error(code, message, span).with_help("it may only observe the system"));
        }
    }

    /// A literal: a step of the synchronous system is possible.
    fn system_moves(&mut self, conditions: &mut Conditions) -> Cube {
        let symbols = self.symbols;
        let mut all = self.truth(true);
        for &process in &symbols.moving {
            let mut some = self.truth(false);
            for (position, transition) in symbols.processes[process].tree.transitions.iter().enumerate() {
                let Some(from) = self.state_of(process, &transition.from) else { continue };
                let mut possible = self.in_state(process, from);
                if let Some(guard) = &transition.guard {
                    let guard = self.condition(guard, Some(process));
                    possible = self.and(possible, guard);
                }
                some = if position == 0 { possible } else { self.binary(BinaryOperator::Or, some, possible) };
            }
            all = self.and(all, some);
        }
        Cube { positive: 1 << conditions.add(all, "a step is possible".to_owned()), negative: 0 }
    }

    /// A guard of the automaton as a cube, if it can be true.
    fn cube(&mut self, guard: &Expression, number: usize, conditions: &mut Conditions) -> Option<Cube> {
        let mut cube = Cube::TRUE;
        let mut pending = vec![(guard, true)];
        while let Some((part, positive)) = pending.pop() {
            // Conditions are evaluated each by itself, so only what cannot be an error is taken out of a connective.
            match (&part.kind, positive) {
                (ExpressionKind::Unary(Unary::Not, operand), _) => {
                    pending.push((operand, !positive));
                    continue;
                }
                (ExpressionKind::Binary(Binary::And, left, right), true)
                | (ExpressionKind::Binary(Binary::Or, left, right), false)
                    if self.cannot_fail(right, number) =>
                {
                    pending.extend([(&**right, positive), (&**left, positive)]);
                    continue;
                }
                (ExpressionKind::Binary(Binary::Imply, left, right), false) if self.cannot_fail(right, number) => {
                    pending.extend([(&**right, false), (&**left, true)]);
                    continue;
                }
                _ => {}
            }
            let condition = self.condition(part, Some(number));
            if let Expr::Constant { value, .. } = self.model.pool[condition] {
                if (value != 0) == positive {
                    continue;
                }
                return None;
            }
            let text = self.model.source.text.get(part.span.range()).unwrap_or_default();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let position = conditions.add(condition, text);
            if position >= MOST_CONDITIONS {
                let message = format!("the automaton of a property has more than {MOST_CONDITIONS} conditions");
                self.report(Diagnostic::error("too-large", message, part.span));
                return None;
            }
            let bit = 1 << position;
            let literal =
                if positive { Cube { positive: bit, negative: 0 } } else { Cube { positive: 0, negative: bit } };
            cube = cube.and(literal)?;
        }
        Some(cube)
    }

    /// Whether an expression has a value in every state.
    fn cannot_fail(&mut self, expression: &Expression, number: usize) -> bool {
        let condition = self.condition(expression, Some(number));
        let model = &self.model;
        let mut fine = true;
        visit_nodes(model, [Node::Expression(condition)], |node| match node {
            Node::Expression(id) => {
                if let Expr::Binary { operator, .. } = &model.pool[id] {
                    let partial = [
                        BinaryOperator::Divide,
                        BinaryOperator::Remainder,
                        BinaryOperator::ShiftLeft,
                        BinaryOperator::ShiftRight,
                    ];
                    fine &= !partial.contains(operator);
                }
            }
            // An index may be out of range.
            Node::Place(id) => fine &= !model.pool[id].steps.iter().any(|step| matches!(step, Step::Index(_))),
        });
        fine
    }
}

impl Conditions {
    /// The position of a condition. One that is too many has a position that is too large, and is not kept.
    fn add(&mut self, condition: ExprId, name: String) -> usize {
        if let Some(position) = self.atoms.iter().position(|&known| known == condition) {
            return position;
        }
        if self.atoms.len() < MOST_CONDITIONS {
            self.atoms.push(condition);
            self.names.push(name);
            return self.atoms.len() - 1;
        }
        MOST_CONDITIONS
    }
}
