//! Tests a net against its model: a few markings for each change, run by the reference interpreter.

use quotient_ir::{Budget, Interpreter, Layout, Model, Net, Outcome, RuleId, SlotId, Spent, TableIndex, Valuation};

/// The first difference found between a net and its model, in words.
///
/// # Errors
/// If the work is not permitted.
pub(crate) fn difference(model: &Model, layout: &Layout, net: &Net, budget: &Budget) -> Result<Option<String>, Spent> {
    let cells = cells(layout, net);
    let interpreter = Interpreter::new(model, layout).until(budget.interrupt());
    let comparison = Comparison { net, cells, interpreter };
    if !comparison.begins_alike() {
        return Ok(Some("the initial marking".into()));
    }
    let mut marking = layout.initial();
    comparison.cells.iter().for_each(|&cell| marking[cell] = Some(0));
    for (change, firing) in net.firings.iter().enumerate() {
        let Some((rule, arguments)) = firing else { continue };
        budget.spend(comparison.cells.len().max(1) as u64)?;
        let is_alike = comparison.is_alike(change, (*rule, arguments), &mut marking);
        // An interrupted interpreter reports no successor, which would look like a difference.
        budget.spend(0)?;
        if !is_alike {
            let name = model.rules[*rule].name.as_deref().unwrap_or_default();
            return Ok(Some(format!("the tokens of `{name}` with {arguments:?}")));
        }
    }
    Ok(None)
}

/// The slot of each cell.
fn cells(layout: &Layout, net: &Net) -> Vec<SlotId> {
    let of_place = |&place| {
        let first = layout.first_slot(place).position();
        (first..layout.slots.len())
            .map(SlotId::from_position)
            .take_while(move |&slot| layout.slots[slot].variable == place)
    };
    net.places.iter().flat_map(of_place).collect()
}

struct Comparison<'a> {
    net: &'a Net,
    /// The slot of each cell.
    cells: Vec<SlotId>,
    interpreter: Interpreter<'a>,
}

impl Comparison<'_> {
    /// Whether the model's only start state is the initial marking, unless the marking does not fit.
    fn begins_alike(&self) -> bool {
        let model = self.interpreter.model();
        let mut starts = model.starts.iter_enumerated();
        let (Some((start, entry)), None) = (starts.next(), starts.next()) else { return false };
        if !entry.parameters.is_empty() || self.cells.len() != self.net.vectors.initial.len() {
            return false;
        }
        let initial: Vec<(usize, i64)> = self.net.vectors.initial.iter().copied().enumerate().collect();
        !self.has_room(&initial) || self.leads_to(self.interpreter.run_start(start, &[]), &initial)
    }

    /// Whether an instance of a rule can fire with exactly the tokens that a change takes, produces what the change adds, and is
    /// disabled when any one token is missing. `marking` is empty before and after.
    fn is_alike(&self, change: usize, (rule, arguments): (RuleId, &[i64]), marking: &mut Valuation) -> bool {
        let change = &self.net.vectors.changes[change];
        let parameters = &self.interpreter.model().rules[rule].parameters;
        if !self.interpreter.is_instance(parameters, arguments) {
            return false;
        }
        if !self.has_room(&change.takes) {
            return true;
        }
        change.takes.iter().for_each(|&(cell, tokens)| marking[self.cells[cell]] = Some(tokens));
        let can_fire = self.interpreter.enabled(rule, arguments, marking) == Ok(true);
        let fires = !self.has_room(&change.adds)
            || self.leads_to(self.interpreter.fire(rule, arguments, marking), &change.adds);
        let needs_each = change.takes.iter().all(|&(cell, tokens)| {
            marking[self.cells[cell]] = Some(tokens - 1);
            let is_disabled = self.interpreter.enabled(rule, arguments, marking) == Ok(false);
            marking[self.cells[cell]] = Some(tokens);
            is_disabled
        });
        change.takes.iter().for_each(|&(cell, _)| marking[self.cells[cell]] = Some(0));
        can_fire && fires && needs_each
    }

    /// Whether the model has room for so many tokens.
    fn has_room(&self, tokens: &[(usize, i64)]) -> bool {
        let slots = &self.interpreter.layout().slots;
        tokens.iter().all(|&(cell, tokens)| slots[self.cells[cell]].domain.contains(tokens))
    }

    /// Whether a step leads to a marking with these tokens, and no others.
    fn leads_to(&self, outcome: Outcome, tokens: &[(usize, i64)]) -> bool {
        let Outcome::Next { state, .. } = outcome else { return false };
        let mut expected = vec![0; self.cells.len()];
        tokens.iter().for_each(|&(cell, tokens)| expected[cell] += tokens);
        self.cells.iter().zip(expected).all(|(&cell, tokens)| state[cell] == Some(tokens))
    }
}
