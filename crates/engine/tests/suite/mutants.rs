//! Shipped protocols, and those with random mistakes, under events in any order and of any contents: no panic, records
//! stay records, and the same events have the same effects.

use crate::mutant::{compiled, config, mutant, protocols, slip};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use trivium_contract::local::{Effect, Local, Waiting};
use trivium_engine::{Args, Engine, Event, Fault, MemoryMechanisms, Node, Object, Outcome, Payload, Pending};
use trivium_protocol::*;

const BLOCKS: u32 = 4;
const BLOCK_BYTES: usize = 32;

/// What an event is made of; numbers choose among what the protocol has.
type Raw = (u16, u32, Node, u8, Vec<i64>, bool);

fn raw() -> impl Strategy<Value = Raw> {
    let words = prop::collection::vec(prop_oneof![8 => 0i64..4, 1 => -3i64..300, 1 => any::<i64>()], 8);
    let sender = prop_oneof![9 => 0u16..4, 1 => any::<u16>()];
    let thread = prop_oneof![9 => 0u8..2, 1 => any::<u8>()];
    (any::<u16>(), 0..BLOCKS, sender, thread, words, any::<bool>())
}

/// Every kind of event of a protocol, with the kind of object that it is about, and what data and arguments it has.
fn kinds(protocol: &Protocol) -> Vec<(EventKind, ObjectKindId, PayloadShape, Vec<Type>)> {
    let mut kinds = Vec::new();
    for (number, message) in (0..).zip(&protocol.messages) {
        let args = message.args.iter().map(|arg| arg.ty.clone()).collect();
        kinds.push((EventKind::Message(MessageId(number)), message.object, message.payload, args));
    }
    for (number, op) in (0..).zip(&protocol.ops) {
        kinds.push((
            EventKind::Op(OpId(number)),
            op.object,
            PayloadShape::Nothing,
            op.args.iter().map(|arg| arg.ty.clone()).collect(),
        ));
    }
    for local in [EventKind::Read, EventKind::Write, EventKind::Evict, EventKind::Timer] {
        kinds.push((local, BLOCK, PayloadShape::Nothing, Vec::new()));
    }
    kinds.push((EventKind::WriteBack, BLOCK, PayloadShape::Block, Vec::new()));
    kinds
}

/// A node of three with a thread that waits for each block.
fn node(engine: &Engine) -> Local {
    let mut node = Local::new(engine, 0, BLOCKS, BLOCK_BYTES);
    for id in 0..BLOCKS {
        let pending = Pending { address: u64::from(id) * BLOCK_BYTES as u64, size: 8, value: 7, ..Pending::default() };
        node.wait(Waiting { thread: 0, block: Object { kind: BLOCK, id }, store: id % 2 == 0, pending });
    }
    node
}

/// The compiler's bounds on a handler, counted anew: it takes no more steps than its longest path has, and sends no more on
/// a lane than was said, unless it asks for room.
fn within_bounds(engine: &Engine, outcome: &Result<Outcome, Fault>, effects: &[Effect]) -> Result<(), TestCaseError> {
    let Ok(Outcome { role, handler: Some(handler), steps, .. }) = outcome else { return Ok(()) };
    let (protocol, nodes) = (engine.protocol(), engine.nodes());
    let declared = &protocol.roles[role.index()].handlers[handler.index()];
    let longest = declared.longest.at(nodes);
    prop_assert!(i64::from(*steps) <= longest, "{} took {steps} steps, more than {longest}", declared.name);
    if format!("{:?}", declared.steps).contains("Room(") {
        return Ok(());
    }
    for (lane, most) in declared.sends.iter().enumerate() {
        let on_lane = |effect: &&Effect| match effect {
            Effect::Sent { message, .. } => protocol.messages[message.message.index()].lane.index() == lane,
            _ => false,
        };
        let (sent, most) = (effects.iter().filter(on_lane).count() as i64, most.at(nodes));
        prop_assert!(sent <= most, "{} sent {sent} on lane {lane}, more than {most}", declared.name);
    }
    Ok(())
}

