//! From a builder to a model: names and types are resolved, and the text of the model is written along the way, one
//! line for each declaration and statement.
//!
//! Errors are reported and the erroneous part is dropped; the rest is still checked.

use std::fmt::{self, Write};

use rustc_hash::FxHashMap;

use super::body::{Body, RuleBuilder, StartBuilder, Statement};
use super::expression::{Binder, EXPRESSION_NESTING_LIMIT, Expression, Kind, Node, Range};
use super::types::{self, Type};
use super::{BuildError, ModelBuilder, Property, Variable};
use crate::assembly::{Assembly, Locals};
use crate::diagnostics::{Diagnostic, Source, Span};
use crate::expression::{BinaryOperator, Expr, Iteration, Root, UnaryOperator};
use crate::formula::Formula;
use crate::index::{ExprId, LocalId, PlaceId, TypeId, VariableId};
use crate::layout::Layout;
use crate::model::{LocalKind, Model, Parameter, PropertyKind};
use crate::ownership::{Number, Owner};
use crate::statement::{Statement as LoweredStatement, StatementKind};
use crate::types::{Field, TypeKind};
use crate::verify::{Class, class_of, verify};

/// The longest line of the text of a model, in bytes. Expressions share their parts; written out, they may exceed any
/// memory.
const LONGEST_LINE: usize = 400;

/// Builds a model.
pub(super) fn lower(builder: &ModelBuilder) -> Result<Model, BuildError> {
    let mut lowering = Lowering::new();
    for variable in &builder.variables {
        lowering.variable(variable);
    }
    if builder.starts.is_empty() {
        lowering.open("the model".into(), 0, &format_args!("-- no initial state"));
        lowering.error("no-start", "it has no initial state", Some("add a start"));
    }
    for (name, start) in &builder.starts {
        lowering.start(name, start);
    }
    for (name, rule) in &builder.rules {
        lowering.rule(name, rule);
    }
    for property in &builder.properties {
        lowering.property(property);
    }
    let Lowering { assembly, text, mut diagnostics, .. } = lowering;
    let mut model = assembly.model;
    model.source = Source::new(builder.name.clone(), text);
    if diagnostics.is_empty()
        && let Err(problems) = verify(&model)
    {
        let about_all =
            |problem| Diagnostic { primary: None, ..Diagnostic::error("ill-formed", problem, Span::default()) };
        diagnostics.extend(problems.into_iter().map(about_all));
    }
    if diagnostics.is_empty() { Ok(model) } else { Err(BuildError { source: model.source, diagnostics }) }
}

/// The global meaning of a name.
#[derive(Clone, Copy)]
enum Named {
    Variable(VariableId),
    Member {
        value: i64,
        ty: TypeId,
    },
    /// An erroneous variable. Its uses are not reported as errors again.
    Wrong,
}

/// The kind of an expression.
#[derive(Clone, Copy)]
enum Operand {
    Value(ExprId, TypeId),
    /// A variable or a part of one, possibly an array or a record.
    Place(PlaceId),
}

struct Lowering {
    assembly: Assembly,
    /// The text so far.
    text: String,
    diagnostics: Vec<Diagnostic>,
    /// Types by their address in memory; the builder keeps them alive.
    types: FxHashMap<*const types::Node, Option<TypeId>>,
    declared_types: FxHashMap<String, TypeId>,
    names: FxHashMap<String, Named>,
    /// The first value of the next enumeration or scalarset: no two of them share a value.
    next_value: i64,
    /// The declaration that messages refer to, and its span.
    place: String,
    span: Span,
    /// The locals of the rule, initial-state program or property.
    locals: Locals,
    /// The visible locals, innermost last. `None` if the range of a local is erroneous; its uses are not reported
    /// again.
    scope: Vec<(Binder, Option<LocalId>)>,
    /// The expressions lowered in this scope, by their address in memory.
    lowered: FxHashMap<*const Node, Option<Operand>>,
}

/// A writer that stops at a length limit.
struct Bounded<'t> {
    text: &'t mut String,
    end: usize,
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.text.len() + part.len() > self.end {
            self.text.push('…');
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

/// Displays items with separators.
struct Listed<'i, T>(&'i [T], &'static str);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, item) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(self.1)?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

/// `ruleset p: process do ` before a declaration with parameters.
struct Ruleset<'p>(&'p [Binder]);

impl fmt::Display for Ruleset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "ruleset {} do ", Listed(self.0, "; ")) }
    }
}

/// Text as quoted by a message, truncated if long.
fn quoted(text: &dyn fmt::Display) -> String {
    const LONGEST_QUOTATION: usize = 80;
    let mut quotation = String::from("`");
    // An error only means that the text was truncated.
    let _ = write!(Bounded { text: &mut quotation, end: LONGEST_QUOTATION }, "{text}");
    quotation.push('`');
    quotation
}

