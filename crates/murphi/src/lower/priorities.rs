//! CMurphi's rule priorities: of the rules enabled in a state, only those with the lowest number fire.
//!
//! The representation has no priorities, so they become part of the guards. For each rule that can prevent others from
//! firing, there is a function that says whether one of its instances is enabled. For each number but the lowest, there
//! is a function that tests all rules with lower numbers. A rule fires if its guard holds and that function returns
//! false. The guard comes first: as in CMurphi, every guard is evaluated in every state, and one that fails is a
//! run-time error even if the rule could not fire. Rules are kept in the order of their numbers, so that a failing
//! guard is attributed to its own rule before a later rule evaluates it.

use std::collections::BTreeSet;

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr as Lowered, ExprId, Function, FunctionId, Iteration, Model, Quantifier,
    ReturnValue, RuleId, Span, Statement, StatementKind, Table, TableIndex, UnaryOperator,
};

use super::super::syntax::tree::{Expr, Item, Rule, RuleKind, Tree};
use super::Lowering;
use super::effects::Effects;
use super::functions::{ResultType, Signature};
use super::owners::{Owner, OwnerKind};
use super::rules::Layer;

/// The priorities of the rules.
#[derive(Debug, Default)]
pub(super) struct Priorities {
    /// All that occur.
    numbers: BTreeSet<u64>,
    /// The number of each rule lowered so far.
    of_rules: Vec<u64>,
    /// The functions that say whether an instance of a rule is enabled, with the number of the rule.
    enabled: Vec<(u64, FunctionId)>,
}

impl Priorities {
    /// Finds the priorities that occur in a model.
    pub(super) fn of(tree: &Tree) -> Self {
        let mut priorities = Self::default();
        let mut waiting: Vec<&Rule> = Vec::new();
        waiting.extend(tree.items.iter().filter_map(|item| match item {
            Item::Rule(rule) => Some(rule),
            _ => None,
        }));
        while let Some(rule) = waiting.pop() {
            match &rule.kind {
                RuleKind::Rule { priority, .. } => {
                    priorities.numbers.insert(*priority);
                }
                RuleKind::Ruleset { rules, .. } | RuleKind::Choose { rules, .. } | RuleKind::Alias { rules, .. } => {
                    waiting.extend(rules);
                }
                RuleKind::Start { .. } | RuleKind::Property { .. } | RuleKind::Temporal { .. } => {}
            }
        }
        priorities
    }

    /// Whether a rule with this number can keep others from firing.
    fn comes_before_others(&self, priority: u64) -> bool {
        self.numbers.last().is_some_and(|&last| priority < last)
    }

    /// Notes the number of the rules up to `end` that have none yet.
    pub(super) fn note(&mut self, end: RuleId, priority: u64) {
        self.of_rules.resize(end.position(), priority);
    }
}

impl Lowering<'_> {
    /// The function that says whether an instance of a rule is enabled, if others depend on it.
    pub(super) fn enabledness(&mut self, rule: &Rule, priority: u64, guard: Option<&Expr>, layers: &[Layer<'_>]) {
        if !self.priorities.comes_before_others(priority) {
            return;
        }
        self.owner = Owner::new(OwnerKind::Property);
        let (surroundings, guard) = self.guard(guard, layers);
        let mut enabled = guard;
        let parameters = surroundings.parameters_in_order();
        for parameter in parameters.into_iter().rev() {
            let compound = matches!(parameter.range, Iteration::Over(ty) if !self.model.is_scalar(ty));
            if compound && !surroundings.wrong {
                let message = "a rule that comes before others cannot have a parameter of an array or record type";
                let place = self.owner.locals[parameter.local].span;
                let error = Diagnostic::error("unsupported-priority", message, place)
                    .with_label("this ranges over arrays or records")
                    .with_secondary(rule.span, format!("the priority of this rule is {priority}"))
                    .with_help("use a parameter for each part, or give no rule a higher number");
                self.report(error);
                self.owner = Owner::outside();
                return;
            }
            let quantified = Lowered::Quantified {
                quantifier: Quantifier::Any,
                local: parameter.local,
                range: parameter.range,
                body: enabled,
            };
            enabled = self.model.pool.expression(quantified);
        }
        let locals = std::mem::replace(&mut self.owner, Owner::outside()).locals;
        let function = self.generated_function("enabled", locals, enabled, rule.span);
        self.priorities.enabled.push((priority, function));
    }

    /// A function without parameters that gives a condition.
    fn generated_function(
        &mut self,
        name: &str,
        locals: Table<quotient_ir::LocalId, quotient_ir::Local>,
        condition: ExprId,
        span: Span,
    ) -> FunctionId {
        self.signatures.push(Signature {
            name: name.into(),
            span,
            parameters: Vec::new(),
            result: ResultType::Value(Some(Model::BOOLEAN)),
            effects: Effects::default(),
            complete: true,
        });
        let kind = StatementKind::Return(Some(ReturnValue::Value(condition)));
        self.model.functions.push(Function {
            name: name.into(),
            parameters: Vec::new(),
            locals,
            result: Some(Model::BOOLEAN),
            body: vec![Statement { kind, span }],
            span,
        })
    }

    /// Lets rules fire only where none with a lower number is enabled.
    pub(super) fn apply_priorities(&mut self) {
        let Priorities { numbers, of_rules, enabled } = std::mem::take(&mut self.priorities);
        if numbers.len() < 2 || of_rules.len() != self.model.rules.len() {
            return;
        }
        for &number in numbers.iter().skip(1) {
            let calls: Vec<ExprId> = enabled
                .iter()
                .filter(|&&(priority, _)| priority < number)
                .map(|&(_, function)| self.model.pool.expression(Lowered::Call { function, arguments: Vec::new() }))
                .collect();
            if calls.is_empty() {
                continue;
            }
            let any = self.joined(BinaryOperator::Or, &calls);
            let function = self.generated_function("preceded", Table::new(), any, Span::default());
            let pool = &mut self.model.pool;
            let preceded = pool.expression(Lowered::Call { function, arguments: Vec::new() });
            let first = pool.expression(Lowered::Unary { operator: UnaryOperator::Not, operand: preceded });
            let behind: Vec<RuleId> =
                self.model.rules.indices().filter(|rule| of_rules[rule.position()] == number).collect();
            for rule in behind {
                let left = self.model.rules[rule].guard;
                let guard = Lowered::Binary { operator: BinaryOperator::And, left, right: first };
                self.model.rules[rule].guard = self.model.pool.expression(guard);
            }
        }
        let mut order: Vec<RuleId> = self.model.rules.indices().collect();
        order.sort_by_key(|rule| of_rules[rule.position()]);
        let rules = std::mem::replace(&mut self.model.rules, Table::new());
        for rule in order {
            self.model.rules.push(rules[rule].clone());
        }
    }
}
