//! Claims about every size: all models of one text that differ in a constant or two, from values of these on
//! ([why so](../../../docs/adr/0038-every-size.md), [two types](../../../docs/adr/0044-two-types-for-every-size.md)).
//!
//! Small members are searched one by one, and all others at once: by views of states, with more and more objects in a
//! view, and backward from what is wrong. With two constants, what is proved for large values of both leaves members in which
//! one is small and the other is any: these are regions of their own. Members are searched in the order of the sum of the
//! constants, so the first violation is a smallest one.
//!
//! Some texts show how many objects suffice for all numbers of them ([cut-offs](../../../docs/adr/0053-cut-offs.md)): then members
//! with up to so many are searched, and that is all.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::languages::{NamedNumber, named_numbers};
use quotient_every::{
    Attempt, Backward, BackwardLimits, Comparison, CutOff, Guards, Invariant, MOST_SORTS, Member, Members, Objects,
    Obstacle, Scope, Sizes, Unchecked, attempt, backward, classify, compare, compare_smaller, contents_of_one, cut_off,
    recheck,
};
use quotient_ir::{self as ir, Budget, Diagnostic, PropertyId, Span};
use quotient_search::{StopReason, Verdict};
use quotient_symmetry::{Preserved, RoleReport, symmetries_of_text};

use crate::control::{Control, Observer, Phase, Supervised};
use crate::error::Error;
use crate::lowering::Lowering;
use crate::model::Model;
use crate::names::ERRORS;
use crate::options::{Limits, Options};
use crate::plan::{Plan, refuse_every};
use crate::refusal::Refusal;
use crate::report::Report;
use crate::selection::{claims, named_properties};
use quotient_search::defect::Defect;

/// The most objects of a view, besides those that shared variables name.
const MOST_KEPT: usize = 6;
/// The most views of an attempt.
const MOST_VIEWS: usize = 20_000_000;
/// The most steps and parts of a backward search.
const MOST_MOVES: usize = 3_000_000;
/// The most views of one object with which a backward search is tried although views of two objects may be fewer.
const MOST_VIEWS_TRIED: usize = 4_000;
/// After views of so many objects a backward search is tried, if the family is monotone; otherwise after two.
const BACKWARD_AFTER: usize = 1;
/// Members are compared with an invariant if the sum of the constants is less than this larger than the least one; but at
/// least one is.
const COMPARED: i64 = 6;
/// A member with more states than this, up to exchanges of objects, is not compared.
const MOST_COMPARED: usize = 300_000;
/// By default, a cut-off that the text shows is used if what its member has to store is at most this, as far as the contents of objects
/// tell.
const MOST_OF_CUT_OFF: u128 = 1_000_000;
/// For a cut-off, members that are larger by so much are visited besides.
const MORE_FOR_CUT_OFF: i64 = 6;
/// But none with more states than this, up to exchanges of objects.
const MOST_FOR_CUT_OFF: usize = 20_000;

/// A claim about every value of some constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Every {
    /// The constants, each the number of values of a type.
    pub sizes: Vec<EverySize>,
    /// How it is proved.
    pub method: EveryMethod,
}

/// A constant, from a value on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EverySize {
    /// The constant.
    pub constant: String,
    /// Its least value.
    pub from: i64,
}

/// Values of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EveryValue {
    /// One value.
    Is(i64),
    /// All from one on.
    AtLeast(i64),
}

impl EveryValue {
    /// The least of them.
    pub fn least(self) -> i64 {
        let (Self::Is(value) | Self::AtLeast(value)) = self;
        value
    }

    fn contains(self, value: i64) -> bool {
        match self {
            Self::Is(own) => own == value,
            Self::AtLeast(least) => least <= value,
        }
    }
}

impl fmt::Display for EveryValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(value) => write!(formatter, "= {value}"),
            Self::AtLeast(value) => write!(formatter, "≥ {value}"),
        }
    }
}

impl Every {
    /// Values of the constants in words.
    pub fn words<T: fmt::Display>(&self, values: &[T]) -> String {
        let words = self.sizes.iter().zip(values).map(|(size, value)| format!("{} {value}", size.constant));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Single values of the constants in words.
    pub fn equations(&self, values: &[i64]) -> String {
        self.words(&values.iter().map(|&value| EveryValue::Is(value)).collect::<Vec<_>>())
    }

    fn names(&self) -> String {
        self.sizes.iter().map(|size| size.constant.as_str()).collect::<Vec<_>>().join(" and ")
    }

    /// The values with a sum that are not below the least ones, the first constant slowest.
    fn with_sum(&self, sum: i64) -> Vec<Vec<i64>> {
        let mut found: Vec<(Vec<i64>, i64)> = vec![(Vec::new(), sum)];
        for (place, size) in self.sizes.iter().enumerate() {
            let later: i64 = self.sizes[place + 1..].iter().map(|size| size.from).sum();
            let is_last = place + 1 == self.sizes.len();
            let next = |(values, rest): (Vec<i64>, i64)| {
                let first = if is_last { rest.max(size.from) } else { size.from };
                (first..=rest - later).map(move |value| ([&values[..], &[value]].concat(), rest - value))
            };
            found = found.into_iter().flat_map(next).collect();
        }
        found.into_iter().map(|(values, _)| values).collect()
    }

    fn least_sum(&self) -> i64 {
        self.sizes.iter().map(|size| size.from).sum()
    }
}

/// How a claim about every value of a constant is proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EveryMethod {
    /// In one way or another.
    #[default]
    Auto,
    /// By views of states.
    Views,
    /// By a search backward from what is wrong.
    Backward,
    /// By a search of all members up to a cut-off that the text shows.
    CutOff,
}

