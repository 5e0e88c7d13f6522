//! Where a step that changes nothing counts as none, a change of a slot that is left out must not be what keeps a state
//! alive. Either every path through a rule that writes to such a slot surely changes one that is kept, or the rule
//! *moves*: whenever it can fire, one of its instances changes something, whatever the state. A search is told which
//! rules move.
//!
//! Paths are followed with what the guard and the branches say about single slots (`Chan1[i].Cmd = Empty`) and what
//! assignments then make of them (`Chan1[i].Cmd := ReqS`). What this does not show is not assumed.

use quotient_ir::walk::{Node, written_place};
use quotient_ir::{
    BinaryOperator, Expr, ExprId, FunctionId, Iteration, LocalId, Place, PlaceId, Root, RuleId, Statement,
    StatementKind, Step, TableIndex, UnaryOperator,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::classes::{Classes, OwnerId, Part};
use super::needs::{Need, Needs};
use super::walk::{each_node, each_statement, nodes_of};

/// The most paths through a rule that are followed.
const PATH_LIMIT: usize = 256;
/// The deepest nesting of conditions that is considered.
const DEPTH_LIMIT: usize = 200;

/// What follows from the way that rules change slots which are left out.
pub(super) struct Moves {
    /// The classes that may not be left out, since a change of them can be all that a step does.
    pub(super) noticed: Vec<Part>,
    /// The rules that change something whenever they can fire, though it may be left out.
    pub(super) moving: Vec<RuleId>,
}

/// A slot of the state that is the same throughout a step: its indices are constants and parameters of the rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Cell {
    place: Place,
    class: Part,
}

/// What is known about the content of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    Is(i64),
    /// It has a value, and none of these.
    IsNot(Vec<i64>),
    Undefined,
    /// It differs from what it was before the step.
    Changed,
    /// It is the value of this parameter of the rule.
    Parameter(LocalId),
}

/// A path through a rule.
#[derive(Clone, Debug, Default)]
struct Path {
    /// What is known of the state before the step.
    before: FxHashMap<Cell, Known>,
    /// What is known of slots that were written to.
    after: FxHashMap<Cell, Known>,
    /// The classes that were written to.
    written: FxHashSet<Part>,
    /// What references denote: a variable, and steps that stay the same.
    denoted: FxHashMap<LocalId, Place>,
    ended: bool,
}

/// Looks at all rules.
pub(super) fn moves(needs: &Needs<'_, '_>) -> Moves {
    let classes = needs.classes;
    let functions = written_by_functions(classes);
    let mut noticed = FxHashSet::default();
    let mut moving = Vec::new();
    for (id, rule) in classes.model.rules.iter_enumerated() {
        let owner = classes.owners.rule(id.position());
        let mut follower = Follower { needs, id, owner, functions: &functions, written: FxHashSet::default() };
        follower.written = follower.written_in(&rule.body);
        let left_out = follower.left_out(&follower.written);
        if left_out.is_empty() {
            continue;
        }
        let mut path = Path::default();
        if !follower.assume(&mut path, rule.guard, true, 0) {
            continue;
        }
        let Some(paths) = follower.follow(vec![path], &rule.body) else {
            noticed.extend(left_out);
            continue;
        };
        let is_fine = |path: &&Path| {
            follower.left_out(&path.written).is_empty() || path.surely_changes(|class| needs.of(class) == Need::Value)
        };
        if paths.iter().all(|path| is_fine(&path)) {
            continue;
        }
        if follower.is_moving(&paths) {
            moving.push(id);
            continue;
        }
        for path in paths.iter().filter(|path| !is_fine(path)) {
            noticed.extend(follower.left_out(&path.written));
        }
    }
    Moves { noticed: noticed.into_iter().collect(), moving }
}

impl Path {
    /// Whether a slot of one of these classes surely differs after the step.
    fn surely_changes(&self, counts: impl Fn(Part) -> bool) -> bool {
        self.after.iter().filter(|(cell, _)| counts(cell.class)).any(|(cell, after)| {
            match (after, self.before.get(cell)) {
                (Known::Changed, _) => true,
                (Known::Is(after), Some(Known::Is(before))) => after != before,
                (Known::Is(after), Some(Known::IsNot(others))) => others.contains(after),
                (Known::Is(_) | Known::Parameter(_), Some(Known::Undefined)) => true,
                (Known::Undefined, Some(Known::Is(_) | Known::IsNot(_))) => true,
                _ => false,
            }
        })
    }
}

