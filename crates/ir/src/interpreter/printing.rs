//! What print statements print. They change nothing: whatever the evaluation of what they print does is undone.

use super::machine::{Contents, Machine, Run};
use crate::index::{PlaceId, TypeId};
use crate::model::Model;
use crate::statement::{PrintForm, PrintPiece};
use crate::types::TypeKind;

/// What is printed for a cell without a value, as rumur and CMurphi do.
const UNDEFINED: &str = "Undefined";
/// No step prints more than so many bytes.
const MOST_PRINTED: usize = 1 << 20;

impl<'i, 'm: 'i> Machine<'i, 'm> {
    /// Executes a print statement, if somebody asked for what is printed.
    pub(super) fn print(&mut self, pieces: &'m [PrintPiece]) {
        let Some(mut printed) = self.printed.take() else { return };
        for piece in pieces {
            if printed.len() < MOST_PRINTED {
                let text = self.piece_text(piece);
                printed.push_str(&text);
            }
        }
        self.printed = Some(printed);
    }

    fn piece_text(&mut self, piece: &'m PrintPiece) -> String {
        match piece {
            PrintPiece::Text(text) => text.clone(),
            PrintPiece::Value(value, form) => {
                let (value, model) = (*value, self.model);
                let result = self.undone(move |machine: &mut Self| machine.evaluate(value));
                result.map_or_else(|| UNDEFINED.to_owned(), |value| value_text(model, form, value))
            }
            PrintPiece::Contents(place) => self.contents_text(*place),
            PrintPiece::State => {
                let (layout, model) = (self.interpreter.layout, self.model);
                let cells = layout.slots.iter().zip(self.globals.iter());
                cells.map(|(slot, cell)| line(&slot.name, &cell_text(model, slot.ty, *cell))).collect()
            }
        }
    }

    fn contents_text(&mut self, place: PlaceId) -> String {
        let name = self.place_text(place);
        let Some(contents) = self.undone(move |machine: &mut Self| machine.contents(place)) else {
            return line(&name, UNDEFINED);
        };
        let mut text = String::new();
        cell_lines(self.model, &name, self.model.pool[place].ty, &mut contents.iter().copied(), &mut text);
        text
    }

    /// Evaluates something and takes back what that did to the machine. Nothing if it has no value.
    fn undone<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> Run<T>) -> Option<T> {
        let (globals, covered, span, work) = (self.globals.clone(), self.covered.clone(), self.span, self.work);
        let height = self.frames.len();
        let contents: Vec<Vec<Contents>> =
            self.frames.iter().map(|frame| frame.contents.iter().cloned().collect()).collect();
        let result = evaluate(self).ok();
        while self.frames.len() > height {
            self.leave();
        }
        for (frame, contents) in self.frames.iter_mut().zip(contents) {
            frame.contents = contents.into_iter().collect();
        }
        (self.globals, self.covered, self.span, self.work) = (globals, covered, span, work);
        result
    }
}

fn value_text(model: &Model, form: &PrintForm, value: i64) -> String {
    // Promela computes with 32 bits, and prints them as C does.
    let bits = value as u32;
    match form {
        PrintForm::Typed(ty) => model.value_name(*ty, value),
        PrintForm::Decimal => value.to_string(),
        PrintForm::Unsigned => bits.to_string(),
        PrintForm::Hexadecimal => format!("{bits:x}"),
        PrintForm::Octal => format!("{bits:o}"),
        PrintForm::Character => char::from(bits as u8).to_string(),
        PrintForm::Named(names) => {
            let name = names.iter().find(|(number, _)| *number == value).map(|(_, name)| name.clone());
            name.unwrap_or_else(|| value.to_string())
        }
    }
}

fn line(name: &str, value: &str) -> String {
    format!("{name}:{value}\n")
}

fn cell_text(model: &Model, ty: TypeId, value: Option<i64>) -> String {
    value.map_or_else(|| UNDEFINED.to_owned(), |value| model.value_name(ty, value))
}

/// A line for each cell of a value.
fn cell_lines(model: &Model, name: &str, ty: TypeId, cells: &mut impl Iterator<Item = Option<i64>>, text: &mut String) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for value in model.domain(*index).values() {
                cell_lines(model, &format!("{name}[{}]", model.value_name(*index, value)), *element, cells, text);
            }
        }
        TypeKind::Record { fields } => {
            for field in fields {
                cell_lines(model, &format!("{name}.{}", field.name), field.ty, cells, text);
            }
        }
        TypeKind::Multiset { capacity, element } => {
            for position in 0..*capacity {
                let is_present = cells.next() == Some(Some(1));
                let mut lines = String::new();
                cell_lines(model, &format!("{name}{{{position}}}"), *element, cells, &mut lines);
                if is_present {
                    text.push_str(&lines);
                }
            }
        }
        _ => text.push_str(&line(name, &cell_text(model, ty, cells.next().flatten()))),
    }
}
