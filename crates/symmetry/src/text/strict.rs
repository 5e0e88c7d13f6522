//! Quantifiers whose order cannot be noticed: they evaluate their condition for all values before they decide.
//!
//! `forall x: C(x)` stops at the first x for which C does not hold, so it depends on the order whether it is false, or
//! wrong because C goes wrong for another x. A *strict* quantifier is wrong whenever C goes wrong for some x. On the
//! states that can be reached without an error, a model and the model with strict quantifiers do the same; and if the
//! second goes wrong in a state, then the first goes wrong in an image of this state, in which a value that goes wrong
//! comes first. So the models have the same verdicts, but the second one may have more symmetries.
//!
//! A strict quantifier is a pair: one that never decides, and the quantifier itself. Values that are told apart keep their
//! order: a quantifier over a home node and others asks about the home node first, and is strict about the others.

use quotient_ir::walk::{Node, PartMut, visit_nodes, visit_operands_mut, visit_parts_mut, visit_place_operands_mut};
use quotient_ir::{
    BinaryOperator, Expr, ExprId, Formula, Iteration, Model, PlaceId, PropertyKind, Quantifier, Statement,
    UnaryOperator,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::inference::called_functions;
use super::shapes::Scope;

/// The quantifier that never decides before the one that does, if a condition is a strict quantifier.
pub(super) fn strict_pair(model: &Model, expression: ExprId) -> Option<(ExprId, ExprId)> {
    let Expr::Binary { operator: BinaryOperator::And, left, right } = model.pool[expression] else { return None };
    let Expr::Quantified { quantifier, local, range, body } = &model.pool[right] else { return None };
    let probe = match (*quantifier, &model.pool[left]) {
        (Quantifier::All, Expr::Unary { operator: UnaryOperator::Not, operand }) => *operand,
        (Quantifier::Any, _) => left,
        _ => return None,
    };
    let Expr::Quantified { local: own, range: own_range, body: probed, .. } = &model.pool[probe] else { return None };
    let Expr::Binary { left: inner, .. } = model.pool[*probed] else { return None };
    (never_decides(model, probe) && (own, own_range) == (local, range) && inner == *body).then_some((left, right))
}

/// Whether a quantifier evaluates its condition for all values.
pub(super) fn never_decides(model: &Model, expression: ExprId) -> bool {
    let Expr::Quantified { quantifier, body, .. } = model.pool[expression] else { return false };
    let Expr::Binary { operator, right, .. } = model.pool[body] else { return false };
    let Expr::Constant { value, .. } = model.pool[right] else { return false };
    matches!(
        (quantifier, operator, value),
        (Quantifier::Any, BinaryOperator::And, 0) | (Quantifier::All, BinaryOperator::Or, 1)
    )
}

/// A quantifier whose order can be noticed, because it may fail.
#[derive(Clone, Debug)]
pub(super) struct MayFail {
    pub(super) scope: Scope,
    pub(super) quantifier: ExprId,
    /// Its values in order, as runs of values that are treated alike; empty if these are not known.
    pub(super) runs: Vec<(i64, i64)>,
}

/// Quantifiers, with the runs of their values.
type Runs<'a> = FxHashMap<ExprId, &'a [(i64, i64)]>;

/// The model with strict quantifiers instead of some. Only in rules, in invariants, and in functions that nothing else
/// uses: elsewhere a condition that goes wrong is not an error. `None` if nothing changes.
pub(super) fn with_strict_quantifiers(model: &Model, quantifiers: &[MayFail]) -> Option<Model> {
    let is_judged = |scope: Scope| match scope {
        Scope::Property(property) => model.properties[property].kind == PropertyKind::Invariant,
        Scope::Rule(_) | Scope::Start(_) => true,
        Scope::Function(_) => false,
    };
    let mut elsewhere: FxHashSet<Scope> = FxHashSet::default();
    let mut pending: Vec<Scope> = Scope::all(model)
        .into_iter()
        .filter(|scope| matches!(scope, Scope::Property(_)) && !is_judged(*scope))
        .collect();
    while let Some(scope) = pending.pop() {
        for function in called_functions(model, scope) {
            if elsewhere.insert(Scope::Function(function)) {
                pending.push(Scope::Function(function));
            }
        }
    }
    let mut by_scope: FxHashMap<Scope, Runs<'_>> = FxHashMap::default();
    for MayFail { scope, quantifier, runs } in quantifiers {
        let is_allowed = match scope {
            Scope::Function(_) => !elsewhere.contains(scope),
            scope => is_judged(*scope),
        };
        if is_allowed {
            by_scope.entry(*scope).or_default().insert(*quantifier, runs);
        }
    }
    if by_scope.is_empty() {
        return None;
    }
    let mut strict = model.clone();
    for (scope, quantifiers) in by_scope {
        let mut rewriter = Rewriter {
            old: model,
            new: &mut strict,
            scope,
            quantifiers: &quantifiers,
            expressions: FxHashMap::default(),
            places: FxHashMap::default(),
        };
        match scope {
            Scope::Rule(rule) => {
                let guard = rewriter.expression(model.rules[rule].guard);
                let body = rewriter.statements(&model.rules[rule].body);
                (strict.rules[rule].guard, strict.rules[rule].body) = (guard, body);
            }
            Scope::Start(start) => {
                let body = rewriter.statements(&model.starts[start].body);
                strict.starts[start].body = body;
            }
            Scope::Function(function) => {
                let body = rewriter.statements(&model.functions[function].body);
                strict.functions[function].body = body;
            }
            Scope::Property(property) => {
                if let Some(condition) = model.properties[property].formula.condition() {
                    let condition = rewriter.expression(condition);
                    strict.properties[property].formula = Formula::Condition(condition);
                }
            }
        }
    }
    quotient_ir::verify(&strict).is_ok().then_some(strict)
}

struct Rewriter<'a> {
    old: &'a Model,
    new: &'a mut Model,
    scope: Scope,
    quantifiers: &'a Runs<'a>,
    expressions: FxHashMap<ExprId, ExprId>,
    places: FxHashMap<PlaceId, PlaceId>,
}

