//! The processes of MPI keep the contract of a group, and that of a transport. This program starts itself under `mpirun`.

use std::process::{Command, ExitCode};
use trivium_check::group::contract;
use trivium_mpi::Mail;
use trivium_run::check_transport;

fn main() -> ExitCode {
    let mut job = trivium::ranks::Job::default();
    if let Err(failure) = trivium::ranks::begin(&mut job) {
        panic!("{failure}");
    }
    if let Some(group) = job.group() {
        // More than goes at a time.
        contract(group, 70 << 20);
        if let Some(world) = job.world() {
            // What is sent along with its header, what is not, and what goes in pieces.
            for (piece, packets, largest) in [(usize::MAX, 3000, 64), (usize::MAX, 2000, 8192), (1000, 300, 8192)] {
                let kept = check_transport(&mut Mail::in_pieces(world, piece), packets, largest);
                assert_eq!(kept, Ok(()), "packets of up to {largest} bytes");
                // Nobody floods those who are still at the one before.
                group.gather(&[0]);
            }
        }
        return ExitCode::SUCCESS;
    }
    let own = std::env::current_exe().expect("this program has a name");
    for ranks in ["2", "3", "4"] {
        let mut mpirun = Command::new("mpirun");
        mpirun.args(["-n", ranks]).arg(&own).envs(AS_ROOT_AND_ANYWHERE);
        let status = mpirun.status().expect("mpirun can be started: `make mpi` installs it");
        assert!(status.success(), "{ranks} ranks: {status}");
        println!("both contracts are kept by {ranks} ranks");
    }
    ExitCode::SUCCESS
}

const AS_ROOT_AND_ANYWHERE: [(&str, &str); 3] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
];
