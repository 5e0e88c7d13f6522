//! Constructs that Murphi sources do not produce, but models of other languages may: each is printed from a model built
//! by hand.

use super::{PrintError, PrintOptions, print_murphi};
use crate::assembly::{Assembly, Locals};
use crate::expression::{Argument, BinaryOperator, Expr, Iteration, Quantifier};
use crate::index::TypeId;
use crate::model::{Model, Parameter, PropertyKind};
use crate::statement::{ReturnValue, StatementKind};
use crate::types::TypeKind;

fn print(builder: Assembly) -> String {
    let (model, _) = builder.finish();
    print_murphi(&model, &PrintOptions::default()).expect("the model can be printed")
}

fn check(builder: Assembly, parts: &[&str]) {
    let text = print(builder);
    for part in parts {
        assert!(text.contains(part), "no\n{part}\nin\n{text}");
    }
}

/// A builder with a variable `x: 0..7`.
fn with_x() -> (Assembly, crate::index::PlaceId, TypeId) {
    let mut b = Assembly::new();
    let small = b.range(0, 7);
    let x = b.variable("x", small);
    let x = b.global(x);
    (b, x, small)
}

#[test]
fn names_that_murphi_cannot_have_get_others() {
    let mut b = Assembly::new();
    let color = b.enumeration("type", 0, &["red", "end", "x"]);
    let pair = b.record(&[("of", color), ("of_", color)]);
    for (name, ty) in [("x", color), ("End", color), ("a.b", pair), ("a_b", color)] {
        b.variable(name, ty);
    }
    b.start(vec![], Locals::default(), vec![]);
    check(
        b,
        &[
            "type_: enum {red, end_, x_2};",
            "x: type_;\n",
            "End_: type_;",
            "a_b: record of_: type_; of__2: type_; end;",
            "a_b_2: type_;",
        ],
    );
}

#[test]
fn variables_that_always_have_a_value_start_with_the_least() {
    let mut b = Assembly::new();
    let small = b.range(3, 7);
    b.defined_variable("x", small);
    b.start(vec![], Locals::default(), vec![]);
    check(b, &["startstate\nbegin\n  clear x;\nend;"]);
}

#[test]
fn scalarsets_with_constants_and_enumerations_with_an_order_become_ranges() {
    let mut b = Assembly::new();
    let process = b.scalarset("Process", 4, 3);
    let color = b.enumeration("Color", 0, &["red", "green"]);
    let plain = b.enumeration("Plain", 0, &["one", "other"]);
    let (p, c, q) = (b.variable("p", process), b.variable("c", color), b.variable("q", plain));
    let (p, c, q) = (b.global(p), b.global(c), b.global(q));
    let is_second = b.is(p, 5);
    let (left, green) = (b.read(c), b.constant(1, color));
    let less = b.binary(BinaryOperator::Less, left, green);
    let other = b.is(q, 1);
    for condition in [is_second, less, other] {
        b.property(PropertyKind::Invariant, vec![], Locals::default(), condition);
    }
    check(
        b,
        &[
            "const\n  red: 0;\n  green: 1;\n",
            "Process: 4..6;",
            "Color: 0..1;",
            "Plain: enum {one, other};",
            "invariant p = 5;",
            "invariant c < green;",
            "invariant q = other;",
        ],
    );
}

#[test]
fn truth_values_are_put_in_order_as_numbers() {
    let mut b = Assembly::new();
    let (t, u) = (b.variable("t", Model::BOOLEAN), b.variable("u", Model::BOOLEAN));
    let (t, u) = (b.global(t), b.global(u));
    let (left, right) = (b.read(t), b.read(u));
    let less = b.binary(BinaryOperator::LessOrEqual, left, right);
    b.property(PropertyKind::Invariant, vec![], Locals::default(), less);
    check(b, &["invariant (t ? 1 : 0) <= (u ? 1 : 0);"]);
}

