//! Split-C's split-phase and bulk accesses as calls of a protocol (`docs/split-c.md`, "Calls of a protocol").

use crate::harness::{Run, lasting, trivium};
use crate::slow;
use std::path::PathBuf;

/// A program of this text: the same file for the same text.
fn program(text: &str) -> PathBuf {
    lasting("program.sc", &format!("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{text}"))
}

/// Runs it in a simulation (on a machine that looks at accesses as finely as blocks may be), or for real.
fn run(command: &str, text: &str, protocol: &str, nodes: &str, more: &[&str]) -> Run {
    let file = program(text);
    let mut all = vec![command, file.to_str().unwrap(), "-p", protocol, "-n", nodes];
    if command == "sim" {
        all.extend(["-m", "typhoon", "--set", "machine.cache.line=8", "--set", "machine.access_control.granule=8"]);
    }
    all.extend(more);
    trivium(&all)
}

/// Random ranges of bytes go to and fro, and every processor knows what must be where.
const RANGES: &str = r#"
enum { BYTES = 700, ROUNDS = 25 };
static _Alignas(65536) unsigned char shared[BYTES], last[1];
static unsigned random_below(unsigned *state, unsigned end) { return (*state = *state * 1103515245u + 12345u) / 65536u % end; }
int splitc_main(void) {
    unsigned char *mine = malloc(BYTES), *got = malloc(BYTES), *model = calloc(BYTES, 1);
    int right = (MYPROC + 1) % PROCS;
    unsigned state = MYPROC * 7919u + 1;
    unsigned char *global there = toglobal(right, shared);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned from = random_below(&state, BYTES), n = random_below(&state, BYTES - from + 1), how = random_below(&state, 4);
        for (int i = 0; i < BYTES; i++) mine[i] = (unsigned char)(round * 31 + i * 7 + MYPROC);
        if (how == 0) { bulk_put(there + from, mine + from, n); sync(); }
        if (how == 1) bulk_write(there + from, mine + from, n);
        if (how == 2) { bulk_store(there + from, mine + from, n); sync(); }
        if (how == 3) { for (unsigned i = from; i < from + n; i++) there[i] := mine[i]; sync(); }
        memcpy(model + from, mine + from, n);
        all_store_sync();
        from = random_below(&state, BYTES), n = random_below(&state, BYTES - from + 1);
        memset(got, 0xee, BYTES);
        if (round % 2) bulk_read(got + from, there + from, n);
        else { bulk_get(got + from, there + from, n); while (!is_sync()) {} sync(); }
        for (int i = 0; i < BYTES; i++) {
            int is_got = i >= (int)from && i < (int)(from + n);
            if (got[i] != (is_got ? model[i] : 0xee)) {
                printf("%d: round %d, byte %d of %u from %u is %d\n", MYPROC, round, i, n, from, got[i]);
                trivium_fail("wrong bytes");
            }
        }
    }
    barrier();
    printf("%d: ok\n", MYPROC);
    return 0;
}
"#;

#[test]
fn ranges_of_any_length_keep_to_their_bytes() {
    let all =
        [("uncached", "8"), ("swcc", "64"), ("uncached", "64"), ("swcc", "8"), ("swcc", "1024"), ("stache", "64")];
    for &(protocol, block) in slow::all_or(&all[..], &all[..2]) {
        for command in ["sim", "run"] {
            let run = run(command, RANGES, protocol, "3", &["--block", block]);
            assert_eq!(run.code, Some(0), "{command} {protocol} {block}: {}", run.err);
            assert_eq!(run.out.matches(": ok").count(), 3, "{}", run.out);
        }
    }
}

/// Reads or gets words of the right neighbour, one by one, and tells the cycles that it takes.
const WORDS: &str = r#"
enum { WORDS = 32 };
static _Alignas(65536) long words[WORDS * 16], last[1];
int splitc_main(void) {
    long got[WORDS];
    long *global there = toglobal((MYPROC + 1) % PROCS, words);
    for (int i = 0; i < WORDS * 16; i++) words[i] = i + MYPROC;
    barrier();
    long long begun = trivium_cycles();
    trivium_begin();
    if (MYPROC == 0) {
#ifdef SPLIT
        for (int i = 0; i < WORDS; i++) got[i] := there[i * 16];
        sync();
#else
        for (int i = 0; i < WORDS; i++) got[i] = there[i * 16];
#endif
    }
    long long took = trivium_cycles() - begun;
    barrier();
    trivium_end();
    for (int i = 0; i < WORDS && MYPROC == 0; i++) if (got[i] != i * 16 + 1) trivium_fail("wrong word");
    if (MYPROC == 0) printf("took %lld\n", took);
    return 0;
}
"#;

/// Cycles of 32 accesses to words of another processor, and the messages of the whole run by name.
fn words(protocol: &str, flags: &str) -> (u64, serde_json::Value) {
    let result = run("sim", WORDS, protocol, "2", &["--block", "64", "--format", "json", "--cc", flags]).json(0);
    let output = result["output"].as_str().unwrap();
    let took = output.strip_prefix("took ").unwrap().trim().parse().unwrap();
    (took, result["messages"].clone())
}

