//! The members of a family as they are read: regions of them, in which some constants have a fixed value, and the members that
//! the searches of a region need. Every member is compared with the others before it is used.
//!
//! Whoever asks hands in the [`Text`]: how a member is read is not known here, nor which region is searched next.

use std::ops::Range;
use std::sync::Arc;

use quotient_ir::{Budget, Interrupt, Layout, Model, PropertyId, Span, Spent};
use quotient_search::Job;

use super::classification::{Needs, classify};
use super::constants::{EverySize, EveryValue, contain, least_sum, with_sum};
use super::cutoff::{CutOff, Guards, cut_off};
use super::door::{ComparisonQuestion, Relation, job};
use super::exchanges::{Exchangeable, exchangeable};
use super::family::{Member, Members, Objects};
use super::obstacle::Obstacle;
use super::scope::{Scope, Selection};
use super::sizes::{MOST_SORTS, Sizes};
use super::views::Invariant;

/// A text with constants, as it can be read.
pub trait Text {
    /// Why it cannot be read.
    type Error;

    /// The member with some values of the constants.
    ///
    /// # Errors
    /// If there is none.
    fn read(&self, values: &[i64]) -> Result<Reading, Self::Error>;

    /// The properties that are claimed, which all members have.
    ///
    /// # Errors
    /// If there are none of these names.
    fn claimed(&self, model: &Model) -> Result<Vec<PropertyId>, Self::Error>;

    /// Whether the constants are nothing but numbers of values, as far as the form of the text shows.
    fn has_only_sizes(&self) -> bool;
}

/// A member as it was read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The model.
    pub model: Arc<Model>,
    /// Its layout.
    pub layout: Arc<Layout>,
}

/// Why a region or a member is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread<E> {
    /// The text cannot be read.
    Text(E),
    /// Members differ in more than the numbers of interchangeable objects, as far as the text shows.
    Obstacles(Vec<Obstacle>),
    /// It was interrupted.
    Interrupted,
}

impl<E> From<Obstacle> for Unread<E> {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacles(vec![obstacle])
    }
}

impl<E> From<Vec<Obstacle>> for Unread<E> {
    fn from(obstacles: Vec<Obstacle>) -> Self {
        Self::Obstacles(obstacles)
    }
}

impl<E> From<Spent> for Unread<E> {
    fn from(Spent: Spent) -> Self {
        Self::Interrupted
    }
}

/// Values of all constants: one, or all from the least on.
type Choice = Vec<Option<i64>>;

/// Some members, of which some constants have a fixed value.
#[derive(Clone, Debug)]
pub struct Region {
    choice: Choice,
    /// A member from which the others differ in the numbers of objects only.
    base: Arc<Model>,
    layout: Arc<Layout>,
    /// Whether conditions about all objects are evaluated for all of them.
    is_strict: bool,
    scope: Arc<Scope>,
    /// The members that were read.
    members: Members,
}

impl Region {
    /// What its searches are about.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// What an engine works on that is asked about the region.
    pub fn job<Q>(&self, question: Q) -> Job<Q> {
        job(&self.base, &self.layout, question)
    }
}

/// The members of a text.
#[derive(Debug)]
pub struct Family<T> {
    text: T,
    interrupt: Interrupt,
    sizes: Vec<EverySize>,
    objects: Objects,
    properties: Vec<PropertyId>,
    /// The value of its constant less the number of objects, for each type.
    offsets: [i64; MOST_SORTS],
    /// A member as it was read.
    first: Arc<Model>,
}

impl<T: Text> Family<T> {
    /// The family, and all its members.
    ///
    /// # Errors
    /// If the text cannot be read, or does not show that members differ in nothing but the numbers of some interchangeable
    /// objects.
    pub fn new(text: T, sizes: Vec<EverySize>, interrupt: Interrupt) -> Result<(Self, Region), Unread<T::Error>> {
        // Types whose numbers of values depend on different constants have different numbers.
        let values: Vec<i64> = sizes.iter().zip(2..).map(|(size, more)| size.from + more).collect();
        let smaller = text.read(&values).map_err(Unread::Text)?;
        let larger = (0..values.len()).map(|place| {
            let mut values = values.clone();
            values[place] += 1;
            text.read(&values).map_err(Unread::Text)
        });
        let larger = larger.collect::<Result<Vec<Reading>, _>>()?;
        let models: Vec<&Model> = larger.iter().map(|reading| &*reading.model).collect();
        let objects = Objects::between(&smaller.model, &models)?;
        let counts = objects.counts(&smaller.model);
        let is_one_more =
            |(place, model): (usize, &&Model)| objects.counts(model) == counts + objects.of_constant(place);
        if !text.has_only_sizes() || !models.iter().enumerate().all(is_one_more) {
            let names: Vec<&str> = sizes.iter().map(|size| size.constant.as_str()).collect();
            let is = if names.len() == 1 { "is" } else { "are" };
            let reason = format!("`{}` {is} used for more than the number of values of a type", names.join(" and "));
            return Err(Obstacle::new(reason, Span::default()).into());
        }
        let properties = text.claimed(&smaller.model).map_err(Unread::Text)?;
        let offsets = std::array::from_fn(|sort| match sort < objects.sorts() {
            true => values[objects.constant(sort)] - counts[sort] as i64,
            false => 0,
        });
        let first = Arc::clone(&smaller.model);
        let family = Self { text, interrupt, sizes, objects, properties, offsets, first };
        let whole = family.classified(vec![None; family.sizes.len()], smaller)?;
        Ok((family, whole))
    }

