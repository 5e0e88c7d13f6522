//! From the syntax tree of a Murphi model to the intermediate representation.
//!
//! One pass in the order of the text, since a name is visible only after its declaration. All errors are reported.
//! Whatever depends on an error has no type (`None`) and is not reported again; it is represented by placeholders, and
//! no model is returned.

mod complaints;
mod constants;
mod effects;
mod expressions;
mod formulas;
mod functions;
mod operands;
mod operators;
mod owners;
mod priorities;
mod quantifiers;
mod rules;
mod scopes;
mod statements;
#[cfg(test)]
mod tests;
mod types;
mod undefined;
mod unions;

use std::cell::RefCell;

use quotient_ir::{Diagnostic, FunctionId, Model, Source, Span, Table, TypeId, Variable};
use quotient_kit::LoadOptions;
use rustc_hash::{FxHashMap, FxHashSet};

use self::constants::Overrides;
use self::functions::Signature;
use self::operands::{Access, Operand};
use self::owners::Owner;
use self::priorities::Priorities;
use self::scopes::{Meaning, Scopes};
use self::types::Fit;
use self::unions::Stretches;
use super::syntax::tree::{Declaration, Item, Name, Tree, TypeExpr, TypeExprKind};

/// The most scalar cells that all variables, or one local, may take together.
const MOST_CELLS: u64 = 1 << 20;

/// How many diagnostics are given. More would hide the first ones, which matter most.
const MOST_DIAGNOSTICS: usize = 200;

/// The number of declared names, counting those in headers once for each rule under them. It limits the size that a
/// short text with many rules under many headers can grow to.
const MOST_DECLARATIONS: usize = 1 << 22;

/// Lowers a tree: the model if it is valid, and every error and warning about names, types and values.
pub(crate) fn lower(source: &Source, tree: &Tree, options: &LoadOptions) -> (Option<Model>, Vec<Diagnostic>) {
    let mut lowering = Lowering::new(source, tree, options);
    for item in &tree.items {
        match item {
            Item::Declaration(declaration) => lowering.global_declaration(declaration),
            Item::Function(function) => lowering.function(function),
            Item::Rule(rule) => lowering.top_level_rule(rule),
            Item::Fairness(_) => {}
        }
    }
    for item in &tree.items {
        if let Item::Fairness(fairness) = item {
            lowering.fairness(fairness);
        }
    }
    lowering.finish()
}

/// The work in progress.
struct Lowering<'a> {
    model: Model,
    scopes: Scopes,
    diagnostics: Vec<Diagnostic>,
    /// Diagnostics already reported: rules under one ruleset process its header repeatedly.
    reported: FxHashSet<(&'static str, Span, String)>,
    /// Where each top-level name is declared, to distinguish "later" from "nowhere".
    top_level_names: FxHashMap<&'a str, Span>,
    overrides: Overrides,
    stretches: Stretches<'a>,
    /// The types of type expressions by position: names that share a declaration share its type.
    types_by_place: FxHashMap<(Span, Span), Option<TypeId>>,
    ranges: FxHashMap<(i64, i64), TypeId>,
    /// The nesting depth of types; those not listed have no components.
    type_depths: FxHashMap<TypeId, usize>,
    /// How many cells values of types take, counting one for a record without fields, so that
    /// arrays of such records are bounded as well. Types that are not here take one.
    extents: FxHashMap<TypeId, u64>,
    /// What callers need to know of the functions so far.
    signatures: Table<FunctionId, Signature>,
    /// The rule, function or property being lowered.
    owner: Owner,
    /// The cells of the variables so far.
    cells: u64,
    /// Whether parts of the text could not be parsed, so that no model is returned.
    incomplete: bool,
    /// Where the fields of records are.
    field_positions: FxHashMap<TypeId, FxHashMap<String, u32>>,
    /// How many names were declared so far.
    declarations: usize,
    /// Types with a multiset in them.
    multiset_holders: FxHashSet<TypeId>,
    /// Pairs of types already compared: types may share components so often that each pair must be compared only once.
    compared: RefCell<FxHashMap<(TypeId, TypeId), Fit>>,
    /// How many more names may be compared with misspelt ones.
    comparisons_left: usize,
    /// Whether the model uses `undefined` in place of a value, so that it was written for CMurphi: undefined values are
    /// then copied and compared as in CMurphi.
    undefined_is_a_value: bool,
    /// Whether the model was written for CMurphi, where steps that lead away from the last value are none.
    steps_may_be_none: bool,
    priorities: Priorities,
}

impl<'a> Lowering<'a> {
    fn new(source: &Source, tree: &'a Tree, options: &LoadOptions) -> Self {
        let mut top_level_names = FxHashMap::default();
        for item in &tree.items {
            let (name, ty) = match item {
                Item::Declaration(Declaration::Constant { name, .. }) => (name, None),
                Item::Declaration(Declaration::Type { name, ty } | Declaration::Variable { name, ty }) => {
                    (name, Some(ty))
                }
                Item::Function(function) => (&function.name, None),
                Item::Rule(_) | Item::Fairness(_) => continue,
            };
            let members = match ty.map(|ty| &ty.kind) {
                Some(TypeExprKind::Enumeration(members)) => members.as_slice(),
                _ => &[],
            };
            for name in std::iter::once(name).chain(members) {
                top_level_names.entry(name.text.as_str()).or_insert(name.span);
            }
        }
        let mut lowering = Self {
            model: Model::new(source.clone()),
            scopes: Scopes::new(),
            diagnostics: Vec::new(),
            reported: FxHashSet::default(),
            top_level_names,
            overrides: Overrides::new(options),
            stretches: Stretches::new(tree),
            types_by_place: FxHashMap::default(),
            ranges: FxHashMap::default(),
            type_depths: FxHashMap::default(),
            extents: FxHashMap::default(),
            signatures: Table::new(),
            owner: Owner::outside(),
            cells: 0,
            incomplete: false,
            field_positions: FxHashMap::default(),
            declarations: 0,
            multiset_holders: FxHashSet::default(),
            compared: RefCell::default(),
            comparisons_left: 1 << 21,
            undefined_is_a_value: tree.uses_undefined,
            steps_may_be_none: tree.is_for_cmurphi,
            priorities: Priorities::of(tree),
        };
        for (text, value) in [("false", 0), ("true", 1)] {
            let operand = lowering.constant_operand(value, Model::BOOLEAN, Span::default());
            lowering.scopes.declare_built_in(text, Meaning::named(operand, "constant"));
        }
        lowering
    }

