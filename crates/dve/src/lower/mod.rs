//! From the syntax tree to the model.
//!
//! The state of a process is a variable of an enumeration, called like the process; its own variables follow as `P->x`.
//! There is a rule for each transition, for each pair of transitions that synchronise, and one for a step of a
//! synchronous system.

mod constants;
mod expressions;
mod messages;
mod property;
mod rules;
mod symbols;

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Model, Property, PropertyKind, Source, Span, Start, Statement,
    StatementKind, Table, Type, TypeId, TypeKind, VariableId,
};
use quotient_kit::Building;
use rustc_hash::FxHashMap;

use self::symbols::Symbols;
use super::syntax::tree::{Process, Scalar, System};

/// Lowers a system. Returns a model if there is no error.
pub(super) fn lower(source: &Source, tree: &System) -> (Option<Model>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let symbols = Symbols::new(tree, &mut diagnostics);
    let mut lowering = Lowering {
        model: Model::new(source.clone()),
        symbols: &symbols,
        tree,
        diagnostics,
        types: FxHashMap::default(),
        places: Vec::new(),
        own_places: Vec::new(),
        positions: Vec::new(),
        queues: Vec::new(),
    };
    let Some(composition) = &tree.composition else {
        let error = Diagnostic::error("no-system", "the text does not end with a system", Span::default())
            .with_help("write `system async;` after the processes");
        lowering.diagnostics.push(Diagnostic { primary: None, ..error });
        lowering.declare();
        lowering.transitions();
        return (None, lowering.diagnostics);
    };
    if symbols.moving.is_empty() {
        let error = Diagnostic::error("no-process", "there is no process in this system", composition.span)
            .with_help("declare one with `process P { … }`");
        lowering.diagnostics.push(error);
    }
    lowering.declare();
    lowering.start();
    if composition.is_synchronous {
        lowering.synchronous_step(composition.span);
    } else {
        lowering.transitions();
    }
    lowering.assertions();
    lowering.watched();
    lowering.property(composition);
    let Lowering { model, diagnostics, .. } = lowering;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return (None, diagnostics);
    }
    debug_assert_eq!(quotient_ir::verify(&model), Ok(()), "the lowering makes well-formed models");
    (Some(model), diagnostics)
}

/// Types that are declared once.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Shared {
    Range(i64, i64),
    Enumeration(Vec<String>),
    Array(TypeId, TypeId),
}

/// Assertions that are one property.
struct AssertionGroup<'t> {
    /// The type of the states of the processes, the state, and the number of assertions about it before.
    key: (TypeId, usize, usize),
    state: &'t str,
    processes: Vec<&'t str>,
    formula: ExprId,
    span: Span,
}

/// The model under construction.
struct Lowering<'t> {
    model: Model,
    symbols: &'t Symbols<'t>,
    tree: &'t System,
    diagnostics: Vec<Diagnostic>,
    types: FxHashMap<Shared, TypeId>,
    /// The variables of the text, global ones by their number. Constants have none.
    places: Vec<Option<VariableId>>,
    /// Those of each process.
    own_places: Vec<Vec<Option<VariableId>>>,
    /// The states of the processes; none for the automaton of a property.
    positions: Vec<Option<VariableId>>,
    /// The contents of channels with a buffer.
    queues: Vec<Option<VariableId>>,
}

impl Building for Lowering<'_> {
    fn model(&self) -> &Model {
        &self.model
    }

    fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }
}

