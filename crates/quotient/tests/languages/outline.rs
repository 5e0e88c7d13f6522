//! Outlines against the front ends themselves: a model in which a definition and all its uses are renamed must be the
//! same model, up to that name. A use that an outline misses, or gives to the wrong definition, changes the model or makes
//! the text wrong.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use quotient::languages::outline::{Kind, RenameRefusal, is_name, outline, rename};
use quotient::languages::{Language, LoadOptions, load, source_from_bytes, with_mentioned_files};
use quotient_ir::{PrintOptions, Source, Span, print_murphi};
use quotient_language_testkit::prerequisites::corpus;
use quotient_language_testkit::workspace;

fn source(path: &Path) -> (Source, Language) {
    let name = path.to_string_lossy().into_owned();
    let language = Language::from_file_name(&name).expect("a model has the extension of a language");
    let read = |path: &Path| source_from_bytes(&path.to_string_lossy(), &fs::read(path).expect("a file")).ok();
    let folder = path.parent().expect("a file is in a folder");
    let first = read(path).expect("a text");
    let source = with_mentioned_files(first, language, |names| {
        let found = names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
        Ok::<_, Infallible>(found.and_then(|path| read(&path)))
    });
    (source.unwrap_or_else(|never| match never {}), language)
}

/// A model as text: everything that a name can change.
fn printed(source: &Source, language: Language) -> Result<String, String> {
    let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
    let loaded = load(source.clone(), language, &options)
        .map_err(|diagnostics| diagnostics.iter().map(|it| it.message.clone()).collect::<Vec<_>>().join("; "))?;
    let text = print_murphi(&loaded.model, &PrintOptions { extensions: true, ..PrintOptions::default() });
    let text = text.map_err(|error| error.to_string())?;
    // Titles of rules and messages quote the text, shortened.
    let outside: Vec<&str> = text.split('"').step_by(2).collect();
    Ok(outside.join("\"\"").split_whitespace().collect::<Vec<_>>().join(" "))
}

fn replaced(source: &Source, places: &[Span], name: &str) -> Source {
    let mut text = source.text.to_string();
    for place in places.iter().rev() {
        text.replace_range(place.range(), name);
    }
    let shift = |start: u32| {
        let before = places.iter().filter(|it| it.end <= start);
        before.fold(i64::from(start), |at, it| at + name.len() as i64 - i64::from(it.end - it.start)) as u32
    };
    let files = source.files.iter().map(|(start, name)| (shift(*start), name.clone())).collect();
    Source { name: source.name.clone(), text: text.into(), files }
}

#[derive(Default)]
struct Count {
    renamed: usize,
    refused: usize,
}

/// Renames up to `most` definitions of a model, one at a time.
fn check(path: &Path, most: usize, count: &mut Count) {
    let (source, language) = source(path);
    let Ok(before) = printed(&source, language) else { return };
    let outline = outline(&source, language);
    assert!(!outline.definitions.is_empty(), "{}: nothing is defined", path.display());
    let step = outline.definitions.len().div_ceil(most).max(1);
    for definition in outline.definitions.iter().step_by(step) {
        if matches!(definition.kind, Kind::Rule | Kind::Start | Kind::Property) {
            continue;
        }
        let fresh = fresh(&definition.name, &source.text, language);
        let at = format!("{}: `{}` ({})", source.locate(definition.span), definition.name, definition.kind.noun());
        let places = match rename(&source, language, definition.span.start, &fresh) {
            Ok(places) => places,
            Err(RenameRefusal::Fixed(_) | RenameRefusal::Ambiguous | RenameRefusal::Unread(_)) => {
                count.refused += 1;
                continue;
            }
            Err(refusal) => panic!("{at}: {refusal:?}"),
        };
        count.renamed += 1;
        let after =
            printed(&replaced(&source, &places, &fresh), language).unwrap_or_else(|error| panic!("{at}: {error}"));
        // Processes with the same states share a type.
        if definition.kind != Kind::State {
            assert!(is_renamed(&after, &before), "{at}: another model\n{}", difference(&before, &after));
        }
    }
}

