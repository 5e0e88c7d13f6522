//! Detection and certification against the brute-force oracle: no symmetry that is none, on the example
//! models, on models that once went wrong and on random ones; no certificate for a permutation that is
//! no symmetry; and for every scalarset its whole symmetric group, from the text alone.
//!
//! Some hundred random models are tried; `QUOTIENT_RANDOM_MODELS` sets another number of each sort, and
//! `QUOTIENT_RANDOM_SEED` the first seed.

use std::fs;
use std::thread::available_parallelism;

use num_bigint::BigUint;
use quotient_groups::{PermutationGroup, Point, SparsePermutation};
use quotient_ir::{Layout, Model, PropertyId, TypeKind};
use quotient_symmetry::{Certifier, detect};
use quotient_testkit::examples::{load_murphi, murphi_examples};
use quotient_testkit::expectation::with_constants;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::random_murphi::{ProgramOptions, Random, random_program};
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};
use quotient_testkit::symmetry_oracle::{Extent, NoFullEncoding, StateSpace, audit, full_symmetries};

fn workers() -> usize {
    available_parallelism().map_or(2, usize::from)
}

fn report(wrong: &[String], tried: usize) {
    assert!(wrong.is_empty(), "{} of {tried} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The title, the expected order and the text of each model of a file.
fn cases() -> Vec<(&'static str, &'static str, &'static str)> {
    let cases = include_str!("symmetry.txt").split("\n=== ").skip(1);
    let split = |case: &'static str| {
        let (title, rest) = case.split_once('\n').expect("a title");
        let (expectation, text) = rest.split_once('\n').expect("an expectation");
        (title, expectation.strip_prefix("order ").expect("an order"), text)
    };
    cases.map(split).collect()
}

#[test]
fn models_that_once_went_wrong_have_their_symmetries() {
    let cases = cases();
    let check = |&(title, expectation, text): &(&str, &str, &str)| -> Result<(), String> {
        let model = load_murphi(title, text, &[])?;
        let found = audit(&model, 20_000, Extent::Completeness)?;
        let (order, comparison) = match expectation.split_once(' ') {
            Some((order, "reachable")) => (order, found.reachable),
            _ => (expectation, found.possible.or(found.reachable)),
        };
        let comparison = comparison.ok_or("there are too many states")?;
        if comparison.found.to_string() != order {
            let events = comparison.by_events.map_or_else(|| "?".to_owned(), |order| order.to_string());
            return Err(format!("order {} instead of {order}; by events {events}", comparison.found));
        }
        Ok(())
    };
    let wrong: Vec<String> =
        map_on_workers(workers(), &cases, |case| check(case).err().map(|reason| format!("{}: {reason}", case.0)))
            .into_iter()
            .flatten()
            .collect();
    report(&wrong, cases.len());
}

#[test]
fn symmetries_of_the_examples_are_symmetries() {
    const MOST_STATES: u64 = 20_000;
    let mut work = Vec::new();
    for example in murphi_examples() {
        for case in &example.header.cases {
            if case.states <= MOST_STATES {
                work.push((example.clone(), case.clone()));
            }
        }
    }
    let wrong: Vec<String> = map_on_workers(workers(), &work, |(example, case)| {
        let result = example.load(case).and_then(|model| audit(&model, MOST_STATES as usize, Extent::Soundness));
        result.err().map(|reason| format!("{} {}: {reason}", example.name, case.label()))
    })
    .into_iter()
    .flatten()
    .collect();
    report(&wrong, work.len());
}

/// Audits the programs of some seeds; those that are no programs do not count.
fn audit_programs(default: u64, program: impl Fn(u64) -> String + Sync) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_MODELS", default)).collect();
    let results = map_on_workers(workers(), &seeds, |&seed| {
        let model = load_murphi("random", &program(seed), &[]).ok()?;
        Some(audit(&model, 2000, Extent::Soundness).map_err(|reason| format!("seed {seed}: {reason}")))
    });
    let audits: Vec<_> = results.into_iter().flatten().collect();
    let wrong: Vec<String> = audits.iter().filter_map(|audit| audit.as_ref().err().cloned()).collect();
    report(&wrong, audits.len());
    let nontrivial = audits.iter().flatten().filter(|audit| audit.order > BigUint::from(1u32)).count();
    assert!(nontrivial * 20 > audits.len(), "only {nontrivial} of {} models have any symmetry", audits.len());
}