impl<'t> Lowering<'t> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn ty(&mut self, shared: Shared) -> TypeId {
        if let Some(&ty) = self.types.get(&shared) {
            return ty;
        }
        let kind = match shared.clone() {
            Shared::Range(low, high) => TypeKind::Range { low, high },
            Shared::Enumeration(members) => TypeKind::Enumeration { first: 0, members },
            Shared::Array(index, element) => TypeKind::Array { index, element },
        };
        let name = match shared {
            Shared::Range(0, 255) => Some("byte".to_owned()),
            Shared::Range(-32768, 32767) => Some("int".to_owned()),
            _ => None,
        };
        let ty = self.model.types.push(Type { name, kind });
        self.types.insert(shared, ty);
        ty
    }

    fn scalar_type(&mut self, scalar: Scalar) -> TypeId {
        let (low, high) = scalar.range();
        self.ty(Shared::Range(low, high))
    }

    /// An array of elements from 0 on.
    fn array_type(&mut self, size: usize, element: TypeId) -> TypeId {
        let index = self.ty(Shared::Range(0, size as i64 - 1));
        self.ty(Shared::Array(index, element))
    }

    fn declare_variable(&mut self, name: String, ty: TypeId, span: Span) -> VariableId {
        self.model.variables.push(quotient_ir::Variable { name, ty, may_be_undefined: false, span })
    }

    /// Declares the variables of the model: global ones, buffers, and for each process its state and its variables.
    fn declare(&mut self) {
        let symbols = self.symbols;
        for variable in &symbols.variables {
            let place = self.declare_written(variable, None);
            self.places.push(place);
        }
        self.declare_queues();
        for (number, process) in symbols.processes.iter().enumerate() {
            if !symbols.moving.contains(&number) {
                // Nothing changes the variables of a property. Only arrays are needed: an index may be anything.
                self.positions.push(None);
                let arrays = process
                    .variables
                    .iter()
                    .map(|it| it.size.and_then(|_| self.declare_written(it, Some(process.tree))));
                let arrays = arrays.collect();
                self.own_places.push(arrays);
                continue;
            }
            let names: Vec<String> = process.tree.states.iter().map(|state| state.text.to_string()).collect();
            let position = if names.is_empty() {
                None
            } else {
                let ty = self.ty(Shared::Enumeration(names));
                Some(self.declare_variable(process.tree.name.text.to_string(), ty, process.tree.name.span))
            };
            self.positions.push(position);
            let own = process.variables.iter().map(|it| self.declare_written(it, Some(process.tree))).collect();
            self.own_places.push(own);
        }
    }

    fn declare_written(&mut self, variable: &symbols::Variable<'_>, process: Option<&Process>) -> Option<VariableId> {
        if variable.is_plain_constant() {
            return None;
        }
        let mut ty = self.scalar_type(variable.tree.scalar);
        if let Some(size) = variable.size {
            ty = self.array_type(size, ty);
        }
        let written = &variable.tree.name;
        let name = match process {
            Some(process) => format!("{}->{}", process.name.text, written.text),
            None => written.text.to_string(),
        };
        Some(self.declare_variable(name, ty, written.span))
    }

    /// The initial state.
    fn start(&mut self) {
        let symbols = self.symbols;
        let mut body = Vec::new();
        for (variable, &place) in symbols.variables.iter().zip(&self.places.clone()) {
            self.initialise(variable, place, &mut body);
        }
        self.start_queues(&mut body);
        for (number, process) in symbols.processes.iter().enumerate() {
            if let (Some(position), Some(initial)) = (self.positions[number], process.initial) {
                let target = self.variable_place(position);
                let value = self.state_constant(number, initial);
                let span = process.tree.initial.as_ref().map_or(process.tree.name.span, |name| name.span);
                body.push(Statement { kind: StatementKind::Assign { target, value }, span });
            }
            for (variable, &place) in process.variables.iter().zip(&self.own_places[number].clone()) {
                self.initialise(variable, place, &mut body);
            }
        }
        let span = self.tree.composition.as_ref().map(|it| it.span).unwrap_or_default();
        let name = Some("initial state".to_owned());
        self.model.starts.push(Start { name, parameters: Vec::new(), locals: Table::new(), body, span });
    }

    fn initialise(&mut self, variable: &symbols::Variable<'_>, place: Option<VariableId>, body: &mut Vec<Statement>) {
        let Some(place) = place else { return };
        let least = variable.tree.scalar.range().0;
        let span = variable.tree.name.span;
        for (position, &value) in variable.values.iter().enumerate() {
            // Cells start at the least value of their type.
            if value == least {
                continue;
            }
            let mut target = self.variable_place(place);
            if variable.size.is_some() {
                let index = self.number(position as i64);
                target = self.element(target, index);
            }
            let value = self.number(value);
            body.push(Statement { kind: StatementKind::Assign { target, value }, span });
        }
    }

    /// The assertions: in states of processes, and (an extension) in all states.
    ///
    /// Assertions about the same state of processes with the same states are one property: each property is preserved by
    /// symmetries on its own, and such processes are probably instances of one text.
    fn assertions(&mut self) {
        let symbols = self.symbols;
        let mut groups: Vec<AssertionGroup<'t>> = Vec::new();
        for &number in &symbols.moving {
            let process = symbols.processes[number].tree;
            let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
            for (state, condition) in &process.assertions {
                let value = self.condition(condition, Some(number));
                let Some(position) = self.state_of(number, state) else { continue };
                let here = self.in_state(number, position);
                let formula = self.binary(BinaryOperator::Implies, here, value);
                let count = seen.entry(&state.text).or_default();
                let (ty, repetition) = (self.positions[number], *count);
                *count += 1;
                let ty = ty.map_or(Model::INTEGER, |variable| self.model.variables[variable].ty);
                let key = (ty, position, repetition);
                match groups.iter_mut().find(|group| group.key == key) {
                    Some(group) => {
                        group.processes.push(&process.name.text);
                        group.formula = self.binary(BinaryOperator::And, group.formula, formula);
                    }
                    None => {
                        let processes = vec![&*process.name.text];
                        let span = state.span.to(condition.span);
                        groups.push(AssertionGroup { key, state: &state.text, processes, formula, span });
                    }
                }
            }
        }
        for AssertionGroup { state, processes, formula, span, .. } in groups {
            let name = match &processes[..] {
                [only] => format!("{only}: {state}"),
                [first, second] => format!("{first}, {second}: {state}"),
                [first, .., last] => format!("{first} … {last}: {state}"),
                [] => state.to_owned(),
            };
            self.assertion(Some(name), formula, span);
        }
        for condition in &self.tree.assertions {
            let formula = self.condition(condition, None);
            self.assertion(None, formula, condition.span);
        }
    }

    fn assertion(&mut self, name: Option<String>, formula: ExprId, span: Span) {
        let id = self.model.properties.push(Property {
            name,
            kind: PropertyKind::Invariant,
            parameters: Vec::new(),
            locals: Table::new(),
            formula: formula.into(),
            span,
        });
        self.model.assertions.push(id);
    }

    /// A state of a process as a value.
    fn state_constant(&mut self, process: usize, state: usize) -> ExprId {
        let ty = self.positions[process].map_or(Model::INTEGER, |position| self.model.variables[position].ty);
        self.model.pool.expression(Expr::Constant { value: state as i64, ty })
    }

    /// Whether a process is in a state.
    fn in_state(&mut self, process: usize, state: usize) -> ExprId {
        let Some(position) = self.positions[process] else { return self.truth(false) };
        let place = self.variable_place(position);
        let (value, constant) = (self.read(place), self.state_constant(process, state));
        self.binary(BinaryOperator::Equal, value, constant)
    }
}

impl Scalar {
    /// The least and the greatest value.
    pub(super) fn range(self) -> (i64, i64) {
        match self {
            Self::Byte => (0, 255),
            Self::Int => (-32768, 32767),
        }
    }

    /// Its name in the text.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Byte => "byte",
            Self::Int => "int",
        }
    }
}
