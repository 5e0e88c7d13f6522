//! The invariants of types and variables, and which types have equal layouts.

use rustc_hash::FxHashMap;

use crate::index::{Table, TableIndex, TypeId};
use crate::layout::Layout;
use crate::model::Model;
use crate::types::{Domain, TypeKind};

/// Checks all types, and the types of variables.
pub(super) fn check(model: &Model, problems: &mut Vec<String>) {
    let kinds: Vec<&TypeKind> = model.types.iter().map(|ty| &ty.kind).collect();
    if !matches!(kinds[..], [TypeKind::Boolean, TypeKind::Integer, ..]) {
        problems.push("the first two types are not the booleans and the integers".into());
        return;
    }
    // The nesting depth of each type, and whether it contains unbounded integers.
    let mut depths: Vec<usize> = Vec::with_capacity(kinds.len());
    let mut unbounded: Vec<bool> = Vec::with_capacity(kinds.len());
    for (position, kind) in kinds.iter().enumerate() {
        let mut problem = |text: &str| problems.push(format!("type {position}: {text}"));
        let earlier = |part: TypeId| part.position() < position;
        let parts: Vec<TypeId> = match kind {
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => vec![*element],
            TypeKind::Record { fields } => fields.iter().map(|field| field.ty).collect(),
            _ => Vec::new(),
        };
        if !parts.iter().all(|&part| earlier(part)) {
            problem("a part does not stand before it");
            return;
        }
        depths.push(1 + parts.iter().map(|part| depths[part.position()]).max().unwrap_or(0));
        unbounded.push(matches!(kind, TypeKind::Integer) || parts.iter().any(|part| unbounded[part.position()]));
        if depths[position] > Layout::NESTING_LIMIT {
            problem("nested too deeply");
        }
        match kind {
            TypeKind::Range { low, high } if low > high => problem("a range without a value"),
            TypeKind::Enumeration { first, members } => check_stretch(*first, members.len() as u64, problem),
            TypeKind::Scalarset { first, size } => check_stretch(*first, *size, problem),
            TypeKind::Union { members } => {
                let stretches: Option<Vec<(i64, i64)>> = members
                    .iter()
                    .map(|&member| if earlier(member) { stretch(kinds[member.position()]) } else { None })
                    .collect();
                match stretches {
                    Some(mut stretches) if !stretches.is_empty() => {
                        stretches.sort_unstable();
                        if stretches.windows(2).any(|pair| pair[0].1 >= pair[1].0) {
                            problem("members of a union share a value");
                        }
                    }
                    Some(_) => problem("a union without a member"),
                    None => problem("a member of a union is not an enumeration or scalarset before it"),
                }
            }
            TypeKind::Array { index, .. } if !earlier(*index) || !is_index(kinds[index.position()]) => {
                problem("an array that is not indexed by a finite scalar type before it");
            }
            _ => {}
        }
    }
    for (number, ty) in model.amounts.iter().enumerate() {
        match kinds.get(ty.position()) {
            Some(TypeKind::Range { low: 0.., .. }) if number == 0 || model.amounts[number - 1] < *ty => {}
            Some(TypeKind::Range { low: 0.., .. }) => {
                problems.push("types of amounts are not in increasing order".into())
            }
            _ => problems.push(format!("type {}: amounts are not a range without negative values", ty.position())),
        }
    }
    for variable in model.variables.iter() {
        match unbounded.get(variable.ty.position()) {
            None => problems.push(format!("variable `{}`: its type does not exist", variable.name)),
            Some(true) => problems.push(format!("variable `{}` holds an unbounded integer", variable.name)),
            Some(false) => {}
        }
    }
}

fn check_stretch(first: i64, size: u64, mut problem: impl FnMut(&str)) {
    match i64::try_from(size) {
        Ok(0) => problem("a type without a value"),
        Ok(size) if first.checked_add(size - 1).is_some() => {}
        _ => problem("values beyond 64-bit integers"),
    }
}

