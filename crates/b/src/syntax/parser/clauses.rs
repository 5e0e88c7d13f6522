//! The machine and its clauses. After an error only the rest of that clause is skipped; in the operations, the rest of
//! that operation.

use quotient_ir::{Diagnostic, Span};

use super::super::token::TokenKind;
use super::super::tree::{
    Component, Definition, DefinitionBody, Formula, FormulaKind, Machine, Name, Operation, Reference, SetDeclaration,
};
use super::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn machine(&mut self) -> Machine {
        let mut machine = Machine::default();
        if self.header(&mut machine).is_err() {
            self.skip_to_clause();
        }
        let mut closed = false;
        while self.kind() != TokenKind::EndOfFile {
            if self.accept_word("END") {
                closed = true;
                break;
            }
            let clause = match self.kind() {
                TokenKind::Word(word) if self.at_clause() => word,
                _ => {
                    let _ = self.unexpected::<()>("a clause or `END`");
                    self.advance();
                    self.skip_to_clause();
                    continue;
                }
            };
            let start = self.advance().span;
            if self.clause(clause, start, &mut machine).is_err() {
                self.skip_to_clause();
            }
        }
        if closed && self.kind() != TokenKind::EndOfFile {
            let diagnostic = Diagnostic::error("syntax", "the machine ends before this", self.span())
                .with_help("remove what follows, or an `END` before it");
            let _ = self.report::<()>(diagnostic);
        } else if !closed && machine.name.is_some() {
            let _ = self.unexpected::<()>("`END` of the machine");
        }
        machine
    }

    fn skip_to_clause(&mut self) {
        while !self.at_clause() {
            self.advance();
        }
    }

    fn header(&mut self, machine: &mut Machine) -> Parsed<()> {
        machine.component = match self.kind() {
            TokenKind::Word("MACHINE" | "MODEL" | "SYSTEM") => Component::Machine,
            // A file of definitions.
            TokenKind::Word("DEFINITIONS") => return Ok(()),
            TokenKind::Word("REFINEMENT") => Component::Refinement,
            TokenKind::Word("IMPLEMENTATION") => Component::Implementation,
            _ => {
                let found = self.describe(self.token(0));
                let message = format!("expected `MACHINE`, `REFINEMENT` or `IMPLEMENTATION`, found {found}");
                let diagnostic = Diagnostic::error("syntax", message, self.span())
                    .with_help("a B machine starts with `MACHINE Name`");
                return self.report(diagnostic);
            }
        };
        self.advance();
        machine.name = Some(self.name("the name of the machine")?);
        if self.accept_sign("(") {
            machine.parameters = self.names("a parameter of the machine")?;
            self.expect_sign(")", "after the parameters")?;
        }
        Ok(())
    }

    fn clause(&mut self, clause: &'static str, start: Span, machine: &mut Machine) -> Parsed<()> {
        match clause {
            "REFINES" => machine.refines = Some(self.name("the name of the refined machine")?),
            "SETS" => self.sets(machine)?,
            "CONSTANTS" | "ABSTRACT_CONSTANTS" | "CONCRETE_CONSTANTS" | "HIDDEN_CONSTANTS" | "VISIBLE_CONSTANTS" => {
                machine.constants.extend(self.names("the name of a constant")?);
            }
            "VARIABLES" | "ABSTRACT_VARIABLES" | "CONCRETE_VARIABLES" | "HIDDEN_VARIABLES" | "VISIBLE_VARIABLES" => {
                machine.variables.extend(self.names("the name of a variable")?);
            }
            "PROPERTIES" => {
                let formula = self.formula()?;
                conjoin(&mut machine.properties, formula);
            }
            "CONSTRAINTS" => {
                let formula = self.formula()?;
                conjoin(&mut machine.constraints, formula);
            }
            "INVARIANT" => {
                let formula = self.formula()?;
                conjoin(&mut machine.invariant, formula);
            }
            "ASSERTIONS" => loop {
                machine.assertions.push(self.formula()?);
                if !self.accept_sign(";") || self.at_clause() || self.is_word("END") {
                    break;
                }
            },
            "DEFINITIONS" => self.definitions(machine),
            "VALUES" => loop {
                let name = self.name("the name of a set or constant")?;
                self.expect_sign("=", "after the name")?;
                machine.values.push((name, self.formula()?));
                if !self.accept_sign(";") || self.at_clause() || self.is_word("END") {
                    break;
                }
            },
            "INITIALISATION" | "INITIALIZATION" => machine.initialisation = Some(self.substitution()?),
            "OPERATIONS" | "EVENTS" | "LOCAL_OPERATIONS" => self.operations(clause == "LOCAL_OPERATIONS", machine),
            "INCLUDES" => machine.includes.extend(self.references()?),
            "EXTENDS" => machine.extends.extend(self.references()?),
            "IMPORTS" => machine.imports.extend(self.references()?),
            "SEES" => machine.sees.extend(self.references()?),
            "USES" => machine.uses.extend(self.references()?),
            "PROMOTES" => machine.promotes.extend(self.names("the name of an operation")?),
            _ => {
                let diagnostic =
                    Diagnostic::error("unsupported", format!("the clause `{clause}` is not supported"), start);
                self.last_error = None;
                return self.report(diagnostic);
            }
        }
        if !self.at_clause() && !self.is_word("END") {
            return self.unexpected("a clause or `END`");
        }
        Ok(())
    }

    fn sets(&mut self, machine: &mut Machine) -> Parsed<()> {
        loop {
            let name = self.name("the name of a set")?;
            let members = if self.accept_sign("=") {
                self.expect_sign("{", "before the members of an enumerated set")?;
                let members = self.names("a member of the set")?;
                self.expect_sign("}", "after the members")?;
                Some(members)
            } else {
                None
            };
            machine.sets.push(SetDeclaration { name, members });
            if !self.accept_sign(";") || self.at_clause() || self.is_word("END") {
                return Ok(());
            }
        }
    }

    fn definitions(&mut self, machine: &mut Machine) {
        while !self.at_clause() && !self.is_word("END") {
            if self.definition(machine).is_err() {
                // To the next `name ==` or `name(…) ==`, or the next clause.
                while !self.at_clause() && !self.at_definition() {
                    self.advance();
                }
            } else if !self.accept_sign(";") && !self.at_clause() && !self.is_word("END") && !self.at_definition() {
                let _ = self.unexpected::<()>("`;` between definitions");
                while !self.at_clause() && !self.at_definition() {
                    self.advance();
                }
            }
        }
    }

    /// Whether `name ==` or `name(x, y) ==` comes next.
    fn at_definition(&self) -> bool {
        if self.kind() != TokenKind::Identifier {
            return false;
        }
        let mut ahead = 1;
        if self.token(1).kind == TokenKind::Sign("(") {
            ahead = 2;
            while matches!(self.token(ahead).kind, TokenKind::Identifier | TokenKind::Sign(",")) {
                ahead += 1;
            }
            if self.token(ahead).kind != TokenKind::Sign(")") {
                return false;
            }
            ahead += 1;
        }
        self.token(ahead).kind == TokenKind::Sign("==")
    }

    fn definition(&mut self, machine: &mut Machine) -> Parsed<()> {
        if self.kind() == TokenKind::Text {
            let span = self.advance().span;
            let text = &self.text[span.start as usize..span.end as usize];
            machine.definition_files.push(Name { text: text.trim_matches(['"', '\'']).into(), span });
            return Ok(());
        }
        let name = self.name("the name of a definition")?;
        let mut parameters = Vec::new();
        if self.accept_sign("(") {
            parameters = self.names("a parameter of a definition")?;
            self.expect_sign(")", "after the parameters")?;
        }
        self.expect_sign("==", "after the name of a definition")?;
        let body = self.definition_body()?;
        machine.definitions.push(Definition { name, parameters, body });
        Ok(())
    }

    /// A formula if that is possible, or else a substitution.
    fn definition_body(&mut self) -> Parsed<DefinitionBody> {
        let (position, errors, last_error) = (self.position, self.errors.len(), self.last_error);
        let formula = self.formula();
        let ends = |parser: &Self| {
            parser.is_sign(";") || parser.at_clause() || parser.is_word("END") || parser.at_definition()
        };
        if let Ok(formula) = formula
            && ends(self)
        {
            return Ok(DefinitionBody::Formula(formula));
        }
        let reached = (self.position, self.errors.len());
        let formula_errors = self.errors.split_off(errors.min(self.errors.len()));
        if self.stopped {
            self.errors.extend(formula_errors);
            return Err(super::Reported);
        }
        self.position = position;
        self.last_error = last_error;
        let starts_like_one = self.at_substitution_word();
        match self.parallel() {
            Ok(substitution) if ends(self) => Ok(DefinitionBody::Substitution(substitution)),
            _ if starts_like_one => self.unexpected("`;` after the definition"),
            _ => {
                // Neither fits; the message about the formula is the better one.
                self.errors.truncate(errors);
                self.errors.extend(formula_errors);
                self.position = reached.0;
                if self.errors.len() == errors {
                    self.unexpected("`;` after the definition")
                } else {
                    Err(super::Reported)
                }
            }
        }
    }

    fn operations(&mut self, local: bool, machine: &mut Machine) {
        loop {
            let before = self.position;
            match self.operation() {
                Ok(operation) if local => drop(operation),
                Ok(operation) => machine.operations.push(operation),
                Err(_) => self.skip_operation(),
            }
            if !self.accept_sign(";")
                || self.at_clause()
                || self.is_word("END") && self.token(1).kind == TokenKind::EndOfFile
            {
                break;
            }
            if self.position == before {
                break;
            }
        }
    }

    /// To the `;` before the next operation, or to the next clause.
    fn skip_operation(&mut self) {
        while !self.at_clause() {
            if self.is_sign(";") && self.token(1).kind == TokenKind::Identifier {
                // An operation's `=` comes after its name and parameters; an assignment has `:=`.
                let mut ahead = 1;
                while matches!(self.token(ahead).kind, TokenKind::Identifier | TokenKind::Sign("," | "(" | ")" | "<--"))
                {
                    ahead += 1;
                }
                if self.token(ahead).kind == TokenKind::Sign("=") {
                    return;
                }
            }
            self.advance();
        }
    }

    fn operation(&mut self) -> Parsed<Operation> {
        let start = self.span();
        let mut names = self.names("the name of an operation")?;
        let mut outputs = Vec::new();
        let name: Name = if self.accept_sign("<--") {
            outputs = names;
            self.name("the name of an operation")?
        } else if names.len() == 1 {
            names.remove(0)
        } else {
            return self.unexpected("`<--` after the outputs of an operation");
        };
        let mut parameters = Vec::new();
        if self.accept_sign("(") {
            parameters = self.names("a parameter of the operation")?;
            self.expect_sign(")", "after the parameters")?;
        }
        if !self.accept_sign("=") && !self.accept_sign("==") {
            return self.unexpected("`=` after the header of an operation");
        }
        // `;` separates operations: a sequence must be in `BEGIN … END`.
        let body = self.parallel()?;
        if !self.is_sign(";") && !self.at_clause() && !self.is_word("END") {
            return self.unexpected("`;` before the next operation, or `END`");
        }
        let span = start.to(self.previous());
        Ok(Operation { name, outputs, parameters, body, span })
    }

    fn references(&mut self) -> Parsed<Vec<Reference>> {
        let mut references = Vec::new();
        loop {
            let name = self.name("the name of a machine")?;
            let arguments = if self.is_sign("(") { self.arguments()? } else { Vec::new() };
            references.push(Reference { name, arguments });
            if !self.accept_sign(",") {
                return Ok(references);
            }
        }
    }
}

/// Several clauses of one kind are a conjunction.
fn conjoin(clause: &mut Option<Formula>, formula: Formula) {
    *clause = Some(match clause.take() {
        None => formula,
        Some(before) => {
            let span = before.span.to(formula.span);
            Formula { kind: FormulaKind::Binary("&", Box::new(before), Box::new(formula)), span }
        }
    });
}
