//! Handlers run for ever, and nobody goes on: that is told, in a simulation and in a run, with who waits for what.

use crate::harness::{self, trivium};
use std::path::Path;

/// A home that refuses whoever asks, so that all ask again for ever.
const REFUSES: &str = "protocol refuses
lane main fifo buffered
message Get, Nack on main
role far of block {
  otherwise impossible
  state Away {
    on read { send Get to home; goto Asking }
    on write { send Get to home; goto Asking }
  }
  state Asking {
    on Nack { goto Pausing }
    on read impossible
    on write impossible
  }
  state Pausing {
    on after 50 { send Get to home; goto Asking }
    on read impossible
    on write impossible
  }
}
role home of block { state Here: write { on Get { send Nack to sender } } }
";

fn protocol(folder: &crate::harness::Folder) -> String {
    let file = folder.path().join("refuses.tri");
    std::fs::write(&file, REFUSES).unwrap();
    file.to_str().unwrap().to_string()
}

/// A protocol that wants more room than its queues have refuses every store, and the processors themselves ask again for ever.
#[test]
fn a_protocol_that_does_not_fit_its_queues_is_told() {
    let folder = crate::harness::folder();
    let text = std::fs::read_to_string(harness::root().join("protocols/flash-coherence.tri")).unwrap();
    let asks = "if has_copy and n != me and n != ptr and not (n in others) { refuse(n) }";
    assert!(text.contains(asks));
    let file = folder.path().join("greedy.tri");
    std::fs::write(&file, text.replace(asks, &format!("if not room(request, 8) {{ refuse(n) }} else {asks}"))).unwrap();
    let file = file.to_str().unwrap();
    let run = |requests: &str, more: &[&str]| {
        let set = format!("protocol.requests={requests}");
        let args = ["sim", "programs/falsesharing.c", "-p", file, "-m", "flash", "-n", "4", "--set", &set];
        trivium(&[&args, &["--stall-limit", "200000"][..], more].concat())
    };
    run("8", &["--format", "json"]).json(0);
    run("4", &[]).refuses(1, &["no progress of an access", "with a store at shared offset", "falsesharing.c:23"]);
}

#[test]
fn a_simulation_without_progress_says_who_waits() {
    let folder = crate::harness::folder();
    let file = protocol(&folder);
    let run = |more: &[&str]| {
        let args = ["sim", "programs/em3d.c", "-p", &file, "-m", "typhoon", "-n", "3", "--stall-limit", "200000"];
        trivium(&[&args, more].concat())
    };
    let plain = run(&[]);
    plain.refuses(
        1,
        &[
            "no progress: for 200000 cycles handlers ran",
            "waits for access to block 330, a load of",
            "far at node 1: Asking; home at node 2: Here",
            "em3d.c:",
        ],
    );
    for more in [&["--window", "0"][..], &["--window", "7"], &["--jobs", "2"], &["--jobs", "3"]] {
        assert_eq!(run(more).err, plain.err, "{more:?}");
    }
    // What ends a run earlier is told first.
    run(&["--max-cycles", "300000", "--format", "json"]).json(3);
    // Without a limit, it is a matter of --max-cycles.
    let args = ["sim", "programs/em3d.c", "-p", &file, "-m", "typhoon", "-n", "3", "--stall-limit", "0"];
    trivium(&[&args[..], &["--max-cycles", "1000000", "--format", "json"]].concat()).json(3);
}

#[test]
fn a_run_without_progress_says_who_waits() {
    let folder = crate::harness::folder();
    let (file, recording) = (folder.path().join("refuses.tri"), folder.path().join("run.rec"));
    // Refusals with a pause, so that no access is refused 10,000 times before all nodes together are told to stand still.
    std::fs::write(&file, REFUSES.replace("on after 50", "on after 2000000")).unwrap();
    let file = file.to_str().unwrap();
    let run = |more: &[&str]| {
        let args = ["run", "programs/em3d.c", "-p", file, "-n", "3", "--stall-limit", "1"];
        trivium(&[&args, more].concat())
    };
    let recorded = run(&["--record", recording.to_str().unwrap()]);
    recorded.refuses(1, &["no progress: for 1 s handlers ran", "node 1: waits for access to block", "far: "]);
    assert_eq!(run(&["--replay", recording.to_str().unwrap()]).err, recorded.err);
}

