//! The definitions of a Murphi model and where they are used, with the scopes of `lower`.

use quotient_ir::{Source, Span};
use quotient_kit::outline::{Builder, Kind};
use rustc_hash::FxHashMap;

use super::syntax::tree::{
    Alias, Category, Declaration, Expr, ExprKind, Formula, FormulaKind, Function, Item, Name, Quantifier,
    QuantifierRange, Rule, RuleKind, Stmt, StmtKind, Text, Tree, TypeExpr, TypeExprKind,
};

/// The outline of a model.
pub(super) fn outline<'s>(source: &'s Source, tree: &Tree) -> Builder<'s> {
    let mut walk = Walk { builder: Builder::new(source), types: FxHashMap::default() };
    for item in &tree.items {
        match item {
            Item::Declaration(declaration) => walk.declaration(declaration, Kind::Variable),
            Item::Function(function) => walk.function(function),
            Item::Rule(rule) => walk.rule(rule),
            Item::Fairness(_) => {}
        }
    }
    walk.builder
}

struct Walk<'s, 't> {
    builder: Builder<'s>,
    /// The types of definitions that have one: of types, what they stand for.
    types: FxHashMap<usize, &'t TypeExpr>,
}

impl<'t> Walk<'_, 't> {
    fn declare(&mut self, name: &Name, kind: Kind, extent: Span, ty: Option<&'t TypeExpr>, detail: String) -> usize {
        let number = self.builder.declare(&name.text, kind, name.span, extent, detail);
        if let Some(ty) = ty {
            self.types.insert(number, ty);
        }
        number
    }

    fn declaration(&mut self, declaration: &'t Declaration, variables: Kind) {
        match declaration {
            Declaration::Constant { name, value } => {
                self.expression(value);
                let detail = format!("{}: {}", name.text, self.builder.excerpt(value.span));
                self.declare(name, Kind::Constant, name.span.to(value.span), None, detail);
            }
            Declaration::Type { name, ty } => {
                let before = self.builder.definitions().len();
                self.type_expression(ty);
                let detail = format!("{}: {}", name.text, self.builder.excerpt(ty.span));
                let number = self.declare(name, Kind::Type, name.span.to(ty.span), Some(ty), detail);
                for inner in before..number {
                    let inner = self.builder.definition(inner);
                    if inner.container.is_none() {
                        inner.container = Some(number);
                    }
                }
            }
            Declaration::Variable { name, ty } => {
                self.type_expression(ty);
                let detail = format!("{}: {}", name.text, self.builder.excerpt(ty.span));
                self.declare(name, variables, name.span.to(ty.span), Some(ty), detail);
            }
        }
    }

    fn type_expression(&mut self, ty: &'t TypeExpr) {
        match &ty.kind {
            TypeExprKind::Named(name) => {
                self.builder.refer(&name.text, name.span);
            }
            TypeExprKind::Boolean | TypeExprKind::Missing => {}
            TypeExprKind::Range { low, high } => {
                self.expression(low);
                self.expression(high);
            }
            TypeExprKind::Enumeration(members) => {
                for member in members {
                    let detail = self.builder.excerpt(ty.span);
                    self.declare(member, Kind::Member, member.span, Some(ty), detail);
                }
            }
            TypeExprKind::Scalarset(size) => self.expression(size),
            TypeExprKind::Union(members) => members.iter().for_each(|member| self.type_expression(member)),
            TypeExprKind::Array { index, element } => {
                self.type_expression(index);
                self.type_expression(element);
            }
            TypeExprKind::Record(fields) => {
                for (name, field) in fields {
                    self.type_expression(field);
                    let detail = format!("{}: {}", name.text, self.builder.excerpt(field.span));
                    let extent = name.span.to(field.span);
                    let number = self.builder.add(&name.text, Kind::Field, name.span, extent, detail);
                    self.types.insert(number, field);
                }
                for (position, (name, _)) in fields.iter().enumerate() {
                    if fields[..position].iter().any(|(other, _)| other.text == name.text) {
                        self.builder.note_duplicate(name.span);
                    }
                }
            }
            TypeExprKind::Multiset { capacity, element } => {
                self.expression(capacity);
                self.type_expression(element);
            }
        }
    }

    /// What a type stands for, without names.
    fn structure(&self, ty: &'t TypeExpr) -> Option<&'t TypeExpr> {
        let mut ty = ty;
        // A type cannot refer to itself, but a wrong text can say so.
        for _ in 0..100 {
            match &ty.kind {
                TypeExprKind::Named(name) => ty = self.type_of_definition(self.builder.meaning(name.span)?)?,
                _ => return Some(ty),
            }
        }
        None
    }

    fn type_of_definition(&self, number: usize) -> Option<&'t TypeExpr> {
        self.types.get(&number).copied()
    }

    /// The type of a place, as far as fields need it.
    fn type_of(&self, expression: &Expr) -> Option<&'t TypeExpr> {
        let ty = match &expression.kind {
            ExprKind::Name(_) => self.type_of_definition(self.builder.meaning(expression.span)?)?,
            ExprKind::Field { field, .. } => self.type_of_definition(self.builder.meaning(field.span)?)?,
            ExprKind::Index { array, .. } => match &self.type_of(array)?.kind {
                TypeExprKind::Array { element, .. } | TypeExprKind::Multiset { element, .. } => element,
                _ => return None,
            },
            ExprKind::Call { function, .. } => self.type_of_definition(self.builder.meaning(function.span)?)?,
            ExprKind::Conditional { then, .. } => return self.type_of(then),
            _ => return None,
        };
        self.structure(ty)
    }

    fn function(&mut self, function: &'t Function) {
        let header = function.parameters.last().map_or(function.name.span, |it| it.ty.span);
        let header = function.result.as_ref().map_or(header, |it| header.to(it.span));
        let detail = self.builder.excerpt(Span { start: function.span.start, end: header.end });
        let number = self.builder.add(&function.name.text, Kind::Function, function.name.span, function.span, detail);
        self.types.extend(function.result.as_ref().map(|it| (number, it)));
        let outer = self.builder.container.replace(number);
        self.builder.enter(function.span);
        self.builder.bring(&function.name.text, number, function.name.span);
        for parameter in &function.parameters {
            self.type_expression(&parameter.ty);
        }
        if let Some(result) = &function.result {
            self.type_expression(result);
        }
        for parameter in &function.parameters {
            let extent = parameter.name.span.to(parameter.ty.span);
            let detail = format!("{}: {}", parameter.name.text, self.builder.excerpt(parameter.ty.span));
            self.declare(&parameter.name, Kind::Parameter, extent, Some(&parameter.ty), detail);
        }
        for declaration in &function.declarations {
            self.declaration(declaration, Kind::Local);
        }
        self.statements(&function.body);
        self.builder.leave();
        self.builder.container = outer;
        self.builder.definition(number).scope = None;
        self.builder.bring(&function.name.text, number, function.name.span);
    }

    fn quantifier(&mut self, quantifier: &'t Quantifier) {
        let ty = match &quantifier.range {
            QuantifierRange::Type(ty) => {
                self.type_expression(ty);
                Some(ty)
            }
            QuantifierRange::Steps { from, to, by } => {
                self.expression(from);
                self.expression(to);
                by.iter().for_each(|by| self.expression(by));
                None
            }
        };
        let detail = self.builder.excerpt(quantifier.span);
        self.declare(&quantifier.name, Kind::Parameter, quantifier.span, ty, detail);
    }

    fn aliases(&mut self, aliases: &'t [Alias]) {
        for Alias { name, value } in aliases {
            self.expression(value);
            let detail = format!("alias {}: {}", name.text, self.builder.excerpt(value.span));
            let ty = self.type_of(value);
            self.declare(name, Kind::Alias, name.span.to(value.span), ty, detail);
        }
    }

    /// Declares the position in a multiset.
    fn position(&mut self, name: &Name, multiset: &'t Expr) {
        self.expression(multiset);
        let detail = format!("{}: {}", name.text, self.builder.excerpt(multiset.span));
        self.declare(name, Kind::Parameter, name.span.to(multiset.span), None, detail);
    }

    /// Adds a rule or property, by its name in quotes or by the keyword it begins with.
    fn titled(&mut self, rule: &Rule, kind: Kind, name: Option<&Text>, word: &str) -> usize {
        let keyword = Span { start: rule.span.start, end: rule.span.start + word.len() as u32 };
        let (title, span) = match name {
            Some(name) => (name.text.clone(), name.span),
            None => (word.to_owned(), keyword),
        };
        self.builder.add(&title, kind, span, rule.span, word.to_owned())
    }

    fn rule(&mut self, rule: &'t Rule) {
        let outer = self.builder.container;
        match &rule.kind {
            RuleKind::Start { name, declarations, body } => {
                let number = self.titled(rule, Kind::Start, name.as_ref(), "startstate");
                self.builder.container = Some(number);
                self.body(rule.span, declarations, body);
            }
            RuleKind::Rule { name, guard, declarations, body, .. } => {
                let number = self.titled(rule, Kind::Rule, name.as_ref(), "rule");
                self.builder.container = Some(number);
                guard.iter().for_each(|guard| self.expression(guard));
                self.body(rule.span, declarations, body);
            }
            RuleKind::Property { category, name, condition } => {
                let word = match category {
                    Category::Assert => "assert",
                    Category::Invariant => "invariant",
                    Category::Assume => "assume",
                    Category::Cover => "cover",
                    Category::Liveness => "liveness",
                };
                let number = self.titled(rule, Kind::Property, name.as_ref(), word);
                self.builder.container = Some(number);
                self.expression(condition);
            }
            RuleKind::Temporal { branching, name, formula, .. } => {
                let word = if *branching { "ctl" } else { "ltl" };
                let number = self.titled(rule, Kind::Property, Some(name), word);
                self.builder.container = Some(number);
                self.formula(formula);
            }
            RuleKind::Ruleset { quantifiers, rules } => {
                self.builder.enter(rule.span);
                quantifiers.iter().for_each(|it| self.quantifier(it));
                rules.iter().for_each(|it| self.rule(it));
                self.builder.leave();
            }
            RuleKind::Choose { name, multiset, rules } => {
                self.builder.enter(rule.span);
                self.position(name, multiset);
                rules.iter().for_each(|it| self.rule(it));
                self.builder.leave();
            }
            RuleKind::Alias { aliases, rules } => {
                self.builder.enter(rule.span);
                self.aliases(aliases);
                rules.iter().for_each(|it| self.rule(it));
                self.builder.leave();
            }
        }
        self.builder.container = outer;
    }

    fn body(&mut self, span: Span, declarations: &'t [Declaration], body: &'t [Stmt]) {
        self.builder.enter(span);
        for declaration in declarations {
            self.declaration(declaration, Kind::Local);
        }
        self.statements(body);
        self.builder.leave();
    }

    fn formula(&mut self, formula: &'t Formula) {
        match &formula.kind {
            FormulaKind::Constant(_) => {}
            FormulaKind::Condition(condition) => self.expression(condition),
            FormulaKind::Unary(_, inner) | FormulaKind::Path(_, inner) => self.formula(inner),
            FormulaKind::Binary(_, left, right) => {
                self.formula(left);
                self.formula(right);
            }
            FormulaKind::Quantified { quantifier, body, .. } => {
                self.builder.enter(formula.span);
                self.quantifier(quantifier);
                self.formula(body);
                self.builder.leave();
            }
        }
    }

    fn statements(&mut self, statements: &'t [Stmt]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'t Stmt) {
        match &statement.kind {
            StmtKind::Assign { target, value } => {
                self.expression(target);
                self.expression(value);
            }
            StmtKind::Property { condition, .. } => self.expression(condition),
            StmtKind::Alias { aliases, body } => {
                self.builder.enter(statement.span);
                self.aliases(aliases);
                self.statements(body);
                self.builder.leave();
            }
            StmtKind::Clear(place) | StmtKind::Undefine(place) | StmtKind::Put(place) => self.expression(place),
            StmtKind::For { quantifier, body } => {
                self.builder.enter(statement.span);
                self.quantifier(quantifier);
                self.statements(body);
                self.builder.leave();
            }
            StmtKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.expression(condition);
                    self.statements(body);
                }
                otherwise.iter().for_each(|body| self.statements(body));
            }
            StmtKind::Switch { subject, cases, otherwise } => {
                self.expression(subject);
                for (values, body) in cases {
                    values.iter().for_each(|value| self.expression(value));
                    self.statements(body);
                }
                otherwise.iter().for_each(|body| self.statements(body));
            }
            StmtKind::While { condition, body } => {
                self.expression(condition);
                self.statements(body);
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.expression(value)),
            StmtKind::Call { function, arguments } => {
                self.builder.refer(&function.text, function.span);
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            StmtKind::MultisetAdd { element, multiset } => {
                self.expression(element);
                self.expression(multiset);
            }
            StmtKind::MultisetRemove { position, multiset } => {
                self.expression(position);
                self.expression(multiset);
            }
            StmtKind::MultisetRemoveIf { name, multiset, condition } => {
                self.builder.enter(statement.span);
                self.position(name, multiset);
                self.expression(condition);
                self.builder.leave();
            }
            StmtKind::Error(_) | StmtKind::PutText(_) | StmtKind::PutState => {}
        }
    }

    fn expression(&mut self, expression: &'t Expr) {
        match &expression.kind {
            ExprKind::Name(name) => {
                let is_built_in = ["true", "false"].iter().any(|it| it.eq_ignore_ascii_case(name));
                if !is_built_in || self.builder.find(name).is_some() {
                    self.builder.refer(name, expression.span);
                }
            }
            ExprKind::Number(_) | ExprKind::Undefined | ExprKind::Missing => {}
            ExprKind::Field { record, field } => {
                self.expression(record);
                let fields = match self.type_of(record).map(|it| &it.kind) {
                    Some(TypeExprKind::Record(fields)) => &fields[..],
                    _ => &[],
                };
                let found = fields.iter().find(|(name, _)| name.text == field.text);
                match found.and_then(|(name, _)| self.builder.defined_at(name.span)) {
                    Some(number) => self.builder.note_use(number, field.span),
                    None => self.builder.note_unknown(&field.text, field.span),
                }
            }
            ExprKind::Index { array, index } => {
                self.expression(array);
                self.expression(index);
            }
            ExprKind::Unary { operand, .. } | ExprKind::IsUndefined(operand) => self.expression(operand),
            ExprKind::Binary { left, right, .. } => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.expression(condition);
                self.expression(then);
                self.expression(otherwise);
            }
            ExprKind::Forall { quantifier, body } | ExprKind::Exists { quantifier, body } => {
                self.builder.enter(expression.span);
                self.quantifier(quantifier);
                self.expression(body);
                self.builder.leave();
            }
            ExprKind::Call { function, arguments } => {
                self.builder.refer(&function.text, function.span);
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            ExprKind::IsMember { value, ty } => {
                self.expression(value);
                self.type_expression(ty);
            }
            ExprKind::MultisetCount { name, multiset, condition } => {
                self.builder.enter(expression.span);
                self.position(name, multiset);
                self.expression(condition);
                self.builder.leave();
            }
        }
    }
}
