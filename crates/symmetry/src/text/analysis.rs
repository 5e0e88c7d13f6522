//! From what the text says about roles to the permutations that it cannot notice: classes of values that are treated
//! alike, and where values are computed with or tied to each other by the initial states, the automorphisms of a small
//! graph of these tables.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use quotient_groups::{GraphBuilder, Point, generators_watched};
use quotient_ir::walk::visit_statements;
use quotient_ir::{
    Budget, Domain, Expr, ExprId, Interpreter, Iteration, Layout, Model, Outcome, PlaceId, Root, Spent, Statement,
    StatementKind, TableIndex, Valuation, VariableId,
};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::inference::{Cause, Computed, Findings, Visitor, called_functions};
use super::motion::{Motion, size};
use super::opaque::Run;
use super::order::{Orders, Undefined};
use super::patch::{self, Write};
use super::shapes::{Part, Role, Scope, Shape, Shapes};
use super::strict::MayFail;
use crate::watch::watch;

/// The most values of a role that are listed, unless they are indices of the state: then there are as many cells.
pub(super) const MOST_VALUES: u64 = 1 << 16;
/// The most initial states that are compared with their images, and the most cells of them.
const MOST_STATES: usize = 256;
const MOST_CELLS: usize = 1 << 22;
/// A quantifier over more runs of values is not split.
const MOST_RUNS: usize = 8;
/// The most vertices of the graph of the tables.
const MOST_VERTICES: usize = 1 << 18;
/// The values of a role that are told apart for one unit of work.
const VALUES_PER_UNIT: u64 = 4;

/// The values of a role, and how the text treats them.
#[derive(Clone, Debug, Default)]
pub(super) struct Universe {
    /// In increasing order.
    pub(super) values: Vec<i64>,
    /// For each, the class of values that are treated alike as far as is known.
    pub(super) class: Vec<u64>,
    /// For each, whether it may occur at all.
    live: Vec<bool>,
    /// Why all values are told apart, if so.
    pub(super) fixed: Option<Cause>,
    /// Values that are named, with the places.
    pub(super) named: Vec<(i64, Cause)>,
    /// Whether the state has cells or indices in this role.
    has_slots: bool,
    /// Whether it is the role of a parameter of a rule, a start or a property. Without cells in the state, the values
    /// of such a role stay: how an instance is permuted can be seen in the state only.
    is_parameter: bool,
    /// Whether permutations may move values.
    is_moved: bool,
}

impl Universe {
    /// The classes of at least two values that may occur.
    pub(super) fn classes(&self) -> Vec<Vec<i64>> {
        if !self.may_move() {
            return Vec::new();
        }
        let mut classes: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        for ((value, class), live) in self.values.iter().zip(&self.class).zip(&self.live) {
            if *live {
                classes.entry(*class).or_default().push(*value);
            }
        }
        let mut classes: Vec<Vec<i64>> = classes.into_values().filter(|class| class.len() > 1).collect();
        classes.sort_unstable();
        classes
    }

    fn may_move(&self) -> bool {
        self.fixed.is_none() && (self.has_slots || !self.is_parameter)
    }

    /// Whether permutations may move values.
    pub(super) fn moves(&self) -> bool {
        self.is_moved
    }

    /// Finds out whether permutations may move values, when classes are known.
    fn find_moves(&mut self) {
        let mut seen = FxHashSet::default();
        let mut live = self.class.iter().zip(&self.live).filter(|(_, live)| **live);
        self.is_moved = self.may_move() && live.any(|(class, _)| !seen.insert(*class));
    }

