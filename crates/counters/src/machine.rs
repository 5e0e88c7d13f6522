//! The evaluator on counted objects: the memory, the values of expressions and the locations of places. It follows the
//! reference interpreter in everything but what ranges over a family: that is done once for each entity.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use quotient_ir::{
    BinaryOperator, Domain, Expr, ExprId, Iteration, LocalId, Model, PlaceId, PropertyId, Quantifier, Root, Span, Step,
    TableIndex, TypeId,
};
use quotient_symmetry::Scope;

use super::Refused;
use super::columns::{Address, Columns, Form, FormKind, Scheme, ScopeColumns, has_families};
use super::facts::Facts;
use super::watches::{Progress, Watch};
use super::world::{Area, Cell, World};

/// Why a step ends early.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// An assume statement failed.
    Pruned,
    /// A run-time error.
    Fault,
    /// Something that counters do not show.
    Refused(Refused),
}

pub(crate) type Run<T> = Result<T, Stop>;

/// The locals of a scope.
pub(crate) struct Frame<'s> {
    pub(crate) scope: Scope,
    pub(crate) columns: &'s ScopeColumns,
    pub(crate) area: Area,
    pub(crate) references: Vec<Option<Location<'s>>>,
}

impl Clone for Frame<'_> {
    fn clone(&self) -> Self {
        Self { area: self.area.clone(), references: self.references.clone(), ..*self }
    }

    fn clone_from(&mut self, other: &Self) {
        (self.scope, self.columns) = (other.scope, other.columns);
        self.area.clone_from(&other.area);
        self.references.clone_from(&other.references);
    }
}

/// A part of the memory.
#[derive(Clone)]
pub(crate) enum Holder {
    State,
    Frame(usize),
    /// The result of a function.
    Temporary(Rc<Vec<Cell>>),
}

/// The first column of a place, and the entities of the arrays around it.
#[derive(Clone)]
pub(crate) struct Location<'s> {
    pub(crate) holder: Holder,
    pub(crate) form: &'s Form,
    pub(crate) column: usize,
    pub(crate) entities: [usize; 2],
    pub(crate) dimensions: usize,
}

/// What a bound variable ranges over.
pub(crate) enum Choice {
    Value(i64),
    Entity(usize, usize),
}

/// The limit on the work of one step, as in the reference interpreter.
const WORK_LIMIT: u64 = 1 << 26;
/// The deepest nesting of expressions, statements and calls.
const DEPTH_LIMIT: usize = 400;

/// A run of one step.
pub(crate) struct Machine<'s> {
    pub(crate) scheme: &'s Scheme<'s>,
    pub(crate) model: &'s Model,
    pub(crate) world: World,
    pub(crate) frames: Vec<Frame<'s>>,
    pub(crate) covered: BTreeSet<PropertyId>,
    pub(crate) span: Span,
    /// The loops over families that are being executed, from the outside to the inside.
    pub(crate) loops: Vec<Progress>,
    /// Their iterations.
    pub(crate) watches: Vec<Watch>,
    /// For each entity, the one that it was split off; itself, if it was there at first.
    pub(crate) sources: Vec<Vec<usize>>,
    /// The families of the splits so far that were not taken back.
    splits: Vec<usize>,
    /// The lowest frame that was written, from 1; 0 is the state.
    pub(crate) lowest_write: usize,
    /// The objects whose cells may be used besides the shared ones.
    pub(crate) own: Vec<(usize, usize)>,
    /// Whether what was evaluated or executed depends on other objects.
    pub(crate) uses_others: bool,
    /// Whether cells of all objects were copied or set, for each object on its own.
    pub(crate) moves_all: bool,
    /// Conditions that are known.
    pub(crate) facts: Facts,
    work: u64,
    depth: usize,
}

/// Every step begins with a copy, so copies reuse memory.
impl Clone for Machine<'_> {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.scheme);
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        let Self { world, frames, covered, loops, watches, sources, splits, .. } = self;
        world.clone_from(&other.world);
        frames.clone_from(&other.frames);
        covered.clone_from(&other.covered);
        loops.clone_from(&other.loops);
        watches.clone_from(&other.watches);
        sources.clone_from(&other.sources);
        splits.clone_from(&other.splits);
        (self.scheme, self.model, self.span) = (other.scheme, other.model, other.span);
        self.own.clone_from(&other.own);
        (self.lowest_write, self.uses_others, self.moves_all) =
            (other.lowest_write, other.uses_others, other.moves_all);
        self.facts.end();
        (self.work, self.depth) = (other.work, other.depth);
    }
}

