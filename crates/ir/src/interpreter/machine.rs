//! The machine that evaluates and executes: its memory (the global cells and a stack of frames),
//! its budgets, and how it stops.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::Interpreter;
use super::footprint::{Footprint, Recorder};
use crate::budget::Interrupt;
use crate::diagnostics::Span;
use crate::fault::{Fault, FaultKind};
use crate::index::{ExprId, FunctionId, LocalId, PlaceId, PropertyId, SlotId, Table, TableIndex, TypeId};
use crate::model::{Local, LocalKind, Model, Parameter};
use crate::text;
use crate::types::TypeKind;

/// The contents of a place: a value or undefined in each cell.
pub(super) type Cells = Vec<Option<i64>>;

/// A result, unless the step stops.
pub(super) type Run<T> = Result<T, Box<Stop>>;

/// Why a step ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// An assume statement failed.
    Pruned,
    /// A run-time error.
    Fault(Fault),
}

/// The location of the first cell of a place.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) area: Area,
    pub(super) offset: usize,
}

/// The parts of the memory.
#[derive(Clone, Debug)]
pub(super) enum Area {
    /// The state.
    Globals,
    /// A local of the frame at a height of the stack. A frame outlives all references to it: references are passed only
    /// to the functions it calls.
    Local { height: usize, local: LocalId },
    /// The result of a function.
    Temporary(Arc<Cells>),
}

/// The locals of a rule, initial-state program, property, or call of a function.
pub(super) struct Frame<'m> {
    pub(super) locals: &'m Table<LocalId, Local>,
    pub(super) contents: Table<LocalId, Contents>,
    /// The called function, if it is a call.
    pub(super) function: Option<FunctionId>,
    /// What calls it.
    pub(super) called_from: Span,
    /// The number of cells.
    cells: usize,
}

/// The contents of a local.
#[derive(Clone, Debug)]
pub(super) enum Contents {
    Cells(Cells),
    /// A reference: unbound, or the location it denotes.
    Reference(Option<Location>),
}

/// The limit on the work of one step: statements, expressions, iterations and copied cells all count. Endless loops
/// exceed it; a step of a sensible model stays far below.
const WORK_LIMIT: u64 = 1 << 26;
/// The work between two polls of the interrupt.
const WORK_BETWEEN_QUESTIONS: u64 = 1 << 16;
/// The largest number of active calls.
const CALL_LIMIT: usize = 1000;
/// The largest number of cells of all frames at a time.
const FRAME_CELL_LIMIT: usize = 1 << 24;
/// The deepest nesting of expressions, statements and calls together.
const DEPTH_LIMIT: usize = 20_000;
/// The nesting at which the machine moves to a thread with a stack for the deepest nesting, so that the caller's stack
/// may be small and no large stack is allocated for shallow steps.
const DEPTH_OF_MOVE: usize = 150;
/// The stack size of that thread, four times what the deepest nesting takes without optimisation. Only the used part
/// takes memory.
const STACK_BYTES: usize = 256 << 20;

/// A run of one step.
pub(super) struct Machine<'i, 'm> {
    pub(super) interpreter: &'i Interpreter<'m>,
    pub(super) model: &'m Model,
    pub(super) globals: Cow<'i, [Option<i64>]>,
    pub(super) frames: Vec<Frame<'i>>,
    /// The current statement, guard or property.
    pub(super) span: Span,
    pub(super) covered: BTreeSet<PropertyId>,
    /// The condition of the assertion that failed.
    pub(super) failed_assertion: Option<ExprId>,
    /// What was printed so far, if someone asked for it.
    pub(super) printed: Option<String>,
    /// Records reads and writes of the state, if requested.
    recorder: Option<Recorder>,
    pub(super) work: u64,
    depth: usize,
    frame_cells: usize,
}

