//! Petri nets: those of the Model Checking Contest with the numbers that it publishes, our own with what their headers
//! expect, and random ones, with random formulas of the contest, against a direct interpreter: whole and reduced, state by
//! state, by sets and by counters; unbounded ones, with conditions on numbers of tokens, against a search backward.
//! `QUOTIENT_RANDOM_NETS`, `QUOTIENT_RANDOM_LARGE_NETS`, `QUOTIENT_RANDOM_NET_FORMULAS` and `QUOTIENT_UNBOUNDED_NETS` set
//! the numbers of nets, `QUOTIENT_RANDOM_SEED` the first seed of nets with formulas.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quotient::{
    Control, Engine, Error, ExploreOptions, Language, Limits, LoadOptions, Model, NetCounts, Options, Plan, Silent,
    SolverMethod, StopReason, Symmetry, Verdict, explore,
};
use quotient_testkit::examples::{pnml_examples, workspace};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::promela::order;
use quotient_testkit::random_coverability::BlackNet;
use quotient_testkit::random_murphi::Random;
use quotient_testkit::random_pnml::{
    Answer, Category, Explored, Question, RandomNet, random_net, random_net_of, random_symmetric_net,
};
use quotient_testkit::switches::number_from;

/// The numbers of a net, or why they are not known.
fn counts(model: &Model, engine: Engine, symmetry: Symmetry) -> Result<Result<NetCounts, Option<StopReason>>, Error> {
    let options = ExploreOptions { engine, symmetry: Some(symmetry), ..ExploreOptions::default() };
    let found = explore(model, &options, &Control::default(), &mut Silent)?;
    Ok(found.net.ok_or(found.report.stop_reason))
}

/// Nets that take longer than a test should.
const LARGE: [&str; 2] = ["philo.pnml", "SharedMemory-COL-000100.pnml"];

#[test]
fn nets_of_the_contest_have_the_numbers_that_it_publishes() {
    let Some(folder) = corpus("pnml", "nets of the Model Checking Contest") else { return };
    let table = std::fs::read_to_string(folder.join("expected.csv")).expect("the answers of the contest");
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let [file, _, states, transitions, place, marking] = columns[..] else { panic!("a line of six: {line}") };
        if LARGE.contains(&file) && number_from("QUOTIENT_LARGE_NETS", 0) == 0 {
            continue;
        }
        let model = Model::from_path(folder.join(file)).expect("a net of the contest is read");
        for symmetry in [Symmetry::Off, Symmetry::Auto] {
            if LARGE.contains(&file) && symmetry == Symmetry::Off {
                continue;
            }
            let found = counts(&model, Engine::Auto, symmetry).expect("a result").expect("a finished search");
            let numbers = [
                found.states.to_string(),
                found.transitions.to_string(),
                found.most_in_place.to_string(),
                found.most_in_marking.to_string(),
            ];
            assert_eq!(numbers, [states, transitions, place, marking], "{file}, {symmetry:?}");
        }
        compared += 1;
    }
    assert!(compared >= 10, "{compared} nets compared");
}

/// The value of a line of the header.
fn expected<'t>(text: &'t str, key: &str) -> &'t str {
    let header = text.split("-->").next().unwrap_or_default();
    let value = header.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("the header has no line `{key}: …`"))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[test]
fn own_nets_give_what_their_headers_expect() {
    let paths = pnml_examples();
    assert!(paths.len() >= 3);
    for path in paths {
        let name = name_of(&path);
        let text = std::fs::read_to_string(&path).expect("a net is a text");
        let model = Model::from_path(&path).expect("our nets are right");
        let report = Plan::new(&model, &Options::default()).expect("a plan").run().expect("a report");
        let verdict = match expected(&text, "expect") {
            "holds" => Verdict::Holds,
            "violated deadlock" => Verdict::Violated,
            other => panic!("{name}: what does `{other}` expect?"),
        };
        assert_eq!(report.verdict, verdict, "{name}");
        assert_eq!(order(model.ir()), expected(&text, "order"), "{name}");
        for (engine, symmetry) in searches() {
            let found = counts(&model, engine, symmetry).expect("a result").expect("a finished search");
            assert_eq!(found.states.to_string(), expected(&text, "states"), "{name}, {engine:?}, {symmetry:?}");
            assert_eq!(found.transitions.to_string(), expected(&text, "transitions"), "{name}, {engine:?}");
            let tokens = format!("{} in a place, {} in a marking", found.most_in_place, found.most_in_marking);
            assert_eq!(tokens, expected(&text, "tokens"), "{name}, {engine:?}, {symmetry:?}");
        }
    }
}

/// A property file of the contest.
fn property_set(formulas: &[(&str, &str)]) -> String {
    let properties: String = formulas
        .iter()
        .map(|(id, formula)| format!("<property><id>{id}</id><description/><formula>{formula}</formula></property>\n"))
        .collect();
    format!("<property-set xmlns=\"http://mcc.lip6.fr/\">\n{properties}</property-set>\n")
}

