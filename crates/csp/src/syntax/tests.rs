//! Tests of the syntax.

use quotient_ir::{Fairness, Source};

use super::parse;
use super::tree::{Claim, Operator, ProcessKind};

fn errors(text: &str) -> Vec<String> {
    let source = Source::new("test.csp", text);
    let (_, diagnostics) = parse(&source);
    diagnostics
        .iter()
        .map(|it| {
            let span = it.primary.as_ref().map(|label| label.span).unwrap_or_default();
            let (line, column) = source.line_and_column(span.start);
            format!("{line}:{column} {}", it.message)
        })
        .collect()
}

#[test]
fn whole_language_is_read() {
    let text = r#"
        //@@A model@@
        #define N 2; #define goal (x == 1 && y[0] > 2); #define reset(i) {x = i; y[0] = i};
        enum {red, green};
        var x = 0; var y[N]:{0..10} = [1(2)]; var z = [1..3, 4(2), 7..5]; hvar h; var b = true; var t[2][3];
        channel c 0; channel d[N] 3;
        P(i) = a -> b.i.(i + 1)%N{x = x + 1; if (x > 2) {x = 0;} else {y[0]++;} while (x < 3) {x += 1;}} -> P(i);
        Q = [x == 0 && !b] a -> Skip [] [x != 0] tau{var l = 3; x = l} -> Stop; Q;
        R() = c!x.1 -> d[0]?y.1 -> c?[y > 1]y{x = y;} -> R() [*] {x = 1} -> R() <> Skip;
        S = if (x == 0) { P(1) } else if (x == 1) { Stop } else { Skip };
        T = ifa (x == 0) { P(1) }; U = ifb (x == 0) { P(1) };
        V = case { x == 0: P(0) x == 1: Q default: Stop };
        W = (P(0) || Q) \ {a, b.1, k:{0..N - 1} @ b.k} interrupt a -> Stop;
        Y = atomic { a -> b -> Skip }; ||| i:{0..N - 1}; j:{0, 2} @ P(i);
        Z = (|||{3}@Q) || ([] i:{0..1} @ P(i)); Sys = P(0) ||| Q ||| (&& -> Skip);
    "#;
    let found = errors(text);
    assert_eq!(found, ["15:71 a process is expected, not `&&`"]);
    let (tree, _) = parse(&Source::new("test.csp", text));
    assert_eq!(tree.definitions.len(), 10);
    assert_eq!(tree.variables.len(), 6);
}

#[test]
fn annotations_of_events() {
    // A process may have such a name, too.
    let text = "P = wf(a.1) -> sf(b.(1 + 2)){x = 1;} -> c -> wf(3); wf(i) = d -> Skip;";
    let (tree, diagnostics) = parse(&Source::new("test.csp", text));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let mut found = Vec::new();
    let mut process = &tree.definitions[0].body;
    while let ProcessKind::Prefix { event: Some((name, _)), fairness, next, .. } = &process.kind {
        found.push((name.text.to_string(), *fairness));
        process = next;
    }
    let expected = [("a", Fairness::Weak), ("b", Fairness::Strong), ("c", Fairness::None)];
    assert_eq!(found, expected.map(|(name, fairness)| (name.to_owned(), fairness)));
    let text = "P = wl(a) -> P;\nQ = wf(a b) -> Q;\nR = sl(a) -> R;\nS = sf() -> S;";
    let expected = [
        "1:5 the annotation `wl` is not supported",
        "2:10 `)` is expected after an event that is annotated, not `b`",
        "3:5 the annotation `sl` is not supported",
        "4:8 an event is expected, not `)`",
    ];
    assert_eq!(errors(text), expected);
}

#[test]
fn operators_bind_as_in_pat() {
    let text = "P = a -> b -> Q; R [] S ||| T || U; Q = Skip;";
    let (tree, diagnostics) = parse(&Source::new("test.csp", text));
    assert!(diagnostics.is_empty());
    assert_eq!(tree.definitions.len(), 2);
    let ProcessKind::Several(Operator::Interleave, parts) = &tree.definitions[0].body.kind else { panic!() };
    let ProcessKind::Several(Operator::Choice, choice) = &parts[0].kind else { panic!() };
    assert!(matches!(choice[0].kind, ProcessKind::Sequence(..)));
    assert!(matches!(parts[1].kind, ProcessKind::Several(Operator::Parallel, _)));
}

#[test]
fn assertions_are_read() {
    let text = "
        #assert P() deadlockfree; #assert P reaches goal with min(x + 1); #assert P(1) nonterminating;
        #assert P |= [](a.1 -> <> (b || !\"c!1\" U X d)) && G F e; #assert P refines<FD> Q();
        #assert P deterministic; #assert P divergencefree;
    ";
    let (tree, diagnostics) = parse(&Source::new("test.csp", text));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(tree.assertions.len(), 7);
    assert!(matches!(&tree.assertions[1].claim, Claim::Reaches(_, Some(optimum)) if optimum.is_least));
}

#[test]
fn all_errors_are_reported() {
    let text = "var = 3;\nP = a -> ;\nQ = b -> Skip\n#assert P deadlockfre;\nvar x = 1;\nchannel c;\nR = $;\n";
    assert_eq!(
        errors(text),
        [
            "1:5 the name of a variable is expected, not `=`",
            "2:10 a process is expected, not `;`",
            "4:1 `;` is expected after a definition, not `#`",
            "4:11 `deadlockfre` is not known here",
            "6:10 a channel needs a capacity",
            "7:5 a process is expected, not `$`",
        ]
    );
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        format!("P = {}Skip;", "a -> ".repeat(100_000)),
        format!("P = {}Skip{};", "(".repeat(100_000), ")".repeat(100_000)),
        format!("#define c {}1;", "1 + ".repeat(100_000)),
        format!("#define c {}1;", "- ".repeat(100_000)),
        format!("P = a{}x = 1{} -> Skip;", "{".repeat(100_000), "}".repeat(100_000)),
        format!("#assert P |= {}a;", "[]".repeat(100_000)),
        format!("P = {}Skip;", "Skip; ".repeat(100_000)),
        format!("P = Skip{};", "\\ {a}".repeat(100_000)),
    ] {
        assert!(errors(&text)[0].contains("nested too deeply"), "{}", errors(&text)[0]);
    }
}
