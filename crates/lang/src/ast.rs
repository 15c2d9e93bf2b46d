//! The protocol as written: what the parser makes of the text, before any name is looked up.

use trivium_protocol::source::Span;

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The name after `protocol`.
    pub name: Option<Ident>,
    /// What follows.
    pub items: Vec<Item>,
}

/// A declaration.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Item {
    Use {
        file: String,
        span: Span,
    },
    Promises {
        words: Vec<Word>,
        /// Where it says `only`: these stand in place of what used files promise.
        only: Option<Span>,
    },
    Assume(Vec<Word>),
    Param {
        name: Ident,
        value: Expr,
        range: Option<(Expr, Expr)>,
        check: Option<Expr>,
    },
    Lane {
        name: Ident,
        unordered: bool,
        /// Where it says `merged`.
        merged: Option<Span>,
        holds: Option<Expr>,
        queues: bool,
        lossy: bool,
        duplicating: bool,
        /// The lane that it is `behind`.
        behind: Option<Ident>,
    },
    /// `share L, M up to K`: lanes stand in one outgoing queue.
    Share {
        lanes: Vec<Ident>,
        places: Expr,
    },
    Object(Vec<ObjectKind>),
    Record {
        name: Ident,
        fields: Vec<Field>,
    },
    Message {
        messages: Vec<(Ident, Vec<Field>)>,
        lane: Option<Ident>,
        with: Option<Ident>,
    },
    Op {
        name: Ident,
        params: Vec<Field>,
        result: Option<Type>,
        /// What the calling thread does, where that is spelled out.
        body: Option<Vec<BodyStatement>>,
    },
    /// `event want, give`, `event join: bool`: what bodies say to their node's engine.
    Event(Vec<EventItem>),
    Role(Role),
    /// `extend role R { .. }`.
    Extend(Box<Extension>),
    Ghost(Ghost),
    Invariant {
        name: Ident,
        of: Option<Ident>,
        condition: Expr,
    },
    /// `waits OP until CONDITION`.
    Waits {
        op: Ident,
        condition: Expr,
    },
    Scenario(Scenario),
    Waive {
        rule: Ident,
        reason: String,
    },
    /// `check nodes 3, objects 1`.
    Check {
        sizes: Vec<Size>,
        span: Span,
    },
    /// `processor cached`.
    Processor {
        kind: Ident,
    },
}

/// A kind of object.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ObjectKind {
    pub name: Ident,
    /// `up to 4`: objects of the kind are made, and each node has so many at most.
    pub up_to: Option<Expr>,
    /// `image { .. }`: what a line of the processor's cache holds of it, which the engine composes.
    pub image: Option<Vec<Field>>,
}

/// An event that bodies say.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct EventItem {
    pub name: Ident,
    pub params: Vec<Field>,
    pub result: Option<Type>,
}

/// A size with which a file is to be checked: `nodes 3`, `network unordered`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Size {
    pub name: Ident,
    pub value: SizeValue,
}

/// What stands behind the name of a size.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum SizeValue {
    Number(Expr),
    Word(Ident),
    /// `block=2 job=1`, `block=0/1`: for each kind one number or several.
    Kinds(Vec<KindSize>),
}

/// `block=0/1`: what is said of the objects of a kind.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct KindSize {
    pub kind: Ident,
    pub numbers: Vec<(i64, Span)>,
}

/// A promise or an assumption: a word, perhaps with names in brackets.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Word {
    pub name: Ident,
    pub args: Vec<Ident>,
    /// `when EXPR`, of an assumption about a call or an access.
    pub when: Option<Expr>,
}

/// `name: type`, in records, messages, calls, actions.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Field {
    pub name: Ident,
    pub ty: Type,
}

/// A type as written.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Type {
    /// A name, optional if followed by `?`.
    Named {
        name: Ident,
        optional: bool,
    },
    /// A range, optional if followed by `?`.
    Range {
        lo: Expr,
        hi: Expr,
        optional: bool,
    },
    Set {
        of: Box<Type>,
        span: Span,
    },
    List {
        of: Box<Type>,
        up_to: Expr,
        queue: bool,
        span: Span,
    },
    /// `[node] of 0..8`, `[0..3] of bool`.
    Array {
        by: Box<Type>,
        of: Box<Type>,
        span: Span,
    },
}

/// A role.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Role {
    pub name: Ident,
    pub of: Ident,
    pub everywhere: bool,
    pub defers: Option<Expr>,
    /// Whether it says `defers up to n else stall`.
    pub pushes_back: bool,
    pub vars: Vec<Var>,
    pub actions: Vec<Action>,
    pub tasks: Vec<Action>,
    pub initially: Option<Initially>,
    pub states: Vec<State>,
    /// `otherwise` for messages that a state does not name.
    pub otherwise: Option<(Otherwise, Span)>,
    pub exceptions: Vec<Exception>,
    /// Clauses that are said of states by name. Once extensions are applied, those of waiting states, which are only known when handlers
    /// are compiled; those of one file after those of the files that it uses.
    pub clauses: Vec<Vec<InClause>>,
}

