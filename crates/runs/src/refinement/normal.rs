//! The specification of a refinement, made deterministic on the fly: a node is the set of all states that it may be in
//! after some events, closed under internal steps.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{EventId, Graph, INTERNAL, Side, Trouble};
use super::symmetries::{IDENTITY, TurnId};
use quotient_search::{StopReason, TransitionSystem};
use quotient_states::store::StateNumber;

/// A node by its number.
pub(crate) type NodeId = u32;

struct Node {
    /// In order.
    members: Rc<[StateNumber]>,
    after: FxHashMap<EventId, Option<NodeId>>,
    diverges: Option<bool>,
    /// The events of states without internal steps, without sets that contain others; each in order.
    acceptances: Option<Rc<[Box<[EventId]>]>>,
}

/// All nodes that were needed.
#[derive(Default)]
pub(crate) struct Nodes {
    nodes: Vec<Node>,
    numbers: FxHashMap<Rc<[StateNumber]>, NodeId>,
    /// The images of nodes under turns.
    images: FxHashMap<(NodeId, TurnId), NodeId>,
    /// The number of members of all nodes.
    size: usize,
}

impl Nodes {
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.nodes.len() * (size_of::<Node>() + 64)
            + self.size * size_of::<StateNumber>()
            + self.images.capacity() * 16) as u64
    }

    /// The node of states and what internal steps lead to.
    pub(crate) fn closed<S: TransitionSystem>(
        &mut self,
        graph: &mut Graph<'_, '_, S>,
        states: Vec<StateNumber>,
    ) -> Result<NodeId, Trouble> {
        let mut seen: FxHashSet<StateNumber> = states.iter().copied().collect();
        let mut pending: Vec<StateNumber> = seen.iter().copied().collect();
        while let Some(state) = pending.pop() {
            for next in graph.internal(Side::Specification, state)? {
                if seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        for &state in &seen {
            graph.check_specified(state)?;
        }
        Ok(self.of_members(seen.into_iter().collect())?)
    }

    /// The node of states, which is closed.
    fn of_members(&mut self, mut members: Vec<StateNumber>) -> Result<NodeId, StopReason> {
        members.sort_unstable();
        let members: Rc<[StateNumber]> = members.into();
        if let Some(&known) = self.numbers.get(&members) {
            return Ok(known);
        }
        let number = NodeId::try_from(self.nodes.len()).map_err(|_| StopReason::TooManyStates)?;
        self.size += members.len();
        self.numbers.insert(members.clone(), number);
        self.nodes.push(Node { members, after: FxHashMap::default(), diverges: None, acceptances: None });
        Ok(number)
    }

    /// The image of a node under a turn.
    pub(crate) fn turned<S: TransitionSystem>(
        &mut self,
        graph: &mut Graph<'_, '_, S>,
        node: NodeId,
        turn: TurnId,
    ) -> Result<NodeId, Trouble> {
        if turn == IDENTITY {
            return Ok(node);
        }
        if let Some(&known) = self.images.get(&(node, turn)) {
            return Ok(known);
        }
        let mut members = Vec::new();
        for &member in self.nodes[node as usize].members.iter() {
            members.push(graph.turned(member, turn)?);
        }
        let image = self.of_members(members)?;
        self.images.insert((node, turn), image);
        Ok(image)
    }

    /// The node after an event; none if it is not possible.
    pub(crate) fn after<S: TransitionSystem>(
        &mut self,
        graph: &mut Graph<'_, '_, S>,
        node: NodeId,
        event: EventId,
    ) -> Result<Option<NodeId>, Trouble> {
        if let Some(&known) = self.nodes[node as usize].after.get(&event) {
            return Ok(known);
        }
        let mut next: Vec<StateNumber> = Vec::new();
        for &member in self.nodes[node as usize].members.clone().iter() {
            let steps = graph.steps(member)?;
            let first = steps.partition_point(|(other, _)| *other < event);
            let same = steps[first..].iter().take_while(|(other, _)| *other == event);
            next.extend(same.map(|(_, state)| *state));
        }
        let after = if next.is_empty() { None } else { Some(self.closed(graph, next)?) };
        self.nodes[node as usize].after.insert(event, after);
        Ok(after)
    }

    /// Whether internal steps can go on forever in some state of a node.
    pub(crate) fn diverges<S: TransitionSystem>(
        &mut self,
        graph: &mut Graph<'_, '_, S>,
        node: NodeId,
    ) -> Result<bool, Trouble> {
        if let Some(known) = self.nodes[node as usize].diverges {
            return Ok(known);
        }
        let mut diverges = false;
        for &member in self.nodes[node as usize].members.clone().iter() {
            if graph.diverges(Side::Specification, member)? {
                diverges = true;
                break;
            }
        }
        self.nodes[node as usize].diverges = Some(diverges);
        Ok(diverges)
    }

    /// The least sets of events of states without internal steps. One of them is always accepted, unless there are none.
    pub(crate) fn acceptances<S: TransitionSystem>(
        &mut self,
        graph: &mut Graph<'_, '_, S>,
        node: NodeId,
    ) -> Result<Rc<[Box<[EventId]>]>, Trouble> {
        if let Some(known) = &self.nodes[node as usize].acceptances {
            return Ok(known.clone());
        }
        let mut sets: Vec<Box<[EventId]>> = Vec::new();
        for &member in self.nodes[node as usize].members.clone().iter() {
            let ready = graph.ready(Side::Specification, member)?;
            if ready.first() == Some(&INTERNAL) || sets.iter().any(|set| is_subset(set, &ready)) {
                continue;
            }
            sets.retain(|set| !is_subset(&ready, set));
            sets.push(ready);
        }
        sets.sort_unstable();
        let sets: Rc<[Box<[EventId]>]> = sets.into();
        self.nodes[node as usize].acceptances = Some(sets.clone());
        Ok(sets)
    }

    /// The visible events that are possible in some state of a node.
    pub(crate) fn events<S: TransitionSystem>(
        &self,
        graph: &mut Graph<'_, '_, S>,
        node: NodeId,
    ) -> Result<Vec<EventId>, Trouble> {
        let mut events = Vec::new();
        for &member in self.nodes[node as usize].members.iter() {
            events.extend(graph.ready(Side::Specification, member)?.iter().copied().filter(|&event| event != INTERNAL));
        }
        events.sort_unstable();
        events.dedup();
        Ok(events)
    }

    /// Whether all states of a node are in another one.
    pub(crate) fn is_within(&self, node: NodeId, other: NodeId) -> bool {
        node == other || is_subset(&self.nodes[node as usize].members, &self.nodes[other as usize].members)
    }
}

/// Whether a list in order has only elements of another one.
pub(crate) fn is_subset<T: Ord>(left: &[T], right: &[T]) -> bool {
    if left.len() > right.len() {
        return false;
    }
    let mut rest = right;
    for element in left {
        let position = rest.partition_point(|other| other < element);
        match rest.get(position) {
            Some(other) if other == element => rest = &rest[position + 1..],
            _ => return false,
        }
    }
    true
}
