//! Prerequisites of some tests outside the project: peers (other tools, installed on the machine) and the corpus
//! (models by other authors, which are not part of this repository).
//!
//! A test that lacks one of them is skipped with a message, unless the environment variable `QUOTIENT_REQUIRE` requires
//! it: `peers`, `corpus`, both separated by a comma, or `1` for both. Then the test fails. Only this module decides
//! between the two.

use std::io::Write as _;
use std::path::PathBuf;

/// A prerequisite that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prerequisite {
    /// Another tool: rumur, SPIN, lbt, GAP, bliss, nauty, ABC, a C compiler.
    Peer,
    /// The corpus, in the folder named by `QUOTIENT_CORPUS`.
    Corpus,
}

/// The prerequisite of a test, if it is available. Otherwise the test should be skipped, and the reason is printed to
/// standard error.
///
/// # Panics
/// If it is missing, and `QUOTIENT_REQUIRE` requires it.
pub fn require_or_skip<Found>(
    kind: Prerequisite,
    purpose: &str,
    found: Result<Found, impl std::fmt::Display>,
) -> Option<Found> {
    match found {
        Ok(found) => Some(found),
        Err(reason) => {
            let required = std::env::var("QUOTIENT_REQUIRE").unwrap_or_default();
            assert!(
                !requires(&required, kind),
                "{purpose}: {reason}; QUOTIENT_REQUIRE={required} does not allow to skip"
            );
            // Not `eprintln!`, which the test harness would capture. A closed standard error must not fail a test.
            let _ = writeln!(std::io::stderr(), "skipped: {purpose}: {reason}");
            None
        }
    }
}

/// The folder of the corpus with the models of a language, such as `murphi`; `None` if the test should be skipped.
///
/// # Panics
/// If it is missing, and `QUOTIENT_REQUIRE` requires it. Also if `QUOTIENT_CORPUS` names a folder without one for the
/// language: whoever sets it wants the corpus to be used.
pub fn corpus(language: &str, purpose: &str) -> Option<PathBuf> {
    let named = std::env::var_os("QUOTIENT_CORPUS").filter(|folder| !folder.is_empty());
    let reason = "the corpus of models of others is not part of this repository; QUOTIENT_CORPUS can name its folder";
    let folder = require_or_skip(Prerequisite::Corpus, purpose, named.ok_or(reason))?;
    let folder = PathBuf::from(folder).join(language);
    assert!(folder.is_dir(), "{purpose}: QUOTIENT_CORPUS is set, but there is no folder {}", folder.display());
    Some(folder)
}

/// Whether a value of `QUOTIENT_REQUIRE` requires a kind of prerequisite.
///
/// # Panics
/// If the value is invalid: a typo must not turn the requirement off.
fn requires(value: &str, kind: Prerequisite) -> bool {
    value.split(',').map(str::trim).any(|word| match word {
        "1" => true,
        "peers" => kind == Prerequisite::Peer,
        "corpus" => kind == Prerequisite::Corpus,
        "" | "0" => false,
        _ => panic!("QUOTIENT_REQUIRE is `peers`, `corpus`, `peers,corpus` or `1`, not `{value}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required() {
        for (value, peer, corpus) in [
            ("", false, false),
            ("0", false, false),
            ("1", true, true),
            ("peers", true, false),
            ("corpus", false, true),
            ("peers, corpus", true, true),
        ] {
            assert_eq!(requires(value, Prerequisite::Peer), peer, "{value}");
            assert_eq!(requires(value, Prerequisite::Corpus), corpus, "{value}");
        }
    }

    #[test]
    #[should_panic(expected = "not `peer`")]
    fn a_slip_is_told() {
        requires("peer", Prerequisite::Corpus);
    }

    #[test]
    fn what_is_there_is_given() {
        assert_eq!(require_or_skip(Prerequisite::Peer, "a test", Ok::<_, String>(3)), Some(3));
    }
}
