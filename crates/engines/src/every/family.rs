//! What the members of a family of models share: one text, of which a constant is the number of values of one type. These
//! values are called objects.
//!
//! Two members are compared expression by expression. They may differ in the number of objects, and in the numbers by
//! which other types of a union are encoded; everything else that depends on the constant is an obstacle.

use quotient_ir::{Layout, Model, SlotId, Span, TableIndex, TypeId, TypeKind, Valuation};

use super::comparison;

/// Why a claim about every size is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The reason.
    pub reason: String,
    /// The place in the text.
    pub span: Span,
}

impl Obstacle {
    pub(super) fn new(reason: impl Into<String>, span: Span) -> Self {
        Self { reason: reason.into(), span }
    }
}

/// The types whose values are objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objects {
    /// Types of nothing but objects.
    only: Vec<TypeId>,
    /// Unions of these and others.
    among: Vec<TypeId>,
}

impl Objects {
    /// The types that differ between two members.
    ///
    /// # Errors
    /// If there is none, or they differ in more than the number of values of one type.
    pub fn between(smaller: &Model, larger: &Model) -> Result<Self, Obstacle> {
        let whole = |reason: &str| Obstacle::new(reason, Span::default());
        if smaller.types.len() != larger.types.len() {
            return Err(whole("the constant decides which types there are"));
        }
        let mut only: Vec<TypeId> = Vec::new();
        for (id, ty) in smaller.types.iter_enumerated() {
            let is_one = match (&ty.kind, &larger.types[id].kind) {
                (TypeKind::Scalarset { size, .. }, TypeKind::Scalarset { size: other, .. }) => size != other,
                (TypeKind::Range { low, high }, TypeKind::Range { low: other_low, high: other_high }) => {
                    if low != other_low {
                        let reason =
                            format!("the constant decides with which number `{}` begins", type_name(smaller, id));
                        return Err(Obstacle::new(reason, use_of(smaller, id)));
                    }
                    high != other_high
                }
                _ => false,
            };
            if is_one {
                only.push(id);
            }
        }
        let Some(&first) = only.first() else {
            return Err(whole("no type has a number of values that depends on the constant"));
        };
        if let Some(&other) = only.iter().find(|&&other| {
            let kinds = [smaller, larger].map(|model| model.types[first].kind == model.types[other].kind);
            other != first && (kinds != [true, true] || matches!(smaller.types[first].kind, TypeKind::Scalarset { .. }))
        }) {
            let names = [first, other].map(|id| type_name(smaller, id));
            let reason = format!("two types depend on the constant: `{}` and `{}`", names[0], names[1]);
            return Err(Obstacle::new(reason, use_of(smaller, other)));
        }
        let among = smaller.types.iter_enumerated().filter(|(_, ty)| match &ty.kind {
            TypeKind::Union { members } => members.iter().any(|member| only.contains(member)),
            _ => false,
        });
        let among = among.map(|(id, _)| id).collect();
        let objects = Self { only, among };
        objects.compare(smaller, larger)?;
        Ok(objects)
    }

    /// The name of the type.
    pub fn name(&self, model: &Model) -> String {
        let named = self.only.iter().find_map(|&id| model.types[id].name.clone());
        named.unwrap_or_else(|| type_name(model, self.only[0]))
    }

    /// The number of objects of a member.
    pub fn count(&self, model: &Model) -> usize {
        usize::try_from(model.domain(self.only[0]).size()).unwrap_or(usize::MAX)
    }

    /// The objects of a member.
    pub fn values(&self, model: &Model) -> Vec<i64> {
        model.domain(self.only[0]).values().collect()
    }

    /// Whether values of a type may be objects.
    pub fn may_be(&self, ty: TypeId) -> bool {
        self.only.contains(&ty) || self.among.contains(&ty)
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
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => self.may_be(*index) || self.indexes(model, *element),
            TypeKind::Multiset { element, .. } => self.indexes(model, *element),
            TypeKind::Record { fields } => fields.iter().any(|field| self.indexes(model, field.ty)),
            _ => false,
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
                    self.only.contains(&id) || size == other
                }
                (TypeKind::Range { low, high }, TypeKind::Range { low: other_low, high: other_high }) => {
                    low == other_low && (self.only.contains(&id) || high == other_high)
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

/// The number that encodes the first value of an enumeration or scalarset, which may be a member of a union.
pub(super) fn first_of(model: &Model, ty: TypeId) -> i64 {
    match model.types[ty].kind {
        TypeKind::Enumeration { first, .. } | TypeKind::Scalarset { first, .. } => first,
        _ => 0,
    }
}

/// One member: a model with a number of objects, and which of its slots belong to which object.
#[derive(Clone, Debug)]
pub struct Member {
    /// The model.
    pub model: Model,
    /// Its layout.
    pub layout: Layout,
    /// How many objects it has.
    pub count: usize,
    /// The number that encodes the first object.
    first: i64,
    /// The slots that belong to no object, in an order that all members share.
    pub(super) shared: Vec<SlotId>,
    /// Of these, the ones that may name an object.
    pointers: Vec<bool>,
    /// The slots of each object, in an order that all objects of all members share.
    pub(super) rows: Vec<Vec<SlotId>>,
}

/// A value of a cell in a form that all members share.
pub(super) type Value = i64;

/// No value.
pub(super) const UNDEFINED: Value = i64::MIN;
/// The object with number `n` is `OBJECT + n`.
const OBJECT: Value = 1 << 60;
/// Values of the members of a union are numbered from multiples of this.
const UNION_STRIDE: Value = 1 << 40;

/// A state of a member: what is shared, with objects numbered in the order in which it names them; then the named
/// objects in this order, then the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Parts {
    pub(super) shared: Vec<Value>,
    pub(super) named: Vec<Vec<Value>>,
    pub(super) others: Vec<Vec<Value>>,
}

impl Member {
    /// A member of the family.
    ///
    /// # Errors
    /// If an object holds another one, or a cell belongs to two objects.
    pub fn new(model: Model, layout: Layout, objects: &Objects) -> Result<Self, Obstacle> {
        let count = objects.count(&model);
        let first = model.domain(objects.only[0]).least();
        let mut shared = Vec::new();
        let mut rows = vec![Vec::new(); count];
        for (variable, entry) in model.variables.iter_enumerated() {
            let mut next = layout.first_slot(variable).position();
            let mut split = Split { model: &model, objects, first, shared: &mut shared, rows: &mut rows };
            split
                .walk(entry.ty, None, &mut next)
                .map_err(|reason| Obstacle::new(format!("`{}` {reason}", entry.name), entry.span))?;
        }
        let pointers: Vec<bool> = shared.iter().map(|&slot| objects.may_be(layout.slots[slot].ty)).collect();
        let always = shared.iter().zip(&pointers).find(|(slot, is)| **is && !layout.slots[**slot].may_be_undefined);
        if let Some((&slot, _)) = always {
            let variable = &model.variables[layout.slots[slot].variable];
            let reason = format!("`{}` names the first object before anything happens", variable.name);
            return Err(Obstacle::new(reason, variable.span));
        }
        Ok(Self { model, layout, count, first, shared, pointers, rows })
    }

