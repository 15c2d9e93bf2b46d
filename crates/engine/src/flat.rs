//! Handlers as flat code: each is lowered once, when a protocol is loaded, into a row of small instructions.
//!
//! In them everything is resolved that is known by then: where variables lie in their records, the number of nodes and
//! the protocol's parameters, whose record is meant, what a loop or a branch jumps to. Values are in registers: first the
//! handler's locals, behind them what its expressions need. Where an instruction was written is kept in a second row, which
//! is looked at only when something goes wrong, or by who counts which ways are taken.
//!
//! [`crate::lower`] makes the code, [`crate::run`] runs it. The walk over the steps as the compiler left them, which is older and
//! plainer, stays beside it as the oracle ([`crate::Engine::walking`]).

mod wholes;

use crate::array::ArrayCell;
use crate::layout::{Cell, ListCell, SetCell};
use crate::optional::Optional;
use crate::whole::Whole;
use trivium_protocol::source::Span;
use trivium_protocol::{
    Asserted, HandlerId, LaneId, Line, MessageId, ObjectKindId, Operator, PerformFor, PerformKind, RoleId, SetOperator,
    StateId, TaskId,
};

pub(crate) use wholes::{WholeOp, WholeReg};

/// A register with a scalar.
pub(crate) type Reg = u8;
/// A register with a set.
pub(crate) type SetReg = u8;
/// The place of an instruction.
pub(crate) type Target = u32;

/// Most registers with scalars.
pub(crate) const MOST_SCALARS: u16 = 255;
/// Most registers with sets.
pub(crate) const MOST_SETS: u16 = 32;

/// Most registers with lists and arrays.
pub(crate) const MOST_WHOLES: u16 = 16;

/// The handlers of a protocol as flat code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// Instructions of all handlers, one after the other.
    pub ops: Vec<Op>,
    /// Where each instruction was written.
    pub spans: Vec<Span>,
    /// Scalars in records, and what values scalars may have.
    pub cells: Vec<Cell>,
    /// What scalars must be that become ones that may be `none`.
    pub optionals: Vec<Optional>,
    /// Sets in records.
    pub sets: Vec<SetCell>,
    /// Lists in records.
    pub lists: Vec<ListCell>,
    /// Arrays in records.
    pub arrays: Vec<ArrayCell>,
    /// Lists and arrays that are moved as wholes.
    pub wholes: Vec<Whole>,
    /// What is sent, and the tasks that are started.
    pub sends: Vec<SendPlan>,
    /// States that are asked for.
    pub states: Vec<Box<[StateId]>>,
    /// By role, its handlers: where each begins, if it could be lowered.
    pub handlers: Vec<Vec<Option<Entry>>>,
    /// By role, for each cell of its table, row by row: how its handlers run.
    pub ways: Vec<Vec<Reaction>>,
}

/// How the handlers of a state and an event run: what is asked of them at each event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reaction {
    /// The room that they need.
    pub way: Way,
    /// The first of them.
    pub handler: HandlerId,
    /// Where that one begins, if they run as flat code.
    pub at: Target,
}

/// How the handlers of a state and an event run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    /// Their steps are walked over.
    #[default]
    Walk,
    /// As flat code with few registers, none of them a set.
    NoSet,
    /// With one set.
    OneSet,
    /// With few registers.
    Small,
    /// With more of them, none of them a set.
    Wide,
    /// With few registers, and a list or an array, but no set.
    OneWhole,
    /// With more of them, some of them lists, arrays or sets.
    Wholes,
    /// As flat code with any number of them.
    Large,
}

/// Where a handler begins, and the registers that it needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Its first instruction: its arguments and its guard come first.
    pub at: Target,
    /// Registers with scalars, the first of them its locals.
    pub scalars: u16,
    /// Registers with sets.
    pub sets: u16,
    /// Registers with lists and arrays.
    pub wholes: u16,
}

/// What a message, or a task, is made of.
#[derive(Clone, Debug)]
pub(crate) struct SendPlan {
    /// The message; of no meaning for a task.
    pub message: MessageId,
    /// The task; of no meaning for a message.
    pub task: TaskId,
    /// The kind of its object.
    pub kind: ObjectKindId,
    /// About which object of it.
    pub about: About,
    /// Its arguments.
    pub args: Box<[Word]>,
    /// Its data.
    pub data: Source,
}

/// About which object a message is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum About {
    /// The node's agent.
    Agent,
    /// The present object.
    Present,
    /// The one whose number is in a register.
    Given(Reg),
}

/// An argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// A scalar.
    Scalar(Reg),
    /// A set of so many words.
    Set(SetReg, u8),
    /// A list or an array.
    Whole(WholeReg, u16),
}

/// Where the data of a message come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// There are none.
    Nothing,
    /// The block of its object.
    Block,
    /// What an instruction before it has gathered.
    Gathered,
}

/// Whose record is meant, when it is not the one whose steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The one whose steps run.
    Own,
    /// That of the handler's own role and object, while steps of another run.
    First,
    /// Another role's for the present object.
    SameObject,
    /// The node's agent.
    Agent,
    /// The object whose number is in a register.
    Given,
    /// There is none: a fault.
    Nowhere,
}

