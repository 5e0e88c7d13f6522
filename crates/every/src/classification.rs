//! Why a step concerns few objects, shown from the text.
//!
//! Let `s` be a state of any member, `T` a set of its objects that contains those named by shared variables, and `s|T`
//! the state of a smaller member that has the objects of `T` only. For each rule, this finds numbers such that the step
//! of an instance in `s` is a step in `s|T`, with the same effect on `T`, if `T` contains
//! * the objects that are parameters,
//! * one object for each quantifier over objects, which decides it (a witness), and
//! * where the step goes wrong, the objects for which it does.
//!
//! That is so if objects are only compared, stored and used as indices, nothing counts them, and a loop over all objects
//! changes each on its own. Where they are compared by their order, `s|T` has the objects of `T` in this order. Every part of
//! the text for which that cannot be seen is an obstacle. All numbers are numbers for each type of objects; objects of one type
//! are never used as objects of the other.

use quotient_ir::{
    Argument, BinaryOperator, Expr, ExprId, FunctionId, Iteration, Local, LocalId, LocalKind, Model, MultisetElement,
    Parameter, PlaceId, PropertyId, PropertyKind, Quantifier, ReturnValue, Root, RuleId, Span, Statement,
    StatementKind, Step, Table, TableIndex, TypeId, TypeKind, UnaryOperator,
};

use super::family::Objects;
use super::obstacle::Obstacle;
use super::sizes::Sizes;

/// How many objects of each type a step concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Those that are parameters.
    pub parameters: Sizes,
    /// Those that decide conditions about all objects.
    pub witnesses: Sizes,
    /// Those for which it goes wrong, if it does.
    pub faults: Sizes,
    /// Whether it asks about all objects, or changes all.
    pub concerns_all: bool,
}

impl Need {
    fn then(self, other: Self) -> Self {
        Self {
            parameters: self.parameters + other.parameters,
            witnesses: self.witnesses + other.witnesses,
            faults: self.faults.or(other.faults),
            concerns_all: self.concerns_all | other.concerns_all,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            parameters: self.parameters.or(other.parameters),
            witnesses: self.witnesses.or(other.witnesses),
            faults: self.faults.or(other.faults),
            concerns_all: self.concerns_all | other.concerns_all,
        }
    }

    /// How many objects besides the named ones suffice to see the effect of a step on `kept` others.
    pub(super) fn others(self, kept: Sizes) -> Sizes {
        self.parameters + self.witnesses + kept.or(self.faults)
    }
}

/// What steps and properties concern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Of the initial-state programs, together.
    pub starts: Need,
    /// Of each rule.
    pub rules: Table<RuleId, Need>,
    /// Of each property that is asked for.
    pub properties: Vec<(PropertyId, Need)>,
    /// States with fewer other objects than this are not built: there may be no model of that size.
    pub least: Sizes,
    /// The conditions about all objects because of which more objects may prevent a step, change what it does, or make
    /// right what is wrong. If there are none, the family is monotone.
    pub tests: Vec<Obstacle>,
    /// Whether objects are compared by their order.
    pub is_ordered: bool,
}

/// How a rule asks about all objects, and what else it does.
#[derive(Clone, Debug)]
pub(super) struct RuleForm {
    /// The place of the rule.
    pub(super) span: Span,
    /// What the guard concerns.
    pub(super) guard: Need,
    /// What the body concerns.
    pub(super) body: Need,
    /// The conditions of the guard that more objects can make false, or of which that is not known.
    pub(super) asks_all: Vec<Obstacle>,
    /// The conditions of the guard that more objects can make true, or of which that is not known.
    pub(super) asks_some: Vec<Obstacle>,
    /// How many quantifiers over objects are inside each other in the guard.
    pub(super) deepest: usize,
}

/// How the rules and properties of a model that can be classified ask about all objects.
#[derive(Clone, Debug)]
pub(super) struct Forms {
    pub(super) rules: Vec<RuleForm>,
    /// The conditions of properties that more objects can make true, or of which that is not known.
    pub(super) properties: Vec<Obstacle>,
    /// A place with a condition about all objects whose value is not used.
    pub(super) probe: Option<Span>,
}

