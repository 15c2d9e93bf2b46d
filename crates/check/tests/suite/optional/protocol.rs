//! Random protocols whose truth values, numbers, addresses and words may be `none`: in variables, records, lists, arrays, messages, calls and tasks.

use crate::random::Random;

const HEAD: &str = "\
protocol optional
object thing
record pair { a: 1..2?, b: bool?, w: word? }
lane main fifo buffered
op put(t: thing, n: 0..1?, f: bool?): 0..2?
op ask(t: thing): bool?
message Tell(n: 1..2?, w: word?, a: [0..1] of 1..2?) on main
message Ask(f: bool?, l: list of 0..2? up to 2) on main
message Back(n: 0..2?, f: bool?, at: address?) on main
";

/// A protocol that keeps, sends, compares and uses what may be `none`.
pub fn protocol(seed: u64) -> String {
    let mut random = Random(seed);
    for _ in 0..4 {
        random.below(2);
    }
    let first = random.one(&["", " = 1", " = none"]);
    let mut text = format!(
        "{HEAD}role peer of thing everywhere defers up to 4 {{\n  var n: 0..2?{first}\n  var m: 1..2?\n  var low: -3..-2?\n  var f: bool?\n  var w: word?\n  var at: address?\n  var each: [0..1] of 1..2?\n  \
         var p: pair\n  var l: list of 0..2? up to 2\n  var x: 0..2\n  task later(k: 0..2?, g: bool?) {{\n"
    );
    text += &steps(&mut random, "k", "g", &[]);
    text += "  }\n";
    for state in ["A", "B"] {
        text += &format!("  state {state} {{\n    on put(k, g) {{\n");
        let waits = random.once_in(5);
        let put = steps(&mut random, "k", "g", &[]);
        // A handler that waits goes nowhere before.
        text += &if waits { put.replace("goto A", "x = 1").replace("goto B", "x = 2") } else { put };
        text += match random.below(5) {
            _ if waits => {
                "      send Ask(g, l) to home\n      await Back(j, h, a) { n = k; f = h; at = a; goto A; return j } otherwise defer\n"
            }
            1 => "      send Tell(m, w, each) to home; return k\n",
            2 => "      send Ask(f, l) to home; return none\n",
            3 => "      start later(k, f); return m\n",
            _ => "      send Tell(p.a, p.w, each) to home; return n\n",
        };
        text += "    }\n    on ask { return f }\n    on Tell(k, v, c) {\n";
        text += &steps(&mut random, "k", "f", TOLD);
        text += "    }\n    on Ask(g, y) {\n";
        text += &steps(&mut random, "n", "g", ASKED);
        text += "      send Back(n, f, at) to sender\n    }\n    on Back(k, g, a) { at = a; f = g }\n  }\n";
    }
    text += "}\n";
    text += random.one(&[
        "",
        "",
        "invariant apart of thing: all k: (peer at k).n != 2 or (peer at home).m != none\n",
        "invariant known of thing: all k: (peer at k).f == none or (peer at k).f or (peer at home).x < 2\n",
        "invariant same of thing: all k: (peer at k).p.a != (peer at home).each[1] or (peer at k).w == none\n",
    ]);
    text
}

const ANYWHERE: &[&str] = &[
    "n = V",
    "n = K",
    "n = none",
    "m = K",
    "if m != none { n = m }",
    "if n != none and n > 0 { m = n }",
    "if K == none { n = 0 } else { n = K }",
    "x = K",
    "x = V",
    "if none != n { x = n }",
    "if n == x - 1 { f = true }",
    "if x - 1 != m { m = none }",
    "if x > 0 { low = x - 4 + V - V }",
    "if low == x - 3 { low = none }",
    "n += 1",
    "if n != none and n < 2 { n += 1 }",
    "f = G",
    "f = none",
    "f = n == K",
    "f = not G",
    "if G { x = 1 }",
    "if f != none and f { n = none }",
    "if f == G { w = 3 }",
    "w = V",
    "w = K",
    "n = w",
    "if n == w { w = none }",
    "w = none",
    "let u = w; if u != none { x = u % 3 }",
    "if w == V { w = none }",
    "at = 8 * V",
    "if at != none { at = none } else { at = 8 }",
    "if at == 8 { x = 2 }",
    "each[x % 2] = K",
    "each[0] = m",
    "if each[1] == none { each[1] = 2 } else { each[1] = none }",
    "if each[0] != each[1] { n = each[0] }",
    "x = each[1]",
    "p = {a: m, b: G, w: none}",
    "p.b = G",
    "p.w = w",
    "if p.a == none { p.a = 1 }",
    "if p.w == w { p.w = V }",
    "if l.length < 2 { l.push(K) }",
    "if l.length > 0 { n = l.pop() }",
    "for e in l { if e != none { x = e } else { f = false } }",
    "if l.length > 0 and l[0] != none { l[0] = none }",
    "let k2 = n; n = m; if k2 != none { x = k2 }",
    "goto B",
    "goto A",
    "assert n != 2 or f != none",
];
const TOLD: &[&str] = &[
    "m = k",
    "if k != none { x = k }",
    "x = k",
    "w = v",
    "if v == w { w = none }",
    "each = c",
    "if c == each { n = 2 }",
    "n = c[1]",
    "if c[0] != none { each[0] = c[0] }",
];
const ASKED: &[&str] = &[
    "f = g",
    "if g != none and g { n = 1 }",
    "if g { n = 1 }",
    "l = y",
    "for e in y { n = e }",
    "if y == l { n = none }",
    "if y.length > 0 and y[0] == none { f = none }",
    "if y.length > 1 { m = y[1] }",
];

fn steps(random: &mut Random, number: &str, truth: &str, own: &[&str]) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(3) {
        let step = if !own.is_empty() && random.once_in(3) { random.one(own) } else { random.one(ANYWHERE) };
        let mut line = String::new();
        for part in step.chars() {
            match part {
                'K' => line += random.one(&["n", "m", number, number]),
                'G' => line += random.one(&["f", "p.b", truth, "true"]),
                'V' => line += random.one(&["0", "1", "1", "2", "x"]),
                other => line.push(other),
            }
        }
        text += &format!("      {line}\n");
    }
    text
}
