//! A certificate checker that does not trust detection: it reads the text of the model and the certificate, but neither
//! the coloured graph nor the result of the automorphism search.
//!
//! Each generator is translated from names into a permutation of the cells and values of a state, and must pass two
//! checks:
//!
//! * **Runs.** The reference interpreter visits reachable states breadth-first, up to a fixed amount of work. Every
//!   instance of every rule is executed in each state and in its image. The successors of the image must be the images
//!   of the successors, the set of initial states must be mapped onto itself, and every property must have the same
//!   value in both states. A difference refutes the generator. If all reachable states were visited, a generator
//!   without a difference is a symmetry.
//! * **Normal forms** ([`quotient_symmetry::Certifier`]), for all states: every rule instance is a function of the
//!   state. Relabelled by the generator, it must equal the function of the instance that the certificate names.
//!
//! Trusted: the front end and the state layout, the reference interpreter (`quotient_ir`), and, if not all states could
//! be visited, that equal normal forms are equal functions (`quotient_functions`). The order of the group is recomputed
//! from the generators (`quotient_groups`).

use std::collections::{HashMap, HashSet, VecDeque};

use num_bigint::BigUint;
use quotient_groups::{PermutationGroup, Point, SparsePermutation};
use quotient_ir::{
    Action, Budget, FaultKind, Interpreter, Interrupt, Outcome, PropertyId, RuleId, SlotId, TableIndex, Valuation,
};
use quotient_symmetry::{Certifier, Instance, Literals, Rejection, StateMap, Subject};
use quotient_systems::{walk, walk::Choice};

use super::{CellMove, Certificate, GeneratorRecord, InstanceName, RuleMove, ValueName, instance_name, value_name};
use crate::control::{Control, Phase, Silent, Supervised};
use crate::error::Error;
use crate::model::Model;
use crate::selection::named_properties;
use quotient_search::defect::Defect;

/// The maximum number of instances executed for all states and generators together.
const RUNS: usize = 100_000;
/// The maximum number of states visited.
const STATES: usize = 20_000;
/// With more instances than this, no states are visited.
const INSTANCES: usize = 20_000;

/// The outcome of checking a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The verdict on the certificate.
    pub verdict: CertificateVerdict,
    /// The number of generators that passed.
    pub generators: usize,
    /// The order of the group they generate, if all passed.
    pub order: Option<BigUint>,
    /// The number of reachable states that the reference interpreter compared with their images.
    pub states: usize,
    /// Whether these are all reachable states.
    pub is_exhaustive: bool,
}

/// Whether a certificate is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateVerdict {
    /// Every generator is a symmetry, and the order is that of the group.
    Certified,
    /// The certificate is wrong.
    Refuted(Finding),
    /// It is unknown whether some generator is a symmetry.
    Undecided(Finding),
}

/// What is wrong, or cannot be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The generator, counted from 1; none if the finding concerns the whole certificate.
    pub generator: Option<usize>,
    /// The kind of finding.
    pub cause: Cause,
}

/// The kinds of [`Finding`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The generator is not a permutation of the states of this model, for this reason.
    NoPermutation(String),
    /// This instance has a successor in a state without a counterpart in the image of the state, or vice versa.
    Step {
        /// The rule or initial state.
        action: Action,
        /// The cells of its parameters.
        arguments: Vec<i64>,
    },
    /// The property has a different value in the image of a state.
    Property(PropertyId),
    /// The certificate maps a rule instance to the wrong instance.
    Image {
        /// The rule, if there is one with this number.
        rule: Option<RuleId>,
        /// The instance as the certificate describes it.
        claim: String,
    },
    /// The group has a different order.
    Order {
        /// The order in the certificate.
        claimed: String,
        /// The actual order.
        actual: BigUint,
    },
    /// Undecided, for this reason.
    Unknown(String),
}

