//! Random Murphi programs that are partly symmetric: processes with a random automaton, some of whose edges distinguish
//! processes by rank, by name or by class; shared variables, some of which hold processes; properties about single
//! processes; asymmetric starts. The same seed gives the same program.

use std::fmt::Write as _;

use crate::random_murphi::Random;

/// The random program of a seed.
pub fn partial_program(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x9a27_1a1d);
    Program::new(&mut random).text()
}

struct Program<'r> {
    random: &'r mut Random,
    processes: i64,
    locations: i64,
    has_flag: bool,
    has_owner: bool,
    has_mark: bool,
    has_peer: bool,
    has_resource: bool,
}

impl<'r> Program<'r> {
    fn new(random: &'r mut Random) -> Self {
        let processes = *random.pick(&[3, 3, 4, 4, 5]);
        Self {
            processes,
            locations: random.between(2, if processes == 5 { 3 } else { 4 }),
            has_flag: random.percent(30),
            has_owner: random.percent(30),
            has_mark: random.percent(20),
            has_peer: processes == 3 && random.percent(25),
            has_resource: processes < 5 && random.percent(25),
            random,
        }
    }

    fn location(&mut self) -> i64 {
        self.random.below(self.locations as usize) as i64
    }

    fn process(&mut self) -> i64 {
        self.random.between(1, self.processes)
    }

    /// A condition on a process `p`; it may distinguish processes if `asymmetric`.
    fn condition(&mut self, asymmetric: bool) -> String {
        let (location, other, process) = (self.location(), self.location(), self.process());
        if asymmetric {
            return match self.random.below(9) {
                0 => format!("p <= {process}"),
                1 => format!("p != {process}"),
                2 => format!("p = {process}"),
                3 => format!("at[{process}] != {location}"),
                4 => format!("(forall q: process do rank(q) < rank(p) -> at[q] != {location} end)"),
                5 => format!("(exists q: process do q > p & at[q] = {location} end)"),
                6 => format!("(forall q: process do q <= {process} | at[q] != {location} end)"),
                7 if self.has_owner => format!("(isundefined(owner) | owner != {process})"),
                8 if self.has_mark => format!("!mark[{process}]"),
                _ => format!("(p < {process} | at[{process}] = {location})"),
            };
        }
        match self.random.below(9) {
            0 => format!("(forall q: process do at[q] != {location} end)"),
            1 => format!("(exists q: process do q != p & at[q] = {location} end)"),
            2 => format!("(forall q: process do q = p | at[q] != {location} end)"),
            3 if self.has_flag => "flag".to_owned(),
            4 if self.has_owner => "(isundefined(owner) | owner = p)".to_owned(),
            5 if self.has_mark => "mark[p]".to_owned(),
            6 if self.has_peer => format!("at[peer[p]] = {location}"),
            7 if self.has_resource => format!("(exists r: resource do held[r] != {} end)", location % 2),
            _ => format!("(forall q: process do at[q] = {location} -> at[p] != {other} end)"),
        }
    }

    fn effect(&mut self, asymmetric: bool) -> String {
        let (location, process) = (self.location(), self.process());
        if asymmetric {
            return match self.random.below(4) {
                0 => format!("at[{process}] := {location}"),
                1 if self.has_owner => format!("owner := {process}"),
                2 => format!("if p <= {process} then at[p] := {location}; end"),
                _ => format!("for q: process do if q > {process} then at[q] := {location}; end; end"),
            };
        }
        match self.random.below(8) {
            0 if self.has_flag => "flag := !flag".to_owned(),
            1 if self.has_owner => "owner := p".to_owned(),
            2 if self.has_owner => "undefine owner".to_owned(),
            3 if self.has_mark => "mark[p] := !mark[p]".to_owned(),
            4 if self.has_peer => "for q: process do if q != p & at[q] = at[p] then peer[p] := q; end; end".to_owned(),
            5 if self.has_resource => "for r: resource do if r != 2 then held[r] := 1 - held[r]; end; end".to_owned(),
            6 => "for q: process do if q != p & at[q] = at[p] then at[q] := 0; end; end".to_owned(),
            _ => "at[p] := at[p]".to_owned(),
        }
    }

