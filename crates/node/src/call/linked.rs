//! A linked load and the conditional store after it. The block of the load is remembered until the node loses its copy, by an invalidation or an
//! eviction, or a handler writes to it for somebody else; then the store fails. So it also fails where the word has been changed and changed back.

use super::{AccessFor, CallHost, Caller, ProgramAccess};
use crate::core::NodeCore;
use crate::error::NodeError;
use crate::thread::{Link, RUNNING, Thread};
use trivium_diagnostic::Code;
use trivium_guest::{AccessKind, AccessStep, ProgramFault, SHARED_BASE};

/// After so many conditional stores in a row that could not succeed they are taken not to succeed ever.
const MOST_IN_VAIN: u32 = 10_000;

impl Thread {
    /// A conditional store has ended: whether it is one too many in a row that could not succeed.
    fn is_in_vain(&mut self, could_not: bool) -> bool {
        self.in_vain = if could_not { self.in_vain + 1 } else { 0 };
        self.in_vain == MOST_IN_VAIN
    }
}

impl<C> NodeCore<C> {
    /// The running thread's last linked load, if it was of this word.
    fn link_of(&self, address: u32, size: u32) -> Option<Link> {
        self.threads[RUNNING].link.filter(|link| (link.address, link.size) == (address, size))
    }

    /// What the running thread's last linked load gave, if it was of this word and its block is still remembered.
    pub(super) fn linked(&self, address: u32, size: u32) -> Option<u64> {
        self.link_of(address, size).filter(|link| link.is_kept).map(|link| link.value)
    }

    /// A conditional store fails at once: whether there have been so many in a row of which the last linked load was not, that the program does
    /// nothing else.
    pub(super) fn stores_without_its_load(&mut self, address: u32, size: u32) -> bool {
        let is_its = self.link_of(address, size).is_some();
        self.threads[RUNNING].is_in_vain(!is_its)
    }

    /// The name of the protocol that a byte is under.
    fn protocol_name_at(&self, address: u32) -> &str {
        let protocol = self.protocol_at(u64::from(address.saturating_sub(SHARED_BASE)));
        protocol.map_or("no protocol", |number| &self.protocols.engines[number].protocol().name)
    }
}

impl<N: CallHost> Caller<'_, N> {
    /// A linked load: the word, if it has been read.
    pub(super) fn link(&mut self, address: u32, size: u32, exclusive: bool) -> Result<Option<u64>, ProgramFault> {
        let kind = if exclusive { AccessKind::Write } else { AccessKind::Read };
        let access = ProgramAccess { address, size, kind, value: 0, purpose: AccessFor::Itself };
        let value = match self.node.reach(&access)? {
            AccessStep::Wait => return Ok(None),
            AccessStep::Go => self.program_memory()?.read_word(address, size)?,
            AccessStep::Complete(_) => return Err(self.is_elsewhere("linked load", address)),
        };
        let core = self.node.core_mut();
        let block = core.block_of(u64::from(address.saturating_sub(SHARED_BASE)));
        core.threads[RUNNING].link = Some(Link { block, address, size, value, is_kept: true });
        Ok(Some(value))
    }

    /// A conditional store whose word was `loaded`, and that had its block when it began: whether the word is stored, once the node may store. It gets
    /// that far though the block has been lost meanwhile, since access that is granted is used.
    pub(super) fn store_if_linked(
        &mut self,
        (address, size): (u32, u32),
        value: u64,
        loaded: u64,
    ) -> Result<Option<bool>, ProgramFault> {
        let access = ProgramAccess { address, size, kind: AccessKind::Write, value, purpose: AccessFor::Itself };
        match self.node.reach(&access)? {
            AccessStep::Wait => return Ok(None),
            AccessStep::Go => {}
            AccessStep::Complete(_) => return Err(self.is_elsewhere("conditional store", address)),
        }
        let memory = self.program_memory()?;
        // Contents that came with the access are those of the load, or somebody has stored.
        let is_same = memory.read_word(address, size)? == loaded;
        let thread = &mut self.node.core_mut().threads[RUNNING];
        let is_linked = thread.link.as_mut().is_some_and(|link| std::mem::take(&mut link.is_kept));
        if thread.is_in_vain(is_same && !is_linked) {
            return Err(self.is_robbed(address));
        }
        if is_linked && is_same {
            memory.write_word(address, size, value)?;
        }
        Ok(Some(is_linked && is_same))
    }

    /// So many conditional stores in a row without a linked load of their word, none of which can succeed.
    pub(super) fn is_without_its_load(&mut self, address: u32) -> ProgramFault {
        let me = self.node.core().me;
        let what = format!(
            "node {me}: {MOST_IN_VAIN} conditional stores in a row at {address:#x}, and the last linked load was not of that word"
        );
        self.node.fail(
            NodeError::subject(Code::Program, what).help("load the word by trivium_load_linked32 before each try"),
        )
    }

    /// The protocol takes the copy away from a node that asks to store, so that no conditional store ever succeeds.
    fn is_robbed(&mut self, address: u32) -> ProgramFault {
        let core = self.node.core();
        let name = core.protocol_name_at(address);
        let what = format!(
            "node {}: {MOST_IN_VAIN} conditional stores in a row at {address:#x} have lost their copy while they asked for the block, under `{name}`",
            core.me
        );
        let help =
            "a protocol that takes the copy away from a node that asks to store needs trivium_load_linked_exclusive32";
        self.node.fail(NodeError::subject(Code::Program, what).help(help))
    }

    /// The protocol performs accesses where the block is: there is no copy to be lost.
    fn is_elsewhere(&mut self, what: &str, address: u32) -> ProgramFault {
        let core = self.node.core();
        let name = core.protocol_name_at(address);
        let what = format!(
            "node {}: a {what} at {address:#x}, under `{name}`, which performs it without a copy of the block",
            core.me
        );
        self.node.fail(
            NodeError::subject(Code::Program, what)
                .help("use trivium_compare_swap32 or another atomic operation there"),
        )
    }
}
