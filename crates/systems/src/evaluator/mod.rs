//! The default transition system: every rule specialised to every valuation of its parameters.
//!
//! An instance is a list of tests and a tree of commands on the packed state (`code`), made by the `specialiser` and
//! run by the `machine`. Rules with very many instances or array parameters are translated once, with their parameters
//! as cells. Whatever the machine does not finish, and whatever the specialiser does not translate, is left to the
//! reference interpreter, which also produces the diagnostics.

mod candidates;
pub(crate) mod code;
pub(crate) mod machine;
mod single;
mod specialiser;

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use quotient_ir::{
    Action, Fault, FaultKind, Interpreter, Interrupt, Layout, Model, Outcome, PropertyId, RuleId, StartId, Table,
    TableIndex, TypeKind, Valuation,
};

use crate::firing::FiredRules;
use crate::parameters::Parameters;
use crate::repacking::Repacking;
use crate::starts::{StartSieve, StartsUpTo};
use candidates::Candidates;
use code::{Code, CommandId, Test, TestId};
use machine::{Machine, Memory, Stop};
use quotient_search::{
    Batches, Event, Facts, FieldTest, Instance, RuleInstance, Selection, Sink, TransitionSystem, Visit, VisitTruth,
};
use specialiser::{Owner, Specialiser, Unit, constant_slots};

/// The largest number of instances of a rule or property that are specialised one by one. That takes as long as interpreting
/// each some twenty times, so it pays in any search but the smallest.
pub const SPECIALISED_INSTANCES: usize = 1 << 14;
/// The largest number of instances of which those are looked for that conditions on parameters alone do not rule out.
const TRIED_LIMIT: usize = 1 << 18;
/// The number of consecutive instances that cannot fire before the search is notified.
const IDLE_INTERVAL: u32 = 4096;

/// A model, specialised.
#[derive(Debug)]
pub struct SpecialisedSystem<'m> {
    interpreter: &'m Interpreter<'m>,
    code: Code,
    /// The size of the largest frame in cells.
    frame: u32,
    starts: Table<StartId, Translation>,
    rules: Table<RuleId, Translation>,
    /// Which instances of rules are worth trying in a state.
    candidates: Option<Candidates>,
    properties: Table<PropertyId, Translation>,
    fired: FiredRules,
    /// Runs the starts with another layout, if states are packed with room for some values only.
    whole: Option<(&'m SpecialisedSystem<'m>, Repacking)>,
    /// The first state that outgrew the layout.
    outgrown: OnceLock<Valuation>,
    /// The number of steps that the reference interpreter had to do.
    consulted: AtomicU64,
    interrupt: Interrupt,
}

/// How a rule, start or property is run.
#[derive(Debug)]
pub(crate) enum Translation {
    /// Specialised to each valuation.
    Specialised(Vec<SpecialisedUnit>),
    /// Translated once, for all valuations.
    General(Parameters, SpecialisedUnit),
    /// On the reference interpreter.
    Reference,
}

/// A rule, start or property, specialised to a valuation of its parameters (or to none).
#[derive(Clone, Debug)]
pub(crate) struct SpecialisedUnit {
    /// The first test, which usually decides, without an indirection.
    pub(crate) first_test: Test,
    /// All tests.
    pub(crate) all_tests: Box<[TestId]>,
    /// How many of the next units begin with the same test of a field: they fail with this one.
    alike: u32,
    pub(crate) body: Option<CommandId>,
    frame: u32,
    pub(crate) tests_write: bool,
    pub(crate) reads_parameters: bool,
    prepares: bool,
    pub(crate) arguments: Box<[i64]>,
}

impl SpecialisedUnit {
    /// The tests after the first.
    #[inline]
    pub(crate) fn tests(&self) -> &[TestId] {
        self.all_tests.get(1..).unwrap_or(&[])
    }
}

