//! The command line's grammar: commands, flags and the values they take. What a flag *does* is
//! the business of the command; what is written here is also what `--help`, the shell completions
//! and the manual page say.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use quotient::{EverySize, RunFormat, SymmetryFormat};

use crate::render::trace::{ShownValues, StateDetail};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "quotient",
    version,
    about = "A model checker for Murphi, Promela, classical B, DVE, CSP# and Petri nets that finds the symmetries of a model by itself",
    long_about = "A model checker: reads a model (Murphi, Promela, classical B, DVE, CSP# or PNML), visits every state it can reach, \
                  up to the symmetries that it finds in the model, and says whether its properties hold. A violated \
                  property comes with a run of the model that shows it.",
    after_help = "Exit status: 0 every property holds, 1 a property is violated, 2 wrong usage, 3 the model cannot \
                  be read or is invalid, 4 inconclusive (a limit was reached, or a property cannot be checked), 5 an \
                  internal error.",
    after_long_help = "\
Exit status:
  0  every property holds
  1  a property is violated
  2  wrong usage, or a file that cannot be written
  3  the model cannot be read, is invalid or uses something unsupported
  4  inconclusive: a limit was reached first, or a property cannot be checked
  5  an internal error: a defect of quotient, please report it

Environment:
  NO_COLOR  if set and not empty, no colours

Examples:
  quotient check model.m                      check every property
  quotient check -D Processes=4 model.m       the same with another constant
  quotient check --timeout 5m --format json model.m
  quotient detect model.m                     its symmetries
  quotient detect model.m --why-not 'Proc 1 2'
  quotient explore --export graph.dot model.m
  quotient simulate --seed 1 --steps 20 model.m",
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// The grammar as it is told to people: every command that is about a model needs one. The parser does not ask
    /// `detect` for it, see [`DetectArguments`].
    pub(crate) fn described() -> clap::Command {
        Self::command().mut_subcommand("detect", |detect| detect.mut_arg("path", |path| path.required(true)))
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check every property of a model
    Check(Box<CheckArguments>),
    /// Check a model again whenever its files change
    #[command(
        after_help = "All options of `quotient check` can be used but --serve. Ctrl-C ends it.\n\nExample: quotient watch model.m"
    )]
    Watch(Box<CheckArguments>),
    /// Find the symmetries of a model, or why there are none
    Detect(DetectArguments),
    /// Check a certificate of symmetries against the text of a model
    Verify(VerifyArguments),
    /// Visit the state space without checking properties; count it, export it
    Explore(ExploreArguments),
    /// Run a model, at random or step by step
    Simulate(SimulateArguments),
    /// Print the sequential model as Murphi
    Lower(LowerArguments),
    /// Serve an editor on standard input and output, by the language server protocol
    #[command(after_help = "Editors start this themselves; docs/guide/editor.md tells how to set them up.")]
    LanguageServer {
        /// Accepted for editors that always give it: there is no other way to talk
        #[arg(long)]
        stdio: bool,
    },
    /// Print a completion script for a shell
    #[command(after_help = "Example: quotient completions bash > ~/.local/share/bash-completion/completions/quotient")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_help = "Example: quotient man | man -l -")]
    Man,
}

/// Where the model comes from.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// The model's file; `-` is standard input (read as Murphi unless --language says otherwise)
    #[arg(value_name = "MODEL")]
    pub(crate) path: PathBuf,
    /// Override a constant or macro of the model; may be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_definition)]
    pub(crate) definitions: Vec<(String, String)>,
    /// The language of the model, if its file extension does not say
    #[arg(long, value_enum)]
    pub(crate) language: Option<LanguageName>,
    /// B: omit the root state and the states that only set up constants
    #[arg(long)]
    pub(crate) no_extra_nodes: bool,
    /// Promela: the largest number of processes that exist at the same time, up to 255 [default: the bound that follows
    /// from the text, or 12 more than at the start]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) max_processes: Option<u8>,
    /// B: how to treat a guard or condition that is not well-defined [default: note]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) well_definedness: Option<WellDefinednessName>,
    /// PNML: a file of properties in the form of the Model Checking Contest; may be repeated
    #[arg(long = "properties", value_name = "FILE")]
    pub(crate) property_files: Vec<PathBuf>,
}

