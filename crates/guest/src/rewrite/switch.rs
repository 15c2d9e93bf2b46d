//! The functions added to a module that let its node wait.
//!
//! Where WebAssembly can switch stacks ([`Switching::Stacks`]), `main` runs the program on a stack of its own, `wait`
//! leaves it, and `resume`, which the host calls, goes on with it. The continuation is in a global meanwhile. Else the
//! host does all this.

use wasm_encoder::{
    BlockType, ConstExpr, Function, GlobalType, Handle, HeapType, Instruction as I, RefType, TagKind, TagSection,
    TagType, ValType,
};

use super::{AGAIN, Layout, SUSPEND, Signature};
use crate::switching::Switching;

/// The only tag: the program waits.
const WAITS: u32 = 0;
/// `main` is the last function but one.
pub(super) const MAIN_FROM_END: u32 = 2;

/// The tags.
pub(super) fn tags(layout: &Layout) -> TagSection {
    let mut tags = TagSection::new();
    tags.tag(TagType { kind: TagKind::Exception, func_type_idx: layout.types });
    tags
}

/// The type of the global with the continuation, and what is in it at first.
pub(super) fn continuation(layout: &Layout) -> (GlobalType, ConstExpr) {
    let heap_type = HeapType::Concrete(layout.continuation());
    let val_type = ValType::Ref(RefType { nullable: true, heap_type });
    (GlobalType { val_type, mutable: true, shared: false }, ConstExpr::ref_null(heap_type))
}

impl Layout {
    /// Index of the continuation's type.
    fn continuation(&self) -> u32 {
        self.types + 1
    }
}

/// Lets the node wait, once.
pub(super) fn wait(layout: &Layout) -> Function {
    let mut f = Function::new([]);
    f.instruction(&match layout.switching {
        Switching::Stacks => I::Suspend(WAITS),
        Switching::Fibres => I::Call(layout.host(SUSPEND)),
    });
    f.instruction(&I::End);
    f
}

/// Calls an imported function, and waits until it has its result.
pub(super) fn patient(layout: &Layout, import: u32, (params, results): &Signature) -> Function {
    let (value, step) = (params.len() as u32, params.len() as u32 + 1);
    let mut f = Function::new_with_locals_types([ValType::I64, ValType::I32]);
    for param in 0..params.len() as u32 {
        f.instruction(&I::LocalGet(param));
    }
    f.instruction(&I::Call(import));
    f.instruction(&I::LocalSet(value));
    f.instruction(&I::LocalSet(step));
    f.instruction(&I::Loop(BlockType::Empty));
    f.instruction(&I::LocalGet(step));
    f.instruction(&I::If(BlockType::Empty));
    f.instruction(&I::Call(layout.wait()));
    f.instruction(&I::Call(layout.host(AGAIN)));
    f.instruction(&I::LocalSet(value));
    f.instruction(&I::LocalSet(step));
    f.instruction(&I::Br(1));
    f.instruction(&I::End);
    f.instruction(&I::End);
    if let Some(result) = results.first() {
        f.instruction(&I::LocalGet(value));
        if *result == ValType::I32 {
            f.instruction(&I::I32WrapI64);
        }
    }
    f.instruction(&I::End);
    f
}

/// Runs the program.
pub(super) fn main(start: u32) -> Function {
    let mut f = Function::new([]);
    f.instruction(&I::Call(start));
    f.instruction(&I::End);
    f
}

/// Lets `main` begin or go on until it waits, which gives 1, or ends, which gives 0.
pub(super) fn resume(layout: &Layout, main: u32) -> Function {
    let (continuation, global) = (layout.continuation(), layout.counter + 1);
    let suspended = RefType { nullable: false, heap_type: HeapType::Concrete(continuation) };
    let mut f = Function::new([]);
    f.instruction(&I::GlobalGet(global));
    f.instruction(&I::RefIsNull);
    f.instruction(&I::If(BlockType::Empty));
    f.instruction(&I::RefFunc(main));
    f.instruction(&I::ContNew(continuation));
    f.instruction(&I::GlobalSet(global));
    f.instruction(&I::End);
    f.instruction(&I::Block(BlockType::Result(ValType::Ref(suspended))));
    f.instruction(&I::GlobalGet(global));
    f.instruction(&I::Resume {
        cont_type_index: continuation,
        resume_table: [Handle::OnLabel { tag: WAITS, label: 0 }].as_slice().into(),
    });
    f.instruction(&I::I32Const(0));
    f.instruction(&I::Return);
    f.instruction(&I::End);
    f.instruction(&I::GlobalSet(global));
    f.instruction(&I::I32Const(1));
    f.instruction(&I::End);
    f
}
