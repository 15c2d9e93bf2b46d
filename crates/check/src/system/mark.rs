//! Promises about loads that are weaker than `last_write`: `coherent`, `tso`, `release_consistency`
//! (`docs/semantics.md`, section 7).
//!
//! The order of stores is that in which they are performed. A protocol does not look at values, so a load that returns
//! too old a store exists iff one exists with these values: every store performed before a certain one, the *marked*
//! store, stores 0; the marked one and all performed after it, to whatever block, store 1. The load that is too old then
//! returns 0 from the marked block, to a thread that must know better. One byte a thread remembers whether it must
//! (`docs/checking.md`, section 2).

use crate::config::refused;
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::promise::Violation;
use crate::system::world::{ThreadState, World};
use std::ops::Range;
use trivium_diagnostic::Diagnostic;
use trivium_engine::Object;
use trivium_protocol::walk::{any_expr, any_step};
use trivium_protocol::{ExprKind, OpId, Promise, Protocol, StepKind};

/// What stores after the mark write.
const MARKED: u64 = 1;
/// What the observer of `tso` stores after the mark: its own stores can be told from others', which it may see early.
const OWN: u64 = 2;

/// The thread has seen the marked store to the block or one after it, or has stored there itself.
const FRESH: u8 = 1;
/// The marked store happens before what the thread does.
const KNOWS: u8 = 2;
/// What the thread will know when its acquiring call returns.
const ASKED: u8 = 4;
/// The thread knows that what the marked store or one after it has left was copied to the block to which the mark has gone.
const COPIED: u8 = 8;
/// In place of the marked block: what was stored to it before the mark was copied to it after that, so that nothing is asked of it.
const NO_BLOCK: u64 = 0xffff;

/// Arrived at a barrier is one to whom the marked store happens before.
const ARRIVED: u8 = 1;
/// All have arrived since.
const PASSED: u8 = 2;

/// Where a state remembers the marked store and who must see it.
pub(crate) struct MarkLayout {
    at: usize,
    threads: usize,
    /// Of each promise: a byte for each object of its calls.
    promises: Vec<usize>,
    /// Where it is remembered to which block the mark has gone with a copy, if calls copy.
    copied: Option<usize>,
    /// Of the observer of `tso`.
    pub observes: bool,
    /// Of calls that synchronise.
    pub synchronises: bool,
}

impl MarkLayout {
    /// Takes room for it, if some promise needs it. `objects` gives how many objects a call can be about.
    pub fn new(
        protocol: &Protocol,
        threads: usize,
        objects: impl Fn(OpId) -> usize,
        mut take: impl FnMut(usize) -> usize,
    ) -> Option<MarkLayout> {
        let weaker = protocol.weaker()?;
        let synchronises = matches!(weaker, Promise::ReleaseConsistency { .. });
        let at = take(5 + threads);
        let promises = protocol.promises.iter().map(|promise| match promise {
            Promise::Mutex(call, _) | Promise::Barrier(call) if synchronises => take(objects(*call)),
            _ => 0,
        });
        let (promises, observes) = (promises.collect(), *weaker == Promise::Tso);
        let copied = protocol.has_copies().then(|| take(2));
        Some(MarkLayout { at, threads, promises, copied, observes, synchronises })
    }

    /// The block to which a copy has brought the mark, plus one; 0 if there is none.
    fn copied(&self) -> Option<Range<usize>> {
        self.copied.map(|at| at..at + 2)
    }

    /// The marked block plus one; 0 before the mark.
    pub fn block(&self) -> Range<usize> {
        self.at..self.at + 2
    }

    /// The thread, plus one, whose loads `tso` looks at.
    pub fn observer(&self) -> Range<usize> {
        self.at + 2..self.at + 4
    }

    /// Whether some thread to whom the marked store happens before has released it.
    pub fn released(&self) -> usize {
        self.at + 4
    }

    /// What a thread has seen.
    pub fn thread(&self, thread: usize) -> usize {
        debug_assert!(thread < self.threads);
        self.at + 5 + thread
    }

    /// What a lock or a barrier hands on, under a promise.
    pub fn handed_on(&self, promise: usize, object: u32) -> usize {
        self.promises[promise] + object as usize
    }
}

/// Values of the stores that the most general client may make to a block: 0 stores what the mark says; any other is the
/// marked store, and says who observes it.
pub(crate) fn stored_values(protocol: &Protocol, values: u32, threads: usize) -> std::ops::Range<u64> {
    match protocol.weaker() {
        None => 0..u64::from(values),
        Some(Promise::Tso) => 0..threads as u64 + 1,
        Some(_) => 0..2,
    }
}