/// `initially { .. }`: what makes of a record the one that it is at first.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Initially {
    pub body: Vec<Statement>,
    /// The word.
    pub span: Span,
}

/// `extend role R { .. }`: what a file adds to a role of a file that it uses, and what it puts in place of something there.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Extension {
    /// What is added; its `of` is the role's name again if none was written.
    pub added: Role,
    /// The kind of object, if it is said again.
    pub of: Option<Ident>,
    /// `replace var`, `replace action`, `replace task`, `replace initially`, `replace state`, `replace otherwise`.
    pub replaced: Role,
    pub span: Span,
}

impl Role {
    /// A role without members.
    pub fn new(name: Ident, of: Ident) -> Role {
        Role {
            name,
            of,
            everywhere: false,
            defers: None,
            pushes_back: false,
            vars: Vec::new(),
            actions: Vec::new(),
            tasks: Vec::new(),
            initially: None,
            states: Vec::new(),
            otherwise: None,
            exceptions: Vec::new(),
            clauses: Vec::new(),
        }
    }
}

/// `in STATE, STATE on EVENT when GUARD { .. }`, perhaps with `replace` before it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct InClause {
    /// As reports write them: `Idle`, `Clean.write.Owned(none)`.
    pub states: Vec<Ident>,
    pub clause: Clause,
    pub replaces: bool,
}

/// `in STATE on EVENT, EVENT impossible`: what else would have an answer, and cannot happen.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Exception {
    /// All of it.
    pub span: Span,
    /// As reports write it: `Clean.write.Owned(none)`.
    pub state: Ident,
    pub events: Vec<Ident>,
}

/// A ghost: variables that the performed accesses and calls change, and that only claims look at.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Ghost {
    pub name: Ident,
    pub of: Ident,
    pub vars: Vec<Var>,
    /// What handlers tell it.
    pub actions: Vec<Action>,
    pub clauses: Vec<GhostClause>,
}

/// `on EVENT { .. }` or `on return CALL { .. }` of a ghost.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct GhostClause {
    /// Whether it is about the return of the call.
    pub returned: bool,
    pub event: Event,
    pub body: Vec<Statement>,
}

/// A variable of a role.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Var {
    pub name: Ident,
    pub ty: Type,
    pub initial: Option<Expr>,
}

/// An action or a task: a named block with parameters.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Action {
    pub name: Ident,
    pub params: Vec<Field>,
    pub body: Vec<Statement>,
}

/// What happens to events that nothing names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Otherwise {
    Defer,
    Impossible,
    Stall,
}

/// A state.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct State {
    pub name: Ident,
    pub access: Option<Ident>,
    /// Where it says `keeps`.
    pub keeps: Option<Span>,
    pub clauses: Vec<Clause>,
    pub otherwise: Option<(Otherwise, Span)>,
}

/// `on EVENT, EVENT when GUARD { .. }`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Clause {
    pub events: Vec<Event>,
    pub guard: Option<Expr>,
    pub body: Body,
    /// What stands before the body.
    pub span: Span,
    /// All of it, with `while waiting` where that begins it.
    pub whole: Span,
}

/// An event with names for its arguments.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Event {
    pub name: Ident,
    pub args: Option<Vec<Ident>>,
    /// `after T`.
    pub after: Option<Expr>,
}

/// What a clause does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Body {
    Steps(Vec<Statement>),
    As(Ident),
    Otherwise(Otherwise),
}

/// A statement with its place.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

/// The forms of a statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StatementKind {
    /// `target = e`, `target += e`, `target -= e`.
    Assign {
        target: Expr,
        sign: AssignSign,
        value: Expr,
    },
    Let {
        name: Ident,
        value: Expr,
    },
    If {
        condition: Expr,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// The innermost loop ends: the other way of `while room(..)`.
    Stop,
    For {
        name: Ident,
        over: Over,
        body: Vec<Statement>,
    },
    Send {
        message: Ident,
        args: Vec<Expr>,
        with: With,
        of: Option<Expr>,
        to: Expr,
    },
    Goto(Ident),
    Lower(Ident),
    Stall,
    Resume,
    Complete,
    /// `complete with value to thread`, `complete to thread`.
    CompleteWith {
        value: Option<Expr>,
        to: Expr,
    },
    /// `perform write(a, v, n) as t`; `perform read(a, n) to place`; `perform write(a, n) from place`.
    Perform {
        access: Expr,
        other_end: Option<OtherEnd>,
    },
    Return {
        value: Option<Expr>,
        to: Option<Expr>,
    },
    Defer,
    Start {
        task: Ident,
        args: Vec<Expr>,
    },
    Yield,
    /// `install to place`.
    InstallOwn {
        at: Expr,
    },
    Install {
        at: Option<Expr>,
    },
    Copy {
        from: Expr,
        to: Expr,
        bytes: Expr,
    },
    /// `fill shared`, `fill exclusive`; of an image with its fields.
    Fill(LineState, Option<Expr>),
    Upgrade,
    /// `let v = take exclusive`, of an image.
    LetTake {
        name: Ident,
        line: LineState,
    },
    /// `take shared`, `take exclusive`.
    Take(LineState),
    Invalidate,
    Impossible,
    Assert(Expr),
    /// `free object`.
    Free(Expr),
    /// An action, or a method such as `q.push(e)`.
    Call(Expr),
    Await(Await),
}

