//! Invariants, which look at all nodes at once.

use crate::engine::Engine;
use crate::fault::Fault;
use crate::mechanisms::{Node, Object};
use trivium_lang::protocol::{Expr, Invariant, MessageId, RoleId};

/// The state of the whole system, as an invariant sees it.
pub trait World {
    /// The home of an object.
    fn home(&self, object: Object) -> Node;
    /// The record of a role for an object on a node. Asked only where the role lives.
    fn record(&self, node: Node, role: RoleId, object: Object) -> &[u8];
    /// How many messages of a kind about an object are on their way, to `to` if given.
    fn in_flight(&self, message: MessageId, object: Object, to: Option<Node>) -> u32;
}

impl Engine {
    /// Whether an invariant of the protocol holds for an object.
    ///
    /// # Errors
    /// A fault in the condition itself, such as a division by zero.
    pub fn evaluate_invariant<W: World>(&self, invariant: &Invariant, object: Object, world: &W) -> Result<bool, Fault> {
        let _ = (invariant, object, world);
        todo!()
    }

    /// Whether a condition over registers, such as a scenario's `forbid`, holds.
    ///
    /// # Errors
    /// A fault in the condition itself.
    pub fn evaluate_registers(&self, condition: &Expr, registers: &[i64]) -> Result<bool, Fault> {
        let _ = (condition, registers);
        todo!()
    }
}
