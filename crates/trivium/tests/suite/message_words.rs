//! Messages of 0 to 10 words under the protocol mm: however many are sent and read, the next message is whole, on every backend.

use crate::harness::{self, trivium};
use std::fmt::Write as _;

const PROGRAM: &str = "crates/trivium/tests/calls/words.c";
const WORDS: i64 = 10;

/// A thread sends a message of so many words, and another one; the other reads some of the words of the first.
fn scenario(length: i64, reads: i64, expected: i64) -> String {
    let words: Vec<String> = (0..length).map(|i| (10 + i).to_string()).collect();
    let looks: String = (0..reads).map(|i| format!("r{i} = body({i}); ")).collect();
    let mut wrong = format!("n != {length} or m != 2 or a != {expected} or b != 72");
    (0..reads).for_each(|i| write!(wrong, " or r{i} != {}", 10 + i).unwrap());
    format!(
        "scenario of_{length}_read_{reads} {{
  at 0 {{ n = accept(); {looks}m = accept(); a = body(0); b = body(1) }}
  at 1 {{ fork(0, 1, {{{}}}); fork(0, 1, {{71, 72}}) }}
  forbid {wrong}
}}\n",
        words.join(", ")
    )
}

fn file(folder: &crate::harness::Folder, scenarios: &str) -> String {
    let mm = harness::root().join("protocols/mm.tri");
    // The memory that is explored has no room for ten words.
    let text = format!(
        "protocol words\nuse \"{}\"\ncheck nodes 2, objects 1, values 1, ops 1\nparam most = 10 in 1..10
assume remote_write(o, at, ordered, w) when 1 == 0\n{scenarios}",
        mm.display()
    );
    harness::in_file(folder, "words.tri", &text)
}

#[test]
fn check_finds_the_next_message_whole_whatever_is_sent_and_read() {
    let folder = crate::harness::folder();
    let all: String = (0..=WORDS).flat_map(|n| (0..=n).map(move |reads| scenario(n, reads, 71))).collect();
    let found = trivium(&["check", &file(&folder, &all)]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert_eq!(found.out.matches("scenario of_").count(), 66, "{}", found.out);

    // The same with a word that was not sent is found.
    let found = trivium(&["check", &file(&folder, &scenario(7, 3, 70)), "--scenario", "of_7_read_3"]);
    assert_eq!(found.code, Some(1), "{found:?}");
}

#[test]
fn a_scenario_that_reads_past_the_end_is_kept_from_it() {
    let folder = crate::harness::folder();
    let past =
        "scenario past { at 0 { n = accept(); r = body(3) }  at 1 { fork(0, 1, {10, 11, 12}) }  forbid n != 3 }\n";
    let found = trivium(&["check", &file(&folder, past), "--scenario", "past"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.out.contains("body(i) when slot.now.length > i"), "{}", found.out);
}

#[test]
fn the_next_message_is_whole_in_a_simulation_and_in_a_run() {
    let ways: [&[&str]; 2] = [&["sim", PROGRAM, "-m", "typhoon"], &["run", PROGRAM]];
    for way in ways {
        let with = |more: &[&str]| trivium(&[way, &["-p", "mm", "-n", "2"], more].concat());
        let ended = with(&[]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.out.contains("66 of 66 whole\n"), "{}", ended.out);
        assert_eq!(ended.out.matches("nowhere: 0").count(), 2, "{}", ended.out);
        for (wrong, told) in [
            ("p", "against the protocol's assumption `body(i) when slot.now.length > i`"),
            ("l", "mm.fork: `w` is a list of at most 10 elements, not of 11: pass fewer, in several calls if need be"),
            (
                "a",
                "which is not in shared memory: pass a pointer into what trivium_alloc or one of its kind has returned",
            ),
            (
                "o",
                "mm.ping of object -1, which is not from 0 to 4294967295: only a parameter that the protocol declares with `?`",
            ),
            ("s", "against the protocol's assumption `fork_at(n, ordered, w) when system == 1`"),
        ] {
            with(&["--", wrong]).refuses(1, &[told, "words.c:"]);
        }
    }
}

/// Bytes of a message of so many words and of its acknowledgement, and when it has been taken.
fn one(words: &str) -> (u64, u64) {
    let program = ["sim", PROGRAM, "-p", "mm", "-m", "typhoon", "-n", "2"];
    let result = trivium(&[&program[..], &["--format", "json", "--", "n", words]].concat()).json(0);
    (result["bytes"].as_u64().unwrap(), result["cycles"].as_u64().unwrap())
}

#[test]
fn a_simulation_prices_the_words_that_are_sent() {
    let (none, at_once) = one("0");
    for words in [1, 5, 10] {
        let (bytes, cycles) = one(&words.to_string());
        assert_eq!(bytes, none + 8 * words);
        // Each is sent, and read by the handler.
        assert!(cycles >= at_once + 2 * words, "{words} words: {cycles} cycles, none: {at_once}");
    }
}

#[test]
fn no_bounce_buffers_and_too_many_are_refused() {
    for buffers in ["0", "1024"] {
        let set = format!("protocol.buffers={buffers}");
        let told = format!("the parameter `buffers` must be from 1 to 512, not {buffers}");
        let help = "give `--set protocol.buffers=N` such a number, or leave it out: it is 4 then";
        trivium(&["check", "mm", "--set", &set]).refuses(2, &[&told, "mm.tri:", help]);
    }
}
