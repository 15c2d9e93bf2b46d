//! Which values of a protocol's parameters are explored.

use clap::Args;

/// Whether other values of parameters are tried after the first search
#[derive(Debug, Args)]
pub struct OtherValues {
    /// Search again with every other value of each parameter whose range has at most 8 values, one parameter at a time (default:
    /// if nothing is violated, all states were seen, and there are fewer than 100,000; each such search then ends at 1,000,000
    /// states, and values that --set gives are kept)
    #[arg(long, conflicts_with = "no_all_parameters")]
    pub all_parameters: bool,
    /// Search with no other values of parameters
    #[arg(long)]
    pub no_all_parameters: bool,
}
