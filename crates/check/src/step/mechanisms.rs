//! `Mechanisms` over an explored state: sends go into the network of the state, data are small values.

use crate::coverage::Reached;
use crate::step::ghost;
use crate::step::performs;
use crate::step::ports::{self, Ports};
use crate::system::client::Intent;
use crate::system::codec::Written;
use crate::system::late::Choices;
use crate::system::layout::{BLOCK_BYTES, WORD};
use crate::system::model::Model;
use crate::system::payload::{Data, Payloads};
use crate::system::promise::{BEYOND, FAULT};
use crate::system::promise::{Violation, once, perform_access, word_of};
use crate::system::told::Told;
use crate::system::unread::FORGOTTEN;
use crate::system::world::{Flight, Queued, Stand, ThreadState, World};
use trivium_engine::number::{fit, index};
use trivium_engine::{
    Args, CacheLine, Charge, ClockMechanisms, HandlerAccess, LineMechanisms, MemoryMechanisms, NetworkMechanisms, Node,
    Object, Outgoing, Payload, Pending, RecordMechanisms, Thread, ThreadMechanisms,
};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, BLOCK, LaneId, Line, NODE, RoleId, StateId, TaskId};

/// An access that was performed: by whom, and what a load saw or a store has stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Performed {
    pub thread: usize,
    pub intent: usize,
    pub seen: Option<u64>,
    /// What the word is afterwards, of a read-modify-write.
    pub left: u64,
    /// Whether a handler had performed it for the thread, and only now the thread goes on.
    pub elsewhere: bool,
}

/// An access that a handler performed for the program of a node, or for a thread there that waits for it: what was loaded,
/// and what was stored, of the word that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForProgram {
    pub node: Node,
    pub block: Object,
    pub loaded: Option<u64>,
    pub stored: Option<u64>,
    /// Whether a thread waits for it.
    pub asked: bool,
}

/// What a handler did that is not yet true for threads when it ends, and what a report wants to know.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// Objects whose waiting threads try again.
    pub resumed: Vec<Object>,
    /// Calls that return: threads of the node, and what they get.
    pub answers: Vec<(Thread, i64)>,
    /// Accesses that `perform` has performed.
    pub for_program: Vec<ForProgram>,
    /// Accesses that `complete` has performed.
    pub performed: Vec<Performed>,
    /// Messages that left, and to whom.
    pub sends: Vec<Flight>,
    /// What is chosen while the event is executed.
    pub choices: Choices,
    /// What its handlers were told where they might have been told otherwise, in order.
    pub told: Vec<Told>,
    /// What is known meanwhile of the outgoing queues of its node.
    pub ports: Ports,
    /// Whether the handler has looked at more than its event and the records and contents of its node, or changed or done
    /// more than that and what is in `resumed`, `answers` and `sends`.
    pub looks_farther: bool,
    /// Blocks of which the node had contents when the handler began, or to which it has written since. Only where
    /// [`KeptCopies::is_looked_at`](crate::system::kept::KeptCopies::is_looked_at).
    pub there: Vec<u32>,
    /// The engine's side of the image of the handler's object.
    pub image: u64,
    /// Whether that went wrong which `there` is for: who has ended says in which handler.
    pub looked_in_vain: bool,
    /// The first thing that went wrong in a place where a handler cannot be told.
    pub trouble: Option<Violation>,
}

impl Effects {
    pub fn clear(&mut self) {
        self.resumed.clear();
        self.answers.clear();
        self.for_program.clear();
        self.performed.clear();
        self.sends.clear();
        self.told.clear();
        self.ports.clear();
        self.looks_farther = false;
        self.there.clear();
        self.image = 0;
        self.looked_in_vain = false;
        self.trouble = None;
    }
}

/// One node of an explored state.
pub(crate) struct Here<'a> {
    pub model: &'a Model,
    pub payloads: &'a mut Payloads,
    pub world: &'a mut World,
    pub effects: &'a mut Effects,
    pub scratch: &'a mut Vec<u8>,
    pub reached: &'a mut Reached,
    pub me: Node,
}

