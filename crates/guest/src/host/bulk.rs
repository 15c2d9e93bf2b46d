//! `memory.copy`, `memory.fill` and `memory.init`: word by word, at the price of a loop.
//!
//! A piece is what lies in one aligned 8-byte word of the source and of the destination. For each piece an operation counts
//! its accesses and [`NodeState::round`] more as instructions, and polls. Both builds agree on every count.
//!
//! The fast build does at once what compiled code would do without asking: words that the [tags](crate::tags) allow, in pages that the
//! TLB holds, up to the next poll that must ask. The reference build asks for each piece.

use wasmtime::Result;

use super::running::{suspend, to_word_end};
use super::{Counter, NodeState};
use crate::processor::{AccessStep, Processor, ProgramFault};
use crate::weights::{Executed, OperatorClass};

impl<P: Processor> NodeState<P> {
    /// An access of a piece.
    fn one_access(&self) -> Executed {
        self.weights.one(OperatorClass::Memory)
    }

    /// What a piece takes besides its accesses: one instruction for the addresses, count and branch of a loop that is unrolled a few
    /// times.
    fn round(&self) -> Executed {
        self.weights.one(OperatorClass::Integer)
    }

    /// What a piece takes that is copied.
    fn copied(&self) -> Executed {
        self.one_access() * 2 + self.round()
    }

    /// What a piece takes that is only written.
    fn written(&self) -> Executed {
        self.one_access() + self.round()
    }

    /// Counts what a host function executes as the program's; the processor is to be asked something next.
    fn execute(&self, more: Executed) {
        self.executed.set(self.executed.get() + more);
    }

    /// The end of a piece.
    async fn go_round(&self) -> Result<()> {
        self.execute(self.round());
        loop {
            let step = self.processor.borrow_mut().poll(self.executed.get())?;
            self.wind_up();
            match step {
                AccessStep::Wait => suspend().await,
                AccessStep::Go | AccessStep::Complete(_) => return Ok(()),
            }
        }
    }

    async fn copy_piece(&self, to: u32, from: u32, size: u32) -> Result<()> {
        let mut word = [0; 8];
        let piece = &mut word[..size as usize];
        self.execute(self.one_access());
        self.read_piece(from, piece).await?;
        self.put_piece(to, piece).await
    }

    async fn put_piece(&self, to: u32, piece: &[u8]) -> Result<()> {
        self.execute(self.one_access());
        self.write_piece(to, piece).await?;
        self.go_round().await
    }

    /// How many pieces that take so much can go by before a poll must ask.
    fn pieces_until_poll(&self, piece: Executed) -> u64 {
        match &self.counter {
            Counter::Down(deadline) => deadline.get().saturating_sub(self.executed.get().work + 1) / piece.work,
            Counter::Up(_) => 0,
        }
    }

    /// So much has gone by without asking.
    fn went(&self, executed: Executed) {
        self.execute(executed);
        self.wind_up();
    }

    /// How many words may be copied without asking: from `from` on, or those that end there if it goes `down`; and into how many
    /// pieces each falls. None unless `from` is aligned.
    fn words_to_copy(&self, to: u32, from: u32, bytes: u32, down: bool) -> (u32, u64) {
        let Some(tags) = &self.tags else { return (0, 1) };
        let (astray, pieces) = if to.is_multiple_of(8) { (0, 1) } else { (1, 2) };
        let most = (self.pieces_until_poll(self.copied()) / pieces).min(u64::from(bytes / 8)) as u32;
        if !from.is_multiple_of(8) || most == 0 {
            return (0, pieces);
        }
        // What is not aligned lies in one word more.
        let words = if down {
            let words = tags.words_before(from, self.translated_before(from, most), false);
            let to = to.next_multiple_of(8);
            tags.words_before(to, self.translated_before(to, words + astray), true)
        } else {
            let words = tags.words_from(from, self.translated_from(from, most), false);
            let to = to & !7;
            tags.words_from(to, self.translated_from(to, words + astray), true)
        };
        (words.saturating_sub(astray), pieces)
    }

    /// How many words may be stored to without asking, from `to` on. None unless that is aligned.
    fn words_to_write(&self, to: u32, bytes: u32) -> u32 {
        let Some(tags) = &self.tags else { return 0 };
        let most = self.pieces_until_poll(self.written()).min(u64::from(bytes / 8)) as u32;
        if to.is_multiple_of(8) { tags.words_from(to, self.translated_from(to, most), true) } else { 0 }
    }

    /// How many of so many words from an address on the TLB translates, up to the first that it does not.
    fn translated_from(&self, address: u32, words: u32) -> u32 {
        self.translations.as_ref().map_or(words, |tlb| tlb.words_from(address, words))
    }

    /// The same of words that end there, from the last on.
    fn translated_before(&self, end: u32, words: u32) -> u32 {
        self.translations.as_ref().map_or(words, |tlb| tlb.words_before(end, words))
    }

    /// `memory.copy`: as if by the largest aligned pieces, upwards, or downwards if the ranges
    /// overlap so.
    pub(super) async fn copy(&self, to: u32, from: u32, bytes: u32) -> Result<()> {
        self.check(from, bytes.into(), "a copy")?;
        self.check(to, bytes.into(), "a copy")?;
        if to <= from || to >= from + bytes {
            let mut at = 0;
            while at < bytes {
                let (words, pieces) = self.words_to_copy(to + at, from + at, bytes - at, false);
                if words > 0 {
                    self.memory.copy(to + at, from + at, 8 * words)?;
                    self.went(self.copied() * (pieces * u64::from(words)));
                    at += 8 * words;
                    continue;
                }
                let size = to_word_end(from + at, to_word_end(to + at, bytes - at));
                self.copy_piece(to + at, from + at, size).await?;
                at += size;
            }
        } else {
            let mut left = bytes;
            while left > 0 {
                let (words, pieces) = self.words_to_copy(to + left, from + left, left, true);
                if words > 0 {
                    left -= 8 * words;
                    self.memory.copy(to + left, from + left, 8 * words)?;
                    self.went(self.copied() * (pieces * u64::from(words)));
                    continue;
                }
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
            let words = self.words_to_write(to + at, bytes - at);
            if words > 0 {
                self.memory.fill(to + at, byte, 8 * words)?;
                self.went(self.written() * u64::from(words));
                at += 8 * words;
                continue;
            }
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
        let data = data.ok_or_else(|| ProgramFault::new(format!("data segment {segment} was read beyond its end")))?;
        let mut at = 0;
        while at < bytes {
            let words = self.words_to_write(to + at, bytes - at);
            if words > 0 {
                self.memory.write(to + at, &data[at as usize..(at + 8 * words) as usize])?;
                self.went(self.written() * u64::from(words));
                at += 8 * words;
                continue;
            }
            let size = to_word_end(to + at, bytes - at);
            self.put_piece(to + at, &data[at as usize..(at + size) as usize]).await?;
            at += size;
        }
        Ok(())
    }
}
