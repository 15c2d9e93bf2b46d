//! The system that is explored, as far as it does not change: nodes, objects, threads, lanes, layout.

use crate::config::{MAX_NODES, Network, System, refused};
use crate::system::action::event_kind;
use crate::system::begin::Begun;
use crate::system::body;
use crate::system::calls;
use crate::system::client::{Client, Intent, object_counts};
use crate::system::codec::Codec;
use crate::system::kept::KeptCopies;
use crate::system::kinds::{self, Homes};
use crate::system::layout::{BLOCK_BYTES, Layout, Sizes, WORD, WORDS_PER_BLOCK};
use crate::system::mark;
use crate::system::progress::{Demand, demands, note_demands};
use crate::system::unread::UnreadCopies;
use crate::system::world::{ThreadState, World, node};
use std::sync::Arc;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::fit;
use trivium_engine::{Engine, Node, Object, SharedPlaces};
use trivium_protocol::copies::{moves_by_address, role_with_copy};
use trivium_protocol::walk::any_step;
use trivium_protocol::{
    Access, Assume, BLOCK, Bound, CallAction, EventKind, Expr, ExprKind, LaneId, Line, NODE, ObjectKindId,
    PayloadShape, PayloadSource, PerformKind, Promise, Protocol, RoleId, ScenarioAction, ScenarioValue, StateId,
    StepKind, Type,
};

/// Fixed bytes of one state; a larger system could not be explored.
const MOST_BYTES: usize = 1 << 18;
/// Blocks of which a sentence says where they lie.
const MOST_TOLD: u32 = 8;
/// Objects of a kind.
pub(crate) const MOST_OBJECTS: u32 = 256;

/// A lane of the explored network.
pub struct LaneModel {
    /// Whether messages between two nodes arrive in the order in which they were sent.
    pub fifo: bool,
    /// Whether the messages of all senders stand in one queue at their receiver.
    pub merged: bool,
    /// The lane whose earlier messages between the same two nodes come first.
    pub behind: Option<LaneId>,
    /// Whether some lane is behind it.
    pub is_before: bool,
    /// How many messages of a node it holds, if a number of them.
    pub capacity: Option<u32>,
    /// Whether these are the places of an outgoing queue, which messages leave before they are handled.
    pub queues: bool,
    /// Whether messages may be lost.
    pub lossy: bool,
    /// Whether messages may arrive twice.
    pub duplicating: bool,
}

/// Where the state of the role lies that gives a node its tag of a block, and which of a model's rows of tags is its.
struct TagPlace {
    state: usize,
    /// Whether the state takes a second byte.
    is_wide: bool,
    role: usize,
}

/// All that stays the same during an exploration.
pub(crate) struct Model {
    /// What was asked for.
    pub system: System,
    pub engine: Engine,
    pub nodes: u32,
    /// How many objects of each kind there are.
    pub objects: Vec<u32>,
    homes: Homes,
    pub client: Client,
    pub lanes: Vec<LaneModel>,
    /// The queues that lanes share and that may be full although none of these is.
    pub shared: Vec<SharedPlaces>,
    pub layout: Layout,
    pub codec: Codec,
    /// What the file's `leads_to` demand.
    pub demands: Vec<Demand>,
    /// What records are at first.
    pub begun: Begun,
    /// The role whose state says whether a node's copy of a block is forgotten, where the node is not, or is, its home.
    pub forgetting: [Option<RoleId>; 2],
    /// Where nodes have contents of blocks at all.
    pub kept: KeptCopies,
    /// Which copies are forgotten on a guess, where that is done: see [`Model::guess`].
    pub unread: Option<UnreadCopies>,
    /// For each block, what gives it its tag on each node.
    tags: Vec<Vec<Option<TagPlace>>>,
    /// For each role the tag that each of its states gives.
    access: Vec<Vec<Access>>,
    /// Whether some lane holds a number of messages, so that handlers need room on it.
    pub needs_room: bool,
    /// Whether some lane is an outgoing queue, so that what handlers see of it is left open.
    pub has_queues: bool,
    /// Whether `single_writer` is promised.
    pub is_single_writer: bool,
    /// A record of zeros, as long as the longest: what objects look like that are not explored.
    pub untouched: Vec<u8>,
}

