//! The engines that a build can leave out by Cargo features. What is asked of one that is left out is refused with the name
//! of the feature; what is chosen automatically does not try it.
//!
//! In place of the modules `symbolic`, `solver` and `workers`, such a build has those of the folder `absent`, with the same
//! functions.

use crate::options::Engine;
use crate::refusal::Refusal;

/// Whether sets of states can be searched.
pub(crate) const HAS_SETS: bool = cfg!(feature = "sets");

/// An engine that this build may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optional {
    /// Sets of states.
    Sets,
    /// A solver.
    Proofs,
    /// Several machines.
    Workers,
}

impl Optional {
    fn is_present(self) -> bool {
        match self {
            Self::Sets => HAS_SETS,
            Self::Proofs => cfg!(feature = "proofs"),
            Self::Workers => cfg!(feature = "workers"),
        }
    }

    /// The refusal of what needs it.
    pub(crate) fn refusal(self) -> Refusal {
        let (engine, feature) = match self {
            Self::Sets => ("symbolic engine (--engine symbolic)", "sets"),
            Self::Proofs => ("solver (--engine sat)", "proofs"),
            Self::Workers => ("search on several machines (--workers)", "workers"),
        };
        Refusal::LeftOut { engine, feature }
    }
}

/// Refuses an engine that this build lacks.
pub(crate) fn refuse_absent(engine: Engine, has_workers: bool) -> Result<(), Refusal> {
    let named = match engine {
        Engine::Symbolic => Some(Optional::Sets),
        Engine::Solver(_) => Some(Optional::Proofs),
        Engine::Auto | Engine::Explicit | Engine::Counters => None,
    };
    let mut needed = named.into_iter().chain(has_workers.then_some(Optional::Workers));
    match needed.find(|engine| !engine.is_present()) {
        Some(engine) => Err(engine.refusal()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quotient_ir::builder::{ModelBuilder, Type};
    use quotient_search::{Membership, SolverMethod};

    use super::*;
    use crate::control::{Control, Silent};
    use crate::error::Error;
    use crate::explore::{ExploreOptions, explore};
    use crate::model::Model;
    use crate::options::{Limits, Options};
    use crate::plan::Plan;

    fn model() -> Model {
        let mut model = ModelBuilder::new("turns");
        let turn = model.variable("turn", Type::boolean());
        model.start("first", |start| start.assign(&turn, false));
        model.rule("next", |rule| rule.assign(&turn, true));
        Model::new(model.build().expect("a valid model")).expect("a model that fits")
    }

    /// Checks that a request is refused if the engine it needs is left out, and only then, with the name of the feature.
    fn is_left_out(result: Result<(), Error>, is_present: bool, feature: &str) {
        let refused = result.err().map(|error| error.to_string()).filter(|error| error.contains("this build"));
        let named = refused.as_ref().map(|error| error.contains(&format!("the feature `{feature}`, which is on by")));
        assert_eq!(named, (!is_present).then_some(true), "{feature}: {refused:?}");
    }

    #[test]
    fn engines_that_are_left_out_are_refused_by_name() {
        let model = model();
        let members = Membership {
            hosts: vec!["localhost:1".to_owned()],
            process: 0,
            workers: 1,
            secret: None,
            listen: None,
            patience: Duration::ZERO,
        };
        for (engine, workers, is_present, feature) in [
            (Engine::Symbolic, None, cfg!(feature = "sets"), "sets"),
            (Engine::Solver(SolverMethod::default()), None, cfg!(feature = "proofs"), "proofs"),
            (Engine::Auto, Some(members), cfg!(feature = "workers"), "workers"),
        ] {
            let options = Options { engine, workers: workers.clone(), ..Options::default() };
            is_left_out(Plan::new(&model, &options).map(drop), is_present, feature);
            let options = ExploreOptions { engine, workers, ..ExploreOptions::default() };
            is_left_out(options.check(&model), is_present, feature);
        }
        let control = Control::start(&Limits::default());
        let explored = explore(&model, &ExploreOptions::default(), &control, &mut Silent).expect("it is explored");
        assert_eq!(explored.report.states, 2);
    }
}
