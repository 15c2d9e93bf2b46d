//! All processes of the job, as MPI knows them.

use crate::processors;
use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::{Universe, initialize_with_threading, library_version};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::fmt;
use std::rc::Rc;

/// Bytes that a process sends, or is sent, at a time, about: what there is more waits, so that the buffers of MPI and
/// ours stay bounded.
const AT_A_TIME: usize = 64 << 20;
/// Bytes from one process to another at a time, at least.
const LEAST: usize = 1 << 16;

/// The processes of a job. All call the same functions in the same order, each in the thread that has called [`World::join`].
/// When it and its [`Mail`](crate::Mail) are dropped MPI ends, for which each waits for all others. An error of MPI, or the loss of a process,
/// ends the job.
pub struct World {
    pub(crate) all: SimpleCommunicator,
    // Dropped last: nothing of MPI may be used afterwards.
    pub(crate) universe: Rc<Universe>,
}

/// Why MPI cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotJoined {
    /// MPI was begun in this process before.
    Begun,
    /// It cannot be used where there are several threads, of which one calls it.
    Threads,
}

impl fmt::Display for NotJoined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotJoined::Begun => "MPI was begun in this process before",
            NotJoined::Threads => "this MPI gives less than MPI_THREAD_FUNNELED",
        })
    }
}

impl std::error::Error for NotJoined {}

impl World {
    /// Joins the job that this process belongs to.
    ///
    /// # Errors
    /// MPI does not allow it.
    pub fn join() -> Result<World, NotJoined> {
        let (universe, threading) = initialize_with_threading(Threading::Funneled).ok_or(NotJoined::Begun)?;
        if threading < Threading::Funneled {
            return Err(NotJoined::Threads);
        }
        Ok(World { all: universe.world(), universe: Rc::new(universe) })
    }

    /// The number of this process, from 0.
    pub fn rank(&self) -> usize {
        usize::try_from(self.all.rank()).unwrap_or_default()
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        usize::try_from(self.all.size()).unwrap_or(1)
    }

    /// How many of them share this one's memory, this one included. Not to be called often.
    pub fn neighbours(&self) -> usize {
        let near = self.all.split_shared(self.all.rank());
        usize::try_from(near.size()).unwrap_or(1)
    }

    /// Whether more processes share this one's memory than there are processors which at least one of them may use: they take turns. A launcher may have kept each on
    /// a processor of its own, so that one alone cannot tell. All ask at once; not to be called often.
    pub fn is_crowded(&self) -> bool {
        let near = self.all.split_shared(self.all.rank());
        let mine = processors::usable();
        let mut theirs = mine;
        near.all_reduce_into(&mine[..], &mut theirs[..], SystemOperation::bitwise_or());
        let processors = match mine == theirs {
            // It may be fewer, where a container has a share of their time.
            true => std::thread::available_parallelism().map_or(usize::MAX, usize::from),
            false => theirs.iter().map(|word| word.count_ones() as usize).sum(),
        };
        usize::try_from(near.size()).unwrap_or(1) > processors
    }

    /// What MPI calls itself.
    pub fn library() -> String {
        library_version().map_or_else(
            |_| "MPI".into(),
            |text| {
                // Open MPI counts the zero behind its text.
                let is_padding = |c: char| c.is_control() || c.is_whitespace();
                text.lines().next().unwrap_or("MPI").trim_matches(is_padding).into()
            },
        )
    }

    /// Gives each process the bytes that stand at its number, this one included; what each has given to this one. They
    /// may have any length: they go in pieces.
    pub fn exchange(&self, batches: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let size = self.size();
        assert_eq!(batches.len(), size, "a batch for each process");
        let given: Vec<u64> = batches.iter().map(|batch| batch.len() as u64).collect();
        let mut taken = vec![0; size];
        self.all.all_to_all_into(&given[..], &mut taken[..]);
        let length = |bytes: u64| usize::try_from(bytes).expect("what was in memory there fits into memory here");
        let mut heard: Vec<Vec<u8>> = taken.iter().map(|&bytes| Vec::with_capacity(length(bytes))).collect();
        let piece = (AT_A_TIME / size).max(LEAST);
        let rounds = given.iter().map(|&bytes| length(bytes).div_ceil(piece)).max().unwrap_or(0);
        let rounds = self.gather(&[rounds as u64]).into_iter().max().unwrap_or(0);
        for round in 0..length(rounds) {
            let part = |bytes: usize| (round * piece).min(bytes)..((round + 1) * piece).min(bytes);
            let parts: Vec<&[u8]> = batches.iter().map(|batch| &batch[part(batch.len())]).collect();
            let to = Places::of(parts.iter().map(|part| part.len()));
            let from = Places::of(taken.iter().map(|&bytes| part(length(bytes)).len()));
            // Never empty: where an empty list of Rust lies is what Open MPI takes for MPI_IN_PLACE.
            let sent = [parts.concat(), vec![0]].concat();
            let mut come = vec![0; from.total + 1];
            let partition = Partition::new(&sent[..], &to.counts[..], &to.starts[..]);
            let mut partition_mut = PartitionMut::new(&mut come[..], &from.counts[..], &from.starts[..]);
            self.all.all_to_all_varcount_into(&partition, &mut partition_mut);
            let mut rest = &come[..];
            for (heard, &bytes) in heard.iter_mut().zip(&taken) {
                let (first, others) = rest.split_at(part(length(bytes)).len());
                heard.extend_from_slice(first);
                rest = others;
            }
        }
        heard
    }

    /// Ends all processes of the job at once, this one too, with this exit code.
    pub fn abort(&self, code: u8) -> ! {
        self.all.abort(code.into())
    }

    /// Gives the same few numbers to all, as many from each; those of all processes, one after the other.
    pub fn gather(&self, numbers: &[u64]) -> Vec<u64> {
        let mut all = vec![0; numbers.len() * self.size()];
        if !numbers.is_empty() {
            self.all.all_gather_into(numbers, &mut all[..]);
        }
        all
    }
}

/// Where pieces lie one after the other, as MPI counts.
struct Places {
    counts: Vec<i32>,
    starts: Vec<i32>,
    total: usize,
}

impl Places {
    fn of(lengths: impl Iterator<Item = usize>) -> Places {
        let mut places = Places { counts: Vec::new(), starts: Vec::new(), total: 0 };
        let number = |bytes: usize| i32::try_from(bytes).expect("pieces are so small that all together are");
        for length in lengths {
            places.counts.push(number(length));
            places.starts.push(number(places.total));
            places.total += length;
        }
        places
    }
}
