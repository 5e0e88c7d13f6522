//! Formulas: their operators, built-in functions and binders, with the types they require.

use std::rc::Rc;
use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::super::core::{Arrow, Expr, Fold, Kind, Operator, Quantifier, Sequences, SymbolId};
use super::super::syntax::tree::{Definition, DefinitionBody, Formula, FormulaKind, Name};
use super::super::types::Type;
use super::{Elaborator, Entry, MAXIMUM_EXPANSIONS, MAXIMUM_NODES};

/// The operators on trees, which are not read.
const TREES: &[&str] = &[
    "tree", "btree", "const", "top", "sons", "prefix", "postfix", "sizet", "mirror", "rank", "father", "son",
    "subtree", "arity", "bin", "left", "right", "infix",
];

/// The built-in functions of one argument.
const UNARY: &[(&str, Operator)] = &[
    ("card", Operator::Cardinality),
    ("min", Operator::Minimum),
    ("max", Operator::Maximum),
    ("dom", Operator::Domain),
    ("ran", Operator::Range),
    ("id", Operator::Identity),
    ("union", Operator::GeneralUnion),
    ("inter", Operator::GeneralIntersection),
    ("size", Operator::Size),
    ("first", Operator::First),
    ("last", Operator::Last),
    ("front", Operator::Front),
    ("tail", Operator::Tail),
    ("rev", Operator::Reverse),
    ("conc", Operator::GeneralConcatenate),
    ("closure", Operator::Closure),
    ("closure1", Operator::Closure1),
    ("fnc", Operator::ToFunction),
    ("rel", Operator::ToRelation),
    ("seq", Operator::Sequences(Sequences::All)),
    ("seq1", Operator::Sequences(Sequences::Nonempty)),
    ("iseq", Operator::Sequences(Sequences::Injective)),
    ("iseq1", Operator::Sequences(Sequences::InjectiveNonempty)),
    ("perm", Operator::Sequences(Sequences::Permutations)),
    ("POW", Operator::PowerSet),
    ("POW1", Operator::PowerSet1),
    ("FIN", Operator::PowerSet),
    ("FIN1", Operator::PowerSet1),
];

fn unary_function(name: &str) -> Option<Operator> {
    UNARY.iter().find(|(known, _)| *known == name).map(|(_, operator)| *operator)
}

