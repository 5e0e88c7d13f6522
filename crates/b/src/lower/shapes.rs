//! Shapes: finite bounds of values, and their representation in cells. A scalar takes a cell, a set a bit for each
//! possible member, a function to scalars a cell for each possible argument.

use quotient_ir::{Field, Model, Type as IrType, TypeId, TypeKind};
use rustc_hash::FxHashMap;

use super::super::core::Core;
use super::super::types::{SetId, Type, Types};

/// A scalar and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    Boolean,
    Text,
    Given(SetId),
    Integer { low: i64, high: i64 },
}

/// A finite bound of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    Scalar(Scalar),
    Pair(Box<Shape>, Box<Shape>),
    Record(Vec<(String, Shape)>),
    /// Any set of values of a shape.
    Set(Box<Shape>),
    /// Any function from values of a shape to scalars.
    Function(Box<Shape>, Scalar),
    /// Any function from values of a shape to non-scalar values, such as sets. Each cell has a bit for whether there is
    /// a value.
    Table(Box<Shape>, Box<Shape>),
}

/// A scalar part of an index: a cell of a set or function is found by several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Leaf {
    Scalar(Scalar),
    /// A set of values of a shape with this many values, as a number: a bit for each.
    Code(Shape, u32),
}

/// The most values of one part of an index.
pub(crate) const MAXIMUM_LEAF: u64 = 1 << 16;
/// The most members that a set inside a set may have.
pub(crate) const MAXIMUM_CODE: u64 = 16;

impl Scalar {
    pub(crate) fn integer(low: i64, high: i64) -> Self {
        Self::Integer { low, high: high.max(low) }
    }

    pub(crate) fn size(self, core: &Core) -> u64 {
        match self {
            Self::Boolean => 2,
            Self::Text => core.texts.len().max(1) as u64,
            Self::Given(set) => core.sets[set.0].members.len() as u64,
            Self::Integer { low, high } => high.abs_diff(low).saturating_add(1),
        }
    }

    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integer { low, high }, Self::Integer { low: l, high: h }) => Self::integer(low.min(l), high.max(h)),
            _ => self,
        }
    }

    pub(crate) fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integer { low, high }, Self::Integer { low: l, high: h }) => Self::integer(low.max(l), high.min(h)),
            _ => self,
        }
    }

    /// Whether every value of this one is one of the other.
    pub(crate) fn is_within(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer { low, high }, Self::Integer { low: l, high: h }) => l <= low && high <= h,
            _ => true,
        }
    }
}

impl Shape {
    pub(crate) fn integer(low: i64, high: i64) -> Self {
        Self::Scalar(Scalar::integer(low, high))
    }
    pub(crate) fn pair(left: Self, right: Self) -> Self {
        Self::Pair(Box::new(left), Box::new(right))
    }
    pub(crate) fn set(element: Self) -> Self {
        Self::Set(Box::new(element))
    }

    /// Any function from values of a shape to values of another.
    pub(crate) fn function(domain: Self, value: Self) -> Self {
        match value {
            Self::Scalar(scalar) => Self::Function(Box::new(domain), scalar),
            value => Self::Table(Box::new(domain), Box::new(value)),
        }
    }

    /// Whether its values are sets.
    pub(crate) fn is_set(&self) -> bool {
        matches!(self, Self::Set(_) | Self::Function(..) | Self::Table(..))
    }

    /// Whether there are sets in its values.
    pub(crate) fn is_set_inside(&self) -> bool {
        match self {
            Self::Scalar(_) => false,
            Self::Pair(left, right) => left.is_set_inside() || right.is_set_inside(),
            Self::Record(fields) => fields.iter().any(|(_, field)| field.is_set_inside()),
            Self::Set(_) | Self::Function(..) | Self::Table(..) => true,
        }
    }

