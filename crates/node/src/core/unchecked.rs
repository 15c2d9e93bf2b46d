//! Private memory that is shared (`docs/semantics.md`, section 1): whether it may be, and the node's own accesses there.

use super::{NodeCore, allows};
use crate::error::{About, NodeError};
use trivium_diagnostic::Code;
use trivium_engine::Object;
use trivium_guest::{AccessKind, SHARED_BASE};
use trivium_protocol::Access;

impl<C> NodeCore<C> {
    /// A range of private memory is shared from now on; this node's part of the allocation begins at the address `part`.
    ///
    /// # Errors
    /// Something of the range is shared already, or the allocation is under a protocol whose processors have caches of their own.
    pub fn share(&mut self, private: u32, bytes: u32, part: u32) -> Result<(), NodeError> {
        if self.parts.have(private, bytes) {
            let what = format!(
                "node {}: trivium_share: something of the {bytes} bytes at {private:#x} is shared already",
                self.me
            );
            return Err(NodeError::subject(Code::Program, what).help("share each range once"));
        }
        let protocol = self.protocol_at(u64::from(part - SHARED_BASE));
        if let Some(protocol) = protocol.filter(|&protocol| self.protocols.cached[protocol]) {
            let name = &self.protocols.engines[protocol].protocol().name;
            let what = format!(
                "node {} shares private memory under protocol `{name}`, whose processors have caches of their own: the home's copy is not the program's memory there",
                self.me
            );
            return Err(
                NodeError::subject(Code::Program, what).help("share it under a protocol without `fill` and `take`")
            );
        }
        self.parts.add(private, bytes, part);
        Ok(())
    }

    /// An unchecked access to a block at this node's private address, under this tag.
    ///
    /// # Errors
    /// The tag does not allow it.
    pub fn check_unchecked(&self, address: u32, kind: AccessKind, block: Object, tag: Access) -> Result<(), NodeError> {
        if allows(tag, kind) {
            return Ok(());
        }
        let what = if kind == AccessKind::Read { "loads" } else { "stores to" };
        let has = if tag == Access::None { "no access to" } else { "read access to" };
        let what = format!(
            "node {} {what} {address:#x} by its private address, where it has {has} block {} now: another node may have a copy that is newer, or that this store would make old; and under some protocols a home has to ask for its own blocks, too",
            self.me, block.id
        );
        let private = self.parts.private_of(self.offset_of(block), self.protocols.block);
        let about = private.map(|private| Box::new(About::Own(address, private)));
        Err(NodeError { about, ..NodeError::subject(Code::Program, what) }.help(
            "go through the shared address (in Split-C, `*toglobal(MYPROC, &x)`), or let the accesses of other nodes to this block end first, and make one through the shared address; the block may also hold other data (--block says how large it is)",
        ))
    }
}
