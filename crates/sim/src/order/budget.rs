//! What a simulation takes of the host's memory, looked at while it runs.

use std::time::{Duration, Instant};

/// How much of the host's memory a simulation may take.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// Bytes.
    pub limit: u64,
    /// Whether an allocation ends the program with which more than the limit would be taken if every node came to access all
    /// that is allocated. Else the simulation goes on until more is taken.
    pub refuses: bool,
    /// How many bytes this process takes now.
    pub taken: &'a (dyn Fn() -> u64 + Sync),
}

/// Between two looks at what is taken: more often would take time, and less often more memory.
const BETWEEN: Duration = Duration::from_millis(20);

/// Looks at a budget now and then.
pub(crate) struct Meter<'a> {
    budget: Option<Budget<'a>>,
    looked: Instant,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(budget: Option<Budget<'a>>) -> Meter<'a> {
        Meter { budget, looked: Instant::now() }
    }

    /// The limit, if more has been taken; asked often.
    pub(crate) fn exceeded(&mut self) -> Option<u64> {
        if self.looked.elapsed() < BETWEEN {
            return None;
        }
        self.exceeded_now()
    }

    /// The limit, if more has been taken.
    pub(crate) fn exceeded_now(&mut self) -> Option<u64> {
        let budget = self.budget.as_ref()?;
        self.looked = Instant::now();
        ((budget.taken)() > budget.limit).then_some(budget.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_exceeded_by_what_is_taken() {
        let taken = std::sync::atomic::AtomicU64::new(5);
        let look = || taken.load(std::sync::atomic::Ordering::Relaxed);
        let mut meter = Meter::new(Some(Budget { limit: 7, refuses: false, taken: &look }));
        for (amount, exceeded) in [(5, false), (8, true), (7, false)] {
            taken.store(amount, std::sync::atomic::Ordering::Relaxed);
            std::thread::sleep(BETWEEN);
            assert_eq!(meter.exceeded(), exceeded.then_some(7), "{amount}");
        }
        assert_eq!(Meter::new(None).exceeded(), None);
    }
}
