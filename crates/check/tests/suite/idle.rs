//! Arguments of calls at which nothing looks: one value stands for all, and the verdict owes nothing to the analysis that finds them.

use crate::answers::found;
use crate::random::Random;
use crate::shipped;
use crate::shipped::written;
use crate::slow;
use std::sync::Arc;
use trivium_check::{Config, Report, System, Verdict, explore, text};
use trivium_protocol::Protocol;

/// Compares a protocol with one value of idle arguments and with all. `None` if it has none, or is too large.
fn agrees(protocol: &Arc<Protocol>, system: &System, what: &str) -> Option<Report> {
    let (most, most_of_all) = (slow::all_or(60_000, 6_000), 400_000);
    let config = Config { max_states: Some(most), ..system.clone().into() };
    let one = explore(protocol, &config).ok()?;
    let all = System { idle_words: false, ..system.clone() };
    if one.states >= most || one.idle.is_empty() {
        return None;
    }
    let of_all = explore(protocol, &Config { max_states: Some(most_of_all), ..all.into() }).ok()?;
    // A search that a limit ends tells of starvation that it has seen, where a fault lies deeper.
    if of_all.states >= most_of_all {
        return None;
    }
    assert!(of_all.idle.is_empty());
    assert_eq!(found(&one), found(&of_all), "{what}\n{}\n{}", text(&one), text(&of_all));
    assert!(one.states <= of_all.states, "{what}");
    Some(one)
}

