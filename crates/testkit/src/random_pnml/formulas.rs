//! Random questions of the Model Checking Contest about random nets, and an oracle for them: fixpoints on the graph of
//! markings for trees, where a path may end in a marking without successors, and the tableau of
//! [`crate::temporal_oracle`] for linear formulas, where the last marking is repeated.

use quotient_ir::Fairness;
use quotient_temporal::{Atom, Formula, Formulas};

use super::{MarkingGraph, RandomNet};
use crate::random_murphi::Random;
use crate::temporal_oracle::{Arc, OracleLimits, Structure, linear};

/// A number of tokens.
#[derive(Clone, Debug)]
enum Number {
    Constant(i64),
    /// The tokens in some places.
    Tokens(Vec<usize>),
    Join(&'static str, Vec<Number>),
}

/// A formula: of states, or inside a path quantifier of paths.
#[derive(Clone, Debug)]
enum Tree {
    Compare(&'static str, Number, Number),
    Fireable(Vec<usize>),
    Deadlock,
    Not(Box<Tree>),
    Join(&'static str, Vec<Tree>),
    /// On all paths, or on some.
    Path(bool, Box<Tree>),
    Next(Box<Tree>),
    Finally(Box<Tree>),
    Globally(Box<Tree>),
    Until(Box<Tree>, Box<Tree>),
}

/// A question about a net.
#[derive(Clone, Debug)]
pub struct Question(Asked);

#[derive(Clone, Debug)]
enum Asked {
    /// The most tokens in some places.
    Bound(Vec<usize>),
    /// Whether a formula holds at first.
    Holds(Tree),
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Whether a formula holds.
    Holds(bool),
    /// The most tokens.
    Most(i64),
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Whether a condition holds always, or in some marking.
    Reachability,
    /// The most tokens in some places.
    Bounds,
    /// A formula of CTL.
    Trees,
    /// A formula of LTL.
    Runs,
}

impl Category {
    /// All categories.
    pub const ALL: [Self; 4] = [Self::Reachability, Self::Bounds, Self::Trees, Self::Runs];
}

impl RandomNet {
    /// A random question of a category.
    pub fn question(&self, random: &mut Random, category: Category) -> Question {
        let path = |all: bool, tree: Tree| Tree::Path(all, Box::new(tree));
        Question(match category {
            Category::Bounds => Asked::Bound(self.some_places(random)),
            Category::Reachability => {
                let condition = if random.percent(25) { Tree::Deadlock } else { self.condition(random, 2) };
                let condition = Box::new(condition);
                Asked::Holds(match random.percent(50) {
                    true => path(true, Tree::Globally(condition)),
                    false => path(false, Tree::Finally(condition)),
                })
            }
            Category::Trees => Asked::Holds(self.state_formula(random, 3)),
            Category::Runs => {
                let depth = 1 + random.below(3) as u32;
                Asked::Holds(path(true, self.path_formula(random, depth)))
            }
        })
    }

    fn some_places(&self, random: &mut Random) -> Vec<usize> {
        let mut places: Vec<usize> = (0..random.between(1, 2)).map(|_| random.below(self.places.len())).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    fn number(&self, random: &mut Random) -> Number {
        match random.below(6) {
            0..3 => Number::Tokens(self.some_places(random)),
            3 => {
                let operator = *random.pick(&["integer-sum", "integer-difference"]);
                let parts = vec![Number::Tokens(self.some_places(random)), Number::Constant(random.between(0, 2))];
                Number::Join(operator, parts)
            }
            _ => Number::Constant(random.between(0, 3)),
        }
    }

    fn condition(&self, random: &mut Random, depth: u32) -> Tree {
        match random.below(8) {
            0 if depth > 0 => Tree::Not(Box::new(self.condition(random, depth - 1))),
            1 | 2 if depth > 0 => {
                let operators = ["conjunction", "disjunction", "implication", "equivalence", "exclusive-disjunction"];
                let parts = (0..2).map(|_| self.condition(random, depth - 1)).collect();
                Tree::Join(random.pick::<&str>(&operators), parts)
            }
            3 | 4 => {
                let transitions = (0..random.between(1, 2)).map(|_| random.below(self.transitions.len())).collect();
                Tree::Fireable(transitions)
            }
            5 if random.percent(30) => Tree::Deadlock,
            _ => {
                let operators = ["integer-le", "integer-lt", "integer-ge", "integer-gt", "integer-eq", "integer-ne"];
                let operator = *random.pick(&operators);
                Tree::Compare(operator, Number::Tokens(self.some_places(random)), self.number(random))
            }
        }
    }

    fn state_formula(&self, random: &mut Random, depth: u32) -> Tree {
        if depth == 0 {
            return self.condition(random, 1);
        }
        let inner = |random: &mut Random| Box::new(self.state_formula(random, depth - 1));
        match random.below(8) {
            0 => Tree::Not(inner(random)),
            1 => Tree::Join(
                random.pick::<&str>(&["conjunction", "disjunction", "implication"]),
                vec![*inner(random), *inner(random)],
            ),
            kind => {
                let all = random.percent(50);
                let operator = match kind {
                    2 | 3 => Tree::Next(inner(random)),
                    4 => Tree::Finally(inner(random)),
                    5 => Tree::Globally(inner(random)),
                    _ => Tree::Until(inner(random), inner(random)),
                };
                Tree::Path(all, Box::new(operator))
            }
        }
    }

    fn path_formula(&self, random: &mut Random, depth: u32) -> Tree {
        if depth == 0 {
            return self.condition(random, 1);
        }
        let inner = |random: &mut Random| Box::new(self.path_formula(random, depth - 1));
        match random.below(8) {
            0 => Tree::Not(inner(random)),
            1 => Tree::Join(
                random.pick::<&str>(&["conjunction", "disjunction", "equivalence"]),
                vec![*inner(random), *inner(random)],
            ),
            2 => Tree::Next(inner(random)),
            3 | 4 => Tree::Finally(inner(random)),
            5 | 6 => Tree::Globally(inner(random)),
            _ => Tree::Until(inner(random), inner(random)),
        }
    }
}

impl Question {
    /// The formula in the XML form of the contest.
    pub fn text(&self) -> String {
        match &self.0 {
            Asked::Bound(places) => element("place-bound", &named("place", 'p', places)),
            Asked::Holds(tree) => tree.text(),
        }
    }

    /// The answer; none if that is too much work.
    pub fn answer(&self, graph: &MarkingGraph) -> Option<Answer> {
        match &self.0 {
            Asked::Bound(places) => {
                let most = (0..graph.markings.len()).map(|state| graph.tokens(state, places)).max()?;
                Some(Answer::Most(most))
            }
            Asked::Holds(Tree::Path(true, of)) if of.is_linear() => linear_answer(of, graph).map(Answer::Holds),
            Asked::Holds(tree) => Some(Answer::Holds(tree.states(graph)[0])),
        }
    }
}

fn element(name: &str, inner: &str) -> String {
    format!("<{name}>{inner}</{name}>")
}

/// Elements with the identities of places or transitions.
fn named(name: &str, letter: char, numbers: &[usize]) -> String {
    numbers.iter().map(|number| element(name, &format!("{letter}{number}"))).collect()
}

impl Number {
    fn text(&self) -> String {
        match self {
            Self::Constant(value) => element("integer-constant", &value.to_string()),
            Self::Tokens(places) => element("tokens-count", &named("place", 'p', places)),
            Self::Join(operator, parts) => element(operator, &parts.iter().map(Self::text).collect::<String>()),
        }
    }

    fn value(&self, graph: &MarkingGraph, state: usize) -> i64 {
        match self {
            Self::Constant(value) => *value,
            Self::Tokens(places) => graph.tokens(state, places),
            Self::Join(operator, parts) => {
                let values = parts.iter().map(|part| part.value(graph, state));
                let joined =
                    values.reduce(|left, right| if *operator == "integer-sum" { left + right } else { left - right });
                joined.unwrap_or(0)
            }
        }
    }
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Compare(operator, left, right) => element(operator, &(left.text() + &right.text())),
            Self::Fireable(transitions) => element("is-fireable", &named("transition", 't', transitions)),
            Self::Deadlock => "<deadlock/>".to_owned(),
            Self::Not(of) => element("negation", &of.text()),
            Self::Join(operator, parts) => element(operator, &parts.iter().map(Self::text).collect::<String>()),
            Self::Path(all, of) => element(if *all { "all-paths" } else { "exists-path" }, &of.text()),
            Self::Next(of) => element("next", &of.text()),
            Self::Finally(of) => element("finally", &of.text()),
            Self::Globally(of) => element("globally", &of.text()),
            Self::Until(before, reach) => {
                element("until", &(element("before", &before.text()) + &element("reach", &reach.text())))
            }
        }
    }

    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Compare(..) | Self::Fireable(_) | Self::Deadlock => Vec::new(),
            Self::Not(of) | Self::Path(_, of) | Self::Next(of) | Self::Finally(of) | Self::Globally(of) => vec![of],
            Self::Join(_, parts) => parts.iter().collect(),
            Self::Until(before, reach) => vec![before, reach],
        }
    }

