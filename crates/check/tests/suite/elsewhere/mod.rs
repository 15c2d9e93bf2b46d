//! Random protocols whose homes perform accesses for threads of other nodes (`perform .. as t of m`, `complete with`): at once or in a second event, with
//! read-modify-writes or without, some with copies beside them, and about every third with a mistake.

mod caches;

use crate::random::{Random, Text};
pub use caches::protocol as beside_caches;

/// What stands for the home's answer to a request, of which the second may be a mistake.
struct Answers {
    read: &'static str,
    write: &'static str,
    update: &'static str,
}

const RIGHT_READS: [&str; 4] = [
    "send Value(perform read(at, n) as t, t) to sender",
    "let w = perform read(at, n) as t; send Value(w, t) to sender",
    "send ReadLater(at, n, t, sender) to me",
    "if odd { send Value(perform read(at, n) as t, t) to sender } else { send ReadLater(at, n, t, sender) to me }; odd = not odd",
];

const WRONG_READS: [&str; 5] = [
    "send Value(memory[at], t) to sender",
    "let w = perform read(at, n) as t; send Value(0, t) to sender",
    "let w = perform read(at, n) as t; send Value(perform read(at, n) as t, t) to sender",
    "let w = perform read(at, n) as t; send ReadLater(at, n, t, sender) to me",
    "send Value(perform read(at, n) as t of me, t) to sender",
];

const RIGHT_WRITES: [&str; 4] = [
    "perform write(at, w, n) as t; send Written(t) to sender",
    "send Written(t) to sender; perform write(at, w, n) as t of sender",
    "send WriteLater(at, n, w, t, sender) to me",
    "odd = not odd; if odd { perform write(at, w, n) as t; send Written(t) to sender } else { send WriteLater(at, n, w, t, sender) to me }",
];

const WRONG_WRITES: [&str; 5] = [
    "send Written(t) to sender",
    "perform write(at, 0, n) as t; send Written(t) to sender",
    "perform write(at, w, n) as t; perform write(at, w, n) as t; send Written(t) to sender",
    "send Written(t) to sender; send WriteLater(at, n, w, t, sender) to me",
    "let v = perform read(at, n) as t; send Written(t) to sender",
];

const RIGHT_UPDATES: [&str; 2] = [
    "send Value(perform rmw(at, n, op, x, y) as t, t) to sender",
    "send UpdateLater(at, n, op, x, y, t, sender) to me",
];

const WRONG_UPDATES: [&str; 2] = [
    "let w = memory[at]; send UpdateLater(at, n, op, x, y, t, sender) to me; send Value(w, t) to sender",
    "let w = perform read(at, n) as t; perform write(at, x, n) as t; send Value(w, t) to sender",
];

/// A protocol for a number.
pub fn protocol(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let random = &mut random;
    let mistake = if random.once_in(3) { random.below(5) } else { u64::MAX };
    let mut pick = |wrong: u64, right: &[&'static str], wrongs: &[&'static str]| {
        random.one(if mistake == wrong { wrongs } else { right })
    };
    let answers = Answers {
        read: pick(0, &RIGHT_READS, &WRONG_READS),
        write: pick(1, &RIGHT_WRITES, &WRONG_WRITES),
        update: pick(2, &RIGHT_UPDATES, &WRONG_UPDATES),
    };
    let value = pick(3, &["complete with w to t"], &["complete with 0 to t", "complete to t", "resume"]);
    let written = pick(4, &["complete to t"], &["complete with 1 to t", "resume"]);
    let has_rmw = random.once_in(2);
    let mut text = Text::default();
    text.line("protocol elsewhere");
    text.line(random.one(&["promises last_write", "promises last_write, sequential", "promises coherent", ""]));
    text.line(&format!("lane main {} buffered", random.one(&["fifo", "unordered"])));
    messages(&mut text);
    home(random, &mut text, &answers, has_rmw);
    far(random, &mut text, value, written, has_rmw);
    text.written
}

fn messages(text: &mut Text) {
    let (read, write) = ("at: address, n: 1..8, t: thread", "at: address, n: 1..8, w: word, t: thread");
    let update = "at: address, n: 1..8, op: operation, x: word, y: word, t: thread";
    for (name, what) in [("Read", read), ("Write", write), ("Update", update)] {
        text.line(&format!("message {name}({what}) on main"));
        text.line(&format!("message {name}Later({what}, by: node) on main"));
    }
    text.line("message Value(w: word, t: thread) on main");
    text.line("message Written(t: thread) on main");
    text.line("message Want on main");
    text.line("message Data on main with block");
}

/// Some homes have no access of their own, and perform what their own threads ask for as that of others.
fn home(random: &mut Random, text: &mut Text, answers: &Answers, has_rmw: bool) {
    let access = random.one(&["write", "write", "read", "none"]);
    text.open("role home of block {");
    text.line("var odd: bool");
    text.open(&format!("state Home: {access} {{"));
    if access == "none" {
        text.line(random.one(&[
            "on read(at, n) { complete with perform read(at, n) as caller of me to caller }",
            "on read { complete }",
        ]));
    }
    if access != "write" {
        text.line(random.one(&[
            "on write(at, w, n) { perform write(at, w, n) as caller of me; complete to caller }",
            "on write { complete }",
        ]));
    }
    if access != "write" && has_rmw {
        text.line("on rmw(at, n, op, x, y) { complete with perform rmw(at, n, op, x, y) as caller of me to caller }");
    }
    text.line(&format!("on Read(at, n, t) {{ {} }}", answers.read));
    text.line("on ReadLater(at, n, t, by) { send Value(perform read(at, n) as t of by, t) to by }");
    text.line(&format!("on Write(at, n, w, t) {{ {} }}", answers.write));
    text.line("on WriteLater(at, n, w, t, by) { perform write(at, w, n) as t of by; send Written(t) to by }");
    let update = if has_rmw { answers.update } else { RIGHT_UPDATES[0] };
    text.line(&format!("on Update(at, n, op, x, y, t) {{ {update} }}"));
    text.line(
        "on UpdateLater(at, n, op, x, y, t, by) { send Value(perform rmw(at, n, op, x, y) as t of by, t) to by }",
    );
    text.line("on Want { send Data to sender }");
    text.close();
    text.close();
}

/// Some fetch a copy for a load, which is too old where a promise says more than `coherent`.
fn far(random: &mut Random, text: &mut Text, value: &str, written: &str, has_rmw: bool) {
    text.open("role far of block defers up to 4 {");
    text.open("state Away {");
    text.line(if random.once_in(6) {
        "on read { send Want to home; await Data { install; complete; goto Away } otherwise defer }"
    } else {
        "on read(at, n) { send Read(at, n, caller) to home }"
    });
    text.line("on write(at, w, n) { send Write(at, n, w, caller) to home }");
    if has_rmw {
        text.line("on rmw(at, n, op, x, y) { send Update(at, n, op, x, y, caller) to home }");
    }
    text.line(&format!("on Value(w, t) {{ {value} }}"));
    text.line(&format!("on Written(t) {{ {written} }}"));
    text.line("on Data impossible");
    text.close();
    text.close();
}
