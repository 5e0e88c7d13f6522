//! The invariants of rules, initial-state programs, properties and functions, and of the
//! expressions, places and statements inside them.

use quotient_temporal::Formulas;
use rustc_hash::FxHashSet;

use super::STATEMENT_NESTING_LIMIT;
use super::effects::{Effect, Effects, Uses};
use super::pool::{Class, Parts, class_of, for_each_inside};
use super::types::Shapes;
use crate::behaviour::{BehaviourClaim, EventLabel};
use crate::expression::{Argument, BinaryOperator, Expr, Iteration, Root, Step, UnaryOperator};
use crate::formula::{Formula, TemporalClaim};

use crate::index::{ExprId, FunctionId, LocalId, PlaceId, Table, TableIndex, TypeId};
use crate::model::{Function, Local, LocalKind, Model, Parameter, PropertyKind};
use crate::ownership::{Number, Owner as ProcessOwner};
use crate::statement::{MultisetElement, ReturnValue, Statement, StatementKind};
use crate::types::TypeKind;
use crate::walk::{Node, blocks};

/// Checks all owners of a model whose types and pool are valid.
pub(super) fn check(model: &Model, shapes: &Shapes, classes: &Table<ExprId, Class>, problems: &mut Vec<String>) {
    let owners = owners(model);
    for owner in &owners {
        check_existence(model, owner, problems);
    }
    if !problems.is_empty() {
        return;
    }
    let effects = Effects::new(model);
    let mut checker = Checker {
        model,
        shapes,
        classes,
        effects: &effects,
        expressions_checked: vec![false; classes.len()],
        places_checked: vec![false; model.pool.places().len()],
        problems,
    };
    for owner in &owners {
        checker.check_owner(owner);
    }
    for (id, rule) in model.rules.iter_enumerated() {
        if let ProcessOwner::Process(Number::Parameter(position)) = rule.owner {
            let scalar = |parameter: &Parameter| class_of(model, rule.locals[parameter.local].ty) != Class::Compound;
            match rule.parameters.get(..=position) {
                None => problems.push(format!("rule {id:?} belongs to a process that is none of its parameters")),
                Some(parameters) if !parameters.iter().all(scalar) => {
                    problems.push(format!("rule {id:?} belongs to a process behind a parameter that is not scalar"));
                }
                Some(_) => {}
            }
        }
    }
    if !model.participation.is_empty() && model.participation.len() != model.rules.len() {
        problems.push("the events are those of other rules than those of the model".into());
    }
    for objective in &model.objectives {
        let is_cover = |it: &crate::model::Property| {
            it.kind == PropertyKind::Cover && it.parameters.is_empty() && it.formula.condition().is_some()
        };
        if !model.properties.get(objective.property).is_some_and(is_cover) {
            problems.push("an optimum is asked for that is not one of a condition to reach".into());
        }
    }
    for (id, property) in model.properties.iter_enumerated() {
        if property.formula == Formula::CoverStatement && property.kind != PropertyKind::Cover {
            problems.push(format!("property {id:?} is of another kind than the cover statement that declares it"));
        }
        if property.formula.temporal().is_some() != (property.kind == PropertyKind::Temporal) {
            problems.push(format!("property {id:?} is temporal and its formula is not, or the other way round"));
        }
        if let Some(temporal) = property.formula.temporal() {
            let highest = match &temporal.claim {
                TemporalClaim::Linear { pool, formula } | TemporalClaim::Branching { pool, formula } => {
                    pool.atoms(*formula).last().copied()
                }
                TemporalClaim::Never(automaton) => automaton.atoms.iter().max().copied(),
                TemporalClaim::Behaviour(behaviour) => {
                    if behaviour.labels.len() != model.rules.len() {
                        problems.push(format!("property {id:?} has labels of other rules than those of the model"));
                    }
                    let specification = match behaviour.claim {
                        BehaviourClaim::Refines { specification, .. } => Some(specification),
                        BehaviourClaim::DivergenceFree | BehaviourClaim::Deterministic => None,
                    };
                    let mut starts = std::iter::once(behaviour.process).chain(specification);
                    if starts.any(|start| model.starts.get(start).is_none()) {
                        problems.push(format!("property {id:?} is about a start that is not there"));
                    }
                    if !property.parameters.is_empty() {
                        problems.push(format!("property {id:?} is about events and has parameters"));
                    }
                    None
                }
            };
            let is_linear = |pool: &Formulas, formula| !pool.has_path_quantifier(formula);
            if highest.is_some_and(|atom| atom.0 as usize >= temporal.atoms.len()) {
                problems.push(format!("property {id:?} has an atom without a condition"));
            }
            if temporal.atoms.len() > 64 {
                problems.push(format!("property {id:?} has more than 64 conditions"));
            }
            if temporal.names.len() != temporal.atoms.len() {
                problems.push(format!("property {id:?} has a condition without a text"));
            }
            if matches!(&temporal.claim, TemporalClaim::Linear { pool, formula } if !is_linear(pool, *formula)) {
                problems.push(format!("property {id:?} has a path quantifier in a formula about single runs"));
            }
        }
        if !property.parameters.is_empty() && matches!(property.kind, PropertyKind::Passing | PropertyKind::Constraint)
        {
            problems.push(format!("property {id:?} tells which states are passed through and has parameters"));
        }
        if !property.parameters.is_empty() && property.kind == PropertyKind::Remark {
            problems.push(format!("property {id:?} is a remark and has parameters"));
        }
    }
}