#[test]
fn symmetries_of_random_symmetric_models_are_symmetries() {
    audit_programs(200, |seed| symmetric_program(seed, Kind::Symmetric));
}

#[test]
fn symmetries_of_nearly_symmetric_models_are_symmetries() {
    audit_programs(200, |seed| symmetric_program(seed, Kind::NearlySymmetric));
}

#[test]
fn symmetries_of_random_models_are_symmetries() {
    audit_programs(200, |seed| {
        random_program(seed, &ProgramOptions { size: 2, most_states: 2000, extensions: seed % 2 == 0 })
    });
}

/// Random permutations of literals, most of them near to symmetries and few of them symmetries.
fn corrupted(generators: &[SparsePermutation], certifier: &Certifier<'_>, random: &mut Random) -> SparsePermutation {
    let slots = certifier.literals().slots();
    let movable: Vec<_> = slots.iter().filter(|slot| !slot.wide && slot.values.len() > 1).collect();
    let base = match generators {
        [] => SparsePermutation::identity(),
        generators => random.pick(generators).clone(),
    };
    if movable.is_empty() {
        return base;
    }
    let exchange = |pairs: Vec<(Point, Point)>| {
        let mut moves: Vec<(Point, Point)> = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        moves.retain(|(from, to)| from != to);
        moves.sort_unstable();
        moves.dedup();
        SparsePermutation::from_moves(moves).unwrap_or_else(|_| SparsePermutation::identity())
    };
    let slot = *random.pick(&movable);
    let other = *random.pick(&movable);
    let value = |random: &mut Random| slot.first + random.below(slot.values.len()) as Point;
    let change = match random.below(5) {
        // Two values of a slot.
        0 => exchange(vec![(value(random), value(random))]),
        // Two slots with as many values, in order.
        1 if slot.values.len() == other.values.len() => {
            exchange((0..slot.values.len() as Point).map(|at| (slot.first + at, other.first + at)).collect())
        }
        // Two values of all slots that have them.
        2 => {
            let (a, b) = (*random.pick(&slot.values), *random.pick(&slot.values));
            let position = |entry: &quotient_symmetry::SlotLiterals, value: &Option<i64>| {
                entry.values.binary_search(value).ok().map(|at| entry.first + at as Point)
            };
            let pair = |entry: &&quotient_symmetry::SlotLiterals| Some((position(entry, &a)?, position(entry, &b)?));
            exchange(movable.iter().filter_map(pair).collect())
        }
        // Any two literals.
        3 => exchange(vec![(value(random), other.first + random.below(other.values.len()) as Point)]),
        // Another generator.
        _ => match generators {
            [] => exchange(vec![(value(random), value(random))]),
            generators => random.pick(generators).power(random.between(1, 3)),
        },
    };
    base.then(&change)
}

