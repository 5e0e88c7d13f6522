//! The coloured graph of a model: a vertex for each slot, each literal, each event, claim and
//! function. An automorphism restricted to the literals is a symmetry of the model.
//!
//! The encoding is compact: only slots with more than one possible value have literals; if values are tied to their
//! numbers, their literals are coloured by them; relations over few slots are tables, and everything larger is a flat
//! unordered node. The vertex of a function is coloured by its height above the literals, so that an undirected edge
//! has a direction.

mod labels;
mod restriction;

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_functions::{
    Behaviour, Event, EventKey, InputMove, Instance, Linear, Multiset, Node, NodeId, Operation, Relation, Write,
    Written,
};
use quotient_groups::{ColouredGraph, GraphBuilder, Point, SparsePermutation};
use quotient_ir::{Action, Budget, Layout, Model, PropertyId, SlotId, Span, Spent, TableIndex};

use crate::watch::watch;
pub(crate) use restriction::restrict;

/// The colour of a vertex: what symmetries must preserve about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Colour {
    /// A slot whose values can permute: the number of values, and whether undefined is one of them.
    Slot {
        values: usize,
        undefined: bool,
    },
    /// A slot whose values are numbers.
    NumberSlot {
        values: Vec<Option<i64>>,
    },
    /// A slot that is fixed.
    FixedSlot(u32),
    /// An input of an action.
    Input {
        values: usize,
    },
    /// A column: the same cell of all elements of a multiset; with the numbers, if the values are tied to them.
    Column {
        capacity: u32,
        is_presence: bool,
        values: usize,
        undefined: bool,
        numbers: Option<Vec<Option<i64>>>,
        /// The number of the column, if all elements have the same value in it: exchanging it has no effect.
        constant: Option<u32>,
    },
    /// A position of a multiset.
    Position,
    Literal,
    Undefined,
    /// A literal of a slot whose values are numbers.
    Number(Option<i64>),
    Start,
    /// An effect of rules, with the number of instances that have it if that is preserved.
    Rule {
        instances: u128,
    },
    Claim(PropertyId),
    Role(Role),
    Function {
        kind: Kind,
        height: u32,
    },
    /// An object to be permuted as a whole.
    Whole,
    /// How a slot belongs to such an object.
    Belongs(u32),
    /// An object that must be fixed.
    Pinned(u32),
    /// Slots that may only be mapped to each other.
    Shape(u32),
}

/// Objects that an automorphism must additionally permute as wholes: whatever belongs to one is mapped to what belongs
/// to its image. A value of a type is such an object, with the slots that have it as an index and the literals with
/// that value; so is a process, with its variables and its instances of rules.
#[derive(Debug, Default)]
pub(crate) struct Wholes {
    /// The number of objects. Everything below refers to them by number.
    pub(crate) count: usize,
    /// Slots that belong to objects: the slot, how it belongs, and the object.
    pub(crate) slots: Vec<(u32, u32, usize)>,
    /// Literals that do: the slot, the position of the value, and the object.
    pub(crate) literals: Vec<(u32, usize, usize)>,
    /// Objects that must be fixed.
    pub(crate) pinned: Vec<usize>,
    /// The object that each event belongs to, if any.
    pub(crate) owners: FxHashMap<Instance, usize>,
    /// The shape of each slot of the state, if slots must keep it.
    pub(crate) shapes: Option<Vec<u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    Fault,
    FaultAt(Span),
    Dropped,
    Cover(PropertyId),
    Set,
    SetIf,
    When,
    SetNumber,
    Undefined,
    Add,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    False,
    True,
    In,
    NotIn,
    Table,
    Tuple,
    And,
    Or,
    Compare(Relation),
    LowSide(i64),
    HighSide(i64),
    Side(i64),
    Form(i64),
    Coefficient(i64),
    Product,
    Operation(Operation),
    Left,
    Right,
}

