//! Searches and runs by several processes of MPI, in one program.

#[path = "../suite/harness/mod.rs"]
mod harness;
mod run;
mod search;
#[path = "../../../check/tests/suite/slow.rs"]
mod slow;
#[path = "../suite/viewer/mod.rs"]
mod viewer;
