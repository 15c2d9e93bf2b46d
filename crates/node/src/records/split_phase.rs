//! Calls of a protocol that move bytes while the program goes on, by the names and signatures of `docs/split-c.md`: a program makes them
//! without knowing which protocol its memory is under.

use trivium_protocol::{BLOCK, Named, OpId, Protocol, Type};
use trivium_protocol::{NODE, ObjectKindId};

/// The calls of a protocol that has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitPhaseCalls {
    pub(crate) get: OpId,
    pub(crate) put: OpId,
    pub(crate) store: OpId,
    pub(crate) sync: OpId,
    pub(crate) is_sync: OpId,
    pub(crate) store_sync: OpId,
}

impl SplitPhaseCalls {
    /// Those of a protocol; `None` if one of them is missing, or has another signature.
    pub fn of(protocol: &Protocol) -> Option<SplitPhaseCalls> {
        let is_number = |arg: &Named| matches!(arg.ty, Type::Int { .. });
        let find = |name: &str, object: ObjectKindId, fits: &dyn Fn(&[Named]) -> bool, gives: bool| {
            let found = protocol.ops.iter().position(|op| {
                let result = if gives { op.result == Some(Type::Bool) } else { op.result.is_none() };
                op.name == name && op.object == object && result && fits(&op.args)
            });
            found.map(OpId::at)
        };
        let moves = |args: &[Named]| match args {
            [at, bytes, place] => at.ty == Type::Address && is_number(bytes) && is_number(place),
            _ => false,
        };
        let none = |args: &[Named]| args.is_empty();
        let counts = |args: &[Named]| matches!(args, [bytes] if is_number(bytes));
        Some(SplitPhaseCalls {
            get: find("get", BLOCK, &moves, true)?,
            put: find("put", BLOCK, &moves, true)?,
            store: find("store", BLOCK, &moves, true)?,
            sync: find("sync", NODE, &none, false)?,
            is_sync: find("is_sync", NODE, &none, true)?,
            store_sync: find("store_sync", NODE, &counts, false)?,
        })
    }
}