impl Lowering {
    fn new() -> Self {
        Self {
            assembly: Assembly::new(),
            text: String::new(),
            diagnostics: Vec::new(),
            types: FxHashMap::default(),
            declared_types: FxHashMap::default(),
            names: FxHashMap::default(),
            next_value: 0,
            place: String::new(),
            span: Span::default(),
            locals: Locals::default(),
            scope: Vec::new(),
            lowered: FxHashMap::default(),
        }
    }

    /// Adds a line to the text, and returns its span.
    fn line(&mut self, depth: usize, text: &dyn fmt::Display) -> Span {
        let start = self.text.len() + 2 * depth;
        self.text.extend(std::iter::repeat_n("  ", depth));
        let end = start + LONGEST_LINE;
        // An error only means that the text was truncated.
        let _ = write!(Bounded { text: &mut self.text, end }, "{text}");
        self.span = Span::new(start, self.text.len());
        self.text.push('\n');
        self.span
    }
    /// Begins a declaration: subsequent errors refer to it.
    fn open(&mut self, place: String, depth: usize, text: &dyn fmt::Display) -> Span {
        self.place = place;
        self.line(depth, text)
    }
    fn error(&mut self, code: &'static str, message: impl fmt::Display, help: Option<&str>) {
        let diagnostic = Diagnostic::error(code, format!("{}: {message}", self.place), self.span);
        self.diagnostics.push(match help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        });
    }
}

// Declarations.
impl Lowering {
    fn variable(&mut self, variable: &Variable) {
        let Variable { name, ty, may_be_undefined } = variable;
        let span = self.open(format!("variable `{name}`"), 0, &format_args!("var {name}: {ty};"));
        let Some(ty) = self.ty(ty) else {
            return self.declare(name, Named::Wrong);
        };
        let id = self.assembly.add_variable(name, ty, *may_be_undefined);
        self.assembly.model.variables[id].span = span;
        self.declare(name, Named::Variable(id));
    }
    /// Declares a global name.
    fn declare(&mut self, name: &str, named: Named) {
        if self.names.contains_key(name) {
            let help = Some("variables and the members of enumerations need names of their own");
            return self.error("duplicate-name", format_args!("the name `{name}` is given twice"), help);
        }
        self.names.insert(name.to_owned(), named);
    }

    fn start(&mut self, name: &str, start: &StartBuilder) {
        let StartBuilder { parameters, body } = start;
        let text = format_args!("{}startstate {name:?}", Ruleset(parameters));
        let span = self.open(format!("start `{name}`"), 0, &text);
        let parameters = self.parameters(parameters);
        let body = self.body(body, 1);
        self.line(0, &"end;");
        let locals = self.close();
        let start = self.assembly.start(parameters, locals, body);
        let start = &mut self.assembly.model.starts[start];
        (start.name, start.span) = (Some(name.to_owned()), span);
    }

    fn rule(&mut self, name: &str, rule: &RuleBuilder) {
        let RuleBuilder { parameters: binders, guard, owner, fairness, body } = rule;
        let condition = match &guard[..] {
            [] => None,
            conditions => Some(super::conjunction(conditions)),
        };
        let (before, sign) = if condition.is_some() { (" ", " ==>") } else { ("", "") };
        let text = format_args!("{}rule {name:?}{before}{}{sign}", Ruleset(binders), Listed(condition.as_slice(), ""));
        let span = self.open(format!("rule `{name}`"), 0, &text);
        let parameters = self.parameters(binders);
        let guard = match &condition {
            Some(condition) => self.condition(condition),
            None => Some(self.assembly.truth(true)),
        };
        let owner = owner.as_ref().and_then(|owner| self.owner(owner, binders)).unwrap_or(Owner::None);
        let body = self.body(body, 1);
        self.line(0, &"end;");
        let locals = self.close();
        let Some(guard) = guard else { return };
        let rule = self.assembly.rule(parameters, locals, guard, body);
        let rule = &mut self.assembly.model.rules[rule];
        (rule.name, rule.owner, rule.fairness, rule.span) = (Some(name.to_owned()), owner, *fairness, span);
    }

    /// The process that a rule belongs to.
    fn owner(&mut self, owner: &Expression, parameters: &[Binder]) -> Option<Owner> {
        let position = |binder: &Binder| parameters.iter().position(|parameter| parameter.is(binder));
        let named = |name: &String| parameters.iter().position(|parameter| parameter.name() == name);
        let parameter = match &owner.0.kind {
            Kind::Number(number) => return Some(Owner::Process(Number::Constant(*number))),
            Kind::Local(binder) => position(binder),
            Kind::Name(name) => named(name),
            _ => None,
        };
        if parameter.is_none() {
            let help = Some("the owner is one of the rule's parameters or a number");
            self.error("bad-owner", format_args!("{} is not a process", quoted(owner)), help);
        }
        parameter.map(|position| Owner::Process(Number::Parameter(position)))
    }

