//! Calls. A function is inlined where it is called, so that its parameters are known as well as the arguments are; a
//! recursive or frequently called one becomes a subroutine that the machine calls.

use std::rc::Rc;

use quotient_ir::{
    Argument, ExprId, Function, FunctionId, Local, LocalId, LocalKind, PlaceId, ReturnValue, StatementKind, Table,
    TableIndex, TypeId,
};

use super::facts::Blank;
use super::mutation::mutated_locals;
use super::places::{Base, Location};
use super::{Binding, Context, Scope, Specialiser, Unsupported};
use crate::evaluator::code::{Address, Command, CommandId, Subroutine, SubroutineId, Value};

/// The largest nesting depth of inlined functions.
const UNFOLDING_LIMIT: usize = 8;
/// The work of the reference interpreter beyond which functions of a unit are no longer inlined.
const WEIGHT_LIMIT: u64 = 20_000;

/// The translation of a call.
pub(super) enum Called<T> {
    /// Its result, as an expression.
    Unfolded(T),
    /// A command that leaves the result in a cell.
    Command(CommandId, u32),
}

/// Arguments, translated.
struct Prepared {
    /// The commands to run before the function.
    commands: Vec<CommandId>,
    bindings: Vec<Binding>,
}

impl<'m> Specialiser<'m> {
    /// Translates a call: a command, and the first cell of its result.
    pub(super) fn call(
        &mut self,
        function: FunctionId,
        arguments: &'m [Argument],
    ) -> Result<(CommandId, u32), Unsupported> {
        self.nested(|specialiser| {
            if specialiser.unfolds(function) {
                let prepared = specialiser.prepare(function, arguments)?;
                specialiser.unfold(function, prepared)
            } else {
                specialiser.invoke(function, arguments)
            }
        })
    }

    /// Translates a call of a function with a scalar result. One that only returns the value of an
    /// expression becomes that expression.
    pub(super) fn call_for_result<T>(
        &mut self,
        function: FunctionId,
        arguments: &'m [Argument],
        translate: impl FnOnce(&mut Self, ExprId) -> Result<T, Unsupported>,
    ) -> Result<Called<T>, Unsupported> {
        self.nested(|specialiser| {
            let (command, cell) = if specialiser.unfolds(function) {
                let prepared = specialiser.prepare(function, arguments)?;
                let entry = &specialiser.model.functions[function];
                if let [statement] = &entry.body[..]
                    && let StatementKind::Return(Some(ReturnValue::Value(value))) = statement.kind
                    && prepared.commands.is_empty()
                {
                    specialiser.enter(function, prepared.bindings, None);
                    let result = translate(specialiser, value)?;
                    specialiser.leave();
                    return Ok(Called::Unfolded(result));
                }
                specialiser.unfold(function, prepared)?
            } else {
                specialiser.invoke(function, arguments)?
            };
            Ok(Called::Command(command, cell))
        })
    }

    /// A result of a function, which must be in its range.
    pub(super) fn checked_result(&mut self, function: FunctionId, value: Value) -> Result<Value, Unsupported> {
        let ty = self.model.functions[function].result.ok_or(Unsupported)?;
        let domain = self.domain(ty)?;
        Ok(match value {
            Value::Constant(constant) if self.code.domains[domain].contains(constant) => value,
            Value::Constant(_) | Value::Escape => Value::Escape,
            Value::Truth(_) if self.code.domains[domain].contains(0) && self.code.domains[domain].contains(1) => value,
            _ => Value::Checked { value: self.code.values.add(value), domain },
        })
    }

    fn unfolds(&self, function: FunctionId) -> bool {
        !self.context.unfolding.contains(&function)
            && self.context.unfolding.len() < UNFOLDING_LIMIT
            && self.context.weight < WEIGHT_LIMIT
    }

