//! A node's table of regions: which sends find their node, and until when ordered ones wait (M-Machine dissertation, our specification 2.4.5).

use crate::machine::Machine;
use crate::machine::gtlb::GtlbModel;
use std::collections::VecDeque;
use trivium_engine::{Event, Object};
use trivium_node::Protocols;
use trivium_protocol::{EventKind, NODE, Protocol, Type};

/// What a call sends by, if that is an object's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addressed {
    /// The protocol, and the object.
    pub object: (usize, Object),
    /// Whether its messages are ordered.
    pub ordered: bool,
}

/// What is known of the calls of protocols, on a machine with such a table.
#[derive(Debug, Default)]
pub(crate) struct Addressing {
    /// By protocol and call: which of its words says that its messages are ordered. Without a table there is no protocol here.
    ordered: Vec<Vec<Option<usize>>>,
}

impl Addressing {
    /// That of a machine.
    pub fn new(machine: &Machine, protocols: &Protocols) -> Addressing {
        let Some(model) = &machine.gtlb else { return Addressing::default() };
        let calls = |protocol: &Protocol| protocol.ops.iter().map(|op| place_of(&op.args, model)).collect();
        Addressing { ordered: protocols.engines.iter().map(|engine| calls(engine.protocol())).collect() }
    }

    /// What an event's messages are sent by, if it is a call about an object.
    #[inline]
    pub fn of(&self, protocol: usize, event: &Event) -> Option<Addressed> {
        let EventKind::Op(op) = event.kind else { return None };
        let place = self.ordered.get(protocol)?.get(op.index())?;
        let is_set = |at: &usize| event.args.words().get(*at).is_some_and(|word| *word != 0);
        let ordered = place.as_ref().is_some_and(is_set);
        (event.object.kind != NODE).then_some(Addressed { object: (protocol, event.object), ordered })
    }
}

/// The word of a call that says that its messages are ordered.
fn place_of(args: &[trivium_protocol::Named], model: &GtlbModel) -> Option<usize> {
    let is_scalar =
        |ty: &Type| !matches!(ty, Type::NodeSet | Type::IntSet { .. } | Type::List { .. } | Type::Array { .. });
    let scalars = args.iter().take_while(|arg| is_scalar(&arg.ty));
    scalars.enumerate().find(|(_, arg)| Some(&arg.name) == model.ordered.as_ref()).map(|(at, _)| at)
}

/// A region: of which protocol and kind, and which of these.
type Region = (usize, u8, u32);

/// The table of a node.
pub(crate) struct Gtlb {
    model: GtlbModel,
    /// The regions that it holds, the oldest first.
    held: VecDeque<Region>,
    /// Until then ordered messages wait for a miss.
    resolved: u64,
}

impl Gtlb {
    pub fn new(model: &GtlbModel) -> Gtlb {
        Gtlb { model: model.clone(), held: VecDeque::new(), resolved: 0 }
    }

    /// What its machine says.
    pub fn model(&self) -> &GtlbModel {
        &self.model
    }

    /// When a SEND that could be issued at cycle `at` is, while a miss may be under way.
    pub fn issued(&self, at: u64, addressed: Addressed) -> u64 {
        if addressed.ordered { at.max(self.resolved) } else { at }
    }

    /// Looks an object up. If its region is not there, it is from now on.
    pub fn finds(&mut self, addressed: Addressed) -> bool {
        let (protocol, object) = addressed.object;
        let shift = self.model.objects.trailing_zeros();
        let region = (protocol, object.kind.0, object.id.checked_shr(shift).unwrap_or(0));
        if self.held.contains(&region) {
            return true;
        }
        let was_full = self.held.len() as u64 >= self.model.entries;
        if was_full {
            self.held.pop_front();
        }
        self.held.push_back(region);
        !was_full
    }

    /// A miss has been dealt with at this cycle: its message has been sent again.
    pub fn resolves(&mut self, at: u64) {
        self.resolved = self.resolved.max(at);
    }
}