/// What a condition of a B operation without a value comes to.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WellDefinednessName {
    /// It is false, as in ProB, and a note gives its location
    Note,
    /// It is an error
    Error,
}

/// How to search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchArguments {
    /// The search order; breadth-first finds shortest counterexamples if it takes all steps (see --partial-order)
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = OrderName::Bfs)]
    pub(crate) search: OrderName,
    /// How to reduce the state space by symmetry
    #[arg(long, value_enum, value_name = "REDUCTION", default_value_t = ReductionName::Auto)]
    pub(crate) reduction: ReductionName,
    /// The number of threads; verdicts and counts do not depend on it (depth-first uses one)
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_threads)]
    pub(crate) threads: u32,
    /// Promela: also store and count transient states, those inside atomic sequences
    #[arg(long)]
    pub(crate) store_passing: bool,
}

/// Several machines that search together.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several machines")]
pub(crate) struct WorkerArguments {
    /// Search together with the processes of --hosts, each with N threads that store a share of the states
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) workers: Option<u32>,
    /// The addresses of all processes, a line host:port for each [default: only this process]
    #[arg(long, value_name = "FILE", requires = "workers")]
    pub(crate) hosts: Option<PathBuf>,
    /// Which of them this process is, counted from 0
    #[arg(long, value_name = "I", requires = "hosts")]
    pub(crate) process: Option<usize>,
    /// What only these processes know: the contents of this file [default: the environment variable QUOTIENT_SECRET]
    #[arg(long, value_name = "FILE", requires = "hosts")]
    pub(crate) secret: Option<PathBuf>,
    /// Listen on this address of the machine, instead of loopback
    #[arg(long, value_name = "ADDRESS", requires = "hosts")]
    pub(crate) listen: Option<IpAddr>,
    /// How long to wait for the other processes [default: 1m]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, requires = "hosts")]
    pub(crate) wait: Option<Duration>,
}

/// When to give up.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// Stop after N states
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_states: Option<u64>,
    /// Do not explore beyond N steps from an initial state
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u64>,
    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

/// What a whole command may take.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct ResourceArguments {
    /// Stop when the process uses this much memory, such as 500M or 4GiB [default: most of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_memory: Option<u64>,
    /// Stop after this time, such as 500ms, 30s, 5m or 1h; limits the whole run
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

/// Going on later.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checkpoints")]
pub(crate) struct CheckpointArguments {
    /// Save the search to a file periodically and when a limit ends it; with --workers, to files in this folder
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// How often to save it
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = parse_duration, requires = "checkpoint")]
    pub(crate) checkpoint_every: Duration,
    /// Resume from a checkpoint of the same model and options
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
}

/// What to do when memory is full.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct SpillArguments {
    /// When memory is full (--max-memory), continue with files in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["checkpoint", "cross_check"])]
    pub(crate) spill: Option<PathBuf>,
    /// Stop when these files reach this size, such as 100GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "spill")]
    pub(crate) max_disk: Option<u64>,
}

/// How to say it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// Do not show progress on standard error
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// A page about the model instead of printed results.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub(crate) struct PageArguments {
    /// Open a page in the browser, with the progress, the graph, runs and symmetries; Ctrl-C ends it
    #[arg(long, conflicts_with_all = ["format", "no_progress"])]
    pub(crate) serve: bool,
    /// The port of the page [default: one that is free]
    #[arg(long, value_name = "N", requires = "serve")]
    pub(crate) port: Option<u16>,
    /// Only print the address of the page
    #[arg(long, requires = "serve")]
    pub(crate) no_browser: bool,
}