/// How the rules and some properties of a model ask about all objects. It can be classified.
pub(super) fn forms(model: &Model, objects: &Objects, properties: &[PropertyId]) -> Forms {
    let mut walk = Walk::new(model, objects);
    let mut rules = Vec::new();
    for rule in model.rules.iter() {
        walk.span = rule.span;
        walk.deepest = 0;
        let (mut guard, mut body, mut asks_all, mut asks_some) =
            (Need::default(), Need::default(), Vec::new(), Vec::new());
        walk.owner(&rule.parameters, &rule.locals, |walk| {
            walk.tests.clear();
            guard = walk.lasting(Quantifier::Any, rule.guard);
            asks_all = std::mem::take(&mut walk.tests);
            walk.lasting(Quantifier::All, rule.guard);
            asks_some = std::mem::take(&mut walk.tests);
            Need::default()
        });
        let deepest = walk.deepest;
        let parameters = walk.owner(&rule.parameters, &rule.locals, |walk| {
            body = walk.body(&rule.body);
            Need::default()
        });
        (guard, body) = (parameters.then(guard), parameters.then(body));
        rules.push(RuleForm { span: rule.span, guard, body, asks_all, asks_some, deepest });
    }
    walk.tests.clear();
    for &id in properties {
        let property = &model.properties[id];
        walk.span = property.span;
        if let Some(condition) = property.formula.condition() {
            walk.owner(&property.parameters, &property.locals, |walk| walk.lasting(Quantifier::All, condition));
        }
    }
    Forms { rules, properties: walk.tests, probe: walk.probe }
}

/// Classifies a model. The properties are the invariants that are asked for; members have at least `least` objects.
///
/// # Errors
/// All obstacles.
pub(super) fn classify(
    model: &Model,
    objects: &Objects,
    properties: &[PropertyId],
    least: Sizes,
) -> Result<Needs, Vec<Obstacle>> {
    let mut walk = Walk::new(model, objects);
    for property in model.properties.iter() {
        let what = match property.kind {
            PropertyKind::Assumption => "an assumption",
            PropertyKind::Passing => "transient states",
            PropertyKind::Constraint => "a constraint",
            _ => continue,
        };
        walk.refuse(format!("{what} cannot be used with a claim about every size"), property.span);
    }
    let mut starts = Need::default();
    for start in model.starts.iter() {
        walk.span = start.span;
        let own = walk.owner(&start.parameters, &start.locals, |walk| walk.body(&start.body));
        starts = starts.or(own);
    }
    // An initial state is what it is in any model.
    walk.tests.clear();
    let mut rules = Table::new();
    for rule in model.rules.iter() {
        walk.span = rule.span;
        rules.push(walk.owner(&rule.parameters, &rule.locals, |walk| {
            let guard = walk.lasting(Quantifier::Any, rule.guard);
            guard.then(walk.body(&rule.body))
        }));
    }
    let mut asked = Vec::new();
    for &id in properties {
        let property = &model.properties[id];
        walk.span = property.span;
        match (property.kind, property.formula.condition()) {
            (PropertyKind::Invariant, Some(condition)) => {
                let need =
                    walk.owner(&property.parameters, &property.locals, |walk| walk.lasting(Quantifier::All, condition));
                asked.push((id, need));
            }
            _ => walk.refuse("only invariants and run-time errors can be claimed for every size", property.span),
        }
    }
    let sorted = |mut obstacles: Vec<Obstacle>| {
        obstacles.sort_by_key(|obstacle| obstacle.span);
        obstacles.dedup();
        obstacles
    };
    let (obstacles, tests, is_ordered) = (sorted(walk.obstacles), sorted(walk.tests), walk.is_ordered);
    match obstacles.is_empty() {
        true => Ok(Needs { starts, rules, properties: asked, least, tests, is_ordered }),
        false => Err(obstacles),
    }
}

/// What a local denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denotes {
    /// A value, or a variable of its own.
    Own,
    /// The object of the current iteration of a loop over all objects.
    Iterated,
    /// A place in the cells of that object.
    InIterated,
    /// Another place.
    Elsewhere,
}

/// The locals of an owner or of a function that is called.
struct Frame<'a> {
    locals: &'a Table<LocalId, Local>,
    denotes: Vec<Denotes>,
    /// The function, if it is one.
    function: Option<FunctionId>,
    /// Whether its variables are new in every iteration of the loop, and for every object of a quantifier.
    is_fresh: bool,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An object; 1 for each type that it may belong to.
    Object(Sizes),
    /// A member of an enumeration, which may be compared with members of a union.
    Member,
    Plain,
}

/// Whether the truth of a part makes the condition around it true, or false; `None` if that is not known.
type Sense = Option<bool>;

/// The sense of a whole condition.
const WHOLE: Sense = Some(true);

struct Walk<'a> {
    model: &'a Model,
    objects: &'a Objects,
    obstacles: Vec<Obstacle>,
    /// What stands against a monotone family.
    tests: Vec<Obstacle>,
    /// Whether objects are compared by their order.
    is_ordered: bool,
    frames: Vec<Frame<'a>>,
    /// Whether a loop over all objects is around.
    in_loop: bool,
    /// Whether a quantifier over objects is around. What it calls is run for some of the objects, and must not change anything.
    in_condition: bool,
    /// The quantifier over objects around the part that is walked, if there is one that decides something.
    around: Option<Quantifier>,
    /// The quantifiers, as those of the whole condition that is walked, that more objects cannot turn against what the
    /// condition says; none where the value decides what happens next.
    lasting: Option<Quantifier>,
    /// Whether the part that is walked is one of two of which either can make the condition around it true.
    is_either: bool,
    /// How many quantifiers over objects are around the part that is walked, and how many were around any.
    depth: usize,
    deepest: usize,
    /// The last quantifier over objects that never decides.
    probe: Option<Span>,
    span: Span,
}

