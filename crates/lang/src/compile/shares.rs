//! Outgoing queues that lanes share.

use super::Compiler;
use crate::ast::{self, Item};
use trivium_diagnostic::Code;
use trivium_protocol::{Lane, LaneId, MAX_NODES, SharedQueue};

impl Compiler {
    /// The queues that a file declares, when its lanes are known.
    pub(super) fn shares(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Share { lanes, places } = item else { continue };
            let mut found = Vec::new();
            for lane in lanes {
                if let Some(id) = self.lane_of(lane)
                    && self.may_share(lane, id, &found)
                {
                    found.push(id);
                }
            }
            let Some(holds) = self.formula(places) else { continue };
            // A lane that is none has been told.
            if found.len() < lanes.len() {
                continue;
            }
            if let [alone] = &lanes[..] {
                self.error(Code::Lane, alone.span, "one lane shares its queue with nobody")
                    .help("name the others, or say `queues N` of the lane and leave `share` out");
                continue;
            }
            let shared = SharedQueue { lanes: found, holds, span: lanes[0].span };
            if (1..=MAX_NODES).all(|nodes| shared.places(nodes).is_none()) {
                let (most, holds) = (Lane::MOST, &shared.holds);
                let what = format!("lanes share 1 to {most} places, not {holds}");
                self.error(Code::Lane, places.span, what).help("give each of them a place at least");
                continue;
            }
            self.protocol.shares.push(shared);
        }
    }

    /// Whether a lane may stand in a queue beside these others.
    fn may_share(&mut self, lane: &ast::Ident, id: LaneId, others: &[LaneId]) -> bool {
        let name = &lane.text;
        let (what, help) = if !self.protocol.lanes[id.index()].queues {
            (
                format!("lane `{name}` is no outgoing queue"),
                format!(
                    "declare it `lane {name} queues N`: places that are free only when messages are handled cannot be shared"
                ),
            )
        } else if others.contains(&id) || self.protocol.share_of(id).is_some() {
            (
                format!("lane `{name}` shares its queue already"),
                "name each lane once: it stands in one queue".to_string(),
            )
        } else {
            return true;
        };
        self.error(Code::Lane, lane.span, what).help(help);
        false
    }
}