struct Follower<'a, 'c, 'm> {
    needs: &'a Needs<'c, 'm>,
    id: RuleId,
    owner: OwnerId,
    functions: &'a [FxHashSet<Part>],
    /// The classes that the whole rule may write to.
    written: FxHashSet<Part>,
}

impl<'m> Follower<'_, '_, 'm> {
    fn classes(&self) -> &Classes<'m> {
        self.needs.classes
    }

    /// The classes of the state that are not kept, among some.
    fn left_out(&self, written: &FxHashSet<Part>) -> Vec<Part> {
        let is_left_out =
            |&&class: &&Part| self.classes().traits(class).in_state() && self.needs.of(class) < Need::Value;
        written.iter().filter(is_left_out).copied().collect()
    }

    /// The classes that statements may write to.
    fn written_in(&self, body: &[Statement]) -> FxHashSet<Part> {
        let mut written = FxHashSet::default();
        each_statement(body, &mut |statement| {
            written.extend(written_directly(self.classes(), self.owner, statement));
            for function in called_directly(self.classes(), statement) {
                written.extend(&self.functions[function.position()]);
            }
        });
        written
    }

    /// Whether one of the instances with the same values of all parameters but one changes something, whenever they can
    /// fire: each path does, or all others write that parameter to the same slot. Then the instances write different
    /// values, and at most one of them was there before.
    fn is_moving(&self, paths: &[Path]) -> bool {
        let model = self.classes().model;
        let rule = &model.rules[self.id];
        let mut may_drop = false;
        each_statement(&rule.body, &mut |statement| {
            may_drop |= matches!(statement.kind, StatementKind::Assume(_) | StatementKind::Call { .. })
                || !called_directly(self.classes(), statement).is_empty();
        });
        // What drops a step may drop just the one that would change something.
        if may_drop {
            return false;
        }
        let mut others = paths.iter().filter(|path| !path.surely_changes(|_| true));
        let Some(first) = others.next() else { return true };
        let others: Vec<&Path> = others.collect();
        first.after.iter().any(|(cell, known)| {
            let Known::Parameter(parameter) = known else { return false };
            self.has_several_values(*parameter)
                && !self.mentions(rule.guard, *parameter)
                && !cell.place.steps.iter().any(|step| match step {
                    Step::Index(index) => self.mentions(*index, *parameter),
                    Step::Field(_) => false,
                })
                && others.iter().all(|path| path.after.get(cell) == Some(known))
        })
    }

    fn has_several_values(&self, local: LocalId) -> bool {
        let model = self.classes().model;
        model.rules[self.id].parameters.iter().any(|parameter| {
            parameter.local == local
                && match parameter.range {
                    Iteration::Over(ty) => model.is_scalar(ty) && model.domain(ty).size() != 1,
                    Iteration::Steps { .. } => false,
                }
        })
    }

    /// Whether an expression mentions a local.
    fn mentions(&self, expression: ExprId, local: LocalId) -> bool {
        let model = self.classes().model;
        let mut found = false;
        each_node(model, [Node::Expression(expression)], |node| {
            if let Node::Place(place) = node {
                found |= model.pool[place].root == Root::Local(local);
            }
        });
        found
    }

    /// Follows paths through statements; none if there are too many.
    fn follow(&self, paths: Vec<Path>, body: &'m [Statement]) -> Option<Vec<Path>> {
        let mut paths = paths;
        for statement in body {
            let (mut next, running): (Vec<Path>, Vec<Path>) = paths.into_iter().partition(|path| path.ended);
            for path in running {
                self.step(path, statement, &mut next)?;
            }
            if next.len() > PATH_LIMIT {
                return None;
            }
            paths = next;
        }
        Some(paths)
    }

    fn step(&self, mut path: Path, statement: &'m Statement, next: &mut Vec<Path>) -> Option<()> {
        let model = self.classes().model;
        let is_scalar = |place: PlaceId| model.is_scalar(model.pool[place].ty);
        // Calls in the expressions of a statement come before its effect.
        for function in called_directly(self.classes(), statement) {
            self.forget(&mut path, &self.functions[function.position()], None);
        }
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let known = self.value(&path, *target, *value);
                self.write(&mut path, *target, known);
            }
            StatementKind::Clear(place) if is_scalar(*place) => {
                let least = model.domain(model.pool[*place].ty).least();
                self.write(&mut path, *place, Some(Known::Is(least)));
            }
            StatementKind::Undefine(place) if is_scalar(*place) => {
                self.write(&mut path, *place, Some(Known::Undefined));
            }
            StatementKind::Bind { local, place } => {
                match self.denotation(&path, *place) {
                    Some(denoted) => path.denoted.insert(*local, denoted),
                    None => path.denoted.remove(local),
                };
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    let mut taken = path.clone();
                    if self.assume(&mut taken, *condition, true, 0) {
                        next.extend(self.follow(vec![taken], body)?);
                    }
                    if next.len() > PATH_LIMIT {
                        return None;
                    }
                    if !self.assume(&mut path, *condition, false, 0) {
                        return Some(());
                    }
                }
                next.extend(self.follow(vec![path], otherwise)?);
                return Some(());
            }
            StatementKind::While { body, .. } | StatementKind::For { body, .. } => {
                self.forget(&mut path, &self.written_in(body), None);
                let mut returns = false;
                each_statement(body, &mut |inner| match &inner.kind {
                    StatementKind::Return(_) => returns = true,
                    StatementKind::Bind { local, .. } => {
                        path.denoted.remove(local);
                    }
                    _ => {}
                });
                if returns {
                    next.push(Path { ended: true, ..path.clone() });
                }
            }
            StatementKind::Return(_) => path.ended = true,
            StatementKind::Assume(condition)
            | StatementKind::Assert { condition, .. }
            | StatementKind::Require { condition, .. } => {
                if !self.assume(&mut path, *condition, true, 0) {
                    return Some(());
                }
            }
            StatementKind::Error { .. } => return Some(()),
            _ => {
                let written = written_directly(self.classes(), self.owner, statement).into_iter().collect();
                self.forget(&mut path, &written, None);
            }
        }
        next.push(path);
        Some(())
    }

    /// Notes a write to a scalar place.
    fn write(&self, path: &mut Path, place: PlaceId, known: Option<Known>) {
        let classes = self.classes();
        let written = classes.parts(self.owner, place).map(|part| classes.class(part)).collect();
        let cell = self.cell(path, place);
        self.forget(path, &written, cell.as_ref());
        if let Some(cell) = cell {
            path.after.remove(&cell);
            path.after.extend(known.map(|known| (cell, known)));
        }
    }

    /// Forgets what is known of written classes, except of slots that are surely not the one written to.
    fn forget(&self, path: &mut Path, written: &FxHashSet<Part>, target: Option<&Cell>) {
        let is_other = |cell: &Cell| target.is_some_and(|target| self.are_distinct(cell, target));
        path.after.retain(|cell, _| !written.contains(&cell.class) || is_other(cell));
        path.written.extend(written);
    }

    /// Whether two slots surely differ: by constant indices.
    fn are_distinct(&self, left: &Cell, right: &Cell) -> bool {
        let pool = &self.classes().model.pool;
        let constant = |step: &Step| match step {
            Step::Index(index) => match pool[*index] {
                Expr::Constant { value, .. } => Some(value),
                _ => None,
            },
            Step::Field(_) => None,
        };
        let differ = |(left, right): (&Step, &Step)| match (constant(left), constant(right)) {
            (Some(left), Some(right)) => left != right,
            _ => false,
        };
        let (left, right) = (&left.place, &right.place);
        left.root == right.root
            && left.steps.len() == right.steps.len()
            && left.steps.iter().zip(&right.steps).any(differ)
    }

    /// The slot of a scalar place, if it is the same one throughout the step.
    fn cell(&self, path: &Path, place: PlaceId) -> Option<Cell> {
        let classes = self.classes();
        let place_of = self.denotation(path, place)?;
        let part = *classes.firsts(self.owner, place).first()?;
        classes.model.is_scalar(place_of.ty).then(|| Cell { place: place_of, class: classes.class(part) })
    }

    /// What a place denotes: a variable, and steps whose indices are constants and parameters.
    fn denotation(&self, path: &Path, place: PlaceId) -> Option<Place> {
        let pool = &self.classes().model.pool;
        let Place { root, steps, ty } = &pool[place];
        let is_fixed = |step: &Step| match step {
            Step::Field(_) => true,
            Step::Index(index) => match &pool[*index] {
                Expr::Constant { .. } => true,
                Expr::Read(read) => match &pool[*read] {
                    Place { root: Root::Local(local), steps, .. } => steps.is_empty() && self.is_parameter(*local),
                    _ => false,
                },
                _ => false,
            },
        };
        if !steps.iter().all(is_fixed) {
            return None;
        }
        let (root, mut first) = match root {
            Root::Variable(_) => (root.clone(), Vec::new()),
            Root::Local(local) => {
                let Place { root, steps, .. } = path.denoted.get(local)?.clone();
                (root, steps)
            }
            _ => return None,
        };
        first.extend(steps);
        Some(Place { root, steps: first, ty: *ty })
    }

    /// Whether a local is a parameter of the rule and never written to.
    fn is_parameter(&self, local: LocalId) -> bool {
        let classes = self.classes();
        classes.model.rules[self.id].parameters.iter().any(|parameter| parameter.local == local)
            && !self.written.contains(&classes.class(classes.local(self.owner, local)))
    }

    /// What is known of a slot now.
    fn now<'p>(&self, path: &'p Path, cell: &Cell) -> Option<&'p Known> {
        let before = || if path.written.contains(&cell.class) { None } else { path.before.get(cell) };
        path.after.get(cell).or_else(before)
    }

    /// What is known of a place after a value is assigned to it.
    fn value(&self, path: &Path, target: PlaceId, value: ExprId) -> Option<Known> {
        let pool = &self.classes().model.pool;
        let is_old_target = |expression: ExprId| match pool[expression] {
            Expr::Read(place) => self.cell(path, place).is_some_and(|cell| {
                Some(&cell) == self.cell(path, target).as_ref() && !path.written.contains(&cell.class)
            }),
            _ => false,
        };
        let is_not_zero = |expression: ExprId| matches!(pool[expression], Expr::Constant { value, .. } if value != 0);
        match &pool[value] {
            Expr::Constant { value, .. } => Some(Known::Is(*value)),
            Expr::Read(place) => match &pool[*place] {
                Place { root: Root::Local(local), steps, .. } if steps.is_empty() && self.is_parameter(*local) => {
                    Some(Known::Parameter(*local))
                }
                _ => match self.now(path, &self.cell(path, *place)?) {
                    Some(Known::Is(value)) => Some(Known::Is(*value)),
                    _ => None,
                },
            },
            Expr::Unary { operator: UnaryOperator::Not, operand } if is_old_target(*operand) => Some(Known::Changed),
            Expr::Binary { operator: BinaryOperator::Add, left, right }
                if is_old_target(*left) && is_not_zero(*right) || is_old_target(*right) && is_not_zero(*left) =>
            {
                Some(Known::Changed)
            }
            Expr::Binary { operator: BinaryOperator::Subtract, left, right }
                if is_old_target(*left) && is_not_zero(*right) =>
            {
                Some(Known::Changed)
            }
            _ => None,
        }
    }

    /// Adds what follows from the truth of a condition. Returns false if it contradicts what is known.
    fn assume(&self, path: &mut Path, condition: ExprId, truth: bool, depth: usize) -> bool {
        if depth == DEPTH_LIMIT {
            return true;
        }
        let pool = &self.classes().model.pool;
        match &pool[condition] {
            Expr::Constant { value, .. } => (*value != 0) == truth,
            Expr::Unary { operator: UnaryOperator::Not, operand } => self.assume(path, *operand, !truth, depth + 1),
            Expr::Binary { operator: BinaryOperator::And, left, right } if truth => {
                self.assume(path, *left, true, depth + 1) && self.assume(path, *right, true, depth + 1)
            }
            Expr::Binary { operator: BinaryOperator::Or, left, right } if !truth => {
                self.assume(path, *left, false, depth + 1) && self.assume(path, *right, false, depth + 1)
            }
            Expr::Binary { operator: BinaryOperator::Implies, left, right } if !truth => {
                self.assume(path, *left, true, depth + 1) && self.assume(path, *right, false, depth + 1)
            }
            Expr::Binary { operator: operator @ (BinaryOperator::Equal | BinaryOperator::NotEqual), left, right } => {
                let is_equal = (*operator == BinaryOperator::Equal) == truth;
                let (place, value) = match (&pool[*left], &pool[*right]) {
                    (Expr::Read(place), &Expr::Constant { value, .. })
                    | (&Expr::Constant { value, .. }, Expr::Read(place)) => (*place, value),
                    _ => return true,
                };
                self.learn(path, place, if is_equal { Known::Is(value) } else { Known::IsNot(vec![value]) })
            }
            Expr::Read(place) => self.learn(path, *place, Known::Is(i64::from(truth))),
            Expr::IsUndefined(place) => {
                self.learn(path, *place, if truth { Known::Undefined } else { Known::IsNot(Vec::new()) })
            }
            _ => true,
        }
    }

    /// Adds a fact about a place as it is now. Returns false if it contradicts what is known.
    fn learn(&self, path: &mut Path, place: PlaceId, fact: Known) -> bool {
        let Some(cell) = self.cell(path, place) else { return true };
        let fact = match (self.now(path, &cell), fact) {
            (Some(Known::Is(value)), Known::Is(other)) if *value != other => return false,
            (Some(Known::IsNot(others)), Known::Is(value)) if others.contains(&value) => return false,
            (Some(Known::Is(value)), Known::IsNot(others)) => return !others.contains(value),
            (Some(Known::Undefined), Known::Is(_) | Known::IsNot(_)) => return false,
            (Some(Known::Is(_) | Known::IsNot(_) | Known::Parameter(_)), Known::Undefined) => return false,
            (Some(Known::IsNot(others)), Known::IsNot(more)) => Known::IsNot([&others[..], &more[..]].concat()),
            // These say more about the step than what the slot is.
            (Some(Known::Changed | Known::Parameter(_)), _) => return true,
            (_, fact) => fact,
        };
        let facts = if path.written.contains(&cell.class) { &mut path.after } else { &mut path.before };
        facts.insert(cell, fact);
        true
    }
}

