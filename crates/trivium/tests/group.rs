//! The processes of MPI keep the contract of a group. This program starts itself under `mpirun`.

use std::process::{Command, ExitCode};
use trivium_check::group::contract;

fn main() -> ExitCode {
    let job = match trivium::ranks::begin() {
        Ok(job) => job,
        Err(failure) => panic!("{failure}"),
    };
    if let Some(group) = job.group() {
        // More than goes at a time.
        contract(group, 70 << 20);
        return ExitCode::SUCCESS;
    }
    let own = std::env::current_exe().expect("this program has a name");
    for ranks in ["2", "3", "4"] {
        let mut mpirun = Command::new("mpirun");
        mpirun.args(["-n", ranks]).arg(&own).envs(AS_ROOT_AND_ANYWHERE);
        let status = mpirun.status().expect("mpirun can be started: `make mpi` installs it");
        assert!(status.success(), "{ranks} ranks: {status}");
        println!("the contract is kept by {ranks} ranks");
    }
    ExitCode::SUCCESS
}

const AS_ROOT_AND_ANYWHERE: [(&str, &str); 3] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
];
