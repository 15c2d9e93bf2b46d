//! Homes of pages that are placed by first touch: who asks for them, and how a page gets to its new home after the parallel
//! start (`docs/semantics.md`, section 1).

use super::NodeState;
use crate::events::{Posted, Signal};
use crate::reports::counters::Spent;
use trivium_diagnostic::Code;
use trivium_engine::number::index;
use trivium_engine::{Node, Object};
use trivium_node::{Claimed, Mapped, NodeError, Wait};
use trivium_protocol::BLOCK;

impl NodeState {
    /// Whether the home of the page is known; if not, the processor waits until it is.
    pub(crate) fn map(&mut self, offset: u64, spent: Spent) -> bool {
        let page = self.core.space.borrow().page_of(offset);
        if self.core.pages.is_known(page) {
            return true;
        }
        if !self.core.space.borrow().by_first_touch(page) {
            self.core.pages.put(page, Mapped::Yes);
            return true;
        }
        let manager = self.core.space.borrow().manager(page);
        // Behind the parallel start no page is claimed before all nodes have started, even if the network takes no time.
        let latency = self.shared.machine.network.latency.max(u64::from(self.core.has_started));
        let at = self.compute.clock() + latency;
        self.post(manager, at, Posted::Signal(Signal::Claim { page, by: self.core.me }));
        self.wait(Wait::Page(page), spent);
        false
    }

    /// A message about an object has come: its sender knows the object's home, and so does this node from now on.
    pub(super) fn hear_of(&mut self, object: Object) {
        if object.kind != BLOCK {
            return;
        }
        let offset = self.core.offset_of(object);
        let page = self.core.space.borrow().page_of(offset);
        if self.core.pages.is_known(page) || self.core.space.borrow().home(offset).is_none() {
            return;
        }
        self.core.pages.put(page, Mapped::Yes);
    }

    /// The handler that began at cycle `start` has met no block whose home this node does not know.
    ///
    /// # Errors
    /// It has.
    pub(super) fn check_homes(&self, start: u64) -> Result<(), NodeError> {
        self.core.check_homes(&format_args!("node {}, cycle {start}", self.core.me))
    }

    /// A node claims a page whose manager this one is. Nobody hears of a home before the page's contents are there.
    pub(super) fn claimed(&mut self, page: usize, by: Node) -> Result<(), NodeError> {
        let (now, latency) = (self.now, self.shared.machine.network.latency);
        let Claimed { home, contents_at } = self.core.space.borrow_mut().claim(page, by);
        let Some(old) = contents_at else {
            let there = self.blocks.arriving.get(&page).copied().unwrap_or(0);
            self.post(by, there.max(now + latency), Posted::Signal(Signal::Placed { page, home, contents: None }));
            return Ok(());
        };
        let heard = if old == self.core.me { now } else { now + latency };
        let at = heard + latency + self.time_of_contents();
        self.blocks.arriving.insert(page, at);
        if old == self.core.me {
            return self.move_page(page, home, at);
        }
        self.post(old, heard, Posted::Signal(Signal::Move { page, to: home, at }));
        Ok(())
    }

    /// Cycles for a page's contents, granule by granule out of one memory and into the other, besides the network's latency.
    fn time_of_contents(&self) -> u64 {
        let machine = &self.shared.machine;
        let granule = machine.prices.fetch.keep.cycles + machine.prices.install.keep.cycles;
        machine.network.data_latency + machine.granules(self.core.space.borrow().page_bytes()) * granule
    }

    /// A page leaves this node, which was its home, and is at its new one at cycle `at`.
    pub(super) fn move_page(&mut self, page: usize, to: Node, at: u64) -> Result<(), NodeError> {
        let bytes = self.core.space.borrow().page_bytes();
        let mut contents = vec![0; index(bytes)];
        self.core
            .memory
            .read(page as u64 * bytes, &mut contents)
            .map_err(|what| NodeError::subject(Code::Fault, what))?;
        self.post(to, at, Posted::Signal(Signal::Placed { page, home: to, contents: Some(contents) }));
        Ok(())
    }

    /// A page that this node has claimed has a home, perhaps here.
    pub(super) fn placed(&mut self, page: usize, home: Node, contents: Option<Vec<u8>>) -> Result<(), NodeError> {
        let bytes = self.core.space.borrow().page_bytes();
        if let Some(contents) = contents {
            self.core
                .memory
                .write(page as u64 * bytes, &contents)
                .map_err(|what| NodeError::subject(Code::Fault, what))?;
        }
        self.core.space.borrow_mut().claim(page, home);
        self.core.pages.put(page, Mapped::Yes);
        if self.thread().wait == Some(Wait::Page(page)) {
            self.wake(self.now, &None);
        }
        Ok(())
    }
}
