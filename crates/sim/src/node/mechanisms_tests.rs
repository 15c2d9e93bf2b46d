//! The simulator's mechanisms against the contract that all backends share.

use crate::machine::Machine;
use crate::node::NodeState;
use crate::node::script::plain_memory;
use crate::node::shared::Shared;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use trivium_contract::{Bench, check_mechanisms};
use trivium_engine::{Args, Engine, MemoryMechanisms, NetworkMechanisms, Object, Outgoing, Pending, Thread};
use trivium_guest::{AccessKind, Placement};
use trivium_node::{Awaited, HandlerMemory, Protocols, RunningHandler, Space, Wait};
use trivium_protocol::BLOCK;

struct SimBench {
    engine: Engine,
    nodes: u32,
}

impl Bench for SimBench {
    type M = RunningHandler<Box<NodeState>>;

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn make(&self) -> RunningHandler<Box<NodeState>> {
        let machine = Machine::load("typhoon", &[]).unwrap();
        let protocols = Protocols::new(vec![Rc::new(self.engine.clone())], 64, self.nodes);
        let shared = Rc::new(Shared::new(Protocols { watched: vec![true], ..protocols }, machine));
        let mut space = Space::new(4096, self.nodes);
        space.allocate(0, 0, 8192, Placement::RoundRobin, 0).unwrap();
        let mut node = NodeState::new(0, shared, Rc::new(RefCell::new(space)), 0);
        node.core.memory = plain_memory(8192);
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
        m.0.wait(Wait::Access(block), crate::reports::counters::Spent::Write);
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
            let breaches = check_mechanisms(&SimBench { engine, nodes });
            assert!(breaches.is_empty(), "{name}: {breaches:#?}");
        }
    }
}

#[test]
fn the_contract_is_kept_on_finite_lanes() {
    let text = "protocol finite\npromises mutex(a, b)\nobject lock\nop a(l: lock)\nop b(l: lock)\nlane one fifo holds 3\nlane two unordered holds 1\n\
        message Ask on one\nmessage Tell on two\nrole home of lock {\n  state S { on Ask { send Tell to sender } }\n}\n\
        role user of lock everywhere {\n  var t: thread\n  state S {\n    on a { t = caller; send Ask to home }\n    on b { return }\n    on Tell { return to t }\n  }\n}\n";
    let protocol =
        trivium_lang::compile("finite.tri", text, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let engine = Engine::load(Arc::new(protocol), 2).unwrap();
    let breaches = check_mechanisms(&SimBench { engine, nodes: 2 });
    assert!(breaches.is_empty(), "{breaches:#?}");
}

#[test]
fn a_block_is_sent_as_if_it_had_been_gathered_before() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/stache.tri");
    let engine = Engine::load(Arc::new(trivium_lang::compile_file(&path, &[]).unwrap()), 2).unwrap();
    let message = engine.protocol().message("Readable").unwrap();
    let bench = SimBench { engine, nodes: 2 };
    let [block, _] = bench.blocks();
    let sent = |at_once: bool| {
        let mut m = bench.make();
        bench.fill(&mut m, block, 7);
        let mut outgoing = Outgoing { message, object: block, args: Args::NONE, payload: None };
        if at_once {
            m.send_block(1, &mut outgoing);
        } else {
            outgoing.payload = Some(m.gather_block(block));
            m.send(1, &outgoing);
        }
        bench.fill(&mut m, block, 8);
        let envelope = m.0.handling.sends.pop().unwrap();
        (envelope.message, envelope.object, envelope.to, envelope.data, m.0.handling.primitives.clone())
    };
    let (at_once, in_two) = (sent(true), sent(false));
    assert_eq!(at_once, in_two);
    assert_eq!(at_once.3.unwrap().bytes.len(), 64);
}
