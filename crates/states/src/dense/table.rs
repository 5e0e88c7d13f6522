//! A set of numbers that takes few bytes for each and forgets nothing.
//!
//! A number is permuted, so that similar ones are far apart. Some of the permuted bits say in which line of the table it
//! belongs, and need not be written there; the others are its entry (Cleary's compact hashing). An entry that finds its line full goes to one of the next, and a code in it says how far: so every entry can be
//! turned back into its number.
//!
//! The table consists of parts that grow one by one, by a half, and not at the same time.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use crate::numbers::Full;
use crate::pages::prefer_large;

/// Bytes of a line: two lines of the cache, which are next to each other. In one, too many entries would find no room.
const LINE: usize = 128;
/// The bits of an entry that say how far it is from its line. They come after its first byte, so that the first bytes of
/// entries differ as much as possible.
const CODE_BITS: u32 = 3;
/// One line farther, in these bits.
const ONE_LINE: u128 = 1 << 8;
/// How many lines an entry can be from its own.
const FARTHEST: usize = (1 << CODE_BITS) - 1;
/// The bits of a permuted number that say where it belongs in its part.
const TAG_BITS: u32 = 32;
/// The least number of bits of a number. Smaller ones are filled up.
pub(super) const LEAST_BITS: u32 = 40;
/// Lines of the smallest part.
const FIRST_LINES: usize = 16;
/// Bytes that a number outside of the lines takes, about.
const STRAY_BYTES: u64 = 40;

/// A number to store, in two pieces: only the first is permuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) main: u64,
    pub(super) rest: u64,
}

/// Where a number belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its entry there.
    entry: u128,
    part: u32,
    line: u32,
}

/// What is known of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// It is there.
    Stored,
    /// It is not there. Its entry would go to this position: a part, a line and the number of an entry in it, or
    /// [`ANYWHERE`].
    Vacant(u32),
}

/// A position that is not known.
pub(super) const ANYWHERE: u32 = u32::MAX;
/// The bits of a position for the number of an entry in its line.
const SLOT_BITS: u32 = 6;

/// A set of numbers.
#[derive(Debug)]
pub(super) struct Table {
    permutation: Permutation,
    /// The number of bits of the second piece.
    rest_bits: u32,
    parts: Vec<Part>,
    part_bits: u32,
    /// The total number of lines.
    lines: u64,
    /// Numbers that found no line.
    strays: FxHashSet<Key>,
    /// How often a part has grown.
    growths: u64,
}

/// Entries of numbers that begin with the same bits.
#[derive(Debug)]
struct Part {
    lines: Vec<Line>,
    form: Form,
    used: usize,
}

/// The number of entries, the first byte of each, and the other bytes of each: so a few words show which entries may be
/// the one that is looked for.
#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
struct Line([u8; LINE]);

/// How entries are written in a part of some size. From the lowest bit, without the code: the rank among the tags of the
/// same line, the bits of the permuted number below the tag, the second piece of the number.
#[derive(Clone, Copy, Debug)]
struct Form {
    lines: u64,
    /// The binary logarithm of the number of lines, rounded down.
    shift: u32,
    low_bits: u32,
    /// Bytes of an entry.
    stride: usize,
    /// Entries of a line.
    slots: usize,
    /// One divided by the number of lines, about.
    inverse: f64,
}

