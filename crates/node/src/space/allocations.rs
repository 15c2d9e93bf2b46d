//! The shared address space: who allocated what, under which protocol, and where each page's home is.

use crate::error::NodeError;
use trivium_engine::Node;
use trivium_engine::number::{self, fit, index};
use trivium_guest::{DebugInfo, Placement, SHARED_BASE, SHARED_END, SourceLocation, StackFrame};

/// A number of bytes or blocks within shared memory, or a size of it.
#[inline]
#[track_caller]
pub fn shared_u32(number: u64) -> u32 {
    fit(number, "shared memory, which has 1 GiB")
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
    /// Where in the program it was made, and what the program calls it, as the lowest node says that has said so: which
    /// node comes first depends on the order of simulation.
    site: Option<(Node, Vec<StackFrame>)>,
    name: Option<(Node, String)>,
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
        Space { page, nodes, regions: Vec::new(), pages: Vec::new(), under: Vec::new(), has_started: false }
    }

    /// The `index`-th allocation of a node: its byte offset in shared memory.
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
        if let Some(made) = self.regions.get(index) {
            if (made.bytes, made.placement, made.protocol) == (bytes, placement, protocol) {
                return Ok(made.first_page as u64 * self.page);
            }
            let number = index + 1;
            let differs = if made.protocol == protocol { "" } else { ", under another protocol" };
            return Err(NodeError::subject(format!(
                "node {node} asks in its allocation {number} for {}, but another node asked for {}{differs}",
                in_words(bytes, placement),
                in_words(made.bytes, made.placement)
            ))
            .help("allocation is collective: every node makes the same allocations in the same order"));
        }
        if let Placement::Explicit(home) = placement
            && home >= self.nodes
        {
            return Err(NodeError::subject(format!(
                "node {node} asks for memory on node {}, but there are {} nodes",
                home.cast_signed(),
                self.nodes
            ))
            .help(format!("nodes are numbered from 0 to {}", self.nodes - 1)));
        }
        let first_page = self.pages.len();
        let count = bytes.div_ceil(self.page);
        let room = u64::from(SHARED_END - SHARED_BASE) - first_page as u64 * self.page;
        if count.saturating_mul(self.page) > room {
            return Err(NodeError::subject(format!(
                "node {node} asks for {bytes} bytes, but only {room} bytes of shared memory are left"
            ))
            .help("shared memory has 1 GiB; use a smaller problem"));
        }
        for page in first_page..first_page + number::index(count) {
            let home = match placement {
                Placement::Explicit(home) => Home::At(fit(home, "the number of a node")),
                Placement::RoundRobin => Home::At(fit(page as u64 % u64::from(self.nodes), "the number of a node")),
                Placement::FirstTouch => Home::Unclaimed,
                Placement::Parts(part) => {
                    let into = (page - first_page) as u64 * self.page;
                    Home::At(fit(into / u64::from(part), "the number of a node"))
                }
            };
            self.pages.push((home, index));
        }
        if self.under.len() <= protocol {
            self.under.resize(protocol + 1, 0);
        }
        self.under[protocol] += count * self.page;
        self.regions.push(Region { placement, bytes, protocol, first_page, site: None, name: None });
        Ok(first_page as u64 * self.page)
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
        self.regions.iter().position(|region| region.first_page as u64 * self.page == offset)
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

    /// The allocations from the `known`-th on, as [`Space::allocate`] wants them.
    pub fn allocations_from(&self, known: usize) -> Vec<(usize, u64, Placement, usize)> {
        let all = self.regions.iter().enumerate().skip(known);
        all.map(|(index, region)| (index, region.bytes, region.placement, region.protocol)).collect()
    }
}

/// How much, and where, as a program asks for it.
fn in_words(bytes: u64, placement: Placement) -> String {
    let place = match placement {
        Placement::Explicit(home) => format!("on node {home}"),
        Placement::RoundRobin => "page by page over all nodes".to_string(),
        Placement::FirstTouch => "where they are first touched".to_string(),
        Placement::Parts(part) => format!("in parts of {part} bytes, one on each node"),
    };
    format!("{bytes} bytes {place}")
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