    /// The shape of the members of a set or function.
    pub(crate) fn element(&self) -> Self {
        match self {
            Self::Set(element) => (**element).clone(),
            Self::Function(domain, value) => Self::pair((**domain).clone(), Self::Scalar(*value)),
            Self::Table(domain, value) => Self::pair((**domain).clone(), (**value).clone()),
            other => other.clone(),
        }
    }

    /// Both parts of a pair.
    pub(crate) fn parts(&self) -> (Self, Self) {
        match self {
            Self::Pair(left, right) => ((**left).clone(), (**right).clone()),
            other => (other.clone(), other.clone()),
        }
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Scalar(one), Self::Scalar(other)) => Self::Scalar(one.join(*other)),
            (Self::Pair(a, b), Self::Pair(c, d)) => Self::pair(a.join(c), b.join(d)),
            (Self::Record(one), Self::Record(other)) => {
                Self::Record(one.iter().zip(other).map(|((name, a), (_, b))| (name.clone(), a.join(b))).collect())
            }
            (Self::Function(a, v), Self::Function(b, w)) => Self::Function(Box::new(a.join(b)), v.join(*w)),
            (Self::Table(a, v), Self::Table(b, w)) => Self::Table(Box::new(a.join(b)), Box::new(v.join(w))),
            _ if self.is_set() && other.is_set() => Self::set(self.element().join(&other.element())),
            _ => self.clone(),
        }
    }

    pub(crate) fn meet(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Scalar(one), Self::Scalar(other)) => Self::Scalar(one.meet(*other)),
            (Self::Pair(a, b), Self::Pair(c, d)) => Self::pair(a.meet(c), b.meet(d)),
            (Self::Record(one), Self::Record(other)) => {
                Self::Record(one.iter().zip(other).map(|((name, a), (_, b))| (name.clone(), a.meet(b))).collect())
            }
            (Self::Function(a, v), Self::Function(b, w)) => Self::Function(Box::new(a.meet(b)), v.meet(*w)),
            (Self::Function(domain, value), Self::Set(_)) => {
                let (left, right) = other.element().parts();
                let value = match right {
                    Self::Scalar(scalar) => value.meet(scalar),
                    _ => *value,
                };
                Self::Function(Box::new(domain.meet(&left)), value)
            }
            (Self::Table(a, v), Self::Table(b, w)) => Self::Table(Box::new(a.meet(b)), Box::new(v.meet(w))),
            (Self::Table(domain, value), Self::Set(_)) => {
                let (left, right) = other.element().parts();
                Self::Table(Box::new(domain.meet(&left)), Box::new(value.meet(&right)))
            }
            (Self::Set(_), Self::Function(..) | Self::Table(..)) => other.meet(self),
            (Self::Set(a), Self::Set(b)) => Self::set(a.meet(b)),
            _ => self.clone(),
        }
    }

    pub(crate) fn is_within(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Scalar(one), Self::Scalar(other)) => one.is_within(*other),
            (Self::Pair(a, b), Self::Pair(c, d)) => a.is_within(c) && b.is_within(d),
            (Self::Record(one), Self::Record(other)) => one.iter().zip(other).all(|((_, a), (_, b))| a.is_within(b)),
            _ if self.is_set() && other.is_set() => self.element().is_within(&other.element()),
            _ => true,
        }
    }

    /// How many values there are (`u64::MAX` for that many or more).
    pub(crate) fn size(&self, core: &Core) -> u64 {
        match self {
            Self::Scalar(scalar) => scalar.size(core),
            Self::Pair(left, right) => left.size(core).saturating_mul(right.size(core)),
            Self::Record(fields) => {
                fields.iter().fold(1, |size: u64, (_, field)| size.saturating_mul(field.size(core)))
            }
            Self::Set(element) => {
                1_u64.checked_shl(u32::try_from(element.size(core)).unwrap_or(u32::MAX)).unwrap_or(u64::MAX)
            }
            Self::Function(domain, value) => functions(domain.size(core), value.size(core)),
            Self::Table(domain, value) => functions(domain.size(core), value.size(core)),
        }
    }

    /// The scalar parts of a value of this shape, used as an index.
    pub(crate) fn leaves(&self, core: &Core) -> Vec<Leaf> {
        match self {
            Self::Scalar(scalar) => vec![Leaf::Scalar(*scalar)],
            Self::Pair(left, right) => left.leaves(core).into_iter().chain(right.leaves(core)).collect(),
            Self::Record(fields) => fields.iter().flat_map(|(_, field)| field.leaves(core)).collect(),
            Self::Set(_) | Self::Function(..) | Self::Table(..) => {
                let element = self.element();
                let size = u32::try_from(element.size(core)).unwrap_or(u32::MAX);
                vec![Leaf::Code(element, size)]
            }
        }
    }

    /// Whether a part of it is too large to be an index or a cell.
    pub(crate) fn is_too_large(&self, core: &Core) -> bool {
        match self {
            Self::Scalar(_) => false,
            Self::Pair(left, right) => left.is_too_large(core) || right.is_too_large(core),
            Self::Record(fields) => fields.iter().any(|(_, field)| field.is_too_large(core)),
            Self::Set(element) => element.is_bad_index(core),
            Self::Function(domain, _) => domain.is_bad_index(core),
            Self::Table(domain, value) => domain.is_bad_index(core) || value.is_too_large(core),
        }
    }

    /// Whether there are too many values to have a cell for each.
    fn is_bad_index(&self, core: &Core) -> bool {
        self.size(core) > MAXIMUM_LEAF
            || self
                .leaves(core)
                .iter()
                .any(|leaf| matches!(leaf, Leaf::Code(_, size) if u64::from(*size) > MAXIMUM_CODE))
    }
}

