//! Views of states, and the search for a set of them that no step leaves.
//!
//! P. A. Abdulla, F. Haziza, L. Holík: *All for the price of few (parameterized verification through view abstraction)*,
//! VMCAI 2013, here with shared variables that may name objects.
//!
//! A view of a state is what is shared, the objects that this names, and some number of the other objects; which ones
//! does not matter, since objects are interchangeable. A set of views stands for all states, of all sizes, whose views it
//! contains. The search begins with the views of the initial states. From the states for which the set stands, one with
//! as many objects as a step concerns suffices to see what the step does to any view (`classification`): so all of
//! these are built, the model of that size takes its steps, and their views are added, until nothing is new.
//!
//! If there are two types of objects, a view has as many others of each; if the number of objects of a type is fixed, a view
//! has all of them (`scope`).
//!
//! If objects have an order, a state is a word of rows, some of which are named, and a view is the word that is left of it if all
//! but some of the other objects are left out.

use std::collections::{BTreeMap, VecDeque};

use quotient_ir::{
    Budget, Fault, Interpreter, Iteration, Local, LocalId, Outcome, Parameter, PropertyId, RuleId, Table, TableIndex,
    Valuation,
};
use rustc_hash::FxHashMap;

use super::family::{Member, Members, Objects, Parts, Row};
use super::rows::{Contents, arrange, choices, contents, gap_of, in_gap, place_of, row_number, sizes_of_rows, sort_of};
use super::scope::{Scope, Selection};
use super::sizes::{MOST_SORTS, Sizes, Value, sizes_of};

/// A view: the number of its context, then the numbers of the rows of its other objects, arranged.
pub(super) type View = Box<[u32]>;

/// What is shared, with the numbers of the rows of the objects that it names.
pub(super) type Context = (Vec<Value>, Vec<u32>);

/// A set of views that contains those of the initial states, and that no step leaves.
#[derive(Clone, Debug, Default)]
pub struct Invariant {
    /// How many objects besides the named ones a view has.
    pub kept: usize,
    /// What objects hold.
    pub(super) rows: Contents,
    /// What is shared, with the rows of the objects that it names.
    pub(super) contexts: Vec<Context>,
    /// The views, sorted.
    pub(super) views: Vec<View>,
    /// Parts that no state contains: a context and other objects, sorted.
    pub(super) excluded: Vec<View>,
}