/// The graph of a behaviour and the meaning of its vertices.
#[derive(Debug)]
pub(crate) struct Encoding {
    pub(crate) graph: ColouredGraph,
    /// The vertex of each slot, if it has one.
    pub(crate) slots: Vec<Option<Point>>,
    /// The vertex of each literal, if it has one, by slot and position of the value.
    pub(crate) literals: Vec<Vec<Option<Point>>>,
    /// Whether the values of a slot are tied to their numbers.
    pub(crate) numbers: Vec<bool>,
    /// The label of each vertex.
    pub(crate) labels: Vec<String>,
    /// The number of slots that are slots of the state. Inputs follow, and the columns of multisets come last.
    state_slots: usize,
    input_end: usize,
    /// Whether a slot has too many values to list.
    wide: Vec<bool>,
    /// For each vertex of a slot or literal, that slot or literal.
    owners: FxHashMap<Point, (u32, Option<usize>)>,
    /// The vertex of each object.
    pub(crate) wholes: Vec<Point>,
}

impl Encoding {
    /// The vertices that determine the action of an automorphism on states, inputs and objects: first the objects, then
    /// slots, then literals.
    pub(crate) fn points(&self) -> Vec<Point> {
        let slots = self.slots.iter().copied().flatten();
        self.wholes.iter().copied().chain(slots).chain(self.literals.iter().flatten().copied().flatten()).collect()
    }

    /// The images of inputs under an automorphism.
    pub(crate) fn input_moves(&self, automorphism: &SparsePermutation) -> Vec<InputMove> {
        let mut moves = Vec::new();
        for from in self.state_slots..self.input_end {
            let Some(vertex) = self.slots[from] else { continue };
            let is_moved = automorphism.moves_point(vertex)
                || self.literals[from].iter().flatten().any(|&literal| automorphism.moves_point(literal));
            let Some(&(to, None)) = self.owners.get(&automorphism.image(vertex)).filter(|_| is_moved) else {
                continue;
            };
            let position_of = |(position, literal): (usize, &Option<Point>)| match literal {
                Some(literal) => match self.owners.get(&automorphism.image(*literal)) {
                    Some(&(_, Some(image))) => image as u16,
                    _ => position as u16,
                },
                None => position as u16,
            };
            let positions =
                (!self.wide[from]).then(|| self.literals[from].iter().enumerate().map(position_of).collect());
            moves.push(InputMove { from: from as u32, to, positions });
        }
        moves
    }

    /// The image of a column under an automorphism, and of the positions of its values; `None` if all are fixed.
    pub(crate) fn column_image(&self, column: u32, automorphism: &SparsePermutation) -> Option<(u32, Vec<usize>)> {
        let vertex = self.slots[column as usize]?;
        let literals = &self.literals[column as usize];
        let is_moved = automorphism.moves_point(vertex)
            || literals.iter().flatten().any(|&literal| automorphism.moves_point(literal));
        let &(to, _) = self.owners.get(&automorphism.image(vertex)).filter(|_| is_moved)?;
        let image = |(position, literal): (usize, &Option<Point>)| match literal {
            Some(literal) => match self.owners.get(&automorphism.image(*literal)) {
                Some(&(_, Some(image))) => image,
                _ => position,
            },
            None => position,
        };
        Some((to, literals.iter().enumerate().map(image).collect()))
    }

    /// The slot of the state that a vertex represents.
    pub(crate) fn slot_of_vertex(&self, vertex: Point) -> Option<SlotId> {
        match self.owners.get(&vertex) {
            Some(&(slot, None)) if (slot as usize) < self.state_slots => Some(SlotId::from_position(slot as usize)),
            _ => None,
        }
    }

    /// The literal of the state that a vertex represents.
    pub(crate) fn literal_of_vertex(&self, vertex: Point) -> Option<(SlotId, usize)> {
        match self.owners.get(&vertex) {
            Some(&(slot, Some(position))) if (slot as usize) < self.state_slots => {
                Some((SlotId::from_position(slot as usize), position))
            }
            _ => None,
        }
    }

