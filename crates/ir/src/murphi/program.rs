//! The program as a whole: its sections in order.

use std::fmt::Write as _;
use std::rc::Rc;

use quotient_temporal::Atom;
use quotient_temporal::print::Notation;
use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::{Bounds, declared_numbers, escapes, value_type};
use super::generated::write_declarations;
use super::kinds::Kinds;
use super::multisets::Reset;
use super::names::Names;
use super::owner::Owner;
use super::scope::{Binding, Lines, Scope};
use super::statements::{is_true, quoted, written_locals};
use super::walk::{Node, called_functions, visit_nodes, visit_statements};
use super::{PrintError, PrintOptions};
use crate::expression::{Expr, Iteration, Root};
use crate::formula::{Temporal, TemporalClaim};
use crate::index::{FunctionId, LocalId, PlaceId, PropertyId, TableIndex, TypeId, VariableId};
use crate::model::{Function, LocalKind, Model, Parameter, Property, PropertyKind, Rule, Start};
use crate::ownership::Fairness;
use crate::statement::{Statement, StatementKind};
use crate::text::expression_text;

/// The greatest number of parameters that an array or record parameter is split into.
const MOST_CELLS: u64 = 4096;

/// The state of printing one model.
pub(super) struct Printer<'m> {
    pub(super) model: &'m Model,
    pub(super) options: &'m PrintOptions,
    pub(super) kinds: Kinds,
    pub(super) names: Names,
    /// The name of the type of all integers, once it is needed.
    pub(super) wide_integer: Option<String>,
    /// The generated functions that are not yet part of the program, each after those it calls.
    pub(super) helpers: Vec<String>,
    /// The names of the generated functions, by purpose.
    pub(super) generated: FxHashMap<String, String>,
    /// The names of the record types of the positions of multisets.
    pub(super) position_types: FxHashMap<TypeId, String>,
    /// The names and printed types of the variables that are never written to, by type: Murphi has no other way
    /// to pass no value.
    undefined_variables: Vec<(TypeId, String, String)>,
    /// The nesting depth of generated functions being written.
    pub(super) nesting: usize,
    /// The nesting depth of expressions being written.
    pub(super) running: usize,
    /// The functions that change only their own locals.
    pure: FxHashSet<FunctionId>,
    /// The properties of cover statements.
    cover_statements: FxHashSet<PropertyId>,
}

/// The finished parts of the program. Functions come before rules, since they must be declared before they are called.
struct Sections {
    functions: Vec<String>,
    rules: Vec<String>,
    bytes: usize,
}

impl<'m> Printer<'m> {
    pub(super) fn new(model: &'m Model, options: &'m PrintOptions) -> Self {
        let kinds = Kinds::new(model);
        let names = Names::new(model, &kinds);
        Self {
            model,
            options,
            kinds,
            names,
            wide_integer: None,
            helpers: Vec::new(),
            generated: FxHashMap::default(),
            position_types: FxHashMap::default(),
            undefined_variables: Vec::new(),
            nesting: 0,
            running: 0,
            pure: pure_functions(model),
            cover_statements: FxHashSet::default(),
        }
    }