/// What the guards of a text ask about all objects. It depends on this which cut-off the text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EveryGuards {
    /// Whether some object is somewhere.
    Some,
    /// Whether all are somewhere; or nothing.
    All,
}

/// A number of objects that the text shows to suffice: if something goes wrong in a larger member, something goes wrong in one with so
/// many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EveryTextCutOff {
    /// The value of the constant.
    pub value: i64,
    /// What guards ask.
    pub guards: EveryGuards,
    /// How many contents of an object occur, at most; none if the cut-off does not depend on it.
    pub contents: Option<usize>,
    /// How many objects it takes to see that something is wrong.
    pub concerned: usize,
    /// Whether all members up to it were searched, so that they are the proof.
    pub is_proof: bool,
}

/// The result of a claim about every value of a constant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EveryReport {
    /// Violated if some member violates a property; holds if it was proved that none does.
    pub verdict: Verdict,
    /// The claim.
    pub claim: Every,
    /// The types of the objects, each after the place of its constant in the claim.
    pub objects: Vec<(usize, String)>,
    /// Whether the text compares objects by their order: then a view has them in this order.
    pub is_ordered: bool,
    /// The properties of the text that were checked, and run-time errors.
    pub properties: Vec<PropertyId>,
    /// The members that were searched, by the values of the constants, with the states stored.
    pub searched: Vec<(Vec<i64>, u64)>,
    /// The attempts to prove it, in order.
    pub attempts: Vec<EveryAttempt>,
    /// The conditions because of which more objects may prevent a step, change what it does, or make right what is wrong,
    /// and where they are. Without any, the family is monotone, and a backward search decides.
    pub tests: Vec<(String, Span)>,
    /// What was proved: the first one is about all members with large values of all constants. If it holds, these and the
    /// members that were searched are all.
    pub proofs: Vec<EveryProof>,
    /// The cut-off that the text shows, if it was asked for.
    pub cut_off: Option<EveryTextCutOff>,
    /// The member that violates a property, and the report about it. Of all that do, its constants have the least sum, and
    /// among those with this sum the first constant is least.
    pub violation: Option<(Vec<i64>, Model, Box<Report>)>,
    /// Why there is no verdict, if there is none.
    pub open: Option<String>,
    /// The limit that was reached, if one was.
    pub stop_reason: Option<StopReason>,
    /// The total time.
    pub elapsed: Duration,
}

/// An attempt to prove a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EveryAttempt {
    /// Views, or backward.
    pub method: EveryMethod,
    /// The values of the constants that it is about.
    pub values: Vec<EveryValue>,
    /// How many objects of each type besides those that shared variables name a view has.
    pub kept: usize,
    /// How many views there were at its end.
    pub views: usize,
    /// How many parts of states a backward search had found.
    pub parts: usize,
    /// What was wrong with a state that the views stand for, or that something wrong can be reached, as far as a backward
    /// search can tell; and with how many objects of each type.
    pub wrong: Option<(String, Vec<usize>)>,
    /// The time it took.
    pub elapsed: Duration,
}

/// A set of views that contains those of all reachable states of some members, and parts that none contains.
#[derive(Clone, Debug)]
pub struct EveryProof {
    /// The values of the constants of these members.
    pub values: Vec<EveryValue>,
    /// How many objects of each type besides those that shared variables name a view has; all, if the number is fixed.
    pub kept: usize,
    /// How it was found.
    pub method: EveryMethod,
    /// The views in words.
    pub invariant: Vec<String>,
    /// The parts that no reachable state contains, in words.
    pub excluded: Vec<String>,
    /// How many shared parts occur, with the objects that they name.
    pub contexts: usize,
    /// How many contents of objects occur.
    pub rows: usize,
    /// How many states were looked at when the views were checked again.
    pub rechecked: u64,
    /// The members all of whose states were looked up in the views, by the values of the constants, with the number of
    /// states up to exchanges of objects.
    pub compared: Vec<(Vec<i64>, u64)>,
    /// A member that has all these views, if one was found.
    pub cut_off: Option<EveryCutOff>,
}

/// A member that has all views that occur in others: what the shared variables, the objects that these name and as many others as a
/// view has hold in one of these, they also hold in a reachable state of this member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EveryCutOff {
    /// The values of the constants of the member.
    pub values: Vec<i64>,
    /// The values of the constants of the others.
    pub about: Vec<EveryValue>,
}

