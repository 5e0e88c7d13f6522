//! Claims about every size against brute force: random families and the models of `models/every`.

use std::collections::BTreeSet;
use std::time::Duration;

use quotient::{
    Control, Error, Every, EveryMethod, EveryReport, EverySize, EveryValue, Language, Limits, LoadOptions, Model,
    Options, Plan, Silent, Symmetry, Verdict,
};
use quotient_ir::{DeadlockMode, TableIndex, TypeKind};
use quotient_testkit::examples::workspace;
use quotient_testkit::oracle::explore;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_families::{
    Asks, random_family, random_family_of_two, random_family_with_guards, random_family_with_order,
};
use quotient_testkit::switches::number_from;

/// Instances of up to this size are searched.
const LARGEST: i64 = 7;
/// In this time a claim about a random family is decided, or is left open.
const PATIENCE: Duration = Duration::from_secs(10);
/// In this time a claim about a model of the folder is decided, also on a busy machine.
const LONG_PATIENCE: Duration = Duration::from_secs(90);

fn load(text: &str, constants: &[(String, String)]) -> Result<Model, Error> {
    let options = LoadOptions { constants: constants.to_vec(), ..LoadOptions::default() };
    Model::from_bytes("family.m", text.as_bytes(), Language::Murphi, &options, &Control::default())
}

fn every(text: &str, constants: &[(&str, i64)], from: i64) -> Result<EveryReport, Error> {
    every_by(EveryMethod::Auto, text, constants, from)
}

fn every_by(method: EveryMethod, text: &str, constants: &[(&str, i64)], from: i64) -> Result<EveryReport, Error> {
    every_of(method, text, constants, &[("N", from)])
}

fn every_of(
    method: EveryMethod,
    text: &str,
    constants: &[(&str, i64)],
    sizes: &[(&str, i64)],
) -> Result<EveryReport, Error> {
    every_within(PATIENCE, method, text, constants, sizes)
}

fn every_within(
    patience: Duration,
    method: EveryMethod,
    text: &str,
    constants: &[(&str, i64)],
    sizes: &[(&str, i64)],
) -> Result<EveryReport, Error> {
    let given: Vec<(String, String)> =
        constants.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
    let model = load(text, &given)?;
    let size = |&(constant, from): &(&str, i64)| EverySize { constant: constant.to_owned(), from };
    let claim = Every { sizes: sizes.iter().map(size).collect(), method };
    let options = Options::default().limits(Limits { timeout: Some(patience), ..Limits::default() });
    quotient::every(&model, &claim, &options, &Control::start(&options.limits), &mut Silent)
}

/// Whether an instance violates something, found without symmetries; `None` if there are too many states.
fn is_violated(text: &str, sizes: &[(&str, i64)]) -> Option<bool> {
    let constants: Vec<(String, String)> =
        sizes.iter().map(|(name, size)| ((*name).to_owned(), size.to_string())).collect();
    let model = load(text, &constants).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let limits = Limits { max_states: Some(60_000), ..Limits::default() };
    let options =
        Options { deadlock: Some(DeadlockMode::Off), ..Options::default().symmetry(Symmetry::Off).limits(limits) };
    let report = Plan::new(&model, &options).expect("a plan").run().unwrap_or_else(|error| panic!("{error}\n{text}"));
    match report.verdict {
        Verdict::Holds => Some(false),
        Verdict::Violated => Some(true),
        Verdict::Inconclusive => None,
    }
}

/// All ways to prove a claim of any kind.
const METHODS: [EveryMethod; 3] = [EveryMethod::Auto, EveryMethod::Views, EveryMethod::Backward];

/// Members of up to this size are compared with a cut-off that was found.
const LARGEST_BEYOND_CUT_OFF: i64 = 6;
/// As far as they have at most so many states.
const MOST_STATES_OF_VIEWS: usize = 4_000;

/// What a process holds.
type Cells = Vec<Option<i64>>;

/// What is shared, with processes by their place among those that it names; what these hold; and what some others hold. If
/// processes stand in a line, the named ones are in their order, and so are the others, each after the number of named ones before it.
type View = (Cells, Vec<Cells>, Vec<(usize, Cells)>);

