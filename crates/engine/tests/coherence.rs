//! The shipped protocols on the plain implementation: whole machines of a few nodes, in random order.

use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use trivium_engine::local::{Effect, Local};
use trivium_engine::{Disposition, Engine, Event, Mechanisms, Node, Object, Outgoing};
use trivium_lang::protocol::{Access, BLOCK, EventKind, Protocol, RoleId};

fn protocol(name: &str) -> Arc<Protocol> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    Arc::new(trivium_lang::compile(name, &text, &Default::default()).unwrap_or_else(|e| panic!("{e}")))
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

/// A machine of a few nodes with one thread each. Messages between two nodes keep their order.
struct Machine {
    engine: Engine,
    nodes: Vec<Local>,
    channels: BTreeMap<(Node, Node), VecDeque<(Outgoing, Vec<u8>)>>,
    /// What each node's thread waits for.
    waiting: Vec<Option<(EventKind, Object)>>,
    /// The value of the last store to each block.
    last: Vec<u8>,
    stores: u8,
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
            last: vec![0; BLOCKS as usize],
            stores: 0,
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
                m.block(block)[0] = self.stores;
                self.last[at] = self.stores;
            }
            EventKind::Read if access != Access::None => {
                assert_eq!(m.block(block)[0], self.last[at], "a load returns the last store");
            }
            _ => return false,
        }
        true
    }

    fn dispatch(&mut self, node: Node, event: &Event) -> Disposition {
        let outcome = self.engine.dispatch(event, &mut self.nodes[node as usize]).unwrap_or_else(|f| panic!("{f}"));
        self.settle(node);
        while self.replay(node) {}
        outcome.disposition
    }

    fn replay(&mut self, node: Node) -> bool {
        let m = &mut self.nodes[node as usize];
        let due = m.records().find(|&(role, _, record)| self.engine.replay_due(role, record));
        let Some((role, object, _)) = due else { return false };
        self.engine.replay(role, object, m).unwrap_or_else(|f| panic!("{f}"));
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
                assert_eq!(others, 1, "single writer of {block:?}: {tags:?}");
            }
        }
    }

    /// Delivers the first message of the `pick`-th channel that has one.
    fn deliver(&mut self, pick: usize) -> bool {
        let busy: Vec<(Node, Node)> = self.channels.iter().filter(|(_, c)| !c.is_empty()).map(|(&k, _)| k).collect();
        let Some(&(from, to)) = busy.get(pick % busy.len().max(1)) else { return false };
        let (message, data) = self.channels.get_mut(&(from, to)).unwrap().pop_front().unwrap();
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
            let disposition = self.dispatch(node, &Event::local(kind, block, 0));
            assert_ne!(disposition, Disposition::Held, "one thread a node never meets its own wait");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn coherent_in_random_order(
        name in prop_oneof![Just("msi.tri"), Just("stache.tri")],
        nodes in 1u16..5,
        moves in prop::collection::vec((0u8..4, any::<u16>(), any::<bool>(), 0..BLOCKS), 1..200),
    ) {
        let mut machine = Machine::new(name, nodes);
        for (what, pick, store, id) in moves {
            if what == 0 {
                let kind = if store { EventKind::Write } else { EventKind::Read };
                machine.touch(pick % nodes, kind, Object { kind: BLOCK, id });
            } else {
                machine.deliver(pick as usize);
            }
        }
        while machine.deliver(0) {}
        prop_assert!(machine.waiting.iter().all(Option::is_none), "when all is quiet nobody waits");
        for m in &machine.nodes {
            for (role, object, record) in m.records() {
                prop_assert!(machine.engine.deferred(role, object, record).is_empty());
            }
        }
    }
}
