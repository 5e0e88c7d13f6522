//! Statements and expressions as text: as the user wrote them if that is available, otherwise (after macros, in
//! unfolded loops) in Promela notation.

use std::fmt::Write;

use quotient_ir::{Source, Span};
use quotient_temporal::PathQuantifier;

use super::flow::{Action, Element, ElementId, ElementKind, Flow};
use crate::syntax::tree::{Binary, ChannelQuery, Domain, Expression, ExpressionKind, Member, Name, Unary};

/// The longest text of a statement.
const LONGEST: usize = 100;
/// Deeper nested expressions are abbreviated.
const DEPTH_LIMIT: usize = 40;

/// The text of a statement.
pub(super) fn statement_text(source: &Source, element: &Element) -> String {
    let written = source.text.get(element.span.range()).unwrap_or("");
    let written = written.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match &element.kind {
        ElementKind::End => "-end-".to_owned(),
        ElementKind::Else => "else".to_owned(),
        ElementKind::Goto(_) => plain_or(written, "goto"),
        ElementKind::DeterministicStep => {
            if written.starts_with("d_step") {
                written
            } else {
                "d_step".to_owned()
            }
        }
        ElementKind::Basic(Action::Skip) => plain_or(written, "skip"),
        ElementKind::Basic(Action::Print { .. }) => plain_or(written, "printf"),
        ElementKind::Basic(action) => {
            let text = action_text(action);
            if same_letters(&written, &text) { written } else { text }
        }
        _ => written,
    };
    shortened(text)
}

fn shortened(text: String) -> String {
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(std::iter::once('…')).collect()
}

/// A short statement as it was written.
fn plain_or(written: String, otherwise: &str) -> String {
    let is_plain = !written.is_empty() && !written.contains(['{', ';']);
    if is_plain { written } else { otherwise.to_owned() }
}

/// Whether two texts differ only in blanks, brackets, commas and the notation of increments and decrements.
fn same_letters(written: &str, text: &str) -> bool {
    let letters = |text: &str| -> String { text.chars().filter(|it| !" (),".contains(*it)).collect() };
    let written = letters(written);
    let step = written.strip_suffix("++").map(|it| format!("{it}={it}+1"));
    let step = step.or_else(|| written.strip_suffix("--").map(|it| format!("{it}={it}-1")));
    let text = letters(text);
    written == text || step.is_some_and(|step| step == text)
}

fn action_text(action: &Action) -> String {
    match action {
        Action::Skip => "skip".to_owned(),
        Action::Print { .. } => "printf".to_owned(),
        Action::Condition(condition) => expression_text(condition),
        Action::Assert(condition) => format!("assert({})", expression_text(condition)),
        Action::Assign { target, value } => format!("{} = {}", expression_text(target), expression_text(value)),
        Action::SetPriority { process, priority } => {
            format!("set_priority({}, {})", expression_text(process), expression_text(priority))
        }
        Action::Send { channel, sorted, arguments } => {
            let sign = if *sorted { "!!" } else { "!" };
            format!("{}{sign}{}", expression_text(channel), list(arguments, 0))
        }
        Action::Receive { channel, random, copying, arguments } => {
            let sign = if *random { "??" } else { "?" };
            let arguments = list(arguments, 0);
            let arguments = if *copying { format!("<{arguments}>") } else { arguments };
            format!("{}{sign}{arguments}", expression_text(channel))
        }
    }
}

/// The text of an expression.
pub(super) fn expression_text(expression: &Expression) -> String {
    text(expression, 0)
}

/// A condition as it was written, if that can be seen.
pub(super) fn condition_text(source: &Source, condition: &Expression) -> String {
    let written = source.text.get(condition.span.range()).unwrap_or("");
    let written = written.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = expression_text(condition);
    let written = without_brackets(&written);
    shortened(if same_letters(written, &text) { written.to_owned() } else { text })
}

/// A text without brackets around all of it.
fn without_brackets(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    for letter in inner.chars() {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text;
        }
    }
    inner.trim()
}

fn list(expressions: &[Expression], depth: usize) -> String {
    expressions.iter().map(|it| text(it, depth)).collect::<Vec<_>>().join(",")
}

