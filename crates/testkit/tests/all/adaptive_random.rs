//! Adaptive symmetry reduction against brute force: the states that annotated states stand for are
//! exactly the reachable ones, violations come at the same distance, and the partition of each rule is
//! the coarsest one that preserves it.

use std::collections::{BTreeMap, BTreeSet};

use quotient_explicit::{AdaptiveError, PartitionTime, check_adaptive, guarded_quotient};
use quotient_ir::{
    DeadlockMode, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, TableIndex, Valuation, Violation,
};
use quotient_search::{Extent, Report, SearchOptions, Silent, Verdict};
use quotient_symmetry::{Arrangement, Desk, PartialSymmetry, Partition};
use quotient_testkit::examples::load_murphi;
use quotient_testkit::partial_murphi::partial_program;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::search::check;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};

/// Larger state spaces are left to others.
const LARGEST: u64 = 20_000;

fn programs() -> Vec<(String, String)> {
    let mut programs = Vec::new();
    for seed in 0..400 {
        programs.push((format!("partial {seed}"), partial_program(seed)));
    }
    for seed in 0..160 {
        programs.push((format!("nearly symmetric {seed}"), symmetric_program(seed, Kind::NearlySymmetric)));
    }
    for seed in 0..60 {
        programs.push((format!("symmetric {seed}"), symmetric_program(seed, Kind::Symmetric)));
    }
    // Changing one thing does not always leave a program.
    programs.retain(|(_, text)| load_murphi("random.m", text, &[]).is_ok());
    programs
}

fn safety(model: &Model) -> Vec<PropertyId> {
    let safety = model.properties.iter_enumerated().filter(|(_, entry)| entry.kind != PropertyKind::AlwaysReachable);
    safety.map(|(id, _)| id).collect()
}

/// When a violation is found by a breadth-first search: invariants when a state is met, the rest when
/// it is expanded.
fn level(report: &Report) -> Option<i64> {
    let trace = report.properties.iter().find_map(|entry| entry.trace.as_ref())?;
    let steps = trace.steps.len() as i64 - 1;
    Some(match trace.violation.as_ref().expect("a run to a violation") {
        Violation::Property { .. } | Violation::PropertyFault { .. } => steps - 1,
        _ => steps,
    })
}

/// All states that a state with a partition stands for.
fn orbit(arrangement: &Arrangement, state: &[u64], partition: &Partition) -> BTreeSet<Vec<u64>> {
    let mut orbit = BTreeSet::from([state.to_vec()]);
    let mut pending = vec![state.to_vec()];
    let mut image = Vec::new();
    while let Some(next) = pending.pop() {
        for first in 0..partition.members() {
            for second in first + 1..partition.members() {
                if partition.joins(first, second) {
                    let mut place_of: Vec<usize> = (0..partition.members()).collect();
                    place_of.swap(first, second);
                    arrangement.apply(&next, &place_of, &mut image);
                    if orbit.insert(image.clone()) {
                        pending.push(image.clone());
                    }
                }
            }
        }
    }
    orbit
}

fn reachable(model: &Model, interpreter: &Interpreter<'_>) -> BTreeSet<Vec<u64>> {
    let layout = interpreter.layout();
    let mut known: BTreeSet<Vec<u64>> = BTreeSet::new();
    let mut pending: Vec<Valuation> = Vec::new();
    let assumed = |state: &Valuation| {
        model.properties.iter_enumerated().filter(|(_, entry)| entry.kind == PropertyKind::Assumption).all(
            |(id, entry)| {
                interpreter
                    .instances(&entry.parameters, &entry.locals)
                    .all(|arguments| interpreter.holds(id, &arguments, state) == Ok(true))
            },
        )
    };
    let mut add = |outcome: Outcome, pending: &mut Vec<Valuation>| {
        if let Outcome::Next { state, .. } = outcome
            && assumed(&state)
            && known.insert(layout.state(&state).0.to_vec())
        {
            pending.push(state);
        }
    };
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            add(interpreter.run_start(start, &arguments), &mut pending);
        }
    }
    while let Some(state) = pending.pop() {
        for (rule, entry) in model.rules.iter_enumerated() {
            for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                if interpreter.enabled(rule, &arguments, &state) == Ok(true) {
                    add(interpreter.fire(rule, &arguments, &state), &mut pending);
                }
            }
        }
    }
    known
}

