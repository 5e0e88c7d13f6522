//! Diagnostics about a model as text: the message, the source lines it concerns, and help.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use quotient_ir::{Diagnostic, Label, Severity, Source, Span};

use crate::terminal::{Palette, visible};

/// The maximum number of diagnostics shown: a thousand messages do not explain an invalid file better.
const SHOWN: usize = 50;
/// Labels further apart than this many lines get separate excerpts.
const NEARBY_LINES: usize = 12;
/// A longer span is shown by its first line only.
const SPAN_LINES: usize = 12;
/// For a longer line only the location is given (the renderer truncates shorter ones to what fits).
const LINE_BYTES: usize = 4096;

/// Renders diagnostics and, at the end, the number of errors.
pub(crate) fn render(source: &Source, diagnostics: &[Diagnostic], palette: Palette) -> String {
    let renderer = if palette.is_enabled() { Renderer::styled() } else { Renderer::plain() };
    let lines = Lines::new(source);
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(SHOWN) {
        text.push_str(&renderer.render(&report(&lines, diagnostic)));
        text.push_str("\n\n");
    }
    text.push_str(&summary(diagnostics));
    text
}

/// Renders remarks about source locations; one without a location is a line of text.
pub(crate) fn render_remarks<'a>(
    source: &Source,
    remarks: impl IntoIterator<Item = (Option<Span>, &'a str)>,
    palette: Palette,
) -> String {
    let renderer = if palette.is_enabled() { Renderer::styled() } else { Renderer::plain() };
    let lines = Lines::new(source);
    let mut text = String::new();
    for (span, remark) in remarks {
        let label = span.map(|span| Label { span, text: String::new() });
        let mut group = Group::with_title(Level::NOTE.primary_title(remark));
        if let Some(label) = &label {
            group = locate(group, &lines, std::iter::once((AnnotationKind::Primary, label)));
        }
        text.push_str(&renderer.render(&[group]));
        text.push_str("\n\n");
    }
    text
}

/// `3 errors, 1 warning`, with the number omitted; nothing for a single warning.
fn summary(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let warnings = diagnostics.len() - errors;
    let count = |number: usize, word: &str| format!("{number} {word}{}", if number == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(count(errors, "error"));
    }
    if warnings > 0 && (errors > 0 || warnings > 1) {
        parts.push(count(warnings, "warning"));
    }
    if diagnostics.len() > SHOWN {
        parts.push(format!("the first {SHOWN} shown"));
    }
    if parts.is_empty() { String::new() } else { format!("{}\n", parts.join(", ")) }
}

fn report<'a>(lines: &Lines<'a>, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()).id(diagnostic.code));
    match &diagnostic.primary {
        Some(primary) => {
            let primary = (AnnotationKind::Primary, primary);
            let secondary = diagnostic.secondary.iter().map(|label| (AnnotationKind::Context, label));
            group = locate(group, lines, std::iter::once(primary).chain(secondary));
        }
        None => group = group.element(Origin::path(lines.source.name.as_str())),
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    vec![group]
}

/// Shows the source lines around labels: one excerpt for nearby labels, that of the primary label first.
fn locate<'a>(
    mut group: Group<'a>,
    lines: &Lines<'a>,
    labels: impl Iterator<Item = (AnnotationKind, &'a Label)>,
) -> Group<'a> {
    let mut clusters: Vec<Cluster<'a>> = Vec::new();
    for (kind, label) in labels {
        let excerpt = lines.excerpt(label.span);
        if excerpt.is_too_long {
            let Location { file, line, column } = lines.place(label.span);
            group = group.element(Origin::path(file).line(line).char_column(column));
            if !label.text.is_empty() {
                group = group.element(Level::NOTE.message(label.text.as_str()));
            }
            continue;
        }
        match clusters.iter_mut().find(|cluster| cluster.is_near(&excerpt)) {
            Some(cluster) => cluster.add(excerpt, kind, label),
            None => clusters.push(Cluster { excerpt, labels: vec![(kind, label)] }),
        }
    }
    group.elements(clusters.into_iter().map(|cluster| cluster.snippet(lines)))
}

/// Labels that share an excerpt.
struct Cluster<'a> {
    excerpt: Excerpt,
    labels: Vec<(AnnotationKind, &'a Label)>,
}

