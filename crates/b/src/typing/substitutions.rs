//! Substitutions, reduced to few kinds. Assignments to a part of a variable become assignments to the whole, `::` and
//! `:(…)` become `ANY`, `CASE` becomes `IF`, and calls are expanded.

use std::rc::Rc;
use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::super::core::{Expr, Kind, Operator, Substitution, SubstitutionKind, SymbolId, SymbolKind};
use super::super::syntax::tree::{self, DefinitionBody, Formula, FormulaKind};
use super::super::types::Type;
use super::formulas::{argument_map, replace};
use super::{Elaborator, Entry, MAXIMUM_EXPANSIONS};

impl Elaborator<'_> {
    pub(super) fn substitution(&mut self, substitution: &tree::Substitution) -> Substitution {
        let span = substitution.span;
        self.nodes += 1;
        let kind = match &substitution.kind {
            tree::SubstitutionKind::Skip => SubstitutionKind::Skip,
            tree::SubstitutionKind::Assign(targets, values) => self.assign(targets, values, span),
            tree::SubstitutionKind::Choose(targets, set) => self.choose(targets, set),
            tree::SubstitutionKind::Become(targets, predicate) => self.becomes(targets, predicate),
            tree::SubstitutionKind::Parallel(parts) => {
                let parts: Vec<Substitution> = parts.iter().map(|part| self.substitution(part)).collect();
                self.check_disjoint(&parts);
                SubstitutionKind::Parallel(parts)
            }
            tree::SubstitutionKind::Sequence(parts) => {
                SubstitutionKind::Sequence(parts.iter().map(|part| self.substitution(part)).collect())
            }
            tree::SubstitutionKind::Block(body) => return self.substitution(body),
            tree::SubstitutionKind::Precondition(condition, body) => {
                let condition = self.predicate(condition);
                let called = std::mem::replace(&mut self.called, false);
                let body = Box::new(self.substitution(body));
                self.called = called;
                if called {
                    let message = format!(
                        "the precondition `{}` of a called operation does not hold",
                        self.name_of(condition.span)
                    );
                    SubstitutionKind::Assert(condition, message, body)
                } else {
                    SubstitutionKind::Guard(condition, body)
                }
            }
            tree::SubstitutionKind::Assert(condition, body) => {
                let condition = self.predicate(condition);
                let message = format!("the assertion `{}` does not hold", self.name_of(condition.span));
                SubstitutionKind::Assert(condition, message, Box::new(self.substitution(body)))
            }
            tree::SubstitutionKind::If(branches, otherwise) => {
                let branches = self.branches(branches);
                let otherwise = match otherwise {
                    Some(otherwise) => self.substitution(otherwise),
                    None => Substitution { kind: SubstitutionKind::Skip, span },
                };
                SubstitutionKind::If(branches, Box::new(otherwise))
            }
            tree::SubstitutionKind::Select(branches, otherwise) => {
                let branches = self.branches(branches);
                SubstitutionKind::Select(branches, otherwise.as_ref().map(|it| Box::new(self.substitution(it))))
            }
            tree::SubstitutionKind::Choice(parts) => {
                SubstitutionKind::Choice(parts.iter().map(|part| self.substitution(part)).collect())
            }
            tree::SubstitutionKind::Any(names, condition, body) => {
                let symbols = self.bind(names);
                let condition = self.predicate(condition);
                let body = Box::new(self.substitution(body));
                self.scopes.pop();
                SubstitutionKind::Any(symbols, condition, body)
            }
            tree::SubstitutionKind::Let(names, bindings, body) => {
                let symbols = self.bind(names);
                let bindings = self.bindings(&symbols, bindings);
                let body = Box::new(self.substitution(body));
                self.scopes.pop();
                SubstitutionKind::Let(bindings, body)
            }
            tree::SubstitutionKind::Var(names, body) => {
                let symbols = self.bind(names);
                let body = Box::new(self.substitution(body));
                self.scopes.pop();
                SubstitutionKind::Var(symbols, body)
            }
            tree::SubstitutionKind::Case(subject, cases, otherwise) => {
                self.case(subject, cases, otherwise.as_deref(), span)
            }
            tree::SubstitutionKind::While { condition, body, invariant, variant } => {
                let condition = self.predicate(condition);
                let invariant = invariant.as_ref().map(|it| self.predicate(it));
                if let Some(variant) = variant {
                    self.value(variant, &Type::Integer);
                }
                SubstitutionKind::While(condition, invariant, Box::new(self.substitution(body)))
            }
            tree::SubstitutionKind::Call { outputs, operation, arguments } => {
                return self.call(outputs, operation, arguments, span);
            }
        };
        Substitution { kind, span }
    }

    fn branches(&mut self, branches: &[(Formula, tree::Substitution)]) -> Vec<(Expr, Substitution)> {
        branches.iter().map(|(condition, body)| (self.predicate(condition), self.substitution(body))).collect()
    }

    /// The variable that a target is or is a part of.
    fn target(&mut self, target: &Formula) -> Option<SymbolId> {
        match &target.kind {
            FormulaKind::Name(name) => match self.lookup(name) {
                Some(Entry::Symbol(symbol)) if self.is_assignable(symbol) => Some(symbol),
                Some(Entry::Poisoned) => None,
                Some(_) => {
                    let diagnostic =
                        Diagnostic::error("not-a-variable", format!("`{name}` cannot be assigned"), target.span)
                            .with_help("only variables and outputs are assigned");
                    self.report(diagnostic);
                    None
                }
                None => {
                    self.unknown(name, target.span);
                    None
                }
            },
            FormulaKind::Apply(function, _) => self.target(function),
            FormulaKind::Field(record, _) => self.target(record),
            _ => {
                self.error("not-a-variable", "this cannot be assigned", target.span);
                None
            }
        }
    }

    fn is_assignable(&self, symbol: SymbolId) -> bool {
        self.core.symbols[symbol.0].kind != SymbolKind::Constant
    }

    /// The variable and the value for the whole of it after `target := value`.
    fn whole(&mut self, target: &Formula, value: Expr, span: Span) -> Expr {
        match &target.kind {
            FormulaKind::Apply(function, arguments) => {
                // `f(x) := e` is `f := f <+ {x |-> e}`.
                let whole = self.formula(function);
                let argument = self.tuple(arguments);
                let pair_type = Type::pair(argument.ty.clone(), value.ty.clone());
                self.expect(&whole, &Type::set(pair_type.clone()));
                let pair = Expr::operation(Operator::Pair, vec![argument, value], pair_type.clone(), span);
                let set_type = Type::set(pair_type);
                let single = Expr { kind: Kind::Extension(vec![pair]), ty: set_type.clone(), span };
                let changed = Expr::operation(Operator::Override, vec![whole, single], set_type, span);
                self.whole(function, changed, span)
            }
            FormulaKind::Field(record, name) => {
                let whole = self.formula(record);
                let Type::Record(fields) = self.types.resolve(&whole.ty) else {
                    self.error("type", "only a record has fields", record.span);
                    return self.poison(span);
                };
                if !fields.iter().any(|(field, _)| *field == name.text) {
                    self.error("unknown-field", format!("there is no field `{}`", name.text), name.span);
                    return self.poison(span);
                }
                let whole = Rc::new(whole);
                let mut values: Vec<(Arc<str>, Expr)> = Vec::new();
                for (position, (field, ty)) in fields.iter().enumerate() {
                    let part = if *field == name.text {
                        self.expect(&value, ty);
                        value.clone()
                    } else {
                        Expr { kind: Kind::Field(whole.clone(), position), ty: ty.clone(), span }
                    };
                    values.push((field.clone(), part));
                }
                let changed = Expr { kind: Kind::Record(values), ty: whole.ty.clone(), span };
                self.whole(record, changed, span)
            }
            _ => value,
        }
    }

    fn assign(&mut self, targets: &[Formula], values: &[Formula], span: Span) -> SubstitutionKind {
        if targets.len() != values.len() {
            let message = format!("{} targets and {} values", targets.len(), values.len());
            self.error("arity", message, span);
            return SubstitutionKind::Skip;
        }
        let mut assignments: Vec<(SymbolId, Expr)> = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            let value = self.formula(value);
            if value.ty == Type::Predicate {
                self.expect(&value, &Type::Boolean);
            }
            let Some(symbol) = self.target(target) else {
                continue;
            };
            let whole = self.whole(target, value, target.span.to(span));
            let ty = self.core.symbols[symbol.0].ty.clone();
            self.expect(&whole, &ty);
            if assignments.iter().any(|(known, _)| *known == symbol) {
                self.twice(symbol, target.span);
            } else {
                assignments.push((symbol, whole));
            }
        }
        self.settle_products(false);
        SubstitutionKind::Assign(assignments)
    }

    fn twice(&mut self, symbol: SymbolId, span: Span) {
        let name = self.core.symbols[symbol.0].name.clone();
        let diagnostic =
            Diagnostic::error("assigned-twice", format!("`{name}` is assigned twice at the same time"), span)
                .with_help("put both changes into one assignment");
        self.report(diagnostic);
    }

    /// Reports variables that several parts of a parallel substitution change.
    fn check_disjoint(&mut self, parts: &[Substitution]) {
        let mut seen: Vec<SymbolId> = Vec::new();
        for part in parts {
            let mut own = Vec::new();
            part.assigned(&mut own);
            for &symbol in &own {
                if seen.contains(&symbol) {
                    self.twice(symbol, part.span);
                }
            }
            seen.extend(own);
        }
    }

    /// New symbols for the new values of variables, with their types.
    fn successors(&mut self, symbols: &[SymbolId]) -> Vec<SymbolId> {
        symbols
            .iter()
            .map(|symbol| {
                let entry = &self.core.symbols[symbol.0];
                let name = tree::Name { text: Arc::from(format!("{}'", entry.name)), span: entry.span };
                let ty = entry.ty.clone();
                let fresh = self.symbol(&name, SymbolKind::Bound);
                self.core.symbols[fresh.0].ty = ty;
                fresh
            })
            .collect()
    }

    fn reference(&self, symbol: SymbolId, span: Span) -> Expr {
        Expr { kind: Kind::Symbol(symbol), ty: self.core.symbols[symbol.0].ty.clone(), span }
    }

    /// `x :: S` is `ANY x' WHERE x' : S THEN x := x' END`.
    fn choose(&mut self, targets: &[Formula], set: &Formula) -> SubstitutionKind {
        let set = self.formula(set);
        let span = set.span;
        let Some(parts) =
            targets.iter().map(|target| self.target(target).map(|symbol| (target, symbol))).collect::<Option<Vec<_>>>()
        else {
            return SubstitutionKind::Skip;
        };
        let mut chosen = Vec::new();
        for (target, _) in &parts {
            let ty = self.formula(target).ty;
            let name = tree::Name { text: Arc::from(format!("{}'", self.name_of(target.span))), span: target.span };
            let symbol = self.symbol(&name, SymbolKind::Bound);
            self.core.symbols[symbol.0].ty = ty;
            chosen.push(symbol);
        }
        let mut references = chosen.iter().map(|symbol| self.reference(*symbol, span));
        let first = references.next().unwrap_or_else(|| self.poison(span));
        let tuple = references.fold(first, |left, right| {
            let ty = Type::pair(left.ty.clone(), right.ty.clone());
            Expr::operation(Operator::Pair, vec![left, right], ty, span)
        });
        self.expect(&set, &Type::set(tuple.ty.clone()));
        let condition = Expr::operation(Operator::Member, vec![tuple, set], Type::Predicate, span);
        let mut assignments: Vec<(SymbolId, Expr)> = Vec::new();
        for ((target, symbol), fresh) in parts.iter().zip(&chosen) {
            let value = self.reference(*fresh, span);
            let whole = self.whole(target, value, span);
            if assignments.iter().any(|(known, _)| known == symbol) {
                self.twice(*symbol, target.span);
            } else {
                assignments.push((*symbol, whole));
            }
        }
        let body = Substitution { kind: SubstitutionKind::Assign(assignments), span };
        SubstitutionKind::Any(chosen, condition, Box::new(body))
    }

    /// `x : (P)` is `ANY x' WHERE P THEN x := x' END`, with `x$0` for the value before.
    fn becomes(&mut self, targets: &[Formula], predicate: &Formula) -> SubstitutionKind {
        let mut symbols: Vec<SymbolId> = Vec::new();
        for target in targets {
            if !matches!(target.kind, FormulaKind::Name(_)) {
                self.error("unsupported", "only whole variables may stand before `:(`", target.span);
                return SubstitutionKind::Skip;
            }
            match self.target(target) {
                Some(symbol) => symbols.push(symbol),
                None => return SubstitutionKind::Skip,
            }
        }
        let fresh = self.successors(&symbols);
        let mut scope: FxHashMap<Arc<str>, Entry> = FxHashMap::default();
        for ((target, symbol), successor) in targets.iter().zip(&symbols).zip(&fresh) {
            if let FormulaKind::Name(name) = &target.kind {
                scope.insert(name.clone(), Entry::Symbol(*successor));
                scope.insert(Arc::from(format!("{name}$0")), Entry::Symbol(*symbol));
            }
        }
        self.scopes.push(scope);
        let condition = self.predicate(predicate);
        self.scopes.pop();
        let span = condition.span;
        let assignments =
            symbols.iter().zip(&fresh).map(|(symbol, successor)| (*symbol, self.reference(*successor, span))).collect();
        let body = Substitution { kind: SubstitutionKind::Assign(assignments), span };
        SubstitutionKind::Any(fresh, condition, Box::new(body))
    }

    fn case(
        &mut self,
        subject: &Formula,
        cases: &[(Vec<Formula>, tree::Substitution)],
        otherwise: Option<&tree::Substitution>,
        span: Span,
    ) -> SubstitutionKind {
        let subject = self.formula(subject);
        let mut branches = Vec::new();
        for (labels, body) in cases {
            let mut members = Vec::new();
            for label in labels {
                members.push(self.value(label, &subject.ty.clone()));
            }
            let at = labels.first().map_or(span, |label| label.span);
            let set = Expr { kind: Kind::Extension(members), ty: Type::set(subject.ty.clone()), span: at };
            let condition = Expr::operation(Operator::Member, vec![subject.clone(), set], Type::Predicate, at);
            branches.push((condition, self.substitution(body)));
        }
        let otherwise = match otherwise {
            Some(otherwise) => self.substitution(otherwise),
            None => Substitution { kind: SubstitutionKind::Skip, span },
        };
        SubstitutionKind::If(branches, Box::new(otherwise))
    }

    /// The body of an operation with the arguments bound, or the body of a definition.
    fn call(&mut self, outputs: &[Formula], name: &tree::Name, arguments: &[Formula], span: Span) -> Substitution {
        let skip = Substitution { kind: SubstitutionKind::Skip, span };
        if let Some(definition) = self.definition(&name.text)
            && let DefinitionBody::Substitution(body) = &definition.body
        {
            if !self.check_expansion(&definition, arguments.len(), span) {
                return skip;
            }
            let replaced = replace_in(body, &argument_map(&definition, arguments));
            self.expansions += 1;
            let result = self.substitution(&replaced);
            self.expansions -= 1;
            return result;
        }
        let Some(callable) = self.instances[self.instance].operations.get(&name.text).cloned() else {
            let diagnostic =
                Diagnostic::error("unknown-operation", format!("there is no operation `{}`", name.text), name.span)
                    .with_help("operations of included, imported and seen machines can be called");
            self.report(diagnostic);
            return skip;
        };
        let operation = &callable.operation;
        for (wanted, found, what) in [
            (operation.parameters.len(), arguments.len(), "arguments"),
            (operation.outputs.len(), outputs.len(), "outputs"),
        ] {
            if wanted != found {
                self.error("arity", format!("`{}` has {wanted} {what}, not {found}", name.text), span);
                return skip;
            }
        }
        if self.expansions >= MAXIMUM_EXPANSIONS {
            self.error("recursive-operation", format!("the operation `{}` calls itself", name.text), span);
            return skip;
        }
        let values: Vec<Expr> = arguments.iter().map(|argument| self.formula(argument)).collect();
        let mut targets: Vec<SymbolId> = Vec::new();
        for output in outputs {
            if !matches!(output.kind, FormulaKind::Name(_)) {
                self.error("unsupported", "only a whole variable can take the output of an operation", output.span);
                return skip;
            }
            match self.target(output) {
                Some(symbol) => targets.push(symbol),
                None => return skip,
            }
        }
        // The body is read with the names of its own machine.
        let scopes = std::mem::take(&mut self.scopes);
        let instance = std::mem::replace(&mut self.instance, callable.instance);
        let called = std::mem::replace(&mut self.called, true);
        self.expansions += 1;
        let symbols = self.bind(&operation.parameters);
        let outputs = operation.outputs.iter().zip(&targets);
        let outputs: Vec<_> = outputs.map(|(output, target)| (output.text.clone(), Entry::Symbol(*target))).collect();
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(outputs);
        }
        for (symbol, value) in symbols.iter().zip(&values) {
            let ty = self.core.symbols[symbol.0].ty.clone();
            self.expect(value, &ty);
        }
        let body = self.substitution(&operation.body);
        self.expansions -= 1;
        self.called = called;
        self.instance = instance;
        self.scopes = scopes;
        let bindings: Vec<(SymbolId, Expr)> = symbols.into_iter().zip(values).collect();
        if bindings.is_empty() {
            body
        } else {
            Substitution { kind: SubstitutionKind::Let(bindings, Box::new(body)), span }
        }
    }
}