/// The greatest value of a word that stores leave, given the greatest of the client's.
pub(crate) fn most_left(model: &Model, most: u64) -> u64 {
    match &model.layout.mark {
        Some(mark) if mark.observes => OWN,
        Some(_) => MARKED,
        None => most,
    }
}

/// Whether a thread may begin a store: the marked one is announced once.
pub(crate) fn may_store(model: &Model, world: &World, value: u64) -> bool {
    let Some(mark) = &model.layout.mark else { return true };
    let announces = |thread| {
        let (phase, intent) = world.thread(&model.layout, thread);
        phase != ThreadState::Free
            && matches!(model.client.intents[intent], Intent::Write { value, .. } | Intent::Rmw { value, .. } if value != 0)
    };
    value == 0 || world.number(mark.block()) == 0 && !(0..model.client.threads.len()).any(announces)
}

/// A thread's store is performed: what it stores.
pub(crate) fn stored(model: &Model, world: &mut World, thread: usize, block: u32, value: u64) -> u64 {
    let Some(mark) = &model.layout.mark else { return value };
    let own = thread as u64 + 1;
    if world.number(mark.block()) == 0 {
        if value == 0 {
            return 0;
        }
        world.set_number(mark.block(), u64::from(block) + 1);
        if mark.observes {
            world.set_number(mark.observer(), value);
        }
    }
    let observed = !mark.observes || world.number(mark.observer()) == own;
    if world.number(mark.block()) == u64::from(block) + 1 && observed {
        let synchronises = matches!(model.protocol().weaker(), Some(Promise::ReleaseConsistency { .. }));
        let known = &mut world.fixed[mark.thread(thread)];
        *known = if synchronises { KNOWS } else { *known | FRESH };
    }
    if is_copied(mark, world, block) {
        world.fixed[mark.thread(thread)] |= COPIED;
    }
    if mark.observes && observed { OWN } else { MARKED }
}

/// Whether a copy has brought the mark to the block.
fn is_copied(mark: &MarkLayout, world: &World, block: u32) -> bool {
    mark.copied().is_some_and(|at| world.number(at) == u64::from(block) + 1)
}

/// A thread knows that the copy to a block is done, of what its source held. That counts as a store of the thread: of one before the mark, also
/// where nobody knows what it held, or of one after it, to which the mark then goes as well.
pub(crate) fn copied(model: &Model, world: &mut World, thread: usize, to: u32, held: u64) {
    let Some((mark, at)) = model.layout.mark.as_ref().and_then(|mark| Some((mark, mark.copied()?))) else { return };
    let forget = |world: &mut World, flag: u8| {
        (0..mark.threads).for_each(|thread| world.fixed[mark.thread(thread)] &= !flag);
    };
    let is_marked = world.number(mark.block()) == u64::from(to) + 1;
    if held == 0 || held == model.layout.garbage {
        if is_marked {
            world.set_number(mark.block(), NO_BLOCK);
            forget(world, FRESH);
        } else if is_copied(mark, world, to) {
            world.set_number(at, 0);
            forget(world, COPIED);
        }
    } else if is_marked {
        world.fixed[mark.thread(thread)] |= FRESH;
    } else {
        if !is_copied(mark, world, to) {
            world.set_number(at, u64::from(to) + 1);
            forget(world, COPIED);
        }
        world.fixed[mark.thread(thread)] |= COPIED;
    }
}

/// A thread has loaded a value.
pub(crate) fn loaded(model: &Model, world: &mut World, thread: usize, block: u32, seen: u64) -> Result<(), Violation> {
    let Some(mark) = &model.layout.mark else { return Ok(()) };
    if seen == model.layout.garbage {
        let node = model.client.threads[thread].node;
        let name = model.protocol().weaker().map_or(String::new(), |promise| model.protocol().promise_name(promise));
        let sentence = format!("node {node} reads garbage from block {block}: nobody has sent it the contents");
        return Err(Violation::new(name, sentence));
    }
    let marked = world.number(mark.block()) == u64::from(block) + 1;
    let at = mark.thread(thread);
    let copied = is_copied(mark, world, block);
    let must_see = marked && world.fixed[at] & (FRESH | KNOWS) != 0 || copied && world.fixed[at] & COPIED != 0;
    if seen == 0 && must_see {
        return Err(too_old(model, world, thread, block));
    }
    if seen == MARKED && copied {
        world.fixed[at] |= COPIED;
    }
    let moves_view = if mark.observes {
        seen == MARKED && world.number(mark.observer()) == thread as u64 + 1
    } else {
        seen == MARKED && marked && world.fixed[at] & KNOWS == 0
    };
    if moves_view {
        world.fixed[at] |= FRESH;
    }
    Ok(())
}

