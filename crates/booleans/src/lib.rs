//! A model as Boolean functions of bits: what decision diagrams and solvers work on. Knows no engine.
//!
//! [`Encoding`] says which bits a slot has, [`Translator`] turns the functions of a model (the `functions` crate) into
//! functions of these bits, and [`Steps`] has those of all instances. How a Boolean function is represented is the
//! business of a [`Logic`]: a diagram, or a literal of a formula.
//!
//! The functions of a model are exact on its reachable states only, and some codes stand for no value. So the
//! functions of bits describe a system that agrees with the model on reachable states, and does something fixed
//! elsewhere. Whatever is inductive in that system holds in all reachable states of the model.

mod encoding;
mod numbers;
mod steps;
mod translator;

#[cfg(test)]
mod tests;

pub use encoding::{Code, Encoding};
pub use steps::{Condition, Refusal, Step, Steps};
pub use translator::Translator;

/// There is no room for another function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no room for another function")]
pub struct Full;

/// A representation of Boolean functions.
pub trait Logic {
    /// A function.
    type Bit: Clone;
    /// The constant function.
    fn constant(&self, value: bool) -> Self::Bit;
    /// The value of a function that is known to be constant.
    fn known(&self, bit: &Self::Bit) -> Option<bool>;
    /// Negation.
    fn not(&mut self, bit: &Self::Bit) -> Result<Self::Bit, Full>;
    /// Conjunction.
    fn and(&mut self, left: &Self::Bit, right: &Self::Bit) -> Result<Self::Bit, Full>;
    /// Disjunction.
    fn or(&mut self, left: &Self::Bit, right: &Self::Bit) -> Result<Self::Bit, Full>;
    /// Exclusive disjunction.
    fn xor(&mut self, left: &Self::Bit, right: &Self::Bit) -> Result<Self::Bit, Full>;
    /// One function where a condition holds, another one elsewhere.
    fn choose(&mut self, condition: &Self::Bit, then: &Self::Bit, otherwise: &Self::Bit) -> Result<Self::Bit, Full>;

    /// The conjunction of many, joined in pairs.
    fn all(&mut self, bits: Vec<Self::Bit>) -> Result<Self::Bit, Full> {
        let unit = self.constant(true);
        joined(bits, unit, |left, right| self.and(left, right))
    }
    /// The disjunction of many, joined in pairs.
    fn any(&mut self, bits: Vec<Self::Bit>) -> Result<Self::Bit, Full> {
        let unit = self.constant(false);
        joined(bits, unit, |left, right| self.or(left, right))
    }
}

/// Joins neighbours until one is left, which keeps intermediate results small.
fn joined<B: Clone>(mut bits: Vec<B>, unit: B, mut join: impl FnMut(&B, &B) -> Result<B, Full>) -> Result<B, Full> {
    while bits.len() > 1 {
        let mut next = Vec::with_capacity(bits.len().div_ceil(2));
        for pair in bits.chunks(2) {
            next.push(match pair {
                [left, right] => join(left, right)?,
                single => single[0].clone(),
            });
        }
        bits = next;
    }
    Ok(bits.pop().unwrap_or(unit))
}
