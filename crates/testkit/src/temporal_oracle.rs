//! The brute-force oracle for temporal properties: the graph of a model by the reference interpreter, and every formula
//! decided on it in the simplest way. It uses neither symmetries nor compiled code nor the translation of formulas to
//! automata: the product of the graph with all assignments of truth values to the temporal subformulas takes its place
//! (Lichtenstein and Pnueli, "Checking that finite state concurrent programs satisfy their linear specification", 1985).
//!
//! * A state without successors is repeated forever, and no fairness class is enabled there.
//! * An instance that ends in a run-time error is not a step. If that leaves a state without successors, runs end there:
//!   they are not infinite, and nothing is claimed about them.
//! * `A` or `E` before a condition is the condition, even where no run begins.
//!
//! A violated linear property comes with a lasso, which [`Structure::is_fair`] and [`Lasso::satisfies`] confirm; for one
//! that holds, [`Structure::lassos`] enumerates short lassos, none of which may violate it.

mod classes;
mod global;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use quotient_ir::{
    Fairness, Interpreter, Layout, Model, Outcome, Positions, Property, PropertyId, PropertyKind, TableIndex, Temporal,
    TemporalClaim, Valuation, verify,
};
use quotient_temporal::{Automaton, Formula, Formulas, Lasso, Letter, Node, PathQuantifier};

pub use classes::Scope;
use classes::step_classes;
use global::almost_surely;

/// A step of a [`Structure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arc {
    /// The state it enters.
    pub to: usize,
    /// The fairness classes that it belongs to: of its processes, and of its own.
    pub classes: [Option<usize>; MOST_CLASSES],
}

/// The most classes of a step.
pub const MOST_CLASSES: usize = 8;

impl Arc {
    /// A step that belongs to some classes.
    ///
    /// # Panics
    /// If there are more than [`MOST_CLASSES`].
    pub fn new(to: usize, classes: impl IntoIterator<Item = usize>) -> Self {
        let mut arc = Self { to, classes: [None; MOST_CLASSES] };
        for (position, class) in classes.into_iter().enumerate() {
            arc.classes[position] = Some(class);
        }
        arc
    }
    /// The fairness classes that it belongs to.
    pub fn taken(&self) -> impl Iterator<Item = usize> {
        self.classes.into_iter().flatten()
    }
}

/// What a fairness class is guaranteed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// What the model declares.
    pub declared: Fairness,
    /// Whether it is also guaranteed what is asked for.
    pub on_request: bool,
}

impl Guarantee {
    /// What it is guaranteed if a fairness is asked for.
    pub fn with(self, fairness: Fairness) -> Fairness {
        if self.on_request { self.declared.max(fairness) } else { self.declared }
    }
}

/// An explicit graph. A fairness class is enabled in a state where one of its steps begins.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// The start states.
    pub starts: Vec<usize>,
    /// The steps of each state. Where runs end, there are none.
    pub arcs: Vec<Vec<Arc>>,
    /// The fairness classes.
    pub classes: Vec<Guarantee>,
}

/// Why the oracle does not answer: the meaning is not settled, or the model is too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Silence {
    /// More states than allowed.
    TooLarge,
    /// A condition of a formula has no value in a state.
    AtomFails,
    /// An assumption has no value in a state.
    AssumptionFails,
    /// A run can stay in transient states forever or end there.
    StuckInTransient,
}

/// The graph of a model.
#[derive(Clone, Debug)]
pub struct ModelGraph {
    /// The states.
    pub states: Vec<Valuation>,
    /// The steps.
    pub structure: Structure,
    /// Whether a step ended in a run-time error.
    pub has_fault: bool,
}

/// The verdict on one valuation of the parameters of a temporal property.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The property.
    pub property: PropertyId,
    /// The arguments.
    pub arguments: Vec<i64>,
    /// Whether it holds.
    pub holds: bool,
}

/// The most states of a model, and the most of its product with a formula.
#[derive(Clone, Copy, Debug)]
pub struct OracleLimits {
    /// States of the model, transient ones included.
    pub states: usize,
    /// Nodes of a product.
    pub nodes: usize,
    /// The longest lasso enumerated for a second opinion on properties that hold.
    pub lasso: usize,
    /// The most lassos enumerated.
    pub lassos: usize,
}

impl Default for OracleLimits {
    fn default() -> Self {
        Self { states: 2000, nodes: 60_000, lasso: 7, lassos: 400 }
    }
}

/// Decides all temporal properties of a model, for each valuation of their parameters.
///
/// # Errors
/// If there is no answer.
///
/// # Panics
/// If the model is not well-formed, or the second opinion differs.
pub fn judge(model: &Model, fairness: Fairness, limits: &OracleLimits) -> Result<Vec<Judged>, Silence> {
    judge_under(model, Assumption::Classes(Scope::Usual, fairness), limits)
}

/// Which runs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// Those that are fair to classes.
    Classes(Scope, Fairness),
    /// Almost all.
    Global,
}

