//! The preprocessor: `#define`, `#undef`, conditionals and `#include`, on tokens, so that every token keeps its
//! position in the user's text. A token from a macro has the position of the use of the macro. The uses of macros are
//! recorded, so that messages can show the definition.
//!
//! A value from the command line (`-D`) overrides the definitions of that macro in the text, and must be used by the
//! text.
//!
//! Included files are parts of the source: no file is read here.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use quotient_ir::{Diagnostic, Source, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::token::{Token, TokenKind, tokenize};

/// The maximum number of tokens from macros; a text that produces more expands without end.
const TOKEN_LIMIT: usize = 2_000_000;
/// The deepest nesting of includes.
const INCLUDE_LIMIT: usize = 32;
/// The deepest nesting of macros in each other's arguments.
const NESTING_LIMIT: usize = 100;
/// The most macros that are listed where one is unknown.
const LISTED_MACROS: usize = 12;

/// Tokens still to be read, how many were, and the macro they come from.
type Frame = (Rc<[Token]>, usize, Option<Rc<str>>);

#[derive(Clone, Debug)]
struct Macro {
    parameters: Option<Vec<Rc<str>>>,
    /// Whether the last parameter takes all further arguments.
    variadic: bool,
    body: Rc<[Token]>,
    /// Where it is defined, if that is in the text.
    definition: Option<Span>,
}

/// The value of a macro that is set from outside.
#[derive(Clone, Debug)]
struct Setting {
    value: String,
    /// Whether the text uses the macro, tests it or defines it itself.
    used: bool,
}

/// The macros that a text uses: by the place of each use, the name and the place of its definition.
pub(crate) type Uses = FxHashMap<Span, (Rc<str>, Span)>;

/// The definition of a macro in the text.
#[derive(Clone, Debug)]
pub(crate) struct MacroText {
    pub(crate) name: Rc<str>,
    pub(crate) span: Span,
    pub(crate) parameters: Vec<(Rc<str>, Span)>,
    /// Where its body mentions which parameter.
    pub(crate) mentions: Vec<(usize, Span)>,
    pub(crate) extent: Span,
    /// Whether it stands for a number.
    pub(crate) is_number: bool,
}

/// What a text says about macros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Macros {
    pub(crate) texts: Vec<MacroText>,
    /// Each use, and the definition it refers to.
    pub(crate) uses: Vec<(Span, Span)>,
    /// All words of all files, also of what is left out.
    pub(crate) words: Vec<(Rc<str>, Span)>,
}

/// What is left of a text.
pub(crate) struct Preprocessed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) uses: Uses,
    pub(crate) macros: Macros,
}

/// Reads a text and gives the tokens that are left of it, and the macros.
pub(crate) fn preprocess(
    source: &Source,
    definitions: &[(String, String)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        source,
        macros: FxHashMap::default(),
        settings: FxHashMap::default(),
        known: FxHashSet::default(),
        output: Vec::new(),
        uses: Uses::default(),
        found: Macros::default(),
        diagnostics,
        exhausted: false,
    };
    // The macros defined by the C preprocessor that SPIN calls, as far as models use them.
    for (name, value) in [("__STDC__", "1"), ("__GNUC__", "12"), ("__STDC_VERSION__", "199901")] {
        preprocessor.predefine(name, value);
    }
    for (name, value) in definitions {
        preprocessor.set(name.trim(), value.trim());
    }
    let (name, part) = source.file_at(0);
    let end = preprocessor.file(part, &folder_of(name), 0);
    preprocessor.report_unused_settings();
    let mut output = preprocessor.output;
    output.push(end);
    Preprocessed { tokens: output, uses: preprocessor.uses, macros: preprocessor.found }
}

