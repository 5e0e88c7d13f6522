//! Statements.

use rustc_hash::{FxHashMap, FxHashSet};

use super::PrintError;
use super::expressions::{Use, Want};
use super::multisets::Reset;
use super::owner::Owner;
use super::program::Printer;
use super::scope::{Binding, Lines, Scope};
use super::walk::{Node, body_nodes, push_statement_nodes, visit_nodes, visit_statements};
use crate::expression::{Argument, Expr, Root};
use crate::index::{ExprId, LocalId, PlaceId};
use crate::model::{LocalKind, Model};
use crate::statement::{MultisetElement, ReturnValue, Statement, StatementKind};
use crate::text::{Level, expression_text};

/// The deepest nesting of statements: rumur's own recursion is limited, too.
const DEEPEST: usize = 400;

impl<'m> Printer<'m> {
    /// A list of statements. A reference bound in it is visible up to its last use.
    pub(super) fn block(
        &mut self,
        scope: &mut Scope<'m>,
        statements: &'m [Statement],
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        if lines.depth > DEEPEST {
            return Err(self.unprintable(&scope.what, format!("its statements nest more than {DEEPEST} levels deep")));
        }
        let last_uses = self.last_uses(statements);
        let mut position = 0;
        while position < statements.len() {
            let StatementKind::Bind { local, .. } = statements[position].kind else {
                self.statement(scope, &statements[position], lines)?;
                position += 1;
                continue;
            };
            let last_use = |local: LocalId, at: usize| last_uses.get(&local).map_or(at, |&last| last.max(at));
            let mut end = last_use(local, position);
            // References bound within the scope of this one end within it, too.
            let mut inner = position + 1;
            while inner <= end {
                if let StatementKind::Bind { local, .. } = statements[inner].kind {
                    end = end.max(last_use(local, inner));
                }
                inner += 1;
            }
            self.aliases(scope, &statements[position..=end], lines)?;
            position = end + 1;
        }
        Ok(())
    }

    /// Statements that begin with a binding, as one `alias … do … end`.
    fn aliases(
        &mut self,
        scope: &mut Scope<'m>,
        statements: &'m [Statement],
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        let mut declarations = Vec::new();
        let mut bound = Vec::new();
        let mut rest = statements;
        while let Some((Statement { kind: StatementKind::Bind { local, place }, .. }, after)) = rest.split_first() {
            let text = self.bound_place(scope, *place, &mut declarations)?;
            let name = scope.name(&self.names, *local);
            declarations.push(format!("{name}: {text}"));
            bound.push((*local, name.clone(), scope.bind(*local, Binding::Name(name))));
            rest = after;
        }
        lines.push(format!("alias {} do", declarations.join("; ")));
        lines.depth += 1;
        self.block(scope, rest, lines)?;
        lines.depth -= 1;
        lines.push("end;");
        for (local, name, before) in bound.into_iter().rev() {
            scope.bind(local, before);
            scope.release(&name);
        }
        Ok(())
    }

    /// The place a reference is bound to. A path into the result of a function goes through another reference, since
    /// Murphi cannot express it.
    fn bound_place(
        &mut self,
        scope: &mut Scope<'m>,
        place: PlaceId,
        declarations: &mut Vec<String>,
    ) -> Result<String, PrintError> {
        let entry = &self.model.pool[place];
        if let (Root::Result { .. }, false) = (&entry.root, entry.steps.is_empty()) {
            let result = scope.generated_name(&self.names, "result");
            let (call, path) = self.result_path(scope, place, &result)?;
            declarations.push(format!("{result}: {call}"));
            return Ok(path);
        }
        self.place(scope, place, Use::Target)
    }

    /// The last statement of a list that uses each reference bound in it.
    fn last_uses(&self, statements: &[Statement]) -> FxHashMap<LocalId, usize> {
        let bound: FxHashSet<LocalId> = statements
            .iter()
            .filter_map(|statement| match statement.kind {
                StatementKind::Bind { local, .. } => Some(local),
                _ => None,
            })
            .collect();
        let mut last_uses = FxHashMap::default();
        if bound.is_empty() {
            return last_uses;
        }
        for (position, statement) in statements.iter().enumerate() {
            let mut nodes = Vec::new();
            push_statement_nodes(statement, &mut nodes);
            nodes.extend(match &statement.kind {
                StatementKind::If { branches, otherwise } => {
                    let mut nodes = body_nodes(otherwise);
                    nodes.extend(branches.iter().flat_map(|(_, branch)| body_nodes(branch)));
                    nodes
                }
                StatementKind::While { body, .. } | StatementKind::For { body, .. } => body_nodes(body),
                _ => Vec::new(),
            });
            visit_nodes(self.model, nodes, |node| {
                if let Node::Place(place) = node
                    && let Root::Local(local) = self.model.pool[place].root
                    && bound.contains(&local)
                {
                    last_uses.insert(local, position);
                }
            });
        }
        last_uses
    }

