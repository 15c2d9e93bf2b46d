//! Copies of blocks that are probably overwritten before anybody reads them, where no analysis can say so for certain.
//!
//! `State::copy_is_dead` is proved, and only of protocols that move no lists of words and whose code about a block is that of its own role.
//! In others `check` forgets copies on a guess, and holds the guess to what happens: a forgotten word is one of its own, and whoever is about to look at it, or takes
//! it along in a message, ends the search, which is then made again with all copies kept ([`FORGOTTEN`]). So the guess may cost time and nothing else:
//! as long as nobody looks at a forgotten word, states that differ in such words alone do the same.
//!
//! The guess is that of the analysis, with two liberties. What other roles do to the copy, or to the state, is passed over. And a state in which
//! a set is empty is told from the same state in which it is not, since handlers that ask for an element of the set are then not
//! reached: so is a copy of `deferred-update`, which only words that its home has noted make readable.

use trivium_engine::Engine;
use trivium_protocol::copies::{live_states, looks_at_memory, moves_by_address, role_with_copy};
use trivium_protocol::walk::{any_expr, any_step, any_step_of};
use trivium_protocol::*;

/// The property that is violated where a forgotten word is looked at. It is that of no report: the search is made again.
pub(crate) const FORGOTTEN: &str = "forgotten copy";

/// When the copy of a node that is not the block's home is forgotten.
#[derive(Clone, Debug)]
pub(crate) struct UnreadCopies {
    role: RoleId,
    /// By state.
    states: Vec<When>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Never,
    Always,
    /// While this set is empty.
    Empty(VarId),
}

impl UnreadCopies {
    /// For a protocol whose words are kept one by one. `None` where nothing is gained, or where words are also looked at by those who
    /// cannot say that one is forgotten.
    pub fn guess(protocol: &Protocol) -> Option<UnreadCopies> {
        if protocol.cached || any_expr(protocol, looks_at_memory) || any_step(protocol, moves_by_address) {
            return None;
        }
        let id = role_with_copy(protocol, false)?;
        let role = &protocol.roles[id.index()];
        let always = live_states(role, &[], |_, copy_use, live| copy_use.needs(live));
        let sets = (0..role.vars.len())
            .filter(|&var| matches!(role.vars[var].ty, Type::NodeSet | Type::IntSet { .. }))
            .map(VarId::at);
        let empty: Vec<(VarId, Vec<bool>)> = sets.map(|set| (set, live_while_empty(role, set, &always))).collect();
        let when = |state: usize| match empty.iter().find(|(_, live)| !live[state]) {
            _ if !always[state] => When::Always,
            Some((set, _)) => When::Empty(*set),
            None => When::Never,
        };
        let states: Vec<When> = (0..role.states.len()).map(when).collect();
        states.iter().any(|when| *when != When::Never).then_some(UnreadCopies { role: id, states })
    }

    /// The role whose record says whether a copy is forgotten.
    pub fn role(&self) -> RoleId {
        self.role
    }

    /// Whether the copy is forgotten where the record is this.
    pub fn is_forgotten(&self, engine: &Engine, record: &[u8]) -> bool {
        match self.states[engine.state(self.role, record).index()] {
            When::Never => false,
            When::Always => true,
            When::Empty(set) => engine.is_empty_set(self.role, record, set),
        }
    }
}

/// In which states the copy may be read again, as far as the role's own handlers say: of records in which this set is empty.
fn live_while_empty(role: &Role, set: VarId, always: &[bool]) -> Vec<bool> {
    let is_impossible = |handler: &Handler| asks_for_an_element(handler, set);
    let impossible: Vec<bool> = role.handlers.iter().map(is_impossible).collect();
    let fills: Vec<bool> = role.handlers.iter().map(|handler| may_fill(handler, set)).collect();
    live_states(role, &[], |id, copy_use, live| {
        // Where the set is no longer empty, the state it comes to is any of that name.
        !impossible[id.index()] && copy_use.needs(if fills[id.index()] { always } else { live })
    })
}

/// Whether a set may have an element after a handler.
fn may_fill(handler: &Handler, set: VarId) -> bool {
    any_step_of(
        &handler.steps,
        |step| matches!(step, StepKind::Insert(place, _) | StepKind::Assign(place, _) if is_own(place, set)),
    )
}

/// Whether a place is this variable of the record whose handler runs.
fn is_own(place: &Place, var: VarId) -> bool {
    matches!(place.owner, Owner::Current) && place.var == var
}

/// Whether a handler is only for records in which a set has an element.
fn asks_for_an_element(handler: &Handler, set: VarId) -> bool {
    fn asks(expr: &Expr, set: VarId) -> bool {
        match &expr.kind {
            ExprKind::Binary(Operator::And, left, right) => asks(left, set) || asks(right, set),
            ExprKind::In(_, of) => {
                matches!(&of.kind, ExprKind::Var(place) if is_own(place, set))
            }
            _ => false,
        }
    }
    handler.guard.as_ref().is_some_and(|guard| asks(guard, set))
}
