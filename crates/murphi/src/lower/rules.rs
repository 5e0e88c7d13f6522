//! Rules, initial-state programs and properties, under the rulesets, aliases and choices around them. Each becomes a
//! separate owner that repeats the headers around it.

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr as Lowered, ExprId, Fairness, Iteration, LocalId, Parameter, Property,
    PropertyKind, Rule as LoweredRule, Start, Statement, UnaryOperator,
};
use quotient_kit::watched::{self, Value, WATCHED};

use super::super::syntax::MAXIMUM_NESTING;
use super::super::syntax::tree::{Alias, Category, Declaration, Expr, Name, Quantifier, Rule, RuleKind, Stmt, Text};
use super::operands::{Form, Operand};
use super::owners::{Owner, OwnerKind};
use super::quantifiers::Bound;
use super::scopes::Size;
use super::{Lowering, MOST_DECLARATIONS};

/// The maximum depth of an expression denoted by an alias around a rule.
const HIGHEST_ALIAS: u32 = 2 * MAXIMUM_NESTING;

/// The maximum size of an expression denoted by an alias around a rule.
const HEAVIEST_ALIAS: u32 = 1 << 16;

/// One header around a rule.
#[derive(Clone, Copy)]
pub(super) enum Layer<'t> {
    Ruleset(&'t [Quantifier]),
    Choose { name: &'t Name, multiset: &'t Expr },
    Aliases(&'t [Alias]),
}

/// What the headers around a rule contribute to it.
#[derive(Default)]
pub(super) struct Surroundings {
    parameters: Vec<Parameter>,
    /// How many parameters there were before each header.
    parameters_before: Vec<usize>,
    /// What must hold before the guard or property is evaluated: that a chosen element exists, and that the places of
    /// aliases can be found.
    pub(super) conditions: Vec<ExprId>,
    /// Whether one of the conditions is that a chosen element is there.
    pub(super) chooses: bool,
    pub(super) wrong: bool,
}

impl Surroundings {
    /// The parameters in the order of the loops over them, the last one fastest. As in rumur, the
    /// loops of an inner ruleset are around those of an outer one; the counts up to an error
    /// depend on it.
    pub(super) fn parameters_in_order(&self) -> Vec<Parameter> {
        let mut end = self.parameters.len();
        let mut ordered = Vec::with_capacity(end);
        for &start in self.parameters_before.iter().rev() {
            ordered.extend_from_slice(&self.parameters[start..end]);
            end = start;
        }
        ordered
    }
}

/// For which part of a rule headers are entered.
pub(super) enum HeaderUse<'s> {
    /// A guard or property: aliases are substituted.
    Condition,
    /// A body: aliases are bound by statements.
    Body(&'s mut Vec<Statement>),
}

impl Lowering<'_> {
    /// Lowers a rule at the top level.
    pub(super) fn top_level_rule(&mut self, rule: &Rule) {
        self.rule(rule, &mut Vec::new());
    }

    fn rule<'t>(&mut self, rule: &'t Rule, layers: &mut Vec<Layer<'t>>) {
        if self.declarations > MOST_DECLARATIONS {
            if !self.incomplete {
                let error = Diagnostic::error("model-too-large", "the model is too large", rule.span)
                    .with_label("too many names around this rule and the rules before it");
                self.report(error);
            }
            self.incomplete = true;
            return;
        }
        match &rule.kind {
            RuleKind::Start { name, declarations, body } => {
                self.start(rule, name.as_ref(), declarations, body, layers);
            }
            RuleKind::Rule { priority, name, guard, declarations, body } => {
                self.enabledness(rule, *priority, guard.as_ref(), layers);
                self.transition(rule, name.as_ref(), guard.as_ref(), declarations, body, layers);
                self.priorities.note(self.model.rules.next_index(), *priority);
            }
            RuleKind::Property { name: Some(name), condition, .. } if name.text == WATCHED => self.watched(condition),
            RuleKind::Property { category, name, condition } => {
                self.property(rule, *category, name.as_ref(), condition, layers);
            }
            RuleKind::Temporal { branching, name, formula, text } => {
                self.temporal_property(rule, *branching, name, formula, *text, layers);
            }
            RuleKind::Ruleset { quantifiers, rules } => self.inner_rules(Layer::Ruleset(quantifiers), rules, layers),
            RuleKind::Choose { name, multiset, rules } => {
                self.inner_rules(Layer::Choose { name, multiset }, rules, layers);
            }
            RuleKind::Alias { aliases, rules } => self.inner_rules(Layer::Aliases(aliases), rules, layers),
        }
    }

    fn inner_rules<'t>(&mut self, layer: Layer<'t>, rules: &'t [Rule], layers: &mut Vec<Layer<'t>>) {
        layers.push(layer);
        for rule in rules {
            self.rule(rule, layers);
        }
        if rules.is_empty() {
            // It is not used, but it may still contain errors.
            self.owner = Owner::new(OwnerKind::Property);
            self.enter_layers(layers, HeaderUse::Condition, None);
            self.leave_layers(layers);
            self.owner = Owner::outside();
        }
        layers.pop();
    }

    /// Opens the scopes of the headers. `known` are the parameters, if they were made before.
    pub(super) fn enter_layers(
        &mut self,
        layers: &[Layer<'_>],
        mut part: HeaderUse<'_>,
        known: Option<&[Parameter]>,
    ) -> Surroundings {
        let mut surroundings = Surroundings::default();
        let known_local = |so_far: usize| known.and_then(|known| known.get(so_far)).map(|parameter| parameter.local);
        let pure_before = self.owner.pure;
        if let HeaderUse::Condition = part {
            self.owner.pure = Some("where a rule or property is tested");
        }
        for layer in layers {
            self.scopes.enter();
            surroundings.parameters_before.push(surroundings.parameters.len());
            match *layer {
                Layer::Ruleset(quantifiers) => {
                    for quantifier in quantifiers {
                        let local = known_local(surroundings.parameters.len());
                        match self.quantifier(quantifier, Bound::Ruleset, local) {
                            Some((local, range)) => surroundings.parameters.push(Parameter { local, range }),
                            None => surroundings.wrong = true,
                        }
                    }
                }
                Layer::Choose { name, multiset } => {
                    let local = known_local(surroundings.parameters.len());
                    surroundings.chooses = true;
                    surroundings.wrong |= self.choose(name, multiset, local, &mut surroundings).is_none();
                }
                Layer::Aliases(aliases) => match &mut part {
                    HeaderUse::Body(prelude) => self.bind_aliases(aliases, prelude),
                    HeaderUse::Condition => {
                        for alias in aliases {
                            let (operand, size) = self.measured(|this| this.expression(&alias.value));
                            let operand = self.checked_size(alias, operand, size);
                            surroundings.conditions.extend(self.evaluation(&operand));
                            self.declare_alias(alias, operand, size);
                        }
                    }
                },
            }
        }
        self.owner.pure = pure_before;
        surroundings
    }

    pub(super) fn leave_layers(&mut self, layers: &[Layer<'_>]) {
        layers.iter().for_each(|_| self.scopes.leave());
    }

    fn choose(
        &mut self,
        name: &Name,
        multiset: &Expr,
        known: Option<LocalId>,
        surroundings: &mut Surroundings,
    ) -> Option<()> {
        let (local, place) = match known {
            None => self.multiset_position(name, multiset)?,
            Some(local) => {
                let (place, _) = self.multiset(multiset)?;
                self.declare_position(name, local);
                (local, place)
            }
        };
        let ty = self.owner.locals[local].ty;
        surroundings.parameters.push(Parameter { local, range: Iteration::Over(ty) });
        let position = self.local_place(local);
        let position = self.model.pool.expression(Lowered::Read(position));
        surroundings.conditions.push(self.model.pool.expression(Lowered::IsPresent { multiset: place, position }));
        Some(())
    }

    /// Refuses an alias that denotes too large an expression. Aliases of aliases can grow without bound although each
    /// is short.
    fn checked_size(&mut self, alias: &Alias, operand: Operand, size: Size) -> Operand {
        if size.height <= HIGHEST_ALIAS && size.weight <= HEAVIEST_ALIAS {
            return operand;
        }
        let message = format!("`{}` stands for too large an expression", alias.name.text);
        let error = Diagnostic::error("alias-too-large", message, alias.name.span)
            .with_label(format!("{} parts, {} levels deep", size.weight, size.height))
            .with_help("an alias around a rule is substituted in its guard; use a function instead");
        self.report(error);
        Self::unknown(alias.value.span)
    }

    /// A condition that is true but fails where finding or evaluating an operand fails. An alias
    /// is evaluated even if it is not used.
    fn evaluation(&mut self, operand: &Operand) -> Option<ExprId> {
        let ty = operand.ty?;
        let binary = |operator, left, right| Lowered::Binary { operator, left, right };
        let expression = match operand.form {
            Form::Nothing => return None,
            Form::Place(place) if !self.may_fail(place) => return None,
            Form::Place(_) if self.contains_multiset(ty) => return None,
            Form::Place(place) if self.model.is_scalar(ty) => {
                let undefined = self.model.pool.expression(Lowered::IsUndefined(place));
                let defined = Lowered::Unary { operator: UnaryOperator::Not, operand: undefined };
                let defined = self.model.pool.expression(defined);
                binary(BinaryOperator::Or, undefined, defined)
            }
            Form::Place(place) => Lowered::SameContents { left: place, right: place },
            Form::Value(value) => {
                if let Lowered::Constant { .. } = self.model.pool[value] {
                    return None;
                }
                binary(BinaryOperator::Equal, value, value)
            }
        };
        Some(self.model.pool.expression(expression))
    }

    /// Conditions and then another one.
    fn after_all(&mut self, conditions: &[ExprId], last: ExprId) -> ExprId {
        let all: Vec<ExprId> = conditions.iter().copied().chain([last]).collect();
        self.joined(BinaryOperator::And, &all)
    }

    fn start(
        &mut self,
        rule: &Rule,
        name: Option<&Text>,
        declarations: &[Declaration],
        body: &[Stmt],
        layers: &[Layer<'_>],
    ) {
        self.owner = Owner::new(OwnerKind::Start);
        let mut statements = Vec::new();
        let surroundings = self.enter_layers(layers, HeaderUse::Body(&mut statements), None);
        if surroundings.chooses {
            let error = Diagnostic::error("choose-start", "a startstate cannot choose from a multiset", rule.span)
                .with_help("no multiset has elements before the startstate has run");
            self.report(error);
        }
        self.body(declarations, body, &mut statements);
        self.leave_layers(layers);
        let locals = std::mem::replace(&mut self.owner, Owner::outside()).locals;
        let name = name.map(|name| name.text.clone());
        let parameters = surroundings.parameters_in_order();
        self.model.starts.push(Start { name, parameters, locals, body: statements, span: rule.span });
    }

    /// The guard of a rule, with the requirements of the headers around it.
    pub(super) fn guard(&mut self, guard: Option<&Expr>, layers: &[Layer<'_>]) -> (Surroundings, ExprId) {
        let surroundings = self.enter_layers(layers, HeaderUse::Condition, None);
        let guard = match guard {
            Some(guard) => {
                self.in_pure_context("in the guard of a rule", |this| this.condition(guard, "the guard of a rule"))
            }
            None => self.truth(),
        };
        let guard = self.after_all(&surroundings.conditions, guard);
        self.leave_layers(layers);
        (surroundings, guard)
    }

    fn body(&mut self, declarations: &[Declaration], body: &[Stmt], output: &mut Vec<Statement>) {
        self.scopes.enter();
        self.local_declarations(declarations);
        output.extend(self.statements(body));
        self.scopes.leave();
    }

    fn transition(
        &mut self,
        rule: &Rule,
        name: Option<&Text>,
        guard: Option<&Expr>,
        declarations: &[Declaration],
        body: &[Stmt],
        layers: &[Layer<'_>],
    ) {
        self.owner = Owner::new(OwnerKind::Rule);
        let (surroundings, guard) = self.guard(guard, layers);
        let Surroundings { parameters, wrong, .. } = &surroundings;
        let mut statements = Vec::new();
        // Erroneous parameters are missing, so the others cannot be identified by position.
        let known = if *wrong { None } else { Some(parameters.as_slice()) };
        self.enter_layers(layers, HeaderUse::Body(&mut statements), known);
        self.body(declarations, body, &mut statements);
        self.leave_layers(layers);
        let locals = std::mem::replace(&mut self.owner, Owner::outside()).locals;
        let name = name.map(|name| name.text.clone());
        let parameters = surroundings.parameters_in_order();
        // Murphi has no processes: a parameter of a ruleset may be one, or anything else.
        self.model.rules.push(LoweredRule {
            name,
            owner: quotient_ir::Owner::None,
            fairness: Fairness::None,
            parameters,
            locals,
            guard,
            body: statements,
            span: rule.span,
        });
    }

    /// An expression to evaluate, given beside the text.
    fn watched(&mut self, expression: &Expr) {
        self.owner = Owner::new(OwnerKind::Property);
        let operand = self.in_pure_context("in an expression to evaluate", |this| this.expression(expression));
        let locals = std::mem::replace(&mut self.owner, Owner::outside()).locals;
        let value = match (operand.form, operand.ty) {
            (Form::Place(place), Some(ty)) if !self.model.is_scalar(ty) => Value::Whole(place),
            (Form::Place(_) | Form::Value(_), Some(_)) => Value::Scalar(self.value_of(&operand)),
            // What is wrong is reported.
            _ => return,
        };
        watched::watch(&mut self.model, locals, value, expression.span);
    }

    fn property(
        &mut self,
        rule: &Rule,
        category: Category,
        name: Option<&Text>,
        condition: &Expr,
        layers: &[Layer<'_>],
    ) {
        self.owner = Owner::new(OwnerKind::Property);
        let surroundings = self.enter_layers(layers, HeaderUse::Condition, None);
        let lowered = self.in_pure_context("in a property", |this| this.condition(condition, "a property"));
        self.leave_layers(layers);
        let kind = match category {
            Category::Assert | Category::Invariant => PropertyKind::Invariant,
            Category::Assume => PropertyKind::Assumption,
            Category::Cover => PropertyKind::Cover,
            Category::Liveness => PropertyKind::AlwaysReachable,
        };
        let parameters = surroundings.parameters_in_order();
        let Surroundings { conditions, chooses, .. } = surroundings;
        let lowered = match kind {
            PropertyKind::AlwaysReachable if chooses => {
                let error = Diagnostic::error("choose-liveness", "a liveness property cannot choose", rule.span)
                    .with_help("elements of a multiset have no identity from one state to the next");
                self.report(error);
                lowered
            }
            PropertyKind::Invariant | PropertyKind::Assumption if chooses && !conditions.is_empty() => {
                // It speaks only about elements that are there.
                let present = self.joined(BinaryOperator::And, &conditions);
                let implication = Lowered::Binary { operator: BinaryOperator::Implies, left: present, right: lowered };
                self.model.pool.expression(implication)
            }
            _ => self.after_all(&conditions, lowered),
        };
        let locals = std::mem::replace(&mut self.owner, Owner::outside()).locals;
        let name = name.map(|name| name.text.clone());
        self.model.properties.push(Property {
            name,
            kind,
            parameters,
            locals,
            formula: lowered.into(),
            span: rule.span,
        });
    }
}
