//! Temporal formulas, with ProB's meaning. A run begins with the first initialised state, and a run that cannot go on is
//! finite: in its last state `X f` and `[op]` are false.
//!
//! In the model, a run begins with the root, and one that cannot go on stays in its last state forever. So a formula is
//! evaluated where the machine is initialised first, operators of the past do not look further back, `X f` requires that
//! some operation is enabled, and if there are operators of the past, those of the future do not look at repetitions of
//! the last state: positions whose predecessor is a deadlock.

use quotient_ir::{
    Argument, Diagnostic, Expr as IrExpr, ExprId, Formula as PropertyFormula, Function, FunctionId, Local, LocalId,
    LocalKind, Model, PlaceId, Positions, Property, PropertyKind, Quantifier as IrQuantifier, ReturnValue, Span,
    Statement, StatementKind, Table, Temporal, TemporalClaim, TypeId, TypeKind,
};
use quotient_kit::Building;
use quotient_temporal::syntax::{Binary, SyntaxId, SyntaxKind, Unary};
use quotient_temporal::{Atom, Formula, Formulas, PathQuantifier};
use rustc_hash::FxHashMap;

use super::super::core::{
    Call, Expr, Observation, Operation, Operator, Selection, Substitution, SubstitutionKind, SymbolId, TemporalFormula,
    equations,
};
use super::super::types::Type;
use super::super::typing::within;
use super::items::{Environment, Item};
use super::machine::with_parameters;
use super::paths::Path;
use super::{Lowered, Lowerer, Owner, refuse};

/// A formula under construction.
struct Construction<'f> {
    source: &'f TemporalFormula,
    pool: Formulas,
    conditions: Vec<ExprId>,
    names: Vec<String>,
    /// The machine is initialised; nothing if it always is.
    initialised: Option<ExprId>,
    /// Whether there are operators of the past.
    has_past: bool,
    environment: Environment,
}

/// The conditions under which operations are enabled, by operation and arguments.
pub(super) type Enabled = FxHashMap<(usize, String), ExprId>;

