//! Random families of models: a Murphi text with `N` interchangeable processes, for claims about every `N`. Processes
//! have a location and perhaps a flag; what is shared is a number, perhaps one process or two. Rules move one process or two,
//! ask about all others, and move all others at once. The same seed gives the same text.
//!
//! Families with an order have processes `1..N` that are also compared by `<`, `<=`, `>` and `>=`.
//!
//! Families with guards of one kind have processes that share nothing, and whose guards ask only whether some process is somewhere, or
//! only whether all are: there are cut-offs for these.
//!
//! Families of two types have clients and servers, `N` and `M` of them or `N` of each.

use std::fmt::Write as _;

use crate::random_murphi::Random;

/// The random family of a seed.
pub fn random_family(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x5eed_e4e2);
    Family::new(&mut random, false).text()
}

/// The random family of a seed whose processes have an order.
pub fn random_family_with_order(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x0e_5eed_e4e2);
    Family::new(&mut random, true).text()
}

struct Family<'r> {
    random: &'r mut Random,
    locations: usize,
    numbers: usize,
    has_flag: bool,
    has_owner: bool,
    has_second: bool,
    has_global_conditions: bool,
    has_broadcasts: bool,
    has_order: bool,
}

impl<'r> Family<'r> {
    fn new(random: &'r mut Random, has_order: bool) -> Self {
        Self {
            locations: 2 + random.below(3),
            numbers: 1 + random.below(3),
            has_flag: random.percent(35),
            has_owner: random.percent(40),
            has_second: random.percent(30),
            has_global_conditions: random.percent(70),
            has_broadcasts: random.percent(50),
            has_order,
            random,
        }
    }

    fn location(&mut self) -> String {
        format!("l{}", self.random.below(self.locations))
    }

    /// How one process stands to another.
    fn relation(&mut self, left: &str, right: &str) -> String {
        format!("{left} {} {right}", ["<", "<=", ">", ">="][self.random.below(4)])
    }

    /// Whether the next condition asks for the order of processes. Families without an order draw nothing here.
    fn is_about_order(&mut self, percentage: u32) -> bool {
        self.has_order && self.random.percent(percentage)
    }

    /// A condition on the cells of a process.
    fn of_process(&mut self, process: &str) -> String {
        let location = self.location();
        match self.random.below(4) {
            0 if self.has_flag => format!("flag[{process}]"),
            1 if self.has_flag => format!("!flag[{process}]"),
            2 => format!("at[{process}] != {location}"),
            _ => format!("at[{process}] = {location}"),
        }
    }

    /// A condition on what is shared, and how the process is related to it.
    fn of_shared(&mut self, process: &str) -> String {
        if self.has_owner && self.is_about_order(50) {
            let relation = self.relation("owner", process);
            // This goes wrong if there is no owner.
            let is_careless = self.random.percent(10);
            return if is_careless { relation } else { format!("(!isundefined(owner) & {relation})") };
        }
        let number = self.random.below(self.numbers);
        match self.random.below(5) {
            0 if self.has_owner => format!("(!isundefined(owner) & owner = {process})"),
            1 if self.has_owner => "isundefined(owner)".to_owned(),
            2 if self.has_owner => {
                let inner = self.of_process("owner");
                format!("(isundefined(owner) | {inner})")
            }
            // This one goes wrong if there is no owner.
            3 if self.has_owner && self.random.percent(15) => format!("owner != {process}"),
            _ => format!("x = {number}"),
        }
    }

    /// A condition about all processes by their order.
    fn global_by_order(&mut self, process: &str) -> String {
        let (inner, relation) = (self.of_process("r"), self.relation("r", process));
        match self.random.below(8) {
            0 => format!("(forall r: process do {relation} end)"),
            1 => {
                let (other, between) = (self.of_process("s"), self.relation("r", "s"));
                format!("(exists r: process do {inner} & exists s: process do {between} & {other} end end)")
            }
            2 => {
                let (other, between) = (self.of_process("s"), self.relation("r", "s"));
                format!(
                    "(forall r: process do {relation} | forall s: process do {between} | {inner} | {other} end end)"
                )
            }
            3 if self.has_owner => {
                let of_owner = self.relation("r", "owner");
                format!("(isundefined(owner) | forall r: process do {of_owner} | {inner} end)")
            }
            // Whether this one goes wrong depends on which process comes first.
            4 if self.has_owner && self.random.percent(30) => {
                let of_owner = self.relation("r", "owner");
                format!("(exists r: process do {inner} | {of_owner} end)")
            }
            4 | 5 => format!("(exists r: process do {relation} & {inner} end)"),
            _ => format!("(forall r: process do {relation} -> {inner} end)"),
        }
    }