/// Checks the invariants of a model, and that nothing goes wrong, for all values of constants from some on. Members are
/// read from the text of the model.
///
/// # Errors
/// If the options cannot be used, or the text does not show that the members differ in nothing but the number of some
/// interchangeable objects.
pub fn every(
    model: &Model,
    claim: &Every,
    options: &Options,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<EveryReport, Error> {
    let started = Instant::now();
    refuse_every(options)?;
    control.tighten(&options.limits);
    let model = &model.lowered(Lowering::for_check(options), control)?;
    let (mut family, whole) = Family::new(model, claim, options, control)?;
    let mut report = EveryReport {
        verdict: Verdict::Inconclusive,
        claim: claim.clone(),
        objects: family.named_objects(),
        is_ordered: whole.scope.objects.is_ordered(),
        properties: family.properties.clone(),
        searched: Vec::new(),
        attempts: Vec::new(),
        tests: whole.scope.needs.tests.iter().map(|test| (test.reason.clone(), test.span)).collect(),
        proofs: Vec::new(),
        cut_off: None,
        violation: None,
        open: None,
        stop_reason: None,
        elapsed: Duration::ZERO,
    };
    family.decide(whole, &mut report, options, control, observer)?;
    report.elapsed = started.elapsed();
    Ok(report)
}

/// Values of all constants: one, or all from the least on.
type Choice = Vec<Option<i64>>;

/// Some members, of which some constants have a fixed value.
struct Region {
    choice: Choice,
    /// A member from which the others differ in the numbers of objects only.
    base: ir::Model,
    /// Whether conditions about all objects are evaluated for all of them.
    is_strict: bool,
    scope: Scope,
    /// The members that were read.
    members: Members,
}

/// The members of a text, as far as they were read.
struct Family<'a> {
    model: &'a Model,
    claim: &'a Every,
    control: &'a Control,
    objects: Objects,
    properties: Vec<PropertyId>,
    /// The value of its constant less the number of objects, for each type.
    offsets: [i64; MOST_SORTS],
    /// A member as it was read.
    text: ir::Model,
    /// All members with at most this sum of the constants have been searched, unless they were proved.
    searched: i64,
}

impl<'a> Family<'a> {
    /// The family, and all its members.
    fn new(
        model: &'a Model,
        claim: &'a Every,
        options: &Options,
        control: &'a Control,
    ) -> Result<(Self, Region), Error> {
        control.enter(Phase::Detecting);
        let mut are_sizes = true;
        for (place, size) in claim.sizes.iter().enumerate() {
            are_sizes &= constant(model, &size.constant)?;
            let refused = |reason: &str| Err(Refusal::Every(format!("`{}` {reason}", size.constant)).into());
            if size.from < 1 {
                return refused("is the number of objects, and begins with 1");
            }
            if claim.sizes[..place].iter().any(|other| other.constant == size.constant) {
                return refused("is given twice");
            }
        }
        // Types whose numbers of values depend on different constants have different numbers.
        let values: Vec<i64> = claim.sizes.iter().zip(2..).map(|(size, more)| size.from + more).collect();
        let smaller = read(model, claim, &values, control)?;
        let larger = (0..values.len()).map(|place| {
            let mut values = values.clone();
            values[place] += 1;
            read(model, claim, &values, control)
        });
        let larger = larger.collect::<Result<Vec<Model>, Error>>()?;
        let of_text = |obstacle: Obstacle| refused(model, claim, vec![obstacle]);
        let texts: Vec<&ir::Model> = larger.iter().map(Model::ir).collect();
        let objects = Objects::between(smaller.ir(), &texts).map_err(of_text)?;
        let counts = objects.counts(smaller.ir());
        let is_one_more =
            texts.iter().enumerate().all(|(place, text)| objects.counts(text) == counts + objects.of_constant(place));
        if !are_sizes || !is_one_more {
            let is = if claim.sizes.len() == 1 { "is" } else { "are" };
            let reason = format!("`{}` {is} used for more than the number of values of a type", claim.names());
            return Err(of_text(Obstacle { reason, span: Span::default() }));
        }
        let properties = match options.properties.is_empty() {
            true => claims(smaller.ir(), None),
            false => named_properties(smaller.ir(), &options.properties)?,
        };
        let offsets = std::array::from_fn(|sort| match sort < objects.sorts() {
            true => values[objects.constant(sort)] - counts[sort] as i64,
            false => 0,
        });
        let reading = Reading { model, claim, control, objects: &objects, properties: &properties, offsets };
        let whole = reading.region(vec![None; claim.sizes.len()], &smaller)?;
        let (text, searched) = (smaller.ir().clone(), claim.least_sum() - 1);
        Ok((Self { model, claim, control, objects, properties, offsets, text, searched }, whole))
    }

