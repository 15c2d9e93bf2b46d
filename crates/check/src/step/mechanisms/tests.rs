//! The contract of `Mechanisms`, kept with compact memory and with memory that is addressed.

use super::*;
use crate::config::System;
use std::sync::Arc;
use trivium_contract::{Bench, check_mechanisms};
use trivium_engine::Engine;

const BLOCKS_ONLY: &str = "
protocol blocks
lane small holds 2
lane main
message Get on small
message Data on main with block
role cache of block {
  otherwise impossible
  state Away { on read, write { send Get to home; await Data { install; goto Here; resume } } }
  state Here: write { }
}
role home of block {
  state Here: write { on Get { send Data to sender; goto Lent } }
  state Lent { on read, write impossible; on Get impossible }
}
";

const WITH_MEMORY: &str = "
protocol words
lane main
message Put(at: address) on main
role home of block {
  state Here: write { on Put(at) { memory[at] = 1 } }
}
role cache of block {
  state Away { on read, write { send Put(0) to home } }
}
";

struct NodeBench {
    model: &'static Model,
    words: Option<u64>,
}

impl NodeBench {
    fn new(text: &str, words: Option<u64>) -> NodeBench {
        let protocol = trivium_lang::compile("test.tri", text, &Default::default()).unwrap_or_else(|d| panic!("{d}"));
        let system = System { nodes: 2, objects: 2, memory_words: Some(8), ..System::default() };
        NodeBench { model: Box::leak(Box::new(Model::new(&Arc::new(protocol), &system).unwrap())), words }
    }
}

impl Bench for NodeBench {
    type M = Here<'static>;

    fn engine(&self) -> &Engine {
        &self.model.engine
    }

    fn make(&self) -> Here<'static> {
        Here {
            model: self.model,
            payloads: Box::leak(Box::default()),
            world: Box::leak(Box::new(self.model.first())),
            effects: Box::leak(Box::default()),
            scratch: Box::leak(Box::default()),
            reached: Box::leak(Box::new(Reached::new(self.model.protocol()))),
            me: 0,
        }
    }

    fn blocks(&self) -> [Object; 2] {
        [0, 1].map(|id| Object { kind: trivium_protocol::BLOCK, id })
    }

    fn fill(&self, m: &mut Here<'static>, block: Object, seed: u8) {
        m.world.set_number(self.model.layout.block(m.me, block.id), u64::from(seed) + 100);
    }

    fn contents(&self, m: &mut Here<'static>, block: Object) -> Vec<u8> {
        m.world.fixed[self.model.layout.block(m.me, block.id)].to_vec()
    }

    fn words(&self) -> Option<u64> {
        self.words
    }

    fn sizes(&self) -> bool {
        false
    }

    fn lists(&self) -> bool {
        true
    }

    fn wait(&self, m: &mut Here<'static>, thread: Thread, block: Object) -> Option<Pending> {
        let intents = &self.model.client.intents;
        let store = Intent::Write { block: block.id, value: 1 };
        let number = intents.iter().position(|intent| *intent == store)?;
        m.world.set_thread(&self.model.layout, usize::from(thread), ThreadState::Waiting, number);
        Some(Pending { address: u64::from(block.id) * BLOCK_BYTES, size: WORD as u8, value: 1, ..Pending::default() })
    }
}

#[test]
fn the_contract_is_kept_where_only_blocks_move() {
    assert_eq!(check_mechanisms(&NodeBench::new(BLOCKS_ONLY, None)), []);
}

#[test]
fn the_contract_is_kept_where_memory_is_addressed() {
    assert_eq!(check_mechanisms(&NodeBench::new(WITH_MEMORY, Some(2 * BLOCK_BYTES))), []);
}

#[test]
fn the_contract_is_kept_where_processors_are_cached() {
    let text = include_str!("../../../../../protocols/flash-coherence.tri");
    assert_eq!(check_mechanisms(&NodeBench::new(text, None)), []);
}

#[test]
fn the_contract_is_kept_where_records_are_not_zero_at_first() {
    let text = include_str!("../../../../../protocols/stache.tri");
    // An invariant looks at the variable, so that it is not cleared.
    let text = text.replace("  var owner: node", "  initially { mark = me }\n  var mark: node\n  var owner: node");
    let text = text + "\ninvariant marked of block: home.mark == home\n";
    let bench = NodeBench::new(&text, None);
    assert!(bench.model.first().fixed.iter().any(|&byte| byte != 0));
    assert_eq!(check_mechanisms(&bench), []);
}

#[test]
fn memory_outside_is_a_fault_and_not_a_panic() {
    for (text, words) in [(BLOCKS_ONLY, None), (WITH_MEMORY, Some(2 * BLOCK_BYTES))] {
        let bench = NodeBench::new(text, words);
        for address in [3, 1 << 20, u64::MAX, u64::MAX - 7] {
            let mut m = bench.make();
            assert_eq!(m.load(address), 0);
            m.store(address, 1);
            m.copy(address, 0, 8);
            m.copy(0, address, u64::MAX);
            let payload = m.gather_memory(address, address);
            m.install_memory(payload, Some(address));
            m.gather_list(true, &[-1, i64::MAX]);
            let trouble = m.effects.trouble.clone().unwrap();
            assert_eq!(trouble.property, "fault");
            assert!(trouble.sentence.contains(&address.to_string()), "{}", trouble.sentence);
        }
    }
}