impl Model {
    /// How many objects there are of the kind of which there are most; nodes, and what handlers make, do not count.
    pub fn most_objects(&self) -> u32 {
        let kinds = self.objects.iter().enumerate().map(|(kind, count)| (ObjectKindId::at(kind), count));
        let counted = kinds.filter(|(kind, _)| *kind != NODE && self.protocol().made_kind(*kind).is_none());
        counted.map(|(_, count)| *count).max().unwrap_or(0)
    }

    pub fn new(protocol: &Arc<Protocol>, system: &System) -> Result<Model, Diagnostic> {
        check_limits(system)?;
        let scenario = match &system.scenario {
            Some(name) => Some(find_scenario(protocol, name)?),
            None => None,
        };
        let explored = if system.clearing { Arc::clone(protocol) } else { Arc::new(protocol.without_clearing()) };
        let engine = Engine::load(explored, system.nodes)
            .map_err(|error| error.help("check it with another number of nodes or other parameters"))?;
        kinds::check(protocol, system, scenario)?;
        let homes = Homes::new(protocol, system);
        let objects = object_counts(protocol, system, scenario);
        if objects.iter().any(|&count| count > MOST_OBJECTS) {
            let made = protocol.made.iter().find(|made| objects[made.object.index()] > MOST_OBJECTS);
            return Err(match made {
                Some(made) => refused(
                    format!(
                        "{} nodes with {} `{}` each are more than {MOST_OBJECTS}",
                        system.nodes,
                        made.most,
                        protocol.objects[made.object.index()]
                    ),
                    "let each node make fewer of them, by a parameter with a `check` value",
                ),
                None => {
                    refused(format!("the scenario names an object beyond {MOST_OBJECTS}"), "number the objects from 0")
                }
            });
        }
        let stored = |value: ScenarioValue| value.at(BLOCK_BYTES.cast_signed()).cast_unsigned();
        let stores_wide = scenario
            .iter()
            .flat_map(|s| s.looks())
            .any(|look| matches!(look, ScenarioAction::Write { value, .. } if stored(*value) >= SMALL_GARBAGE));
        let is_wide = stores_wide
            || u64::from(system.values) > SMALL_GARBAGE
            || performs_wide(protocol, scenario.is_some(), system.nodes);
        let addressed = addresses_memory(protocol);
        let stride = if addressed { WORDS_PER_BLOCK } else { 1 };
        let first_word = objects[BLOCK.index()] * stride;
        let extra = if addressed { memory_words(system) } else { 0 };
        let words = first_word.saturating_add(extra);
        let addresses: Vec<i64> =
            (0..extra.min(system.values)).map(|w| i64::from(first_word + w) * WORD.cast_signed()).collect();
        let client = match scenario {
            Some(scenario) => Client::scenario(&engine, system, scenario, &objects)?,
            None => Client::general(&engine, protocol, system, &objects, &addresses)?,
        };
        client.check_counts()?;
        check_threads(protocol, &client)?;
        check_phases(protocol, stores_wide)?;
        if scenario.is_none() {
            mark::check(protocol)?;
        }
        let sizes = Sizes {
            nodes: system.nodes,
            objects: objects.clone(),
            homes: homes.clone(),
            threads: client.threads.len(),
            words,
            stride: stride as usize,
            word_bytes: if addressed || is_wide { 8 } else { 1 },
            garbage: if is_wide { WIDE_GARBAGE } else { SMALL_GARBAGE },
            values: most_stored(&client) + 1,
            counted: client.ops.is_some() || client.script.is_some(),
            registers: scenario.map_or(0, |s| s.registers.len()),
            general: scenario.is_none(),
        };
        let layout = Layout::new(&engine, &client, &sizes);
        if layout.len > MOST_BYTES {
            return Err(refused(
                format!("one state of this system takes {} bytes", layout.len),
                "check it with fewer nodes or objects",
            ));
        }
        let codec = Codec::new(&engine, &layout, &objects);
        let lanes = lanes(&engine, system)?;
        let demands = demands(protocol, &objects, system.nodes, &layout);
        let longest = (0..protocol.roles.len()).map(|r| engine.record_bytes(RoleId::at(r))).max();
        let untouched = vec![0; longest.unwrap_or(0)];
        let forgetting = [false, true]
            .map(|is_home| role_with_copy(protocol, is_home).filter(|role| forgets(protocol, system, *role)));
        let mut model = Model {
            tags: Vec::new(),
            access: protocol.roles.iter().map(|role| role.states.iter().map(|state| state.access).collect()).collect(),
            is_single_writer: protocol.promises.contains(&Promise::SingleWriter),
            needs_room: lanes.iter().any(|lane| lane.capacity.is_some() && !lane.queues),
            has_queues: lanes.iter().any(|lane| lane.queues),
            shared: engine.shared_if(|lane| lanes[lane.index()].capacity),
            nodes: system.nodes,
            system: system.clone(),
            engine,
            homes,
            objects,
            client,
            lanes,
            layout,
            codec,
            demands,
            begun: Begun::default(),
            kept: KeptCopies::of(protocol, forgetting[0]),
            forgetting,
            unread: None,
            untouched,
        };
        model.check_capacities()?;
        model.tags = model.tag_places();
        model.begun = Begun::of(&model);
        body::begin(&model, &mut World::first(&model.layout, &model.codec)).map_err(|violation| {
            refused(violation.sentence, "let the scenario's thread begin with values that can be worked out")
        })?;
        Ok(model)
    }

