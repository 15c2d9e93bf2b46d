//! Faults that the Tempest specification names (its section 8), one test for each row of which Trivium has the mechanism: the fault is injected, and what is said of it names
//! the place, the cause and a remedy. `docs/studies.md` ("Faults") has the table; the rows of hardware, where only the simulator itself can be wrong, are injected in
//! `crates/sim/src/node/faults_tests.rs`.

use crate::bench::{Run, file, machine, program, protocol, source};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use trivium_guest::Program;
use trivium_protocol::Protocol;
use trivium_sim::{Blame, NodeError, Note};

fn compiled(name: &str, text: &str) -> Arc<Protocol> {
    let compiled = trivium_lang::compile(&format!("{name}.tri"), text, &Default::default());
    Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")))
}

/// A protocol of the repository with a mistake in it.
fn broken(name: &str, right: &str, wrong: &str) -> Arc<Protocol> {
    let text = std::fs::read_to_string(file(&format!("protocols/{name}.tri"))).unwrap();
    assert!(text.contains(right), "{right}");
    compiled(name, &text.replace(right, wrong))
}

/// A run under other protocols than those of the repository.
fn under(run: Run, protocols: &[&Arc<Protocol>]) -> Run {
    Run { protocols: protocols.iter().map(|protocol| Arc::clone(protocol)).collect(), ..run }
}

fn says(error: &NodeError, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in: {text}");
    }
    assert_eq!(error.blame, Blame::Subject, "{text}");
}

/// Node 0 stores 42 to a word of its own, node 1 stores 7 to another of the block, and node 2 reads both.
const THREE: &str = r#"#include <trivium.h>
    int main(void) {
        int self = trivium_node();
        volatile int64_t *word = trivium_alloc_on(0, 64);
        if (self == 0) word[0] = 42;
        trivium_barrier();
        if (self == 1) word[1] = 7;
        trivium_barrier();
        if (self == 2 && (word[0] != 42 || word[1] != 7)) trivium_fail("it has another value");
        return 0;
    }"#;

fn three() -> Run {
    Run::with(source(THREE), &[]).nodes(3)
}

/// Row 1: the program touches what is nobody's memory.
#[test]
fn a_page_outside_is_the_programs_fault_and_comes_to_no_handler() {
    let text = r#"#include <trivium.h>
        static void touch(char *page) { *(volatile int *)page = 1; }
        int main(void) {
            char *mine = trivium_alloc_on(0, 4096);
            if (trivium_node() == 1) touch(mine + (1 << 20));
            return 0;
        }"#;
    let handled = std::cell::Cell::new(0);
    let note = |note: &Note| handled.set(handled.get() + u32::from(matches!(note, Note::Handled(_))));
    let error = Run::with(source(text), &[]).go_and_tell(Some(&note)).unwrap_err();
    let words = ["node 1: a store of 4 bytes at 0x40100000 is out of bounds", "shared memory 0x40000000..0x40001000"];
    says(&error, &words);
    says(&error, &["program.c:2", "node 1, cycle ", "in touch", "program.c:5 in main"]);
    assert_eq!(handled.get(), 0, "no handler has heard of it");
}

/// Rows 2 and 8, as far as they are modelled: a handler is about memory that there is not.
#[test]
fn a_handler_that_uses_what_is_not_allocated_is_named() {
    let mover = "protocol mover\nobject mover\nop put(m: mover, at: address)\n\
        role agent of mover everywhere {\n  state Ready { on put(at) { memory[at + 65536] = 1; return } }\n}\n";
    let text = r#"#include <trivium.h>
        __attribute__((import_module("trivium:mover"), import_name("put"))) void put(int64_t mover, int64_t at);
        int main(void) {
            void *word = trivium_alloc_on(0, 64);
            if (trivium_node() == 0) put(0, (intptr_t)word);
            return 0;
        }"#;
    let error = under(Run::with(source(text), &[]), &[&protocol("stache"), &compiled("mover", mover)]).error();
    says(&error, &["node 0, cycle ", "handler Ready.put of object 0: 8 bytes at shared offset 0x10000"]);
    says(&error, &["lie outside what is allocated", "mover.tri:5:", "program.c:5", "help: "]);
}