    /// A condition about all processes.
    fn global(&mut self, process: &str) -> String {
        if self.is_about_order(70) {
            return self.global_by_order(process);
        }
        let inner = self.of_process("r");
        match self.random.below(4) {
            0 => format!("(exists r: process do {inner} end)"),
            1 => format!("(exists r: process do r != {process} & {inner} end)"),
            2 => format!("(forall r: process do {inner} end)"),
            _ => format!("(forall r: process do r = {process} | {inner} end)"),
        }
    }

    fn guard(&mut self, has_two: bool) -> String {
        let mut parts = vec![self.of_process("p")];
        if self.random.percent(60) {
            parts.push(self.of_shared("p"));
        }
        if has_two {
            let relation = if self.is_about_order(60) { self.relation("p", "q") } else { "p != q".to_owned() };
            parts.push(relation);
            parts.push(self.of_process("q"));
            if self.is_about_order(25) {
                // The next one, or the next of some.
                let inner = self.of_process("r");
                let is_any = self.random.percent(50);
                let inner = if is_any { String::new() } else { format!(" | {inner}") };
                parts.push(format!("(forall r: process do r <= p | q <= r{inner} end)"));
            }
        }
        if self.has_global_conditions && self.random.percent(45) {
            parts.push(self.global("p"));
        }
        parts.join(" & ")
    }

    fn effect(&mut self, process: &str) -> String {
        let location = self.location();
        let number = self.random.below(self.numbers);
        match self.random.below(8) {
            0 if self.has_flag => format!("flag[{process}] := {};", self.random.percent(50)),
            1 | 2 => format!("x := {number};"),
            3 if self.has_owner && self.has_second && self.random.percent(50) => {
                let condition = self.of_process("second");
                format!("if !isundefined(second) & {condition} then owner := second; end; second := {process};")
            }
            3 if self.has_owner && self.is_about_order(30) => {
                let relation = self.relation("owner", process);
                format!("if isundefined(owner) | {relation} then owner := {process}; end;")
            }
            3 if self.has_owner => format!("owner := {process};"),
            4 if self.has_owner => "undefine owner;".to_owned(),
            5 if self.has_broadcasts && self.is_about_order(70) => {
                // The process is one of them: those after it see what it holds then.
                let of_first = self.random.percent(50).then(|| self.of_process(process));
                let condition = of_first.unwrap_or_else(|| self.of_process("r"));
                let relation = self.relation("r", process);
                format!("for r: process do if {relation} & {condition} then at[r] := {location}; end; end;")
            }
            5 if self.has_broadcasts => {
                let condition = self.of_process("r");
                format!("for r: process do if r != {process} & {condition} then at[r] := {location}; end; end;")
            }
            6 if self.has_global_conditions => {
                let condition = self.global(process);
                format!("if {condition} then at[{process}] := {location}; else x := {number}; end;")
            }
            _ => format!("at[{process}] := {location};"),
        }
    }

    fn rule(&mut self, number: usize) -> String {
        let has_two = self.random.percent(20);
        let guard = self.guard(has_two);
        let mut body = String::new();
        let location = self.location();
        let _ = write!(body, "at[p] := {location}; ");
        for _ in 0..self.random.below(3) {
            let process = if has_two && self.random.percent(50) { "q" } else { "p" };
            let _ = write!(body, "{} ", self.effect(process));
        }
        let parameters = if has_two { "p: process; q: process" } else { "p: process" };
        format!("ruleset {parameters} do rule \"r{number}\" {guard} ==> {body}end; end;\n")
    }