impl Elaborator<'_> {
    pub(super) fn predicate(&mut self, formula: &Formula) -> Expr {
        let expr = self.formula(formula);
        self.expect(&expr, &Type::Predicate);
        self.settle_products(false);
        expr
    }

    pub(super) fn value(&mut self, formula: &Formula, ty: &Type) -> Expr {
        let expr = self.formula(formula);
        self.expect(&expr, ty);
        expr
    }

    pub(super) fn formula(&mut self, formula: &Formula) -> Expr {
        let span = formula.span;
        self.nodes += 1;
        if self.nodes > MAXIMUM_NODES {
            if self.nodes == MAXIMUM_NODES + 1 {
                let message = format!("the definitions of this machine expand to more than {MAXIMUM_NODES} operators");
                self.error("too-large", message, span);
            }
            return self.poison(span);
        }
        let (kind, ty) = match &formula.kind {
            FormulaKind::Number(value) => (Kind::Integer(*value), Type::Integer),
            FormulaKind::Text(text) => (Kind::Text(self.text_id(text)), Type::Text),
            FormulaKind::Name(name) => return self.name(name, span),
            FormulaKind::Before(name) => {
                let key = format!("{name}$0");
                return match self.lookup(&key) {
                    Some(entry) => self.entry(&entry, span),
                    None => {
                        let diagnostic =
                            Diagnostic::error("unknown-name", format!("`{key}` has no meaning here"), span)
                                .with_help("`x$0` is the value before in a substitution `x : (…)`");
                        self.report(diagnostic);
                        self.poison(span)
                    }
                };
            }
            FormulaKind::Word(word) => return self.word(word, span),
            FormulaKind::Unary(operator, operand) => return self.unary(operator, operand, span),
            FormulaKind::Binary(operator, left, right) => return self.binary(operator, left, right, span),
            FormulaKind::Apply(function, arguments) => return self.apply(function, arguments, span),
            FormulaKind::Image(relation, set) => {
                let (from, to) = (self.types.fresh(), self.types.fresh());
                let relation = self.value(relation, &Type::relation(from.clone(), to.clone()));
                let set = self.value(set, &Type::set(from));
                (Kind::Operation(Operator::Image, vec![relation, set]), Type::set(to))
            }
            FormulaKind::Inverse(relation) => {
                let (from, to) = (self.types.fresh(), self.types.fresh());
                let relation = self.value(relation, &Type::relation(from.clone(), to.clone()));
                (Kind::Operation(Operator::Inverse, vec![relation]), Type::relation(to, from))
            }
            FormulaKind::Field(record, name) => return self.field(record, name, span),
            FormulaKind::Extension(members) => {
                let element = self.types.fresh();
                let members = members.iter().map(|member| self.value(member, &element)).collect();
                (Kind::Extension(members), Type::set(element))
            }
            FormulaKind::Sequence(items) => {
                let element = self.types.fresh();
                let items = items.iter().map(|item| self.value(item, &element)).collect();
                (Kind::Sequence(items), Type::sequence(element))
            }
            FormulaKind::Comprehension(names, body) => {
                let symbols = self.bind(names);
                let body = self.predicate(body);
                self.scopes.pop();
                let element = self.tuple_type(&symbols);
                (Kind::Comprehension(symbols, Rc::new(body)), Type::set(element))
            }
            FormulaKind::Quantified(quantifier, names, body) => {
                let symbols = self.bind(names);
                let body = self.predicate(body);
                self.scopes.pop();
                let quantifier = if *quantifier == "!" { Quantifier::All } else { Quantifier::Any };
                (Kind::Quantified(quantifier, symbols, Rc::new(body)), Type::Predicate)
            }
            FormulaKind::Binder(binder, names, condition, body) => {
                let symbols = self.bind(names);
                let condition = Rc::new(self.predicate(condition));
                let body = Rc::new(self.formula(body));
                self.scopes.pop();
                if body.ty == Type::Predicate {
                    self.expect(&body, &Type::Boolean);
                }
                let fold = match *binder {
                    "%" => {
                        let ty = Type::relation(self.tuple_type(&symbols), body.ty.clone());
                        return Expr { kind: Kind::Lambda(symbols, condition, body), ty, span };
                    }
                    "SIGMA" => Fold::Sum,
                    "PI" => Fold::Product,
                    "UNION" => Fold::Union,
                    _ => Fold::Intersection,
                };
                let expected = match fold {
                    Fold::Sum | Fold::Product => Type::Integer,
                    Fold::Union | Fold::Intersection => Type::set(self.types.fresh()),
                };
                self.expect(&body, &expected);
                (Kind::Fold(fold, symbols, condition, body), expected)
            }
            FormulaKind::Truth(predicate) => {
                let predicate = self.predicate(predicate);
                (Kind::Operation(Operator::Truth, vec![predicate]), Type::Boolean)
            }
            FormulaKind::Record(word, fields) => {
                let mut values: Vec<(Arc<str>, Expr)> = Vec::new();
                for (name, value) in fields {
                    if values.iter().any(|(known, _)| *known == name.text) {
                        self.error("duplicate-name", format!("the field `{}` occurs twice", name.text), name.span);
                    }
                    let value = self.formula(value);
                    if value.ty == Type::Predicate {
                        self.expect(&value, &Type::Boolean);
                    }
                    values.push((name.text.clone(), value));
                }
                values.sort_by(|(one, _), (other, _)| one.cmp(other));
                if *word == "rec" {
                    let ty = values.iter().map(|(name, value)| (name.clone(), value.ty.clone())).collect();
                    (Kind::Record(values), Type::Record(Rc::new(ty)))
                } else {
                    let mut ty = Vec::new();
                    for (name, value) in &values {
                        let element = self.types.fresh();
                        self.expect(value, &Type::set(element.clone()));
                        ty.push((name.clone(), element));
                    }
                    (Kind::RecordSet(values), Type::set(Type::Record(Rc::new(ty))))
                }
            }
            FormulaKind::Conditional(condition, then, otherwise) => {
                let condition = Rc::new(self.predicate(condition));
                let then = Rc::new(self.formula(then));
                let otherwise = Rc::new(self.formula(otherwise));
                if then.ty == Type::Predicate && otherwise.ty == Type::Predicate {
                    let ty = Type::Predicate;
                    return Expr { kind: Kind::Conditional(condition, then, otherwise), ty, span };
                }
                self.expect_same(&then, &otherwise);
                let ty = then.ty.clone();
                (Kind::Conditional(condition, then, otherwise), ty)
            }
            FormulaKind::Let(names, bindings, body) => {
                let symbols = self.bind(names);
                let bindings = self.bindings(&symbols, bindings);
                let body = self.formula(body);
                self.scopes.pop();
                let ty = body.ty.clone();
                (Kind::Let(bindings, Rc::new(body)), ty)
            }
        };
        Expr { kind, ty, span }
    }

    /// `x = E & y = F` as the value of each symbol, in an order in which each uses only earlier ones.
    pub(super) fn bindings(&mut self, symbols: &[SymbolId], formula: &Formula) -> Vec<(SymbolId, Expr)> {
        let predicate = self.predicate(formula);
        let mut bindings: Vec<(SymbolId, Expr)> = Vec::new();
        for conjunct in predicate.conjuncts() {
            match &conjunct.kind {
                Kind::Operation(Operator::Equal, sides) => match sides[0].kind {
                    Kind::Symbol(symbol)
                        if symbols.contains(&symbol) && !bindings.iter().any(|(it, _)| *it == symbol) =>
                    {
                        bindings.push((symbol, sides[1].clone()));
                    }
                    _ => self.bad_binding(conjunct.span),
                },
                _ => self.bad_binding(conjunct.span),
            }
        }
        for symbol in symbols {
            if !bindings.iter().any(|(it, _)| it == symbol) && predicate.ty != Type::Error {
                let entry = &self.core.symbols[symbol.0];
                let (name, span) = (entry.name.clone(), entry.span);
                self.error("let", format!("`LET` gives no value to `{name}`"), span);
            }
        }
        for position in 0..bindings.len() {
            if bindings[position..].iter().any(|(symbol, _)| bindings[position].1.mentions(*symbol)) {
                let span = bindings[position].1.span;
                self.error("let", "a value of `LET` may use only the names before it", span);
            }
        }
        bindings
    }

    fn bad_binding(&mut self, span: Span) {
        let diagnostic = Diagnostic::error("let", "`LET` needs one equality for each of its names", span)
            .with_help("write `LET x, y BE x = … & y = … IN …`");
        self.report(diagnostic);
    }

    /// The type of the tuple of bound variables: `(x |-> y) |-> z`.
    pub(super) fn tuple_type(&self, symbols: &[SymbolId]) -> Type {
        let mut types = symbols.iter().map(|symbol| self.core.symbols[symbol.0].ty.clone());
        let first = types.next().unwrap_or(Type::Error);
        types.fold(first, Type::pair)
    }

    fn text_id(&mut self, text: &Arc<str>) -> usize {
        if let Some(&id) = self.text_ids.get(text) {
            return id;
        }
        self.core.texts.push(text.clone());
        self.text_ids.insert(text.clone(), self.core.texts.len() - 1);
        self.core.texts.len() - 1
    }

    fn entry(&self, entry: &Entry, span: Span) -> Expr {
        match entry {
            Entry::Symbol(symbol) => {
                Expr { kind: Kind::Symbol(*symbol), ty: self.core.symbols[symbol.0].ty.clone(), span }
            }
            Entry::Set(set) => Expr { kind: Kind::GivenSet(*set), ty: Type::set(Type::Given(*set)), span },
            Entry::Member(set, member) => Expr { kind: Kind::Member(*set, *member), ty: Type::Given(*set), span },
            Entry::Poisoned => self.poison(span),
        }
    }

    fn name(&mut self, name: &Arc<str>, span: Span) -> Expr {
        if let Some(entry) = self.lookup(name) {
            return self.entry(&entry, span);
        }
        if let Some(definition) = self.definition(name) {
            return self.expand(&definition, &[], span);
        }
        self.unknown(name, span);
        self.poison(span)
    }

    pub(super) fn unknown(&mut self, name: &str, span: Span) {
        if unary_function(name).is_some() || matches!(name, "prj1" | "prj2" | "iterate" | "succ" | "pred") {
            let diagnostic = Diagnostic::error("unsupported", format!("`{name}` must be applied to an argument"), span);
            self.report(diagnostic);
            return;
        }
        if TREES.contains(&name) {
            self.trees(name, span);
            return;
        }
        let instance = &self.instances[self.instance];
        let known = self
            .scopes
            .iter()
            .flat_map(|scope| scope.keys())
            .chain(instance.names.keys())
            .chain(instance.definitions.keys());
        let near = quotient_kit::similar(name, known.map(|known| &**known));
        let mut diagnostic = Diagnostic::error("unknown-name", format!("`{name}` is not declared"), span);
        if let Some(known) = near {
            diagnostic = diagnostic.with_help(format!("did you mean `{known}`?"));
        }
        self.report(diagnostic);
    }

    fn trees(&mut self, name: &str, span: Span) {
        let diagnostic = Diagnostic::error("unsupported", format!("trees are not supported: `{name}`"), span)
            .with_help("a tree can be modelled as a function from nodes to their parents");
        self.report(diagnostic);
    }

    fn word(&mut self, word: &str, span: Span) -> Expr {
        let integer = |value: i64| Expr { kind: Kind::Integer(value), ty: Type::Integer, span };
        let interval = |low: i64, high: i64| {
            Expr::operation(Operator::Interval, vec![integer(low), integer(high)], Type::set(Type::Integer), span)
        };
        let (low, high) = (self.settings.least_integer, self.settings.greatest_integer);
        let (kind, ty) = match word {
            "TRUE" => (Kind::Boolean(true), Type::Boolean),
            "FALSE" => (Kind::Boolean(false), Type::Boolean),
            "btrue" => (Kind::Truth(true), Type::Predicate),
            "bfalse" => (Kind::Truth(false), Type::Predicate),
            "BOOL" => (Kind::Booleans, Type::set(Type::Boolean)),
            "STRING" => (Kind::Texts, Type::set(Type::Text)),
            "INTEGER" => (Kind::Integers(None), Type::set(Type::Integer)),
            "NATURAL" => (Kind::Integers(Some(0)), Type::set(Type::Integer)),
            "NATURAL1" => (Kind::Integers(Some(1)), Type::set(Type::Integer)),
            "NAT" | "NAT1" | "INT" | "MAXINT" | "MININT" => {
                self.settings.note_integers(span);
                return match word {
                    "NAT" => interval(0, high),
                    "NAT1" => interval(1, high),
                    "INT" => interval(low, high),
                    "MAXINT" => integer(high),
                    _ => integer(low),
                };
            }
            "REAL" | "FLOAT" => {
                self.error("unsupported", "real numbers are not supported", span);
                return self.poison(span);
            }
            _ => {
                self.error("syntax", format!("`{word}` must be applied to a set"), span);
                return self.poison(span);
            }
        };
        Expr { kind, ty, span }
    }

    fn unary(&mut self, operator: &str, operand: &Formula, span: Span) -> Expr {
        if operator == "not" {
            let operand = self.predicate(operand);
            Expr::operation(Operator::Not, vec![operand], Type::Predicate, span)
        } else {
            let operand = self.value(operand, &Type::Integer);
            Expr::operation(Operator::Negate, vec![operand], Type::Integer, span)
        }
    }

    fn binary(&mut self, operator: &str, left: &Formula, right: &Formula, span: Span) -> Expr {
        let negated = match operator {
            "/=" => Some("="),
            "/:" => Some(":"),
            "/<:" => Some("<:"),
            "/<<:" => Some("<<:"),
            _ => None,
        };
        if let Some(positive) = negated {
            let inner = self.binary(positive, left, right, span);
            return Expr::operation(Operator::Not, vec![inner], Type::Predicate, span);
        }
        let left = self.formula(left);
        let right = self.formula(right);
        self.combine(operator, left, right, span)
    }

    /// An operator between typed operands.
    fn combine(&mut self, sign: &str, left: Expr, right: Expr, span: Span) -> Expr {
        let logical = match sign {
            "&" => Some(Operator::And),
            "or" => Some(Operator::Or),
            "=>" => Some(Operator::Implies),
            "<=>" => Some(Operator::Equivalent),
            _ => None,
        };
        if let Some(operator) = logical {
            self.expect(&left, &Type::Predicate);
            self.expect(&right, &Type::Predicate);
            return Expr::operation(operator, vec![left, right], Type::Predicate, span);
        }
        let (a, b, c) = (self.types.fresh(), self.types.fresh(), self.types.fresh());
        // The types required of both sides, and the type of the result.
        let (operator, of_left, of_right, result) = match sign {
            "=" => {
                self.expect_same(&left, &right);
                return Expr::operation(Operator::Equal, vec![left, right], Type::Predicate, span);
            }
            ":" => (Operator::Member, a.clone(), Type::set(a), Type::Predicate),
            "<:" => (Operator::Subset, Type::set(a.clone()), Type::set(a), Type::Predicate),
            "<<:" => (Operator::StrictSubset, Type::set(a.clone()), Type::set(a), Type::Predicate),
            "<" | ">" => (Operator::Less, Type::Integer, Type::Integer, Type::Predicate),
            "<=" | ">=" => (Operator::LessOrEqual, Type::Integer, Type::Integer, Type::Predicate),
            "+" => (Operator::Add, Type::Integer, Type::Integer, Type::Integer),
            "/" => (Operator::Divide, Type::Integer, Type::Integer, Type::Integer),
            "mod" => (Operator::Modulo, Type::Integer, Type::Integer, Type::Integer),
            "**" => (Operator::Power, Type::Integer, Type::Integer, Type::Integer),
            ".." => (Operator::Interval, Type::Integer, Type::Integer, Type::set(Type::Integer)),
            "-" => {
                self.expect_same(&left, &right);
                let ty = left.ty.clone();
                return Expr::operation(Operator::Minus, vec![left, right], ty, span);
            }
            "*" => {
                for side in [&left, &right] {
                    if side.ty == Type::Predicate {
                        self.expect(side, &Type::Integer);
                    }
                }
                self.products.push((left.ty.clone(), right.ty.clone(), c.clone(), span));
                self.settle_products(false);
                return Expr::operation(Operator::Times, vec![left, right], c, span);
            }
            "\\" => (Operator::Minus, Type::set(a.clone()), Type::set(a.clone()), Type::set(a)),
            "\\/" => (Operator::Union, Type::set(a.clone()), Type::set(a.clone()), Type::set(a)),
            "/\\" => (Operator::Intersection, Type::set(a.clone()), Type::set(a.clone()), Type::set(a)),
            "|->" => {
                for side in [&left, &right] {
                    if side.ty == Type::Predicate {
                        self.expect(side, &a);
                    }
                }
                let ty = Type::pair(left.ty.clone(), right.ty.clone());
                return Expr::operation(Operator::Pair, vec![left, right], ty, span);
            }
            "<|" | "<<|" => {
                let operator = if sign == "<|" { Operator::DomainRestriction } else { Operator::DomainSubtraction };
                let relation = Type::relation(a.clone(), b);
                (operator, Type::set(a), relation.clone(), relation)
            }
            "|>" | "|>>" => {
                let operator = if sign == "|>" { Operator::RangeRestriction } else { Operator::RangeSubtraction };
                let relation = Type::relation(a, b.clone());
                (operator, relation.clone(), Type::set(b), relation)
            }
            "<+" | "+>" => {
                let relation = Type::relation(a, b);
                (Operator::Override, relation.clone(), relation.clone(), relation)
            }
            ";" => (
                Operator::Composition,
                Type::relation(a.clone(), b.clone()),
                Type::relation(b, c.clone()),
                Type::relation(a, c),
            ),
            "><" => (
                Operator::DirectProduct,
                Type::relation(a.clone(), b.clone()),
                Type::relation(a.clone(), c.clone()),
                Type::relation(a, Type::pair(b, c)),
            ),
            "||" => {
                let d = self.types.fresh();
                (
                    Operator::ParallelProduct,
                    Type::relation(a.clone(), b.clone()),
                    Type::relation(c.clone(), d.clone()),
                    Type::relation(Type::pair(a, c), Type::pair(b, d)),
                )
            }
            "^" => {
                let sequence = Type::sequence(a);
                (Operator::Concatenate, sequence.clone(), sequence.clone(), sequence)
            }
            "<-" => (Operator::Append, Type::sequence(a.clone()), a.clone(), Type::sequence(a)),
            "->" => (Operator::Prepend, a.clone(), Type::sequence(a.clone()), Type::sequence(a)),
            "/|\\" => (Operator::Take, Type::sequence(a.clone()), Type::Integer, Type::sequence(a)),
            "\\|/" => (Operator::Drop, Type::sequence(a.clone()), Type::Integer, Type::sequence(a)),
            _ => {
                let arrow = |function, total, injective, surjective| Arrow { total, injective, surjective, function };
                let arrow = match sign {
                    "<->" => arrow(false, false, false, false),
                    "<<->" => arrow(false, true, false, false),
                    "<->>" => arrow(false, false, false, true),
                    "<<->>" => arrow(false, true, false, true),
                    "+->" => arrow(true, false, false, false),
                    "-->" => arrow(true, true, false, false),
                    ">+>" => arrow(true, false, true, false),
                    ">->" => arrow(true, true, true, false),
                    "+->>" => arrow(true, false, false, true),
                    "-->>" => arrow(true, true, false, true),
                    ">+>>" => arrow(true, false, true, true),
                    ">->>" => arrow(true, true, true, true),
                    _ => {
                        self.error("unsupported", format!("the operator `{sign}` is not supported"), span);
                        return self.poison(span);
                    }
                };
                (Operator::Arrow(arrow), Type::set(a.clone()), Type::set(b.clone()), Type::set(Type::relation(a, b)))
            }
        };
        self.expect(&left, &of_left);
        self.expect(&right, &of_right);
        let operands = if matches!(sign, ">" | ">=" | "+>") { vec![right, left] } else { vec![left, right] };
        Expr::operation(operator, operands, result, span)
    }

    fn apply(&mut self, function: &Formula, arguments: &[Formula], span: Span) -> Expr {
        let name = match &function.kind {
            FormulaKind::Name(name) => Some(name.clone()),
            FormulaKind::Word(word) => Some(Arc::from(*word)),
            _ => None,
        };
        if let Some(name) = name
            && self.lookup(&name).is_none()
        {
            if let Some(definition) = self.definition(&name) {
                if !definition.parameters.is_empty() || !matches!(definition.body, DefinitionBody::Formula(_)) {
                    return self.expand(&definition, arguments, span);
                }
            } else if let Some(expr) = self.built_in(&name, arguments, span) {
                return expr;
            }
        }
        let function = self.formula(function);
        let argument = self.tuple(arguments);
        let (from, to) = (self.types.fresh(), self.types.fresh());
        self.expect(&function, &Type::relation(from.clone(), to.clone()));
        self.expect(&argument, &from);
        Expr::operation(Operator::Apply, vec![function, argument], to, span)
    }

    /// Several arguments are a pair.
    pub(super) fn tuple(&mut self, arguments: &[Formula]) -> Expr {
        let mut parts = arguments.iter();
        let Some(first) = parts.next() else {
            return self.poison(Span::default());
        };
        let mut tuple = self.formula(first);
        for part in parts {
            let part = self.formula(part);
            let span = tuple.span.to(part.span);
            tuple = self.combine("|->", tuple, part, span);
        }
        tuple
    }

    fn built_in(&mut self, name: &str, arguments: &[Formula], span: Span) -> Option<Expr> {
        let wanted = match name {
            "prj1" | "prj2" | "iterate" => 2,
            "succ" | "pred" => 1,
            _ if TREES.contains(&name) => {
                self.trees(name, span);
                return Some(self.poison(span));
            }
            _ => unary_function(name).map(|_| 1)?,
        };
        if arguments.len() != wanted {
            let plural = if wanted == 1 { "" } else { "s" };
            self.error("arity", format!("`{name}` takes {wanted} argument{plural}, not {}", arguments.len()), span);
            return Some(self.poison(span));
        }
        let operands: Vec<Expr> = arguments.iter().map(|argument| self.formula(argument)).collect();
        let (a, b) = (self.types.fresh(), self.types.fresh());
        if let "succ" | "pred" = name {
            let one = Expr { kind: Kind::Integer(1), ty: Type::Integer, span };
            self.expect(&operands[0], &Type::Integer);
            let operator = if name == "succ" { Operator::Add } else { Operator::Minus };
            let operands = operands.into_iter().chain([one]).collect();
            return Some(Expr::operation(operator, operands, Type::Integer, span));
        }
        let operator = match name {
            "prj1" => Operator::FirstProjection,
            "prj2" => Operator::SecondProjection,
            "iterate" => Operator::Iterate,
            _ => unary_function(name)?,
        };
        let (expected, result): (Vec<Type>, Type) = match operator {
            Operator::FirstProjection | Operator::SecondProjection => {
                let target = if operator == Operator::FirstProjection { a.clone() } else { b.clone() };
                (vec![Type::set(a.clone()), Type::set(b.clone())], Type::relation(Type::pair(a, b), target))
            }
            Operator::Iterate => {
                let relation = Type::relation(a.clone(), a);
                (vec![relation.clone(), Type::Integer], relation)
            }
            Operator::Closure | Operator::Closure1 => {
                let relation = Type::relation(a.clone(), a);
                (vec![relation.clone()], relation)
            }
            Operator::Cardinality => (vec![Type::set(a)], Type::Integer),
            Operator::Minimum | Operator::Maximum => (vec![Type::set(Type::Integer)], Type::Integer),
            Operator::Domain => (vec![Type::relation(a.clone(), b)], Type::set(a)),
            Operator::Range => (vec![Type::relation(a, b.clone())], Type::set(b)),
            Operator::Identity => (vec![Type::set(a.clone())], Type::relation(a.clone(), a)),
            Operator::GeneralUnion | Operator::GeneralIntersection => {
                (vec![Type::set(Type::set(a.clone()))], Type::set(a))
            }
            Operator::Size => (vec![Type::sequence(a)], Type::Integer),
            Operator::First | Operator::Last => (vec![Type::sequence(a.clone())], a),
            Operator::Front | Operator::Tail | Operator::Reverse => {
                (vec![Type::sequence(a.clone())], Type::sequence(a))
            }
            Operator::GeneralConcatenate => (vec![Type::sequence(Type::sequence(a.clone()))], Type::sequence(a)),
            Operator::ToFunction => (vec![Type::relation(a.clone(), b.clone())], Type::relation(a, Type::set(b))),
            Operator::ToRelation => (vec![Type::relation(a.clone(), Type::set(b.clone()))], Type::relation(a, b)),
            Operator::Sequences(_) => (vec![Type::set(a.clone())], Type::set(Type::sequence(a))),
            _ => (vec![Type::set(a.clone())], Type::set(Type::set(a))),
        };
        for (operand, expected) in operands.iter().zip(&expected) {
            self.expect(operand, expected);
        }
        Some(Expr::operation(operator, operands, result, span))
    }

    fn field(&mut self, record: &Formula, name: &Name, span: Span) -> Expr {
        let record = self.formula(record);
        match self.types.resolve(&record.ty) {
            Type::Record(fields) => match fields.iter().position(|(field, _)| *field == name.text) {
                Some(position) => {
                    let ty = fields[position].1.clone();
                    Expr { kind: Kind::Field(Rc::new(record), position), ty, span }
                }
                None => {
                    let known: Vec<&str> = fields.iter().map(|(field, _)| &**field).collect();
                    let diagnostic =
                        Diagnostic::error("unknown-field", format!("there is no field `{}`", name.text), name.span)
                            .with_help(format!("the fields are: {}", known.join(", ")));
                    self.report(diagnostic);
                    self.poison(span)
                }
            },
            Type::Error => self.poison(span),
            _ => {
                let diagnostic = Diagnostic::error("type", "only a record has fields", record.span)
                    .with_help("say before this that it belongs to a `struct(…)`");
                self.report(diagnostic);
                self.poison(span)
            }
        }
    }

    /// The formula of a definition, with its arguments substituted textually.
    fn expand(&mut self, definition: &Rc<Definition>, arguments: &[Formula], span: Span) -> Expr {
        let DefinitionBody::Formula(body) = &definition.body else {
            let message = format!("`{}` stands for a substitution, not for a value", definition.name.text);
            self.error("definition", message, span);
            return self.poison(span);
        };
        if !self.check_expansion(definition, arguments.len(), span) {
            return self.poison(span);
        }
        let replaced = replace(body, &argument_map(definition, arguments));
        self.expansions += 1;
        let mut expr = self.formula(&replaced);
        self.expansions -= 1;
        // Messages about the use point to the use.
        if arguments.is_empty() {
            expr.span = span;
        }
        expr
    }

    pub(super) fn check_expansion(&mut self, definition: &Definition, arguments: usize, span: Span) -> bool {
        let name = &definition.name.text;
        if definition.parameters.len() != arguments {
            let diagnostic = Diagnostic::error(
                "arity",
                format!("the definition `{name}` takes {} arguments, not {arguments}", definition.parameters.len()),
                span,
            )
            .with_secondary(definition.name.span, "defined here");
            self.report(diagnostic);
            return false;
        }
        if self.expansions >= MAXIMUM_EXPANSIONS {
            let diagnostic =
                Diagnostic::error("recursive-definition", format!("the definition `{name}` uses itself"), span)
                    .with_secondary(definition.name.span, "defined here");
            self.report(diagnostic);
            return false;
        }
        true
    }
}