impl Form {
    fn new(lines: usize, low_bits: u32, rest_bits: u32) -> Self {
        let shift = lines.ilog2();
        let bits = CODE_BITS + TAG_BITS - shift + low_bits + rest_bits;
        let stride = (bits.div_ceil(8) as usize).max(3);
        Self { lines: lines as u64, shift, low_bits, stride, slots: slots(stride), inverse: 1.0 / lines as f64 }
    }
    /// The number of entries at which the part grows: so many that most are still in their own lines.
    #[inline]
    fn room(&self) -> usize {
        self.lines as usize * self.slots * 7 / 8
    }
    /// The line of a number, and its entry there.
    #[inline]
    fn place(&self, tag: u64, low: u64, rest: u64) -> (usize, u128) {
        let product = tag * self.lines;
        // Tags of the same line differ by at least so much that this distinguishes them.
        let rank = u64::from(product as u32) >> self.shift;
        let rank_bits = TAG_BITS - self.shift;
        let number = u128::from(rank | low << rank_bits) | u128::from(rest) << (rank_bits + self.low_bits);
        let entry = number & 0xff | number >> 8 << (8 + CODE_BITS);
        ((product >> TAG_BITS) as usize, entry)
    }
    /// The tag, the bits below and the second piece of a number, given its entry and the line where that is.
    #[inline]
    fn number(&self, line: usize, entry: u128) -> (u64, u64, u64) {
        let away = entry as u64 >> 8 & ones(CODE_BITS);
        let number = entry & 0xff | entry >> (8 + CODE_BITS) << 8;
        let line = line as u64 + if (line as u64) < away { self.lines } else { 0 } - away;
        let rank_bits = TAG_BITS - self.shift;
        let rank = number as u64 & ones(rank_bits);
        let low = (number >> rank_bits) as u64 & ones(self.low_bits);
        let rest = (number >> (rank_bits + self.low_bits)) as u64;
        // The least multiple of the number of lines from here on is that of the tag. A division would take longer.
        let least = line << TAG_BITS | rank << self.shift;
        let mut tag = (least as f64 * self.inverse) as u64;
        while tag * self.lines >= least + self.lines {
            tag -= 1;
        }
        while tag * self.lines < least {
            tag += 1;
        }
        (tag, low, rest)
    }
    #[inline]
    fn after(&self, line: usize) -> usize {
        if line as u64 + 1 == self.lines { 0 } else { line + 1 }
    }
}

/// How many entries of a number of bytes are in a line.
#[inline]
const fn slots(stride: usize) -> usize {
    (LINE - 1) / stride
}

/// The high bits of those bytes of a word that are zero.
#[inline(always)]
fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW) + LOW) | word | LOW)
}

/// Calls a function with the number of bytes of an entry as a constant, so that loops over a line are unrolled.
macro_rules! with_stride {
    ($stride:expr, $function:ident($($argument:expr),*)) => {
        with_stride!(@ $stride, $function, ($($argument),*), 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    (@ $stride:expr, $function:ident, $arguments:tt, $($number:literal)*) => {
        match $stride {
            $($number => with_stride!(! $function, $number, $arguments),)*
            _ => unreachable!("an entry has three to sixteen bytes"),
        }
    };
    (! $function:ident, $number:literal, ($($argument:expr),*)) => { $function::<$number>($($argument),*) };
}

impl Line {
    /// The eight bytes from a position on, as far as the line has them.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        let from = at.min(LINE - 8);
        let bytes: [u8; 8] = self.0[from..from + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes) >> (8 * (at - from))
    }
    /// The number of entries.
    #[inline(always)]
    fn count(&self) -> usize {
        usize::from(self.0[0])
    }
    /// The place of the bytes of an entry after its first.
    #[inline(always)]
    fn rest_of<const STRIDE: usize>(slot: usize) -> usize {
        1 + slots(STRIDE) + slot * (STRIDE - 1)
    }
    /// Looks for an entry, or else for room for it.
    #[inline(always)]
    fn look<const STRIDE: usize>(&self, entry: u128) -> Look {
        let count = self.count();
        let first_bytes = u64::from(entry as u8) * 0x0101_0101_0101_0101;
        for group in (0..slots(STRIDE)).step_by(8) {
            let mut hits = zero_bytes(self.word(1 + group) ^ first_bytes);
            while hits != 0 {
                // The last group may show bytes that are not the first ones of entries.
                let slot = group + hits.trailing_zeros() as usize / 8;
                if slot < count && self.rest::<STRIDE>(slot) == entry >> 8 {
                    return Look::Found;
                }
                hits &= hits - 1;
            }
        }
        if count < slots(STRIDE) { Look::Room(count) } else { Look::Full }
    }
    /// The bytes of an entry after its first.
    #[inline(always)]
    fn rest<const STRIDE: usize>(&self, slot: usize) -> u128 {
        let at = Self::rest_of::<STRIDE>(slot);
        if STRIDE <= 9 {
            return u128::from(self.word(at) & ones(8 * (STRIDE as u32 - 1)));
        }
        let last = u128::from(self.word((at + STRIDE).saturating_sub(9)));
        u128::from(self.word(at)) | last << (8 * STRIDE).saturating_sub(72)
    }
    #[inline(always)]
    fn entry<const STRIDE: usize>(&self, slot: usize) -> u128 {
        u128::from(self.0[1 + slot]) | self.rest::<STRIDE>(slot) << 8
    }
    /// Writes the next entry, if there is room.
    #[inline(always)]
    fn push<const STRIDE: usize>(&mut self, entry: u128) -> bool {
        let slot = self.count();
        if slot == slots(STRIDE) {
            return false;
        }
        let bytes = entry.to_le_bytes();
        self.0[0] += 1;
        self.0[1 + slot] = bytes[0];
        self.0[Self::rest_of::<STRIDE>(slot)..][..STRIDE - 1].copy_from_slice(&bytes[1..STRIDE]);
        true
    }
}

/// The result of looking into a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Found,
    /// The entry is not there, and would be the one with this number.
    Room(usize),
    Full,
}

