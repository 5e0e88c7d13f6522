//! Tests of the parser: what is read, and what is said about what cannot be read.

use super::*;
use crate::formula::{Atom, Formula, Formulas};

/// The tree: atoms in angle quotes, operators with two operands in parentheses.
fn show(text: &str, tree: &SyntaxTree, id: SyntaxId) -> String {
    let node = tree.node(id);
    let of = |id: &SyntaxId| show(text, tree, *id);
    match &node.kind {
        SyntaxKind::Constant(value) => value.to_string(),
        SyntaxKind::Atom => format!("‹{}›", node.span.of(text)),
        SyntaxKind::Unary(operator, a) => format!("{operator:?} {}", of(a)),
        SyntaxKind::Binary(operator, a, b) => format!("({} {operator:?} {})", of(a), of(b)),
        SyntaxKind::Path(quantifier, a) => format!("{quantifier:?}-path {}", of(a)),
        SyntaxKind::Quantified(quantified) => format!(
            "{:?} {} in {}: {}",
            quantified.quantifier,
            quantified.variable.of(text),
            quantified.domain.of(text),
            of(&quantified.body)
        ),
    }
}

fn read(text: &str, dialect: &Dialect<'_>) -> String {
    match parse(text, dialect) {
        Ok(tree) => show(text, &tree, tree.root()),
        Err(errors) => panic!("{text}: {errors:?}"),
    }
}

/// The errors, each with the text of its span.
fn errors(text: &str, dialect: &Dialect<'_>) -> Vec<String> {
    let errors = parse(text, dialect).expect_err(text);
    for error in &errors {
        assert!(text.get(error.span.range()).is_some(), "{text}: {error:?}");
    }
    errors
        .iter()
        .map(|error| {
            let help = error.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{}..{}: {}{help}", error.span.start, error.span.end, error.message)
        })
        .collect()
}

#[test]
fn promela_expressions_inside_formulas() {
    for (text, expected) in [
        ("[] (p -> <> (q && x == 3))", "Always (‹p› Implies Eventually (‹q› And ‹x == 3›))"),
        // As SPIN reads its `ltl` blocks.
        ("[] p U q", "(Always ‹p› Until ‹q›)"),
        ("! x == 3 U q", "(‹! x == 3› Until ‹q›)"),
        ("! p U q", "(Not ‹p› Until ‹q›)"),
        ("!p && q", "(Not ‹p› And ‹q›)"),
        ("! (p && q) == 1", "‹! (p && q) == 1›"),
        ("p U q U r", "((‹p› Until ‹q›) Until ‹r›)"),
        ("<> p V q W r", "((Eventually ‹p› Release ‹q›) WeakUntil ‹r›)"),
        ("p -> q -> r", "((‹p› Implies ‹q›) Implies ‹r›)"),
        ("p || q -> r <-> p", "(((‹p› Or ‹q›) Implies ‹r›) Equivalent ‹p›)"),
        ("p U q && r U p || q", "(((‹p› Until ‹q›) And (‹r› Until ‹p›)) Or ‹q›)"),
        ("(x+1)*2 == 3 U q", "(‹(x+1)*2 == 3› Until ‹q›)"),
        ("p & q U r", "(‹p & q› Until ‹r›)"),
        ("p implies q until r", "(‹p› Implies (‹q› Until ‹r›))"),
        ("always eventually p", "Always Eventually ‹p›"),
        ("p stronguntil q", "(‹p› Until ‹q›)"),
        // Other expressions.
        ("<> len(q) > a[i] + (j - 1)", "Eventually ‹len(q) > a[i] + (j - 1)›"),
        ("[] (P[1]@critical -> !P[2]@critical)", "Always (‹P[1]@critical› Implies Not ‹P[2]@critical›)"),
        ("<> P[0]:x == -1", "Eventually ‹P[0]:x == -1›"),
        ("[] (q?[ack] || nfull(q))", "Always (‹q?[ack]› Or ‹nfull(q)›)"),
        ("[] ((c -> a : b) == 2)", "Always ‹(c -> a : b) == 2›"),
        ("[] (c -> a : b)", "Always ‹(c -> a : b)›"),
        ("((p)) U ((x) < (y))", "(‹p› Until ‹(x) < (y)›)"),
        ("x == true U true == y", "(‹x == true› Until ‹true == y›)"),
        ("[] /* comment */ ~x", "Always ‹~x›"),
        ("a.b[2].c > 0 W !empty(q)", "(‹a.b[2].c > 0› WeakUntil Not ‹empty(q)›)"),
        ("F G p M q", "(Eventually Always ‹p› StrongRelease ‹q›)"),
        ("true U !(p)", "(true Until Not ‹p›)"),
    ] {
        assert_eq!(read(text, &Dialect::promela()), expected, "{text}");
    }
}