/// Decides all temporal properties of a model for runs that count. Under [`Assumption::Global`], claims about trees and
/// nondeterministic automata are left out.
///
/// # Errors
/// If there is no answer.
///
/// # Panics
/// If the model is not well-formed, or the second opinion differs.
pub fn judge_under(model: &Model, assumption: Assumption, limits: &OracleLimits) -> Result<Vec<Judged>, Silence> {
    let (scope, fairness) = match assumption {
        Assumption::Classes(scope, fairness) => (scope, fairness),
        Assumption::Global => (Scope::Usual, Fairness::None),
    };
    let mut judged = Vec::new();
    for positions in [Positions::Stored, Positions::All] {
        let temporal = |property: &Property| property.formula.temporal().is_some_and(|it| it.positions == positions);
        if !model.properties.iter().any(temporal) {
            continue;
        }
        let graph = explore_by(model, positions, scope, limits.states)?;
        for (id, property) in model.properties.iter_enumerated().filter(|(_, property)| temporal(property)) {
            let Some(temporal) = property.formula.temporal() else { continue };
            for (arguments, letters) in letters(model, id, temporal, &graph.states)? {
                let holds = match &temporal.claim {
                    claim if assumption == Assumption::Global => {
                        match almost_surely(&graph.structure, claim, &letters, limits)? {
                            Some(holds) => holds,
                            None => continue,
                        }
                    }
                    TemporalClaim::Linear { pool, formula } => {
                        linear(&graph.structure, pool, *formula, &letters, fairness, limits)?
                    }
                    // The refinement oracle is for these.
                    TemporalClaim::Behaviour(_) => continue,
                    TemporalClaim::Never(automaton) => never(&graph.structure, automaton, &letters, fairness, limits)?,
                    TemporalClaim::Branching { pool, formula } => {
                        let truth = branching(&graph.structure, pool, *formula, &letters, fairness, limits)?;
                        graph.structure.starts.iter().all(|&start| truth[start])
                    }
                };
                judged.push(Judged { property: id, arguments, holds });
            }
        }
    }
    judged.sort_by_key(|judged| judged.property.position());
    Ok(judged)
}

/// What somebody says about a temporal property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// It holds for each valuation of its parameters.
    Holds,
    /// It is violated for some.
    Violated,
    /// Nothing, for this reason.
    Nothing(String),
    /// Something went wrong that must not.
    Defect(String),
}

/// How many answers were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Properties that hold.
    pub held: u64,
    /// Properties that are violated.
    pub violated: u64,
    /// Properties about which nothing was said.
    pub unsaid: u64,
}

/// Compares what somebody says about the temporal properties of a model with the verdicts of the oracle.
///
/// # Errors
/// The first difference, in words.
pub fn compare(
    model: &Model,
    verdicts: &[Judged],
    mut check: impl FnMut(PropertyId) -> Told,
) -> Result<Compared, String> {
    let mut compared = Compared::default();
    for (id, property) in model.properties.iter_enumerated() {
        let of_property = || verdicts.iter().filter(|judged| judged.property == id);
        if property.formula.temporal().is_none() {
            continue;
        }
        let violated: Vec<&Vec<i64>> = of_property().filter(|it| !it.holds).map(|it| &it.arguments).collect();
        let name = property.name.as_deref().unwrap_or("?");
        match check(id) {
            Told::Holds if violated.is_empty() => compared.held += 1,
            Told::Violated if !violated.is_empty() => compared.violated += 1,
            Told::Nothing(_) => compared.unsaid += 1,
            Told::Defect(reason) => return Err(format!("{name}: {reason}; the oracle says violated for {violated:?}")),
            Told::Holds => return Err(format!("{name} is said to hold; the oracle says violated for {violated:?}")),
            Told::Violated => return Err(format!("{name} is said to be violated; the oracle says it holds")),
        }
    }
    Ok(compared)
}

// ---- the graph of a model ----

/// The graph of a model: its states without those that are dropped, and if only stored states are positions, without
/// transient ones.
///
/// # Errors
/// If there are too many states, or runs can stay in transient states.
///
/// # Panics
/// If the model is not well-formed.
pub fn explore(model: &Model, positions: Positions, limit: usize) -> Result<ModelGraph, Silence> {
    explore_by(model, positions, Scope::Usual, limit)
}

