//! Rows of two that take turns, and what is made of their times.

use std::time::{Duration, Instant};

/// Rounds of a row, unless the machine is too busy.
const ROUNDS: usize = 7;
/// For so long the machine may become quiet.
const PATIENCE: Duration = Duration::from_secs(600);

/// The 10th, 50th and 99th percentile of times, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub p10: f64,
    pub p50: f64,
    pub p99: f64,
}

impl Times {
    /// One time.
    pub fn once(nanoseconds: f64) -> Times {
        Times { p10: nanoseconds, p50: nanoseconds, p99: nanoseconds }
    }

    /// What rounds have in common.
    fn of(rounds: &[Times]) -> Times {
        let quantile = |of: fn(&Times) -> f64, part: f64| {
            let mut all: Vec<f64> = rounds.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[((all.len() - 1) as f64 * part).round() as usize]
        };
        Times { p10: quantile(|t| t.p10, 0.1), p50: quantile(|t| t.p50, 0.5), p99: quantile(|t| t.p99, 0.5) }
    }

    pub fn heading() -> String {
        format!("{:66} {:>30} {:>30} {:>7} {:>5} {:>5}", "", "p10, p50, p99 in us", "bare", "ratio", "bar", "goal")
    }

    fn told(&self) -> String {
        let microseconds = |nanoseconds: f64| format!("{:.2}", nanoseconds / 1000.0);
        format!("{}, {}, {}", microseconds(self.p10), microseconds(self.p50), microseconds(self.p99))
    }
}

type Measure<'a> = Box<dyn Fn() -> Times + 'a>;

/// What is compared with what; without the latter, the median itself has the bar, in nanoseconds.
pub struct Row<'a> {
    name: &'static str,
    bar: (f64, f64),
    ours: Option<Measure<'a>>,
    bare: Option<Measure<'a>>,
}

impl<'a> Row<'a> {
    pub fn new(name: &'static str, bar: (f64, f64)) -> Row<'a> {
        Row { name, bar, ours: None, bare: None }
    }

    pub fn ours(self, measure: impl Fn() -> Times + 'a) -> Row<'a> {
        Row { ours: Some(Box::new(measure)), ..self }
    }

    pub fn bare(self, measure: impl Fn() -> Times + 'a) -> Row<'a> {
        Row { bare: Some(Box::new(measure)), ..self }
    }

    /// Whether its name has one of some words, if there are any.
    pub fn is_wanted(&self, words: &[String]) -> bool {
        words.is_empty() || words.iter().any(|word| self.name.contains(word.as_str()))
    }

    /// Measures in turns, and tells what came of it. While the bare median exceeds twice its 10th percentile the machine is too busy: then
    /// it is measured again for up to ten minutes; if that does not help, the ratio is of 10th percentiles, and not judged.
    pub fn judged(&self) -> String {
        let begun = Instant::now();
        loop {
            let (mut ours, mut bare) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                bare.extend(self.bare.as_ref().map(|measure| measure()));
                ours.extend(self.ours.as_ref().map(|measure| measure()));
            }
            let ours = Times::of(&ours);
            if bare.is_empty() {
                return self.line(&ours, None, ours.p50, "");
            }
            let bare = Times::of(&bare);
            if bare.p50 <= 2.0 * bare.p10 {
                return self.line(&ours, Some(&bare), ours.p50 / bare.p50, "");
            }
            if begun.elapsed() > PATIENCE {
                return self.line(
                    &ours,
                    Some(&bare),
                    ours.p10 / bare.p10,
                    "  not judged: the machine is busy, so of 10th percentiles",
                );
            }
        }
    }

    fn line(&self, ours: &Times, bare: Option<&Times>, ratio: f64, note: &str) -> String {
        let bare = bare.map_or(String::new(), Times::told);
        let bound = |value: f64| if value.is_nan() { String::new() } else { format!("{value}") };
        let (bar, goal) = self.bar;
        format!(
            "{:66} {:>30} {bare:>30} {ratio:>7.2} {:>5} {:>5}{note}",
            self.name,
            ours.told(),
            bound(bar),
            bound(goal)
        )
    }
}