#[test]
fn gets_hide_latency_and_take_as_many_messages_as_reads() {
    let of = |messages: &serde_json::Value, name: &str| messages[name].as_u64().unwrap_or(0);
    let (reads, messages) = words("uncached", "-DREAD");
    let (gets, split) = words("uncached", "-DSPLIT");
    assert!(gets * 2 < reads, "32 gets take {gets} cycles, 32 reads {reads}");
    assert_eq!((of(&split, "uncached.Get"), of(&split, "uncached.Got")), (32, 32), "{split}");
    assert_eq!(of(&messages, "uncached.Read"), of(&split, "uncached.Read") + 32, "{messages} {split}");
    // Each word lies in a block of its own: a get brings it, as a read does.
    let (reads, messages) = words("swcc", "-DREAD");
    let (gets, split) = words("swcc", "-DSPLIT");
    assert!(gets < reads, "32 gets take {gets} cycles, 32 reads {reads}");
    for name in ["swcc.Read", "swcc.ReadResp"] {
        assert_eq!(of(&messages, name), of(&split, name), "{name}: {messages} {split}");
    }
}

/// A store is one message, and nobody answers it.
#[test]
fn stores_are_one_way() {
    let text = r#"
        static _Alignas(65536) long box[8], last[1];
        int splitc_main(void) {
            long *global there = toglobal((MYPROC + 1) % PROCS, box);
            for (int i = 0; i < 8; i++) there[i] :- i + 10;
            store_sync(sizeof box);
            for (int i = 0; i < 8; i++) if (*toglobal(MYPROC, &box[i]) != i + 10) trivium_fail("wrong word");
            return 0;
        }"#;
    let result = run("sim", text, "uncached", "3", &["--format", "json"]).json(0);
    assert_eq!(result["messages"], serde_json::json!({ "uncached.Store": 24 }));
    for command in ["sim", "run"] {
        for protocol in ["uncached", "swcc", "stache"] {
            let run = run(command, text, protocol, "3", &[]);
            assert_eq!(run.code, Some(0), "{command} {protocol}: {}", run.err);
        }
    }
}

#[test]
fn a_store_sync_for_bytes_that_never_come_is_a_deadlock() {
    let text = r#"
        static long box;
        int splitc_main(void) {
            if (MYPROC == 1) *toglobal(0, &box) :- 1;
            if (MYPROC == 0) store_sync(2 * sizeof(long));
            return 0;
        }"#;
    for (protocol, waits) in [("uncached", "uncached.store_sync"), ("swcc", "swcc.store_sync"), ("stache", "to change")]
    {
        for command in ["sim", "run"] {
            let run = run(command, text, protocol, "2", &[]);
            assert_eq!(run.code, Some(1), "{command} {protocol}: {} {}", run.out, run.err);
            assert!(run.err.contains("deadlock") && run.err.contains(waits), "{command} {protocol}: {}", run.err);
        }
    }
}

#[test]
fn a_barrier_with_gets_under_way_is_told_once_with_its_line() {
    let text = r#"
        static long box;
        int splitc_main(void) {
            long got;
            for (int i = 0; i < 3; i++) {
                got := *toglobal((MYPROC + 1) % PROCS, &box);
                barrier(); /* line 10 */
            }
            sync();
            barrier();
            return (int)got;
        }"#;
    let warning = "program.sc:10: a barrier while gets or puts are under way";
    for (protocol, times) in [("uncached", 1), ("swcc", 1), ("stache", 0)] {
        for command in ["sim", "run"] {
            let run = run(command, text, protocol, "3", &[]);
            assert_eq!(run.code, Some(0), "{command} {protocol}: {}", run.err);
            let told = run.err.matches(warning).count() + run.out.matches(warning).count();
            assert_eq!(told, times, "{command} {protocol}: {} {}", run.out, run.err);
        }
    }
}

/// What a get brings to memory of which another processor has a newer copy would be lost there.
#[test]
fn a_get_into_memory_that_is_lent_is_told() {
    let text = r#"
        static _Alignas(65536) long beside[2], last[1];
        static _Alignas(65536) long box, end[1];
        int splitc_main(void) {
            if (MYPROC == 1) *toglobal(0, &beside[1]) = 5;
            barrier();
            if (MYPROC == 0) {
                beside[0] := *toglobal(1, &box);
                sync();
            }
            barrier();
            return 0;
        }"#;
    let told = "stores to 0x";
    for command in ["sim", "run"] {
        let run = run(command, text, "swcc", "2", &["--block", "64"]);
        assert_eq!(run.code, Some(1), "{command}: {} {}", run.out, run.err);
        assert!(run.err.contains(told) && run.err.contains("by its private address"), "{command}: {}", run.err);
    }
    assert_eq!(run("sim", text, "uncached", "2", &[]).code, Some(0));
}
