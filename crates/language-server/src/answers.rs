//! Answers about a text: diagnostics, names, hover, completion, symbols, lenses, inlays.

use std::collections::HashMap;
use std::path::Path;

use lsp_types::{
    CodeLens, Command, CompletionItem, CompletionItemKind, DiagnosticRelatedInformation, DiagnosticSeverity,
    DocumentHighlight, DocumentHighlightKind, DocumentSymbol, Hover, HoverContents, InlayHint, InlayHintKind,
    InlayHintLabel, InlayHintTooltip, Location, MarkupContent, MarkupKind, NumberOrString, Position, Range, SymbolKind,
    TextEdit, Uri, WorkspaceEdit,
};
use quotient::ir::{Diagnostic, Model, PropertyId, Severity, Source, Span, TypeId, TypeKind};
use quotient::outline::{Definition, Kind, RenameRefusal, keywords, rename};
use quotient::{Language, names};
use serde_json::json;

use crate::document::{Document, Facts, Names, Role};
use crate::text::Encoding;

/// The most values that a hover lists.
const LISTED_VALUES: usize = 12;

/// A message of a front end as the editor shows it.
pub(crate) fn diagnostic(
    document: &Document,
    source: &Source,
    found: &Diagnostic,
    encoding: Encoding,
) -> lsp_types::Diagnostic {
    let span = found.primary.as_ref().map(|label| label.span);
    let mut message = found.message.clone();
    if let Some(name) = span.filter(|span| source.file_at(span.start).1.start > 0).map(|it| source.short_name(it.start))
    {
        message = format!("in `{name}`: {message}");
    }
    if let Some(label) = found.primary.as_ref().filter(|label| !label.text.is_empty()) {
        message.push_str(&format!("\n{}", label.text));
    }
    if let Some(help) = &found.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let elsewhere = found.primary.iter().filter(|label| source.file_at(label.span.start).1.start > 0);
    let related = elsewhere.chain(&found.secondary).filter_map(|label| {
        let text = if label.text.is_empty() { "here".to_owned() } else { label.text.clone() };
        let location = document.location(source, label.span, encoding)?;
        Some(DiagnosticRelatedInformation { location, message: text })
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    lsp_types::Diagnostic {
        range: span.map_or_else(Range::default, |span| document.range(source, span, encoding)),
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(found.code.to_owned())),
        source: Some("quotient".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}

/// What is named at a place: the definitions, and the part of the text that names them.
fn named<'n>(
    document: &Document,
    names: &'n Names,
    position: Position,
    encoding: Encoding,
) -> (Vec<&'n Definition>, Span) {
    let offset = document.offset(position, encoding);
    let found: Vec<&Definition> =
        names.outline.at(offset).into_iter().map(|number| &names.outline.definitions[number]).collect();
    let holds = |span: &&Span| span.start <= offset && offset <= span.end;
    let place = found.first().and_then(|it| it.uses.iter().chain([&it.span]).find(holds)).copied();
    (found, place.unwrap_or_default())
}

/// The same, or in a text with syntax errors what the word could mean: what is around it may have been left out.
fn meant<'n>(
    document: &Document,
    names: &'n Names,
    position: Position,
    encoding: Encoding,
) -> (Vec<&'n Definition>, Span) {
    let (found, place) = named(document, names, position, encoding);
    if !found.is_empty() || !names.is_wrong {
        return (found, place);
    }
    let offset = document.offset(position, encoding);
    let (before, behind) = document.text.content().split_at(offset as usize);
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let start = before.trim_end_matches(is_part).len();
    let end = offset as usize + (behind.len() - behind.trim_start_matches(is_part).len());
    let word = &document.text.content()[start..end];
    // Of several scopes the smallest is the innermost.
    let visible = names.outline.visible(offset).filter(|it| it.name == word);
    let innermost = visible.min_by_key(|it| it.scope.map_or(u32::MAX, |scope| scope.end - scope.start));
    (innermost.into_iter().collect(), Span::new(start, end))
}

pub(crate) fn definition(document: &Document, names: &Names, position: Position, encoding: Encoding) -> Vec<Location> {
    let (found, _) = meant(document, names, position, encoding);
    found.iter().filter_map(|it| document.location(&names.source, it.span, encoding)).collect()
}

pub(crate) fn references(
    document: &Document,
    names: &Names,
    position: Position,
    with_declaration: bool,
    encoding: Encoding,
) -> Vec<Location> {
    let (found, _) = named(document, names, position, encoding);
    let spans = found.iter().flat_map(|it| {
        let own = if with_declaration { Some(it.span) } else { None };
        own.into_iter().chain(it.uses.iter().copied())
    });
    spans.filter_map(|span| document.location(&names.source, span, encoding)).collect()
}

pub(crate) fn highlights(
    document: &Document,
    names: &Names,
    position: Position,
    encoding: Encoding,
) -> Vec<DocumentHighlight> {
    let places = references(document, names, position, true, encoding);
    let own = places.into_iter().filter(|it| it.uri == document.uri);
    own.map(|it| DocumentHighlight { range: it.range, kind: Some(DocumentHighlightKind::TEXT) }).collect()
}

/// Why a name cannot be changed, in words.
fn refusal_text(document: &Document, source: &Source, refusal: &RenameRefusal) -> String {
    let at = |span: Span| {
        let (line, _) = source.line_and_column(span.start.min(source.text.len() as u32));
        format!("line {line} of `{}`", source.short_name(span.start))
    };
    match refusal {
        RenameRefusal::Nothing => "nothing with a name is here".to_owned(),
        RenameRefusal::NotAName(word) => {
            let is_keyword = keywords(document.language).iter().any(|it| it.eq_ignore_ascii_case(word));
            let why = if is_keyword { "is a keyword" } else { "is not a name" };
            format!("`{word}` {why} of {}", language_name(document.language))
        }
        RenameRefusal::Fixed(reason) => format!("this cannot be renamed: {reason}"),
        RenameRefusal::Ambiguous => "this means different things in different uses of a macro".to_owned(),
        RenameRefusal::Unread(span) => {
            format!("the name also stands in text that is not read: {}", at(*span))
        }
        RenameRefusal::Captures(span) => {
            format!("the new name would be confused with another one: {}", at(*span))
        }
    }
}

/// The part of the text that can be renamed at a place.
pub(crate) fn renamable(
    document: &Document,
    names: &Names,
    position: Position,
    encoding: Encoding,
) -> Result<Range, String> {
    let (found, place) = named(document, names, position, encoding);
    let refusal = match &found[..] {
        [] => RenameRefusal::Nothing,
        [one] => match one.fixed {
            Some(reason) => RenameRefusal::Fixed(reason),
            None => return Ok(document.text.range(place, encoding)),
        },
        _ => RenameRefusal::Ambiguous,
    };
    Err(refusal_text(document, &names.source, &refusal))
}

#[expect(clippy::mutable_key_type, reason = "an address does not change; the type of the protocol has a cache in it")]
pub(crate) fn renamed(
    document: &Document,
    names: &Names,
    position: Position,
    name: &str,
    encoding: Encoding,
) -> Result<WorkspaceEdit, String> {
    let offset = document.offset(position, encoding);
    let places = rename(&names.source, document.language, offset, name)
        .map_err(|refusal| refusal_text(document, &names.source, &refusal))?;
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for place in places {
        let Some(Location { uri, range }) = document.location(&names.source, place, encoding) else {
            return Err("a file that has this name cannot be edited".to_owned());
        };
        changes.entry(uri).or_default().push(TextEdit { range, new_text: name.to_owned() });
    }
    Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}

fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Constant | Kind::Macro => SymbolKind::CONSTANT,
        Kind::Type => SymbolKind::ENUM,
        Kind::Member => SymbolKind::ENUM_MEMBER,
        Kind::Field => SymbolKind::FIELD,
        Kind::Variable | Kind::Local | Kind::Parameter | Kind::Alias => SymbolKind::VARIABLE,
        Kind::Function | Kind::Operation => SymbolKind::FUNCTION,
        Kind::Process => SymbolKind::CLASS,
        Kind::State | Kind::Label => SymbolKind::KEY,
        Kind::Channel => SymbolKind::INTERFACE,
        Kind::Event | Kind::Rule | Kind::Start => SymbolKind::EVENT,
        Kind::Machine => SymbolKind::MODULE,
        Kind::Property => SymbolKind::BOOLEAN,
    }
}

