//! Which parts are dead at which control values.

use std::cell::Cell;

use quotient_ir::walk::{Node, body_nodes, visit_nodes, visit_statements};
use quotient_ir::{
    DeadlockMode, Expr, FunctionId, Model, PropertyId, Root, RuleId, Statement, StatementKind, TableIndex, TypeKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::{Facts, Member};
use super::flow::{Move, Moves, moves_of};
use super::lens::{Control, Lens};
use super::parts::Parts;
use super::reads::Reads;
use super::values::Values;
use crate::slice::classes::Part;

/// The most values of a control part.
const CONTROL_VALUES: u64 = 4096;
/// The most control parts that are tried.
const CONTROL_LIMIT: usize = 128;
/// The expressions visited, over all control parts, after which no further ones are tried.
const WORK_LIMIT: u64 = 4_000_000;
/// The most control values that a statement distinguishes.
const CASES: usize = 64;

/// A part that is dead at some control values.
pub(super) struct Dead {
    pub(super) part: Part,
    pub(super) control: std::rc::Rc<Control>,
    pub(super) values: Values,
    /// Where marks have to be set.
    pub(super) sets: Vec<Setting>,
}

/// A rule after which a member of a part is dead.
pub(super) struct Setting {
    pub(super) rule: RuleId,
    pub(super) member: Member,
    /// At which control values, if it is not dead at all that it may lead to.
    pub(super) only_at: Option<Values>,
}

/// The parts that are dead at times, each with the control part that shows most.
pub(super) fn solve(parts: &Parts<'_, '_>, checked: &FxHashSet<PropertyId>, deadlock: DeadlockMode) -> Vec<Dead> {
    let model = parts.classes.model;
    let texts = Texts::new(parts);
    let mut best: FxHashMap<Part, Dead> = FxHashMap::default();
    let mut work = 0;
    for control in controls(parts, &texts) {
        if work > WORK_LIMIT {
            break;
        }
        for dead in governed(parts, &texts, checked, deadlock, control, &mut work) {
            let share = |dead: &Dead| {
                let variable = |part: Part| parts.get(part).map(|info| info.variable);
                let is_near = variable(dead.part) == variable(dead.control.part);
                (dead.values.count() * 1_000_000 / dead.control.codes, is_near)
            };
            match best.get_mut(&dead.part) {
                Some(own) if share(own) >= share(&dead) => {}
                Some(own) => *own = dead,
                None => {
                    best.insert(dead.part, dead);
                }
            }
        }
    }
    let mut found: Vec<Dead> = best.into_values().collect();
    found.sort_by_key(|dead| dead.part);
    // What shows where others are dead is not replaced itself.
    let used: FxHashSet<Part> = found.iter().map(|dead| dead.control.part).collect();
    found.retain(|dead| !used.contains(&dead.part));
    debug_assert!(found.iter().all(|dead| dead.sets.iter().all(|set| model.rules.get(set.rule).is_some())));
    found
}

/// What the texts of a model do to parts as a whole.
struct Texts {
    /// Parts that rules write.
    written: FxHashSet<Part>,
    /// Parts that rules write something else to than constants, or that cannot be followed.
    not_control: FxHashSet<Part>,
    /// Parts that may be read anywhere, or that cannot be followed.
    never_dead: FxHashSet<Part>,
    /// Functions that only conditions call, and that only have a result.
    conditions: Vec<FunctionId>,
}

impl Texts {
    fn new(parts: &Parts<'_, '_>) -> Self {
        let model = parts.classes.model;
        let mut texts = Self {
            written: FxHashSet::default(),
            not_control: FxHashSet::default(),
            never_dead: FxHashSet::default(),
            conditions: Vec::new(),
        };
        // Whatever a reference may denote can be read and written in its place.
        let mut sizes: FxHashMap<Part, usize> = FxHashMap::default();
        for part in 0..parts.classes.len() {
            *sizes.entry(parts.classes.class(part)).or_default() += 1;
        }
        for (part, _) in parts.iter() {
            if sizes[&parts.classes.class(part)] > 1 {
                texts.exclude(part);
            }
        }
        for rule in model.rules.iter() {
            texts.body(parts, &rule.body, returns(&rule.body));
        }
        let called = called_by_bodies(model);
        for (id, function) in model.functions.iter_enumerated() {
            texts.body(parts, &function.body, true);
            let is_result = matches!(&function.body[..], [Statement { kind: StatementKind::Return(Some(_)), .. }]);
            if is_result && !called[id.position()] {
                texts.conditions.push(id);
            } else {
                texts.read_anywhere(parts, body_nodes(&function.body));
            }
        }
        let values = model.objectives.iter().map(|objective| Node::Expression(objective.value));
        texts.read_anywhere(parts, values.collect());
        texts
    }

    fn exclude(&mut self, part: Part) {
        self.not_control.insert(part);
        self.never_dead.insert(part);
    }

    fn read_anywhere(&mut self, parts: &Parts<'_, '_>, nodes: Vec<Node>) {
        visit_nodes(parts.classes.model, nodes, |node| {
            if let Node::Place(place) = node
                && let Some(denoted) = parts.denoted(place)
            {
                self.never_dead.extend(denoted.parts);
            }
        });
    }

    /// Notes what a body writes. `is_lost`: not everything of it is executed at the end of which marks could be set.
    fn body(&mut self, parts: &Parts<'_, '_>, body: &[Statement], is_lost: bool) {
        let model = parts.classes.model;
        visit_statements(body, &mut |statement| {
            let (place, is_constant) = match &statement.kind {
                StatementKind::Assign { target, value } => {
                    (*target, matches!(model.pool[*value], Expr::Constant { .. }))
                }
                StatementKind::Copy { target, .. } => (*target, false),
                StatementKind::Clear(place) | StatementKind::Undefine(place) => (*place, true),
                _ => return,
            };
            let Some(denoted) = parts.denoted(place) else { return };
            for part in denoted.parts {
                self.written.insert(part);
                if is_lost {
                    self.exclude(part);
                }
                if !is_constant {
                    self.not_control.insert(part);
                }
            }
        });
    }
}

/// Whether a body has a return statement.
fn returns(body: &[Statement]) -> bool {
    let mut found = false;
    visit_statements(body, &mut |statement| found |= matches!(statement.kind, StatementKind::Return(_)));
    found
}

/// The functions that bodies of rules call, directly or through others.
fn called_by_bodies(model: &Model) -> Vec<bool> {
    let mut called = vec![false; model.functions.len()];
    let mut pending: Vec<FunctionId> = Vec::new();
    let add = |body: &[Statement], pending: &mut Vec<FunctionId>| {
        visit_statements(body, &mut |statement| {
            if let StatementKind::Call { function, .. } = &statement.kind {
                pending.push(*function);
            }
        });
        visit_nodes(model, body_nodes(body), |node| match node {
            Node::Expression(id) => {
                if let Expr::Call { function, .. } = &model.pool[id] {
                    pending.push(*function);
                }
            }
            Node::Place(id) => {
                if let Root::Result { function, .. } = &model.pool[id].root {
                    pending.push(*function);
                }
            }
        });
    };
    for rule in model.rules.iter() {
        add(&rule.body, &mut pending);
    }
    while let Some(function) = pending.pop() {
        if !std::mem::replace(&mut called[function.position()], true) {
            add(&model.functions[function].body, &mut pending);
        }
    }
    called
}

/// The control parts, those with many values first.
fn controls(parts: &Parts<'_, '_>, texts: &Texts) -> Vec<Control> {
    let model = parts.classes.model;
    let mut compared: FxHashSet<Part> = FxHashSet::default();
    for expression in model.pool.expressions().iter() {
        let place = match expression {
            Expr::Binary { operator, left, right } if operator.is_comparison() => {
                match (&model.pool[*left], &model.pool[*right]) {
                    (Expr::Read(place), Expr::Constant { .. }) | (Expr::Constant { .. }, Expr::Read(place)) => *place,
                    _ => continue,
                }
            }
            Expr::Read(place) if matches!(model.types[model.pool[*place].ty].kind, TypeKind::Boolean) => *place,
            _ => continue,
        };
        if let Some(denoted) = parts.denoted(place) {
            compared.extend(denoted.parts);
        }
    }
    let mut controls: Vec<Control> = Vec::new();
    for (part, info) in parts.iter() {
        let domain = model.domain(info.ty);
        let is_control = info.dimensions.len() <= 1
            && (2..=CONTROL_VALUES).contains(&domain.size())
            && compared.contains(&part)
            && texts.written.contains(&part)
            && !texts.not_control.contains(&part);
        if is_control {
            let index = info.dimensions.first().copied();
            let can_be_undefined = parts.classes.traits(part).undefinable;
            let codes = domain.size() as usize + usize::from(can_be_undefined);
            let members = index.map(|index| model.domain(index));
            controls.push(Control { part, index, members, domain, codes, work: Cell::new(0) });
        }
    }
    controls.sort_by_key(|control| std::cmp::Reverse(control.values()));
    controls.truncate(CONTROL_LIMIT);
    controls
}

/// The parts that a control part shows to be dead at times.
fn governed(
    parts: &Parts<'_, '_>,
    texts: &Texts,
    checked: &FxHashSet<PropertyId>,
    deadlock: DeadlockMode,
    control: Control,
    work: &mut u64,
) -> Vec<Dead> {
    let model = parts.classes.model;
    let is_candidate = |part: Part| {
        let is_written = texts.written.contains(&part) && !texts.never_dead.contains(&part);
        is_written
            && parts
                .get(part)
                .is_some_and(|info| control.governs(model, part, info) && model.domain(info.ty).size() != 1)
    };
    let mut candidates: Vec<Part> = parts.iter().map(|(part, _)| part).filter(|&part| is_candidate(part)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let mut reads = Reads::default();
    let mut moves: Vec<(RuleId, Move)> = Vec::new();
    let mut strays: FxHashSet<Part> = FxHashSet::default();
    let mut is_followed = true;
    for (id, rule) in model.rules.iter_enumerated() {
        let lens = Lens { parts, control: &control, locals: &rule.locals };
        match moves_of(&lens, rule, &mut reads) {
            Moves::Known { moves: more, strays: others } => {
                moves.extend(more.into_iter().map(|it| (id, it)));
                strays.extend(others);
            }
            Moves::Unknown => is_followed = false,
        }
        if !is_followed || reads.is_incomplete {
            *work += control.work.get();
            return Vec::new();
        }
    }
    for &id in checked {
        let property = &model.properties[id];
        let lens = Lens { parts, control: &control, locals: &property.locals };
        for condition in property.formula.conditions().chain(property.formula.event_values()) {
            reads.expression(&lens, condition, &Facts::default(), 0);
        }
    }
    for &id in &texts.conditions {
        let function = &model.functions[id];
        let lens = Lens { parts, control: &control, locals: &function.locals };
        for statement in &function.body {
            let mut nodes = Vec::new();
            quotient_ir::walk::push_statement_nodes(statement, &mut nodes);
            for node in nodes {
                match node {
                    Node::Expression(expression) => reads.expression(&lens, expression, &Facts::default(), 0),
                    Node::Place(place) => reads.place(&lens, place, &Facts::default(), 0),
                }
            }
        }
    }
    *work += control.work.get();
    if reads.is_incomplete {
        return Vec::new();
    }
    candidates.retain(|part| !strays.contains(part));
    let control = std::rc::Rc::new(control);
    let of = |part: Part| dead_at(part, &control, &reads, &moves, deadlock);
    candidates.into_iter().filter_map(of).collect()
}

/// Where a part is dead, if there are such values and every step to them can set the mark.
fn dead_at(
    part: Part,
    control: &std::rc::Rc<Control>,
    reads: &Reads,
    moves: &[(RuleId, Move)],
    deadlock: DeadlockMode,
) -> Option<Dead> {
    let mut live = reads.of(part).cloned().unwrap_or_else(|| Values::none(control.codes));
    loop {
        let mut changed = false;
        for (_, step) in moves.iter().filter(|(_, step)| !step.kills.contains(&part)) {
            if step.written.meets(&live) {
                changed |= live.add(&step.from);
            }
        }
        if !changed {
            break;
        }
    }
    let values = live.complement();
    if values.count() == 0 {
        return None;
    }
    let mut sets = Vec::new();
    for (rule, step) in moves {
        let is_written = step.writes.contains(&part);
        let to = step.to();
        let is_left = step.from.meets(&live) && step.written.meets(&values);
        let is_set = to.meets(&values) && (is_written || is_left);
        // A step that changes nothing but a dead slot would no longer change anything.
        if deadlock == DeadlockMode::Stuttering && is_written && step.from.and(&to).meets(&values) {
            return None;
        }
        if !is_set {
            continue;
        }
        let only_at = (!to.is_within(&values)).then(|| to.and(&values));
        let is_expressible = |cases: &Values| cases.count() <= CASES && control.codes == control.values();
        if only_at.as_ref().is_some_and(|cases| !is_expressible(cases)) {
            return None;
        }
        sets.push(Setting { rule: *rule, member: step.member, only_at });
    }
    (!sets.is_empty()).then(|| Dead { part, control: control.clone(), values, sets })
}
