//! A compact rendering of syntax trees for tests: every grouping shown by parentheses, spans left
//! out.

use std::fmt::Write;

use super::tree::*;

pub(super) fn tree(tree: &Tree) -> String {
    tree.items.iter().map(item).collect::<Vec<_>>().join("\n")
}

fn item(item: &Item) -> String {
    match item {
        Item::Declaration(it) => declaration(it),
        Item::Function(it) => function(it),
        Item::Rule(it) => rule(it),
        Item::Fairness(it) => format!("fairness {:?} {:?}", it.kind, it.rule.text),
    }
}

fn declaration(declaration: &Declaration) -> String {
    match declaration {
        Declaration::Constant { name, value } => format!("const {}: {}", name.text, expression(value)),
        Declaration::Type { name, ty } => format!("type {}: {}", name.text, type_expression(ty)),
        Declaration::Variable { name, ty } => format!("var {}: {}", name.text, type_expression(ty)),
    }
}

fn function(function: &Function) -> String {
    let parameters = list(&function.parameters, "; ", |it| {
        let var = if it.by_reference { "var " } else { "" };
        format!("{var}{}: {}", it.name.text, type_expression(&it.ty))
    });
    let result = function.result.as_ref().map_or(String::new(), |it| format!(": {}", type_expression(it)));
    let program = program(&function.declarations, &function.body);
    format!("function {}({parameters}){result} {program}", function.name.text)
}

fn formula(it: &Formula) -> String {
    match &it.kind {
        FormulaKind::Constant(value) => value.to_string(),
        FormulaKind::Condition(it) => format!("{{{}}}", expression(it)),
        FormulaKind::Unary(operator, it) => format!("({operator:?} {})", formula(it)),
        FormulaKind::Binary(operator, left, right) => format!("({operator:?} {} {})", formula(left), formula(right)),
        FormulaKind::Path(path, it) => format!("({path:?} {})", formula(it)),
        FormulaKind::Quantified { universal, quantifier: it, body } => {
            format!("({} {} {})", if *universal { "forall" } else { "exists" }, quantifier(it), formula(body))
        }
    }
}

fn rule(it: &Rule) -> String {
    match &it.kind {
        RuleKind::Start { name, declarations, body } => {
            format!("startstate{} {}", text(name), program(declarations, body))
        }
        RuleKind::Rule { priority, name, guard, declarations, body } => {
            let guard = guard.as_ref().map_or(String::new(), |it| format!(" {} ==>", expression(it)));
            let priority = if *priority == 0 { String::new() } else { format!(" {priority}") };
            format!("rule{priority}{}{guard} {}", text(name), program(declarations, body))
        }
        RuleKind::Property { category, name, condition } => {
            format!("{category:?}{} {}", text(name), expression(condition))
        }
        RuleKind::Temporal { branching, name, formula: it, .. } => {
            format!("{} {:?} {}", if *branching { "ctl" } else { "ltl" }, name.text, formula(it))
        }
        RuleKind::Ruleset { quantifiers, rules } => {
            format!("ruleset {} {{{}}}", list(quantifiers, "; ", quantifier), list(rules, "; ", rule))
        }
        RuleKind::Choose { name, multiset, rules } => {
            format!("choose {}: {} {{{}}}", name.text, expression(multiset), list(rules, "; ", rule))
        }
        RuleKind::Alias { aliases, rules } => {
            format!("alias {} {{{}}}", list(aliases, "; ", alias), list(rules, "; ", rule))
        }
    }
}

fn program(declarations: &[Declaration], body: &[Stmt]) -> String {
    let mut program = String::from("{");
    for it in declarations {
        let _ = write!(program, "{}; ", declaration(it));
    }
    program + &list(body, "; ", statement) + "}"
}

fn alias(alias: &Alias) -> String {
    format!("{}: {}", alias.name.text, expression(&alias.value))
}

fn text(text: &Option<Text>) -> String {
    text.as_ref().map_or(String::new(), |it| format!(" {:?}", it.text))
}

fn list<T>(items: &[T], separator: &str, render: impl FnMut(&T) -> String) -> String {
    items.iter().map(render).collect::<Vec<_>>().join(separator)
}

