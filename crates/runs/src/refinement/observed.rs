//! The model in which the symmetries of a claim about events are found: one that remembers its last event.
//!
//! Each rule also writes its event to variables that nothing reads. So a symmetry of this model permutes events, too: it
//! maps steps to steps whose events are renamed by one permutation, in the process and in the specification alike. If
//! both sides do not follow the same renaming, it is not a symmetry. Properties pin internal steps, termination, and
//! which process a start begins. Detection and certification see an ordinary model.
//!
//! An event whose values are constants in all rules is one value of the variable `event`, so that any permutation of
//! such events may be found. If values of an event depend on the state, each has a variable of its own.

use quotient_ir::{
    Behaviour, BehaviourClaim, BinaryOperator, EventLabel, Expr, ExprId, Formula, Layout, Model, Place, PlaceId,
    Property, PropertyId, PropertyKind, Root, RuleId, Span, StartId, Statement, StatementKind, TERMINATION_EVENT,
    Table, TableIndex, Type, TypeKind, Variable, VariableId, event_text,
};
use rustc_hash::FxHashMap;

use quotient_graphs::without_claims;

/// A model that remembers its last event.
#[derive(Debug)]
pub(crate) struct ObservedModel {
    /// The model. Its first variables are those of the original; it has only the starts that the claim is about.
    pub(crate) model: Model,
    pub(crate) layout: Layout,
    /// What symmetries must preserve.
    pub(crate) pins: Vec<PropertyId>,
}

/// A value of the variable `event`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Last {
    Start(StartId),
    Nothing,
    Internal,
    /// An event with its values.
    Whole(String),
    /// A name and the number of values, which are in variables of their own.
    Shape(String, usize),
}

impl Last {
    /// Whether symmetries must not rename it.
    fn is_pinned(&self) -> bool {
        match self {
            Self::Start(_) | Self::Nothing | Self::Internal => true,
            Self::Whole(text) => text == TERMINATION_EVENT,
            Self::Shape(..) => false,
        }
    }
}

impl ObservedModel {
    /// The model for a claim; none if its events cannot be told apart by their names and values.
    pub(crate) fn new(model: &Model, behaviour: &Behaviour) -> Option<Self> {
        let names = behaviour.labels.iter().filter_map(|label| match label {
            EventLabel::Event { name, .. } => Some(name),
            EventLabel::Nothing | EventLabel::Internal => None,
        });
        // Then events with different names, or numbers of values, have different texts.
        let is_clear = |name: &String| {
            let signs = name.char_indices().filter(|(_, sign)| ['.', '!', '?'].contains(sign));
            signs.into_iter().all(|(position, sign)| sign != '.' && position + 1 == name.len())
        };
        if !names.into_iter().all(is_clear) {
            return None;
        }
        let lasts = lasts(model, behaviour);
        let mut values: Vec<Last> = starts(behaviour).into_iter().map(Last::Start).collect();
        values.extend(lasts.iter().cloned());
        let mut numbers: FxHashMap<Last, i64> = FxHashMap::default();
        for value in values {
            let next = numbers.len() as i64;
            numbers.entry(value).or_insert(next);
        }
        let mut observing = Observing { model: without_claims(model), parts: FxHashMap::default() };
        let event = observing.variable("event", 0, numbers.len() as i64 - 1, false);
        for (position, (last, label)) in lasts.iter().zip(&behaviour.labels).enumerate() {
            let span = observing.model.rules.as_slice()[position].span;
            let mut statements = vec![observing.assign(event, numbers[last], span)];
            if let (Last::Shape(name, arity), EventLabel::Event { values, .. }) = (last, label) {
                for (number, &value) in values.iter().enumerate() {
                    let target = observing.part((name, *arity), number);
                    statements.push(Statement { kind: StatementKind::Assign { target, value }, span });
                }
            }
            let rule = RuleId::from_position(position);
            observing.model.rules[rule].body.splice(0..0, statements);
        }
        observing.model.starts = Table::new();
        for start in starts(behaviour) {
            let mut entry = model.starts[start].clone();
            entry.body.insert(0, observing.assign(event, numbers[&Last::Start(start)], entry.span));
            observing.model.starts.push(entry);
        }
        let mut pinned: Vec<i64> =
            numbers.iter().filter(|(last, _)| last.is_pinned()).map(|(_, &number)| number).collect();
        pinned.sort_unstable();
        let pins = pinned.into_iter().map(|number| observing.pin(event, number)).collect();
        debug_assert_eq!(quotient_ir::verify(&observing.model), Ok(()));
        let layout = Layout::new(&observing.model).ok()?;
        Some(Self { model: observing.model, layout, pins })
    }
}

