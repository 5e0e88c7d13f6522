//! A search written by hand for mutex_10: what a general tool is held against. Compile with `rustc -O`.

include!("frame.rs");

const N: u64 = 10;
/// Two bits for each program counter (T, W, C, X), then the lock and the last owner, four bits each (0: none).
const LOCK: u64 = 2 * N;
const LAST: u64 = LOCK + 4;

fn main() {
    let (states, steps) = Search::new().run(0, |state, successors| {
        let (lock, last) = (state >> LOCK & 15, state >> LAST & 15);
        for i in 0..N {
            let at = 2 * i;
            match state >> at & 3 {
                0 => successors.push(state + (1 << at)),
                1 if lock == 0 && last != i + 1 => successors.push(state + (1 << at) + ((i + 1) << LOCK)),
                2 => {
                    let rest = state & !(15 << LOCK) & !(15 << LAST);
                    successors.push(rest + (1 << at) + ((i + 1) << LAST));
                }
                3 => successors.push(state - (3 << at)),
                _ => {}
            }
        }
    });
    println!("{states} states, {steps} rules fired");
}
