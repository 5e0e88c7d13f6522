//! Why something is wrong at the end of a run: the calls under way with their arguments, the values of bound
//! variables, and the smallest part of a condition that decides. Computed once, from the replayed run.

use super::Interpreter;
use super::machine::{Area, Contents, Frame, Location, Machine, Stop};
use crate::diagnostics::Span;
use crate::expression::{Argument, BinaryOperator, Expr, Quantifier, Root, Step, UnaryOperator};
use crate::fault::FaultKind;
use crate::index::{ExprId, LocalId, PlaceId, SlotId, TableIndex};
use crate::layout::Valuation;
use crate::model::{Action, LocalKind, Model, Parameter};
use crate::text::{called_text, expression_text};
use crate::violation::Violation;

/// The most values of places that are listed.
const LISTED_VALUES: usize = 8;

/// Why something is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureContext {
    /// The calls under way, the innermost first.
    pub calls: Vec<CallContext>,
    /// The values of loop variables and of variables bound by quantifiers, outermost first.
    pub bindings: Vec<NamedValue>,
    /// The part of a condition that decides that it is false.
    pub part: Option<DecidingPart>,
}

impl FailureContext {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.bindings.is_empty() && self.part.is_none()
    }
}

/// A call of a function or procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallContext {
    /// The function.
    pub function: String,
    /// Its arguments; of one by reference, what it refers to.
    pub arguments: Vec<NamedValue>,
    /// The statement, guard or property that calls it.
    pub span: Span,
}

/// A value under a name, both in the terms of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedValue {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A part of a condition that decides about the whole, and no part of which does so by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidingPart {
    /// Its text.
    pub text: String,
    /// Where it stands, if it is found in the text of the model.
    pub span: Option<Span>,
    /// Whether it is true, and was to be false; otherwise it is false, and was to be true.
    pub holds: bool,
    /// Conditions that hold, without which the part would not matter: left sides of implications.
    pub given: Vec<String>,
    /// What the places hold that it reads.
    pub values: Vec<NamedValue>,
}

impl<'m> Interpreter<'m> {
    /// Why something is wrong in the last state of a run (none before the first start).
    pub fn explain(&self, violation: &Violation, last: Option<&Valuation>) -> FailureContext {
        match (violation, last) {
            (Violation::Property { property, arguments }, Some(state)) => {
                let entry = &self.model.properties[*property];
                let Some(condition) = entry.formula.condition() else { return FailureContext::default() };
                let mut machine = self.property_machine(*property, arguments, state);
                machine.why_false(condition, entry.span, &entry.parameters)
            }
            (Violation::PropertyFault { property, arguments, .. }, Some(state)) => {
                let entry = &self.model.properties[*property];
                let Some(condition) = entry.formula.condition() else { return FailureContext::default() };
                let mut machine = self.property_machine(*property, arguments, state);
                match machine.evaluate(condition) {
                    Ok(_) => FailureContext::default(),
                    Err(_) => machine.context(&entry.parameters),
                }
            }
            (Violation::Fault { action: Action::Start(start), arguments, .. }, None) => {
                let entry = &self.model.starts[*start];
                let initial = self.layout.initial();
                let mut machine = Machine::new(self, &initial.0, &entry.locals, entry.span);
                machine.set_parameters(&entry.parameters, arguments);
                let result = machine.execute_all(&entry.body).map(|_| ());
                machine.after(result, &entry.parameters)
            }
            (Violation::Fault { action: Action::Rule(rule), arguments, .. }, Some(state)) => {
                let entry = &self.model.rules[*rule];
                let mut guard = self.rule_machine(*rule, arguments, state);
                if guard.evaluate(entry.guard).is_err() {
                    return guard.context(&entry.parameters);
                }
                let mut machine = self.rule_machine(*rule, arguments, state);
                let result = machine.execute_all(&entry.body).map(|_| ());
                machine.after(result, &entry.parameters)
            }
            _ => FailureContext::default(),
        }
    }
}

