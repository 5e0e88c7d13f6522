//! SPIN's never claims as `spin -f` prints them: states are labels, each with a loop of guarded jumps, and those whose label
//! starts with `accept` are accepting.
//!
//! `atomic { guard -> assert(!guard) }` ends the claim, which violates it: it is a jump to a state that accepts everything.
//! Conditions may only consist of names, constants and connectives.

use super::FormatError;
use super::scanner::{Condition, DEPTH_LIMIT, Scanner, and, literal, not, or};
use quotient_temporal::automaton::{Automaton, Cube, StateId, Transition};
use quotient_temporal::formula::Atom;
use rustc_hash::FxHashMap;

/// Reads a never claim. The names are those of the atoms, by number; others are refused.
///
/// # Errors
/// If the text is not a never claim in the form that SPIN prints.
pub fn read(text: &str, atoms: &[String]) -> Result<Automaton, FormatError> {
    let mut reader = Reader { scanner: Scanner::new(text), atoms, labels: FxHashMap::default(), accepting: Vec::new() };
    reader.claim()
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    atoms: &'a [String],
    labels: FxHashMap<String, StateId>,
    accepting: Vec<bool>,
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Reader<'_> {
    fn state(&mut self, label: &str) -> StateId {
        let next = self.labels.len() as StateId;
        let state = *self.labels.entry(label.to_owned()).or_insert(next);
        if state as usize == self.accepting.len() {
            self.accepting.push(label.starts_with("accept"));
        }
        state
    }
    fn claim(&mut self) -> Result<Automaton, FormatError> {
        self.scanner.expect("never")?;
        self.scanner.expect("{")?;
        let mut initial = None;
        let mut edges: Vec<(StateId, Cube, StateId)> = Vec::new();
        // Further labels of the same state.
        let mut defined: Vec<StateId> = Vec::new();
        let mut same: Vec<(StateId, StateId)> = Vec::new();
        while !self.scanner.take("}") {
            let label = self.scanner.take_while(is_name);
            if label.is_empty() {
                return self.scanner.error("expected a label");
            }
            self.scanner.expect(":")?;
            let state = self.state(label);
            defined.push(state);
            initial.get_or_insert(state);
            if self.scanner.take("skip") {
                edges.push((state, Cube::TRUE, state));
            } else if self.scanner.take("false") {
                // A claim that is stuck: there are no edges.
            } else if self.scanner.take("do") || self.scanner.take("if") {
                while self.scanner.take("::") {
                    let (condition, target) = self.guarded()?;
                    edges.extend(condition.into_iter().map(|cube| (state, cube, target)));
                }
                if !self.scanner.take("od") {
                    self.scanner.expect("fi")?;
                }
            } else {
                // `accept_init: T0_init: do …`
                let at = self.scanner.at;
                let next = self.scanner.take_while(is_name);
                let is_label = !next.is_empty() && self.scanner.rest().starts_with(':');
                self.scanner.at = at;
                if !is_label {
                    return self.scanner.error("expected `do`, `if`, `skip` or `false`");
                }
                let next = next.to_owned();
                let other = self.state(&next);
                same.push((state, other));
            }
            self.scanner.take(";");
        }
        // A claim that ends accepts whatever follows.
        if let Some(all) = self.labels.get("accept_all").filter(|state| !defined.contains(state)) {
            edges.push((*all, Cube::TRUE, *all));
        }
        // Several labels before a statement are one state, accepting if one of them is.
        let mut representative: Vec<StateId> = (0..self.accepting.len() as StateId).collect();
        for (state, other) in same {
            let (kept, dropped) = (representative[state as usize], representative[other as usize]);
            representative.iter_mut().filter(|state| **state == dropped).for_each(|state| *state = kept);
        }
        let mut numbers: FxHashMap<StateId, StateId> = FxHashMap::default();
        let mut accepting = Vec::new();
        for (label, kept) in representative.iter().enumerate() {
            let next = accepting.len() as StateId;
            let number = *numbers.entry(*kept).or_insert(next);
            if number == next {
                accepting.push(false);
            }
            accepting[number as usize] |= self.accepting[label];
        }
        let number = |state: StateId| numbers[&representative[state as usize]];
        let mut automaton = Automaton {
            atoms: (0..self.atoms.len() as u32).map(Atom).collect(),
            states: (accepting.len() as u32).max(1),
            initial: initial.into_iter().map(number).collect(),
            acceptance_sets: 1,
            transitions: edges
                .into_iter()
                .map(|(from, cube, to)| Transition {
                    from: number(from),
                    to: number(to),
                    cube,
                    acceptance: u64::from(accepting[number(from) as usize]),
                })
                .collect(),
        };
        automaton.normalise();
        Ok(automaton)
    }
    /// `guard -> goto label`, or the end of the claim.
    fn guarded(&mut self) -> Result<(Condition, StateId), FormatError> {
        if self.scanner.take("atomic") {
            self.scanner.expect("{")?;
            let condition = self.disjunction(0)?;
            self.scanner.expect("->")?;
            self.scanner.expect("assert")?;
            self.scanner.expect("(")?;
            self.disjunction(0)?;
            self.scanner.expect(")")?;
            self.scanner.expect("}")?;
            // SPIN prints this state, or else it is understood.
            return Ok((condition, self.state("accept_all")));
        }
        let condition = self.disjunction(0)?;
        if condition.is_empty() && !self.scanner.rest().starts_with("->") {
            // `:: false` leads nowhere.
            return Ok((condition, 0));
        }
        self.scanner.expect("->")?;
        self.scanner.expect("goto")?;
        let label = self.scanner.take_while(is_name).to_owned();
        if label.is_empty() {
            return self.scanner.error("expected a label after `goto`");
        }
        Ok((condition, self.state(&label)))
    }
    fn disjunction(&mut self, depth: usize) -> Result<Condition, FormatError> {
        let mut all = self.conjunction(depth)?;
        while self.scanner.take("||") {
            let next = self.conjunction(depth)?;
            all = or(&all, &next);
        }
        Ok(all)
    }
    fn conjunction(&mut self, depth: usize) -> Result<Condition, FormatError> {
        let mut all = self.factor(depth)?;
        while self.scanner.take("&&") {
            let next = self.factor(depth)?;
            all = self.checked(and(&all, &next))?;
        }
        Ok(all)
    }
    fn checked(&self, condition: Option<Condition>) -> Result<Condition, FormatError> {
        condition.map_or_else(|| self.scanner.error("the condition is too large"), Ok)
    }
    fn factor(&mut self, depth: usize) -> Result<Condition, FormatError> {
        if depth > DEPTH_LIMIT {
            return self.scanner.error("the condition is nested too deeply");
        }
        if self.scanner.take("!") {
            let inner = self.factor(depth + 1)?;
            return self.checked(not(&inner));
        }
        if self.scanner.take("(") {
            let inner = self.disjunction(depth + 1)?;
            self.scanner.expect(")")?;
            return Ok(inner);
        }
        let start = self.scanner.at;
        match self.scanner.take_while(is_name) {
            "1" | "true" => Ok(vec![Cube::TRUE]),
            "0" | "false" => Ok(Vec::new()),
            name => match self.atoms.iter().position(|atom| atom == name) {
                Some(bit) if bit < 64 => Ok(literal(bit)),
                _ => self.scanner.error_at(start, format!("`{name}` is not an atom")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_temporal::lasso::Lasso;

    #[test]
    fn a_response_claim() {
        let text = "never  {    /* [] (p -> <> q) */\nT0_init:\n\tdo\n\t:: ((! ((p)) || (q))) -> goto accept_S20\n\t:: (1) -> goto T0_S27\n\tod;\naccept_S20:\n\tdo\n\t:: ((! ((p)) || (q))) -> goto T0_init\n\t:: (1) -> goto T0_S27\n\tod;\naccept_S27:\n\tdo\n\t:: ((q)) -> goto T0_init\n\t:: (1) -> goto T0_S27\n\tod;\nT0_S27:\n\tdo\n\t:: ((q)) -> goto accept_S20\n\t:: (1) -> goto T0_S27\n\t:: ((q)) -> goto accept_S27\n\tod;\n}\n";
        let claim = read(text, &["p".into(), "q".into()]).expect("a claim");
        assert_eq!(claim.states, 4);
        assert!(claim.accepts(&Lasso { prefix: vec![1], cycle: vec![1, 2] }));
        assert!(!claim.accepts(&Lasso { prefix: vec![2], cycle: vec![1] }));
    }

    #[test]
    fn a_claim_that_ends() {
        let text = "never  {    /* <> p */\nT0_init:\n\tdo\n\t:: atomic { ((p)) -> assert(!((p))) }\n\t:: (1) -> goto T0_init\n\tod;\naccept_all:\n\tskip\n}\n";
        let claim = read(text, &["p".into()]).expect("a claim");
        assert!(claim.accepts(&Lasso { prefix: vec![0, 1], cycle: vec![0] }));
        assert!(!claim.accepts(&Lasso { prefix: vec![], cycle: vec![0] }));
    }

    #[test]
    fn two_labels_are_one_state() {
        let text = "never  {    /* ! (<> p) */\naccept_init:\nT0_init:\n\tdo\n\t:: (! (p)) -> goto T0_init\n\tod;\n}\n";
        let claim = read(text, &["p".into()]).expect("a claim");
        assert_eq!(claim.states, 1);
        assert!(claim.accepts(&Lasso { prefix: vec![], cycle: vec![0] }));
        assert!(!claim.accepts(&Lasso { prefix: vec![0], cycle: vec![0, 1] }));
    }

    #[test]
    fn what_cannot_be_read_is_located() {
        let atoms = ["p".to_owned()];
        for (text, expected) in [
            ("x", "line 1: expected `never`"),
            ("never {\nT0:\n do :: q -> goto T0 od }", "line 3: `q` is not an atom"),
            ("never {\nT0: p }", "line 2: expected `do`, `if`, `skip` or `false`"),
        ] {
            assert_eq!(read(text, &atoms).expect_err(text).to_string(), expected);
        }
    }
}