    fn invariant(&mut self) -> String {
        let (first, second) = (self.of_process("p"), self.of_process("q"));
        let number = self.random.below(self.numbers);
        if self.is_about_order(50) {
            let relation = self.relation("p", "q");
            return match self.random.below(4) {
                0 if self.has_owner => {
                    let of_owner = self.relation("p", "owner");
                    format!("isundefined(owner) | forall p: process do {first} -> {of_owner} end")
                }
                1 => {
                    let third = self.of_process("r");
                    format!(
                        "forall p: process do forall q: process do forall r: process do \
                         {first} & {second} & {third} -> !(p < q & q < r) end end end"
                    )
                }
                _ => format!("forall p: process do forall q: process do {first} & {second} -> {relation} end end"),
            };
        }
        match self.random.below(5) {
            0 => format!("forall p: process do x = {number} -> !({first}) end"),
            1 => format!("forall p: process do !({first}) | x = {number} end"),
            2 => {
                let third = self.of_process("r");
                format!(
                    "forall p: process do forall q: process do forall r: process do \
                     {first} & {second} & {third} -> p = q | q = r | p = r end end end"
                )
            }
            _ => format!("forall p: process do forall q: process do {first} & {second} -> p = q end end"),
        }
    }

    fn text(&mut self) -> String {
        let locations: Vec<String> = (0..self.locations).map(|number| format!("l{number}")).collect();
        let mut text = format!(
            "const N: 3;\ntype process: {}; location: enum {{ {} }};\n\
             var at: array [process] of location; x: 0..{};\n",
            if self.has_order { "1..N" } else { "scalarset(N)" },
            locations.join(", "),
            self.numbers - 1
        );
        if self.has_flag {
            text.push_str("var flag: array [process] of boolean;\n");
        }
        if self.has_owner {
            text.push_str("var owner: process;\n");
        }
        if self.has_owner && self.has_second {
            text.push_str("var second: process;\n");
        }
        let owner = self.has_owner && self.random.percent(30);
        let is_split = self.is_about_order(25);
        if owner || is_split {
            text.push_str("ruleset o: process do ");
        }
        text.push_str("startstate begin for p: process do at[p] := l0;");
        if is_split {
            let _ = write!(text, " if {} then at[p] := l1; end;", self.relation("p", "o"));
        }
        if self.has_flag {
            text.push_str(" flag[p] := false;");
        }
        text.push_str(" end; x := 0;");
        text.push_str(if owner { " owner := o; end;" } else { " end;" });
        text.push_str(if owner || is_split { " end;\n" } else { "\n" });
        for number in 0..2 + self.random.below(5) {
            text.push_str(&self.rule(number));
        }
        let _ = writeln!(text, "invariant \"claim\" {};", self.invariant());
        text
    }
}

/// What guards of a family ask about all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Whether some process is somewhere.
    Some,
    /// Whether all are.
    All,
}

/// The random family of a seed whose processes share nothing and change one at a time, with guards of one kind.
pub fn random_family_with_guards(seed: u64, asks: Asks) -> String {
    let mut random = Random::new(seed ^ 0x9a_5eed_e4e2);
    GuardedFamily::new(&mut random, asks).text()
}

struct GuardedFamily<'r> {
    random: &'r mut Random,
    asks: Asks,
    locations: usize,
    has_flag: bool,
    /// Whether there is a variable without a value at the start, which is read nevertheless.
    has_memo: bool,
    /// Whether a process goes from each location to the next one if another process stays at one that it comes from: the last one is
    /// reached with many processes only.
    has_ladder: bool,
}

impl<'r> GuardedFamily<'r> {
    fn new(random: &'r mut Random, asks: Asks) -> Self {
        // A cut-off grows with what a process can hold, and the states with both.
        let (has_flag, has_memo) = match random.below(10) {
            0..2 => (true, false),
            2 => (false, true),
            _ => (false, false),
        };
        let locations = 2 + random.below(if has_flag || has_memo { 2 } else { 4 });
        let has_ladder = asks == Asks::Some && random.percent(35);
        Self { asks, locations, has_flag, has_memo, has_ladder, random }
    }

    fn location(&mut self) -> String {
        format!("l{}", self.random.below(self.locations))
    }

