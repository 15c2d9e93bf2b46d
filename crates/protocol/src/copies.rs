//! Which code has to do with a node's copy of a block.

use crate::walk::{any_expr, any_step, any_step_of, inner};
use crate::*;

/// The only role that has to do with a node's copy of a block, where the node is, or is not, the block's home: its state
/// says whether the copy is dead. `None` if there are several, or none.
pub fn role_with_copy(protocol: &Protocol, is_home: bool) -> Option<RoleId> {
    let lives_there = |role: &Role| match role.kind {
        RoleKind::Home => is_home,
        RoleKind::Elsewhere => !is_home,
        RoleKind::Everywhere => true,
        RoleKind::Agent | RoleKind::Ghost => false,
    };
    let has_to_do = |role: &Role| {
        role.states.iter().any(|state| state.access != Access::None)
            || role.handlers.iter().any(|handler| touches(&handler.steps))
    };
    let roles = (0..).map(RoleId).zip(&protocol.roles);
    let mut roles = roles.filter(|(_, role)| role.object == BLOCK && lives_there(role) && has_to_do(role));
    let only = roles.next();
    only.filter(|_| roles.next().is_none()).map(|(id, _)| id)
}

/// The roles whose states say whether a node that is not a block's home has contents of it ([`State::contents`]): none if the protocol says
/// nothing of contents, as one does that neither gives access to blocks there nor keeps any.
pub fn keeping_roles(protocol: &Protocol) -> Vec<RoleId> {
    let lives_there =
        |role: &Role| role.object == BLOCK && matches!(role.kind, RoleKind::Elsewhere | RoleKind::Everywhere);
    let roles = (0..).map(RoleId).zip(&protocol.roles).filter(|(_, role)| lives_there(role));
    let roles: Vec<(RoleId, &Role)> = roles.collect();
    let says = protocol.cached || roles.iter().any(|(_, role)| role.states.iter().any(|state| state.contents));
    if says { roles.into_iter().map(|(id, _)| id).collect() } else { Vec::new() }
}

/// Whether handlers may look at contents that are not there, and it takes a run to see it: the compiler has followed what the one role that
/// keeps a copy does to its own block, and nothing else.
pub fn may_look_at_forgotten(protocol: &Protocol) -> bool {
    let keeping = keeping_roles(protocol);
    let looks = |step: &StepKind| match step {
        StepKind::Copy { .. } | StepKind::Complete => true,
        StepKind::Send { payload: PayloadSource::Memory { .. } | PayloadSource::List(_), .. } => true,
        step if sends_other_block(step) => true,
        StepKind::Elsewhere(_, _, body) => any_step_of(body, touches_copy),
        _ => false,
    };
    let is_looked_at = |step: &StepKind| looks(step) || keeping.len() > 1 && touches_copy(step);
    !keeping.is_empty()
        && (any_step(protocol, is_looked_at) || any_expr(protocol, |expr| matches!(expr, ExprKind::Memory(_))))
}

/// Whether the contents of a block change by stores of threads alone, which happen where a node may write the block: handlers do no more than send a block's
/// contents, and put what has come into the copy of the same block.
pub fn only_threads_store(protocol: &Protocol) -> bool {
    let stores = |step: &StepKind| {
        matches!(step, StepKind::Complete | StepKind::Perform(_) | StepKind::InstallOwn(_)) || moves_by_address(step)
    };
    let lists = |step: &StepKind| matches!(step, StepKind::Send { payload: PayloadSource::List(_), .. });
    !protocol.cached && !any_step(protocol, |step| stores(step) || lists(step) || sends_other_block(step))
}

/// Whether steps read or write the copy of the present block.
fn touches(steps: &[Step]) -> bool {
    steps.iter().any(|step| touches_copy(&step.kind) || inner(&step.kind).any(touches))
}

/// Whether a step itself reads or writes the copy of the present block.
pub fn touches_copy(step: &StepKind) -> bool {
    let touches = matches!(
        step,
        StepKind::Install(None) | StepKind::Complete | StepKind::Perform(_) | StepKind::Fill(_) | StepKind::Take(_)
    );
    touches || sends_present_block(step)
}