    fn property(&mut self, property: &Property) {
        let Property { name, kind, parameters, condition } = property;
        let word = match kind {
            PropertyKind::Invariant => "invariant",
            PropertyKind::Cover => "cover",
            PropertyKind::AlwaysReachable => "liveness",
            PropertyKind::Assumption => "assume",
            PropertyKind::Passing => "passing",
            PropertyKind::Constraint => "constraint",
            PropertyKind::Remark => "remark",
            PropertyKind::Temporal => "temporal",
            PropertyKind::Atom => "atom",
        };
        let text = format_args!("{}{word} {name:?} {condition};", Ruleset(&parameters.parameters));
        let span = self.open(format!("{word} `{name}`"), 0, &text);
        let parameters = self.parameters(&parameters.parameters);
        let condition = self.condition(condition);
        let locals = self.close();
        let Some(condition) = condition else { return };
        self.add_property(name, *kind, parameters, locals, condition.into(), span);
    }
    fn add_property(
        &mut self,
        name: &str,
        kind: PropertyKind,
        parameters: Vec<Parameter>,
        locals: Locals,
        formula: Formula,
        span: Span,
    ) -> crate::PropertyId {
        let id = self.assembly.property(kind, parameters, locals, formula);
        let property = &mut self.assembly.model.properties[id];
        (property.name, property.span) = (Some(name.to_owned()), span);
        id
    }

    fn parameters(&mut self, binders: &[Binder]) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for (position, binder) in binders.iter().enumerate() {
            let name = binder.name();
            if binders[..position].iter().any(|earlier| earlier.name() == name) {
                self.error("duplicate-name", format_args!("the parameter `{name}` is there twice"), None);
            }
            let ty = match &binder.values().0 {
                Range::Over(ty) => self.ty(ty),
                Range::Steps(..) => {
                    let message = format_args!("the bounds of the parameter `{name}` are not constant");
                    self.error("parameter-bounds", message, Some("use a type, or a range of integers such as 0..=3"));
                    None
                }
            };
            let local = self.bind(binder, ty, LocalKind::Parameter);
            let range = ty.map(Iteration::Over);
            parameters.extend(local.zip(range).map(|(local, range)| Parameter { local, range }));
        }
        parameters
    }

    /// Makes a parameter, bound variable or local variable visible.
    fn bind(&mut self, binder: &Binder, ty: Option<TypeId>, kind: LocalKind) -> Option<LocalId> {
        let local = ty.map(|ty| self.locals.add(binder.name(), ty, kind));
        if let Some(local) = local {
            self.locals.0[local].span = self.span;
        }
        self.scope.push((binder.clone(), local));
        // The same name may have another meaning now.
        self.lowered.clear();
        local
    }
    /// Forgets the locals that became visible since.
    fn leave(&mut self, scope: usize) {
        if self.scope.len() > scope {
            self.scope.truncate(scope);
            self.lowered.clear();
        }
    }
    /// Ends a declaration, and returns its locals.
    fn close(&mut self) -> Locals {
        self.scope.clear();
        self.lowered.clear();
        std::mem::take(&mut self.locals)
    }
}

// Types.
impl Lowering {
    fn ty(&mut self, ty: &Type) -> Option<TypeId> {
        let address = std::sync::Arc::as_ptr(&ty.0);
        if let Some(&known) = self.types.get(&address) {
            return known;
        }
        let id = self.new_type(ty);
        self.types.insert(address, id);
        id
    }

