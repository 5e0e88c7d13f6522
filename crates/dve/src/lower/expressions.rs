//! Expressions. DVE has only numbers; here, values that are known to be true or false stay booleans until they are used
//! as numbers. Arithmetic is that of 32 bits, and is cut to them only where the operands may exceed them.

use quotient_ir::{BinaryOperator, Diagnostic, Expr, ExprId, PlaceId, Span, Table, UnaryOperator};
use quotient_kit::Building;
use quotient_kit::similar;
use quotient_kit::watched;

use super::Lowering;
use super::constants::{self, wrapped};
use super::symbols::{Symbol, Variable, unknown_state};
use crate::syntax::tree::{Binary, Expression, ExpressionKind, Name, Scalar, Unary};

/// The least and the greatest number of 32 bits.
const WHOLE: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// The value of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) expression: ExprId,
    is_boolean: bool,
    /// The bounds of its number.
    low: i64,
    high: i64,
}

/// What a reference denotes.
enum Referent {
    Constant(i64),
    Place {
        place: PlaceId,
        scalar: Scalar,
        is_constant: bool,
    },
    /// Nothing; the diagnostic is already there.
    Nothing,
}

impl<'t> Lowering<'t> {
    /// An expression as a condition.
    pub(super) fn condition(&mut self, expression: &Expression, process: Option<usize>) -> ExprId {
        let value = self.value(expression, process);
        self.condition_of(value)
    }

    fn condition_of(&mut self, value: Value) -> ExprId {
        self.as_condition(value.expression, value.is_boolean)
    }

    fn number_of(&mut self, value: Value) -> Value {
        if !value.is_boolean {
            return value;
        }
        if let Expr::Constant { value, .. } = self.model.pool[value.expression] {
            return self.constant(value);
        }
        Value { expression: self.as_number(value.expression, true), is_boolean: false, low: 0, high: 1 }
    }

    fn constant(&mut self, value: i64) -> Value {
        Value { expression: self.number(value), is_boolean: false, low: value, high: value }
    }

    fn boolean(&self, expression: ExprId) -> Value {
        Value { expression, is_boolean: true, low: 0, high: 1 }
    }

    /// The value of an expression in the text of a process, or outside of all.
    pub(super) fn value(&mut self, expression: &Expression, process: Option<usize>) -> Value {
        match &expression.kind {
            ExpressionKind::Number(value) => self.constant(*value),
            ExpressionKind::Truth(value) => {
                let truth = self.truth(*value);
                self.boolean(truth)
            }
            ExpressionKind::Variable { .. } => match self.referent(expression, process) {
                Referent::Constant(value) => self.constant(value),
                Referent::Place { place, scalar, .. } => {
                    let (low, high) = scalar.range();
                    Value { expression: self.read(place), is_boolean: false, low, high }
                }
                Referent::Nothing => self.constant(0),
            },
            ExpressionKind::InState { process: of, state } => {
                let Some(number) = self.process_of(of) else { return self.constant(0) };
                let Some(state) = self.state_of(number, state) else { return self.constant(0) };
                let condition = self.in_state(number, state);
                self.boolean(condition)
            }
            ExpressionKind::Unary(operator, operand) => {
                let operand = self.value(operand, process);
                self.unary(*operator, operand)
            }
            ExpressionKind::Binary(operator, left, right) => {
                let left = self.value(left, process);
                let right = self.value(right, process);
                self.operator(*operator, left, right)
            }
        }
    }

    fn unary(&mut self, operator: Unary, operand: Value) -> Value {
        if operator == Unary::Not {
            let condition = self.condition_of(operand);
            let negation = match self.model.pool[condition] {
                Expr::Constant { value, .. } => self.truth(value == 0),
                _ => self.not(condition),
            };
            return self.boolean(negation);
        }
        let operand = self.number_of(operand);
        if let Expr::Constant { value, .. } = self.model.pool[operand.expression] {
            return self.constant(wrapped(if operator == Unary::Negate { -value } else { !value }));
        }
        let (operator, low, high) = match operator {
            Unary::Negate => (UnaryOperator::Negate, -operand.high, -operand.low),
            _ => (UnaryOperator::Complement, !operand.high, !operand.low),
        };
        let expression = self.model.pool.expression(Expr::Unary { operator, operand: operand.expression });
        self.wrap(Value { expression, is_boolean: false, low, high })
    }

