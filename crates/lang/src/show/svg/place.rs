//! Where states, arrows and labels go: states in columns by their distance from the first, in an order that keeps
//! arrows short; arrows leave and enter at places of their own; a label takes the first place on its arrow, or
//! near it, where it covers nothing.

use super::super::diagram::Graph;
use super::{label_size, node_size};

mod taken;

use taken::Taken;

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
    fn overlaps(&self, other: &Rect) -> bool {
        let wide = (self.x + self.width).min(other.x + other.width) - self.x.max(other.x);
        let high = (self.y + self.height).min(other.y + other.height) - self.y.max(other.y);
        wide > 0.0 && high > 0.0
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
    let mut column_of = vec![0; graph.nodes.len()];
    for (c, column) in columns.iter().enumerate() {
        column.iter().for_each(|&n| column_of[n] = c);
    }
    let mut ends: Vec<(Side, Side)> = Vec::new();
    for edge in &graph.edges {
        ends.push(match (column_of[edge.from], column_of[edge.to]) {
            (a, b) if a < b => (Side::Right, Side::Left),
            (a, b) if a > b => (Side::Left, Side::Right),
            _ => (Side::Right, Side::Right),
        });
    }
    let nodes = boxes(graph, &columns, &column_of, &ends);
    let points = curves(graph, &nodes, &ends, &column_of);
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
    Left = 0,
    Right = 1,
}

/// States by their distance from the first; within a column ordered by the mean place of their neighbours.
fn columns(graph: &Graph) -> Vec<Vec<usize>> {
    let count = graph.nodes.len();
    let mut distance = vec![usize::MAX; count];
    let mut columns: Vec<Vec<usize>> = Vec::new();
    let mut next = vec![Vec::new(); count];
    let mut near = vec![Vec::new(); count];
    for edge in &graph.edges {
        next[edge.from].push(edge.to);
        near[edge.from].push(edge.to);
        near[edge.to].push(edge.from);
    }
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
            for &to in &next[n] {
                if distance[to] == usize::MAX {
                    distance[to] = distance[n] + 1;
                    queue.push_back(to);
                }
            }
        }
    }
    for _ in 0..4 {
        sort_by_neighbours(&near, &mut columns);
    }
    columns
}

/// `near` has, for each state, those at the other ends of its arrows.
fn sort_by_neighbours(near: &[Vec<usize>], columns: &mut [Vec<usize>]) {
    let mut height = vec![0.0; near.len()];
    let places = |column: &[usize], height: &mut Vec<f64>| {
        for (i, &n) in column.iter().enumerate() {
            height[n] = (i as f64 + 0.5) / column.len() as f64;
        }
    };
    columns.iter().for_each(|column| places(column, &mut height));
    for column in columns {
        let mean = |n: usize| match near[n].len() {
            0 => height[n],
            count => near[n].iter().map(|&other| height[other]).sum::<f64>() / count as f64,
        };
        let mut by_mean: Vec<(f64, usize)> = column.iter().map(|&n| (mean(n), n)).collect();
        by_mean.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        *column = by_mean.into_iter().map(|(_, n)| n).collect();
        places(column, &mut height);
    }
}

fn boxes(graph: &Graph, columns: &[Vec<usize>], column_of: &[usize], ends: &[(Side, Side)]) -> Vec<Rect> {
    let mut nodes: Vec<Rect> = graph
        .nodes
        .iter()
        .map(|n| {
            let (width, height) = node_size(n);
            Rect { x: 0.0, y: 0.0, width, height }
        })
        .collect();
    let mut ports = vec![[0usize; 2]; nodes.len()];
    for (edge, (from, to)) in graph.edges.iter().zip(ends) {
        ports[edge.from][*from as usize] += 1;
        ports[edge.to][*to as usize] += 1;
    }
    for (rect, [left, right]) in nodes.iter_mut().zip(ports) {
        rect.height = rect.height.max(left.max(right) as f64 * PORT + 8.0);
    }
    let mut widest_label = vec![60.0f64; columns.len()];
    for edge in &graph.edges {
        let (a, b) = (column_of[edge.from], column_of[edge.to]);
        if a.abs_diff(b) <= 1 {
            let widest = &mut widest_label[a.min(b)];
            *widest = widest.max(label_size(edge).0);
        }
    }
    // Neighbouring columns are as far apart as the labels between them need.
    let mut x = 0.0;
    let tall = |c: &Vec<usize>| c.iter().map(|&n| nodes[n].height + BETWEEN).sum::<f64>() - BETWEEN;
    let height = columns.iter().map(tall).fold(0.0, f64::max);
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
        x += widest + widest_label[c] + 70.0;
    }
    placed
}

