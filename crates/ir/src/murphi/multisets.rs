//! Multisets as arrays of records `{present, element}`, with generated procedures to add, remove and sort. The order of
//! the sorted positions is that of the state layout: present ones first, then cell by cell with "undefined" least.

use std::fmt::Write as _;

use super::PrintError;
use super::expressions::Use;
use super::kinds::Kind;
use super::program::Printer;
use super::scope::{Binding, Lines, Scope};
use super::statements::is_true;
use super::walk::Node;
use crate::index::{ExprId, LocalId, PlaceId, TypeId};
use crate::types::TypeKind;

/// How to reset the cells of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    /// Set them to the least values, and multisets to empty ones.
    Clear,
    /// Only set multisets to empty ones; the other cells are already undefined.
    Empty,
}

impl<'m> Printer<'m> {
    /// The name of the record type for the positions of a multiset type.
    pub(super) fn position_type(&mut self, ty: TypeId) -> String {
        let ty = self.kinds.same_as(ty);
        if let Some(name) = self.position_types.get(&ty) {
            return name.clone();
        }
        let multiset = self.names.ty(ty).unwrap_or("bag").to_owned();
        let name = self.names.generated(&format!("{multiset}_position"));
        self.position_types.insert(ty, name.clone());
        name
    }

    fn multiset_parts(&self, ty: TypeId) -> Result<(u64, TypeId), PrintError> {
        match self.model.types[ty].kind {
            TypeKind::Multiset { capacity, element } => Ok((capacity, element)),
            _ => Err(self.unprintable("a multiset operation", "its operand is not a multiset".into())),
        }
    }

    /// `add_to_t(multiset, element)`. An undefined scalar is a run-time error unless `undefined_too`.
    pub(super) fn adding(&mut self, ty: TypeId, undefined_too: bool) -> Result<String, PrintError> {
        let (capacity, element) = self.multiset_parts(ty)?;
        let lenient = undefined_too && self.model.is_scalar(element);
        let ty = self.kinds.same_as(ty);
        self.generate(format!("add {ty:?} {lenient}"), "add_to", |printer, name| {
            let (multiset, element) = (printer.type_text(ty)?, printer.type_text(element)?);
            let mut text = format!("procedure {name}(var multiset_: {multiset}; new_element: {element});\nbegin\n");
            if capacity > 0 {
                let _ = writeln!(text, "  for position: 0..{} do", capacity - 1);
                text.push_str("    if !multiset_[position].present then\n");
                text.push_str("      multiset_[position].present := true;\n");
                if lenient {
                    text.push_str("      if !isundefined(new_element) then\n");
                    text.push_str("        multiset_[position].element := new_element;\n      end;\n");
                } else {
                    text.push_str("      multiset_[position].element := new_element;\n");
                }
                text.push_str("      return;\n    end;\n  end;\n");
            }
            text.push_str("  error \"the multiset is full\";\nend;\n");
            Ok(text)
        })
    }

    /// `remove_from_t(multiset, position)`.
    pub(super) fn removing(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let (capacity, element) = self.multiset_parts(ty)?;
        let ty = self.kinds.same_as(ty);
        self.generate(format!("remove {ty:?}"), "remove_from", |printer, name| {
            let multiset = printer.type_text(ty)?;
            let last = capacity.max(1) - 1;
            let mut text = format!("procedure {name}(var multiset_: {multiset}; position: 0..{last});\nbegin\n");
            text.push_str("  if !multiset_[position].present then\n");
            text.push_str("    error \"there is no such element\";\n  end;\n");
            let mut lines = Lines::new(1);
            printer.remove_lines("multiset_[position]", element, &mut lines)?;
            let _ = writeln!(text, "{}end;", lines.text);
            Ok(text)
        })
    }

    /// Makes a position empty.
    fn remove_lines(&mut self, position: &str, element: TypeId, lines: &mut Lines) -> Result<(), PrintError> {
        lines.push(format!("{position}.present := false;"));
        lines.push(format!("undefine {position}.element;"));
        self.reset_lines(&format!("{position}.element"), element, Reset::Empty, lines)
    }

