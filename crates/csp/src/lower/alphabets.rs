//! The events that a process synchronises on: those that the text gives it, or all that occur in it without a block.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use super::steps::Stepper;
use super::substitution::{Environment, map_events, map_values, valuations};
use super::symbols::Symbols;
use super::terms::{Event, Events, Term, Value};

/// The most processes that are looked at for an alphabet.
const REFERENCE_LIMIT: usize = 2000;

/// The alphabets of the parts of a parallel composition, without what only one part has: that does not distinguish
/// compositions.
pub(super) fn of_parts(stepper: &mut Stepper<'_, '_>, parts: &[Rc<Term>]) -> Rc<[Vec<Event>]> {
    let all: Vec<Vec<Event>> = parts.iter().map(|part| of_term(stepper, part)).collect();
    let names = |alphabet: &[Event]| -> FxHashSet<(Rc<str>, usize)> {
        alphabet.iter().map(|(name, values)| (name.clone(), values.len())).collect()
    };
    let names: Vec<_> = all.iter().map(|alphabet| names(alphabet)).collect();
    let is_shared = |part: usize, (name, values): &Event| {
        let key = (name.clone(), values.len());
        names.iter().enumerate().any(|(other, names)| other != part && names.contains(&key))
    };
    let shared = |(part, alphabet): (usize, Vec<Event>)| {
        alphabet.into_iter().filter(|event| is_shared(part, event)).collect::<Vec<Event>>()
    };
    all.into_iter().enumerate().map(shared).collect()
}

fn of_term(stepper: &mut Stepper<'_, '_>, term: &Rc<Term>) -> Vec<Event> {
    let open = vec![(term.clone(), Hidden::default())];
    let mut collection = Collection { stepper, open, seen: FxHashSet::default(), events: Vec::new(), is_large: None };
    while let Some((term, hidden)) = collection.open.pop() {
        collection.visit(&term, &hidden);
    }
    let (mut events, is_large) = (collection.events, collection.is_large);
    if let Some(span) = is_large
        && !stepper.symbols.diagnostics.iter().any(|it| it.code == "unknown-alphabet")
    {
        let error = Diagnostic::error("unknown-alphabet", "the alphabet of this process cannot be computed", span);
        stepper.symbols.report(error.with_help("declare it: `#alphabet P {a, b};`"));
    }
    events.sort();
    events.dedup();
    events
}

/// The events that are hidden around a term, in order.
type Hidden = Rc<[Event]>;

struct Collection<'c, 's, 't> {
    stepper: &'c mut Stepper<'s, 't>,
    /// What is still to be looked at. A process that calls itself with other arguments may be nested deeply.
    open: Vec<(Rc<Term>, Hidden)>,
    seen: FxHashSet<(usize, Vec<Value>, Hidden)>,
    events: Vec<Event>,
    /// Where there are too many processes.
    is_large: Option<Span>,
}

