//! How nodes that are processes of their own begin a run together: none before all are ready, and all with the clock of node 0.

use crate::packets::wire::ENDED;
use crate::transport::Transport;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use trivium_engine::Node;

/// To node 0: what is the time?
const CLOCK: u8 = ENDED + 1;
/// Its answer, in nanoseconds.
const TIME: u8 = ENDED + 2;
/// To node 0: the sender is ready.
const READY: u8 = ENDED + 3;
/// From node 0: all are. The run begins at this nanosecond of its clock.
const GO: u8 = ENDED + 4;
/// So often a node asks for the time at least. The answer that took least is believed: it is wrong by half of what it took at most.
const QUESTIONS: u32 = 10;
/// It asks on until an answer has taken no longer than this, ..
const NEAR: Duration = Duration::from_micros(20);
/// .. or until it has asked for so long: on a busy host answers take as long as the other process waits for a processor.
const PATIENCE: Duration = Duration::from_millis(100);

/// The beginning of a run on a node.
pub(crate) struct Beginning {
    /// When it was, the same moment on all nodes as far as they can know.
    pub begun: Instant,
    /// Packets of nodes that have begun a little earlier.
    pub arrived: VecDeque<(Node, Vec<u8>)>,
    /// Whether the node is a process of its own, with which others share no memory.
    pub is_process: bool,
}

/// Who waits for something that may take long lets others have the processor.
pub(crate) fn pause(since: Instant) {
    match since.elapsed() {
        waited if waited < Duration::from_micros(2) => std::hint::spin_loop(),
        waited if waited < Duration::from_millis(5) => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(200)),
    }
}

/// Waits for what comes next, for long if need be.
pub fn next_packet(transport: &mut dyn Transport) -> (Node, Vec<u8>) {
    let since = Instant::now();
    loop {
        match transport.poll() {
            Some(packet) => return packet,
            None => pause(since),
        }
    }
}

/// The run begins when all nodes have come here.
pub(crate) fn begin(transport: &mut dyn Transport) -> Beginning {
    if transport.me() == 0 { lead(transport) } else { follow(transport) }
}

fn stamped(kind: u8, time: Duration) -> Vec<u8> {
    let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    [&[kind][..], &nanoseconds.to_le_bytes()].concat()
}

fn time_of(packet: &[u8]) -> Duration {
    let bytes = packet.get(1..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
    Duration::from_nanos(u64::from_le_bytes(bytes))
}

fn lead(transport: &mut dyn Transport) -> Beginning {
    let clock = Instant::now();
    let others = transport.nodes() - 1;
    let mut ready = 0;
    let mut arrived = VecDeque::new();
    let mut idle = Instant::now();
    while ready < others {
        let Some((from, packet)) = transport.poll() else {
            pause(idle);
            continue;
        };
        idle = Instant::now();
        match packet.first() {
            Some(&CLOCK) => transport.send(from, stamped(TIME, clock.elapsed())),
            Some(&READY) => ready += 1,
            _ => arrived.push_back((from, packet)),
        }
    }
    let now = clock.elapsed();
    for to in (1..=Node::MAX).take(others as usize) {
        transport.send(to, stamped(GO, now));
    }
    Beginning { begun: clock + now, arrived, is_process: true }
}

fn follow(transport: &mut dyn Transport) -> Beginning {
    let mut arrived = VecDeque::new();
    // When the clock of node 0 stood at 0, and how long the answer took from which that is known.
    let mut best: Option<(Duration, Instant)> = None;
    let first = Instant::now();
    let is_near = |best: Option<(Duration, Instant)>| best.is_some_and(|(took, _)| took <= NEAR);
    let mut questions = 0;
    while questions < QUESTIONS || !is_near(best) && first.elapsed() < PATIENCE {
        questions += 1;
        let asked = Instant::now();
        transport.send(0, vec![CLOCK]);
        let time = time_of(&wait_for(transport, TIME, &mut arrived));
        let took = asked.elapsed();
        if best.is_none_or(|(least, _)| took < least)
            && let Some(zero) = (asked + took / 2).checked_sub(time)
        {
            best = Some((took, zero));
        }
    }
    transport.send(0, vec![READY]);
    let go = time_of(&wait_for(transport, GO, &mut arrived));
    // No host's clock began later than a run on it; if one did, the run begins when it is heard of.
    let begun = best.map_or_else(Instant::now, |(_, zero)| zero + go);
    Beginning { begun, arrived, is_process: true }
}

/// What node 0 says; what others say meanwhile is kept.
fn wait_for(transport: &mut dyn Transport, kind: u8, arrived: &mut VecDeque<(Node, Vec<u8>)>) -> Vec<u8> {
    let idle = Instant::now();
    loop {
        match transport.poll() {
            Some((0, packet)) if packet.first() == Some(&kind) => return packet,
            Some(other) => arrived.push_back(other),
            None => pause(idle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::threads::join;

    #[test]
    fn all_begin_at_the_same_moment() {
        let begun: Vec<Instant> = std::thread::scope(|scope| {
            let nodes: Vec<_> = join(4)
                .into_iter()
                .map(|mut end| scope.spawn(move || (begin(&mut end).begun, Instant::now())))
                .collect();
            let all: Vec<_> = nodes.into_iter().map(|node| node.join().unwrap()).collect();
            assert!(all.iter().all(|(begun, then)| begun <= then));
            all.into_iter().map(|(begun, _)| begun).collect()
        });
        let (first, last) = (begun.iter().min().unwrap(), begun.iter().max().unwrap());
        assert!(last.duration_since(*first) < Duration::from_millis(50), "{begun:?}");
    }
}