    /// The model, unless there was an error.
    fn finish(mut self) -> (Option<Model>, Vec<Diagnostic>) {
        self.report_unused_overrides();
        self.apply_priorities();
        if self.model.starts.is_empty() {
            let warning = Diagnostic::warning("no-start", "the model has no startstate", Span::default());
            self.diagnostics.push(
                Diagnostic { primary: None, ..warning }
                    .with_help("without an initial state nothing is reachable; add `startstate begin … end;`"),
            );
        }
        let mut usable = !self.incomplete && !self.diagnostics.iter().any(Diagnostic::is_error);
        if usable && let Err(problems) = quotient_ir::verify(&self.model) {
            debug_assert!(false, "a lowered model is well formed: {problems:?}");
            let message = format!("the model was read wrongly: {}", problems.join("; "));
            let error = Diagnostic::error("internal-error", message, Span::default())
                .with_help("this is a mistake of Quotient, not of the model; please report it");
            self.diagnostics.push(Diagnostic { primary: None, ..error });
            usable = false;
        }
        (usable.then_some(self.model), self.diagnostics)
    }

    /// A declaration outside functions and rules.
    fn global_declaration(&mut self, declaration: &Declaration) {
        match declaration {
            Declaration::Constant { name, value } => self.constant_declaration(name, value, true),
            Declaration::Type { name, ty } => self.type_declaration(name, ty),
            Declaration::Variable { name, ty } => self.global_variable(name, ty),
        }
    }

    fn type_declaration(&mut self, name: &Name, ty: &TypeExpr) {
        let id = self.type_of(ty, Some(&name.text));
        self.declare(name, Meaning::Type(id));
    }

    fn global_variable(&mut self, name: &Name, ty: &TypeExpr) {
        let Some(id) = self.type_of(ty, None) else {
            self.declare(name, Meaning::Unknown);
            return;
        };
        let before = self.cells;
        self.cells = before.saturating_add(self.extent(id));
        if self.cells > MOST_CELLS && before <= MOST_CELLS {
            self.report(
                Diagnostic::error("state-too-large", format!("`{}` makes the state too large", name.text), name.span)
                    .with_label(format!("{} scalar cells up to here", self.cells))
                    .with_help(format!("a state may have at most {MOST_CELLS} cells")),
            );
        }
        let variable = Variable { name: name.text.clone(), ty: id, may_be_undefined: true, span: name.span };
        let variable = self.model.variables.push(variable);
        let operand = self.place_operand(quotient_ir::Root::Variable(variable), id, Access::Writable, name.span);
        self.declare(name, Meaning::named(operand, "variable"));
    }

    /// Declares a name in the innermost scope, or reports that it is taken there.
    fn declare(&mut self, name: &Name, meaning: Meaning) {
        self.declarations += 1;
        if let Err(earlier) = self.scopes.declare(&name.text, name.span, meaning) {
            let error = Diagnostic::error("duplicate-name", format!("`{}` is declared twice", name.text), name.span)
                .with_label("declared again here");
            self.report(if earlier == Span::default() {
                error.with_help("this name is built in")
            } else {
                error.with_secondary(earlier, "first declared here")
            });
        }
    }

    /// Adds a diagnostic, unless it has already been reported.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() > MOST_DIAGNOSTICS {
            return;
        }
        let place = diagnostic.primary.as_ref().map_or(Span::default(), |label| label.span);
        if self.reported.insert((diagnostic.code, place, diagnostic.message.clone())) {
            self.diagnostics.push(diagnostic);
        }
        if self.diagnostics.len() == MOST_DIAGNOSTICS {
            self.diagnostics.push(
                Diagnostic::error(
                    "too-many-errors",
                    format!("more than {MOST_DIAGNOSTICS} errors and warnings"),
                    place,
                )
                .with_label("the model is not checked from here on"),
            );
        }
    }

    /// Whether nothing more will be reported.
    fn is_silent(&self) -> bool {
        self.diagnostics.len() > MOST_DIAGNOSTICS
    }

    /// Names in a message: all of them, or the first few.
    fn listed<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
        const SHOWN: usize = 8;
        let mut names = names.into_iter();
        let mut text = names.by_ref().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if names.next().is_some() {
            text.push_str(", …");
        }
        text
    }

    /// Whether a type expression only names a type.
    fn is_name_of_type(ty: &TypeExpr) -> bool {
        matches!(ty.kind, TypeExprKind::Named(_) | TypeExprKind::Boolean)
    }

    /// A placeholder operand for something that was reported.
    fn unknown(span: Span) -> Operand {
        Operand::unknown(span)
    }
}
