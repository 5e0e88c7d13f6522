//! The sizes of deferred sets and the values of constants: everything that is fixed before the first
//! step.

use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};

use super::core::{Core, Expr, Kind, Operator, SymbolId};
use super::evaluation::{Evaluator, TroubleKind, Value};
use super::settings::{DEFAULT_SIZE, MAXIMUM_SIZE, Settings};
use super::types::{SetId, Types};

/// The most valuations of the constants.
const MAXIMUM_SOLUTIONS: usize = 10_000;

/// Gives every deferred set its members, and says which constants are members by name.
pub(crate) fn size_sets(
    core: &mut Core,
    settings: &mut Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(SymbolId, Value)> {
    let mut sizes: Vec<Option<usize>> =
        core.sets.iter().map(|set| if set.is_deferred { None } else { Some(set.members.len()) }).collect();
    for (position, set) in core.sets.iter().enumerate() {
        if !set.is_deferred {
            continue;
        }
        if let Some(given) = settings.given.remove(&*set.name) {
            match usize::try_from(given).ok().filter(|size| (1..=MAXIMUM_SIZE).contains(size)) {
                Some(size) => sizes[position] = Some(size),
                None => diagnostics.push(Diagnostic::error(
                    "setting",
                    format!("the size of `{}` must be from 1 to {MAXIMUM_SIZE}, not {given}", set.name),
                    set.span,
                )),
            }
        } else if let Some(size) = settings.scopes.get(&*set.name) {
            sizes[position] = Some(*size);
        }
    }
    let mut named: Vec<(SymbolId, Value)> = Vec::new();
    let mut names: Vec<Option<Vec<Arc<str>>>> = vec![None; core.sets.len()];
    // What the properties say of sizes; an equation of two sizes passes one on to the other.
    for _ in 0..=core.sets.len() {
        for property in &core.properties {
            let Kind::Operation(Operator::Equal, sides) = &property.kind else {
                continue;
            };
            for (one, other) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
                if let Some(set) = size_of(one) {
                    let known = match (&other.kind, size_of(other)) {
                        (Kind::Integer(size), _) => usize::try_from(*size).ok(),
                        (_, Some(other)) => sizes[other.0],
                        _ => None,
                    };
                    if let (None, Some(size)) = (sizes[set.0], known.filter(|size| (1..=MAXIMUM_SIZE).contains(size))) {
                        sizes[set.0] = Some(size);
                    }
                }
                // `S = {a, b, c}` with constants names the members.
                if let (Kind::GivenSet(set), Kind::Extension(members)) = (&one.kind, &other.kind)
                    && core.sets[set.0].is_deferred
                    && names[set.0].is_none()
                {
                    let symbols: Option<Vec<SymbolId>> = members
                        .iter()
                        .map(|member| match member.kind {
                            Kind::Symbol(symbol) if core.constants.contains(&symbol) => Some(symbol),
                            _ => None,
                        })
                        .collect();
                    if let Some(symbols) = symbols.filter(|symbols| !symbols.is_empty())
                        && sizes[set.0].is_none_or(|size| size == symbols.len())
                    {
                        sizes[set.0] = Some(symbols.len());
                        names[set.0] = Some(symbols.iter().map(|symbol| core.symbols[symbol.0].name.clone()).collect());
                        named.extend(symbols.iter().enumerate().map(|(at, symbol)| (*symbol, Value::Member(*set, at))));
                    }
                }
            }
        }
    }
    for (position, set) in core.sets.iter_mut().enumerate().filter(|(_, set)| set.is_deferred) {
        let size = sizes[position].unwrap_or_else(|| {
            diagnostics.push(
                Diagnostic::warning(
                    "default-size",
                    format!("`{}` gets {DEFAULT_SIZE} members, as nothing is said about its size", set.name),
                    set.span,
                )
                .with_help(format!("set its size with `-D {}=…` or a definition `scope_{} == …`", set.name, set.name)),
            );
            DEFAULT_SIZE
        });
        set.members = match names[position].take() {
            Some(names) => names,
            None => (1..=size).map(|member| Arc::from(format!("{}{member}", set.name))).collect(),
        };
    }
    named
}

fn size_of(expr: &Expr) -> Option<SetId> {
    match &expr.kind {
        Kind::Operation(Operator::Cardinality, operands) => match operands[0].kind {
            Kind::GivenSet(set) => Some(set),
            _ => None,
        },
        _ => None,
    }
}

