//! A simulation on several host threads: each has a part of the nodes, and goes on as far as the others allow.
//!
//! A part is made, run and read on its own thread. What a node does to a node of another part is left there as a letter:
//! it is felt a lookahead later at the earliest, and no part goes further than that beyond what others still do. So a
//! result is the same for any number of threads, and whichever of them is ahead. A part that is ahead goes on in shorter
//! steps, one that is behind in full ones: so what one of them has to do more now and another later evens out.
//!
//! An error is another matter: which one is told, and in which words, depends on everything that the nodes did before
//! it. So when anything goes wrong the simulation is given up, and the caller repeats it on one thread.

use crate::node::asked::AskedNote;
use crate::node::watch::TagChange;
use crate::order::budget::Meter;
use crate::order::exchange::{Desk, Exchange, Present, Stop};
use crate::order::letter::Letter;
use crate::order::{Arrivals, Ended, ROUNDS, World};
use crate::runs::result::NodeEnd;
use crate::runs::setup::{Setup, make};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::Ordering;
use trivium_engine::Node;
use trivium_node::NodeError;

/// The nodes of each part.
fn parts(nodes: u32, jobs: u32) -> Vec<Range<u32>> {
    (0..jobs).map(|part| nodes * part / jobs..nodes * (part + 1) / jobs).collect()
}

/// Simulates on `jobs` threads, of which the caller's is one; `jobs` is at most the number of nodes. None if
/// anything went wrong.
pub(crate) fn run(setup: &Setup, jobs: u32) -> Option<(Ended, Vec<NodeEnd>)> {
    let parts = parts(setup.nodes, jobs);
    let exchange = Exchange::new(parts.len());
    // A setup cannot leave its thread: whom to tell the progress belongs to it.
    let &Setup {
        program,
        ref protocols,
        ref machine,
        nodes,
        block,
        ref args,
        seed,
        max_cycles,
        stall_limit,
        window,
        memory,
        ..
    } = setup;
    let own = || Setup {
        program,
        protocols: protocols.clone(),
        machine: machine.clone(),
        nodes,
        block,
        args: args.clone(),
        seed,
        max_cycles,
        stall_limit,
        window,
        jobs: 1,
        blame: false,
        memory,
        cancel: None,
        progress: None,
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..parts.len())
            .map(|thread| {
                let (parts, exchange, own) = (&parts, &exchange, &own);
                scope.spawn(move || part(thread, parts, &own(), exchange))
            })
            .collect();
        let first = part(0, &parts, setup, &exchange);
        let mut ended = None;
        let mut all = Vec::new();
        for one in std::iter::once(first).chain(others.into_iter().map(|other| other.join().ok().flatten())) {
            let (how, nodes) = one?;
            // Who is asked to end late may have ended already.
            if !matches!(ended, Some(Ended::Cancelled | Ended::Memory(_))) {
                ended = Some(how);
            }
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
    exchange: &Exchange<Letter>,
) -> Option<(Ended, Vec<NodeEnd>)> {
    let _present = Present(exchange);
    let Ok((world, _)) = make(setup, None, None, parts[thread].clone()) else {
        exchange.stop(Stop::BrokenOff);
        return None;
    };
    let letters = || parts.iter().map(|_| Letter::default()).collect();
    let mut part = LogicalProcess {
        thread,
        parts,
        setup,
        exchange,
        meter: Meter::new(setup.memory),
        desk: Desk::new(exchange, thread),
        world: world.into_part(parts[thread].start as usize, &setup.limits()),
        sent: letters(),
        received: letters(),
        tags: Vec::new(),
        asked: Vec::new(),
        allocations: 0,
        arrivals: parts.iter().map(|_| VecDeque::new()).collect(),
        has_arrived: false,
        oldest: vec![0; parts.len()],
        ended: vec![None; parts.len()],
        effects: vec![0; parts.len()],
    };
    let ended = part.run();
    if ended.is_none() {
        exchange.stop(Stop::BrokenOff);
    }
    let ended = ended?;
    let nodes = NodeEnd::of_all(&mut part.world, &ended);
    Some((ended, nodes))
}

/// A part of the nodes. Of what all parts check together it watches the blocks whose homes it has, and of first stores
/// those to blocks whose number, modulo the parts, is its own.
struct LogicalProcess<'a> {
    thread: usize,
    parts: &'a [Range<u32>],
    setup: &'a Setup<'a>,
    exchange: &'a Exchange<Letter>,
    meter: Meter<'a>,
    desk: Desk<'a, Letter>,
    world: World,
    /// Letters to each part, to be written, and from each part. What it would tell itself is in its own of `sent`.
    sent: Vec<Letter>,
    received: Vec<Letter>,
    /// Tag changes that have not been checked yet, since others may still make earlier ones.
    tags: Vec<TagChange>,
    /// What handlers did about accesses of this part's threads, as far as it has not been checked either.
    asked: Vec<AskedNote>,
    /// Allocations that this part has told all others, of whomever it heard of them: it may be about to send them what is about that memory.
    allocations: usize,
    /// Of each part, the times that all its nodes arrived at the barrier, which has not opened since.
    arrivals: Vec<VecDeque<Arrivals>>,
    /// Whether its own nodes are there.
    has_arrived: bool,
    /// Of each part, the phase that all its nodes have reached.
    oldest: Vec<u64>,
    /// Of each part, when the last of its programs ended.
    ended: Vec<Option<u64>>,
    /// When the letter to each part that is being written makes it do something.
    effects: Vec<u64>,
}

