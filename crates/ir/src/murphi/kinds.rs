//! How Murphi's type checker classifies types and expressions. The representation only knows integers; Murphi
//! distinguishes booleans, numbers and the values of each enumeration and scalarset. If a model mixes the values of an
//! enumeration or scalarset with others (all members of unions do), the type is *spread*: printed as a range of
//! integers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::owner::Owner;
use super::walk::{Node, body_nodes, visit_nodes, visit_statements};
use crate::expression::{Argument, BinaryOperator, Expr, Iteration, Root, Step, UnaryOperator};
use crate::index::{ExprId, FunctionId, LocalId, PlaceId, Table, TableIndex, TypeId};
use crate::model::{Local, Model};
use crate::statement::{MultisetElement, ReturnValue, StatementKind};
use crate::types::TypeKind;

/// The kind of a scalar for Murphi's type checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Number,
    /// A value of this enumeration or scalarset.
    Named(TypeId),
}

/// The kinds of the types of a model.
#[derive(Debug)]
pub(super) struct Kinds {
    /// Enumerations and scalarsets that are printed as ranges.
    spread: FxHashSet<TypeId>,
    /// The first type with the same declaration.
    same: FxHashMap<TypeId, TypeId>,
    /// The kind of each expression of the pool.
    expressions: Vec<Kind>,
}

impl Kinds {
    /// Determines which enumerations and scalarsets of a model must be printed as ranges.
    pub(super) fn new(model: &Model) -> Self {
        let mut kinds = Self { spread: FxHashSet::default(), same: FxHashMap::default(), expressions: Vec::new() };
        let mut first_with_members: FxHashMap<(i64, &[String]), TypeId> = FxHashMap::default();
        let mut first_with_element: FxHashMap<(u64, TypeId), TypeId> = FxHashMap::default();
        for (ty, entry) in model.types.iter_enumerated() {
            let first = match &entry.kind {
                TypeKind::Enumeration { first, members } => *first_with_members.entry((*first, members)).or_insert(ty),
                TypeKind::Multiset { capacity, element } if entry.name.is_none() => {
                    *first_with_element.entry((*capacity, *element)).or_insert(ty)
                }
                _ => continue,
            };
            kinds.same.insert(ty, first);
        }
        for entry in model.types.iter() {
            if let TypeKind::Union { members } = &entry.kind {
                for &member in members {
                    kinds.spread(member);
                }
            }
        }
        // Spreading one type can make it clash with another, so this is repeated until nothing changes.
        loop {
            let before = kinds.spread.len();
            kinds.refresh(model);
            for owner in Owner::all(model) {
                Clashes { model, kinds: &mut kinds, owner: &owner }.find();
            }
            if kinds.spread.len() == before {
                return kinds;
            }
        }
    }

    /// The first type with the same declaration: two enumerations with the same members are one, and so are two unnamed
    /// multisets of the same elements.
    pub(super) fn same_as(&self, ty: TypeId) -> TypeId {
        self.same.get(&ty).copied().unwrap_or(ty)
    }
    /// The kind of a scalar type.
    pub(super) fn of_type(&self, model: &Model, ty: TypeId) -> Kind {
        let ty = self.same_as(ty);
        match model.types[ty].kind {
            TypeKind::Boolean => Kind::Boolean,
            TypeKind::Enumeration { .. } | TypeKind::Scalarset { .. } if !self.spread.contains(&ty) => Kind::Named(ty),
            _ => Kind::Number,
        }
    }
    /// Whether a type is an enumeration or scalarset that is printed as such.
    pub(super) fn is_named(&self, ty: TypeId) -> bool {
        !self.spread.contains(&self.same_as(ty))
    }
    /// The kind of an expression.
    pub(super) fn of_expression(&self, expression: ExprId) -> Kind {
        self.expressions[expression.position()]
    }

    /// Finds the kinds of all expressions, operands first.
    fn refresh(&mut self, model: &Model) {
        self.expressions.clear();
        for expression in model.pool.expressions().iter() {
            let kind = match expression {
                Expr::Constant { ty, .. } => self.of_type(model, *ty),
                Expr::Read(place) => self.of_type(model, model.pool[*place].ty),
                Expr::Unary { operator: UnaryOperator::Not, .. } => Kind::Boolean,
                Expr::Unary { .. } | Expr::Count { .. } => Kind::Number,
                Expr::Binary { operator, .. } if operator.is_arithmetic() => Kind::Number,
                Expr::Binary { .. } => Kind::Boolean,
                &Expr::Conditional { then, otherwise, .. } => {
                    let (then, otherwise) = (self.of_expression(then), self.of_expression(otherwise));
                    if then == otherwise { then } else { Kind::Number }
                }
                Expr::Call { function, .. } => {
                    model.functions[*function].result.map_or(Kind::Number, |ty| self.of_type(model, ty))
                }
                Expr::Quantified { .. }
                | Expr::IsUndefined(_)
                | Expr::IsPresent { .. }
                | Expr::IsMember { .. }
                | Expr::SameContents { .. } => Kind::Boolean,
            };
            self.expressions.push(kind);
        }
    }