    /// A condition on the cells of a process.
    fn of_process(&mut self, process: &str) -> String {
        let (location, other) = (self.location(), self.location());
        match self.random.below(6) {
            0 if self.has_flag => format!("flag[{process}]"),
            1 if self.has_flag => format!("!flag[{process}]"),
            2 => format!("at[{process}] != {location}"),
            3 => format!("(at[{process}] = {location} | at[{process}] = {other})"),
            _ => format!("at[{process}] = {location}"),
        }
    }

    /// A condition about all processes: of the kind of the family, in one form or another.
    fn global(&mut self, process: &str) -> String {
        let (inner, other) = (self.of_process("r"), self.of_process("q"));
        let is_another = self.random.percent(60);
        // Of the process itself, nothing is asked.
        let (all_but, some_but) = match is_another {
            true => (format!("r = {process} | "), format!("r != {process} & ")),
            false => (String::new(), String::new()),
        };
        match (self.asks, self.random.below(6)) {
            (Asks::Some, 0) => format!("!(forall r: process do {all_but}{inner} end)"),
            (Asks::Some, 1) => {
                format!("(exists r: process do {some_but}{inner} & exists q: process do q != r & {other} end end)")
            }
            (Asks::Some, 2) => format!(
                "(exists r: process do {some_but}{inner} & exists q: process do q != r & q != {process} & {other} end end)"
            ),
            (Asks::Some, _) => format!("(exists r: process do {some_but}{inner} end)"),
            (Asks::All, 0) => format!("!(exists r: process do {some_but}{inner} end)"),
            (Asks::All, 1) => {
                format!("(forall r: process do {all_but}{inner} | forall q: process do q = r | {other} end end)")
            }
            (Asks::All, 2) => {
                format!(
                    "((forall r: process do {all_but}{inner} end) | forall q: process do q = {process} | {other} end)"
                )
            }
            (Asks::All, _) => format!("(forall r: process do {all_but}{inner} end)"),
        }
    }

    /// A rule that leads to the next location.
    fn rung(&mut self, from: usize) -> String {
        let kept = if from > 0 && self.random.percent(25) { from - 1 } else { from };
        let asks = match from > 0 || self.random.percent(30) {
            true => format!(" & exists r: process do r != p & at[r] = l{kept} end"),
            false => String::new(),
        };
        let to = from + 1;
        format!("ruleset p: process do rule \"to l{to}\" at[p] = l{from}{asks} ==> at[p] := l{to}; end; end;\n")
    }

    fn rule(&mut self, number: usize) -> String {
        let mut parts = vec![self.of_process("p")];
        for _ in 0..[0, 1, 1, 1, 2][self.random.below(5)] {
            let condition = self.global("p");
            parts.push(condition);
        }
        if self.has_memo && self.random.percent(25) {
            parts.push("memo[p]".to_owned());
        }
        if number > 0 && self.random.percent(4) {
            // Nobody moves, but it goes wrong.
            let (inner, quantifier) = (self.of_process("r"), if self.asks == Asks::Some { "exists" } else { "forall" });
            return format!("rule \"r{number}\" {quantifier} r: process do {inner} end ==> error \"here\"; end;\n");
        }
        let location = self.location();
        let mut body = format!("at[p] := {location}; ");
        // It is used, or the text does not show that it may be permuted.
        if self.has_flag && (self.random.percent(50) || number == 0) {
            let _ = write!(body, "flag[p] := {}; ", self.random.percent(50));
        }
        if self.has_memo && (self.random.percent(60) || number == 0) {
            body.push_str("memo[p] := true; ");
        }
        if self.random.percent(20) {
            let (condition, location) = (self.of_process("p"), self.location());
            let _ = write!(body, "if {condition} then at[p] := {location}; end; ");
        }
        if self.random.percent(5) {
            let condition = self.of_process("p");
            let _ = write!(body, "assert {condition} | at[p] = {location}; ");
        }
        format!("ruleset p: process do rule \"r{number}\" {} ==> {body}end; end;\n", parts.join(" & "))
    }

