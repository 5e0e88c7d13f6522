//! The Hanoi Omega-Automata format, version 1 (Babiak and others, The Hanoi omega-automata format, 2015).
//!
//! Written: generalised Büchi automata with labels and acceptance on transitions. Read: every automaton without universal
//! branching whose acceptance condition is a conjunction of `Inf`, with labels and acceptance on states or transitions, with
//! implicit labels, and with aliases. The rest is refused with its location.

use super::FormatError;
use super::scanner::{Condition, DEPTH_LIMIT, LIMIT, Scanner, and, literal, not, or};
use crate::automaton::{Automaton, Cube, StateId, Transition};
use crate::formula::Atom;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// An automaton with what the format says about it besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoaAutomaton {
    /// The automaton. Its atoms are numbered in the order of the names.
    pub automaton: Automaton,
    /// The names of the atoms.
    pub atom_names: Vec<String>,
    /// The name of the automaton, usually the formula.
    pub name: Option<String>,
}

/// Writes an automaton. The function gives the name of each atom.
pub fn write(automaton: &Automaton, name: Option<&str>, atom: &dyn Fn(Atom) -> String) -> String {
    let mut text = String::from("HOA: v1\n");
    // Writing to a string does not fail.
    let mut line = |arguments: std::fmt::Arguments<'_>| {
        let _ = text.write_fmt(arguments);
    };
    if let Some(name) = name {
        line(format_args!("name: {}\n", quoted(name)));
    }
    line(format_args!("tool: \"quotient\" \"{}\"\n", env!("CARGO_PKG_VERSION")));
    line(format_args!("States: {}\n", automaton.states));
    for state in &automaton.initial {
        line(format_args!("Start: {state}\n"));
    }
    line(format_args!("AP: {}", automaton.atoms.len()));
    for number in &automaton.atoms {
        line(format_args!(" {}", quoted(&atom(*number))));
    }
    let sets = automaton.acceptance_sets;
    match sets {
        0 => line(format_args!("\nacc-name: all\nAcceptance: 0 t\n")),
        1 => line(format_args!("\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n")),
        _ => {
            let condition: Vec<String> = (0..sets).map(|set| format!("Inf({set})")).collect();
            line(format_args!("\nacc-name: generalized-Buchi {sets}\nAcceptance: {sets} {}\n", condition.join("&")));
        }
    }
    line(format_args!("properties: trans-labels explicit-labels trans-acc\n--BODY--\n"));
    for state in 0..automaton.states {
        line(format_args!("State: {state}\n"));
        for transition in automaton.leaving(state) {
            line(format_args!("[{}] {}", label(transition.cube), transition.to));
            if transition.acceptance != 0 {
                let sets: Vec<String> =
                    (0..sets).filter(|set| transition.acceptance >> set & 1 == 1).map(|set| set.to_string()).collect();
                line(format_args!(" {{{}}}", sets.join(" ")));
            }
            line(format_args!("\n"));
        }
    }
    line(format_args!("--END--\n"));
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn label(cube: Cube) -> String {
    let literals: Vec<String> = (0..64)
        .filter_map(|bit| match (cube.positive >> bit & 1, cube.negative >> bit & 1) {
            (1, _) => Some(bit.to_string()),
            (_, 1) => Some(format!("!{bit}")),
            _ => None,
        })
        .collect();
    if literals.is_empty() { "t".to_owned() } else { literals.join("&") }
}

/// Reads the first automaton of a text.
///
/// # Errors
/// If the text is not in the format, or the automaton is not a generalised Büchi automaton of at most 64 atoms and
/// acceptance sets.
pub fn read(text: &str) -> Result<HoaAutomaton, FormatError> {
    let mut reader = Reader {
        scanner: Scanner::new(text),
        states: None,
        starts: Vec::new(),
        names: None,
        acceptance: None,
        aliases: FxHashMap::default(),
        name: None,
    };
    reader.header()?;
    reader.body()
}

/// More states are not read: they would not fit into memory, or the text is damaged.
const STATE_LIMIT: usize = 1 << 24;