    fn spread(&mut self, ty: TypeId) {
        let ty = self.same_as(ty);
        self.spread.insert(ty);
    }
}

/// Searches one owner for locations where values of different kinds meet.
struct Clashes<'a, 'm> {
    model: &'m Model,
    kinds: &'a mut Kinds,
    owner: &'a Owner<'m>,
}

impl Clashes<'_, '_> {
    fn find(mut self) {
        let model = self.model;
        let owner = self.owner;
        for parameter in owner.parameters {
            self.check_range(owner.locals, parameter.local, &parameter.range);
            self.spread_indices(owner.locals[parameter.local].ty);
        }
        visit_statements(owner.body, &mut |statement| self.check_statement(&statement.kind));
        let nodes = body_nodes(owner.body);
        visit_nodes(model, owner.condition.map(Node::Expression).into_iter().chain(nodes), |node| match node {
            Node::Expression(id) => self.check_expression(id),
            Node::Place(id) => self.check_place(id),
        });
    }

    /// The cells of a parameter of an array type are written one by one, and the values of a scalarset have no names
    /// for this.
    fn spread_indices(&mut self, ty: TypeId) {
        let mut types = vec![ty];
        while let Some(ty) = types.pop() {
            match &self.model.types[ty].kind {
                &TypeKind::Array { index, element } => {
                    if matches!(self.model.types[index].kind, TypeKind::Scalarset { .. }) {
                        self.kinds.spread(index);
                    }
                    types.push(element);
                }
                TypeKind::Record { fields } => types.extend(fields.iter().map(|field| field.ty)),
                _ => {}
            }
        }
    }

    /// The two must be of one kind, or be printed as numbers.
    fn unite(&mut self, one: Kind, other: Kind) {
        if one == other {
            return;
        }
        for kind in [one, other] {
            self.as_number(kind);
        }
    }
    fn as_number(&mut self, kind: Kind) {
        if let Kind::Named(ty) = kind {
            self.kinds.spread(ty);
        }
    }
    fn kind(&self, expression: ExprId) -> Kind {
        self.kinds.of_expression(expression)
    }
    fn type_kind(&self, ty: TypeId) -> Kind {
        self.kinds.of_type(self.model, ty)
    }
    /// A value meets a type.
    fn value_into(&mut self, value: ExprId, ty: TypeId) {
        if self.model.is_scalar(ty) {
            let (value, ty) = (self.kind(value), self.type_kind(ty));
            self.unite(value, ty);
        }
    }
    /// The contents of a place meet a type.
    fn contents_into(&mut self, place: PlaceId, ty: TypeId) {
        let mut pairs = vec![(self.model.pool[place].ty, ty)];
        // Equal pairs recur in nested types; a set keeps this linear.
        let mut seen = FxHashSet::default();
        while let Some((one, other)) = pairs.pop() {
            if one == other || !seen.insert((one, other)) {
                continue;
            }
            match (&self.model.types[one].kind, &self.model.types[other].kind) {
                (
                    &TypeKind::Array { index: one_index, element: one },
                    &TypeKind::Array { index: other_index, element: other },
                ) => pairs.extend([(one_index, other_index), (one, other)]),
                (TypeKind::Multiset { element: one, .. }, TypeKind::Multiset { element: other, .. }) => {
                    pairs.push((*one, *other));
                }
                (TypeKind::Record { fields: one }, TypeKind::Record { fields: other }) => {
                    pairs.extend(one.iter().zip(other).map(|(one, other)| (one.ty, other.ty)));
                }
                _ if self.model.is_scalar(one) && self.model.is_scalar(other) => {
                    let (one, other) = (self.type_kind(one), self.type_kind(other));
                    self.unite(one, other);
                }
                _ => {}
            }
        }
    }

    fn check_range(&mut self, locals: &Table<LocalId, Local>, local: LocalId, range: &Iteration) {
        let local_type = locals[local].ty;
        match *range {
            Iteration::Over(ty) => {
                if self.model.is_scalar(ty) && self.model.is_scalar(local_type) {
                    let (one, other) = (self.type_kind(ty), self.type_kind(local_type));
                    self.unite(one, other);
                }
            }
            Iteration::Steps { from, to, step } => {
                // The variable of a loop over steps is a number in Murphi.
                if self.model.is_scalar(local_type) {
                    let kind = self.type_kind(local_type);
                    self.as_number(kind);
                }
                for bound in [Some(from), Some(to), step].into_iter().flatten() {
                    // A constant can be written as its number.
                    if !matches!(self.model.pool[bound], Expr::Constant { .. }) {
                        let kind = self.kind(bound);
                        self.as_number(kind);
                    }
                }
            }
        }
    }