/// Checks formulas of the contest on one of our nets, with and without symmetries. What is expected is a verdict, or the
/// greatest value.
fn check_formulas(net: &str, formulas: &[(&str, &str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("formulas.xml");
    let texts: Vec<(&str, &str)> = formulas.iter().map(|(id, formula, _)| (*id, *formula)).collect();
    std::fs::write(&file, property_set(&texts)).expect("a file");
    let options = LoadOptions { property_files: vec![file], ..LoadOptions::default() };
    let path = workspace().join("models/pnml").join(net);
    let model = Model::from_path_with(&path, &options).expect("a net with properties");
    for symmetry in [Symmetry::Off, Symmetry::Auto] {
        for (id, _, expected) in formulas {
            let options = Options { symmetry, properties: vec![(*id).to_owned()], ..Options::default() };
            let report = Plan::new(&model, &options).expect("a plan").run().expect("a report");
            let found = match &report.optima[..] {
                [optimum] => optimum.value.to_string(),
                _ => match report.verdict {
                    Verdict::Holds => "true".to_owned(),
                    Verdict::Violated => "false".to_owned(),
                    Verdict::Inconclusive => "unknown".to_owned(),
                },
            };
            assert_eq!(found, *expected, "{net}, {id}, {symmetry:?}");
        }
    }
}

#[test]
fn formulas_of_the_contest() {
    let tokens = |place: &str| format!("<tokens-count><place>{place}</place></tokens-count>");
    let at_most = |place: &str, most: i64| {
        format!("<integer-le>{}<integer-constant>{most}</integer-constant></integer-le>", tokens(place))
    };
    let wrap = |outer: &[&str], inner: &str| {
        outer.iter().rev().fold(inner.to_owned(), |inner, name| format!("<{name}>{inner}</{name}>"))
    };
    let fireable = |transition: &str| format!("<is-fireable><transition>{transition}</transition></is-fireable>");
    let always = |inner: &str| wrap(&["all-paths", "globally"], inner);
    let some = |inner: &str| wrap(&["exists-path", "finally"], inner);
    check_formulas(
        "readers_writers.pnml",
        &[
            ("one-writer", &always(&at_most("writing", 1)), "true"),
            ("no-writer", &always(&at_most("writing", 0)), "false"),
            ("two-writers", &some(&wrap(&["negation"], &at_most("writing", 1))), "false"),
            ("all-read", &some(&wrap(&["negation"], &at_most("reading", 3))), "true"),
            ("can-deadlock", &some("<deadlock/>"), "false"),
            ("bound", "<place-bound><place>reading</place></place-bound>", "4"),
            ("bound-of-two", "<place-bound><place>reading</place><place>writing</place></place-bound>", "4"),
            ("can-write-again", &always(&some(&fireable("start_writing"))), "true"),
            ("writes-at-last", &wrap(&["all-paths", "finally"], &fireable("stop_writing")), "false"),
            ("next-reads", &wrap(&["exists-path", "next"], &wrap(&["negation"], &at_most("reading", 0))), "true"),
            (
                "until",
                &format!(
                    "<exists-path><until><before>{}</before><reach>{}</reach></until></exists-path>",
                    at_most("reading", 0),
                    wrap(&["negation"], &at_most("writing", 0))
                ),
                "true",
            ),
            (
                "linear",
                &wrap(&["all-paths", "globally", "finally"], &wrap(&["negation"], &at_most("writing", 0))),
                "false",
            ),
        ],
    );
    // A path may end: there is no next marking in a deadlock.
    let dead = |then: &str| some(&format!("<conjunction><deadlock/>{then}</conjunction>"));
    check_formulas(
        "workshop.pnml",
        &[
            ("can-deadlock", &some("<deadlock/>"), "true"),
            ("next-in-deadlock", &dead(&wrap(&["exists-path", "next"], "<true/>")), "false"),
            ("all-next-in-deadlock", &dead(&wrap(&["all-paths", "next"], "<false/>")), "true"),
            ("live", &always(&some(&fireable("produce"))), "false"),
            ("bound", "<place-bound><place>full</place></place-bound>", "6"),
        ],
    );
}

fn searches() -> [(Engine, Symmetry); 3] {
    [(Engine::Explicit, Symmetry::Off), (Engine::Explicit, Symmetry::Auto), (Engine::Symbolic, Symmetry::Off)]
}

/// A net in which one token with a value of a class of `size` values goes from place `p` to place `q`.
fn one_step(sort: &str, size: u64, condition: &str, put: &str) -> String {
    let constants: String = (0..size).map(|it| format!("<feconstant id=\"c{it}\" name=\"c{it}\"/>")).collect();
    let class = "<type><structure><usersort declaration=\"C\"/></structure></type>";
    let all = "<hlinitialMarking><structure><all><usersort declaration=\"C\"/></all></structure></hlinitialMarking>";
    format!(
        "<pnml><net id=\"n\" type=\"symmetricnet\"><declaration><structure><declarations>\
         <namedsort id=\"C\" name=\"C\"><{sort}>{constants}</{sort}></namedsort>\
         <variabledecl id=\"x\" name=\"x\"><usersort declaration=\"C\"/></variabledecl>\
         </declarations></structure></declaration><page id=\"g\">\
         <place id=\"p\">{class}{all}</place><place id=\"q\">{class}</place>\
         <transition id=\"t\">{condition}</transition>\
         <arc id=\"a\" source=\"p\" target=\"t\"><hlinscription><structure><subterm>\
         <variable refvariable=\"x\"/></subterm></structure></hlinscription></arc>\
         <arc id=\"b\" source=\"t\" target=\"q\"><hlinscription><structure>{put}</structure></hlinscription></arc>\
         </page></net></pnml>"
    )
}

/// Only cyclic enumerations go on after their end. There is no value beyond the end of another one: a step that would need
/// it cannot be taken, and no comparison with it holds.
#[test]
fn the_end_of_a_class() {
    let x = "<variable refvariable=\"x\"/>";
    let next = format!("<successor><subterm><subterm>{x}</subterm></subterm></successor>");
    let last = "<useroperator declaration=\"c2\"/>";
    let condition = |operator: &str| {
        format!(
            "<condition><structure><subterm><{operator}><subterm>{next}</subterm><subterm>{last}</subterm></{operator}>\
             </subterm></structure></condition>"
        )
    };
    for (sort, condition, put, steps) in [
        ("cyclicenumeration", String::new(), &next[..], 3),
        ("finiteenumeration", String::new(), &next[..], 2),
        ("cyclicenumeration", condition("inequality"), x, 2),
        ("finiteenumeration", condition("inequality"), x, 1),
        ("finiteenumeration", condition("lessthanorequal"), x, 2),
    ] {
        let text = one_step(sort, 3, &condition, put);
        let model = Model::from_text("end.pnml", &text, Language::Pnml).expect("a net");
        for (engine, symmetry) in searches() {
            let found = counts(&model, engine, symmetry).expect("an answer").expect("all markings");
            assert_eq!(found.states, (1u64 << steps).into(), "{sort} {condition} {engine:?} {symmetry:?}");
        }
    }
}

/// Tokens that go on to the last value of a class gather there; one that no token leaves is no model for the others.
#[test]
fn values_that_only_conditions_mention() {
    let (x, next) =
        ("<variable refvariable=\"x\"/>", "<successor><subterm><variable refvariable=\"x\"/></subterm></successor>");
    let condition = format!(
        "<condition><structure><inequality><subterm>{x}</subterm><subterm><useroperator declaration=\"c0\"/></subterm>\
         </inequality></structure></condition>"
    );
    for (sort, condition, states) in
        [("finiteenumeration", "", 5u64), ("cyclicenumeration", "", 10), ("cyclicenumeration", &condition, 5)]
    {
        let text = one_step(sort, 3, condition, next).replace("target=\"q\"", "target=\"p\"");
        let model = Model::from_text("gather.pnml", &text, Language::Pnml).expect("a net");
        for (engine, symmetry) in searches() {
            let found = counts(&model, engine, symmetry).expect("an answer").expect("all markings");
            assert_eq!(found.states, states.into(), "{sort} {condition} {engine:?} {symmetry:?}");
        }
    }
}

/// A transition with far more values of its variables than can be tried, most of which it looks up in a place that never
/// changes: a token goes around a circle of 300 places, three of them at a time, and its colour stays.
#[test]
fn tables_that_never_change() {
    let constants: String = (0..300).map(|it| format!("<feconstant id=\"c{it}\" name=\"c{it}\"/>")).collect();
    let pair = |left: String, right: String| {
        format!("<subterm><tuple><subterm>{left}</subterm><subterm>{right}</subterm></tuple></subterm>")
    };
    let constant = |it: u64| format!("<useroperator declaration=\"c{}\"/>", it % 300);
    let variable = |it: &str| format!("<variable refvariable=\"{it}\"/>");
    let sort = |sort: &str| format!("<type><structure><usersort declaration=\"{sort}\"/></structure></type>");
    let marking = |term: &str| format!("<hlinitialMarking><structure>{term}</structure></hlinitialMarking>");
    let arc = |source: &str, target: &str, term: &str| {
        let term = format!("<hlinscription><structure>{term}</structure></hlinscription>");
        format!("<arc id=\"{source}_{target}\" source=\"{source}\" target=\"{target}\">{term}</arc>")
    };
    let edges: String = (0..300).map(|it| pair(constant(it), constant(it + 1))).collect();
    let path: String =
        [("x", "y"), ("y", "z"), ("z", "w")].map(|(it, next)| pair(variable(it), variable(next))).concat();
    let path = format!("<add>{path}</add>");
    let class = "<usersort declaration=\"C\"/>";
    let variables = ["x", "y", "z", "w"];
    let declared = variables.map(|it| format!("<variabledecl id=\"{it}\" name=\"{it}\">{class}</variabledecl>"));
    let text = format!(
        "<pnml><net id=\"n\" type=\"symmetricnet\"><declaration><structure><declarations>\
         <namedsort id=\"C\" name=\"C\"><cyclicenumeration>{constants}</cyclicenumeration></namedsort>\
         <namedsort id=\"D\" name=\"D\"><finiteenumeration><feconstant id=\"red\" name=\"red\"/>\
         <feconstant id=\"blue\" name=\"blue\"/></finiteenumeration></namedsort>\
         <namedsort id=\"E\" name=\"E\"><productsort>{class}{class}</productsort></namedsort>\
         <namedsort id=\"T\" name=\"T\"><productsort>{class}<usersort declaration=\"D\"/></productsort></namedsort>\
         {}<variabledecl id=\"d\" name=\"d\"><usersort declaration=\"D\"/></variabledecl>\
         </declarations></structure></declaration><page id=\"g\">\
         <place id=\"at\">{}{}</place><place id=\"edges\">{}{}</place><transition id=\"go\"/>{}{}{}{}</page></net></pnml>",
        declared.concat(),
        sort("T"),
        marking(&format!(
            "<add>{}{}</add>",
            pair(constant(0), "<useroperator declaration=\"red\"/>".into()),
            pair(constant(0), "<useroperator declaration=\"blue\"/>".into())
        )),
        sort("E"),
        marking(&format!("<add>{edges}</add>")),
        arc("at", "go", &pair(variable("x"), variable("d"))),
        arc("edges", "go", &path),
        arc("go", "edges", &path),
        arc("go", "at", &pair(variable("w"), variable("d"))),
    );
    let net = Model::from_text("circle.pnml", &text, Language::Pnml).expect("a net");
    for (engine, symmetry) in searches() {
        let found = counts(&net, engine, symmetry).expect("an answer").expect("all markings");
        assert_eq!(found.states, 10_000u64.into(), "{engine:?} {symmetry:?}");
        assert_eq!(found.transitions, 20_000u64.into(), "{engine:?} {symmetry:?}");
        assert_eq!(found.most_in_marking, 302, "{engine:?} {symmetry:?}");
    }
}

/// Processors that use their own memory, or over one bus that of another.
fn shared_memory(processors: u64) -> String {
    let constants: String = (0..processors).map(|it| format!("<feconstant id=\"c{it}\" name=\"c{it}\"/>")).collect();
    let sort = "<usersort declaration=\"P\"/>";
    let place = |id: &str, sort: &str, marking: &str| {
        let marking = match marking {
            "" => String::new(),
            marking => format!("<hlinitialMarking><structure>{marking}</structure></hlinitialMarking>"),
        };
        format!("<place id=\"{id}\"><type><structure>{sort}</structure></type>{marking}</place>\n")
    };
    let arc = |source: &str, target: &str, term: &str| {
        let term = format!("<hlinscription><structure>{term}</structure></hlinscription>");
        format!("<arc id=\"{source}_{target}\" source=\"{source}\" target=\"{target}\">{term}</arc>\n")
    };
    let (x, m) = ("<variable refvariable=\"x\"/>", "<variable refvariable=\"m\"/>");
    let pair = format!("<tuple><subterm>{x}</subterm><subterm>{m}</subterm></tuple>");
    let all = format!("<all>{sort}</all>");
    let two = format!("<productsort>{sort}{sort}</productsort>");
    let places = [
        place("active", sort, &all),
        place("queue", sort, ""),
        place("own", sort, ""),
        place("memory", sort, &all),
        place("external", &two, ""),
        place("bus", "<dot/>", "<dotconstant/>"),
    ];
    let differ = format!("<inequality><subterm>{x}</subterm><subterm>{m}</subterm></inequality>");
    let transitions = format!(
        "<transition id=\"ask\"/><transition id=\"begin\"><condition><structure>{differ}</structure></condition>\
         </transition><transition id=\"end\"/><transition id=\"use\"/><transition id=\"leave\"/>\n"
    );
    let arcs = [
        arc("active", "ask", x),
        arc("ask", "queue", x),
        arc("queue", "begin", x),
        arc("memory", "begin", m),
        arc("bus", "begin", "<dotconstant/>"),
        arc("begin", "external", &pair),
        arc("external", "end", &pair),
        arc("end", "active", x),
        arc("end", "memory", m),
        arc("end", "bus", "<dotconstant/>"),
        arc("active", "use", x),
        arc("memory", "use", x),
        arc("use", "own", x),
        arc("own", "leave", x),
        arc("leave", "active", x),
        arc("leave", "memory", x),
    ];
    format!(
        "<pnml><net id=\"n\" type=\"symmetricnet\"><declaration><structure><declarations>\
         <namedsort id=\"P\" name=\"P\"><finiteenumeration>{constants}</finiteenumeration></namedsort>\
         <variabledecl id=\"x\" name=\"x\">{sort}</variabledecl><variabledecl id=\"m\" name=\"m\">{sort}</variabledecl>\
         </declarations></structure></declaration><page id=\"p\">\n{}{transitions}{}</page></net></pnml>\n",
        places.concat(),
        arcs.concat()
    )
}

/// With many processors, successors that differ only in which of several equal ones they are about share a
/// representative; counters count them.
#[test]
fn many_equal_processors() {
    let explicit = [(3, Symmetry::Off), (4, Symmetry::Auto), (16, Symmetry::Auto), (24, Symmetry::Auto)];
    let explicit = explicit.map(|(processors, symmetry)| (processors, Engine::Explicit, symmetry));
    let counters = [3, 4, 16, 30].map(|processors| (processors, Engine::Counters, Symmetry::Off));
    for (processors, engine, symmetry) in explicit.into_iter().chain(counters) {
        let net = Model::from_text("shared.pnml", &shared_memory(processors), Language::Pnml).expect("a net");
        let found = counts(&net, engine, symmetry).expect("a result").expect("a finished search");
        // A processor is active, in the queue or in its own memory. If the bus is taken, one is not counted, and another
        // one cannot be in its own memory.
        let power = |exponent: u64| (0..exponent).fold(1u128, |product, _| product * 3);
        let pairs = u128::from(processors * (processors - 1));
        let states = power(processors) + pairs * 2 * power(processors - 2);
        // Those that are active ask or use their memory, those in their memory leave it, and so on; counted one by one.
        let others = u128::from(processors - 2);
        let free = u128::from(processors) * 3 * power(processors - 1) + pairs * 2 * power(processors - 2);
        let taken =
            pairs * (2 * power(processors - 2) + power(processors - 2) + 2 * others * 3 * power(processors - 3));
        assert_eq!(found.states.to_string(), states.to_string(), "{processors} processors");
        assert_eq!(found.transitions.to_string(), (free + taken).to_string(), "{processors} processors");
        assert_eq!((found.most_in_place, found.most_in_marking), (1, 2 * processors + 1), "{processors} processors");
    }
}

/// A net of places, with the tokens of the first, and transitions from the first to another: how many tokens it gets.
fn star(tokens: u64, transitions: &[(usize, u64)]) -> String {
    let places = transitions.iter().map(|(place, _)| *place).max().unwrap_or(0);
    let marking = format!("<initialMarking><text>{tokens}</text></initialMarking>");
    let mut text = format!("<pnml><net id=\"n\" type=\"ptnet\"><page id=\"p\"><place id=\"p0\">{marking}</place>");
    text.extend((1..=places).map(|place| format!("<place id=\"p{place}\"/>")));
    for (number, (place, tokens)) in transitions.iter().enumerate() {
        text += &format!(
            "<transition id=\"t{number}\"/><arc id=\"i{number}\" source=\"p0\" target=\"t{number}\"/>\
             <arc id=\"o{number}\" source=\"t{number}\" target=\"p{place}\">\
             <inscription><text>{tokens}</text></inscription></arc>"
        );
    }
    text + "</page></net></pnml>"
}

/// A transition fires for each value of a variable that it mentions, even if the tokens do not depend on it.
#[test]
fn variables_that_make_no_difference() {
    let sort = "<usersort declaration=\"C\"/>";
    let x = "<variable refvariable=\"x\"/>";
    let one = format!(
        "<add><subterm>{x}</subterm><subterm><subtract><subterm><all>{sort}</all></subterm><subterm>{x}</subterm>\
         </subtract></subterm></add>"
    );
    let typed = format!("<type><structure>{sort}</structure></type>");
    let text = format!(
        "<pnml><net id=\"n\" type=\"symmetricnet\"><declaration><structure><declarations>\
         <namedsort id=\"C\" name=\"C\"><finiteenumeration><feconstant id=\"a\" name=\"a\"/>\
         <feconstant id=\"b\" name=\"b\"/><feconstant id=\"c\" name=\"c\"/></finiteenumeration></namedsort>\
         <variabledecl id=\"x\" name=\"x\">{sort}</variabledecl></declarations></structure></declaration>\
         <page id=\"g\"><place id=\"p\"><initialMarking><text>1</text></initialMarking></place>\
         <place id=\"q\">{typed}</place><transition id=\"t\"/><arc id=\"i\" source=\"p\" target=\"t\"/>\
         <arc id=\"o\" source=\"t\" target=\"q\"><hlinscription><structure>{one}</structure></hlinscription></arc>\
         </page></net></pnml>"
    );
    let net = Model::from_text("all.pnml", &text, Language::Pnml).expect("a net");
    for (engine, symmetry) in searches() {
        let found = counts(&net, engine, symmetry).expect("a result").expect("a finished search");
        let expected =
            NetCounts { states: 2u32.into(), transitions: 3u32.into(), most_in_place: 1, most_in_marking: 3 };
        assert_eq!(found, expected, "{engine:?}, {symmetry:?}");
    }
}

/// Symmetries that would exchange markings with other numbers of firings or tokens are not used.
#[test]
fn numbers_that_symmetries_might_not_preserve() {
    for (transitions, [states, firings, place, marking]) in [
        // Two transitions do the same.
        (&[(1, 1), (1, 1), (2, 1)][..], [6u32, 9, 2, 2]),
        (&[(1, 1), (1, 1), (2, 1), (2, 1)], [6, 12, 2, 2]),
        // One place has two tokens where another has one.
        (&[(1, 1), (2, 2)], [6, 6, 4, 4]),
        (&[(1, 2), (2, 2)], [6, 6, 4, 4]),
    ] {
        let net = Model::from_text("star.pnml", &star(2, transitions), Language::Pnml).expect("a net");
        let expected = NetCounts {
            states: states.into(),
            transitions: firings.into(),
            most_in_place: place.into(),
            most_in_marking: marking.into(),
        };
        for (engine, symmetry) in searches() {
            let found = counts(&net, engine, symmetry).expect("a result").expect("a finished search");
            assert_eq!(found, expected, "{transitions:?}, {engine:?}, {symmetry:?}");
        }
    }
}

/// Compares a random net with the oracle; whether it was small enough.
fn compare(seed: u64, net: &RandomNet, most: u64, searches: &[(Engine, Symmetry)]) -> Result<bool, String> {
    let text = net.text();
    let Some(oracle) = net.graph(most, 50).map(|graph| graph.explored()) else { return Ok(false) };
    let told = |problem: String| format!("seed {seed}: {problem}\n{text}");
    let model = Model::from_text("random.pnml", &text, Language::Pnml).map_err(|error| told(format!("{error:?}")))?;
    let Explored { states, transitions, most_in_place, most_in_marking, .. } = oracle;
    let expected = NetCounts { states: states.into(), transitions: transitions.into(), most_in_place, most_in_marking };
    for &(engine, symmetry) in searches {
        let found = counts(&model, engine, symmetry).map_err(|error| told(error.to_string()))?;
        let found = found.map_err(|reason| told(format!("{engine:?}, {symmetry:?}: not finished, {reason:?}")))?;
        if found != expected {
            return Err(told(format!("{engine:?}, {symmetry:?}: {found:?}, not {expected:?}")));
        }
    }
    match counts(&model, Engine::Counters, Symmetry::Off) {
        Ok(Ok(found)) if found == expected => {}
        Ok(found) => return Err(told(format!("by counters: {found:?}, not {expected:?}"))),
        Err(error @ Error::Internal(_)) => return Err(told(error.to_string())),
        // Not every net has interchangeable values.
        Err(_) => {}
    }
    let plan = Plan::new(&model, &Options::default()).map_err(|error| told(error.to_string()))?;
    let report = plan.run().map_err(|error| told(error.to_string()))?;
    let verdict = if oracle.deadlock { Verdict::Violated } else { Verdict::Holds };
    if report.verdict != verdict {
        return Err(told(format!("deadlock: {:?}, not {verdict:?}", report.verdict)));
    }
    Ok(true)
}

#[test]
fn random_nets_against_a_direct_interpreter() {
    let seeds: Vec<u64> = (1..=number_from("QUOTIENT_RANDOM_NETS", 150)).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare(seed, &random_net(seed), 400, &searches()));
    judge(&results, 2);
}

/// With so many values, successors of a marking share work.
#[test]
fn random_nets_with_large_classes() {
    let seeds: Vec<u64> = (1..=number_from("QUOTIENT_RANDOM_LARGE_NETS", 60)).collect();
    let explicit = &searches()[..2];
    let results = map_on_workers(2, &seeds, |&seed| compare(seed, &random_net_of(seed, (16, 17)), 2000, explicit));
    judge(&results, 6);
}

/// The ways to check a formula: an engine, and which symmetries.
fn ways(category: Category) -> Vec<(Engine, Symmetry)> {
    let mut ways =
        vec![(Engine::Explicit, Symmetry::Off), (Engine::Auto, Symmetry::Auto), (Engine::Counters, Symmetry::Auto)];
    if category != Category::Runs {
        ways.extend([(Engine::Symbolic, Symmetry::Off), (Engine::Symbolic, Symmetry::Auto)]);
    }
    if category == Category::Reachability {
        ways.push((Engine::Solver(SolverMethod::Ic3), Symmetry::Auto));
    }
    ways
}

/// How many answers were compared, how many of them came by counters, and how many sets took too long.
type Answers = (u64, u64, u64);

/// How long sets and proofs may take.
const SETS: Duration = Duration::from_secs(3);

/// Compares the answers to random questions about a random net with those of the oracle.
fn compare_answers(seed: u64, net: &RandomNet, most: u64) -> Result<Answers, String> {
    let Some(graph) = net.graph(most, 50) else { return Ok((0, 0, 0)) };
    let mut random = Random::new(seed ^ 0xF0_2814);
    let (mut compared, mut counted, mut unfinished) = (0, 0, 0);
    let folder = tempfile::tempdir().expect("a folder");
    let (path, file) = (folder.path().join("net.pnml"), folder.path().join("formulas.xml"));
    std::fs::write(&path, net.text()).expect("a file");
    for category in Category::ALL {
        let questions: Vec<Question> = (0..2).map(|_| net.question(&mut random, category)).collect();
        let texts: Vec<(String, String)> =
            (0..).zip(&questions).map(|(number, it): (u32, _)| (format!("q{number}"), it.text())).collect();
        let named: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        std::fs::write(&file, property_set(&named)).expect("a file");
        let options = LoadOptions { property_files: vec![file.clone()], ..LoadOptions::default() };
        let model = Model::from_path_with(&path, &options).map_err(|error| format!("seed {seed}: {error:?}"))?;
        for (question, (id, text)) in questions.iter().zip(&texts) {
            let Some(expected) = question.answer(&graph) else { continue };
            for (engine, symmetry) in ways(category) {
                let told = |problem: String| {
                    format!(
                        "seed {seed}, {engine:?}, {symmetry:?}: {problem}, not {expected:?}\n{text}\n{}",
                        net.text()
                    )
                };
                // Diagrams of some nets are very large: one took more than a minute and 3 GiB. A proof can take as long.
                let is_limited = matches!(engine, Engine::Symbolic | Engine::Solver(_));
                let timeout = is_limited.then_some(SETS);
                let limits = Limits { timeout, ..Limits::default() };
                let options = Options { engine, symmetry, properties: vec![id.clone()], limits, ..Options::default() };
                let report = match Plan::new(&model, &options).and_then(|plan| plan.run()) {
                    Ok(report) => report,
                    Err(error @ Error::Internal(_)) => return Err(told(error.to_string())),
                    // Not every net has interchangeable values, not every engine finds a best marking.
                    Err(_) if matches!(engine, Engine::Counters | Engine::Symbolic | Engine::Solver(_)) => continue,
                    Err(error) => return Err(told(error.to_string())),
                };
                let found = match (&report.optima[..], report.verdict) {
                    ([optimum], _) => Answer::Most(optimum.value),
                    (_, Verdict::Holds) => Answer::Holds(true),
                    (_, Verdict::Violated) => Answer::Holds(false),
                    (_, Verdict::Inconclusive) if matches!(engine, Engine::Solver(_)) => continue,
                    (_, Verdict::Inconclusive) if report.stop_reason == Some(StopReason::TimeLimit(SETS)) => {
                        unfinished += 1;
                        continue;
                    }
                    (_, Verdict::Inconclusive) => return Err(told(format!("{:?}", report.stop_reason))),
                };
                if found != expected {
                    return Err(told(format!("{found:?}")));
                }
                compared += 1;
                counted += u64::from(engine == Engine::Counters);
            }
        }
    }
    Ok((compared, counted, unfinished))
}

#[test]
fn random_formulas_of_the_contest() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 1);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_NET_FORMULAS", 40)).collect();
    // Small classes, some in which several values are alike, and some in which all are.
    let compare = |&seed: &u64| match seed % 4 {
        0 => compare_answers(seed, &random_net_of(seed, (3, 5)), 300),
        1 => compare_answers(seed, &random_symmetric_net(seed, (3, 5)), 300),
        _ => compare_answers(seed, &random_net(seed), 200),
    };
    let results = map_on_workers(2, &seeds, compare);
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    let answers = results.iter().flatten().fold((0, 0, 0), |all, one| (all.0 + one.0, all.1 + one.1, all.2 + one.2));
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        let (compared, counted, unfinished) = answers;
        eprintln!("{compared} answers compared, {counted} of them by counters; {unfinished} by sets took too long");
    }
    assert!(
        wrong.is_empty(),
        "{} wrong: {}",
        wrong.len(),
        wrong.iter().take(3).map(|it| it.as_str()).collect::<Vec<_>>().join("\n")
    );
    assert!(answers.0 as usize > 10 * seeds.len() && answers.1 as usize > seeds.len() / 2, "{answers:?}");
}

