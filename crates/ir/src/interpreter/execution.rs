//! The execution of statements and calls.

use super::machine::{Cells, Contents, Location, Machine, Run, Stop};
use crate::expression::Argument;
use crate::fault::FaultKind;
use crate::index::{FunctionId, PlaceId, TypeId};
use crate::model::{LocalKind, Model};
use crate::statement::{MultisetElement, ReturnValue, Statement, StatementKind};
use crate::types::TypeKind;

/// How a statement ends.
pub(super) enum Flow {
    /// The next statement follows.
    Onward,
    /// The function, rule or initial-state program ends, with a result if it returns one.
    Return(Option<Cells>),
}

impl<'i, 'm: 'i> Machine<'i, 'm> {
    /// Executes statements in order.
    pub(super) fn execute_all(&mut self, statements: &'m [Statement]) -> Run<Flow> {
        for statement in statements {
            self.span = statement.span;
            match self.nested(|machine| machine.execute(statement))? {
                Flow::Onward => {}
                Flow::Return(result) => return Ok(Flow::Return(result)),
            }
        }
        Ok(Flow::Onward)
    }

    fn execute(&mut self, statement: &'m Statement) -> Run<Flow> {
        self.charge(1)?;
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let location = self.locate(*target)?;
                let value = self.evaluate(*value)?;
                let ty = self.model.pool[*target].ty;
                self.check_range(ty, value, || self.named_place(*target, &location))?;
                self.write(&location, &[Some(value)])?;
            }
            StatementKind::Copy { target, source } => {
                let location = self.locate(*target)?;
                let contents = self.contents(*source)?;
                self.write(&location, &contents)?;
            }
            StatementKind::Clear(place) => {
                let location = self.locate(*place)?;
                let least = self.interpreter.facts.least(self.model, self.model.pool[*place].ty);
                self.charge(least.len())?;
                self.write(&location, &least)?;
            }
            StatementKind::Undefine(place) => {
                let location = self.locate(*place)?;
                let undefined = self.interpreter.facts.undefined(self.model, self.model.pool[*place].ty);
                self.charge(undefined.len())?;
                self.write(&location, &undefined)?;
            }
            StatementKind::Bind { local, place } => {
                let location = self.locate(*place)?;
                *self.local_mut(*local) = Contents::Reference(Some(location));
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    if self.is_true(*condition)? {
                        return self.execute_all(body);
                    }
                }
                return self.execute_all(otherwise);
            }
            StatementKind::While { condition, body } => {
                while self.is_true(*condition)? {
                    self.charge(1)?;
                    if let Flow::Return(result) = self.execute_all(body)? {
                        return Ok(Flow::Return(result));
                    }
                    self.span = statement.span;
                }
            }
            StatementKind::For { local, range, body } => {
                let values = self.values(range)?;
                return self.binding(*local, |machine| {
                    let mut next = Some(values.first());
                    while let Some(value) = next {
                        machine.bind(*local, value)?;
                        if let Flow::Return(result) = machine.execute_all(body)? {
                            return Ok(Flow::Return(result));
                        }
                        machine.span = statement.span;
                        next = values.after(value);
                    }
                    Ok(Flow::Onward)
                });
            }
            StatementKind::Call { function, arguments } => {
                self.call(*function, arguments)?;
            }
            StatementKind::Return(None) => return Ok(Flow::Return(None)),
            StatementKind::Return(Some(ReturnValue::Value(value))) => {
                let value = self.evaluate(*value)?;
                let function = &self.model.functions[self.frame().function.expect("verified: only functions return")];
                let ty = function.result.expect("verified: the function has a result");
                self.check_range(ty, value, || format!("the result of `{}`", function.name))?;
                return Ok(Flow::Return(Some(vec![Some(value)])));
            }
            StatementKind::Return(Some(ReturnValue::Copy(place))) => {
                return Ok(Flow::Return(Some(self.contents(*place)?)));
            }
            StatementKind::Assert { condition, message, violates: Some(violated) } => {
                if !self.is_true(*condition)? {
                    let message = match &violated.value {
                        Some((words, value)) => format!("{message}: {words} {}", self.evaluate(*value)?),
                        None => message.clone(),
                    };
                    return self.fault(FaultKind::Invariant(violated.property), message);
                }
            }
            StatementKind::Assert { condition, message, violates: None } => {
                if !self.is_true(*condition)? {
                    self.failed_assertion = Some(*condition);
                    let message = match message.as_str() {
                        "" => format!("assertion failed: `{}`", self.expression_text(*condition)),
                        message => format!("assertion failed: {message}"),
                    };
                    return self.fault(FaultKind::Assertion, message);
                }
            }
            StatementKind::Require { condition, message } => {
                if !self.is_true(*condition)? {
                    return self.fault(FaultKind::Exhausted, message.clone());
                }
            }
            StatementKind::Assume(condition) => {
                if !self.is_true(*condition)? {
                    return Err(Box::new(Stop::Pruned));
                }
            }
            StatementKind::Cover { condition, property } => {
                if self.is_true(*condition)? {
                    self.covered.insert(*property);
                }
            }
            StatementKind::Print(pieces) => self.print(pieces),
            StatementKind::Error { message } => {
                let message = if message.is_empty() { "error statement reached" } else { message };
                return self.fault(FaultKind::Error, message.to_owned());
            }
            StatementKind::MultisetAdd { multiset, element } => self.add_element(*multiset, *element)?,
            StatementKind::MultisetRemove { multiset, position } => {
                let location = self.locate(*multiset)?;
                let ty = self.model.pool[*multiset].ty;
                let position = self.position(ty, *multiset, *position)?;
                if !self.is_present(&self.position_location(&location, ty, position)) {
                    let place = self.place_text(*multiset);
                    let message = format!("position {position} of `{place}` holds no element to remove");
                    return self.fault(FaultKind::AbsentElement, message);
                }
                self.remove_element(&location, ty, position)?;
            }
            StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                let location = self.locate(*multiset)?;
                let ty = self.model.pool[*multiset].ty;
                // All conditions first: which elements are removed must not depend on the order of positions.
                for position in self.positions_where(*local, &location, ty, *condition)? {
                    self.remove_element(&location, ty, position)?;
                }
            }
        }
        Ok(Flow::Onward)
    }

    fn add_element(&mut self, multiset: PlaceId, element: MultisetElement) -> Run<()> {
        let location = self.locate(multiset)?;
        let ty = self.model.pool[multiset].ty;
        let TypeKind::Multiset { capacity, element: element_type } = self.model.types[ty].kind else {
            unreachable!("verified: the place is a multiset");
        };
        let contents = match element {
            MultisetElement::Value(value) => vec![Some(self.evaluate(value)?)],
            MultisetElement::Copy(place) => self.contents(place)?,
        };
        if let (true, [Some(value)]) = (self.model.is_scalar(element_type), &contents[..]) {
            self.check_range(element_type, *value, || format!("an element of `{}`", self.place_text(multiset)))?;
        }
        for position in 0..usize::try_from(capacity).expect("the number of cells is limited") {
            self.charge(1)?;
            let mut free = self.position_location(&location, ty, position);
            if !self.is_present(&free) {
                self.write(&free, &[Some(1)])?;
                free.offset += 1;
                return self.write(&free, &contents);
            }
        }
        let message = format!("`{}` is full: it holds {capacity} elements", self.place_text(multiset));
        self.fault(FaultKind::MultisetFull, message)
    }

    fn remove_element(&mut self, multiset: &Location, ty: TypeId, position: usize) -> Run<()> {
        let TypeKind::Multiset { element, .. } = self.model.types[ty].kind else {
            unreachable!("verified: the place is a multiset");
        };
        let mut contents = vec![Some(0)];
        contents.extend(self.interpreter.facts.undefined(self.model, element));
        let location = self.position_location(multiset, ty, position);
        self.write(&location, &contents)
    }

    /// Calls a function; returns the cells of its result, none if it is a procedure.
    pub(super) fn call(&mut self, function: FunctionId, arguments: &'m [Argument]) -> Run<Cells> {
        let model: &'m Model = self.model;
        let entry = &model.functions[function];
        let mut frame = self.new_frame(&entry.locals, Some(function));
        for (&parameter, argument) in entry.parameters.iter().zip(arguments) {
            let local = &entry.locals[parameter];
            let what = || format!("parameter `{}` of `{}`", local.name, entry.name);
            frame.contents[parameter] = match *argument {
                Argument::Value(value) => {
                    let value = self.evaluate(value)?;
                    self.check_range(local.ty, value, what)?;
                    Contents::Cells(vec![Some(value)])
                }
                Argument::Copy(place) => {
                    let contents = self.contents(place)?;
                    if let (true, [Some(value)]) = (model.is_scalar(local.ty), &contents[..]) {
                        self.check_range(local.ty, *value, what)?;
                    }
                    Contents::Cells(contents)
                }
                Argument::Reference(place) => {
                    debug_assert_eq!(local.kind, LocalKind::Reference);
                    Contents::Reference(Some(self.locate(place)?))
                }
                Argument::Undefined => Contents::Cells(self.interpreter.facts.undefined(model, local.ty)),
            };
        }
        let span = self.span;
        self.enter(frame)?;
        let flow = self.execute_all(&entry.body)?;
        let result = match (flow, entry.result) {
            (Flow::Return(Some(result)), Some(_)) => result,
            (_, None) => Vec::new(),
            (_, Some(_)) => {
                self.span = entry.span;
                let message = format!("the end of function `{}` was reached without a return", entry.name);
                return self.fault(FaultKind::MissingReturn, message);
            }
        };
        self.leave();
        self.span = span;
        Ok(result)
    }
}
