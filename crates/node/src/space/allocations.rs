//! The shared address space: who allocated what, under which protocol, and where each page's home is.

use super::images::Images;
use crate::error::NodeError;
use trivium_diagnostic::Code;
use trivium_engine::Node;
use trivium_engine::number::{fit, index};
use trivium_guest::{DebugInfo, Placement, SHARED_BASE, SHARED_END, SourceLocation, StackFrame};
use trivium_protocol::ObjectKindId;

/// A number of bytes or blocks within shared memory, or a size of it.
#[inline]
#[track_caller]
pub fn shared_u32(number: u64) -> u32 {
    fit(number, "shared memory, which has less than 4 GiB")
}

/// The home of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// Decided.
    At(Node),
    /// There, with its contents, until somebody claims it: it was placed by first touch before the parallel start.
    Provisional(Node),
    /// Decided by whoever claims it first.
    Unclaimed,
}

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The home of the page.
    pub home: Node,
    /// The node from which the home must still get the page's contents, if it must.
    pub contents_at: Option<Node>,
}

/// One collective allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Region {
    placement: Placement,
    bytes: u64,
    protocol: usize,
    first_page: usize,
    /// Whether it has been given back.
    is_freed: bool,
    /// Where in the program it was made, and what the program calls it, as the lowest node says that has said so: which
    /// node comes first depends on the order of simulation.
    site: Option<(Node, Vec<StackFrame>)>,
    name: Option<(Node, String)>,
}

/// A call about shared memory that all nodes make, in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceCall {
    /// Memory is wanted.
    Allocate {
        /// How much.
        bytes: u64,
        /// Where its homes are.
        placement: Placement,
        /// The number of the protocol.
        protocol: usize,
    },
    /// An allocation is given back.
    Free {
        /// Its number.
        region: usize,
        /// It is not allocated again: it is under another protocol than it was allocated under.
        is_left: bool,
    },
}

/// Pages that have been given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FreeRange {
    first_page: usize,
    count: usize,
    placement: Placement,
    protocol: usize,
}

/// An allocation, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// What the program calls it, else the variable that it was assigned to, else its number.
    pub name: String,
    /// Where the program made it.
    pub site: Option<SourceLocation>,
    /// Its byte offset in shared memory.
    pub offset: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
}

/// The shared address space of all nodes. Addresses of pages depend only on the sequence of allocations, which
/// is the same on every node, so it does not matter which node makes one first.
#[derive(Clone, Debug)]
pub struct Space {
    page: u64,
    nodes: u32,
    regions: Vec<Region>,
    /// The calls that nodes have made so far, and what came of each.
    calls: Vec<(SpaceCall, u64)>,
    /// What may be allocated again, by page.
    free: Vec<FreeRange>,
    /// Of each page so far: its home, and its region.
    pages: Vec<(Home, usize)>,
    /// Bytes allocated under each protocol so far, whole pages.
    under: Vec<u64>,
    /// Whether the parallel phase has started.
    has_started: bool,
}

impl Space {
    /// An empty space, with pages of so many bytes: a power of two.
    pub fn new(page: u64, nodes: u32) -> Space {
        Space {
            page,
            nodes,
            regions: Vec::new(),
            calls: Vec::new(),
            free: Vec::new(),
            pages: Vec::new(),
            under: Vec::new(),
            has_started: false,
        }
    }

    /// Room for the lines of images, before all that programs allocate.
    pub fn reserve(&mut self, images: &Images, names: impl Fn(usize, ObjectKindId) -> String) {
        for region in images.regions() {
            let bytes = images.part() * u64::from(self.nodes);
            debug_assert!(images.part() >= self.page && self.calls.is_empty());
            let placement = Placement::Parts(shared_u32(images.part()));
            // There is room: nothing has been allocated.
            let Ok(first_page) = self.append(0, bytes, placement, region.protocol) else { return };
            let name = Some((0, names(region.protocol, region.kind)));
            let protocol = region.protocol;
            self.regions.push(Region { placement, bytes, protocol, first_page, is_freed: false, site: None, name });
        }
    }

    /// The `index`-th call of a node, which is an allocation: its byte offset in shared memory.
    ///
    /// # Errors
    /// The node's call differs from the one that another node made as its `index`-th, or memory is exhausted.
    pub fn allocate(
        &mut self,
        node: Node,
        index: usize,
        bytes: u64,
        placement: Placement,
        protocol: usize,
    ) -> Result<u64, NodeError> {
        self.perform(node, index, SpaceCall::Allocate { bytes, placement, protocol })
    }