    /// `present_in_t(multiset, position)`: the position, if there is an element at it.
    pub(super) fn presence_check(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let (capacity, _) = self.multiset_parts(ty)?;
        let ty = self.kinds.same_as(ty);
        self.generate(format!("present {ty:?}"), "present_in", |printer, name| {
            let multiset = printer.type_text(ty)?;
            let range = format!("0..{}", capacity.max(1) - 1);
            let mut text = format!("function {name}(multiset_: {multiset}; position: {range}): {range};\nbegin\n");
            text.push_str("  if !multiset_[position].present then\n");
            text.push_str("    error \"there is no such element\";\n  end;\n  return position;\nend;\n");
            Ok(text)
        })
    }

    /// A call of a generated function that counts the positions with a property.
    pub(super) fn count(
        &mut self,
        scope: &mut Scope<'m>,
        local: LocalId,
        multiset: PlaceId,
        body: ExprId,
    ) -> Result<String, PrintError> {
        let (capacity, _) = self.multiset_parts(self.model.pool[multiset].ty)?;
        let nodes = [Node::Place(multiset), Node::Expression(body)];
        self.wrap(scope, "count", &nodes, Some(local), &format!("0..{capacity}"), |printer, inner, lines| {
            let variable = inner.name(&printer.names, local);
            inner.bind(local, Binding::Name(variable.clone()));
            let number = inner.declare(&printer.names, "number", format!("0..{capacity}"));
            lines.push(format!("{number} := 0;"));
            if capacity > 0 {
                let bag = printer.open_multiset(inner, multiset, lines)?;
                lines.push(format!("for {variable}: 0..{} do", capacity - 1));
                lines.push(format!("  if {bag}[{variable}].present then"));
                lines.depth += 2;
                if is_true(printer.model, body) {
                    lines.push(format!("{number} := {number} + 1;"));
                } else {
                    let condition = printer.condition(inner, body)?;
                    lines.push(format!("if {condition} then"));
                    lines.push(format!("  {number} := {number} + 1;\nend;"));
                }
                lines.depth -= 2;
                lines.push("  end;\nend;");
                close_multiset(lines, 1);
            }
            lines.push(format!("return {number};"));
            Ok(())
        })
    }

    /// The text for referring to a multiset several times; an alias, which [`close_multiset`] ends, if its location
    /// must be computed.
    fn open_multiset(
        &mut self,
        scope: &mut Scope<'m>,
        multiset: PlaceId,
        lines: &mut Lines,
    ) -> Result<String, PrintError> {
        let place = self.place(scope, multiset, Use::Target)?;
        if self.model.pool[multiset].steps.is_empty() {
            return Ok(place);
        }
        let bag = scope.generated_name(&self.names, "bag");
        lines.push(format!("alias {bag}: {place} do"));
        lines.depth += 1;
        Ok(bag)
    }

    /// Removes every element for whose position a condition holds.
    pub(super) fn remove_if(
        &mut self,
        scope: &mut Scope<'m>,
        local: LocalId,
        multiset: PlaceId,
        condition: ExprId,
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        let (capacity, element) = self.multiset_parts(self.model.pool[multiset].ty)?;
        if capacity == 0 {
            return Ok(());
        }
        let depth = lines.depth;
        let bag = self.open_multiset(scope, multiset, lines)?;
        let variable = scope.name(&self.names, local);
        let before = scope.bind(local, Binding::Name(variable.clone()));
        lines.push(format!("for {variable}: 0..{} do", capacity - 1));
        lines.push(format!("  if {bag}[{variable}].present then"));
        let condition = self.condition(scope, condition)?.replace('\n', "\n    ");
        lines.push(format!("    if {condition} then"));
        lines.depth += 3;
        self.remove_lines(&format!("{bag}[{variable}]"), element, lines)?;
        lines.depth -= 3;
        lines.push("    end;\n  end;\nend;");
        close_multiset(lines, depth);
        scope.bind(local, before);
        scope.release(&variable);
        scope.release(&bag);
        Ok(())
    }

