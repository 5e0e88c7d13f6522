//! Renaming a definition: the places to replace, or why the text would mean something else.

use quotient_ir::{Source, Span};

use crate::front_end::FrontEnd;
use crate::outline::{Outline, has_name};

/// Why a definition cannot get another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenameRefusal {
    /// Nothing with a name is there.
    Nothing,
    /// The word is not a name of the language.
    NotAName(String),
    /// The definition cannot be renamed.
    Fixed(&'static str),
    /// A name in a macro means several things.
    Ambiguous,
    /// The name also stands in text that is not read.
    Unread(Span),
    /// The text would mean something else.
    Captures(Span),
}

impl FrontEnd {
    /// The places to replace so that what is named at an offset has another name and everything else means the same.
    ///
    /// # Errors
    /// If it cannot be renamed, or if the new name would be confused with another one.
    pub fn rename(&self, source: &Source, offset: u32, name: &str) -> Result<Vec<Span>, RenameRefusal> {
        let before = self.outline(source);
        let numbers = before.at(offset);
        let Some(&number) = numbers.first() else { return Err(RenameRefusal::Nothing) };
        let definition = &before.definitions[number];
        if numbers.len() > 1 {
            return Err(RenameRefusal::Ambiguous);
        }
        if let Some(reason) = definition.fixed {
            return Err(RenameRefusal::Fixed(reason));
        }
        if !self.is_name(name) {
            return Err(RenameRefusal::NotAName(name.to_owned()));
        }
        if let Some((_, span)) = before.unread.iter().find(|(unread, _)| *unread == definition.name) {
            return Err(RenameRefusal::Unread(*span));
        }
        let mut places = definition.uses.clone();
        places.push(definition.span);
        places.sort_unstable();
        places.dedup();
        let is_shared = |place: &Span| {
            before.definitions.iter().enumerate().any(|(other, it)| {
                other != number && (has_name(it) && it.span == *place || it.uses.binary_search(place).is_ok())
            })
        };
        if places.iter().any(is_shared) {
            return Err(RenameRefusal::Ambiguous);
        }
        // The new text must have the same definitions and uses, each moved by what was inserted before it.
        let renamed = replaced(source, &places, name);
        let moved = |span: Span| moved(span, &places, name.len() as u32);
        let after = self.outline(&renamed);
        let pairs = |outline: &Outline, move_span: &dyn Fn(Span) -> Span| {
            let mut pairs: Vec<(Span, Span)> = Vec::new();
            for definition in outline.definitions.iter().filter(|it| has_name(it)) {
                let own = move_span(definition.span);
                pairs.push((own, own));
                pairs.extend(definition.uses.iter().map(|it| (own, move_span(*it))));
            }
            let none = Span::new(usize::MAX, usize::MAX);
            pairs.extend(outline.unknown.iter().map(|(_, it)| (none, move_span(*it))));
            pairs.extend(outline.unread.iter().map(|(_, it)| (none, move_span(*it))));
            pairs.extend(outline.duplicates.iter().map(|it| (move_span(*it), none)));
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        };
        let (expected, found) = (pairs(&before, &moved), pairs(&after, &|span| span));
        if expected != found {
            let differs =
                found.iter().find(|it| !expected.contains(it)).or(expected.iter().find(|it| !found.contains(it)));
            let place = differs.map_or(definition.span, |(own, used)| if used.end == u32::MAX { *own } else { *used });
            return Err(RenameRefusal::Captures(place));
        }
        Ok(places)
    }
}

/// A source with some places replaced by a name. The places are in order.
fn replaced(source: &Source, places: &[Span], name: &str) -> Source {
    let mut text = String::with_capacity(source.text.len());
    let mut end = 0;
    for place in places {
        text.push_str(&source.text[end..place.start as usize]);
        text.push_str(name);
        end = place.end as usize;
    }
    text.push_str(&source.text[end..]);
    let start = |start: u32| moved(Span { start, end: start }, places, name.len() as u32).start;
    let files = source.files.iter().map(|(offset, name)| (start(*offset), name.clone())).collect();
    Source { name: source.name.clone(), text: text.into(), files }
}

/// Where a span is after the places before it have got another length.
fn moved(span: Span, places: &[Span], length: u32) -> Span {
    let shift = |offset: u32, is_end: bool| {
        let before = places.iter().take_while(|it| it.end < offset || it.end == offset && is_end);
        before.fold(i64::from(offset), |offset, it| offset + i64::from(length) - i64::from(it.end - it.start)) as u32
    };
    Span { start: shift(span.start, false), end: shift(span.end, true) }
}
