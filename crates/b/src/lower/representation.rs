//! The representation of constants and variables in the state: variables by their bounds in the invariant, constants by
//! their values.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Index, Notation, PlaceId, Span, Statement, StatementKind, Variable};
use quotient_kit::Building;
use rustc_hash::FxHashSet;

use super::super::core::{Expr, Kind, Operator, SymbolId};
use super::super::evaluation::Value;
use super::super::types::Type;
use super::items::{Environment, Item, bind};
use super::shapes::{Scalar, Shape, shape_of_type};
use super::{Lowered, Lowerer};

impl Lowerer<'_> {
    /// The environment of a state in which the constants have values: known ones as literals, others
    /// in variables of the model.
    pub(super) fn declare_constants(&mut self, solutions: &[Vec<Value>]) -> Lowered<Environment> {
        let mut environment = self.empty_environment();
        for (position, symbol) in self.core.constants.iter().enumerate() {
            let Some(first) = solutions.first().map(|solution| &solution[position]) else {
                continue;
            };
            let is_known = solutions.iter().all(|solution| solution[position] == *first);
            if is_known {
                self.known.insert(*symbol, first.clone());
            }
            let ty = self.types.full(&self.core.symbols[symbol.0].ty);
            let shape = solutions
                .iter()
                .map(|solution| self.value_shape(&solution[position], &ty))
                .reduce(|one, other| one.join(&other))
                .unwrap_or(Shape::Scalar(Scalar::Boolean));
            // A small set is written out where it is used, so that it is known for each instance of a rule.
            let is_small = match first {
                Value::Set(members) => members.len() <= WRITTEN_OUT && !shape.element().is_set_inside(),
                _ => true,
            };
            let item =
                if is_known && is_small { self.literal(first, &shape) } else { self.declare(*symbol, &shape, false)? };
            environment = bind(&environment, *symbol, item);
        }
        Ok(environment)
    }

    /// Declares the variables by the bounds that the invariant gives them.
    pub(super) fn declare_variables(&mut self, environment: &Environment) -> Lowered<Environment> {
        let conjuncts: Vec<&Expr> = self.core.invariant.iter().map(|claim| &claim.condition).collect();
        self.declares = true;
        let mut inner = Rc::clone(environment);
        let mut pending: Vec<SymbolId> = self.core.variables.clone();
        let mut shapes: Vec<(SymbolId, Shape)> = Vec::new();
        while !pending.is_empty() {
            let mut failures = Vec::new();
            let mut chosen = None;
            for (position, symbol) in pending.iter().enumerate() {
                match self.symbol_shape(*symbol, &conjuncts, &pending, &inner) {
                    Ok(shape) => {
                        chosen = Some((position, shape));
                        break;
                    }
                    Err(error) => failures.push(error),
                }
            }
            match chosen {
                Some((position, shape)) => {
                    let symbol = pending.remove(position);
                    // Others are bounded by it; the place comes when all are known, in their order.
                    let item = self.bounds_only(&shape);
                    inner = bind(&inner, symbol, item);
                    shapes.push((symbol, shape));
                }
                None => {
                    // ProB does not bound variables. A machine word, or a few members, is enough for most; a value
                    // outside these bounds is an error that names them.
                    let symbol = pending.remove(0);
                    let first = failures.swap_remove(0);
                    self.assumed = Some((i64::from(i32::MIN), i64::from(i32::MAX)));
                    let shape = self.symbol_shape(symbol, &conjuncts, &pending, &inner);
                    self.assumed = None;
                    let Ok(shape) = shape else {
                        self.diagnostics.extend(failures.into_iter().map(|it| *it));
                        return Err(first);
                    };
                    let given = (self.settings.least_integer, self.settings.greatest_integer);
                    let shape = assumed(&shape, self.settings.integers_given.then_some(given));
                    self.assume_bounds(symbol, &shape);
                    let item = self.bounds_only(&shape);
                    inner = bind(&inner, symbol, item);
                    shapes.push((symbol, shape));
                }
            }
        }
        self.declares = false;
        let mut inner = Rc::clone(environment);
        for symbol in &self.core.variables {
            if let Some((_, shape)) = shapes.iter().find(|(it, _)| it == symbol) {
                let total = self.is_total(*symbol, shape, &conjuncts, environment);
                let item = self.declare(*symbol, shape, total)?;
                inner = bind(&inner, *symbol, item);
            }
        }
        Ok(inner)
    }

    fn assume_bounds(&mut self, symbol: SymbolId, shape: &Shape) {
        let entry = &self.core.symbols[symbol.0];
        let mut bounds = Vec::new();
        integers_of(shape, &mut bounds);
        let bounds: Vec<String> = bounds.iter().map(|(low, high)| format!("{low}..{high}")).collect();
        let message = format!("nothing bounds the integers of `{}`: {} assumed", entry.name, bounds.join(", "));
        let diagnostic = Diagnostic::warning("assumed-bounds", message, entry.span)
            .with_help("what lies beyond is not searched, and the verdict then is inconclusive; bound it in the invariant, or with `-D MAXINT=…`");
        self.diagnostics.push(diagnostic);
        self.unbounded.insert(symbol);
    }

    fn bounds_only(&mut self, shape: &Shape) -> Item {
        match shape {
            Shape::Scalar(scalar) => {
                let value = self.number(0);
                Item::Scalar(value, *scalar)
            }
            Shape::Pair(left, right) => {
                let left = self.bounds_only(left);
                Item::pair(left, self.bounds_only(right))
            }
            Shape::Record(fields) => {
                Item::Record(fields.iter().map(|(name, field)| (name.clone(), self.bounds_only(field))).collect())
            }
            Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => {
                let code = self.number(0);
                Item::Set(super::items::SetItem::Code { code, element: shape.element() })
            }
        }
    }

    /// Whether the invariant declares a variable to be a function with a value for every argument that has a cell, with
    /// no value that is special in the root.
    fn is_total(&mut self, symbol: SymbolId, shape: &Shape, conjuncts: &[&Expr], environment: &Environment) -> bool {
        let Shape::Function(domain, value) = shape else {
            return false;
        };
        if self.is_deferred(*value) {
            return false;
        }
        conjuncts.iter().any(|conjunct| {
            let Kind::Operation(Operator::Member, sides) = &conjunct.kind else {
                return false;
            };
            let Kind::Operation(Operator::Arrow(arrow), parts) = &sides[1].kind else {
                return false;
            };
            if !arrow.total || !matches!(sides[0].kind, Kind::Symbol(it) if it == symbol) {
                return false;
            }
            let owner = std::mem::take(&mut self.owner);
            let (argument, _) = self.binders(domain, "x");
            let covers = self.member(&argument, &parts[0], environment);
            self.owner = owner;
            covers.is_ok_and(|covers| self.constant_of(covers) == Some(1))
        })
    }

    pub(super) fn is_deferred(&self, scalar: Scalar) -> bool {
        matches!(scalar, Scalar::Given(set) if self.core.sets[set.0].is_deferred)
    }

    /// Whether a shape has cells that are undefined before they get a value. Bits are clear and numbers are least
    /// instead; but no element of a deferred set may be special in the root.
    fn has_values(&self, shape: &Shape) -> bool {
        match shape {
            Shape::Scalar(scalar) => self.is_deferred(*scalar),
            Shape::Function(..) => true,
            Shape::Table(_, value) => self.has_values(value),
            Shape::Pair(left, right) => self.has_values(left) || self.has_values(right),
            Shape::Record(fields) => fields.iter().any(|(_, field)| self.has_values(field)),
            Shape::Set(_) => false,
        }
    }

    /// A variable of the model for a symbol.
    fn declare(&mut self, symbol: SymbolId, shape: &Shape, total: bool) -> Lowered<Item> {
        let entry = &self.core.symbols[symbol.0];
        let (name, span) = (entry.name.to_string(), entry.span);
        if shape.is_too_large(self.core) {
            let diagnostic = Diagnostic::error("too-large", format!("`{name}` has too many possible members"), span)
                .with_help("take smaller given sets, or tighter bounds of integers");
            return Err(Box::new(diagnostic));
        }
        let ty = self.shape_type(shape);
        let may_be_undefined = !total && self.has_values(shape);
        let variable = self.model.variables.push(Variable { name: name.replace('.', "_"), ty, may_be_undefined, span });
        self.stored.insert(symbol, (variable, shape.clone()));
        let notation = self.notation(shape);
        if notation != Notation::Scalar || matches!(shape, Shape::Scalar(Scalar::Boolean)) {
            self.model.notations.push((variable, notation));
        }
        if total {
            self.total.insert(variable);
        }
        let place = self.variable_place(variable);
        Ok(self.stored_item(place, shape))
    }

    /// How a value of a shape is written.
    pub(super) fn notation(&self, shape: &Shape) -> Notation {
        match shape {
            Shape::Scalar(_) => Notation::Scalar,
            Shape::Pair(left, right) => Notation::Pair(Box::new(self.notation(left)), Box::new(self.notation(right))),
            Shape::Record(fields) => {
                Notation::Record(fields.iter().map(|(name, field)| (name.clone(), self.notation(field))).collect())
            }
            Shape::Set(element) => Notation::Set(self.index_notation(element)),
            Shape::Function(domain, _) => Notation::Function(self.index_notation(domain)),
            Shape::Table(domain, value) => Notation::Table(self.index_notation(domain), Box::new(self.notation(value))),
        }
    }

    fn index_notation(&self, shape: &Shape) -> Index {
        match shape {
            Shape::Scalar(_) => Index::Scalar,
            Shape::Pair(left, right) => {
                Index::Pair(Box::new(self.index_notation(left)), Box::new(self.index_notation(right)))
            }
            Shape::Record(fields) => {
                Index::Record(fields.iter().map(|(name, field)| (name.clone(), self.index_notation(field))).collect())
            }
            Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => {
                let members = super::sets::all_values(self.core, &shape.element());
                Index::Set(members.iter().map(|member| self.value_text(member)).collect())
            }
        }
    }

    /// The tightest shape for one value.
    fn value_shape(&self, value: &Value, ty: &Type) -> Shape {
        let fallback = || shape_of_type(self.types, ty, Some((0, 0))).unwrap_or(Shape::Scalar(Scalar::Boolean));
        match (value, self.types.resolve(ty)) {
            (Value::Integer(value), _) => Shape::integer(*value, *value),
            (Value::Pair(pair), Type::Pair(left, right)) => {
                Shape::pair(self.value_shape(&pair.0, &left), self.value_shape(&pair.1, &right))
            }
            (Value::Record(values), Type::Record(fields)) => Shape::Record(
                fields
                    .iter()
                    .zip(values.iter())
                    .map(|((name, ty), value)| (name.to_string(), self.value_shape(value, ty)))
                    .collect(),
            ),
            (Value::Set(members), Type::Set(element)) => {
                let joined = members
                    .iter()
                    .map(|member| self.value_shape(member, &element))
                    .reduce(|one, other| one.join(&other));
                let joined = joined.or_else(|| shape_of_type(self.types, &element, Some((0, 0))));
                let joined = joined.unwrap_or(Shape::Scalar(Scalar::Boolean));
                if let Shape::Pair(left, right) = &joined {
                    let arguments: FxHashSet<&Value> = members.iter().map(|pair| pair.parts().0).collect();
                    if arguments.len() == members.len() {
                        return Shape::function((**left).clone(), (**right).clone());
                    }
                }
                Shape::set(joined)
            }
            _ => fallback(),
        }
    }

    /// Statements that put a known value into cells that hold nothing yet.
    pub(super) fn store_value(
        &mut self,
        value: &Value,
        place: PlaceId,
        shape: &Shape,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<()> {
        match (value, shape) {
            (Value::Set(members), Shape::Set(element)) => {
                statements.push(Self::statement(StatementKind::Clear(place), span));
                for member in members.iter() {
                    let member = self.literal(member, element);
                    let (target, _) = self.cell(place, &member, element)?;
                    let value = self.truth(true);
                    statements.push(Self::statement(StatementKind::Assign { target, value }, span));
                }
            }
            (Value::Set(members), Shape::Function(domain, scalar)) => {
                for member in members.iter() {
                    let (argument, result) = member.parts();
                    let argument = self.literal(argument, domain);
                    let (target, _) = self.cell(place, &argument, domain)?;
                    if let Item::Scalar(value, _) = self.literal(result, &Shape::Scalar(*scalar)) {
                        statements.push(Self::statement(StatementKind::Assign { target, value }, span));
                    }
                }
            }
            (Value::Set(members), Shape::Table(domain, content)) => {
                self.vacate(place, shape, span, statements)?;
                for member in members.iter() {
                    let (argument, result) = member.parts();
                    let argument = self.literal(argument, domain);
                    let (cell, _) = self.cell(place, &argument, domain)?;
                    let (target, inside) = (self.field(cell, 0), self.field(cell, 1));
                    let value = self.truth(true);
                    statements.push(Self::statement(StatementKind::Assign { target, value }, span));
                    self.store_value(result, inside, content, span, statements)?;
                }
            }
            (Value::Pair(pair), Shape::Pair(left, right)) => {
                let (one, other) = (self.field(place, 0), self.field(place, 1));
                self.store_value(&pair.0, one, left, span, statements)?;
                self.store_value(&pair.1, other, right, span, statements)?;
            }
            (Value::Record(values), Shape::Record(fields)) => {
                for (position, (value, (_, field))) in values.iter().zip(fields).enumerate() {
                    let part = self.field(place, position as u32);
                    self.store_value(value, part, field, span, statements)?;
                }
            }
            _ => {
                if let Item::Scalar(value, _) = self.literal(value, shape) {
                    statements.push(Self::statement(StatementKind::Assign { target: place, value }, span));
                }
            }
        }
        Ok(())
    }
}

