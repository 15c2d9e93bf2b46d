//! Who is to blame for misses: what the nodes saw, in the order of time.

use super::{Runner, World};
use crate::reports::blame::{Blamed, Seen};
use trivium_engine::Node;
use trivium_node::shared_u32;

impl World {
    /// Decides of misses by what all nodes saw before a cycle; nothing happens before that any more.
    pub(super) fn look_at_misses(&mut self, cycle: u64) {
        let Some(judge) = &mut self.judge else { return };
        let mut seen: Vec<(u64, Node, Seen)> = Vec::new();
        for node in &self.nodes {
            let mut node = node.borrow_mut();
            let me = node.core.me;
            if let Some(log) = &mut node.blame {
                seen.extend(log.before(cycle).map(|(time, seen)| (time, me, seen)));
            }
        }
        seen.sort_by_key(|(time, node, _)| (*time, *node));
        let space = self.space.borrow();
        let region = |block: u32| space.region_of(u64::from(block) * self.shared.protocols.block);
        seen.into_iter().for_each(|(_, node, seen)| judge.hear(node, seen, region));
    }

    /// The report, once the run is over.
    pub(crate) fn blamed(&mut self) -> Option<Blamed> {
        self.look_at_misses(u64::MAX);
        let judge = self.judge.take()?;
        let counts_regions =
            |node: &crate::node::NodeState| node.compute.region.is_some() || node.compute.regions.is_some();
        let by_region: Vec<bool> = self.nodes.iter().map(|node| counts_regions(&node.borrow())).collect();
        let map = self.runners.iter().find_map(|runner| match runner {
            Runner::Program(program) => program.debug_info(),
            Runner::Script(_) => None,
        });
        let (space, sites) = (self.space.borrow(), self.shared.sites.borrow());
        let block = u64::from(shared_u32(self.shared.protocols.block));
        Some(judge.report(&by_region, &space, &sites, block, map.as_ref()))
    }
}
