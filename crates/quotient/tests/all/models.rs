//! Models that several tests share.

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