    /// The text it is read from.
    pub fn text(&self) -> &T {
        &self.text
    }

    /// The properties that are claimed.
    pub fn properties(&self) -> &[PropertyId] {
        &self.properties
    }

    /// How many types of objects there are.
    pub fn sorts(&self) -> usize {
        self.objects.sorts()
    }

    /// The types of objects, each after the place of its constant.
    pub fn named_objects(&self) -> Vec<(usize, String)> {
        let names = self.objects.names(&self.first).into_iter().enumerate();
        names.map(|(sort, name)| (self.objects.constant(sort), name)).collect()
    }

    /// The numbers of objects, for each type.
    pub fn numbers(&self, sizes: Sizes) -> Vec<usize> {
        (0..self.objects.sorts()).map(|sort| sizes[sort]).collect()
    }

    /// The least sum of the constants.
    pub fn least_sum(&self) -> i64 {
        least_sum(&self.sizes)
    }

    /// The values of the constants of all members with a sum of these, the first constant slowest.
    pub fn with_sum(&self, sum: i64) -> Vec<Vec<i64>> {
        with_sum(&self.sizes, sum)
    }

    /// The same for several sums, as far as an attempt is about these members.
    pub fn covered(&self, about: &[EveryValue], sums: Range<i64>) -> Vec<Vec<i64>> {
        sums.flat_map(|sum| self.with_sum(sum)).filter(|values| contain(about, values)).collect()
    }

    /// The values of the constants of a member with so many objects.
    pub fn values(&self, counts: Sizes) -> Vec<i64> {
        let sort_of = |place| (0..self.objects.sorts()).find(|&sort| self.objects.constant(sort) == place);
        let value = |place| sort_of(place).map_or(0, |sort| counts[sort] as i64 + self.offsets[sort]);
        (0..self.sizes.len()).map(value).collect()
    }

    /// The numbers of objects of a member with some values of the constants.
    fn counts(&self, values: &[i64]) -> Sizes {
        let value = |sort: usize| values[self.objects.constant(sort)] - self.offsets[sort];
        let count =
            |sort: usize| if sort < self.objects.sorts() { usize::try_from(value(sort)).unwrap_or(0) } else { 0 };
        Sizes::of(count)
    }

    /// The values of the constants that an attempt in a region is about.
    pub fn about(&self, region: &Region, kept: usize) -> Vec<EveryValue> {
        let least = self.values(region.scope.least(kept)).into_iter().zip(&self.sizes);
        let value = |(fixed, (least, size)): (&Option<i64>, (i64, &EverySize))| match *fixed {
            Some(value) => EveryValue::Is(value),
            None => EveryValue::AtLeast(least.max(size.from)),
        };
        region.choice.iter().zip(least).map(value).collect()
    }

    /// The regions that a proof about large values of the open constants of a region leaves, unless they are proved already:
    /// in each, one of these constants has a smaller value. Where no constant is open, there is a single member.
    ///
    /// # Errors
    /// If the text cannot be read so, or reads differently there.
    pub fn left_by(
        &self,
        region: &Region,
        about: &[EveryValue],
        proved: &[Vec<EveryValue>],
    ) -> Result<Vec<Region>, Unread<T::Error>> {
        let mut left = Vec::new();
        for (place, values) in about.iter().enumerate() {
            let EveryValue::AtLeast(least) = *values else { continue };
            for value in self.sizes[place].from..least {
                let mut choice = region.choice.clone();
                choice[place] = Some(value);
                if choice.contains(&None) && !proved.iter().any(|values| is_choice(values, &choice)) {
                    left.push(self.region(choice)?);
                }
            }
        }
        Ok(left)
    }

    /// A region, compared with the others.
    fn region(&self, choice: Choice) -> Result<Region, Unread<T::Error>> {
        let open = self.sizes.iter().zip(2..).map(|(size, more)| size.from + more);
        let values: Vec<i64> = choice.iter().zip(open).map(|(fixed, open)| fixed.unwrap_or(open)).collect();
        let reading = self.text.read(&values).map_err(Unread::Text)?;
        self.objects.compare(&self.first, &reading.model)?;
        self.classified(choice, reading)
    }

