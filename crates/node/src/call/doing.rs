//! What a thread does, in words.

use super::stood::{AT_BARRIER, has_left};
use crate::records::Protocols;
use crate::thread::{Thread, Wait};
use trivium_guest::SHARED_BASE;

impl Thread {
    /// What it does, in words; `data` tells of so many bytes from an address on.
    pub fn doing(&self, protocols: &Protocols, data: impl FnOnce(u32, u32) -> String) -> String {
        match self.wait {
            None => "runs".into(),
            Some(Wait::End(exit_code)) => has_left(exit_code),
            Some(Wait::Barrier(_)) => AT_BARRIER.into(),
            Some(Wait::Page(page)) => format!("waits for the home of page {page}"),
            Some(Wait::Frame(page)) => format!("waits for the frame of page {page}, which is being given up"),
            Some(Wait::Told) => match self.told {
                Some((protocol, op)) => {
                    format!("waits until its engine hears of {}", protocols.call_name(protocol, op))
                }
                None => "waits for its engine".into(),
            },
            Some(Wait::Answer) => "waits for an answer to one of its prefetches".into(),
            Some(Wait::Sleep(_)) => "sleeps".into(),
            Some(Wait::Change { block, address, size }) => {
                format!("waits for a word of block {} to change: {}", block.id, data(address, size))
            }
            Some(Wait::Access(block)) => {
                let what = if self.loads() { "load" } else { "store" };
                let address = u64::from(SHARED_BASE) + self.pending.address;
                let data = data(u32::try_from(address).unwrap_or(u32::MAX), self.pending.size.into());
                format!("waits for access to block {}, a {what} of {data}", block.id)
            }
            Some(Wait::Call { protocol, op, object }) => {
                format!("waits in {} of object {}", protocols.call_name(protocol, op), object.id)
            }
        }
    }
}
