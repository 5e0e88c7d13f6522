//! Substitutions: each path through the choices of an operation becomes a rule. Free choices become parameters,
//! conditions on the state before become the guard, and all new values are computed in local variables before the first
//! state variable is changed.

use std::rc::Rc;

use quotient_ir::{
    Diagnostic, Expr as IrExpr, ExprId, Iteration, LocalKind, Parameter, Span, Statement, StatementKind,
};
use quotient_kit::Building;

use super::super::core::{Expr, Kind, Substitution, SubstitutionKind, SymbolId, SymbolKind};
use super::super::evaluation::{Evaluator, TroubleKind, Value};
use super::super::types::Type;
use super::definedness::GuardDoubt;
use super::items::{Environment, Item, SetItem, bind};
use super::predicates::equation_for;
use super::shapes::Shape;
use super::storage::{Complaint, NewValue, assertion};
use super::{Lowered, Lowerer, Owner, refuse};

/// The most values that a set or function may have when it is a parameter.
const MAXIMUM_CANDIDATES: usize = 5000;
/// The most paths of one operation.
const MAXIMUM_PATHS: usize = 20_000;
/// The most possible members of a set that is chosen bit by bit.
const MAXIMUM_CHOSEN_BITS: u64 = 12;

/// One way through the choices of an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    pub(super) owner: Owner,
    pub(super) guards: Vec<ExprId>,
    pub(super) statements: Vec<Statement>,
    /// The values of symbols that were chosen on this path.
    pub(super) choices: Vec<(SymbolId, Chosen)>,
    /// The guards without which others have no value.
    pub(super) doubts: Vec<GuardDoubt>,
}

/// The value of a symbol that was chosen.
#[derive(Clone, Debug)]
pub(super) enum Chosen {
    /// This value.
    Value(Value),
    /// The values of parameters, starting with this one.
    Parameters(usize, Shape),
    /// What follows from the state and other choices.
    Item(Item),
}

/// What symbols become.
pub(super) type Writes = Vec<(SymbolId, Item)>;

