//! The oracles of clearing, late values and dead copies: as many states as there are different ones without leftovers.

use super::{End, FastSearch, explore_guessing, pack};
use crate::config::{Config, System};
use crate::search::store::state_number;
use crate::system::model::Model;
use crate::system::world::{ThreadState, World};
use std::sync::Arc;
use trivium_diagnostic::Diagnostic;
use trivium_protocol::Protocol;

/// How many states there are if no variable is cleared, and how many different ones among them when each record is then
/// cleared: as many as a search that clears finds, unless what it clears is still read. To test clearing by; `None`
/// where not all states were visited.
///
/// # Errors
/// As [`crate::runs::explore`].
pub fn leftovers(protocol: &Arc<Protocol>, config: &Config) -> Result<Option<(u64, u64)>, Diagnostic> {
    let config = Config { symmetry: false, liveness: false, ..config.clone() };
    let system = |clearing| System { clearing, ..config.system.clone() };
    let (mut kept, mut cleared) = (Model::new(protocol, &system(false))?, Model::new(protocol, &system(true))?);
    if explore_guessing(&mut cleared, &config)?.is_some() {
        kept.guess();
    }
    Ok(forms(&kept, &cleared, &config, |world| {
        for (node, role, object) in kept.instances() {
            if let Some(at) = kept.layout.record(node, role, object.id) {
                cleared.engine.clear_dead(role, &mut world.fixed[at]);
            }
        }
        // What is forgotten on a guess may depend on a variable that has been cleared.
        cleared.all_nodes().for_each(|node| cleared.forget_dead_copies(world, node));
    }))
}

/// How many states there are if stores are chosen when they begin and every copy of a block is kept, and how many
/// different ones among them when what waiting threads will store and copies that nobody reads are then forgotten: as many
/// as a search that does so at once finds, with one thread on each node. To test late values and dead copies by; `None`
/// where not all states were visited.
///
/// # Errors
/// As [`crate::runs::explore`].
pub fn unseen(protocol: &Arc<Protocol>, config: &Config) -> Result<Option<(u64, u64)>, Diagnostic> {
    let config = Config { symmetry: false, liveness: false, ..config.clone() };
    let all = System { late_values: false, dead_copies: false, ..config.system.clone() };
    let (kept, mut reduced) = (Model::new(protocol, &all)?, Model::new(protocol, &config.system)?);
    explore_guessing(&mut reduced, &config)?;
    Ok(forms(&kept, &reduced, &config, |world| reduced.forget(world)))
}

/// How many states a system has, and how many different ones among them when something is then forgotten in each that another
/// system does not keep. `None` where not all were visited.
fn forms(kept: &Model, reduced: &Model, config: &Config, forget: impl Fn(&mut World)) -> Option<(u64, u64)> {
    let mut search = FastSearch::new(kept, config);
    if !matches!(search.visit(), End::Exhausted) {
        return None;
    }
    let states = &search.states;
    let mut forms = rustc_hash::FxHashSet::default();
    let (mut world, mut bytes) = (World::default(), pack::Packed::default());
    for state in 0..state_number(states.len()) {
        pack::unpack(kept, states.arena.get(state), &mut world);
        forget(&mut world);
        pack::pack(reduced, &world, &mut bytes);
        forms.insert(bytes.to_vec());
    }
    Some((states.len() as u64, forms.len() as u64))
}

impl Model {
    /// Forgets what a search of this system does not keep: what waiting threads will store, and dead copies.
    fn forget(&self, world: &mut World) {
        for thread in 0..self.client.threads.len() {
            let (phase, intent) = world.thread(&self.layout, thread);
            if phase != ThreadState::Free
                && let Some(store) = self.client.open_store(intent)
            {
                world.set_thread(&self.layout, thread, phase, store.open);
            }
        }
        for node in self.all_nodes() {
            self.forget_dead_copies(world, node);
        }
    }
}
