//! The Promela front end on texts that are cut off, mended wrongly or nested too deeply: it answers
//! with a model or with diagnostics, and never panics. And on models of several files.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use quotient_ir::{Caption, Diagnostic, Fairness, Number, Owner, Source};
use quotient_kit::{LoadOptions, Loaded};
use quotient_promela::LANGUAGE;

fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let entries = std::fs::read_dir(folder).expect("there are models");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a model is a text")).collect()
}

fn read(text: &str) -> bool {
    LANGUAGE.load(Source::new("model.pml", text), &LoadOptions::default()).is_ok()
}

#[test]
fn every_model_is_read() {
    for model in models() {
        assert!(read(&model), "{model}");
    }
}

#[test]
fn texts_that_are_cut_off() {
    for model in models() {
        for end in (0..model.len()).step_by(37).filter(|&end| model.is_char_boundary(end)) {
            read(&model[..end]);
            read(&model[end..]);
        }
    }
}

#[test]
fn texts_that_lack_a_word_or_have_one_too_many() {
    for model in models() {
        let words: Vec<&str> = model.split_inclusive(char::is_whitespace).collect();
        for position in (0..words.len()).step_by(11) {
            let mut less = words.clone();
            less.remove(position);
            read(&less.concat());
            let mut more = words.clone();
            more.insert(position, ["do ", "fi ", ":: ", "} ", "( ", "atomic { ", "#if ", "run "][position % 8]);
            read(&more.concat());
        }
    }
}

#[test]
fn what_is_nested_without_end() {
    for (open, close) in [("(", ")"), ("{ ", " }"), ("if :: ", " fi"), ("!", ""), ("- ", "")] {
        let text = format!("init {{ {}skip{} }}", open.repeat(20_000), close.repeat(20_000));
        assert!(!read(&text));
    }
    assert!(!read(&format!("init {{ byte x; x = 1{} }}", " + 1".repeat(100_000))));
    let mut doubling = String::from("#define M0 x = 1;\n");
    for level in 1..40 {
        doubling.push_str(&format!("#define M{level} M{} M{}\n", level - 1, level - 1));
    }
    assert!(!read(&format!("{doubling}byte x; init {{ M39 skip }}")));
    assert!(!read("inline a() { a() } init { a() }"));
}

/// A model with files beside it, by their names.
fn read_files(files: &[(&str, &str)]) -> (Source, Result<Loaded, Vec<Diagnostic>>) {
    let source = Source::new("models/main.pml", files[0].1);
    let Ok(source) = LANGUAGE.with_mentioned_files(source, |names| -> Result<_, Infallible> {
        let found = files.iter().find(|(name, _)| names.iter().any(|it| it == name));
        Ok(found.map(|(name, text)| Source::new(format!("models/{name}"), *text)))
    });
    let loaded = LANGUAGE.load(source.clone(), &LoadOptions::default());
    (source, loaded)
}

#[test]
fn macros_of_included_files() {
    let main = "#include \"macros.h\"\nbyte x;\ninit { add(x); x = N }\n";
    let files = [("main.pml", main), ("macros.h", "#define add(v) v = v + 1\n#define N (3)\n")];
    let (source, loaded) = read_files(&files);
    let model = loaded.expect("a bracket that touches the name of a macro begins its parameters in every file").model;
    let presentation = model.presentation.expect("a Promela model says how its runs are told");
    let texts: Vec<&str> = presentation.statements.iter().map(|statement| statement.text.as_str()).collect();
    assert_eq!(texts, ["x = x + 1", "x = 3", "-end-"]);
    assert_eq!(source.files.len(), 1);
}

