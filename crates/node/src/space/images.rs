//! Where the lines of images lie (`docs/semantics.md`, section 8): each node's own in shared memory, as blocks whose home is the node itself. They
//! come before all that a program allocates, and are the same on every node.

use std::rc::Rc;
use trivium_engine::number::fit;
use trivium_engine::{Engine, Node, Object};
use trivium_protocol::{BLOCK, ObjectKindId};

/// Bytes of shared memory for the images that a node has of one kind of object, unless a page has more.
const PART: u64 = 1 << 16;

/// The images of one kind of object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRegion {
    /// Whose they are.
    pub protocol: usize,
    /// The kind.
    pub kind: ObjectKindId,
    /// The byte offset of node 0's.
    begin: u64,
}

/// The images of all protocols of a run.
#[derive(Clone, Debug, Default)]
pub struct Images {
    regions: Vec<ImageRegion>,
    /// Bytes of what one node has of each kind.
    part: u64,
    block: u64,
    nodes: u32,
}

impl Images {
    /// Those of protocols on so many nodes, with blocks and pages of so many bytes.
    pub fn of(engines: &[Rc<Engine>], block: u64, nodes: u32) -> Images {
        let kinds = engines
            .iter()
            .enumerate()
            .flat_map(|(protocol, engine)| engine.protocol().images.iter().map(move |image| (protocol, image.object)));
        let part = PART.max(block);
        let size = part * u64::from(nodes);
        let regions = (0..).zip(kinds).map(|(at, (protocol, kind))| ImageRegion { protocol, kind, begin: at * size });
        Images { regions: regions.collect(), part, block, nodes }
    }

    /// Their regions.
    pub fn regions(&self) -> &[ImageRegion] {
        &self.regions
    }

    /// Bytes of what one node has of each kind.
    pub fn part(&self) -> u64 {
        self.part
    }

    /// Bytes of all of them, of all nodes.
    pub fn bytes(&self) -> u64 {
        self.regions.len() as u64 * self.part * u64::from(self.nodes)
    }

    /// How many objects of a kind have room for their images on a node.
    pub fn most(&self) -> u64 {
        self.part / self.block
    }

    /// The byte offset of a node's image of an object.
    pub fn offset(&self, protocol: usize, object: Object, node: Node) -> Option<u64> {
        let region = self.regions.iter().find(|region| (region.protocol, region.kind) == (protocol, object.kind))?;
        let id = u64::from(object.id);
        (id < self.most()).then(|| region.begin + u64::from(node) * self.part + id * self.block)
    }

    /// The block that a node's image of an object is; a block is itself.
    #[inline]
    pub fn block(&self, protocol: usize, object: Object, node: Node) -> Object {
        if object.kind == BLOCK || self.regions.is_empty() {
            return object;
        }
        let offset = self.offset(protocol, object, node);
        offset.map_or(object, |offset| Object { kind: BLOCK, id: fit(offset / self.block, "the number of a block") })
    }

    /// The object whose image a block is.
    #[inline]
    pub fn object(&self, block: Object) -> Option<Object> {
        let offset = u64::from(block.id) * self.block;
        let size = self.part * u64::from(self.nodes);
        let region = self.regions.iter().find(|region| (region.begin..region.begin + size).contains(&offset))?;
        let id = (offset - region.begin) % self.part / self.block;
        Some(Object { kind: region.kind, id: fit(id, "the number of an object") })
    }
}
