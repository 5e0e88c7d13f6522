//! Objects of the classes of PAT's library in CSP#: random calls against the collections of Rust, bounds that are left,
//! and symmetries of the values of a set.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{DeadlockMode, Model, Source};
use quotient_search::{SearchOptions, Silent, StopReason, Verdict};
use quotient_testkit::promela::order;
use quotient_testkit::random_murphi::Random;
use quotient_testkit::search::check;

fn read(text: &str) -> Result<Model, Vec<(&'static str, String)>> {
    let loaded = load(Source::new("text.csp", text), Language::Csp, &LoadOptions::default());
    loaded.map(|loaded| loaded.model).map_err(|diagnostics| {
        diagnostics
            .iter()
            .map(|it| (it.code, text[it.primary.as_ref().expect("a place").span.range()].into()))
            .collect()
    })
}

/// The verdict, the number of states, and why the search ended.
fn answer(text: &str) -> (Verdict, u64, String) {
    let model = read(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    let report = check(&model, &options, &mut Silent).expect("a report");
    let stop = match &report.stop_reason {
        Some(StopReason::Exhausted(fault)) => format!("{fault} at {}", &text[fault.span.range()]),
        _ => String::new(),
    };
    (report.verdict, report.states, stop)
}

const IMPORTS: &str =
    "#import \"PAT.Lib.Set\"; #import \"PAT.Lib.List\"; #import \"PAT.Lib.Queue\"; #import \"PAT.Lib.Stack\";\n";

/// A text with random calls, and what is right after them.
fn random_calls(seed: u64) -> String {
    let mut random = Random::new(seed);
    let (mut set, mut other): (BTreeSet<i64>, BTreeSet<i64>) = Default::default();
    let (mut list, mut queue, mut stack): (Vec<i64>, VecDeque<i64>, Vec<i64>) = Default::default();
    let mut text = format!(
        "{IMPORTS}var<Set> s:{{-1..4}}; var<Set> t = new Set(); var<List> l[9]; var<Queue> q[7]; var<Stack> k[6];
var x; var y = [0, 1, 2, 3]; P() = "
    );
    let mut x = 0;
    for _ in 0..24 {
        let value = random.between(0, 3);
        // Arguments that are constant, and that are not.
        let written = if random.percent(50) { value.to_string() } else { format!("y[{value}]") };
        let call = match random.below(16) {
            0 => {
                x = i64::from(set.insert(value));
                format!("x = s.Add({written});")
            }
            1 => {
                x = i64::from(set.remove(&value));
                format!("x = s.Remove({written});")
            }
            2 => {
                other.insert(value);
                format!("t.Add({written});")
            }
            3 => {
                set = set.union(&other).copied().collect();
                "s = s.Union(t, s);".into()
            }
            4 => {
                set = &set - &other;
                "s = t.Substract(s, t);".into()
            }
            5 => {
                other = &other & &set;
                "t = s.Intersect(s, t);".into()
            }
            6 if !set.is_empty() => {
                let position = random.below(set.len());
                x = *set.iter().nth(position).expect("a position");
                format!("x = s.Get({position});")
            }
            7 | 8 if list.len() < 9 => {
                list.push(value);
                format!("l.Add({written});")
            }
            9 => {
                if let Some(position) = list.iter().position(|it| *it == value) {
                    list.remove(position);
                }
                format!("l.Remove({written});")
            }
            10 if !list.is_empty() => {
                let position = random.below(list.len());
                list.remove(position);
                format!("l.RemoveAt({position});")
            }
            11 if list.len() < 5 => {
                list = list.iter().chain(&list).copied().collect();
                "l = l.Concat(l, l);".into()
            }
            12 if queue.len() < 7 => {
                queue.push_back(value);
                format!("q.Enqueue({written});")
            }
            13 if !queue.is_empty() => {
                x = queue.pop_front().expect("an element");
                "x = q.Dequeue();".into()
            }
            14 if stack.len() < 6 => {
                stack.push(value);
                format!("k.Push({written});")
            }
            15 if !stack.is_empty() => {
                x = stack.pop().expect("an element");
                "x = k.Pop();".into()
            }
            _ => continue,
        };
        let _ = write!(text, "a{{{call}}} -> ");
    }
    let _ = write!(text, "done -> Stop;\n#define right (x == {x}");
    for value in -2..6 {
        for (name, contains) in [
            ("s", set.contains(&value)),
            ("t", other.contains(&value)),
            ("l", list.contains(&value)),
            ("q", queue.contains(&value)),
            ("k", stack.contains(&value)),
        ] {
            let _ = write!(text, " && {}{name}.Contains({value})", if contains { "" } else { "!" });
        }
    }
    let sizes = [("s", set.len()), ("t", other.len()), ("l", list.len()), ("q", queue.len()), ("k", stack.len())];
    for (name, size) in sizes {
        let _ = write!(text, " && {name}.Count() == {size}");
    }
    for (position, value) in list.iter().enumerate() {
        let _ = write!(text, " && l.Get({position}) == {value}");
    }
    if let (Some(first), Some(top)) = (queue.front(), stack.last()) {
        let _ = write!(text, " && q.Peek() == {first} && k.Peek() == {top}");
    }
    let _ = write!(text, " && s.IsDisjoint(t) == {}", set.is_disjoint(&other));
    let _ = write!(text, " && s.IsOverlapping(t) == {}", !set.is_disjoint(&other));
    text + ");\n#assert P() |= [] (done -> right);\n#assert P() reaches right;\n"
}

#[test]
fn random_calls_against_collections() {
    for seed in 1..=300 {
        let text = random_calls(seed);
        let (verdict, ..) = answer(&text);
        assert_eq!(verdict, Verdict::Holds, "seed {seed}\n{text}");
    }
}

#[test]
fn what_leaves_a_bound_is_inconclusive() {
    let text = format!("{IMPORTS}var<Queue> q[3]; P() = a{{q.Enqueue(1);}} -> P(); #assert P() deadlockfree;");
    let (verdict, states, stop) = answer(&text);
    assert_eq!((verdict, states), (Verdict::Inconclusive, 4));
    assert_eq!(stop, "at most 3 elements of `q` are assumed at q.Enqueue(1)");
    let text = format!("{IMPORTS}var<Set> s; P(i) = a{{s.Add(i);}} -> P(i + 1); #assert P(60) deadlockfree;");
    let (verdict, _, stop) = answer(&text);
    assert_eq!((verdict, &*stop), (Verdict::Inconclusive, "0 to 63 are assumed for the values of `s` at s.Add(i)"));
    let text = format!(
        "{IMPORTS}var<Set> s; var<Set> t:{{70..71}}; P() = a{{t.Add(70); s = s.Union(s, t);}} -> P(); #assert P() deadlockfree;"
    );
    assert_eq!(answer(&text).0, Verdict::Inconclusive);
}

#[test]
fn elements_that_are_not_there_are_errors() {
    for call in [
        "x = q.Dequeue();",
        "x = q.Peek();",
        "x = k.Pop();",
        "x = k.Peek();",
        "x = l.Get(0);",
        "l.RemoveAt(1);",
        "x = s.Get(1);",
    ] {
        let text = format!(
            "{IMPORTS}var<Set> s; var<List> l; var<Queue> q; var<Stack> k; var x; P() = a{{s.Add(1); l.Add(1); l.Remove(1); {call}}} -> Stop; #assert P() reaches never; #define never (x == 9);"
        );
        assert_eq!(answer(&text).0, Verdict::Violated, "{call}");
    }
}

#[test]
fn wrong_uses_have_places() {
    let errors = |text: &str| read(&format!("{IMPORTS}{text} #assert P() deadlockfree;")).expect_err("wrong");
    let one = |code: &'static str, place: &str| vec![(code, place.to_owned())];
    assert_eq!(errors("var<Set> s; P() = [s.Add(1)] a -> P();"), one("unsupported", "s.Add"));
    assert_eq!(errors("var<Set> s; P() = a{s.Push(1);} -> P();"), one("unsupported", "Push"));
    assert_eq!(errors("var<Set> s; P() = a{s.Add();} -> P();"), one("wrong-arguments", "Add"));
    assert_eq!(errors("var<Set> s; P() = [s == 1] a -> P();"), one("not-a-value", "s"));
    assert_eq!(errors("var<Set> s; P() = a{s = 1;} -> P();"), one("unsupported", "1"));
    assert_eq!(errors("var<Map> s; P() = a -> P();"), one("unsupported", "Map"));
    assert_eq!(errors("var x; P() = a{x.Add(1);} -> P();"), one("unsupported", "x"));
    // Refused before statements are written for each value.
    let huge = "var<Set> s:{0..2147483647}; P() = a{s.Add(1); s = s.Union(s, s);} -> P();";
    assert_eq!(errors(huge), one("wrong-size", "s"));
    assert_eq!(errors("var<List> l[0]; P() = a -> P();"), one("wrong-size", "l"));
    assert_eq!(
        errors("#import \"PAT.Lib.Example\"; P() = a -> P();"),
        one("unsupported-import", "#import \"PAT.Lib.Example\"")
    );
    assert_eq!(
        read("var<Set> s; P() = a -> P(); #assert P() deadlockfree;").expect_err("wrong"),
        one("missing-import", "Set")
    );
}

#[test]
fn values_of_a_set_are_interchangeable() {
    // Who is in the room: a permutation of the people is a symmetry, and states are those of the subsets.
    let text = format!(
        "{IMPORTS}var<Set> room:{{0..3}};
         Person(i) = [!room.Contains(i)] enter.i{{room.Add(i);}} -> Person(i) [] [room.Contains(i)] leave.i{{room.Remove(i);}} -> Person(i);
         All() = ||| i:{{0..3}} @ Person(i); #assert All() deadlockfree;"
    );
    assert_eq!(answer(&text).1, 16);
    assert_eq!(order(&read(&text).expect("a right text")), "24");
}

#[test]
fn functions_of_numbers() {
    let text = "#import \"PAT.Math\"; var x = 0 - 3; var y = 5;
        #define right (call(max, x, y) == 5 && call(min, x, y) == 0 - 3 && call(abs, x) == 3 && call(pow, y, 3) == 125);
        P() = a -> P(); #assert P() |= [] right;";
    assert_eq!(answer(text).0, Verdict::Holds);
}
