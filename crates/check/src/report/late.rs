//! A counterexample found with stores left open (`system/late.rs`), told with every store chosen when it begins.

use crate::report::trace::{Label, Trace};
use crate::step::Stepper;
use crate::system::action::Action;
use crate::system::client::Intent;
use crate::system::promise::{Violation, check_state};
use crate::system::world::World;

/// A trace as a search finds it.
#[derive(Default)]
pub(crate) struct LateTrace {
    trace: Trace,
    /// For each thread: where the store begins that is still open.
    open: Vec<Option<usize>>,
}

impl LateTrace {
    /// Executes an event of a state in each way in which it can go, and adds it in the first that is wanted: the state to
    /// which it leads.
    pub fn add_way(
        &mut self,
        stepper: &mut Stepper,
        world: &World,
        action: Action,
        mut is_wanted: impl FnMut(&mut Stepper, &World, Result<(), Violation>) -> bool,
    ) -> Option<World> {
        let label = Label::of(stepper, world, action);
        stepper.restart_ways();
        loop {
            let mut next = world.clone();
            let result = stepper.perform_in_way(&mut next, action);
            let result = result.and_then(|()| check_state(stepper.model, &next));
            if is_wanted(stepper, &next, result) {
                self.push(stepper, label);
                return Some(next);
            }
            if !stepper.next_way() {
                return None;
            }
        }
    }

    /// Executes the one of these events of a state that leads to the state with these bytes, and adds it.
    ///
    /// # Panics
    /// If there is none: only ways that were gone before are gone again.
    pub fn add_step(
        &mut self,
        stepper: &mut Stepper,
        world: &World,
        actions: impl IntoIterator<Item = Action>,
        wanted: &[u8],
    ) -> World {
        let mut bytes = Vec::new();
        let next = actions.into_iter().find_map(|action| {
            self.add_way(stepper, world, action, |stepper, next, result| {
                stepper.model.codec.encode(next, &mut bytes);
                result.is_ok() && bytes == wanted
            })
        });
        next.expect("a state was reached by an event of the one before")
    }

    /// Adds an event that a stepper has just executed in a state of which this is the label.
    fn push(&mut self, stepper: &Stepper, label: Label) {
        let at = self.trace.len();
        self.open.resize(stepper.model.client.threads.len(), None);
        if let Label::Plain(Action::Start { thread, intent }) = label
            && matches!(stepper.model.client.intents[intent], Intent::Store { .. })
        {
            self.open[thread] = Some(at);
        }
        self.trace.labels.push((label, stepper.told().to_vec()));
        for &(thread, intent) in stepper.choices() {
            if let Some(at) = self.open[thread].take() {
                self.trace.labels[at].0 = Label::Plain(Action::Start { thread, intent });
            }
        }
    }

    /// The same with every store chosen when it begins. The stepper does so from now on.
    pub fn settle(mut self, stepper: &mut Stepper) -> Trace {
        stepper.is_late = false;
        for at in self.open.into_iter().flatten() {
            // It is never performed, so that any will do.
            if let Label::Plain(Action::Start { thread, intent }) = self.trace.labels[at].0
                && let Some(&way) = stepper.model.client.open_store(intent).and_then(|store| store.ways.first())
            {
                self.trace.labels[at].0 = Label::Plain(Action::Start { thread, intent: way });
            }
        }
        self.trace
    }
}
