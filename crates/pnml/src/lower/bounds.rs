//! How many tokens of one colour a place can hold, from the structure of the net.
//!
//! Every reachable marking is the initial one plus what transitions change, each so many times (the marking equation). The
//! greatest number of tokens in a place among all solutions that are nowhere negative, as a linear program over rational
//! numbers, is a bound. Whole nets of colours are too large for that. So the equation is made for projections: all tokens
//! of a place whatever their colour, and for each class all tokens with one value of it in one component. What a
//! projection allows contains what the net does, so all bounds are right; the least is used.

use std::collections::BTreeMap;

use super::weights;
use crate::net::{ClassId, DOT, Net};
use crate::net::{Comparison, Condition, Factor, Term, Value};

/// The most multiplications in all linear programs of a net, and the most steps that look for weights.
const MOST_WORK: u64 = 40_000_000;
/// The most terms of a transition for which each subset is considered.
const MOST_TERMS: usize = 6;
/// The most entries of the matrix of a linear program.
const MOST_ENTRIES: usize = 1 << 22;
/// With more entries, a linear program is solved only for counters without a bound, and not for a smaller one.
const MANY_ENTRIES: usize = 1 << 16;
/// The part of the work with which weights are looked for.
const SHARE_OF_WEIGHTS: u64 = 4;
/// How many entries of a matrix are copied for the work of a multiplication.
const COPIED: u64 = 8;
/// A greater bound is none.
const GREATEST: i128 = 1 << 31;

/// For each place a bound on the tokens of one colour, if one follows.
pub(super) fn bounds(net: &Net) -> Vec<Option<i64>> {
    let mut best: Vec<Option<i64>> = vec![None; net.places.len()];
    let mut work = MOST_WORK;
    let mut note = |place: usize, bound: Option<i64>| {
        if let Some(bound) = bound {
            best[place] = Some(best[place].map_or(bound, |known| known.min(bound)));
        }
    };
    for (place, bound) in whole(net).solve(&mut work).into_iter().enumerate() {
        note(place, bound);
    }
    for class in (0..net.classes.len()).filter(|&class| class != DOT && net.classes[class].size > 1) {
        let counted = counted(net, class);
        // The greatest bound of all values.
        let mut greatest: Vec<Option<i64>> = vec![Some(0); counted.len()];
        let size = arcs(net);
        for colour in colours(net, class) {
            let Some(rest) = work.checked_sub(size) else {
                greatest.fill(None);
                break;
            };
            work = rest;
            let bounds = projected(net, class, colour, &counted).solve(&mut work);
            for (greatest, bound) in greatest.iter_mut().zip(bounds) {
                *greatest = greatest.zip(bound).map(|(left, right)| left.max(right));
            }
        }
        for (&(place, _), bound) in counted.iter().zip(greatest) {
            note(place, bound);
        }
    }
    best
}

/// Counters and how they change.
pub(super) struct System {
    pub(super) initial: Vec<i64>,
    /// For each way to change, the counters that do and by how much, in their order.
    pub(super) columns: Vec<Vec<(usize, i64)>>,
}

/// By how much each counter changes.
#[derive(Clone, Default)]
struct Changes(BTreeMap<usize, i64>);

impl Changes {
    fn add(&mut self, counter: usize, change: i64) {
        let sum = self.0.entry(counter).or_default();
        *sum = sum.saturating_add(change);
    }

    fn column(self) -> Vec<(usize, i64)> {
        self.0.into_iter().filter(|&(_, change)| change != 0).collect()
    }
}

/// The arcs of a net.
fn arcs(net: &Net) -> u64 {
    net.transitions.iter().map(|it| (it.inputs.len() + it.outputs.len()) as u64).sum()
}

/// The number of colours that the factors of a term stand for, except one component.
fn weight(net: &Net, domain: &[ClassId], term: &Term, except: Option<usize>) -> i64 {
    let all = term
        .factors
        .iter()
        .zip(domain)
        .enumerate()
        .filter(|(position, (factor, _))| **factor == Factor::All && Some(*position) != except);
    all.fold(term.coefficient, |product, (_, (_, &class))| product.saturating_mul(net.classes[class].size))
}