impl<'s> Machine<'s> {
    /// A machine without a state.
    pub(crate) fn new(scheme: &'s Scheme<'s>) -> Self {
        Self {
            scheme,
            model: scheme.model,
            sources: Vec::new(),
            splits: Vec::new(),
            world: World::default(),
            frames: Vec::new(),
            covered: BTreeSet::new(),
            span: Span::default(),
            loops: Vec::new(),
            watches: Vec::new(),
            lowest_write: usize::MAX,
            own: Vec::new(),
            uses_others: false,
            moves_all: false,
            facts: Facts::default(),
            work: 0,
            depth: 0,
        }
    }

    /// Takes a state.
    pub(crate) fn load(&mut self, world: &World) {
        self.world.clone_from(world);
        self.begin_state();
    }

    /// Begins with the state that it has.
    pub(crate) fn begin_state(&mut self) {
        self.sources.resize_with(self.world.counts.len(), Vec::new);
        for (sources, counts) in self.sources.iter_mut().zip(&self.world.counts) {
            sources.clear();
            sources.extend(0..counts.len());
        }
        self.splits.clear();
        self.loops.clear();
        self.watches.clear();
        self.covered.clear();
        self.lowest_write = usize::MAX;
        self.facts.end();
    }

    /// Leaves the scope for another one.
    pub(crate) fn enter(&mut self, scope: Scope) {
        let first = self.frames.drain(..).next();
        let mut frame = first.unwrap_or_else(|| self.empty_frame(scope));
        self.begin_frame(&mut frame, scope);
        self.frames.push(frame);
    }