#[test]
fn permutations_that_are_no_symmetries_get_no_certificate() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let count = number_from("QUOTIENT_RANDOM_MODELS", 150);
    let mut texts: Vec<(String, String)> =
        (first..first + count).map(|seed| (format!("seed {seed}"), symmetric_program(seed, Kind::Symmetric))).collect();
    for example in murphi_examples().into_iter().filter(|example| example.header.cases[0].states <= 5000) {
        texts.push((example.name, example.text));
    }
    let results = map_on_workers(workers(), &texts, |(name, text)| -> Option<(u64, u64, Vec<String>)> {
        let model = load_murphi(name, text, &[]).ok()?;
        let layout = Layout::new(&model).expect("a small model");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let detection = detect(&model, &layout, &properties, &quotient_ir::Budget::unlimited())
            .expect("what is found is certified");
        let mut certifier =
            Certifier::new(&model, &layout, &properties, &quotient_ir::Budget::unlimited()).expect("unlimited");
        let space = StateSpace::reachable(&model, &layout, 5000).ok()?;
        let possible = StateSpace::possible(&model, &layout, certifier.literals(), 2000).ok();
        let mut random = Random::new(first);
        let (mut refused, mut certified, mut wrong) = (0, 0, Vec::new());
        for _ in 0..30 {
            let permutation = corrupted(detection.group.generators(), &certifier, &mut random);
            match certifier.check(&permutation) {
                Err(_) => refused += 1,
                Ok(map) => {
                    certified += 1;
                    for space in [Some(&space), possible.as_ref()].into_iter().flatten() {
                        if let Err(reason) = space.preserves(&map) {
                            let permutation = certifier.literals().describe(&model, &layout, &permutation);
                            wrong.push(format!("{name}: {permutation} was certified: {reason}"));
                        }
                    }
                }
            }
        }
        Some((refused, certified, wrong))
    });
    let (mut refused, mut certified, mut wrong) = (0, 0, Vec::new());
    for (some_refused, some_certified, some_wrong) in results.into_iter().flatten() {
        refused += some_refused;
        certified += some_certified;
        wrong.extend(some_wrong);
    }
    report(&wrong, texts.len());
    assert!(refused > 10 * count, "only {refused} permutations were refused");
    assert!(certified > count, "only {certified} permutations were certified");
}

/// The orders of the groups found through the compact graph and through the full one, if that one is small
/// enough to be built.
fn both_orders(model: &Model, limit: usize) -> Result<Result<(BigUint, BigUint), NoFullEncoding>, String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let detection =
        detect(model, &layout, &properties, &quotient_ir::Budget::unlimited()).map_err(|error| error.to_string())?;
    let literals = detection.group.literals();
    let full = match full_symmetries(model, &layout, literals, &properties, limit) {
        Ok(full) => full,
        Err(reason) => return Ok(Err(reason)),
    };
    let order = |generators: Vec<SparsePermutation>| PermutationGroup::new(literals.degree(), generators).order();
    let compact = detection.group.generators().to_vec();
    let joint = order(full.iter().chain(&compact).cloned().collect());
    let (full, compact) = (order(full), order(compact));
    if joint != full {
        return Err(format!("of {compact} symmetries not all are among the {full} of the full graph"));
    }
    Ok(Ok((compact, full)))
}

/// Rows of a table of the full encoding, and initial states.
const FULL_LIMIT: usize = 3000;

#[test]
fn the_full_graph_of_the_examples_has_the_same_symmetries() {
    let mut work = Vec::new();
    for example in murphi_examples() {
        for case in &example.header.cases {
            work.push((example.clone(), case.clone()));
        }
    }
    let results = map_on_workers(workers(), &work, |(example, case)| {
        let orders = example.load(case).and_then(|model| both_orders(&model, FULL_LIMIT));
        (format!("{} {}", example.name, case.label()), orders)
    });
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, orders) in results {
        match orders {
            Err(reason) => wrong.push(format!("{name}: {reason}")),
            Ok(Err(_)) => {}
            Ok(Ok((compact, full))) => {
                compared += 1;
                if compact != full {
                    wrong.push(format!("{name}: {compact} symmetries, {full} in the full graph"));
                }
            }
        }
    }
    report(&wrong, work.len());
    assert!(compared > 20, "only {compared} of {} have a full graph", work.len());
}