impl Lowerer<'_> {
    /// Works with the locals of a path.
    pub(super) fn in_path<T>(
        &mut self,
        path: &mut Path,
        work: impl FnOnce(&mut Self, &mut Path) -> Lowered<T>,
    ) -> Lowered<T> {
        std::mem::swap(&mut self.owner, &mut path.owner);
        let result = work(self, path);
        std::mem::swap(&mut self.owner, &mut path.owner);
        result
    }

    /// All paths through a substitution. `initial` says that the environment is that of the state before, so that
    /// conditions may be part of the guard.
    pub(super) fn run(
        &mut self,
        substitution: &Substitution,
        environment: &Environment,
        initial: bool,
        mut path: Path,
    ) -> Lowered<Vec<(Path, Writes)>> {
        let span = substitution.span;
        match &substitution.kind {
            SubstitutionKind::Skip => Ok(vec![(path, Vec::new())]),
            SubstitutionKind::Assign(assignments) => {
                let writes = self.in_path(&mut path, |lowerer, path| {
                    let mut writes = Vec::new();
                    for (symbol, value) in assignments {
                        let item = lowerer.item(value, environment)?;
                        let item = lowerer.settle(*symbol, item, environment, span, &mut path.statements)?;
                        writes.push((*symbol, item));
                    }
                    Ok(writes)
                })?;
                Ok(vec![(path, writes)])
            }
            SubstitutionKind::Guard(condition, body) => {
                self.constrain(condition, environment, initial, &mut path)?;
                self.run(body, environment, initial, path)
            }
            SubstitutionKind::Assert(condition, message, body) => {
                self.in_path(&mut path, |lowerer, path| {
                    let condition = lowerer.predicate(condition, environment)?;
                    path.statements.push(assertion(condition, message, span));
                    Ok(())
                })?;
                self.run(body, environment, initial, path)
            }
            SubstitutionKind::Parallel(parts) => {
                let mut paths = vec![(path, Vec::new())];
                for part in parts {
                    let mut longer = Vec::new();
                    for (path, writes) in paths {
                        for (path, more) in self.run(part, environment, initial, path)? {
                            longer.push((path, join(&writes, more)));
                            check_count(longer.len(), span)?;
                        }
                    }
                    paths = longer;
                }
                Ok(paths)
            }
            SubstitutionKind::Sequence(parts) => self.sequence(parts, environment, initial, path),
            SubstitutionKind::If(branches, otherwise) => {
                if is_branching(substitution) {
                    self.split(branches, otherwise, environment, initial, &path)
                } else {
                    let writes = self.in_path(&mut path, |lowerer, path| {
                        lowerer.deterministic(substitution, environment, &mut path.statements)
                    })?;
                    Ok(vec![(path, writes)])
                }
            }
            SubstitutionKind::While(..) => {
                let writes = self.in_path(&mut path, |lowerer, path| {
                    lowerer.deterministic(substitution, environment, &mut path.statements)
                })?;
                Ok(vec![(path, writes)])
            }
            SubstitutionKind::Select(branches, otherwise) => {
                let mut paths = Vec::new();
                for (condition, body) in branches {
                    let mut branch = path.clone();
                    self.constrain(condition, environment, initial, &mut branch)?;
                    paths.extend(self.run(body, environment, initial, branch)?);
                    check_count(paths.len(), span)?;
                }
                if let Some(otherwise) = otherwise {
                    let mut branch = path;
                    for (condition, _) in branches {
                        self.constrain_not(condition, environment, initial, &mut branch)?;
                    }
                    paths.extend(self.run(otherwise, environment, initial, branch)?);
                }
                Ok(paths)
            }
            SubstitutionKind::Choice(parts) => {
                let mut paths = Vec::new();
                for part in parts {
                    paths.extend(self.run(part, environment, initial, path.clone())?);
                    check_count(paths.len(), span)?;
                }
                Ok(paths)
            }
            SubstitutionKind::Any(symbols, condition, body) => {
                let mut paths = Vec::new();
                for (path, inner) in self.choose_values(symbols, condition, environment, initial, path)? {
                    paths.extend(self.run(body, &inner, initial, path)?);
                    check_count(paths.len(), span)?;
                }
                Ok(paths)
            }
            SubstitutionKind::Let(bindings, body) => {
                let inner = self.in_path(&mut path, |lowerer, _| lowerer.let_environment(bindings, environment))?;
                self.run(body, &inner, initial, path)
            }
            SubstitutionKind::Var(symbols, body) => {
                let mut paths = self.run(body, environment, initial, path)?;
                for (_, writes) in &mut paths {
                    writes.retain(|(symbol, _)| !symbols.contains(symbol));
                }
                Ok(paths)
            }
        }
    }

    fn sequence(
        &mut self,
        parts: &[Substitution],
        environment: &Environment,
        initial: bool,
        path: Path,
    ) -> Lowered<Vec<(Path, Writes)>> {
        let mut paths = vec![(path, Vec::new(), Rc::clone(environment))];
        for (position, part) in parts.iter().enumerate() {
            let mut longer = Vec::new();
            for (path, writes, environment) in paths {
                let initial = initial && writes.is_empty();
                let ways = self
                    .before_others(&parts[position + 1..], |lowerer| lowerer.run(part, &environment, initial, path))?;
                for (mut path, more) in ways {
                    let mut inner = Rc::clone(&environment);
                    let mut kept = Vec::new();
                    for (symbol, item) in more {
                        // Later parts read it, perhaps often.
                        let item = if position + 1 < parts.len() {
                            self.in_path(&mut path, |lowerer, path| {
                                lowerer.keep(symbol, item, part.span, &mut path.statements)
                            })?
                        } else {
                            item
                        };
                        inner = bind(&inner, symbol, item.clone());
                        kept.push((symbol, item));
                    }
                    longer.push((path, join(&writes, kept), inner));
                    check_count(longer.len(), part.span)?;
                }
            }
            paths = longer;
        }
        Ok(paths.into_iter().map(|(path, writes, _)| (path, writes)).collect())
    }

    /// Lowers a substitution followed by others, which may reassign its variables.
    fn before_others<T>(&mut self, others: &[Substitution], work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.assigned_later.len();
        others.iter().for_each(|other| other.assigned(&mut self.assigned_later));
        let result = work(self);
        self.assigned_later.truncate(outer);
        result
    }

    /// A conditional with choices in its branches: a path for each branch.
    fn split(
        &mut self,
        branches: &[(Expr, Substitution)],
        otherwise: &Substitution,
        environment: &Environment,
        initial: bool,
        path: &Path,
    ) -> Lowered<Vec<(Path, Writes)>> {
        let mut rest = path.clone();
        let mut paths = Vec::new();
        for (condition, body) in branches {
            let mut branch = rest.clone();
            self.constrain(condition, environment, initial, &mut branch)?;
            paths.extend(self.run(body, environment, initial, branch)?);
            check_count(paths.len(), body.span)?;
            self.constrain_not(condition, environment, initial, &mut rest)?;
        }
        paths.extend(self.run(otherwise, environment, initial, rest)?);
        Ok(paths)
    }

    /// Only if a predicate holds.
    fn constrain(
        &mut self,
        condition: &Expr,
        environment: &Environment,
        initial: bool,
        path: &mut Path,
    ) -> Lowered<()> {
        self.constrain_all(&condition.conjuncts(), environment, initial, path)
    }

    /// Only if all of some predicates hold. An operation is not enabled if any of them is false, regardless of order.
    /// So predicates that always have a value come first and protect the rest.
    fn constrain_all(
        &mut self,
        conjuncts: &[&Expr],
        environment: &Environment,
        initial: bool,
        path: &mut Path,
    ) -> Lowered<()> {
        self.in_path(path, |lowerer, path| {
            let mut later = Vec::new();
            for conjunct in conjuncts {
                let lowered = lowerer.predicate(conjunct, environment)?;
                if lowerer.may_fail(lowered) {
                    later.push((lowered, conjunct.span));
                } else {
                    lowerer.require(lowered, initial, conjunct.span, path);
                }
            }
            for (mut lowered, span) in later {
                if lowerer.is_lenient() {
                    lowered = lowerer.require_value(lowered, initial, span, path);
                }
                lowerer.require(lowered, initial, span, path);
            }
            Ok(())
        })
    }

    /// Only if a predicate does not hold. If it has no value, it neither holds nor fails to hold.
    fn constrain_not(
        &mut self,
        condition: &Expr,
        environment: &Environment,
        initial: bool,
        path: &mut Path,
    ) -> Lowered<()> {
        self.in_path(path, |lowerer, path| {
            let mut lowered = lowerer.predicate(condition, environment)?;
            if lowerer.is_lenient() {
                lowered = lowerer.require_value(lowered, initial, condition.span, path);
            }
            let not = lowerer.not(lowered);
            lowerer.require(not, initial, condition.span, path);
            Ok(())
        })
    }

    fn require(&mut self, condition: ExprId, initial: bool, span: Span, path: &mut Path) {
        if self.constant_of(condition) == Some(1) {
            return;
        }
        if initial {
            path.guards.push(condition);
        } else {
            path.statements.push(Self::statement(StatementKind::Assume(condition), span));
        }
    }

    /// A substitution without choices, as statements.
    fn deterministic(
        &mut self,
        substitution: &Substitution,
        environment: &Environment,
        statements: &mut Vec<Statement>,
    ) -> Lowered<Writes> {
        let span = substitution.span;
        match &substitution.kind {
            SubstitutionKind::Skip => Ok(Vec::new()),
            SubstitutionKind::Assign(assignments) => {
                let mut writes = Vec::new();
                for (symbol, value) in assignments {
                    let item = self.item(value, environment)?;
                    let item = self.settle(*symbol, item, environment, span, statements)?;
                    writes.push((*symbol, item));
                }
                Ok(writes)
            }
            SubstitutionKind::Parallel(parts) => {
                let mut writes = Vec::new();
                for part in parts {
                    writes = join(&writes, self.deterministic(part, environment, statements)?);
                }
                Ok(writes)
            }
            SubstitutionKind::Sequence(parts) => {
                let mut inner = Rc::clone(environment);
                let mut writes = Vec::new();
                for (position, part) in parts.iter().enumerate() {
                    let mut kept = Vec::new();
                    let changes = self.before_others(&parts[position + 1..], |lowerer| {
                        lowerer.deterministic(part, &inner, statements)
                    })?;
                    for (symbol, item) in changes {
                        kept.push((symbol, self.keep(symbol, item, span, statements)?));
                    }
                    for (symbol, item) in &kept {
                        inner = bind(&inner, *symbol, item.clone());
                    }
                    writes = join(&writes, kept);
                }
                Ok(writes)
            }
            SubstitutionKind::Assert(condition, message, body) => {
                let condition = self.predicate(condition, environment)?;
                statements.push(assertion(condition, message, span));
                self.deterministic(body, environment, statements)
            }
            SubstitutionKind::Let(bindings, body) => {
                let inner = self.let_environment(bindings, environment)?;
                self.deterministic(body, &inner, statements)
            }
            SubstitutionKind::Var(symbols, body) => {
                let mut writes = self.deterministic(body, environment, statements)?;
                writes.retain(|(symbol, _)| !symbols.contains(symbol));
                Ok(writes)
            }
            SubstitutionKind::If(branches, otherwise) => {
                self.conditional_writes(branches, otherwise, environment, span, statements)
            }
            SubstitutionKind::While(condition, invariant, body) => {
                self.while_loop(condition, invariant.as_ref(), body, environment, span, statements)
            }
            _ => {
                let diagnostic = Diagnostic::error("unsupported", "a choice inside a loop is not supported", span)
                    .with_help("make the choice before the loop");
                Err(Box::new(diagnostic))
            }
        }
    }

    fn conditional_writes(
        &mut self,
        branches: &[(Expr, Substitution)],
        otherwise: &Substitution,
        environment: &Environment,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<Writes> {
        let mut arms = Vec::new();
        for (condition, body) in
            branches.iter().map(|(condition, body)| (Some(condition), body)).chain([(None, otherwise)])
        {
            let condition = match condition {
                Some(condition) => Some((self.predicate(condition, environment)?, condition.span)),
                None => None,
            };
            let mut own = Vec::new();
            let writes = self.deterministic(body, environment, &mut own)?;
            arms.push((condition, own, writes));
        }
        let mut symbols: Vec<SymbolId> = Vec::new();
        for (_, _, writes) in &arms {
            symbols.extend(
                writes.iter().map(|(symbol, _)| *symbol).filter(|symbol| !symbols.contains(symbol)).collect::<Vec<_>>(),
            );
        }
        let mut result = Vec::new();
        for symbol in symbols {
            let mut items = Vec::new();
            // A local or an output that some branch does not assign has no value afterwards.
            let is_open = |writes: &Writes| !writes.iter().any(|(it, _)| *it == symbol);
            if self.core.symbols[symbol.0].kind == SymbolKind::Bound
                && !environment.contains_key(&symbol)
                && arms.iter().any(|(_, _, writes)| is_open(writes))
            {
                continue;
            }
            for (_, _, writes) in &arms {
                let written = writes.iter().find(|(it, _)| *it == symbol).map(|(_, item)| item);
                match written.or_else(|| environment.get(&symbol)) {
                    Some(item) => items.push(item.clone()),
                    None => return self.unassigned(symbol, span),
                }
            }
            let mut shape: Option<Shape> = self.stored.get(&symbol).map(|(_, shape)| shape.clone());
            if shape.is_none() || matches!(shape, Some(Shape::Scalar(_))) {
                let mut joined: Option<Shape> = None;
                for item in &items {
                    let own = self.item_shape(item)?;
                    joined = Some(joined.map_or_else(|| own.clone(), |before| before.join(&own)));
                }
                shape = joined;
            }
            let shape = shape.expect("there is always the branch of the rest");
            let name = self.core.symbols[symbol.0].name.replace(['\'', '.', '(', ')', ' '], "_");
            let local = self.temporary(&format!("new_{name}"), &shape);
            let place = self.local_place(local);
            let what = Complaint { symbol, new: None };
            for ((_, own, _), item) in arms.iter_mut().zip(&items) {
                self.store(item, place, &shape, &what, span, own)?;
            }
            result.push((symbol, self.stored_item(place, &shape)));
        }
        let conditions: Vec<(ExprId, Span)> = arms.iter().filter_map(|(condition, ..)| *condition).collect();
        let mut bodies: Vec<Vec<Statement>> = arms.into_iter().map(|(_, own, _)| own).collect();
        let otherwise = bodies.pop().unwrap_or_default();
        let lowered = self.require_values(&conditions, statements).into_iter().zip(bodies).collect();
        statements.push(Self::statement(StatementKind::If { branches: lowered, otherwise }, span));
        Ok(result)
    }

    fn unassigned<T>(&self, symbol: SymbolId, span: Span) -> Lowered<T> {
        let name = &self.core.symbols[symbol.0].name;
        let diagnostic = Diagnostic::error("no-value", format!("`{name}` gets a value in some branches only"), span)
            .with_help("give it a value in every branch, or before");
        Err(Box::new(diagnostic))
    }

    fn while_loop(
        &mut self,
        condition: &Expr,
        invariant: Option<&Expr>,
        body: &Substitution,
        environment: &Environment,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<Writes> {
        let mut symbols = Vec::new();
        body.assigned(&mut symbols);
        let mut inner = Rc::clone(environment);
        let mut places = Vec::new();
        for symbol in &symbols {
            let item = environment.get(symbol).cloned();
            if item.is_none() && self.core.symbols[symbol.0].kind != SymbolKind::Bound {
                return self.unassigned(*symbol, span);
            }
            let shape = match self.stored.get(symbol) {
                Some((_, shape)) => shape.clone(),
                None => {
                    // A local counter has no invariant, so its type determines its bounds. It is not part of the state,
                    // so there is room.
                    let ty = self.core.symbols[symbol.0].ty.clone();
                    let is_number = self.types.resolve(&ty) == Type::Integer;
                    let integers = if is_number {
                        Some((i64::from(i32::MIN), i64::from(i32::MAX)))
                    } else {
                        self.integers().or(Some((self.settings.least_integer, self.settings.greatest_integer)))
                    };
                    self.unbounded.insert(*symbol);
                    match super::shapes::shape_of_type(self.types, &ty, integers) {
                        Some(shape) => shape,
                        None => return refuse("unbounded", "nothing bounds this local variable", span),
                    }
                }
            };
            let name = self.core.symbols[symbol.0].name.replace(['\'', '.', '(', ')', ' '], "_");
            let (local, next) =
                (self.temporary(&format!("loop_{name}"), &shape), self.temporary(&format!("next_{name}"), &shape));
            let (place, next) = (self.local_place(local), self.local_place(next));
            // A local without a value before the loop gets one in every iteration before it is read.
            if let Some(item) = item {
                let what = Complaint { symbol: *symbol, new: None };
                self.store(&item, place, &shape, &what, span, statements)?;
                let stored = self.stored_item(place, &shape);
                inner = bind(&inner, *symbol, stored);
            }
            places.push((*symbol, place, next, shape));
        }
        let mut check = Vec::new();
        for conjunct in invariant.map(Expr::conjuncts).unwrap_or_default() {
            // Conditions about abstract variables are not checked, as in the invariant of a refinement.
            let mut is_abstract = false;
            conjunct.symbols(&mut |it| is_abstract |= self.core.symbols[it.0].kind == SymbolKind::Abstract);
            if !is_abstract {
                let condition = self.predicate(conjunct, &inner)?;
                check.push(assertion(condition, "the invariant of a loop does not hold", span));
            }
        }
        statements.extend(check.clone());
        let asked = (self.predicate(condition, &inner)?, condition.span);
        let mut again = Vec::new();
        let condition = self.require_values(&[asked], &mut again)[0];
        statements.extend(again.clone());
        let mut turn = Vec::new();
        // Another iteration may follow.
        let outer = self.assigned_later.len();
        self.assigned_later.extend(&symbols);
        let writes = self.deterministic(body, &inner, &mut turn);
        self.assigned_later.truncate(outer);
        let writes = writes?;
        let mut copies = Vec::new();
        for (symbol, item) in &writes {
            let Some((_, place, next, shape)) = places.iter().find(|(it, ..)| it == symbol) else {
                continue;
            };
            let what = Complaint { symbol: *symbol, new: None };
            self.store(item, *next, shape, &what, span, &mut turn)?;
            let value = self.stored_item(*next, shape);
            self.store(&value, *place, shape, &what, span, &mut copies)?;
        }
        turn.extend(copies);
        turn.extend(check);
        turn.extend(again);
        statements.push(Self::statement(StatementKind::While { condition, body: turn }, span));
        places.retain(|(symbol, ..)| environment.contains_key(symbol));
        Ok(places.into_iter().map(|(symbol, place, _, shape)| (symbol, self.stored_item(place, &shape))).collect())
    }

    /// Whose value is stored, with the value that it has then, if it keeps that.
    fn complaint(&self, symbol: SymbolId, item: &Item, environment: &Environment) -> Complaint {
        let new = (!self.assigned_later.contains(&symbol)).then(|| NewValue {
            item: Some(item.clone()),
            environment: Rc::clone(environment),
            is_complete: false,
        });
        Complaint { symbol, new }
    }

    /// A set is stored at once; a scalar stays an expression.
    fn settle(
        &mut self,
        symbol: SymbolId,
        item: Item,
        environment: &Environment,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Lowered<Item> {
        if matches!(item, Item::Scalar(..)) {
            return Ok(item);
        }
        let shape = match self.stored.get(&symbol) {
            Some((_, shape)) => shape.clone(),
            // An output that cannot be stored changes nothing.
            None => match self.item_shape(&item) {
                Ok(shape) if self.check_shape(&shape, span).is_ok() => shape,
                _ => return Ok(item),
            },
        };
        let name = self.core.symbols[symbol.0].name.replace(['\'', '.', '(', ')', ' '], "_");
        let local = self.temporary(&format!("new_{name}"), &shape);
        let place = self.local_place(local);
        let what = self.complaint(symbol, &item, environment);
        self.store(&item, place, &shape, &what, span, statements)?;
        Ok(self.stored_item(place, &shape))
    }

    /// A scalar is stored unless it already is a place.
    fn keep(&mut self, symbol: SymbolId, item: Item, span: Span, statements: &mut Vec<Statement>) -> Lowered<Item> {
        let Item::Scalar(value, scalar) = item else {
            return Ok(item);
        };
        if matches!(self.model.pool[value], IrExpr::Constant { .. } | IrExpr::Read(_)) {
            return Ok(item);
        }
        let name = self.core.symbols[symbol.0].name.replace(['\'', '.', '(', ')', ' '], "_");
        let local = self.temporary(&format!("new_{name}"), &Shape::Scalar(scalar));
        let target = self.local_place(local);
        statements.push(Self::statement(StatementKind::Assign { target, value }, span));
        Ok(Item::Scalar(self.read(target), scalar))
    }

    /// Values for symbols that satisfy a condition: parameters where there is a cell for each choice,
    /// one path for each value of a function or a large set.
    fn choose_values(
        &mut self,
        symbols: &[SymbolId],
        condition: &Expr,
        environment: &Environment,
        initial: bool,
        mut path: Path,
    ) -> Lowered<Vec<(Path, Environment)>> {
        let conjuncts = condition.conjuncts();
        let mut used = vec![false; conjuncts.len()];
        let mut pending: Vec<SymbolId> = symbols.to_vec();
        let mut paths = vec![(std::mem::take(&mut path), Rc::clone(environment))];
        while !pending.is_empty() {
            // A value given by an equation needs no choice.
            let equation = pending.iter().enumerate().find_map(|(position, symbol)| {
                conjuncts.iter().enumerate().find_map(|(at, conjunct)| {
                    let value = equation_for(conjunct, *symbol)?;
                    (!used[at] && !pending.iter().any(|other| value.mentions(*other))).then_some((position, at, value))
                })
            });
            if let Some((position, at, value)) = equation {
                let symbol = pending.remove(position);
                used[at] = true;
                for (path, inner) in &mut paths {
                    let span = conjuncts[at].span;
                    let item = self.in_path(path, |lowerer, path| {
                        let item = lowerer.item(value, inner)?;
                        lowerer.equation_value(item, initial, span, path)
                    })?;
                    path.choices.push((symbol, Chosen::Item(item.clone())));
                    *inner = bind(inner, symbol, item);
                }
                continue;
            }
            let mut failure = None;
            let mut chosen = None;
            for (position, symbol) in pending.iter().enumerate() {
                let inner = Rc::clone(&paths[0].1);
                match self
                    .in_path(&mut paths[0].0, |lowerer, _| lowerer.symbol_shape(*symbol, &conjuncts, &pending, &inner))
                {
                    Ok(shape) => {
                        chosen = Some((position, shape));
                        break;
                    }
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            let (position, shape) = match chosen {
                Some(chosen) => chosen,
                None => {
                    let failure = failure.expect("a pending symbol without a shape has a reason");
                    let inner = Rc::clone(&paths[0].1);
                    let shape = self.in_path(&mut paths[0].0, |lowerer, _| {
                        Ok(lowerer.assumed_choice(pending[0], &conjuncts, &pending, &inner))
                    })?;
                    (0, shape.ok_or(failure)?)
                }
            };
            let symbol = pending.remove(position);
            paths = self.choose_symbol(symbol, &shape, &conjuncts, &mut used, paths)?;
        }
        for (path, inner) in &mut paths {
            let left = conjuncts.iter().zip(&used).filter(|(_, used)| !**used);
            let left: Vec<&Expr> = left.flat_map(|(conjunct, _)| conjunct.conjuncts()).collect();
            self.constrain_all(&left, inner, initial, path)?;
        }
        // A path known to be impossible is dropped.
        paths.retain(|(path, _)| {
            !path.doubts.is_empty() || !path.guards.iter().any(|guard| self.constant_of(*guard) == Some(0))
        });
        Ok(paths)
    }

    /// The shape of what is chosen without bounds: as in ProB, integers between `MININT` and `MAXINT` are tried.
    fn assumed_choice(
        &mut self,
        symbol: SymbolId,
        conjuncts: &[&Expr],
        pending: &[SymbolId],
        environment: &Environment,
    ) -> Option<Shape> {
        let (low, high) = (self.settings.least_integer, self.settings.greatest_integer);
        self.assumed = Some((low, high));
        let shape = self.symbol_shape(symbol, conjuncts, pending, environment);
        self.assumed = None;
        let shape = shape.ok()?;
        let entry = &self.core.symbols[symbol.0];
        let message = format!("nothing bounds `{}`: only integers in {low}..{high} are tried", entry.name);
        let diagnostic = Diagnostic::warning("assumed-bounds", message, entry.span).with_help(
            "bound it by a condition such as `… : 0..10`, or set bounds for all integers with `-D MAXINT=…`",
        );
        self.diagnostics.push(diagnostic);
        Some(shape)
    }

    fn choose_symbol(
        &mut self,
        symbol: SymbolId,
        shape: &Shape,
        conjuncts: &[&Expr],
        used: &mut [bool],
        paths: Vec<(Path, Environment)>,
    ) -> Lowered<Vec<(Path, Environment)>> {
        let entry = &self.core.symbols[symbol.0];
        let (name, span) = (entry.name.to_string(), entry.span);
        if let Some(values) = self.candidates(symbol, shape, conjuncts, used)? {
            let mut longer = Vec::new();
            for (path, environment) in paths {
                for value in &values {
                    let mut path = path.clone();
                    path.choices.push((symbol, Chosen::Value(value.clone())));
                    let item = self.literal(value, shape);
                    longer.push((path, bind(&environment, symbol, item)));
                    check_count(longer.len(), span)?;
                }
            }
            return Ok(longer);
        }
        let mut chosen = Vec::new();
        for (mut path, environment) in paths {
            path.choices.push((symbol, Chosen::Parameters(path.owner.parameters.len(), shape.clone())));
            let item = self.in_path(&mut path, |lowerer, _| Ok(lowerer.parameter(&name, shape)))?;
            chosen.push((path, bind(&environment, symbol, item)));
        }
        Ok(chosen)
    }

    /// A parameter of a rule for a value of a shape.
    fn parameter(&mut self, name: &str, shape: &Shape) -> Item {
        let name = name.replace(['\'', '.', '(', ')', ' '], "_");
        match shape {
            Shape::Scalar(scalar) => {
                let ty = self.scalar_type(*scalar);
                let local = self.local(name, ty, LocalKind::Parameter);
                self.owner.parameters.push(Parameter { local, range: Iteration::Over(ty) });
                let place = self.local_place(local);
                Item::Scalar(self.read(place), *scalar)
            }
            Shape::Pair(left, right) => {
                let left = self.parameter(&format!("{name}_left"), left);
                Item::pair(left, self.parameter(&format!("{name}_right"), right))
            }
            Shape::Record(fields) => {
                let mut items = Vec::new();
                for (field, shape) in fields {
                    items.push((field.clone(), self.parameter(&format!("{name}_{field}"), shape)));
                }
                Item::Record(items)
            }
            Shape::Set(_) | Shape::Function(..) | Shape::Table(..) => {
                let set = Shape::set(shape.element());
                let ty = self.shape_type(&set);
                let local = self.local(name, ty, LocalKind::Parameter);
                self.owner.parameters.push(Parameter { local, range: Iteration::Over(ty) });
                let place = self.local_place(local);
                Item::Set(SetItem::Bits { place, element: shape.element() })
            }
        }
    }

    /// The values that a set or function can have, where they are listed rather than chosen bit by
    /// bit. The conjuncts that have been taken into account are marked.
    fn candidates(
        &mut self,
        symbol: SymbolId,
        shape: &Shape,
        conjuncts: &[&Expr],
        used: &mut [bool],
    ) -> Lowered<Option<Vec<Value>>> {
        if !shape.is_set() {
            return Ok(None);
        }
        let span = self.core.symbols[symbol.0].span;
        let mut evaluator = Evaluator::new(self.core, self.types);
        evaluator.values.clone_from(&self.known);
        // What depends on this symbol and constants only.
        let is_static = |conjunct: &Expr| {
            let mut fixed = true;
            let mut mentioned = false;
            conjunct.symbols(&mut |it| {
                let entry = &self.core.symbols[it.0];
                mentioned |= it == symbol;
                fixed &= it == symbol
                    || self.known.contains_key(&it)
                    || entry.kind == SymbolKind::Bound && is_inner(conjunct, it);
            });
            fixed && mentioned
        };
        let of_symbol: Vec<usize> = (0..conjuncts.len()).filter(|at| !used[*at] && is_static(conjuncts[*at])).collect();
        let bits = shape.element().size(self.core);
        let is_function = matches!(shape, Shape::Function(..) | Shape::Table(..));
        if !is_function && bits <= MAXIMUM_CHOSEN_BITS && of_symbol.len() <= 1 {
            return Ok(None);
        }
        let statics: Vec<&Expr> = of_symbol.iter().map(|at| conjuncts[*at]).collect();
        let mut values = Vec::new();
        let solved = evaluator.solve(&[symbol], &statics, &mut |evaluator| {
            if let Some(value) = evaluator.values.get(&symbol) {
                values.push(value.clone());
            }
            Ok(values.len() <= MAXIMUM_CANDIDATES)
        });
        match solved {
            Ok(()) if values.len() <= MAXIMUM_CANDIDATES && !statics.is_empty() => {
                for at in of_symbol {
                    used[at] = true;
                }
                return Ok(Some(values));
            }
            Err(trouble) if trouble.kind == TroubleKind::Undefined && !self.is_lenient() => {
                return refuse("undefined", trouble.message, trouble.span);
            }
            _ => {}
        }
        // All functions between the bounds.
        if is_function {
            let (domain, value) = shape.element().parts();
            if shape.size(self.core) <= MAXIMUM_CANDIDATES as u64 {
                let arguments = super::sets::all_values(self.core, &domain);
                let results = super::sets::all_values(self.core, &value);
                let mut functions: Vec<Vec<Value>> = vec![Vec::new()];
                for argument in &arguments {
                    functions = functions
                        .iter()
                        .flat_map(|pairs| {
                            let more = results.iter().map(|result| {
                                pairs.iter().cloned().chain([Value::pair(argument.clone(), result.clone())]).collect()
                            });
                            std::iter::once(pairs.clone()).chain(more).collect::<Vec<Vec<Value>>>()
                        })
                        .collect();
                }
                return Ok(Some(functions.into_iter().map(Value::set).collect()));
            }
        } else if bits <= MAXIMUM_CHOSEN_BITS {
            return Ok(None);
        }
        let name = &self.core.symbols[symbol.0].name;
        let diagnostic = Diagnostic::error("too-many-values", format!("there are too many values to choose from for `{name}`"), span)
            .with_help(format!("up to {MAXIMUM_CANDIDATES} values of a set or function are tried; take smaller given sets or a tighter condition"));
        Err(Box::new(diagnostic))
    }

    /// A value in the notation of B.
    pub(super) fn value_text(&self, value: &Value) -> String {
        match value {
            Value::Integer(value) => value.to_string(),
            Value::Boolean(value) => if *value { "TRUE" } else { "FALSE" }.into(),
            Value::Text(text) => format!("'{}'", self.core.texts[*text]),
            Value::Member(set, member) => self.core.sets[set.0].members[*member].to_string(),
            Value::Pair(pair) => format!("({}|->{})", self.value_text(&pair.0), self.value_text(&pair.1)),
            Value::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|field| self.value_text(field)).collect();
                format!("rec({})", fields.join(","))
            }
            Value::Set(members) => {
                let members: Vec<String> = members.iter().map(|member| self.value_text(member)).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }
}

/// Whether a symbol is bound inside a formula.
fn is_inner(formula: &Expr, symbol: SymbolId) -> bool {
    match &formula.kind {
        Kind::Comprehension(symbols, body) | Kind::Quantified(_, symbols, body) => {
            symbols.contains(&symbol) || is_inner(body, symbol)
        }
        Kind::Lambda(symbols, condition, body) | Kind::Fold(_, symbols, condition, body) => {
            symbols.contains(&symbol) || is_inner(condition, symbol) || is_inner(body, symbol)
        }
        Kind::Let(bindings, body) => {
            bindings.iter().any(|(it, value)| *it == symbol || is_inner(value, symbol)) || is_inner(body, symbol)
        }
        Kind::Operation(_, operands) | Kind::Extension(operands) | Kind::Sequence(operands) => {
            operands.iter().any(|operand| is_inner(operand, symbol))
        }
        Kind::Record(fields) | Kind::RecordSet(fields) => fields.iter().any(|(_, field)| is_inner(field, symbol)),
        Kind::Field(record, _) => is_inner(record, symbol),
        Kind::Conditional(condition, then, otherwise) => {
            is_inner(condition, symbol) || is_inner(then, symbol) || is_inner(otherwise, symbol)
        }
        _ => false,
    }
}

/// Later writes replace earlier ones.
fn join(writes: &Writes, more: Writes) -> Writes {
    let mut joined: Writes =
        writes.iter().filter(|(symbol, _)| !more.iter().any(|(it, _)| it == symbol)).cloned().collect();
    joined.extend(more);
    joined
}

fn check_count(count: usize, span: Span) -> Lowered<()> {
    if count > MAXIMUM_PATHS {
        let message = format!("this operation has more than {MAXIMUM_PATHS} ways to go on");
        return refuse("too-many-values", message, span);
    }
    Ok(())
}

/// Whether a substitution has choices, or conditions under which it is not possible.
fn is_branching(substitution: &Substitution) -> bool {
    match &substitution.kind {
        SubstitutionKind::Skip | SubstitutionKind::Assign(_) | SubstitutionKind::While(..) => false,
        SubstitutionKind::Guard(..)
        | SubstitutionKind::Select(..)
        | SubstitutionKind::Choice(_)
        | SubstitutionKind::Any(..) => true,
        SubstitutionKind::Parallel(parts) | SubstitutionKind::Sequence(parts) => parts.iter().any(is_branching),
        SubstitutionKind::Assert(_, _, body) | SubstitutionKind::Let(_, body) | SubstitutionKind::Var(_, body) => {
            is_branching(body)
        }
        SubstitutionKind::If(branches, otherwise) => {
            branches.iter().any(|(_, body)| is_branching(body)) || is_branching(otherwise)
        }
    }
}