/// How to say the result of a check.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CheckOutputArguments {
    /// The output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
    /// Do not show progress on standard error
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// How runs are shown and kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct RunArguments {
    /// Write the run to a file: .json in a format of our own, .itf.json in the Informal Trace Format of Apalache and
    /// Quint
    #[arg(long, value_name = "FILE", value_parser = parse_run_destination)]
    pub(crate) trace_to: Option<RunDestination>,
    /// Which values of each state to show
    #[arg(long, value_enum, value_name = "VALUES", default_value_t = ShownValues::Changed)]
    pub(crate) values: ShownValues,
    /// Show the last state of a run in full
    #[arg(long)]
    pub(crate) last_state: bool,
}

impl RunArguments {
    /// How much of the states of a run is shown.
    pub(crate) fn detail(&self) -> StateDetail {
        StateDetail { values: self.values, last_state: self.last_state }
    }
}

/// A file to write a run to and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunDestination {
    /// Where to.
    pub(crate) path: PathBuf,
    /// In which format.
    pub(crate) format: RunFormat,
}

/// `quotient check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quotient check model.m
  quotient check -D Processes=4 --property 'mutual exclusion' model.m
  quotient check --deadlock off --max-states 1000000 model.m
  quotient check --all-errors model.m
  quotient check --symmetry off model.m
  quotient check --cross-check model.m
  quotient check --every N model.m
  quotient check --every READERS --every WRITERS model.m
  quotient check --format junit model.m > results.xml
  quotient lower model.m | quotient check -")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Check only this property: a name, `deadlock` or `errors`, in Promela also `acceptance` or `progress`; may be repeated
    #[arg(long = "property", value_name = "NAME")]
    pub(crate) properties: Vec<String>,
    /// What counts as a deadlock [default: stuttering; stuck in Promela, B, DVE and PNML, off in CSP#]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) deadlock: Option<DeadlockName>,
    /// Continue past violations: one shortest run for each property and each kind of error
    #[arg(long)]
    pub(crate) all_errors: bool,
    /// The same, but stop after N violations
    #[arg(long, value_name = "N", conflicts_with = "all_errors", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_errors: Option<u64>,
    /// Do not expand states in which this condition, in the language of the model, is false; they are checked
    #[arg(long, value_name = "EXPR")]
    pub(crate) constraint: Option<String>,
    /// Also check that this condition, in the language of the model, holds in every reachable state; may be repeated
    #[arg(long, value_name = "EXPR")]
    pub(crate) invariant: Vec<String>,
    /// Also check that this condition, in the language of the model, holds in some reachable state; may be repeated
    #[arg(long, value_name = "EXPR")]
    pub(crate) reach: Vec<String>,
    /// Also check that this formula of LTL holds on every run, as in `[] (p -> <> q)`; may be repeated
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,
    /// Also check that this formula of CTL or CTL* holds at the start, as in `AG EF p`; may be repeated
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ctl: Vec<String>,
    /// Check all models in which this constant, the size of a type with interchangeable values or values in a line, is FROM or
    /// more; may be repeated, for two types
    #[arg(long, value_name = "NAME[=FROM]", value_parser = parse_every)]
    pub(crate) every: Vec<EverySize>,
    /// How `--every` proves that
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = EveryMethodName::Auto, requires = "every")]
    pub(crate) every_method: EveryMethodName,
    /// Show a run to each cover that is reached, too; that takes a search for each
    #[arg(long)]
    pub(crate) cover_runs: bool,
    /// Also write the results as one page of HTML: verdicts, runs, symmetries, states by level
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Promela and CSP#: draw the first counterexample as a message sequence chart (SVG)
    #[arg(long, value_name = "FILE")]
    pub(crate) msc: Option<PathBuf>,
    /// How states are searched
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t = EngineName::Auto, help_heading = "Search")]
    pub(crate) engine: EngineName,
    /// Which symmetries to use
    #[arg(long, value_enum, value_name = "SYMMETRY", default_value_t = SymmetryName::Auto, help_heading = "Search")]
    pub(crate) symmetry: SymmetryName,
    /// Also search without symmetry, and compare verdicts, counts and every state
    #[arg(long, help_heading = "Search")]
    pub(crate) cross_check: bool,
    /// Count how often each rule fires, by a second look at every state
    #[arg(long, help_heading = "Search")]
    pub(crate) statistics: bool,
    /// Take a part of the steps of a state where that suffices, because steps do not depend on each other
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = PartialOrderName::Auto, help_heading = "Search")]
    pub(crate) partial_order: PartialOrderName,
    /// Count the states of the whole model: also keep the variables that nothing can notice
    #[arg(long, help_heading = "Search")]
    pub(crate) exact_counts: bool,
    /// With several threads, find states in the order of one: the same counterexample in each run, in more time
    #[arg(long, help_heading = "Search")]
    pub(crate) exact_order: bool,
    /// Which infinite runs count for temporal properties
    #[arg(long, value_enum, value_name = "FAIRNESS", default_value_t = FairnessName::None, help_heading = "Properties")]
    pub(crate) fairness: FairnessName,
    /// How to store states
    #[arg(long, value_enum, value_name = "STORE", default_value_t = StoreName::Exact, help_heading = "Search")]
    pub(crate) store: StoreName,
    /// The size of the table of `--store bitstate` [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Search")]
    pub(crate) bitstate_size: Option<u64>,
    #[command(flatten)]
    pub(crate) search: SearchArguments,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) spilling: SpillArguments,
    #[command(flatten)]
    pub(crate) checkpoints: CheckpointArguments,
    #[command(flatten)]
    pub(crate) workers: WorkerArguments,
    #[command(flatten)]
    pub(crate) run_files: RunArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) output: CheckOutputArguments,
}