    fn reading(&self) -> Reading<'_> {
        let Self { model, claim, control, objects, properties, offsets, .. } = self;
        Reading { model, claim, control, objects, properties, offsets: *offsets }
    }

    fn read(&mut self, values: &[i64]) -> Result<Model, Error> {
        read(self.model, self.claim, values, self.control)
    }

    fn named_objects(&self) -> Vec<(usize, String)> {
        let names = self.objects.names(&self.text).into_iter().enumerate();
        names.map(|(sort, name)| (self.objects.constant(sort), name)).collect()
    }

    /// The numbers of objects, for each type.
    fn numbers(&self, sizes: Sizes) -> Vec<usize> {
        (0..self.objects.sorts()).map(|sort| sizes[sort]).collect()
    }

    /// The values of the constants of a member with so many objects.
    fn values(&self, counts: Sizes) -> Vec<i64> {
        let sort_of = |place| (0..self.objects.sorts()).find(|&sort| self.objects.constant(sort) == place);
        let value = |place| sort_of(place).map_or(0, |sort| counts[sort] as i64 + self.offsets[sort]);
        (0..self.claim.sizes.len()).map(value).collect()
    }

    /// A region, compared with the others.
    fn region(&mut self, choice: Choice) -> Result<Region, Error> {
        let open = self.claim.sizes.iter().zip(2..).map(|(size, more)| size.from + more);
        let values: Vec<i64> = choice.iter().zip(open).map(|(fixed, open)| fixed.unwrap_or(open)).collect();
        let model = self.read(&values)?;
        let obstacle = |obstacle| refused(self.model, self.claim, vec![obstacle]);
        self.objects.compare(&self.text, model.ir()).map_err(obstacle)?;
        self.reading().region(choice, &model)
    }

    /// A member of a region, compared with the others.
    fn member(&mut self, region: &Region, counts: Sizes) -> Result<Member, Error> {
        let values = self.values(counts);
        let model = self.read(&values)?;
        let objects = &region.scope.objects;
        let (ir, is_strict) = self.reading().symmetric(&model, objects.is_ordered())?;
        let obstacle = |obstacle| refused(self.model, self.claim, vec![obstacle]);
        self.objects.compare(&region.base, &ir).map_err(obstacle)?;
        if self.objects.counts(&ir) != counts || is_strict != region.is_strict {
            let reason = format!("the text reads differently with {}", self.claim.equations(&values));
            return Err(obstacle(Obstacle { reason, span: Span::default() }));
        }
        Member::new(ir, model.layout().clone(), objects).map_err(obstacle)
    }

    /// The members of a region of some sizes, and no others.
    fn members(&mut self, region: &mut Region, wanted: &[Sizes]) -> Result<Members, Error> {
        for &counts in wanted {
            if !region.members.contains_key(&counts) {
                let member = self.member(region, counts)?;
                region.members.insert(counts, member);
            }
        }
        let chosen = region.members.iter().filter(|(counts, _)| wanted.contains(counts));
        Ok(chosen.map(|(&counts, member)| (counts, member.clone())).collect())
    }

    /// The values of the constants that an attempt in a region is about.
    fn about(&self, region: &Region, kept: usize) -> Vec<EveryValue> {
        let least = self.values(region.scope.least(kept)).into_iter().zip(&self.claim.sizes);
        let value = |(fixed, (least, size)): (&Option<i64>, (i64, &EverySize))| match *fixed {
            Some(value) => EveryValue::Is(value),
            None => EveryValue::AtLeast(least.max(size.from)),
        };
        region.choice.iter().zip(least).map(value).collect()
    }

    /// Searches small members, views and backward by turns.
    fn decide(
        &mut self,
        whole: Region,
        report: &mut EveryReport,
        options: &Options,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let has_two = self.objects.sorts() > 1;
        let has_order = whole.scope.objects.is_ordered();
        if self.claim.method == EveryMethod::Backward {
            let refused = |reason: &str| Err(Refusal::Every(format!("a search backward is for {reason}")).into());
            if has_two {
                return refused("one type of objects, and there are two here");
            }
            if has_order {
                return refused("objects without an order, and they are compared by it here");
            }
        }
        if self.claim.method == EveryMethod::CutOff {
            let shown =
                self.shown_cut_off(&whole)?.map_err(|obstacles| no_cut_off(self.model, self.claim, obstacles))?;
            return self.by_cut_off(whole, shown, report, options, control, observer);
        }
        let backward_after = match self.claim.method {
            EveryMethod::Views | EveryMethod::CutOff => MOST_KEPT + 1,
            EveryMethod::Backward => 1,
            EveryMethod::Auto if has_two || has_order => MOST_KEPT + 1,
            EveryMethod::Auto if whole.scope.needs.tests.is_empty() => BACKWARD_AFTER,
            EveryMethod::Auto => BACKWARD_AFTER + 1,
        };
        let most_kept = if self.claim.method == EveryMethod::Backward { 1 } else { MOST_KEPT };
        let mut regions = vec![whole];
        for kept in 1..=most_kept {
            let mut pending = VecDeque::from(std::mem::take(&mut regions));
            while let Some(mut region) = pending.pop_front() {
                let about = self.about(&region, kept);
                if !self.search_below(&about, report, options, control, observer)? {
                    return Ok(());
                }
                if self.claim.method == EveryMethod::Backward {
                    regions.push(region);
                    continue;
                }
                match self.by_views(&mut region, kept, report, control, observer)? {
                    Progress::Proved => pending.extend(self.left_by(&region, &about, report)?),
                    Progress::None => regions.push(region),
                    Progress::Stopped => return Ok(()),
                }
            }
            if regions.is_empty() {
                report.verdict = Verdict::Holds;
                return Ok(());
            }
            // It is tried with one type of objects, which is one region.
            if let [region] = &mut regions[..]
                && kept == backward_after
            {
                match self.by_parts(region, report, options, control, observer)? {
                    Progress::Proved => {
                        report.verdict = Verdict::Holds;
                        return Ok(());
                    }
                    Progress::None => {}
                    Progress::Stopped => return Ok(()),
                }
            }
        }
        // With two types of objects, there is none.
        if regions.len() == 1
            && self.claim.method == EveryMethod::Auto
            && let Some(region) = regions.pop()
            && let Ok(shown) = self.shown_cut_off(&region)?
        {
            self.by_cut_off(region, shown, report, options, control, observer)?;
            if report.verdict != Verdict::Inconclusive || report.stop_reason.is_some() {
                return Ok(());
            }
        }
        if report.open.is_none() {
            report.open = Some(match self.claim.method {
                EveryMethod::Backward => "the family is not monotone, and a search backward is too coarse".to_owned(),
                _ => format!("views of up to {MOST_KEPT} objects are too coarse"),
            });
        }
        Ok(())
    }

    /// The regions that a proof about large values of the open constants of a region leaves, unless they are known already:
    /// in each, one of these constants has a smaller value. Where no constant is open, the member has been searched.
    fn left_by(&mut self, region: &Region, about: &[EveryValue], report: &EveryReport) -> Result<Vec<Region>, Error> {
        let mut left = Vec::new();
        for (place, values) in about.iter().enumerate() {
            let EveryValue::AtLeast(least) = *values else { continue };
            for value in self.claim.sizes[place].from..least {
                let mut choice = region.choice.clone();
                choice[place] = Some(value);
                let is_proved = report.proofs.iter().any(|proof| is_choice(&proof.values, &choice));
                if choice.contains(&None) && !is_proved {
                    left.push(self.region(choice)?);
                }
            }
        }
        Ok(left)
    }

    /// Searches all members that have not been searched or proved, as far as an attempt leaves members with the same sum of the
    /// constants. Returns whether they are right.
    fn search_below(
        &mut self,
        about: &[EveryValue],
        report: &mut EveryReport,
        options: &Options,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let largest = |values: &EveryValue| match *values {
            EveryValue::Is(value) => value,
            EveryValue::AtLeast(least) => least - 1,
        };
        self.search_to(about.iter().map(largest).sum(), report, options, control, observer)
    }

    /// Searches all members up to a sum of the constants that have not been searched or proved. Returns whether they are right.
    fn search_to(
        &mut self,
        sum: i64,
        report: &mut EveryReport,
        options: &Options,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let of_members = member_options(options);
        while self.searched < sum {
            for values in self.claim.with_sum(self.searched + 1) {
                let is_in = |proof: &EveryProof| proof.values.iter().zip(&values).all(|(own, &it)| own.contains(it));
                if report.proofs.iter().any(is_in) {
                    continue;
                }
                let model = self.read(&values)?;
                let found = Plan::of(&model, &of_members)?.run_with(control, observer)?;
                report.searched.push((values.clone(), found.states));
                match found.verdict {
                    Verdict::Holds => {}
                    Verdict::Violated => {
                        report.verdict = Verdict::Violated;
                        report.violation = Some((values, model, Box::new(found)));
                        return Ok(false);
                    }
                    Verdict::Inconclusive => {
                        let values = self.claim.equations(&values);
                        report.open = Some(format!("the search with {values} did not finish"));
                        report.stop_reason = found.stop_reason;
                        return Ok(false);
                    }
                }
            }
            self.searched += 1;
        }
        Ok(true)
    }

    /// Searches with views.
    fn by_views(
        &mut self,
        region: &mut Region,
        kept: usize,
        report: &mut EveryReport,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<Progress, Error> {
        let members = self.members(region, &region.scope.sizes(kept..=kept))?;
        control.enter(Phase::Searching);
        let started = Instant::now();
        let (of_work, scope, interrupt) = (members.clone(), region.scope.clone(), control.interrupt().clone());
        let work = move || attempt(&of_work, &scope, kept, MOST_VIEWS, &interrupt);
        let outcome = match control.supervise(observer, work)? {
            Supervised::Done(outcome) => outcome,
            Supervised::Abandoned(_) => Attempt::Stopped { views: 0 },
        };
        let (method, elapsed, values) = (EveryMethod::Views, started.elapsed(), self.about(region, kept));
        let note = |views, wrong| {
            report.attempts.push(EveryAttempt { method, values, kept, views, parts: 0, wrong, elapsed });
        };
        match outcome {
            Attempt::Closed(invariant) => {
                note(invariant.len(), None);
                self.confirm(report, region, *invariant, members, control, observer)
            }
            Attempt::Wrong { what, objects, views } => {
                note(views, Some((what, self.numbers(objects))));
                Ok(Progress::None)
            }
            Attempt::Stopped { views } => {
                note(views, None);
                report.open = Some(format!("the search for views of {kept} objects did not finish"));
                report.stop_reason = control.check();
                Ok(Progress::Stopped)
            }
        }
    }

    /// Searches backward.
    fn by_parts(
        &mut self,
        region: &mut Region,
        report: &mut EveryReport,
        options: &Options,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<Progress, Error> {
        let members = self.members(region, &region.scope.sizes(1..=1))?;
        control.enter(Phase::Searching);
        let started = Instant::now();
        let (scope, interrupt) = (region.scope.clone(), control.interrupt().clone());
        let views = if self.claim.method == EveryMethod::Auto { MOST_VIEWS_TRIED } else { MOST_VIEWS };
        let limits = BackwardLimits { views, moves: MOST_MOVES };
        let work = move || backward(&members, &scope, limits, &interrupt);
        let outcome = match control.supervise(observer, work)? {
            Supervised::Done(outcome) => outcome,
            Supervised::Abandoned(_) => Backward::Stopped { parts: 0, views: 0 },
        };
        let (method, elapsed, values) = (EveryMethod::Backward, started.elapsed(), self.about(region, 1));
        let note = |views, parts, wrong| {
            report.attempts.push(EveryAttempt { method, values, kept: 1, views, parts, wrong, elapsed });
        };
        match outcome {
            Backward::Closed(invariant) => {
                note(invariant.len(), invariant.excluded(), None);
                let members = self.members(region, &region.scope.sizes(1..=invariant.width()))?;
                self.confirm(report, region, *invariant, members, control, observer)
            }
            Backward::Reached { objects, parts, views } => {
                let wrong = ("an initial state contains one of them".to_owned(), self.numbers(objects));
                note(views, parts, Some(wrong));
                let is_exact = region.scope.needs.tests.is_empty();
                if !is_exact && self.claim.method == EveryMethod::Auto {
                    return Ok(Progress::None);
                }
                let values = self.values(objects);
                let is_right = self.search_to(values.iter().sum(), report, options, control, observer)?;
                if is_right && is_exact {
                    let values = self.claim.equations(&values);
                    return Err(Defect::noticed(format!("with {values} there is no violation")).into());
                }
                Ok(if is_right { Progress::None } else { Progress::Stopped })
            }
            Backward::Stopped { parts, views } => {
                note(views, parts, None);
                report.stop_reason = control.check();
                if report.stop_reason.is_some() || self.claim.method == EveryMethod::Backward {
                    report.open = Some("the search backward did not finish".to_owned());
                    return Ok(Progress::Stopped);
                }
                Ok(Progress::None)
            }
        }
    }

    /// What the text shows about a cut-off, or where it does not.
    fn shown_cut_off(&mut self, region: &Region) -> Result<Result<CutOff, Vec<Obstacle>>, Error> {
        let counts = self.objects.counts(&region.base);
        let member = self.member(region, counts)?;
        Ok(cut_off(&member, &region.scope, region.is_strict, &self.properties))
    }

    /// Searches all members up to a cut-off that the text shows. By default, only if that is cheap.
    fn by_cut_off(
        &mut self,
        mut region: Region,
        shown: CutOff,
        report: &mut EveryReport,
        options: &Options,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let is_auto = self.claim.method == EveryMethod::Auto;
        let from = self.claim.least_sum();
        let mut contents = None;
        if is_auto || shown.guards == Guards::Some {
            let sizes = region.scope.sizes(1..=1);
            let members = self.members(&mut region, &sizes)?;
            control.enter(Phase::Searching);
            let (scope, interrupt) = (region.scope.clone(), control.interrupt().clone());
            let work = move || contents_of_one(&members, &scope, MOST_VIEWS, &interrupt);
            contents = match control.supervise(observer, work)? {
                Supervised::Done(contents) => contents,
                Supervised::Abandoned(_) => None,
            };
            if contents.is_none() {
                report.open = Some("the search for all that a process can hold did not finish".to_owned());
                report.stop_reason = control.check();
                return Ok(());
            }
        }
        let objects = shown.objects(contents.unwrap_or(0));
        let mut value = self.values(Sizes::of(|sort| if sort == 0 { objects } else { 0 }))[0];
        if shown.guards == Guards::Some {
            // The contents are those of members from this number on.
            value = value.max(self.values(region.scope.least(1))[0] - 1);
        }
        let (value, guards) = match shown.guards {
            Guards::Some => (value.max(1), EveryGuards::Some),
            Guards::All => (value.max(1), EveryGuards::All),
        };
        let of_contents = contents.filter(|_| guards == EveryGuards::Some);
        let noted =
            EveryTextCutOff { value, guards, contents: of_contents, concerned: shown.concerned, is_proof: false };
        report.cut_off = Some(noted);
        let is_cheap = contents.is_some_and(|contents| multisets(contents, value.max(from)) <= MOST_OF_CUT_OFF);
        if is_auto && self.searched < value && !is_cheap {
            return Ok(());
        }
        // If more are asked for than the cut-off, the smallest of these is like one of its size.
        if self.search_to(value.max(from), report, options, control, observer)? {
            report.verdict = Verdict::Holds;
            report.cut_off = Some(EveryTextCutOff { is_proof: true, ..noted });
        }
        Ok(())
    }

    /// Checks an invariant again, and against all states of small members.
    fn confirm(
        &mut self,
        report: &mut EveryReport,
        region: &Region,
        invariant: Invariant,
        members: Members,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<Progress, Error> {
        control.enter(Phase::Comparing);
        let mut rechecked = None;
        let invariant = Arc::new(invariant);
        // All members have the same cells.
        let named = members.values().next().cloned();
        {
            let scope = region.scope.clone();
            let (interrupt, invariant) = (control.interrupt().clone(), Arc::clone(&invariant));
            let work = move || recheck(&members, &scope, &invariant, &interrupt);
            if let Supervised::Done(outcome) = control.supervise(observer, work)? {
                rechecked = unless_contradicted(outcome)?;
            }
        }
        let (Some(rechecked), Some(named)) = (rechecked, named) else {
            report.open = Some("an invariant was found, and not all of it checked again".to_owned());
            report.stop_reason = control.check();
            return Ok(Progress::Stopped);
        };
        let values = self.about(region, invariant.kept);
        let mut compared: Vec<(Vec<i64>, u64)> = Vec::new();
        let mut cut_off = None;
        let least: i64 = values.iter().map(|values| values.least()).sum();
        let sums = least..(self.claim.least_sum() + COMPARED).max(least + 1);
        let candidates = sums.flat_map(|sum| self.claim.with_sum(sum)).collect::<Vec<_>>();
        let is_in = |candidate: &Vec<i64>| values.iter().zip(candidate).all(|(own, &value)| own.contains(value));
        let candidates: Vec<Vec<i64>> = candidates.into_iter().filter(is_in).collect();
        let last = candidates.last().map_or(least, |candidate| candidate.iter().sum());
        for candidate in candidates {
            // What is proved does not depend on whether there is time for this.
            let Some(found) = self.compare(region, &candidate, &invariant, MOST_COMPARED, control, observer)? else {
                break;
            };
            if cut_off.is_none() && found.has_all_views {
                cut_off = Some(EveryCutOff { values: candidate.clone(), about: values.clone() });
            }
            compared.push((candidate, found.states));
        }
        if let [EveryValue::AtLeast(_)] = values[..] {
            let more = (last + 1..=last + MORE_FOR_CUT_OFF).map(|value| vec![value]);
            for candidate in more {
                let is_small = |(_, states): &(Vec<i64>, u64)| *states <= MOST_FOR_CUT_OFF as u64;
                if cut_off.is_some() || !compared.last().is_some_and(is_small) {
                    break;
                }
                let found = self.compare(region, &candidate, &invariant, MOST_FOR_CUT_OFF, control, observer)?;
                let Some(found) = found else { break };
                if found.has_all_views {
                    cut_off = Some(EveryCutOff { values: candidate.clone(), about: values.clone() });
                }
                compared.push((candidate, found.states));
            }
            cut_off = self.smaller_cut_off(region, least, &invariant, cut_off, control, observer)?;
        }
        report.proofs.push(EveryProof {
            values,
            kept: invariant.kept,
            method: report.attempts.last().map_or(EveryMethod::Views, |attempt| attempt.method),
            invariant: invariant.lines(&named),
            excluded: invariant.excluded_lines(&named),
            contexts: invariant.contexts(),
            rows: invariant.rows(),
            rechecked,
            compared,
            cut_off,
        });
        Ok(Progress::Proved)
    }

    /// Looks up all states of a member that an invariant is about, if these are not too many.
    fn compare(
        &mut self,
        region: &Region,
        values: &[i64],
        invariant: &Arc<Invariant>,
        most: usize,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<Option<Comparison>, Error> {
        let counts = self.reading().counts(values);
        let (member, scope) = (self.member(region, counts)?, region.scope.clone());
        let (interrupt, invariant) = (control.interrupt().clone(), Arc::clone(invariant));
        let work = move || compare(&member, &scope, &invariant, most, &interrupt);
        let Supervised::Done(outcome) = control.supervise(observer, work)? else { return Ok(None) };
        Ok(unless_contradicted(outcome)?.flatten())
    }

    /// A cut-off among the members that are smaller than those that an invariant is about, or else a known one; and for which
    /// of the smaller members it is one, too: those from a number on of which no state has anything that does not belong to the
    /// invariant. There is one constant.
    fn smaller_cut_off(
        &mut self,
        region: &Region,
        least: i64,
        invariant: &Arc<Invariant>,
        mut cut_off: Option<EveryCutOff>,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<Option<EveryCutOff>, Error> {
        for value in (self.claim.least_sum()..least).rev() {
            let counts = self.reading().counts(&[value]);
            // With very few objects, the text may be read in another way.
            let Ok(member) = self.member(region, counts) else { break };
            let (scope, invariant) = (region.scope.clone(), Arc::clone(invariant));
            let interrupt = control.interrupt().clone();
            let work = move || compare_smaller(&member, &scope, &invariant, MOST_COMPARED, &interrupt);
            let Supervised::Done(Some(found)) = control.supervise(observer, work)? else { break };
            let values = match &cut_off {
                _ if found.has_all_views => vec![value],
                Some(known) => known.values.clone(),
                None => break,
            };
            cut_off = Some(EveryCutOff { values, about: vec![EveryValue::AtLeast(value)] });
        }
        Ok(cut_off)
    }
}

/// The number of multisets of so many objects with so many contents; the largest number if that is too large.
fn multisets(contents: usize, objects: i64) -> u128 {
    let (contents, objects) = (contents as u128, u128::from(objects.unsigned_abs()));
    let few = objects.min(contents.saturating_sub(1));
    let rest = objects.max(contents.saturating_sub(1));
    // Each prefix of the product is a binomial coefficient.
    (1..=few).try_fold(1u128, |found, next| Some(found.checked_mul(rest + next)? / next)).unwrap_or(u128::MAX)
}

/// What an attempt led to.
enum Progress {
    /// A proof.
    Proved,
    /// Nothing: another one may succeed.
    None,
    /// The end: a violation, or a limit.
    Stopped,
}

/// Whether a proof is about a region.
fn is_choice(values: &[EveryValue], choice: &Choice) -> bool {
    values.iter().zip(choice).all(|pair| match pair {
        (EveryValue::Is(own), Some(value)) => own == value,
        (EveryValue::AtLeast(_), None) => true,
        _ => false,
    })
}

/// Reads the model with values of the constants.
fn read(model: &Model, claim: &Every, values: &[i64], control: &Control) -> Result<Model, Error> {
    let constants = claim.sizes.iter().zip(values).map(|(size, value)| (size.constant.clone(), value.to_string()));
    model.reread(&constants.collect::<Vec<_>>(), control)
}

/// How members are judged.
struct Reading<'a> {
    model: &'a Model,
    claim: &'a Every,
    control: &'a Control,
    objects: &'a Objects,
    properties: &'a [PropertyId],
    offsets: [i64; MOST_SORTS],
}

impl Reading<'_> {
    /// The numbers of objects of a member with some values of the constants.
    fn counts(&self, values: &[i64]) -> Sizes {
        let value = |sort: usize| values[self.objects.constant(sort)] - self.offsets[sort];
        let count =
            |sort: usize| if sort < self.objects.sorts() { usize::try_from(value(sort)).unwrap_or(0) } else { 0 };
        Sizes::of(count)
    }

    /// A region, with the numbers of what its steps concern.
    fn region(&self, choice: Choice, model: &Model) -> Result<Region, Error> {
        let (objects, counts) = (self.objects, self.objects.counts(model.ir()));
        let fixed = |sort: usize| choice[objects.constant(sort)].map(|_| counts[sort]);
        let fixed = std::array::from_fn(|sort| if sort < objects.sorts() { fixed(sort) } else { None });
        let from: Vec<i64> = self.claim.sizes.iter().map(|size| size.from).collect();
        let from = self.counts(&from);
        let least = Sizes::of(|sort| if sort < objects.sorts() { from[sort].max(2) } else { 0 });
        let obstacles = |obstacles| refused(self.model, self.claim, obstacles);
        let classified = |ir: &ir::Model| classify(ir, objects, self.properties, least).map_err(obstacles);
        // These obstacles have better places than those against symmetry.
        let member = Member::new(model.ir().clone(), model.layout().clone(), objects);
        let pointers = member.map_err(|obstacle| obstacles(vec![obstacle]))?.pointers();
        let is_ordered = classified(model.ir())?.is_ordered;
        let (base, is_strict) = self.symmetric(model, is_ordered)?;
        let needs = classified(&base)?;
        let scope = Scope { objects: objects.with_order(is_ordered), needs, pointers, fixed };
        Ok(Region { choice, base, is_strict, scope, members: Members::new() })
    }

    /// The model, with strict quantifiers if need be, if its text shows that objects can be exchanged, or they have an order; and
    /// whether quantifiers are strict.
    fn symmetric(&self, model: &Model, is_ordered: bool) -> Result<(ir::Model, bool), Error> {
        if is_ordered {
            return Ok((model.ir().clone(), false));
        }
        let (control, objects) = (self.control, self.objects);
        let budget = Budget::until(control.interrupt());
        let (ir, layout, preserved) = (model.ir(), model.layout(), Preserved::Properties(self.properties));
        let spent = |_| Error::Stopped(control.reason());
        let against_whole = |reason: &str| {
            refused(self.model, self.claim, vec![Obstacle { reason: reason.to_owned(), span: Span::default() }])
        };
        let too_large = || against_whole("the text is too large");
        let plain = symmetries_of_text(ir, layout, preserved, &budget).map_err(spent)?.ok_or_else(too_large)?;
        let values: Vec<Vec<i64>> = (0..objects.sorts()).map(|sort| objects.values(ir, sort)).collect();
        // Values that nothing names and that index nothing are not permuted if they never occur. If they do and the starts
        // tell them apart, a loop did that, which the classification refuses.
        let is_idle = |role: &RoleReport| {
            role.free.is_empty() && role.limits.is_empty() && role.others == 0 && role.indexes.is_empty()
        };
        let is_free = |role: &RoleReport| {
            let among = objects.among(role.ty);
            let of_role = values.iter().enumerate().filter(|(sort, values)| among[*sort] > 0 && values.len() > 1);
            let is_class =
                |values: &[i64]| role.free.iter().any(|class| values.iter().all(|value| class.contains(value)));
            is_idle(role) || of_role.map(|(_, values)| values).all(|values| is_class(values))
        };
        let bound = |roles: Vec<RoleReport>| -> Vec<RoleReport> {
            roles.into_iter().filter(|role| objects.may_be(role.ty) && !is_free(role)).collect()
        };
        let against = bound(plain.roles(ir));
        if against.is_empty() {
            return Ok((ir.clone(), false));
        }
        if let Some((strict, found)) = plain.with_strict_quantifiers(ir, layout, preserved, &budget).map_err(spent)?
            && bound(found.roles(&strict)).is_empty()
        {
            return Ok((strict, true));
        }
        let limits = against.iter().flat_map(|role| &role.limits);
        let obstacles: Vec<Obstacle> =
            limits.map(|limit| Obstacle { reason: limit.text.clone(), span: limit.span }).collect();
        if obstacles.is_empty() {
            return Err(against_whole("the text does not show that objects can be exchanged"));
        }
        Err(refused(self.model, self.claim, obstacles))
    }
}

/// The result of a check, if it was not interrupted. A contradiction is a defect of this program.
fn unless_contradicted<T>(outcome: Result<T, Unchecked>) -> Result<Option<T>, Error> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Unchecked::Interrupted) => Ok(None),
        Err(Unchecked::Contradicted(contradiction)) => Err(Defect::noticed(contradiction.to_string()).into()),
    }
}