    /// The system in words: what a verdict is about.
    pub fn scope(&self) -> String {
        let System { clients, values, ops, threads_per_node, network, lane_capacity, scenario, .. } = &self.system;
        let mut parts = vec![counted(self.nodes, "node")];
        if let Some(clients) = clients.filter(|clients| *clients < self.nodes && scenario.is_none()) {
            parts[0] += &format!(" ({clients} of them with threads)");
        }
        if !self.system.kinds.is_empty() {
            parts.extend(self.kinds_in_words());
        } else if self.most_objects() > 0 {
            parts.push(counted(self.most_objects(), "object"));
        }
        parts.extend(
            self.protocol()
                .made
                .iter()
                .map(|made| format!("up to {} of {} a node", made.most, self.protocol().objects[made.object.index()])),
        );
        parts.extend(self.system.homes.iter().map(|(kind, homes)| {
            let homes: Vec<String> = homes.iter().map(u32::to_string).collect();
            format!("homes of {kind} {}", homes.join("/"))
        }));
        match scenario {
            Some(name) => parts.push(format!("scenario {name}")),
            None => {
                let looks_at_blocks = self.protocol().uses(BLOCK);
                if looks_at_blocks || self.protocol().ops.iter().flat_map(|op| &op.args).any(|arg| arg.ty == Type::Word)
                {
                    parts.push(counted(*values, "value"));
                }
                if looks_at_blocks {
                    parts.push(counted(WORDS_PER_BLOCK, "word"));
                }
                if *threads_per_node > 1 {
                    parts.push(format!("{threads_per_node} threads a node"));
                }
                parts.extend(ops.map(|ops| match ops {
                    1 => "1 access or call a thread".to_string(),
                    ops => format!("{ops} accesses and calls a thread"),
                }));
            }
        }
        match network {
            Network::Declared => {}
            Network::Fifo => parts.push("every lane fifo".into()),
            Network::Unordered => parts.push("every lane unordered".into()),
        }
        parts.extend(lane_capacity.map(|capacity| format!("lanes hold {capacity}")));
        parts.join(", ")
    }

    /// How many objects there are of each kind that the protocol uses, in words.
    fn kinds_in_words(&self) -> impl Iterator<Item = String> {
        let kinds = self.protocol().objects.iter().zip(&self.objects).enumerate();
        let used = kinds.filter(|(kind, (_, count))| {
            *kind != NODE.index() && **count > 0 && self.protocol().made_kind(ObjectKindId::at(*kind)).is_none()
        });
        used.map(|(_, (name, count))| format!("{count} of {name}"))
    }

    pub fn protocol(&self) -> &Protocol {
        self.engine.protocol()
    }

