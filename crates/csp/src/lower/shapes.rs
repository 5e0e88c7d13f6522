//! Which values of a term are constants of the position, and which are held in registers.
//!
//! The *shape* of a term is the term without its values. Terms of one shape must agree on what is held in registers:
//! otherwise a term with a constant and the same term with that value in a register would be two positions. A value is
//! held in a register if it is not constant in some term of the shape, or if there are very many constants. Values that
//! are always equal share a register. This is found out step by step: where a term does not fit what was assumed about
//! its shape, the assumption is weakened and the exploration begins anew. Assumptions are only weakened, so this ends.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::substitution::{Bindings, Mapping, map_term};
use super::terms::{Term, Value};

/// A value with more constants than this in one component is held in a register.
const CONSTANT_LIMIT: usize = 64;

/// What stands for a value in a shape.
const HOLE: Value = Value::Register(u32::MAX);

/// How the values of a shape are represented: constants, or a register by its number.
type Assumption = Vec<Option<usize>>;

/// All shapes.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    numbers: FxHashMap<Rc<Term>, usize>,
    assumptions: Vec<Assumption>,
    /// The shapes that were used since the exploration began.
    used: FxHashSet<usize>,
    constants: FxHashMap<(usize, usize, usize), FxHashSet<i64>>,
    changed: bool,
}

impl Shapes {
    /// An exploration begins.
    pub(super) fn begin(&mut self) {
        self.used.clear();
        self.constants.clear();
        self.changed = false;
    }

    /// Whether something was represented differently before.
    pub(super) fn has_changed(&self) -> bool {
        self.changed
    }

    /// The position that a term is, and the values of its registers.
    pub(super) fn represent(&mut self, component: usize, term: &Rc<Term>) -> (Rc<Term>, Vec<Value>) {
        let mut holes = Holes { values: Vec::new() };
        let shape = map_term(term, &mut holes);
        let values = holes.values;
        let next = self.assumptions.len();
        let number = *self.numbers.entry(shape.clone()).or_insert(next);
        if number == next {
            self.assumptions.push(vec![None; values.len()]);
        }
        let mut assumption = self.assumptions[number].clone();
        if self.weaken(&mut assumption, &values, component, number) {
            self.assumptions[number] = assumption.clone();
            self.changed |= self.used.contains(&number);
        }
        self.used.insert(number);
        let mut registers = Vec::new();
        for (value, register) in values.iter().zip(&assumption) {
            if *register == Some(registers.len()) {
                registers.push(value.clone());
            }
        }
        let mut filling = Filling { values: &values, assumption: &assumption, position: 0 };
        (map_term(&shape, &mut filling), registers)
    }

    /// Makes an assumption fit values; whether it had to change.
    fn weaken(&mut self, assumption: &mut Assumption, values: &[Value], component: usize, shape: usize) -> bool {
        // For each value: the register it had, and what distinguishes it from others there.
        let mut keys: Vec<Option<(Option<usize>, Value)>> = Vec::with_capacity(values.len());
        for (position, (value, register)) in values.iter().zip(assumption.iter()).enumerate() {
            let is_varying = match (register, value.constant()) {
                (None, Some(constant)) => {
                    let all = self.constants.entry((component, shape, position)).or_default();
                    all.insert(constant);
                    all.len() > CONSTANT_LIMIT
                }
                _ => true,
            };
            let value = value.constant().map_or_else(|| value.clone(), Value::Number);
            keys.push(is_varying.then_some((*register, value)));
        }
        let mut groups: Vec<&(Option<usize>, Value)> = Vec::new();
        let mut weaker = Vec::with_capacity(values.len());
        for key in &keys {
            weaker.push(key.as_ref().map(|key| {
                groups.iter().position(|known| *known == key).unwrap_or_else(|| {
                    groups.push(key);
                    groups.len() - 1
                })
            }));
        }
        let changed = weaker != *assumption;
        *assumption = weaker;
        changed
    }
}

/// Replaces all values that do not depend on the state by holes.
struct Holes {
    values: Vec<Value>,
}

impl Mapping for Holes {
    fn image(&mut self, value: &Value) -> Option<Value> {
        let is_closed = value.constant().is_some() || value.is_fixed();
        is_closed.then(|| {
            self.values.push(value.clone());
            HOLE
        })
    }
    fn hide(&mut self, _: &str) -> Bindings {
        Vec::new()
    }
    fn restore(&mut self, _: Bindings) {}
}

/// Fills holes, in the same order.
struct Filling<'f> {
    values: &'f [Value],
    assumption: &'f Assumption,
    position: usize,
}

impl Mapping for Filling<'_> {
    fn image(&mut self, value: &Value) -> Option<Value> {
        if *value != HOLE {
            return None;
        }
        let position = self.position;
        self.position += 1;
        Some(match self.assumption[position] {
            Some(register) => Value::Register(register as u32),
            None => self.values[position].clone(),
        })
    }
    fn hide(&mut self, _: &str) -> Bindings {
        Vec::new()
    }
    fn restore(&mut self, _: Bindings) {}
}
