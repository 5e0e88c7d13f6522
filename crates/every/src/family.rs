//! What the members of a family of models share: one text, of which constants are the numbers of values of a type or two.
//! These values are called objects.
//!
//! Two members are compared expression by expression. They may differ in the numbers of objects, and in the numbers by
//! which other types of a union are encoded; everything else that depends on the constants is an obstacle.

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_ir::{Layout, Model, SlotId, Span, TableIndex, TypeId, TypeKind, Valuation};

use super::comparison::{self, first_of};
use super::obstacle::Obstacle;
use super::rows::{MOST_NAMED, gap_of, sort_of};
use super::sizes::{MOST_SORTS, Sizes, Value};

/// The types whose values are objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objects {
    sorts: Vec<Sort>,
    /// Whether the text compares them by their order; then there is one type.
    is_ordered: bool,
}

/// A type of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sort {
    /// Types of nothing but these objects.
    only: Vec<TypeId>,
    /// Unions of these and others.
    among: Vec<TypeId>,
    /// Which of the constants is their number.
    constant: usize,
    /// How many more there are than of another type with the same constant.
    surplus: usize,
}

impl Objects {
    /// The types in which a member differs from others, each of which has a larger value of one of the constants.
    ///
    /// # Errors
    /// If a constant decides about no type, or members differ in more than the numbers of values of types.
    pub fn between(smaller: &Model, larger: &[&Model]) -> Result<Self, Obstacle> {
        let mut objects = Self { sorts: Vec::new(), is_ordered: false };
        for (constant, larger) in larger.iter().enumerate() {
            let of_constant = differing(smaller, larger)?;
            let of_two = of_constant.iter().flatten().find(|&&id| objects.may_be(id));
            if let Some(&id) = of_two {
                let reason = format!("`{}` depends on two constants", type_name(smaller, id));
                return Err(Obstacle::new(reason, use_of(smaller, id)));
            }
            let count = |only: &[TypeId]| smaller.domain(only[0]).size();
            let fewest = of_constant.iter().map(|only| count(only)).min().unwrap_or_default();
            for only in of_constant {
                if objects.sorts.len() == MOST_SORTS {
                    let reason = format!("more than {MOST_SORTS} types depend on the constants");
                    return Err(Obstacle::new(reason, use_of(smaller, only[0])));
                }
                let among = smaller.types.iter_enumerated().filter(|(_, ty)| match &ty.kind {
                    TypeKind::Union { members } => members.iter().any(|member| only.contains(member)),
                    _ => false,
                });
                let among = among.map(|(id, _)| id).collect();
                let surplus = usize::try_from(count(&only) - fewest).unwrap_or(usize::MAX);
                objects.sorts.push(Sort { only, among, constant, surplus });
            }
        }
        larger.iter().try_for_each(|larger| objects.compare(smaller, larger))?;
        Ok(objects)
    }

    /// The names of the types.
    pub fn names(&self, model: &Model) -> Vec<String> {
        let name = |sort: &Sort| {
            let named = sort.only.iter().find_map(|&id| model.types[id].name.clone());
            named.unwrap_or_else(|| type_name(model, sort.only[0]))
        };
        self.sorts.iter().map(name).collect()
    }

    /// The same objects, with an order or without.
    pub fn with_order(&self, is_ordered: bool) -> Self {
        Self { is_ordered, ..self.clone() }
    }

    /// Whether the text compares objects by their order.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Whether objects are of one type, and numbers. In a union they would be among other values.
    pub(super) fn may_have_order(&self, model: &Model) -> bool {
        let [Sort { only, among, .. }] = &self.sorts[..] else { return false };
        among.is_empty() && only.iter().all(|&id| matches!(model.types[id].kind, TypeKind::Range { .. }))
    }

    /// How many types there are.
    pub fn sorts(&self) -> usize {
        self.sorts.len()
    }

    /// Which of the constants is the number of objects of a type.
    pub fn constant(&self, sort: usize) -> usize {
        self.sorts[sort].constant
    }

    /// The numbers of objects of a member.
    pub fn counts(&self, model: &Model) -> Sizes {
        let count = |sort: &Sort| usize::try_from(model.domain(sort.only[0]).size()).unwrap_or(usize::MAX);
        Sizes::of(|sort| self.sorts.get(sort).map_or(0, count))
    }

    /// How many more objects there are if a constant is larger by 1.
    pub fn of_constant(&self, constant: usize) -> Sizes {
        Sizes::of(|sort| usize::from(self.sorts.get(sort).is_some_and(|sort| sort.constant == constant)))
    }

