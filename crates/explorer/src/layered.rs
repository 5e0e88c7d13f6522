//! Layered layout of directed graphs (Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system
//! structures", 1981): layers are given, nodes of a layer are ordered by the barycentres of their neighbours, and coordinates
//! are the closest ones to those barycentres that keep the distances (isotonic regression by pooling adjacent violators).
//!
//! Edges that span several layers get a bend in each of the layers between, if these are few; others are drawn as they are.

/// Space between neighbours in a layer.
const GAP: f64 = 18.0;
/// Space between layers.
const LAYER_GAP: f64 = 84.0;
/// Space around the drawing.
const MARGIN: f64 = 24.0;
/// The width of a bend.
const BEND: f64 = 6.0;
/// Edges that span more layers than this have no bends.
const LONGEST: usize = 4;
/// How often layers are ordered.
const SWEEPS: usize = 12;
/// How often coordinates are moved towards neighbours.
const ROUNDS: usize = 16;

/// What to draw.
pub(crate) struct Drawing {
    /// Width and height of each node.
    pub(crate) sizes: Vec<(f64, f64)>,
    /// The layer of each node.
    pub(crate) layers: Vec<usize>,
    /// Edges by the positions of nodes.
    pub(crate) edges: Vec<(usize, usize)>,
}

/// Where everything is.
#[derive(Debug, PartialEq)]
pub(crate) struct Placed {
    /// The centre of each node.
    pub(crate) nodes: Vec<(f64, f64)>,
    /// For each edge, the points between its ends.
    pub(crate) bends: Vec<Vec<(f64, f64)>>,
    /// The width of the drawing.
    pub(crate) width: f64,
    /// The height of the drawing.
    pub(crate) height: f64,
}

impl Drawing {
    /// Places everything.
    pub(crate) fn place(&self) -> Placed {
        let mut graph = Layers::new(self);
        graph.order();
        graph.spread();
        let depth = graph.rows.len();
        let mut heights = vec![0.0_f64; depth];
        for (node, &(_, height)) in self.sizes.iter().enumerate() {
            heights[self.layers[node]] = heights[self.layers[node]].max(height);
        }
        let mut centres = Vec::with_capacity(depth);
        let mut top = MARGIN;
        for height in &heights {
            centres.push(top + height / 2.0);
            top += height + LAYER_GAP;
        }
        let left = (0..graph.x.len()).map(|item| graph.x[item] - graph.widths[item] / 2.0).fold(f64::MAX, f64::min);
        let right = (0..graph.x.len()).map(|item| graph.x[item] + graph.widths[item] / 2.0).fold(f64::MIN, f64::max);
        let (left, right) = if graph.x.is_empty() { (0.0, 0.0) } else { (left, right) };
        let point = |item: usize| (graph.x[item] - left + MARGIN, centres[graph.layer[item]]);
        Placed {
            nodes: (0..self.sizes.len()).map(point).collect(),
            bends: graph.bends.iter().map(|items| items.iter().map(|&item| point(item)).collect()).collect(),
            width: right - left + 2.0 * MARGIN,
            height: (top - LAYER_GAP + MARGIN).max(2.0 * MARGIN),
        }
    }
}

/// Nodes and bends in layers.
struct Layers {
    widths: Vec<f64>,
    layer: Vec<usize>,
    /// The items of each layer, from left to right.
    rows: Vec<Vec<usize>>,
    /// The neighbours of each item in the layer above, and in that below.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    bends: Vec<Vec<usize>>,
    x: Vec<f64>,
}

impl Layers {
    fn new(drawing: &Drawing) -> Self {
        let depth = drawing.layers.iter().max().map_or(0, |&most| most + 1);
        let mut layers = Self {
            widths: drawing.sizes.iter().map(|size| size.0).collect(),
            layer: drawing.layers.clone(),
            rows: vec![Vec::new(); depth],
            above: vec![Vec::new(); drawing.sizes.len()],
            below: vec![Vec::new(); drawing.sizes.len()],
            bends: Vec::with_capacity(drawing.edges.len()),
            x: Vec::new(),
        };
        for (node, &layer) in drawing.layers.iter().enumerate() {
            layers.rows[layer].push(node);
        }
        for &(from, to) in &drawing.edges {
            let bends = layers.connect(from, to);
            layers.bends.push(bends);
        }
        layers.x = vec![0.0; layers.widths.len()];
        layers
    }

    /// Connects two nodes through bends, which are returned in the order of the edge.
    fn connect(&mut self, from: usize, to: usize) -> Vec<usize> {
        let is_down = self.layer[from] <= self.layer[to];
        let (upper, lower) = if is_down { (from, to) } else { (to, from) };
        let span = self.layer[lower] - self.layer[upper];
        if span == 0 || span > LONGEST {
            return Vec::new();
        }
        let (mut last, mut bends) = (upper, Vec::new());
        for layer in self.layer[upper] + 1..self.layer[lower] {
            let bend = self.widths.len();
            self.widths.push(BEND);
            self.layer.push(layer);
            self.rows[layer].push(bend);
            self.above.push(Vec::new());
            self.below.push(Vec::new());
            self.link(last, bend);
            bends.push(bend);
            last = bend;
        }
        self.link(last, lower);
        if !is_down {
            bends.reverse();
        }
        bends
    }