fn folder_of(name: &str) -> PathBuf {
    Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The parts of a source that are files of their own, with their names.
fn files(source: &Source) -> impl Iterator<Item = (&str, Range<usize>)> {
    std::iter::once(0).chain(source.files.iter().map(|(start, _)| *start)).map(|start| source.file_at(start))
}

/// The files that those of a source include and that are not among them, as seen from the folder of the first.
pub(crate) fn included_files(source: &Source) -> Vec<Vec<String>> {
    let home = folder_of(&source.name);
    let mut wanted: Vec<Vec<String>> = Vec::new();
    for (name, part) in files(source) {
        let tokens = tokenize(&source.text[part], &mut Vec::new());
        for window in tokens.windows(3) {
            let [hash, word, Token { kind: TokenKind::Text(file), .. }] = window else { continue };
            if !(hash.is("#") && hash.starts_line && word.is_name("include")) {
                continue;
            }
            let path = folder_of(name).join(&**file);
            let path_from_home = path.strip_prefix(&home).unwrap_or(&path).to_string_lossy();
            // Models are written with slashes, and their files have the same names on every system.
            let path_from_home =
                if cfg!(windows) { path_from_home.replace('\\', "/") } else { path_from_home.into_owned() };
            if !files(source).any(|(known, _)| Path::new(known) == path)
                && !wanted.contains(&vec![path_from_home.clone()])
            {
                wanted.push(vec![path_from_home]);
            }
        }
    }
    wanted
}

/// The macros that stand for numbers, and all tokens of a text.
pub(crate) fn named_numbers(source: &Source) -> (Vec<(String, i64)>, Vec<&str>) {
    let tokens = tokenize(&source.text, &mut Vec::new());
    let mut numbers: Vec<(String, i64)> = Vec::new();
    for window in tokens.windows(5) {
        let [hash, word, Token { kind: TokenKind::Name(name), .. }, Token { kind: TokenKind::Number(value), .. }, next] =
            window
        else {
            continue;
        };
        let is_definition = hash.is("#") && hash.starts_line && word.is_name("define");
        let is_whole = next.starts_line || next.kind == TokenKind::End;
        if is_definition && is_whole && !numbers.iter().any(|(known, _)| **known == **name) {
            numbers.push((name.to_string(), *value));
        }
    }
    let texts = tokens.iter().map(|token| &source.text[token.span.start as usize..token.span.end as usize]);
    (numbers, texts.collect())
}

struct Preprocessor<'d> {
    source: &'d Source,
    macros: FxHashMap<Rc<str>, Macro>,
    /// What is set from outside, by name.
    settings: FxHashMap<Rc<str>, Setting>,
    /// The macros without parameters that the text defines or tests.
    known: FxHashSet<Rc<str>>,
    output: Vec<Token>,
    uses: Uses,
    found: Macros,
    diagnostics: &'d mut Vec<Diagnostic>,
    exhausted: bool,
}

/// One `#if` that is open: where, whether this branch is read, whether one was.
struct Conditional {
    span: Span,
    active: bool,
    taken: bool,
    seen_else: bool,
}

