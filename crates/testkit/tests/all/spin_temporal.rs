//! Formulas, claims and labels of Promela models about whole runs, compared with SPIN's verifiers: `pan -a`, `pan -a -f`
//! and `pan -l`, built without partial-order reduction.

use std::time::Duration;

use quotient::{FairnessMode, Language, Limits, Model, Options, Plan, Subject, Symmetry, Verdict};
use quotient_ir::{Action, TraceStep};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_promela::{RunClaim, random_promela_runs};
use quotient_testkit::spin::Spin;
use quotient_testkit::switches::number_from;

/// What is asked about a model.
#[derive(Clone, Copy, Debug)]
struct Question {
    /// The name of the property.
    name: &'static str,
    fair: bool,
}

impl Question {
    fn directives(self) -> &'static [&'static str] {
        if self.name == "progress" { &["-DNP", "-DNFAIR=4"] } else { &["-DNFAIR=4"] }
    }
    fn arguments(self) -> Vec<&'static str> {
        let mut arguments = match self.name {
            "progress" => vec!["-l"],
            // SPIN gives the only claim another name.
            "never" | "acceptance" => vec!["-a"],
            name => vec!["-a", "-N", name],
        };
        if self.fair {
            arguments.push("-f");
        }
        arguments
    }
}

/// What is found here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    violated: bool,
    /// Whether the run that violates the property ends, so that it stays in its last state.
    by_end: bool,
}

/// Whether a property is violated here; nothing if the model does something wrong on its own, or is too large.
fn violated_here(text: &str, question: Question) -> Result<Option<Answer>, String> {
    let model = Model::from_text("model.pml", text, Language::Promela).map_err(|error| error.to_string())?;
    let fairness = if question.fair { FairnessMode::Weak } else { FairnessMode::None };
    let mut verdicts = Vec::new();
    for symmetry in [Symmetry::Auto, Symmetry::Off] {
        let options =
            Options::default().property(question.name).property("errors").fairness(fairness).symmetry(symmetry);
        let options = options.limits(Limits {
            max_states: Some(20_000),
            timeout: Some(Duration::from_secs(10)),
            ..Limits::default()
        });
        let plan = Plan::new(&model, &options).map_err(|error| error.to_string())?;
        let report = plan.run().map_err(|error| error.to_string())?;
        let found = |named: &dyn Fn(&Subject) -> bool| report.properties.iter().find(|it| named(&it.subject));
        let is_asked = |subject: &Subject| match subject {
            Subject::Property(id) => plan.model().ir().properties[*id].name.as_deref() == Some(question.name),
            _ => false,
        };
        let errors = found(&|subject| matches!(subject, Subject::Errors)).map(|it| it.verdict);
        let asked = found(&is_asked).ok_or("the property is not in the report")?;
        let is_end = |step: &TraceStep| match step.action {
            Action::Rule(id) => plan.model().ir().rules[id].name.as_deref() == Some("valid end"),
            Action::Start(_) => false,
        };
        let by_end = asked.trace.as_ref().is_some_and(|trace| {
            trace.cycle.is_none_or(|begin| trace.steps[(begin + 1).min(trace.steps.len())..].iter().all(is_end))
        });
        verdicts.push(match (errors, asked.verdict) {
            (Some(Verdict::Violated), _) => return Ok(None),
            (_, Verdict::Violated) => Some(Answer { violated: true, by_end }),
            (Some(Verdict::Holds), Verdict::Holds) => Some(Answer { violated: false, by_end: false }),
            _ => None,
        });
    }
    let violated: Vec<bool> = verdicts.iter().flatten().map(|answer| answer.violated).collect();
    if let [with, without] = violated[..]
        && with != without
    {
        return Err(format!("violated with symmetries: {with}, without: {without}"));
    }
    Ok(verdicts[1])
}

/// Whether SPIN finds a violation.
fn violated_there(spin: &Spin, text: &str, question: Question) -> Option<bool> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pml");
    std::fs::write(&path, text).expect("a program can be written");
    spin.violates_runs(&path, question.directives(), &question.arguments(), Duration::from_secs(20)).ok()
}

/// Compares random programs. Returns how many could be compared, and how many of these are violated.
fn compare(purpose: &str, seeds: std::ops::Range<u64>, claim: RunClaim, question: Question) -> Option<(usize, usize)> {
    let spin = Spin::find_or_skip(purpose)?;
    let seeds: Vec<u64> = seeds.collect();
    let found = map_on_workers(2, &seeds, |seed| {
        let text = random_promela_runs(*seed, claim);
        let there = violated_there(&spin, &text, question)?;
        match violated_here(&text, question) {
            // With fairness SPIN overlooks runs that end.
            Ok(Some(Answer { violated: true, by_end: true })) if question.fair && !there => None,
            Ok(here) => Some((*seed, Ok(here?.violated), there)),
            Err(error) => Some((*seed, Err(error), there)),
        }
    });
    let compared: Vec<(u64, Result<bool, String>, bool)> = found.into_iter().flatten().collect();
    let wrong: Vec<&(u64, Result<bool, String>, bool)> =
        compared.iter().filter(|(_, here, there)| here.as_ref() != Ok(there)).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), compared.len());
    let violated = compared.iter().filter(|(_, _, there)| *there).count();
    Some((compared.len(), violated))
}

/// `QUOTIENT_RANDOM_RUNS=1000` compares that many programs of each kind, from `QUOTIENT_RANDOM_PROMELA_SEED` on.
fn seeds(otherwise: u64) -> std::ops::Range<u64> {
    let first = number_from("QUOTIENT_RANDOM_PROMELA_SEED", 1);
    first..first + number_from("QUOTIENT_RANDOM_RUNS", otherwise)
}

