//! A model checker that finds the symmetry of a model automatically and checks the quotient.
//!
//! A [`Model`] comes from a file or a text in Murphi, Promela, B, DVE, CSP# or PNML, or from the [`builder`].
//! [`Options`] specify what to check and how. Both together make a [`Plan`], which is validated once and refuses
//! invalid combinations. Running it returns a [`Report`]. Cargo features leave languages out: `default` has all.
//!
//! ```
//! use quotient::{Language, Model, Options, Plan, Verdict};
//!
//! let text = r#"
//!     type process: scalarset(3);
//!     var waiting: array [process] of boolean; busy: boolean;
//!     startstate begin for p: process do waiting[p] := true; end; busy := false; end;
//!     ruleset p: process do
//!       rule "enter" waiting[p] & !busy ==> begin waiting[p] := false; busy := true; end;
//!       rule "leave" !waiting[p] & busy ==> begin waiting[p] := true; busy := false; end;
//!     end;
//!     invariant "at most one" forall p: process do forall q: process do
//!       !waiting[p] & !waiting[q] -> p = q end end;
//! "#;
//! let model = Model::from_text("lock", text, Language::Murphi)?;
//! let report = Plan::new(&model, &Options::default())?.run()?;
//! assert_eq!(report.verdict, Verdict::Holds);
//! // Two orbits stand for the four states.
//! assert_eq!((report.states, report.represented), (2, Some(4u32.into())));
//! # Ok::<(), quotient::Error>(())
//! ```
//!
//! A violated property comes with a counterexample, which was replayed with the reference interpreter:
//!
//! ```
//! use quotient::{Language, Model, Options, Plan, names};
//!
//! let text = r#"
//!     var x: 0..3;
//!     startstate begin x := 0; end;
//!     rule "grow" x < 3 ==> begin x := x + 1; end;
//!     invariant "small" x < 2;
//! "#;
//! let model = Model::from_text("counter", text, Language::Murphi)?;
//! let report = Plan::new(&model, &Options::default().property("small"))?.run()?;
//! let trace = report.properties[0].trace.as_ref().expect("it is violated");
//! for step in &trace.steps {
//!     for (slot, value) in model.layout().slots.iter().zip(&step.state.0) {
//!         println!("{} = {value:?}", slot.name);
//!     }
//! }
//! assert_eq!(trace.steps.len(), 3);
//! # Ok::<(), quotient::Error>(())
//! ```
//!
//! [`check`] does all of this in one call. In addition, [`detect`] only finds the symmetries, [`explore`] only visits
//! the state space, and [`walk`] follows single runs. Limits of time and memory apply to every operation; a
//! [`Control`] shares them between calls, and cancels from another thread.
//!
//! Nothing here prints, exits or needs a terminal. Long operations run on separate threads.
//!
//! # Inside
//!
//! * **Loading**: `model`, `languages` (the table of languages), `lowering` (what a front end may leave out),
//!   `identity`.
//! * **Questions**: `options`, `plan` (supported or refused, by the table `need` of the crate `search`), `refusal`,
//!   `selection`.
//! * **A check**: `checks` and `run`; `found` is what a search found. `slicing` makes the model smaller and lifts runs
//!   back; `strict` searches the model with strict quantifiers if its text then has more symmetries. `search`,
//!   `temporal`, `symbolic`, `solver`, `counters`, `adaptive`, `partial_order` and `workers` call the engines.
//!   `optima` asks again for a better state, `covers` and `remarks` for runs.
//! * **Runs**: `schedule` decides which run goes on, and how far; `course` does it; `detection` is one of the runs,
//!   `control` has limits and watches, `costs`, `clock` and `memory` measure.
//! * **Other questions**: `explore`, `symmetries` and `text` (detection), `certificate` (generators in names of the
//!   text, checked without graph and search: reachable states against their images on the reference interpreter, then
//!   normal forms; [what it trusts](../../../docs/adr/0016-results-that-describe-themselves.md)), `family` (the
//!   symmetries of a text with other constants), `partial`, `every`, [`walk`], `expressions`.
//! * **Results**: `report`, [`names`], [`shown`] (states, changes and titles, the same on the command line and on the
//!   page; `shown/chart.rs` draws message sequence charts), `runs` (files of runs: one module a format).
//! # Features
//!
//! Languages and engines can be left out. All of them are on by default, except `cadical`:
//!
//! | feature | what a build has with it |
//! | --- | --- |
//! | `murphi`, `b`, `promela`, `dve`, `csp`, `pnml` | the language |
//! | `sets` | [`Engine::Symbolic`] |
//! | `proofs` | [`Engine::Solver`] |
//! | `workers` | [`Options::workers`] |
//! | `machine-code` | rules compiled to machine code; without it, an evaluator runs them, with the same results |
//! | `cadical` | another solver for `proofs`, in C++ |
//!
//! What is left out keeps its name, and what asks for it is refused with the name of the feature. What is chosen
//! automatically does not try it. Models from the [`builder`] need no language, and are searched with no feature at all:
//!
//! ```toml
//! quotient = { version = "0.1", default-features = false }
//! ```

