//! Sequential components and their positions.
//!
//! A composition becomes a fork: each of its parts is a component, with a variable for its position and registers for
//! values that are not constant. A composition that begins later, behind a prefix, say, is a fork of its own, whose
//! components are not active before. The positions of a component are the terms it can become, up to
//! values in registers (`shapes`).

use std::collections::BTreeMap;
use std::rc::Rc;

use quotient_ir::Diagnostic;
use rustc_hash::FxHashMap;

use super::alphabets;
use super::equality::widest_hiding;
use super::growth::{Growth, nesting};
use super::known::{Known, State};
use super::shapes::Shapes;
use super::steps::{Label, Step, Stepper, Via, WORK_LIMIT};
use super::symbols::Symbols;
use super::terms::{Event, Term, Value};
use super::wording;
use crate::syntax::tree::Operator;

/// The most components.
const COMPONENT_LIMIT: usize = 2000;
/// How deep forks are nested.
const FORK_LIMIT: usize = 10;
/// How deep sequences and compositions are nested in a term: each as long as the one before was not deep enough.
const GROWTH_LIMITS: [usize; 4] = [6, 12, 30, 100];
/// How many times the positions of less deep terms are worth looking for deeper ones, and how many positions always are.
const GROWTH: usize = 20;
const FEW_POSITIONS: usize = 2_000;
/// The most positions if there are deeper terms than are represented: with more of them, the model would be large, and its
/// search end at a deeper term all the same.
const CUT_POSITIONS: usize = 20_000;
/// The most positions of all components.
const POSITION_LIMIT: usize = 200_000;

/// The most work to look for deeper terms, with all depths and all representations that are tried; and the same with the values
/// that variables can have. Found in vain, they make a model no better.
const DEEPER_WORK: usize = 4_000_000;

/// The work that a step is worth, besides that for the term it leads to.
const STEP_WORK: usize = 20;

/// Where a step leads.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) location: usize,
    /// The values of the registers, in the state before the step.
    pub(super) registers: Vec<Value>,
    /// Components that begin: their positions and registers.
    pub(super) begun: Vec<(usize, usize, Vec<Value>)>,
    /// The term that is too large to be represented, if there is one.
    pub(super) grows: Option<Growth>,
}

/// A position of a component.
#[derive(Debug)]
pub(super) struct Location {
    pub(super) term: Rc<Term>,
    pub(super) steps: Vec<(Step, Target)>,
    /// The forks that are active here.
    pub(super) forks: Vec<usize>,
}

/// A sequential process.
#[derive(Debug)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) locations: Vec<Location>,
    numbers: FxHashMap<Rc<Term>, usize>,
    /// The number of its registers.
    pub(super) registers: usize,
    /// The fork it is part of.
    pub(super) fork: Option<usize>,
    depth: usize,
}

/// The events of each part of a parallel composition.
type Alphabets = Rc<[Vec<Event>]>;

/// A composition whose parts are components.
#[derive(Debug)]
pub(super) struct Fork {
    /// The component it is a position of.
    pub(super) component: usize,
    pub(super) parts: Vec<usize>,
    /// The alphabets, if it is parallel.
    pub(super) alphabets: Option<Alphabets>,
}

/// All components of a model.
#[derive(Debug, Default)]
pub(super) struct Network {
    pub(super) components: Vec<Component>,
    pub(super) forks: Vec<Fork>,
    /// The component of each root, and where it begins.
    pub(super) roots: Vec<(usize, Target)>,
    /// Whether there are deeper terms than are represented.
    is_cut: bool,
}

/// Finds all components of the processes that are asserted about. Errors are reported to the symbols.
///
/// Where a process calls itself inside a sequence, data may bound how deep, and the text alone allows far more terms than
/// there are. So terms are made deeper only as long as their number does not explode. If they are not deep enough then, only
/// steps are followed that are possible with the values that variables can have (`known`). A step to a term that is
/// deeper all the same ends the search as inconclusive.
pub(super) fn explore(symbols: &mut Symbols<'_>, roots: &[Rc<Term>]) -> Network {
    let known = symbols.diagnostics.len();
    let is_too_large = |symbols: &Symbols<'_>| symbols.diagnostics[known..].iter().any(|it| it.code == "too-large");
    let mut network = explore_up_to(symbols, roots, GROWTH_LIMITS[0], POSITION_LIMIT, None, &mut None);
    let mut left = Some(DEEPER_WORK);
    for limit in GROWTH_LIMITS.into_iter().skip(1) {
        if !network.is_cut || symbols.diagnostics[known..].iter().any(Diagnostic::is_error) {
            break;
        }
        let reported = symbols.diagnostics.split_off(known);
        let positions = network.components.iter().map(|it| it.locations.len()).sum::<usize>();
        let most = POSITION_LIMIT.min(FEW_POSITIONS.max(GROWTH * positions));
        let deeper = explore_up_to(symbols, roots, limit, most, None, &mut left);
        if is_too_large(symbols) {
            symbols.diagnostics.truncate(known);
            symbols.diagnostics.extend(reported);
            break;
        }
        network = deeper;
    }
    if network.is_cut || is_too_large(symbols) {
        let reported = symbols.diagnostics.split_off(known);
        let deepest = GROWTH_LIMITS[GROWTH_LIMITS.len() - 1];
        let values = Some(Known::new(symbols));
        let possible = explore_up_to(symbols, roots, deepest, CUT_POSITIONS, values, &mut Some(DEEPER_WORK));
        if !possible.is_cut && !symbols.diagnostics[known..].iter().any(Diagnostic::is_error) {
            return possible;
        }
        symbols.diagnostics.truncate(known);
        symbols.diagnostics.extend(reported);
    }
    network
}