/// The graph of a model, with the classes of a scope.
///
/// # Errors
/// As for [`explore`].
///
/// # Panics
/// As for [`explore`].
pub fn explore_by(model: &Model, positions: Positions, scope: Scope, limit: usize) -> Result<ModelGraph, Silence> {
    if let Err(problems) = verify(model) {
        panic!("the model is not well formed: {}", problems.join("; "));
    }
    let layout = Layout::new(model).expect("a model for the oracle is small");
    let interpreter = Interpreter::new(model, &layout);
    let mut numbers: HashMap<Vec<Option<i64>>, usize> = HashMap::new();
    let mut graph = ModelGraph { states: Vec::new(), structure: Structure::default(), has_fault: false };
    let mut numbers_of_classes: BTreeMap<String, usize> = BTreeMap::new();
    let mut number_of_class = |(name, guarantee): (String, Guarantee), classes: &mut Vec<Guarantee>| {
        *numbers_of_classes.entry(name).or_insert_with(|| {
            classes.push(guarantee);
            classes.len() - 1
        })
    };
    // The number of a state that a step leads to; nothing if it is dropped. An error if the step goes wrong.
    let mut assumption_fails = false;
    let mut arrive = |outcome: Outcome, states: &mut Vec<Valuation>| -> Result<Option<usize>, ()> {
        let state = match outcome {
            Outcome::Next { state, .. } => state,
            Outcome::Pruned => return Ok(None),
            Outcome::Fault(_) => return Err(()),
        };
        for (id, property) in model.properties.iter_enumerated() {
            if property.kind == PropertyKind::Assumption {
                for arguments in interpreter.instances(&property.parameters, &property.locals) {
                    let holds = interpreter.holds(id, &arguments, &state);
                    assumption_fails |= holds.is_err();
                    if !holds.unwrap_or(false) {
                        return Ok(None);
                    }
                }
            }
        }
        let number = *numbers.entry(state.0.clone()).or_insert(states.len());
        if number == states.len() {
            states.push(state);
        }
        Ok(Some(number))
    };
    for (id, start) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&start.parameters, &start.locals) {
            match arrive(interpreter.run_start(id, &arguments), &mut graph.states) {
                Ok(Some(number)) => graph.structure.starts.push(number),
                Ok(None) => {}
                Err(()) => graph.has_fault = true,
            }
        }
    }
    let mut ends = Vec::new();
    while graph.structure.arcs.len() < graph.states.len() {
        if graph.states.len() > limit {
            return Err(Silence::TooLarge);
        }
        let state = graph.states[graph.structure.arcs.len()].clone();
        let (mut arcs, mut failed) = (Vec::new(), false);
        for (id, rule) in model.rules.iter_enumerated() {
            for arguments in interpreter.instances(&rule.parameters, &rule.locals) {
                match interpreter.enabled(id, &arguments, &state) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(_) => {
                        failed = true;
                        continue;
                    }
                }
                match arrive(interpreter.fire(id, &arguments, &state), &mut graph.states) {
                    Ok(Some(to)) => {
                        let known = &mut graph.structure.classes;
                        let own = step_classes(&interpreter, scope, (id, &arguments), &state);
                        arcs.push(Arc::new(to, own.into_iter().map(|class| number_of_class(class, known))));
                    }
                    Ok(None) => {}
                    Err(()) => failed = true,
                }
            }
        }
        graph.has_fault |= failed;
        ends.push(failed);
        graph.structure.arcs.push(arcs);
    }
    if assumption_fails {
        return Err(Silence::AssumptionFails);
    }
    if positions == Positions::Stored {
        remove_transient(&mut graph, &mut ends, &interpreter)?;
    }
    for (state, arcs) in graph.structure.arcs.iter_mut().enumerate() {
        if arcs.is_empty() && !ends[state] {
            arcs.push(Arc::new(state, []));
        }
    }
    Ok(graph)
}

/// Makes everything between two stored states one step, which belongs to the class of its first.
fn remove_transient(
    graph: &mut ModelGraph,
    ends: &mut Vec<bool>,
    interpreter: &Interpreter<'_>,
) -> Result<(), Silence> {
    let passing: Vec<bool> = graph.states.iter().map(|state| interpreter.passes(state)).collect();
    if !passing.contains(&true) {
        return Ok(());
    }
    let old = std::mem::take(&mut graph.structure);
    let mut numbers = vec![usize::MAX; passing.len()];
    let kept: Vec<usize> = (0..passing.len()).filter(|&state| !passing[state]).collect();
    for (number, &state) in kept.iter().enumerate() {
        numbers[state] = number;
    }
    // The stored states after a stretch, and whether a run-time error can happen on it.
    let stretch = |first: usize| -> Result<(BTreeSet<usize>, bool), Silence> {
        let (mut seen, mut pending) = (BTreeSet::from([first]), vec![first]);
        let (mut stored, mut failed) = (BTreeSet::new(), false);
        while let Some(state) = pending.pop() {
            if !passing[state] {
                stored.insert(numbers[state]);
                continue;
            }
            failed |= ends[state];
            if old.arcs[state].is_empty() && !ends[state] {
                return Err(Silence::StuckInTransient);
            }
            pending.extend(old.arcs[state].iter().map(|arc| arc.to).filter(|&to| seen.insert(to)));
        }
        if stored.is_empty() && !failed { Err(Silence::StuckInTransient) } else { Ok((stored, failed)) }
    };
    let mut new = Structure { classes: old.classes.clone(), ..Structure::default() };
    for &start in &old.starts {
        new.starts.extend(stretch(start)?.0);
    }
    let mut new_ends = Vec::new();
    for &state in &kept {
        let (mut arcs, mut failed) = (Vec::new(), ends[state]);
        for arc in &old.arcs[state] {
            let (stored, fails) = stretch(arc.to)?;
            arcs.extend(stored.into_iter().map(|to| Arc { to, classes: arc.classes }));
            failed |= fails;
        }
        new.arcs.push(arcs);
        new_ends.push(failed);
    }
    graph.states = kept.iter().map(|&state| graph.states[state].clone()).collect();
    graph.structure = new;
    *ends = new_ends;
    Ok(())
}

