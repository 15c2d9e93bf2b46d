//! Loops that look at tags some rounds ahead, in the fast build.
//!
//! What [`super::strides`] has found of a loop becomes this:
//!
//! ```text
//! loop
//!   if countdown <= until
//!     poll if countdown <= 0
//!     sure = all that the next rounds touch may be accessed, and countdown > 0
//!     until = countdown - rounds * the least work of one, but not below 0
//!   if sure
//!     block
//!       loop: leave it for the outermost one if countdown <= until
//!         the body, whose strided accesses happen without a look
//!     sure = false, the locals as they were at the head of this round
//!     go back to the outermost loop
//!   else
//!     the body, as in any loop
//! ```
//!
//! So the comparison by which any loop finds that it must poll also finds that a look is no longer good: it is, for as many rounds as
//! `until` leaves work for. It is not good either where the host was asked, who may have changed any tag: then `sure` and `until` say
//! so.
//!
//! An access of the inner loop that would have to ask leaves the block as long as nothing has happened in this round that could not happen again:
//! the round is made as in any loop. So most inner loops call nothing, and the compiler keeps all they need in registers. Behind a
//! store an access asks in its place, and what follows it in this round looks whether it did.

use wasm_encoder::reencode;
use wasm_encoder::{BlockType, Instruction as I, MemArg, ValType};
use wasmparser::Operator;

use super::Layout;
use super::analysis::Note;
use super::classes::class;
use super::fast::{Body, HOST_MEMORY, NUMBERS, number};
use super::strides::{Ahead, Stream};
use crate::tags::{self, GRANULE, GRANULE_BITS};
use crate::weights::OperatorClass;

/// So many locals that a loop does not change may get another name in it.
const MOST_SAME: u32 = 8;

/// The locals of a function with such loops.
#[derive(Clone, Copy)]
pub(super) struct LookLocals {
    /// The countdown from which on a look is no longer good.
    pub(super) until: u32,
    /// Whether the look found that all may be accessed.
    pub(super) sure: u32,
    /// Not 0 as soon as something may not.
    pub(super) doubt: u32,
    /// The countdown at the head of a round, and the surplus.
    pub(super) left: u32,
    pub(super) surplus: u32,
    /// 0, but the compiler does not know that.
    pub(super) nothing: u32,
    /// The first of [`MOST_SAME`] with what locals were that the loop does not change.
    pub(super) same: u32,
    /// The first of the locals, of each type of number, with what others were at the head of a round.
    pub(super) before: [u32; NUMBERS.len()],
}

/// A look, in the code that runs after it.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) locals: LookLocals,
    /// Whether it found that all may be accessed. In rounds for which it did not, it matters only that the host was asked.
    pub(super) is_sure: bool,
    /// How many blocks are open around the innermost loop. An access that gives the round up leaves the last of them.
    pub(super) outside: u32,
}

impl LookLocals {
    /// Those of a function with these loops, whose locals are extended by them.
    pub(super) fn new(analysis: &[Ahead], locals: &mut Vec<ValType>) -> LookLocals {
        let first = locals.len() as u32;
        let mut before = [0; NUMBERS.len()];
        if !analysis.is_empty() {
            locals.extend([ValType::I64, ValType::I32, ValType::I64, ValType::I64, ValType::I64, ValType::I32]);
            locals.extend([ValType::I32; MOST_SAME as usize]);
            let most = |ty: ValType, locals: &[ValType]| {
                let count = |ahead: &Ahead| ahead.changed.iter().filter(|local| locals[**local as usize] == ty).count();
                analysis.iter().map(count).max().unwrap_or(0)
            };
            for (place, ty) in before.iter_mut().zip(NUMBERS) {
                let count = most(ty, locals);
                *place = locals.len() as u32;
                locals.extend(std::iter::repeat_n(ty, count));
            }
        }
        let [until, sure, doubt, left, surplus, nothing, same] = [0, 1, 2, 3, 4, 5, 6].map(|number| first + number);
        LookLocals { until, sure, doubt, left, surplus, nothing, same, before }
    }
}

