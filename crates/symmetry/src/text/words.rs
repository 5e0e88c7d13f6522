//! What the text says about the roles of values, in words.

use std::collections::BTreeMap;

use quotient_ir::{Model, Span, TypeId, TypeKind, VariableId, expression_text};
use rustc_hash::FxHashSet;

use super::TextSymmetries;
use super::analysis::Universe;
use super::inference::{Cause, Computed, Why};
use super::patch::Patch;
use super::shapes::{Part, Role};
use super::uses::{Use, Uses};
use crate::individuals::Individuals;

/// A place of the text that limits the permutations of a role: the first of those that do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The place; empty if it is no particular one.
    pub span: Span,
    /// What it does.
    pub text: String,
    kind: Kind,
}

/// Which permutations a place of the text notices.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Those that move a value.
    Names(i64),
    /// Those that do not commute with a table: a row for each argument, where it goes wrong without a result.
    Computes(Vec<(i64, Option<i64>)>, Results),
    /// Perhaps all.
    Unknown,
}

/// What the results of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Results {
    /// Values of the same role.
    Own,
    /// Values that stay.
    Others,
}

impl Limit {
    /// Whether it notices a permutation of the values. If the permutation need not be all that moves, it may be wrong
    /// about that.
    pub fn notices(&self, image: &dyn Fn(i64) -> i64) -> bool {
        match &self.kind {
            Kind::Names(value) => image(*value) != *value,
            Kind::Computes(rows, results) => {
                let result =
                    |value: i64| rows.iter().find(|(argument, _)| *argument == value).map(|(_, result)| *result);
                rows.iter().any(|(argument, value)| {
                    let expected = match results {
                        Results::Own => value.map(image),
                        Results::Others => *value,
                    };
                    result(image(*argument)) != Some(expected)
                })
            }
            Kind::Unknown => true,
        }
    }
}

/// What the claims about a text were derived from.
#[derive(Debug)]
pub(super) struct Derivation {
    pub(super) universes: BTreeMap<Role, Universe>,
    pub(super) computed: Vec<Computed>,
    pub(super) uses: Vec<(Role, Use)>,
    pub(super) patches: Vec<Patch>,
}

/// What the text says about one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleReport {
    pub(super) role: Role,
    /// What its values are: the name of a type, or where they are used.
    pub name: String,
    /// The type of its values.
    pub ty: TypeId,
    /// How many values there are.
    pub size: usize,
    /// Classes of values that can be permuted freely.
    pub free: Vec<Vec<i64>>,
    /// How many other permutations move its values.
    pub others: usize,
    /// The places that limit the permutations.
    pub limits: Vec<Limit>,
    /// Whether all that is computed with its values is a constant added modulo another.
    pub only_rotated: bool,
    /// How its values are used otherwise.
    pub uses: Uses,
    /// The arrays whose indices they are.
    pub indexes: Vec<VariableId>,
}

impl RoleReport {
    /// Whether all its values are permuted freely.
    pub fn is_free(&self) -> bool {
        matches!(&self.free[..], [class] if class.len() == self.size)
    }

    /// Whether it is the role of the values of a type, or of the elements of an array.
    pub fn is_about(&self, model: &Model, of: Individuals) -> bool {
        match of {
            Individuals::Values(ty) => model.types[ty].name.as_ref() == Some(&self.name),
            Individuals::Elements(variable) => self.indexes.contains(&variable),
        }
    }
}

/// Computations by the roles of what they are computed from, and of their results.
struct Computations<'c> {
    from: BTreeMap<Role, Vec<&'c Computed>>,
    results: BTreeMap<Role, Vec<&'c Computed>>,
}

impl<'c> Computations<'c> {
    fn of(computed: &'c [Computed]) -> Self {
        let (mut from, mut results) = (BTreeMap::new(), BTreeMap::new());
        for one in computed {
            let mut leaves: Vec<Role> = one.leaves.iter().map(|&(role, _)| role).collect();
            leaves.sort_unstable();
            leaves.dedup();
            for role in leaves {
                from.entry(role).or_insert_with(Vec::new).push(one);
            }
            results.entry(one.result).or_insert_with(Vec::new).push(one);
        }
        Self { from, results }
    }

    fn from(&self, role: Role) -> impl Iterator<Item = &'c Computed> {
        self.from.get(&role).into_iter().flatten().copied()
    }

    fn involving(&self, role: Role) -> impl Iterator<Item = &'c Computed> {
        self.from(role).chain(self.results.get(&role).into_iter().flatten().copied())
    }
}