/// Row 3: a message to a node that there is not; and a node that a program passes.
#[test]
fn a_message_to_no_node_is_refused_where_it_is_sent() {
    let lost = broken("stache", "on read  { send GetRead  to home;", "on read  { send GetRead  to node(7);");
    let error = under(three(), &[&lost]).error();
    says(&error, &["cycle ", "node 2: block 0: cache in Invalid: read: there is no node 7", "stache.tri:", "help: "]);
    let text = r#"#include <trivium.h>
        #include <trivium/remote-records.h>
        int main(void) {
            void *halves = trivium_alloc_on(0, 4096);
            remote_records_open(0, halves, (char *)halves + 2048, 4, 4);
            remote_records_put(0, 7, halves);
            return 0;
        }"#;
    let error = Run::with(source(text), &[]).nodes(1).under(&["stache", "remote-records"]).error();
    says(&error, &["node 0: remote-records.put: `to`: there is no node 7", "program.c:6"]);
}

/// Row 4: a message is no longer than the network takes, or goes in packets, with which nothing changes.
#[test]
fn a_long_message_is_refused_or_goes_in_packets() {
    let args: Vec<String> = (0..17).map(|n| format!("a{n}: word")).collect();
    let long = format!(
        "protocol long\npromises single_writer\nlane main fifo buffered\nmessage Get({}) on main\nrole home of block {{\n  state Idle: write {{ on Get {{ }} }}\n}}\n",
        args.join(", ")
    );
    let error = match trivium_lang::compile("long.tri", &long, &Default::default()) {
        Err(error) => error.to_string(),
        Ok(compiled) => under(three(), &[&Arc::new(compiled)]).error().to_string(),
    };
    assert!(error.contains("long.tri:4:") && error.contains("17") && error.contains("16"), "{error}");
    let run = Run::of("dsmc-write", &["-n", "300", "-i", "3"]).under(&["stache", "remote-records"]).nodes(3);
    let whole = run.clone().on(machine("typhoon", &[("interface.packet_words", "1048576")])).right();
    let split = run.on(machine("typhoon", &[("interface.packet_words", "1")])).right();
    assert_eq!(split.output, whole.output);
    assert!(split.cycles > whole.cycles);
}

/// Row 5: a full network is the simulator's affair, but where a protocol has finite lanes of its own.
#[test]
fn a_full_network_waits_and_loses_nothing() {
    let run = Run::of("em3d", &["-n", "20", "-i", "2", "-r", "50"]).nodes(4);
    let narrow = run.clone().on(machine("typhoon", &[("interface.credits", "1")])).right();
    assert_eq!(narrow.output, run.right().output);
    let two = "protocol two\npromises single_writer\nlane main fifo holds 1\nmessage Get, Also on main\nmessage Give on main with block\n\
        role cache of block {\n  otherwise impossible\n  state Invalid {\n    on read, write { send Get to home; send Also to home; await Give { install; goto Valid; resume } }\n  }\n  state Valid: write {}\n}\n\
        role home of block {\n  state Idle: write {\n    on Get { }\n    on Also { send Give to sender }\n  }\n}\n";
    match trivium_lang::compile("two.tri", two, &Default::default()) {
        Err(error) => assert!(error.to_string().contains("two.tri:9:"), "{error}"),
        Ok(compiled) => says(&under(three(), &[&Arc::new(compiled)]).error(), &["node 1", "lane `main`"]),
    }
}

