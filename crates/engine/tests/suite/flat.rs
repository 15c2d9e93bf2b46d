//! Flat code beside the walk over steps, its oracle: the same calls of the mechanisms in the same order, the same records, the
//! same faults at the same places, the same number of steps. For all protocols of the repository, and for those with random
//! mistakes.

use crate::mutant::{compiled, config, mutant, protocols, slip};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use trivium_engine::*;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// What a handler asked for, in order. Nothing is what it seems: memory, lanes, lines and threads answer with numbers that
/// follow from what is asked, and what has been asked before.
#[derive(Clone)]
struct Recorder {
    me: Node,
    nodes: u32,
    bytes: Vec<usize>,
    first: Vec<Vec<u8>>,
    records: BTreeMap<(RoleId, Object), Vec<u8>>,
    calls: Vec<String>,
    /// Plain steps that have been charged since the last call.
    steps: u32,
    ways: Vec<(Span, bool)>,
    payloads: u32,
}

impl Recorder {
    fn new(engine: &Engine, me: Node) -> Recorder {
        let roles = 0..engine.protocol().roles.len();
        let bytes: Vec<usize> = roles.map(|role| engine.record_bytes(RoleId::at(role))).collect();
        Recorder {
            me,
            nodes: engine.nodes(),
            first: bytes.iter().map(|&bytes| vec![0; bytes]).collect(),
            bytes,
            records: BTreeMap::new(),
            calls: Vec::new(),
            steps: 0,
            ways: Vec::new(),
            payloads: 0,
        }
    }

    fn told(&mut self, call: String) {
        let steps = std::mem::take(&mut self.steps);
        self.calls.push(format!("after {steps} steps: {call}"));
    }

    /// A number that follows from what has been asked so far.
    fn chance(&self) -> u64 {
        let text = self.calls.last().map_or("", |call| call.as_str());
        text.bytes().fold(self.calls.len() as u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
    }

    fn payload(&mut self, call: String) -> Payload {
        self.told(call);
        self.payloads += 1;
        Payload(self.payloads)
    }
}

impl RecordMechanisms for Recorder {
    fn me(&self) -> Node {
        self.me
    }

    fn home(&self, object: Object) -> Node {
        (object.id % self.nodes) as Node
    }

    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        self.records.entry((role, object)).or_insert_with(|| self.first[role.index()].clone())
    }

    fn choose(&mut self, nodes: impl Iterator<Item = Node>) -> Option<Node> {
        let nodes: Vec<Node> = nodes.collect();
        self.told(format!("choose {nodes:?}"));
        let at = self.chance() as usize % nodes.len().max(1);
        nodes.get(at).copied()
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.told(format!("start {task:?} {object:?} {args:?}"));
    }

    fn state_changed(&mut self, role: RoleId, object: Object, from: StateId, to: StateId) {
        self.told(format!("changed {role:?} {object:?} {from:?} {to:?}"));
    }
}

impl MemoryMechanisms for Recorder {
    fn block_bytes(&self) -> u64 {
        32
    }

    fn block_at(&mut self, address: u64) -> Option<u32> {
        u32::try_from(address / 32).ok().filter(|block| *block < 8)
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        self.payload(format!("gather {block:?}"))
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        self.payload(format!("gather {from} {to}"))
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        self.payload(format!("gather {blocks} {items:?}"))
    }

    fn gather_own(&mut self, from: u64, to: u64) -> Payload {
        self.payload(format!("gather own {from} {to}"))
    }

    fn gather_access(&mut self, block: Object, access: &HandlerAccess) -> Payload {
        self.payload(format!("gather {block:?} {access:?}"))
    }

    fn install_own(&mut self, payload: Payload, at: u64) {
        self.told(format!("install own {payload:?} {at}"));
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        self.told(format!("install {payload:?} {block:?}"));
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        self.told(format!("install {payload:?} {address:?}"));
    }

    fn set_access(&mut self, block: Object, from: Access, to: Access) {
        self.told(format!("access {block:?} {from} {to}"));
    }

    fn load(&mut self, address: u64) -> u64 {
        self.told(format!("load {address}"));
        self.chance() % 5
    }

    fn store(&mut self, address: u64, value: u64) {
        self.told(format!("store {address} {value}"));
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        self.told(format!("copy {from} {to} {bytes}"));
    }

