//! Faults of the simulated hardware: no protocol can make them, only a mistake in the simulator can. They are injected from within, and the golden checks find them.

use crate::machine::Machine;
use crate::node::NodeState;
use crate::node::mechanisms::Handling;
use crate::node::script::plain_memory;
use crate::node::shared::Shared;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use trivium_engine::{Disposition, Engine, MemoryMechanisms, Object, Outcome};
use trivium_guest::{AccessKind, AccessStep, LoadStore, Placement, SHARED_BASE};
use trivium_node::{ProgramAccess, Protocols, RunningHandler, Space};
use trivium_protocol::{Access, BLOCK, HandlerId, RoleId, StateId};

const BLOCK_3: Object = Object { kind: BLOCK, id: 3 };

/// Node 0 of two, at home with all that there is, under stache; blocks have two lines.
fn node() -> Box<NodeState> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/stache.tri");
    let engine = Engine::load(Arc::new(trivium_lang::compile_file(&path, &[]).unwrap()), 2).unwrap();
    let protocols = Protocols::new(vec![Rc::new(engine)], 64, 2);
    let shared = Rc::new(Shared::new(protocols, Machine::load("typhoon", &[]).unwrap()));
    let mut space = Space::new(4096, 2);
    space.allocate(0, 0, 4096, Placement::Explicit(0), 0).unwrap();
    let mut node = NodeState::new(0, shared, Rc::new(RefCell::new(space)), 0);
    node.core.memory = plain_memory(4096);
    node.compute.limit = u64::MAX;
    Box::new(node)
}

fn reaches(node: &mut NodeState, kind: AccessKind) -> Option<AccessStep> {
    let access = LoadStore { addr: SHARED_BASE + 3 * 64 + 32, size: 4, kind, value: 5 };
    node.reach_for(&ProgramAccess::of(access)).ok()
}

/// What the golden check says of an access.
fn stale(node: &mut NodeState, kind: AccessKind) -> String {
    assert_eq!(reaches(node, kind), None, "it hits");
    node.failure.take().expect("it is told").to_string()
}

#[test]
fn a_tag_that_is_lowered_without_a_bus_transaction_is_a_stale_hit() {
    for (kind, tag) in
        [(AccessKind::Read, Access::None), (AccessKind::Write, Access::None), (AccessKind::Write, Access::Read)]
    {
        let mut node = node();
        assert_eq!(reaches(&mut node, kind), Some(AccessStep::Go));
        node.core.set_tag(BLOCK_3, tag);
        let told = stale(&mut node, kind);
        assert!(told.contains(&format!("node 0: a stale hit at 0x400000e0: the tag of block 3 is {tag}")), "{told}");
        assert!(told.contains("help: a tag is lowered by a bus transaction"), "{told}");
    }
}

/// A program that is compiled does not ask before it hits: the line itself is found when the handler ends that has lowered the tag.
#[test]
fn a_line_that_stays_when_a_handler_lowers_its_tag_is_found() {
    let role = RoleId(1);
    let outcome = |handler| Outcome {
        role,
        object: BLOCK_3,
        before: StateId(0),
        after: StateId(0),
        handler: Some(handler),
        disposition: Disposition::Handled,
        steps: 1,
    };
    let ends = |node: &mut NodeState, handling: &Handling| {
        let engine = node.shared.protocols.engines[0].clone();
        node.look_at_copies(handling, &engine, &outcome(HandlerId(0)))
    };
    let handling = || Handling { start: 77, lowered: vec![BLOCK_3], ..Handling::default() };
    let mut node = node();
    assert_eq!(reaches(&mut node, AccessKind::Write), Some(AccessStep::Go));
    ends(&mut node, &handling()).unwrap();
    node.core.set_tag(BLOCK_3, Access::Read);
    let told = ends(&mut node, &handling()).unwrap_err().to_string();
    assert!(told.contains("node 0, cycle 77: handler stache.home.Idle."), "{told}");
    assert!(
        told.contains(
            "of block 3 lowers the tag of block 3, and the processor's cache still has the line of 0x400000e0"
        ),
        "{told}"
    );
    assert!(told.contains("stache.tri:") && told.contains("help: a tag is lowered by a bus transaction"), "{told}");
    // As handlers lower it, the line goes.
    let mut running = RunningHandler(node);
    running.set_access(BLOCK_3, Access::Read, Access::None);
    let mut node = running.0;
    ends(&mut node, &handling()).unwrap();
    assert_eq!(node.stale_line(BLOCK_3), None);
}
