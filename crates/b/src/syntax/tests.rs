//! Tests of the parser: the grouping of operators, both notations, and diagnostics.

use super::parse;
use super::tree::{DefinitionBody, Formula, FormulaKind, Machine, SubstitutionKind};

/// A formula with every operator in parentheses.
fn show(formula: &Formula) -> String {
    let list = |them: &[Formula]| them.iter().map(show).collect::<Vec<_>>().join(",");
    match &formula.kind {
        FormulaKind::Number(value) => value.to_string(),
        FormulaKind::Text(text) => format!("\"{text}\""),
        FormulaKind::Name(name) => name.to_string(),
        FormulaKind::Before(name) => format!("{name}$0"),
        FormulaKind::Word(word) => (*word).to_owned(),
        FormulaKind::Unary(operator, operand) => format!("({operator} {})", show(operand)),
        FormulaKind::Binary(operator, left, right) => format!("({} {operator} {})", show(left), show(right)),
        FormulaKind::Apply(function, arguments) => format!("{}({})", show(function), list(arguments)),
        FormulaKind::Image(relation, set) => format!("{}[{}]", show(relation), show(set)),
        FormulaKind::Inverse(relation) => format!("{}~", show(relation)),
        FormulaKind::Field(record, name) => format!("{}'{}", show(record), name.text),
        FormulaKind::Extension(members) => format!("{{{}}}", list(members)),
        FormulaKind::Sequence(items) => format!("[{}]", list(items)),
        FormulaKind::Comprehension(names, body) => format!("{{{} | {}}}", names.len(), show(body)),
        FormulaKind::Quantified(quantifier, names, body) => format!("{quantifier}{}.{}", names.len(), show(body)),
        FormulaKind::Binder(binder, names, condition, body) => {
            format!("{binder}{}.({} | {})", names.len(), show(condition), show(body))
        }
        FormulaKind::Truth(predicate) => format!("bool({})", show(predicate)),
        FormulaKind::Record(word, fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}:{}", name.text, show(value))).collect();
            format!("{word}({})", fields.join(","))
        }
        FormulaKind::Conditional(condition, then, otherwise) => {
            format!("if({},{},{})", show(condition), show(then), show(otherwise))
        }
        FormulaKind::Let(names, bindings, body) => format!("let{}({},{})", names.len(), show(bindings), show(body)),
    }
}

fn machine(text: &str) -> Machine {
    let (machine, errors) = parse(text, 0..text.len());
    assert!(errors.is_empty(), "{text}: {errors:#?}");
    machine
}

#[track_caller]
fn check(formula: &str, expected: &str) {
    let machine = machine(&format!("MACHINE m INVARIANT {formula} END"));
    assert_eq!(show(&machine.invariant.expect("an invariant")), expected, "{formula}");
}

#[test]
fn operators_group_as_in_the_manual() {
    check("a + b * c", "(a + (b * c))");
    check("a - b - c", "((a - b) - c)");
    check("a ** b ** c", "(a ** (b ** c))");
    check("- a + b", "((- a) + b)");
    check("1..n - 1", "(1 .. (n - 1))");
    check("a \\/ b /\\ c", "((a \\/ b) /\\ c)");
    check("x |-> y |-> z", "((x |-> y) |-> z)");
    check("f : a --> b & g : b <-> c", "((f : (a --> b)) & (g : (b <-> c)))");
    check("a or b & c", "((a or b) & c)");
    check("a & b => c or d", "((a & b) => (c or d))");
    check("x = 1 <=> y = 2", "((x = 1) <=> (y = 2))");
    check("not(a) & b", "((not a) & b)");
    check("s <: t & s /<: u", "((s <: t) & (s /<: u))");
    check("{x} <<| f <+ g", "(({x} <<| f) <+ g)");
    check("f~[s](x)~", "f~[s](x)~");
    check("(f ; g)(x)", "(f ; g)(x)");
    check("(f || g) = h", "((f || g) = h)");
    check("(a, b) : s", "((a |-> b) : s)");
    check("q <- x ^ r", "((q <- x) ^ r)");
    check("x - y..z", "((x - y) .. z)");
}

