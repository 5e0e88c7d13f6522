//! The parts of variables and locals that a slice keeps or leaves out: paths with their indices erased, such as
//! `Chan1[].Data`. What a reference may denote is one class with the reference, so a write through it is a write to a
//! part of the class, whichever it is (the unification of Steensgaard, "Points-to analysis in almost linear time",
//! POPL 1996).

use std::ops::Range;

use quotient_ir::{
    Argument, Expr, ExprId, FunctionId, Local, LocalId, LocalKind, Model, PlaceId, Root, Rule, Statement,
    StatementKind, Step, Table, TableIndex, TypeId, TypeKind, VariableId,
};
use rustc_hash::FxHashMap;

use super::walk::{each_expression, each_statement};

/// The most parts that are considered.
const PART_LIMIT: usize = 1 << 20;

/// A scalar part of a variable, local or result, with its indices erased.
pub(crate) type Part = usize;

/// Whose locals an expression mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OwnerId(pub(crate) usize);

/// A rule, initial-state program, property or function.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'m> {
    pub(crate) locals: &'m Table<LocalId, Local>,
    /// Its guard, or the condition of a property.
    pub(crate) condition: Option<ExprId>,
    pub(crate) body: &'m [Statement],
    pub(crate) function: Option<FunctionId>,
}

/// All owners of a model: rules, starts, properties and functions, in this order.
pub(crate) struct Owners<'m> {
    list: Vec<Owner<'m>>,
    starts: usize,
    properties: usize,
    functions: usize,
}

impl<'m> Owners<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        let mut list = Vec::new();
        let owner = |locals, body| Owner { locals, condition: None, body, function: None };
        let guarded = |rule: &'m Rule| Owner { condition: Some(rule.guard), ..owner(&rule.locals, &rule.body) };
        list.extend(model.rules.iter().map(guarded));
        let starts = list.len();
        list.extend(model.starts.iter().map(|start| owner(&start.locals, &start.body)));
        let properties = list.len();
        list.extend(model.properties.iter().map(|property| {
            let condition = property.formula.condition();
            Owner { condition, ..owner(&property.locals, &[]) }
        }));
        let functions = list.len();
        list.extend(model.functions.iter_enumerated().map(|(id, function)| {
            let function_id = Some(id);
            Owner { function: function_id, ..owner(&function.locals, &function.body) }
        }));
        Self { list, starts, properties, functions }
    }
    pub(crate) fn rule(&self, position: usize) -> OwnerId {
        OwnerId(position)
    }
    pub(crate) fn start(&self, position: usize) -> OwnerId {
        OwnerId(self.starts + position)
    }
    pub(crate) fn property(&self, position: usize) -> OwnerId {
        OwnerId(self.properties + position)
    }
    pub(crate) fn function(&self, id: FunctionId) -> OwnerId {
        OwnerId(self.functions + id.position())
    }
    pub(crate) fn ids(&self) -> impl Iterator<Item = OwnerId> + use<> {
        (0..self.list.len()).map(OwnerId)
    }
    pub(crate) fn get(&self, owner: OwnerId) -> Owner<'m> {
        self.list[owner.0]
    }
}

/// What is known about the parts of one class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// Whether one belongs to the state and can be undefined.
    pub(crate) undefinable: bool,
    /// Whether one belongs to the state and always has a value.
    pub(crate) definite: bool,
    /// Whether one is a local that can be undefined.
    pub(crate) undefined_local: bool,
    /// Whether one belongs to a multiset.
    pub(crate) in_multiset: bool,
}

impl Traits {
    /// Whether a part of the class belongs to the state.
    pub(crate) fn in_state(self) -> bool {
        self.undefinable || self.definite
    }
    /// Whether a part of the class can be undefined.
    pub(crate) fn may_be_undefined(self) -> bool {
        self.undefinable || self.undefined_local
    }
}

/// The parts of a model and their classes.
pub(crate) struct Classes<'m> {
    pub(crate) model: &'m Model,
    pub(crate) owners: Owners<'m>,
    counts: FxHashMap<TypeId, usize>,
    variables: Vec<Part>,
    locals: Vec<Vec<Part>>,
    results: Vec<Part>,
    parents: Vec<Part>,
    traits: Vec<Traits>,
}