/// Row 6: a handler's own load or store that the tag of another protocol's block forbids.
#[test]
fn a_handler_faults_on_a_tagged_block() {
    let poke = "protocol poke\nobject poke\nop put(p: poke, at: address)\n\
        role agent of poke everywhere {\n  state Ready { on put(at) { memory[at] = 1; return } }\n}\n";
    let text = r#"#include <trivium.h>
        __attribute__((import_module("trivium:poke"), import_name("put"))) void put(int64_t poke, int64_t at);
        int main(void) {
            volatile int64_t *word = trivium_alloc_on(0, 64);
            if (trivium_node() == 1 && *word) return 1;
            trivium_barrier();
            if (trivium_node() == 0) put(0, (intptr_t)word);
            return 0;
        }"#;
    let error = under(Run::with(source(text), &[]), &[&protocol("stache"), &compiled("poke", poke)]).error();
    says(&error, &["node 0, cycle ", "handler Ready.put of object 0", "`poke` stores to shared offset 0x0 of block 0"]);
    says(
        &error,
        &["which the protocol `stache` keeps coherent", "may only read it now", "poke.tri:5:", "program.c:7", "help: "],
    );
}

/// Row 7: a handler takes more than a million cycles.
#[test]
fn a_handler_that_does_not_end_is_named() {
    let right = "on GetWrite, Upgrade { owner = sender; send Writable";
    let busy = "on GetWrite, Upgrade { for i in 1..1200 { for j in 1..1200 { owner = sender } }; owner = sender; send Writable";
    let error = under(three(), &[&broken("stache", right, busy)]).error();
    says(
        &error,
        &["node 0, cycle ", "handler stache.home.Idle.GetWrite of block 0 takes ", "cycles, more than 1000000"],
    );
    says(&error, &["stache.tri:", "start a task for the rest", "help: "]);
}

/// Row 8: sizes of blocks that tags cannot have.
#[test]
fn blocks_that_tags_cannot_have_are_refused() {
    for (block, what) in
        [(48, "power of two"), (16, "granules of 32 bytes"), (0, "power of two"), (1 << 17, "power of two")]
    {
        let error = three().block(block).error();
        assert!(error.blame == Blame::Input && error.to_string().contains(what), "{error}");
    }
}

/// Row 9: two nodes may write a block.
#[test]
fn a_second_writer_is_named() {
    let careless = broken(
        "stache",
        "on GetWrite, Upgrade { owner = sender; send Writable to sender; goto Lent }",
        "on GetWrite, Upgrade { send Writable to sender }",
    );
    let text = THREE.replace("if (self == 1) word[1] = 7;", "if (self) word[self] = 7;");
    let error = under(Run::with(source(&text), &[]).nodes(3), &[&careless]).error();
    says(&error, &["at cycle ", "node 0 may write block 0 (address 0x40000000), and node ", "may access it too"]);
    says(&error, &["`single_writer`", "`trivium check` finds the shortest counterexample"]);
    assert_eq!(under(three(), &[&careless]).jobs(3).error(), under(three(), &[&careless]).error(), "host threads");
}

/// Row 11: access is given before the data have come.
#[test]
fn access_before_the_data_is_named() {
    let early = broken(
        "stache",
        "await Readable { install; goto ReadOnly;  resume }",
        "await Readable { goto ReadOnly; resume }",
    );
    let error = under(three(), &[&early]).error();
    says(&error, &["at cycle ", "node 2 gets read access to block 0 (address 0x40000000), and its copy is not"]);
    says(
        &error,
        &["what node 1 had stored when it gave its access up", "`last_write`", "`install`", "`trivium check`"],
    );
    assert_eq!(under(three(), &[&early]).jobs(3).error(), error, "host threads");
}

/// Row 12: what the owner has stored is not what its home gets, and sends on.
#[test]
fn a_lost_store_of_the_owner_is_named() {
    let stale = broken("stache", "        install; goto Shared\n", "        goto Shared\n");
    let error = under(three(), &[&stale]).error();
    says(
        &error,
        &["node 0 gets read access to block 0 (address 0x40000000), and its copy is not what node 1 had stored"],
    );
}