    fn is_condition(&self) -> bool {
        let is_temporal =
            matches!(self, Self::Path(..) | Self::Next(_) | Self::Finally(_) | Self::Globally(_) | Self::Until(..));
        !is_temporal && self.parts().into_iter().all(Self::is_condition)
    }

    fn has_path(&self) -> bool {
        matches!(self, Self::Path(..)) || self.parts().into_iter().any(Self::has_path)
    }

    /// Whether it is about runs, and more than one temporal operator of conditions: that is one of CTL as well.
    fn is_linear(&self) -> bool {
        let is_operator = matches!(self, Self::Next(_) | Self::Finally(_) | Self::Globally(_) | Self::Until(..));
        !(self.has_path() || is_operator && self.parts().into_iter().all(Self::is_condition))
    }

    /// The markings where a state formula holds.
    fn states(&self, graph: &MarkingGraph) -> Vec<bool> {
        let all = 0..graph.markings.len();
        match self {
            Self::Compare(operator, left, right) => all
                .map(|state| {
                    let (left, right) = (left.value(graph, state), right.value(graph, state));
                    match *operator {
                        "integer-le" => left <= right,
                        "integer-lt" => left < right,
                        "integer-ge" => left >= right,
                        "integer-gt" => left > right,
                        "integer-eq" => left == right,
                        _ => left != right,
                    }
                })
                .collect(),
            Self::Fireable(transitions) => all
                .map(|state| transitions.iter().any(|it| graph.steps[state].iter().any(|step| step.0 == *it)))
                .collect(),
            Self::Deadlock => all.map(|state| graph.steps[state].is_empty()).collect(),
            Self::Not(of) => of.states(graph).into_iter().map(|holds| !holds).collect(),
            Self::Join(operator, parts) => {
                let parts: Vec<Vec<bool>> = parts.iter().map(|part| part.states(graph)).collect();
                all.map(|state| {
                    let (left, right) = (parts[0][state], parts[1][state]);
                    match *operator {
                        "conjunction" => left && right,
                        "disjunction" => left || right,
                        "implication" => !left || right,
                        "equivalence" => left == right,
                        _ => left != right,
                    }
                })
                .collect()
            }
            Self::Path(is_all, of) => {
                let not = |states: Vec<bool>| -> Vec<bool> { states.into_iter().map(|holds| !holds).collect() };
                let both = |one: &[bool], other: &[bool]| -> Vec<bool> {
                    one.iter().zip(other).map(|(one, other)| *one && *other).collect()
                };
                let everywhere = vec![true; graph.markings.len()];
                match (&**of, is_all) {
                    (Self::Next(of), false) => graph.some_next(&of.states(graph)),
                    (Self::Next(of), true) => not(graph.some_next(&not(of.states(graph)))),
                    (Self::Finally(of), false) => graph.some_until(&everywhere, &of.states(graph)),
                    (Self::Finally(of), true) => not(graph.some_always(&not(of.states(graph)))),
                    (Self::Globally(of), false) => graph.some_always(&of.states(graph)),
                    (Self::Globally(of), true) => not(graph.some_until(&everywhere, &not(of.states(graph)))),
                    (Self::Until(before, reach), false) => {
                        graph.some_until(&before.states(graph), &reach.states(graph))
                    }
                    (Self::Until(before, reach), true) => {
                        let (not_before, not_reach) = (not(before.states(graph)), not(reach.states(graph)));
                        let broken = graph.some_until(&not_reach, &both(&not_before, &not_reach));
                        both(&not(broken), &not(graph.some_always(&not_reach)))
                    }
                    (other, _) => other.states(graph),
                }
            }
            Self::Next(_) | Self::Finally(_) | Self::Globally(_) | Self::Until(..) => {
                unreachable!("a temporal operator of a state formula is in a path quantifier")
            }
        }
    }