#[test]
fn binders_and_brackets() {
    check("!x.(x : s => p)", "!1.((x : s) => p)");
    check("#(x, y).(x = y)", "#2.(x = y)");
    check("{x, y | x = y} = {}", "({2 | (x = y)} = {})");
    check("%x.(x : s | x + 1) = f", "(%1.((x : s) | (x + 1)) = f)");
    check("SIGMA(i).(i : s | i) > 0", "(SIGMA1.((i : s) | i) > 0)");
    check("UNION(i).(i : s | {i}) = t", "(UNION1.((i : s) | {i}) = t)");
    check("[] = <>", "([] = [])");
    check("r'f = rec(f: 1, g: TRUE)'f", "(r'f = rec(f:1,g:TRUE)'f)");
    check("bool(x = 1) = TRUE", "(bool((x = 1)) = TRUE)");
    check("IF a = b THEN 1 ELSIF c = d THEN 2 ELSE 3 END = x", "(if((a = b),1,if((c = d),2,3)) = x)");
    check("LET x BE x = 1 IN x + 1 END = 2", "(let1((x = 1),(x + 1)) = 2)");
    check("x$0 = \"text\"", "(x$0 = \"text\")");
}

#[test]
fn mathematical_notation_means_the_same() {
    for (mathematical, plain) in [
        ("∀x·(x ∈ s ⇒ x ∉ t ∧ ¬(x = y))", "!x.(x : s => x /: t & not(x = y))"),
        ("s ∪ t ⊆ u ∩ ∅ ∨ s ≠ t", "s \\/ t <: u /\\ {} or s /= t"),
        ("f ∈ s ⤖ t ⇔ g ∈ s ⇸ t", "f : s >->> t <=> g : s +-> t"),
        ("a × b ∖ c ≤ ℕ1", "a * b \\ c <= NATURAL1"),
        ("{x} ⩤ f ⩥ {y}", "{x} <<| f |>> {y}"),
        ("λx·(x ∈ ℤ ∣ x)", "%x.(x : INTEGER | x)"),
        ("ℙ(s) = ℙ1(t)", "POW(s) = POW1(t)"),
    ] {
        let read =
            |text: &str| show(&machine(&format!("MACHINE m INVARIANT {text} END")).invariant.expect("an invariant"));
        assert_eq!(read(mathematical), read(plain));
    }
}

#[test]
fn definitions_are_formulas_or_substitutions() {
    let machine = machine(
        "MACHINE m DEFINITIONS one == 1; two(x) == x + 1; three == x := 1; four == BEGIN x := 1; y := 2 END;
         five == IF a = b THEN skip END; GOAL == x = 1 END",
    );
    let is_formula: Vec<bool> =
        machine.definitions.iter().map(|it| matches!(it.body, DefinitionBody::Formula(_))).collect();
    assert_eq!(is_formula, [true, true, false, false, false, true]);
}

#[test]
fn operations_and_substitutions() {
    let machine = machine(
        "MACHINE m OPERATIONS
           a, b <-- op(c, d) = PRE c = d THEN a := c || b := d END;
           other = BEGIN x := 1; f(y) := 2 END;
           chosen = x :: s; becoming = x, y : (x = y$0);
           calling = BEGIN r <-- op(1); op2; op3(x) END
         END",
    );
    assert_eq!(machine.operations.len(), 5);
    assert_eq!(machine.operations[0].outputs.len(), 2);
    let kinds = |at: usize| match &machine.operations[at].body.kind {
        SubstitutionKind::Block(body) => match &body.kind {
            SubstitutionKind::Sequence(parts) => parts.len(),
            _ => 1,
        },
        _ => 0,
    };
    assert_eq!([kinds(1), kinds(2), kinds(4)], [2, 0, 3]);
}

#[test]
fn an_error_costs_its_operation_only() {
    let text = "MACHINE m VARIABLES x INVARIANT x = 1 INITIALISATION x := 1
        OPERATIONS one = PRE THEN skip END; two = skip; three = x = 2; four = skip END";
    let (machine, errors) = parse(text, 0..text.len());
    assert_eq!(errors.len(), 2, "{errors:#?}");
    let names: Vec<&str> = machine.operations.iter().map(|it| &*it.name.text).collect();
    assert_eq!(names, ["two", "four"]);
}
