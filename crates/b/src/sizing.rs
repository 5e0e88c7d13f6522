//! The sizes of deferred sets and the values of constants: everything that is fixed before the first
//! step.

use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};

use super::core::{Core, Expr, Kind, Operator, SymbolId};
use super::evaluation::{self, Evaluator, TroubleKind, Value};
use super::settings::{DEFAULT_SIZE, MAXIMUM_SIZE, Settings};
use super::types::{SetId, Types};

/// The maximum number of valuations of the constants.
const MAXIMUM_SOLUTIONS: usize = 10_000;
/// Too many valuations.
const MANY: usize = MAXIMUM_SOLUTIONS + 1;
/// The greatest integer tried for an unbounded constant.
const MAXIMUM_TRIED_INTEGER: i64 = 1000;

/// The maximum size tried for a set of unspecified size, if smaller sizes do not satisfy the properties.
const MAXIMUM_TRIED_SIZE: usize = 12;
/// The maximum number of combinations of sizes tried.
const MAXIMUM_TRIED: usize = 150;

/// What is known about deferred sets before the properties are solved.
pub(crate) struct Sizing {
    /// Constants that are members by name.
    named: Vec<(SymbolId, Value)>,
    /// The sets of unspecified size.
    open: Vec<SetId>,
}

/// Gives every deferred set its members.
pub(crate) fn size_sets(core: &mut Core, settings: &mut Settings, diagnostics: &mut Vec<Diagnostic>) -> Sizing {
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
    // The properties about sizes; an equation of two sizes propagates one to the other.
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
    let mut open = Vec::new();
    for (position, set) in core.sets.iter_mut().enumerate().filter(|(_, set)| set.is_deferred) {
        if sizes[position].is_none() {
            open.push(SetId(position));
        }
        set.members = match names[position].take() {
            Some(names) => names,
            None => members(&set.name, sizes[position].unwrap_or(DEFAULT_SIZE)),
        };
    }
    Sizing { named, open }
}

fn members(set: &str, size: usize) -> Vec<Arc<str>> {
    (1..=size).map(|member| Arc::from(format!("{set}{member}"))).collect()
}

/// Reports members of deferred sets that formulas name and that do not exist.
pub(crate) fn check_members(core: &Core, diagnostics: &mut Vec<Diagnostic>) {
    for (name, set, member, span) in &core.named_members {
        let set = &core.sets[set.0];
        if set.members.get(*member) != Some(name) {
            let message = format!("`{name}` is not a member of `{}`", set.name);
            let members: Vec<&str> = set.members.iter().map(|member| &**member).collect();
            let help = format!("its members are {}", members.join(", "));
            diagnostics.push(Diagnostic::error("unknown-name", message, *span).with_help(help));
        }
    }
}

/// Warns about the sizes chosen by default.
fn note_sizes(core: &Core, open: &[SetId], is_default: bool, diagnostics: &mut Vec<Diagnostic>) {
    for set in open.iter().map(|set| &core.sets[set.0]) {
        let (name, size) = (&set.name, set.members.len());
        let plural = if size == 1 { "" } else { "s" };
        let reason = if is_default {
            "as nothing is said about its size"
        } else {
            "as nothing is said about its size and the PROPERTIES have no solution with fewer"
        };
        diagnostics.push(
            Diagnostic::warning("default-size", format!("`{name}` gets {size} member{plural}, {reason}"), set.span)
                .with_help(format!("set its size with `-D {name}=…` or a definition `scope_{name} == …`")),
        );
    }
}

/// Combinations of sizes for some sets, in order of increasing total size.
fn sizes_to_try(sets: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for total in sets..=sets * MAXIMUM_TRIED_SIZE {
        let mut pending = vec![Vec::new()];
        while let Some(sizes) = pending.pop() {
            let left = total - sizes.iter().sum::<usize>();
            let missing = sets - sizes.len();
            if missing == 0 {
                found.push(sizes);
                if found.len() >= MAXIMUM_TRIED {
                    return found;
                }
                continue;
            }
            let fewest = if missing == 1 { left } else { 1 };
            let most = (left + 1).saturating_sub(missing).min(MAXIMUM_TRIED_SIZE);
            // The first set has as few members as possible.
            for size in (fewest..=most).rev() {
                pending.push(sizes.iter().copied().chain([size]).collect());
            }
        }
    }
    found
}

