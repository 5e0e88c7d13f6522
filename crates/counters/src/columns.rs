//! Where the cells of declarations are when processes are counted: a declaration is cut into columns, each of which has
//! one cell, one for each object of a family, or one for each pair of objects.

use std::cell::RefCell;

use quotient_ir::{
    Domain, FunctionId, Layout, LocalId, LocalKind, Model, SlotId, Span, Table, TableIndex, TypeId, VariableId,
};
use quotient_symmetry::{Role, Scope, Shape, TextSymmetries};
use rustc_hash::FxHashMap;

use super::Refused;
use super::numbered::Numbers;
use super::sums::Sums;

/// A class of values that are permuted freely: its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// The first value; the others follow it.
    pub(crate) first: i64,
    /// The number of values.
    pub(crate) size: u64,
}

impl Family {
    pub(crate) fn contains(&self, value: i64) -> bool {
        value >= self.first && (value.wrapping_sub(self.first) as u64) < self.size
    }

    fn last(&self) -> i64 {
        self.first + (self.size - 1) as i64
    }

    /// Whether all values are in a set of values, or none; nothing if some are.
    pub(crate) fn is_within(&self, domain: &Domain) -> Option<bool> {
        let (first, last) = (self.first, self.last());
        // Pieces are apart from each other, so all are in one piece or none has all.
        if domain.pieces().iter().any(|&(low, high)| low <= first && last <= high) {
            return Some(true);
        }
        domain.pieces().iter().all(|&(low, high)| high < first || last < low).then_some(false)
    }
}

/// The structure of a value, for steps into it.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// The number of its columns.
    pub(crate) columns: usize,
    pub(crate) kind: FormKind,
}

#[derive(Clone, Debug)]
pub(crate) enum FormKind {
    /// A scalar, which may hold objects of some families.
    Scalar { ty: TypeId, families: Vec<usize> },
    /// An array: the columns of elements at other values come first, then those of each family.
    Array { domain: Domain, others: Option<Domain>, families: Vec<usize>, element: Box<Form> },
    /// A record, with the first column of each field.
    Record(Vec<(usize, Form)>),
    /// A multiset: a column that says whether there is an element, and those of the element, for each position.
    Multiset { capacity: usize, element: Box<Form> },
}

/// A column: cells of one scalar type.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// The families whose objects it may hold.
    pub(crate) families: Vec<usize>,
    pub(crate) may_be_undefined: bool,
    pub(crate) address: Address,
    /// The slot of the first objects, and the distance between those of two successive ones, for each dimension.
    pub(crate) slot: usize,
    pub(crate) strides: Vec<usize>,
}

/// Where the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// One cell.
    Single(usize),
    /// One for each object of a family, at this position of its row.
    Each(usize, usize),
    /// One for each pair of objects; those of an object with itself are in its row.
    Pairs { pair: usize, position: usize, diagonal: Option<usize> },
}

/// Positions of a multiset, from a first column on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultisetColumns {
    pub(crate) first: usize,
    pub(crate) capacity: usize,
    /// The columns of a position.
    pub(crate) stride: usize,
}

/// The columns of some declarations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) columns: Vec<Column>,
    pub(crate) singles: usize,
    /// The cells of a row of each family.
    pub(crate) widths: Vec<usize>,
    /// The cells of each sort of pairs.
    pub(crate) pair_widths: Vec<usize>,
    pub(crate) multisets: Vec<MultisetColumns>,
}

/// The columns of the locals of a scope.
#[derive(Clone, Debug)]
pub(crate) struct ScopeColumns {
    pub(crate) columns: Columns,
    /// The form and the first column of each local; references have no columns.
    pub(crate) locals: Vec<(Form, usize)>,
}

/// The columns of a model.
pub(crate) struct Scheme<'m> {
    pub(crate) model: &'m Model,
    pub(crate) families: Vec<Family>,
    /// The sorts of pairs that occur, by families.
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) globals: Columns,
    pub(crate) variables: Table<VariableId, (Form, usize)>,
    pub(crate) scopes: FxHashMap<Scope, ScopeColumns>,
    pub(crate) results: Vec<Option<Form>>,
    /// What tells the columns of the state apart.
    pub(crate) labels: Labels,
    /// The values of scalar types.
    pub(crate) domains: Vec<Option<Domain>>,
    /// The loops that only add up.
    pub(crate) sums: Sums,
    /// Whether states may have a stored form by numbers, and whether rows of a family may name other objects.
    pub(crate) has_numbers: bool,
    pub(crate) names_others: Vec<bool>,
    /// The rows and shared parts so far.
    pub(crate) numbers: RefCell<Numbers>,
}