    /// The formula in a pool, with its conditions as atoms.
    fn formula(&self, pool: &mut Formulas, atoms: &mut Vec<Self>) -> Formula {
        if self.is_condition() {
            atoms.push(self.clone());
            return pool.atom(Atom(atoms.len() as u32 - 1));
        }
        let parts: Vec<Formula> = self.parts().into_iter().map(|part| part.formula(pool, atoms)).collect();
        match self {
            Self::Not(_) => pool.not(parts[0]),
            Self::Next(_) => pool.next(parts[0]),
            Self::Finally(_) => pool.eventually(parts[0]),
            Self::Globally(_) => pool.always(parts[0]),
            Self::Until(..) => pool.until(parts[0], parts[1]),
            Self::Join("conjunction", _) => pool.and(parts),
            Self::Join("disjunction", _) => pool.or(parts),
            Self::Join("equivalence", _) => pool.equivalent(parts[0], parts[1]),
            _ => unreachable!("path formulas have these operators"),
        }
    }
}

/// Whether a path formula holds on all runs.
fn linear_answer(tree: &Tree, graph: &MarkingGraph) -> Option<bool> {
    let (mut pool, mut atoms) = (Formulas::new(), Vec::new());
    let formula = tree.formula(&mut pool, &mut atoms);
    let arcs = graph.steps.iter().enumerate().map(|(state, steps)| {
        let mut targets: Vec<usize> = steps.iter().map(|step| step.1).collect();
        if targets.is_empty() {
            targets.push(state);
        }
        targets.sort_unstable();
        targets.dedup();
        targets.into_iter().map(|to| Arc::new(to, [])).collect()
    });
    let structure = Structure { starts: vec![0], arcs: arcs.collect(), classes: Vec::new() };
    let labels: Vec<Vec<bool>> = atoms.iter().map(|atom| atom.states(graph)).collect();
    let letter = |state: usize| {
        labels.iter().enumerate().fold(0, |letter, (bit, label)| letter | u64::from(label[state]) << bit)
    };
    let letters: Vec<u64> = (0..graph.markings.len()).map(letter).collect();
    linear(&structure, &pool, formula, &letters, Fairness::None, &OracleLimits::default()).ok()
}

