//! What a protocol promises, and under which use: promises, assumptions, invariants, and what must follow.

use crate::source::Span;
use crate::walk::visit;
use crate::{EventKind, Expr, ExprKind, ObjectKindId, OpId};

/// What the protocol guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// At most one node may write a block, and then no other may read it.
    SingleWriter,
    /// A read returns what the last write wrote.
    LastWrite,
    /// A read returns the last write of an earlier phase, or a write of the present one.
    LastPhase,
    /// The accesses of all nodes fit one order that respects each thread's own.
    Sequential,
    /// What a thread sees of a block never goes back to an older store.
    Coherent,
    /// Total store order: what a thread sees of all blocks never goes back, but for its own stores, which it sees early.
    Tso,
    /// A load sees every store that happens before it: through locks, barriers and these calls.
    ReleaseConsistency {
        /// Its return lets a thread see what was released before it was called.
        acquire: Option<OpId>,
        /// Its return releases what its thread has stored: to those who acquire, or to all if nothing acquires.
        release: Option<OpId>,
    },
    /// Between the return of the first and the call of the second there is at most one thread.
    Mutex(OpId, OpId),
    /// Nobody returns from its k-th call before all have made theirs.
    Barrier(OpId),
    /// When a copy is said to be done, its destination holds what its source held when it was asked for.
    Copies(Copies),
}

/// A call that copies blocks, and the one that says when the copy is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The call that copies; nothing is copied where it returns `none`, 0 or `false`.
    pub copy: OpId,
    /// The call that says so by its return, unless it returns `none`, 0 or `false`.
    pub wait: OpId,
    /// The first block of the destination.
    pub to: BlockParameter,
    /// That of the source.
    pub from: BlockParameter,
    /// Which argument says how many blocks are copied; one without it.
    pub blocks: Option<u16>,
    /// Which argument says how many words of the source's first block are left out; none without it.
    pub skip: Option<u16>,
    /// Whether `wait` is about the object that `copy` returns, and not about that on which it was called.
    pub is_named_by_result: bool,
}

/// A parameter of a call that is a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockParameter {
    /// The call's object.
    Object,
    /// One of its arguments.
    Argument(u16),
}

/// Under which use a protocol keeps its promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assume {
    /// Each block is written by at most one node between two barriers.
    OneWriterPerPhase,
    /// Each block is written at its home only.
    HomeWrites,
    /// Each thread calls the second only after the first, and the first only after the second.
    Alternate(OpId, OpId),
    /// Each thread makes this call at most once for an object.
    Once(OpId),
    /// Each thread makes the first call before the second.
    Before(OpId, OpId),
    /// On each node one thread uses the protocol.
    OneThreadPerNode,
    /// While a call copies ([`Promise::Copies`]), nobody stores to its source or uses its destination.
    Quiet(OpId, OpId),
}

impl Assume {
    /// A call of the objects for each of which must be remembered what each thread has called, if it is about that.
    pub fn counted_call(&self) -> Option<OpId> {
        match self {
            Assume::Alternate(op, _) | Assume::Once(op) | Assume::Before(op, _) => Some(*op),
            Assume::OneWriterPerPhase | Assume::OneThreadPerNode | Assume::HomeWrites | Assume::Quiet(..) => None,
        }
    }
}

/// An assumption about each use of one kind: a call is made, or an access begun, only when this is true on the node.
#[derive(Clone, Debug)]
pub struct Condition {
    /// [`EventKind::Read`], [`EventKind::Write`] or a call.
    pub event: EventKind,
    /// The kind of object that it is about.
    pub object: ObjectKindId,
    /// What must be true; the arguments of the call are the first locals.
    pub condition: Expr,
    /// As the file writes it: `give_back when member.held >= n`.
    pub text: String,
    /// Where it was written.
    pub span: Span,
}

impl Condition {
    /// Whether it looks at nothing but who makes the call and with what, so that it is the same in every state.
    pub fn is_of_call(&self) -> bool {
        let mut is_of_call = true;
        visit(&self.condition, &mut |part| {
            is_of_call &= matches!(
                part.kind,
                ExprKind::Constant(_)
                    | ExprKind::Local(_)
                    | ExprKind::Me
                    | ExprKind::Object
                    | ExprKind::Given(_)
                    | ExprKind::Optional(_)
                    | ExprKind::Not(_)
                    | ExprKind::Negate(_)
                    | ExprKind::Binary(..)
                    | ExprKind::Index(_)
                    | ExprKind::NodeAt(_)
            );
        });
        is_of_call
    }
}

/// An own invariant of the protocol, checked in every state.
#[derive(Clone, Debug)]
pub struct Invariant {
    /// The name as written.
    pub name: String,
    /// It is checked for each object of this kind.
    pub object: ObjectKindId,
    /// The condition; may use the quantifiers of [`ExprKind`].
    pub condition: Expr,
    /// How many locals the condition's quantifiers need.
    pub locals: u16,
}

/// What must follow sooner or later wherever something is so: `invariant served: leads_to(home is Asked, home is Idle)`.
#[derive(Clone, Debug)]
pub struct LeadsTo {
    /// The name as written.
    pub name: String,
    /// Whether it is about each node: the first local of both conditions.
    pub each: bool,
    /// Where this is so,
    pub from: Invariant,
    /// this must follow, or be so already.
    pub to: Invariant,
}

/// A call that may wait until something is so: `waits receive until home.mail.length > 0`.
#[derive(Clone, Debug)]
pub struct WaitClause {
    /// The call.
    pub op: OpId,
    /// What it waits for, about the call's object. The first locals are the calling node and the call's arguments.
    pub until: Invariant,
}
