//! What of each class can be noticed: the least solution of "what decides something noticed is noticed", over all rules,
//! starts, functions and properties.
//!
//! A value is noticed if it decides a guard, a property, a run-time error, a branch with such effects, or what is
//! written to a noticed part. If only reading it can be noticed (an undefined value is an error), its definedness is
//! noticed. Expressions whose value nobody notices are still evaluated for their errors: then only what can cause an
//! error is needed.

use quotient_ir::{
    Argument, BinaryOperator, Expr, ExprId, FunctionId, Iteration, Model, MultisetElement, PlaceId, PropertyId,
    ReturnValue, Root, Statement, StatementKind, Step, TableIndex, TypeId, TypeKind, UnaryOperator,
};
use rustc_hash::FxHashSet;

use super::classes::{Classes, OwnerId, Part};
use super::faults::Faults;

/// What of a class can be noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// Nothing.
    #[default]
    Nothing,
    /// Whether it is defined.
    Definedness,
    /// Its value.
    Value,
}

/// Why an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    /// Its value is noticed.
    Value,
    /// Only its run-time errors are noticed.
    Errors,
}

/// The nesting of expressions beyond which nothing is left out.
const DEPTH_LIMIT: usize = 4000;

/// The needs of all classes, and the passes that find them.
pub(super) struct Needs<'c, 'm> {
    pub(super) classes: &'c Classes<'m>,
    pub(super) faults: Faults,
    needs: Vec<Need>,
    changed: bool,
    seen: FxHashSet<(ExprId, Purpose)>,
    depth: usize,
    too_deep: bool,
}

impl<'c, 'm> Needs<'c, 'm> {
    pub(super) fn new(classes: &'c Classes<'m>) -> Self {
        let mut needs = vec![Need::Nothing; classes.len()];
        for (part, need) in needs.iter_mut().enumerate() {
            let traits = classes.traits(part);
            // The order of the elements of a multiset depends on all of their cells. A class must have one value to
            // stand for all.
            if traits.in_multiset || traits.undefinable && traits.definite {
                *need = Need::Value;
            }
        }
        let mut found = Self {
            classes,
            faults: Faults::default(),
            needs: vec![Need::Nothing; classes.len()],
            changed: false,
            seen: FxHashSet::default(),
            depth: 0,
            too_deep: false,
        };
        for (part, need) in needs.into_iter().enumerate() {
            found.raise(part, need);
        }
        found
    }

    /// What of a part is noticed.
    pub(super) fn of(&self, part: Part) -> Need {
        self.needs[self.classes.class(part)]
    }

    /// Notices more of a part.
    pub(super) fn raise(&mut self, part: Part, need: Need) {
        let class = self.classes.class(part);
        if self.needs[class] < need {
            self.needs[class] = need;
            self.changed = true;
        }
    }

    /// Passes over the model until nothing more is noticed. Returns false if the text is too deep for it.
    pub(super) fn solve(&mut self, checked: &FxHashSet<PropertyId>) -> bool {
        let model = self.classes.model;
        loop {
            self.changed = false;
            for owner in self.classes.owners.ids() {
                self.seen.clear();
                let entry = self.classes.owners.get(owner);
                self.body(owner, entry.body);
            }
            for rule in model.rules.indices() {
                self.seen.clear();
                self.value(self.classes.owners.rule(rule.position()), model.rules[rule].guard);
            }
            for property in model.properties.indices().filter(|id| checked.contains(id)) {
                self.seen.clear();
                for condition in model.properties[property].formula.conditions() {
                    self.value(self.classes.owners.property(property.position()), condition);
                }
            }
            if self.too_deep {
                return false;
            }
            if !self.changed {
                return true;
            }
        }
    }

