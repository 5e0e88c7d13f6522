//! The whole machine: stages, constants, initialisation, operations, claims.

use std::rc::Rc;

use quotient_ir::{
    Diagnostic, Expr as IrExpr, ExprId, Fairness, Model, Property, PropertyId, PropertyKind, Rule, Source, Span, Start,
    Statement, StatementKind, Type as IrType, TypeId, TypeKind, Variable, VariableId,
};
use quotient_kit::Building;

use super::super::core::{Claim, Core, Operation, Substitution, SubstitutionKind, SymbolId};
use super::super::evaluation::Value;
use super::super::settings::Settings;
use super::super::types::Types;
use super::items::{Environment, Item, bind};
use super::paths::{Path, Writes};
use super::shapes::{Scalar, Shape};
use super::storage::{Complaint, NewValue};
use super::{Lowered, Lowerer, Owner};

/// The variable that distinguishes the root, the valuations of the constants and the states of the machine.
struct Stage {
    variable: VariableId,
    ty: TypeId,
    last: i64,
}

/// Lowers a machine, given all valuations of its constants.
pub(crate) fn lower(
    source: Source,
    core: &Core,
    types: &Types,
    settings: &Settings,
    solutions: &[Vec<Value>],
) -> (Option<Model>, Vec<Diagnostic>) {
    let mut lowerer = Lowerer::new(source, core, types, settings);
    let result = lowerer.machine(solutions);
    if let Err(diagnostic) = result {
        lowerer.diagnostics.push(*diagnostic);
    }
    let failed = lowerer.diagnostics.iter().any(Diagnostic::is_error);
    let model = (!failed).then_some(lowerer.model);
    debug_assert!(
        model.as_ref().is_none_or(|model| quotient_ir::verify(model).is_ok()),
        "the lowering makes well-formed models: {:?}",
        model.as_ref().map(quotient_ir::verify)
    );
    (model, lowerer.diagnostics)
}

