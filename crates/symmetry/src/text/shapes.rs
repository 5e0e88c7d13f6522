//! The roles that values play. Every scalar position of the text gets a role: the contents of a variable, an index of
//! an array, a parameter, the result of a function. Positions between which values flow share a role.

use std::sync::Arc;

use quotient_ir::{
    ExprId, Formula, FunctionId, Local, LocalId, Model, Parameter, PropertyId, PropertyKind, RuleId, Span, StartId,
    Statement, Table, TableIndex, TypeId, TypeKind, VariableId,
};
use rustc_hash::FxHashMap;

/// A role that values play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role(pub(super) u32);

/// The roles of the scalars inside a value of some type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A scalar.
    Scalar {
        /// Its role.
        role: Role,
        /// Its type.
        ty: TypeId,
    },
    /// An array.
    Array {
        /// The role of its indices.
        role: Role,
        /// Their type.
        index: TypeId,
        /// What it consists of.
        element: Arc<Shape>,
    },
    /// A record: its fields.
    Record(Vec<Arc<Shape>>),
    /// A multiset.
    Multiset {
        /// The greatest number of elements.
        capacity: u64,
        /// What it consists of.
        element: Arc<Shape>,
    },
}

/// A part of the text that has locals of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A rule.
    Rule(RuleId),
    /// An initial-state program.
    Start(StartId),
    /// A property.
    Property(PropertyId),
    /// A function or procedure.
    Function(FunctionId),
}

impl Scope {
    /// All scopes of a model.
    pub fn all(model: &Model) -> Vec<Self> {
        let functions = model.functions.indices().map(Self::Function);
        let starts = model.starts.indices().map(Self::Start);
        let rules = model.rules.indices().map(Self::Rule);
        functions.chain(starts).chain(rules).chain(model.properties.indices().map(Self::Property)).collect()
    }

    /// Its locals.
    pub fn locals(self, model: &Model) -> &Table<LocalId, Local> {
        match self {
            Self::Rule(rule) => &model.rules[rule].locals,
            Self::Start(start) => &model.starts[start].locals,
            Self::Property(property) => &model.properties[property].locals,
            Self::Function(function) => &model.functions[function].locals,
        }
    }

    /// The parameters that range over values; those of functions do not.
    pub(super) fn parameters(self, model: &Model) -> &[Parameter] {
        match self {
            Self::Rule(rule) => &model.rules[rule].parameters,
            Self::Start(start) => &model.starts[start].parameters,
            Self::Property(property) => &model.properties[property].parameters,
            Self::Function(_) => &[],
        }
    }

    /// Whether it is an assumption: its instances are evaluated one after the other.
    pub(super) fn is_assumption(self, model: &Model) -> bool {
        matches!(self, Self::Property(property) if model.properties[property].kind == PropertyKind::Assumption)
    }

    /// The conditions that are not inside statements.
    pub(super) fn conditions(self, model: &Model) -> Vec<ExprId> {
        match self {
            Self::Rule(rule) => vec![model.rules[rule].guard],
            Self::Property(property) => Formula::conditions(&model.properties[property].formula).collect(),
            Self::Start(_) | Self::Function(_) => Vec::new(),
        }
    }

    pub(super) fn body(self, model: &Model) -> &[Statement] {
        match self {
            Self::Rule(rule) => &model.rules[rule].body,
            Self::Start(start) => &model.starts[start].body,
            Self::Function(function) => &model.functions[function].body,
            Self::Property(_) => &[],
        }
    }

    pub(super) fn span(self, model: &Model) -> Span {
        match self {
            Self::Rule(rule) => model.rules[rule].span,
            Self::Start(start) => model.starts[start].span,
            Self::Property(property) => model.properties[property].span,
            Self::Function(function) => model.functions[function].span,
        }
    }
}

/// The roles of everything that is declared.
#[derive(Clone, Debug)]
pub struct Shapes {
    pub(super) variables: Table<VariableId, Arc<Shape>>,
    pub(super) locals: FxHashMap<Scope, Vec<Arc<Shape>>>,
    pub(super) results: Vec<Option<Arc<Shape>>>,
    /// How many roles there are, from 0.
    pub(super) roles: u32,
}