    fn invariant(&mut self) -> String {
        let (first, second, third) = (self.of_process("p"), self.of_process("q"), self.of_process("r"));
        if self.has_ladder {
            let last = self.locations - 1;
            return match self.random.below(2) {
                0 => format!("forall p: process do at[p] != l{last} end"),
                _ => format!(
                    "forall p: process do forall q: process do at[p] = l{last} & at[q] = l{last} -> p = q end end"
                ),
            };
        }
        match self.random.below(8) {
            0 => format!("forall p: process do !({first}) end"),
            1 => format!(
                "forall p: process do forall q: process do forall r: process do \
                 {first} & {second} & {third} -> p = q | q = r | p = r end end end"
            ),
            2 if self.asks == Asks::All => format!("exists p: process do {first} end"),
            3 if self.asks == Asks::All => {
                format!("(forall p: process do {first} end) | exists q: process do {second} end")
            }
            _ => format!("forall p: process do forall q: process do {first} & {second} -> p = q end end"),
        }
    }

    fn text(&mut self) -> String {
        let locations: Vec<String> = (0..self.locations).map(|number| format!("l{number}")).collect();
        let mut text = format!(
            "const N: 3;\ntype process: scalarset(N); location: enum {{ {} }};\nvar at: array [process] of location;\n",
            locations.join(", ")
        );
        let mut others = String::new();
        if self.has_flag {
            text.push_str("var flag: array [process] of boolean;\n");
            others.push_str(" flag[p] := false;");
        }
        if self.has_memo {
            text.push_str("var memo: array [process] of boolean;\n");
        }
        let _ = writeln!(text, "startstate begin for p: process do at[p] := l0;{others} end; end;");
        if self.random.percent(25) {
            let location = self.location();
            let _ = writeln!(text, "startstate begin for p: process do at[p] := {location};{others} end; end;");
        }
        let rungs = if self.has_ladder { self.locations - 1 } else { 0 };
        for from in 0..rungs {
            text.push_str(&self.rung(from));
        }
        let others = if self.has_ladder { self.random.below(3) } else { 2 + self.random.below(6) };
        // With a variable that is not used, the text does not show that it may be permuted.
        let least = usize::from(self.has_flag || self.has_memo);
        for number in 0..others.max(least) {
            text.push_str(&self.rule(number));
        }
        let _ = writeln!(text, "invariant \"claim\" {};", self.invariant());
        text
    }
}

/// The random family of a seed with two types of processes: `N` clients and `M` servers, or `N` of each.
pub fn random_family_of_two(seed: u64, has_one_constant: bool) -> String {
    let mut random = Random::new(seed ^ 0x2_5eed_e4e2);
    FamilyOfTwo::new(&mut random, has_one_constant).text()
}

/// A type of processes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Client,
    Server,
}

impl Sort {
    fn ty(self) -> &'static str {
        match self {
            Sort::Client => "client",
            Sort::Server => "server",
        }
    }

    /// The variables that belong to a process of this type.
    fn cells(self) -> [&'static str; 2] {
        match self {
            Sort::Client => ["at", "flag"],
            Sort::Server => ["mode", "busy"],
        }
    }

    /// The shared variable that names one.
    fn pointer(self) -> &'static str {
        match self {
            Sort::Client => "owner",
            Sort::Server => "home",
        }
    }

    /// A parameter of a rule.
    fn parameter(self, place: usize) -> &'static str {
        match self {
            Sort::Client => ["p", "q"][place],
            Sort::Server => ["s", "t"][place],
        }
    }
}

struct FamilyOfTwo<'r> {
    random: &'r mut Random,
    has_one_constant: bool,
    locations: usize,
    numbers: usize,
    has_flags: [bool; 2],
    has_pointers: [bool; 2],
    has_global_conditions: bool,
    has_broadcasts: bool,
}

impl<'r> FamilyOfTwo<'r> {
    fn new(random: &'r mut Random, has_one_constant: bool) -> Self {
        Self {
            has_one_constant,
            locations: 2 + random.below(2),
            // Large numbers are counted up to, by more processes than a step concerns.
            numbers: if random.percent(25) { 5 + random.below(2) } else { 1 + random.below(3) },
            has_flags: [random.percent(20), random.percent(15)],
            has_pointers: [random.percent(30), random.percent(25)],
            has_global_conditions: random.percent(70),
            has_broadcasts: random.percent(50),
            random,
        }
    }

