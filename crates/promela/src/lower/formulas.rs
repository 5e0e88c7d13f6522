//! Temporal properties: `ltl` and `ctl` blocks, `never` claims with acceptance, and the labels `accept` and `progress`.
//!
//! A part of a formula without temporal operators is one condition on the state. A formula speaks about the states that
//! SPIN stores: not about those inside of atomic sequences, in which its claims do not move.

use quotient_ir::{
    Diagnostic, ExprId, Formula, Iteration, Parameter, Positions, Property, PropertyKind, Quantifier, Span, Temporal,
    TemporalClaim,
};
use quotient_kit::Building;
use quotient_temporal::{Atom, Automaton, Cube, Formula as Node, Formulas, Transition};
use rustc_hash::FxHashMap;

use super::claims::Claim;
use super::emission::{Checks, Emission};
use super::owner::{Bound, Context, Owner};
use super::program::walk;
use super::wording::condition_text;
use super::words::Value;
use crate::syntax::tree::{self, Binary, Domain, Expression, ExpressionKind, Quantified, Unary};

/// The name of the property that no run passes labels `accept` forever.
pub(super) const ACCEPTANCE: &str = "acceptance";
/// The name of the property that every run passes labels `progress` again and again.
pub(super) const PROGRESS: &str = "progress";
/// The most conditions of one formula: an automaton reads them as the bits of a word.
const ATOM_LIMIT: usize = 64;

/// The conditions of a formula under construction.
#[derive(Default)]
struct Atoms {
    conditions: Vec<ExprId>,
    names: Vec<String>,
    numbers: FxHashMap<ExprId, Atom>,
}

impl Atoms {
    fn number(&mut self, condition: ExprId, name: impl FnOnce() -> String) -> Atom {
        *self.numbers.entry(condition).or_insert_with(|| {
            self.conditions.push(condition);
            self.names.push(name());
            Atom(self.conditions.len() as u32 - 1)
        })
    }
}

/// A formula under construction.
struct Lowering {
    pool: Formulas,
    atoms: Atoms,
    branching: bool,
}

/// Whether something temporal is in an expression.
pub(super) fn is_temporal(expression: &Expression) -> bool {
    let mut temporal = false;
    walk(expression, &mut |inner| temporal |= is_temporal_itself(inner));
    temporal
}

fn is_temporal_itself(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Unary(operator, _) => operator.is_temporal(),
        ExpressionKind::Binary(operator, ..) => operator.is_temporal(),
        ExpressionKind::Path(..) => true,
        _ => false,
    }
}

/// The conditions that must hold in every state for a formula to hold, if it is of that form: `[] p` with nothing
/// temporal in `p`, and equivalent formulas.
pub(super) fn invariants(formula: &Expression) -> Option<Vec<Expression>> {
    use quotient_temporal::PathQuantifier::{All, Some as Exists};
    let negation = |inner: &Expression| {
        let kind = ExpressionKind::Unary(Unary::Not, Box::new(inner.clone()));
        Expression { kind, span: inner.span }
    };
    match &formula.kind {
        ExpressionKind::Unary(Unary::Always, inner) if !is_temporal(inner) => Some(vec![(**inner).clone()]),
        ExpressionKind::Unary(Unary::Always, inner) | ExpressionKind::Path(All, inner) => invariants(inner),
        ExpressionKind::Unary(Unary::Not, inner) => {
            let inner = match &inner.kind {
                ExpressionKind::Path(Exists, inner) => inner,
                _ => inner,
            };
            match &inner.kind {
                ExpressionKind::Unary(Unary::Eventually, inner) if !is_temporal(inner) => Some(vec![negation(inner)]),
                ExpressionKind::Unary(Unary::Not, inner) => invariants(inner),
                _ => None,
            }
        }
        ExpressionKind::Binary(Binary::And, left, right) => {
            let mut all = invariants(left)?;
            all.extend(invariants(right)?);
            Some(all)
        }
        ExpressionKind::Quantified(quantified) if quantified.universal => {
            let all = invariants(&quantified.body)?;
            let quantify = |body: Expression| {
                let span = body.span;
                let kind = ExpressionKind::Quantified(Box::new(Quantified { body, ..(**quantified).clone() }));
                Expression { kind, span }
            };
            Some(all.into_iter().map(quantify).collect())
        }
        _ => None,
    }
}

