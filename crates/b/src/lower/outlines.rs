//! Functions of the model for formulas that cannot be expressions because they count, search or build: cardinalities,
//! sums, least members, values of relations, closures. Values from the context are passed as arguments; the state is
//! read directly.

use std::rc::Rc;

use quotient_ir::{
    Argument, BinaryOperator, Expr as IrExpr, ExprId, Function, FunctionId, LocalId, LocalKind, PlaceId, ReturnValue,
    Root, Span, Statement, StatementKind, Step, TypeId,
};
use quotient_kit::Building;
use rustc_hash::FxHashMap;

use super::super::core::{Expr, Fold, Operator, SymbolId};
use super::items::{Environment, Item, SetItem};
use super::shapes::{Scalar, Shape};
use super::{Lowered, Lowerer};

/// A function under construction: its parameters and arguments.
#[derive(Default)]
struct Passing {
    parameters: Vec<LocalId>,
    arguments: Vec<Argument>,
}

impl Lowerer<'_> {
    /// Builds a function whose body has access to what the given formulas and items need. Returns a call of it.
    #[expect(clippy::too_many_arguments, reason = "what a function is made of, named where it is made")]
    fn outline(
        &mut self,
        name: &str,
        environment: &Environment,
        formulas: &[&Expr],
        items: &[&Item],
        result: TypeId,
        span: Span,
        build: impl FnOnce(&mut Self, &Environment, &[Item]) -> Lowered<Vec<Statement>>,
    ) -> Lowered<(FunctionId, Vec<Argument>)> {
        let mut passing = Passing::default();
        let caller = std::mem::take(&mut self.owner);
        let inner = self.pass_environment(environment, formulas, &mut passing);
        let passed: Vec<Item> = items.iter().map(|item| self.pass(item, "x", &mut passing)).collect();
        let depth = std::mem::replace(&mut self.depth, 0);
        let body = build(self, &inner, &passed);
        self.depth = depth;
        let own = std::mem::replace(&mut self.owner, caller);
        let body = body?;
        let function = Function {
            name: String::new(),
            parameters: passing.parameters,
            locals: own.locals,
            result: Some(result),
            body,
            span,
        };
        Ok((self.share_function(name, function), passing.arguments))
    }

    /// The same function for the same text.
    fn share_function(&mut self, name: &str, mut function: Function) -> FunctionId {
        for (id, known) in self.model.functions.iter_enumerated() {
            function.name.clone_from(&known.name);
            let span = std::mem::replace(&mut function.span, known.span);
            if function == *known {
                return id;
            }
            function.span = span;
        }
        function.name = format!("{name}_{}", self.model.functions.iter().count() + 1);
        let function = self.model.functions.push(function);
        self.note_failures(function);
        function
    }

    fn pass_environment(
        &mut self,
        environment: &Environment,
        formulas: &[&Expr],
        passing: &mut Passing,
    ) -> Environment {
        let mut inner: FxHashMap<SymbolId, Item> = FxHashMap::default();
        for formula in formulas {
            let mut symbols = Vec::new();
            formula.symbols(&mut |symbol| symbols.push(symbol));
            for symbol in symbols {
                if let Some(item) = environment.get(&symbol)
                    && !inner.contains_key(&symbol)
                {
                    let name = self.core.symbols[symbol.0].name.replace(['\'', '.', '(', ')', ' '], "_");
                    let passed = self.pass(item, &name, passing);
                    inner.insert(symbol, passed);
                }
            }
        }
        Rc::new(inner)
    }

    fn pass_value(&mut self, name: &str, value: ExprId, ty: TypeId, passing: &mut Passing) -> ExprId {
        let parameter = self.local(name, ty, LocalKind::Parameter);
        passing.parameters.push(parameter);
        passing.arguments.push(Argument::Value(value));
        let place = self.local_place(parameter);
        self.read(place)
    }

    /// A place that a function can reach, or a parameter for it.
    fn pass_place(&mut self, name: &str, place: PlaceId, passing: &mut Passing) -> PlaceId {
        let entry = &self.model.pool[place];
        let is_fixed = matches!(entry.root, Root::Variable(_))
            && entry.steps.iter().all(|step| match step {
                Step::Field(_) => true,
                Step::Index(index) => matches!(self.model.pool[*index], IrExpr::Constant { .. }),
            });
        if is_fixed {
            return place;
        }
        let ty = entry.ty;
        let parameter = self.local(name, ty, LocalKind::Parameter);
        passing.parameters.push(parameter);
        passing.arguments.push(Argument::Copy(place));
        self.local_place(parameter)
    }

    fn pass(&mut self, item: &Item, name: &str, passing: &mut Passing) -> Item {
        match item {
            Item::Scalar(value, scalar) => {
                if matches!(self.model.pool[*value], IrExpr::Constant { .. }) {
                    return item.clone();
                }
                let ty = self.scalar_type(*scalar);
                Item::Scalar(self.pass_value(name, *value, ty, passing), *scalar)
            }
            Item::Pair(left, right) => {
                let left = self.pass(left, &format!("{name}_left"), passing);
                Item::pair(left, self.pass(right, &format!("{name}_right"), passing))
            }
            Item::Record(fields) => Item::Record(
                fields
                    .iter()
                    .map(|(field, item)| (field.clone(), self.pass(item, &format!("{name}_{field}"), passing)))
                    .collect(),
            ),
            Item::Set(set) => Item::Set(match set {
                SetItem::Bits { place, element } => {
                    SetItem::Bits { place: self.pass_place(name, *place, passing), element: element.clone() }
                }
                SetItem::Cells { place, domain, value, total } => SetItem::Cells {
                    place: self.pass_place(name, *place, passing),
                    domain: domain.clone(),
                    value: *value,
                    total: *total,
                },
                SetItem::Table { place, domain, value } => SetItem::Table {
                    place: self.pass_place(name, *place, passing),
                    domain: domain.clone(),
                    value: value.clone(),
                },
                SetItem::Choice { condition, then, otherwise } => {
                    let condition = self.pass_value(name, *condition, quotient_ir::Model::BOOLEAN, passing);
                    let mut side = |set: &SetItem| match self.pass(&Item::Set(set.clone()), name, passing) {
                        Item::Set(set) => Box::new(set),
                        _ => Box::new(set.clone()),
                    };
                    let (then, otherwise) = (side(then), side(otherwise));
                    SetItem::Choice { condition, then, otherwise }
                }
                SetItem::Code { code, element } => {
                    if matches!(self.model.pool[*code], IrExpr::Constant { .. }) {
                        set.clone()
                    } else {
                        let size = u32::try_from(element.size(self.core)).unwrap_or(u32::MAX);
                        let leaf = super::shapes::Leaf::Code(element.clone(), size);
                        let ty = self.shape_types.leaf(&mut self.model, &leaf);
                        SetItem::Code { code: self.pass_value(name, *code, ty, passing), element: element.clone() }
                    }
                }
                SetItem::Value(..) => set.clone(),
                SetItem::Formula(expr, environment) => {
                    let inner = self.pass_environment(environment, &[expr], passing);
                    SetItem::Formula(Rc::clone(expr), inner)
                }
            }),
        }
    }

    fn call(&mut self, (function, arguments): (FunctionId, Vec<Argument>)) -> ExprId {
        self.expression(IrExpr::Call { function, arguments })
    }

    fn give(&mut self, local: LocalId, span: Span) -> Statement {
        let place = self.local_place(local);
        let value = self.read(place);
        Self::statement(StatementKind::Return(Some(ReturnValue::Value(value))), span)
    }

    fn set_local(&mut self, local: LocalId, value: ExprId, span: Span) -> Statement {
        let target = self.local_place(local);
        Self::statement(StatementKind::Assign { target, value }, span)
    }

    /// The number of members of a set.
    pub(super) fn cardinality(&mut self, set: &Expr, environment: &Environment) -> Lowered<ExprId> {
        let item = self.item(set, environment)?;
        let Item::Set(known) = &item else {
            return Ok(self.number(0));
        };
        if let SetItem::Value(members, _) = known {
            return Ok(self.number(members.len() as i64));
        }
        if super::predicates::is_empty(known) {
            return Ok(self.number(0));
        }
        // A function has as many members as arguments.
        let by_argument = matches!(known, SetItem::Cells { .. } | SetItem::Table { .. });
        let universe = self.universe_of(known)?;
        let shape = if by_argument { universe.parts().0 } else { universe };
        self.check_shape(&Shape::set(shape.clone()), set.span)?;
        let most = i64::try_from(shape.size(self.core)).unwrap_or(i64::MAX);
        let counter = Scalar::integer(0, most);
        let result = self.scalar_type(counter);
        let span = set.span;
        let call = self.outline("card", environment, &[], &[&item], result, span, |lowerer, _, passed| {
            let Item::Set(set) = &passed[0] else {
                return Ok(Vec::new());
            };
            let count = lowerer.temporary("count", &Shape::Scalar(counter));
            let (element, binders) = lowerer.binders(&shape, "x");
            let inside = match set {
                SetItem::Cells { .. } | SetItem::Table { .. } => match lowerer.partial_item(set, &element)? {
                    Some(partial) => partial.defined,
                    None => lowerer.truth(false),
                },
                _ => lowerer.member_of(&element, set)?,
            };
            let (zero, one) = (lowerer.number(0), lowerer.number(1));
            let place = lowerer.local_place(count);
            let value = lowerer.read(place);
            let next = lowerer.arithmetic(BinaryOperator::Add, value, one);
            let increment = lowerer.set_local(count, next, span);
            let branch = StatementKind::If { branches: vec![(inside, vec![increment])], otherwise: Vec::new() };
            let mut body = vec![lowerer.set_local(count, zero, span)];
            body.extend(Self::loops(&binders, vec![Self::statement(branch, span)], span));
            body.push(lowerer.give(count, span));
            Ok(body)
        })?;
        Ok(self.call(call))
    }

    /// The least or greatest member of a set of integers.
    pub(super) fn extreme(
        &mut self,
        least: bool,
        set: &Expr,
        expr: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        let item = self.item(set, environment)?;
        let Item::Set(known) = &item else {
            return Ok(self.number(0));
        };
        let shape = self.universe_of(known)?;
        let Shape::Scalar(scalar @ Scalar::Integer { low, high }) = shape else {
            return super::refuse("unsupported", "this is not supported as a set of integers", set.span);
        };
        self.check_shape(&Shape::set(shape.clone()), set.span)?;
        let result = self.scalar_type(scalar);
        let span = expr.span;
        let name = if least { "min" } else { "max" };
        let call = self.outline(name, environment, &[], &[&item], result, span, |lowerer, _, passed| {
            let Item::Set(set) = &passed[0] else {
                return Ok(Vec::new());
            };
            let ty = lowerer.scalar_type(scalar);
            let local = lowerer.local("x", ty, LocalKind::Parameter);
            let place = lowerer.local_place(local);
            let value = lowerer.read(place);
            let inside = lowerer.member_of(&Item::Scalar(value, scalar), set)?;
            let found = lowerer.give(local, span);
            let branch = StatementKind::If { branches: vec![(inside, vec![found])], otherwise: Vec::new() };
            let (from, to) = if least { (low, high) } else { (high, low) };
            let (from, to) = (lowerer.number(from), lowerer.number(to));
            let step = lowerer.number(if least { 1 } else { -1 });
            let range = quotient_ir::Iteration::Steps { from, to, step: Some(step) };
            let walk = StatementKind::For { local, range, body: vec![Self::statement(branch, span)] };
            let message = format!("the {} member of an empty set", if least { "least" } else { "greatest" });
            Ok(vec![Self::statement(walk, span), Self::statement(StatementKind::Error { message }, span)])
        })?;
        Ok(self.call(call))
    }

    /// A sum or product over bound variables.
    pub(super) fn fold(
        &mut self,
        fold: Fold,
        symbols: &[SymbolId],
        condition: &Expr,
        body: &Expr,
        expr: &Expr,
        environment: &Environment,
    ) -> Lowered<ExprId> {
        let (low, high) = self.interval(expr, environment)?;
        let start = i64::from(fold == Fold::Product);
        let total_scalar = Scalar::integer(low.min(start), high.max(start));
        let result = self.scalar_type(total_scalar);
        let span = expr.span;
        let name = if fold == Fold::Sum { "sum" } else { "product" };
        let call = self.outline(name, environment, &[condition, body], &[], result, span, |lowerer, inner, _| {
            let total = lowerer.temporary("total", &Shape::Scalar(total_scalar));
            let bound = lowerer.bound(symbols, &condition.conjuncts(), inner)?;
            let term = lowerer.integer(body, &bound.environment)?;
            let first = lowerer.number(start);
            let place = lowerer.local_place(total);
            let value = lowerer.read(place);
            let operator = if fold == Fold::Sum { BinaryOperator::Add } else { BinaryOperator::Multiply };
            let next = lowerer.arithmetic(operator, value, term);
            let step = lowerer.set_local(total, next, span);
            let branch = StatementKind::If { branches: vec![(bound.condition, vec![step])], otherwise: Vec::new() };
            let mut statements = vec![lowerer.set_local(total, first, span)];
            statements.extend(Self::loops(&bound.binders, vec![Self::statement(branch, span)], span));
            statements.push(lowerer.give(total, span));
            Ok(statements)
        })?;
        Ok(self.call(call))
    }

    /// The value of a relation at an argument, found by a search; a run-time error if there is none, or more than one.
    pub(super) fn search(
        &mut self,
        relation: &Item,
        argument: &Item,
        values: &Shape,
        expr: &Expr,
        environment: &Environment,
    ) -> Lowered<Item> {
        let mut items = Vec::new();
        let parts = flatten(values);
        for (position, scalar) in parts.iter().enumerate() {
            let result = self.scalar_type(*scalar);
            let span = expr.span;
            let call =
                self.outline("value", environment, &[], &[relation, argument], result, span, |lowerer, _, passed| {
                    // Errors are determined first, independently of any order among the values.
                    let any = |lowerer: &mut Self, other: Option<&Item>| -> Lowered<ExprId> {
                        let name = if other.is_some() { "other" } else { "y" };
                        let (value, binders) = lowerer.binders(values, name);
                        let mut inside =
                            lowerer.member_of_item(&Item::pair(passed[1].clone(), value.clone()), &passed[0])?;
                        if let Some(other) = other {
                            let same = lowerer.same(&value, other)?;
                            let different = lowerer.not(same);
                            inside = lowerer.and(inside, different);
                        }
                        Ok(lowerer.quantify(quotient_ir::Quantifier::Any, &binders, inside))
                    };
                    let some = any(lowerer, None)?;
                    let absent = lowerer.not(some);
                    let (one, one_binders) = lowerer.binders(values, "one");
                    let first = lowerer.member_of_item(&Item::pair(passed[1].clone(), one.clone()), &passed[0])?;
                    let more = any(lowerer, Some(&one))?;
                    let both = lowerer.and(first, more);
                    let several = lowerer.quantify(quotient_ir::Quantifier::Any, &one_binders, both);
                    let error =
                        |message: &str| Self::statement(StatementKind::Error { message: message.to_owned() }, span);
                    let missing = vec![error("a function applied outside its domain")];
                    let ambiguous = vec![error("a relation with several values here is applied like a function")];
                    let branches = vec![(absent, missing), (several, ambiguous)];
                    let mut body = vec![Self::statement(StatementKind::If { branches, otherwise: Vec::new() }, span)];
                    let kept = lowerer.temporary("kept", &Shape::Scalar(parts[position]));
                    let (value, binders) = lowerer.binders(values, "z");
                    let inside = lowerer.member_of_item(&Item::pair(passed[1].clone(), value.clone()), &passed[0])?;
                    let mut leaves = Vec::new();
                    scalars_of(&value, &mut leaves);
                    let keep = lowerer.set_local(kept, leaves[position], span);
                    let branch = StatementKind::If { branches: vec![(inside, vec![keep])], otherwise: Vec::new() };
                    body.extend(Self::loops(&binders, vec![Self::statement(branch, span)], span));
                    body.push(lowerer.give(kept, span));
                    Ok(body)
                })?;
            items.push(self.call(call));
        }
        let mut items = items.into_iter();
        Ok(rebuild(values, &mut items))
    }

    /// The closure or a power of a relation, as the result of a function that builds it.
    pub(super) fn closure(
        &mut self,
        operator: Operator,
        operands: &[Expr],
        set: &Expr,
        environment: &Environment,
    ) -> Lowered<SetItem> {
        let shape = self.universe(set, environment)?;
        self.check_shape(&Shape::set(shape.clone()), set.span)?;
        let (points, _) = shape.parts();
        let array = Shape::set(shape.clone());
        let result = self.shape_type(&array);
        let relation = self.item(&operands[0], environment)?;
        let span = set.span;
        let mut items = vec![relation];
        if operator == Operator::Iterate {
            items.push(self.item(&operands[1], environment)?);
        }
        let references: Vec<&Item> = items.iter().collect();
        let call = self.outline("closure", environment, &[], &references, result, span, |lowerer, _, passed| {
            let built = lowerer.temporary("built", &array);
            let place = lowerer.local_place(built);
            let mut body = Vec::new();
            // At first the relation itself, or the identity.
            let (pair, binders) = lowerer.binders(&shape, "x");
            let related = lowerer.member_of_item(&pair, &passed[0])?;
            let (left, right) = pair.parts();
            let identity = lowerer.same(left, right)?;
            let first = match operator {
                Operator::Closure => lowerer.or(related, identity),
                Operator::Closure1 => related,
                _ => identity,
            };
            let (cell, _) = lowerer.cell(place, &pair, &shape)?;
            let fill = Self::statement(StatementKind::Assign { target: cell, value: first }, span);
            body.extend(Self::loops(&binders, vec![fill], span));
            if operator == Operator::Iterate {
                let Item::Scalar(count, Scalar::Integer { high, .. }) = &passed[1] else {
                    return Ok(body);
                };
                let next = lowerer.temporary("next", &array);
                let next_place = lowerer.local_place(next);
                let ty = lowerer.scalar_type(Scalar::integer(1, (*high).max(1)));
                let round = lowerer.local("round", ty, LocalKind::Parameter);
                let (pair, binders) = lowerer.binders(&shape, "y");
                let (left, right) = pair.parts();
                let (middle, inner_binders) = lowerer.binders(&points, "z");
                let (cell, _) = lowerer.cell(place, &Item::pair(left.clone(), middle.clone()), &shape)?;
                let so_far = lowerer.read(cell);
                let step = lowerer.member_of_item(&Item::pair(middle.clone(), right.clone()), &passed[0])?;
                let both = lowerer.and(so_far, step);
                let reached = lowerer.quantify(quotient_ir::Quantifier::Any, &inner_binders, both);
                let (target, _) = lowerer.cell(next_place, &pair, &shape)?;
                let fill = Self::statement(StatementKind::Assign { target, value: reached }, span);
                let mut turn = Self::loops(&binders, vec![fill], span);
                turn.push(Self::statement(StatementKind::Copy { target: place, source: next_place }, span));
                let round_place = lowerer.local_place(round);
                let at = lowerer.read(round_place);
                let wanted = lowerer.arithmetic(BinaryOperator::LessOrEqual, at, *count);
                let branch = StatementKind::If { branches: vec![(wanted, turn)], otherwise: Vec::new() };
                body.extend(Self::loops(&[(round, ty)], vec![Self::statement(branch, span)], span));
            } else {
                // Paths of up to twice the length each time. All intermediate points are processed at once, so that
                // none precedes another.
                let next = lowerer.temporary("next", &array);
                let next_place = lowerer.local_place(next);
                let (pair, binders) = lowerer.binders(&shape, "y");
                let (left, right) = pair.parts();
                let (middle, inner_binders) = lowerer.binders(&points, "via");
                let (one, _) = lowerer.cell(place, &Item::pair(left.clone(), middle.clone()), &shape)?;
                let (other, _) = lowerer.cell(place, &Item::pair(middle.clone(), right.clone()), &shape)?;
                let (so_far, _) = lowerer.cell(place, &pair, &shape)?;
                let (target, _) = lowerer.cell(next_place, &pair, &shape)?;
                let (one, other, so_far) = (lowerer.read(one), lowerer.read(other), lowerer.read(so_far));
                let both = lowerer.and(one, other);
                let through = lowerer.quantify(quotient_ir::Quantifier::Any, &inner_binders, both);
                let value = lowerer.or(so_far, through);
                let fill = Self::statement(StatementKind::Assign { target, value }, span);
                let mut turn = Self::loops(&binders, vec![fill], span);
                turn.push(Self::statement(StatementKind::Copy { target: place, source: next_place }, span));
                let mut length = 1;
                while length < points.size(lowerer.core) {
                    body.extend(turn.iter().cloned());
                    length *= 2;
                }
            }
            body.push(Self::statement(StatementKind::Return(Some(ReturnValue::Copy(place))), span));
            Ok(body)
        })?;
        let (function, arguments) = call;
        let place = self.place(Root::Result { function, arguments }, result);
        Ok(SetItem::Bits { place, element: shape })
    }
}