    /// The least numbers of objects of a member that has at least these.
    pub(super) fn fitting(&self, wanted: Sizes) -> Sizes {
        Sizes::of(|sort| {
            let Some(own) = self.sorts.get(sort) else { return 0 };
            let same = self.sorts.iter().enumerate().filter(|(_, other)| other.constant == own.constant);
            own.surplus + same.map(|(other, it)| wanted[other].saturating_sub(it.surplus)).max().unwrap_or(0)
        })
    }

    /// The objects of a type of a member.
    pub fn values(&self, model: &Model, sort: usize) -> Vec<i64> {
        model.domain(self.sorts[sort].only[0]).values().collect()
    }

    /// 1 for each type to which values of a type of the model may belong.
    pub fn among(&self, ty: TypeId) -> Sizes {
        Sizes::of(|sort| {
            let contains = |sort: &Sort| sort.only.contains(&ty) || sort.among.contains(&ty);
            usize::from(self.sorts.get(sort).is_some_and(contains))
        })
    }

    /// Whether values of a type may be objects.
    pub fn may_be(&self, ty: TypeId) -> bool {
        !self.among(ty).is_zero()
    }

    /// Whether values of a type are objects of one type.
    fn is_only(&self, ty: TypeId) -> bool {
        self.sorts.iter().any(|sort| sort.only.contains(&ty))
    }

    /// Whether the cells of a type hold objects, or are indexed by them.
    pub(super) fn concerns(&self, model: &Model, ty: TypeId) -> bool {
        self.is_held(model, ty) || self.indexes(model, ty)
    }

    /// Whether cells of a type may hold objects.
    pub(super) fn is_held(&self, model: &Model, ty: TypeId) -> bool {
        match &model.types[ty].kind {
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => self.is_held(model, *element),
            TypeKind::Record { fields } => fields.iter().any(|field| self.is_held(model, field.ty)),
            _ => self.may_be(ty),
        }
    }

    /// Whether arrays of a type are indexed by objects.
    pub(super) fn indexes(&self, model: &Model, ty: TypeId) -> bool {
        !self.indices(model, ty).is_zero()
    }

    /// 1 for each type of objects by which arrays of a type are indexed.
    pub(super) fn indices(&self, model: &Model, ty: TypeId) -> Sizes {
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => self.among(*index).or(self.indices(model, *element)),
            TypeKind::Multiset { element, .. } => self.indices(model, *element),
            TypeKind::Record { fields } => {
                fields.iter().fold(Sizes::default(), |sizes, field| sizes.or(self.indices(model, field.ty)))
            }
            _ => Sizes::default(),
        }
    }

    /// Whether the cells of two types hold objects of the same types, and are indexed by such.
    pub(super) fn is_same(&self, model: &Model, one: TypeId, other: TypeId) -> bool {
        match (&model.types[one].kind, &model.types[other].kind) {
            (TypeKind::Array { index, element }, TypeKind::Array { index: other_index, element: other_element }) => {
                self.among(*index) == self.among(*other_index) && self.is_same(model, *element, *other_element)
            }
            (TypeKind::Multiset { element, .. }, TypeKind::Multiset { element: other, .. }) => {
                self.is_same(model, *element, *other)
            }
            (TypeKind::Record { fields }, TypeKind::Record { fields: others }) => {
                fields.iter().zip(others).all(|(field, other)| self.is_same(model, field.ty, other.ty))
            }
            _ => self.among(one) == self.among(other),
        }
    }

    /// Checks that members differ in nothing but the number of objects.
    ///
    /// # Errors
    /// If they do.
    pub fn compare(&self, one: &Model, other: &Model) -> Result<(), Obstacle> {
        let whole = |reason: &str| Obstacle::new(reason, Span::default());
        let changed = || whole("the constant decides more than the number of values of a type");
        if one.types.len() != other.types.len() {
            return Err(changed());
        }
        for (id, ty) in one.types.iter_enumerated() {
            let is_same = match (&ty.kind, &other.types[id].kind) {
                (TypeKind::Scalarset { size, .. }, TypeKind::Scalarset { size: other, .. }) => {
                    self.is_only(id) || size == other
                }
                (TypeKind::Range { low, high }, TypeKind::Range { low: other_low, high: other_high }) => {
                    low == other_low && (self.is_only(id) || high == other_high)
                }
                (TypeKind::Enumeration { members, .. }, TypeKind::Enumeration { members: other, .. }) => {
                    members == other
                }
                (kind, other) => kind == other,
            };
            if !is_same || ty.name != other.types[id].name {
                return Err(changed());
            }
        }
        if one.variables != other.variables {
            return Err(changed());
        }
        comparison::compare(one, other)
    }
}

