//! How long misses took.

use serde::{Deserialize, Serialize};
use trivium_engine::number::{fit, index};

/// Parts into which each doubling of time is divided.
const PARTS: u32 = 16;
/// Doublings of a nanosecond that are told apart; 2^40 ns are 18 minutes.
const DOUBLINGS: u32 = 40;

/// Times in nanoseconds, of which quantiles are known within a sixteenth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Latency {
    counts: Vec<u64>,
    count: u64,
    most: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Latency { counts: vec![0; index(u64::from((DOUBLINGS + 1) * PARTS))], count: 0, most: 0 }
    }
}

/// Quantiles, as results tell them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// A tenth took no longer.
    pub p10: u64,
    /// Half took no longer.
    pub p50: u64,
    /// Nine tenths took no longer.
    pub p90: u64,
    /// All but a hundredth took no longer.
    pub p99: u64,
    /// The longest.
    pub max: u64,
    /// `ns`.
    pub unit: &'static str,
}

fn place(nanoseconds: u64) -> usize {
    if nanoseconds < u64::from(PARTS) {
        return index(nanoseconds);
    }
    let doubling = nanoseconds.ilog2();
    let part = (nanoseconds >> (doubling - PARTS.ilog2())) - u64::from(PARTS);
    index(u64::from((doubling - PARTS.ilog2() + 1) * PARTS) + part)
}

/// The greatest time that has this place.
fn greatest(place: usize) -> u64 {
    let (doubling, part) = (fit::<_, u32>(place, "a place in a list") / PARTS, place as u64 % u64::from(PARTS));
    match doubling {
        0 => part,
        doubling => ((u64::from(PARTS) + part + 1) << (doubling - 1)) - 1,
    }
}

impl Latency {
    /// One more took so long.
    pub fn add(&mut self, nanoseconds: u64) {
        let at = place(nanoseconds).min(self.counts.len() - 1);
        self.counts[at] += 1;
        self.count += 1;
        self.most = self.most.max(nanoseconds);
    }

    /// Those of another node too.
    pub fn merge(&mut self, other: &Latency) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, more)| *own += more);
        self.count += other.count;
        self.most = self.most.max(other.most);
    }

    /// Nothing if there was no miss.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let at = |hundredths: u64| {
            let wanted = (self.count * hundredths).div_ceil(100);
            let mut seen = 0;
            let found = self.counts.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            greatest(found.unwrap_or(0)).min(self.most)
        };
        let told = || Quantiles { p10: at(10), p50: at(50), p90: at(90), p99: at(99), max: self.most, unit: "ns" };
        (self.count > 0).then(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_has_a_place_that_is_within_a_sixteenth() {
        for time in (0..5000).chain([1 << 20, (1 << 30) - 1, 1 << 39]) {
            let most = greatest(place(time));
            assert!(most >= time && most - time <= time / 16, "{time}: {most}");
        }
    }

    #[test]
    fn quantiles_are_those_of_all_nodes() {
        let (mut one, mut other) = (Latency::default(), Latency::default());
        (1..=50).for_each(|time| one.add(time));
        (51..=100).for_each(|time| other.add(time));
        one.merge(&other);
        let told = one.quantiles().unwrap();
        assert!((50..=53).contains(&told.p50) && (90..=95).contains(&told.p90), "{told:?}");
        assert!((99..=100).contains(&told.p99) && told.max == 100, "{told:?}");
        assert_eq!(Latency::default().quantiles(), None);
    }
}
