//! The numbering of enumerations and scalarsets that occur in unions. A value of a member type is a value of the union,
//! so these types need disjoint ranges of integers. These are known only after every union has been seen, hence this
//! separate pass.

use quotient_ir::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::syntax::tree::{
    Alias, Declaration, Expr, ExprKind, Formula, FormulaKind, Item, Quantifier, QuantifierRange, Rule, RuleKind, Stmt,
    StmtKind, Tree, TypeExpr, TypeExprKind,
};

/// The names that occur in unions, and the ranges assigned so far.
#[derive(Debug)]
pub(super) struct Stretches<'a> {
    /// Names of types that are members of unions somewhere. Scopes are ignored: a type that gets
    /// a stretch of its own without need does no harm.
    members: FxHashSet<&'a str>,
    next: i64,
}

impl<'a> Stretches<'a> {
    pub(super) fn new(tree: &'a Tree) -> Self {
        let mut search = UnionMembers::default();
        for item in &tree.items {
            match item {
                Item::Declaration(declaration) => search.declaration(declaration),
                Item::Function(function) => {
                    function.parameters.iter().for_each(|parameter| search.ty(&parameter.ty));
                    function.result.iter().for_each(|result| search.ty(result));
                    function.declarations.iter().for_each(|declaration| search.declaration(declaration));
                    search.statements(&function.body);
                }
                Item::Rule(rule) => search.rule(rule),
                Item::Fairness(_) => {}
            }
        }
        let mut members = FxHashSet::default();
        let mut waiting = search.members;
        while let Some(name) = waiting.pop() {
            if members.insert(name) {
                waiting.extend(search.other_names.get(name).into_iter().flatten());
            }
        }
        Self { members, next: 0 }
    }

    /// Whether a type declared under this name is a member of a union.
    pub(super) fn is_member(&self, name: &str) -> bool {
        self.members.contains(name)
    }

    /// The first value of a new range of `size` values; `None` if no integers remain.
    pub(super) fn take(&mut self, size: u64) -> Option<i64> {
        let first = self.next;
        self.next = first.checked_add(i64::try_from(size).ok()?)?;
        Some(first)
    }
}

#[derive(Default)]
struct UnionMembers<'a> {
    members: Vec<&'a str>,
    /// For `type A: B`, the names `B` of `A`; for `type A, B: T`, the first name `A` of `B`.
    other_names: FxHashMap<&'a str, Vec<&'a str>>,
    /// The first name of each type expression that was given one.
    first_names: FxHashMap<Span, &'a str>,
}

impl<'a> UnionMembers<'a> {
    fn declaration(&mut self, declaration: &'a Declaration) {
        match declaration {
            Declaration::Constant { value, .. } => self.expression(value),
            Declaration::Type { name, ty } => {
                if let TypeExprKind::Named(other) = &ty.kind {
                    self.other_names.entry(&name.text).or_default().push(&other.text);
                }
                let first = *self.first_names.entry(ty.span).or_insert(&name.text);
                if first != name.text {
                    self.other_names.entry(&name.text).or_default().push(first);
                }
                self.ty(ty);
            }
            Declaration::Variable { ty, .. } => self.ty(ty),
        }
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        match &ty.kind {
            TypeExprKind::Union(members) => {
                for member in members {
                    match &member.kind {
                        TypeExprKind::Named(name) => self.members.push(&name.text),
                        _ => self.ty(member),
                    }
                }
            }
            TypeExprKind::Array { index, element } => {
                self.ty(index);
                self.ty(element);
            }
            TypeExprKind::Record(fields) => fields.iter().for_each(|(_, ty)| self.ty(ty)),
            TypeExprKind::Multiset { element, .. } => self.ty(element),
            TypeExprKind::Missing
            | TypeExprKind::Named(_)
            | TypeExprKind::Boolean
            | TypeExprKind::Range { .. }
            | TypeExprKind::Enumeration(_)
            | TypeExprKind::Scalarset(_) => {}
        }
    }

