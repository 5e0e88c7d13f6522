//! Backward search over upward-closed sets.
//!
//! P. A. Abdulla, K. Čerāns, B. Jonsson, Y.-K. Tsay: *General decidability theorems for infinite-state systems*, LICS 1996.
//!
//! A part is a context and the rows of some other objects. It stands for all states that contain it: with this context,
//! these objects, and any others. The search begins with the parts that are wrong, and adds parts such that every state
//! from which a step leads to a part contains a part (a basis of the predecessors), until nothing is new. If no initial
//! state contains a part, no reachable state does.
//!
//! A step of a state is a step of the state with only those objects that it concerns (`classification`). So the
//! predecessors of a part are found from steps with these and one more object. Where more objects can
//! prevent a step or change what it does, this takes the step nevertheless: the parts then stand for more states than
//! those from which something wrong can be reached (monotonic abstraction; P. A. Abdulla, G. Delzanno, A. Rezine:
//! *Parameterized verification of infinite-state processes with global conditions*, CAV 2007). Where the text shows that they
//! cannot (`Needs::tests` is empty), it is exact.
//!
//! Only states all of whose views of one other object can occur are looked at: those views are found first, forward.
//!
//! This is for one type of objects, without an order.

use std::collections::VecDeque;

use quotient_ir::{Budget, Outcome, RuleId, TableIndex, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

use super::family::Member;
use super::scope::{Scope, Selection};
use super::sizes::Sizes;
use super::views::{Context, Invariant, Numbers, Rows, Search, Seats, View, is_first};

/// The only type of objects.
const SORT: usize = 0;

/// The outcome of a backward search.
#[derive(Debug)]
pub enum BackwardOutcome {
    /// No initial state contains a part that was found.
    Closed(Box<Invariant>),
    /// An initial state contains one.
    Reached {
        /// How many objects suffice for that.
        objects: Sizes,
        /// How many parts had been found.
        parts: usize,
        /// How many views of one other object occur.
        views: usize,
    },
    /// It was interrupted, or became too large.
    Stopped {
        /// How many parts had been found.
        parts: usize,
        /// How many views of one other object had been found.
        views: usize,
    },
}

/// What a backward search may use.
#[derive(Clone, Copy, Debug)]
pub struct BackwardLimits {
    /// The most views of one other object.
    pub views: usize,
    /// The most steps of the objects that a rule concerns, and the most parts.
    pub moves: usize,
}

/// Searches backward from what is wrong. There must be members of all [`Scope::sizes`] for views of one other object.
pub(super) fn backward(selection: &Selection, limits: BackwardLimits, budget: &Budget) -> BackwardOutcome {
    let Selection { members, scope } = selection;
    let mut search = Search::new(members, scope, 1, true);
    let is_whole = search.run_all(limits.views, budget);
    let views = search.views();
    let stopped = |parts| BackwardOutcome::Stopped { parts, views };
    if !is_whole {
        return stopped(0);
    }
    let mut moves = Moves::default();
    let least = scope.least(1);
    let Some(starts) = starts(&mut search, scope) else {
        return BackwardOutcome::Reached { objects: least, parts: 0, views };
    };
    if moves.gather(&mut search, scope, limits.moves, budget).is_none() {
        return stopped(0);
    }
    // Every member in question has this number of other objects at least.
    let fewest = scope.others(1).iter().map(|others| others[SORT]).max().unwrap_or(1);
    let mut parts = Parts::new(&search, fewest);
    for wrong in std::mem::take(&mut moves.wrong) {
        parts.add(wrong);
    }
    let mut checked = 0;
    while let Some(part) = parts.queue.pop_front() {
        if budget.spend(1).is_err() || parts.count > limits.moves {
            return stopped(parts.count);
        }
        if !parts.contains(&part) {
            continue;
        }
        checked += 1;
        if starts.iter().any(|start| start.may_contain(&part)) {
            let objects = least.or(search.named(part[0]) + of_only_sort(part.len() - 1));
            return BackwardOutcome::Reached { objects, parts: checked, views };
        }
        for step in moves.into.get(&part[0]).map_or(&[][..], |steps| steps) {
            step.predecessors(&part[1..], &mut |rows| {
                if rows.iter().all(|row| parts.occurring[&step.from].binary_search(row).is_ok()) {
                    parts.add(part_of(step.from, rows));
                }
            });
        }
    }
    if budget.is_spent() {
        return stopped(parts.count);
    }
    let excluded = parts.sorted();
    BackwardOutcome::Closed(Box::new(search.invariant(excluded)))
}

/// A number of objects of the only type.
fn of_only_sort(number: usize) -> Sizes {
    Sizes::of(|sort| if sort == SORT { number } else { 0 })
}

/// A part: a context and sorted rows.
fn part_of(context: u32, rows: &[u32]) -> View {
    let mut part: Vec<u32> = std::iter::once(context).chain(rows.iter().copied()).collect();
    part[1..].sort_unstable();
    part.into()
}

/// Whether all of some sorted numbers are among others, each as often.
pub(super) fn is_within(few: &[u32], many: &[u32]) -> bool {
    let mut rest = many.iter();
    few.iter().all(|wanted| rest.by_ref().find(|found| *found >= wanted) == Some(wanted))
}

/// Sorted numbers, less others.
fn without(many: &[u32], few: &[u32]) -> Vec<u32> {
    let mut few = few.iter().peekable();
    let mut rest = Vec::new();
    for &number in many {
        while few.next_if(|&&taken| taken < number).is_some() {}
        if few.next_if(|&&taken| taken == number).is_none() {
            rest.push(number);
        }
    }
    rest
}

/// Goes to the next sequence of numbers below `limit` that does not decrease; whether there is one.
fn advance(sequence: &mut [usize], limit: usize) -> bool {
    let Some(turn) = sequence.iter().rposition(|&number| number + 1 < limit) else { return false };
    let next = sequence[turn] + 1;
    sequence[turn..].fill(next);
    true
}

/// The initial states of all members, by an instance of a start: its context, its parameters as far as they are not
/// named, and what any number of other objects hold.
struct Start {
    context: u32,
    rows: Vec<u32>,
    others: Vec<u32>,
}

impl Start {
    /// Whether an initial state contains a part.
    fn may_contain(&self, part: &View) -> bool {
        part[0] == self.context && without(&part[1..], &self.rows).iter().all(|row| self.others.contains(row))
    }
}

/// The initial states, unless a start goes wrong.
fn starts(search: &mut Search<'_>, scope: &Scope) -> Option<Vec<Start>> {
    let wanted = scope.of_starts(1)[SORT];
    let mut found = Vec::new();
    for runner in search.runners.values() {
        let member = runner.member;
        for (id, start) in member.model.starts.iter_enumerated() {
            let instances = runner.instances(&start.parameters, &start.locals, &scope.objects);
            for arguments in &instances.all {
                let state = match runner.interpreter.run_start(id, arguments) {
                    Outcome::Next { state, .. } => state,
                    Outcome::Pruned => continue,
                    Outcome::Fault(_) => return None,
                };
                let (shared, names) = member.shared(&state);
                if member.counts.sum() - names.len() != wanted {
                    continue;
                }
                let parameters = instances.parameters(member, arguments);
                let mut row = |object: usize| search.rows.number(member.row(&state, object));
                let named = names.iter().map(|&object| row(object)).collect();
                let unnamed = (0..member.counts.sum()).filter(|object| !names.contains(object));
                let (own, others): (Vec<usize>, Vec<usize>) = unnamed.partition(|object| parameters.contains(object));
                let mut rows: Vec<u32> = own.into_iter().map(&mut row).collect();
                rows.sort_unstable();
                let others = others.into_iter().map(&mut row).collect();
                found.push(Start { context: search.contexts.number((shared, named)), rows, others });
            }
        }
    }
    Some(found)
}

/// A step of the objects that a rule concerns.
struct Move {
    from: u32,
    /// The rows of the other objects that it concerns, sorted.
    taken: Box<[u32]>,
    /// The rows afterwards of the objects that it concerns and that are not named then, sorted.
    put: Box<[u32]>,
    /// The row afterwards and before of any further object; none if these keep theirs.
    further: Option<Vec<(u32, u32)>>,
}

impl Move {
    /// Calls `visit` with the least rows from which this leads to a state that contains the given ones.
    fn predecessors(&self, rows: &[u32], visit: &mut dyn FnMut(&[u32])) {
        let rest = without(rows, &self.put);
        let mut before = self.taken.to_vec();
        match &self.further {
            None => {
                before.extend(rest);
                visit(&before);
            }
            Some(further) => replaced(further, &rest, 0, &mut before, visit),
        }
    }
}

/// Calls `visit` for all ways to replace rows by what they were before. Equal rows are replaced in order.
fn replaced(further: &[(u32, u32)], rest: &[u32], from: usize, before: &mut Vec<u32>, visit: &mut dyn FnMut(&[u32])) {
    let Some((&row, later)) = rest.split_first() else { return visit(before) };
    let first = further.partition_point(|(after, _)| *after < row).max(from);
    for (place, &(after, own)) in further.iter().enumerate().skip(first) {
        if after != row {
            break;
        }
        before.push(own);
        replaced(further, later, place, before, visit);
        before.pop();
    }
}

/// The steps between what can occur, by the context afterwards; and what is wrong.
#[derive(Default)]
struct Moves {
    into: FxHashMap<u32, Vec<Move>>,
    wrong: Vec<View>,
    count: usize,
}

impl Moves {
    /// Finds all steps of what can occur; none if it was stopped.
    fn gather(&mut self, search: &mut Search<'_>, scope: &Scope, most: usize, budget: &Budget) -> Option<()> {
        let mut contexts: Vec<(u32, Vec<u32>)> =
            search.occurring.iter().map(|(&context, rows)| (context, rows.clone())).collect();
        contexts.sort_unstable();
        for (context, mut occurring) in contexts {
            occurring.sort_unstable();
            for rule in scope.needs.rules.indices() {
                if search.local[rule.position()] {
                    for size in 0..=scope.needs.rules[rule].parameters[SORT] {
                        self.of_few(search, scope, rule, context, &occurring, size);
                    }
                } else {
                    self.of_all(search, scope, rule, context, &occurring, budget);
                }
                if budget.spend(1).is_err() || self.count + self.wrong.len() > most {
                    return None;
                }
            }
            self.properties(search, scope, context, &occurring, budget);
        }
        for moves in self.into.values_mut() {
            moves.sort_by(|left, right| (left.from, &left.taken).cmp(&(right.from, &right.taken)));
        }
        (!budget.is_spent()).then_some(())
    }

    /// The steps of a rule that concerns nobody but its parameters and the named objects, where so many other objects are
    /// parameters.
    fn of_few(
        &mut self,
        search: &mut Search<'_>,
        scope: &Scope,
        rule: RuleId,
        context: u32,
        occurring: &[u32],
        size: usize,
    ) {
        let named = search.contexts.things[context as usize].1.len();
        let whole = scope.of_rule(rule, 1)[SORT];
        let mut seen: FxHashSet<(Vec<u32>, u32, Vec<u32>)> = FxHashSet::default();
        let mut places = vec![0; size];
        loop {
            // The model has further objects, which do not matter.
            let mut rows: Vec<u32> = places.iter().map(|&place| occurring[place]).collect();
            let taken = rows.clone();
            rows.resize(whole, occurring[0]);
            let state = search.state(context, &rows);
            let runner = &search.runners[&of_only_sort(named + whole)];
            let (member, instances) = (runner.member, &runner.rules[rule.position()]);
            let seats = Seats::new(member, &search.contexts.things[context as usize].1, &rows);
            for arguments in &instances.all {
                let mut concerned = instances.parameters(member, arguments);
                concerned.retain(|&object| object >= named);
                concerned.sort_unstable();
                concerned.dedup();
                let is_of_these = concerned.iter().copied().eq(named..named + size);
                if !is_of_these || !is_first(member, instances, arguments, &seats, &taken) {
                    continue;
                }
                match runner.fire(rule, arguments, &state) {
                    None | Some(Outcome::Pruned) => {}
                    Some(Outcome::Fault(_)) => self.wrong.push(part_of(context, &taken)),
                    Some(Outcome::Next { state, .. }) => {
                        let (to, names) = numbered(member, &state, &mut search.rows, &mut search.contexts);
                        let left = (0..named + size).filter(|object| !names.contains(object));
                        let mut put: Vec<u32> =
                            left.map(|object| search.rows.number(member.row(&state, object))).collect();
                        put.sort_unstable();
                        let is_change = to != context || put != taken;
                        if is_change && seen.insert((taken.clone(), to, put.clone())) {
                            let step = Move { from: context, taken: taken[..].into(), put: put.into(), further: None };
                            self.into.entry(to).or_default().push(step);
                            self.count += 1;
                        }
                    }
                }
            }
            if !advance(&mut places, occurring.len()) {
                return;
            }
        }
    }

    /// The steps of a rule that asks about all objects, or changes all: with one more object than it concerns, whose row
    /// afterwards tells what happens to further ones.
    fn of_all(
        &mut self,
        search: &mut Search<'_>,
        scope: &Scope,
        rule: RuleId,
        context: u32,
        occurring: &[u32],
        budget: &Budget,
    ) {
        let named = search.contexts.things[context as usize].1.len();
        let size = scope.of_rule(rule, 1)[SORT];
        let mut found: FxHashMap<Vec<i64>, Move> = FxHashMap::default();
        let mut order: Vec<(Vec<i64>, u32)> = Vec::new();
        // What is taken where the step is not possible with some further object. Where more objects never prevent a step, the
        // objects that are taken do not allow it then, but a further one did.
        let is_monotone = scope.needs.tests.is_empty();
        let mut prevented: FxHashSet<Vec<i64>> = FxHashSet::default();
        let mut places = vec![0; size];
        loop {
            if budget.spend(1).is_err() {
                return;
            }
            let rows: Vec<u32> = places.iter().map(|&place| occurring[place]).collect();
            let state = search.state(context, &rows);
            let runner = &search.runners[&of_only_sort(named + size)];
            let (member, instances) = (runner.member, &runner.rules[rule.position()]);
            let seats = Seats::new(member, &search.contexts.things[context as usize].1, &rows);
            for arguments in &instances.all {
                if !is_first(member, instances, arguments, &seats, &rows) {
                    continue;
                }
                let parameters = instances.parameters(member, arguments);
                let key_of = |one: usize| -> (Vec<u32>, Vec<i64>) {
                    let object = named + one;
                    let mut taken = rows.clone();
                    taken.remove(one);
                    let rank = |other: usize| (other - usize::from(other > object)) as i64;
                    let mut key = instances.pattern(member, arguments, rank);
                    key.extend(taken.iter().map(|&row| i64::from(row)));
                    (taken, key)
                };
                let after = match runner.fire(rule, arguments, &state) {
                    None | Some(Outcome::Pruned) => {
                        if is_monotone {
                            let further = (0..size).filter(|&one| !parameters.contains(&(named + one)));
                            prevented.extend(further.map(|one| key_of(one).1));
                        }
                        continue;
                    }
                    Some(Outcome::Fault(_)) => {
                        self.wrong.push(part_of(context, &rows));
                        continue;
                    }
                    Some(Outcome::Next { state, .. }) => state,
                };
                let (to, names) = numbered(member, &after, &mut search.rows, &mut search.contexts);
                let left: Vec<(usize, u32)> = (0..member.counts.sum())
                    .filter(|object| !names.contains(object))
                    .map(|object| (object, search.rows.number(member.row(&after, object))))
                    .collect();
                let mut last = None;
                for one in (0..size).rev() {
                    let object = named + one;
                    // Of those that hold the same, one suffices.
                    if parameters.contains(&object) || names.contains(&object) || last == Some(rows[one]) {
                        continue;
                    }
                    last = Some(rows[one]);
                    let (taken, mut key) = key_of(one);
                    let mut put: Vec<u32> =
                        left.iter().filter(|(other, _)| *other != object).map(|(_, row)| *row).collect();
                    put.sort_unstable();
                    let own = left.iter().find(|(other, _)| *other == object).map(|(_, row)| *row);
                    let own = own.expect("it is not named");
                    key.push(i64::from(to));
                    key.extend(put.iter().map(|&row| i64::from(row)));
                    let step = found.entry(key.clone()).or_insert_with(|| {
                        order.push((key, to));
                        Move { from: context, taken: taken.into(), put: put.into(), further: Some(Vec::new()) }
                    });
                    step.further.get_or_insert_default().push((own, rows[one]));
                }
            }
            if !advance(&mut places, occurring.len()) {
                break;
            }
        }
        for (key, to) in order {
            let mut step = found.remove(&key).expect("it was found");
            let length = key.len() - step.put.len() - 1;
            if prevented.contains(&key[..length]) {
                continue;
            }
            if let Some(further) = &mut step.further {
                further.sort_unstable();
                further.dedup();
            }
            self.into.entry(to).or_default().push(step);
            self.count += 1;
        }
    }

    /// What violates a property.
    fn properties(&mut self, search: &Search<'_>, scope: &Scope, context: u32, occurring: &[u32], budget: &Budget) {
        let named = search.contexts.things[context as usize].1.len();
        for &(property, need) in &scope.needs.properties {
            let size = scope.of_property(need, 1)[SORT];
            let runner = &search.runners[&of_only_sort(named + size)];
            let instances = &runner.properties[&property];
            let mut places = vec![0; size];
            loop {
                if budget.spend(1).is_err() {
                    return;
                }
                let rows: Vec<u32> = places.iter().map(|&place| occurring[place]).collect();
                let state = search.state(context, &rows);
                let seats = Seats::new(runner.member, &search.contexts.things[context as usize].1, &rows);
                let is_wrong = instances.all.iter().any(|arguments| {
                    is_first(runner.member, instances, arguments, &seats, &rows)
                        && runner.interpreter.holds(property, arguments, &state) != Ok(true)
                });
                if is_wrong {
                    self.wrong.push(part_of(context, &rows));
                }
                if !advance(&mut places, occurring.len()) {
                    break;
                }
            }
        }
    }
}

/// The number of the context of a state, and the objects that it names.
fn numbered(member: &Member, state: &Valuation, rows: &mut Rows, contexts: &mut Numbers<Context>) -> (u32, Vec<usize>) {
    let (shared, names) = member.shared(state);
    let named = names.iter().map(|&object| rows.number(member.row(state, object))).collect();
    (contexts.number((shared, named)), names)
}

/// A basis: parts none of which contains another.
struct Parts {
    of_context: FxHashMap<u32, Vec<View>>,
    queue: VecDeque<View>,
    count: usize,
    /// The rows that can occur, sorted, by context.
    occurring: FxHashMap<u32, Vec<u32>>,
    /// Every state in question has this number of other objects at least.
    fewest: usize,
}

impl Parts {
    fn new(search: &Search<'_>, fewest: usize) -> Self {
        let mut occurring = search.occurring.clone();
        occurring.values_mut().for_each(|rows| rows.sort_unstable());
        Self { of_context: FxHashMap::default(), queue: VecDeque::new(), count: 0, occurring, fewest }
    }

    fn contains(&self, part: &View) -> bool {
        self.of_context.get(&part[0]).is_some_and(|parts| parts.contains(part))
    }

    /// Whether all states that contain a part contain one that was found.
    fn covers(&self, context: u32, rows: &[u32]) -> bool {
        let parts = self.of_context.get(&context).map_or(&[][..], |parts| parts);
        parts.iter().any(|known| is_within(&known[1..], rows))
    }

    /// Adds a part, unless it is covered. Where it does not matter what one of its objects holds, that one is left out.
    fn add(&mut self, mut part: View) {
        while !self.covers(part[0], &part[1..]) {
            let context = part[0];
            let known = self.of_context.entry(context).or_default();
            let before = known.len();
            known.retain(|other| !is_within(&part[1..], &other[1..]));
            self.count = self.count + 1 + known.len() - before;
            known.push(part.clone());
            self.queue.push_back(part.clone());
            let Some(smaller) = self.smaller(&part) else { return };
            part = smaller;
        }
    }

    /// The part without one of its objects, if a state that contains it contains a part that was found, whatever a further
    /// object holds.
    fn smaller(&self, part: &View) -> Option<View> {
        let (context, rows) = (part[0], &part[1..]);
        if rows.len() > self.fewest {
            return None;
        }
        (0..rows.len()).filter(|&place| place == 0 || rows[place - 1] != rows[place]).find_map(|place| {
            let mut rest = rows.to_vec();
            rest.remove(place);
            let is_covered = self.occurring[&context].iter().all(|&row| {
                let mut whole = rest.clone();
                whole.insert(whole.partition_point(|&other| other < row), row);
                self.covers(context, &whole)
            });
            is_covered.then(|| part_of(context, &rest))
        })
    }

    fn sorted(&self) -> Vec<View> {
        let mut parts: Vec<View> = self.of_context.values().flatten().cloned().collect();
        parts.sort_unstable();
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multisets() {
        assert!(is_within(&[], &[]) && is_within(&[1, 1], &[0, 1, 1, 2]) && is_within(&[0, 2], &[0, 1, 2]));
        assert!(!is_within(&[1, 1], &[0, 1, 2]) && !is_within(&[3], &[0, 1, 2]) && !is_within(&[0], &[]));
        assert_eq!(without(&[0, 1, 1, 2], &[1, 3]), [0, 1, 2]);
        assert_eq!(without(&[1, 2, 2], &[0, 0, 2]), [1, 2]);
        let mut sequence = [0, 0];
        let mut all = vec![sequence];
        while advance(&mut sequence, 3) {
            all.push(sequence);
        }
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]);
    }
}