/// Reports about the roles that index an array or are held by a cell.
pub(super) fn reports(model: &Model, found: &TextSymmetries) -> Vec<RoleReport> {
    let Derivation { universes, computed, uses, patches } = &found.derivation;
    let mut reports: Vec<RoleReport> = Vec::new();
    let mut report_of: BTreeMap<Role, usize> = BTreeMap::new();
    let uses = Uses::by_role(uses);
    let computed = Computations::of(computed);
    for (variable, shape) in found.shapes.variables.iter_enumerated() {
        shape.visit(&mut |role, ty, part| {
            let name = match (&model.types[ty].name, part) {
                (Some(name), _) => name.clone(),
                (None, Part::Index) => format!("the indices of `{}`", model.variables[variable].name),
                (None, Part::Contents) => format!("the contents of `{}`", model.variables[variable].name),
            };
            let is_named = model.types[ty].name.is_some();
            let indexes: Vec<VariableId> = if part == Part::Index { vec![variable] } else { Vec::new() };
            if let Some(known) = report_of.get(&role).map(|&position| &mut reports[position]) {
                known.indexes.extend(indexes);
                if is_named && model.types[known.ty].name.is_none() {
                    (known.name, known.ty) = (name, ty);
                }
                return;
            }
            let Some(universe) = universes.get(&role) else { return };
            let mut limits: Vec<Limit> = Vec::new();
            if !matches!(model.types[ty].kind, TypeKind::Boolean) {
                limits.extend(universe.fixed.iter().map(|cause| limit(model, ty, cause)));
                limits.extend(universe.named.iter().map(|(_, cause)| limit(model, ty, cause)));
                let sets = |patch: &&Patch| {
                    let mut roles = patch.writes.iter().flat_map(|write| write.indices.iter().chain([&write.value]));
                    roles.any(|(own, _)| *own == role)
                };
                let is_free = found.free.iter().any(|(free, _)| *free == role);
                let patches = patches.iter().filter(sets).filter(|_| !is_free);
                limits.extend(patches.map(|patch| limit(model, ty, &patch.cause)));
                let from = computed.from(role);
                limits.extend(from.map(|one| Limit { kind: table(model, role, one), ..limit(model, ty, &one.cause) }));
            }
            let mut said = FxHashSet::default();
            limits.retain(|limit| said.insert(limit.text.clone()));
            let own = found.free.iter().filter(|(free, _)| *free == role);
            report_of.insert(role, reports.len());
            reports.push(RoleReport {
                role,
                name,
                ty,
                size: universe.values.len(),
                free: own.map(|(_, class)| class.clone()).collect(),
                others: found.others.iter().filter(|motion| motion.of(role).is_some()).count(),
                limits,
                only_rotated: computed.involving(role).all(|one| one.computation.rotates(model)),
                uses: uses.get(&role).copied().unwrap_or_default(),
                indexes,
            });
        });
    }
    reports
}

/// The table of a computation with one value.
fn table(model: &Model, role: Role, computed: &Computed) -> Kind {
    let [(_, domain)] = &computed.leaves[..] else { return Kind::Unknown };
    if computed.runs.is_some() {
        return Kind::Unknown;
    }
    let results = if computed.result == role { Results::Own } else { Results::Others };
    Kind::Computes(domain.values().map(|value| (value, computed.computation.value(model, &[value]))).collect(), results)
}

fn limit(model: &Model, ty: TypeId, cause: &Cause) -> Limit {
    let shown = |expression| match cause.scope {
        Some(scope) => expression_text(model, scope.locals(model), expression),
        None => String::new(),
    };
    let local = |local| match cause.scope {
        Some(scope) => scope.locals(model)[local].name.clone(),
        None => String::new(),
    };
    let text = match cause.why {
        Why::Names(value) => format!("`{}` is named", model.value_name(ty, value)),
        Why::Computes(expression) => format!("`{}` computes with it", shown(expression)),
        Why::Decides(expression) => format!("`{}` is used as a number or a condition", shown(expression)),
        Why::Clears => "cells are set to the least value of their type".to_owned(),
        Why::Begins(variable) => {
            format!("`{}` begins with the least value of its type", model.variables[variable].name)
        }
        Why::Visits(variable) => format!("the order of the loop over `{}` can be noticed", local(variable)),
        Why::MayFail(expression) => {
            format!("`{}` may go wrong for one value before another decides it", shown(expression))
        }
        Why::Positions => "an element of a multiset is found by its position".to_owned(),
        Why::Sets => "some cells are set to constants".to_owned(),
        Why::Copies => "arrays with different indices are copied".to_owned(),
        Why::Amounts => "tokens are counted".to_owned(),
        Why::Instance(_) => "one instance of the property is preserved".to_owned(),
    };
    let kind = if let Why::Names(value) = cause.why { Kind::Names(value) } else { Kind::Unknown };
    Limit { span: cause.span, text, kind }
}
