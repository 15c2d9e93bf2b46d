//! What a node asks of the world while it runs: the [`Processor`] trait and its vocabulary.

use std::fmt;

use crate::weights::Executed;

/// Whether a load or a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// A load.
    #[default]
    Read,
    /// A store.
    Write,
}

/// A call on a node's stack, as it is known while the node runs: a place in compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackFrame {
    /// Which of the functions that the program defines.
    pub(crate) function: u32,
    /// The offset in its rewritten body.
    pub(crate) offset: u32,
}

/// One load or store, about to happen.
///
/// It never crosses an aligned 8-byte word: an unaligned access that would is presented in
/// pieces, and so is a bulk copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LoadStore {
    /// Byte address in the node's memory; shared from [`SHARED_BASE`](crate::SHARED_BASE) on.
    pub addr: u32,
    /// Size in bytes, 1 to 8.
    pub size: u32,
    /// Load or store.
    pub kind: AccessKind,
    /// The bits about to be stored, zero-extended, little-endian; 0 for a load.
    pub value: u64,
}

/// What becomes of an access or a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessStep {
    /// Go on: the access happens in the node's memory before anything else of this node.
    Go,
    /// The node suspends; when it is resumed it tries the same access or poll again.
    Wait,
    /// The access is already done elsewhere: a load takes these bits, a store leaves the node's
    /// memory alone. For a poll the same as [`AccessStep::Go`].
    Complete(u64),
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStep {
    /// The call is done, with this result (ignored by calls without a result).
    Done(i64),
    /// The node suspends; when it is resumed it makes the same call again.
    Wait,
}

/// The program did something that cannot be allowed: it ends with this message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFault {
    /// What it did, naming node and address where there are such.
    pub message: String,
}

impl ProgramFault {
    /// A fault with a message.
    pub fn new(message: impl Into<String>) -> ProgramFault {
        ProgramFault { message: message.into() }
    }
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProgramFault {}

/// Where the home of each page of an allocation lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// All of it at one node.
    Explicit(u32),
    /// Page by page over all nodes.
    RoundRobin,
    /// Where it is first touched.
    FirstTouch,
    /// A part of so many bytes on each node in turn, from node 0 on: a multiple of [`PART_UNIT`](crate::PART_UNIT).
    Parts(u32),
}

/// What a program asks of the protocol of its memory that moves bytes while the program goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SplitPhase {
    /// How many bytes a block has; 0 if the protocol has no such calls.
    BlockBytes,
    /// Bytes go to private memory.
    Get,
    /// Bytes of private memory go to shared memory.
    Put,
    /// The same, and nobody is told when it is done but the bytes' home.
    Store,
    /// All that this node has begun, stores aside, is done.
    Sync,
    /// Whether it is.
    IsSync,
    /// Stores have brought so many bytes more to this node.
    StoreSync,
}

impl SplitPhase {
    /// All, in the order of `trivium.h`.
    pub const ALL: [SplitPhase; 7] = [
        SplitPhase::BlockBytes,
        SplitPhase::Get,
        SplitPhase::Put,
        SplitPhase::Store,
        SplitPhase::Sync,
        SplitPhase::IsSync,
        SplitPhase::StoreSync,
    ];
}

/// The operation of an atomic read-modify-write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RmwOp {
    /// Addition, modulo the size.
    Add,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Replace.
    Swap,
    /// Replace if the old value is the expected one.
    CompareSwap,
    /// The lesser of two signed numbers.
    Min,
    /// The greater of two signed numbers.
    Max,
    /// The sum of two numbers of IEEE 754, of 4 or 8 bytes. What is no number is the canonical one.
    AddFloat,
    /// The lesser of them (IEEE 754-2019 `minimumNumber`).
    MinFloat,
    /// The greater of them.
    MaxFloat,
}

/// An atomic read-modify-write of a naturally aligned word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReadModifyWrite {
    /// Byte address.
    pub addr: u32,
    /// 1, 2, 4 or 8 bytes.
    pub size: u32,
    /// What to do.
    pub op: RmwOp,
    /// The right-hand side, or the new value.
    pub operand: u64,
    /// The value that [`RmwOp::CompareSwap`] compares with; 0 for the others.
    pub expected: u64,
}

