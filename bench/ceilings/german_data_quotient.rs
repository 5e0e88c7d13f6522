//! A search up to the order of the caches and the names of the values, written by hand for models/murphi/german.m: what
//! a general tool is held against. Compile with `rustc -O`; the argument is the number of caches, from 1 to 7.

include!("frame.rs");
include!("clients.rs");

/// What a cache and its channels have, with what home knows about it. A value is 0 if it is the one written last, which
/// leaves no other name to choose; it is 0, too, where it is undefined for certain: without permission or grant.
const PERMISSION: u64 = 0;
const DATA: u64 = 2;
const REQUEST: u64 = 3;
const ORDER: u64 = 5;
const ORDER_DATA: u64 = 7;
const ACKNOWLEDGED: u64 = 8;
/// Two bits: 0 for undefined, otherwise one more than the value.
const REPLY_DATA: u64 = 9;
const HOLDER: u64 = 11;
const TO_INVALIDATE: u64 = 12;
const CLIENT_BITS: u32 = 13;
/// Permissions, requests and orders, beside 0: none.
const SHARED: u64 = 1;
const EXCLUSIVE: u64 = 2;
const INVALIDATE: u64 = 3;

/// Above the caches: what is served, whether the line is granted exclusively, and the value in memory. The client of
/// home lies in the last byte, the others are sorted; it is undefined if nothing is served.
const SERVING: u64 = 56;
const GRANTED: u64 = 58;
const MEMORY: u64 = 59;

#[inline]
fn field(contents: u64, at: u64) -> u64 {
    contents >> at & 3
}

#[inline]
fn without(contents: u64, at: u64) -> u64 {
    contents & !(3 << at)
}

/// The two values change their names.
fn exchange_values(contents: u64) -> u64 {
    let has_data = u64::from(field(contents, PERMISSION) != 0);
    let is_granted = u64::from(matches!(field(contents, ORDER), SHARED | EXCLUSIVE));
    let has_reply = if field(contents, REPLY_DATA) != 0 { 3 } else { 0 };
    contents ^ has_data << DATA ^ is_granted << ORDER_DATA ^ has_reply << REPLY_DATA
}

/// Fails unless a writer is alone and whoever may read reads what was written last.
#[inline]
fn check(clients: &Clients, state: u64, n: u64) {
    let (mut readers, mut writers, mut outdated) = (0, 0, 0);
    for at in 0..n {
        let contents = clients.contents(lane(state, at));
        readers += contents >> PERMISSION & 1;
        writers += contents >> (PERMISSION + 1) & 1;
        outdated |= contents >> DATA & 1;
    }
    assert!(writers == 0 || writers == 1 && readers == 0, "coherence is violated");
    assert!(outdated == 0 && (state >> GRANTED & 1 != 0 || state >> MEMORY & 1 == 0), "not the latest value");
}