    fn statement(
        &mut self,
        scope: &mut Scope<'m>,
        statement: &'m Statement,
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        let model = self.model;
        match &statement.kind {
            &StatementKind::Assign { target, value } => {
                let ty = model.pool[target].ty;
                let target = self.place(scope, target, Use::Target)?;
                let value = self.expression(scope, value, Level::Conditional, Want::Stored(ty))?;
                lines.push(format!("{target} := {value};"));
            }
            &StatementKind::Copy { target, source } => {
                if !self.fits(model.pool[source].ty, model.pool[target].ty, true) {
                    let reason = "an array or record is copied to one of another type".into();
                    return Err(self.unprintable(&scope.what, reason));
                }
                let target = self.place(scope, target, Use::Target)?;
                let source = self.place(scope, source, Use::Contents)?;
                lines.push(format!("{target} := {source};"));
            }
            &StatementKind::Clear(place) => {
                let ty = model.pool[place].ty;
                if ty == Model::INTEGER {
                    let reason = "it clears a local without a range, whose least value Murphi cannot hold".into();
                    return Err(self.unprintable(&scope.what, reason));
                }
                self.with_place(scope, place, ty, lines, |printer, text, lines| {
                    printer.reset_lines(text, ty, Reset::Clear, lines)
                })?;
            }
            &StatementKind::Undefine(place) => {
                let ty = model.pool[place].ty;
                self.with_place(scope, place, ty, lines, |printer, text, lines| {
                    lines.push(format!("undefine {text};"));
                    printer.reset_lines(text, ty, Reset::Empty, lines)
                })?;
            }
            StatementKind::Bind { .. } => unreachable!("bindings are written by the block"),
            StatementKind::If { branches, otherwise } => self.conditional(scope, branches, otherwise, lines)?,
            StatementKind::While { condition, body } => {
                let condition = self.condition(scope, *condition)?;
                lines.push(format!("while {condition} do"));
                self.indented(scope, body, lines)?;
                lines.push("end;");
            }
            StatementKind::For { local, range, body } => {
                let (variable, head, binding) = self.iteration(scope, *local, range)?;
                lines.push(format!("for {head} do"));
                lines.depth += 1;
                let before = scope.bind(*local, binding);
                self.copy_if_written(scope, *local, lines)?;
                self.block(scope, body, lines)?;
                scope.bind(*local, before);
                scope.release(&variable);
                lines.depth -= 1;
                lines.push("end;");
            }
            StatementKind::Call { function, arguments } => {
                let call = self.call(scope, *function, arguments)?;
                lines.push(format!("{call};"));
            }
            StatementKind::Return(value) => self.return_lines(scope, *value, lines)?,
            StatementKind::Assert { condition, message, .. } => {
                let condition = self.condition(scope, *condition)?;
                if message.is_empty() {
                    lines.push(format!("assert {condition};"));
                } else {
                    lines.push(format!("assert {condition} {};", quoted(message)));
                }
            }
            // Murphi has no other way to end a search.
            StatementKind::Require { condition, message } => {
                let condition = self.condition(scope, *condition)?;
                lines.push(format!("assert {condition} {};", quoted(message)));
            }
            &StatementKind::Assume(condition) => {
                let condition = self.condition(scope, condition)?;
                lines.push(format!("assume {condition};"));
            }
            &StatementKind::Cover { condition, property } => {
                // rumur generates a broken verifier for a cover statement without a message.
                let name = model.properties.get(property).and_then(|property| property.name.clone());
                let message = name.unwrap_or_else(|| expression_text(model, scope.owner.locals, condition));
                let condition = self.condition(scope, condition)?;
                lines.push(format!("cover {condition} {};", quoted(&message)));
            }
            // It has no effect, and other checkers would print while they search.
            StatementKind::Print(_) => {}
            StatementKind::Error { message } => lines.push(format!("error {};", quoted(message))),
            &StatementKind::MultisetAdd { multiset, element } => {
                let ty = model.pool[multiset].ty;
                let add = self.adding(ty, matches!(element, MultisetElement::Copy(_)))?;
                let place = self.place(scope, multiset, Use::Target)?;
                let element = match element {
                    MultisetElement::Value(value) => {
                        let element_type = match model.types[ty].kind {
                            crate::types::TypeKind::Multiset { element, .. } => element,
                            _ => ty,
                        };
                        self.expression(scope, value, Level::Conditional, Want::Stored(element_type))?
                    }
                    MultisetElement::Copy(source) => self.place(scope, source, Use::Contents)?,
                };
                lines.push(format!("{add}({place}, {element});"));
            }
            &StatementKind::MultisetRemove { multiset, position } => {
                let remove = self.removing(model.pool[multiset].ty)?;
                let place = self.place(scope, multiset, Use::Target)?;
                let position = self.expression(scope, position, Level::Conditional, Want::Number)?;
                lines.push(format!("{remove}({place}, {position});"));
            }
            &StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                self.remove_if(scope, local, multiset, condition, lines)?;
            }
        }
        if lines.text.len() > self.options.max_bytes {
            return Err(PrintError::TooLong { limit: self.options.max_bytes });
        }
        Ok(())
    }

    fn indented(
        &mut self,
        scope: &mut Scope<'m>,
        statements: &'m [Statement],
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        lines.depth += 1;
        self.block(scope, statements, lines)?;
        lines.depth -= 1;
        Ok(())
    }

    fn conditional(
        &mut self,
        scope: &mut Scope<'m>,
        branches: &'m [(ExprId, Vec<Statement>)],
        otherwise: &'m [Statement],
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        if branches.is_empty() {
            return self.block(scope, otherwise, lines);
        }
        for (position, (condition, body)) in branches.iter().enumerate() {
            let condition = self.condition(scope, *condition)?;
            lines.push(format!("{} {condition} then", if position == 0 { "if" } else { "elsif" }));
            self.indented(scope, body, lines)?;
        }
        if !otherwise.is_empty() {
            lines.push("else");
            self.indented(scope, otherwise, lines)?;
        }
        lines.push("end;");
        Ok(())
    }

    fn return_lines(
        &mut self,
        scope: &mut Scope<'m>,
        value: Option<ReturnValue>,
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        for line in scope.epilogue.clone().iter() {
            lines.push(line);
        }
        match (value, scope.owner.result) {
            (None, _) => lines.push("return;"),
            (Some(ReturnValue::Copy(place)), _) => {
                let place = self.place(scope, place, Use::Contents)?;
                lines.push(format!("return {place};"));
            }
            (Some(ReturnValue::Value(value)), Some(ty)) => {
                let text = self.expression(scope, value, Level::Conditional, Want::Stored(ty))?;
                let bounds = scope.bounds.of_expression(value);
                let fitting = super::bounds::type_interval(self.model, ty);
                if fitting.low <= bounds.low && bounds.high <= fitting.high {
                    lines.push(format!("return {text};"));
                } else {
                    // rumur does not check what is returned; storing it first does.
                    let ty = self.type_text(ty)?;
                    let checked = match &scope.checked_result {
                        Some(name) => name.clone(),
                        None => scope.declare(&self.names, "checked", ty),
                    };
                    scope.checked_result = Some(checked.clone());
                    lines.push(format!("{checked} := {text};"));
                    lines.push(format!("return {checked};"));
                }
            }
            (Some(ReturnValue::Value(_)), None) => {
                return Err(self.unprintable(&scope.what, "it returns a value but has no result".into()));
            }
        }
        Ok(())
    }

    /// Generates lines for the text of a place; if they use it more than once, through a reference, so that its indices
    /// are evaluated once.
    fn with_place(
        &mut self,
        scope: &mut Scope<'m>,
        place: PlaceId,
        ty: crate::index::TypeId,
        lines: &mut Lines,
        body: impl FnOnce(&mut Self, &str, &mut Lines) -> Result<(), PrintError>,
    ) -> Result<(), PrintError> {
        let text = self.place(scope, place, Use::Target)?;
        if !self.is_special(ty) || self.model.pool[place].steps.is_empty() {
            return body(self, &text, lines);
        }
        let name = scope.generated_name(&self.names, "place");
        lines.push(format!("alias {name}: {text} do"));
        lines.depth += 1;
        body(self, &name, lines)?;
        lines.depth -= 1;
        lines.push("end;");
        scope.release(&name);
        Ok(())
    }

    /// Murphi's parameters and loop variables cannot be written: one that is written gets its own variable.
    pub(super) fn copy_if_written(
        &mut self,
        scope: &mut Scope<'m>,
        local: LocalId,
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        if scope.owner.locals[local].kind != LocalKind::Parameter || !scope.written.contains(&local) {
            return Ok(());
        }
        let value = match scope.binding(local) {
            Binding::Name(name) | Binding::Value(name) => name.clone(),
            _ => return Err(self.unbound(scope, local)),
        };
        let ty = scope.owner.locals[local].ty;
        let type_text = self.local_type(scope, local)?;
        let copy = scope.declare(&self.names, &format!("{}_copy", scope.source_name(local)), type_text);
        if self.model.is_scalar(ty) && scope.owner.formals.contains(&local) {
            lines.push(format!("if !isundefined({value}) then\n  {copy} := {value};\nend;"));
        } else {
            lines.push(format!("{copy} := {value};"));
        }
        scope.bind(local, Binding::Name(copy));
        Ok(())
    }
}

