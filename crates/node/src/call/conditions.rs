//! Assumptions that look at a node's records: `assume CALL when EXPR`.

use crate::core::NodeCore;
use trivium_engine::{Fault, Node, Object, SystemView};
use trivium_protocol::{Access, CopyIn, EventKind, MessageId, OpId, RoleId};

impl<C> NodeCore<C> {
    /// The first of a protocol's assumptions about each use of a call (`assume CALL when EXPR`) that a call of this node
    /// breaks, as the protocol writes it.
    ///
    /// # Errors
    /// A fault in such a condition.
    pub fn broken_condition(
        &self,
        number: usize,
        op: OpId,
        object: Object,
        args: &[i64],
    ) -> Result<Option<String>, Fault> {
        let engine = &self.protocols.engines[number];
        let about = engine.protocol().conditions.iter().filter(|condition| condition.event == EventKind::Op(op));
        for condition in about {
            let own = OwnRecords { node: self, number };
            if !engine.evaluate_condition(condition, self.me, object, args, &own)? {
                return Ok(Some(condition.text.clone()));
            }
        }
        Ok(None)
    }
}

/// The records of one node: all that an assumption about a use looks at.
struct OwnRecords<'a, C> {
    node: &'a NodeCore<C>,
    number: usize,
}

/// Longer than any record: what one is that nobody has touched.
static UNTOUCHED: [u8; 64 * 1024] = [0; 64 * 1024];

impl<C> SystemView for OwnRecords<'_, C> {
    fn home(&self, object: Object) -> Node {
        self.node.home_of(object)
    }

    fn record(&self, _: Node, role: RoleId, object: Object) -> &[u8] {
        let bytes = self.node.protocols.engines[self.number].record_bytes(role);
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
