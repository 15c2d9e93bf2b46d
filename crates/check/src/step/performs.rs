//! Accesses that handlers perform: for the program of their node, and for threads that wait for them
//! (`docs/semantics.md`, section 3). Of a block, the word that is looked at is one value, whatever the size of an access.

use crate::step::ghost::{self, Sight};
use crate::step::mechanisms::{ForProgram, Here, Performed};
use crate::system::client::Intent;
use crate::system::layout::BLOCK_BYTES;
use crate::system::model::Model;
use crate::system::payload::Data;
use crate::system::promise::{Violation, load, store};
use crate::system::world::ThreadState;
use trivium_engine::{CacheLine, Deed, HandlerAccess, Node, Object, Thread};
use trivium_protocol::{GhostEvent, Operation};

/// What lies at a place of a program's own memory: its number, so that there are values to store; under the most general client not
/// too many of them.
pub(super) fn own(model: &Model, place: u64) -> u64 {
    if model.client.script.is_none() { place % u64::from(model.system.values) } else { place }
}

/// Performs an access on this node's copy; what it gives.
pub(super) fn perform(here: &mut Here, block: Object, access: &HandlerAccess) -> u64 {
    let Some(is_looked_at) = place(here, block, access) else { return 0 };
    let asker = match access.asker {
        None | Some((_, None)) => None,
        Some((node, Some(number))) => match asking(here, block, access, (node, number), is_looked_at) {
            Some(thread) => Some((node, thread)),
            None => return 0,
        },
    };
    let node = access.asker.map_or(here.me, |(node, _)| node);
    let done = if is_looked_at { perform_on_word(here, block, access.deed, (node, asker.is_some())) } else { Ok(0) };
    match done {
        Ok(seen) => {
            if let Some((_, thread)) = asker {
                here.world.set_performed(&here.model.layout, thread, seen);
            }
            seen
        }
        Err(violation) => {
            here.effects.trouble.get_or_insert(violation);
            0
        }
    }
}

/// Whether an access is to the word of the block that is looked at: it begins where that begins. Others are nobody's concern, as
/// long as they lie in the block.
fn place(here: &mut Here, block: Object, access: &HandlerAccess) -> Option<bool> {
    let first = u64::from(block.id) * BLOCK_BYTES;
    let at = access.address.checked_sub(first);
    let lies_in = at.is_some_and(|at| access.bytes <= BLOCK_BYTES && at <= BLOCK_BYTES - access.bytes);
    if !lies_in {
        let (bytes, name) = (access.bytes, here.model.object_name(block));
        let blocks = here.model.where_blocks_lie();
        here.trouble(format!("{bytes} bytes at address {} do not lie in {name}{blocks}", access.address));
    }
    lies_in.then_some(at == Some(0))
}

/// The thread for which an access is performed: it waits for this access, which nobody has performed.
fn asking(
    here: &mut Here,
    block: Object,
    access: &HandlerAccess,
    asker: (Node, Thread),
    is_looked_at: bool,
) -> Option<usize> {
    let (node, number) = asker;
    let model = here.model;
    let name = model.object_name(block);
    let deed = match access.deed {
        Deed::Load | Deed::LoadTo(_) => format!("a read of {name}"),
        Deed::Store(value) => format!("a write of {value} to {name}"),
        Deed::StoreFrom(_) | Deed::StoreData(_) => format!("a write to {name}"),
        Deed::Modify { operation, operand, .. } => format!("{} of {operand} in {name}", operation.name()),
    };
    let who = format!("node {node}: thread {number}");
    let threads = model.client.threads_of.get(usize::from(node));
    let Some(thread) = threads.and_then(|threads| threads.get(usize::from(number)).copied()) else {
        here.trouble(format!("{deed} is performed for {who}, which there is not"));
        return None;
    };
    let (state, intent) = here.intent(thread);
    let waits = state == ThreadState::Waiting;
    let intent = if waits { settled(here, thread, state, intent) } else { intent };
    let is_this = |intent: &Intent| match (intent.clone(), access.deed) {
        _ if intent.object() != block => false,
        (Intent::Read { .. }, Deed::Load) => is_looked_at,
        (Intent::Write { value, .. }, Deed::Store(stored)) => is_looked_at && value == stored,
        (Intent::WriteBeside { .. }, Deed::Store(_)) => !is_looked_at,
        (Intent::Rmw { value, .. }, Deed::Modify { operation: Operation::Exchange, operand, .. }) => {
            is_looked_at && value == operand
        }
        _ => false,
    };
    if !waits || !model.client.intents.get(intent).is_some_and(is_this) {
        here.trouble(format!("{deed} is performed for {who}, which does not wait for that"));
        return None;
    }
    if here.world.performed(&model.layout, thread.into()).is_some() {
        here.trouble(format!("{deed} is performed for {who}, for which it has been performed before"));
        return None;
    }
    Some(thread.into())
}

