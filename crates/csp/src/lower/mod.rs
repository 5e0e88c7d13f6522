//! From the syntax tree to the model.
//!
//! Names are resolved and processes become terms (`symbols`, `resolution`, `terms`). The compositions that are asserted
//! about are split into sequential components (`components`), whose positions are the terms that the operational
//! semantics (`steps`) leads to. `moves` puts steps of components together, and `emission` writes each as a rule.

mod alphabets;
mod captures;
mod claims;
mod components;
mod composition;
mod emission;
mod equality;
mod growth;
mod known;
mod moves;
mod objects;
mod resolution;
mod shapes;
mod steps;
mod substitution;
mod symbols;
mod terms;
mod values;
mod wording;

use std::rc::Rc;

use quotient_ir::{Diagnostic, Model, Source, Span};
use rustc_hash::FxHashMap;

use self::claims::Asserted;
use self::emission::Emission;
use self::symbols::Symbols;
pub(super) use self::symbols::unsupported_imports;
use self::terms::Term;
use super::syntax::tree::{Claim, Expression, Name, Specification};

/// Lowers a model. `constants` are those of the command line.
pub(super) fn lower(
    source: &Source,
    tree: &Specification,
    constants: &[(String, String)],
) -> (Option<Model>, Vec<Diagnostic>) {
    let mut symbols = Symbols::new(tree, constants);
    let (mut asserted, roots) = roots(&mut symbols);
    let events = claims::propositions(&mut symbols, &mut asserted);
    let watched = tree.watched.as_ref().map(|expression| (symbols.watched(expression), expression.span));
    if has_errors(&symbols.diagnostics) || roots.is_empty() {
        return (None, symbols.diagnostics);
    }
    let network = components::explore(&mut symbols, &roots);
    for (root, target) in &network.roots {
        if let Some(term) = &target.grows {
            let name = &network.components[*root].name;
            let message = format!("`{name}` has no bound on its processes: `{}`", term.text);
            let error = Diagnostic::error("unbounded", message, term.span);
            symbols.report(error.with_help("write an event before the reference, and end processes that it starts"));
        }
    }
    if has_errors(&symbols.diagnostics) {
        return (None, symbols.diagnostics);
    }
    let moves: Vec<_> = (0..roots.len()).map(|root| moves::of_root(&network, &mut symbols, root)).collect();
    claims::check_events(&mut symbols, &events, &moves, &asserted);
    if has_errors(&symbols.diagnostics) {
        return (None, symbols.diagnostics);
    }
    let mut resolver = Symbols::new(tree, constants);
    resolver.diagnostics.clear();
    let mut emission = Emission::new(source, &symbols, &network, events);
    emission.starts();
    for (root, moves) in moves.iter().enumerate() {
        emission.rules(root, moves);
    }
    emission.claim_no_deadlock(&asserted);
    for it in &asserted {
        emission.claim(it, &mut resolver);
    }
    if let Some((watched, span)) = &watched {
        emission.watch(watched, *span);
    }
    let Emission { mut model, diagnostics, exchanges, .. } = emission;
    model.exchanges = Some(exchanges);
    let mut all = std::mem::take(&mut symbols.diagnostics);
    all.extend(diagnostics);
    all.extend(resolver.diagnostics);
    if has_errors(&all) {
        return (None, all);
    }
    debug_assert_eq!(quotient_ir::verify(&model), Ok(()), "the lowering makes well-formed models");
    (Some(model), all)
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// The assertions, and the processes that they are about.
fn roots<'t>(symbols: &mut Symbols<'t>) -> (Vec<Asserted<'t>>, Vec<Rc<Term>>) {
    let tree = symbols.tree;
    let mut asserted = Vec::new();
    let mut roots: Vec<Rc<Term>> = Vec::new();
    for assertion in &tree.assertions {
        let condition = match &assertion.claim {
            Claim::Reaches(condition, _) | Claim::Invariant(condition) => Some(symbols.closed_value(condition)),
            _ => None,
        };
        let optimum = match &assertion.claim {
            Claim::Reaches(_, Some(optimum)) => Some((symbols.closed_value(&optimum.value), optimum.is_least)),
            _ => None,
        };
        let Some((process, arguments)) = &assertion.process else {
            let propositions = FxHashMap::default();
            asserted.push(Asserted {
                tree: assertion,
                root: None,
                specification: None,
                condition,
                optimum,
                propositions,
            });
            continue;
        };
        let root = root_of(symbols, (process, arguments), assertion.span, &mut roots);
        let specification = match &assertion.claim {
            Claim::Refines(_, process, arguments) => {
                Some(root_of(symbols, (process, arguments), assertion.span, &mut roots))
            }
            _ => None,
        };
        let (Some(root), Some(specification)) = (root, specification.map_or(Some(None), |it| it.map(Some))) else {
            continue;
        };
        let propositions = FxHashMap::default();
        asserted.push(Asserted { tree: assertion, root: Some(root), specification, condition, optimum, propositions });
    }
    if tree.assertions.iter().all(|assertion| assertion.process.is_none()) {
        let candidate = symbols.definitions.iter().rposition(|it| it.parameters.is_empty());
        match candidate {
            Some(definition) => {
                let it = &symbols.definitions[definition];
                let (name, span) = (it.name.clone(), it.span);
                let message = format!("nothing is asserted; the states of `{name}` are explored");
                let warning = Diagnostic::warning("no-assertion", message, span);
                symbols.report(warning.with_help(format!("write `#assert {name}() deadlockfree;`")));
                roots.push(symbols.reference_to(definition));
            }
            None => {
                let error = Diagnostic::error("no-process", "there is no process to explore", Span::default())
                    .with_help("define one, and assert something about it: `#assert P() deadlockfree;`");
                symbols.report(Diagnostic { primary: None, ..error });
            }
        }
    }
    (asserted, roots)
}

/// The number of a process that something is asserted about.
fn root_of(
    symbols: &mut Symbols<'_>,
    (process, arguments): (&Name, &[Expression]),
    span: Span,
    roots: &mut Vec<Rc<Term>>,
) -> Option<usize> {
    let term = symbols.reference(process, arguments)?;
    if let Term::Reference(_, arguments, _) = &*term
        && arguments.iter().any(|argument| argument.constant().is_none())
    {
        symbols.error("not-constant", "the arguments of an asserted process are constant", span);
        return None;
    }
    Some(roots.iter().position(|it| *it == term).unwrap_or_else(|| {
        roots.push(term);
        roots.len() - 1
    }))
}