impl<'i, 'm: 'i> Machine<'i, 'm> {
    /// A machine on a state, with one frame for the owner of the locals.
    pub(super) fn new(
        interpreter: &'i Interpreter<'m>,
        state: &'i [Option<i64>],
        locals: &'i Table<LocalId, Local>,
        span: Span,
    ) -> Self {
        let mut machine = Self {
            interpreter,
            model: interpreter.model,
            globals: Cow::Borrowed(state),
            frames: Vec::new(),
            span,
            covered: BTreeSet::new(),
            failed_assertion: None,
            printed: None,
            recorder: None,
            work: 0,
            depth: 0,
            frame_cells: 0,
        };
        let frame = machine.new_frame(locals, None);
        machine.frames.push(frame);
        machine
    }

    /// The same machine, recording reads and writes of the state.
    pub(super) fn recording(mut self) -> Self {
        self.recorder = Some(Recorder::default());
        self
    }

    /// The reads and writes of the state since [`Machine::recording`].
    pub(super) fn footprint(&mut self) -> Footprint {
        self.recorder.take().map_or_else(Footprint::default, |recorder| recorder.footprint(&self.globals, self.work))
    }

    /// The global cells and the covered properties, at the end of a step.
    pub(super) fn finish(self) -> (Cells, Vec<PropertyId>) {
        (self.globals.into_owned(), self.covered.into_iter().collect())
    }

    /// Sets the parameters of the owner.
    ///
    /// # Panics
    /// If there are too few cells.
    pub(super) fn set_parameters(&mut self, parameters: &[Parameter], arguments: &[i64]) {
        let mut rest = arguments;
        for parameter in parameters {
            let Contents::Cells(cells) = &mut self.frames[0].contents[parameter.local] else {
                unreachable!("verified: a parameter is not a reference");
            };
            let (own, others) = rest.split_at(cells.len());
            *cells = own.iter().copied().map(Some).collect();
            rest = others;
        }
        assert!(rest.is_empty(), "an instance has one argument for each cell of the parameters");
    }

    /// A frame in which nothing is set yet.
    pub(super) fn new_frame(&self, locals: &'i Table<LocalId, Local>, function: Option<FunctionId>) -> Frame<'i> {
        let contents: Table<LocalId, Contents> = locals
            .iter()
            .map(|local| match local.kind {
                LocalKind::Reference => Contents::Reference(None),
                LocalKind::Parameter | LocalKind::Variable => {
                    Contents::Cells(self.interpreter.facts.undefined(self.model, local.ty))
                }
            })
            .collect();
        let cells = contents.iter().map(|contents| match contents {
            Contents::Cells(cells) => cells.len(),
            Contents::Reference(_) => 1,
        });
        let cells = cells.sum();
        Frame { locals, contents, function, called_from: self.span, cells }
    }

    /// Pushes a frame onto the stack.
    pub(super) fn enter(&mut self, frame: Frame<'i>) -> Run<()> {
        if self.frames.len() > CALL_LIMIT {
            return self.fault(FaultKind::Exhausted, format!("gave up at more than {CALL_LIMIT} nested calls"));
        }
        if self.frame_cells + frame.cells > FRAME_CELL_LIMIT {
            let message = format!("gave up at local variables with more than {FRAME_CELL_LIMIT} cells");
            return self.fault(FaultKind::Exhausted, message);
        }
        self.charge(frame.cells)?;
        self.frame_cells += frame.cells;
        self.frames.push(frame);
        Ok(())
    }

    /// Pops the last frame from the stack.
    pub(super) fn leave(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.frame_cells -= frame.cells;
        }
    }

    /// Charges work.
    pub(super) fn charge(&mut self, work: usize) -> Run<()> {
        let before = self.work;
        self.work = self.work.saturating_add(work as u64);
        if self.work > WORK_LIMIT {
            return self.fault(FaultKind::Exhausted, "gave up on a step that does not seem to end".into());
        }
        if before / WORK_BETWEEN_QUESTIONS != self.work / WORK_BETWEEN_QUESTIONS
            && self.interpreter.interrupt.as_ref().is_some_and(Interrupt::is_raised)
        {
            return self.fault(FaultKind::Exhausted, "gave up on a step because of an interrupt".into());
        }
        Ok(())
    }

    /// Runs nested work: counts the nesting, and moves to a larger stack if it gets deep.
    pub(super) fn nested<T: Send>(&mut self, work: impl FnOnce(&mut Self) -> Run<T> + Send) -> Run<T> {
        if self.depth == DEPTH_LIMIT {
            let message = format!("gave up at expressions and statements nested more than {DEPTH_LIMIT} levels deep");
            return self.fault(FaultKind::Exhausted, message);
        }
        self.depth += 1;
        let result = if self.depth == DEPTH_OF_MOVE { self.on_large_stack(work) } else { work(self) };
        self.depth -= 1;
        result
    }

    #[cold]
    #[inline(never)]
    fn on_large_stack<T: Send>(&mut self, work: impl FnOnce(&mut Self) -> Run<T> + Send) -> Run<T> {
        let machine = &mut *self;
        let result = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || work(machine));
            thread.map(std::thread::ScopedJoinHandle::join)
        });
        match result {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                self.fault(FaultKind::Exhausted, format!("gave up at deep nesting: no stack for it: {error}"))
            }
        }
    }

    /// The current frame.
    pub(super) fn frame(&self) -> &Frame<'i> {
        self.frames.last().expect("there is always the frame of the owner")
    }

    /// The contents of a local of the current frame.
    pub(super) fn local_mut(&mut self, local: LocalId) -> &mut Contents {
        let frame = self.frames.last_mut().expect("there is always the frame of the owner");
        &mut frame.contents[local]
    }

    /// The contents of one cell.
    pub(super) fn cell(&self, location: &Location) -> Option<i64> {
        self.cells(location, 1)[0]
    }

    /// The contents of consecutive cells.
    pub(super) fn cells<'a>(&'a self, location: &'a Location, count: usize) -> &'a [Option<i64>] {
        let area = match &location.area {
            Area::Globals => {
                if let Some(recorder) = &self.recorder {
                    recorder.read(location.offset..location.offset + count);
                }
                &self.globals[..]
            }
            Area::Local { height, local } => match &self.frames[*height].contents[*local] {
                Contents::Cells(cells) => cells,
                Contents::Reference(_) => unreachable!("a location is never that of a reference itself"),
            },
            Area::Temporary(cells) => cells,
        };
        &area[location.offset..location.offset + count]
    }

    /// Writes consecutive cells. Their types have been checked.
    pub(super) fn write(&mut self, location: &Location, contents: &[Option<i64>]) -> Run<()> {
        let range = location.offset..location.offset + contents.len();
        match &location.area {
            Area::Globals => {
                for (position, value) in range.clone().zip(contents) {
                    let slot = &self.interpreter.layout.slots[SlotId::from_position(position)];
                    if value.is_none() && !slot.may_be_undefined {
                        let message = format!("`{}` cannot be undefined", slot.name);
                        return self.fault(FaultKind::UndefinedRead, message);
                    }
                }
                if let Some(recorder) = &self.recorder {
                    recorder.write(range.clone());
                }
                self.globals.to_mut()[range].copy_from_slice(contents);
            }
            Area::Local { height, local } => match &mut self.frames[*height].contents[*local] {
                Contents::Cells(cells) => cells[range].copy_from_slice(contents),
                Contents::Reference(_) => unreachable!("a location is never that of a reference itself"),
            },
            Area::Temporary(_) => unreachable!("verified: what a function returned is never written to"),
        }
        Ok(())
    }

    /// Stops with a run-time error at the current span.
    pub(super) fn fault<T>(&self, kind: FaultKind, message: String) -> Run<T> {
        Err(Box::new(Stop::Fault(Fault { kind, span: self.span, message })))
    }

    /// Stops unless a value belongs to a scalar type.
    pub(super) fn check_range(&self, ty: TypeId, value: i64, what: impl FnOnce() -> String) -> Run<()> {
        let domain = self.interpreter.facts.of(ty).domain.as_ref().expect("verified: the type is scalar");
        if domain.contains(value) {
            return Ok(());
        }
        let message = format!("value {value} is out of range {} of {}", self.range_text(ty), what());
        self.fault(FaultKind::OutOfRange, message)
    }

    /// The values of a scalar type, for messages.
    pub(super) fn range_text(&self, ty: TypeId) -> String {
        match (&self.model.types[ty].kind, &self.model.types[ty].name) {
            (TypeKind::Range { low, high }, _) => format!("{low}..{high}"),
            (_, Some(name)) => name.clone(),
            (TypeKind::Enumeration { members, .. }, None) => format!("{{{}}}", members.join(", ")),
            _ => {
                let domain = self.model.domain(ty);
                let pieces = domain.pieces().iter().map(|(low, high)| format!("{low}..{high}"));
                pieces.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// An expression in source notation, for messages.
    pub(super) fn expression_text(&self, expression: ExprId) -> String {
        text::expression_text(self.model, self.frame().locals, expression)
    }

    /// A place as the source would have it, for messages, and which one it is where that depends on the state.
    pub(super) fn named_place(&self, place: PlaceId, location: &Location) -> String {
        let text = self.place_text(place);
        match self.location_text(location, 1) {
            Some(name) if name != text => format!("`{text}`, that is `{name}`"),
            _ => format!("`{text}`"),
        }
    }

    /// A place in source notation, for messages.
    pub(super) fn place_text(&self, place: PlaceId) -> String {
        text::place_text(self.model, self.frame().locals, place)
    }
}
