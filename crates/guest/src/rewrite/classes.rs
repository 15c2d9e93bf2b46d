//! Which operators are instructions, and of which class each of them is.

use wasmparser::Operator;

use crate::weights::OperatorClass;

macro_rules! classes {
    (
        uncounted { $( $free:ident )* }
        $( $class:ident { $( $op:ident )* } )*
    ) => {
        /// The class of an operator that is an instruction in the sense of the results: all are but those that move locals,
        /// constants, and the brackets of the program's structure. One that copies or fills memory is one, and the host adds
        /// those of its words ([`crate::host`]).
        pub(super) fn class(operator: &Operator<'_>) -> Option<OperatorClass> {
            match operator {
                $( Operator::$free { .. } )|* => None,
                $( $( Operator::$op { .. } )|* => Some(OperatorClass::$class), )*
                // None that a program may have.
                _ => Some(OperatorClass::Other),
            }
        }

        /// All operators that are named here.
        #[cfg(test)]
        const NAMED: &[&str] = &[$( stringify!($free), )* $( $( stringify!($op), )* )*];
    };
}

classes! {
    uncounted {
        LocalGet LocalSet LocalTee I32Const I64Const F32Const F64Const Block Loop Else End Drop Nop
    }
    Integer {
        I32Eqz I32Eq I32Ne I32LtS I32LtU I32GtS I32GtU I32LeS I32LeU I32GeS I32GeU
        I64Eqz I64Eq I64Ne I64LtS I64LtU I64GtS I64GtU I64LeS I64LeU I64GeS I64GeU
        I32Clz I32Ctz I32Popcnt I32Add I32Sub I32And I32Or I32Xor I32Shl I32ShrS I32ShrU I32Rotl I32Rotr
        I64Clz I64Ctz I64Popcnt I64Add I64Sub I64And I64Or I64Xor I64Shl I64ShrS I64ShrU I64Rotl I64Rotr
        I32WrapI64 I64ExtendI32S I64ExtendI32U
        I32Extend8S I32Extend16S I64Extend8S I64Extend16S I64Extend32S
        Select TypedSelect TypedSelectMulti
    }
    Multiply { I32Mul I64Mul }
    Divide { I32DivS I32DivU I32RemS I32RemU I64DivS I64DivU I64RemS I64RemU }
    FloatAdd {
        F32Eq F32Ne F32Lt F32Gt F32Le F32Ge F32Abs F32Neg F32Add F32Sub F32Min F32Max F32Copysign
        F64Eq F64Ne F64Lt F64Gt F64Le F64Ge F64Abs F64Neg F64Add F64Sub F64Min F64Max F64Copysign
    }
    FloatMultiply { F32Mul F64Mul }
    FloatDivide { F32Div F64Div }
    SquareRoot { F32Sqrt F64Sqrt }
    Conversion {
        F32Ceil F32Floor F32Trunc F32Nearest F64Ceil F64Floor F64Trunc F64Nearest
        I32TruncF32S I32TruncF32U I32TruncF64S I32TruncF64U I64TruncF32S I64TruncF32U I64TruncF64S I64TruncF64U
        I32TruncSatF32S I32TruncSatF32U I32TruncSatF64S I32TruncSatF64U
        I64TruncSatF32S I64TruncSatF32U I64TruncSatF64S I64TruncSatF64U
        F32ConvertI32S F32ConvertI32U F32ConvertI64S F32ConvertI64U
        F64ConvertI32S F64ConvertI32U F64ConvertI64S F64ConvertI64U
        F32DemoteF64 F64PromoteF32
        I32ReinterpretF32 I64ReinterpretF64 F32ReinterpretI32 F64ReinterpretI64
    }
    Branch { If Br BrIf BrTable Return }
    Call { Call CallIndirect }
    Memory {
        I32Load I64Load F32Load F64Load
        I32Load8S I32Load8U I32Load16S I32Load16U
        I64Load8S I64Load8U I64Load16S I64Load16U I64Load32S I64Load32U
        I32Store I64Store F32Store F64Store I32Store8 I32Store16 I64Store8 I64Store16 I64Store32
        MemoryInit MemoryCopy MemoryFill
        AtomicFence
        I32AtomicLoad I64AtomicLoad I32AtomicLoad8U I32AtomicLoad16U I64AtomicLoad8U I64AtomicLoad16U I64AtomicLoad32U
        I32AtomicStore I64AtomicStore I32AtomicStore8 I32AtomicStore16 I64AtomicStore8 I64AtomicStore16 I64AtomicStore32
        I32AtomicRmwAdd I64AtomicRmwAdd I32AtomicRmw8AddU I32AtomicRmw16AddU
        I64AtomicRmw8AddU I64AtomicRmw16AddU I64AtomicRmw32AddU
        I32AtomicRmwSub I64AtomicRmwSub I32AtomicRmw8SubU I32AtomicRmw16SubU
        I64AtomicRmw8SubU I64AtomicRmw16SubU I64AtomicRmw32SubU
        I32AtomicRmwAnd I64AtomicRmwAnd I32AtomicRmw8AndU I32AtomicRmw16AndU
        I64AtomicRmw8AndU I64AtomicRmw16AndU I64AtomicRmw32AndU
        I32AtomicRmwOr I64AtomicRmwOr I32AtomicRmw8OrU I32AtomicRmw16OrU
        I64AtomicRmw8OrU I64AtomicRmw16OrU I64AtomicRmw32OrU
        I32AtomicRmwXor I64AtomicRmwXor I32AtomicRmw8XorU I32AtomicRmw16XorU
        I64AtomicRmw8XorU I64AtomicRmw16XorU I64AtomicRmw32XorU
        I32AtomicRmwXchg I64AtomicRmwXchg I32AtomicRmw8XchgU I32AtomicRmw16XchgU
        I64AtomicRmw8XchgU I64AtomicRmw16XchgU I64AtomicRmw32XchgU
        I32AtomicRmwCmpxchg I64AtomicRmwCmpxchg I32AtomicRmw8CmpxchgU I32AtomicRmw16CmpxchgU
        I64AtomicRmw8CmpxchgU I64AtomicRmw16CmpxchgU I64AtomicRmw32CmpxchgU
    }
    Other {
        Unreachable GlobalGet GlobalSet MemorySize MemoryGrow DataDrop
        TableGet TableSet TableGrow TableSize TableInit TableCopy TableFill ElemDrop
        RefNull RefIsNull RefFunc
    }
}

