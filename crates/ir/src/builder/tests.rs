use super::*;
use crate::interpreter::{Interpreter, Outcome};
use crate::layout::{Layout, Valuation};
use crate::ownership::{Fairness, Number, Owner};
use crate::{Expr, Formula, RuleId, StatementKind, TableIndex};

/// A model with a start, and what `fill` adds to it.
fn model(fill: impl FnOnce(&mut ModelBuilder)) -> Result<Model, BuildError> {
    let mut model = ModelBuilder::new("sample");
    fill(&mut model);
    model.start("begin", |_| {});
    model.build()
}

/// The codes and messages of the errors.
#[track_caller]
fn wrong(fill: impl FnOnce(&mut ModelBuilder)) -> Vec<(&'static str, String)> {
    let error = model(fill).expect_err("the model is wrong");
    error.diagnostics.iter().map(|it| (it.code, it.message.clone())).collect()
}

/// Checks that there is one error, and its message.
#[track_caller]
fn bad(code: &str, message: &str, fill: impl FnOnce(&mut ModelBuilder)) {
    assert_eq!(wrong(fill), [(code, message.to_owned())]);
}

#[track_caller]
fn good(fill: impl FnOnce(&mut ModelBuilder)) -> Model {
    match model(fill) {
        Ok(model) => model,
        Err(error) => panic!("{error}"),
    }
}

/// The values after the start and the given rules, in the order of the slots.
fn run(model: &Model, rules: &[(usize, &[i64])]) -> Vec<Option<i64>> {
    let layout = Layout::new(model).expect("a small model has a layout");
    let interpreter = Interpreter::new(model, &layout);
    let start = model.starts.indices().next().expect("there is a start");
    let next = |outcome: Outcome| -> Valuation {
        let Outcome::Next { state, .. } = outcome else { panic!("{outcome:?}") };
        state
    };
    let mut state = next(interpreter.run_start(start, &[]));
    for &(rule, arguments) in rules {
        let rule = RuleId::from_position(rule);
        assert_eq!(interpreter.enabled(rule, arguments, &state), Ok(true));
        state = next(interpreter.fire(rule, arguments, &state));
    }
    state.0
}

#[test]
fn statements_do_what_they_say() {
    let mut builder = ModelBuilder::new("statements");
    let small = Type::range(0..=20);
    let cells = Type::array(Type::range(0..=2), &small);
    let (x, y) = (builder.variable("x", &small), builder.variable("y", &small));
    let (a, b) = (builder.variable("a", &cells), builder.variable("b", &cells));
    builder.start("begin", |start| {
        start.assign(&x, 3);
        start.assign(&y, 0);
        start.for_each("i", 0..=2, |body, i| body.assign(a.at(&i), &i * 2 + 1));
        start.clear(&b);
    });
    builder.rule("loops and branches", |rule| {
        rule.guard(x.eq(3).and(y.lt(&x)));
        rule.guard(exists("i", 0..=2, |i| a.at(i).eq(5)));
        let sum = rule.local("sum", &small);
        rule.assign(&sum, 0);
        rule.for_each("i", Values::from_to(0, &x - 1), |body, i| body.assign(&sum, &sum + a.at(i)));
        rule.assign(&y, &sum);
        rule.while_loop(x.gt(0), |body| body.assign(&x, &x - 1));
        rule.when(y.eq(1), |body| body.error("not this"))
            .or_when(y.eq(9).and(!x.eq(1)), |body| body.assign(&b, &a))
            .otherwise(|body| body.error("nor this"));
        rule.assert(b.eq(&a), "copied");
        rule.assign(b.at(1), y.ge(9).if_else(7, 8));
        rule.undefine(b.at(2));
        rule.assert(b.at(2).is_undefined().and(b.ne(&a)), "changed");
        rule.finish();
        rule.error("not reached");
    });
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let some = |values: &[i64]| values.iter().map(|&value| Some(value)).collect::<Vec<_>>();
    assert_eq!(run(&model, &[]), some(&[3, 0, 1, 3, 5, 0, 0, 0]));
    let mut after = some(&[0, 9, 1, 3, 5, 1, 7, 0]);
    after[7] = None;
    assert_eq!(run(&model, &[(0, &[])]), after);
}