/// The types in which a member differs from one with a larger value of a constant: ranges are of one type of objects, each
/// scalarset is of its own.
fn differing(smaller: &Model, larger: &Model) -> Result<Vec<Vec<TypeId>>, Obstacle> {
    let whole = |reason: &str| Obstacle::new(reason, Span::default());
    if smaller.types.len() != larger.types.len() {
        return Err(whole("the constant decides which types there are"));
    }
    let mut sorts: Vec<Vec<TypeId>> = Vec::new();
    for (id, ty) in smaller.types.iter_enumerated() {
        let is_range = match (&ty.kind, &larger.types[id].kind) {
            (TypeKind::Scalarset { size, .. }, TypeKind::Scalarset { size: other, .. }) if size != other => false,
            (TypeKind::Range { low, high }, TypeKind::Range { low: other_low, high: other_high }) => {
                if low != other_low {
                    let reason = format!("the constant decides with which number `{}` begins", type_name(smaller, id));
                    return Err(Obstacle::new(reason, use_of(smaller, id)));
                }
                if high == other_high {
                    continue;
                }
                true
            }
            _ => continue,
        };
        match sorts.first_mut() {
            Some(first) => {
                let other = first[0];
                let is_same = |model: &Model| model.types[other].kind == model.types[id].kind;
                let is_set = matches!(smaller.types[other].kind, TypeKind::Scalarset { .. });
                if is_range && is_same(smaller) && is_same(larger) {
                    first.push(id);
                } else if !is_range && is_set {
                    sorts.push(vec![id]);
                } else {
                    let names = [other, id].map(|id| type_name(smaller, id));
                    let reason = format!("two types depend on the constant: `{}` and `{}`", names[0], names[1]);
                    return Err(Obstacle::new(reason, use_of(smaller, id)));
                }
            }
            None => sorts.push(vec![id]),
        }
    }
    if sorts.is_empty() {
        return Err(whole("no type has a number of values that depends on the constant"));
    }
    Ok(sorts)
}

/// The name of a type, or its values.
fn type_name(model: &Model, id: TypeId) -> String {
    match (&model.types[id].name, &model.types[id].kind) {
        (Some(name), _) => name.clone(),
        (None, TypeKind::Range { low, high }) => format!("{low}..{high}"),
        (None, _) => "a type without a name".to_owned(),
    }
}

/// The first declaration that uses a type.
fn use_of(model: &Model, wanted: TypeId) -> Span {
    fn contains(model: &Model, ty: TypeId, wanted: TypeId) -> bool {
        ty == wanted
            || match &model.types[ty].kind {
                TypeKind::Array { index, element } => {
                    contains(model, *index, wanted) || contains(model, *element, wanted)
                }
                TypeKind::Multiset { element, .. } => contains(model, *element, wanted),
                TypeKind::Record { fields } => fields.iter().any(|field| contains(model, field.ty, wanted)),
                TypeKind::Union { members } => members.iter().any(|member| contains(model, *member, wanted)),
                _ => false,
            }
    }
    let variables = model.variables.iter().map(|variable| (variable.ty, variable.span));
    let rules = model.rules.iter().flat_map(|rule| rule.locals.iter());
    let starts = model.starts.iter().flat_map(|start| start.locals.iter());
    let properties = model.properties.iter().flat_map(|property| property.locals.iter());
    let functions = model.functions.iter().flat_map(|function| function.locals.iter());
    let locals = rules.chain(starts).chain(properties).chain(functions).map(|local| (local.ty, local.span));
    let found = variables.chain(locals).find(|(ty, _)| contains(model, *ty, wanted));
    found.map(|(_, span)| span).unwrap_or_default()
}

/// The objects of a member: those of each type in turn.
#[derive(Clone, Copy, Debug)]
struct Numbering {
    counts: Sizes,
    /// The number that encodes the first object of each type.
    first: [i64; MOST_SORTS],
}

