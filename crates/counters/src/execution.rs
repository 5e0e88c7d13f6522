//! The execution of statements and calls on counted objects. A loop over a family runs once for an entity if its
//! iterations for the objects of that entity cannot notice each other, and otherwise object by object.

use quotient_ir::{
    Argument, FunctionId, LocalId, Model, MultisetElement, PlaceId, ReturnValue, Statement, StatementKind, TableIndex,
};
use quotient_symmetry::Scope;

use super::columns::{Columns, Form, FormKind};
use super::machine::{Choice, Location, Machine, Run, Stop, multiset_form};
use super::sums::Sum;
use super::watches::{Progress, Watch};
use super::world::{Area, Cell};

/// How a statement ends.
pub(crate) enum Flow {
    Onward,
    Return(Option<Vec<Cell>>),
}

/// How many objects of an entity a loop treats one by one.
const MOST_SINGLE: usize = 4096;

impl<'s> Machine<'s> {
    /// Executes statements in order.
    pub(crate) fn execute_all(&mut self, statements: &'s [Statement]) -> Run<Flow> {
        for statement in statements {
            self.span = statement.span;
            match self.nested(|machine| machine.execute(statement))? {
                Flow::Onward => {}
                Flow::Return(result) => return Ok(Flow::Return(result)),
            }
        }
        Ok(Flow::Onward)
    }