/// All views of all states of a member of a random family of one type, with so many other processes. None if there are too many
/// states.
fn views(text: &str, size: i64, kept: usize, is_ordered: bool) -> Option<BTreeSet<View>> {
    let model = load(text, &[("N".to_owned(), size.to_string())]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (ir, layout) = (model.ir(), model.layout());
    let explored = explore(ir, DeadlockMode::Off, MOST_STATES_OF_VIEWS);
    // It stops behind the limit.
    if explored.reached.len() >= MOST_STATES_OF_VIEWS {
        return None;
    }
    let is_process = |ty| ir.types[ty].name.as_deref() == Some("process");
    let processes = usize::try_from(size).expect("a size");
    let mut found = BTreeSet::new();
    for state in explored.reached {
        let (mut shared, mut rows) = (Vec::new(), vec![Vec::new(); processes]);
        let mut named: Vec<usize> = Vec::new();
        let mut pointers = Vec::new();
        for (variable, entry) in ir.variables.iter_enumerated() {
            let first = layout.first_slot(variable).position();
            let value = |place: usize| state.0[first + place];
            match &ir.types[entry.ty].kind {
                TypeKind::Array { index, .. } if is_process(*index) => {
                    rows.iter_mut().enumerate().for_each(|(process, row)| row.push(value(process)));
                }
                _ if is_process(entry.ty) => {
                    let least = ir.domain(entry.ty).values().next().expect("there are processes");
                    let process = value(0).map(|value| usize::try_from(value - least).expect("a process"));
                    pointers.push(process);
                    named.extend(process.filter(|process| !named.contains(process)));
                }
                _ => shared.push(value(0)),
            }
        }
        if is_ordered {
            named.sort_unstable();
        }
        let place = |process| named.iter().position(|&known| known == process).map(|place| place as i64);
        shared.extend(pointers.into_iter().map(|process| process.and_then(place)));
        let before = |process: usize| if is_ordered { named.iter().filter(|&&name| name < process).count() } else { 0 };
        let others: Vec<usize> = (0..processes).filter(|process| !named.contains(process)).collect();
        for chosen in 0u32..1 << others.len() {
            if chosen.count_ones() as usize != kept {
                continue;
            }
            let of_choice = others.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
            let mut of_choice: Vec<(usize, Cells)> =
                of_choice.map(|(_, &process)| (before(process), rows[process].clone())).collect();
            if !is_ordered {
                of_choice.sort();
            }
            found.insert((shared.clone(), named.iter().map(|&process| rows[process].clone()).collect(), of_choice));
        }
    }
    Some(found)
}

/// Checks the cut-offs that were found with proofs: what occurs in members that they are about occurs in the member of that
/// size. Returns with how many members they were compared.
fn compare_cut_offs(seed: u64, text: &str, report: &EveryReport) -> usize {
    let mut compared = 0;
    for proof in &report.proofs {
        let Some(cut_off) = &proof.cut_off else { continue };
        let (size, least) = (cut_off.values[0], cut_off.about[0].least());
        assert!(matches!(cut_off.about[0], EveryValue::AtLeast(_)), "seed {seed}");
        let Some(known) = views(text, size, proof.kept, report.is_ordered) else { continue };
        for other in least..=LARGEST_BEYOND_CUT_OFF {
            let Some(found) = views(text, other, proof.kept, report.is_ordered) else { break };
            let more: Vec<&View> = found.difference(&known).collect();
            let about = &proof.values;
            assert!(
                more.is_empty(),
                "seed {seed}: N = {size} is not a cut-off, see N = {other}, {more:?}, {about:?}\n{text}"
            );
            compared += usize::from(other != size);
        }
    }
    compared
}

/// What was claimed about a family.
struct Compared {
    /// In each way.
    verdicts: Vec<Verdict>,
    /// Whether it is monotone.
    is_monotone: bool,
    /// How many cut-offs were found with proofs, and with how many members they were compared.
    cut_offs: usize,
    beyond: usize,
}

/// What was claimed about a family in each way, compared with its first instances.
fn compare(seed: u64, text: &str, methods: &[EveryMethod]) -> Compared {
    let mut instances: Vec<Option<bool>> = Vec::new();
    let mut is_violated = |size: i64| {
        while (instances.len() as i64) < size {
            let next = instances.len() as i64 + 1;
            let is_too_large = instances.last() == Some(&None);
            instances.push(if is_too_large { None } else { is_violated(text, &[("N", next)]) });
        }
        instances[usize::try_from(size).expect("a size") - 1]
    };
    let (mut is_monotone, mut cut_offs, mut beyond) = (false, 0, 0);
    let verdict = |&method: &EveryMethod| {
        let report =
            every_by(method, text, &[], 1).unwrap_or_else(|error| panic!("seed {seed}, {method:?}: {error}\n{text}"));
        is_monotone = report.tests.is_empty();
        cut_offs += report.proofs.iter().filter(|proof| proof.cut_off.is_some()).count();
        beyond += compare_cut_offs(seed, text, &report);
        match (report.verdict, &report.violation) {
            (Verdict::Holds, _) => {
                for size in 1..=LARGEST {
                    let is_wrong = is_violated(size);
                    assert_ne!(is_wrong, Some(true), "seed {seed}, {method:?}: a wrong proof, see N = {size}\n{text}");
                }
            }
            (Verdict::Violated, Some((sizes, ..))) => {
                let size = sizes[0];
                for smaller in 1..size {
                    let is_wrong = is_violated(smaller);
                    assert_ne!(is_wrong, Some(true), "seed {seed}, {method:?}: not the smallest N\n{text}");
                }
                assert_ne!(is_violated(size), Some(false), "seed {seed}, {method:?}: no violation\n{text}");
            }
            (Verdict::Violated, None) => panic!("seed {seed}, {method:?}: a violation without a run"),
            (Verdict::Inconclusive, _) => {
                let is_decided = is_monotone && method == EveryMethod::Backward && report.stop_reason.is_none();
                assert!(!is_decided, "seed {seed}: a monotone family is left open\n{text}");
                let is_decided = method == EveryMethod::CutOff && report.stop_reason.is_none();
                assert!(!is_decided, "seed {seed}: left open by its cut-off\n{text}");
            }
        }
        report.verdict
    };
    let verdicts: Vec<Verdict> = methods.iter().map(verdict).collect();
    let is = |wanted: Verdict| verdicts.contains(&wanted);
    assert!(!(is(Verdict::Holds) && is(Verdict::Violated)), "seed {seed}: {verdicts:?}\n{text}");
    Compared { verdicts, is_monotone, cut_offs, beyond }
}

/// Says what was found out about some families, and asserts that they say something.
fn record(what: &str, methods: &[EveryMethod], found: &[Compared]) {
    let total = found.len();
    for (place, method) in methods.iter().enumerate() {
        let count = |wanted: Verdict| found.iter().filter(|family| family.verdicts[place] == wanted).count();
        let (proved, refuted, open) = (count(Verdict::Holds), count(Verdict::Violated), count(Verdict::Inconclusive));
        #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
        {
            eprintln!("{total} families{what}, {method:?}: {proved} proved, {refuted} refuted, {open} open");
        }
        assert!(proved > 0 && refuted > 0, "the families say nothing");
    }
    let monotone = found.iter().filter(|family| family.is_monotone).count();
    let cut_offs: usize = found.iter().map(|family| family.cut_offs).sum();
    let beyond: usize = found.iter().map(|family| family.beyond).sum();
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{monotone} of them monotone; {cut_offs} cut-offs found, compared with {beyond} members");
    }
    assert!(cut_offs > 0 && beyond > 0, "no cut-off was found");
}

/// `QUOTIENT_RANDOM_FAMILIES` says how many, from `QUOTIENT_RANDOM_SEED` on.
#[test]
fn random_families_have_no_wrong_proofs() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_FAMILIES", 60)).collect();
    let found = map_on_workers(2, &seeds, |seed| compare(*seed, &random_family(*seed), &METHODS));
    record("", &METHODS, &found);
    assert!(found.iter().any(|family| family.is_monotone), "no family is monotone");
}

