//! Where nodes have contents of blocks, and where these are forgotten: `docs/semantics.md`, section 1.

use super::model::Model;
use super::world::World;
use trivium_engine::{Node, Object};
use trivium_protocol::copies::{keeping_roles, may_look_at_forgotten};
use trivium_protocol::{BLOCK, Protocol, RoleId};

/// The roles whose states say whether a node that is not a block's home has contents of it.
#[derive(Clone, Debug)]
pub(crate) struct KeptCopies {
    /// Each with whether it has them, by state. Empty if the protocol says nothing about copies.
    roles: Vec<(RoleId, Vec<bool>)>,
    /// Whether contents are forgotten anywhere, beside where dead copies are.
    forgets: bool,
    /// Whether it takes a look at each load of a handler to see whether there is something to load.
    is_looked_at: bool,
}

impl KeptCopies {
    /// `covered`: the role whose dead copies are forgotten anyway, where the node is not the home.
    pub fn of(protocol: &Protocol, covered: Option<RoleId>) -> KeptCopies {
        let states = |id: RoleId| protocol.roles[id.index()].states.iter();
        let roles = keeping_roles(protocol).into_iter();
        let roles: Vec<(RoleId, Vec<bool>)> =
            roles.map(|id| (id, states(id).map(|state| state.contents).collect())).collect();
        let is_covered = |&(id, _): &(RoleId, Vec<bool>)| {
            covered == Some(id) && states(id).all(|state| state.contents || state.copy_is_dead)
        };
        KeptCopies {
            forgets: protocol.cached || !roles.iter().all(is_covered),
            is_looked_at: may_look_at_forgotten(protocol),
            roles,
        }
    }

    /// The roles, each with whether there are contents, by state.
    pub fn into_roles(self) -> Vec<(RoleId, Vec<bool>)> {
        self.roles
    }

    /// Whether handlers may look at contents that are not there.
    #[inline]
    pub fn is_looked_at(&self) -> bool {
        self.is_looked_at
    }

    /// Whether something is forgotten that dead copies do not forget.
    #[inline]
    pub fn forgets(&self) -> bool {
        self.forgets
    }
}

impl Model {
    /// Whether a node has contents of a block.
    pub fn has_contents(&self, world: &World, node: Node, block: u32) -> bool {
        let object = Object { kind: BLOCK, id: block };
        self.is_home(node, object)
            || self.kept.roles.iter().any(|(role, contents)| {
                let record = self.record(world, node, *role, object);
                record.is_some_and(|record| contents[self.engine.state(*role, record).index()])
            })
    }

    /// The contents of blocks that a node has no more are forgotten: a handler has ended.
    pub fn forget_contents(&self, world: &mut World, node: Node) {
        for block in 0..self.objects[BLOCK.index()] {
            if !self.has_contents(world, node, block) {
                self.empty_copy(world, node, block);
            }
        }
    }

    /// The blocks of which a node has contents.
    pub fn blocks_with_contents(&self, world: &World, node: Node) -> impl Iterator<Item = u32> {
        (0..self.objects[BLOCK.index()]).filter(move |&block| self.has_contents(world, node, block))
    }

    /// What a node has forgotten between two states, in words: the contents of this block, or of others.
    pub fn forgotten(&self, before: &World, after: &World, node: Node, about: Object) -> Vec<String> {
        let had = self.blocks_with_contents(before, node);
        let gone = had.filter(|&block| !self.has_contents(after, node, block)).map(|id| Object { kind: BLOCK, id });
        gone.map(|block| match block == about {
            true => "contents forgotten".to_string(),
            false => format!("contents of {} forgotten", self.object_name(block)),
        })
        .collect()
    }
}
