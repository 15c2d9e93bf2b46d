//! The programs in Split-C: each gives the same bits under every protocol, with blocks of every size, in simulations (of which one has
//! accesses checked by a library) and in a run.

use crate::harness::trivium;

/// A program, flags of its compiler, and its arguments.
type Case<'a> = (&'a str, &'a str, &'a [&'a str]);

const PROGRAMS: [Case<'static>; 11] = [
    ("matmul", "", &["-d", "24"]),
    ("matmul-blocked", "-DBLOCK=1", &["-d", "8"]),
    ("matmul-blocked", "-DBLOCK=4", &["-d", "16", "-o", "1"]),
    ("matmul-blocked", "-DBLOCK=16", &["-d", "32"]),
    ("matmul-blocked", "-DBLOCK=16 -DOPTIMISED", &["-d", "32"]),
    ("matmul-blocked", "-DBLOCK=64 -DOPTIMISED", &["-d", "128"]),
    ("em3d", "", &["-n", "12", "-d", "6", "-r", "4", "-p", "20"]),
    ("em3d", "-DGETS", &["-n", "12", "-d", "6", "-r", "4", "-p", "20"]),
    ("ring", "", &[]),
    ("stencil", "", &[]),
    ("samplesort", "", &["-n", "60"]),
];

/// The multiplications of the study, of matrices as large as two of its blocks.
const MULTIPLICATIONS: [Case<'static>; 8] = [
    ("matmul", "", &["-d", "128"]),
    ("matmul-blocked", "-DBLOCK=1", &["-d", "64"]),
    ("matmul-blocked", "-DBLOCK=4", &["-d", "128"]),
    ("matmul-blocked", "-DBLOCK=16", &["-d", "128"]),
    ("matmul-blocked", "-DBLOCK=64", &["-d", "128"]),
    ("matmul-blocked", "-DBLOCK=16 -DOPTIMISED", &["-d", "128"]),
    ("matmul-blocked", "-DBLOCK=64 -DOPTIMISED", &["-d", "128"]),
    ("matmul-blocked", "-DBLOCK=128 -DOPTIMISED", &["-d", "256"]),
];

/// Protocols with the blocks that they are tried with.
const UNDER: [(&str, &str); 6] =
    [("uncached", "64"), ("stache", "64"), ("swcc", "8"), ("swcc", "256"), ("swcc", "8192"), ("stache", "65536")];

/// A machine that looks at accesses as finely as blocks may be.
const TYPHOON: &[&str] =
    &["sim", "-m", "typhoon", "--set", "machine.cache.line=8", "--set", "machine.access_control.granule=8"];
/// A network of workstations.
const NOW: &[&str] = &["sim", "-m", "now"];
/// For real.
const RUN: &[&str] = &["run"];

/// What a program prints, in a simulation or in a run.
fn output(command: &[&str], case: &Case, (protocol, block): (&str, &str), nodes: &str) -> String {
    let (program, flags, args) = case;
    let file = format!("programs/split-c/{program}.sc");
    let mut all = command.to_vec();
    all.extend([&file, "-p", protocol, "--block", block, "-n", nodes, "--format", "json"]);
    let cc = format!("--cc={flags}");
    if !flags.is_empty() {
        all.push(&cc);
    }
    all.push("--");
    all.extend(args.iter());
    let result = trivium(&all).json(0);
    let printed = result["output"].as_str().expect("what it printed").to_string();
    assert!(printed.contains(": ok, "), "{all:?}: {printed}");
    printed
}

/// All ways to run a program.
const COMMANDS: [&[&str]; 3] = [TYPHOON, NOW, RUN];

fn same_everywhere(programs: &[Case], nodes: &[&str], under: &[(&str, &str)]) {
    same(programs, nodes, under, &COMMANDS);
}

fn same(programs: &[Case], nodes: &[&str], under: &[(&str, &str)], commands: &[&[&str]]) {
    for case in programs {
        for nodes in nodes {
            let expected = output(TYPHOON, case, ("stache", "64"), nodes);
            for way in under {
                for command in commands {
                    assert_eq!(output(command, case, *way, nodes), expected, "{command:?} {case:?} {way:?} {nodes}");
                }
            }
        }
    }
}

/// One program under one protocol: the first ones in all ways to run them, which is each way under each protocol; the others in one.
macro_rules! each_under_one {
    ($($name:ident: $at:expr),+) => {
        $(
            #[test]
            fn $name() {
                let commands = if $at < UNDER.len() { &COMMANDS[..] } else { &COMMANDS[$at % 3..][..1] };
                same(&PROGRAMS[$at..=$at], &["3"], &UNDER[$at % UNDER.len()..][..1], commands);
            }
        )+

        #[test]
        fn every_program_is_under_one() {
            assert!([$($at),+].into_iter().eq(0..PROGRAMS.len()));
        }
    };
}

each_under_one!(
    the_naive_multiply_gives_the_same_bits: 0, the_multiply_by_blocks_of_1_gives_the_same_bits: 1,
    the_multiply_by_blocks_of_4_gives_the_same_bits: 2, the_multiply_by_blocks_of_16_gives_the_same_bits: 3,
    the_better_multiply_by_blocks_of_16_gives_the_same_bits: 4, the_better_multiply_by_blocks_of_64_gives_the_same_bits: 5,
    em3d_gives_the_same_bits: 6, em3d_by_gets_gives_the_same_bits: 7, the_ring_gives_the_same_bits: 8,
    the_stencil_gives_the_same_bits: 9, the_sample_sort_gives_the_same_bits: 10
);

#[test]
#[ignore = "minutes"]
fn programs_give_the_same_bits_everywhere() {
    same_everywhere(&PROGRAMS, &["3"], &UNDER);
}

/// Gets bring what reads do, and hide each other's latency.
#[test]
fn waves_by_gets_are_those_by_reads() {
    let case = |flags| Case::from(("em3d", flags, &["-n", "12", "-d", "6", "-r", "4", "-p", "20"]));
    let way = ("uncached", "64");
    assert_eq!(output(TYPHOON, &case(""), way, "3"), output(TYPHOON, &case("-DGETS"), way, "3"));
    let cycles = |flags| {
        let all = ["sim", "programs/split-c/em3d.sc", "-p", "uncached", "-m", "now", "-n", "3", "--format", "json"];
        // Of remote dependencies none stays at home, or there is little to hide.
        let args = [flags, "--", "-n", "12", "-d", "6", "-r", "6", "-o", "1", "-c", "0", "-i", "10"];
        trivium(&[&all[..], &args].concat()).json(0)["cycles"].as_u64().unwrap()
    };
    let (reads, gets) = (cycles("--cc="), cycles("--cc=-DGETS"));
    assert!(10 * gets < 9 * reads, "{gets} cycles by gets, {reads} by reads");
}

#[test]
#[ignore = "minutes"]
fn programs_give_the_same_bits_on_all_numbers_of_processors() {
    same_everywhere(&PROGRAMS, &["1", "2", "8"], &UNDER);
    same_everywhere(
        &PROGRAMS,
        &["3"],
        &[("msi", "64"), ("swcc", "64"), ("swcc", "1024"), ("swcc", "65536"), ("uncached", "8"), ("uncached", "8192")],
    );
}

#[test]
#[ignore = "minutes"]
fn multiplications_give_the_same_bits_everywhere() {
    // All that a processor has lies in one block of 65,536 bytes: in a run such blocks go to and fro for a quarter of an hour.
    same_everywhere(&MULTIPLICATIONS, &["1", "2", "3", "8"], &UNDER[..5]);
}

#[test]
fn latencies_are_told_for_each_state() {
    for (protocol, block) in [("swcc", "8"), ("stache", "64")] {
        let fine = ["--set", "machine.cache.line=8", "--set", "machine.access_control.granule=8", "--block", block];
        let args = ["sim", "programs/split-c/latency.sc", "-m", "typhoon", "-n", "4", "-p", protocol];
        let run = trivium(&[&args[..], &fine].concat());
        assert!(run.code == Some(0) && run.out.contains("latency: ok"), "{run:?}");
        assert_eq!(run.out.lines().filter(|line| line.starts_with("read ") || line.starts_with("write ")).count(), 22);
    }
}