/// The starts of the processes that a claim is about.
fn starts(behaviour: &Behaviour) -> Vec<StartId> {
    let mut starts = vec![behaviour.process];
    if let BehaviourClaim::Refines { specification, .. } = behaviour.claim
        && specification != behaviour.process
    {
        starts.push(specification);
    }
    starts
}

/// What the event variable becomes by each rule.
fn lasts(model: &Model, behaviour: &Behaviour) -> Vec<Last> {
    let constant = |&value: &ExprId| match model.pool[value] {
        Expr::Constant { value, .. } => Some(value),
        _ => None,
    };
    let constants = |values: &[ExprId]| values.iter().map(constant).collect::<Option<Vec<i64>>>();
    // Whether the values of a shape are constants in all rules.
    let mut shapes: FxHashMap<(&str, usize), bool> = FxHashMap::default();
    for label in &behaviour.labels {
        if let EventLabel::Event { name, values } = label {
            *shapes.entry((name, values.len())).or_insert(true) &= constants(values).is_some();
        }
    }
    let last = |label: &EventLabel| match label {
        EventLabel::Nothing => Last::Nothing,
        EventLabel::Internal => Last::Internal,
        EventLabel::Event { name, values } => match constants(values) {
            Some(constants) if shapes[&(name.as_str(), values.len())] => Last::Whole(event_text(name, &constants)),
            _ => Last::Shape(name.clone(), values.len()),
        },
    };
    behaviour.labels.iter().map(last).collect()
}

/// The model under construction.
struct Observing {
    model: Model,
    /// The variable of each value of an event: by its name, the number of its values, and the position.
    parts: FxHashMap<(String, usize, usize), PlaceId>,
}

impl Observing {
    fn variable(&mut self, name: &str, low: i64, high: i64, may_be_undefined: bool) -> PlaceId {
        let ty = self.model.types.push(Type { name: None, kind: TypeKind::Range { low, high } });
        let variable = Variable { name: name.to_owned(), ty, may_be_undefined, span: Span::default() };
        let variable: VariableId = self.model.variables.push(variable);
        self.model.pool.place(Place { root: Root::Variable(variable), steps: Vec::new(), ty })
    }

    /// The variable of a value of an event. It is undefined until there is such an event.
    fn part(&mut self, (name, arity): (&str, usize), position: usize) -> PlaceId {
        let key = (name.to_owned(), arity, position);
        if let Some(&known) = self.parts.get(&key) {
            return known;
        }
        // All numbers but one, which leaves room for undefined.
        let place = self.variable(&format!("{name} {position}"), i64::MIN + 1, i64::MAX, true);
        self.parts.insert(key, place);
        place
    }

    fn number(&mut self, value: i64) -> ExprId {
        self.model.pool.expression(Expr::Constant { value, ty: Model::INTEGER })
    }

    fn assign(&mut self, target: PlaceId, value: i64, span: Span) -> Statement {
        let value = self.number(value);
        Statement { kind: StatementKind::Assign { target, value }, span }
    }

    /// A property that only states with a value of the event variable have.
    fn pin(&mut self, event: PlaceId, value: i64) -> PropertyId {
        let (left, right) = (self.model.pool.expression(Expr::Read(event)), self.number(value));
        let operator = BinaryOperator::Equal;
        let condition = self.model.pool.expression(Expr::Binary { operator, left, right });
        self.model.properties.push(Property {
            name: None,
            kind: PropertyKind::Atom,
            parameters: Vec::new(),
            locals: Table::new(),
            formula: Formula::Condition(condition),
            span: Span::default(),
        })
    }
}
