//! From trees to the core: resolves names, expands definitions and calls, composes machines, and types every formula by
//! unification.

mod composition;
mod formulas;
mod substitutions;
mod temporal;

use std::rc::Rc;
use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::core::{Claim, Core, Expr, Symbol, SymbolId, SymbolKind};
use super::settings::Settings;
use super::syntax::tree;
use super::types::{SetId, Type, Types};

/// The maximum number of nodes that definitions and calls may expand to.
const MAXIMUM_NODES: usize = 500_000;
/// The maximum nesting of definitions and calls.
const MAXIMUM_EXPANSIONS: usize = 40;
/// The maximum number of errors reported.
const MAXIMUM_ERRORS: usize = 50;

pub(crate) use temporal::within;

/// The machines that a main machine may mention, by name.
pub(crate) type Machines = FxHashMap<String, Rc<tree::Machine>>;

/// The core of a machine and its types, if it has no errors.
pub(crate) fn elaborate(
    text: &str,
    machine: &Rc<tree::Machine>,
    machines: &Machines,
    settings: &Settings,
) -> (Core, Types, Vec<Diagnostic>) {
    let mut elaborator = Elaborator {
        text,
        machines,
        settings,
        core: Core::default(),
        types: Types::default(),
        diagnostics: Vec::new(),
        scopes: Vec::new(),
        instances: Vec::new(),
        instance: 0,
        text_ids: FxHashMap::default(),
        products: Vec::new(),
        nodes: 0,
        expansions: 0,
        called: false,
        known_sets: FxHashMap::default(),
        known_instances: FxHashMap::default(),
        seen: Vec::new(),
        owned: FxHashSet::default(),
    };
    elaborator.compose(machine);
    elaborator.finish();
    (elaborator.core, elaborator.types, elaborator.diagnostics)
}

/// The meaning of a name.
#[derive(Clone, Debug)]
enum Entry {
    Symbol(SymbolId),
    Set(SetId),
    Member(SetId, usize),
    /// Not declared twice: the error is reported.
    Poisoned,
}

/// An operation that can be called, and the machine whose names it uses.
#[derive(Clone, Debug)]
struct Callable {
    operation: Rc<tree::Operation>,
    instance: usize,
}

/// A machine with its names.
#[derive(Clone, Debug, Default)]
struct Instance {
    names: FxHashMap<Arc<str>, Entry>,
    definitions: FxHashMap<Arc<str>, Rc<tree::Definition>>,
    /// The operations that its own operations may call, by the names they use.
    operations: FxHashMap<Arc<str>, Callable>,
    /// The operations it provides to others, in order: its own, those it promotes and those of the machines it extends.
    offered: Vec<Arc<str>>,
}

/// How a machine mentions another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mention {
    /// SEES, USES: it reads the other's state, which belongs to another owner.
    Sees,
    /// INCLUDES, IMPORTS: it owns the other's state and may change it.
    Includes,
    /// EXTENDS: included, with all its operations promoted.
    Extends,
}

struct Elaborator<'a> {
    text: &'a str,
    machines: &'a Machines,
    settings: &'a Settings,
    core: Core,
    types: Types,
    diagnostics: Vec<Diagnostic>,
    /// Bound names, innermost last.
    scopes: Vec<FxHashMap<Arc<str>, Entry>>,
    instances: Vec<Instance>,
    /// The machine being elaborated.
    instance: usize,
    text_ids: FxHashMap<Arc<str>, usize>,
    /// Uses of `*` whose meaning is not known yet: the types of both sides and of the result.
    products: Vec<(Type, Type, Type, Span)>,
    nodes: usize,
    expansions: usize,
    /// Whether the body of a called operation is being elaborated, whose precondition must hold.
    called: bool,
    /// The sets and constants of a machine, which all its instances share.
    known_sets: FxHashMap<String, FxHashMap<Arc<str>, Entry>>,
    /// The instances by name; those that only refined machines mention are kept separately.
    known_instances: FxHashMap<(bool, String), usize>,
    /// Machines that are seen or used, each with the prefix of its names.
    seen: Vec<(usize, Option<String>)>,
    /// Machines that are included, imported or extended by others.
    owned: FxHashSet<usize>,
}

