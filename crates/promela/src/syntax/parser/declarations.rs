//! Declarations outside processes: variables, process types, inlines, claims.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};

use super::{Inline, Parsed, Parser, Unreadable};
use crate::syntax::token::TokenKind;
use crate::syntax::tree::{
    self, BaseType, Claim, Declaration, Expression, ExpressionKind, Formula, Initial, MtypeDeclaration, Name, Proctype,
    Typedef, Variable,
};

/// Words that begin something outside of processes.
const UNITS: &[&str] = &[
    "active",
    "proctype",
    "D_proctype",
    "init",
    "never",
    "trace",
    "notrace",
    "ltl",
    "ctl",
    "typedef",
    "inline",
    "mtype",
    "hidden",
    "show",
    "bit",
    "bool",
    "byte",
    "chan",
    "int",
    "short",
    "pid",
    "unsigned",
];

impl Parser<'_> {
    pub(super) fn specification(&mut self) {
        while !self.at_end() {
            if self.take(";") {
                continue;
            }
            let before = self.position;
            if self.unit().is_err() {
                if self.position == before {
                    self.position += usize::from(!self.at_end());
                }
                self.skip_to_unit();
            }
        }
    }

    /// After an error: resumes at the next word that begins a declaration at the start of a line.
    fn skip_to_unit(&mut self) {
        while !self.at_end() && !self.begins_unit() {
            self.position += 1;
        }
    }

    fn begins_unit(&self) -> bool {
        let token = self.peek();
        token.starts_line && matches!(&token.kind, TokenKind::Name(word) if UNITS.contains(&&**word))
    }

    fn unit(&mut self) -> Parsed<()> {
        let TokenKind::Name(word) = self.peek().kind.clone() else {
            let message = format!("expected a declaration or a process, found {}", self.peek().describe());
            return self.fail("syntax", message);
        };
        match &*word {
            "active" | "proctype" | "D_proctype" | "init" => self.proctype(),
            "never" | "trace" | "notrace" => {
                let span = self.span();
                self.position += 1;
                let name = if self.at("{") { None } else { Some(self.name("the name of a claim")?) };
                let body = self.block("after the word that begins a claim")?;
                let claim = Claim { name, body, span, negated: &*word == "notrace" };
                if &*word == "never" {
                    self.tree.claims.push(claim)
                } else {
                    self.tree.traces.push(claim)
                }
                Ok(())
            }
            "ltl" => self.formula(false),
            // A word of ours: to SPIN it is a name.
            "ctl" if self.peek_at(1).is("{") || self.peek_at(2).is("{") => self.formula(true),
            "typedef" => self.typedef(),
            "inline" => self.inline(),
            "mtype" if self.begins_mtype_members() => self.mtype_members(),
            "c_code" | "c_decl" | "c_state" | "c_track" | "c_expr" => {
                self.embedded_c();
                Ok(())
            }
            _ => {
                let declaration = self.declaration()?;
                self.tree.globals.push(declaration);
                Ok(())
            }
        }
    }

    /// Reports embedded C and skips it.
    pub(super) fn embedded_c(&mut self) {
        let word = self.next();
        self.report(
            Diagnostic::error("embedded-c", format!("embedded C is not supported: {}", word.describe()), word.span)
                .with_help("say it in Promela; C code cannot be examined for symmetries"),
        );
        while matches!(self.peek().kind, TokenKind::Text(_)) || self.at("[") || self.at("{") {
            if self.at("[") || self.at("{") {
                self.skip_brackets();
            } else {
                self.position += 1;
            }
        }
    }

    fn begins_mtype_members(&self) -> bool {
        let mut distance = 1;
        if self.peek_at(1).is(":") {
            distance = 3;
        }
        self.peek_at(distance).is("{") || self.peek_at(distance).is("=") && self.peek_at(distance + 1).is("{")
    }

    fn mtype_members(&mut self) -> Parsed<()> {
        self.position += 1;
        let subtype = if self.take_colon_equals("=", "messages are named by `mtype = { … }`") {
            None
        } else if self.take(":") {
            Some(self.name("the name of a kind of messages")?)
        } else {
            None
        };
        self.take("=");
        self.expect("{", "before the names of messages")?;
        let mut members = Vec::new();
        while !self.at("}") && !self.at_end() {
            members.push(self.name("the name of a message")?);
            // SPIN does without the commas, too.
            while self.take(",") {}
        }
        self.expect("}", "after the names of messages")?;
        self.tree.mtypes.push(MtypeDeclaration { subtype, members });
        Ok(())
    }

    fn typedef(&mut self) -> Parsed<()> {
        self.position += 1;
        let name = self.name("the name of a type")?;
        self.expect("{", "before the fields of a type")?;
        let mut fields = Vec::new();
        loop {
            while self.take(";") || self.take(",") {}
            if self.at("}") || self.at_end() {
                break;
            }
            fields.push(self.declaration()?);
        }
        self.expect("}", "after the fields of a type")?;
        self.tree.typedefs.push(Typedef { name, fields });
        Ok(())
    }

    fn inline(&mut self) -> Parsed<()> {
        let first = self.span();
        self.position += 1;
        let name = self.name("the name of an inline")?;
        self.expect("(", "after the name of an inline")?;
        let mut parameters = Vec::new();
        while !self.at(")") && !self.at_end() {
            parameters.push(self.name("a parameter")?);
            if !self.take(",") && !self.at(")") {
                let message = format!("expected `,` or `)` after a parameter, found {}", self.peek().describe());
                return self.fail("syntax", message);
            }
        }
        self.expect(")", "after the parameters of an inline")?;
        if !self.at("{") {
            let message = format!("expected `{{` before the body of an inline, found {}", self.peek().describe());
            return self.fail("syntax", message);
        }
        let start = self.position;
        self.skip_brackets();
        let body: Rc<[super::Token]> = self.tokens[start + 1..(self.position - 1).max(start + 1)].into();
        let mentions = body.iter().filter_map(|token| {
            let position = parameters.iter().position(|parameter| token.is_name(&parameter.text))?;
            Some((position, token.written))
        });
        self.tree.inlines.push(tree::Inline {
            name: name.clone(),
            mentions: mentions.collect(),
            uses: Vec::new(),
            span: self.so_far(first),
            parameters: parameters.clone(),
        });
        let parameters = parameters.into_iter().map(|parameter| parameter.text).collect();
        if self.inlines.insert(name.text.clone(), Inline { parameters, body }).is_some() {
            let message = format!("there are two inlines of the name `{}`", name.text);
            self.report(Diagnostic::error("duplicate-name", message, name.span));
        }
        Ok(())
    }

    /// Reads a formula. If that fails, the rest of the text can be read all the same.
    fn formula(&mut self, branching: bool) -> Parsed<()> {
        let (first, before) = (self.position, self.errors);
        let read = self.formula_alone(branching);
        self.in_formula = false;
        if read.is_err() {
            self.formula_errors += self.errors - before;
            // Formulas have no braces.
            self.position = first + 1;
            while !self.at_end() && !self.at("}") && !self.begins_unit() {
                self.position += 1;
            }
            self.take("}");
        }
        Ok(())
    }

    fn formula_alone(&mut self, branching: bool) -> Parsed<()> {
        let span = self.span();
        self.position += 1;
        let name = if self.at("{") { None } else { Some(self.name("the name of a formula")?) };
        self.expect("{", "before a formula")?;
        self.in_formula = true;
        self.given_separately =
            name.as_ref().is_some_and(|name| name.text.starts_with(quotient_kit::conditions::CARRIER));
        let condition = self.expression()?;
        self.in_formula = false;
        self.take(";");
        if !self.at("}") {
            return self.expected_operator();
        }
        self.position += 1;
        let span = name.as_ref().map_or(span, |name| self.through(span, name.span));
        self.tree.formulas.push(Formula { name, branching, condition, span });
        Ok(())
    }

    /// Reports that a formula does not continue with an operator.
    fn expected_operator(&mut self) -> Parsed<()> {
        const OPERATORS: [&str; 16] = [
            "always",
            "eventually",
            "next",
            "until",
            "weakuntil",
            "stronguntil",
            "release",
            "implies",
            "equivalent",
            "once",
            "historically",
            "yesterday",
            "since",
            "triggered",
            "forall",
            "exists",
        ];
        let found = self.peek().describe();
        let message = format!("expected an operator or `}}`, found {found}");
        let mut error = Diagnostic::error("syntax", message, self.span());
        for token in [self.peek(), &self.tokens[self.position.saturating_sub(1)]] {
            if let TokenKind::Name(word) = &token.kind
                && !self.names.contains(word)
                && let Some(meant) = quotient_kit::similar(word, OPERATORS)
            {
                error = error.with_help(format!("did you mean `{meant}` instead of `{word}`?"));
                break;
            }
        }
        self.report(error);
        Err(Unreadable)
    }

    fn proctype(&mut self) -> Parsed<()> {
        let mut span = self.span();
        let active = if self.take_word("active") {
            if self.take("[") {
                let count = self.expression()?;
                self.expect("]", "after the number of processes")?;
                Some(Some(count))
            } else {
                Some(None)
            }
        } else {
            None
        };
        let is_init = self.at_word("init");
        let (name, parameters) = if is_init {
            let token = self.next();
            span = self.through(span, token.span);
            (Name { text: "init".into(), span: token.span, written: token.written }, Vec::new())
        } else {
            if !self.take_word("proctype") && !self.take_word("D_proctype") {
                let message = format!("expected `proctype`, found {}", self.peek().describe());
                return self.fail("syntax", message);
            }
            let name = self.name("the name of a process type")?;
            self.declared.insert(name.text.clone());
            span = self.through(span, name.span);
            self.expect("(", "after the name of a process type")?;
            let mut parameters = Vec::new();
            while !self.at(")") && !self.at_end() {
                parameters.push(self.declaration()?);
                if !self.take(";") && !self.take(",") && !self.at(")") {
                    let message = format!("expected `;` or `)` after a parameter, found {}", self.peek().describe());
                    return self.fail("syntax", message);
                }
            }
            self.expect(")", "after the parameters of a process type")?;
            (name, parameters)
        };
        let mut priority = None;
        let mut provided = None;
        loop {
            if self.take_word("priority") {
                priority = Some(self.expression()?);
            } else if self.take_word("provided") {
                self.expect("(", "after `provided`")?;
                provided = Some(self.expression()?);
                self.expect(")", "after the condition of `provided`")?;
            } else {
                break;
            }
        }
        let body = self.block("before the body of a process")?;
        let closing = self.last_span();
        let proctype = Proctype { name, is_init, active, parameters, priority, provided, body, span, closing };
        self.tree.proctypes.push(proctype);
        Ok(())
    }

    /// Whether a declaration begins here.
    pub(super) fn begins_declaration(&self) -> bool {
        let TokenKind::Name(word) = &self.peek().kind else { return false };
        match &**word {
            "hidden" | "show" | "local" | "bit" | "bool" | "byte" | "chan" | "int" | "short" | "pid" | "unsigned"
            | "mtype" => true,
            _ if Self::is_keyword(word) => false,
            // `Type name`: a type declared by the user.
            _ => matches!(&self.peek_at(1).kind, TokenKind::Name(next) if !Self::is_keyword(next)
                && &**next != "unless" && &**next != "until" && &**next != "implies"),
        }
    }

    fn base_type(&mut self) -> Parsed<BaseType> {
        let token = self.peek().clone();
        let TokenKind::Name(word) = &token.kind else {
            let message = format!("expected a type, found {}", token.describe());
            return self.fail("syntax", message);
        };
        let ty = match &**word {
            "bit" => BaseType::Bit,
            "bool" => BaseType::Bool,
            "byte" => BaseType::Byte,
            "short" => BaseType::Short,
            "int" => BaseType::Int,
            "unsigned" => BaseType::Unsigned,
            "chan" => BaseType::Chan,
            "pid" => BaseType::Pid,
            "mtype" => {
                self.position += 1;
                let subtype = if self.take(":") { Some(self.name("the name of a kind of messages")?) } else { None };
                return Ok(BaseType::Mtype(subtype));
            }
            _ => return Ok(BaseType::User(self.name("a type")?)),
        };
        self.position += 1;
        Ok(ty)
    }

    /// A type and the variables of it, up to what cannot belong to it.
    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        // These words determine how SPIN shows and stores a variable, not what it holds.
        let mut hidden = false;
        loop {
            if self.take_word("hidden") {
                hidden = true;
            } else if !self.take_word("show") && !self.take_word("local") {
                break;
            }
        }
        let ty = self.base_type()?;
        let mut variables = vec![self.variable()?];
        // In parameters a comma may separate declarations as well as variables.
        while self.at(",") {
            if matches!(&self.peek_at(1).kind, TokenKind::Name(word) if Self::is_keyword(word))
                || matches!(&self.peek_at(2).kind, TokenKind::Name(_)) && !self.peek_at(2).starts_line
            {
                break;
            }
            self.position += 1;
            variables.push(self.variable()?);
        }
        Ok(Declaration { hidden, ty, variables })
    }

    fn variable(&mut self) -> Parsed<Variable> {
        let name = self.name("the name of a variable")?;
        let mut size = None;
        let mut width = None;
        if self.take("[") {
            size = Some(self.expression()?);
            self.expect("]", "after the size of an array")?;
        } else if !self.peek_at(1).is("=") && self.take(":") {
            width = Some(self.operand()?);
        }
        let is_initialized = self.take("=") || self.take_colon_equals("=", "an initial value is written `=`");
        let initial = if is_initialized { Some(self.initial()?) } else { None };
        Ok(Variable { name, size, width, initial })
    }

    fn initial(&mut self) -> Parsed<Initial> {
        let span = self.span();
        if self.take("{") {
            let mut values = Vec::new();
            while !self.at("}") && !self.at_end() {
                values.push(self.expression()?);
                if !self.take(",") {
                    break;
                }
            }
            self.expect("}", "after the initial values of an array")?;
            return Ok(Initial::List(values));
        }
        if !self.at("[") {
            return Ok(Initial::Value(self.expression()?));
        }
        self.position += 1;
        let capacity = self.expression()?;
        self.expect("]", "after the capacity of a channel")?;
        if !self.take_word("of") {
            let message = format!("expected `of`, found {}", self.peek().describe());
            return self.fail("syntax", message);
        }
        self.expect("{", "before the fields of messages")?;
        let mut fields = Vec::new();
        while !self.at("}") && !self.at_end() {
            let ty = self.base_type()?;
            // A name or a width may follow the type of a field, and mean nothing.
            if ty == BaseType::Unsigned && self.take(":") {
                self.operand()?;
            }
            fields.push(ty);
            if !self.take(",") {
                break;
            }
        }
        self.expect("}", "after the fields of messages")?;
        Ok(Initial::Channel { capacity, fields, span: self.so_far(span) })
    }

    /// Expands an inline: the tokens of its body with the arguments for the parameters.
    pub(super) fn open_inline(&mut self, name: &Name, span: Span) -> Parsed<Vec<super::Token>> {
        let inline = self.inlines.get(&name.text).cloned().ok_or(Unreadable)?;
        if let Some(text) = self.tree.inlines.iter_mut().rev().find(|it| it.name.text == name.text) {
            text.uses.push(name.written);
        }
        self.expect("(", "after the name of an inline")?;
        let mut arguments: Vec<Vec<super::Token>> = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let token = self.next();
            match token.kind {
                TokenKind::End => return self.fail("syntax", "the arguments of this inline have no `)`"),
                TokenKind::Symbol(")") if depth == 0 => break,
                TokenKind::Symbol(",") if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                TokenKind::Symbol("(" | "[" | "{") => depth += 1,
                TokenKind::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            arguments.last_mut().expect("there is always one").push(token);
        }
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        let (wanted, given) = (inline.parameters.len(), arguments.len());
        if wanted != given {
            let message = format!("inline `{}` takes {wanted} arguments, {given} are given", name.text);
            self.report(Diagnostic::error("wrong-arity", message, span));
            return Err(Unreadable);
        }
        if self.open_inlines.iter().any(|(open, _)| *open == name.text) {
            let message = format!("inline `{}` uses itself", name.text);
            self.report(
                Diagnostic::error("recursive-inline", message, span)
                    .with_help("an inline is text put in place; a process can be recursive, an inline cannot"),
            );
            return Err(Unreadable);
        }
        let mut body = Vec::new();
        for token in inline.body.iter() {
            let parameter = match &token.kind {
                TokenKind::Name(word) => inline.parameters.iter().position(|parameter| parameter == word),
                _ => None,
            };
            match parameter {
                Some(parameter) => {
                    let first = body.len();
                    body.extend(arguments[parameter].iter().cloned());
                    // A line begins where the parameter does, which may separate statements.
                    if let Some(argument) = body.get_mut(first) {
                        argument.starts_line = token.starts_line;
                    }
                }
                None => body.push(token.clone()),
            }
        }
        self.inlined_tokens += body.len();
        if self.inlined_tokens > super::INLINE_LIMIT {
            self.report(Diagnostic::error("too-many-tokens", "inlines make this text too long", span));
            return Err(Unreadable);
        }
        let end = Span { start: span.end, end: span.end };
        body.push(super::Token { kind: TokenKind::End, span: end, written: end, starts_line: false });
        Ok(body)
    }

    /// A plain number as an expression.
    pub(super) fn number(value: i64, span: Span) -> Expression {
        Expression { kind: ExpressionKind::Number(value), span }
    }
}
