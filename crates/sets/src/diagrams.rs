//! Sets of assignments as decision diagrams with complement edges. The crate `oxidd` does the work; here it gets a
//! bound that is a result and not a panic, and the names of this project.

use num_bigint::BigUint;
use oxidd::bcdd::{BCDDFunction, BCDDManagerRef, new_manager};
use oxidd::util::{AllocResult, OptBool, SatCountCache};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager, ManagerRef, Subst,
};
use rustc_hash::FxHashMap;

use quotient_booleans::{Full, Logic};

/// A set of assignments to variables, or a Boolean function of them.
pub(crate) type Set = BCDDFunction;

/// A replacement of variables by functions, all at once.
pub(crate) type Replacement = Subst<Set>;

/// The bytes that a node takes, with its share of the tables that find nodes and results.
pub(crate) const NODE_BYTES: u64 = 40;
/// The least and the greatest number of nodes for which there is room.
const NODES: (u64, u64) = (1 << 12, 1 << 30);
/// So many nodes share an entry of the table of results, which has at most so many. It is made at once, while room for
/// nodes is taken as they come.
const NODES_PER_RESULT: usize = 4;
const MOST_RESULTS: usize = 1 << 21;

/// The diagrams over a fixed number of variables, in a fixed order.
pub(crate) struct Diagrams {
    manager: BCDDManagerRef,
    variables: Vec<Set>,
    empty: Set,
    whole: Set,
    capacity: usize,
    peak: usize,
}

impl Diagrams {
    /// Diagrams over so many variables, in the order of their numbers, within so many bytes.
    ///
    /// # Errors
    /// If the variables alone do not fit.
    pub(crate) fn new(variables: u32, bytes: u64) -> Result<Self, Full> {
        let capacity = (bytes / NODE_BYTES).clamp(NODES.0, NODES.1) as usize;
        let manager = new_manager(capacity, (capacity / NODES_PER_RESULT).min(MOST_RESULTS), 1);
        let all = manager.with_manager_exclusive(|manager| {
            let all: AllocResult<Vec<Set>> =
                manager.add_vars(variables).map(|variable| Set::var(manager, variable)).collect();
            all
        });
        let (empty, whole) = manager.with_manager_shared(|manager| (Set::f(manager), Set::t(manager)));
        let variables = all.map_err(|_| Full)?;
        Ok(Self { manager, variables, empty, whole, capacity, peak: 0 })
    }

    /// The set of all assignments.
    pub(crate) fn whole(&self) -> &Set {
        &self.whole
    }

    /// The set of none.
    pub(crate) fn empty(&self) -> &Set {
        &self.empty
    }

    /// Where a variable is true.
    pub(crate) fn variable(&self, number: u32) -> &Set {
        &self.variables[number as usize]
    }

    /// Performs an operation, again after removing unused nodes if there is no room.
    fn perform(&mut self, operation: impl Fn() -> AllocResult<Set>) -> Result<Set, Full> {
        self.make_room();
        match operation() {
            Ok(set) => Ok(set),
            Err(_) => {
                self.manager.with_manager_shared(|manager| manager.gc());
                operation().map_err(|_| Full)
            }
        }
    }

    /// Removes unused nodes if most of the room is taken.
    fn make_room(&mut self) {
        let nodes = self.manager.with_manager_shared(|manager| manager.approx_num_inner_nodes());
        self.peak = self.peak.max(nodes);
        if nodes > self.capacity / 4 * 3 {
            self.manager.with_manager_shared(|manager| manager.gc());
        }
    }

    /// The greatest number of nodes that was seen between two operations, used or not.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// The assignments in one set and not in another.
    pub(crate) fn without(&mut self, set: &Set, other: &Set) -> Result<Set, Full> {
        self.perform(|| other.imp_strict(set))
    }

    /// The union of two sets.
    pub(crate) fn union(&mut self, one: &Set, other: &Set) -> Result<Set, Full> {
        self.perform(|| one.or(other))
    }

    /// The common part of two sets.
    pub(crate) fn common(&mut self, one: &Set, other: &Set) -> Result<Set, Full> {
        self.perform(|| one.and(other))
    }

    /// Where two functions are equal.
    pub(crate) fn equal(&mut self, one: &Set, other: &Set) -> Result<Set, Full> {
        self.perform(|| one.equiv(other))
    }

    /// The conjunction of variables, which stands for the set of them.
    pub(crate) fn cube(&mut self, mut variables: Vec<u32>) -> Result<Set, Full> {
        variables.sort_unstable();
        let mut cube = self.whole.clone();
        for variable in variables.into_iter().rev() {
            let one = self.variables[variable as usize].clone();
            cube = self.perform(|| one.and(&cube))?;
        }
        Ok(cube)
    }

    /// The assignments that some values of the variables of a cube complete to one in the set.
    pub(crate) fn exists(&mut self, set: &Set, cube: &Set) -> Result<Set, Full> {
        self.perform(|| set.exists(cube))
    }

