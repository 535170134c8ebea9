//! Places for the operations of a graph: layers from top to bottom, few crossings, straight lines.
//!
//! Each operation is in the layer below the lowest that it depends on. Edges over several layers
//! get a point in each of them, which keeps them clear of other operations. Within a layer the
//! order comes from the mean place of neighbours, in a few sweeps down and up. Each layer then
//! takes the places closest to its neighbours' that keep order and distance.

/// Width of an operation's box.
pub const NODE_WIDTH: f64 = 210.0;
/// Height of an operation's box.
pub const NODE_HEIGHT: f64 = 42.0;
const LAYER_HEIGHT: f64 = 72.0;
const GAP: f64 = 24.0;
const POINT_WIDTH: f64 = 14.0;
const MARGIN: f64 = 40.0;
const SWEEPS: usize = 12;
/// More points for long edges than this would take too long; the edges are then straight.
const MAX_POINTS: usize = 30_000;

/// Coordinates of all boxes and edges.
pub struct Layout {
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// The middle of each operation's box.
    pub nodes: Vec<(f64, f64)>,
    /// For each edge its two operations.
    pub ends: Vec<(usize, usize)>,
    /// For each edge the points that it goes through.
    pub edges: Vec<Vec<(f64, f64)>>,
}

/// Operations and the points of long edges, in layers.
struct Layers {
    count: usize,
    layer_of: Vec<usize>,
    layers: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    x: Vec<f64>,
}

impl Layout {
    /// Places `count` operations with these dependencies, each from a lower to a higher number.
    pub fn new(count: usize, edges: &[(usize, usize)]) -> Self {
        let mut ends: Vec<(usize, usize)> = edges.to_vec();
        ends.sort_unstable();
        ends.dedup();
        let (mut layers, chains) = Layers::new(count, &ends);
        layers.order();
        layers.place();
        let left = layers.x.iter().copied().fold(f64::INFINITY, f64::min);
        let right = layers.x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = if left.is_finite() { MARGIN + NODE_WIDTH / 2.0 - left } else { MARGIN };
        let at = |node: usize| (layers.x[node] + shift, layers.y(node));
        let edges = chains.iter().map(|chain| line(chain, count, &at)).collect();
        let span = if left.is_finite() { right - left } else { 0.0 };
        Self {
            width: span + NODE_WIDTH + 2.0 * MARGIN,
            height: layers.layers.len() as f64 * LAYER_HEIGHT + 2.0 * MARGIN,
            nodes: (0..count).map(at).collect(),
            ends,
            edges,
        }
    }
}

/// The points of an edge: from the lower side of a box through points to the upper side of another.
fn line(chain: &[usize], count: usize, at: &dyn Fn(usize) -> (f64, f64)) -> Vec<(f64, f64)> {
    let mut points = vec![];
    for (index, node) in chain.iter().enumerate() {
        let (x, y) = at(*node);
        if *node >= count {
            // Straight through the layer, between boxes.
            points.extend([(x, y - NODE_HEIGHT / 2.0), (x, y + NODE_HEIGHT / 2.0)]);
        } else if index == 0 {
            points.push((x, y + NODE_HEIGHT / 2.0));
        } else {
            points.push((x, y - NODE_HEIGHT / 2.0));
        }
    }
    points
}

impl Layers {
    fn new(count: usize, edges: &[(usize, usize)]) -> (Self, Vec<Vec<usize>>) {
        let mut layer_of = depths(count, edges);
        let spans =
            edges.iter().map(|(from, to)| layer_of[*to].saturating_sub(layer_of[*from] + 1));
        let with_points = spans.sum::<usize>() <= MAX_POINTS;
        let mut chains = vec![];
        for (from, to) in edges {
            let mut chain = vec![*from];
            if with_points {
                for layer in layer_of[*from] + 1..layer_of[*to] {
                    chain.push(layer_of.len());
                    layer_of.push(layer);
                }
            }
            chain.push(*to);
            chains.push(chain);
        }
        let total = layer_of.len();
        let mut layers = vec![vec![]; layer_of.iter().max().map_or(0, |last| last + 1)];
        layer_of.iter().enumerate().for_each(|(node, layer)| layers[*layer].push(node));
        let (mut above, mut below) = (vec![vec![]; total], vec![vec![]; total]);
        for (from, to) in chains.iter().flat_map(|chain| chain.iter().zip(&chain[1..])) {
            above[*to].push(*from);
            below[*from].push(*to);
        }
        (Self { count, layer_of, layers, above, below, x: vec![0.0; total] }, chains)
    }

    fn y(&self, node: usize) -> f64 {
        MARGIN + (self.layer_of[node] as f64 + 0.5) * LAYER_HEIGHT
    }

    fn width(&self, node: usize) -> f64 {
        if node < self.count { NODE_WIDTH + GAP } else { POINT_WIDTH }
    }

