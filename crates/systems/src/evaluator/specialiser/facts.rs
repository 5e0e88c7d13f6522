//! Facts about each type that the specialiser needs, computed once.

use quotient_ir::{Domain, Model, Table, TypeId, TypeKind};

use super::{Specialiser, Unsupported};
use crate::evaluator::code::{DomainId, TemplateId, UNDEFINED};
use crate::slot_domain::SlotDomain;

/// The largest number of cells of a value that are written out one by one.
const TEMPLATE_LIMIT: u64 = 1 << 16;

/// How a type is laid out.
#[derive(Clone, Debug)]
pub(super) struct TypeFact {
    /// The number of cells of a value.
    pub(super) cells: u64,
    /// Its values, or those of an array's index, or the positions of a multiset.
    pub(super) domain: Option<Domain>,
    /// Where the fields of a record start.
    pub(super) field_offsets: Vec<u32>,
}

/// The facts of all types of a model.
pub(super) fn of_types(model: &Model) -> Table<TypeId, TypeFact> {
    let fact = |ty: TypeId| {
        let domain = match &model.types[ty].kind {
            TypeKind::Array { index, .. } => Some(model.domain(*index)),
            TypeKind::Multiset { capacity, .. } => i64::try_from(*capacity)
                .ok()
                .filter(|&capacity| capacity > 0)
                .map(|capacity| Domain::interval(0, capacity - 1)),
            TypeKind::Record { .. } => None,
            _ => Some(model.domain(ty)),
        };
        let mut field_offsets = Vec::new();
        if let TypeKind::Record { fields } = &model.types[ty].kind {
            let mut offset = 0u64;
            for field in fields {
                field_offsets.push(u32::try_from(offset).unwrap_or(u32::MAX));
                offset = offset.saturating_add(model.cells(field.ty));
            }
        }
        TypeFact { cells: model.cells(ty), domain, field_offsets }
    };
    model.types.indices().map(fact).collect()
}

/// The contents of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blank {
    /// No values.
    Undefined,
    /// The least values.
    Least,
}

impl Specialiser<'_> {
    /// The values of a scalar type.
    pub(super) fn domain(&mut self, ty: TypeId) -> Result<DomainId, Unsupported> {
        let domain = SlotDomain::new(self.facts[ty].domain.as_ref().ok_or(Unsupported)?);
        Ok(self.code.domains.add(domain))
    }

    /// The cells of a value of a type when it is undefined or cleared; multisets are empty.
    pub(super) fn blank_cells(&self, ty: TypeId, blank: Blank) -> Result<Vec<i64>, Unsupported> {
        if self.facts[ty].cells > TEMPLATE_LIMIT {
            return Err(Unsupported);
        }
        let mut cells = Vec::new();
        self.push_blank(ty, blank, &mut cells);
        Ok(cells)
    }

    fn push_blank(&self, ty: TypeId, blank: Blank, cells: &mut Vec<i64>) {
        match &self.model.types[ty].kind {
            TypeKind::Array { element, .. } => {
                let start = cells.len();
                self.push_blank(*element, blank, cells);
                let one = cells[start..].to_vec();
                let count = self.facts[ty].domain.as_ref().map_or(0, Domain::size);
                for _ in 1..count {
                    cells.extend_from_slice(&one);
                }
            }
            TypeKind::Record { fields } => {
                for field in fields {
                    self.push_blank(field.ty, blank, cells);
                }
            }
            TypeKind::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    cells.push(0);
                    // An absent element has no values, cleared or not.
                    self.push_blank(*element, Blank::Undefined, cells);
                }
            }
            _ => cells.push(match (blank, &self.facts[ty].domain) {
                (Blank::Least, Some(domain)) => domain.least(),
                _ => UNDEFINED,
            }),
        }
    }

    pub(super) fn template(&mut self, cells: Vec<i64>) -> TemplateId {
        self.code.templates.add(cells.into_boxed_slice())
    }
}