/// Row 14: a processor that waits and is never let go on.
#[test]
fn a_processor_that_is_never_resumed_is_a_deadlock() {
    let mute = broken("stache", "goto ReadOnly;  resume }", "goto ReadOnly }");
    let error = under(three(), &[&mute]).error();
    says(&error, &["deadlock: nothing can happen any more", "node 2, since cycle ", "waits for access to block 0"]);
    says(&error, &["a load of 0x40000000", "cache at node 2: ReadOnly", "program.c:9 in main", "`trivium check`"]);
}

/// Row 17: pages that two nodes claim have one home, and a page moves once.
#[test]
fn a_page_is_claimed_once_and_moves_once() {
    let text = r#"#include <trivium.h>
        int main(int argc, char **argv) {
            int self = trivium_node(), nodes = trivium_nodes();
            volatile int64_t *page = trivium_alloc_first_touch(4096);
            page[self] = self + 1; /* all at once */
            trivium_barrier();
            for (int n = 0; n < nodes; n++) if (page[n] != n + 1) trivium_fail("another value");
            if (trivium_reduce_sum64(trivium_is_home((void *)page)) != 1) trivium_fail("no home, or two");
            trivium_parallel_start();
            page[self] = self + 11;
            trivium_barrier();
            for (int n = 0; n < nodes; n++) if (page[n] != n + 11) trivium_fail("another value");
            if (trivium_reduce_sum64(trivium_is_home((void *)page)) != 1) trivium_fail("no home, or two");
            if (argv[argc - 1][0] == 'a') trivium_parallel_start();
            return 0;
        }"#;
    let program = source(text);
    Run::with(program.clone(), &[]).nodes(5).right();
    let error = Run::with(program, &["again"]).nodes(5).error();
    says(&error, &["program.c:14", "node ", "cycle ", "parallel", "once", "help: "]);
}

/// Row 18: more particles than a buffer has room for, and places outside of what a channel and a mesh have.
#[test]
fn buffers_and_indices_that_are_exceeded_are_named() {
    let full = Run::of("dsmc", &["-r", "2"]).nodes(4).error();
    says(
        &full,
        &["dsmc: node 3's buffer is full: more than 2 particles go there in an iteration: give it more room (-r)"],
    );
    says(&full, &["programs/dsmc.c:", "cycle ", "in buffer_is_full"]);
    let full = Run::of("dsmc-write", &["-r", "2"]).under(&["stache", "remote-records"]).nodes(4).error();
    says(&full, &["buffer is full: more than 2 particles go there in an iteration: give it more room (-r)"]);
    let text = r#"#include <stdlib.h>
        #include <trivium.h>
        #include <trivium/channel.h>
        int main(int argc, char **argv) {
            (void)argc;
            int64_t *place = trivium_alloc_on(0, 4096);
            channel_open(0, place, 8);
            if (trivium_node() == 0) channel_put(0, place, atoi(argv[1]), 4, 0);
            return 0;
        }"#;
    let put = |offset: &str| Run::with(source(text), &[offset]).nodes(1).under(&["stache", "channel"]);
    put("4").right();
    says(
        &put("5").error(),
        &[
            "node 0 calls channel.put on object 0 against",
            "`put(c, at, offset, words, tag) when offset + words <= source.capacity`",
        ],
    );
    says(&put("5").error(), &["program.c:8", "help: "]);
    says(&put("-1").error(), &["node 0: channel.put: `offset`: -1 is outside 0..1048575", "program.c:8"]);
    let shifted = broken("channel", "      install at base + 8 * offset\n", "      install at base + 8 * offset + 8\n");
    let run = under(Run::of("unstructured-channels", &[]), &[&protocol("stache"), &shifted]);
    says(
        &run.error(),
        &["unstructured-channels: processor 0 adds to the mesh node at place 0, and processor 1 has those from"],
    );
    let text = r#"#include <trivium.h>
        #include <trivium/remote-records.h>
        int main(void) {
            char *halves = trivium_alloc_on(0, 4096);
            remote_records_open(0, halves, halves + 1024, 64, 4);
            return 0;
        }"#;
    let error = Run::with(source(text), &[]).nodes(1).under(&["stache", "remote-records"]).error();
    says(
        &error,
        &["node 0 calls remote-records.open on object 0 against", "a + 8 * r * w <= b", "program.c:5", "help: "],
    );
}

