//! Where a figure of ours comes from: a key of a machine, a single miss, or what programs did in runs.

use super::plan::at_place;
use serde::Deserialize;

/// One miss.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissConfig {
    /// The machine.
    pub machine: String,
    /// `read`, `write` or `upgrade`.
    pub kind: String,
    /// Where the block is: `local`, `remote` (without it), `home` or `third`.
    #[serde(rename = "where")]
    pub place: Option<String>,
    /// The protocol, if not `stache`.
    pub protocol: Option<String>,
    /// Bytes of its block, if not those of the published measurements.
    pub block: Option<u32>,
    /// Network latency in cycles, if not the machine's own.
    pub latency: Option<u64>,
}

/// Where a value comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Measure {
    /// A key of a machine, times `scale`.
    Machine {
        /// The machine.
        name: String,
        /// Its key.
        key: String,
        /// Units of the row in one of the key.
        #[serde(default = "one")]
        scale: f64,
    },
    /// The quotient of two keys of a machine, times `scale`.
    Quotient {
        /// The machine.
        name: String,
        /// The upper key.
        key: String,
        /// The lower key.
        by: String,
        /// Units of the row in one of the quotient.
        #[serde(default = "one")]
        scale: f64,
    },
    /// The sum of keys of a machine.
    SumOfKeys {
        /// The machine.
        name: String,
        /// Its keys.
        keys: Vec<String>,
    },
    /// The sum of keys of a machine divided by another.
    QuotientOfSum {
        /// The machine.
        name: String,
        /// The upper keys.
        keys: Vec<String>,
        /// The lower key.
        by: String,
    },
    /// The network latency of a run in cycles, times `scale`.
    Latency {
        /// The run.
        run: String,
        /// Units of the row in one cycle.
        scale: f64,
    },
    /// The total of a miss, in the row's unit.
    Miss(MissConfig),
    /// How much longer one miss takes than another, in percent.
    MissSlower {
        /// The one.
        of: MissConfig,
        /// The other.
        than: MissConfig,
    },
    /// The network's share of a miss, in percent.
    MissNetwork(MissConfig),
    /// An argument of a run's program, as declared.
    Argument {
        /// The run.
        run: String,
        /// Its flag.
        flag: String,
    },
    /// Nodes of a run.
    Nodes(String),
    /// Bytes of a run's blocks.
    Block(String),
    /// The bytes of the block with which it runs fastest.
    Fastest(Vec<String>),
    /// Time of the first run divided by that of the second; of several pairs the greatest.
    Ratio(Vec<(String, String)>),
    /// The time of the fastest of some runs divided by that of another: what that one wins over the best of them, as a quotient, or in
    /// percent, as the row's unit is.
    OverBest {
        /// The runs of which the fastest counts.
        best: Vec<String>,
        /// The other.
        of: String,
    },
    /// A quotient of two runs' times divided by that of two others.
    RatioOfRatios {
        /// The one.
        of: (String, String),
        /// The other.
        to: (String, String),
    },
    /// The same as `Ratio` in percent.
    PercentOf(Vec<(String, String)>),
    /// By how many percent more time the first takes than the second; of several pairs the greatest.
    Slower(Vec<(String, String)>),
    /// By how many percent less the first does in a time than the second; of several pairs the greatest.
    Loss(Vec<(String, String)>),
    /// The number that stands behind a text in what a run's program printed, times `scale`.
    Printed {
        /// The run.
        run: String,
        /// The text.
        after: String,
        /// Units of the row in one of the number.
        #[serde(default = "one")]
        scale: f64,
    },
    /// For how many cycles messages have used the units of all nodes, on a machine with `slots`.
    Occupied {
        /// The run.
        run: String,
    },
    /// What a library has counted of accesses on a node, or on all; divided by another count if `per` is one, times `scale`.
    Counted {
        /// The run.
        run: String,
        /// The node; all together if there is none.
        node: Option<usize>,
        /// What is counted.
        what: Count,
        /// By what that is divided.
        per: Option<Count>,
        /// Units of the row in one.
        #[serde(default = "one")]
        scale: f64,
        /// A flag of the run's program, by whose value it is divided: iterations.
        each: Option<String>,
    },
    /// So much work divided by the time of a run in microseconds: with floating-point operations, MFLOPS.
    Rate {
        /// The run.
        run: String,
        /// How much.
        work: f64,
        /// By what that is divided: processors.
        #[serde(default = "one")]
        by: f64,
    },
    /// The time of a run, or by how much it is longer than that of another, divided by `by`, in the row's unit.
    Time {
        /// The run.
        run: String,
        /// The other.
        less: Option<String>,
        /// By what it is divided.
        #[serde(default = "one")]
        by: f64,
        /// A flag of the run's program, by whose value it is divided, too: iterations.
        each: Option<String>,
    },
    /// The time of a node's own region of interest, in the row's unit.
    Region {
        /// The run.
        run: String,
        /// The node.
        node: usize,
    },
    /// For how long engines ran these handlers, in the row's unit: all together divided by `by`; without it, on an average each time.
    Handlers {
        /// The run.
        run: String,
        /// Their names, as `protocol.role.STATE.EVENT`. One that never ran counts nothing.
        of: Vec<String>,
        /// By what that is divided: lines of a copy.
        by: Option<f64>,
    },
    /// The time from the last end of a handler to that of another, in the row's unit.
    Between {
        /// The run.
        run: String,
        /// The one.
        from: String,
        /// The other.
        to: String,
    },
    /// How often engines ran these handlers, times `scale`.
    Times {
        /// The run.
        run: String,
        /// Their names.
        of: Vec<String>,
        /// Units of the row in one.
        #[serde(default = "one")]
        scale: f64,
    },
    /// Messages of these kinds in the region of interest, times `scale`.
    Messages {
        /// The run.
        run: String,
        /// Kinds, as `protocol.NAME`. One of which none was sent counts nothing.
        of: Vec<String>,
        /// Units of the row in one: bytes of its block.
        #[serde(default = "one")]
        scale: f64,
    },
    /// By how many percent more of the nodes' time went to these parts in the first run than in the second, in cycles and not as a share.
    MoreTimeIn {
        /// Names of statistics.
        parts: Vec<String>,
        /// The one.
        of: String,
        /// The other.
        than: String,
    },
    /// The least of figures of one kind: that of the best program.
    Least(Vec<Measure>),
    /// How many of these figures are above a number, or below one.
    HowMany {
        /// The figures.
        of: Vec<Measure>,
        /// The number that they are above.
        #[serde(default = "least")]
        above: f64,
        /// The number that they are below.
        #[serde(default = "greatest")]
        below: f64,
        /// The unit of figures and numbers.
        unit: String,
    },
    /// The sum of figures, in the row's unit.
    Sum(Vec<Measure>),
    /// The first of two times less the second, in the row's unit.
    Difference(Vec<Measure>),
    /// So many bytes divided by a time, in MB/s.
    Bandwidth {
        /// How many.
        bytes: f64,
        /// The time.
        of: Box<Measure>,
    },
    /// Where the runs of one name, with `{x}`, begin to take longer than those of others: between two places on a straight line, and of several
    /// others the greatest place.
    Crossing {
        /// The one.
        of: String,
        /// The others.
        with: Vec<String>,
        /// The places, from the least on.
        x: Vec<u64>,
    },
    /// The cycles that stand behind a text in what a run's program printed, as a time in the row's unit: of single accesses on a quiet
    /// machine.
    PrintedCycles {
        /// The run.
        run: String,
        /// The text.
        after: String,
        /// How much of them: a half, say.
        #[serde(default = "one")]
        scale: f64,
    },
    /// The same, of what programs do while others are at work.
    PrintedTime {
        /// The run.
        run: String,
        /// The text.
        after: String,
    },
    /// The first of two times divided by the second.
    Over(Vec<Measure>),
    /// The share of the nodes' time that went to these parts, as a fraction or in percent, as the row's unit is.
    Share {
        /// The run.
        run: String,
        /// Names of statistics.
        parts: Vec<String>,
    },
}

