//! What handlers are made of: steps, expressions, places.

use super::*;
use crate::source::Span;

/// Whose variables and state: a role instance on the handler's own node.
#[derive(Clone, Debug)]
pub enum Owner {
    /// The one whose handler (or whose action) runs.
    Current,
    /// Another role of the node: for the present object, or its agent.
    Role(RoleId),
    /// A role for another object of the node.
    RoleOf(RoleId, Box<Expr>),
    /// In invariants: a role at a given node.
    At(RoleId, Box<Expr>),
}

/// A variable, or a field of one.
#[derive(Clone, Debug)]
pub struct Place {
    /// Whose.
    pub owner: Owner,
    /// The role that declares it.
    pub role: RoleId,
    /// Which.
    pub var: VarId,
    /// A field of a record.
    pub field: Option<u16>,
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it was written.
    pub span: Span,
}

/// Operators on two scalars. Arithmetic is on 64-bit signed numbers; overflow is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    Different,
    Less,
    LessEqual,
    And,
    Or,
}

/// Operators on two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SetOperator {
    Union,
    Difference,
    Intersection,
}

/// What a quantifier of an invariant makes of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// True for every node.
    All,
    /// True for some node.
    Any,
    /// The number of nodes for which it is true.
    Count,
}

/// Which copy of a block: with tagged processors a node has one, with cached ones its cache and its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyIn {
    /// The one that loads and stores of the node's threads find.
    Processor,
    /// The one in the node's memory.
    Memory,
}

/// The forms of an expression. Scalars are 64-bit numbers: truth values 0 and 1, `none` -1 (of a word [`NO_WORD`]).
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A scalar known when the protocol is loaded.
    Constant(Bound),
    /// A local (scalar, set, array, list, or a record's first field).
    Local(LocalId),
    /// A field of a local record.
    LocalField(LocalId, u16),
    /// A variable.
    Var(Place),
    /// The node that sent the event; for local events this node.
    Sender,
    /// This node.
    Me,
    /// The home of the present object.
    Home,
    /// The home of an object that a value names.
    HomeOf(Box<Expr>),
    /// The address of the first byte of a block that a value names.
    AddressOf(Box<Expr>),
    /// How many bytes such a block has.
    BytesOf(Box<Expr>),
    /// The object that this node makes in a slot, of so many: `none` (-1) where the slot is none of them.
    Made(Box<Expr>, i64),
    /// The block in which a byte of shared memory lies, as far as this node knows its home; `none` (-1) if nobody has allocated it under this protocol.
    BlockAt(Box<Expr>),
    /// The thread of a local event.
    Caller,
    /// The number of the present object.
    Object,
    /// The address of the access that faulted.
    FaultAddress,
    /// Its size in bytes.
    FaultSize,
    /// The value that it would store, as 64 bits; of a read-modify-write the operand.
    FaultValue,
    /// The number of the [`Operation`] that it would make.
    FaultOperation,
    /// What a compare-and-exchange expects.
    FaultExpected,
    /// The value of a scalar that may be `none`, which is a fault here.
    Given(Box<Expr>),
    /// A scalar as one that may be `none`, of the type of the whole. A number outside its range is a fault, and so is a plain value that stands for `none`.
    Optional(Box<Expr>),
    /// Logical negation.
    Not(Box<Expr>),
    /// Arithmetic negation.
    Negate(Box<Expr>),
    /// Two scalars.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// A set of the given elements.
    SetOf(Vec<Expr>),
    /// All nodes.
    AllNodes,
    /// Two sets.
    SetBinary(SetOperator, Box<Expr>, Box<Expr>),
    /// Whether two sets are equal.
    SetEqual(Box<Expr>, Box<Expr>),
    /// Whether the scalar is in the set.
    In(Box<Expr>, Box<Expr>),
    /// The number of elements of a set.
    SetCount(Box<Expr>),
    /// One element of a set: of numbers the least, of nodes any; a violation when it is empty.
    Pick(Box<Expr>),
    /// The number of elements of a list.
    Length(Place),
    /// An element of a list or array of scalars (or a field of an element that is a record).
    Element(Place, Box<Expr>, u16),
    /// The same of a list or array that is a local.
    LocalElement(LocalId, Box<Expr>, u16),
    /// The number of elements of a list that is a local.
    LocalLength(LocalId),
    /// Whether two arrays of one type, or two lists with the same elements, are equal.
    ArrayEqual(Box<Expr>, Box<Expr>),
    /// The number of a node. Switches symmetry off.
    Index(Box<Expr>),
    /// The node of a number. Switches symmetry off.
    NodeAt(Box<Expr>),
    /// Whether this node has room for so many more messages on a lane; a queue that it shares must have room for these, and for so many at least.
    Room(LaneId, Box<Expr>, Bound),
    /// A word of this node's memory.
    Memory(Box<Expr>),
    /// What the processor's cache has of the present block, or image, as a number: see [`Line::ALL`].
    Probe,
    /// The word of the present object's image that a handler has brought to the engine's side: by `take`, or with the event.
    ImageWord,
    /// Invariants: over all nodes.
    Over(Quantifier, LocalId, Box<Expr>),
    /// Invariants and guards: whether a role is in one of these states.
    InState(Owner, RoleId, Vec<StateId>),
    /// Invariants: a node's copy of the present block: the word of it that is looked at.
    Contents(CopyIn, Box<Expr>),
    /// Invariants: the access that a node has to the present block, as a number: 0 none, 1 read, 2 write.
    Access(Box<Expr>),
    /// Invariants: how many messages of this kind about the present object are on their way, to a node if given.
    Flight(MessageId, Option<Box<Expr>>),
}

