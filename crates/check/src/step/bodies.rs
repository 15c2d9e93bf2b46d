//! Steps of threads in the bodies of calls, and of engines that hear what these have told them (`docs/semantics.md`, section 6).

use super::Stepper;
use super::remember::Name;
use crate::system::calls::{self, Next};
use crate::system::client::Intent;
use crate::system::promise::Violation;
use crate::system::world::{ThreadState, World};
use trivium_engine::Object;
use trivium_protocol::{CallAction, Line};

impl Stepper<'_> {
    /// A thread begins a call with a body.
    pub(super) fn enter(&mut self, world: &mut World, thread: usize, intent: usize) -> Result<(), Violation> {
        let model = self.model;
        if let Intent::Call { op, .. } = &model.client.intents[intent] {
            self.reached.way(model.protocol().ops[op.index()].span, true);
        }
        world.set_thread(&model.layout, thread, ThreadState::Ready, intent);
        let next = calls::enter(model, world, thread, &mut |place, taken| self.reached.way(place, taken));
        self.goes_on(world, thread, next)
    }

    /// An engine hears of what a thread of its node has told it. Nobody waits for that.
    pub(super) fn hear(&mut self, world: &mut World, thread: usize) -> Result<(), Violation> {
        let Some(told) = world.told(&self.model.layout, thread) else { return Ok(()) };
        world.set_told(&self.model.layout, thread, None);
        let node = self.model.client.threads[thread].node;
        let name = Some(Name::of_raised(thread, told));
        if self.finds(node, name, world) {
            self.redo(world, node, None)?;
        } else {
            let event = self.event_of(thread, told);
            self.dispatch(world, node, None, &event, None, name)?;
        }
        self.tells_on(world, thread)
    }

    /// A thread that has waited to tell something else does so now: nobody sees that before the engine hears of it, so that it takes no step of its own.
    fn tells_on(&mut self, world: &mut World, thread: usize) -> Result<(), Violation> {
        let (model, act) = (self.model, calls::act(self.model, world, thread));
        let Some(CallAction::Say { event, .. }) = act.filter(|_| world.told(&model.layout, thread).is_none()) else {
            return Ok(());
        };
        let Some((said, _)) = world.act(&model.layout, thread) else { return Ok(()) };
        if !model.protocol().ops[event.index()].is_told() {
            return Ok(());
        }
        world.set_told(&model.layout, thread, Some(said));
        self.acted(world, thread, 0)
    }

    /// What a thread does in the body of its call is done, and has given this.
    pub(super) fn acted(&mut self, world: &mut World, thread: usize, result: i64) -> Result<(), Violation> {
        let next = calls::done(self.model, world, thread, result, &mut |place, taken| self.reached.way(place, taken));
        self.goes_on(world, thread, next)
    }

    /// The body of a thread's call goes on, is at its end, or at fault.
    fn goes_on(&mut self, world: &mut World, thread: usize, next: Result<Next, Violation>) -> Result<(), Violation> {
        self.account.body_fails = next.is_err();
        let Next::Returns(value) = next? else { return Ok(()) };
        let (_, intent) = world.thread(&self.model.layout, thread);
        match &self.model.client.intents[intent] {
            Intent::Call { op, object, .. } => self.returns(world, thread, (intent, *op, *object), value),
            _ => Ok(()),
        }
    }

    /// A thread looks at an image, or swaps it, as its line allows.
    pub(super) fn use_image(&mut self, world: &mut World, thread: usize, image: Object) -> Result<(), Violation> {
        let (model, node) = (self.model, self.model.client.threads[thread].node);
        let held = model.image_word(world, node, image);
        let result = match calls::swap(model, world, thread)? {
            None => held,
            Some((seen, word)) => {
                let is_exclusive = world.line(&model.layout, node, image).line == Line::Exclusive;
                let swaps = is_exclusive && held == seen;
                if let (true, Some((_, at))) = (swaps, model.layout.line(node, image)) {
                    world.set_number(at, word.cast_unsigned());
                }
                i64::from(swaps)
            }
        };
        self.account.acts.push((thread, result));
        self.acted(world, thread, result)
    }
}