impl Preprocessor<'_> {
    fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.diagnostics.push(Diagnostic::error(code, message, span));
    }

    /// Defines a macro that the text does not define. Returns the error in its value.
    fn predefine(&mut self, name: &str, value: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut body = tokenize(value, &mut found);
        body.pop();
        body.iter_mut().for_each(|token| token.written = Span::default());
        let entry = Macro { parameters: None, variadic: false, body: body.into(), definition: None };
        self.macros.insert(name.into(), entry);
        found
    }

    /// Sets a macro from outside; of several values the last counts.
    fn set(&mut self, name: &str, value: &str) {
        for problem in self.predefine(name, value) {
            let message = format!("`{value}` is not a value for the macro `{name}`: {}", problem.message);
            let error = Diagnostic::error("bad-constant-value", message, Span::default());
            self.diagnostics.push(Diagnostic { primary: None, help: problem.help, ..error });
        }
        self.settings.insert(name.into(), Setting { value: value.to_owned(), used: false });
    }

    /// Notes that the text uses a macro, which may be set from outside.
    fn note_use(&mut self, name: &str) {
        if let Some(setting) = self.settings.get_mut(name) {
            setting.used = true;
        }
    }

    /// Notes that the text defines or tests a macro without parameters.
    fn note_known(&mut self, name: &Rc<str>) {
        self.note_use(name);
        self.known.insert(name.clone());
    }

    /// Notes where a macro is tested or removed.
    fn note_test(&mut self, name: &str, span: Span) {
        if let Some(definition) = self.macros.get(name).and_then(|entry| entry.definition) {
            self.found.uses.push((span, definition));
        }
    }

    /// Notes the macros of a condition. One that is not evaluated counts as well: what is tested there is a switch
    /// of the model, whatever the other switches are.
    fn note_condition(&mut self, arguments: &[Token]) {
        for token in arguments {
            if let TokenKind::Name(name) = &token.kind
                && &**name != "defined"
            {
                self.note_known(name);
                self.note_test(name, token.span);
            }
        }
    }

    /// Reports values from the command line that have no effect. If the text could not be parsed, their uses may be
    /// missing.
    fn report_unused_settings(&mut self) {
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return;
        }
        let mut unused: Vec<Rc<str>> =
            self.settings.iter().filter(|(_, setting)| !setting.used).map(|(name, _)| name.clone()).collect();
        unused.sort_unstable();
        let mut known: Vec<&str> = self.known.iter().map(|it| &**it).collect();
        known.sort_unstable();
        for name in unused {
            let is_name = |token: &Token| token.is_name(&name);
            let is_written = files(self.source).any(|(_, part)| tokens_of(self.source, part).0.iter().any(is_name));
            // Most names of one letter are one letter from each other.
            let likely = known.iter().copied().filter(|it| it.len() > 1 || it.eq_ignore_ascii_case(&name));
            let help = if is_written {
                format!("`{name}` stands only in parts of the text that are left out, or in macros that are not used")
            } else if let Some(likely) = quotient_kit::similar(&name, likely) {
                format!("did you mean `{likely}`?")
            } else if known.is_empty() {
                "it has no macros that can be set".into()
            } else {
                let shown = known[..known.len().min(LISTED_MACROS)].join(", ");
                let more = if known.len() > LISTED_MACROS { ", …" } else { "" };
                format!("its macros are {shown}{more}")
            };
            let message = format!("the model has no constant `{name}` to set");
            let error = Diagnostic::error("unknown-constant", message, Span::default());
            self.diagnostics.push(Diagnostic { primary: None, ..error }.with_help(help));
        }
    }

    /// Notes that a definition in the text has no effect, since the macro is set from outside.
    fn note_overridden(&mut self, name: &str, what: &str, span: Span) {
        let Some(setting) = self.settings.get_mut(name) else { return };
        setting.used = true;
        let message = format!("`-D {name}={}` overrides {what}", setting.value);
        self.diagnostics.push(
            Diagnostic::warning("overridden-definition", message, span)
                .with_help(format!("put it between `#ifndef {name}` and `#endif` if it is meant as a default")),
        );
    }

    /// Reads a file: a part of the source. Gives the token at its end.
    fn file(&mut self, part: Range<usize>, folder: &Path, depth: usize) -> Token {
        let (tokens, found) = tokens_of(self.source, part);
        for token in &tokens {
            if let TokenKind::Name(name) = &token.kind {
                self.found.words.push((name.clone(), token.span));
            }
        }
        // Errors in single tokens matter only where the tokens are used.
        let mut wrong: FxHashMap<u32, Diagnostic> = FxHashMap::default();
        for diagnostic in found {
            match &diagnostic.primary {
                // Nothing comes after a comment without end.
                Some(primary) if diagnostic.code != "unterminated-comment" => {
                    wrong.insert(primary.span.start, diagnostic);
                }
                _ => self.diagnostics.push(diagnostic),
            }
        }
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut position = 0;
        let mut text: Vec<Token> = Vec::new();
        while tokens[position].kind != TokenKind::End {
            let token = &tokens[position];
            let active = conditionals.iter().all(|conditional| conditional.active);
            if !(token.starts_line && token.is("#")) {
                if active {
                    if let Some(diagnostic) = wrong.remove(&token.span.start) {
                        self.diagnostics.push(diagnostic);
                    }
                    text.push(token.clone());
                }
                position += 1;
                continue;
            }
            let mut end = position + 1;
            while tokens[end].kind != TokenKind::End && !tokens[end].starts_line {
                end += 1;
            }
            let line = &tokens[position + 1..end];
            let hash = token.span;
            position = end;
            let Some(TokenKind::Name(directive)) = line.first().map(|token| token.kind.clone()) else {
                // `# 12 "file"` is a line marker of other preprocessors.
                continue;
            };
            let span = hash.to(line[0].span);
            let arguments = &line[1..];
            match &*directive {
                "if" | "ifdef" | "ifndef" => {
                    self.note_condition(arguments);
                    let holds = active
                        && match &*directive {
                            "if" => self.condition(arguments, span),
                            "ifdef" => self.is_defined(arguments, span),
                            _ => !self.is_defined(arguments, span),
                        };
                    conditionals.push(Conditional { span, active: holds, taken: holds || !active, seen_else: false });
                }
                "elif" | "else" => {
                    if &*directive == "elif" {
                        self.note_condition(arguments);
                    }
                    let holds = match conditionals.last() {
                        None => {
                            self.error("stray-directive", format!("`#{directive}` without `#if`"), span);
                            continue;
                        }
                        Some(open) if open.seen_else => {
                            self.error("stray-directive", format!("`#{directive}` after `#else`"), span);
                            false
                        }
                        Some(open) => !open.taken && (&*directive == "else" || self.condition(arguments, span)),
                    };
                    let open = conditionals.last_mut().expect("it was there a moment ago");
                    open.active = holds;
                    open.taken |= holds;
                    open.seen_else |= &*directive == "else";
                }
                "endif" => {
                    if conditionals.pop().is_none() {
                        self.error("stray-directive", "`#endif` without `#if`", span);
                    }
                }
                _ if !active => {}
                "define" => {
                    self.flush(&mut text);
                    for token in line {
                        if let Some(diagnostic) = wrong.remove(&token.span.start) {
                            self.diagnostics.push(diagnostic);
                        }
                    }
                    self.define(arguments, span);
                }
                "undef" => {
                    self.flush(&mut text);
                    match arguments {
                        [Token { kind: TokenKind::Name(name), span: name_span, .. }, ..] => {
                            if self.settings.contains_key(name) {
                                self.note_overridden(name, "this `#undef`", span.to(*name_span));
                            } else {
                                self.note_test(name, *name_span);
                                self.macros.remove(name);
                            }
                        }
                        _ => self.error("bad-directive", "`#undef` needs the name of a macro", span),
                    }
                }
                "include" => {
                    self.flush(&mut text);
                    self.include(arguments, span, folder, depth);
                }
                "error" => {
                    let all = arguments.iter().map(|token| token.span).reduce(Span::to);
                    let text = all.and_then(|span| self.source.text.get(span.range()));
                    let message = match text {
                        Some(text) => format!("the text says that this is an error: {text}"),
                        None => "the text says that this is an error".to_owned(),
                    };
                    self.error("error-directive", message, span);
                }
                "line" | "pragma" | "warning" | "ident" => {}
                _ => {
                    let message = format!("`#{directive}` is no directive of the preprocessor");
                    self.diagnostics.push(Diagnostic::error("bad-directive", message, span).with_help(
                        "there are #define, #undef, #if, #ifdef, #ifndef, #elif, #else, #endif and #include",
                    ));
                }
            }
        }
        for open in conditionals {
            self.error("unterminated-if", "this conditional is not closed by `#endif`", open.span);
        }
        self.flush(&mut text);
        tokens[position].clone()
    }

    fn define(&mut self, arguments: &[Token], span: Span) {
        let [Token { kind: TokenKind::Name(name), span: name_span, .. }, rest @ ..] = arguments else {
            return self.error("bad-directive", "`#define` needs a name", span);
        };
        // Only a bracket that touches the name makes a macro with parameters.
        let mut variadic = false;
        let mut places: Vec<(Rc<str>, Span)> = Vec::new();
        let (parameters, body) = match rest {
            [open, rest @ ..] if open.is("(") && open.span.start == name_span.end => {
                let Some(close) = rest.iter().position(|token| token.is(")")) else {
                    return self.error("bad-directive", "the parameters of this macro have no `)`", span);
                };
                let mut parameters: Vec<Rc<str>> = Vec::new();
                for (position, token) in rest[..close].iter().enumerate() {
                    match &token.kind {
                        TokenKind::Name(name) => {
                            places.push((name.clone(), token.span));
                            parameters.push(name.clone());
                        }
                        TokenKind::Symbol(",") => {}
                        TokenKind::Symbol("...") if position + 1 == close => {
                            variadic = true;
                            // `name...` gives the rest a name of its own.
                            if position == 0 || rest[position - 1].is(",") {
                                parameters.push("__VA_ARGS__".into());
                            }
                        }
                        _ => self.error("bad-directive", "a parameter of a macro is a name", token.span),
                    }
                }
                (Some(parameters), &rest[close + 1..])
            }
            _ => (None, rest),
        };
        if parameters.is_none() {
            self.note_known(name);
        }
        let mentions = body.iter().filter_map(|token| {
            let position = places.iter().position(|(parameter, _)| token.is_name(parameter))?;
            Some((position, token.span))
        });
        let text = MacroText {
            name: name.clone(),
            span: *name_span,
            mentions: mentions.collect(),
            parameters: places,
            extent: body.last().map_or(*name_span, |last| name_span.to(last.span)),
            is_number: matches!(body, [Token { kind: TokenKind::Number(_), .. }]) && parameters.is_none(),
        };
        self.found.texts.push(text);
        if self.settings.contains_key(name) {
            return self.define_set(name, parameters.is_some(), body, span.to(*name_span));
        }
        let definition = Some(*name_span);
        self.macros.insert(name.clone(), Macro { parameters, variadic, body: body.into(), definition });
    }

    /// A definition of a macro that is set from outside.
    fn define_set(&mut self, name: &Rc<str>, has_parameters: bool, body: &[Token], span: Span) {
        if has_parameters {
            self.note_use(name);
            let message = format!("the macro `{name}` has parameters and cannot be set");
            self.diagnostics.push(
                Diagnostic::error("bad-constant-value", message, span)
                    .with_help("only macros without parameters can be set with `-D`"),
            );
            return;
        }
        let set = self.macros.get(name).map_or(&[][..], |entry| &entry.body);
        if !set.iter().map(|token| &token.kind).eq(body.iter().map(|token| &token.kind)) {
            self.note_overridden(name, &format!("this definition of `{name}`"), span);
        }
    }

    fn include(&mut self, arguments: &[Token], span: Span, folder: &Path, depth: usize) {
        let Some(TokenKind::Text(name)) = arguments.first().map(|token| token.kind.clone()) else {
            return self.error("bad-directive", "`#include` needs the name of a file in quotes", span);
        };
        let span = span.to(arguments[0].span);
        if depth >= INCLUDE_LIMIT {
            return self.error("include-too-deep", "files include each other without end", span);
        }
        let path = folder.join(&*name);
        let Some((name, part)) = files(self.source).find(|(known, _)| Path::new(known) == path) else {
            let message = format!("there is no file `{}`", path.display());
            self.diagnostics.push(
                Diagnostic::error("no-such-file", message, span)
                    .with_help("included files are looked for beside the file that includes them"),
            );
            return;
        };
        self.file(part, &folder_of(name), depth + 1);
    }

    fn is_defined(&mut self, arguments: &[Token], span: Span) -> bool {
        match arguments {
            [Token { kind: TokenKind::Name(name), .. }, ..] => self.macros.contains_key(name),
            _ => {
                self.error("bad-directive", "the name of a macro is missing here", span);
                false
            }
        }
    }

    /// The value of the condition of `#if`.
    fn condition(&mut self, arguments: &[Token], span: Span) -> bool {
        let mut resolved = Vec::new();
        let mut position = 0;
        while position < arguments.len() {
            if !arguments[position].is_name("defined") {
                resolved.push(arguments[position].clone());
                position += 1;
                continue;
            }
            let rest = &arguments[position + 1..];
            let (name, used) = match rest {
                [open, name, close, ..] if open.is("(") && close.is(")") => (Some(name), 3),
                [name, ..] => (Some(name), 1),
                [] => (None, 0),
            };
            let defined =
                matches!(name, Some(Token { kind: TokenKind::Name(name), .. }) if self.macros.contains_key(name));
            resolved.push(Token { kind: TokenKind::Number(i64::from(defined)), ..arguments[position].clone() });
            position += 1 + used;
        }
        let tokens = self.expand(&resolved, 0);
        let mut condition = Condition { tokens: &tokens, position: 0, depth: 0 };
        match condition.choice() {
            Some(value) if condition.position == tokens.len() => value != 0,
            _ => {
                self.error("bad-directive", "the condition of this `#if` cannot be understood", span);
                false
            }
        }
    }

    /// Expands the text collected so far, with the macros defined so far.
    fn flush(&mut self, text: &mut Vec<Token>) {
        let expanded = self.expand(text, 0);
        self.output.extend(expanded);
        text.clear();
    }

    /// Says once that macros make too much.
    fn exhaust(&mut self, span: Span) {
        if !std::mem::replace(&mut self.exhausted, true) {
            let message = format!("the macros of this text make more than {TOKEN_LIMIT} tokens");
            self.error("too-many-tokens", message, span);
        }
    }

    /// Expands all macros in some tokens.
    fn expand(&mut self, tokens: &[Token], nesting: usize) -> Vec<Token> {
        let mut output = Vec::with_capacity(tokens.len());
        // What is still to be read, innermost expansion last, with the macro it comes from.
        let mut frames: Vec<Frame> = vec![(tokens.into(), 0, None)];
        while let Some((list, position, _)) = frames.last_mut() {
            let Some(token) = list.get(*position).cloned() else {
                frames.pop();
                continue;
            };
            *position += 1;
            let TokenKind::Name(name) = &token.kind else {
                output.push(token);
                continue;
            };
            if &**name == "__LINE__" && !self.macros.contains_key(name) {
                let (line, _) = self.source.line_and_column(token.span.start);
                output.push(Token { kind: TokenKind::Number(line as i64), ..token });
                continue;
            }
            if &**name == "__FILE__" && !self.macros.contains_key(name) {
                output.push(Token { kind: TokenKind::Text(self.source.file_at(token.span.start).0.into()), ..token });
                continue;
            }
            let busy = frames.iter().any(|(_, _, origin)| origin.as_ref() == Some(name));
            let Some(entry) = self.macros.get(name).filter(|_| !busy).cloned() else {
                output.push(token);
                continue;
            };
            if self.exhausted || output.len() + self.output.len() > TOKEN_LIMIT {
                self.exhaust(token.span);
                return output;
            }
            let body = match &entry.parameters {
                None => entry.body.to_vec(),
                Some(parameters) => {
                    let Some(mut arguments) = read_arguments(&mut frames) else {
                        output.push(token);
                        continue;
                    };
                    let wanted = parameters.len();
                    if entry.variadic {
                        join_arguments(&mut arguments, wanted);
                    }
                    let given = if wanted == 0 && arguments.len() == 1 && arguments[0].is_empty() {
                        0
                    } else {
                        arguments.len()
                    };
                    if given != wanted {
                        let message = format!("macro `{name}` takes {wanted} arguments, {given} are given");
                        let mut diagnostic = Diagnostic::error("wrong-arity", message, token.span);
                        if let Some(definition) = entry.definition {
                            diagnostic = diagnostic.with_secondary(definition, "defined here");
                        }
                        self.diagnostics.push(diagnostic);
                        // A placeholder value, to avoid further errors.
                        output.push(Token { kind: TokenKind::Number(0), ..token });
                        continue;
                    }
                    if nesting >= NESTING_LIMIT {
                        self.error("too-deep", "macros are nested too deeply here", token.span);
                        return output;
                    }
                    let expanded: Vec<Vec<Token>> =
                        arguments.iter().map(|argument| self.expand(argument, nesting + 1)).collect();
                    let longest = expanded.iter().chain(&arguments).map(Vec::len).max().unwrap_or(0);
                    if longest.saturating_mul(entry.body.len()) > TOKEN_LIMIT {
                        self.exhaust(token.span);
                        return output;
                    }
                    substitute(&entry.body, parameters, &arguments, &expanded)
                }
            };
            match entry.definition {
                Some(definition) => {
                    self.found.uses.push((token.written, definition));
                    self.uses.entry(token.span).or_insert_with(|| (name.clone(), definition));
                }
                None => self.note_use(name),
            }
            let body: Vec<Token> = paste(body)
                .into_iter()
                .enumerate()
                .map(|(position, it)| {
                    let starts_line = position == 0 && token.starts_line;
                    Token { span: token.span, starts_line, ..it }
                })
                .collect();
            frames.push((body.into(), 0, Some(name.clone())));
        }
        output
    }
}

