//! The names that models have in common.

use crate::model::{Expr, Name, Term, TypeExpr, name};

macro_rules! names {
    ($($(#[$comment:meta])* $constant:ident $text:literal;)*) => {
        $($(#[$comment])* pub(super) const $constant: Name = Name::new($text);)*
    };
}

// Of parameters and of local variables.
names! {
    ME "me";
    O "o";
    /// An address.
    A "a";
    B "b";
    N "n";
    T "t";
    U "u";
    I "i";
    J "j";
    X "x";
    Y "y";
    S "s";
    R "r";
    C "c";
    LO "lo";
    UP "up";
    AT "at";
    TO "to_";
    FROM "from_";
    SRC "src";
    DST "dst";
    SENDER "sender";
    /// The number of the thread at its node that caused an event.
    THR "thr";
    NUMBER "number";
    FIRST "first";
    /// The message or the task that is handled.
    M "m";
    DATA "data";
    P "p";
    FX "fx";
    CODE "code";
    DIGIT "digit";
    STEP "step";
    HI "hi";
    RADIX "radix";
    PLACE "place";
    BYTES "bytes";
    LIST "list";
    HOLDER "holder";
    VALUE "value";
    KNOWN "known";
    SEEN "seen";
    KIND "kind";
    SKIP "skip";
    OP "op";
    WHOSE "whose";
    BEFORE "before";
    AGAIN "again";
    BACK "back";
    FITS "fits";
    CALLS "count";
    LOADS "loads";
    STORES "stores";
    STORE "store_";
    WHICH "which";
    ANY_ORDER "any_order";
    /// Effects of a ghost's handler: it asks for nothing, so that nobody looks at them.
    UNSEEN "unseen";
    WAY "way";
}

// Of variables of the model.
names! {
    /// What each thread does: see [`IDLE`] and those behind it.
    PHASE "phase";
    INTENT "intent";
    COUNT "count";
    PERFORMED "performed";
    FOUND "found";
    GIVEN "given";
    CHOSEN "chosen";
    MEM "mem";
    QUEUE "queue";
    CACHE "cache";
    CACHED "cached";
    WRITES_BACK "writes_back";
    OVERTAKEN "overtaken";
    HINTED "hinted";
    REGISTER "register";
    LAST "last";
    EARLIER "earlier";
    STORED "stored";
    WRITER "writer";
    MARKED "marked";
    OBSERVER "observer";
    VIEW "view";
    RELEASED "released";
}

/// A thread does nothing.
pub(super) const IDLE: u8 = 0;
/// It waits for what it has asked for.
pub(super) const WAITS: u8 = 1;
/// Its event is not handled: the thread tries again.
pub(super) const HELD: u8 = 2;
/// Its event is deferred.
pub(super) const DEFERRED: u8 = 3;
/// It may go on, and others of its node may too: they do so one by one.
pub(super) const LET_GO: u8 = 4;

/// What has become of the event that is handled: [`NOTHING`], [`DONE`], [`HELD`] or [`DEFERRED`].
pub(super) fn how() -> Expr {
    FX.field("how")
}

/// Its thread waits, if it has one.
pub(super) const NOTHING: u8 = 0;
/// The access can be performed.
pub(super) const DONE: u8 = 1;

/// Whatever a handler computes with.
pub(super) const INT: TypeExpr = TypeExpr::named("Int");
pub(super) const NODES: TypeExpr = TypeExpr::named("Node");
pub(super) const THREADS: TypeExpr = TypeExpr::named("Thread");
/// Threads of a node.
pub(super) const NUMBERS: TypeExpr = TypeExpr::named("Number");
pub(super) const BLOCKS: TypeExpr = TypeExpr::named("Obj_block");
pub(super) const WORDS: TypeExpr = TypeExpr::named("Word");
/// The data of messages.
pub(super) const CARRIED: TypeExpr = TypeExpr::named("Data");
pub(super) const EFFECTS: TypeExpr = TypeExpr::named("Effects");
/// The ways in which an event can turn out.
pub(super) const WAYS: TypeExpr = TypeExpr::named("Way");
pub(super) const TASKS: TypeExpr = TypeExpr::named("Task");

/// A name of the protocol as a part of a name of the model; always used behind a prefix.
pub(super) fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// An argument of an event, where it is not yet a handler's local, or a field that keeps it.
pub(super) fn argument(number: usize) -> Name {
    name(format!("a{number}"))
}

pub(super) fn arguments(count: usize) -> impl Iterator<Item = Name> {
    (0..count).map(argument)
}

/// A local of a handler: an event's arguments are the first of them.
pub(super) fn local(number: usize) -> Name {
    name(format!("l{number}"))
}

pub(super) fn locals(count: usize) -> impl Iterator<Item = Name> {
    (0..count).map(local)
}

/// A field of a record, or of each element of an array.
pub(super) fn part(number: impl Into<usize>) -> Name {
    name(format!("f{}", number.into()))
}

/// What is on its way on a lane: `[to][from]`.
pub(super) fn lane(number: usize) -> Name {
    name(format!("lane{number}"))
}

/// What is remembered of the calls that an assumption counts, for each thread and object.
pub(super) fn done(assumption: usize) -> Name {
    name(format!("done{assumption}"))
}

/// The thread that has a lock, and one; or none.
pub(super) fn holder(promise: usize) -> Name {
    name(format!("holder{promise}"))
}

/// Whether a node has arrived at a barrier.
pub(super) fn arrived(promise: usize) -> Name {
    name(format!("arrived{promise}"))
}

/// What goes with a lock or a barrier of what its last holder has seen.
pub(super) fn passed_on(promise: usize) -> Name {
    name(format!("passed{promise}"))
}