/// The components with terms up to a depth, and at most so many positions; with the work that is left, if that is limited
/// for all representations that are tried together.
fn explore_up_to(
    symbols: &mut Symbols<'_>,
    roots: &[Rc<Term>],
    limit: usize,
    most: usize,
    mut known: Option<Known>,
    left: &mut Option<usize>,
) -> Network {
    let mut shapes = Shapes::default();
    let reported = symbols.diagnostics.len();
    loop {
        symbols.diagnostics.truncate(reported);
        shapes.begin();
        if let Some(known) = &mut known {
            known.begin();
        }
        let mut exploration = Exploration {
            stepper: Stepper::new(symbols, left.map_or(WORK_LIMIT, |left| left.min(WORK_LIMIT))),
            network: Network::default(),
            fork_numbers: FxHashMap::default(),
            shapes: &mut shapes,
            known: known.as_mut(),
            waiting: BTreeMap::new(),
            pending: Vec::new(),
            positions: 0,
            limit,
            most,
        };
        exploration.run(roots);
        let Exploration { network, stepper, .. } = exploration;
        if let Some(left) = left {
            *left = left.saturating_sub(stepper.work);
        }
        if !shapes.has_changed() && !known.as_ref().is_some_and(Known::has_changed) {
            return network;
        }
    }
}

struct Exploration<'e, 's, 't> {
    stepper: Stepper<'s, 't>,
    network: Network,
    /// Forks by their component, the number of their parts and their alphabets. A component has one at a time, so the
    /// same parts serve all compositions of that form, and equal compositions have one representation.
    fork_numbers: FxHashMap<(usize, usize, Option<Alphabets>), usize>,
    shapes: &'e mut Shapes,
    /// What is known about variables, if that decides which steps are followed.
    known: Option<&'e mut Known>,
    /// The steps of positions that are not possible with what is known so far.
    waiting: BTreeMap<(usize, usize), Vec<Step>>,
    pending: Vec<(usize, usize)>,
    positions: usize,
    /// How deep terms may be, and how many positions there may be.
    limit: usize,
    most: usize,
}

