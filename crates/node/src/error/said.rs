//! What programs say: output, and what they did that is hardly meant.

use trivium_engine::Node;
use trivium_guest::{CounterUse, Program, SHARED_BASE};

/// What programs have said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What they printed to standard output, in the order of time and node.
    pub output: String,
    /// What they printed to standard error.
    pub errors: String,
    /// What they did that is hardly meant.
    pub warnings: Vec<String>,
}

/// What one node has said.
#[derive(Clone, Debug, Default)]
pub struct NodeSaid {
    /// When it printed, to which descriptor, what.
    pub printed: Vec<(u64, u32, Vec<u8>)>,
    /// Where it first used an atomic operation on private memory: the address and the function.
    pub private_atomic: Option<(u32, Option<String>)>,
    /// What it first wanted to change in a folder that is only for reading.
    pub refused_to_write: Option<String>,
    /// What its program has done with its counters, if it has ended.
    pub counters: Vec<CounterUse>,
}

/// What all nodes have said, in the making.
#[derive(Default)]
pub struct Saying {
    nodes: Vec<(Node, NodeSaid)>,
}

impl Saying {
    /// What a node has said.
    pub fn add(&mut self, node: Node, said: NodeSaid) {
        self.nodes.push((node, said));
    }

    /// All of it, and what is hardly meant of what all nodes have done together.
    pub fn said_by(self, program: &Program) -> Said {
        let counters: Vec<_> = self.nodes.iter().map(|(_, said)| said.counters.clone()).collect();
        let lost = program.lost_counts(&counters);
        let Said { output, errors, mut warnings } = self.said();
        warnings.extend(lost);
        Said { output, errors, warnings }
    }

    /// All of it.
    pub fn said(self) -> Said {
        let [output, errors] = [1, 2].map(|fd| String::from_utf8_lossy(&self.printed(fd)).into_owned());
        Said { output, errors, warnings: self.private_atomics().into_iter().chain(self.refused_to_write()).collect() }
    }

    /// What was printed to a descriptor, line by line, in the order of time and node: a line is printed when it ends, with however
    /// many writes it began. What has no end comes last.
    fn printed(&self, fd: u32) -> Vec<u8> {
        let mut lines: Vec<(bool, u64, Node, Vec<u8>)> = Vec::new();
        for (node, said) in &self.nodes {
            let (mut line, mut last) = (Vec::new(), 0);
            for (at, _, bytes) in said.printed.iter().filter(|printed| printed.1 == fd) {
                for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                    line.extend_from_slice(part);
                    if part.ends_with(b"\n") {
                        lines.push((false, *at, *node, std::mem::take(&mut line)));
                    }
                }
                last = *at;
            }
            lines.push((true, last, *node, line));
        }
        lines.sort_by_key(|&(has_no_end, at, node, _)| (has_no_end, at, node));
        lines.into_iter().flat_map(|line| line.3).collect()
    }

    /// Said once: the program is told by an error number, which many do not look at.
    fn refused_to_write(&self) -> Option<String> {
        let (node, path) = self.nodes.iter().find_map(|(node, said)| Some((node, said.refused_to_write.as_ref()?)))?;
        Some(format!(
            "node {node} was refused to change {path}: the program may only read the folder of --dir; in `trivium sim` --dir-rw in its place lets it write there"
        ))
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
