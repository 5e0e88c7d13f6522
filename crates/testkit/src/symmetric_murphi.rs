//! Random symmetric Murphi programs, and such programs with one change: families of processes with random local
//! automata, shared variables, variables that hold processes, rings, data that is only compared; or two processes
//! written as two copies of a text. They need not make sense, and some of them have run-time errors. The same seed and
//! options give the same program.

use std::fmt::Write as _;

use crate::random_murphi::Random;

/// The kind of programs to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All processes are written alike.
    Symmetric,
    /// The same with one constant, index, operator or statement changed.
    NearlySymmetric,
}

/// The random program of a seed.
pub fn symmetric_program(seed: u64, kind: Kind) -> String {
    let mut random = Random::new(seed ^ 0x5157_0713);
    let text = if random.percent(12) { copies(&mut random) } else { Family::new(&mut random).program() };
    match kind {
        Kind::Symmetric => text,
        Kind::NearlySymmetric => perturbed(&text, &mut random),
    }
}

/// Makes one change in the rules, start states or properties of a program.
fn perturbed(text: &str, random: &mut Random) -> String {
    // Declarations are kept: changing the bounds of a type usually makes the program invalid.
    let body = text.find("startstate").or_else(|| text.find("rule")).unwrap_or(0);
    let body = text[..body].rfind('\n').unwrap_or(0);
    let bytes = text.as_bytes();
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    let mut at = body;
    while at < bytes.len() {
        let rest = &text[at..];
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if is_word(bytes[at]) {
            let length = rest.bytes().take_while(|&byte| is_word(byte)).count();
            let word = &rest[..length];
            let replacement = match word {
                "p" | "q" => Some(random.below(2).to_string()),
                "forall" => Some("exists".to_owned()),
                "exists" => Some("forall".to_owned()),
                "true" => Some("false".to_owned()),
                "false" => Some("true".to_owned()),
                _ => word.parse::<i64>().ok().map(|number| (if number > 0 { number - 1 } else { 1 }).to_string()),
            };
            // A binder cannot become a number.
            let is_binder = text[at + length..].trim_start().starts_with(':');
            if let Some(replacement) = replacement.filter(|_| !is_binder) {
                changes.push((at, length, replacement));
            }
            at += length;
            continue;
        }
        for (from, to) in [(" = ", " != "), (" != ", " = "), (" & ", " | "), (" | ", " & "), (" < ", " > ")] {
            if rest.starts_with(from) {
                changes.push((at, from.len(), to.to_owned()));
            }
        }
        for quantified in ["\n    ==>"] {
            if rest.starts_with(quantified) {
                changes.push((at, 0, format!(" & (p = {} -> g != 0)", random.below(2))));
            }
        }
        at += 1;
    }
    if changes.is_empty() {
        return text.to_owned();
    }
    let (at, length, replacement) = random.pick(&changes).clone();
    format!("{}{replacement}{}", &text[..at], &text[at + length..])
}

/// A family of processes.
struct Family<'r> {
    random: &'r mut Random,
    processes: i64,
    statuses: i64,
    data: i64,
    has_data: bool,
    has_flag: bool,
    has_link: bool,
    has_owner: bool,
    has_last: bool,
    has_matrix: bool,
    has_record: bool,
    is_ring: bool,
    /// A multiset of messages from processes.
    has_network: bool,
    /// A multiset for each process.
    has_boxes: bool,
    /// Expressions of processes that are in scope.
    scope: Vec<String>,
    /// Whether functions can be called here.
    calls: bool,
    fresh: u32,
}

impl<'r> Family<'r> {
    fn new(random: &'r mut Random) -> Self {
        let processes = *random.pick(&[2, 2, 3, 3, 3, 4]);
        let small = processes < 4;
        Self {
            processes,
            statuses: random.between(2, if small { 3 } else { 2 }),
            data: random.between(2, 3),
            has_data: small && random.percent(40),
            has_flag: random.percent(40),
            has_link: small && random.percent(25),
            has_owner: random.percent(50),
            has_last: random.percent(30),
            has_matrix: processes == 2 && random.percent(30),
            has_record: processes == 2 && random.percent(25),
            is_ring: random.percent(35),
            has_network: small && random.percent(20),
            has_boxes: processes == 2 && random.percent(20),
            scope: Vec::new(),
            calls: false,
            fresh: 0,
            random,
        }
    }