#[test]
fn murphi_expressions_inside_formulas() {
    for (text, expected) in [
        ("[] (a[i].b = c -> <> isundefined(x))", "Always (‹a[i].b = c› Implies Eventually ‹isundefined(x)›)"),
        ("AG (x & y | !z)", "All-path Always ((‹x› And ‹y›) Or Not ‹z›)"),
        ("<> (c ? a : b) = 1 -- comment", "Eventually ‹(c ? a : b) = 1›"),
        ("forall p : T : [] a[p]", "ForAll p in T: Always ‹a[p]›"),
        ("[] exists i := 0 to 2 do <> a[i] end", "Always Exists i in 0 to 2: Eventually ‹a[i]›"),
        ("(forall p: 1..3: x[p] > 0) -> b", "(ForAll p in 1..3: ‹x[p] > 0› Implies ‹b›)"),
    ] {
        assert_eq!(read(text, &Dialect::murphi()), expected, "{text}");
    }
}

#[test]
fn names_of_the_model_are_not_operators() {
    let is_name = |word: &str| ["G", "S", "once", "X"].contains(&word);
    let dialect = Dialect::promela();
    let dialect = dialect.with_names(&is_name);
    assert_eq!(read("[] (G && S == once)", &dialect), "Always (‹G› And ‹S == once›)");
    // SPIN reserves this one.
    assert_eq!(read("X G", &dialect), "Next ‹G›");
    // Operators can be written together if they are not a name.
    let is_name = |word: &str| ["FG", "p", "GO"].contains(&word);
    let dialect = Dialect::promela();
    let dialect = dialect.with_names(&is_name);
    assert_eq!(read("GF p && FG", &dialect), "(Always Eventually ‹p› And ‹FG›)");
    assert_eq!(read("GO", &dialect), "‹GO›");
}

#[test]
fn prob() {
    for (text, expected) in [
        ("G ({x > 1} => F [op])", "Always (‹{x > 1}› Implies Eventually ‹[op]›)"),
        ("G(e(op1) or not [op2(1,2)])", "Always (‹e(op1)› Or Not ‹[op2(1,2)]›)"),
        ("deadlock U sink", "(‹deadlock› Until ‹sink›)"),
        ("H {a : {1,2}} & O {s = \"}\"}", "(Historically ‹{a : {1,2}}› And Once ‹{s = \"}\"}›)"),
        ("{p} S {q} or Y {r} T {p}", "((‹{p}› Since ‹{q}›) Or (Yesterday ‹{r}› Triggered ‹{p}›))"),
        ("{p} <=> true & false", "(‹{p}› Equivalent (true And false))"),
        ("{p} W {q} & {p} R {q}", "((‹{p}› WeakUntil ‹{q}›) And (‹{p}› Release ‹{q}›))"),
        ("AG EF {x=1}", "All-path Always Some-path Eventually ‹{x=1}›"),
        ("E {p} U {q}", "Some-path (‹{p}› Until ‹{q}›)"),
        ("A[{p} U [op]] & {r}", "(All-path (‹{p}› Until ‹[op]›) And ‹{r}›)"),
        ("[] {p}", "Always ‹{p}›"),
        ("GF{x=0}", "Always Eventually ‹{x=0}›"),
        ("XX [op] or YHO{p}", "(Next Next ‹[op]› Or Yesterday Historically Once ‹{p}›)"),
        ("AGEFEX[op(1)]true", "All-path Always Some-path Eventually Some-path (‹[op(1)]› And Next true)"),
        ("AX[op]EX[op] & {p}", "(All-path (‹[op]› Implies Next Some-path Next ‹[op]›) And ‹{p}›)"),
        ("EX [op]", "Some-path Next ‹[op]›"),
    ] {
        assert_eq!(read(text, &Dialect::prob()), expected, "{text}");
    }
}