/// Tempest's six programs and their custom versions, each with the protocols that it needs.
const PROGRAMS: [(&str, &[&str]); 13] = [
    ("appbt", &["stache"]),
    ("appbt-columns", &["stache", "column"]),
    ("barnes", &["stache"]),
    ("barnes-update", &["stache", "update", "migratory"]),
    ("dsmc", &["stache"]),
    ("dsmc-write", &["stache", "remote-records"]),
    ("em3d", &["stache"]),
    ("em3d-update", &["stache", "deferred-update"]),
    ("moldyn", &["stache"]),
    ("moldyn-channels", &["stache", "channel"]),
    ("unstructured", &["stache"]),
    ("unstructured-channels", &["stache", "channel"]),
    ("unstructured-update", &["stache", "channel", "deferred-update"]),
];

/// A run of one of them, which is compiled once.
fn run_of(name: &'static str, args: &str) -> Run {
    static COMPILED: Mutex<BTreeMap<&str, Program>> = Mutex::new(BTreeMap::new());
    let program = COMPILED.lock().unwrap().entry(name).or_insert_with(|| program(name)).clone();
    let (_, protocols) = PROGRAMS.iter().find(|(program, _)| *program == name).unwrap();
    Run::with(program, &args.split_whitespace().collect::<Vec<_>>()).under(protocols)
}

/// What a program says of arguments that it refuses at once.
fn refused(run: &Run) -> String {
    let result = run.go().unwrap();
    assert_eq!(result.exit_codes.values().collect::<Vec<_>>(), [&2], "{}{}", result.output, result.errors);
    result.errors
}

/// The options that a program tells of, each with its range.
fn options(usage: &str) -> Vec<(String, i64, i64)> {
    assert!(usage.contains("wrong argument: -?: there is no such option"), "{usage}");
    let option = |line: &str| {
        let (letter, rest) = line.trim().split_once(" NUMBER ")?;
        let (_, range) = rest.rsplit_once('(')?;
        let (least, rest) = range.split_once(" to ")?;
        Some((letter.to_string(), least.parse().unwrap(), rest.split_once(',')?.0.parse().unwrap()))
    };
    usage.lines().filter_map(option).collect()
}

/// Row 19: no size is taken that is below its least or above its greatest.
#[test]
fn programs_refuse_numbers_outside_of_their_ranges() {
    for (name, _) in PROGRAMS {
        let options = options(&refused(&run_of(name, "-? 1").nodes(1)));
        assert!(options.len() > 5, "{name}: {options:?}");
        for (letter, least, most) in options {
            for wrong in [least - 1, most + 1] {
                let told = refused(&run_of(name, &format!("{letter} {wrong}")).nodes(1));
                let right = format!(
                    "wrong argument: {letter} {wrong}: {letter} is followed by a number from {least} to {most}: "
                );
                assert!(told.contains(&right) && told.lines().count() == 1, "{name}: {told}");
            }
        }
    }
}

