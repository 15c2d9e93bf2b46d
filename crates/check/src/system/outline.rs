//! What is explored, for those that write it in another language.

use crate::config::System;
use crate::system::client::Client;
use crate::system::layout::WORD;
use crate::system::mark;
use crate::system::model::{LaneModel, Model};
use std::sync::Arc;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::fit;
use trivium_engine::{Engine, Node, Object, SharedPlaces};
use trivium_protocol::{Protocol, RoleId};

/// What [`explore`](crate::explore) knows of a system before the first state.
pub struct Outline {
    /// The protocol's engine.
    pub engine: Engine,
    /// How many nodes.
    pub nodes: u32,
    /// How many objects of each kind there are.
    pub objects: Vec<u32>,
    /// The first object that is not at home at the node of its number, modulo the number of nodes, and where it is.
    pub placed: Option<(Object, Node)>,
    /// The threads, and what each may do.
    pub client: Client,
    /// The lanes of the network.
    pub lanes: Vec<LaneModel>,
    /// The queues that lanes share and that may be full although none of these is.
    pub shared: Vec<SharedPlaces>,
    /// The role whose state says whether a node's copy of a block is forgotten, where the node is not, or is, its home.
    pub forgetting: [Option<RoleId>; 2],
    /// The roles whose states say whether a node that is not a block's home has contents of it: by state, whether it has.
    pub kept: Vec<(RoleId, Vec<bool>)>,
    /// Whether contents are forgotten where no state says that there are any, beside where [`Outline::forgetting`] forgets copies.
    pub forgets_contents: bool,
    /// The words of each node's memory, where all of it is kept, and not one word of each block.
    pub words: Option<u32>,
    /// Where one store is followed, and not the values of all: the greatest value of a word that stores leave.
    pub marked: Option<u64>,
    /// What stands for the contents of a copy that has none.
    pub garbage: u64,
}

impl Outline {
    /// The system in which a protocol is explored.
    ///
    /// # Errors
    /// Such a system cannot be made of the protocol.
    pub fn new(protocol: &Arc<Protocol>, system: &System) -> Result<Outline, Diagnostic> {
        let model = Model::new(protocol, system)?;
        let words = |bytes: std::ops::Range<usize>| -> u32 {
            fit(bytes.len() / fit::<_, usize>(WORD, "the bytes of a word"), "the number of a word: a state is small")
        };
        let is_elsewhere = |object: &Object| u32::from(model.home(*object)) != object.id % model.nodes;
        let placed = model.all_objects().find(is_elsewhere).map(|object| (object, model.home(object)));
        Ok(Outline {
            placed,
            words: model.layout.memory(0).map(words),
            marked: model.layout.mark.is_some().then(|| mark::most_left(&model, 0)),
            garbage: model.layout.garbage,
            engine: model.engine,
            nodes: model.nodes,
            objects: model.objects,
            client: model.client,
            lanes: model.lanes,
            shared: model.shared,
            forgetting: model.forgetting,
            forgets_contents: model.kept.forgets(),
            kept: model.kept.into_roles(),
        })
    }

    /// The protocol.
    pub fn protocol(&self) -> &Protocol {
        self.engine.protocol()
    }
}
