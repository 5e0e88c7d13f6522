//! What a front end must survive: any text is read or refused in good time, and places of diagnostics are in the text.
//! Texts are damaged at random, letter by letter ([`damaged`]).

use std::path::Path;
use std::time::{Duration, Instant};

use quotient_ir::{Diagnostic, Source};
use quotient_kit::{FrontEnd, LoadOptions};

use crate::random::Random;
use crate::switches::number_from;

/// Longer than any text of the tests takes, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Reads a text; the codes of the diagnostics if it is refused.
///
/// # Panics
/// If the front end breaks one of its promises.
pub fn read(text: &str, language: &FrontEnd, options: &LoadOptions) -> Result<(), Vec<&'static str>> {
    let started = Instant::now();
    let source = Source::new("test", text);
    let result = language.load(source.clone(), options);
    assert!(started.elapsed() < PATIENCE, "too slow:\n{text}");
    let diagnostics = match &result {
        Ok(loaded) => &loaded.warnings,
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(Diagnostic::is_error), "refused without a word:\n{text}");
            diagnostics
        }
    };
    for label in diagnostics.iter().flat_map(|it| it.primary.iter().chain(&it.secondary)) {
        assert!(source.text.get(label.span.range()).is_some(), "{label:?} is at no place of\n{text}");
    }
    match result {
        Ok(loaded) => {
            quotient_ir::verify(&loaded.model).expect("a model that was read is well formed");
            Ok(())
        }
        Err(diagnostics) => Err(diagnostics.iter().map(|it| it.code).collect()),
    }
}

/// The example models of a language, in the order of their names.
///
/// # Panics
/// If they cannot be read.
pub fn examples(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let entries = std::fs::read_dir(folder).expect("the examples are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}

/// A text with one to four changes: letters removed, copied or swapped, a word put in.
pub fn damaged(random: &mut Random, text: &str, words: &[&str]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len() + 1);
        match random.below(4) {
            0 => {
                let end = (at + random.below(12)).min(text.len());
                text.drain(at..end);
            }
            1 => {
                let end = (at + random.below(30)).min(text.len());
                let copied: Vec<char> = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, copied);
            }
            2 if at < text.len() => {
                let other = random.below(text.len());
                text.swap(at, other);
            }
            _ => {
                let word = words[random.below(words.len())];
                text.splice(at..at, word.chars());
            }
        }
    }
    text.into_iter().collect()
}

/// Damages right texts `changes` times and reads them. QUOTIENT_RANDOM_SEED gives other changes.
///
/// # Panics
/// If a text that is not damaged is refused, the front end breaks a promise, or it refuses hardly anything.
pub fn survives_damage(language: &FrontEnd, texts: &[String], words: &[&str], changes: u64) {
    let options = LoadOptions::default();
    for text in texts {
        assert_eq!(read(text, language, &options), Ok(()), "{text}");
    }
    let mut random = Random::new(number_from("QUOTIENT_RANDOM_SEED", 7));
    let mut refused = 0;
    for _ in 0..changes {
        let text = &texts[random.below(texts.len())];
        refused += u64::from(read(&damaged(&mut random, text, words), language, &options).is_err());
    }
    assert!(refused > changes / 4, "only {refused} were refused");
}

/// Reads every beginning and every end of some texts.
pub fn survives_cuts(language: &FrontEnd, texts: &[&str]) {
    let options = LoadOptions::default();
    for text in texts {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let _ = read(&text[..end], language, &options);
            let _ = read(&text[end..], language, &options);
        }
    }
}