/// `quotient detect`.
#[derive(Debug, Args)]
#[command(
    override_usage = "quotient detect [OPTIONS] <MODEL>",
    after_help = "\
A symmetry leaves the behaviour of the model and its properties unchanged. A REQUEST is `TYPE VALUE VALUE` (exchange \
two values of a type), `rotate TYPE`, or two variables or parts of variables: `'x[1] x[2]'`.

Exported graphs are for bliss and saucy (.dimacs, .bliss), for nauty and Traces (.dre) and for Graphviz (.dot); the \
group is a program for GAP (.g, .gap) that prints its order.

Examples:
  quotient detect model.m
  quotient detect -D Processes=40 --no-properties model.m
  quotient detect model.m --why-not
  quotient detect model.m --why-not 'Proc 1 2'
  quotient detect -D Processes=1000 --text model.m
  quotient detect model.m --family
  quotient detect --export graph.dre model.m && dreadnaut < graph.dre
  quotient detect --certificate model.json model.m && quotient verify model.json model.m"
)]
pub(crate) struct DetectArguments {
    // Not required here: `--why-not MODEL` takes the model for a request at first.
    #[command(flatten)]
    pub(crate) model: OptionalModelArguments,
    /// Preserve only this property; may be repeated [default: all of them]
    #[arg(long = "property", value_name = "NAME", conflicts_with = "no_properties")]
    pub(crate) properties: Vec<String>,
    /// Preserve only the behaviour
    #[arg(long)]
    pub(crate) no_properties: bool,
    /// Which symmetries to look for
    #[arg(long, value_enum, value_name = "SYMMETRY", default_value_t = SymmetryName::Auto)]
    pub(crate) symmetry: SymmetryName,
    /// Say what breaks a symmetry; without a request, what distinguishes the values of each index type
    #[arg(long, value_name = "REQUEST", num_args = 0..=1)]
    pub(crate) why_not: Option<Option<String>>,
    /// Say what each rule distinguishes, and whether the state space is nearly, roughly or virtually symmetric
    #[arg(long, conflicts_with_all = ["why_not", "export", "certificate"])]
    pub(crate) partial: bool,
    /// Only read the text, which takes milliseconds whatever the sizes are
    #[arg(long, conflicts_with_all = ["partial", "family", "export", "certificate"])]
    pub(crate) text: bool,
    /// Say how the symmetries depend on the constants of the text: `S_N × S_V, for all N, V`
    #[arg(long, conflicts_with_all = ["why_not", "partial", "export", "certificate"])]
    pub(crate) family: bool,
    /// Write the graph or the group to a file, by its extension: .dimacs, .bliss, .dre, .dot, .g, .gap
    #[arg(long, value_name = "FILE", value_parser = parse_symmetry_export)]
    pub(crate) export: Option<SymmetryExport>,
    /// Write the generators to a file, with what `quotient verify` needs to check them
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Human, help_heading = "Output")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

