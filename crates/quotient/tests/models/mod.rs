//! Models that several tests share.
#![allow(dead_code)]

use quotient::{Language, Model};

/// A Murphi model.
pub(crate) fn murphi(text: &str) -> Model {
    Model::from_text("test", text, Language::Murphi).expect("the model is fine")
}

/// A mutual exclusion with all kinds of properties that options care about.
pub(crate) fn lock() -> Model {
    murphi(
        r#"type process: scalarset(3);
           var at: array [process] of enum { idle, busy }; free: boolean;
           startstate begin for p: process do at[p] := idle; end; free := true; end;
           ruleset p: process do
             rule "enter" at[p] = idle & free ==> begin at[p] := busy; free := false; end;
             rule "leave" at[p] = busy ==> begin at[p] := idle; free := true; end;
           end;
           invariant "safe" forall p: process do forall q: process do
             at[p] = busy & at[q] = busy -> p = q end end;
           liveness "again" free;"#,
    )
}

/// More states than anybody visits: counters that are distinguished by their bounds.
pub(crate) fn endless() -> Model {
    let counters: Vec<String> = (0..9).map(|number| format!("c{number}: 0..{};", 40 + number)).collect();
    let starts: String = (0..9).map(|number| format!("c{number} := 0;")).collect();
    let rules: String = (0..9)
        .map(|number| {
            let most = 40 + number;
            format!("rule c{number} < {most} ==> begin c{number} := c{number} + 1; end;\n")
        })
        .collect();
    murphi(&format!("var {} startstate begin {starts} end;\n{rules}", counters.join(" ")))
}
