//! Ghosts: their handlers, and who calls them.

use super::Export;
use super::lines::Lines;
use trivium_protocol::{GhostEvent, ObjectKindId};

/// What a routine that tells ghosts declares: a ghost asks for nothing, so that nobody looks at these effects.
const UNUSED: &str = "unseen: Effects";

impl Export<'_> {
    pub fn ghosts(&self, out: &mut Lines) {
        for ghost in &self.protocol().ghosts {
            let role = self.role(ghost.role);
            for (_, handler) in &ghost.clauses {
                let h = handler.index();
                self.handler(ghost.role, role, h, 0, &role.handlers[h], out);
            }
        }
    }

    /// What a routine that tells ghosts must declare.
    pub fn ghost_locals(&self) -> Vec<String> {
        if self.protocol().ghosts.is_empty() { Vec::new() } else { vec![UNUSED.to_string()] }
    }

    /// Tells the ghosts of an object what happened on a node; the arguments are expressions.
    pub fn tell(
        &self,
        what: GhostEvent,
        kind: ObjectKindId,
        object: &str,
        node: &str,
        words: &[String],
        out: &mut Lines,
    ) {
        for ghost in &self.protocol().ghosts {
            let role = self.role(ghost.role);
            let Some((_, handler)) = ghost.clauses.iter().find(|(watched, _)| *watched == what) else { continue };
            if role.object != kind {
                continue;
            }
            let args = usize::from(role.handlers[handler.index()].args);
            let told = [node.to_string()].into_iter().chain(words.iter().cloned()).take(args);
            let told: String = told.map(|word| format!(", {word}")).collect();
            let home = format!("{object} % {}", self.model.nodes);
            out.line(format!("run{}_{}({home}, {object}, 0, 0{told}, 0, -1, unseen);", ghost.role.0, handler.0));
        }
    }
}