impl Invariant {
    /// The number of views.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// The number of different shared parts, with the objects that they name.
    pub fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// The number of different contents of objects.
    pub fn rows(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// The number of parts that are excluded.
    pub fn excluded(&self) -> usize {
        self.excluded.len()
    }

    /// How many other objects decide whether a state belongs to it.
    pub fn width(&self) -> usize {
        self.excluded.iter().map(|part| part.len() - 1).fold(self.kept, usize::max)
    }

    /// The views in words: for each shared part what the other objects can hold together.
    pub fn lines(&self, member: &Member) -> Vec<String> {
        self.in_words(&self.views, member)
    }

    /// The excluded parts in words: for each shared part what some of the other objects never hold together.
    pub fn excluded_lines(&self, member: &Member) -> Vec<String> {
        self.in_words(&self.excluded, member)
    }

    fn in_words(&self, views: &[View], member: &Member) -> Vec<String> {
        let row_text = |row: u32| member.row_text(sort_of(row), contents(&self.rows, row));
        let mut lines = Vec::new();
        let mut last = None;
        for view in views {
            if last != Some(view[0]) {
                last = Some(view[0]);
                let (shared, named) = &self.contexts[view[0] as usize];
                let mut text = member.shared_text(shared);
                for (place, &row) in named.iter().enumerate() {
                    text.push_str(&format!("; #{}: {}", place + 1, row_text(row)));
                }
                lines.push(if text.is_empty() { "always".to_owned() } else { text });
            }
            if view.len() == 1 {
                lines.push("  whatever the others hold".to_owned());
                continue;
            }
            let named = &self.contexts[view[0] as usize].1;
            let texts = view[1..].chunk_by(|left, right| sort_of(*left) == sort_of(*right)).map(|rows| {
                let sort = sort_of(rows[0]);
                // With two types, it is said which one.
                let of_type = if member.names.len() > 1 { format!("{} ", member.names[sort]) } else { String::new() };
                let words = rows.chunk_by(|left, right| left == right).flat_map(|equal| {
                    let text = format!("{of_type}({})", row_text(equal[0]));
                    // Many equal neighbours are counted.
                    let times = format!("{} times {text}", equal.len());
                    let texts = if equal.len() > 2 { vec![times] } else { vec![text; equal.len()] };
                    texts.into_iter().map(|text| (gap_of(equal[0]), text))
                });
                match member.is_ordered {
                    false => words.map(|(_, text)| text).collect::<Vec<_>>().join(" and "),
                    true => in_order(words, named.len()),
                }
            });
            lines.push(format!("  {}", texts.collect::<Vec<_>>().join(" and ")));
        }
        lines
    }
}

/// Other objects, each after its gap, and named ones, in their order.
fn in_order(others: impl Iterator<Item = (usize, String)>, named: usize) -> String {
    let named = (0..named).map(|before| (before, true, format!("#{}", before + 1)));
    let mut words: Vec<(usize, bool, String)> = others.map(|(gap, text)| (gap, false, text)).chain(named).collect();
    words.sort_by_key(|&(gap, is_named, _)| (gap, is_named));
    words.into_iter().map(|(.., text)| text).collect::<Vec<_>>().join(" < ")
}

/// The outcome of a search with views of one size.
#[derive(Debug)]
pub enum ViewsOutcome {
    /// A set of views was found, and no state that it stands for is wrong.
    Closed(Box<Invariant>),
    /// A state that the views stand for is wrong, and may or may not be reachable.
    Wrong {
        /// What is wrong.
        what: String,
        /// How many objects the state has.
        objects: Sizes,
        /// How many views had been found.
        views: usize,
    },
    /// It was interrupted, or there were too many views.
    Stopped {
        /// How many views had been found.
        views: usize,
    },
}

/// What is to be done with states of one number of other objects.
#[derive(Default)]
struct Group {
    rules: Vec<RuleId>,
    properties: Vec<PropertyId>,
}

/// A member with the instances of its rules and properties.
pub(super) struct Runner<'m> {
    pub(super) member: &'m Member,
    pub(super) interpreter: Interpreter<'m>,
    pub(super) rules: Vec<Instances>,
    pub(super) properties: FxHashMap<PropertyId, Instances>,
}

/// The instances of an owner, and which of the cells of their parameters are objects, of which types.
pub(super) struct Instances {
    pub(super) all: Vec<Vec<i64>>,
    objects: Vec<(usize, Sizes)>,
}

impl Instances {
    /// The objects among the arguments of an instance, in order.
    pub(super) fn parameters(&self, member: &Member, arguments: &[i64]) -> Vec<usize> {
        self.objects.iter().filter_map(|&(place, among)| member.object(arguments[place], among)).collect()
    }

    /// The object that is an argument of an instance, if it is one.
    fn object(&self, member: &Member, arguments: &[i64], place: usize) -> Option<usize> {
        let among = self.objects.iter().find(|(own, _)| *own == place).map(|(_, among)| *among)?;
        member.object(arguments[place], among)
    }

    /// The arguments, with objects as the given numbers.
    pub(super) fn pattern(&self, member: &Member, arguments: &[i64], number: impl Fn(usize) -> i64) -> Vec<i64> {
        let argument = |(place, &value): (usize, &i64)| {
            self.object(member, arguments, place).map_or([0, value], |object| [1, number(object)])
        };
        arguments.iter().enumerate().flat_map(argument).collect()
    }
}