    fn check_call(&mut self, function: FunctionId, arguments: &[Argument]) {
        let function = &self.model.functions[function];
        for (&parameter, argument) in function.parameters.iter().zip(arguments) {
            let ty = function.locals[parameter].ty;
            match *argument {
                Argument::Value(value) => self.value_into(value, ty),
                Argument::Copy(place) | Argument::Reference(place) => self.contents_into(place, ty),
                Argument::Undefined => {}
            }
        }
    }

    fn check_statement(&mut self, statement: &StatementKind) {
        let model = self.model;
        match statement {
            &StatementKind::Assign { target, value } => self.value_into(value, model.pool[target].ty),
            &StatementKind::Copy { target, source } => self.contents_into(source, model.pool[target].ty),
            &StatementKind::Bind { local, place } => self.contents_into(place, self.owner.locals[local].ty),
            StatementKind::For { local, range, .. } => self.check_range(self.owner.locals, *local, range),
            StatementKind::Call { function, arguments } => self.check_call(*function, arguments),
            &StatementKind::Return(Some(value)) => {
                if let Some(ty) = self.owner.result {
                    match value {
                        ReturnValue::Value(value) => self.value_into(value, ty),
                        ReturnValue::Copy(place) => self.contents_into(place, ty),
                    }
                }
            }
            &StatementKind::MultisetAdd { multiset, element } => {
                if let TypeKind::Multiset { element: ty, .. } = model.types[model.pool[multiset].ty].kind {
                    match element {
                        MultisetElement::Value(value) => self.value_into(value, ty),
                        MultisetElement::Copy(place) => self.contents_into(place, ty),
                    }
                }
            }
            &StatementKind::MultisetRemove { position, .. } => {
                let kind = self.kind(position);
                self.as_number(kind);
            }
            _ => {}
        }
    }

    fn check_expression(&mut self, id: ExprId) {
        let model = self.model;
        match &model.pool[id] {
            &Expr::Constant { value, ty } => {
                let spelled = match &model.types[ty].kind {
                    TypeKind::Enumeration { .. } => model.domain(ty).contains(value),
                    // Murphi has no literals of scalarsets.
                    TypeKind::Scalarset { .. } => false,
                    _ => true,
                };
                if !spelled {
                    self.kinds.spread(ty);
                }
            }
            &Expr::Unary { operator: UnaryOperator::Negate | UnaryOperator::Complement, operand } => {
                let kind = self.kind(operand);
                self.as_number(kind);
            }
            &Expr::Binary { operator, left, right } => {
                let (left, right) = (self.kind(left), self.kind(right));
                match operator {
                    BinaryOperator::Equal | BinaryOperator::NotEqual => self.unite(left, right),
                    BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies => {}
                    _ => {
                        self.as_number(left);
                        self.as_number(right);
                    }
                }
            }
            &Expr::Conditional { then, otherwise, .. } => {
                let (then, otherwise) = (self.kind(then), self.kind(otherwise));
                self.unite(then, otherwise);
            }
            Expr::Quantified { local, range, .. } => self.check_range(self.owner.locals, *local, range),
            &Expr::IsPresent { position, .. } => {
                let kind = self.kind(position);
                self.as_number(kind);
            }
            &Expr::IsMember { value, ty } if self.kind(value) != self.type_kind(ty) => {
                let (value, ty) = (self.kind(value), self.type_kind(ty));
                self.unite(value, ty);
            }
            &Expr::SameContents { left, right } => self.contents_into(left, model.pool[right].ty),
            Expr::Call { function, arguments } => self.check_call(*function, arguments),
            _ => {}
        }
    }

    fn check_place(&mut self, id: PlaceId) {
        let model = self.model;
        let place = &model.pool[id];
        let mut ty = match &place.root {
            Root::Variable(variable) => model.variables[*variable].ty,
            Root::Local(local) => self.owner.locals[*local].ty,
            Root::Result { function, arguments } => {
                self.check_call(*function, arguments);
                match model.functions[*function].result {
                    Some(ty) => ty,
                    None => return,
                }
            }
            &Root::Choice { then, otherwise, .. } => {
                self.contents_into(then, model.pool[otherwise].ty);
                model.pool[then].ty
            }
        };
        for step in &place.steps {
            ty = match (step, &model.types[ty].kind) {
                (&Step::Field(position), TypeKind::Record { fields }) => match fields.get(position as usize) {
                    Some(field) => field.ty,
                    None => return,
                },
                (&Step::Index(index), TypeKind::Array { index: index_type, element }) => {
                    self.value_into(index, *index_type);
                    *element
                }
                (&Step::Index(index), TypeKind::Multiset { element, .. }) => {
                    let kind = self.kind(index);
                    self.as_number(kind);
                    *element
                }
                _ => return,
            };
        }
    }
}