#[test]
fn statements_of_included_files() {
    let files = [
        ("main.pml", "byte x;\n#include \"parts/worker.h\"\ninit { x = 1;\n#include \"parts/rest.h\"\n}\n"),
        ("parts/worker.h", "#include \"names.h\"\nactive proctype worker() {\n  x == ONE -> x = __LINE__\n}\n"),
        ("parts/names.h", "#define ONE 1\n#ifdef NEVER\n#include \"nowhere.h\"\n#endif\n"),
        ("parts/rest.h", "x = 2; x ="),
    ];
    let (source, loaded) = read_files(&files);
    let errors = loaded.expect_err("a value is missing");
    let places: Vec<String> =
        errors.iter().map(|it| source.locate(it.primary.as_ref().expect("a place").span)).collect();
    assert_eq!(places, ["models/main.pml:5:1"], "what is wrong is seen where the file that includes it goes on");
    let mut mended = files;
    mended[3].1 = "x = 2;\n\n  x = 3";
    let (source, loaded) = read_files(&mended);
    let presentation = loaded.expect("the model is right").model.presentation.expect("a presentation");
    let statements = presentation.statements.iter();
    let shown: Vec<String> = statements
        .map(|it| format!("{} {}:{} {}", it.process, source.short_name(it.span.start), it.line, it.text))
        .collect();
    let expected = [
        "worker worker.h:3 x == 1",
        "worker worker.h:3 x = 3",
        "worker worker.h:4 -end-",
        ":init: main.pml:3 x = 1",
        ":init: main.pml:5 -end-",
        ":init: rest.h:1 x = 2",
        ":init: rest.h:3 x = 3",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn errors_in_included_files() {
    let files = [
        ("main.pml", "#include \"declarations.h\"\n#include \"missing.h\"\ninit { x = y }\n"),
        ("declarations.h", "byte x\n\nbyte 3;\n#include \"main.pml\"\n"),
    ];
    let (source, loaded) = read_files(&files);
    let errors = loaded.expect_err("several things are wrong");
    let mut places: Vec<(String, &str)> =
        errors.iter().map(|it| (source.locate(it.primary.as_ref().expect("a place").span), it.code)).collect();
    places.dedup();
    let expected = [
        ("models/main.pml:1:1".to_owned(), "include-too-deep"),
        ("models/main.pml:2:1".to_owned(), "include-too-deep"),
        ("models/main.pml:2:1".to_owned(), "no-such-file"),
        ("models/declarations.h:3:6".to_owned(), "syntax"),
    ];
    assert_eq!(places, expected);
}

/// The owners of the rules whose name has a part, in the order of the rules, without repetitions.
fn owners(text: &str, part: &str) -> Vec<Owner> {
    let loaded = LANGUAGE.load(Source::new("model.pml", text), &LoadOptions::default());
    let model = loaded.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}")).model;
    let rules = model.rules.iter().filter(|rule| rule.name.as_deref().is_some_and(|name| name.contains(part)));
    assert!(
        rules.clone().all(|rule| rule.fairness == Fairness::None),
        "SPIN's fairness is an option, not a declaration"
    );
    let mut owners: Vec<Owner> = rules.map(|rule| rule.owner).collect();
    owners.dedup();
    owners
}

#[test]
fn rules_belong_to_processes() {
    let text = "
        chan c = [0] of { byte };
        byte x, y;
        active proctype sender() { x = 1; c!1 }
        active [2] proctype receiver() { byte got; c?got; y++ }
    ";
    assert_eq!(owners(text, "x = 1"), [Owner::Process(Number::Constant(0))]);
    assert_eq!(owners(text, "y"), [Owner::Process(Number::Parameter(0))]);
    // Both take part in a rendezvous; the sender takes the step.
    assert_eq!(owners(text, "→"), [Owner::Process(Number::Constant(0))]);
    let turned = "
        chan c = [0] of { byte };
        active proctype receiver() { byte got; c?got }
        active [2] proctype sender() { c!1 }
    ";
    assert_eq!(owners(turned, "→"), [Owner::Process(Number::Parameter(0))]);
    // Nobody's step: it only says that the end is no deadlock.
    assert_eq!(owners(text, "valid end"), [Owner::None]);
}

#[test]
fn the_owner_of_an_instance_is_the_process_of_its_caption() {
    for text in models() {
        let Ok(loaded) = LANGUAGE.load(Source::new("model.pml", text), &LoadOptions::default()) else {
            continue;
        };
        let model = loaded.model;
        let presentation = model.presentation.as_ref().expect("runs of Promela are told by processes");
        for rule in model.rules.indices() {
            let parameters = model.rules[rule].parameters.len();
            let arguments: Vec<i64> = (10..10 + parameters as i64).collect();
            let told = match presentation.caption(rule) {
                Some(Caption::Statements(participants)) => participants.first().copied(),
                Some(Caption::Remark(participant, _)) => *participant,
                None => None,
            };
            let told = told.map(|participant| participant.number.of(&arguments));
            assert_eq!(model.owner_of(rule, &arguments), told, "{:?}", model.rules[rule].name);
        }
    }
}

/// What is said of a text with macros set from outside: whether it is read, and the messages with their lines.
fn said_with(text: &str, constants: &[(&str, &str)]) -> (bool, Vec<String>) {
    let constants = constants.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    let source = Source::new("model.pml", text);
    let options = LoadOptions { constants, ..LoadOptions::default() };
    let (is_read, diagnostics) = match LANGUAGE.load(source.clone(), &options) {
        Ok(loaded) => (true, loaded.warnings),
        Err(diagnostics) => (false, diagnostics),
    };
    let line = |it: &Diagnostic| it.primary.as_ref().map_or(0, |label| source.line_and_column(label.span.start).0);
    (is_read, diagnostics.iter().map(|it| format!("{}: {}", line(it), it.message)).collect())
}

#[test]
fn macros_set_from_outside_win_over_the_text() {
    let texts = |text: &str, constants: &[(&str, &str)]| {
        let constants = constants.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        let options = LoadOptions { constants, ..LoadOptions::default() };
        let model = LANGUAGE.load(Source::new("model.pml", text), &options).expect("the model is right").model;
        let statements = model.presentation.expect("a presentation").statements;
        statements.into_iter().map(|it| it.text).collect::<Vec<_>>()
    };
    let text = "#define W 2\nbyte x;\ninit { x = W;\n#undef W\n#define W 3\nx = W }\n";
    assert_eq!(texts(text, &[]), ["x = 2", "x = 3", "-end-"]);
    assert_eq!(texts(text, &[("W", "4"), ("W", "1")]), ["x = 1", "x = 1", "-end-"]);
    let overrides = [
        "1: `-D W=1` overrides this definition of `W`",
        "4: `-D W=1` overrides this `#undef`",
        "5: `-D W=1` overrides this definition of `W`",
    ];
    assert_eq!(said_with(text, &[("W", "1")]), (true, overrides.map(str::to_owned).to_vec()));
    // A default, and a definition that says the same, are not overridden.
    let default = "#ifndef W\n#define W 2\n#endif\n#define V (W + 1)\nbyte x;\ninit { x = V }\n";
    assert_eq!(texts(default, &[("W", "1")]), ["x = 1 + 1", "-end-"]);
    assert_eq!(said_with(default, &[("W", "1"), ("V", "(W+1)")]), (true, Vec::new()));
    let parameters = "#define W(a) a\nbyte x;\ninit { x = W(2) }\n";
    let refused = "1: the macro `W` has parameters and cannot be set";
    let (is_read, said) = said_with(parameters, &[("W", "1")]);
    assert!(!is_read && said.contains(&refused.to_owned()), "{said:?}");
}

#[test]
fn macros_set_from_outside_are_used() {
    let text = "#if defined(A) && B > 1\n#define C D\n#elif E\n#endif\n#ifdef F\n#ifndef G\nH\n#endif\n#endif\n\
                #define J K\nbyte x; // L\ninit { x = M }\n";
    let unused = |name: &str| (false, vec![format!("0: the model has no constant `{name}` to set")]);
    for name in ["A", "B", "E", "G", "J"] {
        let constants = [("M", "1"), (name, "0")];
        let (is_read, said) = said_with(text, &constants);
        assert!(is_read, "{name}: {said:?}");
    }
    for name in ["C", "D", "H", "K", "L", "X"] {
        assert_eq!(said_with(text, &[("M", "1"), (name, "0")]), unused(name), "{name}");
    }
    // What uses it may stand in the file that is missing.
    let (is_read, said) = said_with("#include \"missing.h\"\ninit { skip }\n", &[("N", "1")]);
    assert!(!is_read && said.len() == 1, "{said:?}");
}

#[test]
fn processes_that_there_is_no_room_for() {
    let creations = ["run b()", "d_step { run b() }", "atomic { run b(); run b() }", "byte n; n = run b()"];
    for creation in creations {
        let text = format!("byte x; proctype b() {{ x++ }} active proctype a() {{ do :: {creation} od }}");
        for max_processes in [1, 2, 3, 40, 255] {
            let options = LoadOptions { max_processes: Some(max_processes), ..LoadOptions::default() };
            let loaded = LANGUAGE.load(Source::new("model.pml", text.clone()), &options);
            assert!(loaded.is_ok(), "{creation}, {max_processes}: {loaded:?}");
        }
    }
    let options = LoadOptions { max_processes: Some(1), ..LoadOptions::default() };
    let two = LANGUAGE.load(Source::new("model.pml", "active [2] proctype a() { skip }"), &options);
    let codes: Vec<&str> = two.expect_err("there is no room").iter().map(|it| it.code).collect();
    assert_eq!(codes, ["too-many-processes"]);
}