    /// Lines that reset a place of a type.
    pub(super) fn reset_lines(
        &mut self,
        place: &str,
        ty: TypeId,
        reset: Reset,
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        if reset == Reset::Clear && !self.is_special(ty) {
            lines.push(format!("clear {place};"));
            return Ok(());
        }
        if reset == Reset::Empty && !self.holds_multiset(ty) {
            return Ok(());
        }
        let model = self.model;
        match &model.types[ty].kind {
            TypeKind::Record { fields } => {
                for (position, field) in (0u32..).zip(fields) {
                    let name = self.names.field(ty, position).expect("every field of a record has a name").to_owned();
                    self.reset_lines(&format!("{place}.{name}"), field.ty, reset, lines)?;
                }
            }
            &TypeKind::Array { index, element } => {
                self.for_each_index(index, lines, |printer, index, lines| {
                    printer.reset_lines(&format!("{place}[{index}]"), element, reset, lines)
                })?;
            }
            &TypeKind::Multiset { capacity, element } => {
                if reset == Reset::Clear {
                    lines.push(format!("undefine {place};"));
                }
                let variable = self.names.generated("position");
                lines.push(format!("for {variable}: 0..{} do", capacity.max(1) - 1));
                lines.depth += 1;
                lines.push(format!("{place}[{variable}].present := false;"));
                self.reset_lines(&format!("{place}[{variable}].element"), element, Reset::Empty, lines)?;
                lines.depth -= 1;
                lines.push("end;");
            }
            _ => {}
        }
        Ok(())
    }

    /// A loop over the values of an index type.
    fn for_each_index(
        &mut self,
        index: TypeId,
        lines: &mut Lines,
        body: impl FnOnce(&mut Self, &str, &mut Lines) -> Result<(), PrintError>,
    ) -> Result<(), PrintError> {
        let variable = self.names.generated("each");
        let (head, binding) = self.over_type(&variable, index)?;
        let value = match binding {
            Binding::Value(value) => value,
            _ => variable.clone(),
        };
        lines.push(format!("for {variable}{head} do"));
        lines.depth += 1;
        body(self, &value, lines)?;
        lines.depth -= 1;
        lines.push("end;");
        Ok(())
    }

    /// Lines that sort every multiset at a place of a type.
    pub(super) fn sort_lines(&mut self, place: &str, ty: TypeId, lines: &mut Lines) -> Result<(), PrintError> {
        if !self.holds_multiset(ty) {
            return Ok(());
        }
        let model = self.model;
        match &model.types[ty].kind {
            TypeKind::Record { fields } => {
                for (position, field) in (0u32..).zip(fields) {
                    let name = self.names.field(ty, position).expect("every field of a record has a name").to_owned();
                    self.sort_lines(&format!("{place}.{name}"), field.ty, lines)?;
                }
            }
            &TypeKind::Array { index, element } => {
                self.for_each_index(index, lines, |printer, index, lines| {
                    printer.sort_lines(&format!("{place}[{index}]"), element, lines)
                })?;
            }
            &TypeKind::Multiset { capacity, element } if capacity > 1 || self.holds_multiset(element) => {
                let sort = self.sorting(ty)?;
                lines.push(format!("{sort}({place});"));
            }
            _ => {}
        }
        Ok(())
    }

    /// `sort_t(multiset)`: brings a multiset into normal form, those in its elements first.
    fn sorting(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let (capacity, element) = self.multiset_parts(ty)?;
        let ty = self.kinds.same_as(ty);
        self.generate(format!("sort {ty:?}"), "sort", |printer, name| {
            let (multiset, position) = (printer.type_text(ty)?, printer.position_type(ty));
            let mut lines = Lines::new(1);
            if capacity > 0 && printer.holds_multiset(element) {
                lines.push(format!("for position: 0..{} do", capacity - 1));
                lines.depth += 1;
                printer.sort_lines("multiset_[position].element", element, &mut lines)?;
                lines.depth -= 1;
                lines.push("end;");
            }
            let mut declarations = String::new();
            if capacity > 1 {
                let compare = printer.comparing_positions(ty)?;
                declarations = format!("var\n  held: {position};\n");
                lines.push(format!("for passes: 0..{} do", capacity - 2));
                lines.push(format!("  for position: 0..{} do", capacity - 2));
                lines.push(format!("    if {compare}(multiset_[position], multiset_[position + 1]) = 2 then"));
                lines.push("      held := multiset_[position];");
                lines.push("      multiset_[position] := multiset_[position + 1];");
                lines.push("      multiset_[position + 1] := held;");
                lines.push("    end;\n  end;\nend;");
            }
            Ok(format!("procedure {name}(var multiset_: {multiset});\n{declarations}begin\n{}end;\n", lines.text))
        })
    }

    /// `compare_t(one, other)` for positions: 0 if one comes first, 1 if they are equal, 2 if the
    /// other comes first.
    fn comparing_positions(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let (_, element) = self.multiset_parts(ty)?;
        let ty = self.kinds.same_as(ty);
        self.generate(format!("compare positions {ty:?}"), "compare", |printer, name| {
            let position = printer.position_type(ty);
            let compare = printer.comparing(element)?;
            let mut text = format!("function {name}(one: {position}; other: {position}): 0..2;\nbegin\n");
            text.push_str("  if one.present != other.present then\n    return one.present ? 0 : 2;\n  end;\n");
            let _ = writeln!(text, "  return {compare}(one.element, other.element);\nend;");
            Ok(text)
        })
    }