    fn new_type(&mut self, ty: &Type) -> Option<TypeId> {
        let name = ty.0.name.as_deref();
        let kind = match &ty.0.kind {
            types::Kind::Boolean => return Some(Model::BOOLEAN),
            &types::Kind::Range(low, high) => {
                if low > high {
                    self.error("empty-type", format_args!("the range {} has no value", quoted(ty)), None);
                    return None;
                }
                TypeKind::Range { low, high }
            }
            types::Kind::Enumeration(members) => {
                TypeKind::Enumeration { first: self.next_value, members: members.clone() }
            }
            &types::Kind::Scalarset(size) => TypeKind::Scalarset { first: self.next_value, size },
            types::Kind::Union(members) => TypeKind::Union { members: self.union_members(ty, members)? },
            types::Kind::Array(index, element) => {
                let (index_id, element) = (self.ty(index), self.ty(element));
                let (index_id, element) = (index_id?, element?);
                if !self.assembly.model.is_scalar(index_id) {
                    let message = format_args!("an array cannot be indexed by {}", quoted(index));
                    self.error("bad-index-type", message, Some("indices are of a scalar type"));
                    return None;
                }
                TypeKind::Array { index: index_id, element }
            }
            types::Kind::Record(fields) => TypeKind::Record { fields: self.fields(ty, fields)? },
            types::Kind::TooDeep => {
                let message = format_args!("a type is nested more than {} levels deep", Layout::NESTING_LIMIT);
                self.error("too-deep", message, None);
                return None;
            }
        };
        let declared = name.and_then(|name| self.declared_types.get(name).copied());
        if let Some(earlier) = declared {
            if same_kind(&self.assembly.model.types[earlier].kind, &kind) {
                return Some(earlier);
            }
            let message = format_args!("the name {} is given to two different types", quoted(ty));
            self.error("duplicate-type", message, None);
            return None;
        }
        let entry = crate::types::Type { name: name.map(str::to_owned), kind };
        let same = |(_, earlier): &(TypeId, &crate::types::Type)| **earlier == entry;
        if let Some((id, _)) = self.assembly.model.types.iter_enumerated().find(same) {
            return Some(id);
        }
        self.take_values(ty, &entry.kind)?;
        let id = self.assembly.model.types.push(entry);
        if let Some(name) = name {
            self.declared_types.insert(name.to_owned(), id);
        }
        if let types::Kind::Enumeration(members) = &ty.0.kind {
            let TypeKind::Enumeration { first, .. } = self.assembly.model.types[id].kind else { return Some(id) };
            for (value, member) in (first..).zip(members) {
                self.declare(member, Named::Member { value, ty: id });
            }
        }
        Some(id)
    }

    /// Reserves the values of an enumeration or scalarset.
    fn take_values(&mut self, ty: &Type, kind: &TypeKind) -> Option<()> {
        let size = match kind {
            TypeKind::Enumeration { members, .. } => members.len() as u64,
            TypeKind::Scalarset { size, .. } => *size,
            _ => return Some(()),
        };
        if size == 0 {
            self.error("empty-type", format_args!("the type {} has no value", quoted(ty)), None);
            return None;
        }
        let next = i64::try_from(size).ok().and_then(|size| self.next_value.checked_add(size));
        match next {
            Some(next) => self.next_value = next,
            None => self.error("too-large", format_args!("the type {} has too many values", quoted(ty)), None),
        }
        next.map(|_| ())
    }

    fn union_members(&mut self, ty: &Type, members: &[Type]) -> Option<Vec<TypeId>> {
        let mut ids = Vec::new();
        for member in members {
            let id = self.ty(member)?;
            let kind = &self.assembly.model.types[id].kind;
            if !matches!(kind, TypeKind::Enumeration { .. } | TypeKind::Scalarset { .. }) {
                let message = format_args!("{} cannot be a member of a union", quoted(member));
                self.error("bad-union", message, Some("members are enumerations and scalarsets"));
                return None;
            }
            if ids.contains(&id) {
                self.error("bad-union", format_args!("{} is twice in {}", quoted(member), quoted(ty)), None);
                return None;
            }
            ids.push(id);
        }
        if ids.is_empty() {
            self.error("empty-type", "a union has no member", None);
            return None;
        }
        Some(ids)
    }

    fn fields(&mut self, ty: &Type, fields: &[(String, Type)]) -> Option<Vec<Field>> {
        let mut lowered: Option<Vec<Field>> = Some(Vec::new());
        for (position, (name, field)) in fields.iter().enumerate() {
            let id = self.ty(field);
            if fields[..position].iter().any(|(earlier, _)| earlier == name) {
                self.error("duplicate-name", format_args!("{} has two fields `{name}`", quoted(ty)), None);
                lowered = None;
            }
            match (&mut lowered, id) {
                (Some(lowered), Some(ty)) => lowered.push(Field { name: name.clone(), ty }),
                _ => lowered = None,
            }
        }
        lowered
    }

    /// A type as named in messages.
    fn type_text(&self, ty: TypeId) -> String {
        let entry = &self.assembly.model.types[ty];
        match (&entry.name, class_of(&self.assembly.model, ty)) {
            (_, Class::Boolean) => "a condition".into(),
            (_, Class::Number) => "a number".into(),
            (Some(name), Class::Symbol) => format!("of type `{name}`"),
            (None, Class::Symbol) => "of a union".into(),
            (_, Class::Compound) => match entry.kind {
                TypeKind::Array { .. } => "an array".into(),
                _ => "a record".into(),
            },
        }
    }

