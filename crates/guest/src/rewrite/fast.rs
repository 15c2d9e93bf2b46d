//! Rewrites the bodies of the program's functions for the *fast build*: what hits in the cache never leaves Wasm.
//!
//! Memory 1 belongs to the host ([`crate::tags`] has its layout). It holds, for every place of the cache, the
//! line that may be read and the line that may be written without asking, and the *countdown*: how many
//! instructions may still be executed before a poll must ask the host. The host knows at which count it will be
//! 0, so the countdown is also the count.
//!
//! * The countdown is in a local. It is stored to memory 1 before everything that leaves the function or calls
//!   the host, and loaded after it. What has been executed since the local was last brought up to date is known
//!   where the code is made: a miss stores the exact value, a hit pays nothing.
//! * A load or store compares its line with the tag. `tag ^ address` is the offset in the line if the tag is that
//!   of the line, so one comparison with `line - size` also finds accesses that cross the line's end.
//! * A miss calls the same added functions as the reference build.

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{BlockType, BranchHint, Function, Instruction as I, MemArg, ValType};
use wasmparser::{FunctionBody, Operator};

use super::access::{ACCESSES, Kind, find};
use super::code::{self, is_counted, needs_count};
use super::{Build, Layout};
use crate::tags::{COUNTDOWN, FIRST_PUBLISHED, READABLE, Shape};

/// Index of the host's memory.
pub(super) const HOST_MEMORY: u32 = 1;

/// A function while it is rewritten.
struct Body {
    function: Function,
    hints: Vec<BranchHint>,
    shape: Shape,
    /// The local with the countdown.
    left: u32,
    /// The local with the address of an access.
    address: u32,
    /// The first of four locals with the value of a store: i32, i64, f32, f64.
    values: u32,
    /// Instructions that the local does not count yet.
    pending: i64,
    /// Open blocks, the function's own included.
    depth: u32,
}

/// The body with counting, polls and access checks, and its branch hints.
pub(super) fn function(
    layout: &mut Layout,
    shape: Shape,
    params: u32,
    body: &FunctionBody<'_>,
) -> Result<(Function, Vec<BranchHint>), reencode::Error> {
    let mut locals = Vec::new();
    let mut count = params;
    for local in body.get_locals_reader()? {
        let (number, ty) = local?;
        locals.push((number, layout.val_type(ty)?));
        count += number;
    }
    use ValType::{F32, F64, I32, I64};
    locals.extend([(1, I64), (1, I32), (1, I32), (1, I64), (1, F32), (1, F64)]);
    let mut rewritten = Body {
        function: Function::new(locals),
        hints: Vec::new(),
        shape,
        left: count,
        address: count + 1,
        values: count + 2,
        pending: 0,
        depth: 1,
    };
    rewritten.load_countdown();
    rewritten.poll(layout);
    for operator in body.get_operators_reader()? {
        rewritten.operator(layout, operator?)?;
    }
    Ok((rewritten.function, rewritten.hints))
}

/// Of the countdown.
fn countdown() -> MemArg {
    MemArg { offset: COUNTDOWN, align: 3, memory_index: HOST_MEMORY }
}

/// Pushes the countdown as it was last stored.
pub(super) fn stored_countdown(function: &mut Function) {
    function.instruction(&I::I32Const(0));
    function.instruction(&I::I64Load(countdown()));
}

impl Body {
    fn push(&mut self, instruction: &I<'_>) {
        self.function.instruction(instruction);
    }