impl<'m> Classes<'m> {
    /// The classes of a model; none if there are too many parts.
    pub(crate) fn new(model: &'m Model) -> Option<Self> {
        let owners = Owners::new(model);
        let mut classes = Self {
            model,
            owners,
            counts: FxHashMap::default(),
            variables: Vec::new(),
            locals: Vec::new(),
            results: Vec::new(),
            parents: Vec::new(),
            traits: Vec::new(),
        };
        for variable in model.variables.iter() {
            let first = classes.add(variable.ty)?;
            classes.variables.push(first);
            let undefinable = variable.may_be_undefined;
            classes.mark(
                variable.ty,
                first,
                false,
                Traits { undefinable, definite: !undefinable, ..Traits::default() },
            );
        }
        for id in classes.owners.ids() {
            let owner = classes.owners.get(id);
            let mut firsts = Vec::new();
            for (local, entry) in owner.locals.iter_enumerated() {
                let first = classes.add(entry.ty)?;
                firsts.push(first);
                let is_argument = || owner.function.is_some_and(|id| model.functions[id].parameters.contains(&local));
                let undefined_local = match entry.kind {
                    LocalKind::Variable => true,
                    LocalKind::Parameter => is_argument(),
                    LocalKind::Reference => false,
                };
                classes.mark(entry.ty, first, false, Traits { undefined_local, ..Traits::default() });
            }
            classes.locals.push(firsts);
        }
        for function in model.functions.iter() {
            let first = match function.result {
                Some(ty) => {
                    let first = classes.add(ty)?;
                    // A compound result is a copy, undefined cells included.
                    let undefined_local = !model.is_scalar(ty);
                    classes.mark(ty, first, false, Traits { undefined_local, ..Traits::default() });
                    first
                }
                None => classes.parents.len(),
            };
            classes.results.push(first);
        }
        classes.unify_references();
        Some(classes)
    }

    /// The number of parts of a type.
    pub(crate) fn count(&self, ty: TypeId) -> usize {
        self.counts.get(&ty).copied().unwrap_or(1)
    }

    /// Adds the parts of a type.
    fn add(&mut self, ty: TypeId) -> Option<Part> {
        let count = self.count_parts(ty)?;
        let first = self.parents.len();
        if first + count > PART_LIMIT {
            return None;
        }
        self.parents.extend(first..first + count);
        self.traits.resize(first + count, Traits::default());
        Some(first)
    }

    fn count_parts(&mut self, ty: TypeId) -> Option<usize> {
        if let Some(&count) = self.counts.get(&ty) {
            return Some(count);
        }
        let model = self.model;
        let count = match &model.types[ty].kind {
            TypeKind::Array { element, .. } => self.count_parts(*element)?,
            // The first part tells which positions hold an element.
            TypeKind::Multiset { element, .. } => 1 + self.count_parts(*element)?,
            TypeKind::Record { fields } => {
                let mut sum = 0;
                for field in fields {
                    sum += self.count_parts(field.ty)?;
                }
                sum
            }
            _ => 1,
        };
        if count > PART_LIMIT {
            return None;
        }
        self.counts.insert(ty, count);
        Some(count)
    }

    fn mark(&mut self, ty: TypeId, first: Part, in_multiset: bool, traits: Traits) {
        let model = self.model;
        match &model.types[ty].kind {
            TypeKind::Array { element, .. } => self.mark(*element, first, in_multiset, traits),
            TypeKind::Multiset { element, .. } => {
                self.traits[first] = Traits { in_multiset: true, ..traits };
                self.mark(*element, first + 1, true, traits);
            }
            TypeKind::Record { fields } => {
                let mut at = first;
                for field in fields {
                    self.mark(field.ty, at, in_multiset, traits);
                    at += self.count(field.ty);
                }
            }
            _ => self.traits[first] = Traits { in_multiset, ..traits },
        }
    }

    /// The first part of a variable.
    pub(crate) fn variable(&self, variable: VariableId) -> Part {
        self.variables[variable.position()]
    }
    /// The first part of a local.
    pub(crate) fn local(&self, owner: OwnerId, local: LocalId) -> Part {
        self.locals[owner.0][local.position()]
    }
    /// The parts of a result.
    pub(crate) fn result(&self, function: FunctionId) -> Range<Part> {
        let first = self.results[function.position()];
        let count = self.model.functions[function].result.map_or(0, |ty| self.count(ty));
        first..first + count
    }

