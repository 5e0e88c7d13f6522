//! A search written by hand for peterson_6: what a general tool is held against. Compile with `rustc -O`.

include!("frame.rs");

const N: u64 = 6;
/// For each process two bits of program counter and three of level; then three bits of victim for each level from 1
/// to N - 1 (0: none).
const LEVEL: u64 = 2 * N;
const VICTIM: u64 = LEVEL + 3 * N;

fn level(state: u64, i: u64) -> u64 {
    state >> (LEVEL + 3 * i) & 7
}

fn main() {
    let (states, steps) = Search::new().run(0, |state, successors| {
        for i in 0..N {
            let (at, own) = (2 * i, level(state, i));
            let victim = VICTIM + 3 * (own.max(1) - 1);
            match state >> at & 3 {
                0 => successors.push((state & !(7 << (LEVEL + 3 * i))) + (1 << (LEVEL + 3 * i)) + (1 << at)),
                1 => successors.push((state & !(7 << victim)) + ((i + 1) << victim) + (1 << at)),
                2 => {
                    if state >> victim & 7 != i + 1 || (0..N).all(|k| k == i || level(state, k) < own) {
                        if own < N - 1 {
                            successors.push(state + (1 << (LEVEL + 3 * i)) - (1 << at));
                        } else {
                            successors.push(state + (1 << at));
                        }
                    }
                }
                _ => successors.push((state & !(7 << (LEVEL + 3 * i))) - (3 << at)),
            }
        }
    });
    println!("{states} states, {steps} rules fired");
}