impl Substitution {
    /// The symbols it may assign, except its own local variables.
    pub(crate) fn assigned(&self, found: &mut Vec<SymbolId>) {
        let mut add = |symbol: SymbolId| {
            if !found.contains(&symbol) {
                found.push(symbol);
            }
        };
        match &self.kind {
            SubstitutionKind::Skip => {}
            SubstitutionKind::Assign(assignments) => assignments.iter().for_each(|(symbol, _)| add(*symbol)),
            SubstitutionKind::Parallel(parts) | SubstitutionKind::Sequence(parts) | SubstitutionKind::Choice(parts) => {
                parts.iter().for_each(|part| part.assigned(found));
            }
            SubstitutionKind::Guard(_, body)
            | SubstitutionKind::Assert(_, _, body)
            | SubstitutionKind::Any(_, _, body)
            | SubstitutionKind::Let(_, body)
            | SubstitutionKind::While(_, _, body) => body.assigned(found),
            SubstitutionKind::Var(symbols, body) => {
                let mut inner = Vec::new();
                body.assigned(&mut inner);
                inner.iter().filter(|symbol| !symbols.contains(symbol)).for_each(|symbol| add(*symbol));
            }
            SubstitutionKind::If(branches, otherwise) => {
                branches.iter().for_each(|(_, body)| body.assigned(found));
                otherwise.assigned(found);
            }
            SubstitutionKind::Select(branches, otherwise) => {
                branches.iter().for_each(|(_, body)| body.assigned(found));
                if let Some(otherwise) = otherwise {
                    otherwise.assigned(found);
                }
            }
        }
    }
}