pub(super) fn statement(it: &Stmt) -> String {
    let block = |statements: &[Stmt]| format!("{{{}}}", list(statements, "; ", statement));
    match &it.kind {
        StmtKind::Assign { target, value } => format!("{} := {}", expression(target), expression(value)),
        StmtKind::Property { category, message, condition } => {
            format!("{category:?}{} {}", text(message), expression(condition))
        }
        StmtKind::Alias { aliases, body } => format!("alias {} {}", list(aliases, "; ", alias), block(body)),
        StmtKind::Error(message) => format!("error {:?}", message.text),
        StmtKind::Clear(place) => format!("clear {}", expression(place)),
        StmtKind::Undefine(place) => format!("undefine {}", expression(place)),
        StmtKind::For { quantifier: range, body } => format!("for {} {}", quantifier(range), block(body)),
        StmtKind::If { branches, otherwise } => {
            let branches = list(branches, " els", |(it, body)| format!("if {} {}", expression(it), block(body)));
            branches + &otherwise.as_ref().map_or(String::new(), |body| format!(" else {}", block(body)))
        }
        StmtKind::Switch { subject, cases, otherwise } => {
            let mut switch = format!("switch {}", expression(subject));
            for (values, body) in cases {
                let _ = write!(switch, " case {} {}", list(values, ", ", expression), block(body));
            }
            switch + &otherwise.as_ref().map_or(String::new(), |body| format!(" else {}", block(body)))
        }
        StmtKind::While { condition, body } => format!("while {} {}", expression(condition), block(body)),
        StmtKind::PutText(it) => format!("put {:?}", it.text),
        StmtKind::PutState => "putstate".into(),
        StmtKind::Put(it) => format!("put {}", expression(it)),
        StmtKind::Return(None) => "return".to_owned(),
        StmtKind::Return(Some(value)) => format!("return {}", expression(value)),
        StmtKind::Call { function, arguments } => format!("{}({})", function.text, list(arguments, ", ", expression)),
        StmtKind::MultisetAdd { element, multiset } => {
            format!("add({}, {})", expression(element), expression(multiset))
        }
        StmtKind::MultisetRemove { position, multiset } => {
            format!("remove({}, {})", expression(position), expression(multiset))
        }
        StmtKind::MultisetRemoveIf { name, multiset, condition } => {
            format!("removeif({}: {}, {})", name.text, expression(multiset), expression(condition))
        }
    }
}

fn quantifier(it: &Quantifier) -> String {
    match &it.range {
        QuantifierRange::Type(ty) => format!("{}: {}", it.name.text, type_expression(ty)),
        QuantifierRange::Steps { from, to, by } => {
            let by = by.as_ref().map_or(String::new(), |by| format!(" by {}", expression(by)));
            format!("{} := {} to {}{by}", it.name.text, expression(from), expression(to))
        }
    }
}

pub(super) fn type_expression(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeExprKind::Named(name) => name.text.clone(),
        TypeExprKind::Boolean => "boolean".to_owned(),
        TypeExprKind::Range { low, high } => format!("{}..{}", expression(low), expression(high)),
        TypeExprKind::Enumeration(members) => format!("enum {{{}}}", list(members, ", ", |it| it.text.clone())),
        TypeExprKind::Scalarset(size) => format!("scalarset({})", expression(size)),
        TypeExprKind::Union(members) => format!("union {{{}}}", list(members, ", ", type_expression)),
        TypeExprKind::Array { index, element } => {
            format!("array [{}] of {}", type_expression(index), type_expression(element))
        }
        TypeExprKind::Record(fields) => {
            format!("record {{{}}}", list(fields, "; ", |(name, ty)| format!("{}: {}", name.text, type_expression(ty))))
        }
        TypeExprKind::Multiset { capacity, element } => {
            format!("multiset [{}] of {}", expression(capacity), type_expression(element))
        }
        TypeExprKind::Missing => "<missing>".to_owned(),
    }
}

pub(super) fn expression(it: &Expr) -> String {
    match &it.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Number(value) => value.to_string(),
        ExprKind::Field { record, field } => format!("{}.{}", expression(record), field.text),
        ExprKind::Index { array, index } => format!("{}[{}]", expression(array), expression(index)),
        ExprKind::Unary { operator, operand } => {
            let sign = match operator {
                UnaryOperator::Plus => "+",
                UnaryOperator::Minus => "-",
                UnaryOperator::Not => "!",
                UnaryOperator::Complement => "~",
            };
            format!("({sign}{})", expression(operand))
        }
        ExprKind::Binary { operator, left, right } => {
            let sign = match operator {
                BinaryOperator::Implies => "->",
                BinaryOperator::OrOr => "||",
                BinaryOperator::AndAnd => "&&",
                BinaryOperator::Pipe => "|",
                BinaryOperator::Ampersand => "&",
                BinaryOperator::Caret => "^",
                BinaryOperator::Equal => "=",
                BinaryOperator::NotEqual => "!=",
                BinaryOperator::Less => "<",
                BinaryOperator::LessOrEqual => "<=",
                BinaryOperator::Greater => ">",
                BinaryOperator::GreaterOrEqual => ">=",
                BinaryOperator::ShiftLeft => "<<",
                BinaryOperator::ShiftRight => ">>",
                BinaryOperator::Add => "+",
                BinaryOperator::Subtract => "-",
                BinaryOperator::Multiply => "*",
                BinaryOperator::Divide => "/",
                BinaryOperator::Remainder => "%",
            };
            format!("({} {sign} {})", expression(left), expression(right))
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("({} ? {} : {})", expression(condition), expression(then), expression(otherwise))
        }
        ExprKind::Forall { quantifier: range, body } => {
            format!("(forall {} do {})", quantifier(range), expression(body))
        }
        ExprKind::Exists { quantifier: range, body } => {
            format!("(exists {} do {})", quantifier(range), expression(body))
        }
        ExprKind::Call { function, arguments } => format!("{}({})", function.text, list(arguments, ", ", expression)),
        ExprKind::Undefined => "undefined".to_owned(),
        ExprKind::IsUndefined(place) => format!("isundefined({})", expression(place)),
        ExprKind::IsMember { value, ty } => format!("ismember({}, {})", expression(value), type_expression(ty)),
        ExprKind::MultisetCount { name, multiset, condition } => {
            format!("count({}: {}, {})", name.text, expression(multiset), expression(condition))
        }
        ExprKind::Missing => "<missing>".to_owned(),
    }
}