impl Here<'_> {
    pub fn trouble(&mut self, sentence: String) {
        let me = self.me;
        self.effects.trouble.get_or_insert_with(|| Violation::new(FAULT, format!("node {me}: {sentence}")));
    }

    /// Where the word at an address is kept, if it is.
    fn word(&mut self, address: u64) -> Option<std::ops::Range<usize>> {
        let word = self.model.layout.word_at(self.me, address);
        if word.is_none() {
            let blocks = self.model.where_blocks_lie();
            self.trouble(format!("the word at address {address} is not in the explored memory{blocks}"));
        }
        word.flatten()
    }

    /// The handler is about to look at bytes of this node's copies: it must have contents there.
    pub fn about_to_look(&mut self, from: u64, to: u64) {
        if !self.model.kept.is_looked_at() {
            return;
        }
        for id in self.blocks_within(from, to) {
            if !self.effects.there.contains(&id) && !self.model.has_contents(self.world, self.me, id) {
                let name = self.model.object_name(Object { kind: BLOCK, id });
                self.effects.looked_in_vain = self.effects.trouble.is_none();
                self.trouble(format!("a handler looks at the contents of {name}, which this node has not: no state of its roles gives access or keeps them"));
            }
        }
    }

    /// The same of a whole block.
    pub fn about_to_look_at_block(&mut self, block: Object) {
        let at = u64::from(block.id) * BLOCK_BYTES;
        self.about_to_look(at, at + BLOCK_BYTES);
    }

    /// The handler has written to bytes of this node's copies.
    pub fn has_written(&mut self, from: u64, to: u64) {
        if self.model.kept.is_looked_at() {
            let blocks = self.blocks_within(from, to);
            self.effects.there.extend(blocks);
        }
    }

    /// The blocks in which these bytes lie.
    fn blocks_within(&self, from: u64, to: u64) -> impl Iterator<Item = u32> + use<> {
        let end = to.div_ceil(BLOCK_BYTES).min(self.model.objects[BLOCK.index()].into());
        (from / BLOCK_BYTES..end).map(|block| fit(block, "the number of a block that is explored"))
    }

    fn write_word(&mut self, address: u64, value: u64) {
        self.has_written(address, address.saturating_add(1));
        let Some(at) = self.word(address) else { return };
        if at.len() < 8 && value >> (8 * at.len()) != 0 {
            self.trouble(format!("{value} does not fit a word of the explored memory"));
        } else {
            self.world.set_number(at, value);
        }
    }

    /// Where bytes of this node's memory lie in the state; only where memory is kept as bytes.
    fn bytes(&mut self, from: u64, to: u64) -> Option<std::ops::Range<usize>> {
        let memory = self.model.layout.memory(self.me).filter(|m| from <= to && to <= m.len() as u64);
        if memory.is_none() {
            let blocks = self.model.where_blocks_lie();
            self.trouble(format!("addresses {from} to {to} are not in the explored memory{blocks}"));
        }
        memory.map(|memory| memory.start + index(from)..memory.start + index(to))
    }

    /// Where a message stands that this node sends now: behind those of the other lane that are on their way.
    fn behind(&self, to: Node, lane: LaneId) -> Stand {
        let other = self.model.lanes[lane.index()].behind;
        let before = |flight: &&Flight| (flight.to, flight.from, Some(flight.lane)) == (to, self.me, other);
        Stand::behind(self.world.flights.iter().filter(before).count())
    }

    /// A message that this node sends, with [`Flight::written`] as it should be, goes into the network.
    pub fn post(&mut self, flight: Flight) {
        let form = &self.model.lanes[flight.lane.index()];
        let is_room = match form.capacity {
            None => true,
            Some(places) if form.queues => ports::takes(self, (flight.lane, places)),
            Some(_) => self.model.room(self.world, self.me, flight.lane, 1),
        };
        if !is_room {
            let name = &self.model.protocol().lanes[flight.lane.index()].name;
            self.trouble(format!("a message is sent on lane `{name}`, which is full: no room was kept for it"));
        }
        // What was remembered of a handler says nothing of where its messages stand.
        let placed = match form.behind {
            Some(_) => self.model.codec.sealed(Flight { stand: self.behind(flight.to, flight.lane), ..flight }),
            None => flight,
        };
        if !(form.duplicating && self.world.stands_for(&flight, form.fifo)) {
            self.world.post(placed, form.fifo);
        }
        self.effects.sends.push(flight);
    }

    pub(super) fn change_line(&mut self, block: Object, change: impl FnOnce(&mut CacheLine)) {
        let mut line = self.world.line(&self.model.layout, self.me, block);
        change(&mut line);
        self.world.set_line(&self.model.layout, self.me, block, line);
    }

    pub fn intent(&self, thread: u16) -> (ThreadState, usize) {
        self.world.thread(&self.model.layout, thread as usize)
    }
}

