//! Bodies of calls mean the same to `check`, which goes through them step by step, and to programs, which have them as C: what a program's calls return in `sim`,
//! and in a real run with delays, `check` finds among the outcomes of the same calls. The bodies are made at random.

use crate::harness::{in_file, trivium};
use crate::slow;
use std::fmt::Write;

/// Numbers at random, the same each time.
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

/// What a body can look at: its variables by now.
struct Body {
    draws: Draws,
    text: String,
    /// Variables that hold what the image held, numbers, and truth values.
    seen: Vec<String>,
    numbers: Vec<String>,
    truths: Vec<String>,
    names: usize,
}

impl Body {
    fn new_name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    fn number(&mut self) -> String {
        let numbers = self.numbers.clone();
        match self.draws.below(4) {
            0 if !self.seen.is_empty() => format!("{}.a", self.seen[self.draws.below(self.seen.len() as u64) as usize]),
            1 | 2 if !numbers.is_empty() => numbers[self.draws.below(numbers.len() as u64) as usize].clone(),
            _ => self.draws.below(4).to_string(),
        }
    }

    fn truth(&mut self) -> String {
        let truths = self.truths.clone();
        match self.draws.below(4) {
            0 if !self.seen.is_empty() => format!("{}.b", self.seen[self.draws.below(self.seen.len() as u64) as usize]),
            1 if !truths.is_empty() => truths[self.draws.below(truths.len() as u64) as usize].clone(),
            2 => format!("{} == {}", self.number(), self.number()),
            _ => format!("{} < {}", self.number(), self.number()),
        }
    }

    /// So many statements, as deep in others. A variable of a block is not seen behind it.
    fn statements(&mut self, count: u64, depth: usize) {
        let kept = (self.seen.len(), self.numbers.len(), self.truths.len());
        for _ in 0..count {
            self.statement(depth);
        }
        self.seen.truncate(kept.0);
        self.numbers.truncate(kept.1);
        self.truths.truncate(kept.2);
    }

    fn statement(&mut self, depth: usize) {
        let pad = "  ".repeat(depth + 1);
        let most = if depth > 2 { 7 } else { 11 };
        match self.draws.below(most) {
            0 | 1 => {
                let name = self.new_name();
                let _ = writeln!(self.text, "{pad}let {name} = image");
                self.seen.push(name);
            }
            2 => {
                let name = self.new_name();
                let _ = writeln!(self.text, "{pad}let {name} = ask what");
                self.numbers.push(name);
            }
            3 => {
                let (name, n) = (self.new_name(), self.draws.below(2));
                let _ = writeln!(self.text, "{pad}let {name} = ask is_b({n})");
                self.truths.push(name);
            }
            4 => {
                let told = self.draws.of(&["poke(0)", "poke(3)", "flip", "mark"]);
                let _ = writeln!(self.text, "{pad}tell {told}");
            }
            5 => {
                let name = self.new_name();
                let expr = format!("({} + 2 * {}) % 4", self.number(), self.number());
                let _ = writeln!(self.text, "{pad}let {name} = {expr}");
                self.numbers.push(name);
            }
            6 => {
                // What is marked stays marked.
                let _ = writeln!(self.text, "{pad}tell mark\n{pad}until image.c");
            }
            7 => {
                let condition = self.truth();
                let _ = writeln!(self.text, "{pad}if {condition} {{");
                self.statements(2, depth + 1);
                let _ = writeln!(self.text, "{pad}}} else {{");
                self.statements(1, depth + 1);
                let _ = writeln!(self.text, "{pad}}}");
            }
            8 => {
                // What was true stays true: variables keep what they have.
                let condition = self.truth();
                let _ = writeln!(
                    self.text,
                    "{pad}if {condition} {{ assert {condition} }} else {{ assert not ({condition}) }}"
                );
            }
            _ => {
                let (seen, n) = (self.new_name(), self.draws.below(4));
                let field = self.draws.of(&["a", "b"]);
                let value = match (field, self.draws.below(3)) {
                    ("b", _) => format!("not {seen}.b"),
                    (_, 0) => n.to_string(),
                    (_, 1) => format!("({seen}.a + {n}) % 4"),
                    _ => format!("(3 * {seen}.a + n) % 3"),
                };
                let swap = format!("swap {seen} with {{{field}: {value}}}");
                if self.draws.below(2) == 0 {
                    let _ = writeln!(
                        self.text,
                        "{pad}loop {{\n{pad}  let {seen} = image\n{pad}  if {swap} {{ break }}\n{pad}}}"
                    );
                } else {
                    let swapped = self.new_name();
                    let _ = writeln!(self.text, "{pad}let {seen} = image\n{pad}let {swapped} = {swap}");
                    self.seen.push(seen);
                    self.truths.push(swapped);
                }
            }
        }
    }
}

