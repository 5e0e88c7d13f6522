//! Fairness classes: the processes of a model, its events, or the instances of its rules; and what symmetries do to them.

use std::cell::RefCell;
use std::rc::Rc;

use quotient_groups::SparsePermutation;
use quotient_ir::{
    Action, Budget, EventLabel, Expr, Fairness, INTERNAL_EVENT, Interpreter, Model, RuleId, Spent, TableIndex, Trace,
    Valuation, event_text,
};
use quotient_symmetry::{CertifiedGroup, Instance, InstanceAction, InstanceMap, Subject};
use rustc_hash::{FxHashMap, FxHashSet};

use quotient_search::{FairnessMode, FairnessScope};

/// The number of a fairness class.
pub type ClassId = u32;

/// What a class consists of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ClassKey {
    /// All instances that belong to a process, or that it takes part in.
    Process(i64),
    /// All instances of an event, by its text.
    Event(String),
    /// One instance of a rule.
    Instance(RuleId, Vec<i64>),
}

/// The state before a step.
#[derive(Clone, Copy, Debug)]
pub enum Before<'s> {
    /// Its words.
    Packed(&'s [u64]),
    /// The values of its slots.
    Plain(&'s Valuation),
}

/// The classes of a rule.
#[derive(Clone, Debug)]
enum RuleClasses {
    /// The same for its only instance in all states.
    Fixed(Vec<ClassId>),
    /// Different ones for its instances.
    ByInstance,
    /// Those of its processes, and an event that depends on the state.
    ByState(Vec<ClassId>),
}

/// The classes that are known so far.
#[derive(Debug, Default)]
struct Known {
    numbers: FxHashMap<ClassKey, ClassId>,
    strength: Vec<Fairness>,
}

impl Known {
    fn number(&mut self, key: ClassKey, strength: Fairness) -> ClassId {
        let next = self.strength.len() as ClassId;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.strength.push(strength);
        }
        number
    }
}

/// Events that the text of a model calls fair.
#[derive(Debug, Default)]
struct Annotated {
    /// By their texts.
    single: FxHashMap<String, Fairness>,
    /// By their names and the number of their values, where the values depend on the state.
    all: FxHashMap<(String, usize), Fairness>,
}

impl Annotated {
    fn new(model: &Model) -> Self {
        let mut annotated = Self::default();
        for (rule, it) in model.rules.iter().zip(&model.participation) {
            let EventLabel::Event { name, values } = &it.event else { continue };
            if rule.fairness == Fairness::None {
                continue;
            }
            let known = match constant_event(model, &it.event) {
                Some(text) => annotated.single.entry(text).or_default(),
                None => annotated.all.entry((name.clone(), values.len())).or_default(),
            };
            *known = rule.fairness.max(*known);
        }
        annotated
    }

    fn strength(&self, label: &EventLabel, text: &str) -> Fairness {
        let EventLabel::Event { name, values } = label else { return Fairness::None };
        let single = self.single.get(text).copied().unwrap_or_default();
        single.max(self.all.get(&(name.clone(), values.len())).copied().unwrap_or_default())
    }

    /// Whether an event whose values depend on the state may be among these.
    fn may_have(&self, label: &EventLabel) -> bool {
        let EventLabel::Event { name, values } = label else { return false };
        let begins = |text: &String| text.starts_with(name.as_str());
        self.all.contains_key(&(name.clone(), values.len())) || self.single.keys().any(begins)
    }
}

/// The text of an event that does not depend on the state.
fn constant_event(model: &Model, label: &EventLabel) -> Option<String> {
    match label {
        EventLabel::Nothing => None,
        EventLabel::Internal => Some(INTERNAL_EVENT.to_owned()),
        EventLabel::Event { name, values } => {
            let constant = |value: &_| match model.pool[*value] {
                Expr::Constant { value, .. } => Some(value),
                _ => None,
            };
            Some(event_text(name, &values.iter().map(constant).collect::<Option<Vec<i64>>>()?))
        }
    }
}

/// The fairness classes of a model. Those of events that depend on the state are found when they occur.
pub struct Classes<'a, 'm> {
    interpreter: &'a Interpreter<'m>,
    known: RefCell<Known>,
    rules: Vec<RuleClasses>,
    annotated: Annotated,
    /// What all events are guaranteed, if fairness of events is asked for.
    of_events: Fairness,
}