impl<'m> Scheme<'m> {
    /// The columns for the families that the text of a model shows.
    ///
    /// # Errors
    /// If there are no families, or a declaration has no columns.
    pub(crate) fn new(model: &'m Model, layout: &Layout, text: &TextSymmetries) -> Result<Self, Refused> {
        let mut families = Vec::new();
        let mut roles: FxHashMap<Role, Vec<usize>> = FxHashMap::default();
        for (role, class) in text.free() {
            let (first, size) = (class[0], class.len() as u64);
            let is_contiguous = class.iter().zip(first..).all(|(&value, expected)| value == expected);
            if is_contiguous && size > 1 {
                roles.entry(*role).or_default().push(families.len());
                families.push(Family { first, size });
            }
        }
        if families.is_empty() {
            let reason = "the text shows no values that are freely interchangeable".to_owned();
            return Err(Refused { reason, span: Span::default() });
        }
        let mut builder = Builder { model, families: &families, roles: &roles, pairs: Vec::new() };
        let mut globals = builder.empty();
        let mut variables = Table::new();
        for (id, variable) in model.variables.iter_enumerated() {
            let form = builder.form(text.shapes().variable(id), variable.span)?;
            let slot = layout.first_slot(id).position();
            let first = globals.columns.len();
            let place = Placing { slot, dimensions: Vec::new(), may_be_undefined: variable.may_be_undefined };
            builder.place(&form, place, &mut globals, variable.span)?;
            variables.push((form, first));
        }
        let mut scopes = FxHashMap::default();
        for scope in Scope::all(model) {
            let mut own = ScopeColumns { columns: builder.empty(), locals: Vec::new() };
            for (id, local) in scope.locals(model).iter_enumerated() {
                let form = builder.form(text.shapes().local(scope, id), local.span)?;
                let first = own.columns.columns.len();
                if local.kind != LocalKind::Reference {
                    let place = Placing { slot: 0, dimensions: Vec::new(), may_be_undefined: true };
                    builder.place(&form, place, &mut own.columns, local.span)?;
                }
                own.locals.push((form, first));
            }
            scopes.insert(scope, own);
        }
        let mut results = Vec::new();
        for (id, function) in model.functions.iter_enumerated() {
            let form = text.shapes().result(id).map(|shape| builder.form(shape, function.span)).transpose()?;
            if let Some(form) = &form
                && has_families(form)
            {
                let reason = format!("`{}` returns an array over interchangeable values", function.name);
                return Err(Refused { reason, span: function.span });
            }
            results.push(form);
        }
        let pairs = builder.pairs;
        let mut areas: Vec<&mut Columns> = vec![&mut globals];
        areas.extend(scopes.values_mut().map(|scope: &mut ScopeColumns| &mut scope.columns));
        areas.into_iter().for_each(|area| area.pair_widths.resize(pairs.len(), 0));
        let domain = |ty: TypeId| model.is_scalar(ty).then(|| model.domain(ty));
        let domains = model.types.indices().map(domain).collect();
        let labels = labels(&globals, &pairs);
        let has_numbers = globals.multisets.is_empty() && globals.pair_widths.iter().all(|&width| width == 0);
        let names = |family: usize| {
            let is_of = |column: &&Column| matches!(column.address, Address::Each(of, _) if of == family);
            globals.columns.iter().filter(is_of).any(|column| !column.families.is_empty())
        };
        let names_others = (0..families.len()).map(names).collect();
        Ok(Self {
            model,
            families,
            pairs,
            globals,
            variables,
            scopes,
            results,
            labels,
            domains,
            sums: Sums::new(model),
            has_numbers,
            names_others,
            numbers: RefCell::default(),
        })
    }

    /// The values of a scalar type.
    pub(crate) fn domain(&self, ty: TypeId) -> &Domain {
        self.domains[ty.position()].as_ref().expect("verified: the type is scalar")
    }

    pub(crate) fn result(&self, function: FunctionId) -> &Form {
        self.results[function.position()].as_ref().expect("verified: the function has a result")
    }

    pub(crate) fn local(&self, scope: Scope, local: LocalId) -> &(Form, usize) {
        &self.scopes[&scope].locals[local.position()]
    }

    /// The slot of a cell of a column of the state, given the numbers of the objects.
    pub(crate) fn slot(&self, column: &Column, objects: &[usize]) -> SlotId {
        let offset: usize = column.strides.iter().zip(objects).map(|(stride, object)| stride * object).sum();
        SlotId::from_position(column.slot + offset)
    }
}

