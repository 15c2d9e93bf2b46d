//! The shipped protocols on the plain implementation: whole machines of a few nodes, in random order.

use crate::mutant::config;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use trivium_contract::local::{Effect, Local};
use trivium_engine::{Disposition, Engine, Event, MemoryMechanisms, Node, Object, Outgoing, RecordMechanisms};
use trivium_protocol::{Access, BLOCK, EventKind, Protocol, RoleId};

fn protocol(name: &str) -> Arc<Protocol> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(name);
    Arc::new(trivium_lang::compile_file(&path, &[]).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn the_shipped_protocols_fit_every_number_of_nodes() {
    for name in ["msi.tri", "stache.tri", "token-lock.tri", "tree-barrier.tri", "remote-write.tri"] {
        let protocol = protocol(name);
        for nodes in [1, 2, 3, 32, 64, 65, 255, 256] {
            let engine = Engine::load(protocol.clone(), nodes).unwrap_or_else(|e| panic!("{name}, {nodes}: {e}"));
            for role in (0..protocol.roles.len()).map(|i| RoleId(i as u8)) {
                let untouched = vec![0; engine.record_bytes(role)];
                assert_eq!(engine.describe(role, &untouched), protocol.roles[role.index()].states[0].name);
            }
        }
    }
}

/// A message on its way, with its data.
type Flying = (Outgoing, Vec<u8>);

/// A machine of a few nodes with one thread each. Messages between two nodes keep their order, if the lane says so.
struct Machine {
    engine: Engine,
    nodes: Vec<Local>,
    channels: BTreeMap<(Node, Node), VecDeque<Flying>>,
    /// What each node's thread waits for.
    waiting: Vec<Option<(EventKind, Object)>>,
    /// What each block should hold. Each node stores to its own byte and loads all, so that a stale copy shows.
    last: Vec<[u8; 8]>,
    stores: u8,
    /// The first thing that went wrong.
    wrong: Option<String>,
}

const BLOCKS: u32 = 2;

impl Machine {
    fn new(name: &str, nodes: u16) -> Machine {
        let engine = Engine::load(protocol(name), u32::from(nodes)).unwrap();
        Machine {
            nodes: (0..nodes).map(|node| Local::new(&engine, node, BLOCKS + 1, 8)).collect(),
            engine,
            channels: BTreeMap::new(),
            waiting: vec![None; nodes as usize],
            last: vec![[0; 8]; BLOCKS as usize],
            stores: 0,
            wrong: None,
        }
    }

    fn expect(&mut self, kept: bool, what: &str) {
        if !kept {
            self.wrong.get_or_insert_with(|| what.to_string());
        }
    }

    fn access(&mut self, node: Node, block: Object) -> Access {
        let m = &mut self.nodes[node as usize];
        let role = self.engine.tag_role(m.home(block) == node).unwrap();
        self.engine.access(role, m.record(role, block))
    }

    /// Performs an access if the tag allows it.
    fn perform(&mut self, node: Node, kind: EventKind, block: Object) -> bool {
        let access = self.access(node, block);
        let (at, m) = (block.id as usize, &mut self.nodes[node as usize]);
        match kind {
            EventKind::Write if access == Access::Write => {
                self.stores = self.stores.wrapping_add(1);
                m.block(block)[node as usize] = self.stores;
                self.last[at][node as usize] = self.stores;
            }
            EventKind::Read if access != Access::None => {
                let same = m.block(block) == self.last[at];
                self.expect(same, "a load did not return the last store");
            }
            _ => return false,
        }
        true
    }

    fn dispatch(&mut self, node: Node, event: &Event) {
        match self.engine.dispatch(event, &mut self.nodes[node as usize]) {
            Ok(outcome) => {
                let held = outcome.disposition == Disposition::Held;
                self.expect(!held, "the only thread of a node met its own wait");
            }
            Err(fault) => self.expect(false, &fault.message),
        }
        self.settle(node);
        while self.wrong.is_none() && self.replay(node) {}
    }

    fn replay(&mut self, node: Node) -> bool {
        let m = &mut self.nodes[node as usize];
        let due = m.records().find(|&(role, _, record)| self.engine.replay_due(role, record));
        let Some((role, object, _)) = due else { return false };
        if let Err(fault) = self.engine.replay(role, object, m) {
            self.expect(false, &fault.message);
        }
        self.settle(node);
        true
    }

    /// Messages leave, and resumed threads complete their access.
    fn settle(&mut self, node: Node) {
        for effect in std::mem::take(&mut self.nodes[node as usize].effects) {
            match effect {
                Effect::Sent { to, message } => {
                    let m = &mut self.nodes[node as usize];
                    let data = message.payload.map_or(Vec::new(), |payload| {
                        let scratch = Object { kind: BLOCK, id: BLOCKS };
                        m.install_block(payload, scratch);
                        m.block(scratch).to_vec()
                    });
                    self.channels.entry((node, to)).or_default().push_back((message, data));
                }
                Effect::Resumed(object) => {
                    if let Some((kind, block)) = self.waiting[node as usize]
                        && block == object
                        && self.perform(node, kind, block)
                    {
                        self.waiting[node as usize] = None;
                    }
                }
                _ => {}
            }
        }
        for block in (0..BLOCKS).map(|id| Object { kind: BLOCK, id }) {
            let tags: Vec<Access> = (0..self.nodes.len()).map(|n| self.access(n as Node, block)).collect();
            if tags.contains(&Access::Write) {
                let others = tags.iter().filter(|&&tag| tag != Access::None).count();
                self.expect(others == 1, "a writer was not alone");
            }
        }
    }

    /// Delivers the first message of the `pick`-th channel that has one.
    fn deliver(&mut self, pick: usize) -> bool {
        let busy: Vec<(Node, Node)> = self.channels.iter().filter(|(_, c)| !c.is_empty()).map(|(&k, _)| k).collect();
        let Some(&(from, to)) = busy.get(pick % busy.len().max(1)) else { return false };
        let channel = self.channels.get_mut(&(from, to)).unwrap();
        let lane = |flying: &Flying| {
            let protocol = self.engine.protocol();
            &protocol.lanes[protocol.messages[flying.0.message.index()].lane.index()]
        };
        let index = if lane(&channel[0]).fifo { 0 } else { pick / 7 % channel.len() };
        let (message, data) = channel.remove(index).unwrap();
        let mut event = Event::message(from, &message);
        if event.payload.is_some() {
            let m = &mut self.nodes[to as usize];
            let scratch = Object { kind: BLOCK, id: BLOCKS };
            m.block(scratch).copy_from_slice(&data);
            event.payload = Some(m.gather_block(scratch));
        }
        self.dispatch(to, &event);
        true
    }

    /// A thread makes an access, unless it waits for one.
    fn touch(&mut self, node: Node, kind: EventKind, block: Object) {
        if self.waiting[node as usize].is_none() && !self.perform(node, kind, block) {
            self.waiting[node as usize] = Some((kind, block));
            self.dispatch(node, &Event::local(kind, block, 0));
        }
    }
}

/// One thing that happens: a thread touches a block, or a message arrives.
type Move = (u8, u16, bool, u32);

/// Lets moves happen, then everything that is on its way arrive. The first thing that went wrong, if any did.
fn wrong(name: &str, nodes: u16, moves: &[Move]) -> Option<String> {
    let mut machine = Machine::new(name, nodes);
    for &(what, pick, store, id) in moves {
        if machine.wrong.is_some() {
            break;
        }
        if what == 0 {
            let kind = if store { EventKind::Write } else { EventKind::Read };
            machine.touch(pick % nodes, kind, Object { kind: BLOCK, id });
        } else {
            machine.deliver(pick as usize);
        }
    }
    while machine.wrong.is_none() && machine.deliver(0) {}
    let waits = machine.waiting.iter().any(Option::is_some);
    machine.expect(!waits, "all is quiet, and a thread still waits");
    let mut deferred = false;
    for (role, object, record) in machine.nodes.iter().flat_map(Local::records) {
        deferred |= !machine.engine.deferred(role, object, record).is_empty();
    }
    machine.expect(!deferred, "all is quiet, and an event is still deferred");
    machine.wrong
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    prop::collection::vec((0u8..4, any::<u16>(), any::<bool>(), 0..BLOCKS), 1..200)
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn coherent_in_random_order(
        name in prop_oneof![Just("msi.tri"), Just("stache.tri")],
        nodes in 1u16..5,
        moves in moves(),
    ) {
        prop_assert_eq!(wrong(name, nodes, &moves), None);
    }
}

/// The same machine is sharp enough to find the protocols that were broken on purpose.
#[test]
fn broken_protocols_are_found() {
    let broken = ["msi-forgotten-ack.tri", "stache-lost-upgrade.tri", "stache-unordered.tri"];
    for name in broken.map(|name| format!("broken/{name}")) {
        let config = ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() };
        let rng = proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm);
        let mut runner = proptest::test_runner::TestRunner::new_with_rng(config, rng);
        let found = runner.run(&(2u16..5, moves()), |(nodes, moves)| match wrong(&name, nodes, &moves) {
            None => Ok(()),
            Some(what) => Err(TestCaseError::fail(what)),
        });
        assert!(found.is_err(), "{name}: nothing went wrong in 2000 runs");
    }
}
