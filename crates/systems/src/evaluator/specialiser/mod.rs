//! From the model to nodes: each rule, start and property is specialised to given values of its parameters. Constants
//! are folded, places that are then known become bit fields, short loops are unrolled, and functions are inlined.
//!
//! What nodes cannot express is not translated at all ([`Unsupported`]); its owner then runs on the reference
//! interpreter. Evaluation order is preserved, because functions may have side effects.

mod calls;
mod cases;
mod expressions;
mod facts;
mod fields;
mod mutation;
mod places;
mod statements;

use std::rc::Rc;

use quotient_ir::{
    BinaryOperator, Expr, ExprId, FunctionId, Interrupt, Layout, Local, LocalId, LocalKind, Model, Parameter, Place,
    Root, Statement, Table, TableIndex, TypeId,
};
use rustc_hash::FxHashMap;

use super::code::{Code, CommandId, SubroutineId, TestId};
use cases::IndexUses;
use facts::TypeFact;
pub(super) use mutation::constant_slots;
use mutation::mutated_locals;
use places::Location;

/// The owner has to run on the reference interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsupported;

/// The deepest nesting of the model's expressions and statements that is translated.
const DEPTH_LIMIT: u32 = 150;
/// The number of nodes, and work to make them, after which rules are no longer specialised to valuations: it would take
/// too long and too much memory.
const CODE_LIMIT: usize = 500_000;
const WORK_LIMIT: u64 = 4_000_000;
/// The largest number of cells of the frame of one rule, start or property.
const FRAME_LIMIT: u32 = 1 << 16;

/// The translation of a rule, start or property.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// The guard or condition, as tests that must all succeed, in order.
    pub(crate) tests: Vec<TestId>,
    /// The body; none for a property.
    pub(crate) body: Option<CommandId>,
    /// The cells of its frame; the parameters come first.
    pub(crate) frame: u32,
    /// Whether evaluating the guard or condition may change the state (through a function).
    pub(crate) tests_write: bool,
    /// Whether the parameters must be put into the frame before it runs.
    pub(crate) reads_parameters: bool,
    /// Whether it uses a frame or counts its work; otherwise the memory needs no preparation.
    pub(crate) prepares: bool,
}

/// A rule, start or property to specialise.
pub(crate) struct Owner<'m> {
    pub(crate) parameters: &'m [Parameter],
    pub(crate) locals: &'m Table<LocalId, Local>,
    condition: Option<ExprId>,
    body: Option<&'m [Statement]>,
    mutated: Rc<[bool]>,
}

impl<'m> Owner<'m> {
    pub(crate) fn new(
        model: &Model,
        parameters: &'m [Parameter],
        locals: &'m Table<LocalId, Local>,
        condition: Option<ExprId>,
        body: Option<&'m [Statement]>,
    ) -> Self {
        let mutated = mutated_locals(model, locals, condition, body.unwrap_or(&[]));
        Self { parameters, locals, condition, body, mutated }
    }

    /// Whether a rule cannot fire with some scalar arguments since conditions on parameters alone, with which its guard
    /// begins, are false.
    pub(crate) fn is_ruled_out(&self, model: &Model, arguments: &[i64]) -> bool {
        let guard = self.condition.filter(|_| self.body.is_some());
        guard.and_then(|guard| self.value(model, guard, arguments)) == Some(0)
    }

    /// The value of an expression about parameters alone; none if that is not known, or if it goes wrong.
    fn value(&self, model: &Model, expression: ExprId, arguments: &[i64]) -> Option<i64> {
        match &model.pool[expression] {
            Expr::Constant { value, .. } => Some(*value),
            Expr::Read(place) => match &model.pool[*place] {
                Place { root: Root::Local(local), steps, .. }
                    if steps.is_empty() && !self.mutated[local.position()] =>
                {
                    let position = self.parameters.iter().position(|parameter| parameter.local == *local)?;
                    Some(arguments[position])
                }
                _ => None,
            },
            Expr::Unary { operator, operand } => operator.apply(self.value(model, *operand, arguments)?),
            Expr::Binary { operator, left, right } => {
                let left = self.value(model, *left, arguments)?;
                match (operator, left != 0) {
                    (BinaryOperator::And, false) => Some(0),
                    (BinaryOperator::Or, true) | (BinaryOperator::Implies, false) => Some(1),
                    _ => operator.apply(left, self.value(model, *right, arguments)?),
                }
            }
            Expr::Conditional { condition, then, otherwise } => {
                let holds = self.value(model, *condition, arguments)? != 0;
                self.value(model, if holds { *then } else { *otherwise }, arguments)
            }
            _ => None,
        }
    }
}