/// The curves of the arrows. At each side of a box they are ordered by where they come from.
fn curves(graph: &Graph, nodes: &[Rect], ends: &[(Side, Side)], column_of: &[usize]) -> Vec<[Point; 4]> {
    let middle = |n: usize| nodes[n].y + nodes[n].height / 2.0;
    let lowest = nodes.iter().map(|r| r.y + r.height).fold(0.0, f64::max);
    // At each side of each box: where an arrow's other end is, which arrow, and whether it leaves.
    let mut sides: Vec<[Vec<(f64, usize, bool)>; 2]> = vec![Default::default(); nodes.len()];
    for (i, (edge, (from, to))) in graph.edges.iter().zip(ends).enumerate() {
        sides[edge.from][*from as usize].push((middle(edge.to), i, true));
        sides[edge.to][*to as usize].push((middle(edge.from), i, false));
    }
    let none = Point { x: 0.0, y: 0.0 };
    let mut ports = vec![(none, none); graph.edges.len()];
    for (rect, [left, right]) in nodes.iter().zip(&mut sides) {
        for (here, x) in [(left, rect.x), (right, rect.x + rect.width)] {
            here.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let step = rect.height / (here.len() + 1) as f64;
            for (at, (_, edge, leaves)) in here.iter().enumerate() {
                let port = if *leaves { &mut ports[*edge].0 } else { &mut ports[*edge].1 };
                *port = Point { x, y: rect.y + step * (at + 1) as f64 };
            }
        }
    }
    let mut far = 0.0;
    let mut curves = Vec::new();
    for ((edge, (from, to)), &(a, d)) in graph.edges.iter().zip(ends).zip(&ports) {
        let out = |p: Point, side: Side, by: f64, y: f64| Point {
            x: if side == Side::Left { p.x - by } else { p.x + by },
            y,
        };
        let apart = column_of[edge.from].abs_diff(column_of[edge.to]);
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

/// Parts of an arrow at which its label may stand, the best first.
const ALONG: [f64; 11] = [0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8];
/// How far a label is moved off its arrow in one try, in pixels, and how often at most: then it stands on other labels.
const AWAY: f64 = 9.0;
const TRIES: u32 = 400;

/// Labels stand on their arrows; where none of the places there is free, over or under them.
fn labels(graph: &Graph, nodes: &[Rect], curves: &[[Point; 4]]) -> Vec<Rect> {
    let mut labels: Vec<Rect> = Vec::new();
    let mut taken = Taken::new(nodes);
    for (edge, curve) in graph.edges.iter().zip(curves) {
        let (width, height) = label_size(edge);
        let at = |t: f64, off: f64| {
            let middle = point(curve, t);
            Rect { x: middle.x - width / 2.0, y: middle.y - height / 2.0 + off, width, height }
        };
        let away = (1..=TRIES).flat_map(|n| [-AWAY * f64::from(n), AWAY * f64::from(n)]);
        let mut places = std::iter::once(0.0).chain(away).flat_map(|off| ALONG.map(|t| at(t, off)));
        let label = places.find(|place| taken.is_free(place)).unwrap_or_else(|| at(0.5, 0.0));
        taken.add(&label);
        labels.push(label);
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