/// The definitions of this file, those of parts below those they belong to.
pub(crate) fn symbols(document: &Document, names: &Names, encoding: Encoding) -> Vec<DocumentSymbol> {
    let definitions = &names.outline.definitions;
    let is_shown = |it: &Definition| {
        !matches!(it.kind, Kind::Parameter | Kind::Alias) && names.source.file_at(it.span.start).1.start == 0
    };
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); definitions.len()];
    let mut roots = Vec::new();
    for (number, definition) in definitions.iter().enumerate().filter(|(_, it)| is_shown(it)) {
        match definition.container.filter(|container| is_shown(&definitions[*container])) {
            Some(container) => children[container].push(number),
            None => roots.push(number),
        }
    }
    roots.iter().map(|root| symbol(document, definitions, &children, *root, encoding, 0)).collect()
}

fn symbol(
    document: &Document,
    definitions: &[Definition],
    children: &[Vec<usize>],
    number: usize,
    encoding: Encoding,
    depth: usize,
) -> DocumentSymbol {
    let definition = &definitions[number];
    // The name is inside of the whole, and parts are inside, too.
    let inner = if depth < 8 { &children[number][..] } else { &[] };
    let whole = inner.iter().fold(definition.extent.to(definition.span), |whole, it| whole.to(definitions[*it].extent));
    let parts = inner.iter().map(|it| symbol(document, definitions, children, *it, encoding, depth + 1));
    let parts: Vec<DocumentSymbol> = parts.collect();
    #[expect(deprecated, reason = "the field has to be there")]
    DocumentSymbol {
        name: if definition.name.is_empty() { definition.kind.noun().to_owned() } else { definition.name.clone() },
        detail: Some(definition.kind.noun().to_owned()),
        kind: symbol_kind(definition.kind),
        tags: None,
        deprecated: None,
        range: document.text.range(whole, encoding),
        selection_range: document.text.range(definition.span, encoding),
        children: (!parts.is_empty()).then_some(parts),
    }
}