#[test]
fn a_limit_that_is_too_short_is_refused() {
    for limit in ["1", "99999", "-5", "many"] {
        let args = ["sim", "programs/em3d.c", "-p", "stache", "-m", "typhoon", "--stall-limit", limit];
        trivium(&args).refuses(2, &["from 100000"]);
    }
}

/// Node 1 loads what node 0 has; node 0 looks for ever for something that never comes.
const SPINS: &str = r#"#include "trivium.h"
static volatile int never;
int main(void) {
    volatile int *box = trivium_alloc_on(0, 64);
    if (trivium_node() == 0) while (!never) { }
    return box[1];
}
"#;

#[test]
fn an_access_that_is_refused_beside_a_processor_that_spins_is_told() {
    let folder = crate::harness::folder();
    let file = protocol(&folder);
    let program = folder.path().join("spins.c");
    std::fs::write(&program, SPINS).unwrap();
    let run = |more: &[&str]| {
        let program = program.to_str().unwrap();
        trivium(&[&["sim", program, "-p", &file, "-m", "typhoon", "-n", "2"], more].concat())
    };
    let plain = run(&["--stall-limit", "200000"]);
    let what = "no progress of an access: node 1 has waited for ";
    plain.refuses(1, &[what, "with a load at shared offset 0x4 (block 0)", "spins.c:6", "node 1 in main"]);
    for more in [&["--window", "0"][..], &["--window", "7"], &["--jobs", "2"]] {
        assert_eq!(run(&[&["--stall-limit", "200000"], more].concat()).err, plain.err, "{more:?}");
    }
    // Without a limit, it is a matter of --max-cycles.
    run(&["--stall-limit", "0", "--max-cycles", "4000000", "--format", "json"]).json(3);
}

/// The same for real.
#[test]
fn a_run_tells_an_access_that_is_refused_beside_a_processor_that_spins() {
    let folder = crate::harness::folder();
    let (refuses, spins) = (protocol(&folder), folder.path().join("spins.c"));
    std::fs::write(&spins, SPINS).unwrap();
    is_told_for_real(&spins, &refuses, ["with a load at shared offset 0x4 (block 0)", "spins.c:6", "far: "]);
}

/// Without a limit, it is a matter of time: longer than the shortest limit that there is.
#[test]
fn a_run_without_a_limit_of_progress_ends_when_its_time_has_passed() {
    let folder = crate::harness::folder();
    let (refuses, spins) = (protocol(&folder), folder.path().join("spins.c"));
    std::fs::write(&spins, SPINS).unwrap();
    let run = ["run", spins.to_str().unwrap(), "-p", &refuses, "-n", "2", "--stall-limit", "0"];
    trivium(&[&run[..], &["--max-seconds", "2", "--format", "json"]].concat()).json(3);
}

/// Where processors themselves make refused requests again, each program "goes on" all the time.
#[test]
#[ignore = "ten seconds: there is a long recording"]
fn a_run_tells_an_access_that_is_refused_for_ever() {
    let folder = crate::harness::folder();
    let nak = folder.path().join("nak.tri");
    let text = std::fs::read_to_string(harness::root().join("protocols/flash-coherence.tri")).unwrap();
    let asks = "if has_copy and n != me and n != ptr and not (n in others) { refuse(n) }";
    assert!(text.contains(asks));
    std::fs::write(&nak, text.replace(asks, &format!("if n != me {{ refuse(n) }} else {asks}"))).unwrap();
    let stores = folder.path().join("stores.c");
    std::fs::write(&stores, STORES).unwrap();
    let says = ["with a store at shared offset 0x8 (block 0)", "stores.c:4", "cache: "];
    is_told_for_real(&stores, nak.to_str().unwrap(), says);
}

