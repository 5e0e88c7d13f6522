//! Expressions in the language of a model that are evaluated in its states, and searches for states that satisfy one.
//!
//! Languages have properties, which are conditions. To get the value of another expression `e`, the condition `(e) = (e)` is
//! read: expressions are hash-consed, so an equation with itself is easy to find, and its side is the expression.

use quotient_engines::StopReason;
use quotient_frontends::Language;
use quotient_ir::{
    self as ir, BinaryOperator, Expr, ExprId, Interpreter, PropertyId, Trace, TypeId, UnaryOperator, Valuation,
};

use crate::control::{Control, Observer};
use crate::covers::{self, Sought};
use crate::error::Error;
use crate::model::Model;
use crate::options::Options;
use crate::plan::{Plan, Refusal};

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
    /// The model with the property that the expression is in.
    model: Model,
    property: PropertyId,
    /// The expression and its type, if it is a part of the property.
    part: Option<(ExprId, TypeId)>,
}

impl Expression {
    /// Reads an expression: a condition, or one with a single value.
    ///
    /// # Errors
    /// If it is not an expression of the language over the variables of the model.
    pub fn new(model: &Model, text: &str, control: &Control) -> Result<Self, Error> {
        let sign = match model.language() {
            Some(Language::Murphi | Language::B) | None => "=",
            Some(Language::Promela | Language::Dve | Language::Csp) => "==",
        };
        if let Ok((read, property)) = model.reaching(&format!("({text}) {sign} ({text})"), control)
            && let Some(part) = own_equation(read.ir(), property)
        {
            let part = Some((part, type_of(read.ir(), part)));
            return Ok(Self { model: read, property, part });
        }
        Self::condition(model, text, control)
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
        Ok(Self { model, property, part: None })
    }

    /// Its values in states, in the notation of the language; none where it has no value.
    pub fn values<'s>(&self, states: impl IntoIterator<Item = &'s Valuation>) -> Vec<Option<String>> {
        let interpreter = Interpreter::new(self.model.ir(), self.model.layout());
        let value = |state: &Valuation| match self.part {
            Some((part, ty)) => {
                let value = interpreter.value_at(self.property, part, state).ok()?;
                Some(self.model.ir().value_name(ty, value))
            }
            None => interpreter.holds(self.property, &[], state).ok().map(|holds| holds.to_string()),
        };
        states.into_iter().map(value).collect()
    }

    /// Whether it holds in states, if it is a condition; none where it has no value.
    pub fn holds<'s>(&self, states: impl IntoIterator<Item = &'s Valuation>) -> Vec<Option<bool>> {
        let interpreter = Interpreter::new(self.model.ir(), self.model.layout());
        let holds = |state: &Valuation| match self.part {
            Some((part, _)) => interpreter.value_at(self.property, part, state).ok().map(|value| value != 0),
            None => interpreter.holds(self.property, &[], state).ok(),
        };
        states.into_iter().map(holds).collect()
    }
}

/// The side of the equation of an expression with itself in the condition of a property.
fn own_equation(model: &ir::Model, property: PropertyId) -> Option<ExprId> {
    let mut waiting = vec![model.properties[property].formula.condition()?];
    while let Some(expression) = waiting.pop() {
        match &model.pool[expression] {
            Expr::Binary { operator: BinaryOperator::Equal, left, right } if left == right => return Some(*left),
            Expr::Binary { left, right, .. } => waiting.extend([*right, *left]),
            Expr::Unary { operand, .. } => waiting.push(*operand),
            Expr::Conditional { condition, then, otherwise } => waiting.extend([*otherwise, *then, *condition]),
            _ => {}
        }
    }
    None
}

/// The type that an expression is shown as.
fn type_of(model: &ir::Model, expression: ExprId) -> TypeId {
    match &model.pool[expression] {
        Expr::Constant { ty, .. } => *ty,
        Expr::Read(place) => model.pool[*place].ty,
        Expr::Conditional { then, .. } => type_of(model, *then),
        Expr::Call { function, .. } => model.functions[*function].result.unwrap_or(ir::Model::INTEGER),
        Expr::Quantified { .. }
        | Expr::IsUndefined(_)
        | Expr::IsPresent { .. }
        | Expr::IsMember { .. }
        | Expr::SameContents { .. }
        | Expr::Unary { operator: UnaryOperator::Not, .. } => ir::Model::BOOLEAN,
        Expr::Unary { .. } | Expr::Count { .. } => ir::Model::INTEGER,
        Expr::Binary { operator, .. } => match operator {
            BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Implies
            | BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => ir::Model::BOOLEAN,
            _ => ir::Model::INTEGER,
        },
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
    let plan = Plan::new(&extended, &options)?;
    // A run-time error does not end the search for a state.
    Ok(match covers::run_to(&plan, extended.ir(), property, true, control, observer)? {
        Sought::Found(trace) => Reached::Run(trace),
        Sought::Absent => Reached::Nowhere,
        Sought::Unknown(reason) => Reached::Unknown(reason),
    })
}
