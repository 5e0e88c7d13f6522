//! Places, calls and expressions.

use std::fmt::Write as _;

use super::{Function, Generator, PathStep, Shape, Ty, Variable};

impl Generator {
    /// The paths into a type, each with the type it leads to.
    pub(super) fn paths(&self, ty: &Ty) -> Vec<(Vec<PathStep>, Ty)> {
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

    /// A place of a wanted type that probably has a value: its text and its type.
    pub(super) fn known_place(&mut self, wanted: &dyn Fn(&Ty) -> bool) -> Option<(String, Ty)> {
        let careless = self.risky();
        let everything = self.scope.clone();
        self.scope = self.visible();
        self.scope.retain(|variable| variable.defined || careless);
        let place = self.place(wanted, false);
        self.scope = everything;
        place.map(|(text, ty, _)| (text, ty))
    }

    /// A place of a wanted type: its text, its type, and whether it probably has a value.
    pub(super) fn place(&mut self, wanted: &dyn Fn(&Ty) -> bool, writable: bool) -> Option<(String, Ty, bool)> {
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
        // Some paths cannot be taken: there may be no value of a scalarset available.
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

    pub(super) fn index(&mut self, ty: &Ty) -> Option<String> {
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
    pub(super) fn leaf(&mut self, ty: &Ty) -> Option<String> {
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
    pub(super) fn value(&mut self, ty: &Ty, depth: usize) -> Option<String> {
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
                    && let Some((text, _)) = self.known_place(&|candidate| candidate == ty)
                {
                    return Some(text);
                }
                self.leaf(ty)
            }
            Ty::Compound(_) => None,
        }
    }

    /// Something that can be assigned to a place of a type; if nothing is available, `otherwise`.
    pub(super) fn contents_of(&mut self, ty: &Ty, otherwise: &str) -> String {
        if ty.is_scalar() {
            if let Some(value) = self.value(ty, 2) {
                return value;
            }
            // Nothing of this type is available, as can happen with scalarsets: use whatever there is.
            return self.known_place(&|candidate| candidate == ty).map_or_else(|| otherwise.into(), |(text, _)| text);
        }
        if self.random.percent(30)
            && let Some(call) = self.call_for(ty, 1)
        {
            return call;
        }
        let Some((one, _)) = self.known_place(&|candidate| candidate == ty) else { return otherwise.into() };
        if !self.holds_multiset(ty)
            && self.random.percent(10)
            && let Some((other, _)) = self.known_place(&|candidate| candidate == ty)
        {
            return format!("({} ? {one} : {other})", self.boolean(0));
        }
        one
    }

    /// A call of a function without side effects for a result of a type.
    pub(super) fn call_for(&mut self, ty: &Ty, depth: usize) -> Option<String> {
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
    pub(super) fn in_range(&mut self, low: i64, high: i64, depth: usize) -> String {
        if depth == 0 || self.random.percent(30) {
            let fits = |ty: &Ty| matches!(*ty, Ty::Range(from, to) if low <= from && to <= high);
            if self.random.percent(50)
                && let Some((text, _)) = self.known_place(&fits)
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
    pub(super) fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            if !self.constants.is_empty() && self.random.percent(15) {
                return self.random.pick(&self.constants).0.clone();
            }
            return match self.known_place(&Ty::is_number) {
                Some((text, _)) if self.random.percent(70) => text,
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

    pub(super) fn divisor(&mut self, number: &str) -> String {
        if self.risky() { format!("({number})") } else { (1 + self.random.below(3)).to_string() }
    }

    /// Any condition.
    pub(super) fn boolean(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(4) {
                0 => {
                    // Only variables can be undefined.
                    let hidden: Vec<Variable> = self.scope.clone();
                    self.scope.retain(|variable| !variable.value_only);
                    let place = self.place(&Ty::is_scalar, false);
                    self.scope = hidden;
                    match place {
                        Some((text, ..)) if self.says_undefined => match self.random.below(3) {
                            0 => format!("({text} = undefined)"),
                            1 => format!("(undefined != {text})"),
                            _ => format!("isundefined({text})"),
                        },
                        Some((text, ..)) => format!("isundefined({text})"),
                        None => "true".into(),
                    }
                }
                1 => self.comparison(0),
                _ => match self.known_place(&|ty| *ty == Ty::Boolean) {
                    Some((text, _)) => text,
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
                let Some((text, Ty::Union(number))) = self.known_place(&|ty| matches!(ty, Ty::Union(_))) else {
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

    pub(super) fn comparison(&mut self, depth: usize) -> String {
        let deeper = depth.saturating_sub(1);
        if self.random.percent(40) {
            let ty = self.scalar_type();
            // Values of different members of a union cannot be compared with each other.
            let one = match ty {
                Ty::Union(_) => self.known_place(&|candidate| *candidate == ty).map(|(text, _)| text),
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
