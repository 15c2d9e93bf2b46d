//! Copies that calls make (`promises copies(copy, wait)` with `assume quiet(copy, wait)`, `docs/semantics.md`, section 7).
//!
//! From the call of `copy` until `wait` says that it is done, its destination is not compared with what was stored to it. Then the last
//! store to each block of the destination is what the block of the source held at the call. Meanwhile nobody stores to the source or
//! uses the destination. Where the copy leaves out words of the source's first block, the word of the destination that is looked at is
//! one that nobody knows: garbage stands for its last store.

use crate::system::client::{Intent, ThreadPlace};
use crate::system::layout::WORDS_PER_BLOCK;
use crate::system::mark;
use crate::system::model::Model;
use crate::system::world::{ThreadState, World};
use std::ops::Range;
use trivium_engine::Object;
use trivium_protocol::{BLOCK, BlockParameter, Copies, EventKind, NODE, OpId, Promise, Protocol};

/// Bytes that say of a destination how far its copy is, and which promise it is about; then its key, its source ([`Line::source`])
/// and what it held.
const STAGE: usize = 0;
const PROMISE: usize = 1;
const KEY: Range<usize> = 2..6;
const SOURCE: Range<usize> = 6..10;
const HELD: usize = 10;

/// No copy goes to the block.
const IDLE: u8 = 0;
/// The call that copies has not returned: the key is its thread.
const CALLED: u8 = 1;
/// It has: the key is the object about which the other call is made, or the node.
const RUNNING: u8 = 2;

/// Where it is kept for each block whether a copy goes to it.
#[derive(Clone, Copy)]
pub(crate) struct CopyLayout {
    at: usize,
    word_bytes: usize,
}

impl CopyLayout {
    pub fn new(
        protocol: &Protocol,
        blocks: usize,
        word_bytes: usize,
        take: &mut impl FnMut(usize) -> usize,
    ) -> Option<CopyLayout> {
        protocol.has_copies().then(|| CopyLayout { at: take(blocks * (HELD + word_bytes)), word_bytes })
    }

    fn of(&self, block: u32) -> usize {
        self.at + block as usize * (HELD + self.word_bytes)
    }

    fn part(&self, block: u32, part: Range<usize>) -> Range<usize> {
        let at = self.of(block);
        at + part.start..at + part.end
    }

    fn held(&self, block: u32) -> Range<usize> {
        self.part(block, HELD..HELD + self.word_bytes)
    }
}

/// Whether loads of a block are compared with nothing: a copy goes to it.
pub(crate) fn is_destination(model: &Model, world: &World, block: u32) -> bool {
    model.layout.copies.is_some_and(|copies| world.fixed[copies.of(block) + STAGE] != IDLE)
}

/// Whether what a thread is about to do leaves all copies in quiet.
pub(crate) fn is_quiet(model: &Model, world: &World, intent: &Intent) -> bool {
    let Some(layout) = model.layout.copies else { return true };
    match intent {
        Intent::Call { op, object, .. } if copies_of(model, *op).is_none() => {
            let is_end = || is_destination(model, world, object.id) || is_source(model, world, layout, object.id);
            !(uses_block(model, intent) && is_end())
        }
        Intent::Call { op, object, args } => {
            let Some((_, copies)) = copies_of(model, *op) else { return true };
            lines(model, &copies, *object, args.words()).all(|line| {
                let is_free = |block| !is_destination(model, world, block);
                is_free(line.to)
                    && !is_source(model, world, layout, line.to)
                    && line.blocks().all(|from| is_free(from) && !is_in_use(model, world, line.to, from))
            })
        }
        access => {
            let block = access.object().id;
            let stores = !matches!(access, Intent::Read { .. });
            !(is_destination(model, world, block) || stores && is_source(model, world, layout, block))
        }
    }
}

/// Whether a copy comes from a block.
fn is_source(model: &Model, world: &World, layout: CopyLayout, block: u32) -> bool {
    (0..model.objects[BLOCK.index()]).any(|to| {
        let source = || Line::of(to, world.number(layout.part(to, SOURCE)));
        is_destination(model, world, to) && source().blocks().any(|from| from == block)
    })
}

/// Whether a thread has begun to use one block, or to store to the other.
fn is_in_use(model: &Model, world: &World, to: u32, from: u32) -> bool {
    (0..model.client.threads.len()).any(|thread| {
        let (state, intent) = world.thread(&model.layout, thread);
        let Some(intent) = model.client.intents.get(intent) else { return false };
        let block = intent.object().id;
        let may_store = !matches!(intent, Intent::Read { .. });
        state != ThreadState::Free && uses_block(model, intent) && (block == to || block == from && may_store)
    })
}

/// Whether it is an access, or a call about a block that may be as much. A call that copies, or says that a copy is done, is none.
fn uses_block(model: &Model, intent: &Intent) -> bool {
    let Intent::Call { op, object, .. } = intent else { return true };
    let is_of_copies = |promise: &Promise| matches!(promise, Promise::Copies(c) if c.copy == *op || c.wait == *op);
    object.kind == BLOCK && !model.protocol().promises.iter().any(is_of_copies)
}

/// A thread has made a call.
pub(crate) fn called(model: &Model, world: &mut World, thread: usize, intent: &Intent) {
    let (Some(layout), Intent::Call { op, object, args }) = (model.layout.copies, intent) else { return };
    let Some((promise, copies)) = copies_of(model, *op) else { return };
    let all: Vec<Line> = lines(model, &copies, *object, args.words()).collect();
    for line in all {
        let Some(last) = model.layout.last(line.from) else { continue };
        let held = if line.is_parted { model.layout.garbage } else { world.number(last) };
        let at = layout.of(line.to);
        world.fixed[at + STAGE] = CALLED;
        world.fixed[at + PROMISE] = promise;
        world.set_number(layout.part(line.to, KEY), thread as u64);
        world.set_number(layout.part(line.to, SOURCE), line.source());
        world.set_number(layout.held(line.to), held);
    }
}