/// What a comparison came to.
#[derive(Debug, Default)]
struct Tally {
    holds: usize,
    violated: usize,
    smaller: usize,
    refused: usize,
}

fn compare(text: &str, options: &SearchOptions, time: PartitionTime) -> Result<Tally, String> {
    let model = load_murphi("random.m", text, &[])?;
    let layout = Layout::new(&model).map_err(|error| error.to_string())?;
    let options = SearchOptions { properties: Some(safety(&model)), max_states: Some(LARGEST), ..options.clone() };
    let whole = check(&model, &options, &mut Silent).map_err(|error| error.to_string())?;
    if whole.verdict == Verdict::Inconclusive {
        return Ok(Tally::default());
    }
    let mut partial = match PartialSymmetry::new(&model, &layout, &safety(&model), &quotient_ir::Budget::unlimited()) {
        Ok(partial) => partial,
        Err(_) => return Ok(Tally { refused: 1, ..Tally::default() }),
    };
    let adaptive = match check_adaptive(&mut partial, &options, time, &mut Silent) {
        Ok(report) => report,
        Err(AdaptiveError::Unsupported(_)) => return Ok(Tally { refused: 1, ..Tally::default() }),
        Err(error) => return Err(error.to_string()),
    };
    if adaptive.report.verdict != whole.verdict {
        return Err(format!("{:?} adaptively, {:?} by a whole search", adaptive.report.verdict, whole.verdict));
    }
    if level(&adaptive.report) != level(&whole) {
        return Err(format!("found at {:?}, by a whole search at {:?}", level(&adaptive.report), level(&whole)));
    }
    let smaller = usize::from(adaptive.report.states < whole.states);
    if whole.stop_reason.is_some() {
        return Ok(Tally { violated: 1, smaller, ..Tally::default() });
    }
    if adaptive.report.represented.as_ref().is_some_and(|count| count.to_string() != whole.states.to_string()) {
        return Err(format!("{:?} represented, {} reachable", adaptive.report.represented, whole.states));
    }
    let arrangement = Arrangement::new(partial.families(), &layout);
    let mut represented = BTreeSet::new();
    for (state, partition) in &adaptive.annotated {
        represented.extend(orbit(&arrangement, state, partition));
    }
    let expected = reachable(&model, &Interpreter::new(&model, &layout));
    if represented != expected {
        return Err(format!(
            "{} states are represented and not reachable, {} reachable and not represented",
            represented.difference(&expected).count(),
            expected.difference(&represented).count()
        ));
    }
    Ok(Tally { holds: 1, smaller, ..Tally::default() })
}

/// Theorem 6, with the verdicts and distances of violations.
#[test]
fn annotated_states_stand_for_the_reachable_ones() {
    let programs = programs();
    let results: Vec<Result<Tally, String>> = map_on_workers(2, &programs, |(name, text)| {
        let mut sum = Tally::default();
        for deadlock in [DeadlockMode::Off, DeadlockMode::Stuttering] {
            let options = SearchOptions { deadlock, ..SearchOptions::default() };
            let time = if deadlock == DeadlockMode::Off { PartitionTime::Lazy } else { PartitionTime::Eager };
            let tally = compare(text, &options, time).map_err(|error| format!("{name}: {error}\n{text}"))?;
            sum.holds += tally.holds;
            sum.violated += tally.violated;
            sum.smaller += tally.smaller;
            sum.refused += tally.refused;
        }
        Ok(sum)
    });
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong; the first:\n{}", wrong.len(), wrong[0]);
    let total = |field: fn(&Tally) -> usize| results.iter().flatten().map(field).sum::<usize>();
    let (holds, violated, smaller) =
        (total(|tally| tally.holds), total(|tally| tally.violated), total(|tally| tally.smaller));
    let refused = total(|tally| tally.refused);
    assert!(
        holds > 300 && violated > 100 && smaller > 300,
        "{holds} hold, {violated} not, {smaller} smaller, {refused} refused"
    );
}