    fn operator(&mut self, layout: &mut Layout, operator: Operator<'_>) -> Result<(), reencode::Error> {
        if let Some((access, memarg)) = find(&operator) {
            self.pending += 1;
            // The validator has bounded a 32-bit memory's offset.
            self.access(layout, access, memarg.offset as u32);
            return Ok(());
        }
        self.pending += i64::from(is_counted(&operator));
        if needs_count(&operator) {
            self.count();
        }
        if self.leaves(&operator) || code::may_trap(&operator) {
            self.store_countdown(0);
        }
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => self.depth += 1,
            Operator::End => self.depth -= 1,
            _ => {}
        }
        let is_loop = matches!(operator, Operator::Loop { .. });
        let calls = matches!(operator, Operator::Call { .. } | Operator::CallIndirect { .. });
        let by_host = layout.instead(&operator);
        match by_host {
            Some(function) => self.push(&I::Call(function)),
            None => {
                let instruction = layout.instruction(operator)?;
                self.function.instruction(&instruction);
            }
        }
        if calls || by_host.is_some() {
            self.load_countdown();
        }
        if is_loop {
            self.poll(layout);
        }
        Ok(())
    }

    /// Whether control may leave the function in this operator, or the host look at the count.
    fn leaves(&self, operator: &Operator<'_>) -> bool {
        let outermost = self.depth - 1;
        match operator {
            Operator::Return
            | Operator::Call { .. }
            | Operator::CallIndirect { .. }
            | Operator::MemorySize { .. }
            | Operator::MemoryGrow { .. }
            | Operator::MemoryCopy { .. }
            | Operator::MemoryFill { .. }
            | Operator::MemoryInit { .. } => true,
            Operator::End => outermost == 0,
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => *relative_depth == outermost,
            Operator::BrTable { targets } => {
                targets.default() == outermost || targets.targets().flatten().any(|target| target == outermost)
            }
            _ => false,
        }
    }

    /// Brings the local up to date.
    fn count(&mut self) {
        if self.pending > 0 {
            self.push(&I::LocalGet(self.left));
            self.push(&I::I64Const(self.pending));
            self.push(&I::I64Sub);
            self.push(&I::LocalSet(self.left));
        }
        self.pending = 0;
    }

    /// Stores the countdown, less `pending`.
    fn store_countdown(&mut self, pending: i64) {
        self.push(&I::I32Const(0));
        self.push(&I::LocalGet(self.left));
        if pending > 0 {
            self.push(&I::I64Const(pending));
            self.push(&I::I64Sub);
        }
        self.push(&I::I64Store(countdown()));
    }

    fn load_countdown(&mut self) {
        stored_countdown(&mut self.function);
        self.push(&I::LocalSet(self.left));
    }

    /// An `if` that is hardly ever taken.
    fn if_rarely(&mut self, ty: BlockType) {
        self.hints.push(BranchHint { branch_func_offset: self.function.byte_len() as u32, branch_hint_value: 0 });
        self.push(&I::If(ty));
    }

    /// At a loop head or a function entry: asks the host if the countdown has ended.
    fn poll(&mut self, layout: &Layout) {
        self.push(&I::LocalGet(self.left));
        self.push(&I::I64Const(0));
        self.push(&I::I64LeS);
        self.if_rarely(BlockType::Empty);
        self.store_countdown(0);
        self.push(&I::Call(layout.poll()));
        self.load_countdown();
        self.push(&I::End);
    }

    /// A load or store: itself if the tag allows it, else the added function that asks the host.
    fn access(&mut self, layout: &Layout, access: u32, offset: u32) {
        let kind = &ACCESSES[access as usize];
        let value = self.values + kind.value_number();
        if kind.store {
            self.push(&I::LocalSet(value));
        }
        if offset > 0 {
            self.push(&I::I32Const(offset as i32));
            self.push(&I::I32Add);
        }
        self.push(&I::LocalTee(self.address));
        self.check(kind, offset);
        self.if_rarely(match kind.store {
            true => BlockType::Empty,
            false => BlockType::Result(kind.value),
        });
        let pending = self.pending;
        self.store_countdown(pending);
        self.push(&I::LocalGet(self.address));
        if offset > 0 {
            self.push(&I::I32Const(offset as i32));
            self.push(&I::I32Sub);
        }
        if kind.store {
            self.push(&I::LocalGet(value));
        }
        self.push(&I::I32Const(offset as i32));
        self.push(&I::Call(layout.access(access)));
        stored_countdown(&mut self.function);
        self.push(&I::I64Const(pending));
        self.push(&I::I64Add);
        self.push(&I::LocalSet(self.left));
        self.push(&I::Else);
        self.push(&I::LocalGet(self.address));
        if kind.store {
            self.push(&I::LocalGet(value));
        }
        self.push(&(kind.operator)(MemArg { offset: 0, align: 0, memory_index: 0 }));
        self.push(&I::End);
    }

    /// From the address on the stack, and in its local: whether the host must be asked.
    fn check(&mut self, kind: &Kind, offset: u32) {
        let shape = self.shape;
        self.push(&I::I32Const(shape.line.trailing_zeros() as i32 - 2));
        self.push(&I::I32ShrU);
        self.push(&I::I32Const(((shape.places - 1) << 2) as i32));
        self.push(&I::I32And);
        let tags = if kind.store { shape.writable() } else { READABLE };
        self.push(&I::I32Load(MemArg { offset: tags, align: 2, memory_index: HOST_MEMORY }));
        self.push(&I::LocalGet(self.address));
        self.push(&I::I32Xor);
        self.push(&I::I32Const((shape.line - kind.size) as i32));
        self.push(&I::I32GtU);
        if offset >= FIRST_PUBLISHED {
            // The sum has wrapped around: out of bounds. With a smaller offset it would be below the first line
            // that is ever published.
            self.push(&I::LocalGet(self.address));
            self.push(&I::I32Const(offset as i32));
            self.push(&I::I32LtU);
            self.push(&I::I32Or);
        }
    }
}

impl Layout {
    /// The counting, as the host functions want it: instructions executed, or the countdown.
    pub(super) fn push_count(&self, function: &mut Function) {
        match self.build {
            Build::Reference => {
                function.instruction(&I::GlobalGet(self.counter));
            }
            Build::Fast(_) => stored_countdown(function),
        }
    }
}