impl Numbering {
    /// The object that a value encodes, of one of the given types.
    fn object(self, value: i64, among: Sizes) -> Option<usize> {
        let mut before = 0;
        (0..MOST_SORTS).find_map(|sort| {
            let place = value.checked_sub(self.first[sort]).and_then(|place| usize::try_from(place).ok());
            let place = place.filter(|&place| among[sort] > 0 && place < self.counts[sort]);
            let object = place.map(|place| before + place);
            before += self.counts[sort];
            object
        })
    }

    /// The type of an object.
    fn sort(self, object: usize) -> usize {
        let mut before = 0;
        let is_before_end = |&sort: &usize| {
            before += self.counts[sort];
            object < before
        };
        (0..MOST_SORTS).find(is_before_end).expect("it is an object of the member")
    }

    /// The first object of a type.
    fn beginning(self, sort: usize) -> usize {
        (0..sort).map(|sort| self.counts[sort]).sum()
    }

    /// The value that encodes an object.
    fn value(self, object: usize) -> i64 {
        let sort = self.sort(object);
        self.first[sort] + (object - self.beginning(sort)) as i64
    }
}

/// Members by how many objects they have.
pub type Members = BTreeMap<Sizes, Arc<Member>>;

/// One member: a model with numbers of objects, and which of its slots belong to which object.
#[derive(Clone, Debug)]
pub struct Member {
    /// The model.
    pub model: Arc<Model>,
    /// Its layout.
    pub layout: Arc<Layout>,
    /// How many objects it has.
    pub counts: Sizes,
    numbering: Numbering,
    /// Whether objects have an order.
    pub(super) is_ordered: bool,
    /// The names of the types of objects.
    pub(super) names: Vec<String>,
    /// The slots that belong to no object, in an order that all members share.
    pub(super) shared: Vec<SlotId>,
    /// For each of these, 1 for each type of which it may name an object.
    pointers: Vec<Sizes>,
    /// The slots of each object, in an order that all objects of a type of all members share.
    pub(super) rows: Vec<Vec<SlotId>>,
}

/// No value.
pub(super) const UNDEFINED: Value = i64::MIN;
/// The object with number `n` is `OBJECT + n`.
const OBJECT: Value = 1 << 60;
/// Values of the members of a union are numbered from multiples of this.
const UNION_STRIDE: Value = 1 << 40;

/// What an object holds, after its type.
pub(super) type Row = (usize, Vec<Value>);

/// A state of a member: what is shared, with objects numbered in the order in which it names them, or in their own order if
/// they have one; then the named objects in this order, then the others, each after its gap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Parts {
    pub(super) shared: Vec<Value>,
    pub(super) named: Vec<Row>,
    pub(super) others: Vec<(usize, Row)>,
}

impl Member {
    /// A member of the family.
    ///
    /// # Errors
    /// If an object holds another one, or a cell belongs to two objects.
    pub fn new(model: Arc<Model>, layout: Arc<Layout>, objects: &Objects) -> Result<Self, Obstacle> {
        let counts = objects.counts(&model);
        let least = |sort: &Sort| model.domain(sort.only[0]).least();
        let first = std::array::from_fn(|sort| objects.sorts.get(sort).map_or(0, least));
        let numbering = Numbering { counts, first };
        let mut shared = Vec::new();
        let mut rows = vec![Vec::new(); counts.sum()];
        for (variable, entry) in model.variables.iter_enumerated() {
            let mut next = layout.first_slot(variable).position();
            let mut split = Split { model: &model, objects, numbering, shared: &mut shared, rows: &mut rows };
            split
                .walk(entry.ty, None, &mut next)
                .map_err(|reason| Obstacle::new(format!("`{}` {reason}", entry.name), entry.span))?;
        }
        let pointers: Vec<Sizes> = shared.iter().map(|&slot| objects.among(layout.slots[slot].ty)).collect();
        let always = shared
            .iter()
            .zip(&pointers)
            .find(|(slot, among)| !among.is_zero() && !layout.slots[**slot].may_be_undefined);
        if let Some((&slot, _)) = always {
            let variable = &model.variables[layout.slots[slot].variable];
            let reason = format!("`{}` names the first object before anything happens", variable.name);
            return Err(Obstacle::new(reason, variable.span));
        }
        let (names, is_ordered) = (objects.names(&model), objects.is_ordered());
        let member = Self { model, layout, counts, numbering, is_ordered, names, shared, pointers, rows };
        if is_ordered && member.pointers().sum() > MOST_NAMED {
            let reason =
                format!("more than {MOST_NAMED} shared variables name objects that are compared by their order");
            return Err(Obstacle::new(reason, Span::default()));
        }
        Ok(member)
    }

