//! Tables of pages that hold some of many entries: the compute processor's TLB, and the RTLB of the access control (Reinhardt, Pfile and Wood 1998).

use super::{power, within};
use crate::machine::{EngineKind, Machine};
use serde::Deserialize;
use trivium_diagnostic::{Code, Diagnostic};

/// The TLB of the compute processor: fully associative, first in, first out. Instruction fetches and handlers do not use it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlbModel {
    /// Translations that it holds, 1 to 65536.
    pub entries: u64,
    /// Bytes that each of them translates: a power of two from a line to [`MemoryModel::page`], which it is if not said.
    pub page: Option<u64>,
    /// Cycles of an access whose translation it does not hold, before the access goes on.
    pub miss: u64,
}

/// The reverse TLB of the access control (Typhoon; our specification 3.3): fully associative, first in, first out. An entry has the tags of a page's
/// blocks, the addresses of its fault handlers and what they are told. A bus transaction of the processor for shared memory looks its page up, and so
/// does a handler for each block whose tag it changes or whose contents it moves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RtlbModel {
    /// Pages of [`memory.page`](super::MemoryModel::page) bytes that it holds, 1 to 65536.
    pub entries: u64,
    /// Cycles of a miss, before the transaction or the handler goes on, 0 to 2^16. It uses no bus.
    pub miss: u64,
}

impl Machine {
    /// Bytes that an entry of the TLB translates.
    pub fn tlb_page(&self) -> u64 {
        self.tlb.as_ref().and_then(|tlb| tlb.page).unwrap_or(self.memory.page)
    }

    pub(super) fn validate_tlb(&self) -> Result<(), Diagnostic> {
        let Some(tlb) = &self.tlb else { return Ok(()) };
        within("tlb.entries", tlb.entries, 1, 1 << 16)?;
        power("tlb.page", self.tlb_page(), self.cache.line, self.memory.page)?;
        within("tlb.miss", tlb.miss, 0, 1 << 24)
    }

    pub(super) fn validate_rtlb(&self) -> Result<(), Diagnostic> {
        let Some(rtlb) = &self.rtlb else { return Ok(()) };
        let without = match self.engine.kind {
            EngineKind::Pipeline => Some("whose engine lays its handlers out in stages"),
            EngineKind::Slots => Some("whose threads send and receive messages, with no access control of pages"),
            _ if self.access_control.software.is_some() => {
                Some("whose library checks accesses, with no bus transaction")
            }
            _ => None,
        };
        if let Some(machine) = without {
            let what = format!("the table `rtlb` would mean nothing on a machine {machine}");
            return Err(Diagnostic::new(Code::Machine, what)
                .help("leave it out, or take a machine such as typhoon, whose access control sees the bus"));
        }
        within("rtlb.entries", rtlb.entries, 1, 1 << 16)?;
        within("rtlb.miss", rtlb.miss, 0, 1 << 16)
    }
}