    /// Whether values of two scalar types can be equal, and so can be compared and assigned.
    fn fit(&self, left: TypeId, right: TypeId) -> bool {
        let model = &self.assembly.model;
        let class = class_of(model, left);
        class == class_of(model, right)
            && match class {
                Class::Boolean | Class::Number => true,
                // No two enumerations or scalarsets share a value, so only unions and their members overlap.
                Class::Symbol => {
                    let right = model.domain(right);
                    let pieces = model.domain(left);
                    pieces.pieces().iter().any(|&(low, high)| right.between(low, high).is_some())
                }
                Class::Compound => false,
            }
    }
}

/// Whether two types are constructed alike. An enumeration or scalarset keeps the values assigned when it was first
/// encountered.
fn same_kind(left: &TypeKind, right: &TypeKind) -> bool {
    match (left, right) {
        (TypeKind::Enumeration { members: left, .. }, TypeKind::Enumeration { members: right, .. }) => left == right,
        (TypeKind::Scalarset { size: left, .. }, TypeKind::Scalarset { size: right, .. }) => left == right,
        _ => left == right,
    }
}

// Expressions.
impl Lowering {
    fn operand(&mut self, expression: &Expression) -> Option<Operand> {
        let address = std::sync::Arc::as_ptr(&expression.0);
        if let Some(&known) = self.lowered.get(&address) {
            return known;
        }
        let operand = self.new_operand(expression);
        self.lowered.insert(address, operand);
        operand
    }

    fn new_operand(&mut self, expression: &Expression) -> Option<Operand> {
        match &expression.0.kind {
            Kind::Boolean(value) => Some(Operand::Value(self.assembly.truth(*value), Model::BOOLEAN)),
            Kind::Number(value) => Some(Operand::Value(self.assembly.number(*value), Model::INTEGER)),
            Kind::Name(name) => self.named(name),
            Kind::Variable(name) => match self.names.get(name) {
                Some(Named::Variable(variable)) => Some(Operand::Place(self.assembly.global(*variable))),
                Some(Named::Wrong) => None,
                Some(Named::Member { .. }) | None => self.unknown(name),
            },
            Kind::Local(binder) => match self.scope.iter().rev().find(|(known, _)| known.is(binder)) {
                Some(&(_, local)) => self.local(local),
                None => {
                    let help = "it is known only inside of the rule, property, quantifier or loop that introduces it";
                    let message = format_args!("`{}` is used where it is not known", binder.name());
                    self.error("out-of-scope", message, Some(help));
                    None
                }
            },
            Kind::Index(base, index) => self.element(base, index),
            Kind::Field(base, name) => self.field(base, name),
            Kind::Unary(operator, operand) => {
                let (operand, ty) = match operator {
                    UnaryOperator::Not => (self.condition(operand)?, Model::BOOLEAN),
                    UnaryOperator::Negate | UnaryOperator::Complement => (self.number(operand)?, Model::INTEGER),
                };
                Some(Operand::Value(self.assembly.unary(*operator, operand), ty))
            }
            Kind::Binary(operator, left, right) => self.binary(*operator, left, right),
            Kind::Conditional(condition, then, otherwise) => self.conditional(condition, then, otherwise),
            Kind::Quantified(quantifier, binder, body) => {
                let scope = self.scope.len();
                let range = self.range(binder);
                let body = self.condition(body);
                self.leave(scope);
                let (local, range) = range?;
                let quantified = self.assembly.quantified(*quantifier, local, range, body?);
                Some(Operand::Value(quantified, Model::BOOLEAN))
            }
            Kind::IsUndefined(inner) => {
                let place = self.place(inner)?;
                if !self.is_scalar(place) {
                    let message = format_args!("{} has more than one value", quoted(inner));
                    self.error("wrong-type", message, Some("ask for one of its elements or fields"));
                    return None;
                }
                Some(Operand::Value(self.assembly.expression(Expr::IsUndefined(place)), Model::BOOLEAN))
            }
            Kind::IsMember(inner, ty) => {
                let (value, ty) = (self.value(inner), self.ty(ty));
                let ((value, of), ty) = (value?, ty?);
                if !self.fit(of, ty) {
                    let text = self.type_text(ty);
                    let message = format_args!("{} can never be {text}", quoted(inner));
                    self.error("wrong-type", message, None);
                    return None;
                }
                Some(Operand::Value(self.assembly.expression(Expr::IsMember { value, ty }), Model::BOOLEAN))
            }
            Kind::TooDeep => {
                let message = format_args!("an expression is nested more than {EXPRESSION_NESTING_LIMIT} levels deep");
                self.error("too-deep", message, Some("join long lists with `conjunction` or `disjunction`"));
                None
            }
        }
    }