/// Looks into the lines that may have an entry; also returns the last of them.
#[inline(always)]
fn look<const STRIDE: usize>(part: &Part, mut line: usize, entry: u128) -> (Look, usize) {
    for away in 0..=FARTHEST as u128 {
        match part.lines[line].look::<STRIDE>(entry + away * ONE_LINE) {
            Look::Full => line = part.form.after(line),
            found => return (found, line),
        }
    }
    (Look::Full, line)
}

#[inline]
fn write_entry<const STRIDE: usize>(part: &mut Part, mut line: usize, entry: u128) -> bool {
    for away in 0..=FARTHEST as u128 {
        if part.lines[line].push::<STRIDE>(entry + away * ONE_LINE) {
            part.used += 1;
            return true;
        }
        line = part.form.after(line);
    }
    false
}

/// Writes an entry to a line that is not far from its own and has room.
#[inline]
fn write_entry_at<const STRIDE: usize>(part: &mut Part, own: usize, entry: u128, line: usize) {
    let away = line + if line < own { part.lines.len() } else { 0 } - own;
    let has_room = part.lines[line].push::<STRIDE>(entry + away as u128 * ONE_LINE);
    debug_assert!(has_room);
    part.used += 1;
}

fn visit_entries<const STRIDE: usize>(
    part: &Part,
    visit: &mut impl FnMut(u64, u64, u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for (number, line) in part.lines.iter().enumerate() {
        for slot in 0..line.count() {
            let (tag, low, rest) = part.form.number(number, line.entry::<STRIDE>(slot));
            visit(tag, low, rest)?;
        }
    }
    ControlFlow::Continue(())
}

impl Part {
    fn new(lines: usize, low_bits: u32, rest_bits: u32) -> Result<Self, Full> {
        let mut empty = Vec::new();
        empty.try_reserve_exact(lines).map_err(|_| Full::System)?;
        prefer_large(empty.spare_capacity_mut());
        empty.resize(lines, Line([0; LINE]));
        Ok(Self { lines: empty, form: Form::new(lines, low_bits, rest_bits), used: 0 })
    }
    /// Writes an entry that is not there; false if it finds no line.
    #[inline]
    fn write(&mut self, line: usize, entry: u128) -> bool {
        with_stride!(self.form.stride, write_entry(self, line, entry))
    }
    /// Visits the tag, the bits below, and the second piece of each number. A break ends that.
    fn visit(&self, visit: &mut impl FnMut(u64, u64, u64) -> ControlFlow<()>) -> ControlFlow<()> {
        with_stride!(self.form.stride, visit_entries(self, visit))
    }
}

impl Table {
    /// An empty set of numbers, whose pieces have so many bits, in a power of two of parts.
    pub(super) fn new(bits: u32, rest_bits: u32, part_bits: u32) -> Result<Self, Full> {
        debug_assert!((LEAST_BITS..=64).contains(&bits) && part_bits + TAG_BITS <= LEAST_BITS);
        let low_bits = bits - part_bits - TAG_BITS;
        let parts: Vec<Part> = (0..1usize << part_bits)
            // Some are smaller than others by up to a third: parts then do not grow at the same time.
            .map(|part| Part::new(FIRST_LINES + ((part * FIRST_LINES / 2) >> part_bits), low_bits, rest_bits))
            .collect::<Result<_, Full>>()?;
        let lines = parts.iter().map(|part| part.form.lines).sum();
        let permutation = Permutation::new(bits);
        Ok(Self { permutation, rest_bits, parts, part_bits, lines, strays: FxHashSet::default(), growths: 0 })
    }

    pub(super) fn bytes(&self) -> u64 {
        LINE as u64 * self.lines + STRAY_BYTES * self.strays.len() as u64
    }

    /// Where a number belongs.
    #[inline]
    pub(super) fn place(&self, key: Key) -> Place {
        let permuted = self.permutation.apply(key);
        let low_bits = self.permutation.bits - self.part_bits - TAG_BITS;
        let part = (permuted >> low_bits >> TAG_BITS) as usize;
        let (tag, low) = (permuted >> low_bits & ones(TAG_BITS), permuted & ones(low_bits));
        let (line, entry) = self.parts[part].form.place(tag, low, key.rest);
        Place { entry, part: part as u32, line: line as u32 }
    }

    /// Reads what looking up a number reads first.
    #[inline]
    pub(super) fn touch(&self, place: &Place) -> u8 {
        let line = &self.parts[place.part as usize].lines[place.line as usize].0;
        line[0] ^ line[LINE / 2]
    }

    /// Looks for the number that belongs to a place. The place becomes invalid if the table grows.
    #[inline]
    pub(super) fn look(&self, place: &Place) -> Sight {
        let part = &self.parts[place.part as usize];
        match with_stride!(part.form.stride, look(part, place.line as usize, place.entry)) {
            (Look::Found, _) => Sight::Stored,
            (Look::Room(slot), line) => {
                let position = (line as u64) << SLOT_BITS | slot as u64;
                let bits = u32::BITS - self.part_bits;
                match position < ones(bits) {
                    true => Sight::Vacant(((u64::from(place.part)) << bits | position) as u32),
                    false => Sight::Vacant(ANYWHERE),
                }
            }
            (Look::Full, _) if self.is_stray(place) => Sight::Stored,
            (Look::Full, _) => Sight::Vacant(ANYWHERE),
        }
    }

    #[cold]
    fn is_stray(&self, place: &Place) -> bool {
        let part = &self.parts[place.part as usize];
        let (tag, low, rest) = part.form.number(place.line as usize, place.entry);
        self.strays.contains(&self.key(place.part as usize, tag, low, rest))
    }

    /// The part, the line and the number of the entry of a position, if it is known.
    #[inline]
    fn located(&self, position: u32) -> Option<(usize, usize, usize)> {
        let bits = u32::BITS - self.part_bits;
        let (part, rest) = (u64::from(position) >> bits, u64::from(position) & ones(bits));
        let at = (part as usize, (rest >> SLOT_BITS) as usize, (rest & ones(SLOT_BITS)) as usize);
        (position != ANYWHERE).then_some(at)
    }

    /// Whether a position from [`Table::look`] is still vacant, if no part has grown since.
    #[inline]
    pub(super) fn is_vacant(&self, position: u32) -> bool {
        self.located(position).is_some_and(|(part, line, slot)| self.parts[part].lines[line].count() == slot)
    }

    /// How often a part has grown.
    pub(super) fn growths(&self) -> u64 {
        self.growths
    }

    /// Adds a number that is not there, at the position that [`Table::look`] has just returned. The table takes at most
    /// so many bytes.
    ///
    /// # Errors
    /// If there is no room.
    #[inline]
    pub(super) fn insert(&mut self, key: Key, position: u32, limit: u64) -> Result<(), Full> {
        let mut place = self.place(key);
        let part = place.part as usize;
        if self.parts[part].used >= self.parts[part].form.room() {
            self.grow(part, limit)?;
            place = self.place(key);
        } else if let Some((_, line, _)) = self.located(position) {
            let (part, own) = (&mut self.parts[part], place.line as usize);
            with_stride!(part.form.stride, write_entry_at(part, own, place.entry, line));
            return Ok(());
        }
        if !self.parts[part].write(place.line as usize, place.entry) {
            self.strays.insert(key);
        }
        Ok(())
    }

    /// Replaces a part by one that is larger by a half.
    #[cold]
    fn grow(&mut self, number: usize, limit: u64) -> Result<(), Full> {
        let old = &self.parts[number];
        let Form { low_bits, lines, .. } = old.form;
        let more = lines + lines / 2;
        if self.bytes() + LINE as u64 * more > limit {
            return Err(Full::Memory);
        }
        let mut new = Part::new(more as usize, low_bits, self.rest_bits)?;
        let mut astray = Vec::new();
        let _ = old.visit(&mut |tag, low, rest| {
            let (line, entry) = new.form.place(tag, low, rest);
            if !new.write(line, entry) {
                astray.push(self.key(number, tag, low, rest));
            }
            ControlFlow::Continue(())
        });
        self.growths += 1;
        self.lines += more - lines;
        self.parts[number] = new;
        // Those without a line may have one now, and would not be looked for elsewhere.
        let is_here = |&key: &Key| self.place(key).part as usize == number;
        let strays: Vec<Key> = self.strays.iter().copied().filter(is_here).collect();
        for key in strays {
            let place = self.place(key);
            if self.parts[number].write(place.line as usize, place.entry) {
                self.strays.remove(&key);
            }
        }
        self.strays.extend(astray);
        Ok(())
    }

    #[inline]
    fn key(&self, part: usize, tag: u64, low: u64, rest: u64) -> Key {
        let low_bits = self.permutation.bits - self.part_bits - TAG_BITS;
        self.permutation.undo(((part as u64) << TAG_BITS | tag) << low_bits | low, rest)
    }

    /// Visits all numbers, in no particular order. A break ends that.
    pub(super) fn visit(&self, mut visit: impl FnMut(Key) -> ControlFlow<()>) -> ControlFlow<()> {
        for (number, part) in self.parts.iter().enumerate() {
            part.visit(&mut |tag, low, rest| visit(self.key(number, tag, low, rest)))?;
        }
        self.strays.iter().try_for_each(|&key| visit(key))
    }
}

/// A permutation of the numbers of so many bits, for each value of the rest.
#[derive(Clone, Copy, Debug)]
struct Permutation {
    bits: u32,
    mask: u64,
    /// Half of the bits, rounded up.
    half: u32,
}

impl Permutation {
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    const INVERSES: [u64; 2] = [inverse(Self::FACTORS[0]), inverse(Self::FACTORS[1])];

    fn new(bits: u32) -> Self {
        Self { bits, mask: ones(bits), half: bits.div_ceil(2) }
    }

    #[inline]
    fn apply(&self, key: Key) -> u64 {
        let mut number = key.main ^ self.spread(key.rest);
        for factor in Self::FACTORS {
            number ^= number >> self.half;
            number = number.wrapping_mul(factor) & self.mask;
        }
        number ^ number >> self.half
    }

    fn undo(&self, permuted: u64, rest: u64) -> Key {
        let mut number = permuted ^ permuted >> self.half;
        for inverse in Self::INVERSES.into_iter().rev() {
            number = number.wrapping_mul(inverse) & self.mask;
            number ^= number >> self.half;
        }
        Key { main: number ^ self.spread(rest), rest }
    }

    #[inline]
    fn spread(&self, rest: u64) -> u64 {
        let product = u128::from(rest) * 0xa076_1d64_78bd_642f;
        ((product as u64) ^ (product >> 64) as u64) & self.mask
    }
}

/// The inverse of an odd number modulo 2^64.
#[inline]
const fn inverse(number: u64) -> u64 {
    // Each step doubles the number of correct bits; the number itself is correct in three.
    let mut inverse = number;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(number.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// So many ones.
#[inline]
pub(super) const fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(table: &Table, key: Key) -> bool {
        table.look(&table.place(key)) == Sight::Stored
    }

    #[test]
    fn permutations_are_undone() {
        for bits in LEAST_BITS..=64 {
            let permutation = Permutation::new(bits);
            for main in [0, 1, 2, 77, 1 << 39, ones(bits), ones(bits) ^ 1 << 20] {
                for rest in [0, 1, u64::MAX] {
                    let permuted = permutation.apply(Key { main, rest });
                    assert!(permuted <= permutation.mask);
                    assert_eq!(permutation.undo(permuted, rest), Key { main, rest });
                }
            }
        }
    }

    #[test]
    fn entries_are_turned_back_into_numbers() {
        for lines in [1, 2, 3, 5, 31, 32, 33, 1000, 65_537] {
            let form = Form::new(lines, 6, 10);
            for tag in (0..2000).flat_map(|number| [number, u64::from(u32::MAX) - number, number * 2_147_001]) {
                let (home, entry) = form.place(tag, 37, 999);
                for away in 0..=FARTHEST.min(lines - 1) {
                    let line = (home + away) % lines;
                    assert_eq!(form.number(line, entry + away as u128 * ONE_LINE), (tag, 37, 999));
                }
            }
        }
    }

    #[test]
    fn a_table_has_what_was_added_and_nothing_else() {
        for (bits, rest_bits) in [(40, 0), (47, 0), (64, 0), (64, 1), (64, 33), (64, 64)] {
            for spread in [1, 1 << 13] {
                let key = |number: u64| Key {
                    main: (number * spread) & ones(bits),
                    rest: if rest_bits == 0 { 0 } else { (number % 3) << (rest_bits - 1) & ones(rest_bits) },
                };
                let mut table = Table::new(bits, rest_bits, 4).expect("there is memory");
                for number in 0..20_000 {
                    let Sight::Vacant(position) = table.look(&table.place(key(number))) else {
                        panic!("{number} is new")
                    };
                    assert_eq!(table.is_vacant(position), position != ANYWHERE);
                    let position = if number % 5 == 0 { ANYWHERE } else { position };
                    table.insert(key(number), position, u64::MAX).expect("there is room");
                    assert!(has(&table, key(number)));
                }
                for number in 0..40_000 {
                    assert_eq!(has(&table, key(number)), number < 20_000, "{bits} {rest_bits} {number}");
                }
                let mut all = FxHashSet::default();
                let visited =
                    table.visit(|key| if all.insert(key) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
                assert!(visited.is_continue());
                assert_eq!(all, (0..20_000).map(key).collect());
            }
        }
    }

    #[test]
    fn numbers_without_a_line_are_kept() {
        // One line for all entries of a part cannot have them all within reach.
        let mut table = Table::new(40, 0, 0).expect("there is memory");
        let same_line = |number: u64| table.permutation.undo(number, 0);
        let keys: Vec<Key> = (0..300).map(same_line).collect();
        for &key in &keys {
            table.insert(key, ANYWHERE, u64::MAX).expect("there is room");
        }
        assert!(!table.strays.is_empty());
        assert!(keys.iter().all(|&key| has(&table, key)));
        let mut count = 0;
        let _ = table.visit(|key| {
            count += usize::from(keys.contains(&key));
            ControlFlow::Continue(())
        });
        assert_eq!(count, keys.len());
    }

    #[test]
    fn the_limit_is_kept() {
        let mut table = Table::new(64, 0, 2).expect("there is memory");
        let limit = 1 << 20;
        let full = (0..).find_map(|main| table.insert(Key { main, rest: 0 }, ANYWHERE, limit).err());
        assert_eq!(full, Some(Full::Memory));
        assert!(table.bytes() <= limit);
    }
}