impl Lowerer<'_> {
    /// Lowers the temporal formulas of the machine.
    pub(super) fn temporal_formulas(&mut self, environment: &Environment, initialised: Option<ExprId>) {
        let mut enabled = Enabled::default();
        for source in &self.core.temporal {
            self.owner = Owner::default();
            let mut construction = Construction {
                source,
                pool: Formulas::new(),
                conditions: Vec::new(),
                names: Vec::new(),
                initialised,
                has_past: source.has_past(),
                environment: environment.clone(),
            };
            let formula = self.temporal(&mut construction, source.tree.root(), None, &mut enabled);
            let formula = formula.map(|formula| Self::from_the_beginning(&mut construction, formula));
            let Owner { locals, .. } = std::mem::take(&mut self.owner);
            match formula {
                Ok(formula) => {
                    let Construction { pool, conditions: atoms, names, .. } = construction;
                    let claim = if source.is_branching {
                        TemporalClaim::Branching { pool, formula }
                    } else {
                        TemporalClaim::Linear { pool, formula }
                    };
                    let text = source.text.split_whitespace().collect::<Vec<_>>().join(" ");
                    let temporal = Temporal { claim, atoms, names, text, positions: Positions::Stored };
                    self.model.properties.push(Property {
                        name: Some(source.name.clone()),
                        kind: PropertyKind::Temporal,
                        parameters: Vec::new(),
                        locals,
                        formula: PropertyFormula::Temporal(Box::new(temporal)),
                        span: source.span,
                    });
                }
                Err(diagnostic) => self.diagnostics.push(*diagnostic),
            }
        }
    }

    /// The formula for whole runs: where the machine is initialised first, if it ever is.
    fn from_the_beginning(construction: &mut Construction<'_>, formula: Formula) -> Formula {
        let formula = match construction.initialised() {
            Some(initialised) => {
                let before = construction.pool.not(initialised);
                let then = construction.pool.and([initialised, formula]);
                construction.pool.weak_until(before, then)
            }
            None => formula,
        };
        if construction.source.is_branching { construction.pool.path(PathQuantifier::All, formula) } else { formula }
    }

    /// A part of a formula; `path` is the quantifier directly around it or around the operators that govern it, if any.
    fn temporal(
        &mut self,
        construction: &mut Construction<'_>,
        part: SyntaxId,
        path: Option<PathQuantifier>,
        enabled: &mut Enabled,
    ) -> Lowered<Formula> {
        let node = construction.source.tree.node(part).clone();
        let span = within(node.operator, construction.source.span);
        let is_branching = construction.source.is_branching;
        let is_temporal = match &node.kind {
            SyntaxKind::Unary(operator, _) => *operator != Unary::Not,
            SyntaxKind::Binary(operator, ..) => {
                !matches!(operator, Binary::And | Binary::Or | Binary::Implies | Binary::Equivalent)
            }
            _ => false,
        };
        if is_temporal && is_branching && path.is_none() {
            let diagnostic = Diagnostic::error("temporal", "a formula of CTL says on which paths this holds", span);
            return Err(Box::new(diagnostic.with_help("write `A` (on all paths) or `E` (on some path) before it")));
        }
        match &node.kind {
            SyntaxKind::Constant(value) => Ok(construction.pool.constant(*value)),
            SyntaxKind::Atom => {
                let Some(observation) = construction.source.atoms.get(&node.span).cloned() else {
                    return Ok(Formula::TRUE);
                };
                let span = within(node.span, construction.source.span);
                let name = node.span.of(&construction.source.text).to_owned();
                let is_step = matches!(observation, Observation::Performed(..) | Observation::Fair { .. });
                if is_step && is_branching && path.is_none() {
                    let message = "a formula of CTL says on which paths this is the next step";
                    let diagnostic = Diagnostic::error("temporal", message, span);
                    return Err(Box::new(diagnostic.with_help("write `EX[op] f`")));
                }
                self.observation(construction, &observation, &name, span, enabled)
            }
            SyntaxKind::Unary(operator, operand) => {
                let operand = self.temporal(construction, *operand, path, enabled)?;
                self.unary_temporal(construction, *operator, operand, span, enabled)
            }
            SyntaxKind::Binary(operator, left, right) => {
                let left = self.temporal(construction, *left, path, enabled)?;
                let right = self.temporal(construction, *right, path, enabled)?;
                self.binary_temporal(construction, *operator, (left, right), span, enabled)
            }
            SyntaxKind::Path(..) if !is_branching => {
                let message = "there are no path quantifiers in a formula of LTL, which is about all runs";
                let diagnostic = Diagnostic::error("temporal", message, span);
                Err(Box::new(diagnostic.with_help("define `ASSERT_CTL == \"…\"` instead")))
            }
            SyntaxKind::Path(quantifier, operand) => {
                let inner = construction.source.tree.node(*operand).kind.clone();
                let formula = match inner {
                    // `AX f` is `not EX not f`: true where there is no next state.
                    SyntaxKind::Unary(Unary::Next, operand) if *quantifier == PathQuantifier::All => {
                        let operand = self.temporal(construction, operand, Some(*quantifier), enabled)?;
                        let deadlock = self.deadlock(construction, span, enabled)?;
                        let next = construction.pool.next(operand);
                        construction.pool.or([deadlock, next])
                    }
                    _ => self.temporal(construction, *operand, Some(*quantifier), enabled)?,
                };
                Ok(construction.pool.path(*quantifier, formula))
            }
            SyntaxKind::Quantified(_) => {
                let diagnostic = Diagnostic::error("temporal", "quantifiers belong into predicates", span);
                Err(Box::new(diagnostic.with_help("write `{!x.(…)}` or `{#x.(…)}`")))
            }
        }
    }

    fn unary_temporal(
        &mut self,
        construction: &mut Construction<'_>,
        operator: Unary,
        operand: Formula,
        span: Span,
        enabled: &mut Enabled,
    ) -> Lowered<Formula> {
        if operator == Unary::Not {
            return Ok(construction.pool.not(operand));
        }
        if operator == Unary::Next {
            let deadlock = self.deadlock(construction, span, enabled)?;
            let goes_on = construction.pool.not(deadlock);
            let next = construction.pool.next(operand);
            return Ok(construction.pool.and([goes_on, next]));
        }
        if matches!(operator, Unary::Always | Unary::Eventually) {
            let real = self.is_real(construction, span, enabled)?;
            let pool = &mut construction.pool;
            let repeated = pool.not(real);
            return Ok(if operator == Unary::Always {
                let inner = pool.or([repeated, operand]);
                pool.always(inner)
            } else {
                let inner = pool.and([real, operand]);
                pool.eventually(inner)
            });
        }
        self.refuse_past(construction, span)?;
        let initialised = construction.initialised().unwrap_or(Formula::TRUE);
        let pool = &mut construction.pool;
        let before = pool.not(initialised);
        let (there, unless) = (pool.and([initialised, operand]), pool.or([before, operand]));
        Ok(match operator {
            Unary::Yesterday => pool.yesterday(there),
            Unary::WeakYesterday => pool.weak_yesterday(unless),
            Unary::Once => pool.once(there),
            _ => pool.historically(unless),
        })
    }

    fn binary_temporal(
        &mut self,
        construction: &mut Construction<'_>,
        operator: Binary,
        (left, right): (Formula, Formula),
        span: Span,
        enabled: &mut Enabled,
    ) -> Lowered<Formula> {
        let boolean = match operator {
            Binary::And => Some(construction.pool.and([left, right])),
            Binary::Or => Some(construction.pool.or([left, right])),
            Binary::Implies => Some(construction.pool.implies(left, right)),
            Binary::Equivalent => Some(construction.pool.equivalent(left, right)),
            _ => None,
        };
        if let Some(formula) = boolean {
            return Ok(formula);
        }
        if matches!(operator, Binary::Since | Binary::Triggered) {
            self.refuse_past(construction, span)?;
            let initialised = construction.initialised().unwrap_or(Formula::TRUE);
            let pool = &mut construction.pool;
            return Ok(if operator == Binary::Since {
                let right = pool.and([initialised, right]);
                pool.since(left, right)
            } else {
                let before = pool.not(initialised);
                let right = pool.or([before, right]);
                pool.triggered(left, right)
            });
        }
        let real = self.is_real(construction, span, enabled)?;
        let pool = &mut construction.pool;
        let repeated = pool.not(real);
        Ok(match operator {
            Binary::Until => {
                let right = pool.and([real, right]);
                pool.until(left, right)
            }
            Binary::WeakUntil => {
                let (left, right) = (pool.or([repeated, left]), pool.and([real, right]));
                pool.weak_until(left, right)
            }
            Binary::Release => {
                let right = pool.or([repeated, right]);
                pool.release(left, right)
            }
            _ => {
                let both = pool.and([real, left, right]);
                pool.until(right, both)
            }
        })
    }

    fn refuse_past(&self, construction: &Construction<'_>, span: Span) -> Lowered<()> {
        if construction.source.is_branching {
            return refuse("temporal", "there are no operators of the past in a formula of CTL", span);
        }
        Ok(())
    }

    /// A position that is not a repetition of the last state.
    fn is_real(&mut self, construction: &mut Construction<'_>, span: Span, enabled: &mut Enabled) -> Lowered<Formula> {
        if !construction.has_past {
            return Ok(Formula::TRUE);
        }
        let deadlock = self.deadlock(construction, span, enabled)?;
        let repeated = construction.pool.yesterday(deadlock);
        Ok(construction.pool.not(repeated))
    }

    fn deadlock(&mut self, construction: &mut Construction<'_>, span: Span, enabled: &mut Enabled) -> Lowered<Formula> {
        let all: Vec<Call> =
            (0..self.core.operations.len()).map(|operation| Call { operation, arguments: None }).collect();
        let condition = self.count(construction, Selection::None, &all, span, enabled)?;
        Ok(construction.atom(self, condition, "deadlock"))
    }

    fn observation(
        &mut self,
        construction: &mut Construction<'_>,
        observation: &Observation,
        name: &str,
        span: Span,
        enabled: &mut Enabled,
    ) -> Lowered<Formula> {
        match observation {
            Observation::Holds(predicate) => {
                let condition = self.predicate(predicate, &construction.environment.clone())?;
                Ok(construction.atom(self, condition, name))
            }
            Observation::Enabled(call) => {
                let condition = self.enabled(construction, call, span, enabled)?;
                Ok(construction.atom(self, condition, name))
            }
            Observation::Deadlock => self.deadlock(construction, span, enabled),
            Observation::Count(selection, calls) => {
                let condition = self.count(construction, *selection, calls, span, enabled)?;
                Ok(construction.atom(self, condition, name))
            }
            Observation::Performed(call, step) => self.performed(construction, call, *step, span, enabled),
            Observation::Fair { strong, call, step } => {
                let condition = self.enabled(construction, call, span, enabled)?;
                let possible = construction.atom(self, condition, &format!("e({})", self.call_text(*step)));
                let performed = self.performed(construction, call, *step, span, enabled)?;
                let pool = &mut construction.pool;
                let impossible = pool.not(possible);
                let impossible = if *strong {
                    let always = pool.always(impossible);
                    pool.eventually(always)
                } else {
                    let eventually = pool.eventually(impossible);
                    pool.always(eventually)
                };
                let eventually = pool.eventually(performed);
                let again = pool.always(eventually);
                Ok(pool.or([impossible, again]))
            }
        }
    }

    /// The call that a variable for a kind of steps is about: its name without brackets.
    fn call_text(&self, step: SymbolId) -> String {
        self.core.symbols[step.0].name.trim_start_matches('[').trim_end_matches(']').to_owned()
    }

    /// The next step is of an operation. It is enabled, since a run that ends repeats its last state.
    fn performed(
        &mut self,
        construction: &mut Construction<'_>,
        call: &Call,
        step: SymbolId,
        span: Span,
        enabled: &mut Enabled,
    ) -> Lowered<Formula> {
        let condition = self.enabled(construction, call, span, enabled)?;
        let possible = construction.atom(self, condition, &format!("e({})", self.call_text(step)));
        let Some(Item::Scalar(condition, _)) = construction.environment.get(&step).cloned() else {
            return refuse("temporal", "this step is not recorded", span);
        };
        let name = format!("last step is {}", self.call_text(step));
        let performed = construction.atom(self, condition, &name);
        let next = construction.pool.next(performed);
        Ok(construction.pool.and([possible, next]))
    }

    /// So many of some operations are enabled.
    fn count(
        &mut self,
        construction: &Construction<'_>,
        selection: Selection,
        calls: &[Call],
        span: Span,
        enabled: &mut Enabled,
    ) -> Lowered<ExprId> {
        let (mut some, mut several) = (self.truth(false), self.truth(false));
        for call in calls {
            let one = self.enabled(construction, call, span, enabled)?;
            if selection != Selection::None {
                let another = self.and(some, one);
                several = self.or(several, another);
            }
            some = self.or(some, one);
        }
        Ok(match selection {
            Selection::None => self.not(some),
            Selection::AtMostOne => self.not(several),
            Selection::ExactlyOne => {
                let only = self.not(several);
                self.and(some, only)
            }
        })
    }

    /// An operation is enabled: some path through it is possible for some values.
    fn enabled(
        &mut self,
        construction: &Construction<'_>,
        call: &Call,
        span: Span,
        known: &mut Enabled,
    ) -> Lowered<ExprId> {
        let arguments = call.arguments.as_ref().map_or(String::new(), |arguments| {
            let texts = arguments.iter().map(|it| self.model.source.text.get(it.span.range()).unwrap_or_default());
            texts.map(|text| format!("({})", text.split_whitespace().collect::<Vec<_>>().join(" "))).collect()
        });
        let key = (call.operation, arguments);
        if let Some(condition) = known.get(&key) {
            return Ok(*condition);
        }
        let operation = &self.core.operations[call.operation];
        let body = match &call.arguments {
            Some(arguments) if !arguments.is_empty() => {
                let condition = equations(&self.core.symbols, &operation.parameters, arguments);
                with_parameters(&Operation { body: with_condition(&operation.body, &condition), ..operation.clone() })
            }
            _ => with_parameters(operation),
        };
        // The property is not the owner of what belongs to the paths.
        let outer = std::mem::take(&mut self.owner);
        let paths = self.run(&body, &construction.environment.clone(), true, Path::default());
        self.owner = outer;
        let mut condition = self.truth(false);
        for (path, _) in paths? {
            let one = self.path_is_possible(&operation.name.clone(), path, span);
            condition = self.or(condition, one);
        }
        known.insert(key, condition);
        Ok(condition)
    }

    /// A path is possible for some values of its parameters. A function has these as its own locals.
    fn path_is_possible(&mut self, operation: &str, path: Path, span: Span) -> ExprId {
        let Path { owner: Owner { mut locals, parameters }, guards, statements, .. } = path;
        let (fixed, open): (Vec<ExprId>, Vec<ExprId>) =
            guards.into_iter().partition(|condition| self.is_fixed(*condition) && !self.may_fail(*condition));
        let mut guard = self.truth(true);
        for condition in fixed.into_iter().chain(open) {
            guard = self.and(guard, condition);
        }
        let until = statements.iter().rposition(has_assumption).map_or(0, |last| last + 1);
        if until == 0 && self.constant_of(guard).is_some() {
            return guard;
        }
        let is_simple = until == 0 && parameters.iter().all(|it| self.model.is_scalar(locals[it.local].ty));
        if is_simple {
            let binders: Vec<(LocalId, TypeId)> = parameters.iter().map(|it| (it.local, locals[it.local].ty)).collect();
            let some = self.quantify_plainly(IrQuantifier::Any, &binders, guard);
            let body = vec![Self::statement(StatementKind::Return(Some(ReturnValue::Value(some))), span)];
            return self.condition_function(operation, Vec::new(), locals, body, span);
        }
        // Conditions on intermediate values, or sets as parameters: a function of the values of all cells.
        let mut body = Vec::new();
        let mut cells: Vec<LocalId> = Vec::new();
        for parameter in &parameters {
            let ty = locals[parameter.local].ty;
            if self.model.is_scalar(ty) {
                cells.push(parameter.local);
                continue;
            }
            locals[parameter.local].kind = LocalKind::Variable;
            let place = self.place(quotient_ir::Root::Local(parameter.local), ty);
            for target in self.cells_of(place) {
                let ty = self.model.pool[target].ty;
                let name = format!("cell_{}", cells.len() + 1);
                let local = locals.push(Local { name, ty, kind: LocalKind::Parameter, span: Span::default() });
                cells.push(local);
                let cell = self.place(quotient_ir::Root::Local(local), ty);
                let value = self.read(cell);
                body.push(Self::statement(StatementKind::Assign { target, value }, span));
            }
        }
        let returned = |lowerer: &mut Self, value: bool| {
            let value = ReturnValue::Value(lowerer.truth(value));
            Self::statement(StatementKind::Return(Some(value)), span)
        };
        let failed = returned(self, false);
        let mut inner: Vec<Statement> =
            statements[..until].iter().map(|statement| self.without_assumptions(statement, &failed)).collect();
        inner.push(returned(self, true));
        body.push(Self::statement(StatementKind::If { branches: vec![(guard, inner)], otherwise: Vec::new() }, span));
        body.push(failed);
        let types: Vec<TypeId> = cells.iter().map(|local| locals[*local].ty).collect();
        let call = self.new_condition_function(operation, cells, locals, body, span);
        let mut locals: Table<LocalId, Local> = Table::new();
        let (mut binders, mut arguments) = (Vec::new(), Vec::new());
        for (position, ty) in types.into_iter().enumerate() {
            let name = format!("value_{}", position + 1);
            let local = locals.push(Local { name, ty, kind: LocalKind::Parameter, span: Span::default() });
            let place = self.place(quotient_ir::Root::Local(local), ty);
            arguments.push(Argument::Value(self.read(place)));
            binders.push((local, ty));
        }
        let called = self.expression(IrExpr::Call { function: call, arguments });
        let some = self.quantify_plainly(IrQuantifier::Any, &binders, called);
        let body = vec![Self::statement(StatementKind::Return(Some(ReturnValue::Value(some))), span)];
        self.condition_function(operation, Vec::new(), locals, body, span)
    }

    /// A call of a new function without parameters that returns a condition.
    fn condition_function(
        &mut self,
        operation: &str,
        parameters: Vec<LocalId>,
        locals: Table<LocalId, Local>,
        body: Vec<Statement>,
        span: Span,
    ) -> ExprId {
        let function = self.new_condition_function(operation, parameters, locals, body, span);
        self.expression(IrExpr::Call { function, arguments: Vec::new() })
    }

    fn new_condition_function(
        &mut self,
        operation: &str,
        parameters: Vec<LocalId>,
        locals: Table<LocalId, Local>,
        body: Vec<Statement>,
        span: Span,
    ) -> FunctionId {
        let name = operation.replace(['\'', '.', '(', ')', ' '], "_");
        let name = format!("enabled_{name}_{}", self.model.functions.iter().count() + 1);
        let result = Some(Model::BOOLEAN);
        let function = self.model.functions.push(Function { name, parameters, locals, result, body, span });
        self.note_failures(function);
        function
    }

    /// All cells of a place.
    fn cells_of(&mut self, place: PlaceId) -> Vec<PlaceId> {
        match self.model.types[self.model.pool[place].ty].kind.clone() {
            TypeKind::Array { index, .. } => {
                let values: Vec<i64> = self.model.domain(index).values().collect();
                let places = values.into_iter().map(|value| {
                    let index = self.expression(IrExpr::Constant { value, ty: index });
                    self.element(place, index)
                });
                let places: Vec<PlaceId> = places.collect();
                places.into_iter().flat_map(|place| self.cells_of(place)).collect()
            }
            TypeKind::Record { fields } => {
                let places: Vec<PlaceId> = (0..fields.len()).map(|field| self.field(place, field as u32)).collect();
                places.into_iter().flat_map(|place| self.cells_of(place)).collect()
            }
            _ => vec![place],
        }
    }

    /// A statement that returns where an assumption is not met.
    fn without_assumptions(&mut self, statement: &Statement, failed: &Statement) -> Statement {
        let again = |lowerer: &mut Self, body: &[Statement]| -> Vec<Statement> {
            body.iter().map(|it| lowerer.without_assumptions(it, failed)).collect()
        };
        let kind = match &statement.kind {
            StatementKind::Assume(condition) => {
                let not = self.not(*condition);
                StatementKind::If { branches: vec![(not, vec![failed.clone()])], otherwise: Vec::new() }
            }
            StatementKind::If { branches, otherwise } => {
                let mut inner = Vec::new();
                for (condition, body) in branches {
                    inner.push((*condition, again(self, body)));
                }
                StatementKind::If { branches: inner, otherwise: again(self, otherwise) }
            }
            StatementKind::While { condition, body } => {
                StatementKind::While { condition: *condition, body: again(self, body) }
            }
            StatementKind::For { local, range, body } => {
                StatementKind::For { local: *local, range: range.clone(), body: again(self, body) }
            }
            other => other.clone(),
        };
        Statement { kind, span: statement.span }
    }
}

