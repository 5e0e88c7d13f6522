//! How a text is to be read, and what comes of it.

use quotient_ir::{Diagnostic, Model};

use crate::limits::first_errors;

/// Options for loading a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// Names and values that override the model's constants, in the order given.
    pub constants: Vec<(String, String)>,
    /// Whether the state graph of a B machine starts with a root and has a state for each valuation of the constants,
    /// as in ProB.
    pub extra_nodes: bool,
    /// Whether a failed assertion of a Promela model is ignored, as by `pan -A`, so that the search continues past it.
    pub ignore_assertions: bool,
    /// Whether the `never` claims of a Promela model are tracked and checked. Their positions are then part of the
    /// state.
    pub watch_claims: bool,
    /// Whether the labels `accept` and `progress` of a Promela model are checked.
    pub labels: LabelChecks,
    /// The maximum number of processes of a Promela model at a time. A run that needs more ends as inconclusive, unless
    /// SPIN has no room for more either (255). By default the bound that follows from the text, or twelve more than at
    /// the start.
    pub max_processes: Option<u8>,
    /// Whether orders of steps of a Promela model are left out where nothing can tell: the process that creates the
    /// others does so before any of them moves, and what concerns only one process is done at once. There are fewer
    /// states then, and which of several violations is found first may differ.
    pub merges_orders: bool,
    /// Whether nothing is claimed about the runs of a Promela model but that they neither get stuck nor go wrong: its
    /// formulas and labels are left out.
    pub states_only: bool,
    /// How a condition of a B operation without a value is treated, unless the machine itself specifies it
    /// (`SET_PREF_TRY_FIND_ABORT`).
    pub well_definedness: Option<WellDefinedness>,
}

/// Whether the labels `accept` and `progress` of a Promela model are checked. Each is a temporal property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelChecks {
    /// Whether no run may pass labels `accept` again and again (`pan -a`). By default if there are such labels and
    /// neither formulas nor claims.
    pub acceptance: Option<bool>,
    /// Whether every run must pass labels `progress` again and again (`pan -l`).
    pub progress: bool,
}

/// How a B operation is treated whose guard, or another condition that decides how it continues, has no value: for
/// example, a function is applied outside its domain, or a number is divided by zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WellDefinedness {
    /// The operation is not enabled, as in ProB. A remark records where that happens
    /// ([`quotient_ir::PropertyKind::Remark`]).
    #[default]
    Remark,
    /// It is a run-time error.
    Error,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            constants: Vec::new(),
            extra_nodes: true,
            ignore_assertions: false,
            watch_claims: false,
            labels: LabelChecks::default(),
            max_processes: None,
            merges_orders: false,
            states_only: false,
            well_definedness: None,
        }
    }
}

/// The code of warnings about properties of a model that cannot be checked; each names its claim. A model with such a
/// warning is not reported as holding.
pub const UNSUPPORTED_PROPERTY: &str = "unsupported-property";

/// A usable model with its warnings.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model.
    pub model: Model,
    /// Warnings, in the order of the source.
    pub warnings: Vec<Diagnostic>,
}

impl Loaded {
    /// A model with what was said while it was read, in the order of the text and each message once.
    ///
    /// # Errors
    /// The first errors, if there are any or there is no model.
    pub fn unless_errors(model: Option<Model>, mut diagnostics: Vec<Diagnostic>) -> Result<Self, Vec<Diagnostic>> {
        diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
        diagnostics.dedup();
        match model {
            Some(model) if !diagnostics.iter().any(Diagnostic::is_error) => Ok(Self { model, warnings: diagnostics }),
            _ => Err(first_errors(diagnostics)),
        }
    }
}