/// For each valuation of the parameters of a temporal property, the true atoms of each state.
pub type Letters = Vec<(Vec<i64>, Vec<Letter>)>;

/// The letters of a temporal property.
///
/// # Errors
/// If a condition has no value in a state.
///
/// # Panics
/// If the model has too large a layout.
pub fn letters(model: &Model, id: PropertyId, temporal: &Temporal, states: &[Valuation]) -> Result<Letters, Silence> {
    // Each condition becomes a property of its own.
    let mut extended = model.clone();
    let property = &model.properties[id];
    let atoms: Vec<PropertyId> = temporal
        .atoms
        .iter()
        .map(|&atom| {
            extended.properties.push(Property { kind: PropertyKind::Atom, formula: atom.into(), ..property.clone() })
        })
        .collect();
    let layout = Layout::new(&extended).expect("a model for the oracle is small");
    let interpreter = Interpreter::new(&extended, &layout);
    let mut all = Vec::new();
    for arguments in interpreter.instances(&property.parameters, &property.locals) {
        let mut letters = Vec::new();
        for state in states {
            let mut letter = 0;
            for (bit, &atom) in atoms.iter().enumerate() {
                let holds = interpreter.holds(atom, &arguments, state).map_err(|_| Silence::AtomFails)?;
                letter |= u64::from(holds) << bit;
            }
            letters.push(letter);
        }
        all.push((arguments, letters));
    }
    Ok(all)
}

// ---- linear time ----

/// Whether a formula of LTL holds on all fair runs.
///
/// # Errors
/// If the product is too large.
///
/// # Panics
/// If the second opinion differs.
pub fn linear(
    structure: &Structure,
    pool: &Formulas,
    formula: Formula,
    letters: &[Letter],
    fairness: Fairness,
    limits: &OracleLimits,
) -> Result<bool, Silence> {
    let mut pool = pool.clone();
    let negation = pool.not(formula);
    let leaves: Vec<Formula> = pool.atoms(formula).into_iter().map(|atom| pool.atom(atom)).collect();
    let leaf_letters = |state: usize| {
        leaves.iter().enumerate().fold(0, |letter, (bit, leaf)| match pool.node(*leaf) {
            Node::Atom(atom) => letter | (letters[state] >> atom.0 & 1) << bit,
            _ => letter,
        })
    };
    let letters_of_leaves: Vec<Letter> = (0..letters.len()).map(leaf_letters).collect();
    let mut tableau = Tableau::new(&pool, negation, leaves, &letters_of_leaves);
    let product = tableau.product(structure, structure.starts.iter().copied(), limits.nodes)?;
    second_opinion(structure, &product, letters, fairness, limits, &|lasso| lasso.satisfies(&pool, negation))
}

/// Whether an automaton accepts no fair run.
///
/// # Errors
/// If the product is too large.
///
/// # Panics
/// If the second opinion differs.
pub fn never(
    structure: &Structure,
    automaton: &Automaton,
    letters: &[Letter],
    fairness: Fairness,
    limits: &OracleLimits,
) -> Result<bool, Silence> {
    let letter_of = |state: usize| -> Letter {
        let bits = automaton.atoms.iter().enumerate();
        bits.map(|(bit, atom)| (letters[state] >> atom.0 & 1) << bit).sum()
    };
    let starts = structure.starts.iter().flat_map(|&state| automaton.initial.iter().map(move |&inner| (state, inner)));
    let product = Product::build(structure, starts, automaton.all_sets(), limits.nodes, |state, inner, _| {
        let leaving = automaton.leaving(inner).iter();
        let matching = leaving.filter(|transition| transition.cube.contains(letter_of(state)));
        matching.map(|transition| (transition.to, transition.acceptance)).collect()
    })?;
    second_opinion(structure, &product, letters, fairness, limits, &|lasso| automaton.accepts(lasso))
}

/// Whether no initial node of a product begins an accepted fair path. If one does, a lasso must confirm it; otherwise no
/// short lasso may contradict.
fn second_opinion<Q>(
    structure: &Structure,
    product: &Product<Q>,
    letters: &[Letter],
    fairness: Fairness,
    limits: &OracleLimits,
    is_violation: &dyn Fn(&Lasso) -> bool,
) -> Result<bool, Silence> {
    let components = product.components(structure, fairness);
    let word = |stem: &[(usize, Arc)], cycle: &[(usize, Arc)]| Lasso {
        prefix: stem.iter().map(|&(state, _)| letters[state]).collect(),
        cycle: cycle.iter().map(|&(state, _)| letters[state]).collect(),
    };
    let reached = product.reaching(&components.concat());
    match product.initial.iter().find(|&&node| reached[node]) {
        Some(&start) => {
            if let Some((stem, cycle)) = product.tour(start, &components) {
                assert!(structure.is_run(&stem, &cycle), "the lasso of the oracle is not a run");
                assert!(structure.is_fair(&cycle, fairness), "the lasso of the oracle is not fair");
                assert!(is_violation(&word(&stem, &cycle)), "the lasso of the oracle does not violate the formula");
            }
            Ok(false)
        }
        None => {
            structure.lassos(limits.lasso, limits.lassos, |stem, cycle| {
                if structure.is_fair(cycle, fairness) {
                    assert!(!is_violation(&word(stem, cycle)), "the oracle missed the lasso {stem:?} {cycle:?}");
                }
            });
            Ok(true)
        }
    }
}