/// Protocols that carry the words of a call about, and look at some of them somewhere.
fn protocol(seed: u64) -> String {
    let mut random = Random(seed);
    for _ in 0..4 {
        random.below(2);
    }
    // Each is a place where something may look at a word; which one, and whether it does, is drawn.
    let mut look = |looks: &[&'static str]| if random.once_in(5) { random.one(looks) } else { "" };
    let home = look(&["assert w != 1", "if w == 1 { mark = true }", "n = w", "memory[8 * w] = 0", "seen += w"]);
    let guard = look(&["when w == 0", "when kept.v == 0", "when kept.w != 1"]);
    let peer = look(&[
        "if v == 1 { send Seen to home }",
        "assert v + w < 2",
        "mark = v == w",
        "let s = v + 1; kept = {v: s, w: w}",
    ]);
    let answer = look(&["if kept.w == 1 { send Seen to sender }", "assert kept.v != 1", "last = kept.w - kept.v"]);
    let claim = look(&[
        "invariant low of thing: home.last != 1",
        "invariant low of thing: not any n: (peer at n).kept.w == 1",
        "assume put(v, w) when v == 0",
        "assume put(v, w) when w != 1",
        "invariant few of thing: flight(Put) + flight(Back) < 2",
        "leads_to low of thing: leads_to(home.last == 1, home.last == 0)",
        "ghost g of thing { var sum: word; on put(n, v, w) { sum = w } }\ninvariant low of thing: g.sum != 1",
        "ghost g of thing { var sum: word; on return get(n, r) { sum = r } }\ninvariant low of thing: g.sum != 1",
    ]);
    let claim = if claim.starts_with("leads_to") {
        "invariant low of thing: leads_to(home.last == 1, home.last == 0)"
    } else {
        claim
    };
    let (others, heard) = (if guard.is_empty() { "" } else { "on Put { }" }, look(&["heard += 1"]));
    let lane = random.one(&["fifo buffered", "unordered buffered", "unordered duplicating"]);
    let mut choose = |ways: &[&'static str]| random.one(ways);
    let passed = choose(&["w", "v", "last", "0"]);
    let kept = choose(&["kept = {v: v, w: w}", "kept = {v: w, w: v}", "kept = {v: last, w: w}; last = v"]);
    let queue = choose(&["if todo.length < 2 { todo.push({v: v, w: w}); start later(w) }", "start later(v)", ""]);
    let taken = choose(&[
        "if todo.length > 0 { let t = todo.pop(); last = t.w; kept = t }",
        "for t in todo { last = t.v }; todo.clear()",
        "last = x",
    ]);
    let result = choose(&["kept.v", "last", "kept.w"]);
    let send_back = format!("send Back({passed}) to sender");
    let last = format!("last = {passed}");
    let heard = steps(&[home, &last, kept, answer, heard, &send_back]);
    let put = steps(&[peer, kept, queue, "send Put(v, w) to home", "return"]);
    format!(
        "protocol idle\nobject thing\nrecord pair {{ v: word, w: word }}\nlane main {lane}\n\
        op put(t: thing, v: word, w: word)\nop get(t: thing): word\n\
        message Put(v: word, w: word), Seen, Back(w: word) on main\n\
        role home of thing {{\n  var last: word\n  var n: 0..0\n  var heard: 0..1\n  var mark: bool\n  var seen: set of 0..1\n  \
        var kept: pair\n  state Here {{\n    on Put(v, w) {guard} {{ {heard} }}\n    {others}\n    on Seen {{ }}\n  }}\n}}\n\
        role peer of thing everywhere {{\n  var last: word\n  var mark: bool\n  var kept: pair\n  \
        var todo: queue of pair up to 2\n  state Here {{\n    on put(v, w) {{ {put} }}\n    on get {{ return {result} }}\n    \
        on Back(w) {{ last = w }}\n  }}\n  task later(x: word) {{ {taken} }}\n}}\n{claim}\n"
    )
}

/// Those that are there, one after the other.
fn steps(all: &[&str]) -> String {
    all.iter().filter(|step| !step.is_empty()).copied().collect::<Vec<_>>().join("; ")
}

#[test]
fn random_protocols_are_the_same_with_one_value_of_idle_words() {
    let (mut held, mut violated, mut differ) = (0, 0, 0);
    for seed in 0..slow::all_or(4000, 80) {
        let source = protocol(seed);
        let protocol = written(&source);
        let system = System { nodes: 2, ops: Some(1 + seed as u32 % 2), ..System::default() };
        match agrees(&protocol, &system, &source) {
            Some(report) if report.verdict == Verdict::Holds => held += 1,
            Some(_) => violated += 1,
            // What looks at a word makes a difference here: that it was noticed is what the others rest on.
            None => {
                let with = |values| {
                    explore(
                        &protocol,
                        &Config { max_states: Some(6_000), ..System { values, ..system.clone() }.into() },
                    )
                    .unwrap()
                };
                differ += u32::from(with(1).verdict == Verdict::Holds && with(2).verdict == Verdict::Violated);
            }
        }
    }
    assert!(held > 8 && violated > 5 && differ > 8, "{held} held, {violated} violated, {differ} differ");
}

#[test]
fn shipped_protocols_are_the_same_with_one_value_of_idle_words() {
    let mut compared = 0;
    for file in crate::every::files() {
        let protocol = shipped::protocol(&file);
        let system = System { nodes: 2, ops: Some(2), ..System::declared(&protocol) };
        compared += u32::from(agrees(&protocol, &system, &file).is_some());
    }
    assert!(compared > 0);
}

/// A remote call with words for its code alone, which goes through a message, a list, a record, a task and back.
const CARRIED: &str = "protocol carried
object thing
record work { ip: word, a0: word, a1: word }
lane main unordered buffered
op fork(t: thing, ip: word, a0: word, a1: word, n: 0..3)
op add(t: thing, by: word): word
message Fork(ip: word, a0: word, a1: word), Bounce(ip: word, a0: word, a1: word) on main
role home of thing {
  var todo: list of work up to 2
  var what: work
  state Here {
    on Fork(ip, a0, a1) {
      if todo.length < 2 { todo.push({ip: ip, a0: a0, a1: a1}) } else { send Bounce(ip, a0, a1) to sender }
      for w in todo { what = w }
      what.a1 = what.a0
    }
  }
}
role port of thing everywhere {
  var sum: word
  state Here {
    on fork(ip, a0, a1, n) { send Fork(ip, a0, a1) to home; return }
    on add(by) { sum = sum + by; return sum }
    on Bounce(ip, a0, a1) { start retry(ip, a0, a1) }
  }
  task retry(ip: word, a0: word, a1: word) { send Fork(ip, a0, a1) to home }
}
";

/// The same protocol with one thing more that looks at a word: what is idle is named, and only that.
#[test]
fn each_look_is_noticed() {
    let idle = |source: &str| {
        let config = Config { max_states: Some(10), ..System { nodes: 2, ..System::default() }.into() };
        explore(&written(source), &config).unwrap().idle
    };
    assert_eq!(idle(CARRIED), ["fork(ip, a0, a1, n)"]);
    for (was, now, left) in [
        (
            "send Fork(ip, a0, a1) to home; return",
            "assert n < 9; send Fork(ip, a0, a1) to home; return",
            "fork(ip, a0, a1)",
        ),
        ("on fork(ip, a0, a1, n) {", "on fork(ip, a0, a1, n) { memory[0] = a0;", "fork(ip, a0, a1, n)"),
        ("on fork(ip, a0, a1, n) {", "on fork(ip, a0, a1, n) { assert a0 != a1;", "fork(ip, n)"),
        ("what = w }", "what = w; assert w.a0 != 7 }", "fork(ip, n)"),
        ("start retry(ip, a0, a1)", "start retry(a1, a0, a1); let b = ip * 2", "fork(n)"),
        ("a1: word) { send Fork", "a1: word) { if a1 == 3 { start retry(ip, a0, a1) }; send Fork", "fork(ip, n)"),
        ("on Fork(ip, a0, a1) {", "on Fork(ip, a0, a1) when what.a1 != 1 {", "fork(ip, n)"),
        ("role port", "invariant i of thing: home.what.ip < 5\nrole port", "fork(a0, a1, n)"),
        ("role port", "assume fork(t, ip, a0, a1, n) when ip < 5\nrole port", "fork(a0, a1, n)"),
        ("role port", "ghost g of thing { var x: word; on fork(m, ip, a0, a1, n) { x = 1 } }\nrole port", ""),
    ] {
        assert!(CARRIED.contains(was), "{was}");
        let changed = CARRIED.replacen(was, now, 1);
        let changed = if now.contains("when what") {
            changed.replacen("  }\n}\nrole port", "    on Fork { }\n  }\n}\nrole port", 1)
        } else {
            changed
        };
        let expected: Vec<&str> = [left].into_iter().filter(|left| !left.is_empty()).collect();
        assert_eq!(idle(&changed), expected, "{now}");
    }
}

/// What looks at a word without a look: equal messages that are one, and whether an event changes anything.
#[test]
fn equality_is_a_look() {
    for source in [
        // With data, of a lane on which equal messages are one.
        "protocol ranges
object thing
lane main unordered buffered duplicating
message Range on main with memory
op f(t: thing, w: word)
role home of thing {
  state Idle { on f(w) { memory[0] = w; send Range with memory[0..8] to me; return } on Range { } }
}
invariant few of thing: all n: flight(Range to n) <= 1
",
        // One message or two.
        "protocol merged
object thing
lane main unordered duplicating
message M(w: 0..3) on main
op f(t: thing, w: 0..3)
role home of thing {
  var n: 0..2
  var who: thread
  state Idle { on f(w) { who = caller; n = 0; send M(3) to me; send M(w) to me; goto Wait } on M {} }
  state Wait { on f impossible on M { n += 1; if n == 2 { return to who; goto Done } } }
  state Done { on M { if n < 2 { n += 1 } } on f { return } }
}
",
        // Something goes on, or nothing does.
        "protocol exchange
object thing
op f(t: thing, w: 0..3)
role home of thing {
  var a: 0..3 = 2
  var b: 0..3
  var begun: bool
  task swap() { let x = a; a = b; b = x; start swap() }
  state A { on f(w) { b = w; begun = true; start swap(); goto B } }
  state B { on f impossible }
}
invariant l of thing: leads_to(home.begun, not home.begun)
",
    ] {
        let protocol = written(source);
        let with = |idle_words| {
            let system = System { nodes: 2, ops: Some(3), idle_words, ..System::declared(&protocol) };
            explore(&protocol, &system.into()).unwrap()
        };
        assert_eq!(found(&with(true)), found(&with(false)), "{source}\n{}", text(&with(true)));
        assert_eq!(with(true).verdict, Verdict::Violated, "{source}");
    }
}
