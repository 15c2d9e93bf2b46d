//! What a host function does that may have to wait: calls, and memory by the word.

use std::pin::Pin;
use std::task::{Context, Poll};

use wasmtime::Result;

use super::NodeState;
use crate::memory::SHARED_BASE;
use crate::processor::{AccessKind, AccessStep, Call, CallStep, LoadStore, Processor};

/// Pending, once: the node is to wait.
pub(super) struct Suspend {
    done: bool,
}

impl Future for Suspend {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.done, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

pub(super) fn suspend() -> Suspend {
    Suspend { done: false }
}

/// How many of `bytes` bytes from `addr` on lie in its aligned 8-byte word.
pub(super) fn to_word_end(addr: u32, bytes: u32) -> u32 {
    bytes.min(8 - addr % 8)
}

impl<P: Processor> NodeState<P> {
    /// Makes a call, waiting as often as the processor wants.
    pub(super) async fn call(&self, call: Call) -> Result<i64> {
        loop {
            let step = self.processor.borrow_mut().call(self.executed.get(), &call)?;
            self.wind_up();
            match step {
                CallStep::Done(value) => return Ok(value),
                CallStep::Wait => suspend().await,
            }
        }
    }

    /// Waits until an access may happen; the bits if the processor has completed it itself.
    async fn grant(&self, access: LoadStore) -> Result<Option<u64>> {
        loop {
            let step = self.processor.borrow_mut().access(self.executed.get(), access)?;
            self.wind_up();
            match step {
                AccessStep::Go => return Ok(None),
                AccessStep::Complete(bits) => return Ok(Some(bits)),
                AccessStep::Wait => suspend().await,
            }
        }
    }

    pub(super) fn check(&self, addr: u32, bytes: u64, what: &str) -> Result<()> {
        if self.is_in_bounds(u64::from(addr), bytes) {
            return Ok(());
        }
        Err(self.out_of_bounds(u64::from(addr), bytes, what).into())
    }

    /// Reads within one aligned 8-byte word.
    pub(super) async fn read_piece(&self, addr: u32, into: &mut [u8]) -> Result<()> {
        let access = LoadStore { addr, size: into.len() as u32, kind: AccessKind::Read, value: 0 };
        match self.grant(access).await? {
            None => self.memory.read(addr, into)?,
            Some(bits) => into.copy_from_slice(&bits.to_le_bytes()[..into.len()]),
        }
        Ok(())
    }

    /// Writes within one aligned 8-byte word.
    pub(super) async fn write_piece(&self, addr: u32, bytes: &[u8]) -> Result<()> {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let value = u64::from_le_bytes(word);
        let access = LoadStore { addr, size: bytes.len() as u32, kind: AccessKind::Write, value };
        if self.grant(access).await?.is_none() {
            self.memory.write(addr, bytes)?;
        }
        Ok(())
    }

    /// Reads, word by word, what is known to be in bounds.
    pub(super) async fn read_pieces(&self, addr: u32, into: &mut [u8]) -> Result<()> {
        let mut at = 0;
        while at < into.len() {
            let here = addr + at as u32;
            let end = at + to_word_end(here, (into.len() - at) as u32) as usize;
            self.read_piece(here, &mut into[at..end]).await?;
            at = end;
        }
        Ok(())
    }

    /// Writes, word by word, what is known to be in bounds.
    pub(super) async fn write_pieces(&self, addr: u32, bytes: &[u8]) -> Result<()> {
        let mut at = 0;
        while at < bytes.len() {
            let here = addr + at as u32;
            let end = at + to_word_end(here, (bytes.len() - at) as u32) as usize;
            self.write_piece(here, &bytes[at..end]).await?;
            at = end;
        }
        Ok(())
    }

    /// Reads an argument of a call out of memory. What lies in private memory is read as it is:
    /// the host's own work is not the program's.
    pub(super) async fn read_bytes(&self, addr: u32, bytes: u32) -> Result<Vec<u8>> {
        self.check(addr, bytes.into(), "a read by the system")?;
        let mut read = vec![0; bytes as usize];
        if addr >= SHARED_BASE {
            self.read_pieces(addr, &mut read).await?;
        } else {
            self.memory.read(addr, &mut read)?;
        }
        Ok(read)
    }

    /// Writes a result of a call to memory; see [`Host::read_bytes`].
    pub(super) async fn write_bytes(&self, addr: u32, bytes: &[u8]) -> Result<()> {
        self.check(addr, bytes.len() as u64, "a write by the system")?;
        if addr >= SHARED_BASE {
            self.write_pieces(addr, bytes).await?;
        } else {
            self.memory.write(addr, bytes)?;
        }
        Ok(())
    }

    /// A C string, at most 4096 bytes of it.
    pub(super) async fn read_string(&self, addr: u32) -> Result<String> {
        let mut bytes = Vec::new();
        while bytes.len() < 4096 {
            let byte = self.read_bytes(addr.wrapping_add(bytes.len() as u32), 1).await?[0];
            if byte == 0 {
                break;
            }
            bytes.push(byte);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