fn reference(parts: &[Member], depth: usize) -> String {
    let part = |part: &Member| match &part.index {
        Some(index) => format!("{}[{}]", part.name.text, text(index, depth)),
        None => part.name.text.to_string(),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(".")
}

fn text(expression: &Expression, depth: usize) -> String {
    if depth > DEPTH_LIMIT {
        return "…".to_owned();
    }
    let inner = |it: &Expression| text(it, depth + 1);
    // Nested operators get parentheses, so that precedence need not be known.
    let operand = |it: &Expression| match it.kind {
        ExpressionKind::Binary(..) => format!("({})", text(it, depth + 1)),
        _ => text(it, depth + 1),
    };
    let of_process = |proctype: &Name, process: &Option<Box<Expression>>| match process {
        Some(process) => format!("{}[{}]", proctype.text, inner(process)),
        None => proctype.text.to_string(),
    };
    match &expression.kind {
        ExpressionKind::Number(value) => value.to_string(),
        ExpressionKind::Truth(value) => value.to_string(),
        ExpressionKind::Text(text) => format!("\"{text}\""),
        ExpressionKind::Reference(parts) => reference(parts, depth + 1),
        ExpressionKind::Unary(operator, it) => format!("{}{}", unary(*operator), operand(it)),
        ExpressionKind::Binary(operator, left, right) => {
            format!("{} {} {}", operand(left), binary(*operator), operand(right))
        }
        ExpressionKind::Conditional(condition, then, otherwise) => {
            format!("({} -> {} : {})", inner(condition), inner(then), inner(otherwise))
        }
        ExpressionKind::ChannelQuery(query, channel) => format!("{}({})", query_name(*query), inner(channel)),
        ExpressionKind::Poll { channel, random, arguments } => {
            let sign = if *random { "??" } else { "?" };
            format!("{}{sign}[{}]", inner(channel), list(arguments, depth + 1))
        }
        ExpressionKind::Run { proctype, arguments, .. } => {
            format!("run {}({})", proctype.text, list(arguments, depth + 1))
        }
        ExpressionKind::Eval(it) => format!("eval({})", inner(it)),
        ExpressionKind::Enabled(it) => format!("enabled({})", inner(it)),
        ExpressionKind::PcValue(it) => format!("pc_value({})", inner(it)),
        ExpressionKind::Priority(it) => format!("get_priority({})", inner(it)),
        ExpressionKind::AtLabel { proctype, process, label } => {
            format!("{}@{}", of_process(proctype, process), label.text)
        }
        ExpressionKind::RemoteVariable { proctype, process, variable } => {
            let mut text = of_process(proctype, process);
            let _ = write!(text, ":{}", reference(variable, depth + 1));
            text
        }
        ExpressionKind::Timeout => "timeout".to_owned(),
        ExpressionKind::NonProgress => "np_".to_owned(),
        ExpressionKind::Path(PathQuantifier::All, it) => format!("A {}", operand(it)),
        ExpressionKind::Path(PathQuantifier::Some, it) => format!("E {}", operand(it)),
        ExpressionKind::Quantified(it) => {
            let word = if it.universal { "forall" } else { "exists" };
            let domain = match &it.domain {
                Domain::Processes(name) => name.text.to_string(),
                Domain::Range(low, high) => format!("{} .. {}", inner(low), inner(high)),
            };
            format!("{word} {} : {domain} : {}", it.variable.text, inner(&it.body))
        }
    }
}

fn unary(operator: Unary) -> &'static str {
    match operator {
        Unary::Not => "!",
        Unary::Negate => "-",
        Unary::Complement => "~",
        Unary::Always => "[] ",
        Unary::Eventually => "<> ",
        Unary::Next => "X ",
        Unary::Yesterday => "Y ",
        Unary::WeakYesterday => "Z ",
        Unary::Once => "O ",
        Unary::Historically => "H ",
    }
}

fn binary(operator: Binary) -> &'static str {
    match operator {
        Binary::Or => "||",
        Binary::And => "&&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::BitAnd => "&",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessOrEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterOrEqual => ">=",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::Implies => "->",
        Binary::Equivalent => "<->",
        Binary::Until => "U",
        Binary::WeakUntil => "W",
        Binary::Release => "V",
        Binary::StrongRelease => "M",
        Binary::Since => "S",
        Binary::Triggered => "T",
    }
}

fn query_name(query: ChannelQuery) -> &'static str {
    match query {
        ChannelQuery::Length => "len",
        ChannelQuery::Full => "full",
        ChannelQuery::NotFull => "nfull",
        ChannelQuery::Empty => "empty",
        ChannelQuery::NotEmpty => "nempty",
    }
}

/// The line of a statement.
pub(super) fn statement_line(source: &Source, flow: &Flow, element: ElementId) -> usize {
    source.line_and_column(statement_span(flow, element).start).0
}

/// The location of a statement; a process ends where its text does.
pub(super) fn statement_span(flow: &Flow, element: ElementId) -> Span {
    match flow.elements[element].kind {
        ElementKind::End => flow.closing,
        _ => flow.elements[element].span,
    }
}
