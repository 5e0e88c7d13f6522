//! Settings of a machine from outside its formulas: sizes of deferred sets, bounds of the integers, values of
//! constants.

use std::cell::Cell;

use quotient_ir::{Diagnostic, Span};
use quotient_kit::{LoadOptions, WellDefinedness};
use rustc_hash::FxHashMap;

use super::syntax::tree::{DefinitionBody, Formula, FormulaKind, Machine};

/// The default size of a deferred set, as in ProB.
pub(crate) const DEFAULT_SIZE: usize = 2;
/// The default bounds of the implementable integers, as in ProB.
const DEFAULT_INTEGERS: (i64, i64) = (-1, 3);
/// The most members of a deferred set.
pub(crate) const MAXIMUM_SIZE: usize = 1000;

/// The settings of one machine.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) least_integer: i64,
    pub(crate) greatest_integer: i64,
    /// Whether someone gave the bounds of integers.
    pub(crate) integers_given: bool,
    /// Sizes of deferred sets from the machine's own definitions.
    pub(crate) scopes: FxHashMap<String, usize>,
    /// The user's values by name; used ones are removed.
    pub(crate) given: FxHashMap<String, i64>,
    /// Whether a condition of an operation without a value is an error; otherwise it is false.
    pub(crate) strict_guards: bool,
    /// Whether the graph gets a root and a state for each valuation of the constants.
    pub(crate) extra_nodes: bool,
    integers_used: Cell<Option<Span>>,
}

impl Settings {
    pub(crate) fn new(machine: &Machine, options: &LoadOptions, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut settings = Self {
            least_integer: DEFAULT_INTEGERS.0,
            greatest_integer: DEFAULT_INTEGERS.1,
            integers_given: false,
            scopes: FxHashMap::default(),
            given: FxHashMap::default(),
            strict_guards: false,
            extra_nodes: options.extra_nodes,
            integers_used: Cell::new(None),
        };
        for definition in &machine.definitions {
            let DefinitionBody::Formula(body) = &definition.body else {
                continue;
            };
            let name = &*definition.name.text;
            match name {
                "SET_PREF_TRY_FIND_ABORT" => {
                    settings.strict_guards |= matches!(body.kind, FormulaKind::Word("TRUE"));
                }
                "SET_PREF_MAXINT" | "SET_PREF_MININT" => match constant(body) {
                    Some(value) => settings.set_integer(name == "SET_PREF_MAXINT", value),
                    None => {
                        diagnostics.push(Diagnostic::error("setting", format!("`{name}` must be a number"), body.span))
                    }
                },
                _ => {
                    if let Some(set) = name.strip_prefix("scope_") {
                        let size = match &body.kind {
                            FormulaKind::Binary("..", low, high) => constant(low)
                                .zip(constant(high))
                                .map(|(low, high)| high.saturating_sub(low).saturating_add(1)),
                            _ => constant(body),
                        };
                        match size
                            .and_then(|size| usize::try_from(size).ok())
                            .filter(|size| (1..=MAXIMUM_SIZE).contains(size))
                        {
                            Some(size) => {
                                settings.scopes.insert(set.to_owned(), size);
                            }
                            None => diagnostics.push(
                                Diagnostic::error(
                                    "setting",
                                    format!("`{name}` must be a size from 1 to {MAXIMUM_SIZE}"),
                                    body.span,
                                )
                                .with_help("write a number or an interval of numbers"),
                            ),
                        }
                    }
                }
            }
        }
        for (name, value) in &options.constants {
            let number = match value.as_str() {
                "TRUE" | "true" => Some(1),
                "FALSE" | "false" => Some(0),
                _ => value.parse().ok(),
            };
            match (name.as_str(), number) {
                ("TRY_FIND_ABORT", Some(value)) => settings.strict_guards = value != 0,
                ("MAXINT" | "MININT", Some(value)) => settings.set_integer(name == "MAXINT", value),
                (_, Some(value)) => {
                    settings.given.insert(name.clone(), value);
                }
                (_, None) => diagnostics.push(Diagnostic {
                    primary: None,
                    ..Diagnostic::error("setting", format!("`{value}` for `{name}` is not a number"), Span::default())
                }),
            }
        }
        if let Some(wish) = options.well_definedness {
            settings.strict_guards = wish == WellDefinedness::Error;
        }
        settings
    }

    fn set_integer(&mut self, greatest: bool, value: i64) {
        self.integers_given = true;
        if greatest {
            self.greatest_integer = value;
        } else {
            self.least_integer = value;
        }
    }

    /// Notes that the machine depends on the bounds of integers.
    pub(crate) fn note_integers(&self, span: Span) {
        if self.integers_used.get().is_none() {
            self.integers_used.set(Some(span));
        }
    }

    /// Warns about assumed bounds of integers.
    pub(crate) fn warning(&self) -> Option<Diagnostic> {
        let span = self.integers_used.get().filter(|_| !self.integers_given)?;
        let message = format!(
            "MININT is {} and MAXINT is {}, as nothing is said about them",
            self.least_integer, self.greatest_integer
        );
        Some(
            Diagnostic::warning("default-integers", message, span)
                .with_help("set them with `-D MAXINT=…` or `SET_PREF_MAXINT == …`"),
        )
    }
}

/// The value of a formula of numbers.
fn constant(formula: &Formula) -> Option<i64> {
    match &formula.kind {
        FormulaKind::Number(value) => Some(*value),
        FormulaKind::Unary("-", operand) => constant(operand)?.checked_neg(),
        FormulaKind::Binary(operator, left, right) => {
            let (left, right) = (constant(left)?, constant(right)?);
            match *operator {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                "**" => left.checked_pow(u32::try_from(right).ok()?),
                _ => None,
            }
        }
        _ => None,
    }
}
