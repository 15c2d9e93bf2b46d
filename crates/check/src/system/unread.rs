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
use trivium_protocol::copies::role_with_copy;
use trivium_protocol::walk::any_expr;
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
        let is_looked_at = any_expr(protocol, |expr| matches!(expr, ExprKind::Memory(_) | ExprKind::Contents(..)));
        if is_looked_at
            || protocol.cached
            || protocol.roles.iter().any(|role| role.code().any(|code| moves_bytes(&code.steps)))
        {
            return None;
        }
        let id = role_with_copy(protocol, false)?;
        let role = &protocol.roles[id.index()];
        let always = live(role, None);
        let sets = (0..role.vars.len())
            .filter(|&var| matches!(role.vars[var].ty, Type::NodeSet | Type::IntSet { .. }))
            .map(VarId::at);
        let empty: Vec<(VarId, Vec<bool>)> = sets.map(|set| (set, live(role, Some(set)))).collect();
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

/// Whether steps move bytes by address. Lists of words may.
fn moves_bytes(steps: &[Step]) -> bool {
    steps.iter().any(|step| match &step.kind {
        StepKind::Store(..) | StepKind::Copy { .. } | StepKind::Install(Some(_)) => true,
        StepKind::Send { payload: PayloadSource::Memory { .. }, .. } => true,
        kind => walk::inner(kind).any(moves_bytes),
    })
}

/// In which states the copy may be read again, as far as the role's own handlers say: of records in which this set is empty, if one is given.
fn live(role: &Role, empty: Option<VarId>) -> Vec<bool> {
    let always = empty.map(|_| live(role, None));
    let did: Vec<Did> = role.handlers.iter().map(|handler| did(handler, empty)).collect();
    let mut live: Vec<bool> = role.states.iter().map(|state| state.access != Access::None).collect();
    loop {
        let before = live.clone();
        for (state, responses) in role.table.iter().enumerate() {
            let handled = responses.iter().flat_map(|response| match response {
                Response::Handle(handlers) => handlers.as_slice(),
                _ => &[],
            });
            let of = |handler: &HandlerId| (&role.handlers[handler.index()], &did[handler.index()]);
            let mut possible =
                handled.map(of).filter(|(handler, _)| !empty.is_some_and(|set| asks_for_an_element(handler, set)));
            live[state] |= possible.any(|(_, did)| {
                // Where the set is no longer empty, the state it comes to is any of that name.
                let next = always.as_ref().filter(|_| did.fills).unwrap_or(&before);
                did.reads || did.targets.iter().any(|(to, written)| !written && next[to.index()])
            });
        }
        if live == before {
            return live;
        }
    }
}

/// What a handler does, of what matters to a copy.
#[derive(Default)]
struct Did {
    /// It may read the copy before it has overwritten it.
    reads: bool,
    /// The set may have an element afterwards.
    fills: bool,
    /// Where it goes, each with whether the copy has been overwritten before it ends, on every way.
    targets: Vec<(StateId, bool)>,
}

fn did(handler: &Handler, set: Option<VarId>) -> Did {
    let (mut did, mut written) = (Did::default(), false);
    follow(&handler.steps, set, &mut written, &mut did);
    did.targets.iter_mut().for_each(|(_, before)| *before |= written);
    did
}

fn follow(steps: &[Step], set: Option<VarId>, written: &mut bool, did: &mut Did) {
    let is_it = |place: &Place| matches!(place.owner, Owner::Current) && Some(place.var) == set;
    for step in steps {
        match &step.kind {
            StepKind::Send { payload: PayloadSource::Block, .. } | StepKind::Complete => did.reads |= !*written,
            StepKind::Perform(perform) if perform.loads() => did.reads |= !*written,
            StepKind::Install(None) => *written = true,
            StepKind::Goto(state) => did.targets.push((*state, *written)),
            StepKind::Insert(place, _) | StepKind::Assign(place, _) => did.fills |= is_it(place),
            StepKind::If(_, yes, no) => {
                let mut other = *written;
                follow(yes, set, written, did);
                follow(no, set, &mut other, did);
                *written &= other;
            }
            StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                follow(body, set, &mut written.clone(), did);
            }
            _ => {}
        }
    }
}

/// Whether a handler is only for records in which a set has an element.
fn asks_for_an_element(handler: &Handler, set: VarId) -> bool {
    fn asks(expr: &Expr, set: VarId) -> bool {
        match &expr.kind {
            ExprKind::Binary(Operator::And, left, right) => asks(left, set) || asks(right, set),
            ExprKind::In(_, of) => {
                matches!(&of.kind, ExprKind::Var(place) if matches!(place.owner, Owner::Current) && place.var == set)
            }
            _ => false,
        }
    }
    handler.guard.as_ref().is_some_and(|guard| asks(guard, set))
}