/// The options with which single members are searched.
fn member_options(options: &Options) -> Options {
    let mut properties = options.properties.clone();
    if !properties.is_empty() && !properties.iter().any(|name| name == ERRORS) {
        properties.push(ERRORS.to_owned());
    }
    Options {
        properties,
        deadlock: Some(ir::DeadlockMode::Off),
        threads: options.threads,
        limits: Limits::default(),
        ..Options::default()
    }
}

/// Whether a constant is nothing but a size.
fn constant(model: &Model, name: &str) -> Result<bool, Error> {
    let numbers = model.language().map(|language| named_numbers(model.source(), language)).unwrap_or_default();
    if let Some(NamedNumber { is_size, .. }) = numbers.iter().find(|number| number.name == name) {
        return Ok(*is_size);
    }
    let known: Vec<String> = numbers.iter().map(|number| format!("`{}`", number.name)).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Refusal::Every(format!("the text has no constant `{name}` that can be set; there are: {known}")).into())
}

/// An error with a diagnostic for each obstacle.
fn refused(model: &Model, claim: &Every, obstacles: Vec<Obstacle>) -> Error {
    against(model, "not-every-size", &format!("not for every {}", claim.names()), obstacles)
}

/// An error with a diagnostic for each obstacle to a cut-off.
fn no_cut_off(model: &Model, claim: &Every, obstacles: Vec<Obstacle>) -> Error {
    against(model, "no-cut-off", &format!("the text shows no cut-off for {}", claim.names()), obstacles)
}

fn against(model: &Model, code: &'static str, what: &str, obstacles: Vec<Obstacle>) -> Error {
    let diagnostics = obstacles.into_iter().map(|Obstacle { reason, span }| {
        let message = format!("{what}: {reason}");
        let diagnostic = Diagnostic::error(code, message, span);
        if span == Span::default() { Diagnostic { primary: None, ..diagnostic } } else { diagnostic }
    });
    Error::model(model.source().clone(), diagnostics.collect())
}
