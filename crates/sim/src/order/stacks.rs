//! Where programs stand, in the words of errors.

use super::{Runner, World};
use crate::node::NodeState;
use std::cell::RefCell;
use std::rc::Rc;
use trivium_guest::{DebugInfo, SourceLocation, StackFrame};
use trivium_node::{About, NodeError, Stood, byte_of, data_text};

/// Where a node's program stands and what has been allocated, to be told.
pub(super) struct Known<'a> {
    world: &'a World,
    map: Option<DebugInfo<'a>>,
    stacks: &'a [Vec<StackFrame>],
}

impl World {
    /// Ends the programs of all nodes that wait, and tells where they stand.
    pub(super) fn interrupt(&mut self) -> Vec<Vec<StackFrame>> {
        let stack = |(runner, node): (&mut Runner, &Rc<RefCell<NodeState>>)| match runner {
            Runner::Program(program) => {
                let (stack, state) = (program.interrupt(), node.borrow());
                let asks = state.core.locks.asking().is_some() && !state.compute.asks_at.is_empty();
                if asks { state.compute.asks_at.clone() } else { stack }
            }
            Runner::Script(_) => Vec::new(),
        };
        self.runners.iter_mut().zip(&self.nodes).map(stack).collect()
    }

    /// The error with the places at which nodes stored where another did too.
    pub(crate) fn with_stores(&self, mut error: NodeError) -> NodeError {
        let stacks: Vec<Vec<StackFrame>> =
            self.nodes.iter().map(|node| node.borrow().compute.stores_at.clone()).collect();
        let known = self.known(&stacks);
        for (number, stack) in stacks.iter().enumerate().filter(|(_, stack)| !stack.is_empty()) {
            if let Some(place) = known.map.as_ref().and_then(|map| map.place(stack)) {
                error = error.note(format!("node {number} stores at {place}"));
            }
        }
        let knows = stacks.iter().any(|stack| !stack.is_empty());
        if let Some(&About::Race(_, block)) = error.about.as_deref().filter(|_| knows) {
            let offset = u64::from(block) * self.shared.protocols.block;
            let space = self.space.borrow();
            if let Some(region) = space.region_of(offset) {
                let data = byte_of(&space.allocation(region, known.map.as_ref()), offset);
                error = error.note(format!("block {block} begins at {data}"));
            }
        }
        error
    }

    /// An error of a node whose program waits, with where that stands: it ends there.
    pub(super) fn standing(&mut self, node: usize, error: NodeError) -> NodeError {
        let mut stacks = vec![Vec::new(); self.nodes.len()];
        if let Runner::Program(program) = &mut self.runners[node] {
            stacks[node] = program.interrupt();
        }
        let places = self.known(&stacks).places(node);
        if places.is_empty() { error } else { error.standing(&format!("node {}", self.first + node), &places) }
    }

    /// What can be told of programs that stand there.
    pub(super) fn known<'a>(&'a self, stacks: &'a [Vec<StackFrame>]) -> Known<'a> {
        let map = self.runners.iter().find_map(|runner| match runner {
            Runner::Program(program) => program.debug_info(),
            Runner::Script(_) => None,
        });
        Known { world: self, map, stacks }
    }
}

impl World {
    /// Where the programs of its nodes stand, of a simulation that was cut off: they end there.
    pub(crate) fn stood(&mut self) -> Vec<Stood> {
        let stacks = self.interrupt();
        let known = self.known(&stacks);
        let stood = |(number, node): (usize, &Rc<RefCell<NodeState>>)| {
            let state = node.borrow();
            Stood {
                node: self.first + number,
                cycle: Some(state.compute.clock()),
                doing: self.doing(number, &state, &known),
                at: known.stands(number),
            }
        };
        self.nodes.iter().enumerate().map(stood).collect()
    }
}

impl Known<'_> {
    fn places(&self, node: usize) -> Vec<SourceLocation> {
        self.map.as_ref().map_or_else(Vec::new, |map| map.places(&self.stacks[node]))
    }

    /// Where a node's program stands: `FILE:LINE in FUNCTION`.
    pub(super) fn stands(&self, node: usize) -> Option<String> {
        SourceLocation::standing(&self.places(node))
    }

    /// A place in shared memory, and what was found there.
    pub(super) fn found(&self, address: u32, value: Option<u64>) -> String {
        data_text(&self.world.space.borrow(), self.map.as_ref(), address, value)
    }

    /// A place in shared memory, and what a node's copy of it holds.
    pub(super) fn data(&self, node: usize, address: u32, size: u32) -> String {
        let state = self.world.nodes[node].borrow();
        let value = state.core.memory.word_of_program(address, size);
        data_text(&state.core.space.borrow(), self.map.as_ref(), address, value)
    }
}
