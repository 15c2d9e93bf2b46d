//! Wrong programs, protocols, machines and options: one clear message each, never a panic.

use crate::bench::{self, Run, machine, program, protocol, text_program};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trivium_sim::{Blame, Machine, NodeError, Setup, run};

fn bad(name: &str) -> Run {
    Run::of(&format!("bad/{name}"), &[])
}

fn says(error: &NodeError, blame: Blame, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in: {text}");
    }
    assert_eq!(error.blame, blame, "{text}");
}

#[test]
fn a_trap_names_node_cycle_and_function() {
    says(&bad("trap").error(), Blame::Subject, &["node ", "cycle "]);
    says(&bad("divide").error(), Blame::Subject, &["divi", "node 0, cycle"]);
    says(&bad("recursion").error(), Blame::Subject, &["stack"]);
}

#[test]
fn accesses_outside_memory_are_named() {
    says(&bad("wild-pointer").error(), Blame::Subject, &["0x30000000", "write_wild"]);
    says(&bad("out-of-bounds").error(), Blame::Subject, &["node 0"]);
}

/// The program's own memory is shared, and an access there that nobody asks for is looked at.
#[test]
fn unchecked_accesses_must_be_allowed() {
    let run = |why: &str| Run::of("bad/unchecked", &[why]).under(&["stache", "flash-coherence"]).nodes(2);
    run("2").right();
    for (why, what) in [
        ("0", &["node 0 loads 0x", "no access to block 2 now", "unchecked.c:19"][..]),
        ("1", &["node 0 stores to 0x", "read access to block 2", "unchecked.c:20"]),
        ("3", &["begins at a multiple of 65536"]),
        ("4", &["100 bytes at"]),
        ("5", &["1073741824 bytes", "out of bounds"]),
        ("6", &["is shared already"]),
    ] {
        says(&run(why).error(), Blame::Subject, what);
    }
    says(&run("7").error(), Blame::Subject, &["under protocol `msi`, which is not loaded"]);
    says(&run("2").under(&["flash-coherence"]).error(), Blame::Subject, &["caches of their own"]);
}

#[test]
fn exhausted_shared_memory_says_what_is_left() {
    says(&bad("exhaust").error(), Blame::Subject, &["67108864 bytes", "shared memory", "2 GiB"]);
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let error = bad("deadlock").nodes(3).error();
    says(
        &error,
        Blame::Subject,
        &["deadlock", "node 0, since cycle", "block 0 to change", "node 1, since cycle", "waits at the barrier"],
    );
    assert_eq!(error.diagnostic.notes.len(), 3);
}

#[test]
fn what_goes_wrong_is_told_with_its_line() {
    let error = bad("divide").error();
    says(&error, Blame::Subject, &["programs/bad/divide.c:4", "in divide", "divide.c:8 in main"]);
    let error = bad("trap").error();
    assert!(
        error.diagnostic.place().is_some_and(|place| place.to_string().ends_with("programs/bad/trap.c:4")),
        "{error}"
    );
    says(&error, Blame::Subject, &["in abort, called by give_up", "trap.c:7 in main"]);
    let error = bad("wild-pointer").error();
    assert!(
        error.diagnostic.place().is_some_and(|place| place.to_string().ends_with("programs/bad/wild-pointer.c:5")),
        "{error}"
    );
}

#[test]
fn a_deadlock_tells_the_word_its_allocation_its_value_and_the_lines() {
    let error = bad("deadlock").nodes(2).error();
    let words =
        ["0x40000000, the beginning of `word`, which is 0 here", "deadlock.c:6 in main", "deadlock.c:7 in main"];
    says(&error, Blame::Subject, &words);
    for build in [Run::of("bad/deadlock", &[]), Run::with(program("bad/deadlock").by_reference(), &[])] {
        assert_eq!(build.nodes(2).error(), error, "in each build");
    }
}

#[test]
fn a_null_pointer_is_not_memory() {
    says(&bad("null").error(), Blame::Subject, &["a store of 4 bytes at 0xc", "null pointer", "null.c:"]);
    says(&Run::of("bad/null", &["load"]).error(), Blame::Subject, &["a load of 4 bytes at 0xc", "null pointer"]);
}