impl<'a, 'm> Classes<'a, 'm> {
    /// The classes of a model: those that its text declares fair, and what fairness is asked for.
    pub fn new(interpreter: &'a Interpreter<'m>, mode: FairnessMode) -> Self {
        let model = interpreter.model();
        let general = mode.strength();
        let has_processes = model.has_processes();
        let scope = match mode.scope() {
            FairnessScope::Usual if has_processes => FairnessScope::Processes,
            FairnessScope::Usual => FairnessScope::Events,
            other => other,
        };
        let by_process = scope == FairnessScope::Processes && general != Fairness::None;
        let of_events = if scope == FairnessScope::Events { general } else { Fairness::None };
        let mut known = Known::default();
        let annotated = Annotated::new(model);
        let mut rules = Vec::with_capacity(model.rules.len());
        for (rule, entry) in model.rules.iter_enumerated() {
            if let Some(it) = model.participation.get(rule.position()) {
                let processes = it.processes.iter().filter(|_| by_process);
                let mut own: Vec<ClassId> =
                    processes.map(|&process| known.number(ClassKey::Process(process), general)).collect();
                let is_fair = of_events != Fairness::None || annotated.may_have(&it.event);
                rules.push(match (constant_event(model, &it.event), &it.event) {
                    (None, EventLabel::Event { .. }) if is_fair => RuleClasses::ByState(own),
                    (text, label) => {
                        if let Some(text) = text {
                            let strength = of_events.max(annotated.strength(label, &text));
                            if strength != Fairness::None {
                                own.push(known.number(ClassKey::Event(text), strength));
                            }
                        }
                        RuleClasses::Fixed(own)
                    }
                });
                continue;
            }
            let strength = entry.fairness.max(of_events);
            let mut last = Vec::new();
            let mut count = 0;
            for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                last.clear();
                count += 1;
                if by_process && let Some(process) = model.owner_of(rule, &arguments) {
                    last.push(known.number(ClassKey::Process(process), general));
                }
                if strength != Fairness::None {
                    last.push(known.number(ClassKey::Instance(rule, arguments.clone()), strength));
                }
            }
            let has_none = strength == Fairness::None && !by_process;
            rules.push(if count <= 1 || has_none { RuleClasses::Fixed(last) } else { RuleClasses::ByInstance });
        }
        Self { interpreter, known: RefCell::new(known), rules, annotated, of_events }
    }

    pub(crate) fn model(&self) -> &'m Model {
        self.interpreter.model()
    }

    /// The number of classes so far.
    pub fn len(&self) -> usize {
        self.known.borrow().strength.len()
    }
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What each class is guaranteed.
    pub fn strengths(&self) -> Vec<Fairness> {
        self.known.borrow().strength.clone()
    }

    /// Whether some classes depend on the state in which a step is taken.
    pub fn depend_on_states(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule, RuleClasses::ByState(_)))
    }

    /// The classes of an instance, in order of their numbers.
    pub fn of(&self, action: Action, arguments: &[i64], before: Before<'_>) -> Vec<ClassId> {
        let Action::Rule(rule) = action else { return Vec::new() };
        let mut own = match &self.rules[rule.position()] {
            RuleClasses::Fixed(own) => own.clone(),
            RuleClasses::ByInstance => self.of_instance(rule, arguments),
            RuleClasses::ByState(own) => {
                let label = &self.model().participation[rule.position()].event;
                let text = match before {
                    Before::Plain(state) => self.interpreter.event_of(rule, arguments, state),
                    Before::Packed(state) => {
                        self.interpreter.event_of(rule, arguments, &self.interpreter.layout().unpack(state))
                    }
                };
                let event = text.and_then(|text| {
                    let strength = self.of_events.max(self.annotated.strength(label, &text));
                    let mut known = self.known.borrow_mut();
                    (strength != Fairness::None).then(|| known.number(ClassKey::Event(text), strength))
                });
                own.iter().copied().chain(event).collect()
            }
        };
        own.sort_unstable();
        own.dedup();
        own
    }

    fn of_instance(&self, rule: RuleId, arguments: &[i64]) -> Vec<ClassId> {
        let known = self.known.borrow();
        let process = self.model().owner_of(rule, arguments).map(ClassKey::Process);
        let own = Some(ClassKey::Instance(rule, arguments.to_vec()));
        process.into_iter().chain(own).filter_map(|key| known.numbers.get(&key).copied()).collect()
    }

    /// All instances with their classes, if these do not depend on states.
    fn instances(&self) -> Vec<(Instance, Vec<ClassId>)> {
        let model = self.model();
        let nothing = Valuation(Vec::new());
        let mut all = Vec::new();
        for (rule, entry) in model.rules.iter_enumerated() {
            for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
                let classes = self.of(Action::Rule(rule), &arguments, Before::Plain(&nothing));
                let subject = Subject::Action(Action::Rule(rule));
                all.push((Instance { subject, arguments }, classes));
            }
        }
        all
    }
}