/// All valuations of the constants for which the properties hold: one empty one if there are none.
pub(crate) fn solve_constants(
    core: &Core,
    types: &Types,
    settings: &mut Settings,
    named: &[(SymbolId, Value)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Vec<Value>> {
    let mut fixed: Vec<(SymbolId, Value)> = named.to_vec();
    for symbol in &core.constants {
        let entry = &core.symbols[symbol.0];
        if let Some(given) = settings.given.remove(&*entry.name) {
            let value = match types.full(&entry.ty) {
                super::types::Type::Integer => Value::Integer(given),
                super::types::Type::Boolean => Value::Boolean(given != 0),
                _ => {
                    let message = format!("only integers and booleans can be set from outside, not `{}`", entry.name);
                    diagnostics.push(Diagnostic::error("setting", message, entry.span));
                    continue;
                }
            };
            fixed.push((*symbol, value));
        }
    }
    let mut unused: Vec<&String> = settings.given.keys().collect();
    unused.sort();
    for name in unused {
        diagnostics.push(Diagnostic {
            primary: None,
            ..Diagnostic::error("setting", format!("there is no deferred set or constant `{name}`"), Span::default())
        });
    }
    let free: Vec<SymbolId> =
        core.constants.iter().copied().filter(|symbol| !fixed.iter().any(|(it, _)| it == symbol)).collect();
    let conjuncts: Vec<&Expr> = core.properties.iter().collect();
    let mut solutions = Vec::new();
    let mut evaluator = Evaluator::new(core, types);
    evaluator.values.extend(fixed.iter().cloned());
    let integers = (settings.least_integer, settings.greatest_integer);
    evaluator.assumed = Some(integers);
    let solved = evaluator.solve(&free, &conjuncts, &mut |evaluator| {
        let solution = core.constants.iter().map(|symbol| evaluator.values[symbol].clone()).collect();
        solutions.push(solution);
        Ok(solutions.len() <= MAXIMUM_SOLUTIONS)
    });
    for symbol in evaluator.assumptions {
        let entry = &core.symbols[symbol.0];
        let (low, high) = integers;
        let message = format!("nothing bounds `{}`: only integers in {low}..{high} are tried", entry.name);
        let help = "say in PROPERTIES what finite set it belongs to, or set bounds for all integers with `-D MAXINT=…`";
        diagnostics.push(Diagnostic::warning("assumed-bounds", message, entry.span).with_help(help));
    }
    match solved {
        Err(trouble) => {
            let (code, message, help) = match trouble.kind {
                TroubleKind::Undefined => {
                    ("undefined", trouble.message, "the properties must be defined for every candidate")
                }
                TroubleKind::TooLarge => {
                    ("too-large", trouble.message, "take smaller deferred sets, or say more about the constants")
                }
                TroubleKind::Unbounded => {
                    ("unbounded", trouble.message, "say in PROPERTIES what finite set it belongs to")
                }
                TroubleKind::Open => ("unsupported", trouble.message, "properties may use constants and sets only"),
            };
            diagnostics.push(Diagnostic::error(code, message, trouble.span).with_help(help));
        }
        Ok(()) if solutions.is_empty() => diagnostics.push(no_solution(core, types, &fixed, &free, &conjuncts)),
        Ok(()) if solutions.len() > MAXIMUM_SOLUTIONS => {
            let span = core.constants.first().map_or(Span::default(), |symbol| core.symbols[symbol.0].span);
            let message = format!("the constants have more than {MAXIMUM_SOLUTIONS} valuations");
            diagnostics.push(
                Diagnostic::error("too-large", message, span)
                    .with_help("take smaller deferred sets, or say more about the constants in PROPERTIES"),
            );
        }
        Ok(()) => {}
    }
    solutions
}

/// Points to the first conjunct with which there is no solution left.
fn no_solution(
    core: &Core,
    types: &Types,
    fixed: &[(SymbolId, Value)],
    free: &[SymbolId],
    conjuncts: &[&Expr],
) -> Diagnostic {
    let mut culprit = conjuncts.last().map_or(Span::default(), |it| it.span);
    for count in 1..=conjuncts.len() {
        let mut evaluator = Evaluator::new(core, types);
        evaluator.values.extend(fixed.iter().cloned());
        let mut found = false;
        let part = &conjuncts[..count];
        // Constants that are not bounded yet say nothing.
        let mentioned: Vec<SymbolId> =
            free.iter().copied().filter(|symbol| part.iter().any(|it| it.mentions(*symbol))).collect();
        let solved = evaluator.solve(&mentioned, part, &mut |_| {
            found = true;
            Ok(false)
        });
        if solved.is_ok() && !found {
            culprit = conjuncts[count - 1].span;
            break;
        }
    }
    let sizes: Vec<String> = core
        .sets
        .iter()
        .filter(|set| set.is_deferred)
        .map(|set| format!("{} = {}", set.name, set.members.len()))
        .collect();
    let diagnostic = Diagnostic::error("no-solution", "the properties have no solution", culprit)
        .with_label("with what stands before, this cannot hold");
    if sizes.is_empty() {
        diagnostic
    } else {
        diagnostic.with_help(format!("the sizes of the deferred sets are {}; try others with `-D`", sizes.join(", ")))
    }
}