    fn operator(&mut self, operator: Binary, left: Value, right: Value) -> Value {
        use BinaryOperator as To;
        let logical = match operator {
            Binary::Imply => Some(To::Implies),
            Binary::Or => Some(To::Or),
            Binary::And => Some(To::And),
            _ => None,
        };
        if let Some(to) = logical {
            let (left, right) = (self.condition_of(left), self.condition_of(right));
            let expression = self.binary(to, left, right);
            return self.boolean(expression);
        }
        let (left, right) = (self.number_of(left), self.number_of(right));
        let constant = |it: Value| match self.model.pool[it.expression] {
            Expr::Constant { value, .. } => Some(value),
            _ => None,
        };
        if let (Some(left), Some(right)) = (constant(left), constant(right))
            && let Some(value) = constants::binary(operator, left, right)
        {
            return self.constant(value);
        }
        let comparison = match operator {
            Binary::Equal => Some(To::Equal),
            Binary::NotEqual => Some(To::NotEqual),
            Binary::Less => Some(To::Less),
            Binary::LessOrEqual => Some(To::LessOrEqual),
            Binary::Greater => Some(To::Greater),
            Binary::GreaterOrEqual => Some(To::GreaterOrEqual),
            _ => None,
        };
        if let Some(to) = comparison {
            let expression = self.binary(to, left.expression, right.expression);
            return self.boolean(expression);
        }
        let (to, (low, high)) = arithmetic(operator, left, right);
        let expression = self.binary(to, left.expression, right.expression);
        self.wrap(Value { expression, is_boolean: false, low, high })
    }

    /// Cuts a number to 32 bits, if it may not fit.
    fn wrap(&mut self, value: Value) -> Value {
        if WHOLE.0 <= value.low && value.high <= WHOLE.1 {
            return value;
        }
        let (mask, half) = (self.number(u32::MAX.into()), self.number(1 << 31));
        let moved = self.binary(BinaryOperator::Add, value.expression, half);
        let kept = self.binary(BinaryOperator::BitAnd, moved, mask);
        let expression = self.binary(BinaryOperator::Subtract, kept, half);
        Value { expression, is_boolean: false, low: WHOLE.0, high: WHOLE.1 }
    }

    /// The number to store in a variable of a type. One that does not fit is a run-time error.
    pub(super) fn fit(&mut self, value: Value, scalar: Scalar, span: Span) -> ExprId {
        let value = self.number_of(value);
        let (low, high) = scalar.range();
        if value.high < low || high < value.low {
            let message = format!("this never fits a variable of the type `{}`", scalar.name());
            let warning = Diagnostic::warning("does-not-fit", message, span);
            self.report(warning.with_help(format!("its values are {low} to {high}; the step is a run-time error")));
        }
        value.expression
    }

    /// A value of a type that stands in a place.
    pub(super) fn stored(&mut self, place: PlaceId, scalar: Scalar) -> Value {
        let (low, high) = scalar.range();
        Value { expression: self.read(place), is_boolean: false, low, high }
    }

    /// The place of the target of an assignment, and its type.
    pub(super) fn target(&mut self, target: &Expression, process: Option<usize>) -> Option<(PlaceId, Scalar)> {
        if !matches!(target.kind, ExpressionKind::Variable { .. }) {
            let error = Diagnostic::error("not-a-variable", "this is not a variable", target.span);
            self.report(error.with_help("only variables and elements of arrays are assigned to"));
            return None;
        }
        match self.referent(target, process) {
            Referent::Place { place, scalar, is_constant: false } => Some((place, scalar)),
            Referent::Place { .. } | Referent::Constant(_) => {
                let error = Diagnostic::error("assigned-constant", "a constant is assigned to", target.span);
                self.report(error.with_help("declare it without `const`"));
                None
            }
            Referent::Nothing => None,
        }
    }

    /// A state of a process by its name.
    pub(super) fn state_of(&mut self, process: usize, name: &Name) -> Option<usize> {
        let entry = &self.symbols.processes[process];
        let state = entry.states.get(&name.text).copied();
        if state.is_none() {
            self.report(unknown_state(entry, name));
        }
        state
    }

