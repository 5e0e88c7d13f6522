//! A formula as clauses of a solver. Each frame is a copy of the formula with variables of its own, made as far as it is
//! needed; a frame whose inputs are outputs of another one is the next state of an unrolling.

use quotient_ir::Interrupt;
use rustc_hash::FxHashMap;
use rustsat::solvers::{Solve, SolveIncremental, SolverResult};
use rustsat::types::{Lit, TernaryVal};

use crate::formula::{Bit, Formula, Gate};
use quotient_search::StopReason;

/// An estimate of the bytes that a variable and a literal of a clause take in the solver.
const VARIABLE_BYTES: u64 = 160;
const LITERAL_BYTES: u64 = 24;

#[cfg(not(feature = "cadical"))]
type Solver = rustsat_batsat::BasicSolver;
#[cfg(feature = "cadical")]
type Solver = rustsat_cadical::CaDiCaL<'static, 'static>;

/// A solver that gives up once the interrupt is raised.
#[cfg(not(feature = "cadical"))]
fn solver(interrupt: Interrupt) -> Solver {
    let mut solver = Solver::default();
    solver.batsat_mut().cb_mut().set_stop(move || interrupt.is_raised());
    solver
}

/// A solver that gives up once the interrupt is raised.
#[cfg(feature = "cadical")]
fn solver(interrupt: Interrupt) -> Solver {
    use rustsat::solvers::{ControlSignal, Terminate};

    let mut solver = Solver::default();
    solver.attach_terminator(move || match interrupt.is_raised() {
        true => ControlSignal::Terminate,
        false => ControlSignal::Continue,
    });
    solver
}

/// The work was interrupted, or there is no memory for more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halted {
    /// The interrupt was raised.
    Interrupted,
    /// More memory would be needed than is allowed.
    Memory,
    /// For this reason.
    Stopped(StopReason),
}

/// What limits a solver.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) interrupt: Interrupt,
    pub(crate) bytes: u64,
}

/// A solver with copies of a formula.
pub(crate) struct Clauses<'f> {
    formula: &'f Formula,
    solver: Solver,
    limits: Limits,
    variables: u32,
    literals: u64,
    /// A literal that is true.
    truth: Lit,
    /// Conjunctions that were made before.
    known: FxHashMap<(Lit, Lit), Lit>,
}

/// A copy of a formula: the literal of each of its nodes, where there is one so far.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    literals: Vec<Option<Lit>>,
}

impl Frame {
    /// Sets the literal of an input.
    pub(crate) fn set(&mut self, input: Bit, literal: Lit) {
        self.literals[input.node()] = Some(if input.is_negated() { !literal } else { literal });
    }

    /// The literal of a node, if the frame has one.
    pub(crate) fn known(&self, bit: Bit) -> Option<Lit> {
        let literal = self.literals[bit.node()]?;
        Some(if bit.is_negated() { !literal } else { literal })
    }
}

impl<'f> Clauses<'f> {
    /// A solver without clauses.
    pub(crate) fn new(formula: &'f Formula, limits: &Limits) -> Self {
        let solver = solver(limits.interrupt.clone());
        let truth = Lit::positive(0);
        let known = FxHashMap::default();
        let mut clauses = Self { formula, solver, limits: limits.clone(), variables: 1, literals: 0, truth, known };
        clauses.add(&[truth]);
        clauses
    }

    /// A frame without variables yet.
    pub(crate) fn frame(&self) -> Frame {
        let mut literals = vec![None; self.formula.gates().len()];
        literals[0] = Some(!self.truth);
        Frame { literals }
    }

    /// A literal that is true.
    pub(crate) fn truth(&self) -> Lit {
        self.truth
    }

    /// A new variable.
    pub(crate) fn variable(&mut self) -> Lit {
        self.variables += 1;
        Lit::positive(self.variables - 1)
    }

    /// Adds a clause.
    pub(crate) fn add(&mut self, clause: &[Lit]) {
        self.literals += clause.len() as u64;
        let clause: rustsat::types::Clause = clause.iter().copied().collect();
        self.solver.add_clause(clause).expect("this solver takes clauses at any time");
    }

    /// The bytes that all this takes, as an estimate.
    pub(crate) fn bytes(&self) -> u64 {
        VARIABLE_BYTES * u64::from(self.variables) + LITERAL_BYTES * self.literals
    }

    fn conjunction(&mut self, left: Lit, right: Lit) -> Lit {
        let (left, right) = if left < right { (left, right) } else { (right, left) };
        let falsity = !self.truth;
        match () {
            () if left == falsity || right == falsity || left == !right => return falsity,
            () if left == self.truth || left == right => return right,
            () if right == self.truth => return left,
            () => {}
        }
        if let Some(&known) = self.known.get(&(left, right)) {
            return known;
        }
        let both = self.variable();
        self.add(&[!both, left]);
        self.add(&[!both, right]);
        self.add(&[both, !left, !right]);
        self.known.insert((left, right), both);
        both
    }

    /// The literal of a function in a frame.
    pub(crate) fn literal(&mut self, frame: &mut Frame, bit: Bit) -> Lit {
        let formula = self.formula;
        let mut pending = vec![bit.node()];
        while let Some(&node) = pending.last() {
            if frame.literals[node].is_some() {
                pending.pop();
                continue;
            }
            let literal = match formula.gates()[node] {
                Gate::False => !self.truth,
                Gate::Input => self.variable(),
                Gate::And(left, right) => match (frame.known(left), frame.known(right)) {
                    (Some(left), Some(right)) => self.conjunction(left, right),
                    (known, other) => {
                        pending.extend(known.is_none().then_some(left.node()));
                        pending.extend(other.is_none().then_some(right.node()));
                        continue;
                    }
                },
            };
            frame.literals[node] = Some(literal);
            pending.pop();
        }
        frame.known(bit).expect("it was made")
    }

    /// Whether all clauses can be true together with some literals.
    ///
    /// # Errors
    /// If that was not decided.
    pub(crate) fn is_satisfiable(&mut self, assumed: &[Lit]) -> Result<bool, Halted> {
        if self.bytes() > self.limits.bytes {
            return Err(Halted::Memory);
        }
        match self.solver.solve_assumps(assumed) {
            Ok(SolverResult::Sat) => Ok(true),
            Ok(SolverResult::Unsat) => Ok(false),
            Ok(SolverResult::Interrupted) => Err(Halted::Interrupted),
            Err(_) => Err(Halted::Memory),
        }
    }

    /// The value of a literal in the solution; arbitrary if it has none. No clause was added since it was found.
    pub(crate) fn value(&self, literal: Lit) -> bool {
        let value = self.solver.lit_val(literal.var().pos_lit()).expect("there is a solution");
        let is_true = value == TernaryVal::True;
        is_true != literal.is_neg()
    }

    /// Those of the assumed literals that cannot be true together.
    pub(crate) fn core(&mut self, assumed: &[Lit]) -> Vec<Lit> {
        let core = self.solver.core().expect("there is a core after a contradiction");
        let mut variables: Vec<u32> = core.iter().map(|literal| literal.vidx32()).collect();
        variables.sort_unstable();
        assumed.iter().copied().filter(|literal| variables.binary_search(&literal.vidx32()).is_ok()).collect()
    }
}
