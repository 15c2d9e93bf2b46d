//! Who has started this process, by the variables that launchers set.

/// Several processes that a launcher has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Who it was, for people.
    pub by: &'static str,
    /// How many, 2 or more.
    pub processes: u64,
    /// The number of this one, from 0.
    pub rank: u64,
    /// Whether they are sure to be one job of MPI. `srun` also starts processes that have nothing to do with each other.
    pub is_mpi: bool,
}

const SRUN: &str = "srun";
/// Launchers, with the variables that say how many processes there are and which this one is.
const LAUNCHERS: [(&str, &str, &str); 4] = [
    ("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MVAPICH's mpirun", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ("a launcher by PMI (as MPICH's mpirun is)", "PMI_SIZE", "PMI_RANK"),
    // Set for each step, and not in the script of a batch job, as SLURM_NTASKS is.
    (SRUN, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];
/// With this variable `srun` has started a job of MPI.
const PMIX: &str = "PMIX_RANK";

/// The processes that a launcher has started, this one among them; `None` where it is alone. `variable` reads one of the
/// environment.
pub fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| variable(name)?.trim().parse::<u64>().ok();
    LAUNCHERS.into_iter().find_map(|(by, size, rank)| {
        let processes = number(size).filter(|&processes| processes > 1)?;
        let is_mpi = by != SRUN || variable(PMIX).is_some();
        Some(Launched { by, processes, rank: number(rank).unwrap_or(0), is_mpi })
    })
}

/// Whether a launcher of MPI has started this process alone: a job of one.
pub fn is_job_of_one(variable: impl Fn(&str) -> Option<String>) -> bool {
    let of_mpi = LAUNCHERS.iter().filter(|(by, _, _)| *by != SRUN);
    of_mpi.into_iter().any(|(_, size, _)| variable(size).is_some_and(|processes| processes.trim() == "1"))
}

/// Whether a launcher has started this process, be it alone: what it prints then passes through the launcher, which may give it a
/// terminal though what the launcher prints goes into a file.
pub fn has_launcher(variable: impl Fn(&str) -> Option<String>) -> bool {
    LAUNCHERS.iter().any(|(_, size, _)| variable(size).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_of_one_process_is_one() {
        let of = |name: &'static str| move |asked: &str| (asked == name).then(|| "1".to_string());
        assert!(has_launcher(of("OMPI_COMM_WORLD_SIZE")) && launched(of("OMPI_COMM_WORLD_SIZE")).is_none());
        assert!(!has_launcher(of("SLURM_NTASKS")));
        assert!(
            is_job_of_one(of("PMI_SIZE")) && !is_job_of_one(of("SLURM_STEP_NUM_TASKS")) && !is_job_of_one(|_| None)
        );
    }

    fn of(variables: &[(&str, &str)]) -> Option<(&'static str, u64, u64, bool)> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string());
        launched(variable).map(|l| (l.by, l.processes, l.rank, l.is_mpi))
    }

    #[test]
    fn launchers_are_known_by_what_they_set() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "many")]), None);
        let open = [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "3")];
        assert_eq!(of(&open), Some(("Open MPI's mpirun", 4, 3, true)));
        let pmi = [("PMI_SIZE", "2"), ("PMI_RANK", "1")];
        assert_eq!(of(&pmi), Some(("a launcher by PMI (as MPICH's mpirun is)", 2, 1, true)));
    }

    #[test]
    fn a_batch_job_of_slurm_is_not_several_processes_and_srun_may_start_strangers() {
        assert_eq!(of(&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]), None);
        let step = [("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "5")];
        assert_eq!(of(&step), Some(("srun", 8, 5, false)));
        let pmix = [("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "5"), ("PMIX_RANK", "5")];
        assert_eq!(of(&pmix), Some(("srun", 8, 5, true)));
    }
}
