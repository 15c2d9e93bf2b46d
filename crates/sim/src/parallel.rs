//! A simulation on several host threads: each has a part of the nodes, and they meet at the end of each window.
//!
//! A part is made, run and read on its own thread. What a node does to a node of another part is handed over at the
//! next meeting: it is felt a lookahead later at the earliest, and no part goes further than that beyond the others.
//! So a result is the same for any number of threads.
//!
//! An error is another matter: which one is told, and in which words, depends on everything that the nodes did before
//! it. So when anything goes wrong the simulation is given up, and the caller repeats it on one thread.

use crate::error::SimError;
use crate::letter::{About, Letter};
use crate::meeting::{Meeting, Present};
use crate::result::NodeEnd;
use crate::setup::{Setup, make};
use crate::watch::TagChange;
use crate::world::{Arrivals, Ended, Happened, ROUNDS, World};
use std::ops::Range;
use std::sync::atomic::Ordering;
use trivium_engine::Node;

/// The nodes of each part.
fn parts(nodes: u32, jobs: u32) -> Vec<Range<u32>> {
    (0..jobs).map(|part| nodes * part / jobs..nodes * (part + 1) / jobs).collect()
}

/// Simulates on `jobs` threads, of which the caller's is one; `jobs` is at most the number of nodes. None if
/// anything went wrong.
pub(crate) fn run(setup: &Setup, jobs: u32) -> Option<(Ended, Vec<NodeEnd>)> {
    let parts = parts(setup.nodes, jobs);
    let meeting = Meeting::new(parts.len());
    // A setup cannot leave its thread: whom to tell the progress belongs to it.
    let &Setup { program, ref protocols, ref machine, nodes, block, ref args, seed, max_cycles, window, .. } = setup;
    let own = || Setup {
        program,
        protocols: protocols.clone(),
        machine: machine.clone(),
        nodes,
        block,
        args: args.clone(),
        seed,
        max_cycles,
        window,
        jobs: 1,
        cancel: None,
        progress: None,
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..parts.len())
            .map(|thread| {
                let (parts, meeting, own) = (&parts, &meeting, &own);
                scope.spawn(move || part(thread, parts, &own(), meeting))
            })
            .collect();
        let first = part(0, &parts, setup, &meeting);
        let mut ended = None;
        let mut all = Vec::new();
        for one in std::iter::once(first).chain(others.into_iter().map(|other| other.join().ok().flatten())) {
            let (how, nodes) = one?;
            ended = Some(how);
            all.extend(nodes);
        }
        ended.map(|how| (how, all))
    })
}

/// What a thread does.
fn part(
    thread: usize,
    parts: &[Range<u32>],
    setup: &Setup,
    meeting: &Meeting<Letter>,
) -> Option<(Ended, Vec<NodeEnd>)> {
    let _present = Present(meeting);
    let Ok((world, _)) = make(setup, None, parts[thread].clone()) else {
        meeting.break_off();
        return None;
    };
    let world = world.into_part(parts[thread].start as usize, setup.max_cycles);
    let letters = || parts.iter().map(|_| Letter::default()).collect();
    let (sent, received) = (letters(), letters());
    let mut part =
        Part { thread, parts, setup, meeting, world, sent, received, tags: Vec::new(), allocations: 0, failed: false };
    let ended = part.run()?;
    Some((ended, part.world.nodes.iter().map(|node| NodeEnd::of(&mut node.borrow_mut())).collect()))
}

/// A part of the nodes. Of what all parts check together it watches the blocks whose homes it has, and of first stores
/// those to blocks whose number, modulo the parts, is its own.
struct Part<'a> {
    thread: usize,
    parts: &'a [Range<u32>],
    setup: &'a Setup<'a>,
    meeting: &'a Meeting<Letter>,
    world: World,
    /// Letters to each part, to be written, and from each part. What it would tell itself is in its own of `received`.
    sent: Vec<Letter>,
    received: Vec<Letter>,
    /// Tag changes that have not been checked yet, since others may still make earlier ones.
    tags: Vec<TagChange>,
    /// Allocations that all know.
    allocations: usize,
    failed: bool,
}

