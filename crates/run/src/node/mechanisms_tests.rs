//! A real node's mechanisms against the contract that all backends share.

use super::{Limits, NodeState};
use crate::transport::threads::join;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use trivium_contract::{Bench, check_mechanisms};
use trivium_engine::{Engine, Object, Pending, Thread};
use trivium_guest::{AccessKind, Placement};
use trivium_node::{Awaited, HandlerMemory, NodeMemory, Protocols, RunningHandler, Wait};
use trivium_protocol::BLOCK;

struct RunBench {
    engine: Engine,
    nodes: u32,
}

impl Bench for RunBench {
    type M = RunningHandler<Box<NodeState>>;

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn make(&self) -> RunningHandler<Box<NodeState>> {
        let protocols = Rc::new(Protocols::new(vec![Rc::new(self.engine.clone())], 64, self.nodes));
        let transport = Box::new(join(self.nodes).swap_remove(0));
        let limits = Limits { cancel: Arc::default(), nanoseconds: None };
        let mut node = NodeState::new(transport, protocols, (4096, Instant::now()), limits);
        node.core.space.borrow_mut().allocate(0, 0, 8192, Placement::RoundRobin, 0).unwrap();
        node.core.memory = NodeMemory::Plain(vec![0; 8192]);
        RunningHandler(Box::new(node))
    }

    /// One whose home is this node, and one whose home is another.
    fn blocks(&self) -> [Object; 2] {
        [Object { kind: BLOCK, id: 1 }, Object { kind: BLOCK, id: 65 }]
    }

    fn fill(&self, m: &mut RunningHandler<Box<NodeState>>, block: Object, seed: u8) {
        let bytes: Vec<u8> = (0..64).map(|i| seed.wrapping_mul(31).wrapping_add(i)).collect();
        let offset = m.0.core.offset_of(block);
        m.0.put(offset, &bytes);
    }

    fn contents(&self, m: &mut RunningHandler<Box<NodeState>>, block: Object) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        let offset = m.0.core.offset_of(block);
        m.0.read_allocated(offset, &mut bytes);
        bytes
    }

    fn words(&self) -> Option<u64> {
        Some(256)
    }

    fn lists(&self) -> bool {
        true
    }

    fn wait(&self, m: &mut RunningHandler<Box<NodeState>>, _: Thread, block: Object) -> Option<Pending> {
        let pending =
            Pending { address: m.0.core.offset_of(block) + 8, size: 4, value: 0xdead_beef, ..Pending::default() };
        let thread = m.0.thread_mut();
        (thread.pending, thread.pending_kind) = (pending, AccessKind::Write);
        let number = thread.asks(Awaited::Access(block));
        assert!(thread.begins_to_wait(number));
        thread.wait = Some(Wait::Access(block));
        Some(pending)
    }
}

#[test]
fn the_contract_is_kept_under_every_protocol() {
    for name in ["flash-coherence", "msi", "stache", "swcc", "token-lock", "token-ring", "tree-barrier", "remote-write"]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../protocols/{name}.tri"));
        let protocol = trivium_lang::compile_file(&path, &[]).unwrap();
        for nodes in [2, 5] {
            let engine = Engine::load(Arc::new(protocol.clone()), nodes).unwrap();
            let breaches = check_mechanisms(&RunBench { engine, nodes });
            assert!(breaches.is_empty(), "{name}: {breaches:#?}");
        }
    }
}