/// The working memory of a [`SpecialisedSystem`].
#[derive(Debug)]
pub struct EvaluatorScratch {
    memory: Memory,
    /// The words of a successor produced by the reference interpreter.
    words: Vec<u64>,
    arguments: Vec<i64>,
    /// The instances to try, as bits.
    candidates: Vec<u64>,
}

/// The outcome of the guard and body of an instance.
enum Fired {
    /// The guard is false.
    Disabled,
    /// A successor is in the memory of the machine.
    Next,
    Pruned,
    /// The reference interpreter has to decide.
    Escape,
}

impl<'m> SpecialisedSystem<'m> {
    /// Specialises a model, for any state.
    pub fn new(interpreter: &'m Interpreter<'m>) -> Self {
        Self::with_constants(interpreter, Vec::new(), Interrupt::new())
    }

    /// The approximate number of nodes of the code.
    pub(crate) fn code_size(&self) -> usize {
        self.code.size()
    }

    /// Specialises a model to the slots that never change: for reachable states and their images under symmetries only.
    pub fn of_reachable(interpreter: &'m Interpreter<'m>) -> Self {
        Self::of_reachable_until(interpreter, Interrupt::new())
    }

    /// The same, but once interrupted, the rest is left to the reference interpreter, and nothing more is compiled. The
    /// system is still correct.
    pub fn of_reachable_until(interpreter: &'m Interpreter<'m>, interrupt: Interrupt) -> Self {
        Self::with_constants(interpreter, constant_slots(interpreter), interrupt)
    }

    /// Specialises the starts of a model only.
    pub fn of_starts(interpreter: &'m Interpreter<'m>, interrupt: Interrupt) -> Self {
        Self::with_owners(interpreter, Vec::new(), interrupt, false)
    }

    /// Takes the starts from a system whose layout has room for everything: a start may pass through states that this
    /// layout has no room for.
    pub fn with_starts(self, whole: &'m SpecialisedSystem<'m>) -> Self {
        let repacking = Repacking::new(whole.interpreter.layout(), self.interpreter.layout());
        Self { whole: Some((whole, repacking)), ..self }
    }

    fn with_constants(interpreter: &'m Interpreter<'m>, constants: Vec<Option<i64>>, interrupt: Interrupt) -> Self {
        Self::with_owners(interpreter, constants, interrupt, true)
    }

    fn with_owners(
        interpreter: &'m Interpreter<'m>,
        constants: Vec<Option<i64>>,
        interrupt: Interrupt,
        with_rules: bool,
    ) -> Self {
        let (model, layout): (&Model, &Layout) = (interpreter.model(), interpreter.layout());
        let mut specialiser = Specialiser::new(model, layout, interrupt.clone());
        let mut frame = 0;
        let usable = !has_least_integer(model);
        let mut translate = |specialiser: &mut Specialiser<'m>, owner: &Owner<'m>, expand: bool| {
            let translation = match usable && !interrupt.is_raised() {
                true => translate_owner(interpreter, specialiser, owner, expand),
                false => Translation::Reference,
            };
            match &translation {
                Translation::Specialised(units) => frame = units.iter().map(|unit| unit.frame).fold(frame, u32::max),
                Translation::General(_, unit) => frame = frame.max(unit.frame),
                Translation::Reference => {}
            }
            translation
        };
        let mut starts = Table::new();
        for start in model.starts.iter() {
            let owner = Owner::new(model, &start.parameters, &start.locals, None, Some(&start.body));
            // Each instance runs once, which does not pay for specialising it. The machine begins with zeros, so
            // layouts that begin otherwise are not for it.
            starts.push(match layout.begins_with_zeros() {
                true => translate(&mut specialiser, &owner, false),
                false => Translation::Reference,
            });
        }
        specialiser.constants = constants;
        let mut rules = Table::new();
        for rule in model.rules.iter().filter(|_| with_rules) {
            let owner = Owner::new(model, &rule.parameters, &rule.locals, Some(rule.guard), Some(&rule.body));
            rules.push(translate(&mut specialiser, &owner, true));
        }
        let mut properties = Table::new();
        for property in model.properties.iter().filter(|_| with_rules) {
            let owner = Owner::new(model, &property.parameters, &property.locals, property.formula.condition(), None);
            properties.push(translate(&mut specialiser, &owner, true));
        }
        let mut code = specialiser.code;
        code.seal();
        let fired = FiredRules::new(rules.len());
        let candidates = Candidates::new(&rules);
        Self {
            interpreter,
            code,
            frame,
            starts,
            rules,
            candidates,
            properties,
            fired,
            whole: None,
            outgrown: OnceLock::new(),
            consulted: AtomicU64::new(0),
            interrupt,
        }
    }