/// What the elements of a group do to classes.
///
/// An instance may belong to several classes, so its image alone does not tell their images. But a class is determined
/// by its instances: its image has their images. Classes with the same instances are enabled and taken together, and
/// are mapped in the order of their numbers.
pub struct ClassAction {
    action: InstanceAction,
    /// The classes of each instance that can fire.
    of: FxHashMap<Instance, Vec<ClassId>>,
    /// How each class is recognised; none if its instances can never fire.
    samples: Vec<Option<Sample>>,
    /// The images of all classes, by element.
    known: RefCell<FxHashMap<SparsePermutation, Rc<[ClassId]>>>,
}

/// Instances that tell a class from others.
#[derive(Debug)]
struct Sample {
    inside: Vec<Instance>,
    outside: Vec<Instance>,
    strength: Fairness,
    /// Its position among the classes with the same instances.
    position: usize,
}

impl ClassAction {
    /// The action of a group; `None` if it does not map classes to classes, or that is not known.
    pub fn new(group: &CertifiedGroup, classes: &Classes<'_, '_>) -> Option<Self> {
        if classes.depend_on_states() {
            return None;
        }
        let action = group.instance_action();
        let mut instances = classes.instances();
        // Those are their own images, wherever their classes go.
        instances.retain(|(instance, _)| !action.is_idle(instance));
        let strengths = classes.strengths();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); strengths.len()];
        for (number, (_, own)) in instances.iter().enumerate() {
            own.iter().for_each(|&class| members[class as usize].push(number));
        }
        let mut twins: FxHashMap<(&[usize], Fairness), Vec<ClassId>> = FxHashMap::default();
        for (class, own) in (0..).zip(&members) {
            twins.entry((own, strengths[class as usize])).or_default().push(class);
        }
        let numbers: FxHashMap<&Instance, usize> =
            instances.iter().enumerate().map(|(number, (instance, _))| (instance, number)).collect();
        for generator in 0..group.generators().len() {
            let map = action.of_generator(generator);
            let mut images: Vec<usize> = Vec::with_capacity(instances.len());
            let mut is_image = vec![false; instances.len()];
            for (instance, own) in &instances {
                let image = action.image(&map, instance).and_then(|image| numbers.get(&image).copied());
                // Instances with the same effect may be identified: those of classes must still be permuted.
                let is_unclear = match image {
                    None => !own.is_empty(),
                    Some(image) if own.is_empty() => !instances[image].1.is_empty(),
                    Some(image) => std::mem::replace(&mut is_image[image], true),
                };
                if is_unclear {
                    return None;
                }
                images.push(image.unwrap_or(usize::MAX));
            }
            for (own, &strength) in members.iter().zip(&strengths) {
                let mut image: Vec<usize> = own.iter().map(|&number| images[number]).collect();
                image.sort_unstable();
                let count = |members: &[usize]| twins.get(&(members, strength)).map(Vec::len);
                if count(&image) != count(own) {
                    return None;
                }
            }
        }
        let samples = (0..strengths.len() as ClassId).map(|class| {
            let strength = strengths[class as usize];
            let position = twins[&(&members[class as usize][..], strength)].iter().position(|&twin| twin == class);
            sample(class, &members, &instances).map(|(inside, outside)| Sample {
                inside,
                outside,
                strength,
                position: position.unwrap_or_default(),
            })
        });
        let samples = samples.collect();
        Some(Self { action, of: instances.into_iter().collect(), samples, known: RefCell::default() })
    }

    /// The images of all classes under an element.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn of(
        &self,
        classes: &Classes<'_, '_>,
        element: &SparsePermutation,
        budget: &Budget,
    ) -> Result<Rc<[ClassId]>, Spent> {
        if let Some(known) = self.known.borrow().get(element) {
            return Ok(Rc::clone(known));
        }
        let strengths = classes.strengths();
        let images: Rc<[ClassId]> = if element.is_identity() {
            (0..self.samples.len() as ClassId).collect()
        } else {
            let map = self.action.of_element(element, budget)?.expect("a witness is an element of the group");
            let image = |(class, sample): (ClassId, &Option<Sample>)| match sample {
                None => class,
                Some(sample) => self.image(&map, sample, &strengths),
            };
            (0..).zip(&self.samples).map(image).collect()
        };
        self.known.borrow_mut().insert(element.clone(), Rc::clone(&images));
        Ok(images)
    }

    /// The class that has the images of the instances of a class.
    fn image(&self, map: &InstanceMap, sample: &Sample, strengths: &[Fairness]) -> ClassId {
        let of_image = |instance: &Instance| {
            let image = self.action.image(map, instance);
            image.and_then(|image| self.of.get(&image)).map_or(&[][..], |own| &own[..])
        };
        let first = of_image(&sample.inside[0]).iter().copied();
        let mut fitting: Vec<ClassId> = first.filter(|&class| strengths[class as usize] == sample.strength).collect();
        for instance in &sample.inside[1..] {
            let own = of_image(instance);
            fitting.retain(|class| own.contains(class));
        }
        for instance in &sample.outside {
            let own = of_image(instance);
            fitting.retain(|class| !own.contains(class));
        }
        *fitting.get(sample.position).expect("a symmetry whose generators permute the classes permutes them")
    }
}