/// A run of three nodes with a limit tells this of an access that is refused for ever, and so does its recording.
#[track_caller]
fn is_told_for_real(program: &Path, protocol: &str, says: [&str; 3]) {
    let folder = crate::harness::folder();
    let recording = folder.path().join("run.rec");
    let run = |more: &[&str]| {
        let args = ["run", program.to_str().unwrap(), "-p", protocol, "-n", "3", "--stall-limit", "1"];
        trivium(&[&args, more].concat())
    };
    let recorded = run(&["--record", recording.to_str().unwrap()]);
    recorded.refuses(
        1,
        &["no progress of an access: node ", says[0], says[1], says[2], " handlers of the block have run on it"],
    );
    assert_eq!(run(&["--replay", recording.to_str().unwrap()]).err, recorded.err);
}

/// All nodes but one store to what that one has.
const STORES: &str = r#"#include "trivium.h"
int main(void) {
    volatile int *box = trivium_alloc_on(0, 64);
    if (trivium_node() > 0) box[2] = 1;
    trivium_barrier();
    return 0;
}
"#;

/// Patience: who is refused for longer than the limit and then answered has made progress, and so has who waits for a lock that another holds for longer.
#[test]
fn a_run_that_is_slow_goes_on_to_its_end() {
    let folder = crate::harness::folder();
    let late = folder.path().join("late.tri");
    std::fs::write(&late, refuses_times("200")).unwrap();
    // Each of many accesses is refused 200 times, which takes far less than the limit even on a busy host; all together take longer.
    goes_on_to_its_end(SLOW, late.to_str().unwrap());
}

#[track_caller]
fn goes_on_to_its_end(text: &str, protocol: &str) {
    let folder = crate::harness::folder();
    let program = folder.path().join("slow.c");
    std::fs::write(&program, text).unwrap();
    let run = trivium(&["run", program.to_str().unwrap(), "-p", protocol, "-n", "2", "--stall-limit", "1"]);
    assert_eq!(run.code, Some(0), "{protocol}: {run:?}");
}

#[test]
fn who_waits_for_a_lock_goes_on_under_stache() {
    goes_on_to_its_end(LOCKS, "stache");
}

#[test]
fn who_waits_for_a_lock_goes_on_under_msi() {
    goes_on_to_its_end(LOCKS, "msi");
}

#[test]
fn who_waits_for_a_lock_goes_on_under_flash_coherence() {
    goes_on_to_its_end(LOCKS, "flash-coherence");
}

/// Each refuses so often before it answers.
fn refuses_times(times: &str) -> String {
    let home = "role home of block { var times: 0..TIMES state Here: write {
  on Get when times == TIMES { send Here to sender; times = 0 }
  on Get { times += 1; send Nack to sender } } }";
    REFUSES
        .replace("message Get, Nack on main", "message Get, Nack on main\nmessage Here on main with block")
        .replace(
            "    on Nack { goto Pausing }",
            "    on Nack { goto Pausing }\n    on Here { install; complete; goto Away }",
        )
        .replace("role home of block { state Here: write { on Get { send Nack to sender } } }", home)
        .replace("TIMES", times)
}

const SLOW: &str = r#"#include "trivium.h"
int main(void) {
    volatile int *box = trivium_alloc_on(0, 64);
    int64_t begun = trivium_cycles();
    if (trivium_node() == 1) while (trivium_cycles() - begun < 1700000000) { int seen = box[1]; (void)seen; }
    trivium_barrier();
    return 0;
}
"#;

/// The lock is held for longer than the limit.
const LOCKS: &str = r#"#include "trivium.h"
#include <stdatomic.h>
int main(void) {
    _Atomic int *held = trivium_alloc_on(0, 64);
    while (atomic_exchange(held, 1)) { }
    int64_t begun = trivium_cycles();
    while (trivium_cycles() - begun < 1500000000) { }
    atomic_store(held, 0);
    trivium_barrier();
    return 0;
}
"#;