    /// The values of a quantifier in order, as runs of values of one class; none if it does not visit them upwards.
    fn runs(&self, model: &Model, quantifier: ExprId) -> Vec<(i64, i64)> {
        let constant = |id: ExprId| match model.pool[id] {
            Expr::Constant { value, .. } => Some(value),
            _ => None,
        };
        let Expr::Quantified { range, .. } = &model.pool[quantifier] else { return Vec::new() };
        let domain = match *range {
            Iteration::Over(ty) => model.domain(ty),
            Iteration::Steps { from, to, step: None } => match (constant(from), constant(to)) {
                (Some(from), Some(to)) if from <= to => Domain::interval(from, to),
                _ => return Vec::new(),
            },
            Iteration::Steps { .. } => return Vec::new(),
        };
        if domain.size() > Layout::SLOT_LIMIT {
            return Vec::new();
        }
        let class = |value: i64| self.contains(value).map(|position| self.class[position]);
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for value in domain.values() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == value && class(*last) == class(value) => *last = value,
                _ => runs.push((value, value)),
            }
        }
        if runs.len() > MOST_RUNS { Vec::new() } else { runs }
    }

    fn contains(&self, value: i64) -> Option<usize> {
        self.values.binary_search(&value).ok()
    }

    /// Tells values with different keys apart. Where none may move, they are told apart already, or need not be.
    fn refine(&mut self, key: impl Fn(i64) -> u64, budget: &Budget) -> Result<(), Spent> {
        if !self.is_moved {
            return Ok(());
        }
        budget.spend(self.values.len() as u64 / VALUES_PER_UNIT)?;
        for (value, class) in self.values.iter().zip(&mut self.class) {
            *class = hash(&(*class, key(*value)));
        }
        self.find_moves();
        Ok(())
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    // Sums of hashes are compared, so the bits must be mixed.
    let mixed = hasher.finish();
    (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The permutations that the text does not notice, not checked yet.
#[derive(Debug)]
pub(super) struct Analysis<'m> {
    pub(super) findings: Findings<'m>,
    pub(super) universes: BTreeMap<Role, Universe>,
    /// Classes whose values are permuted freely.
    pub(super) free: Vec<(Role, Vec<i64>)>,
    /// Other permutations that generate the rest.
    pub(super) others: Vec<Motion>,
    /// The initial states, if they are compared with their images.
    pub(super) states: Option<Vec<Valuation>>,
    pub(super) undefined: Undefined,
    /// Quantifiers whose order can be noticed, because they may fail.
    pub(super) may_fail: Vec<MayFail>,
}

/// The initial states, if there are not too many.
pub(super) fn initial_states(model: &Model, layout: &Layout, budget: &Budget) -> Option<Vec<Valuation>> {
    let interpreter = Interpreter::new(model, layout).until(budget.interrupt());
    let mut states = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            if states.len() == MOST_STATES || (states.len() + 1) * layout.slots.len() > MOST_CELLS {
                return None;
            }
            if let Outcome::Next { state, .. } = interpreter.run_start(start, &arguments) {
                states.push(state);
            } else if !entry.parameters.is_empty() {
                // Which of them go wrong or are dropped is not compared.
                return None;
            }
        }
    }
    Some(states)
}

/// A slot of the state: its number, the indices that lead to it, and the role of its contents.
type Leaf<'a> = (usize, &'a [(Role, i64)], u64, Role);