fn main() {
    let size = std::env::args().nth(1).and_then(|argument| argument.parse().ok());
    let n: u64 = size.filter(|size| (1..=7).contains(size)).expect("the argument is a number of caches from 1 to 7");
    let last = n - 1;
    let mut clients = Clients::new(CLIENT_BITS, 0);
    let mut search = Search::new();
    let (states, steps) = search.run(0, |state, successors| {
        check(&clients, state, n);
        let (serving, granted, memory) = (state >> SERVING & 3, state >> GRANTED & 1, state >> MEMORY & 1);
        let head = state & !low(7);
        // The caches in order, and the client of home, at its place.
        let (sorted, client) =
            if serving == 0 { (state & low(n), 0) } else { (state & low(last), state & !low(last) & low(n)) };
        // Whoever holds a copy is to be invalidated: the same for whichever request is accepted.
        let mut listed = None;
        for at in 0..n {
            let is_client = serving != 0 && at == last;
            let number = lane(state, at);
            let me = clients.contents(number);
            let others = if is_client { sorted } else { remove(sorted, at) };
            let mut step = |head: u64, me: u64| {
                let me = clients.number(me);
                successors.push(if is_client {
                    head | me << (8 * last) | others
                } else {
                    head | client | insert(others, me)
                });
            };
            let (permission, request, order) = (field(me, PERMISSION), field(me, REQUEST), field(me, ORDER));
            let acknowledged = me >> ACKNOWLEDGED & 1 != 0;
            if request == 0 {
                if permission == 0 {
                    step(head, me | SHARED << REQUEST);
                }
                if permission != EXCLUSIVE {
                    step(head, me | EXCLUSIVE << REQUEST);
                }
            }
            match order {
                0 if me >> TO_INVALIDATE & 1 != 0 && (serving == EXCLUSIVE || serving == SHARED && granted != 0) => {
                    step(head, (me | INVALIDATE << ORDER) & !(1 << TO_INVALIDATE));
                }
                0 => {}
                INVALIDATE if acknowledged => {}
                INVALIDATE => {
                    let data = if permission == EXCLUSIVE { 1 + (me >> DATA & 1) } else { 0 };
                    let rest = without(without(me, ORDER), PERMISSION) & !(1 << DATA);
                    step(head, rest | 1 << ACKNOWLEDGED | data << REPLY_DATA);
                }
                grant => {
                    let data = me >> ORDER_DATA & 1;
                    let rest = without(without(me, ORDER), PERMISSION) & !(1 << DATA | 1 << ORDER_DATA);
                    step(head, rest | grant << PERMISSION | data << DATA);
                }
            }
            if serving != 0 && acknowledged {
                let rest = without(me, REPLY_DATA) & !(1 << ACKNOWLEDGED | 1 << HOLDER);
                if granted == 0 {
                    step(head, rest);
                } else {
                    let data = field(me, REPLY_DATA);
                    assert!(data != 0, "memory gets a value that is undefined");
                    step(head & !(1 << GRANTED | 1 << MEMORY) | (data - 1) << MEMORY, rest);
                }
            }
            if permission == EXCLUSIVE {
                // The value written last, and the other one, which exchanges the names of the values everywhere else.
                step(head, me & !(1 << DATA));
                let me = clients.number(exchange_values(me | 1 << DATA));
                let mut exchange = |number: u64| clients.number(exchange_values(clients.contents(number)));
                let count = if serving == 0 || is_client { last } else { last - 1 };
                let others = replace_all(others, count, &mut exchange);
                let head = head ^ 1 << MEMORY;
                successors.push(if is_client {
                    head | me << (8 * last) | others
                } else if serving == 0 {
                    head | insert(others, me)
                } else {
                    head | exchange(client >> (8 * last)) << (8 * last) | insert(others, me)
                });
            }
            if is_client && order == 0 && granted == 0 {
                let holds = |number: u64| clients.contents(number) >> HOLDER & 1 != 0;
                if serving == SHARED || (0..n).all(|at| !holds(lane(state, at))) {
                    let granted = u64::from(serving == EXCLUSIVE);
                    let me = clients.number(me | serving << ORDER | memory << ORDER_DATA | 1 << HOLDER);
                    successors.push(granted << GRANTED | memory << MEMORY | insert(sorted, me));
                }
            }
            if serving == 0 && request != 0 {
                let mut list = |number: u64| {
                    let contents = clients.contents(number);
                    let holds = contents >> HOLDER & 1;
                    clients.number(contents & !(1 << TO_INVALIDATE) | holds << TO_INVALIDATE)
                };
                let listed = *listed.get_or_insert_with(|| replace_all(sorted, n, &mut list));
                let me = list(number);
                let others = remove(listed, (0..n).find(|&at| lane(listed, at) == me).expect("it is listed"));
                let me = clients.number(without(clients.contents(me), REQUEST));
                successors.push(head | request << SERVING | me << (8 * last) | others);
            }
        }
    });
    // Either value may be the one written last.
    let represented: u64 = search
        .states
        .iter()
        .map(|&state| 2 * if state >> SERVING & 3 == 0 { orders(state, n) } else { n * orders(state, last) })
        .sum();
    println!("{states} states, {steps} rules fired, {represented} represented");
}