/// Instances inside and outside of a class that tell it from all classes with other instances; none if it has none.
fn sample(
    class: ClassId,
    members: &[Vec<usize>],
    instances: &[(Instance, Vec<ClassId>)],
) -> Option<(Vec<Instance>, Vec<Instance>)> {
    let own = &members[class as usize];
    let first = *own.first()?;
    let (mut inside, mut outside) = (vec![instances[first].0.clone()], Vec::new());
    let mut others = instances[first].1.clone();
    others.retain(|&other| members[other as usize] != *own);
    while let Some(&other) = others.first() {
        let has = |number: usize, class: ClassId| instances[number].1.contains(&class);
        if let Some(&number) = own.iter().find(|&&number| !has(number, other)) {
            inside.push(instances[number].0.clone());
            others.retain(|&other| has(number, other));
        } else {
            let number = members[other as usize].iter().copied().find(|&number| !has(number, class));
            let number = number.expect("classes with more instances have one that the others lack");
            outside.push(instances[number].0.clone());
            others.retain(|&other| !has(number, other));
        }
    }
    Some((inside, outside))
}

/// Whether an infinite run is fair, by the reference interpreter.
pub fn is_fair(trace: &Trace, interpreter: &Interpreter<'_>, classes: &Classes<'_, '_>) -> bool {
    // In a state in which nothing can happen, nothing is neglected.
    let Some(begin) = trace.cycle else { return true };
    let mut taken: FxHashSet<ClassId> = FxHashSet::default();
    let mut enabled: Vec<FxHashSet<ClassId>> = Vec::new();
    for pair in trace.steps[begin..].windows(2) {
        let [before, step] = pair else { continue };
        taken.extend(classes.of(step.action, &step.arguments, Before::Plain(&before.state)));
        enabled.push(enabled_in(interpreter, classes, &before.state));
    }
    let strengths = classes.strengths();
    let once: FxHashSet<ClassId> = enabled.iter().flatten().copied().collect();
    once.iter().filter(|class| !taken.contains(class)).all(|class| match strengths[*class as usize] {
        Fairness::None => true,
        Fairness::Weak => !enabled.iter().all(|here| here.contains(class)),
        Fairness::Strong => false,
    })
}

/// The classes that are enabled in a state.
fn enabled_in(interpreter: &Interpreter<'_>, classes: &Classes<'_, '_>, state: &Valuation) -> FxHashSet<ClassId> {
    let mut enabled = FxHashSet::default();
    for (rule, entry) in interpreter.model().rules.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            let leads_on = interpreter.enabled(rule, &arguments, state) == Ok(true)
                && matches!(interpreter.fire(rule, &arguments, state),
                    quotient_ir::Outcome::Next { state, .. } if interpreter.is_assumed(&state));
            if leads_on {
                enabled.extend(classes.of(Action::Rule(rule), &arguments, Before::Plain(state)));
            }
        }
    }
    enabled
}