    /// The first state.
    pub fn first(&self) -> World {
        let mut world = World::first(&self.layout, &self.codec);
        self.empty_copies(&mut world);
        self.begun.put(&mut world);
        if let Some(unread) = &self.unread {
            self.all_nodes().for_each(|node| self.forget_unread(unread, &mut world, node));
        }
        if let Some(ops) = self.client.ops {
            for thread in 0..self.client.threads.len() {
                world.set_count(&self.layout, thread, fit(ops, "what a state counts: it was looked at before"));
            }
        }
        // What cannot be worked out here was refused when the model was made.
        let _ = body::begin(self, &mut world);
        // A condition that cannot be evaluated here cannot be after the first event either, which tells of it.
        let _ = note_demands(self, &mut world);
        world
    }

    /// The home of an object: where the system says, else object i of a kind lives at node i mod the number of nodes.
    pub fn home(&self, object: Object) -> Node {
        self.homes.of(object)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u32 {
        self.objects[BLOCK.index()]
    }

    /// Whether a node is the home of an object. Agents have none.
    pub fn is_home(&self, node: Node, object: Object) -> bool {
        object.kind != NODE && self.home(object) == node
    }

    /// The role of a node that answers what a thread there may begin.
    pub fn answering_role(&self, node: Node, intent: &Intent) -> Option<RoleId> {
        let (kind, object) = (event_kind(intent), intent.object());
        let role = self.engine.role_for(kind, object.kind, self.is_home(node, object))?;
        self.engine.answers(role, kind).then_some(role)
    }

    /// Whether a node is the home of some object.
    pub fn is_any_home(&self, node: Node) -> bool {
        self.all_objects().any(|object| self.home(object) == node)
    }

    /// The objects that have homes, kind by kind.
    pub fn all_objects(&self) -> impl Iterator<Item = Object> + '_ {
        let kinds = self.objects.iter().enumerate().map(|(kind, &count)| (ObjectKindId::at(kind), count));
        kinds.filter(|(kind, _)| *kind != NODE).flat_map(|(kind, count)| (0..count).map(move |id| Object { kind, id }))
    }

    /// The tag of a block on a node; what its cache allows, where processors are cached.
    pub fn tag(&self, world: &World, node: Node, block: u32) -> Access {
        if self.protocol().cached {
            return world.line(&self.layout, node, Object { kind: BLOCK, id: block }).line.access();
        }
        self.tag_at(world, &self.tags[block as usize][node as usize])
    }

    #[inline]
    fn tag_at(&self, world: &World, place: &Option<TagPlace>) -> Access {
        let Some(place) = place else { return Access::None };
        let mut state = usize::from(world.fixed[place.state]);
        if place.is_wide {
            state |= usize::from(world.fixed[place.state + 1]) << 8;
        }
        self.access[place.role][state]
    }

    /// How many nodes may access a block, and how many of them may write it.
    pub fn holders(&self, world: &World, block: u32) -> [u32; 2] {
        let count = |[holders, writers]: [u32; 2], tag| {
            [holders + u32::from(tag != Access::None), writers + u32::from(tag == Access::Write)]
        };
        if self.protocol().cached {
            return self.all_nodes().map(|node| self.tag(world, node, block)).fold([0; 2], count);
        }
        self.tags[block as usize].iter().map(|place| self.tag_at(world, place)).fold([0; 2], count)
    }

    fn tag_places(&self) -> Vec<Vec<Option<TagPlace>>> {
        let place = |node, block| {
            let role = self.engine.tag_role(self.is_home(node, Object { kind: BLOCK, id: block }))?;
            let state = self.layout.record(node, role, block)?.start;
            Some(TagPlace { state, is_wide: self.engine.state_bytes(role) > 1, role: role.index() })
        };
        let blocks = 0..self.objects[BLOCK.index()];
        blocks.map(|block| self.all_nodes().map(|node| place(node, block)).collect()).collect()
    }

    /// Copies are forgotten on a guess too, if that may spare states. Where something is then violated (
    /// `unread::FORGOTTEN` is, where somebody looks at such a copy), it has to be explored without. Returns whether anything is guessed.
    pub fn guess(&mut self) -> bool {
        let are_words = self.layout.word_bytes > 1 && self.forgetting == [None; 2];
        self.unread = (self.system.dead_copies && are_words).then(|| UnreadCopies::guess(self.protocol())).flatten();
        self.unread.is_some()
    }