/// `quotient verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
The model is read again, with the constants that the certificate names. The exit status is 0 if every generator is a \
symmetry and the group has the order that is claimed, 1 if something is refuted, 4 if a generator can neither be \
certified nor refuted.

Example:
  quotient detect model.m --certificate model.json && quotient verify model.json model.m")]
pub(crate) struct VerifyArguments {
    /// The certificate, written by `quotient detect --certificate`
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: PathBuf,
    /// The model's file
    #[arg(value_name = "MODEL")]
    pub(crate) path: PathBuf,
    /// The language of the model, if its file extension does not say
    #[arg(long, value_enum)]
    pub(crate) language: Option<LanguageName>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Human, help_heading = "Output")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

/// Where the model comes from, for a command that finds out about a missing one by itself.
#[derive(Debug, Args)]
pub(crate) struct OptionalModelArguments {
    /// The model's file; `-` is standard input (read as Murphi unless --language says otherwise)
    #[arg(value_name = "MODEL")]
    pub(crate) path: Option<PathBuf>,
    /// Override a constant or macro of the model; may be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_definition)]
    pub(crate) definitions: Vec<(String, String)>,
    /// The language of the model, if its file extension does not say
    #[arg(long, value_enum)]
    pub(crate) language: Option<LanguageName>,
    /// Promela: the largest number of processes that exist at the same time, up to 255 [default: the bound that follows
    /// from the text, or 12 more than at the start]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) max_processes: Option<u8>,
}

/// `quotient explore`.
#[derive(Debug, Args)]
#[command(after_help = "\
In an Aldebaran file (.aut) the initial state is state 0. If there are several, state 0 is an extra root with an \
edge labelled \"i\" to each of them.

With --symmetry auto or declared, one state of each orbit is visited, and an edge also says the permutation that takes \
the state its rule leads to to the one that is stored: `rule(1) then (process 1 2)`.

Examples:
  quotient explore model.m
  quotient explore --symmetry auto --export quotient.dot model.m
  quotient explore --export graph.aut model.m
  quotient explore --export graph.dot --variables state,owner model.m
  quotient explore --export graph.dot model.m && dot -Tsvg -O graph.dot
  quotient explore --serve model.m")]
pub(crate) struct ExploreArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Write the graph to a file, by its extension as Aldebaran (.aut) or Graphviz (.dot)
    #[arg(long, value_name = "FILE", value_parser = parse_export)]
    pub(crate) export: Option<Export>,
    /// Show only these variables in the nodes of a .dot file, separated by commas [default: all that vary]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) variables: Vec<String>,
    /// What counts as a deadlock [default: stuttering; stuck in Promela, B, DVE and PNML, off in CSP#]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) deadlock: Option<DeadlockName>,
    /// Which symmetries to use [default: off; auto with --serve, and for PNML unless another engine is given]
    #[arg(long, value_enum, value_name = "SYMMETRY", help_heading = "Search")]
    pub(crate) symmetry: Option<SymmetryName>,
    /// How states are searched: auto, explicit, symbolic or counters
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t = EngineName::Auto, help_heading = "Search")]
    pub(crate) engine: EngineName,
    /// Take a part of the steps where that preserves deadlocks and errors; the states represented are not counted
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = AskedName::Off, help_heading = "Search")]
    pub(crate) partial_order: AskedName,
    #[command(flatten)]
    pub(crate) search: SearchArguments,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) workers: WorkerArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// `quotient simulate`.
#[derive(Debug, Args)]
#[command(after_help = "\
In a terminal you choose each step; otherwise, or with --random, --seed or --steps, steps are chosen at random. The same \
seed gives the same run. Where several steps lead to states that are the same up to a symmetry, the first is listed, with \
the numbers of the others. The exit status is 1 if the run ends in a violation, and 0 otherwise: a run proves nothing.