/// A net in which requests are made without end; at most two are served at a time, and one needs what both of two others have.
const UNBOUNDED: &str = r#"<pnml><net id="n" type="ptnet"><page id="g">
<place id="requests"/><place id="free"><initialMarking><text>2</text></initialMarking></place><place id="busy"/>
<place id="left"><initialMarking><text>1</text></initialMarking></place><place id="right"/><place id="both"/>
<transition id="ask"/><arc id="a1" source="ask" target="requests"/>
<transition id="serve"/><arc id="s1" source="requests" target="serve"/><arc id="s2" source="free" target="serve"/>
<arc id="s3" source="serve" target="busy"/>
<transition id="end"/><arc id="e1" source="busy" target="end"/><arc id="e2" source="end" target="free"/>
<transition id="turn"/><arc id="t1" source="left" target="turn"/><arc id="t2" source="turn" target="right"/>
<transition id="join"/><arc id="j1" source="left" target="join"/><arc id="j2" source="right" target="join"/>
<arc id="j3" source="join" target="both"/>
</page></net></pnml>"#;

/// What is true for any number of tokens is shown without a search; what is not is refuted with a run.
#[test]
fn unbounded_nets_have_answers() {
    let tokens = |places: &[&str]| {
        let places: String = places.iter().map(|place| format!("<place>{place}</place>")).collect();
        format!("<tokens-count>{places}</tokens-count>")
    };
    let constant = |number: i64| format!("<integer-constant>{number}</integer-constant>");
    let at_most = |places: &[&str], number| format!("<integer-le>{}{}</integer-le>", tokens(places), constant(number));
    let fireable = "<is-fireable><transition>join</transition></is-fireable>";
    let always = |inner: &str| format!("<all-paths><globally>{inner}</globally></all-paths>");
    let some = |inner: &str| format!("<exists-path><finally>{inner}</finally></exists-path>");
    let difference = format!("<integer-le>{}{}</integer-le>", tokens(&["busy"]), tokens(&["requests"]));
    let formulas = [
        ("two", always(&at_most(&["busy"], 2)), Some(true)),
        ("one", always(&at_most(&["busy"], 1)), Some(false)),
        ("few", always(&at_most(&["busy", "requests"], 9)), Some(false)),
        ("pool", always(&format!("<integer-eq>{}{}</integer-eq>", tokens(&["busy", "free"]), constant(2))), None),
        ("join", some(fireable), Some(false)),
        ("never", always(&format!("<negation>{fireable}</negation>")), Some(true)),
        ("alive", always("<negation><deadlock/></negation>"), None),
        ("more", always(&difference), Some(false)),
        ("both", some(&format!("<conjunction>{fireable}<deadlock/></conjunction>")), None),
        ("later", always(&some(fireable)), None),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let (path, file) = (folder.path().join("net.pnml"), folder.path().join("formulas.xml"));
    std::fs::write(&path, UNBOUNDED).expect("a file");
    let named: Vec<(&str, &str)> = formulas.iter().map(|(id, text, _)| (*id, text.as_str())).collect();
    std::fs::write(&file, property_set(&named)).expect("a file");
    let options = LoadOptions { property_files: vec![file], ..LoadOptions::default() };
    let model = Model::from_path_with(&path, &options).expect("a net with a warning");
    let run = |options: Options| {
        let limits = Limits { max_states: Some(2_000), ..Limits::default() };
        Plan::new(&model, &Options { limits, ..options }).expect("a plan").run().expect("a report")
    };
    for (id, _, expected) in &formulas {
        let report = run(Options { properties: vec![(*id).to_owned()], ..Options::default() });
        let verdict = match expected {
            Some(true) => Verdict::Holds,
            Some(false) => Verdict::Violated,
            None => Verdict::Inconclusive,
        };
        assert_eq!(report.verdict, verdict, "{id}: {report:?}");
        let is_settled = ["two", "join", "never"].contains(id);
        assert_eq!(report.notes.iter().any(|note| note.contains("needed no search")), is_settled, "{id}");
        assert_eq!(report.states == 0, is_settled, "{id}");
    }
    // Beside others, in the order of declaration.
    let report = run(Options { properties: ["never", "one", "two"].map(Into::into).to_vec(), ..Options::default() });
    let verdicts: Vec<Verdict> = report.properties.iter().map(|property| property.verdict).collect();
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Violated, Verdict::Holds]);
    assert_eq!(report.verdict, Verdict::Violated);
}

