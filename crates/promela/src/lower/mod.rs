//! From the syntax tree to the model.
//!
//! Names are resolved and control flow is built once (`program`, `flow`). The number of processes is estimated
//! (`pools`) and the model is emitted for that number (`emission`, `expressions`, `channels`, `rules`, `steps`). It is
//! then followed through its start-up (`startup`) to learn which processes actually exist, and emitted again.

mod channels;
mod claims;
mod creation;
mod emission;
mod events;
mod expressions;
mod flow;
mod formulas;
mod hidden;
mod owner;
mod pools;
mod presentation;
mod printing;
mod priorities;
mod private;
mod program;
mod rules;
mod startup;
mod steps;
mod symbols;
mod wording;
mod words;

use quotient_ir::{Diagnostic, Model, Source};
use quotient_kit::LabelChecks;
use quotient_kit::watched::WATCHED;
use rustc_hash::FxHashSet;

use self::emission::{Checks, Emission, Wide};
use self::formulas::invariants;
use self::pools::{Living, Pools, initially, pools_from};
use self::program::Program;
use self::symbols::SIZE_LIMIT;
use super::syntax::tree::Specification;

/// Options of the front end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Whether a failed assertion is an error.
    pub(super) check_assertions: bool,
    /// Whether `never` claims are part of the model.
    pub(super) watch_claims: bool,
    /// Whether labels `accept` and `progress` are to be checked.
    pub(super) labels: LabelChecks,
    /// The maximum number of processes in a state, if it is given.
    pub(super) max_processes: Option<u8>,
    /// Whether orders of steps are left out where nothing can tell: a process that creates the others does so before they
    /// move, processes stay at their ends, and what concerns only one process is done at once.
    pub(super) merges_orders: bool,
}

/// Lowers a specification. Returns a model if there is no error.
pub(super) fn lower(source: &Source, tree: &Specification, settings: Settings) -> (Option<Model>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut program = Program::new(tree, &mut diagnostics);
    if !settings.watch_claims {
        program.claims.clear();
        program.automata.clear();
    }
    if program.processes.is_empty() {
        diagnostics.push(Diagnostic {
            primary: None,
            ..Diagnostic::error("no-process", "there is no process in this model", quotient_ir::Span::default())
                .with_help("a model has an `init` or an `active proctype`")
        });
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        // Errors in statements should be reported as well.
        let pools = everybody(&program);
        diagnostics.extend(emit(source, &program, &pools, settings, Mode::Check).1);
        return (None, diagnostics);
    }
    let living = initially(&program);
    if living.is_empty() {
        diagnostics.push(Diagnostic {
            primary: None,
            ..Diagnostic::error("no-process", "no process of this model is ever started", quotient_ir::Span::default())
                .with_help("write `active` before a `proctype`, or start processes in an `init`")
        });
        return (None, diagnostics);
    }
    let limit = settings.max_processes.map(i64::from);
    if limit.is_some_and(|limit| living.len() as i64 > limit) {
        let message = format!("{} processes are active at the start, more than `--max-processes` allows", living.len());
        let error = Diagnostic::error("too-many-processes", message, quotient_ir::Span::default());
        diagnostics.push(Diagnostic { primary: None, ..error });
        return (None, diagnostics);
    }
    if pools_from(&program, &living, &[], true, limit).ranges.contains(&None) {
        let found = emit(source, &program, &everybody(&program), settings, Mode::Check).1;
        if found.iter().any(Diagnostic::is_error) {
            diagnostics.extend(found);
            return (None, diagnostics);
        }
    }
    let watches_runs = checks(&program, settings).watch_runs() || program.watches_runs();
    let creates = (0..program.processes.len()).any(|process| !program.run_sites(process).is_empty());
    let private = match settings.merges_orders {
        true => private::private_points(&program, watches_runs),
        false => Vec::new(),
    };
    let has_private = private.iter().any(|points| !points.is_empty());
    // Where others are at work from the start on, steps at the start are skipped only if nobody can have control.
    let skips_first = creates && living.len() > 1;
    let whole = |program: &Program<'_>| emit_whole(source, program, &living, settings, creates, watches_runs);
    let without = (!has_private || skips_first).then(|| whole(&program));
    let emitted = match without {
        Some(emitted) if !has_private || emitted.skips || emitted.model.is_none() => emitted,
        _ => {
            program.private = private;
            whole(&program)
        }
    };
    diagnostics.extend(emitted.diagnostics);
    (emitted.model, diagnostics)
}

/// A model, and what was found on the way.
struct Emitted {
    model: Option<Model>,
    diagnostics: Vec<Diagnostic>,
    /// Whether the steps at the start are skipped.
    skips: bool,
}

