//! Where the words of arrows stand: beside their line, and over no other words.

/// Width of a letter of an arrow's words, and how far they go above and below their baseline.
const LETTER: f64 = 6.95;
const ASCENT: f64 = 10.0;
const DESCENT: f64 = 3.5;
/// From a line to the words beside it.
const CLEAR: f64 = 4.0;
/// Places along a line that are tried.
const PLACES: u32 = 24;

/// What other words, another line, and a line of life cost, for each pixel that they share with the words; what the
/// way from the best place costs for each pixel, and to stand below the line.
const OVER_WORDS: f64 = 40.0;
const OVER_LINE: f64 = 4.0;
const OVER_LIFE: f64 = 30.0;
const AWAY: f64 = 0.15;
const BELOW: f64 = 3.0;

/// A part of the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// A straight line of an arrow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub from: (f64, f64),
    pub to: (f64, f64),
}

/// What stands in the picture already.
pub(super) struct Places {
    /// Words, of steps and of arrows.
    pub words: Vec<Area>,
    pub lines: Vec<Segment>,
    /// Where the lines of life are.
    pub lives: Vec<f64>,
}

impl Area {
    /// Of an arrow's words around this point of their baseline.
    fn around(x: f64, baseline: f64, half: f64) -> Area {
        Area { left: x - half, top: baseline - ASCENT, right: x + half, bottom: baseline + DESCENT }
    }

    fn shared(&self, other: &Area) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }
}

impl Segment {
    fn at(&self, along: f64) -> (f64, f64) {
        let (dx, dy) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        (self.from.0 + dx * along, self.from.1 + dy * along)
    }

    fn slope(&self) -> f64 {
        let (dx, dy) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        if dx == 0.0 { 0.0 } else { (dy / dx).abs() }
    }

    /// How long the line is inside an area.
    fn inside(&self, area: &Area) -> f64 {
        let (dx, dy) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        let sides = [(self.from.0, dx, area.left, area.right), (self.from.1, dy, area.top, area.bottom)];
        for (from, step, low, high) in sides {
            if step == 0.0 {
                if from <= low || from >= high {
                    return 0.0;
                }
                continue;
            }
            let (a, b) = ((low - from) / step, (high - from) / step);
            first = first.max(a.min(b));
            last = last.min(a.max(b));
        }
        (last - first).max(0.0) * dx.hypot(dy)
    }
}

impl Places {
    /// The middle of the baseline for so many letters beside a line, best at this part of it; they stand there from now on.
    ///
    /// A line that rises takes room over and under itself: words are as far from it as it rises over half of their width.
    pub fn beside(&mut self, line: &Segment, best: f64, letters: usize) -> (f64, f64) {
        let half = letters as f64 * LETTER / 2.0;
        let away = line.slope() * half + CLEAR;
        let places = (1..PLACES).map(|place| f64::from(place) / f64::from(PLACES));
        let candidates = std::iter::once(best).chain(places).flat_map(|along| {
            let (x, y) = line.at(along);
            let far = (x - line.at(best).0).abs() * AWAY;
            [(x, y - away, far), (x, y + away + ASCENT - CLEAR / 2.0, far + BELOW)]
        });
        self.cheapest(candidates.collect(), half)
    }

    /// The same beside a line that goes back to where it starts: to the right of this point.
    pub fn right_of(&mut self, from: (f64, f64), letters: usize) -> (f64, f64) {
        let half = letters as f64 * LETTER / 2.0;
        let candidates = (0..PLACES).map(|place| (from.0 + half + 8.0 * f64::from(place), from.1, f64::from(place)));
        self.cheapest(candidates.collect(), half)
    }

    fn cheapest(&mut self, candidates: Vec<(f64, f64, f64)>, half: f64) -> (f64, f64) {
        let cost = |(x, y, cost): &(f64, f64, f64)| {
            let area = Area::around(*x, *y, half);
            let words: f64 = self.words.iter().map(|words| words.shared(&area)).sum();
            let lines: f64 = self.lines.iter().map(|line| line.inside(&area)).sum();
            let lives = self.lives.iter().filter(|&&life| area.left - 3.0 < life && life < area.right + 3.0).count();
            cost + words * OVER_WORDS + lines * OVER_LINE + lives as f64 * OVER_LIFE
        };
        let best = candidates.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let (x, y, _) = *best.unwrap_or(&(0.0, 0.0, 0.0));
        self.words.push(Area::around(x, y, half));
        (x, y)
    }
}