/// What a waiting thread does: a store that was left open is chosen now, and stays what was chosen.
fn settled(here: &mut Here, thread: u16, state: ThreadState, intent: usize) -> usize {
    let chosen = here.effects.choices.choose(here.model, here.world, thread.into(), intent);
    if chosen != intent {
        here.world.set_thread(&here.model.layout, thread.into(), state, chosen);
    }
    chosen
}

/// Performs an access of a node to the word that is looked at; what it loads, and 0 if it only stores.
fn perform_on_word(here: &mut Here, block: Object, deed: Deed, (node, asked): (Node, bool)) -> Result<u64, Violation> {
    let (model, me) = (here.model, here.me);
    let loaded = match deed {
        Deed::Store(_) | Deed::StoreFrom(_) | Deed::StoreData(_) => {
            // A buffer of an engine without contents has other words, too.
            if model.protocol().cached {
                here.about_to_look_at_block(block);
            }
            None
        }
        _ => {
            here.about_to_look_at_block(block);
            Some(load(model, here.world, me, block.id)?)
        }
    };
    let old = loaded.unwrap_or(0);
    let stored = match deed {
        Deed::Load | Deed::LoadTo(_) => None,
        Deed::Store(value) => Some(value),
        Deed::StoreFrom(place) => Some(own(model, place)),
        Deed::StoreData(payload) => Some(match here.payloads.data(payload) {
            Data::Block(word) => word,
            Data::Memory(_) | Data::List(_) => {
                here.trouble("what arrived is not the bytes of an access".into());
                return Ok(0);
            }
        }),
        Deed::Modify { operation, operand, expected } => {
            let new = operation.apply(8, old, operand, expected);
            // Under the most general client, numbers go round behind the last value: so that there are not too many.
            Some(if model.client.script.is_none() { new % u64::from(model.system.values) } else { new })
        }
    };
    let width = model.layout.block(me, block.id).len();
    if let Some(value) = stored.filter(|&value| width < 8 && value >> (8 * width) != 0) {
        here.trouble(format!("{value} does not fit a word of the explored memory"));
        return Ok(0);
    }
    here.effects.for_program.push(ForProgram { node, block, loaded, stored, asked });
    if let Some(value) = loaded {
        here.reached.loads = true;
        see(here, GhostEvent::Read, (node, block), value)?;
    }
    if let Some(value) = stored {
        store(model, here.world, me, block.id, value);
        here.reached.stores = true;
        see(here, GhostEvent::Write, (node, block), value)?;
    }
    Ok(old)
}

fn see(here: &mut Here, what: GhostEvent, (node, object): (Node, Object), value: u64) -> Result<(), Violation> {
    ghost::tell(here, Sight { what, node, object, words: &[value.cast_signed()] })
}

/// The access of a thread of this node, which was performed for it, is done, and the thread gets a value.
pub(super) fn complete_with(here: &mut Here, object: Object, number: Thread, value: u64) {
    let model = here.model;
    let name = model.object_name(object);
    let thread = model.client.threads_of[usize::from(here.me)].get(usize::from(number)).copied();
    let waiting = thread.map(|thread| (thread, here.intent(thread))).filter(|(_, (state, intent))| {
        let intent = &model.client.intents[*intent];
        *state == ThreadState::Waiting && intent.is_access() && intent.object() == object
    });
    let Some((thread, (_, intent))) = waiting else {
        return here.trouble(format!("the access of thread {number} to {name} is completed, and it waits for none"));
    };
    let Some(seen) = here.world.performed(&model.layout, thread.into()) else {
        return here
            .trouble(format!("the access of thread {number} to {name} is completed, and nobody has performed it"));
    };
    let loads = matches!(model.client.intents[intent], Intent::Read { .. } | Intent::Rmw { .. });
    if loads && value != seen {
        return here.trouble(format!("thread {number} gets {value} from {name}, and its access has read {seen}"));
    }
    let performed = Performed { thread: thread.into(), intent, seen: loads.then_some(seen), left: 0, elsewhere: true };
    here.effects.performed.push(performed);
    here.world.set_thread(&model.layout, thread.into(), ThreadState::Free, 0);
    if model.protocol().cached {
        here.change_line(object, CacheLine::answered);
    }
}
