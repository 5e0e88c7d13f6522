//! Whether two models are the same text: a parallel walk through their expressions, which are numbered differently.
//!
//! Each owner is cut into its form, in which no expression is left, and its expressions in order. The forms must be equal,
//! and the expressions must be the same in turn.

use quotient_ir::walk::Node;
use quotient_ir::{
    Argument, Expr, ExprId, Formula, Function, Iteration, Model, MultisetElement, Parameter, PlaceId, PrintPiece,
    Property, ReturnValue, Root, Rule, Span, Start, Statement, StatementKind, Step, TableIndex,
};
use rustc_hash::FxHashSet;

use super::family::{Obstacle, first_of};

/// What is taken out of a form, with its place.
type Parts = Vec<(Node, Span)>;

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
                    cut_expression(&mut left, &mut of_left);
                    cut_expression(&mut right, &mut of_right);
                    match (&left, &right) {
                        (Expr::Constant { value, ty }, Expr::Constant { value: other, ty: other_ty }) => {
                            ty == other_ty && value - first_of(self.one, *ty) == other - first_of(self.other, *ty)
                        }
                        _ => left == right,
                    }
                }
                (Node::Place(left), Node::Place(right)) => {
                    let (mut left, mut right) = (self.one.pool[left].clone(), self.other.pool[right].clone());
                    for (place, parts) in [(&mut left, &mut of_left), (&mut right, &mut of_right)] {
                        cut_root(&mut place.root, parts);
                        for step in &mut place.steps {
                            if let Step::Index(index) = step {
                                take(index, Span::default(), parts);
                            }
                        }
                    }
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

fn take(expression: &mut ExprId, span: Span, parts: &mut Parts) {
    parts.push((Node::Expression(*expression), span));
    *expression = ExprId::from_position(0);
}

fn take_place(place: &mut PlaceId, span: Span, parts: &mut Parts) {
    parts.push((Node::Place(*place), span));
    *place = PlaceId::from_position(0);
}

fn cut_range(range: &mut Iteration, span: Span, parts: &mut Parts) {
    if let Iteration::Steps { from, to, step } = range {
        take(from, span, parts);
        take(to, span, parts);
        if let Some(step) = step {
            take(step, span, parts);
        }
    }
}

fn cut_parameters(parameters: &mut [Parameter], span: Span, parts: &mut Parts) {
    for parameter in parameters {
        cut_range(&mut parameter.range, span, parts);
    }
}

fn cut_arguments(arguments: &mut [Argument], span: Span, parts: &mut Parts) {
    for argument in arguments {
        match argument {
            Argument::Value(value) => take(value, span, parts),
            Argument::Copy(place) | Argument::Reference(place) => take_place(place, span, parts),
            Argument::Undefined => {}
        }
    }
}

fn cut_root(root: &mut Root, parts: &mut Parts) {
    let span = Span::default();
    match root {
        Root::Variable(_) | Root::Local(_) => {}
        Root::Result { arguments, .. } => cut_arguments(arguments, span, parts),
        Root::Choice { condition, then, otherwise } => {
            take(condition, span, parts);
            take_place(then, span, parts);
            take_place(otherwise, span, parts);
        }
    }
}

fn cut_expression(expression: &mut Expr, parts: &mut Parts) {
    let span = Span::default();
    match expression {
        Expr::Constant { .. } => {}
        Expr::Read(place) | Expr::IsUndefined(place) => take_place(place, span, parts),
        Expr::Unary { operand, .. } => take(operand, span, parts),
        Expr::Binary { left, right, .. } => {
            take(left, span, parts);
            take(right, span, parts);
        }
        Expr::Conditional { condition, then, otherwise } => {
            for part in [condition, then, otherwise] {
                take(part, span, parts);
            }
        }
        Expr::Quantified { range, body, .. } => {
            cut_range(range, span, parts);
            take(body, span, parts);
        }
        Expr::Count { multiset, body, .. } => {
            take_place(multiset, span, parts);
            take(body, span, parts);
        }
        Expr::IsPresent { multiset, position } => {
            take_place(multiset, span, parts);
            take(position, span, parts);
        }
        Expr::IsMember { value, .. } => take(value, span, parts),
        Expr::SameContents { left, right } => {
            take_place(left, span, parts);
            take_place(right, span, parts);
        }
        Expr::Call { arguments, .. } => cut_arguments(arguments, span, parts),
    }
}

fn cut_body(body: &mut [Statement], parts: &mut Parts) {
    for statement in body {
        cut_statement(statement, parts);
    }
}

fn cut_statement(statement: &mut Statement, parts: &mut Parts) {
    let span = statement.span;
    match &mut statement.kind {
        StatementKind::Assign { target, value } => {
            take_place(target, span, parts);
            take(value, span, parts);
        }
        StatementKind::Copy { target, source } => {
            take_place(target, span, parts);
            take_place(source, span, parts);
        }
        StatementKind::Clear(place) | StatementKind::Undefine(place) | StatementKind::Bind { place, .. } => {
            take_place(place, span, parts);
        }
        StatementKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                take(condition, span, parts);
                cut_body(body, parts);
            }
            cut_body(otherwise, parts);
        }
        StatementKind::While { condition, body } => {
            take(condition, span, parts);
            cut_body(body, parts);
        }
        StatementKind::For { range, body, .. } => {
            cut_range(range, span, parts);
            cut_body(body, parts);
        }
        StatementKind::Call { arguments, .. } => cut_arguments(arguments, span, parts),
        StatementKind::Return(Some(ReturnValue::Value(value))) => take(value, span, parts),
        StatementKind::Return(Some(ReturnValue::Copy(place))) => take_place(place, span, parts),
        StatementKind::Assert { condition, violates, message } => {
            take(condition, span, parts);
            // It quotes values of constants.
            message.clear();
            if let Some((words, value)) = violates.as_mut().and_then(|violated| violated.value.as_mut()) {
                words.clear();
                take(value, span, parts);
            }
        }
        StatementKind::Require { condition, .. }
        | StatementKind::Cover { condition, .. }
        | StatementKind::Assume(condition) => take(condition, span, parts),
        // What is printed has no effect.
        StatementKind::Print(pieces) => pieces.retain(|piece| matches!(piece, PrintPiece::State)),
        StatementKind::Return(None) | StatementKind::Error { .. } => {}
        StatementKind::MultisetAdd { multiset, element } => {
            take_place(multiset, span, parts);
            match element {
                MultisetElement::Value(value) => take(value, span, parts),
                MultisetElement::Copy(place) => take_place(place, span, parts),
            }
        }
        StatementKind::MultisetRemove { multiset, position } => {
            take_place(multiset, span, parts);
            take(position, span, parts);
        }
        StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
            take_place(multiset, span, parts);
            take(condition, span, parts);
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
    take(&mut rule.guard, rule.span, parts);
    cut_body(&mut rule.body, parts);
}

fn of_property(property: &mut Property, parts: &mut Parts) {
    cut_parameters(&mut property.parameters, property.span, parts);
    let taken: Vec<ExprId> = property.formula.conditions().collect();
    parts.extend(taken.into_iter().map(|condition| (Node::Expression(condition), property.span)));
    // Formulas other than conditions are not claimed for every size.
    property.formula = Formula::CoverStatement;
}
