//! Expressions in the language of a model that are evaluated in its states, and searches for states that satisfy one.

use quotient_ir::{
    self as ir, Interpreter, PropertyId, Trace, TypeId, TypeKind, Valuation, ValueDisplay, Watched, queue_text,
};
use quotient_search::StopReason;

use crate::control::{Control, Observer};
use crate::covers::{self, Sought};
use crate::error::Error;
use crate::model::Model;
use crate::names::value_text;
use crate::options::Options;
use crate::plan::Plan;
use crate::refusal::Refusal;

/// An expression in the language of a model.
///
/// ```
/// use quotient::{Control, Expression, Language, Model, ir::Valuation};
///
/// let text = "var x: 0..3; startstate begin x := 0; end; rule x < 3 ==> begin x := x + 1; end;";
/// let model = Model::from_text("counter", text, Language::Murphi)?;
/// let expression = Expression::new(&model, "x + 1", &Control::default())?;
/// assert_eq!(expression.values([&Valuation(vec![Some(2)])]), [Some("3".to_owned())]);
/// let condition = Expression::condition(&model, "x > 1", &Control::default())?;
/// assert_eq!(condition.holds([&Valuation(vec![Some(2)]), &Valuation(vec![None])]), [Some(true), None]);
/// # Ok::<(), quotient::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    /// The model with the expression in it.
    model: Model,
    meaning: Meaning,
}

/// What an expression is in its model.
#[derive(Clone, Debug)]
enum Meaning {
    /// The condition of a property.
    Condition(PropertyId),
    /// A value of any type.
    Value(Watched),
}

impl Expression {
    /// Reads an expression of any type. In languages that have no values of arrays and the like, the name of one means
    /// all of it.
    ///
    /// # Errors
    /// If it is not an expression of the language over the variables of the model.
    pub fn new(model: &Model, text: &str, control: &Control) -> Result<Self, Error> {
        let (model, watched) = model.watching(text, control)?;
        Ok(Self { model, meaning: Meaning::Value(watched) })
    }

    /// Reads a condition.
    ///
    /// # Errors
    /// If it is not a condition of the language over the variables of the model.
    pub fn condition(model: &Model, text: &str, control: &Control) -> Result<Self, Error> {
        let (model, property) = model.reaching(text, control)?;
        if !model.ir().properties[property].parameters.is_empty() {
            return Err(Refusal::NoValue.into());
        }
        Ok(Self { model, meaning: Meaning::Condition(property) })
    }

    /// Its values in states, in the notation of the language; none where it has no value.
    pub fn values<'s>(&self, states: impl IntoIterator<Item = &'s Valuation>) -> Vec<Option<String>> {
        let model = self.model.ir();
        let interpreter = Interpreter::new(model, self.model.layout());
        let value = |state: &Valuation| match &self.meaning {
            Meaning::Value(Watched { function, display }) => {
                let cells = interpreter.value_of(*function, &[], state)?;
                let ty = model.functions[*function].result?;
                Some(match display {
                    ValueDisplay::Cells => value_text(model, ty, &mut cells.into_iter()),
                    ValueDisplay::Notation(notation) => notation.text(model, ty, &mut cells.into_iter()),
                    ValueDisplay::Queue => contents_text(model, ty, &cells),
                })
            }
            Meaning::Condition(property) => {
                interpreter.holds(*property, &[], state).ok().map(|holds| holds.to_string())
            }
        };
        states.into_iter().map(value).collect()
    }

    /// Whether it holds in states, if it is a condition or a number; none where it has no value.
    pub fn holds<'s>(&self, states: impl IntoIterator<Item = &'s Valuation>) -> Vec<Option<bool>> {
        let interpreter = Interpreter::new(self.model.ir(), self.model.layout());
        let holds = |state: &Valuation| match &self.meaning {
            Meaning::Value(watched) => match interpreter.value_of(watched.function, &[], state)?[..] {
                [Some(value)] => Some(value != 0),
                _ => None,
            },
            Meaning::Condition(property) => interpreter.holds(*property, &[], state).ok(),
        };
        states.into_iter().map(holds).collect()
    }
}

/// The contents of a queue, or of an array of queues.
fn contents_text(model: &ir::Model, ty: TypeId, cells: &[Option<i64>]) -> String {
    match model.types[ty].kind {
        TypeKind::Array { element, .. } => {
            let size = usize::try_from(model.cells(element)).unwrap_or(usize::MAX);
            let queues: Vec<String> =
                cells.chunks(size.max(1)).map(|cells| contents_text(model, element, cells)).collect();
            format!("[{}]", queues.join(", "))
        }
        _ => queue_text(model, ty, cells),
    }
}

/// What became of the search for a state.
#[derive(Clone, Debug)]
pub enum Reached {
    /// A run to it, replayed.
    Run(Trace),
    /// There is no such state.
    Nowhere,
    /// The search did not finish, for this reason.
    Unknown(StopReason),
}

/// Searches for a shortest run to a state that satisfies a condition in the language of a model.
///
/// ```
/// use quotient::{Control, Language, Model, Options, Reached, Silent, reach};
///
/// let text = "var x: 0..3; startstate begin x := 0; end; rule x < 2 ==> begin x := x + 1; end;";
/// let model = Model::from_text("counter", text, Language::Murphi)?;
/// let sought = |condition| reach(&model, condition, &Options::default(), &Control::default(), &mut Silent);
/// assert!(matches!(sought("x = 2")?, Reached::Run(trace) if trace.steps.len() == 3));
/// assert!(matches!(sought("x = 3")?, Reached::Nowhere));
/// # Ok::<(), quotient::Error>(())
/// ```
///
/// # Errors
/// If it is not a condition of the language, or there is a defect in this program.
pub fn reach(
    model: &Model,
    condition: &str,
    options: &Options,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Reached, Error> {
    let (extended, property) = model.reaching(condition, control)?;
    let name = crate::names::property_name(extended.ir(), property);
    let options = Options { properties: vec![name], cover_runs: false, ..options.clone() };
    let plan = Plan::of(&extended, &options)?;
    // A run-time error does not end the search for a state.
    Ok(match covers::run_to(&plan, extended.ir(), property, true, control, observer)? {
        Sought::Found(trace) => Reached::Run(trace),
        Sought::Absent => Reached::Nowhere,
        Sought::Unknown(reason) => Reached::Unknown(reason),
    })
}