    /// The position of a value in its slot.
    pub(crate) fn position_of_literal(&self, slot: SlotId, vertex: Point) -> usize {
        match self.owners.get(&vertex) {
            Some(&(owner, Some(position))) if owner as usize == slot.position() => position,
            _ => unreachable!("a literal goes to a literal of the slot that its slot goes to"),
        }
    }
}

struct Encoder<'b> {
    behaviour: &'b Behaviour,
    budget: &'b Budget,
    builder: GraphBuilder,
    colours: FxHashMap<Colour, u32>,
    vertex_colours: Vec<u32>,
    fixed: Vec<bool>,
    numbers: Vec<bool>,
    slots: Vec<Option<Point>>,
    literals: Vec<Vec<Option<Point>>>,
    /// Literals of wide slots, by their number.
    wide_literals: FxHashMap<(u32, i64), Point>,
    functions: FxHashMap<NodeId, Point>,
    heights: Vec<u32>,
}

/// Builds the graph. Vertices and edges draw on the budget.
///
/// # Errors
/// If the budget is spent.
pub(crate) fn encode(
    model: &Model,
    layout: &Layout,
    behaviour: &Behaviour,
    budget: &Budget,
) -> Result<Encoding, Spent> {
    encode_with(model, layout, behaviour, &Wholes::default(), budget)
}

/// The same, with additional objects that are permuted as wholes.
///
/// # Errors
/// If the budget is spent.
pub(crate) fn encode_with(
    model: &Model,
    layout: &Layout,
    behaviour: &Behaviour,
    wholes: &Wholes,
    budget: &Budget,
) -> Result<Encoding, Spent> {
    budget.spend(behaviour.circuit.len() as u64 / 16)?;
    let input_end = behaviour.slots + behaviour.inputs.iter().map(|(_, range)| range.len()).sum::<usize>();
    let slot_count = behaviour.circuit.slot_count();
    let mut fixed = vec![false; slot_count];
    for entry in &behaviour.fixed {
        let first = layout.first_slot(entry.variable).position();
        let cells = model.cells(model.variables[entry.variable].ty) as usize;
        fixed[first..first + cells].fill(true);
    }
    for entry in behaviour.multisets.iter().filter(|entry| fixed[entry.first as usize]).copied().collect::<Vec<_>>() {
        fixed[entry.columns as usize..(entry.columns + entry.stride) as usize].fill(true);
    }
    let reachable = reachable(behaviour, budget)?;
    let mut numbers = fixed.clone();
    for (node, _) in behaviour.circuit.nodes().zip(&reachable).filter(|&(_, &reached)| reached) {
        if let Node::SlotValue(slot) = behaviour.circuit.node(node) {
            numbers[*slot as usize] = true;
        }
    }
    for event in &behaviour.events {
        for write in event.writes.iter().chain(event.additions.iter().flatten()) {
            // A number is written unchanged.
            numbers[write.slot as usize] |= matches!(write.written, Written::Number { .. });
        }
    }
    for (slot, number) in numbers.iter_mut().enumerate() {
        // Amounts are added up, whatever rules do with them.
        let is_amount = || slot < behaviour.slots && model.is_amount(layout.slots[SlotId::from_position(slot)].ty);
        *number |= behaviour.circuit.is_wide(slot as u32) || is_amount();
    }
    for entry in behaviour.multisets.iter() {
        for column in 0..entry.stride {
            let slots =
                (0..entry.capacity).map(|position| entry.slot(position, column)).chain([entry.columns + column]);
            if column == 0 || slots.clone().any(|slot| numbers[slot as usize]) {
                slots.for_each(|slot| numbers[slot as usize] = true);
            }
        }
    }
    let literals = (0..slot_count).map(|slot| vec![None; behaviour.circuit.values(slot as u32).len()]).collect();
    let mut encoder = Encoder {
        behaviour,
        budget,
        builder: GraphBuilder::new(),
        colours: FxHashMap::default(),
        vertex_colours: Vec::new(),
        fixed,
        numbers,
        slots: vec![None; slot_count],
        literals,
        wide_literals: FxHashMap::default(),
        functions: FxHashMap::default(),
        heights: heights(behaviour, budget)?,
    };
    encoder.add_slots()?;
    encoder.add_multisets()?;
    let mut names = Vec::new();
    let mut event_vertices = FxHashMap::default();
    for (event, instances) in behaviour.distinct_events(budget)? {
        let vertex = encoder.add_event(event, instances)?;
        names.push((vertex, labels::event(model, event)));
        if !wholes.owners.is_empty() {
            event_vertices.insert((event.is_start(), event.key()), vertex);
        }
    }
    for claim in &behaviour.claims {
        let vertex = encoder.vertex(Colour::Claim(claim.property));
        encoder.attach(vertex, claim.condition)?;
        encoder.add_role(vertex, Role::Fault, claim.fault)?;
    }
    let whole_vertices = encoder.add_wholes(wholes, &event_vertices)?;
    let mut owners = FxHashMap::default();
    for slot in 0..slot_count {
        budget.spend(1)?;
        if let Some(vertex) = encoder.slots[slot] {
            owners.insert(vertex, (slot as u32, None));
        }
        for (position, vertex) in encoder.literals[slot].iter().enumerate() {
            if let Some(vertex) = vertex {
                owners.insert(*vertex, (slot as u32, Some(position)));
            }
        }
    }
    let labels = labels::all(model, layout, &encoder, names)?;
    let graph = encoder.builder.build_watched(&watch(budget)).expect("edges join vertices that exist").ok_or(Spent)?;
    Ok(Encoding {
        labels,
        owners,
        state_slots: behaviour.slots,
        input_end,
        wide: (0..slot_count as u32).map(|slot| behaviour.circuit.is_wide(slot)).collect(),
        graph,
        slots: encoder.slots,
        literals: encoder.literals,
        numbers: encoder.numbers,
        wholes: whole_vertices,
    })
}