    /// Whether a stop was requested.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    /// The translations of the rules.
    #[inline]
    pub(crate) fn rules(&self) -> &Table<RuleId, Translation> {
        &self.rules
    }

    /// The translations of the properties.
    pub(crate) fn properties(&self) -> &Table<PropertyId, Translation> {
        &self.properties
    }

    /// The rules of which no instance has fired yet, on this system or one built on it.
    #[inline]
    pub fn unfired(&self) -> Vec<RuleId> {
        self.fired.rest(None)
    }

    /// The rules that have fired.
    #[inline]
    pub fn fired(&self) -> &FiredRules {
        &self.fired
    }

    fn note_fired(&self, action: Action) {
        if let Action::Rule(rule) = action {
            self.fired.note(rule.position());
        }
    }

    /// The nodes of all of these.
    #[inline]
    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// The model.
    #[inline]
    pub fn model(&self) -> &Model {
        self.interpreter.model()
    }

    /// Whether states contain multisets, which are normalised after each step.
    #[inline]
    pub(crate) fn has_multisets(&self) -> bool {
        !self.interpreter.layout().multisets().is_empty()
    }

    /// Fires all instances of a rule, or one of those it was specialised to.
    pub(crate) fn fire_rule(
        &self,
        rule: RuleId,
        instance: Option<u32>,
        scratch: &mut EvaluatorScratch,
        state: &[u64],
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        scratch.memory.set_state(state);
        match (&self.rules[rule], instance) {
            (Translation::Specialised(units), Some(number)) => {
                let unit = &units[number as usize];
                let fired = self.fire(unit, &unit.arguments, &mut scratch.memory, state);
                let instance = Instance { action: Action::Rule(rule), arguments: &unit.arguments };
                self.present(fired, instance, &mut scratch.memory, &mut scratch.words, state, visit)
            }
            (translation, _) => self.fire_all(Action::Rule(rule), translation, scratch, state, visit),
        }
    }

    /// Fires chosen instances.
    pub(crate) fn fire_some(
        &self,
        selection: Selection<'_>,
        scratch: &mut EvaluatorScratch,
        state: &[u64],
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let EvaluatorScratch { memory, words, .. } = scratch;
        memory.set_state(state);
        selection.iter().try_for_each(|RuleInstance { rule, arguments, number }| {
            let action = Action::Rule(*rule);
            let fired = match &self.rules[*rule] {
                Translation::Specialised(units) => {
                    let unit = units.get(*number as usize).filter(|unit| unit.arguments == *arguments);
                    // Where instances are in another order, they are looked for.
                    match unit.or_else(|| units.iter().find(|unit| unit.arguments == *arguments)) {
                        Some(unit) => self.fire(unit, arguments, memory, state),
                        None => Fired::Escape,
                    }
                }
                Translation::General(_, unit) => self.fire(unit, arguments, memory, state),
                Translation::Reference => Fired::Escape,
            };
            self.present(fired, Instance { action, arguments }, memory, words, state, visit)
        })
    }

