//! A search up to the order of the clients, written by hand for bench/models/murphi/german_4.m: what a general tool is
//! held against. Compile with `rustc -O`; the argument is the number of clients, from 1 to 7.

include!("frame.rs");
include!("clients.rs");

/// What a client has: two bits for its cache and each of two channels, one for the third channel and each set.
const CACHE: u64 = 0;
const CHANNEL_1: u64 = 2;
const CHANNEL_2: u64 = 4;
const CHANNEL_3: u64 = 6;
const INVALIDATE_SET: u64 = 7;
const SHARER_SET: u64 = 8;
const CLIENT_BITS: u32 = 9;
/// Values of a cache, of the first channel and of the second, beside 0: invalid or empty.
const SHARED: u64 = 1;
const EXCLUSIVE: u64 = 2;
const INVALIDATE: u64 = 3;

/// Above the clients: the current command (0, shared or exclusive) and whether the line is granted exclusively. The
/// client that is served, `CurPtr`, lies in the last byte, the others are sorted; it is undefined without a command.
const COMMAND: u64 = 56;
const GRANTED: u64 = 58;

#[inline]
fn field(contents: u64, at: u64) -> u64 {
    contents >> at & 3
}

#[inline]
fn with(contents: u64, at: u64, value: u64) -> u64 {
    contents & !(3 << at) | value << at
}

fn main() {
    let size = std::env::args().nth(1).and_then(|argument| argument.parse().ok());
    let n: u64 = size.filter(|size| (1..=7).contains(size)).expect("the argument is a number of clients from 1 to 7");
    let last = n - 1;
    let mut clients = Clients::new(CLIENT_BITS, 0);
    let mut search = Search::new();
    let (states, steps) = search.run(0, |state, successors| {
        let (command, granted) = (state >> COMMAND & 3, state >> GRANTED & 1);
        let head = state & !low(7);
        // The clients in order, and who is served, at its place.
        let (sorted, served) =
            if command == 0 { (state & low(n), 0) } else { (state & low(last), state & !low(last) & low(n)) };
        // Who shares is to be invalidated: the same for whichever request is received.
        let mut listed = None;
        for at in 0..n {
            let is_served = command != 0 && at == last;
            let number = lane(state, at);
            let me = clients.contents(number);
            let others = if is_served { sorted } else { remove(sorted, at) };
            let mut step = |head: u64, me: u64| {
                let me = clients.number(me);
                successors.push(if is_served {
                    head | me << (8 * last) | others
                } else {
                    head | served | insert(others, me)
                });
            };
            let (cache, request, order) = (field(me, CACHE), field(me, CHANNEL_1), field(me, CHANNEL_2));
            let acknowledged = me >> CHANNEL_3 & 1 != 0;
            if request == 0 {
                if cache == 0 {
                    step(head, me | SHARED << CHANNEL_1);
                }
                if cache != EXCLUSIVE {
                    step(head, me | EXCLUSIVE << CHANNEL_1);
                }
            }
            match order {
                0 if me >> INVALIDATE_SET & 1 != 0 && (command == EXCLUSIVE || command == SHARED && granted != 0) => {
                    step(head, (me | INVALIDATE << CHANNEL_2) & !(1 << INVALIDATE_SET));
                }
                0 => {}
                INVALIDATE if acknowledged => {}
                INVALIDATE => step(head, with(with(me, CHANNEL_2, 0), CACHE, 0) | 1 << CHANNEL_3),
                grant => step(head, with(with(me, CHANNEL_2, 0), CACHE, grant)),
            }
            if command != 0 {
                if acknowledged {
                    step(head & !(1 << GRANTED), me & !(1 << CHANNEL_3 | 1 << SHARER_SET));
                }
                if is_served && order == 0 && granted == 0 {
                    let shares = |number: u64| clients.contents(number) >> SHARER_SET & 1 != 0;
                    if command == SHARED || (0..n).all(|at| !shares(lane(state, at))) {
                        let head = if command == EXCLUSIVE { 1 << GRANTED } else { 0 };
                        let me = clients.number(me | command << CHANNEL_2 | 1 << SHARER_SET);
                        successors.push(head | insert(sorted, me));
                    }
                }
            } else if request != 0 {
                let mut list = |number: u64| {
                    let contents = clients.contents(number);
                    let shares = contents >> SHARER_SET & 1;
                    clients.number(contents & !(1 << INVALIDATE_SET) | shares << INVALIDATE_SET)
                };
                let listed = *listed.get_or_insert_with(|| replace_all(sorted, n, &mut list));
                let me = list(number);
                let others = remove(listed, (0..n).find(|&at| lane(listed, at) == me).expect("it is listed"));
                let me = clients.number(with(clients.contents(me), CHANNEL_1, 0));
                successors.push(head | request << COMMAND | me << (8 * last) | others);
            }
        }
    });
    let represented: u64 = search
        .states
        .iter()
        .map(|&state| if state >> COMMAND & 3 == 0 { orders(state, n) } else { n * orders(state, last) })
        .sum();
    println!("{states} states, {steps} rules fired, {represented} represented");
}
