//! Which bits a slot has, and what they mean.

use quotient_functions::Circuit;

/// The bits of each slot of a circuit, least significant first.
#[derive(Clone, Debug)]
pub struct Encoding {
    codes: Vec<Code>,
    values: Vec<Vec<Option<i64>>>,
}

/// How the content of a slot is written in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// As the position among its possible values.
    Position {
        /// The number of bits.
        width: usize,
    },
    /// As the difference to the least value. A slot that can be undefined has a bit for that before the others, which
    /// are then zero.
    Offset {
        /// The least value.
        low: i64,
        /// The number of bits of the difference.
        width: usize,
        /// Whether there is a bit for undefined.
        is_optional: bool,
    },
}

impl Code {
    /// The number of bits.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Position { width } => width,
            Self::Offset { width, is_optional, .. } => width + usize::from(is_optional),
        }
    }
}

impl Encoding {
    /// The bits of the slots of a circuit.
    pub fn new(circuit: &Circuit) -> Self {
        let slots = 0..circuit.slot_count() as u32;
        let values: Vec<Vec<Option<i64>>> = slots.clone().map(|slot| circuit.values(slot).to_vec()).collect();
        let code = |slot: u32| {
            let values = &values[slot as usize];
            if !circuit.is_wide(slot) {
                return Code::Position { width: bits_for(values.len().saturating_sub(1) as u128) };
            }
            let numbers: Vec<i64> = values.iter().copied().flatten().collect();
            let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
            let span = (i128::from(high) - i128::from(low)) as u128;
            Code::Offset { low, width: bits_for(span), is_optional: values[0].is_none() }
        };
        Self { codes: slots.map(code).collect(), values }
    }

    /// The code of a slot.
    pub fn code(&self, slot: u32) -> Code {
        self.codes[slot as usize]
    }

    /// The number of bits of a slot.
    pub fn width(&self, slot: u32) -> usize {
        self.code(slot).width()
    }

    /// The values whose positions are codes; for a slot with too many to list, the least and the greatest.
    pub fn values(&self, slot: u32) -> &[Option<i64>] {
        &self.values[slot as usize]
    }

    /// Whether the values of a slot are listed.
    pub fn is_listed(&self, slot: u32) -> bool {
        matches!(self.code(slot), Code::Position { .. })
    }

    /// Whether the same bits mean the same in two slots.
    pub fn has_same_code(&self, one: u32, other: u32) -> bool {
        self.code(one) == self.code(other) && self.values(one) == self.values(other)
    }

    /// The least value of a slot and what each bit adds to it, if values are such sums and none is negative or undefined.
    pub fn weights(&self, slot: u32) -> Option<(u64, Vec<u64>)> {
        let values: Vec<i64> = self.values(slot).iter().copied().collect::<Option<_>>()?;
        let least = *values.first()?;
        let step = match self.code(slot) {
            Code::Offset { .. } => 1,
            Code::Position { .. } => {
                let step = values.get(1).map_or(1, |second| second - least);
                let is_even = values.iter().zip(0i64..).all(|(&value, position)| value == least + position * step);
                if !is_even {
                    return None;
                }
                step
            }
        };
        let step = u64::try_from(step).ok()?;
        let weights = (0..self.width(slot)).map(|bit| step.checked_shl(bit as u32)).collect::<Option<_>>()?;
        Some((u64::try_from(least).ok()?, weights))
    }

    /// The bits of a content, if it has some.
    pub fn encode(&self, slot: u32, content: Option<i64>) -> Option<Vec<bool>> {
        let bits = |number: u128, width: usize| (0..width).map(move |bit| number >> bit & 1 == 1);
        match self.code(slot) {
            Code::Position { width } => {
                let position = self.values(slot).binary_search(&content).ok()?;
                Some(bits(position as u128, width).collect())
            }
            Code::Offset { low, width, is_optional } => {
                if content.is_none() && !is_optional {
                    return None;
                }
                let offset = content.map_or(0, |value| i128::from(value) - i128::from(low));
                let offset = u128::try_from(offset).ok().filter(|offset| bits_for(*offset) <= width)?;
                let flag = is_optional.then_some(content.is_none());
                Some(flag.into_iter().chain(bits(offset, width)).collect())
            }
        }
    }

    /// The content that bits stand for; `None` if they stand for nothing.
    pub fn decode(&self, slot: u32, bits: &[bool]) -> Option<Option<i64>> {
        let number = |bits: &[bool]| bits.iter().rev().fold(0u128, |number, &bit| number << 1 | u128::from(bit));
        match self.code(slot) {
            Code::Position { .. } => self.values(slot).get(number(bits) as usize).copied(),
            Code::Offset { is_optional: true, .. } if bits[0] => Some(None),
            Code::Offset { low, is_optional, .. } => {
                let offset = number(&bits[usize::from(is_optional)..]);
                i64::try_from(i128::from(low) + offset as i128).ok().map(Some)
            }
        }
    }
}

/// The number of bits of a number.
pub(crate) fn bits_for(number: u128) -> usize {
    (u128::BITS - number.leading_zeros()) as usize
}
