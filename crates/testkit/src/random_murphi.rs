//! Random Murphi programs: valid in rumur's dialect, with few states by construction, and with a
//! fair share of mistakes in them. The same seed and options give the same program.
//!
//! What rumur leaves to the C compiler is avoided, so that there is one right answer: functions
//! with side effects are only called on their own, and a choice between arrays or records is only
//! handed to functions without side effects. So are rumur's own flaws: rulesets over steps, cover
//! properties without a name, compound results in guards, results out of range.

use std::fmt::Write as _;

/// What kind of programs to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOptions {
    /// How much of everything there is, from 1 on.
    pub size: u32,
    /// The number of states cannot be greater than this.
    pub most_states: u64,
    /// Whether to use what rumur does not know: unions, multisets, parameters of array and record
    /// types.
    pub extensions: bool,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        Self { size: 3, most_states: 4000, extensions: false }
    }
}

/// The random program of a seed.
pub fn random_program(seed: u64, options: &ProgramOptions) -> String {
    let mut generator = Generator::new(seed, options.clone());
    generator.program();
    generator.output
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }
    /// A number between two, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }
    /// True in so many of a hundred cases.
    pub fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance as usize
    }
    /// One of several.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A type. Arrays and records are numbered: they are declared once and used by name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ty {
    Boolean,
    Range(i64, i64),
    Enumeration(usize),
    Scalarset(usize),
    Union(usize),
    Compound(usize),
}

impl Ty {
    fn is_scalar(&self) -> bool {
        !matches!(self, Self::Compound(_))
    }
    fn is_number(&self) -> bool {
        matches!(self, Self::Range(..))
    }
}

#[derive(Clone, Debug)]
enum Shape {
    Array(Ty, Ty),
    Record(Vec<(String, Ty)>),
    Multiset(u64, Ty),
}

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Ty,
    writable: bool,
    /// Whether it probably has a value.
    defined: bool,
    /// Whether it stands for a value and not for a variable.
    value_only: bool,
}

#[derive(Clone, Debug)]
struct Function {
    name: String,
    parameters: Vec<(bool, Ty)>,
    result: Option<Ty>,
    pure: bool,
}

/// A step into an array or record.
#[derive(Clone, Debug)]
enum PathStep {
    Field(String),
    Index(Ty),
}

struct Generator {
    random: Random,
    options: ProgramOptions,
    output: String,
    /// How often a mistake may slip in, of a hundred cases.
    risk: u32,
    enumerations: Vec<Vec<String>>,
    scalarsets: Vec<u64>,
    /// The member types of the unions.
    unions: Vec<Vec<Ty>>,
    ranges: Vec<(String, i64, i64)>,
    constants: Vec<(String, i64)>,
    compounds: Vec<(String, Shape)>,
    functions: Vec<Function>,
    scope: Vec<Variable>,
    /// Whether compound results may be used here: only in bodies.
    in_body: bool,
    /// Whether assertions and the like may stand here: not in functions that expressions call.
    may_fail_aloud: bool,
    /// Whether there may be cover statements, or else assume statements: rumur also counts what a
    /// step covered that is dropped later.
    covers: bool,
    /// Whether the body may end early with a plain `return`.
    may_return: bool,
    names: usize,
    /// The multisets and positions chosen around the rule.
    chosen: Vec<(String, String)>,
}