/// Checks a certificate against a model that was loaded with the certificate's options ([`Certificate::load_options`]).
///
/// # Errors
/// If the certificate belongs to another model, a limit was reached first, or there is a defect in this program.
pub fn verify(certificate: &Certificate, model: &Model, control: &Control) -> Result<Verification, Error> {
    let foreign = |message: String| Error::whole_model(model.source().clone(), "other-model", message);
    if certificate.schema != super::CERTIFICATE_SCHEMA {
        let message = format!("this is not a certificate of a known form: its schema is `{}`", certificate.schema);
        return Err(foreign(message));
    }
    let hash = model.hash().map(|hash| hash.to_string()).unwrap_or_default();
    if hash != certificate.model.sha256 {
        return Err(foreign(format!(
            "the certificate is about another text: that of `{}` with SHA-256 {}, and this one has {hash}",
            certificate.model.file, certificate.model.sha256
        )));
    }
    let properties = named_properties(model.ir(), &certificate.properties)?;
    control.enter(Phase::Detecting);
    let (job, read, watched) = (model.clone(), certificate.clone(), control.clone());
    let work = move || check(&read, &job, properties, watched.interrupt());
    match control.supervise(&mut Silent, work)? {
        Supervised::Done(Err(_)) if control.stop_reason().is_some() => Err(crate::symmetries::stopped(control)),
        Supervised::Done(result) => result,
        Supervised::Abandoned(reason) => Err(Error::Stopped(reason)),
    }
}

/// A generator translated back into a permutation.
struct Generator<'c> {
    number: usize,
    record: &'c GeneratorRecord,
    permutation: SparsePermutation,
    map: StateMap,
}

fn check(
    certificate: &Certificate,
    model: &Model,
    mut properties: Vec<PropertyId>,
    interrupt: &Interrupt,
) -> Result<Verification, Error> {
    // Assumptions determine which states exist.
    properties.extend(model.ir().properties.iter_enumerated().filter(|(_, it)| !it.kind.is_claim()).map(|(id, _)| id));
    let budget = Budget::until(interrupt);
    let stopped = |_| Error::Stopped(quotient_search::StopReason::Withdrawn);
    let mut certifier = Certifier::new(model.ir(), model.layout(), &properties, &budget).map_err(stopped)?;
    let literals = certifier.literals().clone();
    let mut result = Verification {
        verdict: CertificateVerdict::Certified,
        generators: 0,
        order: None,
        states: 0,
        is_exhaustive: false,
    };
    let mut generators = Vec::new();
    for (record, number) in certificate.generators.iter().zip(1..) {
        let read = permutation_of(model, &literals, record).and_then(|permutation| {
            let map = literals.action(model.layout(), &permutation).map_err(|error| error.to_string())?;
            Ok((permutation, map))
        });
        match read {
            Ok((permutation, map)) => generators.push(Generator { number, record, permutation, map }),
            Err(reason) => {
                let cause = Cause::NoPermutation(reason);
                return Ok(Verification {
                    verdict: CertificateVerdict::Refuted(Finding { generator: Some(number), cause }),
                    ..result
                });
            }
        }
    }
    let comparison = Comparison::new(model, &properties, interrupt);
    let compared = comparison.run(&generators);
    (result.states, result.is_exhaustive) = (compared.states, compared.is_exhaustive);
    if let Some((generator, cause)) = compared.difference {
        return Ok(Verification {
            verdict: CertificateVerdict::Refuted(Finding { generator: Some(generator), cause }),
            ..result
        });
    }
    for Generator { number, record, permutation, .. } in &generators {
        let finding = |cause| Finding { generator: Some(*number), cause };
        let verdict = match certifier.check(permutation) {
            Ok(_) => wrong_image(model, &certifier, permutation, &record.rules)
                .map(|cause| CertificateVerdict::Refuted(finding(cause))),
            // Normal forms of equal functions may differ. If all states were compared, nothing remains to be shown.
            Err(_) if result.is_exhaustive => None,
            Err(Rejection::GaveUp(_)) => return Err(Error::Stopped(quotient_search::StopReason::Withdrawn)),
            Err(rejection) => Some(CertificateVerdict::Undecided(finding(cause_of(rejection)?))),
        };
        if let Some(verdict) = verdict {
            return Ok(Verification { verdict, ..result });
        }
        result.generators += 1;
    }
    let permutations = generators.into_iter().map(|generator| generator.permutation).collect();
    let actual = PermutationGroup::new(literals.degree(), permutations).order();
    result.order = Some(actual.clone());
    if actual.to_string() != certificate.order {
        let cause = Cause::Order { claimed: certificate.order.clone(), actual };
        return Ok(Verification { verdict: CertificateVerdict::Refuted(Finding { generator: None, cause }), ..result });
    }
    Ok(result)
}