    fn perform(&mut self, block: Object, access: &HandlerAccess) -> u64 {
        self.told(format!("perform {block:?} {access:?}"));
        self.chance() % 9
    }
}

impl LineMechanisms for Recorder {
    fn probe(&mut self, block: Object) -> Line {
        self.told(format!("probe {block:?}"));
        Line::ALL[(self.chance() % 4) as usize]
    }

    fn fill(&mut self, block: Object, to: Line) -> bool {
        self.told(format!("fill {block:?} {to}"));
        !self.chance().is_multiple_of(4)
    }

    fn upgrade(&mut self, block: Object) -> bool {
        self.told(format!("upgrade {block:?}"));
        !self.chance().is_multiple_of(4)
    }

    fn take(&mut self, block: Object, to: Line) {
        self.told(format!("take {block:?} {to}"));
    }

    fn invalidate(&mut self, block: Object) {
        self.told(format!("invalidate {block:?}"));
    }

    fn compose(&mut self, image: Object, word: u64) {
        self.told(format!("compose {image:?} {word}"));
    }

    fn image_word(&mut self, image: Object) -> u64 {
        self.told(format!("image {image:?}"));
        self.chance() % 9
    }
}

impl ThreadMechanisms for Recorder {
    fn resume(&mut self, object: Object) {
        self.told(format!("resume {object:?}"));
    }

    fn complete(&mut self, object: Object) {
        self.told(format!("complete {object:?}"));
    }

    fn complete_with(&mut self, object: Object, thread: Thread, value: u64, place: Span) {
        self.told(format!("complete {object:?} of {thread} with {value} at {place:?}"));
    }

    fn answer(&mut self, thread: Thread, value: i64) {
        self.told(format!("answer {thread} {value}"));
    }

    fn pending(&mut self, thread: Thread) -> Pending {
        Pending { address: u64::from(thread) * 8, size: 4, value: self.chance() % 9, ..Pending::default() }
    }
}

impl NetworkMechanisms for Recorder {
    fn send(&mut self, to: Node, message: &Outgoing) {
        self.told(format!("send {to} {message:?}"));
    }

    fn room(&mut self, lane: LaneId, count: u32, together: u32) -> bool {
        self.told(format!("room {lane:?} {count} {together}"));
        self.chance().is_multiple_of(2)
    }
}

impl ClockMechanisms for Recorder {
    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>) {
        self.told(format!("timer {role:?} {object:?} {after:?}"));
    }

    fn charge(&mut self, what: Charge) {
        match what {
            Charge::Steps(steps) => self.steps += u32::from(steps),
            what => self.told(format!("charge {what:?}")),
        }
    }

    fn way(&mut self, step: Span, taken: bool) {
        self.ways.push((step, taken));
    }
}

/// What an event is made of; numbers choose among what the protocol has.
type Raw = (u16, u16, u32, Node, u8, Vec<i64>, u8);

fn raw() -> impl Strategy<Value = Raw> {
    let words = prop::collection::vec(prop_oneof![8 => 0i64..4, 2 => -2i64..64, 1 => any::<i64>()], MAX_ARGS);
    let sender = prop_oneof![12 => 0u16..4, 1 => any::<u16>()];
    let thread = prop_oneof![9 => 0u8..2, 1 => any::<u8>()];
    (any::<u16>(), any::<u16>(), 0u32..5, sender, thread, words, 0u8..8)
}

/// So many of these words as an event's arguments have, of each set, array and list as many as it needs; most often. Lists have up to ten elements, or as many as
/// an element more than there is room for.
fn arguments(engine: &Engine, kind: EventKind, args: &[Named], from: &[i64], how: u8) -> Vec<i64> {
    if how == 2 {
        return args.iter().zip(from).map(|(_, word)| *word).collect();
    }
    let (mut words, mut begins) = (Vec::new(), true);
    for &word in from {
        let known = engine.argument_values(kind, &words).len();
        let Some(next) = args.get(known) else { break };
        let length = match &next.ty {
            Type::List { up_to, .. } if begins => Some(up_to.at(engine.nodes()).min(10) + i64::from(how == 3)),
            _ => None,
        };
        // The length of a list is in its first byte, or in its first two.
        words.push(length.map_or(word, |most| (word & !0xffff) | word.rem_euclid(most + 1)));
        begins = engine.argument_values(kind, &words).len() > known;
    }
    words
}