impl Exploration<'_, '_, '_> {
    /// Finds all positions, until terms have to be represented in another way or an error is reported.
    fn run(&mut self, roots: &[Rc<Term>]) {
        for root in roots {
            let name = wording::term(self.stepper.symbols, root);
            let component = self.component(name, None, 0);
            let target = self.settle(component, root);
            if let Some(known) = &mut self.known {
                let initial = known.initial();
                known.reach(component, target.location, initial);
            }
            self.network.roots.push((component, target));
        }
        // The end of a composition, which is a step only if all of its parts can terminate.
        let mut ends: Vec<(usize, usize, usize, Step)> = Vec::new();
        loop {
            let Some((component, location)) = self.pending.pop() else {
                let possible = |(.., fork, _): &(usize, usize, usize, Step)| self.network.can_end(*fork);
                let Some(position) = ends.iter().position(possible) else { break };
                let (component, location, _, step) = ends.swap_remove(position);
                let after = self.after(component, location, &step).flatten();
                self.follow(component, location, step, after);
                continue;
            };
            self.expand(component, location, &mut ends);
            // After these errors the terms are not those of the text.
            let is_fatal = |it: &Diagnostic| matches!(it.code, "too-large" | "unguarded-recursion");
            let has_changed = self.shapes.has_changed() || self.known.as_ref().is_some_and(|it| it.has_changed());
            if has_changed || self.stepper.symbols.diagnostics.iter().any(is_fatal) {
                return;
            }
            let most = if self.network.is_cut { self.most.min(CUT_POSITIONS) } else { self.most };
            if self.positions > most {
                let message = format!("the processes of this model have more than {most} positions");
                let error = Diagnostic::error("too-large", message, quotient_ir::Span::default());
                self.stepper.symbols.report(Diagnostic { primary: None, ..error });
                return;
            }
        }
        for ((component, location), steps) in std::mem::take(&mut self.waiting) {
            for step in steps {
                let grows = Some(Growth::new(self.stepper.symbols, &step.target));
                let target = Target { grows, ..self.settle(component, &Rc::new(Term::Stop)) };
                self.network.components[component].locations[location].steps.push((step, target));
            }
        }
    }

    /// Follows the steps of a position: all of them, or those that are possible with what is known.
    fn expand(&mut self, component: usize, location: usize, ends: &mut Vec<(usize, usize, usize, Step)>) {
        let steps = match self.waiting.remove(&(component, location)) {
            Some(steps) => steps,
            None => {
                let term = self.network.components[component].locations[location].term.clone();
                let mut steps = self.stepper.steps(&term);
                for step in steps.extract_if(.., |step| matches!(step.via, Some(Via::End(_)))) {
                    if let Some(Via::End(fork)) = step.via {
                        ends.push((component, location, fork, step));
                    }
                }
                steps
            }
        };
        for number in 0..self.network.components[component].locations[location].steps.len() {
            let (step, target) = &self.network.components[component].locations[location].steps[number];
            let (step, target) = (step.clone(), target.location);
            if let Some(Some(state)) = self.after(component, location, &step) {
                self.reach(component, target, state);
            }
        }
        let mut waiting = Vec::new();
        for step in steps {
            if self.stepper.spend(STEP_WORK + step.target.size(), step.span) {
                break;
            }
            match self.after(component, location, &step) {
                Some(None) => waiting.push(step),
                after => self.follow(component, location, step, after.flatten()),
            }
        }
        if self.is_known(component) {
            self.waiting.insert((component, location), waiting);
        } else if let Some(known) = &mut self.known {
            for (step, _) in &self.network.components[component].locations[location].steps {
                known.share(step);
            }
        }
    }

    /// Whether the values at the positions of a component decide which steps are followed.
    fn is_known(&self, component: usize) -> bool {
        self.known.is_some() && self.network.components[component].fork.is_none()
    }

    /// What is known after a step, if anything is; nothing inside if it is impossible.
    fn after(&self, component: usize, location: usize, step: &Step) -> Option<Option<State>> {
        let known = self.known.as_ref().filter(|_| self.is_known(component))?;
        Some(known.at(component, location).and_then(|state| known.after(state, step)))
    }

    /// A step is possible, and this is known after it.
    fn follow(&mut self, component: usize, location: usize, step: Step, after: Option<State>) {
        let target = self.settle(component, &step.target);
        if let Some(state) = after {
            self.reach(component, target.location, state);
        }
        self.network.components[component].locations[location].steps.push((step, target));
    }

    fn reach(&mut self, component: usize, location: usize, state: State) {
        if let Some(known) = &mut self.known
            && known.reach(component, location, state)
        {
            self.pending.push((component, location));
        }
    }

    fn component(&mut self, name: String, fork: Option<usize>, depth: usize) -> usize {
        let (locations, numbers) = (Vec::new(), FxHashMap::default());
        self.network.components.push(Component { name, locations, numbers, registers: 0, fork, depth });
        self.network.components.len() - 1
    }

    /// The position of a component for a term.
    fn settle(&mut self, component: usize, term: &Rc<Term>) -> Target {
        let mut begun = Vec::new();
        let mut grows = None;
        let term = self.stepper.normal(term);
        let mut term = self.begin(component, &term, &mut begun, &mut grows);
        if nesting(&term) > self.limit || widest_hiding(&term) > self.stepper.symbols.widest_hiding + self.limit {
            self.network.is_cut = true;
            grows.get_or_insert_with(|| Growth::new(self.stepper.symbols, &term));
            term = Rc::new(Term::Stop);
        }
        let (term, registers) = self.shapes.represent(component, &term);
        let known = self.network.components[component].numbers.get(&term).copied();
        let location = known.unwrap_or_else(|| {
            let mut forks = Vec::new();
            active_forks(&term, &mut forks);
            let it = &mut self.network.components[component];
            let location = it.locations.len();
            it.numbers.insert(term.clone(), location);
            it.registers = it.registers.max(registers.len());
            it.locations.push(Location { term, steps: Vec::new(), forks });
            self.pending.push((component, location));
            self.positions += 1;
            location
        });
        Target { location, registers, begun, grows }
    }

    /// Makes compositions that begin here forks.
    fn begin(
        &mut self,
        component: usize,
        term: &Rc<Term>,
        begun: &mut Vec<(usize, usize, Vec<Value>)>,
        grows: &mut Option<Growth>,
    ) -> Rc<Term> {
        match &**term {
            Term::Sequence(first, second) => {
                Rc::new(Term::Sequence(self.begin(component, first, begun, grows), second.clone()))
            }
            Term::Interrupt(first, second) => {
                Rc::new(Term::Interrupt(self.begin(component, first, begun, grows), second.clone()))
            }
            Term::Hide(inner, events) => {
                Rc::new(Term::Hide(self.begin(component, inner, begun, grows), events.clone()))
            }
            Term::Atomic(inner) => Rc::new(Term::Atomic(self.begin(component, inner, begun, grows))),
            Term::Several(Operator::Interleave, parts) => self.fork(component, parts, None, begun, grows),
            Term::Several(Operator::Parallel, parts) => {
                let alphabets = alphabets::of_parts(&mut self.stepper, parts);
                self.fork(component, parts, Some(alphabets), begun, grows)
            }
            Term::Parallel(parts, alphabets) => self.fork(component, parts, Some(alphabets.clone()), begun, grows),
            _ => term.clone(),
        }
    }

    fn fork(
        &mut self,
        component: usize,
        parts: &[Rc<Term>],
        alphabets: Option<Alphabets>,
        begun: &mut Vec<(usize, usize, Vec<Value>)>,
        grows: &mut Option<Growth>,
    ) -> Rc<Term> {
        let key = (component, parts.len(), alphabets.clone());
        let fork = match self.fork_numbers.get(&key) {
            Some(&fork) => fork,
            None => {
                let depth = self.network.components[component].depth + 1;
                if depth > FORK_LIMIT || self.network.components.len() + parts.len() > COMPONENT_LIMIT {
                    let term = Term::Several(Operator::Interleave, parts.to_vec());
                    grows.get_or_insert_with(|| Growth::new(self.stepper.symbols, &term));
                    return Rc::new(Term::Stop);
                }
                let fork = self.network.forks.len();
                self.network.forks.push(Fork { component, parts: Vec::new(), alphabets });
                for part in parts {
                    let name = wording::term(self.stepper.symbols, part);
                    let part = self.component(name, Some(fork), depth);
                    self.network.forks[fork].parts.push(part);
                }
                self.fork_numbers.insert(key, fork);
                fork
            }
        };
        for (part, term) in self.network.forks[fork].parts.clone().into_iter().zip(parts) {
            let target = self.settle(part, term);
            begun.push((part, target.location, target.registers));
            begun.extend(target.begun);
            *grows = grows.take().or(target.grows);
        }
        Rc::new(Term::Running(fork))
    }
}

