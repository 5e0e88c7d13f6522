//! Which instances can be enabled in a state, by the contents of single fields.
//!
//! Most guards begin by asking for one content of one field: the place where a process is. Then few of many instances
//! are worth trying, and a list for each content names them.

use quotient_ir::{RuleId, Table};
use rustc_hash::FxHashMap;

use super::Translation;
use super::code::Test;

/// The largest width of a field with lists.
const WIDTH_LIMIT: u32 = 10;
/// The smallest number of units for which a field has lists.
const LEAST_UNITS: usize = 8;

/// The units of all rules, listed by the contents of fields that their first tests ask for.
#[derive(Debug)]
pub(super) struct Candidates {
    /// All units in the order in which they are tried. A rule that is not specialised counts as one.
    units: Vec<(RuleId, u32)>,
    /// One bit for each unit that is tried in any case.
    always: Box<[u64]>,
    fields: Vec<FieldLists>,
}

/// The units that a content of a field leaves enabled.
#[derive(Debug)]
struct FieldLists {
    word: u32,
    shift: u32,
    mask: u64,
    /// For each content, where its units begin; and where the last ones end.
    begins: Vec<u32>,
    units: Vec<u32>,
}

/// A field, and the contents with which a test has to be made.
struct Key {
    field: (u32, u32, u64),
    contents: Vec<u64>,
}

impl Candidates {
    /// Lists the units of rules. None if most are to be tried in any case.
    pub(super) fn new(rules: &Table<RuleId, Translation>) -> Option<Self> {
        let mut units = Vec::new();
        let mut keyed: FxHashMap<_, Vec<(u64, u32)>> = FxHashMap::default();
        let mut uses: FxHashMap<_, usize> = FxHashMap::default();
        for (rule, translation) in rules.iter_enumerated() {
            let Translation::Specialised(specialised) = translation else {
                units.push((rule, 0));
                continue;
            };
            for (number, unit) in (0..).zip(specialised) {
                let position = units.len() as u32;
                units.push((rule, number));
                if let Some(Key { field, contents }) = key(&unit.first_test) {
                    *uses.entry(field).or_default() += 1;
                    keyed.entry(field).or_default().extend(contents.iter().map(|&content| (content, position)));
                }
            }
        }
        keyed.retain(|field, _| uses[field] >= LEAST_UNITS);
        let listed: usize = keyed.keys().map(|field| uses[field]).sum();
        if 2 * listed < units.len() || keyed.is_empty() {
            return None;
        }
        let mut always = vec![u64::MAX; units.len().div_ceil(64)];
        if !units.len().is_multiple_of(64) {
            always[units.len() / 64] = (1 << (units.len() % 64)) - 1;
        }
        let mut fields: Vec<FieldLists> = Vec::with_capacity(keyed.len());
        for ((word, shift, mask), mut entries) in keyed {
            entries.sort_unstable();
            for &(_, unit) in &entries {
                always[unit as usize / 64] &= !(1 << (unit % 64));
            }
            let begin = |content: u64| entries.partition_point(|&(other, _)| other < content) as u32;
            let begins = (0..=mask + 1).map(begin).collect();
            fields.push(FieldLists {
                word,
                shift,
                mask,
                begins,
                units: entries.iter().map(|&(_, unit)| unit).collect(),
            });
        }
        fields.sort_unstable_by_key(|field| (field.word, field.shift, field.mask));
        Some(Self { units, always: always.into(), fields })
    }

    /// The units to try in a state, as the bits of words; [`Self::unit`] gives what they are.
    pub(super) fn of_state(&self, state: &[u64], bits: &mut Vec<u64>) {
        bits.clear();
        bits.extend_from_slice(&self.always);
        for FieldLists { word, shift, mask, begins, units } in &self.fields {
            let content = (state[*word as usize] >> shift & mask) as usize;
            for unit in &units[begins[content] as usize..begins[content + 1] as usize] {
                bits[*unit as usize / 64] |= 1 << (unit % 64);
            }
        }
    }

    /// A unit by the number of its bit.
    #[inline]
    pub(super) fn unit(&self, number: usize) -> (RuleId, u32) {
        self.units[number]
    }
}

/// The field that a test asks about, if it is a small one. Where zero means undefined, the test is made to tell so.
fn key(test: &Test) -> Option<Key> {
    let (field, partial, mut contents) = match *test {
        Test::FieldIs { word, partial, mask, pattern } => {
            let shift = mask.trailing_zeros();
            ((word, shift, mask.checked_shr(shift)?), partial, vec![pattern >> shift])
        }
        Test::FieldIn { word, shift, mask, partial, set } => {
            let contents = (0..=u64::from(mask)).filter(|content| set >> content & 1 == 1).collect();
            ((word, u32::from(shift), u64::from(mask)), partial, contents)
        }
        _ => return None,
    };
    if partial && !contents.contains(&0) {
        contents.push(0);
    }
    (field.2.trailing_ones() <= WIDTH_LIMIT && field.2.count_ones() == field.2.trailing_ones())
        .then_some(Key { field, contents })
}
