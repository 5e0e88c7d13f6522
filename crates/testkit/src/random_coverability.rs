//! Random nets of black tokens, most of them unbounded, and random conditions that more tokens do not turn false; an oracle
//! tells whether such a condition is ever reached: backward, by the least markings from which it can be. The search backward is
//! over upward-closed sets (P. A. Abdulla, K. Čerāns, B. Jonsson, T. Yih-Kuen, LICS 1996) and shares nothing with what the front end
//! does, which goes forward.

use std::fmt::Write;

use crate::random_murphi::Random;

/// A net of black tokens.
#[derive(Clone, Debug)]
pub struct BlackNet {
    marking: Vec<u64>,
    transitions: Vec<Change>,
}

/// What a transition takes from each place, and what it adds.
#[derive(Clone, Debug)]
struct Change {
    takes: Vec<u64>,
    adds: Vec<u64>,
}

/// A condition that more tokens do not turn false.
#[derive(Clone, Debug)]
pub enum Goal {
    /// So many tokens in some places together.
    Tokens(Vec<usize>, u64),
    /// A transition can fire.
    Fireable(usize),
    /// Both hold.
    Both(Box<Goal>, Box<Goal>),
    /// Either holds.
    Either(Box<Goal>, Box<Goal>),
}

/// The least markings of the oracle, before it gives up.
const MOST_MARKINGS: usize = 4_000;

fn is_at_least(marking: &[u64], other: &[u64]) -> bool {
    marking.iter().zip(other).all(|(own, other)| own >= other)
}

/// The least of some markings.
fn least(mut markings: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    markings.sort_by_key(|marking| marking.iter().sum::<u64>());
    let mut kept: Vec<Vec<u64>> = Vec::new();
    for marking in markings {
        if !kept.iter().any(|smaller| is_at_least(&marking, smaller)) {
            kept.push(marking);
        }
    }
    kept
}

impl BlackNet {
    /// A random net.
    pub fn random(random: &mut Random) -> Self {
        let places = 2 + random.below(4);
        let marking = (0..places).map(|_| [0, 0, 1, 2][random.below(4)]).collect();
        let mut arcs = |most: usize| {
            let mut tokens = vec![0; places];
            for _ in 0..random.below(most) {
                tokens[random.below(places)] += 1;
            }
            tokens
        };
        let transitions = (0..5).map(|_| Change { takes: arcs(4), adds: arcs(4) }).collect();
        Self { marking, transitions }
    }

    /// A random condition.
    pub fn goal(&self, random: &mut Random, depth: usize) -> Goal {
        match random.below(if depth == 0 { 2 } else { 4 }) {
            0 => Goal::Fireable(random.below(self.transitions.len())),
            1 => {
                let places = (0..self.marking.len()).filter(|_| random.percent(40)).collect();
                Goal::Tokens(places, random.below(6) as u64)
            }
            choice => {
                let parts = (Box::new(self.goal(random, depth - 1)), Box::new(self.goal(random, depth - 1)));
                if choice == 2 { Goal::Both(parts.0, parts.1) } else { Goal::Either(parts.0, parts.1) }
            }
        }
    }

    /// The least markings in which a condition holds.
    fn basis(&self, goal: &Goal) -> Vec<Vec<u64>> {
        match goal {
            Goal::Fireable(transition) => vec![self.transitions[*transition].takes.clone()],
            Goal::Tokens(places, tokens) => {
                let mut markings = vec![vec![0; self.marking.len()]];
                for _ in 0..*tokens {
                    let more = |marking: &Vec<u64>, place: usize| {
                        let mut marking = marking.clone();
                        marking[place] += 1;
                        marking
                    };
                    let next =
                        markings.iter().flat_map(|marking| places.iter().map(move |&place| more(marking, place)));
                    markings = least(next.collect());
                }
                markings
            }
            Goal::Both(left, right) => {
                let (left, right) = (self.basis(left), self.basis(right));
                let both = |one: &[u64], other: &[u64]| one.iter().zip(other).map(|(one, two)| *one.max(two)).collect();
                least(left.iter().flat_map(|one| right.iter().map(|other| both(one, other))).collect())
            }
            Goal::Either(left, right) => least([self.basis(left), self.basis(right)].concat()),
        }
    }