#[cfg(test)]
mod tests {
    use super::NAMED;
    use crate::inspect::is_accepted;
    use std::collections::BTreeSet;

    /// All operators of WebAssembly, as wasmparser lists them, each with its proposal.
    const ALL: &[(&str, &str)] = {
        macro_rules! all {
            ($( @$proposal:ident $op:ident $({ $($arg:ident: $ty:ty),* })? => $visit:ident ($($ann:tt)*) )*) => {
                &[$( (stringify!($proposal), stringify!($op)), )*]
            };
        }
        wasmparser::for_each_operator!(all)
    };

    /// Each operator that a program may have has one class, so that none gets there by being forgotten.
    #[test]
    fn each_operator_that_is_accepted_has_a_class() {
        let is_waiting = |op: &str| op.starts_with("MemoryAtomic");
        let may_be =
            |&&(proposal, op): &&(&str, &str)| is_accepted(proposal) || (proposal == "threads" && !is_waiting(op));
        let accepted: BTreeSet<&str> = ALL.iter().filter(may_be).map(|(_, op)| *op).collect();
        assert!(accepted.len() > 200, "{}", accepted.len());
        let named: BTreeSet<&str> = NAMED.iter().copied().collect();
        assert_eq!(named, accepted);
        assert_eq!(named.len(), NAMED.len(), "one is named twice");
    }
}
