//! Processes of one job: who has started them, and how bytes get from one to another, by MPI.
//!
//! MPI is a library of the machine, and there are several that do not know each other. So it is used only with the feature `mpi`;
//! [`launched`] tells without it that a launcher of one has started several processes, each of which would else do
//! the whole work.
//!
//! It must never know what is sent.
//!
//! `unsafe` is only in `mail`, where MPI reads and writes buffers of ours after the call that named them has returned.

mod launcher;
#[cfg(feature = "mpi")]
mod mail;
#[cfg(any(feature = "mpi", test))]
mod processors;
#[cfg(feature = "mpi")]
mod world;

pub use launcher::{Launched, has_launcher, is_job_of_one, launched};
#[cfg(feature = "mpi")]
pub use mail::Mail;
#[cfg(feature = "mpi")]
pub use world::{NotJoined, World};
