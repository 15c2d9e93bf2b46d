//! Arrays and lists as values, and their elements: what is left out of the search, or exchanged in it, is seen by nobody.

use crate::answers::found;
use crate::mutant::config;
use crate::random::Random;
use crate::shipped::written;
use crate::slow;
use proptest::prelude::*;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, every_order_at_every_loop, explore, text};
use trivium_protocol::Protocol;

/// States after which an exploration is left.
const MOST: u64 = 15_000;

const HEAD: &str = "\
protocol arrays
object thing
record pair { a: 0..2, who: node? }
lane main fifo buffered
op put(t: thing, n: node, i: 0..2)
message Tell(c: [node] of 0..2, f: [0..2] of bool, s: [node] of set of node), Ask(w: [node] of node?, x: list of pair up to 2), Back(c: [node] of 0..2, y: list of node up to 3) on main
";

/// A protocol that keeps, sends and changes arrays.
pub fn protocol(seed: u64) -> String {
    let mut random = Random(seed);
    for _ in 0..4 {
        random.below(2);
    }
    let first = random.one(&["", " = 1"]);
    let variables = format!(
        "  var by, other: [node] of 0..2{first}\n  var who: [node] of node?\n  var num: [0..2] of 0..2\n  \
         var flags: [0..2] of bool = true\n  var recs: [node] of pair\n  var sets: [node] of set of node\n  var some: [0..2] of set of 0..2\n  var l: list of pair up to 2\n  \
         var mm: list of pair up to {}\n  var q: queue of node up to {}\n",
        random.one(&["1", "2"]),
        random.one(&["2", "3"])
    );
    let mut text = format!("{HEAD}role peer of thing everywhere defers up to 4 {{\n{variables}");
    for state in ["A", "B"] {
        text += &format!("  state {state} {{\n    on put(n, i) {{\n");
        let waits = random.once_in(5);
        let put = steps(&mut random, &["me", "n", "home", "n"], "i", PUT);
        // A handler that waits goes nowhere before.
        text += &if waits { put.replace("goto A", "num[0] = 1").replace("goto B", "num[0] = 2") } else { put };
        text += match random.below(5) {
            _ if waits => {
                "      send Ask(who, l) to home; let k = by; let old = q\n      await Back(c, y) { other = k; by = c; if y.length < 2 { q = old } else { q = {} }; goto A; return } otherwise defer\n"
            }
            1 => "      send Tell(by, flags, sets) to n; return\n",
            2 => "      send Ask(who, mm) to home; return\n",
            _ => "      send Tell(other, flags, sets) to home; return\n",
        };
        text += "    }\n    on Tell(c, f, s) {\n";
        text += &steps(&mut random, &["me", "sender", "home"], "l.length", TOLD);
        text += "    }\n    on Ask(w, x) {\n";
        text += &steps(&mut random, &["me", "sender", "home"], "l.length", ASKED);
        text += "      send Back(by, q) to sender\n    }\n    on Back(c, y) { by = c; if y.length > 0 { who[y[0]] = me } }\n  }\n";
    }
    text += "}\n";
    text += random.one(&[
        "",
        "",
        "invariant apart of thing: all m: all k: (peer at m).by[k] != 2 or (peer at k).other[m] != 2\n",
        "invariant known of thing: not any m: (peer at m).who[m] == m and (peer at m).recs[m].a == 2\n",
        "invariant same of thing: all m: (peer at m).by != (peer at home).other or (peer at m).num[1] != 2\n",
    ]);
    text
}

const ANYWHERE: &[&str] = &[
    "by[N] = V",
    "if by[N] < 2 { by[N] += 1 }",
    "if by[N] > 0 { by[N] -= 1 }",
    "by[N] += 1",
    "who[N] = N",
    "if who[N] != none { by[who[N]] = V }",
    "other[who[N]] = V",
    "num[I] = V",
    "flags[I] = not flags[1]",
    "recs[N] = {a: V, who: N}",
    "recs[N].a = V",
    "recs[N].who = N",
    "let r = recs[N]; by[N] = r.a; who[N] = r.who",
    "if l.length < 2 { l.push({a: V, who: N}) }",
    "if l.length > 0 { l[0].a = V }",
    "l[I].who = N",
    "if l.length > 0 { recs[N] = l.pop() }",
    "if l.length > 0 and l[0].a == V { by[N] = 1 }",
    "other = by",
    "if other == by { goto B } else { goto A }",
    "let b = other; num[1] = b[N]; by = b",
    "for m in all { if recs[m].a > 0 { recs[m].a -= 1 } }",
    "for m in all { other[m] = by[m] }",
    "for m in all { if who[m] == me { by[m] = 0 } }",
    "for m in all { by[m] = by[N] }",
    "for m in all { if other[m] == V { by[N] = other[m]; who[m] = m } }",
    "let p = pick(all); by[p] = V",
    "if q.length < 2 { q.push(N) }",
    "q.push(N)",
    "sets[N] += N",
    "sets[N] -= {N, me}",
    "if N in sets[N] { by[N] = V }",
    "some[I] += V",
    "some[I] -= {V}",
    "if some[I].count > 1 { some[I] = {} }",
    "sets[N] = sets[N] + {home}",
    "if sets[N] == sets[N] { flags[0] = not flags[0] }",
    "for m in sets[N] { by[m] = V }",
    "for m in all { sets[m] += N }",
    "let kept = sets[N]; sets[N] = kept - {me}",
    "if sets[N] != {} { who[N] = pick(sets[N]) }",
    "for p in q { by[p] = V }",
    "let k = q; if k.length > 0 { who[k[0]] = N }",
    "if l == mm { by[N] = V }",
    "mm = l",
    "l = mm",
    "if mm != {} { l = {} }",
    "goto B",
    "goto A",
    "assert by[N] != 2 or num[I] == V",
];
const PUT: &[&str] = &["num[i] = by[n]", "flags[i] = true"];
const TOLD: &[&str] = &[
    "by = c",
    "for m in all { if c[m] > by[m] { by[m] = c[m] } }",
    "if c == by { num[0] = V }",
    "num[c[N]] = V",
    "flags = f",
    "if f[1] { by[N] = c[N] }",
    "sets = s",
    "if s[N] == {} { sets[N] = all }",
    "for m in all { sets[m] += s[m] }",
    "if sets == s { some[I] += V }",
];
const ASKED: &[&str] = &[
    "who = w",
    "if w[N] == me { by[N] = V }",
    "for m in all { if w[m] != none { who[m] = w[m] } }",
    "l = x",
    "mm = x",
    "for e in x { if e.who != none { by[e.who] = e.a } }",
    "if x.length > 0 and x[0].a == V { recs[N] = x[0] }",
    "if x == l { q = {} }",
    "by[N] = x[I].a",
    "let k = x; num[0] = k.length",
];

