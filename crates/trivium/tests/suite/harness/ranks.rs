//! Several processes of one job.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// As root, and more ranks than processors.
pub const ANYWHERE: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_orte_abort_print_stack", "0"),
];

/// A folder for what a job's processes keep while they run. In the one that Open MPI takes by itself it makes a folder for all jobs of
/// the user if there is none, and fails if two jobs do so at once.
fn sessions() -> PathBuf {
    static JOBS: AtomicU32 = AtomicU32::new(0);
    let name = format!("job-{}-{}", std::process::id(), JOBS.fetch_add(1, Ordering::Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// `mpirun` of a job of its own, which begins anywhere.
pub fn job() -> Command {
    let mut command = Command::new("mpirun");
    command.envs(ANYWHERE).env("OMPI_MCA_orte_tmpdir_base", sessions());
    command
}

/// `mpirun -n RANKS trivium ARGS`, with nothing to read.
pub fn mpirun(ranks: u32, args: &[&str]) -> Command {
    let mut command = job();
    command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_trivium")]).args(args).stdin(Stdio::null());
    command
}