impl Structure {
    /// Whether steps, each with the state it leaves, are a run that ends in a cycle.
    fn is_run(&self, stem: &[(usize, Arc)], cycle: &[(usize, Arc)]) -> bool {
        let all: Vec<&(usize, Arc)> = stem.iter().chain(cycle).collect();
        all.iter().all(|(from, arc)| self.arcs[*from].contains(arc))
            && all.windows(2).all(|pair| pair[0].1.to == pair[1].0)
            && cycle.last().is_some_and(|last| last.1.to == cycle[0].0)
            && all.first().is_some_and(|first| self.starts.contains(&first.0))
    }
    fn enabled(&self, state: usize) -> BTreeSet<usize> {
        self.arcs[state].iter().flat_map(Arc::taken).collect()
    }
    /// Whether a cycle repeated forever is fair, by the definition.
    pub fn is_fair(&self, cycle: &[(usize, Arc)], fairness: Fairness) -> bool {
        let states: Vec<BTreeSet<usize>> = cycle.iter().map(|&(state, _)| self.enabled(state)).collect();
        let taken: BTreeSet<usize> = cycle.iter().flat_map(|(_, arc)| arc.taken()).collect();
        let all: BTreeSet<usize> = states.iter().flatten().copied().collect();
        all.iter().all(|class| {
            taken.contains(class)
                || match self.classes[*class].with(fairness) {
                    Fairness::None => true,
                    Fairness::Weak => !states.iter().all(|enabled| enabled.contains(class)),
                    Fairness::Strong => false,
                }
        })
    }
    /// Calls a function with lassos of at most so many steps from the start states, as steps with the state they leave:
    /// all of them, or the first so many.
    pub fn lassos(&self, length: usize, most: usize, mut visit: impl FnMut(&[(usize, Arc)], &[(usize, Arc)])) {
        let mut count = 0;
        for &start in &self.starts {
            // The steps so far, and which arc of each state is next.
            let (mut steps, mut next): (Vec<(usize, Arc)>, Vec<usize>) = (Vec::new(), vec![0]);
            while let Some(position) = next.last_mut() {
                let state = steps.last().map_or(start, |(_, arc)| arc.to);
                let arc = self.arcs[state].get(*position).copied().filter(|_| steps.len() < length);
                let Some(arc) = arc else {
                    next.pop();
                    steps.pop();
                    continue;
                };
                *position += 1;
                steps.push((state, arc));
                next.push(0);
                for cut in (0..steps.len()).filter(|&cut| steps[cut].0 == arc.to) {
                    visit(&steps[..cut], &steps[cut..]);
                    count += 1;
                    if count == most {
                        return;
                    }
                }
            }
        }
    }
}

// ---- branching time ----

/// The states where a state formula of CTL* is true.
///
/// # Errors
/// If a product is too large.
///
/// # Panics
/// If the formula is not a state formula.
pub fn branching(
    structure: &Structure,
    pool: &Formulas,
    formula: Formula,
    letters: &[Letter],
    fairness: Fairness,
    limits: &OracleLimits,
) -> Result<Vec<bool>, Silence> {
    let mut pool = pool.clone();
    // A path quantifier before a condition says nothing.
    let formula = pool.rebuild(formula, |pool, node, children| match node {
        Node::Path(..) if temporal_parts(pool, children[0]).is_empty() => children[0],
        _ => pool.with_children(node, children),
    });
    let states = 0..structure.arcs.len();
    let mut truth: HashMap<Formula, Vec<bool>> = HashMap::new();
    for part in pool.subformulas(formula) {
        let node = pool.node(part).clone();
        let at = |child: &Formula, state: usize| truth[child][state];
        let values: Vec<bool> = match &node {
            Node::True => states.clone().map(|_| true).collect(),
            Node::False => states.clone().map(|_| false).collect(),
            Node::Atom(atom) => states.clone().map(|state| letters[state] >> atom.0 & 1 == 1).collect(),
            Node::Path(quantifier, path) => {
                let wanted = match quantifier {
                    PathQuantifier::Some => *path,
                    PathQuantifier::All => pool.not(*path),
                };
                let leaves = leaves(&pool, wanted);
                let letter = |state: usize| {
                    (0..leaves.len()).fold(0, |word, bit| word | u64::from(at(&leaves[bit], state)) << bit)
                };
                let letters: Vec<Letter> = states.clone().map(letter).collect();
                let mut tableau = Tableau::new(&pool, wanted, leaves.clone(), &letters);
                let product = tableau.product(structure, states.clone(), limits.nodes)?;
                let components = product.components(structure, fairness);
                let reached = product.reaching(&components.concat());
                let mut some = vec![false; structure.arcs.len()];
                for &node in product.initial.iter().filter(|&&node| reached[node]) {
                    some[product.nodes[node].0] = true;
                }
                some.into_iter().map(|some| some == (*quantifier == PathQuantifier::Some)).collect()
            }
            // Parts of path formulas are not asked for; they may have temporal operators inside.
            Node::Not(_) | Node::And(_) | Node::Or(_) if !temporal_parts(&pool, part).is_empty() => continue,
            Node::Not(a) => states.clone().map(|state| !at(a, state)).collect(),
            Node::And(parts) => states.clone().map(|state| parts.iter().all(|part| at(part, state))).collect(),
            Node::Or(parts) => states.clone().map(|state| parts.iter().any(|part| at(part, state))).collect(),
            _ => continue,
        };
        truth.insert(part, values);
    }
    Ok(truth.remove(&formula).expect("a state formula has a value in each state"))
}

