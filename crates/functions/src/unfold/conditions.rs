//! Conditions: connectives and quantifiers are built at once, but if a later operand can fail, only as far as
//! evaluation reaches.

use quotient_ir::{BinaryOperator, Expr, ExprId, Iteration, LocalId, Quantifier, TableIndex, UnaryOperator};

use super::{BOUND_LIMIT, Cell, LOOP_LIMIT, PlacedFault, Refusal, Unfolder};
use crate::circuit::{NodeId, TooLarge};
use crate::mentions::Mentions;

impl<'m> Unfolder<'m> {
    /// The condition under which an expression evaluates to `outcome` without a run-time error. Unlike the condition
    /// for the error itself, it does not depend on the order of a conjunction that should hold or a disjunction that
    /// should fail.
    pub(super) fn decided(&mut self, expression: ExprId, outcome: bool) -> Result<NodeId, Refusal> {
        if self.calls(expression) {
            return self.decided_at_once(expression, outcome);
        }
        let mut parts = Vec::new();
        self.decided_parts(expression, outcome, &mut parts)?;
        Ok(self.circuit.and(parts))
    }

    /// The operands whose conjunction is `decided`, all at once: combining them piecemeal would make the normal form
    /// depend on the pieces.
    fn decided_parts(&mut self, expression: ExprId, outcome: bool, parts: &mut Vec<NodeId>) -> Result<(), Refusal> {
        self.charge(1)?;
        match &self.model.pool[expression] {
            Expr::Unary { operator: UnaryOperator::Not, operand } => self.decided_parts(*operand, !outcome, parts),
            Expr::Binary { operator, .. }
                if (*operator == BinaryOperator::And && outcome) || (*operator == BinaryOperator::Or && !outcome) =>
            {
                for operand in self.operands(expression) {
                    self.decided_parts(operand, outcome, parts)?;
                }
                Ok(())
            }
            Expr::Binary { operator: BinaryOperator::Implies, left, right } if outcome => {
                let fails = self.decided(*left, false)?;
                let holds = self.decided(*left, true)?;
                let right = self.decided(*right, true)?;
                let both = self.circuit.and([holds, right]);
                parts.push(self.circuit.or([fails, both]));
                Ok(())
            }
            Expr::Quantified { quantifier, local, range: range @ Iteration::Over(_), body }
                if (*quantifier == Quantifier::All) == outcome =>
            {
                for (_, values) in self.iterations(range)? {
                    for value in values {
                        self.set_local(*local, value);
                        self.decided_parts(*body, outcome, parts)?;
                    }
                }
                Ok(())
            }
            _ => {
                parts.push(self.decided_at_once(expression, outcome)?);
                Ok(())
            }
        }
    }

    pub(super) fn decided_at_once(&mut self, expression: ExprId, outcome: bool) -> Result<NodeId, Refusal> {
        let faults = self.faults.len();
        let saved = std::mem::replace(&mut self.alive, NodeId::TRUE);
        let condition = self.condition(expression)?;
        self.alive = saved;
        let faults = self.faults.split_off(faults);
        let fault = self.any_fault(&faults);
        let sound = self.circuit.not(fault);
        let condition = if outcome { condition } else { self.circuit.not(condition) };
        Ok(self.circuit.and([condition, sound]))
    }

