//! Linked loads and conditional stores, and the locks and barriers that are made of them (`programs/include/baselines.h`).

use crate::harness::{in_file, trivium};
use crate::slow;

const BACKENDS: [&[&str]; 3] = [&["sim", "-m", "flash"], &["sim", "-m", "typhoon"], &["run"]];

/// Protocols, and whether the load has to ask as a store does: where a node that asks to store gives its copy up first.
const PROTOCOLS: [(&str, &str); 6] = [
    ("msi", "0"),
    ("stache", "0"),
    ("flash-coherence", "0"),
    ("flash-fenced", "0"),
    ("german", "1"),
    ("migratory", "1"),
];

#[test]
fn linked_stores_lose_nothing_and_see_what_was_changed_back() {
    for (number, (protocol, exclusive)) in PROTOCOLS.into_iter().enumerate() {
        for backend in slow::in_turn(2, number, BACKENDS) {
            let more =
                ["programs/linked.c", "-p", protocol, "-n", "3", "--cc=-DBASELINE_FENCED", "--", "-x", exclusive];
            let more = if protocol == "flash-fenced" { &more[..] } else { &[&more[..5], &more[6..]].concat() };
            let run = trivium(&[backend, more].concat());
            assert_eq!(run.code, Some(0), "{protocol} {backend:?}: {}", run.err);
            assert!(run.out.contains("linked: ok, 60\n"), "{protocol} {backend:?}: {}", run.out);
        }
    }
}

#[test]
fn locks_and_barriers_of_shared_memory_are_right() {
    let locks = ["llsc", "mcs"].map(|name| format!("programs/lockbench-{name}.c"));
    let barriers = ["llsc", "tournament", "mcs", "master"].map(|name| format!("programs/barrierbench-{name}.c"));
    for (number, program) in locks.iter().chain(&barriers).enumerate() {
        let entries = if program.contains("lockbench") { "24" } else { "5" };
        for (turn, protocol) in ["flash-coherence", "flash-fenced"].into_iter().enumerate() {
            let fence = if protocol == "flash-fenced" { &["--cc=-DBASELINE_FENCED"][..] } else { &[] };
            for backend in slow::in_turn(3, number + turn, BACKENDS) {
                let run =
                    trivium(&[backend, &[program, "-p", protocol, "-n", "5"], fence, &["--", "-n", entries]].concat());
                assert_eq!(run.code, Some(0), "{program} {protocol} {backend:?}: {}", run.err);
                assert!(run.out.contains("bench: ok, "), "{program} {protocol} {backend:?}: {}", run.out);
            }
        }
    }
}

/// A protocol that performs accesses where the block is has no copy to lose.
#[test]
fn where_there_is_no_copy_linked_accesses_are_refused() {
    for (protocol, what) in [("uncached", "a linked load at"), ("swcc", "a conditional store at")] {
        for backend in [BACKENDS[1], BACKENDS[2]] {
            let run = trivium(&[backend, &["programs/linked.c", "-p", protocol, "-n", "2"]].concat());
            assert_eq!(run.code, Some(1), "{protocol} {backend:?}: {}", run.err);
            for word in [what, protocol, "help: use trivium_compare_swap32"] {
                assert!(run.err.contains(word), "{protocol} {backend:?}: {}", run.err);
            }
        }
    }
}

/// A protocol that takes the copy away from who asks to store would let the program try for ever.
#[test]
fn stores_that_can_never_succeed_are_told() {
    let text = "#include \"trivium.h\"\nint main(void) {\n    int32_t *word = trivium_alloc_on(0, 64);\n    \
                while (!trivium_store_conditional32(word, 1)) {}\n}\n";
    let folder = crate::harness::folder();
    let program = in_file(&folder, "unlinked.c", text);
    for backend in [BACKENDS[1], BACKENDS[2]] {
        let run = trivium(&[backend, &[&program, "-p", "msi", "-n", "2"]].concat());
        assert!(run.err.contains("the last linked load was not of that word"), "{backend:?} {}{}", run.out, run.err);
    }
    let text = "#include \"trivium.h\"\nint main(void) {\n    int32_t *word = trivium_alloc_on(0, 64);\n    trivium_barrier();\n    \
                while (!trivium_store_conditional32(word, trivium_load_linked32(word) + 1)) {}\n    trivium_barrier();\n}\n";
    let program = in_file(&folder, "robbed.c", text);
    let run = trivium(&["sim", "-m", "typhoon", &program, "-p", "german", "-n", "2"]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    for word in ["10000 conditional stores in a row", "`german`", "trivium_load_linked_exclusive32"] {
        assert!(run.err.contains(word), "{}", run.err);
    }
}

/// What the programs of the study of FLASH's locks and barriers print, of each lock and barrier that they are made with.
#[test]
fn times_of_locks_and_barriers_are_told() {
    let flags = ["-DTICKET", "-DMCS", "-DBASELINE_EXCLUSIVE", "-DBASELINE_LAST_BOUND=0"];
    let locks =
        flags.map(|flag| ("locktime", flag, ["acquire: ", "hand-off: ", "total: "].as_slice(), ["1", "4", "5"]));
    let flags = ["-DTOURNAMENT -DRADIX=4", "-DMCS -DBASELINE_SENSE_APART", "-DMASTER", "-DBASELINE_EXCLUSIVE"];
    let barriers = flags
        .map(|flag| ("barriertime", flag, ["fall-through: ", "release: ", "iteration: "].as_slice(), ["0", "1", "2"]));
    for (number, (program, flag, says, modes)) in locks.into_iter().chain(barriers).enumerate() {
        for (mode, says) in slow::in_turn(3, number, modes.into_iter().zip(says).collect::<Vec<_>>()) {
            let (program, cc) = (format!("programs/{program}.c"), format!("--cc={flag}"));
            let with = ["-m", "flash-craylink", "-p", "flash-relaxed", "-n", "5", "--block", "128", &cc];
            let run = trivium(&[&["sim", &program], &with[..], &["--", "-m", mode]].concat());
            assert!(run.code == Some(0) && run.out.contains(says), "{program} {flag} {mode}: {}{}", run.out, run.err);
        }
    }
}

/// flash-coherence, and what extends it, tells sharers in portions; flash-partial refuses the writer, and those that were told come back meanwhile.
#[test]
fn a_writer_of_many_sharers_is_refused_where_the_home_does_not_wait() {
    let through = |protocol: &str| -> f64 {
        let with = ["-m", "flash-craylink", "-p", protocol, "-n", "16", "--block", "128"];
        let more = ["--cc=-DBASELINE_EXCLUSIVE", "--", "-m", "0", "-r", "1"];
        let run = trivium(&[&["sim", "programs/barriertime.c"], &with[..], &more[..]].concat());
        let told = run.out.split_once("fall-through: ").and_then(|(_, rest)| rest.split_whitespace().next());
        told.unwrap_or_else(|| panic!("{protocol}: {}{}", run.out, run.err)).parse().unwrap()
    };
    let (told, refused) = (through("flash-relaxed"), through("flash-partial"));
    assert!(told < 800.0 && refused > 3.0 * told, "{told} {refused}");
}
