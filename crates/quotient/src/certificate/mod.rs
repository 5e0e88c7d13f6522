//! Certificates: the symmetries of a model in a form that somebody else can check. What is written here is plain data
//! in the names of the text; [`checker`](self::checker) reads it back and trusts none of it.

mod checker;

use std::collections::BTreeMap;

use quotient_ir::{Action, Interpreter, Model as Representation, RuleId, SlotId, TableIndex, TypeId, TypeKind};
use quotient_symmetry::{Instance, StateMap, Subject};
use serde::{Deserialize, Serialize};

use crate::model::{LoadOptions, Model};
use crate::names::{property_name, rule_name};
use crate::symmetries::Detected;

pub use checker::{Cause, CertificateVerdict, Finding, Verification, verify};

/// The version of the form.
pub const CERTIFICATE_SCHEMA: &str = "quotient-certificate/1";

/// More instances of rules than this are not listed.
const LISTED_INSTANCES: usize = 20_000;

/// The symmetries of a model, with what is needed to check them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version of the form: [`CERTIFICATE_SCHEMA`].
    pub schema: String,
    /// The version of the program that wrote it.
    pub version: String,
    /// The model.
    pub model: ModelRecord,
    /// Constants that were given other values.
    pub definitions: BTreeMap<String, String>,
    /// The properties that every symmetry preserves, by name; besides, all assumptions.
    pub properties: Vec<String>,
    /// How many symmetries there are.
    pub order: String,
    /// Symmetries that generate all others.
    pub generators: Vec<GeneratorRecord>,
}

/// Which model a certificate is about, and how it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// Its file, for people.
    pub file: String,
    /// The hash of its text ([`Model::hash`]).
    pub sha256: String,
    /// [`LoadOptions::no_extra_nodes`].
    pub no_extra_nodes: bool,
    /// [`LoadOptions::ignore_claims`].
    pub ignore_claims: bool,
    /// [`LoadOptions::max_processes`].
    pub max_processes: Option<u8>,
}

/// A symmetry: a permutation of the cells of states and of their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorRecord {
    /// What it does, for people.
    pub cycles: Vec<String>,
    /// What becomes of cells. Those that are not listed stay as they are.
    pub cells: Vec<CellMove>,
    /// The images of instances of rules. Those that are not listed stay; none are if they are too many to list, or
    /// depend on the state.
    pub rules: Vec<RuleMove>,
}

/// What becomes of a cell: its value becomes that of another cell, or of the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellMove {
    /// The cell.
    pub from: String,
    /// Where its value goes.
    pub to: String,
    /// Values and what becomes of them. Those that are not listed stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(ValueName, ValueName)>,
}

/// A value as the text writes it, or its number where several values have the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ValueName {
    /// Its number.
    Number(i64),
    /// Its name.
    Name(String),
}

/// An instance of a rule and its image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleMove {
    /// The instance.
    pub from: InstanceName,
    /// The instance that does in the image of a state what the other does in the state.
    pub to: InstanceName,
}

/// An instance of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceName {
    /// The rule's name.
    pub rule: String,
    /// The rule's number, counted from 1 in order of declaration: names need not be unique.
    pub number: usize,
    /// The values of its parameters, cell by cell.
    pub arguments: Vec<String>,
}

impl Certificate {
    /// How the model is to be read.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            constraint: None,
            // Certificates are about models as `detect` reads them.
            well_definedness: None,
            constants: self.definitions.clone().into_iter().collect(),
            language: None,
            no_extra_nodes: self.model.no_extra_nodes,
            ignore_claims: self.model.ignore_claims,
            max_processes: self.model.max_processes,
        }
    }
}

