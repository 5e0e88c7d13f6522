//! If no code can be made, the evaluator runs the whole model. `tests/agreement.rs` tests that the reports are the
//! same.

use cranelift_jit::ArenaMemoryProvider;
use quotient_ir::{Interpreter, Layout};
use quotient_testkit::examples::murphi_examples;

use super::{CompiledSystem, Host, Registers};

/// A machine with memory for very little code.
fn cramped() -> Option<Host> {
    let memory = ArenaMemoryProvider::new_with_size(1).expect("there is memory for one page");
    Some(Host { memory: Some(Box::new(memory)), ..Host::native(Registers::Backtracking)? })
}

#[test]
fn a_machine_without_code_generator_or_memory_is_no_error() {
    let examples = murphi_examples();
    let german = examples.iter().find(|example| example.name == "german.m").expect("an example");
    let model = german.load(&german.header.cases[0]).expect("an example is a model");
    let layout = Layout::new(&model).expect("an example has a layout");
    let interpreter = Interpreter::new(&model, &layout);
    let evaluator = crate::evaluator::SpecialisedSystem::of_reachable(&interpreter);
    let (compiled, left) = CompiledSystem::new(&evaluator, true).coverage();
    // Otherwise the rest would show nothing. The test machine may also lack a code generator.
    assert_eq!(compiled > 0, Host::native(Registers::Backtracking).is_some(), "{compiled} compiled, {left} not");
    for host in [None, cramped()] {
        let system = CompiledSystem::compile(&evaluator, host, true, false);
        assert_eq!(system.coverage(), (0, model.rules.len()));
    }
}