    /// How many objects of each type the shared part can name at most.
    pub fn pointers(&self) -> Sizes {
        self.pointers.iter().fold(Sizes::default(), |sizes, &among| sizes + among)
    }

    /// The object of one of the given types that a number encodes.
    pub(super) fn object(&self, value: i64, among: Sizes) -> Option<usize> {
        self.numbering.object(value, among)
    }

    /// The type of an object.
    pub(super) fn sort(&self, object: usize) -> usize {
        self.numbering.sort(object)
    }

    /// The objects of which a state is put together, by the rows of the named ones and of the others. The others stand behind all
    /// named ones, or in their gaps.
    pub(super) fn seats(&self, named: &[u32], others: &[u32]) -> Vec<usize> {
        let mut objects = vec![0; named.len() + others.len()];
        for sort in 0..MOST_SORTS {
            let mut next = self.numbering.beginning(sort);
            let mut take = || {
                next += 1;
                next - 1
            };
            let is_own = |(_, row): &(usize, &u32)| sort_of(**row) == sort;
            let mut of_named = named.iter().enumerate().filter(is_own).enumerate().peekable();
            for (other, &row) in others.iter().enumerate().filter(is_own) {
                let is_before = |number: usize| !self.is_ordered || number < gap_of(row);
                while let Some((_, (place, _))) = of_named.next_if(|(number, _)| is_before(*number)) {
                    objects[place] = take();
                }
                objects[named.len() + other] = take();
            }
            for (_, (place, _)) in of_named {
                objects[place] = take();
            }
        }
        objects
    }

    /// How many of the named objects an object comes after; 0 if there is no order.
    pub(super) fn gap(&self, names: &[usize], object: usize) -> usize {
        if self.is_ordered { names.iter().filter(|&&name| name < object).count() } else { 0 }
    }

    fn encode(&self, slot: SlotId, value: Option<i64>) -> Value {
        let Some(value) = value else { return UNDEFINED };
        let ty = self.layout.slots[slot].ty;
        match &self.model.types[ty].kind {
            TypeKind::Union { members } => {
                let place = members.iter().position(|&member| self.model.domain(member).contains(value));
                let place = place.expect("a value of a union is a value of a member");
                place as i64 * UNION_STRIDE + (value - first_of(&self.model, members[place]))
            }
            _ => value - first_of(&self.model, ty),
        }
    }

    fn decode(&self, slot: SlotId, value: Value) -> Option<i64> {
        if value == UNDEFINED {
            return None;
        }
        let ty = self.layout.slots[slot].ty;
        Some(match &self.model.types[ty].kind {
            TypeKind::Union { members } => {
                let place = usize::try_from(value / UNION_STRIDE).expect("a value of a union has a member");
                value % UNION_STRIDE + first_of(&self.model, members[place])
            }
            _ => value + first_of(&self.model, ty),
        })
    }

    /// Takes a state apart.
    pub(super) fn parts(&self, state: &Valuation) -> Parts {
        let (shared, names) = self.shared(state);
        let others = (0..self.rows.len()).filter(|object| !names.contains(object));
        let others = others.map(|object| (self.gap(&names, object), self.row(state, object))).collect();
        Parts { shared, named: names.iter().map(|&object| self.row(state, object)).collect(), others }
    }

    /// What an object holds.
    pub(super) fn row(&self, state: &Valuation, object: usize) -> Row {
        (self.sort(object), self.rows[object].iter().map(|&slot| self.encode(slot, state[slot])).collect())
    }

    /// What is shared, and the objects that it names, in order.
    pub(super) fn shared(&self, state: &Valuation) -> (Vec<Value>, Vec<usize>) {
        // Members of a union have disjoint numbers.
        let named = |slot: SlotId, among: Sizes| state[slot].and_then(|value| self.object(value, among));
        let cells = self.shared.iter().copied().zip(self.pointers.iter().copied());
        let mut names: Vec<usize> = Vec::new();
        for object in cells.clone().filter_map(|(slot, among)| named(slot, among)) {
            if !names.contains(&object) {
                names.push(object);
            }
        }
        if self.is_ordered {
            names.sort_unstable();
        }
        let shared = cells.map(|(slot, among)| match named(slot, among) {
            Some(object) => {
                let place = names.iter().position(|&known| known == object).expect("it was found above");
                OBJECT + place as i64
            }
            None => self.encode(slot, state[slot]),
        });
        (shared.collect(), names)
    }