/// What becomes of a record that is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seek {
    /// It is only found out which it is.
    Find,
    /// It is looked at.
    Look,
    /// It is going to be changed.
    Change,
}

/// What a fault says of the access at which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultPart {
    /// Where.
    Address,
    /// How many bytes.
    Size,
    /// What would be stored, or the operand.
    Value,
    /// The number of a read-modify-write's operation.
    Operation,
    /// What a compare-and-exchange expects.
    Expected,
}

/// What an engine does to its processor's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineStep {
    Fill(Line),
    Upgrade,
    Take(Line),
    Invalidate,
}

/// One instruction. Of several registers that it writes or reads, the first is named. `other` is the record that was
/// sought last, in place of the one whose steps run. `steps` are those of the handler's that have been taken since the last
/// instruction that counted some, and `charge` is how many plain steps are charged before what the instruction does.
// Its kind is the first byte, so that telling it apart takes one load.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Op {
    // Scalars.
    Number {
        to: Reg,
        value: i64,
    },
    Move {
        to: Reg,
        from: Reg,
    },
    Argument {
        to: Reg,
        word: u8,
    },
    ArgumentSet {
        to: SetReg,
        word: u8,
        words: u8,
    },
    Read {
        to: Reg,
        other: bool,
        cell: u16,
    },
    Sender {
        to: Reg,
    },
    Me {
        to: Reg,
    },
    Home {
        to: Reg,
    },
    /// The address of the block with this number.
    AddressOf {
        to: Reg,
        from: Reg,
    },
    /// How many bytes it has.
    BytesOf {
        to: Reg,
        from: Reg,
    },
    /// The block at an address, or -1.
    BlockAt {
        to: Reg,
        address: Reg,
    },
    /// The home of the object of a kind with this number.
    HomeOf {
        to: Reg,
        kind: ObjectKindId,
        from: Reg,
    },
    /// The object that this node makes in a slot, or -1 where there are no more than `most`.
    Made {
        to: Reg,
        from: Reg,
        most: u32,
    },
    Caller {
        to: Reg,
    },
    ObjectNumber {
        to: Reg,
    },
    Fault {
        to: Reg,
        part: FaultPart,
    },
    Not {
        to: Reg,
        from: Reg,
    },
    Truth {
        to: Reg,
        from: Reg,
    },
    Negate {
        to: Reg,
        from: Reg,
    },
    Equal {
        to: Reg,
        left: Reg,
        right: Reg,
    },
    Different {
        to: Reg,
        left: Reg,
        right: Reg,
    },
    Less {
        to: Reg,
        left: Reg,
        right: Reg,
    },
    LessEqual {
        to: Reg,
        left: Reg,
        right: Reg,
    },
    Arithmetic {
        operator: Operator,
        to: Reg,
        left: Reg,
        right: Reg,
    },
    Index {
        to: Reg,
        from: Reg,
    },
    NodeAt {
        to: Reg,
        from: Reg,
    },
    InRecord {
        to: Reg,
        element: Reg,
        other: bool,
        cell: u16,
        lo: i32,
    },
    InSet {
        to: Reg,
        element: Reg,
        set: SetReg,
        lo: i32,
    },
    Count {
        to: Reg,
        set: SetReg,
    },
    /// A set of at most 64 elements as its bits, which is what an element of an array is.
    BitsOfSet {
        to: Reg,
        set: SetReg,
    },
    SetOfBits {
        set: SetReg,
        from: Reg,
    },
    Pick {
        to: Reg,
        set: SetReg,
        lo: i32,
    },
    PickNode {
        to: Reg,
        set: SetReg,
    },
    Same {
        to: Reg,
        left: SetReg,
        right: SetReg,
    },
    Length {
        to: Reg,
        other: bool,
        list: u16,
    },
    Element {
        to: Reg,
        index: Reg,
        field: u8,
        other: bool,
        list: u16,
    },
    ElementOfArray {
        to: Reg,
        index: Reg,
        field: u8,
        other: bool,
        array: u16,
    },
    Room {
        to: Reg,
        count: Reg,
        lane: LaneId,
        together: u32,
    },
    Load {
        to: Reg,
        address: Reg,
    },
    Probe {
        to: Reg,
    },
    ImageWord {
        to: Reg,
    },
    InState {
        to: Reg,
        states: u16,
    },

    // Sets.
    Empty {
        set: SetReg,
    },
    All {
        set: SetReg,
    },
    MoveSet {
        to: SetReg,
        from: SetReg,
    },
    ReadSet {
        set: SetReg,
        other: bool,
        cell: u16,
    },
    JoinNode {
        set: SetReg,
        element: Reg,
    },
    LeaveNode {
        set: SetReg,
        element: Reg,
    },
    JoinNumber {
        set: SetReg,
        element: Reg,
        lo: i32,
        count: u16,
    },
    Merge {
        operator: SetOperator,
        into: SetReg,
        with: SetReg,
    },
    Shift {
        set: SetReg,
        from: i32,
        lo: i32,
    },

    /// On lists and arrays as wholes.
    Whole(WholeOp),

    // Checks of what is in a register.
    CheckValue {
        from: Reg,
        cell: u16,
    },
    CheckGiven {
        from: Reg,
        none: i64,
    },
    /// What is in a register as what may be `none`.
    Optional {
        to: Reg,
        optional: u16,
    },
    CheckSet {
        set: SetReg,
        cell: u16,
    },
    CheckNode {
        from: Reg,
    },
    CheckObject {
        from: Reg,
    },
    CheckAddress {
        from: Reg,
    },
    CheckOrder {
        from: Reg,
        to: Reg,
    },
    CheckThread {
        from: Reg,
    },
    CheckData,
    /// The bit of an element, for a set in a record.
    NodeBit {
        to: Reg,
        from: Reg,
    },
    NumberBit {
        to: Reg,
        from: Reg,
        lo: i32,
        count: u16,
    },

    // Variables.
    Write {
        from: Reg,
        other: bool,
        cell: u16,
    },
    /// `CheckValue` and `Write` of the record whose steps run.
    CheckAndWrite {
        from: Reg,
        cell: u16,
    },
    WriteSet {
        set: SetReg,
        other: bool,
        cell: u16,
    },
    Insert {
        bit: Reg,
        other: bool,
        cell: u16,
    },
    Remove {
        bit: Reg,
        other: bool,
        cell: u16,
    },
    /// So many fields of an element, from one of them on.
    WriteElement {
        index: Reg,
        from: Reg,
        first: u8,
        fields: u8,
        other: bool,
        list: u16,
    },
    WriteElementOfArray {
        index: Reg,
        from: Reg,
        first: u8,
        fields: u8,
        other: bool,
        array: u16,
    },
    Push {
        from: Reg,
        fields: u8,
        other: bool,
        list: u16,
    },
    Pop {
        to: Reg,
        other: bool,
        list: u16,
    },
    Clear {
        other: bool,
        at: u32,
        bytes: u32,
    },

    // Control.
    Charge {
        steps: u16,
    },
    Taken {
        steps: u16,
    },
    Seek {
        whose: Whose,
        seek: Seek,
        role: RoleId,
        object: Reg,
    },
    Jump {
        steps: u16,
        to: Target,
    },
    JumpIf {
        from: Reg,
        to: Target,
    },
    JumpUnless {
        from: Reg,
        to: Target,
    },
    Branch {
        from: Reg,
        charge: u16,
        steps: u16,
        otherwise: Target,
    },
    Guard {
        from: Reg,
    },
    End {
        charge: u16,
        steps: u16,
    },
    AnyOfSet {
        set: SetReg,
    },
    NextOfSet {
        set: SetReg,
        to: Reg,
        lo: i32,
        exit: Target,
    },
    /// Of a set of nodes whose order can be seen.
    AnyNodeOfSet {
        set: SetReg,
        to: Reg,
        exit: Target,
    },
    AnyOfRange {
        from: Reg,
        to: Reg,
    },
    NextOfRange {
        next: Reg,
        last: Reg,
        to: Reg,
        exit: Target,
    },
    AllOfList {
        other: bool,
        list: u16,
    },
    NextOfList {
        to: Reg,
        list: u16,
        exit: Target,
    },
    Enter {
        depth: u8,
    },
    Leave {
        depth: u8,
    },
    Asserted,
    Assert {
        from: Reg,
        why: Asserted,
    },
    Impossible,

    // What reaches beyond the record.
    Received,
    GatherMemory {
        from: Reg,
        to: Reg,
    },
    GatherOwn {
        from: Reg,
        to: Reg,
    },
    GatherBlock {
        block: Reg,
    },
    /// What an access has loaded, whose result this is.
    Gathered {
        from: Reg,
    },
    GatherList {
        other: bool,
        blocks: bool,
        list: u16,
    },
    Send {
        to: Reg,
        charge: u16,
        plan: u16,
    },
    /// To who sent the present message, or to the home of the present object.
    SendTo {
        home: bool,
        charge: u16,
        plan: u16,
    },
    Start {
        plan: u16,
    },
    Yield,
    Goto {
        charge: u16,
        to: StateId,
    },
    Resume,
    Complete,
    CompleteWith {
        value: Reg,
        thread: Reg,
    },
    /// `args` are as [`trivium_protocol::Perform::args`] says.
    Perform {
        kind: PerformKind,
        whose: PerformFor,
        args: Reg,
        count: u8,
        result: Option<Reg>,
    },
    Return {
        value: Reg,
        thread: Reg,
    },
    Defer,
    Stall,
    Install,
    InstallAt {
        address: Reg,
    },
    InstallOwn {
        at: Reg,
    },
    Copy {
        from: Reg,
        to: Reg,
        bytes: Reg,
    },
    Store {
        address: Reg,
        value: Reg,
    },
    Line {
        step: LineStep,
    },
    Compose {
        word: Reg,
    },
}

const _: () = assert!(std::mem::size_of::<Op>() <= 16);