/// `QUOTIENT_RANDOM_FAMILIES_WITH_GUARDS` says how many of each kind, from `QUOTIENT_RANDOM_SEED` on.
#[test]
fn random_families_with_guards_of_one_kind_have_no_wrong_proofs() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_FAMILIES_WITH_GUARDS", 40)).collect();
    for (asks, other) in [(Asks::Some, EveryMethod::Backward), (Asks::All, EveryMethod::Views)] {
        let methods = [EveryMethod::CutOff, other];
        let found = map_on_workers(2, &seeds, |seed| compare(*seed, &random_family_with_guards(*seed, asks), &methods));
        record(&format!(" whose guards ask {asks:?}"), &methods, &found);
    }
}

/// `QUOTIENT_RANDOM_FAMILIES_WITH_ORDER` says how many, from `QUOTIENT_RANDOM_SEED` on.
#[test]
fn random_families_with_an_order_have_no_wrong_proofs() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_FAMILIES_WITH_ORDER", 40)).collect();
    let methods = &[EveryMethod::Auto];
    let found = map_on_workers(2, &seeds, |seed| compare(*seed, &random_family_with_order(*seed), methods));
    record(" with an order", methods, &found);
}

/// Members of families of two types with up to so many processes are searched.
const LARGEST_OF_TWO: i64 = 8;

/// What was claimed about a family of two types, compared with its first instances.
fn compare_of_two(seed: u64) -> Verdict {
    let has_one_constant = seed % 4 == 3;
    let text = random_family_of_two(seed, has_one_constant);
    let names: &[&str] = if has_one_constant { &["N"] } else { &["N", "M"] };
    let from: Vec<(&str, i64)> = names.iter().map(|&name| (name, 1)).collect();
    let report =
        every_of(EveryMethod::Auto, &text, &[], &from).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    let mut members: Vec<Vec<i64>> = match has_one_constant {
        true => (1..=LARGEST_OF_TWO / 2).map(|size| vec![size]).collect(),
        false => (1..LARGEST_OF_TWO).flat_map(|n| (1..=LARGEST_OF_TWO - n).map(move |m| vec![n, m])).collect(),
    };
    // The least sum first, and then the least first number.
    members.sort_by_key(|sizes| (sizes.iter().sum::<i64>(), sizes.clone()));
    let is_violated = |sizes: &[i64]| {
        let constants: Vec<(&str, i64)> = names.iter().copied().zip(sizes.iter().copied()).collect();
        is_violated(&text, &constants)
    };
    match (report.verdict, &report.violation) {
        (Verdict::Holds, _) => {
            for sizes in &members {
                assert_ne!(is_violated(sizes), Some(true), "seed {seed}: a wrong proof, see {sizes:?}\n{text}");
            }
        }
        (Verdict::Violated, Some((found, _, report))) => {
            let place = (found.iter().sum::<i64>(), found.clone());
            for sizes in members.iter().filter(|sizes| (sizes.iter().sum::<i64>(), (*sizes).clone()) < place) {
                assert_ne!(is_violated(sizes), Some(true), "seed {seed}: {sizes:?} is smaller than {found:?}\n{text}");
            }
            assert_ne!(is_violated(found), Some(false), "seed {seed}: no violation\n{text}");
            assert!(report.properties.iter().any(|property| property.trace.is_some()), "seed {seed}: no run\n{text}");
        }
        (Verdict::Violated, None) => panic!("seed {seed}: a violation without a run"),
        (Verdict::Inconclusive, _) => {}
    }
    report.verdict
}

/// `QUOTIENT_RANDOM_FAMILIES_OF_TWO` says how many, from `QUOTIENT_RANDOM_SEED` on.
#[test]
fn random_families_of_two_types_have_no_wrong_proofs() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_FAMILIES_OF_TWO", 24)).collect();
    let found = map_on_workers(2, &seeds, |seed| compare_of_two(*seed));
    let count = |wanted: Verdict| found.iter().filter(|verdict| **verdict == wanted).count();
    let (proved, refuted, open) = (count(Verdict::Holds), count(Verdict::Violated), count(Verdict::Inconclusive));
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{} families of two types: {proved} proved, {refuted} refuted, {open} open", seeds.len());
    }
    assert!(proved > 0 && refuted > 0, "the families say nothing");
}

/// What the header of a model says about all values of some constants.
struct Expectation<'a> {
    /// The constants.
    sizes: Vec<&'a str>,
    /// Other constants with their values.
    constants: Vec<(&'a str, i64)>,
    /// The smallest values that violate a property, if any do.
    violated: Option<Vec<i64>>,
}

/// The lines of a header that say what holds for every number.
fn expectations(text: &str) -> Vec<Expectation<'_>> {
    let number = |text: &str| text.trim().parse().expect("a number");
    let lines = text.lines().filter_map(|line| line.strip_prefix("-- every "));
    lines
        .map(|line| {
            let (about, verdict) = line.split_once(':').expect("a verdict");
            let (sizes, setting) = about.split_once(" with ").map_or((about, None), |(sizes, it)| (sizes, Some(it)));
            let constants = setting.map(|setting| {
                let (name, value) = setting.split_once('=').expect("a constant");
                (name, number(value))
            });
            let violated = verdict.trim().strip_prefix("violated with ");
            assert!(violated.is_some() || verdict.trim() == "holds", "{line}");
            let values = |values: &str| -> Vec<i64> {
                values.split(", ").map(|value| number(value.split_once('=').expect("a value").1)).collect()
            };
            Expectation {
                sizes: sizes.split(", ").collect(),
                constants: constants.into_iter().collect(),
                violated: violated.map(values),
            }
        })
        .collect()
}