impl<'i, 'm: 'i> Machine<'i, 'm> {
    /// The context of a body that went wrong.
    fn after(&mut self, result: Result<(), Box<Stop>>, parameters: &[Parameter]) -> FailureContext {
        let Err(stop) = result else { return FailureContext::default() };
        let Stop::Fault(fault) = *stop else { return FailureContext::default() };
        let mut context = self.context(parameters);
        if let (FaultKind::Assertion, Some(condition)) = (fault.kind, self.failed_assertion) {
            let FailureContext { bindings, part, .. } = self.why_false(condition, fault.span, &[]);
            // What quantifiers of the assertion bind comes after what loops around it bind.
            context.bindings.extend(bindings);
            context.part = part;
        }
        context
    }

    /// What is under way.
    fn context(&self, parameters: &[Parameter]) -> FailureContext {
        let mut calls = Vec::new();
        for frame in self.frames.iter().rev() {
            let Some(function) = frame.function else { continue };
            let entry = &self.model.functions[function];
            let arguments = entry.parameters.iter().filter_map(|&local| self.named(frame, local)).collect();
            calls.push(CallContext { function: entry.name.clone(), arguments, span: frame.called_from });
        }
        let frame = self.frame();
        let own: Vec<LocalId> = match frame.function {
            Some(function) => self.model.functions[function].parameters.clone(),
            None => parameters.iter().map(|parameter| parameter.local).collect(),
        };
        let bound = frame.locals.iter_enumerated().filter(|(id, local)| {
            local.kind == LocalKind::Parameter && !own.contains(id) && self.model.source.text.contains(&local.name)
        });
        let is_set = |id: LocalId| matches!(&frame.contents[id], Contents::Cells(cells) if cells[..] != [None]);
        let bindings = bound.filter(|&(id, _)| is_set(id)).filter_map(|(id, _)| self.named(frame, id)).collect();
        FailureContext { calls, bindings, part: None }
    }

    /// What a local holds or refers to, if that can be said in a few words.
    fn named(&self, frame: &Frame<'_>, local: LocalId) -> Option<NamedValue> {
        let entry = &frame.locals[local];
        let value = match &frame.contents[local] {
            Contents::Cells(cells) => match cells[..] {
                [value] => self.value_text(entry.ty, value),
                _ => return None,
            },
            Contents::Reference(location) => {
                let count = self.interpreter.facts.of(entry.ty).cells;
                self.location_text(location.as_ref()?, count)?
            }
        };
        Some(NamedValue { name: entry.name.clone(), value })
    }

    fn value_text(&self, ty: crate::TypeId, value: Option<i64>) -> String {
        value.map_or_else(|| "undefined".to_owned(), |value| self.model.value_name(ty, value))
    }

    /// The name of a place of the state.
    pub(super) fn location_text(&self, location: &Location, count: usize) -> Option<String> {
        if !matches!(location.area, Area::Globals) || count == 0 {
            return None;
        }
        let slots = &self.interpreter.layout.slots;
        let name = |position: usize| slots.get(SlotId::from_position(position)).map(|slot| slot.name.as_str());
        let (first, last) = (name(location.offset)?, name(location.offset + count - 1)?);
        if count == 1 {
            return Some(first.to_owned());
        }
        // What all its slots have in common, up to an index or a field.
        let common = first.bytes().zip(last.bytes()).take_while(|(one, other)| one == other).count();
        let end = first.get(..common)?.rfind(['.', '[']).unwrap_or(common);
        Some(first[..end].to_owned())
    }

    /// Why a condition is false: the values of what quantifiers bind, and the part that decides.
    fn why_false(&mut self, condition: ExprId, span: Span, parameters: &[Parameter]) -> FailureContext {
        let mut path = Vec::new();
        let mut given = Vec::new();
        let (part, holds) = self.deciding_part(condition, false, &mut path, &mut given);
        let is_own = |local: LocalId| parameters.iter().any(|parameter| parameter.local == local);
        let frame = self.frame();
        let bindings = path.iter().filter(|&&local| !is_own(local)).filter_map(|&local| self.named(frame, local));
        let bindings: Vec<NamedValue> = bindings.collect();
        let text = self.part_text(part);
        let located = locate(self.model, span, &text);
        // A condition as a whole is quoted as it is: nothing new would be said of a constant.
        let values = self.values_in(part);
        if part == condition && values.is_empty() {
            return FailureContext { bindings, ..FailureContext::default() };
        }
        let part = DecidingPart { text, span: located, holds, given, values };
        FailureContext { calls: Vec::new(), bindings, part: Some(part) }
    }

    fn part_text(&self, part: ExprId) -> String {
        let write = if self.model.presentation.is_some() { called_text } else { expression_text };
        write(self.model, self.frame().locals, part)
    }

    /// The smallest part of a condition that decides about it, and whether that is true. The variables that
    /// quantifiers around it bind keep their values.
    fn deciding_part(
        &mut self,
        condition: ExprId,
        holds: bool,
        path: &mut Vec<LocalId>,
        given: &mut Vec<String>,
    ) -> (ExprId, bool) {
        let model: &'m Model = self.model;
        match &model.pool[condition] {
            Expr::Unary { operator: UnaryOperator::Not, operand } => self.deciding_part(*operand, !holds, path, given),
            // The first operand that decides; if all do, the whole.
            Expr::Binary { operator, left, right } => match (operator, holds) {
                (BinaryOperator::And, false) | (BinaryOperator::Or, true) => {
                    let decides = self.is_true(*left).is_ok_and(|value| value == holds);
                    self.deciding_part(if decides { *left } else { *right }, holds, path, given)
                }
                (BinaryOperator::Implies, false) => {
                    given.push(self.part_text(*left));
                    self.deciding_part(*right, false, path, given)
                }
                _ => (condition, holds),
            },
            Expr::Conditional { condition: chooser, then, otherwise } => match self.is_true(*chooser) {
                Ok(true) => {
                    given.push(self.part_text(*chooser));
                    self.deciding_part(*then, holds, path, given)
                }
                Ok(false) => self.deciding_part(*otherwise, holds, path, given),
                Err(_) => (condition, holds),
            },
            Expr::Quantified { quantifier, local, range, body }
                if (*quantifier == Quantifier::Any) == holds && !path.contains(local) =>
            {
                let Ok(values) = self.values(range) else { return (condition, holds) };
                let mut next = Some(values.first());
                while let Some(value) = next {
                    if self.bind(*local, value).is_err() {
                        break;
                    }
                    match self.is_true(*body) {
                        Ok(truth) if truth == holds => {
                            path.push(*local);
                            return self.deciding_part(*body, holds, path, given);
                        }
                        Ok(_) => next = values.after(value),
                        Err(_) => break,
                    }
                }
                (condition, holds)
            }
            _ => (condition, holds),
        }
    }

    /// What the places hold that an expression reads, without bound variables.
    fn values_in(&mut self, expression: ExprId) -> Vec<NamedValue> {
        let mut places = Vec::new();
        self.places_in(expression, &mut places, 0);
        let mut values: Vec<NamedValue> = Vec::new();
        for place in places {
            if values.len() == LISTED_VALUES {
                break;
            }
            let Ok(location) = self.locate(place) else { continue };
            let Some(name) = self.location_text(&location, 1) else { continue };
            let value = self.value_text(self.model.pool[place].ty, self.cell(&location));
            if values.iter().all(|known| known.name != name) {
                values.push(NamedValue { name, value });
            }
        }
        values
    }

    /// The scalar places that an expression reads, in order, but for those of the functions it calls.
    fn places_in(&self, expression: ExprId, places: &mut Vec<PlaceId>, depth: usize) {
        const DEEPEST: usize = 100;
        if depth == DEEPEST {
            return;
        }
        let mut add = |place: PlaceId| {
            if !places.contains(&place) {
                places.push(place);
            }
        };
        match &self.model.pool[expression] {
            Expr::Constant { .. } => {}
            Expr::Read(place) | Expr::IsUndefined(place) => {
                add(*place);
                let entry = &self.model.pool[*place];
                if matches!(entry.root, Root::Variable(_) | Root::Local(_)) {
                    for step in &entry.steps {
                        if let Step::Index(index) = step {
                            self.places_in(*index, places, depth + 1);
                        }
                    }
                }
            }
            Expr::Unary { operand: value, .. } | Expr::IsMember { value, .. } => {
                self.places_in(*value, places, depth + 1);
            }
            Expr::Binary { left, right, .. } => {
                self.places_in(*left, places, depth + 1);
                self.places_in(*right, places, depth + 1);
            }
            Expr::Conditional { condition, then, otherwise } => {
                for part in [condition, then, otherwise] {
                    self.places_in(*part, places, depth + 1);
                }
            }
            Expr::Call { arguments, .. } => {
                for argument in arguments {
                    if let Argument::Value(value) = argument {
                        self.places_in(*value, places, depth + 1);
                    }
                }
            }
            // What is read for each value of a bound variable is too much to list.
            Expr::Quantified { .. } | Expr::Count { .. } | Expr::IsPresent { .. } | Expr::SameContents { .. } => {}
        }
    }
}