impl Measure {
    /// The runs that it is made of, where it comes from what programs did in them; `{x}` of a crossing is filled in.
    pub fn runs(&self) -> Vec<String> {
        let of_pairs = |pairs: &[(String, String)]| {
            let both = pairs.iter().flat_map(|(of, to)| [of.clone(), to.clone()]);
            both.collect()
        };
        match self {
            Measure::Machine { .. } | Measure::Quotient { .. } | Measure::SumOfKeys { .. } => Vec::new(),
            Measure::QuotientOfSum { .. } | Measure::Miss(_) | Measure::MissSlower { .. } => Vec::new(),
            Measure::MissNetwork(_) => Vec::new(),
            // What a run was given, and not what it did.
            Measure::Latency { .. } | Measure::Argument { .. } | Measure::Nodes(_) | Measure::Block(_) => Vec::new(),
            Measure::Fastest(runs) => runs.clone(),
            Measure::OverBest { best, of } => best.iter().chain([of]).cloned().collect(),
            Measure::Ratio(pairs) | Measure::PercentOf(pairs) => of_pairs(pairs),
            Measure::Slower(pairs) | Measure::Loss(pairs) => of_pairs(pairs),
            Measure::RatioOfRatios { of, to } => of_pairs(&[of.clone(), to.clone()]),
            Measure::Time { run, less, .. } => [run].into_iter().chain(less).cloned().collect(),
            Measure::Crossing { of, with, x } => {
                let lines = [of].into_iter().chain(with);
                lines.flat_map(|line| x.iter().map(|x| at_place(line, *x))).collect()
            }
            Measure::Share { run, .. } | Measure::Printed { run, .. } | Measure::Counted { run, .. } => {
                vec![run.clone()]
            }
            Measure::Occupied { run } => vec![run.clone()],
            Measure::Rate { run, .. } | Measure::PrintedCycles { run, .. } => vec![run.clone()],
            Measure::PrintedTime { run, .. } => vec![run.clone()],
            Measure::Region { run, .. } | Measure::Handlers { run, .. } => vec![run.clone()],
            Measure::Times { run, .. } | Measure::Messages { run, .. } => vec![run.clone()],
            Measure::Between { run, .. } => vec![run.clone()],
            Measure::MoreTimeIn { of, than, .. } => vec![of.clone(), than.clone()],
            Measure::Least(parts) | Measure::HowMany { of: parts, .. } => {
                parts.iter().flat_map(Measure::runs).collect()
            }
            Measure::Sum(parts) | Measure::Difference(parts) | Measure::Over(parts) => {
                parts.iter().flat_map(Measure::runs).collect()
            }
            Measure::Bandwidth { of, .. } => of.runs(),
        }
    }
}