impl Construction<'_> {
    /// The atom for a condition, which is false before the machine is initialised.
    fn atom(&mut self, lowerer: &mut Lowerer<'_>, condition: ExprId, name: &str) -> Formula {
        let condition = match self.initialised {
            Some(initialised) => lowerer.and(initialised, condition),
            None => condition,
        };
        self.plain_atom(condition, name)
    }
    fn plain_atom(&mut self, condition: ExprId, name: &str) -> Formula {
        let number = self.conditions.iter().position(|known| *known == condition).unwrap_or_else(|| {
            self.conditions.push(condition);
            self.names.push(name.to_owned());
            self.conditions.len() - 1
        });
        self.pool.atom(Atom(number as u32))
    }
    fn initialised(&mut self) -> Option<Formula> {
        let condition = self.initialised?;
        Some(self.plain_atom(condition, "initialised"))
    }
}

impl TemporalFormula {
    fn has_past(&self) -> bool {
        let mut pending = vec![self.tree.root()];
        while let Some(part) = pending.pop() {
            match &self.tree.node(part).kind {
                SyntaxKind::Constant(_) | SyntaxKind::Atom => {}
                SyntaxKind::Unary(operator, operand) => {
                    if matches!(operator, Unary::Yesterday | Unary::WeakYesterday | Unary::Once | Unary::Historically) {
                        return true;
                    }
                    pending.push(*operand);
                }
                SyntaxKind::Binary(operator, left, right) => {
                    if matches!(operator, Binary::Since | Binary::Triggered) {
                        return true;
                    }
                    pending.extend([*left, *right]);
                }
                SyntaxKind::Path(_, operand) => pending.push(*operand),
                SyntaxKind::Quantified(quantified) => pending.push(quantified.body),
            }
        }
        false
    }
}