/// Patience: an access that is refused a thousand times and then answered, and one that waits for long without being refused.
#[test]
fn an_access_that_takes_long_is_not_said_to_make_no_progress() {
    let folder = crate::harness::folder();
    let file = folder.path().join("late.tri");
    let home = "role home of block { var times: 0..1000 state Here: write {
  on Get when times == 1000 { send Here to sender }
  on Get { times += 1; send Nack to sender } } }";
    let late = REFUSES
        .replace("message Get, Nack on main", "message Get, Nack on main\nmessage Here on main with block")
        .replace(
            "    on Nack { goto Pausing }",
            "    on Nack { goto Pausing }\n    on Here { install; complete; goto Away }",
        )
        .replace("role home of block { state Here: write { on Get { send Nack to sender } } }", home);
    assert!(late.contains("times"));
    std::fs::write(&file, late).unwrap();
    let program = folder.path().join("holds.c");
    let text = SPINS.replace("while (!never) { }", "for (int i = 0; i < 300000; i++) never = 0;");
    assert_ne!(text, SPINS);
    std::fs::write(&program, text).unwrap();
    for protocol in [file.to_str().unwrap(), "stache", "swcc"] {
        let args =
            ["sim", program.to_str().unwrap(), "-p", protocol, "-m", "typhoon", "-n", "2", "--stall-limit", "100000"];
        let run = trivium(&args);
        assert_eq!(run.code, Some(0), "{protocol}: {run:?}");
    }
    // The lock is held for longer than the limit, and whoever wants it looks at it again and again.
    let program = folder.path().join("locks.c");
    let text = r#"#include "trivium.h"
#include <stdatomic.h>
static volatile int work;
int main(void) {
    _Atomic int *held = trivium_alloc_on(0, 64);
    for (;;) {
        if (!atomic_exchange(held, 1)) break;
    }
    for (int i = 0; i < 100000; i++) work = i;
    atomic_store(held, 0);
    trivium_barrier();
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    for protocol in ["stache", "msi", "uncached"] {
        let args =
            ["sim", program.to_str().unwrap(), "-p", protocol, "-m", "typhoon", "-n", "3", "--stall-limit", "100000"];
        let run = trivium(&args);
        assert_eq!(run.code, Some(0), "{protocol}: {run:?}");
    }
}

/// All nodes take a row, give it back and look at another, under a protocol whose requests stand in one queue at the bank.
fn bank(folder: &crate::harness::Folder, protocol: &str) -> String {
    let calls = protocol.replace('-', "_");
    let file = folder.path().join(format!("{protocol}.c"));
    let text = format!(
        "#include <trivium.h>\n#include <trivium/{protocol}.h>\nint main(void) {{ for (int i = 0; i < 3; i++) {{ \
         {calls}_take(0); {calls}_give(0, i & 1); {calls}_look(1); }} return 0; }}\n"
    );
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_string()
}