impl<'m> Runner<'m> {
    fn new(member: &'m Member, scope: &Scope) -> Self {
        let objects = &scope.objects;
        let interpreter = Interpreter::new(&member.model, &member.layout);
        let mut runner = Self { member, interpreter, rules: Vec::new(), properties: FxHashMap::default() };
        let rules = member.model.rules.iter();
        runner.rules = rules.map(|rule| runner.instances(&rule.parameters, &rule.locals, objects)).collect();
        let properties = scope.needs.properties.iter().map(|&(id, _)| {
            let property = &member.model.properties[id];
            (id, runner.instances(&property.parameters, &property.locals, objects))
        });
        runner.properties = properties.collect();
        runner
    }

    /// The instances of an owner.
    pub(super) fn instances(
        &self,
        parameters: &[Parameter],
        locals: &Table<LocalId, Local>,
        objects: &Objects,
    ) -> Instances {
        let mut cells = 0;
        let mut places = Vec::new();
        for parameter in parameters {
            match parameter.range {
                Iteration::Over(ty) => {
                    if objects.may_be(ty) {
                        places.push((cells, objects.among(ty)));
                    }
                    cells += usize::try_from(self.member.model.cells(ty)).expect("the number of cells is limited");
                }
                Iteration::Steps { .. } => cells += 1,
            }
        }
        Instances { all: self.interpreter.instances(parameters, locals).collect(), objects: places }
    }

    /// Fires an instance, if it is enabled.
    pub(super) fn fire(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> Option<Outcome> {
        match self.interpreter.enabled(rule, arguments, state) {
            Ok(true) => Some(self.interpreter.fire(rule, arguments, state)),
            Ok(false) => None,
            Err(fault) => Some(Outcome::Fault(fault)),
        }
    }
}

/// Which objects of a member the named and the other ones of a state are.
pub(super) struct Seats {
    /// How many are named.
    named: usize,
    /// The numbers of objects of the member.
    pub(super) counts: Sizes,
    /// The place of each object: first those of the named ones, then those of the others.
    places: Vec<usize>,
}

impl Seats {
    /// For the rows of the named objects and of the others.
    pub(super) fn new(member: &Member, named: &[u32], others: &[u32]) -> Self {
        let objects = member.seats(named, others);
        let mut places = vec![0; objects.len()];
        for (place, object) in objects.into_iter().enumerate() {
            places[object] = place;
        }
        Self { named: named.len(), counts: member.counts, places }
    }

    /// The place of an object among the others, unless it is named.
    fn other(&self, object: usize) -> Option<usize> {
        self.places[object].checked_sub(self.named)
    }
}

/// Whether an instance is the first of those that only exchange objects that hold the same and have no order.
pub(super) fn is_first(member: &Member, instances: &Instances, arguments: &[i64], seats: &Seats, rows: &[u32]) -> bool {
    let other_of = |&(place, among): &(usize, Sizes)| {
        member.object(arguments[place], among).and_then(|object| seats.other(object))
    };
    let used = |before: usize, other: usize| {
        instances.objects.iter().take(before).any(|parameter| other_of(parameter) == Some(other))
    };
    instances.objects.iter().enumerate().all(|(number, parameter)| {
        let is_later = |&other: &usize| other > 0 && !member.is_ordered;
        let Some(other) = other_of(parameter).filter(is_later) else { return true };
        rows[other - 1] != rows[other] || used(number, other - 1) || used(number, other)
    })
}

/// Numbers for the rows of all types.
pub(super) struct Rows([Numbers<Vec<Value>>; MOST_SORTS]);

impl Rows {
    fn new() -> Self {
        Self(std::array::from_fn(|_| Numbers::new()))
    }

    pub(super) fn number(&mut self, (sort, row): Row) -> u32 {
        row_number(sort, self.0[sort].number(row) as usize)
    }