    /// Records a state that outgrew the layout.
    fn outgrow(&self, action: Action, state: Valuation) -> Fault {
        let model = self.interpreter.model();
        let span = match action {
            Action::Start(start) => model.starts[start].span,
            Action::Rule(rule) => model.rules[rule].span,
        };
        self.outgrown.get_or_init(|| state);
        let message = "a state has values that were not expected".to_owned();
        Fault { kind: FaultKind::Exhausted, span, message }
    }

    /// A state that outgrew the layout: other results must not be used. Only a repacked layout can be outgrown.
    #[inline]
    pub fn outgrown(&self) -> Option<&Valuation> {
        self.outgrown.get()
    }

    /// The number of steps that the reference interpreter had to do. A repacked layout may have room for all states,
    /// but not for intermediate states of a step.
    #[inline]
    pub fn consulted(&self) -> u64 {
        self.consulted.load(Ordering::Relaxed)
    }

    /// The number of rules, starts and properties that run on the reference interpreter.
    pub fn untranslated(&self) -> usize {
        let translations = self.starts.iter().chain(self.rules.iter()).chain(self.properties.iter());
        translations.filter(|translation| matches!(translation, Translation::Reference)).count()
    }

    /// Tries the guard and body of a unit on the state in memory. Afterwards the memory holds the
    /// successor, or the state that was there, or (after an escape) anything.
    #[inline]
    fn fire(&self, unit: &SpecialisedUnit, arguments: &[i64], memory: &mut Memory, state: &[u64]) -> Fired {
        let mut machine = Machine { code: &self.code, memory };
        match enabled(&mut machine, unit, arguments) {
            Ok(true) => {}
            Ok(false) | Err(Stop::Pruned) => {
                if unit.tests_write {
                    machine.memory.set_state(state);
                }
                return Fired::Disabled;
            }
            Err(Stop::Escape) => return Fired::Escape,
        }
        if unit.tests_write {
            machine.memory.set_state(state);
        }
        self.run_body(unit, arguments, machine.memory)
    }

    /// Runs the body of a unit on the state in memory.
    #[inline]
    fn run_body(&self, unit: &SpecialisedUnit, arguments: &[i64], memory: &mut Memory) -> Fired {
        let mut machine = Machine { code: &self.code, memory };
        prepare(machine.memory, unit, arguments);
        machine.memory.covered.clear();
        if let Some(body) = unit.body {
            match machine.run(body) {
                Ok(_) => {}
                Err(Stop::Escape) => return Fired::Escape,
                Err(Stop::Pruned) => return Fired::Pruned,
            }
        }
        for multiset in self.interpreter.layout().multisets() {
            machine.normalize(multiset);
        }
        Fired::Next
    }

    /// The result of the reference interpreter for an instance.
    #[cold]
    fn consult(&self, action: Action, arguments: &[i64], state: &[u64]) -> Option<Outcome> {
        self.consulted.fetch_add(1, Ordering::Relaxed);
        match action {
            Action::Start(start) => Some(self.interpreter.run_start(start, arguments)),
            Action::Rule(rule) => {
                let state = self.interpreter.layout().unpack(state);
                match self.interpreter.enabled(rule, arguments, &state) {
                    Ok(true) => Some(self.interpreter.fire(rule, arguments, &state)),
                    Ok(false) => None,
                    Err(fault) => Some(Outcome::Fault(fault)),
                }
            }
        }
    }

