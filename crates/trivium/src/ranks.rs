//! Several processes, the ranks, that carry out one command.

use crate::Failure;
use crate::arguments::{Command, Transport};
use trivium_check::group::Group;
use trivium_diagnostic::Code;
use trivium_mpi::{Launched, is_job_of_one, launched};

/// What this process is a part of.
#[derive(Default)]
pub struct Job {
    #[cfg(feature = "mpi")]
    world: Option<MpiGroup>,
}

impl Job {
    /// The processes that work together, if there are several.
    pub fn group(&self) -> Option<&dyn Group> {
        #[cfg(feature = "mpi")]
        return self.world.as_ref().map(|world| world as &dyn Group);
        #[cfg(not(feature = "mpi"))]
        None
    }

    /// The processes that work together, as MPI knows them.
    #[cfg(feature = "mpi")]
    pub fn world(&self) -> Option<&trivium_mpi::World> {
        self.world.as_ref().map(|world| &world.0)
    }

    /// Whether this process is the one that says what is found, or what is wrong.
    pub fn speaks(&self) -> bool {
        self.group().is_none_or(|group| group.rank() == 0)
    }
}

/// Joins the job that a launcher has started, which becomes `job`; without a launcher this process is alone.
///
/// # Errors
/// Several processes were started that cannot work together: each would do all the work. Only the first says so. `job` is to live
/// until it has: when one rank ends with an error, the launcher ends the others, and what they have not said is lost.
pub fn begin(job: &mut Job) -> Result<(), Failure> {
    let Some(launched) = launched(|name| std::env::var(name).ok()) else { return Ok(()) };
    if launched.is_mpi {
        return join(&launched, job).map_err(|failure| said_by(launched.rank, failure));
    }
    if launched.rank == 0 {
        let Launched { by, processes, .. } = launched;
        crate::say!(
            "note: {by} has started {processes} of this command, and each does all of it: `{by} --mpi=pmix`, or mpirun, lets ranks work together"
        );
    }
    Ok(())
}

/// Joins the job of one that a launcher has started, if the command is one that takes it as such: a run of one node.
///
/// # Errors
/// As [`begin`].
pub fn begin_alone(command: &Command) -> Result<Job, Failure> {
    let mut job = Job::default();
    let is_meant = matches!(command, Command::Run(run) if run.transport != Some(Transport::Threads));
    if cfg!(feature = "mpi") && is_meant && is_job_of_one(|name| std::env::var(name).ok()) {
        join(&Launched { by: "the launcher", processes: 1, rank: 0, is_mpi: true }, &mut job)?;
    }
    Ok(job)
}

/// What only the first rank says, so that it is said once.
fn said_by(rank: u64, failure: Failure) -> Failure {
    match rank {
        0 => failure,
        _ => Failure::silent(failure.code),
    }
}

#[cfg(not(feature = "mpi"))]
fn join(launched: &Launched, _: &mut Job) -> Result<(), Failure> {
    let Launched { by, processes, .. } = launched;
    let what = format!(
        "{by} has started {processes} of this `trivium`, which was built without MPI: each would do all the work"
    );
    Err(Failure::input(Code::Ranks, what, "build it with MPI (`make mpi`), or start it without the launcher"))
}

#[cfg(feature = "mpi")]
fn join(launched: &Launched, job: &mut Job) -> Result<(), Failure> {
    let world = trivium_mpi::World::join().map_err(|why| Failure::input(Code::Ranks, why, "use another MPI"))?;
    let world = job.world.insert(MpiGroup(world));
    let Launched { by, processes, .. } = launched;
    if world.size() as u64 != *processes {
        let library = trivium_mpi::World::library();
        let what = format!(
            "{by} has started {processes} of this `trivium`, but to the MPI that it was built with ({library}) each is alone"
        );
        let help = "use the launcher of that MPI, or build `trivium` with this one's (`make mpi`)";
        return Err(Failure::input(Code::Ranks, what, help));
    }
    let words: Vec<Vec<u8>> = std::env::args_os().skip(1).map(|word| word.into_encoded_bytes()).collect();
    // Ranks do the same work only if they are made from the same sources.
    let versions = [crate::VERSION, env!("TRIVIUM_RUNNER")].map(str::as_bytes);
    let parts: Vec<&[u8]> = versions.into_iter().chain(words.iter().map(Vec::as_slice)).collect();
    let mark = crate::library::hex(&parts);
    let mark = u64::from_str_radix(&mark[..16], 16).unwrap_or_default();
    if world.gather(&[mark]).iter().any(|other| *other != mark) {
        let help = "start the same `trivium` with the same arguments on every rank";
        return Err(Failure::input(
            Code::Ranks,
            "the ranks do not agree on the command line, or are different versions of `trivium`",
            help,
        ));
    }
    Ok(())
}

/// The processes of MPI as a group that searches together.
#[cfg(feature = "mpi")]
struct MpiGroup(trivium_mpi::World);

#[cfg(feature = "mpi")]
impl Group for MpiGroup {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn neighbours(&self) -> usize {
        self.0.neighbours()
    }

    fn exchange(&self, batches: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.0.exchange(&batches)
    }

    fn gather(&self, numbers: &[u64]) -> Vec<u64> {
        self.0.gather(numbers)
    }
}