impl Generator {
    fn new(seed: u64, options: ProgramOptions) -> Self {
        let mut random = Random::new(seed);
        let risk = match random.below(10) {
            0..=4 => 0,
            5..=7 => 3,
            _ => 12,
        };
        let covers = random.percent(50);
        Self {
            random,
            options,
            covers,
            output: String::new(),
            risk,
            enumerations: Vec::new(),
            scalarsets: Vec::new(),
            unions: Vec::new(),
            ranges: Vec::new(),
            constants: Vec::new(),
            compounds: Vec::new(),
            functions: Vec::new(),
            scope: Vec::new(),
            in_body: false,
            may_fail_aloud: true,
            may_return: false,
            names: 0,
            chosen: Vec::new(),
        }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
    /// A new name, or now and then that of a variable which it then hides.
    fn fresh_or_hiding(&mut self, prefix: &str) -> String {
        // The first variable stays visible, and texts with paths in them rely on what they name.
        if !self.options.extensions && self.scope.len() > 1 && self.random.percent(7) {
            let position = 1 + self.random.below(self.scope.len() - 1);
            let name = self.scope[position].name.clone();
            if name.starts_with(['v', 'q']) {
                return name;
            }
        }
        self.fresh(prefix)
    }
    /// The variables that are not hidden by others.
    fn visible(&self) -> Vec<Variable> {
        let hidden =
            |position: usize| self.scope[position + 1..].iter().any(|later| later.name == self.scope[position].name);
        (0..self.scope.len())
            .filter(|&position| !hidden(position))
            .map(|position| self.scope[position].clone())
            .collect()
    }
    fn risky(&mut self) -> bool {
        let risk = self.risk;
        self.random.percent(risk)
    }
    fn size(&self) -> usize {
        self.options.size.max(1) as usize
    }

    fn program(&mut self) {
        self.declare_types();
        self.declare_variables();
        self.declare_functions();
        let globals = self.scope.len();
        for _ in 0..1 + self.random.below(2) {
            self.start_state();
            self.scope.truncate(globals);
        }
        for _ in 0..1 + self.random.below(2 * self.size()) {
            self.rules(0);
            self.scope.truncate(globals);
        }
        if self.random.percent(70) && globals > 0 {
            // Something to do in every state, so that not all runs end in a deadlock.
            let choice = self.random.below(globals);
            let Variable { name, ty, .. } = self.scope[choice].clone();
            let (guard, action) = match ty {
                Ty::Boolean => (String::new(), format!("{name} := isundefined({name}) ? true : !{name};")),
                _ => (String::new(), format!("if false then undefine {name}; else clear {name}; end;")),
            };
            let _ = writeln!(self.output, "rule \"always\" {guard}begin {action} end;");
        }
        for _ in 0..self.random.below(1 + self.size()) {
            self.property(0);
            self.scope.truncate(globals);
        }
    }

    // Declarations.

    fn declare_types(&mut self) {
        let mut text = String::new();
        for _ in 0..self.random.below(3) {
            let (name, value) = (self.fresh("N"), self.random.between(1, 3));
            let _ = writeln!(text, "const {name}: {value};");
            self.constants.push((name, value));
        }
        for _ in 0..self.random.below(3) {
            let count = 2 + self.random.below(2);
            let members: Vec<String> = (0..count).map(|_| self.fresh("e")).collect();
            let number = self.enumerations.len();
            let _ = writeln!(text, "type E{number}: enum {{{}}};", members.join(", "));
            self.enumerations.push(members);
        }
        for number in 0..self.random.below(2) {
            let size = 2;
            let _ = writeln!(text, "type S{number}: scalarset({size});");
            self.scalarsets.push(size);
        }
        if self.options.extensions {
            let mut symbols: Vec<Ty> = (0..self.enumerations.len()).map(Ty::Enumeration).collect();
            symbols.extend((0..self.scalarsets.len()).map(Ty::Scalarset));
            for number in 0..self.random.below(3) {
                let members: Vec<Ty> = symbols.iter().filter(|_| self.random.percent(70)).cloned().collect();
                if members.len() < 2 {
                    break;
                }
                let list: Vec<String> = members.iter().map(|member| self.text(member)).collect();
                let _ = writeln!(text, "type U{number}: union {{{}}};", list.join(", "));
                self.unions.push(members);
            }
        }
        for _ in 0..self.random.below(3) {
            let (low, high) = self.bounds();
            let name = self.fresh("R");
            let _ = writeln!(text, "type {name}: {low}..{high};");
            self.ranges.push((name, low, high));
        }
        for _ in 0..self.random.below(1 + self.size()) {
            let name = self.fresh("C");
            let shape = if self.options.extensions && self.random.percent(40) {
                let element = self.plain_type();
                let capacity = 1 + self.random.below(2) as u64;
                let _ = writeln!(text, "type {name}: multiset [{capacity}] of {};", self.text(&element));
                Shape::Multiset(capacity, element)
            } else if self.random.percent(50) {
                let index = self.index_type();
                let element = if self.random.percent(25) { self.any_type() } else { self.scalar_type() };
                let _ = writeln!(text, "type {name}: array [{}] of {};", self.text(&index), self.text(&element));
                Shape::Array(index, element)
            } else {
                let count = 1 + self.random.below(3);
                let mut fields = Vec::new();
                for _ in 0..count {
                    let ty = if self.random.percent(20) { self.any_type() } else { self.scalar_type() };
                    fields.push((self.fresh("f"), ty));
                }
                let list: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {};", self.text(ty))).collect();
                let _ = writeln!(text, "type {name}: record {} end;", list.join(" "));
                Shape::Record(fields)
            };
            self.compounds.push((name, shape));
        }
        self.output.push_str(&text);
    }

    fn bounds(&mut self) -> (i64, i64) {
        *self.random.pick(&[(0, 1), (0, 2), (0, 3), (1, 3), (-1, 1), (2, 4), (0, 4)])
    }

    fn scalar_type(&mut self) -> Ty {
        match self.random.below(10) {
            0..=2 => Ty::Boolean,
            3..=4 if !self.enumerations.is_empty() => Ty::Enumeration(self.random.below(self.enumerations.len())),
            7 if !self.unions.is_empty() => Ty::Union(self.random.below(self.unions.len())),
            5 if !self.scalarsets.is_empty() => Ty::Scalarset(self.random.below(self.scalarsets.len())),
            6 if !self.ranges.is_empty() => {
                let (_, low, high) = *self.random.pick(&self.ranges);
                Ty::Range(low, high)
            }
            _ => {
                let (low, high) = self.bounds();
                Ty::Range(low, high)
            }
        }
    }
    fn index_type(&mut self) -> Ty {
        match self.scalar_type() {
            Ty::Range(low, high) if high - low > 2 => Ty::Range(low, low + 2),
            other => other,
        }
    }
    fn any_type(&mut self) -> Ty {
        if !self.compounds.is_empty() && self.random.percent(50) {
            return Ty::Compound(self.random.below(self.compounds.len()));
        }
        self.scalar_type()
    }

    /// A type without a multiset in it.
    fn plain_type(&mut self) -> Ty {
        match self.any_type() {
            ty if self.holds_multiset(&ty) => self.scalar_type(),
            ty => ty,
        }
    }
    fn holds_multiset(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Compound(number) => match &self.compounds[*number].1 {
                Shape::Multiset(..) => true,
                Shape::Array(_, element) => self.holds_multiset(element),
                Shape::Record(fields) => fields.iter().any(|(_, ty)| self.holds_multiset(ty)),
            },
            _ => false,
        }
    }

    /// How a type is written.
    fn text(&self, ty: &Ty) -> String {
        match ty {
            Ty::Boolean => "boolean".into(),
            Ty::Range(low, high) => {
                // A range has one name or none, so that this does not depend on chance.
                let named = self.ranges.iter().find(|(_, from, to)| (from, to) == (low, high));
                match named {
                    Some((name, ..)) => name.clone(),
                    None => match self.constants.iter().find(|(_, value)| value == high) {
                        Some((name, _)) => format!("{low}..{name}"),
                        None => format!("{low}..{high}"),
                    },
                }
            }
            Ty::Enumeration(number) => format!("E{number}"),
            Ty::Scalarset(number) => format!("S{number}"),
            Ty::Union(number) => format!("U{number}"),
            Ty::Compound(number) => self.compounds[*number].0.clone(),
        }
    }

