//! Random Promela programs: processes, channels of all kinds, atomic and deterministic sequences with jumps into and
//! out of them, creation and termination of processes, priorities, escapes, timeouts, references into other processes,
//! and claims about all of these. Small enough that both SPIN and we can explore all of their states.

use std::fmt::Write;

/// A small random number generator; the same numbers for the same seed on every platform.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 >> 33) ^ self.0;
        mixed.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 17
    }
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

struct Generator {
    random: Random,
    text: String,
    /// The number of the process type being written, and how many there are.
    process: usize,
    processes: usize,
    creates: bool,
    /// Whether processes have priorities, which SPIN does not combine with rendezvous channels.
    ranks: bool,
    /// The number of processes of each type that exist from the start.
    active: Vec<u64>,
    labels: usize,
    /// Labels inside atomic sequences that are jump targets.
    inner: usize,
    /// Whether there is a label at the end to jump to.
    jumps: bool,
    /// Whether this is directly inside an atomic sequence.
    in_atomic: bool,
    /// Whether references into other processes are generated.
    remote: bool,
    /// Whether assertions are generated.
    asserts: bool,
    /// Whether there are `hidden` variables.
    hidden: bool,
    /// Whether they take messages, and are left alone in deterministic steps: when SPIN takes back such a receive, it
    /// puts back what the variable holds then, which it does not restore behind a deterministic step.
    receives_hidden: bool,
    /// How labels with a meaning begin.
    meanings: &'static [&'static str],
    depth: usize,
}

/// What is claimed about the runs of a random program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunClaim {
    /// An `ltl` formula of the name `f`.
    Formula,
    /// A `never` claim with `accept` labels.
    Automaton,
    /// Only labels `accept`, `progress` and `end`.
    Labels,
}

/// A program for a seed, with a claim about its runs. There are no assertions.
pub fn random_promela_runs(seed: u64, claim: RunClaim) -> String {
    let mut generator = Generator::new(seed, false);
    // SPIN also counts labels of processes when it looks for acceptance cycles of a formula.
    generator.meanings = match claim {
        RunClaim::Formula => &["end", "progress"],
        RunClaim::Automaton | RunClaim::Labels => &["end", "accept", "progress"],
    };
    generator.write();
    generator.process = generator.processes - 1;
    match claim {
        RunClaim::Formula => {
            let formula = generator.formula(3);
            let _ = writeln!(generator.text, "ltl f {{ {formula} }}");
        }
        RunClaim::Automaton => generator.automaton(),
        RunClaim::Labels => {}
    }
    generator.text
}

/// A program for a seed.
pub fn random_promela(seed: u64) -> String {
    Generator::new(seed, true).program()
}

/// A program for a seed, with a `never` claim about its states: it ends, or has an assertion. There are no other
/// assertions.
pub fn random_promela_claim(seed: u64) -> String {
    let mut generator = Generator::new(seed, false);
    generator.write();
    generator.claim();
    generator.text
}

/// A program for a seed, with `hidden` variables. Most are assigned to before they are read, but not all.
pub fn random_promela_hidden(seed: u64) -> String {
    let mut generator = Generator::new(seed, true);
    generator.hidden = true;
    generator.receives_hidden = generator.random.chance(50);
    generator.program()
}

/// A program for a seed, with an additional process that records what it sees of the state numbers of others.
pub fn random_promela_states(seed: u64) -> String {
    let mut generator = Generator::new(seed, false);
    generator.write();
    let random = &mut generator.random;
    let _ = write!(generator.text, "active proctype Watcher() {{\n  byte seen;\n  do\n");
    for bit in 0..3 {
        let (process, state) = (random.below(4), 1 + random.below(12));
        let operator = random.pick(&["==", "<", ">="]);
        let _ = writeln!(generator.text, "  :: seen = (pc_value({process}) {operator} {state}) << {bit}");
    }
    generator.text.push_str("  od\n}\n");
    generator.text
}