/// An event, most often one that the role answers in the state in which the object's record is.
fn event(engine: &Engine, recorder: &Recorder, raw: &Raw) -> (RoleId, Event) {
    let (role, column, id, sender, thread, words, how) = raw;
    let protocol = engine.protocol();
    let role = RoleId::at(usize::from(*role) % protocol.roles.len());
    let declared = &protocol.roles[role.index()];
    let object = Object { kind: declared.object, id: if declared.object == NODE { 0 } else { *id } };
    let state = recorder.records.get(&(role, object)).map_or(StateId(0), |record| engine.state(role, record));
    let answered: Vec<EventKind> = declared
        .events
        .iter()
        .zip(&declared.table[state.index()])
        .filter(|(_, response)| *how == 0 || matches!(response, Response::Handle(_)))
        .map(|(&event, _)| event)
        .collect();
    let all = if answered.is_empty() { &declared.events } else { &answered };
    let kind = all.get(usize::from(*column) % all.len().max(1)).copied().unwrap_or(EventKind::Timer);
    let (args, payload): (&[Named], bool) = match kind {
        EventKind::Message(m) => {
            let message = &protocol.messages[m.index()];
            (&message.args, message.payload != PayloadShape::Nothing)
        }
        EventKind::Op(op) => (&protocol.ops[op.index()].args, false),
        EventKind::Task(task) => (&protocol.tasks[task.index()].args, false),
        EventKind::WriteBack => (&[], true),
        _ => (&[], false),
    };
    let words = arguments(engine, kind, args, words, *how);
    let payload = (payload && *how != 1).then_some(Payload(0));
    (role, Event { sender: *sender, thread: *thread, args: Args::of(&words), payload, ..Event::local(kind, object, 0) })
}

/// Lets the same events happen both ways, and shows what came of each.
fn compare(
    engine: &Engine,
    me: Node,
    raws: &[Raw],
    see: &mut impl FnMut(&Result<Outcome, Fault>),
) -> Result<(), TestCaseError> {
    let walking = engine.clone().walking();
    let mut flat = Recorder::new(engine, me);
    for raw in raws {
        let (role, event) = event(engine, &flat, raw);
        let mut walked = flat.clone();
        let due = flat.records.iter().find(|((role, _), record)| engine.replay_due(*role, record)).map(|(key, _)| *key);
        let (one, other) = match due {
            Some((role, object)) if raw.6 > 1 => {
                (engine.replay(role, object, &mut flat), walking.replay(role, object, &mut walked))
            }
            _ => (engine.dispatch_to(role, &event, &mut flat), walking.dispatch_to(role, &event, &mut walked)),
        };
        prop_assert_eq!(&one, &other, "{:?}", event);
        prop_assert_eq!(&flat.calls, &walked.calls, "{:?} {:?}", event, one);
        prop_assert_eq!(&flat.ways, &walked.ways, "{:?}", event);
        if one.is_ok() {
            prop_assert_eq!(flat.steps, walked.steps, "{:?}", event);
        }
        see(&one);
        prop_assert_eq!(&flat.records, &walked.records, "{:?}", event);
        for (&(role, _), record) in &flat.records {
            prop_assert_eq!(record.len(), flat.bytes[role.index()]);
        }
        flat.calls.clear();
        flat.ways.clear();
        flat.steps = 0;
        if one.is_err() {
            // What a fault leaves behind is not a record that a handler may find.
            flat.records.clear();
        }
    }
    Ok(())
}

/// Whether a handler ran to its end.
fn has_run(outcome: &Result<Outcome, Fault>) -> bool {
    outcome.as_ref().is_ok_and(|outcome| outcome.handler.is_some())
}

/// All protocols that the repository has, in whatever folder.
fn everywhere() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = protocols();
    for folder in ["docs/tutorial", "docs/checking", "docs/idea", "crates/trivium/tests/mutants"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "tri"));
        files.sort();
        all.extend(files.into_iter().map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, text)
        }));
    }
    all.push((root.join("crates/engine/tests/files/lists.tri"), include_str!("../files/lists.tri").into()));
    all.retain(|(path, text)| compiled(path, text, &[]).is_ok());
    all
}

static ALL: LazyLock<Vec<(PathBuf, String)>> = LazyLock::new(everywhere);

