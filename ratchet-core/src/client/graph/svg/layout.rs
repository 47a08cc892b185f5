//! A layered graph layout: every box is placed to the right of its parents, and close to them. It uses only integers,
//! so that the result is the same on every platform.

/// The gap between boxes of a layer.
const GAP: u32 = 16;
/// The gap between layers, for the edges.
const AISLE: u32 = 56;
/// How many passes improve the order within the layers. A fixed number keeps the work proportional to the graph.
const SWEEPS: usize = 4;

/// The positions of boxes, relative to the upper left corner.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The upper left corner of every box.
    pub(super) places: Vec<(u32, u32)>,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Lays out boxes of the given sizes. Boxes without edges are placed in a block below the rest.
pub(super) fn lay_out(sizes: &[(u32, u32)], edges: &[(usize, usize)]) -> Layout {
    let mut tied = vec![false; sizes.len()];
    for (parent, child) in edges {
        (tied[*parent], tied[*child]) = (true, true);
    }
    let (tied, loose): (Vec<_>, Vec<_>) = (0..sizes.len()).partition(|node| tied[*node]);
    let mut layout = Layout { places: vec![(0, 0); sizes.len()], ..Layout::default() };
    let layers = ordered(sizes.len(), &tied, edges);
    layout.columns(sizes, &layers, AISLE, true);
    // About as many columns as rows.
    let rows = loose.len().isqrt().max(1);
    let block: Vec<_> = loose.chunks(rows).map(<[usize]>::to_vec).collect();
    layout.columns(sizes, &block, GAP, false);
    layout
}

impl Layout {
    /// Places columns of boxes below those already placed.
    fn columns(&mut self, sizes: &[(u32, u32)], columns: &[Vec<usize>], aisle: u32, centred: bool) {
        let height = |column: &Vec<usize>| {
            let boxes: u32 = column.iter().map(|node| sizes[*node].1 + GAP).sum();
            boxes.saturating_sub(GAP)
        };
        let Some(tallest) = columns.iter().map(height).max() else { return };
        let top = if self.height == 0 { 0 } else { self.height + GAP };
        let mut left = 0;
        for column in columns {
            let mut y = top + if centred { (tallest - height(column)) / 2 } else { 0 };
            let mut widest = 0;
            for node in column {
                self.places[*node] = (left, y);
                y += sizes[*node].1 + GAP;
                widest = widest.max(sizes[*node].0);
            }
            self.width = self.width.max(left + widest);
            left += widest + aisle;
        }
        self.height = top + tallest;
    }
}

/// Assigns boxes to layers by the longest path that leads to them, and orders each layer to avoid crossing edges.
fn ordered(count: usize, nodes: &[usize], edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let (mut parents, mut children) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for (parent, child) in edges {
        parents[*child].push(*parent);
        children[*parent].push(*child);
    }
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for (node, layer) in nodes.iter().zip(depths(nodes, &parents, &children)) {
        if layers.len() <= layer {
            layers.resize(layer + 1, Vec::new());
        }
        layers[layer].push(*node);
    }
    layers.retain(|layer| !layer.is_empty());
    let mut places = vec![0; count];
    let note = |places: &mut Vec<usize>, layer: &[usize]| {
        for (place, node) in layer.iter().enumerate() {
            // The center of the box, scaled so that layers of different lengths compare.
            places[*node] = (2 * place + 1) * SCALE / (2 * layer.len());
        }
    };
    layers.iter().for_each(|layer| note(&mut places, layer));
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        let neighbours = if forth { &parents } else { &children };
        for turn in 0..layers.len() {
            let layer = if forth { turn } else { layers.len() - 1 - turn };
            let centre = |node: &usize| match neighbours[*node].as_slice() {
                [] => places[*node],
                near => near.iter().map(|other| places[*other]).sum::<usize>() / near.len(),
            };
            // Stable sort: boxes with the same center keep their order.
            layers[layer].sort_by_cached_key(centre);
            note(&mut places, &layers[layer]);
        }
    }
    layers
}

/// The resolution of positions within a layer.
const SCALE: usize = 1 << 20;

/// Returns the length of the longest path to each box. A cycle, which a checked graph does not have, does no harm: its
/// boxes are never expanded.
fn depths(nodes: &[usize], parents: &[Vec<usize>], children: &[Vec<usize>]) -> Vec<usize> {
    let mut waits: Vec<_> = parents.iter().map(Vec::len).collect();
    let mut depths = vec![0; waits.len()];
    let mut free: Vec<_> = nodes.iter().copied().filter(|node| waits[*node] == 0).collect();
    while let Some(node) = free.pop() {
        for child in &children[node] {
            depths[*child] = depths[*child].max(depths[node] + 1);
            waits[*child] -= 1;
            if waits[*child] == 0 {
                free.push(*child);
            }
        }
    }
    nodes.iter().map(|node| depths[*node]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_stand_right_of_what_they_wait_for() {
        let layout = lay_out(&[(100, 40); 4], &[(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]);
        assert_eq!(layout.places, [(0, 28), (156, 0), (156, 56), (312, 28)]);
        assert_eq!((layout.width, layout.height), (412, 96));
    }

    #[test]
    fn order_follows_the_parents() {
        // Two chains side by side, with the children in reverse order: their edges must not cross.
        let layout = lay_out(&[(100, 40); 4], &[(0, 3), (1, 2)]);
        let y = |node: usize| layout.places[node].1;
        assert!(y(0) < y(1) && y(3) < y(2));
    }

    #[test]
    fn boxes_without_edges_stand_in_a_block() {
        let layout = lay_out(&[(10, 10); 9], &[]);
        assert_eq!((layout.width, layout.height), (62, 62));
    }

    #[test]
    fn circles_and_nothing_do_no_harm() {
        assert_eq!(lay_out(&[], &[]), Layout::default());
        assert_eq!(lay_out(&[(10, 10); 2], &[(0, 1), (1, 0)]).places.len(), 2);
    }
}
