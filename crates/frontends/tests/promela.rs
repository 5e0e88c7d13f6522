//! The Promela front end on texts that are cut off, mended wrongly or nested too deeply: it answers
//! with a model or with diagnostics, and never panics.

use std::path::{Path, PathBuf};

use quotient_frontends::{Language, LoadOptions, load};
use quotient_ir::Source;

fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let entries = std::fs::read_dir(folder).expect("there are models");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a model is a text")).collect()
}

fn read(text: &str) -> bool {
    load(Source::new("model.pml", text), Language::Promela, &LoadOptions::default()).is_ok()
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

#[test]
fn macros_of_included_files() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("macros.h"), "#define add(v) v = v + 1\n#define N (3)\n").expect("a file");
    let name = folder.path().join("model.pml").display().to_string();
    let text = "#include \"macros.h\"\nbyte x;\ninit { add(x); x = N }\n";
    let options = LoadOptions::default();
    let loaded = load(Source::new(name, text), Language::Promela, &options);
    let model = loaded.expect("a bracket that touches the name of a macro begins its parameters in every file").model;
    let presentation = model.presentation.expect("a Promela model says how its runs are told");
    let texts: Vec<&str> = presentation.statements.iter().map(|statement| statement.text.as_str()).collect();
    assert_eq!(texts, ["x = x + 1", "x = 3", "-end-"]);
}