impl Rewriter<'_> {
    fn expression(&mut self, expression: ExprId) -> ExprId {
        self.nodes(Node::Expression(expression));
        self.expressions[&expression]
    }

    fn place(&mut self, place: PlaceId) -> PlaceId {
        self.nodes(Node::Place(place));
        self.places[&place]
    }

    /// Rewrites a node and everything below it, operands first.
    fn nodes(&mut self, root: Node) {
        let mut nodes = Vec::new();
        visit_nodes(self.old, [root], |node| nodes.push(node));
        for node in nodes {
            match node {
                Node::Expression(id) if !self.expressions.contains_key(&id) => {
                    let rewritten = self.rewritten(id);
                    self.expressions.insert(id, rewritten);
                }
                Node::Place(id) if !self.places.contains_key(&id) => {
                    let mut place = self.old.pool[id].clone();
                    visit_place_operands_mut(&mut place, &mut |part| self.replace(part));
                    let rewritten = self.new.pool.place(place);
                    self.places.insert(id, rewritten);
                }
                _ => {}
            }
        }
    }

    /// Replaces an operand that is rewritten already.
    fn replace(&self, part: PartMut<'_>) {
        match part {
            PartMut::Expression(expression) => *expression = self.expressions[expression],
            PartMut::Place(place) => *place = self.places[place],
            PartMut::Block(_) => unreachable!("only statements have blocks"),
        }
    }

    /// An expression whose operands are rewritten already.
    fn rewritten(&mut self, id: ExprId) -> ExprId {
        let mut expression = self.old.pool[id].clone();
        visit_operands_mut(&mut expression, &mut |part| self.replace(part));
        match (self.quantifiers.get(&id), &expression) {
            (Some(&runs), Expr::Quantified { quantifier, local, .. }) if runs.len() > 1 => {
                let (quantifier, local) = (*quantifier, *local);
                let ty = self.scope.locals(self.old)[local].ty;
                let all = quantifier == Quantifier::All;
                let operator = if all { BinaryOperator::And } else { BinaryOperator::Or };
                let mut whole: Option<ExprId> = None;
                for &(low, high) in runs {
                    let mut part = expression.clone();
                    let pool = &mut self.new.pool;
                    let mut bound = |value| pool.expression(Expr::Constant { value, ty });
                    let (from, to) = (bound(low), bound(high));
                    if let Expr::Quantified { range, .. } = &mut part {
                        *range = Iteration::Steps { from, to, step: None };
                    }
                    let part = if low == high { pool.expression(part) } else { self.strict(part) };
                    whole = Some(match whole {
                        None => part,
                        Some(left) => self.new.pool.expression(Expr::Binary { operator, left, right: part }),
                    });
                }
                whole.expect("there are several runs")
            }
            (Some(_), _) => self.strict(expression),
            (None, _) => self.new.pool.expression(expression),
        }
    }

    /// A quantifier that is strict.
    fn strict(&mut self, expression: Expr) -> ExprId {
        let pool = &mut self.new.pool;
        let plain = pool.expression(expression.clone());
        let Expr::Quantified { quantifier, local, range, body } = expression else { return plain };
        let all = quantifier == Quantifier::All;
        let constant = pool.expression(Expr::Constant { value: i64::from(!all), ty: Model::BOOLEAN });
        let operator = if all { BinaryOperator::And } else { BinaryOperator::Or };
        let body = pool.expression(Expr::Binary { operator, left: body, right: constant });
        let quantifier = if all { Quantifier::Any } else { Quantifier::All };
        let mut probe = pool.expression(Expr::Quantified { quantifier, local, range, body });
        if all {
            probe = pool.expression(Expr::Unary { operator: UnaryOperator::Not, operand: probe });
        }
        pool.expression(Expr::Binary { operator: BinaryOperator::And, left: probe, right: plain })
    }

    fn statements(&mut self, statements: &[Statement]) -> Vec<Statement> {
        let mut rewritten = statements.to_vec();
        self.rewrite(&mut rewritten);
        rewritten
    }

    fn rewrite(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            visit_parts_mut(statement, &mut |part| match part {
                PartMut::Expression(expression) => *expression = self.expression(*expression),
                PartMut::Place(place) => *place = self.place(*place),
                PartMut::Block(block) => self.rewrite(block),
            });
        }
    }
}