    fn program(mut self) -> String {
        let mut text = format!("const\n  N: {};\n\ntype\n  proc: 0 .. N - 1;\n", self.processes);
        let _ = writeln!(text, "  status: 0 .. {};\n  datum: 0 .. {};", self.statuses - 1, self.data - 1);
        text.push_str("  statuses: array [proc] of status;\n  message: record who: proc; s: status; end;\n");
        text.push_str("\nvar\n  st: statuses;\n  g: 0 .. 2;\n");
        for (present, line) in [
            (self.has_data, "  d: array [proc] of datum;\n"),
            (self.has_flag, "  flag: array [proc] of boolean;\n"),
            (self.has_link, "  link: array [proc] of proc;\n"),
            (self.has_owner, "  owner: proc;\n"),
            (self.has_last, "  last: datum;\n"),
            (self.has_matrix, "  mat: array [proc] of array [proc] of boolean;\n"),
            (self.has_record, "  cell: array [proc] of record s: status; who: proc; end;\n"),
            (self.has_network, "  net: multiset [2] of message;\n"),
            (self.has_boxes, "  box: array [proc] of multiset [2] of status;\n"),
        ] {
            if present {
                text.push_str(line);
            }
        }
        text.push_str(&self.functions());
        text.push_str(&self.starts());
        self.calls = true;
        for number in 0..self.random.between(1, 4) {
            text.push_str(&self.rule(number));
        }
        for number in 0..self.random.between(0, 2) {
            text.push_str(&self.property(number));
        }
        text
    }

    // ---- pieces ----

    fn status(&mut self) -> String {
        self.random.below(self.statuses as usize).to_string()
    }

    fn fresh(&mut self) -> String {
        self.fresh += 1;
        format!("x{}", self.fresh)
    }

