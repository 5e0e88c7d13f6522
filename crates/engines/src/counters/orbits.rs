//! How many states of the model a state with counted objects represents: a multinomial coefficient for each family,
//! divided by the number of ways to exchange entities.

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use super::columns::Family;

/// The largest family for which this is computed: the numbers have as many digits as it has objects, and more.
const LARGEST: u64 = 2048;

/// Sizes of orbits.
pub(crate) struct Orbits {
    factorials: Vec<BigUint>,
    sizes: Vec<u64>,
    /// Multinomial coefficients that were computed.
    known: FxHashMap<Vec<u64>, BigUint>,
}

impl Orbits {
    /// None if families are too large.
    pub(crate) fn new(families: &[Family]) -> Option<Self> {
        let sizes: Vec<u64> = families.iter().map(|family| family.size).collect();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        if largest > LARGEST {
            return None;
        }
        let mut factorials = vec![BigUint::from(1u32)];
        for number in 1..=largest {
            let next = factorials.last().expect("there is one") * number;
            factorials.push(next);
        }
        Some(Self { factorials, sizes, known: FxHashMap::default() })
    }

    /// The number of states that differ from one by an exchange of objects.
    pub(crate) fn size(&mut self, counts: &[Vec<u64>], automorphisms: u64) -> BigUint {
        let mut size = BigUint::from(1u32);
        for (family, counts) in counts.iter().enumerate() {
            let mut key = counts.clone();
            key.sort_unstable();
            key.push(self.sizes[family]);
            let factorials = &self.factorials;
            let own = self.known.entry(key).or_insert_with_key(|key| {
                let (objects, counts) = key.split_last().expect("it has the size");
                let whole = factorials[*objects as usize].clone();
                counts.iter().filter(|count| **count > 1).fold(whole, |rest, count| rest / &factorials[*count as usize])
            });
            size *= &*own;
        }
        size / automorphisms
    }
}
