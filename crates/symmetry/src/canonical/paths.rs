//! The path to each slot: which values of which types select it.

use quotient_ir::{Layout, Model, TableIndex, TypeId, TypeKind};

/// For each slot, the types and values of the indices on its path, in order.
pub(crate) fn slot_paths(model: &Model, layout: &Layout) -> Vec<Vec<(TypeId, i64)>> {
    let mut paths = vec![Vec::new(); layout.slots.len()];
    for (variable, entry) in model.variables.iter_enumerated() {
        let mut next = layout.first_slot(variable).position();
        walk(model, entry.ty, &mut Vec::new(), &mut next, &mut paths);
    }
    paths
}

fn walk(model: &Model, ty: TypeId, path: &mut Vec<(TypeId, i64)>, next: &mut usize, paths: &mut [Vec<(TypeId, i64)>]) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for value in model.domain(*index).values() {
                path.push((*index, value));
                walk(model, *element, path, next, paths);
                path.pop();
            }
        }
        TypeKind::Record { fields } => {
            for field in fields {
                walk(model, field.ty, path, next, paths);
            }
        }
        // The positions of a multiset are not told apart by any value.
        TypeKind::Multiset { .. } => *next += model.cells(ty) as usize,
        _ => {
            paths[*next].clone_from(path);
            *next += 1;
        }
    }
}