    /// Reports the outcome of an instance to a visitor, and restores the state in memory.
    #[inline]
    fn present(
        &self,
        fired: Fired,
        instance: Instance<'_>,
        memory: &mut Memory,
        words: &mut [u64],
        state: &[u64],
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let flow = match fired {
            Fired::Disabled => return ControlFlow::Continue(()),
            Fired::Next => {
                self.note_fired(instance.action);
                visit(instance, Event::Next { state: &memory.words, covered: &memory.covered })
            }
            Fired::Pruned => visit(instance, Event::Pruned),
            Fired::Escape => match self.consult(instance.action, instance.arguments, state) {
                None => ControlFlow::Continue(()),
                Some(Outcome::Next { state, covered }) => match self.interpreter.layout().try_pack(&state, words) {
                    true => {
                        self.note_fired(instance.action);
                        visit(instance, Event::Next { state: words, covered: &covered })
                    }
                    false => visit(instance, Event::Fault(self.outgrow(instance.action, state))),
                },
                Some(Outcome::Pruned) => visit(instance, Event::Pruned),
                Some(Outcome::Fault(fault)) => visit(instance, Event::Fault(fault)),
            },
        };
        memory.set_state(state);
        flow
    }

    /// Runs the starts that a sieve leaves with this layout.
    fn run_starts(&self, scratch: &mut EvaluatorScratch, sieve: &StartSieve, visit: &mut Visit<'_>) {
        // Undefined and the least value are both stored as zero.
        let initial = vec![0; self.words()];
        scratch.memory.set_state(&initial);
        for (id, translation) in self.starts.iter_enumerated() {
            let action = Action::Start(id);
            let flow = match (sieve.of(id), translation) {
                (Some(sieve), Translation::General(_, unit)) => sieve.visit(|arguments| match arguments {
                    Some(arguments) => {
                        let EvaluatorScratch { memory, words, .. } = &mut *scratch;
                        let fired = self.fire(unit, arguments, memory, &initial);
                        self.present(fired, Instance { action, arguments }, memory, words, &initial, visit)
                    }
                    None => visit(Instance { action, arguments: &[] }, Event::Idle),
                }),
                _ => self.fire_all(action, translation, scratch, &initial, visit),
            };
            if flow.is_break() {
                return;
            }
        }
    }

    /// Fires the instances that can be enabled in the state in memory, in order.
    fn fire_candidates(
        &self,
        candidates: &Candidates,
        scratch: &mut EvaluatorScratch,
        state: &[u64],
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let mut bits = std::mem::take(&mut scratch.candidates);
        candidates.of_state(state, &mut bits);
        let numbers = bits.iter().enumerate().flat_map(|(word, &bits)| ones(bits).map(move |bit| 64 * word + bit));
        let mut flow = ControlFlow::Continue(());
        for number in numbers {
            let (rule, unit) = candidates.unit(number);
            let action = Action::Rule(rule);
            flow = match &self.rules[rule] {
                Translation::Specialised(units) => {
                    let unit = &units[unit as usize];
                    let fired = self.fire(unit, &unit.arguments, &mut scratch.memory, state);
                    let instance = Instance { action, arguments: &unit.arguments };
                    self.present(fired, instance, &mut scratch.memory, &mut scratch.words, state, visit)
                }
                translation => self.fire_all(action, translation, scratch, state, visit),
            };
            if flow.is_break() {
                break;
            }
        }
        scratch.candidates = bits;
        flow
    }

