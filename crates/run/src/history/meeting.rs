//! How packets get from node to node where a recording is replayed: each node takes the packet of the node that the recording names, and
//! waits for it. Nodes that wait for each other in a ring, or for a node that has left, have left what was recorded.

use crate::transport::Transport;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use trivium_engine::Node;
use trivium_engine::number::fit;
use trivium_node::NodeError;

/// So often a node that waits looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Runs,
    WaitsFor(Node),
    /// It sends nothing more.
    HasLeft,
}

#[derive(Debug)]
struct Board {
    /// By receiver and sender.
    packets: Vec<Vec<VecDeque<Vec<u8>>>>,
    doing: Vec<Part>,
    /// Where the replay first did something else than the recording says.
    strayed: Option<NodeError>,
}

#[derive(Debug)]
struct Meetings {
    state: Mutex<Board>,
    changed: Condvar,
}

/// One node's end.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    me: Node,
    nodes: u32,
    shared: Arc<Meetings>,
}

/// Why no packet came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It will never come, or another node has strayed from the recording.
    Never,
    Interrupted,
}

/// The ends of so many nodes.
pub(crate) fn meet(nodes: u32) -> Vec<Meeting> {
    let state = Board {
        packets: (0..nodes).map(|_| (0..nodes).map(|_| VecDeque::new()).collect()).collect(),
        doing: (0..nodes).map(|_| Part::Runs).collect(),
        strayed: None,
    };
    let shared = Arc::new(Meetings { state: Mutex::new(state), changed: Condvar::new() });
    (0..nodes).map(|me| Meeting { me: fit(me, "a node"), nodes, shared: shared.clone() }).collect()
}

impl Board {
    /// Whether what a node waits for never comes.
    fn is_stuck(&self, waiting: Node) -> bool {
        let mut at = usize::from(waiting);
        for _ in 0..=self.doing.len() {
            match self.doing[at] {
                Part::Runs => return false,
                Part::HasLeft => return true,
                Part::WaitsFor(from) if !self.packets[at][usize::from(from)].is_empty() => return false,
                Part::WaitsFor(from) => at = usize::from(from),
            }
        }
        true
    }
}

impl Meeting {
    fn state(&self) -> MutexGuard<'_, Board> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next packet of a node.
    pub(crate) fn take(&self, from: Node, is_interrupted: &dyn Fn() -> bool) -> Result<Vec<u8>, Missing> {
        let me = usize::from(self.me);
        let mut state = self.state();
        if u32::from(from) >= self.nodes {
            return Err(Missing::Never);
        }
        let taken = loop {
            if let Some(packet) = state.packets[me][usize::from(from)].pop_front() {
                break Ok(packet);
            }
            state.doing[me] = Part::WaitsFor(from);
            if state.strayed.is_some() || state.is_stuck(self.me) {
                break Err(Missing::Never);
            }
            if is_interrupted() {
                break Err(Missing::Interrupted);
            }
            let waited = self.shared.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        state.doing[me] = if taken == Err(Missing::Never) { Part::HasLeft } else { Part::Runs };
        taken
    }

    /// This node does something else than the recording says. The first who says so is believed: the others follow from it.
    pub(crate) fn stray(&self, error: NodeError) {
        self.state().strayed.get_or_insert(error);
        self.shared.changed.notify_all();
    }

    /// Where a node strayed, if one did.
    pub(crate) fn strayed(&self) -> Option<NodeError> {
        self.state().strayed.clone()
    }
}

impl Transport for Meeting {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn me(&self) -> Node {
        self.me
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    // Who waits here sleeps.
    fn is_crowded(&self) -> bool {
        true
    }

    fn send(&mut self, to: Node, packet: Vec<u8>) {
        self.state().packets[usize::from(to)][usize::from(self.me)].push_back(packet);
        self.shared.changed.notify_all();
    }

    /// Only who leaves the run takes what comes, whoever sends it.
    fn poll(&mut self) -> Option<(Node, Vec<u8>)> {
        let mut state = self.state();
        let me = usize::from(self.me);
        if state.doing[me] != Part::HasLeft {
            state.doing[me] = Part::HasLeft;
            self.shared.changed.notify_all();
        }
        let queues = state.packets[me].iter_mut().enumerate();
        let mut packets = queues.filter_map(|(from, queue)| Some((fit(from, "a node"), queue.pop_front()?)));
        packets.next()
    }

    fn has_sent(&mut self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_taken_from_whom_the_recording_names() {
        let mut ends = meet(3);
        let [mut two, mut one, zero] = [ends.pop().unwrap(), ends.pop().unwrap(), ends.pop().unwrap()];
        two.send(0, vec![2]);
        let waits = std::thread::spawn(move || [zero.take(1, &|| false), zero.take(2, &|| false)]);
        one.send(0, vec![1]);
        assert_eq!(waits.join().unwrap(), [Ok(vec![1]), Ok(vec![2])]);
    }

    #[test]
    fn who_waits_for_what_never_comes_is_told() {
        let mut ends = meet(3);
        let [mut two, one, zero] = [ends.pop().unwrap(), ends.pop().unwrap(), ends.pop().unwrap()];
        assert_eq!(zero.take(7, &|| false), Err(Missing::Never));
        assert_eq!(zero.take(1, &|| true), Err(Missing::Interrupted));
        let ring = std::thread::spawn(move || (zero.take(1, &|| false), zero));
        // Whoever comes second closes the ring.
        let told = one.take(0, &|| false);
        one.stray(NodeError::input(trivium_diagnostic::Code::Replay, "strayed"));
        let (other, zero) = ring.join().unwrap();
        assert_eq!((told, other), (Err(Missing::Never), Err(Missing::Never)));
        assert_eq!(zero.strayed().unwrap().diagnostic.message, "strayed");
        let ends = meet(2);
        assert_eq!(two.poll(), None);
        let mut left = ends[1].clone();
        left.poll();
        assert_eq!(ends[0].take(1, &|| false), Err(Missing::Never));
    }
}
