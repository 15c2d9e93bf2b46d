//! The operand stack of a function while it is looked at: who made a number, and how far it is from a local.

use wasm_encoder::ValType;
use wasmparser::Operator;

use super::code;

/// What a local held at some time, plus a constant.
#[derive(Clone, Copy)]
pub(super) struct LocalValue {
    pub(super) local: u32,
    /// Counts the writes to the local.
    pub(super) version: u32,
    pub(super) add: u32,
}

/// A value on the operand stack.
#[derive(Clone, Copy, Default)]
struct Value {
    /// The operator that made this floating-point number, if nobody has seen its bits yet.
    maker: Option<usize>,
    place: Option<LocalValue>,
    constant: Option<u32>,
}

/// The operand stack, as far as something is known of it, which is as far as control has not branched.
pub(super) struct Values {
    stack: Vec<Value>,
    /// Of each local.
    versions: Vec<u32>,
}

impl Values {
    pub(super) fn new(locals: usize) -> Values {
        Values { stack: Vec::new(), versions: vec![0; locals] }
    }

    /// Where the operand at this depth points to, if that is known.
    pub(super) fn place(&self, depth: usize) -> Option<LocalValue> {
        self.stack.len().checked_sub(1 + depth).and_then(|at| self.stack[at].place)
    }

    /// The operator with this index, that takes and gives so many values, is executed; calls `see` with the makers of
    /// what it sees.
    pub(super) fn step(
        &mut self,
        operator: &Operator<'_>,
        arity: Option<(u32, u32)>,
        mut see: impl FnMut(usize),
        index: usize,
    ) {
        let Some((takes, gives)) = arity.filter(|_| is_plain(operator)) else {
            self.stack.drain(..).filter_map(|value| value.maker).for_each(see);
            return;
        };
        let mut taken = Vec::new();
        for _ in 0..takes {
            let value = self.stack.pop().unwrap_or_default();
            value.maker.filter(|_| !is_blind(operator)).into_iter().for_each(&mut see);
            taken.push(value);
        }
        let mut made = Value { maker: float(operator).map(|_| index), ..Value::default() };
        match operator {
            Operator::LocalGet { local_index } => made.place = Some(self.now(*local_index)),
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                self.versions[*local_index as usize] += 1;
                made.place = Some(self.now(*local_index));
            }
            Operator::I32Const { value } => made.constant = Some(*value as u32),
            Operator::I32Add => {
                let sum = |a: &Value, b: &Value| {
                    let (place, constant) = (a.place?, b.constant?);
                    Some(LocalValue { add: place.add.wrapping_add(constant), ..place })
                };
                made.place = sum(&taken[0], &taken[1]).or(sum(&taken[1], &taken[0]));
            }
            _ => {}
        }
        self.stack.extend((0..gives).map(|_| made));
    }

    fn now(&self, local: u32) -> LocalValue {
        LocalValue { local, version: self.versions[local as usize], add: 0 }
    }
}

/// Whether control goes on behind an operator and nowhere else, and arrives from before it.
fn is_plain(operator: &Operator<'_>) -> bool {
    !code::branches(operator) && !matches!(operator, Operator::Unreachable | Operator::Block { .. })
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