impl MarkingGraph {
    fn tokens(&self, state: usize, places: &[usize]) -> i64 {
        let of_places = self.markings[state].iter().filter(|((place, _), _)| places.contains(place));
        of_places.map(|(_, count)| *count).sum()
    }

    /// The markings with a successor in a set.
    fn some_next(&self, goal: &[bool]) -> Vec<bool> {
        self.steps.iter().map(|steps| steps.iter().any(|step| goal[step.1])).collect()
    }

    /// The markings from which a path through a set leads to a goal.
    fn some_until(&self, through: &[bool], goal: &[bool]) -> Vec<bool> {
        let mut found = goal.to_vec();
        loop {
            let next = self.some_next(&found);
            let more: Vec<bool> = (0..found.len()).map(|it| found[it] || through[it] && next[it]).collect();
            if more == found {
                return found;
            }
            found = more;
        }
    }

    /// The markings from which a path, infinite or one that cannot be continued, stays in a set.
    fn some_always(&self, inside: &[bool]) -> Vec<bool> {
        let mut found = inside.to_vec();
        loop {
            let next = self.some_next(&found);
            let fewer: Vec<bool> =
                (0..found.len()).map(|it| found[it] && (next[it] || self.steps[it].is_empty())).collect();
            if fewer == found {
                return found;
            }
            found = fewer;
        }
    }
}
