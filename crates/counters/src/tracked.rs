//! A model in which the objects that a property is about are tracked: a variable holds the value of each parameter,
//! chosen at the start and never changed. A claim for each valuation becomes one without parameters, about all starts, and
//! a tracked object is named, so it is kept apart from those that are counted.

use quotient_ir::{
    BinaryOperator, Budget, Expr, ExprId, Formula, Interrupt, Layout, Local, LocalKind, Model, Parameter, Place,
    Property, PropertyId, PropertyKind, Root, Statement, StatementKind, Trace, Variable, VariableId,
};
use quotient_symmetry::{Preserved, TextSymmetries, symmetries_of_text};

use super::Refused;
use super::columns::{FormKind, Scheme};
use quotient_graphs::{locals_in, without_claims};

/// A model that tracks the objects of a property.
pub(crate) struct Tracked {
    /// The model. Its claims say nothing.
    pub(crate) model: Model,
    pub(crate) layout: Layout,
    /// The conditions of the property: each holds if one of its instances does, which is that of what is tracked.
    pub(crate) conditions: Vec<PropertyId>,
    /// The variable of each parameter.
    variables: Vec<VariableId>,
    /// The slots of the model without these variables, which come first.
    slots: usize,
}

impl Tracked {
    /// A model that tracks what a property is about.
    ///
    /// # Errors
    /// If a parameter is not a scalar, or the states are too large.
    pub(crate) fn new(
        model: &Model,
        layout: &Layout,
        property: PropertyId,
        kind: PropertyKind,
    ) -> Result<Self, Refused> {
        let mut tracking = without_claims(model);
        let entry = &model.properties[property];
        let span = entry.span;
        let refused = |reason: &str| Refused { reason: reason.to_owned(), span };
        let mut variables = Vec::with_capacity(entry.parameters.len());
        for Parameter { local, range } in &entry.parameters {
            let Local { name, ty, .. } = &entry.locals[*local];
            if !model.is_scalar(*ty) {
                return Err(refused("a parameter of a property is not a scalar"));
            }
            let name = format!("tracked {name}");
            let variable =
                tracking.variables.push(Variable { name: name.clone(), ty: *ty, may_be_undefined: true, span });
            let pool = &mut tracking.pool;
            let target = pool.place(Place { root: Root::Variable(variable), steps: Vec::new(), ty: *ty });
            for id in model.starts.indices() {
                let start = &mut tracking.starts[id];
                let kind = LocalKind::Parameter;
                let chosen = start.locals.push(Local { name: name.clone(), ty: *ty, kind, span });
                start.parameters.push(Parameter { local: chosen, range: range.clone() });
                let value = pool.place(Place { root: Root::Local(chosen), steps: Vec::new(), ty: *ty });
                let value = pool.expression(Expr::Read(value));
                start.body.insert(0, Statement { kind: StatementKind::Assign { target, value }, span });
            }
            variables.push(variable);
        }
        let condition = |tracking: &mut Model, condition: ExprId| {
            let mentioned = locals_in(model, condition);
            let parameters = entry.parameters.iter().zip(&variables).filter(|(it, _)| mentioned.contains(&it.local));
            let (mut own, mut whole) = (Vec::new(), condition);
            for (parameter, &variable) in parameters {
                let ty = entry.locals[parameter.local].ty;
                let mut read = |root: Root| {
                    let place = tracking.pool.place(Place { root, steps: Vec::new(), ty });
                    tracking.pool.expression(Expr::Read(place))
                };
                let (left, right) = (read(Root::Local(parameter.local)), read(Root::Variable(variable)));
                let is_it = tracking.pool.expression(Expr::Binary { operator: BinaryOperator::Equal, left, right });
                let both = Expr::Binary { operator: BinaryOperator::And, left: is_it, right: whole };
                whole = tracking.pool.expression(both);
                own.push(parameter.clone());
            }
            let locals = entry.locals.clone();
            Property { name: None, kind, parameters: own, locals, formula: Formula::Condition(whole), span }
        };
        let mut conditions = Vec::new();
        for own in entry.formula.conditions() {
            let own = condition(&mut tracking, own);
            conditions.push(tracking.properties.push(own));
        }
        let slots = layout.slots.len();
        let layout = Layout::new(&tracking).map_err(|error| refused(&error.to_string()))?;
        Ok(Self { model: tracking, layout, conditions, variables, slots })
    }

    /// What its text shows to be interchangeable; none if it was interrupted.
    ///
    /// # Errors
    /// If the text is too large.
    pub(crate) fn symmetries(&self, interrupt: &Interrupt) -> Result<Option<TextSymmetries>, Refused> {
        let preserved = Preserved::Properties(&self.conditions);
        match symmetries_of_text(&self.model, &self.layout, preserved, &Budget::until(interrupt)) {
            Ok(Some(text)) => Ok(Some(text)),
            Ok(None) => {
                let reason = "the text is too large to be read for symmetries".to_owned();
                Err(Refused { reason, span: Default::default() })
            }
            Err(_) => Ok(None),
        }
    }

    /// Whether a start, given by its arguments, stands for itself: others differ from one that does by a permutation,
    /// which maps the first tracked object of a family to its first value, the next one to the second, and so on.
    pub(crate) fn is_first(&self, scheme: &Scheme<'_>, arguments: &[i64]) -> bool {
        let tracked = &arguments[arguments.len() - self.variables.len()..];
        let mut used: Vec<i64> = scheme.families.iter().map(|family| family.first).collect();
        tracked.iter().zip(&self.variables).all(|(&value, &variable)| {
            let FormKind::Scalar { families, .. } = &scheme.variables[variable].0.kind else { return true };
            let Some(&family) = families.iter().find(|&&family| scheme.families[family].contains(value)) else {
                return true;
            };
            let is_next = value <= used[family];
            used[family] += i64::from(value == used[family]);
            is_next
        })
    }

    /// A run of the model without what is tracked, and what was.
    pub(crate) fn untracked(&self, mut trace: Trace) -> (Trace, Vec<i64>) {
        let mut arguments = Vec::new();
        if let Some(start) = trace.steps.first_mut() {
            arguments = start.arguments.split_off(start.arguments.len() - self.variables.len());
        }
        trace.steps.iter_mut().for_each(|step| step.state.0.truncate(self.slots));
        (trace, arguments)
    }
}