#[test]
fn unions_records_and_parameters() {
    let process = Type::scalarset("process", 2);
    let nobody = Type::enumeration("nobody", ["none"]);
    let holder = Type::union([&nobody, &process]).named("holder");
    let node = Type::record([("holds", Type::boolean()), ("count", Type::range(0..=3))]);
    let mut builder = ModelBuilder::new("records");
    let owner = builder.variable("owner", &holder);
    let nodes = builder.defined_variable("nodes", Type::array(&process, &node));
    builder.start("begin", |start| start.assign(&owner, "none"));
    builder.rule("take", |rule| {
        let p = rule.parameter("p", &process);
        let by = rule.parameter("by", 1..=2);
        rule.guard(owner.eq("none"));
        rule.assign(&owner, &p);
        rule.assign(nodes.at("p").field("holds"), true);
        rule.assign(nodes.at(&p).field("count"), nodes.at(&p).field("count") + &by);
        rule.assert(owner.is_member(&process), "somebody has it");
        rule.cover("two at once", by.eq(2));
        rule.owner(&p);
        rule.fairness(Fairness::Weak);
    });
    builder.cover("taken", |_| owner.ne("none"));
    builder.assumption("few", |property| {
        let p = property.parameter("p", &process);
        nodes.at(p).field("count").le(2)
    });
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    // `none` is 0, the processes are 1 and 2.
    let some = |values: &[i64]| values.iter().map(|&value| Some(value)).collect::<Vec<_>>();
    assert_eq!(run(&model, &[]), some(&[0, 0, 0, 0, 0]));
    assert_eq!(run(&model, &[(0, &[2, 1])]), some(&[2, 0, 0, 1, 1]));
    let rule = RuleId::from_position(0);
    assert_eq!(model.owner_of(rule, &[2, 1]), Some(2));
    let entry = &model.rules[rule];
    assert_eq!((entry.owner, entry.fairness), (Owner::Process(Number::Parameter(0)), Fairness::Weak));
    let kinds: Vec<_> =
        model.properties.iter().map(|it| (it.name.as_deref(), it.kind, it.formula.condition().is_some())).collect();
    let expected = [
        (Some("two at once"), PropertyKind::Cover, false),
        (Some("taken"), PropertyKind::Cover, true),
        (Some("few"), PropertyKind::Assumption, true),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(model.properties.iter().next().map(|it| &it.formula), Some(&Formula::CoverStatement));
}

#[test]
fn the_text_of_a_model() {
    let mut builder = ModelBuilder::new("text");
    let process = Type::scalarset("process", 2);
    let x = builder.variable("x", Type::array(&process, Type::range(0..=3)));
    builder.start("zero", |start| start.for_each("p", &process, |body, p| body.assign(x.at(p), 0)));
    builder.rule("add", |rule| {
        let p = rule.parameter("p", &process);
        rule.guard(x.at(&p).lt(3).and(forall("q", &process, |q| x.at(q).ne(2).or(p.eq(p.clone())))));
        rule.when(x.at(&p).eq(2), |body| body.assign(x.at(&p), (x.at(&p) + 1) * 1))
            .otherwise(|body| body.assign(x.at(&p), x.at(&p) + 1));
    });
    builder.always_reachable("home", |property| {
        let p = property.parameter("p", &process);
        x.at(p).eq(0)
    });
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let expected = "\
var x: array [process] of 0..3;
startstate \"zero\"
  for p: process do
    x[p] := 0;
  end;
end;
ruleset p: process do rule \"add\" x[p] < 3 & forall q: process do x[q] != 2 | p = p end ==>
  if x[p] = 2 then
    x[p] := (x[p] + 1) * 1;
  else
    x[p] := x[p] + 1;
  end;
end;
ruleset p: process do liveness \"home\" x[p] = 0;
";
    assert_eq!(&*model.source.text, expected);
    let rule = &model.rules[RuleId::from_position(0)];
    assert_eq!(model.source.locate(rule.span), "text:7:1");
    let StatementKind::If { branches, .. } = &rule.body[0].kind else { panic!("{:?}", rule.body) };
    assert_eq!(&model.source.text[branches[0].1[0].span.range()], "x[p] := (x[p] + 1) * 1;");
    assert_eq!(
        &model.source.text[model.variables.iter().next().expect("there is one").span.range()],
        "var x: array [process] of 0..3;"
    );
}

#[test]
fn names_that_are_unknown_or_given_twice() {
    bad("unknown-name", "rule `go`: unknown name `y`", |model| {
        let x = model.variable("x", Type::boolean());
        model.rule("go", |rule| rule.assign(&x, "y"));
    });
    bad("unknown-name", "invariant `fine`: unknown name `crticial`", |model| {
        let x = model.variable("x", Type::enumeration("status", ["idle", "critical"]));
        model.invariant("fine", |_| x.ne("crticial"));
    });
    bad("unknown-name", "rule `go`: unknown name `other`", |model| {
        let other = ModelBuilder::new("another").variable("other", Type::boolean());
        model.rule("go", |rule| rule.guard(&other));
    });
    bad("duplicate-name", "variable `x`: the name `x` is given twice", |model| {
        model.variable("x", Type::boolean());
        model.variable("x", Type::range(0..=1));
    });
    bad("duplicate-name", "variable `y`: the name `x` is given twice", |model| {
        model.variable("x", Type::boolean());
        model.variable("y", Type::enumeration("letters", ["x"]));
    });
    bad("duplicate-name", "rule `go`: the parameter `p` is there twice", |model| {
        model.rule("go", |rule| {
            rule.parameter("p", 0..=1);
            rule.parameter("p", 0..=1);
        });
    });
    bad("unknown-field", "rule `go`: `r` has no field `g`", |model| {
        let r = model.variable("r", Type::record([("f", Type::boolean())]));
        model.rule("go", |rule| rule.assign(r.field("g"), true));
    });
    bad("out-of-scope", "rule `go`: `p` is used where it is not known", |model| {
        let x = model.variable("x", Type::range(0..=1));
        let mut escaped = None;
        let all = forall("p", 0..=1, |p| {
            escaped = Some(p.clone());
            x.eq(p)
        });
        model.rule("go", |rule| {
            rule.guard(all);
            rule.assign(&x, escaped.expect("it was set"));
        });
    });
}

#[test]
fn types_that_do_not_fit() {
    let status = Type::enumeration("status", ["idle", "busy"]);
    let process = Type::scalarset("process", 2);
    let other = Type::scalarset("other", 2);
    bad("wrong-type", "rule `go`: `x + 1` is a number, not a condition", |model| {
        let x = model.variable("x", Type::range(0..=1));
        model.rule("go", |rule| rule.guard(&x + 1));
    });
    bad(
        "wrong-type",
        "rule `go`: `s` and `1` cannot be compared: one is of type `status`, the other a number",
        |model| {
            let s = model.variable("s", &status);
            model.rule("go", |rule| rule.guard(s.eq(1)));
        },
    );
    bad(
        "wrong-type",
        "rule `go`: `s` and `true` cannot be assigned: one is of type `status`, the other a condition",
        |model| {
            let s = model.variable("s", &status);
            model.rule("go", |rule| rule.assign(&s, true));
        },
    );
    bad("wrong-type", "rule `go`: the index `q` of `a` is of type `other`, not of type `process`", |model| {
        let a = model.variable("a", Type::array(&process, Type::boolean()));
        model.rule("go", |rule| {
            let q = rule.parameter("q", &other);
            rule.guard(a.at(q));
        });
    });
    bad("wrong-type", "rule `go`: `a` is an array, where a single value is needed", |model| {
        let a = model.variable("a", Type::array(&process, Type::boolean()));
        model.rule("go", |rule| rule.guard(a.and(true)));
    });
    bad("wrong-type", "rule `go`: `x` is a number, not an array", |model| {
        let x = model.variable("x", Type::range(0..=1));
        model.rule("go", |rule| rule.guard(x.at(0)));
    });
    bad("wrong-type", "rule `go`: `s` is of type `status`, not a number", |model| {
        let s = model.variable("s", &status);
        model.rule("go", |rule| rule.guard(s.lt(1)));
    });
    bad("not-a-place", "rule `go`: `x + 1` is not a variable or a part of one", |model| {
        let x = model.variable("x", Type::range(0..=1));
        model.rule("go", |rule| rule.assign(&x + 1, 0));
    });
    bad("duplicate-type", "variable `y`: the name `status` is given to two different types", |model| {
        model.variable("x", &status);
        model.variable("y", Type::scalarset("status", 2));
    });
    bad("empty-type", "variable `x`: the range `3..2` has no value", |model| {
        // Uses of the variable are not reported as well.
        let (low, high) = (3, 2);
        let x = model.variable("x", Type::range(low..=high));
        model.rule("go", |rule| rule.guard(x.eq(3)));
    });
    bad("empty-type", "rule `go`: the type `nothing` has no value", |model| {
        model.rule("go", |rule| {
            let p = rule.parameter("p", Type::scalarset("nothing", 0));
            rule.guard(p.eq(&p));
        });
    });
    bad("bad-union", "variable `u`: `0..1` cannot be a member of a union", |model| {
        model.variable("u", Type::union([Type::range(0..=1)]));
    });
    bad("bad-index-type", "variable `a`: an array cannot be indexed by `array [boolean] of boolean`", |model| {
        model.variable("a", Type::array(Type::array(Type::boolean(), Type::boolean()), Type::boolean()));
    });
    bad("too-large", "variable `s`: the type `all` has too many values", |model| {
        model.variable("s", Type::scalarset("all", u64::MAX));
    });
}

#[test]
fn parameters_stay_as_they_are() {
    let message = "rule `go`: `p` cannot be changed: it is a parameter or bound variable";
    bad("assignment-to-parameter", message, |model| {
        model.rule("go", |rule| {
            let p = rule.parameter("p", 0..=1);
            rule.assign(&p, 0);
        });
    });
    let message = "start `more`: `i` cannot be changed: it is a parameter or bound variable";
    bad("assignment-to-parameter", message, |model| {
        model.start("more", |start| start.for_each("i", 0..=1, |body, i| body.clear(&i)));
    });
    bad("parameter-bounds", "rule `go`: the bounds of the parameter `p` are not constant", |model| {
        let x = model.variable("x", Type::range(0..=1));
        model.rule("go", |rule| {
            rule.parameter("p", Values::from_to(0, &x));
        });
    });
    bad("bad-owner", "rule `go`: `x` is not a process", |model| {
        let x = model.variable("x", Type::range(0..=1));
        model.rule("go", |rule| rule.owner(&x));
    });
}

#[test]
fn all_errors_are_reported_and_located() {
    let error = model(|model| {
        let x = model.variable("x", Type::boolean());
        model.rule("first", |rule| {
            rule.guard("y");
            rule.assign(&x, 1);
        });
        model.invariant("second", |_| &x + 1);
    });
    let error = error.expect_err("the model is wrong");
    let places: Vec<&str> = error
        .diagnostics
        .iter()
        .map(|it| &error.source.text[it.primary.as_ref().expect("it has a place").span.range()])
        .collect();
    assert_eq!(places, ["rule \"first\" y ==>", "x := 1;", "invariant \"second\" x + 1;"]);
    let expected = "\
the model `sample` cannot be built
rule `first`: unknown name `y`
rule `first`: `x` and `1` cannot be assigned: one is a condition, the other a number
invariant `second`: `x` is a condition, not a number";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_model_needs_a_start() {
    let error = ModelBuilder::new("nothing").build().expect_err("it has no start");
    assert_eq!(
        error.to_string(),
        "the model `nothing` cannot be built\nthe model: it has no initial state (add a start)"
    );
}

#[test]
fn what_only_the_verifier_sees() {
    let error = model(|model| {
        let x = model.defined_variable("x", Type::boolean());
        model.rule("go", |rule| rule.undefine(&x));
    });
    let error = error.expect_err("the variable always has a value");
    assert_eq!(error.diagnostics[0].code, "ill-formed");
}

#[test]
fn long_and_deep_expressions() {
    // Shared parts must not take long: written out, this has 2^200 operands.
    let shared = good(|model| {
        let x = model.variable("x", Type::boolean());
        let mut condition = x.and(true);
        for _ in 0..200 {
            condition = condition.and(&condition);
        }
        model.invariant("long", |_| condition);
    });
    assert!(shared.source.text.len() < 1000);
    let many = good(|model| {
        let x = model.variable("x", Type::range(0..=9));
        model.invariant("many", |_| disjunction((0..100_000).map(|i| x.eq(i % 10))));
    });
    assert!(matches!(
        many.pool[many.properties.iter().next().and_then(|it| it.formula.condition()).expect("one")],
        Expr::Binary { .. }
    ));
    bad("too-deep", "invariant `deep`: an expression is nested more than 256 levels deep", |model| {
        let x = model.variable("x", Type::boolean());
        let mut condition = !&x;
        for _ in 0..256 {
            condition = !condition;
        }
        model.invariant("deep", |_| condition);
    });
    bad("too-deep", "variable `x`: a type is nested more than 200 levels deep", |model| {
        let mut ty = Type::boolean();
        for _ in 0..200 {
            ty = Type::array(Type::boolean(), ty);
        }
        model.variable("x", ty);
    });
}
