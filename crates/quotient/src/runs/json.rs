//! JSON texts whose values know their positions, so that a message about one can show it, and a writer of such values
//! for human readers.

use std::fmt::Write;

use quotient_ir::Span;

use super::{Misfit, fault_at};

/// Deeper nesting is refused: reading recurses.
const MOST_NESTING: usize = 64;
/// The maximum length of a value on one line.
const LINE: usize = 110;

/// A value and its position.
#[derive(Clone, Debug)]
pub(super) struct Json {
    pub(super) span: Span,
    pub(super) kind: JsonKind,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(super) enum JsonKind {
    Null,
    Boolean(bool),
    /// As it was written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) value: Json,
}

/// Values are equal regardless of position.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (JsonKind::Null, JsonKind::Null) => true,
            (JsonKind::Boolean(one), JsonKind::Boolean(other)) => one == other,
            (JsonKind::Number(one), JsonKind::Number(other)) | (JsonKind::Text(one), JsonKind::Text(other)) => {
                one == other
            }
            (JsonKind::List(one), JsonKind::List(other)) => one == other,
            (JsonKind::Object(one), JsonKind::Object(other)) => {
                one.len() == other.len()
                    && one.iter().all(|member| {
                        other
                            .iter()
                            .any(|counterpart| member.key == counterpart.key && member.value == counterpart.value)
                    })
            }
            _ => false,
        }
    }
}

impl Json {
    pub(super) fn new(kind: JsonKind) -> Self {
        Self { span: Span::default(), kind }
    }
    pub(super) fn null() -> Self {
        Self::new(JsonKind::Null)
    }
    pub(super) fn boolean(value: bool) -> Self {
        Self::new(JsonKind::Boolean(value))
    }
    pub(super) fn number(value: impl ToString) -> Self {
        Self::new(JsonKind::Number(value.to_string()))
    }
    pub(super) fn text(value: impl Into<String>) -> Self {
        Self::new(JsonKind::Text(value.into()))
    }
    pub(super) fn list(values: impl IntoIterator<Item = Self>) -> Self {
        Self::new(JsonKind::List(values.into_iter().collect()))
    }
    pub(super) fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        let member = |(key, value): (K, Self)| Member { key: key.into(), key_span: Span::default(), value };
        Self::new(JsonKind::Object(members.into_iter().map(member).collect()))
    }

    /// Reads a text.
    pub(super) fn parse(text: &str) -> Result<Self, Misfit> {
        let mut parser = Parser { text, at: 0, nesting: 0 };
        parser.skip_space();
        let value = parser.value()?;
        parser.skip_space();
        if parser.at < text.len() {
            return Err(parser.complaint("there is more after the end of the value"));
        }
        Ok(value)
    }

    /// The members, if it is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let JsonKind::Object(members) = &self.kind { Some(members) } else { None }
    }
    /// The value of a key, if it is an object and has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.members()?.iter().find(|member| member.key == key).map(|member| &member.value)
    }
    /// The text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        if let JsonKind::Text(text) = &self.kind { Some(text) } else { None }
    }
    /// The number, if it is an integer that fits.
    pub(super) fn as_integer(&self) -> Option<i64> {
        if let JsonKind::Number(text) = &self.kind { text.parse().ok() } else { None }
    }
    /// The items, if it is a list.
    pub(super) fn items(&self) -> Option<&[Self]> {
        if let JsonKind::List(items) = &self.kind { Some(items) } else { None }
    }
    /// Whether it is `null`.
    pub(super) fn is_null(&self) -> bool {
        matches!(self.kind, JsonKind::Null)
    }

    /// The text of the value on one line.
    pub(super) fn on_one_line(&self) -> String {
        let mut text = String::new();
        self.write_line(&mut text);
        text
    }

    fn write_line(&self, text: &mut String) {
        match &self.kind {
            JsonKind::Null => text.push_str("null"),
            JsonKind::Boolean(value) => text.push_str(if *value { "true" } else { "false" }),
            JsonKind::Number(value) => text.push_str(value),
            JsonKind::Text(value) => text.push_str(&quoted(value)),
            JsonKind::List(values) => {
                text.push('[');
                for (position, value) in values.iter().enumerate() {
                    text.push_str(if position == 0 { "" } else { ", " });
                    value.write_line(text);
                }
                text.push(']');
            }
            JsonKind::Object(members) => {
                text.push('{');
                for (position, member) in members.iter().enumerate() {
                    text.push_str(if position == 0 { "" } else { ", " });
                    text.push_str(&quoted(&member.key));
                    text.push_str(": ");
                    member.value.write_line(text);
                }
                text.push('}');
            }
        }
    }

    /// The text of the value, on several lines if it is long; all lines but the first are indented by this much.
    pub(super) fn on_lines(&self, indent: usize) -> String {
        let line = self.on_one_line();
        if indent + line.len() <= LINE {
            return line;
        }
        let (open, close, items): (char, char, Vec<String>) = match &self.kind {
            JsonKind::List(values) => ('[', ']', values.iter().map(|value| value.on_lines(indent + 2)).collect()),
            JsonKind::Object(members) => {
                let item = |member: &Member| format!("{}: {}", quoted(&member.key), member.value.on_lines(indent + 2));
                ('{', '}', members.iter().map(item).collect())
            }
            _ => return line,
        };
        let mut text = String::from(open);
        for (position, item) in items.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\n{:indent$}  {item}", "");
        }
        let _ = write!(text, "\n{:indent$}{close}", "");
        text
    }
}