#[test]
fn a_barrier_that_a_node_never_reaches_is_a_deadlock() {
    let text = r#"(module
        (import "trivium" "node" (func $node (result i32)))
        (import "trivium" "barrier" (func $barrier))
        (memory (export "memory") 1)
        (func (export "_start") (if (call $node) (then (call $barrier)))))"#;
    let error = Run::with(text_program(text), &[]).nodes(2).error();
    says(&error, Blame::Subject, &["deadlock", "node 1", "node 0 cannot reach", "left main"]);
}

#[test]
fn a_protocol_that_deadlocks_is_reported_with_the_states_of_its_roles() {
    let text = "protocol mute\npromises single_writer\nlane main fifo buffered\nmessage Get on main\nmessage Give on main with block\n\
        role cache of block {\n  otherwise impossible\n  state Invalid {\n    on read, write { send Get to home; await Give { install; goto Valid; resume } }\n  }\n  state Valid: write {}\n}\n\
        role home of block {\n  var lost: bool\n  state Idle: write {\n    on Get { lost = true }\n  }\n}\n";
    let compiled =
        trivium_lang::compile("mute.tri", text, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::of("pingpong", &["-n", "1"]);
    run.protocols = vec![Arc::new(compiled)];
    says(
        &run.error(),
        Blame::Subject,
        &["deadlock", "node 1", "access to block 0", "awaits Give", "home at node 0: Idle"],
    );
}

#[test]
fn a_fault_of_a_protocol_names_its_place() {
    let text = "protocol brittle\npromises single_writer\nlane main fifo buffered\nmessage Get on main\n\
        role cache of block {\n  state Invalid {\n    on read, write { send Get to home; goto Stuck }\n  }\n  state Stuck { on read, write { impossible } }\n}\n\
        role home of block {\n  state Idle: write {\n    on Get impossible\n  }\n}\n";
    let compiled =
        trivium_lang::compile("brittle.tri", text, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::of("pingpong", &["-n", "1"]);
    run.protocols = vec![Arc::new(compiled)];
    says(&run.error(), Blame::Subject, &["cycle ", "impossible", "brittle.tri:"]);
}

/// The golden check names both nodes.
#[test]
fn two_writers_are_seen_where_one_is_promised() {
    let text = "protocol careless\npromises single_writer\nlane main fifo buffered\nmessage Get on main\nmessage Give on main with block\n\
        role cache of block {\n  otherwise impossible\n  state Invalid {\n    on read, write { send Get to home; await Give { install; goto Valid; resume } }\n  }\n  state Valid: write {}\n}\n\
        role home of block {\n  state Idle: write {\n    on Get { send Give to sender }\n  }\n}\n";
    let compiled =
        trivium_lang::compile("careless.tri", text, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::of("pingpong", &["-n", "1"]);
    run.protocols = vec![Arc::new(compiled)];
    says(
        &run.error(),
        Blame::Subject,
        &["node 0 may write block 0 (address 0x40000000), and node 1", "`single_writer`"],
    );
}

#[test]
fn an_assumption_that_the_program_breaks_is_named() {
    let text = r#"(module
        (import "trivium:remote-write" "finish" (func $finish (param i64) (result i64)))
        (memory (export "memory") 1)
        (func (export "_start") (drop (call $finish (i64.const 0)))))"#;
    let error = Run::with(text_program(text), &[]).under(&["stache", "remote-write"]).error();
    says(&error, Blame::Subject, &["remote-write.finish", "before(open, finish)"]);
}

#[test]
fn a_call_that_breaks_an_assumed_condition_is_named() {
    let text = r#"(module
        (import "trivium:pool" "give_back" (func $give_back (param i64 i64)))
        (memory (export "memory") 1)
        (func (export "_start") (call $give_back (i64.const 0) (i64.const 2))))"#;
    let error = Run::with(text_program(text), &[]).under(&["stache", "pool"]).error();
    says(&error, Blame::Subject, &["pool.give_back on object 0", "`give_back(p, n) when member.held >= n`"]);
}

#[test]
fn an_assumption_about_accesses_is_refused() {
    let text = "protocol hushed\nlane main buffered\nassume write when me == home\nmessage Get on main\n\
        role home of block {\n  state Idle: write {\n    on Get { }\n  }\n}\n";
    let compiled =
        trivium_lang::compile("hushed.tri", text, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::of("pingpong", &["-n", "1"]);
    run.protocols = vec![Arc::new(compiled)];
    says(&run.error(), Blame::Input, &["write when me == home", "accesses that hit"]);
}

#[test]
fn a_wrong_answer_is_an_exit_code() {
    let result = bad("wrong-answer").go();
    match result {
        Ok(result) => assert!(!result.exit_codes.is_empty(), "{result:?}"),
        Err(error) => assert_eq!(error.blame, Blame::Subject, "{error}"),
    }
}

#[test]
fn an_endless_program_ends_at_the_limit_or_when_interrupted() {
    let result = bad("endless").max_cycles(100_000).go().unwrap();
    assert!(result.incomplete.as_ref().unwrap().contains("100000 cycles"), "{result:?}");
    assert!(result.cycles >= 100_000 && result.instructions > 0);
    let endless = bad("endless");
    let cancel = AtomicBool::new(true);
    let setup = Setup {
        program: &endless.program,
        protocols: endless.protocols.clone(),
        machine: endless.machine.clone(),
        nodes: 2,
        block: 32,
        args: Vec::new(),
        seed: 0,
        max_cycles: None,
        stall_limit: Some(trivium_sim::STALL_LIMIT),
        window: None,
        jobs: 1,
        blame: false,
        memory: None,
        cancel: Some(&cancel),
        progress: None,
    };
    assert!(run(&setup).unwrap().incomplete.unwrap().contains("interrupted"));
}

#[test]
fn impossible_sizes_are_refused() {
    let hello = Run::of("hello", &[]);
    says(&hello.clone().nodes(0).error(), Blame::Input, &["0 nodes", "1 to 1024"]);
    says(&hello.clone().nodes(1025).error(), Blame::Input, &["1025 nodes"]);
    for block in [0, 33, 131072] {
        says(&hello.clone().block(block).error(), Blame::Input, &["power of two"]);
    }
    says(&hello.clone().block(16).error(), Blame::Input, &["16 bytes", "granules of 32 bytes"]);
    hello.nodes(256).right();
}

#[test]
fn regions_that_cannot_be_bound_are_explained() {
    let bind = |why: &str| Run::of("bad/bind", &[why]).under(&["stache", "msi"]).nodes(3);
    let away = bind("0").error();
    says(&away, Blame::Subject, &["block 0 is away from its home, node 0", "home is Lent", "let each home access"]);
    says(&bind("1").error(), Blame::Subject, &["protocol `misi`, which is not loaded", "did you mean `msi`?"]);
    let alone = bind("2").error();
    says(&alone, Blame::Subject, &["node 0 is at the barrier, but node 1 binds", "to `msi`", "collective"]);
    says(&bind("3").error(), Blame::Subject, &["where no allocation begins", "trivium_alloc returned"]);
    let cached = Run::of("bad/bind", &["5"]).under(&["stache", "flash-coherence"]).nodes(3).error();
    says(&cached, Blame::Subject, &["under `flash-coherence` processors have caches", "without `processor cached`"]);
    bind("4").right();
    for why in ["0", "2"] {
        for window in [0, 7, 50] {
            assert_eq!(bind(why).window(window).error(), bind(why).error(), "{why}, window {window}");
        }
        assert_eq!(bind(why).jobs(3).error(), bind(why).error(), "{why}, three host threads");
    }
}

#[test]
fn parallel_phases_that_cannot_start_are_explained() {
    let start = |why: &str| Run::of("bad/start", &[why]).under(&["stache", "flash-coherence"]).nodes(3);
    for (why, words) in [
        (
            "0",
            &[
                "the parallel phase starts, but block 64 is away from its home, node 0",
                "home is Lent",
                "let each home access",
            ][..],
        ),
        (
            "1",
            &[
                "node 0 starts the parallel phase a second time",
                "a page moves once",
                "call trivium_parallel_start once",
            ],
        ),
        ("2", &["the parallel phase starts, but under `flash-coherence` processors have caches"]),
        (
            "3",
            &["node 0 is at the barrier, but node 1 starts the parallel phase", "trivium_parallel_start is collective"],
        ),
    ] {
        let error = start(why).error();
        says(&error, Blame::Subject, words);
        for window in [0, 7, 50] {
            assert_eq!(start(why).window(window).error(), error, "{why}, window {window}");
        }
        assert_eq!(start(why).jobs(3).error(), error, "{why}, three host threads");
    }
}

/// A reader thanks for its copy and goes on. On a machine whose barrier is faster than its network the thanks are
/// still on their way when the region has come under another protocol.
#[test]
fn a_message_that_is_still_on_its_way_when_all_is_forgotten_is_named() {
    let text = "protocol polite\npromises single_writer\nlane main fifo buffered\nmessage Get, Thanks on main\n\
        message Give on main with block\n\
        role cache of block {\n  otherwise impossible\n  state Invalid {\n    on read { send Get to home; await Give { install; goto Valid; resume; send Thanks to home } }\n\
        \x20   on write impossible\n  }\n  state Valid: read { on write impossible }\n}\n\
        role home of block {\n  otherwise impossible\n  state Idle: write {\n    on Get { send Give to sender; goto Read }\n  }\n\
        \x20 state Read: read {\n    on Get { send Give to sender }\n    on Thanks { }\n    on write impossible\n  }\n}\n";
    let compiled =
        trivium_lang::compile("polite.tri", text, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let compiled = Arc::new(compiled);
    for (program, why, call) in [("bad/bind", "6", "trivium_bind"), ("bad/start", "5", "trivium_parallel_start")] {
        let mut run = Run::of(program, &[why]).nodes(3);
        run.protocols = vec![compiled.clone(), protocol("msi")];
        run.right();
        let hasty = run.on(machine("typhoon", &[("barrier.latency", "1")]));
        let error = hasty.error();
        let what = "polite.Thanks from node 1 about block 0 is still on its way";
        says(&error, Blame::Subject, &[what, &format!("wait for what it has begun before it calls {call}")]);
        assert_eq!(hasty.clone().window(0).error(), error, "in the reference order");
        assert_eq!(hasty.jobs(3).error(), error, "three host threads");
    }
}

#[test]
fn stores_elsewhere_than_at_home_are_named() {
    let text = r#"(module
        (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
        (memory (export "memory") 1)
        (func (export "_start") (i32.store (call $alloc (i64.const 8) (i32.const 0) (i32.const 0) (i32.const 0)) (i32.const 1))))"#;
    let error = Run::with(text_program(text), &[]).under(&["deferred-update"]).nodes(2).error();
    says(&error, Blame::Subject, &["node 1 writes block 0, whose home is node 0", "`home_writes`"]);
}

#[test]
fn protocols_and_calls_that_do_not_fit_are_named() {
    let token = Run::of("lockbench-token", &["-n", "4"]);
    says(&token.error(), Blame::Input, &["`token-lock`, which is not loaded", "--protocol token-lock"]);
    says(&Run::of("em3d", &[]).under(&["token-lock"]).error(), Blame::Subject, &["not about blocks"]);
    says(&Run::of("hello", &[]).under(&[]).error(), Blame::Input, &["no protocol"]);
    says(&Run::of("hello", &[]).under(&["msi", "msi"]).error(), Blame::Input, &["named twice"]);
    let text = r#"(module
        (import "trivium:token-lock" "aquire" (func $f (param i64)))
        (memory (export "memory") 1) (func (export "_start") (call $f (i64.const 0))))"#;
    let error = Run::with(text_program(text), &[]).under(&["stache", "token-lock"]).error();
    says(&error, Blame::Input, &["`aquire`", "acquire, release"]);
}

#[test]
fn a_machine_that_begins_from_another() {
    let mine = |text: &str| {
        Machine::parse("mine.toml", &format!("name = \"mine\"\nabout = \"\"\n{text}"), &[]).map_err(NodeError::from)
    };
    let derived = mine("base = \"typhoon\"\n[network]\nlatency = 7\n[prices.tag]\nraise = 3").unwrap();
    let typhoon = Machine::load("typhoon", &[]).unwrap();
    assert_eq!((derived.network.latency, derived.prices.tag.raise.cycles, derived.name.as_str()), (7, 3, "mine"));
    assert_eq!((derived.cache, derived.prices.fetch), (typhoon.cache, typhoon.prices.fetch));
    says(&mine("base = \"tyfoon\"").unwrap_err(), Blame::Input, &["tyfoon", "mine.toml:3:1", "built in: simple-coma"]);
    let misspelt = mine("base = \"typhoon\"\n[network]\nlatancy = 7").unwrap_err();
    says(&misspelt, Blame::Input, &["unknown key `latancy`", "mine.toml:5:1", "did you mean `latency`?"]);
    let odd = mine("base = \"typhoon\"\n[cache]\nline = 33").unwrap_err();
    says(&odd, Blame::Input, &["`cache.line` is 33", "mine.toml:5:1"]);
}

fn broken(change: impl Fn(&str) -> String) -> NodeError {
    let text = change(trivium_sim::built_in("typhoon").unwrap());
    Machine::parse("mine.toml", &text, &[]).unwrap_err().into()
}

#[test]
fn wrong_machines_are_explained_with_their_place() {
    let misspelt = broken(|text| text.replace("\nlatency", "\nlatancy"));
    says(&misspelt, Blame::Input, &["unknown key `latancy`", "mine.toml:", "did you mean `latency`?"]);
    let line = misspelt.diagnostic.place().unwrap().to_string();
    assert_eq!(line.split(':').count(), 3, "{line}");
    says(
        &broken(|text| text.replace("\nlatency", "\n# latency")),
        Blame::Input,
        &["missing key `latency`", "mine.toml:", "add `latency = ..`"],
    );
    says(
        &broken(|text| text.replace("cycles_per_word = 1", "cycles_per_word = -1")),
        Blame::Input,
        &["-1", "mine.toml:", "not negative"],
    );
    says(&broken(|text| text.replace("fault = 6", "fault = -6")), Blame::Input, &["-6", "mine.toml:"]);
    says(&broken(|text| text.replace("bus = [\"read\"]", "bus = [\"reed\"]")), Blame::Input, &["`reed`", "mine.toml:"]);
    says(&broken(|text| text.replace("line = 32", "line = 33")), Blame::Input, &["`cache.line` is 33", "mine.toml:"]);
    says(&broken(|text| text.replace("cpi = 0.7", "cpi = -0.7")), Blame::Input, &["-0.7", "mine.toml:"]);
    says(&broken(|text| text.replace("[network]", "[network")), Blame::Input, &["mine.toml:"]);
    let plain = without_costs();
    let last = plain.lines().count() + 3;
    for (cost, why) in [
        ("divde = 3", "unknown key `divde`"),
        ("divide = -3", "-3"),
        ("divide = 1e30", "wrong value"),
        ("divide = \"much\"", "much"),
        ("divide = 0", "`processor.operators.divide` cannot be what it is: an operator that takes no time"),
        (
            "divide = \"1/999983\"",
            "`processor.operators.divide` cannot be what it is: it and the costs before it are multiples of no fraction",
        ),
        ("divide = 1000000", "`processor.operators.divide` cannot be what it is: it is more than 1048576 times 1/10"),
    ] {
        let wrong = broken(|_| format!("{plain}\n[processor.operators]\n{cost}\n"));
        says(&wrong, Blame::Input, &[why, &format!("mine.toml:{last}:")]);
    }
    says(&broken(|_| String::new()), Blame::Input, &["missing key", "mine.toml"]);
    says(
        &Machine::load("/nowhere/mine.toml", &[]).unwrap_err().into(),
        Blame::Input,
        &["cannot be read", "/nowhere/mine.toml"],
    );
    says(
        &Machine::load("typhon-1", &[]).unwrap_err().into(),
        Blame::Input,
        &["no machine `typhon-1`", "did you mean `typhoon-1`?"],
    );
}

/// A machine's text without costs of operators.
fn without_costs() -> String {
    let text = trivium_sim::built_in("typhoon").unwrap();
    let (before, table) = text.split_once("[processor.operators]").unwrap();
    let (_, after) = table.split_once("\n[").unwrap();
    format!("{before}[{after}")
}

fn overridden(key: &str, value: &str) -> Result<Machine, NodeError> {
    Ok(Machine::load("typhoon", &[(key.into(), value.into())])?)
}

#[test]
fn overrides_are_checked_like_files() {
    assert_eq!(overridden("network.latency", "500").unwrap().network.latency, 500);
    assert_eq!(overridden("prices.dispatch.fault", "9").unwrap().prices.dispatch.fault.cycles, 9);
    assert_eq!(overridden("engine.kind", "ideal").unwrap().engine.kind, trivium_sim::machine::EngineKind::Ideal);
    overridden("processor.cpi", "\"1/2\"").unwrap();
    let costs = overridden("processor.operators.divide", "20").unwrap().processor.operators;
    assert_eq!(costs.divide.map(|cost| cost.of(1)), Some(20));
    let divide = [("processor.operators.divide".to_string(), "20".to_string())];
    let costs = Machine::parse("mine.toml", &without_costs(), &divide).unwrap().processor.operators;
    assert_eq!(costs.divide.map(|cost| cost.of(1)), Some(20), "a table that the file leaves out");
    for (cost, why) in [("0", "takes no time"), ("-1", "-1"), ("1000000", "more than 1048576 times")] {
        let wrong = overridden("processor.operators.divide", cost).unwrap_err();
        says(&wrong, Blame::Input, &[why, &format!("--set machine.processor.operators.divide={cost}")]);
    }
    let misspelt = overridden("processor.operators.divde", "20").unwrap_err();
    says(&misspelt, Blame::Input, &["unknown key `divde`", "did you mean `divide`?"]);
    says(&overridden("processor.operator.divide", "2").unwrap_err(), Blame::Input, &["no table `operator`"]);
    assert_eq!(overridden("barrier.latency", "7").unwrap().barrier_latency(4), 7, "a table that the file leaves out");
    says(&overridden("barrier.latancy", "7").unwrap_err(), Blame::Input, &["latancy", "did you mean `latency`?"]);
    says(
        &overridden("network.latancy", "5").unwrap_err(),
        Blame::Input,
        &["latancy", "--set machine.network.latancy=5", "did you mean `latency`?"],
    );
    says(
        &overridden("netwrk.latency", "5").unwrap_err(),
        Blame::Input,
        &["no table `netwrk`", "did you mean `network`?"],
    );
    says(&overridden("network.latency", "-5").unwrap_err(), Blame::Input, &["-5"]);
    says(
        &overridden("network.latency", "fast").unwrap_err(),
        Blame::Input,
        &["fast", "--set machine.network.latency=fast"],
    );
    says(&overridden("", "5").unwrap_err(), Blame::Input, &["empty"]);
    says(&overridden("memory.frames", "0").unwrap_err(), Blame::Input, &["`memory.frames` is 0"]);
    says(&overridden("cache.line", "100").unwrap_err(), Blame::Input, &["`cache.line` is 100"]);
}

#[test]
fn a_protocol_is_loaded_for_256_nodes() {
    Run::with(program("barrierbench"), &["-n", "1"]).nodes(256).on(machine("simple-coma", &[])).right();
    assert_eq!(protocol("stache").name, "stache");
}

#[test]
fn two_writers_in_a_phase_are_seen_where_one_is_assumed() {
    let text = std::fs::read_to_string(bench::file("protocols/stache.tri")).unwrap();
    let text = text.replace(
        "promises single_writer, last_write, sequential",
        "promises single_writer\nassume one_writer_per_phase",
    );
    let compiled = Arc::new(
        trivium_lang::compile("strict.tri", &text, &Default::default()).unwrap_or_else(|error| panic!("{error}")),
    );
    let mut run = Run::of("pingpong", &["-n", "2"]);
    run.protocols = vec![compiled.clone()];
    says(&run.error(), Blame::Subject, &["nodes 0 and 1 both write block 0", "one_writer_per_phase"]);
    let lines = ["node 0 stores at ", "node 1 stores at ", "programs/pingpong.c:", "begins at the beginning of `word`"];
    says(&run.error(), Blame::Subject, &lines);
    let mut run = Run::of("matmul", &["-n", "8"]);
    run.protocols = vec![compiled];
    run.right();
}

/// Whatever bytes of a machine's file are damaged, there is a machine or an error, and the error has a place.
#[test]
fn damaged_machine_files_never_panic() {
    use rand::{Rng, SeedableRng};
    let mut random = rand::rngs::SmallRng::seed_from_u64(7);
    let text = trivium_sim::built_in("typhoon-0").unwrap();
    let pieces = ["-", "\"", "[", "]", "{", "}", "=", "9999999999999999999", "é", "\n", "0.5", "true", "[[x]]"];
    let mut refused = 0;
    for _ in 0..2000 {
        let mut damaged: Vec<char> = text.chars().collect();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..damaged.len());
            let until = (at + random.random_range(0..12)).min(damaged.len());
            damaged.splice(at..until, pieces[random.random_range(0..pieces.len())].chars());
        }
        let damaged: String = damaged.into_iter().collect();
        if let Err(error) = Machine::parse("damaged.toml", &damaged, &[]) {
            refused += 1;
            assert!(error.place().is_some(), "{error}");
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// Without any latency the reference order is used, and programs are still right.
#[test]
fn a_network_without_latency_works() {
    let run =
        Run::of("em3d", &["-n", "20", "-i", "1"]).on(machine("simple-coma", &[("network.latency", "0")])).nodes(3);
    assert_eq!(run.clone().right().cycles, run.window(50).right().cycles);
    Run::of("lockbench", &["-n", "6"])
        .on(machine("typhoon", &[("network.latency", "0"), ("interface.credits", "1")]))
        .nodes(3)
        .right();
}

/// Data really move: a protocol that is wrong gives a wrong answer, a fault, a deadlock or a second writer.
#[test]
fn broken_protocols_break_programs() {
    let litmus = Run::of("litmus", &["-n", "10"]);
    let locks = Run::of("lockbench", &["-n", "40", "-c", "0", "-t", "50"]);
    for (name, program) in
        [("stache-unordered", &litmus), ("stache-lost-upgrade", &locks), ("msi-forgotten-ack", &litmus)]
    {
        let broken = protocol(&format!("broken/{name}"));
        let seen = (0..40).any(|seed| {
            let mut run = program.clone().on(machine("simple-coma", &[("network.jitter", "400")])).nodes(4).seed(seed);
            run.protocols = vec![broken.clone()];
            run.go().map_or(true, |result| !result.exit_codes.is_empty())
        });
        assert!(seen, "{name} did no harm");
    }
    // Readers that are told what has changed, and do not look: the program finds an old position.
    let text = std::fs::read_to_string(bench::file("protocols/update.tri")).unwrap();
    let deaf =
        text.replace("on New(writer) { install; send Done to writer }", "on New(writer) { send Done to writer }");
    assert_ne!(deaf, text);
    let mut run = Run::of("bodies-update", &[]).under(&["stache", "update", "migratory"]).nodes(3);
    let compiled = trivium_lang::compile("deaf.tri", &deaf, &Default::default());
    run.protocols[1] = Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")));
    says(&run.error(), Blame::Subject, &["bodies: wrong answer"]);
}

/// A protocol that is called about memory of another: neither is to blame.
#[test]
fn a_call_about_memory_of_another_protocol_is_named() {
    for nodes in [2, 3] {
        let run = Run::of("splitphase", &["-n", "4", "-i", "2"]).under(&["stache", "swcc"]).nodes(nodes);
        says(
            &run.error(),
            Blame::Subject,
            &["swcc.", "about memory that lies under `stache`", "trivium_alloc_on_under"],
        );
    }
}

/// Finite lanes: two homes whose lanes are full of their own requests wait for each other; with a lane for each rank
/// programs are right.
#[test]
fn finite_lanes_fill_and_three_of_them_suffice() {
    let squeezed = std::fs::read_to_string(bench::file("protocols/broken/squeezed-lanes.tri")).unwrap();
    let run = |text: &str| {
        let load = |name: &str| std::fs::read_to_string(name).map_err(|e| e.to_string());
        let options = trivium_lang::Options { load: Some(&load), ..Default::default() };
        let name = bench::file("protocols/broken/lanes.tri").display().to_string();
        let compiled = trivium_lang::compile(&name, text, &options).unwrap_or_else(|error| panic!("{error}"));
        let mut run = Run::of("litmus", &["-n", "20", "-b", "8"]).on(machine("simple-coma", &[])).nodes(4);
        run.protocols = vec![Arc::new(compiled)];
        run
    };
    says(&run(&squeezed).error(), Blame::Subject, &["deadlock", "has no room"]);
    let three = squeezed
        .replace("waive lane_rule \"this is what the file is about\"\n", "")
        .replace("lane reply   fifo holds 1", "lane forward fifo holds 1\nlane reply   fifo holds 1")
        .replace("message Forward(to: node) on request", "message Forward(to: node) on forward");
    run(&three).right();
}
