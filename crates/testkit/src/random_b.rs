//! Random B: machines over a deferred set, whose conditions have values or not, and formulas of all types over an
//! enumerated one.

use crate::random_promela::Random;

fn random(seed: u64) -> Random {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d);
    random.next();
    random
}

/// A machine over a deferred set of three, with sets, a relation, a function, a sequence, a function to sets
/// and a number.
pub fn random_machine(seed: u64) -> String {
    let mut random = random(seed);
    let set = |random: &mut Random| {
        random
            .pick(&[
                "a",
                "b",
                "dom(f)",
                "ran(f)",
                "ran(q)",
                "r[a]",
                "r~[b]",
                "f[a]",
                "(a \\/ b)",
                "(a /\\ b)",
                "(S - a)",
                "{p}",
                "dom(r)",
                "g(p)",
                "(g(o) - a)",
                "union(ran(g))",
            ])
            .to_owned()
    };
    let mut operations = Vec::new();
    for number in 0..5 {
        let (one, other) = (set(&mut random), set(&mut random));
        let guard = match random.below(7) {
            0 => format!("{one} <: {other}"),
            1 => format!("p /: {one}"),
            2 => format!("card({one}) <= card({other})"),
            3 => format!("!x.(x : {one} => #y.(y : S & (x |-> y : r or y : {other})))"),
            4 => format!("p : closure1(r)[{one}] or p : {other}"),
            5 => format!("!x.(x : {one} => x : dom(f) & f(x) : {other})"),
            _ => format!("size(q) + n < 4 + card({one} - {other})"),
        };
        let change = random.pick(&[
            "a := SET",
            "b := b \\/ {p} || n := card(a)",
            "r := r \\/ ({p} * SET)",
            "r := (r ; r) \\/ {p |-> p}",
            "f := {p} <<| f",
            "f(p) := o",
            "g(p) := g(o) \\/ {p}",
            "g := g <+ {p |-> SET}",
            "IF p : a THEN f := f |> SET ELSE a := a \\/ {o} END",
            "IF p /: ran(q) THEN q := q <- p END",
            "IF q /= [] THEN q := tail(q) || a := {first(q)} END",
            "ANY z WHERE z : SET THEN b := {z} END",
            "CHOICE a := {} OR b := S - b END",
            "q := rev(q) || n := size(q)",
            "SELECT o : a THEN a := a - {o} WHEN o : b THEN a := a \\/ {o} ELSE skip END",
            "BEGIN a := a \\/ {p}; b := a /\\ SET END",
        ]);
        let change = change.replace("SET", &set(&mut random));
        operations.push(format!("op{number}(p, o) = SELECT p : S & o : S & {guard} THEN {change} END"));
    }
    let claim = random.pick(&["card(a) <= 3", "size(q) <= 3", "card(a /\\ b) <= 2", "r /= S * S", "not(p0(a))"]);
    format!(
        "MACHINE random SETS S DEFINITIONS scope_S == 3; p0(x) == (x = S) VARIABLES a, b, r, f, g, q, n
         INVARIANT a <: S & b <: S & r : S <-> S & f : S +-> S & g : S --> POW(S) & q : iseq(S) & n : 0..9 & {claim}
         INITIALISATION a := {{}} || b := {{}} || r := {{}} || f := {{}} || g := S * {{{{}}}} || q := [] || n := 0
         OPERATIONS {} END",
        operations.join(";\n")
    )
}

