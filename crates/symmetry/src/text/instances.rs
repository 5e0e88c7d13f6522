//! The action of symmetries from the text on instances: arguments are permuted as values of their roles.

use std::sync::Arc;

use quotient_functions::{Instance, Preserved, Subject};
use quotient_groups::{OrbitPartition, Point, SparsePermutation};
use quotient_ir::{Interpreter, Layout, Model, PropertyId, RuleId, TableIndex};
use rustc_hash::FxHashMap;

use super::motion::{Motion, size};
use super::shapes::{Role, Scope, Shape, Shapes};
use super::{order, scope_of};
use crate::interchangeable::InstanceOrbit;
use crate::literals::Literals;

/// With more instances of a property than this, orbits are not computed.
const MOST_INSTANCES: usize = 100_000;

/// The role of the contents of each slot; none for those that say whether an element is present.
pub(super) fn roles_of_slots(model: &Model, layout: &Layout, shapes: &Shapes) -> Vec<Option<Role>> {
    cells_of(model, layout, shapes).into_iter().map(|cell| cell.role).collect()
}

/// A cell of the state: the indices that lead to it, and the role of its contents.
#[derive(Clone, Debug, Default)]
struct Cell {
    indices: Vec<(Role, i64)>,
    role: Option<Role>,
}

fn cells_of(model: &Model, layout: &Layout, shapes: &Shapes) -> Vec<Cell> {
    fn walk(model: &Model, shape: &Shape, slot: usize, indices: &mut Vec<(Role, i64)>, cells: &mut [Cell]) {
        match shape {
            Shape::Scalar { role, .. } => cells[slot] = Cell { indices: indices.clone(), role: Some(*role) },
            Shape::Array { role, index, element } => {
                let stride = size(model, element);
                for (code, value) in model.domain(*index).values().enumerate() {
                    indices.push((*role, value));
                    walk(model, element, slot + code * stride, indices, cells);
                    indices.pop();
                }
            }
            Shape::Record(fields) => {
                let mut offset = slot;
                for field in fields {
                    walk(model, field, offset, indices, cells);
                    offset += size(model, field);
                }
            }
            Shape::Multiset { capacity, element } => {
                let stride = 1 + size(model, element);
                for position in 0..*capacity as usize {
                    cells[slot + position * stride] = Cell { indices: indices.clone(), role: None };
                    walk(model, element, slot + position * stride + 1, indices, cells);
                }
            }
        }
    }
    let mut cells = vec![Cell::default(); layout.slots.len()];
    for (variable, shape) in shapes.variables.iter_enumerated() {
        walk(model, shape, layout.first_slot(variable).position(), &mut Vec::new(), &mut cells);
    }
    cells
}

/// What is needed to permute instances.
#[derive(Clone, Debug)]
pub(crate) struct TextInstances {
    /// For each subject, the roles of the cells of its parameters; none for a position of a multiset.
    parameters: FxHashMap<Subject, Vec<Option<Role>>>,
    /// The generators of the group.
    motions: Vec<Motion>,
    cells: Vec<Cell>,
}

impl TextInstances {
    /// Rules in `exchanged` may be mapped to each other, which one to which is not said.
    pub(super) fn new(
        model: &Model,
        layout: &Layout,
        shapes: &Shapes,
        motions: Vec<Motion>,
        exchanged: &[Vec<RuleId>],
    ) -> Self {
        let mut parameters = FxHashMap::default();
        let rules = model.rules.indices().map(|rule| Subject::Action(quotient_ir::Action::Rule(rule)));
        let starts = model.starts.indices().map(|start| Subject::Action(quotient_ir::Action::Start(start)));
        let subjects = rules.chain(starts).chain(model.properties.indices().map(Subject::Property));
        for subject in subjects {
            parameters.insert(subject, roles_of_parameters(model, shapes, scope_of(subject)).unwrap_or_default());
        }
        for rule in exchanged.iter().flatten() {
            parameters.remove(&Subject::Action(quotient_ir::Action::Rule(*rule)));
        }
        Self { parameters, motions, cells: cells_of(model, layout, shapes) }
    }