    /// The `index`-th call of a node. Of an allocation its byte offset in shared memory; of another the one that was allocated.
    ///
    /// # Errors
    /// The node's call differs from the one that another node made as its `index`-th, or memory is exhausted.
    pub fn perform(&mut self, node: Node, index: usize, call: SpaceCall) -> Result<u64, NodeError> {
        if let Some(&(made, offset)) = self.calls.get(index) {
            if made == call {
                return Ok(offset);
            }
            let number = index + 1;
            let differs = match (made, call) {
                (SpaceCall::Allocate { protocol, .. }, SpaceCall::Allocate { protocol: own, .. })
                    if protocol != own =>
                {
                    ", under another protocol"
                }
                _ => "",
            };
            return Err(NodeError::subject(
                Code::Program,
                format!(
                    "node {node} asks in its allocation {number} {}, but another node asked {}{differs}",
                    self.in_words(call),
                    self.in_words(made)
                ),
            )
            .help("allocation is collective: every node makes the same allocations in the same order"));
        }
        let offset = match call {
            SpaceCall::Allocate { bytes, placement, protocol } => self.make(node, bytes, placement, protocol)?,
            SpaceCall::Free { region, .. } if self.regions.get(region).is_none_or(|region| region.is_freed) => {
                let what = format!("node {node} frees allocation {}, which there is not, or not any more", region + 1);
                return Err(NodeError::subject(Code::Program, what)
                    .help("each allocation is freed once, by the same call on all nodes"));
            }
            SpaceCall::Free { region, is_left } => self.give_back(region, is_left),
        };
        self.calls.push((call, offset));
        Ok(offset)
    }

    /// A new region. The first that was given back and fits it, or what comes after all.
    fn make(&mut self, node: Node, bytes: u64, placement: Placement, protocol: usize) -> Result<u64, NodeError> {
        if let Placement::Explicit(home) = placement
            && home >= self.nodes
        {
            return Err(NodeError::subject(
                Code::Program,
                format!(
                    "node {node} asks for memory on node {}, but there are {} nodes",
                    home.cast_signed(),
                    self.nodes
                ),
            )
            .help(format!("nodes are numbered from 0 to {}", self.nodes - 1)));
        }
        let (region, count) = (self.regions.len(), bytes.div_ceil(self.page));
        let fits =
            |free: &FreeRange| free.placement == placement && free.protocol == protocol && free.count as u64 >= count;
        let first_page = match self.free.iter().position(fits) {
            Some(at) => {
                let count = index(count);
                let free = &mut self.free[at];
                let first_page = free.first_page;
                (free.first_page, free.count) = (first_page + count, free.count - count);
                if free.count == 0 {
                    self.free.remove(at);
                }
                // Their homes, and all that protocols keep of them, are as they were.
                self.pages[first_page..first_page + count].iter_mut().for_each(|page| page.1 = region);
                first_page
            }
            None => self.append(node, bytes, placement, protocol)?,
        };
        self.regions.push(Region { placement, bytes, protocol, first_page, is_freed: false, site: None, name: None });
        Ok(first_page as u64 * self.page)
    }

    /// Pages behind all others, for the next region.
    fn append(&mut self, node: Node, bytes: u64, placement: Placement, protocol: usize) -> Result<usize, NodeError> {
        let (first_page, region) = (self.pages.len(), self.regions.len());
        let count = bytes.div_ceil(self.page);
        let room = u64::from(SHARED_END - SHARED_BASE) - first_page as u64 * self.page;
        if count.saturating_mul(self.page) > room {
            return Err(NodeError::subject(Code::Program, format!(
                "node {node} asks for {bytes} bytes, but only {room} bytes of shared memory are left"
            ))
            .help(format!(
                "shared memory has {} GiB; use a smaller problem, or give memory back with trivium_free: it is used again for allocations of the same placement, node and protocol",
                (SHARED_END - SHARED_BASE) >> 30
            )));
        }
        for page in first_page..first_page + index(count) {
            let home = match placement {
                Placement::Explicit(home) => Home::At(fit(home, "the number of a node")),
                Placement::RoundRobin => Home::At(fit(page as u64 % u64::from(self.nodes), "the number of a node")),
                Placement::FirstTouch => Home::Unclaimed,
                Placement::Parts(part) => {
                    let into = (page - first_page) as u64 * self.page;
                    Home::At(fit(into / u64::from(part), "the number of a node"))
                }
            };
            self.pages.push((home, region));
        }
        if self.under.len() <= protocol {
            self.under.resize(protocol + 1, 0);
        }
        self.under[protocol] += count * self.page;
        Ok(first_page)
    }