fn assert_both(found: Option<(usize, usize)>, asked: u64) {
    let Some((compared, violated)) = found else { return };
    assert!(compared as u64 >= asked / 5, "only {compared} of {asked} say something");
    assert!(asked < 20 || violated > 0 && violated < compared, "{violated} of {compared}: one answer only");
}

#[test]
fn random_formulas() {
    let seeds = seeds(40);
    let count = seeds.end - seeds.start;
    let question = Question { name: "f", fair: false };
    assert_both(compare("random formulas against SPIN", seeds, RunClaim::Formula, question), count);
}

#[test]
fn random_formulas_with_fairness() {
    let seeds = seeds(30);
    let count = seeds.end - seeds.start;
    let question = Question { name: "f", fair: true };
    assert_both(compare("random formulas with fairness against SPIN", seeds, RunClaim::Formula, question), count);
}

#[test]
fn random_automata() {
    let seeds = seeds(40);
    let count = seeds.end - seeds.start;
    let question = Question { name: "never", fair: false };
    assert_both(compare("random claims with acceptance against SPIN", seeds, RunClaim::Automaton, question), count);
}

#[test]
fn random_labels() {
    for name in ["acceptance", "progress"] {
        let seeds = seeds(30);
        let count = seeds.end - seeds.start;
        let question = Question { name, fair: false };
        assert_both(compare("random labels against SPIN", seeds, RunClaim::Labels, question), count);
    }
}

/// A model, a property, whether fairness is asked for, and whether it is violated. SPIN is asked as well, if it is right.
struct Known {
    text: &'static str,
    question: Question,
    violated: bool,
    spin_agrees: bool,
}

fn known(text: &'static str, name: &'static str, violated: bool) -> Known {
    Known { text, question: Question { name, fair: false }, violated, spin_agrees: true }
}

/// A model that ends.
const ENDING: &str = "byte n;
active proctype P() { n = 1 }
active proctype Q() { n = 2 }
ltl f { <> [] (n == 1) }
ltl g { <> [] (n != 0) }
ltl h { [] <> (n == 0) }
";

const RESPONSE: &str = "bool turn; byte count;
active [2] proctype P() { wait: do :: turn == _pid -> crit: turn = 1 - turn od }
active proctype Q() { loop: count = 1 - count; goto loop }
ltl each { [] (P[0]@wait -> <> P[0]@crit) }
ltl all { [] <> P[0]@crit && [] <> P[1]@crit }
";

const LABELS: &str = "byte x; bool go;
active proctype P() { do :: x = 1; accept: x = 2; progress: x = 0 :: go -> break od; x = 5 }
active proctype Q() { do :: go = true; break :: x < 2 -> skip od }
";

const BLOCKED: &str = "byte x;
active proctype P() { x = 1; accept: false }
";

const ATOMIC: &str = "byte x; bool go;
active proctype P() { atomic { x = 1; x = 2 }; atomic { x = 3; go; x = 4 } }
active proctype Q() { x == 3 -> go = true }
ltl unseen { <> (x == 1) }
ltl seen { <> (x == 3) }
ltl later { [] (x == 3 -> <> (x == 4)) }
";

const TWO_CLAIMS: &str = "byte x;
active proctype P() { do :: x = (x + 1) % 3 od }
never { T0: do :: x == 1 -> goto accept1 :: true od; accept1: do :: x != 0 od }
";

const MANY: &str = "byte n;
active [9] proctype P() { do :: n = (n + 1) % 2 od }
ltl each { [] <> (_last == 3) }
";

const STARTED: &str = "byte n;
proctype P(byte i) { n++; (n == 3) -> n = 4 }
init { n = 0; run P(1); run P(2); n = n + 1 }
ltl created { <> (_nr_pr > 1) }
ltl first { n == 0 && <> (n > 0) }
ltl never_three { [] (n != 3) || <> (n == 4) }
ltl counted { [] (n <= 2 || <> (n == 4)) }
";

fn models() -> Vec<Known> {
    let fair = |text, name, violated| Known { question: Question { name, fair: true }, ..known(text, name, violated) };
    let alone = |known: Known| Known { spin_agrees: false, ..known };
    vec![
        known(ENDING, "f", true),
        // SPIN says that this holds, since it looks for no fair cycle where a model ends.
        alone(fair(ENDING, "f", true)),
        known(ENDING, "g", false),
        fair(ENDING, "g", false),
        known(ENDING, "h", true),
        known(RESPONSE, "each", true),
        fair(RESPONSE, "each", false),
        known(RESPONSE, "all", true),
        fair(RESPONSE, "all", false),
        known(LABELS, "acceptance", true),
        known(LABELS, "progress", true),
        known(BLOCKED, "acceptance", true),
        known(BLOCKED, "progress", false),
        known(ATOMIC, "unseen", true),
        known(ATOMIC, "seen", false),
        known(ATOMIC, "later", false),
        known(TWO_CLAIMS, "never", false),
        known(MANY, "each", true),
        // SPIN refuses so many processes unless NFAIR is raised.
        alone(fair(MANY, "each", false)),
        known(STARTED, "first", false),
        known(STARTED, "counted", false),
        known(STARTED, "never_three", false),
        alone(known(STARTED, "created", false)),
    ]
}

#[test]
fn models_whose_answers_are_known() {
    let spin = Spin::find_or_skip("models with formulas against SPIN");
    for Known { text, question, violated, spin_agrees } in models() {
        let here = violated_here(text, question).map(|answer| answer.map(|it| it.violated));
        assert_eq!(here, Ok(Some(violated)), "{question:?}\n{text}");
        if let Some(spin) = spin.as_ref().filter(|_| spin_agrees) {
            assert_eq!(violated_there(spin, text, question), Some(violated), "SPIN, {question:?}\n{text}");
        }
    }
}