    /// A process by its name. The automaton of a property is none: nobody sees it.
    fn process_of(&mut self, name: &Name) -> Option<usize> {
        match self.symbols.names.get(&name.text) {
            Some((Symbol::Process(number), _)) if self.symbols.property != Some(*number) => Some(*number),
            Some((Symbol::Process(_), _)) => {
                let message =
                    format!("`{}` is the automaton of a property, which is not part of the system", name.text);
                self.report(Diagnostic::error("property-observed", message, name.span));
                None
            }
            found => {
                let found = found.copied();
                let message = format!("there is no process `{}`", name.text);
                let names = self.symbols.processes.iter().map(|it| &*it.tree.name.text);
                let mut error = Diagnostic::error("unknown-name", message, name.span);
                error.help = similar(&name.text, names).map(|it| format!("did you mean `{it}`?"));
                if let Some((_, span)) = found {
                    error = error.with_secondary(span, "this is not a process");
                }
                self.report(error);
                None
            }
        }
    }

    /// The expression to evaluate that is given beside the text. Names of arrays and of channels with a buffer mean all of
    /// them.
    pub(super) fn watched(&mut self) {
        let Some(expression) = &self.tree.watched else { return };
        let value = match self.whole(expression) {
            Some(value) => value,
            None => {
                let value = self.value(expression, None);
                watched::Value::Scalar(self.number_of(value).expression)
            }
        };
        watched::watch(&mut self.model, Table::new(), value, expression.span);
    }

    /// The array or the buffer that a name without an index denotes, if it does.
    fn whole(&mut self, expression: &Expression) -> Option<watched::Value> {
        let ExpressionKind::Variable { process, name, index: None } = &expression.kind else { return None };
        let symbols = self.symbols;
        let variable = match process {
            Some(process) => {
                let Some((Symbol::Process(number), _)) = symbols.names.get(&process.text) else { return None };
                let own = *symbols.processes[*number].names.get(&name.text)?;
                symbols.processes[*number].variables[own].size?;
                self.own_places[*number][own]?
            }
            None => match symbols.names.get(&name.text)?.0 {
                Symbol::Variable(number) => {
                    symbols.variables[number].size?;
                    self.places[number]?
                }
                Symbol::Channel(number) => {
                    let queue = self.queues[number]?;
                    return Some(watched::Value::Queue(self.variable_place(queue)));
                }
                Symbol::Process(_) => return None,
            },
        };
        Some(watched::Value::Whole(self.variable_place(variable)))
    }

    fn referent(&mut self, reference: &Expression, process: Option<usize>) -> Referent {
        let ExpressionKind::Variable { process: of, name, index } = &reference.kind else { return Referent::Nothing };
        let owner = match of {
            Some(of) => match self.process_of(of) {
                Some(number) => Some(number),
                None => return Referent::Nothing,
            },
            None => process,
        };
        let symbols = self.symbols;
        let own = owner.and_then(|number| Some((number, *symbols.processes[number].names.get(&name.text)?)));
        let (variable, place): (&Variable<'t>, _) = match (own, of) {
            (Some((number, own)), _) => (&symbols.processes[number].variables[own], self.own_places[number][own]),
            (None, Some(of)) => {
                let message = format!("process `{}` has no variable `{}`", of.text, name.text);
                let mut error = Diagnostic::error("unknown-name", message, name.span);
                if let Some(number) = owner {
                    let entry = &symbols.processes[number];
                    let names = entry.names.keys().map(|it| &**it);
                    error.help = if entry.states.contains_key(&name.text) {
                        Some(format!("it is a state: write `{}.{}`", of.text, name.text))
                    } else {
                        similar(&name.text, names).map(|it| format!("did you mean `{it}`?"))
                    };
                }
                self.report(error);
                return Referent::Nothing;
            }
            (None, None) => match symbols.names.get(&name.text) {
                Some((Symbol::Variable(number), _)) => (&symbols.variables[*number], self.places[*number]),
                Some((_, span)) => {
                    let message = format!("`{}` is not a variable", name.text);
                    let error = Diagnostic::error("not-a-variable", message, name.span);
                    self.report(error.with_secondary(*span, "declared here"));
                    return Referent::Nothing;
                }
                None => {
                    self.unknown_variable(name, process);
                    return Referent::Nothing;
                }
            },
        };
        match (variable.size, index) {
            (None, None) if variable.is_plain_constant() => Referent::Constant(variable.values[0]),
            (None, None) => match place {
                Some(place) => {
                    let place = self.variable_place(place);
                    Referent::Place { place, scalar: variable.tree.scalar, is_constant: false }
                }
                // A variable of the automaton of a property, which nothing changes.
                None => Referent::Constant(variable.values[0]),
            },
            (Some(size), index) => {
                let index = match index {
                    Some(index) => self.index(index, size, variable, process),
                    None => {
                        let message = format!("the array `{}` without an index is its first element", name.text);
                        let warning = Diagnostic::warning("missing-index", message, reference.span);
                        self.report(warning.with_help(format!("write `{}[0]`", name.text)));
                        self.number(0)
                    }
                };
                let Some(place) = place else { return Referent::Constant(0) };
                let place = self.variable_place(place);
                let place = self.element(place, index);
                Referent::Place { place, scalar: variable.tree.scalar, is_constant: variable.tree.is_constant }
            }
            (None, Some(_)) => {
                let message = format!("`{}` is not an array", name.text);
                let error = Diagnostic::error("not-an-array", message, reference.span);
                self.report(error.with_secondary(variable.tree.name.span, "declared here"));
                Referent::Nothing
            }
        }
    }

