//! Terms and values as text.

use std::fmt::Write;

use super::steps::Label;
use super::symbols::Symbols;
use super::terms::{Pattern, Question, Term, Value};
use crate::syntax::tree::{Check, Operator, Unary};

/// The longest text of a term.
const LONGEST: usize = 80;

/// The text of a term.
pub(super) fn term(symbols: &Symbols<'_>, term: &Term) -> String {
    let mut text = String::new();
    write_term(symbols, term, &mut text);
    if text.chars().count() > LONGEST {
        text = text.chars().take(LONGEST - 1).chain(['…']).collect();
    }
    text
}

fn write_term(symbols: &Symbols<'_>, term: &Term, text: &mut String) {
    // What is behind this is not shown.
    if text.len() > 4 * LONGEST {
        return;
    }
    let inner = |term: &Term, text: &mut String| match term {
        Term::Stop | Term::Skip | Term::Done | Term::Reference(..) | Term::Running(_) => {
            write_term(symbols, term, text);
        }
        _ => {
            text.push('(');
            write_term(symbols, term, text);
            text.push(')');
        }
    };
    match term {
        Term::Stop => text.push_str("Stop"),
        Term::Skip => text.push_str("Skip"),
        Term::Done => text.push_str("terminated"),
        Term::Running(_) => text.push('…'),
        Term::Reference(definition, arguments, _) => {
            let name = symbols.definition_name(*definition);
            let _ = write!(text, "{name}({})", list(symbols, arguments, ", "));
        }
        Term::Prefix { event, next, .. } => {
            match event {
                Some((name, arguments)) => text.push_str(&dotted(symbols, name, arguments)),
                None => text.push_str("tau"),
            }
            text.push_str(" -> ");
            write_term(symbols, next, text);
        }
        Term::Output { channel, indices, values, next, .. } => {
            let name = channel_name(symbols, *channel, indices);
            let _ = write!(text, "{name}!{} -> ", list(symbols, values, "."));
            write_term(symbols, next, text);
        }
        Term::Input { channel, indices, patterns, next, .. } => {
            let name = channel_name(symbols, *channel, indices);
            let patterns = patterns.iter().map(|pattern| match pattern {
                Pattern::Bind(name) => name.to_string(),
                Pattern::Match(value) => self::value(symbols, value),
            });
            let _ = write!(text, "{name}?{} -> ", patterns.collect::<Vec<_>>().join("."));
            write_term(symbols, next, text);
        }
        Term::Guard(condition, next) => {
            let _ = write!(text, "[{}] ", value(symbols, condition));
            write_term(symbols, next, text);
        }
        Term::If(check, condition, then, otherwise, _) => {
            let word = match check {
                Check::Separate => "if",
                Check::Atomic => "ifa",
                Check::Blocking => "ifb",
            };
            let _ = write!(text, "{word} ({}) {{ ", value(symbols, condition));
            write_term(symbols, then, text);
            text.push_str(" } else { ");
            write_term(symbols, otherwise, text);
            text.push_str(" }");
        }
        Term::Case(branches, ..) => {
            text.push_str("case { ");
            for (condition, branch) in branches {
                let _ = write!(text, "{}: ", value(symbols, condition));
                write_term(symbols, branch, text);
                text.push(' ');
            }
            text.push('}');
        }
        Term::Several(operator, parts) => write_parts(operator.symbol(), parts, text, &inner),
        Term::Parallel(parts, _) => write_parts(Operator::Parallel.symbol(), parts, text, &inner),
        Term::Indexed(operator, _, body, _) => {
            let _ = write!(text, "{} … @ ", operator.symbol());
            inner(body, text);
        }
        Term::Sequence(first, second) => {
            inner(first, text);
            text.push_str("; ");
            inner(second, text);
        }
        Term::Interrupt(first, second) => {
            inner(first, text);
            text.push_str(" interrupt ");
            inner(second, text);
        }
        Term::Hide(hidden, _) => {
            inner(hidden, text);
            text.push_str(" \\ {…}");
        }
        Term::Atomic(body) => {
            text.push_str("atomic { ");
            write_term(symbols, body, text);
            text.push_str(" }");
        }
    }
}

