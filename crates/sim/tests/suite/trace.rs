//! What a trace is told: every cycle of every processor, engine and bus, with its reason.

use crate::bench::{Run, machine};
use crate::slow;
use trivium_sim::{Counters, Note, Reason, Spent};

const MACHINES: [&str; 5] = ["simple-coma", "typhoon", "typhoon-1", "typhoon-0", "typhoon-0-prototype"];

/// The parts of a node's time that its result tells: computing, and the four kinds of stalls.
fn told(node: &Counters) -> [u64; 5] {
    [node.compute, node.read_stall, node.write_stall, node.tlb_stall, node.sync_stall]
}

/// What the notes of a processor's track add up to between two cycles; they must follow one another without a gap.
fn noted(notes: &[Note], me: u16, region: std::ops::Range<u64>) -> [u64; 5] {
    let (mut sums, mut at) = ([0; 5], 0);
    for note in notes.iter().filter(|note| note.node() == me) {
        let counter = match note {
            Note::Compute { .. } => 0,
            Note::Stall(stall) => match stall.spent {
                Spent::Read => 1,
                Spent::Write => 2,
                Spent::Tlb => 3,
                Spent::Sync => 4,
            },
            _ => continue,
        };
        let cycles = note.cycles();
        assert_eq!(cycles.start, at, "node {me} leaves a gap before {note:?}");
        at = cycles.end;
        sums[counter] += cycles.end.min(region.end).saturating_sub(cycles.start.max(region.start));
        if let Note::Stall(stall) = note {
            let mut part_at = cycles.start;
            for part in &stall.parts {
                assert_eq!(part.cycles.start, part_at, "{stall:?}");
                part_at = part.cycles.end;
            }
            assert_eq!(part_at, cycles.end, "{stall:?}");
        }
    }
    sums
}

fn sum_of(notes: &[Note], me: u16, wanted: fn(&Note) -> bool) -> u64 {
    let of_node = notes.iter().filter(|note| note.node() == me && wanted(note));
    of_node.map(|note| note.cycles().end - note.cycles().start).sum()
}

#[test]
fn a_trace_accounts_for_every_cycle_that_is_counted() {
    for (program, args) in
        [("em3d", &["-n", "24", "-i", "3"][..]), ("pingpong", &["-n", "9"]), ("litmus", &["-n", "4"])]
    {
        for name in slow::one_in(2, MACHINES) {
            let run = Run::of(program, args).on(machine(name, &[])).nodes(3);
            let notes = std::cell::RefCell::new(Vec::new());
            let traced = run.go_and_tell(Some(&|note: &Note| notes.borrow_mut().push(note.clone()))).unwrap();
            let (notes, plain) = (notes.into_inner(), run.clone().right());
            assert_eq!(
                (&traced.per_node, &traced.messages),
                (&plain.per_node, &plain.messages),
                "a trace changes nothing"
            );
            for (me, node) in (0u16..).zip(&traced.per_node) {
                let marks: Vec<u64> = notes
                    .iter()
                    .filter(|note| note.node() == me && matches!(note, Note::Region { .. }))
                    .map(|note| note.cycles().start)
                    .collect();
                let region = if let [begin, end] = marks[..] { begin..end } else { 0..u64::MAX };
                assert_eq!(noted(&notes, me, region.clone()), told(node), "{program} on {name}, node {me}");
                // Engine and bus work on when the processor's region ends, so only whole programs can be compared.
                if region.start == 0 {
                    let engine = sum_of(&notes, me, |note| matches!(note, Note::Handled(_)));
                    let bus = sum_of(&notes, me, |note| matches!(note, Note::Bus { .. }));
                    assert_eq!((engine, bus), (node.engine_busy, node.bus_busy), "{program} on {name}, node {me}");
                }
            }
        }
    }
}

#[test]
fn a_remote_stall_is_told_apart_as_a_miss_is() {
    let notes = std::cell::RefCell::new(Vec::new());
    let run = Run::of("pingpong", &["-n", "3"]).nodes(2);
    run.go_and_tell(Some(&|note: &Note| notes.borrow_mut().push(note.clone()))).unwrap();
    let notes = notes.into_inner();
    let remote = |note: &&Note| matches!(note, Note::Stall(stall) if stall.spent == Spent::Read && stall.what.starts_with("block"));
    let Some(Note::Stall(stall)) = notes.iter().find(remote) else { panic!("node 1 misses") };
    let of = |reason: Reason| {
        let parts = stall.parts.iter().filter(|part| part.reason == reason);
        parts.map(|part| part.cycles.end - part.cycles.start).sum::<u64>()
    };
    // Reinhardt, Pfile and Wood 1998: request and response are 100 cycles each on the wire; blocks have 64 bytes here.
    assert_eq!(of(Reason::Network), 200, "{stall:?}");
    assert_eq!(of(Reason::Memory), 10 + 2 * 48, "{stall:?}");
    assert_eq!(of(Reason::Turn), 0, "{stall:?}");
    assert!(of(Reason::Handler) > 60, "{stall:?}");
}
