//! The contract of [`Transport`], as a check that every implementation must pass.

use super::Transport;
use std::time::{Duration, Instant};
use trivium_engine::Node;

/// How long a packet may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays one node's part in a check of a transport, which all of its nodes play at once. Each node floods all, itself too, with
/// `packets` packets of up to `largest` bytes before it looks at what arrives, so that a `send` that waits for room never ends.
///
/// # Errors
/// What was seen that the contract forbids.
pub fn check_transport(transport: &mut dyn Transport, packets: u32, largest: usize) -> Result<(), String> {
    let (me, nodes) = (transport.me(), transport.nodes());
    flood(transport, packets, largest)?;
    let mut next = vec![0; nodes as usize];
    let mut last = Instant::now();
    while next.iter().any(|&number| number < packets) {
        if take_one(transport, &mut next, largest)? {
            last = Instant::now();
            continue;
        }
        if last.elapsed() > PATIENCE {
            return Err(format!("node {me}: nothing arrives any more; of each node it has {next:?} packets"));
        }
        std::thread::yield_now();
    }
    while !transport.has_sent() {
        if last.elapsed() > PATIENCE {
            return Err(format!("node {me}: what it has sent does not leave it, though all have received it"));
        }
    }
    match transport.poll() {
        Some((from, _)) => Err(format!("node {me}: one packet too many from node {from}")),
        None => Ok(()),
    }
}

fn flood(transport: &mut dyn Transport, packets: u32, largest: usize) -> Result<(), String> {
    for number in 0..packets {
        for to in 0..transport.nodes() {
            let to = Node::try_from(to).map_err(|error| error.to_string())?;
            transport.send(to, packet(transport.me(), to, number, largest));
        }
    }
    Ok(())
}

/// Takes a packet, if one has come; `next` are the numbers of those that must come next from each node.
fn take_one(transport: &mut dyn Transport, next: &mut [u32], largest: usize) -> Result<bool, String> {
    let me = transport.me();
    let Some((from, bytes)) = transport.poll() else { return Ok(false) };
    let number = next.get_mut(usize::from(from)).ok_or(format!("node {me}: a packet from node {from}"))?;
    if bytes != packet(from, me, *number, largest) {
        return Err(format!("node {me}: another packet than the {number}th of node {from}"));
    }
    *number += 1;
    Ok(true)
}

/// Who sent it to whom as its how manieth; its length differs from packet to packet.
fn packet(from: Node, to: Node, number: u32, largest: usize) -> Vec<u8> {
    let length = (number as usize).wrapping_mul(7919) % (largest + 1);
    let mut bytes: Vec<u8> = (0..length).map(|at| at.to_le_bytes()[0]).collect();
    bytes.extend(from.to_le_bytes());
    bytes.extend(to.to_le_bytes());
    bytes.extend(number.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::shared::share;
    use super::super::threads::join;
    use super::*;

    #[test]
    fn threads_keep_the_contract() {
        for (nodes, packets, largest) in [(1, 1000, 64), (2, 20_000, 8192), (4, 2000, 300), (8, 300, 8192)] {
            std::thread::scope(|scope| {
                let parts: Vec<_> = join(nodes)
                    .into_iter()
                    .map(|mut end| scope.spawn(move || check_transport(&mut end, packets, largest)))
                    .collect();
                for part in parts {
                    assert_eq!(part.join().unwrap(), Ok(()));
                }
            });
        }
    }

    #[test]
    fn nodes_that_share_threads_keep_the_contract() {
        for (nodes, threads, packets, largest) in
            [(3, 1, 1000, 64), (5, 2, 5000, 8192), (8, 3, 300, 300), (20, 2, 50, 100)]
        {
            std::thread::scope(|scope| {
                let play = |way| play(share(Box::new(way), nodes), packets, largest);
                let carried: Vec<_> = join(threads).into_iter().map(|way| scope.spawn(move || play(way))).collect();
                carried.into_iter().for_each(|thread| thread.join().unwrap());
            });
        }
    }

    /// Plays the parts of nodes that share this thread.
    fn play(ends: Vec<impl Transport>, packets: u32, largest: usize) {
        let mut checks: Vec<_> = ends.into_iter().map(|end| (end, Vec::new())).collect();
        for (end, next) in &mut checks {
            next.resize(end.nodes() as usize, 0u32);
            flood(end, packets, largest).unwrap();
        }
        let begun = Instant::now();
        while checks.iter().any(|(_, next)| next.iter().any(|&number| number < packets)) {
            assert!(begun.elapsed() < PATIENCE);
            for (end, next) in &mut checks {
                take_one(end, next, largest).unwrap();
            }
        }
        for (end, _) in &mut checks {
            assert_eq!(end.poll(), None);
        }
    }
}