/// A range of whole lines of a file, counted from 0 in the whole source, and its bytes.
#[derive(Clone, Copy)]
struct Excerpt {
    first_line_of_file: usize,
    first_line: usize,
    last_line: usize,
    start: usize,
    end: usize,
    is_too_long: bool,
}

impl<'a> Cluster<'a> {
    fn is_near(&self, excerpt: &Excerpt) -> bool {
        excerpt.first_line_of_file == self.excerpt.first_line_of_file
            && excerpt.first_line <= self.excerpt.last_line + NEARBY_LINES
            && self.excerpt.first_line <= excerpt.last_line + NEARBY_LINES
    }
    fn add(&mut self, excerpt: Excerpt, kind: AnnotationKind, label: &'a Label) {
        self.excerpt.first_line = self.excerpt.first_line.min(excerpt.first_line);
        self.excerpt.last_line = self.excerpt.last_line.max(excerpt.last_line);
        self.excerpt.start = self.excerpt.start.min(excerpt.start);
        self.excerpt.end = self.excerpt.end.max(excerpt.end);
        self.labels.push((kind, label));
    }
    fn snippet(self, lines: &Lines<'a>) -> Snippet<'a, Annotation<'a>> {
        let Excerpt { start, end, first_line, first_line_of_file, .. } = self.excerpt;
        let text: &'a str = &lines.text()[start..end];
        let (file, _) = lines.source.file_at(start as u32);
        let mut snippet = Snippet::source(text).path(file).line_start(first_line - first_line_of_file + 1);
        for (kind, label) in self.labels {
            let from = lines.boundary(label.span.range().start);
            // The part of a long span beyond the excerpt is not underlined.
            let to = lines.boundary(label.span.range().end).clamp(from, lines.excerpt(label.span).end.max(from));
            let annotation = kind.span(from - start..to - start);
            let annotation = if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) };
            snippet = snippet.annotation(annotation);
        }
        snippet
    }
}

/// A location: line and column are counted from one, in characters.
#[derive(Clone, Copy)]
pub(crate) struct Location<'a> {
    /// The name of the file.
    pub(crate) file: &'a str,
    /// The line of the file.
    pub(crate) line: usize,
    /// The column.
    pub(crate) column: usize,
}