    fn contents(&self, row: u32) -> &[Value] {
        &self.0[sort_of(row)].things[place_of(row)]
    }
}

/// Numbers for things.
pub(super) struct Numbers<T> {
    numbers: FxHashMap<T, u32>,
    pub(super) things: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Numbers<T> {
    fn new() -> Self {
        Self { numbers: FxHashMap::default(), things: Vec::new() }
    }

    pub(super) fn number(&mut self, thing: T) -> u32 {
        if let Some(&number) = self.numbers.get(&thing) {
            return number;
        }
        let number = u32::try_from(self.things.len()).expect("memory ends first");
        self.things.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }
}

/// What an instance does to the objects that it concerns, if these are its parameters and the named ones: the context
/// afterwards, and the rows of those of them that are not named in it.
#[derive(Clone, Debug)]
enum Effect {
    Nothing,
    Wrong(String),
    Step { context: u32, rows: Vec<u32> },
}

/// A search with views.
pub(super) struct Search<'m> {
    scope: &'m Scope,
    kept: usize,
    /// Whether what goes wrong is ignored: then the views only say what can occur.
    is_tolerant: bool,
    /// The rules that concern no objects but the parameters and the named ones, if there is no order.
    pub(super) local: Vec<bool>,
    /// What these do, by rule, context, and arguments: objects are replaced by their rows.
    effects: FxHashMap<Box<[i64]>, Effect>,
    pub(super) runners: BTreeMap<Sizes, Runner<'m>>,
    groups: BTreeMap<Sizes, Group>,
    pub(super) rows: Rows,
    pub(super) contexts: Numbers<Context>,
    /// All views that were found, and whether they were looked at.
    views: FxHashMap<View, bool>,
    queue: VecDeque<View>,
    /// The rows of the views that were looked at, by context.
    pub(super) occurring: FxHashMap<u32, Vec<u32>>,
    wrong: Option<(String, Sizes)>,
}

/// Searches with views of `kept` other objects of each open type. There must be members of all [`Scope::sizes`].
pub(super) fn by_views(selection: &Selection, kept: usize, most_views: usize, budget: &Budget) -> ViewsOutcome {
    let Selection { members, scope } = selection;
    let mut search = Search::new(members, scope, kept, false);
    let is_whole = search.run_all(most_views, budget);
    if let Some((what, objects)) = search.wrong {
        return ViewsOutcome::Wrong { what, objects, views: search.views.len() };
    }
    if !is_whole {
        return ViewsOutcome::Stopped { views: search.views.len() };
    }
    ViewsOutcome::Closed(Box::new(search.invariant(Vec::new())))
}

/// How many contents of single objects occur in members with at least [`Scope::least`] objects for views of one, at most; none if it
/// was interrupted, or there were too many views. There must be members of all [`Scope::sizes`] for views of one.
pub(super) fn contents_of_one(selection: &Selection, most_views: usize, budget: &Budget) -> Option<usize> {
    let Selection { members, scope } = selection;
    // What goes wrong ends a run.
    let mut search = Search::new(members, scope, 1, true);
    if !search.run_all(most_views, budget) {
        return None;
    }
    let mut rows: Vec<u32> = search.occurring.into_values().flatten().collect();
    rows.sort_unstable();
    rows.dedup();
    Some(rows.len())
}

impl<'m> Search<'m> {
    /// The search before its beginning.
    pub(super) fn new(members: &'m Members, scope: &'m Scope, kept: usize, is_tolerant: bool) -> Self {
        let needs = &scope.needs;
        let mut groups: BTreeMap<Sizes, Group> = BTreeMap::new();
        for id in needs.rules.indices() {
            groups.entry(scope.of_rule(id, kept)).or_default().rules.push(id);
        }
        if !is_tolerant {
            for &(id, need) in &needs.properties {
                groups.entry(scope.of_property(need, kept)).or_default().properties.push(id);
            }
        }
        let runners = members.iter().map(|(&count, member)| (count, Runner::new(member, scope))).collect();
        Self {
            scope,
            kept,
            is_tolerant,
            local: needs.rules.iter().map(|need| !need.concerns_all && !scope.objects.is_ordered()).collect(),
            effects: FxHashMap::default(),
            runners,
            groups,
            rows: Rows::new(),
            contexts: Numbers::new(),
            views: FxHashMap::default(),
            queue: VecDeque::new(),
            occurring: FxHashMap::default(),
            wrong: None,
        }
    }

