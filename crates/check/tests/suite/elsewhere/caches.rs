//! Random protocols with cached processors whose homes perform accesses for threads of other nodes, and some for calls: at once or in a second event, after
//! taking what the home's own cache holds. About every third has a mistake: mostly that a line is not taken, or not whole.

use super::{RIGHT_READS, RIGHT_UPDATES, RIGHT_WRITES, WRONG_READS, WRONG_UPDATES, WRONG_WRITES, messages};
use crate::random::{Random, Text};

/// What takes the contents of the home's line, if there is one, and leaves no line with them.
const RIGHT_TAKES: [&str; 2] = [
    "if probe is (shared, exclusive) { take exclusive }",
    "if probe is exclusive { take exclusive }; if probe is shared { invalidate }",
];

const WRONG_TAKES: [&str; 3] =
    ["", "if probe is exclusive { take exclusive }", "if probe is (shared, exclusive) { take shared }"];

/// A protocol for a number.
pub fn protocol(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let random = &mut random;
    let mistake = if random.once_in(3) { random.below(7) } else { u64::MAX };
    let mut pick = |wrong: &[u64], right: &[&'static str], wrongs: &[&'static str]| {
        random.one(if wrong.contains(&mistake) { wrongs } else { right })
    };
    let take = pick(&[0, 1], &RIGHT_TAKES, &WRONG_TAKES);
    let read = pick(&[2], &RIGHT_READS, &WRONG_READS);
    let write = pick(&[3], &RIGHT_WRITES, &WRONG_WRITES);
    let update = pick(&[4], &RIGHT_UPDATES, &WRONG_UPDATES);
    let value = pick(&[5], &["complete with w to t"], &["complete with 0 to t", "complete to t", "resume"]);
    let written = pick(&[6], &["complete to t"], &["complete with 1 to t", "resume"]);
    let (has_rmw, calls) = (random.once_in(2), random.once_in(2));
    let mut text = Text::default();
    text.line("protocol beside");
    text.line(random.one(&[
        "promises last_write",
        "promises last_write, sequential",
        "promises single_writer, last_write",
    ]));
    text.line("processor cached");
    text.line(&format!("lane main {} buffered", random.one(&["fifo", "unordered"])));
    messages(&mut text);
    if calls {
        text.line("op add(b: block, w: word): word");
        text.line("message Add(w: word, t: thread) on main");
        text.line("message Sum(w: word, t: thread) on main");
    }
    let update = if has_rmw { update } else { RIGHT_UPDATES[0] };
    home(random, &mut text, take, [read, write, update], (has_rmw, calls));
    far(&mut text, [value, written], (has_rmw, calls));
    text.written
}

fn home(random: &mut Random, text: &mut Text, take: &str, answers: [&str; 3], (has_rmw, calls): (bool, bool)) {
    let hints = random.once_in(2);
    text.open("role home of block defers up to 6 * nodes {");
    text.line("var odd: bool");
    text.open("state Home {");
    text.line(random.one(&["on read { fill exclusive }", "on read { fill shared }"]));
    text.line("on write { fill exclusive }");
    if has_rmw {
        text.line("on rmw { fill exclusive }");
    }
    text.line("on writeback { install }");
    if hints {
        text.line("on evict { }");
    }
    let first = if take.is_empty() { String::new() } else { format!("{take}; ") };
    let mut on = |event: &str, answer: &str| {
        text.line(&format!("on {event} {{ if probe is leaving {{ goto Wait; defer }} else {{ {first}{answer} }} }}"));
    };
    let [read, write, update] = answers;
    on("Read(at, n, t)", read);
    on("ReadLater(at, n, t, by)", "send Value(perform read(at, n) as t of by, t) to by");
    on("Write(at, n, w, t)", write);
    on("WriteLater(at, n, w, t, by)", "perform write(at, w, n) as t of by; send Written(t) to by");
    on("Update(at, n, op, x, y, t)", update);
    on("UpdateLater(at, n, op, x, y, t, by)", "send Value(perform rmw(at, n, op, x, y) as t of by, t) to by");
    let mut all = "Read, ReadLater, Write, WriteLater, Update, UpdateLater, read, write".to_string();
    if has_rmw {
        all += ", rmw";
    }
    if calls {
        on("Add(w, t)", "send Sum(perform rmw(address(object), 8, add, w) for sender, t) to sender");
        on("add(w)", "return perform rmw(address(object), 8, add, w)");
        all += ", Add, add";
    }
    text.line("on Want impossible");
    text.close();
    let evict = if hints { "on evict { goto Home }" } else { "" };
    text.line(&format!(
        "state Wait {{ on writeback {{ install; goto Home }} {evict} on {all} defer on Want impossible }}"
    ));
    text.close();
}

fn far(text: &mut Text, [value, written]: [&str; 2], (has_rmw, calls): (bool, bool)) {
    text.open("role far of block {");
    text.open("state Away {");
    text.line("on read(at, n) { send Read(at, n, caller) to home }");
    text.line("on write(at, w, n) { send Write(at, n, w, caller) to home }");
    if has_rmw {
        text.line("on rmw(at, n, op, x, y) { send Update(at, n, op, x, y, caller) to home }");
    }
    text.line(&format!("on Value(w, t) {{ {value} }}"));
    text.line(&format!("on Written(t) {{ {written} }}"));
    text.line("on Data, writeback impossible");
    if calls {
        text.line("on add(w) { send Add(w, caller) to home }");
        text.line("on Sum(w, t) { return w to t }");
    }
    text.close();
    text.close();
}