    /// Translates the arguments of a function that will be unfolded.
    fn prepare(&mut self, function: FunctionId, arguments: &'m [Argument]) -> Result<Prepared, Unsupported> {
        let entry: &'m Function = &self.model.functions[function];
        let mutated = self.mutated_in(function);
        let mut prepared = Prepared { commands: Vec::new(), bindings: vec![Binding::Nothing; entry.locals.len()] };
        for (&parameter, argument) in entry.parameters.iter().zip(arguments) {
            let ty = entry.locals[parameter].ty;
            let fixed = !mutated[parameter.position()];
            let binding = match *argument {
                Argument::Reference(place) => self.reference(place, ty, &mut prepared.commands)?,
                Argument::Value(value) => {
                    let cell = self.allocate(1)?;
                    match self.value(value)? {
                        Value::Constant(constant) if fixed && self.fits(ty, constant) => Binding::Known(constant),
                        value => {
                            let value = self.code.values.add(value);
                            let domain = self.domain(ty)?;
                            let command = Command::SetCell { cell, value, domain };
                            prepared.commands.push(self.code.commands.add(command));
                            Binding::Cells { first: cell, parameter: false }
                        }
                    }
                }
                Argument::Copy(place) => match self.known(place) {
                    Some(constant) if fixed && self.fits(ty, constant) => Binding::Known(constant),
                    _ => {
                        let first = self.allocate_for(ty)?;
                        prepared.commands.push(self.copy_to_cells(place, ty, first)?);
                        Binding::Cells { first, parameter: false }
                    }
                },
                Argument::Undefined => {
                    let first = self.allocate_for(ty)?;
                    prepared.commands.push(self.undefine_cells(ty, first)?);
                    Binding::Cells { first, parameter: false }
                }
            };
            prepared.bindings[parameter.position()] = binding;
        }
        Ok(prepared)
    }

    fn fits(&self, ty: TypeId, value: i64) -> bool {
        self.facts[ty].domain.as_ref().is_some_and(|domain| domain.contains(value))
    }

    /// A command that puts an argument by value into cells.
    fn argument(&mut self, argument: &Argument, ty: TypeId, first: u32) -> Result<CommandId, Unsupported> {
        let command = match *argument {
            Argument::Value(value) => {
                let value = self.value(value)?;
                let value = self.code.values.add(value);
                Command::SetCell { cell: first, value, domain: self.domain(ty)? }
            }
            Argument::Copy(place) => return self.copy_to_cells(place, ty, first),
            Argument::Undefined => return self.undefine_cells(ty, first),
            Argument::Reference(_) => return Err(Unsupported),
        };
        Ok(self.code.commands.add(command))
    }

    /// A command that leaves cells without a value.
    fn undefine_cells(&mut self, ty: TypeId, first: u32) -> Result<CommandId, Unsupported> {
        let blank = self.blank_cells(ty, Blank::Undefined)?;
        self.context.weight += blank.len() as u64;
        let address = self.code.addresses.add(Address::Frame(first));
        let template = self.template(blank);
        Ok(self.code.commands.add(Command::Fill { address, template }))
    }

    /// A command that copies the contents of a place to cells; a scalar must be in range.
    pub(super) fn copy_to_cells(&mut self, place: PlaceId, ty: TypeId, first: u32) -> Result<CommandId, Unsupported> {
        let cells = self.cells(ty)?;
        self.context.weight += u64::from(cells);
        let command = if let Some(constant) = self.known(place) {
            let value = self.code.values.add(Value::Constant(constant));
            Command::SetCell { cell: first, value, domain: self.domain(ty)? }
        } else {
            let location = self.locate(place)?;
            let from = self.address_of(location);
            let to = self.code.addresses.add(Address::Frame(first));
            if self.model.is_scalar(ty) {
                Command::CopyChecked { to, from, domain: self.domain(ty)? }
            } else {
                if self.cells(location.ty)? != cells {
                    return Err(Unsupported);
                }
                Command::Copy { to, from, cells }
            }
        };
        Ok(self.code.commands.add(command))
    }