/// The arguments of a definition by the names of its parameters.
pub(super) fn argument_map(definition: &Definition, arguments: &[Formula]) -> FxHashMap<Arc<str>, Formula> {
    definition.parameters.iter().map(|name| name.text.clone()).zip(arguments.iter().cloned()).collect()
}

/// A formula with names replaced by other formulas.
pub(super) fn replace(formula: &Formula, map: &FxHashMap<Arc<str>, Formula>) -> Formula {
    if map.is_empty() {
        return formula.clone();
    }
    let one = |it: &Formula| Box::new(replace(it, map));
    let many = |them: &[Formula]| them.iter().map(|it| replace(it, map)).collect::<Vec<_>>();
    // A bound name hides a parameter of the same name.
    let under = |names: &[Name], it: &Formula| {
        let mut inner = map.clone();
        for name in names {
            inner.remove(&name.text);
        }
        Box::new(replace(it, &inner))
    };
    let kind = match &formula.kind {
        FormulaKind::Name(name) => match map.get(name) {
            Some(argument) => return argument.clone(),
            None => FormulaKind::Name(name.clone()),
        },
        FormulaKind::Unary(operator, operand) => FormulaKind::Unary(operator, one(operand)),
        FormulaKind::Binary(operator, left, right) => FormulaKind::Binary(operator, one(left), one(right)),
        FormulaKind::Apply(function, arguments) => FormulaKind::Apply(one(function), many(arguments)),
        FormulaKind::Image(relation, set) => FormulaKind::Image(one(relation), one(set)),
        FormulaKind::Inverse(relation) => FormulaKind::Inverse(one(relation)),
        FormulaKind::Field(record, name) => FormulaKind::Field(one(record), name.clone()),
        FormulaKind::Extension(members) => FormulaKind::Extension(many(members)),
        FormulaKind::Sequence(items) => FormulaKind::Sequence(many(items)),
        FormulaKind::Comprehension(names, body) => FormulaKind::Comprehension(names.clone(), under(names, body)),
        FormulaKind::Quantified(quantifier, names, body) => {
            FormulaKind::Quantified(quantifier, names.clone(), under(names, body))
        }
        FormulaKind::Binder(binder, names, condition, body) => {
            FormulaKind::Binder(binder, names.clone(), under(names, condition), under(names, body))
        }
        FormulaKind::Truth(predicate) => FormulaKind::Truth(one(predicate)),
        FormulaKind::Record(word, fields) => {
            FormulaKind::Record(word, fields.iter().map(|(name, it)| (name.clone(), replace(it, map))).collect())
        }
        FormulaKind::Conditional(condition, then, otherwise) => {
            FormulaKind::Conditional(one(condition), one(then), one(otherwise))
        }
        FormulaKind::Let(names, bindings, body) => {
            FormulaKind::Let(names.clone(), under(names, bindings), under(names, body))
        }
        FormulaKind::Number(_) | FormulaKind::Text(_) | FormulaKind::Before(_) | FormulaKind::Word(_) => {
            formula.kind.clone()
        }
    };
    Formula { kind, span: formula.span }
}