#[test]
fn models_hold_or_are_refuted_as_they_say() {
    let folder = workspace().join("models/every");
    let entries = std::fs::read_dir(&folder).expect("the folder of the models");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let said = map_on_workers(2, &paths, |path| {
        let text = std::fs::read_to_string(path).expect("a model");
        let expected = expectations(&text);
        assert!(expected.len() >= 2, "{}: a right and a wrong variant", path.display());
        for Expectation { sizes, constants, violated } in expected {
            let from: Vec<(&str, i64)> = sizes.iter().map(|&name| (name, 1)).collect();
            for method in [&METHODS[..], &[EveryMethod::CutOff]].concat() {
                let place = format!("{} {constants:?}, {method:?}", path.display());
                let report = match every_within(LONG_PATIENCE, method, &text, &constants, &from) {
                    Ok(report) => report,
                    // Most texts do not show one.
                    Err(error) if method == EveryMethod::CutOff => {
                        assert!(error.to_string().contains("the text shows no cut-off for "), "{place}: {error}");
                        continue;
                    }
                    // It is for one type, without an order.
                    Err(error) => {
                        let is_of_two = text.matches("scalarset").count() == 2;
                        let reason = if is_of_two { "one type of objects" } else { "objects without an order" };
                        assert_eq!(method, EveryMethod::Backward, "{place}: {error}");
                        assert!(error.to_string().contains(reason), "{place}: {error}");
                        continue;
                    }
                };
                // Nine processes have to be told from eight.
                if method == EveryMethod::Views && path.ends_with("pool.m") {
                    assert_eq!(report.verdict, Verdict::Inconclusive, "{place}");
                    continue;
                }
                assert_eq!(report.violation.as_ref().map(|(values, ..)| values), violated.as_ref(), "{place}");
                assert_eq!(report.verdict == Verdict::Holds, violated.is_none(), "{place}");
            }
        }
    });
    assert!(!said.is_empty());
}

/// A text with a rule and further declarations in it.
fn text(process: &str, declarations: &str, rule: &str) -> String {
    format!(
        "const N: 3;\ntype process: {process}; location: enum {{ l0, l1, l2 }};\n\
         var at: array [process] of location; x: 0..3; owner: process;\n{declarations}\n\
         startstate begin for p: process do at[p] := l0; end; x := 0; end;\n\
         {rule}\n\
         invariant \"claim\" forall p: process do at[p] != l2 end;\n"
    )
}

/// What is not supported is refused where it is; a number of objects that a step concerns cannot be told from it.
#[test]
fn what_depends_on_how_many_there_are_is_refused() {
    let set = "scalarset(N)";
    let cases: &[(&str, &str, &str, &str)] = &[
        (
            set,
            "",
            "rule x = 0 ==> x := 0; for p: process do if at[p] = l1 then x := x + 1; end; end; end;",
            "does not belong to the object",
        ),
        ("1..N", "", "ruleset p: process do rule p < 2 ==> at[p] := l1; end; end;", "compared with a number"),
        ("1..N", "", "ruleset p: process do rule p + 1 > p ==> at[p] := l1; end; end;", "used as a number"),
        (
            "1..N",
            "",
            "ruleset p: process; q: process do rule p < q & q = p + 1 ==> at[p] := l1; end; end;",
            "as a number",
        ),
        (
            "1..N",
            "",
            "ruleset p: process do rule owner < p & ismember(p, 1..2) ==> at[p] := l1; end; end;",
            "with numbers",
        ),
        (
            "1..N",
            "",
            "rule forall p: process do exists q: process do p < q end end ==> x := 1; end;",
            "one inside the other",
        ),
        (
            "1..N",
            "",
            "rule x = 0 ==> for p: process do for q: process do if p < q then at[q] := l1; end; end; end; end;",
            "for each object",
        ),
        (
            "1..N",
            "",
            "rule x = 0 ==> for p: process do if owner < p then owner := p; end; end; end;",
            "does not belong to the object",
        ),
        ("1..N", "", "rule at[1] = l0 ==> at[1] := l1; end;", "a number is used as an object"),
        ("1..N", "", "ruleset p: process do rule x = 0 ==> x := p; end; end;", "not for every N"),
        (set, "", "ruleset p: process do rule N > 3 ==> at[p] := l1; end; end;", "how many objects"),
        (
            set,
            "",
            "rule forall p: process do exists q: process do p != q & at[q] = at[p] end end ==> x := 1; end;",
            "one inside the other",
        ),
        (
            set,
            "",
            "rule x = 0 ==> for p: process do if exists q: process do at[q] = l1 end then at[p] := l1; end; end; end;",
            "for each object of a loop",
        ),
        (
            set,
            "",
            "rule x = 0 ==> for p: process do for q: process do if p != q then at[q] := l1; end; end; end; end;",
            "for each object",
        ),
        (set, "var next: array [process] of process;", "rule x = 0 ==> x := 1; end;", "objects refer to objects"),
        (
            set,
            "var met: array [process] of array [process] of boolean;",
            "rule x = 0 ==> x := 1; end;",
            "each pair of objects",
        ),
        (set, "var bag: multiset [2] of process;", "rule x = 0 ==> x := 1; end;", "multiset of objects"),
        (
            set,
            "function first(): process; begin for p: process do if at[p] = l1 then return p; end; end; return owner; end;",
            "rule x = 0 ==> owner := first(); end;",
            "not for every N",
        ),
        (set, "", "rule x = 0 ==> clear owner; end;", "not for every N"),
        (
            set,
            "function count(p: process): boolean; begin if x < 3 then x := x + 1; end; return at[p] = l2; end;",
            "rule x = 0 ==> if exists p: process do count(p) end then x := 0; end; end;",
            "changes something",
        ),
        (
            set,
            "function count(p: process): boolean; begin for q: process do at[q] := l1; end; return false; end;",
            "rule x = 0 ==> if exists p: process do count(p) & false end then x := 0; end; end;",
            "for each object",
        ),
        (set, "var count: 0..N+9;", "rule x = 0 ==> count := 0; end;", "two types depend"),
        (set, "", "rule x = 0 ==> x := 1; end; assume \"few\" x = 0;", "assumption"),
        (set, "", "rule x = 0 ==> x := 1; end; liveness \"again\" x = 0;", "only invariants"),
        (set, "", "rule x = 0 ==> x := 1; end; cover \"one\" x = 1;", "only invariants"),
    ];
    for (process, declarations, rule, reason) in cases {
        let text = text(process, declarations, rule);
        match every(&text, &[], 1) {
            Ok(report) => panic!("{:?}\n{text}", report.verdict),
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains(reason) && said.contains("not for every N"), "{said}\n{text}");
            }
        }
    }
}