/// Where the data of a message come from.
#[derive(Clone, Debug)]
pub enum PayloadSource {
    /// No data.
    Nothing,
    /// The block of the message's object.
    Block,
    /// Another block of this node, or the present one in a message about another object.
    BlockOf(Expr),
    /// The data of the message that is being handled, passed on.
    Received,
    /// Bytes of this node's memory.
    Memory {
        /// First byte.
        from: Expr,
        /// One past the last byte.
        to: Expr,
    },
    /// Bytes of the program's own memory.
    Own {
        /// First byte.
        from: Expr,
        /// One past the last byte.
        to: Expr,
    },
    /// What a [`PerformKind::ReadData`] before it has loaded: its result.
    Performed(LocalId),
    /// The blocks or words in a list.
    List(Place),
}

/// What an access does that a handler performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerformKind {
    /// A load, whose value is the step's result.
    Read,
    /// A load to a place of the program's own memory.
    ReadTo,
    /// A load whose bytes a message carries; the step's result stands for them ([`PayloadSource::Performed`]).
    ReadData,
    /// A store.
    Write,
    /// A store of what lies at a place of the program's own memory.
    WriteFrom,
    /// A store of the data of the message that is being handled.
    WriteData,
    /// A read-modify-write; what was there before is the step's result.
    Rmw,
}

/// Whose access it is that a handler performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerformFor {
    /// The program's of this node.
    Program,
    /// That of another node's program.
    ProgramOf,
    /// A thread's, which waits for it.
    Thread,
}

/// An access that a handler performs.
#[derive(Clone, Debug)]
pub struct Perform {
    /// What it does.
    pub kind: PerformKind,
    /// Whose it is.
    pub whose: PerformFor,
    /// Its address and how many bytes; of a [`PerformFor::Thread`] the thread, and if not this node's program's the node; of a
    /// [`PerformKind::ReadTo`] and a [`PerformKind::WriteFrom`] the place, of a store of a value that, of a read-modify-write the number
    /// of the [`Operation`] and its two operands.
    pub args: Vec<Expr>,
    /// The local that becomes its result.
    pub result: Option<LocalId>,
}

impl Perform {
    /// Whether it changes the block.
    pub fn stores(&self) -> bool {
        matches!(self.kind, PerformKind::Write | PerformKind::WriteFrom | PerformKind::WriteData | PerformKind::Rmw)
    }

    /// Whether it looks at what is there.
    pub fn loads(&self) -> bool {
        matches!(self.kind, PerformKind::Read | PerformKind::ReadTo | PerformKind::ReadData | PerformKind::Rmw)
    }