fn roots(behaviour: &Behaviour) -> Vec<NodeId> {
    let mut roots: Vec<NodeId> = behaviour.events.iter().flat_map(Event::roots).collect();
    for claim in &behaviour.claims {
        roots.extend([claim.condition, claim.fault]);
    }
    roots
}

fn reachable(behaviour: &Behaviour, budget: &Budget) -> Result<Vec<bool>, Spent> {
    let mut reached = vec![false; behaviour.circuit.len()];
    let mut pending = roots(behaviour);
    while let Some(node) = pending.pop() {
        if !std::mem::replace(&mut reached[node.position()], true) {
            budget.spend(1)?;
            behaviour.circuit.node(node).for_each_child(|child| pending.push(child));
        }
    }
    Ok(reached)
}

/// The height of each function above the literals. Nodes come after their operands.
fn heights(behaviour: &Behaviour, budget: &Budget) -> Result<Vec<u32>, Spent> {
    let mut heights = vec![0u32; behaviour.circuit.len()];
    for (position, node) in behaviour.circuit.nodes().enumerate() {
        budget.spend(1)?;
        let node = behaviour.circuit.node(node);
        let mut below = 0;
        node.for_each_child(|child| below = below.max(heights[child.position()] + 1));
        heights[position] = match node {
            Node::In { .. } | Node::Table { .. } => 1,
            Node::SlotValue(_) => 0,
            // Sides, forms and coefficients lie between a node and its operands.
            Node::Compare { .. } | Node::Product(_) | Node::Operation { .. } => below + 3,
            _ => below,
        };
    }
    Ok(heights)
}