/// Why a permutation could not be proved to be a symmetry.
fn cause_of(rejection: Rejection) -> Result<Cause, Error> {
    Ok(match rejection {
        Rejection::Event { action, arguments } | Rejection::Firings { action, arguments } => {
            Cause::Step { action, arguments }
        }
        Rejection::Property(property) => Cause::Property(property),
        Rejection::Run { instance: Instance { subject: Subject::Action(action), arguments }, .. } => {
            Cause::Step { action, arguments }
        }
        Rejection::Run { instance: Instance { subject: Subject::Property(property), .. }, .. } => {
            Cause::Property(property)
        }
        // A value assumed impossible can occur, so nothing is known about any permutation.
        rejection @ (Rejection::Impossible { .. } | Rejection::Overlooked(_)) => {
            return Err(Defect::noticed(rejection.to_string()).into());
        }
        rejection => Cause::Unknown(rejection.to_string()),
    })
}

/// The permutation of literals that a record describes.
fn permutation_of(model: &Model, literals: &Literals, record: &GeneratorRecord) -> Result<SparsePermutation, String> {
    let slots: HashMap<&str, SlotId> =
        model.layout().slots.iter_enumerated().map(|(id, slot)| (slot.name.as_str(), id)).collect();
    let slot = |name: &str| slots.get(name).copied().ok_or_else(|| format!("the model has no cell `{name}`"));
    let mut moves: Vec<(Point, Point)> = Vec::new();
    let mut seen = HashSet::new();
    for CellMove { from, to, values } in &record.cells {
        if !seen.insert(from) {
            return Err(format!("`{from}` goes to two places"));
        }
        let (source, target) = (slot(from)?, slot(to)?);
        let entry = &literals.slots()[source];
        if entry.wide || literals.slots()[target].wide {
            moves.push((entry.first, literals.slots()[target].first));
            continue;
        }
        for (&value, point) in entry.values.iter().zip(entry.first..) {
            let name = value.map(|value| value_name(model, source, value));
            let listed = values.iter().find(|(from, _)| Some(from) == name.as_ref()).map(|(_, to)| to);
            let image = match listed {
                None => value,
                Some(to) => Some(value_of(model, literals, target, to).ok_or_else(|| {
                    let to_value = match to {
                        ValueName::Name(name) => name.clone(),
                        ValueName::Number(number) => number.to_string(),
                    };
                    format!("`{to}` cannot hold {to_value}", to = model.layout().slots[target].name)
                })?),
            };
            let image = literals.point(target, image).ok_or_else(|| format!("`{to}` cannot hold what `{from}` can"))?;
            moves.push((point, image));
        }
    }
    moves.retain(|(from, to)| from != to);
    SparsePermutation::from_moves(moves).map_err(|error| error.to_string())
}

/// The value with a name that a cell can hold.
fn value_of(model: &Model, literals: &Literals, slot: SlotId, name: &ValueName) -> Option<i64> {
    literals.slots()[slot].values.iter().flatten().copied().find(|&value| value_name(model, slot, value) == *name)
}