/// What looks similar and is supported.
#[test]
fn what_concerns_few_is_proved() {
    let rules = [
        // A loop that changes each on its own, through a procedure and an alias.
        "procedure calm(p: process); begin alias me: at[p] do if me = l1 then me := l0; end; end; end;\n\
         rule x = 0 ==> for p: process do calm(p); end; end;",
        // Conditions of one kind, one inside the other.
        "rule exists p: process do at[p] = l0 & exists q: process do at[q] = l1 & p != q end end ==> x := 1; end;",
        "rule forall p: process do at[p] = l0 -> forall q: process do p = q | at[q] = l1 end end ==> x := 1; end;",
        // A shared variable that names one, and may name none.
        "ruleset p: process do rule isundefined(owner) ==> owner := p; at[p] := l1; end;\n\
         rule !isundefined(owner) & owner = p ==> undefine owner; at[p] := l0; end; end;",
        // A function with a variable of its own, asked about each.
        "function moved(p: process): boolean; var old: location; begin old := at[p]; return old != l0; end;\n\
         rule x = 0 ==> if exists p: process do moved(p) end then x := 1; end; end;",
        // All at once.
        "var old: array [process] of location; rule x = 0 ==> old := at; x := 1; end;",
        // A condition that goes wrong for some, after one that excludes them.
        "rule !isundefined(owner) & forall p: process do at[p] = at[owner] end ==> x := 2; end;",
    ];
    for rule in rules {
        let (declarations, rule) = match rule.starts_with("rule") {
            true => ("", rule),
            false => rule.split_at(rule.find("rule").expect("a rule")),
        };
        for process in ["scalarset(N)", "1..N", "0..N-1"] {
            let text = text(process, declarations, rule);
            let report = every(&text, &[], 1).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(report.verdict, Verdict::Holds, "{text}");
            let proof = report.proofs.first().expect("a proof");
            assert!(proof.rechecked > 0 && !proof.invariant.is_empty(), "{text}");
        }
    }
}

/// Processes in a line.
#[test]
fn what_concerns_few_in_their_order_is_decided() {
    let none_before = "forall q: process do p <= q end";
    let none_behind = "forall q: process do p >= q end";
    let next = "p < q & forall r: process do r <= p | q <= r end";
    let cases: &[(String, Option<i64>)] = &[
        // The first one is the last one only if it is alone.
        (format!("ruleset p: process do rule ({none_before}) & ({none_behind}) ==> at[p] := l2; end; end;"), Some(1)),
        (format!("ruleset p: process do rule ({none_before}) & x = 1 & ({none_behind}) ==> at[p] := l2; end; end;"), None),
        // The second one, and one that is two steps from the first one.
        (
            format!("ruleset p: process; q: process do rule ({none_before}) & {next} ==> at[q] := l2; end; end;",
                none_before = none_before.replace('q', "r")),
            Some(2),
        ),
        // It goes from each to the next one, and there are as many as one likes.
        (
            format!(
                "ruleset p: process do rule isundefined(owner) & {none_before} ==> owner := p; at[p] := l1; end; end;\n\
                 ruleset p: process; q: process do rule !isundefined(owner) & owner = p & {next} ==> owner := q; at[q] := l1; \
                 end; end;\n\
                 ruleset p: process; q: process do rule p < q & at[p] = l0 & at[q] = l1 ==> at[p] := l2; end; end;"
            ),
            None,
        ),
        // The sequence of a loop matters: those behind see what those before have become.
        (
            "ruleset p: process do rule x = 0 & at[p] = l0 ==> for r: process do if r >= p & at[p] = l1 then at[r] := l2; end; \
             if r = p then at[r] := l1; end; end; x := 1; end; end;"
                .to_owned(),
            Some(2),
        ),
        (
            "ruleset p: process do rule x = 0 & at[p] = l0 ==> for r: process do if r < p & at[p] = l1 then at[r] := l2; end; \
             if r = p then at[r] := l1; end; end; x := 1; end; end;"
                .to_owned(),
            None,
        ),
        // Whether this goes wrong depends on who comes first.
        (
            "ruleset p: process do rule at[p] = l0 & x = 0 & (exists q: process do q < p | owner = q end) ==> x := 1; end; end;"
                .to_owned(),
            Some(1),
        ),
    ];
    for (rule, expected) in cases {
        let text = text("1..N", "", rule);
        let report = every(&text, &[], 1).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found = report.violation.as_ref().map(|(values, ..)| values[0]);
        assert_eq!(found, *expected, "{text}");
        assert_eq!(report.verdict == Verdict::Holds, expected.is_none(), "{text}");
        let is_compared = |proof: &quotient::EveryProof| proof.rechecked > 0 && !proof.compared.is_empty();
        assert!(report.proofs.iter().all(is_compared), "{text}");
    }
}

/// Where more processes can prevent a step, or change what it does, the family is not monotone.
#[test]
fn what_stands_against_a_monotone_family() {
    let of_one = "exists r: process do at[r] = l1 end";
    let of_all = "forall r: process do at[r] = l0 end";
    let cases: [(String, &[&str]); 12] = [
        // What is false is wrong, and so is what goes wrong, unless something else makes the claim true.
        (format!("invariant \"both\" ({of_all}) & at[owner] = l0;"), &[]),
        (format!("invariant \"both\" x = 0 -> (x = 0 & ({of_all}));"), &[]),
        (
            format!("invariant \"one\" (({of_all}) & at[owner] = l0) | x = 0;"),
            &["before its right part goes wrong"],
        ),
        (format!("rule {of_one} ==> x := 1; end;"), &[]),
        (format!("rule !({of_all}) & x = 0 ==> x := 1; end;"), &[]),
        (format!("rule {of_all} ==> x := 1; end;"), &["can make this condition false"]),
        (format!("rule x = 0 -> !({of_one}) ==> x := 1; end;"), &["can make this condition false"]),
        (format!("rule ({of_one}) | at[owner] = l0 ==> x := 1; end;"), &["before its right part goes wrong"]),
        (format!("rule x = 0 ==> if {of_one} then x := 1; end; end;"), &["decides what happens"]),
        (format!("rule x = 0 ==> x := 1; assert {of_all}; end;"), &[]),
        (
            format!("rule x = 0 ==> x := 1; end; invariant \"some\" x = 0 | {of_one};"),
            &["can make this condition true"],
        ),
        (
            "ruleset p: process do rule at[p] = l0 ==> for r: process do if r != p then at[r] := l0; end; end; end; end;"
                .to_owned(),
            &[],
        ),
    ];
    for (rule, expected) in cases {
        let text = text("scalarset(N)", "", &rule);
        let report = every_by(EveryMethod::Backward, &text, &[], 1).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found: Vec<&str> = report.tests.iter().map(|(reason, _)| reason.as_str()).collect();
        let is_as_expected =
            found.len() == expected.len() && found.iter().zip(expected).all(|(reason, wanted)| reason.contains(wanted));
        assert!(is_as_expected, "{found:?}\n{text}");
    }
}