/// The tokens of a part of a source, and the errors in them.
fn tokens_of(source: &Source, part: Range<usize>) -> (Vec<Token>, Vec<Diagnostic>) {
    let start = part.start;
    let moved = |span: Span| Span::new(start + span.start as usize, start + span.end as usize);
    let mut found = Vec::new();
    let mut tokens = tokenize(&source.text[part], &mut found);
    for token in &mut tokens {
        token.span = moved(token.span);
        token.written = token.span;
    }
    for label in found.iter_mut().filter_map(|it| it.primary.as_mut()) {
        label.span = moved(label.span);
    }
    (tokens, found)
}

/// Makes one argument of those that a macro with `...` has too many; an absent one is empty.
fn join_arguments(arguments: &mut Vec<Vec<Token>>, wanted: usize) {
    if arguments.len() + 1 == wanted {
        arguments.push(Vec::new());
    }
    while arguments.len() > wanted.max(1) {
        let further = arguments.pop().expect("there are several");
        let last = arguments.last_mut().expect("there are several");
        if let Some(first) = further.first() {
            last.push(Token { kind: TokenKind::Symbol(","), ..first.clone() });
        }
        last.extend(further);
    }
}

/// Reads the arguments of a macro, if an opening bracket comes next.
fn read_arguments(frames: &mut [Frame]) -> Option<Vec<Vec<Token>>> {
    let open = frames.iter().rev().find_map(|(list, position, _)| list.get(*position))?;
    if !open.is("(") {
        return None;
    }
    let saved: Vec<usize> = frames.iter().map(|frame| frame.1).collect();
    let mut next = || {
        for (list, position, _) in frames.iter_mut().rev() {
            if let Some(token) = list.get(*position) {
                *position += 1;
                return Some(token.clone());
            }
        }
        None
    };
    next();
    let mut arguments = vec![Vec::new()];
    let mut depth = 0;
    while let Some(token) = next() {
        match token.kind {
            TokenKind::Symbol(")") if depth == 0 => return Some(arguments),
            TokenKind::Symbol(",") if depth == 0 => {
                arguments.push(Vec::new());
                continue;
            }
            TokenKind::Symbol("(" | "[" | "{") => depth += 1,
            TokenKind::Symbol(")" | "]" | "}") => depth -= 1,
            _ => {}
        }
        arguments.last_mut().expect("there is always one").push(token);
    }
    for (frame, position) in frames.iter_mut().zip(saved) {
        frame.1 = position;
    }
    None
}