    /// How many objects the shared part can name at most.
    pub fn pointers(&self) -> usize {
        self.pointers.iter().filter(|is| **is).count()
    }

    /// The object that a number encodes.
    pub(super) fn object(&self, value: i64) -> Option<usize> {
        let position = usize::try_from(value.checked_sub(self.first)?).ok()?;
        (position < self.count).then_some(position)
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

    /// The object that a slot names, if it can name one and does.
    fn named_by(&self, slot: SlotId, value: Option<i64>) -> Option<usize> {
        let ty = self.layout.slots[slot].ty;
        let value = value?;
        // Members of a union have disjoint numbers.
        debug_assert!(self.model.domain(ty).contains(value));
        self.object(value)
    }

    /// Takes a state apart.
    pub(super) fn parts(&self, state: &Valuation) -> Parts {
        let (shared, names) = self.shared(state);
        let others = (0..self.count).filter(|object| !names.contains(object)).map(|object| self.row(state, object));
        Parts { shared, named: names.iter().map(|&object| self.row(state, object)).collect(), others: others.collect() }
    }

    /// What an object holds.
    pub(super) fn row(&self, state: &Valuation, object: usize) -> Vec<Value> {
        self.rows[object].iter().map(|&slot| self.encode(slot, state[slot])).collect()
    }

    /// What is shared, and the objects that it names, in order.
    pub(super) fn shared(&self, state: &Valuation) -> (Vec<Value>, Vec<usize>) {
        let mut names: Vec<usize> = Vec::new();
        let mut shared = Vec::with_capacity(self.shared.len());
        for (&slot, &is_pointer) in self.shared.iter().zip(&self.pointers) {
            let value = state[slot];
            let named = if is_pointer { self.named_by(slot, value) } else { None };
            shared.push(match named {
                Some(object) => {
                    let place = names.iter().position(|&known| known == object).unwrap_or_else(|| {
                        names.push(object);
                        names.len() - 1
                    });
                    OBJECT + place as i64
                }
                None => self.encode(slot, value),
            });
        }
        (shared, names)
    }

    /// Puts a state together: first the named objects, then the others.
    pub(super) fn state<'r>(&self, shared: &[Value], rows: impl Iterator<Item = &'r [Value]>) -> Valuation {
        let mut state = Valuation(vec![None; self.layout.slots.len()]);
        for (&slot, &value) in self.shared.iter().zip(shared) {
            state[slot] = if value >= OBJECT { Some(self.first + (value - OBJECT)) } else { self.decode(slot, value) };
        }
        for (slots, row) in self.rows.iter().zip(rows) {
            for (&slot, &value) in slots.iter().zip(row) {
                state[slot] = self.decode(slot, value);
            }
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
    pub(super) fn row_text(&self, row: &[Value]) -> String {
        let Some(slots) = self.rows.first() else { return String::new() };
        let cells = slots.iter().zip(row).filter(|(_, value)| **value != UNDEFINED);
        let texts = cells.map(|(&slot, &value)| {
            let name = &self.layout.slots[slot].name;
            format!("{} = {}", self.without_object(slot, name), self.value_text(slot, value))
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    /// The name of a slot of the first object, without the object.
    fn without_object(&self, slot: SlotId, name: &str) -> String {
        let variable = &self.model.variables[self.layout.slots[slot].variable];
        let mut ty = variable.ty;
        while let TypeKind::Array { index, element } = &self.model.types[ty].kind {
            if self.model.domain(*index).contains(self.first) && self.object(self.first).is_some() {
                let shown = format!("[{}]", self.model.value_name(*index, self.first));
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
    first: i64,
    shared: &'a mut Vec<SlotId>,
    rows: &'a mut Vec<Vec<SlotId>>,
}

impl Split<'_> {
    fn walk(&mut self, ty: TypeId, object: Option<usize>, next: &mut usize) -> Result<(), &'static str> {
        match &self.model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let is_by_object = self.objects.may_be(*index);
                if is_by_object && object.is_some() {
                    return Err("has a cell for each pair of objects, which is not supported");
                }
                for value in self.model.domain(*index).values() {
                    let place = usize::try_from(value - self.first).ok().filter(|&place| place < self.rows.len());
                    let own = if is_by_object { place } else { object };
                    self.walk(*element, own, next)?;
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