/// Emits a program that has no errors so far, with as many processes as it needs.
fn emit_whole(
    source: &Source,
    program: &Program<'_>,
    living: &[Living],
    settings: Settings,
    creates: bool,
    watches_runs: bool,
) -> Emitted {
    let limit = settings.max_processes.map(i64::from);
    let mut at_start = pools_from(program, living, &[], true, limit);
    at_start.settled.clear();
    let stay_at_end =
        |living: &[Living]| settings.merges_orders && creation::may_stay_at_end(program, living, watches_runs);
    if !creates {
        at_start.stay_at_end = stay_at_end(living);
        let (model, diagnostics, _) = emit(source, program, &at_start, settings, Mode::Plain);
        return Emitted { model, diagnostics, skips: false };
    }
    let (_, found, prefix) = emit(source, program, &at_start, settings, Mode::Follow);
    if found.iter().any(Diagnostic::is_error) {
        return Emitted { model: None, diagnostics: found, skips: false };
    }
    let mut pools = match &prefix {
        Some(prefix) => pools_from(program, prefix.living(), &prefix.passing(), false, limit),
        None => {
            let mut pools = pools_from(program, living, &[], false, limit);
            pools.settled.clear();
            pools
        }
    };
    if let Some(prefix) = &prefix {
        pools.stay_at_end = stay_at_end(prefix.living());
        let (model, diagnostics, skipped) = emit(source, program, &pools, settings, Mode::Skip);
        if skipped.is_some() || model.is_none() {
            return Emitted { model, diagnostics, skips: true };
        }
        // The steps must be taken one by one, and before them not everybody is there.
        pools = pools.unsettled();
        pools.stay_at_end = false;
    }
    let (model, diagnostics, _) = emit(source, program, &pools, settings, Mode::Plain);
    Emitted { model, diagnostics, skips: false }
}

/// A process of every type, so that the whole text is checked.
fn everybody(program: &Program<'_>) -> Pools {
    let count = program.processes.len() as i64;
    Pools {
        ranges: vec![Some((0, count)); program.processes.len()],
        processes: count + 1,
        bounded: true,
        lasting: None,
        stay_at_end: false,
        settled: FxHashSet::default(),
    }
}

/// What to do with an emitted model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Only report errors.
    Check,
    Plain,
    /// Follow it through its start-up.
    Follow,
    /// Make it skip its start-up.
    Skip,
}

/// What is checked.
fn checks(program: &Program<'_>, settings: Settings) -> Checks {
    let claimed = !program.tree.claims.is_empty() || !program.tree.formulas.is_empty();
    Checks {
        assertions: settings.check_assertions,
        acceptance: settings.labels.acceptance.unwrap_or(!claimed && program.has_label("accept")),
        progress: settings.labels.progress,
    }
}

fn emit(
    source: &Source,
    program: &Program<'_>,
    pools: &Pools,
    settings: Settings,
    mode: Mode,
) -> (Option<Model>, Vec<Diagnostic>, Option<startup::Prefix>) {
    if program.state_size(pools) > SIZE_LIMIT {
        let message =
            format!("a state of this model has more than {SIZE_LIMIT} elements, fields and slots of messages");
        let diagnostic = Diagnostic::error("too-large", message, quotient_ir::Span::default());
        return (None, vec![Diagnostic { primary: None, ..diagnostic }], None);
    }
    let checks = checks(program, settings);
    let mut wide: FxHashSet<Wide> = FxHashSet::default();
    loop {
        let mut emission = Emission::new(source, program, pools, &wide, checks);
        emission.declare_quiet();
        emission.declare_outranked();
        emission.emit_start();
        emission.emit_rules();
        emission.define_quiet();
        emission.define_outranked();
        let mut unnamed = [0, 0];
        for formula in &program.tree.formulas {
            // SPIN numbers formulas without a name.
            let name = formula.name.as_ref().map_or_else(
                || {
                    let count = &mut unnamed[usize::from(formula.branching)];
                    *count += 1;
                    format!("{}_{}", if formula.branching { "ctl" } else { "ltl" }, *count - 1)
                },
                |name| name.text.to_string(),
            );
            match invariants(&formula.condition).as_deref() {
                Some([expression]) if name == WATCHED => emission.emit_watched(expression),
                _ => emission.emit_formula(name, formula),
            }
        }
        emission.emit_claim_properties();
        emission.emit_automata();
        emission.emit_label_properties(checks);
        emission.emit_passing();
        emission.check_priorities();
        if !emission.widen.is_empty() && mode != Mode::Check {
            let more = std::mem::take(&mut emission.widen);
            drop(emission);
            wide.extend(more);
            continue;
        }
        let mut diagnostics = std::mem::take(&mut emission.diagnostics);
        diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
        if diagnostics.iter().any(Diagnostic::is_error) || mode == Mode::Check {
            diagnostics.retain(|it| mode != Mode::Check || it.is_error());
            return (None, diagnostics, None);
        }
        let prefix = match mode {
            Mode::Follow | Mode::Skip => startup::follow(&emission, settings.merges_orders),
            _ => None,
        };
        let prefix = match (mode, prefix) {
            (Mode::Skip, Some(prefix)) => startup::skip(&mut emission, &prefix, program).then_some(prefix),
            (_, prefix) => prefix,
        };
        emission.present();
        let is_creation_first = mode == Mode::Skip && prefix.as_ref().is_some_and(|it| it.is_creation_first);
        if let Some(presentation) = &mut emission.model.presentation {
            presentation.is_creation_first = is_creation_first;
            presentation.stay_at_end = pools.stay_at_end;
            presentation.is_private_first = program.private.iter().any(|points| !points.is_empty());
        }
        debug_assert_eq!(quotient_ir::verify(&emission.model), Ok(()), "the lowering makes well-formed models");
        return (Some(emission.model), diagnostics, prefix);
    }
}