    fn text(mut self) -> String {
        let mut text = format!("type\n  process: 1 .. {};\n  location: 0 .. {};\n", self.processes, self.locations - 1);
        if self.has_resource {
            text.push_str("  resource: 1 .. 3;\n");
        }
        text.push_str("\nvar\n  at: array [process] of location;\n");
        for (present, line) in [
            (self.has_flag, "  flag: boolean;\n"),
            (self.has_owner, "  owner: process;\n"),
            (self.has_mark, "  mark: array [process] of boolean;\n"),
            (self.has_peer, "  peer: array [process] of process;\n"),
            (self.has_resource, "  held: array [resource] of 0 .. 1;\n"),
        ] {
            if present {
                text.push_str(line);
            }
        }
        let size = self.random.between(1, self.processes - 1);
        let _ = write!(text, "\nfunction rank(p: process): 0 .. 9;\nbegin\n  return (p - 1) / {size};\nend;\n");
        text.push_str(&self.starts());
        for number in 0..self.random.between(2, 5) {
            text.push_str(&self.rule(number));
        }
        if self.has_resource {
            let which = self.random.between(1, 3);
            let _ = write!(
                text,
                "\nruleset r: resource do rule \"turn\" held[r] = 0 ==> held[r] := 1; end; end;\n\
                 rule \"reset\" held[{which}] = 1 ==> held[{which}] := 0; end;\n"
            );
        }
        for number in 0..self.random.between(0, 3) {
            text.push_str(&self.property(number));
        }
        text
    }

    fn starts(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..if self.random.percent(15) { 2 } else { 1 } {
            text.push_str("\nstartstate\n  for p: process do\n    at[p] := 0;\n");
            if self.has_mark {
                text.push_str("    mark[p] := false;\n");
            }
            if self.has_peer {
                text.push_str("    peer[p] := p;\n");
            }
            text.push_str("  end;\n");
            if self.has_flag {
                text.push_str("  flag := false;\n");
            }
            if self.has_resource {
                text.push_str("  for r: resource do held[r] := 0; end;\n");
            }
            if self.random.percent(20) {
                let (process, location) = (self.process(), self.location());
                let _ = writeln!(text, "  at[{process}] := {location};");
            }
            if self.has_owner && self.random.percent(25) {
                let _ = writeln!(text, "  owner := {};", self.process());
            }
            text.push_str("end;\n");
        }
        if self.random.percent(8) {
            let location = self.location();
            let _ = write!(
                text,
                "\nruleset i: process do startstate\n  for p: process do at[p] := 0; end;\n  at[i] := {location};\n"
            );
            if self.has_mark {
                text.push_str("  for p: process do mark[p] := false; end;\n");
            }
            if self.has_peer {
                text.push_str("  for p: process do peer[p] := p; end;\n");
            }
            if self.has_flag {
                text.push_str("  flag := false;\n");
            }
            if self.has_resource {
                text.push_str("  for r: resource do held[r] := 0; end;\n");
            }
            text.push_str("end; end;\n");
        }
        text
    }

    fn rule(&mut self, number: i64) -> String {
        let (from, to) = (self.location(), self.location());
        let asymmetric = self.random.percent(35);
        let mut guard = format!("at[p] = {from}");
        for _ in 0..self.random.below(3) {
            let tells_apart = asymmetric && self.random.percent(60);
            let _ = write!(guard, " & {}", self.condition(tells_apart));
        }
        let mut body = format!("  at[p] := {to};\n");
        if self.random.percent(35) {
            let tells_apart = asymmetric && self.random.percent(50);
            let _ = writeln!(body, "  {};", self.effect(tells_apart));
        }
        if self.random.percent(5) {
            let _ = writeln!(body, "  assert {};", self.condition(asymmetric));
        }
        if self.random.percent(12) {
            // Two processes in one step.
            let (other_from, other_to) = (self.location(), self.location());
            return format!(
                "\nruleset p: process; r: process do\nrule \"{number}\"\n  p != r & {guard} & at[r] = {other_from}\n==>\n\
                 {body}  at[r] := {other_to};\nend; end;\n"
            );
        }
        format!("\nruleset p: process do\nrule \"{number}\"\n  {guard}\n==>\n{body}end; end;\n")
    }

    fn property(&mut self, number: i64) -> String {
        let (process, location) = (self.process(), self.location());
        let asymmetric = self.random.percent(50);
        match self.random.below(7) {
            0 | 1 => format!("\ninvariant \"i{number}\" at[{process}] != {location} | at[{}] = 0;\n", self.process()),
            2 => format!(
                "\ninvariant \"i{number}\" forall p: process do at[p] = {location} -> {} end;\n",
                self.condition(asymmetric)
            ),
            3 => format!("\ncover \"c{number}\" at[{process}] = {location};\n"),
            4 => format!(
                "\ncover \"c{number}\" exists p: process do at[p] = {location} & {} end;\n",
                self.condition(asymmetric)
            ),
            5 if self.random.percent(40) => {
                format!("\nassume \"a{number}\" at[{process}] != {location} | at[{}] = 0;\n", self.process())
            }
            _ => format!(
                "\ninvariant \"i{number}\" forall p: process do forall q: process do\n  p = q | at[p] != {location} | \
                 at[q] != {location}\nend end;\n"
            ),
        }
    }
}
