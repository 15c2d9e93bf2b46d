//! The records of a node, for conditions that look at them and change nothing.

use super::NodeCore;
use trivium_engine::{Node, Object, SystemView};
use trivium_protocol::{Access, CopyIn, MessageId, RoleId};

/// The records of one node: all that an assumption about a use looks at, or a condition of a stall.
pub(crate) struct OwnRecords<'a, C> {
    pub node: &'a NodeCore<C>,
    /// Of which protocol.
    pub number: usize,
}

/// Longer than any record: what one is that nobody has touched.
static UNTOUCHED: [u8; 64 * 1024] = [0; 64 * 1024];

impl<C> SystemView for OwnRecords<'_, C> {
    fn block_bytes(&self) -> u64 {
        self.node.protocols.block
    }

    fn home(&self, object: Object) -> Node {
        self.node.home_of(self.number, object)
    }

    fn record(&self, _: Node, role: RoleId, object: Object) -> &[u8] {
        let bytes = self.node.protocols.engines[self.number].record_bytes(role);
        self.node.records.find(self.number, role, object).unwrap_or(&UNTOUCHED[..bytes])
    }

    fn is_touched(&self, _: Node, role: RoleId, object: Object) -> bool {
        self.node.records.find(self.number, role, object).is_some()
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