#[test]
fn integers_get_the_range_of_what_is_assigned_to_them() {
    let (mut b, x, _) = with_x();
    let mut locals = Locals::default();
    let bounded = locals.variable("bounded", Model::INTEGER);
    let unbounded = locals.variable("unbounded", Model::INTEGER);
    let (bounded, unbounded) = (b.local(&locals, bounded), b.local(&locals, unbounded));
    let (read, three, own) = (b.read(x), b.number(3), b.read(unbounded));
    let product = b.binary(BinaryOperator::Multiply, read, three);
    let grown = b.binary(BinaryOperator::Multiply, own, three);
    let body = vec![b.assign(bounded, product), b.set(unbounded, 1), b.assign(unbounded, grown)];
    b.body(locals, body);
    check(
        b,
        &[
            "wide_integer: -9223372036854775807..9223372036854775807;",
            "var\n  bounded: 0..21;\n  unbounded: wide_integer;\nbegin\n  bounded := x * 3;\n",
        ],
    );
}

#[test]
fn a_result_beyond_the_declared_numbers_makes_rumur_compute_in_64_bits() {
    for (limit, wide) in [(255, false), (256, true)] {
        let (mut b, x, _) = with_x();
        let (read, factor, one) = (b.read(x), b.number(255 / 7 + 1), b.number(1));
        let product = b.binary(BinaryOperator::Multiply, read, factor);
        let (quotient, bound) = (b.binary(BinaryOperator::Divide, read, one), b.number(limit - 1));
        let condition = b.binary(BinaryOperator::Less, if wide { product } else { quotient }, bound);
        b.property(PropertyKind::Invariant, vec![], Locals::default(), condition);
        assert_eq!(print(b).contains("wide_integer"), wide);
    }
    // A value that is only stored is also checked by rumur.
    let (mut b, x, _) = with_x();
    let (read, one) = (b.read(x), b.number(1));
    let less = b.binary(BinaryOperator::Subtract, read, one);
    let body = vec![b.assign(x, less)];
    b.body(Locals::default(), body);
    assert!(!print(b).contains("wide_integer"));
}

#[test]
fn parameters_that_are_written_to_get_a_variable() {
    let (mut b, x, small) = with_x();
    let mut locals = Locals::default();
    let v = locals.parameter("v", small);
    let place = b.local(&locals, v);
    let read = b.read(place);
    let body = vec![b.set(place, 3), b.statement(StatementKind::Return(Some(ReturnValue::Value(read))))];
    let f = b.function("f", vec![v], locals, Some(small), body);

    let mut locals = Locals::default();
    let (p, i) = (locals.parameter("p", small), locals.parameter("i", Model::INTEGER));
    let (p_place, i_place) = (b.local(&locals, p), b.local(&locals, i));
    let call = b.expression(Expr::Call { function: f, arguments: vec![Argument::Copy(x)] });
    let range = b.steps(3, 1, None);
    let inner = vec![b.set(i_place, 2)];
    let body = vec![b.assign(p_place, call), b.statement(StatementKind::For { local: i, range, body: inner })];
    let guard = b.truth(true);
    b.rule(vec![Parameter { local: p, range: Iteration::Over(small) }], locals, guard, body);
    check(
        b,
        &[
            "function f(v: 0..7): 0..7;\nvar\n  v_copy: 0..7;\nbegin\n  if !isundefined(v) then\n    v_copy := v;\n  \
             end;\n  v_copy := 3;\n  return v_copy;\nend;",
            "    p_copy: 0..7;\n    i_copy: 1..3;\n",
            "    p_copy := p;\n    p_copy := f(x);\n    for i := 3 to 1 by -1 do\n      i_copy := i;\n      i_copy := 2;",
        ],
    );
}

#[test]
fn results_are_checked_against_the_result_type() {
    let (mut b, x, small) = with_x();
    let (read, one) = (b.read(x), b.number(1));
    let sum = b.binary(BinaryOperator::Add, read, one);
    let body = vec![b.statement(StatementKind::Return(Some(ReturnValue::Value(sum))))];
    b.function("next", vec![], Locals::default(), Some(small), body);
    check(b, &["var\n  checked: 0..7;\nbegin\n  checked := x + 1;\n  return checked;\n"]);
}

