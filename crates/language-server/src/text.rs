//! A text that is edited: places as editors count them, and changes.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
use quotient::ir::Span;

/// The units in which an editor counts the characters of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// What the protocol has always been.
    #[default]
    Utf16,
    Utf8,
}

/// A text with the places where its lines begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    content: String,
    starts: Vec<usize>,
}

impl Text {
    pub(crate) fn new(content: impl Into<String>) -> Self {
        let content = content.into();
        let bytes = content.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            // `\r` ends a line unless `\n` follows.
            if *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        Self { content, starts }
    }

    pub(crate) fn content(&self) -> &str {
        &self.content
    }

    /// A line without what ends it; empty behind the last.
    fn line(&self, number: usize) -> (usize, &str) {
        let Some(&start) = self.starts.get(number) else { return (self.content.len(), "") };
        let end = self.starts.get(number + 1).copied().unwrap_or(self.content.len());
        (start, self.content[start..end].trim_end_matches(['\r', '\n']))
    }

    /// The offset of a place. One behind the end of a line or of the text is that end, one inside a character is its
    /// beginning.
    pub(crate) fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let (start, line) = self.line(position.line as usize);
        let wanted = position.character as usize;
        let mut units = 0;
        for (at, character) in line.char_indices() {
            let next = units + length(character, encoding);
            if next > wanted {
                return start + at;
            }
            units = next;
        }
        start + line.len()
    }

    /// The place of an offset. One inside a character counts as its beginning.
    pub(crate) fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let mut offset = offset.min(self.content.len());
        while !self.content.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.content[self.starts[line]..offset];
        let units: usize = before.chars().map(|it| length(it, encoding)).sum();
        Position { line: line as u32, character: units as u32 }
    }

    pub(crate) fn range(&self, span: Span, encoding: Encoding) -> Range {
        let start = self.position(span.start as usize, encoding);
        Range { start, end: self.position(span.end.max(span.start) as usize, encoding) }
    }

    /// The text after a change. A range that ends before it begins is empty.
    #[must_use]
    pub(crate) fn changed(&self, change: &TextDocumentContentChangeEvent, encoding: Encoding) -> Self {
        let Some(range) = change.range else { return Self::new(&*change.text) };
        let start = self.offset(range.start, encoding);
        let end = self.offset(range.end, encoding).max(start);
        let mut content = String::with_capacity(self.content.len() + change.text.len());
        content.push_str(&self.content[..start]);
        content.push_str(&change.text);
        content.push_str(&self.content[end..]);
        Self::new(content)
    }
}

fn length(character: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf16 => character.len_utf16(),
        Encoding::Utf8 => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

    use super::{Encoding, Text};

    fn position(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn characters_are_counted_in_units() {
        let text = Text::new("aé😀b\r\nnext\rlast\n");
        for (offset, units, bytes) in
            [(0, (0, 0), (0, 0)), (1, (0, 1), (0, 1)), (3, (0, 2), (0, 3)), (7, (0, 4), (0, 7))]
        {
            assert_eq!(text.position(offset, Encoding::Utf16), position(units.0, units.1));
            assert_eq!(text.position(offset, Encoding::Utf8), position(bytes.0, bytes.1));
            assert_eq!(text.offset(position(units.0, units.1), Encoding::Utf16), offset);
            assert_eq!(text.offset(position(bytes.0, bytes.1), Encoding::Utf8), offset);
        }
        assert_eq!(text.position(10, Encoding::Utf16), position(1, 0));
        assert_eq!(text.position(15, Encoding::Utf16), position(2, 0));
        assert_eq!(text.position(20, Encoding::Utf16), position(3, 0));
    }

    #[test]
    fn places_that_do_not_exist_are_moved_to_those_that_do() {
        let text = Text::new("a😀\nb");
        assert_eq!(text.offset(position(0, 2), Encoding::Utf16), 1, "inside a pair");
        assert_eq!(text.offset(position(0, 99), Encoding::Utf16), 5);
        assert_eq!(text.offset(position(99, 3), Encoding::Utf16), 7);
        assert_eq!(text.position(3, Encoding::Utf16), position(0, 1));
        assert_eq!(text.position(99, Encoding::Utf16), position(1, 1));
        let backwards = Range { start: position(1, 1), end: position(0, 0) };
        let change = TextDocumentContentChangeEvent { range: Some(backwards), range_length: None, text: "!".into() };
        assert_eq!(text.changed(&change, Encoding::Utf16).content(), "a😀\nb!");
    }

    /// The same replacement on a list of code units, the naive way.
    fn replaced(text: &str, range: Range, new: &str) -> String {
        let units: Vec<u16> = text.encode_utf16().collect();
        let offset = |place: Position| {
            let mut lines = vec![0];
            lines.extend(units.iter().enumerate().filter(|(_, it)| **it == u16::from(b'\n')).map(|(at, _)| at + 1));
            let start = lines[place.line as usize];
            start + place.character as usize
        };
        let (start, end) = (offset(range.start), offset(range.end));
        let new: Vec<u16> = new.encode_utf16().collect();
        String::from_utf16(&[&units[..start], &new, &units[end..]].concat()).expect("whole characters")
    }

    #[test]
    fn random_edits_agree_with_the_naive_way() {
        let mut seed = 7u64;
        let mut random = |most: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % most
        };
        let words = ["x", "é", "😀", "\n", " := ", "∀", "", "ab\ncd"];
        let mut text = Text::new("var x: 0..1;\n-- é 😀\nrule begin end;\n");
        for _ in 0..3000 {
            let boundaries: Vec<usize> =
                text.content().char_indices().map(|(at, _)| at).chain([text.content().len()]).collect();
            let mut ends = [boundaries[random(boundaries.len())], boundaries[random(boundaries.len())]];
            ends.sort_unstable();
            let ends = [ends[0], ends[1].min(ends[0] + 12)];
            let ends = ends.map(|it| text.position(it, Encoding::Utf16));
            let range = Range { start: ends[0], end: ends[1] };
            let new = words[random(words.len())];
            let expected = replaced(text.content(), range, new);
            let change = TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: new.into() };
            text = text.changed(&change, Encoding::Utf16);
            assert_eq!(text.content(), expected);
            assert_eq!(text, Text::new(expected));
        }
    }
}