/// The common part of all kinds of owners.
struct Owner<'m> {
    /// For messages.
    name: String,
    locals: &'m Table<LocalId, Local>,
    parameters: &'m [Parameter],
    /// Present if it is a function.
    function: Option<&'m Function>,
    /// A guard, or the conditions of a formula.
    conditions: Vec<ExprId>,
    /// The values of events, and those of which the best is asked for.
    values: Vec<ExprId>,
    body: &'m [Statement],
}

fn owners(model: &Model) -> Vec<Owner<'_>> {
    let mut owners = Vec::new();
    for function in model.functions.iter() {
        let name = format!("function `{}`", function.name);
        let (locals, body) = (&function.locals, &function.body[..]);
        owners.push(Owner {
            name,
            locals,
            parameters: &[],
            function: Some(function),
            conditions: Vec::new(),
            values: Vec::new(),
            body,
        });
    }
    let named = |kind: &str, id: &dyn std::fmt::Debug, name: &Option<String>| match name {
        Some(name) => format!("{kind} `{name}`"),
        None => format!("{kind} {id:?}"),
    };
    for (id, start) in model.starts.iter_enumerated() {
        owners.push(Owner {
            name: named("start", &id, &start.name),
            locals: &start.locals,
            parameters: &start.parameters,
            function: None,
            conditions: Vec::new(),
            values: Vec::new(),
            body: &start.body,
        });
    }
    for (id, rule) in model.rules.iter_enumerated() {
        owners.push(Owner {
            name: named("rule", &id, &rule.name),
            locals: &rule.locals,
            parameters: &rule.parameters,
            function: None,
            conditions: vec![rule.guard],
            values: match model.participation.get(id.position()).map(|it| &it.event) {
                Some(EventLabel::Event { values, .. }) => values.clone(),
                _ => Vec::new(),
            },
            body: &rule.body,
        });
    }
    let objectives = |id| model.objectives.iter().filter(move |it| it.property == id).map(|it| it.value);
    for (id, property) in model.properties.iter_enumerated() {
        owners.push(Owner {
            name: named("property", &id, &property.name),
            locals: &property.locals,
            parameters: &property.parameters,
            function: None,
            conditions: property.formula.conditions().collect(),
            values: property.formula.event_values().chain(objectives(id)).collect(),
            body: &[],
        });
    }
    owners
}