impl Measure {
    /// What is wrong with its numbers and lists, whatever the runs do.
    pub fn check(&self) -> Result<(), &'static str> {
        let is_some = |number: f64| number.is_finite() && number > 0.0;
        let is_list = |names: &[String]| {
            let again = |(at, name): (usize, &String)| names[..at].contains(name);
            match names {
                [] => Err("its list `of` is empty"),
                names if names.iter().enumerate().any(again) => Err("its list `of` names something twice"),
                _ => Ok(()),
            }
        };
        match self {
            Measure::Handlers { by: Some(by), .. } if !is_some(*by) => Err("its `by` is no number above 0"),
            Measure::Times { scale, .. } | Measure::Messages { scale, .. } if !is_some(*scale) => {
                Err("its `scale` is no number above 0")
            }
            Measure::Handlers { of, .. } | Measure::Times { of, .. } | Measure::Messages { of, .. } => is_list(of),
            Measure::Bandwidth { bytes, .. } if !is_some(*bytes) => Err("its `bytes` are no number above 0"),
            Measure::Bandwidth { of, .. } if !of.is_a_time() => Err("a bandwidth is `of` a time"),
            Measure::Bandwidth { of, .. } => of.check(),
            Measure::Least(parts) if parts.is_empty() => Err("it is of no figures"),
            Measure::Least(parts) => parts.iter().try_for_each(Measure::check),
            Measure::HowMany { above, below, .. } if above.is_infinite() && below.is_infinite() => {
                Err("it has neither `above` nor `below`")
            }
            Measure::HowMany { of, .. } => of.iter().try_for_each(Measure::check),
            Measure::Sum(parts) if parts.is_empty() => Err("a sum of nothing"),
            Measure::Sum(parts) if !parts.iter().all(Measure::is_a_time) => Err("a `sum` is of times"),
            Measure::Difference(parts) if parts.len() != 2 => Err("a `difference` is of two figures"),
            Measure::Difference(parts) if !parts.iter().all(Measure::is_a_time) => Err("a `difference` is of times"),
            Measure::Over(parts) if parts.len() != 2 => Err("`over` is of two figures"),
            Measure::Over(parts) if !parts.iter().all(Measure::is_a_time) => Err("`over` is of times"),
            Measure::Sum(parts) | Measure::Difference(parts) | Measure::Over(parts) => {
                parts.iter().try_for_each(Measure::check)
            }
            _ => Ok(()),
        }
    }

    /// Whether it is a time in whatever unit its row has. Of a latency the study says what its unit is, by `scale`.
    fn is_a_time(&self) -> bool {
        match self {
            Measure::Region { .. } | Measure::Handlers { .. } | Measure::Between { .. } => true,
            Measure::Time { .. } | Measure::PrintedCycles { .. } | Measure::Latency { .. } => true,
            Measure::PrintedTime { .. } => true,
            Measure::Sum(parts) | Measure::Difference(parts) => parts.iter().all(Measure::is_a_time),
            _ => false,
        }
    }
}

fn one() -> f64 {
    1.0
}

fn least() -> f64 {
    f64::NEG_INFINITY
}

fn greatest() -> f64 {
    f64::INFINITY
}

/// What a library counts of the accesses that it checks, and of directory entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Loads, and calls that read (`get`).
    Reads,
    /// Of these, those to blocks of other homes.
    RemoteReads,
    /// Of all loads, those that needed no message.
    ReadHits,
    /// Those that did.
    ReadMisses,
    /// Of those, the ones to blocks of other homes.
    RemoteReadMisses,
    /// Loads of blocks at their home, in the first state: nobody else has asked for them.
    UnsharedReads,
    /// Stores, and calls that write (`put`, `store`).
    Writes,
    /// Of these, those to blocks at their home, in the first state.
    UnsharedWrites,
    /// Entries that were made in the directory.
    Entries,
}
