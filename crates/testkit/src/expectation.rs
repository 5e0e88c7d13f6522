//! Expected results in the headers of model files: comment lines at the top of the file, such as
//!
//! ```text
//! -- expect: violated invariant "coherence"
//! -- deadlock: off
//! -- states: 852
//! -- rules fired: 3042
//! -- with N=4, M=2: holds, states 21472, rules fired 89112
//! -- peer: none, rumur knows no multisets
//! ```
//!
//! `models/README.md` explains them. A line that looks like one of these but is malformed is an error: an expectation
//! must not be skipped because of a typo.

use quotient_ir::DeadlockMode;

use crate::verdict::VerdictClass;

/// The header of a model file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The results for the constants in the file, then those for other constants.
    pub cases: Vec<Case>,
    /// What counts as a deadlock.
    pub deadlock: DeadlockMode,
    /// Why rumur cannot read the model, if it cannot.
    pub no_peer: Option<String>,
    /// The states for the constants in the file without what nothing can notice, if there is something.
    pub sliced_states: Option<u64>,
}

/// The expected result for some values of the constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The constants that differ from the file.
    pub constants: Vec<(String, String)>,
    /// The verdict.
    pub verdict: ExpectedVerdict,
    /// States stored by a breadth-first search.
    pub states: u64,
    /// Rules fired by a breadth-first search.
    pub rules_fired: u64,
}

/// An expected verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedVerdict {
    /// What is violated, if anything is.
    pub class: VerdictClass,
    /// The name of the violated property, or the text of the assertion or error statement.
    pub subject: Option<String>,
}

impl Header {
    /// Reads the header of a model: the comment lines before anything else.
    ///
    /// # Errors
    /// A description of what is missing or malformed.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut verdict = None;
        let mut states = None;
        let mut rules_fired = None;
        let mut deadlock = None;
        let mut no_peer = None;
        let mut sliced_states = None;
        let mut others = Vec::new();
        for line in text.lines().map_while(|line| line.strip_prefix("--")) {
            let line = line.trim();
            let unreadable = |what: &str| format!("{what} in the header line `{line}`");
            if let Some(value) = line.strip_prefix("expect:") {
                let value = read_verdict(value.trim()).ok_or_else(|| unreadable("no verdict"))?;
                set_once(&mut verdict, value, line)?;
            } else if let Some(value) = line.strip_prefix("states:") {
                set_once(&mut states, read_number(value).ok_or_else(|| unreadable("no number"))?, line)?;
            } else if let Some(value) = line.strip_prefix("sliced states:") {
                set_once(&mut sliced_states, read_number(value).ok_or_else(|| unreadable("no number"))?, line)?;
            } else if let Some(value) = line.strip_prefix("rules fired:") {
                set_once(&mut rules_fired, read_number(value).ok_or_else(|| unreadable("no number"))?, line)?;
            } else if let Some(value) = line.strip_prefix("deadlock:") {
                let mode = match value.trim() {
                    "off" => DeadlockMode::Off,
                    "stuck" => DeadlockMode::Stuck,
                    "stuttering" => DeadlockMode::Stuttering,
                    _ => return Err(unreadable("no deadlock mode")),
                };
                set_once(&mut deadlock, mode, line)?;
            } else if let Some(value) = line.strip_prefix("peer:") {
                let reason = value.trim().strip_prefix("none,").ok_or_else(|| unreadable("not `none` and a reason"))?;
                set_once(&mut no_peer, reason.trim().to_owned(), line)?;
            } else if let Some((constants, result)) = line
                .strip_prefix("with ")
                .and_then(|rest| rest.split_once(": "))
                .filter(|(names, _)| names.contains('='))
            {
                let other = (|| Some((read_constants(constants)?, read_result(result)?)))();
                others.push(other.ok_or_else(|| unreadable("not constants, states and rules fired"))?);
            }
        }
        let missing = |what: &str| format!("the header has no line `-- {what}: …`");
        let first = Case {
            constants: Vec::new(),
            verdict: verdict.ok_or_else(|| missing("expect"))?,
            states: states.ok_or_else(|| missing("states"))?,
            rules_fired: rules_fired.ok_or_else(|| missing("rules fired"))?,
        };
        let other = |(constants, (verdict, states, rules_fired)): (_, (Option<ExpectedVerdict>, _, _))| Case {
            constants,
            verdict: verdict.unwrap_or_else(|| first.verdict.clone()),
            states,
            rules_fired,
        };
        let others: Vec<Case> = others.into_iter().map(other).collect();
        let cases = [vec![first], others].concat();
        Ok(Self { cases, deadlock: deadlock.unwrap_or_default(), no_peer, sliced_states })
    }
}

impl Case {
    /// A label for messages: the constants that differ.
    pub fn label(&self) -> String {
        let constants: Vec<String> = self.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if constants.is_empty() { "as it is".into() } else { format!("with {}", constants.join(", ")) }
    }
}