With --check, runs are not shown unless one violates a property. If none does, the answer is inconclusive, and the exit \
status is 4. Run K has the seed of the first one and K - 1, so that it can be repeated by itself.

Examples:
  quotient simulate model.m
  quotient simulate --seed 7 --steps 50 model.m
  quotient simulate --random --format json model.m
  quotient simulate --check --runs 1000 --seed 1 model.m
  quotient check --trace-to run.json model.m; quotient simulate --replay run.json model.m")]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Choose steps at random, even in a terminal
    #[arg(long, conflicts_with = "interactive")]
    pub(crate) random: bool,
    /// Choose steps by hand, even without a terminal
    #[arg(long, conflicts_with_all = ["steps", "format"])]
    pub(crate) interactive: bool,
    /// The seed of the random choices [default: a fresh one, which is printed]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The largest number of steps of a random run [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// The number of random runs to check [default: 1]
    #[arg(long, value_name = "N", requires = "check", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
    /// Check every property along random runs, and show the first run that violates one
    #[arg(long, conflicts_with = "interactive")]
    pub(crate) check: bool,
    /// With --check, what counts as a deadlock [default: stuttering; stuck in Promela, B, DVE and PNML, off in CSP#]
    #[arg(long, value_enum, value_name = "MODE", requires = "check")]
    pub(crate) deadlock: Option<DeadlockName>,
    /// Which symmetries group the steps you choose from [default: auto]
    #[arg(long, value_enum, value_name = "SYMMETRY")]
    pub(crate) symmetry: Option<SymmetryName>,
    /// Step through a run that --trace-to has written, or one in the Informal Trace Format
    #[arg(long, value_name = "FILE", conflicts_with_all = ["random", "seed", "steps"])]
    pub(crate) replay: Option<PathBuf>,
    /// Step through a trail that SPIN has written for this Promela model
    #[arg(long, value_name = "FILE", conflicts_with_all = ["replay", "random", "seed", "steps"])]
    pub(crate) trail: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run_files: RunArguments,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Human, help_heading = "Output")]
    pub(crate) format: Format,
}

/// `quotient lower`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quotient lower model.m
  quotient lower -D Processes=3 --output lowered.m model.m")]
pub(crate) struct LowerArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Leave out temporal formulas and fairness, which other tools for Murphi do not read
    #[arg(long)]
    pub(crate) no_extensions: bool,
}

/// The languages by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LanguageName {
    /// Murphi, as rumur and CMurphi read it
    Murphi,
    /// Classical B, as ProB and Atelier B read it
    B,
    /// Promela, as SPIN reads it
    Promela,
    /// DVE, as DiVinE reads it
    Dve,
    /// CSP#, as PAT reads it
    Csp,
    /// PNML, as the Model Checking Contest uses it
    Pnml,
}

/// How claims about every value of a constant are proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EveryMethodName {
    /// By views; backward where few views are too coarse
    Auto,
    /// By views: what a few processes can hold together
    Views,
    /// Backward from what is wrong; decides where more processes never prevent a step
    Backward,
    /// By a search up to a number that the text shows to suffice; where processes share nothing but what guards ask
    Cutoff,
}

/// When steps are left out by partial order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartialOrderName {
    /// Where what is checked allows it and it pays: it is tried beside a search of all steps
    Auto,
    /// Always; refuses what needs all steps
    On,
    /// Never
    Off,
}

/// Whether something is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskedName {
    /// Yes
    On,
    /// No
    Off,
}

/// The kinds of fairness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FairnessName {
    /// All
    None,
    /// Those on which a process that can always move from some point on moves again and again
    Weak,
    /// Those on which a process that can move again and again does so
    Strong,
    /// Those on which an event that is always possible from some point on happens again and again
    WeakEvent,
    /// Those on which an event that is possible again and again happens again and again
    StrongEvent,
    /// As `weak`, only for models with processes
    WeakProcess,
    /// As `strong`, only for models with processes
    StrongProcess,
    /// Those on which each step of a state has a positive probability: formulas hold with probability one
    Global,
}