/// The acceptance condition: a conjunction of `Inf`, some of complements of sets.
struct Acceptance {
    sets: usize,
    /// For each conjunct, the set and whether its complement is meant.
    conjuncts: Vec<(usize, bool)>,
    never: bool,
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    states: Option<usize>,
    starts: Vec<usize>,
    names: Option<Vec<String>>,
    acceptance: Option<Acceptance>,
    aliases: FxHashMap<String, Condition>,
    name: Option<String>,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

impl Reader<'_> {
    fn header(&mut self) -> Result<(), FormatError> {
        if !self.scanner.take("HOA:") {
            return self.scanner.error("expected `HOA: v1` at the beginning");
        }
        if self.scanner.take_while(is_word) != "v1" {
            return self.scanner.error("only version 1 of the format is known");
        }
        loop {
            if self.scanner.take("--BODY--") {
                return Ok(());
            }
            let start = self.scanner.at;
            let word = self.scanner.take_while(is_word);
            if word.is_empty() {
                return self.scanner.error("expected a header item or `--BODY--`");
            }
            self.scanner.expect(":")?;
            match word {
                "States" => {
                    let states = self.scanner.number()?;
                    if states > STATE_LIMIT {
                        return self.scanner.error("there are too many states");
                    }
                    self.states = Some(states);
                }
                "Start" => {
                    let state = self.state()?;
                    if self.scanner.take("&") {
                        return self.scanner.error("universal branching is not supported");
                    }
                    self.starts.push(state);
                }
                "AP" => {
                    let count = self.scanner.number()?;
                    if count > 64 {
                        return self.scanner.error("at most 64 atomic propositions are supported");
                    }
                    let mut names = Vec::new();
                    for _ in 0..count {
                        names.push(self.string()?);
                    }
                    self.names = Some(names);
                }
                "Acceptance" => {
                    let sets = self.scanner.number()?;
                    if sets > 64 {
                        return self.scanner.error("at most 64 acceptance sets are supported");
                    }
                    let mut acceptance = Acceptance { sets, conjuncts: Vec::new(), never: false };
                    self.condition(&mut acceptance, 0)?;
                    self.acceptance = Some(acceptance);
                }
                "Alias" => {
                    self.scanner.expect("@")?;
                    let alias = self.scanner.take_while(is_word).to_owned();
                    let label = self.label(0)?;
                    self.aliases.insert(alias, label);
                }
                "name" => self.name = Some(self.string()?),
                // Items in lower case may be ignored, others change the meaning.
                _ if word.starts_with(|c: char| c.is_ascii_lowercase()) => self.skip_item()?,
                _ => return self.scanner.error_at(start, format!("the header item `{word}` is not supported")),
            }
        }
    }
    fn string(&mut self) -> Result<String, FormatError> {
        self.scanner.expect("\"")?;
        let start = self.scanner.at;
        let mut value = String::new();
        let mut escaped = false;
        for (offset, character) in self.scanner.text[start..].char_indices() {
            match character {
                _ if escaped => {
                    value.push(character);
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    self.scanner.at = start + offset + 1;
                    return Ok(value);
                }
                _ => value.push(character),
            }
        }
        self.scanner.error_at(start, "the string is never closed")
    }
    /// Skips the values of a header item.
    fn skip_item(&mut self) -> Result<(), FormatError> {
        loop {
            let rest = self.scanner.rest();
            if rest.starts_with('"') {
                self.string()?;
                continue;
            }
            // The next item is a word with a colon.
            let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
            if rest.is_empty()
                || rest.starts_with("--BODY--")
                || (!word.is_empty() && rest[word.len()..].starts_with(':'))
            {
                return Ok(());
            }
            let length = rest.chars().next().map_or(0, char::len_utf8);
            self.scanner.at += word.len().max(length);
        }
    }
    /// A conjunction of `Inf`.
    fn condition(&mut self, acceptance: &mut Acceptance, depth: usize) -> Result<(), FormatError> {
        if depth > DEPTH_LIMIT {
            return self.scanner.error("the acceptance condition is nested too deeply");
        }
        loop {
            if self.scanner.take("(") {
                self.condition(acceptance, depth + 1)?;
                self.scanner.expect(")")?;
            } else {
                let start = self.scanner.at;
                match self.scanner.take_while(|c| c.is_ascii_alphabetic()) {
                    "t" => {}
                    "f" => acceptance.never = true,
                    "Inf" => {
                        self.scanner.expect("(")?;
                        let complement = self.scanner.take("!");
                        let set = self.scanner.number()?;
                        if set >= acceptance.sets {
                            return self.scanner.error(format!("there is no acceptance set {set}"));
                        }
                        acceptance.conjuncts.push((set, complement));
                        self.scanner.expect(")")?;
                    }
                    "Fin" => {
                        return self
                            .scanner
                            .error_at(start, "only generalised Büchi acceptance is supported, without `Fin`");
                    }
                    _ => return self.scanner.error_at(start, "expected an acceptance condition"),
                }
            }
            if self.scanner.rest().starts_with('|') {
                return self.scanner.error("only generalised Büchi acceptance is supported, without `|`");
            }
            if !self.scanner.take("&") {
                if acceptance.conjuncts.len() > 64 {
                    return self.scanner.error("the acceptance condition is too long");
                }
                return Ok(());
            }
        }
    }
    /// A label: a disjunction.
    fn label(&mut self, depth: usize) -> Result<Condition, FormatError> {
        if depth > DEPTH_LIMIT {
            return self.scanner.error("the label is nested too deeply");
        }
        let mut all = self.conjunction(depth)?;
        while self.scanner.take("|") {
            let next = self.conjunction(depth)?;
            all = self.checked(Some(or(&all, &next)))?;
        }
        Ok(all)
    }
    fn conjunction(&mut self, depth: usize) -> Result<Condition, FormatError> {
        let mut all = self.factor(depth)?;
        while self.scanner.take("&") {
            let next = self.factor(depth)?;
            all = self.checked(and(&all, &next))?;
        }
        Ok(all)
    }
    fn checked(&self, condition: Option<Condition>) -> Result<Condition, FormatError> {
        match condition {
            Some(condition) if condition.len() <= LIMIT => Ok(condition),
            _ => self.scanner.error("the label is too large"),
        }
    }
    fn factor(&mut self, depth: usize) -> Result<Condition, FormatError> {
        if depth > DEPTH_LIMIT {
            return self.scanner.error("the label is nested too deeply");
        }
        if self.scanner.take("!") {
            let inner = self.factor(depth + 1)?;
            return self.checked(not(&inner));
        }
        if self.scanner.take("(") {
            let inner = self.label(depth + 1)?;
            self.scanner.expect(")")?;
            return Ok(inner);
        }
        if self.scanner.take("@") {
            let start = self.scanner.at;
            let alias = self.scanner.take_while(is_word);
            return match self.aliases.get(alias) {
                Some(condition) => Ok(condition.clone()),
                None => self.scanner.error_at(start, format!("the alias `@{alias}` is not defined")),
            };
        }
        if self.scanner.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let start = self.scanner.at;
            let number = self.scanner.number()?;
            // An alias may come before the atomic propositions.
            if number >= self.names.as_ref().map_or(64, Vec::len) {
                return self.scanner.error_at(start, format!("there is no atomic proposition {number}"));
            }
            return Ok(literal(number));
        }
        match self.scanner.take_while(|c| c.is_ascii_alphabetic()) {
            "t" => Ok(vec![Cube::TRUE]),
            "f" => Ok(Vec::new()),
            _ => self.scanner.error("expected a label"),
        }
    }
    /// `{0 2}` as bits, if it is here.
    fn sets(&mut self, sets: usize) -> Result<Option<u64>, FormatError> {
        if !self.scanner.take("{") {
            return Ok(None);
        }
        let mut bits = 0;
        while !self.scanner.take("}") {
            let set = self.scanner.number()?;
            if set >= sets {
                return self.scanner.error(format!("there is no acceptance set {set}"));
            }
            bits |= 1 << set;
        }
        Ok(Some(bits))
    }
    fn body(mut self) -> Result<HoaAutomaton, FormatError> {
        let names = self.names.clone().unwrap_or_default();
        let Some(acceptance) = self.acceptance.take() else {
            return self.scanner.error("the header has no `Acceptance`");
        };
        let mut transitions: Vec<Transition> = Vec::new();
        let mut largest = self.starts.iter().copied().max().unwrap_or(0);
        // What a conjunct asks for, as a set of its own.
        let translated = |bits: u64| -> u64 {
            acceptance
                .conjuncts
                .iter()
                .enumerate()
                .map(|(position, (set, complement))| u64::from((bits >> set & 1 == 1) != *complement) << position)
                .sum()
        };
        loop {
            if self.scanner.take("--END--") {
                break;
            }
            if self.scanner.take("--ABORT--") {
                return self.scanner.error("the automaton was aborted by its writer");
            }
            self.scanner.expect("State:")?;
            let state_label = if self.scanner.take("[") { Some(self.bracketed()?) } else { None };
            let from = self.state()?;
            largest = largest.max(from);
            if self.scanner.rest().starts_with('"') {
                self.string()?;
            }
            let state_sets = self.sets(acceptance.sets)?.unwrap_or(0);
            let mut implicit = 0_u64;
            loop {
                let rest = self.scanner.rest();
                let labelled = self.scanner.take("[");
                if !labelled && !rest.starts_with(|c: char| c.is_ascii_digit()) {
                    break;
                }
                let label = match (labelled, &state_label) {
                    (true, None) => self.bracketed()?,
                    (true, Some(_)) => return self.scanner.error("the state has a label already"),
                    (false, Some(label)) => label.clone(),
                    (false, None) => {
                        // Without labels there is one edge for each letter.
                        if names.len() > 20 || implicit >> names.len() != 0 {
                            return self.scanner.error("there are more edges than letters");
                        }
                        let letter = implicit;
                        implicit += 1;
                        vec![Cube { positive: letter, negative: !letter & crate::automaton::mask(names.len()) }]
                    }
                };
                let to = self.state()?;
                if self.scanner.take("&") {
                    return self.scanner.error("universal branching is not supported");
                }
                largest = largest.max(to);
                let sets = self.sets(acceptance.sets)?.unwrap_or(0) | state_sets;
                let (from, to) = (from as StateId, to as StateId);
                transitions.extend(label.into_iter().map(|cube| Transition {
                    from,
                    to,
                    cube,
                    acceptance: translated(sets),
                }));
            }
        }
        let states = self.states.unwrap_or(largest + 1);
        if largest >= states && !(self.starts.is_empty() && transitions.is_empty()) {
            return self.scanner.error(format!("there is no state {largest}"));
        }
        if acceptance.never {
            transitions.clear();
        }
        let mut automaton = Automaton {
            atoms: (0..names.len() as u32).map(Atom).collect(),
            states: (states as u32).max(1),
            initial: self.starts.iter().map(|state| *state as StateId).collect(),
            acceptance_sets: acceptance.conjuncts.len() as u32,
            transitions,
        };
        automaton.normalise();
        Ok(HoaAutomaton { automaton, atom_names: names, name: self.name })
    }
    fn bracketed(&mut self) -> Result<Condition, FormatError> {
        let label = self.label(0)?;
        self.scanner.expect("]")?;
        Ok(label)
    }
    fn state(&mut self) -> Result<usize, FormatError> {
        let state = self.scanner.number()?;
        if state >= STATE_LIMIT || self.states.is_some_and(|states| state >= states) {
            return self.scanner.error(format!("there is no state {state}"));
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formulas;
    use crate::random::{FormulaShape, Random, random_formula, random_lasso};
    use crate::syntax::parse_plain;
    use crate::translate::translate;

    #[test]
    fn what_is_written_is_read_again() {
        let mut random = Random::new(71);
        for _ in 0..300 {
            let mut pool = Formulas::new();
            let formula = random_formula(&mut pool, &mut random, &FormulaShape::with_past(3, 8));
            let automaton = translate(&mut pool, formula).expect("it is small");
            let text = write(&automaton, Some("a \"name\""), &|Atom(number)| format!("p{number}"));
            let read = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read.name.as_deref(), Some("a \"name\""));
            let names: Vec<String> = automaton.atoms.iter().map(|atom| format!("p{}", atom.0)).collect();
            assert_eq!(read.atom_names, names);
            // Atoms are numbered anew.
            assert_eq!(Automaton { atoms: automaton.atoms.clone(), ..read.automaton }, automaton, "{text}");
        }
    }

    #[test]
    fn the_form_of_a_small_automaton() {
        let mut pool = Formulas::new();
        let formula = parse_plain(&mut pool, "G F p0 & G !p1").expect("a formula");
        let automaton = translate(&mut pool, formula).expect("it is small");
        let text = write(&automaton, Some("GFa & G!b"), &|Atom(number)| ["a", "b"][number as usize].to_owned());
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text,
            format!(
                "HOA: v1\nname: \"GFa & G!b\"\ntool: \"quotient\" \"{version}\"\nStates: 1\nStart: 0\nAP: 2 \"a\" \"b\"\n\
                 acc-name: Buchi\nAcceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels trans-acc\n--BODY--\n\
                 State: 0\n[!1] 0\n[0&!1] 0 {{0}}\n--END--\n"
            )
        );
    }

    /// Examples in the style of the format's description: state labels, implicit labels, aliases, acceptance on states.
    #[test]
    fn other_forms_mean_the_same() {
        let headers = "HOA: v1 States: 2 Start: 0 AP: 2 \"a\" \"b\" acc-name: Buchi Acceptance: 1 Inf(0)";
        let forms = [
            format!("{headers} --BODY-- State: 0 [0] 1 [!0] 0 State: 1 {{0}} [t] 0 --END--"),
            format!("{headers} Alias: @x 0 --BODY-- State: 0 [@x] 1 [!@x] 0 State: 1 [0|!0] 0 {{0}} --END--"),
            format!("{headers} properties: implicit-labels --BODY-- State: 0 0 1 0 1 State: 1 {{0}} 0 0 0 0 --END--"),
            format!(
                "{headers} tool: \"x\" \"1\" --BODY-- /* c */ State: 0 \"s\" [0&(1|!1)] 1 [!0] 0 State: 1 [t] 0 {{0}} --END--"
            ),
            headers.replace("Inf(0)", "Inf(!0)") + " --BODY-- State: 0 {0} [0] 1 [!0] 0 State: 1 [t] 0 --END--",
        ];
        let read: Vec<Automaton> =
            forms.iter().map(|text| super::read(text).unwrap_or_else(|e| panic!("{e}: {text}")).automaton).collect();
        let mut random = Random::new(72);
        for _ in 0..200 {
            let lasso = random_lasso(&mut random, 2);
            for automaton in &read[1..] {
                assert_eq!(automaton.accepts(&lasso), read[0].accepts(&lasso));
            }
        }
        let state_labels =
            super::read("HOA: v1 Start: 0 AP: 1 \"a\" Acceptance: 0 t --BODY-- State: [0] 0 1 State: [!0] 1 0 --END--")
                .expect("state labels");
        assert_eq!(state_labels.automaton.states, 2);
        assert_eq!(state_labels.automaton.transitions.len(), 2);
    }

    #[test]
    fn what_cannot_be_read_is_located() {
        for (text, expected) in [
            ("", "line 1: expected `HOA: v1` at the beginning"),
            ("HOA: v2", "line 1: only version 1 of the format is known"),
            (
                "HOA: v1\nAcceptance: 2 Fin(0)&Inf(1)",
                "line 2: only generalised Büchi acceptance is supported, without `Fin`",
            ),
            (
                "HOA: v1\nAcceptance: 2 Inf(0)|Inf(1)",
                "line 2: only generalised Büchi acceptance is supported, without `|`",
            ),
            ("HOA: v1\nStart: 0&1", "line 2: universal branching is not supported"),
            ("HOA: v1\nFoo: 1", "line 2: the header item `Foo` is not supported"),
            ("HOA: v1 --BODY-- --END--", "line 1: the header has no `Acceptance`"),
            (
                "HOA: v1 Acceptance: 0 t AP: 1 \"a\" --BODY--\nState: 0\n[1] 0 --END--",
                "line 3: there is no atomic proposition 1",
            ),
            ("HOA: v1 States: 1 Acceptance: 0 t --BODY--\nState: 0\n[t] 1 --END--", "line 3: there is no state 1"),
            (
                "HOA: v1 Acceptance: 1 Inf(0) --BODY-- State: 0 [t] 0 {3} --END--",
                "line 1: there is no acceptance set 3",
            ),
            ("HOA: v1 name: \"x", "line 1: the string is never closed"),
        ] {
            assert_eq!(read(text).expect_err(text).to_string(), expected, "{text}");
        }
        let deep =
            format!("HOA: v1 AP: 1 \"a\" Acceptance: 0 t --BODY-- State: 0 [{}0] 0 --END--", "(!".repeat(100_000));
        assert!(read(&deep).is_err());
    }

    #[test]
    fn damaged_texts_are_read_or_refused() {
        let mut random = Random::new(73);
        let text = "HOA: v1\nStates: 2\nStart: 0\nAP: 2 \"a\" \"b\"\nAlias: @x 0&!1\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0 {0}\n[@x|1] 1\n[t] 0\nState: 1\n[0] 1 {0}\n--END--\n";
        for _ in 0..5000 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..1 + random.below(3) {
                if bytes.is_empty() {
                    break;
                }
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[at] = b" 0123456789[]{}!&|@tf:\""[random.below(23)],
                    1 => {
                        bytes.remove(at);
                    }
                    _ => bytes.truncate(at.max(1)),
                }
            }
            if let Ok(text) = String::from_utf8(bytes) {
                let _ = read(&text);
            }
        }
    }
}