    fn named(&mut self, name: &str) -> Option<Operand> {
        if let Some(&(_, local)) = self.scope.iter().rev().find(|(known, _)| known.name() == name) {
            return self.local(local);
        }
        match self.names.get(name).copied() {
            Some(Named::Variable(variable)) => Some(Operand::Place(self.assembly.global(variable))),
            Some(Named::Member { value, ty }) => Some(Operand::Value(self.assembly.constant(value, ty), ty)),
            Some(Named::Wrong) => None,
            None => self.unknown(name),
        }
    }
    fn unknown<T>(&mut self, name: &str) -> Option<T> {
        self.error("unknown-name", format_args!("unknown name `{name}`"), None);
        None
    }
    fn local(&mut self, local: Option<LocalId>) -> Option<Operand> {
        local.map(|local| Operand::Place(self.assembly.local(&self.locals, local)))
    }
    fn is_scalar(&self, place: PlaceId) -> bool {
        self.assembly.model.is_scalar(self.assembly.model.pool[place].ty)
    }

    /// Something that can be read or written as a whole or in part.
    fn place(&mut self, expression: &Expression) -> Option<PlaceId> {
        match self.operand(expression)? {
            Operand::Place(place) => Some(place),
            Operand::Value(..) => {
                let message = format_args!("{} is not a variable or a part of one", quoted(expression));
                self.error("not-a-place", message, None);
                None
            }
        }
    }
    /// A single value.
    fn value(&mut self, expression: &Expression) -> Option<(ExprId, TypeId)> {
        match self.operand(expression)? {
            Operand::Value(value, ty) => Some((value, ty)),
            Operand::Place(place) if self.is_scalar(place) => {
                let ty = self.assembly.model.pool[place].ty;
                Some((self.assembly.read(place), ty))
            }
            Operand::Place(place) => {
                let text = self.type_text(self.assembly.model.pool[place].ty);
                let message = format_args!("{} is {text}, where a single value is needed", quoted(expression));
                self.error("wrong-type", message, None);
                None
            }
        }
    }
    fn of_class(&mut self, expression: &Expression, class: Class, needed: &str) -> Option<ExprId> {
        let (value, ty) = self.value(expression)?;
        if class_of(&self.assembly.model, ty) == class {
            return Some(value);
        }
        let text = self.type_text(ty);
        self.error("wrong-type", format_args!("{} is {text}, not {needed}", quoted(expression)), None);
        None
    }
    fn condition(&mut self, expression: &Expression) -> Option<ExprId> {
        self.of_class(expression, Class::Boolean, "a condition")
    }
    fn number(&mut self, expression: &Expression) -> Option<ExprId> {
        self.of_class(expression, Class::Number, "a number")
    }

    fn element(&mut self, base: &Expression, index: &Expression) -> Option<Operand> {
        let (place, value) = (self.place(base), self.value(index));
        let (place, (value, ty)) = (place?, value?);
        let base_type = self.assembly.model.pool[place].ty;
        let TypeKind::Array { index: of, .. } = self.assembly.model.types[base_type].kind else {
            let text = self.type_text(base_type);
            self.error("wrong-type", format_args!("{} is {text}, not an array", quoted(base)), None);
            return None;
        };
        if !self.fit(ty, of) {
            let (found, needed) = (self.type_text(ty), self.type_text(of));
            let message = format_args!("the index {} of {} is {found}, not {needed}", quoted(index), quoted(base));
            self.error("wrong-type", message, None);
            return None;
        }
        Some(Operand::Place(self.assembly.at(place, value)))
    }

    fn field(&mut self, base: &Expression, name: &str) -> Option<Operand> {
        let place = self.place(base)?;
        let ty = self.assembly.model.pool[place].ty;
        let TypeKind::Record { fields } = &self.assembly.model.types[ty].kind else {
            let text = self.type_text(ty);
            self.error("wrong-type", format_args!("{} is {text}, not a record", quoted(base)), None);
            return None;
        };
        match fields.iter().position(|field| field.name == name) {
            Some(position) => {
                let position = u32::try_from(position).expect("a record has fewer than 2^32 fields");
                Some(Operand::Place(self.assembly.field(place, position)))
            }
            None => {
                let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                let help = format!("its fields are {}", names.join(", "));
                self.error("unknown-field", format_args!("{} has no field `{name}`", quoted(base)), Some(&help));
                None
            }
        }
    }

    fn binary(&mut self, operator: BinaryOperator, left: &Expression, right: &Expression) -> Option<Operand> {
        use BinaryOperator::{And, Equal, Implies, NotEqual, Or};
        let (left, right, ty) = match operator {
            And | Or | Implies => {
                let (left, right) = (self.condition(left), self.condition(right));
                (left?, right?, Model::BOOLEAN)
            }
            Equal | NotEqual => return self.comparison(operator, left, right),
            _ => {
                let (left, right) = (self.number(left), self.number(right));
                (left?, right?, if operator.is_comparison() { Model::BOOLEAN } else { Model::INTEGER })
            }
        };
        Some(Operand::Value(self.assembly.binary(operator, left, right), ty))
    }

