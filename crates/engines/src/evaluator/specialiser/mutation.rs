//! Which locals something may write to: those whose value is not known for good when they are set.

use std::rc::Rc;

use quotient_ir::{
    Argument, Expr, ExprId, Iteration, Local, LocalId, Model, MultisetElement, PlaceId, ReturnValue, Root, Statement,
    StatementKind, Step, Table, TableIndex,
};
use rustc_hash::FxHashSet;

/// For each local of an owner whether a statement writes to it or makes a reference to it.
pub(super) fn mutated_locals(
    model: &Model,
    locals: &Table<LocalId, Local>,
    condition: Option<ExprId>,
    body: &[Statement],
) -> Rc<[bool]> {
    let mut search = Search {
        model,
        mutated: vec![false; locals.len()],
        expressions: Vec::new(),
        places: Vec::new(),
        seen_expressions: FxHashSet::default(),
        seen_places: FxHashSet::default(),
    };
    search.expressions.extend(condition);
    search.statements(body);
    search.drain();
    search.mutated.into()
}

struct Search<'m> {
    model: &'m Model,
    mutated: Vec<bool>,
    // Expressions may be nested deeply, so they wait in a list rather than on the stack.
    expressions: Vec<ExprId>,
    places: Vec<PlaceId>,
    seen_expressions: FxHashSet<ExprId>,
    seen_places: FxHashSet<PlaceId>,
}

impl Search<'_> {
    fn statements(&mut self, statements: &[Statement]) {
        let mut waiting: Vec<&Statement> = statements.iter().collect();
        while let Some(statement) = waiting.pop() {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    self.written(*target);
                    self.expressions.push(*value);
                }
                StatementKind::Copy { target, source } => {
                    self.written(*target);
                    self.places.push(*source);
                }
                StatementKind::Clear(place) | StatementKind::Undefine(place) => self.written(*place),
                StatementKind::Bind { place, .. } => self.written(*place),
                StatementKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        self.expressions.push(*condition);
                        waiting.extend(body);
                    }
                    waiting.extend(otherwise);
                }
                StatementKind::While { condition, body } => {
                    self.expressions.push(*condition);
                    waiting.extend(body);
                }
                StatementKind::For { range, body, .. } => {
                    self.iteration(range);
                    waiting.extend(body);
                }
                StatementKind::Call { arguments, .. } => self.arguments(arguments),
                StatementKind::Return(Some(ReturnValue::Value(value))) => self.expressions.push(*value),
                StatementKind::Return(Some(ReturnValue::Copy(place))) => self.places.push(*place),
                StatementKind::Return(None) | StatementKind::Error { .. } => {}
                StatementKind::Assert { condition, .. }
                | StatementKind::Require { condition, .. }
                | StatementKind::Assume(condition)
                | StatementKind::Cover { condition, .. } => self.expressions.push(*condition),
                StatementKind::MultisetAdd { multiset, element } => {
                    self.written(*multiset);
                    match element {
                        MultisetElement::Value(value) => self.expressions.push(*value),
                        MultisetElement::Copy(place) => self.places.push(*place),
                    }
                }
                StatementKind::MultisetRemove { multiset, position } => {
                    self.written(*multiset);
                    self.expressions.push(*position);
                }
                StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
                    self.written(*multiset);
                    self.expressions.push(*condition);
                }
            }
        }
    }

    fn drain(&mut self) {
        loop {
            if let Some(expression) = self.expressions.pop() {
                if self.seen_expressions.insert(expression) {
                    self.expression(expression);
                }
            } else if let Some(place) = self.places.pop() {
                if self.seen_places.insert(place) {
                    self.place(place);
                }
            } else {
                return;
            }
        }
    }

    fn expression(&mut self, expression: ExprId) {
        let model = self.model;
        match &model.pool[expression] {
            Expr::Constant { .. } => {}
            Expr::Read(place) | Expr::IsUndefined(place) => self.places.push(*place),
            Expr::Unary { operand, .. } => self.expressions.push(*operand),
            Expr::Binary { left, right, .. } => self.expressions.extend([*left, *right]),
            Expr::Conditional { condition, then, otherwise } => {
                self.expressions.extend([*condition, *then, *otherwise]);
            }
            Expr::Quantified { range, body, .. } => {
                self.iteration(range);
                self.expressions.push(*body);
            }
            Expr::Count { multiset, body, .. } => {
                self.places.push(*multiset);
                self.expressions.push(*body);
            }
            Expr::IsPresent { multiset, position } => {
                self.places.push(*multiset);
                self.expressions.push(*position);
            }
            Expr::IsMember { value, .. } => self.expressions.push(*value),
            Expr::SameContents { left, right } => self.places.extend([*left, *right]),
            Expr::Call { arguments, .. } => self.arguments(arguments),
        }
    }

    fn place(&mut self, place: PlaceId) {
        let model = self.model;
        let entry = &model.pool[place];
        match &entry.root {
            Root::Variable(_) | Root::Local(_) => {}
            Root::Result { arguments, .. } => self.arguments(arguments),
            Root::Choice { condition, then, otherwise } => {
                self.expressions.push(*condition);
                self.places.extend([*then, *otherwise]);
            }
        }
        for step in &entry.steps {
            if let Step::Index(index) = step {
                self.expressions.push(*index);
            }
        }
    }

    fn iteration(&mut self, range: &Iteration) {
        if let Iteration::Steps { from, to, step } = range {
            self.expressions.extend([*from, *to]);
            self.expressions.extend(*step);
        }
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.expressions.push(*value),
                Argument::Copy(place) => self.places.push(*place),
                Argument::Reference(place) => self.written(*place),
            }
        }
    }

    /// A place that is written to, or that a reference is made to.
    fn written(&mut self, place: PlaceId) {
        self.places.push(place);
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            match &self.model.pool[place].root {
                Root::Local(local) => self.mutated[local.position()] = true,
                Root::Choice { then, otherwise, .. } => waiting.extend([*then, *otherwise]),
                Root::Variable(_) | Root::Result { .. } => {}
            }
        }
    }
}
