//! The properties that formulas become, and the fairness of rules.

use quotient_ir::{Fairness, Model, PropertyKind, Source};
use quotient_kit::LoadOptions;
use quotient_language_testkit::claims::claims;
use quotient_murphi::LANGUAGE;

fn model(text: &str, options: &LoadOptions) -> Model {
    match LANGUAGE.load(Source::new("model", text), options) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{text}\n{diagnostics:#?}"),
    }
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
        let found = claims(&model(&format!("{MURPHI}{formula}"), &LoadOptions::default()));
        text.push_str(&format!("{formula}\n  {}\n", found.join("\n  ")));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn words_of_formulas_are_names_elsewhere() {
    let text =
        "var ltl, ctl, fairness, F: boolean; startstate begin ltl := true; ctl := F; fairness := F; F := true end;
        rule ltl ==> begin ltl := !ltl end; ltl \"f\" <> F & ltl;";
    assert_eq!(claims(&model(text, &LoadOptions::default())), ["f: F {F} & {ltl}"]);
}

#[test]
fn fairness_of_rules() {
    let text = format!("fairness strong \"enter\";{MURPHI}fairness weak \"leave\";");
    let model = model(&text, &LoadOptions::default());
    let found: Vec<Fairness> = model.rules.iter().map(|rule| rule.fairness).collect();
    assert_eq!(found, [Fairness::Strong, Fairness::Weak]);
}

#[test]
fn printed_formulas_are_read_again() {
    let text = format!(
        "{MURPHI}fairness weak \"leave\"; ltl \"a\" forall p: P do [] (st[p] = try -> X st[p] = crit) end;
        ltl \"b\" [] (lock -> (Y !lock | once lock)); ctl \"c\" AG A[lock U E[!lock W lock]];"
    );
    let first = model(&text, &LoadOptions::default());
    let print = |model: &Model, extensions: bool| {
        let options = quotient_ir::PrintOptions { extensions, ..quotient_ir::PrintOptions::default() };
        quotient_ir::print_murphi(model, &options).expect("it can be printed")
    };
    // Negations become parts of conditions, and then nothing changes any more.
    let second = model(&print(&first, true), &LoadOptions::default());
    let printed = print(&second, true);
    assert_eq!(print(&model(&printed, &LoadOptions::default()), true), printed);
    assert_eq!(second.rules.iter().map(|rule| rule.fairness).collect::<Vec<_>>(), [Fairness::None, Fairness::Weak]);
    let kinds: Vec<PropertyKind> = second.properties.iter().map(|property| property.kind).collect();
    assert_eq!(kinds, [PropertyKind::Temporal; 3]);
    let plain = print(&first, false);
    assert!(plain.contains("-- ltl \"a\"") && plain.contains("-- fairness weak \"leave\";"), "{plain}");
    assert_eq!(claims(&model(&plain, &LoadOptions::default())), [""; 0]);
}