    /// Fires all instances of one start or rule.
    fn fire_all(
        &self,
        action: Action,
        translation: &Translation,
        scratch: &mut EvaluatorScratch,
        state: &[u64],
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let EvaluatorScratch { memory, words, arguments, .. } = scratch;
        match translation {
            Translation::Specialised(units) => {
                let mut rest = &units[..];
                while let Some((unit, later)) = rest.split_first() {
                    if unit.alike > 0 && unit.first_test.fails_in(state) {
                        rest = &later[unit.alike as usize..];
                        continue;
                    }
                    rest = later;
                    let fired = self.fire(unit, &unit.arguments, memory, state);
                    if !matches!(fired, Fired::Disabled) {
                        let instance = Instance { action, arguments: &unit.arguments };
                        self.present(fired, instance, memory, words, state, visit)?;
                    }
                }
            }
            Translation::General(parameters, unit) => {
                parameters.first(arguments);
                let mut idle = 0;
                loop {
                    let instance = Instance { action, arguments };
                    let fired = self.fire(unit, arguments, memory, state);
                    idle += 1;
                    if matches!(fired, Fired::Disabled) && idle % IDLE_INTERVAL == 0 {
                        visit(instance, Event::Idle)?;
                    }
                    self.present(fired, instance, memory, words, state, visit)?;
                    if !parameters.advance(arguments) {
                        break;
                    }
                }
            }
            Translation::Reference => {
                let (instance_parameters, locals) = match action {
                    Action::Start(id) => {
                        let start = &self.interpreter.model().starts[id];
                        (&start.parameters, &start.locals)
                    }
                    Action::Rule(id) => {
                        let rule = &self.interpreter.model().rules[id];
                        (&rule.parameters, &rule.locals)
                    }
                };
                for (number, arguments) in (1u32..).zip(self.interpreter.instances(instance_parameters, locals)) {
                    let instance = Instance { action, arguments: &arguments };
                    if number % IDLE_INTERVAL == 0 {
                        visit(instance, Event::Idle)?;
                    }
                    self.present(Fired::Escape, instance, memory, words, state, visit)?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

impl TransitionSystem for SpecialisedSystem<'_> {
    type Scratch = EvaluatorScratch;

    fn scratch(&self) -> EvaluatorScratch {
        EvaluatorScratch {
            memory: Memory::new(self.words(), self.frame),
            words: vec![0; self.words()],
            arguments: Vec::new(),
            candidates: Vec::new(),
        }
    }

    #[inline]
    fn words(&self) -> usize {
        self.interpreter.layout().words()
    }

    fn starts(&self, scratch: &mut EvaluatorScratch, visit: &mut Visit<'_>) {
        self.starts_up_to(scratch, &StartSieve::default(), visit);
    }

    fn successors(&self, scratch: &mut EvaluatorScratch, state: &[u64], visit: &mut Visit<'_>) {
        scratch.memory.set_state(state);
        // A break is recorded by whoever asks for it.
        let _ = match &self.candidates {
            Some(candidates) => self.fire_candidates(candidates, scratch, state, visit),
            None => self
                .rules
                .iter_enumerated()
                .try_for_each(|(id, translation)| self.fire_all(Action::Rule(id), translation, scratch, state, visit)),
        };
    }

    fn evaluate(
        &self,
        scratch: &mut EvaluatorScratch,
        property: PropertyId,
        state: &[u64],
        visit: &mut VisitTruth<'_>,
    ) {
        let entry = &self.interpreter.model().properties[property];
        if entry.formula.condition().is_none() {
            return;
        }
        scratch.memory.set_state(state);
        let mut unpacked: Option<Valuation> = None;
        let mut evaluate = |unit: &SpecialisedUnit, arguments: &[i64], memory: &mut Memory| {
            let mut machine = Machine { code: &self.code, memory };
            let result = enabled(&mut machine, unit, arguments);
            if unit.tests_write {
                machine.memory.set_state(state);
            }
            match result {
                Ok(holds) => Ok(holds),
                Err(Stop::Pruned) => Ok(false),
                Err(Stop::Escape) => {
                    machine.memory.set_state(state);
                    let state = unpacked.get_or_insert_with(|| self.interpreter.layout().unpack(state));
                    self.interpreter.holds(property, arguments, state)
                }
            }
        };
        match &self.properties[property] {
            Translation::Specialised(units) => {
                for unit in units {
                    let result = evaluate(unit, &unit.arguments, &mut scratch.memory);
                    if visit(&unit.arguments, result).is_break() {
                        return;
                    }
                }
            }
            Translation::General(parameters, unit) => {
                parameters.first(&mut scratch.arguments);
                loop {
                    let result = evaluate(unit, &scratch.arguments, &mut scratch.memory);
                    if visit(&scratch.arguments, result).is_break() || !parameters.advance(&mut scratch.arguments) {
                        return;
                    }
                }
            }
            Translation::Reference => {
                let state = self.interpreter.layout().unpack(state);
                for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
                    if visit(&arguments, self.interpreter.holds(property, &arguments, &state)).is_break() {
                        return;
                    }
                }
            }
        }
    }
}

impl StartsUpTo for SpecialisedSystem<'_> {
    fn starts_up_to(&self, scratch: &mut EvaluatorScratch, sieve: &StartSieve, visit: &mut Visit<'_>) {
        if let Some((whole, repacking)) = &self.whole {
            let mut words = Vec::with_capacity(self.words());
            return whole.run_starts(&mut whole.scratch(), sieve, &mut |instance, event| {
                let Event::Next { state, covered } = event else { return visit(instance, event) };
                words.clear();
                match repacking.append(state, &mut words) {
                    true => visit(instance, Event::Next { state: &words, covered }),
                    false => {
                        let state = whole.interpreter.layout().unpack(state);
                        visit(instance, Event::Fault(self.outgrow(instance.action, state)))
                    }
                }
            });
        }
        self.run_starts(scratch, sieve, visit);
    }
}

impl Batches for SpecialisedSystem<'_> {
    #[inline]
    fn facts(&self) -> &dyn Facts {
        self
    }

    fn expand(&self, scratch: &mut EvaluatorScratch, state: &[u64], sink: &mut dyn Sink) {
        self.successors(scratch, state, &mut |instance, event| sink.event(instance, event));
    }

    fn expand_some(
        &self,
        scratch: &mut EvaluatorScratch,
        state: &[u64],
        selection: Selection<'_>,
        sink: &mut dyn Sink,
    ) {
        // A break is recorded by the sink.
        let _ = self.fire_some(selection, scratch, state, &mut |instance, event| sink.event(instance, event));
    }
}

impl Facts for SpecialisedSystem<'_> {
    #[inline]
    fn is_safe(&self, _tag: u64, _state: &[u64]) -> bool {
        false
    }