    /// `=` or `!=`, of values or of contents.
    fn comparison(&mut self, operator: BinaryOperator, left: &Expression, right: &Expression) -> Option<Operand> {
        let operands = (self.operand(left), self.operand(right));
        let is_compound =
            |this: &Self, operand: Operand| matches!(operand, Operand::Place(place) if !this.is_scalar(place));
        if let (Some(Operand::Place(first)), Some(Operand::Place(second))) = operands
            && is_compound(self, Operand::Place(first))
            && self.assembly.model.pool[first].ty == self.assembly.model.pool[second].ty
        {
            let same = self.assembly.expression(Expr::SameContents { left: first, right: second });
            let result = match operator {
                BinaryOperator::Equal => same,
                _ => self.assembly.unary(UnaryOperator::Not, same),
            };
            return Some(Operand::Value(result, Model::BOOLEAN));
        }
        let (first, second) = (self.value(left), self.value(right));
        let ((first, first_type), (second, second_type)) = (first?, second?);
        if !self.fit(first_type, second_type) {
            self.mismatch("compared", left, first_type, right, second_type);
            return None;
        }
        Some(Operand::Value(self.assembly.binary(operator, first, second), Model::BOOLEAN))
    }
    fn mismatch(&mut self, done: &str, left: &Expression, of_left: TypeId, right: &Expression, of_right: TypeId) {
        let (of_left, of_right) = (self.type_text(of_left), self.type_text(of_right));
        let (left, right) = (quoted(left), quoted(right));
        let message = format_args!("{left} and {right} cannot be {done}: one is {of_left}, the other {of_right}");
        self.error("wrong-type", message, None);
    }

    fn conditional(&mut self, condition: &Expression, then: &Expression, otherwise: &Expression) -> Option<Operand> {
        let decision = self.condition(condition);
        let (first, second) = (self.value(then), self.value(otherwise));
        let ((first, first_type), (second, second_type)) = (first?, second?);
        let model = &self.assembly.model;
        let common = match class_of(model, first_type) {
            _ if !self.fit(first_type, second_type) => None,
            Class::Boolean => Some(Model::BOOLEAN),
            Class::Number => Some(Model::INTEGER),
            // Of a union and one of its members, the union contains all possible values.
            _ if model.domain(first_type).size() < model.domain(second_type).size() => Some(second_type),
            _ => Some(first_type),
        };
        let Some(ty) = common else {
            self.mismatch("alternatives", then, first_type, otherwise, second_type);
            return None;
        };
        let result = Expr::Conditional { condition: decision?, then: first, otherwise: second };
        Some(Operand::Value(self.assembly.expression(result), ty))
    }

    /// Introduces a bound variable. It is visible even if its range is erroneous.
    fn range(&mut self, binder: &Binder) -> Option<(LocalId, Iteration)> {
        let (ty, range) = match &binder.values().0 {
            Range::Over(values) => {
                let mut ty = self.ty(values);
                if ty.is_some_and(|ty| !self.assembly.model.is_scalar(ty)) {
                    let message = format_args!("`{}` cannot range over {}", binder.name(), quoted(values));
                    self.error("wrong-type", message, Some("it ranges over a scalar type"));
                    ty = None;
                }
                (ty, ty.map(Iteration::Over))
            }
            Range::Steps(from, to) => {
                let (from, to) = (self.number(from), self.number(to));
                let range = from.zip(to).map(|(from, to)| Iteration::Steps { from, to, step: None });
                (Some(Model::INTEGER), range)
            }
        };
        self.bind(binder, ty, LocalKind::Parameter).zip(range)
    }
}

// Statements.
impl Lowering {
    fn body(&mut self, body: &Body, depth: usize) -> Vec<LoweredStatement> {
        let scope = self.scope.len();
        let statements = body.0.iter().filter_map(|statement| {
            let (kind, span) = self.statement(statement, depth);
            Some(LoweredStatement { kind: kind?, span })
        });
        let statements = statements.collect();
        self.leave(scope);
        statements
    }