    /// Puts a state together of what is shared and the rows of the named objects and of the others.
    pub(super) fn state<'r>(
        &self,
        shared: &[Value],
        named: &[u32],
        others: &[u32],
        contents: impl Fn(u32) -> &'r [Value],
    ) -> Valuation {
        let mut state = Valuation(vec![None; self.layout.slots.len()]);
        let objects = self.seats(named, others);
        for (&object, &row) in objects.iter().zip(named.iter().chain(others)) {
            for (&slot, &value) in self.rows[object].iter().zip(contents(row)) {
                state[slot] = self.decode(slot, value);
            }
        }
        for (&slot, &value) in self.shared.iter().zip(shared) {
            state[slot] = if value >= OBJECT {
                let place = usize::try_from(value - OBJECT).expect("it is not negative");
                Some(self.numbering.value(objects[place]))
            } else {
                self.decode(slot, value)
            };
        }
        state
    }

    /// The text of a shared part.
    pub(super) fn shared_text(&self, shared: &[Value]) -> String {
        let cells = self.shared.iter().zip(shared).filter(|(_, value)| **value != UNDEFINED);
        let texts = cells.map(|(&slot, &value)| {
            let value = match value {
                object if object >= OBJECT => format!("#{}", object - OBJECT + 1),
                value => self.value_text(slot, value),
            };
            format!("{} = {value}", self.layout.slots[slot].name)
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    /// The text of what an object holds.
    pub(super) fn row_text(&self, sort: usize, row: &[Value]) -> String {
        let first = self.numbering.beginning(sort);
        let Some(slots) = self.rows.get(first) else { return String::new() };
        let cells = slots.iter().zip(row).filter(|(_, value)| **value != UNDEFINED);
        let texts = cells.map(|(&slot, &value)| {
            let name = &self.layout.slots[slot].name;
            format!("{} = {}", self.without_object(slot, name, first), self.value_text(slot, value))
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    /// The name of a slot of an object, without the object.
    fn without_object(&self, slot: SlotId, name: &str, object: usize) -> String {
        let variable = &self.model.variables[self.layout.slots[slot].variable];
        let value = self.numbering.value(object);
        let mut ty = variable.ty;
        while let TypeKind::Array { index, element } = &self.model.types[ty].kind {
            if self.model.domain(*index).contains(value) {
                let shown = format!("[{}]", self.model.value_name(*index, value));
                if name.contains(&shown) {
                    return name.replacen(&shown, "", 1);
                }
            }
            ty = *element;
        }
        name.to_owned()
    }

    fn value_text(&self, slot: SlotId, value: Value) -> String {
        let ty = self.layout.slots[slot].ty;
        self.decode(slot, value).map_or_else(|| "undefined".to_owned(), |value| self.model.value_name(ty, value))
    }
}

/// Distributes the slots of a variable.
struct Split<'a> {
    model: &'a Model,
    objects: &'a Objects,
    numbering: Numbering,
    shared: &'a mut Vec<SlotId>,
    rows: &'a mut Vec<Vec<SlotId>>,
}

impl Split<'_> {
    fn walk(&mut self, ty: TypeId, object: Option<usize>, next: &mut usize) -> Result<(), &'static str> {
        match &self.model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let among = self.objects.among(*index);
                if !among.is_zero() && object.is_some() {
                    return Err("has a cell for each pair of objects, which is not supported");
                }
                for value in self.model.domain(*index).values() {
                    self.walk(*element, self.numbering.object(value, among).or(object), next)?;
                }
                Ok(())
            }
            TypeKind::Record { fields } => fields.iter().try_for_each(|field| self.walk(field.ty, object, next)),
            TypeKind::Multiset { element, .. } if self.objects.concerns(self.model, *element) => {
                Err("is a multiset of objects, which is not supported")
            }
            TypeKind::Multiset { .. } => {
                for _ in 0..self.model.cells(ty) {
                    self.take(object, next);
                }
                Ok(())
            }
            _ if object.is_some() && self.objects.may_be(ty) => {
                Err("lets objects refer to objects, which is not supported")
            }
            _ => {
                self.take(object, next);
                Ok(())
            }
        }
    }

    fn take(&mut self, object: Option<usize>, next: &mut usize) {
        let slot = SlotId::from_position(*next);
        *next += 1;
        match object {
            Some(object) => self.rows[object].push(slot),
            None => self.shared.push(slot),
        }
    }
}
