//! All tests of the simulator that use it as other crates do, in one program.

mod acceptance;
mod atomics;
mod bench;
mod blame;
mod bulk;
mod calls;
mod clock;
mod compute;
mod exact;
mod faults;
mod flash;
mod frames;
mod homes;
mod library;
mod links;
mod many;
mod miss;
#[path = "../../../lang/tests/suite/mutant/mod.rs"]
mod mutant;
mod mutants;
mod placement;
mod prefetch;
mod programs;
mod random;
mod rtlb;
#[path = "../../../check/tests/suite/slow.rs"]
mod slow;
mod start;
mod tlb;
mod trace;
mod wrong;