/// What tells columns apart: the positions of a multiset do not count.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    pub(crate) single: Vec<usize>,
    pub(crate) each: Vec<Vec<usize>>,
}

fn labels(columns: &Columns, pairs: &[(usize, usize)]) -> Labels {
    let mut labels: Vec<usize> = (0..columns.columns.len()).collect();
    // A nested multiset comes before the one around it.
    for multiset in &columns.multisets {
        for column in multiset.first..multiset.first + multiset.capacity * multiset.stride {
            labels[column] = labels[multiset.first + (column - multiset.first) % multiset.stride];
        }
    }
    let mut found =
        Labels { single: vec![0; columns.singles], each: columns.widths.iter().map(|&width| vec![0; width]).collect() };
    for (column, label) in columns.columns.iter().zip(labels) {
        match column.address {
            Address::Single(position) => found.single[position] = label,
            Address::Each(family, position) => found.each[family][position] = label,
            Address::Pairs { pair, diagonal, .. } => {
                if let Some(diagonal) = diagonal {
                    found.each[pairs[pair].0][diagonal] = label;
                }
            }
        }
    }
    found
}

/// Whether a form has an array over a family inside.
pub(crate) fn has_families(form: &Form) -> bool {
    match &form.kind {
        FormKind::Scalar { .. } => false,
        FormKind::Array { families, element, .. } => !families.is_empty() || has_families(element),
        FormKind::Record(fields) => fields.iter().any(|(_, field)| has_families(field)),
        FormKind::Multiset { element, .. } => has_families(element),
    }
}

struct Builder<'a> {
    model: &'a Model,
    families: &'a [Family],
    roles: &'a FxHashMap<Role, Vec<usize>>,
    pairs: Vec<(usize, usize)>,
}

/// Where a part of a declaration is.
#[derive(Clone)]
struct Placing {
    slot: usize,
    /// The families of the arrays around it, and the distance of their elements.
    dimensions: Vec<(usize, usize)>,
    may_be_undefined: bool,
}

