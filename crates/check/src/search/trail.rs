//! How the states that wait were reached: of each state that waits or leads to one that does, the hash, and the state
//! before it. What leads nowhere any more is forgotten.

/// A state of a trail.
pub(super) type Footprint = u32;

/// No state: the first has none before it.
const NOBODY: Footprint = Footprint::MAX;

/// A tree that is kept as far as it leads to states that wait.
#[derive(Default)]
pub(super) struct Trail {
    nodes: Vec<TrailEntry>,
    free: Vec<Footprint>,
}

struct TrailEntry {
    hash: u64,
    before: Footprint,
    /// How many come after it; one more while it waits.
    after: u32,
}

impl Trail {
    /// Adds a state that waits: the first, or one that comes after another.
    pub fn add(&mut self, hash: u64, before: Option<Footprint>) -> Footprint {
        let node = TrailEntry { hash, before: before.unwrap_or(NOBODY), after: 1 };
        if let Some(before) = before {
            self.nodes[before as usize].after += 1;
        }
        match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                Footprint::try_from(self.nodes.len() - 1).expect("fewer states wait than a search may have")
            }
        }
    }

    /// A state waits no more.
    pub fn done(&mut self, mut at: Footprint) {
        while at != NOBODY {
            let node = &mut self.nodes[at as usize];
            node.after -= 1;
            if node.after > 0 {
                return;
            }
            self.free.push(at);
            at = node.before;
        }
    }

    /// The hashes of the states that lead to one, its own at the end, the first state's left out.
    pub fn way(&self, mut at: Footprint) -> Vec<u64> {
        let mut way = Vec::new();
        while self.nodes[at as usize].before != NOBODY {
            way.push(self.nodes[at as usize].hash);
            at = self.nodes[at as usize].before;
        }
        way.reverse();
        way
    }

    pub fn memory(&self) -> u64 {
        (self.nodes.capacity() * size_of::<TrailEntry>() + self.free.capacity() * size_of::<Footprint>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_nowhere_is_forgotten() {
        let mut trail = Trail::default();
        let first = trail.add(0, None);
        let [left, right] = [1, 2].map(|hash| trail.add(hash, Some(first)));
        trail.done(first);
        let deep = trail.add(3, Some(right));
        trail.done(right);
        assert_eq!(trail.way(deep), [2, 3]);
        assert_eq!(trail.way(first), [0; 0]);
        trail.done(left);
        assert_eq!(trail.free, [left]);
        assert_eq!(trail.add(4, Some(deep)), left);
        trail.done(deep);
        trail.done(left);
        assert_eq!(trail.free.len(), 4);
    }
}
