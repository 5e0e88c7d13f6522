//! What editors ask about a text: its definitions, where each is used, and where each is visible.
//!
//! The front end of a language walks its own syntax tree with the scopes of its own resolver. A text with errors has an
//! outline of what could be parsed.

use quotient_ir::{Source, Span};
use rustc_hash::{FxHashMap, FxHashSet};

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
pub(crate) fn has_name(definition: &Definition) -> bool {
    !matches!(definition.kind, Kind::Rule | Kind::Start | Kind::Property)
        || definition.fixed.is_none()
        || !definition.uses.is_empty()
}

/// Collects definitions and uses while a tree is walked.
#[derive(Debug)]
pub struct Builder<'s> {
    text: &'s str,
    outline: Outline,
    /// The open scopes, innermost last: the part of the text it covers, and the names.
    scopes: Vec<(Option<Span>, FxHashMap<String, usize>)>,
    by_place: FxHashMap<Span, usize>,
    /// What each use means.
    meanings: FxHashMap<Span, usize>,
    /// The definition that new ones belong to.
    pub container: Option<usize>,
    reported: FxHashSet<Span>,
}

impl<'s> Builder<'s> {
    /// No definitions yet.
    pub fn new(source: &'s Source) -> Self {
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
    pub fn excerpt(&self, span: Span) -> String {
        const LONGEST: usize = 120;
        let words: Vec<&str> = self.text.get(span.range()).unwrap_or("").split_whitespace().collect();
        let line = words.join(" ");
        if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST - 1).chain(['…']).collect() }
    }

    /// Opens a scope, which covers a part of the text.
    pub fn enter(&mut self, covers: Span) {
        self.scopes.push((Some(covers), FxHashMap::default()));
    }

    /// Closes the innermost scope.
    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    /// Adds a definition that no scope holds, such as a field or a rule.
    pub fn add(&mut self, name: &str, kind: Kind, span: Span, extent: Span, detail: String) -> usize {
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
    pub fn declare(&mut self, name: &str, kind: Kind, span: Span, extent: Span, detail: String) -> usize {
        let number = self.add(name, kind, span, extent, detail);
        self.bring(name, number, span);
        number
    }

    /// Makes a definition known in the innermost scope.
    pub fn bring(&mut self, name: &str, number: usize, span: Span) {
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
    pub fn hide(&mut self, name: &str, number: usize) {
        let (_, names) = self.scopes.last_mut().expect("the outermost scope is never left");
        names.insert(name.to_owned(), number);
    }

    /// What a name means here.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.scopes.iter().rev().find_map(|(_, names)| names.get(name)).copied()
    }

    /// Whether a name means something else here than in the outermost scopes.
    pub fn is_local(&self, name: &str, outer: usize) -> bool {
        let inner = self.scopes.iter().skip(outer);
        inner.rev().any(|(_, names)| names.contains_key(name))
    }

    /// What a name means in the outermost scope.
    pub fn find_global(&self, name: &str) -> Option<usize> {
        self.scopes[0].1.get(name).copied()
    }

    /// Notes the use of a name.
    pub fn refer(&mut self, name: &str, span: Span) -> Option<usize> {
        let found = self.find(name);
        match found {
            Some(number) => self.note_use(number, span),
            None => self.note_unknown(name, span),
        }
        found
    }

    /// Notes the use of a known definition.
    pub fn note_use(&mut self, number: usize, span: Span) {
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

    /// Notes a name that is not defined, once for each place.
    pub fn note_unknown(&mut self, name: &str, span: Span) {
        if self.reported.insert(span) {
            self.outline.unknown.push((name.to_owned(), span));
        }
    }

    /// Notes a name that is declared again, once for each place.
    pub fn note_duplicate(&mut self, span: Span) {
        if self.reported.insert(span) {
            self.outline.duplicates.push(span);
        }
    }

    /// Notes a name in a part of the text that is not read.
    pub fn note_unread(&mut self, name: &str, span: Span) {
        self.outline.unread.push((name.to_owned(), span));
    }

    /// What the use at a place means.
    pub fn meaning(&self, span: Span) -> Option<usize> {
        self.meanings.get(&span).copied()
    }

    /// The definition whose name is at a place.
    pub fn defined_at(&self, span: Span) -> Option<usize> {
        self.by_place.get(&span).copied()
    }

    /// A definition, to change it.
    pub fn definition(&mut self, number: usize) -> &mut Definition {
        &mut self.outline.definitions[number]
    }

    /// All definitions so far.
    pub fn definitions(&self) -> &[Definition] {
        &self.outline.definitions
    }

    pub(crate) fn finish(&mut self) -> Outline {
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