/// The body of a macro with its arguments substituted. Next to `##` and after `#` an argument is used as written.
fn substitute(body: &[Token], parameters: &[Rc<str>], plain: &[Vec<Token>], expanded: &[Vec<Token>]) -> Vec<Token> {
    let mut output = Vec::new();
    let mut position = 0;
    while position < body.len() {
        let token = &body[position];
        let which = |token: &Token| match &token.kind {
            TokenKind::Name(name) => parameters.iter().position(|parameter| parameter == name),
            _ => None,
        };
        if token.is("#")
            && let Some(parameter) = body.get(position + 1).and_then(which)
        {
            let text: Vec<String> = plain[parameter].iter().map(|it| it.describe().replace('`', "")).collect();
            output.push(Token { kind: TokenKind::Text(text.join(" ").into()), ..token.clone() });
            position += 2;
            continue;
        }
        match which(token) {
            Some(parameter) => {
                let pasted = body.get(position + 1).is_some_and(|next| next.is("##"))
                    || position > 0 && body[position - 1].is("##");
                output.extend(if pasted { &plain[parameter] } else { &expanded[parameter] }.iter().cloned());
            }
            None => output.push(token.clone()),
        }
        position += 1;
    }
    output
}

/// Joins the tokens around each `##`.
fn paste(tokens: Vec<Token>) -> Vec<Token> {
    let mut output: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if !token.is("##") || output.is_empty() || tokens.peek().is_none() {
            output.push(token);
            continue;
        }
        let left = output.pop().expect("it is not empty");
        let right = tokens.next().expect("it was there a moment ago");
        let text = |token: &Token| match &token.kind {
            TokenKind::Name(name) => name.to_string(),
            TokenKind::Number(number) => number.to_string(),
            TokenKind::Symbol(symbol) => (*symbol).to_owned(),
            _ => String::new(),
        };
        let joined = format!("{}{}", text(&left), text(&right));
        let mut ignored = Vec::new();
        let made = tokenize(&joined, &mut ignored);
        let made = made.into_iter().filter(|it| it.kind != TokenKind::End);
        output.extend(made.map(|it| Token { written: Span::default(), ..it }));
    }
    output
}

