//! Temporal formulas in definitions, `ASSERT_LTL… == "…"` and `ASSERT_CTL… == "…"`: their atoms are read and typed here.
//!
//! `[op]` speaks about steps. For each such atom the machine gets a boolean variable that tells whether the last step was
//! of this kind: all operations assign to it.

use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};
use quotient_temporal::syntax::{Dialect, Span as Part, SyntaxError, parse};
use rustc_hash::FxHashMap;

use super::super::core::{
    Call, Expr, Kind, Observation, Operator, Selection, Substitution, SubstitutionKind, Symbol, SymbolId, SymbolKind,
    TemporalFormula,
};
use super::super::syntax::tree::{DefinitionBody, Formula, FormulaKind, Machine};
use super::super::syntax::{self};
use super::super::types::{SetId, Type};
use super::{Elaborator, Entry};

/// The errors of an atom are reported.
struct Reported;

/// The kind of steps that a variable is about.
struct StepKind {
    symbol: SymbolId,
    call: Call,
    /// The text of the arguments, to recognise the same kind of steps.
    arguments: String,
}

/// What all formulas of a machine share.
#[derive(Default)]
struct Steps {
    kinds: Vec<StepKind>,
}

impl Elaborator<'_> {
    /// The temporal formulas of the main machine.
    pub(super) fn temporal_formulas(&mut self, machine: &Machine) {
        let mut steps = Steps::default();
        for definition in &machine.definitions {
            let name = &*definition.name.text;
            let is_branching = name.starts_with("ASSERT_CTL");
            if !is_branching && !name.starts_with("ASSERT_LTL") {
                continue;
            }
            let text = match &definition.body {
                DefinitionBody::Formula(body) if matches!(body.kind, FormulaKind::Text(_)) => body.span,
                _ => {
                    let message = format!("`{name}` must be a string with a temporal formula");
                    let help = format!("write `{name} == \"G {{x > 0}}\"`");
                    self.report(Diagnostic::error("temporal", message, definition.name.span).with_help(help));
                    continue;
                }
            };
            self.temporal_formula(name, Span { start: text.start + 1, end: text.end - 1 }, is_branching, &mut steps);
        }
        self.record_steps(&steps);
    }

    fn temporal_formula(&mut self, name: &str, span: Span, is_branching: bool, steps: &mut Steps) {
        let text = self.text.get(span.range()).unwrap_or("").to_owned();
        let tree = match parse(&text, &Dialect::prob()) {
            Ok(tree) => tree,
            Err(errors) => {
                errors.iter().for_each(|error| self.report(located(error, span)));
                return;
            }
        };
        // First, since what the other atoms need would remain.
        for part in tree.atoms() {
            if let Some((message, help)) = out_of_reach(part.of(&text)) {
                let message = format!("this formula cannot be checked: {message}");
                let warning = Diagnostic::warning(quotient_kit::UNSUPPORTED_PROPERTY, message, within(part, span));
                self.report(warning.with_help(help).about("temporal", name.to_owned()));
                return;
            }
        }
        let mut atoms = FxHashMap::default();
        for part in tree.atoms() {
            if let Ok(observation) = self.observation(within(part, span), steps) {
                atoms.insert(part, observation);
            }
        }
        self.core.temporal.push(TemporalFormula { name: name.to_owned(), text, span, is_branching, tree, atoms });
    }

    fn observation(&mut self, span: Span, steps: &mut Steps) -> Result<Observation, Reported> {
        let text = self.text.get(span.range()).unwrap_or("").to_owned();
        let inside = Span { start: span.start + 1, end: span.end - 1 };
        if text.starts_with('{') {
            let formula = self.parsed(inside)?;
            let errors = self.error_count();
            self.name_members(&formula);
            let predicate = self.predicate(&formula);
            self.scopes.pop();
            return if self.error_count() > errors { Err(Reported) } else { Ok(Observation::Holds(predicate)) };
        }
        if text.starts_with('[') {
            let formula = self.parsed(inside)?;
            let (call, arguments) = self.call_of(&formula)?;
            let step = self.step(call.clone(), &arguments, span, steps);
            return Ok(Observation::Performed(call, step));
        }
        let formula = self.parsed(span)?;
        let (word, arguments): (&str, &[Formula]) = match &formula.kind {
            FormulaKind::Name(word) => (word, &[]),
            FormulaKind::Apply(function, arguments) => match &function.kind {
                FormulaKind::Name(word) => (word, arguments),
                _ => ("", &[]),
            },
            _ => ("", &[]),
        };
        match (word, arguments) {
            ("e", [operation]) => Ok(Observation::Enabled(self.call_of(operation)?.0)),
            ("deadlock", []) => Ok(Observation::Deadlock),
            ("deadlock" | "controller" | "deterministic", [_, ..]) => {
                let selection = match word {
                    "deadlock" => Selection::None,
                    "controller" => Selection::ExactlyOne,
                    _ => Selection::AtMostOne,
                };
                let calls: Result<Vec<Call>, Reported> =
                    arguments.iter().map(|it| self.call_of(it).map(|(call, _)| call)).collect();
                Ok(Observation::Count(selection, calls?))
            }
            ("WF" | "SF", [operation]) => {
                let (call, arguments) = self.call_of(operation)?;
                let step = self.step(call.clone(), &arguments, operation.span, steps);
                Ok(Observation::Fair { strong: word == "SF", call, step })
            }
            _ => {
                let help = "atoms are `{predicate}`, `[operation]`, `e(operation)`, `deadlock`, `deadlock(op, …)`, \
                            `controller(op, …)`, `deterministic(op, …)`, `WF(op)` and `SF(op)`";
                self.report(Diagnostic::error("temporal", format!("`{text}` is not an atom"), span).with_help(help));
                Err(Reported)
            }
        }
    }

    fn error_count(&self) -> usize {
        self.diagnostics.iter().filter(|it| it.is_error()).count()
    }

    fn parsed(&mut self, span: Span) -> Result<Formula, Reported> {
        let (formula, errors) = syntax::parse_formula(self.text, span.range());
        errors.into_iter().for_each(|error| self.report(error));
        formula.ok_or(Reported)
    }

    /// An operation, perhaps with arguments, and the text of these.
    fn call_of(&mut self, formula: &Formula) -> Result<(Call, String), Reported> {
        let (name, arguments) = match &formula.kind {
            FormulaKind::Name(name) => (Some(name), None),
            FormulaKind::Apply(function, arguments) => match &function.kind {
                FormulaKind::Name(name) => (Some(name), Some(arguments)),
                _ => (None, None),
            },
            _ => (None, None),
        };
        let Some(name) = name else {
            let error = Diagnostic::error("temporal", "an operation is expected here", formula.span);
            self.report(error.with_help("write its name, with arguments or without: `op`, `op(1, x)`"));
            return Err(Reported);
        };
        let Some(operation) = self.core.operations.iter().position(|it| it.name == *name) else {
            let message = format!("there is no operation `{name}`");
            let near = quotient_kit::similar(name, self.core.operations.iter().map(|it| &*it.name));
            let mut error = Diagnostic::error("unknown-operation", message, formula.span);
            error.help = near.map(|known| format!("did you mean `{known}`?"));
            self.report(error);
            return Err(Reported);
        };
        let Some(arguments) = arguments else {
            return Ok((Call { operation, arguments: None }, String::new()));
        };
        let parameters = self.core.operations[operation].parameters.clone();
        if parameters.len() != arguments.len() {
            let of = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
            let (given, declared) = (of(arguments.len(), "argument"), of(parameters.len(), "parameter"));
            let message = format!("`{name}` gets {given}, but has {declared}");
            let error = Diagnostic::error("temporal", message, formula.span);
            self.report(error.with_secondary(self.core.operations[operation].span, "the operation"));
            return Err(Reported);
        }
        let errors = self.error_count();
        let mut values = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            self.name_members(argument);
            let ty = self.core.symbols[parameter.0].ty.clone();
            values.push(self.value(argument, &ty));
            self.scopes.pop();
        }
        if self.error_count() > errors {
            return Err(Reported);
        }
        let texts: Vec<String> = arguments.iter().map(|argument| self.name_of(argument.span)).collect();
        Ok((Call { operation, arguments: Some(values) }, texts.join(", ")))
    }

    /// Opens a scope with the members of deferred sets that a formula names as ProB does: `Session1`. The set must turn out
    /// to have them.
    fn name_members(&mut self, formula: &Formula) {
        let mut scope = FxHashMap::default();
        let text = self.text.get(formula.span.range()).unwrap_or("");
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let mut found: Vec<(Arc<str>, SetId, usize)> = Vec::new();
        for word in words.filter(|word| self.lookup(word).is_none() && self.definition(word).is_none()) {
            for (position, set) in self.core.sets.iter().enumerate().filter(|(_, set)| set.is_deferred) {
                let number = word.strip_prefix(&*set.name).filter(|digits| !digits.starts_with('0'));
                if let Some(number) = number.and_then(|digits| digits.parse::<usize>().ok()) {
                    found.push((Arc::from(word), SetId(position), number - 1));
                }
            }
        }
        for (name, set, member) in found {
            scope.insert(Arc::clone(&name), Entry::Member(set, member));
            self.core.named_members.push((name, set, member, formula.span));
        }
        self.scopes.push(scope);
    }

    /// The variable for a kind of steps.
    fn step(&mut self, call: Call, arguments: &str, span: Span, steps: &mut Steps) -> SymbolId {
        let known = steps.kinds.iter().find(|it| {
            it.call.operation == call.operation
                && it.arguments == arguments
                && it.call.arguments.is_some() == call.arguments.is_some()
        });
        if let Some(known) = known {
            return known.symbol;
        }
        let operation = &self.core.operations[call.operation].name;
        let name = match call.arguments {
            Some(_) => format!("[{operation}({arguments})]"),
            None => format!("[{operation}]"),
        };
        let symbol = SymbolId(self.core.symbols.len());
        self.core.symbols.push(Symbol { name: Arc::from(name), kind: SymbolKind::Variable, ty: Type::Boolean, span });
        self.core.variables.push(symbol);
        steps.kinds.push(StepKind { symbol, call, arguments: arguments.to_owned() });
        symbol
    }

    /// Lets the initialisation and every operation assign to the variables for kinds of steps.
    fn record_steps(&mut self, steps: &Steps) {
        if steps.kinds.is_empty() {
            return;
        }
        let span = self.core.initialisation.first().map_or(Span::default(), |it| it.span);
        let constant = |value: bool, span: Span| Expr { kind: Kind::Boolean(value), ty: Type::Boolean, span };
        let none = steps.kinds.iter().map(|kind| (kind.symbol, constant(false, span))).collect();
        self.core.initialisation.push(Substitution { kind: SubstitutionKind::Assign(none), span });
        for position in 0..self.core.operations.len() {
            let parameters = self.core.operations[position].parameters.clone();
            let span = self.core.operations[position].span;
            let mut assignments = Vec::new();
            for kind in &steps.kinds {
                let value = match &kind.call.arguments {
                    _ if kind.call.operation != position => constant(false, span),
                    None => constant(true, span),
                    Some(arguments) => {
                        let equations = self.equations(&parameters, arguments);
                        Expr::operation(Operator::Truth, vec![equations], Type::Boolean, span)
                    }
                };
                assignments.push((kind.symbol, value));
            }
            let more = Substitution { kind: SubstitutionKind::Assign(assignments), span };
            let body = &mut self.core.operations[position].body;
            *body = with_assignments(body, &more);
        }
    }

    /// Parameters have the values of arguments.
    fn equations(&self, parameters: &[SymbolId], arguments: &[Expr]) -> Expr {
        super::super::core::equations(&self.core.symbols, parameters, arguments)
    }
}

