//! Random families of models: a Murphi text with `N` interchangeable processes, for claims about every `N`. Processes
//! have a location and perhaps a flag; what is shared is a number, perhaps one process or two. Rules move one process or two,
//! ask about all others, and move all others at once. The same seed gives the same text.

use std::fmt::Write as _;

use crate::random_murphi::Random;

/// The random family of a seed.
pub fn random_family(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x5eed_e4e2);
    Family::new(&mut random).text()
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
}

impl<'r> Family<'r> {
    fn new(random: &'r mut Random) -> Self {
        Self {
            locations: 2 + random.below(3),
            numbers: 1 + random.below(3),
            has_flag: random.percent(35),
            has_owner: random.percent(40),
            has_second: random.percent(30),
            has_global_conditions: random.percent(70),
            has_broadcasts: random.percent(50),
            random,
        }
    }

    fn location(&mut self) -> String {
        format!("l{}", self.random.below(self.locations))
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

    /// A condition about all processes.
    fn global(&mut self, process: &str) -> String {
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
            parts.push("p != q".to_owned());
            parts.push(self.of_process("q"));
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
            3 if self.has_owner => format!("owner := {process};"),
            4 if self.has_owner => "undefine owner;".to_owned(),
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
            "const N: 3;\ntype process: scalarset(N); location: enum {{ {} }};\n\
             var at: array [process] of location; x: 0..{};\n",
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
        if owner {
            text.push_str("ruleset o: process do ");
        }
        text.push_str("startstate begin for p: process do at[p] := l0;");
        if self.has_flag {
            text.push_str(" flag[p] := false;");
        }
        text.push_str(" end; x := 0;");
        text.push_str(if owner { " owner := o; end; end;\n" } else { " end;\n" });
        for number in 0..2 + self.random.below(5) {
            text.push_str(&self.rule(number));
        }
        let _ = writeln!(text, "invariant \"claim\" {};", self.invariant());
        text
    }
}