/// Whether a step sends the contents of the present block.
pub fn sends_present_block(step: &StepKind) -> bool {
    match step {
        StepKind::Send { payload: PayloadSource::Block, object, .. } => object.is_none(),
        StepKind::Send { payload: PayloadSource::BlockOf(block), .. } => matches!(block.kind, ExprKind::Object),
        _ => false,
    }
}

/// Whether a step sends the contents of a block that need not be the present one.
pub fn sends_other_block(step: &StepKind) -> bool {
    let sends = matches!(step, StepKind::Send { payload: PayloadSource::Block | PayloadSource::BlockOf(_), .. });
    sends && !sends_present_block(step)
}

/// Whether a step itself reads or writes memory by its address. Words of a list, which say where they come from, are another matter.
pub fn moves_by_address(step: &StepKind) -> bool {
    matches!(
        step,
        StepKind::Store(..)
            | StepKind::Copy { .. }
            | StepKind::Install(Some(_))
            | StepKind::Send { payload: PayloadSource::Memory { .. }, .. }
    )
}

/// Whether an expression reads words of memory, by their address or in a claim.
pub fn looks_at_memory(expr: &ExprKind) -> bool {
    matches!(expr, ExprKind::Memory(_) | ExprKind::Contents(..))
}

/// What one handler does to the copy of its block.
#[derive(Debug, Default)]
pub struct CopyUse {
    /// Whether it may read it before it has overwritten it.
    reads: bool,
    /// Where it goes, each with whether the copy has been overwritten before it ends, on every way.
    targets: Vec<(StateId, bool)>,
}

impl CopyUse {
    fn of(handler: &Handler) -> CopyUse {
        let (mut copy_use, mut written) = (CopyUse::default(), false);
        copy_use.follow(&handler.steps, &mut written);
        copy_use.targets.iter_mut().for_each(|(_, before)| *before |= written);
        copy_use
    }

    fn follow(&mut self, steps: &[Step], written: &mut bool) {
        for step in steps {
            match &step.kind {
                StepKind::Complete | StepKind::Fill(_) => self.reads |= !*written,
                kind if sends_present_block(kind) || sends_other_block(kind) => self.reads |= !*written,
                StepKind::Perform(perform) if perform.loads() => self.reads |= !*written,
                StepKind::Install(None) | StepKind::Take(_) => *written = true,
                StepKind::Goto(state) => self.targets.push((*state, *written)),
                StepKind::If(_, yes, no) => {
                    let mut other = *written;
                    self.follow(yes, written);
                    self.follow(no, &mut other);
                    *written &= other;
                }
                StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                    self.follow(body, &mut written.clone());
                }
                _ => {}
            }
        }
    }

    /// Whether what the copy holds before the handler may be read, by it or afterwards, where it may be read in these states.
    pub fn needs(&self, live: &[bool]) -> bool {
        self.reads || self.targets.iter().any(|(to, written)| !written && live[to.index()])
    }
}

/// In which states of a role the copy may be read again: by a thread, by the role's handlers as `needs` says of each where the copy may be
/// read in these states, or where other code puts the role into one of the states `entered`.
pub fn live_states(
    role: &Role,
    entered: &[StateId],
    needs: impl Fn(HandlerId, &CopyUse, &[bool]) -> bool,
) -> Vec<bool> {
    let uses: Vec<CopyUse> = role.handlers.iter().map(CopyUse::of).collect();
    let mut live: Vec<bool> = role.states.iter().map(|state| state.access != Access::None).collect();
    loop {
        let before = live.clone();
        let by_others = entered.iter().any(|state| before[state.index()]);
        for (live, responses) in live.iter_mut().zip(&role.table) {
            let mut handlers = responses.iter().flat_map(|response| match response {
                Response::Handle(handlers) => handlers.as_slice(),
                _ => &[],
            });
            *live |= by_others || handlers.any(|id| needs(*id, &uses[id.index()], &before));
        }
        if live == before {
            return live;
        }
    }
}