    /// A region's pages may be allocated again, unless they are left.
    fn give_back(&mut self, number: usize, is_left: bool) -> u64 {
        let region = &mut self.regions[number];
        region.is_freed = true;
        let &mut Region { placement, bytes, protocol, first_page, .. } = region;
        if !is_left {
            self.free.push(FreeRange { first_page, count: index(bytes.div_ceil(self.page)), placement, protocol });
            self.free.sort_by_key(|free| free.first_page);
            self.free.dedup_by(|next, free| {
                let joins = free.first_page + free.count == next.first_page
                    && (free.placement, free.protocol) == (next.placement, next.protocol);
                if joins {
                    free.count += next.count;
                }
                joins
            });
        }
        first_page as u64 * self.page
    }

    /// The allocation that the `index`-th call has given back, if it has, and began at an address.
    pub fn freed_by(&self, index: usize, address: u32) -> Option<usize> {
        match self.calls.get(index) {
            Some(&(SpaceCall::Free { region, .. }, offset))
                if offset + u64::from(SHARED_BASE) == u64::from(address) =>
            {
                Some(region)
            }
            _ => None,
        }
    }

    /// Whether an allocation was made under a protocol.
    pub fn is_under(&self, region: usize, protocol: usize) -> bool {
        self.regions[region].protocol == protocol
    }

    /// The allocation that begins at an address, which a node wants to give back.
    ///
    /// # Errors
    /// There is none, or it has been given back.
    pub fn to_free(&self, node: Node, address: u32) -> Result<usize, NodeError> {
        let offset = address.checked_sub(SHARED_BASE).map(u64::from);
        let begins = |region: &Region| offset == Some(region.first_page as u64 * self.page);
        let found = self.regions.iter().rposition(begins).map(|number| (number, &self.regions[number]));
        match found {
            Some((_, Region { placement: Placement::Parts(_), .. })) => {
                let what = format!("node {node} frees {address:#x}, which is private memory that is shared");
                Err(NodeError::subject(Code::Program, what).help("only memory of trivium_alloc can be freed"))
            }
            Some((number, region)) if !region.is_freed => Ok(number),
            Some(_) => {
                let what = format!("node {node} frees {address:#x} a second time");
                Err(NodeError::subject(Code::Program, what)
                    .help("each allocation is freed once, by the same call on all nodes"))
            }
            None => {
                let what = format!("node {node} frees {address:#x}, at which no allocation begins");
                Err(NodeError::subject(Code::Program, what)
                    .help("trivium_free takes the address that trivium_alloc gave"))
            }
        }
    }

    /// The number of the page of a byte offset.
    #[inline]
    pub fn page_of(&self, offset: u64) -> usize {
        index(offset >> self.page.trailing_zeros())
    }

