//! What protocols assume about the use of their calls, asserted while a program runs.

use crate::node::NodeState;
use trivium_engine::{Engine, Fault, Node, Object, World};
use trivium_lang::protocol::{Access, CopyIn, EventKind, MessageId, OpId, RoleId};

/// The first of a protocol's assumptions about each use of a call (`assume CALL when EXPR`) that a node's call breaks, as
/// the protocol writes it.
///
/// # Errors
/// A fault in such a condition.
pub(crate) fn broken_condition(
    node: &NodeState,
    number: usize,
    op: OpId,
    object: Object,
    args: &[i64],
) -> Result<Option<String>, Fault> {
    let engine: &Engine = &node.shared.engines[number];
    let about = engine.protocol().conditions.iter().filter(|condition| condition.event == EventKind::Op(op));
    for condition in about {
        let own = Own { node, number };
        if !engine.evaluate_condition(condition, node.me, object, args, &own)? {
            return Ok(Some(condition.text.clone()));
        }
    }
    Ok(None)
}

/// The records of one node: all that an assumption about a use looks at.
struct Own<'a> {
    node: &'a NodeState,
    number: usize,
}

/// Longer than any record: what one is that nobody has touched.
static UNTOUCHED: [u8; 64 * 1024] = [0; 64 * 1024];

impl World for Own<'_> {
    fn home(&self, object: Object) -> Node {
        self.node.home_of(object)
    }

    fn record(&self, _: Node, role: RoleId, object: Object) -> &[u8] {
        let bytes = self.node.shared.engines[self.number].record_bytes(role);
        self.node.records.find(self.number, role, object).unwrap_or(&UNTOUCHED[..bytes])
    }

    fn contents(&self, _: Node, _: Object, _: CopyIn) -> u64 {
        0
    }

    fn access(&self, _: Node, _: Object) -> Access {
        Access::None
    }

    fn in_flight(&self, _: MessageId, _: Object, _: Option<Node>) -> u32 {
        0
    }
}
