//! Objects that handlers make: their numbers, and which of them are there.
//!
//! The object of slot s of node n has the number s * nodes + n, and is at home at n. Which slots are in use a node keeps in a set, the
//! variable of the role that belongs to the kind ([`Made`]).

use crate::engine::Engine;
use crate::event::Event;
use crate::layout::Shape;
use crate::mechanisms::{Args, Mechanisms, Node, Object};
use trivium_protocol::{EventKind, Made, NODE, OpId, Type};

impl Engine {
    /// The number of the object that a node makes in a slot, of so many; -1 where the slot is none of them.
    pub(crate) fn made(&self, me: Node, slot: i64, most: i64) -> i64 {
        if slot < most { slot * i64::from(self.nodes()) + i64::from(me) } else { -1 }
    }

    /// Whether a program of node `me` may name an object of a kind that is made: it is at home there, and in use. `record` is that of the
    /// kind's role on the node.
    pub fn is_made(&self, made: &Made, id: u32, me: Node, record: &[u8]) -> bool {
        let (slot, home) = (id / self.nodes(), id % self.nodes());
        let Some(Shape::Set(used)) = self.roles[made.role.index()].vars.first() else { return false };
        home == u32::from(me) && i64::from(slot) < made.most && used.read(record, 0).contains(slot.into())
    }

    /// A call as it begins: an argument that names an object which is not there by now, and may be none, is none. `None`: that is the object
    /// that the call is about, and it has returned.
    #[cold]
    pub(crate) fn call_now<M: Mechanisms>(&self, op: OpId, event: &Event, m: &mut M) -> Option<Event> {
        let declared = &self.protocol.ops[op.index()];
        if declared.object_may_be_none && !self.is_there(event.object, m) {
            m.answer(event.thread, declared.nothing());
            return None;
        }
        let mut words = event.args.words().to_vec();
        let mut at = 0;
        for (arg, shape) in declared.args.iter().zip(self.args.of(EventKind::Op(op))) {
            let Some((own, _)) = shape.split(&words[at..]) else { break };
            let takes = own.len();
            // It is one word.
            if let (Type::ObjectOrNone(kind), &[id]) = (&arg.ty, own)
                && u32::try_from(id).is_ok_and(|id| !self.is_there(Object { kind: *kind, id }, m))
            {
                words[at] = -1;
            }
            at += takes;
        }
        Some(Event { args: Args::of(&words), ..*event })
    }

    /// Whether a call may be about an object: handlers make none of its kind, or it is there.
    fn is_there<M: Mechanisms>(&self, object: Object, m: &mut M) -> bool {
        let Some(made) = self.protocol.made_kind(object.kind) else { return true };
        let me = m.me();
        self.is_made(made, object.id, me, m.record(made.role, Object { kind: NODE, id: 0 }))
    }
}
