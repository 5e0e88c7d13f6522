//! Items: macros, variables, channels, definitions, alphabets.

use quotient_ir::Diagnostic;
use quotient_kit::tokens::TokenKind;
use quotient_kit::watched::WATCHED;

use super::{Parsed, Parser, Unreadable};
use crate::syntax::tree::{
    Alphabet, Channel, Definition, Element, Expression, Initial, Macro, MacroBody, Name, Specification, Variable,
};

impl Parser<'_> {
    pub(super) fn item(&mut self, specification: &mut Specification) -> Parsed<()> {
        let token = self.peek().clone();
        if token.is("#") {
            return self.directive(specification);
        }
        if token.is("var") || token.is("hvar") {
            let variable = self.variable()?;
            specification.variables.push(variable);
            return Ok(());
        }
        if token.is("channel") {
            self.advance();
            let name = self.name("the name of a channel")?;
            let sizes = self.indices()?;
            let capacity = match self.peek().is(";") {
                true => {
                    let error = Diagnostic::error("syntax", "a channel needs a capacity", self.peek().span);
                    self.report(error.with_help("write the number of messages it can hold: `channel c 0;`"));
                    return Err(Unreadable);
                }
                false => self.additive()?,
            };
            self.expect(";", "after a channel")?;
            specification.channels.push(Channel { name, sizes, capacity });
            return Ok(());
        }
        if token.is("enum") {
            self.advance();
            self.expect("{", "before the names of an enumeration")?;
            let names = self.names("a name")?;
            self.expect("}", "after the names of an enumeration")?;
            self.expect(";", "after an enumeration")?;
            specification.enumerations.push(names);
            return Ok(());
        }
        if matches!(token.kind, TokenKind::Name(_)) {
            let definition = self.definition()?;
            specification.definitions.push(definition);
            return Ok(());
        }
        if self.take(";") {
            return Ok(());
        }
        self.unexpected("a declaration, a definition or an assertion")
    }

    fn directive(&mut self, specification: &mut Specification) -> Parsed<()> {
        let start = self.advance();
        let word = self.name("`define`, `assert`, `alphabet` or `import`")?;
        match &*word.text {
            "define" => {
                let definition = self.macro_definition()?;
                specification.macros.push(definition);
            }
            "assert" => {
                let assertion = self.assertion(start)?;
                specification.assertions.push(assertion);
            }
            "invariant" => {
                let assertion = self.invariant(start)?;
                specification.assertions.push(assertion);
            }
            "ltl" => {
                let assertion = self.linear(start)?;
                specification.assertions.push(assertion);
            }
            WATCHED => {
                specification.watched = Some(self.expression()?);
                self.expect(";", "after the expression")?;
            }
            "alphabet" => {
                let name = self.name("the name of a process")?;
                let mut parameters = Vec::new();
                if self.take("(") {
                    // The parameters are those of the definition.
                    if !self.peek().is(")") {
                        parameters = self.names("a parameter")?;
                    }
                    self.expect(")", "after the parameters")?;
                }
                let events = self.event_sets()?;
                self.expect(";", "after an alphabet")?;
                specification.alphabets.push(Alphabet { name, parameters, events });
            }
            "import" | "include" => {
                let token = self.peek().clone();
                let TokenKind::Text(text) = token.kind else { return self.unexpected("a name in quotes") };
                self.advance();
                self.expect(";", "after this")?;
                specification.imports.push((text, start.to(token.span)));
            }
            _ => {
                let message = format!("`#{}` is not known", word.text);
                let error = Diagnostic::error("syntax", message, start.to(word.span));
                self.report(error.with_help("there are `#define`, `#assert`, `#alphabet` and `#import`"));
                return Err(Unreadable);
            }
        }
        Ok(())
    }

    fn macro_definition(&mut self) -> Parsed<Macro> {
        let name = self.name("the name of a constant")?;
        // `#define f(i) …` has parameters, `#define c (x == 1)` does not.
        let mut parameters = Vec::new();
        if self.peek().is("(") && self.peek().span.start == name.span.end {
            let mut distance = 1;
            while matches!(self.ahead(distance).kind, TokenKind::Name(_)) || self.ahead(distance).is(",") {
                distance += 1;
            }
            if distance > 1 && self.ahead(distance).is(")") && !self.ahead(distance + 1).is(";") {
                self.advance();
                parameters = self.names("a parameter")?;
                self.expect(")", "after the parameters")?;
            }
        }
        let body = if self.peek().is("{") {
            MacroBody::Block(self.block()?)
        } else {
            MacroBody::Expression(self.expression()?)
        };
        self.expect(";", "after a definition")?;
        Ok(Macro { name, parameters, body })
    }

    fn variable(&mut self) -> Parsed<Variable> {
        let is_hidden = self.peek().is("hvar");
        self.advance();
        let class_before = self.class()?;
        let name = self.name("the name of a variable")?;
        let class_behind = self.class()?;
        let sizes = self.indices()?;
        let mut range = None;
        if self.take(":") {
            self.expect("{", "before a range")?;
            let low = if self.peek().is("..") { None } else { Some(self.additive()?) };
            self.expect("..", "between the bounds of a range")?;
            let high = if self.peek().is("}") { None } else { Some(self.additive()?) };
            self.expect("}", "after a range")?;
            range = Some((low, high));
        }
        let mut initial = Initial::Zero;
        if self.take("=") {
            initial = if self.peek().is("[") {
                let start = self.advance();
                let mut elements = vec![self.element()?];
                while self.take(",") {
                    elements.push(self.element()?);
                }
                let end = self.expect("]", "after the elements of an array")?;
                Initial::List(elements, start.to(end))
            } else if self.peek().is("*") {
                Initial::Any(self.advance())
            } else if self.peek().is("[]") {
                let message = "an array has at least one element";
                let span = self.peek().span;
                self.report(Diagnostic::error("syntax", message, span));
                return Err(Unreadable);
            } else {
                Initial::Value(self.expression()?)
            };
        }
        self.expect(";", "after a variable")?;
        Ok(Variable { name, is_hidden, class: class_before.or(class_behind), sizes, range, initial })
    }

    fn class(&mut self) -> Parsed<Option<Name>> {
        if !self.take("<") {
            return Ok(None);
        }
        let name = self.name("the name of a class")?;
        self.expect(">", "after the name of a class")?;
        Ok(Some(name))
    }

    fn element(&mut self) -> Parsed<Element> {
        let first = self.expression()?;
        if self.take("..") {
            return Ok(Element::Range(first, self.expression()?));
        }
        if self.take("(") {
            let times = self.expression()?;
            self.expect(")", "after the number of copies")?;
            return Ok(Element::Repeated(first, times));
        }
        Ok(Element::One(first))
    }

    fn definition(&mut self) -> Parsed<Definition> {
        let name = self.name("the name of a process")?;
        let mut parameters = Vec::new();
        if self.take("(") {
            if !self.peek().is(")") {
                parameters = self.names("a parameter")?;
            }
            self.expect(")", "after the parameters")?;
        }
        self.expect("=", "in a definition")?;
        let body = self.process()?;
        self.expect(";", "after a definition")?;
        Ok(Definition { name, parameters, body })
    }

    fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.take(",") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    /// `[i][j]`, perhaps nothing.
    pub(super) fn indices(&mut self) -> Parsed<Vec<Expression>> {
        let mut indices = Vec::new();
        while self.take("[") {
            indices.push(self.expression()?);
            self.expect("]", "after an index")?;
        }
        Ok(indices)
    }
}
