//! The types of B and their unification. A type is an integer, a boolean, a string, a given set, or composed of these
//! by power set, product and record. Predicates have a separate type, so that a predicate in place of an expression is
//! reported as such.

use std::rc::Rc;
use std::sync::Arc;

/// A given set of the machine: deferred or enumerated, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SetId(pub(crate) usize);

/// A type, perhaps not fully known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Predicate,
    Integer,
    Boolean,
    Text,
    Given(SetId),
    Set(Rc<Type>),
    Pair(Rc<Type>, Rc<Type>),
    Record(Rc<Vec<(Arc<str>, Type)>>),
    /// Not known yet.
    Unknown(usize),
    /// An error that has been reported; it is compatible with everything.
    Error,
}

impl Type {
    pub(crate) fn set(element: Self) -> Self {
        Self::Set(Rc::new(element))
    }
    pub(crate) fn pair(left: Self, right: Self) -> Self {
        Self::Pair(Rc::new(left), Rc::new(right))
    }
    pub(crate) fn relation(left: Self, right: Self) -> Self {
        Self::set(Self::pair(left, right))
    }
    /// The type of sequences.
    pub(crate) fn sequence(element: Self) -> Self {
        Self::relation(Self::Integer, element)
    }
}

/// The bindings of unknown types.
#[derive(Debug, Default)]
pub(crate) struct Types {
    known: Vec<Option<Type>>,
}

/// How deep a type may nest; deeper ones come from circular definitions of types.
const MAXIMUM_DEPTH: usize = 60;

impl Types {
    pub(crate) fn fresh(&mut self) -> Type {
        self.known.push(None);
        Type::Unknown(self.known.len() - 1)
    }

    /// The type as far as it is known at its top.
    pub(crate) fn resolve(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let Type::Unknown(id) = ty {
            match &self.known[id] {
                Some(known) => ty = known.clone(),
                None => break,
            }
        }
        ty
    }

    /// The type with all known parts substituted.
    pub(crate) fn full(&self, ty: &Type) -> Type {
        match self.resolve(ty) {
            Type::Set(element) => Type::set(self.full(&element)),
            Type::Pair(left, right) => Type::pair(self.full(&left), self.full(&right)),
            Type::Record(fields) => {
                Type::Record(Rc::new(fields.iter().map(|(name, ty)| (name.clone(), self.full(ty))).collect()))
            }
            other => other,
        }
    }

    /// Whether nothing in a type is unknown.
    pub(crate) fn is_known(&self, ty: &Type) -> bool {
        match self.resolve(ty) {
            Type::Unknown(_) => false,
            Type::Set(element) => self.is_known(&element),
            Type::Pair(left, right) => self.is_known(&left) && self.is_known(&right),
            Type::Record(fields) => fields.iter().all(|(_, ty)| self.is_known(ty)),
            _ => true,
        }
    }

    /// Makes two types equal; false if they cannot be.
    pub(crate) fn unify(&mut self, left: &Type, right: &Type) -> bool {
        self.unify_at(left, right, 0)
    }

    fn unify_at(&mut self, left: &Type, right: &Type, depth: usize) -> bool {
        if depth > MAXIMUM_DEPTH {
            return false;
        }
        let (left, right) = (self.resolve(left), self.resolve(right));
        match (&left, &right) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Unknown(one), Type::Unknown(other)) if one == other => true,
            (Type::Unknown(id), other) | (other, Type::Unknown(id)) => {
                // A predicate is not a value, so nothing unknown can be one.
                if *other == Type::Predicate || self.occurs(*id, other, 0) {
                    return false;
                }
                self.known[*id] = Some(other.clone());
                true
            }
            (Type::Set(one), Type::Set(other)) => self.unify_at(one, other, depth + 1),
            (Type::Pair(a, b), Type::Pair(c, d)) => self.unify_at(a, c, depth + 1) && self.unify_at(b, d, depth + 1),
            (Type::Record(one), Type::Record(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other.iter()).all(|((name, ty), (other_name, other_ty))| {
                        name == other_name && self.unify_at(ty, other_ty, depth + 1)
                    })
            }
            _ => left == right,
        }
    }

    fn occurs(&self, id: usize, ty: &Type, depth: usize) -> bool {
        if depth > MAXIMUM_DEPTH {
            return true;
        }
        match self.resolve(ty) {
            Type::Unknown(other) => other == id,
            Type::Set(element) => self.occurs(id, &element, depth + 1),
            Type::Pair(left, right) => self.occurs(id, &left, depth + 1) || self.occurs(id, &right, depth + 1),
            Type::Record(fields) => fields.iter().any(|(_, ty)| self.occurs(id, ty, depth + 1)),
            _ => false,
        }
    }

    /// A type in the notation of B. `sets` names the given sets.
    pub(crate) fn text(&self, ty: &Type, sets: &dyn Fn(SetId) -> String) -> String {
        match self.resolve(ty) {
            Type::Predicate => "a predicate".into(),
            Type::Integer => "INTEGER".into(),
            Type::Boolean => "BOOL".into(),
            Type::Text => "STRING".into(),
            Type::Given(set) => sets(set),
            Type::Set(element) => format!("POW({})", self.text(&element, sets)),
            Type::Pair(left, right) => {
                let right_text = self.text(&right, sets);
                let right_text =
                    if matches!(self.resolve(&right), Type::Pair(..)) { format!("({right_text})") } else { right_text };
                format!("{}*{right_text}", self.text(&left, sets))
            }
            Type::Record(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, ty)| format!("{name}:{}", self.text(ty, sets))).collect();
                format!("struct({})", fields.join(","))
            }
            Type::Unknown(_) | Type::Error => "_".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_types_become_known_once() {
        let mut types = Types::default();
        let unknown = types.fresh();
        assert!(types.unify(&Type::set(unknown.clone()), &Type::set(Type::Integer)));
        assert_eq!(types.full(&unknown), Type::Integer);
        assert!(!types.unify(&unknown, &Type::Boolean));
    }

    #[test]
    fn no_type_is_a_part_of_itself() {
        let mut types = Types::default();
        let unknown = types.fresh();
        assert!(!types.unify(&unknown, &Type::set(unknown.clone())));
        let other = types.fresh();
        assert!(types.unify(&unknown, &Type::pair(other.clone(), Type::Integer)));
        assert!(!types.unify(&other, &unknown));
    }

    #[test]
    fn predicates_are_no_values() {
        let mut types = Types::default();
        let unknown = types.fresh();
        assert!(!types.unify(&unknown, &Type::Predicate));
        assert!(types.unify(&Type::Predicate, &Type::Predicate));
    }
}