    /// Searches until nothing is new or something is wrong; whether it was not stopped before.
    pub(super) fn run_all(&mut self, most_views: usize, budget: &Budget) -> bool {
        self.start();
        while self.wrong.is_none()
            && let Some(view) = self.queue.pop_front()
        {
            if budget.spend(1).is_err() || self.views.len() > most_views {
                return false;
            }
            self.look_at(&view, budget);
        }
        !budget.is_spent()
    }

    /// How many views there are.
    pub(super) fn views(&self) -> usize {
        self.views.len()
    }

    /// What was found, less what is excluded.
    pub(super) fn invariant(self, excluded: Vec<View>) -> Invariant {
        let mut views: Vec<View> = self.views.into_keys().collect();
        views.sort_unstable();
        let rows = self.rows.0.map(|numbers| numbers.things);
        Invariant { kept: self.kept, rows, contexts: self.contexts.things, views, excluded }
    }
}

impl Search<'_> {
    /// The views of the initial states.
    fn start(&mut self) {
        let mut found = Vec::new();
        let others = self.scope.of_starts(self.kept);
        for (&counts, runner) in &self.runners {
            for (id, start) in runner.member.model.starts.iter_enumerated() {
                for arguments in runner.interpreter.instances(&start.parameters, &start.locals) {
                    match runner.interpreter.run_start(id, &arguments) {
                        Outcome::Next { state, .. } => {
                            let parts = runner.member.parts(&state);
                            let named = sizes_of(parts.named.iter().map(|(sort, _)| *sort));
                            if self.scope.counts(named, others) == counts {
                                found.push(parts);
                            }
                        }
                        Outcome::Pruned => {}
                        Outcome::Fault(_) if self.is_tolerant => {}
                        Outcome::Fault(fault) => self.wrong = Some((fault.to_string(), counts)),
                    }
                }
            }
        }
        for parts in found {
            self.add(&parts);
        }
    }

    /// Adds the views of a state.
    fn add(&mut self, parts: &Parts) {
        let named = parts.named.iter().map(|row| self.rows.number(row.clone())).collect();
        let context = self.contexts.number((parts.shared.clone(), named));
        let others = parts.others.iter();
        let mut rows: Vec<u32> = others.map(|(gap, row)| in_gap(self.rows.number(row.clone()), *gap)).collect();
        arrange(&mut rows, self.scope.objects.is_ordered());
        self.add_views(context, &rows);
    }

    fn add_views(&mut self, context: u32, rows: &[u32]) {
        let kept = self.kept_beside(context);
        let (views, queue) = (&mut self.views, &mut self.queue);
        choices(rows, kept, &mut vec![context], &mut |view| {
            if !views.contains_key(view) {
                let view: View = view.into();
                views.insert(view.clone(), false);
                queue.push_back(view);
            }
        });
    }

    /// How many objects of each type a context names.
    pub(super) fn named(&self, context: u32) -> Sizes {
        sizes_of_rows(&self.contexts.things[context as usize].1)
    }

    /// How many other objects of each type a view with a context has.
    fn kept_beside(&self, context: u32) -> Sizes {
        self.scope.kept(self.kept, self.named(context))
    }