/// A name of the same length that the text does not have: messages quote places and the beginnings of lines.
fn fresh(name: &str, text: &str, language: Language) -> String {
    let letters = ('a'..='z').chain('A'..='Z');
    let mut candidates = letters.flat_map(|letter| {
        let end = name.char_indices().nth(1).map_or("", |(start, _)| &name[start..]);
        let other = if end.is_empty() { String::new() } else { "q".repeat(end.len()) };
        [format!("{letter}{end}"), format!("{letter}{other}")]
    });
    let is_free = |name: &String| !words(text).any(|word| word == name) && is_name(name, language);
    candidates.find(is_free).expect("some letter is free")
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).filter(|it| !it.is_empty())
}

/// Whether a text is another one with some words changed: each word stands for one word of the other. The printer chooses
/// other names where some clash, and different things can have one name.
fn is_renamed(after: &str, before: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let signs = |text: &str| text.split(is_word).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("w");
    let mut meanings: HashMap<&str, &str> = HashMap::new();
    let mut pairs = words(after).zip(words(before));
    signs(after) == signs(before) && pairs.all(|(new, old)| *meanings.entry(new).or_insert(old) == old)
}

fn difference(before: &str, after: &str) -> String {
    let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count().saturating_sub(60);
    let part = |text: &str| text.chars().skip(same).take(200).collect::<String>();
    format!("{}\n{}", part(before), part(after))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if Language::from_file_name(&path.to_string_lossy()).is_some() {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// How many definitions of each model are renamed.
fn most() -> usize {
    std::env::var("QUOTIENT_RENAMED").ok().and_then(|it| it.parse().ok()).unwrap_or(4)
}

fn check_language(folder: &str) {
    let mut count = Count::default();
    for path in files_below(&workspace().join("models").join(folder)) {
        check(&path, most(), &mut count);
    }
    assert!(count.renamed > count.refused, "{} renamed, {} refused", count.renamed, count.refused);
}

#[test]
fn renaming_keeps_murphi_models() {
    check_language("murphi");
}

#[test]
fn renaming_keeps_promela_models() {
    check_language("promela");
}

#[test]
fn renaming_keeps_b_models() {
    check_language("b");
}

#[test]
fn renaming_keeps_csp_models() {
    check_language("csp");
}

#[test]
fn renaming_keeps_dve_models() {
    check_language("dve");
}

#[test]
fn renaming_keeps_the_models_of_others() {
    for language in ["murphi", "b", "beem"] {
        let Some(folder) = corpus(language, "renaming in the models of others") else { return };
        let mut count = Count::default();
        // Large machines and systems take long to load.
        let (most, step) = if language == "murphi" { (20_000, 1) } else { (2_500, 6) };
        let is_small = |path: &PathBuf| fs::metadata(path).is_ok_and(|it| it.len() < most);
        for path in files_below(&folder).into_iter().filter(is_small).step_by(step) {
            check(&path, 2, &mut count);
        }
        assert!(count.renamed >= 10, "{language}: {} renamed", count.renamed);
    }
}

/// The places of a definition and its uses as line:column, by the offset of a marker `^` in front of a name.
fn uses(text: &str, language: Language) -> String {
    let offset = text.find('^').expect("a marker") as u32;
    let source = Source::new("test", text.replacen('^', "", 1));
    let outline = outline(&source, language);
    let places = |number: &usize| {
        let definition = &outline.definitions[*number];
        let place = |span: &Span| {
            let (line, column) = source.line_and_column(span.start);
            format!("{line}:{column}")
        };
        let uses: Vec<String> = definition.uses.iter().map(place).collect();
        format!(
            "{} {} at {}, used at {}",
            definition.kind.noun(),
            definition.name,
            place(&definition.span),
            uses.join(" ")
        )
    };
    outline.at(offset).iter().map(places).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check_uses(text: &str, language: Language, expected: &str) {
    assert_eq!(uses(text, language), expected);
}

#[test]
fn inner_names_hide_outer_ones() {
    let text = "var x: 0..1;\nstartstate begin x := 0; end;\nrule var x: 0..2; begin ^x := 1; end;";
    check_uses(text, Language::Murphi, "local variable x at 3:10, used at 3:25");
    let text = "type r: record a: 0..1; end;\nvar a: r; b: array [0..1] of r;\nrule begin b[a.a].^a := a.a; end;";
    check_uses(text, Language::Murphi, "field a at 1:16, used at 3:16 3:19 3:26");
    let text = "byte x;\nactive proctype P() { byte x; { byte x; x = 1 }; ^x = 2 }";
    check_uses(text, Language::Promela, "local variable x at 2:28, used at 2:50");
    let text = "MACHINE M VARIABLES x INVARIANT x : 0..3 & !x.(x : 0..1 => ^x < 2)\nINITIALISATION x := 0 END";
    check_uses(text, Language::B, "parameter x at 1:45, used at 1:48 1:60");
    let text = "byte x;\nprocess P { byte x; state a; init a; trans a -> a { effect ^x = 1; }; }\nsystem async;";
    check_uses(text, Language::Dve, "local variable x at 2:18, used at 2:60");
    let text = "var x = 0;\nP(x) = a.x -> c?y -> b.y.^x -> Skip;\nchannel c 1;";
    check_uses(text, Language::Csp, "parameter x at 2:3, used at 2:10 2:26");
}

#[test]
fn macros_and_inlines_are_followed() {
    let text =
        "#define N 2\n#define last (^count == N)\nbyte count;\ninline add(v) { v = v + 1 }\ninit { add(count); last }";
    check_uses(text, Language::Promela, "variable count at 3:6, used at 2:15 5:12");
    let text = "#define N 2\nbyte a[^N]; byte b = N;\n#ifdef N\ninit { b = N }\n#endif";
    check_uses(text, Language::Promela, "constant N at 1:9, used at 2:8 2:21 3:8 4:12");
    let text = "MACHINE M DEFINITIONS big(v) == v > limit; up == x := x + 1\nVARIABLES ^x INVARIANT x : 0..3\n\
        INITIALISATION x := 0 OPERATIONS go = PRE big(x) THEN up END END";
    check_uses(text, Language::B, "variable x at 2:11, used at 1:50 1:55 2:23 3:16 3:47");
    let text =
        "#define full (x == ^limit);\nvar x = 0; var limit = 2;\nP = [full]a -> P;\nQ(limit) = [full]b -> Q(limit);";
    check_uses(text, Language::Csp, "variable limit at 2:16, used at 1:20\nparameter limit at 4:3, used at 1:20 4:25");
}

#[track_caller]
fn check_refusal(text: &str, language: Language, name: &str, expected: &RenameRefusal) {
    let offset = text.find('^').expect("a marker") as u32;
    let source = Source::new("test", text.replacen('^', "", 1));
    assert_eq!(rename(&source, language, offset, name).as_ref(), Err(expected), "{text}");
}

#[test]
fn renaming_is_refused_where_it_changes_the_meaning() {
    let text = "var x: 0..1; y: 0..1;\nstartstate begin ^x := 0; y := 0; end;";
    check_refusal(text, Language::Murphi, "Begin", &RenameRefusal::NotAName("Begin".into()));
    check_refusal(text, Language::Murphi, "2x", &RenameRefusal::NotAName("2x".into()));
    check_refusal(text, Language::Murphi, "y", &RenameRefusal::Captures(Span::new(47, 48)));
    // A local of the new name would hide the global one.
    let text = "var x: 0..1;\nrule var y: 0..1; begin ^x := 0; end;";
    check_refusal(text, Language::Murphi, "y", &RenameRefusal::Captures(Span::new(37, 38)));
    let text = "byte ^x; inline unused() { x = 1 }\ninit { x = 2 }";
    check_refusal(text, Language::Promela, "y", &RenameRefusal::Unread(Span::new(26, 27)));
    let text = "#define two(a) a##1 = 2\nbyte ^x1; init { two(x) }";
    check_refusal(text, Language::Promela, "y", &RenameRefusal::Fixed("a macro puts its name together"));
    let text = "active proctype P() { end_^here: skip }";
    let refusal = RenameRefusal::Fixed("a label of this name has a meaning of its own");
    check_refusal(text, Language::Promela, "there", &refusal);
    let text = "MACHINE ^M END";
    check_refusal(text, Language::B, "N", &RenameRefusal::Fixed("its file has the same name"));
    check_refusal("var x: 0..1; -- no^thing", Language::Murphi, "y", &RenameRefusal::Nothing);
}

#[test]
fn a_text_with_errors_has_an_outline() {
    let text = "type t: 0..3;\nvar x: t;\nrule \"r\" x < begin ^x := 1 end;\nvar y: t;";
    check_uses(text, Language::Murphi, "variable x at 2:5, used at 3:20");
}