impl RecordMechanisms for Here<'_> {
    fn me(&self) -> Node {
        self.me
    }

    fn home(&self, object: Object) -> Node {
        if object.kind == NODE { self.me } else { self.model.home(object) }
    }

    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        let mut node = self.me;
        if self.model.protocol().is_ghost(role) {
            // A ghost is on no node: its record lies where its object is at home.
            node = self.model.home(object);
            self.effects.looks_farther = true;
        }
        match self.model.layout.record(node, role, object.id) {
            Some(range) => &mut self.world.fixed[range],
            None => {
                let name = self.model.object_name(object);
                let kind = &self.model.protocol().objects[object.kind.index()];
                let more = u64::from(object.id) + 1;
                let sentence = format!("node {} uses {name}, which is not explored: --objects {kind}={more}", self.me);
                self.effects.trouble.get_or_insert_with(|| Violation::new(BEYOND, sentence));
                self.scratch.clear();
                self.scratch.resize(self.model.engine.record_bytes(role), 0);
                self.scratch
            }
        }
    }

    fn choose(&mut self, mut nodes: impl Iterator<Item = Node>) -> Option<Node> {
        if !self.model.system.every_order {
            return nodes.next();
        }
        let first = nodes.next()?;
        let Some(second) = nodes.next() else { return Some(first) };
        let mut all: Vec<Node> = vec![first, second];
        all.extend(nodes);
        self.effects.looks_farther = true;
        let way = self.effects.choices.among(fit(all.len(), "the nodes of a set"));
        let taken = all[way as usize];
        self.effects.told.push(Told::Takes { takes: taken, lower: way });
        Some(taken)
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.effects.looks_farther = true;
        // It runs as an event of its own, so that it cannot be seen before this handler has ended.
        self.world.queues[self.me as usize].push(Queued { task, object, args });
    }

    fn state_changed(&mut self, role: RoleId, _object: Object, _from: StateId, to: StateId) {
        self.reached.enter(role, to);
    }
}

impl MemoryMechanisms for Here<'_> {
    fn block_bytes(&self) -> u64 {
        BLOCK_BYTES
    }

    fn block_at(&mut self, address: u64) -> Option<u32> {
        let block = u32::try_from(address / BLOCK_BYTES).ok()?;
        (block < self.model.blocks()).then_some(block)
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        let word = self.load(u64::from(block.id) * BLOCK_BYTES);
        self.payloads.handle(Data::Block(word))
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        self.about_to_look(from, to);
        let bytes = match self.bytes(from, to) {
            Some(at) => self.world.fixed[at].to_vec(),
            None => Vec::new(),
        };
        self.payloads.handle(Data::Memory(bytes))
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        let words = items
            .iter()
            .map(|&item| {
                let address =
                    if blocks { item.cast_unsigned().saturating_mul(BLOCK_BYTES) } else { item.cast_unsigned() };
                (address, self.load(address))
            })
            .collect();
        self.payloads.handle(Data::List(words))
    }

    fn gather_own(&mut self, from: u64, _to: u64) -> Payload {
        self.payloads.handle(Data::Block(performs::own(self.model, from)))
    }

    fn gather_access(&mut self, block: Object, access: &HandlerAccess) -> Payload {
        self.effects.looks_farther = true;
        let word = performs::perform(self, block, access);
        self.payloads.handle(Data::Block(word))
    }

    fn install_own(&mut self, _payload: Payload, _at: u64) {
        // What a program has of its own is not part of the explored system.
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        match self.payloads.data(payload) {
            Data::Block(word) if block.kind != BLOCK => self.effects.image = word,
            Data::Block(word) => self.write_word(u64::from(block.id) * BLOCK_BYTES, word),
            _ => self.trouble(format!("what arrived is not the contents of {}", self.model.object_name(block))),
        }
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        let bytes = match (self.payloads.data(payload), address) {
            (Data::List(words), None) => {
                words.into_iter().for_each(|(address, word)| self.write_word(address, word));
                return;
            }
            (Data::Block(word), Some(_)) => word.to_le_bytes().to_vec(),
            (Data::Memory(bytes), Some(_)) => bytes,
            (Data::List(words), Some(_)) => words.iter().flat_map(|(_, word)| word.to_le_bytes()).collect(),
            (_, None) => return self.trouble("the data that arrived do not say where they go".into()),
        };
        let from = address.unwrap_or_default();
        let to = from.saturating_add(bytes.len() as u64);
        self.has_written(from, to);
        if let Some(at) = self.bytes(from, to) {
            self.world.fixed[at].copy_from_slice(&bytes);
        }
    }

    fn set_access(&mut self, _block: Object, _from: Access, _to: Access) {
        // The tag is read off the record.
    }

    fn load(&mut self, address: u64) -> u64 {
        self.about_to_look(address, address.saturating_add(1));
        let word = self.word(address).map_or(0, |at| self.world.number(at));
        if self.model.is_forgotten(word) {
            let me = self.me;
            let looked = || Violation::new(FORGOTTEN, format!("node {me} looks at the word at address {address}"));
            self.effects.trouble.get_or_insert_with(looked);
        }
        word
    }

    fn store(&mut self, address: u64, value: u64) {
        self.write_word(address, value);
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        self.about_to_look(from, from.saturating_add(bytes));
        self.has_written(to, to.saturating_add(bytes));
        let source = self.bytes(from, from.saturating_add(bytes));
        let target = self.bytes(to, to.saturating_add(bytes));
        if let (Some(source), Some(target)) = (source, target) {
            self.world.fixed.copy_within(source, target.start);
        }
    }

    fn perform(&mut self, block: Object, access: &HandlerAccess) -> u64 {
        self.effects.looks_farther = true;
        performs::perform(self, block, access)
    }
}