    fn model(&self) -> &'m Model {
        self.classes.model
    }

    /// The most that is noticed of the parts of a place.
    fn most(&self, owner: OwnerId, place: PlaceId) -> Need {
        self.classes.parts(owner, place).map(|part| self.of(part)).max().unwrap_or_default()
    }

    fn body(&mut self, owner: OwnerId, body: &'m [Statement]) {
        for statement in body {
            self.statement(owner, statement);
        }
    }

    fn statement(&mut self, owner: OwnerId, statement: &'m Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let need = self.most(owner, *target);
                self.locate_for(owner, *target, need);
                self.stored(owner, need, self.model().pool[*target].ty, *value);
            }
            StatementKind::Copy { target, source } => {
                let firsts = self.classes.firsts(owner, *target);
                let need = self.most(owner, *target);
                self.locate_for(owner, *target, need);
                for first in firsts {
                    self.copied(owner, first, *source);
                }
            }
            StatementKind::Clear(place) | StatementKind::Undefine(place) => {
                let need = self.most(owner, *place);
                self.locate_for(owner, *place, need);
            }
            StatementKind::Bind { place, .. } => self.locate(owner, *place, Purpose::Value),
            StatementKind::If { branches, otherwise } => {
                let is_noticed = branches.iter().any(|(condition, body)| {
                    self.faults.of_expression(self.classes, owner, *condition) || self.notices_all(owner, body)
                }) || self.notices_all(owner, otherwise);
                for (condition, body) in branches {
                    self.expression(owner, *condition, if is_noticed { Purpose::Value } else { Purpose::Errors });
                    self.body(owner, body);
                }
                self.body(owner, otherwise);
            }
            StatementKind::While { condition, body } => {
                self.value(owner, *condition);
                self.body(owner, body);
            }
            StatementKind::For { range, body, .. } => {
                self.range(owner, range);
                self.body(owner, body);
            }
            StatementKind::Call { function, arguments } => self.arguments(owner, *function, arguments),
            StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => {}
            StatementKind::Return(Some(value)) => {
                let Some(function) = self.classes.owners.get(owner).function else { return };
                let result = self.classes.result(function);
                match value {
                    ReturnValue::Value(value) => {
                        let ty = self.model().functions[function].result.expect("verified: the function has a result");
                        self.stored(owner, self.of(result.start), ty, *value);
                    }
                    ReturnValue::Copy(place) => self.copied(owner, result.start, *place),
                }
            }
            StatementKind::Assert { condition, violates, .. } => {
                self.value(owner, *condition);
                if let Some((_, value)) = violates.as_ref().and_then(|violated| violated.value.as_ref()) {
                    self.value(owner, *value);
                }
            }
            StatementKind::Require { condition, .. }
            | StatementKind::Assume(condition)
            | StatementKind::Cover { condition, .. } => self.value(owner, *condition),
            StatementKind::MultisetAdd { multiset, element } => {
                self.locate(owner, *multiset, Purpose::Value);
                match element {
                    MultisetElement::Value(value) => self.value(owner, *value),
                    MultisetElement::Copy(place) => self.contents(owner, *place),
                }
            }
            StatementKind::MultisetRemove { multiset, position } => {
                self.locate(owner, *multiset, Purpose::Value);
                self.value(owner, *position);
            }
            StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
                self.locate(owner, *multiset, Purpose::Value);
                self.value(owner, *condition);
            }
        }
    }

    /// An expression whose value is stored in a part of a type, of which something is noticed.
    fn stored(&mut self, owner: OwnerId, need: Need, ty: TypeId, value: ExprId) {
        let is_safe = self.faults.fits(self.model(), value, ty);
        let purpose = if need == Need::Value || !is_safe { Purpose::Value } else { Purpose::Errors };
        self.expression(owner, value, purpose);
    }

    /// The contents of a place that are copied to parts.
    fn copied(&mut self, owner: OwnerId, target: Part, source: PlaceId) {
        let count = self.classes.count(self.model().pool[source].ty);
        let mut most = Need::Nothing;
        for first in self.classes.firsts(owner, source) {
            for offset in 0..count {
                let mut need = self.of(target + offset);
                if self.undefined_is_an_error(first + offset, target + offset) {
                    need = need.max(Need::Definedness);
                }
                self.raise(first + offset, need);
                most = most.max(need);
            }
        }
        self.locate_for(owner, source, most);
    }

    /// Whether copying one part to another can fail, since only the first can be undefined.
    pub(super) fn undefined_is_an_error(&self, source: Part, target: Part) -> bool {
        self.classes.traits(target).definite && self.classes.traits(source).may_be_undefined()
    }

    /// All contents of a place.
    fn contents(&mut self, owner: OwnerId, place: PlaceId) {
        for part in self.classes.parts(owner, place) {
            self.raise(part, Need::Value);
        }
        self.locate(owner, place, Purpose::Value);
    }

    fn arguments(&mut self, owner: OwnerId, function: FunctionId, arguments: &'m [Argument]) {
        let model = self.model();
        let callee = self.classes.owners.function(function);
        let entry = &model.functions[function];
        for (&parameter, argument) in entry.parameters.iter().zip(arguments) {
            let first = self.classes.local(callee, parameter);
            let ty = entry.locals[parameter].ty;
            match argument {
                Argument::Value(value) => self.stored(owner, self.of(first), ty, *value),
                Argument::Copy(place) => {
                    self.copied(owner, first, *place);
                    if model.is_scalar(ty) && !self.copy_fits(ty, *place) {
                        self.contents(owner, *place);
                    }
                }
                Argument::Reference(place) => self.locate(owner, *place, Purpose::Value),
                Argument::Undefined => {}
            }
        }
    }

    /// Whether the scalar at a place can always be copied to a type.
    fn copy_fits(&self, ty: TypeId, place: PlaceId) -> bool {
        let model = self.model();
        super::faults::is_subset(&model.domain(model.pool[place].ty), &model.domain(ty))
    }

    fn range(&mut self, owner: OwnerId, range: &'m Iteration) {
        if let Iteration::Steps { from, to, step } = range {
            for bound in [Some(*from), Some(*to), *step].into_iter().flatten() {
                self.value(owner, bound);
            }
        }
    }

    fn value(&mut self, owner: OwnerId, expression: ExprId) {
        self.expression(owner, expression, Purpose::Value);
    }

    fn expression(&mut self, owner: OwnerId, expression: ExprId, purpose: Purpose) {
        if !self.seen.insert((expression, purpose)) {
            return;
        }
        if self.depth == DEPTH_LIMIT {
            self.too_deep = true;
            return;
        }
        self.depth += 1;
        self.expression_here(owner, expression, purpose);
        self.depth -= 1;
    }

    fn expression_here(&mut self, owner: OwnerId, expression: ExprId, purpose: Purpose) {
        let model = self.model();
        let needs_value = purpose == Purpose::Value;
        let can_fail = |needs: &mut Self, part: ExprId| needs.faults.of_expression(needs.classes, owner, part);
        let either = |needed: bool| if needed { Purpose::Value } else { Purpose::Errors };
        match &model.pool[expression] {
            Expr::Constant { .. } => {}
            Expr::Read(place) => {
                let may_be_undefined =
                    self.classes.parts(owner, *place).any(|part| self.classes.traits(part).may_be_undefined());
                let need = match (purpose, may_be_undefined) {
                    (Purpose::Value, _) => Need::Value,
                    (Purpose::Errors, true) => Need::Definedness,
                    (Purpose::Errors, false) => Need::Nothing,
                };
                for part in self.classes.parts(owner, *place) {
                    self.raise(part, need);
                }
                self.locate_for(owner, *place, need);
            }
            Expr::IsUndefined(place) => {
                let need = if needs_value { Need::Definedness } else { Need::Nothing };
                for part in self.classes.parts(owner, *place) {
                    self.raise(part, need);
                }
                self.locate_for(owner, *place, need);
            }
            Expr::Unary { operator, operand } => {
                let overflows = *operator == UnaryOperator::Negate && can_fail(self, expression);
                self.expression(owner, *operand, either(needs_value || overflows));
            }
            Expr::Binary { operator, left, right } => match operator {
                BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies => {
                    let decides = can_fail(self, *right);
                    self.expression(owner, *left, either(needs_value || decides));
                    self.expression(owner, *right, purpose);
                }
                _ => {
                    let fails = self.faults.of_operation(model, *operator, *left, *right);
                    self.expression(owner, *left, either(needs_value || fails));
                    self.expression(owner, *right, either(needs_value || fails));
                }
            },
            Expr::Conditional { condition, then, otherwise } => {
                let decides = can_fail(self, *then) || can_fail(self, *otherwise);
                self.expression(owner, *condition, either(needs_value || decides));
                self.expression(owner, *then, purpose);
                self.expression(owner, *otherwise, purpose);
            }
            Expr::Quantified { range, body, .. } => {
                self.range(owner, range);
                // The first value that decides ends it, so errors depend on the values before.
                let decides = can_fail(self, *body);
                self.expression(owner, *body, either(needs_value || decides));
            }
            Expr::Count { multiset, body, .. } => {
                self.locate(owner, *multiset, Purpose::Value);
                self.value(owner, *body);
            }
            Expr::IsPresent { multiset, position } => {
                self.locate(owner, *multiset, Purpose::Value);
                self.value(owner, *position);
            }
            Expr::IsMember { value, .. } => self.expression(owner, *value, purpose),
            Expr::SameContents { left, right } => {
                for place in [*left, *right] {
                    if needs_value {
                        self.contents(owner, place);
                    } else {
                        self.locate(owner, place, Purpose::Errors);
                    }
                }
            }
            Expr::Call { function, arguments } => {
                if needs_value {
                    for part in self.classes.result(*function) {
                        self.raise(part, Need::Value);
                    }
                }
                self.arguments(owner, *function, arguments);
            }
        }
    }

    fn locate_for(&mut self, owner: OwnerId, place: PlaceId, need: Need) {
        self.locate(owner, place, if need == Need::Nothing { Purpose::Errors } else { Purpose::Value });
    }

    /// The location of a place: which one it is, or only whether it exists.
    fn locate(&mut self, owner: OwnerId, place: PlaceId, purpose: Purpose) {
        if self.depth == DEPTH_LIMIT {
            self.too_deep = true;
            return;
        }
        self.depth += 1;
        self.locate_here(owner, place, purpose);
        self.depth -= 1;
    }

    fn locate_here(&mut self, owner: OwnerId, place: PlaceId, purpose: Purpose) {
        let model = self.model();
        let entry = &model.pool[place];
        let mut ty = match &entry.root {
            Root::Variable(variable) => model.variables[*variable].ty,
            Root::Local(local) => self.classes.owners.get(owner).locals[*local].ty,
            Root::Result { function, arguments } => {
                self.arguments(owner, *function, arguments);
                model.functions[*function].result.expect("verified: the function has a result")
            }
            Root::Choice { condition, then, otherwise } => {
                let decides = purpose == Purpose::Value
                    || self.faults.of_place(self.classes, owner, *then)
                    || self.faults.of_place(self.classes, owner, *otherwise);
                self.expression(owner, *condition, if decides { Purpose::Value } else { Purpose::Errors });
                self.locate(owner, *then, purpose);
                self.locate(owner, *otherwise, purpose);
                model.pool[*then].ty
            }
        };
        for step in &entry.steps {
            ty = match (step, &model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => fields[*field as usize].ty,
                (Step::Index(index), TypeKind::Array { index: of, element }) => {
                    let is_safe = self.faults.fits(model, *index, *of);
                    let purpose = if is_safe { purpose } else { Purpose::Value };
                    self.expression(owner, *index, purpose);
                    *element
                }
                (Step::Index(index), TypeKind::Multiset { element, .. }) => {
                    self.value(owner, *index);
                    *element
                }
                _ => unreachable!("verified: a step fits the type it starts from"),
            };
        }
    }

    fn notices_all(&mut self, owner: OwnerId, body: &'m [Statement]) -> bool {
        body.iter().any(|statement| self.notices(owner, statement))
    }

    /// Whether something notices that a statement is executed.
    fn notices(&mut self, owner: OwnerId, statement: &'m Statement) -> bool {
        let classes = self.classes;
        let place_fails = |needs: &mut Self, place: PlaceId| needs.faults.of_place(classes, owner, place);
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                self.most(owner, *target) > Need::Nothing
                    || place_fails(self, *target)
                    || self.faults.of_expression(classes, owner, *value)
                    || !self.faults.fits(classes.model, *value, classes.model.pool[*target].ty)
            }
            StatementKind::Copy { target, source } => {
                let count = classes.count(classes.model.pool[*target].ty);
                let (targets, sources) = (classes.firsts(owner, *target), classes.firsts(owner, *source));
                let mut pairs = targets.iter().flat_map(|&target| sources.iter().map(move |&source| (target, source)));
                self.most(owner, *target) > Need::Nothing
                    || place_fails(self, *target)
                    || place_fails(self, *source)
                    || pairs.any(|(target, source)| {
                        (0..count).any(|offset| self.undefined_is_an_error(source + offset, target + offset))
                    })
            }
            StatementKind::Clear(place) | StatementKind::Undefine(place) => {
                self.most(owner, *place) > Need::Nothing || place_fails(self, *place)
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().any(|(condition, body)| {
                    self.faults.of_expression(classes, owner, *condition) || self.notices_all(owner, body)
                }) || self.notices_all(owner, otherwise)
            }
            StatementKind::For { range: Iteration::Over(_), body, .. } => self.notices_all(owner, body),
            StatementKind::Print(_) => false,
            _ => true,
        }
    }
}
