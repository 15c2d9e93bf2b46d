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

/// The ranks of a job, in the order in which they were started. Some launchers (MPICH's) start a process that starts them.
fn ranks_of(launcher: &std::process::Child) -> Vec<String> {
    let started = |by: &str, name: &[&str]| -> Vec<String> {
        let found = std::process::Command::new("pgrep").args(["-P", by]).args(name).output().unwrap();
        String::from_utf8_lossy(&found.stdout).lines().map(str::to_string).collect()
    };
    let launcher = launcher.id().to_string();
    let between = started(&launcher, &[]);
    let all = [launcher].into_iter().chain(between);
    all.flat_map(|by| started(&by, &["trivium"])).collect()
}

/// What a job has printed, without what MPICH's launcher adds where a rank has been killed.
fn of_job(printed: &str) -> String {
    let is_launchers = |line: &&str| {
        ["=", "YOUR APPLICATION TERMINATED", "This typically refers", "Please see the FAQ"]
            .iter()
            .any(|begin| line.starts_with(begin))
    };
    printed.lines().filter(|line| !line.is_empty() && !is_launchers(line)).collect()
}