impl Collection<'_, '_, '_> {
    fn visit(&mut self, term: &Term, hidden: &Hidden) {
        let mut open = |term: &Rc<Term>| self.open.push((term.clone(), hidden.clone()));
        match term {
            Term::Stop | Term::Skip | Term::Done | Term::Running(_) => {}
            Term::Reference(definition, arguments, at) => self.reference(*definition, arguments, at.0, hidden),
            Term::Prefix { event, block, next, .. } => {
                open(next);
                if let (Some((name, arguments)), None) = (event, block) {
                    let constants: Option<Vec<i64>> = arguments.iter().map(Value::constant).collect();
                    // What varies is marked, and reported where it would have to synchronise.
                    let values = constants.unwrap_or_else(|| vec![i64::MIN; arguments.len()]);
                    self.add((name.clone(), values), hidden);
                }
            }
            Term::Output { next, .. } | Term::Input { next, .. } => open(next),
            // Whatever the condition: otherwise the alphabet would depend on when a value is known.
            Term::Guard(_, next) => open(next),
            Term::If(_, _, then, otherwise, _) => [then, otherwise].into_iter().for_each(open),
            Term::Case(branches, default, _) => {
                branches.iter().map(|(_, branch)| branch).chain([default]).for_each(open);
            }
            Term::Several(_, parts) | Term::Parallel(parts, _) => parts.iter().for_each(open),
            Term::Indexed(_, _, body, _) => open(body),
            Term::Sequence(first, second) | Term::Interrupt(first, second) => {
                [first, second].into_iter().for_each(open)
            }
            Term::Hide(inner, events) => {
                let mut all = constant_events(self.stepper.symbols, events);
                all.extend(hidden.iter().cloned());
                all.sort();
                all.dedup();
                self.open.push((inner.clone(), all.into()));
            }
            Term::Atomic(inner) => open(inner),
        }
    }

    fn add(&mut self, event: Event, hidden: &Hidden) {
        if hidden.binary_search(&event).is_err() {
            self.events.push(event);
        }
    }

    fn reference(&mut self, definition: usize, arguments: &[Value], span: Span, hidden: &Hidden) {
        let it = &self.stepper.symbols.definitions[definition];
        if let Some(alphabet) = it.alphabet.clone() {
            let environment = it.parameters.iter().cloned().zip(arguments.iter().cloned()).collect();
            let alphabet = map_events(&alphabet, &mut Environment(environment));
            for event in constant_events(self.stepper.symbols, &alphabet) {
                self.add(event, hidden);
            }
            return;
        }
        if self.seen.len() >= REFERENCE_LIMIT {
            self.is_large.get_or_insert(span);
            return;
        }
        // Values that vary are all the same here: otherwise the arguments of a process that calls itself would grow.
        let blurred = |value: &Value| value.constant().map_or(Value::Captured(u32::MAX), |_| value.clone());
        let arguments: Vec<Value> = arguments.iter().map(blurred).collect();
        if self.seen.insert((definition, arguments.clone(), hidden.clone())) {
            let (body, _) = self.stepper.unfold(definition, &arguments);
            self.open.push((body, hidden.clone()));
        }
    }
}

/// The events of a set. What is not constant is reported.
fn constant_events(symbols: &mut Symbols<'_>, sets: &[Events]) -> Vec<Event> {
    let mut events = Vec::new();
    for set in sets {
        let instances = valuations(&set.indices).and_then(|all| {
            all.into_iter()
                .map(|valuation| {
                    let arguments = map_values(&set.arguments, &mut Environment(valuation));
                    arguments.iter().map(Value::constant).collect::<Option<Vec<i64>>>()
                })
                .collect::<Option<Vec<_>>>()
        });
        match instances {
            Some(instances) => events.extend(instances.into_iter().map(|values| (set.name.clone(), values))),
            None => {
                let message = format!("the events `{}` of this set are not constant", set.name);
                if !symbols.diagnostics.iter().any(|it| it.message == message) {
                    symbols.error("not-constant", message, set.at.0);
                }
            }
        }
    }
    events
}

/// Whether an event is in a set.
pub(super) fn contains(
    symbols: &mut Symbols<'_>,
    sets: &[Events],
    name: &Rc<str>,
    arguments: &[Value],
    span: Span,
) -> bool {
    if sets.iter().all(|set| set.name != *name || set.arguments.len() != arguments.len()) {
        return false;
    }
    let Some(constants) = arguments.iter().map(Value::constant).collect::<Option<Vec<i64>>>() else {
        let message = format!("the event `{name}` is hidden, and what is behind its dots is not constant");
        if !symbols.diagnostics.iter().any(|it| it.message == message) {
            let error = Diagnostic::error("varying-event", message, span);
            symbols.report(error.with_help("use constants and parameters of processes there"));
        }
        return false;
    };
    constant_events(symbols, sets).contains(&(name.clone(), constants))
}