/// A program for a seed, followed by a deterministic `trace` or `notrace`.
pub fn random_promela_trace(seed: u64) -> String {
    let mut generator = Generator::new(seed, false);
    generator.write();
    let random = &mut generator.random;
    let mut events = vec!["c!", "c?", "r!", "r?", "d!", "d?", "q[0]!", "q[1]?", "w!"];
    let mut event = |random: &mut Random| {
        let event = events.swap_remove(random.below(events.len() as u64) as usize);
        let byte = random.pick(&["_", "_", "_", "0", "1", "2"]);
        match event {
            "d!" | "d?" => format!("{event}{},{byte}", random.pick(&["_", "red", "green"])),
            "w!" => format!("{event}_"),
            _ => format!("{event}{byte}"),
        }
    };
    let mut sequence = |random: &mut Random| {
        let length = 1 + random.below(3);
        (0..length).map(|_| event(random)).collect::<Vec<_>>().join("; ")
    };
    let (first, second) = (sequence(random), sequence(random));
    let word = if random.chance(30) { "notrace" } else { "trace" };
    let _ = match random.below(3) {
        0 => writeln!(generator.text, "{word} {{ {first} }}"),
        1 => writeln!(generator.text, "{word} {{ end: do :: {first} od }}"),
        _ => writeln!(generator.text, "{word} {{ do :: {first} :: {second}; break od }}"),
    };
    generator.text
}