impl Elaborator<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.iter().filter(|it| it.is_error()).count() < MAXIMUM_ERRORS
            && !self.diagnostics.contains(&diagnostic)
        {
            self.diagnostics.push(diagnostic);
        }
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.report(Diagnostic::error(code, message, span));
    }

    fn symbol(&mut self, name: &tree::Name, kind: SymbolKind) -> SymbolId {
        let ty = self.types.fresh();
        self.core.symbols.push(Symbol { name: name.text.clone(), kind, ty, span: name.span });
        SymbolId(self.core.symbols.len() - 1)
    }

    /// New bound symbols in a new scope, which the caller closes.
    fn bind(&mut self, names: &[tree::Name]) -> Vec<SymbolId> {
        let symbols: Vec<SymbolId> = names.iter().map(|name| self.symbol(name, SymbolKind::Bound)).collect();
        let mut scope = FxHashMap::default();
        for (name, symbol) in names.iter().zip(&symbols) {
            if scope.insert(name.text.clone(), Entry::Symbol(*symbol)).is_some() {
                self.error("duplicate-name", format!("`{}` is bound twice", name.text), name.span);
            }
        }
        self.scopes.push(scope);
        symbols
    }

    fn lookup(&self, name: &str) -> Option<Entry> {
        let bound = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        bound.or_else(|| self.instances[self.instance].names.get(name)).cloned()
    }

    fn definition(&self, name: &str) -> Option<Rc<tree::Definition>> {
        self.instances[self.instance].definitions.get(name).cloned()
    }

    fn type_text(&self, ty: &Type) -> String {
        self.types.text(ty, &|set| self.core.sets[set.0].name.to_string())
    }

    /// Reports unless an expression has a type.
    fn expect(&mut self, expr: &Expr, ty: &Type) {
        if self.types.unify(&expr.ty, ty) {
            return;
        }
        let (actual, expected) = (self.types.resolve(&expr.ty), self.types.resolve(ty));
        let diagnostic = match (&actual, &expected) {
            (Type::Predicate, _) => Diagnostic::error("type", "a predicate stands where a value belongs", expr.span)
                .with_help("`bool(predicate)` is its value"),
            (Type::Boolean, Type::Predicate) => {
                Diagnostic::error("type", "a value stands where a predicate belongs", expr.span)
                    .with_help("compare it: `… = TRUE`")
            }
            (_, Type::Predicate) => Diagnostic::error("type", "a value stands where a predicate belongs", expr.span),
            _ => {
                let message =
                    format!("this is of type {}, but {} is needed", self.type_text(&actual), self.type_text(&expected));
                Diagnostic::error("type", message, expr.span)
            }
        };
        self.report(diagnostic);
    }

    /// Reports unless two expressions have the same type.
    fn expect_same(&mut self, left: &Expr, right: &Expr) {
        if left.ty == Type::Predicate || right.ty == Type::Predicate {
            let wrong = if left.ty == Type::Predicate { left } else { right };
            let diagnostic = Diagnostic::error("type", "a predicate stands where a value belongs", wrong.span)
                .with_help("predicates are compared with `<=>`");
            self.report(diagnostic);
        } else if !self.types.unify(&left.ty, &right.ty) {
            let message = format!(
                "the sides have different types: {} and {}",
                self.type_text(&left.ty),
                self.type_text(&right.ty)
            );
            let diagnostic = Diagnostic::error("type", message, left.span.to(right.span))
                .with_secondary(left.span, format!("of type {}", self.type_text(&left.ty)))
                .with_secondary(right.span, format!("of type {}", self.type_text(&right.ty)));
            self.report(diagnostic);
        }
    }

    /// A placeholder for something erroneous.
    fn poison(&self, span: Span) -> Expr {
        Expr { kind: super::core::Kind::Truth(false), ty: Type::Error, span }
    }

    /// Resolves the uses of `*` that are determined by now; in the end the others are multiplications of integers.
    fn settle_products(&mut self, finally: bool) {
        let mut progress = true;
        while progress {
            progress = false;
            for (left, right, result, span) in std::mem::take(&mut self.products) {
                let parts = [&left, &right, &result].map(|ty| self.types.resolve(ty));
                let fits = if parts.iter().any(|ty| matches!(ty, Type::Set(_))) {
                    let (one, other) = (self.types.fresh(), self.types.fresh());
                    self.types.unify(&left, &Type::set(one.clone()))
                        && self.types.unify(&right, &Type::set(other.clone()))
                        && self.types.unify(&result, &Type::set(Type::pair(one, other)))
                } else if finally || parts.iter().any(|ty| !matches!(ty, Type::Unknown(_))) {
                    [&left, &right, &result].into_iter().all(|ty| self.types.unify(ty, &Type::Integer))
                } else {
                    self.products.push((left, right, result, span));
                    continue;
                };
                progress = true;
                if !fits {
                    let message = format!(
                        "`*` between {} and {}: both must be integers, or both sets",
                        self.type_text(&left),
                        self.type_text(&right)
                    );
                    self.error("type", message, span);
                }
            }
        }
    }

    /// The text of a formula as a name: on one line, and not too long.
    fn name_of(&self, span: Span) -> String {
        let text = self.text.get(span.range()).unwrap_or("");
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        if line.chars().count() <= 80 { line } else { line.chars().take(79).chain(['…']).collect() }
    }

    fn claim(&self, condition: Expr) -> Claim {
        Claim { name: self.name_of(condition.span), condition }
    }

    /// Checks that everything that needs a type has one.
    fn finish(&mut self) {
        self.settle_products(true);
        let mut errors = Vec::new();
        for symbol in &self.core.symbols {
            if self.types.is_known(&symbol.ty) || matches!(self.types.resolve(&symbol.ty), Type::Error) {
                continue;
            }
            let what = match symbol.kind {
                SymbolKind::Constant => "constant",
                SymbolKind::Variable | SymbolKind::Abstract => "variable",
                SymbolKind::Bound => "",
            };
            let clause = if symbol.kind == SymbolKind::Constant { "PROPERTIES" } else { "INVARIANT" };
            let diagnostic = if what.is_empty() {
                Diagnostic::error("untyped", format!("nothing says what type `{}` has", symbol.name), symbol.span)
                    .with_help(format!("say what set it belongs to: `{} : …`", symbol.name))
            } else {
                Diagnostic::error(
                    "untyped",
                    format!("nothing says what type the {what} `{}` has", symbol.name),
                    symbol.span,
                )
                .with_help(format!("say in {clause} what set it belongs to: `{} : …`", symbol.name))
            };
            errors.push(diagnostic);
        }
        // A formula that could not be read may be what gave the type.
        if !self.diagnostics.iter().any(Diagnostic::is_error) {
            for diagnostic in errors {
                self.report(diagnostic);
            }
        }
    }
}