    /// How many contents there are, the undefined one included.
    fn contents(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Boolean => 3,
            Ty::Range(low, high) => (high - low + 2) as u64,
            Ty::Enumeration(number) => self.enumerations[*number].len() as u64 + 1,
            Ty::Scalarset(number) => self.scalarsets[*number] + 1,
            Ty::Union(number) => 1 + self.unions[*number].iter().map(|ty| self.contents(ty) - 1).sum::<u64>(),
            Ty::Compound(number) => match &self.compounds[*number].1 {
                Shape::Array(index, element) => {
                    let count = u32::try_from(self.contents(index) - 1).unwrap_or(u32::MAX);
                    self.contents(element).saturating_pow(count)
                }
                Shape::Record(fields) => fields.iter().map(|(_, ty)| self.contents(ty)).fold(1, u64::saturating_mul),
                Shape::Multiset(capacity, element) => {
                    (self.contents(element) + 1).saturating_pow(u32::try_from(*capacity).unwrap_or(u32::MAX))
                }
            },
        }
    }

    fn declare_variables(&mut self) {
        let mut states: u64 = 1;
        for attempt in 0..2 + 2 * self.size() {
            let ty = self.any_type();
            let grown = states.saturating_mul(self.contents(&ty));
            if grown > self.options.most_states && attempt > 0 {
                continue;
            }
            let ty = if grown > self.options.most_states { Ty::Boolean } else { ty };
            states = states.saturating_mul(self.contents(&ty));
            let name = self.fresh("v");
            let _ = writeln!(self.output, "var {name}: {};", self.text(&ty));
            let defined = !self.risky();
            self.scope.push(Variable { name, ty, writable: true, defined, value_only: false });
        }
    }

    fn declare_functions(&mut self) {
        let globals = self.scope.clone();
        for _ in 0..self.random.below(1 + self.size()) {
            let pure = self.random.percent(60);
            let result = if pure || self.random.percent(50) { Some(self.plain_type()) } else { None };
            let name = self.fresh(if result.is_some() { "fun" } else { "proc" });
            let mut parameters = Vec::new();
            let mut formals = Vec::new();
            self.scope = globals.clone();
            if pure {
                for variable in &mut self.scope {
                    variable.writable = false;
                }
            }
            for _ in 0..self.random.below(3) {
                let ty = self.plain_type();
                let by_reference = !pure && self.random.percent(40);
                let parameter = self.fresh_or_hiding("p");
                if self.scope.iter().skip(globals.len()).any(|variable| variable.name == parameter) {
                    continue;
                }
                formals.push(format!("{}{parameter}: {}", if by_reference { "var " } else { "" }, self.text(&ty)));
                let defined = !self.risky();
                self.scope.push(Variable {
                    name: parameter,
                    ty: ty.clone(),
                    writable: by_reference,
                    defined,
                    value_only: false,
                });
                parameters.push((by_reference, ty));
            }
            let locals = self.declare_locals();
            self.in_body = true;
            self.may_fail_aloud = !pure;
            self.may_return = result.is_none();
            // There must be something to return.
            let something = |this: &Self, ty: &Ty| this.visible().into_iter().find(|variable| variable.ty == *ty);
            let result = result.map(|ty| match ty {
                Ty::Scalarset(_) | Ty::Union(_) | Ty::Compound(_) if something(self, &ty).is_none() => Ty::Boolean,
                _ => ty,
            });
            let mut body = self.statements(1);
            if !pure && let Some(global) = globals.first() {
                // Visibly more than a computation: C compilers drop a call of what rumur takes for
                // a pure function where the result is not used, with the faults in it.
                let _ = writeln!(body, "if false then clear {}; end;", global.name);
            }
            if let Some(ty) = &result {
                let value = match ty {
                    // rumur does not look at the range of what is returned.
                    Ty::Range(low, high) => self.in_range(*low, *high, 2),
                    _ => {
                        let otherwise = something(self, ty).map_or_else(|| "true".into(), |variable| variable.name);
                        self.contents_of(ty, &otherwise)
                    }
                };
                let _ = writeln!(body, "return {value};");
            }
            let head = match &result {
                Some(ty) => format!("function {name}({}): {};", formals.join("; "), self.text(ty)),
                None => format!("procedure {name}({});", formals.join("; ")),
            };
            let _ = writeln!(self.output, "{head}\n{locals}begin\n{body}end;");
            self.functions.push(Function { name, parameters, result, pure });
        }
        if self.random.percent(15) {
            let name = self.fresh("fun");
            let ty = Ty::Range(0, 3);
            let text = self.text(&ty);
            let _ = writeln!(
                self.output,
                "function {name}(n: {text}): {text};\nbegin\nif n = 0 then return {}; end;\nreturn {name}(n - 1);\nend;",
                self.random.below(4)
            );
            self.functions.push(Function { name, parameters: vec![(false, ty.clone())], result: Some(ty), pure: true });
        }
        self.scope = globals;
        self.in_body = false;
        self.may_fail_aloud = true;
    }

    /// Declares local variables, with statements that give most of them a value.
    fn declare_locals(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(3) {
            let ty = self.any_type();
            let name = self.fresh("l");
            let _ = writeln!(text, "var {name}: {};", self.text(&ty));
            self.scope.push(Variable { name, ty, writable: true, defined: false, value_only: false });
        }
        text
    }

    fn start_state(&mut self) {
        let quantifiers = self.quantifiers(1);
        let locals = self.declare_locals();
        self.in_body = true;
        self.may_return = false;
        let mut body = String::new();
        let globals: Vec<Variable> =
            self.scope.iter().filter(|variable| variable.name.starts_with('v')).cloned().collect();
        for variable in globals {
            if !variable.defined && self.random.percent(70) {
                continue;
            }
            let _ = if self.random.percent(50) {
                writeln!(body, "clear {};", variable.name)
            } else {
                writeln!(body, "{} := {};", variable.name, self.contents_of(&variable.ty, &variable.name))
            };
        }
        if self.random.percent(40) {
            body.push_str(&self.statements(1));
        }
        self.in_body = false;
        let name = if self.random.percent(50) { "\"begin\" " } else { "" };
        self.wrap_ruleset(&quantifiers, format!("startstate {name}\n{locals}begin\n{body}end"));
    }

    /// Up to so many quantifiers, whose variables are visible from now on.
    fn quantifiers(&mut self, most: usize) -> Vec<String> {
        let mut quantifiers = Vec::new();
        for _ in 0..self.random.below(most + 1) {
            let mut ty = self.index_type();
            if self.options.extensions && self.random.percent(25) {
                let compound = self.plain_type();
                if self.contents(&compound) <= 40 {
                    ty = compound;
                }
            }
            let name = self.fresh("q");
            quantifiers.push(format!("{name}: {}", self.text(&ty)));
            self.scope.push(Variable { name, ty, writable: false, defined: true, value_only: false });
        }
        quantifiers
    }

    fn wrap_ruleset(&mut self, quantifiers: &[String], text: String) {
        let _ = if quantifiers.is_empty() {
            writeln!(self.output, "{text};")
        } else {
            writeln!(self.output, "ruleset {} do\n{text};\nend;", quantifiers.join("; "))
        };
    }

    /// A rule, perhaps with others in a ruleset or under an alias.
    fn rules(&mut self, depth: usize) {
        let before = self.scope.len();
        if depth < 2 && self.random.percent(20) {
            let quantifiers = self.quantifiers(2);
            if !quantifiers.is_empty() {
                let _ = writeln!(self.output, "ruleset {} do", quantifiers.join("; "));
                for _ in 0..1 + self.random.below(2) {
                    self.rules(depth + 1);
                }
                self.output.push_str("end;\n");
                self.scope.truncate(before);
                return;
            }
        }
        if depth < 2 && self.random.percent(12) {
            let name = self.fresh("a");
            if let Some((text, ty, defined)) = self.place(&|_| true, true) {
                let _ = writeln!(self.output, "alias {name}: {text} do");
                self.scope.push(Variable { name, ty, writable: true, defined, value_only: false });
                self.rules(depth + 1);
                self.output.push_str("end;\n");
                self.scope.truncate(before);
                return;
            }
        }
        if self.options.extensions
            && depth < 2
            && self.random.percent(35)
            && let Some((multiset, element)) = self.multiset(false)
        {
            let name = self.fresh("q");
            let _ = writeln!(self.output, "choose {name}: {multiset} do");
            self.scope.push(Variable {
                name: format!("{multiset}[{name}]"),
                ty: element,
                writable: true,
                defined: true,
                value_only: false,
            });
            self.chosen.push((multiset, name));
            self.rules(depth + 1);
            self.chosen.pop();
            self.output.push_str("end;\n");
            self.scope.truncate(before);
            return;
        }
        let quantifiers = self.quantifiers(2);
        let guard = if self.random.percent(80) { format!("{} ==>", self.boolean(2)) } else { String::new() };
        let locals = self.declare_locals();
        self.in_body = true;
        self.may_return = true;
        let body = self.statements(2);
        self.in_body = false;
        let name = self.fresh("rule");
        self.wrap_ruleset(&quantifiers, format!("rule \"{name}\" {guard}\n{locals}begin\n{body}end"));
        self.scope.truncate(before);
    }

    fn property(&mut self, depth: usize) {
        let before = self.scope.len();
        let quantifiers = self.quantifiers(1);
        let name = self.fresh("property");
        let word = match self.random.below(10) {
            0..=4 => "invariant",
            5 => "assume",
            6..=7 => "cover",
            _ => "liveness",
        };
        let condition = self.boolean(2);
        let condition = match word {
            // Plain conditions are violated too soon to be interesting.
            "invariant" | "assume" | "liveness" if self.random.percent(70) => {
                let other = self.boolean(1);
                let third = self.boolean(1);
                format!("({condition} | {other}) | !({third})")
            }
            _ => condition,
        };
        let _ = depth;
        self.wrap_ruleset(&quantifiers, format!("{word} \"{name}\" {condition}"));
        self.scope.truncate(before);
    }

    // Statements.

    fn statements(&mut self, depth: usize) -> String {
        let mut text = String::new();
        // Most locals get a value first.
        for position in 0..self.scope.len() {
            let variable = self.scope[position].clone();
            if variable.name.starts_with('l') && !variable.defined && variable.writable && self.random.percent(85) {
                let _ = writeln!(text, "{} := {};", variable.name, self.contents_of(&variable.ty, &variable.name));
                self.scope[position].defined = true;
            }
        }
        for _ in 0..1 + self.random.below(1 + self.size()) {
            text.push_str(&self.statement(depth));
        }
        text
    }

    fn block(&mut self, depth: usize) -> String {
        let before = self.scope.len();
        let mut text = String::new();
        for _ in 0..self.random.below(3) {
            text.push_str(&self.statement(depth));
        }
        self.scope.truncate(before);
        text
    }

    /// A multiset that can be seen (or written to), and the type of its elements.
    fn multiset(&mut self, writable: bool) -> Option<(String, Ty)> {
        let multisets: Vec<usize> = (0..self.compounds.len())
            .filter(|&number| matches!(self.compounds[number].1, Shape::Multiset(..)))
            .collect();
        let (text, ty, _) =
            self.place(&|ty| matches!(ty, Ty::Compound(number) if multisets.contains(number)), writable)?;
        match ty {
            Ty::Compound(number) => match &self.compounds[number].1 {
                Shape::Multiset(_, element) => Some((text, element.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Runs something with the element at a position of a multiset visible.
    fn with_element<T>(&mut self, multiset: &str, element: Ty, body: impl FnOnce(&mut Self, &str) -> T) -> T {
        let before = self.scope.len();
        let name = self.fresh("b");
        self.scope.push(Variable {
            name: format!("{multiset}[{name}]"),
            ty: element,
            writable: false,
            defined: true,
            value_only: false,
        });
        let result = body(self, &name);
        self.scope.truncate(before);
        result
    }

    fn multiset_statement(&mut self) -> Option<String> {
        if let Some((multiset, position)) = self.chosen.last().cloned()
            && self.random.percent(40)
        {
            return Some(format!("multisetremove({position}, {multiset});\n"));
        }
        let (multiset, element) = self.multiset(true)?;
        Some(match self.random.below(6) {
            0..=3 => {
                let value = if element.is_scalar() {
                    self.value(&element, 1)?
                } else {
                    self.place(&|candidate| *candidate == element, false)?.0
                };
                let add = format!("multisetadd({value}, {multiset});");
                if self.risky() {
                    format!("{add}\n")
                } else {
                    let name = self.fresh("b");
                    format!("if multisetcount({name}: {multiset}, true) < 1 then {add} end;\n")
                }
            }
            4 => self.with_element(&multiset, element, |this, name| {
                format!("multisetremovepred({name}: {multiset}, {});\n", this.boolean(1))
            }),
            _ if self.random.percent(50) => format!("undefine {multiset};\n"),
            _ => format!("clear {multiset};\n"),
        })
    }

    fn statement(&mut self, depth: usize) -> String {
        let deeper = depth > 0;
        if self.options.extensions
            && self.random.percent(20)
            && let Some(text) = self.multiset_statement()
        {
            return text;
        }
        match self.random.below(24) {
            0..=8 => self.assignment(),
            9..=10 if deeper => self.conditional(depth - 1),
            11 if deeper => self.switch(depth - 1),
            12..=13 if deeper => self.for_loop(depth - 1),
            14 if deeper => self.while_loop(depth - 1),
            15 => match self.place(&|_| true, true) {
                Some((text, ..)) if self.risk > 0 || self.random.percent(30) => format!("clear {text};\n"),
                _ => self.assignment(),
            },
            16 => match self.place(&|_| true, true) {
                Some((text, ..)) if self.risky() => format!("undefine {text};\n"),
                _ => self.assignment(),
            },
            17 if self.may_fail_aloud => {
                let (sure, condition) = (self.random.percent(85), self.boolean(1));
                let condition = if sure { format!("({condition}) | !({condition})") } else { condition };
                let message = self.fresh("assertion");
                format!("assert {condition} \"{message}\";\n")
            }
            18 if self.may_fail_aloud && self.random.percent(40) => match self.random.below(3) {
                0 if !self.covers => format!("assume {};\n", self.boolean(1)),
                1 if self.covers => {
                    let message = self.fresh("covered");
                    format!("cover {} \"{message}\";\n", self.boolean(1))
                }
                _ => {
                    let message = self.fresh("error");
                    format!(
                        "if ({}) & ({}) & ({}) then error \"{message}\"; end;\n",
                        self.boolean(1),
                        self.boolean(1),
                        self.boolean(0)
                    )
                }
            },
            19..=20 if deeper => self.alias(depth - 1),
            21..=22 => self.call_statement(),
            23 if self.may_return => format!("if {} then return; end;\n", self.boolean(1)),
            _ => self.assignment(),
        }
    }

    fn assignment(&mut self) -> String {
        let Some((target, ty, _)) = self.place(&|_| true, true) else { return String::new() };
        // A function with side effects is called for its own sake, for a plain variable.
        if self.random.percent(15) && !target.contains(['[', '.']) {
            let impure: Vec<Function> =
                self.functions.iter().filter(|f| !f.pure && f.result.as_ref() == Some(&ty)).cloned().collect();
            if self.in_body && self.may_fail_aloud && !impure.is_empty() {
                let function = self.random.pick(&impure).clone();
                if let Some(call) = self.call(&function, 1) {
                    return format!("{target} := {call};\n");
                }
            }
        }
        let value = self.contents_of(&ty, &target);
        format!("{target} := {value};\n")
    }

    fn conditional(&mut self, depth: usize) -> String {
        let mut text = format!("if {} then\n{}", self.boolean(2), self.block(depth));
        while self.random.percent(30) {
            let _ = write!(text, "elsif {} then\n{}", self.boolean(1), self.block(depth));
        }
        if self.random.percent(50) {
            let _ = write!(text, "else\n{}", self.block(depth));
        }
        text + "end;\n"
    }

    fn switch(&mut self, depth: usize) -> String {
        let ty = self.scalar_type();
        let (subject, cases): (Option<String>, Vec<String>) = match &ty {
            Ty::Boolean => (Some(self.boolean(1)), vec!["true".into(), "false".into()]),
            Ty::Range(low, high) => {
                let cases = (*low..=*high).map(|value| value.to_string()).collect();
                (Some(self.number(1)), cases)
            }
            Ty::Enumeration(number) => (self.value(&ty, 1), self.enumerations[*number].clone()),
            _ => (None, Vec::new()),
        };
        let Some(subject) = subject else { return self.assignment() };
        let mut text = format!("switch {subject}\n");
        for case in cases {
            if self.random.percent(70) {
                let more = if self.random.percent(20) { format!(", {case}") } else { String::new() };
                let _ = write!(text, "case {case}{more}:\n{}", self.block(depth));
            }
        }
        if self.random.percent(50) {
            let _ = write!(text, "else\n{}", self.block(depth));
        }
        text + "end;\n"
    }

    /// A range of steps for a loop or quantifier, and the values it takes.
    fn steps(&mut self) -> (String, Ty) {
        let (low, high) = self.bounds();
        match self.random.below(5) {
            0 => (format!("{high} to {low} by -1"), Ty::Range(low, high)),
            1 => (format!("{low} to {high} by 2"), Ty::Range(low, high)),
            2 => {
                let start = self.in_range(low, high, 0);
                (format!("{start} to {high}"), Ty::Range(low, high))
            }
            _ => (format!("{low} to {high}"), Ty::Range(low, high)),
        }
    }

    fn for_loop(&mut self, depth: usize) -> String {
        let name = self.fresh_or_hiding("i");
        let (head, ty) = if self.random.percent(60) || !name.starts_with('i') {
            let ty = self.index_type();
            (format!("{name}: {}", self.text(&ty)), ty)
        } else {
            let (steps, ty) = self.steps();
            (format!("{name} := {steps}"), ty)
        };
        let before = self.scope.len();
        self.scope.push(Variable { name, ty, writable: false, defined: true, value_only: false });
        let body = self.block(depth);
        self.scope.truncate(before);
        format!("for {head} do\n{body}end;\n")
    }

    fn while_loop(&mut self, depth: usize) -> String {
        // Its counter is a local that nothing else writes to.
        let counter = self.scope.iter().position(|variable| {
            variable.name.starts_with('l') && variable.writable && variable.defined && variable.ty.is_number()
        });
        let Some(position) = counter else { return self.for_loop(depth) };
        let Variable { name, ty: Ty::Range(low, high), .. } = self.scope[position].clone() else {
            return self.for_loop(depth);
        };
        self.scope[position].writable = false;
        let condition = self.boolean(1);
        let body = self.block(depth);
        self.scope[position].writable = true;
        format!("{name} := {low};\nwhile {name} < {high} & ({condition}) do\n{name} := {name} + 1;\n{body}end;\n")
    }

    fn alias(&mut self, depth: usize) -> String {
        let before = self.scope.len();
        let name = self.fresh("a");
        let (text, variable) = if self.random.percent(70) {
            let writable = self.random.percent(80);
            let Some((text, ty, defined)) = self.place(&|_| true, writable) else { return self.assignment() };
            (text, Variable { name: name.clone(), ty, writable, defined, value_only: false })
        } else {
            let ty = self.scalar_type();
            let Some(value) = self.value(&ty, 2) else { return self.assignment() };
            // In parentheses or not: a plain variable would be an alias to write through.
            (value, Variable { name: name.clone(), ty, writable: false, defined: true, value_only: true })
        };
        self.scope.push(variable);
        let body = self.block(depth);
        self.scope.truncate(before);
        format!("alias {name}: {text} do\n{body}end;\n")
    }

    fn call_statement(&mut self) -> String {
        let callable: Vec<Function> = self.functions.iter().filter(|function| !function.pure).cloned().collect();
        if callable.is_empty() || !self.may_fail_aloud {
            return self.assignment();
        }
        let function = self.random.pick(&callable).clone();
        match self.call(&function, 1) {
            Some(call) => format!("{call};\n"),
            None => self.assignment(),
        }
    }

    fn call(&mut self, function: &Function, depth: usize) -> Option<String> {
        let mut arguments = Vec::new();
        for (by_reference, ty) in &function.parameters {
            arguments.push(if *by_reference {
                self.place(&|candidate| candidate == ty, true)?.0
            } else if ty.is_scalar() {
                // A plain variable hands on that it has no value.
                match self.place(&|candidate| candidate == ty, false) {
                    Some((text, ..)) if self.random.percent(40) => text,
                    _ => self.value(ty, depth)?,
                }
            } else {
                let first = self.place(&|candidate| candidate == ty, false)?.0;
                if function.pure && self.random.percent(15) {
                    let second = self.place(&|candidate| candidate == ty, false)?.0;
                    format!("({} ? {first} : {second})", self.boolean(0))
                } else {
                    first
                }
            });
        }
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    // Expressions.

    /// The ways into a type, each with the type it leads to.
    fn paths(&self, ty: &Ty) -> Vec<(Vec<PathStep>, Ty)> {
        let mut paths = vec![(Vec::new(), ty.clone())];
        if let Ty::Compound(number) = ty {
            let parts: Vec<(PathStep, Ty)> = match &self.compounds[*number].1 {
                Shape::Array(index, element) => vec![(PathStep::Index(index.clone()), element.clone())],
                Shape::Record(fields) => {
                    fields.iter().map(|(name, ty)| (PathStep::Field(name.clone()), ty.clone())).collect()
                }
                // Elements are only visible where a position is bound.
                Shape::Multiset(..) => Vec::new(),
            };
            for (step, part) in parts {
                for (rest, leaf) in self.paths(&part) {
                    paths.push((std::iter::once(step.clone()).chain(rest).collect(), leaf));
                }
            }
        }
        paths
    }

    /// A place of a wanted type: its text, its type, and whether it probably has a value.
    fn place(&mut self, wanted: &dyn Fn(&Ty) -> bool, writable: bool) -> Option<(String, Ty, bool)> {
        let mut candidates = Vec::new();
        for variable in &self.visible() {
            if variable.writable || !writable {
                for (path, ty) in self.paths(&variable.ty) {
                    if wanted(&ty) {
                        candidates.push((variable.clone(), path, ty));
                    }
                }
            }
        }
        if candidates.is_empty() {
            return None;
        }
        // Some paths cannot be taken: there may be no value of a scalarset at hand.
        let first = self.random.below(candidates.len());
        candidates.rotate_left(first);
        candidates.into_iter().find_map(|(variable, path, ty)| {
            let mut text = variable.name;
            for step in path {
                match step {
                    PathStep::Field(name) => {
                        let _ = write!(text, ".{name}");
                    }
                    PathStep::Index(index) => {
                        let _ = write!(text, "[{}]", self.index(&index)?);
                    }
                }
            }
            Some((text, ty, variable.defined))
        })
    }

    fn index(&mut self, ty: &Ty) -> Option<String> {
        if let Ty::Range(low, high) = *ty {
            if self.risky() {
                return Some(self.number(1));
            }
            let fitting: Vec<String> = self
                .visible()
                .iter()
                .filter(|variable| match variable.ty {
                    Ty::Range(from, to) => variable.defined && low <= from && to <= high,
                    _ => false,
                })
                .map(|variable| variable.name.clone())
                .collect();
            if !fitting.is_empty() && self.random.percent(75) {
                return Some(self.random.pick(&fitting).clone());
            }
            return Some(self.random.between(low, high).to_string());
        }
        self.leaf(ty)
    }

    /// A variable or constant of a scalar type.
    fn leaf(&mut self, ty: &Ty) -> Option<String> {
        let careless = self.risky();
        let defined: Vec<String> = self
            .visible()
            .iter()
            .filter(|variable| variable.ty == *ty && (variable.defined || careless))
            .map(|variable| variable.name.clone())
            .collect();
        if !defined.is_empty() && (self.random.percent(60) || matches!(ty, Ty::Scalarset(_))) {
            return Some(self.random.pick(&defined).clone());
        }
        match ty {
            Ty::Boolean => Some(if self.random.percent(50) { "true" } else { "false" }.into()),
            Ty::Range(low, high) => Some(self.random.between(*low, *high).to_string()),
            Ty::Enumeration(number) => Some(self.random.pick(&self.enumerations[*number]).clone()),
            Ty::Union(number) => {
                let member = self.random.pick(&self.unions[*number]).clone();
                self.leaf(&member)
            }
            Ty::Scalarset(_) | Ty::Compound(_) => None,
        }
    }

    /// A value of a scalar type.
    fn value(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        match ty {
            Ty::Boolean => Some(self.boolean(depth)),
            Ty::Range(low, high) => {
                if self.risky() {
                    return Some(self.number(depth));
                }
                Some(self.in_range(*low, *high, depth))
            }
            Ty::Enumeration(_) | Ty::Scalarset(_) | Ty::Union(_) => {
                // The branches would have to be values of the same member of a union.
                if depth > 0 && !matches!(ty, Ty::Union(_)) && self.random.percent(20) {
                    let (condition, one, other) = (self.boolean(0), self.value(ty, 0)?, self.value(ty, 0)?);
                    return Some(format!("({condition} ? {one} : {other})"));
                }
                if depth > 0
                    && self.random.percent(20)
                    && let Some(call) = self.call_for(ty, depth - 1)
                {
                    return Some(call);
                }
                if self.random.percent(50)
                    && let Some((text, _, true)) = self.place(&|candidate| candidate == ty, false)
                {
                    return Some(text);
                }
                self.leaf(ty)
            }
            Ty::Compound(_) => None,
        }
    }

    /// What can be assigned to a place of a type; if nothing is at hand, what is given.
    fn contents_of(&mut self, ty: &Ty, otherwise: &str) -> String {
        if ty.is_scalar() {
            if let Some(value) = self.value(ty, 2) {
                return value;
            }
            // Nothing of this type is at hand, as happens with scalarsets: whatever there is.
            return match self.place(&|candidate| candidate == ty, false) {
                Some((text, ..)) => text,
                None => otherwise.into(),
            };
        }
        if self.random.percent(30)
            && let Some(call) = self.call_for(ty, 1)
        {
            return call;
        }
        let Some((one, ..)) = self.place(&|candidate| candidate == ty, false) else { return otherwise.into() };
        if !self.holds_multiset(ty)
            && self.random.percent(10)
            && let Some((other, ..)) = self.place(&|candidate| candidate == ty, false)
        {
            return format!("({} ? {one} : {other})", self.boolean(0));
        }
        one
    }

    /// A call of a function without side effects for a result of a type.
    fn call_for(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        if !ty.is_scalar() && !self.in_body {
            return None;
        }
        let fitting: Vec<Function> = self
            .functions
            .iter()
            .filter(|function| function.pure && function.result.as_ref() == Some(ty))
            .cloned()
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let function = self.random.pick(&fitting).clone();
        self.call(&function, depth)
    }

    /// A number between two.
    fn in_range(&mut self, low: i64, high: i64, depth: usize) -> String {
        if depth == 0 || self.random.percent(30) {
            let fits = |ty: &Ty| matches!(*ty, Ty::Range(from, to) if low <= from && to <= high);
            if self.random.percent(50)
                && let Some((text, _, true)) = self.place(&fits, false)
            {
                return text;
            }
            return self.random.between(low, high).to_string();
        }
        let size = high - low + 1;
        let number = self.number(depth - 1);
        match self.random.below(3) {
            0 => format!("(({number}) % {size} + {size}) % {size} + {low}"),
            1 => format!("(({number}) >= {low} & ({number}) <= {high} ? ({number}) : {low})"),
            _ => {
                let other = self.random.between(low, high);
                format!("({} ? {other} : {})", self.boolean(depth - 1), self.in_range(low, high, depth - 1))
            }
        }
    }

    /// Any number.
    fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            if !self.constants.is_empty() && self.random.percent(15) {
                return self.random.pick(&self.constants).0.clone();
            }
            let careless = self.risky();
            return match self.place(&Ty::is_number, false) {
                Some((text, _, defined)) if (defined || careless) && self.random.percent(70) => text,
                _ => self.random.between(-2, 4).to_string(),
            };
        }
        let (left, right) = (self.number(depth - 1), self.number(depth - 1));
        match self.random.below(16) {
            0..=2 => format!("{left} + {right}"),
            3..=4 => format!("({left}) - ({right})"),
            5 => format!("({left}) * ({right})"),
            // Without parentheses, so that precedences matter.
            6 => format!("({left} + {right} * ({left}))"),
            7 => format!("({left}) / {}", self.divisor(&right)),
            8 => format!("({left}) % {}", self.divisor(&right)),
            9 => format!("({} ? {left} : {right})", self.boolean(depth - 1)),
            10 => format!("-({left})"),
            11 => format!("(({left} + 0) & ({right}))"),
            12 => match self.random.below(3) {
                0 => format!("(({left} + 0) | ({right}))"),
                1 => format!("(({left}) ^ ({right}))"),
                _ => format!("~({left})"),
            },
            13 => match self.random.below(2) {
                0 => format!("(({left}) << {})", self.random.below(3)),
                _ => format!("(({left}) >> {})", self.random.below(3)),
            },
            14 => {
                let ty = Ty::Range(0, 3);
                self.call_for(&ty, depth - 1).unwrap_or(left)
            }
            _ => left,
        }
    }

    fn divisor(&mut self, number: &str) -> String {
        if self.risky() { format!("({number})") } else { (1 + self.random.below(3)).to_string() }
    }

    /// Any condition.
    fn boolean(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(4) {
                0 => {
                    // Only variables can be undefined.
                    let hidden: Vec<Variable> = self.scope.clone();
                    self.scope.retain(|variable| !variable.value_only);
                    let place = self.place(&Ty::is_scalar, false);
                    self.scope = hidden;
                    match place {
                        Some((text, ..)) => format!("isundefined({text})"),
                        None => "true".into(),
                    }
                }
                1 => self.comparison(0),
                _ => match self.place(&|ty| *ty == Ty::Boolean, false) {
                    Some((text, _, true)) => text,
                    _ => self.comparison(0),
                },
            };
        }
        match self.random.below(16) {
            0..=1 => format!("({} & {})", self.boolean(depth - 1), self.boolean(depth - 1)),
            2..=3 => format!("({} | {})", self.boolean(depth - 1), self.boolean(depth - 1)),
            4 => {
                let (one, two, three) = (self.boolean(0), self.boolean(0), self.boolean(0));
                // Without inner parentheses, so that precedences matter.
                match self.random.below(4) {
                    0 => format!("({one} & {two} | {three})"),
                    1 => format!("({one} | {two} & {three})"),
                    2 => format!("({one} | {two} -> {three} & {one})"),
                    _ => format!("({one} || {two} && {three} | {one})"),
                }
            }
            5 => format!("({} -> {})", self.boolean(depth - 1), self.boolean(depth - 1)),
            6 => format!("!({})", self.boolean(depth - 1)),
            7 => format!("!{}", self.boolean(0)),
            8..=9 => {
                let before = self.scope.len();
                let name = self.fresh_or_hiding("b");
                let word = if self.random.percent(50) { "forall" } else { "exists" };
                let (head, ty) = if self.random.percent(75) || !name.starts_with('b') {
                    let ty = self.index_type();
                    (format!("{name}: {}", self.text(&ty)), ty)
                } else {
                    let (steps, ty) = self.steps();
                    (format!("{name} := {steps}"), ty)
                };
                self.scope.push(Variable { name, ty, writable: false, defined: true, value_only: false });
                let body = self.boolean(depth - 1);
                self.scope.truncate(before);
                format!("{word} {head} do {body} end")
            }
            10 => {
                format!("({} ? {} : {})", self.boolean(depth - 1), self.boolean(depth - 1), self.boolean(depth - 1))
            }
            11 => self.call_for(&Ty::Boolean, depth - 1).unwrap_or_else(|| self.comparison(depth)),
            13 if self.options.extensions => {
                if self.random.percent(50)
                    && let Some((multiset, element)) = self.multiset(false)
                {
                    return self.with_element(&multiset, element, |this, name| {
                        format!("(multisetcount({name}: {multiset}, {}) > 0)", this.boolean(depth - 1))
                    });
                }
                let Some((text, Ty::Union(number), true)) = self.place(&|ty| matches!(ty, Ty::Union(_)), false) else {
                    return self.comparison(depth);
                };
                let member = self.random.pick(&self.unions[number]).clone();
                format!("ismember({text}, {})", self.text(&member))
            }
            12 => {
                // Two of the same compound type, compared cell by cell.
                let Some((one, ty, _)) = self.place(&|ty| !ty.is_scalar(), false) else {
                    return self.comparison(depth);
                };
                if self.holds_multiset(&ty) {
                    return self.comparison(depth);
                }
                let Some((other, ..)) = self.place(&|candidate| *candidate == ty, false) else {
                    return self.comparison(depth);
                };
                format!("({one} {} {other})", if self.random.percent(50) { "=" } else { "!=" })
            }
            _ => self.comparison(depth),
        }
    }

    fn comparison(&mut self, depth: usize) -> String {
        let deeper = depth.saturating_sub(1);
        if self.random.percent(40) {
            let ty = self.scalar_type();
            // Values of different members of a union cannot be compared with each other.
            let one = match ty {
                Ty::Union(_) => self.place(&|candidate| *candidate == ty, false).map(|(text, ..)| text),
                _ => self.leaf(&ty),
            };
            if !ty.is_number()
                && let (Some(one), Some(other)) = (one, self.value(&ty, deeper))
            {
                let operator = if self.random.percent(50) { "=" } else { "!=" };
                return format!("(({one}) {operator} ({other}))");
            }
        }
        let operator = *self.random.pick(&["=", "!=", "<", "<=", ">", ">="]);
        format!("({} {operator} {})", self.number(deeper), self.number(deeper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_program() {
        let options = ProgramOptions::default();
        assert_eq!(random_program(7, &options), random_program(7, &options));
        assert_ne!(random_program(7, &options), random_program(8, &options));
    }

    #[test]
    fn smaller_sizes_give_shorter_programs() {
        let length = |size| -> usize {
            let options = ProgramOptions { size, ..ProgramOptions::default() };
            (0..50).map(|seed| random_program(seed, &options).len()).sum()
        };
        assert!(length(1) < length(2) && length(2) < length(4));
    }
}