    fn execute(&mut self, statement: &'s Statement) -> Run<Flow> {
        self.charge(1)?;
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let location = self.locate(*target)?;
                let value = self.evaluate(*value)?;
                let FormKind::Scalar { families, .. } = &location.form.kind else {
                    unreachable!("verified: the place is a scalar");
                };
                self.check(self.model.pool[*target].ty, families, value)?;
                self.put(&location, value)?;
            }
            StatementKind::Copy { target, source } => {
                let location = self.locate(*target)?;
                let source = self.locate(*source)?;
                let contents = self.contents(&source)?;
                self.put_contents(&location, &contents)?;
            }
            StatementKind::Clear(place) => {
                let location = self.locate(*place)?;
                let mut cells = Vec::new();
                self.least(location.form, &mut cells)?;
                self.put_columns(&location, &cells)?;
            }
            StatementKind::Undefine(place) => {
                let location = self.locate(*place)?;
                let mut cells = Vec::new();
                undefined(location.form, &mut cells);
                self.put_columns(&location, &cells)?;
            }
            StatementKind::Bind { local, place } => {
                let location = self.locate(*place)?;
                let frame = self.frames.last_mut().expect("there is always the frame of the scope");
                frame.references[local.position()] = Some(location);
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
                let choices = self.choices(*local, range)?;
                let before = self.local_cell(*local);
                let flow = self.execute_for(*local, choices, body, statement)?;
                self.set_local(*local, before);
                return Ok(flow);
            }
            StatementKind::Call { function, arguments } => {
                self.call(*function, arguments)?;
            }
            StatementKind::Return(None) => return Ok(Flow::Return(None)),
            StatementKind::Return(Some(ReturnValue::Value(value))) => {
                let value = self.evaluate(*value)?;
                let Scope::Function(function) = self.frame().scope else {
                    unreachable!("verified: only functions return");
                };
                let FormKind::Scalar { ty, families } = &self.scheme.result(function).kind else {
                    unreachable!("verified: the function returns a scalar");
                };
                self.check(*ty, families, value)?;
                return Ok(Flow::Return(Some(vec![value])));
            }
            StatementKind::Return(Some(ReturnValue::Copy(place))) => {
                let location = self.locate(*place)?;
                return Ok(Flow::Return(Some(self.contents(&location)?)));
            }
            StatementKind::Assert { condition, .. } | StatementKind::Require { condition, .. } => {
                if !self.is_true(*condition)? {
                    return Err(Stop::Fault);
                }
            }
            StatementKind::Assume(condition) => {
                if !self.is_true(*condition)? {
                    return Err(Stop::Pruned);
                }
            }
            StatementKind::Cover { condition, property } => {
                if self.is_true(*condition)? {
                    self.covered.insert(*property);
                }
            }
            StatementKind::Print(_) => {}
            StatementKind::Error { .. } => return Err(Stop::Fault),
            StatementKind::MultisetAdd { multiset, element } => self.add_element(*multiset, *element)?,
            StatementKind::MultisetRemove { multiset, position } => {
                let location = self.locate(*multiset)?;
                let position = self.position(multiset_form(location.form).0, *position)?;
                if !self.is_present(&location, position)? {
                    return Err(Stop::Fault);
                }
                self.remove_element(&location, position)?;
            }
            StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                let location = self.locate(*multiset)?;
                for position in self.positions_where(*local, &location, *condition)? {
                    self.remove_element(&location, position)?;
                }
            }
        }
        Ok(Flow::Onward)
    }

    fn execute_for(
        &mut self,
        local: LocalId,
        choices: Vec<Choice>,
        body: &'s [Statement],
        statement: &'s Statement,
    ) -> Run<Flow> {
        let mut families: Vec<usize> = Vec::new();
        for choice in choices {
            match choice {
                Choice::Value(value) => {
                    self.bind(local, Cell::Int(value))?;
                    if let Flow::Return(result) = self.execute_all(body)? {
                        return Ok(Flow::Return(result));
                    }
                    self.span = statement.span;
                }
                Choice::Entity(family, _) if families.contains(&family) => {}
                Choice::Entity(family, _) => families.push(family),
            }
        }
        let sum = self.scheme.sums.of(statement);
        for family in families {
            let done = vec![false; self.world.counts[family].len()];
            self.loops.push(Progress { family, done });
            // Inner loops may split entities that are still to come, so these are looked up each time.
            while let Some(entity) = self.next_entity(family) {
                if let Some(sum) = sum {
                    self.add_up(local, (family, entity), body, sum)?;
                    continue;
                }
                if let Flow::Return(result) = self.execute_for_entity(local, (family, entity), body, statement)? {
                    self.loops.pop();
                    return Ok(Flow::Return(result));
                }
            }
            self.loops.pop();
        }
        Ok(Flow::Onward)
    }

    /// The next entity of the innermost loop.
    fn next_entity(&self, family: usize) -> Option<usize> {
        let progress = self.loops.last().expect("there is a loop");
        let counts = self.world.counts[family].iter();
        counts.zip(&progress.done).position(|(count, done)| *count > 0 && !done)
    }

    fn execute_for_entity(
        &mut self,
        local: LocalId,
        (family, entity): (usize, usize),
        body: &'s [Statement],
        statement: &'s Statement,
    ) -> Run<Flow> {
        let since = self.world.counts[family].len();
        let mut single = 0;
        loop {
            let is_last = self.world.counts[family][entity] == 1;
            let own = if is_last { entity } else { self.split(family, entity) };
            self.loops.last_mut().expect("there is a loop").done[own] = true;
            self.set_local(local, Cell::Undefined);
            let before = (!is_last).then(|| self.singles());
            self.bind(local, Cell::object(family, own))?;
            self.watches.push(Watch { family, own, source: entity, since, is_noticed: false });
            let flow = self.execute_all(body)?;
            let watch = self.watches.pop().expect("it was pushed");
            self.span = statement.span;
            if let Flow::Return(result) = flow {
                return Ok(Flow::Return(result));
            }
            if is_last {
                return Ok(Flow::Onward);
            }
            self.set_local(local, Cell::Undefined);
            // Nothing that the next iteration uses has changed: it does the same, and so do all others.
            let is_noticed = watch.is_noticed || self.world.counts[family].len() > own + 1;
            if !is_noticed && !self.names_alike(&watch) && before == Some(self.singles()) {
                self.world.counts[family][own] += self.world.counts[family][entity];
                self.world.counts[family][entity] = 0;
                return Ok(Flow::Onward);
            }
            single += 1;
            if single > MOST_SINGLE {
                return self.refuse("the iterations of this loop over interchangeable values depend on each other");
            }
            if self.world.counts[family][entity] == 0 {
                return Ok(Flow::Onward);
            }
        }
    }

    /// Executes an iteration of a loop that only adds up, for all objects of an entity: what it adds is the same for each.
    fn add_up(
        &mut self,
        local: LocalId,
        (family, entity): (usize, usize),
        body: &'s [Statement],
        sum: &Sum,
    ) -> Run<()> {
        let count = self.world.counts[family][entity];
        let splits = self.splits();
        let object = if count == 1 { entity } else { self.split(family, entity) };
        self.bind(local, Cell::object(family, object))?;
        let before: Vec<Cell> = sum.totals.iter().map(|&total| self.local_cell(total)).collect();
        self.execute_all(body)?;
        let after = sum.totals.iter().map(|&total| self.local_cell(total));
        let changed: Vec<(LocalId, i64, i64)> = sum
            .totals
            .iter()
            .zip(before.iter().zip(after))
            .filter_map(|(&total, cells)| match cells {
                (Cell::Int(before), Cell::Int(after)) if *before != after => Some((total, *before, after)),
                _ => None,
            })
            .collect();
        if count > 1 && !changed.is_empty() {
            // The last iteration is executed as well: if a total leaves its range in any, it does in the first or the last.
            for (total, before, after) in changed {
                let most = i64::try_from(count - 1).map_err(|_| Stop::Fault)?;
                let added = after.checked_sub(before).and_then(|added| added.checked_mul(most));
                let last = added.and_then(|added| before.checked_add(added)).ok_or(Stop::Fault)?;
                self.bind(total, Cell::Int(last))?;
            }
            self.execute_all(body)?;
        }
        self.set_local(local, Cell::Undefined);
        self.unite_to(splits);
        self.loops.last_mut().expect("there is a loop").done[entity] = true;
        Ok(())
    }

    /// Whether the object of an iteration names another one of its entity: then that one is treated differently.
    fn names_alike(&self, watch: &Watch) -> bool {
        let &Watch { family, own, source, since, .. } = watch;
        let names = |area: &Area, columns: &Columns| {
            let width = columns.widths[family];
            area.each[family][own * width..(own + 1) * width].iter().any(|cell| match *cell {
                Cell::Object { family: of, entity } => {
                    of as usize == family && (entity as usize == source || entity as usize >= since)
                }
                _ => false,
            })
        };
        let is_in_frame = self.frames.iter().any(|frame| names(&frame.area, &frame.columns.columns));
        is_in_frame || names(&self.world.area, &self.scheme.globals)
    }

    /// The cells that do not belong to objects.
    fn singles(&self) -> Vec<Cell> {
        let frames = self.frames.iter().flat_map(|frame| frame.area.single.iter());
        self.world.area.single.iter().chain(frames).copied().collect()
    }

    /// The least values of a form; multisets are empty.
    fn least(&self, form: &Form, cells: &mut Vec<Cell>) -> Run<()> {
        match &form.kind {
            FormKind::Scalar { ty, families } => {
                let least = self.scheme.domain(*ty).least();
                if families.iter().any(|&family| self.scheme.families[family].contains(least)) {
                    return self.refuse("one of the interchangeable values is the least");
                }
                cells.push(Cell::Int(least));
            }
            FormKind::Array { element, .. } => {
                for _ in 0..form.columns.checked_div(element.columns).unwrap_or(0) {
                    self.least(element, cells)?;
                }
            }
            FormKind::Record(fields) => {
                for (_, field) in fields {
                    self.least(field, cells)?;
                }
            }
            FormKind::Multiset { .. } => undefined(form, cells),
        }
        Ok(())
    }

    fn add_element(&mut self, multiset: PlaceId, element: MultisetElement) -> Run<()> {
        let location = self.locate(multiset)?;
        let (capacity, form) = multiset_form(location.form);
        let contents = match element {
            MultisetElement::Value(value) => vec![self.evaluate(value)?],
            MultisetElement::Copy(place) => {
                let place = self.locate(place)?;
                self.contents(&place)?
            }
        };
        if let (FormKind::Scalar { ty, families }, &[value @ (Cell::Int(_) | Cell::Object { .. })]) =
            (&form.kind, &contents[..])
        {
            self.check(*ty, families, value)?;
        }
        for position in 0..capacity {
            self.charge(1)?;
            if !self.is_present(&location, position)? {
                let mut free = Self::presence(&location, position);
                self.put(&free, Cell::Int(1))?;
                free.column += 1;
                free.form = element_form(location.form);
                return self.put_contents(&free, &contents);
            }
        }
        Err(Stop::Fault)
    }

    fn remove_element(&mut self, location: &Location<'s>, position: usize) -> Run<()> {
        let mut place = Self::presence(location, position);
        self.put(&place, Cell::Int(0))?;
        place.column += 1;
        place.form = element_form(location.form);
        let mut cells = Vec::new();
        undefined(place.form, &mut cells);
        self.put_columns(&place, &cells)
    }

    /// Calls a function; returns the cells of its result, none if it is a procedure.
    pub(crate) fn call(&mut self, function: FunctionId, arguments: &'s [Argument]) -> Run<Vec<Cell>> {
        let model: &'s Model = self.model;
        let entry = &model.functions[function];
        let scope = Scope::Function(function);
        let mut given = Vec::with_capacity(arguments.len());
        for (&parameter, argument) in entry.parameters.iter().zip(arguments) {
            let (form, _) = self.scheme.local(scope, parameter);
            given.push(match *argument {
                Argument::Value(value) => {
                    let value = self.evaluate(value)?;
                    let FormKind::Scalar { ty, families } = &form.kind else {
                        unreachable!("verified: the parameter is a scalar");
                    };
                    self.check(*ty, families, value)?;
                    Given::Cells(vec![value])
                }
                Argument::Copy(place) => {
                    let location = self.locate(place)?;
                    let contents = self.contents(&location)?;
                    if let (FormKind::Scalar { ty, families }, &[value @ (Cell::Int(_) | Cell::Object { .. })]) =
                        (&form.kind, &contents[..])
                    {
                        self.check(*ty, families, value)?;
                    }
                    Given::Cells(contents)
                }
                Argument::Reference(place) => Given::Reference(self.locate(place)?),
                Argument::Undefined => Given::Nothing,
            });
        }
        let span = self.span;
        let frame = self.new_frame(scope);
        self.charge(1 + frame.area.single.len())?;
        self.frames.push(frame);
        let height = self.frames.len() - 1;
        for (&parameter, given) in entry.parameters.iter().zip(given) {
            let (form, column) = self.scheme.local(scope, parameter);
            match given {
                Given::Cells(cells) => {
                    let holder = super::machine::Holder::Frame(height);
                    let place = Location { holder, form, column: *column, entities: [0; 2], dimensions: 0 };
                    self.put_contents(&place, &cells)?;
                }
                Given::Reference(location) => {
                    self.frames[height].references[parameter.position()] = Some(location);
                }
                Given::Nothing => {}
            }
        }
        let flow = self.execute_all(&entry.body)?;
        let result = match (flow, entry.result) {
            (Flow::Return(Some(result)), Some(_)) => result,
            (_, None) => Vec::new(),
            (_, Some(_)) => return Err(Stop::Fault),
        };
        self.frames.pop();
        self.span = span;
        Ok(result)
    }
}

/// An argument of a call.
enum Given<'s> {
    Cells(Vec<Cell>),
    Reference(Location<'s>),
    Nothing,
}

fn element_form(form: &Form) -> &Form {
    multiset_form(form).1
}

/// Undefined cells of a form; multisets are empty.
fn undefined(form: &Form, cells: &mut Vec<Cell>) {
    match &form.kind {
        FormKind::Scalar { .. } => cells.push(Cell::Undefined),
        FormKind::Array { element, .. } => {
            (0..form.columns.checked_div(element.columns).unwrap_or(0)).for_each(|_| undefined(element, cells));
        }
        FormKind::Record(fields) => fields.iter().for_each(|(_, field)| undefined(field, cells)),
        FormKind::Multiset { capacity, element } => {
            for _ in 0..*capacity {
                cells.push(Cell::Int(0));
                undefined(element, cells);
            }
        }
    }
}