    /// Takes the steps of all states that the views looked at so far stand for, and that have this view.
    fn look_at(&mut self, view: &View, budget: &Budget) {
        let context = view[0];
        self.views.insert(view.clone(), true);
        let occurring = self.occurring.entry(context).or_default();
        for row in &view[1..] {
            if !occurring.contains(row) {
                occurring.push(*row);
            }
        }
        let (named, kept) = (self.named(context), self.kept_beside(context));
        let needed: Vec<Sizes> = self.groups.keys().copied().collect();
        for needed in needed {
            let counts = self.scope.counts(named, needed);
            let others = counts - named;
            let mut states = Vec::new();
            let mut rows = view[1..].to_vec();
            let missing = others - kept;
            if self.scope.objects.is_ordered() {
                self.insert(context, &mut rows, 0, missing.sum(), &mut states);
                // A view can occur in a word in several ways.
                states.sort_unstable();
                states.dedup();
            } else {
                self.extend(context, &mut rows, 0, missing, &mut states);
                states.iter_mut().for_each(|rows| rows.sort_unstable());
            }
            for rows in states {
                if self.wrong.is_some() || budget.spend(1).is_err() {
                    return;
                }
                let member = self.runners[&counts].member;
                let seats = Seats::new(member, &self.contexts.things[context as usize].1, &rows);
                self.run(context, &rows, needed, &seats);
            }
        }
    }

    /// Extends a state by so many other objects, in all ways such that all its views were looked at.
    fn extend(&self, context: u32, rows: &mut Vec<u32>, from: usize, missing: Sizes, states: &mut Vec<Vec<u32>>) {
        let Some(sort) = (0..MOST_SORTS).find(|&sort| missing[sort] > 0) else {
            states.push(rows.clone());
            return;
        };
        let rest = missing - Sizes::one(sort);
        // The objects with the new one that a view has.
        let kept = self.kept_beside(context) - Sizes::one(sort);
        let mut present = rows.clone();
        present.sort_unstable();
        let occurring = &self.occurring[&context];
        for (place, &row) in occurring.iter().enumerate().skip(from).filter(|(_, row)| sort_of(**row) == sort) {
            let mut is_seen = true;
            let mut view = Vec::with_capacity(present.len() + 1);
            choices(&present, kept, &mut Vec::new(), &mut |chosen| {
                if is_seen {
                    view.clear();
                    view.push(context);
                    view.extend_from_slice(chosen);
                    view.push(row);
                    view[1..].sort_unstable();
                    is_seen = self.views.get(&view[..]) == Some(&true);
                }
            });
            if is_seen {
                rows.push(row);
                self.extend(context, rows, if rest[sort] > 0 { place } else { 0 }, rest, states);
                rows.pop();
            }
        }
    }

    /// The same for objects with an order: they are inserted at places from `from` on.
    fn insert(&self, context: u32, rows: &mut Vec<u32>, from: usize, missing: usize, states: &mut Vec<Vec<u32>>) {
        if missing == 0 {
            states.push(rows.clone());
            return;
        }
        let kept = self.kept_beside(context);
        for place in from..=rows.len() {
            let least = if place > 0 { gap_of(rows[place - 1]) } else { 0 };
            let most = rows.get(place).map_or(usize::MAX, |&next| gap_of(next));
            for &row in &self.occurring[&context] {
                if !(least..=most).contains(&gap_of(row)) {
                    continue;
                }
                rows.insert(place, row);
                let mut is_seen = true;
                choices(rows, kept, &mut vec![context], &mut |view| {
                    is_seen = is_seen && self.views.get(view) == Some(&true);
                });
                if is_seen {
                    self.insert(context, rows, place + 1, missing - 1, states);
                }
                rows.remove(place);
            }
        }
    }

    /// Takes the steps of a state, and checks it.
    fn run(&mut self, context: u32, rows: &[u32], needed: Sizes, seats: &Seats) {
        let mut state: Option<Valuation> = None;
        for position in 0..self.groups[&needed].rules.len() {
            let rule = self.groups[&needed].rules[position];
            for instance in 0..self.runners[&seats.counts].rules[rule.position()].all.len() {
                self.step(context, rows, seats, rule, instance, &mut state);
            }
        }
        let (runner, group) = (&self.runners[&seats.counts], &self.groups[&needed]);
        for &property in &group.properties {
            let state = state.get_or_insert_with(|| self.state(context, rows));
            let instances = &runner.properties[&property];
            let holds = |arguments: &Vec<i64>| -> Result<bool, Fault> {
                Ok(!is_first(runner.member, instances, arguments, seats, rows)
                    || runner.interpreter.holds(property, arguments, state)?)
            };
            if instances.all.iter().any(|arguments| holds(arguments) != Ok(true)) {
                let name = runner.member.model.properties[property].name.as_deref().unwrap_or("an invariant");
                self.wrong = Some((format!("`{name}` does not hold"), seats.counts));
            }
        }
    }

