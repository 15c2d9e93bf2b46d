//! Several processes of one job.

use std::process::{Command, Stdio};

/// As root, and more ranks than processors.
pub const ANYWHERE: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_orte_abort_print_stack", "0"),
];

/// `mpirun -n RANKS trivium ARGS`, with nothing to read.
pub fn mpirun(ranks: u32, args: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_trivium")]).args(args);
    command.envs(ANYWHERE).stdin(Stdio::null());
    command
}
