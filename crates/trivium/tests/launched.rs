//! A launcher has started several of a `trivium` that was built without MPI: it does not do the same work several times in silence.
#![cfg(not(feature = "mpi"))]

use std::process::{Command, Output};

fn run(variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trivium"));
    command.args(["check", "msi"]).envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn without_mpi_several_processes_are_refused_and_the_first_says_why() {
    for [size, rank] in [["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"], ["PMI_SIZE", "PMI_RANK"]] {
        for (number, said) in [("0", "has started 4 of this `trivium`, which was built without MPI"), ("3", "")] {
            let output = run(&[(size, "4"), (rank, number)]);
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{error}");
            assert_eq!((error.is_empty(), error.contains(said)), (said.is_empty(), true), "{error}");
        }
        assert!(run(&[(size, "1"), (rank, "0")]).status.success(), "one process is none too many");
    }
}

#[test]
fn what_srun_starts_may_be_meant_and_is_noted() {
    let step = [("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "0")];
    let output = run(&step);
    assert!(output.status.success());
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.starts_with("note: srun has started 8 of this command, and each does all of it"), "{note}");
    assert!(run(&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "1")]).stderr.is_empty());
    assert!(run(&[("SLURM_NTASKS", "8")]).stderr.is_empty(), "a batch script is one process");
}
