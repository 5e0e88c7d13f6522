//! Places: their locations, as far as known, and how they are read.

use quotient_ir::{ExprId, PlaceId, Root, Step, TableIndex, TypeId, TypeKind};

use super::{Binding, Specialiser, Unsupported};
use crate::evaluator::code::{Address, AddressId, Value};
use crate::slot_domain::SlotDomain;

/// The location of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub(super) base: Base,
    /// The type of the value there.
    pub(super) ty: TypeId,
}

/// The start of a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    /// At a slot of the state.
    Slot(u32),
    /// At a cell of the frame.
    Cell(u32),
    /// At a computed address.
    Dynamic(AddressId),
}

/// What is known about the contents of a scalar place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Contents {
    /// They are in a slot.
    Slot(u32),
    /// They are the value of an expression.
    Value(Value),
}

impl Specialiser<'_> {
    /// The location of a place. Not for locals whose value is known.
    pub(super) fn locate(&mut self, place: PlaceId) -> Result<Location, Unsupported> {
        self.nested(|specialiser| specialiser.locate_here(place))
    }

    fn locate_here(&mut self, place: PlaceId) -> Result<Location, Unsupported> {
        let entry = &self.model.pool[place];
        let mut location = match &entry.root {
            Root::Variable(variable) => {
                let slot = self.layout.first_slot(*variable).position() as u32;
                Location { base: Base::Slot(slot), ty: self.model.variables[*variable].ty }
            }
            Root::Local(local) => {
                let ty = self.scope().locals[*local].ty;
                match self.binding(*local) {
                    Binding::Cells { first, parameter } => {
                        self.context.reads_parameters |= parameter;
                        Location { base: Base::Cell(first), ty }
                    }
                    Binding::Place(location) => location,
                    Binding::Nothing | Binding::Known(_) => return Err(Unsupported),
                }
            }
            Root::Result { function, arguments } => {
                let (command, cell) = self.call(*function, arguments)?;
                let ty = self.model.functions[*function].result.ok_or(Unsupported)?;
                let address = self.code.addresses.add(Address::Frame(cell));
                let base = Base::Dynamic(self.code.addresses.add(Address::After { command, address }));
                Location { base, ty }
            }
            Root::Choice { condition, then, otherwise } => {
                let condition = self.test(*condition)?;
                let then = self.locate(*then)?;
                let otherwise = self.locate(*otherwise)?;
                let address = Address::Choice {
                    condition: self.code.tests.add(condition),
                    then: self.address_of(then),
                    otherwise: self.address_of(otherwise),
                };
                Location { base: Base::Dynamic(self.code.addresses.add(address)), ty: then.ty }
            }
        };
        for step in &entry.steps {
            location = self.step(location, *step)?;
        }
        Ok(location)
    }

    /// One step of a path.
    fn step(&mut self, location: Location, step: Step) -> Result<Location, Unsupported> {
        let model = self.model;
        match (step, &model.types[location.ty].kind) {
            (Step::Field(field), TypeKind::Record { fields }) => {
                let offset = self.facts[location.ty].field_offsets[field as usize];
                Ok(Location { base: self.offset(location.base, offset), ty: fields[field as usize].ty })
            }
            (Step::Index(index), TypeKind::Array { element, .. }) => {
                let stride = self.cells(*element)?;
                let base = self.element(location, index, stride)?;
                Ok(Location { base, ty: *element })
            }
            (Step::Index(index), TypeKind::Multiset { element, .. }) => {
                let present = self.position(location, index)?;
                let base = Base::Dynamic(self.code.addresses.add(Address::AfterPresent(present)));
                Ok(Location { base, ty: *element })
            }
            _ => Err(Unsupported),
        }
    }

    /// The address of the "present" cell of a position of a multiset.
    pub(super) fn position(&mut self, multiset: Location, index: ExprId) -> Result<AddressId, Unsupported> {
        let TypeKind::Multiset { element, .. } = self.model.types[multiset.ty].kind else {
            return Err(Unsupported);
        };
        let stride = self.cells(element)?.checked_add(1).ok_or(Unsupported)?;
        let base = self.element(multiset, index, stride)?;
        Ok(self.address_of(Location { base, ty: multiset.ty }))
    }

    /// The element at an index of an array or multiset.
    fn element(&mut self, location: Location, index: ExprId, stride: u32) -> Result<Base, Unsupported> {
        // A multiset without positions has no domain, and every index into it is out of range.
        let domain = self.facts[location.ty].domain.clone();
        let index = self.value(index)?;
        if self.is_nowhere(location.base) {
            return Ok(location.base);
        }
        let Some(domain) = domain else {
            return Ok(Base::Dynamic(self.code.addresses.add(Address::Escape)));
        };
        if let Value::Constant(value) = index {
            return Ok(match domain.code_of(value) {
                Some(code) => self.offset(location.base, code as u32 * stride),
                None => Base::Dynamic(self.code.addresses.add(Address::Escape)),
            });
        }
        self.note_index(&index);
        let index = self.code.values.add(index);
        let count = u32::try_from(domain.size()).map_err(|_| Unsupported)?;
        let address = match (location.base, domain.pieces()) {
            (Base::Slot(slot), &[(first, _)]) => Address::SlotElement { slot, index, first, count, stride },
            (_, &[(first, _)]) => Address::Element { base: self.address_of(location), index, first, count, stride },
            _ => {
                let domain = self.code.domains.add(SlotDomain::new(&domain));
                Address::ElementOf { base: self.address_of(location), index, domain, stride }
            }
        };
        Ok(Base::Dynamic(self.code.addresses.add(address)))
    }

    /// Whether the location does not exist.
    pub(super) fn is_nowhere(&self, base: Base) -> bool {
        matches!(base, Base::Dynamic(address) if self.code.addresses[address] == Address::Escape)
    }

    pub(super) fn offset(&mut self, base: Base, cells: u32) -> Base {
        match base {
            _ if cells == 0 || self.is_nowhere(base) => base,
            Base::Slot(slot) => Base::Slot(slot + cells),
            Base::Cell(cell) => Base::Cell(cell + cells),
            Base::Dynamic(base) => Base::Dynamic(self.code.addresses.add(Address::Offset { base, cells })),
        }
    }

    /// A location as an address that the machine can compute.
    pub(super) fn address_of(&mut self, location: Location) -> AddressId {
        match location.base {
            Base::Slot(slot) => self.code.addresses.add(Address::Slot(slot)),
            Base::Cell(cell) => self.code.addresses.add(Address::Frame(cell)),
            Base::Dynamic(address) => address,
        }
    }

    /// What is known about the contents of a scalar place.
    pub(super) fn read(&mut self, place: PlaceId) -> Result<Contents, Unsupported> {
        if let Some(value) = self.known(place) {
            return Ok(Contents::Value(Value::Constant(value)));
        }
        Ok(match self.locate(place)?.base {
            Base::Slot(slot) => match self.constants.get(slot as usize) {
                Some(&Some(value)) => Contents::Value(Value::Constant(value)),
                _ => Contents::Slot(slot),
            },
            Base::Cell(cell) => Contents::Value(Value::Cell(cell)),
            base if self.is_nowhere(base) => Contents::Value(Value::Escape),
            Base::Dynamic(address) => Contents::Value(Value::Load(address)),
        })
    }

    /// The contents of a place as a value.
    pub(super) fn value_of(&mut self, contents: Contents) -> Value {
        let slot = match contents {
            Contents::Value(value) => return value,
            Contents::Slot(slot) => slot,
        };
        let slot_code = &self.code.slots[slot as usize];
        if !slot_code.domain.is_interval() {
            return Value::Load(self.code.addresses.add(Address::Slot(slot)));
        }
        let field = slot_code.field;
        if slot_code.width == 0 && !field.partial {
            return Value::Constant(slot_code.domain.low);
        }
        Value::Field {
            word: field.word,
            shift: field.shift,
            width: slot_code.width,
            partial: field.partial,
            offset: slot_code.domain.low.wrapping_sub(i64::from(field.partial)),
        }
    }

    /// Whether values of two types have the same cell layout and the same ranges.
    pub(super) fn same_layout(&self, left: TypeId, right: TypeId) -> bool {
        if left == right {
            return true;
        }
        match (&self.model.types[left].kind, &self.model.types[right].kind) {
            (TypeKind::Array { element: left_element, .. }, TypeKind::Array { element: right_element, .. }) => {
                self.facts[left].domain == self.facts[right].domain && self.same_layout(*left_element, *right_element)
            }
            (TypeKind::Record { fields: left_fields }, TypeKind::Record { fields: right_fields }) => {
                let mut pairs = left_fields.iter().zip(right_fields);
                left_fields.len() == right_fields.len()
                    && pairs.all(|(left, right)| self.same_layout(left.ty, right.ty))
            }
            (
                TypeKind::Multiset { capacity: left_capacity, element: left_element },
                TypeKind::Multiset { capacity: right_capacity, element: right_element },
            ) => left_capacity == right_capacity && self.same_layout(*left_element, *right_element),
            _ => {
                self.model.is_scalar(left)
                    && self.model.is_scalar(right)
                    && self.facts[left].domain == self.facts[right].domain
            }
        }
    }

    /// The value of a local, if it is known and the place is that local.
    pub(super) fn known(&self, place: PlaceId) -> Option<i64> {
        let entry = &self.model.pool[place];
        match (&entry.root, entry.steps.is_empty()) {
            (Root::Local(local), true) => match self.binding(*local) {
                Binding::Known(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }
}
