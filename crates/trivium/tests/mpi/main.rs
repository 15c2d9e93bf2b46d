//! Searches and runs by several processes of MPI, in one program.

#[path = "../suite/harness/mod.rs"]
mod harness;
mod run;
mod search;
#[path = "../../../check/tests/suite/slow.rs"]
mod slow;
#[path = "../suite/viewer/mod.rs"]
mod viewer;

use harness::Run;
use std::process::{Child, Command, Stdio};

/// Begins a job; what it prints is kept.
fn start(mut job: Command) -> Child {
    job.stdout(Stdio::piped()).stderr(Stdio::piped());
    job.spawn().expect("mpirun can be started: `make mpi` installs it")
}

/// What has come of a job, at its end.
fn ended(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Each of these jobs ends with an error that is told once. They are under way together: `mpirun` waits for a second before it ends a
/// job of which a rank has failed.
fn refused(jobs: Vec<(Command, &str)>) {
    let started: Vec<_> = jobs.into_iter().map(|(job, what)| (start(job), what)).collect();
    for (job, what) in started {
        let run = ended(job);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert_eq!(
            (run.err.matches(what).count(), run.err.matches("error:").count(), run.out.as_str()),
            (1, 1, ""),
            "{run:?}"
        );
    }
}