    /// The binding of a reference to a place; an unknown address goes into a cell.
    pub(super) fn reference(
        &mut self,
        place: PlaceId,
        ty: TypeId,
        commands: &mut Vec<CommandId>,
    ) -> Result<Binding, Unsupported> {
        let location = self.locate(place)?;
        if !self.same_layout(location.ty, ty) {
            return Err(Unsupported);
        }
        let Base::Dynamic(address) = location.base else {
            return Ok(Binding::Place(location));
        };
        let cell = self.allocate(1)?;
        commands.push(self.code.commands.add(Command::Bind { cell, address }));
        let base = Base::Dynamic(self.code.addresses.add(Address::Reference(cell)));
        Ok(Binding::Place(Location { base, ty: location.ty }))
    }

    /// Translates the body of a function in place.
    fn unfold(&mut self, function: FunctionId, prepared: Prepared) -> Result<(CommandId, u32), Unsupported> {
        let entry: &'m Function = &self.model.functions[function];
        let Prepared { mut commands, bindings } = prepared;
        let (result, result_cell) = self.result_cells(entry)?;
        self.enter(function, bindings, result);
        self.allocate_variables(&entry.locals)?;
        let mut body = self.undefine_variables(&entry.locals)?;
        self.block_into(&entry.body, &mut body)?;
        if result.is_some() {
            body.push(self.code.commands.add(Command::Escape));
        }
        self.leave();
        let body = self.sequence(&body);
        commands.push(self.code.commands.add(Command::Unfolded(body)));
        Ok((self.sequence(&commands), result_cell))
    }

    fn result_cells(&mut self, function: &Function) -> Result<(Option<(u32, TypeId)>, u32), Unsupported> {
        Ok(match function.result {
            Some(ty) => {
                let first = self.allocate_for(ty)?;
                (Some((first, ty)), first)
            }
            None => (None, 0),
        })
    }

    fn enter(&mut self, function: FunctionId, bindings: Vec<Binding>, result: Option<(u32, TypeId)>) {
        let mutated = self.mutated_in(function);
        let locals = &self.model.functions[function].locals;
        self.context.scopes.push(Scope { locals, bindings, mutated, result });
        self.context.unfolding.push(function);
    }

    fn leave(&mut self) {
        self.context.scopes.pop();
        self.context.unfolding.pop();
    }

    fn mutated_in(&mut self, function: FunctionId) -> Rc<[bool]> {
        let model = self.model;
        let mutated = self.mutated_in_functions.entry(function).or_insert_with(|| {
            let entry = &model.functions[function];
            mutated_locals(model, &entry.locals, None, &entry.body)
        });
        Rc::clone(mutated)
    }

    /// Assigns cells to the variables of the innermost scope.
    fn allocate_variables(&mut self, locals: &Table<LocalId, Local>) -> Result<(), Unsupported> {
        for (id, local) in locals.iter_enumerated() {
            if local.kind == LocalKind::Variable {
                let first = self.allocate_for(local.ty)?;
                self.scope_mut().bindings[id.position()] = Binding::Cells { first, parameter: false };
            }
        }
        Ok(())
    }

    /// Commands that make the variables of the innermost scope undefined.
    pub(super) fn undefine_variables(&mut self, locals: &Table<LocalId, Local>) -> Result<Vec<CommandId>, Unsupported> {
        // Their cells are consecutive, so one template suffices.
        let mut first_cell = None;
        let mut blank = Vec::new();
        for (id, local) in locals.iter_enumerated() {
            if local.kind == LocalKind::Variable
                && let Binding::Cells { first, .. } = self.binding(id)
            {
                first_cell = first_cell.or(Some(first));
                blank.extend(self.blank_cells(local.ty, Blank::Undefined)?);
            }
        }
        let Some(first) = first_cell else {
            return Ok(Vec::new());
        };
        self.context.weight += blank.len() as u64;
        let address = self.code.addresses.add(Address::Frame(first));
        let template = self.template(blank);
        Ok(vec![self.code.commands.add(Command::Fill { address, template })])
    }