    pub(super) fn print(mut self) -> Result<String, PrintError> {
        let model = self.model;
        self.find_cover_statements()?;
        let types = self.type_declarations()?;
        let constants = self.constant_declarations();
        let mut variables = Lines::new(1);
        for (variable, entry) in model.variables.iter_enumerated() {
            if entry.ty == Model::INTEGER {
                return Err(self.unprintable(&format!("variable `{}`", entry.name), "it has no range".into()));
            }
            let ty = self.type_text(entry.ty)?;
            variables.push(format!("{}: {ty};", self.names.variable(variable)));
        }
        let mut sections = Sections { functions: Vec::new(), rules: Vec::new(), bytes: 0 };
        for function in self.functions_in_order()? {
            let text = self.function(function)?;
            self.helpers.push(text);
            self.keep(&mut sections, None)?;
        }
        for (number, start) in model.starts.iter().enumerate() {
            let text = self.start(start, number)?;
            self.keep(&mut sections, Some(text))?;
        }
        for (number, rule) in model.rules.iter().enumerate() {
            let text = self.rule(rule, number)?;
            self.keep(&mut sections, Some(text))?;
        }
        for (number, (property, entry)) in model.properties.iter_enumerated().enumerate() {
            let text = self.property(property, entry, number)?;
            self.keep(&mut sections, text)?;
        }
        let fairness = self.fairness();
        self.keep(&mut sections, fairness)?;
        if self.needs_wide_values() {
            self.wide_integer();
        }
        for (_, name, ty) in &self.undefined_variables {
            variables.push(format!("{name}: {ty};"));
        }

        let mut text = String::new();
        push_declarations("const", &constants.text, &mut text);
        // rumur computes in 64 bits when such a range is declared.
        let wide = match &self.wide_integer {
            Some(name) => format!("  {name}: -{max}..{max};\n", max = i64::MAX),
            None => String::new(),
        };
        push_declarations("type", &(wide + &types.text), &mut text);
        push_declarations("var", &variables.text, &mut text);
        for section in sections.functions.iter().chain(&sections.rules) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(section);
        }
        Ok(text)
    }

    /// Adds a rule, start state or property, and the functions that were written with it.
    fn keep(&mut self, sections: &mut Sections, rule: Option<String>) -> Result<(), PrintError> {
        sections.bytes += self.helpers.iter().chain(&rule).map(String::len).sum::<usize>();
        sections.functions.append(&mut self.helpers);
        sections.rules.extend(rule);
        if sections.bytes > self.options.max_bytes {
            return Err(PrintError::TooLong { limit: self.options.max_bytes });
        }
        Ok(())
    }

    pub(super) fn unprintable(&self, place: &str, reason: String) -> PrintError {
        PrintError::Unprintable { place: place.to_owned(), reason }
    }

    /// The name of a variable of a type that never has a value.
    pub(super) fn undefined_variable(&mut self, ty: TypeId, what: &str) -> Result<String, PrintError> {
        if let Some((_, name, _)) = self.undefined_variables.iter().find(|(known, ..)| *known == ty) {
            return Ok(name.clone());
        }
        if self.holds_multiset(ty) {
            return Err(self.unprintable(what, "a parameter that holds a multiset gets no value".into()));
        }
        let text = self.type_text(ty)?;
        let name = self.names.generated("no_value");
        self.undefined_variables.push((ty, name.clone(), text));
        Ok(name)
    }

    fn scope(&self, owner: Owner<'m>, what: String) -> Scope<'m> {
        Scope::new(owner, what, Bounds::new(self.model, &owner), written_locals(self.model, &owner))
    }

    /// Whether a function changes only its own locals.
    pub(super) fn is_pure(&self, function: FunctionId) -> bool {
        self.pure.contains(&function)
    }

    /// Whether rumur would compute in fewer bits than some intermediate result may need.
    fn needs_wide_values(&self) -> bool {
        let declared = declared_numbers(self.model);
        let fitting = value_type(declared);
        Owner::all(self.model).any(|owner| escapes(self.model, &owner, &Bounds::new(self.model, &owner), fitting))
    }

    /// Finds the properties of cover statements. Two such statements are two properties in Murphi, so they must not be
    /// one in the model.
    fn find_cover_statements(&mut self) -> Result<(), PrintError> {
        let mut shared = None;
        for owner in Owner::all(self.model) {
            visit_statements(owner.body, &mut |statement| {
                if let StatementKind::Cover { property, .. } = statement.kind
                    && !self.cover_statements.insert(property)
                {
                    shared = Some(property);
                }
            });
        }
        match shared {
            None => Ok(()),
            Some(property) => {
                let name = self.model.properties.get(property).and_then(|property| property.name.clone());
                let what = format!("cover property `{}`", name.unwrap_or_default());
                Err(self.unprintable(&what, "several statements count for it".into()))
            }
        }
    }

    /// The functions, each after those it calls.
    fn functions_in_order(&self) -> Result<Vec<FunctionId>, PrintError> {
        let model = self.model;
        let calls: Vec<Vec<FunctionId>> =
            model.functions.iter().map(|function| called_functions(model, Vec::new(), &function.body)).collect();
        let mut order = Vec::new();
        let mut state = vec![0u8; model.functions.len()];
        for root in model.functions.indices() {
            let mut stack = vec![(root, 0)];
            while let Some((function, position)) = stack.pop() {
                let at = function.position();
                if position == 0 {
                    if state[at] != 0 {
                        continue;
                    }
                    state[at] = 1;
                }
                match calls[at].get(position) {
                    Some(&callee) => {
                        stack.push((function, position + 1));
                        match state[callee.position()] {
                            0 => stack.push((callee, 0)),
                            1 if callee != function => {
                                let what = format!("function `{}`", model.functions[function].name);
                                let reason = "functions that call each other cannot be declared in Murphi".into();
                                return Err(self.unprintable(&what, reason));
                            }
                            _ => {}
                        }
                    }
                    None => {
                        state[at] = 2;
                        order.push(function);
                    }
                }
            }
        }
        Ok(order)
    }

    fn function(&mut self, id: FunctionId) -> Result<String, PrintError> {
        let model = self.model;
        let function = &model.functions[id];
        let owner = Owner::function(function);
        let mut scope = self.scope(owner, format!("function `{}`", function.name));
        let mut formals = Vec::new();
        for &parameter in &function.parameters {
            let name = scope.name(&self.names, parameter);
            let ty = self.local_type(&scope, parameter)?;
            let by_reference = function.locals[parameter].kind == LocalKind::Reference;
            formals.push(format!("{}{name}: {ty}", if by_reference { "var " } else { "" }));
            scope.bind(parameter, Binding::Name(name));
        }
        let mut lines = Lines::new(1);
        self.declare_locals(&mut scope, &mut lines)?;
        for &parameter in &function.parameters {
            self.copy_if_written(&mut scope, parameter, &mut lines)?;
        }
        self.block(&mut scope, &function.body, &mut lines)?;
        let name = self.names.function(id).to_owned();
        let formals = formals.join("; ");
        let mut text = match function.result {
            Some(ty) => format!("function {name}({formals}): {};\n", self.type_text(ty)?),
            None => format!("procedure {name}({formals});\n"),
        };
        write_declarations(&scope.declarations, &mut text);
        let _ = write!(text, "begin\n{}end;\n", lines.text);
        Ok(text)
    }

    /// Declares the variables of an owner and makes its multisets empty.
    fn declare_locals(&mut self, scope: &mut Scope<'m>, lines: &mut Lines) -> Result<(), PrintError> {
        for (local, entry) in scope.owner.locals.iter_enumerated() {
            if entry.kind == LocalKind::Variable {
                let name = scope.name(&self.names, local);
                let ty = self.local_type(scope, local)?;
                scope.declarations.push((name.clone(), ty));
                self.reset_lines(&name, entry.ty, Reset::Empty, lines)?;
                scope.bind(local, Binding::Name(name));
            }
        }
        Ok(())
    }

    fn start(&mut self, start: &'m Start, number: usize) -> Result<String, PrintError> {
        let model = self.model;
        let owner = Owner::start(start);
        let what = named("start state", &start.name, number);
        let mut scope = self.scope(owner, what);
        let parameters = self.parameters(&mut scope, &start.parameters)?;
        let depth = usize::from(!parameters.is_empty());
        let mut lines = Lines::new(depth + 1);
        for (variable, entry) in model.variables.iter_enumerated() {
            let name = self.names.variable(variable).to_owned();
            let reset = if entry.may_be_undefined { Reset::Empty } else { Reset::Clear };
            self.reset_lines(&name, entry.ty, reset, &mut lines)?;
        }
        self.body(&mut scope, &start.body, &mut lines)?;
        let head = match &start.name {
            Some(name) => format!("startstate {}", quoted(name)),
            None => "startstate".to_owned(),
        };
        Ok(self.finish(&parameters, &head, &scope, &lines))
    }

    fn rule(&mut self, rule: &'m Rule, number: usize) -> Result<String, PrintError> {
        let model = self.model;
        let owner = Owner::rule(rule);
        let what = named("rule", &rule.name, number);
        let mut scope = self.scope(owner, what);
        let parameters = self.parameters(&mut scope, &rule.parameters)?;
        let depth = usize::from(!parameters.is_empty());
        let mut head = match &rule.name {
            Some(name) => format!("rule {}", quoted(name)),
            None => "rule".to_owned(),
        };
        if !is_true(model, rule.guard) {
            let like = format!("guard_of_{}", rule.name.as_deref().unwrap_or("rule"));
            let guard = self.guard(&mut scope, rule.guard, &like)?;
            let _ = write!(head, "\n  {}\n==>", guard.replace('\n', "\n  "));
        }
        let mut lines = Lines::new(depth + 1);
        self.body(&mut scope, &rule.body, &mut lines)?;
        Ok(self.finish(&parameters, &head, &scope, &lines))
    }

    fn property(
        &mut self,
        id: PropertyId,
        property: &'m Property,
        number: usize,
    ) -> Result<Option<String>, PrintError> {
        let model = self.model;
        let owner = Owner::property(property);
        let what = named("property", &property.name, number);
        let mut scope = self.scope(owner, what);
        if let Some(temporal) = property.formula.temporal() {
            return self.temporal(&mut scope, property, temporal).map(Some);
        }
        let Some(condition) = property.formula.condition() else {
            if self.cover_statements.contains(&id) {
                return Ok(None);
            }
            // No statement reaches it, so it is never reached.
            let message = quoted(property.name.as_deref().unwrap_or("never"));
            return Ok(Some(format!("cover {message} false;\n")));
        };
        let parameters = self.parameters(&mut scope, &property.parameters)?;
        let like = format!("holds_{}", property.name.as_deref().unwrap_or("property"));
        let text = self.guard(&mut scope, condition, &like)?.replace('\n', "\n  ");
        let word = match property.kind {
            PropertyKind::Invariant => "invariant",
            PropertyKind::Assumption => "assume",
            PropertyKind::Cover => "cover",
            PropertyKind::AlwaysReachable => "liveness",
            // Murphi has no transient states: they are ordinary states there.
            PropertyKind::Passing
            | PropertyKind::Constraint
            | PropertyKind::Remark
            | PropertyKind::Temporal
            | PropertyKind::Atom => return Ok(None),
        };
        let name = match (&property.name, property.kind) {
            (Some(name), _) => Some(name.clone()),
            // rumur generates a broken verifier for a cover property without a message.
            (None, PropertyKind::Cover) => Some(expression_text(model, &property.locals, condition)),
            (None, _) => None,
        };
        let head = match name {
            Some(name) => format!("{word} {}", quoted(&name)),
            None => word.to_owned(),
        };
        let line = if head.len() + text.len() > 90 || text.contains('\n') {
            format!("{head}\n  {text};")
        } else {
            format!("{head} {text};")
        };
        Ok(Some(in_ruleset(&parameters, line)))
    }

    /// A temporal property in the syntax of quotient's own Murphi, or a comment about it.
    fn temporal(
        &mut self,
        scope: &mut Scope<'m>,
        property: &'m Property,
        temporal: &'m Temporal,
    ) -> Result<String, PrintError> {
        let name = quoted(property.name.as_deref().unwrap_or("formula"));
        let (word, formula) = match &temporal.claim {
            TemporalClaim::Linear { pool, formula } => ("ltl", Some((pool, *formula))),
            TemporalClaim::Branching { pool, formula } => ("ctl", Some((pool, *formula))),
            TemporalClaim::Never(_) => ("never", None),
            TemporalClaim::Behaviour(_) => ("assert", None),
        };
        let passes = self.model.properties.iter().any(|it| it.kind == PropertyKind::Passing);
        let reason = match formula {
            _ if !self.options.extensions => Some("Murphi has no temporal formulas"),
            None if matches!(temporal.claim, TemporalClaim::Behaviour(_)) => Some("it is about events"),
            None => Some("it is an automaton"),
            Some(_) if passes => Some("it does not speak about transient states, and Murphi has none"),
            Some(_) => None,
        };
        let Some((pool, formula)) = formula.filter(|_| reason.is_none()) else {
            let text = temporal.text.split_whitespace().collect::<Vec<_>>().join(" ");
            return Ok(format!("-- {word} {name} {text}\n-- is left out: {}\n", reason.unwrap_or_default()));
        };
        let parameters = self.parameters(scope, &property.parameters)?;
        let mut atoms = Vec::new();
        for &atom in &temporal.atoms {
            let like = format!("holds_{}", property.name.as_deref().unwrap_or("condition"));
            let text = self.guard(scope, atom, &like)?;
            atoms.push(format!("({})", text.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        let text = quotient_temporal::print::print(pool, formula, Notation::Spin, &|Atom(number)| {
            atoms.get(number as usize).cloned().unwrap_or_default()
        });
        let line = format!("{word} {name}\n  {text};");
        Ok(in_ruleset(&parameters, line))
    }

    /// The fairness of rules, by their names.
    fn fairness(&self) -> Option<String> {
        let mut text = String::new();
        let mut known: FxHashSet<&str> = FxHashSet::default();
        for rule in self.model.rules.iter() {
            let word = match rule.fairness {
                Fairness::None => continue,
                Fairness::Weak => "weak",
                Fairness::Strong => "strong",
            };
            let Some(name) = rule.name.as_deref() else { continue };
            if known.insert(name) {
                let comment = if self.options.extensions { "" } else { "-- " };
                let _ = writeln!(text, "{comment}fairness {word} {};", quoted(name));
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// The body of a rule or initial-state program: its variables, parameters that need one, its statements, and the
    /// sorting of the multisets it may have changed.
    fn body(&mut self, scope: &mut Scope<'m>, body: &'m [Statement], lines: &mut Lines) -> Result<(), PrintError> {
        self.declare_locals(scope, lines)?;
        let mut epilogue = Lines::new(0);
        for variable in self.mentioned_variables(body) {
            let name = self.names.variable(variable).to_owned();
            self.sort_lines(&name, self.model.variables[variable].ty, &mut epilogue)?;
        }
        let epilogue: Rc<[String]> = epilogue.text.lines().map(str::to_owned).collect();
        scope.epilogue = epilogue.clone();
        let used = self.used_locals(body);
        for parameter in scope.owner.parameters {
            let local = parameter.local;
            if let Binding::Cells(cells) = scope.binding(local).clone() {
                if used.contains(&local) {
                    self.assemble(scope, local, &cells, lines)?;
                }
            } else {
                self.copy_if_written(scope, local, lines)?;
            }
        }
        self.block(scope, body, lines)?;
        let returned = matches!(body.last().map(|last| &last.kind), Some(StatementKind::Return(_)));
        if !returned {
            for line in epilogue.iter() {
                lines.push(line);
            }
        }
        Ok(())
    }

    fn finish(&self, parameters: &[String], head: &str, scope: &Scope<'m>, body: &Lines) -> String {
        let mut lines = Lines::new(0);
        if !parameters.is_empty() {
            lines.push(format!("ruleset {} do", parameters.join("; ")));
            lines.depth = 1;
        }
        lines.push(head);
        if !scope.declarations.is_empty() {
            lines.push("var");
            for (name, ty) in &scope.declarations {
                lines.push(format!("  {name}: {ty};"));
            }
        }
        lines.push("begin");
        lines.push_raw(&body.text);
        lines.push("end;");
        if !parameters.is_empty() {
            lines.depth = 0;
            lines.push("end;");
        }
        lines.text
    }

    /// The quantifiers of the ruleset around a rule, initial-state program or property.
    fn parameters(&mut self, scope: &mut Scope<'m>, parameters: &'m [Parameter]) -> Result<Vec<String>, PrintError> {
        let model = self.model;
        let mut quantifiers = Vec::new();
        for parameter in parameters {
            let local = parameter.local;
            match parameter.range {
                Iteration::Over(ty) if !model.is_scalar(ty) => {
                    let cells = self.split(scope, local, ty, &mut quantifiers)?;
                    scope.bind(local, Binding::Cells(cells.into()));
                }
                Iteration::Over(ty) => {
                    let variable = scope.name(&self.names, local);
                    let (head, binding) = self.over_type(&variable, ty)?;
                    quantifiers.push(format!("{variable}{head}"));
                    scope.bind(local, binding);
                }
                Iteration::Steps { from, to, step } => {
                    let constant = |id| match model.pool[id] {
                        Expr::Constant { value, .. } => Some(i128::from(value)),
                        _ => None,
                    };
                    let default = |from: i128, to: i128| if to < from { -1 } else { 1 };
                    let bounds = constant(from).zip(constant(to));
                    let steps = bounds.and_then(|(from, to)| {
                        let step = step.map_or(Some(default(from, to)), constant)?;
                        Some((from, to, step))
                    });
                    let Some((from, to, step)) = steps else {
                        let reason = format!("the bounds of `{}` are not constant", scope.source_name(local));
                        return Err(self.unprintable(&scope.what, reason));
                    };
                    if step == 0 || (from < to && step < 0) || (from > to && step > 0) {
                        let reason = format!("the steps of `{}` lead nowhere", scope.source_name(local));
                        return Err(self.unprintable(&scope.what, reason));
                    }
                    // rumur only accepts rulesets over types.
                    let variable = scope.name(&self.names, local);
                    let count = (to - from) / step;
                    if step == 1 {
                        quantifiers.push(format!("{variable}: {from}..{to}"));
                        scope.bind(local, Binding::Name(variable));
                    } else {
                        quantifiers.push(format!("{variable}: 0..{count}"));
                        let sign = if step < 0 { '-' } else { '+' };
                        let value = format!("({from} {sign} {} * {variable})", step.abs());
                        scope.bind(local, Binding::Value(value));
                    }
                }
            }
        }
        Ok(quantifiers)
    }

    /// Adds a quantifier for each cell of a parameter of an array or record type.
    fn split(
        &mut self,
        scope: &mut Scope<'m>,
        local: LocalId,
        ty: TypeId,
        quantifiers: &mut Vec<String>,
    ) -> Result<Vec<String>, PrintError> {
        let cells = self.model.cells(ty);
        if cells > MOST_CELLS || self.holds_multiset(ty) {
            let reason = format!("`{}` has too many cells or a multiset in it", scope.source_name(local));
            return Err(self.unprintable(&scope.what, reason));
        }
        let paths = self.cell_paths(&scope.what, ty)?;
        let mut names = Vec::with_capacity(paths.len());
        for (path, cell_type) in paths.iter().zip(self.cell_type_ids(ty)) {
            let path: String = path
                .chars()
                .filter(|&character| character != ']')
                .map(|character| if character.is_ascii_alphanumeric() { character } else { '_' })
                .collect();
            let name = scope.generated_name(&self.names, &format!("{}{path}", scope.source_name(local)));
            let (head, binding) = self.over_type(&name, cell_type)?;
            quantifiers.push(format!("{name}{head}"));
            names.push(match binding {
                Binding::Value(value) => value,
                _ => name,
            });
        }
        Ok(names)
    }

    /// The variables a body or a function it calls mentions, in order of declaration.
    fn mentioned_variables(&self, body: &'m [Statement]) -> Vec<VariableId> {
        let model = self.model;
        let mut bodies = vec![body];
        let mut seen_functions = FxHashSet::default();
        let mut mentioned = FxHashSet::default();
        while let Some(body) = bodies.pop() {
            visit_nodes(model, super::walk::body_nodes(body), |node| {
                if let Node::Place(id) = node
                    && let Root::Variable(variable) = model.pool[id].root
                {
                    mentioned.insert(variable);
                }
            });
            for function in called_functions(model, Vec::new(), body) {
                if seen_functions.insert(function) {
                    bodies.push(&model.functions[function].body);
                }
            }
        }
        model.variables.indices().filter(|variable| mentioned.contains(variable)).collect()
    }

    fn used_locals(&self, body: &[Statement]) -> FxHashSet<LocalId> {
        let mut used = FxHashSet::default();
        visit_nodes(self.model, super::walk::body_nodes(body), |node| {
            if let Node::Place(id) = node
                && let Root::Local(local) = self.model.pool[id].root
            {
                used.insert(local);
            }
        });
        used
    }
}

fn push_declarations(word: &str, declarations: &str, text: &mut String) {
    if !declarations.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "{word}\n{declarations}");
    }
}

fn named(kind: &str, name: &Option<String>, number: usize) -> String {
    match name {
        Some(name) => format!("{kind} `{name}`"),
        None => format!("{kind} {}", number + 1),
    }
}

/// The functions that write only to their own variables, and call only such functions.
fn pure_functions(model: &Model) -> FxHashSet<FunctionId> {
    let writes_outside = |function: &Function| {
        let outside = |place: PlaceId| match model.pool[place].root {
            Root::Variable(_) => true,
            Root::Local(local) => function.locals[local].kind == LocalKind::Reference,
            _ => false,
        };
        let mut writes = function.parameters.iter().any(|&local| function.locals[local].kind == LocalKind::Reference);
        visit_statements(&function.body, &mut |statement| {
            writes |= match statement.kind {
                StatementKind::Assign { target, .. } | StatementKind::Copy { target, .. } => outside(target),
                StatementKind::Clear(place) | StatementKind::Undefine(place) => outside(place),
                StatementKind::MultisetAdd { multiset, .. }
                | StatementKind::MultisetRemove { multiset, .. }
                | StatementKind::MultisetRemoveIf { multiset, .. } => outside(multiset),
                _ => false,
            }
        });
        writes
    };
    let mut pure: FxHashSet<FunctionId> =
        model.functions.iter_enumerated().filter(|(_, function)| !writes_outside(function)).map(|(id, _)| id).collect();
    loop {
        let before = pure.len();
        let impure: Vec<FunctionId> = pure
            .iter()
            .copied()
            .filter(|&id| {
                let calls = called_functions(model, Vec::new(), &model.functions[id].body);
                calls.into_iter().any(|callee| !pure.contains(&callee))
            })
            .collect();
        for id in impure {
            pure.remove(&id);
        }
        if pure.len() == before {
            return pure;
        }
    }
}

/// A property, inside a ruleset if it has parameters.
fn in_ruleset(parameters: &[String], line: String) -> String {
    let mut lines = Lines::new(0);
    if parameters.is_empty() {
        lines.push(line);
    } else {
        lines.push(format!("ruleset {} do", parameters.join("; ")));
        lines.depth = 1;
        lines.push(line);
        lines.depth = 0;
        lines.push("end;");
    }
    lines.text
}