/// A text in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            control if control.is_control() => {
                let mut units = [0; 2];
                for unit in control.encode_utf16(&mut units) {
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Reads a text from front to back.
struct Parser<'t> {
    text: &'t str,
    at: usize,
    nesting: usize,
}

impl Parser<'_> {
    fn complaint(&self, message: &str) -> Misfit {
        let next = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        let message = if next == 0 {
            format!("this is not JSON: the file ends here, {message}")
        } else {
            format!("this is not JSON: {message}")
        };
        fault_at(span(self.at, self.at + next), message)
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at = self.text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, expected: u8, message: &str) -> Result<(), Misfit> {
        if self.peek() != Some(expected) {
            return Err(self.complaint(message));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self) -> Result<Json, Misfit> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{' | b'[') if self.nesting == MOST_NESTING => {
                return Err(self.complaint("it is nested too deeply"));
            }
            Some(b'{') => self.object()?,
            Some(b'[') => self.list()?,
            Some(b'"') => JsonKind::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => {
                let words =
                    [("null", JsonKind::Null), ("true", JsonKind::Boolean(true)), ("false", JsonKind::Boolean(false))];
                let found = words.into_iter().find(|(word, _)| self.text[self.at..].starts_with(word));
                let (word, kind) = found.ok_or_else(|| self.complaint("a value is expected here"))?;
                self.at += word.len();
                kind
            }
        };
        Ok(Json { span: span(start, self.at), kind })
    }

    fn object(&mut self) -> Result<JsonKind, Misfit> {
        self.nesting += 1;
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        self.skip_space();
        while self.peek() != Some(b'}') {
            if !members.is_empty() {
                self.take(b',', "`,` or `}` is expected here")?;
                self.skip_space();
            }
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.complaint("a name in quotation marks is expected here"));
            }
            let key = self.string()?;
            let key_span = span(start, self.at);
            self.skip_space();
            self.take(b':', "`:` is expected here")?;
            self.skip_space();
            let value = self.value()?;
            members.push(Member { key, key_span, value });
            self.skip_space();
        }
        self.at += 1;
        self.nesting -= 1;
        let mut keys: Vec<(&str, Span)> = members.iter().map(|member| (member.key.as_str(), member.key_span)).collect();
        keys.sort_by_key(|&(key, place)| (key, place.start));
        if let Some(pair) = keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let message = format!("`{}` is here twice", pair[1].0);
            return Err(fault_at(pair[1].1, message));
        }
        Ok(JsonKind::Object(members))
    }

    fn list(&mut self) -> Result<JsonKind, Misfit> {
        self.nesting += 1;
        self.at += 1;
        let mut values = Vec::new();
        self.skip_space();
        while self.peek() != Some(b']') {
            if !values.is_empty() {
                self.take(b',', "`,` or `]` is expected here")?;
                self.skip_space();
            }
            values.push(self.value()?);
            self.skip_space();
        }
        self.at += 1;
        self.nesting -= 1;
        Ok(JsonKind::List(values))
    }

    fn number(&mut self) -> Result<JsonKind, Misfit> {
        let rest = &self.text[self.at..];
        let length = rest.find(|it: char| !matches!(it, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let number = &rest[..length];
        let digits = number.strip_prefix('-').unwrap_or(number);
        let is_padded = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
        if number.parse::<f64>().is_err() || is_padded || !digits.starts_with(|it: char| it.is_ascii_digit()) {
            return Err(self.complaint("this is not a number"));
        }
        self.at += length;
        Ok(JsonKind::Number(number.to_owned()))
    }

    /// A string; the quotation mark is next.
    fn string(&mut self) -> Result<String, Misfit> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(next) = rest.chars().next() else { return Err(self.complaint("in the middle of a text")) };
            match next {
                '"' => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => text.push(self.escape()?),
                control if (control as u32) < 0x20 => {
                    return Err(self.complaint("a text must end on the line it begins on"));
                }
                other => {
                    text.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Misfit> {
        let escaped = self.text.as_bytes().get(self.at + 1).copied();
        let character = match escaped {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.unit(self.at + 2)?;
                if (0xd800..0xdc00).contains(&first) && self.text[self.at + 6..].starts_with("\\u") {
                    let second = self.unit(self.at + 8)?;
                    let Some(Ok(pair)) = char::decode_utf16([first, second]).next() else {
                        return Err(self.complaint("this is no character"));
                    };
                    self.at += 12;
                    return Ok(pair);
                }
                let Some(character) = char::from_u32(u32::from(first)) else {
                    return Err(self.complaint("this is no character"));
                };
                self.at += 6;
                return Ok(character);
            }
            _ => return Err(self.complaint("this is no character")),
        };
        self.at += 2;
        Ok(character)
    }

    fn unit(&self, at: usize) -> Result<u16, Misfit> {
        let digits = self.text.get(at..at + 4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        unit.ok_or_else(|| self.complaint("this is no character"))
    }
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_written() {
        for text in [
            "null",
            "true",
            "-17",
            "1.5e3",
            r#""a\"b\\c\n""#,
            "[]",
            "{}",
            r#"{"a": [1, {"b": null}], "c": "é"}"#,
            r#""\u0001""#,
        ] {
            let value = Json::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            assert_eq!(value.on_one_line(), text);
        }
        assert_eq!(Json::parse(r#""\ud83d\ude00\u00e9\/""#).expect("a text").as_text(), Some("😀é/"));
        let long = Json::list((0..60).map(|number| Json::object([("number", Json::number(number))])));
        let text = long.on_lines(0);
        assert!(text.lines().count() == 62 && text.starts_with("[\n  {\"number\": 0},\n"), "{text}");
        assert_eq!(Json::parse(&text).expect("a list"), long);
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_stands() {
        for (text, message, start) in [
            ("", "the file ends here, a value is expected here", 0),
            ("{", "the file ends here, a name in quotation marks is expected here", 1),
            ("{\"a\" 1}", "`:` is expected here", 5),
            ("{\"a\": 1,}", "a name in quotation marks is expected here", 8),
            ("[1 2]", "`,` or `]` is expected here", 3),
            ("[01]", "this is not a number", 1),
            ("[-]", "this is not a number", 1),
            ("\"abc", "the file ends here, in the middle of a text", 4),
            ("\"a\nb\"", "a text must end on the line it begins on", 2),
            ("\"\\x\"", "this is no character", 1),
            ("\"\\ud800\"", "this is no character", 1),
            ("1 2", "there is more after the end of the value", 2),
            ("nul", "a value is expected here", 0),
        ] {
            let error = Json::parse(text).expect_err(text);
            assert_eq!(error.0.message, format!("this is not JSON: {message}"), "{text}");
            assert_eq!(error.0.primary.expect("a place").span.start, start, "{text}");
        }
        assert_eq!(Json::parse(r#"{"a": 1, "a": 2}"#).expect_err("twice").0.message, "`a` is here twice");
        let deep = "[".repeat(100_000);
        assert!(Json::parse(&deep).expect_err("too deep").0.message.contains("nested too deeply"));
    }
}
