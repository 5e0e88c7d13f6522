//! What is said about formulas of the command line, in each language.

use quotient::languages::{Condition, Language, LoadOptions, Role, load, with_conditions};
use quotient_ir::Source;
use quotient_language_testkit::claims::claims;

const PROCESSES: &str = "byte x; bool b, G; active [2] proctype P() { start: do :: x = 1; crit: x = 2 od }\n";

const MURPHI: &str = r#"
type P: 0..2; S: enum { idle, try, crit };
var st: array [P] of S; lock: boolean;
startstate begin for p: P do st[p] := idle end; lock := false; end;
ruleset p: P do
  rule "enter" st[p] = idle & !lock ==> begin st[p] := crit; lock := true end;
  rule "leave" st[p] = crit ==> begin st[p] := idle; lock := false end;
end;
"#;

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