/// A protocol whose call has a body at random; `forbidden`: what its calls must not return, of two nodes twice each.
fn protocol(seed: u64, forbidden: Option<[i64; 4]>) -> String {
    let mut body = Body {
        draws: Draws(seed),
        text: String::new(),
        seen: Vec::new(),
        numbers: vec!["n".into()],
        truths: Vec::new(),
        names: 0,
    };
    let count = 3 + body.draws.below(3);
    // All that it has seen by its end is in what it returns.
    for _ in 0..count {
        body.statement(0);
    }
    let sum: Vec<String> = body.seen.iter().map(|seen| format!("{seen}.a")).chain(body.numbers.clone()).collect();
    for truth in body.truths.clone() {
        let _ = writeln!(body.text, "  if {truth} {{ return ({} + 5) % 8 }}", sum.join(" + 3 * "));
    }
    let _ = writeln!(body.text, "  return ({}) % 8", sum.join(" + 3 * "));
    let scenario = forbidden.map_or(String::new(), |[a, b, c, d]| {
        format!(
            "scenario outcome {{\n  at 0 {{ a = go(0, 1); b = go(0, 2) }}\n  at 1 {{ c = go(0, 1); d = go(0, 2) }}\n  \
             forbid a == {a} and b == {b} and c == {c} and d == {d}\n}}\n"
        )
    });
    let moves = body.draws.below(2) == 0;
    let sends = if moves { "send Move(a) to node((index(me) + 1) % nodes)" } else { "" };
    format!(
        "protocol random-body\n\
         object cell image {{ b: bool, a: 0..3, c: bool }}\n\
         event poke(n: 0..3), flip, mark\n\
         event what: 0..3\n\
         event is_b(n: 0..1): bool\n\
         op everything(x: cell): bool {{ tell poke(0); tell flip; tell mark; let a = ask what; return ask is_b(0) }}\n\
         op go(x: cell, n: 0..3): 0..7 {{\n{}}}\n\
         lane main fifo buffered\n\
         message Move(n: 0..3) on main\n\
         role engine of cell everywhere {{\n\
         \x20 var a: 0..3\n\
         \x20 var b, c: bool\n\
         \x20 action pull() {{ if probe is exclusive {{ let v = take exclusive; a = v.a; b = v.b; c = c or v.c }} else {{ invalidate }} }}\n\
         \x20 state Any {{\n\
         \x20   on image {{ fill exclusive {{a: a, b: b, c: c}} }}\n\
         \x20   on writeback(v) {{ a = v.a; b = v.b; c = c or v.c }}\n\
         \x20   on poke(n) {{ pull(); a = n; {sends} }}\n\
         \x20   on flip {{ pull(); b = not b }}\n\
         \x20   on mark {{ pull(); c = true }}\n\
         \x20   on what {{ pull(); return a }}\n\
         \x20   on is_b(n) {{ pull(); return b == (n == 1) }}\n\
         \x20   on Move(n) {{ pull(); if n != a {{ a = n }} else {{ b = not b }} }}\n\
         \x20 }}\n}}\n{scenario}",
        body.text
    )
}

