//! `memory.copy`, `memory.fill` and `memory.init`: word by word, at the price of a loop.
//!
//! A piece is what lies in one aligned 8-byte word of the source and of the destination. For each piece an operation counts
//! its accesses and [`LOOP`] more as instructions, and polls. In both builds this is the same code, so that they agree on
//! every count.

use wasmtime::Result;

use super::NodeState;
use super::running::{suspend, to_word_end};
use crate::processor::{Fault, Processor, Step};

/// Instructions of a piece besides its accesses: addresses, count and branch of a loop that is unrolled a few times.
const LOOP: u64 = 1;

impl<P: Processor> NodeState<P> {
    /// Counts instructions of a host function as the program's; the processor is to be asked something next.
    fn execute(&self, instructions: u64) {
        self.instructions.set(self.instructions.get() + instructions);
    }

    /// The end of a piece.
    async fn go_round(&self) -> Result<()> {
        self.execute(LOOP);
        loop {
            let step = self.processor.borrow_mut().poll(self.instructions.get())?;
            self.wind_up();
            match step {
                Step::Wait => suspend().await,
                Step::Go | Step::Complete(_) => return Ok(()),
            }
        }
    }

    async fn copy_piece(&self, to: u32, from: u32, size: u32) -> Result<()> {
        let mut word = [0; 8];
        let piece = &mut word[..size as usize];
        self.execute(1);
        self.read_piece(from, piece).await?;
        self.put_piece(to, piece).await
    }

    async fn put_piece(&self, to: u32, piece: &[u8]) -> Result<()> {
        self.execute(1);
        self.write_piece(to, piece).await?;
        self.go_round().await
    }

    /// `memory.copy`: as if by the largest aligned pieces, upwards, or downwards if the ranges
    /// overlap so.
    pub(super) async fn copy(&self, to: u32, from: u32, bytes: u32) -> Result<()> {
        self.check(from, bytes.into(), "a copy")?;
        self.check(to, bytes.into(), "a copy")?;
        if to <= from || to >= from + bytes {
            let mut at = 0;
            while at < bytes {
                let size = to_word_end(from + at, to_word_end(to + at, bytes - at));
                self.copy_piece(to + at, from + at, size).await?;
                at += size;
            }
        } else {
            let mut left = bytes;
            while left > 0 {
                let in_word = |end: u32| (end - 1) % 8 + 1;
                let size = left.min(in_word(from + left)).min(in_word(to + left));
                left -= size;
                self.copy_piece(to + left, from + left, size).await?;
            }
        }
        Ok(())
    }

    /// `memory.fill`.
    pub(super) async fn fill(&self, to: u32, byte: u8, bytes: u32) -> Result<()> {
        self.check(to, bytes.into(), "a fill")?;
        let mut at = 0;
        while at < bytes {
            let size = to_word_end(to + at, bytes - at);
            self.put_piece(to + at, &[byte; 8][..size as usize]).await?;
            at += size;
        }
        Ok(())
    }

    /// `memory.init`: as a fill, with what lies in a data segment, of which the rewritten program has looked that there is so
    /// much.
    pub(super) async fn init(&self, to: u32, segment: usize, from: u32, bytes: u32) -> Result<()> {
        self.check(to, bytes.into(), "initialisation from a data segment")?;
        let (from, length) = (from as usize, bytes as usize);
        let data = self.program.data.get(segment).and_then(|data| data.get(from..)?.get(..length));
        let data = data.ok_or_else(|| Fault::new(format!("data segment {segment} was read beyond its end")))?;
        let mut at = 0;
        while at < bytes {
            let size = to_word_end(to + at, bytes - at);
            self.put_piece(to + at, &data[at as usize..(at + size) as usize]).await?;
            at += size;
        }
        Ok(())
    }
}
