//! Runs of assignments of constants to cells that constants name: `server[1].pc := 1; server[2].pc := 1;`. None of them
//! reads anything, so it is the set of what they write that counts: a permutation that maps it to itself is not noticed,
//! although the text names every index. Processes are created like this, and machines are initialised like this. If
//! several rules with the same guard do nothing else, it suffices that their sets are mapped to each other.

use quotient_ir::{Expr, ExprId, Model, PlaceId, Root, RuleId, Statement, StatementKind, Step, VariableId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::inference::Cause;
use super::shapes::{Role, Shape, Shapes};

/// The most assignments of a run.
const MOST_WRITES: usize = 1 << 16;

/// A variable and its fields; indices are marks.
type Path = (VariableId, Vec<Option<u32>>);

/// What one assignment writes where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Write {
    path: Path,
    /// The indices, by role.
    pub(super) indices: Vec<(Role, i64)>,
    /// The value, by role.
    pub(super) value: (Role, i64),
}

/// A run of such assignments.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub(super) writes: Vec<Write>,
    /// The rule of which it is the whole body.
    pub(super) rule: Option<RuleId>,
    pub(super) cause: Cause,
}

impl Write {
    pub(super) fn path(&self) -> &impl std::hash::Hash {
        &self.path
    }

    /// With other roles.
    pub(super) fn rename(&mut self, rename: &mut dyn FnMut(Role) -> Role) {
        self.indices.iter_mut().for_each(|index| index.0 = rename(index.0));
        self.value.0 = rename(self.value.0);
    }

    /// With other values.
    pub(super) fn image(&self, image: impl Fn(Role, i64) -> i64) -> Self {
        let indices = self.indices.iter().map(|&(role, value)| (role, image(role, value))).collect();
        let value = (self.value.0, image(self.value.0, self.value.1));
        Self { path: self.path.clone(), indices, value }
    }
}

/// The run that statements begin with, and how many they are. `None` unless it writes several elements of an array: a
/// person calls that naming a value.
pub(super) fn leading(model: &Model, shapes: &Shapes, statements: &[Statement]) -> Option<(usize, Vec<Write>)> {
    let mut writes: Vec<Write> = Vec::new();
    let mut cells = FxHashSet::default();
    for statement in statements.iter().take(MOST_WRITES) {
        let StatementKind::Assign { target, value } = statement.kind else { break };
        let Some(write) = write(model, shapes, target, value) else { break };
        if !cells.insert((write.path.clone(), write.indices.clone())) {
            break;
        }
        writes.push(write);
    }
    let mut seen: FxHashMap<(&Path, usize), i64> = FxHashMap::default();
    let several = writes.iter().any(|write| {
        let indices = write.indices.iter().enumerate();
        indices.fold(false, |found, (depth, (_, value))| {
            found | (*seen.entry((&write.path, depth)).or_insert(*value) != *value)
        })
    });
    several.then_some((writes.len(), writes))
}

fn constant(model: &Model, expression: ExprId) -> Option<i64> {
    match model.pool[expression] {
        Expr::Constant { value, .. } => Some(value),
        _ => None,
    }
}

/// An assignment of a constant to a cell that constants name and that exists.
fn write(model: &Model, shapes: &Shapes, target: PlaceId, value: ExprId) -> Option<Write> {
    let value = constant(model, value)?;
    let place = &model.pool[target];
    let Root::Variable(variable) = place.root else { return None };
    let mut shape: &Shape = &shapes.variables[variable];
    let (mut fields, mut indices) = (Vec::new(), Vec::new());
    for step in &place.steps {
        shape = match (step, shape) {
            (Step::Field(field), Shape::Record(parts)) => {
                fields.push(Some(*field));
                &parts[*field as usize]
            }
            (Step::Index(index), Shape::Array { role, index: ty, element }) => {
                let index = constant(model, *index).filter(|index| model.domain(*ty).contains(*index))?;
                fields.push(None);
                indices.push((*role, index));
                element
            }
            _ => return None,
        };
    }
    match shape {
        Shape::Scalar { role, ty } if model.domain(*ty).contains(value) => {
            Some(Write { path: (variable, fields), indices, value: (*role, value) })
        }
        _ => None,
    }
}

/// Groups of patches that may be mapped to each other: of rules that have the same guard and do nothing else.
pub(super) fn groups(model: &Model, patches: &[Patch]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_owner: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (number, patch) in patches.iter().enumerate() {
        let alone = vec![number];
        let Some(rule) = patch.rule.map(|rule| &model.rules[rule]) else {
            groups.push(alone);
            continue;
        };
        // Rules with equal guards are usually neighbours, and have as many writes.
        let candidates = by_owner.entry(patch.writes.len() as u64).or_default();
        let alike = candidates.iter().rev().take(8).copied().find(|group| {
            let other = patches[groups[*group][0]].rule.map(|rule| &model.rules[rule]);
            other.is_some_and(|other| {
                other.owner == rule.owner && other.fairness == rule.fairness && same(model, other.guard, rule.guard)
            })
        });
        match alike {
            Some(group) => groups[group].push(number),
            None => {
                candidates.push(groups.len());
                groups.push(alone);
            }
        }
    }
    groups
}

/// Whether two conditions are the same: comparisons of plain variables with constants, and what is composed of them.
fn same(model: &Model, left: ExprId, right: ExprId) -> bool {
    match (&model.pool[left], &model.pool[right]) {
        _ if left == right => true,
        (Expr::Constant { value, .. }, Expr::Constant { value: other, .. }) => value == other,
        (Expr::Read(place), Expr::Read(other)) => {
            let (place, other) = (&model.pool[*place], &model.pool[*other]);
            matches!(place.root, Root::Variable(_))
                && place.root == other.root
                && place.steps.is_empty()
                && other.steps.is_empty()
        }
        (
            Expr::Binary { operator, left, right },
            Expr::Binary { operator: other, left: other_left, right: other_right },
        ) => operator == other && same(model, *left, *other_left) && same(model, *right, *other_right),
        _ => false,
    }
}
