//! A simulation on several host threads: each has a part of the nodes, and they meet at the end of each window.
//!
//! A part is made, run and read on its own thread. What a node does to a node of another part is handed over at the
//! next meeting: it is felt a lookahead later at the earliest, and no part goes further than that beyond the others.
//! So a result is the same for any number of threads.
//!
//! An error is another matter: which one is told, and in which words, depends on everything that the nodes did before
//! it. So when anything goes wrong the simulation is given up, and the caller repeats it on one thread.

use crate::error::SimError;
use crate::event::Post;
use crate::meeting::{Meeting, Present};
use crate::result::NodeEnd;
use crate::setup::{Setup, make};
use crate::watch::{FirstStore, TagChange, Watch, Writers};
use crate::world::{Arrivals, Ended, Happened, ROUNDS, World};
use std::ops::Range;
use std::sync::atomic::Ordering;
use trivium_engine::Node;
use trivium_guest::Placement;
use trivium_lang::protocol::Access;

/// What a part tells another at the end of a window.
struct Letter {
    /// For nodes of the other part.
    posts: Vec<Post>,
    /// Tag changes of the blocks that the other part watches, each with the block's first holder.
    tags: Vec<(TagChange, (Node, Access))>,
    /// First stores to the blocks that the other part watches.
    stores: Vec<FirstStore>,
    /// Allocations that other parts may not know yet.
    allocations: Vec<(usize, u64, Placement, usize)>,
    about: About,
}

/// What a part tells all others.
#[derive(Clone, Copy)]
struct About {
    /// When something next happens in it; `u64::MAX` if nothing does.
    next: u64,
    /// The earliest of what it posts to others.
    posted: u64,
    finished: usize,
    arrivals: Arrivals,
    /// The phase that all its nodes have reached.
    oldest: u64,
    failed: bool,
    cancelled: bool,
}

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
    let mut part = Part {
        thread,
        parts,
        setup,
        meeting,
        world,
        watch: Watch::default(),
        writers: Writers::default(),
        allocations: 0,
        failed: false,
    };
    let ended = part.run()?;
    Some((ended, part.world.nodes.iter().map(|node| NodeEnd::of(&mut node.borrow_mut())).collect()))
}

struct Part<'a> {
    thread: usize,
    parts: &'a [Range<u32>],
    setup: &'a Setup<'a>,
    meeting: &'a Meeting<Letter>,
    world: World,
    /// For the blocks that this part watches: those whose number, modulo the parts, is the part's.
    watch: Watch,
    writers: Writers,
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
            let letters = self.letters(happened, cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)));
            let letters = self.meeting.meet(self.thread, letters.into_iter())?;
            let all: Vec<About> = letters.iter().map(|letter| letter.about).collect();
            if all.iter().any(|about| about.failed) {
                return None;
            }
            self.read(letters);
            if all.iter().map(|about| about.finished).sum::<usize>() == self.setup.nodes as usize {
                return Some(Ended::Finished);
            }
            if all.iter().any(|about| about.cancelled) {
                return Some(Ended::Cancelled);
            }
            let others = match self.next(&all) {
                // Nothing can happen any more.
                Next { all: u64::MAX, .. } => return None,
                next if self.setup.max_cycles.is_some_and(|max| next.all >= max) => {
                    return self.setup.max_cycles.map(Ended::MaxCycles);
                }
                next => {
                    if let Some(progress) = self.setup.progress.filter(|_| look) {
                        progress(next.all);
                    }
                    next.others
                }
            };
            happened = self.world.run_part(others);
        }
    }

    /// When something next happens at all, and when in other parts; the barrier opens if all have arrived. If they are
    /// there for different things nothing can happen any more.
    fn next(&mut self, all: &[About]) -> Next {
        let mut next = Next { all: u64::MAX, others: u64::MAX };
        for (thread, about) in all.iter().enumerate() {
            next.all = next.all.min(about.next).min(about.posted);
            next.others = next.others.min(about.posted);
            if thread != self.thread {
                next.others = next.others.min(about.next);
            }
        }
        let arrivals = all.iter().map(|about| about.arrivals).fold(Arrivals::default(), Arrivals::and);
        if arrivals.count == self.setup.nodes as usize {
            let Some(binding) = arrivals.binding else { return Next { all: u64::MAX, others: u64::MAX } };
            let opens = self.world.release(arrivals.last, binding);
            if let Some(binding) = binding {
                self.watch.forget(opens, self.world.blocks_of(binding));
            }
            next = Next { all: next.all.min(opens), others: next.others.min(opens) };
        }
        next
    }

    /// For each part, this one included.
    fn letters(&mut self, happened: Happened, cancelled: bool) -> Vec<Letter> {
        let posts = std::mem::take(&mut self.world.abroad);
        let about = About {
            next: self.world.next(),
            posted: posts.iter().map(|post| post.key.time).min().unwrap_or(u64::MAX),
            finished: self.world.finished(),
            arrivals: self.world.arrivals(),
            oldest: happened.oldest,
            failed: happened.failed || self.failed,
            cancelled,
        };
        let allocations = self.world.allocations_from(self.allocations);
        let empty = || Letter {
            posts: Vec::new(),
            tags: Vec::new(),
            stores: Vec::new(),
            allocations: allocations.clone(),
            about,
        };
        let mut letters: Vec<Letter> = self.parts.iter().map(|_| empty()).collect();
        let count = letters.len();
        for post in posts {
            let to = self.parts.partition_point(|part| part.end <= u32::from(post.to));
            letters[to].posts.push(post);
        }
        for tag in happened.tags {
            letters[tag.0.block as usize % count].tags.push(tag);
        }
        for store in happened.stores {
            letters[store.block as usize % count].stores.push(store);
        }
        letters
    }

    fn read(&mut self, letters: Vec<Letter>) {
        let oldest = letters.iter().map(|letter| letter.about.oldest).min().unwrap_or(0);
        let (mut tags, mut stores) = (Vec::new(), Vec::new());
        let mut result = Ok(());
        for letter in letters {
            letter.posts.into_iter().for_each(|post| self.world.accept(post));
            tags.extend(letter.tags);
            stores.extend(letter.stores);
            result = result.and_then(|()| self.world.allocate(&letter.allocations));
        }
        self.allocations = self.world.allocations_from(0).len();
        tags.sort_by_key(|(change, _)| (change.time, change.node));
        let checked = self.check(&tags, &stores, oldest);
        self.failed |= result.and(checked).is_err();
    }

    fn check(
        &mut self,
        tags: &[(TagChange, (Node, Access))],
        stores: &[FirstStore],
        oldest: u64,
    ) -> Result<(), SimError> {
        for (change, first) in tags {
            self.watch.apply(change, || *first)?;
        }
        if stores.is_empty() { Ok(()) } else { self.writers.apply(stores, oldest) }
    }
}

/// When something next happens: at all, and in other parts.
struct Next {
    all: u64,
    others: u64,
}