fn write_parts(symbol: &str, parts: &[std::rc::Rc<Term>], text: &mut String, inner: &impl Fn(&Term, &mut String)) {
    for (position, part) in parts.iter().enumerate() {
        if position > 0 {
            let _ = write!(text, " {symbol} ");
        }
        inner(part, text);
    }
}

fn list(symbols: &Symbols<'_>, values: &[Value], separator: &str) -> String {
    values.iter().map(|it| value(symbols, it)).collect::<Vec<_>>().join(separator)
}

/// An event: `e.1.2`.
pub(super) fn dotted(symbols: &Symbols<'_>, name: &str, arguments: &[Value]) -> String {
    let parts = arguments.iter().map(|argument| format!(".{}", value(symbols, argument)));
    format!("{name}{}", parts.collect::<String>())
}

fn channel_name(symbols: &Symbols<'_>, channel: usize, indices: &[Value]) -> String {
    let indices = indices.iter().map(|index| format!("[{}]", value(symbols, index)));
    format!("{}{}", symbols.channels[channel].name, indices.collect::<String>())
}

/// The text of a value.
pub(super) fn value(symbols: &Symbols<'_>, it: &Value) -> String {
    let operand = |it: &Value| match it {
        Value::Binary(..) => format!("({})", value(symbols, it)),
        _ => value(symbols, it),
    };
    let indexed = |indices: &[Value]| indices.iter().map(|it| format!("[{}]", value(symbols, it))).collect::<String>();
    match it {
        Value::Number(number) => number.to_string(),
        Value::Truth(truth) => truth.to_string(),
        Value::Bound(name) => name.to_string(),
        Value::Register(number) => format!("#{}", number + 1),
        Value::Captured(_) => "…".into(),
        Value::Global(variable, indices, _) => format!("{}{}", symbols.variables[*variable].name, indexed(indices)),
        Value::Local(_, indices) => format!("local{}", indexed(indices)),
        Value::Unary(Unary::Not, inner) => format!("!{}", operand(inner)),
        Value::Unary(Unary::Minus, inner) => format!("-{}", operand(inner)),
        Value::Binary(operator, left, right) => format!("{} {} {}", operand(left), operator.symbol(), operand(right)),
        Value::Queue(question, channel, indices) => {
            let name = match question {
                Question::Count => "ccount",
                Question::Capacity => "csize",
                Question::IsFull => "cfull",
                Question::IsEmpty => "cempty",
                Question::First(_) => "cpeek",
            };
            format!("call({name}, {})", channel_name(symbols, *channel, indices))
        }
    }
}

/// The text of a label; `source` is what the text of the model says there.
pub(super) fn label(symbols: &Symbols<'_>, label: &Label, source: &str) -> String {
    let is_constant = |values: &[Value]| values.iter().all(|value| value.constant().is_some());
    match label {
        Label::Event { name, arguments, .. } => match is_constant(arguments) || source.is_empty() {
            true => dotted(symbols, name, arguments),
            false => source.split_whitespace().collect::<Vec<_>>().join(" "),
        },
        Label::Queue { channel, indices, values, sends } => {
            let name = channel_name(symbols, *channel, indices);
            let sign = if *sends { "!" } else { "?" };
            match is_constant(values) {
                true => format!("{name}{sign}{}", list(symbols, values, ".")),
                false => format!("{name}{sign}"),
            }
        }
        Label::Passed { channel, indices, values } | Label::Send { channel, indices, values } => {
            let name = channel_name(symbols, *channel, indices);
            match is_constant(values) {
                true => format!("{name}.{}", list(symbols, values, ".")),
                false => name,
            }
        }
        Label::Receive { channel, indices, .. } => format!("{}?", channel_name(symbols, *channel, indices)),
        Label::Internal => "tau".into(),
        Label::Termination => "terminate".into(),
    }
}

impl Symbols<'_> {
    /// The name of a defined process.
    pub(super) fn definition_name(&self, definition: usize) -> &str {
        &self.tree.definitions[definition].name.text
    }
}