impl Builder<'_> {
    fn empty(&self) -> Columns {
        Columns { widths: vec![0; self.families.len()], ..Columns::default() }
    }

    /// The families of a role whose values are in a type.
    fn families_in(&self, role: Role, ty: TypeId, span: Span) -> Result<Vec<usize>, Refused> {
        let domain = self.model.domain(ty);
        let mut found = Vec::new();
        for &family in self.roles.get(&role).into_iter().flatten() {
            match self.families[family].is_within(&domain) {
                Some(true) => found.push(family),
                Some(false) => {}
                None => {
                    let reason = "a type has some of the values that are interchangeable".to_owned();
                    return Err(Refused { reason, span });
                }
            }
        }
        Ok(found)
    }

    fn form(&self, shape: &Shape, span: Span) -> Result<Form, Refused> {
        Ok(match shape {
            Shape::Scalar { role, ty } => {
                let families = self.families_in(*role, *ty, span)?;
                Form { columns: 1, kind: FormKind::Scalar { ty: *ty, families } }
            }
            Shape::Array { role, index, element } => {
                let families = self.families_in(*role, *index, span)?;
                let element = Box::new(self.form(element, span)?);
                let domain = self.model.domain(*index);
                let others = without(&domain, families.iter().map(|&family| self.families[family]));
                let blocks = others.as_ref().map_or(0, |others| others.size() as usize) + families.len();
                let columns = blocks * element.columns;
                Form { columns, kind: FormKind::Array { domain, others, families, element } }
            }
            Shape::Record(shapes) => {
                let mut fields = Vec::with_capacity(shapes.len());
                let mut columns = 0;
                for shape in shapes {
                    let field = self.form(shape, span)?;
                    let first = columns;
                    columns += field.columns;
                    fields.push((first, field));
                }
                Form { columns, kind: FormKind::Record(fields) }
            }
            Shape::Multiset { capacity, element } => {
                let element = Box::new(self.form(element, span)?);
                if has_families(&element) {
                    let reason = "a multiset has arrays over interchangeable values as elements".to_owned();
                    return Err(Refused { reason, span });
                }
                let capacity = *capacity as usize;
                let columns = capacity * (1 + element.columns);
                Form { columns, kind: FormKind::Multiset { capacity, element } }
            }
        })
    }

    /// Gives a part of a declaration its columns.
    fn place(&mut self, form: &Form, placing: Placing, into: &mut Columns, span: Span) -> Result<(), Refused> {
        match &form.kind {
            FormKind::Scalar { families, .. } => self.push(families.clone(), placing, into, span),
            FormKind::Array { domain, others, families, element } => {
                let cells = self.cells(element);
                let code = |value: i64| domain.code_of(value).expect("the value is an index") as usize;
                for value in others.iter().flat_map(Domain::values) {
                    let inner = Placing { slot: placing.slot + code(value) * cells, ..placing.clone() };
                    self.place(element, inner, into, span)?;
                }
                for &family in families {
                    let slot = placing.slot + code(self.families[family].first) * cells;
                    let mut inner = Placing { slot, ..placing.clone() };
                    inner.dimensions.push((family, cells));
                    self.place(element, inner, into, span)?;
                }
                Ok(())
            }
            FormKind::Record(fields) => {
                let mut slot = placing.slot;
                for (_, field) in fields {
                    self.place(field, Placing { slot, ..placing.clone() }, into, span)?;
                    slot += self.cells(field);
                }
                Ok(())
            }
            FormKind::Multiset { capacity, element } => {
                if placing.dimensions.len() > 1 {
                    let reason = "an array over pairs of interchangeable values holds multisets".to_owned();
                    return Err(Refused { reason, span });
                }
                let first = into.columns.len();
                let cells = 1 + self.cells(element);
                for position in 0..*capacity {
                    let slot = placing.slot + position * cells;
                    let present = Placing { slot, may_be_undefined: false, ..placing.clone() };
                    self.push(Vec::new(), present, into, span)?;
                    let inner = Placing { slot: slot + 1, may_be_undefined: true, ..placing.clone() };
                    self.place(element, inner, into, span)?;
                }
                into.multisets.push(MultisetColumns { first, capacity: *capacity, stride: 1 + element.columns });
                Ok(())
            }
        }
    }

    fn push(&mut self, families: Vec<usize>, placing: Placing, into: &mut Columns, span: Span) -> Result<(), Refused> {
        let address = match placing.dimensions[..] {
            [] => {
                into.singles += 1;
                Address::Single(into.singles - 1)
            }
            [(family, _)] => {
                into.widths[family] += 1;
                Address::Each(family, into.widths[family] - 1)
            }
            [(row, _), (column, _)] if families.is_empty() => {
                let known = self.pairs.iter().position(|pair| *pair == (row, column));
                let pair = known.unwrap_or_else(|| {
                    self.pairs.push((row, column));
                    self.pairs.len() - 1
                });
                into.pair_widths.resize(self.pairs.len().max(into.pair_widths.len()), 0);
                into.pair_widths[pair] += 1;
                let diagonal = (row == column).then(|| {
                    into.widths[row] += 1;
                    into.widths[row] - 1
                });
                Address::Pairs { pair, position: into.pair_widths[pair] - 1, diagonal }
            }
            [_, _] => {
                let reason = "an array over pairs of interchangeable values holds such values".to_owned();
                return Err(Refused { reason, span });
            }
            _ => {
                let reason = "an array has more than two dimensions over interchangeable values".to_owned();
                return Err(Refused { reason, span });
            }
        };
        let strides = placing.dimensions.iter().map(|(_, stride)| *stride).collect();
        let Placing { slot, may_be_undefined, .. } = placing;
        into.columns.push(Column { families, may_be_undefined, address, slot, strides });
        Ok(())
    }

    /// The number of slots of a value.
    fn cells(&self, form: &Form) -> usize {
        match &form.kind {
            FormKind::Scalar { .. } => 1,
            FormKind::Array { domain, element, .. } => domain.size() as usize * self.cells(element),
            FormKind::Record(fields) => fields.iter().map(|(_, field)| self.cells(field)).sum(),
            FormKind::Multiset { capacity, element } => capacity * (1 + self.cells(element)),
        }
    }
}

/// The values of a domain that are in none of some families that are within it.
fn without(domain: &Domain, families: impl Iterator<Item = Family>) -> Option<Domain> {
    let mut pieces = domain.pieces().to_vec();
    for family in families {
        let (first, last) = (family.first, family.last());
        let cut = |(low, high): (i64, i64)| {
            let before = (low < first).then(|| (low, high.min(first - 1)));
            let after = (high > last).then(|| (low.max(last + 1), high));
            let is_apart = high < first || low > last;
            if is_apart { vec![(low, high)] } else { before.into_iter().chain(after).collect() }
        };
        pieces = pieces.into_iter().flat_map(cut).collect();
    }
    (!pieces.is_empty()).then(|| Domain::union(pieces))
}