/// The parts of a formula that are not inside a path quantifier, children first.
fn outer_parts(pool: &Formulas, formula: Formula) -> Vec<Formula> {
    let (mut found, mut pending) = (BTreeSet::from([formula]), vec![formula]);
    while let Some(part) = pending.pop() {
        if !matches!(pool.node(part), Node::Path(..)) {
            pool.node(part).for_each_child(|child| {
                if found.insert(child) {
                    pending.push(child);
                }
            });
        }
    }
    found.into_iter().collect()
}

/// Those with a temporal operator.
fn temporal_parts(pool: &Formulas, formula: Formula) -> Vec<Formula> {
    let mut parts = outer_parts(pool, formula);
    parts.retain(|part| {
        !matches!(
            pool.node(*part),
            Node::True | Node::False | Node::Atom(_) | Node::Not(_) | Node::And(_) | Node::Or(_) | Node::Path(..)
        )
    });
    parts
}

/// The atoms and quantified formulas.
fn leaves(pool: &Formulas, formula: Formula) -> Vec<Formula> {
    let mut parts = outer_parts(pool, formula);
    parts.retain(|part| matches!(pool.node(*part), Node::Atom(_) | Node::Path(..)));
    parts
}

// ---- the tableau ----

/// All assignments of truth values to the temporal parts of a path formula: bit `n` of an assignment is the value of
/// part `n` at a position.
struct Tableau<'a> {
    pool: &'a Formulas,
    formula: Formula,
    parts: Vec<Formula>,
    temporal: Vec<Formula>,
    leaves: Vec<Formula>,
    /// For each state, the true leaves.
    letters: &'a [Letter],
    /// The values of all parts for letters and assignments.
    values: HashMap<(Letter, u32), BTreeMap<Formula, bool>>,
    /// The assignments that can follow, for letters now and then.
    following: HashMap<(Letter, u32, Letter), Vec<u32>>,
}

impl<'a> Tableau<'a> {
    fn new(pool: &'a Formulas, formula: Formula, leaves: Vec<Formula>, letters: &'a [Letter]) -> Self {
        let temporal = temporal_parts(pool, formula);
        assert!(temporal.len() < 12, "a formula for the oracle is small");
        let parts = outer_parts(pool, formula);
        Self { pool, formula, parts, temporal, leaves, letters, values: HashMap::new(), following: HashMap::new() }
    }
    fn assignments(&self) -> std::ops::Range<u32> {
        0..1 << self.temporal.len()
    }
    fn values(&mut self, letter: Letter, assignment: u32) -> &BTreeMap<Formula, bool> {
        let (pool, leaves, temporal) = (self.pool, &self.leaves, &self.temporal);
        let parts = &self.parts;
        self.values.entry((letter, assignment)).or_insert_with(|| {
            let mut values: BTreeMap<Formula, bool> = BTreeMap::new();
            for &part in parts {
                let value = match pool.node(part) {
                    Node::True => true,
                    Node::False => false,
                    Node::Not(a) => !values[a],
                    Node::And(children) => children.iter().all(|child| values[child]),
                    Node::Or(children) => children.iter().any(|child| values[child]),
                    Node::Atom(_) | Node::Path(..) => {
                        let bit = leaves.iter().position(|leaf| *leaf == part).expect("it is a leaf");
                        letter >> bit & 1 == 1
                    }
                    _ => {
                        let bit = temporal.iter().position(|other| *other == part).expect("it is temporal");
                        assignment >> bit & 1 == 1
                    }
                };
                values.insert(part, value);
            }
            values
        })
    }
    /// Whether an assignment is possible at the first position, and makes the formula true.
    fn is_initial(&mut self, letter: Letter, assignment: u32) -> bool {
        let (pool, temporal, formula) = (self.pool, self.temporal.clone(), self.formula);
        let now = self.values(letter, assignment);
        now[&formula]
            && temporal.iter().all(|part| match pool.node(*part) {
                Node::Yesterday(_) => !now[part],
                Node::WeakYesterday(_) => now[part],
                Node::Since(_, b) | Node::Triggered(_, b) => now[part] == now[b],
                _ => true,
            })
    }
    /// The assignments that can follow an assignment.
    fn following(&mut self, letter: Letter, assignment: u32, next_letter: Letter) -> Vec<u32> {
        if let Some(known) = self.following.get(&(letter, assignment, next_letter)) {
            return known.clone();
        }
        let (pool, temporal) = (self.pool, self.temporal.clone());
        let now = self.values(letter, assignment).clone();
        let mut found = Vec::new();
        for candidate in self.assignments() {
            let next = self.values(next_letter, candidate);
            let fits = temporal.iter().all(|part| match pool.node(*part) {
                Node::Next(a) => now[part] == next[a],
                Node::Until(a, b) => now[part] == (now[b] || now[a] && next[part]),
                Node::Release(a, b) => now[part] == (now[b] && (now[a] || next[part])),
                Node::Yesterday(a) | Node::WeakYesterday(a) => next[part] == now[a],
                Node::Since(a, b) => next[part] == (next[b] || next[a] && now[part]),
                Node::Triggered(a, b) => next[part] == (next[b] && (next[a] || now[part])),
                _ => true,
            });
            if fits {
                found.push(candidate);
            }
        }
        self.following.insert((letter, assignment, next_letter), found.clone());
        found
    }
    /// The acceptance sets of the steps from a position: one for each until, which must not be put off forever, and one
    /// for each release that is false, which must not be kept forever.
    fn acceptance(&mut self, letter: Letter, assignment: u32) -> u64 {
        let (pool, temporal) = (self.pool, self.temporal.clone());
        let now = self.values(letter, assignment);
        temporal.iter().enumerate().fold(0, |sets, (bit, part)| {
            let fulfilled = match pool.node(*part) {
                Node::Until(_, b) => !now[part] || now[b],
                Node::Release(_, b) => now[part] || !now[b],
                _ => true,
            };
            sets | u64::from(fulfilled) << bit
        })
    }
    /// The product with a graph, from some of its states.
    fn product(
        &mut self,
        structure: &Structure,
        starts: impl Iterator<Item = usize>,
        limit: usize,
    ) -> Result<Product<u32>, Silence> {
        let letters = self.letters;
        let mut initial = Vec::new();
        for state in starts {
            for assignment in self.assignments() {
                if self.is_initial(letters[state], assignment) {
                    initial.push((state, assignment));
                }
            }
        }
        let all = (1 << self.temporal.len()) - 1;
        Product::build(structure, initial.into_iter(), all, limit, |state, assignment, to| {
            let acceptance = self.acceptance(letters[state], assignment);
            let following = self.following(letters[state], assignment, letters[to]);
            following.into_iter().map(|next| (next, acceptance)).collect()
        })
    }
}

