//! Random protocols that keep, send, take from calls and change arrays, lists and sets in arrays.

use crate::random::Random;

const HEAD: &str = "\
protocol arrays
object thing
record pair { a: 0..2, who: node? }
lane main fifo buffered
op put(t: thing, n: node, i: 0..2)
FILLmessage Tell(c: [node] of 0..2, f: [0..2] of bool, s: [node] of set of node), Ask(w: [node] of node?, x: list of pair up to 2), Back(c: [node] of 0..2, y: list of node up to 3) on main
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
    let fills = random.once_in(3);
    let (fill, filled) = FILLS[random.below(3) as usize];
    let head = HEAD.replace("FILL", if fills { fill } else { "" });
    let mut text = format!("{head}role peer of thing everywhere defers up to 4 {{\n{variables}");
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
        text += "    }\n";
        if fills {
            text += "    on fill(w) {\n";
            text += &steps(&mut random, &["me", "home"], "l.length", filled);
            text += "      return\n    }\n";
        }
        text += "    on Tell(c, f, s) {\n";
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
/// A call that passes a list or an array, and what its handler does. Few values, since `check` passes them all.
const FILLS: [(&str, &[&str]); 3] = [
    (
        "op fill(t: thing, w: list of node up to 1)\n",
        &["by[N] = w.length", "for p in w { by[p] = V }", "q = w", "if w.length > 0 { who[w[0]] = N }", "by[w[I]] = V"],
    ),
    (
        "op fill(t: thing, w: list of 0..2 up to 1)\n",
        &[
            "num[0] = w.length",
            "for v in w { num[I] = v }",
            "let k = w; if k.length > 0 { by[N] = k[0] }",
            "num[I] = w[0]",
        ],
    ),
    (
        "op fill(t: thing, w: [0..1] of bool)\n",
        &["flags[I] = w[1]", "if w[0] and not w[1] { by[N] = V }", "let k = w; flags[2] = k[0]"],
    ),
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