/// Calls `visit` for each cell: its slot, indices by role, a number for the rest of its path, and its role.
fn visit_leaves(model: &Model, layout: &Layout, findings: &Findings<'_>, visit: &mut dyn FnMut(Leaf<'_>)) {
    fn walk(
        model: &Model,
        shape: &Shape,
        slot: usize,
        path: u64,
        indices: &mut Vec<(Role, i64)>,
        visit: &mut dyn FnMut(Leaf<'_>),
    ) {
        match shape {
            Shape::Scalar { role, .. } => visit((slot, indices, path, *role)),
            Shape::Array { role, index, element } => {
                let stride = size(model, element);
                for (code, value) in model.domain(*index).values().enumerate() {
                    indices.push((*role, value));
                    walk(model, element, slot + code * stride, hash(&(path, "index")), indices, visit);
                    indices.pop();
                }
            }
            Shape::Record(fields) => {
                let mut offset = slot;
                for (number, field) in fields.iter().enumerate() {
                    walk(model, field, offset, hash(&(path, number)), indices, visit);
                    offset += size(model, field);
                }
            }
            // Positions have no meaning: elements are compared when the whole state is.
            Shape::Multiset { .. } => {}
        }
    }
    for (variable, shape) in findings.shapes.variables.iter_enumerated() {
        let slot = layout.first_slot(variable).position();
        walk(model, shape, slot, hash(&variable.position()), &mut Vec::new(), visit);
    }
}

impl<'m> Analysis<'m> {
    /// Finds what the text does not notice.
    pub(super) fn new(
        model: &'m Model,
        layout: &Layout,
        findings: Findings<'m>,
        states: Option<Vec<Valuation>>,
        errors: bool,
        budget: &Budget,
    ) -> Result<Self, Spent> {
        let mut findings = findings.resolve();
        let initially = initially_undefined(model, layout, &findings, states.as_deref());
        let undefined = Undefined::new(model, &findings.shapes, initially);
        let tables = unary_tables(model, &findings, budget)?;
        let mut universes;
        let mut may_fail = Vec::new();
        // Whatever is found to break the symmetry of one role can break that of others.
        loop {
            budget.spend(1 + findings.sets.len() as u64 + findings.pins.len() as u64)?;
            universes = universes_of(model, layout, &findings, &tables, states.as_deref(), budget)?;
            let mut broken = Vec::new();
            let orders = Orders { model, shapes: &findings.shapes, undefined: &undefined, errors };
            let moves = |role: Role| universes.get(&role).is_some_and(Universe::moves);
            for visit in findings.visits.iter().filter(|visit| moves(visit.role)) {
                let commutes = match visit.visitor {
                    Visitor::Loop(body) => orders.loop_commutes(visit.scope, visit.local, body),
                    Visitor::Quantifier(quantifier) => orders.quantifier_commutes(visit.scope, quantifier),
                    Visitor::Assumption(condition) => !orders.can_fail(visit.scope, condition),
                };
                if !commutes {
                    broken.push((visit.role, visit.cause));
                    if let Visitor::Quantifier(quantifier) = visit.visitor {
                        let runs = universes[&visit.role].runs(model, quantifier);
                        may_fail.push(MayFail { scope: visit.scope, quantifier, runs });
                    }
                }
            }
            for computed in &findings.computed {
                let is_table = computed.runs.is_none();
                if moves(computed.result) && !(is_table && computed.leaves.iter().any(|(role, _)| moves(*role))) {
                    broken.push((computed.result, computed.cause));
                }
            }
            if broken.is_empty() {
                break;
            }
            findings.fixed.extend(broken);
        }
        let (free, others) = (Vec::new(), Vec::new());
        let mut analysis = Self { findings, universes, free, others, states, undefined, may_fail };
        analysis.tell_apart_by_states(model, layout, budget)?;
        refine_by_tables(&analysis.findings, &tables, &mut analysis.universes, budget)?;
        analysis.find_free(model, layout, budget)?;
        analysis.find_others(model, layout, budget)?;
        Ok(analysis)
    }

    /// Tells values apart that the initial states treat differently.
    fn tell_apart_by_states(&mut self, model: &Model, layout: &Layout, budget: &Budget) -> Result<(), Spent> {
        let Some(states) = &self.states else { return Ok(()) };
        budget.spend(layout.slots.len() as u64 * (1 + states.len() as u64))?;
        let moving: FxHashSet<Role> =
            self.universes.iter().filter(|(_, universe)| universe.moves()).map(|(role, _)| *role).collect();
        let mut marks: FxHashMap<(Role, i64), u64> = FxHashMap::default();
        visit_leaves(model, layout, &self.findings, &mut |(slot, indices, path, role)| {
            let mut label = path;
            for (index, value) in indices {
                label = if moving.contains(index) { hash(&(label, "any")) } else { hash(&(label, value)) };
            }
            for state in states {
                let contents = state.0[slot];
                let shown = match contents {
                    Some(_) if moving.contains(&role) => None,
                    contents => Some(contents),
                };
                let entry = (label, shown);
                for (depth, index) in indices.iter().enumerate().filter(|(_, index)| moving.contains(&index.0)) {
                    let mark = marks.entry(*index).or_default();
                    *mark = mark.wrapping_add(hash(&(entry, depth)));
                }
                if let Some(value) = contents.filter(|_| moving.contains(&role)) {
                    let mark = marks.entry((role, value)).or_default();
                    *mark = mark.wrapping_add(hash(&(label, "holds")));
                }
            }
        });
        for role in moving {
            let universe = self.universes.get_mut(&role).expect("a moving role has values");
            universe.refine(|value| marks.get(&(role, value)).copied().unwrap_or_default(), budget)?;
        }
        Ok(())
    }

    /// The roles that tables involve.
    fn in_tables(&self) -> FxHashSet<Role> {
        let moves = |role: Role| self.universes.get(&role).is_some_and(Universe::moves);
        let mut roles = FxHashSet::default();
        for computed in &self.findings.computed {
            let involved = computed.leaves.iter().map(|(role, _)| *role).chain([computed.result]);
            let involved: Vec<Role> = involved.filter(|role| moves(*role)).collect();
            // Conditions on single values have told these apart already.
            if involved.len() > 1 || computed.leaves.len() > 1 || moves(computed.result) {
                roles.extend(involved);
            }
        }
        roles
    }

    /// Classes of values that can be permuted freely.
    fn find_free(&mut self, model: &Model, layout: &Layout, budget: &Budget) -> Result<(), Spent> {
        let in_tables = self.in_tables();
        for (role, universe) in self.universes.iter().filter(|(_, universe)| universe.has_slots) {
            if in_tables.contains(role) {
                continue;
            }
            let classes = universe.classes();
            budget.spend(classes.iter().map(|class| class.len() as u64).sum())?;
            let mut generators = classes.iter().flat_map(|class| Motion::of_class(*role, class));
            if generators.all(|motion| self.fixes_states(model, layout, &motion) && self.fixes_patches(&motion)) {
                self.free.extend(classes.into_iter().map(|class| (*role, class)));
            }
        }
        Ok(())
    }

    /// Whether a motion maps initial states to initial states, as far as they are compared.
    pub(super) fn fixes_states(&self, model: &Model, layout: &Layout, motion: &Motion) -> bool {
        let shapes = &self.findings.shapes;
        let Some(states) = self.states.as_deref() else { return true };
        // Most fix every state, which is seen from the cells that they move alone.
        let is_moved = |state: &&Valuation| !motion.fixes(model, layout, shapes, state);
        let mut moved = states.iter().filter(is_moved).peekable();
        if moved.peek().is_none() {
            return true;
        }
        let known: FxHashSet<&Valuation> = states.iter().collect();
        moved.all(|state| known.contains(&motion.apply(model, layout, shapes, state)))
    }

    /// Whether a motion maps each run of assignments to itself. Those that map one to another are found as tied.
    fn fixes_patches(&self, motion: &Motion) -> bool {
        self.findings.patches.iter().all(|patch| {
            let known: FxHashSet<&Write> = patch.writes.iter().collect();
            patch.writes.iter().all(|write| known.contains(&write.image(|role, value| motion.image(role, value))))
        })
    }

    /// The automorphisms of the tables, for the roles that are not free.
    fn find_others(&mut self, model: &Model, layout: &Layout, budget: &Budget) -> Result<(), Spent> {
        let free: FxHashSet<Role> = self.free.iter().map(|(role, _)| *role).collect();
        let tied = self.tied(&free);
        if tied.is_empty() {
            return Ok(());
        }
        let mut tables = Tables::new(&tied, &self.universes);
        // What has runs is a condition on single values, which has told these apart.
        let listed = self.findings.computed.iter().enumerate().filter(|(_, computed)| computed.runs.is_none());
        for (number, computed) in listed {
            let domains: Vec<Vec<i64>> = computed.leaves.iter().map(|(_, domain)| domain.values().collect()).collect();
            let mut tuples: Vec<Vec<i64>> = vec![Vec::new()];
            for domain in &domains {
                tuples = tuples
                    .into_iter()
                    .flat_map(|tuple| domain.iter().map(move |value| [&tuple[..], &[*value]].concat()))
                    .collect();
            }
            for tuple in tuples {
                budget.spend(1)?;
                let mut entry = Vec::new();
                for ((role, _), value) in computed.leaves.iter().zip(&tuple) {
                    entry.push((*role, Some(*value)));
                }
                entry.push((computed.result, computed.computation.value(model, &tuple)));
                if !tables.add(hash(&("computed", number)), &entry, None) {
                    return Ok(());
                }
            }
        }
        for (number, group) in patch::groups(model, &self.findings.patches).into_iter().enumerate() {
            for patch in &group {
                let vertex = (group.len() > 1).then(|| tables.whole(hash(&("patch", number))));
                for write in &self.findings.patches[*patch].writes {
                    budget.spend(1)?;
                    let parts = write.indices.iter().chain([&write.value]);
                    let entry: Vec<_> = parts.map(|(role, value)| (*role, Some(*value))).collect();
                    if !tables.add(hash(&("patch", number, hash(write.path()))), &entry, vertex) {
                        return Ok(());
                    }
                }
            }
        }
        let states = self.states.as_deref().unwrap_or_default();
        budget.spend(layout.slots.len() as u64 * states.len() as u64)?;
        let mut fits = true;
        for state in states {
            let vertex = (states.len() > 1).then(|| tables.whole(hash(&"state")));
            visit_leaves(model, layout, &self.findings, &mut |(slot, indices, path, role)| {
                let mut entry: Vec<(Role, Option<i64>)> =
                    indices.iter().map(|(role, value)| (*role, Some(*value))).collect();
                entry.push((role, state.0[slot]));
                fits = fits && tables.add(path, &entry, vertex);
            });
        }
        if !fits {
            return Ok(());
        }
        let Some(motions) = tables.automorphisms(budget)? else { return Ok(()) };
        let moves_state = |motion: &Motion| motion.roles().any(|(role, _)| self.universes[&role].has_slots);
        let kept = motions.into_iter().filter(|motion| moves_state(motion) && self.fixes_states(model, layout, motion));
        self.others = kept.collect();
        Ok(())
    }

    /// The roles that move but are not free: those of the state, and those that tables tie to them.
    fn tied(&self, free: &FxHashSet<Role>) -> Vec<Role> {
        let moves = |role: &Role| self.universes.get(role).is_some_and(Universe::moves) && !free.contains(role);
        let mut tied: BTreeSet<Role> = self.universes.keys().copied().filter(moves).collect();
        tied.retain(|role| self.universes[role].has_slots);
        loop {
            let known = tied.len();
            for computed in &self.findings.computed {
                let involved = || computed.leaves.iter().map(|(role, _)| *role).chain([computed.result]);
                if involved().any(|role| tied.contains(&role)) {
                    tied.extend(involved().filter(moves));
                }
            }
            if tied.len() == known {
                return tied.into_iter().collect();
            }
        }
    }
}

/// The roles of cells that are undefined in an initial state, or may be.
fn initially_undefined(
    model: &Model,
    layout: &Layout,
    findings: &Findings<'_>,
    states: Option<&[Valuation]>,
) -> FxHashSet<Role> {
    let mut roles = FxHashSet::default();
    for (variable, shape) in findings.shapes.variables.iter_enumerated() {
        if states.is_none() && model.variables[variable].may_be_undefined && !is_set_by_starts(model, variable) {
            shape.visit(&mut |role, _, _| {
                roles.insert(role);
            });
        }
    }
    visit_leaves(model, layout, findings, &mut |(slot, _, _, role)| {
        if states.unwrap_or_default().iter().any(|state| state.0[slot].is_none()) {
            roles.insert(role);
        }
    });
    roles
}

/// Whether each start gives a value to all of a variable, and nothing that may be undefined to anything.
fn is_set_by_starts(model: &Model, variable: VariableId) -> bool {
    model.starts.indices().all(|start| {
        let scope = Scope::Start(start);
        let is_parameter = |place: PlaceId| match model.pool[place].root {
            Root::Local(local) => scope.parameters(model).iter().any(|parameter| parameter.local == local),
            _ => false,
        };
        let mut is_plain = true;
        visit_statements(scope.body(model), &mut |statement| {
            is_plain &= match &statement.kind {
                StatementKind::Undefine(_) | StatementKind::Call { .. } | StatementKind::MultisetAdd { .. } => false,
                StatementKind::Copy { source, .. } => is_parameter(*source),
                _ => true,
            };
        });
        let is_whole = |place: PlaceId| {
            let place = &model.pool[place];
            place.root == Root::Variable(variable) && place.steps.is_empty()
        };
        let sets = |statement: &Statement| match &statement.kind {
            StatementKind::Assign { target, .. } | StatementKind::Copy { target, .. } => is_whole(*target),
            StatementKind::Clear(place) => is_whole(*place),
            _ => false,
        };
        is_plain && called_functions(model, scope).is_empty() && scope.body(model).iter().any(sets)
    })
}

/// The values of each role, told apart as the text does.
fn universes_of(
    model: &Model,
    layout: &Layout,
    findings: &Findings<'_>,
    tables: &[Option<UnaryTable>],
    states: Option<&[Valuation]>,
    budget: &Budget,
) -> Result<BTreeMap<Role, Universe>, Spent> {
    let mut sets: BTreeMap<Role, Vec<&Domain>> = BTreeMap::new();
    for (role, domain) in &findings.sets {
        let own = sets.entry(*role).or_default();
        if !own.contains(&domain) {
            own.push(domain);
        }
    }
    let in_state = roles_of_state(&findings.shapes);
    let mut indices: FxHashSet<Role> = FxHashSet::default();
    for shape in findings.shapes.variables.iter() {
        shape.visit(&mut |role, _, part| {
            indices.extend((part == Part::Index).then_some(role));
        });
    }
    let mut universes: BTreeMap<Role, Universe> = BTreeMap::new();
    for (role, sets) in &sets {
        let most = if indices.contains(role) { Layout::SLOT_LIMIT } else { MOST_VALUES };
        let listed: Vec<&&Domain> = sets.iter().filter(|set| (1..=most).contains(&set.size())).collect();
        budget.spend(listed.iter().map(|set| set.size()).sum::<u64>() / VALUES_PER_UNIT)?;
        let values = listed.into_iter().flat_map(|set| set.values()).collect();
        universes.insert(*role, Universe { values, has_slots: in_state.contains(role), ..Universe::default() });
    }
    // What is computed and not stored may have a large type, or none.
    for (computed, table) in findings.computed.iter().zip(tables) {
        if let Some(table) = table.as_ref().filter(|_| !in_state.contains(&computed.result)) {
            universes.entry(computed.result).or_default().values.extend(table.results());
        }
    }
    for (role, universe) in &mut universes {
        universe.values.sort_unstable();
        universe.values.dedup();
        universe.live = vec![false; universe.values.len()];
        let sets = sets.get(role).map_or(&[][..], |sets| &sets[..]);
        let class = |value: &i64| hash(&sets.iter().map(|set| set.contains(*value)).collect::<Vec<_>>());
        universe.class = universe.values.iter().map(class).collect();
    }
    let outer = Scope::all(model).into_iter().filter(|scope| !matches!(scope, Scope::Function(_)));
    for (scope, parameter) in outer.flat_map(|scope| scope.parameters(model).iter().map(move |one| (scope, one))) {
        findings.shapes.local(scope, parameter.local).visit(&mut |role, _, _| {
            if let Some(universe) = universes.get_mut(&role) {
                universe.is_parameter = true;
            }
        });
    }
    for (role, cause) in &findings.fixed {
        if let Some(universe) = universes.get_mut(role) {
            universe.fixed.get_or_insert(*cause);
        }
    }
    for (role, value, cause) in &findings.pins {
        if let Some(universe) = universes.get_mut(role) {
            if let Some(position) = universe.contains(*value) {
                universe.class[position] = hash(&("named", *value));
            }
            if !universe.named.iter().any(|(named, _)| named == value) {
                universe.named.push((*value, *cause));
            }
        }
    }
    for (role, domain) in &findings.sources {
        if let Some(universe) = universes.get_mut(role) {
            for (value, live) in universe.values.iter().zip(&mut universe.live) {
                *live |= domain.contains(*value);
            }
        }
    }
    if let Some(states) = states {
        visit_leaves(model, layout, findings, &mut |(slot, _, _, role)| {
            for value in states.iter().filter_map(|state| state.0[slot]) {
                if let Some(universe) = universes.get_mut(&role)
                    && let Some(position) = universe.contains(value)
                {
                    universe.live[position] = true;
                }
            }
        });
    }
    for (computed, table) in findings.computed.iter().zip(tables) {
        let (Some(table), Some(results)) = (table, universes.get_mut(&computed.result)) else { continue };
        for value in table.results() {
            if let Some(position) = results.contains(value) {
                results.live[position] = true;
            }
        }
    }
    for write in findings.patches.iter().flat_map(|patch| &patch.writes) {
        for (role, value) in write.indices.iter().chain([&write.value]) {
            if let Some(universe) = universes.get_mut(role)
                && let Some(position) = universe.contains(*value)
            {
                universe.live[position] = true;
            }
        }
    }
    for universe in universes.values_mut() {
        budget.spend(universe.values.len() as u64 / VALUES_PER_UNIT)?;
        universe.find_moves();
    }
    refine_by_tables(findings, tables, &mut universes, budget)?;
    Ok(universes)
}

/// The results of a computation with one value: none where it goes wrong.
enum UnaryTable {
    Listed(FxHashMap<i64, Option<i64>>),
    /// By runs of values, in increasing order.
    Runs(Vec<Run>),
}

impl UnaryTable {
    /// The result for a value; none if it is not one of its values.
    fn get(&self, value: i64) -> Option<Option<i64>> {
        match self {
            Self::Listed(results) => results.get(&value).copied(),
            Self::Runs(runs) => {
                let run = runs.get(runs.partition_point(|&(_, high, _)| high < value));
                run.filter(|(low, ..)| *low <= value).map(|&(.., result)| result)
            }
        }
    }

    /// The results that are values.
    fn results(&self) -> Vec<i64> {
        match self {
            Self::Listed(results) => results.values().copied().flatten().collect(),
            Self::Runs(runs) => runs.iter().filter_map(|&(.., result)| result).collect(),
        }
    }
}

/// Tells values apart that conditions on single values, and functions whose results are told apart, treat differently.
/// Telling the values of one role apart may show those of another.
fn refine_by_tables(
    findings: &Findings<'_>,
    tables: &[Option<UnaryTable>],
    universes: &mut BTreeMap<Role, Universe>,
    budget: &Budget,
) -> Result<(), Spent> {
    let mut known: Vec<Option<bool>> = vec![None; tables.len()];
    loop {
        let mut is_stable = true;
        for (number, (computed, table)) in findings.computed.iter().zip(tables).enumerate() {
            let Some(table) = table else { continue };
            let is_moved = universes.get(&computed.result).is_some_and(Universe::moves);
            if known[number].replace(is_moved) == Some(is_moved) {
                continue;
            }
            is_stable = false;
            if let Some(universe) = universes.get_mut(&computed.leaves[0].0) {
                let key = |value: i64| match table.get(value) {
                    None => hash(&(number, "outside")),
                    Some(None) => hash(&(number, "wrong")),
                    Some(Some(result)) if !is_moved => hash(&(number, result)),
                    Some(Some(_)) => hash(&number),
                };
                universe.refine(key, budget)?;
            }
        }
        if is_stable {
            return Ok(());
        }
    }
}

/// The roles of the cells and indices of the state.
pub(super) fn roles_of_state(shapes: &Shapes) -> FxHashSet<Role> {
    let mut roles = FxHashSet::default();
    for shape in shapes.variables.iter() {
        shape.visit(&mut |role, _, _| {
            roles.insert(role);
        });
    }
    roles
}

/// The tables of the computations with one value.
fn unary_tables(model: &Model, findings: &Findings<'_>, budget: &Budget) -> Result<Vec<Option<UnaryTable>>, Spent> {
    let table = |computed: &Computed| {
        let [(_, domain)] = &computed.leaves[..] else { return Ok(None) };
        if let Some(runs) = &computed.runs {
            budget.spend(runs.len() as u64)?;
            return Ok(Some(UnaryTable::Runs(runs.clone())));
        }
        budget.spend(domain.size())?;
        let results = domain.values().map(|value| (value, computed.computation.value(model, &[value])));
        Ok(Some(UnaryTable::Listed(results.collect())))
    };
    findings.computed.iter().map(table).collect()
}

/// The tables as a coloured graph: a vertex for each value of a role, and one for each entry.
struct Tables {
    builder: GraphBuilder,
    colours: FxHashMap<u64, u32>,
    vertices: FxHashMap<(Role, i64), Point>,
    values: Vec<(Role, i64)>,
}

impl Tables {
    fn new(roles: &[Role], universes: &BTreeMap<Role, Universe>) -> Self {
        let mut tables = Self {
            builder: GraphBuilder::new(),
            colours: FxHashMap::default(),
            vertices: FxHashMap::default(),
            values: Vec::new(),
        };
        for role in roles {
            let universe = &universes[role];
            for class in universe.classes() {
                for value in class {
                    let position = universe.contains(value).expect("it is one of the values");
                    let colour = tables.colour(hash(&("value", *role, universe.class[position])));
                    let vertex = tables.builder.add_vertex(colour);
                    tables.vertices.insert((*role, value), vertex);
                    tables.values.push((*role, value));
                }
            }
        }
        tables
    }

    fn colour(&mut self, label: u64) -> u32 {
        let next = self.colours.len() as u32;
        *self.colours.entry(label).or_insert(next)
    }

    /// The vertex of something that consists of entries: an initial state, a run of assignments.
    fn whole(&mut self, label: u64) -> Point {
        let colour = self.colour(label);
        self.builder.add_vertex(colour)
    }

    /// Adds an entry of a table: values, some of which may move. Returns false if there are too many.
    fn add(&mut self, table: u64, entry: &[(Role, Option<i64>)], whole: Option<Point>) -> bool {
        let mut label = hash(&("entry", table));
        let mut ends = Vec::new();
        for (place, (role, value)) in entry.iter().enumerate() {
            match value.and_then(|value| self.vertices.get(&(*role, value))) {
                Some(vertex) => ends.push((place, *vertex)),
                None => label = hash(&(label, place, *value)),
            }
        }
        if ends.is_empty() && whole.is_none() {
            return true;
        }
        let colour = self.colour(label);
        let vertex = self.builder.add_vertex(colour);
        for (place, end) in ends {
            let colour = self.colour(hash(&("place", table, place)));
            let middle = self.builder.add_vertex(colour);
            self.builder.add_edge(vertex, middle);
            self.builder.add_edge(middle, end);
        }
        if let Some(whole) = whole {
            self.builder.add_edge(vertex, whole);
        }
        self.builder.vertex_count() <= MOST_VERTICES
    }

    /// Generators of the automorphism group, as motions of values.
    fn automorphisms(self, budget: &Budget) -> Result<Option<Vec<Motion>>, Spent> {
        let watch = watch(budget);
        let Ok(graph) = self.builder.build_watched(&watch) else { return Ok(None) };
        let graph = graph.ok_or(Spent)?;
        let found = generators_watched(&graph, &watch).ok_or(Spent)?;
        let motions = found.generators.iter().map(|automorphism| {
            let mut motion = Motion::default();
            for (from, to) in automorphism.moves().filter(|(from, _)| (*from as usize) < self.values.len()) {
                let ((role, value), (_, image)) = (self.values[from as usize], self.values[to as usize]);
                motion.insert(role, value, image);
            }
            motion
        });
        Ok(Some(motions.filter(|motion| !motion.is_identity()).collect()))
    }
}
