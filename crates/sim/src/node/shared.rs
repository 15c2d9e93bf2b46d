//! What all nodes share.

use crate::machine::ratio::Ratio;
use crate::machine::{EngineKind, Machine};
use crate::node::checks::Classes;
use crate::node::spare::Spare;
use crate::reports::blame::Sites;
use crate::reports::counters::HandlerKey;
use crate::timing::given::GivenPrices;
use crate::timing::gtlb::Addressing;
use crate::timing::jump_table::JumpTable;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use trivium_node::Protocols;
use trivium_protocol::copies::only_threads_store;
use trivium_protocol::{HandlerId, Promise, RoleId};

/// What all nodes share; none changes anything of it that could be felt.
pub struct Shared {
    /// The protocols.
    pub protocols: Rc<Protocols>,
    /// The machine.
    pub machine: Machine,
    /// The states of blocks on which an access depends that its library checks.
    pub(crate) classes: Classes,
    /// Of each protocol, whether it is looked at what a node's copy of a block is when its tag changes: the protocol promises that this is what was stored last.
    pub(crate) looks_at_copies: Vec<bool>,
    /// Its cycles of a unit of the work that programs do.
    pub(crate) cycles_of_work: Ratio,
    /// The cycles of which notes are kept for a trace, if any are.
    pub traced: Option<Range<u64>>,
    /// The phase and the block in which it is written down where nodes store.
    pub suspect: Option<(u64, u32)>,
    /// How many bytes of the host's memory there are for what is allocated; none: that is not looked at.
    pub(crate) room: Option<u64>,
    /// Whether compiled code has tags.
    pub(crate) has_tags: bool,
    /// Whether it is written down who is to blame for misses, and where in the program they were.
    pub blamed: bool,
    /// Where misses were.
    pub(crate) sites: RefCell<Sites>,
    /// Bytes of the host's memory that programs have taken by printing and writing since that was last looked at.
    pub(crate) taken: Cell<u64>,
    /// When a processor last went on: at this cycle or later.
    pub(crate) went_on: Cell<u64>,
    /// When a program last asked for a lock that did nothing else, if any did.
    pub(crate) asked: Cell<Option<u64>>,
    /// Most cycles for which an access may be tried again and again.
    pub(crate) stall_limit: Cell<u64>,
    /// Whether prices of handlers are worked out anew each time: the oracle for those that are folded.
    pub(crate) unfolded: bool,
    /// Whether the machine's engine lays handlers out itself.
    pub(crate) lays_out: bool,
    /// What the inbox of an engine that is a pipeline knows of events.
    pub(crate) jump_table: JumpTable,
    /// By what calls send messages, where that is looked up.
    pub(crate) addressing: Addressing,
    /// The prices that single handlers have.
    pub(crate) given: GivenPrices,
    /// The handlers of all protocols in one row.
    pub(crate) handlers: HandlerNumbers,
    /// Boxes to write to again.
    pub(crate) spare: RefCell<Spare>,
}

impl Shared {
    /// These protocols on a machine; not traced.
    pub fn new(protocols: Protocols, machine: Machine) -> Shared {
        // What a handler finds in a table of tags, its price cannot know.
        let machine_looks_tags_up = machine.rtlb.is_some();
        let lays_out = matches!(machine.engine.kind, EngineKind::Pipeline | EngineKind::Slots);
        Shared {
            classes: Classes::new(&protocols, &machine),
            given: GivenPrices::new(&machine, &protocols),
            jump_table: JumpTable::new(&machine, &protocols),
            addressing: Addressing::new(&machine, &protocols),
            handlers: HandlerNumbers::new(&protocols),
            looks_at_copies: (0..protocols.engines.len()).map(|number| looks_at_copies(&protocols, number)).collect(),
            protocols: Rc::new(protocols),
            cycles_of_work: machine.processor.cycles_of_work(),
            machine,
            traced: None,
            suspect: None,
            room: None,
            has_tags: false,
            blamed: false,
            sites: RefCell::default(),
            taken: Cell::new(0),
            went_on: Cell::new(0),
            asked: Cell::new(None),
            stall_limit: Cell::new(u64::MAX),
            unfolded: lays_out || machine_looks_tags_up,
            lays_out,
            spare: RefCell::default(),
        }
    }

    /// Whether programs have taken so much that one should look whether there is more.
    #[inline]
    pub(crate) fn much_is_taken(&self) -> bool {
        self.taken.get() >= MUCH
    }
}

fn looks_at_copies(protocols: &Protocols, number: usize) -> bool {
    let protocol = protocols.engines[number].protocol();
    protocols.watched[number] && protocol.promises.contains(&Promise::LastWrite) && only_threads_store(protocol)
}

/// The handlers of all protocols in one row, so that what is counted of them is a list.
#[derive(Default)]
pub(crate) struct HandlerNumbers {
    /// By protocol and role: how many handlers are before those of the role.
    before: Vec<Vec<usize>>,
    /// All of them, in order.
    pub all: Vec<HandlerKey>,
}

impl HandlerNumbers {
    fn new(protocols: &Protocols) -> HandlerNumbers {
        let mut numbers = HandlerNumbers::default();
        for (number, engine) in protocols.engines.iter().enumerate() {
            let mut before = Vec::new();
            for (id, role) in (0..).map(RoleId).zip(&engine.protocol().roles) {
                before.push(numbers.all.len());
                let handlers = (0..).map(HandlerId).take(role.handlers.len());
                numbers.all.extend(handlers.map(|handler| (number, id, handler)));
            }
            numbers.before.push(before);
        }
        numbers
    }

    /// The place of a handler.
    #[inline(always)]
    pub fn of(&self, protocol: usize, role: RoleId, handler: HandlerId) -> usize {
        self.before[protocol][role.index()] + handler.index()
    }
}

/// Bytes that may be printed and written between two looks at the host's memory.
const MUCH: u64 = 32 << 20;
