//! The steps of members from one control value to others: what a rule reads of a member, what it writes before any read,
//! and where it leaves it (the equations of live variables: A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman, "Compilers",
//! second edition, section 9.2.5).

use quotient_ir::walk::{Node, visit_nodes};
use quotient_ir::{
    BinaryOperator, Expr, ExprId, Iteration, MultisetElement, PlaceId, ReturnValue, Rule, Statement, StatementKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::{Facts, Member, local_of};
use super::lens::Lens;
use super::reads::Reads;
use super::values::Values;
use crate::slice::classes::Part;

/// What a rule does to one member.
pub(super) struct Move {
    pub(super) member: Member,
    /// The control values it can have when the rule fires.
    pub(super) from: Values,
    /// Those that the rule may write.
    pub(super) written: Values,
    /// Whether it always writes one.
    pub(super) is_definite: bool,
    /// Parts that always get a value, which does not depend on the one before.
    pub(super) kills: FxHashSet<Part>,
    /// Parts that may be written.
    pub(super) writes: FxHashSet<Part>,
}

impl Move {
    /// The control values it can have after the rule.
    pub(super) fn to(&self) -> Values {
        if self.is_definite { self.written.clone() } else { self.written.or(&self.from) }
    }
}

/// What rules do to members.
pub(super) enum Moves {
    Known {
        moves: Vec<Move>,
        /// Parts of which it is not known whose are written.
        strays: FxHashSet<Part>,
    },
    /// It is not known which control slots are written, or two members may be one.
    Unknown,
}

/// What a rule does to the members of a control part. What it reads is added to the reads.
pub(super) fn moves_of(lens: &Lens<'_, '_, '_>, rule: &Rule, reads: &mut Reads) -> Moves {
    reads.expression(lens, rule.guard, &Facts::default(), 0);
    let facts = Facts::from_condition(lens, rule.guard, true);
    let mut walk = Walk { lens, rule, facts: &facts, reads, strays: FxHashSet::default(), is_lost: false };
    let mut at = Progress::default();
    walk.body(&rule.body, &mut at);
    let Walk { strays, is_lost, .. } = walk;
    if is_lost {
        return Moves::Unknown;
    }
    let mut members: Vec<Member> = Vec::new();
    let touched = at.written.iter().map(|(member, _)| *member).chain(at.writes.iter().map(|(_, member)| *member));
    for member in touched {
        if !members.contains(&member) {
            members.push(member);
        }
    }
    let from: FxHashMap<Member, Values> = members.iter().map(|&member| (member, facts.of(lens, member))).collect();
    for (position, one) in members.iter().enumerate() {
        for other in &members[..position] {
            if from[one].meets(&from[other]) && !are_different(lens, rule.guard, *one, *other) {
                return Moves::Unknown;
            }
        }
    }
    let of = |pairs: &FxHashSet<(Part, Member)>, member: Member| -> FxHashSet<Part> {
        pairs.iter().filter(|(_, other)| *other == member).map(|(part, _)| *part).collect()
    };
    let moves = members.iter().map(|&member| {
        let mut written = Values::none(lens.control.codes);
        for (_, values) in at.written.iter().filter(|(other, _)| *other == member) {
            written.add(values);
        }
        Move {
            member,
            from: from[&member].clone(),
            written,
            is_definite: at.definite.contains(&member),
            kills: of(&at.killed, member),
            writes: of(&at.writes, member),
        }
    });
    Moves::Known { moves: moves.collect(), strays }
}

/// Whether a guard or their values say that two indices are different.
fn are_different(lens: &Lens<'_, '_, '_>, guard: ExprId, one: Member, other: Member) -> bool {
    let (Member::At(one), Member::At(other)) = (one, other) else { return false };
    let pool = &lens.model().pool;
    if let (Expr::Constant { value: one, .. }, Expr::Constant { value: other, .. }) = (&pool[one], &pool[other]) {
        return one != other;
    }
    let mut conjuncts = vec![guard];
    while let Some(conjunct) = conjuncts.pop() {
        match pool[conjunct] {
            Expr::Binary { operator: BinaryOperator::And, left, right } => conjuncts.extend([left, right]),
            Expr::Binary {
                operator: BinaryOperator::NotEqual | BinaryOperator::Less | BinaryOperator::Greater,
                left,
                right,
            } if (left, right) == (one, other) || (left, right) == (other, one) => return true,
            _ => {}
        }
    }
    false
}

/// What has happened up to a point of a body.
#[derive(Clone, Default)]
struct Progress {
    /// What surely has a new value.
    killed: FxHashSet<(Part, Member)>,
    /// What may have been written.
    writes: FxHashSet<(Part, Member)>,
    /// Control values that may have been written.
    written: Vec<(Member, Values)>,
    /// The members whose control value was surely written.
    definite: FxHashSet<Member>,
}

impl Progress {
    /// What has happened if one of two ways was taken.
    fn join(&mut self, other: Self) {
        self.killed.retain(|pair| other.killed.contains(pair));
        self.definite.retain(|member| other.definite.contains(member));
        self.writes.extend(other.writes);
        self.written.extend(other.written);
    }
}

struct Walk<'w, 'l, 'c, 'm> {
    lens: &'w Lens<'l, 'c, 'm>,
    rule: &'w Rule,
    facts: &'w Facts,
    reads: &'w mut Reads,
    strays: FxHashSet<Part>,
    is_lost: bool,
}

impl Walk<'_, '_, '_, '_> {
    fn body(&mut self, body: &[Statement], at: &mut Progress) {
        for statement in body {
            self.statement(statement, at);
        }
    }

    fn statement(&mut self, statement: &Statement, at: &mut Progress) {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                self.read_location(*target, at);
                self.read_value(*value, at);
                let written = match self.lens.model().pool[*value] {
                    Expr::Constant { value, .. } => Some(self.lens.control.single(Some(value))),
                    _ => None,
                };
                self.write(*target, written, at);
            }
            StatementKind::Copy { target, source } => {
                self.read_location(*target, at);
                self.read([Node::Place(*source)], at);
                self.write(*target, None, at);
            }
            StatementKind::Clear(place) => {
                self.read_location(*place, at);
                let least = self.lens.control.single(Some(self.lens.control.domain.least()));
                self.write(*place, Some(least), at);
            }
            StatementKind::Undefine(place) => {
                self.read_location(*place, at);
                self.write(*place, Some(self.lens.control.single(None)), at);
            }
            // What is bound is not considered: references are one class with what they denote.
            StatementKind::Bind { place, .. } => self.read([Node::Place(*place)], at),
            StatementKind::If { branches, otherwise } => {
                let mut ends: Vec<Progress> = Vec::new();
                for (condition, body) in branches {
                    self.read_value(*condition, at);
                    let mut branch = at.clone();
                    self.body(body, &mut branch);
                    ends.push(branch);
                }
                self.body(otherwise, at);
                for end in ends {
                    at.join(end);
                }
            }
            StatementKind::While { condition, body } => {
                self.read_value(*condition, at);
                self.repeated(body, at);
            }
            StatementKind::For { range, body, .. } => {
                if let Iteration::Steps { from, to, step } = range {
                    for bound in [Some(*from), Some(*to), *step].into_iter().flatten() {
                        self.read_value(bound, at);
                    }
                }
                self.repeated(body, at);
            }
            StatementKind::Assert { condition, violates, .. } => {
                self.read_value(*condition, at);
                if let Some((_, value)) = violates.as_ref().and_then(|violated| violated.value.as_ref()) {
                    self.read_value(*value, at);
                }
            }
            StatementKind::Require { condition, .. }
            | StatementKind::Assume(condition)
            | StatementKind::Cover { condition, .. } => self.read_value(*condition, at),
            StatementKind::Return(Some(ReturnValue::Value(value))) => self.read_value(*value, at),
            StatementKind::Return(Some(ReturnValue::Copy(place))) => self.read([Node::Place(*place)], at),
            StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => {}
            StatementKind::Call { .. } => {
                let mut nodes = Vec::new();
                quotient_ir::walk::push_statement_nodes(statement, &mut nodes);
                self.read(nodes, at);
            }
            StatementKind::MultisetAdd { multiset, element } => {
                self.read([Node::Place(*multiset)], at);
                match element {
                    MultisetElement::Value(value) => self.read_value(*value, at),
                    MultisetElement::Copy(place) => self.read([Node::Place(*place)], at),
                }
            }
            StatementKind::MultisetRemove { multiset, position } => {
                self.read([Node::Place(*multiset), Node::Expression(*position)], at);
            }
            StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
                self.read([Node::Place(*multiset), Node::Expression(*condition)], at);
            }
        }
    }

    /// A body that is executed any number of times.
    fn repeated(&mut self, body: &[Statement], at: &mut Progress) {
        let mut once = at.clone();
        self.body(body, &mut once);
        at.join(once);
    }

    /// The location of a place, without its contents.
    fn read_location(&mut self, place: PlaceId, at: &Progress) {
        let model = self.lens.model();
        let mut nodes = Vec::new();
        for step in &model.pool[place].steps {
            if let quotient_ir::Step::Index(index) = step {
                nodes.push(Node::Expression(*index));
            }
        }
        self.read(nodes, at);
    }

    fn read_value(&mut self, value: ExprId, at: &Progress) {
        self.read([Node::Expression(value)], at);
    }

    /// Everything below these nodes is read, except what has a new value already.
    fn read(&mut self, nodes: impl IntoIterator<Item = Node>, at: &Progress) {
        let (lens, rule) = (self.lens, self.rule);
        let (reads, facts) = (&mut *self.reads, self.facts);
        visit_nodes(lens.model(), nodes, |node| {
            reads.is_incomplete |= !lens.control.visits();
            let Node::Place(place) = node else { return };
            let Some(denoted) = lens.parts.denoted(place) else { return };
            let member = rule_member(lens, rule, lens.member(&denoted));
            for part in denoted.parts {
                if !at.killed.contains(&(part, member)) {
                    reads.add(part, &facts.of(lens, member));
                }
            }
        });
    }

    /// A write to all of a place; `control` says which control value it would be.
    fn write(&mut self, place: PlaceId, control: Option<Values>, at: &mut Progress) {
        let lens = self.lens;
        let Some(denoted) = lens.parts.denoted(place) else { return };
        let member = rule_member(lens, self.rule, lens.member(&denoted));
        let is_whole = denoted.given.len() == lens.depth();
        for part in denoted.parts.clone() {
            if part == lens.control.part {
                match (&control, member) {
                    (None, _) | (_, Member::Unknown) => self.is_lost = true,
                    (Some(values), _) => {
                        at.written.push((member, values.clone()));
                        at.definite.insert(member);
                    }
                }
            } else if member == Member::Unknown {
                self.strays.insert(part);
            } else {
                at.writes.insert((part, member));
                if is_whole {
                    at.killed.insert((part, member));
                }
            }
        }
    }
}

/// A member that stays the same in the whole rule: loop variables do not.
fn rule_member(lens: &Lens<'_, '_, '_>, rule: &Rule, member: Member) -> Member {
    let Member::At(index) = member else { return member };
    match local_of(lens.model(), index) {
        Some(local) if !rule.parameters.iter().any(|parameter| parameter.local == local) => Member::Unknown,
        _ => member,
    }
}
