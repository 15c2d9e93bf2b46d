//! The oracle of clearing: as many states as there are different ones without leftovers.

use super::arena::StateNumber;
use super::{End, Search, pack};
use crate::config::{Config, ConfigError, System};
use crate::model::Model;
use crate::world::World;
use std::sync::Arc;
use trivium_lang::protocol::Protocol;

/// How many states there are if no variable is cleared, and how many different ones among them when each record is then
/// cleared: as many as a search that clears finds, unless what it clears is still read. To test clearing by; `None`
/// where not all states were visited.
///
/// # Errors
/// As [`crate::explore`].
pub fn leftovers(protocol: &Arc<Protocol>, config: &Config) -> Result<Option<(u64, u64)>, ConfigError> {
    let config = Config { symmetry: false, liveness: false, ..config.clone() };
    let system = |clearing| System { clearing, ..config.system.clone() };
    let (kept, cleared) = (Model::new(protocol, &system(false))?, Model::new(protocol, &system(true))?);
    let mut search = Search::new(&kept, &config);
    if !matches!(search.visit(), End::Exhausted) {
        return Ok(None);
    }
    let states = &search.states;
    let mut forms = rustc_hash::FxHashSet::default();
    let (mut world, mut bytes) = (World::default(), Vec::new());
    for state in 0..states.len() as StateNumber {
        pack::unpack(&kept, states.arena.get(state), &mut world);
        for (node, role, object) in kept.instances() {
            if let Some(at) = kept.layout.record(node, role, object.id) {
                cleared.engine.clear_dead(role, &mut world.fixed[at]);
            }
        }
        pack::pack(&cleared, &world, &mut bytes);
        forms.insert(bytes.clone());
    }
    Ok(Some((states.len() as u64, forms.len() as u64)))
}