#[test]
fn the_full_graph_of_random_models_has_the_same_symmetries() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_MODELS", 150)).collect();
    let results = map_on_workers(workers(), &seeds, |&seed| {
        let options = ProgramOptions { size: 2, most_states: 2000, extensions: seed.is_multiple_of(2) };
        let texts = [
            symmetric_program(seed, Kind::Symmetric),
            symmetric_program(seed, Kind::NearlySymmetric),
            random_program(seed, &options),
        ];
        let models = texts.iter().filter_map(|text| load_murphi("random", text, &[]).ok());
        models
            .map(|model| both_orders(&model, 500).map_err(|reason| format!("seed {seed}: {reason}")))
            .collect::<Vec<_>>()
    });
    let (mut compared, mut smaller, mut wrong) = (0u64, Vec::new(), Vec::new());
    for (seed, orders) in seeds.iter().zip(results).flat_map(|(seed, all)| all.into_iter().map(move |one| (seed, one)))
    {
        match orders {
            Err(reason) => wrong.push(reason),
            Ok(Err(_)) => {}
            Ok(Ok((compact, full))) => {
                compared += 1;
                if compact != full {
                    smaller.push(format!("seed {seed}: {compact} of {full}"));
                }
            }
        }
    }
    report(&wrong, seeds.len());
    assert!(compared > seeds.len() as u64, "only {compared} have a full graph");
    // Equal functions in different forms, of which docs/detection-completeness.md tells.
    assert!(smaller.len() as u64 * 100 <= compared, "of {compared}:\n{}", smaller.join("\n"));
}

#[test]
fn inputs_of_two_starts_are_not_confused() {
    // Each start sets both variables, the second to one number. The relation of the third to the other
    // two is the same for both starts where the two are equal, and only there.
    let text = "
        type pair: array [0 .. 1] of 0 .. 1; single: array [0 .. 0] of 0 .. 1;
        var a, b, z: 0 .. 1;
        ruleset i: pair do startstate a := i[0]; b := i[1]; z := i[0] < i[1] ? 1 : 0; end; end;
        ruleset j: single do startstate a := j[0]; b := j[0]; z := 0; end; end;";
    let model = load_murphi("two starts", text, &[]).expect("a model");
    let layout = Layout::new(&model).expect("a small model");
    let mut certifier = Certifier::new(&model, &layout, &[], &quotient_ir::Budget::unlimited()).expect("unlimited");
    let exchange = SparsePermutation::from_moves(vec![(0, 2), (2, 0), (1, 3), (3, 1)]).expect("a permutation");
    assert!(certifier.check(&exchange).is_err());
}

#[test]
fn assumptions_are_preserved_whatever_is_checked() {
    let text = "
        var a, b: 0 .. 1;
        startstate a := 0; b := 0; end;
        rule begin a := 1 - a; end;
        rule begin b := 1 - b; end;
        assume a = 0;";
    let model = load_murphi("an assumption", text, &[]).expect("a model");
    let layout = Layout::new(&model).expect("a small model");
    let detection =
        detect(&model, &layout, &[], &quotient_ir::Budget::unlimited()).expect("what is found is certified");
    let space = StateSpace::reachable(&model, &layout, 10).expect("a few states");
    for map in detection.group.maps() {
        assert_eq!(space.preserves(map), Ok(()));
    }
}

/// A text in which every scalarset is a range, and the sizes of the scalarsets, by the name of the type.
fn without_scalarsets(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut result = String::new();
    let mut at = 0;
    while let Some(found) = lower[at..].find("scalarset") {
        let start = at + found;
        let before_is_word = lower[..start].ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let rest = text[start + "scalarset".len()..].trim_start();
        let Some(size) = rest.strip_prefix('(').filter(|_| !before_is_word).and_then(|rest| rest.split_once(')'))
        else {
            result.push_str(&text[at..start + 1]);
            at = start + 1;
            continue;
        };
        result.push_str(&text[at..start]);
        result.push_str(&format!("0 .. ({}) - 1", size.0));
        at = text.len() - size.1.len();
    }
    result + &text[at..]
}