    /// Copies of a node that are overwritten before anybody reads them have no contents any more (`docs/semantics.md`,
    /// section 6).
    pub fn forget_dead_copies(&self, world: &mut World, node: Node) {
        if let Some(unread) = &self.unread {
            return self.forget_unread(unread, world, node);
        }
        for block in 0..self.objects[BLOCK.index()] {
            if self.copy_is_dead(world, node, block) {
                world.set_number(self.layout.block(node, block), self.layout.garbage);
            }
        }
    }

    /// The words of copies that are probably overwritten before anybody looks at them say so.
    fn forget_unread(&self, unread: &UnreadCopies, world: &mut World, node: Node) {
        for block in 0..self.objects[BLOCK.index()] {
            let object = Object { kind: BLOCK, id: block };
            let record = self.record(world, node, unread.role(), object).filter(|_| !self.is_home(node, object));
            if record.is_some_and(|record| unread.is_forgotten(&self.engine, record)) {
                for word in self.layout.block_words(node, block) {
                    world.set_number(word, FORGOTTEN_WORD);
                }
            }
        }
    }

    /// Whether a word of memory has been forgotten on a guess.
    #[inline]
    pub fn is_forgotten(&self, word: u64) -> bool {
        word == FORGOTTEN_WORD && self.unread.is_some()
    }

    /// At first, only the homes of blocks have their contents.
    fn empty_copies(&self, world: &mut World) {
        for node in self.all_nodes() {
            for block in 0..self.objects[BLOCK.index()] {
                if let Some((_, word)) = self.layout.line(node, Object { kind: BLOCK, id: block }) {
                    world.set_number(word, self.layout.garbage);
                }
            }
            for block in 0..self.objects[BLOCK.index()] {
                if !self.is_home(node, Object { kind: BLOCK, id: block }) {
                    self.empty_copy(world, node, block);
                }
            }
        }
    }

    /// A node's copy of a block has no contents. A word beside the one that is looked at has a value only where a handler puts one there.
    pub fn empty_copy(&self, world: &mut World, node: Node, block: u32) {
        let contents = std::iter::once(self.layout.garbage).chain(std::iter::repeat(0));
        for (word, contents) in self.layout.block_words(node, block).zip(contents) {
            world.set_number(word, contents);
        }
    }

    /// Whether a node's copy of a block is overwritten before anybody reads it.
    fn copy_is_dead(&self, world: &World, node: Node, block: u32) -> bool {
        let object = Object { kind: BLOCK, id: block };
        let Some(role) = self.forgetting[usize::from(self.is_home(node, object))] else { return false };
        let Some(record) = self.record(world, node, role, object) else { return false };
        self.protocol().roles[role.index()].states[self.engine.state(role, record).index()].copy_is_dead
    }

    /// All nodes, in order.
    pub fn all_nodes(&self) -> std::ops::Range<Node> {
        0..node(self.nodes)
    }