/// Translates a model.
pub(crate) struct Specialiser<'m> {
    model: &'m Model,
    layout: &'m Layout,
    pub(crate) code: Code,
    facts: Table<TypeId, TypeFact>,
    mutated_in_functions: FxHashMap<FunctionId, Rc<[bool]>>,
    /// Functions that are called rather than inlined.
    subroutines: FxHashMap<FunctionId, SubroutineId>,
    /// Those of them whose body is not translated yet.
    untranslated: Vec<FunctionId>,
    /// The contents of slots that never change; empty while starts are translated.
    pub(crate) constants: Vec<Option<i64>>,
    /// The number of cases of bodies so far.
    cases: usize,
    /// The work done by translation so far.
    work: u64,
    /// Once interrupted, the rest is left to the reference interpreter.
    interrupt: Interrupt,
    context: Context<'m>,
}

/// The current translation.
struct Context<'m> {
    /// The owner and the functions inlined in it, innermost last.
    scopes: Vec<Scope<'m>>,
    /// The functions of those scopes that are functions.
    unfolding: Vec<FunctionId>,
    /// The first cell of the frame that is free.
    next_cell: u32,
    frame: u32,
    /// How often the current code is repeated by unrolled loops.
    repetitions: u64,
    /// The approximate work of the reference interpreter for the code so far.
    weight: u64,
    depth: u32,
    greatest_depth: u32,
    writes_state: bool,
    reads_parameters: bool,
    /// There are loops or calls.
    counts_work: bool,
    index_uses: IndexUses,
}

/// The locals of an owner or function.
struct Scope<'m> {
    locals: &'m Table<LocalId, Local>,
    bindings: Vec<Binding>,
    /// Locals that may be written after their initialisation.
    mutated: Rc<[bool]>,
    /// Where the result of a function goes, and its type.
    result: Option<(u32, TypeId)>,
}

/// What is known about a local.
#[derive(Clone, Copy, Debug)]
enum Binding {
    /// Not bound here.
    Nothing,
    /// Its value.
    Known(i64),
    /// Cells of the frame.
    Cells { first: u32, parameter: bool },
    /// A reference denotes this.
    Place(Location),
}

impl Context<'_> {
    fn new() -> Self {
        Self {
            scopes: Vec::new(),
            unfolding: Vec::new(),
            next_cell: 0,
            frame: 0,
            repetitions: 1,
            weight: 0,
            depth: 0,
            greatest_depth: 0,
            writes_state: false,
            reads_parameters: false,
            counts_work: false,
            index_uses: IndexUses::default(),
        }
    }
}

impl<'m> Specialiser<'m> {
    pub(crate) fn new(model: &'m Model, layout: &'m Layout, interrupt: Interrupt) -> Self {
        Self {
            model,
            layout,
            code: Code::new(layout),
            facts: facts::of_types(model),
            mutated_in_functions: FxHashMap::default(),
            subroutines: FxHashMap::default(),
            untranslated: Vec::new(),
            constants: Vec::new(),
            cases: 0,
            work: 0,
            interrupt,
            context: Context::new(),
        }
    }