#[test]
fn steps_of_rules_become_types() {
    let (mut b, x, _) = with_x();
    for (from, to, step) in [(1, 3, None), (6, 1, Some(-2)), (0, 6, Some(3))] {
        let mut locals = Locals::default();
        let p = locals.parameter("p", Model::INTEGER);
        let place = b.local(&locals, p);
        let range = b.steps(from, to, step);
        let value = b.read(place);
        let body = vec![b.assign(x, value)];
        let guard = b.truth(true);
        b.rule(vec![Parameter { local: p, range }], locals, guard, body);
    }
    check(
        b,
        &[
            "ruleset p: 1..3 do\n  rule\n  begin\n    x := p;",
            "ruleset p: 0..2 do\n  rule\n  begin\n    x := (6 - 2 * p);",
            "ruleset p: 0..2 do\n  rule\n  begin\n    x := (0 + 3 * p);",
        ],
    );
}

#[test]
fn parts_of_results_are_taken_by_functions() {
    let (mut b, x, small) = with_x();
    let pair = b.record(&[("a", small), ("b", small)]);
    let row = b.ty("Row", TypeKind::Array { index: small, element: pair });
    let mut locals = Locals::default();
    let r = locals.variable("r", row);
    let place = b.local(&locals, r);
    let body = vec![b.statement(StatementKind::Return(Some(ReturnValue::Copy(place))))];
    let make = b.function("make", vec![], locals, Some(row), body);
    let whole = b.result(make, vec![]);
    let index = b.read(x);
    let element = b.at(whole, index);
    let part = b.field(element, 1);
    let (read, undefined) = (b.read(part), b.expression(Expr::IsUndefined(part)));
    let zero = b.number(0);
    let is_zero = b.binary(BinaryOperator::Equal, read, zero);
    let guard = b.binary(BinaryOperator::Or, undefined, is_zero);
    b.rule(vec![], Locals::default(), guard, vec![]);
    check(
        b,
        &[
            "function is_undefined_in(whole: Row; index_1: 0..7): boolean;\nbegin\n  return isundefined(whole[index_1].b);",
            "function part_of(whole: Row; index_1: 0..7): 0..7;\nbegin\n  return whole[index_1].b;",
            "function guard_of_rule(): boolean;\nbegin\n  return is_undefined_in(make(), x) | part_of(make(), x) = 0;",
            "rule\n  guard_of_rule()\n==>",
        ],
    );
}

#[test]
fn choices_take_their_paths_inside() {
    let (mut b, x, small) = with_x();
    let pair = b.record(&[("a", small), ("b", small)]);
    let (one, other) = (b.variable("one", pair), b.variable("other", pair));
    let (one, other) = (b.global(one), b.global(other));
    let zero = b.is(x, 0);
    let choice = b.choice(zero, one, other);
    let part = b.field(choice, 1);
    let read = b.read(part);
    let seven = b.number(7);
    let condition = b.binary(BinaryOperator::Equal, read, seven);
    b.property(PropertyKind::Invariant, vec![], Locals::default(), condition);
    let same = b.expression(Expr::SameContents { left: choice, right: one });
    b.property(PropertyKind::Invariant, vec![], Locals::default(), same);
    check(b, &["invariant (x = 0 ? one.b : other.b) = 7;", "invariant (x = 0 ? one : other) = one;"]);
}

#[test]
fn undefined_arguments_are_read_where_the_model_reads_them() {
    let (mut b, x, small) = with_x();
    let mut locals = Locals::default();
    let v = locals.parameter("v", small);
    let p = b.function("p", vec![v], locals, None, vec![]);
    let read = b.read(x);
    let body = vec![
        b.statement(StatementKind::Call { function: p, arguments: vec![Argument::Value(read)] }),
        b.statement(StatementKind::Call { function: p, arguments: vec![Argument::Copy(x)] }),
    ];
    b.body(Locals::default(), body);
    check(b, &["p(true ? x : x);\n  p(x);"]);
}