impl Emission<'_, '_> {
    /// A formula as a property: conditions on single states where it is nothing else, and a temporal property otherwise.
    pub(super) fn emit_formula(&mut self, name: String, formula: &tree::Formula) {
        if let Some(conditions) = invariants(&formula.condition).filter(|_| self.is_path_quantified_as_due(formula)) {
            for condition in conditions {
                self.emit_invariant(Some(name.clone()), &condition, formula.span);
            }
            return;
        }
        let mut owner = Owner::default();
        let mut parameters = Vec::new();
        let mut body = &formula.condition;
        let mut vacuous = false;
        while let ExpressionKind::Quantified(quantified) = &body.kind
            && quantified.universal
            && is_temporal(&quantified.body)
        {
            let Some((low, high)) = self.domain(quantified) else { return };
            vacuous |= low > high;
            let ty = self.range_type(low, high.max(low));
            let local = owner.parameter(&quantified.variable.text, ty);
            parameters.push(Parameter { local, range: Iteration::Over(ty) });
            let expression = self.read_local(&owner, local);
            let value = Value { expression, is_boolean: false, low, high };
            owner.bound.push(Bound { name: quantified.variable.text.clone(), value });
            body = &quantified.body;
        }
        let mut lowering = Lowering { pool: Formulas::new(), atoms: Atoms::default(), branching: formula.branching };
        let Some(root) = self.temporal(&mut owner, &mut lowering, body, false) else { return };
        let Lowering { pool, atoms, .. } = lowering;
        if !self.fits(&atoms, formula.span) {
            return;
        }
        let root = if vacuous { pool.constant(true) } else { root };
        let claim = match formula.branching {
            true => TemporalClaim::Branching { pool, formula: root },
            false => TemporalClaim::Linear { pool, formula: root },
        };
        let text = self.model.source.text.get(formula.condition.span.range()).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.push_temporal(name, parameters, owner, claim, atoms, text, formula.span);
    }

    fn fits(&mut self, atoms: &Atoms, span: Span) -> bool {
        let fits = atoms.conditions.len() <= ATOM_LIMIT;
        if !fits {
            let message = format!("the formula has {} conditions, more than {ATOM_LIMIT}", atoms.conditions.len());
            let help = "split it into several formulas; quantifiers count once for each value";
            self.complain(Diagnostic::error("too-many-conditions", message, span).with_help(help));
        }
        fits
    }

    #[expect(clippy::too_many_arguments, reason = "everything that a temporal property consists of")]
    fn push_temporal(
        &mut self,
        name: String,
        parameters: Vec<Parameter>,
        owner: Owner,
        claim: TemporalClaim,
        atoms: Atoms,
        text: String,
        span: Span,
    ) {
        let Atoms { conditions, names, .. } = atoms;
        let temporal = Temporal { claim, atoms: conditions, names, text, positions: Positions::Stored };
        self.model.properties.push(Property {
            name: Some(name),
            kind: PropertyKind::Temporal,
            parameters,
            locals: owner.locals,
            formula: Formula::Temporal(Box::new(temporal)),
            span,
        });
    }

    /// Whether a formula has path quantifiers where it needs them and nowhere else. What is wrong is reported when the
    /// formula is lowered.
    fn is_path_quantified_as_due(&self, formula: &tree::Formula) -> bool {
        fn governed(expression: &Expression, branching: bool) -> bool {
            match &expression.kind {
                ExpressionKind::Path(..) => branching,
                ExpressionKind::Unary(operator, _) if operator.is_temporal() => !branching && linear(expression),
                ExpressionKind::Unary(_, inner) => governed(inner, branching),
                ExpressionKind::Binary(_, left, right) => governed(left, branching) && governed(right, branching),
                ExpressionKind::Quantified(quantified) => governed(&quantified.body, branching),
                _ => true,
            }
        }
        fn linear(expression: &Expression) -> bool {
            let mut linear = true;
            walk(expression, &mut |inner| linear &= !matches!(inner.kind, ExpressionKind::Path(..)));
            linear
        }
        governed(&formula.condition, formula.branching)
    }

    /// The least and the greatest value that a quantifier ranges over; the least is greater if there are none.
    fn domain(&mut self, quantified: &Quantified) -> Option<(i64, i64)> {
        match &quantified.domain {
            Domain::Processes(name) => {
                let process = self.proctype(name)?;
                Some(self.pools.ranges[process].unwrap_or((0, -1)))
            }
            Domain::Range(low, high) => {
                let mut bound = |expression: &Expression| {
                    let value = self.program.symbols.constant(expression);
                    if value.is_none() {
                        let message = "the range of a quantifier has constant bounds";
                        self.error("not-constant", message, expression.span);
                    }
                    value
                };
                let (low, high) = (bound(low), bound(high));
                let (low, high) = (low?, high?);
                if high - low >= 1 << 16 {
                    let message = "a quantifier ranges over too many values";
                    self.error("too-large", message, quantified.variable.span);
                    return None;
                }
                Some((low, high))
            }
        }
    }

