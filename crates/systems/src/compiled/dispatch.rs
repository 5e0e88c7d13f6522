//! Tables over the contents of single fields that show which instances can be enabled.
//!
//! If a program counter or a similar field decides which of many instances are enabled, trying them all costs more than
//! running the few that are. So the tests of single small fields become tables: for each content of a field, one bit
//! per instance says that no test of that field alone fails. The conjunction of the entries of all fields has the bits
//! of the instances that remain to be tried.

use rustc_hash::FxHashMap;

use super::effects::ones;
use super::plain::Plain;
use crate::evaluator::SpecialisedUnit;
use crate::evaluator::code::{Code, ListRange, Test, TestId, Value, ValueId};
use crate::evaluator::machine::{Machine, Memory};

/// The number of instances that share tables: the bits of a word.
pub(super) const GROUP: usize = 64;
/// The largest width of a field with a table.
const WIDTH_LIMIT: u8 = 8;
/// The largest number of tables of a group.
const TABLE_LIMIT: usize = 12;
/// The deepest nesting of nodes of a tabulated test.
const DEPTH_LIMIT: u32 = 12;
/// The approximate cost, in instructions, of jumping to an enabled instance, including mispredictions.
const JUMP_COST: f64 = 30.0;
/// The same for an instance in a sequence of others whose guard holds.
const BRANCH_COST: f64 = 15.0;

/// A field and the instances its contents leave enabled.
#[derive(Clone, Debug)]
pub(super) struct FieldTable {
    pub(super) word: u32,
    pub(super) shift: u8,
    pub(super) mask: u64,
    /// For each content, the instances of the group that it does not disable.
    pub(super) enabled: Box<[u64]>,
}

/// How the instances of a group are tried.
#[derive(Clone, Debug)]
pub(super) struct Dispatch {
    pub(super) tables: Vec<FieldTable>,
    /// For each instance, the positions of the tests that no table decides, in order.
    pub(super) rest: Vec<Vec<usize>>,
}

/// A small field of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct SmallField {
    word: u32,
    shift: u8,
    width: u8,
}

/// A test on one field, decided for each content.
struct Answers {
    instance: usize,
    /// The number of the test among those of the instance.
    position: usize,
    field: SmallField,
    holds: Vec<bool>,
}

/// The tests of a unit in order.
pub(super) fn tests_of(code: &Code, unit: &SpecialisedUnit) -> Vec<Test> {
    let mut tests = vec![unit.first_test];
    tests.extend(unit.tests().iter().map(|&test| code.tests[test]));
    tests
}

/// How to try a group of at most [`GROUP`] instances by tables; `None` if trying one after the other is about as good.
/// `costs` gives the cost of trying each together with the others; without costs, tables are always made.
pub(super) fn dispatch(
    plain: Plain<'_>,
    words: usize,
    units: &[&SpecialisedUnit],
    costs: Option<&[u32]>,
) -> Option<Dispatch> {
    debug_assert!(units.len() <= GROUP);
    let tests: Vec<Vec<Test>> = units.iter().map(|unit| tests_of(plain.code, unit)).collect();
    let mut answers = Vec::new();
    for (instance, list) in tests.iter().enumerate() {
        for (position, test) in list.iter().enumerate() {
            for (field, part) in parts(plain, test) {
                if let Some(holds) = answer(plain, words, field, &part) {
                    answers.push(Answers { instance, position, field, holds });
                }
            }
            // Tests after one whose evaluation may fail must not be decided before it.
            if plain.test_node_cost(test).is_none() {
                break;
            }
        }
    }
    // The fields that rule out most instances.
    let mut merits: FxHashMap<SmallField, f64> = FxHashMap::default();
    for answer in &answers {
        *merits.entry(answer.field).or_default() += 1.0 - share(&answer.holds);
    }
    let mut fields: Vec<(SmallField, f64)> = merits.into_iter().filter(|&(_, merit)| merit >= 1.0).collect();
    fields.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    fields.truncate(TABLE_LIMIT);
    let mut tables: Vec<FieldTable> = fields
        .iter()
        .map(|&(SmallField { word, shift, width }, _)| FieldTable {
            word,
            shift,
            mask: ones(width),
            enabled: vec![u64::MAX >> (GROUP - units.len()); 1 << width].into(),
        })
        .collect();
    let mut likelihood = vec![1.0; units.len()];
    let mut answered: FxHashMap<(usize, usize), u32> = FxHashMap::default();
    for answer in &answers {
        let Some(number) = fields.iter().position(|&(field, _)| field == answer.field) else { continue };
        for (entry, &holds) in tables[number].enabled.iter_mut().zip(&answer.holds) {
            if !holds {
                *entry &= !(1 << answer.instance);
            }
        }
        likelihood[answer.instance] *= share(&answer.holds);
        *answered.entry((answer.instance, answer.position)).or_default() += 1;
    }
    let expected: f64 = likelihood.iter().sum();
    if let Some(costs) = costs {
        let with = 8.0 + 5.0 * tables.len() as f64 + JUMP_COST * expected;
        let without: f64 = costs.iter().map(|&cost| f64::from(cost)).sum::<f64>() + BRANCH_COST * expected;
        if tables.is_empty() || with >= without {
            return None;
        }
    }
    let is_answered = |instance: usize, position: usize, test: &Test| {
        answered.get(&(instance, position)).is_some_and(|&count| count as usize == parts(plain, test).len())
    };
    let rest = tests.iter().enumerate().map(|(instance, list)| {
        let left = list.iter().enumerate().filter(|&(position, test)| !is_answered(instance, position, test));
        left.map(|(position, _)| position).collect()
    });
    let rest = rest.collect();
    Some(Dispatch { tables, rest })
}

