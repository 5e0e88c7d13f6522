//! Whether two models are the same text: a parallel walk through their expressions, which are numbered differently.
//!
//! Each owner is cut into its form, in which no expression is left, and its expressions in order. The forms must be equal,
//! and the expressions must be the same in turn.

use quotient_ir::walk::{
    Node, PartMut, visit_operands_mut, visit_parts_mut, visit_place_operands_mut, visit_range_mut,
};
use quotient_ir::{
    Expr, ExprId, Formula, Function, Model, Parameter, PlaceId, PrintPiece, Property, Rule, Span, Start, Statement,
    StatementKind, TableIndex, TypeId, TypeKind,
};
use rustc_hash::FxHashSet;

use super::obstacle::Obstacle;

/// What is taken out of a form, with its place.
type Parts = Vec<(Node, Span)>;

/// The number that encodes the first value of an enumeration or scalarset, which may be a member of a union.
pub(super) fn first_of(model: &Model, ty: TypeId) -> i64 {
    match model.types[ty].kind {
        TypeKind::Enumeration { first, .. } | TypeKind::Scalarset { first, .. } => first,
        _ => 0,
    }
}

/// Compares all that models do and claim, apart from their types.
pub(super) fn compare(one: &Model, other: &Model) -> Result<(), Obstacle> {
    let mut comparison = Comparison { one, other, known: FxHashSet::default() };
    let (left, right) = (one, other);
    comparison.all(left.functions.as_slice(), right.functions.as_slice(), of_function)?;
    comparison.all(left.starts.as_slice(), right.starts.as_slice(), of_start)?;
    comparison.all(left.rules.as_slice(), right.rules.as_slice(), of_rule)?;
    comparison.all(left.properties.as_slice(), right.properties.as_slice(), of_property)
}

struct Comparison<'m> {
    one: &'m Model,
    other: &'m Model,
    known: FxHashSet<(Node, Node)>,
}

impl Comparison<'_> {
    fn all<T: Clone + PartialEq>(
        &mut self,
        left: &[T],
        right: &[T],
        cut: fn(&mut T, &mut Parts),
    ) -> Result<(), Obstacle> {
        if left.len() != right.len() {
            return Err(Obstacle::new("the constant decides which rules and properties there are", Span::default()));
        }
        for (left, right) in left.iter().zip(right) {
            let (mut left, mut right) = (left.clone(), right.clone());
            let (mut of_left, mut of_right) = (Parts::new(), Parts::new());
            cut(&mut left, &mut of_left);
            cut(&mut right, &mut of_right);
            if left != right || of_left.len() != of_right.len() {
                let span = of_left.first().map(|(_, span)| *span).unwrap_or_default();
                return Err(Obstacle::new("the constant decides what this does", span));
            }
            for ((left, span), (right, _)) in of_left.into_iter().zip(of_right) {
                if !self.is_same(left, right) {
                    return Err(Obstacle::new("a number here depends on how many objects there are", span));
                }
            }
        }
        Ok(())
    }

    fn is_same(&mut self, left: Node, right: Node) -> bool {
        let mut pending = vec![(left, right)];
        while let Some((left, right)) = pending.pop() {
            if !self.known.insert((left, right)) {
                continue;
            }
            let (mut of_left, mut of_right) = (Parts::new(), Parts::new());
            let is_same = match (left, right) {
                (Node::Expression(left), Node::Expression(right)) => {
                    let (mut left, mut right) = (self.one.pool[left].clone(), self.other.pool[right].clone());
                    visit_operands_mut(&mut left, &mut |part| take(part, Span::default(), &mut of_left));
                    visit_operands_mut(&mut right, &mut |part| take(part, Span::default(), &mut of_right));
                    match (&left, &right) {
                        (Expr::Constant { value, ty }, Expr::Constant { value: other, ty: other_ty }) => {
                            ty == other_ty && value - first_of(self.one, *ty) == other - first_of(self.other, *ty)
                        }
                        _ => left == right,
                    }
                }
                (Node::Place(left), Node::Place(right)) => {
                    let (mut left, mut right) = (self.one.pool[left].clone(), self.other.pool[right].clone());
                    visit_place_operands_mut(&mut left, &mut |part| take(part, Span::default(), &mut of_left));
                    visit_place_operands_mut(&mut right, &mut |part| take(part, Span::default(), &mut of_right));
                    left == right
                }
                _ => false,
            };
            if !is_same || of_left.len() != of_right.len() {
                return false;
            }
            pending.extend(of_left.into_iter().zip(of_right).map(|((left, _), (right, _))| (left, right)));
        }
        true
    }
}

fn take(part: PartMut<'_>, span: Span, parts: &mut Parts) {
    match part {
        PartMut::Expression(expression) => {
            parts.push((Node::Expression(*expression), span));
            *expression = ExprId::from_position(0);
        }
        PartMut::Place(place) => {
            parts.push((Node::Place(*place), span));
            *place = PlaceId::from_position(0);
        }
        PartMut::Block(block) => cut_body(block, parts),
    }
}

fn cut_parameters(parameters: &mut [Parameter], span: Span, parts: &mut Parts) {
    for parameter in parameters {
        visit_range_mut(&mut parameter.range, &mut |part| take(part, span, parts));
    }
}

fn cut_body(body: &mut [Statement], parts: &mut Parts) {
    for statement in body {
        let span = statement.span;
        visit_parts_mut(statement, &mut |part| take(part, span, parts));
        match &mut statement.kind {
            // Messages quote values of constants.
            StatementKind::Assert { violates, message, .. } => {
                message.clear();
                if let Some((words, _)) = violates.as_mut().and_then(|violated| violated.value.as_mut()) {
                    words.clear();
                }
            }
            // What is printed has no effect.
            StatementKind::Print(pieces) => pieces.retain(|piece| matches!(piece, PrintPiece::State)),
            _ => {}
        }
    }
}

fn of_function(function: &mut Function, parts: &mut Parts) {
    cut_body(&mut function.body, parts);
}

fn of_start(start: &mut Start, parts: &mut Parts) {
    cut_parameters(&mut start.parameters, start.span, parts);
    cut_body(&mut start.body, parts);
}

fn of_rule(rule: &mut Rule, parts: &mut Parts) {
    cut_parameters(&mut rule.parameters, rule.span, parts);
    take(PartMut::Expression(&mut rule.guard), rule.span, parts);
    cut_body(&mut rule.body, parts);
}

fn of_property(property: &mut Property, parts: &mut Parts) {
    cut_parameters(&mut property.parameters, property.span, parts);
    let taken: Vec<ExprId> = property.formula.conditions().collect();
    parts.extend(taken.into_iter().map(|condition| (Node::Expression(condition), property.span)));
    // Formulas other than conditions are not claimed for every size.
    property.formula = Formula::CoverStatement;
}
