//! Objects beside blocks whose homes programs choose (`docs/semantics.md`, section 1).

use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use trivium_engine::{Node, Object};
use trivium_protocol::NODE;

/// The homes of such objects of a protocol, as a node knows them.
#[derive(Default)]
pub(crate) struct Placed {
    homes: FxHashMap<(usize, Object), Node>,
    /// Objects for whose home a handler has asked.
    asked: RefCell<FxHashSet<(usize, Object)>>,
}

impl Placed {
    /// The home that a program has given an object.
    #[inline]
    pub fn home(&self, protocol: usize, object: Object) -> Option<Node> {
        if self.homes.is_empty() { None } else { self.homes.get(&(protocol, object)).copied() }
    }

    /// A handler asks for the home of an object, which stays where it is from now on.
    pub fn asked(&self, protocol: usize, object: Object) {
        if object.kind != NODE {
            self.asked.borrow_mut().insert((protocol, object));
        }
    }

    /// Whether a handler has asked for the home of an object.
    pub fn has_asked(&self, protocol: usize, object: Object) -> bool {
        self.asked.borrow().contains(&(protocol, object))
    }

    /// From now on an object is at home there.
    pub fn place(&mut self, protocol: usize, object: Object, home: Node) {
        self.homes.insert((protocol, object), home);
    }
}
