//! Random Promela programs: processes, channels of all kinds, atomic and deterministic sequences,
//! creation and death of processes, escapes, timeouts. Small enough that SPIN and we can both see all
//! of their states.

use std::fmt::Write;

/// A small generator of random numbers; the same numbers for the same seed, everywhere.
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
    labels: usize,
    depth: usize,
}

/// A program for a seed.
pub fn random_promela(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
    random.next();
    let processes = 1 + random.below(3) as usize;
    let creates = random.chance(50);
    let generator = Generator { random, text: String::new(), process: 0, processes, creates, labels: 0, depth: 0 };
    generator.program()
}

impl Generator {
    fn line(&mut self, text: &str) {
        for _ in 0..=self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn program(mut self) -> String {
        self.text.push_str("mtype = { red, green };\nbyte x, y = 1;\nbit b;\nshort s = -1;\nbyte a[2];\nmtype m;\n");
        let _ = writeln!(self.text, "chan c = [{}] of {{ byte }};", 1 + self.random.below(2));
        self.text.push_str("chan r = [0] of { byte };\nchan d = [2] of { mtype, byte };\n");
        self.text.push_str("chan q[2] = [1] of { byte };\nchan w = [1] of { chan };\n");
        for process in 0..self.processes {
            self.process = process;
            self.proctype();
        }
        if self.creates {
            self.text.push_str("init {\n  pid n;\n");
            let atomic = self.random.chance(60);
            if atomic {
                self.text.push_str("  atomic {\n");
            }
            for _ in 0..1 + self.random.below(2) {
                let which = self.random.below(self.processes as u64);
                let argument = self.random.below(3);
                let target = if self.random.chance(30) { "n = " } else { "" };
                let _ = writeln!(self.text, "  {target}run P{which}({argument});");
            }
            self.text.push_str(if atomic { "  skip }\n" } else { "  skip\n" });
            if self.random.chance(40) {
                self.text.push_str("  ; (_nr_pr == 1); x = 0\n");
            }
            self.text.push_str("}\n");
        }
        self.text
    }

    fn proctype(&mut self) {
        let active = if self.creates { String::new() } else { format!("active [{}] ", 1 + self.random.below(2)) };
        let provided = if self.random.chance(8) { " provided (x != 2)" } else { "" };
        let parameter = if self.creates { "byte i" } else { "" };
        let _ = writeln!(self.text, "{active}proctype P{}({parameter}){provided} {{", self.process);
        self.line(if self.creates { "byte l = i;" } else { "byte l = _pid % 2;" });
        self.line("chan k = c; byte j;");
        if self.random.chance(25) {
            self.line("chan own = [1] of { byte };");
            self.line("own!l; own?l;");
        }
        self.labels = 0;
        let label = self.random.chance(20);
        if label {
            self.line("begin:");
        }
        let count = 2 + self.random.below(3);
        self.statements(count, 2);
        if label && self.random.chance(50) {
            self.line("; goto begin");
        }
        self.text.push_str("}\n");
    }

    fn statements(&mut self, count: u64, nesting: u64) {
        for number in 0..count {
            // SPIN does not take a label that says something inside of other statements.
            if self.depth == 0 && self.random.chance(12) {
                self.labels += 1;
                let label = format!("end{}:", self.labels);
                self.line(&label);
            }
            self.statement(nesting);
            if number + 1 < count {
                self.line(";");
            }
        }
    }

    fn value(&mut self) -> String {
        let simple = ["0", "1", "2", "x", "y", "b", "l", "a[0]", "a[1]", "s", "_pid", "len(c)"];
        match self.random.below(6) {
            0 => format!("({} + {}) % 3", self.random.pick(&simple), self.random.pick(&simple[..9])),
            1 => format!("({} -> {} : {})", self.condition(), self.random.pick(&simple), self.random.pick(&simple)),
            2 => format!("{} - 1", self.random.pick(&simple[..9])),
            _ => self.random.pick(&simple).to_owned(),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(9) {
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

    /// A statement that never waits.
    fn effect(&mut self) -> String {
        match self.random.below(6) {
            0 => {
                let value = self.value();
                format!("{} = {value}", self.random.pick(&["l", "a[1]", "a[b]", "s"]))
            }
            1 => format!("{} = ({} + 1) % 3", "x", self.random.pick(&["x", "y", "l"])),
            2 => format!("b = {}", self.random.pick(&["1 - b", "x", "0", "1"])),
            3 => format!("m = {}", self.random.pick(&["red", "green"])),
            4 => "y = (y + 1) % 2".to_owned(),
            _ => self.random.pick(&["skip", "printf(\"x\")", "l = 0", "s = 0 - 1"]).to_owned(),
        }
    }

    /// A statement that may wait for a message or for room.
    fn communication(&mut self) -> String {
        let small = self.random.pick(&["0", "1", "x", "l"]);
        match self.random.below(17) {
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

    fn statement(&mut self, nesting: u64) {
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
                let text = if self.random.chance(25) {
                    format!("assert({})", self.condition())
                } else if self.creates && self.process > 0 && self.random.chance(60) {
                    format!("run P{}({})", self.random.below(self.process as u64), self.random.below(2))
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
                self.statements(count, nesting - 1);
                self.depth -= 1;
                self.line("}");
            }
            12 => self.step(),
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
                let (guard, first) = (self.condition(), self.effect());
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
                // SPIN does not take `else` beside messages.
                1..=3 if !has_else => self.communication(),
                4 if self.random.chance(50) => "timeout".to_owned(),
                _ => self.condition(),
            };
            let line = format!(":: {guard}");
            self.line(&line);
            if self.random.chance(60) {
                self.line("->");
                self.depth += 1;
                let count = 1 + self.random.below(2);
                self.statements(count, nesting - 1);
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

    fn step(&mut self) {
        let guard = if self.random.chance(50) { format!("{} -> ", self.condition()) } else { String::new() };
        let (first, second) = (self.effect(), self.effect());
        let (condition, then, otherwise) = (self.condition(), self.effect(), self.effect());
        let line =
            format!("d_step {{ {guard}{first}; if :: {condition} -> {then} :: else -> {otherwise} fi; {second} }}");
        self.line(&line);
    }
}