    fn rule(&mut self, rule: &'a Rule) {
        match &rule.kind {
            RuleKind::Start { declarations, body, .. } => {
                declarations.iter().for_each(|declaration| self.declaration(declaration));
                self.statements(body);
            }
            RuleKind::Rule { guard, declarations, body, .. } => {
                guard.iter().for_each(|guard| self.expression(guard));
                declarations.iter().for_each(|declaration| self.declaration(declaration));
                self.statements(body);
            }
            RuleKind::Property { condition, .. } => self.expression(condition),
            RuleKind::Temporal { formula, .. } => self.formula(formula),
            RuleKind::Ruleset { quantifiers, rules } => {
                quantifiers.iter().for_each(|quantifier| self.quantifier(quantifier));
                rules.iter().for_each(|rule| self.rule(rule));
            }
            RuleKind::Choose { multiset, rules, .. } => {
                self.expression(multiset);
                rules.iter().for_each(|rule| self.rule(rule));
            }
            RuleKind::Alias { aliases, rules } => {
                self.aliases(aliases);
                rules.iter().for_each(|rule| self.rule(rule));
            }
        }
    }

    fn formula(&mut self, formula: &'a Formula) {
        match &formula.kind {
            FormulaKind::Constant(_) => {}
            FormulaKind::Condition(condition) => self.expression(condition),
            FormulaKind::Unary(_, operand) | FormulaKind::Path(_, operand) => self.formula(operand),
            FormulaKind::Binary(_, left, right) => {
                self.formula(left);
                self.formula(right);
            }
            FormulaKind::Quantified { quantifier, body, .. } => {
                self.quantifier(quantifier);
                self.formula(body);
            }
        }
    }

    fn aliases(&mut self, aliases: &'a [Alias]) {
        aliases.iter().for_each(|alias| self.expression(&alias.value));
    }

    fn quantifier(&mut self, quantifier: &'a Quantifier) {
        match &quantifier.range {
            QuantifierRange::Type(ty) => self.ty(ty),
            QuantifierRange::Steps { from, to, by } => {
                [Some(from), Some(to), by.as_ref()].into_iter().flatten().for_each(|bound| self.expression(bound));
            }
        }
    }

    fn statements(&mut self, statements: &'a [Stmt]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Assign { target, value } => {
                self.expression(target);
                self.expression(value);
            }
            StmtKind::Alias { aliases, body } => {
                self.aliases(aliases);
                self.statements(body);
            }
            StmtKind::For { quantifier, body } => {
                self.quantifier(quantifier);
                self.statements(body);
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
            StmtKind::Call { arguments, .. } => arguments.iter().for_each(|argument| self.expression(argument)),
            StmtKind::Property { condition: value, .. }
            | StmtKind::Clear(value)
            | StmtKind::Undefine(value)
            | StmtKind::Put(value)
            | StmtKind::Return(Some(value)) => self.expression(value),
            StmtKind::MultisetAdd { element: one, multiset: other }
            | StmtKind::MultisetRemove { position: one, multiset: other }
            | StmtKind::MultisetRemoveIf { condition: one, multiset: other, .. } => {
                self.expression(one);
                self.expression(other);
            }
            StmtKind::Error(_) | StmtKind::PutText(_) | StmtKind::PutState | StmtKind::Return(None) => {}
        }
    }

    fn expression(&mut self, expression: &'a Expr) {
        match &expression.kind {
            ExprKind::Missing | ExprKind::Name(_) | ExprKind::Number(_) | ExprKind::Undefined => {}
            ExprKind::Field { record: operand, .. }
            | ExprKind::Unary { operand, .. }
            | ExprKind::IsUndefined(operand) => self.expression(operand),
            ExprKind::Index { array: left, index: right } | ExprKind::Binary { left, right, .. } => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|part| self.expression(part));
            }
            ExprKind::Forall { quantifier, body } | ExprKind::Exists { quantifier, body } => {
                self.quantifier(quantifier);
                self.expression(body);
            }
            ExprKind::Call { arguments, .. } => arguments.iter().for_each(|argument| self.expression(argument)),
            ExprKind::IsMember { value, ty } => {
                self.expression(value);
                self.ty(ty);
            }
            ExprKind::MultisetCount { multiset, condition, .. } => {
                self.expression(multiset);
                self.expression(condition);
            }
        }
    }
}
