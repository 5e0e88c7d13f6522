//! Facts about each type that the interpreter needs, computed once: component types come first in the table of types.

use crate::index::{Table, TypeId};
use crate::model::Model;
use crate::types::{Domain, TypeKind};

/// The facts of all types of a model.
#[derive(Clone, Debug)]
pub(super) struct TypeFacts {
    entries: Table<TypeId, TypeFact>,
}

/// How a type is laid out.
#[derive(Clone, Debug)]
pub(super) struct TypeFact {
    /// The number of cells of a value.
    pub(super) cells: usize,
    /// Its values, or those of an array's index, or the positions of a multiset.
    pub(super) domain: Option<Domain>,
    /// Where the fields of a record start.
    pub(super) field_offsets: Vec<usize>,
}

impl TypeFacts {
    pub(super) fn new(model: &Model) -> Self {
        let mut entries: Table<TypeId, TypeFact> = Table::new();
        for ty in model.types.iter() {
            let mut fact = TypeFact { cells: 1, domain: None, field_offsets: Vec::new() };
            match &ty.kind {
                TypeKind::Array { index, element } => {
                    let domain = model.domain(*index);
                    let size = usize::try_from(domain.size()).unwrap_or(usize::MAX);
                    fact.cells = size.saturating_mul(entries[*element].cells);
                    fact.domain = Some(domain);
                }
                TypeKind::Record { fields } => {
                    fact.cells = 0;
                    for field in fields {
                        fact.field_offsets.push(fact.cells);
                        fact.cells = fact.cells.saturating_add(entries[field.ty].cells);
                    }
                }
                TypeKind::Multiset { capacity, element } => {
                    let positions = usize::try_from(*capacity).unwrap_or(usize::MAX);
                    fact.cells = positions.saturating_mul(entries[*element].cells.saturating_add(1));
                    let last = i64::try_from(*capacity).unwrap_or(i64::MAX) - 1;
                    fact.domain = (last >= 0).then(|| Domain::interval(0, last));
                }
                _ => fact.domain = Some(model.domain(entries.next_index())),
            }
            entries.push(fact);
        }
        Self { entries }
    }

    pub(super) fn of(&self, ty: TypeId) -> &TypeFact {
        &self.entries[ty]
    }

    /// The contents of a place of a type that was never written: every cell undefined, and every multiset empty.
    pub(super) fn undefined(&self, model: &Model, ty: TypeId) -> Vec<Option<i64>> {
        self.filled(model, ty, |_| None)
    }

    /// The least values of a type; multisets are empty.
    pub(super) fn least(&self, model: &Model, ty: TypeId) -> Vec<Option<i64>> {
        self.filled(model, ty, |ty| self.of(ty).domain.as_ref().map(Domain::least))
    }

    fn filled(&self, model: &Model, ty: TypeId, scalar: impl Fn(TypeId) -> Option<i64>) -> Vec<Option<i64>> {
        let mut cells = Vec::with_capacity(self.of(ty).cells);
        self.fill(model, ty, &scalar, &mut cells);
        cells
    }

    fn fill(&self, model: &Model, ty: TypeId, scalar: &dyn Fn(TypeId) -> Option<i64>, cells: &mut Vec<Option<i64>>) {
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                for _ in model.domain(*index).values() {
                    self.fill(model, *element, scalar, cells);
                }
            }
            TypeKind::Record { fields } => {
                for field in fields {
                    self.fill(model, field.ty, scalar, cells);
                }
            }
            TypeKind::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    cells.push(Some(0));
                    self.fill(model, *element, &|_| None, cells);
                }
            }
            _ => cells.push(scalar(ty)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_type_stands_at_its_position() {
        let model = Model::new(crate::Source::new("t", ""));
        let facts = TypeFacts::new(&model);
        assert_eq!(facts.of(Model::BOOLEAN).domain, Some(Domain::interval(0, 1)));
        assert_eq!(facts.of(Model::INTEGER).cells, 1);
    }
}