// ---- products ----

/// A step of a product: the node it enters, the step of the graph, and the acceptance sets.
type ProductArc = (usize, Arc, u64);

/// The part of a product that can be reached.
struct Product<Q> {
    nodes: Vec<(usize, Q)>,
    arcs: Vec<Vec<ProductArc>>,
    initial: Vec<usize>,
    sets: u64,
}

impl<Q: Copy + Eq + std::hash::Hash> Product<Q> {
    fn build(
        structure: &Structure,
        initial: impl Iterator<Item = (usize, Q)>,
        sets: u64,
        limit: usize,
        mut following: impl FnMut(usize, Q, usize) -> Vec<(Q, u64)>,
    ) -> Result<Self, Silence> {
        let mut numbers: HashMap<(usize, Q), usize> = HashMap::new();
        let mut nodes = Vec::new();
        let mut number_of = |pair: (usize, Q), nodes: &mut Vec<(usize, Q)>| {
            *numbers.entry(pair).or_insert_with(|| {
                nodes.push(pair);
                nodes.len() - 1
            })
        };
        let initial: Vec<usize> = initial.map(|pair| number_of(pair, &mut nodes)).collect();
        let mut arcs = Vec::new();
        while arcs.len() < nodes.len() {
            if nodes.len() > limit {
                return Err(Silence::TooLarge);
            }
            let (state, inner) = nodes[arcs.len()];
            let mut found = Vec::new();
            for &arc in &structure.arcs[state] {
                for (next, acceptance) in following(state, inner, arc.to) {
                    found.push((number_of((arc.to, next), &mut nodes), arc, acceptance));
                }
            }
            arcs.push(found);
        }
        Ok(Self { nodes, arcs, initial, sets })
    }
}

