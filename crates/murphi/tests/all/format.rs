//! The formatter for Murphi: what it gives, that it is stable, and that the model stays the same.

use std::fs;
use std::path::{Path, PathBuf};

use quotient_ir::{PrintOptions, Source, print_murphi};
use quotient_kit::LoadOptions;
use quotient_language_testkit::prerequisites::corpus;
use quotient_language_testkit::workspace;
use quotient_murphi::LANGUAGE;

fn format(text: &str) -> Option<String> {
    LANGUAGE.format(text)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let formatted = format(text).expect("the syntax is right");
    assert_eq!(formatted, expected);
    assert_eq!(format(&formatted).as_deref(), Some(expected), "formatting twice is formatting once");
}

#[test]
fn indentation_follows_the_structure() {
    check(
        "const N:3;\ntype\nproc :scalarset( N );\n  state: record a:0..1;\nb : boolean;\n end;\n\n\n\nvar x :array[ proc ]of 0 .. 3 ;\n\
         startstate begin\nfor p:proc do x[p]:=0;end;end;\n\
         ruleset p:proc do\nrule \"up\"\nx[p]<3&!( x[p] = 2 )\n==>\nvar y:0..3;\nbegin\ny:=x[p]+ 1;\n\
         if y=1 then\nx[p]:=y;\nelsif y = 2 then x[p] :=(y=2?-1+2:y);\nelse\nx[p]\n:=\n3;\nend;\n\
         switch y\ncase 0,1:\nclear x;\nelse\nx[p]:=0;\nendswitch;\nendrule;\nend;\n\
         invariant \"small\"\nforall p: proc do\nx[p]<=3\nend;",
        "const N: 3;\ntype\n  proc: scalarset(N);\n  state: record a: 0..1;\n    b: boolean;\n  end;\n\nvar x: array [proc] of 0..3;\n\
         startstate begin\n  for p: proc do x[p] := 0; end; end;\n\
         ruleset p: proc do\n  rule \"up\"\n    x[p] < 3 & !(x[p] = 2)\n  ==>\n  var y: 0..3;\n  begin\n    y := x[p] + 1;\n    \
         if y = 1 then\n      x[p] := y;\n    elsif y = 2 then x[p] := (y = 2 ? -1 + 2 : y);\n    else\n      x[p]\n        :=\n        3;\n    end;\n    \
         switch y\n      case 0, 1:\n        clear x;\n      else\n        x[p] := 0;\n    endswitch;\n  endrule;\nend;\n\
         invariant \"small\"\n  forall p: proc do\n    x[p] <= 3\n  end;\n",
    );
}

#[test]
fn comments_strings_and_formulas_stay() {
    check(
        "-- what it is:  two   spaces\n\n\nvar x:boolean;-- behind\n  /* over\n     lines */\nstartstate begin x:=true;\n-- the end\nend;\n\
         ltl \"again\" []  <> x ;\nrule \"flip  it\" begin x:=!x;end;   ",
        "-- what it is:  two   spaces\n\nvar x: boolean; -- behind\n/* over\n     lines */\nstartstate begin x := true;\n-- the end\nend;\n\
         ltl \"again\" []  <> x;\nrule \"flip  it\" begin x := !x; end;\n",
    );
    assert_eq!(format("var x: ;"), None);
    assert_eq!(
        format("var x:boolean;\r\nrule begin\r\nx:=true;end;\r\n").as_deref(),
        Some("var x: boolean;\r\nrule begin\r\n  x := true; end;\r\n")
    );
    assert_eq!(format("").as_deref(), Some(""));
}

fn printed(text: &str) -> Option<String> {
    let loaded = LANGUAGE.load(Source::new("model.m", text), &LoadOptions::default()).ok()?;
    let text = print_murphi(&loaded.model, &PrintOptions { extensions: true, ..PrintOptions::default() }).ok()?;
    // Properties without a name are called by their text.
    Some(text.split('"').step_by(2).collect::<Vec<_>>().join("\"\""))
}

fn check_file(path: &Path) -> bool {
    let text = String::from_utf8_lossy(&fs::read(path).expect("a file")).into_owned();
    let Some(before) = printed(&text) else { return false };
    let Some(formatted) = format(&text) else { panic!("{}: not formatted", path.display()) };
    assert_eq!(printed(&formatted).as_ref(), Some(&before), "{}: another model", path.display());
    assert!(format(&formatted).as_ref() == Some(&formatted), "{}: not stable", path.display());
    true
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let all = entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|it| it == "m")).collect()
}

#[test]
fn models_stay_the_same() {
    let files = files_below(&workspace().join("models/murphi"));
    assert!(files.iter().filter(|path| check_file(path)).count() >= 30);
}

#[test]
fn the_models_of_others_stay_the_same() {
    let Some(folder) = corpus("murphi", "formatting the models of others") else { return };
    let checked = files_below(&folder).iter().filter(|path| check_file(path)).count();
    assert!(checked >= 100, "{checked} models");
}