    /// Translates a call of a subroutine.
    fn invoke(&mut self, function: FunctionId, arguments: &'m [Argument]) -> Result<(CommandId, u32), Unsupported> {
        let entry: &'m Function = &self.model.functions[function];
        let subroutine = self.subroutine(function)?;
        // What it writes is not known yet.
        self.context.writes_state = true;
        self.context.counts_work = true;
        let first_argument = self.allocate(self.code.subroutines[subroutine].parameters)?;
        let (_, result) = self.result_cells(entry)?;
        let mut commands = Vec::new();
        let mut cell = first_argument;
        for (&parameter, argument) in entry.parameters.iter().zip(arguments) {
            let local = &entry.locals[parameter];
            if let Argument::Reference(place) = *argument {
                let location = self.locate(place)?;
                if !self.same_layout(location.ty, local.ty) {
                    return Err(Unsupported);
                }
                let address = self.address_of(location);
                commands.push(self.code.commands.add(Command::Bind { cell, address }));
                cell += 1;
            } else {
                commands.push(self.argument(argument, local.ty, cell)?);
                cell += self.cells(local.ty)?;
            }
        }
        commands.push(self.code.commands.add(Command::Invoke { subroutine, arguments: first_argument, result }));
        Ok((self.sequence(&commands), result))
    }

    /// The subroutine of a function. Its body is translated later, so that chains of calls do not
    /// nest here.
    fn subroutine(&mut self, function: FunctionId) -> Result<SubroutineId, Unsupported> {
        if let Some(&id) = self.subroutines.get(&function) {
            return Ok(id);
        }
        let entry = &self.model.functions[function];
        let mut parameters = 0u32;
        for &parameter in &entry.parameters {
            let local = &entry.locals[parameter];
            let cells = if local.kind == LocalKind::Reference { 1 } else { self.cells(local.ty)? };
            parameters = parameters.checked_add(cells).ok_or(Unsupported)?;
        }
        let results = entry.result.map_or(Ok(0), |ty| self.cells(ty))?;
        let body = self.code.commands.add(Command::Escape);
        let frame = parameters.checked_add(results).ok_or(Unsupported)?;
        let id = self.code.subroutines.push(Subroutine { parameters, results, frame, body, weight: 1, depth: 1 });
        self.subroutines.insert(function, id);
        self.untranslated.push(function);
        Ok(id)
    }

    /// Translates the bodies of all waiting subroutines. One that is not supported keeps its first body, which leaves
    /// the whole run to the reference interpreter.
    pub(super) fn translate_subroutines(&mut self) {
        while let Some(function) = self.untranslated.pop() {
            let id = self.subroutines[&function];
            let before = std::mem::replace(&mut self.context, Context::new());
            if let Ok(body) = self.subroutine_body(function) {
                let subroutine = &mut self.code.subroutines[id];
                subroutine.body = body;
                subroutine.frame = self.context.frame;
                subroutine.weight = u32::try_from(self.context.weight).unwrap_or(u32::MAX);
                subroutine.depth = self.context.greatest_depth + 1;
            }
            self.context = before;
        }
    }

    fn subroutine_body(&mut self, function: FunctionId) -> Result<CommandId, Unsupported> {
        let entry: &'m Function = &self.model.functions[function];
        let mut bindings = vec![Binding::Nothing; entry.locals.len()];
        for &parameter in &entry.parameters {
            let local = &entry.locals[parameter];
            bindings[parameter.position()] = if local.kind == LocalKind::Reference {
                let cell = self.allocate(1)?;
                let base = Base::Dynamic(self.code.addresses.add(Address::Reference(cell)));
                Binding::Place(Location { base, ty: local.ty })
            } else {
                Binding::Cells { first: self.allocate_for(local.ty)?, parameter: false }
            };
        }
        let (result, _) = self.result_cells(entry)?;
        self.enter(function, bindings, result);
        self.allocate_variables(&entry.locals)?;
        let mut body = self.undefine_variables(&entry.locals)?;
        self.block_into(&entry.body, &mut body)?;
        if result.is_some() {
            body.push(self.code.commands.add(Command::Escape));
        }
        Ok(self.sequence(&body))
    }
}