    /// Bytes allocated so far, whole pages.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.pages.len() as u64 * self.page
    }

    /// Bytes allocated under a protocol so far, whole pages.
    pub fn bytes_under(&self, protocol: usize) -> u64 {
        self.under.get(protocol).copied().unwrap_or(0)
    }

    /// The home of the page of a byte offset, if there is such a page and it has one.
    #[inline]
    pub fn home(&self, offset: u64) -> Option<Node> {
        match self.pages.get(self.page_of(offset))?.0 {
            Home::At(node) | Home::Provisional(node) => Some(node),
            Home::Unclaimed => None,
        }
    }

    /// The protocol of the region of a byte offset.
    #[inline]
    pub fn protocol(&self, offset: u64) -> Option<usize> {
        self.region(self.page_of(offset)).map(|region| region.protocol)
    }

    /// The number of the allocation that a byte offset lies in.
    pub fn region_of(&self, offset: u64) -> Option<usize> {
        self.pages.get(self.page_of(offset)).map(|page| page.1)
    }

    /// The number of the allocation that begins at a byte offset.
    pub fn region_at(&self, offset: u64) -> Option<usize> {
        self.regions.iter().rposition(|region| region.first_page as u64 * self.page == offset && !region.is_freed)
    }

    /// The byte offsets of an allocation, whole pages.
    pub fn range(&self, region: usize) -> std::ops::Range<u64> {
        let region = &self.regions[region];
        let begin = region.first_page as u64 * self.page;
        begin..begin + region.bytes.next_multiple_of(self.page)
    }

    #[inline]
    fn region(&self, page: usize) -> Option<&Region> {
        self.pages.get(page).map(|page| &self.regions[page.1])
    }

    /// Whether a page's home is decided by its first use, so that each node must ask for it.
    #[inline]
    pub fn by_first_touch(&self, page: usize) -> bool {
        self.region(page).is_some_and(|region| region.placement == Placement::FirstTouch)
    }

    /// Who decides where a page lives that is placed by first touch (Reinhardt, Pfile and Wood 1998: the home table is
    /// distributed).
    pub fn manager(&self, page: usize) -> Node {
        fit(page as u64 % u64::from(self.nodes), "the number of a node")
    }

    /// A node claims a page; the first claim makes the home, and so does the first after the parallel start.
    pub fn claim(&mut self, page: usize, node: Node) -> Claimed {
        let before = self.pages[page].0;
        if let Home::At(home) = before {
            return Claimed { home, contents_at: None };
        }
        self.pages[page].0 = Home::At(node);
        let contents_at = if let Home::Provisional(old) = before { Some(old) } else { None };
        Claimed { home: node, contents_at: contents_at.filter(|&old| old != node) }
    }

    /// Pages that were placed by first touch, as far as that is known here.
    pub fn placed_by_first_touch(&self) -> Vec<usize> {
        let is_placed = |&page: &usize| self.pages[page].0 != Home::Unclaimed && self.by_first_touch(page);
        (0..self.pages.len()).filter(is_placed).collect()
    }

    /// The parallel phase starts: pages that were placed by first touch get another home by the first touch from now on. Nothing
    /// if that was said before, as each node says it where nodes share a space.
    pub fn start(&mut self) {
        if std::mem::replace(&mut self.has_started, true) {
            return;
        }
        for page in self.placed_by_first_touch() {
            if let Home::At(home) = self.pages[page].0 {
                self.pages[page].0 = Home::Provisional(home);
            }
        }
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u64 {
        self.page
    }

    /// Whether it is still to be said where the program made an allocation, or a higher node has said it.
    pub fn wants_site(&self, region: usize, node: Node) -> bool {
        self.regions[region].site.as_ref().is_none_or(|(by, _)| node < *by)
    }

    /// Where the program of a node made an allocation.
    pub fn set_site(&mut self, region: usize, node: Node, frames: Vec<StackFrame>) {
        self.regions[region].site = Some((node, frames));
    }

    /// What the program of a node calls an allocation: the last name that the lowest node has given.
    pub fn set_name(&mut self, region: usize, node: Node, name: &str) {
        let named = &mut self.regions[region].name;
        if named.as_ref().is_none_or(|(by, _)| node <= *by) {
            *named = Some((node, name.to_string()));
        }
    }

    /// An allocation as people know it.
    pub fn allocation(&self, region: usize, map: Option<&DebugInfo>) -> Allocation {
        let Region { bytes, first_page, site, name, .. } = &self.regions[region];
        let frames = site.as_ref().map_or(&[][..], |(_, frames)| frames);
        let given = name.as_ref().map(|(_, name)| name.clone());
        let name = given
            .or_else(|| map.and_then(|map| map.assigned(frames)))
            .unwrap_or_else(|| format!("allocation {}", region + 1));
        let site = map.and_then(|map| map.place(frames));
        Allocation { name, site, offset: *first_page as u64 * self.page, bytes: *bytes }
    }

    /// How many allocations there are.
    pub fn allocations(&self) -> usize {
        self.regions.len()
    }

    /// How many calls nodes have made.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// The calls from the `known`-th on, as [`Space::perform`] wants them.
    pub fn calls_from(&self, known: usize) -> Vec<(usize, SpaceCall)> {
        self.calls.iter().enumerate().skip(known).map(|(index, (call, _))| (index, *call)).collect()
    }

    /// What a program asks for.
    fn in_words(&self, call: SpaceCall) -> String {
        let (bytes, placement) = match call {
            SpaceCall::Allocate { bytes, placement, .. } => (bytes, placement),
            SpaceCall::Free { region, .. } => {
                let offset = self.regions.get(region).map_or(0, |region| region.first_page as u64 * self.page);
                return format!("to free {:#x}", u64::from(SHARED_BASE) + offset);
            }
        };
        let place = match placement {
            Placement::Explicit(home) => format!("on node {home}"),
            Placement::RoundRobin => "page by page over all nodes".to_string(),
            Placement::FirstTouch => "where they are first touched".to_string(),
            Placement::Parts(part) => format!("in parts of {part} bytes, one on each node"),
        };
        format!("for {bytes} bytes {place}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocation_is_collective_and_placed() {
        let mut space = Space::new(4096, 3);
        assert_eq!(space.allocate(1, 0, 5000, Placement::RoundRobin, 0).unwrap(), 0);
        assert_eq!(space.allocate(0, 0, 5000, Placement::RoundRobin, 0).unwrap(), 0);
        assert_eq!(space.allocate(0, 1, 1, Placement::Explicit(2), 1).unwrap(), 8192);
        assert_eq!(space.allocate(0, 2, 1, Placement::FirstTouch, 0).unwrap(), 12288);
        assert_eq!((space.home(0), space.home(4096), space.home(8192)), (Some(0), Some(1), Some(2)));
        assert_eq!((space.protocol(8200), space.protocol(1 << 20)), (Some(1), None));
        assert_eq!(space.home(12288), None);
        assert_eq!(space.claim(3, 1), Claimed { home: 1, contents_at: None });
        assert_eq!(space.claim(3, 2).home, 1);
        assert_eq!(space.home(12288), Some(1));
        assert!(space.allocate(1, 1, 2, Placement::Explicit(2), 1).is_err(), "not what node 0 asked for");
        assert!(space.allocate(0, 3, 1, Placement::Explicit(3), 0).is_err(), "no such node");
        assert!(space.allocate(0, 3, 1 << 31, Placement::RoundRobin, 0).is_err(), "more than there is");
    }

    /// What is given back is allocated again where it fits: the same placement and protocol, and not more pages.
    #[test]
    fn what_is_freed_is_allocated_again() {
        let mut space = Space::new(4096, 2);
        let mut number = 0;
        let mut allocate = |space: &mut Space, bytes, placement, protocol| {
            number += 1;
            space.allocate(0, number - 1, bytes, placement, protocol).unwrap()
        };
        let on = Placement::Explicit;
        let first: Vec<u64> = (0..3).map(|_| allocate(&mut space, 8192, on(0), 0)).collect();
        assert_eq!(first, [0, 8192, 16384]);
        for region in [1, 0] {
            let free = SpaceCall::Free { region, is_left: false };
            space.perform(1, space.calls(), free).unwrap();
        }
        assert!(space.to_free(0, SHARED_BASE + 8192).unwrap_err().diagnostic.message.contains("a second time"));
        assert!(space.to_free(0, SHARED_BASE + 4096).unwrap_err().diagnostic.message.contains("no allocation begins"));
        assert_eq!(space.region_at(8192), None);
        let next = |space: &mut Space, bytes, placement, protocol| {
            let index = space.calls();
            space.allocate(0, index, bytes, placement, protocol).unwrap()
        };
        assert_eq!(next(&mut space, 4096, on(1), 0), 24576, "another home");
        assert_eq!(next(&mut space, 4096, on(0), 1), 28672, "another protocol");
        assert_eq!(next(&mut space, 12288, on(0), 0), 0, "both, as one");
        assert_eq!(next(&mut space, 4096, on(0), 0), 12288, "what is left of them");
        assert_eq!(next(&mut space, 4096, on(0), 0), 32768);
        assert_eq!((space.region_of(8192), space.region_of(12288)), (Some(5), Some(6)));
        assert!(
            space.perform(1, 3, SpaceCall::Free { region: 0, is_left: false }).is_err(),
            "node 0 has freed another"
        );
    }

    #[test]
    fn a_page_moves_once() {
        let mut space = Space::new(4096, 3);
        space.allocate(0, 0, 4096, Placement::Explicit(1), 0).unwrap();
        space.allocate(0, 1, 4 * 4096, Placement::FirstTouch, 0).unwrap();
        for page in 1..4 {
            space.claim(page, 0);
        }
        assert_eq!(
            space.placed_by_first_touch(),
            [1, 2, 3],
            "neither what is placed otherwise nor what nobody has touched"
        );
        space.start();
        assert_eq!(
            (0..5).map(|page| space.home(4096 * page)).collect::<Vec<_>>(),
            [Some(1), Some(0), Some(0), Some(0), None]
        );
        assert_eq!(space.claim(1, 2), Claimed { home: 2, contents_at: Some(0) });
        assert_eq!(space.claim(2, 0), Claimed { home: 0, contents_at: None });
        assert_eq!(space.claim(4, 1), Claimed { home: 1, contents_at: None });
        space.start();
        for (page, home) in [(1, 2), (2, 0), (4, 1)] {
            assert_eq!(space.claim(page, 1), Claimed { home, contents_at: None }, "page {page}");
        }
    }
}
