//! Temporal properties and the fairness of rules.
//!
//! The quantifiers around a formula are parameters of the property: the claim is made for each valuation. Every other
//! quantifier that is not part of a condition is expanded, since it does not commute with the choice of a run.

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr as Lowered, ExprId, Fairness, Formula, Iteration, Parameter, Positions, Property,
    PropertyKind, Span, Temporal, TemporalClaim,
};
use quotient_temporal::syntax::{Binary, Unary};
use quotient_temporal::{Atom, Formula as Node, Formulas};
use rustc_hash::FxHashMap;

use super::super::syntax::tree::{self, FairnessKind, FormulaKind, Quantifier, Rule, Text};
use super::Lowering;
use super::operands::{Constancy, Operand};
use super::owners::{Owner, OwnerKind};
use super::quantifiers::Bound;
use super::rules::{HeaderUse, Layer, Surroundings};
use super::scopes::{Meaning, nearest};

/// The most conditions of one formula: an automaton reads them as the bits of a word.
const MOST_CONDITIONS: usize = 64;

/// A formula under construction.
struct Work {
    pool: Formulas,
    branching: bool,
    conditions: Vec<ExprId>,
    names: Vec<String>,
    numbers: FxHashMap<ExprId, Atom>,
    /// The names and values of the quantifiers that were expanded around.
    values: Vec<(String, String)>,
    /// What holds wherever the headers around the formula have a meaning.
    surrounding: Vec<ExprId>,
}

