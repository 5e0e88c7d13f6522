//! The properties that formulas, claims and labels become, and what is said about formulas of the command line.

use quotient::languages::{Condition, LabelChecks, Language, LoadOptions, Role, load, with_conditions};
use quotient_ir::{Fairness, Model, PropertyKind, Source, TemporalClaim};
use quotient_temporal::Automaton;
use quotient_temporal::print::{Notation, print};

fn model(text: &str, language: Language, options: &LoadOptions) -> Model {
    match load(Source::new("model", text), language, options) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{text}\n{diagnostics:#?}"),
    }
}

/// States, literals, and `!` where a transition accepts.
fn automaton_text(automaton: &Automaton) -> String {
    let literals = |mask: u64, sign: &str| -> String {
        (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| format!(" {sign}{bit}")).collect()
    };
    let mut parts = vec![format!("from {:?}", automaton.initial)];
    for transition in &automaton.transitions {
        let (positive, negative) = (literals(transition.cube.positive, ""), literals(transition.cube.negative, "-"));
        let accepting = if transition.acceptance == 1 { " !" } else { "" };
        parts.push(format!("{}>{}{positive}{negative}{accepting}", transition.from, transition.to));
    }
    parts.join(", ")
}

/// The claims of a model: the name, the parameters, and the formula over the texts of its conditions.
fn claims(model: &Model) -> Vec<String> {
    let mut lines = Vec::new();
    for property in model.properties.iter().filter(|property| property.kind.is_claim()) {
        let name = property.name.as_deref().unwrap_or("");
        let Some(temporal) = property.formula.temporal() else {
            lines.push(format!("{name}: {:?}", property.kind));
            continue;
        };
        let parameters: String =
            property.parameters.iter().map(|it| format!("{} ", property.locals[it.local].name)).collect();
        let atom = |number: quotient_temporal::Atom| format!("{{{}}}", temporal.names[number.0 as usize]);
        let formula = match &temporal.claim {
            TemporalClaim::Linear { pool, formula } => print(pool, *formula, Notation::Plain, &atom),
            TemporalClaim::Branching { pool, formula } => {
                format!("ctl {}", print(pool, *formula, Notation::Plain, &atom))
            }
            TemporalClaim::Behaviour(behaviour) => format!("{:?}", behaviour.claim),
            TemporalClaim::Never(automaton) => format!("{:?} {}", temporal.names, automaton_text(automaton)),
        };
        lines.push(format!("{name}: {parameters}{formula}"));
    }
    lines
}

#[track_caller]
fn promela(text: &str, expected: &[&str]) {
    let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
    assert_eq!(claims(&model(text, Language::Promela, &options)), expected, "{text}");
}

const PROCESSES: &str = "byte x; bool b, G; active [2] proctype P() { start: do :: x = 1; crit: x = 2 od }\n";

