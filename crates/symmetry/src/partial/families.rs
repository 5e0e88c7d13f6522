//! Families: types whose values name the parts of a state, and the action of permutations of these values on states.
//! Exchanging two values exchanges the parts of arrays that they index and the values themselves where they are stored.
//! This is the action that a scalarset declares, here for any index type; it is not assumed to be a symmetry of
//! anything.

use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Layout, Model, SlotId, TableIndex, TypeId, TypeKind};

use crate::explain::collect_index_types;
use crate::literals::Literals;

/// The largest type considered.
const LARGEST_FAMILY: u64 = 4096;
/// The largest number of members considered.
const MOST_MEMBERS: usize = 16_384;

/// Not a member.
pub(crate) const NOBODY: u16 = u16::MAX;

/// The families of a model. Their values are called members and are numbered consecutively, family by family.
#[derive(Clone, Debug)]
pub struct Families {
    list: Vec<Family>,
    members: usize,
    roles: Vec<Role>,
}

/// A type whose values are permuted.
#[derive(Clone, Debug)]
pub struct Family {
    /// The type.
    pub ty: TypeId,
    /// Its name.
    pub name: String,
    /// Its first member.
    pub first: usize,
    /// The number of members.
    pub size: usize,
    /// The name of each member.
    names: Vec<String>,
    values: Vec<i64>,
}

impl Family {
    /// The name of the member at a position.
    pub fn value_name(&self, position: usize) -> String {
        self.names[position].clone()
    }
    /// The value of the member at a position.
    pub fn value(&self, position: usize) -> i64 {
        self.values[position]
    }
    /// The member of a value.
    pub fn member(&self, value: i64) -> Option<usize> {
        self.values.binary_search(&value).ok().map(|position| self.first + position)
    }
}

/// Slots that differ only in the members on their paths: one for each choice of members.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    /// The slot for the first members.
    pub(crate) base: usize,
    /// The families whose members select the slot, with the distance between neighbours.
    pub(crate) axes: Vec<Axis>,
    /// The stored codes that denote members, if any do.
    pub(crate) held: Option<Held>,
}

/// A family on the path of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) first: usize,
    pub(crate) size: usize,
    pub(crate) stride: usize,
}

/// The stored codes of a slot that denote members.
#[derive(Clone, Debug)]
pub struct Held {
    /// By code.
    pub(crate) member_of: Box<[u16]>,
    /// By member; `u64::MAX` for those that cannot be stored here.
    pub(crate) code_of: Box<[u64]>,
}

impl Held {
    /// The member that a code denotes.
    pub fn member(&self, code: u64) -> Option<usize> {
        let member = *self.member_of.get(code as usize)?;
        (member != NOBODY).then_some(member as usize)
    }
    /// The code that denotes a member.
    pub fn code(&self, member: usize) -> u64 {
        self.code_of[member]
    }
    /// The code after members have moved to their images.
    pub(crate) fn image(&self, code: u64, place_of: &[usize]) -> u64 {
        self.member(code).map_or(code, |member| self.code_of[place_of[member]])
    }
}

impl Role {
    /// Every slot of the role with the members that select it.
    pub(crate) fn for_each_slot(&self, mut visit: impl FnMut(usize, &[usize])) {
        let mut members: Vec<usize> = self.axes.iter().map(|axis| axis.first).collect();
        loop {
            visit(self.slot(&members), &members);
            let mut axis = self.axes.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                members[axis] += 1;
                if members[axis] < self.axes[axis].first + self.axes[axis].size {
                    break;
                }
                members[axis] = self.axes[axis].first;
            }
        }
    }

    /// The slot that members select.
    pub(crate) fn slot(&self, members: &[usize]) -> usize {
        let offsets = self.axes.iter().zip(members).map(|(axis, member)| (member - axis.first) * axis.stride);
        self.base + offsets.sum::<usize>()
    }
}

impl Families {
    /// The families of the types that index arrays, and of scalarsets. A type involved in a multiset is excluded:
    /// elements have no fixed positions.
    pub(crate) fn candidates(model: &Model, layout: &Layout) -> Self {
        let mut types = Vec::new();
        for variable in model.variables.iter() {
            collect_index_types(model, variable.ty, &mut types);
        }
        for slot in layout.slots.iter() {
            let parts = match &model.types[slot.ty].kind {
                TypeKind::Union { members } => members.clone(),
                _ => vec![slot.ty],
            };
            for ty in parts {
                if matches!(model.types[ty].kind, TypeKind::Scalarset { .. }) && !types.contains(&ty) {
                    types.push(ty);
                }
            }
        }
        let mut beside_multisets = Vec::new();
        for variable in model.variables.iter() {
            types_around_multisets(model, variable.ty, &mut Vec::new(), false, &mut beside_multisets);
        }
        types.retain(|ty| {
            let size = model.domain(*ty).size();
            (2..=LARGEST_FAMILY).contains(&size) && *ty != Model::BOOLEAN && !beside_multisets.contains(ty)
        });
        Self::of_types(model, layout, &types)
    }

    /// The families of given types.
    pub(crate) fn of_types(model: &Model, layout: &Layout, types: &[TypeId]) -> Self {
        let mut list = Vec::new();
        let mut members = 0;
        for &ty in types {
            let values: Vec<i64> = model.domain(ty).values().collect();
            if members + values.len() > MOST_MEMBERS {
                continue;
            }
            let name = model.types[ty].name.clone().or_else(|| model.index_title(ty));
            let name = name.unwrap_or_else(|| "values".to_owned());
            let names = values.iter().map(|&value| model.index_value_title(ty, value)).collect();
            list.push(Family { ty, name, first: members, size: values.len(), names, values });
            members += list.last().map_or(0, |family: &Family| family.size);
        }
        let mut families = Self { list, members, roles: Vec::new() };
        for (variable, entry) in model.variables.iter_enumerated() {
            let first = layout.first_slot(variable).position();
            families.add_roles(model, layout, entry.ty, first, &mut Vec::new());
        }
        families
    }