/// The stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreName {
    /// Whole states
    Exact,
    /// Whole states, in few bytes each; somewhat slower
    Dense,
    /// 64-bit hashes (hash compaction); approximate
    Compact,
    /// Three bits per state (bitstate hashing); approximate
    Bitstate,
}

/// The orders of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderName {
    /// Breadth-first
    Bfs,
    /// Depth-first
    Dfs,
}

/// What counts as a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeadlockName {
    /// Nothing does
    Off,
    /// No rule can fire
    Stuck,
    /// No rule can fire and change the state
    Stuttering,
}

/// The symmetries to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SymmetryName {
    /// All symmetries of the model
    Auto,
    /// Those that scalarsets declare
    Declared,
    /// None
    Off,
}

/// The reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReductionName {
    /// The best method for the symmetries found
    Auto,
    /// None
    None,
    /// One representative per orbit
    Canonical,
    /// Sort interchangeable parts; may store several states of an orbit
    Sorted,
    /// Sort, and try all orders of parts that sorting does not distinguish
    Segmented,
    /// Apply generators while they decrease the state; may store several states of an orbit
    LocalSearch,
    /// The least state of the orbit, by enumerating the orbit
    Flooding,
    /// One state per symmetry marker; fast, approximate if markers collide
    Markers,
    /// The same with more precise markers, trees instead of paths
    MarkersTrees,
    /// One representative per orbit, by canonicalization if markers do not decide
    MarkersCanonical,
    /// States annotated with the partition of processes not yet distinguished; for partly symmetric models and
    /// safety properties
    Adaptive,
    /// Symbolic: the relation of states in the same orbit, and the least state of each
    OrbitRelation,
    /// Symbolic: some permutations are tried; may keep several states of an orbit
    MultipleRepresentatives,
    /// Symbolic: what is found first represents its orbit; may keep several states of an orbit
    OnTheFly,
    /// Symbolic: the same, but of many new states only some are followed; finds violations, and rarely decides
    SomeRepresentatives,
    /// Symbolic: sets are sorted by exchanges; one representative per orbit
    Dynamic,
}

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// One state at a time; sets of states if single ones do not fit into memory, or are many when a net is explored
    Auto,
    /// One state at a time
    Explicit,
    /// Sets of states, as decision diagrams
    Symbolic,
    /// How many interchangeable processes are in which local state, for any number of them
    Counters,
    /// Proofs by a solver for satisfiability (IC3), without looking at states one by one; for invariants, errors and
    /// deadlocks
    Sat,
    /// The same solver, one step more at a time: finds shortest runs, and rarely proves
    SatBounded,
    /// The same solver, by induction over simple paths
    SatInduction,
}

/// The forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text
    Human,
    /// One JSON object
    Json,
}

/// The forms of output of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Text
    Human,
    /// One JSON object
    Json,
    /// JUnit XML: a test case for each property
    Junit,
    /// SARIF 2.1.0: a result for each property, with its place and its run
    Sarif,
}

impl From<Format> for CheckFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Human => Self::Human,
            Format::Json => Self::Json,
        }
    }
}

/// A file to export to and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Export {
    /// Where to.
    pub(crate) path: PathBuf,
    /// In which format.
    pub(crate) format: ExportFormat,
}

/// The formats of exported graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    /// Aldebaran, `.aut`.
    Aldebaran,
    /// Graphviz, `.dot`.
    Dot,
}

/// A file to export symmetry to and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymmetryExport {
    /// Where to.
    pub(crate) path: PathBuf,
    /// In which format.
    pub(crate) format: SymmetryFormat,
}

fn parse_definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    if !is_name {
        return Err(format!("`{name}` is not the name of a constant"));
    }
    if value.trim().is_empty() {
        return Err(format!("no value for `{name}`"));
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

fn parse_threads(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) => Err("a search needs a thread".into()),
        Ok(threads @ 1..=1024) => Ok(threads),
        Ok(_) => Err("at most 1024 threads".into()),
        Err(_) => Err("expected a number".into()),
    }
}