mod adaptive;
mod certificate;
mod checks;
mod clock;
mod control;
mod costs;
mod counters;
mod course;
mod covers;
mod detection;
mod engines;
mod error;
mod every;
mod explore;
mod expressions;
mod family;
mod found;
mod identity;
pub mod languages;
mod lowering;
mod memory;
mod model;
pub mod names;
mod nets;
mod optima;
mod options;
mod partial;
mod partial_order;
mod plan;
mod refusal;
mod remarks;
mod report;
mod run;
mod runs;
mod schedule;
mod search;
mod selection;
pub mod shown;
mod slicing;
#[cfg_attr(not(feature = "proofs"), path = "absent/solver.rs")]
mod solver;
mod strict;
#[cfg_attr(not(feature = "sets"), path = "absent/symbolic.rs")]
mod symbolic;
mod symmetries;
mod temporal;
mod text;
pub mod walk;
#[cfg_attr(not(feature = "workers"), path = "absent/workers.rs")]
mod workers;

use std::path::Path;

pub use quotient_ir as ir;
pub use quotient_ir::builder;
pub use quotient_search::defect;

pub use adaptive::{AdaptiveUse, RuleUse};
pub use certificate::{
    CERTIFICATE_SCHEMA, Cause, CellMove, Certificate, CertificateVerdict, Finding, GeneratorRecord, InstanceName,
    ModelRecord, RuleMove, ValueName, Verification, verify,
};
pub use control::{Control, Observer, Phase, Silent};
pub use error::{Error, Invalid};
pub use every::{
    Every, EveryAttempt, EveryCutOff, EveryGuards, EveryMethod, EveryProof, EveryReport, EverySize, EveryTextCutOff,
    EveryValue, every,
};
pub use explore::{Exploration, ExploreOptions, GraphEdge, Keep, NetCounts, SHOWN_STATES, StateGraph, explore};
pub use expressions::{Expression, Reached, reach};
pub use family::{Factor, Member, SizeFamily, family};
pub use identity::{TextFile, TextHash};
pub use languages::{Language, WellDefinedness, format_murphi, outline, syntax_errors};
pub use lowering::Lowering;
pub use memory::peak_bytes;
pub use model::{LoadOptions, Model, UnsupportedProperty, read, read_source};
pub use options::{Checkpoint, Engine, Limits, Options, PartialOrder, Reduction, Symmetry, USUAL_BITSTATE_BYTES};
pub use partial::{Approximations, Image, PartialReport, partial_symmetry};
pub use plan::Plan;
pub use quotient_graphs::{ProductReport, TemporalReport, UsedSymmetry};
pub use quotient_representatives::Strategy;
pub use quotient_search::{
    Approximation, Defect, Extent, FairnessMode, JudgedInstance, LivenessReport, Membership, Progress, PropertyReport,
    RuleFirings, SearchOrder, SetsReport, SolverMethod, Spill, StopReason, StoreMode, Subject, Verdict, ViolationLimit,
    Way,
};
pub use quotient_symmetry::{
    CertificationReport, CertifiedGroup, Completed, Description, Explanation, Family, Fixed, Individuals, Limit, Moved,
    Reason, Refused, RoleReport, TooManyStates, Witness,
};
pub use refusal::{MOST_THREADS, Refusal};
pub use report::{
    CrossCheck, GroupReport, Optimum, PartialOrderReport, ProofReport, ReductionReport, Remark, Report, SliceReport,
    SymmetryReport,
};
pub use runs::{RecordedRun, RunFile, RunFormat, RunOrigin, TrailFile, write_run};
pub use symmetries::{Answer, DetectOptions, Detected, Phases, Preserve, Question, SymmetryFormat, detect};
pub use text::TextReading;

/// Reads a model from a file and checks it, all within the limits of the options.
///
/// # Errors
/// If there is no model in the file, the options cannot be used, or there is a defect in this program.
pub fn check(path: impl AsRef<Path>, options: &Options) -> Result<Report, Error> {
    let control = Control::start(&options.limits);
    let loading = LoadOptions { lowering: Lowering::for_check(options), ..LoadOptions::default() };
    let model = Model::load(path, &loading, &control)?;
    Plan::new(&model, options)?.run_with(&control, &mut Silent)
}
