//! Random models of each language, as tests of engines compare them.

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{DeadlockMode, Model, Source};

use crate::examples::load_murphi;
use crate::loose_murphi::loose_processes;
use crate::partial_murphi::partial_program;
use crate::random_b::random_machine;
use crate::random_csp::random_csp;
use crate::random_dve::random_dve;
use crate::random_murphi::{ProgramOptions, random_program};
use crate::random_promela::{random_promela, random_promela_claim, random_promela_states};
use crate::symmetric_murphi::{Kind, symmetric_program};

/// A sort of random models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Loosely coupled processes, in Murphi.
    Loose,
    /// Murphi programs: arbitrary, partly symmetric and symmetric.
    Murphi,
    /// Promela programs.
    Promela,
    /// DVE systems.
    Dve,
    /// CSP# programs.
    Csp,
    /// B machines.
    B,
}

impl Sort {
    /// Its name, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loose => "loose",
            Self::Murphi => "murphi",
            Self::Promela => "promela",
            Self::Dve => "dve",
            Self::Csp => "csp",
            Self::B => "b",
        }
    }

    /// The model of a seed, if it is valid.
    pub fn model(self, seed: u64) -> Option<Model> {
        match self {
            Self::Loose => load_murphi("random", &loose_processes(seed), &[]).ok(),
            Self::Murphi => {
                let options = ProgramOptions { size: 2, most_states: 1000, extensions: seed.is_multiple_of(8) };
                let text = match seed % 4 {
                    0 => random_program(seed, &options),
                    1 => partial_program(seed),
                    _ => symmetric_program(seed, Kind::Symmetric),
                };
                load_murphi("random", &text, &[]).ok()
            }
            Self::Promela => {
                let text = match seed % 4 {
                    0 => random_promela_claim(seed),
                    1 => random_promela_states(seed),
                    _ => random_promela(seed),
                };
                loaded(text, Language::Promela)
            }
            Self::Dve => loaded(random_dve(seed).text(), Language::Dve),
            Self::Csp => loaded(random_csp(seed).text(), Language::Csp),
            Self::B => loaded(random_machine(seed), Language::B),
        }
    }

    /// What counts as a deadlock in the model of a seed.
    pub fn deadlock(self, seed: u64) -> DeadlockMode {
        const MURPHI: [DeadlockMode; 3] = [DeadlockMode::Stuttering, DeadlockMode::Stuck, DeadlockMode::Off];
        match self {
            Self::Loose | Self::Murphi => MURPHI[seed as usize % MURPHI.len()],
            Self::Csp if seed % 2 == 1 => DeadlockMode::Off,
            _ => DeadlockMode::Stuck,
        }
    }
}

fn loaded(text: String, language: Language) -> Option<Model> {
    load(Source::new("random", text), language, &LoadOptions::default()).ok().map(|loaded| loaded.model)
}