    /// The same for the common part of two sets, which is not built.
    pub(crate) fn product(&mut self, one: &Set, other: &Set, cube: &Set) -> Result<Set, Full> {
        self.perform(|| one.apply_exists(BooleanOperator::And, other, cube))
    }

    /// A set after a replacement of variables by functions.
    pub(crate) fn replaced(&mut self, set: &Set, replacement: &Replacement) -> Result<Set, Full> {
        self.perform(|| set.substitute(replacement))
    }

    /// Whether a set is empty.
    pub(crate) fn is_empty(&self, set: &Set) -> bool {
        *set == self.empty
    }

    /// Whether two sets have an assignment in common.
    pub(crate) fn meet(&mut self, one: &Set, other: &Set) -> Result<bool, Full> {
        let common = self.common(one, other)?;
        Ok(!self.is_empty(&common))
    }

    /// A part of a set that has at most so many nodes, or one assignment. It is not empty unless the set is.
    pub(crate) fn part(&mut self, set: &Set, nodes: usize) -> Result<Set, Full> {
        let mut part = set.clone();
        let Some(picked) = self.pick(set).filter(|_| self.size(set) > nodes) else { return Ok(part) };
        for (variable, value) in (0..).zip(picked) {
            let own = self.variable(variable).clone();
            part = if value { self.common(&part, &own)? } else { self.without(&part, &own)? };
            if self.size(&part) <= nodes {
                break;
            }
        }
        Ok(part)
    }

    /// The number of nodes of a set, with the terminal.
    pub(crate) fn size(&self, set: &Set) -> usize {
        set.node_count()
    }

    /// The number of assignments to all variables that are in a set.
    pub(crate) fn count(&self, set: &Set) -> BigUint {
        let mut cache: SatCountCache<BigUint, rustc_hash::FxBuildHasher> = SatCountCache::default();
        set.sat_count(self.variables.len() as u32, &mut cache)
    }

    /// The greatest sum of the weights of true variables among the assignments in a set; none if it is empty. Weights are
    /// not negative.
    pub(crate) fn greatest(&self, set: &Set, weights: &[u64]) -> Option<u64> {
        // What variables from a level on contribute if they are all true.
        let mut free = vec![0u64; weights.len() + 1];
        for variable in (0..weights.len()).rev() {
            free[variable] = free[variable + 1] + weights[variable];
        }
        let greatest = self.greatest_below(set, weights, &free, &mut FxHashMap::default());
        greatest.map(|sum| sum + free[0] - free[self.top(set)])
    }

    /// The same, of the variables from the top of the set on.
    #[expect(clippy::mutable_key_type, reason = "sets are compared by node, which does not change")]
    fn greatest_below(
        &self,
        set: &Set,
        weights: &[u64],
        free: &[u64],
        known: &mut FxHashMap<Set, Option<u64>>,
    ) -> Option<u64> {
        if self.is_empty(set) {
            return None;
        }
        if let Some(&greatest) = known.get(set) {
            return greatest;
        }
        let Some((with, without)) = set.cofactors() else { return Some(0) };
        let top = self.top(set);
        let mut best = None;
        for (part, own) in [(with, weights[top]), (without, 0)] {
            let below = self.greatest_below(&part, weights, free, known);
            best = best.max(below.map(|sum| sum + own + free[top + 1] - free[self.top(&part)]));
        }
        known.insert(set.clone(), best);
        best
    }

    /// The first variable that a set depends on; behind the last one if it depends on none.
    fn top(&self, set: &Set) -> usize {
        let level = set.with_manager_shared(|manager, edge| manager.get_node(edge).level());
        (level as usize).min(self.variables.len())
    }

    /// An assignment in a set, if there is one. It is the same each time; variables that do not matter are false.
    pub(crate) fn pick(&self, set: &Set) -> Option<Vec<bool>> {
        let cube = set.pick_cube(|_, _, _| false)?;
        Some(cube.into_iter().map(|value| value == OptBool::True).collect())
    }
}

impl Logic for Diagrams {
    type Bit = Set;
    fn constant(&self, value: bool) -> Set {
        if value { self.whole.clone() } else { self.empty.clone() }
    }
    fn known(&self, bit: &Set) -> Option<bool> {
        if *bit == self.whole {
            Some(true)
        } else if *bit == self.empty {
            Some(false)
        } else {
            None
        }
    }
    fn not(&mut self, bit: &Set) -> Result<Set, Full> {
        self.perform(|| bit.not())
    }
    fn and(&mut self, left: &Set, right: &Set) -> Result<Set, Full> {
        self.common(left, right)
    }
    fn or(&mut self, left: &Set, right: &Set) -> Result<Set, Full> {
        self.union(left, right)
    }
    fn xor(&mut self, left: &Set, right: &Set) -> Result<Set, Full> {
        self.perform(|| left.xor(right))
    }
    fn choose(&mut self, condition: &Set, then: &Set, otherwise: &Set) -> Result<Set, Full> {
        self.perform(|| condition.ite(then, otherwise))
    }
}