/// A source with the offsets at which its lines start, so that many diagnostics about a large file do not each scan it.
pub(crate) struct Lines<'a> {
    source: &'a Source,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a source.
    pub(crate) fn new(source: &'a Source) -> Self {
        let newlines = source.text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(offset, _)| offset + 1)).collect();
        Self { source, starts }
    }
    fn text(&self) -> &'a str {
        &self.source.text
    }
    /// The nearest character boundary at or before an offset.
    fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text().len());
        while !self.text().is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
    /// The zero-based line of an offset.
    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }
    fn end_of(&self, line: usize) -> usize {
        self.starts.get(line + 1).map_or(self.text().len(), |&next| next - 1)
    }
    /// The first line of the file that an offset belongs to.
    fn first_line_of_file(&self, offset: usize) -> usize {
        self.line_of(self.source.file_at(offset as u32).1.start)
    }
    /// The start of a span.
    pub(crate) fn place(&self, span: Span) -> Location<'a> {
        let offset = self.boundary(span.range().start);
        let line = self.line_of(offset);
        Location {
            file: self.source.file_at(offset as u32).0,
            line: line - self.first_line_of_file(offset) + 1,
            column: self.text()[self.starts[line]..offset].chars().count() + 1,
        }
    }
    /// The excerpt of the source for a span.
    fn excerpt(&self, span: Span) -> Excerpt {
        let from = self.boundary(span.range().start);
        let end_of_file = self.source.file_at(from as u32).1.end.max(from);
        let to = self.boundary(span.range().end).clamp(from, end_of_file);
        let first_line = self.line_of(from);
        let mut last_line = self.line_of(to.saturating_sub(1).max(from));
        if last_line - first_line > SPAN_LINES {
            last_line = first_line;
        }
        let is_too_long = (first_line..=last_line).any(|line| self.end_of(line) - self.starts[line] > LINE_BYTES);
        Excerpt {
            first_line_of_file: self.first_line_of_file(from),
            first_line,
            last_line,
            start: self.starts[first_line],
            end: self.end_of(last_line),
            is_too_long,
        }
    }
    /// The location of a span and the line it starts in, to be shown below a message about it.
    pub(crate) fn quotation(&self, span: Span, indent: &str, palette: Palette) -> String {
        let Location { file, line, column } = self.place(span);
        let place = palette.faint(&format!("{file}:{line}:{column}"));
        let margin = palette.faint(&format!("{line} |"));
        format!("{indent}{place}\n{indent}{margin} {}\n", self.first_line(span))
    }
    fn first_line(&self, span: Span) -> String {
        const SHOWN_CHARACTERS: usize = 160;
        let line = self.line_of(self.boundary(span.range().start));
        let text = self.text()[self.starts[line]..self.end_of(line)].trim_end().replace('\t', "    ");
        match text.char_indices().nth(SHOWN_CHARACTERS) {
            Some((end, _)) => format!("{} …", visible(&text[..end])),
            None => visible(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, diagnostics: &[Diagnostic]) -> String {
        render(&Source::new("model.m", text), diagnostics, Palette::PLAIN)
    }

    #[test]
    fn a_label_and_help() {
        let diagnostic = Diagnostic::error("unknown-name", "unknown name `y`", Span::new(8, 9))
            .with_label("not declared")
            .with_secondary(Span::new(0, 1), "perhaps this")
            .with_help("did you mean `x`?");
        snapbox::assert_data_eq!(
            rendered("x := 1;\ny := 2;\n", &[diagnostic]),
            snapbox::str![[r#"
error[unknown-name]: unknown name `y`
 --> model.m:2:1
  |
1 | x := 1;
  | - perhaps this
2 | y := 2;
  | ^ not declared
  |
  = help: did you mean `x`?

1 error

"#]]
        );
    }

    #[test]
    fn several_files() {
        let source = Source::new("model.m", "first\nsecond\n").followed_by(&Source::new("more.m", "third\nfourth\n"));
        let fourth = source.text.find("fourth").expect("it is there");
        let diagnostic = Diagnostic::error("other-file", "in the other file", Span::new(fourth, fourth + 6))
            .with_secondary(Span::new(6, 12), "before it");
        snapbox::assert_data_eq!(
            render(&source, &[diagnostic], Palette::PLAIN),
            snapbox::str![[r#"
error[other-file]: in the other file
 --> more.m:2:1
  |
2 | fourth
  | ^^^^^^
  |
 ::: model.m:2:1
  |
2 | second
  | ------ before it

1 error

"#]]
        );
    }

    #[test]
    fn far_labels_and_long_lines() {
        let long = "x".repeat(5000);
        let text = format!("first\n{}{long}y{long}\nlast", "\n".repeat(100));
        let diagnostic = Diagnostic::error("far", "far away", Span::new(106 + 5000, 106 + 5001))
            .with_secondary(Span::new(0, 5), "first")
            .with_secondary(Span::new(text.len() - 4, text.len()), "last");
        let shown = rendered(&text, &[diagnostic]);
        assert!(shown.contains("model.m:102:5001"), "{shown}");
        assert!(shown.lines().all(|line| line.len() < 300), "{shown}");
        assert!(shown.contains("first") && shown.contains("last"), "{shown}");
    }

    #[test]
    fn spans_beyond_the_text_and_inside_characters() {
        for (start, end) in [(0, 0), (1, 2), (2, 2), (9, 9), (5, 3), (8, 100), (100, 200)] {
            let diagnostic = Diagnostic::error("odd", "odd span", Span { start, end });
            let shown = rendered("äöü\nß\n", &[diagnostic]);
            assert!(shown.contains("1 error"), "{shown}");
            let shown = rendered("", &[Diagnostic::warning("odd", "odd span", Span { start, end })]);
            assert!(shown.starts_with("warning[odd]"), "{shown}");
        }
    }

    #[test]
    fn many() {
        let all: Vec<_> = (0..1000).map(|_| Diagnostic::error("many", "again", Span::new(0, 1))).collect();
        let shown = rendered("x", &all);
        assert!(shown.ends_with("1000 errors, the first 50 shown\n"), "{shown}");
        assert_eq!(shown.matches("error[many]").count(), SHOWN);
    }
}
