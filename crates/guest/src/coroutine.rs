//! A program that runs until it has to wait: the ways in which that is done.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use wasmtime::{Instance, Result, Store, TypedFunc};

use crate::host::{Seats, count_executed, wind_up};
use crate::processor::Processor;
use crate::rewrite::RESUME_EXPORT;

/// A program that runs until it has to wait.
pub(crate) enum Coroutine<P: Processor> {
    /// See [`Switching::Stacks`](crate::Switching::Stacks).
    Stack(Stack<P>),
    /// See [`Switching::Fibres`](crate::Switching::Fibres).
    Fibre(Fibre<P>),
}

impl<P: Processor> Coroutine<P> {
    /// Lets it go on: none if it waits, else how it ended, and it may not be resumed again.
    pub(crate) fn resume(&mut self) -> Option<Result<()>> {
        match self {
            Coroutine::Stack(stack) => stack.resume(),
            Coroutine::Fibre(fibre) => fibre.resume(),
        }
    }
}

/// The store of the nodes of a stage.
pub(crate) type SharedStore<P> = Rc<RefCell<Store<Seats<P>>>>;

/// A program in a store that it shares with others. No function of the host is on its stack while it waits, so that
/// nothing is left undone if the stack vanishes with the store.
pub(crate) struct Stack<P: Processor> {
    store: SharedStore<P>,
    seat: usize,
    resume: TypedFunc<(), i32>,
}

impl<P: Processor> Stack<P> {
    /// The program of an instance, for the node with this seat.
    pub(crate) fn new(store: &SharedStore<P>, instance: &Instance, seat: usize) -> Result<Stack<P>> {
        let resume = instance.get_typed_func(&mut *store.borrow_mut(), RESUME_EXPORT)?;
        Ok(Stack { store: store.clone(), seat, resume })
    }

    fn resume(&mut self) -> Option<Result<()>> {
        let Ok(mut store) = self.store.try_borrow_mut() else {
            return Some(Err(wasmtime::Error::msg("a node was resumed by a callback of another one of its stage")));
        };
        store.data_mut().seat(self.seat);
        wind_up(&*store);
        let result = match self.resume.call(&mut *store, ()) {
            Ok(0) => Ok(()),
            Ok(_) => return None,
            Err(error) => Err(error),
        };
        count_executed(&mut *store);
        Some(result)
    }
}

type Running<P> = Pin<Box<dyn Future<Output = (Store<Seats<P>>, Result<()>)>>>;

/// A program in a store of its own.
pub(crate) enum Fibre<P: Processor> {
    Running(Running<P>),
    /// The store is kept for the memory in it.
    Ended(#[allow(dead_code)] Store<Seats<P>>),
}

impl<P: Processor> Fibre<P> {
    /// The program of an instance in a store that has nothing else.
    pub(crate) fn new(mut store: Store<Seats<P>>, instance: &Instance) -> Result<Fibre<P>> {
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
        Ok(Fibre::Running(Box::pin(async move {
            let result = start.call_async(&mut store, ()).await;
            (store, result)
        })))
    }

    fn resume(&mut self) -> Option<Result<()>> {
        let Fibre::Running(running) = self else {
            return Some(Ok(()));
        };
        match running.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => None,
            Poll::Ready((mut store, result)) => {
                count_executed(&mut store);
                *self = Fibre::Ended(store);
                Some(result)
            }
        }
    }
}