fn too_old(model: &Model, world: &World, thread: usize, block: u32) -> Violation {
    let node = model.client.threads[thread].node;
    let protocol = model.protocol();
    let knows = model.layout.mark.as_ref().is_some_and(|mark| world.fixed[mark.thread(thread)] & KNOWS != 0);
    let is_copied_to = model.layout.mark.as_ref().is_some_and(|mark| is_copied(mark, world, block));
    let why = match protocol.weaker() {
        Some(Promise::Tso) => "although it has stored there itself, or has seen a store that came later",
        Some(Promise::ReleaseConsistency { .. }) if knows => "although a store of 1 to it happens before this read",
        _ if is_copied_to => {
            "after it has read 1 from it, has stored to it itself, or was answered that 1 is copied to it"
        }
        _ => "after it has read 1 from it, or has stored to it itself: it goes back to an older store",
    };
    let name = protocol.weaker().map_or(String::new(), |promise| protocol.promise_name(promise));
    Violation::new(name, format!("node {node} reads 0 from block {block}, {why}"))
}

/// A thread begins an access or a call: what it knows from then on.
pub(crate) fn started(model: &Model, world: &mut World, thread: usize, intent: &Intent) {
    let Some((mark, acquire, _)) = synchronising(model) else { return };
    let at = mark.thread(thread);
    if world.fixed[mark.released()] != 0 {
        match (acquire, intent) {
            (None, _) => world.fixed[at] = KNOWS,
            (Some(acquire), Intent::Call { op, .. }) if *op == acquire && world.fixed[at] & KNOWS == 0 => {
                world.fixed[at] |= ASKED;
            }
            _ => {}
        }
    }
    let Intent::Call { op, object, .. } = intent else { return };
    if world.fixed[at] & KNOWS == 0 {
        return;
    }
    for (p, promise) in model.protocol().promises.iter().enumerate() {
        match promise {
            Promise::Mutex(_, release) if release == op => world.fixed[mark.handed_on(p, object.id)] = PASSED,
            Promise::Barrier(arrive) if arrive == op => world.fixed[mark.handed_on(p, object.id)] |= ARRIVED,
            _ => {}
        }
    }
}

/// All have arrived at a barrier.
pub(crate) fn all_arrived(model: &Model, world: &mut World, promise: usize, object: u32) {
    let Some((mark, ..)) = synchronising(model) else { return };
    let at = mark.handed_on(promise, object);
    if world.fixed[at] & ARRIVED != 0 {
        world.fixed[at] = PASSED;
    }
}

/// A thread's call returns.
pub(crate) fn returned(model: &Model, world: &mut World, thread: usize, op: OpId, object: Object) {
    let Some((mark, acquire, release)) = synchronising(model) else { return };
    let at = mark.thread(thread);
    let handed_on = model.protocol().promises.iter().enumerate().any(|(p, promise)| match promise {
        Promise::Mutex(call, _) | Promise::Barrier(call) if *call == op => {
            world.fixed[mark.handed_on(p, object.id)] & PASSED != 0
        }
        _ => false,
    });
    if handed_on || acquire == Some(op) && world.fixed[at] & ASKED != 0 {
        world.fixed[at] = KNOWS;
    }
    if release != Some(op) || world.fixed[at] & KNOWS == 0 {
        return;
    }
    world.fixed[mark.released()] = 1;
    if acquire.is_some() {
        return;
    }
    // Who waits with an access began it before, and need not know yet.
    for other in 0..model.client.threads.len() {
        if world.thread(&model.layout, other).0 == ThreadState::Free {
            world.fixed[mark.thread(other)] = KNOWS;
        }
    }
}

/// Where it is remembered, with the calls that acquire and release, if `release_consistency` is promised.
fn synchronising(model: &Model) -> Option<(&MarkLayout, Option<OpId>, Option<OpId>)> {
    let mark = model.layout.mark.as_ref()?;
    match model.protocol().weaker() {
        Some(Promise::ReleaseConsistency { acquire, release }) => Some((mark, *acquire, *release)),
        _ => None,
    }
}