/// How many partial functions there are between sets of two sizes.
fn functions(domain: u64, values: u64) -> u64 {
    let exponent = u32::try_from(domain).unwrap_or(u32::MAX);
    values.saturating_add(1).checked_pow(exponent).unwrap_or(u64::MAX)
}

/// The shape of all values of a type. Integers are within `integers`, if given; without, a type with
/// integers has no shape.
pub(crate) fn shape_of_type(types: &Types, ty: &Type, integers: Option<(i64, i64)>) -> Option<Shape> {
    Some(match types.resolve(ty) {
        Type::Boolean | Type::Unknown(_) | Type::Error | Type::Predicate => Shape::Scalar(Scalar::Boolean),
        Type::Text => Shape::Scalar(Scalar::Text),
        Type::Given(set) => Shape::Scalar(Scalar::Given(set)),
        Type::Integer => {
            let (low, high) = integers?;
            Shape::integer(low, high)
        }
        Type::Set(element) => Shape::set(shape_of_type(types, &element, integers)?),
        Type::Pair(left, right) => {
            Shape::pair(shape_of_type(types, &left, integers)?, shape_of_type(types, &right, integers)?)
        }
        Type::Record(fields) => {
            let mut shapes = Vec::new();
            for (name, ty) in fields.iter() {
                shapes.push((name.to_string(), shape_of_type(types, ty, integers)?));
            }
            Shape::Record(shapes)
        }
    })
}

/// The types of the intermediate representation that shapes have, each made once.
#[derive(Debug, Default)]
pub(crate) struct ShapeTypes {
    given: Vec<TypeId>,
    texts: Option<TypeId>,
    ranges: FxHashMap<(i64, i64), TypeId>,
    arrays: FxHashMap<(TypeId, TypeId), TypeId>,
    records: FxHashMap<Vec<(String, TypeId)>, TypeId>,
}