#[test]
fn formulas_of_promela() {
    let mut text = String::new();
    for formula in [
        "ltl { <> (x == 1) }",
        "ltl f { [] (x == 1) }",
        "ltl f { [] (b -> <> (x == 1 && !b)) }",
        // As SPIN: one operand binds most tightly, chains lean to the left.
        "ltl f { [] b U (x == 1) }",
        "ltl f { b U b U (x > 0) }",
        "ltl f { <> b -> [] b -> <> b }",
        "ltl f { b V (x == 1) }",
        "ltl f { always eventually b }",
        "ltl f { eventually b implies (b weakuntil x == 3) }",
        "ltl f { X X b }",
        // Names of the model are names, also in formulas; others are operators.
        "ltl f { <> G }",
        "ltl f { F b }",
        "ltl f { <> (x == 1) && once b }",
        "ltl f { <> P[0]@crit }",
        "ltl f { <> (P[1]@crit && x == 2) }",
        "ltl f { forall p : P : [] <> P[p]@crit }",
        "ltl f { exists p : P : [] <> P[p]@crit }",
        "ltl f { [] <> (exists p : P : P[p]@crit) }",
        "ltl f { forall i : 0 .. 1 : [] (x != i) }",
        "ltl f { forall i : 1 .. 0 : <> (x == i) }",
        "ctl { AG EF b }",
        "ctl f { A[b U E[b U x == 1]] }",
        "ctl f { AG b }",
        "ctl f { !E<> b }",
    ] {
        let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
        let found = claims(&model(&format!("{PROCESSES}{formula}"), Language::Promela, &options));
        text.push_str(&format!("{formula}\n  {}\n", found.join("\n  ")));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn several_formulas_have_the_names_that_spin_gives_them() {
    let text = format!("{PROCESSES}ltl {{ <> b }}\nltl named {{ <> (x == 1) }}\nltl {{ [] b }}\nctl {{ EF b }}");
    promela(&text, &["ltl_0: F {b}", "named: F {x == 1}", "ltl_1: Invariant", "ctl_0: ctl E F {b}"]);
}

#[test]
fn formulas_with_macros() {
    let text = format!("#define p (x == 1)\n#define q b\n{PROCESSES}ltl f {{ [] (p -> <> q) }}");
    promela(&text, &["f: G (F {b} | !{x == 1})"]);
}

#[test]
fn claims_with_acceptance_are_automata() {
    // State 0 is the end of the claim.
    promela(
        &format!("{PROCESSES}never {{ T0: do :: x == 1 -> goto accept1 :: true od; accept1: do :: !b od }}"),
        &["never: [\"x == 1\", \"!b\"] from [1], 0>0 !, 1>1, 1>2 0, 2>2 1 !"],
    );
}

#[test]
fn claims_that_end_are_part_of_the_state() {
    promela(&format!("{PROCESSES}never {{ do :: x == 1 -> break :: true od }}"), &["never: Invariant"]);
}

#[test]
fn labels_of_processes_count_in_claims() {
    let text = "byte x; active proctype P() { do :: accept: x = 1 - x od }\n";
    let labelled = "byte x; active proctype P() { accept: x = 1 - x; x = 1 - x; goto accept }\n";
    // A label that nobody waits at is no condition.
    promela(text, &["acceptance: true"]);
    promela(labelled, &["acceptance: F G !{a process is at a label accept}"]);
    let text = format!("{labelled}never {{ do :: x == 1 od }}");
    promela(&text, &["never: [\"x == 1\", \"a process is at a label accept\"] from [1], 0>0 !, 1>1 0 -1, 1>1 0 1 !"]);
}

#[test]
fn labels_are_checked_on_request() {
    let text = "byte x; active proctype P() { progress: x = 1 - x; goto progress }\n";
    promela(text, &[]);
    let labels = LabelChecks { acceptance: Some(true), progress: true };
    let options = LoadOptions { labels, ..LoadOptions::default() };
    let found = claims(&model(text, Language::Promela, &options));
    assert_eq!(found, ["acceptance: true", "progress: G F !{np_}"]);
}

#[test]
fn the_last_process_is_a_variable_only_if_a_formula_mentions_it() {
    let has_last = |formula: &str| {
        let model = model(&format!("{PROCESSES}{formula}"), Language::Promela, &LoadOptions::default());
        model.variables.iter().any(|variable| variable.name == "_last")
    };
    assert!(!has_last("ltl f { <> b }"));
    assert!(has_last("ltl f { [] <> (_last == 1) }"));
    assert!(has_last("ltl f { [] (_last == 1) }"));
}

const MURPHI: &str = r#"
type P: 0..2; S: enum { idle, try, crit };
var st: array [P] of S; lock: boolean;
startstate begin for p: P do st[p] := idle end; lock := false; end;
ruleset p: P do
  rule "enter" st[p] = idle & !lock ==> begin st[p] := crit; lock := true end;
  rule "leave" st[p] = crit ==> begin st[p] := idle; lock := false end;
end;
"#;

#[test]
fn formulas_of_murphi() {
    let mut text = String::new();
    for formula in [
        r#"ltl "f" [] (lock -> <> !lock);"#,
        r#"ltl "f" [] <> lock = true & st[0] = idle;"#,
        r#"ltl "f" forall p: P do [] <> st[p] = crit end;"#,
        r#"ltl "f" [] <> exists p: P do st[p] = crit end;"#,
        r#"ltl "f" exists p: P do [] <> st[p] = crit end;"#,
        r#"ltl "f" <> forall i := 0 to 2 by 2 do <> st[i] = crit end;"#,
        r#"ltl "f" □ (lock → ◇ ¬lock);"#,
        r#"ctl "f" AG EF (lock & st[0] = crit);"#,
        r#"ruleset p: P do ltl "f" <> st[p] = crit; end;"#,
        r#"ltl "f" (lock U !lock) & true"#,
    ] {
        let found = claims(&model(&format!("{MURPHI}{formula}"), Language::Murphi, &LoadOptions::default()));
        text.push_str(&format!("{formula}\n  {}\n", found.join("\n  ")));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn words_of_formulas_are_names_elsewhere() {
    let text =
        "var ltl, ctl, fairness, F: boolean; startstate begin ltl := true; ctl := F; fairness := F; F := true end;
        rule ltl ==> begin ltl := !ltl end; ltl \"f\" <> F & ltl;";
    assert_eq!(claims(&model(text, Language::Murphi, &LoadOptions::default())), ["f: F {F} & {ltl}"]);
}

#[test]
fn fairness_of_rules() {
    let text = format!("fairness strong \"enter\";{MURPHI}fairness weak \"leave\";");
    let model = model(&text, Language::Murphi, &LoadOptions::default());
    let found: Vec<Fairness> = model.rules.iter().map(|rule| rule.fairness).collect();
    assert_eq!(found, [Fairness::Strong, Fairness::Weak]);
}

#[test]
fn printed_formulas_are_read_again() {
    let text = format!(
        "{MURPHI}fairness weak \"leave\"; ltl \"a\" forall p: P do [] (st[p] = try -> X st[p] = crit) end;
        ltl \"b\" [] (lock -> (Y !lock | once lock)); ctl \"c\" AG A[lock U E[!lock W lock]];"
    );
    let first = model(&text, Language::Murphi, &LoadOptions::default());
    let print = |model: &Model, extensions: bool| {
        let options = quotient_ir::PrintOptions { extensions, ..quotient_ir::PrintOptions::default() };
        quotient_ir::print_murphi(model, &options).expect("it can be printed")
    };
    // Negations become parts of conditions, and then nothing changes any more.
    let second = model(&print(&first, true), Language::Murphi, &LoadOptions::default());
    let printed = print(&second, true);
    assert_eq!(print(&model(&printed, Language::Murphi, &LoadOptions::default()), true), printed);
    assert_eq!(second.rules.iter().map(|rule| rule.fairness).collect::<Vec<_>>(), [Fairness::None, Fairness::Weak]);
    let kinds: Vec<PropertyKind> = second.properties.iter().map(|property| property.kind).collect();
    assert_eq!(kinds, [PropertyKind::Temporal; 3]);
    let plain = print(&first, false);
    assert!(plain.contains("-- ltl \"a\"") && plain.contains("-- fairness weak \"leave\";"), "{plain}");
    assert_eq!(claims(&model(&plain, Language::Murphi, &LoadOptions::default())), [""; 0]);
}

/// What is said about formulas that are given separately: the file, the place, the code and the message.
fn complaints(text: &str, language: Language, formulas: &[(Role, &str)]) -> Vec<String> {
    let conditions: Vec<Condition> =
        formulas.iter().map(|(role, text)| Condition { role: *role, expression: (*text).to_owned() }).collect();
    let (source, diagnostics) = match with_conditions(&Source::new("model", text), language, &conditions) {
        Err(failed) => failed,
        Ok(extended) => match load(extended.source.clone(), language, &LoadOptions::default()) {
            Err(diagnostics) => (extended.shown, diagnostics),
            Ok(mut loaded) => match extended.apply(&mut loaded.model) {
                Err(failed) => failed,
                Ok(()) => {
                    assert_eq!(quotient_ir::verify(&loaded.model), Ok(()));
                    return claims(&loaded.model);
                }
            },
        },
    };
    let line = |diagnostic: &quotient_ir::Diagnostic| {
        let start = diagnostic.primary.as_ref().map_or(0, |label| label.span.start);
        let (line, column) = source.line_and_column(start);
        format!("{} {line}:{column} {}", source.file_at(start).0, diagnostic.message)
    };
    diagnostics.iter().map(line).collect()
}

const DVE: &str =
    "byte x; process P { byte y; state a, b; init a; trans a -> b { guard x < 3; effect x = x + 1; }, b -> a {}; }
system async;
";

const B: &str = "MACHINE M VARIABLES s INVARIANT s : 0..3 INITIALISATION s := 0
OPERATIONS step = PRE s < 3 THEN s := s + 1 END END
";

#[test]
fn formulas_of_the_command_line() {
    use Role::{Branching, Invariant, Linear};
    let formulas = [(Linear, "[] <> lock"), (Branching, "AG EF st[0] = crit"), (Invariant, "lock | !lock")];
    let found = complaints(MURPHI, Language::Murphi, &formulas);
    assert_eq!(
        found,
        ["[] <> lock: G F {lock}", "AG EF st[0] = crit: ctl A G (E F {st[0] = crit})", "lock | !lock: Invariant"]
    );
    let formulas = [(Linear, "[] (x == 1 -> <> P[0]@crit)"), (Linear, "[] b"), (Branching, "EF b")];
    let found = complaints(PROCESSES, Language::Promela, &formulas);
    assert_eq!(
        found,
        ["[] (x == 1 -> <> P[0]@crit): G (F {P[0]@crit} | !{x == 1})", "[] b: Invariant", "EF b: ctl E F {b}"]
    );
    let formulas =
        [(Linear, "[] (P->y > 0 -> <> (P.a and x == 3))"), (Invariant, "x < 4"), (Branching, "EF x == 3 && EF P.b")];
    let found = complaints(DVE, Language::Dve, &formulas);
    assert_eq!(
        found,
        [
            "x < 4: Invariant",
            "[] (P->y > 0 -> <> (P.a and x == 3)): G (F {P.a and x == 3} | !{P->y > 0})",
            "EF x == 3 && EF P.b: ctl (E F {x == 3}) & (E F {P.b})"
        ]
    );
    let found = complaints(B, Language::B, &[(Linear, "F {s = 3}"), (Branching, "AG EF {s = 0}")]);
    assert_eq!(found.len(), 2 + 1, "{found:?}");
}

#[test]
fn bad_formulas_of_the_command_line() {
    use Role::{Branching, Linear};
    let bad: [(&str, Language, [&str; 4]); 4] = [
        (MURPHI, Language::Murphi, ["[] lok", "lock untill st[0] = crit", "[] (lock + 1)", "<> (lock -> )"]),
        (PROCESSES, Language::Promela, ["[] xx", "b untill b", "[] (b ? 1)", "<> (b -> )"]),
        (DVE, Language::Dve, ["[] xx > 1", "P.a untill P.b", "[] (P.c or x)", "<> (P.a -> )"]),
        (B, Language::B, ["G {t = 1}", "{s = 1} untill {s = 2}", "G {s = {}}", "F ({s = 1} => )"]),
    ];
    let mut text = String::new();
    for (model, language, formulas) in bad {
        for formula in formulas {
            text.push_str(&format!("{language:?} {formula}\n"));
            for complaint in complaints(model, language, &[(Linear, formula)]) {
                text.push_str(&format!("  {complaint}\n"));
            }
        }
        let two = [(Linear, formulas[0]), (Branching, "<> true"), (Linear, "A X true"), (Linear, " ")];
        text.push_str(&format!("{language:?} several\n"));
        for complaint in complaints(model, language, &two).into_iter().chain(complaints(model, language, &two[..3])) {
            text.push_str(&format!("  {complaint}\n"));
        }
    }
    insta::assert_snapshot!("formulas_of_the_command_line", text);
}
