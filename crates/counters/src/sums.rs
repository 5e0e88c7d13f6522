//! Loops that do nothing but add up: the iterations for objects that are alike add the same, so one of them tells the sum.

use quotient_ir::walk::{Node, visit_nodes};
use quotient_ir::{
    BinaryOperator, Expr, ExprId, Iteration, LocalId, LocalKind, Model, PlaceId, Root, Statement, StatementKind,
    TableIndex,
};
use quotient_symmetry::Scope;
use rustc_hash::FxHashMap;

/// A loop that only adds to totals.
#[derive(Debug)]
pub(crate) struct Sum {
    /// The locals that are added to.
    pub(crate) totals: Vec<LocalId>,
}

/// The loops of a model that only add up.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// By the addresses of their statements, which are those of the model.
    found: FxHashMap<usize, Sum>,
}

impl Sums {
    pub(crate) fn new(model: &Model) -> Self {
        let mut sums = Self::default();
        let rules = model.rules.iter_enumerated().map(|(id, rule)| (Scope::Rule(id), &rule.body));
        let functions = model.functions.iter_enumerated().map(|(id, function)| (Scope::Function(id), &function.body));
        for (scope, body) in rules.chain(functions) {
            sums.collect(&Reader { model, scope }, body);
        }
        sums
    }

    /// The sum that a loop is, if it is one.
    pub(crate) fn of(&self, statement: &Statement) -> Option<&Sum> {
        self.found.get(&address(statement))
    }

    fn collect(&mut self, reader: &Reader<'_>, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::For { body, .. } => {
                    if let Some(sum) = reader.sum(body) {
                        self.found.insert(address(statement), sum);
                    }
                    self.collect(reader, body);
                }
                StatementKind::While { body, .. } => self.collect(reader, body),
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.collect(reader, body));
                    self.collect(reader, otherwise);
                }
                _ => {}
            }
        }
    }
}

fn address(statement: &Statement) -> usize {
    std::ptr::from_ref(statement).addr()
}

struct Reader<'m> {
    model: &'m Model,
    scope: Scope,
}

impl Reader<'_> {
    /// The sum that a loop with this body is: nothing that it evaluates depends on a total or has an effect.
    fn sum(&self, body: &[Statement]) -> Option<Sum> {
        let (mut totals, mut read) = (Vec::new(), Vec::new());
        self.statements(body, &mut totals, &mut read)?;
        totals.sort_unstable_by_key(|total: &LocalId| total.position());
        totals.dedup();
        let mut is_plain = true;
        visit_nodes(self.model, read.into_iter().map(Node::Expression), |node| {
            is_plain &= match node {
                Node::Expression(id) => !matches!(self.model.pool[id], Expr::Call { .. }),
                Node::Place(id) => match self.model.pool[id].root {
                    Root::Variable(_) => true,
                    Root::Local(local) => !totals.contains(&local) && !self.is(local, LocalKind::Reference),
                    Root::Result { .. } | Root::Choice { .. } => false,
                },
            };
        });
        is_plain.then_some(Sum { totals })
    }

    fn is(&self, local: LocalId, kind: LocalKind) -> bool {
        self.scope.locals(self.model)[local].kind == kind
    }

    /// Collects what is added to, and what is evaluated; none if something else is done.
    fn statements(&self, body: &[Statement], totals: &mut Vec<LocalId>, read: &mut Vec<ExprId>) -> Option<()> {
        for statement in body {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    totals.push(self.total(*target)?);
                    read.push(self.added(*target, *value)?);
                }
                StatementKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        read.push(*condition);
                        self.statements(body, totals, read)?;
                    }
                    self.statements(otherwise, totals, read)?;
                }
                StatementKind::For { range: Iteration::Over(_), body, .. } => self.statements(body, totals, read)?,
                _ => return None,
            }
        }
        Some(())
    }

    /// The local that a place is, if it holds numbers without gaps.
    fn total(&self, place: PlaceId) -> Option<LocalId> {
        let entry = &self.model.pool[place];
        match entry.root {
            Root::Local(local) if entry.steps.is_empty() && self.is(local, LocalKind::Variable) => {
                (self.model.domain(entry.ty).pieces().len() == 1).then_some(local)
            }
            _ => None,
        }
    }

    /// What is added to a place.
    fn added(&self, target: PlaceId, value: ExprId) -> Option<ExprId> {
        let is_target = |id: ExprId| matches!(self.model.pool[id], Expr::Read(place) if place == target);
        match self.model.pool[value] {
            Expr::Binary { operator: BinaryOperator::Add, left, right } if is_target(left) => Some(right),
            Expr::Binary { operator: BinaryOperator::Add, left, right } if is_target(right) => Some(left),
            Expr::Binary { operator: BinaryOperator::Subtract, left, right } if is_target(left) => Some(right),
            _ => None,
        }
    }
}
