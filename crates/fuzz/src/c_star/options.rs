//! What is asked for.

use std::path::PathBuf;

/// Of random programs, and of mistakes that they may show.
pub struct CStarOptions {
    pub cases: u64,
    pub seed: u64,
    /// Only this one.
    pub case: Option<u64>,
    /// These numbers of nodes, in place of all.
    pub nodes: Vec<usize>,
    /// These protocols, in simulations, in place of all.
    pub protocols: Vec<String>,
    pub keep: PathBuf,
    pub trivium: PathBuf,
}