/// Large members never go wrong, since one process is at `l2`; a search backward cannot tell, and does not claim that it can.
#[test]
fn what_goes_wrong_without_the_others() {
    let text = "const N: 3; type process: scalarset(N); location: enum { l0, l1, l2 };\n\
                var at: array [process] of location; x: 0..1; owner: process;\n\
                ruleset o: process do startstate begin for p: process do at[p] := l0; end; at[o] := l2; x := 0; end; end;\n\
                ruleset p: process do rule at[p] = l1 ==> at[p] := l0; end; end;\n\
                invariant \"claim\" ((forall p: process do at[p] != l2 end) & at[owner] = l0) | x = 0;\n";
    let report = every_by(EveryMethod::Backward, text, &[], 1).expect("an answer");
    assert_eq!(report.verdict, Verdict::Inconclusive);
}

/// A step that needs another process is not taken without it: nobody is at `l1` beside one at `l0`, although either occurs.
#[test]
fn a_search_backward_needs_who_decides() {
    let text = "const N: 3; type process: scalarset(N); location: enum { l0, l1, l2 };\n\
                var at: array [process] of location;\n\
                startstate begin for p: process do at[p] := l0; end; end;\n\
                startstate begin for p: process do at[p] := l1; end; end;\n\
                ruleset p: process do\n\
                rule at[p] = l0 & exists r: process do at[r] = l1 end ==> at[p] := l2; end;\n\
                end;\n\
                invariant \"claim\" forall p: process do at[p] != l2 end;\n";
    let report = every_by(EveryMethod::Backward, text, &[], 1).expect("an answer");
    assert!(report.tests.is_empty());
    assert_eq!(report.verdict, Verdict::Holds);
}

/// The cut-off that is found with a proof, and from which number on it is one.
#[test]
fn cut_offs_that_are_found() {
    let cases = [
        // The last one that is still at `l0` is the fourth.
        ("ruleset p: process do rule at[p] = l0 & x < 3 ==> at[p] := l1; x := x + 1; end; end;", 4, 1),
        // Only one alone does that.
        ("rule x = 0 & forall p: process do forall q: process do p = q end end ==> x := 1; end;", 2, 2),
        // Two are named, or one is.
        ("ruleset p: process do rule isundefined(owner) ==> owner := p; at[p] := l1; end; end;", 2, 1),
    ];
    for (rule, size, from) in cases {
        let text = text("scalarset(N)", "", rule);
        let report = every_by(EveryMethod::Views, &text, &[], 1).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found = report.proofs[0].cut_off.clone().unwrap_or_else(|| panic!("no cut-off\n{text}"));
        assert_eq!((found.values, found.about), (vec![size], vec![EveryValue::AtLeast(from)]), "{text}");
        assert!(compare_cut_offs(0, &text, &report) > 0, "{text}");
    }
}

/// A text whose processes share nothing, with rules, and a claim.
fn text_without_shared_variables(process: &str, start: &str, rules: &str, claim: &str) -> String {
    format!(
        "const N: 3;\ntype process: {process}; location: enum {{ l0, l1, l2, l3 }};\n\
         var at: array [process] of location;\n\
         {start}\n{rules}\ninvariant \"claim\" {claim};\n"
    )
}

const ALIKE: &str = "startstate begin for p: process do at[p] := l0; end; end;";
const NOBODY: &str = "forall p: process do at[p] != l3 end";

#[test]
fn cut_offs_that_the_text_shows() {
    let step = "rule at[p] = l0 ==> at[p] := l1; end;";
    let alone = "forall q: process do q = p | at[q] = l0 end";
    let two = "forall p: process do forall q: process do at[p] = l3 & at[q] = l3 -> p = q end end";
    let cases = [
        // Nothing is asked: a process does what it does alone.
        (step.to_owned(), NOBODY, 1, None),
        (step.to_owned(), two, 2, None),
        // Whether some is at `l3`, which none is: two contents, and one that shows what is wrong.
        (
            format!("{step} rule at[p] = l1 & exists q: process do at[q] = l3 end ==> at[p] := l3; end;"),
            NOBODY,
            3,
            Some(2),
        ),
        (
            format!("{step} rule at[p] = l1 & exists q: process do at[q] = l3 end ==> at[p] := l3; end;"),
            two,
            4,
            Some(2),
        ),
        // Two that have the same contents.
        (
            format!(
                "{step} rule at[p] = l1 & exists q: process do at[q] = l3 & exists r: process do r != q & at[r] = l3 end end \
                 ==> at[p] := l3; end;"
            ),
            NOBODY,
            5,
            Some(2),
        ),
        // One after the other is one at a time.
        (
            format!(
                "{step} rule at[p] = l1 & (exists q: process do at[q] = l3 end) & exists r: process do at[r] = l2 end \
                 ==> at[p] := l3; end;"
            ),
            NOBODY,
            3,
            Some(2),
        ),
        // Whether all others are at `l0`: the process and one that prevents it.
        (format!("rule at[p] = l0 & {alone} ==> at[p] := l3; end;"), two, 2, None),
        // A claim that more processes can make true.
        (format!("rule at[p] = l0 & {alone} ==> at[p] := l1; end;"), "exists p: process do at[p] != l3 end", 2, None),
    ];
    for (rules, claim, value, contents) in cases {
        let rules = format!("ruleset p: process do {rules} end;");
        let text = text_without_shared_variables("scalarset(N)", ALIKE, &rules, claim);
        let report = every_by(EveryMethod::CutOff, &text, &[], 1).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found = report.cut_off.expect("a cut-off");
        assert_eq!((report.verdict, found.is_proof), (Verdict::Holds, true), "{text}");
        assert_eq!((found.value, found.contents), (value, contents), "{text}");
        let searched: Vec<i64> = report.searched.iter().map(|(values, _)| values[0]).collect();
        assert_eq!(searched, (1..=value).collect::<Vec<_>>(), "{text}");
        // Of larger members, the least one is searched.
        let report = every_by(EveryMethod::CutOff, &text, &[], value + 2).expect("an answer");
        assert_eq!(
            (report.verdict, &report.searched[..]),
            (Verdict::Holds, &[(vec![value + 2], report.searched[0].1)][..])
        );
    }
}