/// A substitution with further assignments at the same time. Conditions stay outside, where parameters get their bounds
/// from them.
fn with_assignments(body: &Substitution, more: &Substitution) -> Substitution {
    let again = |inner: &Substitution| with_assignments(inner, more);
    let kind = match &body.kind {
        SubstitutionKind::Guard(condition, inner) => SubstitutionKind::Guard(condition.clone(), Box::new(again(inner))),
        SubstitutionKind::Select(branches, None) => {
            let branches = branches.iter().map(|(condition, inner)| (condition.clone(), again(inner))).collect();
            SubstitutionKind::Select(branches, None)
        }
        SubstitutionKind::Any(symbols, condition, inner) => {
            SubstitutionKind::Any(symbols.clone(), condition.clone(), Box::new(again(inner)))
        }
        _ => SubstitutionKind::Parallel(vec![body.clone(), more.clone()]),
    };
    Substitution { kind, span: body.span }
}

/// What is not supported about an atom that ProB has, and what to do about it.
fn out_of_reach(atom: &str) -> Option<(&'static str, &'static str)> {
    let word = atom.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    Some(match word {
        "WEF" => ("fairness of all transitions at once is not supported", "write `WF(op)` for each operation"),
        "SEF" => ("fairness of all transitions at once is not supported", "write `SF(op)` for each operation"),
        "sink" => ("`sink` is not supported", "`deadlock` and `e(op)` tell what is enabled"),
        "current" => ("a check has no current state", "describe the state by a predicate"),
        "unchanged" | "changed" | "increasing" | "decreasing" => (
            "how an expression changes in a step is not supported",
            "compare it with a variable that holds the earlier value",
        ),
        "non_det" | "det_output" | "error" => {
            ("this atom is not supported", "`deadlock` and `e(op)` tell what is enabled")
        }
        _ => return None,
    })
}

/// A part of a formula as a part of the machine.
pub(crate) fn within(part: Part, formula: Span) -> Span {
    Span { start: formula.start + part.start, end: formula.start + part.end }
}

fn located(error: &SyntaxError, formula: Span) -> Diagnostic {
    let mut diagnostic = Diagnostic::error("temporal", error.message.clone(), within(error.span, formula));
    if let Some((span, text)) = &error.related {
        diagnostic = diagnostic.with_secondary(within(*span, formula), text.clone());
    }
    diagnostic.help.clone_from(&error.help);
    diagnostic
}