    /// Whether it is that of a thread which waits for it, and not of a program.
    pub fn asked(&self) -> bool {
        self.whose == PerformFor::Thread
    }
}

/// Why a condition must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asserted {
    /// The text says so: `assert`, or an `await` that says from whom.
    Written,
    /// An object that is made must be there.
    Lives,
    /// An object is freed at its home.
    AtHome,
}

/// One step of a handler.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// Where it was written.
    pub span: Span,
}

/// The forms of a step.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// A scalar, set, array, list or record variable gets a value (a record: one expression a field).
    Assign(Place, Vec<Expr>),
    /// An element of a list or array gets a value: its fields from this one on, one expression a field.
    AssignElement(Place, Expr, u16, Vec<Expr>),
    /// A local gets a value.
    Let(LocalId, Vec<Expr>),
    /// An element joins a set variable.
    Insert(Place, Expr),
    /// An element leaves a set variable.
    Remove(Place, Expr),
    /// An element (one expression a field) goes to the end of a list.
    Push(Place, Vec<Expr>),
    /// The first element leaves a list and becomes a local.
    Pop(Place, LocalId),
    /// A list becomes empty.
    Clear(Place),
    /// One way or the other.
    If(Expr, Vec<Step>, Vec<Step>),
    /// For each element of a set: of numbers in ascending order, of nodes in any.
    ForSet(LocalId, Expr, Vec<Step>),
    /// For each whole number from the first to the second, both included.
    ForRange(LocalId, Expr, Expr, Vec<Step>),
    /// For each element of a list.
    ForList(LocalId, Place, Vec<Step>),
    /// The innermost loop ends. It stands only as the other way of a loop's `while room(..)`, whose body that branch is; since places do not become
    /// free while a handler runs, going on would do nothing more.
    Stop,
    /// A message leaves.
    Send {
        /// Which.
        message: MessageId,
        /// Its arguments.
        args: Vec<Expr>,
        /// Its data.
        payload: PayloadSource,
        /// About another object than the present one.
        object: Option<Expr>,
        /// To whom.
        to: Expr,
    },
    /// The role's state becomes this one.
    Goto(StateId),
    /// All waiting threads of the object try again.
    Resume,
    /// The waiting access of the object is performed now, once, without giving access.
    Complete,
    /// An access to the object's block is performed now, on this node's copy.
    Perform(Perform),
    /// The waiting access of a thread, which was performed elsewhere, is done: the thread gets this value. The second is
    /// the thread.
    CompleteWith(Expr, Expr),
    /// A call returns.
    Return {
        /// With what.
        value: Option<Expr>,
        /// To whom; the handler's own caller if not said.
        to: Option<Expr>,
    },
    /// The event that is being handled is kept for later.
    Defer,
    /// The event that is being handled stays where it is, and nothing has happened. Nothing stands after it on its path, and nothing with an
    /// effect before it.
    Stall,
    /// A task goes to the end of the software queue.
    Start(TaskId, Vec<Expr>),
    /// The running task goes to the end of the software queue again.
    Yield,
    /// The message's data go to the object's block, or to an address.
    Install(Option<Expr>),
    /// The message's data go to a place of the program's own memory.
    InstallOwn(Expr),
    /// Bytes are copied within this node's memory.
    Copy {
        /// First byte read.
        from: Expr,
        /// First byte written.
        to: Expr,
        /// How many.
        bytes: Expr,
    },
    /// A word of this node's memory gets a value.
    Store(Expr, Expr),
    /// The engine's side of the present object's image becomes this word.
    Compose(Expr),
    /// The processor's request for the block is answered with this node's copy, as shared or as exclusive.
    Fill(Line),
    /// It is answered without data: the line becomes exclusive.
    Upgrade,
    /// The line's contents go to this node's copy; the cache keeps it shared, or (exclusive) loses it.
    Take(Line),
    /// The processor's cache loses its line.
    Invalidate,
    /// A violation, if it is reached.
    Impossible,
    /// A violation, if the condition is false.
    Assert(Expr, Asserted),
    /// Steps of another role or object of this node.
    Elsewhere(Owner, RoleId, Vec<Step>),
}