impl ReadModifyWrite {
    /// The word that replaces `old`.
    pub fn apply(&self, old: u64) -> u64 {
        let unused = 64 - 8 * self.size;
        let signed = |value: u64| (value << unused).cast_signed() >> unused;
        let new = match self.op {
            RmwOp::Add => old.wrapping_add(self.operand),
            RmwOp::And => old & self.operand,
            RmwOp::Or => old | self.operand,
            RmwOp::Xor => old ^ self.operand,
            RmwOp::Swap => self.operand,
            RmwOp::CompareSwap if old == self.expected => self.operand,
            RmwOp::CompareSwap => old,
            RmwOp::Min => signed(old).min(signed(self.operand)).cast_unsigned(),
            RmwOp::Max => signed(old).max(signed(self.operand)).cast_unsigned(),
            RmwOp::AddFloat | RmwOp::MinFloat | RmwOp::MaxFloat if self.size == 4 => self.apply_to_single(old),
            RmwOp::AddFloat | RmwOp::MinFloat | RmwOp::MaxFloat => self.apply_to_double(old),
        };
        new & (u64::MAX >> unused)
    }

    fn apply_to_single(&self, old: u64) -> u64 {
        let [old, operand] = [old, self.operand].map(|bits| f32::from_bits(bits as u32));
        let new = match self.op {
            // Of two zeros the negative one is the lesser.
            RmwOp::MinFloat if old == operand => f32::from_bits(old.to_bits() | operand.to_bits()),
            RmwOp::MinFloat => old.min(operand),
            RmwOp::MaxFloat if old == operand => f32::from_bits(old.to_bits() & operand.to_bits()),
            RmwOp::MaxFloat => old.max(operand),
            _ => old + operand,
        };
        u64::from(if new.is_nan() { 0x7fc0_0000 } else { new.to_bits() })
    }

    fn apply_to_double(&self, old: u64) -> u64 {
        let [old, operand] = [old, self.operand].map(f64::from_bits);
        let new = match self.op {
            // Of two zeros the negative one is the lesser.
            RmwOp::MinFloat if old == operand => f64::from_bits(old.to_bits() | operand.to_bits()),
            RmwOp::MinFloat => old.min(operand),
            RmwOp::MaxFloat if old == operand => f64::from_bits(old.to_bits() & operand.to_bits()),
            RmwOp::MaxFloat => old.max(operand),
            _ => old + operand,
        };
        if new.is_nan() { 0x7ff8_0000_0000_0000 } else { new.to_bits() }
    }
}

/// A call that a program makes. Addresses and sizes have been checked to lie in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// `trivium_node()`: this node's number, from 0.
    Node,
    /// `trivium_nodes()`: how many nodes there are.
    Nodes,
    /// `trivium_alloc()`: collective; the k-th of every node gives the same address, at least
    /// 8-byte aligned, in `SHARED_BASE..SHARED_END`.
    Alloc {
        /// Size in bytes, at least 1.
        bytes: u64,
        /// Where its homes are.
        placement: Placement,
        /// The protocol that it is under; the default one if none is named.
        protocol: Option<String>,
    },
    /// Said within `trivium_free()`: the bytes of the allocation that begins at `addr`, which is to be given back; done with them.
    Freeing {
        /// The address that the allocation gave.
        addr: u32,
    },
    /// Said within `trivium_free()`: done with 1 if this node is the home of the page that `addr` lies in, and 0 if not.
    IsHome {
        /// An address in it.
        addr: u32,
    },
    /// The last of `trivium_free()`: collective; the allocation at `addr` may be given to another.
    Free {
        /// The address that the allocation gave.
        addr: u32,
    },
    /// `trivium_bind()`: collective, and a barrier; the allocation at `addr` comes under another protocol.
    Bind {
        /// The address that the allocation gave.
        addr: u32,
        /// The protocol; the default one if none is named.
        protocol: Option<String>,
    },
    /// Said within `trivium_share()`: a range of this node's private memory becomes the memory of its part of an allocation,
    /// which the processor has just made in [`Placement::Parts`]. It does if the processor does not refuse.
    Shared {
        /// Where the range begins in private memory.
        addr: u32,
        /// Its size in bytes, and that of each part.
        bytes: u32,
        /// Where this node's part begins.
        part: u32,
    },
    /// `trivium_parallel_start()`: collective, and a barrier; pages placed by first touch get another home, once.
    ParallelStart,
    /// `trivium_place()`: collective, and a barrier; an object that is no block gets its home.
    Place {
        /// Of which protocol.
        protocol: String,
        /// Its kind.
        kind: String,
        /// Its number.
        object: u32,
        /// The node.
        node: u32,
    },
    /// All earlier stores of the thread are to have been performed.
    Fence,
    /// `trivium_name()`: what messages and reports call the allocation that `addr` lies in.
    Name {
        /// An address in it.
        addr: u32,
        /// The name.
        name: String,
    },
    /// `trivium_split_phase()`: an operation by the calls of the protocol of the memory at `addr`.
    SplitPhase {
        /// Which.
        what: SplitPhase,
        /// An address in shared memory.
        addr: u32,
        /// How many bytes.
        bytes: u64,
        /// Where they go to, or come from, in private memory.
        place: u32,
    },
    /// `trivium_barrier()`: the machine's own barrier.
    Barrier,
    /// `trivium_prefetch()` and `trivium_prefetch_write()`: a hint, whose address may be any.
    Prefetch {
        /// Byte address.
        addr: u32,
        /// Whether the program may store there, and not only load.
        write: bool,
    },
    /// An atomic read-modify-write; the processor performs it (see
    /// [`Memory::read_modify_write`](crate::Memory::read_modify_write)) and gives the old word.
    ReadModifyWrite(ReadModifyWrite),
    /// `trivium_load_linked()`: done with the word, whose block is remembered until the node loses its copy.
    LoadLinked {
        /// Byte address, naturally aligned.
        addr: u32,
        /// 4 or 8 bytes.
        size: u32,
        /// Whether the block is asked for as for a store.
        exclusive: bool,
    },
    /// `trivium_store_conditional()`: done with 1 if the word has been stored, and with 0 if the node has lost the copy that it remembers.
    StoreConditional {
        /// Byte address, naturally aligned.
        addr: u32,
        /// 4 or 8 bytes.
        size: u32,
        /// The new word.
        value: u64,
    },
    /// `trivium_wait_until_changed()`: done, with the word read, once it differs from `old`. The
    /// reading is the processor's, and so is the charge for it.
    WaitUntilChanged {
        /// Byte address, naturally aligned.
        addr: u32,
        /// 4 or 8 bytes.
        size: u32,
        /// The word as last seen, zero-extended.
        old: u64,
    },
    /// The region of interest begins on this node.
    RegionBegin,
    /// The region of interest ends on this node.
    RegionEnd,
    /// `trivium_cycles()`.
    Cycles,
    /// The clock of the C library: nanoseconds since the program began.
    Nanoseconds,
    /// The program sleeps: done once so many nanoseconds of that clock have passed.
    Sleep {
        /// How many.
        nanoseconds: u64,
    },
    /// Bytes written to standard output (1) or standard error (2).
    Print {
        /// 1 or 2.
        fd: u32,
        /// What is written.
        bytes: Vec<u8>,
    },
    /// A call of a protocol.
    Op {
        /// Which: an index into [`Program::calls`](crate::Program::calls).
        import: usize,
        /// Its arguments.
        args: Vec<i64>,
    },
}

