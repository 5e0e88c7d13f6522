// Clients that may be exchanged, as a person would write it: what a client has is numbered when it is met first, the
// numbers lie in the bytes of a word, and the word is kept sorted, so that a client that changes is moved to its new
// place with a few instructions. Included by the models beside it.

const LANES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = LANES << 7;

/// What clients have, and its numbers. The number of what was met first is 0.
struct Clients {
    numbers: Vec<u8>,
    contents: Vec<u64>,
}

const UNKNOWN: u8 = u8::MAX;

impl Clients {
    fn new(bits: u32, first: u64) -> Self {
        let mut clients = Self { numbers: vec![UNKNOWN; 1 << bits], contents: Vec::new() };
        clients.number(first);
        clients
    }
    #[inline]
    fn number(&mut self, contents: u64) -> u64 {
        let number = self.numbers[contents as usize];
        if number == UNKNOWN { self.add(contents) } else { u64::from(number) }
    }
    #[cold]
    fn add(&mut self, contents: u64) -> u64 {
        // The highest bit of each byte is free for comparisons.
        assert!(self.contents.len() < 128, "more than 128 clients differ");
        let number = self.contents.len();
        self.numbers[contents as usize] = number as u8;
        self.contents.push(contents);
        number as u64
    }
    #[inline]
    fn contents(&self, number: u64) -> u64 {
        self.contents[number as usize]
    }
}

/// The lowest `lanes` bytes.
#[inline]
fn low(lanes: u64) -> u64 {
    (1 << (8 * lanes)) - 1
}

#[inline]
fn lane(word: u64, lane: u64) -> u64 {
    word >> (8 * lane) & 127
}

#[inline]
fn remove(sorted: u64, lane: u64) -> u64 {
    let below = low(lane);
    sorted & below | sorted >> 8 & !below
}

/// Inserts a number behind all greater ones. Bytes that are not used are 0, so they stay at the end.
#[inline]
fn insert(sorted: u64, number: u64) -> u64 {
    let greater = ((sorted | HIGHS) - (number + 1) * LANES) & HIGHS;
    let lane = u64::from(greater.count_ones());
    let below = low(lane);
    sorted & below | number << (8 * lane) | (sorted & !below) << 8
}

/// Every number replaced by another, sorted again.
#[inline]
fn replace_all(sorted: u64, lanes: u64, mut by: impl FnMut(u64) -> u64) -> u64 {
    (0..lanes).fold(0, |result, at| insert(result, by(lane(sorted, at))))
}

/// In how many orders numbers can lie.
fn orders(sorted: u64, lanes: u64) -> u64 {
    let mut orders = 1;
    let mut alike = 0;
    for at in 0..lanes {
        alike = if at > 0 && lane(sorted, at) == lane(sorted, at - 1) { alike + 1 } else { 1 };
        orders = orders * (at + 1) / alike;
    }
    orders
}