impl<Q> Product<Q> {
    /// The components in which an accepted fair path can stay.
    fn components(&self, structure: &Structure, fairness: Fairness) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        let mut pending = vec![(0..self.nodes.len()).collect::<Vec<usize>>()];
        while let Some(part) = pending.pop() {
            for component in self.strongly_connected(&part) {
                let inside: BTreeSet<usize> = component.iter().copied().collect();
                let arcs = || {
                    let leaving = component.iter().flat_map(|&node| &self.arcs[node]);
                    leaving.filter(|(to, ..)| inside.contains(to))
                };
                if arcs().next().is_none() || arcs().fold(0, |sets, arc| sets | arc.2) != self.sets {
                    continue;
                }
                let taken: BTreeSet<usize> = arcs().flat_map(|arc| arc.1.taken()).collect();
                let enabled = |node: usize| structure.enabled(self.nodes[node].0);
                let guaranteed = |class: usize| structure.classes[class].with(fairness);
                let is_neglected = |class: usize| {
                    guaranteed(class) == Fairness::Weak
                        && !taken.contains(&class)
                        && component.iter().all(|&node| enabled(node).contains(&class))
                };
                if (0..structure.classes.len()).any(is_neglected) {
                    continue;
                }
                let is_fine = |class: usize| guaranteed(class) != Fairness::Strong || taken.contains(&class);
                let rest: Vec<usize> =
                    component.iter().copied().filter(|&node| enabled(node).into_iter().all(is_fine)).collect();
                if rest.len() == component.len() {
                    found.push(component);
                } else {
                    pending.push(rest);
                }
            }
        }
        found
    }
    /// The strongly connected components of a part: the nodes in the order in which they are left, then backwards
    /// (Kosaraju's algorithm).
    fn strongly_connected(&self, part: &[usize]) -> Vec<Vec<usize>> {
        let inside: BTreeSet<usize> = part.iter().copied().collect();
        let mut backwards: HashMap<usize, Vec<usize>> = HashMap::new();
        for &node in part {
            for (to, ..) in self.arcs[node].iter().filter(|(to, ..)| inside.contains(to)) {
                backwards.entry(*to).or_default().push(node);
            }
        }
        let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
        for &root in part {
            if !seen.insert(root) {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some((node, next)) = path.last_mut() {
                match self.arcs[*node].get(*next) {
                    Some((to, ..)) => {
                        *next += 1;
                        if inside.contains(to) && seen.insert(*to) {
                            path.push((*to, 0));
                        }
                    }
                    None => {
                        order.push(*node);
                        path.pop();
                    }
                }
            }
        }
        let (mut placed, mut components) = (BTreeSet::new(), Vec::new());
        for &root in order.iter().rev() {
            if !placed.insert(root) {
                continue;
            }
            let (mut component, mut done) = (vec![root], 0);
            while done < component.len() {
                for &from in backwards.get(&component[done]).into_iter().flatten() {
                    if placed.insert(from) {
                        component.push(from);
                    }
                }
                done += 1;
            }
            components.push(component);
        }
        components
    }
    /// The nodes from which one of some nodes can be reached.
    fn reaching(&self, goals: &[usize]) -> Vec<bool> {
        let mut backwards = vec![Vec::new(); self.nodes.len()];
        for (from, arcs) in self.arcs.iter().enumerate() {
            for (to, ..) in arcs {
                backwards[*to].push(from);
            }
        }
        let mut reached = vec![false; self.nodes.len()];
        let mut pending = goals.to_vec();
        while let Some(node) = pending.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                pending.extend(&backwards[node]);
            }
        }
        reached
    }
    /// A run from a node into a component and around all steps of it, unless there are very many.
    #[allow(clippy::type_complexity)]
    fn tour(&self, start: usize, components: &[Vec<usize>]) -> Option<(Vec<(usize, Arc)>, Vec<(usize, Arc)>)> {
        const MOST_STEPS: usize = 3000;
        let state = |node: usize| self.nodes[node].0;
        let (mut at, mut stem) = (start, Vec::new());
        if !components.iter().any(|component| component.contains(&start)) {
            let way =
                self.way(start, |_| true, |_, (to, ..)| components.iter().any(|component| component.contains(to)));
            for (from, arc) in way.expect("a component can be reached") {
                stem.push((state(from), arc.1));
                at = arc.0;
            }
        }
        let entry = at;
        let component = components.iter().find(|component| component.contains(&entry))?;
        let inside: BTreeSet<usize> = component.iter().copied().collect();
        let mut left: BTreeSet<(usize, ProductArc)> = BTreeSet::new();
        for &node in component {
            left.extend(self.arcs[node].iter().filter(|(to, ..)| inside.contains(to)).map(|arc| (node, *arc)));
        }
        let mut cycle = Vec::new();
        while !left.is_empty() || at != entry {
            let way = self.way(
                at,
                |node| inside.contains(&node),
                |from, arc| if left.is_empty() { arc.0 == entry } else { left.contains(&(from, *arc)) },
            );
            for (from, arc) in way.expect("a component is strongly connected") {
                left.remove(&(from, arc));
                cycle.push((state(from), arc.1));
                at = arc.0;
            }
            if cycle.len() > MOST_STEPS {
                return None;
            }
        }
        Some((stem, cycle))
    }
    /// A shortest way over nodes that are inside, ending with a step that is a goal.
    fn way(
        &self,
        from: usize,
        is_inside: impl Fn(usize) -> bool,
        is_goal: impl Fn(usize, &ProductArc) -> bool,
    ) -> Option<Vec<(usize, ProductArc)>> {
        let mut came_by: HashMap<usize, (usize, ProductArc)> = HashMap::new();
        let (mut queue, mut done) = (vec![from], 0);
        while done < queue.len() {
            let node = queue[done];
            done += 1;
            for arc in self.arcs[node].iter().filter(|arc| is_inside(arc.0)) {
                if is_goal(node, arc) {
                    let mut way = vec![(node, *arc)];
                    let mut node = node;
                    while node != from {
                        let step = came_by[&node];
                        way.push(step);
                        node = step.0;
                    }
                    way.reverse();
                    return Some(way);
                }
                if arc.0 != from && !came_by.contains_key(&arc.0) {
                    came_by.insert(arc.0, (node, *arc));
                    queue.push(arc.0);
                }
            }
        }
        None
    }
}
