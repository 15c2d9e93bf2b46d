//! Random protocols whose calls copy blocks (`promises copies(..)`, `with block c`): when the call returns or when another says so, of one block or
//! of as many as are passed, with an answer or two; about every other with a mistake, mostly that the copy is said to be done too early.

use crate::random::{Random, Text};

/// A protocol for a number.
pub fn protocol(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let random = &mut random;
    let mistake = if random.once_in(2) { random.below(6) } else { u64::MAX };
    let (says, counts, passes) = (random.once_in(2), random.once_in(3), random.once_in(3));
    let mut text = Text::default();
    text.line("protocol copier");
    text.line(match says {
        true => "promises single_writer, last_write, copies(copy, is_done)\nassume quiet(copy, is_done)",
        false => "promises last_write, sequential, copies(copy)\nassume quiet(copy)",
    });
    text.line(&format!("lane main {} buffered", random.one(&["fifo", "unordered"])));
    text.line("message Read(at: address, n: 1..8, t: thread) on main");
    text.line("message Write(at: address, n: 1..8, w: word, t: thread) on main");
    text.line("message Value(w: word, t: thread) on main");
    text.line("message Written(t: thread) on main");
    text.line("message Copied(from: block) on main with block");
    text.line("message Done on main");
    let n = if counts { ", n: 1..2" } else { "" };
    text.line(&format!("op copy(from: block, to: block?{n}): bool"));
    if says {
        text.line(if passes { "op is_done(from: block, ok: bool): bool" } else { "op is_done(from: block): bool" });
    }
    home(random, &mut text, mistake, (says, counts, passes));
    text.open("role far of block {");
    text.open("state Away {");
    text.line("on read(at, n) { send Read(at, n, caller) to home }");
    text.line("on write(at, w, n) { send Write(at, n, w, caller) to home }");
    text.line("on Value(w, t) { complete with w to t }");
    text.line("on Written(t) { complete to t }");
    text.line(if says { "on copy, is_done { return false }" } else { "on copy { return false }" });
    text.close();
    text.close();
    text.written
}

fn home(random: &mut Random, text: &mut Text, mistake: u64, (says, counts, passes): (bool, bool, bool)) {
    let sent = match (mistake, random.once_in(2)) {
        (0, _) => "send Copied(object) of to with block to to home(to)",
        (_, true) => "send Copied(object) of to with block object to home(to)",
        (_, false) => "let there = home(to); send Copied(object) of to with block object to there",
    };
    let landed = match mistake {
        1 => "send Done of from to sender",
        _ => "install; send Done of from to sender",
    };
    text.open("role home of block {");
    text.line("var copier: thread");
    text.line("var busy: bool");
    text.open("state Here: write {");
    text.line("on Read(at, n, t) { send Value(perform read(at, n) as t, t) to sender }");
    text.line("on Write(at, n, w, t) { perform write(at, w, n) as t; send Written(t) to sender }");
    let copy = if counts { "on copy(to, n)" } else { "on copy(to)" };
    // Of two blocks only the first is copied: right where nobody asks for two.
    if counts && mistake != 2 {
        text.line("on copy(to, n) when n == 2 { return false }");
    }
    text.line(&format!("{copy} when busy or to == none {{ return false }}"));
    let answer = match (says, mistake) {
        (true, _) | (false, 3) => "return true",
        _ => "copier = caller",
    };
    text.line(&format!("{copy} {{ busy = true; {sent}; {answer} }}"));
    text.line(&format!("on Copied(from) {{ {landed} }}"));
    text.line("on Done { busy = false; if copier != none { return true to copier }; copier = none }");
    if says {
        let on = if passes { "on is_done(ok)" } else { "on is_done" };
        let is_done = match mistake {
            3 => "true",
            4 if passes => "ok",
            _ => "not busy",
        };
        text.line(&format!("{on} {{ return {is_done} }}"));
    }
    text.close();
    text.close();
}