/// Substitutes functions over all integers for the constants that properties equate with them:
/// `f = %x.(x : INTEGER | x + 1)` has no finite value, but can be applied.
fn inline_functions(core: &mut Core, types: &Types) {
    let mut position = 0;
    while position < core.properties.len() {
        let found = match &core.properties[position].kind {
            Kind::Operation(Operator::Equal, sides) => {
                [(&sides[0], &sides[1]), (&sides[1], &sides[0])].into_iter().find_map(|(one, other)| {
                    let Kind::Symbol(symbol) = one.kind else { return None };
                    let is_function = core.constants.contains(&symbol)
                        && matches!(other.kind, Kind::Lambda(..))
                        && !other.mentions(symbol);
                    let value = is_function.then(|| Evaluator::new(core, types).value(other))?;
                    let is_infinite = value.is_err_and(|trouble| trouble.kind == TroubleKind::Unbounded);
                    is_infinite.then(|| (symbol, other.clone()))
                })
            }
            _ => None,
        };
        match found {
            Some((symbol, function)) => {
                core.properties.remove(position);
                core.replace_constant(symbol, &function);
            }
            None => position += 1,
        }
    }
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

/// All valuations of some constants for which the properties hold, or why they cannot be found; and the constants of
/// which only some values were tried.
fn valuations(
    core: &Core,
    types: &Types,
    integers: (i64, i64),
    fixed: &[(SymbolId, Value)],
    free: &[SymbolId],
    most: usize,
) -> (evaluation::Result<Vec<Vec<Value>>>, Vec<SymbolId>) {
    let conjuncts: Vec<&Expr> = core.properties.iter().collect();
    let mut solutions = Vec::new();
    let mut evaluator = Evaluator::new(core, types);
    evaluator.values.extend(fixed.iter().cloned());
    evaluator.assumed = Some(integers);
    let solved = evaluator.solve(free, &conjuncts, &mut |evaluator| {
        let solution = core.constants.iter().map(|symbol| evaluator.values[symbol].clone()).collect();
        solutions.push(solution);
        Ok(solutions.len() <= most)
    });
    (solved.map(|()| solutions), evaluator.assumptions)
}

/// All valuations of the constants for which the properties hold: a single empty one if there are no constants. If the
/// default sizes of deferred sets allow none, the least sizes that do are chosen.
pub(crate) fn solve_constants(
    core: &mut Core,
    types: &Types,
    settings: &mut Settings,
    Sizing { named, open }: &Sizing,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Vec<Value>> {
    inline_functions(core, types);
    let mut fixed: Vec<(SymbolId, Value)> = named.clone();
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
    let mut integers = (settings.least_integer, settings.greatest_integer);
    let (mut solved, mut assumptions) = valuations(core, types, integers, &fixed, &free, MAXIMUM_SOLUTIONS);
    let has_none = |solved: &evaluation::Result<Vec<Vec<Value>>>| solved.as_ref().is_ok_and(Vec::is_empty);
    let mut is_default = true;
    if has_none(&solved) && !open.is_empty() {
        let usual: Vec<usize> = open.iter().map(|set| core.sets[set.0].members.len()).collect();
        let resize = |core: &mut Core, sizes: &[usize]| {
            for (set, size) in open.iter().zip(sizes) {
                let entry = &mut core.sets[set.0];
                entry.members = members(&entry.name, *size);
            }
        };
        for sizes in sizes_to_try(open.len()) {
            resize(core, &sizes);
            let (some, _) = valuations(core, types, integers, &fixed, &free, 0);
            if some.is_ok_and(|some| !some.is_empty()) {
                is_default = false;
                break;
            }
        }
        if is_default {
            resize(core, &usual);
        } else {
            (solved, assumptions) = valuations(core, types, integers, &fixed, &free, MAXIMUM_SOLUTIONS);
        }
    }
    // Nothing bounds these constants, so more of their values can be tried.
    while has_none(&solved) && !assumptions.is_empty() && integers.1 < MAXIMUM_TRIED_INTEGER {
        integers = (integers.0.saturating_mul(2), integers.1.saturating_mul(2).saturating_add(1));
        (solved, assumptions) = valuations(core, types, integers, &fixed, &free, MAXIMUM_SOLUTIONS);
    }
    note_sizes(core, open, is_default, diagnostics);
    let conjuncts: Vec<&Expr> = core.properties.iter().collect();
    for symbol in assumptions {
        let entry = &core.symbols[symbol.0];
        let (low, high) = integers;
        let message = format!("nothing bounds `{}`: only integers in {low}..{high} are tried", entry.name);
        let help = "say in PROPERTIES what finite set it belongs to, or set bounds for all integers with `-D MAXINT=…`";
        diagnostics.push(Diagnostic::warning("assumed-bounds", message, entry.span).with_help(help));
    }
    let solutions = match solved {
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
            return Vec::new();
        }
        Ok(solutions) => solutions,
    };
    match solutions.len() {
        0 => diagnostics.push(no_solution(core, types, &fixed, &free, &conjuncts)),
        MANY.. => {
            let span = core.constants.first().map_or(Span::default(), |symbol| core.symbols[symbol.0].span);
            let message = format!("the constants have more than {MAXIMUM_SOLUTIONS} valuations");
            diagnostics.push(
                Diagnostic::error("too-large", message, span)
                    .with_help("take smaller deferred sets, or say more about the constants in PROPERTIES"),
            );
        }
        _ => {}
    }
    solutions
}

/// Points to the first conjunct that leaves no solution.
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
        // Constants that are not bounded yet are ignored.
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
        diagnostic.with_help(format!("the sizes of the deferred sets are {}, and others were tried in vain where nothing is said about them; set them with `-D`", sizes.join(", ")))
    }
}
