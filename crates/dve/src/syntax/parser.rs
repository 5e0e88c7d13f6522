//! A recursive-descent parser that continues after an error: what cannot be read is skipped up to the next `;`, or the
//! next transition.

use std::ops::{Deref, DerefMut};

use quotient_ir::{Diagnostic, Span};
pub(super) use quotient_kit::cursor::{Cursor, Parsed, Unreadable};
use quotient_kit::tokens::{Token, TokenKind};
use quotient_kit::watched::WATCHED;

use super::tree::{
    Assignment, Channel, Composition, Expression, Initial, Name, Process, Scalar, Sync, System, Transition, Variable,
};

pub(super) struct Parser<'t> {
    cursor: Cursor<'t>,
    pub(super) depth: usize,
}

impl<'t> Deref for Parser<'t> {
    type Target = Cursor<'t>;

    fn deref(&self) -> &Self::Target {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

/// Parses a text, which ends with [`TokenKind::End`].
pub(super) fn parse(tokens: &[Token], diagnostics: &mut Vec<Diagnostic>) -> System {
    let mut parser = Parser { cursor: Cursor::new(tokens, diagnostics), depth: 0 };
    let mut system = System::default();
    while !parser.at_end() {
        if parser.item(&mut system).is_err() {
            parser.skip_item();
        }
    }
    system
}

impl Parser<'_> {
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Name(text) => {
                self.advance();
                Ok(Name { text, span: token.span })
            }
            TokenKind::Keyword(word) => {
                let message = format!("{what} is expected, and `{word}` is a keyword");
                self.report(Diagnostic::error("syntax", message, token.span).with_help("choose another name"));
                Err(Unreadable)
            }
            _ => {
                let message = format!("{what} is expected, not {}", token.describe());
                self.report(Diagnostic::error("syntax", message, token.span));
                Err(Unreadable)
            }
        }
    }

    /// Goes behind the next `;`, or to the next item that begins with its keyword.
    fn skip_item(&mut self) {
        while !self.at_end() {
            if self.take(";") {
                return;
            }
            if ["process", "system", "channel"].iter().any(|word| self.peek().is(word)) {
                return;
            }
            self.advance();
        }
    }

    fn item(&mut self, system: &mut System) -> Parsed<()> {
        let token = self.peek().clone();
        match &token.kind {
            TokenKind::Keyword("const" | "byte" | "int") => self.variables(&mut system.variables),
            TokenKind::Keyword("channel") => self.channels(&mut system.channels),
            TokenKind::Keyword("process") => {
                let process = self.process()?;
                system.processes.push(process);
                Ok(())
            }
            TokenKind::Keyword("assert") => {
                self.advance();
                system.assertions.push(self.expression()?);
                self.expect(";", "after the assertion")?;
                Ok(())
            }
            TokenKind::Name(word) if **word == *WATCHED => {
                self.advance();
                system.watched = Some(self.expression()?);
                self.expect(";", "after the expression")?;
                Ok(())
            }
            TokenKind::Keyword("system") => {
                let composition = self.composition()?;
                if let Some(first) = &system.composition {
                    let error = Diagnostic::error("two-systems", "the system is declared twice", composition.span)
                        .with_secondary(first.span, "first declared here");
                    self.report(error);
                } else {
                    system.composition = Some(composition);
                }
                Ok(())
            }
            // An empty declaration, as behind a macro.
            TokenKind::Symbol(";") => {
                self.advance();
                Ok(())
            }
            _ => {
                let message = format!("a declaration, a process or the system is expected, not {}", token.describe());
                let help = match &token.kind {
                    TokenKind::Name(name) => word_hint(name, &["byte", "int", "const", "channel", "process", "system"]),
                    TokenKind::Symbol("}") => Some("this closes a process that is already closed".into()),
                    _ => None,
                };
                let mut error = Diagnostic::error("syntax", message, token.span);
                error.help = help;
                self.report(error);
                self.advance();
                Err(Unreadable)
            }
        }
    }

    fn composition(&mut self) -> Parsed<Composition> {
        let start = self.advance();
        let is_synchronous = if self.take("async") {
            false
        } else if self.take("sync") {
            true
        } else {
            let token = self.peek().clone();
            let message = format!("`async` or `sync` is expected, not {}", token.describe());
            let help = "in an asynchronous system one process moves at a time: `system async;`";
            self.report(Diagnostic::error("syntax", message, token.span).with_help(help));
            return Err(Unreadable);
        };
        let property = if self.take("property") { Some(self.name("the name of a process")?) } else { None };
        let end = self.expect(";", "after the system")?;
        Ok(Composition { is_synchronous, property, span: start.to(end) })
    }

    /// `const byte a = 1, b[2] = {1, 2};`
    fn variables(&mut self, variables: &mut Vec<Variable>) -> Parsed<()> {
        let is_constant = self.take("const");
        let scalar = self.scalar()?;
        loop {
            let name = self.name("the name of a variable")?;
            let size = if self.take("[") {
                let size = self.expression()?;
                self.expect("]", "after the size")?;
                Some(size)
            } else {
                None
            };
            let initial = if !self.take("=") {
                Initial::Zero
            } else if self.peek().is("{") {
                let start = self.advance();
                let mut values = Vec::new();
                if !self.peek().is("}") {
                    values.push(self.expression()?);
                    while self.take(",") {
                        values.push(self.expression()?);
                    }
                }
                let end = self.expect("}", "after the elements")?;
                Initial::List(values, start.to(end))
            } else {
                Initial::Value(self.expression()?)
            };
            variables.push(Variable { name, is_constant, scalar, size, initial });
            if !self.take(",") {
                break;
            }
        }
        self.expect(";", "after the declaration")?;
        Ok(())
    }

    fn scalar(&mut self) -> Parsed<Scalar> {
        if self.take("byte") {
            Ok(Scalar::Byte)
        } else if self.take("int") {
            Ok(Scalar::Int)
        } else {
            let token = self.peek().clone();
            let message = format!("a type is expected, not {}", token.describe());
            self.report(Diagnostic::error("syntax", message, token.span).with_help("the types are `byte` and `int`"));
            Err(Unreadable)
        }
    }

    /// `channel a, b;` or `channel {byte, int} c[3], d[0];`
    fn channels(&mut self, channels: &mut Vec<Channel>) -> Parsed<()> {
        self.advance();
        let types = if self.take("{") {
            let mut types = vec![self.scalar()?];
            while self.take(",") {
                types.push(self.scalar()?);
            }
            self.expect("}", "after the types of a message")?;
            Some(types)
        } else {
            None
        };
        loop {
            let name = self.name("the name of a channel")?;
            let size = if self.take("[") {
                let size = self.expression()?;
                self.expect("]", "after the size")?;
                Some(size)
            } else {
                None
            };
            channels.push(Channel { name, types: types.clone(), size });
            if !self.take(",") {
                break;
            }
        }
        self.expect(";", "after the declaration")?;
        Ok(())
    }

    fn process(&mut self) -> Parsed<Process> {
        let start = self.advance();
        let name = self.name("the name of a process")?;
        self.expect("{", "before the text of the process")?;
        let mut process = Process {
            name,
            variables: Vec::new(),
            states: Vec::new(),
            initial: None,
            committed: Vec::new(),
            accepting: Vec::new(),
            assertions: Vec::new(),
            transitions: Vec::new(),
            span: start,
        };
        while !self.peek().is("}") {
            if self.at_end() || self.peek().is("process") || self.peek().is("system") {
                let token = self.peek().clone();
                let message = format!("the process is not closed before {}", token.describe());
                let error = Diagnostic::error("syntax", message, token.span)
                    .with_secondary(process.name.span, "the process")
                    .with_help("close it with `}`");
                self.report(error);
                process.span.end = token.span.start;
                return Ok(process);
            }
            if self.part(&mut process).is_err() {
                self.skip_part();
            }
        }
        process.span = start.to(self.advance());
        Ok(process)
    }

    /// Goes behind the next `;` outside of braces, or to the end of the process.
    fn skip_part(&mut self) {
        let mut open = 0;
        while !self.at_end() && !self.peek().is("process") && !self.peek().is("system") {
            let token = self.peek();
            if token.is("{") {
                open += 1;
            } else if token.is("}") {
                if open == 0 {
                    return;
                }
                open -= 1;
            } else if open == 0 && token.is(";") {
                self.advance();
                return;
            }
            self.advance();
        }
    }

    fn part(&mut self, process: &mut Process) -> Parsed<()> {
        let token = self.peek().clone();
        match &token.kind {
            TokenKind::Keyword("const" | "byte" | "int") => return self.variables(&mut process.variables),
            TokenKind::Keyword("state") => {
                self.advance();
                let states = self.names("the name of a state")?;
                process.states.extend(states);
            }
            TokenKind::Keyword("init") => {
                self.advance();
                let initial = self.name("the name of a state")?;
                if let Some(first) = &process.initial {
                    let error = Diagnostic::error("two-initial-states", "there is another initial state", initial.span)
                        .with_secondary(first.span, "first declared here")
                        .with_help("a process has one initial state");
                    self.report(error);
                }
                process.initial = Some(initial);
            }
            TokenKind::Keyword("commit") => {
                self.advance();
                let states = self.names("the name of a state")?;
                process.committed.extend(states);
            }
            TokenKind::Keyword("accept") => {
                self.advance();
                if self.peek().is("(") {
                    let span = self.peek().span;
                    let error = Diagnostic::error("accept", "only Büchi acceptance is supported", span)
                        .with_help("list the accepting states: `accept q1, q2;`");
                    self.report(error);
                    return Err(Unreadable);
                }
                let states = self.names("the name of a state")?;
                process.accepting.extend(states);
            }
            TokenKind::Keyword("assert") => {
                self.advance();
                loop {
                    let state = self.name("the name of a state")?;
                    let condition = self.expression()?;
                    process.assertions.push((state, condition));
                    if !self.take(",") {
                        break;
                    }
                }
            }
            TokenKind::Keyword("trans") => {
                self.advance();
                return self.transitions(process);
            }
            TokenKind::Symbol(";") => {}
            TokenKind::Keyword("channel") => {
                let error = Diagnostic::error("syntax", "a channel is not declared in a process", token.span)
                    .with_help("declare it before the processes");
                self.report(error);
                return Err(Unreadable);
            }
            _ => {
                let message = format!("a part of a process is expected, not {}", token.describe());
                let words = ["byte", "int", "const", "state", "init", "commit", "accept", "assert", "trans"];
                let mut error = Diagnostic::error("syntax", message, token.span);
                error.help = match &token.kind {
                    TokenKind::Name(name) => word_hint(name, &words),
                    _ => None,
                }
                .or_else(|| {
                    Some("the parts are variables, `state`, `init`, `commit`, `accept`, `assert`, `trans`".into())
                });
                self.report(error);
                self.advance();
                return Err(Unreadable);
            }
        }
        self.expect(";", "here")?;
        Ok(())
    }

    fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.take(",") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    /// `a -> b { guard …; sync …; effect …; }, … ;`. A transition without a source starts where the one before does.
    fn transitions(&mut self, process: &mut Process) -> Parsed<()> {
        let mut from: Option<Name> = None;
        if self.take(";") {
            return Ok(());
        }
        loop {
            match self.transition(&mut from) {
                Ok(transition) => process.transitions.push(transition),
                Err(Unreadable) => self.skip_transition(),
            }
            if self.take(",") {
                continue;
            }
            if self.take(";") {
                return Ok(());
            }
            let token = self.peek().clone();
            let message = format!("`,` or `;` is expected after a transition, not {}", token.describe());
            let help = match token.kind {
                TokenKind::Name(_) => "write `,` between transitions",
                _ => "write `;` after the last transition",
            };
            let is_next = matches!(token.kind, TokenKind::Name(_));
            self.report(Diagnostic::error("syntax", message, token.span).with_help(help));
            if is_next && self.ahead(1).is("->") {
                continue;
            }
            return if self.peek().is("}") { Ok(()) } else { Err(Unreadable) };
        }
    }

    /// Goes to the `,` or `;` behind a transition that could not be read.
    fn skip_transition(&mut self) {
        let mut open = 0;
        let mut was_inside = false;
        while !self.at_end() && !self.peek().is("process") && !self.peek().is("system") {
            let token = self.peek();
            if token.is("{") {
                open += 1;
                was_inside = true;
            } else if token.is("}") {
                // The brace was opened before the error, or it closes the process.
                let next = self.ahead(1);
                let begins_another = matches!(next.kind, TokenKind::Name(_)) && self.ahead(2).is("->");
                let ends_transition = begins_another || next.is(",") || next.is(";") || next.is("->");
                if open <= 1 && ends_transition {
                    self.advance();
                    return;
                }
                if open == 0 {
                    return;
                }
                open -= 1;
            } else if open == 0 && was_inside && (token.is(",") || token.is(";")) {
                return;
            }
            self.advance();
        }
    }

    fn transition(&mut self, source: &mut Option<Name>) -> Parsed<Transition> {
        let start = self.peek().span;
        let from = if self.peek().is("->") {
            match source {
                Some(from) => from.clone(),
                None => {
                    let error = Diagnostic::error("syntax", "the first transition has no source", start)
                        .with_help("write the state that it starts from: `a -> b { … }`");
                    self.report(error);
                    return Err(Unreadable);
                }
            }
        } else {
            self.name("the name of a state")?
        };
        *source = Some(from.clone());
        self.expect("->", "between the states of a transition")?;
        let to = self.name("the name of a state")?;
        self.expect("{", "before the text of the transition")?;
        let mut transition = Transition { from, to, guard: None, sync: None, effects: Vec::new(), span: start };
        let mut seen: Vec<(&'static str, Span)> = Vec::new();
        while !self.peek().is("}") {
            let token = self.peek().clone();
            let TokenKind::Keyword(word @ ("guard" | "sync" | "effect")) = token.kind else {
                let message = format!("`guard`, `sync` or `effect` is expected, not {}", token.describe());
                let mut error = Diagnostic::error("syntax", message, token.span);
                error.help = match &token.kind {
                    TokenKind::Name(name) => word_hint(name, &["guard", "sync", "effect"]),
                    _ => None,
                }
                .or_else(|| Some("parts of a transition end with `;`, and it ends with `}`".into()));
                self.report(error);
                return Err(Unreadable);
            };
            if let Some((_, first)) = seen.iter().find(|(it, _)| *it == word) {
                let error = Diagnostic::error("syntax", format!("there is another `{word}`"), token.span)
                    .with_secondary(*first, "the first");
                self.report(error);
            }
            seen.push((word, token.span));
            self.advance();
            match word {
                "guard" => transition.guard = Some(self.expression()?),
                "sync" => transition.sync = Some(self.sync()?),
                _ => {
                    transition.effects.push(self.assignment()?);
                    while self.take(",") {
                        transition.effects.push(self.assignment()?);
                    }
                }
            }
            self.expect(";", "here")?;
        }
        let end = self.advance();
        transition.span = start.to(end);
        Ok(transition)
    }

    fn sync(&mut self) -> Parsed<Sync> {
        let channel = self.name("the name of a channel")?;
        let token = self.peek().clone();
        let sends = if self.take("!") {
            true
        } else if self.take("?") {
            false
        } else {
            let message = format!("`!` or `?` is expected after a channel, not {}", token.describe());
            let help = "`c!` sends, and `c?` receives";
            self.report(Diagnostic::error("syntax", message, token.span).with_help(help));
            return Err(Unreadable);
        };
        let mut span = channel.span.to(token.span);
        let mut values = Vec::new();
        if self.take("{") {
            values.push(self.expression()?);
            while self.take(",") {
                values.push(self.expression()?);
            }
            span = span.to(self.expect("}", "after the values of the message")?);
        } else if !self.peek().is(";") {
            let value = self.expression()?;
            span = span.to(value.span);
            values.push(value);
        }
        Ok(Sync { channel, sends, values, span })
    }

    fn assignment(&mut self) -> Parsed<Assignment> {
        let target: Expression = self.reference()?;
        let token = self.peek().clone();
        if !self.take("=") {
            let message = format!("`=` is expected in an assignment, not {}", token.describe());
            let mut error = Diagnostic::error("syntax", message, token.span);
            error.help = match token.kind {
                TokenKind::Symbol("+" | "-" | "+=" | "-=" | "*=" | "/=" | "%=") => Some("write `x = x + 1`".into()),
                TokenKind::Symbol("==" | ":=") => Some("write `=`".into()),
                _ => None,
            };
            self.report(error);
            return Err(Unreadable);
        }
        let value = self.expression()?;
        let span = target.span.to(value.span);
        Ok(Assignment { target, value, span })
    }
}

/// The keyword that a misspelt word may stand for.
fn word_hint(name: &str, words: &[&str]) -> Option<String> {
    quotient_kit::similar(name, words.iter().copied()).map(|word| format!("did you mean `{word}`?"))
}
