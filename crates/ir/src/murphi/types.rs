//! Types and their declarations.

use std::fmt::Write as _;

use super::PrintError;
use super::bounds::Interval;
use super::kinds::Kind;
use super::program::Printer;
use super::scope::{Binding, Lines};
use crate::index::TypeId;
use crate::model::Model;
use crate::types::TypeKind;

/// The deepest nesting of types; the state layout refuses deeper ones as well.
const DEEPEST: usize = 200;

/// The range of integers between two bounds, as a type. The least 64-bit integer is omitted: there is no room for it
/// beside "undefined".
pub(super) fn range_text(interval: Interval) -> String {
    let low = interval.low.max(i128::from(i64::MIN) + 1);
    format!("{low}..{}", interval.high.max(low))
}

impl Printer<'_> {
    /// How a type is written where it is used.
    pub(super) fn type_text(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let mut text = String::new();
        self.write_type(ty, &mut text, 0)?;
        Ok(text)
    }

    fn write_type(&mut self, ty: TypeId, text: &mut String, depth: usize) -> Result<(), PrintError> {
        if let Some(name) = self.names.ty(ty) {
            text.push_str(name);
            return Ok(());
        }
        self.write_shape(ty, text, depth, None)
    }

    /// The structure of a type, unnamed. A declared record is written on several lines.
    fn write_shape(
        &mut self,
        ty: TypeId,
        text: &mut String,
        depth: usize,
        lines: Option<usize>,
    ) -> Result<(), PrintError> {
        if depth > DEEPEST {
            return Err(self.unprintable("a type", format!("it is nested more than {DEEPEST} levels deep")));
        }
        let model = self.model;
        match &model.types[ty].kind {
            TypeKind::Boolean => text.push_str("boolean"),
            TypeKind::Integer => text.push_str(&self.wide_integer()),
            TypeKind::Enumeration { .. } if self.kinds.is_named(ty) => {
                let _ = write!(text, "enum {{{}}}", self.names.members(ty).join(", "));
            }
            TypeKind::Scalarset { size, .. } if self.kinds.is_named(ty) => {
                let _ = write!(text, "scalarset({size})");
            }
            TypeKind::Range { .. }
            | TypeKind::Enumeration { .. }
            | TypeKind::Scalarset { .. }
            | TypeKind::Union { .. } => {
                let domain = model.domain(ty);
                let _ = write!(text, "{}..{}", domain.least(), domain.greatest());
            }
            &TypeKind::Array { index, element } => {
                text.push_str("array [");
                self.write_type(index, text, depth + 1)?;
                text.push_str("] of ");
                if self.names.ty(element).is_some() {
                    self.write_type(element, text, depth + 1)?;
                } else {
                    self.write_shape(element, text, depth + 1, lines)?;
                }
            }
            TypeKind::Record { fields } => {
                text.push_str("record");
                let field_lines = lines.map(|indent| indent + 2);
                for (position, field) in (0u32..).zip(fields) {
                    match field_lines {
                        Some(indent) => {
                            let _ = write!(text, "\n{:indent$}", "");
                        }
                        None => text.push(' '),
                    }
                    text.push_str(self.names.field(ty, position).expect("every field of a record has a name"));
                    text.push_str(": ");
                    if self.names.ty(field.ty).is_some() {
                        self.write_type(field.ty, text, depth + 1)?;
                    } else {
                        self.write_shape(field.ty, text, depth + 1, field_lines)?;
                    }
                    text.push(';');
                }
                match lines {
                    Some(indent) => {
                        let _ = write!(text, "\n{:indent$}end", "");
                    }
                    None => text.push_str(" end"),
                }
            }
            &TypeKind::Multiset { capacity, .. } => {
                let position = self.position_type(ty);
                let _ = write!(text, "array [0..{}] of {position}", capacity.max(1) - 1);
            }
        }
        Ok(())
    }

    /// The declarations of the named types, each after those it uses.
    pub(super) fn type_declarations(&mut self) -> Result<Lines, PrintError> {
        let model = self.model;
        let mut lines = Lines::new(1);
        let mut done = vec![false; model.types.len()];
        for ty in model.types.indices() {
            // Types cannot refer to themselves, so this stack only grows to the depth of nesting.
            let mut stack = vec![(ty, false)];
            while let Some((ty, ready)) = stack.pop() {
                use crate::index::TableIndex;
                if done[ty.position()] {
                    continue;
                }
                if ready {
                    done[ty.position()] = true;
                    self.declare_type(ty, &mut lines)?;
                    continue;
                }
                stack.push((ty, true));
                match &model.types[ty].kind {
                    &TypeKind::Array { index, element } => stack.extend([(element, false), (index, false)]),
                    &TypeKind::Multiset { element, .. } => stack.push((element, false)),
                    TypeKind::Record { fields } => stack.extend(fields.iter().rev().map(|field| (field.ty, false))),
                    _ => {}
                }
                if stack.len() > model.types.len() * (DEEPEST + 2) {
                    return Err(self.unprintable("a type", "it contains itself".into()));
                }
            }
        }
        Ok(lines)
    }

    fn declare_type(&mut self, ty: TypeId, lines: &mut Lines) -> Result<(), PrintError> {
        let Some(name) = self.names.ty(ty).map(str::to_owned) else { return Ok(()) };
        let first = self.kinds.same_as(ty);
        if first != ty && self.kinds.is_named(ty) {
            let first = self.names.ty(first).expect("an enumeration has a name").to_owned();
            if first != name {
                lines.push(format!("{name}: {first};"));
            }
            return Ok(());
        }
        if let TypeKind::Multiset { element, .. } = self.model.types[ty].kind {
            let position = self.position_type(ty);
            let mut shape = String::new();
            if self.names.ty(element).is_some() {
                self.write_type(element, &mut shape, 0)?;
            } else {
                self.write_shape(element, &mut shape, 0, Some(2))?;
            }
            lines.push(format!("{position}: record\n  present: boolean;\n  element: {shape};\nend;"));
        }
        let mut shape = String::new();
        self.write_shape(ty, &mut shape, 0, Some(0))?;
        lines.push(format!("{name}: {shape};"));
        Ok(())
    }

    /// The members of enumerations that are printed as ranges, as constants, so that their names can still be used.
    pub(super) fn constant_declarations(&self) -> Lines {
        let mut lines = Lines::new(1);
        for (ty, entry) in self.model.types.iter_enumerated() {
            let TypeKind::Enumeration { first, .. } = entry.kind else { continue };
            if !self.kinds.is_named(ty) && self.kinds.same_as(ty) == ty {
                for (offset, member) in (0..).zip(self.names.members(ty)) {
                    lines.push(format!("{member}: {};", number_text(first + offset)));
                }
            }
        }
        lines
    }

    /// The name of the type of all 64-bit integers (except the least), which is then declared.
    pub(super) fn wide_integer(&mut self) -> String {
        if let Some(name) = &self.wide_integer {
            return name.clone();
        }
        let name = self.names.generated("wide_integer");
        self.wide_integer = Some(name.clone());
        name
    }

    /// The type for numbers within bounds.
    pub(super) fn interval_type(&mut self, interval: Interval) -> String {
        if interval.low <= Interval::ALL.low || interval.high >= Interval::ALL.high {
            self.wide_integer()
        } else {
            range_text(interval)
        }
    }

    /// Whether the values of a type have gaps between them (a union of types that are not adjacent), so that a range
    /// contains more values.
    pub(super) fn has_gaps(&self, ty: TypeId) -> bool {
        self.model.is_scalar(ty) && self.model.domain(ty).pieces().len() > 1
    }

    /// Whether clearing a place of this type needs more than `clear`: it contains a multiset, or an array with gaps.
    pub(super) fn is_special(&self, ty: TypeId) -> bool {
        let mut types = vec![ty];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(ty) = types.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match &self.model.types[ty].kind {
                TypeKind::Multiset { .. } => return true,
                &TypeKind::Array { index, element } => {
                    if self.has_gaps(index) {
                        return true;
                    }
                    types.push(element);
                }
                TypeKind::Record { fields } => types.extend(fields.iter().map(|field| field.ty)),
                _ => {}
            }
        }
        false
    }

    /// Whether a type contains a multiset.
    pub(super) fn holds_multiset(&self, ty: TypeId) -> bool {
        let mut types = vec![ty];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(ty) = types.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match &self.model.types[ty].kind {
                TypeKind::Multiset { .. } => return true,
                &TypeKind::Array { element, .. } => types.push(element),
                TypeKind::Record { fields } => types.extend(fields.iter().map(|field| field.ty)),
                _ => {}
            }
        }
        false
    }

    /// The text after the name of a variable that ranges over a type, and how the value is then written.
    pub(super) fn over_type(&mut self, variable: &str, ty: TypeId) -> Result<(String, Binding), PrintError> {
        if !self.model.is_scalar(ty) || ty == Model::INTEGER {
            return Err(self.unprintable(variable, "it runs over a type that Murphi cannot enumerate".into()));
        }
        if self.has_gaps(ty) {
            let values = self.model.domain(ty).size();
            let function = self.value_at(ty)?;
            let binding = Binding::Value(format!("{function}({variable})"));
            return Ok((format!(": 0..{}", values - 1), binding));
        }
        Ok((format!(": {}", self.type_text(ty)?), Binding::Name(variable.to_owned())))
    }

    /// A value of a type, as an expression.
    pub(super) fn constant_text(&self, value: i64, ty: TypeId) -> String {
        match (self.kinds.of_type(self.model, ty), &self.model.types[ty].kind) {
            (Kind::Boolean, _) if value == 0 => "false".into(),
            (Kind::Boolean, _) if value == 1 => "true".into(),
            (_, TypeKind::Enumeration { first, .. }) => {
                let position = value.checked_sub(*first).and_then(|offset| usize::try_from(offset).ok());
                let member = position.and_then(|position| self.names.members(ty).get(position));
                member.cloned().unwrap_or_else(|| number_text(value))
            }
            (_, TypeKind::Union { members }) => {
                let member = members.iter().find(|&&member| self.model.domain(member).contains(value));
                // Members of unions are not unions, so this terminates.
                member.map_or_else(|| number_text(value), |&member| self.constant_text(value, member))
            }
            _ => number_text(value),
        }
    }
}

/// A number as an expression. The digits of the least one do not fit into 64 bits.
pub(super) fn number_text(value: i64) -> String {
    if value == i64::MIN { format!("(-{} - 1)", i64::MAX) } else { value.to_string() }
}