    /// A quantifier over conditions.
    pub(super) fn quantified_condition(
        &mut self,
        owner: &mut Owner,
        context: Context,
        quantified: &Quantified,
    ) -> Option<ExprId> {
        let (low, high) = self.domain(quantified)?;
        if low > high {
            return Some(self.truth(quantified.universal));
        }
        let ty = self.range_type(low, high);
        let local = owner.parameter(&quantified.variable.text, ty);
        let expression = self.read_local(owner, local);
        let value = Value { expression, is_boolean: false, low, high };
        owner.bound.push(Bound { name: quantified.variable.text.clone(), value });
        let body = self.condition(owner, context, &quantified.body);
        owner.bound.pop();
        let quantifier = if quantified.universal { Quantifier::All } else { Quantifier::Any };
        Some(self.quantified(quantifier, local, ty, body?))
    }

    /// The formula of an expression; none if something is wrong with it, which is then reported.
    fn temporal(
        &mut self,
        owner: &mut Owner,
        lowering: &mut Lowering,
        expression: &Expression,
        in_path: bool,
    ) -> Option<Node> {
        if !is_temporal(expression) {
            return self.atom(owner, lowering, expression);
        }
        let span = expression.span;
        if is_temporal_itself(expression)
            && !matches!(expression.kind, ExpressionKind::Path(..))
            && lowering.branching
            && !in_path
        {
            let message = "a temporal operator of a `ctl` formula needs a path quantifier";
            let help = "write `A` or `E` before it, or use `ltl` for what holds on every run";
            self.complain(Diagnostic::error("no-path-quantifier", message, span).with_help(help));
            return None;
        }
        match &expression.kind {
            ExpressionKind::Unary(operator, operand) if *operator == Unary::Not || operator.is_temporal() => {
                let a = self.temporal(owner, lowering, operand, in_path)?;
                let pool = &mut lowering.pool;
                Some(match operator {
                    Unary::Always => pool.always(a),
                    Unary::Eventually => pool.eventually(a),
                    Unary::Next => pool.next(a),
                    Unary::Yesterday => pool.yesterday(a),
                    Unary::WeakYesterday => pool.weak_yesterday(a),
                    Unary::Once => pool.once(a),
                    Unary::Historically => pool.historically(a),
                    Unary::Not | Unary::Negate | Unary::Complement => pool.not(a),
                })
            }
            ExpressionKind::Binary(operator, left, right)
                if operator.is_temporal()
                    || matches!(operator, Binary::And | Binary::Or | Binary::Implies | Binary::Equivalent) =>
            {
                let a = self.temporal(owner, lowering, left, in_path);
                let b = self.temporal(owner, lowering, right, in_path);
                let (a, b) = (a?, b?);
                let pool = &mut lowering.pool;
                Some(match operator {
                    Binary::And => pool.and([a, b]),
                    Binary::Or => pool.or([a, b]),
                    Binary::Implies => pool.implies(a, b),
                    Binary::Equivalent => pool.equivalent(a, b),
                    Binary::WeakUntil => pool.weak_until(a, b),
                    Binary::Release => pool.release(a, b),
                    Binary::StrongRelease => pool.strong_release(a, b),
                    Binary::Since => pool.since(a, b),
                    Binary::Triggered => pool.triggered(a, b),
                    _ => pool.until(a, b),
                })
            }
            ExpressionKind::Path(quantifier, operand) => {
                if !lowering.branching {
                    let message = "an `ltl` formula speaks about each run and has no path quantifiers";
                    let help = "leave `A` out, or use `ctl`";
                    self.complain(Diagnostic::error("path-quantifier", message, span).with_help(help));
                    return None;
                }
                let a = self.temporal(owner, lowering, operand, true)?;
                Some(lowering.pool.path(*quantifier, a))
            }
            ExpressionKind::Quantified(quantified) => {
                let (low, high) = self.domain(quantified)?;
                let mut instances = Vec::new();
                for value in low..=high {
                    let value = self.number_value(value);
                    owner.bound.push(Bound { name: quantified.variable.text.clone(), value });
                    let instance = self.temporal(owner, lowering, &quantified.body, in_path);
                    owner.bound.pop();
                    instances.push(instance?);
                    if lowering.atoms.conditions.len() > ATOM_LIMIT {
                        break;
                    }
                }
                let pool = &mut lowering.pool;
                Some(if quantified.universal { pool.and(instances) } else { pool.or(instances) })
            }
            _ => {
                let mut first = span;
                walk(expression, &mut |inner| {
                    if is_temporal_itself(inner) && first == span {
                        first = inner.span;
                    }
                });
                self.complain(
                    Diagnostic::error("temporal-in-expression", "a temporal formula is not a value", first)
                        .with_secondary(span, "the expression that needs a value")
                        .with_help("temporal operators apply to conditions, not to their parts"),
                );
                None
            }
        }
    }

