//! What protocols assume about the use of their calls, asserted while a program runs.

use std::collections::BTreeMap;
use trivium_engine::Object;
use trivium_protocol::{Assume, OpId, Protocol};

/// How often a node has made each call on each object: what `alternate`, `once` and `before` are about.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    made: BTreeMap<(usize, OpId, Object), u64>,
}

impl Usage {
    /// A call is about to be made.
    ///
    /// # Errors
    /// The assumption that it breaks, as the protocol writes it.
    pub fn call(&mut self, number: usize, protocol: &Protocol, op: OpId, object: Object) -> Result<(), String> {
        let made = |op: OpId| self.made.get(&(number, op, object)).copied().unwrap_or(0);
        for assume in &protocol.assumptions {
            let kept = match *assume {
                // The first is watched at the stores themselves; a program has one thread a node.
                Assume::OneWriterPerPhase | Assume::OneThreadPerNode => true,
                Assume::Alternate(first, second) if op == first => made(first) == made(second),
                Assume::Alternate(first, second) if op == second => made(first) == made(second) + 1,
                Assume::Once(only) if op == only => made(only) == 0,
                Assume::Before(first, second) if op == second => made(first) > 0,
                _ => true,
            };
            if !kept {
                return Err(protocol.assume_name(assume));
            }
        }
        *self.made.entry((number, op, object)).or_default() += 1;
        Ok(())
    }
}
