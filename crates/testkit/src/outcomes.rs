//! What two models must agree in, step by step: outcomes of steps and values of conditions, without messages.

use quotient_ir::{Fault, Outcome, Valuation};

/// An outcome as far as it must be the same, after `project` removed from the next state what may differ.
pub fn shown(outcome: &Outcome, project: impl FnOnce(&mut Valuation)) -> String {
    match outcome {
        Outcome::Next { state, covered } => {
            let mut state = state.clone();
            project(&mut state);
            format!("{state:?} {covered:?}")
        }
        Outcome::Pruned => "dropped".to_owned(),
        Outcome::Fault(fault) => format!("{:?} {:?}", fault.kind, fault.span),
    }
}

/// The value of a condition as far as it must be the same.
pub fn truth(result: Result<bool, Fault>) -> String {
    match result {
        Ok(truth) => truth.to_string(),
        Err(fault) => format!("{:?} {:?}", fault.kind, fault.span),
    }
}