impl Generator {
    fn new(seed: u64, asserts: bool) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        random.next();
        let processes = 1 + random.below(3) as usize;
        let creates = random.chance(50);
        let ranks = random.chance(15);
        let active = (0..processes).map(|_| if creates { 0 } else { 1 + random.below(2) }).collect();
        Self {
            random,
            text: String::new(),
            process: 0,
            processes,
            creates,
            ranks,
            active,
            labels: 0,
            inner: 0,
            jumps: false,
            in_atomic: false,
            remote: true,
            asserts,
            hidden: false,
            receives_hidden: false,
            meanings: &["end"],
            depth: 0,
        }
    }

    fn line(&mut self, text: &str) {
        for _ in 0..=self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn program(mut self) -> String {
        self.write();
        self.text
    }

    fn write(&mut self) {
        self.text.push_str("mtype = { red, green };\nbyte x, y = 1;\nbit b;\nshort s = -1;\nbyte a[2];\nmtype m;\n");
        let _ = writeln!(self.text, "chan c = [{}] of {{ byte }};", 1 + self.random.below(2));
        let _ = writeln!(self.text, "chan r = [{}] of {{ byte }};", u8::from(self.ranks));
        self.text.push_str("chan d = [2] of { mtype, byte };\ntypedef T { byte f[2]; bit g };\nT t;\n");
        self.text.push_str("chan q[2] = [1] of { byte };\nchan w = [1] of { chan };\n");
        if self.hidden {
            self.text.push_str("hidden byte h = 1;\nhidden short g[2];\n");
        }
        for process in 0..self.processes {
            self.process = process;
            self.proctype();
        }
        if self.creates {
            self.text.push_str("init {\n  pid n;\n");
            if self.random.chance(20) {
                self.text.push_str("  for (n : 0 .. 1) { a[n] = n }\n");
            }
            let atomic = self.random.chance(60);
            if atomic {
                self.text.push_str("  atomic {\n");
            }
            for _ in 0..1 + self.random.below(2) {
                let which = self.random.below(self.processes as u64);
                let argument = self.random.below(3);
                let target = if self.random.chance(30) { "n = " } else { "" };
                let channel = self.random.pick(&["c", "r", "q[0]", "q[1]"]);
                let priority = self.priority();
                if self.random.chance(20) {
                    let last = self.random.below(2);
                    let _ = writeln!(self.text, "  for (n : 0 .. {last}) {{ run P{which}(n, {channel}){priority} }};");
                    continue;
                }
                let _ = writeln!(self.text, "  {target}run P{which}({argument}, {channel}){priority};");
            }
            self.text.push_str(if atomic { "  skip }\n" } else { "  skip\n" });
            // SPIN counts a claim as a process.
            if self.asserts && self.random.chance(40) {
                self.text.push_str("  ; (_nr_pr == 1); x = 0\n");
            }
            self.text.push_str("}\n");
        }
    }

    fn priority(&mut self) -> String {
        match self.ranks && self.random.chance(50) {
            true => format!(" priority {}", 1 + self.random.below(3)),
            false => String::new(),
        }
    }

    /// A process of an earlier type, or of this one, if all exist from the start.
    fn other(&mut self) -> Option<String> {
        if self.creates || !self.remote {
            return None;
        }
        let which = self.random.below(self.process as u64 + 1) as usize;
        let first: u64 = self.active[..which].iter().sum();
        Some(format!("P{which}[{}]", first + self.random.below(self.active[which])))
    }

    /// A condition that a claim can use.
    fn global_condition(&mut self) -> String {
        match self.random.below(6) {
            0 => format!("{} == {}", self.random.pick(&["x", "y", "a[0]", "t.f[1]"]), self.random.below(3)),
            1 => self.random.pick(&["b", "!b", "x > y", "s < 0", "m == red"]).to_owned(),
            2 => self.random.pick(&["nempty(c)", "full(d)", "len(c) == 1", "c?[1]", "empty(q[0])"]).to_owned(),
            3 => match self.other() {
                Some(other) => format!("{other}{}", self.random.pick(&["@mark", ":l == 0", ":l == 1"])),
                None => format!("y == {}", self.random.below(2)),
            },
            4 => format!("({} && {})", self.random.pick(&["x < 2", "b"]), self.random.pick(&["y == 1", "!b"])),
            _ => format!("x == {}", self.random.below(3)),
        }
    }

    /// A condition about a run: also `_last`. (`np_` changes while SPIN's claims look at a last state again.)
    fn run_condition(&mut self) -> String {
        match self.random.below(12) {
            0 => format!("_last == {}", self.random.below(2)),
            _ => self.global_condition(),
        }
    }

    fn formula(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(25) {
            return format!("({})", self.run_condition());
        }
        match self.random.below(8) {
            0 => format!("(! {})", self.formula(depth - 1)),
            1 | 2 => format!("([] {})", self.formula(depth - 1)),
            3 | 4 => format!("(<> {})", self.formula(depth - 1)),
            5 => {
                let operator = self.random.pick(&["U", "V", "W"]);
                format!("({} {operator} {})", self.formula(depth - 1), self.formula(depth - 1))
            }
            _ => {
                let operator = self.random.pick(&["&&", "||", "->", "<->"]);
                format!("({} {operator} {})", self.formula(depth - 1), self.formula(depth - 1))
            }
        }
    }

    /// A claim whose states accept or not.
    fn automaton(&mut self) {
        self.text.push_str("never {\n");
        let labels: Vec<String> = (0..1 + self.random.below(3))
            .map(|state| format!("{}{state}", if self.random.chance(40) { "accept" } else { "T" }))
            .collect();
        for label in &labels {
            let _ = writeln!(self.text, "{label}:\n  do");
            for _ in 0..1 + self.random.below(3) {
                let condition = if self.random.chance(30) { "true".to_owned() } else { self.run_condition() };
                let target = &labels[self.random.below(labels.len() as u64) as usize];
                match self.random.below(6) {
                    0 => self.line(&format!(":: {condition} -> skip")),
                    1 if self.random.chance(40) => self.line(&format!(":: {condition} -> break")),
                    _ => self.line(&format!(":: {condition} -> goto {target}")),
                }
            }
            self.text.push_str("  od;\n");
        }
        self.text.push_str("}\n");
    }

    fn claim(&mut self) {
        self.process = self.processes - 1;
        self.text.push_str("never {\n");
        let points = 2 + self.random.below(3);
        for point in 0..points {
            let _ = writeln!(self.text, "T{point}:");
            match self.random.below(5) {
                0 => {
                    let condition = self.global_condition();
                    self.line(&format!("assert(!({condition}) || true);"));
                    let condition = self.global_condition();
                    self.line(&format!("{condition};"));
                }
                1 => {
                    let (first, second) = (self.global_condition(), self.global_condition());
                    self.line(&format!("do :: {first} -> break :: atomic {{ {second} -> assert(!b) }} :: else od;"));
                }
                _ => {
                    self.line("if");
                    for _ in 0..1 + self.random.below(3) {
                        let condition = self.global_condition();
                        let target = self.random.below(points + 1);
                        self.line(&format!(":: {condition} -> goto T{target}"));
                    }
                    let wait = self.random.pick(&[":: else", ":: true"]);
                    self.line(&format!("{wait} -> goto T{point}"));
                    self.line("fi;");
                }
            }
        }
        let _ = writeln!(self.text, "T{points}:\n  {}\n}}", self.random.pick(&["skip", "assert(x != 1)", "true"]));
    }

    fn proctype(&mut self) {
        let active = if self.creates { String::new() } else { format!("active [{}] ", self.active[self.process]) };
        let provided = match self.random.below(12) {
            0 => " provided (x != 2)",
            1 => " provided (b || _pid != 0)",
            _ => "",
        };
        let parameter = if self.creates { "byte i; chan z" } else { "" };
        let priority = self.priority();
        let _ = writeln!(self.text, "{active}proctype P{}({parameter}){priority}{provided} {{", self.process);
        self.line(if self.creates { "byte l = i;" } else { "byte l = _pid % 2;" });
        self.line("chan k = c; byte j;");
        if self.random.chance(25) {
            self.line("chan own = [1] of { byte };");
            self.line("own!l; own?l;");
        }
        self.labels = 0;
        self.inner = 0;
        self.jumps = self.random.chance(30);
        let label = self.random.chance(20);
        // A label before a block, or before something that SPIN replaces, is not always accepted.
        if label {
            self.line("begin: l = l;");
        }
        self.line("mark: j = 0;");
        let count = 2 + self.random.below(3);
        self.statements(count, 2);
        for inner in 1..=self.inner {
            let condition = self.condition();
            self.line(&format!("; if :: {condition} -> goto in{inner} :: else fi"));
        }
        if self.jumps {
            let effect = self.effect();
            self.line(&format!("; out: {effect}"));
        }
        if label && self.random.chance(50) {
            self.line("; goto begin");
        }
        self.text.push_str("}\n");
    }

    fn statements(&mut self, count: u64, nesting: u64) {
        for number in 0..count {
            // SPIN does not accept a label with a meaning inside other statements.
            if self.depth == 0 && self.random.chance(12) {
                self.labels += 1;
                let word = if self.meanings.len() > 1 { self.random.pick(self.meanings) } else { self.meanings[0] };
                let label = format!("{word}{}:", self.labels);
                self.line(&label);
            }
            if self.in_atomic && number > 0 && self.inner == 0 && self.random.chance(10) {
                self.inner += 1;
                let label = format!("in{}:", self.inner);
                self.line(&label);
            }
            self.statement(nesting);
            if number + 1 < count {
                self.line(";");
            }
        }
    }

    fn value(&mut self) -> String {
        let simple = ["0", "1", "2", "x", "y", "b", "l", "a[0]", "t.f[1]", "s", "_pid", "len(c)"];
        match self.random.below(6) {
            0 => format!("({} + {}) % 3", self.random.pick(&simple), self.random.pick(&simple[..9])),
            1 => format!("({} -> {} : {})", self.condition(), self.random.pick(&simple), self.random.pick(&simple)),
            2 => format!("{} - 1", self.random.pick(&simple[..9])),
            _ => self.random.pick(&simple).to_owned(),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(11) {
            9 if self.ranks => self.random.pick(&["_priority > 1", "get_priority(0) == 1"]).to_owned(),
            9 | 10 => match self.other() {
                Some(other) if self.random.chance(60) => {
                    format!("{other}{}", self.random.pick(&["@mark", ":l == 0", ":j == 0"]))
                }
                _ => self.random.pick(&["t.g", "t.f[0] != 1", "y < 2"]).to_owned(),
            },
            0 => format!("{} == {}", self.random.pick(&["x", "y", "l", "a[0]"]), self.random.below(3)),
            1 => format!("{} > {}", self.random.pick(&["x", "y", "s"]), self.random.pick(&["0", "1", "l"])),
            2 => self.random.pick(&["b", "!b", "x", "l != y"]).to_owned(),
            3 => self.random.pick(&["nempty(c)", "nfull(c)", "empty(d)", "full(d)"]).to_owned(),
            4 => self.random.pick(&["c?[1]", "d?[red,_]", "d??[green,1]", "c??[eval(x)]"]).to_owned(),
            5 => format!("({} && {})", self.random.pick(&["x < 2", "b", "y"]), self.random.pick(&["l < 2", "!b"])),
            6 => self.random.pick(&["m == red", "m != green", "a[b] == 0"]).to_owned(),
            _ => format!("{} < 2", self.random.pick(&["x", "y", "l"])),
        }
    }

    /// A statement that never blocks.
    fn effect(&mut self) -> String {
        match self.random.below(7) {
            6 if self.ranks => {
                let to = 1 + self.random.below(3);
                match self.random.below(3) {
                    0 => format!("_priority = {to}"),
                    1 => format!("set_priority(_pid, {to})"),
                    _ => format!("set_priority(0, {to})"),
                }
            }
            6 => self.random.pick(&["t.f[b] = x", "t.g = 1 - t.g", "t.f[1] = l % 2"]).to_owned(),
            0 => {
                // It may occur in a deterministic step.
                let remote = std::mem::replace(&mut self.remote, false);
                let value = self.value();
                self.remote = remote;
                format!("{} = {value}", self.random.pick(&["l", "a[1]", "a[b]", "s"]))
            }
            1 => format!("{} = ({} + 1) % 3", "x", self.random.pick(&["x", "y", "l"])),
            2 => format!("b = {}", self.random.pick(&["1 - b", "x", "0", "1"])),
            3 => format!("m = {}", self.random.pick(&["red", "green"])),
            4 => "y = (y + 1) % 2".to_owned(),
            _ => self.random.pick(&["skip", "printf(\"x\")", "l = 0", "s = 0 - 1"]).to_owned(),
        }
    }

    /// A statement that may block for a message or for room.
    fn communication(&mut self) -> String {
        let small = self.random.pick(&["0", "1", "x", "l"]);
        match self.random.below(21) {
            17 if self.creates => self.random.pick(&["z!1", "z?l", "z?1", "z!l"]).to_owned(),
            17 => "c?(l)".to_owned(),
            18 => format!("c??{}", self.random.pick(&["eval(l)", "1", "eval(x + 1)", "<1>"])),
            19 => format!("d??{}", self.random.pick(&["eval(m),l", "<red,l>", "<_,eval(x)>", "eval(m),eval(l)"])),
            20 if self.random.chance(8) => self.random.pick(&["d!red", "c!1,0", "d?m", "c?l,x"]).to_owned(),
            20 => format!("t.f[{}]{}", self.random.pick(&["0", "b"]), self.random.pick(&[" = 1", " == 0", "++"])),
            12 => format!("q[{}]!{small}", self.random.pick(&["0", "b", "l % 2"])),
            13 => format!("q[{}]?{}", self.random.pick(&["0", "1", "b"]), self.random.pick(&["l", "0", "x"])),
            14 => format!("w!{}", self.random.pick(&["c", "r", "q[1]", "k"])),
            15 => "w?k".to_owned(),
            16 => format!("k{}", self.random.pick(&["!1", "?l", "?1"])),
            0 => format!("c!{small}"),
            1 => "c?l".to_owned(),
            2 => format!("c?{}", self.random.pick(&["1", "eval(l)", "x", "_"])),
            3 => format!("r!{small}"),
            4 => format!("r?{}", self.random.pick(&["l", "y", "1", "eval(x)", "a[0]"])),
            5 => format!("d!{},{small}", self.random.pick(&["red", "green", "m"])),
            6 => format!("d!!{}({small})", self.random.pick(&["red", "green"])),
            7 => "d?m,l".to_owned(),
            8 => format!("d??{}", self.random.pick(&["red,l", "green,x", "_,1"])),
            9 => "d?<m,l>".to_owned(),
            10 => format!("c!!{small}"),
            _ => self.condition(),
        }
    }

    /// A statement about hidden variables.
    fn about_hidden(&mut self) -> String {
        let remote = std::mem::replace(&mut self.remote, false);
        let (value, effect) = (self.value(), self.effect());
        self.remote = remote;
        match self.random.below(13) {
            0 | 1 => format!("h = {value}"),
            2 => format!("g[{}] = {value}", self.random.pick(&["0", "b"])),
            3 if !self.receives_hidden => format!("d_step {{ h = {value}; {effect}; x = h % 3 }}"),
            4 if !self.receives_hidden => "d_step { if :: b -> h = 1 :: else -> h = 2 fi; y = h % 2 }".to_owned(),
            3 | 4 => format!("atomic {{ {}?h; x = h % 3 }}", self.random.pick(&["c", "r", "q[0]"])),
            5 | 6 => format!("atomic {{ h = {value}; {effect}; y = h % 2 }}"),
            7 => "atomic { h = 2; do :: h > 0 -> h--; b = h % 2 :: else -> break od }".to_owned(),
            8 | 9 => "atomic { if :: h = 0 :: h = 1 fi; b = h }".to_owned(),
            10 if self.receives_hidden => "c?h".to_owned(),
            // These use a value from before, or may have to wait for a value to be used.
            11 if self.random.chance(25) => "x = h % 3".to_owned(),
            12 if self.random.chance(25) => format!("atomic {{ h = {value}; c!1; x = h % 3 }}"),
            _ => format!("atomic {{ h = {value}; g[0] = h; assert(h >= 0) }}"),
        }
    }

    fn statement(&mut self, nesting: u64) {
        if self.hidden && self.random.chance(30) {
            self.before_step();
            let text = self.about_hidden();
            self.line(&text);
            return;
        }
        let choice = self.random.below(if nesting == 0 { 6 } else { 17 });
        match choice {
            0..=2 => {
                let text = self.effect();
                self.line(&text);
            }
            3 | 4 => {
                let text = self.communication();
                self.line(&text);
            }
            5 => {
                let text = if self.asserts && self.random.chance(25) {
                    format!("assert({})", self.condition())
                } else if self.jumps && self.random.chance(30) {
                    format!("if :: {} -> goto out :: else fi", self.condition())
                } else if self.creates && self.process > 0 && self.random.chance(60) {
                    let which = self.random.below(self.process as u64);
                    let channel = self.random.pick(&["c", "r", "z", "k"]);
                    format!("run P{which}({}, {channel}){}", self.random.below(2), self.priority())
                } else {
                    self.communication()
                };
                self.line(&text);
            }
            6 | 7 => self.selection(nesting, false),
            8 | 9 => self.selection(nesting, true),
            10 | 11 => {
                self.line("atomic {");
                self.depth += 1;
                let count = 1 + self.random.below(3);
                let around = std::mem::replace(&mut self.in_atomic, true);
                self.statements(count, nesting - 1);
                self.in_atomic = around;
                self.depth -= 1;
                self.line("}");
            }
            12 => {
                self.before_step();
                self.step();
            }
            13 => {
                self.line("{");
                self.depth += 1;
                let count = 1 + self.random.below(2);
                self.statements(count, nesting - 1);
                self.depth -= 1;
                let guard = if self.random.chance(75) { self.condition() } else { self.communication() };
                let after = self.effect();
                let line = format!("}} unless {{ {guard} -> {after} }}");
                self.line(&line);
            }
            15 => {
                self.line("for (l : 0 .. 1) {");
                self.depth += 1;
                self.statements(1, nesting - 1);
                self.depth -= 1;
                self.line("}");
            }
            16 => {
                self.before_step();
                let (guard, first) = (self.condition_in_step(), self.effect());
                let line = format!(
                    "d_step {{ {guard} -> do :: j < 2 -> {first}; j++ :: else -> break od; j = 0; {} }}",
                    self.effect()
                );
                self.line(&line);
            }
            _ => {
                let (variable, low) = (self.random.pick(&["l", "x"]), self.random.below(2));
                let line = format!("select ({variable} : {low} .. 2)");
                self.line(&line);
            }
        }
    }

    fn selection(&mut self, nesting: u64, is_loop: bool) {
        self.line(if is_loop { "do" } else { "if" });
        let options = 1 + self.random.below(3);
        let has_else = self.random.chance(35);
        for _ in 0..options {
            let guard = match self.random.below(8) {
                0 => self.effect(),
                // SPIN warns about `else` beside messages, but accepts it.
                1..=3 if !has_else || self.random.chance(30) => self.communication(),
                4 if self.random.chance(50) => "timeout".to_owned(),
                _ => self.condition(),
            };
            let line = format!(":: {guard}");
            self.line(&line);
            if self.random.chance(60) {
                self.line("->");
                self.depth += 1;
                let count = 1 + self.random.below(2);
                let around = std::mem::replace(&mut self.in_atomic, false);
                self.statements(count, nesting - 1);
                self.in_atomic = around;
                self.depth -= 1;
            }
            if is_loop && self.random.chance(50) {
                self.line("; break");
            }
        }
        if has_else {
            let leaves = is_loop && self.random.chance(70);
            self.line(if leaves { ":: else -> break" } else { ":: else -> skip" });
        }
        self.line(if is_loop { "od" } else { "fi" });
    }

    /// SPIN refuses a jump to a deterministic step, such as a `break` before it.
    fn before_step(&mut self) {
        if self.random.chance(85) {
            self.line("skip;");
        }
    }

    /// SPIN refuses references into other processes here.
    fn condition_in_step(&mut self) -> String {
        let remote = std::mem::replace(&mut self.remote, false);
        let condition = self.condition();
        self.remote = remote;
        condition
    }

    fn step(&mut self) {
        let guard = match self.random.below(8) {
            0..=3 => format!("{} -> ", self.condition_in_step()),
            4 => format!("{} -> ", self.random.pick(&["r?l", "r?1", "c?l", "r?eval(x)", "d?m,l"])),
            _ => String::new(),
        };
        let (first, second) = (self.effect(), self.effect());
        let (condition, then, otherwise) = (self.condition_in_step(), self.effect(), self.effect());
        let line =
            format!("d_step {{ {guard}{first}; if :: {condition} -> {then} :: else -> {otherwise} fi; {second} }}");
        self.line(&line);
    }
}
