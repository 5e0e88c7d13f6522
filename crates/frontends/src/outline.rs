//! What editors ask about a text: its definitions, where each is used, and where each is visible.
//!
//! The front end of a language walks its own syntax tree with the scopes of its own resolver. A text with errors has an
//! outline of what could be parsed.

use quotient_ir::{Source, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Language, b, csp, dve, murphi, pnml, promela};

/// The kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A named number or value.
    Constant,
    /// A type.
    Type,
    /// A value that an enumeration, a set or `mtype` lists.
    Member,
    /// A field of a record or structure.
    Field,
    /// A variable of the state.
    Variable,
    /// A variable of one rule, process, function or block.
    Local,
    /// A parameter, a quantified variable or a loop variable.
    Parameter,
    /// Another name for an expression.
    Alias,
    /// A function or procedure.
    Function,
    /// A macro, an inline or a definition that is inserted where it is used.
    Macro,
    /// A process or process type.
    Process,
    /// A state of a process.
    State,
    /// A label of a statement.
    Label,
    /// A channel.
    Channel,
    /// An event.
    Event,
    /// A machine.
    Machine,
    /// An operation of a machine.
    Operation,
    /// A rule.
    Rule,
    /// An initial state.
    Start,
    /// A property that a check decides.
    Property,
}

impl Kind {
    /// The word for it in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Type => "type",
            Self::Member => "value",
            Self::Field => "field",
            Self::Variable => "variable",
            Self::Local => "local variable",
            Self::Parameter => "parameter",
            Self::Alias => "alias",
            Self::Function => "function",
            Self::Macro => "macro",
            Self::Process => "process",
            Self::State => "state",
            Self::Label => "label",
            Self::Channel => "channel",
            Self::Event => "event",
            Self::Machine => "machine",
            Self::Operation => "operation",
            Self::Rule => "rule",
            Self::Start => "startstate",
            Self::Property => "property",
        }
    }
}

/// Something that a text defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name, or for rules and properties what they are called in reports.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Where the name is, or a keyword if it has none.
    pub span: Span,
    /// The whole definition.
    pub extent: Span,
    /// Where it is visible; everywhere if there is none.
    pub scope: Option<Span>,
    /// Its declaration in short, as it is written.
    pub detail: String,
    /// The definition that it belongs to.
    pub container: Option<usize>,
    /// Where it is used, in the order of the text.
    pub uses: Vec<Span>,
    /// Why it cannot be renamed, if it cannot.
    pub fixed: Option<&'static str>,
}

/// The definitions of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// In the order in which they were found: a definition comes after its container.
    pub definitions: Vec<Definition>,
    /// Names that are used and not defined.
    pub unknown: Vec<(String, Span)>,
    /// Names in parts of the text that are not read: unused macros, branches of `#if`.
    pub unread: Vec<(String, Span)>,
    /// Names that are declared again in one scope.
    pub duplicates: Vec<Span>,
}

impl Outline {
    /// The definitions whose name, or a use of it, is at an offset. A name in a macro can mean several.
    pub fn at(&self, offset: u32) -> Vec<usize> {
        let holds = |span: &Span| span.start <= offset && offset <= span.end;
        let mut found: Vec<usize> = Vec::new();
        for (number, definition) in self.definitions.iter().enumerate() {
            if has_name(definition) && (holds(&definition.span) || definition.uses.iter().any(holds)) {
                found.push(number);
            }
        }
        found
    }

    /// The definitions that can be named at an offset.
    pub fn visible(&self, offset: u32) -> impl Iterator<Item = &Definition> {
        self.definitions.iter().filter(move |it| {
            let is_here = it.scope.is_none_or(|scope| scope.start <= offset && offset <= scope.end);
            has_name(it) && it.kind != Kind::Field && is_here
        })
    }
}

/// Whether a definition has a name in the text that can be used elsewhere.
fn has_name(definition: &Definition) -> bool {
    !matches!(definition.kind, Kind::Rule | Kind::Start | Kind::Property)
        || definition.fixed.is_none()
        || !definition.uses.is_empty()
}

