//! Sets of states as decision diagrams with one level for some slots each: a node of a level has a child for each content
//! of the slots, which says what the levels below can hold. No level is left out, equal nodes are one node, and children
//! that stand for nothing are not listed.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

/// A set of contents of all levels up to some level, by its number.
pub(super) type Node = u32;

/// No contents.
pub(super) const EMPTY: Node = 0;
/// Below all levels: there is nothing to hold.
pub(super) const BOTTOM: Node = 1;

/// A content of a level and what is below it.
pub(super) type Arc = (u32, Node);

/// There is no room.
pub(super) struct Full;

/// All nodes.
pub(super) struct Forest {
    /// The level of each node, and where its arcs begin. The last one begins where the next would.
    nodes: Vec<(u32, u32)>,
    arcs: Vec<Arc>,
    /// Nodes by the hash of their arcs, with open addressing.
    table: Vec<Node>,
    unions: FxHashMap<(Node, Node), Node>,
    /// The greatest number of bytes.
    bytes: u64,
}

impl Forest {
    pub(super) fn new(bytes: u64) -> Self {
        // The terminals have no arcs.
        let nodes = vec![(u32::MAX, 0); 3];
        Self { nodes, arcs: Vec::new(), table: vec![EMPTY; 1 << 10], unions: FxHashMap::default(), bytes }
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The bytes that nodes and what is known about them take, without what is reserved.
    pub(super) fn used(&self) -> u64 {
        let known = 20 * self.unions.len() as u64;
        8 * self.nodes.len() as u64 + 8 * self.arcs.len() as u64 + 4 * self.table.len() as u64 + known
    }

    pub(super) fn level(&self, node: Node) -> u32 {
        self.nodes[node as usize].0
    }

    /// The arcs of a node, by increasing content.
    pub(super) fn arcs(&self, node: Node) -> &[Arc] {
        &self.arcs[self.span(node)]
    }

    pub(super) fn span(&self, node: Node) -> std::ops::Range<usize> {
        self.nodes[node as usize].1 as usize..self.nodes[node as usize + 1].1 as usize
    }

    pub(super) fn arc(&self, position: usize) -> Arc {
        self.arcs[position]
    }

    /// The node of a level with these arcs, by increasing content.
    pub(super) fn node(&mut self, level: u32, arcs: &[Arc]) -> Result<Node, Full> {
        if arcs.is_empty() {
            return Ok(EMPTY);
        }
        let mut place = hash(level, arcs) as usize & (self.table.len() - 1);
        loop {
            match self.table[place] {
                EMPTY => break,
                node if self.level(node) == level && self.arcs(node) == arcs => return Ok(node),
                _ => place = (place + 1) & (self.table.len() - 1),
            }
        }
        if self.used() > self.bytes || self.arcs.len() + arcs.len() > u32::MAX as usize {
            return Err(Full);
        }
        let node = self.len() as Node;
        self.nodes[node as usize].0 = level;
        self.arcs.extend_from_slice(arcs);
        self.nodes.push((u32::MAX, self.arcs.len() as u32));
        self.table[place] = node;
        if 2 * self.len() > self.table.len() {
            self.enlarge();
        }
        Ok(node)
    }

    fn enlarge(&mut self) {
        let mut table = vec![EMPTY; 2 * self.table.len()];
        for node in BOTTOM + 1..self.len() as Node {
            let mut place = hash(self.level(node), self.arcs(node)) as usize & (table.len() - 1);
            while table[place] != EMPTY {
                place = (place + 1) & (table.len() - 1);
            }
            table[place] = node;
        }
        self.table = table;
    }

    /// What is in one of two sets of the same level.
    pub(super) fn union(&mut self, left: Node, right: Node) -> Result<Node, Full> {
        if left == right || right == EMPTY {
            return Ok(left);
        }
        if left == EMPTY {
            return Ok(right);
        }
        let key = (left.min(right), left.max(right));
        if let Some(&known) = self.unions.get(&key) {
            return Ok(known);
        }
        let (mut ours, mut theirs) = (self.span(left), self.span(right));
        let mut arcs = Vec::with_capacity(ours.len().max(theirs.len()));
        while !ours.is_empty() || !theirs.is_empty() {
            let next = |span: &std::ops::Range<usize>| (!span.is_empty()).then(|| self.arcs[span.start]);
            match (next(&ours), next(&theirs)) {
                (Some((content, own)), Some((other, their))) if content == other => {
                    arcs.push((content, self.union(own, their)?));
                    ours.start += 1;
                    theirs.start += 1;
                }
                (Some(arc), other) if other.is_none_or(|(content, _)| arc.0 < content) => {
                    arcs.push(arc);
                    ours.start += 1;
                }
                (_, other) => {
                    arcs.extend(other);
                    theirs.start += 1;
                }
            }
        }
        let node = self.node(self.level(left), &arcs)?;
        self.unions.insert(key, node);
        Ok(node)
    }
}

fn hash(level: u32, arcs: &[Arc]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u32(level);
    for &(content, node) in arcs {
        hasher.write_u64(u64::from(content) << 32 | u64::from(node));
    }
    hasher.finish() >> 16 ^ hasher.finish()
}