    /// The operands of a chain of one connective.
    pub(super) fn operands(&self, expression: ExprId) -> Vec<ExprId> {
        let Expr::Binary { operator: chain_operator, .. } = self.model.pool[expression] else {
            return vec![expression];
        };
        let mut operands = Vec::new();
        let mut pending = vec![expression];
        while let Some(next) = pending.pop() {
            match &self.model.pool[next] {
                Expr::Binary { operator, left, right } if *operator == chain_operator => {
                    pending.push(*right);
                    pending.push(*left);
                }
                _ => operands.push(next),
            }
        }
        operands
    }
    pub(super) fn condition(&mut self, expression: ExprId) -> Result<NodeId, Refusal> {
        self.charge(1)?;
        match &self.model.pool[expression] {
            &Expr::Constant { value, .. } => Ok(if value == 0 { NodeId::FALSE } else { NodeId::TRUE }),
            Expr::Unary { operator: UnaryOperator::Not, operand } => {
                let operand = self.condition(*operand)?;
                Ok(self.circuit.not(operand))
            }
            Expr::Binary { operator: BinaryOperator::And, .. } => self.chain(expression, true),
            Expr::Binary { operator: BinaryOperator::Or | BinaryOperator::Implies, .. } => {
                self.chain(expression, false)
            }
            Expr::Binary { operator, left, right }
                if matches!(
                    operator,
                    BinaryOperator::Equal
                        | BinaryOperator::NotEqual
                        | BinaryOperator::Less
                        | BinaryOperator::LessOrEqual
                        | BinaryOperator::Greater
                        | BinaryOperator::GreaterOrEqual
                ) =>
            {
                let left = self.scalar(*left)?;
                let right = self.scalar(*right)?;
                Ok(match operator {
                    BinaryOperator::Equal => self.circuit.equal(&left, &right)?,
                    BinaryOperator::NotEqual => {
                        let equal = self.circuit.equal(&left, &right)?;
                        self.circuit.not(equal)
                    }
                    BinaryOperator::Less => self.circuit.less(&left, &right, 0)?,
                    BinaryOperator::LessOrEqual => self.circuit.less(&left, &right, 1)?,
                    BinaryOperator::Greater => self.circuit.less(&right, &left, 0)?,
                    _ => self.circuit.less(&right, &left, 1)?,
                })
            }
            Expr::Conditional { condition, then, otherwise } => {
                let condition = self.condition(*condition)?;
                let opposite = self.circuit.not(condition);
                let then = self.condition_under(*then, condition)?;
                let otherwise = self.condition_under(*otherwise, opposite)?;
                Ok(self.circuit.choose(condition, then, otherwise))
            }
            Expr::Quantified { quantifier, range: Iteration::Over(_), .. } => {
                self.chain(expression, *quantifier == Quantifier::All)
            }
            Expr::Quantified { quantifier, local, range, body } => self.quantified(*quantifier, *local, range, *body),
            Expr::IsUndefined(place) => {
                let targets = self.targets(*place)?;
                Ok(self.load_any(&targets)?.undefined)
            }
            Expr::IsMember { value, ty } => {
                let value = self.scalar(*value)?;
                let domain = self.model.domain(*ty);
                self.circuit
                    .satisfies(&value, |number| domain.contains(number))
                    .ok_or(Refusal::TooLarge(TooLarge::Cases))
            }
            Expr::SameContents { left, right } => {
                let cells = self.model.cells(self.model.pool[*left].ty);
                let left = self.targets(*left)?;
                let right = self.targets(*right)?;
                let left = self.load_range(&left, cells)?;
                let right = self.load_range(&right, cells)?;
                let mut same = Vec::with_capacity(left.len());
                for (a, b) in left.iter().zip(&right) {
                    let both_undefined = self.circuit.and([a.undefined, b.undefined]);
                    let (defined_a, defined_b) = (self.circuit.not(a.undefined), self.circuit.not(b.undefined));
                    let equal = self.circuit.equal(&a.value, &b.value)?;
                    let both_equal = self.circuit.and([defined_a, defined_b, equal]);
                    same.push(self.circuit.or([both_undefined, both_equal]));
                }
                Ok(self.circuit.and(same))
            }
            _ => {
                let value = self.scalar(expression)?;
                Ok(self.circuit.condition(&value)?)
            }
        }
    }

    pub(super) fn condition_under(&mut self, expression: ExprId, assumption: NodeId) -> Result<NodeId, Refusal> {
        let saved = self.alive;
        self.alive = self.circuit.and([saved, assumption]);
        let condition = if self.alive == NodeId::FALSE { Ok(NodeId::FALSE) } else { self.condition(expression) };
        self.alive = saved;
        condition
    }