fn steps(random: &mut Random, nodes: &[&str], number: &str, own: &[&str]) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(3) {
        let step = if random.once_in(3) { random.one(own) } else { random.one(ANYWHERE) };
        let mut line = String::new();
        for part in step.chars() {
            match part {
                'N' => line += random.one(nodes),
                'I' => line += random.one(&["0", "1", "2", number]),
                'V' => line += random.one(&["0", "1", "2", "num[0]", "by[me]", "recs[me].a"]),
                other => line.push(other),
            }
        }
        text += &format!("      {line}\n");
    }
    text
}

fn search(nodes: u32) -> Config<'static> {
    let system = System { nodes, objects: 1, ops: Some(if nodes == 2 { 2 } else { 1 }), ..System::default() };
    Config { system, max_states: Some(MOST), ..Config::default() }
}

/// Explores a system with everything that is left out or exchanged, and without. `None` if it is too large.
fn agree(protocol: &Arc<Protocol>, nodes: u32) -> Result<Option<Report>, TestCaseError> {
    let explored = |config: &Config| explore(protocol, config).map_err(|error| TestCaseError::reject(error.message));
    let whole = search(nodes);
    let plain = Config {
        system: System { clearing: false, idle_words: false, ..whole.system.clone() },
        symmetry: false,
        ..whole.clone()
    };
    let all = explored(&whole)?;
    let others = [
        Config { symmetry: false, ..whole.clone() },
        Config { system: System { clearing: false, ..whole.system.clone() }, ..whole.clone() },
        Config { system: System { idle_words: false, ..whole.system.clone() }, ..whole.clone() },
        plain.clone(),
        Config { search: Search::Brute, ..plain.clone() },
    ];
    for other in others {
        let other = explored(&other)?;
        if all.states >= MOST || other.states >= MOST {
            return Ok(None);
        }
        prop_assert_eq!(found(&all), found(&other), "{}\nwith less left out: {}", text(&all), text(&other));
        prop_assert!(all.verdict != Verdict::Holds || all.states <= other.states);
    }
    let every = every_order_at_every_loop(protocol, &plain).map_err(|error| TestCaseError::reject(error.message))?;
    if every.states < MOST {
        prop_assert_eq!(found(&all), found(&every), "{}\nevery order at every loop: {}", text(&all), text(&every));
    }
    Ok(Some(all))
}

proptest! {
    #![proptest_config(config(slow::all_or(200, 40)))]

    #[test]
    fn random_protocols_with_arrays_are_the_same_with_all_kept(seed: u64, nodes in 2u32..4) {
        let text = protocol(seed);
        agree(&written(&text), nodes).map_err(|error| match error {
            TestCaseError::Fail(error) => TestCaseError::fail(format!("{error}\n{text}")),
            rejected => rejected,
        })?;
    }
}

#[test]
fn random_protocols_with_arrays_hold_or_fail_and_nodes_are_exchanged() {
    let mut verdicts = [0; 3];
    let mut symmetric = 0;
    for seed in 0..30u64 {
        let nodes = 2 + u32::from(seed % 2 == 1);
        let Ok(Some(report)) = agree(&written(&protocol(seed * 7919)), nodes) else { continue };
        verdicts[report.verdict as usize] += 1;
        symmetric += u32::from(report.symmetry);
    }
    assert!(verdicts[Verdict::Holds as usize] > 2 && verdicts[Verdict::Violated as usize] > 2, "{verdicts:?}");
    assert!(symmetric > 2, "{symmetric}");
}
