//! Fairness classes: the processes of a model, or the instances of its rules; and what symmetries do to them.

use std::cell::RefCell;

use quotient_groups::SparsePermutation;
use quotient_ir::{Action, Budget, Fairness, Interpreter, Model, Owner, RuleId, Spent};
use quotient_symmetry::{CertifiedGroup, Instance, InstanceAction, Subject};
use rustc_hash::FxHashMap;

use crate::options::FairnessMode;

/// The number of a fairness class.
pub(crate) type ClassId = u32;

/// What a class consists of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ClassKey {
    /// All instances that belong to a process.
    Process(i64),
    /// One instance of a rule.
    Instance(RuleId, Vec<i64>),
}

/// The fairness classes of a model.
#[derive(Debug)]
pub(crate) struct Classes {
    numbers: FxHashMap<ClassKey, ClassId>,
    /// The fairness that each class is guaranteed.
    pub(crate) strength: Vec<Fairness>,
    /// An instance of each class.
    samples: Vec<(RuleId, Vec<i64>)>,
    /// The classes of each rule: of its process, of its instances.
    by_process: bool,
    by_instance: Vec<bool>,
}

impl Classes {
    /// The classes of a model: those that its text declares fair, and all processes (or, without processes, all
    /// instances) if fairness is asked for.
    pub(crate) fn new(interpreter: &Interpreter<'_>, mode: FairnessMode) -> Self {
        let model = interpreter.model();
        let general = match mode {
            FairnessMode::None => Fairness::None,
            FairnessMode::Weak => Fairness::Weak,
            FairnessMode::Strong => Fairness::Strong,
        };
        let has_processes = model.rules.iter().any(|rule| rule.owner != Owner::None);
        let by_process = has_processes && general != Fairness::None;
        let of_instances = |fairness: Fairness| if has_processes { fairness } else { fairness.max(general) };
        let by_instance: Vec<bool> =
            model.rules.iter().map(|rule| of_instances(rule.fairness) != Fairness::None).collect();
        let mut classes =
            Self { numbers: FxHashMap::default(), strength: Vec::new(), samples: Vec::new(), by_process, by_instance };
        for (rule, entry) in model.rules.iter_enumerated() {
            if !by_process && !classes.by_instance[rule_position(rule)] {
                continue;
            }
            for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                if by_process && let Some(process) = model.owner_of(rule, &arguments) {
                    classes.add(ClassKey::Process(process), general, rule, &arguments);
                }
                if classes.by_instance[rule_position(rule)] {
                    let key = ClassKey::Instance(rule, arguments.clone());
                    classes.add(key, of_instances(entry.fairness), rule, &arguments);
                }
            }
        }
        classes
    }

    fn add(&mut self, key: ClassKey, strength: Fairness, rule: RuleId, arguments: &[i64]) {
        let next = self.strength.len() as ClassId;
        if *self.numbers.entry(key).or_insert(next) == next {
            self.strength.push(strength);
            self.samples.push((rule, arguments.to_vec()));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.strength.len()
    }

    /// The classes of an instance.
    pub(crate) fn of(&self, model: &Model, rule: RuleId, arguments: &[i64]) -> impl Iterator<Item = ClassId> {
        let number = |key: ClassKey| self.numbers.get(&key).copied();
        let process = model.owner_of(rule, arguments).filter(|_| self.by_process);
        let process = process.and_then(|process| number(ClassKey::Process(process)));
        let is_own = self.by_instance[rule_position(rule)];
        let own = is_own.then(|| number(ClassKey::Instance(rule, arguments.to_vec()))).flatten();
        process.into_iter().chain(own)
    }

    /// The classes of an instance of an action.
    pub(crate) fn of_action(&self, model: &Model, action: Action, arguments: &[i64]) -> Vec<ClassId> {
        match action {
            Action::Rule(rule) => self.of(model, rule, arguments).collect(),
            Action::Start(_) => Vec::new(),
        }
    }
}

fn rule_position(rule: RuleId) -> usize {
    use quotient_ir::TableIndex;
    rule.position()
}

/// What the elements of a group do to classes.
pub(crate) struct ClassAction {
    action: InstanceAction,
    /// The images of all classes, by element.
    known: RefCell<FxHashMap<SparsePermutation, std::rc::Rc<[ClassId]>>>,
}

impl ClassAction {
    /// The action of a group; `None` if it does not map classes to classes, or that is not known.
    pub(crate) fn new(interpreter: &Interpreter<'_>, group: &CertifiedGroup, classes: &Classes) -> Option<Self> {
        let model = interpreter.model();
        let action = group.instance_action();
        for generator in 0..group.generators().len() {
            let map = action.of_generator(generator);
            let mut images: Vec<Option<ClassId>> = vec![None; classes.len()];
            for (rule, entry) in model.rules.iter_enumerated() {
                for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                    let from: Vec<ClassId> = classes.of(model, rule, &arguments).collect();
                    if from.is_empty() && classes.len() == 0 {
                        continue;
                    }
                    let subject = Subject::Action(Action::Rule(rule));
                    let image = action.image(&map, &Instance { subject, arguments })?;
                    let Subject::Action(to) = image.subject else { return None };
                    let to = classes.of_action(model, to, &image.arguments);
                    if from.len() != to.len() {
                        return None;
                    }
                    for (&from, &to) in from.iter().zip(&to) {
                        if classes.strength[from as usize] != classes.strength[to as usize] {
                            return None;
                        }
                        let known = images[from as usize].get_or_insert(to);
                        if *known != to {
                            return None;
                        }
                    }
                }
            }
            // Exchanged instances that have the same effect may be identified: classes must still be permuted.
            let mut hit = vec![false; classes.len()];
            for image in images.iter().flatten() {
                if std::mem::replace(&mut hit[*image as usize], true) {
                    return None;
                }
            }
        }
        Some(Self { action, known: RefCell::default() })
    }

    /// The images of all classes under an element.
    ///
    /// # Errors
    /// If the budget is spent.
    pub(crate) fn of(
        &self,
        model: &Model,
        classes: &Classes,
        element: &SparsePermutation,
        budget: &Budget,
    ) -> Result<std::rc::Rc<[ClassId]>, Spent> {
        if let Some(known) = self.known.borrow().get(element) {
            return Ok(std::rc::Rc::clone(known));
        }
        let images: std::rc::Rc<[ClassId]> = if element.is_identity() {
            (0..classes.len() as ClassId).collect()
        } else {
            let map = self.action.of_element(element, budget)?.expect("a witness is an element of the group");
            let image = |(number, (rule, arguments)): (usize, &(RuleId, Vec<i64>))| {
                let subject = Subject::Action(Action::Rule(*rule));
                let instance = Instance { subject, arguments: arguments.clone() };
                let image = self.action.image(&map, &instance).expect("images of generators are known");
                let Subject::Action(action) = image.subject else { unreachable!("a rule is mapped to a rule") };
                let position = classes.of(model, *rule, arguments).position(|class| class as usize == number);
                let position = position.expect("a sample belongs to its class");
                classes.of_action(model, action, &image.arguments)[position]
            };
            classes.samples.iter().enumerate().map(image).collect()
        };
        self.known.borrow_mut().insert(element.clone(), std::rc::Rc::clone(&images));
        Ok(images)
    }
}