/// A machine over a deferred set of three whose guards and conditions often have no value: functions are applied
/// outside their domains, numbers divided by zero. Whatever it assigns has a value and keeps to the invariant.
pub fn random_partial_machine(seed: u64) -> String {
    let mut random = random(seed);
    let mut condition = || {
        let basic = |random: &mut Random| {
            random
                .pick(&[
                    "f(p) = o",
                    "f(f(p)) /= o",
                    "g(p) > n",
                    "g(f(o)) = 1",
                    "2 / n = 1",
                    "(g(p) + n) mod n = 0",
                    "first(q) = p",
                    "last(q) : a",
                    "min(ran(g)) <= n",
                    "max({n} - {0}) = g(o)",
                    "size(tail(q)) < 2",
                    "p : a",
                    "n < 2",
                    "f = {}",
                    "q = []",
                    "!x.(x : a => f(x) /= p)",
                    "#x.(x : a & g(x) = n)",
                    "card({x | x : S & f(x) = p}) = 1",
                    "SIGMA(x).(x : a | g(x)) < 3",
                    "f~(o) = p",
                    "(IF p : a THEN f(p) ELSE o END) = o",
                ])
                .to_owned()
        };
        let (one, other) = (basic(&mut random), basic(&mut random));
        match random.below(7) {
            0 => format!("({one} or {other})"),
            1 => format!("not({one})"),
            2 => format!("({one} => {other})"),
            3 => format!("({one} & {other})"),
            4 => format!("({one} <=> {other})"),
            _ => one,
        }
    };
    let conditions: Vec<[String; 3]> = (0..5).map(|_| [condition(), condition(), condition()]).collect();
    let mut operations = Vec::new();
    for (number, [guard, one, other]) in conditions.into_iter().enumerate() {
        let change = random.pick(&[
            "f(p) := o",
            "f := {p} <<| f || n := 0",
            "g(p) := n",
            "g := {o} <<| g",
            "n := (n + 1) mod 3",
            "a := a \\/ {p}",
            "IF p /: ran(q) THEN q := q <- p END",
            "q := []",
            "IF ONE THEN f(p) := o ELSIF OTHER THEN n := 0 ELSE a := a - {p} END",
            "SELECT ONE THEN g(o) := n WHEN OTHER THEN f(o) := p ELSE a := {} END",
            "ANY z WHERE z : S & ONE & z /= p THEN f(z) := p END",
            "ANY z WHERE z = f(p) & OTHER THEN a := a \\/ {z} END",
            "BEGIN f(p) := o; IF ONE THEN n := 2 ELSE g := {} END END",
        ]);
        let change = change.replace("ONE", &one).replace("OTHER", &other);
        operations.push(format!("op{number}(p, o) = SELECT p : S & o : S & {guard} THEN {change} END"));
    }
    format!(
        "MACHINE partial SETS S DEFINITIONS scope_S == 2 VARIABLES a, f, g, q, n
         INVARIANT a <: S & f : S +-> S & g : S +-> 0..2 & q : iseq(S) & n : 0..2
         INITIALISATION a := {{}} || f := {{}} || g := {{}} || q := [] || n := 0
         OPERATIONS {} END",
        operations.join(";\n")
    )
}

/// The types of random formulas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Number,
    Element,
    Set,
    Numbers,
    Relation,
    /// A partial function from elements to numbers.
    Function,
    List,
    Sets,
}

/// The constants used in formulas, their types, and the bounds for a variable in their place.
const LEAVES: [(&str, Sort, &str, &str); 10] = [
    ("n", Sort::Number, "3", "0..3"),
    ("e", Sort::Element, "s2", "S"),
    ("a", Sort::Set, "{s1, s2}", "POW(S)"),
    ("b", Sort::Set, "{s2, s3}", "POW(S)"),
    ("m", Sort::Numbers, "{0, 2, 3}", "POW(0..4)"),
    ("r", Sort::Relation, "{s1 |-> s2, s2 |-> s3, s2 |-> s1}", "S <-> S"),
    ("t", Sort::Relation, "{s3 |-> s3, s1 |-> s3}", "S <-> S"),
    ("f", Sort::Function, "{s1 |-> 2, s2 |-> 0, s3 |-> 3}", "S --> 0..4"),
    ("q", Sort::List, "[s2, s1, s3]", "iseq(S)"),
    ("v", Sort::Sets, "{{}, {s1, s3}, {s2}}", "POW(POW(S))"),
];