/// With more parts of declarations than this, a text is not looked at: types can share parts so often that there are
/// exponentially many.
const MOST_ROLES: u32 = 200_000;

impl Shapes {
    /// A role of its own for each scalar of each declaration; `None` if there are too many.
    pub(super) fn distinct(model: &Model) -> Option<Self> {
        let mut roles = 0;
        let mut variables = Table::new();
        for variable in model.variables.iter() {
            variables.push(shape(model, variable.ty, &mut roles)?);
        }
        let mut locals = FxHashMap::default();
        for scope in Scope::all(model) {
            let own = scope.locals(model).iter().map(|local| shape(model, local.ty, &mut roles));
            locals.insert(scope, own.collect::<Option<Vec<_>>>()?);
        }
        let mut results = Vec::new();
        for function in model.functions.iter() {
            results.push(match function.result {
                Some(ty) => Some(shape(model, ty, &mut roles)?),
                None => None,
            });
        }
        Some(Self { variables, locals, results, roles })
    }

    /// The shape of a variable.
    pub fn variable(&self, variable: VariableId) -> &Shape {
        &self.variables[variable]
    }

    /// The shape of the result of a function, if it has one.
    pub fn result(&self, function: FunctionId) -> Option<&Shape> {
        self.results[function.position()].as_deref()
    }

    /// The shape of a local.
    pub fn local(&self, scope: Scope, local: LocalId) -> &Arc<Shape> {
        &self.locals[&scope][local.position()]
    }

    /// The same declarations with other roles.
    pub(super) fn renamed(&self, rename: &mut dyn FnMut(Role) -> Role) -> Self {
        let mut variables = Table::new();
        for variable in self.variables.iter() {
            variables.push(variable.renamed(rename));
        }
        let locals = self.locals.iter().map(|(scope, own)| {
            let own: Vec<Arc<Shape>> = own.iter().map(|shape| shape.renamed(rename)).collect();
            (*scope, own)
        });
        let locals = locals.collect();
        let results = self.results.iter().map(|result| result.as_ref().map(|shape| shape.renamed(rename))).collect();
        Self { variables, locals, results, roles: self.roles }
    }
}

/// A shape of a type with new roles.
fn shape(model: &Model, ty: TypeId, roles: &mut u32) -> Option<Arc<Shape>> {
    let mut fresh = || {
        *roles += 1;
        (*roles < MOST_ROLES).then_some(Role(*roles - 1))
    };
    Some(Arc::new(match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            Shape::Array { role: fresh()?, index: *index, element: shape(model, *element, roles)? }
        }
        TypeKind::Record { fields } => {
            let fields: Option<Vec<_>> = fields.iter().map(|field| shape(model, field.ty, roles)).collect();
            Shape::Record(fields?)
        }
        TypeKind::Multiset { capacity, element } => {
            Shape::Multiset { capacity: *capacity, element: shape(model, *element, roles)? }
        }
        _ => Shape::Scalar { role: fresh()?, ty },
    }))
}

impl Shape {
    /// Calls `visit` for the role and the type of each scalar and of the indices of each array inside.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Role, TypeId, Part)) {
        match self {
            Self::Scalar { role, ty } => visit(*role, *ty, Part::Contents),
            Self::Array { role, index, element } => {
                visit(*role, *index, Part::Index);
                element.visit(visit);
            }
            Self::Record(fields) => fields.iter().for_each(|field| field.visit(visit)),
            Self::Multiset { element, .. } => element.visit(visit),
        }
    }

    fn renamed(&self, rename: &mut dyn FnMut(Role) -> Role) -> Arc<Self> {
        Arc::new(match self {
            Self::Scalar { role, ty } => Self::Scalar { role: rename(*role), ty: *ty },
            Self::Array { role, index, element } => {
                Self::Array { role: rename(*role), index: *index, element: element.renamed(rename) }
            }
            Self::Record(fields) => Self::Record(fields.iter().map(|field| field.renamed(rename)).collect()),
            Self::Multiset { capacity, element } => {
                Self::Multiset { capacity: *capacity, element: element.renamed(rename) }
            }
        })
    }
}

/// What a role is for in a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Contents,
    Index,
}
