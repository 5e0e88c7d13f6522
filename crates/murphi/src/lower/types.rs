//! Types: from type expressions to types of the model, and type compatibility.
//!
//! Integers and ranges are compatible whatever their bounds. Enumerations are compatible if they have the same members
//! and scalarsets if they have the same size, as in rumur, although two separately declared scalarsets of equal size
//! draw a warning. Arrays, records and multisets are compatible only if they have the same structure, including bounds.
//! A union is compatible with its members.

use quotient_ir::{Diagnostic, Field, Layout, Model, Span, Type, TypeId, TypeKind};

use super::super::syntax::tree::{Expr, Name, TypeExpr, TypeExprKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowering;
use super::scopes::Meaning;

/// Whether two types go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    /// Two separately declared scalarsets of the same size.
    MixedScalarsets,
    No,
}

impl Lowering<'_> {
    /// The type that a type expression denotes. In a declaration it gets the declared name.
    pub(super) fn type_of(&mut self, ty: &TypeExpr, name: Option<&str>) -> Option<TypeId> {
        // `a, b: enum {X, Y}` and the header of a ruleset are processed more than once, and the inner part of
        // `array [I, J] of T` may share the outer one's position.
        let place = match &ty.kind {
            TypeExprKind::Array { index, .. } => (ty.span, index.span),
            _ => (ty.span, Span::default()),
        };
        if let Some(&known) = self.types_by_place.get(&place).filter(|_| !Self::is_name_of_type(ty)) {
            self.declare_members_again(ty, known);
            return known;
        }
        let id = self.new_type(ty, name);
        self.types_by_place.insert(place, id);
        id
    }

    /// Makes the members of an enumeration known in another scope, or in the same scope again.
    fn declare_members_again(&mut self, ty: &TypeExpr, id: Option<TypeId>) {
        match (&ty.kind, id.map(|id| self.model.types[id].kind.clone())) {
            (TypeExprKind::Enumeration(names), _) => {
                if let Some(id) = id {
                    self.declare_members(names, id);
                }
            }
            (TypeExprKind::Union(parts), Some(TypeKind::Union { members })) => {
                for part in parts.iter().filter(|part| matches!(part.kind, TypeExprKind::Enumeration(_))) {
                    let TypeExprKind::Enumeration(names) = &part.kind else { continue };
                    let member = members.iter().copied().find(|&member| {
                        matches!(&self.model.types[member].kind, TypeKind::Enumeration { members, .. }
                            if members.first() == names.first().map(|name| &name.text))
                    });
                    if let Some(member) = member {
                        self.declare_members(names, member);
                    }
                }
            }
            (TypeExprKind::Array { index, element }, Some(TypeKind::Array { index: i, element: e })) => {
                self.declare_members_again(index, Some(i));
                self.declare_members_again(element, Some(e));
            }
            (TypeExprKind::Record(parts), Some(TypeKind::Record { fields })) => {
                for ((_, part), field) in parts.iter().zip(fields) {
                    self.declare_members_again(part, Some(field.ty));
                }
            }
            (TypeExprKind::Multiset { element, .. }, Some(TypeKind::Multiset { element: e, .. })) => {
                self.declare_members_again(element, Some(e));
            }
            _ => {}
        }
    }

    fn new_type(&mut self, ty: &TypeExpr, name: Option<&str>) -> Option<TypeId> {
        let kind = match &ty.kind {
            TypeExprKind::Missing => {
                self.incomplete = true;
                return None;
            }
            TypeExprKind::Named(name) => return self.named_type(name),
            TypeExprKind::Boolean => return Some(Model::BOOLEAN),
            TypeExprKind::Range { low, high } => {
                let low_value = self.constant_integer(low, "the lower bound of a range");
                let high_value = self.constant_integer(high, "the upper bound of a range");
                let (low_value, high_value) = (low_value?, high_value?);
                if low_value > high_value {
                    let error = Diagnostic::error("empty-range", "this range is empty", ty.span)
                        .with_label(format!("from {low_value} to {high_value}"))
                        .with_help("the lower bound comes first and may not be greater than the upper bound");
                    self.report(error);
                    return None;
                }
                if name.is_none() {
                    return Some(self.range_type(low_value, high_value));
                }
                TypeKind::Range { low: low_value, high: high_value }
            }
            TypeExprKind::Enumeration(names) => return self.enumeration(names, name, ty.span, false),
            TypeExprKind::Scalarset(size) => {
                let size = self.positive_constant(size, "the size of a scalarset")?;
                let first = if name.is_some_and(|name| self.stretches.is_member(name)) {
                    self.take_stretch(size, ty.span)?
                } else {
                    0
                };
                TypeKind::Scalarset { first, size }
            }
            TypeExprKind::Union(parts) => self.union(parts)?,
            TypeExprKind::Array { index, element } => {
                let index_id = self.type_of(index, None);
                let element = self.type_of(element, None);
                let (index_id, element) = (index_id?, element?);
                self.check_index_type(index_id, index.span)?;
                TypeKind::Array { index: index_id, element }
            }
            TypeExprKind::Record(parts) => self.record(parts)?,
            TypeExprKind::Multiset { capacity, element } => {
                let capacity = self.positive_constant(capacity, "the capacity of a multiset");
                let element_id = self.type_of(element, None);
                let (capacity, element_id) = (capacity?, element_id?);
                if self.contains_multiset(element_id) {
                    let error = Diagnostic::error("nested-multiset", "a multiset cannot hold multisets", element.span)
                        .with_label(format!("{} holds a multiset", self.type_text(element_id)));
                    self.report(error);
                    return None;
                }
                TypeKind::Multiset { capacity, element: element_id }
            }
        };
        let depth = 1 + self.depth_of_parts(&kind);
        if depth > Layout::NESTING_LIMIT {
            let error = Diagnostic::error("type-too-deep", "this type is nested too deeply", ty.span)
                .with_help(format!("types may be nested {} levels deep", Layout::NESTING_LIMIT));
            self.report(error);
            return None;
        }
        let id = self.model.types.next_index();
        if let TypeKind::Record { fields } = &kind {
            let positions = (0..).zip(fields).map(|(position, field)| (field.name.clone(), position)).collect();
            self.field_positions.insert(id, positions);
        }
        self.type_depths.insert(id, depth);
        let extent = match &kind {
            TypeKind::Array { index, element } => {
                self.model.domain(*index).size().saturating_mul(self.extent(*element))
            }
            TypeKind::Record { fields } => {
                fields.iter().fold(0u64, |sum, field| sum.saturating_add(self.extent(field.ty))).max(1)
            }
            TypeKind::Multiset { capacity, element } => {
                capacity.saturating_mul(self.extent(*element).saturating_add(1))
            }
            _ => 1,
        };
        self.extents.insert(id, extent);
        let holds_multiset = match &kind {
            TypeKind::Multiset { .. } => true,
            TypeKind::Array { element, .. } => self.contains_multiset(*element),
            TypeKind::Record { fields } => fields.iter().any(|field| self.contains_multiset(field.ty)),
            _ => false,
        };
        if holds_multiset {
            self.multiset_holders.insert(id);
        }
        Some(self.model.types.push(Type { name: name.map(Into::into), kind }))
    }

    /// How many cells a value of a type takes, or one if it takes none.
    pub(super) fn extent(&self, ty: TypeId) -> u64 {
        self.extents.get(&ty).copied().unwrap_or(1)
    }

    /// How deep the types are nested that a type is made of.
    fn depth_of_parts(&self, kind: &TypeKind) -> usize {
        let depth = |id: &TypeId| self.type_depths.get(id).copied().unwrap_or(1);
        match kind {
            TypeKind::Array { index, element } => depth(index).max(depth(element)),
            TypeKind::Record { fields } => fields.iter().map(|field| depth(&field.ty)).max().unwrap_or(0),
            TypeKind::Multiset { element, .. } => depth(element),
            TypeKind::Union { members } => members.iter().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn named_type(&mut self, name: &Name) -> Option<TypeId> {
        match self.scopes.find(&name.text).map(|symbol| (symbol.meaning.clone(), symbol.span)) {
            Some((Meaning::Type(id), _)) => id,
            Some((Meaning::Unknown, _)) => None,
            Some((meaning, declared)) => {
                let message = format!("`{}` is a {}, not a type", name.text, meaning.noun());
                let error = Diagnostic::error("not-a-type", message, name.span).with_label("a type is needed here");
                self.report(Self::with_declaration(error, declared));
                None
            }
            None => {
                self.report_unknown("unknown-type", "type", name, |meaning| matches!(meaning, Meaning::Type(_)));
                None
            }
        }
    }

    /// The unnamed range with these bounds.
    pub(super) fn range_type(&mut self, low: i64, high: i64) -> TypeId {
        let types = &mut self.model.types;
        *self
            .ranges
            .entry((low, high))
            .or_insert_with(|| types.push(Type { name: None, kind: TypeKind::Range { low, high } }))
    }

    fn enumeration(&mut self, names: &[Name], name: Option<&str>, span: Span, in_union: bool) -> Option<TypeId> {
        if names.is_empty() {
            let error = Diagnostic::error("empty-enumeration", "this enumeration has no members", span)
                .with_help("a type needs at least one value");
            self.report(error);
            return None;
        }
        let first = if in_union || name.is_some_and(|name| self.stretches.is_member(name)) {
            self.take_stretch(names.len() as u64, span)?
        } else {
            0
        };
        let members = names.iter().map(|member| member.text.clone()).collect();
        let kind = TypeKind::Enumeration { first, members };
        let id = self.model.types.push(Type { name: name.map(Into::into), kind });
        self.declare_members(names, id);
        Some(id)
    }

    fn declare_members(&mut self, names: &[Name], id: TypeId) {
        let TypeKind::Enumeration { first, .. } = self.model.types[id].kind else { return };
        for (value, member) in (first..).zip(names) {
            let operand = self.constant_operand(value, id, member.span);
            self.declare(member, Meaning::named(operand, "member of an enumeration"));
        }
    }

    fn take_stretch(&mut self, size: u64, span: Span) -> Option<i64> {
        let first = self.stretches.take(size);
        if first.is_none() {
            let error = Diagnostic::error("type-too-large", "the types that meet in unions have too many values", span)
                .with_help("together they must fit into 63 bits");
            self.report(error);
        }
        first
    }

    fn union(&mut self, parts: &[TypeExpr]) -> Option<TypeKind> {
        let mut members: Vec<TypeId> = Vec::new();
        let mut known: FxHashSet<TypeId> = FxHashSet::default();
        let mut wrong = false;
        for part in parts {
            let id = match &part.kind {
                // Members declared in place get their range here: they have no name to look up.
                TypeExprKind::Enumeration(names) => self.enumeration(names, None, part.span, true),
                TypeExprKind::Scalarset(_) => {
                    let error = Diagnostic::error("bad-union-member", "a scalarset in a union needs a name", part.span)
                        .with_help("declare it as a type of its own and name that here");
                    self.report(error);
                    None
                }
                _ => self.type_of(part, None),
            };
            let Some(id) = id else {
                wrong = true;
                continue;
            };
            let new = match &self.model.types[id].kind {
                TypeKind::Enumeration { .. } | TypeKind::Scalarset { .. } => vec![id],
                TypeKind::Union { members } => members.clone(),
                _ => {
                    let message = format!("{} cannot be a member of a union", self.type_text(id));
                    let error = Diagnostic::error("bad-union-member", message, part.span)
                        .with_help("the members of a union are scalarsets and enumerations");
                    self.report(error);
                    wrong = true;
                    continue;
                }
            };
            for id in new {
                if !known.insert(id) {
                    let message = format!("{} is in this union twice", self.type_text(id));
                    self.report(Diagnostic::error("duplicate-union-member", message, part.span));
                    wrong = true;
                } else {
                    members.push(id);
                }
            }
        }
        (!wrong && !members.is_empty()).then_some(TypeKind::Union { members })
    }

    fn record(&mut self, parts: &[(Name, TypeExpr)]) -> Option<TypeKind> {
        let mut fields = Vec::with_capacity(parts.len());
        let mut places: FxHashMap<&str, Span> = FxHashMap::default();
        let mut wrong = false;
        for (name, ty) in parts {
            let Some(ty) = self.type_of(ty, None) else {
                wrong = true;
                continue;
            };
            if let Some(&earlier) = places.get(name.text.as_str()) {
                let message = format!("field `{}` is declared twice in one record", name.text);
                let error = Diagnostic::error("duplicate-field", message, name.span)
                    .with_label("declared again here")
                    .with_secondary(earlier, "first declared here");
                self.report(error);
                wrong = true;
                continue;
            }
            places.insert(&name.text, name.span);
            fields.push(Field { name: name.text.clone(), ty });
        }
        (!wrong).then_some(TypeKind::Record { fields })
    }

    fn check_index_type(&mut self, index: TypeId, span: Span) -> Option<()> {
        if !self.model.is_scalar(index) {
            let message = format!("{} cannot be the index of an array", self.type_text(index));
            let error = Diagnostic::error("bad-index-type", message, span)
                .with_help("arrays are indexed by booleans, ranges, enumerations, scalarsets and unions");
            self.report(error);
            return None;
        }
        // A size of zero means 2^64.
        if self.model.domain(index).size() == 0 {
            let error = Diagnostic::error("type-too-large", "this array has 2^64 elements", span);
            self.report(error);
            return None;
        }
        Some(())
    }

    fn positive_constant(&mut self, expression: &Expr, what: &str) -> Option<u64> {
        let value = self.constant_integer(expression, what)?;
        match u64::try_from(value) {
            Ok(value) if value > 0 => Some(value),
            _ => {
                let error = Diagnostic::error("not-positive", format!("{what} must be positive"), expression.span)
                    .with_label(format!("this is {value}"));
                self.report(error);
                None
            }
        }
    }

    /// Whether a type is `Integer` or a range.
    pub(super) fn is_integer(&self, ty: TypeId) -> bool {
        matches!(self.model.types[ty].kind, TypeKind::Integer | TypeKind::Range { .. })
    }

    /// Whether a type is a scalarset.
    pub(super) fn is_scalarset(&self, ty: TypeId) -> bool {
        matches!(self.model.types[ty].kind, TypeKind::Scalarset { .. })
    }

    /// Whether there is a multiset in values of a type.
    pub(super) fn contains_multiset(&self, ty: TypeId) -> bool {
        self.multiset_holders.contains(&ty)
    }

    /// Whether values of two types can be assigned and compared.
    pub(super) fn fit(&self, left: TypeId, right: TypeId) -> Fit {
        if left == right {
            return Fit::Yes;
        }
        match (&self.model.types[left].kind, &self.model.types[right].kind) {
            (TypeKind::Integer | TypeKind::Range { .. }, TypeKind::Integer | TypeKind::Range { .. }) => Fit::Yes,
            (TypeKind::Union { members }, TypeKind::Union { members: others }) => {
                if members.iter().any(|member| others.contains(member)) { Fit::Yes } else { Fit::No }
            }
            (TypeKind::Union { members }, _) if members.contains(&right) => Fit::Yes,
            (_, TypeKind::Union { members }) if members.contains(&left) => Fit::Yes,
            _ => self.alike(left, right),
        }
    }

    /// Whether two types have the same structure, including bounds.
    pub(super) fn alike(&self, left: TypeId, right: TypeId) -> Fit {
        if left == right {
            return Fit::Yes;
        }
        let known = self.compared.borrow().get(&(left, right)).copied();
        known.unwrap_or_else(|| {
            let fit = self.alike_in_parts(left, right);
            self.compared.borrow_mut().insert((left, right), fit);
            fit
        })
    }

    fn alike_in_parts(&self, left: TypeId, right: TypeId) -> Fit {
        let both = |one: Fit, other: Fit| match (one, other) {
            (Fit::No, _) | (_, Fit::No) => Fit::No,
            (Fit::MixedScalarsets, _) | (_, Fit::MixedScalarsets) => Fit::MixedScalarsets,
            (Fit::Yes, Fit::Yes) => Fit::Yes,
        };
        let yes = |it: bool| if it { Fit::Yes } else { Fit::No };
        match (&self.model.types[left].kind, &self.model.types[right].kind) {
            (TypeKind::Scalarset { .. }, TypeKind::Scalarset { .. }) => {
                if self.model.types[left].kind == self.model.types[right].kind { Fit::MixedScalarsets } else { Fit::No }
            }
            (TypeKind::Array { index, element }, TypeKind::Array { index: other_index, element: other_element }) => {
                both(self.alike(*index, *other_index), self.alike(*element, *other_element))
            }
            (TypeKind::Record { fields }, TypeKind::Record { fields: others }) => {
                if fields.len() != others.len() {
                    return Fit::No;
                }
                fields.iter().zip(others).fold(Fit::Yes, |fit, (field, other)| {
                    both(fit, both(yes(field.name == other.name), self.alike(field.ty, other.ty)))
                })
            }
            (
                TypeKind::Multiset { capacity, element },
                TypeKind::Multiset { capacity: other_capacity, element: other_element },
            ) => both(yes(capacity == other_capacity), self.alike(*element, *other_element)),
            (left, right) => yes(left == right),
        }
    }

    /// A type in messages: its name, or how it is built.
    pub(super) fn type_text(&self, ty: TypeId) -> String {
        self.type_text_within(ty, 3)
    }

    fn type_text_within(&self, ty: TypeId, depth: usize) -> String {
        let entry = &self.model.types[ty];
        if let Some(name) = &entry.name {
            return format!("`{name}`");
        }
        if depth == 0 {
            return "…".into();
        }
        let inner = |ty: TypeId| self.type_text_within(ty, depth - 1).replace('`', "");
        let text = match &entry.kind {
            TypeKind::Boolean => "boolean".into(),
            TypeKind::Integer => return "an integer".into(),
            TypeKind::Range { low, high } => format!("{low}..{high}"),
            TypeKind::Enumeration { members, .. } => {
                let more = if members.len() > 4 { ", …" } else { "" };
                format!("enum {{{}{more}}}", members[..members.len().min(4)].join(", "))
            }
            TypeKind::Scalarset { size, .. } => format!("scalarset({size})"),
            TypeKind::Union { members } => {
                format!("union {{{}}}", members.iter().map(|&member| inner(member)).collect::<Vec<_>>().join(", "))
            }
            TypeKind::Array { index, element } => format!("array [{}] of {}", inner(*index), inner(*element)),
            TypeKind::Record { fields } => {
                let names: Vec<&str> = fields.iter().take(4).map(|field| field.name.as_str()).collect();
                let more = if fields.len() > 4 { ", …" } else { "" };
                format!("record {{{}{more}}}", names.join(", "))
            }
            TypeKind::Multiset { capacity, element } => format!("multiset [{capacity}] of {}", inner(*element)),
        };
        format!("`{text}`")
    }
}
