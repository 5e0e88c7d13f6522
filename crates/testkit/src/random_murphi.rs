//! Random Murphi programs: valid in rumur's dialect, with few states by construction, and with a fair share of mistakes
//! in them. The same seed and options give the same program.
//!
//! Behaviour that rumur leaves to the C compiler is avoided, so that there is one right answer: functions with side
//! effects are only called on their own, and a choice between arrays or records is only passed to functions without
//! side effects. Rumur's own bugs are avoided, too: rulesets over steps, cover properties without a name, compound
//! results in guards, results out of range.

mod declarations;
mod expressions;
mod statements;

use std::fmt::Write as _;

pub use quotient_language_testkit::random::Random;

/// Options for the programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOptions {
    /// The size of the program, from 1 on.
    pub size: u32,
    /// An upper bound on the number of states.
    pub most_states: u64,
    /// Whether to use what rumur does not know: unions, multisets, parameters of array and record
    /// types, `undefined` as a value, priorities of rules.
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
    /// Whether it denotes a value and not a variable.
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
    /// The probability of a mistake, in per cent.
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
    /// Whether assertions and similar statements are allowed here: not in functions that expressions call.
    may_fail_aloud: bool,
    /// Whether there may be cover statements, or else assume statements: rumur also counts covers of a step that is
    /// dropped later.
    covers: bool,
    /// Whether the body may end early with a plain `return`.
    may_return: bool,
    names: usize,
    /// The multisets and positions chosen around the rule.
    chosen: Vec<(String, String)>,
    /// Whether `undefined` means no value in this program.
    says_undefined: bool,
    /// Whether rules have priorities.
    prioritised: bool,
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
        let says_undefined = options.extensions && random.percent(40);
        let prioritised = options.extensions && random.percent(25);
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
            says_undefined,
            prioritised,
        }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
    /// A new name, or occasionally that of a variable, which it then hides.
    fn fresh_or_hiding(&mut self, prefix: &str) -> String {
        // The first variable stays visible, and texts with paths in them rely on the names they use.
        if !self.options.extensions && self.scope.len() > 1 && self.random.percent(7) {
            let position = 1 + self.random.below(self.scope.len() - 1);
            let name = self.scope[position].name.clone();
            if name.starts_with(['v', 'q']) {
                return name;
            }
        }
        self.fresh(prefix)
    }
    /// The variables that are not hidden.
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
        for _ in 0..self.random.below(4) {
            self.setter();
            self.scope.truncate(globals);
        }
        if self.random.percent(70) && globals > 0 {
            // An action for every state, so that not all runs end in a deadlock.
            let choice = self.random.below(globals);
            let Variable { name, ty, .. } = self.scope[choice].clone();
            let action = match ty {
                Ty::Boolean => format!("{name} := isundefined({name}) ? true : !{name};"),
                Ty::Range(low, high) => {
                    format!("{name} := isundefined({name}) ? {low} : ({name} < {high} ? {name} + 1 : {low});")
                }
                _ => format!("clear {name};"),
            };
            let priority = self.priority();
            let _ = writeln!(self.output, "rule {priority}\"always\" begin {action} end;");
        }
        for _ in 0..self.random.below(1 + self.size()) {
            self.property();
            self.scope.truncate(globals);
        }
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
