//! What handlers are told of outgoing queues (`docs/semantics.md`, section 5). Which messages that are on their way have not left the queue is no part of a
//! state: where both answers are possible, the rule fires once with each, a binary digit of its `way` ([`super::late`]), and later answers agree
//! with what has been told. What is known meanwhile is in variables that have their first values again when the rule has fired.

use super::Export;
use super::lines::Lines;
use std::collections::BTreeSet;
use trivium_check::ConfigError;
use trivium_protocol::walk::each_look;
use trivium_protocol::{EventKind, ExprKind, Protocol, RoleId, StateId};

/// Places of all queues that are asked about, at most: so many answers an event may get, and a rule fires in two ways for each.
const MOST_PLACES: u32 = 10;

/// The outgoing queues in which a protocol's handlers ask for room.
pub(super) fn asked(protocol: &Protocol) -> Vec<usize> {
    let mut lanes = BTreeSet::new();
    each_look(protocol, &mut |expr| match expr.kind {
        ExprKind::Room(lane, _) if protocol.lanes[lane.index()].queues => drop(lanes.insert(lane.index())),
        _ => {}
    });
    lanes.into_iter().collect()
}

impl Export<'_> {
    /// Places of a queue in which handlers ask for room; none if they do not.
    pub fn places_asked(&self, lane: usize) -> Option<u32> {
        self.model.lanes[lane].capacity.filter(|_| self.asked.contains(&lane))
    }

    fn queues_asked(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.asked.iter().filter_map(|&lane| Some((lane, self.places_asked(lane)?)))
    }

    /// Refuses queues of so many places that a rule would fire in too many ways.
    pub fn check_queues(&self) -> Result<(), ConfigError> {
        let places: u32 = self.queues_asked().map(|(_, places)| places).fold(0, u32::saturating_add);
        if places <= MOST_PLACES {
            return Ok(());
        }
        let lanes: Vec<&str> = self.asked.iter().map(|&lane| self.protocol().lanes[lane].name.as_str()).collect();
        Err(ConfigError::new(
            format!("queues of {places} places cannot be exported"),
            format!(
                "handlers ask for room on `{}`, and a rule fires in two ways for each place: let the queues have {MOST_PLACES} places at most",
                lanes.join("`, `")
            ),
        ))
    }

    /// In how many ways the questions of one event can be answered: a queue's answers with two sides are at most as many as its places.
    pub fn ways_of_answers(&self) -> u64 {
        self.queues_asked().fold(1, |ways, (_, places)| ways << places)
    }

    /// Variables of each queue, while a rule fires: whether anything is known of it, the least and the most messages that were on their way and may still be
    /// in it, those sent meanwhile, and the places that dispatch has kept.
    pub fn queue_variables(&self, out: &mut Lines) {
        for (lane, places) in self.queues_asked() {
            out.line(format!("known{lane}: boolean; -- of an outgoing queue, while a rule fires"));
            for name in ["least", "most", "mine", "kept"] {
                out.line(format!("{name}{lane}: 0..{places};"));
            }
        }
    }

    /// Nothing is known of any queue.
    pub fn forget_queues(&self, out: &mut Lines) {
        for (lane, _) in self.queues_asked() {
            out.line(format!("known{lane} := false;"));
            ["least", "most", "mine", "kept"].iter().for_each(|name| out.line(format!("{name}{lane} := 0;")));
        }
    }

    /// An event is dispatched to a role in a state: places are kept for what its handlers may send unasked.
    pub fn keep_places(&self, event: EventKind, role: RoleId, state: usize, out: &mut Lines) {
        let needed = self.engine().room_needed(event, role, StateId::at(state));
        for (lane, _) in self.queues_asked() {
            out.line(format!("kept{lane} := {};", needed.get(lane).copied().unwrap_or(0)));
        }
    }

    /// The routines of a queue in which handlers ask for room.
    pub fn queue_routines(&self, lane: usize, out: &mut Lines) {
        let Some(places) = self.places_asked(lane) else { return };
        out.routine(&format!("procedure look{lane}(me: Node)"), &["n: Int".into()], |out| {
            out.open(format!("if !known{lane} then"));
            out.line(format!("known{lane} := true;"));
            out.line(format!("n := sent{lane}(me) - mine{lane};"));
            out.line(format!("if n > {places} - kept{lane} then n := {places} - kept{lane}; end;"));
            out.line(format!("most{lane} := n;"));
            out.close("end;");
        });
        let locals = ["fits: Int".to_string(), "digit: Int".to_string()];
        out.routine(&format!("function asked{lane}(me: Node; count: Int): boolean"), &locals, |out| {
            out.line(format!("look{lane}(me);"));
            out.line(format!("fits := {places} - mine{lane} - count;"));
            out.line(format!("if most{lane} <= fits then return true; end;"));
            out.line(format!("if least{lane} > fits then return false; end;"));
            out.line("digit := chosen % 2;");
            out.line("chosen := chosen / 2;");
            out.line(format!("if digit = 1 then most{lane} := fits; return true; end;"));
            out.line(format!("least{lane} := fits + 1;"));
            out.line("return false;");
        });
        out.routine(&format!("procedure takes{lane}(me: Node)"), &["fits: Int".into()], |out| {
            out.line(format!("look{lane}(me);"));
            out.line(format!("fits := {places} - mine{lane} - 1;"));
            out.line(format!("if least{lane} > fits then error \"fault: a message on a lane that is full\"; end;"));
            out.line(format!("if most{lane} > fits then most{lane} := fits; end;"));
        });
    }
}