impl LineMechanisms for Here<'_> {
    fn probe(&mut self, block: Object) -> Line {
        self.world.line(&self.model.layout, self.me, block).line
    }

    fn fill(&mut self, block: Object, to: Line) -> bool {
        self.effects.looks_farther = true;
        if block.kind == BLOCK {
            self.about_to_look_at_block(block);
        }
        if !self.model.requested(self.world, self.me, block) {
            return false;
        }
        let mut fills = false;
        self.change_line(block, |line| fills = line.fill(to));
        match self.model.layout.line(self.me, block) {
            Some((_, word)) if fills && block.kind != BLOCK => self.world.set_number(word, self.effects.image),
            Some((_, word)) if fills => {
                let copy = self.model.layout.block(self.me, block.id);
                self.world.fixed.copy_within(copy, word.start);
            }
            _ => {}
        }
        true
    }

    fn upgrade(&mut self, block: Object) -> bool {
        self.effects.looks_farther = true;
        let requested = self.model.requested(self.world, self.me, block);
        if requested {
            self.change_line(block, CacheLine::upgrade);
        }
        requested
    }

    fn take(&mut self, block: Object, to: Line) {
        self.effects.looks_farther = true;
        let requested = self.model.requested(self.world, self.me, block);
        let line = self.model.layout.line(self.me, block);
        if block.kind != BLOCK {
            self.effects.image = line.map_or(0, |(_, word)| self.world.number(word));
        } else {
            self.has_written(u64::from(block.id) * BLOCK_BYTES, (u64::from(block.id) + 1) * BLOCK_BYTES);
            if let Some((_, word)) = line {
                let copy = self.model.layout.block(self.me, block.id);
                self.world.fixed.copy_within(word, copy.start);
            }
        }
        self.change_line(block, |line| line.take(to, requested));
    }

    fn invalidate(&mut self, block: Object) {
        self.effects.looks_farther = true;
        let requested = self.model.requested(self.world, self.me, block);
        self.change_line(block, |line| line.invalidate(requested));
    }

    fn compose(&mut self, _image: Object, word: u64) {
        self.effects.image = word;
    }

    fn image_word(&mut self, _image: Object) -> u64 {
        self.effects.image
    }
}

