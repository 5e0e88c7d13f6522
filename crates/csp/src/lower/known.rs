//! Which values variables can have at the positions of a process.
//!
//! Where a process calls itself inside a sequence, data may bound how deep it is nested, and the text alone allows far more
//! terms than there are. Here each position of an asserted process has, for each cell of a variable that only this process
//! assigns, the few values it can have. A step whose guards are false for all of them does not lead to a term.
//!
//! No verdict rests on this: such a step is still a rule, which ends the search as inconclusive if it is ever taken.

use rustc_hash::{FxHashMap, FxHashSet};

use super::steps::{Action, Origin, Step};
use super::symbols::Symbols;
use super::terms::{Statement, StatementKind, Value, binary, unary};

/// The most values of a cell that are remembered, and of an expression that are computed.
const VALUE_LIMIT: usize = 8;

/// The values of an expression, each once and in order; none if they are not known.
type Values = Option<Vec<i64>>;

/// The values of all cells.
pub(super) type State = Vec<Values>;

/// What is known so far.
#[derive(Debug)]
pub(super) struct Known {
    /// The first cell of each variable, and the sizes of the variable.
    variables: Vec<(usize, Vec<i64>)>,
    /// The values before the first step.
    initial: State,
    /// The variables that other processes assign.
    shared: FxHashSet<usize>,
    /// The values at each position of a component.
    states: FxHashMap<(usize, usize), State>,
    changed: bool,
}

/// Values are those of a state, and of what a step captured before it.
struct Context<'c> {
    known: &'c Known,
    captured: &'c [(u32, Values)],
}

impl Known {
    pub(super) fn new(symbols: &Symbols<'_>) -> Self {
        let (mut variables, mut initial) = (Vec::new(), Vec::new());
        for variable in &symbols.variables {
            variables.push((initial.len(), variable.sizes.clone()));
            initial.extend(variable.initial.iter().map(|&value| (!variable.is_any).then(|| vec![value])));
        }
        Self { variables, initial, shared: FxHashSet::default(), states: FxHashMap::default(), changed: false }
    }

    /// An exploration begins.
    pub(super) fn begin(&mut self) {
        self.states.clear();
        self.changed = false;
    }

    /// Whether variables turned out to be assigned by several processes.
    pub(super) fn has_changed(&self) -> bool {
        self.changed
    }

    /// The values of the initial state.
    pub(super) fn initial(&self) -> State {
        let mut state = self.initial.clone();
        for &variable in &self.shared {
            self.forget(variable, &mut state);
        }
        state
    }

    pub(super) fn at(&self, component: usize, location: usize) -> Option<&State> {
        self.states.get(&(component, location))
    }

    /// A process that is not asserted about takes a step.
    pub(super) fn share(&mut self, step: &Step) {
        for action in &step.actions {
            let Action::Block(statements) = action else { continue };
            let mut assigned = Vec::new();
            assigned_in(statements, &mut assigned);
            for variable in assigned {
                self.changed |= self.shared.insert(variable);
            }
        }
    }

    /// A position is reached with these values; whether some of them are new there.
    pub(super) fn reach(&mut self, component: usize, location: usize, state: State) -> bool {
        match self.states.get_mut(&(component, location)) {
            None => {
                self.states.insert((component, location), state);
                true
            }
            Some(known) => join(known, &state),
        }
    }

    /// The values after a step, unless it is impossible with those before it.
    pub(super) fn after(&self, state: &State, step: &Step) -> Option<State> {
        let mut captured = Vec::new();
        for (number, origin) in &step.captured {
            let values = match origin {
                Origin::Value(value) => Context { known: self, captured: &captured }.values(value, state),
                Origin::Message(_) => None,
            };
            captured.push((*number, values));
        }
        let context = Context { known: self, captured: &captured };
        let mut state = state.clone();
        for guard in &step.guards {
            context.assume(guard, &mut state)?;
        }
        for action in &step.actions {
            if let Action::Block(statements) = action {
                context.execute(statements, &mut state);
            }
        }
        Some(state)
    }

    fn forget(&self, variable: usize, state: &mut State) {
        let (first, sizes) = &self.variables[variable];
        let count = sizes.iter().product::<i64>() as usize;
        state[*first..first + count].fill(None);
    }

    /// The cell with these indices, if it exists.
    fn cell(&self, variable: usize, indices: &[i64]) -> Option<usize> {
        let (first, sizes) = &self.variables[variable];
        let mut cell = 0;
        for (&index, &size) in indices.iter().zip(sizes) {
            if !(0..size).contains(&index) {
                return None;
            }
            cell = cell * size + index;
        }
        (indices.len() == sizes.len()).then_some(first + cell as usize)
    }
}

/// Adds values to a state; whether some are new.
fn join(known: &mut State, other: &State) -> bool {
    let mut changed = false;
    for (known, other) in known.iter_mut().zip(other) {
        let Some(values) = known else { continue };
        let joined = other.as_ref().and_then(|other| few(values.iter().chain(other).copied()));
        if joined.as_ref() != Some(&*values) {
            *known = joined;
            changed = true;
        }
    }
    changed
}

/// Values in order, if they are few.
fn few(values: impl Iterator<Item = i64>) -> Values {
    let mut few: Vec<i64> = Vec::new();
    for value in values {
        if let Err(position) = few.binary_search(&value) {
            if few.len() == VALUE_LIMIT {
                return None;
            }
            few.insert(position, value);
        }
    }
    Some(few)
}