impl Lowering<'_> {
    /// Gives the rules of a name their fairness.
    pub(super) fn fairness(&mut self, declared: &tree::Fairness) {
        let name = &declared.rule.text;
        let fairness = match declared.kind {
            FairnessKind::Weak => Fairness::Weak,
            FairnessKind::Strong => Fairness::Strong,
        };
        let mut found = false;
        for id in self.model.rules.indices() {
            if self.model.rules[id].name.as_ref() == Some(name) {
                self.model.rules[id].fairness = fairness;
                found = true;
            }
        }
        if !found {
            let message = format!("there is no rule \"{name}\"");
            let mut error = Diagnostic::error("unknown-rule", message, declared.rule.span);
            let names = self.model.rules.iter().filter_map(|rule| rule.name.as_deref());
            error.help = nearest(name, names).map(|near| format!("did you mean \"{near}\"?"));
            self.report(error);
        }
    }

    /// A formula with the headers around it.
    pub(super) fn temporal_property(
        &mut self,
        rule: &Rule,
        branching: bool,
        name: &Text,
        formula: &tree::Formula,
        text: Span,
        layers: &[Layer<'_>],
    ) {
        self.owner = Owner::new(OwnerKind::Property);
        let surroundings = self.enter_layers(layers, HeaderUse::Condition, None);
        let mut parameters = surroundings.parameters_in_order();
        let Surroundings { conditions, chooses, .. } = surroundings;
        if chooses {
            let error = Diagnostic::error("choose-temporal", "a temporal property cannot choose", rule.span)
                .with_help("elements of a multiset have no identity from one state to the next");
            self.report(error);
        }
        let mut body = formula;
        let mut entered = 0;
        while let FormulaKind::Quantified { universal: true, quantifier, body: inner } = &body.kind {
            self.scopes.enter();
            entered += 1;
            if let Some((local, range)) = self.quantifier(quantifier, Bound::Ruleset, None) {
                parameters.push(Parameter { local, range });
            }
            body = inner;
        }
        let mut work = Work {
            pool: Formulas::new(),
            branching,
            conditions: Vec::new(),
            names: Vec::new(),
            numbers: FxHashMap::default(),
            values: Vec::new(),
            surrounding: conditions,
        };
        let root = self.in_pure_context("in a property", |this| this.formula(&mut work, body, false));
        (0..entered).for_each(|_| self.scopes.leave());
        self.leave_layers(layers);
        let locals = std::mem::replace(&mut self.owner, Owner::outside()).locals;
        let Work { pool, conditions, names, .. } = work;
        if conditions.len() > MOST_CONDITIONS {
            let message = format!("the formula has {} conditions, more than {MOST_CONDITIONS}", conditions.len());
            let help = "split it into several properties; quantifiers inside a formula count once for each value";
            self.report(Diagnostic::error("too-many-conditions", message, text).with_help(help));
        }
        let claim = match branching {
            true => TemporalClaim::Branching { pool, formula: root },
            false => TemporalClaim::Linear { pool, formula: root },
        };
        let text = self.model.source.text.get(text.range()).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let temporal = Temporal { claim, atoms: conditions, names, text, positions: Positions::Stored };
        self.model.properties.push(Property {
            name: Some(name.text.clone()),
            kind: PropertyKind::Temporal,
            parameters,
            locals,
            formula: Formula::Temporal(Box::new(temporal)),
            span: rule.span,
        });
    }

    fn formula(&mut self, work: &mut Work, formula: &tree::Formula, in_path: bool) -> Node {
        match &formula.kind {
            FormulaKind::Constant(value) => work.pool.constant(*value),
            FormulaKind::Condition(condition) => {
                let lowered = self.condition(condition, "a condition of a formula");
                self.atom(work, lowered, formula.span)
            }
            FormulaKind::Unary(operator, operand) => {
                if *operator != Unary::Not {
                    self.expect_path(work, formula, in_path);
                }
                let a = self.formula(work, operand, in_path);
                let pool = &mut work.pool;
                match operator {
                    Unary::Not => pool.not(a),
                    Unary::Next => pool.next(a),
                    Unary::Eventually => pool.eventually(a),
                    Unary::Always => pool.always(a),
                    Unary::Yesterday => pool.yesterday(a),
                    Unary::WeakYesterday => pool.weak_yesterday(a),
                    Unary::Once => pool.once(a),
                    Unary::Historically => pool.historically(a),
                }
            }
            FormulaKind::Binary(operator, left, right) => {
                if !matches!(operator, Binary::And | Binary::Or | Binary::Implies | Binary::Equivalent) {
                    self.expect_path(work, formula, in_path);
                }
                let a = self.formula(work, left, in_path);
                let b = self.formula(work, right, in_path);
                let pool = &mut work.pool;
                match operator {
                    Binary::And => pool.and([a, b]),
                    Binary::Or => pool.or([a, b]),
                    Binary::Implies => pool.implies(a, b),
                    Binary::Equivalent => pool.equivalent(a, b),
                    Binary::Until => pool.until(a, b),
                    Binary::WeakUntil => pool.weak_until(a, b),
                    Binary::Release => pool.release(a, b),
                    Binary::StrongRelease => pool.strong_release(a, b),
                    Binary::Since => pool.since(a, b),
                    Binary::Triggered => pool.triggered(a, b),
                }
            }
            FormulaKind::Path(quantifier, operand) => {
                if !work.branching {
                    let message = "an `ltl` formula speaks about each run and has no path quantifiers";
                    let error = Diagnostic::error("path-quantifier", message, formula.operator);
                    self.report(error.with_help("leave `A` out, or use `ctl`"));
                }
                let a = self.formula(work, operand, true);
                if work.branching { work.pool.path(*quantifier, a) } else { a }
            }
            FormulaKind::Quantified { universal, quantifier, body } => {
                let instances = self.instances(work, quantifier, body, in_path);
                if *universal { work.pool.and(instances) } else { work.pool.or(instances) }
            }
        }
    }

    fn expect_path(&mut self, work: &Work, formula: &tree::Formula, in_path: bool) {
        if work.branching && !in_path {
            let message = "a temporal operator of a `ctl` formula needs a path quantifier";
            let help = "write `A` or `E` before it, or use `ltl` for what holds on every run";
            self.report(Diagnostic::error("no-path-quantifier", message, formula.operator).with_help(help));
        }
    }

    fn atom(&mut self, work: &mut Work, condition: ExprId, span: Span) -> Node {
        if let Lowered::Constant { value, .. } = self.model.pool[condition]
            && work.surrounding.is_empty()
        {
            return work.pool.constant(value != 0);
        }
        let all: Vec<ExprId> = work.surrounding.iter().copied().chain([condition]).collect();
        let condition = self.joined(BinaryOperator::And, &all);
        let text = self.model.source.text.get(span.range()).unwrap_or_default();
        let next = Atom(work.conditions.len() as u32);
        let atom = *work.numbers.entry(condition).or_insert(next);
        if atom == next {
            let mut name = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_mentioned = |variable: &str| {
                let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
                text.split(|letter| !is_part(letter)).any(|word| word == variable)
            };
            let values: Vec<String> = work
                .values
                .iter()
                .filter(|(variable, _)| is_mentioned(variable))
                .map(|(variable, value)| format!("{variable} = {value}"))
                .collect();
            if !values.is_empty() {
                name = format!("{name} with {}", values.join(", "));
            }
            work.conditions.push(condition);
            work.names.push(name);
        }
        work.pool.atom(atom)
    }

    /// The instances of a formula for the values of a quantifier.
    fn instances(
        &mut self,
        work: &mut Work,
        quantifier: &Quantifier,
        body: &tree::Formula,
        in_path: bool,
    ) -> Vec<Node> {
        // A local of the quantifier is declared as for a parameter, to check its range, and not used.
        self.scopes.enter();
        let range = self.quantifier(quantifier, Bound::Ruleset, None);
        self.scopes.leave();
        let Some((local, range)) = range else { return Vec::new() };
        let ty = self.owner.locals[local].ty;
        let values: Vec<i64> = match range {
            Iteration::Over(ty) if self.model.is_scalar(ty) => self.model.domain(ty).values().collect(),
            Iteration::Over(_) => {
                let message = "a quantifier inside a formula ranges over single values";
                self.report(Diagnostic::error("bad-quantifier", message, quantifier.span));
                return Vec::new();
            }
            Iteration::Steps { from, to, step } => {
                let value = |id: ExprId| match self.model.pool[id] {
                    Lowered::Constant { value, .. } => Some(value),
                    _ => None,
                };
                let (from, to, step) = (value(from), value(to), step.map_or(Some(1), value));
                let (Some(from), Some(to), Some(step)) = (from, to, step) else {
                    let message = "the range of a quantifier inside a formula is constant";
                    self.report(Diagnostic::error("not-constant", message, quantifier.span));
                    return Vec::new();
                };
                let mut values = Vec::new();
                let mut next = from;
                while if step > 0 { next <= to } else { next >= to } {
                    values.push(next);
                    next += step;
                    if step == 0 {
                        break;
                    }
                }
                values
            }
        };
        let mut instances = Vec::new();
        for value in values {
            let operand: Operand = self.constant_operand(value, ty, quantifier.name.span);
            debug_assert!(matches!(operand.constancy, Constancy::Known(_)), "a constant is known");
            self.scopes.enter();
            self.declare(&quantifier.name, Meaning::named(operand, "quantifier variable"));
            let shown = self.model.value_name(ty, value);
            work.values.push((quantifier.name.text.clone(), shown));
            let errors = self.diagnostics.len();
            instances.push(self.formula(work, body, in_path));
            work.values.pop();
            self.scopes.leave();
            // The other values would have the same errors, or the formula is too large already.
            if self.diagnostics.len() > errors || work.conditions.len() > MOST_CONDITIONS {
                break;
            }
        }
        instances
    }
}
