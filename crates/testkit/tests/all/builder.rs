//! Models written with the builder against the same models in Murphi: the same states, rules fired, verdicts and
//! symmetries. Printed as Murphi and read again they are still the same.

use quotient_groups::PermutationGroup;
use quotient_ir::builder::{Expression, ModelBuilder, Type, conjunction, forall};
use quotient_ir::{DeadlockMode, Layout, Model, PrintOptions, print_murphi};
use quotient_symmetry::detect;
use quotient_testkit::examples::{load_murphi, workspace};
use quotient_testkit::oracle::explore;
use quotient_testkit::verdict::VerdictClass;

/// A Murphi example with a value for N.
fn example(name: &str, n: i64) -> Model {
    let path = workspace().join("models/murphi").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    load_murphi(name, &text, &[("N".into(), n.to_string())]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn build(builder: ModelBuilder) -> Model {
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

/// The order of the group of symmetries that preserve all properties.
fn symmetries(model: &Model) -> String {
    let layout = Layout::new(model).expect("a layout");
    let properties: Vec<_> = model.properties.indices().collect();
    let group =
        detect(model, &layout, &properties, &quotient_ir::Budget::unlimited()).expect("a certified group").group;
    PermutationGroup::new(group.literals().degree(), group.generators().to_vec()).order().to_string()
}

/// Checks that two models have the same states, verdict and symmetries, and gives the number of states, the verdict
/// and the order of the group.
#[track_caller]
fn same(written: &Model, read: &Model, deadlock: DeadlockMode) -> (u64, VerdictClass, String) {
    let facts = |model: &Model| {
        let found = explore(model, deadlock, 100_000);
        (found.states, found.rules_fired, found.class)
    };
    let expected = facts(read);
    assert_eq!(facts(written), expected);
    let printed = print_murphi(written, &PrintOptions::default()).expect("it can be printed");
    let again = load_murphi("printed.m", &printed, &[]).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(facts(&again), expected);
    let order = symmetries(written);
    assert_eq!(order, symmetries(read));
    (expected.0, expected.2, order)
}

/// Peterson's mutual exclusion for n processes, as in `peterson.m`.
fn peterson(n: i64) -> ModelBuilder {
    let mut model = ModelBuilder::new("peterson");
    let process = Type::range(1..=n).named("process");
    let waiting_level = Type::range(1..=n - 1);
    let location = Type::enumeration("location", ["idle", "arriving", "waiting", "critical"]);
    let at = model.variable("at", Type::array(&process, &location));
    let level_of = model.variable("level_of", Type::array(&process, Type::range(0..=n - 1)));
    let turn = model.variable("turn", Type::array(&waiting_level, &process));
    model.start("all idle", |start| {
        start.for_each("p", &process, |body, p| {
            body.assign(at.at(&p), "idle");
            body.assign(level_of.at(&p), 0);
        });
    });
    model.rule("compete", |rule| {
        let p = rule.parameter("p", &process);
        rule.guard(at.at(&p).eq("idle"));
        rule.assign(level_of.at(&p), 1);
        rule.assign(at.at(&p), "arriving");
        rule.owner(&p);
    });
    model.rule("arrive at a level", |rule| {
        let p = rule.parameter("p", &process);
        rule.guard(at.at(&p).eq("arriving"));
        rule.assign(turn.at(level_of.at(&p)), &p);
        rule.assign(at.at(&p), "waiting");
        rule.owner(&p);
    });
    model.rule("pass a level", |rule| {
        let p = rule.parameter("p", &process);
        rule.guard(at.at(&p).eq("waiting"));
        let alone = forall("other", &process, |other| other.eq(&p).or(level_of.at(&other).lt(level_of.at(&p))));
        rule.guard(turn.at(level_of.at(&p)).ne(&p).or(alone));
        rule.when(level_of.at(&p).lt(n - 1), |body| {
            body.assign(level_of.at(&p), level_of.at(&p) + 1);
            body.assign(at.at(&p), "arriving");
        })
        .otherwise(|body| body.assign(at.at(&p), "critical"));
        rule.owner(&p);
    });
    model.rule("leave", |rule| {
        let p = rule.parameter("p", &process);
        rule.guard(at.at(&p).eq("critical"));
        rule.assign(level_of.at(&p), 0);
        rule.assign(at.at(&p), "idle");
        rule.owner(&p);
    });
    model.invariant("mutual exclusion", |_| {
        forall("p", &process, |p| {
            forall("q", &process, |q| at.at(&p).eq("critical").and(at.at(&q).eq("critical")).implies(p.eq(&q)))
        })
    });
    model.invariant("someone stays behind at each level", |_| {
        forall("l", &waiting_level, |l| {
            let is_beyond = |p: i64| level_of.at(p).gt(&l).or(at.at(p).eq("critical"));
            let beyond = (1..=n).map(|p| is_beyond(p).if_else(1, 0)).reduce(|sum, one| sum + one);
            beyond.expect("there is a process").le(Expression::from(n) - &l)
        })
    });
    model
}

#[test]
fn peterson_is_the_model_of_the_text() {
    for (n, states, order) in [(2, 24, "2"), (3, 356, "6")] {
        let found = same(&build(peterson(n)), &example("peterson.m", n), DeadlockMode::Stuttering);
        assert_eq!(found, (states, VerdictClass::Holds, order.to_owned()));
    }
}

#[test]
fn rules_know_their_process() {
    let model = build(peterson(3));
    for (rule, entry) in model.rules.iter_enumerated() {
        assert_eq!(model.owner_of(rule, &[2]), Some(2), "{:?}", entry.name);
    }
}

/// The dining philosophers, as in `dining_philosophers.m`.
fn philosophers(n: i64) -> ModelBuilder {
    let mut model = ModelBuilder::new("dining philosophers");
    let philosopher = Type::range(0..=n - 1).named("philosopher");
    let activity = Type::enumeration("activity", ["thinking", "has_right", "has_both", "has_eaten", "has_left"]);
    let doing = model.variable("doing", Type::array(&philosopher, &activity));
    let taken = model.variable("taken", Type::array(&philosopher, Type::boolean()));
    model.start("all thinking", |start| {
        start.for_each("p", &philosopher, |body, p| {
            body.assign(doing.at(&p), "thinking");
            body.assign(taken.at(&p), false);
        });
    });
    // What each does: before, after, and the fork that is taken or put back, counted from the right one.
    let steps = [
        ("take the right fork", "thinking", "has_right", Some((0, true))),
        ("take the left fork", "has_right", "has_both", Some((1, true))),
        ("eat", "has_both", "has_eaten", None),
        ("put the right fork back", "has_eaten", "has_left", Some((0, false))),
        ("put the left fork back", "has_left", "thinking", Some((1, false))),
    ];
    for (name, before, after, fork) in steps {
        model.rule(name, |rule| {
            let p = rule.parameter("p", &philosopher);
            rule.guard(doing.at(&p).eq(before));
            if let Some((offset, takes)) = fork {
                let is_taken = taken.at((&p + offset) % n);
                if takes {
                    rule.guard(!&is_taken);
                }
                rule.assign(is_taken, takes);
            }
            rule.assign(doing.at(&p), after);
        });
    }
    model.invariant("neighbours do not eat at the same time", |property| {
        let p = property.parameter("p", &philosopher);
        !conjunction([doing.at(&p).eq("has_both"), doing.at((&p + 1) % n).eq("has_both")])
    });
    model
}

#[test]
fn philosophers_are_the_model_of_the_text() {
    let (written, read) = (build(philosophers(5)), example("dining_philosophers.m", 5));
    let found = same(&written, &read, DeadlockMode::Off);
    assert_eq!(found, (392, VerdictClass::Holds, "5".to_owned()));
    let (_, class, _) = same(&written, &read, DeadlockMode::Stuttering);
    assert_eq!(class, VerdictClass::Deadlock);
}

/// Something can always be reached, or not, with what that asks of each process by itself.
#[test]
fn always_reachable_is_liveness_of_murphi() {
    let build_with = |leaves: bool| {
        let mut model = ModelBuilder::new("visits");
        let process = Type::scalarset("process", 2);
        let inside = model.variable("inside", Type::array(&process, Type::boolean()));
        model.start("outside", |start| start.for_each("p", &process, |body, p| body.assign(inside.at(p), false)));
        model.rule("enter", |rule| {
            let p = rule.parameter("p", &process);
            rule.guard(!inside.at(&p));
            rule.assign(inside.at(&p), true);
        });
        model.rule("leave", |rule| {
            let p = rule.parameter("p", &process);
            rule.guard(inside.at(&p).and(leaves));
            rule.assign(inside.at(&p), false);
        });
        model.always_reachable("outside again", |property| {
            let p = property.parameter("p", &process);
            !inside.at(p)
        });
        build(model)
    };
    let text = |leaves: bool| {
        format!(
            "type process: scalarset(2);
             var inside: array [process] of boolean;
             startstate for p: process do inside[p] := false; end; end;
             ruleset p: process do
               rule !inside[p] ==> inside[p] := true; end;
               rule inside[p] & {leaves} ==> inside[p] := false; end;
               liveness \"outside again\" !inside[p];
             end;"
        )
    };
    for (leaves, class) in [(true, VerdictClass::Holds), (false, VerdictClass::Liveness)] {
        let read = load_murphi("visits.m", &text(leaves), &[]).expect("a model");
        let (states, found, _) = same(&build_with(leaves), &read, DeadlockMode::Off);
        assert_eq!((states, found), (4, class));
    }
}
