//! Temporal formulas of which only the conditions are in a text.

use std::ops::Range;

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Formula, Function, Model, Positions, Property, PropertyId, PropertyKind,
    ReturnValue, Span, Statement, StatementKind, Table, Temporal, TemporalClaim,
};
use quotient_temporal::syntax::{self, AtomReader, Binding, Quantified, SyntaxTree};
use quotient_temporal::{Atom, Formula as Node, Formulas};

use super::role::{Condition, Role};

/// A temporal formula whose conditions are in the text, each by itself.
#[derive(Clone, Debug)]
pub(super) struct Divided {
    pub(super) condition: Condition,
    /// Its conditions are as large as possible.
    pub(super) tree: SyntaxTree,
    /// Its conditions: where they are in the formula, and where the formula around each is in the text.
    pub(super) parts: Vec<(syntax::Span, Range<u32>)>,
}

impl Divided {
    /// The property of a formula, from the conditions in the model.
    pub(super) fn property(&self, model: &mut Model, used: &mut Vec<PropertyId>) -> Result<Property, Vec<Diagnostic>> {
        let text = &self.condition.expression;
        let branching = self.condition.role == Role::Branching;
        let mut reader = Reader { formula: self, model, used, atoms: Vec::new() };
        let mut pool = Formulas::new();
        let formula = syntax::lower(&self.tree, &mut pool, &mut reader)?;
        let atoms = reader.atoms;
        let whole = self.parts.first().map_or(0..0, |(_, place)| place.clone());
        let whole = Span { start: whole.start, end: whole.end };
        let problem = |message: &str, help: &str| {
            Err(vec![Diagnostic::error(self.condition.role.code(), message, whole).with_help(help)])
        };
        if !branching && pool.has_path_quantifier(formula) {
            return problem("a formula of LTL has no path quantifiers", "use `--ctl`");
        }
        if branching {
            let above = Atom(atoms.len() as u32);
            if quotient_temporal::branching::separate(&mut pool.clone(), formula, above).is_err() {
                let help = "write `A` or `E` before it, or use `--ltl` for what holds on every run";
                return problem("a temporal operator needs a path quantifier", help);
            }
        }
        let claim = match branching {
            true => TemporalClaim::Branching { pool, formula },
            false => TemporalClaim::Linear { pool, formula },
        };
        let names = atoms.iter().map(|(span, _)| one_line(span.of(text))).collect();
        let temporal = Temporal {
            claim,
            atoms: atoms.into_iter().map(|(_, condition)| condition).collect(),
            names,
            text: one_line(text),
            positions: Positions::Stored,
        };
        Ok(Property {
            name: Some(one_line(text)),
            kind: PropertyKind::Temporal,
            parameters: Vec::new(),
            locals: Table::new(),
            formula: Formula::Temporal(Box::new(temporal)),
            span: whole,
        })
    }
}

/// Finds the conditions of a formula in the model.
struct Reader<'a> {
    formula: &'a Divided,
    model: &'a mut Model,
    used: &'a mut Vec<PropertyId>,
    atoms: Vec<(syntax::Span, ExprId)>,
}

impl AtomReader for Reader<'_> {
    type Error = Diagnostic;

    fn atom(&mut self, pool: &mut Formulas, span: syntax::Span, _: &[Binding]) -> Result<Node, Diagnostic> {
        let text = &self.formula.condition.expression;
        let same = |(known, _): &(syntax::Span, ExprId)| known.of(text) == span.of(text);
        if let Some(number) = self.atoms.iter().position(same) {
            return Ok(pool.atom(Atom(number as u32)));
        }
        let place = self.formula.parts.iter().find(|(part, _)| *part == span).map(|(_, place)| place.clone());
        let place = place.expect("every condition is in the text");
        let here = Span { start: place.start + span.start, end: place.start + span.end };
        let mut conditions = Vec::new();
        for id in self.model.properties.indices() {
            let property = &self.model.properties[id];
            let overlaps = property.span.start < place.end && place.start < property.span.end;
            if overlaps && let Some(condition) = property.formula.condition() {
                let locals = property.locals.clone();
                // A condition with bound variables keeps them in a function.
                conditions.push(if locals.is_empty() {
                    condition
                } else {
                    let kind = StatementKind::Return(Some(ReturnValue::Value(condition)));
                    let function = self.model.functions.push(Function {
                        name: format!("condition {}", self.model.functions.len()),
                        parameters: Vec::new(),
                        locals,
                        result: Some(Model::BOOLEAN),
                        body: vec![Statement { kind, span: here }],
                        span: here,
                    });
                    self.model.pool.expression(Expr::Call { function, arguments: Vec::new() })
                });
                self.used.push(id);
            }
        }
        let both = |left, right| Expr::Binary { operator: BinaryOperator::And, left, right };
        let condition = conditions.into_iter().reduce(|left, right| self.model.pool.expression(both(left, right)));
        let Some(condition) = condition else {
            let message = "this is not a condition on single states";
            return Err(Diagnostic::error(self.formula.condition.role.code(), message, here));
        };
        self.atoms.push((span, condition));
        Ok(pool.atom(Atom(self.atoms.len() as u32 - 1)))
    }

    fn domain_size(&mut self, quantified: &Quantified, _: &[Binding]) -> Result<usize, Diagnostic> {
        let start = self.formula.parts.first().map_or(0, |(_, place)| place.start);
        let span = Span { start: start + quantified.domain.start, end: start + quantified.domain.end };
        let message = "there are no types here to quantify over";
        Err(Diagnostic::error("quantifier", message, span).with_help("write the formula for each process"))
    }
}

/// A text with blanks instead of line ends.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
