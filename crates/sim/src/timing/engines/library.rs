//! No engine at all: handlers run on the compute processor, but only within the calls of a library that the program makes: an access to
//! shared memory, a call of the protocol, a barrier, a wait. A program that computes for long keeps everybody waiting who
//! asks its node for something. Nothing is saved or restored, since the program has called the library itself.

use super::Engine;

pub(super) struct Library;

impl Engine for Library {
    fn shares_processor(&self) -> bool {
        true
    }

    fn only_in_library(&self) -> bool {
        true
    }

    fn occupancy(&self, cycles: u64) -> u64 {
        cycles
    }
}