/// What a front end claims to cover all markings is not believed, and a net that is not that of the model is a defect.
#[test]
fn what_is_claimed_of_a_net_is_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, file) = (folder.path().join("net.pnml"), folder.path().join("formulas.xml"));
    std::fs::write(&path, UNBOUNDED).expect("a file");
    let never = "<all-paths><globally><negation><is-fireable><transition>join</transition></is-fireable></negation></globally></all-paths>";
    let once = "<exists-path><finally><is-fireable><transition>join</transition></is-fireable></finally></exists-path>";
    let fills = "<all-paths><globally><integer-le><tokens-count><place>busy</place></tokens-count><integer-constant>0</integer-constant></integer-le></globally></all-paths>";
    std::fs::write(&file, property_set(&[("never", never), ("once", once), ("fills", fills)])).expect("a file");
    let options = LoadOptions { property_files: vec![file], ..LoadOptions::default() };
    let model = Model::from_path_with(&path, &options).expect("a net with a warning");
    let run = |change: &dyn Fn(&mut quotient::ir::Net), properties: &[&str]| {
        let mut ir = model.ir().clone();
        change(Arc::make_mut(ir.net.as_mut().expect("a description as a net")));
        let model = Model::new(ir).expect("a model");
        let properties = properties.iter().map(|name| (*name).to_owned()).collect();
        let limits = Limits { max_states: Some(2_000), ..Limits::default() };
        Plan::new(&model, &Options { properties, limits, ..Options::default() }).expect("a plan").run()
    };
    let verdicts = |change: &dyn Fn(&mut quotient::ir::Net)| {
        let report = run(change, &["never", "once", "fills"]).expect("a report");
        let verdicts: Vec<Verdict> = report.properties.iter().map(|property| property.verdict).collect();
        (verdicts, report.settled.len())
    };
    let expected = (vec![Verdict::Holds, Verdict::Violated, Verdict::Violated], 2);
    assert_eq!(verdicts(&|_| {}), expected);
    // As if nothing could ever happen, nothing were reachable at all, and everything.
    assert_eq!(verdicts(&|net| net.claimed = vec![net.vectors.initial.clone()]), expected);
    assert_eq!(verdicts(&|net| net.claimed = Vec::new()), expected);
    // That covers all markings, but decides nothing.
    let (_, settled) = verdicts(&|net| net.claimed = vec![vec![i64::MAX; net.vectors.initial.len()]]);
    assert_eq!(settled, 0);
    let refused = |change: &dyn Fn(&mut quotient::ir::Net)| {
        let error = run(change, &["never"]).expect_err("a defect").to_string();
        assert!(error.contains("the net that the front end describes is not the model"), "{error}");
    };
    refused(&|net| net.vectors.initial[0] += 1);
    refused(&|net| net.vectors.changes.iter_mut().for_each(|change| change.adds.clear()));
    refused(&|net| net.vectors.changes.swap(0, 1));
}

