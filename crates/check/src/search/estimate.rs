//! About how many states there are, by how many lie at each depth so far.
//!
//! How much wider a depth is than the one before becomes less from depth to depth, about by the same factor: more states have
//! been found before, and fewer events are new. So a line is laid through the logarithms of these ratios (least squares),
//! and followed until nothing is left. Four lines, through more or fewer of the last depths, say how much that depends on where one
//! begins; where they disagree nothing is said.

use std::cell::OnceCell;
use std::ops::Range;

/// Depths without which nothing is said.
const LEAST_DEPTHS: usize = 8;
/// Ratios of depths through which a line is laid, at least.
const LEAST_RATIOS: usize = 4;
/// The parts of all ratios through which lines are laid, in percent.
const PARTS: [usize; 4] = [34, 50, 67, 100];
/// Lines that must come to an end, and the most by which they may differ.
const LEAST_ENDS: usize = 3;
const MOST_APART: f64 = 10.0;
/// More states, or depths, than are worth a thought.
const MOST_STATES: f64 = 1e18;
const MOST_DEPTHS: usize = 100_000;

/// How many states lie at each depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Widths {
    widths: Vec<u64>,
    /// What they tell, once somebody has asked.
    whole: OnceCell<Option<u64>>,
}

impl Default for Widths {
    /// Those of a search that has found the first state.
    fn default() -> Self {
        [1].into_iter().collect()
    }
}

impl Widths {
    /// That many lie at the first depth of which is not yet known how many.
    pub fn push(&mut self, width: u64) {
        self.widths.push(width);
        self.whole = OnceCell::new();
    }

    pub fn all(&self) -> &[u64] {
        &self.widths
    }

    /// How many states there may be in all, if the depths so far tell; not fewer than these have.
    pub fn whole(&self) -> Option<u64> {
        *self.whole.get_or_init(|| self.estimated())
    }

    fn estimated(&self) -> Option<u64> {
        let known: u64 = self.widths.iter().sum();
        if self.widths.len() < LEAST_DEPTHS || self.widths.contains(&0) {
            return None;
        }
        let ratios: Vec<f64> = self.widths.windows(2).map(|two| (two[1] as f64 / two[0] as f64).ln()).collect();
        let parts = PARTS.map(|percent| (ratios.len() * percent / 100).max(LEAST_RATIOS));
        let ends: Vec<f64> = parts
            .iter()
            .filter_map(|&part| {
                Regression::through(&ratios, ratios.len() - part..ratios.len()).end(&ratios, &self.widths)
            })
            .collect();
        let (least, most) = ends.iter().fold((f64::MAX, 0.0_f64), |(l, m), &end| (l.min(end), m.max(end)));
        if ends.len() < LEAST_ENDS || most / least > MOST_APART {
            return None;
        }
        let middle = (ends.iter().map(|end| end.ln()).sum::<f64>() / ends.len() as f64).exp();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an estimate, positive and bounded"
        )]
        let whole = middle as u64;
        Some(whole.max(known))
    }
}

impl FromIterator<u64> for Widths {
    fn from_iter<I: IntoIterator<Item = u64>>(widths: I) -> Self {
        Widths { widths: widths.into_iter().collect(), whole: OnceCell::new() }
    }
}

/// The logarithm of the ratio of a depth to the one before, as a line over depths.
struct Regression {
    middle: (f64, f64),
    slope: f64,
}

impl Regression {
    fn through(ratios: &[f64], part: Range<usize>) -> Regression {
        let count = part.len() as f64;
        let mean = |of: &dyn Fn(usize) -> f64| part.clone().map(of).sum::<f64>() / count;
        let middle = (mean(&|at| at as f64), mean(&|at| ratios[at]));
        let spread = mean(&|at| (at as f64 - middle.0).powi(2));
        let slope = mean(&|at| (at as f64 - middle.0) * (ratios[at] - middle.1)) / spread;
        Regression { middle, slope }
    }

    fn at(&self, depth: usize) -> f64 {
        self.middle.1 + self.slope * (depth as f64 - self.middle.0)
    }

    /// How many states there are if depths go on like this until none is left.
    fn end(&self, ratios: &[f64], widths: &[u64]) -> Option<f64> {
        let mut whole = widths.iter().sum::<u64>() as f64;
        let mut width = *widths.last()? as f64;
        for depth in ratios.len()..ratios.len() + MOST_DEPTHS {
            width *= self.at(depth).exp();
            if width < 1.0 {
                return Some(whole);
            }
            whole += width;
            if whole > MOST_STATES {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Widths;
    use crate::report::rounded;

    #[test]
    fn a_bell_is_followed_to_its_end() {
        // A binomial: 2^40 in all.
        let all: Vec<u64> = (0..40).scan(1u64, |c, k| Some(std::mem::replace(c, *c * (40 - k) / (k + 1)))).collect();
        for depths in [16, 20, 30] {
            let whole = all[..depths].iter().copied().collect::<Widths>().whole().unwrap() as f64;
            let factor = whole / (1u64 << 40) as f64;
            assert!((0.3..3.0).contains(&factor), "{depths} depths: {factor}");
        }
    }

    #[test]
    fn where_no_end_is_in_sight_nothing_is_said() {
        assert_eq!((0..30).map(|depth| 1 << depth).collect::<Widths>().whole(), None);
        assert_eq!((0..30).map(|_| 5).collect::<Widths>().whole(), None);
        assert_eq!([1, 3, 5, 4, 2].into_iter().collect::<Widths>().whole(), None);
    }

    #[test]
    fn two_digits_are_kept() {
        assert_eq!([0, 7, 44, 1449, 1450, 99_999].map(rounded), [0, 7, 44, 1400, 1500, 100_000]);
    }
}
