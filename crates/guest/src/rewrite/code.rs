//! Rewrites the bodies of the program's functions.

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{Function, Instruction, MemArg};
use wasmparser::{FunctionBody, Operator};

use super::classes::class;
use super::{Layout, MEMORY_COPY, MEMORY_FILL, MEMORY_GROW, MEMORY_SIZE, access};
use crate::atomics::{self, is_atomic};
use crate::memory::HOST_PAGE;
use crate::weights::Executed;

/// Whether the counter must be right before this operator: because it leaves the straight line,
/// because control can arrive behind it, because the host looks at the counter in it, or because it
/// may end the program.
pub(super) fn needs_count(operator: &Operator<'_>) -> bool {
    use Operator as O;
    branches(operator)
        || matches!(operator, O::Call { .. } | O::CallIndirect { .. })
        || may_trap(operator)
        || asks_host(operator)
        || access::find(operator).is_some()
}

/// Whether control may go on elsewhere than behind an operator, or arrive behind it from elsewhere.
pub(super) fn branches(operator: &Operator<'_>) -> bool {
    use Operator as O;
    matches!(
        operator,
        O::Loop { .. }
            | O::If { .. }
            | O::Else
            | O::End
            | O::Br { .. }
            | O::BrIf { .. }
            | O::BrTable { .. }
            | O::Return
    )
}

/// Whether the host performs an operator in Wasm's place ([`Layout::instead`]).
pub(super) fn asks_host(operator: &Operator<'_>) -> bool {
    use Operator as O;
    matches!(
        operator,
        O::MemorySize { .. }
            | O::MemoryGrow { .. }
            | O::MemoryCopy { .. }
            | O::MemoryFill { .. }
            | O::MemoryInit { .. }
    ) || is_atomic(operator)
}

/// Whether an operator may end the program by itself, in Wasm.
pub(super) fn may_trap(operator: &Operator<'_>) -> bool {
    use Operator as O;
    matches!(
        operator,
        O::Unreachable
            | O::I32DivS
            | O::I32DivU
            | O::I32RemS
            | O::I32RemU
            | O::I64DivS
            | O::I64DivU
            | O::I64RemS
            | O::I64RemU
            | O::I32TruncF32S
            | O::I32TruncF32U
            | O::I32TruncF64S
            | O::I32TruncF64U
            | O::I64TruncF32S
            | O::I64TruncF32U
            | O::I64TruncF64S
            | O::I64TruncF64U
            | O::TableGet { .. }
            | O::TableSet { .. }
            | O::TableInit { .. }
            | O::TableCopy { .. }
            | O::TableFill { .. }
    )
}

/// The body with counting, polls and access checks.
pub(super) fn function(layout: &mut Layout, body: &FunctionBody<'_>) -> Result<Function, reencode::Error> {
    let mut function = layout.new_function_with_parsed_locals(body)?;
    function.instruction(&Instruction::Call(layout.poll()));
    let mut pending = Executed::default();
    for operator in body.get_operators_reader()?.into_iter_with_offsets() {
        let (operator, offset) = operator?;
        layout.moves(offset, function.byte_len());
        for instruction in layout.noting(offset).into_iter().flatten() {
            function.instruction(&instruction);
        }
        if let Some(class) = class(&operator) {
            pending += layout.weights.one(class);
        }
        if needs_count(&operator) {
            count(layout, &mut function, &mut pending);
        }
        rewrite(layout, &mut function, operator)?;
    }
    Ok(function)
}

/// Adds the instructions that are not yet counted to the counter, and their work to the work.
fn count(layout: &Layout, function: &mut Function, pending: &mut Executed) {
    let Executed { instructions, work } = std::mem::take(pending);
    if instructions == 0 {
        return;
    }
    function
        .instruction(&Instruction::GlobalGet(layout.counter))
        .instruction(&Instruction::I64Const(instructions.cast_signed()))
        .instruction(&Instruction::I64Add)
        .instruction(&Instruction::GlobalSet(layout.counter));
    if layout.counts_work() {
        change(function, HOST_PAGE, |function| {
            function.instruction(&Instruction::I64Const(work.cast_signed())).instruction(&Instruction::I64Add);
        });
    }
}

/// Changes a number of 64 bits in the host's page.
pub(super) fn change(function: &mut Function, address: u32, change: impl FnOnce(&mut Function)) {
    let number = MemArg { offset: 0, align: 3, memory_index: 0 };
    function.instruction(&Instruction::I32Const(address as i32));
    function.instruction(&Instruction::I32Const(address as i32));
    function.instruction(&Instruction::I64Load(number));
    change(function);
    function.instruction(&Instruction::I64Store(number));
}

fn rewrite(layout: &mut Layout, function: &mut Function, operator: Operator<'_>) -> Result<(), reencode::Error> {
    if let Some((access, memarg)) = access::find(&operator) {
        // The validator has bounded a 32-bit memory's offset.
        function.instruction(&Instruction::I32Const(memarg.offset as u32 as i32));
        function.instruction(&Instruction::Call(layout.access(access)));
        return Ok(());
    }
    if let Some(instead) = layout.instead(&operator) {
        instead.iter().for_each(|instruction| {
            function.instruction(instruction);
        });
        return Ok(());
    }
    let is_loop = matches!(operator, Operator::Loop { .. });
    function.instruction(&layout.instruction(operator)?);
    if is_loop {
        function.instruction(&Instruction::Call(layout.poll()));
    }
    Ok(())
}

impl Layout {
    /// What replaces an operator that the host performs.
    pub(super) fn instead(&self, operator: &Operator<'_>) -> Option<Vec<Instruction<'static>>> {
        let (constants, function) = match operator {
            Operator::MemorySize { .. } => (vec![], self.host(MEMORY_SIZE)),
            Operator::MemoryGrow { .. } => (vec![], self.host(MEMORY_GROW)),
            Operator::MemoryCopy { .. } => (vec![], self.patient(MEMORY_COPY)),
            Operator::MemoryFill { .. } => (vec![], self.patient(MEMORY_FILL)),
            Operator::MemoryInit { data_index, .. } => (vec![], self.memory_init(*data_index)),
            _ => match atomics::find(operator)?.instead(self) {
                Some(instead) => instead,
                None => return Some(Vec::new()),
            },
        };
        let constants = constants.into_iter().map(Instruction::I32Const);
        Some(constants.chain([Instruction::Call(function)]).collect())
    }
}