/// A search that looks at nothing but the states.
fn states_only() -> SearchOptions {
    SearchOptions {
        properties: Some(Vec::new()),
        deadlock: DeadlockMode::Off,
        max_states: Some(LARGEST),
        ..Default::default()
    }
}

/// Runs something on the partial symmetry of each program that has one.
fn for_each_program<T: Send>(
    programs: &[(String, String)],
    work: impl Fn(&Model, &Layout, &mut PartialSymmetry<'_>) -> Result<T, String> + Sync,
) -> Vec<T> {
    let results: Vec<Result<Option<T>, String>> = map_on_workers(2, programs, |(name, text)| {
        let model = load_murphi("random.m", text, &[])?;
        let layout = Layout::new(&model).map_err(|error| error.to_string())?;
        let Ok(mut partial) = PartialSymmetry::new(&model, &layout, &safety(&model), &quotient_ir::Budget::unlimited())
        else {
            return Ok(None);
        };
        work(&model, &layout, &mut partial).map(Some).map_err(|error| format!("{name}: {error}\n{text}"))
    });
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong; the first:\n{}", wrong.len(), wrong[0]);
    results.into_iter().flatten().flatten().collect()
}

/// Where it is asked for, the search itself makes the comparison.
#[test]
fn cross_checks_agree() {
    let programs: Vec<(String, String)> = programs().into_iter().step_by(3).collect();
    let extents = for_each_program(&programs, |model, _, partial| {
        let options = SearchOptions {
            properties: Some(safety(model)),
            max_states: Some(LARGEST),
            cross_check: true,
            ..Default::default()
        };
        match check_adaptive(partial, &options, PartitionTime::IfNeeded, &mut Silent) {
            Ok(report) => {
                let comparison = report.report.cross_check.clone().expect("it was asked for");
                let complete = report.report.stop_reason.is_none();
                if complete != (comparison.extent == Extent::Everything) && comparison.whole.stop_reason.is_none() {
                    return Err(format!("{:?} was compared", comparison.extent));
                }
                Ok(Some(comparison.extent))
            }
            Err(AdaptiveError::Unsupported(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    });
    let count = |wanted: Extent| extents.iter().flatten().filter(|extent| **extent == wanted).count();
    let (states, verdicts) = (count(Extent::Everything), count(Extent::Verdicts));
    assert!(states > 30 && verdicts > 30, "{states} with all states, {verdicts} with verdicts");
}

/// Theorem 7: over members that no rule tells apart (friends), there are no more combinations of local
/// states than standard reduction has.
#[test]
fn friends_have_as_few_combinations_as_with_standard_reduction() {
    let programs: Vec<(String, String)> = programs().into_iter().step_by(2).collect();
    let compared = for_each_program(&programs, |model, layout, partial| {
        let options = states_only();
        let arrangement = Arrangement::new(partial.families(), layout);
        if !arrangement.is_plain() || model.properties.iter().any(|entry| entry.kind == PropertyKind::Assumption) {
            return Ok(0);
        }
        let report = match check_adaptive(partial, &options, PartitionTime::Lazy, &mut Silent) {
            Ok(report) => report,
            Err(AdaptiveError::Unsupported(_)) => return Ok(0),
            Err(error) => return Err(error.to_string()),
        };
        let mut friends = partial.coarsest();
        for rule in model.rules.indices() {
            friends = friends.meet(&partial.rule(rule).map_err(|error| error.to_string())?.partition);
        }
        // Starts tell members apart, too.
        if !report.annotated.iter().any(|(_, partition)| *partition == partial.coarsest()) {
            return Ok(0);
        }
        let mut desk = Desk::default();
        let mut compared = 0;
        for cell in friends.cells().into_iter().filter(|cell| cell.len() > 1) {
            let (mut combinations, mut locals) = (BTreeSet::new(), BTreeSet::new());
            for (state, partition) in &report.annotated {
                if cell.iter().any(|&member| !partition.joins(cell[0], member)) {
                    return Ok(compared);
                }
                let blocks = arrangement.blocks(&mut desk, state);
                let own: Vec<u64> = cell.iter().map(|&member| blocks[member]).collect();
                locals.extend(own.iter().copied());
                combinations.insert(own);
            }
            // Choosing |F| of l local states with repetition.
            let (friends, states) = (cell.len() as u128, locals.len() as u128);
            let bound = (1..=friends).fold(1, |product, number| product * (states + number - 1) / number);
            if combinations.len() as u128 > bound {
                return Err(format!("{} combinations of {friends} friends, more than {bound}", combinations.len()));
            }
            compared += 1;
        }
        Ok(compared)
    });
    let compared: usize = compared.iter().sum();
    assert!(compared > 100, "only {compared} sets of friends were compared");
}

/// A model that tells nobody apart: exactly the orbits are stored, whether the permutations of families
/// are taken for the symmetries they are, or states are annotated one by one.
#[test]
fn symmetric_models_are_reduced_to_their_orbits() {
    let programs: Vec<(String, String)> =
        (0..300).map(|seed| (format!("symmetric {seed}"), symmetric_program(seed, Kind::Symmetric))).collect();
    let compared = for_each_program(&programs, |model, layout, partial| {
        let options = states_only();
        let text = |error: &dyn std::fmt::Display| error.to_string();
        if partial.whole_group().map_err(|error| text(&error))?.is_none() {
            return Ok(0);
        }
        let whole =
            check_adaptive(partial, &options, PartitionTime::IfNeeded, &mut Silent).map_err(|error| text(&error))?;
        let single =
            check_adaptive(partial, &options, PartitionTime::Lazy, &mut Silent).map_err(|error| text(&error))?;
        let unreduced = check(model, &options, &mut Silent).map_err(|error| text(&error))?;
        if [&whole.report, &single.report].iter().any(|report| report.verdict != unreduced.verdict) {
            return Err("the verdicts differ".to_owned());
        }
        if unreduced.stop_reason.is_some() {
            return Ok(0);
        }
        let (coarsest, arrangement) = (partial.coarsest(), Arrangement::new(partial.families(), layout));
        let mut states = reachable(model, &Interpreter::new(model, layout));
        let mut orbits = 0;
        while let Some(state) = states.pop_first() {
            orbits += 1;
            orbit(&arrangement, &state, &coarsest).iter().for_each(|image| {
                states.remove(image);
            });
        }
        if (whole.report.states, single.report.states) != (orbits, orbits) {
            return Err(format!("{} and {} states, {orbits} orbits", whole.report.states, single.report.states));
        }
        Ok(1)
    });
    let compared: usize = compared.iter().sum();
    assert!(compared > 30, "only {compared} programs were compared");
}

/// What an instance does in each state.
type Behaviour = Vec<(u8, Vec<u64>, Vec<PropertyId>)>;

/// The coarsest partition whose permutations preserve the set of a rule's instances, by running them in
/// every state.
fn coarsest_by_force(
    partial: &PartialSymmetry<'_>,
    interpreter: &Interpreter<'_>,
    rule: quotient_ir::RuleId,
    states: &[Valuation],
    packed: &BTreeMap<Vec<u64>, usize>,
    arrangement: &Arrangement,
) -> Partition {
    let layout = interpreter.layout();
    let entry = &interpreter.model().rules[rule];
    let behaviour = |arguments: &[i64]| -> Behaviour {
        states
            .iter()
            .map(|state| match interpreter.enabled(rule, arguments, state) {
                Err(_) => (0, Vec::new(), Vec::new()),
                Ok(false) => (1, Vec::new(), Vec::new()),
                Ok(true) => match interpreter.fire(rule, arguments, state) {
                    Outcome::Fault(_) => (0, Vec::new(), Vec::new()),
                    Outcome::Pruned => (1, Vec::new(), Vec::new()),
                    Outcome::Next { state, covered } => (2, layout.state(&state).0.to_vec(), covered),
                },
            })
            .collect()
    };
    let idle = |behaviour: &Behaviour| behaviour.iter().all(|entry| entry.0 == 1);
    let all: BTreeSet<Behaviour> = interpreter
        .instances(&entry.parameters, &entry.locals)
        .map(|arguments| behaviour(&arguments))
        .filter(|behaviour| !idle(behaviour))
        .collect();
    let words: Vec<Vec<u64>> = states.iter().map(|state| layout.state(state).0.to_vec()).collect();
    let members = partial.families().members();
    let preserves = |first: usize, second: usize| {
        let mut place_of: Vec<usize> = (0..members).collect();
        place_of.swap(first, second);
        let image = |state: &[u64]| {
            let mut image = Vec::new();
            arrangement.apply(state, &place_of, &mut image);
            image
        };
        let images: Vec<usize> = words.iter().map(|state| packed[&image(state)]).collect();
        all.iter().all(|behaviour| {
            // What the conjugate does in a state: the image of what this does in the image of it.
            let conjugate: Behaviour = images
                .iter()
                .map(|&at| {
                    let (kind, next, covered) = &behaviour[at];
                    let next = if *kind == 2 { image(next) } else { Vec::new() };
                    (*kind, next, covered.clone())
                })
                .collect();
            all.contains(&conjugate)
        })
    };
    let mut label: Vec<usize> = (0..members).collect();
    for member in 0..members {
        let family = partial.families().family_of(member);
        let known = (0..member).find(|&other| {
            label[other] == other && partial.families().family_of(other) == family && preserves(other, member)
        });
        if let Some(known) = known {
            label[member] = known;
        }
    }
    Partition::from_labels(label)
}

/// Every state over the values that slots are taken to hold, unless these are too many.
fn all_states(partial: &PartialSymmetry<'_>) -> Option<Vec<Valuation>> {
    const MOST: usize = 4_000;
    let mut states = vec![Vec::new()];
    for slot in partial.literals().slots().iter() {
        if slot.wide || states.len() * slot.values.len() > MOST {
            return None;
        }
        states = states
            .iter()
            .flat_map(|state: &Vec<Option<i64>>| {
                slot.values.iter().map(move |&value| state.iter().copied().chain([value]).collect())
            })
            .collect();
    }
    Some(states.into_iter().map(Valuation).collect())
}

#[test]
fn partitions_of_rules_are_the_coarsest() {
    let programs = programs();
    let results: Vec<Result<(usize, usize), String>> = map_on_workers(2, &programs, |(name, text)| {
        let model = load_murphi("random.m", text, &[])?;
        let layout = Layout::new(&model).map_err(|error| error.to_string())?;
        let Ok(mut partial) = PartialSymmetry::new(&model, &layout, &[], &quotient_ir::Budget::unlimited()) else {
            return Ok((0, 0));
        };
        let Some(states) = all_states(&partial) else { return Ok((0, 0)) };
        let interpreter = Interpreter::new(&model, &layout);
        let arrangement = Arrangement::new(partial.families(), &layout);
        let packed: BTreeMap<Vec<u64>, usize> =
            states.iter().enumerate().map(|(number, state)| (layout.state(state).0.to_vec(), number)).collect();
        let (mut rules, mut finer) = (0, 0);
        for rule in model.rules.indices() {
            let computed = partial.rule(rule).map_err(|error| error.to_string())?.partition.clone();
            let forced = coarsest_by_force(&partial, &interpreter, rule, &states, &packed, &arrangement);
            rules += 1;
            if computed != forced {
                if !computed.is_finer_than(&forced) {
                    return Err(format!(
                        "{name}: rule {} is said to preserve {} and preserves {}\n{text}",
                        rule.position(),
                        computed.describe(partial.families()),
                        forced.describe(partial.families())
                    ));
                }
                finer += 1;
            }
        }
        Ok((rules, finer))
    });
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong; the first:\n{}", wrong.len(), wrong[0]);
    let rules: usize = results.iter().flatten().map(|&(rules, _)| rules).sum();
    let finer: usize = results.iter().flatten().map(|&(_, finer)| finer).sum();
    assert!(rules > 300, "only {rules} rules were small enough");
    // Normal forms tell everything about small conditions, and a little less about large ones.
    assert!(finer * 1000 <= rules, "{finer} of {rules} partitions are finer than need be");
}

/// A state and one that a step leads to.
type Transition = (Vec<u64>, Vec<u64>);

/// All images of a transition under the permutations of a partition.
fn images(arrangement: &Arrangement, transition: Transition, partition: &Partition, known: &mut BTreeSet<Transition>) {
    let mut seen = BTreeSet::from([transition.clone()]);
    let mut pending = vec![transition];
    let (mut before, mut after) = (Vec::new(), Vec::new());
    while let Some((source, target)) = pending.pop() {
        for first in 0..partition.members() {
            for second in (first + 1..partition.members()).filter(|&second| partition.joins(first, second)) {
                let mut place_of: Vec<usize> = (0..partition.members()).collect();
                place_of.swap(first, second);
                arrangement.apply(&source, &place_of, &mut before);
                arrangement.apply(&target, &place_of, &mut after);
                let image = (before.clone(), after.clone());
                if seen.insert(image.clone()) {
                    pending.push(image);
                }
            }
        }
    }
    known.extend(seen);
}

/// The edges of the guarded annotated quotient stand for exactly the transitions of the model from all
/// states of its nodes.
#[test]
fn guarded_quotients_keep_every_transition() {
    const MOST: usize = 1_500;
    let programs = programs();
    let results: Vec<Result<usize, String>> = map_on_workers(2, &programs, |(name, text)| {
        let model = load_murphi("random.m", text, &[])?;
        let layout = Layout::new(&model).map_err(|error| error.to_string())?;
        let Ok(mut partial) = PartialSymmetry::new(&model, &layout, &[], &quotient_ir::Budget::unlimited()) else {
            return Ok(0);
        };
        let arrangement = Arrangement::new(partial.families(), &layout);
        let coarsest = partial.coarsest();
        let quotient =
            guarded_quotient(&mut partial, Some(200), &mut Silent).map_err(|error| format!("{name}: {error}"))?;
        if quotient.stop_reason.is_some() {
            return Ok(0);
        }
        let mut states = BTreeSet::new();
        for node in &quotient.nodes {
            states.extend(orbit(&arrangement, node, &coarsest));
        }
        if states.len() > MOST {
            return Ok(0);
        }
        let mut kept = BTreeSet::new();
        for edge in &quotient.edges {
            images(&arrangement, (edge.before.clone(), edge.after.clone()), &edge.partition, &mut kept);
        }
        let interpreter = Interpreter::new(&model, &layout);
        let mut real = BTreeSet::new();
        for packed in &states {
            let state = layout.unpack(packed);
            for (rule, entry) in model.rules.iter_enumerated() {
                for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                    if interpreter.enabled(rule, &arguments, &state) == Ok(true)
                        && let Outcome::Next { state: next, .. } = interpreter.fire(rule, &arguments, &state)
                    {
                        real.insert((packed.clone(), layout.state(&next).0.to_vec()));
                    }
                }
            }
        }
        if kept != real {
            let (less, more) = (real.difference(&kept).count(), kept.difference(&real).count());
            return Err(format!("{name}: {less} transitions are missing, {more} are not real\n{text}"));
        }
        Ok(1)
    });
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong; the first:\n{}", wrong.len(), wrong[0]);
    let compared: usize = results.iter().flatten().sum();
    assert!(compared > 200, "only {compared} quotients were small enough");
}