/// The body of an operation under a further condition on its parameters.
fn with_condition(body: &Substitution, more: &Expr) -> Substitution {
    let both = |condition: &Expr| {
        Expr::operation(Operator::And, vec![more.clone(), condition.clone()], Type::Predicate, condition.span)
    };
    let kind = match &body.kind {
        SubstitutionKind::Guard(condition, inner) => SubstitutionKind::Guard(both(condition), inner.clone()),
        SubstitutionKind::Any(symbols, condition, inner) => {
            SubstitutionKind::Any(symbols.clone(), both(condition), inner.clone())
        }
        SubstitutionKind::Select(branches, None) => {
            let branches = branches.iter().map(|(condition, inner)| (both(condition), inner.clone())).collect();
            SubstitutionKind::Select(branches, None)
        }
        _ => SubstitutionKind::Guard(more.clone(), Box::new(body.clone())),
    };
    Substitution { kind, span: body.span }
}

/// Whether a statement has an assumption in it.
fn has_assumption(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Assume(_) => true,
        StatementKind::If { branches, otherwise } => {
            branches.iter().flat_map(|(_, body)| body).chain(otherwise).any(has_assumption)
        }
        StatementKind::While { body, .. } | StatementKind::For { body, .. } => body.iter().any(has_assumption),
        _ => false,
    }
}