/// The deepest calls of functions that are followed.
const DEEPEST: usize = 32;

impl<'a> Walk<'a> {
    fn new(model: &'a Model, objects: &'a Objects) -> Self {
        Self {
            model,
            objects,
            obstacles: Vec::new(),
            frames: Vec::new(),
            tests: Vec::new(),
            is_ordered: false,
            in_loop: false,
            in_condition: false,
            around: None,
            lasting: None,
            is_either: false,
            depth: 0,
            deepest: 0,
            probe: None,
            span: Span::default(),
        }
    }

    fn refuse(&mut self, reason: impl Into<String>, span: Span) {
        self.obstacles.push(Obstacle::new(reason, span));
    }

    fn refuse_here(&mut self, reason: impl Into<String>) {
        let span = self.span;
        self.refuse(reason, span);
    }

    fn frame(&self) -> &Frame<'a> {
        self.frames.last().expect("an owner is walked in its frame")
    }

    fn denote(&mut self, local: LocalId, what: Denotes) {
        let frame = self.frames.last_mut().expect("an owner is walked in its frame");
        frame.denotes[local.position()] = what;
    }

    /// Walks an owner with its parameters.
    fn owner(
        &mut self,
        parameters: &'a [Parameter],
        locals: &'a Table<LocalId, Local>,
        walk: impl FnOnce(&mut Self) -> Need,
    ) -> Need {
        self.enter(locals, None, false);
        let mut need = Need::default();
        for parameter in parameters {
            match &parameter.range {
                Iteration::Over(ty) if self.objects.may_be(*ty) => {
                    need.parameters = need.parameters + self.objects.among(*ty);
                }
                Iteration::Over(ty) if self.objects.concerns(self.model, *ty) => {
                    self.refuse_here("a parameter has a cell for each object, which is not supported");
                }
                Iteration::Over(_) => {}
                Iteration::Steps { .. } if self.objects.may_be(locals[parameter.local].ty) => {
                    self.refuse_here("a parameter counts through objects");
                }
                Iteration::Steps { .. } => {}
            }
        }
        let need = need.then(walk(self));
        self.frames.pop();
        need
    }

    fn enter(&mut self, locals: &'a Table<LocalId, Local>, function: Option<FunctionId>, is_fresh: bool) {
        let denotes = locals.iter().map(|local| match local.kind {
            LocalKind::Reference => Denotes::Elsewhere,
            LocalKind::Parameter | LocalKind::Variable => Denotes::Own,
        });
        for local in locals.iter() {
            if let Some(reason) = self.unsupported(local.ty) {
                self.refuse(format!("`{}` {reason}", local.name), local.span);
            }
        }
        self.frames.push(Frame { locals, denotes: denotes.collect(), function, is_fresh });
    }

    /// Why a type of locals is not supported.
    fn unsupported(&self, ty: TypeId) -> Option<&'static str> {
        let (model, objects) = (self.model, self.objects);
        match &model.types[ty].kind {
            TypeKind::Array { index, element } if objects.may_be(*index) && objects.concerns(model, *element) => {
                Some("has an object, or a cell for another object, for each object")
            }
            TypeKind::Array { element, .. } => self.unsupported(*element),
            TypeKind::Record { fields } => fields.iter().find_map(|field| self.unsupported(field.ty)),
            TypeKind::Multiset { element, .. } if objects.concerns(model, *element) => {
                Some("is a multiset of objects, which is not supported")
            }
            _ => None,
        }
    }

    fn body(&mut self, body: &'a [Statement]) -> Need {
        let mut need = Need::default();
        for statement in body {
            self.span = statement.span;
            need = need.then(self.statement(statement));
        }
        need
    }

    fn statement(&mut self, statement: &'a Statement) -> Need {
        match &statement.kind {
            &StatementKind::Assign { target, value } => {
                let place = self.written(target);
                let (kind, own) = self.expression(value, WHOLE);
                self.store(self.model.pool[target].ty, kind);
                place.then(own)
            }
            &StatementKind::Copy { target, source } => {
                let need = self.written(target).then(self.place(source));
                self.same(self.model.pool[target].ty, self.model.pool[source].ty);
                self.of_whole(target, need)
            }
            &StatementKind::Clear(place) => {
                let ty = self.model.pool[place].ty;
                if self.objects.is_held(self.model, ty) {
                    self.refuse_here("`clear` names the first object");
                }
                let need = self.written(place);
                self.of_whole(place, need)
            }
            &StatementKind::Undefine(place) => {
                let need = self.written(place);
                self.of_whole(place, need)
            }
            &StatementKind::Bind { local, place } => {
                let need = self.place(place);
                let denotes = self.denoted(place);
                self.denote(local, denotes);
                need
            }
            StatementKind::If { branches, otherwise } => {
                let mut conditions = Need::default();
                let mut bodies = Need::default();
                for (condition, body) in branches {
                    self.span = statement.span;
                    conditions = conditions.then(self.condition(*condition));
                    bodies = bodies.or(self.body(body));
                }
                conditions.then(bodies.or(self.body(otherwise)))
            }
            StatementKind::While { condition, body } => {
                let need = self.condition(*condition).then(self.body(body));
                if !need.witnesses.is_zero() {
                    self.refuse(
                        "a condition about all objects in a loop that may run any number of times",
                        statement.span,
                    );
                }
                need
            }
            StatementKind::For { local, range, body } => self.iteration(*local, range, body, statement.span),
            StatementKind::Call { function, arguments } => self.call(*function, arguments),
            StatementKind::Return(value) => {
                if self.in_loop && self.frame().function.is_none_or(|_| !self.frame().is_fresh) {
                    self.refuse_here("which object ends this loop depends on the order of the objects");
                }
                match value {
                    None => Need::default(),
                    Some(ReturnValue::Value(value)) => {
                        let (kind, need) = self.expression(*value, WHOLE);
                        let result = self.frame().function.and_then(|function| self.model.functions[function].result);
                        if let Some(result) = result {
                            self.store(result, kind);
                        }
                        need
                    }
                    Some(ReturnValue::Copy(place)) => {
                        let result = self.frame().function.and_then(|function| self.model.functions[function].result);
                        if let Some(result) = result {
                            self.same(result, self.model.pool[*place].ty);
                        }
                        self.place(*place)
                    }
                }
            }
            StatementKind::Assert { condition, violates, .. } => {
                let mut need = self.lasting(Quantifier::All, *condition);
                if let Some((_, value)) = violates.as_ref().and_then(|violated| violated.value.as_ref()) {
                    need = need.then(self.expression(*value, WHOLE).1);
                }
                need
            }
            StatementKind::Require { condition, .. } | StatementKind::Cover { condition, .. } => {
                self.condition(*condition)
            }
            StatementKind::Assume(condition) => self.lasting(Quantifier::Any, *condition),
            StatementKind::Error { .. } | StatementKind::Print(_) => Need::default(),
            &StatementKind::MultisetAdd { multiset, element } => {
                let need = self.written(multiset);
                need.then(match element {
                    MultisetElement::Value(value) => self.plain(value, WHOLE),
                    MultisetElement::Copy(place) => self.place(place),
                })
            }
            &StatementKind::MultisetRemove { multiset, position } => {
                self.written(multiset).then(self.plain(position, WHOLE))
            }
            &StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
                let need = self.written(multiset).then(self.condition(condition));
                self.refuse_witnesses(need, "for each element of a multiset");
                need
            }
        }
    }

    /// A statement about the whole contents of a place, which may be cells of all objects.
    fn of_whole(&mut self, place: PlaceId, need: Need) -> Need {
        let is_of_all = self.objects.indexes(self.model, self.model.pool[place].ty);
        Need { concerns_all: need.concerns_all | is_of_all, ..need }
    }

    fn refuse_witnesses(&mut self, need: Need, of_what: &str) {
        if !need.witnesses.is_zero() {
            self.refuse_here(format!("a condition about all objects {of_what}"));
        }
    }

    fn iteration(&mut self, local: LocalId, range: &'a Iteration, body: &'a [Statement], span: Span) -> Need {
        let ends = self.range(local, range);
        let before = self.frame().denotes[local.position()];
        let need = match range {
            Iteration::Over(ty) if self.objects.may_be(*ty) => {
                if self.in_loop || self.in_condition {
                    self.refuse("a loop over all objects for each object", span);
                    return Need::default();
                }
                self.in_loop = true;
                self.denote(local, Denotes::Iterated);
                let inner = self.body(body);
                self.in_loop = false;
                // What was bound to the cells of an object is not bound to those of the next loop's.
                let frame = self.frames.last_mut().expect("an owner is walked in its frame");
                for denotes in frame.denotes.iter_mut().filter(|denotes| **denotes == Denotes::InIterated) {
                    *denotes = Denotes::Elsewhere;
                }
                Need { faults: inner.faults + self.objects.among(*ty), concerns_all: true, ..inner }
            }
            Iteration::Over(ty) => {
                self.denote(local, Denotes::Own);
                let inner = self.body(body);
                let times = usize::try_from(self.model.domain(*ty).size()).unwrap_or(usize::MAX);
                self.span = span;
                self.repeated(inner, times)
            }
            Iteration::Steps { .. } => {
                self.denote(local, Denotes::Own);
                let inner = self.body(body);
                self.span = span;
                self.refuse_witnesses(inner, "in a loop that counts");
                inner
            }
        };
        self.denote(local, before);
        ends.then(need)
    }

    fn repeated(&mut self, need: Need, times: usize) -> Need {
        if need.witnesses.sum().checked_mul(times).is_some_and(|witnesses| witnesses <= 64) {
            return Need { witnesses: Sizes::of(|sort| need.witnesses[sort] * times), ..need };
        }
        self.refuse_here("a condition about all objects is asked too often");
        need
    }

    fn range(&mut self, local: LocalId, range: &Iteration) -> Need {
        match *range {
            Iteration::Over(ty) => {
                if !self.objects.may_be(ty) && self.objects.concerns(self.model, ty) {
                    self.refuse_here("a variable that has a cell for each object goes through all its values");
                }
                Need::default()
            }
            Iteration::Steps { from, to, step } => {
                if self.objects.may_be(self.frame().locals[local].ty) {
                    self.refuse_here("a loop counts through objects");
                }
                let need = self.plain(from, None).then(self.plain(to, None));
                need.then(step.map(|step| self.plain(step, None)).unwrap_or_default())
            }
        }
    }

    /// Checks that a kind of value may be stored in a type.
    fn store(&mut self, ty: TypeId, kind: Kind) {
        match (self.objects.may_be(ty), kind) {
            (true, Kind::Object(among)) if !among.meets(self.objects.among(ty)) => {
                self.refuse_here("an object is used as one of another type");
            }
            (true, Kind::Object(_) | Kind::Member) | (false, Kind::Plain | Kind::Member) => {}
            (true, Kind::Plain) => self.refuse_here("a number names an object here"),
            (false, Kind::Object(_)) => self.refuse_here("an object becomes a number here"),
        }
    }

    /// Checks that contents of one type may be used as those of another.
    fn same(&mut self, one: TypeId, other: TypeId) {
        if !self.objects.is_same(self.model, one, other) {
            self.refuse_here("what belongs to objects is used for other objects");
        }
    }

    /// A condition that more objects do not turn into its contrary if its quantifiers are of the given kind: it stays true if
    /// they are `exists`, and false if they are `forall`.
    fn lasting(&mut self, kind: Quantifier, condition: ExprId) -> Need {
        let (before, is_either) = (self.lasting.replace(kind), std::mem::take(&mut self.is_either));
        let need = self.condition(condition);
        (self.lasting, self.is_either) = (before, is_either);
        need
    }

    /// Notes a condition about all objects that the family is not monotone for.
    fn test(&mut self, reason: &str) {
        let obstacle = Obstacle::new(reason, self.span);
        self.tests.push(obstacle);
    }

    /// A condition that is not inside a quantifier.
    fn condition(&mut self, condition: ExprId) -> Need {
        self.plain(condition, WHOLE)
    }

    /// An expression whose value is not an object.
    fn plain(&mut self, expression: ExprId, sense: Sense) -> Need {
        let (kind, need) = self.expression(expression, sense);
        if let Kind::Object(_) = kind {
            self.refuse_here("an object is used as a number: objects may only be compared");
        }
        need
    }

    fn kind_of(&self, ty: TypeId) -> Kind {
        match self.model.types[ty].kind {
            _ if self.objects.may_be(ty) => Kind::Object(self.objects.among(ty)),
            TypeKind::Enumeration { .. } => Kind::Member,
            _ => Kind::Plain,
        }
    }

    fn expression(&mut self, expression: ExprId, sense: Sense) -> (Kind, Need) {
        let plain = |need: Need| (Kind::Plain, need);
        match &self.model.pool[expression] {
            Expr::Constant { ty, .. } => {
                let kind = self.kind_of(*ty);
                if let Kind::Object(_) = kind {
                    self.refuse_here("an object is named here");
                }
                (kind, Need::default())
            }
            Expr::Read(place) => (self.kind_of(self.model.pool[*place].ty), self.place(*place)),
            Expr::Unary { operator: UnaryOperator::Not, operand } => {
                plain(self.plain(*operand, sense.map(|sense| !sense)))
            }
            Expr::Unary { operand, .. } => plain(self.plain(*operand, None)),
            &Expr::Binary { operator, left, right } => plain(match operator {
                BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies => {
                    let of_left = if operator == BinaryOperator::Implies { sense.map(|sense| !sense) } else { sense };
                    // Whether either part can make the condition true, as seen from the whole one.
                    let has_either = sense == Some(operator != BinaryOperator::And);
                    let before = self.is_either;
                    self.is_either |= has_either || sense.is_none();
                    let left = self.plain(left, of_left);
                    let hides = match self.lasting {
                        Some(Quantifier::Any) => has_either || self.around.is_some(),
                        // What is false is wrong as well, unless something else makes the condition true.
                        Some(Quantifier::All) => !has_either && before,
                        None => false,
                    };
                    if !left.witnesses.is_zero() && hides {
                        self.test("more objects can decide this condition before its right part goes wrong");
                    }
                    let right = self.plain(right, sense);
                    self.is_either = before;
                    left.then(right)
                }
                BinaryOperator::Equal | BinaryOperator::NotEqual => {
                    let (left, first) = self.expression(left, None);
                    let (right, second) = self.expression(right, None);
                    match (left, right) {
                        (Kind::Object(_), Kind::Plain) | (Kind::Plain, Kind::Object(_)) => {
                            self.refuse_here("an object is compared with a number");
                        }
                        (Kind::Object(one), Kind::Object(other)) if !one.meets(other) => {
                            self.refuse_here("objects of two types are compared");
                        }
                        _ => {}
                    }
                    first.then(second)
                }
                BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual => {
                    let (left, first) = self.expression(left, None);
                    let (right, second) = self.expression(right, None);
                    match (left, right) {
                        (Kind::Object(one), Kind::Object(other)) => self.order(one, other),
                        (Kind::Object(_), _) | (_, Kind::Object(_)) => {
                            self.refuse_here("an object is compared with a number");
                        }
                        _ => {}
                    }
                    first.then(second)
                }
                _ => self.plain(left, None).then(self.plain(right, None)),
            }),
            &Expr::Conditional { condition, then, otherwise } => {
                let condition = self.plain(condition, None);
                let (one, first) = self.expression(then, None);
                let (other, second) = self.expression(otherwise, None);
                let kind = match (one, other) {
                    (Kind::Object(among), Kind::Plain) | (Kind::Plain, Kind::Object(among)) => {
                        self.refuse_here("an object or a number");
                        Kind::Object(among)
                    }
                    (Kind::Object(one), Kind::Object(other)) => Kind::Object(one.or(other)),
                    (Kind::Object(among), _) | (_, Kind::Object(among)) => Kind::Object(among),
                    (Kind::Member, Kind::Member) => Kind::Member,
                    _ => Kind::Plain,
                };
                (kind, condition.then(first).then(second))
            }
            Expr::Quantified { quantifier, local, range, body } => {
                plain(self.quantified(*quantifier, *local, range, *body, sense))
            }
            &Expr::Count { multiset, body, .. } => {
                let need = self.place(multiset).then(self.plain(body, None));
                self.refuse_witnesses(need, "for each element of a multiset");
                plain(need)
            }
            &Expr::IsUndefined(place) => plain(self.place(place)),
            &Expr::IsPresent { multiset, position } => plain(self.place(multiset).then(self.plain(position, None))),
            &Expr::IsMember { value, ty } => {
                let (kind, need) = self.expression(value, None);
                let is_range = matches!(self.model.types[ty].kind, TypeKind::Range { .. });
                if matches!(kind, Kind::Object(_)) && is_range && !self.objects.may_be(ty) {
                    self.refuse_here("an object is compared with numbers");
                }
                plain(need)
            }
            &Expr::SameContents { left, right } => {
                let need = self.place(left).then(self.place(right));
                self.same(self.model.pool[left].ty, self.model.pool[right].ty);
                let indices = self.objects.indices(self.model, self.model.pool[left].ty);
                if indices.is_zero() {
                    return plain(need);
                }
                self.inside(Quantifier::All, sense);
                self.deepest = self.deepest.max(self.depth + 1);
                plain(Need { witnesses: need.witnesses + indices, concerns_all: true, ..need })
            }
            Expr::Call { function, arguments } => {
                let need = self.call(*function, arguments);
                let result = self.model.functions[*function].result;
                (result.map_or(Kind::Plain, |ty| self.kind_of(ty)), need)
            }
        }
    }

    /// Notes that objects are compared by their order.
    fn order(&mut self, one: Sizes, other: Sizes) {
        if !one.meets(other) {
            self.refuse_here("objects of two types are compared");
        } else if self.objects.may_have_order(self.model) {
            self.is_ordered = true;
        } else if self.objects.sorts() > 1 {
            self.refuse_here("objects are compared by their order, which is not supported with two types");
        } else {
            self.refuse_here("values that may be objects or something else are compared by their order");
        }
    }

    /// Whether a function, or one that it calls, has quantifiers or loops over objects: told by walking it on its own.
    fn asks_about_all(&mut self, function: FunctionId) -> bool {
        let entry = &self.model.functions[function];
        let (obstacles, tests, span) = (self.obstacles.len(), self.tests.len(), self.span);
        if self.frames.len() >= DEEPEST {
            return true;
        }
        self.enter(&entry.locals, Some(function), true);
        let (in_loop, around) = (std::mem::take(&mut self.in_loop), self.around.take());
        let in_condition = std::mem::take(&mut self.in_condition);
        let need = self.body(&entry.body);
        (self.in_loop, self.around, self.in_condition) = (in_loop, around, in_condition);
        self.frames.pop();
        self.span = span;
        self.obstacles.truncate(obstacles);
        self.tests.truncate(tests);
        need.concerns_all
    }

    /// Refuses a quantifier over objects inside another one that a single witness for each does not decide. Returns the
    /// quantifier around what is inside this one, and the sense of the latter.
    fn inside(&mut self, quantifier: Quantifier, sense: Sense) -> (Quantifier, Sense) {
        if self.in_loop {
            self.refuse_here("a condition about all objects is asked for each object of a loop");
        }
        let effective = match (sense, quantifier) {
            (Some(true), quantifier) => Some(quantifier),
            (Some(false), Quantifier::All) => Some(Quantifier::Any),
            (Some(false), Quantifier::Any) => Some(Quantifier::All),
            (None, _) => None,
        };
        // The outermost one is decided by a witness whether its truth or its falsity counts.
        let Some(around) = self.around else {
            match self.lasting {
                None => self.test("the value of a condition about all objects decides what happens"),
                Some(Quantifier::Any) if effective != self.lasting => {
                    self.test("more objects can make this condition false");
                }
                Some(_) if effective != self.lasting => self.test("more objects can make this condition true"),
                Some(_) => {}
            }
            return (quantifier, WHOLE);
        };
        if effective != Some(around) {
            self.refuse_here("`forall` and `exists` over objects, one inside the other");
        }
        (around, sense)
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        local: LocalId,
        range: &Iteration,
        body: ExprId,
        sense: Sense,
    ) -> Need {
        let ends = self.range(local, range);
        let before = self.frame().denotes[local.position()];
        self.denote(local, Denotes::Own);
        let need = match range {
            Iteration::Over(ty) if self.objects.may_be(*ty) => {
                let is_probe = never_decides(self.model, quantifier, body);
                let outer = self.around;
                let before = std::mem::replace(&mut self.in_condition, true);
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
                let inner = if is_probe {
                    self.probe = Some(self.span);
                    // It is only asked whether something goes wrong: objects that are left out cannot.
                    if self.in_loop {
                        self.refuse_here("a condition about all objects is asked for each object of a loop");
                    }
                    self.around = None;
                    self.plain(body, WHOLE)
                } else {
                    let (around, inside) = self.inside(quantifier, sense);
                    self.around = Some(around);
                    self.plain(body, inside)
                };
                self.depth -= 1;
                (self.around, self.in_condition) = (outer, before);
                let own = self.objects.among(*ty);
                let witnesses = if is_probe { inner.witnesses } else { inner.witnesses + own };
                Need { witnesses, faults: inner.faults + own, concerns_all: true, ..inner }
            }
            Iteration::Over(ty) => {
                let inner = self.plain(body, sense);
                let times = usize::try_from(self.model.domain(*ty).size()).unwrap_or(usize::MAX);
                self.repeated(inner, times)
            }
            Iteration::Steps { .. } => {
                let inner = self.plain(body, sense);
                self.refuse_witnesses(inner, "in a condition that counts");
                inner
            }
        };
        self.denote(local, before);
        ends.then(need)
    }

    fn call(&mut self, function: FunctionId, arguments: &'a [Argument]) -> Need {
        let entry = &self.model.functions[function];
        let is_recursive = self.frames.iter().any(|frame| frame.function == Some(function));
        if is_recursive || self.frames.len() >= DEEPEST {
            self.refuse_here("a function that calls itself");
            return Need::default();
        }
        if self.around.is_some() && self.asks_about_all(function) {
            self.refuse_here("a function that asks about all objects is called for each object");
            return Need::default();
        }
        let mut need = Need::default();
        let mut denotes = Vec::new();
        for (&parameter, argument) in entry.parameters.iter().zip(arguments) {
            let ty = entry.locals[parameter].ty;
            denotes.push(match *argument {
                Argument::Value(value) => {
                    let (kind, own) = self.expression(value, None);
                    self.store(ty, kind);
                    need = need.then(own);
                    if self.is_iterated(value) { Denotes::Iterated } else { Denotes::Own }
                }
                Argument::Copy(place) => {
                    let kind = self.kind_of(self.model.pool[place].ty);
                    if self.model.is_scalar(ty) {
                        self.store(ty, kind);
                    } else {
                        self.same(ty, self.model.pool[place].ty);
                    }
                    need = need.then(self.place(place));
                    if self.is_iterated_place(place) { Denotes::Iterated } else { Denotes::Own }
                }
                Argument::Reference(place) => {
                    self.same(ty, self.model.pool[place].ty);
                    need = need.then(self.place(place));
                    if self.is_iterated_place(place) { Denotes::Iterated } else { self.denoted(place) }
                }
                Argument::Undefined => Denotes::Own,
            });
        }
        let (span, lasting) = (self.span, self.lasting.take());
        self.enter(&entry.locals, Some(function), self.in_loop || self.in_condition);
        for (&parameter, denotes) in entry.parameters.iter().zip(denotes) {
            self.denote(parameter, denotes);
        }
        let need = need.then(self.body(&entry.body));
        self.lasting = lasting;
        self.frames.pop();
        self.span = span;
        need
    }

    /// Whether an expression is the object of the current iteration.
    fn is_iterated(&self, expression: ExprId) -> bool {
        matches!(self.model.pool[expression], Expr::Read(place) if self.is_iterated_place(place))
    }

    /// Whether a place holds the object of the current iteration.
    fn is_iterated_place(&self, place: PlaceId) -> bool {
        let place = &self.model.pool[place];
        let Root::Local(local) = place.root else { return false };
        place.steps.is_empty() && self.frame().denotes[local.position()] == Denotes::Iterated
    }

    /// What a reference to a place denotes.
    fn denoted(&self, place: PlaceId) -> Denotes {
        let place = &self.model.pool[place];
        let is_own = place.steps.iter().any(|step| matches!(*step, Step::Index(index) if self.is_iterated(index)));
        let frame = self.frame();
        match place.root {
            _ if is_own => Denotes::InIterated,
            Root::Local(local) => match frame.denotes[local.position()] {
                Denotes::InIterated => Denotes::InIterated,
                // A variable of a function that is called in the iteration belongs to the iteration.
                Denotes::Own if frame.is_fresh => Denotes::InIterated,
                _ => Denotes::Elsewhere,
            },
            _ => Denotes::Elsewhere,
        }
    }

    /// A place that is written.
    fn written(&mut self, place: PlaceId) -> Need {
        if self.denoted(place) != Denotes::InIterated {
            if self.in_condition {
                self.refuse_here("a condition about all objects changes something");
            } else if self.in_loop {
                self.refuse_here("a loop over all objects writes to something that does not belong to the object");
            }
        }
        if let Root::Local(local) = self.model.pool[place].root
            && self.frame().denotes[local.position()] == Denotes::Iterated
            && self.model.pool[place].steps.is_empty()
        {
            self.refuse_here("the object of a loop is overwritten");
        }
        self.place(place)
    }

    /// A place that is read or written: its indices.
    fn place(&mut self, place: PlaceId) -> Need {
        let entry = &self.model.pool[place];
        let (mut need, mut ty) = match &entry.root {
            Root::Variable(variable) => (Need::default(), self.model.variables[*variable].ty),
            Root::Local(local) => (Need::default(), self.frame().locals[*local].ty),
            Root::Result { function, arguments } => {
                let need = self.call(*function, arguments);
                let Some(result) = self.model.functions[*function].result else { return need };
                (need, result)
            }
            &Root::Choice { condition, then, otherwise } => {
                let need = self.plain(condition, None);
                self.same(self.model.pool[then].ty, self.model.pool[otherwise].ty);
                (need.then(self.place(then)).then(self.place(otherwise)), self.model.pool[then].ty)
            }
        };
        for step in &entry.steps {
            match (*step, &self.model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => ty = fields[field as usize].ty,
                (Step::Index(index), TypeKind::Array { index: index_type, element }) => {
                    let (kind, own) = self.expression(index, None);
                    need = need.then(own);
                    match (self.objects.may_be(*index_type), kind) {
                        (true, Kind::Plain) => self.refuse_here("a number is used as an object"),
                        (false, Kind::Object(_)) => self.refuse_here("an object is used as a number"),
                        (true, Kind::Object(among)) if !among.meets(self.objects.among(*index_type)) => {
                            self.refuse_here("an object is used as one of another type");
                        }
                        _ => {}
                    }
                    ty = *element;
                }
                (Step::Index(index), TypeKind::Multiset { element, .. }) => {
                    need = need.then(self.plain(index, None));
                    ty = *element;
                }
                _ => return need,
            }
        }
        need
    }
}

/// Whether a quantifier is only there to evaluate its condition for all values.
fn never_decides(model: &Model, quantifier: Quantifier, body: ExprId) -> bool {
    let Expr::Binary { operator, right, .. } = model.pool[body] else { return false };
    let Expr::Constant { value, .. } = model.pool[right] else { return false };
    matches!(
        (quantifier, operator, value),
        (Quantifier::Any, BinaryOperator::And, 0) | (Quantifier::All, BinaryOperator::Or, 1)
    )
}
