//! The formula of a model in the AIGER format (Biere, 2007), for other provers.

use quotient_ir::{Interrupt, Layout, Model};

use crate::formula::{Bit, Gate};
use crate::system::{NoSystem, System};
use quotient_booleans::{Full, Logic};
use quotient_search::{Checks, EngineError, SearchOptions};

/// The model in the binary AIGER format: latches for the bits of a state, all zero at first, and an output that is one
/// where something is wrong. What counts as wrong is what [`crate::check_by_solver`] looks for.
///
/// # Errors
/// If the model has no formula.
pub fn as_aiger(model: &Model, layout: &Layout, options: &SearchOptions) -> Result<Vec<u8>, EngineError> {
    let checks = Checks::new(model, options.properties.as_deref());
    let written = System::new(model, layout, &checks, options, usize::MAX, &Interrupt::new())
        .and_then(|system| written(system).map_err(NoSystem::from));
    written.map_err(|error| match error {
        NoSystem::Refused(error) => error,
        NoSystem::Spent => EngineError::Refused("the formula is too large"),
    })
}

fn written(system: System) -> Result<Vec<u8>, Full> {
    let System { mut formula, bits, slots, started, next, step, admitted, bad, inputs, .. } = system;
    // The circuit takes a step in any case. One that is not possible, or leads to no state, is the end: nothing counts
    // after it.
    let ended = formula.input()?;
    let exists = formula.or(&!started, &admitted)?;
    let exists = formula.and(&exists, &!ended)?;
    let goes_on = formula.and(&exists, &step)?;
    let output = formula.and(&exists, &bad)?;
    let mut latches = vec![(ended, !goes_on), (started, Bit::TRUE)];
    for (bits, next) in bits[..slots].iter().zip(&next) {
        latches.extend(bits.iter().copied().zip(next.iter().copied()));
    }

    let gates = formula.gates();
    let mut is_used = vec![false; gates.len()];
    for root in latches.iter().map(|&(_, next)| next).chain([output]) {
        is_used[root.node()] = true;
    }
    for (node, gate) in gates.iter().enumerate().rev() {
        if let Gate::And(left, right) = gate
            && is_used[node]
        {
            is_used[left.node()] = true;
            is_used[right.node()] = true;
        }
    }
    // Inputs come first, then latches, then gates.
    let mut numbers: Vec<Option<u32>> = vec![None; gates.len()];
    numbers[0] = Some(0);
    let variables = inputs.iter().copied().chain(latches.iter().map(|&(latch, _)| latch)).map(Bit::node);
    let conjunctions = (0..gates.len()).filter(|&node| is_used[node] && matches!(gates[node], Gate::And(..)));
    for (node, number) in variables.chain(conjunctions.clone()).zip(1..) {
        numbers[node] = Some(number);
    }
    let literal = |bit: Bit| 2 * numbers[bit.node()].expect("what is used has a number") + u32::from(bit.is_negated());
    let count = conjunctions.clone().count();
    let total = inputs.len() + latches.len() + count;
    let mut text = format!("aig {total} {} {} 1 {count}\n", inputs.len(), latches.len());
    for &(_, next) in &latches {
        text.push_str(&format!("{}\n", literal(next)));
    }
    text.push_str(&format!("{}\n", literal(output)));
    let mut bytes = text.into_bytes();
    for node in conjunctions {
        let Gate::And(left, right) = gates[node] else { unreachable!("only these were numbered") };
        let own = 2 * numbers[node].expect("it was numbered");
        let (low, high) = (literal(left).min(literal(right)), literal(left).max(literal(right)));
        push_number(&mut bytes, own - high);
        push_number(&mut bytes, high - low);
    }
    Ok(bytes)
}

/// Seven bits a byte, the least significant first.
fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