/// The outline of a text.
pub fn outline(source: &Source, language: Language) -> Outline {
    if source.text.len() > crate::MAXIMUM_SOURCE_BYTES {
        return Outline::default();
    }
    let mut builder = match language {
        Language::Murphi => murphi::outline(source),
        Language::B => b::outline(source),
        Language::Promela => promela::outline(source),
        Language::Dve => dve::outline(source),
        Language::Csp => csp::outline(source),
        Language::Pnml => pnml::outline(source),
    };
    builder.finish()
}

/// The words of a language that cannot be names.
pub fn keywords(language: Language) -> Vec<&'static str> {
    match language {
        Language::Murphi => murphi::keywords(),
        Language::B => b::keywords(),
        Language::Promela => promela::keywords(),
        Language::Dve => dve::keywords(),
        Language::Csp => csp::keywords(),
        Language::Pnml => Vec::new(),
    }
}

/// Whether a word can be a name in a language.
pub fn is_name(word: &str, language: Language) -> bool {
    let mut characters = word.chars();
    let starts = characters.next().is_some_and(|it| {
        it.is_ascii_alphabetic() || it == '_' && language != Language::Murphi && language != Language::B
    });
    let is_reserved = match language {
        // Keywords of Murphi are written in any case.
        Language::Murphi => keywords(language).iter().any(|it| it.eq_ignore_ascii_case(word)),
        _ => keywords(language).contains(&word),
    };
    starts && characters.all(|it| it.is_ascii_alphanumeric() || it == '_') && !is_reserved
}

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

