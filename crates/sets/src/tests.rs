//! Operations on diagrams against truth tables.

use crate::diagrams::{Diagrams, Replacement, Set};
use quotient_booleans::Logic;

/// The number of variables: a truth table is one word.
const VARIABLES: u32 = 6;

/// The truth table of a variable.
fn variable(number: u32) -> u64 {
    (0..64).filter(|row| row >> number & 1 == 1).fold(0, |table, row| table | 1 << row)
}

/// The set with a truth table.
fn set(diagrams: &mut Diagrams, table: u64) -> Set {
    let mut rows = Vec::new();
    for row in (0..64).filter(|row| table >> row & 1 == 1) {
        let mut literals = Vec::new();
        for number in 0..VARIABLES {
            let literal = diagrams.variable(number).clone();
            literals.push(if row >> number & 1 == 1 { literal } else { diagrams.not(&literal).expect("room") });
        }
        rows.push(diagrams.all(literals).expect("room"));
    }
    diagrams.any(rows).expect("room")
}

/// A truth table with some variables quantified.
fn quantified(mut table: u64, numbers: &[u32]) -> u64 {
    for &number in numbers {
        let (high, shift) = (table & variable(number), 1 << number);
        let low = table & !variable(number);
        table = high | low | high >> shift | low << shift;
    }
    table
}

#[test]
fn diagrams_are_truth_tables() {
    let diagrams = &mut Diagrams::new(VARIABLES, 1 << 20).expect("room");
    let mut word = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word
    };
    for _ in 0..200 {
        let (a, b, c) = (random(), random(), random() & random());
        let [x, y, z] = [a, b, c].map(|table| set(diagrams, table));
        let same = |diagrams: &mut Diagrams, found: Set, table: u64, what: &str| {
            assert!(found == set(diagrams, table), "{what} of {a:x}, {b:x} and {c:x}");
        };
        let found = diagrams.common(&x, &y).expect("room");
        same(diagrams, found, a & b, "the common part");
        let found = diagrams.union(&x, &y).expect("room");
        same(diagrams, found, a | b, "the union");
        let found = diagrams.without(&x, &y).expect("room");
        same(diagrams, found, a & !b, "the difference");
        let found = diagrams.xor(&x, &y).expect("room");
        same(diagrams, found, a ^ b, "the exclusive disjunction");
        let found = diagrams.equal(&x, &y).expect("room");
        same(diagrams, found, !(a ^ b), "the equality");
        let found = diagrams.choose(&x, &y, &z).expect("room");
        same(diagrams, found, a & b | !a & c, "the choice");
        let quantifies: Vec<u32> = (0..VARIABLES).filter(|number| random() >> number & 1 == 1).collect();
        let cube = diagrams.cube(quantifies.clone()).expect("room");
        let found = diagrams.exists(&z, &cube).expect("room");
        same(diagrams, found, quantified(c, &quantifies), "the projection");
        let found = diagrams.product(&x, &z, &cube).expect("room");
        same(diagrams, found, quantified(a & c, &quantifies), "the product");
        // Variable 0 becomes `y`, and variable 3 becomes variable 1, at once.
        let third = diagrams.variable(1).clone();
        let found = diagrams.replaced(&x, &Replacement::new(vec![0, 3], vec![y.clone(), third])).expect("room");
        let replaced = (0..64u64).filter(|row| {
            let row = row & !0b1001 | (b >> row & 1) | (row >> 1 & 1) << 3;
            a >> row & 1 == 1
        });
        same(diagrams, found, replaced.fold(0, |table, row| table | 1 << row), "the replacement");
        assert_eq!(diagrams.count(&x), a.count_ones().into());
        match diagrams.pick(&z) {
            Some(picked) => {
                let row = picked.iter().rev().fold(0, |row, &bit| row << 1 | u64::from(bit));
                assert_eq!(c >> row & 1, 1, "what is picked is in the set");
            }
            None => assert_eq!(c, 0),
        }
        assert_eq!(diagrams.meet(&x, &z), Ok(a & c != 0));
    }
}

#[test]
fn too_little_room_is_a_result() {
    let diagrams = &mut Diagrams::new(64, 1).expect("the variables fit");
    // The sum of products in the worst order has 2^32 nodes.
    let mut all = diagrams.empty().clone();
    let mut result = Ok(());
    for number in 0..32 {
        let (one, other) = (diagrams.variable(number).clone(), diagrams.variable(number + 32).clone());
        match diagrams.common(&one, &other).and_then(|both| diagrams.union(&all, &both)) {
            Ok(union) => all = union,
            Err(full) => {
                result = Err(full);
                break;
            }
        }
    }
    assert_eq!(result, Err(quotient_booleans::Full));
}