/// The locals of an owner that its body writes to, directly or through references.
pub(super) fn written_locals(model: &Model, owner: &Owner<'_>) -> FxHashSet<LocalId> {
    let mut written = FxHashSet::default();
    let mut note = |place: PlaceId| {
        if let Root::Local(local) = model.pool[place].root {
            written.insert(local);
        }
    };
    let mut bindings = Vec::new();
    let note_arguments = |arguments: &[Argument], note: &mut dyn FnMut(PlaceId)| {
        for argument in arguments {
            if let Argument::Reference(place) = argument {
                note(*place);
            }
        }
    };
    visit_statements(owner.body, &mut |statement| match &statement.kind {
        &StatementKind::Assign { target, .. } | &StatementKind::Copy { target, .. } => note(target),
        &StatementKind::Clear(place) | &StatementKind::Undefine(place) => note(place),
        &StatementKind::MultisetAdd { multiset, .. }
        | &StatementKind::MultisetRemove { multiset, .. }
        | &StatementKind::MultisetRemoveIf { multiset, .. } => note(multiset),
        StatementKind::Call { arguments, .. } => note_arguments(arguments, &mut note),
        &StatementKind::Bind { local, place } => bindings.push((local, place)),
        _ => {}
    });
    visit_nodes(model, body_nodes(owner.body), |node| match node {
        Node::Expression(id) => {
            if let Expr::Call { arguments, .. } = &model.pool[id] {
                note_arguments(arguments, &mut note);
            }
        }
        Node::Place(id) => {
            if let Root::Result { arguments, .. } = &model.pool[id].root {
                note_arguments(arguments, &mut note);
            }
        }
    });
    // Writing to a reference writes to what it is bound to.
    loop {
        let before = written.len();
        for &(local, place) in &bindings {
            if let (true, Root::Local(bound)) = (written.contains(&local), &model.pool[place].root) {
                written.insert(*bound);
            }
        }
        if written.len() == before {
            return written;
        }
    }
}

/// A string literal. Existing escapes are kept.
pub(super) fn quoted(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped) => result.extend(['\\', escaped]),
                None => result.push_str("\\\\"),
            },
            '"' => result.push_str("\\\""),
            other => result.push(other),
        }
    }
    result.push('"');
    result
}

/// Whether a guard is the constant "true", which need not be written.
pub(super) fn is_true(model: &Model, condition: ExprId) -> bool {
    matches!(model.pool[condition], Expr::Constant { value: 1, ty: Model::BOOLEAN })
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_are_escaped_once() {
        assert_eq!(quoted("plain"), "\"plain\"");
        assert_eq!(quoted("a \"b\""), "\"a \\\"b\\\"\"");
        assert_eq!(quoted("a \\\"b\\\""), "\"a \\\"b\\\"\"");
        assert_eq!(quoted("end\\"), "\"end\\\\\"");
    }
}