impl Body {
    /// A loop, from its head to its end.
    pub(super) fn loop_ahead(
        &mut self,
        layout: &mut Layout,
        operators: &[(Operator<'_>, Note)],
        ahead: &Ahead,
        locals: LookLocals,
    ) -> Result<(), reencode::Error> {
        let (head, note) = &operators[0];
        layout.moves(note.offset, self.byte_len());
        if let Some(class) = class(head) {
            self.pending += layout.weights.one(class);
        }
        self.count(layout);
        self.forget_look(locals);
        self.push(&I::Loop(BlockType::Empty));
        self.is_countdown_past(locals.until);
        self.if_rarely();
        self.poll(layout, note);
        self.look(&ahead.streams, locals);
        self.set_until(ahead.rounds * ahead.least_work, locals);
        self.push(&I::End);
        self.push(&I::LocalGet(locals.sure));
        self.hint(true);
        self.push(&I::If(BlockType::Empty));
        self.push(&I::Block(BlockType::Empty));
        // Among other accesses that look for themselves, what is on the stack is there in time, and the names would cost more.
        let renamed = match ahead.gives_up() {
            true => Vec::new(),
            false => self.renamed(&operators[1..], note, locals),
        };
        self.enter(&renamed, locals);
        self.push(&I::Loop(BlockType::Empty));
        self.is_countdown_past(locals.until);
        self.if_rarely();
        self.leave(&renamed, locals);
        self.push(&I::Br(4));
        self.push(&I::End);
        let before = self.before(ahead, note, locals);
        before.iter().for_each(|(local, before)| self.copy(*local, *before));
        self.depth += 4;
        self.look = Some(Look { locals, is_sure: true, outside: self.depth - 1 });
        self.sure_body(layout, &operators[1..], &renamed)?;
        self.push(&I::End);
        // The loop has ended.
        self.leave(&renamed, locals);
        self.push(&I::Br(1));
        self.push(&I::End);
        before.iter().for_each(|(local, before)| self.copy(*before, *local));
        self.leave(&renamed, locals);
        self.push(&I::I32Const(0));
        self.push(&I::LocalSet(locals.sure));
        self.push(&I::Br(1));
        self.push(&I::Else);
        self.depth -= 2;
        self.look = Some(Look { locals, is_sure: false, outside: 0 });
        self.body(layout, &operators[1..])?;
        self.look = None;
        self.push(&I::End);
        self.push(&I::End);
        self.depth -= 2;
        Ok(())
    }

    /// The countdown and the locals of 32 bits that live in the loop, each with a place for what it was if the loop does not change it.
    fn renamed(&self, operators: &[(Operator<'_>, Note)], head: &Note, locals: LookLocals) -> Vec<(u32, Option<u32>)> {
        let changes = |local: u32| {
            operators.iter().any(|(operator, _)| match operator {
                Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => *local_index == local,
                _ => false,
            })
        };
        let mut free = locals.same..locals.same + MOST_SAME;
        let integers = head.keep.iter().filter(|local| self.locals[**local as usize] == ValType::I32);
        let with_place = |local: &u32| match changes(*local) {
            true => Some((*local, None)),
            false => free.next().map(|place| (*local, Some(place))),
        };
        integers.filter_map(with_place).chain([(self.left, None)]).collect()
    }

    /// The locals become others with the same values, which the compiler cannot know. It would keep one that also lives where calls are
    /// made on the stack, at each use in this loop, too.
    fn enter(&mut self, renamed: &[(u32, Option<u32>)], locals: LookLocals) {
        if renamed.is_empty() {
            return;
        }
        self.push(&I::LocalGet(locals.sure));
        self.push(&I::I32Const(1));
        self.push(&I::I32Sub);
        self.push(&I::LocalSet(locals.nothing));
        for (local, same) in renamed {
            same.iter().for_each(|same| self.copy(*local, *same));
            self.add(*local, locals.nothing);
        }
    }

    /// And back.
    fn leave(&mut self, renamed: &[(u32, Option<u32>)], locals: LookLocals) {
        for (local, same) in renamed {
            match same {
                Some(same) => self.copy(*same, *local),
                None => self.add(*local, locals.nothing),
            }
        }
    }

    fn add(&mut self, local: u32, other: u32) {
        self.push(&I::LocalGet(local));
        self.push(&I::LocalGet(other));
        if self.locals[local as usize] == ValType::I64 {
            self.push(&I::I64ExtendI32U);
            self.push(&I::I64Add);
        } else {
            self.push(&I::I32Add);
        }
        self.push(&I::LocalSet(local));
    }

    /// What a round that is given up has changed, and where that is kept meanwhile.
    fn before(&self, ahead: &Ahead, head: &Note, locals: LookLocals) -> Vec<(u32, u32)> {
        if !ahead.gives_up() {
            return Vec::new();
        }
        let mut free = locals.before;
        // The others are written before they are read in any round.
        let live = ahead.changed.iter().filter(|local| head.keep.contains(local));
        let mut before: Vec<_> = live
            .map(|local| {
                let next = &mut free[number(self.locals[*local as usize])];
                *next += 1;
                (*local, *next - 1)
            })
            .collect();
        before.push((self.left, locals.left));
        before.extend(self.surplus.map(|surplus| (surplus, locals.surplus)));
        before
    }

    fn copy(&mut self, from: u32, to: u32) {
        self.push(&I::LocalGet(from));
        self.push(&I::LocalSet(to));
    }

    /// The body of the innermost loop, without its end. What was looked at is sure there.
    fn sure_body(
        &mut self,
        layout: &mut Layout,
        operators: &[(Operator<'_>, Note)],
        renamed: &[(u32, Option<u32>)],
    ) -> Result<(), reencode::Error> {
        let mut open = 0;
        let (_, inner) = operators.split_last().expect("a loop has an end");
        for (operator, note) in inner {
            open = open_after(open, operator);
            // The outermost loop, the `if` and the block are new between the innermost one and what the original is in.
            let out = |depth: &u32| *depth > open;
            match operator {
                Operator::Br { relative_depth } | Operator::BrIf { relative_depth } if out(relative_depth) => {
                    let is_conditional = matches!(operator, Operator::BrIf { .. });
                    layout.moves(note.offset, self.byte_len());
                    self.leaving_branch(layout, *relative_depth + 3, is_conditional, renamed)?;
                }
                _ => self.moved(layout, operator.clone(), note)?,
            }
        }
        self.count(layout);
        Ok(())
    }

    /// A branch out of the innermost loop.
    fn leaving_branch(
        &mut self,
        layout: &mut Layout,
        relative_depth: u32,
        is_conditional: bool,
        renamed: &[(u32, Option<u32>)],
    ) -> Result<(), reencode::Error> {
        let Some(Look { locals, .. }) = self.look else { return Ok(()) };
        // It is counted whether it is taken or not.
        self.pending += layout.weights.one(OperatorClass::Branch);
        self.count(layout);
        if is_conditional {
            self.push(&I::If(BlockType::Empty));
            self.depth += 1;
        }
        self.leave(renamed, locals);
        let relative_depth = relative_depth + u32::from(is_conditional);
        if relative_depth == self.depth - 1 {
            self.store_counts();
        }
        self.push(&I::Br(relative_depth));
        if is_conditional {
            self.push(&I::End);
            self.depth -= 1;
        }
        Ok(())
    }

    /// The body of a loop without its end, in an `if`: the loop itself is the outer block.
    fn body(&mut self, layout: &mut Layout, operators: &[(Operator<'_>, Note)]) -> Result<(), reencode::Error> {
        let mut open = 0;
        let (_, inner) = operators.split_last().expect("a loop has an end");
        for (operator, note) in inner {
            let mut operator = operator.clone();
            open = open_after(open, &operator);
            if let Operator::Br { relative_depth } | Operator::BrIf { relative_depth } = &mut operator
                && *relative_depth >= open
            {
                *relative_depth += 1;
            }
            self.moved(layout, operator, note)?;
        }
        self.count(layout);
        Ok(())
    }

    fn moved(&mut self, layout: &mut Layout, operator: Operator<'_>, note: &Note) -> Result<(), reencode::Error> {
        layout.moves(note.offset, self.byte_len());
        self.note_read(layout, note.offset);
        self.operator(layout, operator, note)
    }

    /// What was looked at may have changed.
    pub(super) fn forget_look(&mut self, locals: LookLocals) {
        self.push(&I::I64Const(i64::MAX));
        self.push(&I::LocalSet(locals.until));
        self.push(&I::I32Const(0));
        self.push(&I::LocalSet(locals.sure));
    }

    fn is_countdown_past(&mut self, until: u32) {
        self.push(&I::LocalGet(self.left));
        self.push(&I::LocalGet(until));
        self.push(&I::I64LeS);
    }

    /// Sets `sure`.
    fn look(&mut self, streams: &[Stream], locals: LookLocals) {
        for (number, stream) in streams.iter().enumerate() {
            self.look_at(stream);
            if number > 0 {
                self.push(&I::LocalGet(locals.doubt));
                self.push(&I::I64Or);
            }
            self.push(&I::LocalSet(locals.doubt));
        }
        self.push(&I::LocalGet(locals.doubt));
        self.push(&I::I64Eqz);
        // Where each loop head polls, the one that has just polled must not be left for the next poll.
        self.push(&I::LocalGet(self.left));
        self.push(&I::I64Const(0));
        self.push(&I::I64GtS);
        self.push(&I::I32And);
        self.push(&I::LocalSet(locals.sure));
    }

    /// Pushes 0 if all of a stream may be accessed and is aligned.
    fn look_at(&mut self, stream: &Stream) {
        self.push(&I::I32Const(stream.add.cast_signed()));
        for (local, factor) in &stream.terms {
            self.push(&I::LocalGet(*local));
            if factor.is_power_of_two() {
                if *factor > 1 {
                    self.push(&I::I32Const(factor.trailing_zeros().cast_signed()));
                    self.push(&I::I32Shl);
                }
            } else {
                self.push(&I::I32Const(factor.cast_signed()));
                self.push(&I::I32Mul);
            }
            self.push(&I::I32Add);
        }
        self.push(&I::LocalTee(self.address));
        self.push(&I::I32Const(GRANULE_BITS as i32));
        self.push(&I::I32ShrU);
        self.push(&I::LocalSet(self.base));
        // The first granule may hold as many bytes before it as the alignment allows.
        let granules = (GRANULE - stream.alignment + stream.bytes).div_ceil(GRANULE);
        let width = [8, 4, 2, 1].into_iter().find(|width| *width <= granules).expect("a stream has bytes");
        let last = granules - width;
        let mut places: Vec<u32> = (0..last).step_by(width as usize).collect();
        places.push(last);
        for (number, place) in places.into_iter().enumerate() {
            let at = MemArg { offset: place.into(), align: 0, memory_index: HOST_MEMORY };
            self.push(&I::LocalGet(self.base));
            self.push(&match width {
                8 => I::I64Load(at),
                4 => I::I64Load32U(at),
                2 => I::I64Load16U(at),
                _ => I::I64Load8U(at),
            });
            if number > 0 {
                self.push(&I::I64And);
            }
        }
        let bit = |store: bool, is_needed: bool| if is_needed { tags::allows(GRANULE, store) } else { 0 };
        let each = u64::from(bit(false, stream.is_read) | bit(true, stream.is_written)) * 0x0101_0101_0101_0101;
        let needed = (each & (u64::MAX >> (64 - 8 * width))).cast_signed();
        self.push(&I::I64Const(needed));
        self.push(&I::I64And);
        self.push(&I::I64Const(needed));
        self.push(&I::I64Xor);
        if stream.alignment > 1 {
            self.push(&I::LocalGet(self.address));
            self.push(&I::I32Const((stream.alignment - 1).cast_signed()));
            self.push(&I::I32And);
            self.push(&I::I64ExtendI32U);
            self.push(&I::I64Or);
        }
    }

    /// Sets `until` to where so much work is done, or the countdown has ended.
    fn set_until(&mut self, work: u64, locals: LookLocals) {
        let work = i64::try_from(work).unwrap_or(i64::MAX);
        self.push(&I::LocalGet(self.left));
        self.push(&I::I64Const(work));
        self.push(&I::I64Sub);
        self.push(&I::LocalTee(locals.until));
        self.push(&I::I64Const(0));
        self.push(&I::LocalGet(locals.until));
        self.push(&I::I64Const(0));
        self.push(&I::I64GtS);
        self.push(&I::Select);
        self.push(&I::LocalSet(locals.until));
    }
}

/// How many blocks are open behind an operator.
fn open_after(open: u32, operator: &Operator<'_>) -> u32 {
    match operator {
        Operator::Block { .. } | Operator::If { .. } => open + 1,
        Operator::End => open - 1,
        _ => open,
    }
}