/// A machine whose constants have the values of random formulas over other constants, and whose invariant says that the
/// same formulas over variables with the same values have these values, too. It holds if constants and states are
/// computed alike. A formula without a value makes it invalid.
pub fn random_formulas(seed: u64, count: usize) -> String {
    let mut random = random(seed);
    let mut results = Vec::new();
    for number in 0..count {
        let sort = [
            Sort::Number,
            Sort::Element,
            Sort::Set,
            Sort::Numbers,
            Sort::Relation,
            Sort::Function,
            Sort::List,
            Sort::Sets,
        ][random.below(8) as usize];
        results.push((format!("k{number}"), formula(&mut random, sort, 3)));
    }
    // Variables have the names of constants with a prime letter: `n` becomes `xn`.
    let of = |text: &str, prefix: &str| text.replace('@', prefix);
    let names = |prefix: &str| LEAVES.map(|(name, ..)| format!("{prefix}{name}")).join(", ");
    let constants = LEAVES.map(|(name, _, value, _)| format!("c{name} = {value}")).join(" & ");
    let bounds = LEAVES.map(|(name, _, _, bound)| format!("x{name} : {bound}")).join(" & ");
    let start = LEAVES.map(|(name, _, value, _)| format!("x{name} := {value}")).join(" || ");
    let list: Vec<String> = results.iter().map(|(name, _)| name.clone()).collect();
    let given: Vec<String> = results.iter().map(|(name, text)| format!("{name} = {}", of(text, "c"))).collect();
    let claims: Vec<String> = results.iter().map(|(name, text)| format!("{} = {name}", of(text, "x"))).collect();
    format!(
        "MACHINE formulas SETS S = {{s1, s2, s3}} CONSTANTS {}, {}\nPROPERTIES {constants} &\n{}\n\
         VARIABLES {}\nINVARIANT {bounds} &\n{}\nINITIALISATION {start}\nOPERATIONS stay = skip END",
        names("c"),
        list.join(", "),
        given.join(" &\n"),
        names("x"),
        claims.join(" &\n"),
    )
}

/// A formula of a type. `@` precedes the names of leaves; `(N)`, `(S)` … are placeholders for subformulas.
fn formula(random: &mut Random, sort: Sort, depth: usize) -> String {
    if depth == 0 || random.chance(15) {
        let leaves: Vec<&str> = LEAVES.iter().filter(|leaf| leaf.1 == sort).map(|leaf| leaf.0).collect();
        return format!("@{}", random.pick(&leaves));
    }
    let template = random.pick(match sort {
        Sort::Number => &[
            "[N] + [N]",
            "[N] - [N]",
            "[N] * 2",
            "card([S])",
            "card([R])",
            "card([V])",
            "size([Q])",
            "max([M] \\/ {1})",
            "min([M] \\/ {4})",
            "SIGMA(z).(z : [M] | z * z)",
            "PI(z).(z : {1, 2} | z + 1)",
            "SIGMA(z).(z : dom([F]) | 1)",
            "[N] / 2",
            "([N] * [N]) mod 3",
            "IF [P] THEN [N] ELSE [N] END",
            "LET z BE z = [N] IN z + z END",
            "([F] <+ {[E] |-> 1})([E])",
        ],
        Sort::Element => &[
            "IF [P] THEN [E] ELSE [E] END",
            "(S * {s2} <+ {[E] |-> [E]})([E])",
            "prj1(S, S)([E] |-> [E])",
            "prj2(S, S)([E] |-> [E])",
            "first([Q] <- [E])",
            "last([E] -> [Q])",
            "(%z.(z : S | s3))([E])",
        ],
        Sort::Set => &[
            "[S] \\/ [S]",
            "[S] /\\ [S]",
            "[S] - [S]",
            "{[E], [E]}",
            "dom([R])",
            "ran([R])",
            "[R][[S]]",
            "[R]~[[S]]",
            "dom([F])",
            "ran([Q])",
            "union([V])",
            "inter([V] \\/ {[S]})",
            "{z | z : S & [P]}",
            "{z | z : [S] & #y.(y : [S] & z |-> y : [R])}",
            "UNION(z).(z : [S] | [R][{z}])",
            "INTER(z).(z : S | [S] \\/ {z})",
            "IF [P] THEN [S] ELSE {} END",
            "dom([F] |> [M])",
            "union(ran([S] <| fnc([R])))",
        ],
        Sort::Numbers => &[
            "[M] \\/ {[N]}",
            "[M] /\\ 0..3",
            "[M] - {[N]}",
            "[N]..[N]",
            "ran([F])",
            "dom([Q])",
            "[F][[S]]",
            "{z | z : 0..5 & z mod 2 = 0 & z < [N]}",
            "ran(%z.(z : [M] | z + 1))",
            "{z, y | z : [M] & y = z + 1 & y > 0}[[M]]",
        ],
        Sort::Relation => &[
            "[R] \\/ [R]",
            "[R] /\\ [R]",
            "[R] - [R]",
            "[R]~",
            "([R] ; [R])",
            "[S] <| [R]",
            "[S] <<| [R]",
            "[R] |> [S]",
            "[R] |>> [S]",
            "[R] <+ [R]",
            "id([S])",
            "closure1([R])",
            "closure([R])",
            "iterate([R], 2)",
            "[S] * [S]",
            "{[E] |-> [E]}",
            "ran([R] >< [R])",
            "{z, y | z : [S] & y : S & z |-> y : [R]}",
            "rel({z, y | z : S & y = [R][{z}]})",
            "dom([R] || [R])",
        ],
        Sort::Function => &[
            "[F] <+ {[E] |-> [N]}",
            "[S] <| [F]",
            "[S] <<| [F]",
            "[F] |> [M]",
            "%z.(z : [S] | [N])",
            "[S] * {[N]}",
            "%z.(z : S | card([R][{z}]))",
        ],
        Sort::List => &[
            "[Q] <- [E]",
            "[E] -> [Q]",
            "rev([Q])",
            "[Q] ^ [Q]",
            "tail([Q] <- [E])",
            "front([E] -> [Q])",
            "[[E], [E]]",
            "([Q] <- [E]) /|\\ 1",
            "([Q] <- [E]) \\|/ 1",
            "[] ^ [Q]",
            "conc([[Q], [Q]])",
        ],
        Sort::Sets => &[
            "[V] \\/ {[S]}",
            "[V] - {[S]}",
            "POW([S])",
            "POW1([S])",
            "FIN([S])",
            "{z | z : POW(S) & card(z) = 2}",
            "ran(%z.(z : [S] | [R][{z}]))",
            "{z | z <: [S] & z /= {}}",
        ],
    });
    fill(random, template, depth)
}