    /// A statement and its span; no statement if it has no counterpart in the model or is erroneous.
    fn statement(&mut self, statement: &Statement, depth: usize) -> (Option<StatementKind>, Span) {
        match statement {
            Statement::Local(binder) => {
                let span = self.line(depth, &format_args!("var {binder};"));
                self.local_variable(binder);
                (None, span)
            }
            Statement::Assign { target, value } => {
                let span = self.line(depth, &format_args!("{target} := {value};"));
                (self.assignment(target, value), span)
            }
            Statement::Clear(place) => {
                let span = self.line(depth, &format_args!("clear {place};"));
                (self.target(place).map(StatementKind::Clear), span)
            }
            Statement::Undefine(place) => {
                let span = self.line(depth, &format_args!("undefine {place};"));
                (self.target(place).map(StatementKind::Undefine), span)
            }
            Statement::If { branches, otherwise } => self.branches(branches, otherwise, depth),
            Statement::While { condition, body } => {
                let span = self.line(depth, &format_args!("while {condition} do"));
                let condition = self.condition(condition);
                let body = self.body(body, depth + 1);
                self.line(depth, &"end;");
                (condition.map(|condition| StatementKind::While { condition, body }), span)
            }
            Statement::For { binder, body } => {
                let span = self.line(depth, &format_args!("for {binder} do"));
                let scope = self.scope.len();
                let range = self.range(binder);
                let body = self.body(body, depth + 1);
                self.leave(scope);
                self.line(depth, &"end;");
                (range.map(|(local, range)| StatementKind::For { local, range, body }), span)
            }
            Statement::Assert { condition, message } => {
                let span = self.line(depth, &format_args!("assert {message:?} {condition};"));
                let message = message.clone();
                let condition = self.condition(condition);
                (condition.map(|condition| StatementKind::Assert { condition, message, violates: None }), span)
            }
            Statement::Assume(condition) => {
                let span = self.line(depth, &format_args!("assume {condition};"));
                (self.condition(condition).map(StatementKind::Assume), span)
            }
            Statement::Cover { name, condition } => {
                let span = self.line(depth, &format_args!("cover {name:?} {condition};"));
                let condition = self.condition(condition);
                let kind = condition.map(|condition| {
                    let (cover, locals) = (PropertyKind::Cover, Locals::default());
                    let property = self.add_property(name, cover, Vec::new(), locals, Formula::CoverStatement, span);
                    StatementKind::Cover { condition, property }
                });
                (kind, span)
            }
            Statement::Error { message } => {
                let span = self.line(depth, &format_args!("error {message:?};"));
                (Some(StatementKind::Error { message: message.clone() }), span)
            }
            Statement::Finish => (Some(StatementKind::Return(None)), self.line(depth, &"return;")),
        }
    }

    fn local_variable(&mut self, binder: &Binder) {
        let Range::Over(ty) = &binder.values().0 else { unreachable!("a local variable has a type") };
        let ty = self.ty(ty);
        self.bind(binder, ty, LocalKind::Variable);
    }

    fn branches(
        &mut self,
        branches: &[(Expression, Body)],
        otherwise: &Body,
        depth: usize,
    ) -> (Option<StatementKind>, Span) {
        let mut first = None;
        let mut lowered: Option<Vec<(ExprId, Vec<LoweredStatement>)>> = Some(Vec::new());
        for (condition, body) in branches {
            let word = if first.is_none() { "if" } else { "elsif" };
            let span = self.line(depth, &format_args!("{word} {condition} then"));
            first.get_or_insert(span);
            let condition = self.condition(condition);
            let body = self.body(body, depth + 1);
            match (&mut lowered, condition) {
                (Some(lowered), Some(condition)) => lowered.push((condition, body)),
                _ => lowered = None,
            }
        }
        if !otherwise.0.is_empty() {
            self.line(depth, &"else");
        }
        let otherwise = self.body(otherwise, depth + 1);
        self.line(depth, &"end;");
        (lowered.map(|branches| StatementKind::If { branches, otherwise }), first.unwrap_or_default())
    }

    fn assignment(&mut self, target: &Expression, value: &Expression) -> Option<StatementKind> {
        let (place, source) = (self.target(target), self.operand(value));
        let (place, source) = (place?, source?);
        let target_type = self.assembly.model.pool[place].ty;
        if !self.is_scalar(place) {
            let source_type = match source {
                Operand::Place(source) => self.assembly.model.pool[source].ty,
                Operand::Value(_, ty) => ty,
            };
            return match source {
                Operand::Place(source) if source_type == target_type => {
                    Some(StatementKind::Copy { target: place, source })
                }
                _ => {
                    self.mismatch("assigned", target, target_type, value, source_type);
                    None
                }
            };
        }
        let (lowered, source_type) = self.value(value)?;
        if !self.fit(target_type, source_type) {
            self.mismatch("assigned", target, target_type, value, source_type);
            return None;
        }
        Some(StatementKind::Assign { target: place, value: lowered })
    }

    /// A place that may be changed.
    fn target(&mut self, expression: &Expression) -> Option<PlaceId> {
        let place = self.place(expression)?;
        if let Root::Local(local) = self.assembly.model.pool[place].root
            && self.locals.0[local].kind == LocalKind::Parameter
        {
            let message = format_args!("{} cannot be changed: it is a parameter or bound variable", quoted(expression));
            self.error("assignment-to-parameter", message, Some("copy it to a local variable"));
            return None;
        }
        Some(place)
    }
}