    /// A region, with the numbers of what its steps concern.
    fn classified(&self, choice: Choice, reading: Reading) -> Result<Region, Unread<T::Error>> {
        let (objects, counts) = (&self.objects, self.objects.counts(&reading.model));
        let fixed = |sort: usize| choice[objects.constant(sort)].map(|_| counts[sort]);
        let fixed = std::array::from_fn(|sort| if sort < objects.sorts() { fixed(sort) } else { None });
        let from: Vec<i64> = self.sizes.iter().map(|size| size.from).collect();
        let from = self.counts(&from);
        let least = Sizes::of(|sort| if sort < objects.sorts() { from[sort].max(2) } else { 0 });
        let needs =
            |model: &Model| -> Result<Needs, Vec<Obstacle>> { classify(model, objects, &self.properties, least) };
        // These obstacles have better places than those against symmetry.
        let member = Member::new(Arc::clone(&reading.model), Arc::clone(&reading.layout), objects)?;
        let pointers = member.pointers();
        let is_ordered = needs(&reading.model)?.is_ordered;
        let Exchangeable { model: base, is_strict } = self.exchangeable(&reading, is_ordered)?;
        let needs = needs(&base)?;
        let scope = Arc::new(Scope { objects: objects.with_order(is_ordered), needs, pointers, fixed });
        Ok(Region { choice, base, layout: reading.layout, is_strict, scope, members: Members::new() })
    }

    /// A member whose objects can be exchanged, or have an order.
    fn exchangeable(&self, reading: &Reading, is_ordered: bool) -> Result<Exchangeable, Unread<T::Error>> {
        let Reading { model, layout } = reading;
        if is_ordered {
            return Ok(Exchangeable { model: Arc::clone(model), is_strict: false });
        }
        let budget = Budget::until(&self.interrupt);
        Ok(exchangeable(model, layout, &self.objects, &self.properties, &budget)??)
    }

    /// A member of a region, compared with the others.
    fn member(&self, region: &Region, counts: Sizes) -> Result<Member, Unread<T::Error>> {
        let values = self.values(counts);
        let reading = self.text.read(&values).map_err(Unread::Text)?;
        let objects = &region.scope.objects;
        let Exchangeable { model, is_strict } = self.exchangeable(&reading, objects.is_ordered())?;
        objects.compare(&region.base, &model)?;
        if objects.counts(&model) != counts || is_strict != region.is_strict {
            let equations = self.sizes.iter().zip(&values).map(|(size, value)| format!("{} = {value}", size.constant));
            let equations = equations.collect::<Vec<_>>().join(", ");
            return Err(Obstacle::new(format!("the text reads differently with {equations}"), Span::default()).into());
        }
        Ok(Member::new(model, reading.layout, objects)?)
    }

    /// The members of a region of some sizes, and no others.
    ///
    /// # Errors
    /// If the text cannot be read so, or reads differently there.
    pub fn select(&self, region: &mut Region, wanted: &[Sizes]) -> Result<Selection, Unread<T::Error>> {
        for &counts in wanted {
            if !region.members.contains_key(&counts) {
                let member = self.member(region, counts)?;
                region.members.insert(counts, Arc::new(member));
            }
        }
        let chosen = region.members.iter().filter(|(counts, _)| wanted.contains(counts));
        let members = chosen.map(|(&counts, member)| (counts, Arc::clone(member))).collect();
        Ok(Selection { members, scope: Arc::clone(&region.scope) })
    }

    /// A comparison of a member of a region with an invariant.
    ///
    /// # Errors
    /// If the text cannot be read so, or reads differently there.
    pub fn comparison(
        &self,
        region: &Region,
        values: &[i64],
        invariant: &Arc<Invariant>,
        relation: Relation,
        most: usize,
    ) -> Result<ComparisonQuestion, Unread<T::Error>> {
        let member = Arc::new(self.member(region, self.counts(values))?);
        let (scope, invariant) = (Arc::clone(&region.scope), Arc::clone(invariant));
        Ok(ComparisonQuestion { member, scope, invariant, relation, most })
    }

    /// What the text shows about a cut-off in a region, or where it does not.
    ///
    /// # Errors
    /// If the text cannot be read again.
    pub fn cut_off(&self, region: &Region) -> Result<Result<CutOff, Vec<Obstacle>>, Unread<T::Error>> {
        let counts = self.objects.counts(&region.base);
        let member = self.member(region, counts)?;
        Ok(cut_off(&member, &region.scope, region.is_strict, &self.properties))
    }

    /// The value of the only constant that is a cut-off, if so many contents of an object occur.
    pub fn cut_off_value(&self, region: &Region, shown: &CutOff, contents: usize) -> i64 {
        let objects = shown.objects(contents);
        let value = self.values(Sizes::of(|sort| if sort == 0 { objects } else { 0 }))[0];
        match shown.guards {
            // The contents are those of members from this number on.
            Guards::Some => value.max(self.values(region.scope.least(1))[0] - 1).max(1),
            Guards::All => value.max(1),
        }
    }
}

/// Whether a proof is about a region.
fn is_choice(values: &[EveryValue], choice: &Choice) -> bool {
    values.iter().zip(choice).all(|pair| match pair {
        (EveryValue::Is(own), Some(value)) => own == value,
        (EveryValue::AtLeast(_), None) => true,
        _ => false,
    })
}