impl Lowerer<'_> {
    fn machine(&mut self, solutions: &[Vec<Value>]) -> Lowered<()> {
        // ProB sets up constants if there are properties, too.
        let has_constants =
            !self.core.constants.is_empty() || !self.core.properties.is_empty() || self.core.has_inlined_constants;
        let stage = self.settings.extra_nodes.then(|| self.declare_stage(has_constants));
        let constants = self.declare_constants(solutions)?;
        let variables = self.declare_variables(&constants)?;
        self.declare_operations(stage.as_ref().map(|stage| (stage.variable, stage.ty)));
        let parts = self.core.initialisation.clone();
        let span = parts.first().map_or(Span::default(), |part| part.span);
        let initialisation = Substitution { kind: SubstitutionKind::Sequence(parts), span };
        let paths = match self.initial_paths(&initialisation, &constants) {
            Ok(paths) => paths,
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                Vec::new()
            }
        };
        match &stage {
            Some(stage) => {
                self.model.starts.push(Start {
                    name: Some("root".into()),
                    parameters: Vec::new(),
                    locals: Owner::default().locals,
                    body: Vec::new(),
                    span,
                });
                if has_constants {
                    for solution in solutions {
                        self.constants_rule(stage, solution, span)?;
                    }
                }
                for (path, writes) in paths {
                    let stages = Some((stage, i64::from(has_constants), stage.last));
                    self.rule(None, path, &writes, &constants, stages, span)?;
                }
            }
            None => {
                for solution in solutions {
                    for (path, writes) in &paths {
                        self.start(path.clone(), writes, &constants, solution, span)?;
                    }
                }
            }
        }
        for operation in &self.core.operations {
            if let Err(diagnostic) = self.operation(operation, &variables, stage.as_ref()) {
                self.diagnostics.push(*diagnostic);
            }
        }
        let (core, stage) = (self.core, stage.as_ref());
        // The invariant comes first: its conjuncts are properties in this order, as `storage` counts them.
        self.claims(&core.invariant, PropertyKind::Invariant, &variables, stage);
        self.model.assertions = self.claims(&core.assertions, PropertyKind::Invariant, &variables, stage);
        self.claims(core.goal.as_slice(), PropertyKind::Cover, &variables, stage);
        let initialised = stage.map(|stage| self.in_stage(stage, stage.last));
        if let Some((symbol, value)) = &core.watched {
            let mentions = |symbols: &[SymbolId]| symbols.iter().any(|symbol| value.mentions(*symbol));
            let has_value = match stage {
                Some(_) if mentions(&core.variables) => initialised,
                Some(stage) if mentions(&core.constants) => {
                    let at_root = self.in_stage(stage, 0);
                    Some(self.not(at_root))
                }
                _ => None,
            };
            self.watched(*symbol, value, &variables, has_value)?;
        }
        self.temporal_formulas(&variables, initialised);
        self.add_remarks();
        Ok(())
    }

    fn declare_stage(&mut self, has_constants: bool) -> Stage {
        let mut members = vec!["uninitialised".to_owned()];
        if has_constants {
            members.push("constants_set".into());
        }
        members.push("initialised".into());
        let last = members.len() as i64 - 1;
        // A separate range of numbers, after those of the given sets.
        let first = self.model.types.iter().filter_map(|ty| match &ty.kind {
            TypeKind::Enumeration { first, members } => Some(first + members.len() as i64),
            _ => None,
        });
        let first = first.max().unwrap_or(0);
        let ty = self
            .model
            .types
            .push(IrType { name: Some("stage".into()), kind: TypeKind::Enumeration { first, members } });
        let variable = self.model.variables.push(Variable {
            name: "stage".into(),
            ty,
            may_be_undefined: false,
            span: Span::default(),
        });
        Stage { variable, ty, last }
    }

    fn stage_constant(&mut self, stage: &Stage, position: i64) -> ExprId {
        let value = self.model.domain(stage.ty).least() + position;
        self.expression(IrExpr::Constant { value, ty: stage.ty })
    }

    fn in_stage(&mut self, stage: &Stage, position: i64) -> ExprId {
        let place = self.variable_place(stage.variable);
        let (current, wanted) = (self.read(place), self.stage_constant(stage, position));
        self.equal(current, wanted)
    }

    fn set_stage(&mut self, stage: &Stage, position: i64, span: Span) -> Statement {
        let target = self.variable_place(stage.variable);
        let value = self.stage_constant(stage, position);
        Self::statement(StatementKind::Assign { target, value }, span)
    }

    fn constant_statements(&mut self, solution: &[Value], span: Span) -> Lowered<Vec<Statement>> {
        let mut statements = Vec::new();
        for (symbol, value) in self.core.constants.iter().zip(solution) {
            if let Some((variable, shape)) = self.stored.get(symbol).cloned() {
                let place = self.variable_place(variable);
                self.store_value(value, place, &shape, span, &mut statements)?;
            }
        }
        Ok(statements)
    }

    /// The rule for one valuation of the constants.
    fn constants_rule(&mut self, stage: &Stage, solution: &[Value], span: Span) -> Lowered<()> {
        let outer = std::mem::take(&mut self.owner);
        let body = self.constant_statements(solution, span);
        let Owner { locals, .. } = std::mem::replace(&mut self.owner, outer);
        let mut body = body?;
        body.push(self.set_stage(stage, 1, span));
        let values: Vec<String> = self
            .core
            .constants
            .iter()
            .zip(solution)
            .map(|(symbol, value)| format!("{}={}", self.core.symbols[symbol.0].name, self.value_text(value)))
            .collect();
        let name = if values.is_empty() {
            "SETUP_CONSTANTS".to_owned()
        } else {
            format!("SETUP_CONSTANTS({})", values.join(", "))
        };
        self.note_call(&name, None);
        let guard = self.in_stage(stage, 0);
        self.model.rules.push(Rule {
            name: Some(name),
            owner: quotient_ir::Owner::None,
            fairness: Fairness::None,
            parameters: Vec::new(),
            locals,
            guard,
            body,
            span,
        });
        Ok(())
    }

    fn initial_paths(
        &mut self,
        initialisation: &Substitution,
        environment: &Environment,
    ) -> Lowered<Vec<(Path, Writes)>> {
        let paths = self.run(initialisation, environment, true, Path::default())?;
        for (_, writes) in &paths {
            for symbol in &self.core.variables {
                if !writes.iter().any(|(it, _)| it == symbol) {
                    let entry = &self.core.symbols[symbol.0];
                    let diagnostic = Diagnostic::error(
                        "not-initialised",
                        format!("`{}` is not initialised", entry.name),
                        entry.span,
                    )
                    .with_secondary(initialisation.span, "the initialisation")
                    .with_help("give it a value in the INITIALISATION");
                    return Err(Box::new(diagnostic));
                }
            }
        }
        Ok(paths)
    }

    /// The statements that store the computed values of a path in the state.
    fn commit(&mut self, path: &mut Path, writes: &Writes, before: &Environment, span: Span) -> Lowered<()> {
        let after = writes.iter().fold(Rc::clone(before), |after, (symbol, item)| bind(&after, *symbol, item.clone()));
        self.in_path(path, |lowerer, path| {
            let many = writes.len() > 1;
            let mut changes = Vec::new();
            for (symbol, item) in writes {
                let Some((variable, shape)) = lowerer.stored.get(symbol).cloned() else {
                    // An output: evaluated so that errors in it are found.
                    if let Item::Scalar(value, scalar) = item {
                        if !matches!(lowerer.model.pool[*value], IrExpr::Constant { .. } | IrExpr::Read(_)) {
                            let name = lowerer.core.symbols[symbol.0].name.to_string();
                            let local = lowerer.temporary(&name, &Shape::Scalar(*scalar));
                            let target = lowerer.local_place(local);
                            path.statements
                                .push(Self::statement(StatementKind::Assign { target, value: *value }, span));
                        }
                    } else if let Ok(same) = lowerer.same(item, item)
                        && lowerer.may_fail(same)
                    {
                        // Membership in a set is evaluated member by member; comparing it with itself evaluates all of
                        // them.
                        let branches = vec![(same, Vec::new())];
                        path.statements
                            .push(Self::statement(StatementKind::If { branches, otherwise: Vec::new() }, span));
                    }
                    continue;
                };
                let target = lowerer.variable_place(variable);
                let new = NewValue { item: None, environment: Rc::clone(&after), is_complete: true };
                let what = Complaint { symbol: *symbol, new: Some(new) };
                let fits = |bounds: &Scalar| matches!(&shape, Shape::Scalar(scalar) if bounds.is_within(*scalar));
                let item = match item {
                    Item::Scalar(value, bounds) if many && (lowerer.constant_of(*value).is_none() || !fits(bounds)) => {
                        // Other substitutions may read what this one changes, and so may the conditions evaluated for a
                        // value that does not fit.
                        let name = format!("next_{}", lowerer.model.variables[variable].name);
                        let local = lowerer.temporary(&name, &shape);
                        let place = lowerer.local_place(local);
                        lowerer.store(item, place, &shape, &what, span, &mut path.statements)?;
                        lowerer.stored_item(place, &shape)
                    }
                    other => other.clone(),
                };
                if lowerer.total.contains(&variable) {
                    lowerer.require_total(&item, &shape, &what, span, &mut path.statements)?;
                }
                lowerer.store(&item, target, &shape, &what, span, &mut changes)?;
            }
            path.statements.extend(changes);
            Ok(())
        })
    }

    /// A rule for a path of an operation, or of the initialisation, from one stage to another.
    fn rule(
        &mut self,
        operation: Option<&Operation>,
        mut path: Path,
        writes: &Writes,
        before: &Environment,
        stages: Option<(&Stage, i64, i64)>,
        span: Span,
    ) -> Lowered<()> {
        let call = operation.map(|operation| self.operation_call(operation, &path, writes));
        self.commit(&mut path, writes, before, span)?;
        let mut guard = match stages {
            Some((stage, from, _)) => self.in_stage(stage, from),
            None => self.truth(true),
        };
        self.note_doubts(&path, guard, &path.statements);
        // Conditions on the parameters alone come first: most instances go no further.
        let (fixed, open): (Vec<ExprId>, Vec<ExprId>) =
            path.guards.iter().partition(|condition| self.is_fixed(**condition) && !self.may_fail(**condition));
        for condition in fixed.into_iter().chain(open) {
            guard = self.and(guard, condition);
        }
        if self.constant_of(guard) == Some(0) {
            return Ok(());
        }
        let values = self.chosen_values(&path);
        let mut body = path.statements;
        if let Some((stage, from, to)) = stages
            && from != to
        {
            body.push(self.set_stage(stage, to, span));
        }
        let name = operation.map_or("INITIALISATION", |operation| &operation.name);
        self.note_call(name, call);
        let name = if values.is_empty() { name.to_owned() } else { format!("{name}({})", values.join(", ")) };
        let Owner { locals, parameters } = path.owner;
        self.model.rules.push(Rule {
            name: Some(name),
            owner: quotient_ir::Owner::None,
            fairness: Fairness::None,
            parameters,
            locals,
            guard,
            body,
            span,
        });
        Ok(())
    }

    /// An initial state without the root before it.
    fn start(
        &mut self,
        mut path: Path,
        writes: &Writes,
        before: &Environment,
        solution: &[Value],
        span: Span,
    ) -> Lowered<()> {
        self.commit(&mut path, writes, before, span)?;
        // The variables these loop over are locals of the start, too.
        let mut body = self.in_path(&mut path, |lowerer, _| lowerer.constant_statements(solution, span))?;
        body.extend(path.guards.iter().map(|guard| Self::statement(StatementKind::Assume(*guard), span)));
        body.extend(path.statements);
        let Owner { locals, parameters } = path.owner;
        self.model.starts.push(Start { name: Some("INITIALISATION".into()), parameters, locals, body, span });
        Ok(())
    }

    fn operation(&mut self, operation: &Operation, environment: &Environment, stage: Option<&Stage>) -> Lowered<()> {
        let body = with_parameters(operation);
        let stages = stage.map(|stage| (stage, stage.last, stage.last));
        for (path, writes) in self.run(&body, environment, true, Path::default())? {
            self.rule(Some(operation), path, &writes, environment, stages, operation.span)?;
        }
        Ok(())
    }

    /// Lowers claims of one kind; returns the resulting properties.
    fn claims(
        &mut self,
        claims: &[Claim],
        kind: PropertyKind,
        environment: &Environment,
        stage: Option<&Stage>,
    ) -> Vec<PropertyId> {
        let mut properties = Vec::new();
        for claim in claims {
            match self.claim(claim, kind, environment, stage) {
                Ok(property) => properties.push(property),
                Err(diagnostic) => self.diagnostics.push(*diagnostic),
            }
        }
        properties
    }

    fn claim(
        &mut self,
        claim: &Claim,
        kind: PropertyKind,
        environment: &Environment,
        stage: Option<&Stage>,
    ) -> Lowered<PropertyId> {
        self.owner = Owner::default();
        let mut condition = self.predicate(&claim.condition, environment)?;
        if let Some(stage) = stage {
            let initialised = self.in_stage(stage, stage.last);
            condition = if kind == PropertyKind::Cover {
                self.and(initialised, condition)
            } else {
                self.implies(initialised, condition)
            };
        }
        let Owner { locals, .. } = std::mem::take(&mut self.owner);
        Ok(self.model.properties.push(Property {
            name: Some(claim.name.clone()),
            kind,
            parameters: Vec::new(),
            locals,
            formula: condition.into(),
            span: claim.condition.span,
        }))
    }
}