    /// A record, if the role lives there.
    pub fn record<'w>(&self, world: &'w World, node: Node, role: RoleId, object: Object) -> Option<&'w [u8]> {
        self.layout.record(node, role, object.id).map(|range| &world.fixed[range])
    }

    /// Whether messages carry more than a small word of a block, so that their data must be kept beside the states.
    pub fn keeps_payloads(&self) -> bool {
        let large = |shape| matches!(shape, PayloadShape::Memory | PayloadShape::List);
        // A word of one byte is its own handle.
        let are_numbered = self.layout.word_bytes > 1 || self.layout.memory(0).is_some();
        are_numbered
            || self.protocol().messages.iter().any(|m| large(m.payload))
            || self.protocol().images.iter().any(|image| image.bits() > u8::BITS)
    }

    /// Every instance of every role: node, role, object.
    pub fn instances(&self) -> impl Iterator<Item = (Node, RoleId, Object)> + '_ {
        self.all_nodes().flat_map(move |node| {
            self.protocol().roles.iter().enumerate().flat_map(move |(r, role)| {
                let role_id = RoleId::at(r);
                (0..self.objects[role.object.index()])
                    .map(move |id| (node, role_id, Object { kind: role.object, id }))
                    .filter(|(node, role, object)| self.layout.record(*node, *role, object.id).is_some())
            })
        })
    }

    /// Whether a processor has a request for a block, or for an image, outstanding.
    pub fn requested(&self, world: &World, node: Node, object: Object) -> bool {
        if world.line(&self.layout, node, object).hinted {
            return true;
        }
        self.client.threads_of[node as usize].iter().any(|&thread| {
            let (phase, number) = world.raised(&self.layout, usize::from(thread));
            let asks = |intent: &Intent| intent.uses_line() && intent.object() == object;
            matches!(phase, ThreadState::Waiting | ThreadState::Deferred)
                && self.client.intents.get(number).is_some_and(asks)
        })
    }

    /// Whether a thread's access is allowed by the present tag. A call never is: it always goes to its role.
    pub fn allowed(&self, world: &World, thread: usize, intent: &Intent) -> bool {
        let node = self.client.threads[thread].node;
        match intent {
            Intent::Read { block } => self.tag(world, node, *block) >= Access::Read,
            Intent::Write { block, .. }
            | Intent::WriteBeside { block }
            | Intent::Rmw { block, .. }
            | Intent::Store { block } => self.tag(world, node, *block) == Access::Write,
            Intent::Image { object } => {
                let line = world.line(&self.layout, node, *object).line;
                match calls::act(self, world, thread) {
                    // It fails at once where the line is not there, and wants it for itself where it is shared.
                    Some(CallAction::Swap { .. }) => line != Line::Shared,
                    _ => line.access() >= Access::Read,
                }
            }
            Intent::Call { .. } => false,
        }
    }

    /// What a node's cache holds of an image.
    pub fn image_word(&self, world: &World, node: Node, object: Object) -> i64 {
        self.layout.line(node, object).map_or(0, |(_, word)| world.number(word).cast_signed())
    }

    /// Whether a node has, or will have without anybody's doing, room for `count` more messages on a lane: what is in an outgoing
    /// queue leaves it.
    pub fn room(&self, world: &World, node: Node, lane: LaneId, count: u32) -> bool {
        let form = &self.lanes[lane.index()];
        match form.capacity {
            Some(capacity) if form.queues => count <= capacity,
            Some(capacity) => world.sent_by(node, lane) + count as usize <= capacity as usize,
            None => true,
        }
    }

    /// The queue that a lane shares with others, if that may be full although none of them is.
    pub fn shared_by(&self, lane: LaneId) -> Option<&SharedPlaces> {
        self.shared.iter().find(|shared| shared.lanes.contains(&lane))
    }

    /// Whether every lane has the room that a segment needs before it starts.
    pub fn has_room(&self, world: &World, node: Node, event: EventKind, role: RoleId, state: StateId) -> bool {
        if !self.needs_room {
            return true;
        }
        let needed = self.engine.room_needed(event, role, state);
        needed.iter().enumerate().all(|(lane, &count)| count == 0 || self.room(world, node, LaneId::at(lane), count))
    }

    /// An object as reports write it.
    pub fn object_name(&self, object: Object) -> String {
        if object.kind == NODE {
            "node".into()
        } else {
            format!("{} {}", self.protocol().objects[object.kind.index()], object.id)
        }
    }

    /// Where blocks lie, as the end of a sentence about an address: ` (block 0 at node 0: from 0 to 15)`.
    pub fn where_blocks_lie(&self) -> String {
        let blocks = (0..self.objects[BLOCK.index()]).map(|id| {
            let object = Object { kind: BLOCK, id };
            let first = u64::from(id) * BLOCK_BYTES;
            format!(
                "{} at node {}: {first} to {}",
                self.object_name(object),
                self.home(object),
                first + BLOCK_BYTES - 1
            )
        });
        let more = if self.objects[BLOCK.index()] > MOST_TOLD { "; and so on" } else { "" };
        match blocks.take(MOST_TOLD as usize).collect::<Vec<_>>() {
            none if none.is_empty() => String::new(),
            blocks => format!(" ({}{more})", blocks.join("; ")),
        }
    }

    /// A capacity below what some handler needs would be a protocol that the compiler rejects.
    fn check_capacities(&self) -> Result<(), Diagnostic> {
        for (r, role) in self.protocol().roles.iter().enumerate() {
            for state in 0..role.states.len() {
                for &event in &role.events {
                    let needed = self.engine.room_needed(event, RoleId::at(r), StateId::at(state));
                    let short = needed.iter().enumerate().find_map(|(lane, &count)| {
                        let capacity = self.lanes[lane].capacity?;
                        (count > capacity).then_some((lane, count, capacity))
                    });
                    if let Some((lane, count, capacity)) = short {
                        return Err(refused(
                            format!(
                                "lane `{}` holds {capacity}, but {}.{} may send {count} on it for `{}`",
                                self.protocol().lanes[lane].name,
                                role.name,
                                role.states[state].name,
                                self.protocol().event_name(event)
                            ),
                            "give the lane a greater capacity, or check it with fewer nodes",
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether some state of a role says that a copy can be forgotten, and that is wanted.
fn forgets(protocol: &Protocol, system: &System, role: RoleId) -> bool {
    system.dead_copies && protocol.roles[role.index()].states.iter().any(|state| state.copy_is_dead)
}

fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn check_limits(system: &System) -> Result<(), Diagnostic> {
    let wrong = |message: String, help: &str| Err(refused(message, help));
    if !(1..=MAX_NODES).contains(&system.nodes) {
        return wrong(format!("{} nodes", system.nodes), &format!("a system has 1 to {MAX_NODES} nodes"));
    }
    if system.clients.is_some_and(|clients| clients > system.nodes) {
        let clients = system.clients.unwrap_or_default();
        return wrong(format!("{clients} clients on {} nodes", system.nodes), "at most every node can act");
    }
    if system.objects == 0 || system.objects > MOST_OBJECTS {
        return wrong(format!("{} objects", system.objects), "explore 1 to 256 objects");
    }
    if system.values == 0 || system.values > 256 {
        return wrong(format!("{} values", system.values), "stores need 1 to 256 values; 2 show every stale copy");
    }
    if system.threads_per_node == 0 || system.threads_per_node > 255 {
        return wrong(format!("{} threads per node", system.threads_per_node), "a node has 1 to 255 threads");
    }
    Ok(())
}

fn check_threads(protocol: &Protocol, client: &Client) -> Result<(), Diagnostic> {
    let crowded = client.threads_of.iter().position(|threads| threads.len() > 1);
    match crowded {
        Some(node) if protocol.assumptions.contains(&Assume::OneThreadPerNode) => Err(refused(
            format!(
                "{} threads on node {node}, but {} assumes `one_thread_per_node`",
                client.threads_of[node].len(),
                protocol.name
            ),
            "explore one thread on each node; with more the protocol promises nothing",
        )),
        _ => Ok(()),
    }
}

fn find_scenario<'p>(protocol: &'p Protocol, name: &str) -> Result<&'p trivium_protocol::Scenario, Diagnostic> {
    protocol.scenarios.iter().find(|s| s.name == name).ok_or_else(|| {
        let names: Vec<&str> = protocol.scenarios.iter().map(|s| s.name.as_str()).collect();
        let help = match names.as_slice() {
            [] => "this protocol has no scenarios".to_string(),
            names => format!("it has: {}", names.join(", ")),
        };
        refused(format!("no scenario `{name}`"), help)
    })
}

fn lanes(engine: &Engine, system: &System) -> Result<Vec<LaneModel>, Diagnostic> {
    let protocol = engine.protocol();
    if system.lane_capacity.is_some() && protocol.lanes.iter().all(|lane| lane.holds.is_none()) {
        return Err(refused(
            "a lane capacity was given, but every lane of this protocol is buffered",
            "leave the capacity out, or declare a lane that `holds` or `queues` a number of messages",
        ));
    }
    let fifo = |declared| match system.network {
        Network::Declared => declared,
        Network::Fifo => true,
        Network::Unordered => false,
    };
    // Without order, nothing waits for what came earlier.
    let keeps = system.network != Network::Unordered;
    Ok(protocol
        .lanes
        .iter()
        .enumerate()
        .map(|(at, lane)| LaneModel {
            fifo: fifo(lane.fifo),
            merged: lane.merged && keeps,
            behind: lane.behind.filter(|_| keeps),
            is_before: keeps && protocol.lanes.iter().any(|other| other.behind == Some(LaneId::at(at))),
            capacity: engine.lane_holds(LaneId::at(at)).map(|holds| system.lane_capacity.unwrap_or(holds)),
            queues: lane.queues,
            lossy: lane.lossy,
            duplicating: lane.duplicating,
        })
        .collect())
}

/// The greatest value that a thread may store.
pub fn most_stored(client: &Client) -> u32 {
    let stored = client.intents.iter().map(|intent| match intent {
        Intent::Write { value, .. } | Intent::Rmw { value, .. } => {
            // There is one value more than the largest.
            u32::try_from(*value).unwrap_or(u32::MAX).min(u32::MAX - 1)
        }
        _ => 0,
    });
    stored.max().unwrap_or(0)
}

/// What stands for no contents, where no store leaves as much as that in a word: one that fits a byte.
const SMALL_GARBAGE: u64 = 255;
/// And where stores may. A scenario that stores this is refused.
const WIDE_GARBAGE: u64 = 1 << 32;
/// What stands for contents that were forgotten on a guess. Should a protocol make this number, the guess is given up for nothing.
const FORGOTTEN_WORD: u64 = 1 << 33;

/// A word of memory, as a sentence says it.
pub(crate) fn word_text(model: &Model, word: u64) -> String {
    if word == model.layout.garbage || model.is_forgotten(word) { "garbage".into() } else { word.to_string() }
}

/// Words beyond the blocks: one for each call of each thread, after each address that a call can name.
fn memory_words(system: &System) -> u32 {
    system.memory_words.unwrap_or_else(|| {
        let threads = system.clients.unwrap_or(system.nodes) * system.threads_per_node;
        system.values + threads.saturating_mul(system.ops.unwrap_or(2)).min(1 << 10)
    })
}

/// Whether handlers may perform a store of a value that a byte does not hold beside garbage. Words of the most general client, and
/// what lies at places of its memory, are few; a number of the protocol may be larger.
fn performs_wide(protocol: &Protocol, in_scenario: bool, nodes: u32) -> bool {
    let is_small = |number: &Bound| (0..SMALL_GARBAGE.cast_signed()).contains(&number.at(nodes));
    let is_narrow = |value: &Expr| match (&value.kind, &value.ty) {
        (ExprKind::Constant(number), _) => is_small(number),
        (ExprKind::Binary(..) | ExprKind::Negate(_), _) => false,
        (_, Type::Int { lo, hi }) => is_small(lo) && is_small(hi),
        (_, ty) => matches!(ty, Type::Word | Type::Bool),
    };
    any_step(protocol, |step| match step {
        StepKind::Perform(perform) => match perform.kind {
            PerformKind::Write => in_scenario || !perform.args.last().is_some_and(is_narrow),
            PerformKind::Rmw => in_scenario || !perform.args.iter().rev().take(2).all(is_narrow),
            PerformKind::WriteFrom | PerformKind::WriteData => in_scenario,
            PerformKind::Read | PerformKind::ReadTo | PerformKind::ReadData => false,
        },
        _ => false,
    })
}

/// Whether the protocol moves bytes other than whole blocks, so that memory must be kept as bytes.
pub(crate) fn addresses_memory(protocol: &Protocol) -> bool {
    protocol.messages.iter().any(|m| m.payload == PayloadShape::Memory)
        || any_step(protocol, |step| {
            moves_by_address(step) || matches!(step, StepKind::Send { payload: PayloadSource::List(_), .. })
        })
}

/// Values that a phase has seen are kept as a set, sized by what threads store themselves.
fn check_phases(protocol: &Protocol, stores_wide: bool) -> Result<(), Diagnostic> {
    if !protocol.promises.contains(&Promise::LastPhase) {
        return Ok(());
    }
    if stores_wide {
        return Err(refused(
            "the scenario stores a value above 255, and `last_phase` is checked for smaller ones only",
            "store values from 0 to 255",
        ));
    }
    if any_step(protocol, |step| matches!(step, StepKind::Perform(perform) if perform.stores())) {
        return Err(refused(
            "a handler stores for the program, and `last_phase` is checked for stores of threads only",
            "let the program store by itself, or promise `last_write`",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_no_contents_is_no_value() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/msi.tri");
        let protocol = Arc::new(trivium_lang::compile_file(&path, &[]).unwrap());
        for values in [2, 255, 256] {
            let model = Model::new(&protocol, &System { values, ..System::default() }).unwrap();
            assert!(model.layout.garbage >= values.into(), "{values} values");
        }
    }
}
