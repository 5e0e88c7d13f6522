//! Statements.

use std::fmt::Write as _;

use super::{Function, Generator, Shape, Ty, Variable};

impl Generator {
    pub(super) fn statements(&mut self, depth: usize) -> String {
        let mut text = String::new();
        // Most locals get a value first.
        for position in 0..self.scope.len() {
            let variable = self.scope[position].clone();
            if variable.name.starts_with('l') && !variable.defined && variable.writable && self.random.percent(90) {
                text.push_str(&self.first_value(&variable));
                self.scope[position].defined = true;
            }
        }
        for _ in 0..1 + self.random.below(1 + self.size()) {
            text.push_str(&self.statement(depth));
        }
        text
    }

    /// Gives a variable its first value.
    pub(super) fn first_value(&mut self, variable: &Variable) -> String {
        let name = &variable.name;
        let value = self.contents_of(&variable.ty, "");
        if value.is_empty() || self.random.percent(30) {
            return format!("clear {name};\n");
        }
        format!("{name} := {value};\n")
    }

    pub(super) fn block(&mut self, depth: usize) -> String {
        let before = self.scope.len();
        let mut text = String::new();
        for _ in 0..self.random.below(3) {
            text.push_str(&self.statement(depth));
        }
        self.scope.truncate(before);
        text
    }

    /// A multiset that is visible (or writable), and the type of its elements.
    pub(super) fn multiset(&mut self, writable: bool) -> Option<(String, Ty)> {
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

    /// Runs a function with the element at a position of a multiset visible.
    pub(super) fn with_element<T>(
        &mut self,
        multiset: &str,
        element: Ty,
        body: impl FnOnce(&mut Self, &str) -> T,
    ) -> T {
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

    pub(super) fn multiset_statement(&mut self) -> Option<String> {
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
                    self.known_place(&|candidate| *candidate == element)?.0
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

    pub(super) fn statement(&mut self, depth: usize) -> String {
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
                Some((text, ..)) if self.says_undefined && (self.risky() || self.random.percent(10)) => {
                    format!("{text} := undefined;\n")
                }
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

    pub(super) fn assignment(&mut self) -> String {
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

    pub(super) fn conditional(&mut self, depth: usize) -> String {
        let mut text = format!("if {} then\n{}", self.boolean(2), self.block(depth));
        while self.random.percent(30) {
            let _ = write!(text, "elsif {} then\n{}", self.boolean(1), self.block(depth));
        }
        if self.random.percent(50) {
            let _ = write!(text, "else\n{}", self.block(depth));
        }
        text + "end;\n"
    }

    pub(super) fn switch(&mut self, depth: usize) -> String {
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
    pub(super) fn steps(&mut self) -> (String, Ty) {
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

    pub(super) fn for_loop(&mut self, depth: usize) -> String {
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

    pub(super) fn while_loop(&mut self, depth: usize) -> String {
        // Its counter is a local that nothing else writes.
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

    pub(super) fn alias(&mut self, depth: usize) -> String {
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

    pub(super) fn call_statement(&mut self) -> String {
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

    pub(super) fn call(&mut self, function: &Function, depth: usize) -> Option<String> {
        let mut arguments = Vec::new();
        for (by_reference, ty) in &function.parameters {
            arguments.push(if *by_reference {
                self.place(&|candidate| candidate == ty, true)?.0
            } else if self.says_undefined && !self.holds_multiset(ty) && (self.risky() || self.random.percent(4)) {
                "undefined".into()
            } else if ty.is_scalar() {
                // A plain variable passes on that it is undefined.
                match self.known_place(&|candidate| candidate == ty) {
                    Some((text, _)) if self.random.percent(40) => text,
                    _ => self.value(ty, depth)?,
                }
            } else {
                let first = self.known_place(&|candidate| candidate == ty)?.0;
                if function.pure && self.random.percent(15) {
                    let second = self.known_place(&|candidate| candidate == ty)?.0;
                    format!("({} ? {first} : {second})", self.boolean(0))
                } else {
                    first
                }
            });
        }
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }
}
