//! Processes. The operators from the weakest to the strongest: `|||`, `||`, `<>`, `[]` and `[*]`, `interrupt`, `\`,
//! `;`, guards and prefixes.

use quotient_ir::{Diagnostic, Fairness, Span};
use quotient_kit::tokens::TokenKind;

use super::{BRACKET, Parsed, Parser, Unreadable};
use crate::syntax::tree::{Block, Check, EventSet, Expression, Name, Operator, Process, ProcessKind};

/// Operators on several processes by precedence, the weakest first.
const LEVELS: &[&[Operator]] =
    &[&[Operator::Interleave], &[Operator::Parallel], &[Operator::Internal], &[Operator::Choice, Operator::External]];

/// What stands before an arrow.
enum Prefix {
    Event(Option<(Name, Vec<Expression>)>, Fairness, Option<Block>),
    Output(Name, Vec<Expression>, Vec<Expression>, Option<Block>),
    Input(Name, Vec<Expression>, Option<Expression>, Vec<Expression>, Option<Block>),
    Guard(Expression),
}

impl Parser<'_> {
    pub(super) fn process(&mut self) -> Parsed<Process> {
        self.deeper(BRACKET)?;
        let process = self.operators(0)?;
        self.depth -= BRACKET;
        Ok(process)
    }

    fn operators(&mut self, level: usize) -> Parsed<Process> {
        let Some(operators) = LEVELS.get(level) else { return self.interrupt() };
        let first = self.operators(level + 1)?;
        let mut all = vec![first];
        let mut last: Option<Operator> = None;
        while let Some(&operator) = operators.iter().find(|operator| self.peek().is(operator.symbol())) {
            // Choices of different sorts associate to the left.
            if let Some(before) = last
                && before != operator
            {
                let process = combined(before, std::mem::take(&mut all));
                all.push(process);
            }
            self.advance();
            all.push(self.operators(level + 1)?);
            last = Some(operator);
        }
        Ok(match last {
            Some(operator) => combined(operator, all),
            None => all.swap_remove(0),
        })
    }

    fn interrupt(&mut self) -> Parsed<Process> {
        let depth = self.depth;
        let mut left = self.hiding()?;
        while self.take("interrupt") {
            let right = self.hiding()?;
            let span = left.span.to(right.span);
            left = Process { kind: ProcessKind::Interrupt(Box::new(left), Box::new(right)), span };
            self.deeper(1)?;
        }
        self.depth = depth;
        Ok(left)
    }

    fn hiding(&mut self) -> Parsed<Process> {
        let depth = self.depth;
        let mut inner = self.sequence()?;
        while self.take("\\") {
            let events = self.event_sets()?;
            let span = inner.span.to(self.before());
            inner = Process { kind: ProcessKind::Hide(Box::new(inner), events), span };
            self.deeper(1)?;
        }
        self.depth = depth;
        Ok(inner)
    }

    fn sequence(&mut self) -> Parsed<Process> {
        let depth = self.depth;
        let mut parts = vec![self.unit()?];
        while self.peek().is(";") && self.continues() {
            self.advance();
            parts.push(self.unit()?);
        }
        let mut parts = parts.into_iter().rev();
        let Some(mut process) = parts.next() else { return Err(Unreadable) };
        for before in parts {
            let span = before.span.to(process.span);
            process = Process { kind: ProcessKind::Sequence(Box::new(before), Box::new(process)), span };
            self.deeper(1)?;
        }
        self.depth = depth;
        Ok(process)
    }

    /// Whether a `;` is followed by another process, and not by an item.
    fn continues(&mut self) -> bool {
        self.position += 1;
        let token = self.peek();
        let begins = matches!(token.kind, TokenKind::Name(_))
            || ["Skip", "Stop", "tau", "atomic", "if", "ifa", "ifb", "case", "(", "[", "{", "|||", "||", "[]", "[*]"]
                .iter()
                .any(|start| token.is(start));
        let continues = begins && !self.at_item();
        self.position -= 1;
        continues
    }

    /// Prefixes and what is behind them.
    fn unit(&mut self) -> Parsed<Process> {
        let mut prefixes: Vec<(Prefix, Span)> = Vec::new();
        let depth = self.depth;
        let mut process = loop {
            let start = self.peek().span;
            match self.prefix()? {
                Some(prefix) => {
                    prefixes.push((prefix, start));
                    self.deeper(1)?;
                }
                None => break self.basic()?,
            }
        };
        self.depth = depth;
        for (prefix, start) in prefixes.into_iter().rev() {
            let span = start.to(process.span);
            let next = Box::new(process);
            let kind = match prefix {
                Prefix::Event(event, fairness, block) => ProcessKind::Prefix { event, fairness, block, next },
                Prefix::Output(channel, indices, values, block) => {
                    ProcessKind::Output { channel, indices, values, block, next }
                }
                Prefix::Input(channel, indices, guard, patterns, block) => {
                    ProcessKind::Input { channel, indices, guard, patterns, block, next }
                }
                Prefix::Guard(condition) => ProcessKind::Guard(condition, next),
            };
            process = Process { kind, span };
        }
        Ok(process)
    }

    /// Something before an arrow, or a guard, if it is next.
    fn prefix(&mut self) -> Parsed<Option<Prefix>> {
        let token = self.peek().clone();
        if token.is("[") {
            self.advance();
            let condition = self.expression()?;
            self.expect("]", "after a guard")?;
            return Ok(Some(Prefix::Guard(condition)));
        }
        if token.is("{") {
            let block = self.block()?;
            self.expect("->", "after an event")?;
            return Ok(Some(Prefix::Event(None, Fairness::None, Some(block))));
        }
        if token.is("tau") {
            self.advance();
            let block = self.optional_block()?;
            self.expect("->", "after an event")?;
            return Ok(Some(Prefix::Event(None, Fairness::None, block)));
        }
        if !matches!(token.kind, TokenKind::Name(_)) {
            return Ok(None);
        }
        let behind = self.ahead(1);
        if behind.is("!") || behind.is("?") || behind.is("[") {
            return self.communication().map(Some);
        }
        if self.at_annotation() {
            return self.annotated().map(Some);
        }
        if !behind.is("->") && !behind.is("{") && !behind.is(".") {
            return Ok(None);
        }
        let name = self.name("an event")?;
        let arguments = self.dotted()?;
        let block = self.optional_block()?;
        self.expect("->", "after an event")?;
        Ok(Some(Prefix::Event(Some((name, arguments)), Fairness::None, block)))
    }

    /// Whether an event follows that is annotated, as in `wf(e) -> P`. Without the arrow it is a process of that name.
    fn at_annotation(&self) -> bool {
        let is_word =
            matches!(&self.peek().kind, TokenKind::Name(word) if matches!(&**word, "wf" | "sf" | "wl" | "sl"));
        if !is_word || !self.ahead(1).is("(") {
            return false;
        }
        let (mut position, mut open) = (2, 1);
        while open > 0 {
            let token = self.ahead(position);
            match &token.kind {
                TokenKind::Symbol("(") => open += 1,
                TokenKind::Symbol(")") => open -= 1,
                TokenKind::Symbol("->" | ";") | TokenKind::End => return false,
                _ => {}
            }
            position += 1;
        }
        self.ahead(position).is("->") || self.ahead(position).is("{")
    }

    /// An event with an annotation.
    fn annotated(&mut self) -> Parsed<Prefix> {
        let word = self.name("an annotation")?;
        let fairness = match &*word.text {
            "wf" => Fairness::Weak,
            "sf" => Fairness::Strong,
            _ => {
                let message = format!("the annotation `{}` is not supported", word.text);
                let error = Diagnostic::error("unsupported", message, word.span);
                self.report(error.with_help("`wf(e)` and `sf(e)` treat an event fairly"));
                Fairness::None
            }
        };
        self.expect("(", "after an annotation")?;
        let name = self.name("an event")?;
        let arguments = self.dotted()?;
        self.expect(")", "after an event that is annotated")?;
        let block = self.optional_block()?;
        self.expect("->", "after an event")?;
        Ok(Prefix::Event(Some((name, arguments)), fairness, block))
    }

    fn communication(&mut self) -> Parsed<Prefix> {
        let channel = self.name("a channel")?;
        let indices = self.indices()?;
        if self.take("!") {
            let mut values = vec![self.expression()?];
            while self.take(".") {
                values.push(self.expression()?);
            }
            let block = self.optional_block()?;
            self.expect("->", "after an output")?;
            return Ok(Prefix::Output(channel, indices, values, block));
        }
        if !self.take("?") {
            return self.unexpected("`!` or `?`");
        }
        let mut guard = None;
        if self.take("[") {
            guard = Some(self.expression()?);
            self.expect("]", "after the condition of an input")?;
        }
        let mut patterns = vec![self.expression()?];
        while self.take(".") {
            patterns.push(self.expression()?);
        }
        let block = self.optional_block()?;
        self.expect("->", "after an input")?;
        Ok(Prefix::Input(channel, indices, guard, patterns, block))
    }

    fn optional_block(&mut self) -> Parsed<Option<Block>> {
        if self.peek().is("{") { self.block().map(Some) } else { Ok(None) }
    }

    /// `.1.x`, perhaps nothing.
    pub(super) fn dotted(&mut self) -> Parsed<Vec<Expression>> {
        let mut arguments = Vec::new();
        while self.take(".") {
            arguments.push(self.additive()?);
        }
        Ok(arguments)
    }

    /// A process without prefixes.
    fn basic(&mut self) -> Parsed<Process> {
        let token = self.peek().clone();
        let start = token.span;
        let kind = match token.kind {
            TokenKind::Keyword(word @ ("Skip" | "Stop")) => {
                self.advance();
                if self.take("(") {
                    self.expect(")", "after `(`")?;
                }
                if word == "Skip" { ProcessKind::Skip } else { ProcessKind::Stop }
            }
            TokenKind::Keyword("atomic") => {
                self.advance();
                ProcessKind::Atomic(Box::new(self.braced()?))
            }
            TokenKind::Keyword(word @ ("if" | "ifa" | "ifb")) => {
                self.advance();
                return self.conditional(word, start);
            }
            TokenKind::Keyword("case") => {
                self.advance();
                self.cases()?
            }
            TokenKind::Symbol("(") => {
                self.advance();
                let inner = self.process()?;
                let end = self.expect(")", "after a process")?;
                return Ok(Process { span: start.to(end), ..inner });
            }
            TokenKind::Symbol(symbol @ ("|||" | "||" | "[]" | "[*]" | "<>")) => {
                self.advance();
                let operator = match symbol {
                    "|||" => Operator::Interleave,
                    "||" => Operator::Parallel,
                    "[*]" => Operator::External,
                    "<>" => Operator::Internal,
                    _ => Operator::Choice,
                };
                let ranges = self.ranges()?;
                let body = Box::new(self.process()?);
                ProcessKind::Indexed { operator, ranges, body }
            }
            TokenKind::Name(text) if &*text == "assert" && self.ahead(1).is("(") => {
                let error = Diagnostic::error("unsupported", "`assert` in a process is not supported", start);
                self.report(error.with_help("use `#assert P() reaches c;` or an invariant"));
                return Err(Unreadable);
            }
            TokenKind::Name(text) => {
                self.advance();
                let arguments = self.arguments()?;
                ProcessKind::Reference(Name { text, span: token.span }, arguments)
            }
            _ => return self.unexpected("a process"),
        };
        Ok(Process { kind, span: start.to(self.before()) })
    }

    fn braced(&mut self) -> Parsed<Process> {
        self.expect("{", "before a process")?;
        let process = self.process()?;
        self.take(";");
        self.expect("}", "after a process")?;
        Ok(process)
    }

    fn conditional(&mut self, word: &str, start: Span) -> Parsed<Process> {
        let check = match word {
            "ifa" => Check::Atomic,
            "ifb" => Check::Blocking,
            _ => Check::Separate,
        };
        self.expect("(", "before a condition")?;
        let condition = self.expression()?;
        self.expect(")", "after a condition")?;
        let then = Box::new(self.braced()?);
        let mut otherwise = None;
        if self.peek().is("else") {
            let place = self.advance();
            if check == Check::Blocking {
                let error = Diagnostic::error("syntax", "`ifb` has no `else`: it waits for its condition", place);
                self.report(error.with_help("use `if` or `ifa`"));
            }
            let token = self.peek().clone();
            otherwise = Some(Box::new(match token.kind {
                TokenKind::Keyword(word @ ("if" | "ifa" | "ifb")) => {
                    self.advance();
                    self.deeper(BRACKET)?;
                    let inner = self.conditional(word, token.span)?;
                    self.depth -= BRACKET;
                    inner
                }
                _ => self.braced()?,
            }));
        }
        let kind = ProcessKind::If { check, condition, then, otherwise };
        Ok(Process { kind, span: start.to(self.before()) })
    }

    fn cases(&mut self) -> Parsed<ProcessKind> {
        self.expect("{", "after `case`")?;
        let mut branches = Vec::new();
        let mut default = None;
        while !self.peek().is("}") && !self.at_end() {
            if self.take("default") {
                self.expect(":", "after `default`")?;
                default = Some(Box::new(self.process()?));
                break;
            }
            let condition = self.expression()?;
            self.expect(":", "after the condition of a case")?;
            branches.push((condition, self.process()?));
        }
        self.expect("}", "after the cases")?;
        Ok(ProcessKind::Case { branches, default })
    }

    /// `{a, b.1, x:{0..2} @ c.x}`
    pub(super) fn event_sets(&mut self) -> Parsed<Vec<EventSet>> {
        self.expect("{", "before events")?;
        let mut events = Vec::new();
        while !self.peek().is("}") && !self.at_end() {
            let mut ranges = Vec::new();
            if self.ahead(1).is(":") {
                ranges = self.ranges()?;
            }
            let name = self.name("an event")?;
            let arguments = self.dotted()?;
            events.push(EventSet { ranges, name, arguments });
            if !self.take(",") {
                break;
            }
        }
        self.expect("}", "after events")?;
        Ok(events)
    }
}

fn combined(operator: Operator, all: Vec<Process>) -> Process {
    let span = match (all.first(), all.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::default(),
    };
    Process { kind: ProcessKind::Several(operator, all), span }
}