/// A thread's call has returned a value.
pub(crate) fn returned(model: &Model, world: &mut World, thread: usize, (op, object): (OpId, Object), value: i64) {
    let Some(layout) = model.layout.copies else { return };
    let ThreadPlace { node, .. } = model.client.threads[thread];
    for (p, promise) in (0_u8..).zip(&model.protocol().promises) {
        let Promise::Copies(copies) = promise else { continue };
        let says_nothing = is_nothing(model, op, value);
        if copies.copy == op {
            let key = match (copies.is_named_by_result, object.kind) {
                (true, _) => value.cast_unsigned(),
                (false, NODE) => node.into(),
                (false, _) => object.id.into(),
            };
            move_on(model, world, layout, (p, CALLED, thread as u64), |world, to| {
                if says_nothing {
                    clear(world, layout, to);
                } else if copies.wait == op {
                    done(model, world, layout, thread, to);
                } else {
                    world.fixed[layout.of(to) + STAGE] = RUNNING;
                    world.set_number(layout.part(to, KEY), key);
                }
            });
        } else if copies.wait == op && !says_nothing {
            let key = if object.kind == NODE { node.into() } else { object.id.into() };
            move_on(model, world, layout, (p, RUNNING, key), |world, to| done(model, world, layout, thread, to));
        }
    }
}

/// Does something to each destination of a promise's copies at a stage with a key.
fn move_on(
    model: &Model,
    world: &mut World,
    layout: CopyLayout,
    (promise, stage, key): (u8, u8, u64),
    mut change: impl FnMut(&mut World, u32),
) {
    for to in 0..model.objects[BLOCK.index()] {
        let at = layout.of(to);
        let is_meant = world.fixed[at + STAGE] == stage && world.fixed[at + PROMISE] == promise;
        if is_meant && world.number(layout.part(to, KEY)) == key {
            change(world, to);
        }
    }
}

/// A thread knows that the copy to a block is done: it is as if it had stored what the source held.
fn done(model: &Model, world: &mut World, layout: CopyLayout, thread: usize, to: u32) {
    if let Some(last) = model.layout.last(to) {
        let held = world.number(layout.held(to));
        world.set_number(last, held);
        mark::copied(model, world, thread, to, held);
    }
    clear(world, layout, to);
}

fn clear(world: &mut World, layout: CopyLayout, to: u32) {
    let at = layout.of(to);
    world.fixed[at..at + HELD + layout.word_bytes].fill(0);
}

/// Whether a call says by what it returns that nothing is copied, or not yet: `none`, 0 or `false`.
fn is_nothing(model: &Model, op: OpId, value: i64) -> bool {
    let declared = &model.protocol().ops[op.index()];
    declared.result.is_some() && value == declared.nothing()
}

/// The promise about what a call copies, with its number.
fn copies_of(model: &Model, op: OpId) -> Option<(u8, Copies)> {
    (0_u8..).zip(&model.protocol().promises).find_map(|(p, promise)| match promise {
        Promise::Copies(copies) if copies.copy == op => Some((p, *copies)),
        _ => None,
    })
}

/// A block of a destination, and where in the source its words come from.
#[derive(Clone, Copy)]
struct Line {
    to: u32,
    from: u32,
    /// Whether they are the end of `from` and the beginning of the block after it.
    is_parted: bool,
}

impl Line {
    /// The blocks of the source.
    fn blocks(self) -> impl Iterator<Item = u32> {
        self.from..=self.from + u32::from(self.is_parted)
    }

    /// As it is kept for the destination.
    fn source(self) -> u64 {
        2 * u64::from(self.from) + u64::from(self.is_parted)
    }

    fn of(to: u32, source: u64) -> Line {
        Line { to, from: u32::try_from(source / 2).unwrap_or(u32::MAX - 1), is_parted: source % 2 == 1 }
    }
}

/// The blocks of the destination, each with that of the source: none if either end is none, or where there are no blocks.
fn lines(model: &Model, copies: &Copies, object: Object, words: &[i64]) -> impl Iterator<Item = Line> + use<> {
    let values = model.engine.argument_values(EventKind::Op(copies.copy), words);
    let end = |parameter: BlockParameter| match parameter {
        BlockParameter::Object => i64::from(object.id),
        BlockParameter::Argument(at) => {
            values.get(usize::from(at)).and_then(|value| value.first()).copied().unwrap_or(-1)
        }
    };
    let (to, from) = (end(copies.to), end(copies.from));
    let many = copies.blocks.map_or(1, |at| end(BlockParameter::Argument(at)));
    let blocks = i64::from(model.objects[BLOCK.index()]);
    let is_there = move |block: i64| (0..blocks).contains(&block);
    let skip = copies.skip.map_or(0, |at| end(BlockParameter::Argument(at)));
    let (skip, is_parted) = (skip / i64::from(WORDS_PER_BLOCK), skip % i64::from(WORDS_PER_BLOCK) != 0);
    let many = if to < 0 || from < 0 { 0 } else { many };
    let block = |block: i64| u32::try_from(block).unwrap_or(u32::MAX);
    (0..many.clamp(0, blocks))
        .map(move |line| (to + line, from + skip + line))
        .filter(move |&(to, from)| is_there(to) && is_there(from) && is_there(from + i64::from(is_parted)))
        .map(move |(to, from)| Line { to: block(to), from: block(from), is_parted })
}
