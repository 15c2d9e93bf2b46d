//! Ghosts see what is performed (`docs/semantics.md`, section 7).

use crate::engine::Engine;
use crate::event::Event;
use crate::fault::{Fault, Trouble, place};
use crate::frame::LargeRoom;
use crate::mechanisms::{Args, Mechanisms, Object};
use crate::run::{Run, Start};
use trivium_protocol::{HandlerId, RoleId, StateId};

impl Engine {
    /// Runs what a ghost does when it sees something. `m` is the object's home, where the ghost's record is kept; of it
    /// only that record is used.
    ///
    /// # Errors
    /// What goes wrong in the ghost, such as a false `assert`.
    pub fn watch<M: Mechanisms>(
        &self,
        ghost: RoleId,
        handler: HandlerId,
        object: Object,
        told: &[i64],
        m: &mut M,
    ) -> Result<(), Fault> {
        let declared = &self.protocol.roles[ghost.index()];
        let handler = &declared.handlers[handler.index()];
        let event = Event { args: Args::of(told), ..Event::local(handler.event, object, 0) };
        let start = Start { event: &event, role: ghost, before: StateId(0), column: 0, replay: None };
        let mut room = LargeRoom::EMPTY;
        let mut run = Run::new(self, &mut *m, room.frame(), handler, start);
        run.bind_args();
        match run.run() {
            Ok(_) => Ok(()),
            Err(trouble) => {
                let Trouble { kind, span } = *trouble;
                let message = format!(
                    "ghost {} of {} {}, on {}: {kind}{}",
                    declared.name,
                    self.protocol.objects[object.kind.index()],
                    object.id,
                    handler.name,
                    place(&self.protocol, span)
                );
                let (role, state) = (Some(ghost), Some(StateId(0)));
                Err(Fault { kind, node: m.me(), role, object, state, event: None, span, message })
            }
        }
    }
}
