//! How many states of the model a state with counted objects represents: a multinomial coefficient for each family,
//! divided by the number of ways to exchange entities.

use std::borrow::Cow;

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use super::columns::Family;

/// The largest family for which this is computed: the numbers have as many digits as it has objects, and more.
const LARGEST: u64 = 2048;

/// Sizes of orbits.
pub(crate) struct Orbits {
    factorials: Vec<BigUint>,
    sizes: Vec<u64>,
    /// The products of multinomial coefficients that were computed.
    known: FxHashMap<Box<[u64]>, BigUint>,
    key: Vec<u64>,
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
        Some(Self { factorials, sizes, known: FxHashMap::default(), key: Vec::new() })
    }

    /// The number of states that differ from one by an exchange of objects.
    pub(crate) fn size(&mut self, counts: &[Vec<u64>], automorphisms: u64) -> Cow<'_, BigUint> {
        let Self { factorials, sizes, known, key } = self;
        key.clear();
        for counts in counts {
            let begin = key.len();
            key.extend(counts);
            key[begin..].sort_unstable();
            // No entity has so many objects, so this ends a family.
            key.push(u64::MAX);
        }
        if !known.contains_key(&key[..]) {
            let mut size = BigUint::from(1u32);
            for (counts, objects) in counts.iter().zip(sizes) {
                size *= &factorials[*objects as usize];
                counts.iter().filter(|count| **count > 1).for_each(|count| size /= &factorials[*count as usize]);
            }
            known.insert(key.as_slice().into(), size);
        }
        let size = &known[&key[..]];
        if automorphisms == 1 { Cow::Borrowed(size) } else { Cow::Owned(size / automorphisms) }
    }
}