/// What does not fit is shown.
#[test]
fn what_shows_no_cut_off() {
    let set = "scalarset(N)";
    let apart = "ruleset o: process do startstate begin for p: process do at[p] := l0; end; at[o] := l1; end; end;";
    let cases = [
        (set, ALIKE, "var x: 0..1; rule false ==> x := 1; end;", NOBODY, "`x` does not belong to an object"),
        (set, apart, "", NOBODY, "may not begin alike"),
        (
            set,
            ALIKE,
            "ruleset p: process; q: process do rule p != q & at[q] = l1 ==> at[p] := l2; end; end;",
            NOBODY,
            "concerns two objects",
        ),
        (
            set,
            ALIKE,
            "ruleset p: process do rule at[p] = l0 ==> for q: process do at[q] := l1; end; end; end;",
            NOBODY,
            "changes all, after its guard",
        ),
        (
            set,
            ALIKE,
            "ruleset p: process do rule exists q: process do at[q] = l1 end ==> at[p] := l1; end;\n\
             rule forall q: process do at[q] = l0 end ==> at[p] := l1; end; end;",
            NOBODY,
            "may ask whether all objects are somewhere, and another one whether some object is",
        ),
        (
            set,
            ALIKE,
            "ruleset p: process do rule exists q: process do at[q] = l1 end ==> at[p] := l1; end; end;",
            "exists p: process do at[p] = l0 end",
            "more objects can make this property true",
        ),
        (
            set,
            ALIKE,
            "var memo: array [process] of boolean;\n\
             ruleset p: process do rule exists q: process do memo[q] end ==> at[p] := l1; end; end;",
            NOBODY,
            "can go wrong for some of them",
        ),
        (
            set,
            ALIKE,
            "function any(): boolean; begin return exists q: process do at[q] = l1 end; end;\n\
             ruleset p: process do rule any() ==> at[p] := l1; end; end;",
            NOBODY,
            "may ask whether all objects are somewhere, and another one whether some object is",
        ),
        (
            "1..N",
            ALIKE,
            "ruleset p: process do rule exists q: process do q < p & at[q] = l1 end ==> at[p] := l1; end; end;",
            NOBODY,
            "compared by their order",
        ),
    ];
    for (process, start, rules, claim, reason) in cases {
        // Declarations stand before the start.
        let (declarations, rules) = match rules.find("rule") {
            Some(place) => rules.split_at(place),
            None => ("", rules),
        };
        let text = text_without_shared_variables(process, &format!("{declarations}\n{start}"), rules, claim);
        match every_by(EveryMethod::CutOff, &text, &[], 1) {
            Ok(report) => panic!("{:?}\n{text}", report.cut_off),
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains(reason) && said.contains("the text shows no cut-off for N"), "{said}\n{text}");
            }
        }
    }
    let rule = "ruleset c: client; s: server do rule at[c] = l0 & mode[s] = l0 ==> owner := c; home := s; end; end;";
    let text = text_of_two(TWO_SETS, "", rule);
    let error = every_of(EveryMethod::CutOff, &text, &[], &[("N", 1), ("M", 1)]).expect_err("two types");
    assert!(error.to_string().contains("two types of objects"), "{error}");
}

/// A violation that only large members have: the smallest one is found, with its run.
#[test]
fn a_violation_that_needs_four() {
    let rule = "ruleset p: process do rule at[p] = l0 & x < 3 ==> at[p] := l1; x := x + 1; end;\n\
                rule at[p] = l0 & x = 3 ==> at[p] := l2; end; end;";
    let report = every(&text("scalarset(N)", "", rule), &[], 1).expect("an answer");
    let (size, _, found) = report.violation.expect("a violation");
    assert_eq!((report.verdict, size), (Verdict::Violated, vec![4]));
    let trace = found.properties.iter().find_map(|property| property.trace.as_ref()).expect("a run");
    assert_eq!(trace.steps.len(), 5);
    // From five on it is there at once.
    let report = every(&text("scalarset(N)", "", rule), &[], 5).expect("an answer");
    assert_eq!(report.violation.map(|(size, ..)| size), Some(vec![5]));
}

/// A text with clients and servers, rules, and the claim that no server is at `l2`.
fn text_of_two(types: &str, declarations: &str, rules: &str) -> String {
    format!(
        "const N: 2; M: 2;\ntype {types} location: enum {{ l0, l1, l2 }};\n\
         var at: array [client] of location; mode: array [server] of location; x: 0..6; owner: client; home: server;\n\
         {declarations}\n\
         startstate begin for c: client do at[c] := l0; end; for s: server do mode[s] := l0; end; x := 0; end;\n\
         {rules}\n\
         invariant \"claim\" forall s: server do mode[s] != l2 end;\n"
    )
}

const TWO_SETS: &str = "client: scalarset(N); server: scalarset(M);";