/// All tokens of each place.
fn whole(net: &Net) -> System {
    let sum = |place: usize, terms: &[Term]| {
        let domain = &net.places[place].domain;
        terms.iter().fold(0i64, |sum, term| sum.saturating_add(weight(net, domain, term, None)))
    };
    let initial = net.places.iter().enumerate().map(|(place, it)| sum(place, &it.marking)).collect();
    let column = |transition: &crate::net::Transition| {
        let mut changes = Changes::default();
        for (place, terms) in &transition.inputs {
            changes.add(*place, sum(*place, terms).saturating_neg());
        }
        for (place, terms) in &transition.outputs {
            changes.add(*place, sum(*place, terms));
        }
        changes.column()
    };
    System { initial, columns: net.transitions.iter().map(column).collect() }
}

/// The places and components of a class.
fn counted(net: &Net, class: ClassId) -> Vec<(usize, usize)> {
    let places = net.places.iter().enumerate();
    let components = places.flat_map(|(place, it)| {
        let components = it.domain.iter().enumerate().filter(move |(_, own)| **own == class);
        components.map(move |(component, _)| (place, component))
    });
    components.collect()
}

/// Values of a class, one for all that no term and no condition mentions.
fn colours(net: &Net, class: ClassId) -> Vec<i64> {
    let mut mentioned: Vec<i64> = Vec::new();
    let mut look = |place: usize, terms: &[Term]| {
        for term in terms {
            for (factor, &own) in term.factors.iter().zip(&net.places[place].domain) {
                if let Factor::One(Value::Constant(value)) = factor
                    && own == class
                {
                    mentioned.push(*value);
                }
            }
        }
    };
    for (place, it) in net.places.iter().enumerate() {
        look(place, &it.marking);
    }
    for transition in &net.transitions {
        for (place, terms) in transition.inputs.iter().chain(&transition.outputs) {
            look(*place, terms);
        }
    }
    // Of any class: these are too many at most.
    let values = net.classes[class].first..=net.classes[class].last();
    for transition in &net.transitions {
        let Known { equal, different } = Known::of(&transition.guard);
        for value in equal.into_iter().chain(different).flat_map(|(left, right)| [left, right]) {
            if let Value::Constant(value) = value
                && values.contains(&value)
            {
                mentioned.push(value);
            }
        }
    }
    mentioned.sort_unstable();
    mentioned.dedup();
    let entry = &net.classes[class];
    let other = (entry.first..=entry.last()).find(|value| mentioned.binary_search(value).is_err());
    mentioned.into_iter().chain(other).collect()
}

/// What the condition of a transition says about values at its top.
struct Known {
    equal: Vec<(Value, Value)>,
    different: Vec<(Value, Value)>,
}

impl Known {
    fn of(condition: &Condition) -> Self {
        let mut known = Self { equal: Vec::new(), different: Vec::new() };
        let mut pending = vec![condition];
        while let Some(condition) = pending.pop() {
            match condition {
                Condition::And(parts) => pending.extend(parts),
                Condition::Compare(Comparison::Equal, left, right) => known.equal.push((left.clone(), right.clone())),
                Condition::Compare(Comparison::NotEqual, left, right) => {
                    known.different.push((left.clone(), right.clone()));
                }
                _ => {}
            }
        }
        known
    }

    /// One of the values that are equal to a value.
    fn representative(&self, value: &Value) -> Value {
        let mut value = value.clone();
        for (left, right) in &self.equal {
            if value == *left && !matches!(left, Value::Constant(_)) {
                value = right.clone();
            }
        }
        value
    }

    /// Whether two values cannot be the same.
    fn are_different(&self, left: &Value, right: &Value, size: i64) -> bool {
        let is_said = |(one, other): &(Value, Value)| {
            let (one, other) = (self.representative(one), self.representative(other));
            (one == *left && other == *right) || (one == *right && other == *left)
        };
        let shift = |value: &Value| match value {
            Value::Shifted { of, by, .. } => ((**of).clone(), *by),
            other => (other.clone(), 0),
        };
        let ((one, here), (other, there)) = (shift(left), shift(right));
        (one == other && (here - there).rem_euclid(size) != 0) || self.different.iter().any(is_said)
    }
}

