//! What a node writes down of misses, for whoever asks who is to blame (`reports::blame`).

use super::NodeState;
use crate::reports::blame::{NOWHERE, Seen, WORD, Wanted};
use crate::reports::timeline::Work;
use trivium_engine::Object;
use trivium_engine::number::fit;
use trivium_guest::{AccessKind, SHARED_BASE, StackFrame};
use trivium_protocol::{Access, BLOCK};

impl NodeState {
    /// Whether what happens now is counted as of the region of interest.
    fn in_region(&self) -> bool {
        self.compute.region.is_some()
    }

    fn words_of_block(&self) -> u64 {
        self.shared.protocols.block / WORD
    }

    /// The program accesses shared memory.
    #[inline]
    pub(crate) fn blame_access(&mut self, address: u32, size: u32, kind: AccessKind) {
        if self.blame.is_some() && address >= SHARED_BASE {
            self.tell_access(u64::from(address - SHARED_BASE), size, kind);
        }
    }

    fn tell_access(&mut self, offset: u64, size: u32, kind: AccessKind) {
        let block = self.core.block_of(offset).id;
        let store = kind == AccessKind::Write;
        // Where several nodes may write at once, each store may be the one that another then reads.
        let every = !self.core.protocol_at(offset).is_some_and(|protocol| self.shared.protocols.watched[protocol]);
        let within = offset % self.shared.protocols.block;
        let word = |byte: u64| fit(byte / WORD, "a word of a block, of which there are at most 512");
        let (first, last) = (word(within), word(within + u64::from(size.max(1)) - 1));
        let (time, words) = (self.compute.clock(), self.words_of_block());
        let Some(log) = &mut self.blame else { return };
        if every && !log.words.contains_key(&block) {
            log.begin_anew(block, words);
        }
        if log.is_new(block, (first, last), store) || every && store {
            log.push(time, Seen::Access { block, first, last, store });
        }
    }

    /// Access control has stopped an access.
    pub(crate) fn blame_miss(&mut self, block: Object, kind: AccessKind, tag: Access) {
        let (time, counted, words) = (self.compute.clock(), self.in_region(), self.words_of_block());
        let Some(log) = &mut self.blame else { return };
        let wanted = match (kind, tag) {
            (AccessKind::Read, _) => Wanted::Read,
            (AccessKind::Write, Access::Read) => Wanted::Upgrade,
            (AccessKind::Write, _) => Wanted::Write,
        };
        log.push(time, Seen::Miss { block: block.id, wanted, tag, counted, site: NOWHERE });
        log.begin_anew(block.id, words);
        log.faulting = Some(log.misses);
        log.misses += 1;
    }

    /// Where in the program the latest miss was.
    pub(crate) fn blame_site(&mut self, frames: &[StackFrame]) {
        let shared = self.shared.clone();
        let Some(log) = &mut self.blame else { return };
        let latest = log.seen.iter_mut().rev().find_map(|(_, seen)| match seen {
            Seen::Miss { site, .. } => Some(site),
            _ => None,
        });
        if let Some(site) = latest.filter(|site| **site == NOWHERE && !frames.is_empty()) {
            *site = shared.sites.borrow_mut().number(frames.to_vec());
        }
    }

    /// The access of the latest miss goes on after so many cycles.
    pub(crate) fn blame_wait(&mut self, cycles: u64) {
        let (begun, counted) = (self.compute.clock(), self.in_region());
        if let Some(log) = &mut self.blame {
            // What the engine has done meanwhile stays where it is.
            let time = log.seen.back().map_or(begun, |entry| entry.0.max(begun));
            log.push(time, Seen::Waited { cycles, counted });
        }
    }

    /// A handler has completed the access of the latest miss.
    pub(crate) fn blame_completed(&mut self, block: Object) {
        let time = self.compute.clock();
        if let Some(log) = &mut self.blame {
            log.push(time, Seen::Completed { block: block.id });
        }
    }

    /// A tag has changed.
    #[inline]
    pub(crate) fn blame_tag(&mut self, block: Object, from: Access, to: Access, own: bool, time: u64) {
        if self.blame.is_some() {
            self.tell_tag(block, from, to, own, time);
        }
    }

    fn tell_tag(&mut self, block: Object, from: Access, to: Access, own: bool, time: u64) {
        let words = self.words_of_block();
        let Some(log) = &mut self.blame else { return };
        if from == to {
            return;
        }
        log.begin_anew(block.id, words);
        // What a handler changes twice is seen as it leaves it.
        if let Some((at, Seen::Tag { block: before, to: changed, .. })) = log.seen.back_mut()
            && (*at, *before) == (time, block.id)
        {
            *changed = to;
            return;
        }
        log.push(time, Seen::Tag { block: block.id, from, to, own });
    }

    /// A handler has sent a message about an object.
    pub(crate) fn blame_sent(&mut self, run: Option<&Work>, object: Object) {
        let (time, counted) = (self.now, self.in_region());
        let Some(log) = &mut self.blame else { return };
        let block = (object.kind == BLOCK).then_some(object.id);
        log.push(time, Seen::Sent { origin: run.and_then(|run| run.origin), block, counted });
    }
}