/// The checker chooses what is stored: so a protocol must not look at it, and only threads store.
pub(crate) fn check(protocol: &Protocol) -> Result<(), Diagnostic> {
    let Some(weaker) = protocol.weaker() else { return Ok(()) };
    let refused = |what: &str| {
        let name = protocol.promise_name(weaker);
        Err(refused(
            format!("{what}, and `{name}` is checked for protocols that move contents without looking at them"),
            "promise `last_write`, or check a scenario",
        ))
    };
    if any_step(protocol, |step| matches!(step, StepKind::Perform(_))) {
        return refused("a handler loads or stores for the program");
    }
    if any_step(protocol, |step| matches!(step, StepKind::Store(..))) {
        return refused("a handler stores to a word of memory");
    }
    if any_expr(protocol, |kind| matches!(kind, ExprKind::FaultValue)) {
        return refused("a handler takes the value of a store");
    }
    if any_expr(protocol, |kind| matches!(kind, ExprKind::Memory(_))) {
        return refused("a handler loads a word of memory");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::System;
    use std::sync::Arc;

    fn model(promise: &str) -> Model {
        let source = format!(
            "protocol t\npromises {promise}\nop fence()\nrole home of block {{ state Here: write {{ }} }}
             role agent of node {{ state Only {{ on fence {{ return }} }} }}"
        );
        let protocol = trivium_lang::compile("t.tri", &source, &Default::default()).unwrap_or_else(|d| panic!("{d}"));
        Model::new(&Arc::new(protocol), &System { nodes: 2, objects: 2, ..System::default() }).unwrap()
    }

    #[test]
    fn a_thread_s_own_store_is_told_from_that_of_another() {
        let model = model("tso");
        let mut world = model.first();
        assert_eq!(stored(&model, &mut world, 0, 0, 0), 0, "before the mark");
        assert_eq!(stored(&model, &mut world, 1, 1, 1), MARKED, "thread 1 marks block 1, and thread 0 observes");
        assert_eq!(stored(&model, &mut world, 0, 0, 0), OWN);
        assert_eq!(loaded(&model, &mut world, 0, 0, OWN), Ok(()));
        assert_eq!(loaded(&model, &mut world, 0, 1, 0), Ok(()), "its own store it may see before all others do");
        assert_eq!(stored(&model, &mut world, 1, 0, 0), MARKED);
        assert_eq!(loaded(&model, &mut world, 0, 0, MARKED), Ok(()));
        let violation = loaded(&model, &mut world, 0, 1, 0).unwrap_err();
        assert_eq!(violation.property, "tso");
        assert_eq!(loaded(&model, &mut world, 1, 1, 0), Ok(()), "the loads of others are looked at in other runs");
    }

    #[test]
    fn the_marked_store_is_announced_once() {
        let model = model("coherent");
        let mut world = model.first();
        let announces = |intent: &Intent| *intent == Intent::Write { block: 1, value: 1 };
        let intent = model.client.intents.iter().position(announces).unwrap();
        assert!(may_store(&model, &world, 1));
        world.set_thread(&model.layout, 0, ThreadState::Waiting, intent);
        assert!(!may_store(&model, &world, 1) && may_store(&model, &world, 0));
        world.set_thread(&model.layout, 0, ThreadState::Free, 0);
        stored(&model, &mut world, 0, 1, 1);
        assert!(!may_store(&model, &world, 1));
    }

    #[test]
    fn an_access_that_was_under_way_need_not_see_what_is_released() {
        let model = model("release_consistency(fence)");
        let fence = |model: &Model| {
            model.client.intents.iter().find_map(|intent| match intent {
                Intent::Call { op, object, .. } => Some((*op, *object)),
                _ => None,
            })
        };
        let (op, object) = fence(&model).unwrap();
        let mut world = model.first();
        stored(&model, &mut world, 0, 0, 1);
        assert_eq!(loaded(&model, &mut world, 1, 0, 0), Ok(()), "nothing is released");
        world.set_thread(&model.layout, 1, ThreadState::Waiting, 0);
        returned(&model, &mut world, 0, op, object);
        assert_eq!(loaded(&model, &mut world, 1, 0, 0), Ok(()), "it began before");
        world.set_thread(&model.layout, 1, ThreadState::Free, 0);
        started(&model, &mut world, 1, &Intent::Read { block: 0 });
        assert!(loaded(&model, &mut world, 1, 0, 0).is_err());
    }
}