    fn field_test(&self, property: PropertyId) -> Option<FieldTest> {
        let Translation::Specialised(units) = &self.properties[property] else { return None };
        let [unit] = &units[..] else { return None };
        match (unit.first_test, unit.tests()) {
            (Test::Constant(holds), []) => Some(FieldTest::Constant(holds)),
            // For a field that may be undefined, zero represents that.
            (Test::FieldIs { word, partial, mask, pattern }, []) if !partial || pattern != 0 => {
                Some(FieldTest::Is { word: word as usize, mask, pattern, equal: true })
            }
            (Test::FieldIsNot { word, partial: false, mask, pattern }, []) => {
                Some(FieldTest::Is { word: word as usize, mask, pattern, equal: false })
            }
            (Test::FieldIn { word, shift, mask, partial, set }, []) => {
                let set = if partial { set & !1 } else { set };
                Some(FieldTest::In { word: word as usize, shift: shift.into(), mask: mask.into(), set })
            }
            _ => None,
        }
    }

    fn last_word(&self) -> u64 {
        let last = self.words() as u32 - 1;
        let used = self.code.slots.iter().filter(|slot| slot.field.word == last);
        used.fold(0, |bits, slot| bits | slot.field.mask << slot.field.shift)
    }

    fn fired_rules(&self) -> Vec<RuleId> {
        self.fired.all()
    }

    fn note_fired_rules(&self, rules: &[RuleId]) {
        rules.iter().for_each(|&rule| self.note_fired(Action::Rule(rule)));
    }
}

/// The positions of the ones of a word, in increasing order.
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let position = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(position)
    })
}

/// Prepares the memory for the tests or the body of a unit.
#[inline]
fn prepare(memory: &mut Memory, unit: &SpecialisedUnit, arguments: &[i64]) {
    if unit.prepares {
        memory.begin(unit.frame);
        if unit.reads_parameters {
            memory.frames[..arguments.len()].copy_from_slice(arguments);
        }
    }
}