    /// The operands of a conjunction or disjunction, including those of nested connectives and quantifiers of the same
    /// kind. They are combined at once, so that the normal form does not depend on their bracketing.
    pub(super) fn collect(
        &mut self,
        expression: ExprId,
        is_negated: bool,
        conditions: &mut Vec<NodeId>,
        conjunction: bool,
    ) -> Result<(), Refusal> {
        self.charge(1)?;
        match &self.model.pool[expression] {
            Expr::Unary { operator: UnaryOperator::Not, operand } => {
                self.collect(*operand, !is_negated, conditions, conjunction)
            }
            Expr::Binary { operator: operator @ (BinaryOperator::And | BinaryOperator::Or), .. }
                if ((*operator == BinaryOperator::And) != is_negated) == conjunction =>
            {
                for operand in self.operands(expression) {
                    self.collect(operand, is_negated, conditions, conjunction)?;
                }
                Ok(())
            }
            Expr::Binary { operator: BinaryOperator::Implies, left, right } if is_negated == conjunction => {
                self.collect(*left, !is_negated, conditions, conjunction)?;
                self.collect(*right, is_negated, conditions, conjunction)
            }
            Expr::Quantified { quantifier, local, range: range @ Iteration::Over(_), body }
                if ((*quantifier == Quantifier::All) != is_negated) == conjunction =>
            {
                for (_, values) in self.iterations(range)? {
                    for value in values {
                        self.set_local(*local, value);
                        self.collect(*body, is_negated, conditions, conjunction)?;
                    }
                }
                Ok(())
            }
            _ => {
                self.next_in_chain(expression, conditions, conjunction)?;
                if is_negated {
                    let last = conditions.pop().expect("just pushed");
                    conditions.push(self.circuit.not(last));
                }
                Ok(())
            }
        }
    }

    fn chain(&mut self, expression: ExprId, conjunction: bool) -> Result<NodeId, Refusal> {
        let mut conditions = Vec::new();
        self.collect(expression, false, &mut conditions, conjunction)?;
        Ok(if conjunction { self.circuit.and(conditions) } else { self.circuit.or(conditions) })
    }

    /// Evaluates a condition that is reached only if the earlier ones do not decide.
    pub(super) fn next_in_chain(
        &mut self,
        operand: ExprId,
        conditions: &mut Vec<NodeId>,
        conjunction: bool,
    ) -> Result<(), Refusal> {
        let faults = self.faults.len();
        let saved = self.alive;
        if self.calls(operand) {
            // A call can write, so reachability matters for more than run-time errors.
            let reached = self.reached(conditions, conjunction);
            self.alive = self.circuit.and([saved, reached]);
        }
        let condition = if self.alive == NodeId::FALSE { NodeId::FALSE } else { self.condition(operand)? };
        self.alive = saved;
        self.limit_faults(faults, conditions, conjunction);
        conditions.push(condition);
        Ok(())
    }

    pub(super) fn reached(&mut self, earlier: &[NodeId], conjunction: bool) -> NodeId {
        if conjunction {
            self.circuit.and(earlier.iter().copied())
        } else {
            let one = self.circuit.or(earlier.iter().copied());
            self.circuit.not(one)
        }
    }

    /// Whether an expression contains a call for which it matters when it is reached.
    pub(super) fn calls(&mut self, expression: ExprId) -> bool {
        if let Some(&delicate) = self.delicate.get(&expression) {
            return delicate;
        }
        let mut delicate = false;
        Mentions::of_expression(self.model, expression).visit_functions(|function| {
            delicate |= !self.plain[function.position()];
        });
        self.delicate.insert(expression, delicate);
        delicate
    }

