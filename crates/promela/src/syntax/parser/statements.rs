//! Statements and sequences of them.

use quotient_ir::{Diagnostic, Span};

use super::{Parsed, Parser, Unreadable};
use crate::syntax::token::TokenKind;
use crate::syntax::tree::{Binary, Expression, ExpressionKind, Name, Statement, StatementKind};

impl Parser<'_> {
    /// `{ sequence }`
    pub(super) fn block(&mut self, place: &str) -> Parsed<Vec<Statement>> {
        self.expect("{", place)?;
        let sequence = self.nested(|parser| Ok(parser.sequence()))?;
        self.expect("}", "after a sequence of statements")?;
        Ok(sequence)
    }

    /// Whether a sequence ends here.
    fn ends_sequence(&self) -> bool {
        self.at_end() || self.at("}") || self.at("::") || self.at_word("fi") || self.at_word("od")
    }

    /// Statements up to what ends a sequence.
    fn sequence(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        loop {
            while self.take(";") || self.take("->") {}
            if self.ends_sequence() {
                return statements;
            }
            let before = self.position;
            match self.nested(Self::step) {
                Ok(statement) => statements.push(statement),
                Err(Unreadable) => {
                    self.skip_statement(before);
                    continue;
                }
            }
            // The expansion of an inline is in braces.
            let inlined = statements.last().is_some_and(|it| matches!(it.kind, StatementKind::Inlined(_)));
            let closed = inlined
                || self.position > 0
                    && (self.tokens[self.position - 1].is("}")
                        || self.tokens[self.position - 1].is_name("fi")
                        || self.tokens[self.position - 1].is_name("else")
                        || self.tokens[self.position - 1].is_name("od"));
            // SPIN takes the end of a line for a separator, too.
            let ended = closed || self.peek().starts_line || self.ends_sequence();
            if !ended && !self.at(";") && !self.at("->") {
                let place = Span { start: self.last_span().end, end: self.last_span().end };
                let message = format!("expected `;` before {}", self.peek().describe());
                self.report(
                    Diagnostic::error("missing-semicolon", message, place)
                        .with_help("statements are separated by `;` or `->`"),
                );
                if self.position == before {
                    self.position += 1;
                }
            }
        }
    }

    /// After an error: resumes after the statement, as far as its end is known.
    fn skip_statement(&mut self, before: usize) {
        if self.position == before {
            self.position += usize::from(!self.at_end());
        }
        while !self.at_end() {
            if self.at(";") || self.at("->") || self.ends_sequence() {
                return;
            }
            if self.at("{") || self.at("(") || self.at("[") {
                self.skip_brackets();
            } else if self.at_word("if") || self.at_word("do") {
                self.skip_selection();
            } else if self.peek().starts_line && self.at_word("proctype") {
                return;
            } else {
                self.position += 1;
            }
        }
    }

    fn skip_selection(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() {
            if self.at_word("if") || self.at_word("do") {
                depth += 1;
            } else if self.at_word("fi") || self.at_word("od") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    self.position += 1;
                    return;
                }
            }
            self.position += 1;
        }
    }

    /// A statement with its labels and its escape.
    fn step(&mut self) -> Parsed<Statement> {
        let span = self.span();
        let mut labels = Vec::new();
        while let TokenKind::Name(word) = &self.peek().kind {
            // No statement begins with `=`: `x := 1` is a misspelt assignment.
            let is_label = self.peek_at(1).is(":") && !self.peek_at(2).is("=");
            if Self::is_keyword(word) || !is_label || self.declared.contains(word) {
                break;
            }
            labels.push(Name { text: word.clone(), span: self.span(), written: self.peek().written });
            self.position += 2;
        }
        if !labels.is_empty() && (self.at(";") || self.at("->") || self.ends_sequence()) {
            // A label without a statement is placed at a step without effect.
            let kind = StatementKind::Expression(Self::number(1, span));
            return Ok(Statement { labels, kind, span: self.so_far(span) });
        }
        // Messages about a statement are not about its labels.
        let span = self.span();
        let kind = self.statement()?;
        let mut statement = Statement { labels: Vec::new(), kind, span: self.so_far(span) };
        let mut escapes = 0;
        while self.at_word("unless") {
            self.position += 1;
            escapes += 1;
            if escapes > super::CHAIN_LIMIT {
                return self.fail("too-deep", "too many escapes in a row");
            }
            let escape = self.nested(Self::step_without_escape)?;
            let kind = StatementKind::Unless { main: Box::new(statement), escape: Box::new(escape) };
            statement = Statement { labels: Vec::new(), kind, span: self.so_far(span) };
        }
        statement.labels = labels;
        Ok(statement)
    }

    fn step_without_escape(&mut self) -> Parsed<Statement> {
        let span = self.span();
        let kind = self.statement()?;
        Ok(Statement { labels: Vec::new(), kind, span: self.so_far(span) })
    }

    fn statement(&mut self) -> Parsed<StatementKind> {
        let token = self.peek().clone();
        let TokenKind::Name(word) = &token.kind else {
            if self.at("{") {
                return Ok(StatementKind::Block(self.block("before a block")?));
            }
            if token.kind == TokenKind::Unknown {
                return self.fail("unknown-character", "this character has no place in Promela");
            }
            return Ok(StatementKind::Expression(self.expression()?));
        };
        match &**word {
            "if" | "do" => self.selection(),
            "atomic" => {
                self.position += 1;
                Ok(StatementKind::Atomic(self.block("after `atomic`")?))
            }
            "d_step" => {
                self.position += 1;
                Ok(StatementKind::DeterministicStep(self.block("after `d_step`")?))
            }
            "goto" => {
                self.position += 1;
                Ok(StatementKind::Goto(self.name("the label to go to")?))
            }
            "break" => {
                self.position += 1;
                Ok(StatementKind::Break)
            }
            "else" => {
                self.position += 1;
                Ok(StatementKind::Else)
            }
            "printf" | "printm" => {
                self.position += 1;
                self.expect("(", "after `printf`")?;
                let mut arguments = self.arguments(")")?;
                self.expect(")", "after what is to be printed")?;
                let format = match arguments.first().map(|first| &first.kind) {
                    Some(ExpressionKind::Text(format)) => {
                        let format = format.clone();
                        arguments.remove(0);
                        format
                    }
                    _ => "%e".into(),
                };
                Ok(StatementKind::Print { format, arguments })
            }
            "assert" => {
                self.position += 1;
                let condition = self.expression()?;
                Ok(StatementKind::Assert(condition))
            }
            "for" => self.loop_statement(),
            "select" => {
                self.position += 1;
                self.expect("(", "after `select`")?;
                let variable = self.reference()?;
                if !self.take_colon_equals(":", "a choice of values is written `i : 1 .. 3`") {
                    self.expect(":", "after the variable of `select`")?;
                }
                let from = self.expression()?;
                self.expect("..", "between the bounds of `select`")?;
                let to = self.expression()?;
                self.expect(")", "after the bounds of `select`")?;
                Ok(StatementKind::Select { variable, from, to })
            }
            "xr" | "xs" => {
                self.position += 1;
                let mut channels = vec![self.reference()?];
                while self.take(",") {
                    channels.push(self.reference()?);
                }
                Ok(StatementKind::ChannelAssertion(channels))
            }
            "c_code" | "c_decl" | "c_state" | "c_track" => {
                self.embedded_c();
                Ok(StatementKind::Expression(Self::number(1, token.span)))
            }
            "return" if self.open_inlines.last().is_some_and(|(_, target)| target.is_some()) => {
                self.position += 1;
                let value = self.expression()?;
                match self.open_inlines.last().and_then(|(_, target)| target.clone()) {
                    Some(target) => Ok(StatementKind::Assign { target, value }),
                    None => Err(Unreadable),
                }
            }
            _ if self.begins_declaration() => Ok(StatementKind::Declaration(self.declaration()?)),
            "set_priority" => {
                self.position += 1;
                self.expect("(", "after `set_priority`")?;
                let process = self.expression()?;
                self.expect(",", "between a process and its priority")?;
                let priority = self.expression()?;
                self.expect(")", "after the arguments of `set_priority`")?;
                Ok(StatementKind::SetPriority { process, priority })
            }
            _ if self.inlines.contains_key(word) && self.peek_at(1).is("(") => self.inlined(None),
            _ if !Self::is_keyword(word) => self.simple(),
            _ => Ok(StatementKind::Expression(self.expression()?)),
        }
    }

    /// A statement that begins with a name: assignment, send, receive or condition.
    fn simple(&mut self) -> Parsed<StatementKind> {
        let start = self.position;
        if self.peek_at(1).is("(") {
            let name = self.name("a statement")?;
            let message = format!("there is no inline of the name `{}`", name.text);
            let close = quotient_kit::similar(&name.text, self.inlines.keys().map(|key| &**key));
            let mut diagnostic = Diagnostic::error("unknown-inline", message, name.span);
            diagnostic.help = close
                .map(|close| format!("did you mean `{close}`?"))
                .or_else(|| Some("an inline is declared before it is used; a process is started with `run`".into()));
            self.report(diagnostic);
            return Err(Unreadable);
        }
        let target = self.reference()?;
        let span = target.span;
        let by_one = |parser: &mut Self, target: Expression, operator| {
            parser.position += 1;
            let one = Box::new(Self::number(1, span));
            let value = Expression { kind: ExpressionKind::Binary(operator, Box::new(target.clone()), one), span };
            Ok(StatementKind::Assign { target, value })
        };
        if self.take("=") || self.take_colon_equals("=", "an assignment is written `=`") {
            // `x = f(…)`: the body of an inline that gives its value to `x`.
            if let TokenKind::Name(word) = &self.peek().kind
                && self.inlines.contains_key(word)
                && self.peek_at(1).is("(")
            {
                return self.inlined(Some(target));
            }
            let value = self.expression()?;
            Ok(StatementKind::Assign { target, value })
        } else if self.at("++") {
            by_one(self, target, Binary::Add)
        } else if self.at("--") {
            by_one(self, target, Binary::Subtract)
        } else if self.at("!") || self.at("!!") {
            let sorted = self.at("!!");
            self.position += 1;
            let mut arguments = vec![self.expression()?];
            if self.take("(") {
                arguments.extend(self.arguments(")")?);
                self.expect(")", "after the fields of a message")?;
            } else {
                while self.take(",") {
                    arguments.push(self.expression()?);
                }
            }
            Ok(StatementKind::Send { channel: target, sorted, arguments })
        } else if (self.at("?") || self.at("??")) && !self.peek_at(1).is("[") {
            let random = self.at("??");
            self.position += 1;
            let copying = self.take("<");
            let arguments = self.receive_arguments(if copying { ">" } else { ";" })?;
            if copying {
                self.expect(">", "after the pattern of a copying receive")?;
            }
            Ok(StatementKind::Receive { channel: target, random, copying, arguments })
        } else {
            self.position = start;
            Ok(StatementKind::Expression(self.expression()?))
        }
    }

    /// An expanded inline; its return value is assigned to `target`.
    fn inlined(&mut self, target: Option<Expression>) -> Parsed<StatementKind> {
        let name = self.name("an inline")?;
        let body = self.open_inline(&name, name.span)?;
        let tokens = std::mem::replace(&mut self.tokens, body.into());
        let position = std::mem::replace(&mut self.position, 0);
        self.open_inlines.push((name.text, target));
        let mut statements = Vec::new();
        let read = self.nested(|parser| {
            while !parser.at_end() {
                statements.extend(parser.sequence());
                if !parser.at_end() {
                    let message = format!("unexpected {} in the body of an inline", parser.peek().describe());
                    return parser.fail("syntax", message);
                }
            }
            Ok(())
        });
        self.open_inlines.pop();
        self.tokens = tokens;
        self.position = position;
        read?;
        Ok(StatementKind::Inlined(statements))
    }

    fn selection(&mut self) -> Parsed<StatementKind> {
        let opening = self.next();
        let is_if = opening.is_name("if");
        let (word, close) = if is_if { ("if", "fi") } else { ("do", "od") };
        let mut options = Vec::new();
        if !self.at("::") {
            let message = format!("expected `::` after `{word}`, found {}", self.peek().describe());
            self.report(
                Diagnostic::error("syntax", message, self.span())
                    .with_help("every option of a selection or loop begins with `::`"),
            );
            while !self.at("::") && !self.ends_sequence() {
                self.position += 1;
            }
        }
        while self.take("::") {
            let option = self.nested(|parser| Ok(parser.sequence()))?;
            if option.is_empty() {
                self.report(
                    Diagnostic::error("empty-option", "this option is empty", self.last_span())
                        .with_help("write `skip` where nothing is to be done"),
                );
            }
            options.push(option);
        }
        if !self.take_word(close) {
            let message = format!("expected `{close}` or `::`, found {}", self.peek().describe());
            self.report(
                Diagnostic::error("syntax", message, self.span())
                    .with_secondary(opening.span, format!("to close this `{word}`")),
            );
            if self.at_word("fi") || self.at_word("od") {
                self.position += 1;
            } else {
                return Err(Unreadable);
            }
        }
        Ok(if is_if { StatementKind::If(options) } else { StatementKind::Do(options) })
    }

    fn loop_statement(&mut self) -> Parsed<StatementKind> {
        self.position += 1;
        self.expect("(", "after `for`")?;
        let variable = self.reference()?;
        if self.take_word("in") {
            let container = self.reference()?;
            self.expect(")", "after the head of a loop")?;
            self.take(";");
            let body = self.block("before the body of a loop")?;
            return Ok(StatementKind::ForIn { variable, container, body });
        }
        if !self.take_colon_equals(":", "a range of values is written `i : 1 .. 3`") {
            self.expect(":", "after the variable of a loop")?;
        }
        let from = self.expression()?;
        self.expect("..", "between the bounds of a loop")?;
        let to = self.expression()?;
        self.expect(")", "after the head of a loop")?;
        self.take(";");
        let body = self.block("before the body of a loop")?;
        Ok(StatementKind::For { variable, from, to, body })
    }
}