impl ThreadMechanisms for Here<'_> {
    fn resume(&mut self, object: Object) {
        if self.model.layout.line(self.me, object).is_some() {
            self.change_line(object, CacheLine::answered);
        }
        self.effects.resumed.push(object);
    }

    fn complete(&mut self, object: Object) {
        self.effects.looks_farther = true;
        for at in 0..self.model.client.threads_of[self.me as usize].len() {
            let thread = self.model.client.threads_of[self.me as usize][at];
            let (phase, number) = self.intent(thread);
            let intent = &self.model.client.intents[number];
            if phase != ThreadState::Waiting || !intent.is_access() || intent.object() != object {
                continue;
            }
            let number = self.effects.choices.choose(self.model, self.world, thread as usize, number);
            let intent = &self.model.client.intents[number];
            if matches!(intent, Intent::Read { .. } | Intent::Rmw { .. }) {
                self.about_to_look_at_block(object);
            }
            let performed = once(self.model, self.world, thread as usize)
                .and_then(|()| perform_access(self.model, self.world, thread as usize, intent));
            let performed = performed.and_then(|seen| ghost::tell_access(self, self.me, intent, seen).map(|()| seen));
            match performed {
                Ok(seen) => {
                    self.effects.performed.push(Performed {
                        thread: thread as usize,
                        intent: number,
                        seen,
                        left: word_of(self.model, self.world, self.me, intent),
                        elsewhere: false,
                    });
                    self.world.set_thread(&self.model.layout, thread as usize, ThreadState::Free, 0);
                }
                Err(violation) => {
                    self.effects.trouble.get_or_insert(violation);
                }
            }
        }
    }

    fn complete_with(&mut self, object: Object, thread: Thread, value: u64, _: Span) {
        self.effects.looks_farther = true;
        performs::complete_with(self, object, thread, value);
    }

    fn answer(&mut self, thread: Thread, value: i64) {
        self.effects.answers.push((thread, value));
    }

    fn pending(&mut self, thread: Thread) -> Pending {
        self.effects.looks_farther = true;
        let access = |block: u32, word: u64, value| Pending {
            address: u64::from(block) * BLOCK_BYTES + word * WORD,
            size: fit(WORD, "the size of an access"),
            value,
            ..Pending::default()
        };
        let thread = self.model.client.threads_of[self.me as usize].get(usize::from(thread)).copied();
        let intent = thread.map(|thread| self.intent(thread)).filter(|(phase, _)| *phase != ThreadState::Free);
        match intent.map(|(_, number)| &self.model.client.intents[number]) {
            Some(Intent::Read { block }) => access(*block, 0, 0),
            Some(Intent::Write { block, value }) => access(*block, 0, *value),
            // Nobody looks at the value, nor at the address unless it is the same for all that it may turn out to be.
            Some(Intent::Store { block }) => access(*block, 0, 0),
            Some(Intent::WriteBeside { block }) => access(*block, 1, 0),
            // The operation of `Pending::default` is the exchange.
            Some(Intent::Rmw { block, value }) => Pending { modifies: true, ..access(*block, 0, *value) },
            _ => {
                self.trouble("the address of an access was asked for, and no thread waits with one".into());
                Pending::default()
            }
        }
    }
}

impl NetworkMechanisms for Here<'_> {
    fn send(&mut self, to: Node, message: &Outgoing) {
        let lane = self.model.protocol().messages[message.message.index()].lane;
        let flight = Flight {
            to,
            from: self.me,
            lane,
            message: message.message,
            object: message.object,
            args: message.args,
            payload: message.payload,
            stand: Stand::default(),
            written: Written::default(),
        };
        self.post(self.model.codec.sealed(flight));
    }

    fn room(&mut self, lane: LaneId, count: u32, together: u32) -> bool {
        self.effects.looks_farther = true;
        let form = &self.model.lanes[lane.index()];
        match form.capacity {
            Some(places) if form.queues => ports::room(self, (lane, places), count, together),
            _ => self.model.room(self.world, self.me, lane, count),
        }
    }
}

impl ClockMechanisms for Here<'_> {
    fn timer(&mut self, _role: RoleId, _object: Object, _after: Option<u64>) {
        // A state that has a timer may see it at any time.
    }

    fn charge(&mut self, _what: Charge) {}

    fn way(&mut self, step: Span, taken: bool) {
        self.reached.way(step, taken);
    }
}

#[cfg(test)]
mod tests;
