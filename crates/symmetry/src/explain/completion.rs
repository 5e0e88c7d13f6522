//! What has to follow when values, processes or variables are exchanged. This is decided on the coloured graph that
//! detection uses, with an additional vertex for each object to be permuted as a whole, so that exactly the symmetries
//! that permute these objects remain. A stabiliser chain of that group shows whether one of them satisfies the request,
//! and which.
//!
//! If none does, parts of the model are queried in the same way, rule by rule: the nearest candidate respects as many
//! rules, starts and properties as possible, and whatever it breaks is the obstacle.

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_functions::{InputMove, Instance, Subject};
use quotient_groups::{Point, SparsePermutation, generators_watched, transporter};
use quotient_ir::{Action, Calling, SlotId, Spent, TableIndex, TypeId, TypeKind, VariableId};

use super::{Explainer, Request, collect_index_types};
use crate::describe::member;
use crate::graph::{Encoding, Wholes, encode_with, restrict};
use crate::individuals::Individuals;
use crate::watch::watch;

/// The largest type, by values, and the largest array, by elements, that are considered.
const LARGEST_FAMILY: u64 = 4096;
/// The largest number of slots for which the nearest candidate is searched: few rules leave many slots free to move.
const MOST_SLOTS: usize = 1024;
/// The largest number of instances for which it is searched.
const MOST_EVENTS: usize = 4096;

/// A request as a query to a graph.
pub(super) struct Question {
    wholes: Wholes,
    /// The images of objects, by number.
    wanted: Vec<(usize, usize)>,
    /// Objects that are preferably fixed.
    resting: Vec<usize>,
    /// The images of slots.
    slots: Vec<(SlotId, SlotId)>,
}

/// The result of a query.
pub(super) struct Element {
    pub(super) permutation: SparsePermutation,
    /// The images of inputs.
    pub(super) inputs: Vec<InputMove>,
}

