//! The tags of a node's blocks, and what it knows of where pages live.

use trivium_engine::Object;
use trivium_protocol::Access;

/// Tags by block: 0 not known yet, else 1 + access.
#[derive(Clone, Debug, Default)]
pub struct BlockTags(Vec<u8>);

impl BlockTags {
    /// The tag of a block, if anybody has looked at it or changed it.
    #[inline]
    pub fn known(&self, block: u32) -> Option<Access> {
        match self.0.get(block as usize) {
            Some(1) => Some(Access::None),
            Some(2) => Some(Access::Read),
            Some(3) => Some(Access::Write),
            _ => None,
        }
    }

    /// A block has this tag from now on.
    #[inline]
    pub fn put(&mut self, block: Object, to: Access) {
        let at = block.id as usize;
        if at >= self.0.len() {
            self.0.resize(at + 64, 0);
        }
        self.0[at] = 1 + to as u8;
    }

    /// The tag of a block is no longer known; what it was.
    pub fn forget(&mut self, block: Object) -> Option<Access> {
        let known = self.known(block.id);
        if let Some(tag) = self.0.get_mut(block.id as usize) {
            *tag = 0;
        }
        known
    }
}

/// What a node knows of where a page lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapped {
    /// Nothing.
    #[default]
    No,
    /// It has asked.
    Asked,
    /// Its home.
    Yes,
}

/// What a node knows of where pages live, by page.
#[derive(Clone, Debug, Default)]
pub struct Pages(Vec<Mapped>);

impl Pages {
    /// What it knows of a page.
    #[inline]
    pub fn of(&self, page: usize) -> Mapped {
        self.0.get(page).copied().unwrap_or_default()
    }

    /// Whether the home of a page is known.
    #[inline]
    pub fn is_known(&self, page: usize) -> bool {
        self.of(page) == Mapped::Yes
    }

    /// That of a page has changed.
    pub fn put(&mut self, page: usize, mapped: Mapped) {
        if page >= self.0.len() {
            self.0.resize(page + 16, Mapped::No);
        }
        self.0[page] = mapped;
    }
}