impl ShapeTypes {
    /// Declares the given sets, each a stretch of numbers of its own.
    pub(crate) fn new(core: &Core, model: &mut Model) -> Self {
        let mut first = 0;
        let mut types = Self::default();
        for set in &core.sets {
            let members: Vec<String> = set.members.iter().map(ToString::to_string).collect();
            let count = members.len() as i64;
            let kind = TypeKind::Enumeration { first, members };
            let ty = model.types.push(IrType { name: Some(set.name.to_string()), kind });
            types.given.push(ty);
            if set.is_deferred {
                model.interchangeable.push(ty);
            }
            first += count;
        }
        if !core.texts.is_empty() {
            let members = core.texts.iter().enumerate().map(|(at, text)| text_name(at, text)).collect();
            let kind = TypeKind::Enumeration { first, members };
            types.texts = Some(model.types.push(IrType { name: Some("STRING".into()), kind }));
        }
        types
    }

    pub(crate) fn range(&mut self, model: &mut Model, low: i64, high: i64) -> TypeId {
        *self
            .ranges
            .entry((low, high))
            .or_insert_with(|| model.types.push(IrType { name: None, kind: TypeKind::Range { low, high } }))
    }

    pub(crate) fn scalar(&mut self, model: &mut Model, scalar: Scalar) -> TypeId {
        match scalar {
            Scalar::Boolean => Model::BOOLEAN,
            Scalar::Text => self.texts.unwrap_or(Model::BOOLEAN),
            Scalar::Given(set) => self.given[set.0],
            Scalar::Integer { low, high } => self.range(model, low, high),
        }
    }

    pub(crate) fn leaf(&mut self, model: &mut Model, leaf: &Leaf) -> TypeId {
        match leaf {
            Leaf::Scalar(scalar) => self.scalar(model, *scalar),
            Leaf::Code(_, size) => {
                let codes = 1_i64.checked_shl(*size).unwrap_or(i64::MAX);
                self.range(model, 0, codes.max(1) - 1)
            }
        }
    }

    fn array(&mut self, model: &mut Model, index: TypeId, element: TypeId) -> TypeId {
        *self
            .arrays
            .entry((index, element))
            .or_insert_with(|| model.types.push(IrType { name: None, kind: TypeKind::Array { index, element } }))
    }

    /// The type of values of a shape.
    pub(crate) fn shape(&mut self, core: &Core, model: &mut Model, shape: &Shape) -> TypeId {
        let (index, cell) = match shape {
            Shape::Scalar(scalar) => return self.scalar(model, *scalar),
            Shape::Pair(left, right) => {
                let fields = [("left", left), ("right", right)];
                let fields = fields.map(|(name, part)| (name.to_owned(), self.shape(core, model, part)));
                return self.record(model, fields.to_vec());
            }
            Shape::Record(fields) => {
                let fields = fields.iter().map(|(name, part)| (name.clone(), self.shape(core, model, part))).collect();
                return self.record(model, fields);
            }
            Shape::Set(element) => (element.leaves(core), Model::BOOLEAN),
            Shape::Function(domain, value) => (domain.leaves(core), self.scalar(model, *value)),
            Shape::Table(domain, value) => {
                let value = self.shape(core, model, value);
                let fields = vec![("present".to_owned(), Model::BOOLEAN), ("value".to_owned(), value)];
                (domain.leaves(core), self.record(model, fields))
            }
        };
        index.iter().rev().fold(cell, |element, leaf| {
            let index = self.leaf(model, leaf);
            self.array(model, index, element)
        })
    }

    fn record(&mut self, model: &mut Model, fields: Vec<(String, TypeId)>) -> TypeId {
        if let Some(&known) = self.records.get(&fields) {
            return known;
        }
        let kind = TypeKind::Record {
            fields: fields.iter().map(|(name, ty)| Field { name: name.clone(), ty: *ty }).collect(),
        };
        let ty = model.types.push(IrType { name: None, kind });
        self.records.insert(fields, ty);
        ty
    }
}

/// A string as a name.
fn text_name(position: usize, text: &str) -> String {
    let word: String = text.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).take(20).collect();
    format!("text{position}_{word}")
}