    fn index(&mut self, index: &Expression, size: usize, array: &Variable<'t>, process: Option<usize>) -> ExprId {
        let value = self.value(index, process);
        let value = self.number_of(value);
        if value.high < 0 || value.low >= size as i64 {
            let message = format!("this index is never one of 0 to {}", size - 1);
            let warning = Diagnostic::warning("index-out-of-range", message, index.span);
            self.report(warning.with_secondary(array.tree.name.span, "the array"));
        }
        value.expression
    }

    fn unknown_variable(&mut self, name: &Name, process: Option<usize>) {
        let message = format!("there is no variable `{}`", name.text);
        let mut error = Diagnostic::error("unknown-name", message, name.span);
        let own = process.map(|number| &self.symbols.processes[number]);
        let known = self.symbols.variables.iter().chain(own.iter().flat_map(|it| &it.variables));
        let known: Vec<&str> = known.map(|it| &*it.tree.name.text).collect();
        error.help = match own {
            Some(own) if own.states.contains_key(&name.text) => {
                Some(format!("it is a state: write `{}.{}`", own.tree.name.text, name.text))
            }
            _ => similar(&name.text, known).map(|it| format!("did you mean `{it}`?")),
        };
        self.report(error);
    }
}

/// An operator on numbers, and the bounds of its result.
fn arithmetic(operator: Binary, left: Value, right: Value) -> (BinaryOperator, (i64, i64)) {
    use BinaryOperator as To;
    let natural = left.low >= 0 && right.low >= 0;
    let bits = |value: i64| (1i64 << (64 - value.leading_zeros())) - 1;
    match operator {
        Binary::Add => (To::Add, (left.low + right.low, left.high + right.high)),
        Binary::Subtract => (To::Subtract, (left.low - right.high, left.high - right.low)),
        Binary::Multiply => {
            let all = [left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high];
            (To::Multiply, all.iter().fold((i64::MAX, i64::MIN), |(low, high), &it| (low.min(it), high.max(it))))
        }
        Binary::Divide if left.low >= 0 && right.low > 0 => (To::Divide, (0, left.high / right.low)),
        Binary::Divide => {
            let most = left.low.abs().max(left.high.abs());
            (To::Divide, (-most, most))
        }
        Binary::Remainder => {
            let most = right.low.abs().max(right.high.abs()).saturating_sub(1).max(0);
            let most = most.min(left.low.abs().max(left.high.abs()));
            (To::Remainder, (if left.low >= 0 { 0 } else { -most }, if left.high <= 0 { 0 } else { most }))
        }
        Binary::BitAnd if natural => (To::BitAnd, (0, left.high.min(right.high))),
        Binary::BitAnd if left.low >= 0 => (To::BitAnd, (0, left.high)),
        Binary::BitAnd if right.low >= 0 => (To::BitAnd, (0, right.high)),
        Binary::BitAnd => (To::BitAnd, WHOLE),
        Binary::BitOr if natural => (To::BitOr, (0, bits(left.high.max(right.high)))),
        Binary::BitOr => (To::BitOr, WHOLE),
        Binary::BitXor if natural => (To::BitXor, (0, bits(left.high.max(right.high)))),
        Binary::BitXor => (To::BitXor, WHOLE),
        Binary::ShiftRight if natural => (To::ShiftRight, (0, left.high)),
        Binary::ShiftRight => (To::ShiftRight, (i64::MIN / 4, i64::MAX / 4)),
        _ if natural && right.high < 31 => (To::ShiftLeft, (0, left.high << right.high)),
        _ => (To::ShiftLeft, (i64::MIN / 4, i64::MAX / 4)),
    }
}
