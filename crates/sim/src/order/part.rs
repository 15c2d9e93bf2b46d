//! What a host thread needs of its part of a world.

use super::{Arrivals, Runner, World, reach};
use crate::events::{Arrival, Envelope, Post, Posted};
use crate::order::letter::Receivers;
use std::collections::BTreeMap;
use trivium_engine::Node;
use trivium_guest::FileChange;
use trivium_node::{NodeError, SpaceCall};
use trivium_protocol::BLOCK;

impl World {
    /// Simulates a window, or up to where other parts can be felt, of which none does anything before cycle `others`; it is
    /// not worth it for less than `least` cycles. Whether anything went on.
    pub(crate) fn run_part(&mut self, others: u64, least: u64) -> bool {
        self.active.clear();
        let Some((now, _)) = self.earliest() else { return false };
        let limit = others.min(now).saturating_add(self.window);
        if now >= self.max_cycles || limit < now.saturating_add(least.max(1)) {
            return false;
        }
        self.run_window(limit.min(self.max_cycles));
        self.collect_watched();
        true
    }

    /// For how many cycles a node is simulated beyond the others.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// The least time in which one node can affect another.
    pub(crate) fn lookahead(&self) -> u64 {
        self.shared.machine.lookahead()
    }

    /// Whether something went wrong.
    pub(crate) fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }

    /// When something next happens on one of its nodes; `u64::MAX` if nothing does.
    pub(crate) fn next(&mut self) -> u64 {
        self.earliest().map_or(u64::MAX, |earliest| earliest.0)
    }

    /// The arrivals of all nodes at the hardware barrier, if they all have arrived.
    pub(crate) fn arrivals(&self) -> Option<Arrivals> {
        if self.arrived_count < self.nodes.len() {
            return None;
        }
        let all = self
            .arrived
            .iter()
            .flatten()
            .map(|&(last, purpose)| Arrivals { count: 1, last, purpose: Some(purpose) })
            .fold(Arrivals::default(), Arrivals::and);
        Some(all)
    }

    /// Its allocations, and what was freed, from the `known`-th on.
    pub(crate) fn allocations_from(&self, known: usize) -> Vec<(usize, SpaceCall)> {
        self.space.borrow().calls_from(known)
    }

    /// What a node's program has changed of its folder.
    pub(crate) fn changes_of(&self, node: usize) -> BTreeMap<String, FileChange> {
        match &self.runners[node] {
            Runner::Program(program) => program.changes(),
            Runner::Script(_) => BTreeMap::new(),
        }
    }

    /// Where the page lies that a message is about, if it is placed by first touch: its receiver's part may not know.
    pub(crate) fn first_touched(&self, post: &Post) -> Option<(usize, Node)> {
        let Posted::Arrival(Arrival::Message(envelope)) = &post.what else { return None };
        let space = self.space.borrow();
        let offset = u64::from(envelope.object.id) * self.shared.protocols.block;
        let page = space.page_of(offset);
        let placed = envelope.object.kind == BLOCK && space.by_first_touch(page);
        placed.then(|| space.home(offset)).flatten().map(|home| (page, home))
    }

    /// Where pages lie that messages of another part are about. Pages that move do so before anybody hears of it, so what was sent later is true.
    pub(crate) fn learn_homes(&mut self, homes: &[(usize, Node)]) {
        homes.iter().for_each(|&(page, home)| {
            self.space.borrow_mut().claim(page, home);
        });
    }

    /// How many of these it knows.
    pub(crate) fn allocations(&self) -> usize {
        self.space.borrow().calls()
    }

    /// Allocations that nodes of other parts have made.
    ///
    /// # Errors
    /// They differ from those of this part's nodes.
    pub(crate) fn allocate(&mut self, made: &[(usize, SpaceCall)]) -> Result<(), NodeError> {
        let mut space = self.space.borrow_mut();
        made.iter().try_for_each(|&(index, call)| {
            space.perform(0, index, call)?;
            Ok(())
        })
    }

    /// A box that a message from one of its nodes has left.
    pub(crate) fn keep(&mut self, envelope: Box<Envelope>) {
        self.shared.spare.borrow_mut().keep_envelope(envelope);
    }
}

/// What nodes of other parts have posted.
impl Receivers for World {
    fn envelope(&mut self) -> Box<Envelope> {
        self.shared.spare.borrow_mut().envelope()
    }

    fn accept(&mut self, post: Post) {
        let to = usize::from(post.to) - self.first;
        let mut node = self.nodes[to].borrow_mut();
        reach(&mut self.positions[to], &node, &post, self.window);
        node.accept(post);
    }
}