/// The classes that a statement writes to by itself, without the functions it calls.
fn written_directly(classes: &Classes<'_>, owner: OwnerId, statement: &Statement) -> Vec<Part> {
    let Some(place) = written_place(statement) else { return Vec::new() };
    classes.parts(owner, place).map(|part| classes.class(part)).collect()
}

/// The functions that a statement calls, also in its expressions, but not in statements inside it.
fn called_directly(classes: &Classes<'_>, statement: &Statement) -> Vec<FunctionId> {
    let model = classes.model;
    let (mut called, mut results) = (Vec::new(), Vec::new());
    if let StatementKind::Call { function, .. } = &statement.kind {
        called.push(*function);
    }
    let mut nodes = Vec::new();
    nodes_of(statement, &mut nodes);
    each_node(model, nodes, |node| match node {
        Node::Expression(expression) => {
            if let Expr::Call { function, .. } = &model.pool[expression] {
                called.push(*function);
            }
        }
        Node::Place(place) => {
            if let Root::Result { function, .. } = &model.pool[place].root {
                results.push(*function);
            }
        }
    });
    called.append(&mut results);
    called
}

/// The classes that each function may write to, directly or by what it calls.
fn written_by_functions(classes: &Classes<'_>) -> Vec<FxHashSet<Part>> {
    let functions = &classes.model.functions;
    let mut written = vec![FxHashSet::default(); functions.len()];
    let mut calls = Vec::new();
    for (id, function) in functions.iter_enumerated() {
        let owner = classes.owners.function(id);
        each_statement(&function.body, &mut |statement| {
            written[id.position()].extend(written_directly(classes, owner, statement));
            calls.extend(called_directly(classes, statement).into_iter().map(|called| (id, called)));
        });
    }
    loop {
        let mut changed = false;
        for &(caller, called) in &calls {
            let more = written[called.position()].clone();
            let own = &mut written[caller.position()];
            let before = own.len();
            own.extend(more);
            changed |= own.len() > before;
        }
        if !changed {
            return written;
        }
    }
}