    /// Specialises an owner to the given values of its parameters, or to none of them.
    ///
    /// # Errors
    /// If it has to run on the reference interpreter.
    pub(crate) fn specialise(&mut self, owner: &Owner<'m>, arguments: Option<&[i64]>) -> Result<Unit, Unsupported> {
        self.context = Context::new();
        let bindings = vec![Binding::Nothing; owner.locals.len()];
        let mut scope = Scope { locals: owner.locals, bindings, mutated: Rc::clone(&owner.mutated), result: None };
        let mut position = 0;
        for parameter in owner.parameters {
            let ty = owner.locals[parameter.local].ty;
            let cells = self.cells(ty)?;
            let first = self.allocate(cells)?;
            let known = match arguments {
                Some(arguments) if self.model.is_scalar(ty) && !scope.mutated[parameter.local.position()] => {
                    Some(arguments[position])
                }
                _ => None,
            };
            scope.bindings[parameter.local.position()] =
                known.map_or(Binding::Cells { first, parameter: true }, Binding::Known);
            position += cells as usize;
        }
        for (id, local) in owner.locals.iter_enumerated() {
            if local.kind == LocalKind::Variable {
                let first = self.allocate_for(local.ty)?;
                scope.bindings[id.position()] = Binding::Cells { first, parameter: false };
            }
        }
        self.context.scopes.push(scope);
        let unit = self.translate(owner, arguments.is_some());
        self.work += self.context.weight;
        self.translate_subroutines();
        unit
    }

    fn translate(&mut self, owner: &Owner<'m>, by_cases: bool) -> Result<Unit, Unsupported> {
        let tests = match owner.condition {
            Some(condition) => self.conjuncts(condition)?,
            None => Vec::new(),
        };
        let tests_write = self.context.writes_state;
        let body = match owner.body {
            Some(body) if by_cases => Some(self.body_by_cases(owner, body)?),
            Some(body) => Some(self.body(owner, body)?),
            None => None,
        };
        Ok(Unit {
            tests,
            body,
            frame: self.context.frame,
            tests_write,
            reads_parameters: self.context.reads_parameters,
            prepares: self.context.counts_work || self.context.frame > 0,
        })
    }

    /// Whether enough was specialised to valuations.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.work > WORK_LIMIT || self.code.size() > CODE_LIMIT || self.interrupt.is_raised()
    }

    fn scope(&self) -> &Scope<'m> {
        self.context.scopes.last().expect("there is always the scope of the owner")
    }

    fn scope_mut(&mut self) -> &mut Scope<'m> {
        self.context.scopes.last_mut().expect("there is always the scope of the owner")
    }

    fn binding(&self, local: LocalId) -> Binding {
        self.scope().bindings[local.position()]
    }

    fn is_mutated(&self, local: LocalId) -> bool {
        self.scope().mutated[local.position()]
    }

    /// Reserves cells of the frame.
    fn allocate(&mut self, cells: u32) -> Result<u32, Unsupported> {
        let first = self.context.next_cell;
        let end = first.checked_add(cells).filter(|&end| end <= FRAME_LIMIT).ok_or(Unsupported)?;
        self.context.next_cell = end;
        self.context.frame = self.context.frame.max(end);
        Ok(first)
    }

    fn allocate_for(&mut self, ty: TypeId) -> Result<u32, Unsupported> {
        let cells = self.cells(ty)?;
        self.allocate(cells)
    }

    fn cells(&self, ty: TypeId) -> Result<u32, Unsupported> {
        u32::try_from(self.facts[ty].cells).map_err(|_| Unsupported)
    }

    /// Translates something nested, up to a limit.
    fn nested<T>(&mut self, translate: impl FnOnce(&mut Self) -> Result<T, Unsupported>) -> Result<T, Unsupported> {
        if self.context.depth == DEPTH_LIMIT {
            return Err(Unsupported);
        }
        self.context.depth += 1;
        self.context.greatest_depth = self.context.greatest_depth.max(self.context.depth);
        self.context.weight += 1;
        let result = translate(self);
        self.context.depth -= 1;
        result
    }

    /// Translates something with a local bound, and restores the local's binding.
    fn with_binding<T>(
        &mut self,
        local: LocalId,
        binding: Binding,
        translate: impl FnOnce(&mut Self) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        let before = std::mem::replace(&mut self.scope_mut().bindings[local.position()], binding);
        let result = translate(self);
        // On an error the whole context is abandoned.
        self.scope_mut().bindings[local.position()] = before;
        result
    }
}