    /// Restricts the run-time errors found since `first` to where evaluation gets that far: where all earlier
    /// conditions hold (for a conjunction) or none does.
    pub(super) fn limit_faults(&mut self, first: usize, earlier: &[NodeId], conjunction: bool) {
        if self.faults.len() == first || earlier.is_empty() {
            return;
        }
        let reached = self.reached(earlier, conjunction);
        for fault in self.faults.split_off(first) {
            let condition = self.circuit.and([reached, fault.condition]);
            if condition != NodeId::FALSE {
                self.faults.push(PlacedFault { condition, ..fault });
            }
        }
    }

    /// The values of a bound variable or loop variable, by cases where they depend on the state.
    pub(super) fn iterations(&mut self, range: &Iteration) -> Result<Vec<(NodeId, Vec<i64>)>, Refusal> {
        match range {
            Iteration::Over(ty) => {
                let domain = self.model.domain(*ty);
                if domain.size() > LOOP_LIMIT as u64 || domain.size() == 0 {
                    return Err(Refusal::Loop);
                }
                Ok(vec![(NodeId::TRUE, domain.values().collect())])
            }
            Iteration::Steps { from, to, step } => {
                let from = self.bound_cases(*from)?;
                let to = self.bound_cases(*to)?;
                let step = step.map(|step| self.bound_cases(step)).transpose()?;
                if from.len() * to.len() * step.as_ref().map_or(1, Vec::len) > BOUND_LIMIT {
                    return Err(Refusal::Loop);
                }
                let mut iterations = Vec::new();
                for &(from, first) in &from {
                    for &(to, last) in &to {
                        let default = [(if to < from { -1 } else { 1 }, NodeId::TRUE)];
                        for &(step, by) in step.as_deref().unwrap_or(&default) {
                            let condition = self.circuit.and([first, last, by]);
                            if condition == NodeId::FALSE {
                                continue;
                            }
                            match steps(from, to, step) {
                                Some(values) if values.len() > LOOP_LIMIT => return Err(Refusal::Loop),
                                Some(values) => iterations.push((condition, values)),
                                None => self.fault(condition),
                            }
                        }
                    }
                }
                Ok(iterations)
            }
        }
    }

    /// The numbers that a bound of a range can be.
    pub(super) fn bound_cases(&mut self, bound: ExprId) -> Result<Vec<(i64, NodeId)>, Refusal> {
        let value = self.scalar(bound)?;
        if value.is_nothing() {
            return Ok(Vec::new());
        }
        if let Some(number) = value.form.as_constant() {
            return Ok(vec![(number, NodeId::TRUE)]);
        }
        value.cases.map(|cases| cases.to_vec()).ok_or(Refusal::Loop)
    }

    pub(super) fn set_local(&mut self, local: LocalId, value: i64) {
        let cell = self.frame().first_cells[local.position()] as usize;
        self.locals[cell] = Cell { undefined: NodeId::FALSE, value: self.circuit.constant(value) };
    }

    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        local: LocalId,
        range: &Iteration,
        body: ExprId,
    ) -> Result<NodeId, Refusal> {
        let conjunction = quantifier == Quantifier::All;
        let mut cases = Vec::new();
        let saved = self.alive;
        for (case, values) in self.iterations(range)? {
            self.alive = self.circuit.and([saved, case]);
            if self.alive == NodeId::FALSE {
                continue;
            }
            let mut conditions = Vec::with_capacity(values.len());
            for value in values {
                self.set_local(local, value);
                self.collect(body, false, &mut conditions, conjunction)?;
            }
            let holds = if conjunction { self.circuit.and(conditions) } else { self.circuit.or(conditions) };
            cases.push(self.circuit.and([case, holds]));
        }
        self.alive = saved;
        Ok(self.circuit.or(cases))
    }
}

/// The values from one number to another; `None` if the steps do not lead there.
fn steps(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    if step == 0 || (to > from && step < 0) || (to < from && step > 0) {
        return None;
    }
    let mut values = Vec::new();
    let mut value = from;
    while if step > 0 { value <= to } else { value >= to } {
        values.push(value);
        if values.len() > LOOP_LIMIT {
            break;
        }
        let Some(next) = value.checked_add(step) else { break };
        value = next;
    }
    Some(values)
}