    fn link(&mut self, upper: usize, lower: usize) {
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }

    /// Orders the layers so that few edges cross: the best of several sweeps.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            if best.0 == 0 {
                break;
            }
            let depth = self.rows.len();
            for step in 1..depth {
                let (layer, down) = if sweep % 2 == 0 { (step, true) } else { (depth - 1 - step, false) };
                self.sort_layer(layer, down);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    /// Sorts a layer by the mean position of the neighbours above or below. Items without any keep their place.
    fn sort_layer(&mut self, layer: usize, down: bool) {
        let positions = self.positions();
        let neighbours = if down { &self.above } else { &self.below };
        let mut keyed: Vec<(f64, usize)> = self.rows[layer]
            .iter()
            .map(|&item| {
                let near = &neighbours[item];
                let sum: f64 = near.iter().map(|&other| positions[other] as f64).sum();
                (if near.is_empty() { positions[item] as f64 } else { sum / near.len() as f64 }, item)
            })
            .collect();
        keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
        self.rows[layer] = keyed.into_iter().map(|(_, item)| item).collect();
    }

    fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.widths.len()];
        for row in &self.rows {
            for (position, &item) in row.iter().enumerate() {
                positions[item] = position;
            }
        }
        positions
    }

    /// The number of crossings between neighbouring layers, counted with a tree of sums (Barth, Mutzel and Jünger, "Simple
    /// and efficient bilayer cross counting", 2004).
    fn crossings(&self) -> u64 {
        let positions = self.positions();
        let mut count = 0;
        for row in &self.rows {
            let below = |&item: &usize| {
                let mut ends: Vec<usize> = self.below[item].iter().map(|&other| positions[other]).collect();
                ends.sort_unstable();
                ends
            };
            let ends: Vec<usize> = row.iter().flat_map(below).collect();
            let most = ends.iter().max().map_or(0, |&most| most + 1);
            let mut tree = vec![0_u64; most + 1];
            for (seen, &end) in ends.iter().enumerate() {
                let (mut node, mut not_right) = (end + 1, 0);
                while node > 0 {
                    not_right += tree[node];
                    node &= node - 1;
                }
                count += seen as u64 - not_right;
                node = end + 1;
                while node <= most {
                    tree[node] += 1;
                    node += node & node.wrapping_neg();
                }
            }
        }
        count
    }

    /// Finds coordinates: every item as near to its neighbours as the order allows.
    fn spread(&mut self) {
        for row in &self.rows {
            let mut left = 0.0;
            for &item in row {
                self.x[item] = left + self.widths[item] / 2.0;
                left += self.widths[item] + GAP;
            }
            // Centred layers are a better beginning than those that begin together.
            for &item in row {
                self.x[item] -= left / 2.0;
            }
        }
        let depth = self.rows.len();
        for round in 0..ROUNDS {
            for step in 0..depth {
                let layer = if round % 2 == 0 { step } else { depth - 1 - step };
                let row = &self.rows[layer];
                let wished: Vec<(f64, f64)> = row.iter().map(|&item| self.wish(item)).collect();
                let widths: Vec<f64> = row.iter().map(|&item| self.widths[item]).collect();
                for (&item, x) in row.iter().zip(nearest(&wished, &widths)) {
                    self.x[item] = x;
                }
            }
        }
    }

    /// Where an item would like to be, and how much. Bends like straight lines.
    fn wish(&self, item: usize) -> (f64, f64) {
        let near = || self.above[item].iter().chain(&self.below[item]);
        let count = near().count();
        if count == 0 {
            return (self.x[item], 0.1);
        }
        let mean = near().map(|&other| self.x[other]).sum::<f64>() / count as f64;
        (mean, if self.widths[item] == BEND { 2.0 } else { 1.0 })
    }
}