/// Where a text stands inside of a span of the source, if it does so once. Blanks and parentheses do not matter.
fn locate(model: &Model, span: Span, text: &str) -> Option<Span> {
    let source = model.source.text.get(span.range())?;
    let essential = |text: &str| -> Vec<(usize, char)> {
        text.char_indices().filter(|(_, letter)| !letter.is_whitespace() && !"()".contains(*letter)).collect()
    };
    let (hay, needle) = (essential(source), essential(text));
    if needle.is_empty() || needle.len() > hay.len() {
        return None;
    }
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_boundary = |before: Option<&(usize, char)>, after: Option<&(usize, char)>| match (before, after) {
        // Words that blanks separate do not touch.
        (Some(&(at, one)), Some(&(next, other))) => !(is_word(one) && is_word(other)) || next > at + one.len_utf8(),
        _ => true,
    };
    let mut found = None;
    for (first, window) in hay.windows(needle.len()).enumerate() {
        let end = first + needle.len();
        let is_here = window.iter().zip(&needle).all(|((_, one), (_, other))| one == other)
            && is_boundary(first.checked_sub(1).and_then(|before| hay.get(before)), hay.get(first))
            && is_boundary(hay.get(end - 1), hay.get(end));
        if is_here {
            if found.is_some() {
                return None;
            }
            let (last, letter) = hay[end - 1];
            let start = span.start as usize;
            found = Some(Span::new(start + hay[first].0, start + last + letter.len_utf8()));
        }
    }
    found
}