/// Where one number is small, the other may have to be large: that is not found by looking at large numbers of both.
#[test]
fn violations_with_few_of_one_type() {
    let of_servers = |top: usize, guard: &str| {
        format!(
            "ruleset c: client do rule at[c] = l0 ==> at[c] := l1; end; end;\n\
             ruleset s: server do rule mode[s] = l0 & x < {top} ==> mode[s] := l1; x := x + 1; end;\n\
             rule mode[s] = l0 & x = {top} & {guard} ==> mode[s] := l2; end; end;"
        )
    };
    let one_client = "forall c: client do forall d: client do c = d end end";
    let two_clients = "exists c: client do exists d: client do c != d end end";
    let three_clients =
        "exists c: client do exists d: client do exists e: client do c != d & c != e & d != e end end end";
    let cases: [(String, Option<[i64; 2]>); 6] = [
        // By then all large numbers of both have been proved to be right.
        (of_servers(6, one_client), Some([1, 7])),
        (of_servers(3, one_client), Some([1, 4])),
        (of_servers(3, two_clients), Some([2, 4])),
        (of_servers(3, three_clients), Some([3, 4])),
        (of_servers(3, &format!("({one_client}) & {two_clients}")), None),
        (of_servers(3, "exists c: client do at[c] = l2 end"), None),
    ];
    for (rules, expected) in cases {
        let text = text_of_two(TWO_SETS, "", &rules);
        let report = every_of(EveryMethod::Auto, &text, &[], &[("N", 1), ("M", 1)])
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found = report.violation.map(|(values, ..)| values);
        assert_eq!(found, expected.map(Vec::from), "{text}");
        assert_eq!(report.verdict == Verdict::Holds, expected.is_none(), "{text}");
        // What is proved for all large numbers leaves those with few of one type.
        assert!(expected.is_some() || report.proofs.len() > 2, "{text}");
        if expected == Some([1, 4]) {
            let report = every_of(EveryMethod::Auto, &text, &[], &[("N", 2), ("M", 1)]).expect("an answer");
            assert_eq!(report.verdict, Verdict::Holds, "{text}");
        }
    }
}

/// Objects of two types are kept apart; what mixes them is refused.
#[test]
fn what_mixes_types_is_refused() {
    let ranges = "client: 1..N; server: 1..M;";
    let cases = [
        (ranges, "", "ruleset c: client; s: server do rule c = s ==> x := 1; end; end;", "two types are compared"),
        (ranges, "", "ruleset c: client; s: server do rule c < s ==> x := 1; end; end;", "two types are compared"),
        (
            ranges,
            "",
            "ruleset c: client; d: client do rule c < d ==> x := 1; end; end;",
            "not supported with two types",
        ),
        (ranges, "", "ruleset c: client do rule x = 0 ==> mode[c] := l1; end; end;", "one of another type"),
        (ranges, "", "ruleset c: client do rule x = 0 ==> home := c; end; end;", "one of another type"),
        (
            TWO_SETS,
            "var seen: array [client] of array [server] of boolean;",
            "rule x = 0 ==> x := 1; end;",
            "each pair of objects",
        ),
        (
            TWO_SETS,
            "var server_of: array [client] of server;",
            "rule x = 0 ==> x := 1; end;",
            "lets objects refer to objects",
        ),
        (
            TWO_SETS,
            "",
            "rule forall c: client do at[c] = l0 | exists s: server do mode[s] = l1 end end ==> x := 1; end;",
            "one inside the other",
        ),
        (
            TWO_SETS,
            "",
            "rule x = 0 ==> for c: client do for s: server do mode[s] := l1; end; end; end;",
            "for each object",
        ),
        ("client: scalarset(N); server: scalarset(M + N);", "", "rule x = 0 ==> x := 1; end;", "depends on two"),
        (
            "client: scalarset(N); server: scalarset(M); third: scalarset(N);",
            "var more: array [third] of boolean;",
            "rule x = 0 ==> x := 1; end;",
            "more than 2 types",
        ),
    ];
    for (types, declarations, rule, reason) in cases {
        let text = text_of_two(types, declarations, rule);
        match every_of(EveryMethod::Auto, &text, &[], &[("N", 1), ("M", 1)]) {
            Ok(report) => panic!("{:?}\n{text}", report.verdict),
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains(reason) && said.contains("not for every N and M"), "{said}\n{text}");
            }
        }
    }
}

/// What looks similar and is supported.
#[test]
fn what_concerns_few_of_two_types_is_proved() {
    let rules = [
        "ruleset c: client; s: server do rule at[c] = l0 & mode[s] = l0 ==> at[c] := l1; mode[s] := l1; owner := c; home := s; \
         end; end;",
        "rule x = 0 ==> for c: client do at[c] := l1; end; for s: server do if mode[s] = l0 then mode[s] := l1; end; end; end;",
        "rule forall c: client do at[c] = l0 | forall s: server do mode[s] = l0 end end ==> x := 1; end;",
        "ruleset c: client do rule !isundefined(home) & mode[home] = l0 ==> mode[home] := l1; at[c] := l1; end; end;\n\
         ruleset s: server do rule isundefined(home) ==> home := s; end; end;",
    ];
    let types = [TWO_SETS, "client: 1..N; server: 1..M;", "client: scalarset(N); server: 0..M-1;"];
    for rule in rules {
        for types in types {
            let text = text_of_two(types, "", rule);
            let report = every_of(EveryMethod::Auto, &text, &[], &[("N", 1), ("M", 1)])
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(report.verdict, Verdict::Holds, "{text}");
            assert!(report.proofs.iter().all(|proof| proof.rechecked > 0 && !proof.compared.is_empty()), "{text}");
        }
        // A shared variable that names either, and one constant for both types.
        let either = "either: union { client, server };";
        let moved = "ruleset e: either do rule x = 0 ==> chosen := e; x := 1; end; end;";
        for (types, constants) in
            [(TWO_SETS, &[("N", 1), ("M", 1)][..]), ("client: scalarset(N); server: scalarset(N);", &[("N", 1)])]
        {
            let text = text_of_two(&format!("{types} {either}"), "var chosen: either;", &format!("{rule}\n{moved}"));
            let report =
                every_of(EveryMethod::Auto, &text, &[], constants).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(report.verdict, Verdict::Holds, "{text}");
        }
    }
}
