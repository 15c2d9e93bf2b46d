//! Where states, arrows and labels go: states in columns by their distance from the first, in an order that keeps
//! arrows short; arrows leave and enter at places of their own; a label takes the place on its arrow where it covers least.

use super::super::diagram::Graph;
use super::{label_size, node_size};

#[derive(Clone, Copy)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

#[derive(Clone, Copy)]
pub(super) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    fn overlap(&self, other: &Rect) -> f64 {
        let wide = (self.x + self.width).min(other.x + other.width) - self.x.max(other.x);
        let high = (self.y + self.height).min(other.y + other.height) - self.y.max(other.y);
        wide.max(0.0) * high.max(0.0)
    }
}

/// An arrow: a cubic curve, and where its label stands.
pub(super) struct Curve {
    pub points: [Point; 4],
    pub label: Rect,
}

pub(super) struct Placed {
    pub nodes: Vec<Rect>,
    pub curves: Vec<Curve>,
    pub width: f64,
    pub height: f64,
}

/// Room between two boxes of a column, and for each arrow at a box's side.
const BETWEEN: f64 = 34.0;
const PORT: f64 = 16.0;

pub(super) fn place(graph: &Graph) -> Placed {
    let columns = columns(graph);
    let column_of = |n: usize| columns.iter().position(|c| c.contains(&n)).unwrap_or(0);
    let mut ends: Vec<(Side, Side)> = Vec::new();
    for edge in &graph.edges {
        ends.push(match (column_of(edge.from), column_of(edge.to)) {
            (a, b) if a < b => (Side::Right, Side::Left),
            (a, b) if a > b => (Side::Left, Side::Right),
            _ => (Side::Right, Side::Right),
        });
    }
    let nodes = boxes(graph, &columns, &ends);
    let points = curves(graph, &nodes, &ends, column_of);
    let labels = labels(graph, &nodes, &points);
    let mut placed = Placed {
        nodes,
        curves: points.into_iter().zip(labels).map(|(points, label)| Curve { points, label }).collect(),
        width: 0.0,
        height: 0.0,
    };
    shift(&mut placed);
    placed
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// States by their distance from the first; within a column ordered by the mean place of their neighbours.
fn columns(graph: &Graph) -> Vec<Vec<usize>> {
    let count = graph.nodes.len();
    let mut distance = vec![usize::MAX; count];
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for start in 0..count {
        // The first state, and then any that nothing reaches.
        if distance[start] != usize::MAX {
            continue;
        }
        distance[start] = 0;
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(n) = queue.pop_front() {
            if columns.len() <= distance[n] {
                columns.push(Vec::new());
            }
            columns[distance[n]].push(n);
            for edge in graph.edges.iter().filter(|e| e.from == n) {
                if distance[edge.to] == usize::MAX {
                    distance[edge.to] = distance[n] + 1;
                    queue.push_back(edge.to);
                }
            }
        }
    }
    for _ in 0..4 {
        sort_by_neighbours(graph, &mut columns);
    }
    columns
}

fn sort_by_neighbours(graph: &Graph, columns: &mut [Vec<usize>]) {
    let mut height = vec![0.0; graph.nodes.len()];
    for c in 0..columns.len() {
        for column in columns.iter() {
            for (i, &n) in column.iter().enumerate() {
                height[n] = (i as f64 + 0.5) / column.len() as f64;
            }
        }
        let mean = |n: usize| {
            let near = graph.edges.iter().filter_map(|e| match (e.from == n, e.to == n) {
                (true, _) => Some(height[e.to]),
                (_, true) => Some(height[e.from]),
                _ => None,
            });
            let near: Vec<f64> = near.collect();
            if near.is_empty() { height[n] } else { near.iter().sum::<f64>() / near.len() as f64 }
        };
        columns[c].sort_by(|&a, &b| mean(a).total_cmp(&mean(b)).then(a.cmp(&b)));
    }
}

fn boxes(graph: &Graph, columns: &[Vec<usize>], ends: &[(Side, Side)]) -> Vec<Rect> {
    let mut nodes: Vec<Rect> = graph
        .nodes
        .iter()
        .map(|n| {
            let (width, height) = node_size(n);
            Rect { x: 0.0, y: 0.0, width, height }
        })
        .collect();
    for (n, rect) in nodes.iter_mut().enumerate() {
        let ports = |side: Side| {
            let at = |(e, (from, to)): (&super::Edge, &(Side, Side))| {
                usize::from(e.from == n && *from == side) + usize::from(e.to == n && *to == side)
            };
            graph.edges.iter().zip(ends).map(at).sum::<usize>()
        };
        rect.height = rect.height.max(ports(Side::Left).max(ports(Side::Right)) as f64 * PORT + 8.0);
    }
    // Neighbouring columns are as far apart as the labels between them need.
    let mut x = 0.0;
    let tall = |c: &Vec<usize>| c.iter().map(|&n| nodes[n].height + BETWEEN).sum::<f64>() - BETWEEN;
    let height = columns.iter().map(tall).fold(0.0, f64::max);
    let column_of = |n: usize| columns.iter().position(|c| c.contains(&n)).unwrap_or(0);
    let mut placed = nodes.clone();
    for (c, column) in columns.iter().enumerate() {
        let widest = column.iter().map(|&n| nodes[n].width).fold(0.0, f64::max);
        let between = (height - tall(column)) / (column.len() + 1) as f64;
        let mut y = between;
        for &n in column {
            placed[n].x = x + (widest - nodes[n].width) / 2.0;
            placed[n].y = y;
            y += nodes[n].height + BETWEEN + between;
        }
        let crosses = |e: &&super::Edge| {
            let (a, b) = (column_of(e.from), column_of(e.to));
            a.min(b) == c && (a.max(b) == c + 1 || a == b)
        };
        let label = graph.edges.iter().filter(crosses).map(|e| label_size(e).0).fold(60.0, f64::max);
        x += widest + label + 70.0;
    }
    placed
}

/// The curves of the arrows. At each side of a box they are ordered by where they come from.
fn curves(graph: &Graph, nodes: &[Rect], ends: &[(Side, Side)], column_of: impl Fn(usize) -> usize) -> Vec<[Point; 4]> {
    let middle = |n: usize| nodes[n].y + nodes[n].height / 2.0;
    let lowest = nodes.iter().map(|r| r.y + r.height).fold(0.0, f64::max);
    let port = |n: usize, side: Side, edge: usize, leaves: bool| {
        let mut here: Vec<(f64, usize, bool)> = Vec::new();
        for (i, (e, (from, to))) in graph.edges.iter().zip(ends).enumerate() {
            if e.from == n && *from == side {
                here.push((middle(e.to), i, true));
            }
            if e.to == n && *to == side {
                here.push((middle(e.from), i, false));
            }
        }
        here.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let at = here.iter().position(|(_, i, l)| *i == edge && *l == leaves).unwrap_or(0);
        let step = nodes[n].height / (here.len() + 1) as f64;
        let x = if side == Side::Left { nodes[n].x } else { nodes[n].x + nodes[n].width };
        Point { x, y: nodes[n].y + step * (at + 1) as f64 }
    };
    let mut far = 0.0;
    let mut curves = Vec::new();
    for (i, (edge, (from, to))) in graph.edges.iter().zip(ends).enumerate() {
        let (a, d) = (port(edge.from, *from, i, true), port(edge.to, *to, i, false));
        let out = |p: Point, side: Side, by: f64, y: f64| Point {
            x: if side == Side::Left { p.x - by } else { p.x + by },
            y,
        };
        let apart = column_of(edge.from).abs_diff(column_of(edge.to));
        let by = if apart == 0 { 60.0 + (a.y - d.y).abs() * 0.25 } else { (a.x - d.x).abs() * 0.4 };
        if apart > 1 {
            // Around the columns between, below everything.
            far += 46.0;
            let y = lowest + far;
            curves.push([a, out(a, *from, 90.0, y), out(d, *to, 90.0, y), d]);
        } else {
            curves.push([a, out(a, *from, by, a.y), out(d, *to, by, d.y), d]);
        }
    }
    curves
}

fn point(curve: &[Point; 4], t: f64) -> Point {
    let u = 1.0 - t;
    let weights = [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t];
    let sum = |f: fn(&Point) -> f64| curve.iter().zip(weights).map(|(p, w)| f(p) * w).sum::<f64>();
    Point { x: sum(|p| p.x), y: sum(|p| p.y) }
}

fn labels(graph: &Graph, nodes: &[Rect], curves: &[[Point; 4]]) -> Vec<Rect> {
    let mut labels: Vec<Rect> = Vec::new();
    for (edge, curve) in graph.edges.iter().zip(curves) {
        let (width, height) = label_size(edge);
        let at = |t: f64| {
            let middle = point(curve, t);
            Rect { x: middle.x - width / 2.0, y: middle.y - height / 2.0, width, height }
        };
        let covered = |rect: &Rect| {
            let by_nodes = nodes.iter().map(|n| 3.0 * n.overlap(rect)).sum::<f64>();
            let by_labels = labels.iter().map(|l| 2.0 * l.overlap(rect)).sum::<f64>();
            by_nodes + by_labels
        };
        let mut best = at(0.5);
        let mut least = covered(&best);
        for t in [0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8] {
            let here = at(t);
            if covered(&here) < least {
                least = covered(&here);
                best = here;
            }
        }
        labels.push(best);
    }
    labels
}

/// Moves everything so that nothing is cut off at the left or the top, and measures it.
fn shift(placed: &mut Placed) {
    let mut rects: Vec<Rect> = placed.nodes.clone();
    for curve in &placed.curves {
        rects.push(curve.label);
        for i in 0..=10 {
            let p = point(&curve.points, f64::from(i) / 10.0);
            rects.push(Rect { x: p.x, y: p.y, width: 1.0, height: 1.0 });
        }
    }
    let least = |f: fn(&Rect) -> f64| rects.iter().map(f).fold(0.0, f64::min);
    let (dx, dy) = (-least(|r| r.x), -least(|r| r.y));
    placed.width = rects.iter().map(|r| r.x + r.width).fold(0.0, f64::max) + dx;
    placed.height = rects.iter().map(|r| r.y + r.height).fold(0.0, f64::max) + dy;
    let curves = placed.curves.iter_mut();
    for curve in curves {
        curve.label.x += dx;
        curve.label.y += dy;
        for p in &mut curve.points {
            p.x += dx;
            p.y += dy;
        }
    }
    for rect in &mut placed.nodes {
        rect.x += dx;
        rect.y += dy;
    }
}