/// Whether all tests of a unit succeed.
#[inline]
fn enabled(machine: &mut Machine<'_>, unit: &SpecialisedUnit, arguments: &[i64]) -> Result<bool, Stop> {
    prepare(machine.memory, unit, arguments);
    if !machine.test_node(&unit.first_test)? {
        return Ok(false);
    }
    for &test in unit.tests() {
        if !machine.test(test)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Translates an owner as far as possible.
fn translate_owner<'m>(
    interpreter: &Interpreter<'m>,
    specialiser: &mut Specialiser<'m>,
    owner: &Owner<'m>,
    expand: bool,
) -> Translation {
    if expand && let Some(units) = specialise_instances(interpreter, specialiser, owner) {
        return Translation::Specialised(units);
    }
    let parameters = Parameters::new(interpreter.model(), owner.parameters);
    match (parameters, specialiser.specialise(owner, None)) {
        (Some(parameters), Ok(unit)) => {
            Translation::General(parameters, SpecialisedUnit::new(&specialiser.code, &unit, Vec::new()))
        }
        _ => Translation::Reference,
    }
}

/// Specialises an owner to each valuation of its parameters, unless there are too many of them or
/// an instance is not supported.
fn specialise_instances<'m>(
    interpreter: &Interpreter<'m>,
    specialiser: &mut Specialiser<'m>,
    owner: &Owner<'m>,
) -> Option<Vec<SpecialisedUnit>> {
    let mut types = owner.parameters.iter().map(|parameter| owner.locals[parameter.local].ty);
    if !types.all(|ty| interpreter.model().is_scalar(ty)) {
        return None;
    }
    let mut valuations: Vec<Vec<i64>> = Vec::new();
    for (tried, arguments) in interpreter.instances(owner.parameters, owner.locals).enumerate() {
        if tried == TRIED_LIMIT {
            return None;
        }
        if owner.is_ruled_out(interpreter.model(), &arguments) {
            continue;
        }
        if valuations.len() == SPECIALISED_INSTANCES {
            return None;
        }
        valuations.push(arguments);
    }
    let mut units = Vec::with_capacity(valuations.len());
    for arguments in valuations {
        if specialiser.is_exhausted() {
            return None;
        }
        let unit = specialiser.specialise(owner, Some(&arguments)).ok()?;
        units.push(SpecialisedUnit::new(&specialiser.code, &unit, arguments));
    }
    // A guard that is always false is not worth trying.
    units.retain(|unit| unit.first_test != Test::Constant(false) || unit.body.is_none());
    for position in (1..units.len()).rev() {
        if units[position - 1].first_test == units[position].first_test && units[position].first_test.is_of_field() {
            units[position - 1].alike = units[position].alike + 1;
        }
    }
    Some(units)
}

impl SpecialisedUnit {
    fn new(code: &Code, unit: &Unit, arguments: Vec<i64>) -> Self {
        let first_test = unit.tests.first().map_or(Test::Constant(true), |&test| code.tests[test]);
        Self {
            first_test,
            alike: 0,
            all_tests: unit.tests.iter().copied().collect(),
            body: unit.body,
            frame: unit.frame,
            tests_write: unit.tests_write,
            reads_parameters: unit.reads_parameters,
            prepares: unit.prepares,
            arguments: arguments.into_boxed_slice(),
        }
    }
}

/// Whether a cell may hold the integer that marks undefined cells.
fn has_least_integer(model: &Model) -> bool {
    model.types.iter_enumerated().any(|(id, ty)| match ty.kind {
        TypeKind::Integer | TypeKind::Array { .. } | TypeKind::Record { .. } | TypeKind::Multiset { .. } => false,
        _ => model.domain(id).least() == code::UNDEFINED,
    })
}
