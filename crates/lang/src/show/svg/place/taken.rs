//! What of the picture is taken already, in squares, so that what a label would cover is found without looking at everything.

use super::Rect;
use std::collections::HashMap;

/// The side of a square, in pixels.
const SIDE: f64 = 128.0;

/// Boxes weigh more than labels: what they say cannot be guessed.
const BOX: f64 = 3.0;
const LABEL: f64 = 2.0;

/// Boxes and labels, by the squares that they touch. The numbers of both are in the order in which they were added: sums are
/// made in that order, so that they do not depend on squares.
pub(super) struct Taken {
    rects: Vec<(f64, Rect)>,
    squares: HashMap<(i64, i64), Vec<usize>>,
    near: Vec<usize>,
}

impl Taken {
    pub(super) fn new(nodes: &[Rect]) -> Taken {
        let mut taken = Taken { rects: Vec::new(), squares: HashMap::new(), near: Vec::new() };
        nodes.iter().for_each(|node| taken.add(BOX, node));
        taken
    }

    pub(super) fn add_label(&mut self, label: &Rect) {
        self.add(LABEL, label);
    }

    fn add(&mut self, weight: f64, rect: &Rect) {
        for square in squares(rect) {
            self.squares.entry(square).or_default().push(self.rects.len());
        }
        self.rects.push((weight, *rect));
    }

    /// How much a label here would cover: areas, weighed.
    pub(super) fn covered(&mut self, rect: &Rect) -> f64 {
        self.near.clear();
        self.near.extend(squares(rect).filter_map(|square| self.squares.get(&square)).flatten());
        self.near.sort_unstable();
        self.near.dedup();
        self.near.iter().map(|&i| self.rects[i].0 * self.rects[i].1.overlap(rect)).sum()
    }
}

fn squares(rect: &Rect) -> impl Iterator<Item = (i64, i64)> + use<> {
    let range = |from: f64, size: f64| (from / SIDE).floor() as i64..=((from + size) / SIDE).floor() as i64;
    let rows = range(rect.y, rect.height);
    range(rect.x, rect.width).flat_map(move |x| rows.clone().map(move |y| (x, y)))
}
