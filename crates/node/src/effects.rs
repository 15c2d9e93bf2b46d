//! What a running handler has done, as every real node notes it until the handler has ended.

use crate::asked::AskedStep;
use crate::records::Slot;
use trivium_engine::{Args, Object};
use trivium_protocol::{RoleId, StateId, TaskId};

/// What the running handler has done so far, besides its messages.
#[derive(Debug, Default)]
pub struct Effects {
    /// Of which protocol it is.
    pub protocol: usize,
    /// Records that it touched, with their states before.
    pub touched: Vec<Touched>,
    /// Blocks whose waiting accesses try again, or have been performed and what they read.
    pub resumed: Vec<(Object, Option<u64>)>,
    /// Blocks of which the contents or the tag changed.
    pub changed: Vec<Object>,
    /// Results of calls.
    pub answers: Vec<i64>,
    /// Tasks for the software queue.
    pub tasks: Vec<(TaskId, Object, Args)>,
    /// Timers that run from its end, or are cancelled.
    pub timers: Vec<(RoleId, Object, Option<u64>)>,
    /// What it has performed and completed for threads, in this order.
    pub asked: Vec<AskedStep>,
    /// What it did that cannot be done.
    pub trouble: Option<String>,
}

/// A record that a handler has touched.
#[derive(Clone, Copy, Debug)]
pub struct Touched {
    /// Of which role.
    pub role: RoleId,
    /// Of which object.
    pub object: Object,
    /// Its state before.
    pub before: StateId,
    /// Where it lies.
    pub place: Slot,
}

impl Effects {
    /// Forgets a handler for the next one, of this protocol; the space that its lists took stays.
    #[inline]
    pub fn restart(&mut self, protocol: usize) {
        self.protocol = protocol;
        self.touched.clear();
        self.resumed.clear();
        self.changed.clear();
        self.answers.clear();
        self.tasks.clear();
        self.timers.clear();
        self.asked.clear();
        self.trouble = None;
    }

    /// The first thing that went wrong is kept.
    pub fn trouble_of(&mut self, result: Result<(), String>) {
        if let Err(what) = result {
            self.trouble.get_or_insert(what);
        }
    }

    /// The access that waits for a block tries again. What has been completed does not happen again.
    pub fn resume(&mut self, object: Object) {
        if !self.resumed.iter().any(|(resumed, _)| *resumed == object) {
            self.resumed.push((object, None));
        }
    }

    /// Whether the access that waits for a block has been performed by this handler.
    pub fn is_completed(&self, object: Object) -> bool {
        self.resumed.iter().any(|(resumed, read)| *resumed == object && read.is_some())
    }

    /// The access that waits for a block has been performed, and read this.
    pub fn completed(&mut self, object: Object, read: u64) {
        self.resumed.retain(|(resumed, _)| *resumed != object);
        self.resumed.push((object, Some(read)));
    }
}
