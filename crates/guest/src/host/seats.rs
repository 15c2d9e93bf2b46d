//! The nodes of a store, and what their host functions have begun.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use wasmtime::{AsContext, AsContextMut, Caller, Result, Val};

use super::{Counter, NodeState};
use crate::memory::HOST_PAGE;
use crate::processor::{Call, CallStep, Processor};
use crate::rewrite::{GO, WAIT};

/// What a store holds: the nodes whose instances are in it.
pub(crate) struct Seats<P> {
    all: Vec<Seat<P>>,
    /// Whose program runs.
    current: usize,
}

struct Seat<P> {
    node: Rc<NodeState<P>>,
    /// What a host function has begun, and waits in.
    begun: Option<Begun>,
}

type Begun = Pin<Box<dyn Future<Output = Result<i64>>>>;

// SAFETY: Wasmtime asks for `Send` because an async store may be polled on any thread. A `Node` holds its store, or
// shares it with others of its thread, and every handle to its parts, and is itself neither `Send` nor `Sync` (it has
// an `Rc`), so that all of this stays on the thread that made it.
unsafe impl<P> Send for Seats<P> {}

impl<P> Seats<P> {
    pub(crate) fn new() -> Seats<P> {
        Seats { all: Vec::new(), current: 0 }
    }

    /// Seats a node, and tells where.
    pub(crate) fn add(&mut self, node: NodeState<P>) -> usize {
        self.all.push(Seat { node: Rc::new(node), begun: None });
        self.all.len() - 1
    }

    /// The program of the node with this seat runs from now on.
    pub(crate) fn seat(&mut self, seat: usize) {
        self.current = seat;
    }

    /// The node whose program runs.
    pub(super) fn node(&self) -> &Rc<NodeState<P>> {
        &self.all[self.current].node
    }

    pub(super) fn begun(&mut self) -> &mut Option<Begun> {
        &mut self.all[self.current].begun
    }
}

/// Brings what the present node has executed up to date.
pub(crate) fn count_executed<P: Processor>(mut store: impl AsContextMut<Data = Seats<P>>) {
    let node = store.as_context().data().node().clone();
    let count = match &node.counter {
        Counter::Up(global) => global.get(store.as_context_mut()).i64().unwrap_or(0),
        Counter::Down(_) => node.memory.counted(HOST_PAGE),
    };
    node.note_count(count);
}

/// The present node's program, which has waited, is about to go on: its countdown is wound up. One that is to end where it stands is left
/// as it is, so that it asks.
pub(crate) fn wind_up<P: Processor>(store: impl AsContext<Data = Seats<P>>) {
    let node = store.as_context().data().node();
    if !node.interrupted.get() {
        node.wind_up();
    }
}

/// Tells compiled code what a host function has counted; where it counts down, the host has done so all along.
fn keep_count<P: 'static>(caller: &mut Caller<'_, Seats<P>>) {
    let node = caller.data().node().clone();
    if let Counter::Up(global) = &node.counter {
        let executed = node.executed.get();
        // Only where the operators' weights differ does compiled code look at it.
        node.memory.set_counted(HOST_PAGE, executed.work.cast_signed());
        let set = global.set(caller, Val::I64(executed.instructions.cast_signed()));
        set.expect("the counter is a mutable global of 64 bits");
    }
}

/// GO and a result, or WAIT: then `again` is to be called after waiting.
pub(super) type Answer = Result<(i32, i64)>;

/// Begins something that may have to wait.
pub(super) fn begin<P: Processor, F>(
    mut caller: Caller<'_, Seats<P>>,
    begin: impl FnOnce(Rc<NodeState<P>>) -> F,
) -> Answer
where
    F: Future<Output = Result<i64>> + 'static,
{
    count_executed(&mut caller);
    let begun = Box::pin(begin(caller.data().node().clone()));
    go_on(&mut caller, begun)
}

/// Makes a call. What most do not need, something that waits, is made only where the call has to.
pub(super) fn begin_call<P: Processor>(caller: &mut Caller<'_, Seats<P>>, call: Call) -> Answer {
    let node = caller.data().node().clone();
    let step = node.processor.borrow_mut().call(node.executed.get(), &call);
    if step.is_ok() {
        node.wind_up();
    }
    keep_count(caller);
    node.tell_stack(&*caller);
    match step? {
        CallStep::Done(value) => Ok((GO, value)),
        CallStep::Wait => {
            *caller.data_mut().begun() = Some(Box::pin(async move { node.call(call).await }));
            Ok((WAIT, 0))
        }
    }
}

/// Goes on with what was begun until it has to wait.
pub(super) fn go_on<P: Processor>(caller: &mut Caller<'_, Seats<P>>, mut begun: Begun) -> Answer {
    let step = begun.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    keep_count(caller);
    caller.data().node().tell_stack(&*caller);
    match step {
        Poll::Ready(value) => Ok((GO, value?)),
        Poll::Pending => {
            *caller.data_mut().begun() = Some(begun);
            Ok((WAIT, 0))
        }
    }
}