/// The condition of an `#if`, by precedence climbing. Names that are not macros are zero.
struct Condition<'t> {
    tokens: &'t [Token],
    position: usize,
    depth: usize,
}

impl Condition<'_> {
    fn at(&self, symbol: &str) -> bool {
        self.tokens.get(self.position).is_some_and(|token| token.is(symbol))
    }

    fn expect(&mut self, symbol: &str) -> Option<()> {
        let found = self.at(symbol);
        self.position += usize::from(found);
        found.then_some(())
    }

    /// A condition with `?` and `:`.
    fn choice(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 200 {
            return None;
        }
        let mut value = self.value(0)?;
        if self.at("?") {
            self.position += 1;
            let then = self.choice()?;
            self.expect(":")?;
            let otherwise = self.choice()?;
            value = if value != 0 { then } else { otherwise };
        }
        self.depth -= 1;
        Some(value)
    }

    fn value(&mut self, least: u8) -> Option<i64> {
        let mut left = self.operand()?;
        while let Some(Token { kind: TokenKind::Symbol(symbol), .. }) = self.tokens.get(self.position) {
            let level = match *symbol {
                "||" => 1,
                "&&" => 2,
                "|" => 3,
                "^" => 4,
                "&" => 5,
                "==" | "!=" => 6,
                "<" | ">" | "<=" | ">=" => 7,
                "<<" | ">>" => 8,
                "+" | "-" => 9,
                "*" | "/" | "%" => 10,
                _ => break,
            };
            if level < least {
                break;
            }
            self.position += 1;
            let right = self.value(level + 1)?;
            let shift = u32::try_from(right).ok();
            left = match *symbol {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.checked_shl(shift?)?,
                ">>" => left.checked_shr(shift?)?,
                "+" => left.checked_add(right)?,
                "-" => left.checked_sub(right)?,
                "*" => left.checked_mul(right)?,
                // What is not evaluated may divide by zero.
                "/" => left.checked_div(right).unwrap_or(0),
                _ => left.checked_rem(right).unwrap_or(0),
            };
        }
        Some(left)
    }

    fn operand(&mut self) -> Option<i64> {
        let mut signs = Vec::new();
        loop {
            let token = self.tokens.get(self.position)?;
            self.position += 1;
            let value = match &token.kind {
                TokenKind::Symbol(sign @ ("!" | "-" | "+" | "~")) => {
                    signs.push(*sign);
                    continue;
                }
                TokenKind::Symbol("!!") => {
                    signs.extend(["!", "!"]);
                    continue;
                }
                TokenKind::Number(value) => *value,
                TokenKind::Name(_) => 0,
                TokenKind::Symbol("(") => {
                    let value = self.choice()?;
                    self.expect(")")?;
                    value
                }
                _ => return None,
            };
            return signs.iter().rev().try_fold(value, |value, sign| match *sign {
                "!" => Some(i64::from(value == 0)),
                "-" => value.checked_neg(),
                "~" => Some(!value),
                _ => Some(value),
            });
        }
    }
}
