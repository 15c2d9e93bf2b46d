//! Assumptions that look at a node's records: `assume CALL when EXPR`.

use crate::core::{NodeCore, OwnRecords};
use trivium_engine::{Fault, Object};
use trivium_protocol::{EventKind, OpId};

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
