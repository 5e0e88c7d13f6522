//! From the net to the model.
//!
//! A place is a variable that counts tokens: a number if all tokens are alike, otherwise an array of numbers with an index
//! for each component of its tokens. Classes are ranges of numbers, so that nothing but the text itself distinguishes their
//! values. A transition is a rule with its variables as parameters. Counters range from 0 to a bound that follows from the
//! net (`bounds`, then `coverability`); where none does, a bound is assumed, and a step beyond it makes the result unknown.

mod bounds;
mod coverability;
mod description;
mod formulas;
mod goals;
mod rules;
mod tables;
mod unfolding;
mod weights;

use quotient_covering::Goal;
use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, FunctionId, Iteration, Local, LocalId, LocalKind, Model, Parameter,
    Place, PlaceId, PropertyId, Quantifier, Root, Source, Span, Start, Statement, StatementKind, Step, Table, Type,
    TypeId, TypeKind, VariableId,
};
use quotient_kit::Building;
use quotient_kit::joined;
use rustc_hash::FxHashMap;

use crate::net::{ClassId, DOT, MOST_CELLS, Net};
use crate::net::{Comparison, Condition, Factor, Term, Value};
use crate::xml::Element;
use coverability::Coverability;
use tables::Tables;
use unfolding::{Binding, Firing, named_by, tokens};

/// The bound that is assumed where none follows, and the text does not say that the net is safe.
pub(super) const ASSUMED_BOUND: i64 = 255;

/// More names than this are counted in a message.
const LISTED: usize = 12;

/// Lowers a net with the properties of further files. Returns a model if there is no error.
pub(super) fn lower(
    source: &Source,
    net: &Net,
    properties: &[Element],
    assumed: i64,
) -> (Option<Model>, Vec<Diagnostic>) {
    let mut lowering = Lowering {
        model: Model::new(source.clone()),
        net,
        diagnostics: Vec::new(),
        class_types: Vec::new(),
        array_types: FxHashMap::default(),
        places: Vec::new(),
        bounds: Vec::new(),
        sums: vec![None; net.places.len()],
        ways: Vec::new(),
        coverability: None,
        goals: Vec::new(),
        assumed,
    };
    lowering.split();
    lowering.declare();
    lowering.start();
    lowering.rules();
    lowering.property_sets(properties);
    lowering.describe();
    let Lowering { model, diagnostics, .. } = lowering;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return (None, diagnostics);
    }
    debug_assert_eq!(quotient_ir::verify(&model), Ok(()), "the lowering makes well-formed models");
    (Some(model), diagnostics)
}

/// The model under construction.
struct Lowering<'n> {
    model: Model,
    net: &'n Net,
    diagnostics: Vec<Diagnostic>,
    /// The type of each class; none for black tokens.
    class_types: Vec<Option<TypeId>>,
    array_types: FxHashMap<(TypeId, TypeId), TypeId>,
    /// The variable of each place.
    places: Vec<VariableId>,
    /// The bound of each place that follows from the net.
    bounds: Vec<Option<i64>>,
    /// The function that sums up the tokens of a place, if a formula needs it.
    sums: Vec<Option<FunctionId>>,
    /// For each transition the values of some of its variables, each of which is a rule.
    ways: Vec<Vec<Binding>>,
    /// Which numbers of tokens can be reached or exceeded, if a place is unbounded and this is known.
    coverability: Option<Coverability>,
    /// What decides properties if it is reached.
    goals: Vec<(PropertyId, Goal)>,
    assumed: i64,
}

/// The locals of a rule, a start or a property, and what its variables are.
#[derive(Clone, Default)]
struct Scope {
    locals: Table<LocalId, Local>,
    /// The local of each component of a variable of the net.
    variables: FxHashMap<(usize, usize), LocalId>,
    /// The values of components that are no locals.
    fixed: Binding,
}

/// A position of an index: a value, or what a loop counts.
#[derive(Clone, Copy)]
struct Index(ExprId);

impl Building for Lowering<'_> {
    fn model(&self) -> &Model {
        &self.model
    }

    fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// A conjunction, without what is always true.
    fn all(&mut self, parts: impl IntoIterator<Item = ExprId>) -> ExprId {
        let truth = self.truth(true);
        let parts: Vec<ExprId> = parts.into_iter().filter(|&part| part != truth).collect();
        joined(parts, |left, right| self.binary(BinaryOperator::And, left, right)).unwrap_or(truth)
    }

    /// A disjunction, without what is never true.
    fn any(&mut self, parts: impl IntoIterator<Item = ExprId>) -> ExprId {
        let never = self.truth(false);
        let parts: Vec<ExprId> = parts.into_iter().filter(|&part| part != never).collect();
        joined(parts, |left, right| self.binary(BinaryOperator::Or, left, right)).unwrap_or(never)
    }
}