    /// Sorts each layer by the mean place of neighbours.
    fn order(&mut self) {
        let mut place = vec![0.0; self.layer_of.len()];
        for sweep in 0..SWEEPS {
            let downwards = sweep % 2 == 0;
            let neighbours = if downwards { &self.above } else { &self.below };
            let count = self.layers.len();
            for step in 0..count {
                let layer = if downwards { step } else { count - 1 - step };
                let nodes = &mut self.layers[layer];
                let width = nodes.len().max(1) as f64;
                let mut keyed: Vec<(f64, usize)> = nodes
                    .iter()
                    .enumerate()
                    .map(|(index, node)| {
                        let own = (index as f64 + 0.5) / width;
                        (mean(&neighbours[*node], &place).unwrap_or(own), *node)
                    })
                    .collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                *nodes = keyed.into_iter().map(|(_, node)| node).collect();
                for (index, node) in nodes.iter().enumerate() {
                    place[*node] = (index as f64 + 0.5) / width;
                }
            }
        }
    }

    /// Gives each node a place that is close to its neighbours'.
    fn place(&mut self) {
        for layer in self.layers.clone() {
            let total: f64 = layer.iter().map(|node| self.width(*node)).sum();
            let mut left = -total / 2.0;
            for node in layer {
                self.x[node] = left + self.width(node) / 2.0;
                left += self.width(node);
            }
        }
        for sweep in 0..2 * SWEEPS {
            let count = self.layers.len();
            for step in 0..count {
                let layer = if sweep % 2 == 0 { step } else { count - 1 - step };
                let nodes = self.layers[layer].clone();
                let wanted = nodes.iter().map(|node| {
                    let near: Vec<usize> =
                        self.above[*node].iter().chain(&self.below[*node]).copied().collect();
                    mean(&near, &self.x).unwrap_or(self.x[*node])
                });
                let wanted: Vec<f64> = wanted.collect();
                let widths: Vec<f64> = nodes.iter().map(|node| self.width(*node)).collect();
                for (node, x) in nodes.iter().zip(settle(&wanted, &widths)) {
                    self.x[*node] = x;
                }
            }
        }
    }
}

fn mean(nodes: &[usize], values: &[f64]) -> Option<f64> {
    let sum: f64 = nodes.iter().map(|node| values[*node]).sum();
    (!nodes.is_empty()).then(|| sum / nodes.len() as f64)
}

/// The layer of each operation: below all that it depends on, and no higher than it must be.
fn depths(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut depth = vec![0; count];
    // Edges are sorted by their first operation, and go from lower to higher numbers.
    for (from, to) in edges {
        depth[*to] = depth[*to].max(depth[*from] + 1);
    }
    let mut has_input = vec![false; count];
    let mut first_user = vec![usize::MAX; count];
    for (from, to) in edges {
        has_input[*to] = true;
        first_user[*from] = first_user[*from].min(depth[*to]);
    }
    for node in 0..count {
        if !has_input[node] && first_user[node] != usize::MAX {
            depth[node] = first_user[node] - 1;
        }
    }
    depth
}

/// The places closest to the wanted ones that keep the order and the widths. Neighbours that want
/// to be too close form a block, which is put at the mean of their wanted places.
fn settle(wanted: &[f64], widths: &[f64]) -> Vec<f64> {
    // Each block: the sum of what its nodes want for its left end, and how many they are.
    let mut blocks: Vec<(f64, usize)> = vec![];
    let mut offset = 0.0;
    for (index, (want, width)) in wanted.iter().zip(widths).enumerate() {
        if index > 0 {
            offset += (widths[index - 1] + width) / 2.0;
        }
        blocks.push((want - offset, 1));
        while let [.., (a, n), (b, m)] = blocks.as_slice()
            && a / *n as f64 > b / *m as f64
        {
            let merged = (a + b, n + m);
            blocks.truncate(blocks.len() - 2);
            blocks.push(merged);
        }
    }
    let mut places = vec![];
    let mut offset = 0.0;
    for (sum, count) in blocks {
        for _ in 0..count {
            let index = places.len();
            if index > 0 {
                offset += (widths[index - 1] + widths[index]) / 2.0;
            }
            places.push(sum / count as f64 + offset);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_keep_their_distance_and_lines_go_down() {
        // A diamond, a skip over three layers, and one operation that starts late.
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 5), (3, 5), (4, 5)];
        let layout = Layout::new(6, &edges);
        for (index, a) in layout.nodes.iter().enumerate() {
            for b in &layout.nodes[index + 1..] {
                let apart = (a.0 - b.0).abs() >= NODE_WIDTH || (a.1 - b.1).abs() >= NODE_HEIGHT;
                assert!(apart, "{a:?} {b:?}");
            }
            assert!(a.0 >= NODE_WIDTH / 2.0 && a.0 <= layout.width - NODE_WIDTH / 2.0);
            assert!(a.1 >= NODE_HEIGHT / 2.0 && a.1 <= layout.height - NODE_HEIGHT / 2.0);
        }
        assert_eq!(layout.edges.len(), edges.len());
        for points in &layout.edges {
            assert!(points.windows(2).all(|pair| pair[0].1 < pair[1].1), "{points:?}");
        }
        assert!(layout.nodes[4].1 > layout.nodes[0].1, "a late start is close to its user");
    }

    #[test]
    fn nothing_and_large_graphs_have_a_picture() {
        assert!(Layout::new(0, &[]).nodes.is_empty());
        let chain: Vec<(usize, usize)> = (0..9_999).map(|i| (i, i + 1)).collect();
        let layout = Layout::new(10_000, &chain);
        assert!(layout.nodes.iter().all(|(x, _)| (x - layout.nodes[0].0).abs() < 1e-6));
    }
}