/// What a line of the processor's cache is filled or taken as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LineState {
    Shared,
    Exclusive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AssignSign {
    Set,
    Plus,
    Minus,
}

#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Over {
    Range(Expr, Expr),
    Each(Expr),
}

/// The data of a send as written.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum With {
    Declared,
    /// The message's object's, or that of another block.
    Block(Option<Expr>),
    Payload,
    Own(Expr, Expr),
    Performed(Expr),
    Memory(Expr, Expr),
    List(Expr),
}

/// `await ..`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Await {
    pub arms: Vec<Arm>,
    pub clauses: Vec<Clause>,
    pub otherwise: Option<(Otherwise, Span)>,
}

/// One message that an `await` waits for.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Arm {
    pub all: bool,
    pub message: Ident,
    pub args: Option<Vec<Ident>>,
    pub from: Option<Expr>,
    pub body: Vec<Statement>,
}

/// An expression with its place.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Int(i64),
    Name(String),
    Set(Vec<Expr>),
    Record(Vec<(Ident, Expr)>),
    Member(Box<Expr>, Ident),
    Item(Box<Expr>, Box<Expr>),
    Range(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `all n: e`, `any n: e`, `count n: e`.
    Over(&'static str, Ident, Box<Expr>),
    /// `role at n`.
    At(Ident, Box<Expr>),
    /// `role at n is State`, `role is (A, B)`.
    Is(Box<Expr>, Vec<Ident>),
    /// `flight(M)`, `flight(M to n)`.
    Flight(Ident, Option<Box<Expr>>),
    LeadsTo(Box<Expr>, Box<Expr>),
    Perform(Box<Perform>),
    /// `new job`.
    New(Ident),
    /// `ask join(..)`, in the body of a call.
    Ask(Ident, Vec<Expr>),
    /// `swap v with {l: true}`, in the body of a call.
    Swap {
        seen: Ident,
        with: Box<Expr>,
    },
}

/// `perform read(a, n) as t of m`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Perform {
    /// `read`, `write` or `rmw`.
    pub what: Ident,
    pub args: Vec<Expr>,
    pub asker: Option<Asker>,
}

/// Whose access it is.
#[derive(Clone, Debug)]
pub enum Asker {
    /// `as t of m`: a thread's, and its node if that is said.
    Thread(Expr, Option<Expr>),
    /// `for m`: the program's of a node.
    Program(Expr),
}

impl Asker {
    /// What is written of it.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        let (first, second) = match self {
            Asker::Thread(thread, node) => (thread, node.as_ref()),
            Asker::Program(node) => (node, None),
        };
        [first].into_iter().chain(second)
    }
}

/// The other end of an access that has no value.
#[derive(Clone, Debug)]
pub enum OtherEnd {
    /// `to p`: a place of the program's own memory.
    To(Expr),
    /// `from p`.
    From(Expr),
    /// `from payload`: the data of the message that is handled.
    Payload,
}

impl OtherEnd {
    /// The place of the program's own memory.
    pub fn place(&self) -> Option<&Expr> {
        match self {
            OtherEnd::To(place) | OtherEnd::From(place) => Some(place),
            OtherEnd::Payload => None,
        }
    }
}

/// A scenario.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Scenario {
    pub name: Ident,
    /// `homes block=0/1`.
    pub homes: Vec<KindSize>,
    pub threads: Vec<(Expr, Vec<BodyStatement>)>,
    pub forbid: Option<Expr>,
    pub span: Span,
}

/// A statement of a thread, with its place.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct BodyStatement {
    pub kind: BodyForm,
    pub span: Span,
}

/// The forms of a statement of a thread.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum BodyForm {
    /// `let name = e`, `name = e`.
    Set {
        is_new: bool,
        name: Ident,
        value: Expr,
    },
    /// `read(b)`, `write(b, v)`, `op(object, args)`.
    Look(Expr),
    If {
        condition: Expr,
        then: Vec<BodyStatement>,
        otherwise: Vec<BodyStatement>,
    },
    Loop(Vec<BodyStatement>),
    Until(Expr),
    Break,
    /// `tell want`, in the body of a call.
    Tell {
        event: Ident,
        args: Vec<Expr>,
    },
    /// `fence`, in the body of a call.
    Fence,
    /// `assert e`, in the body of a call.
    Assert(Expr),
    Return(Option<Expr>),
}