pub(crate) fn language_name(language: Language) -> &'static str {
    match language {
        Language::Murphi => "Murphi",
        Language::B => "B",
        Language::Promela => "Promela",
        Language::Dve => "DVE",
        Language::Csp => "CSP#",
        Language::Pnml => "PNML",
    }
}

pub(crate) fn hover(document: &Document, names: &Names, position: Position, encoding: Encoding) -> Option<Hover> {
    let (found, place) = meant(document, names, position, encoding);
    let facts = document.facts.as_deref();
    let sections: Vec<String> = found.iter().map(|it| described(document, it, facts)).collect();
    let value = sections.join("\n\n---\n\n");
    (!sections.is_empty()).then(|| Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(document.text.range(place, encoding)),
    })
}

fn described(document: &Document, definition: &Definition, facts: Option<&Facts>) -> String {
    let detail = if definition.detail.is_empty() { &definition.name } else { &definition.detail };
    let mut text = format!("```{}\n{detail}\n```\n{}", document.language.identifier(), definition.kind.noun());
    let Some(facts) = facts else { return text };
    if let Some(model) = &facts.model {
        let ty = match definition.kind {
            Kind::Type => model.ir().types.iter_enumerated().find(|(_, ty)| ty.name.as_ref() == Some(&definition.name)),
            Kind::Variable | Kind::Channel => {
                let variable = model.ir().variables.iter().find(|it| it.name == definition.name);
                variable.map(|it| (it.ty, &model.ir().types[it.ty]))
            }
            _ => None,
        };
        if let Some((ty, _)) = ty {
            text.push_str(&format!(" · {}", domain(model.ir(), ty)));
        }
    }
    for role in document.roles.iter().filter(|role| is_about(role, definition)) {
        text.push_str(&format!("\n\n{}", orbit(definition, role, facts)));
    }
    text
}

/// The values of a type in words.
fn domain(model: &Model, ty: TypeId) -> String {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } if model.is_scalar(*index) => {
            let size = model.domain(*index).size();
            format!("{size} elements, each: {}", domain(model, *element))
        }
        TypeKind::Record { fields } => format!("a record of {} fields", fields.len()),
        TypeKind::Multiset { .. } => "a multiset".to_owned(),
        _ if model.is_scalar(ty) => {
            let all = model.domain(ty);
            let shown: Vec<String> = all.values().take(LISTED_VALUES).map(|it| model.value_name(ty, it)).collect();
            let more = if all.size() > LISTED_VALUES as u64 { ", …" } else { "" };
            let noun = if all.size() == 1 { "value" } else { "values" };
            match &model.types[ty].kind {
                TypeKind::Range { low, high } => format!("{} {noun}: {low} to {high}", all.size()),
                TypeKind::Integer => "integers".to_owned(),
                _ => format!("{} {noun}: {}{more}", all.size(), shown.join(", ")),
            }
        }
        _ => "a structure".to_owned(),
    }
}