impl Encoder<'_> {
    fn vertex(&mut self, colour: Colour) -> Point {
        let next = self.colours.len() as u32;
        let colour = *self.colours.entry(colour).or_insert(next);
        self.vertex_colours.push(colour);
        self.builder.add_vertex(colour)
    }

    fn add_slots(&mut self) -> Result<(), Spent> {
        for slot in 0..self.slots.len() {
            let values = self.behaviour.circuit.values(slot as u32).to_vec();
            self.budget.spend(1 + values.len() as u64)?;
            if values.len() < 2 {
                continue;
            }
            let undefined = values[0].is_none();
            let colour = if self.fixed[slot] {
                Colour::FixedSlot(slot as u32)
            } else if let Some(colour) = self.column_colour(slot as u32) {
                colour
            } else if slot >= self.behaviour.slots {
                Colour::Input { values: values.len() }
            } else if self.numbers[slot] {
                Colour::NumberSlot { values: values.clone() }
            } else {
                Colour::Slot { values: values.len(), undefined }
            };
            self.slots[slot] = Some(self.vertex(colour));
            // Literals of number slots are created when something mentions them.
            if !self.numbers[slot] {
                for position in 0..values.len() {
                    self.literal(slot as u32, position);
                }
            }
        }
        Ok(())
    }

    /// The colour of a slot that is a column.
    fn column_colour(&self, slot: u32) -> Option<Colour> {
        let is_own = |entry: &&Multiset| (entry.columns..entry.columns + entry.stride).contains(&slot);
        let entry = self.behaviour.multisets.iter().find(is_own)?;
        let values = self.behaviour.circuit.values(slot);
        Some(Colour::Column {
            capacity: entry.capacity,
            is_presence: slot == entry.columns,
            values: values.len(),
            undefined: values[0].is_none(),
            numbers: self.numbers[slot as usize].then(|| values.to_vec()),
            constant: self.behaviour.multisets.is_constant(slot, values).then(|| slot - entry.columns),
        })
    }

    /// Connects the slots of multisets to their columns and positions.
    fn add_multisets(&mut self) -> Result<(), Spent> {
        let behaviour = self.behaviour;
        for entry in behaviour.multisets.iter() {
            for position in 0..entry.capacity {
                self.budget.spend(u64::from(entry.stride))?;
                let owner = self.vertex(Colour::Position);
                for column in 0..entry.stride {
                    let (slot, whole) = (entry.slot(position, column), entry.columns + column);
                    let (Some(vertex), Some(of_column)) = (self.slots[slot as usize], self.slots[whole as usize])
                    else {
                        continue;
                    };
                    self.builder.add_edge(owner, vertex);
                    self.builder.add_edge(vertex, of_column);
                    if !self.numbers[slot as usize] {
                        for value in 0..behaviour.circuit.values(slot).len() {
                            let (literal, of_column) = (self.literal(slot, value), self.literal(whole, value));
                            self.builder.add_edge(literal, of_column);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Connects slots, literals and events to the objects that they belong to.
    fn add_wholes(
        &mut self,
        wholes: &Wholes,
        events: &FxHashMap<(bool, EventKey), Point>,
    ) -> Result<Vec<Point>, Spent> {
        let vertices: Vec<Point> = (0..wholes.count).map(|_| self.vertex(Colour::Whole)).collect();
        self.budget.spend((wholes.count + wholes.slots.len() + wholes.literals.len()) as u64)?;
        for &(slot, manner, whole) in &wholes.slots {
            let Some(vertex) = self.slots[slot as usize] else { continue };
            let between = self.vertex(Colour::Belongs(manner));
            self.builder.add_edge(vertex, between);
            self.builder.add_edge(between, vertices[whole]);
        }
        for &(slot, position, whole) in &wholes.literals {
            if self.slots[slot as usize].is_some() {
                let literal = self.literal(slot, position);
                self.builder.add_edge(literal, vertices[whole]);
            }
        }
        for &whole in &wholes.pinned {
            let pin = self.vertex(Colour::Pinned(whole as u32));
            self.builder.add_edge(pin, vertices[whole]);
        }
        let mut joined = FxHashSet::default();
        for event in self.behaviour.events.iter().filter(|_| !wholes.owners.is_empty()) {
            self.budget.spend(1 + event.writes.len() as u64)?;
            let Some(&whole) = wholes.owners.get(&event.instance()) else { continue };
            let vertex = events[&(event.is_start(), event.key())];
            // Instances with the same effect share one vertex, which belongs to all of their objects.
            if joined.insert((vertex, whole)) {
                self.builder.add_edge(vertex, vertices[whole]);
            }
        }
        if let Some(shapes) = &wholes.shapes {
            let mut shape_vertices: FxHashMap<u32, Point> = FxHashMap::default();
            for (slot, &shape) in shapes.iter().enumerate() {
                let Some(vertex) = self.slots[slot] else { continue };
                let of_shape = match shape_vertices.get(&shape) {
                    Some(&of_shape) => of_shape,
                    None => {
                        let of_shape = self.vertex(Colour::Shape(shape));
                        shape_vertices.insert(shape, of_shape);
                        of_shape
                    }
                };
                self.builder.add_edge(vertex, of_shape);
            }
        }
        Ok(vertices)
    }

    fn literal(&mut self, slot: u32, position: usize) -> Point {
        if let Some(vertex) = self.literals[slot as usize][position] {
            return vertex;
        }
        let value = self.behaviour.circuit.values(slot)[position];
        let colour = match value {
            _ if self.numbers[slot as usize] => Colour::Number(value),
            None => Colour::Undefined,
            Some(_) => Colour::Literal,
        };
        let vertex = self.vertex(colour);
        let owner = self.slots[slot as usize].expect("only slots with several values have literals");
        self.builder.add_edge(owner, vertex);
        self.literals[slot as usize][position] = Some(vertex);
        vertex
    }

    /// The literal that a write sets.
    fn target(&mut self, slot: u32, value: Option<i64>) -> Point {
        if let Some(number) = value
            && self.behaviour.circuit.is_wide(slot)
        {
            if let Some(&vertex) = self.wide_literals.get(&(slot, number)) {
                return vertex;
            }
            let vertex = self.vertex(Colour::Number(value));
            let owner = self.slots[slot as usize].expect("a wide slot has several values");
            self.builder.add_edge(owner, vertex);
            self.wide_literals.insert((slot, number), vertex);
            return vertex;
        }
        let position =
            self.behaviour.circuit.values(slot).binary_search(&value).expect("every value written is possible");
        self.literal(slot, position)
    }

    fn add_event(&mut self, event: &Event, instances: u128) -> Result<Point, Spent> {
        let vertex = self.vertex(match event.action {
            Action::Start(_) => Colour::Start,
            Action::Rule(_) => Colour::Rule { instances },
        });
        if let Some((_, inputs)) = self.behaviour.inputs.iter().find(|(action, _)| *action == event.action) {
            for input in inputs.clone() {
                if let Some(input) = self.slots[input as usize] {
                    self.builder.add_edge(vertex, input);
                }
            }
        }
        if event.guard != NodeId::TRUE {
            self.attach(vertex, event.guard)?;
        }
        self.add_role(vertex, Role::Fault, event.fault)?;
        self.add_role(vertex, Role::Dropped, event.dropped)?;
        for &(property, condition) in &event.covers {
            self.add_role(vertex, Role::Cover(property), condition)?;
        }
        for &(span, condition) in &event.fault_places {
            self.add_role(vertex, Role::FaultAt(span), condition)?;
        }
        self.add_writes(vertex, &event.writes)?;
        for addition in &event.additions {
            let added = self.vertex(Colour::Role(Role::Add));
            self.builder.add_edge(vertex, added);
            self.add_writes(added, addition)?;
        }
        Ok(vertex)
    }

    fn add_writes(&mut self, vertex: Point, writes: &[Write]) -> Result<(), Spent> {
        for write in writes {
            self.budget.spend(1)?;
            if self.slots[write.slot as usize].is_none() {
                continue;
            }
            match &write.written {
                Written::Cases(cases) => {
                    for &(value, condition) in cases {
                        let target = self.target(write.slot, value);
                        if condition == NodeId::TRUE {
                            let set = self.vertex(Colour::Role(Role::Set));
                            self.builder.add_edge(vertex, set);
                            self.builder.add_edge(set, target);
                        } else {
                            let set = self.vertex(Colour::Role(Role::SetIf));
                            self.builder.add_edge(vertex, set);
                            self.builder.add_edge(set, target);
                            // The role distinguishes a condition that is itself a literal from the literal that is set.
                            let when = self.vertex(Colour::Role(Role::When));
                            self.builder.add_edge(set, when);
                            self.attach(when, condition)?;
                        }
                    }
                }
                Written::Number { when, undefined, value } => {
                    let set = self.vertex(Colour::Role(Role::SetNumber));
                    let slot = self.slots[write.slot as usize].expect("checked above");
                    self.builder.add_edge(vertex, set);
                    self.builder.add_edge(set, slot);
                    let form = self.form(value, Kind::Form(value.constant))?;
                    self.builder.add_edge(set, form);
                    if *when != NodeId::TRUE {
                        let role = self.vertex(Colour::Role(Role::When));
                        self.builder.add_edge(set, role);
                        self.attach(role, *when)?;
                    }
                    self.add_role(set, Role::Undefined, *undefined)?;
                }
            }
        }
        Ok(())
    }

    fn add_role(&mut self, owner: Point, role: Role, condition: NodeId) -> Result<(), Spent> {
        if condition != NodeId::FALSE {
            let vertex = self.vertex(Colour::Role(role));
            self.builder.add_edge(owner, vertex);
            self.attach(vertex, condition)?;
        }
        Ok(())
    }

    fn attach(&mut self, owner: Point, function: NodeId) -> Result<(), Spent> {
        let vertex = self.function(function)?;
        self.builder.add_edge(owner, vertex);
        Ok(())
    }

    /// The vertex of a function; operands are built first, without recursion.
    fn function(&mut self, function: NodeId) -> Result<Point, Spent> {
        let mut pending = vec![function];
        while let Some(&node) = pending.last() {
            if self.functions.contains_key(&node) {
                pending.pop();
                continue;
            }
            let before = pending.len();
            self.behaviour.circuit.node(node).for_each_child(|child| {
                if !self.functions.contains_key(&child) {
                    pending.push(child);
                }
            });
            if pending.len() == before {
                pending.pop();
                let edges = self.builder.edge_count();
                let vertex = self.function_vertex(node);
                self.functions.insert(node, vertex);
                self.budget.spend(1 + (self.builder.edge_count() - edges) as u64)?;
            }
        }
        Ok(self.functions[&function])
    }

    fn function_vertex(&mut self, id: NodeId) -> Point {
        let height = self.heights[id.position()];
        let behaviour = self.behaviour;
        match behaviour.circuit.node(id) {
            Node::False => self.vertex(Colour::Function { kind: Kind::False, height }),
            Node::True => self.vertex(Colour::Function { kind: Kind::True, height }),
            Node::In { slot, values } => {
                let size = behaviour.circuit.values(*slot).len();
                let inside: Vec<usize> = values.iter().collect();
                if let [only] = inside[..] {
                    return self.literal(*slot, only);
                }
                let (kind, mentioned) = if inside.len() * 2 <= size {
                    (Kind::In, inside)
                } else {
                    (Kind::NotIn, (0..size).filter(|position| inside.binary_search(position).is_err()).collect())
                };
                let vertex = self.vertex(Colour::Function { kind, height });
                for position in mentioned {
                    let literal = self.literal(*slot, position);
                    self.builder.add_edge(vertex, literal);
                }
                vertex
            }
            Node::Table { slots, tuples } => {
                let vertex = self.vertex(Colour::Function { kind: Kind::Table, height: height + 1 });
                for tuple in tuples {
                    let entry = self.vertex(Colour::Function { kind: Kind::Tuple, height });
                    self.builder.add_edge(vertex, entry);
                    for (&slot, &position) in slots.iter().zip(tuple.iter()) {
                        let literal = self.literal(slot, position as usize);
                        self.builder.add_edge(entry, literal);
                    }
                }
                vertex
            }
            Node::And(children) | Node::Or(children) => {
                let kind = if matches!(behaviour.circuit.node(id), Node::And(_)) { Kind::And } else { Kind::Or };
                let vertex = self.vertex(Colour::Function { kind, height });
                for child in children {
                    let child = self.functions[child];
                    self.builder.add_edge(vertex, child);
                }
                vertex
            }
            Node::Compare { relation, form } => {
                let vertex = self.vertex(Colour::Function { kind: Kind::Compare(*relation), height });
                // Positive terms and constant on one side, negative ones on the other.
                let side = |positive: bool| Linear {
                    constant: if (form.constant > 0) == positive { form.constant.saturating_abs() } else { 0 },
                    terms: form
                        .terms
                        .iter()
                        .filter(|&&(_, coefficient)| (coefficient > 0) == positive)
                        .map(|&(node, coefficient)| (node, coefficient.saturating_abs()))
                        .collect(),
                };
                for (positive, part) in [(true, side(true)), (false, side(false))] {
                    let kind = match relation {
                        Relation::NotPositive if positive => Kind::LowSide(part.constant),
                        Relation::NotPositive => Kind::HighSide(part.constant),
                        Relation::Zero | Relation::NotZero => Kind::Side(part.constant),
                    };
                    let side = self.form_at(&part, kind, height - 1);
                    self.builder.add_edge(vertex, side);
                }
                vertex
            }
            Node::SlotValue(slot) => self.slots[*slot as usize].expect("a number that varies has several values"),
            Node::Product(factors) => {
                let vertex = self.vertex(Colour::Function { kind: Kind::Product, height });
                for factor in factors {
                    let factor = self.form_at(factor, Kind::Form(factor.constant), height - 1);
                    self.builder.add_edge(vertex, factor);
                }
                vertex
            }
            Node::Operation { operation, left, right } => {
                let vertex = self.vertex(Colour::Function { kind: Kind::Operation(*operation), height });
                for (kind, operand) in [(Kind::Left, left), (Kind::Right, right)] {
                    let role = self.vertex(Colour::Function {
                        kind: if operation.commutes() { Kind::Left } else { kind },
                        height: height - 1,
                    });
                    self.builder.add_edge(vertex, role);
                    let form = self.form_at(operand, Kind::Form(operand.constant), height - 2);
                    self.builder.add_edge(role, form);
                }
                vertex
            }
        }
    }

    fn form(&mut self, form: &Linear, kind: Kind) -> Result<Point, Spent> {
        let below = form.terms.iter().map(|&(node, _)| self.heights[node.position()]).max().unwrap_or(0);
        for &(node, _) in &form.terms {
            self.function(node)?;
        }
        Ok(self.form_at(form, kind, below + 2))
    }

    fn form_at(&mut self, form: &Linear, kind: Kind, height: u32) -> Point {
        let vertex = self.vertex(Colour::Function { kind, height });
        let mut coefficients: Vec<(i64, Point)> = Vec::new();
        for &(node, coefficient) in &form.terms {
            let child = self.functions[&node];
            if coefficient == 1 {
                self.builder.add_edge(vertex, child);
                continue;
            }
            let between = match coefficients.iter().find(|&&(known, _)| known == coefficient) {
                Some(&(_, between)) => between,
                None => {
                    let between =
                        self.vertex(Colour::Function { kind: Kind::Coefficient(coefficient), height: height - 1 });
                    self.builder.add_edge(vertex, between);
                    coefficients.push((coefficient, between));
                    between
                }
            };
            self.builder.add_edge(between, child);
        }
        vertex
    }
}