fn active_forks(term: &Term, forks: &mut Vec<usize>) {
    match term {
        Term::Running(fork) => forks.push(*fork),
        Term::Sequence(first, _) | Term::Interrupt(first, _) => active_forks(first, forks),
        Term::Hide(inner, _) | Term::Atomic(inner) => active_forks(inner, forks),
        _ => {}
    }
}

impl Network {
    /// All components of a fork, and of the forks inside of them.
    pub(super) fn members(&self, fork: usize) -> Vec<usize> {
        let mut members = Vec::new();
        let mut pending = vec![fork];
        while let Some(fork) = pending.pop() {
            members.extend(&self.forks[fork].parts);
            let inside = |(_, inner): &(usize, &Fork)| self.forks[fork].parts.contains(&inner.component);
            pending.extend(self.forks.iter().enumerate().filter(inside).map(|(number, _)| number));
        }
        members
    }

    /// The part of the outermost composition that a component belongs to, by its component; a component that is in no
    /// composition is one by itself.
    pub(super) fn process(&self, component: usize) -> usize {
        let parent = |component: usize| self.components[component].fork.map(|fork| self.forks[fork].component);
        let mut process = component;
        while let Some(above) = parent(process).filter(|&above| parent(above).is_some()) {
            process = above;
        }
        process
    }

    /// Whether all parts of a fork can terminate, as far as their positions are known.
    fn can_end(&self, fork: usize) -> bool {
        let terminates = |(step, _): &(Step, Target)| step.label == Label::Termination;
        self.forks[fork]
            .parts
            .iter()
            .all(|&part| self.components[part].locations.iter().any(|location| location.steps.iter().any(terminates)))
    }

    /// Whether a component is active in every state.
    pub(super) fn is_permanent(&self, component: usize) -> bool {
        match self.components[component].fork {
            None => self.roots.len() == 1,
            Some(fork) => {
                let parent = self.forks[fork].component;
                self.is_permanent(parent)
                    && self.components[parent].locations.iter().all(|location| location.forks.contains(&fork))
            }
        }
    }
}
