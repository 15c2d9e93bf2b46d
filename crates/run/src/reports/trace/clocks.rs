//! Clocks of nodes that are processes, which each has set at the beginning as well as it could: a message may have come, by them, before it was sent.
//!
//! Each message says of two clocks that one is not later than so much behind the other. If these sentences do not contradict each other, there are
//! times by which to move the nodes so that all are true; the least are taken, and none where all are true already.

use super::{LiveWhat, NodeTrace};
use std::collections::BTreeMap;
use trivium_engine::Node;
use trivium_protocol::EventKind;

/// Moves the times of nodes, as little as is needed, so that no handler begins before the one began whose message has started it. Nothing is
/// moved where that cannot be: a clock was faster or slower than another.
pub(super) fn align(nodes: &mut [NodeTrace]) {
    let shortest = shortest(nodes);
    let mut late: BTreeMap<Node, i64> = nodes.iter().map(|node| (node.node, 0)).collect();
    for _ in 0..=nodes.len() {
        if !is_moved(&mut late, &shortest) {
            nodes.iter_mut().for_each(|node| node.move_by(late[&node.node].unsigned_abs()));
            return;
        }
    }
}

/// Moves receivers to where the shortest message to them began a nanosecond before. Gives whether one was moved.
fn is_moved(late: &mut BTreeMap<Node, i64>, shortest: &BTreeMap<(Node, Node), i64>) -> bool {
    let mut is_moved = false;
    for ((from, to), took) in shortest {
        let sent = late.get(from).copied().unwrap_or(0);
        let needed = sent.saturating_sub(*took).saturating_add(1);
        if let Some(late) = late.get_mut(to).filter(|late| **late < needed) {
            *late = needed;
            is_moved = true;
        }
    }
    is_moved
}

/// For each two nodes, the least time from the beginning of a handler that sends to the beginning of the handler that this starts: less than nothing where
/// the clocks are wrong.
fn shortest(nodes: &[NodeTrace]) -> BTreeMap<(Node, Node), i64> {
    let sent = sent(nodes);
    let mut shortest = BTreeMap::new();
    for node in nodes {
        for note in &node.notes {
            let LiveWhat::Handled(handled) = &note.what else { continue };
            let (Some((from, number)), EventKind::Message(_)) = (handled.brought, handled.event) else { continue };
            let pair = (from, node.node);
            let Some(sent) = sent.get(&pair).filter(|_| from != node.node) else { continue };
            let Ok(at) = sent.binary_search_by_key(&number, |(number, _)| *number) else { continue };
            let took = signed(note.time.start).saturating_sub(signed(sent[at].1));
            shortest.entry(pair).and_modify(|least: &mut i64| *least = took.min(*least)).or_insert(took);
        }
    }
    shortest
}

/// For each two nodes, the messages from one to the other: their numbers, which grow, and when the handlers began that sent them.
fn sent(nodes: &[NodeTrace]) -> BTreeMap<(Node, Node), Vec<(u64, u64)>> {
    let mut sent: BTreeMap<(Node, Node), Vec<(u64, u64)>> = BTreeMap::new();
    for node in nodes {
        for note in &node.notes {
            let LiveWhat::Handled(handled) = &note.what else { continue };
            for (_, (to, number)) in &handled.sends {
                sent.entry((node.node, *to)).or_default().push((*number, note.time.start));
            }
        }
    }
    sent
}

fn signed(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

impl NodeTrace {
    fn move_by(&mut self, late: u64) {
        let times = self.notes.iter_mut().map(|note| &mut note.time).chain([&mut self.program]);
        times.for_each(|time| *time = time.start.saturating_add(late)..time.end.saturating_add(late));
        self.is_cut_at = self.is_cut_at.map(|at| at.saturating_add(late));
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::tests::{handled, trace};
    use super::*;

    /// Two nodes that send each other a message, at these times; each is 10 under way by a right clock.
    fn two(sent: [u64; 2], came: [u64; 2]) -> Vec<NodeTrace> {
        let node = |me: Node, other: Node| {
            let mine = usize::from(me);
            let sends = handled(sent[mine]..sent[mine] + 2, None, &[(other, 1)]);
            trace(me, vec![sends, handled(came[mine]..came[mine] + 3, Some((other, 1)), &[])])
        };
        vec![node(0, 1), node(1, 0)]
    }

    fn times(nodes: &[NodeTrace]) -> Vec<u64> {
        nodes.iter().flat_map(|node| node.notes.iter().map(|note| note.time.start)).collect()
    }

    #[test]
    fn no_message_comes_before_it_was_sent() {
        // Right clocks; one that is behind, so that its node seems to hear at 75 what was sent at 100; and one that is ahead.
        for (mut nodes, wanted) in [
            (two([100, 200], [210, 110]), vec![100, 210, 200, 110]),
            (two([100, 165], [210, 75]), vec![100, 210, 191, 101]),
            (two([100, 230], [210, 140]), vec![121, 231, 230, 140]),
        ] {
            align(&mut nodes);
            assert_eq!(times(&nodes), wanted);
            assert!(shortest(&nodes).values().all(|took| *took > 0));
        }
    }

    #[test]
    fn clocks_that_contradict_each_other_stay() {
        let mut nodes = two([100, 205], [200, 95]);
        let before = nodes.clone();
        align(&mut nodes);
        assert_eq!(nodes, before);
        // Whatever somebody has sent.
        let mut nodes = two([u64::MAX - 9, u64::MAX - 9], [0, 0]);
        align(&mut nodes);
        let mut nodes = two([u64::MAX - 9, 0], [u64::MAX - 9, 0]);
        align(&mut nodes);
    }
}