fn is_about(role: &Role, definition: &Definition) -> bool {
    match definition.kind {
        Kind::Type => role.name == definition.name,
        // The processes of a type are the elements of an array of its name.
        Kind::Variable | Kind::Channel | Kind::Process => {
            role.variables.iter().any(|(name, _)| *name == definition.name)
        }
        _ => false,
    }
}

/// What can be permuted, in words.
fn orbit(definition: &Definition, role: &Role, facts: &Facts) -> String {
    let is_whole = role.is_free || role.variables.contains(&(definition.name.clone(), true));
    if is_whole {
        return format!("interchangeable: order {}", role.order());
    }
    let mut text = match &role.classes[..] {
        [] if role.others > 0 => format!("interchangeable only together, or in turn: {} values", role.size),
        [] => format!("not interchangeable: {} values", role.size),
        classes => {
            let classes: Vec<String> = classes.iter().map(|class| format!("{{{}}}", class.join(", "))).collect();
            format!("interchangeable among {}: order {}", classes.join(" and among "), role.order())
        }
    };
    for (span, reason) in role.limits.iter().take(3) {
        let (line, _) = facts.source.line_and_column(span.start);
        let is_here = span.end > 0 && facts.source.file_at(span.start).1.start == 0;
        let place = if is_here { format!(" (line {line})") } else { String::new() };
        text.push_str(&format!("\n* {reason}{place}"));
    }
    text
}

pub(crate) fn inlays(document: &Document, names: &Names, within: Range, encoding: Encoding) -> Vec<InlayHint> {
    let mut hints: Vec<InlayHint> = Vec::new();
    let moved: Vec<&Role> = document.roles.iter().filter(|it| it.classes.iter().any(|class| class.len() > 1)).collect();
    let mut add = |definition: &Definition, role: &Role| {
        // Behind a declaration, but not behind a whole process.
        let end = if definition.kind == Kind::Process { definition.span.end } else { definition.extent.end };
        let position = document.text.position(end.max(definition.span.end) as usize, encoding);
        let is_here = names.source.file_at(definition.span.start).1.start == 0;
        let is_wanted = within.start <= position && position <= within.end;
        if is_here && is_wanted && !hints.iter().any(|hint| hint.position == position) {
            let tooltip = format!("they can be exchanged without notice: order {}", role.order());
            hints.push(InlayHint {
                position,
                label: InlayHintLabel::String("interchangeable".to_owned()),
                kind: Some(InlayHintKind::TYPE),
                text_edits: None,
                tooltip: Some(InlayHintTooltip::String(tooltip)),
                padding_left: Some(true),
                padding_right: None,
                data: None,
            });
        }
    };
    for role in moved {
        let definitions = &names.outline.definitions;
        let of_type = definitions.iter().find(|it| it.kind == Kind::Type && it.name == role.name);
        match of_type {
            Some(definition) if role.is_free => add(definition, role),
            Some(_) => {}
            // Values without a type of their own number the elements of arrays.
            None => {
                let is_whole = |it: &Definition| role.variables.contains(&(it.name.clone(), true));
                definitions.iter().filter(|it| is_about(role, it) && is_whole(it)).for_each(|it| add(it, role));
            }
        }
    }
    hints.sort_by_key(|hint| hint.position);
    hints
}

fn completion_kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Constant | Kind::Macro => CompletionItemKind::CONSTANT,
        Kind::Type => CompletionItemKind::ENUM,
        Kind::Member => CompletionItemKind::ENUM_MEMBER,
        Kind::Field => CompletionItemKind::FIELD,
        Kind::Function | Kind::Operation => CompletionItemKind::FUNCTION,
        Kind::Process => CompletionItemKind::CLASS,
        Kind::Machine => CompletionItemKind::MODULE,
        Kind::Event | Kind::Rule | Kind::Start => CompletionItemKind::EVENT,
        _ => CompletionItemKind::VARIABLE,
    }
}

