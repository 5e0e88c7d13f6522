//! Transitions as rules.
//!
//! A transition can fire for values of its variables if its condition holds and each place has enough tokens of each
//! colour. Inscriptions may name a colour in several terms, which may coincide for some values of the variables: what is
//! needed of a colour is the sum over all terms that name it.

use quotient_ir::{BinaryOperator, Diagnostic, ExprId, Fairness, Owner, Quantifier, Rule, Statement, StatementKind};
use quotient_kit::Building;

use super::{Binding, Factor, Index, Lowering, Scope, Tables, Term, in_loops};
use crate::net::merged;
use crate::net::{MOST_CELLS, Transition};

impl Lowering<'_> {
    pub(super) fn rules(&mut self) {
        let (net, ways) = (self.net, std::mem::take(&mut self.ways));
        for (transition, fixed) in net.transitions.iter().zip(&ways) {
            for fixed in fixed {
                self.rule(transition, fixed);
            }
        }
        self.ways = ways;
    }

    /// Splits transitions that can fire in very many ways by the tables that they read, and refuses those that are still
    /// too many.
    pub(super) fn split(&mut self) {
        let net = self.net;
        let tables = Tables::of(net);
        for transition in &net.transitions {
            let sizes = transition.variables.iter().flat_map(|&variable| &net.variables[variable].classes);
            let instances = sizes.map(|&class| net.classes[class].size as usize).try_fold(1usize, usize::checked_mul);
            let ways = tables.ways(net, transition, instances);
            if ways.is_none() && instances.is_none_or(|instances| instances > MOST_CELLS) {
                let message = format!("`{}` can fire in more than {MOST_CELLS} ways", transition.name);
                let error = Diagnostic::error("too-large", message, transition.span);
                self.diagnostics.push(error.with_help("choose smaller classes, or fewer variables"));
            }
            self.ways.push(ways.unwrap_or_else(|| vec![Binding::new()]));
        }
    }

    fn rule(&mut self, transition: &Transition, fixed: &Binding) {
        let mut scope = Scope { fixed: fixed.clone(), ..Scope::default() };
        let parameters = self.parameters(&mut scope, &transition.variables);
        let guard = self.enabled(&mut scope, transition);
        let body = self.firing(&mut scope, transition);
        self.model.rules.push(Rule {
            name: Some(format!("{}{}", transition.name, self.values_text(fixed))),
            owner: Owner::None,
            fairness: Fairness::None,
            parameters,
            locals: scope.locals,
            guard,
            body,
            span: transition.span,
        });
    }

    /// The values of variables that are no parameters.
    fn values_text(&self, fixed: &Binding) -> String {
        let net = self.net;
        let text = |(&(variable, component), &value): (&(usize, usize), &i64)| {
            let entry = &net.variables[variable];
            let class = &net.classes[entry.classes[component]];
            let member = class.members.get((value - class.first) as usize);
            let part = if entry.classes.len() == 1 { String::new() } else { format!(".{}", component + 1) };
            format!("{}{part} = {}", entry.name, member.cloned().unwrap_or_else(|| value.to_string()))
        };
        let texts: Vec<String> = fixed.iter().map(text).collect();
        if texts.is_empty() { texts.concat() } else { format!(" ({})", texts.join(", ")) }
    }

    /// Whether a transition can fire, for values of its variables.
    fn enabled(&mut self, scope: &mut Scope, transition: &Transition) -> ExprId {
        let mut parts = vec![self.condition(scope, &transition.guard)];
        for (place, terms) in &transition.inputs {
            let terms = merged(terms.clone());
            for term in terms.iter().filter(|term| term.coefficient > 0) {
                let needed = self.for_cells(scope, *place, term, |this, scope, place, indices, cell| {
                    let needed = this.amount(scope, place, &terms, indices, None);
                    let there = this.read(cell);
                    this.binary(BinaryOperator::GreaterOrEqual, there, needed)
                });
                parts.push(needed);
            }
        }
        // What is subtracted has to be there.
        for (place, terms) in transition.inputs.iter().chain(&transition.outputs) {
            let terms = merged(terms.clone());
            for term in terms.iter().filter(|term| term.coefficient < 0) {
                let defined = self.for_cells(scope, *place, term, |this, scope, place, indices, _| {
                    let (amount, zero) = (this.amount(scope, place, &terms, indices, None), this.number(0));
                    this.binary(BinaryOperator::GreaterOrEqual, amount, zero)
                });
                parts.push(defined);
            }
        }
        self.all(parts)
    }

    /// Whether a transition can fire, for some values of its variables.
    pub(super) fn is_fireable(&mut self, scope: &mut Scope, number: usize) -> ExprId {
        let transition = &self.net.transitions[number];
        let ways = self.ways[number].clone();
        let mut conditions = Vec::with_capacity(ways.len());
        for fixed in ways {
            scope.fixed = fixed;
            let parameters = self.parameters(scope, &transition.variables);
            let mut condition = self.enabled(scope, transition);
            for parameter in parameters.iter().rev() {
                let ty = scope.locals[parameter.local].ty;
                condition = self.quantified(Quantifier::Any, (parameter.local, ty), condition);
            }
            scope.variables.clear();
            conditions.push(condition);
        }
        scope.fixed.clear();
        self.any(conditions)
    }

    /// A condition for every token that a term stands for.
    fn for_cells(
        &mut self,
        scope: &mut Scope,
        place: usize,
        term: &Term,
        condition: impl FnOnce(&mut Self, &mut Scope, usize, &[Index], quotient_ir::PlaceId) -> ExprId,
    ) -> ExprId {
        let (cell, loops) = self.cell(scope, place, &term.factors);
        let indices = self.indices(cell);
        let mut condition = condition(self, scope, place, &indices, cell);
        for &bound in loops.iter().rev() {
            condition = self.quantified(Quantifier::All, bound, condition);
        }
        condition
    }

    fn indices(&self, cell: quotient_ir::PlaceId) -> Vec<Index> {
        let steps = self.model.pool[cell].steps.iter();
        steps
            .filter_map(|step| if let quotient_ir::Step::Index(index) = step { Some(Index(*index)) } else { None })
            .collect()
    }

    /// How many tokens of the colour at these indices a multiset has, added to what is given.
    fn amount(
        &mut self,
        scope: &mut Scope,
        place: usize,
        terms: &[Term],
        indices: &[Index],
        first: Option<ExprId>,
    ) -> ExprId {
        let mut known = 0i64;
        let mut sum = first;
        for term in terms {
            let Some(matches) = self.matches(scope, place, term, indices) else { continue };
            if matches == self.truth(true) {
                known += term.coefficient;
                continue;
            }
            let (amount, zero) = (self.number(term.coefficient), self.number(0));
            let amount = self.conditional(matches, amount, zero);
            sum = Some(sum.map_or(amount, |sum| self.binary(BinaryOperator::Add, sum, amount)));
        }
        match sum {
            None => self.number(known),
            Some(sum) if known == 0 => sum,
            Some(sum) => {
                let known = self.number(known);
                self.binary(BinaryOperator::Add, sum, known)
            }
        }
    }

    /// Whether a term has the token at these indices; none if never.
    fn matches(&mut self, scope: &mut Scope, place: usize, term: &Term, indices: &[Index]) -> Option<ExprId> {
        let domain = &self.net.places[place].domain;
        let classes = domain.iter().zip(&term.factors).filter(|&(&class, _)| self.class_types[class].is_some());
        let factors: Vec<&Factor> = classes.map(|(_, factor)| factor).collect();
        let mut parts = Vec::new();
        for (factor, &Index(index)) in factors.into_iter().zip(indices) {
            let Factor::One(value) = factor else { continue };
            let own = self.value(scope, value);
            if own == index {
                continue;
            }
            let constants = [own, index].map(|it| matches!(self.model.pool[it], quotient_ir::Expr::Constant { .. }));
            if constants == [true, true] {
                return None;
            }
            parts.push(self.binary(BinaryOperator::Equal, own, index));
        }
        Some(self.all(parts))
    }

    /// What a transition does.
    fn firing(&mut self, scope: &mut Scope, transition: &Transition) -> Vec<Statement> {
        let span = transition.span;
        let mut places: Vec<usize> =
            transition.inputs.iter().chain(&transition.outputs).map(|(place, _)| *place).collect();
        places.sort_unstable();
        places.dedup();
        let mut body = Vec::new();
        for place in places {
            let of = |arcs: &[(usize, Vec<Term>)]| {
                arcs.iter().filter(|(own, _)| *own == place).flat_map(|(_, terms)| terms.clone()).collect::<Vec<_>>()
            };
            let (inputs, outputs) = (of(&transition.inputs), of(&transition.outputs));
            let is_plain =
                [&inputs, &outputs].iter().all(|terms| merged((*terms).clone()).iter().all(|it| it.coefficient > 0));
            // Tokens that are taken and put back stay.
            let taken = inputs.into_iter().map(|term| Term { coefficient: -term.coefficient, ..term });
            let net: Vec<Term> = merged(taken.chain(outputs).collect());
            if is_plain {
                for term in net.iter().filter(|term| term.coefficient < 0) {
                    let term = Term { coefficient: -term.coefficient, factors: term.factors.clone() };
                    self.change(scope, place, &term, -1, span, &mut body);
                }
                for term in net.iter().filter(|term| term.coefficient > 0) {
                    self.change(scope, place, term, 1, span, &mut body);
                }
            } else {
                self.change_together(scope, place, &net, transition, &mut body);
            }
        }
        body
    }

    /// Changes each cell once: where something is subtracted, a part of the change may be impossible by itself.
    fn change_together(
        &mut self,
        scope: &mut Scope,
        place: usize,
        terms: &[Term],
        transition: &Transition,
        body: &mut Vec<Statement>,
    ) {
        let Some(first) = terms.first() else { return };
        let factors = (0..first.factors.len()).map(|position| {
            let own: &Factor = &first.factors[position];
            let is_same = terms.iter().all(|term| term.factors[position] == *own);
            if is_same { own.clone() } else { Factor::All }
        });
        let factors: Vec<Factor> = factors.collect();
        let (cell, loops) = self.cell(scope, place, &factors);
        let (indices, there) = (self.indices(cell), self.read(cell));
        let value = self.amount(scope, place, terms, &indices, Some(there));
        let mut statements = Vec::new();
        self.require(place, value, transition.span, &mut statements);
        statements.push(Statement { kind: StatementKind::Assign { target: cell, value }, span: transition.span });
        body.extend(in_loops(statements, &loops, transition.span));
    }
}