impl Explainer<'_> {
    /// What can be exchanged as a whole: the values of types that are indices, and the elements of arrays that
    /// represent objects or whose indices have no type of their own.
    pub(super) fn individuals(&self) -> Vec<Individuals> {
        let model = self.model;
        let mut found = Vec::new();
        for (variable, entry) in model.variables.iter_enumerated() {
            let TypeKind::Array { index, .. } = model.types[entry.ty].kind else { continue };
            // If a front end creates the types, unnamed ones are unrelated to each other.
            if model.calling(variable).is_some() || (model.presentation.is_some() && model.types[index].name.is_none())
            {
                found.push(Individuals::Elements(variable));
            }
        }
        let mut types = Vec::new();
        for entry in model.variables.iter() {
            collect_index_types(model, entry.ty, &mut types);
        }
        types.retain(|&ty| model.presentation.is_none() || model.types[ty].name.is_some());
        found.extend(types.into_iter().map(Individuals::Values));
        let size = |of: &Individuals| of.ty(model).map_or(0, |ty| model.domain(ty).size());
        found.retain(|of| (2..=LARGEST_FAMILY).contains(&size(of)));
        found
    }

    /// Their values in classes that symmetries do not distinguish; `None` if there are too many.
    pub(super) fn classes(&self, of: Individuals) -> Result<Option<Vec<Vec<i64>>>, Spent> {
        let Some(wholes) = self.wholes(of) else { return Ok(None) };
        let encoding = encode_with(self.model, self.layout, &self.behaviour, &wholes, &self.budget)?;
        let group = generators_watched(&encoding.graph, &watch(&self.budget)).ok_or(Spent)?;
        let mut orbits = group.orbits;
        let mut classes: Vec<(Point, Vec<i64>)> = Vec::new();
        for (value, &vertex) in of.values(self.model).zip(&encoding.wholes) {
            let orbit = orbits.find(vertex);
            match classes.iter_mut().find(|(known, _)| *known == orbit) {
                Some((_, values)) => values.push(value),
                None => classes.push((orbit, vec![value])),
            }
        }
        Ok(Some(classes.into_iter().map(|(_, values)| values).collect()))
    }

    /// What belongs to each value or element; they are numbered by their codes. `None` if there are too many.
    fn wholes(&self, of: Individuals) -> Option<Wholes> {
        let count = self.model.domain(of.ty(self.model)?).size();
        if count == 0 || count > LARGEST_FAMILY {
            return None;
        }
        let wholes = Wholes { count: count as usize, ..Wholes::default() };
        Some(match of {
            Individuals::Values(ty) => self.value_wholes(ty, wholes),
            Individuals::Elements(variable) => self.element_wholes(variable, wholes),
        })
    }

    /// The slots that have a value as an index, and the literals with that value.
    fn value_wholes(&self, ty: TypeId, mut wholes: Wholes) -> Wholes {
        let domain = self.model.domain(ty);
        let code_of = |of: TypeId, value: i64| {
            let code = domain.code_of(value).filter(|_| member(self.model, of, value) == ty || of == ty);
            code.map(|code| code as usize)
        };
        let hold = |wholes: &mut Wholes, slot: u32, own: TypeId| {
            let circuit = &self.behaviour.circuit;
            if circuit.is_wide(slot) {
                // Its values never permute.
                if domain.values().any(|value| code_of(own, value).is_some()) {
                    wholes.pinned.extend(0..wholes.count);
                }
                return;
            }
            for (position, value) in circuit.values(slot).iter().enumerate() {
                if let Some(code) = value.and_then(|value| code_of(own, value)) {
                    wholes.literals.push((slot, position, code));
                }
            }
        };
        for (slot, entry) in self.layout.slots.iter_enumerated() {
            let number = slot.position() as u32;
            let indices = self.places.path(slot).indices.iter();
            let codes = indices.filter_map(|&(index, value)| code_of(index, value));
            wholes.slots.extend(codes.enumerate().map(|(manner, code)| (number, manner as u32, code)));
            hold(&mut wholes, number, entry.ty);
        }
        for multiset in self.behaviour.multisets.iter() {
            for column in 0..multiset.stride {
                let slot = SlotId::from_position(multiset.slot(0, column) as usize);
                hold(&mut wholes, multiset.columns + column, self.layout.slots[slot].ty);
            }
        }
        wholes.pinned.sort_unstable();
        wholes.pinned.dedup();
        wholes
    }

    /// The slots of each element of an array, and, if it is a process, its own instances of rules.
    fn element_wholes(&self, variable: VariableId, mut wholes: Wholes) -> Wholes {
        let TypeKind::Array { index, element } = self.model.types[self.model.variables[variable].ty].kind else {
            return wholes;
        };
        let (first, stride) = (self.layout.first_slot(variable).position(), self.model.cells(element) as usize);
        for code in 0..wholes.count {
            for slot in first + code * stride..first + (code + 1) * stride {
                let shape = self.places.path(SlotId::from_position(slot)).shape;
                wholes.slots.push((slot as u32, shape, code));
            }
        }
        if matches!(self.model.calling(variable), Some(Calling::Processes(_))) {
            let domain = self.model.domain(index);
            for event in &self.behaviour.events {
                let Action::Rule(rule) = event.action else { continue };
                let owner = self.model.owner_of(rule, &event.arguments);
                if let Some(code) = owner.and_then(|owner| domain.code_of(owner)) {
                    wholes.owners.insert(event.instance(), code as usize);
                }
            }
        }
        wholes
    }

    /// A request as a query to the graph; `None` if it has too many values. Slots may be required to keep their shapes.
    pub(super) fn question(&self, request: &Request, keeps_shapes: bool) -> Option<Question> {
        let (of, slots) = match request {
            Request::Exchange { ty, .. } | Request::Rotate { ty } => (Some(Individuals::Values(*ty)), Vec::new()),
            Request::ExchangeElements { variable, .. } | Request::RotateElements { variable } => {
                (Some(Individuals::Elements(*variable)), Vec::new())
            }
            Request::ExchangeParts { first, second } => {
                let pairs = first.iter().copied().zip(second.iter().copied());
                (None, pairs.flat_map(|(first, second)| [(first, second), (second, first)]).collect())
            }
        };
        let (mut wanted, mut resting) = (Vec::new(), Vec::new());
        let mut wholes = match of {
            None => Wholes::default(),
            Some(of) => {
                let wholes = self.wholes(of)?;
                let domain = self.model.domain(of.ty(self.model)?);
                for (code, value) in domain.values().enumerate() {
                    let image = match of {
                        Individuals::Values(ty) => request.value(self.model, ty, value),
                        Individuals::Elements(variable) => request.element(self.model, variable, value),
                    };
                    let image = domain.code_of(image).expect("a permutation of the values") as usize;
                    if image == code {
                        resting.push(code);
                    } else {
                        wanted.push((code, image));
                    }
                }
                wholes
            }
        };
        if keeps_shapes {
            let shapes = self.layout.slots.indices().map(|slot| self.places.path(slot).shape);
            wholes.shapes = Some(shapes.collect());
        }
        Some(Question { wholes, wanted, resting, slots })
    }

    /// A symmetry that satisfies the request and fixes everything else as far as possible. If there is no other way and
    /// it is allowed, other objects may move, too.
    pub(super) fn ask(&self, question: &Question, may_move_others: bool) -> Result<Option<Element>, Spent> {
        let encoding = encode_with(self.model, self.layout, &self.behaviour, &question.wholes, &self.budget)?;
        let watch = watch(&self.budget);
        let group = generators_watched(&encoding.graph, &watch).ok_or(Spent)?;
        let points = encoding.points();
        let names: FxHashMap<Point, Point> =
            points.iter().enumerate().map(|(name, &point)| (point, name as Point)).collect();
        let restricted = |generator: &SparsePermutation| {
            let restricted = generator.restricted(|point| names.contains_key(&point), |point| names[&point]);
            restricted.expect("colours keep these vertices among themselves")
        };
        let generators: Vec<SparsePermutation> = group.generators.iter().map(restricted).collect();
        let Some(wanted) = wanted_points(question, &encoding, &names) else { return Ok(None) };
        let mut strictly = wanted.clone();
        strictly.extend(question.resting.iter().map(|&whole| {
            let point = names[&encoding.wholes[whole]];
            (point, point)
        }));
        let mut found = transporter(points.len(), &generators, &strictly, &watch).ok_or(Spent)?;
        if found.is_none() && may_move_others && !question.resting.is_empty() {
            found = transporter(points.len(), &generators, &wanted, &watch).ok_or(Spent)?;
        }
        Ok(found.map(|element| {
            let moves = element.moves().map(|(from, to)| (points[from as usize], points[to as usize])).collect();
            let automorphism = SparsePermutation::from_moves(moves).expect("a permutation under other names");
            let permutation = restrict(&encoding, &self.behaviour.multisets, &self.literals, &automorphism);
            Element { permutation, inputs: encoding.input_moves(&automorphism) }
        }))
    }

    /// The nearest candidate for a request that is not a symmetry: it satisfies the request, and respects each rule,
    /// then each start, then each property, that can be respected together with those before it. `None` if there are
    /// too many of them, or too few searches are left.
    pub(super) fn nearest(&mut self, question: &Question) -> Result<Option<Element>, Spent> {
        if self.layout.slots.len() > MOST_SLOTS || self.behaviour.events.len() > MOST_EVENTS {
            return Ok(None);
        }
        let mut subjects: Vec<Subject> = Vec::new();
        let mut seen = FxHashSet::default();
        let (starts, rules): (Vec<_>, Vec<_>) = self.behaviour.events.iter().partition(|event| event.is_start());
        let events = rules.into_iter().chain(starts).map(|event| Subject::Action(event.action));
        let claims = self.behaviour.claims.iter().map(|claim| Subject::Property(claim.property));
        subjects.extend(events.chain(claims).filter(|&subject| seen.insert(subject)));
        let mut respected: FxHashSet<Subject> = FxHashSet::default();
        let mut nearest = None;
        // All at once was queried before, so they are halved; the first half goes on top.
        let halves = |subjects: &[Subject]| {
            let (first, second) = subjects.split_at(subjects.len() / 2);
            [second.to_vec(), first.to_vec()]
        };
        let mut pending: Vec<Vec<Subject>> = halves(&subjects).to_vec();
        while let Some(next) = pending.pop() {
            if next.is_empty() {
                continue;
            }
            if self.looks == 0 {
                break;
            }
            self.looks -= 1;
            let mut tried = respected.clone();
            tried.extend(&next);
            match self.ask_about(question, &tried)? {
                Some(element) => {
                    respected = tried;
                    nearest = Some(element);
                }
                None if next.len() > 1 => pending.extend(halves(&next)),
                None => {}
            }
        }
        Ok(nearest)
    }

    /// Queries a part of the model.
    fn ask_about(&mut self, question: &Question, subjects: &FxHashSet<Subject>) -> Result<Option<Element>, Spent> {
        let (events, claims) = (self.behaviour.events.clone(), self.behaviour.claims.clone());
        let is_asked = |instance: Instance| subjects.contains(&instance.subject);
        self.behaviour.events.retain(|event| is_asked(event.instance()));
        self.behaviour.claims.retain(|claim| is_asked(claim.instance()));
        let answer = self.ask(question, false);
        (self.behaviour.events, self.behaviour.claims) = (events, claims);
        answer
    }
}

/// The requested images of points of a graph; `None` if a slot cannot be mapped as requested.
fn wanted_points(
    question: &Question,
    encoding: &Encoding,
    names: &FxHashMap<Point, Point>,
) -> Option<Vec<(Point, Point)>> {
    let wholes = question.wanted.iter().map(|&(from, to)| (encoding.wholes[from], encoding.wholes[to]));
    let mut wanted: Vec<(Point, Point)> = wholes.collect();
    for &(from, to) in &question.slots {
        match (encoding.slots[from.position()], encoding.slots[to.position()]) {
            (Some(from), Some(to)) => wanted.push((from, to)),
            // Constants: functions read their values, wherever they lie.
            (None, None) => {}
            _ => return None,
        }
    }
    Some(wanted.into_iter().map(|(from, to)| (names[&from], names[&to])).collect())
}
