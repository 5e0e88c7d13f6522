//! Types, variables, functions, rules and properties.

use std::fmt::Write as _;

use super::{Function, Generator, Shape, Ty, Variable};

impl Generator {
    pub(super) fn declare_types(&mut self) {
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

    pub(super) fn bounds(&mut self) -> (i64, i64) {
        *self.random.pick(&[(0, 1), (0, 2), (0, 3), (1, 3), (-1, 1), (2, 4), (0, 4)])
    }

    pub(super) fn scalar_type(&mut self) -> Ty {
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
    pub(super) fn index_type(&mut self) -> Ty {
        match self.scalar_type() {
            Ty::Range(low, high) if high - low > 2 => Ty::Range(low, low + 2),
            other => other,
        }
    }
    pub(super) fn any_type(&mut self) -> Ty {
        if !self.compounds.is_empty() && self.random.percent(50) {
            return Ty::Compound(self.random.below(self.compounds.len()));
        }
        self.scalar_type()
    }

    /// A type without a multiset in it.
    pub(super) fn plain_type(&mut self) -> Ty {
        match self.any_type() {
            ty if self.holds_multiset(&ty) => self.scalar_type(),
            ty => ty,
        }
    }
    pub(super) fn holds_multiset(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Compound(number) => match &self.compounds[*number].1 {
                Shape::Multiset(..) => true,
                Shape::Array(_, element) => self.holds_multiset(element),
                Shape::Record(fields) => fields.iter().any(|(_, ty)| self.holds_multiset(ty)),
            },
            _ => false,
        }
    }

    /// The text of a type.
    pub(super) fn text(&self, ty: &Ty) -> String {
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

    /// The number of possible contents, including undefined.
    pub(super) fn contents(&self, ty: &Ty) -> u64 {
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

    pub(super) fn declare_variables(&mut self) {
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

    pub(super) fn declare_functions(&mut self) {
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
                // Visibly more than a computation: C compilers drop a call of a function that rumur considers pure if
                // its result is not used, including its run-time errors.
                let _ = writeln!(body, "if false then clear {}; end;", global.name);
            }
            if let Some(ty) = &result {
                let value = match ty {
                    // rumur does not check the range of a returned value.
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
    pub(super) fn declare_locals(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(3) {
            let ty = self.any_type();
            let name = self.fresh("l");
            let _ = writeln!(text, "var {name}: {};", self.text(&ty));
            self.scope.push(Variable { name, ty, writable: true, defined: false, value_only: false });
        }
        text
    }

    pub(super) fn start_state(&mut self) {
        let quantifiers = self.quantifiers(1);
        let locals = self.declare_locals();
        self.in_body = true;
        self.may_return = false;
        let mut body = String::new();
        // Nothing has a value yet, and functions expect everything to have one.
        let functions = std::mem::take(&mut self.functions);
        let expected: Vec<bool> = self.scope.iter().map(|variable| variable.defined).collect();
        let is_global = |variable: &Variable| variable.name.starts_with('v');
        for variable in self.scope.iter_mut().filter(|variable| is_global(variable)) {
            variable.defined = false;
        }
        for (position, &expected) in expected.iter().enumerate() {
            let variable = self.scope[position].clone();
            if is_global(&variable) && (expected || self.random.percent(30)) {
                body.push_str(&self.first_value(&variable));
                self.scope[position].defined = true;
            }
        }
        self.functions = functions;
        for (variable, expected) in self.scope.iter_mut().zip(expected) {
            variable.defined = expected;
        }
        if self.random.percent(40) {
            body.push_str(&self.statements(1));
        }
        self.in_body = false;
        let name = if self.random.percent(50) { "\"begin\" " } else { "" };
        self.wrap_ruleset(&quantifiers, format!("startstate {name}\n{locals}begin\n{body}end"));
    }

    /// At most that many quantifiers, whose variables are visible from now on.
    pub(super) fn quantifiers(&mut self, most: usize) -> Vec<String> {
        let mut quantifiers = Vec::new();
        for _ in 0..self.random.below(most + 1) {
            let mut ty = self.index_type();
            if self.options.extensions && !self.prioritised && self.random.percent(25) {
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

    pub(super) fn wrap_ruleset(&mut self, quantifiers: &[String], text: String) {
        let _ = if quantifiers.is_empty() {
            writeln!(self.output, "{text};")
        } else {
            writeln!(self.output, "ruleset {} do\n{text};\nend;", quantifiers.join("; "))
        };
    }

    /// A rule, possibly with others in a ruleset or under an alias.
    pub(super) fn rules(&mut self, depth: usize) {
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
        let priority = self.priority();
        self.wrap_ruleset(&quantifiers, format!("rule {priority}\"{name}\" {guard}\n{locals}begin\n{body}end"));
        self.scope.truncate(before);
    }

    /// The priority of a rule, with a space behind it, if it has one.
    pub(super) fn priority(&mut self) -> String {
        if self.prioritised && self.random.percent(60) {
            return format!("{} ", self.random.below(4));
        }
        String::new()
    }

    /// A rule that sets some scalar to any value of its type, so that there is some behaviour.
    pub(super) fn setter(&mut self) {
        let Some((target, ty, _)) = self.place(&Ty::is_scalar, true) else { return };
        let value = self.fresh("q");
        let quantifier = format!("{value}: {}", self.text(&ty));
        let guard = if self.random.percent(40) { format!("{} ==>", self.boolean(1)) } else { String::new() };
        let name = self.fresh("rule");
        let priority = self.priority();
        self.wrap_ruleset(
            &[quantifier],
            format!("rule {priority}\"{name}\" {guard}\nbegin\n{target} := {value};\nend"),
        );
    }

    pub(super) fn property(&mut self) {
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
            "invariant" | "assume" | "liveness" if self.random.percent(85) => {
                let (other, third, fourth) = (self.boolean(1), self.boolean(1), self.boolean(0));
                format!("({condition} | {other}) | !({third}) | {fourth}")
            }
            _ => condition,
        };
        self.wrap_ruleset(&quantifiers, format!("{word} \"{name}\" {condition}"));
        self.scope.truncate(before);
    }
}