/// Lets events happen; what they did, told.
fn happen(engine: &Engine, raws: &[Raw]) -> Result<Vec<String>, TestCaseError> {
    let protocol = engine.protocol();
    let kinds = kinds(protocol);
    let mut m = node(engine);
    let mut told = Vec::new();
    let mut tasks: Vec<(TaskId, Object, Args)> = Vec::new();
    for (which, id, sender, thread, words, replay) in raws {
        let (kind, object, shape, args) = kinds[usize::from(*which) % kinds.len()].clone();
        let object = Object { kind: object, id: if object == NODE { 0 } else { *id } };
        let words: Vec<i64> = args.iter().zip(words).map(|(_, word)| *word).collect();
        let payload: Option<Payload> = match shape {
            PayloadShape::Nothing => None,
            PayloadShape::Block => Some(m.gather_block(Object { kind: BLOCK, id: *id })),
            PayloadShape::Memory => Some(m.gather_memory(8, 24)),
            PayloadShape::List => Some(m.gather_list(false, &[0, 40])),
            PayloadShape::Bytes => Some(m.gather_own(8, 24)),
        };
        let mut event = Event { kind, object, sender: *sender, thread: *thread, args: Args::of(&words), payload };
        if *replay && let Some((task, object, args)) = tasks.pop() {
            event = Event { args, ..Event::local(EventKind::Task(task), object, 0) };
        }
        let outcome = engine.dispatch(&event, &mut m);
        within_bounds(engine, &outcome, &m.effects)?;
        told.push(format!("{event:?}: {outcome:?}"));
        let due: Vec<(RoleId, Object)> = m
            .records()
            .filter(|&(role, _, record)| engine.replay_due(role, record))
            .map(|(role, o, _)| (role, o))
            .collect();
        for (role, object) in due {
            let before = m.effects.len();
            let outcome = engine.replay(role, object, &mut m);
            within_bounds(engine, &outcome, &m.effects[before..])?;
            told.push(format!("replay: {outcome:?}"));
        }
        for effect in &m.effects {
            told.push(format!("{effect:?}"));
            if let Effect::Started { task, object, args } = effect {
                tasks.push((*task, *object, *args));
            }
        }
        for (role, object, record) in m.records() {
            prop_assert_eq!(record.len(), engine.record_bytes(role));
            told.push(format!(
                "{object:?} {} {:?}",
                engine.describe(role, record),
                engine.deferred(role, object, record)
            ));
        }
        m.forget();
    }
    Ok(told)
}

/// Protocols without addresses: the plain node believes every address, and has no more memory than its blocks.
static USABLE: LazyLock<Vec<(PathBuf, String)>> = LazyLock::new(|| {
    let has_none = |(path, text): &(PathBuf, String)| {
        let parts = format!("{:?}", compiled(path, text, &[]).unwrap_or_else(|e| panic!("{e}")));
        !parts.contains("Address") && !parts.contains("Memory")
    };
    let usable: Vec<_> = protocols().into_iter().filter(has_none).collect();
    assert!(usable.len() > 12, "{} are left", usable.len());
    usable
});

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn any_events_are_answered(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec(slip(), 0..6),
        nodes in 1u32..5,
        raws in prop::collection::vec(raw(), 1..60),
    ) {
        let (path, source) = which.get(&USABLE);
        let protocol = match mutant(path, source, &slips) {
            Some((mutant, _)) => mutant,
            None => Arc::new(compiled(path, source, &[]).unwrap_or_else(|e| panic!("{e}"))),
        };
        let Ok(engine) = Engine::load(protocol, nodes) else { return Ok(()) };
        prop_assert_eq!(happen(&engine, &raws)?, happen(&engine, &raws)?);
    }
}