/// The tokens with one value of a class in one component.
fn projected(net: &Net, class: ClassId, colour: i64, counted: &[(usize, usize)]) -> System {
    let size = net.classes[class].size;
    let index = |place: usize, component: usize| counted.binary_search(&(place, component)).ok();
    let mut initial = vec![0i64; counted.len()];
    for (number, &(place, component)) in counted.iter().enumerate() {
        for term in &net.places[place].marking {
            let is_counted = match &term.factors[component] {
                Factor::All => true,
                Factor::One(value) => *value == Value::Constant(colour),
            };
            if is_counted {
                let weight = weight(net, &net.places[place].domain, term, Some(component));
                initial[number] = initial[number].saturating_add(weight);
            }
        }
    }
    let mut columns = Vec::new();
    for transition in &net.transitions {
        let known = Known::of(&transition.guard);
        // What always changes, and what changes if a value is the colour.
        let mut always = Changes::default();
        let mut values: Vec<(Value, Changes)> = Vec::new();
        let arcs = transition.inputs.iter().map(|arc| (arc, -1)).chain(transition.outputs.iter().map(|arc| (arc, 1)));
        for ((place, terms), sign) in arcs {
            let domain = &net.places[*place].domain;
            for term in terms {
                for (component, factor) in term.factors.iter().enumerate() {
                    let Some(number) = index(*place, component) else { continue };
                    let change = weight(net, domain, term, Some(component)).saturating_mul(sign);
                    let value = match factor {
                        Factor::All => {
                            always.add(number, change);
                            continue;
                        }
                        Factor::One(value) => known.representative(value),
                    };
                    if let Value::Constant(value) = value {
                        if value == colour {
                            always.add(number, change);
                        }
                        continue;
                    }
                    let position = values.iter().position(|(own, _)| *own == value).unwrap_or_else(|| {
                        values.push((value.clone(), Changes::default()));
                        values.len() - 1
                    });
                    values[position].1.add(number, change);
                }
            }
        }
        values.retain(|(value, _)| !known.are_different(value, &Value::Constant(colour), size));
        if values.len() > MOST_TERMS {
            columns.push(always.column());
            columns.extend(values.into_iter().map(|(_, changes)| changes.column()));
            continue;
        }
        for subset in 0usize..1 << values.len() {
            let chosen: Vec<&(Value, Changes)> =
                values.iter().enumerate().filter(|(bit, _)| subset >> bit & 1 == 1).map(|(_, it)| it).collect();
            let is_impossible = chosen.iter().enumerate().any(|(position, (left, _))| {
                chosen[..position].iter().any(|(right, _)| known.are_different(left, right, size))
            });
            if is_impossible {
                continue;
            }
            let mut column = always.clone();
            for (_, changes) in chosen {
                changes.0.iter().for_each(|(&counter, &change)| column.add(counter, change));
            }
            columns.push(column.column());
        }
    }
    System { initial, columns }
}

impl System {
    /// A bound for each counter, if one follows.
    fn solve(mut self, work: &mut u64) -> Vec<Option<i64>> {
        self.columns.retain(|column| !column.is_empty());
        self.columns.sort_unstable();
        self.columns.dedup();
        let mut share = *work / SHARE_OF_WEIGHTS;
        *work -= share;
        let mut best = weights::bounds(&self, &mut share);
        *work += share;
        best.iter_mut().for_each(|bound| *bound = bound.filter(|&it| i128::from(it) < GREATEST));
        let entries = self.initial.len().saturating_mul(self.columns.len());
        if entries > MOST_ENTRIES {
            return best;
        }
        for target in 0..self.initial.len() {
            // Nothing is less than what is there at the beginning.
            let enough = if entries > MANY_ENTRIES { GREATEST as i64 } else { self.initial[target].max(1) };
            if best[target].is_some_and(|bound| bound <= enough) {
                continue;
            }
            let Some((greatest, weights)) = self.greatest(target, work) else { continue };
            let floor = |number: Rational| i64::try_from(number.floor()).ok().filter(|&it| i128::from(it) < GREATEST);
            let mut note = |counter: usize, bound: Option<i64>| {
                if let Some(bound) = bound {
                    best[counter] = Some(best[counter].map_or(bound, |known| known.min(bound)));
                }
            };
            note(target, floor(greatest));
            // The same inequality bounds other counters.
            for (counter, weight) in weights {
                note(counter, greatest.divided(weight).and_then(floor));
            }
        }
        best
    }