    pub(super) fn state(&self, context: u32, rows: &[u32]) -> Valuation {
        let (shared, named) = &self.contexts.things[context as usize];
        let member = self.runners[&(sizes_of_rows(named) + sizes_of_rows(rows))].member;
        member.state(shared, named, rows, |row| self.rows.contents(row))
    }

    /// Fires an instance.
    fn step(
        &mut self,
        context: u32,
        rows: &[u32],
        seats: &Seats,
        rule: RuleId,
        instance: usize,
        state: &mut Option<Valuation>,
    ) {
        let runner = &self.runners[&seats.counts];
        let (member, instances) = (runner.member, &runner.rules[rule.position()]);
        let arguments = &instances.all[instance];
        if !is_first(member, instances, arguments, seats, rows) {
            return;
        }
        if !self.local[rule.position()] {
            let state = state.get_or_insert_with(|| self.state(context, rows));
            match runner.fire(rule, arguments, state) {
                None | Some(Outcome::Pruned) => {}
                Some(Outcome::Next { state, .. }) => {
                    let parts = member.parts(&state);
                    self.add(&parts);
                }
                Some(Outcome::Fault(_)) if self.is_tolerant => {}
                Some(Outcome::Fault(fault)) => self.wrong = Some((fault.to_string(), seats.counts)),
            }
            return;
        }
        let parameters = instances.parameters(member, arguments);
        let mut key = vec![rule.position() as i64, i64::from(context)];
        for (place, &value) in arguments.iter().enumerate() {
            match instances.object(member, arguments, place).map(|object| (object, seats.other(object))) {
                None => key.extend([0, value]),
                Some((object, None)) => key.extend([1, seats.places[object] as i64]),
                Some((object, Some(other))) => {
                    let first = parameters.iter().position(|&parameter| parameter == object);
                    key.extend([2 + first.unwrap_or(0) as i64, i64::from(rows[other])]);
                }
            }
        }
        if !self.effects.contains_key(&key[..]) {
            let state = state.get_or_insert_with(|| self.state(context, rows));
            let effect = match runner.fire(rule, arguments, state) {
                None | Some(Outcome::Pruned) => Effect::Nothing,
                Some(Outcome::Fault(fault)) => Effect::Wrong(fault.to_string()),
                Some(Outcome::Next { state, .. }) => {
                    let (shared, names) = member.shared(&state);
                    let objects = 0..seats.places.len();
                    let is_concerned = |object: &usize| seats.other(*object).is_none() || parameters.contains(object);
                    let concerned: Vec<usize> =
                        objects.filter(|object| is_concerned(object) && !names.contains(object)).collect();
                    let mut row = |object: usize| self.rows.number(member.row(&state, object));
                    let named_rows: Vec<u32> = names.into_iter().map(&mut row).collect();
                    let rows = concerned.into_iter().map(&mut row).collect();
                    Effect::Step { context: self.contexts.number((shared, named_rows)), rows }
                }
            };
            self.effects.insert(key.clone().into(), effect);
        }
        match &self.effects[&key[..]] {
            Effect::Nothing => {}
            Effect::Wrong(_) if self.is_tolerant => {}
            Effect::Wrong(what) => self.wrong = Some((what.clone(), seats.counts)),
            Effect::Step { context, rows: changed } => {
                let changing: Vec<usize> = parameters.iter().filter_map(|&object| seats.other(object)).collect();
                let unchanged = rows.iter().enumerate().filter(|(other, _)| !changing.contains(other));
                let mut after: Vec<u32> = unchanged.map(|(_, &row)| row).chain(changed.iter().copied()).collect();
                after.sort_unstable();
                let context = *context;
                self.add_views(context, &after);
            }
        }
    }
}
