//! What handlers use, one by one: for whoever counts it, or lets it take time.

use trivium_engine::Object;
use trivium_protocol::Access;

/// Where the data of a message that leaves come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFrom {
    /// A block of this node.
    Block(Object),
    /// The message being handled, passed on.
    Received,
    /// Other memory of this node.
    Memory,
    /// Single words of this node's memory.
    Words,
}

/// A primitive effect, in the order of the handler's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// First look at a record; true for a home's.
    Record(bool),
    /// The home makes its record of the block. It comes before all else, since a handler tells it at its end.
    First,
    /// So many plain steps.
    Steps(u16),
    /// A visited element.
    Element,
    /// A message leaves: words of arguments, and of data if it has any. Messages leave in this order.
    Send {
        /// Words of arguments.
        words: u64,
        /// Where the data come from, and how many bytes.
        data: Option<(DataFrom, u64)>,
    },
    /// A block's data come in.
    InstallBlock(Object),
    /// Other data come in, so many bytes.
    InstallMemory(u64),
    /// Single words come in, so many.
    InstallWords(u64),
    /// A tag changes.
    Tag(Object, Access, Access),
    /// Bytes are copied.
    Copy(u64),
    /// A word is loaded.
    Load,
    /// A word is stored.
    Store,
    /// The cache is asked.
    Probe,
    /// A processor's request is answered with contents.
    FillLine,
    /// A processor's request is answered without contents.
    UpgradeLine,
    /// The contents of a line of the processor's cache are taken.
    TakeLine,
    /// A line of the processor's cache is removed.
    InvalidateLine,
    /// A lane is asked for room.
    Room,
    /// A task is started.
    Start,
    /// Waiting threads go on, or a call is answered.
    Resume,
}

impl Primitive {
    /// The block whose tag it changes, or whose contents it moves.
    pub fn accessed(&self) -> Option<Object> {
        match *self {
            Primitive::Tag(block, ..) | Primitive::InstallBlock(block) => Some(block),
            Primitive::Send { data: Some((DataFrom::Block(block), _)), .. } => Some(block),
            _ => None,
        }
    }
}