/// The scalar parts of a shape that is not a set.
fn flatten(shape: &Shape) -> Vec<Scalar> {
    match shape {
        Shape::Scalar(scalar) => vec![*scalar],
        Shape::Pair(left, right) => flatten(left).into_iter().chain(flatten(right)).collect(),
        Shape::Record(fields) => fields.iter().flat_map(|(_, field)| flatten(field)).collect(),
        Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => Vec::new(),
    }
}

fn scalars_of(item: &Item, found: &mut Vec<ExprId>) {
    match item {
        Item::Scalar(value, _) => found.push(*value),
        Item::Pair(left, right) => {
            scalars_of(left, found);
            scalars_of(right, found);
        }
        Item::Record(fields) => fields.iter().for_each(|(_, field)| scalars_of(field, found)),
        Item::Set(_) => {}
    }
}

fn rebuild(shape: &Shape, values: &mut impl Iterator<Item = ExprId>) -> Item {
    match shape {
        Shape::Pair(left, right) => {
            let left = rebuild(left, values);
            Item::pair(left, rebuild(right, values))
        }
        Shape::Record(fields) => {
            Item::Record(fields.iter().map(|(name, field)| (name.clone(), rebuild(field, values))).collect())
        }
        Shape::Scalar(scalar) => Item::Scalar(values.next().expect("one value for each scalar"), *scalar),
        Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => unreachable!("a searched value has no sets in it"),
    }
}