/// An image of a rule instance in the certificate that differs from the computed one. Instances that do the same in
/// every state are equivalent.
fn wrong_image(
    model: &Model,
    certifier: &Certifier<'_>,
    generator: &SparsePermutation,
    claims: &[RuleMove],
) -> Option<Cause> {
    if claims.is_empty() {
        return None;
    }
    let interpreter = Interpreter::new(model.ir(), model.layout());
    let mut named: HashMap<InstanceName, Instance> = HashMap::new();
    let mut rules: Vec<usize> = claims.iter().flat_map(|claim| [claim.from.number, claim.to.number]).collect();
    rules.sort_unstable();
    rules.dedup();
    for number in rules {
        if number == 0 || number > model.ir().rules.len() {
            continue;
        }
        let rule = RuleId::from_position(number - 1);
        let entry = &model.ir().rules[rule];
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            let subject = Subject::Action(Action::Rule(rule));
            named.insert(instance_name(model.ir(), rule, &arguments), Instance { subject, arguments });
        }
    }
    claims.iter().find_map(|RuleMove { from, to }| {
        let text = |name: &InstanceName| match &name.arguments[..] {
            [] => name.rule.clone(),
            arguments => format!("{}({})", name.rule, arguments.join(", ")),
        };
        let is_right = match (named.get(from), named.get(to)) {
            (Some(from), Some(to)) => certifier.maps_instance(generator, from, to),
            _ => false,
        };
        let is_rule = (1..=model.ir().rules.len()).contains(&from.number);
        let rule = is_rule.then(|| RuleId::from_position(from.number - 1));
        (!is_right).then(|| Cause::Image { rule, claim: format!("{} to {}", text(from), text(to)) })
    })
}

/// The outcome of a step, as far as it can be compared.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Effect {
    Next(Valuation, Vec<PropertyId>),
    Fault(FaultKind),
}

/// The result of comparing states with their images.
struct Compared {
    states: usize,
    is_exhaustive: bool,
    /// The first difference, and the generator it refutes.
    difference: Option<(usize, Cause)>,
}

/// Compares reachable states with their images, on the reference interpreter.
struct Comparison<'m> {
    interpreter: Interpreter<'m>,
    properties: &'m [PropertyId],
}

/// Why a comparison ended early.
enum Halt {
    /// A step does not terminate, or the comparison was interrupted.
    Unknown,
    /// A difference.
    Difference(usize, Cause),
}

impl<'m> Comparison<'m> {
    fn new(model: &'m Model, properties: &'m [PropertyId], interrupt: &Interrupt) -> Self {
        Self { interpreter: Interpreter::new(model.ir(), model.layout()).until(interrupt), properties }
    }

    /// The number of instances, up to a limit.
    fn instances(&self) -> usize {
        let model = self.interpreter.model();
        let rules = model.rules.iter().map(|rule| (&rule.parameters, &rule.locals));
        let starts = model.starts.iter().map(|start| (&start.parameters, &start.locals));
        let all = rules.chain(starts);
        all.flat_map(|(parameters, locals)| self.interpreter.instances(parameters, locals)).take(INSTANCES + 1).count()
    }

