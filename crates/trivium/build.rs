//! Built-in protocols and headers are part of the program: build it again when one of them changes or is new. And the
//! program knows from which sources its simulator and its checker were made.

mod sources;

use std::path::Path;

/// All that a simulation's result depends on, besides its inputs, from the repository's root.
const SIMULATOR: [&str; 7] = [
    "crates/protocol/src",
    "crates/lang/src",
    "crates/engine/src",
    "crates/guest/src",
    "crates/node/src",
    "crates/sim/src",
    "Cargo.lock",
];

/// All that the form and the meaning of a state of the search depend on.
const CHECKER: [&str; 5] =
    ["crates/protocol/src", "crates/lang/src", "crates/engine/src", "crates/check/src", "Cargo.lock"];

/// All that nodes which are processes of their own must have in common.
const RUNNER: [&str; 8] = [
    "crates/protocol/src",
    "crates/lang/src",
    "crates/engine/src",
    "crates/guest/src",
    "crates/node/src",
    "crates/run/src",
    "crates/mpi/src",
    "Cargo.lock",
];

fn main() {
    println!("cargo::rerun-if-changed=../../protocols");
    println!("cargo::rerun-if-changed=../../protocols/broken");
    println!("cargo::rerun-if-changed=../../programs");
    for part in SIMULATOR.into_iter().chain(CHECKER).chain(RUNNER) {
        println!("cargo::rerun-if-changed=../../{part}");
    }
    let fingerprint =
        sources::fingerprint(Path::new("../.."), &SIMULATOR).expect("the simulator's sources can be read");
    println!("cargo::rustc-env=TRIVIUM_SIMULATOR={fingerprint:016x}");
    let fingerprint = sources::fingerprint(Path::new("../.."), &CHECKER).expect("the checker's sources can be read");
    println!("cargo::rustc-env=TRIVIUM_CHECKER={fingerprint:016x}");
    let fingerprint = sources::fingerprint(Path::new("../.."), &RUNNER).expect("the sources of run can be read");
    println!("cargo::rustc-env=TRIVIUM_RUNNER={fingerprint:016x}");
}