    fn add_roles(&mut self, model: &Model, layout: &Layout, ty: TypeId, base: usize, axes: &mut Vec<Axis>) {
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let stride = model.cells(*element) as usize;
                match self.list.iter().find(|family| family.ty == *index) {
                    Some(family) => {
                        axes.push(Axis { first: family.first, size: family.size, stride });
                        self.add_roles(model, layout, *element, base, axes);
                        axes.pop();
                    }
                    None => {
                        for code in 0..model.domain(*index).size() as usize {
                            self.add_roles(model, layout, *element, base + code * stride, axes);
                        }
                    }
                }
            }
            TypeKind::Record { fields } => {
                let mut base = base;
                for field in fields {
                    self.add_roles(model, layout, field.ty, base, axes);
                    base += model.cells(field.ty) as usize;
                }
            }
            // No family involves it.
            TypeKind::Multiset { .. } => {}
            _ => {
                let held = self.held(model, layout, ty, SlotId::from_position(base));
                if !axes.is_empty() || held.is_some() {
                    self.roles.push(Role { base, axes: axes.clone(), held });
                }
            }
        }
    }

    fn held(&self, model: &Model, layout: &Layout, ty: TypeId, slot: SlotId) -> Option<Held> {
        let types = match &model.types[ty].kind {
            TypeKind::Union { members } => members.clone(),
            _ => vec![ty],
        };
        let entry = &layout.slots[slot];
        let mut code_of = vec![u64::MAX; self.members];
        let mut member_of = Vec::new();
        for family in self.list.iter().filter(|family| types.contains(&family.ty)) {
            for (position, &value) in family.values.iter().enumerate() {
                let code = entry.stored(Some(value))?;
                code_of[family.first + position] = code;
                if member_of.len() <= code as usize {
                    member_of.resize(code as usize + 1, NOBODY);
                }
                member_of[code as usize] = (family.first + position) as u16;
            }
        }
        (!member_of.is_empty()).then(|| Held { member_of: member_of.into(), code_of: code_of.into() })
    }

    /// The families.
    pub fn list(&self) -> &[Family] {
        &self.list
    }

    /// The total number of members.
    pub fn members(&self) -> usize {
        self.members
    }

    /// The family of a member.
    pub fn family_of(&self, member: usize) -> usize {
        self.list.iter().position(|family| member < family.first + family.size).expect("every member has a family")
    }

    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Whether a member is described completely by the contents of its own parts and by which shared variables hold it:
    /// no part of a member refers to a member, and no part belongs to two.
    pub fn are_plain(&self) -> bool {
        self.roles.iter().all(|role| match role.axes.len() {
            0 => true,
            1 => role.held.is_none(),
            _ => false,
        })
    }

    /// The image of an argument of an instance whose parameter has a given type.
    pub(crate) fn argument(&self, ty: TypeId, value: i64, place_of: &[usize]) -> i64 {
        match self.list.iter().find(|family| family.ty == ty) {
            Some(family) => match family.member(value) {
                Some(member) => family.value(place_of[member] - family.first),
                None => value,
            },
            None => value,
        }
    }

    /// A permutation of members (the image of each) as a permutation of literals. `None` if the literals are not closed
    /// under it.
    pub(crate) fn permutation(
        &self,
        layout: &Layout,
        literals: &Literals,
        place_of: &[usize],
    ) -> Option<SparsePermutation> {
        let mut moves: Vec<(Point, Point)> = Vec::new();
        let mut image_members = Vec::new();
        let mut complete = true;
        for role in &self.roles {
            role.for_each_slot(|slot, members| {
                image_members.clear();
                image_members.extend(members.iter().map(|&member| place_of[member]));
                let image = role.slot(&image_members);
                if image == slot && role.held.is_none() {
                    return;
                }
                let (slot, image) = (SlotId::from_position(slot), SlotId::from_position(image));
                let own = &literals.slots()[slot];
                if own.wide {
                    complete &= role.held.is_none();
                    moves.push((own.first, literals.slots()[image].first));
                    return;
                }
                for (position, &value) in own.values.iter().enumerate() {
                    let image_value = value.map(|value| match &role.held {
                        None => value,
                        Some(held) => {
                            let code = layout.slots[slot].stored(Some(value)).expect("a value of the slot");
                            layout.slots[image].value(held.image(code, place_of)).expect("members are values")
                        }
                    });
                    match literals.point(image, image_value) {
                        Some(point) => moves.push((own.first + position as Point, point)),
                        None => complete = false,
                    }
                }
            });
        }
        moves.retain(|(from, to)| from != to);
        if complete { SparsePermutation::from_moves(moves).ok() } else { None }
    }
}

/// The types on the paths to multisets and inside them.
fn types_around_multisets(model: &Model, ty: TypeId, path: &mut Vec<TypeId>, inside: bool, found: &mut Vec<TypeId>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            if inside {
                found.push(*index);
            }
            path.push(*index);
            types_around_multisets(model, *element, path, inside, found);
            path.pop();
        }
        TypeKind::Record { fields } => {
            for field in fields {
                types_around_multisets(model, field.ty, path, inside, found);
            }
        }
        TypeKind::Multiset { element, .. } => {
            found.extend_from_slice(path);
            types_around_multisets(model, *element, path, true, found);
        }
        TypeKind::Union { members } if inside => found.extend(members),
        _ if inside => found.push(ty),
        _ => {}
    }
}
