//! The first record of an instance: what a role's `initially` makes of one that nobody has touched
//! (`docs/semantics.md`, section 1).

use crate::engine::Engine;
use crate::event::Event;
use crate::fault::{Fault, Trouble, place};
use crate::frame::LargeRoom;
use crate::mechanisms::{
    Args, Charge, ClockMechanisms, HandlerAccess, LineMechanisms, MemoryMechanisms, NetworkMechanisms, Node, Object,
    Outgoing, Payload, Pending, RecordMechanisms, Thread, ThreadMechanisms,
};
use crate::run::{Run, Start};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, EventKind, LaneId, Line, NODE, RoleId, StateId, TaskId};

impl Engine {
    /// Whether the role says what its records are at first. Those of others are all zero.
    #[inline]
    pub fn has_initially(&self, role: RoleId) -> bool {
        self.protocol.roles[role.index()].initially.is_some()
    }

    /// The record of an instance on node `me` that nobody has touched. `way` hears which way each branch and loop goes.
    ///
    /// # Errors
    /// What goes wrong in the role's `initially`, such as a number outside its range.
    pub fn first_record(
        &self,
        role: RoleId,
        object: Object,
        me: Node,
        home: Node,
        way: &mut dyn FnMut(Span, bool),
    ) -> Result<Vec<u8>, Fault> {
        let declared = &self.protocol.roles[role.index()];
        let mut newborn = Newborn { me, home, record: vec![0; self.record_bytes(role)], way };
        let Some(initially) = &declared.initially else { return Ok(newborn.record) };
        let event = Event::local(EventKind::Timer, object, 0);
        let start = Start { event: &event, role, before: StateId(0), column: 0, replay: None };
        let mut room = LargeRoom::EMPTY;
        match Run::new(self, &mut newborn, room.frame(), initially, start).run() {
            Ok(_) => Ok(newborn.record),
            Err(trouble) => {
                let Trouble { kind, span } = *trouble;
                let about = match object.kind {
                    NODE => String::new(),
                    kind => format!("{} {}: ", self.protocol.objects[kind.index()], object.id),
                };
                let at = place(&self.protocol, span);
                let message = format!("node {me}: {about}{}, initially: {kind}{at}", declared.name);
                let state = Some(StateId(0));
                Err(Fault { kind, node: me, role: Some(role), object, state, event: None, span, message })
            }
        }
    }
}

/// A node on which nothing is yet but one record. The compiler lets `initially` do nothing that reaches further; what a
/// protocol that was made otherwise tries is lost.
struct Newborn<'w> {
    me: Node,
    home: Node,
    record: Vec<u8>,
    way: &'w mut dyn FnMut(Span, bool),
}

impl RecordMechanisms for Newborn<'_> {
    fn me(&self) -> Node {
        self.me
    }

    fn home(&self, _: Object) -> Node {
        self.home
    }

    fn record(&mut self, _: RoleId, _: Object) -> &mut [u8] {
        &mut self.record
    }

    fn start(&mut self, _: TaskId, _: Object, _: Args) {}
}

impl MemoryMechanisms for Newborn<'_> {
    fn block_bytes(&self) -> u64 {
        0
    }

    fn block_at(&mut self, _: u64) -> Option<u32> {
        None
    }

    fn gather_block(&mut self, _: Object) -> Payload {
        Payload(0)
    }

    fn gather_memory(&mut self, _: u64, _: u64) -> Payload {
        Payload(0)
    }

    fn gather_list(&mut self, _: bool, _: &[i64]) -> Payload {
        Payload(0)
    }

    fn gather_own(&mut self, _: u64, _: u64) -> Payload {
        Payload(0)
    }

    fn gather_access(&mut self, _: Object, _: &HandlerAccess) -> Payload {
        Payload(0)
    }

    fn install_own(&mut self, _: Payload, _: u64) {}

    fn install_block(&mut self, _: Payload, _: Object) {}

    fn install_memory(&mut self, _: Payload, _: Option<u64>) {}

    fn set_access(&mut self, _: Object, _: Access, _: Access) {}

    fn load(&mut self, _: u64) -> u64 {
        0
    }

    fn store(&mut self, _: u64, _: u64) {}

    fn copy(&mut self, _: u64, _: u64, _: u64) {}

    fn perform(&mut self, _: Object, _: &HandlerAccess) -> u64 {
        0
    }
}

impl LineMechanisms for Newborn<'_> {
    fn probe(&mut self, _: Object) -> Line {
        Line::Absent
    }

    fn fill(&mut self, _: Object, _: Line) -> bool {
        false
    }

    fn upgrade(&mut self, _: Object) -> bool {
        false
    }

    fn take(&mut self, _: Object, _: Line) {}

    fn invalidate(&mut self, _: Object) {}

    fn compose(&mut self, _: Object, _: u64) {}

    fn image_word(&mut self, _: Object) -> u64 {
        0
    }
}

impl ThreadMechanisms for Newborn<'_> {
    fn resume(&mut self, _: Object) {}

    fn complete(&mut self, _: Object) {}

    fn complete_with(&mut self, _: Object, _: Thread, _: u64, _: Span) {}

    fn answer(&mut self, _: Thread, _: i64) {}

    fn pending(&mut self, _: Thread) -> Pending {
        Pending::default()
    }
}

impl NetworkMechanisms for Newborn<'_> {
    fn send(&mut self, _: Node, _: &Outgoing) {}

    fn room(&mut self, _: LaneId, _: u32, _: u32) -> bool {
        false
    }
}

impl ClockMechanisms for Newborn<'_> {
    fn way(&mut self, step: Span, taken: bool) {
        (self.way)(step, taken);
    }

    fn timer(&mut self, _: RoleId, _: Object, _: Option<u64>) {}

    fn charge(&mut self, _: Charge) {}
}