#[test]
fn branching_time() {
    for (text, expected) in [
        ("AG (p -> EF q)", "All-path Always (‹p› Implies Some-path Eventually ‹q›)"),
        ("A[p U q] & E(p R q)", "(All-path (‹p› Until ‹q›) And Some-path (‹p› Release ‹q›))"),
        ("E p U q", "Some-path (‹p› Until ‹q›)"),
        ("E (p) U q", "Some-path (‹p› Until ‹q›)"),
        ("A G F p", "All-path Always Eventually ‹p›"),
        ("A[] p", "All-path Always ‹p›"),
        ("EX p & AX q", "(Some-path Next ‹p› And All-path Next ‹q›)"),
        ("EG p | AF q", "(Some-path Always ‹p› Or All-path Eventually ‹q›)"),
    ] {
        assert_eq!(read(text, &Dialect::plain()), expected, "{text}");
    }
}

#[test]
fn symbols_and_words() {
    let mut pool = Formulas::new();
    for (one, other) in [
        ("□ (p0 → ◇ p1)", "G (p0 -> F p1)"),
        ("¬p0 ∧ p1 ∨ ○ p2", "(!p0 & p1) | X p2"),
        ("p0 ↔ p1", "p0 <=> p1"),
        ("p0 /\\ p1 \\/ p2", "p0 && p1 || p2"),
        ("p0 U p1 U p2", "p0 U (p1 U p2)"),
        ("p0 -> p1 -> p2", "p0 -> (p1 -> p2)"),
        ("p0 since p1 | once p0 | historically p1 | yesterday p0", "p0 S p1 | O p0 | H p1 | Y p0"),
        ("p0 implies p1 until p2", "p0 -> (p1 U p2)"),
        ("not p0 and p1 or p2", "(!p0 & p1) | p2"),
        ("p0 V p1", "p0 R p1"),
        ("⊤ U p0", "F p0"),
    ] {
        let left = parse_plain(&mut pool, one).expect(one);
        assert_eq!(Ok(left), parse_plain(&mut pool, other), "{one}");
    }
}

#[test]
fn parts_without_temporal_operators_become_one_atom() {
    for (text, dialect, expected) in [
        ("[] (p && x == 3 || !q)", Dialect::promela(), "Always ‹p && x == 3 || !q›"),
        (
            "[] (p -> <> ((q || r) && x == 3))",
            Dialect::promela(),
            "Always (‹p› Implies Eventually ‹(q || r) && x == 3›)",
        ),
        ("[] (p and q)", Dialect::promela(), "Always (‹p› And ‹q›)"),
        ("[] (p && true) U q", Dialect::promela(), "(Always ‹p && true› Until ‹q›)"),
        (
            "[] (forall i : T do a[i] = 1 & b end -> <> c)",
            Dialect::murphi(),
            "Always (‹forall i : T do a[i] = 1 & b end› Implies Eventually ‹c›)",
        ),
    ] {
        let mut tree = parse(text, &dialect).expect(text);
        tree.merge_atoms(text, dialect.expressions);
        assert_eq!(show(text, &tree, tree.root()), expected, "{text}");
    }
}

#[test]
fn quantifiers_are_expanded() {
    struct Values<'a>(&'a str, AtomTable);
    impl AtomReader for Values<'_> {
        type Error = String;
        fn atom(&mut self, pool: &mut Formulas, span: Span, bindings: &[Binding]) -> Result<Formula, String> {
            let mut name = span.of(self.0).to_owned();
            for binding in bindings {
                name = name.replace(&format!("[{}]", binding.variable.of(self.0)), &format!("[{}]", binding.value));
            }
            let atom = self.1.atom(&name);
            Ok(pool.atom(atom))
        }
        fn domain_size(&mut self, quantified: &Quantified, _: &[Binding]) -> Result<usize, String> {
            match quantified.domain.of(self.0) {
                "T" => Ok(2),
                "0 to 2" if quantified.assigned => Ok(3),
                other => Err(other.to_owned()),
            }
        }
    }
    // The atoms are numbered as they are met.
    for (text, expected) in [
        ("forall p : T : [] (a[p] -> <> b[p])", "G (p0 -> F p1) & G (p2 -> F p3)"),
        ("[] exists i : T do a[i] end", "G (p0 | p1)"),
        ("exists i := 0 to 2 do <> a[i] endexists", "F p0 | F p1 | F p2"),
        ("[] (forall p: T: a[p]) | b", "G (p0 & p1) | p2"),
    ] {
        let tree = parse(text, &Dialect::murphi()).expect(text);
        let mut pool = Formulas::new();
        let mut values = Values(text, AtomTable::default());
        let formula = lower(&tree, &mut pool, &mut values).expect(text);
        let expected = parse_plain(&mut pool, expected).expect(expected);
        assert_eq!(formula, expected, "{text}");
    }
}