/// A node's processor, as its program sees it. Called from inside the running program; the first
/// argument is always what was executed so far, the present instruction included.
pub trait Processor: 'static {
    /// The program is about to load or store.
    fn access(&mut self, executed: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault>;

    /// The program is at a loop head or a function entry.
    fn poll(&mut self, executed: Executed) -> Result<AccessStep, ProgramFault>;

    /// The program makes a call.
    fn call(&mut self, executed: Executed, call: &Call) -> Result<CallStep, ProgramFault>;

    /// An atomic operator of the program is used on private memory, which no other node sees; the program's function, if
    /// it is known. Told once, of the first.
    fn private_atomic(&mut self, _address: u32, _function: Option<&str>) {}

    /// The program has been refused to change something in the folder named to it, at this path, since nobody said that it may. Told
    /// once, of the first.
    fn refused_to_write(&mut self, _path: &str) {}

    /// What the program writes into files takes so many more bytes of the host's memory.
    fn takes(&mut self, _bytes: u64) {}

    /// The program's private memory has so many bytes from now on. Told when the node is made, and when it grows.
    fn private_memory(&mut self, _bytes: u64) {}

    /// How many bytes of shared memory are there before the program allocates. Asked when the node is made.
    fn shared_memory(&self) -> u64 {
        0
    }

    /// The program is about to load or store at an address that is not its own, which ends it. Its processor looks the page up before it can
    /// know that.
    fn is_astray(&mut self, _executed: Executed, _addr: u32) {}

    /// Since it was last told, the page of so many accesses was not among the node's [`Translations`](crate::Translations), and has been
    /// looked up. Only in the fast build, before whatever else it is told or asked: all of it happened before that. Each time may have
    /// taken as long as [`TlbShape`](crate::TlbShape) says of a miss, at most.
    fn has_looked_up(&mut self, _misses: u64) {}

    /// The least [work](Executed) at which [`Processor::poll`] would not say
    /// [`AccessStep::Go`]; until then the fast build does not poll. Asked after each of the other
    /// functions, and right until the next of them. 0, the default: every poll is made.
    fn deadline(&self) -> u64 {
        0
    }

    /// Whether it wants to know where the program stands. Asked after each access that has to wait or may happen, and after each
    /// step of a call.
    fn wants_stack(&self) -> bool {
        false
    }

    /// Where the program stands: its calls, the innermost first ([`DebugInfo`](crate::DebugInfo) says where that is in its
    /// source). Called at once if it [wants](Processor::wants_stack) to know.
    fn stack(&mut self, frames: Vec<StackFrame>) {
        let _ = frames;
    }
}