fn share(holds: &[bool]) -> f64 {
    holds.iter().filter(|&&holds| holds).count() as f64 / holds.len() as f64
}

/// A test as tests of single small fields that all have values; empty if it is not of this form.
fn parts(plain: Plain<'_>, test: &Test) -> Vec<(SmallField, Test)> {
    if let Test::FieldIs { word, mask, pattern, partial } = *test {
        // Fields of a word may be tested together.
        let mut rest = mask;
        let mut parts = Vec::new();
        for slot in plain.code.slots.iter().filter(|slot| slot.field.word == word && slot.width > 0) {
            let whole = slot.field.mask << slot.field.shift;
            if whole & mask == 0 {
                continue;
            }
            if whole & !mask != 0 || slot.width > WIDTH_LIMIT || !plain.has_value(word, whole, partial) {
                return Vec::new();
            }
            rest &= !whole;
            let field = SmallField { word, shift: slot.field.shift, width: slot.width };
            parts.push((field, Test::FieldIs { word, mask: whole, pattern: pattern & whole, partial }));
        }
        return if rest == 0 { parts } else { Vec::new() };
    }
    let mut field = None;
    match single(plain, test, &mut field, 0) {
        Some(()) => field.map(|field| (field, *test)).into_iter().collect(),
        None => Vec::new(),
    }
}

/// `None` unless a test reads only one small field, which has a value.
fn single(plain: Plain<'_>, test: &Test, field: &mut Option<SmallField>, depth: u32) -> Option<()> {
    if depth > DEPTH_LIMIT {
        return None;
    }
    let code = plain.code;
    let list = |range: ListRange, field: &mut Option<SmallField>| {
        code.test_lists.get(range).iter().try_for_each(|&test| single(plain, &code.tests[test], field, depth + 1))
    };
    let one = |test: TestId, field: &mut Option<SmallField>| single(plain, &code.tests[test], field, depth + 1);
    match *test {
        Test::FieldIs { word, mask, partial, .. } | Test::FieldIsNot { word, mask, partial, .. } => {
            let shift = mask.trailing_zeros() as u8;
            note(plain, field, word, shift, (mask >> shift).trailing_ones() as u8, partial)?;
            ((mask >> shift) & ((mask >> shift) + 1) == 0).then_some(())
        }
        Test::FieldIn { word, shift, mask, partial, .. } => {
            note(plain, field, word, shift, mask.trailing_ones() as u8, partial)
        }
        Test::Compare { left, right, .. } => {
            single_value(plain, left, field, depth + 1)?;
            single_value(plain, right, field, depth + 1)
        }
        Test::Nonzero(value) | Test::Member { value, .. } => single_value(plain, value, field, depth + 1),
        Test::Not(test) => one(test, field),
        Test::AllOf(range) | Test::AnyOf(range) => list(range, field),
        Test::Conditional { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().try_for_each(|test| one(test, field))
        }
        _ => None,
    }
}

fn single_value(plain: Plain<'_>, id: ValueId, field: &mut Option<SmallField>, depth: u32) -> Option<()> {
    if depth > DEPTH_LIMIT {
        return None;
    }
    match plain.code.values[id] {
        Value::Constant(_) => Some(()),
        Value::Field { word, shift, width, partial, .. } => note(plain, field, word, shift, width, partial),
        Value::Negate(value) | Value::Complement(value) | Value::Checked { value, .. } => {
            single_value(plain, value, field, depth + 1)
        }
        Value::Binary { left, right, .. } => {
            single_value(plain, left, field, depth + 1)?;
            single_value(plain, right, field, depth + 1)
        }
        Value::Truth(test) => single(plain, &plain.code.tests[test], field, depth + 1),
        _ => None,
    }
}

/// Records that a field is read, if it is the only one.
fn note(
    plain: Plain<'_>,
    field: &mut Option<SmallField>,
    word: u32,
    shift: u8,
    width: u8,
    partial: bool,
) -> Option<()> {
    let found = SmallField { word, shift, width };
    let fits = (1..=WIDTH_LIMIT).contains(&width) && plain.has_value(word, ones(width) << shift, partial);
    (fits && *field.get_or_insert(found) == found).then_some(())
}

/// Whether a test of one field holds for each of its contents; `None` if evaluation may fail. Uses the evaluator, which
/// is the reference here.
fn answer(plain: Plain<'_>, words: usize, field: SmallField, test: &Test) -> Option<Vec<bool>> {
    let mut memory = Memory::new(words, 0);
    let mut state = vec![0; words];
    let mask = ones(field.width) << field.shift;
    let partial =
        plain.code.slots.iter().any(|slot| {
            slot.field.partial && slot.field.word == field.word && slot.field.mask << slot.field.shift == mask
        });
    let mut holds = Vec::with_capacity(1 << field.width);
    for content in 0..1_u64 << field.width {
        state[field.word as usize] = content << field.shift;
        memory.set_state(&state);
        memory.begin(0);
        let result = Machine { code: plain.code, memory: &mut memory }.test_node(test);
        holds.push(match result {
            Ok(holds) => holds,
            // The field has a value: a test of the value does not see this content.
            Err(_) if content == 0 && partial => true,
            Err(_) => return None,
        });
    }
    Some(holds)
}