    /// The greatest value of a counter, by the simplex algorithm with Bland's rule, and the weights of other counters with
    /// which it is a bound of the weighted sum. None if there is no bound, or if numbers become too large.
    fn greatest(&self, target: usize, work: &mut u64) -> Option<(Rational, Vec<(usize, Rational)>)> {
        let (rows, width) = (self.initial.len(), self.columns.len());
        *work = work.checked_sub((rows * width) as u64 / COPIED)?;
        // Counters as functions of the numbers of changes. Variables 0.. are changes, width.. are counters.
        let mut dictionary: Vec<Vec<Rational>> = Vec::with_capacity(rows);
        for &initial in &self.initial {
            let mut line = vec![Rational::from(0); width];
            line.push(Rational::from(initial));
            dictionary.push(line);
        }
        for (column, entries) in self.columns.iter().enumerate() {
            for &(row, change) in entries {
                dictionary[row][column] = Rational::from(change);
            }
        }
        let mut goal = dictionary[target].clone();
        let mut basic: Vec<usize> = (width..width + rows).collect();
        let mut free: Vec<usize> = (0..width).collect();
        loop {
            let entering = (0..width).filter(|&column| goal[column].is_positive()).min_by_key(|&column| free[column]);
            let Some(column) = entering else {
                let weights = (0..width).filter(|&column| free[column] >= width && goal[column].is_negative());
                let weights = weights.filter_map(|column| Some((free[column] - width, goal[column].negated()?)));
                return Some((goal[width], weights.collect()));
            };
            // The counter that reaches zero first; of several, the first.
            let mut leaving: Option<(Rational, usize)> = None;
            for row in 0..rows {
                if !dictionary[row][column].is_negative() {
                    continue;
                }
                let limit = dictionary[row][width].divided(dictionary[row][column].negated()?)?;
                let is_better = match &leaving {
                    None => true,
                    Some((best, other)) => {
                        let order = limit.compare(*best)?;
                        order.is_lt() || (order.is_eq() && basic[row] < basic[*other])
                    }
                };
                if is_better {
                    leaving = Some((limit, row));
                }
            }
            let (_, row) = leaving?;
            // Solve that row for the entering variable.
            let pivot = dictionary[row][column];
            let mut solved = Vec::with_capacity(width + 1);
            for (position, &entry) in dictionary[row].iter().enumerate() {
                let entry = if position == column { Rational::from(-1) } else { entry };
                solved.push(entry.divided(pivot.negated()?)?);
            }
            std::mem::swap(&mut basic[row], &mut free[column]);
            for (other, line) in dictionary.iter_mut().enumerate() {
                if other != row {
                    substitute(line, column, &solved, work)?;
                }
            }
            substitute(&mut goal, column, &solved, work)?;
            dictionary[row] = solved;
        }
    }
}

/// Puts what a variable is equal to in its place.
fn substitute(line: &mut [Rational], column: usize, solved: &[Rational], work: &mut u64) -> Option<()> {
    let factor = line[column];
    if factor.is_zero() {
        return Some(());
    }
    *work = work.checked_sub(line.len() as u64)?;
    line[column] = Rational::from(0);
    for (entry, other) in line.iter_mut().zip(solved) {
        if !other.is_zero() {
            *entry = entry.plus(factor.times(*other)?)?;
        }
    }
    Some(())
}

/// A rational number in lowest terms, with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rational {
    numerator: i128,
    denominator: i128,
}

impl From<i64> for Rational {
    fn from(number: i64) -> Self {
        Self { numerator: i128::from(number), denominator: 1 }
    }
}

impl Rational {
    fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 1 {
            return Some(Self { numerator, denominator });
        }
        let (mut left, mut right) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while right != 0 {
            (left, right) = (right, left % right);
        }
        let divisor = i128::try_from(left).ok()?.checked_mul(denominator.signum())?;
        Some(Self { numerator: numerator.checked_div(divisor)?, denominator: denominator.checked_div(divisor)? })
    }
    fn is_zero(self) -> bool {
        self.numerator == 0
    }
    fn is_positive(self) -> bool {
        self.numerator > 0
    }
    fn is_negative(self) -> bool {
        self.numerator < 0
    }
    fn negated(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, ..self })
    }
    fn plus(self, other: Self) -> Option<Self> {
        if self.denominator == other.denominator {
            return Self::new(self.numerator.checked_add(other.numerator)?, self.denominator);
        }
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }
    fn times(self, other: Self) -> Option<Self> {
        let denominator = self.denominator.checked_mul(other.denominator)?;
        Self::new(self.numerator.checked_mul(other.numerator)?, denominator)
    }
    fn divided(self, other: Self) -> Option<Self> {
        let denominator = self.denominator.checked_mul(other.numerator)?;
        Self::new(self.numerator.checked_mul(other.denominator)?, denominator)
    }
    fn compare(self, other: Self) -> Option<std::cmp::Ordering> {
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left.cmp(&other.numerator.checked_mul(self.denominator)?))
    }
    fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }
}