/// The coordinates of items in this order that keep their distances and are nearest to the wished ones, by weighted squares.
fn nearest(wished: &[(f64, f64)], widths: &[f64]) -> Vec<f64> {
    // Without the distances that have to be kept, coordinates only have to be sorted.
    let mut offsets = Vec::with_capacity(widths.len());
    let mut offset = 0.0;
    for (position, width) in widths.iter().enumerate() {
        if position > 0 {
            offset += (widths[position - 1] + width) / 2.0 + GAP;
        }
        offsets.push(offset);
    }
    // Blocks of equal coordinates: their sum, weight and size.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (&(wish, weight), offset) in wished.iter().zip(&offsets) {
        let mut block = ((wish - offset) * weight, weight, 1);
        while let Some(&(sum, weight, size)) = blocks.last() {
            if sum / weight < block.0 / block.1 {
                break;
            }
            blocks.pop();
            block = (sum + block.0, weight + block.1, size + block.2);
        }
        blocks.push(block);
    }
    let sorted = blocks.iter().flat_map(|&(sum, weight, size)| std::iter::repeat_n(sum / weight, size));
    sorted.zip(&offsets).map(|(x, offset)| x + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::{Drawing, GAP, Layers, nearest};

    /// A generator of numbers (Steele, Lea and Flood).
    fn numbers(seed: u64) -> impl FnMut(u64) -> usize {
        let mut state = seed;
        move |bound| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) % bound) as usize
        }
    }

    fn random(seed: u64, nodes: usize, edges: usize, depth: u64) -> Drawing {
        let mut next = numbers(seed);
        Drawing {
            sizes: (0..nodes).map(|_| (20.0 + next(100) as f64, 20.0 + next(40) as f64)).collect(),
            layers: (0..nodes).map(|_| next(depth)).collect(),
            edges: (0..edges).map(|_| (next(nodes as u64), next(nodes as u64))).collect(),
        }
    }

    #[test]
    fn nodes_do_not_overlap() {
        for seed in 0..40 {
            let drawing = random(seed, 60, 120, 8);
            let placed = drawing.place();
            for one in 0..60 {
                let ((x, y), (width, height)) = (placed.nodes[one], drawing.sizes[one]);
                assert!(x - width / 2.0 >= 0.0 && x + width / 2.0 <= placed.width, "{seed}");
                assert!(y - height / 2.0 >= 0.0 && y + height / 2.0 <= placed.height, "{seed}");
                for other in 0..one {
                    let distance = (x - placed.nodes[other].0).abs();
                    let is_apart = distance + 1e-6 >= (width + drawing.sizes[other].0) / 2.0 + GAP;
                    assert!(is_apart || drawing.layers[one] != drawing.layers[other], "{seed}: {one} and {other}");
                }
            }
        }
    }

    /// The tree of sums against all pairs.
    #[test]
    fn crossings_are_counted() {
        for seed in 0..40 {
            let layers = Layers::new(&random(seed, 30, 60, 4));
            let positions = layers.positions();
            let mut edges = Vec::new();
            for (item, below) in layers.below.iter().enumerate() {
                edges.extend(below.iter().map(|&other| (layers.layer[item], positions[item], positions[other])));
            }
            let mut count = 0;
            for (number, one) in edges.iter().enumerate() {
                for other in &edges[..number] {
                    let crosses = (one.1 < other.1 && one.2 > other.2) || (one.1 > other.1 && one.2 < other.2);
                    count += u64::from(one.0 == other.0 && crosses);
                }
            }
            assert_eq!(layers.crossings(), count, "{seed}");
        }
    }

    #[test]
    fn a_tree_has_no_crossings() {
        let layers: Vec<usize> = vec![0, 1, 1, 2, 2, 2, 2];
        let edges = vec![(0, 1), (0, 2), (2, 3), (1, 4), (2, 5), (1, 6)];
        let mut graph = Layers::new(&Drawing { sizes: vec![(20.0, 20.0); 7], layers, edges });
        assert!(graph.crossings() > 0);
        graph.order();
        assert_eq!(graph.crossings(), 0);
    }

    /// Coordinates that may be as wished are; others are the mean of what is wished.
    #[test]
    fn coordinates_are_nearest() {
        let far = [(0.0, 1.0), (200.0, 1.0)];
        assert_eq!(nearest(&far, &[10.0, 10.0]), [0.0, 200.0]);
        let near = [(50.0, 1.0), (50.0, 1.0)];
        let half = (10.0 + GAP) / 2.0;
        assert_eq!(nearest(&near, &[10.0, 10.0]), [50.0 - half, 50.0 + half]);
    }

    #[test]
    fn nothing_is_placed_somewhere() {
        let placed = Drawing { sizes: Vec::new(), layers: Vec::new(), edges: Vec::new() }.place();
        assert!(placed.width > 0.0 && placed.height > 0.0);
    }

    #[test]
    fn bends_follow_the_direction_of_an_edge() {
        let drawing = |edges| Drawing { sizes: vec![(20.0, 20.0); 4], layers: vec![0, 1, 2, 3], edges };
        let down = drawing(vec![(0, 3)]).place();
        let up = drawing(vec![(3, 0)]).place();
        let heights = |bends: &[(f64, f64)]| bends.iter().map(|point| point.1).collect::<Vec<_>>();
        assert!(heights(&down.bends[0]).is_sorted() && down.bends[0].len() == 2);
        assert!(heights(&up.bends[0]).iter().rev().is_sorted() && up.bends[0].len() == 2);
    }
}