#[test]
fn references_end_after_their_last_use() {
    let (mut b, x, small) = with_x();
    let row = b.array(small, small);
    let (one, other) = (b.variable("one", row), b.variable("other", row));
    let (one, other) = (b.global(one), b.global(other));
    let mut locals = Locals::default();
    let (a, c) = (locals.reference("a", small), locals.reference("a", small));
    let index = b.read(x);
    let (one, other) = (b.at(one, index), b.at(other, index));
    let (a_place, c_place) = (b.local(&locals, a), b.local(&locals, c));
    let body = vec![
        b.statement(StatementKind::Bind { local: a, place: one }),
        b.set(a_place, 1),
        b.statement(StatementKind::Bind { local: c, place: other }),
        b.set(c_place, 2),
        b.set(x, 3),
    ];
    b.body(locals, body);
    check(b, &["  alias a: one[x] do\n    a := 1;\n  end;\n  alias a: other[x] do\n    a := 2;\n  end;\n  x := 3;\n"]);
}

#[test]
fn bound_names_are_kept_apart() {
    let (mut b, x, small) = with_x();
    let mut locals = Locals::default();
    let (outer, inner) = (locals.parameter("x", small), locals.parameter("x", small));
    let (outer_place, inner_place) = (b.local(&locals, outer), b.local(&locals, inner));
    let (left, right, global) = (b.read(outer_place), b.read(inner_place), b.read(x));
    let sum = b.binary(BinaryOperator::Add, left, right);
    let equal = b.binary(BinaryOperator::Equal, sum, global);
    let inner = b.quantified(Quantifier::Any, inner, Iteration::Over(small), equal);
    let outer = b.quantified(Quantifier::All, outer, Iteration::Over(small), inner);
    b.property(PropertyKind::Invariant, vec![], locals, outer);
    check(b, &["forall x_2: 0..7 do exists x_3: 0..7 do x_2 + x_3 = x end end"]);
}

#[test]
fn what_cannot_be_printed_is_refused() {
    let (mut b, _, small) = with_x();
    let first = b.model.functions.next_index();
    let call = |function, b: &mut Assembly| b.statement(StatementKind::Call { function, arguments: vec![] });
    let second = b.function("first", vec![], Locals::default(), None, vec![]);
    assert_eq!(first, second);
    let body = vec![call(first, &mut b)];
    let second = b.function("second", vec![], Locals::default(), None, body);
    let body = vec![call(second, &mut b)];
    b.model.functions[first].body = body;
    let (model, _) = b.finish();
    let error = print_murphi(&model, &PrintOptions::default()).expect_err("they call each other");
    assert!(error.to_string().contains("call each other"), "{error}");

    let (mut b, x, _) = with_x();
    let mut sum = b.read(x);
    for _ in 0..40 {
        sum = b.binary(BinaryOperator::Add, sum, sum);
    }
    let condition = b.binary(BinaryOperator::Equal, sum, sum);
    b.property(PropertyKind::Invariant, vec![], Locals::default(), condition);
    let (model, _) = b.finish();
    let options = PrintOptions { max_bytes: 10_000, ..PrintOptions::default() };
    assert_eq!(print_murphi(&model, &options), Err(PrintError::TooLong { limit: 10_000 }));
    let _ = small;
}

#[test]
fn deep_expressions_do_not_overflow_the_stack() {
    let (mut b, x, _) = with_x();
    let one = b.number(1);
    let mut sum = b.read(x);
    for _ in 0..50_000 {
        let product = b.binary(BinaryOperator::Multiply, one, sum);
        sum = b.binary(BinaryOperator::Subtract, product, one);
    }
    let condition = b.binary(BinaryOperator::Less, sum, one);
    b.property(PropertyKind::Invariant, vec![], Locals::default(), condition);
    // Built by hand: this test is not about verifying such depths.
    let text = print_murphi(&b.model, &PrintOptions::default()).expect("depth is no obstacle");
    assert!(text.contains("1 * (1 * (1 * x - 1) - 1) - 1"));
}
