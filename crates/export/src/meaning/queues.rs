//! What handlers are told of outgoing queues (`docs/semantics.md`, section 5). Which messages that are on their way have not left the queue is no part of a
//! state: where both answers are possible, the rule fires once with each, a binary digit of its `way` ([`super::late`]), and later answers agree
//! with what has been told. What is known meanwhile is in variables that have their first values again when the rule has fired.

use super::Export;
use super::names::{CALLS, CHOSEN, DIGIT, FITS, INT, ME, N, NODES};
use crate::model::Term;
use crate::model::{BOOLEAN, Block, Expr, Name, Program, call, function, name, procedure, range};
use std::collections::BTreeSet;
use trivium_diagnostic::Diagnostic;

use crate::refused;
use trivium_protocol::walk::each_look;
use trivium_protocol::{EventKind, ExprKind, Protocol, RoleId, StateId};

/// Places of all queues that are asked about, at most: so many answers an event may get, and a rule fires in two ways for each.
const MOST_PLACES: u32 = 10;

/// The outgoing queues in which a protocol's handlers ask for room.
pub(super) fn asked(protocol: &Protocol) -> Vec<usize> {
    let mut lanes = BTreeSet::new();
    each_look(protocol, &mut |expr| match expr.kind {
        ExprKind::Room(lane, ..) if protocol.lanes[lane.index()].queues => drop(lanes.insert(lane.index())),
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

    /// Refuses queues that lanes share, and queues of so many places that a rule would fire in too many ways.
    pub fn check_queues(&self) -> Result<(), Diagnostic> {
        if let Some(shared) = self.model.shared.first().filter(|_| !self.asked.is_empty()) {
            let declared = &self.protocol().shares[shared.number];
            return Err(refused(
                format!(
                    "the lanes {} share a queue of {} places, which cannot be exported",
                    self.protocol().names_of_shared(declared),
                    shared.places
                ),
                "let them share as many places as they have together, which exports them as queues of their own; `check` explores what they share",
            ));
        }
        let places: u32 = self.queues_asked().map(|(_, places)| places).fold(0, u32::saturating_add);
        if places <= MOST_PLACES {
            return Ok(());
        }
        let lanes: Vec<&str> = self.asked.iter().map(|&lane| self.protocol().lanes[lane].name.as_str()).collect();
        Err(refused(
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

    /// While a rule fires: whether anything is known of a queue.
    fn known(lane: usize) -> Name {
        name(format!("known{lane}"))
    }

    /// The least number of messages that were on their way and may still be in the queue.
    fn least(lane: usize) -> Name {
        name(format!("least{lane}"))
    }

    /// The greatest number of them.
    fn most(lane: usize) -> Name {
        name(format!("most{lane}"))
    }

    /// Messages that were sent meanwhile.
    pub fn mine(lane: usize) -> Name {
        name(format!("mine{lane}"))
    }

    /// Places that dispatch has kept.
    fn kept_places(lane: usize) -> Name {
        name(format!("kept{lane}"))
    }

    /// All of these that are numbers.
    fn numbers_of_queue(lane: usize) -> [Name; 4] {
        [Self::least(lane), Self::most(lane), Self::mine(lane), Self::kept_places(lane)]
    }

    pub fn queue_variables(&self, program: &mut Program) {
        for (lane, places) in self.queues_asked() {
            program.variable_for("of an outgoing queue, while a rule fires", Self::known(lane), BOOLEAN);
            Self::numbers_of_queue(lane).into_iter().for_each(|number| program.variable(number, range(0, places)));
        }
    }

    /// Nothing is known of any queue.
    pub fn forget_queues(&self, out: &mut Block) {
        for (lane, _) in self.queues_asked() {
            out.assign(Self::known(lane), false);
            Self::numbers_of_queue(lane).into_iter().for_each(|number| out.assign(number, 0));
        }
    }

    /// An event is dispatched to a role in a state: places are kept for what its handlers may send unasked.
    pub fn keep_places(&self, event: EventKind, role: RoleId, state: usize, out: &mut Block) {
        let needed = self.engine().room_needed(event, role, StateId::at(state));
        for (lane, _) in self.queues_asked() {
            out.assign(Self::kept_places(lane), needed.get(lane).copied().unwrap_or(0));
        }
    }

    /// The routines of a queue in which handlers ask for room.
    pub fn queue_routines(&self, lane: usize, program: &mut Program) {
        let Some(places) = self.places_asked(lane) else { return };
        let places = Expr::from(places);
        let (known, mine) = (Self::known(lane), Self::mine(lane));
        let (least, most) = (Self::least(lane), Self::most(lane));
        let look = |out: &mut Block| out.call(format!("look{lane}"), ME);
        program.define(procedure(format!("look{lane}")).takes(ME, NODES).local(N, INT), |out| {
            out.when(!&known, |out| {
                let left = &places - Self::kept_places(lane);
                out.assign(&known, true);
                out.assign(N, call(format!("sent{lane}"), ME) - &mine);
                out.when(N.gt(&left), |out| out.assign(N, left));
                out.assign(&most, N);
            });
        });
        let head = function(format!("asked{lane}"), BOOLEAN).takes(ME, NODES).takes(CALLS, INT);
        program.define(head.local(FITS, INT).local(DIGIT, INT), |out| {
            look(out);
            out.assign(FITS, &places - &mine - CALLS);
            out.when((&most).le(FITS), |out| out.give(true));
            out.when((&least).gt(FITS), |out| out.give(false));
            out.assign(DIGIT, CHOSEN % 2);
            out.assign(CHOSEN, CHOSEN / 2);
            out.when(DIGIT.is(1), |out| {
                out.assign(&most, FITS);
                out.give(true);
            });
            out.assign(&least, FITS + 1);
            out.give(false);
        });
        program.define(procedure(format!("takes{lane}")).takes(ME, NODES).local(FITS, INT), |out| {
            look(out);
            out.assign(FITS, &places - &mine - 1);
            out.refuse((&least).gt(FITS), "fault: a message on a lane that is full");
            out.when((&most).gt(FITS), |out| out.assign(&most, FITS));
        });
    }
}