/// The body of an operation with its parameters chosen where their bounds are known: together with the precondition or
/// guard that mentions them.
pub(super) fn with_parameters(operation: &Operation) -> Substitution {
    let (symbols, body) = (&operation.parameters, &operation.body);
    if symbols.is_empty() {
        return body.clone();
    }
    choose(symbols, body)
}

fn choose(symbols: &[super::super::core::SymbolId], body: &Substitution) -> Substitution {
    use super::super::core::Expr;
    let span = body.span;
    let kind = match &body.kind {
        SubstitutionKind::Guard(condition, inner) => {
            SubstitutionKind::Any(symbols.to_vec(), condition.clone(), inner.clone())
        }
        SubstitutionKind::Select(branches, otherwise) if otherwise.is_none() => SubstitutionKind::Choice(
            branches
                .iter()
                .map(|(condition, inner)| Substitution {
                    kind: SubstitutionKind::Any(symbols.to_vec(), condition.clone(), Box::new(inner.clone())),
                    span: inner.span,
                })
                .collect(),
        ),
        SubstitutionKind::Any(more, condition, inner) => {
            let all = symbols.iter().chain(more).copied().collect();
            SubstitutionKind::Any(all, condition.clone(), inner.clone())
        }
        _ => SubstitutionKind::Any(symbols.to_vec(), Expr::truth(true, span), Box::new(body.clone())),
    };
    Substitution { kind, span }
}