    pub(crate) fn new_frame(&self, scope: Scope) -> Frame<'s> {
        let mut frame = self.empty_frame(scope);
        self.begin_frame(&mut frame, scope);
        frame
    }

    fn empty_frame(&self, scope: Scope) -> Frame<'s> {
        let columns = &self.scheme.scopes[&scope];
        Frame { scope, columns, area: Area::default(), references: Vec::new() }
    }

    fn begin_frame(&self, frame: &mut Frame<'s>, scope: Scope) {
        let columns = &self.scheme.scopes[&scope];
        (frame.scope, frame.columns) = (scope, columns);
        frame.area.undefine(&columns.columns, self.scheme, &self.world.counts);
        frame.references.clear();
        frame.references.resize(columns.locals.len(), None);
    }

    pub(crate) fn refuse<T>(&self, reason: impl Into<String>) -> Run<T> {
        Err(Stop::Refused(Refused { reason: reason.into(), span: self.span }))
    }

    pub(crate) fn charge(&mut self, work: usize) -> Run<()> {
        self.work += work as u64;
        if self.work > WORK_LIMIT {
            return self.refuse("a step does not seem to end");
        }
        Ok(())
    }

    pub(crate) fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        if self.depth == DEPTH_LIMIT {
            return self.refuse("expressions, statements and calls are nested too deeply for counters");
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    pub(crate) fn frame(&self) -> &Frame<'s> {
        self.frames.last().expect("there is always the frame of the scope")
    }

    /// Makes an object of an entity one of its own, in all of the memory.
    pub(crate) fn split(&mut self, family: usize, entity: usize) -> usize {
        for frame in &mut self.frames {
            frame.area.split(&frame.columns.columns, self.scheme, family, entity);
        }
        for progress in self.loops.iter_mut().filter(|progress| progress.family == family) {
            let is_done = progress.done[entity];
            progress.done.push(is_done);
        }
        self.sources[family].push(entity);
        self.splits.push(family);
        self.world.split(self.scheme, family, entity)
    }

    /// Takes the last split back.
    fn unite(&mut self, family: usize, entity: usize) {
        for frame in &mut self.frames {
            frame.area.remove_last(&frame.columns.columns, self.scheme, family);
        }
        for progress in self.loops.iter_mut().filter(|progress| progress.family == family) {
            progress.done.pop();
        }
        self.sources[family].pop();
        self.world.unite(self.scheme, family, entity);
    }

    /// Forgets the work of earlier steps.
    pub(crate) fn begin(&mut self, span: Span) {
        (self.work, self.depth, self.span) = (0, 0, span);
    }

    /// The number of splits so far that were not taken back.
    pub(crate) fn splits(&self) -> usize {
        self.splits.len()
    }

    /// Takes splits back until there are so many, after an evaluation without effects: loops of functions leave some.
    pub(crate) fn unite_to(&mut self, splits: usize) {
        while self.splits.len() > splits {
            let family = self.splits.pop().expect("there are more");
            let source = *self.sources[family].last().expect("each entity has a source");
            self.unite(family, source);
        }
    }

    /// Returns to where an evaluation without effects began, which may have gone wrong, with so many splits.
    pub(crate) fn recover(&mut self, splits: usize) {
        self.frames.truncate(1);
        self.loops.clear();
        self.watches.clear();
        self.unite_to(splits);
    }

    /// The value of an expression: a number or an object.
    pub(crate) fn evaluate(&mut self, expression: ExprId) -> Run<Cell> {
        self.nested(|machine| machine.evaluate_here(expression))
    }

    pub(crate) fn is_true(&mut self, condition: ExprId) -> Run<bool> {
        Ok(self.number(condition)? != 0)
    }

    /// The value of an expression that is a number.
    pub(crate) fn number(&mut self, expression: ExprId) -> Run<i64> {
        let value = self.evaluate(expression)?;
        self.as_number(value)
    }

    /// A value to compute with. For objects that is any value of the family, another one for each: what is computed
    /// does not depend on which, since otherwise the values would not be interchangeable.
    fn as_number(&mut self, value: Cell) -> Run<i64> {
        match value {
            Cell::Int(value) => Ok(value),
            Cell::Object { .. } => {
                self.uses_others = true;
                self.number_of(value)
            }
            _ => self.refuse("something is computed with an interchangeable value"),
        }
    }

    fn number_of(&self, object: Cell) -> Run<i64> {
        match object {
            Cell::Object { family, entity } if u64::from(entity) < self.scheme.families[family as usize].size => {
                Ok(self.scheme.families[family as usize].first + i64::from(entity))
            }
            _ => self.refuse("something is computed with an interchangeable value"),
        }
    }

    fn evaluate_here(&mut self, expression: ExprId) -> Run<Cell> {
        self.charge(1)?;
        let model = self.model;
        match &model.pool[expression] {
            Expr::Constant { value, .. } => Ok(Cell::Int(*value)),
            Expr::Read(place) => {
                let location = self.locate(*place)?;
                match self.cell(&location)? {
                    Cell::Undefined => Err(Stop::Fault),
                    cell => Ok(cell),
                }
            }
            Expr::Unary { operator, operand } => {
                let value = self.number(*operand)?;
                operator.apply(value).map(Cell::Int).ok_or(Stop::Fault)
            }
            Expr::Binary { operator, left, right } => self.evaluate_binary(*operator, *left, *right),
            Expr::Conditional { condition, then, otherwise } => {
                let chosen = if self.is_true(*condition)? { then } else { otherwise };
                self.evaluate(*chosen)
            }
            Expr::Quantified { quantifier, local, range, body } => self.quantified(*quantifier, *local, range, *body),
            Expr::Count { local, multiset, body } => {
                let location = self.locate(*multiset)?;
                Ok(Cell::Int(self.positions_where(*local, &location, *body)?.len() as i64))
            }
            Expr::IsUndefined(place) => {
                let location = self.locate(*place)?;
                Ok(Cell::Int(i64::from(self.cell(&location)? == Cell::Undefined)))
            }
            Expr::IsPresent { multiset, position } => {
                let location = self.locate(*multiset)?;
                let (capacity, _) = multiset_form(location.form);
                let position = self.position(capacity, *position)?;
                Ok(Cell::Int(i64::from(self.is_present(&location, position)?)))
            }
            Expr::IsMember { value, ty } => {
                let value = self.evaluate(*value)?;
                Ok(Cell::Int(i64::from(self.is_member(*ty, value)?)))
            }
            Expr::SameContents { left, right } => {
                let left = self.locate(*left)?;
                let right = self.locate(*right)?;
                self.uses_others |= has_families(left.form);
                Ok(Cell::Int(i64::from(self.contents(&left)? == self.contents(&right)?)))
            }
            Expr::Call { function, arguments } => {
                let result = self.call(*function, arguments)?;
                match result.first() {
                    Some(Cell::Undefined) | None => Err(Stop::Fault),
                    Some(cell) => Ok(*cell),
                }
            }
        }
    }

    fn evaluate_binary(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> Run<Cell> {
        let left = self.evaluate(left)?;
        match (operator, left) {
            (BinaryOperator::And, Cell::Int(0)) => return Ok(Cell::Int(0)),
            (BinaryOperator::Or, Cell::Int(value)) if value != 0 => return Ok(Cell::Int(1)),
            (BinaryOperator::Implies, Cell::Int(0)) => return Ok(Cell::Int(1)),
            _ => {}
        }
        let right = self.evaluate(right)?;
        match (left, right) {
            (Cell::Int(left), Cell::Int(right)) => operator.apply(left, right).map(Cell::Int).ok_or(Stop::Fault),
            _ => match operator {
                BinaryOperator::Equal => Ok(Cell::Int(i64::from(self.are_equal(left, right)?))),
                BinaryOperator::NotEqual => Ok(Cell::Int(i64::from(!self.are_equal(left, right)?))),
                _ => {
                    let (left, right) = (self.as_number(left)?, self.as_number(right)?);
                    operator.apply(left, right).map(Cell::Int).ok_or(Stop::Fault)
                }
            },
        }
    }

    fn are_equal(&self, left: Cell, right: Cell) -> Run<bool> {
        match (left, right) {
            (Cell::Object { family, .. }, Cell::Int(value)) | (Cell::Int(value), Cell::Object { family, .. })
                if self.scheme.families[family as usize].contains(value) =>
            {
                self.refuse("an interchangeable value is compared with a constant")
            }
            _ => Ok(left == right),
        }
    }

    /// Whether a value belongs to a type.
    pub(crate) fn is_member(&self, ty: TypeId, value: Cell) -> Run<bool> {
        let domain = self.scheme.domain(ty);
        match value {
            Cell::Int(value) => Ok(domain.contains(value)),
            Cell::Object { family, .. } => match self.scheme.families[family as usize].is_within(domain) {
                Some(is_within) => Ok(is_within),
                None => self.refuse("a type has some of the values that are interchangeable"),
            },
            Cell::Undefined | Cell::Own => self.refuse("a value that is none"),
        }
    }

    /// Stops unless a value may be stored in a scalar of a type that may hold objects of some families.
    pub(crate) fn check(&self, ty: TypeId, families: &[usize], value: Cell) -> Run<()> {
        if !self.is_member(ty, value)? {
            return Err(Stop::Fault);
        }
        let is_named = |value: i64| families.iter().any(|&family| self.scheme.families[family].contains(value));
        match value {
            Cell::Int(value) if is_named(value) => self.refuse("one of the interchangeable values is a constant here"),
            Cell::Object { family, .. } if !families.contains(&(family as usize)) => {
                self.refuse("an interchangeable value is used as a number here")
            }
            _ => Ok(()),
        }
    }

    fn quantified(&mut self, quantifier: Quantifier, local: LocalId, range: &Iteration, body: ExprId) -> Run<Cell> {
        let decisive = quantifier == Quantifier::Any;
        let before = self.local_cell(local);
        let mut found = false;
        if let Some(family) = self.whole_family(local, range) {
            self.uses_others = true;
            for entity in 0..self.world.counts[family].len() {
                found = self.decides(local, (family, entity), body, decisive)?;
                if found {
                    break;
                }
            }
            self.set_local(local, before);
            return Ok(Cell::Int(i64::from(found == decisive)));
        }
        let choices = self.choices(local, range)?;
        for choice in choices {
            found = match choice {
                Choice::Value(value) => {
                    self.bind(local, Cell::Int(value))?;
                    self.is_true(body)? == decisive
                }
                Choice::Entity(family, entity) => self.decides(local, (family, entity), body, decisive)?,
            };
            if found {
                break;
            }
        }
        self.set_local(local, before);
        Ok(Cell::Int(i64::from(found == decisive)))
    }

    /// The family that a bound variable ranges over, if it is all of one and nothing else, and no entity is used up.
    fn whole_family(&self, local: LocalId, range: &Iteration) -> Option<usize> {
        let FormKind::Scalar { families, .. } = &self.frame().columns.locals[local.position()].0.kind else {
            return None;
        };
        match (&families[..], range) {
            (&[family], Iteration::Over(ty)) => {
                let (domain, known) = (self.scheme.domain(*ty), &self.scheme.families[family]);
                let is_whole = domain.size() == known.size && known.is_within(domain) == Some(true);
                (is_whole && !self.world.counts[family].contains(&0)).then_some(family)
            }
            _ => None,
        }
    }

    /// Whether a condition has a value for an object of an entity.
    fn decides(&mut self, local: LocalId, (family, entity): (usize, usize), body: ExprId, decisive: bool) -> Run<bool> {
        let evaluate =
            |machine: &mut Self, is_watched: bool| machine.of_entity(local, (family, entity), body, is_watched);
        Ok(self.known_or(body, Some((local, family, entity)), evaluate)? == decisive)
    }

    /// The value of a condition for an object of an entity.
    fn of_entity(
        &mut self,
        local: LocalId,
        (family, entity): (usize, usize),
        body: ExprId,
        is_watched: bool,
    ) -> Run<bool> {
        if self.world.counts[family][entity] <= 1 {
            self.own.extend(is_watched.then_some((family, entity)));
            self.bind(local, Cell::object(family, entity))?;
            return self.is_true(body);
        }
        let written = std::mem::replace(&mut self.lowest_write, usize::MAX);
        let before = self.splits();
        let object = self.split(family, entity);
        self.own.extend(is_watched.then_some((family, object)));
        self.bind(local, Cell::object(family, object))?;
        let value = self.is_true(body)?;
        if self.lowest_write <= self.frames.len() {
            return self.refuse("a quantifier over interchangeable values has effects");
        }
        self.unite_to(before);
        self.lowest_write = written;
        Ok(value)
    }

    /// What a bound variable ranges over: values that are not interchangeable, and entities.
    pub(crate) fn choices(&mut self, local: LocalId, range: &Iteration) -> Run<Vec<Choice>> {
        let frame = self.frame();
        let (form, _) = &frame.columns.locals[local.position()];
        let FormKind::Scalar { families, .. } = &form.kind else {
            return self.refuse("a variable that is not a scalar ranges over all its values");
        };
        let domain: Cow<'s, Domain> = match range {
            Iteration::Over(ty) => Cow::Borrowed(self.scheme.domain(*ty)),
            Iteration::Steps { from, to, step } => {
                let from = self.number(*from)?;
                let to = self.number(*to)?;
                let step = match step {
                    Some(step) => self.number(*step)?,
                    None if to < from => -1,
                    None => 1,
                };
                if step == 0 || (from < to && step < 0) || (from > to && step > 0) {
                    return Err(Stop::Fault);
                }
                if families.is_empty() {
                    let mut values = Vec::new();
                    let mut next = Some(from);
                    while let Some(value) = next.filter(|&value| if step > 0 { value <= to } else { value >= to }) {
                        self.charge(1)?;
                        values.push(Choice::Value(value));
                        next = value.checked_add(step).filter(|_| from != to);
                    }
                    return Ok(values);
                }
                if step.abs() != 1 && from != to {
                    return self.refuse("a range over interchangeable values leaves some out");
                }
                Cow::Owned(Domain::interval(from.min(to), from.max(to)))
            }
        };
        let mut choices = Vec::new();
        let mut inside = Vec::new();
        for &family in families {
            match self.scheme.families[family].is_within(&domain) {
                Some(true) => inside.push(family),
                Some(false) => {}
                None => return self.refuse("a range has some of the values that are interchangeable"),
            }
        }
        let skipped: u64 = inside.iter().map(|&family| self.scheme.families[family].size).sum();
        if domain.size() != skipped {
            let mut value = Some(domain.least());
            while let Some(next) = value {
                self.charge(1)?;
                match inside.iter().map(|&family| &self.scheme.families[family]).find(|family| family.contains(next)) {
                    Some(family) => {
                        value = following(&domain, family.first + (family.size - 1) as i64);
                    }
                    None => {
                        choices.push(Choice::Value(next));
                        value = following(&domain, next);
                    }
                }
            }
        }
        self.uses_others |= !inside.is_empty();
        for family in inside {
            let counts = self.world.counts[family].iter().enumerate();
            choices.extend(counts.filter(|(_, count)| **count > 0).map(|(entity, _)| Choice::Entity(family, entity)));
        }
        Ok(choices)
    }

    /// Sets a bound variable.
    pub(crate) fn bind(&mut self, local: LocalId, value: Cell) -> Run<()> {
        self.charge(1)?;
        let FormKind::Scalar { ty, families } = &self.frame().columns.locals[local.position()].0.kind else {
            return self.refuse("a variable that is not a scalar ranges over all its values");
        };
        self.check(*ty, families, value)?;
        self.set_local(local, value);
        Ok(())
    }

    pub(crate) fn local_position(&self, local: LocalId) -> usize {
        let columns = self.frame().columns;
        match columns.columns.columns[columns.locals[local.position()].1].address {
            Address::Single(position) => position,
            _ => unreachable!("a bound variable is a scalar"),
        }
    }

    /// The contents of a scalar local.
    pub(crate) fn local_cell(&self, local: LocalId) -> Cell {
        self.frame().area.single[self.local_position(local)]
    }

    pub(crate) fn set_local(&mut self, local: LocalId, cell: Cell) {
        let position = self.local_position(local);
        self.frames.last_mut().expect("there is always the frame of the scope").area.single[position] = cell;
    }

    /// The location of a place.
    pub(crate) fn locate(&mut self, place: PlaceId) -> Run<Location<'s>> {
        self.nested(|machine| machine.locate_here(place))
    }

    fn locate_here(&mut self, place: PlaceId) -> Run<Location<'s>> {
        self.charge(1)?;
        let model = self.model;
        let scheme = self.scheme;
        let entry = &model.pool[place];
        let at = |holder, form, column| Location { holder, form, column, entities: [0; 2], dimensions: 0 };
        let mut location = match &entry.root {
            Root::Variable(variable) => {
                let (form, first) = &scheme.variables[*variable];
                at(Holder::State, form, *first)
            }
            Root::Local(local) => {
                let frame = self.frame();
                match &frame.references[local.position()] {
                    Some(target) => target.clone(),
                    None => {
                        let (form, first) = &frame.columns.locals[local.position()];
                        at(Holder::Frame(self.frames.len() - 1), form, *first)
                    }
                }
            }
            Root::Result { function, arguments } => {
                let cells = self.call(*function, arguments)?;
                at(Holder::Temporary(Rc::new(cells)), scheme.result(*function), 0)
            }
            Root::Choice { condition, then, otherwise } => {
                let chosen = if self.is_true(*condition)? { *then } else { *otherwise };
                self.locate(chosen)?
            }
        };
        for step in &entry.steps {
            match (step, &location.form.kind) {
                (Step::Field(field), FormKind::Record(fields)) => {
                    let (first, form) = &fields[*field as usize];
                    location.column += first;
                    location.form = form;
                }
                (Step::Index(index), FormKind::Array { others, families, element, .. }) => {
                    let index = self.evaluate(*index)?;
                    self.step_into(&mut location, index, (others.as_ref(), families, element))?;
                }
                (Step::Index(index), FormKind::Multiset { capacity, element }) => {
                    let position = self.position(*capacity, *index)?;
                    if !self.is_present(&location, position)? {
                        return Err(Stop::Fault);
                    }
                    location.column += position * (1 + element.columns) + 1;
                    location.form = element;
                }
                _ => unreachable!("verified: a step fits the type it starts from"),
            }
        }
        Ok(location)
    }

    fn step_into(
        &self,
        location: &mut Location<'s>,
        index: Cell,
        (others, families, element): (Option<&'s Domain>, &'s [usize], &'s Form),
    ) -> Run<()> {
        let ordinary = others.map_or(0, |others| others.size() as usize);
        let block = match index {
            Cell::Int(value) => match others.and_then(|others| others.code_of(value)) {
                Some(code) => code as usize,
                None if families.iter().any(|&family| self.scheme.families[family].contains(value)) => {
                    return self.refuse("one of the interchangeable values is a constant here");
                }
                None => return Err(Stop::Fault),
            },
            Cell::Object { family, entity } => {
                match families.iter().position(|&known| known == family as usize) {
                    Some(position) => {
                        location.entities[location.dimensions] = entity as usize;
                        location.dimensions += 1;
                        ordinary + position
                    }
                    // Not an index of this array, such as a value of another member of a union.
                    None => return Err(Stop::Fault),
                }
            }
            Cell::Undefined | Cell::Own => return self.refuse("an index that is none"),
        };
        location.column += block * element.columns;
        location.form = element;
        Ok(())
    }

    /// A position of a multiset.
    pub(crate) fn position(&mut self, capacity: usize, index: ExprId) -> Run<usize> {
        let value = self.number(index)?;
        usize::try_from(value).ok().filter(|position| *position < capacity).ok_or(Stop::Fault)
    }

    /// The location of the cell that says whether a position of a multiset is present.
    pub(crate) fn presence(location: &Location<'s>, position: usize) -> Location<'s> {
        let (_, element) = multiset_form(location.form);
        Location { column: location.column + position * (1 + element.columns), ..location.clone() }
    }

    pub(crate) fn is_present(&mut self, location: &Location<'s>, position: usize) -> Run<bool> {
        Ok(self.cell(&Self::presence(location, position))? == Cell::Int(1))
    }

    /// The present positions of a multiset for which a condition holds.
    pub(crate) fn positions_where(
        &mut self,
        local: LocalId,
        location: &Location<'s>,
        condition: ExprId,
    ) -> Run<Vec<usize>> {
        let (capacity, _) = multiset_form(location.form);
        let before = self.local_cell(local);
        let mut found = Vec::new();
        for position in 0..capacity {
            self.charge(1)?;
            if self.is_present(location, position)? {
                self.bind(local, Cell::Int(position as i64))?;
                if self.is_true(condition)? {
                    found.push(position);
                }
            }
        }
        self.set_local(local, before);
        Ok(found)
    }

    pub(crate) fn columns(&self, holder: &Holder) -> &'s Columns {
        match holder {
            Holder::State => &self.scheme.globals,
            Holder::Frame(height) => &self.frames[*height].columns.columns,
            Holder::Temporary(_) => unreachable!("a result has cells only"),
        }
    }

    /// The cells of a part of the memory.
    fn area(&self, holder: &Holder) -> &Area {
        match holder {
            Holder::State => &self.world.area,
            Holder::Frame(height) => &self.frames[*height].area,
            Holder::Temporary(_) => unreachable!("a result has cells only"),
        }
    }

    /// Where the cell of a column is for some entities: that of a pair of the same object is in its row.
    fn resolve(&self, address: Address, entities: [usize; 2]) -> (Address, [usize; 2]) {
        match address {
            Address::Pairs { pair, diagonal: Some(diagonal), .. } if entities[0] == entities[1] => {
                (Address::Each(self.scheme.pairs[pair].0, diagonal), entities)
            }
            address => (address, entities),
        }
    }

    /// Notes that a cell of objects is used.
    fn touch(&mut self, address: Address, entities: [usize; 2]) -> Run<()> {
        let used: [Option<(usize, usize)>; 2] = match address {
            Address::Single(_) => return Ok(()),
            Address::Each(family, _) => [Some((family, entities[0])), None],
            Address::Pairs { pair, .. } => {
                let (row, column) = self.scheme.pairs[pair];
                [Some((row, entities[0])), Some((column, entities[1]))]
            }
        };
        for (family, entity) in used.into_iter().flatten() {
            if self.world.counts[family][entity] != 1 {
                return self.refuse("several interchangeable values are used as one");
            }
            self.uses_others |= !self.own.contains(&(family, entity));
            for watch in &mut self.watches {
                watch.uses(family, entity);
            }
        }
        Ok(())
    }

    /// The contents of a scalar place.
    pub(crate) fn cell(&mut self, location: &Location<'s>) -> Run<Cell> {
        if let Holder::Temporary(cells) = &location.holder {
            return Ok(cells[location.column]);
        }
        let columns = self.columns(&location.holder);
        let (address, entities) = self.resolve(columns.columns[location.column].address, location.entities);
        self.touch(address, entities)?;
        let cell = self.area(&location.holder).get(columns, address, &entities);
        Ok(match (cell, address) {
            (Cell::Own, Address::Each(family, _)) => Cell::object(family, entities[0]),
            (cell, _) => cell,
        })
    }

    /// Writes a scalar place.
    pub(crate) fn put(&mut self, location: &Location<'s>, cell: Cell) -> Run<()> {
        let columns = self.columns(&location.holder);
        let column = &columns.columns[location.column];
        let is_state = matches!(location.holder, Holder::State);
        if is_state {
            self.facts.end();
        }
        if cell == Cell::Undefined && is_state && !column.may_be_undefined {
            return Err(Stop::Fault);
        }
        let (address, entities) = self.resolve(column.address, location.entities);
        self.touch(address, entities)?;
        let stored = match (cell, address) {
            (Cell::Object { .. }, Address::Each(family, _)) if cell == Cell::object(family, entities[0]) => Cell::Own,
            _ => cell,
        };
        let (area, height) = match location.holder {
            Holder::State => (&mut self.world.area, 0),
            Holder::Frame(height) => (&mut self.frames[height].area, height + 1),
            Holder::Temporary(_) => unreachable!("verified: what a function returned is never written to"),
        };
        let old = std::mem::replace(area.get_mut(columns, address, &entities), stored);
        self.lowest_write = self.lowest_write.min(height);
        if old != stored && !self.watches.is_empty() {
            self.note_change(address, entities);
        }
        Ok(())
    }

    /// Notes that a cell of objects changes.
    fn note_change(&mut self, address: Address, entities: [usize; 2]) {
        let scheme = self.scheme;
        for watch in &mut self.watches {
            match address {
                Address::Single(_) => {}
                Address::Each(family, _) => watch.changes(&[(family, entities[0])]),
                Address::Pairs { pair, .. } => {
                    let (row, column) = scheme.pairs[pair];
                    watch.changes(&[(row, entities[0]), (column, entities[1])]);
                }
            }
        }
    }

    /// A copy of the contents of a place, with all cells of the objects of its arrays.
    pub(crate) fn contents(&mut self, location: &Location<'s>) -> Run<Vec<Cell>> {
        let mut cells = Vec::with_capacity(location.form.columns);
        for offset in 0..location.form.columns {
            let inner = Location { column: location.column + offset, ..location.clone() };
            if let Holder::Temporary(_) = inner.holder {
                cells.push(self.cell(&inner)?);
                continue;
            }
            for place in self.places(&inner)? {
                match place {
                    Part::Cell(part) => cells.push(self.cell(&part)?),
                    Part::Raw(address, entities) => {
                        let area = self.area(&inner.holder);
                        cells.push(area.get(self.columns(&inner.holder), address, &entities));
                    }
                }
            }
            self.charge(1)?;
        }
        Ok(cells)
    }

    /// Writes the contents of a place.
    pub(crate) fn put_contents(&mut self, location: &Location<'s>, cells: &[Cell]) -> Run<()> {
        let mut cells = cells.iter().copied();
        for offset in 0..location.form.columns {
            let inner = Location { column: location.column + offset, ..location.clone() };
            for place in self.places(&inner)? {
                let cell = cells.next().expect("verified: both places have the same form");
                match place {
                    Part::Cell(part) => self.put(&part, cell)?,
                    Part::Raw(address, entities) => {
                        self.put_raw(&inner.holder, inner.column, address, entities, cell)?
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes each column of a place, the same for all objects.
    pub(crate) fn put_columns(&mut self, location: &Location<'s>, cells: &[Cell]) -> Run<()> {
        for (offset, &cell) in cells.iter().enumerate() {
            let inner = Location { column: location.column + offset, ..location.clone() };
            self.charge(1)?;
            for place in self.places(&inner)? {
                match place {
                    Part::Cell(part) => self.put(&part, cell)?,
                    Part::Raw(address, entities) => {
                        self.put_raw(&inner.holder, inner.column, address, entities, cell)?
                    }
                }
            }
        }
        Ok(())
    }

    fn put_raw(
        &mut self,
        holder: &Holder,
        column: usize,
        address: Address,
        entities: [usize; 2],
        cell: Cell,
    ) -> Run<()> {
        let columns = self.columns(holder);
        let is_state = matches!(holder, Holder::State);
        if is_state {
            self.facts.end();
        }
        if cell == Cell::Undefined && is_state && !columns.columns[column].may_be_undefined {
            return Err(Stop::Fault);
        }
        let (area, height) = match holder {
            Holder::State => (&mut self.world.area, 0),
            Holder::Frame(height) => (&mut self.frames[*height].area, height + 1),
            Holder::Temporary(_) => unreachable!("verified: what a function returned is never written to"),
        };
        *area.get_mut(columns, address, &entities) = cell;
        self.lowest_write = self.lowest_write.min(height);
        Ok(())
    }

    /// The cells of a column at a location, for all entities of the dimensions that the location leaves open.
    fn places(&mut self, location: &Location<'s>) -> Run<Vec<Part<'s>>> {
        let columns = self.columns(&location.holder);
        let address = columns.columns[location.column].address;
        let open = match address {
            Address::Single(_) => 0,
            Address::Each(..) => 1 - location.dimensions,
            Address::Pairs { .. } => 2 - location.dimensions,
        };
        if open == 0 {
            return Ok(vec![Part::Cell(location.clone())]);
        }
        // All objects of a family are used: each on its own, unless there are pairs.
        match address {
            Address::Each(..) => self.moves_all = true,
            _ => self.uses_others = true,
        }
        self.watches.iter_mut().for_each(Watch::uses_all);
        let mut parts = Vec::new();
        let counts = &self.world.counts;
        // Nothing is in the cells of entities that were used up.
        let entities = |family: usize| (0..counts[family].len()).filter(move |&entity| counts[family][entity] > 0);
        match address {
            Address::Single(_) => unreachable!("it leaves nothing open"),
            Address::Each(family, _) => {
                parts.extend(entities(family).map(|entity| Part::Raw(address, [entity, 0])));
            }
            Address::Pairs { pair, diagonal, .. } => {
                let (row, column) = self.scheme.pairs[pair];
                let fixed = (open == 1).then_some(location.entities[0]);
                for entity in entities(row).filter(|&entity| fixed.is_none_or(|fixed| fixed == entity)) {
                    for other in entities(column) {
                        let is_same = diagonal.is_some() && entity == other;
                        if let (true, Some(diagonal)) = (is_same, diagonal) {
                            parts.push(Part::Raw(Address::Each(row, diagonal), [entity, 0]));
                        }
                        // A single object has no other one of its entity.
                        if !is_same || counts[row][entity] > 1 {
                            parts.push(Part::Raw(address, [entity, other]));
                        }
                    }
                }
            }
        }
        Ok(parts)
    }
}

/// A part of a place.
enum Part<'s> {
    /// A cell of single objects.
    Cell(Location<'s>),
    /// A cell of all objects of entities.
    Raw(Address, [usize; 2]),
}

/// The capacity and the element of a multiset.
pub(crate) fn multiset_form(form: &Form) -> (usize, &Form) {
    match &form.kind {
        FormKind::Multiset { capacity, element } => (*capacity, element),
        _ => unreachable!("verified: the place is a multiset"),
    }
}

/// The value after one, in increasing order.
fn following(domain: &Domain, value: i64) -> Option<i64> {
    let &(low, _) = domain.pieces().iter().find(|&&(_, high)| value < high)?;
    Some(low.max(value + 1))
}
