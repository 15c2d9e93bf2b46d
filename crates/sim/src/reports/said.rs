//! What programs say: output, and what they did that is hardly meant.

use crate::error::Said;
use trivium_engine::Node;
use trivium_guest::SHARED_BASE;

/// What one node has said.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSaid {
    /// When it printed, to which descriptor, what.
    pub printed: Vec<(u64, u32, Vec<u8>)>,
    /// Where it first used an atomic operation on private memory: the address and the function.
    pub private_atomic: Option<(u32, Option<String>)>,
}

/// What all nodes have said, in the making.
#[derive(Default)]
pub(crate) struct Saying {
    nodes: Vec<(Node, NodeSaid)>,
}

impl Saying {
    /// What a node has said.
    pub(crate) fn add(&mut self, node: Node, said: NodeSaid) {
        self.nodes.push((node, said));
    }

    /// All of it.
    pub(crate) fn said(self) -> Said {
        let mut printed: Vec<(u64, Node, u32, &[u8])> = Vec::new();
        for (node, said) in &self.nodes {
            printed.extend(said.printed.iter().map(|(at, fd, bytes)| (*at, *node, *fd, &bytes[..])));
        }
        printed.sort_by_key(|&(at, node, ..)| (at, node));
        let text = |wanted: u32| {
            let bytes: Vec<u8> = printed.iter().filter(|p| p.2 == wanted).flat_map(|p| p.3.iter().copied()).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Said { output: text(1), errors: text(2), warnings: self.private_atomics().into_iter().collect() }
    }

    /// Said once, of the first node: the others run the same program.
    fn private_atomics(&self) -> Option<String> {
        let (node, (address, function)) =
            self.nodes.iter().find_map(|(node, said)| Some((node, said.private_atomic.as_ref()?)))?;
        let place = function.as_ref().map_or(String::new(), |function| format!(" in {function}"));
        Some(format!(
            "node {node} uses an atomic operation{place} on private memory, at {address:#x}: every node has its own copy, which no other sees; what nodes share comes from trivium_alloc, and lies at {SHARED_BASE:#x} and above"
        ))
    }
}