fn assigned_in(statements: &[Statement], assigned: &mut Vec<usize>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(variable, ..) => assigned.push(*variable),
            StatementKind::If(_, then, otherwise) => {
                assigned_in(then, assigned);
                assigned_in(otherwise, assigned);
            }
            StatementKind::While(_, body) => assigned_in(body, assigned),
            StatementKind::AssignLocal(..) | StatementKind::Declare(..) | StatementKind::Require(..) => {}
        }
    }
}

impl Context<'_> {
    fn values(&self, value: &Value, state: &State) -> Values {
        match value {
            Value::Number(_) | Value::Truth(_) => value.constant().map(|value| vec![value]),
            Value::Captured(number) => self.captured.iter().find(|(it, _)| it == number)?.1.clone(),
            Value::Global(variable, indices, _) => {
                let cells = self.cells(*variable, indices, state)?;
                let mut all = Vec::new();
                for cell in cells {
                    all.extend(state[cell].as_ref()?);
                }
                few(all.into_iter())
            }
            Value::Unary(operator, inner) => {
                let inner = self.values(inner, state)?;
                let images = inner.into_iter().map(|it| unary(*operator, Value::Number(it)).constant());
                few(images.collect::<Option<Vec<i64>>>()?.into_iter())
            }
            Value::Binary(operator, left, right) => {
                let left = self.values(left, state);
                // A connective may be decided by one side.
                if let Some([one]) = left.as_deref()
                    && let Some(value) = binary(*operator, Value::Number(*one), Value::Register(0)).constant()
                {
                    return Some(vec![value]);
                }
                let right = self.values(right, state);
                let mut images = Vec::new();
                for one in left? {
                    for &other in right.as_ref()? {
                        images.push(binary(*operator, Value::Number(one), Value::Number(other)).constant()?);
                    }
                }
                few(images.into_iter())
            }
            Value::Bound(_) | Value::Register(_) | Value::Local(..) | Value::Queue(..) => None,
        }
    }

    /// The cells that indices can mean.
    fn cells(&self, variable: usize, indices: &[Value], state: &State) -> Option<Vec<usize>> {
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        for index in indices {
            let values = self.values(index, state)?;
            let with = |value: &i64, so_far: &Vec<i64>| so_far.iter().copied().chain([*value]).collect();
            all = all.iter().flat_map(|so_far| values.iter().map(move |value| with(value, so_far))).collect();
            if all.len() > VALUE_LIMIT {
                return None;
            }
        }
        // What is outside of an array is an error at run time.
        Some(all.iter().filter_map(|indices| self.known.cell(variable, indices)).collect())
    }

    /// Leaves the values with which a condition can be true; none if it cannot.
    fn assume(&self, condition: &Value, state: &mut State) -> Option<()> {
        let is_possible = |state: &State| self.values(condition, state).is_none_or(|it| it.iter().any(|&it| it != 0));
        if !is_possible(state) {
            return None;
        }
        let mut mentioned = Vec::new();
        self.mentioned(condition, state, &mut mentioned);
        for cell in mentioned {
            let Some(values) = state[cell].take() else { continue };
            let mut left = Vec::new();
            for value in values {
                state[cell] = Some(vec![value]);
                if is_possible(state) {
                    left.push(value);
                }
            }
            state[cell] = Some(left);
        }
        Some(())
    }

    /// The cells that a value mentions with known indices, each with several values.
    fn mentioned(&self, value: &Value, state: &State, cells: &mut Vec<usize>) {
        match value {
            Value::Global(variable, indices, _) => {
                if let Some([cell]) = self.cells(*variable, indices, state).as_deref()
                    && state[*cell].as_ref().is_some_and(|values| values.len() > 1)
                    && !cells.contains(cell)
                {
                    cells.push(*cell);
                }
            }
            Value::Unary(_, inner) => self.mentioned(inner, state, cells),
            Value::Binary(_, left, right) => {
                self.mentioned(left, state, cells);
                self.mentioned(right, state, cells);
            }
            _ => {}
        }
    }

    fn execute(&self, statements: &[Statement], state: &mut State) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(variable, indices, value) => self.assign(*variable, indices, value, state),
                StatementKind::If(condition, then, otherwise) => {
                    let values = self.values(condition, state);
                    let mut other = state.clone();
                    self.execute(then, state);
                    self.execute(otherwise, &mut other);
                    match values.as_deref() {
                        Some([0]) => *state = other,
                        Some([_]) => {}
                        _ => {
                            join(state, &other);
                        }
                    }
                }
                StatementKind::While(_, body) => {
                    let mut assigned = Vec::new();
                    assigned_in(body, &mut assigned);
                    assigned.into_iter().for_each(|variable| self.known.forget(variable, state));
                }
                StatementKind::AssignLocal(..) | StatementKind::Declare(..) | StatementKind::Require(..) => {}
            }
        }
    }

    fn assign(&self, variable: usize, indices: &[Value], value: &Value, state: &mut State) {
        if self.known.shared.contains(&variable) {
            return;
        }
        let values = self.values(value, state);
        match self.cells(variable, indices, state).as_deref() {
            Some([cell]) => state[*cell] = values,
            Some(cells) => {
                for &cell in cells {
                    let both = state[cell].as_ref().zip(values.as_ref());
                    state[cell] = both.and_then(|(known, new)| few(known.iter().chain(new).copied()));
                }
            }
            None => self.known.forget(variable, state),
        }
    }
}