#[test]
fn errors_are_located_and_have_hints() {
    let promela = Dialect::promela();
    for (text, expected) in [
        ("p untill q", vec!["2..8: expected an operator, found `untill` (did you mean `until` instead of `untill`?)"]),
        ("alwyas p", vec!["7..8: expected an operator, found `p` (did you mean `always` instead of `alwyas`?)"]),
        ("[] (p -> <> q", vec!["3..4: `(` is never closed (write `)` after what it encloses)"]),
        ("[] p)", vec!["4..5: `)` closes nothing (remove it, or write `(` before what it closes)"]),
        ("p U", vec!["3..3: expected a formula after `U`, found the end (write a formula after `U`)"]),
        ("U q", vec!["0..1: expected a formula, found `U` (this operator needs a formula on both sides)"]),
        ("", vec!["0..0: expected a formula, found the end (write a formula such as `[] (p -> <> q)`)"]),
        ("[] (x = 3)", vec!["6..7: unexpected `=` in a formula (equality is written `==`)"]),
        (
            "p && && q || (r",
            vec![
                "5..7: expected a formula after `&&`, found `&&` (this operator needs a formula on both sides)",
                "13..14: `(` is never closed (write `)` after what it encloses)",
            ],
        ),
        (
            "len(<> q) > 1",
            vec![
                "4..6: the temporal operator `<>` is inside an expression (temporal operators apply to conditions, not to their parts)",
            ],
        ),
        (
            "(<> q) > 1",
            vec!["7..8: `>` has a formula as its operand (temporal operators cannot stand inside an expression)"],
        ),
        ("[i] p", vec![]),
        ("forall p T : q", vec![]),
        ("forall : T : q", vec![]),
        ("p # q", vec![]),
    ] {
        let found = errors(text, &promela);
        if !expected.is_empty() {
            assert_eq!(found, expected, "{text}");
        }
    }
    let ambiguous = errors("{p} U {q} U {r} => {p} => {q}", &Dialect::prob());
    assert_eq!(
        ambiguous,
        [
            "10..11: `U` and `U` without parentheses are ambiguous (put parentheses around one of them)",
            "23..25: `=>` and `=>` without parentheses are ambiguous (put parentheses around one of them)",
        ]
    );
    assert_eq!(errors("{p", &Dialect::prob()), ["0..1: `{` is never closed (write `}` after the atom)"]);
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_read() {
    for (text, code) in [
        ("(".repeat(100_000), None),
        (format!("{}p", "[] ".repeat(100_000)), Some("too-deep")),
        (format!("{}p{}", "(".repeat(100_000), ")".repeat(100_000)), Some("too-deep")),
        (format!("p{}", " U p".repeat(10_000)), Some("too-deep")),
        (format!("p{}", " -> p".repeat(10_000)), Some("too-deep")),
    ] {
        for dialect in [Dialect::promela(), Dialect::plain()] {
            let found = parse(&text, &dialect).expect_err("too deep");
            if let Some(code) = code {
                assert!(found.iter().any(|error| error.code == code), "{found:?}");
            }
        }
    }
    let text = format!("p{}", " && p".repeat(100_000));
    let mut pool = Formulas::new();
    let formula = AtomTable::default().parse(&mut pool, &text, &Dialect::promela()).expect("a chain");
    assert_eq!(formula, pool.atom(Atom(0)));
}

#[test]
fn no_text_makes_the_parser_fail() {
    use crate::random::Random;
    let pieces = [
        "[]", "<>", "(", ")", "[", "]", "{", "}", "p", "q", "x", "==", "=", "->", "<->", "!", "&&", "|", "U", "X", "A",
        "E", "forall", "exists", ":", ":=", "do", "end", "T", "\"", "'", "/*", "*/", "--", ",", ".", "?", "-", "7",
        "□", "é", "=>", " ", "AG", "true",
    ];
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let length = random.below(14);
        let mut text = String::new();
        for _ in 0..length {
            text.push_str(pieces[random.below(pieces.len())]);
            if random.below(3) > 0 {
                text.push(' ');
            }
        }
        for dialect in [Dialect::promela(), Dialect::murphi(), Dialect::prob(), Dialect::plain()] {
            match parse(&text, &dialect) {
                Ok(mut tree) => {
                    tree.merge_atoms(&text, dialect.expressions);
                    for span in tree.atoms() {
                        assert!(!span.of(&text).is_empty(), "{text}");
                    }
                }
                Err(errors) => {
                    assert!(!errors.is_empty());
                    for error in errors {
                        assert!(text.get(error.span.range()).is_some(), "{text}: {error:?}");
                    }
                }
            }
        }
    }
}