/// The text of a model with other values for some of its constants, for tools that cannot set them. Each must be
/// declared on its own line, as in `  N: 3;  -- nodes`.
///
/// # Errors
/// The constant that is not declared in that way exactly once.
pub fn with_constants(text: &str, constants: &[(String, String)]) -> Result<String, String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (name, value) in constants {
        let mut found = 0;
        for line in &mut lines {
            let after = line.trim_start().strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix(": "));
            if let Some((_, rest)) = after.and_then(|declaration| declaration.split_once(';')) {
                *line = format!("  {name}: {value};{rest}");
                found += 1;
            }
        }
        if found != 1 {
            return Err(format!("{found} lines declare the constant `{name}`"));
        }
    }
    Ok(lines.join("\n") + "\n")
}

fn set_once<T>(slot: &mut Option<T>, value: T, line: &str) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("`{line}` says again what the header has said before")),
    }
}

fn read_number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// `holds`, or `violated` with the subject, and possibly a name in quotes.
fn read_verdict(text: &str) -> Option<ExpectedVerdict> {
    if text == "holds" {
        return Some(ExpectedVerdict { class: VerdictClass::Holds, subject: None });
    }
    let violated = text.strip_prefix("violated ")?;
    let (word, subject) = match violated.split_once(" \"") {
        Some((word, rest)) => (word, Some(rest.strip_suffix('"')?.to_owned())),
        None => (violated, None),
    };
    let class = VerdictClass::from_word(word)?;
    let is_violation = !matches!(class, VerdictClass::Holds | VerdictClass::Rejected | VerdictClass::Inconclusive);
    is_violation.then_some(ExpectedVerdict { class, subject })
}

/// `N=4, M=2`.
fn read_constants(text: &str) -> Option<Vec<(String, String)>> {
    let pair = |text: &str| text.trim().split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.split(',').map(pair).collect()
}

/// `states 21472, rules fired 89112`, with a verdict before it if it differs.
fn read_result(text: &str) -> Option<(Option<ExpectedVerdict>, u64, u64)> {
    let (before, rules_fired) = text.rsplit_once(", rules fired ")?;
    let (verdict, states) = match before.rsplit_once(", states ") {
        Some((verdict, states)) => (Some(read_verdict(verdict)?), states),
        None => (None, before.strip_prefix("states ")?),
    };
    Some((verdict, read_number(states)?, read_number(rules_fired)?))
}

#[cfg(test)]
mod tests {
    use quotient_ir::DeadlockMode;

    use super::{Header, with_constants};
    use crate::verdict::VerdictClass;

    const TEXT: &str = "-- A model.\n-- With more: words.\n--\n-- expect: violated invariant \"a \"b\"\"\n\
        -- states: 12\n-- rules fired: 34\n-- with N=4, M=true: states 56, rules fired 78\n\
        -- with N=5: holds, states 9, rules fired 0\n-- deadlock: off\n-- peer: none, a reason\n\n\
        -- states: 7\nconst\n  N: 3;  -- nodes\n  M: false;\n  NN: N;\n";

    #[test]
    fn headers_are_read() {
        let header = Header::read(TEXT).expect("a header");
        assert_eq!(header.deadlock, DeadlockMode::Off);
        assert_eq!(header.no_peer.as_deref(), Some("a reason"));
        let [first, second, third] = header.cases.as_slice() else { panic!("three cases") };
        assert_eq!((first.states, first.rules_fired), (12, 34));
        assert_eq!(first.verdict.class, VerdictClass::Invariant);
        assert_eq!(first.verdict.subject.as_deref(), Some("a \"b\""));
        assert_eq!(second.verdict, first.verdict);
        assert_eq!((second.states, second.rules_fired), (56, 78));
        assert_eq!(second.label(), "with N=4, M=true");
        assert_eq!(third.verdict.class, VerdictClass::Holds);
        assert_eq!((third.states, third.rules_fired), (9, 0));
    }

    #[test]
    fn slips_in_headers_are_errors() {
        let good = "-- expect: holds\n-- states: 1\n-- rules fired: 2\n";
        assert!(Header::read(good).is_ok());
        for bad in [
            "",
            "-- expect: holds\n-- states: 1\n",
            "-- expect: hold\n-- states: 1\n-- rules fired: 2\n",
            "-- expect: violated ok\n-- states: 1\n-- rules fired: 2\n",
            "-- expect: holds\n-- states: many\n-- rules fired: 2\n",
        ] {
            assert!(Header::read(bad).is_err(), "{bad}");
        }
        for bad in [
            "-- with N=4: states 3",
            "-- with N=4: hold, states 3, rules fired 4",
            "-- deadlock: no",
            "-- peer: none",
            "-- states: 1",
        ] {
            assert!(Header::read(&format!("{good}{bad}\n")).is_err(), "{bad}");
        }
    }

    #[test]
    fn constants_are_replaced_in_the_text() {
        let constants = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let text = with_constants(TEXT, &constants(&[("N", "7"), ("M", "true")])).expect("a text");
        assert!(text.ends_with("const\n  N: 7;  -- nodes\n  M: true;\n  NN: N;\n"), "{text}");
        assert!(with_constants(TEXT, &constants(&[("K", "7")])).is_err());
    }
}