    fn sort(&mut self) -> Sort {
        if self.random.percent(50) { Sort::Client } else { Sort::Server }
    }

    fn location(&mut self) -> String {
        format!("l{}", self.random.below(self.locations))
    }

    /// A condition on the cells of a process.
    fn of_process(&mut self, sort: Sort, process: &str) -> String {
        let [at, flag] = sort.cells();
        let location = self.location();
        match self.random.below(4) {
            0 if self.has_flags[sort as usize] => format!("{flag}[{process}]"),
            1 if self.has_flags[sort as usize] => format!("!{flag}[{process}]"),
            2 => format!("{at}[{process}] != {location}"),
            _ => format!("{at}[{process}] = {location}"),
        }
    }

    /// A condition on what is shared, and how a process is related to it.
    fn of_shared(&mut self, sort: Sort, process: &str) -> String {
        let number = self.random.below(self.numbers);
        let (pointer, has_pointer) = (sort.pointer(), self.has_pointers[sort as usize]);
        match self.random.below(5) {
            0 if has_pointer => format!("(!isundefined({pointer}) & {pointer} = {process})"),
            1 if has_pointer => format!("isundefined({pointer})"),
            2 if has_pointer => {
                let inner = self.of_process(sort, pointer);
                format!("(isundefined({pointer}) | {inner})")
            }
            // This one goes wrong if none is named.
            3 if has_pointer && self.random.percent(15) => format!("{pointer} != {process}"),
            _ => format!("x = {number}"),
        }
    }

    /// A condition about all processes of a type, or of both, beside a given one.
    fn global(&mut self, own: Sort, process: &str) -> String {
        let sort = self.sort();
        let ty = sort.ty();
        let inner = self.of_process(sort, "r");
        let is_another = |operator: &str, inner: &str| match sort == own {
            true => format!("r {operator} {process} {} {inner}", if operator == "=" { "|" } else { "&" }),
            false => inner.to_owned(),
        };
        match self.random.below(8) {
            0 => format!("(exists r: {ty} do {inner} end)"),
            1 => format!("(exists r: {ty} do {} end)", is_another("!=", &inner)),
            2 => format!("(forall r: {ty} do {inner} end)"),
            3 => {
                let (of_client, of_server) = (self.of_process(Sort::Client, "c"), self.of_process(Sort::Server, "d"));
                format!("(forall c: client do {of_client} | forall d: server do {of_server} end end)")
            }
            4 => {
                let (of_client, of_server) = (self.of_process(Sort::Client, "c"), self.of_process(Sort::Server, "d"));
                format!("(exists d: server do {of_server} & exists c: client do {of_client} end end)")
            }
            5 => format!("(forall c: {ty} do forall d: {ty} do c = d end end)"),
            6 => format!("(exists c: {ty} do exists d: {ty} do c != d end end)"),
            _ => format!("(forall r: {ty} do {} end)", is_another("=", &inner)),
        }
    }

    fn effect(&mut self, (sort, process): (Sort, &str)) -> String {
        let [at, flag] = sort.cells();
        let pointer = sort.pointer();
        let has_pointer = self.has_pointers[sort as usize];
        let location = self.location();
        let number = self.random.below(self.numbers);
        match self.random.below(8) {
            0 if self.has_flags[sort as usize] => format!("{flag}[{process}] := {};", self.random.percent(50)),
            1 | 2 if self.numbers > 3 => format!("if x < {} then x := x + 1; end;", self.numbers - 1),
            1 | 2 => format!("x := {number};"),
            3 if has_pointer => format!("{pointer} := {process};"),
            4 if has_pointer => format!("undefine {pointer};"),
            5 if self.has_broadcasts => {
                let other = self.sort();
                let condition = self.of_process(other, "r");
                let is_another = if other == sort { format!("r != {process} & ") } else { String::new() };
                let (ty, [cell, _]) = (other.ty(), other.cells());
                format!("for r: {ty} do if {is_another}{condition} then {cell}[r] := {location}; end; end;")
            }
            6 if self.has_global_conditions => {
                let condition = self.global(sort, process);
                format!("if {condition} then {at}[{process}] := {location}; else x := {number}; end;")
            }
            _ => format!("{at}[{process}] := {location};"),
        }
    }

