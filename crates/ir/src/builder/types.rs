//! The types of a model under construction: values that are independent of a builder.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::layout::Layout;

/// A type of a variable, parameter or bound variable. Two types with the same name must be the same type.
#[derive(Clone, Debug)]
pub struct Type(pub(super) Arc<Node>);

/// A type and its properties.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: Option<String>,
    pub(super) kind: Kind,
    depth: usize,
}

/// The shapes of types.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Boolean,
    Range(i64, i64),
    Enumeration(Vec<String>),
    Scalarset(u64),
    Union(Vec<Type>),
    Array(Type, Type),
    Record(Vec<(String, Type)>),
    /// Nested too deeply to be laid out in a state. Its content is dropped, so that no traversal goes too deep.
    TooDeep,
}

impl Type {
    fn new(name: Option<String>, kind: Kind) -> Self {
        let depth = match &kind {
            Kind::Union(members) => members.iter().map(|member| member.0.depth).max().unwrap_or(0),
            Kind::Array(index, element) => index.0.depth.max(element.0.depth),
            Kind::Record(fields) => fields.iter().map(|(_, ty)| ty.0.depth).max().unwrap_or(0),
            _ => 0,
        };
        if depth >= Layout::NESTING_LIMIT {
            return Self(Arc::new(Node { name, kind: Kind::TooDeep, depth: 1 }));
        }
        Self(Arc::new(Node { name, kind, depth: depth + 1 }))
    }

    /// `false` and `true`.
    pub fn boolean() -> Self {
        Self::new(None, Kind::Boolean)
    }
    /// The integers of an inclusive range.
    pub fn range(values: RangeInclusive<i64>) -> Self {
        Self::new(None, Kind::Range(*values.start(), *values.end()))
    }
    /// Named values, in this order. Expressions refer to them by name: `state.eq("idle")`.
    pub fn enumeration<S: Into<String>>(name: impl Into<String>, members: impl IntoIterator<Item = S>) -> Self {
        Self::new(Some(name.into()), Kind::Enumeration(members.into_iter().map(Into::into).collect()))
    }
    /// Interchangeable values: a declared symmetry. They have no names and no order.
    pub fn scalarset(name: impl Into<String>, size: u64) -> Self {
        Self::new(Some(name.into()), Kind::Scalarset(size))
    }
    /// The values of several enumerations and scalarsets.
    pub fn union(members: impl IntoIterator<Item = impl Into<Type>>) -> Self {
        Self::new(None, Kind::Union(members.into_iter().map(Into::into).collect()))
    }
    /// One element for each value of a scalar type.
    pub fn array(index: impl Into<Type>, element: impl Into<Type>) -> Self {
        Self::new(None, Kind::Array(index.into(), element.into()))
    }
    /// Named fields.
    pub fn record<S: Into<String>, T: Into<Type>>(fields: impl IntoIterator<Item = (S, T)>) -> Self {
        let fields = fields.into_iter().map(|(name, ty)| (name.into(), ty.into())).collect();
        Self::new(None, Kind::Record(fields))
    }
    /// The same type under a name.
    #[must_use]
    pub fn named(&self, name: impl Into<String>) -> Self {
        Self::new(Some(name.into()), self.0.kind.clone())
    }
}

impl From<&Type> for Type {
    fn from(ty: &Type) -> Self {
        ty.clone()
    }
}

/// The name of the type, or its structure.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.0.name {
            return f.write_str(name);
        }
        match &self.0.kind {
            Kind::Boolean => f.write_str("boolean"),
            Kind::Range(low, high) => write!(f, "{low}..{high}"),
            Kind::Enumeration(members) => write!(f, "enum {{{}}}", members.join(", ")),
            Kind::Scalarset(size) => write!(f, "scalarset({size})"),
            Kind::Union(members) => {
                f.write_str("union {")?;
                for (position, member) in members.iter().enumerate() {
                    write!(f, "{}{member}", if position == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Kind::Array(index, element) => write!(f, "array [{index}] of {element}"),
            Kind::Record(fields) => {
                f.write_str("record")?;
                for (name, ty) in fields {
                    write!(f, " {name}: {ty};")?;
                }
                f.write_str(" end")
            }
            Kind::TooDeep => f.write_str("…"),
        }
    }
}