    /// Whether a condition holds in some reachable marking. None if that takes too long.
    pub fn reaches(&self, goal: &Goal) -> Option<bool> {
        let mut basis = self.basis(goal);
        loop {
            let before = |marking: &[u64], change: &Change| -> Vec<u64> {
                let rest = marking.iter().zip(&change.adds).map(|(tokens, added)| tokens.saturating_sub(*added));
                rest.zip(&change.takes).map(|(rest, taken)| rest + taken).collect()
            };
            let more = basis.iter().flat_map(|marking| self.transitions.iter().map(|change| before(marking, change)));
            let larger = least(basis.iter().cloned().chain(more).collect());
            if larger.len() > MOST_MARKINGS {
                return None;
            }
            if larger == least(basis.clone()) {
                return Some(basis.iter().any(|marking| is_at_least(&self.marking, marking)));
            }
            basis = larger;
        }
    }

    /// The net as PNML.
    pub fn text(&self) -> String {
        let mut text = String::from("<pnml><net id=\"n\" type=\"ptnet\"><page id=\"g\">\n");
        for (place, tokens) in self.marking.iter().enumerate() {
            let _ =
                writeln!(text, "<place id=\"p{place}\"><initialMarking><text>{tokens}</text></initialMarking></place>");
        }
        for (number, change) in self.transitions.iter().enumerate() {
            let _ = writeln!(text, "<transition id=\"t{number}\"/>");
            for (kind, tokens) in [("i", &change.takes), ("o", &change.adds)] {
                for (place, tokens) in tokens.iter().enumerate().filter(|(_, tokens)| **tokens > 0) {
                    let (place, transition) = (format!("p{place}"), format!("t{number}"));
                    let (source, target) = if kind == "i" { (&place, &transition) } else { (&transition, &place) };
                    let _ = writeln!(
                        text,
                        "<arc id=\"{kind}{place}{transition}\" source=\"{source}\" target=\"{target}\">\
                         <inscription><text>{tokens}</text></inscription></arc>"
                    );
                }
            }
        }
        text + "</page></net></pnml>\n"
    }
}

impl Goal {
    /// The condition, or its contrary, as the contest writes it; in one of several ways.
    pub fn text(&self, random: &mut Random, holds: bool) -> String {
        let parts = |random: &mut Random, left: &Self, right: &Self, holds: bool| {
            format!("{}{}", left.text(random, holds), right.text(random, holds))
        };
        if random.percent(15) {
            return format!("<negation>{}</negation>", self.text(random, !holds));
        }
        match self {
            Self::Fireable(transition) => {
                let text = format!("<is-fireable><transition>t{transition}</transition></is-fireable>");
                if holds { text } else { format!("<negation>{text}</negation>") }
            }
            Self::Tokens(places, tokens) => {
                let count = |places: &[usize]| {
                    let names: String = places.iter().map(|place| format!("<place>p{place}</place>")).collect();
                    format!("<tokens-count>{names}</tokens-count>")
                };
                let sum = match places.split_first() {
                    Some((first, rest)) if random.percent(30) => {
                        format!("<integer-sum>{}{}</integer-sum>", count(&[*first]), count(rest))
                    }
                    _ => count(places),
                };
                let constant = |number: i64| format!("<integer-constant>{number}</integer-constant>");
                let tokens = *tokens as i64;
                match (random.below(3), holds) {
                    (0, true) => format!("<integer-le>{}{sum}</integer-le>", constant(tokens)),
                    (0, false) => format!("<integer-lt>{sum}{}</integer-lt>", constant(tokens)),
                    (1, true) => format!("<integer-gt>{sum}{}</integer-gt>", constant(tokens - 1)),
                    (1, false) => format!("<integer-le>{sum}{}</integer-le>", constant(tokens - 1)),
                    (_, true) => format!("<integer-ge>{sum}{}</integer-ge>", constant(tokens)),
                    (_, false) => {
                        let less = format!("<integer-difference>{sum}{}</integer-difference>", constant(tokens));
                        format!("<integer-lt>{less}{}</integer-lt>", constant(0))
                    }
                }
            }
            Self::Both(left, right) | Self::Either(left, right) => {
                let is_all = matches!(self, Self::Both(..)) == holds;
                if random.percent(20) {
                    let (first, second) = (left.text(random, !holds), right.text(random, holds));
                    return match is_all {
                        false => format!("<implication>{first}{second}</implication>"),
                        true => {
                            let second = right.text(random, !holds);
                            let first = left.text(random, holds);
                            format!("<negation><implication>{first}{second}</implication></negation>")
                        }
                    };
                }
                let name = if is_all { "conjunction" } else { "disjunction" };
                format!("<{name}>{}</{name}>", parts(random, left, right, holds))
            }
        }
    }
}
