//! The text of a value in the notation of its language.

use crate::index::TypeId;
use crate::model::Model;
use crate::notation::{Index, Notation};
use crate::types::TypeKind;

impl Notation {
    /// The text of a value. `cells` gives the cells of a value of this type in their order.
    pub fn text(&self, model: &Model, ty: TypeId, cells: &mut dyn Iterator<Item = Option<i64>>) -> String {
        let fields = match &model.types[ty].kind {
            TypeKind::Record { fields } => fields.as_slice(),
            _ => &[],
        };
        match self {
            Self::Scalar => match cells.next().flatten() {
                Some(value) => scalar(model, ty, value),
                None => "undefined".into(),
            },
            Self::Pair(left, right) => {
                let left = left.text(model, fields[0].ty, cells);
                format!("({left}|->{})", right.text(model, fields[1].ty, cells))
            }
            Self::Record(parts) => {
                let texts = parts
                    .iter()
                    .zip(fields)
                    .map(|((name, part), field)| format!("{name}:{}", part.text(model, field.ty, cells)));
                format!("rec({})", texts.collect::<Vec<_>>().join(","))
            }
            Self::Set(index @ Index::Pair(left, right)) => {
                let mut pairs = Vec::new();
                index.walk(model, ty, &mut Vec::new(), &mut |_, indices| {
                    if cells.next().flatten() == Some(1) {
                        let mut indices = indices.iter().cloned();
                        let left = left.text(&mut indices);
                        pairs.push((left, right.text(&mut indices)));
                    }
                });
                function(&pairs)
            }
            Self::Set(index) => {
                let mut members = Vec::new();
                index.walk(model, ty, &mut Vec::new(), &mut |_, indices| {
                    if cells.next().flatten() == Some(1) {
                        members.push(index.text(&mut indices.iter().cloned()));
                    }
                });
                format!("{{{}}}", members.join(","))
            }
            Self::Function(index) => {
                let mut pairs = Vec::new();
                index.walk(model, ty, &mut Vec::new(), &mut |element, indices| {
                    if let Some(value) = cells.next().flatten() {
                        pairs.push((index.text(&mut indices.iter().cloned()), scalar(model, element, value)));
                    }
                });
                function(&pairs)
            }
            Self::Table(index, value) => {
                let mut pairs = Vec::new();
                index.walk(model, ty, &mut Vec::new(), &mut |element, indices| {
                    let content = match &model.types[element].kind {
                        TypeKind::Record { fields } => fields[1].ty,
                        _ => element,
                    };
                    let present = cells.next().flatten() == Some(1);
                    let text = value.text(model, content, cells);
                    if present {
                        pairs.push((index.text(&mut indices.iter().cloned()), text));
                    }
                });
                function(&pairs)
            }
        }
    }

    /// What a cell of a variable is called, given the texts of its indices: `(a|->b) : r` for a member of a set, `f(a)`
    /// for the value of a function. `None` if the cell is part of something that has no name in the text.
    pub fn cell_name(&self, variable: &str, indices: &[String]) -> Option<String> {
        let (Self::Set(index) | Self::Function(index)) = self else { return None };
        if indices.len() != index.depth() || index.leaves().iter().any(Option::is_some) {
            return None;
        }
        let text = index.text(&mut indices.iter().cloned());
        Some(match self {
            Self::Set(_) => format!("{text} : {variable}"),
            _ if text.starts_with('(') => format!("{variable}{text}"),
            _ => format!("{variable}({text})"),
        })
    }
}

fn scalar(model: &Model, ty: TypeId, value: i64) -> String {
    if ty == Model::BOOLEAN {
        return if value == 0 { "FALSE" } else { "TRUE" }.into();
    }
    model.value_name(ty, value)
}

/// A relation, displayed as a sequence if it is a function and its arguments are 1, 2, ….
fn function(pairs: &[(String, String)]) -> String {
    let is_sequence =
        !pairs.is_empty() && pairs.iter().enumerate().all(|(at, (argument, _))| *argument == (at + 1).to_string());
    if is_sequence {
        let items: Vec<&str> = pairs.iter().map(|(_, value)| value.as_str()).collect();
        return format!("[{}]", items.join(","));
    }
    let pairs: Vec<String> = pairs.iter().map(|(argument, value)| format!("({argument}|->{value})")).collect();
    format!("{{{}}}", pairs.join(","))
}

impl Index {
    /// The number of indices.
    fn depth(&self) -> usize {
        match self {
            Self::Scalar | Self::Set(_) => 1,
            Self::Pair(left, right) => left.depth() + right.depth(),
            Self::Record(fields) => fields.iter().map(|(_, field)| field.depth()).sum(),
        }
    }

    /// Visits the cells of nested arrays in their order, with the texts of their indices.
    fn walk(&self, model: &Model, ty: TypeId, indices: &mut Vec<String>, visit: &mut dyn FnMut(TypeId, &[String])) {
        let leaves = self.leaves();
        walk(model, ty, &leaves, self.depth(), indices, visit);
    }

    fn leaves(&self) -> Vec<Option<&[String]>> {
        match self {
            Self::Scalar => vec![None],
            Self::Set(members) => vec![Some(members)],
            Self::Pair(left, right) => left.leaves().into_iter().chain(right.leaves()).collect(),
            Self::Record(fields) => fields.iter().flat_map(|(_, field)| field.leaves()).collect(),
        }
    }

    fn text(&self, indices: &mut dyn Iterator<Item = String>) -> String {
        match self {
            Self::Scalar | Self::Set(_) => indices.next().unwrap_or_default(),
            Self::Pair(left, right) => {
                let left = left.text(indices);
                format!("({left}|->{})", right.text(indices))
            }
            Self::Record(fields) => {
                let texts = fields.iter().map(|(name, field)| format!("{name}:{}", field.text(indices)));
                format!("rec({})", texts.collect::<Vec<_>>().join(","))
            }
        }
    }
}

fn walk(
    model: &Model,
    ty: TypeId,
    leaves: &[Option<&[String]>],
    depth: usize,
    indices: &mut Vec<String>,
    visit: &mut dyn FnMut(TypeId, &[String]),
) {
    let TypeKind::Array { index, element } = model.types[ty].kind else {
        return;
    };
    for value in model.domain(index).values() {
        let text = match leaves[indices.len()] {
            None => scalar(model, index, value),
            Some(members) => {
                let chosen = members.iter().enumerate().filter(|(at, _)| value >> at & 1 == 1);
                format!("{{{}}}", chosen.map(|(_, member)| member.as_str()).collect::<Vec<_>>().join(","))
            }
        };
        indices.push(text);
        if indices.len() == depth {
            visit(element, indices);
        } else {
            walk(model, element, leaves, depth, indices, visit);
        }
        indices.pop();
    }
}
