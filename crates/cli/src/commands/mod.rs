//! The commands, one file each.

use quotient_engines::{EngineError, SearchOptions, SearchOrder, Verdict};
use quotient_frontends::Language;
use quotient_ir::{DeadlockMode, Diagnostic, Source};

use crate::arguments::{DeadlockName, LimitArguments, OrderName, SearchArguments};
use crate::failure::{Failure, HOLDS, INCONCLUSIVE, VIOLATED};
use crate::memory::usable_bytes;
use crate::render::diagnostics;
use crate::terminal::{Palette, complain};

pub(crate) mod adaptive;
pub(crate) mod check;
pub(crate) mod detect;
pub(crate) mod explore;
pub(crate) mod lower;
mod partial;
pub(crate) mod reduction;
mod selection;
pub(crate) mod simulate;
mod trial;

/// The options of a search that both `check` and `explore` take from the command line.
fn search_options(search: &SearchArguments, limits: &LimitArguments) -> SearchOptions {
    SearchOptions {
        order: match search.search {
            OrderName::Bfs => SearchOrder::BreadthFirst,
            OrderName::Dfs => SearchOrder::DepthFirst,
        },
        max_states: limits.max_states,
        max_depth: limits.max_depth,
        max_memory: limits.max_memory.or_else(usable_bytes),
        threads: search.threads,
        store_passing: search.store_passing,
        ..SearchOptions::default()
    }
}

fn deadlock_mode(name: Option<DeadlockName>, language: Language) -> DeadlockMode {
    match (name, language) {
        (Some(DeadlockName::Off), _) => DeadlockMode::Off,
        // A process that only waits in a loop of its own is not stuck for SPIN, and in B an operation that
        // changes nothing is a way on like any other.
        (Some(DeadlockName::Stuck), _) | (None, Language::Promela | Language::B) => DeadlockMode::Stuck,
        (Some(DeadlockName::Stuttering), _) | (None, _) => DeadlockMode::Stuttering,
    }
}

fn exit_status(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Holds => HOLDS,
        Verdict::Violated => VIOLATED,
        Verdict::Inconclusive => INCONCLUSIVE,
    }
}

fn engine_failure(source: &Source, error: EngineError) -> Failure {
    match error {
        EngineError::Resume { .. } => Failure::Usage(error.to_string()),
        EngineError::Layout(error) => Failure::whole_model(source.clone(), "state-too-large", error.to_string()),
        error => Failure::Internal(error.to_string()),
    }
}

/// Shows warnings about a model that can be used all the same.
fn show_warnings(source: &Source, warnings: &[Diagnostic]) {
    if !warnings.is_empty() {
        complain(&diagnostics::render(source, warnings, Palette::for_stderr()));
    }
}