/// Sizes that do not fit each other, the nodes or the memory: who, on how many nodes, with which arguments; and the sentence.
const DO_NOT_FIT: [(&str, u32, &str, &str); 35] = [
    (
        "em3d",
        3,
        "-t 100",
        "em3d: 100 graph nodes are not as many E as H on each of 3 processors: make -t a multiple of 6",
    ),
    ("em3d", 4, "-n 3", "em3d: 3 graph nodes of a processor are not as many E as H: make -n even"),
    ("em3d", 32, "-t 31", "em3d: every processor needs two graph nodes at least: make -t 64 or more, or -n 2"),
    (
        "em3d",
        2,
        "-n 1000000 -d 1000 -c 0",
        "takes 12048000000 bytes of private memory, which has 1073741824: fewer graph nodes (-t, -n)",
    ),
    ("em3d", 2, "-n 140000 -b 65536 -c 0", "takes 9185120000 bytes of private memory, which has 1073741824"),
    ("em3d", 2, "-n 140000 -l 65536 -p 0 -c 0", "takes 9175040000 bytes of private memory, which has 1073741824"),
    ("em3d", 2, "-n 140000 -b 65536 -p 0 -c 0", "it is asked for 4587520000 bytes, and shared memory has 2147483648"),
    (
        "em3d",
        32,
        "-n 400000",
        "em3d: to check the answer processor 0 takes 1475200000 bytes of private memory, which has 1073741824: leave that out (-c 0)",
    ),
    (
        "em3d",
        4,
        "-n 20 -b 8",
        "em3d: records of 8 bytes and lists of 72 are too small: a graph node with 5 dependencies needs 32 and 72: raise -b or -l",
    ),
    ("em3d-update", 3, "-t 100", "make -t a multiple of 6"),
    (
        "em3d-update",
        4,
        "-z 1",
        "em3d: with -z 1 processor 0 writes all values, and under this protocol only a value's home may: add -f 2",
    ),
    (
        "appbt",
        17,
        "",
        "appbt: 17 nodes are 17 x 1 x 1, and of 14 cells at a side each needs two: more cells (-s), or another number of nodes",
    ),
    ("appbt", 64, "-s 6", "appbt: 64 nodes are 4 x 4 x 4, and of 6 cells at a side each needs two"),
    ("appbt-columns", 17, "", "appbt: 17 nodes are 17 x 1 x 1"),
    (
        "appbt-columns",
        2,
        "-s 32 -m 64 -c 0",
        "appbt-columns: a message is longer than the protocol has it: fewer columns together (-m)",
    ),
    (
        "barnes-update",
        2,
        "-n 2400 -i 1 -c 0",
        "bodies, and its protocol has room for 1024: use more nodes, or fewer bodies (-n)",
    ),
    ("dsmc", 4, "-r 1", "buffer is full: more than 1 particles go there in an iteration: give it more room (-r)"),
    (
        "dsmc",
        4,
        "-x 1000 -y 1000 -z 1000",
        "dsmc: there are 1000000000 cells, and room for 1000000: fewer of them (-x, -y, -z)",
    ),
    ("dsmc", 4, "-x 3 -y 1 -z 1", "dsmc: a node has no cell: more cells (-x, -y, -z), or fewer nodes"),
    (
        "dsmc",
        1,
        "-n 1000000 -f 1000000 -i 1000000",
        "dsmc: a node might have 665000000 particles, and there is room for 1000000",
    ),
    ("dsmc", 4, "-f 1000000 -i 3", "dsmc: a node might have 1501924 particles, and there is room for 1000000"),
    ("dsmc-write", 4, "-r 1", "buffer is full: more than 1 particles go there in an iteration: give it more room (-r)"),
    ("dsmc-write", 2, "-x 1 -y 1 -z 1", "dsmc: a node has no cell: more cells (-x, -y, -z), or fewer nodes"),
    (
        "moldyn",
        33,
        "-b 2",
        "moldyn: a node has no molecule, for there are 32 molecules and 33 nodes: more cells (-b), or fewer nodes",
    ),
    (
        "moldyn",
        3,
        "-b 2 -i 60 -e 1000000",
        "moldyn: a molecule moves too far with one list of pairs: make it more often (-e)",
    ),
    ("moldyn-channels", 33, "-b 2", "moldyn: a node has no molecule, for there are 32 molecules and 33 nodes"),
    (
        "moldyn-channels",
        2,
        "-b 20",
        "moldyn-channels: a section has 48000 words, and a channel brings 8192 at a time: more nodes, or fewer cells (-b)",
    ),
    ("moldyn-channels", 1, "-m 1", "moldyn-channels: forces are merged through channels: leave out -m"),
    (
        "unstructured",
        9,
        "-x 1 -y 1 -z 1",
        "unstructured: a processor has no mesh node, for there are 8 and 9 processors: more cells (-x, -y, -z)",
    ),
    (
        "unstructured",
        34,
        "-x 100 -y 100 -z 100",
        "unstructured: to check the values processor 0 takes 1120967488 bytes of private memory, which has 1073741824",
    ),
    (
        "unstructured-channels",
        9,
        "-x 1 -y 1 -z 1",
        "unstructured: a processor has no mesh node, for there are 8 and 9 processors",
    ),
    (
        "unstructured-channels",
        1,
        "-m 1",
        "unstructured-channels: sums are merged through channels: -m is for unstructured alone",
    ),
    (
        "unstructured-update",
        9,
        "-x 1 -y 1 -z 1",
        "unstructured: a processor has no mesh node, for there are 8 and 9 processors",
    ),
    (
        "unstructured-update",
        1,
        "-m 2",
        "unstructured-channels: sums are merged through channels: -m is for unstructured alone",
    ),
    ("barnes-update", 2, "-n 2400 -i 1", "bodies, and its protocol has room for 1024"),
];