/// What stalls is counted with what it keeps back: the same in every simulation, and as many messages in a run.
#[test]
fn what_blocks_a_queue_is_counted() {
    let folder = crate::harness::folder();
    let program = bank(&folder, "bank-queue");
    let protocols = ["-p", "stache", "-p", "bank-queue", "--nodes", "3", "--format", "json"];
    let simulated = |jobs: &str| {
        let args = [&["sim", &program, "-m", "typhoon", "--jobs", jobs][..], &protocols].concat();
        trivium(&args).json(0)["stalls"].clone()
    };
    let stalls = simulated("1");
    assert_eq!(stalls, simulated("3"));
    let take = &stalls["bank-queue.Take"];
    let [stalled, cycles, kept_back] = ["stalled", "cycles", "kept_back"].map(|key| take[key].as_u64().unwrap());
    // Nine takes of three nodes: who comes first stalls nobody, and whoever waits does so for a message there and back at least.
    assert!((1..=8).contains(&stalled) && cycles > 200 * stalled && (1..=8).contains(&kept_back), "{stalls}");
    assert_eq!(stalls.as_object().unwrap().len(), 1, "{stalls}");

    // Whether nodes meet depends on the host; where they do the keys are these.
    let ran = trivium(&[&["run", &program][..], &protocols].concat()).json(0);
    if let Some(of_kind) = ran.get("stalls").map(|stalls| &stalls["bank-queue.Take"]) {
        let [stalled, nanoseconds] = ["stalled", "nanoseconds"].map(|key| of_kind[key].as_u64().unwrap());
        assert!((1..=9).contains(&stalled) && nanoseconds > 0 && of_kind["kept_back"].is_u64(), "{ran}");
    }
    let nothing = trivium(&[&["run", &program][..], &protocols[..4], &["--nodes", "1"]].concat());
    assert!(nothing.code == Some(0) && !nothing.out.contains("stalled"), "{nothing:?}");
}

#[test]
fn a_deadlock_says_what_stands_after_the_message_that_stalls() {
    let folder = crate::harness::folder();
    let program = bank(&folder, "bank-queue-one-lane");
    let protocols = ["-p", "stache", "-p", "broken/bank-queue-one-lane", "--nodes", "3"];
    let told = "about row 0 stalls on lane bank-queue-one-lane.request, and keeps back ";
    let after = "Give from node 0 about row 0";
    trivium(&[&["sim", &program, "-m", "typhoon"][..], &protocols].concat()).refuses(1, &["deadlock", told, after]);
}

/// Programs that have ended wait for nobody. What stalls then, and always will, is a deadlock to a simulation as it is to a run.
#[test]
fn what_stalls_after_the_last_program_has_ended_is_told() {
    let folder = crate::harness::folder();
    let text = "protocol left\nlane main fifo buffered\nmessage Tell on main\nop tell()\n\
        role agent of node { state Rest { on tell { send Tell to node(0); return } on Tell WHEN } }\n";
    let program = folder.path().join("left.c");
    let c = "#include <trivium.h>\n#include <trivium/left.h>\nint main(void) { left_tell(); return 0; }\n";
    std::fs::write(&program, c).unwrap();
    let program = program.to_str().unwrap();
    let file = folder.path().join("left.tri");
    for (answer, ends) in [("stall", false), ("{ }", true)] {
        std::fs::write(&file, text.replace("WHEN", answer)).unwrap();
        let protocols = ["-p", "stache", "-p", file.to_str().unwrap(), "--nodes", "3"];
        let sim = |jobs: &str| trivium(&[&["sim", program, "-m", "typhoon", "--jobs", jobs][..], &protocols].concat());
        let run = trivium(&[&["run", program][..], &protocols].concat());
        for told in [sim("1"), sim("2"), run] {
            match ends {
                true => assert_eq!(told.code, Some(0), "{told:?}"),
                false => told.refuses(1, &["all nodes have finished", "Tell from node", "stalls on lane left.main"]),
            }
        }
    }
}

/// The home's own program waits for a block that others ask for again and again: it comes to its turn as they do.
#[test]
fn what_a_thread_wants_is_not_overtaken_for_ever_by_messages_that_stall() {
    for protocol in ["mshr", "retry-credits"] {
        let args = ["programs/together.c", "-p", protocol, "-n", "4"];
        let limits = ["--stall-limit", "300000"];
        let sim = trivium(&[&["sim"], &args[..], &["-m", "typhoon"], &limits, &["--", "-n", "3"]].concat());
        assert!(sim.out.contains("together: ok"), "{protocol}: {sim:?}");
        let run = trivium(&[&["run"], &args[..], &["--max-seconds", "60", "--", "-n", "3"]].concat());
        assert!(run.out.contains("together: ok"), "{protocol}: {run:?}");
    }
}
