//! Nodes do nothing but ask for a lock: the run ends, and names the lock, who has it, and the lines. A lock that is held for long is no such thing.

use crate::harness::{Run, in_file, trivium};

fn sim(program: &str, protocol: &str, more: &[&str]) -> Run {
    let args = ["sim", program, "-p", protocol, "-m", "typhoon", "-n", "3", "--stall-limit", "100000"];
    trivium(&[&args, more].concat())
}

fn run(program: &str, protocol: &str, more: &[&str]) -> Run {
    trivium(&[&["run", program, "-p", protocol, "-n", "3", "--stall-limit", "1"], more].concat())
}

/// Node 0 takes the lock and goes where it never releases it.
fn taken_and_kept(lock: &str, take: &str, then: &str) -> String {
    format!(
        "#include <stdatomic.h>
#include \"trivium.h\"
int main(void) {{
    {lock} *door = trivium_alloc_on(0, sizeof *door);
    if (trivium_node() == 0) {{ {take}; }}
    trivium_barrier();
    if (trivium_node() == 0) {{ {then}; }}
    {take};
    trivium_barrier();
    return 0;
}}
"
    )
}

const LIBRARY: (&str, &str) = ("trivium_lock_t", "trivium_lock(door)");
const SPIN: (&str, &str) = ("trivium_spin_lock_t", "trivium_spin_lock(door)");
const OWN: (&str, &str) = ("_Atomic int", "while (atomic_exchange(door, 1)) { }");
const COMPARED: (&str, &str) = ("int", "while (!__sync_bool_compare_and_swap(door, 0, 1)) { }");

#[test]
fn a_lock_that_is_never_released_is_named_with_its_holder() {
    let folder = crate::harness::folder();
    let (left, waits, again) = (
        ("return 0", "and has left main"),
        ("trivium_barrier()", "and waits at the barrier; at "),
        ("", "and waits for a word"),
    );
    let cases = [(LIBRARY, left), (LIBRARY, again), (SPIN, waits), (OWN, left), (OWN, waits), (COMPARED, waits)];
    for (number, ((lock, take), (then, holder))) in cases.into_iter().enumerate() {
        let name = format!("kept{number}.c");
        let program = in_file(&folder, &name, &taken_and_kept(lock, take, then));
        for protocol in ["stache", "uncached"] {
            let found = sim(&program, protocol, &[]);
            let line = format!("{name}:8");
            let words = [
                "the beginning of `door`",
                "node 0 has the lock 0x40000000",
                holder,
                &line,
                "whoever takes a lock has to release it",
            ];
            found.refuses(1, &words);
            assert!(!found.err.contains("trivium check"), "the protocol is not to blame: {found:?}");
        }
    }
}

#[test]
fn a_run_names_a_lock_that_is_never_released() {
    let folder = crate::harness::folder();
    for (number, (lock, take)) in [LIBRARY, OWN].into_iter().enumerate() {
        let name = format!("kept{number}.c");
        let program = in_file(&folder, &name, &taken_and_kept(lock, take, "trivium_barrier()"));
        for protocol in ["stache", "uncached"] {
            let found = run(&program, protocol, &[]);
            let line = format!("{name}:8");
            let words = [
                "the beginning of `door`",
                "node 0 has the lock at 0x40000000",
                "node 0: waits at the barrier",
                &line,
                "whoever takes a lock has to release it",
            ];
            found.refuses(1, &words);
            assert!(!found.err.contains("trivium check"), "the protocol is not to blame: {found:?}");
        }
    }
}

/// What is said does not depend on the order in which nodes are simulated.
#[test]
fn it_is_the_same_for_any_window_and_jobs() {
    let folder = crate::harness::folder();
    for (number, (lock, take)) in [SPIN, OWN].into_iter().enumerate() {
        let program = in_file(&folder, &format!("kept{number}.c"), &taken_and_kept(lock, take, "trivium_barrier()"));
        let plain = sim(&program, "stache", &[]);
        for more in [&["--window", "0"][..], &["--window", "7"], &["--jobs", "2"], &["--jobs", "3"]] {
            assert_eq!(sim(&program, "stache", more).err, plain.err, "{more:?}");
        }
    }
}

/// All want in until all have been in three times: who has just released a spin lock takes it again.
const HOGS: &str = "#include \"trivium.h\"
struct all { LOCK_t door; int32_t apart[31]; volatile int32_t in[64]; };
int main(void) {
    struct all *all = trivium_alloc_on(0, sizeof *all);
    int me = trivium_node(), nodes = trivium_nodes();
    trivium_barrier();
    for (int over = 0; !over;) {
        LOCK(&all->door);
        all->in[me]++;
        over = 1;
        for (int node = 0; node < nodes; node++) over &= all->in[node] >= 3;
        UNLOCK(&all->door);
    }
    trivium_barrier();
    return 0;
}
";

fn hogs(lock: &str) -> String {
    HOGS.replace("UNLOCK", &lock.replace("lock", "unlock")).replace("LOCK", lock)
}

#[test]
fn who_is_kept_out_of_a_lock_for_ever_is_said_to_be() {
    let folder = crate::harness::folder();
    let (spin, fair) =
        (in_file(&folder, "spin.c", &hogs("trivium_spin_lock")), in_file(&folder, "fair.c", &hogs("trivium_lock")));
    for protocol in ["stache", "uncached", "swcc"] {
        assert_eq!(sim(&fair, protocol, &["--format", "json"]).code, Some(0), "{protocol}");
        let found = sim(&spin, protocol, &["--max-cycles", "100000000"]);
        if found.code == Some(0) {
            continue;
        }
        found
            .refuses(1, &["it has asked in vain for a lock, 0x40000000", "spin.c:8", "in the order in which they ask"]);
        assert!(!found.err.contains("trivium check"), "the protocol is not to blame: {found:?}");
    }
    let plain = sim(&spin, "stache", &[]);
    assert_eq!(plain.code, Some(1), "it is the case that this is about");
    for more in [&["--window", "0"][..], &["--window", "7"], &["--jobs", "2"]] {
        assert_eq!(sim(&spin, "stache", more).err, plain.err, "{more:?}");
    }
}

/// Whoever has the lock computes for longer than the limit, by itself or in memory beside the lock.
#[test]
fn a_lock_that_is_held_for_long_ends_nothing() {
    let folder = crate::harness::folder();
    for (number, (lock, take)) in [LIBRARY, SPIN, OWN].into_iter().enumerate() {
        let release = ["trivium_unlock(door)", "trivium_spin_unlock(door)", "atomic_store(door, 0)"][number];
        let text = format!(
            "#include <stdatomic.h>
#include \"trivium.h\"
static volatile int work;
int main(void) {{
    {lock} *door = trivium_alloc_on(0, 64);
    volatile int *beside = (volatile int *)door + 8;
    for (int time = 0; time < 2; time++) {{
        {take};
        for (int i = 0; i < 30000; i++) {{ work = i; if (time) *beside += 1; }}
        {release};
    }}
    trivium_barrier();
    return 0;
}}
"
        );
        let program = in_file(&folder, &format!("held{number}.c"), &text);
        for protocol in ["stache", "uncached"] {
            let found = sim(&program, protocol, &["--format", "json"]);
            assert_eq!(found.code, Some(0), "{lock} {protocol}: {}", found.err);
        }
    }
}