#[test]
fn programs_say_what_does_not_fit() {
    for (name, nodes, args, sentence) in DO_NOT_FIT {
        let error = run_of(name, args).nodes(nodes).on(machine("simple-coma", &[])).error();
        assert!(error.to_string().contains(sentence), "{name} {args} on {nodes} nodes: {error}");
        assert!(
            error.diagnostic.place().is_some_and(|place| place.to_string().contains("programs/")),
            "{name} {args}: {error}"
        );
    }
}

/// The least that there can be: fewer bodies, particles or molecules than nodes, or one cell.
#[test]
fn programs_are_right_with_as_little_as_they_take() {
    for (name, nodes, args) in [
        ("em3d", 3, "-n 2"),
        ("em3d-update", 3, "-n 2 -p 0"),
        ("appbt", 1, "-s 6 -i 1"),
        ("appbt-columns", 27, "-s 6 -i 1"),
        ("barnes", 5, "-n 2"),
        ("barnes-update", 5, "-n 2 -f 1"),
        ("dsmc", 4, "-n 1 -f 0 -i 2"),
        ("dsmc", 1, "-x 1 -y 1 -z 1 -n 1 -f 0 -i 1"),
        ("dsmc-write", 4, "-n 1 -f 0 -i 2"),
        ("moldyn", 32, "-b 2 -i 1"),
        ("moldyn-channels", 32, "-b 2 -i 1"),
        ("unstructured", 8, "-x 1 -y 1 -z 1 -i 1"),
        ("unstructured-channels", 8, "-x 1 -y 1 -z 1 -i 1"),
        ("unstructured-update", 8, "-x 1 -y 1 -z 1 -i 1"),
    ] {
        run_of(name, args).nodes(nodes).right();
    }
}

/// What only one iteration has wrong is found, too: molecules are brought to their places again by one node.
#[test]
fn a_wrong_force_of_one_iteration_is_found() {
    let text = std::fs::read_to_string(file("programs/moldyn.c")).unwrap();
    let right = "        move(force);\n        trivium_barrier();";
    assert!(text.contains(right));
    let wrong = text
        .replace(right, &format!("        if (iteration == 3 && self == 1) ((double *)force)[0] += 1e-9;\n{right}"));
    let error = Run::with(source(&wrong), &[]).nodes(3).error();
    says(&error, &["moldyn: molecule ", "is not where one node alone brings it: a force was wrong in some iteration"]);
}