    /// `compare_t(one, other)` for the contents of a type.
    fn comparing(&mut self, ty: TypeId) -> Result<String, PrintError> {
        if let TypeKind::Multiset { .. } = self.model.types[ty].kind {
            return self.comparing_multisets(ty);
        }
        self.generate(format!("compare {ty:?}"), "compare", |printer, name| {
            let model = printer.model;
            let type_text = printer.type_text(ty)?;
            let mut lines = Lines::new(1);
            match &model.types[ty].kind {
                TypeKind::Record { fields } => {
                    for (position, field) in (0u32..).zip(fields) {
                        let compare = printer.comparing(field.ty)?;
                        let field = printer.names.field(ty, position).expect("every field of a record has a name");
                        decide(&mut lines, &compare, &format!(".{field}"));
                    }
                    lines.push("return 1;");
                }
                &TypeKind::Array { index, element } => {
                    let compare = printer.comparing(element)?;
                    printer.for_each_index(index, &mut lines, |_, index, lines| {
                        decide(lines, &compare, &format!("[{index}]"));
                        Ok(())
                    })?;
                    lines.push("return 1;");
                }
                _ => {
                    lines.push("if isundefined(one) then\n  return isundefined(other) ? 1 : 0;\nend;");
                    lines.push("if isundefined(other) then\n  return 2;\nend;");
                    lines.push("if one = other then\n  return 1;\nend;");
                    match printer.kinds.of_type(model, ty) {
                        Kind::Boolean => lines.push("return other ? 0 : 2;"),
                        Kind::Number => lines.push("return one < other ? 0 : 2;"),
                        // Their only order is that in which a loop visits them.
                        Kind::Named(_) => {
                            lines.push(format!("for value: {type_text} do"));
                            lines.push("  if value = one then\n    return 0;\n  elsif value = other then");
                            lines.push("    return 2;\n  end;\nend;");
                        }
                    }
                }
            }
            Ok(format!("function {name}(one: {type_text}; other: {type_text}): 0..2;\nbegin\n{}end;\n", lines.text))
        })
    }

    fn comparing_multisets(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let (capacity, _) = self.multiset_parts(ty)?;
        let ty = self.kinds.same_as(ty);
        self.generate(format!("compare {ty:?}"), "compare", |printer, name| {
            let type_text = printer.type_text(ty)?;
            let mut lines = Lines::new(1);
            if capacity > 0 {
                let compare = printer.comparing_raw_positions(ty)?;
                lines.push(format!("for position: 0..{} do", capacity - 1));
                lines.depth += 1;
                decide(&mut lines, &compare, "[position]");
                lines.depth -= 1;
                lines.push("end;");
            }
            lines.push("return 1;");
            Ok(format!("function {name}(one: {type_text}; other: {type_text}): 0..2;\nbegin\n{}end;\n", lines.text))
        })
    }

    /// Positions of a multiset inside an element compare like other cells: first by "present" as a truth value.
    fn comparing_raw_positions(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let (_, element) = self.multiset_parts(ty)?;
        self.generate(format!("compare raw positions {ty:?}"), "compare", |printer, name| {
            let position = printer.position_type(ty);
            let compare = printer.comparing(element)?;
            let mut text = format!("function {name}(one: {position}; other: {position}): 0..2;\nbegin\n");
            text.push_str("  if one.present != other.present then\n    return one.present ? 2 : 0;\n  end;\n");
            let _ = writeln!(text, "  return {compare}(one.element, other.element);\nend;");
            Ok(text)
        })
    }
}

/// Ends the alias for a multiset, if there is one since the given depth.
fn close_multiset(lines: &mut Lines, depth: usize) {
    if lines.depth > depth {
        lines.depth -= 1;
        lines.push("end;");
    }
}

/// Returns from a comparison if the cells at a path differ.
fn decide(lines: &mut Lines, compare: &str, path: &str) {
    lines.push(format!("if {compare}(one{path}, other{path}) != 1 then"));
    lines.push(format!("  return {compare}(one{path}, other{path});"));
    lines.push("end;");
}