/// The first and last value of an enumeration or scalarset.
fn stretch(kind: &TypeKind) -> Option<(i64, i64)> {
    let (first, size) = match kind {
        TypeKind::Enumeration { first, members } => (*first, members.len() as u64),
        TypeKind::Scalarset { first, size } => (*first, *size),
        _ => return None,
    };
    Some((first, first.checked_add(i64::try_from(size).ok()?.checked_sub(1)?)?))
}

fn is_index(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Boolean | TypeKind::Enumeration { .. } | TypeKind::Scalarset { .. } | TypeKind::Union { .. } => true,
        TypeKind::Range { low, high } => (*low, *high) != (i64::MIN, i64::MAX),
        _ => false,
    }
}

/// Which types have equal layouts, and what they contain.
pub(super) struct Shapes {
    shapes: Table<TypeId, u32>,
    facts: Table<TypeId, Facts>,
}

#[derive(Clone, Copy, Default)]
struct Facts {
    holds_multiset: bool,
    holds_integer: bool,
    /// Cells outside multisets.
    holds_plain_cell: bool,
}

#[derive(PartialEq, Eq, Hash)]
enum Shape {
    Scalar(Domain),
    Array(u64, u32),
    Record(Vec<u32>),
    Multiset(u64, u32),
}

impl Shapes {
    /// For types that [`check`] accepts.
    pub(super) fn new(model: &Model) -> Self {
        let mut ids: FxHashMap<Shape, u32> = FxHashMap::default();
        let mut shapes: Table<TypeId, u32> = Table::new();
        let mut facts: Table<TypeId, Facts> = Table::new();
        for (ty, entry) in model.types.iter_enumerated() {
            let (shape, fact) = match &entry.kind {
                TypeKind::Array { index, element } => {
                    (Shape::Array(model.domain(*index).size(), shapes[*element]), facts[*element])
                }
                TypeKind::Record { fields } => {
                    let all = fields.iter().map(|field| facts[field.ty]).fold(Facts::default(), |all, fact| Facts {
                        holds_multiset: all.holds_multiset | fact.holds_multiset,
                        holds_integer: all.holds_integer | fact.holds_integer,
                        holds_plain_cell: all.holds_plain_cell | fact.holds_plain_cell,
                    });
                    (Shape::Record(fields.iter().map(|field| shapes[field.ty]).collect()), all)
                }
                TypeKind::Multiset { capacity, element } => {
                    let fact = Facts { holds_multiset: true, holds_plain_cell: false, ..facts[*element] };
                    (Shape::Multiset(*capacity, shapes[*element]), fact)
                }
                kind => {
                    let holds_integer = matches!(kind, TypeKind::Integer);
                    let fact = Facts { holds_multiset: false, holds_integer, holds_plain_cell: true };
                    (Shape::Scalar(model.domain(ty)), fact)
                }
            };
            let next = u32::try_from(ids.len()).expect("there are no more shapes than types");
            shapes.push(*ids.entry(shape).or_insert(next));
            facts.push(fact);
        }
        Self { shapes, facts }
    }

    /// Whether two types are laid out alike, cell by cell.
    pub(super) fn equal(&self, left: TypeId, right: TypeId) -> bool {
        self.shapes[left] == self.shapes[right]
    }
    /// Whether a type is or contains a multiset.
    pub(super) fn holds_multiset(&self, ty: TypeId) -> bool {
        self.facts[ty].holds_multiset
    }
    /// Whether a type is or contains an unbounded integer.
    pub(super) fn holds_integer(&self, ty: TypeId) -> bool {
        self.facts[ty].holds_integer
    }
    /// Whether a type has a cell outside multisets.
    pub(super) fn holds_plain_cell(&self, ty: TypeId) -> bool {
        self.facts[ty].holds_plain_cell
    }
}