const PROGRAM: &str = "\
#include \"trivium.h\"
#include \"trivium/random-body.h\"
#include <stdio.h>
int main(void) {
    int64_t first = random_body_go(0, 1), second = random_body_go(0, 2);
    printf(\"node %d: %lld %lld\\n\", trivium_node(), (long long)first, (long long)second);
    return 0;
}
";

/// What the two calls of each node have returned.
fn outcome(said: &str) -> [i64; 4] {
    let mut outcome = [-1; 4];
    for line in said.lines() {
        let Some((node, values)) = line.strip_prefix("node ").and_then(|rest| rest.split_once(": ")) else { continue };
        let (Ok(node), values) = (node.parse::<usize>(), values.split(' ').map(str::parse::<i64>)) else { continue };
        for (at, value) in values.flatten().enumerate() {
            outcome[node * 2 + at] = value;
        }
    }
    assert!(!outcome.contains(&-1), "{said}");
    outcome
}

#[test]
fn what_programs_see_of_random_bodies_check_sees_too() {
    let count = slow::all_or(120, 6);
    let mut looked = 0;
    for seed in 0..count {
        let folder = crate::harness::folder();
        let text = protocol(seed, None);
        let (file, program) = (in_file(&folder, "body.tri", &text), in_file(&folder, "body.c", PROGRAM));
        let general = trivium(&["check", &file, "--nodes", "2", "--ops", "1", "--max-states", "400000"]);
        assert!(matches!(general.code, Some(0 | 3)), "{general:?}\n{text}");
        let mut seen: Vec<[i64; 4]> = Vec::new();
        for machine in ["typhoon", "flash"] {
            let run = trivium(&["sim", &program, "-p", &file, "-m", machine, "-n", "2"]);
            assert_eq!(run.code, Some(0), "{run:?}\n{text}");
            seen.push(outcome(&run.out));
        }
        let delays = seed.to_string();
        let run = trivium(&["run", &program, "-p", &file, "--nodes", "2", "--delays", &delays]);
        assert_eq!(run.code, Some(0), "{run:?}\n{text}");
        seen.push(outcome(&run.out));
        seen.sort_unstable();
        seen.dedup();
        for outcome in seen {
            let forbids = protocol(seed, Some(outcome));
            let file = in_file(&folder, "forbids.tri", &forbids);
            let found = trivium(&["check", &file, "--scenario", "outcome", "--max-states", "2000000"]);
            assert_eq!(found.code, Some(1), "{outcome:?} is not among what `check` finds:\n{}\n{forbids}", found.out);
            looked += 1;
        }
    }
    assert!(looked >= count);
}

/// What a body asserts ends a program where it is false, with the same words on all backends.
#[test]
fn false_assertions_end_a_program() {
    let bad = |name: &str| format!("{}/tests/bad/{name}", env!("CARGO_MANIFEST_DIR"));
    let (program, file) = (bad("asserts.c"), bad("asserts.tri"));
    let found = trivium(&["check", &file, "--nodes", "1"]);
    let said = "asserts.close of gate 1 asserts `image.open and n > 1`, which is false (";
    assert!(found.code == Some(1) && found.out.contains("asserts `image.open and n > 1`, which is false"), "{found:?}");
    for backend in [&["sim", "-m", "flash"][..], &["run"]] {
        let (name, options) = backend.split_first().unwrap();
        for (args, is_right) in [(["3", "1"], true), (["1", "1"], false), (["3", "2"], false)] {
            let line = [&[*name, &program, "-p", &file, "-n", "1"], options, &["--", args[0], args[1]]].concat();
            let run = trivium(&line);
            let told = run.err.contains(&format!("node 0: {said}")) && run.err.contains("asserts.tri:4:37)");
            assert!(if is_right { run.code == Some(0) } else { run.code == Some(1) && told }, "{args:?}: {run:?}");
        }
    }
}

/// Who releases a lock that its node does not hold is told so, and where the protocol says it; nobody hangs.
#[test]
fn who_releases_what_it_does_not_hold_is_told() {
    let folder = crate::harness::folder();
    let by_body = "asserts `v.held`, which is false (flash-lock.tri:";
    let by_handler = |lock: &str| format!("magic in Any: give: assertion failed ({lock}.tri:");
    for (lock, said) in [
        ("flash-lock", by_body.to_string()),
        ("flash-lock-aggressive", by_body.to_string()),
        ("flash-lock-central", by_handler("flash-lock-central")),
        ("flash-lock-hints", by_handler("flash-lock-hints")),
        ("flash-lock-uncached", by_handler("flash-lock-uncached")),
    ] {
        let prefix = lock.replace('-', "_");
        // Node 0 takes lock 3 and lets it go; then node 1 lets it go once more.
        let text = format!(
            "#include \"trivium.h\"\n#include \"trivium/{lock}.h\"\nint main(void) {{\n    \
             if (trivium_node() == 0) {{ {prefix}_acquire(3); {prefix}_release(3); }}\n    trivium_barrier();\n    \
             if (trivium_node() == 1) {prefix}_release(3);\n    return 0;\n}}\n"
        );
        let program = in_file(&folder, &format!("{lock}.c"), &text);
        for backend in [&["sim", "-m", "flash"][..], &["run"]] {
            let (name, options) = backend.split_first().unwrap();
            let run = trivium(&[&[*name, &program, "-p", lock, "-n", "2"], options].concat());
            let is_named = run.err.contains("node 1: ") && run.err.contains("lock 3") && run.err.contains(&said);
            assert!(run.code == Some(1) && is_named, "{lock}: {run:?}");
        }
    }
}

/// What `check` calls impossible, since the types exclude it, a program is not let do.
#[test]
fn values_outside_of_their_types_end_a_program() {
    let bad = |name: &str| format!("{}/tests/bad/{name}", env!("CARGO_MANIFEST_DIR"));
    let (program, file) = (bad("narrow.c"), bad("narrow.tri"));
    let holds = trivium(&["check", &file, "--nodes", "1"]);
    assert!(holds.out.contains("returns 6, which is outside 0..5"), "{holds:?}");
    for (args, said) in [
        (["0", "9"], "node 0: narrow.set: n: 9 is outside 0..5"),
        (["0", "-1"], "node 0: narrow.set: n: -1 is outside 0..5"),
        (["-1", "0"], "node 0: narrow is asked for the image of gate -1"),
        (["0", "5"], "node 0: narrow.set: returns 6, which is outside 0..5"),
    ] {
        for backend in [&["sim", "-m", "flash"][..], &["run"]] {
            let (name, options) = backend.split_first().unwrap();
            let line = [&[*name, &program, "-p", &file, "-n", "1"], options, &["--", args[0], args[1]]].concat();
            let run = trivium(&line);
            assert!(run.code == Some(1) && run.err.contains(said), "{run:?}");
        }
    }
    let right = trivium(&["sim", &program, "-p", &file, "-m", "flash", "-n", "1", "--", "0", "4"]);
    assert_eq!(right.code, Some(0), "{right:?}");
    assert!(right.out.contains("\n5\n"), "{right:?}");
}