fn parse_run_destination(text: &str) -> Result<RunDestination, String> {
    let path = PathBuf::from(text);
    match RunFormat::of_file_name(&path) {
        Some(format) => Ok(RunDestination { path, format }),
        None => Err("the file's name must end in .json or .itf.json".into()),
    }
}

fn parse_export(text: &str) -> Result<Export, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let format = match extension.as_deref() {
        Some("aut") => ExportFormat::Aldebaran,
        Some("dot" | "gv") => ExportFormat::Dot,
        _ => return Err("the file's name must end in .aut or .dot".into()),
    };
    Ok(Export { path, format })
}

fn parse_symmetry_export(text: &str) -> Result<SymmetryExport, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let format = match extension.as_deref() {
        Some("dimacs" | "bliss") => SymmetryFormat::Dimacs,
        Some("dre") => SymmetryFormat::Dreadnaut,
        Some("dot" | "gv") => SymmetryFormat::Dot,
        Some("g" | "gap") => SymmetryFormat::Gap,
        _ => return Err("the file's name must end in .dimacs, .bliss, .dre, .dot, .g or .gap".into()),
    };
    Ok(SymmetryExport { path, format })
}

/// Splits `12.5MiB` into the number's text and the unit.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    (&text[..end], &text[end..])
}

/// A number with a unit of so many smaller parts, in those parts.
fn scale(number: &str, unit: u64) -> Result<u64, String> {
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit).ok_or_else(|| "too large".to_owned());
    }
    let fraction: f64 = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
    let scaled = fraction * unit as f64;
    if scaled < u64::MAX as f64 { Ok(scaled as u64) } else { Err("too large".into()) }
}

fn parse_every(text: &str) -> Result<EverySize, String> {
    let (constant, from) = text.split_once('=').unwrap_or((text, "1"));
    match from.trim().parse() {
        Ok(from) if !constant.trim().is_empty() => Ok(EverySize { constant: constant.trim().to_owned(), from }),
        _ => Err("expected the name of a constant, or its least value as in `N=2`".into()),
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let unit = match unit.to_ascii_lowercase().as_str() {
        "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return Err("expected a size with its unit, such as 500M or 4GiB".into()),
    };
    match scale(number, unit)? {
        0 => Err("a size of zero leaves room for no state".into()),
        size => Ok(size),
    }
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a duration with its unit, such as 500ms, 30s, 5m or 1h";
    let mut rest = text;
    let mut total = 0u64;
    if rest.is_empty() {
        return Err(EXPECTED.into());
    }
    while !rest.is_empty() {
        let (number, after) = split_unit(rest);
        let end = after.find(|character: char| character.is_ascii_digit()).unwrap_or(after.len());
        let nanoseconds = match &after[..end] {
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" | "min" => 60 * 1_000_000_000,
            "h" => 3600 * 1_000_000_000,
            _ => return Err(EXPECTED.into()),
        };
        total = total.checked_add(scale(number, nanoseconds)?).ok_or("too large")?;
        rest = &after[end..];
    }
    Ok(Duration::from_nanos(total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes() {
        for (text, bytes) in
            [("1K", 1024), ("1kib", 1024), ("512M", 512 << 20), ("1.5GiB", 3 << 29), ("2t", 2 << 40), ("7b", 7)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "5", "5MB", "M", "0K", "-1K", "1..5K", "99999999999999G", "1 K"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
            ("1h30m", 5_400_000),
            ("0.5s", 500),
            ("0s", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "5", "s", "5d", "5 s", "1.2.3s", "999999999999999h", "-1s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn definitions() {
        assert_eq!(parse_definition("N=3"), Ok(("N".into(), "3".into())));
        assert_eq!(parse_definition("Max_2=1 + 2"), Ok(("Max_2".into(), "1 + 2".into())));
        for text in ["N", "=3", "N=", "2N=3", "a b=3"] {
            assert!(parse_definition(text).is_err(), "{text}");
        }
    }
}