    fn atom(&mut self, owner: &mut Owner, lowering: &mut Lowering, expression: &Expression) -> Option<Node> {
        let condition = self.condition(owner, Context::of_formula(), expression)?;
        if let Some(value) = self.constant_of(condition) {
            return Some(lowering.pool.constant(value != 0));
        }
        let source = &self.model.source;
        let name = || {
            let mut name = condition_text(source, expression);
            let mut values = Vec::new();
            walk(expression, &mut |inner| {
                if let ExpressionKind::Reference(parts) = &inner.kind
                    && let Some(bound) = owner.bound.iter().rev().find(|bound| bound.name == parts[0].name.text)
                    && bound.value.low == bound.value.high
                {
                    let value = format!("{} = {}", bound.name, bound.value.low);
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            });
            if !values.is_empty() {
                name = format!("{name} with {}", values.join(", "));
            }
            name
        };
        let atom = lowering.atoms.number(condition, name);
        Some(lowering.pool.atom(atom))
    }

    /// Whether some process is at a label with a prefix.
    pub(super) fn is_at_label(&mut self, owner: &mut Owner, prefix: &str) -> ExprId {
        let mut conditions = Vec::new();
        for process in 0..self.program.processes.len() {
            let Some(ty) = self.pid_type(process) else { continue };
            let flow = &self.program.processes[process].flow;
            let is_labelled =
                |point: &&usize| flow.elements[**point].labels.iter().any(|label| label.starts_with(prefix));
            let points: Vec<i64> = flow.points.iter().filter(is_labelled).map(|&point| flow.number(point)).collect();
            if points.is_empty() {
                continue;
            }
            let local = owner.parameter("p", ty);
            let pid = self.read_local(owner, local);
            let here: Vec<ExprId> = points.into_iter().map(|point| self.is_at(process, pid, point)).collect();
            let here = self.any(here);
            conditions.push(self.quantified(Quantifier::Any, local, ty, here));
        }
        self.any(conditions)
    }

    /// `np_`: no process is at a label `progress`. False where nothing can move, as in SPIN.
    pub(super) fn non_progress(&mut self, owner: &mut Owner) -> ExprId {
        let progress = self.is_at_label(owner, "progress");
        let stuck = self.nobody_moves(owner, true);
        let either = self.or(progress, stuck);
        self.not(either)
    }

    /// The properties that labels stand for.
    pub(super) fn emit_label_properties(&mut self, checks: Checks) {
        if checks.acceptance {
            let mut owner = Owner::default();
            let condition = self.is_at_label(&mut owner, "accept");
            let mut lowering = Lowering { pool: Formulas::new(), atoms: Atoms::default(), branching: false };
            let at = match self.constant_of(condition) {
                Some(value) => lowering.pool.constant(value != 0),
                None => {
                    let atom = lowering.atoms.number(condition, || "a process is at a label accept".into());
                    lowering.pool.atom(atom)
                }
            };
            let pool = &mut lowering.pool;
            let not = pool.not(at);
            let always = pool.always(not);
            let formula = pool.eventually(always);
            let Lowering { pool, atoms, .. } = lowering;
            let claim = TemporalClaim::Linear { pool, formula };
            let text = "<> [] no process is at a label accept".into();
            self.push_temporal(ACCEPTANCE.into(), Vec::new(), owner, claim, atoms, text, self.label_span("accept"));
        }
        if checks.progress {
            let mut owner = Owner::default();
            let condition = self.non_progress(&mut owner);
            let mut lowering = Lowering { pool: Formulas::new(), atoms: Atoms::default(), branching: false };
            let at = match self.constant_of(condition) {
                Some(value) => lowering.pool.constant(value != 0),
                None => {
                    let atom = lowering.atoms.number(condition, || "np_".into());
                    lowering.pool.atom(atom)
                }
            };
            let pool = &mut lowering.pool;
            let not = pool.not(at);
            let eventually = pool.eventually(not);
            let formula = pool.always(eventually);
            let Lowering { pool, atoms, .. } = lowering;
            let claim = TemporalClaim::Linear { pool, formula };
            let text = "[] <> !np_".into();
            self.push_temporal(PROGRESS.into(), Vec::new(), owner, claim, atoms, text, self.label_span("progress"));
        }
    }

    /// The location of the first statement with such a label.
    fn label_span(&self, prefix: &str) -> Span {
        let elements = self.program.processes.iter().flat_map(|process| &process.flow.elements);
        let labelled = |labels: &[std::rc::Rc<str>]| labels.iter().any(|label| label.starts_with(prefix));
        elements.filter(|element| labelled(&element.labels)).map(|element| element.span).min().unwrap_or_default()
    }

    /// The claims that are automata, as properties.
    pub(super) fn emit_automata(&mut self) {
        let program = self.program;
        for claim in &program.automata {
            self.emit_automaton(claim);
        }
    }

    fn emit_automaton(&mut self, claim: &Claim) {
        let mut owner = Owner::default();
        let mut atoms = Atoms::default();
        // SPIN's verifier does not ask whose label it is.
        let labelled = self.is_at_label(&mut owner, "accept");
        let mut edges: Vec<(i64, Cube, i64)> = Vec::new();
        let mut fits = true;
        for way in claim.ways() {
            let mut cube = Some(Cube::TRUE);
            for guard in &way.guards {
                let condition = self.condition(&mut owner, Context::of_formula(), &guard.condition);
                let Some(condition) = condition else { continue };
                let literal = match self.constant_of(condition) {
                    Some(value) if (value != 0) == guard.outcome => continue,
                    Some(_) => None,
                    None => {
                        let source = &self.model.source;
                        let atom = atoms.number(condition, || condition_text(source, &guard.condition));
                        fits &= (atom.0 as usize) < ATOM_LIMIT - 1;
                        let bit = 1u64.checked_shl(atom.0).unwrap_or_default();
                        Some(match guard.outcome {
                            true => Cube { positive: bit, negative: 0 },
                            false => Cube { positive: 0, negative: bit },
                        })
                    }
                };
                cube = cube.and_then(|cube| literal.and_then(|literal| cube.and(literal)));
            }
            edges.extend(cube.map(|cube| (way.from, cube, way.to)));
        }
        if !fits {
            let message = format!("this `never` claim cannot be checked: it has more than {ATOM_LIMIT} conditions");
            self.complain(
                Diagnostic::warning(quotient_kit::UNSUPPORTED_PROPERTY, message, claim.span)
                    .about("never", &*claim.name),
            );
            return;
        }
        let label = match self.constant_of(labelled) {
            Some(_) => None,
            None => Some(1u64 << atoms.number(labelled, || "a process is at a label accept".into()).0),
        };
        // The end of the claim is state 0, which accepts whatever follows.
        let mut transitions = vec![Transition { from: 0, to: 0, cube: Cube::TRUE, acceptance: 1 }];
        for (from, cube, to) in edges {
            let transition = |cube: Cube, accepts: bool| Transition {
                from: from as u32,
                to: to as u32,
                cube,
                acceptance: u64::from(accepts),
            };
            let accepts = claim.accepts(from);
            match label {
                Some(bit) if !accepts => {
                    let at = cube.and(Cube { positive: bit, negative: 0 });
                    let elsewhere = cube.and(Cube { positive: 0, negative: bit });
                    transitions.extend(at.map(|cube| transition(cube, true)));
                    transitions.extend(elsewhere.map(|cube| transition(cube, false)));
                }
                _ => transitions.push(transition(cube, accepts)),
            }
        }
        let mut automaton = Automaton {
            atoms: (0..atoms.conditions.len() as u32).map(Atom).collect(),
            states: claim.points() as u32 + 1,
            initial: vec![claim.first() as u32],
            acceptance_sets: 1,
            transitions,
        };
        automaton.normalise();
        let text = format!("never {}", if &*claim.name == "never" { "{ … }" } else { &claim.name });
        let claimed = TemporalClaim::Never(automaton);
        self.push_temporal(claim.name.to_string(), Vec::new(), owner, claimed, atoms, text, claim.span);
    }
}
