//! Functions and procedures that the printer adds: constructs that Murphi can express only with statements.

use std::fmt::Write as _;

use super::PrintError;
use super::program::Printer;
use super::scope::{Binding, Lines, Scope};
use super::types::number_text;
use super::walk::{Node, free_locals};
use crate::index::{LocalId, TypeId};
use crate::model::Model;
use crate::types::TypeKind;

/// The deepest nesting of generated functions; only counts inside counts nest.
const DEEPEST: usize = 100;

impl<'m> Printer<'m> {
    /// The name of the generated function with the given key; `build` writes it the first time.
    pub(super) fn generate(
        &mut self,
        key: String,
        like: &str,
        build: impl FnOnce(&mut Self, &str) -> Result<String, PrintError>,
    ) -> Result<String, PrintError> {
        if let Some(name) = self.generated.get(&key) {
            return Ok(name.clone());
        }
        let name = self.names.generated(like);
        self.generated.insert(key, name.clone());
        let text = build(self, &name)?;
        // Functions it calls were finished before it, so the list is in printing order.
        self.helpers.push(text);
        Ok(name)
    }

    /// Generates a function of the locals that are free below some nodes, except one that the function binds itself.
    /// `body` writes its lines (the declarations go to the scope it is given); the result is the text of a call.
    pub(super) fn wrap(
        &mut self,
        scope: &Scope<'m>,
        like: &str,
        nodes: &[Node],
        bound: Option<LocalId>,
        result: &str,
        body: impl FnOnce(&mut Self, &mut Scope<'m>, &mut Lines) -> Result<(), PrintError>,
    ) -> Result<String, PrintError> {
        if self.nesting >= DEEPEST {
            return Err(self.unprintable(&scope.what, format!("it nests more than {DEEPEST} generated functions")));
        }
        self.nesting += 1;
        let mut inner = scope.outside();
        let mut formals = Vec::new();
        let mut arguments = Vec::new();
        let mut lines = Lines::new(1);
        let mut assembled = Vec::new();
        for local in free_locals(self.model, nodes.iter().copied()) {
            if bound == Some(local) {
                continue;
            }
            match scope.binding(local).clone() {
                Binding::None => return Err(self.unbound(scope, local)),
                Binding::Name(name) => {
                    formals.push(format!("{name}: {}", self.local_type(scope, local)?));
                    inner.take_name(&name);
                    inner.bind(local, Binding::Name(name.clone()));
                    arguments.push(name);
                }
                Binding::Value(value) => {
                    let name = inner.name(&self.names, local);
                    formals.push(format!("{name}: {}", self.local_type(scope, local)?));
                    inner.bind(local, Binding::Name(name));
                    arguments.push(value);
                }
                Binding::Cells(cells) => {
                    let ty = scope.owner.locals[local].ty;
                    let types = self.cell_types(ty)?;
                    for (cell, cell_type) in cells.iter().zip(types) {
                        formals.push(format!("{cell}: {cell_type}"));
                        inner.take_name(cell);
                        arguments.push(cell.clone());
                    }
                    assembled.push((local, cells));
                }
            }
        }
        for (local, cells) in assembled {
            self.assemble(&mut inner, local, &cells, &mut lines)?;
        }
        body(self, &mut inner, &mut lines)?;
        self.nesting -= 1;
        let mut text = format!("({}): {result};\n", formals.join("; "));
        write_declarations(&inner.declarations, &mut text);
        let _ = write!(text, "begin\n{}end;\n", lines.text);
        // The same expression may be written several times, but needs only one function.
        let function = self.generate(text.clone(), like, |_, name| Ok(format!("function {name}{text}")))?;
        Ok(format!("{function}({})", arguments.join(", ")))
    }

    /// Declares a variable for a parameter of an array or record type and fills it from the parameters that represent
    /// its cells.
    pub(super) fn assemble(
        &mut self,
        scope: &mut Scope<'m>,
        local: LocalId,
        cells: &[String],
        lines: &mut Lines,
    ) -> Result<(), PrintError> {
        let ty = scope.owner.locals[local].ty;
        let name = scope.name(&self.names, local);
        let type_text = self.type_text(ty)?;
        scope.declarations.push((name.clone(), type_text));
        for (path, cell) in self.cell_paths(&scope.what, ty)?.into_iter().zip(cells) {
            lines.push(format!("{name}{path} := {cell};"));
        }
        scope.bind(local, Binding::Name(name));
        Ok(())
    }

    /// The type to declare for a local.
    pub(super) fn local_type(&mut self, scope: &Scope<'m>, local: LocalId) -> Result<String, PrintError> {
        let ty = scope.owner.locals[local].ty;
        if ty == Model::INTEGER {
            return Ok(self.interval_type(scope.bounds.of_local(local)));
        }
        self.type_text(ty)
    }

    /// `copy_of(value)`: a copy of an array or record.
    pub(super) fn copy_of(&mut self, ty: TypeId) -> Result<String, PrintError> {
        self.generate(format!("copy {ty:?}"), "copy_of", |printer, name| {
            let ty = printer.type_text(ty)?;
            Ok(format!("function {name}(original: {ty}): {ty};\nbegin\n  return original;\nend;\n"))
        })
    }

    /// `checked_t(value)`: a value of a type with gaps; a number in a gap is out of range.
    pub(super) fn checked(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let domain = self.model.domain(ty);
        self.generate(format!("checked {:?}", domain.pieces()), "checked", |_, name| {
            let (least, greatest) = (domain.least(), domain.greatest());
            let range = format!("{least}..{greatest}");
            let members = membership("value", domain.pieces());
            let mut text = format!("function {name}(value: {range}): {range};\nvar\n  outside: {range};\nbegin\n");
            let _ = writeln!(text, "  if {members} then");
            let _ = writeln!(text, "    return value;\n  end;");
            // Stored past the end, so that this is the same run-time error as in the model.
            let _ = writeln!(text, "  outside := value + {};", i128::from(greatest) - i128::from(least) + 1);
            let _ = writeln!(text, "  return outside;\nend;");
            Ok(text)
        })
    }

    /// `value_at_t(position)`: the value at a position among those of a type with gaps.
    pub(super) fn value_at(&mut self, ty: TypeId) -> Result<String, PrintError> {
        let domain = self.model.domain(ty);
        self.generate(format!("value {:?}", domain.pieces()), "value_at", |_, name| {
            let (least, greatest) = (domain.least(), domain.greatest());
            let mut text = format!("function {name}(position: 0..{}): {least}..{greatest};\n", domain.size() - 1);
            text.push_str("begin\n");
            let mut before = 0i128;
            let mut pieces = domain.pieces().iter().peekable();
            while let Some(&(low, high)) = pieces.next() {
                let after = before + i128::from(high) - i128::from(low) + 1;
                let value = match i128::from(low) - before {
                    0 => "position".to_owned(),
                    offset if offset > 0 => format!("position + {offset}"),
                    offset => format!("position - {}", -offset),
                };
                if pieces.peek().is_some() {
                    let _ = writeln!(text, "  if position < {after} then\n    return {value};\n  end;");
                } else {
                    let _ = writeln!(text, "  return {value};");
                }
                before = after;
            }
            text.push_str("end;\n");
            Ok(text)
        })
    }

    /// The types of the cells of an array or record, in order.
    pub(super) fn cell_types(&mut self, ty: TypeId) -> Result<Vec<String>, PrintError> {
        Ok(match &self.model.types[ty].kind {
            &TypeKind::Array { index, element } => {
                let types = self.cell_types(element)?;
                self.model.domain(index).values().flat_map(|_| types.iter().cloned()).collect()
            }
            TypeKind::Record { fields } => {
                let mut types = Vec::new();
                for field in fields {
                    types.extend(self.cell_types(field.ty)?);
                }
                types
            }
            _ => vec![self.type_text(ty)?],
        })
    }

    /// The scalar types of the cells of an array or record, in order.
    pub(super) fn cell_type_ids(&self, ty: TypeId) -> Vec<TypeId> {
        match &self.model.types[ty].kind {
            &TypeKind::Array { index, element } => {
                let types = self.cell_type_ids(element);
                self.model.domain(index).values().flat_map(|_| types.iter().copied()).collect()
            }
            TypeKind::Record { fields } => fields.iter().flat_map(|field| self.cell_type_ids(field.ty)).collect(),
            _ => vec![ty],
        }
    }

    /// The paths to the cells of an array or record, such as `[3].kind`, in order.
    pub(super) fn cell_paths(&self, what: &str, ty: TypeId) -> Result<Vec<String>, PrintError> {
        Ok(match &self.model.types[ty].kind {
            &TypeKind::Array { index, element } => {
                if matches!(self.model.types[index].kind, TypeKind::Scalarset { .. }) && self.kinds.is_named(index) {
                    let reason = "the values of a scalarset have no names, so the cells of an array over one cannot \
                                  be parameters";
                    return Err(self.unprintable(what, reason.into()));
                }
                let inner = self.cell_paths(what, element)?;
                let indices: Vec<String> =
                    self.model.domain(index).values().map(|value| self.constant_text(value, index)).collect();
                let paths = indices.iter().flat_map(|index| inner.iter().map(move |path| format!("[{index}]{path}")));
                paths.collect()
            }
            TypeKind::Record { fields } => {
                let mut paths = Vec::new();
                for (position, field) in (0u32..).zip(fields) {
                    let name = self.names.field(ty, position).expect("every field of a record has a name");
                    paths.extend(self.cell_paths(what, field.ty)?.into_iter().map(|path| format!(".{name}{path}")));
                }
                paths
            }
            _ => vec![String::new()],
        })
    }
}

/// The declarations of a body's variables.
pub(super) fn write_declarations(declarations: &[(String, String)], text: &mut String) {
    if !declarations.is_empty() {
        text.push_str("var\n");
        for (name, ty) in declarations {
            let _ = writeln!(text, "  {name}: {ty};");
        }
    }
}

/// The condition that a number lies in one of some intervals.
pub(super) fn membership(value: &str, pieces: &[(i64, i64)]) -> String {
    let stretches: Vec<String> = pieces
        .iter()
        .map(|&(low, high)| {
            if low == high {
                format!("{value} = {}", number_text(low))
            } else {
                format!("{value} >= {} & {value} <= {}", number_text(low), number_text(high))
            }
        })
        .collect();
    stretches.join(" | ")
}
