//! Certificates: the symmetries of a model in a form that can be checked independently. They are plain data in source
//! terms; [`checker`](self::checker) reads them back and trusts none of them.

mod checker;

use std::collections::BTreeMap;

use crate::languages::LabelChecks;
use quotient_ir::{Action, Interpreter, Model as Representation, RuleId, SlotId, TableIndex, TypeId, TypeKind};
use quotient_symmetry::{Instance, StateMap, Subject};
use serde::{Deserialize, Serialize};

use crate::model::{LoadOptions, Model};
use crate::names::{property_name, rule_name};
use crate::symmetries::Detected;

pub use checker::{Cause, CertificateVerdict, Finding, Verification, verify};

/// The version of the certificate format.
pub const CERTIFICATE_SCHEMA: &str = "quotient-certificate/1";

/// Rule images are not listed if there are more rule instances than this.
const LISTED_INSTANCES: usize = 20_000;

/// The symmetries of a model, with the data needed to check them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version of the format: [`CERTIFICATE_SCHEMA`].
    pub schema: String,
    /// The version of the program that wrote it.
    pub version: String,
    /// The model.
    pub model: ModelRecord,
    /// Constants that were overridden.
    pub definitions: BTreeMap<String, String>,
    /// The properties that every symmetry preserves, by name, in addition to all assumptions.
    pub properties: Vec<String>,
    /// The number of symmetries.
    pub order: String,
    /// Generators of the group.
    pub generators: Vec<GeneratorRecord>,
}

/// Which model a certificate is about, and how it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// Its file, for human readers.
    pub file: String,
    /// The hash of its text ([`Model::hash`]).
    pub sha256: String,
    /// [`LoadOptions::no_extra_nodes`].
    pub no_extra_nodes: bool,
    /// [`LoadOptions::ignore_claims`].
    pub ignore_claims: bool,
    /// [`LoadOptions::max_processes`].
    pub max_processes: Option<u8>,
    /// [`LoadOptions::merges_orders`].
    #[serde(default)]
    pub merges_orders: bool,
}

/// A symmetry: a permutation of the cells of states and of their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorRecord {
    /// Its effect, for human readers.
    pub cycles: Vec<String>,
    /// The images of cells. Cells not listed are fixed.
    pub cells: Vec<CellMove>,
    /// The images of rule instances. Instances not listed are fixed; the list is empty if there are too many, or if
    /// images depend on the state.
    pub rules: Vec<RuleMove>,
}

/// The image of a cell: its value moves to another cell, or stays in the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellMove {
    /// The cell.
    pub from: String,
    /// The cell its value moves to.
    pub to: String,
    /// Values and their images. Values not listed are fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(ValueName, ValueName)>,
}

/// A value as in the text, or its number if several values have the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ValueName {
    /// Its number.
    Number(i64),
    /// Its name.
    Name(String),
}

/// A rule instance and its image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleMove {
    /// The instance.
    pub from: InstanceName,
    /// The instance that acts on the image of a state as the other acts on the state.
    pub to: InstanceName,
}

/// A rule instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceName {
    /// The rule's name.
    pub rule: String,
    /// The rule's number, counted from 1 in order of declaration, since names need not be unique.
    pub number: usize,
    /// The values of its parameters, cell by cell.
    pub arguments: Vec<String>,
}

impl Certificate {
    /// The options to load the model with.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            constraint: None,
            invariants: Vec::new(),
            reach: Vec::new(),
            ltl: Vec::new(),
            ctl: Vec::new(),
            property_files: Vec::new(),
            labels: LabelChecks::default(),
            // Certificates concern models as `detect` loads them.
            well_definedness: None,
            constants: self.definitions.clone().into_iter().collect(),
            language: None,
            no_extra_nodes: self.model.no_extra_nodes,
            ignore_claims: self.model.ignore_claims,
            max_processes: self.model.max_processes,
            merges_orders: self.model.merges_orders,
            states_only: false,
        }
    }
}

impl Detected {
    /// The symmetries with the data needed to check them. `load` are the options the model was loaded with.
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
                merges_orders: load.merges_orders,
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

/// The name of a value of a cell, unless another value of its type has the same name.
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

/// The rule instances of a model and their names.
struct InstanceNames {
    instances: Vec<Instance>,
}

impl InstanceNames {
    /// All instances; none if there are too many.
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
