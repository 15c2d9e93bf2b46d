//! What kind of figure ours is: how much it says about us that it agrees with a published one.

use super::origin::Measure;
use super::plan::MissTable;
use serde::{Deserialize, Serialize};

/// From what says nothing of our models to what says most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// An input, as a machine or a run was given it.
    Given,
    /// Sums and quotients of inputs.
    Arithmetic,
    /// Put together by a simulated miss on a quiet machine, out of priced parts.
    Composed,
    /// Of simulated programs.
    Simulated,
    /// Measured on the host, by `trivium run`.
    Measured,
}

impl Class {
    /// All of them, in order.
    pub const ALL: [Class; 5] = [Class::Given, Class::Arithmetic, Class::Composed, Class::Simulated, Class::Measured];

    /// As results write it.
    pub fn name(self) -> &'static str {
        match self {
            Class::Given => "given",
            Class::Arithmetic => "arithmetic",
            Class::Composed => "composed",
            Class::Simulated => "simulated",
            Class::Measured => "measured",
        }
    }

    /// Of a figure that comes from there.
    pub fn of(measure: &Measure) -> Class {
        match measure {
            Measure::Machine { .. } | Measure::Latency { .. } | Measure::Argument { .. } => Class::Given,
            Measure::Nodes(_) | Measure::Block(_) => Class::Given,
            Measure::Quotient { .. } | Measure::SumOfKeys { .. } | Measure::QuotientOfSum { .. } => Class::Arithmetic,
            // What a program says of its own sizes follows from its arguments.
            Measure::Printed { .. } => Class::Arithmetic,
            Measure::PrintedCycles { .. } => Class::Composed,
            Measure::Miss(_) | Measure::MissSlower { .. } | Measure::MissNetwork(_) => Class::Composed,
            Measure::Fastest(_) | Measure::Ratio(_) | Measure::PercentOf(_) => Class::Simulated,
            Measure::RatioOfRatios { .. } | Measure::OverBest { .. } => Class::Simulated,
            Measure::Slower(_) | Measure::Loss(_) | Measure::Share { .. } => Class::Simulated,
            Measure::Counted { .. } | Measure::Rate { .. } | Measure::Occupied { .. } => Class::Simulated,
            Measure::Time { .. } | Measure::Crossing { .. } | Measure::Region { .. } => Class::Simulated,
            Measure::Handlers { .. } | Measure::Times { .. } | Measure::Messages { .. } => Class::Simulated,
            Measure::Between { .. } | Measure::PrintedTime { .. } => Class::Simulated,
            Measure::MoreTimeIn { .. } => Class::Simulated,
            // A sum says no more of us than the part of it that says least.
            Measure::Sum(parts) => parts.iter().map(Class::of).min().unwrap_or(Class::Given).min(Class::Arithmetic),
            Measure::Difference(parts) | Measure::Over(parts) | Measure::Least(parts) => {
                parts.iter().map(Class::of).min().unwrap_or(Class::Given)
            }
            Measure::HowMany { of, .. } => of.iter().map(Class::of).min().unwrap_or(Class::Given),
            Measure::Bandwidth { of, .. } => Class::of(of),
        }
    }

    /// Of a row in a table of misses: the steps are prices, sums of them are arithmetic, and only what a whole miss comes to
    /// depends on how the steps follow each other.
    pub fn in_table(table: &MissTable, quantity: &str) -> Class {
        let is_step = |name: &str| table.steps.iter().any(|(step, _)| step == name);
        match quantity.strip_suffix(" (cumulative)") {
            Some(_) => Class::Arithmetic,
            None if is_step(quantity.trim_end_matches(" (increment)")) => Class::Given,
            None => Class::Composed,
        }
    }
}
