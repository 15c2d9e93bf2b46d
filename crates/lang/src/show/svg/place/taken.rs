//! What of the picture is taken already, in squares, so that what a label would cover is found without looking at everything.

use super::Rect;
use std::collections::HashMap;

/// The side of a square, in pixels.
const SIDE: f64 = 128.0;

/// Boxes and labels, by the squares that they touch.
pub(super) struct Taken {
    squares: HashMap<(i64, i64), Vec<Rect>>,
}

impl Taken {
    pub(super) fn new(nodes: &[Rect]) -> Taken {
        let mut taken = Taken { squares: HashMap::new() };
        nodes.iter().for_each(|node| taken.add(node));
        taken
    }

    pub(super) fn add(&mut self, rect: &Rect) {
        for square in squares(rect) {
            self.squares.entry(square).or_default().push(*rect);
        }
    }

    /// Whether a label here would cover nothing.
    pub(super) fn is_free(&self, rect: &Rect) -> bool {
        !squares(rect).filter_map(|square| self.squares.get(&square)).flatten().any(|other| other.overlaps(rect))
    }
}

fn squares(rect: &Rect) -> impl Iterator<Item = (i64, i64)> + use<> {
    let range = |from: f64, size: f64| (from / SIDE).floor() as i64..=((from + size) / SIDE).floor() as i64;
    let rows = range(rect.y, rect.height);
    range(rect.x, rect.width).flat_map(move |x| rows.clone().map(move |y| (x, y)))
}