#[test]
fn every_handler_of_a_shipped_protocol_becomes_flat_code() {
    let mut handlers = 0;
    for (path, text) in ALL.iter() {
        let protocol = Arc::new(compiled(path, text, &[]).unwrap());
        for nodes in [2, 3, 32, 200] {
            let Ok(engine) = Engine::load(protocol.clone(), nodes) else { continue };
            let left = engine.walked();
            assert!(left.is_empty(), "{} on {nodes} nodes: {left:?}", path.display());
            let walking = engine.clone().walking();
            assert_eq!(walking.walked().len(), protocol.roles.iter().map(|role| role.handlers.len()).sum::<usize>());
            handlers += walking.walked().len();
        }
    }
    assert!(handlers > 3000, "{handlers} handlers");
}

/// Each protocol with many events of a fixed row of random numbers.
#[test]
fn shipped_protocols_do_the_same_both_ways() {
    let mut runner = proptest::test_runner::TestRunner::new(config(1));
    let mut ran = 0;
    for (path, text) in ALL.iter() {
        let protocol = Arc::new(compiled(path, text, &[]).unwrap());
        for (nodes, me) in [(1, 0), (3, 0), (4, 1), (70, 2)] {
            let Ok(engine) = Engine::load(protocol.clone(), nodes) else { continue };
            for _ in 0..4 {
                let events = prop::collection::vec(raw(), 150).new_tree(&mut runner).unwrap().current();
                let compared = compare(&engine, me, &events, &mut |outcome| ran += usize::from(has_run(outcome)));
                compared.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
        }
    }
    assert!(ran > 50_000, "{ran} handlers ran");
}

/// Those with lists among the arguments, with so many events that each handler of `lists.tri` comes to its end, and some read beyond a list's end, or put too much into one.
#[test]
fn handlers_with_lists_do_the_same_both_ways() {
    let mut runner = proptest::test_runner::TestRunner::new(config(1));
    let with_lists = ["protocols/mm.tri", "protocols/token-list.tri", "files/lists.tri"];
    let (mut beyond, mut too_much) = (0, 0);
    for (path, text) in ALL.iter().filter(|(path, _)| with_lists.iter().any(|name| path.ends_with(name))) {
        let protocol = Arc::new(compiled(path, text, &[]).unwrap());
        let mut left: BTreeSet<(RoleId, HandlerId)> = BTreeSet::new();
        let total: usize = protocol.roles.iter().map(|role| role.handlers.len()).sum();
        for (role, declared) in protocol.roles.iter().enumerate() {
            left.extend((0..declared.handlers.len()).map(|handler| (RoleId::at(role), HandlerId::at(handler))));
        }
        for (nodes, me) in [(2, 0), (3, 1), (70, 2)].repeat(20) {
            let engine = Engine::load(protocol.clone(), nodes).unwrap();
            let events = prop::collection::vec(raw(), 400).new_tree(&mut runner).unwrap().current();
            let compared = compare(&engine, me, &events, &mut |outcome| match outcome {
                Ok(outcome) => {
                    outcome.handler.iter().for_each(|&handler| {
                        left.remove(&(outcome.role, handler));
                    });
                }
                Err(fault) if matches!(fault.kind, FaultKind::NoElement(_)) => beyond += 1,
                Err(fault) if fault.kind == FaultKind::ListFull => too_much += 1,
                Err(_) => {}
            });
            compared.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        let names = left.iter().map(|(role, handler)| &protocol.roles[role.index()].handlers[handler.index()].name);
        let names: Vec<&String> = names.collect();
        // Faults, after which records are as at first, keep others from states that take some events in a row.
        let most = if path.ends_with("lists.tri") { 0 } else { total / 2 };
        assert!(names.len() <= most, "{}: {names:?} never ran", path.display());
    }
    assert!(beyond > 20 && too_much > 20, "{beyond} reads beyond the end, {too_much} lists too long");
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn mutants_do_the_same_both_ways(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec(slip(), 1..6),
        nodes in prop_oneof![4 => 1u32..5, 1 => 1u32..257],
        me in 0u16..4,
        raws in prop::collection::vec(raw(), 1..120),
    ) {
        let (path, source) = which.get(&ALL);
        let Some((protocol, _)) = mutant(path, source, &slips) else { return Ok(()) };
        let Ok(engine) = Engine::load(protocol, nodes) else { return Ok(()) };
        compare(&engine, me, &raws, &mut |_| {})?;
    }
}
