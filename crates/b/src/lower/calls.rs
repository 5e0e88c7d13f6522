//! What the rules of a machine represent: calls of operations with arguments and results, for human readers. The value of
//! an expression to evaluate is computed like a result.

use quotient_ir::{
    CallValue, ExprId, Function, FunctionId, Notation, OperationCall, Operations, ParameterNotation, ReturnValue, Span,
    Stages, StatementKind, TypeId, ValueDisplay, VariableId, Watched,
};
use quotient_kit::watched::WATCHED;

use super::super::core::{Expr, Operation, SymbolId};
use super::super::types::Type;
use super::items::{Environment, Item};
use super::paths::{Chosen, Path, Writes};
use super::shapes::{Scalar, Shape};
use super::storage::Complaint;
use super::{Lowered, Lowerer};

impl Lowerer<'_> {
    /// Records which variables have values at which stage of the machine.
    pub(super) fn declare_operations(&mut self, stage: Option<(VariableId, TypeId)>) {
        let stages = stage.map(|(variable, ty)| {
            let domain = self.model.domain(ty);
            let (first, last) = (domain.least(), domain.values().last().unwrap_or_default());
            let of = |symbols: &[SymbolId], since: i64| -> Vec<(VariableId, i64)> {
                let variables = symbols.iter().filter_map(|symbol| self.stored.get(symbol));
                variables.map(|(variable, _)| (*variable, since)).collect()
            };
            let mut since = of(&self.core.constants, first + 1);
            since.extend(of(&self.core.variables, last));
            Stages { variable, since }
        });
        self.model.operations = Some(Operations { stages, ..Operations::default() });
    }

    /// Records what the next rule represents; a rule that is not an operation has only its name.
    pub(super) fn note_call(&mut self, name: &str, call: Option<OperationCall>) {
        let call = call.unwrap_or_else(|| OperationCall {
            name: name.to_owned(),
            is_operation: false,
            arguments: Vec::new(),
            results: Vec::new(),
        });
        if let Some(operations) = &mut self.model.operations {
            operations.calls.push(call);
        }
    }

    /// The values that were chosen on a path and make it a rule of its own.
    pub(super) fn chosen_values(&self, path: &Path) -> Vec<String> {
        let values = path.choices.iter().filter_map(|(symbol, chosen)| match chosen {
            Chosen::Value(value) => Some(format!("{}={}", self.core.symbols[symbol.0].name, self.value_text(value))),
            _ => None,
        });
        values.collect()
    }

    /// A path through an operation as a call of it.
    pub(super) fn operation_call(&mut self, operation: &Operation, path: &Path, writes: &Writes) -> OperationCall {
        let name = |lowerer: &Self, symbol: SymbolId| lowerer.core.symbols[symbol.0].name.to_string();
        let mut arguments = Vec::new();
        for parameter in &operation.parameters {
            let chosen = path.choices.iter().find(|(symbol, _)| symbol == parameter).map(|(_, chosen)| chosen.clone());
            let value = match chosen {
                Some(Chosen::Value(value)) => Some(CallValue::Text(self.value_text(&value))),
                Some(Chosen::Parameters(first, shape)) => {
                    let before = &path.owner.parameters[..first];
                    let cells = before.iter().map(|it| self.model.cells(path.owner.locals[it.local].ty));
                    let first_cell = usize::try_from(cells.sum::<u64>()).unwrap_or(usize::MAX);
                    Some(CallValue::Parameters(first_cell, self.parameter_notation(&shape)))
                }
                Some(Chosen::Item(item)) => self.computed(*parameter, &item, path, operation.span),
                None => None,
            };
            arguments.extend(value.map(|value| (name(self, *parameter), value)));
        }
        let mut results = Vec::new();
        for (symbol, item) in
            writes.iter().filter(|(symbol, _)| !self.stored.contains_key(symbol)).cloned().collect::<Vec<_>>()
        {
            let value = self.computed(symbol, &item, path, operation.span);
            results.extend(value.map(|value| (name(self, symbol), value)));
        }
        OperationCall { name: operation.name.to_string(), is_operation: true, arguments, results }
    }

    fn parameter_notation(&mut self, shape: &Shape) -> ParameterNotation {
        match shape {
            Shape::Scalar(scalar) => ParameterNotation::Value(self.scalar_type(*scalar), Notation::Scalar),
            Shape::Pair(left, right) => {
                let left = self.parameter_notation(left);
                ParameterNotation::Pair(Box::new(left), Box::new(self.parameter_notation(right)))
            }
            Shape::Record(fields) => {
                let mut parts = Vec::new();
                for (name, field) in fields {
                    parts.push((name.clone(), self.parameter_notation(field)));
                }
                ParameterNotation::Record(parts)
            }
            Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => {
                let set = Shape::set(shape.element());
                ParameterNotation::Value(self.shape_type(&set), self.notation(&set))
            }
        }
    }

    /// A function for the value of an item on a path. It is called when the value is displayed, and is not part of a
    /// step.
    fn computed(&mut self, symbol: SymbolId, item: &Item, path: &Path, span: Span) -> Option<CallValue> {
        let name = format!("result_{}", self.model.functions.iter().count() + 1);
        let (function, notation) = self.value_function(name, symbol, item, path, span).ok()?;
        Some(CallValue::Computed(function, notation))
    }

    /// Makes an expression the one to evaluate. It may have a value only where a condition holds, such as that the machine
    /// is initialised.
    pub(super) fn watched(
        &mut self,
        symbol: SymbolId,
        expression: &Expr,
        environment: &Environment,
        has_value: Option<ExprId>,
    ) -> Lowered<()> {
        let span = expression.span;
        let mut path = Path::default();
        let item = self.in_path(&mut path, |lowerer, path| {
            path.statements.extend(has_value.map(|it| Self::statement(StatementKind::Assume(it), span)));
            Ok(match expression.ty {
                Type::Predicate => Item::Scalar(lowerer.predicate(expression, environment)?, Scalar::Boolean),
                _ => lowerer.item(expression, environment)?,
            })
        })?;
        let (function, notation) = self.value_function(WATCHED.into(), symbol, &item, &path, span)?;
        self.model.watched = Some(Watched { function, display: ValueDisplay::Notation(notation) });
        Ok(())
    }

    /// A function that returns the value of an item on a path, and the notation of the value.
    fn value_function(
        &mut self,
        name: String,
        symbol: SymbolId,
        item: &Item,
        path: &Path,
        span: Span,
    ) -> Lowered<(FunctionId, Notation)> {
        let mut copy = path.clone();
        let built = self.in_path(&mut copy, |lowerer, path| {
            let shape = lowerer.item_shape(item)?;
            lowerer.check_shape(&shape, span)?;
            let ty = lowerer.shape_type(&shape);
            let value = match item {
                Item::Scalar(value, _) => ReturnValue::Value(*value),
                _ => {
                    let local = lowerer.temporary("result", &shape);
                    let place = lowerer.local_place(local);
                    let what = Complaint { symbol, new: None };
                    lowerer.store(item, place, &shape, &what, span, &mut path.statements)?;
                    ReturnValue::Copy(place)
                }
            };
            path.statements.push(Self::statement(StatementKind::Return(Some(value)), span));
            Ok((ty, lowerer.notation(&shape)))
        });
        let (ty, notation) = built?;
        let parameters = copy.owner.parameters.iter().map(|parameter| parameter.local).collect();
        let (locals, body) = (copy.owner.locals, copy.statements);
        let function = Function { name, parameters, locals, result: Some(ty), body, span };
        Ok((self.model.functions.push(function), notation))
    }
}