impl Lowering<'_> {
    fn declare(&mut self) {
        for (number, class) in self.net.classes.iter().enumerate() {
            if number == DOT {
                self.class_types.push(None);
                continue;
            }
            let kind = TypeKind::Range { low: class.first, high: class.last() };
            let ty = self.model.types.push(Type { name: Some(class.name.clone()), kind });
            let is_plain = class.members.iter().enumerate().all(|(value, name)| *name == value.to_string());
            if !is_plain {
                let names = class.members.iter().enumerate().map(|(value, name)| (value as i64, name.clone()));
                self.model.value_names.insert(ty, names.collect());
            }
            self.class_types.push(Some(ty));
        }
        self.bounds = bounds::bounds(self.net);
        self.cover();
        let mut counters: FxHashMap<i64, TypeId> = FxHashMap::default();
        let net = self.net;
        for (number, place) in net.places.iter().enumerate() {
            let marked = place.marking.iter().map(|term| term.coefficient).sum::<i64>().max(1);
            let high = self.bounds[number].unwrap_or(self.assumed.max(marked)).max(1);
            let counter = *counters.entry(high).or_insert_with(|| {
                let ty = self.model.types.push(Type { name: None, kind: TypeKind::Range { low: 0, high } });
                self.model.amounts.push(ty);
                ty
            });
            let indices: Vec<TypeId> = place.domain.iter().filter_map(|&class| self.class_types[class]).collect();
            let ty = indices.iter().rev().fold(counter, |element, &index| self.array_type(index, element));
            let (name, span) = (place.name.clone(), place.span);
            let variable = quotient_ir::Variable { name, ty, may_be_undefined: false, span };
            self.places.push(self.model.variables.push(variable));
        }
    }

    /// Finds the bounds of places for which none follows from the marking equation, and says which places are unbounded.
    fn cover(&mut self) {
        let net = self.net;
        if self.bounds.iter().all(Option::is_some) {
            return;
        }
        let Some(found) = coverability::coverability(net) else { return };
        for (bound, exact) in self.bounds.iter_mut().zip(&found.bounds) {
            *bound = exact.or(*bound);
        }
        let Some(pump) = &found.pump else { return };
        let place = &net.places[pump.place];
        let names = |firings: &[Firing]| -> String {
            let shown = firings.iter().take(LISTED).map(|firing| format!("`{}`", firing.text(net)));
            let more = firings.len().saturating_sub(LISTED);
            let more = (more > 0).then(|| format!("{more} more"));
            shown.chain(more).collect::<Vec<_>>().join(", ")
        };
        let after = if pump.before.is_empty() { String::new() } else { format!("after {}, ", names(&pump.before)) };
        let message = format!("`{}` is unbounded: {after}repeat {}", place.name, names(&pump.repeated));
        let others: Vec<String> = (0..net.places.len())
            .filter(|&other| other != pump.place && found.bounds[other].is_none())
            .map(|other| format!("`{}`", net.places[other].name))
            .collect();
        let also = match others.len() {
            0 => String::new(),
            1..=LISTED => format!("; also unbounded: {}", others.join(", ")),
            more => format!("; also unbounded: {} and {} more", others[..LISTED].join(", "), more - LISTED),
        };
        let assumed = self.assumed;
        let tokens = if assumed == 1 { "token" } else { "tokens" };
        let warning = Diagnostic::warning("unbounded-place", message, place.span);
        self.diagnostics.push(warning.with_help(format!(
            "the number of markings is infinite; searched as far as no place holds more than {assumed} {tokens} (`-D tokens=N` for another number){also}"
        )));
        self.coverability = Some(found);
    }

    fn array_type(&mut self, index: TypeId, element: TypeId) -> TypeId {
        let types = &mut self.model.types;
        *self
            .array_types
            .entry((index, element))
            .or_insert_with(|| types.push(Type { name: None, kind: TypeKind::Array { index, element } }))
    }

    /// The initial marking.
    fn start(&mut self) {
        let mut scope = Scope::default();
        let mut body = Vec::new();
        let net = self.net;
        for (number, place) in net.places.iter().enumerate() {
            let is_negative = place.marking.iter().any(|term| term.coefficient < 0);
            let terms = if is_negative { self.evaluated(number, &place.marking) } else { place.marking.clone() };
            for term in &terms {
                self.change(&mut scope, number, term, 1, place.span, &mut body);
            }
        }
        let (name, locals, span) = (Some("initial marking".to_owned()), scope.locals, net.span);
        self.model.starts.push(Start { name, parameters: Vec::new(), locals, body, span });
    }

    /// A closed multiset with subtractions, token by token.
    fn evaluated(&mut self, place: usize, terms: &[Term]) -> Vec<Term> {
        let (net, domain) = (self.net, &self.net.places[place].domain);
        let named: usize = terms.iter().map(|term| named_by(net, domain, term)).fold(0, usize::saturating_add);
        let counts = Some(named).filter(|&named| named <= MOST_CELLS);
        let Some(counts) = counts.and_then(|_| tokens(net, domain, terms, &Default::default())) else {
            let entry = &net.places[place];
            let message = format!("the initial marking of `{}` names more than {MOST_CELLS} tokens", entry.name);
            let error = Diagnostic::error("too-large", message, entry.span);
            self.diagnostics.push(error.with_help("subtract from fewer tokens"));
            return Vec::new();
        };
        if counts.values().any(|&count| count < 0) {
            let entry = &net.places[place];
            let message = format!("the initial marking of `{}` has less than no token of a colour", entry.name);
            let error = Diagnostic::error("negative-marking", message, entry.span);
            self.diagnostics.push(error.with_help("subtract only what is there"));
            return Vec::new();
        }
        let term = |(token, coefficient): (Vec<i64>, i64)| {
            let factors = token.into_iter().map(|value| Factor::One(Value::Constant(value))).collect();
            Term { coefficient, factors }
        };
        counts.into_iter().filter(|(_, count)| *count > 0).map(term).collect()
    }

    /// The statements that add tokens (`sign` 1) or take them away (`sign` -1).
    fn change(
        &mut self,
        scope: &mut Scope,
        place: usize,
        term: &Term,
        sign: i64,
        span: Span,
        body: &mut Vec<Statement>,
    ) {
        let (cell, loops) = self.cell(scope, place, &term.factors);
        let value = self.read(cell);
        let coefficient = self.number(term.coefficient);
        let operator = if sign > 0 { BinaryOperator::Add } else { BinaryOperator::Subtract };
        let value = self.binary(operator, value, coefficient);
        let mut statements = Vec::new();
        if sign > 0 {
            self.require(place, value, span, &mut statements);
        }
        statements.push(Statement { kind: StatementKind::Assign { target: cell, value }, span });
        body.extend(in_loops(statements, &loops, span));
    }

    /// Where a bound is only assumed, a greater number makes the result unknown.
    fn require(&mut self, place: usize, value: ExprId, span: Span, statements: &mut Vec<Statement>) {
        if self.bounds[place].is_some() {
            return;
        }
        let ty = self.counter_type(place);
        let TypeKind::Range { high, .. } = self.model.types[ty].kind else { return };
        let limit = self.number(high);
        let condition = self.binary(BinaryOperator::LessOrEqual, value, limit);
        let name = &self.net.places[place].name;
        let tokens = if high == 1 { "token" } else { "tokens" };
        let message = format!("`{name}` would hold more than {high} {tokens}, which is the bound assumed for it");
        statements.push(Statement { kind: StatementKind::Require { condition, message }, span });
    }

    fn counter_type(&self, place: usize) -> TypeId {
        let mut ty = self.model.variables[self.places[place]].ty;
        while let TypeKind::Array { element, .. } = self.model.types[ty].kind {
            ty = element;
        }
        ty
    }

    /// The cell of a token. Components that may be any value are counted by loops.
    fn cell(&mut self, scope: &mut Scope, place: usize, factors: &[Factor]) -> (PlaceId, Vec<(LocalId, TypeId)>) {
        let domain = &self.net.places[place].domain;
        let mut indices = Vec::new();
        let mut loops = Vec::new();
        for (factor, &class) in factors.iter().zip(domain) {
            let Some(ty) = self.class_types[class] else { continue };
            let index = match factor {
                Factor::One(value) => self.value(scope, value),
                Factor::All => {
                    let local = self.loop_local(scope, class, ty, loops.len());
                    loops.push((local, ty));
                    self.local(scope, local)
                }
            };
            indices.push(Index(index));
        }
        (self.indexed(place, &indices), loops)
    }

    /// A variable for a loop or a quantifier. Those of one depth and class share one.
    fn loop_local(&mut self, scope: &mut Scope, class: ClassId, ty: TypeId, depth: usize) -> LocalId {
        let name = format!("any {} {}", self.net.classes[class].name, depth + 1);
        let known = scope.locals.iter_enumerated().find(|(_, local)| local.name == name && local.ty == ty);
        if let Some((local, _)) = known {
            return local;
        }
        scope.locals.push(Local { name, ty, kind: LocalKind::Parameter, span: Span::default() })
    }

    fn indexed(&mut self, place: usize, indices: &[Index]) -> PlaceId {
        let ty = self.counter_type(place);
        let steps = indices.iter().map(|index| Step::Index(index.0)).collect();
        self.model.pool.place(Place { root: Root::Variable(self.places[place]), steps, ty })
    }

    fn local(&mut self, scope: &Scope, local: LocalId) -> ExprId {
        let ty = scope.locals[local].ty;
        let place = self.model.pool.place(Place { root: Root::Local(local), steps: Vec::new(), ty });
        self.read(place)
    }

    fn value(&mut self, scope: &Scope, value: &Value) -> ExprId {
        match value {
            Value::Constant(number) => self.number(*number),
            Value::Variable { variable, component } => match scope.variables.get(&(*variable, *component)) {
                Some(&local) => self.local(scope, local),
                // A component of the class of black tokens has no value of its own.
                None => self.number(scope.fixed.get(&(*variable, *component)).copied().unwrap_or(0)),
            },
            Value::Shifted { of, by, class } => {
                let (first, last) = (self.net.classes[*class].first, self.net.classes[*class].last());
                let of = self.value(scope, of);
                let (end, other) = if *by > 0 { (last, first) } else { (first, last) };
                let (end, other, one) = (self.number(end), self.number(other), self.number(1));
                let operator = if *by > 0 { BinaryOperator::Add } else { BinaryOperator::Subtract };
                let (condition, next) = (self.binary(BinaryOperator::Equal, of, end), self.binary(operator, of, one));
                self.conditional(condition, other, next)
            }
            Value::Part { of, partition } => {
                let net = self.net;
                let of = self.value(scope, of);
                let mut result = self.number(0);
                for (number, values) in net.partitions[*partition].parts.iter().enumerate().skip(1) {
                    let is_in = values.iter().fold(None, |known: Option<ExprId>, &value| {
                        let value = self.number(value);
                        let is_it = self.binary(BinaryOperator::Equal, of, value);
                        Some(known.map_or(is_it, |known| self.binary(BinaryOperator::Or, known, is_it)))
                    });
                    let Some(is_in) = is_in else { continue };
                    let number = self.number(number as i64);
                    result = self.conditional(is_in, number, result);
                }
                result
            }
        }
    }

    fn condition(&mut self, scope: &Scope, condition: &Condition) -> ExprId {
        match condition {
            Condition::Constant(value) => self.truth(*value),
            Condition::Not(of) => {
                let operand = self.condition(scope, of);
                self.not(operand)
            }
            Condition::And(parts) => {
                let parts: Vec<ExprId> = parts.iter().map(|part| self.condition(scope, part)).collect();
                self.all(parts)
            }
            Condition::Or(parts) => {
                let parts: Vec<ExprId> = parts.iter().map(|part| self.condition(scope, part)).collect();
                self.any(parts)
            }
            Condition::Differ(left, right) => {
                let (left, right) = (self.condition(scope, left), self.condition(scope, right));
                self.binary(BinaryOperator::NotEqual, left, right)
            }
            Condition::Compare(comparison, left, right) => {
                let (left, right) = (self.value(scope, left), self.value(scope, right));
                let operator = match comparison {
                    Comparison::Equal => BinaryOperator::Equal,
                    Comparison::NotEqual => BinaryOperator::NotEqual,
                    Comparison::Less => BinaryOperator::Less,
                    Comparison::LessOrEqual => BinaryOperator::LessOrEqual,
                    Comparison::Greater => BinaryOperator::Greater,
                    Comparison::GreaterOrEqual => BinaryOperator::GreaterOrEqual,
                };
                self.binary(operator, left, right)
            }
        }
    }

    fn quantified(&mut self, quantifier: Quantifier, (local, ty): (LocalId, TypeId), body: ExprId) -> ExprId {
        self.model.pool.expression(Expr::Quantified { quantifier, local, range: Iteration::Over(ty), body })
    }
    /// A local for each component of the variables that has no fixed value, as parameters.
    fn parameters(&mut self, scope: &mut Scope, variables: &[usize]) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for &variable in variables {
            let entry = &self.net.variables[variable];
            for (component, &class) in entry.classes.iter().enumerate() {
                let Some(ty) = self.class_types[class] else { continue };
                if scope.fixed.contains_key(&(variable, component)) {
                    continue;
                }
                let name = match entry.classes.len() {
                    1 => entry.name.clone(),
                    _ => format!("{}.{}", entry.name, component + 1),
                };
                let local = scope.locals.push(Local { name, ty, kind: LocalKind::Parameter, span: entry.span });
                scope.variables.insert((variable, component), local);
                parameters.push(Parameter { local, range: Iteration::Over(ty) });
            }
        }
        parameters
    }
}

/// Statements for each value of the loops.
fn in_loops(statements: Vec<Statement>, loops: &[(LocalId, TypeId)], span: Span) -> Vec<Statement> {
    loops.iter().rev().fold(statements, |body, &(local, ty)| {
        vec![Statement { kind: StatementKind::For { local, range: Iteration::Over(ty), body }, span }]
    })
}
