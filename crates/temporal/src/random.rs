//! Seeded random formulas and words, for tests and benches here and elsewhere.

use crate::formula::{Atom, Formula, Formulas, PathQuantifier};
use crate::lasso::Lasso;

/// A seeded stream of numbers (SplitMix64, Steele, Lea and Flood 2014), the same on every platform.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
    /// A number below a bound, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.number()) * bound as u128) >> 64) as usize
    }
}

/// What random formulas look like.
#[derive(Clone, Debug)]
pub struct FormulaShape {
    /// How many atoms there are, numbered from 0.
    pub atoms: usize,
    /// The number of operators and leaves.
    pub size: usize,
    /// Whether there is `X`.
    pub next: bool,
    /// Whether there are operators of the past.
    pub past: bool,
    /// Whether there are path quantifiers.
    pub paths: bool,
}

impl FormulaShape {
    /// LTL of the future.
    pub fn future(atoms: usize, size: usize) -> Self {
        Self { atoms, size, next: true, past: false, paths: false }
    }
    /// LTL of the future and the past.
    pub fn with_past(atoms: usize, size: usize) -> Self {
        Self { past: true, ..Self::future(atoms, size) }
    }
}

/// A random formula. Constructors fold constants, so it may be smaller than asked for.
pub fn random_formula(pool: &mut Formulas, random: &mut Random, shape: &FormulaShape) -> Formula {
    build(pool, random, shape, shape.size)
}

fn build(pool: &mut Formulas, random: &mut Random, shape: &FormulaShape, size: usize) -> Formula {
    if size <= 1 {
        let choice = random.below(shape.atoms * 6 + 1);
        return if choice == 0 {
            pool.constant(random.below(2) == 0)
        } else {
            pool.atom(Atom(((choice - 1) % shape.atoms) as u32))
        };
    }
    let binary = size > 2 && random.below(3) > 0;
    if binary {
        let left = 1 + random.below(size - 2);
        let a = build(pool, random, shape, left);
        let b = build(pool, random, shape, size - 1 - left);
        match random.below(if shape.past { 12 } else { 9 }) {
            0 | 1 => pool.and([a, b]),
            2 | 3 => pool.or([a, b]),
            4 => pool.until(a, b),
            5 => pool.release(a, b),
            6 => pool.weak_until(a, b),
            7 => pool.strong_release(a, b),
            8 => {
                if random.below(2) == 0 {
                    pool.implies(a, b)
                } else {
                    pool.equivalent(a, b)
                }
            }
            9 | 10 => pool.since(a, b),
            _ => pool.triggered(a, b),
        }
    } else {
        let a = build(pool, random, shape, size - 1);
        let choices = 4 + if shape.past { 4 } else { 0 } + if shape.paths { 2 } else { 0 };
        match random.below(choices) {
            0 => pool.not(a),
            1 => pool.eventually(a),
            2 => pool.always(a),
            3 if shape.next => pool.next(a),
            3 => pool.not(a),
            4 if shape.past => pool.yesterday(a),
            5 if shape.past => pool.weak_yesterday(a),
            6 if shape.past => pool.once(a),
            7 if shape.past => pool.historically(a),
            even if even % 2 == 0 => pool.path(PathQuantifier::All, a),
            _ => pool.path(PathQuantifier::Some, a),
        }
    }
}

/// A random word: up to four letters before the cycle, up to four in it.
pub fn random_lasso(random: &mut Random, atoms: usize) -> Lasso {
    let mut letters = |least: usize| {
        let length = least + random.below(5 - least);
        (0..length).map(|_| random.number() & ((1 << atoms) - 1)).collect()
    };
    Lasso { prefix: letters(0), cycle: letters(1) }
}