impl Part<'_> {
    fn run(&mut self) -> Option<Ended> {
        let mut happened = Happened::default();
        let mut round = 0u64;
        loop {
            round += 1;
            let look = self.thread == 0 && round.is_multiple_of(ROUNDS);
            let cancel = self.setup.cancel.filter(|_| look);
            self.write(happened, cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)));
            self.meeting.meet(self.thread, round, &mut self.sent, &mut self.received)?;
            let all = || self.received.iter().map(|letter| letter.about);
            if all().any(|about| about.failed) {
                return None;
            }
            let finished = all().map(|about| about.finished).sum::<usize>() == self.setup.nodes as usize;
            let cancelled = all().any(|about| about.cancelled);
            let mut next = self.next();
            self.read(if finished { u64::MAX } else { next.all });
            if finished {
                return if self.failed { None } else { Some(Ended::Finished) };
            }
            if cancelled {
                return Some(Ended::Cancelled);
            }
            self.open_barrier(&mut next);
            if next.all == u64::MAX {
                // Nothing can happen any more.
                return None;
            }
            if let Some(max) = self.setup.max_cycles.filter(|&max| next.all >= max) {
                return Some(Ended::MaxCycles(max));
            }
            if let Some(progress) = self.setup.progress.filter(|_| look) {
                progress(next.all);
            }
            happened = self.world.run_part(next.others);
        }
    }

    /// When something next happens at all, and when in other parts, but for the barrier.
    fn next(&self) -> Next {
        let mut next = Next { all: u64::MAX, others: u64::MAX };
        for (thread, letter) in self.received.iter().enumerate() {
            let about = &letter.about;
            next.all = next.all.min(about.next).min(about.posted);
            next.others = next.others.min(about.posted);
            if thread != self.thread {
                next.others = next.others.min(about.next);
            }
        }
        next
    }

    /// The barrier opens if all have arrived. If they are there for different things nothing can happen any more.
    fn open_barrier(&mut self, next: &mut Next) {
        let all = self.received.iter().map(|letter| letter.about.arrivals).fold(Arrivals::default(), Arrivals::and);
        if all.count < self.setup.nodes as usize {
            return;
        }
        *next = match all.binding {
            None => Next { all: u64::MAX, others: u64::MAX },
            Some(binding) => {
                let opens = self.world.release(all.last, binding);
                Next { all: next.all.min(opens), others: next.others.min(opens) }
            }
        };
    }

    fn part_of(&self, node: Node) -> usize {
        self.parts.partition_point(|part| part.end <= u32::from(node))
    }

    /// Writes to each part, this one included, what has happened.
    fn write(&mut self, happened: Happened, cancelled: bool) {
        let mut posts = std::mem::take(&mut self.world.abroad);
        let about = About {
            next: self.world.next(),
            posted: posts.iter().map(|post| post.key.time).min().unwrap_or(u64::MAX),
            finished: self.world.finished(),
            arrivals: self.world.arrivals(),
            oldest: happened.oldest,
            failed: happened.failed || self.failed,
            cancelled,
        };
        let new = self.world.allocations() > self.allocations;
        std::mem::swap(&mut self.sent[self.thread], &mut self.received[self.thread]);
        for letter in &mut self.sent {
            letter.clear();
            letter.about = about;
            if new {
                letter.allocations = self.world.allocations_from(self.allocations);
            }
        }
        for post in posts.drain(..) {
            let to = self.part_of(post.to);
            if let Some(envelope) = self.sent[to].write(post) {
                self.world.keep(envelope);
            }
        }
        self.world.abroad = posts;
        let mut changes = std::mem::take(&mut self.world.changes);
        for change in changes.drain(..) {
            let to = self.part_of(change.home);
            self.sent[to].tags.push(change);
        }
        self.world.changes = changes;
        let count = self.parts.len();
        for store in happened.stores {
            self.sent[store.block as usize % count].stores.push(store);
        }
        std::mem::swap(&mut self.sent[self.thread], &mut self.received[self.thread]);
    }

    /// Reads what parts have written, this one included; nothing happens any more before cycle `next`.
    fn read(&mut self, next: u64) {
        let oldest = self.received.iter().map(|letter| letter.about.oldest).min().unwrap_or(0);
        let (mut result, mut stores) = (Ok(()), Vec::new());
        for letter in &mut self.received {
            letter.read(&mut self.world);
            self.tags.append(&mut letter.tags);
            result = result.and_then(|()| self.world.allocate(&letter.allocations));
            stores.append(&mut letter.stores);
        }
        if !stores.is_empty() {
            result = result.and_then(|()| self.world.watch_stores(&stores, oldest));
        }
        self.allocations = self.world.allocations();
        let checked = self.check(next);
        self.failed |= result.and(checked).is_err();
    }

    /// Checks the tag changes before cycle `next`.
    fn check(&mut self, next: u64) -> Result<(), SimError> {
        self.tags.sort_by_key(|change| (change.time, change.node));
        let count = self.tags.partition_point(|change| change.time < next);
        self.world.watch_tags(self.tags[..count].iter())?;
        self.tags.drain(..count);
        Ok(())
    }
}

/// When something next happens: at all, and in other parts.
struct Next {
    all: u64,
    others: u64,
}