/// That a net says that it is safe is assumed where no bound is known, and not believed.
#[test]
fn nets_that_say_that_they_are_safe() {
    let safe = r#"<page id="g"><toolspecific tool="nupn" version="1.1"><structure units="0" root="u" safe="true"/></toolspecific>"#;
    let bounds = [(UNBOUNDED.replace(r#"<page id="g">"#, safe), 1), (UNBOUNDED.to_owned(), 255)];
    for (text, most) in bounds {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("net.pnml");
        std::fs::write(&path, text).expect("a file");
        let model = Model::from_path_with(&path, &LoadOptions::default()).expect("a net with a warning");
        let report = Plan::new(&model, &Options::default()).expect("a plan").run().expect("a report");
        assert_eq!(report.verdict, Verdict::Inconclusive);
        let reason = report.stop_reason.expect("it ends early").to_string();
        let noun = if most == 1 { "token" } else { "tokens" };
        assert!(reason.contains(&format!("more than {most} {noun},")), "{reason}");
    }
}

/// Compares the answers about an unbounded net with those of a search backward: how many, and how many needed no search.
fn compare_covered(seed: u64) -> Result<(u64, u64), String> {
    let mut random = Random::new(seed ^ 0xC0_4E12);
    let net = BlackNet::random(&mut random);
    let folder = tempfile::tempdir().expect("a folder");
    let (path, file) = (folder.path().join("net.pnml"), folder.path().join("formulas.xml"));
    std::fs::write(&path, net.text()).expect("a file");
    let mut expected = Vec::new();
    let mut texts = Vec::new();
    for number in 0..4 {
        let goal = net.goal(&mut random, number % 3);
        let Some(reached) = net.reaches(&goal) else { continue };
        let (some, none) = (goal.text(&mut random, true), goal.text(&mut random, false));
        texts.push((format!("some{number}"), format!("<exists-path><finally>{some}</finally></exists-path>")));
        texts.push((format!("none{number}"), format!("<all-paths><globally>{none}</globally></all-paths>")));
        expected.extend([reached, !reached]);
    }
    let named: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let set = property_set(&named);
    std::fs::write(&file, &set).expect("a file");
    let options = LoadOptions { property_files: vec![file], ..LoadOptions::default() };
    let told = |problem: String| format!("seed {seed}: {problem}\n{}\n{set}", net.text());
    let model = Model::from_path_with(&path, &options).map_err(|error| told(format!("{error:?}")))?;
    let (mut compared, mut settled) = (0, 0);
    for ((id, _), &expected) in texts.iter().zip(&expected) {
        let limits = Limits { max_states: Some(3_000), ..Limits::default() };
        let options = Options { properties: vec![id.clone()], limits, ..Options::default() };
        let report =
            Plan::new(&model, &options).and_then(|plan| plan.run()).map_err(|error| told(error.to_string()))?;
        let is_settled = report.notes.iter().any(|note| note.contains("needed no search"));
        let found = match report.verdict {
            Verdict::Holds => true,
            Verdict::Violated => false,
            // What is reached may be far away.
            Verdict::Inconclusive if expected == id.starts_with("some") => continue,
            Verdict::Inconclusive => return Err(told(format!("{id} is open: {:?}", report.stop_reason))),
        };
        if found != expected {
            return Err(told(format!("{id}: {found}, not {expected}")));
        }
        compared += 1;
        settled += u64::from(is_settled);
    }
    Ok((compared, settled))
}

#[test]
fn unbounded_nets_against_a_search_backward() {
    let seeds: Vec<u64> = (1..=number_from("QUOTIENT_UNBOUNDED_NETS", 150)).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare_covered(seed));
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    let (compared, settled) = results.iter().flatten().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{compared} answers compared, {settled} of them without a search");
    }
    let shown: Vec<&str> = wrong.iter().take(3).map(|it| it.as_str()).collect();
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), shown.join("\n"));
    assert!(compared as usize > 3 * seeds.len() && settled as usize > seeds.len() / 2, "{compared}, {settled}");
}

/// Nothing is wrong, and one of so many was compared.
fn judge(results: &[Result<bool, String>], of: usize) {
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    let texts = || wrong.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), texts());
    let compared = results.iter().filter(|it| matches!(it, Ok(true))).count();
    assert!(of * compared > results.len(), "{compared} compared");
}
