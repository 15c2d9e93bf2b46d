//! What the fast build must know of a function before it rewrites it: which results of arithmetic can be seen, so that
//! their NaNs must be canonical, and what an access that asks the host should put aside.

use wasm_encoder::ValType;
use wasm_encoder::reencode::{self, Reencode};
use wasmparser::{FuncToValidate, FuncValidator, FunctionBody, Operator, ValidatorResources};

use super::{Layout, access, live};

/// What is known of an operator.
#[derive(Default)]
pub(super) struct Note {
    /// It makes a floating-point number whose bits can be seen.
    pub(super) is_seen: bool,
    /// Of a load or store: the types of the numbers that lie on the operand stack beneath its operands, the lowest
    /// first, as far as they can be reached.
    pub(super) beneath: Vec<ValType>,
    /// Of a load, a store or a loop head: the locals worth putting aside while the host is asked.
    pub(super) keep: Vec<u32>,
}

/// A function's operators, and what is known of them.
pub(super) struct Analysis<'a> {
    pub(super) operators: Vec<(Operator<'a>, Note)>,
    /// The types of its locals, parameters included.
    pub(super) locals: Vec<ValType>,
}

/// How many operands and results of whom an operator has.
struct Shape {
    takes: usize,
    gives: usize,
}

/// Floating-point results on the operand stack that nobody has seen yet, by the operators that made them.
#[derive(Default)]
struct Unseen(Vec<Option<usize>>);

impl Unseen {
    /// An operator that is not arithmetic sees its operands; one that changes the flow sees all.
    fn step(&mut self, notes: &mut [Note], index: usize, operator: &Operator<'_>, shape: Option<Shape>) {
        let shape = if is_plain(operator) { shape } else { None };
        let Some(Shape { takes, gives }) = shape else {
            self.0.drain(..).flatten().for_each(|maker| notes[maker].is_seen = true);
            return;
        };
        for _ in 0..takes {
            if let Some(Some(maker)) = self.0.pop()
                && !is_blind(operator)
            {
                notes[maker].is_seen = true;
            }
        }
        let makes = float(operator).is_some();
        self.0.extend((0..gives).map(|_| makes.then_some(index)));
    }
}

/// Looks at a valid function.
pub(super) fn analyse<'a>(
    layout: &mut Layout,
    function: FuncToValidate<ValidatorResources>,
    body: &FunctionBody<'a>,
    params: &[wasmparser::ValType],
) -> Result<Analysis<'a>, reencode::Error> {
    let mut validator = function.into_validator(Default::default());
    let mut locals = params.iter().map(|ty| layout.val_type(*ty)).collect::<Result<Vec<_>, _>>()?;
    let offset = body.range().start;
    for local in body.get_locals_reader()? {
        let (count, ty) = local?;
        validator.define_locals(offset, count, ty)?;
        let ty = layout.val_type(ty)?;
        locals.extend((0..count).map(|_| ty));
    }
    let mut operators = Vec::new();
    let mut notes: Vec<Note> = Vec::new();
    let mut unseen = Unseen::default();
    for operator in body.get_operators_reader()? {
        let operator = operator?;
        let mut note = Note::default();
        if let Some((access, _)) = access::find(&operator) {
            let operands = if access::ACCESSES[access as usize].store { 2 } else { 1 };
            note.beneath = numbers_beneath(&validator, operands);
        }
        notes.push(note);
        let arity = operator.operator_arity(&validator);
        let shape = arity.map(|(takes, gives)| Shape { takes: takes as usize, gives: gives as usize });
        unseen.step(&mut notes, operators.len(), &operator, shape);
        validator.op(offset, &operator)?;
        operators.push(operator);
    }
    for (index, kept) in live::worth_keeping(&operators, locals.len()) {
        notes[index].keep = kept.iter().filter(|local| is_number(locals[*local as usize])).collect();
    }
    Ok(Analysis { operators: operators.into_iter().zip(notes).collect(), locals })
}

/// The types of the numbers on the operand stack beneath so many operands, the lowest first: down to where the block
/// begins, or to something else than a number.
fn numbers_beneath(validator: &FuncValidator<ValidatorResources>, operands: usize) -> Vec<ValType> {
    let height = validator.operand_stack_height() as usize;
    // Where no control arrives, types may be unknown.
    let frame = validator.get_control_frame(0).filter(|frame| !frame.unreachable);
    let reachable = frame.map_or(0, |frame| (height - frame.height).saturating_sub(operands));
    let types = (0..reachable).map_while(|depth| match validator.get_operand_type(depth + operands)?? {
        wasmparser::ValType::I32 => Some(ValType::I32),
        wasmparser::ValType::I64 => Some(ValType::I64),
        wasmparser::ValType::F32 => Some(ValType::F32),
        wasmparser::ValType::F64 => Some(ValType::F64),
        _ => None,
    });
    let mut types: Vec<ValType> = types.collect();
    types.reverse();
    types
}

fn is_number(ty: ValType) -> bool {
    matches!(ty, ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64)
}

/// Whether control goes on behind an operator and nowhere else, and arrives from before it.
fn is_plain(operator: &Operator<'_>) -> bool {
    use Operator as O;
    !matches!(
        operator,
        O::Unreachable
            | O::Block { .. }
            | O::Loop { .. }
            | O::If { .. }
            | O::Else
            | O::End
            | O::Br { .. }
            | O::BrIf { .. }
            | O::BrTable { .. }
            | O::Return
    )
}

/// The type of the number that a floating-point operator makes, if the standard does not say which NaN that is.
pub(super) fn float(operator: &Operator<'_>) -> Option<ValType> {
    use Operator as O;
    match operator {
        O::F32Ceil
        | O::F32Floor
        | O::F32Trunc
        | O::F32Nearest
        | O::F32Sqrt
        | O::F32Add
        | O::F32Sub
        | O::F32Mul
        | O::F32Div
        | O::F32Min
        | O::F32Max
        | O::F32DemoteF64 => Some(ValType::F32),
        O::F64Ceil
        | O::F64Floor
        | O::F64Trunc
        | O::F64Nearest
        | O::F64Sqrt
        | O::F64Add
        | O::F64Sub
        | O::F64Mul
        | O::F64Div
        | O::F64Min
        | O::F64Max
        | O::F64PromoteF32 => Some(ValType::F64),
        _ => None,
    }
}

/// Whether an operator does the same with every NaN, but for results that are not canonical themselves.
fn is_blind(operator: &Operator<'_>) -> bool {
    use Operator as O;
    float(operator).is_some()
        || matches!(
            operator,
            O::F32Eq
                | O::F32Ne
                | O::F32Lt
                | O::F32Gt
                | O::F32Le
                | O::F32Ge
                | O::F64Eq
                | O::F64Ne
                | O::F64Lt
                | O::F64Gt
                | O::F64Le
                | O::F64Ge
        )
}