/// The order of the group that declared scalarsets stand for, as far as it moves any literal: the
/// product of the factorials of their sizes.
fn declared_order(model: &Model, layout: &Layout) -> BigUint {
    let used = |ty| {
        let mentions =
            |slot: &quotient_ir::Slot| slot.ty == ty || indexes(model, model.variables[slot.variable].ty, ty);
        layout.slots.iter().any(mentions)
    };
    let sizes = model.types.iter_enumerated().filter_map(|(id, ty)| match ty.kind {
        TypeKind::Scalarset { size, .. } if used(id) => Some(size),
        _ => None,
    });
    sizes.flat_map(|size| 1..=size).map(BigUint::from).product()
}

/// Whether a type has arrays with that index.
fn indexes(model: &Model, ty: quotient_ir::TypeId, index: quotient_ir::TypeId) -> bool {
    match &model.types[ty].kind {
        TypeKind::Array { index: own, element } => *own == index || indexes(model, *element, index),
        TypeKind::Record { fields } => fields.iter().any(|field| indexes(model, field.ty, index)),
        TypeKind::Multiset { element, .. } => indexes(model, *element, index),
        _ => false,
    }
}

#[test]
fn scalarsets_need_not_be_declared() {
    let mut texts: Vec<(String, String)> =
        murphi_examples().into_iter().map(|example| (example.name, example.text)).collect();
    if let Some(folder) = corpus("murphi", "scalarsets of real models") {
        let entries = fs::read_dir(&folder).expect("the corpus can be listed").flatten();
        for entry in entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "m")) {
            if let Ok(text) = fs::read_to_string(entry.path()) {
                texts.push((entry.file_name().to_string_lossy().into_owned(), text));
            }
        }
    }
    // Its only start always goes wrong, so there is nothing to exchange.
    texts.retain(|(name, text)| name != "scalarset-undefined.m" && text.to_lowercase().contains("scalarset"));
    assert!(texts.len() >= 4, "only {} models have scalarsets", texts.len());
    let mut wrong = Vec::new();
    for (name, text) in &texts {
        let Ok(declared) = load_murphi(name, text, &[]) else { continue };
        let declared_layout = Layout::new(&declared).expect("an example");
        let expected = declared_order(&declared, &declared_layout);
        let undeclared = without_scalarsets(text);
        // Declarations that hold are the whole group; those that do not are refused with a reason.
        let properties: Vec<PropertyId> = declared.properties.indices().collect();
        let promised =
            quotient_symmetry::declared(&declared, &declared_layout, &properties, &quotient_ir::Budget::unlimited())
                .expect("what is certified is not contradicted");
        let degree = promised.group.literals().degree();
        let kept = PermutationGroup::new(degree, promised.group.generators().to_vec()).order();
        let is_explained = promised.refused.iter().all(|refused| !refused.reasons.is_empty());
        if !is_explained || (promised.refused.is_empty() && kept != expected) || &expected % &kept != BigUint::ZERO {
            wrong.push(format!("{name}: of {expected} declared, {kept} hold; {:?} refused", promised.refused));
        }
        // A union can have no range for a member; detection does not look at declarations anyway.
        let model = match load_murphi(name, &undeclared, &[]) {
            Ok(model) => model,
            Err(_) => declared,
        };
        let layout = Layout::new(&model).expect("an example");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let detection = detect(&model, &layout, &properties, &quotient_ir::Budget::unlimited())
            .expect("what is found is certified");
        let group = &detection.group;
        let order = PermutationGroup::new(group.literals().degree(), group.generators().to_vec()).order();
        if &order % &kept != BigUint::ZERO {
            let fixed: Vec<&str> = detection.fixed.iter().map(|fixed| fixed.reason.as_str()).collect();
            wrong.push(format!("{name}: order {order}, declared {expected}; fixed: {fixed:?}"));
        }
    }
    report(&wrong, texts.len());
}

#[test]
fn the_text_without_scalarsets() {
    assert_eq!(without_scalarsets("a: Scalarset (N+1); scalarsets: 0..1"), "a: 0 .. (N+1) - 1; scalarsets: 0..1");
    // Constants keep working in it.
    assert!(with_constants("const\n  N: 3;\n", &[("N".into(), "4".into())]).is_ok());
}