/// Checks that everything an owner mentions directly exists, and the nesting of its statements.
fn check_existence(model: &Model, owner: &Owner<'_>, problems: &mut Vec<String>) {
    let mut problem = |text: &str| problems.push(format!("{}: {text}", owner.name));
    let local_exists = |local: LocalId| owner.locals.get(local).is_some();
    let mut parts = Parts::default();
    parts.types.extend(owner.locals.iter().map(|local| local.ty));
    parts.expressions.extend(owner.conditions.iter().chain(&owner.values));
    let mut locals: Vec<LocalId> = owner.parameters.iter().map(|parameter| parameter.local).collect();
    for parameter in owner.parameters {
        parts.add_range(&parameter.range);
    }
    if let Some(function) = owner.function {
        parts.types.extend(function.result);
        locals.extend(&function.parameters);
    }
    let mut pending: Vec<(&Statement, usize)> = owner.body.iter().map(|statement| (statement, 1)).collect();
    let mut too_deep = false;
    while let Some((statement, depth)) = pending.pop() {
        parts.add_statement(statement);
        match &statement.kind {
            StatementKind::Bind { local, .. }
            | StatementKind::For { local, .. }
            | StatementKind::MultisetRemoveIf { local, .. } => locals.push(*local),
            StatementKind::Cover { property, .. } if model.properties.get(*property).is_none() => {
                problem("a cover statement names a property that does not exist");
            }
            _ => {}
        }
        too_deep |= depth > STATEMENT_NESTING_LIMIT;
        pending.extend(blocks(statement).flatten().map(|nested| (nested, depth + 1)));
    }
    if too_deep {
        problem("statements are nested too deeply");
    }
    if !parts.exist(model) {
        problem("mentions what does not exist");
    }
    if !locals.iter().all(|&local| local_exists(local)) {
        problem("mentions a local that does not exist");
    }
    let mut parameters: Vec<LocalId> = owner.parameters.iter().map(|parameter| parameter.local).collect();
    parameters.extend(owner.function.iter().flat_map(|function| &function.parameters));
    let distinct: FxHashSet<LocalId> = parameters.iter().copied().collect();
    if distinct.len() < parameters.len() {
        problem("two parameters are one local");
    }
}

struct Checker<'c, 'm> {
    model: &'m Model,
    shapes: &'c Shapes,
    classes: &'c Table<ExprId, Class>,
    effects: &'c Effects,
    /// Checks that do not depend on the owner are done once.
    expressions_checked: Vec<bool>,
    places_checked: Vec<bool>,
    problems: &'c mut Vec<String>,
}

/// The state of the traversal of one owner.
struct Walk<'o, 'm> {
    owner: &'o Owner<'m>,
    /// The references that are bound here.
    bound: FxHashSet<LocalId>,
    /// The references that may denote places that must not be written.
    read_only: FxHashSet<LocalId>,
    /// The current location, for messages.
    place: String,
}