    /// The same for other generators of the same motions.
    pub(crate) fn with_generators(&self, literals: &Literals, generators: &[SparsePermutation]) -> Self {
        let motions = generators.iter().map(|generator| self.motion(literals, generator)).collect();
        Self { motions, ..self.clone() }
    }

    /// The motion of a generator.
    pub(crate) fn generator(&self, position: usize) -> &Motion {
        &self.motions[position]
    }

    /// The motion of values that a permutation of literals is.
    pub(crate) fn motion(&self, literals: &Literals, element: &SparsePermutation) -> Motion {
        let mut motion = Motion::default();
        for (from, to) in element.moves() {
            let (slot, image) = (literals.slot_of(from), literals.slot_of(to));
            let (cell, target) = (&self.cells[slot.position()], &self.cells[image.position()]);
            for ((role, value), (_, image)) in cell.indices.iter().zip(&target.indices) {
                motion.insert(*role, *value, *image);
            }
            if let (Some(role), Some(value), Some(image)) = (cell.role, literals.value_of(from), literals.value_of(to))
            {
                motion.insert(role, value, image);
            }
        }
        motion
    }

    /// The image of an instance; `None` if it depends on the state.
    pub(crate) fn image(&self, motion: &Motion, instance: &Instance) -> Option<Instance> {
        let roles = self.parameters.get(&instance.subject)?;
        if roles.len() != instance.arguments.len() {
            return None;
        }
        let image = |(value, role): (&i64, &Option<Role>)| role.map(|role| motion.image(role, *value));
        let arguments: Option<Vec<i64>> = instance.arguments.iter().zip(roles).map(image).collect();
        Some(Instance { subject: instance.subject, arguments: arguments? })
    }
}

/// The roles of the cells of parameters; `None` if some are structures whose indices have roles.
fn roles_of_parameters(model: &Model, shapes: &Shapes, scope: Scope) -> Option<Vec<Option<Role>>> {
    let mut roles = Vec::new();
    for parameter in scope.parameters(model) {
        let shape: &Arc<Shape> = shapes.local(scope, parameter.local);
        match &**shape {
            Shape::Scalar { role, .. } => {
                let is_position =
                    matches!(scope, Scope::Rule(_)) && order::selects_element(model, scope, parameter.local);
                roles.push((!is_position).then_some(*role));
            }
            _ => return None,
        }
    }
    Some(roles)
}

/// Orbits of the instances of preserved properties that the motions exchange.
pub(super) fn orbits(
    model: &Model,
    layout: &Layout,
    shapes: &Shapes,
    motions: &[Motion],
    preserved: Preserved<'_>,
) -> Vec<InstanceOrbit> {
    let interpreter = Interpreter::new(model, layout);
    let mut orbits = Vec::new();
    for &property in preserved.properties() {
        let entry = &model.properties[property];
        let Some(roles) = roles_of_parameters(model, shapes, Scope::Property(property)) else { continue };
        if roles.is_empty() || matches!(preserved, Preserved::Instances { .. }) {
            continue;
        }
        let instances: Vec<Vec<i64>> =
            interpreter.instances(&entry.parameters, &entry.locals).take(MOST_INSTANCES).collect();
        orbits.extend(orbits_of(property, instances, &roles, motions));
    }
    orbits
}

fn orbits_of(
    property: PropertyId,
    instances: Vec<Vec<i64>>,
    roles: &[Option<Role>],
    motions: &[Motion],
) -> Vec<InstanceOrbit> {
    let numbers: FxHashMap<&[i64], Point> =
        instances.iter().enumerate().map(|(number, instance)| (&instance[..], number as Point)).collect();
    let mut partition = OrbitPartition::new(instances.len());
    for motion in motions {
        for (number, instance) in instances.iter().enumerate() {
            let image: Vec<i64> = instance
                .iter()
                .zip(roles)
                .map(|(value, role)| role.map_or(*value, |role| motion.image(role, *value)))
                .collect();
            if let Some(image) = numbers.get(&image[..]) {
                partition.merge(number as Point, *image);
            }
        }
    }
    let classes = partition.classes(2).into_iter();
    let instance = |number: &Point| instances[*number as usize].clone();
    classes.map(|class| InstanceOrbit { property, instances: class.iter().map(instance).collect() }).collect()
}