/// The places to replace so that what is named at an offset has another name and everything else means the same.
///
/// # Errors
/// If it cannot be renamed, or if the new name would be confused with another one.
pub fn rename(source: &Source, language: Language, offset: u32, name: &str) -> Result<Vec<Span>, RenameRefusal> {
    let before = outline(source, language);
    let numbers = before.at(offset);
    let Some(&number) = numbers.first() else { return Err(RenameRefusal::Nothing) };
    let definition = &before.definitions[number];
    if numbers.len() > 1 {
        return Err(RenameRefusal::Ambiguous);
    }
    if let Some(reason) = definition.fixed {
        return Err(RenameRefusal::Fixed(reason));
    }
    if !is_name(name, language) {
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
    let after = outline(&renamed, language);
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
        let differs = found.iter().find(|it| !expected.contains(it)).or(expected.iter().find(|it| !found.contains(it)));
        let place = differs.map_or(definition.span, |(own, used)| if used.end == u32::MAX { *own } else { *used });
        return Err(RenameRefusal::Captures(place));
    }
    Ok(places)
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

/// Collects definitions and uses while a tree is walked.
pub(crate) struct Builder<'s> {
    text: &'s str,
    outline: Outline,
    /// The open scopes, innermost last: the part of the text it covers, and the names.
    scopes: Vec<(Option<Span>, FxHashMap<String, usize>)>,
    by_place: FxHashMap<Span, usize>,
    /// What each use means.
    meanings: FxHashMap<Span, usize>,
    /// The definition that new ones belong to.
    pub(crate) container: Option<usize>,
    reported: FxHashSet<Span>,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(source: &'s Source) -> Self {
        Self {
            text: &source.text,
            outline: Outline::default(),
            scopes: vec![(None, FxHashMap::default())],
            by_place: FxHashMap::default(),
            meanings: FxHashMap::default(),
            container: None,
            reported: FxHashSet::default(),
        }
    }

    /// A part of the text on one line, shortened.
    pub(crate) fn excerpt(&self, span: Span) -> String {
        const LONGEST: usize = 120;
        let words: Vec<&str> = self.text.get(span.range()).unwrap_or("").split_whitespace().collect();
        let line = words.join(" ");
        if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST - 1).chain(['…']).collect() }
    }

    /// Opens a scope, which covers a part of the text.
    pub(crate) fn enter(&mut self, covers: Span) {
        self.scopes.push((Some(covers), FxHashMap::default()));
    }

    pub(crate) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// Adds a definition that no scope holds, such as a field or a rule.
    pub(crate) fn add(&mut self, name: &str, kind: Kind, span: Span, extent: Span, detail: String) -> usize {
        if let Some(&known) = self.by_place.get(&span) {
            return known;
        }
        let number = self.outline.definitions.len();
        let scope = self.scopes.last().and_then(|(covers, _)| *covers);
        let is_written = self.text.get(span.range()) == Some(name);
        self.outline.definitions.push(Definition {
            name: name.to_owned(),
            kind,
            span,
            extent,
            scope,
            detail,
            container: self.container,
            uses: Vec::new(),
            fixed: (!is_written).then_some("it has no name of its own in the text"),
        });
        self.by_place.insert(span, number);
        number
    }

    /// Declares a name in the innermost scope.
    pub(crate) fn declare(&mut self, name: &str, kind: Kind, span: Span, extent: Span, detail: String) -> usize {
        let number = self.add(name, kind, span, extent, detail);
        self.bring(name, number, span);
        number
    }

    /// Makes a definition known in the innermost scope.
    pub(crate) fn bring(&mut self, name: &str, number: usize, span: Span) {
        let (_, names) = self.scopes.last_mut().expect("the outermost scope is never left");
        match names.get(name) {
            Some(&first) if first != number => {
                self.note_duplicate(span);
                if self.outline.definitions[number].span == span {
                    self.outline.definitions[number].fixed = Some("it is declared twice");
                }
            }
            _ => {
                names.insert(name.to_owned(), number);
            }
        }
    }

    /// Makes a definition known in the innermost scope, also where the name has another meaning.
    pub(crate) fn hide(&mut self, name: &str, number: usize) {
        let (_, names) = self.scopes.last_mut().expect("the outermost scope is never left");
        names.insert(name.to_owned(), number);
    }

    /// What a name means here.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.scopes.iter().rev().find_map(|(_, names)| names.get(name)).copied()
    }

    /// Whether a name means something else here than in the outermost scopes.
    pub(crate) fn is_local(&self, name: &str, outer: usize) -> bool {
        let inner = self.scopes.iter().skip(outer);
        inner.rev().any(|(_, names)| names.contains_key(name))
    }

    /// What a name means in the outermost scope.
    pub(crate) fn find_global(&self, name: &str) -> Option<usize> {
        self.scopes[0].1.get(name).copied()
    }

    /// Notes the use of a name.
    pub(crate) fn refer(&mut self, name: &str, span: Span) -> Option<usize> {
        let found = self.find(name);
        match found {
            Some(number) => self.note_use(number, span),
            None => self.note_unknown(name, span),
        }
        found
    }

    /// Notes the use of a known definition.
    pub(crate) fn note_use(&mut self, number: usize, span: Span) {
        let definition = &mut self.outline.definitions[number];
        if self.text.get(span.range()) == Some(definition.name.as_str()) {
            if definition.span != span {
                definition.uses.push(span);
            }
        } else {
            definition.fixed = Some("a macro puts its name together");
        }
        self.meanings.insert(span, number);
    }

    pub(crate) fn note_unknown(&mut self, name: &str, span: Span) {
        if self.reported.insert(span) {
            self.outline.unknown.push((name.to_owned(), span));
        }
    }

    pub(crate) fn note_duplicate(&mut self, span: Span) {
        if self.reported.insert(span) {
            self.outline.duplicates.push(span);
        }
    }

    pub(crate) fn note_unread(&mut self, name: &str, span: Span) {
        self.outline.unread.push((name.to_owned(), span));
    }

    /// What the use at a place means.
    pub(crate) fn meaning(&self, span: Span) -> Option<usize> {
        self.meanings.get(&span).copied()
    }

    /// The definition whose name is at a place.
    pub(crate) fn defined_at(&self, span: Span) -> Option<usize> {
        self.by_place.get(&span).copied()
    }

    pub(crate) fn definition(&mut self, number: usize) -> &mut Definition {
        &mut self.outline.definitions[number]
    }

    pub(crate) fn definitions(&self) -> &[Definition] {
        &self.outline.definitions
    }

    fn finish(&mut self) -> Outline {
        let mut outline = std::mem::take(&mut self.outline);
        for definition in &mut outline.definitions {
            definition.uses.sort_unstable();
            definition.uses.dedup();
        }
        // A name that means something in one use of a macro is not unknown.
        let known: FxHashSet<Span> =
            outline.definitions.iter().flat_map(|it| it.uses.iter().copied().chain([it.span])).collect();
        outline.unknown.retain(|(_, span)| !known.contains(span));
        outline.unread.retain(|(_, span)| !known.contains(span));
        outline
    }
}
