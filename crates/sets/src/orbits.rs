//! The orbit relation of processes that are all alike, by itself: how large its diagram is (table 1 of Wahl, Donaldson
//! 2010).

use crate::diagrams::{Diagrams, Replacement};
use quotient_booleans::{Full, Logic};

/// The order of the bits of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrangement {
    /// Process by process.
    Concatenated,
    /// Bit by bit: the first bits of all processes, then their second ones, and so on.
    Interleaved,
}

/// The number of nodes, with the terminal, of the relation between states that are equal up to a permutation of
/// processes, each with so many bits. The bits of the two states are adjacent.
///
/// # Errors
/// If it takes more than the given number of bytes.
fn size(processes: u32, bits: u32, arrangement: Arrangement, bytes: u64) -> Result<usize, Full> {
    let mut diagrams = Diagrams::new(2 * processes * bits, bytes)?;
    let place = |process: u32, bit: u32| match arrangement {
        Arrangement::Concatenated => process * bits + bit,
        Arrangement::Interleaved => bit * processes + process,
    };
    let after = |process, bit| 2 * place(process, bit) + 1;
    let mut relation = diagrams.whole().clone();
    for variable in (0..processes * bits).rev() {
        let (one, other) = (diagrams.variable(2 * variable).clone(), diagrams.variable(2 * variable + 1).clone());
        let same = diagrams.equal(&one, &other)?;
        relation = diagrams.common(&same, &relation)?;
    }
    // Every permutation is a product of exchanges of a process with itself or an earlier one, a process at a time.
    for process in 1..processes {
        let mut joined = vec![relation.clone()];
        for earlier in 0..process {
            let exchanged = |own: u32, other: u32| {
                let pairs = (0..bits).map(move |bit| (after(own, bit), after(other, bit)));
                pairs.collect::<Vec<(u32, u32)>>()
            };
            let pairs = [exchanged(process, earlier), exchanged(earlier, process)].concat();
            let (from, to): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
            let to = to.into_iter().map(|variable| diagrams.variable(variable).clone()).collect();
            joined.push(diagrams.replaced(&relation, &Replacement::new(from, to))?);
        }
        relation = diagrams.any(joined)?;
    }
    Ok(diagrams.size(&relation))
}

/// Table 1 of Wahl, Donaldson 2010. The two largest rows are for `QUOTIENT_WHOLE_TABLE=1`.
#[test]
fn sizes_of_the_orbit_relation() {
    let rows = [
        (3, 2, 160, 131),
        (5, 2, 934, 2_373),
        (3, 3, 1_403, 363),
        (5, 3, 31_249, 40_655),
        (3, 4, 9_174, 601),
        (10, 2, 11_997, 2_341_690),
        (5, 4, 923_652, 113_101),
    ];
    let taken = if std::env::var_os("QUOTIENT_WHOLE_TABLE").is_none_or(|it| it == "0") { 5 } else { rows.len() };
    for (processes, bits, concatenated, interleaved) in rows.into_iter().take(taken) {
        let size = |arrangement| size(processes, bits, arrangement, 8 << 30).expect("there is memory");
        let sizes = (size(Arrangement::Concatenated), size(Arrangement::Interleaved));
        assert_eq!(sizes, (concatenated, interleaved), "{processes} processes of {bits} bits");
    }
}