impl Detected {
    /// The symmetries with what is needed to check them. `load` says how the model was read.
    pub fn certificate(&self, load: &LoadOptions) -> Certificate {
        let model = self.model();
        let generators = match self.group() {
            None => Vec::new(),
            Some(group) => {
                let instances = group.instance_action();
                let names = InstanceNames::new(model);
                let described = group.maps().iter().zip(&self.generators).enumerate();
                let record = |(number, (map, description)): (usize, (&StateMap, &quotient_symmetry::Description))| {
                    let images = instances.of_generator(number);
                    let moved = names.instances.iter().filter_map(|instance| {
                        let image = instances.image(&images, instance).filter(|image| image != instance)?;
                        Some(RuleMove { from: names.name(model, instance)?, to: names.name(model, &image)? })
                    });
                    GeneratorRecord {
                        cycles: description.cycles(),
                        cells: cell_moves(model, map),
                        rules: moved.collect(),
                    }
                };
                described.map(record).collect()
            }
        };
        Certificate {
            schema: CERTIFICATE_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: ModelRecord {
                file: model.source().name.clone(),
                sha256: model.hash().map(|hash| hash.to_string()).unwrap_or_default(),
                no_extra_nodes: load.no_extra_nodes,
                ignore_claims: load.ignore_claims,
                max_processes: load.max_processes,
            },
            definitions: load.constants.iter().cloned().collect(),
            properties: self.properties.iter().map(|&id| property_name(model.ir(), id)).collect(),
            order: self.order.to_string(),
            generators,
        }
    }
}

fn cell_moves(model: &Model, map: &StateMap) -> Vec<CellMove> {
    let slots = &model.layout().slots;
    let moves = map.moves().iter().map(|slot_move| {
        let values = slot_move.values.iter().flatten().filter(|(from, to)| from != to);
        let named = |slot: SlotId, value: i64| value_name(model, slot, value);
        CellMove {
            from: slots[slot_move.from].name.clone(),
            to: slots[slot_move.to].name.clone(),
            values: values
                .filter_map(|&(from, to)| Some((named(slot_move.from, from?), named(slot_move.to, to?))))
                .collect(),
        }
    });
    moves.collect()
}

/// The name of a value of a cell, unless another value of its type has the same.
fn value_name(model: &Model, slot: SlotId, value: i64) -> ValueName {
    const MANY: u64 = 4096;
    let slot = &model.layout().slots[slot];
    let name = model.ir().value_name(slot.ty, value);
    let is_number = name == value.to_string();
    let is_unique = || {
        slot.domain.size() <= MANY
            && slot.domain.values().filter(|&other| model.ir().value_name(slot.ty, other) == name).count() == 1
    };
    if !is_number && is_unique() { ValueName::Name(name) } else { ValueName::Number(value) }
}

/// The instances of the rules of a model, and what they are called.
struct InstanceNames {
    instances: Vec<Instance>,
}

impl InstanceNames {
    /// All of them; none if they are too many.
    fn new(model: &Model) -> Self {
        let interpreter = Interpreter::new(model.ir(), model.layout());
        let mut instances = Vec::new();
        for (id, rule) in model.ir().rules.iter_enumerated() {
            let room = LISTED_INSTANCES + 1 - instances.len();
            let own = interpreter.instances(&rule.parameters, &rule.locals).take(room);
            instances.extend(own.map(|arguments| Instance { subject: Subject::Action(Action::Rule(id)), arguments }));
            if instances.len() > LISTED_INSTANCES {
                return Self { instances: Vec::new() };
            }
        }
        Self { instances }
    }

    fn name(&self, model: &Model, instance: &Instance) -> Option<InstanceName> {
        let Subject::Action(Action::Rule(rule)) = instance.subject else { return None };
        Some(instance_name(model.ir(), rule, &instance.arguments))
    }
}

fn instance_name(model: &Representation, rule: RuleId, arguments: &[i64]) -> InstanceName {
    let entry = &model.rules[rule];
    let mut types = Vec::new();
    for parameter in &entry.parameters {
        scalar_types(model, entry.locals[parameter.local].ty, &mut types);
    }
    InstanceName {
        rule: rule_name(model, rule),
        number: rule.position() + 1,
        arguments: types.iter().zip(arguments).map(|(&ty, &value)| model.value_name(ty, value)).collect(),
    }
}

/// The types of the cells of a type, in the order of the layout.
fn scalar_types(model: &Representation, ty: TypeId, types: &mut Vec<TypeId>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for _ in model.domain(*index).values() {
                scalar_types(model, *element, types);
            }
        }
        TypeKind::Record { fields } => fields.iter().for_each(|field| scalar_types(model, field.ty, types)),
        _ => types.push(ty),
    }
}