impl LogicalProcess<'_> {
    /// None if anything went wrong, here or elsewhere.
    fn run(&mut self) -> Option<Ended> {
        let window = self.world.window();
        let mut turn = 0u64;
        let least = window / 4;
        loop {
            turn += 1;
            match self.exchange.stopped() {
                Some(Stop::BrokenOff) => return None,
                Some(Stop::Cancelled) => return Some(Ended::Cancelled),
                Some(Stop::Memory) => return self.setup.memory.map(|budget| Ended::Memory(budget.limit)),
                None => {}
            }
            let mut next = self.world.next();
            if self.desk.others() <= next {
                self.desk.hear(&mut self.received);
                self.read().ok()?;
                self.open_barrier()?;
                next = self.world.next();
                self.check(next.min(self.desk.others())).ok()?;
            }
            // Others may have ended long before what they would do next, and then tell nothing more.
            let all = next.min(self.desk.others());
            if let Some(ended) = self.is_over(all) {
                self.check(all).ok()?;
                if matches!(ended, Some(Ended::Finished)) {
                    self.world.all_completed().ok()?;
                    if all == u64::MAX {
                        self.world.nothing_stalls().ok()?;
                    }
                }
                self.desk.tell(next);
                return ended;
            }
            if self.thread == 0 && turn.is_multiple_of(ROUNDS) {
                self.look_up(all);
            }
            if self.world.looks_at_memory() && self.meter.exceeded_now().is_some() {
                self.exchange.stop(Stop::Memory);
            }
            let went_on = self.world.run_part(self.desk.others(), least);
            if self.world.has_failed() {
                return None;
            }
            self.write().ok()?;
            self.open_barrier()?;
            let next = self.world.next();
            // If only this part waits, the repetition goes on where this one ends.
            if self.world.has_stalled(next) {
                return None;
            }
            self.desk.tell(next);
            if !went_on {
                self.desk.wait();
            }
        }
    }

    /// Whether all is over, or nothing can go on; nothing happens any more before cycle `all`.
    fn is_over(&mut self, all: u64) -> Option<Option<Ended>> {
        if let Some(last) = self.ended.iter().copied().try_fold(0, |last, ended| Some(ended?.max(last))) {
            return (all >= self.world.end_after(last)).then_some(Some(Ended::Finished));
        }
        match self.setup.max_cycles {
            Some(max) if all >= max && all < u64::MAX => Some(Some(Ended::MaxCycles(max))),
            _ => (all == u64::MAX).then_some(None),
        }
    }

    /// Tells the caller how far it has come, and asks whether to end.
    fn look_up(&mut self, now: u64) {
        if self.meter.exceeded().is_some() {
            self.exchange.stop(Stop::Memory);
        }
        if self.setup.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            self.exchange.stop(Stop::Cancelled);
        }
        if let Some(progress) = self.setup.progress.filter(|_| now < u64::MAX) {
            progress(now);
        }
    }

    /// The barrier opens if all have arrived. None if they are there for different things: then nothing can happen any
    /// more.
    fn open_barrier(&mut self) -> Option<()> {
        if self.arrivals.iter().any(VecDeque::is_empty) {
            return Some(());
        }
        let all = self.arrivals.iter_mut().filter_map(VecDeque::pop_front).fold(Arrivals::default(), Arrivals::and);
        self.world.release(all.last, all.purpose?);
        self.has_arrived = false;
        Some(())
    }

    fn part_of(&self, node: Node) -> usize {
        self.parts.partition_point(|part| part.end <= u32::from(node))
    }

    /// Writes to each part, this one included, what has happened, and leaves the letters.
    fn write(&mut self) -> Result<(), NodeError> {
        let mut effects = std::mem::take(&mut self.effects);
        effects.fill(u64::MAX);
        let mut posts = std::mem::take(&mut self.world.abroad);
        for post in posts.drain(..) {
            let to = self.part_of(post.to);
            effects[to] = effects[to].min(post.key.time);
            self.sent[to].homes.extend(self.world.first_touched(&post));
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
        let mut notes = std::mem::take(&mut self.world.asked_notes);
        for note in notes.drain(..) {
            let to = self.part_of(note.asker().0);
            self.sent[to].asked.push(note);
        }
        self.world.asked_notes = notes;
        self.write_to_all(&mut effects);
        for to in (0..self.parts.len()).filter(|&to| to != self.thread) {
            if !self.sent[to].is_empty() {
                self.desk.send(to, &mut self.sent[to], effects[to]);
            }
        }
        self.effects = effects;
        std::mem::swap(&mut self.sent[self.thread], &mut self.received[self.thread]);
        self.read_from(self.thread)
    }

    /// What concerns all parts.
    fn write_to_all(&mut self, effects: &mut [u64]) {
        let (stores, oldest) = self.world.first_stores();
        for store in stores {
            let to = store.block as usize % self.parts.len();
            self.sent[to].stores.push(store);
        }
        let arrivals = self.world.arrivals().filter(|_| !self.has_arrived);
        self.has_arrived |= arrivals.is_some();
        let ended = self.world.ended().filter(|_| self.ended[self.thread].is_none());
        let allocations = self.world.allocations() > self.allocations;
        for (to, letter) in self.sent.iter_mut().enumerate() {
            letter.oldest = oldest;
            letter.ended = ended;
            if let Some(arrivals) = arrivals {
                letter.arrivals.push(arrivals);
                effects[to] = effects[to].min(arrivals.last + self.world.lookahead());
            }
            if allocations {
                letter.allocations = self.world.allocations_from(self.allocations);
            }
        }
        self.allocations = self.world.allocations();
    }

    /// Reads what other parts have written.
    fn read(&mut self) -> Result<(), NodeError> {
        let me = self.thread;
        (0..self.parts.len()).filter(|&from| from != me).try_for_each(|from| self.read_from(from))
    }

    fn read_from(&mut self, from: usize) -> Result<(), NodeError> {
        let letter = &mut self.received[from];
        if letter.is_empty() {
            return Ok(());
        }
        letter.read(&mut self.world);
        self.oldest[from] = letter.oldest;
        self.ended[from] = self.ended[from].or(letter.ended);
        self.arrivals[from].extend(letter.arrivals.drain(..));
        self.tags.append(&mut letter.tags);
        self.asked.append(&mut letter.asked);
        self.world.allocate(&letter.allocations)?;
        self.world.learn_homes(&letter.homes);
        if !letter.stores.is_empty() {
            let oldest = self.oldest.iter().copied().min().unwrap_or(0);
            self.world.watch_stores(&letter.stores, oldest).map_err(|caught| caught.1)?;
        }
        letter.clear();
        Ok(())
    }

    /// Checks the tag changes before cycle `next`, and accesses of threads.
    fn check(&mut self, next: u64) -> Result<(), NodeError> {
        self.tags.sort_by_key(|change| (change.time, change.node));
        let count = self.tags.partition_point(|change| change.time < next);
        self.world.watch_tags(self.tags[..count].iter()).map_err(|caught| caught.1)?;
        self.tags.drain(..count);
        if !self.asked.is_empty() {
            self.asked.sort_by_key(|note| (note.time, note.node));
            let count = self.asked.partition_point(|note| note.time < next);
            self.world.watch_asked(&self.asked[..count]).map_err(|caught| caught.1)?;
            self.asked.drain(..count);
        }
        Ok(())
    }
}