impl<'m> Checker<'_, 'm> {
    fn problem(&mut self, walk: &Walk<'_, 'm>, text: impl std::fmt::Display) {
        self.problems.push(format!("{}{}: {text}", walk.owner.name, walk.place));
    }

    fn require(&mut self, walk: &Walk<'_, 'm>, fine: bool, text: &str) {
        if !fine {
            self.problem(walk, text);
        }
    }

    fn check_owner(&mut self, owner: &Owner<'m>) {
        let uses = Uses::of(self.model, owner.body);
        let mut walk = Walk {
            owner,
            bound: FxHashSet::default(),
            read_only: self.read_only_references(&uses),
            place: String::new(),
        };
        for parameter in owner.parameters {
            self.check_parameter(&walk, parameter);
        }
        for &parameter in owner.function.iter().flat_map(|function| &function.parameters) {
            match owner.locals[parameter].kind {
                LocalKind::Parameter => {}
                LocalKind::Reference => {
                    walk.bound.insert(parameter);
                }
                LocalKind::Variable => self.problem(&walk, "a parameter is declared as a variable"),
            }
        }
        for &condition in &owner.conditions {
            walk.place = " condition".into();
            // A reference of a rule is bound by its body, which has not begun.
            self.check_inside(&walk, Parts { expressions: vec![condition], ..Parts::default() });
            self.require(&walk, self.classes[condition] == Class::Boolean, "it is not boolean");
            self.check_pure(&walk, condition);
        }
        for &value in &owner.values {
            walk.place = " event".into();
            self.check_inside(&walk, Parts { expressions: vec![value], ..Parts::default() });
            self.check_pure(&walk, value);
        }
        self.check_read_only(&walk, &uses);
        self.check_block(&mut walk, owner.body);
    }

    fn check_parameter(&mut self, walk: &Walk<'_, 'm>, parameter: &Parameter) {
        let local = &walk.owner.locals[parameter.local];
        let model = self.model;
        self.require(walk, local.kind == LocalKind::Parameter, "a parameter is declared as something else");
        match &parameter.range {
            Iteration::Over(ty) => {
                let alike = self.shapes.equal(local.ty, *ty) && class_of(model, local.ty) == class_of(model, *ty);
                self.require(walk, alike, "a parameter ranges over another type than its own");
                self.require(walk, !self.shapes.holds_integer(*ty), "a parameter ranges over unbounded integers");
                self.require(walk, !self.shapes.holds_multiset(*ty), "a parameter ranges over multisets");
            }
            Iteration::Steps { from, to, step } => {
                self.check_inside(walk, Parts { expressions: vec![*from, *to], ..Parts::default() });
                self.check_range(walk, parameter.local, &parameter.range);
                let constant = |expression: ExprId| match model.pool[expression] {
                    Expr::Constant { value, .. } => Some(value),
                    _ => None,
                };
                let step = match step {
                    Some(step) => constant(*step).map(Some),
                    None => Some(None),
                };
                let (Some(from), Some(to), Some(step)) = (constant(*from), constant(*to), step) else {
                    self.problem(walk, "a parameter has bounds that are not constant");
                    return;
                };
                let step = step.unwrap_or(if to < from { -1 } else { 1 });
                let leads_there = step != 0 && !(from < to && step < 0) && !(from > to && step > 0);
                self.require(
                    walk,
                    leads_there,
                    "the steps of a parameter do not lead from its first to its last value",
                );
                if class_of(model, local.ty) != Class::Compound {
                    let domain = model.domain(local.ty);
                    let fits = domain.contains(from) && domain.contains(to);
                    self.require(walk, fits, "a parameter has bounds out of its range");
                }
            }
        }
    }

    /// Checks that no function called by a guard or property has effects.
    fn check_pure(&mut self, walk: &Walk<'_, 'm>, condition: ExprId) {
        for (function, arguments) in Uses::of_expression(self.model, condition).calls {
            let entry = &self.model.functions[function];
            let writes_reference = entry.parameters.iter().zip(arguments).any(|(&parameter, argument)| {
                matches!(argument, Argument::Reference(_)) && self.effects.has(function, Effect::Reference(parameter))
            });
            let effects = [
                (self.effects.has(function, Effect::Global), "writes to a variable"),
                (self.effects.has(function, Effect::Path), "executes an assume or cover statement"),
                (writes_reference, "writes to a reference"),
            ];
            for (_, text) in effects.iter().filter(|(present, _)| *present) {
                self.problem(walk, format!("it calls `{}`, which {text}", entry.name));
            }
        }
    }

    /// The references that may be bound to the result of a function or a choice of places.
    fn read_only_references(&self, uses: &Uses<'m>) -> FxHashSet<LocalId> {
        let mut read_only = FxHashSet::default();
        let mut pending = Vec::new();
        let mut followers: Vec<(LocalId, LocalId)> = Vec::new();
        for &(local, place) in &uses.bound {
            match &self.model.pool[place].root {
                Root::Result { .. } | Root::Choice { .. } => pending.push(local),
                Root::Local(leader) => followers.push((*leader, local)),
                Root::Variable(_) => {}
            }
        }
        followers.sort_unstable();
        while let Some(local) = pending.pop() {
            if read_only.insert(local) {
                let first = followers.partition_point(|&(leader, _)| leader < local);
                let own = followers[first..].iter().take_while(|&&(leader, _)| leader == local);
                pending.extend(own.map(|&(_, follower)| follower));
            }
        }
        read_only
    }

    fn check_read_only(&mut self, walk: &Walk<'_, 'm>, uses: &Uses<'m>) {
        let model = self.model;
        let is_read_only = |place: PlaceId| match &model.pool[place].root {
            Root::Result { .. } | Root::Choice { .. } => true,
            Root::Local(local) => walk.read_only.contains(local),
            Root::Variable(_) => false,
        };
        for &place in uses.written.iter().filter(|&&place| is_read_only(place)) {
            self.problem(walk, format!("{place:?} is written to, but is a result or a choice"));
        }
        for &(function, arguments) in &uses.calls {
            for (&parameter, argument) in model.functions[function].parameters.iter().zip(arguments) {
                if let Argument::Reference(place) = argument
                    && is_read_only(*place)
                    && self.effects.has(function, Effect::Reference(parameter))
                {
                    let name = &model.functions[function].name;
                    self.problem(walk, format!("{place:?} is written to by `{name}`, but is a result or a choice"));
                }
            }
        }
    }

    /// Checks statements. References bound in the block are bound until its end.
    fn check_block(&mut self, walk: &mut Walk<'_, 'm>, block: &'m [Statement]) {
        let mut bound_here = Vec::new();
        for statement in block {
            walk.place = format!(" at bytes {}..{}", statement.span.start, statement.span.end);
            let mut parts = Parts::default();
            parts.add_statement(statement);
            if let StatementKind::Call { function, arguments } = &statement.kind {
                self.check_arguments(walk, *function, arguments);
            }
            self.check_inside(walk, parts);
            self.check_statement(walk, statement);
            if let StatementKind::Bind { local, .. } = &statement.kind
                && walk.bound.insert(*local)
            {
                bound_here.push(*local);
            }
            for nested in blocks(statement) {
                self.check_block(walk, nested);
            }
        }
        for local in bound_here {
            walk.bound.remove(&local);
        }
    }

    fn check_statement(&mut self, walk: &Walk<'_, 'm>, statement: &'m Statement) {
        let model = self.model;
        let type_of = |place: PlaceId| model.pool[place].ty;
        let place_class = |place: PlaceId| class_of(model, type_of(place));
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let class = place_class(*target);
                self.require(walk, class != Class::Compound, "a value is assigned to a compound place");
                self.require(walk, class == self.classes[*value], "a value of another class is assigned");
            }
            StatementKind::Copy { target, source } => {
                self.require(walk, place_class(*target) == Class::Compound, "a scalar is copied");
                let equal = self.shapes.equal(type_of(*target), type_of(*source));
                self.require(walk, equal, "a copy between different layouts");
            }
            StatementKind::Clear(_) => {}
            StatementKind::Undefine(place) => {
                let entry = &model.pool[*place];
                if let Root::Variable(variable) = entry.root
                    && !model.variables[variable].may_be_undefined
                    && self.shapes.holds_plain_cell(entry.ty)
                    && !self.passes_multiset(model.variables[variable].ty, &entry.steps)
                {
                    self.problem(walk, "a variable that always has a value is undefined");
                }
            }
            StatementKind::Bind { local, place } => {
                let entry = &walk.owner.locals[*local];
                self.require(walk, entry.kind == LocalKind::Reference, "what is bound is not a reference");
                self.require(walk, self.alike(entry.ty, type_of(*place)), "a reference is bound to another layout");
            }
            StatementKind::If { branches, .. } => {
                let boolean = branches.iter().all(|(condition, _)| self.classes[*condition] == Class::Boolean);
                self.require(walk, boolean, "a condition is not boolean");
            }
            StatementKind::Assert { condition, violates, .. } => {
                self.require(walk, self.classes[*condition] == Class::Boolean, "a condition is not boolean");
                let fits = violates.as_ref().is_none_or(|it| {
                    model
                        .properties
                        .get(it.property)
                        .is_some_and(|entry| entry.kind == PropertyKind::Invariant && entry.parameters.is_empty())
                });
                self.require(walk, fits, "an assertion stands for what is no invariant, or has parameters");
            }
            StatementKind::While { condition, .. }
            | StatementKind::Require { condition, .. }
            | StatementKind::Assume(condition) => {
                self.require(walk, self.classes[*condition] == Class::Boolean, "a condition is not boolean");
            }
            StatementKind::For { local, range, .. } => self.check_range(walk, *local, range),
            StatementKind::Call { .. } | StatementKind::Error { .. } | StatementKind::Print(_) => {}
            StatementKind::Return(value) => self.check_return(walk, *value),
            StatementKind::Cover { condition, property } => {
                self.require(walk, self.classes[*condition] == Class::Boolean, "a condition is not boolean");
                let entry = &model.properties[*property];
                let fits = entry.kind == PropertyKind::Cover && entry.formula == Formula::CoverStatement;
                self.require(walk, fits, "a cover statement names a property that is not its own");
            }
            StatementKind::MultisetAdd { multiset, element } => {
                let TypeKind::Multiset { element: ty, .. } = model.types[type_of(*multiset)].kind else {
                    self.problem(walk, "an element is added to something other than a multiset");
                    return;
                };
                let fits = match element {
                    MultisetElement::Value(value) => self.accepts_value(ty, *value),
                    MultisetElement::Copy(place) => self.accepts_copy(ty, type_of(*place)),
                };
                self.require(walk, fits, "an element does not fit the multiset it is added to");
            }
            StatementKind::MultisetRemove { multiset, position } => {
                self.require(walk, self.is_multiset(*multiset), "an element is removed from something else");
                let number = self.classes[*position] == Class::Number;
                self.require(walk, number, "a position is not a number");
            }
            StatementKind::MultisetRemoveIf { local, multiset, condition } => {
                self.check_positions(walk, *local, *multiset);
                self.require(walk, self.classes[*condition] == Class::Boolean, "a condition is not boolean");
            }
        }
    }

    fn check_return(&mut self, walk: &Walk<'_, 'm>, value: Option<ReturnValue>) {
        let result = walk.owner.function.and_then(|function| function.result);
        let fits = match (result, value) {
            (None, None) => true,
            (Some(ty), Some(ReturnValue::Value(value))) => self.accepts_value(ty, value),
            (Some(ty), Some(ReturnValue::Copy(place))) => {
                let source = self.model.pool[place].ty;
                class_of(self.model, ty) == Class::Compound && self.shapes.equal(ty, source)
            }
            (None, Some(_)) | (Some(_), None) => false,
        };
        self.require(walk, fits, "a return does not fit the result");
    }

    /// Whether a path from a type leads through a multiset.
    fn passes_multiset(&self, ty: TypeId, steps: &[Step]) -> bool {
        let mut ty = ty;
        for step in steps {
            ty = match (step, &self.model.types[ty].kind) {
                (Step::Index(_), TypeKind::Multiset { .. }) => return true,
                (Step::Index(_), TypeKind::Array { element, .. }) => *element,
                (Step::Field(field), TypeKind::Record { fields }) => match fields.get(*field as usize) {
                    Some(field) => field.ty,
                    None => return false,
                },
                _ => return false,
            };
        }
        false
    }

    fn is_multiset(&self, place: PlaceId) -> bool {
        matches!(self.model.types[self.model.pool[place].ty].kind, TypeKind::Multiset { .. })
    }

    /// Whether one type can replace the other in place.
    fn alike(&self, left: TypeId, right: TypeId) -> bool {
        self.shapes.equal(left, right) && class_of(self.model, left) == class_of(self.model, right)
    }

    /// Whether the value of an expression can be stored as a type.
    fn accepts_value(&self, ty: TypeId, value: ExprId) -> bool {
        let class = class_of(self.model, ty);
        class != Class::Compound && class == self.classes[value]
    }

    /// Whether contents can be copied to a type; scalars are checked at run time.
    fn accepts_copy(&self, ty: TypeId, source: TypeId) -> bool {
        match (class_of(self.model, ty), class_of(self.model, source)) {
            (Class::Compound, Class::Compound) => self.shapes.equal(ty, source),
            (left, right) => left == right,
        }
    }

    /// Checks the binding of a quantifier or loop.
    fn check_range(&mut self, walk: &Walk<'_, 'm>, local: LocalId, range: &Iteration) {
        let Some(entry) = walk.owner.locals.get(local) else {
            self.problem(walk, "a bound variable does not exist");
            return;
        };
        self.require(walk, entry.kind == LocalKind::Parameter, "a bound variable is declared as something else");
        let class = class_of(self.model, entry.ty);
        self.require(walk, class != Class::Compound, "a bound variable is not scalar");
        match range {
            Iteration::Over(ty) => {
                self.require(walk, self.alike(entry.ty, *ty), "a bound variable ranges over another type than its own");
                self.require(walk, *ty != Model::INTEGER, "a bound variable ranges over unbounded integers");
            }
            Iteration::Steps { from, to, step } => {
                let ends = [*from, *to].iter().all(|&end| self.classes[end] == class);
                self.require(walk, ends, "a bound variable has bounds of another class");
                let number = step.is_none_or(|step| self.classes[step] == Class::Number);
                self.require(walk, number, "a step is not a number");
            }
        }
    }

    /// Checks the binding of the positions of a multiset.
    fn check_positions(&mut self, walk: &Walk<'_, 'm>, local: LocalId, multiset: PlaceId) {
        let TypeKind::Multiset { capacity, .. } = self.model.types[self.model.pool[multiset].ty].kind else {
            self.problem(walk, "positions of something other than a multiset");
            return;
        };
        let Some(entry) = walk.owner.locals.get(local) else {
            self.problem(walk, "a bound position does not exist");
            return;
        };
        self.require(walk, entry.kind == LocalKind::Parameter, "a bound position is declared as something else");
        if class_of(self.model, entry.ty) != Class::Number {
            self.problem(walk, "a bound position is not a number");
        } else if capacity > 0 {
            let domain = self.model.domain(entry.ty);
            let last = i64::try_from(capacity - 1).unwrap_or(i64::MAX);
            let fits = domain.contains(0) && domain.contains(last);
            self.require(walk, fits, "a bound position cannot hold every position");
        }
    }

    /// Checks expressions and places and all their parts.
    fn check_inside(&mut self, walk: &Walk<'_, 'm>, roots: Parts) {
        let mut found = Vec::new();
        for_each_inside(self.model, roots, |part| found.push(part));
        for part in found {
            match part {
                Node::Expression(expression) => self.check_expression(walk, expression),
                Node::Place(place) => self.check_place(walk, place),
            }
        }
    }

    fn check_expression(&mut self, walk: &Walk<'_, 'm>, id: ExprId) {
        let model = self.model;
        let expression = &model.pool[id];
        match expression {
            Expr::Quantified { local, range, .. } => self.check_range(walk, *local, range),
            Expr::Count { local, multiset, .. } => self.check_positions(walk, *local, *multiset),
            _ => {}
        }
        if std::mem::replace(&mut self.expressions_checked[crate::TableIndex::position(id)], true) {
            return;
        }
        let class = |expression: ExprId| self.classes[expression];
        let place_class = |place: PlaceId| class_of(model, model.pool[place].ty);
        let fits = match expression {
            Expr::Constant { value, ty } => {
                class_of(model, *ty) != Class::Compound && model.domain(*ty).contains(*value)
            }
            Expr::Read(place) | Expr::IsUndefined(place) => place_class(*place) != Class::Compound,
            Expr::Unary { operator: UnaryOperator::Not, operand } => class(*operand) == Class::Boolean,
            Expr::Unary { operand, .. } => class(*operand) == Class::Number,
            Expr::Binary { operator, left, right } => {
                let (left, right) = (class(*left), class(*right));
                match operator {
                    BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies => {
                        (left, right) == (Class::Boolean, Class::Boolean)
                    }
                    BinaryOperator::Equal
                    | BinaryOperator::NotEqual
                    | BinaryOperator::Less
                    | BinaryOperator::LessOrEqual
                    | BinaryOperator::Greater
                    | BinaryOperator::GreaterOrEqual => left == right && left != Class::Compound,
                    _ => (left, right) == (Class::Number, Class::Number),
                }
            }
            Expr::Conditional { condition, then, otherwise } => {
                class(*condition) == Class::Boolean
                    && class(*then) == class(*otherwise)
                    && class(*then) != Class::Compound
            }
            Expr::Quantified { body, .. } | Expr::Count { body, .. } => class(*body) == Class::Boolean,
            Expr::IsPresent { multiset, position } => self.is_multiset(*multiset) && class(*position) == Class::Number,
            Expr::IsMember { value, ty } => class(*value) != Class::Compound && class_of(model, *ty) != Class::Compound,
            Expr::SameContents { left, right } => {
                let (left, right) = (model.pool[*left].ty, model.pool[*right].ty);
                class_of(model, left) == Class::Compound
                    && self.shapes.equal(left, right)
                    && !self.shapes.holds_multiset(left)
            }
            Expr::Call { function, .. } => {
                model.functions[*function].result.is_some_and(|result| class_of(model, result) != Class::Compound)
            }
        };
        self.require(walk, fits, &format!("{id:?} is ill-typed"));
        if let Expr::Call { function, arguments } = expression {
            self.check_arguments(walk, *function, arguments);
        }
    }

    fn check_place(&mut self, walk: &Walk<'_, 'm>, id: PlaceId) {
        let model = self.model;
        let place = &model.pool[id];
        let root_type = match &place.root {
            Root::Local(local) => {
                let Some(entry) = walk.owner.locals.get(*local) else {
                    self.problem(walk, format!("{id:?} is a local that does not exist"));
                    return;
                };
                let bound = entry.kind != LocalKind::Reference || walk.bound.contains(local);
                self.require(walk, bound, &format!("`{}` is used before it is bound", entry.name));
                Some(entry.ty)
            }
            _ if std::mem::replace(&mut self.places_checked[crate::TableIndex::position(id)], true) => return,
            Root::Variable(variable) => Some(model.variables[*variable].ty),
            Root::Result { function, arguments } => {
                self.check_arguments(walk, *function, arguments);
                model.functions[*function].result.filter(|&result| class_of(model, result) == Class::Compound)
            }
            Root::Choice { condition, then, otherwise } => {
                let (left, right) = (model.pool[*then].ty, model.pool[*otherwise].ty);
                let fits = self.classes[*condition] == Class::Boolean
                    && class_of(model, left) == Class::Compound
                    && self.shapes.equal(left, right);
                fits.then_some(left)
            }
        };
        let end = root_type.and_then(|ty| self.end_of_path(ty, &place.steps));
        self.require(walk, end == Some(place.ty), &format!("{id:?} is ill-typed"));
    }

    /// The type that a path leads to.
    fn end_of_path(&self, start: TypeId, steps: &[Step]) -> Option<TypeId> {
        let model = self.model;
        steps.iter().try_fold(start, |ty, step| match (step, &model.types[ty].kind) {
            (Step::Field(field), TypeKind::Record { fields }) => fields.get(*field as usize).map(|field| field.ty),
            (Step::Index(index), TypeKind::Array { index: of, element }) => {
                (self.classes[*index] == class_of(model, *of)).then_some(*element)
            }
            (Step::Index(index), TypeKind::Multiset { element, .. }) => {
                (self.classes[*index] == Class::Number).then_some(*element)
            }
            _ => None,
        })
    }

    fn check_arguments(&mut self, walk: &Walk<'_, 'm>, function: FunctionId, arguments: &[Argument]) {
        let model = self.model;
        let entry = &model.functions[function];
        if entry.parameters.len() != arguments.len() {
            self.problem(walk, format!("a call of `{}` has the wrong number of arguments", entry.name));
            return;
        }
        for (&parameter, argument) in entry.parameters.iter().zip(arguments) {
            let local = &entry.locals[parameter];
            let by_reference = local.kind == LocalKind::Reference;
            let fits = match argument {
                Argument::Value(value) => !by_reference && self.accepts_value(local.ty, *value),
                Argument::Copy(place) => !by_reference && self.accepts_copy(local.ty, model.pool[*place].ty),
                Argument::Reference(place) => by_reference && self.alike(local.ty, model.pool[*place].ty),
                Argument::Undefined => !by_reference,
            };
            self.require(walk, fits, &format!("an argument for `{}` of `{}` does not fit", local.name, entry.name));
        }
    }
}