/// The names that can stand at a place, and the keywords; behind a dot, the fields and states.
pub(crate) fn completions(
    document: &Document,
    names: &Names,
    position: Position,
    encoding: Encoding,
) -> Vec<CompletionItem> {
    let offset = document.offset(position, encoding);
    let before = &document.text.content()[..offset as usize];
    let word = before.trim_end_matches(|it: char| it.is_ascii_alphanumeric() || it == '_');
    let behind_dot = word.ends_with('.') && !word.ends_with("..");
    let item = |definition: &Definition| CompletionItem {
        label: definition.name.clone(),
        kind: Some(completion_kind(definition.kind)),
        detail: Some(format!("{}: {}", definition.kind.noun(), definition.detail)),
        ..CompletionItem::default()
    };
    let good = document.last_good.as_deref();
    let mut items: Vec<CompletionItem> = Vec::new();
    if behind_dot {
        let all = names.outline.definitions.iter().chain(good.iter().flat_map(|it| &it.definitions));
        items.extend(all.filter(|it| matches!(it.kind, Kind::Field | Kind::State)).map(item));
    } else {
        items.extend(names.outline.visible(offset).filter(|it| it.kind != Kind::State).map(item));
        // The text being typed may be read wrongly; names outside of scopes are still known.
        let known =
            good.iter().flat_map(|it| &it.definitions).filter(|it| it.scope.is_none() && it.kind != Kind::Field);
        items.extend(known.filter(|it| !matches!(it.kind, Kind::Rule | Kind::Start | Kind::Property)).map(item));
        items.extend(keywords(document.language).into_iter().map(|word| CompletionItem {
            label: word.to_owned(),
            kind: Some(CompletionItemKind::KEYWORD),
            ..CompletionItem::default()
        }));
    }
    items.sort_by(|one, other| one.label.cmp(&other.label));
    items.dedup_by(|one, other| one.label == other.label);
    items
}

/// The command that a lens or an editor calls.
fn command(title: String, name: &str, document: &Document, property: Option<&str>) -> Command {
    let arguments = std::iter::once(json!(document.uri)).chain(property.map(|it| json!(it)));
    Command { title, command: name.to_owned(), arguments: Some(arguments.collect()) }
}

/// What verdicts are about all properties.
pub(crate) const WHOLE: &str = "";

/// The commands above the text and its properties. `explorer` is the command that shows states.
pub(crate) fn lenses(document: &Document, explorer: &str, encoding: Encoding) -> Vec<CodeLens> {
    let lens = |range, command| CodeLens { range, command: Some(command), data: None };
    let top = Range::default();
    let last = document.verdicts.get(WHOLE).map_or(String::new(), |verdict| format!(": {verdict}"));
    let mut lenses = vec![
        lens(top, command(format!("check{last}"), "quotient.check", document, None)),
        lens(top, command("detect".to_owned(), "quotient.detect", document, None)),
        lens(top, command("explore".to_owned(), explorer, document, None)),
    ];
    let facts = document.facts.as_deref().filter(|facts| facts.version == document.version);
    let Some((facts, model)) = facts.and_then(|facts| Some((facts, facts.model.as_ref()?))) else { return lenses };
    for (property, entry) in model.ir().properties.iter_enumerated().filter(|(_, it)| it.kind.is_claim()) {
        if facts.source.file_at(entry.span.start).1.start > 0 {
            continue;
        }
        let name = names::property_name(model.ir(), property);
        let title = match document.verdicts.get(&name) {
            Some(verdict) => format!("check: {verdict}"),
            None => "check".to_owned(),
        };
        let start = document.text.position(entry.span.start as usize, encoding);
        lenses.push(lens(Range { start, end: start }, command(title, "quotient.check", document, Some(&name))));
    }
    lenses
}

/// The place of a property in a document.
pub(crate) fn property_range(document: &Document, model: &Model, property: PropertyId, encoding: Encoding) -> Range {
    document.range(&model.source, model.properties[property].span, encoding)
}

/// The edits that format a document, from the first that changes to the last; none if it is not Murphi or has syntax errors.
pub(crate) fn formatted(document: &Document, encoding: Encoding) -> Option<Vec<TextEdit>> {
    if document.language != Language::Murphi {
        return None;
    }
    let content = document.text.content();
    let new_text = quotient::format_murphi(content)?;
    if content == new_text {
        return Some(Vec::new());
    }
    // The same beginnings and ends stay, so that the cursor does.
    let same = content.bytes().zip(new_text.bytes()).take_while(|(one, other)| one == other).count();
    let same = (0..=same).rev().find(|it| content.is_char_boundary(*it) && new_text.is_char_boundary(*it))?;
    let behind = content[same..].bytes().rev().zip(new_text[same..].bytes().rev());
    let behind = behind.take_while(|(one, other)| one == other).count();
    let is_boundary =
        |it: &usize| content.is_char_boundary(content.len() - it) && new_text.is_char_boundary(new_text.len() - it);
    let behind = (0..=behind).rev().find(is_boundary)?;
    let range = document.text.range(Span::new(same, content.len() - behind), encoding);
    Some(vec![TextEdit { range, new_text: new_text[same..new_text.len() - behind].to_owned() }])
}

/// The folder of a file, for messages.
pub(crate) fn short_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
