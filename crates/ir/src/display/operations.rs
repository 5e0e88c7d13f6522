//! The steps of a model with operations as calls: `choose(n=bob)`.

use crate::interpreter::Interpreter;
use crate::layout::Valuation;
use crate::model::{Action, Model};
use crate::operations::{CallValue, Operations, ParameterNotation};

impl ParameterNotation {
    fn text(&self, model: &Model, cells: &mut dyn Iterator<Item = Option<i64>>) -> String {
        match self {
            Self::Value(ty, notation) => notation.text(model, *ty, cells),
            Self::Pair(left, right) => {
                let left = left.text(model, cells);
                format!("({left}|->{})", right.text(model, cells))
            }
            Self::Record(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, field)| format!("{name}:{}", field.text(model, cells))).collect();
                format!("rec({})", fields.join(","))
            }
        }
    }
}

impl CallValue {
    /// The value as the source would write it; nothing if it takes a state to tell and there is none, or it has no
    /// value.
    fn text(&self, interpreter: &Interpreter<'_>, arguments: &[i64], before: Option<&Valuation>) -> Option<String> {
        let model = interpreter.model();
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Parameters(first, notation) => {
                Some(notation.text(model, &mut arguments.iter().skip(*first).copied().map(Some)))
            }
            Self::Computed(function, notation) => {
                let cells = interpreter.value_of(*function, arguments, before?)?;
                let ty = model.functions[*function].result?;
                Some(notation.text(model, ty, &mut cells.into_iter()))
            }
        }
    }
}

impl Operations {
    /// An action as a call: `choose(n=bob)`. The state before tells what follows from it.
    pub fn call_text(
        &self,
        interpreter: &Interpreter<'_>,
        action: Action,
        arguments: &[i64],
        before: Option<&Valuation>,
    ) -> String {
        let Action::Rule(rule) = action else { return "root".to_owned() };
        let Some(call) = self.calls.get(rule) else { return "operation".to_owned() };
        let texts: Vec<String> = call
            .arguments
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", value.text(interpreter, arguments, before)?)))
            .collect();
        if texts.is_empty() { call.name.clone() } else { format!("{}({})", call.name, texts.join(", ")) }
    }

    /// The results of an action in the state before it, by name.
    pub fn results(
        &self,
        interpreter: &Interpreter<'_>,
        action: Action,
        arguments: &[i64],
        before: &Valuation,
    ) -> Vec<(String, String)> {
        let Action::Rule(rule) = action else { return Vec::new() };
        let results = self.calls.get(rule).map_or(&[][..], |call| &call.results);
        results
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), value.text(interpreter, arguments, Some(before))?)))
            .collect()
    }

    /// Whether an action is an operation of the text.
    pub fn is_operation(&self, action: Action) -> bool {
        matches!(action, Action::Rule(rule) if self.calls.get(rule).is_some_and(|call| call.is_operation))
    }
}