/// A condition.
fn condition(random: &mut Random, depth: usize) -> String {
    let template = random.pick(&[
        "[N] < [N]",
        "[N] = [N]",
        "[E] : [S]",
        "[E] /: [S]",
        "[S] <: [S]",
        "[S] <<: [S]",
        "[S] = [S]",
        "[S] : [V]",
        "[R] : S +-> S",
        "[R] : S >+> S",
        "[F] : S --> 0..9",
        "[Q] : iseq(S)",
        "!z.(z : [S] => z : [S])",
        "#z.(z : [S] & z |-> z : [R])",
        "not([N] : [M])",
        "([E] : [S] => [E] = [E])",
        "([E] : [S] <=> [N] : [M])",
        "bool([E] = [E]) = TRUE",
    ]);
    fill(random, template, depth)
}

fn fill(random: &mut Random, template: &str, depth: usize) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('[') {
        let sort = match rest[at + 1..].chars().next() {
            Some('N') => Some(Sort::Number),
            Some('E') => Some(Sort::Element),
            Some('S') => Some(Sort::Set),
            Some('M') => Some(Sort::Numbers),
            Some('R') => Some(Sort::Relation),
            Some('F') => Some(Sort::Function),
            Some('Q') => Some(Sort::List),
            Some('V') => Some(Sort::Sets),
            _ => None,
        };
        let is_hole = rest[at + 2..].starts_with(']');
        if is_hole && rest[at + 1..].starts_with('P') {
            text.push_str(&rest[..at]);
            text.push_str(&format!("({})", condition(random, depth.saturating_sub(1))));
            rest = &rest[at + 3..];
        } else if let (Some(sort), true) = (sort, is_hole) {
            text.push_str(&rest[..at]);
            text.push_str(&format!("({})", formula(random, sort, depth.saturating_sub(1))));
            rest = &rest[at + 3..];
        } else {
            text.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
        }
    }
    text.push_str(rest);
    text
}
