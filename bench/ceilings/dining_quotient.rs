//! A search up to rotation, written by hand for models/murphi/dining_philosophers.m: what a general tool is held
//! against. Compile with `rustc -O`; the argument is the number of philosophers, from 3 to 15.

include!("frame.rs");

/// Four bits for each philosopher: what it does, then whether the fork to its right is taken.
const TAKEN: u64 = 8;
/// A philosopher who has both forks.
const BOTH: u64 = 2;
/// One in the lowest bit of each philosopher.
const fn ones(n: u64) -> u64 {
    0x1111_1111_1111_1111 >> (64 - 4 * n)
}

/// The state in which everyone has the neighbour `by` seats away.
#[inline]
fn rotate<const N: u64>(state: u64, by: u64) -> u64 {
    state >> (4 * by) | state << (4 * (N - by)) & (15 * ones(N))
}

/// The least of all rotations.
#[inline]
fn representative<const N: u64>(state: u64) -> u64 {
    (1..N).fold(state, |least, by| least.min(rotate::<N>(state, by)))
}

fn search<const N: u64>() {
    let mut search = Search::new();
    let (states, steps) = search.run(0, |state, successors| {
        let doing = state & (7 * ones(N));
        let other = doing ^ (BOTH * ones(N));
        let both = !(other | other >> 1 | other >> 2) & ones(N);
        assert!(both & rotate::<N>(both, 1) == 0, "neighbours eat at the same time");
        for p in 0..N {
            let (at, left) = (4 * p, 4 * ((p + 1) % N));
            let next = match state >> at & 7 {
                0 if state >> at & TAKEN == 0 => state + ((1 + TAKEN) << at),
                1 if state >> left & TAKEN == 0 => state + (1 << at) + (TAKEN << left),
                2 => state + (1 << at),
                3 => state + (1 << at) - (TAKEN << at),
                4 => state - (4 << at) - (TAKEN << left),
                _ => continue,
            };
            successors.push(representative::<N>(next));
        }
    });
    // An orbit has as many states as rotations until the first that changes nothing.
    let represented: u64 =
        search.states.iter().map(|&state| (1..N).find(|&by| rotate::<N>(state, by) == state).unwrap_or(N)).sum();
    println!("{states} states, {steps} rules fired, {represented} represented");
}

fn main() {
    let size = std::env::args().nth(1).and_then(|argument| argument.parse().ok());
    match size {
        Some(3) => search::<3>(),
        Some(4) => search::<4>(),
        Some(5) => search::<5>(),
        Some(6) => search::<6>(),
        Some(7) => search::<7>(),
        Some(8) => search::<8>(),
        Some(9) => search::<9>(),
        Some(10) => search::<10>(),
        Some(11) => search::<11>(),
        Some(12) => search::<12>(),
        Some(13) => search::<13>(),
        Some(14) => search::<14>(),
        Some(15) => search::<15>(),
        _ => panic!("the argument is a number of philosophers from 3 to 15"),
    }
}
