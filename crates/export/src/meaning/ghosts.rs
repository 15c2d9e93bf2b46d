//! Ghosts: their handlers, and who calls them.

use super::Export;
use super::names::{EFFECTS, UNSEEN};
use crate::model::{Block, Declared, Expr, Program, values};
use trivium_protocol::{GhostEvent, ObjectKindId};

impl Export<'_> {
    pub fn ghosts(&self, program: &mut Program) {
        for ghost in &self.protocol().ghosts {
            let role = self.role(ghost.role);
            for (_, handler) in &ghost.clauses {
                let h = handler.index();
                self.handler(ghost.role, role, h, 0, &role.handlers[h], program);
            }
        }
    }

    /// What a routine that tells ghosts must declare.
    pub fn ghost_locals(&self) -> Option<Declared> {
        (!self.protocol().ghosts.is_empty()).then(|| UNSEEN.of(EFFECTS))
    }

    /// Tells the ghosts of an object what happened on a node.
    pub fn tell(
        &self,
        what: GhostEvent,
        kind: ObjectKindId,
        object: impl Into<Expr>,
        node: impl Into<Expr>,
        words: Vec<Expr>,
        out: &mut Block,
    ) {
        let (object, node) = (object.into(), node.into());
        for ghost in &self.protocol().ghosts {
            let role = self.role(ghost.role);
            let Some((_, handler)) = ghost.clauses.iter().find(|(watched, _)| *watched == what) else { continue };
            if role.object != kind {
                continue;
            }
            let args = usize::from(role.handlers[handler.index()].args);
            let told = [&node].into_iter().chain(&words).take(args).cloned().collect();
            let about = values((self.home_of(&object), &object, 0, 0));
            out.call(Self::run(ghost.role, *handler), [about, told, values((0, -1, UNSEEN))].concat());
        }
    }
}
