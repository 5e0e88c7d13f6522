//! Budgets as watches of graph and group algorithms.

use quotient_groups::Watch;
use quotient_ir::Budget;

/// The steps of graph and group algorithms, which mostly read arrays, that take as long as making a node of a function.
const STEPS_PER_UNIT: u64 = 4;

/// The watch through which graph and group algorithms draw on a budget.
pub fn watch(budget: &Budget) -> Watch {
    let budget = budget.clone();
    Watch::new(move |work| budget.spend(work.div_ceil(STEPS_PER_UNIT)).is_err())
}