    fn rule(&mut self, number: usize) -> String {
        // There are rules for both types.
        let first = match number {
            0 => Sort::Client,
            1 => Sort::Server,
            _ => self.sort(),
        };
        let mut concerned = vec![(first, first.parameter(0))];
        let mut parts = vec![self.of_process(first, first.parameter(0))];
        if self.random.percent(50) {
            parts.push(self.of_shared(first, first.parameter(0)));
        }
        if self.random.percent(45) {
            let second = self.sort();
            let name = second.parameter(usize::from(second == first));
            if second == first {
                parts.push(format!("{} != {name}", first.parameter(0)));
            }
            parts.push(self.of_process(second, name));
            concerned.push((second, name));
        }
        if self.has_global_conditions && self.random.percent(40) {
            let (sort, process) = concerned[self.random.below(concerned.len())];
            parts.push(self.global(sort, process));
        }
        let location = self.location();
        let mut body = format!("{}[{}] := {location}; ", first.cells()[0], first.parameter(0));
        for _ in 0..self.random.below(3) {
            let chosen = concerned[self.random.below(concerned.len())];
            let _ = write!(body, "{} ", self.effect(chosen));
        }
        let parameters: Vec<String> = concerned.iter().map(|(sort, name)| format!("{name}: {}", sort.ty())).collect();
        let (parameters, guard) = (parameters.join("; "), parts.join(" & "));
        format!("ruleset {parameters} do rule \"r{number}\" {guard} ==> {body}end; end;\n")
    }

    fn invariant(&mut self) -> String {
        let sort = self.sort();
        let ty = sort.ty();
        let (first, second) = (self.of_process(sort, "p"), self.of_process(sort, "q"));
        let number = self.random.below(self.numbers);
        match self.random.below(5) {
            0 => format!("forall p: {ty} do x = {number} -> !({first}) end"),
            1 => format!("forall p: {ty} do forall q: {ty} do {first} & {second} -> p = q end end"),
            2 => {
                let (client, server) = (self.of_process(Sort::Client, "p"), self.of_process(Sort::Server, "s"));
                let other = self.of_process(Sort::Server, "t");
                format!(
                    "forall p: client do forall s: server do forall t: server do \
                     {client} & {server} & {other} -> s = t end end end"
                )
            }
            _ => {
                let (client, server) = (self.of_process(Sort::Client, "p"), self.of_process(Sort::Server, "s"));
                format!("forall p: client do forall s: server do !({client} & {server}) end end")
            }
        }
    }

    fn text(&mut self) -> String {
        let locations: Vec<String> = (0..self.locations).map(|number| format!("l{number}")).collect();
        let (constants, servers) = if self.has_one_constant { ("N: 2;", "N") } else { ("N: 2; M: 2;", "M") };
        let mut text = format!(
            "const {constants}\ntype client: scalarset(N); server: scalarset({servers}); location: enum {{ {} }};\n\
             var at: array [client] of location; mode: array [server] of location; x: 0..{};\n",
            locations.join(", "),
            self.numbers - 1
        );
        let mut starts = String::new();
        for sort in [Sort::Client, Sort::Server] {
            let (ty, [at, flag]) = (sort.ty(), sort.cells());
            let has_flag = self.has_flags[sort as usize];
            if has_flag {
                let _ = writeln!(text, "var {flag}: array [{ty}] of boolean;");
            }
            if self.has_pointers[sort as usize] {
                let _ = writeln!(text, "var {}: {ty};", sort.pointer());
            }
            let cleared = if has_flag { format!(" {flag}[r] := false;") } else { String::new() };
            let _ = write!(starts, "for r: {ty} do {at}[r] := l0;{cleared} end; ");
        }
        let named = self.has_pointers[Sort::Server as usize] && self.random.percent(30);
        let _ = match named {
            true => writeln!(text, "ruleset h: server do startstate begin {starts}x := 0; home := h; end; end;"),
            false => writeln!(text, "startstate begin {starts}x := 0; end;"),
        };
        for number in 0..2 + self.random.below(4) {
            text.push_str(&self.rule(number));
        }
        let _ = writeln!(text, "invariant \"claim\" {};", self.invariant());
        text
    }
}