    fn process(&mut self) -> String {
        let known = self.random.pick(&self.scope).clone();
        match self.random.below(20) {
            0..=2 if self.is_ring => format!("(({known} + 1) % N)"),
            3 if self.is_ring => format!("(({known} + N - 1) % N)"),
            4 => format!("(N - 1 - {known})"),
            5 | 6 if self.has_link => format!("link[{known}]"),
            7 if self.has_owner => "owner".to_owned(),
            _ => known,
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        if depth > 0 && self.random.percent(45) {
            let one = self.condition(depth - 1);
            if self.random.percent(25) {
                return format!("!({one})");
            }
            let other = self.condition(depth - 1);
            return match self.random.below(8) {
                0..=2 => format!("({one} & {other})"),
                3..=5 => format!("({one} | {other})"),
                6 => format!("({one} -> {other})"),
                _ => {
                    let third = self.condition(depth - 1);
                    format!("({one} ? {other} : {third})")
                }
            };
        }
        if depth > 0 && self.random.percent(25) {
            let bound = self.fresh();
            self.scope.push(bound.clone());
            let body = self.condition(depth - 1);
            self.scope.pop();
            let quantifier = *self.random.pick(&["forall", "exists"]);
            let range = match self.random.below(8) {
                0 => ":= 0 to N - 1",
                1 => ":= N - 1 to 0 by -1",
                _ => ": proc",
            };
            return format!("({quantifier} {bound} {range} do {body} end)");
        }
        let (i, j) = (self.process(), self.process());
        let c = self.status();
        if self.has_network && self.random.percent(15) {
            let x = self.fresh();
            return match self.random.below(3) {
                0 => format!("multisetcount({x}: net, net[{x}].who = {i}) = {c}"),
                1 => format!("multisetcount({x}: net, net[{x}].s = {c} & net[{x}].who != {i}) > 0"),
                _ => format!("multisetcount({x}: net, true) < 2"),
            };
        }
        if self.has_boxes && self.random.percent(15) {
            let x = self.fresh();
            return format!("multisetcount({x}: box[{i}], box[{i}][{x}] = {c}) > {}", self.random.below(2));
        }
        match self.random.below(22) {
            0 | 1 => format!("st[{i}] = {c}"),
            2 => format!("st[{i}] != {c}"),
            3 => format!("st[{i}] = st[{j}]"),
            4 => format!("st[{i}] < st[{j}]"),
            5 => format!("{i} != {j}"),
            6 => format!("{i} = {j}"),
            7 => format!("g = {c}"),
            8 => "(g + 1) % 3 = 0".to_owned(),
            9 => "g < 2".to_owned(),
            10 | 11 if self.has_data => format!("d[{i}] = d[{j}]"),
            12 if self.has_flag => format!("flag[{i}]"),
            13 if self.has_owner && self.random.percent(85) => format!("(!isundefined(owner) & owner = {i})"),
            13 | 14 if self.has_owner => format!("owner = {i}"),
            14 if self.has_link => format!("st[link[{i}]] = {c}"),
            15 if self.has_last && self.has_data => format!("(!isundefined(last) & last = d[{i}])"),
            16 if self.has_last => "isundefined(last)".to_owned(),
            17 if self.has_matrix => format!("mat[{i}][{j}]"),
            18 if self.has_record => format!("cell[{i}].s = {c}"),
            19 if self.has_record => format!("cell[{i}] = cell[{j}]"),
            20 if self.random.percent(30) => format!("6 / (g - {c}) > 2"),
            21 if self.calls => format!("busy({i})"),
            _ => format!("st[{i}] = {c}"),
        }
    }

    fn statement(&mut self, depth: u32, indent: &str) -> String {
        let (i, j) = (self.process(), self.process());
        let c = self.status();
        if depth > 0 && self.random.percent(40) {
            let condition = self.condition(1);
            let inner = format!("{indent}  ");
            let body = self.statement(depth - 1, &inner);
            return match self.random.below(7) {
                0 | 1 => {
                    let other = self.statement(depth - 1, &inner);
                    format!("{indent}if {condition} then\n{body}{indent}else\n{other}{indent}end;\n")
                }
                2 => format!("{indent}if {condition} then\n{body}{indent}end;\n"),
                3 | 4 => {
                    let bound = self.fresh();
                    self.scope.push(bound.clone());
                    let body = self.statement(depth - 1, &inner);
                    self.scope.pop();
                    let range = *self.random.pick(&[": proc", ": proc", ":= 0 to N - 1", ":= N - 1 to 0 by -1"]);
                    format!("{indent}for {bound} {range} do\n{body}{indent}end;\n")
                }
                5 => {
                    let bound = self.fresh();
                    self.scope.push(bound.clone());
                    let condition = self.condition(1);
                    self.scope.pop();
                    format!(
                        "{indent}count := 0;\n{indent}for {bound}: proc do if {condition} then count := count + 1; end; \
                         end;\n{indent}g := count % 3;\n"
                    )
                }
                _ if self.calls => format!("{indent}if take({i}) then\n{body}{indent}end;\n"),
                _ => body,
            };
        }
        if self.has_network && self.calls && self.random.percent(25) {
            let x = self.fresh();
            return match self.random.below(5) {
                0 => format!("{indent}send({i}, {c});\n"),
                1 => format!("{indent}multisetremovepred({x}: net, net[{x}].who = {i});\n"),
                _ => format!("{indent}if multisetcount({x}: net, true) < 2 then send({i}, {c}); end;\n"),
            };
        }
        if self.has_boxes && self.random.percent(25) {
            let x = self.fresh();
            return match self.random.below(5) {
                0 => format!("{indent}multisetadd(st[{j}], box[{i}]);\n"),
                1 => format!("{indent}multisetremovepred({x}: box[{i}], box[{i}][{x}] = {c});\n"),
                2 => format!("{indent}clear box[{i}];\n"),
                _ => {
                    format!("{indent}if multisetcount({x}: box[{i}], true) < 2 then multisetadd({c}, box[{i}]); end;\n")
                }
            };
        }
        let simple = match self.random.below(32) {
            0..=3 => format!("st[{i}] := {c}"),
            4 => format!("st[{i}] := (st[{i}] + 1) % {}", self.statuses),
            5 => format!("st[{i}] := st[{j}]"),
            6 => format!("g := {c}"),
            7 => "g := (g + 1) % 3".to_owned(),
            8 => "g := 2 - g".to_owned(),
            9 | 10 if self.has_data => format!("d[{i}] := d[{j}]"),
            11 if self.has_flag => format!("flag[{i}] := !flag[{i}]"),
            12 if self.has_flag => format!("flag[{i}] := {}", self.condition(1)),
            13 if self.has_owner => format!("owner := {i}"),
            14 if self.has_owner => "undefine owner".to_owned(),
            15 if self.has_link => format!("link[{i}] := {j}"),
            16 if self.has_last && self.has_data => format!("last := d[{i}]"),
            17 if self.has_matrix => format!("mat[{i}][{j}] := {}", self.condition(0)),
            18 if self.has_record => format!("cell[{i}].who := {j}"),
            19 if self.has_record => format!("cell[{i}] := cell[{j}]"),
            20 if self.calls => format!("bump(st[{i}])"),
            21 if self.calls => format!("reset({i})"),
            22 => match self.random.below(4) {
                0 => format!("assert {}", self.condition(1)),
                1 => format!("assume {}", self.condition(1)),
                2 => format!("cover {}", self.condition(1)),
                _ => format!("clear st[{i}]"),
            },
            23 if self.calls => format!("assert take({i}) | {}", self.condition(1)),
            24 if self.calls && self.has_flag => format!("flag[{i}] := {} & take({j})", self.condition(0)),
            25 if self.calls => format!("if {} | take({i}) then st[{j}] := {c}; end", self.condition(0)),
            26 => format!("undefine st[{i}]"),
            27 => {
                format!("alias a: st[{i}] do a := (a + 1) % {}; if a = {c} then st[{j}] := a; end; end", self.statuses)
            }
            28 => format!("st[{i}] := {} ? st[{j}] : {c}", self.condition(1)),
            29 => format!("switch st[{i}] case {c}: st[{j}] := 0; else g := 0; end"),
            30 if self.calls => format!("old := st; st[{i}] := {c}; if old[{j}] = {c} then st := old; end"),
            31 if self.calls => format!("st[{i}] := level({j})"),
            _ => format!("st[{i}] := {c}"),
        };
        format!("{indent}{simple};\n")
    }

    fn body(&mut self, indent: &str) -> String {
        let mut text = String::new();
        for _ in 0..self.random.between(1, 3) {
            text.push_str(&self.statement(2, indent));
        }
        text
    }

    // ---- declarations ----

    fn functions(&mut self) -> String {
        self.scope = vec!["i".to_owned()];
        let busy = self.condition(1);
        let allowed = self.condition(1);
        let taken = self.statement(0, "  ");
        let reset = match self.random.below(4) {
            0 if self.has_owner => "undefine owner".to_owned(),
            1 if self.has_flag => "clear flag".to_owned(),
            2 => format!("assume {}; st[i] := 0", self.condition(0)),
            _ => "clear st[i]".to_owned(),
        };
        let bump = match self.random.below(3) {
            0 => "clear s".to_owned(),
            _ => format!("s := (s + 1) % {}", self.statuses),
        };
        let count = "var count: 0 .. 9;\nbegin\n";
        let level = match self.random.below(3) {
            0 => "if i = 0 then return st[0]; end; return level(i - 1)".to_owned(),
            1 => format!(
                "for x: proc do if x != i & st[x] = {} then return st[x]; end; end; return st[i]",
                self.status()
            ),
            _ => "return st[i]".to_owned(),
        };
        let send = match self.has_network {
            false => "",
            true => {
                "\nprocedure send(i: proc; c: status);\nvar m: message;\nbegin\n  m.who := i;\n  m.s := c;\n  \
                 multisetadd(m, net);\nend;\n"
            }
        };
        format!(
            "{send}\nfunction busy(i: proc): boolean;\nbegin\n  return {busy};\nend;\n\n\
             procedure bump(var s: status);\nbegin\n  {bump};\nend;\n\n\
             procedure reset(i: proc);\nbegin\n  {reset};\nend;\n\n\
             function level(i: proc): status;\nbegin\n  {level};\nend;\n\n\
             function take(i: proc): boolean;\n{count}  if {allowed} then return false; end;\n{taken}  return true;\nend;\n"
        )
    }

    fn starts(&mut self) -> String {
        let mut text = String::new();
        let any = self.random.percent(20);
        let chosen = self.has_owner && !any && self.random.percent(30);
        for _ in 0..if self.random.percent(15) { 2 } else { 1 } {
            let mut body = String::from("    for p: proc do\n");
            let (c, e) = (self.status(), self.random.below(self.data as usize));
            if !any {
                let _ = writeln!(body, "      st[p] := {c};");
            }
            if self.has_data {
                let _ = match self.random.below(3) {
                    0 => writeln!(body, "      d[p] := {e};"),
                    1 => writeln!(body, "      d[p] := p % {};", self.data),
                    _ => writeln!(body, "      clear d[p];"),
                };
            }
            if self.has_flag {
                body.push_str("      flag[p] := false;\n");
            }
            if self.has_link {
                body.push_str(match self.random.below(3) {
                    0 => "      link[p] := p;\n",
                    1 => "      link[p] := (p + 1) % N;\n",
                    _ => "      link[p] := N - 1 - p;\n",
                });
            }
            if self.has_matrix {
                body.push_str("      for r: proc do mat[p][r] := p = r; end;\n");
            }
            if self.has_record {
                body.push_str("      cell[p].s := 0; cell[p].who := p;\n");
            }
            body.push_str("    end;\n");
            let _ = writeln!(body, "    g := {};", self.random.below(3));
            let ruleset = if any {
                body.push_str("    st := initial;\n");
                "ruleset initial: statuses do\n"
            } else if chosen {
                body.push_str("    owner := o;\n");
                "ruleset o: proc do\n"
            } else {
                ""
            };
            let end = if ruleset.is_empty() { "" } else { "end;\n" };
            let _ = write!(text, "\n{ruleset}  startstate\n  begin\n{body}  end;\n{end}");
        }
        text
    }

    fn rule(&mut self, number: i64) -> String {
        let (ruleset, scope): (&str, &[&str]) = match self.random.below(5) {
            0 => ("ruleset p: proc; q: proc do\n", &["p", "q"]),
            1 if self.random.percent(40) => ("ruleset p: proc do\n", &["p"]),
            _ => ("ruleset p: proc do\n", &["p"]),
        };
        self.scope = scope.iter().map(|&name| name.to_owned()).collect();
        if self.has_network && self.random.percent(50) {
            self.scope.push("net[k].who".to_owned());
            let guard = format!("{} & net[k].s = {}", self.condition(1), self.status());
            let mut body = self.body("    ");
            if self.random.percent(70) {
                let remove = "    multisetremove(k, net);\n";
                body = if self.random.percent(50) { format!("{body}{remove}") } else { format!("{remove}{body}") };
            }
            return format!(
                "\n{ruleset}choose k: net do\n  rule \"r{number}\"\n    {guard}\n    ==>\n  var count: 0 .. 9;\n  \
                 old: statuses;\n  begin\n{body}  end;\nend;\nend;\n"
            );
        }
        let guard = self.condition(2);
        let body = self.body("    ");
        format!(
            "\n{ruleset}  rule \"r{number}\"\n    {guard}\n    ==>\n  var count: 0 .. 9;\n  old: statuses;\n  begin\n{body}  end;\nend;\n"
        )
    }

    fn property(&mut self, number: i64) -> String {
        let bound = "p".to_owned();
        self.scope = vec![bound];
        let condition = self.condition(2);
        let form = match self.random.below(6) {
            0..=2 => {
                let quantifier = *self.random.pick(&["forall", "exists"]);
                return format!("\ninvariant \"i{number}\"\n  {quantifier} p: proc do {condition} end;\n");
            }
            3 => "cover",
            4 => "assume",
            _ => "liveness",
        };
        format!("\nruleset p: proc do\n  {form} \"c{number}\" {condition};\nend;\n")
    }
}

/// Two processes written as two copies of a text.
fn copies(random: &mut Random) -> String {
    let has_turn = random.percent(60);
    let mut text = String::from("type\n  status: 0 .. 2;\n\nvar\n  a: status;\n  b: status;\n  g: 0 .. 2;\n");
    if has_turn {
        text.push_str("  turn: 0 .. 1;\n");
    }
    text.push_str("\nstartstate\n  a := 0; b := 0; g := 0;");
    text.push_str(match has_turn {
        true => " undefine turn;\nend;\n",
        false => "\nend;\n",
    });
    for _ in 0..random.between(1, 3) {
        let atom = |random: &mut Random| match random.below(6) {
            0 => format!("ME = {}", random.below(3)),
            1 => format!("YOU != {}", random.below(3)),
            2 => "ME = YOU".to_owned(),
            3 if has_turn => "(isundefined(turn) | turn = I)".to_owned(),
            4 => format!("g = {}", random.below(3)),
            _ => format!("ME < {}", random.between(1, 2)),
        };
        let guard = format!("{} {} {}", atom(random), random.pick(&["&", "|", "->"]), atom(random));
        let change = |random: &mut Random| match random.below(5) {
            0 => format!("ME := {}", random.below(3)),
            1 => "ME := (ME + 1) % 3".to_owned(),
            2 if has_turn => "turn := I".to_owned(),
            3 => "g := (g + 1) % 3".to_owned(),
            _ => "YOU := ME".to_owned(),
        };
        let body = format!("{}; {}", change(random), change(random));
        for (own, other, number) in [("a", "b", "0"), ("b", "a", "1")] {
            let written = |part: &str| part.replace("ME", own).replace("YOU", other).replace('I', number);
            let _ = write!(text, "\nrule\n  {}\n    ==>\n  {};\nend;\n", written(&guard), written(&body));
        }
    }
    text
}
