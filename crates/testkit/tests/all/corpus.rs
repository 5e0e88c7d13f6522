//! Real Murphi models against recorded answers of rumur.
//!
//! The models are not part of this repository: see `prerequisites::corpus`. `expected.csv` among them
//! holds, for each file, the verdict, the states and the rules fired that rumur 2022.08 answered with its
//! default options and without symmetry reduction.

use std::fs;
use std::path::Path;

use quotient_search::{SearchOptions, Silent};
use quotient_testkit::examples::load_murphi;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::search::check;
use quotient_testkit::verdict::{Answer, VerdictClass};

/// Where we answer differently on purpose: the file, our answer, and the rule of the language
/// behind it. `docs/guide/murphi.md` explains each to users.
const DIFFERENCES: [(&str, Expected, &str); 6] = [
    ("amp-with-typedef.m", (VerdictClass::Holds, Some((2, 2))), "`&` is bitwise on every range, also one with a name"),
    ("pipe-with-typedef.m", (VerdictClass::Holds, Some((2, 2))), "`|` is bitwise on every range, also one with a name"),
    ("unicode-div.m", (VerdictClass::Holds, Some((2, 2))), "`÷` is an operator, as in later versions of rumur"),
    ("unicode-mul.m", (VerdictClass::Holds, Some((2, 2))), "`×` is an operator, as in later versions of rumur"),
    ("mod-neg-1.m", (VerdictClass::Holds, Some((2, 2))), "arithmetic is in 64 bits whatever the types of the model"),
    ("differing-type-return2.m", (VerdictClass::Range, Some((2, 1))), "a function returns a value of its result type"),
];

/// The verdict, and states and rules fired unless the model is rejected.
type Expected = (VerdictClass, Option<(u64, u64)>);

/// The files and recorded answers. The last two columns are not needed, so that the quotes in the
/// last one do not matter.
fn recorded(folder: &Path) -> Vec<(String, Expected)> {
    let table = fs::read_to_string(folder.join("expected.csv")).expect("expected.csv can be read");
    let row = |line: &str| {
        let mut columns = line.split(',');
        let mut column = || columns.next().unwrap_or_else(|| panic!("too few columns in `{line}`"));
        let (file, word, states, rules_fired) = (column(), column(), column(), column());
        let class = VerdictClass::from_word(word).unwrap_or_else(|| panic!("unknown verdict in `{line}`"));
        let counts = (!states.is_empty()).then(|| {
            let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("no number in `{line}`"));
            (number(states), number(rules_fired))
        });
        (file.to_owned(), (class, counts))
    };
    table.lines().skip(1).filter(|line| !line.is_empty()).map(row).collect()
}

/// Our answer, with what there is to say about it.
fn answer(folder: &Path, file: &str) -> (Expected, String) {
    let bytes = fs::read(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let model = match load_murphi(file, &String::from_utf8_lossy(&bytes), &[]) {
        Ok(model) => model,
        Err(messages) => return ((VerdictClass::Rejected, None), messages),
    };
    let report =
        check(&model, &SearchOptions::default(), &mut Silent).unwrap_or_else(|error| panic!("{file}: {error}"));
    let found = Answer::of(&model, &report);
    ((found.class, Some((found.states, found.rules_fired))), found.subject.unwrap_or_default())
}

#[test]
fn real_models_get_the_answers_of_rumur() {
    let Some(folder) = corpus("murphi", "real models against the answers of rumur") else { return };
    let rows = recorded(&folder);
    for (file, ..) in &DIFFERENCES {
        assert!(rows.iter().any(|(name, _)| name == file), "{file} is not in the corpus");
    }
    let wrong: Vec<String> = map_on_workers(2, &rows, |(file, recorded)| {
        let difference = DIFFERENCES.iter().find(|(name, ..)| name == file);
        let (found, message) = answer(&folder, file);
        match difference {
            Some((_, expected, reason)) if found != *expected => {
                Some(format!("{file}: {found:?}, not {expected:?} as it should be since {reason}: {message}"))
            }
            None if found != *recorded => Some(format!("{file}: {found:?}, rumur {recorded:?}: {message}")),
            _ => None,
        }
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