/// Known sets with at most this many members are not part of the state.
const WRITTEN_OUT: usize = 16;

/// The range of integers, if one was given.
type Given = Option<(i64, i64)>;

/// The most values of integers that are members or indices of what nothing bounds.
const ASSUMED_INDICES: i64 = 16;

/// A shape with wide integers in which those that need a cell for each value have a few values only.
fn assumed(shape: &Shape, given: Given) -> Shape {
    match shape {
        Shape::Scalar(_) => shape.clone(),
        Shape::Pair(left, right) => Shape::pair(assumed(left, given), assumed(right, given)),
        Shape::Record(fields) => {
            Shape::Record(fields.iter().map(|(name, field)| (name.clone(), assumed(field, given))).collect())
        }
        Shape::Set(element) => Shape::set(few(element, given)),
        Shape::Function(domain, value) => Shape::Function(Box::new(few(domain, given)), *value),
        Shape::Table(domain, value) => Shape::Table(Box::new(few(domain, given)), Box::new(assumed(value, given))),
    }
}

fn few(shape: &Shape, given: Given) -> Shape {
    match shape {
        Shape::Scalar(Scalar::Integer { low, high }) if high.abs_diff(*low) >= 1 << 16 => {
            let (least, greatest) = given.unwrap_or((-ASSUMED_INDICES / 4, i64::MAX));
            let low = (*low).max(least);
            let most = if given.is_some() { greatest } else { low + ASSUMED_INDICES - 1 };
            Shape::integer(low, (*high).min(most))
        }
        Shape::Scalar(_) => shape.clone(),
        Shape::Pair(left, right) => Shape::pair(few(left, given), few(right, given)),
        Shape::Record(fields) => {
            Shape::Record(fields.iter().map(|(name, field)| (name.clone(), few(field, given))).collect())
        }
        // A set inside a set may have few members only, anyway.
        Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => Shape::set(few(&shape.element(), given)),
    }
}

/// The bounds of the integers in a shape.
fn integers_of(shape: &Shape, found: &mut Vec<(i64, i64)>) {
    match shape {
        Shape::Scalar(Scalar::Integer { low, high }) => {
            if !found.contains(&(*low, *high)) {
                found.push((*low, *high));
            }
        }
        Shape::Scalar(_) => {}
        Shape::Record(fields) => fields.iter().for_each(|(_, field)| integers_of(field, found)),
        Shape::Pair(left, right) => {
            integers_of(left, found);
            integers_of(right, found);
        }
        Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => integers_of(&shape.element(), found),
    }
}