    /// The first part of each place that a place may be.
    pub(crate) fn firsts(&self, owner: OwnerId, place: PlaceId) -> Vec<Part> {
        let model = self.model;
        let entry = &model.pool[place];
        let (roots, mut ty) = match &entry.root {
            Root::Variable(variable) => (vec![self.variable(*variable)], model.variables[*variable].ty),
            Root::Local(local) => (vec![self.local(owner, *local)], self.owners.get(owner).locals[*local].ty),
            Root::Result { function, .. } => {
                let ty = model.functions[*function].result.expect("verified: the function has a result");
                (vec![self.result(*function).start], ty)
            }
            Root::Choice { then, otherwise, .. } => {
                let mut roots = self.firsts(owner, *then);
                roots.extend(self.firsts(owner, *otherwise));
                (roots, model.pool[*then].ty)
            }
        };
        let mut offset = 0;
        for step in &entry.steps {
            match (step, &model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => {
                    offset += fields[..*field as usize].iter().map(|field| self.count(field.ty)).sum::<usize>();
                    ty = fields[*field as usize].ty;
                }
                (Step::Index(_), TypeKind::Array { element, .. }) => ty = *element,
                (Step::Index(_), TypeKind::Multiset { element, .. }) => {
                    offset += 1;
                    ty = *element;
                }
                _ => unreachable!("verified: a step fits the type it starts from"),
            }
        }
        roots.into_iter().map(|root| root + offset).collect()
    }

    /// The parts of the places that a place may be.
    pub(crate) fn parts(&self, owner: OwnerId, place: PlaceId) -> impl Iterator<Item = Part> + use<'m> {
        let count = self.count(self.model.pool[place].ty);
        self.firsts(owner, place).into_iter().flat_map(move |first| first..first + count)
    }

    /// The class of a part: one of its parts.
    pub(crate) fn class(&self, part: Part) -> Part {
        let mut part = part;
        while self.parents[part] != part {
            part = self.parents[part];
        }
        part
    }
    /// What is known about the class of a part.
    pub(crate) fn traits(&self, part: Part) -> Traits {
        self.traits[self.class(part)]
    }
    /// The number of parts.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    fn unify(&mut self, left: Part, right: Part) {
        let (left, right) = (self.class(left), self.class(right));
        if left == right {
            return;
        }
        let (root, other) = (left.min(right), left.max(right));
        self.parents[other] = root;
        let (one, two) = (self.traits[root], self.traits[other]);
        self.traits[root] = Traits {
            undefinable: one.undefinable || two.undefinable,
            definite: one.definite || two.definite,
            undefined_local: one.undefined_local || two.undefined_local,
            in_multiset: one.in_multiset || two.in_multiset,
        };
    }

    /// Makes references one class with what they may denote.
    fn unify_references(&mut self) {
        let model = self.model;
        let mut denoted: Vec<(OwnerId, PlaceId, Part, usize)> = Vec::new();
        let mut calls: Vec<(OwnerId, FunctionId, &'m [Argument])> = Vec::new();
        for id in self.owners.ids() {
            let owner = self.owners.get(id);
            each_statement(owner.body, &mut |statement| match &statement.kind {
                StatementKind::Bind { local, place } => {
                    denoted.push((id, *place, self.local(id, *local), self.count(owner.locals[*local].ty)));
                }
                StatementKind::Call { function, arguments } => calls.push((id, *function, arguments)),
                _ => {}
            });
            // Guards and conditions of properties call functions by reference, too.
            let mut results = Vec::new();
            each_expression(
                model,
                &self.owners,
                id,
                &mut |expression| {
                    if let Expr::Call { function, arguments } = &model.pool[expression] {
                        calls.push((id, *function, arguments));
                    }
                },
                &mut |place| {
                    if let Root::Result { function, arguments } = &model.pool[place].root {
                        results.push((id, *function, &arguments[..]));
                    }
                },
            );
            calls.append(&mut results);
        }
        for (id, function, arguments) in calls {
            let entry = &model.functions[function];
            for (&parameter, argument) in entry.parameters.iter().zip(arguments) {
                if let Argument::Reference(place) = argument {
                    let first = self.local(self.owners.function(function), parameter);
                    denoted.push((id, *place, first, self.count(entry.locals[parameter].ty)));
                }
            }
        }
        for (id, place, reference, count) in denoted {
            for first in self.firsts(id, place) {
                for offset in 0..count {
                    self.unify(reference + offset, first + offset);
                }
            }
        }
    }
}
