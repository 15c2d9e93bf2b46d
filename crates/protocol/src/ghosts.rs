//! What handlers tell ghosts, which are there for `check` alone (`docs/semantics.md`, section 7).

use super::*;

/// The name of locals that hold what a ghost is told. No name can be written like this.
pub const TOLD: &str = "$told";

impl Protocol {
    /// The same protocol for who has no ghosts, if handlers tell ghosts anything: they do nothing for that, and what they would tell is not worked out.
    #[must_use]
    pub fn without_ghosts(&self) -> Option<Protocol> {
        let tells = |kind: &StepKind| matches!(kind, StepKind::Elsewhere(_, role, _) if self.is_ghost(*role));
        if !walk::any_step(self, tells) {
            return None;
        }
        let mut plain = self.clone();
        let ghosts: Vec<bool> = (0..self.roles.len()).map(|at| self.is_ghost(RoleId::at(at))).collect();
        for role in plain.roles.iter_mut().filter(|role| role.kind != RoleKind::Ghost) {
            for handler in &mut role.handlers {
                let is_told: Vec<bool> = handler.locals.iter().map(|local| local.name == TOLD).collect();
                forget(&mut handler.steps, &ghosts, &is_told);
            }
        }
        Some(plain)
    }
}

/// Leaves out what is done for ghosts.
fn forget(steps: &mut Vec<Step>, ghosts: &[bool], is_told: &[bool]) {
    steps.retain(|step| match &step.kind {
        StepKind::Elsewhere(_, role, _) => !ghosts[role.index()],
        StepKind::Let(local, _) => !is_told[local.index()],
        _ => true,
    });
    for step in steps {
        match &mut step.kind {
            StepKind::If(_, yes, no) => {
                forget(yes, ghosts, is_told);
                forget(no, ghosts, is_told);
            }
            StepKind::ForSet(_, _, body)
            | StepKind::ForRange(_, _, _, body)
            | StepKind::ForList(_, _, body)
            | StepKind::Elsewhere(_, _, body) => forget(body, ghosts, is_told),
            _ => {}
        }
    }
}
