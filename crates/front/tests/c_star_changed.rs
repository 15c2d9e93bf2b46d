//! C* programs with words left out, doubled, exchanged and put in at random: whatever comes is translated, or refused with a place.

mod changed;

use std::time::{Duration, Instant};
use trivium_front::{Dialect, translate};

fn changes(count: usize, seed: u64) {
    let mut refused = 0;
    for (number, (_, text)) in changed::changed(count, seed).enumerate() {
        let begun = Instant::now();
        let made = translate(&format!("# 1 \"a.cs\"\n{text}"), Dialect::CStar, &|_| Some(text.clone()));
        assert!(begun.elapsed() < Duration::from_secs(5), "{number}: {text}");
        if let Err(wrong) = made {
            refused += 1;
            assert!(wrong.to_string().contains("--> a.cs:"), "{number}: {wrong}\n{text}");
        }
    }
    assert!(refused > count / 4 && refused < count, "{refused} of {count} were refused");
}

#[test]
fn changed_programs_are_taken_or_refused() {
    changes(1_000, 1);
}

#[test]
#[ignore = "takes minutes"]
fn many_changed_programs_are_taken_or_refused() {
    changes(50_000, 2);
}
