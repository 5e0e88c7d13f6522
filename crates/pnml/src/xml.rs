//! XML as a tree of elements with their locations. Names lose their prefixes. Pictures and data of other tools are left
//! out, except NUPN (nested units). Entities are not expanded, except those of XML itself, so a small text cannot become a large one.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quotient_ir::{Diagnostic, Source, Span};

/// How deep elements may be nested: terms and pages are read by recursion.
const DEEPEST: usize = 256;

/// Whether an element says nothing about the meaning of a net. Nested-unit Petri nets say in data of a tool whether they are
/// safe.
fn is_ignored(element: &Element) -> bool {
    element.name == "graphics" || element.name == "toolspecific" && element.attribute("tool") != Some("nupn")
}

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// Its name without prefix.
    pub(super) name: String,
    /// Its attributes without prefixes.
    pub(super) attributes: Vec<(String, String)>,
    /// The elements in it.
    pub(super) children: Vec<Element>,
    /// The text in it, without that of its children.
    pub(super) text: String,
    /// Its start tag.
    pub(super) span: Span,
}

impl Element {
    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
    /// The first child of a name.
    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }
    /// All children of a name.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }
    /// The text of a label: `<name><text>…</text></name>`.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        let label = self.child(name)?;
        Some(label.child("text").map_or(label.text.as_str(), |text| text.text.as_str()).trim())
    }
}

/// Reads one file of a source.
pub(super) fn read(source: &Source, file: std::ops::Range<usize>) -> Result<Element, Box<Diagnostic>> {
    let (text, offset) = (&source.text[file.clone()], file.start);
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = vec![Element::default()];
    // The depth of ignored elements.
    let mut ignored = 0usize;
    loop {
        let start = offset + usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        let event = reader.read_event();
        let end = offset + usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        let span = Span::new(start, end);
        match event {
            Ok(Event::Start(tag)) => {
                let element = element(&tag, span)?;
                if ignored > 0 || is_ignored(&element) {
                    ignored += 1;
                } else if open.len() > DEEPEST {
                    let error = Diagnostic::error("nested-too-deeply", "elements are nested too deeply", span);
                    return Err(Box::new(error.with_help(format!("at most {DEEPEST} levels are read"))));
                } else {
                    open.push(element);
                }
            }
            Ok(Event::Empty(tag)) => {
                let element = element(&tag, span)?;
                if let Some(parent) = open.last_mut()
                    && ignored == 0
                    && !is_ignored(&element)
                {
                    parent.children.push(element);
                }
            }
            Ok(Event::End(_)) if ignored > 0 => ignored -= 1,
            Ok(Event::End(_)) => {
                if let Some(element) = open.pop()
                    && let Some(parent) = open.last_mut()
                {
                    parent.children.push(element);
                } else {
                    return Err(Box::new(Diagnostic::error("xml", "there is nothing to end here", span)));
                }
            }
            Ok(Event::Text(piece)) => add_text(&mut open, &String::from_utf8_lossy(&piece)),
            Ok(Event::CData(piece)) => add_text(&mut open, &String::from_utf8_lossy(&piece)),
            Ok(Event::GeneralRef(reference)) => {
                let name = String::from_utf8_lossy(&reference).into_owned();
                match reference.resolve_char_ref() {
                    Ok(Some(character)) => add_text(&mut open, character.encode_utf8(&mut [0; 4])),
                    _ => match resolve_predefined_entity(&name) {
                        Some(text) => add_text(&mut open, text),
                        None => return Err(Box::new(entity(&name, span))),
                    },
                }
            }
            Ok(Event::DocType(_)) => {
                let error = Diagnostic::error("document-type", "document types are not read", span);
                return Err(Box::new(error.with_help("PNML has none: remove it")));
            }
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_)) => {}
            Ok(Event::Eof) => break,
            Err(error) => {
                let at = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
                let span = character_at(text, at, offset);
                let error = Diagnostic::error("xml", format!("not well-formed XML: {error}"), span);
                return Err(Box::new(
                    error.with_help("every start tag needs its end tag, and attributes their quotes"),
                ));
            }
        }
    }
    let unfinished = (open.len() > 1).then(|| open.pop()).flatten();
    if let Some(element) = unfinished {
        let error = Diagnostic::error("xml", format!("`<{}>` has no end", element.name), element.span);
        return Err(Box::new(error.with_help(format!("write `</{}>` behind it", element.name))));
    }
    let mut found = open.pop().map(|root| root.children).unwrap_or_default();
    if found.len() == 1
        && let Some(root) = found.pop()
    {
        return Ok(root);
    }
    let error = Diagnostic::error("xml", "the text is not an XML document", character_at(text, 0, offset));
    Err(Box::new(error.with_help("a document is one element, such as `<pnml>…</pnml>`")))
}

/// The character at a position of a file that begins at an offset.
fn character_at(text: &str, at: usize, offset: usize) -> Span {
    let mut start = at.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    Span::new(offset + start, offset + start + length)
}

fn add_text(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn entity(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("unknown-entity", format!("`&{name};` is not known"), span)
        .with_help("only the entities of XML itself are read: &lt; &gt; &amp; &quot; &apos;")
}

/// An element with the attributes of its tag.
fn element(tag: &BytesStart<'_>, span: Span) -> Result<Element, Box<Diagnostic>> {
    let local = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let name = local(tag.local_name().as_ref());
    let mut attributes = Vec::new();
    let ill_formed = |error: &dyn std::fmt::Display| {
        Box::new(Diagnostic::error("xml", format!("not well-formed XML: {error}"), span))
    };
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| ill_formed(&error))?;
        let value = attribute.unescape_value().map_err(|error| ill_formed(&error))?;
        attributes.push((local(attribute.key.local_name().as_ref()), value.into_owned()));
    }
    Ok(Element { name, attributes, span, ..Element::default() })
}