    fn run(&self, generators: &[Generator<'_>]) -> Compared {
        let mut compared = Compared { states: 0, is_exhaustive: false, difference: None };
        let instances = self.instances();
        if generators.is_empty() || instances > INSTANCES {
            return compared;
        }
        let limit = (RUNS / (instances.max(1) * (1 + generators.len()))).min(STATES);
        match self.visit(generators, limit, &mut compared.states) {
            Ok(is_exhaustive) => compared.is_exhaustive = is_exhaustive,
            Err(Halt::Unknown) => {}
            Err(Halt::Difference(generator, cause)) => compared.difference = Some((generator, cause)),
        }
        compared
    }

    /// Visits states up to a limit. Returns whether all were visited.
    fn visit(&self, generators: &[Generator<'_>], limit: usize, visited: &mut usize) -> Result<bool, Halt> {
        let starts = self.effects(walk::starts(&self.interpreter))?;
        for generator in generators {
            same_effects(generator, &starts, &starts)?;
        }
        let mut seen: HashSet<Valuation> = HashSet::new();
        let mut waiting: VecDeque<Valuation> = VecDeque::new();
        let mut found = starts;
        loop {
            for (_, effect) in found {
                if let Effect::Next(state, _) = effect
                    && !seen.contains(&state)
                    && walk::satisfies_assumptions(&self.interpreter, &state) == Ok(true)
                {
                    seen.insert(state.clone());
                    waiting.push_back(state);
                }
            }
            let Some(state) = waiting.pop_front() else { return Ok(true) };
            if *visited >= limit {
                return Ok(false);
            }
            found = self.effects(walk::successors(&self.interpreter, &state))?;
            for generator in generators {
                let image = generator.map.apply(&state);
                if image != state {
                    same_effects(generator, &found, &self.effects(walk::successors(&self.interpreter, &image))?)?;
                    self.same_properties(generator, &state, &image)?;
                } else {
                    same_effects(generator, &found, &found)?;
                }
            }
            *visited += 1;
        }
    }

    /// The outcomes of choices.
    fn effects(&self, choices: impl Iterator<Item = Choice>) -> Result<Vec<(Choice, Effect)>, Halt> {
        let mut effects = Vec::new();
        for choice in choices {
            let effect = match &choice.outcome {
                Outcome::Next { state, covered } => {
                    let covered = covered.iter().filter(|property| self.properties.contains(property));
                    Effect::Next(state.clone(), covered.copied().collect())
                }
                Outcome::Pruned => continue,
                Outcome::Fault(fault) if fault.kind == FaultKind::Exhausted => return Err(Halt::Unknown),
                Outcome::Fault(fault) => Effect::Fault(fault.kind),
            };
            effects.push((choice, effect));
        }
        Ok(effects)
    }

    /// Checks that properties have the same values in a state and its image; their instances may be permuted.
    fn same_properties(&self, generator: &Generator<'_>, state: &Valuation, image: &Valuation) -> Result<(), Halt> {
        for &property in self.properties {
            let entry = &self.interpreter.model().properties[property];
            let says = |state: &Valuation| {
                let mut counts = [0usize; 3];
                for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
                    counts[match self.interpreter.holds(property, &arguments, state) {
                        Ok(false) => 0,
                        Ok(true) => 1,
                        Err(_) => 2,
                    }] += 1;
                }
                counts
            };
            if says(state) != says(image) {
                return Err(Halt::Difference(generator.number, Cause::Property(property)));
            }
        }
        Ok(())
    }
}

/// Checks that the successors of the image of a state are the images of its successors.
fn same_effects(generator: &Generator<'_>, here: &[(Choice, Effect)], there: &[(Choice, Effect)]) -> Result<(), Halt> {
    let images: Vec<Effect> = here
        .iter()
        .map(|(_, effect)| match effect {
            Effect::Next(state, covered) => Effect::Next(generator.map.apply(state), covered.clone()),
            Effect::Fault(kind) => Effect::Fault(*kind),
        })
        .collect();
    let differs = |choice: &Choice| {
        let cause = Cause::Step { action: choice.action, arguments: choice.arguments.clone() };
        Err(Halt::Difference(generator.number, cause))
    };
    let reached: HashSet<&Effect> = there.iter().map(|(_, effect)| effect).collect();
    if let Some(position) = images.iter().position(|image| !reached.contains(image)) {
        return differs(&here[position].0);
    }
    let images: HashSet<&Effect> = images.iter().collect();
    match there.iter().find(|(_, effect)| !images.contains(effect)) {
        Some((choice, _)) => differs(choice),
        None => Ok(()),
    }
}
