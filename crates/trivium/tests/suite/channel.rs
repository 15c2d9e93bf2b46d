//! Places of a channel's ranges: what has not been used is not overwritten, however far a sender is ahead.

use crate::harness::{Run, trivium};

fn places(command: &[&str], more: &[&str]) -> Run {
    let program = ["crates/trivium/tests/calls/places.c", "-p", "stache", "-p", "channel", "-n", "2"];
    trivium(&[&command[..1], &program, &command[1..], more].concat())
}

#[test]
fn a_put_waits_until_the_range_in_its_place_has_been_used() {
    for depth in ["1", "4", "8"] {
        let depth = format!("protocol.depth={depth}");
        let simulated = ["sim", "-m", "typhoon", "--set", "machine.network.jitter=900", "--set", &depth];
        let live = ["run", "--delays", "7", "--set", &depth];
        for command in [&simulated[..], &live] {
            let run = places(command, &[]);
            assert!(run.code == Some(0) && run.out.ends_with("places: ok\n"), "{run:?}");
        }
    }
}

/// Until the receiver has opened the channel, nobody knows where ranges are to go.
#[test]
fn a_put_waits_until_the_receiver_has_opened_the_channel() {
    for command in [&["sim", "-m", "typhoon"][..], &["run"]] {
        let run = places(command, &["--cc=-DLATE"]);
        assert!(run.code == Some(0) && run.out.ends_with("places: ok\n"), "{run:?}");
    }
}

/// Two ranges that overlap: the second one's call waits for ever, and is named.
#[test]
fn a_range_that_is_never_used_is_named() {
    for command in [&["sim", "-m", "typhoon"][..], &["run"]] {
        places(command, &["--cc=-DFORGETS"])
            .refuses(1, &["deadlock", "waits in channel.put of object 0", "unused=[(offset=0 words=40)]"]);
    }
}
