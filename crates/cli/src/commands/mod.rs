//! The commands, one file each: from arguments to options, a call of the library, and output.

use std::io;

use quotient::ir::{DeadlockMode, Diagnostic, Source};
use quotient::{
    Control, Engine, Error, Language, Limits, LoadOptions, Lowering, Model, Reduction, SearchOrder, SolverMethod,
    Strategy, Symmetry, Verdict, Way, WellDefinedness,
};

use crate::arguments::{
    DeadlockName, EngineName, LanguageName, LimitArguments, ModelArguments, OrderName, ReductionName,
    ResourceArguments, SymmetryName, WellDefinednessName,
};
use crate::failure::{Failure, HOLDS, INCONCLUSIVE, VIOLATED};
use crate::render::diagnostics;
use crate::terminal::{Palette, complain};

pub(crate) mod check;
pub(crate) mod detect;
mod every;
pub(crate) mod explore;
mod family;
pub(crate) mod language_server;
pub(crate) mod lower;
mod partial;
mod runs;
mod serve;
pub(crate) mod simulate;
pub(crate) mod verify;
pub(crate) mod watch;
pub(crate) mod workers;

/// Reads the model that the command line names.
///
/// # Errors
/// If there is no such file, or no model in it.
fn load_model(arguments: &ModelArguments, lowering: Lowering, control: &Control) -> Result<Model, Failure> {
    load_model_with(arguments, &load_options(arguments, lowering), control)
}

/// Reads the model that the command line names, with these options.
///
/// # Errors
/// If there is no such file, or no model in it.
fn load_model_with(arguments: &ModelArguments, options: &LoadOptions, control: &Control) -> Result<Model, Failure> {
    if arguments.path.as_os_str() == "-" {
        let bytes = quotient::read(io::stdin().lock()).map_err(|error| Error::File {
            path: "<stdin>".to_owned(),
            message: format!("cannot read standard input: {error}"),
        })?;
        // `quotient lower` prints Murphi, whatever language the model was lowered from.
        let language = options.language.unwrap_or(Language::Murphi);
        return Ok(Model::from_bytes("<stdin>", &bytes, language, options, control)?);
    }
    Ok(Model::load(&arguments.path, options, control)?)
}

/// The load options that the command line specifies.
fn load_options(arguments: &ModelArguments, lowering: Lowering) -> LoadOptions {
    LoadOptions {
        constraint: None,
        invariants: Vec::new(),
        reach: Vec::new(),
        ltl: Vec::new(),
        ctl: Vec::new(),
        property_files: arguments.property_files.clone(),
        constants: arguments.definitions.clone(),
        language: arguments.language.map(language),
        no_extra_nodes: arguments.no_extra_nodes,
        max_processes: arguments.max_processes,
        lowering,
        well_definedness: arguments.well_definedness.map(|wish| match wish {
            WellDefinednessName::Note => WellDefinedness::Remark,
            WellDefinednessName::Error => WellDefinedness::Error,
        }),
    }
}

fn language(name: LanguageName) -> Language {
    match name {
        LanguageName::Murphi => Language::Murphi,
        LanguageName::B => Language::B,
        LanguageName::Promela => Language::Promela,
        LanguageName::Dve => Language::Dve,
        LanguageName::Csp => Language::Csp,
        LanguageName::Pnml => Language::Pnml,
    }
}

fn limits(arguments: &LimitArguments) -> Limits {
    let LimitArguments { max_states, max_depth, resources: ResourceArguments { max_memory, timeout } } = *arguments;
    Limits { max_states, max_depth, max_memory, timeout }
}

fn symmetry(name: SymmetryName) -> Symmetry {
    match name {
        SymmetryName::Auto => Symmetry::Auto,
        SymmetryName::Declared => Symmetry::Declared,
        SymmetryName::Off => Symmetry::Off,
    }
}

fn reduction(name: ReductionName) -> Reduction {
    match name {
        ReductionName::Auto => Reduction::Auto,
        ReductionName::None => Reduction::None,
        ReductionName::Adaptive => Reduction::Adaptive,
        ReductionName::Canonical => Reduction::By(Strategy::Canonical),
        ReductionName::Sorted => Reduction::By(Strategy::Sorted),
        ReductionName::Segmented => Reduction::By(Strategy::Segmented),
        ReductionName::LocalSearch => Reduction::By(Strategy::LocalSearch),
        ReductionName::Flooding => Reduction::By(Strategy::Flooding),
        ReductionName::Markers => Reduction::By(Strategy::Markers),
        ReductionName::MarkersTrees => Reduction::By(Strategy::MarkersTrees),
        ReductionName::MarkersCanonical => Reduction::By(Strategy::MarkersCanonical),
        ReductionName::OrbitRelation => Reduction::OfSets(Way::OrbitRelation),
        ReductionName::MultipleRepresentatives => Reduction::OfSets(Way::MultipleRepresentatives),
        ReductionName::OnTheFly => Reduction::OfSets(Way::OnTheFly),
        ReductionName::SomeRepresentatives => Reduction::OfSets(Way::SomeRepresentatives { nodes: Way::USUAL_NODES }),
        ReductionName::Dynamic => Reduction::OfSets(Way::Dynamic),
    }
}

fn engine(name: EngineName) -> Engine {
    match name {
        EngineName::Auto => Engine::Auto,
        EngineName::Explicit => Engine::Explicit,
        EngineName::Symbolic => Engine::Symbolic,
        EngineName::Counters => Engine::Counters,
        EngineName::Sat => Engine::Solver(SolverMethod::Ic3),
        EngineName::SatBounded => Engine::Solver(SolverMethod::Bounded),
        EngineName::SatInduction => Engine::Solver(SolverMethod::Induction),
    }
}

fn order(name: OrderName) -> SearchOrder {
    match name {
        OrderName::Bfs => SearchOrder::BreadthFirst,
        OrderName::Dfs => SearchOrder::DepthFirst,
    }
}

fn deadlock_mode(name: DeadlockName) -> DeadlockMode {
    match name {
        DeadlockName::Off => DeadlockMode::Off,
        DeadlockName::Stuck => DeadlockMode::Stuck,
        DeadlockName::Stuttering => DeadlockMode::Stuttering,
    }
}

fn exit_status(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Holds => HOLDS,
        Verdict::Violated => VIOLATED,
        Verdict::Inconclusive => INCONCLUSIVE,
    }
}

/// A diagnostic about the model as a whole.
fn whole_model(source: &Source, code: &'static str, message: impl Into<String>) -> Failure {
    let diagnostic = Diagnostic { primary: None, ..Diagnostic::error(code, message, Default::default()) };
    let invalid = quotient::Invalid { source: source.clone(), diagnostics: vec![diagnostic] };
    Error::Model(Box::new(invalid)).into()
}

/// Shows warnings about a usable model.
fn show_warnings(model: &Model) {
    if !model.warnings().is_empty() {
        complain(&diagnostics::render(model.source(), model.warnings(), Palette::for_stderr()));
    }
}

/// Shows deviations from the options.
fn show_notes(notes: &[String]) {
    for note in notes {
        complain(&format!("note: {note}\n"));
    }
}