/// A substitution with names replaced by formulas.
fn replace_in(substitution: &tree::Substitution, map: &FxHashMap<Arc<str>, Formula>) -> tree::Substitution {
    use tree::SubstitutionKind as Tree;
    if map.is_empty() {
        return substitution.clone();
    }
    let formula = |it: &Formula| replace(it, map);
    let formulas = |them: &[Formula]| them.iter().map(|it| replace(it, map)).collect::<Vec<_>>();
    let one = |it: &tree::Substitution| Box::new(replace_in(it, map));
    let many = |them: &[tree::Substitution]| them.iter().map(|it| replace_in(it, map)).collect::<Vec<_>>();
    let branches = |them: &[(Formula, tree::Substitution)]| {
        them.iter().map(|(condition, body)| (replace(condition, map), replace_in(body, map))).collect::<Vec<_>>()
    };
    let without = |names: &[tree::Name]| {
        let mut inner = map.clone();
        for name in names {
            inner.remove(&name.text);
        }
        inner
    };
    let kind = match &substitution.kind {
        Tree::Skip => Tree::Skip,
        Tree::Assign(targets, values) => Tree::Assign(formulas(targets), formulas(values)),
        Tree::Choose(targets, set) => Tree::Choose(formulas(targets), formula(set)),
        Tree::Become(targets, predicate) => Tree::Become(formulas(targets), formula(predicate)),
        Tree::Parallel(parts) => Tree::Parallel(many(parts)),
        Tree::Sequence(parts) => Tree::Sequence(many(parts)),
        Tree::Block(body) => Tree::Block(one(body)),
        Tree::Precondition(condition, body) => Tree::Precondition(formula(condition), one(body)),
        Tree::Assert(condition, body) => Tree::Assert(formula(condition), one(body)),
        Tree::If(them, otherwise) => Tree::If(branches(them), otherwise.as_deref().map(one)),
        Tree::Select(them, otherwise) => Tree::Select(branches(them), otherwise.as_deref().map(one)),
        Tree::Choice(parts) => Tree::Choice(many(parts)),
        Tree::Any(names, condition, body) => {
            let inner = without(names);
            Tree::Any(names.clone(), replace(condition, &inner), Box::new(replace_in(body, &inner)))
        }
        Tree::Let(names, bindings, body) => {
            let inner = without(names);
            Tree::Let(names.clone(), replace(bindings, &inner), Box::new(replace_in(body, &inner)))
        }
        Tree::Var(names, body) => Tree::Var(names.clone(), Box::new(replace_in(body, &without(names)))),
        Tree::Case(subject, cases, otherwise) => Tree::Case(
            formula(subject),
            cases.iter().map(|(labels, body)| (formulas(labels), replace_in(body, map))).collect(),
            otherwise.as_deref().map(one),
        ),
        Tree::While { condition, body, invariant, variant } => Tree::While {
            condition: formula(condition),
            body: one(body),
            invariant: invariant.as_ref().map(formula),
            variant: variant.as_ref().map(formula),
        },
        Tree::Call { outputs, operation, arguments } => {
            Tree::Call { outputs: formulas(outputs), operation: operation.clone(), arguments: formulas(arguments) }
        }
    };
    tree::Substitution { kind, span: substitution.span }
}
