//! Where the time of handlers and misses goes, for reports of single misses.

use crate::effects::Stretch;
use std::borrow::Cow;
use trivium_engine::Node;

/// What led to a handler or a processor's continuation: the run before it, and when it left that run.
pub type Cause = Option<(usize, u64)>;

/// A stretch of uninterrupted work on one node.
#[derive(Clone, Debug)]
pub struct Run {
    /// On which node.
    pub node: Node,
    /// What led to it.
    pub cause: Cause,
    /// From when on it was possible: arrival of its message, end of the work before it.
    pub possible: u64,
    /// Whether a message brought it.
    pub by_message: bool,
    /// On what its time went.
    pub stretches: Vec<Stretch>,
}

/// All work since recording began.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Runs in the order in which they were worked out.
    pub runs: Vec<Run>,
}

/// One step of a path through the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Where: a node, or `None` for the network.
    pub node: Option<Node>,
    /// What happened.
    pub what: Cow<'static, str>,
    /// How long it took, in cycles.
    pub cycles: u64,
}

impl Timeline {
    /// Adds a run and gives its number.
    pub fn add(&mut self, run: Run) -> usize {
        self.runs.push(run);
        self.runs.len() - 1
    }

    /// The chain of work that led to the end of the last run, from its first cause on.
    pub fn path(&self) -> Vec<PathStep> {
        let mut steps = Vec::new();
        let Some(last) = self.runs.last() else { return steps };
        let mut run = last;
        let mut until = u64::MAX;
        loop {
            let inside: Vec<_> = run.stretches.iter().filter(|s| s.to <= until).collect();
            steps.extend(inside.iter().rev().map(|s| PathStep {
                node: Some(run.node),
                what: s.what.clone(),
                cycles: s.to - s.from,
            }));
            let Some((before, left)) = run.cause else { break };
            let begun = inside.first().map_or(run.possible, |s| s.from);
            if begun > run.possible {
                steps.push(PathStep {
                    node: Some(run.node),
                    what: "wait for the engine".into(),
                    cycles: begun - run.possible,
                });
            }
            if run.possible > left {
                let what = if run.by_message { "latency" } else { "wait" };
                let node = (!run.by_message).then_some(run.node);
                steps.push(PathStep { node, what: what.into(), cycles: run.possible - left });
            }
            until = left;
            run = &self.runs[before];
        }
        steps.reverse();
        steps
    }
}
