//! In which states a node that is not a block's home has contents of the block, and handlers that look at contents which may be gone.
//!
//! A declared state has contents if it gives access or `keeps`; a waiting state if it was entered from a state with contents, or after
//! something has brought contents to the node (`install`, `take`). Of a waiting state two things are found, by going round until nothing
//! changes: whether *some* way to it brings contents, for then they are not forgotten ([`State::contents`]), and whether *each* does,
//! for then they may be looked at ([`Contents::surely`]).

use crate::diagnostics::Mistakes;
use trivium_diagnostic::Code;
use trivium_protocol::copies::sends_present_block;
use trivium_protocol::source::{SourceMap, Span};
use trivium_protocol::walk::inner;
use trivium_protocol::*;

/// Fills in [`State::contents`].
pub(super) fn contents(protocol: &mut Protocol) {
    let roles = (0..).map(RoleId).zip(&protocol.roles).filter(|(_, role)| has_copy(role));
    let found: Vec<(RoleId, Contents)> = roles.map(|(id, role)| (id, Contents::of(id, role, protocol))).collect();
    for (id, found) in found {
        let states = protocol.roles[id.index()].states.iter_mut();
        states.zip(found.perhaps).for_each(|(state, contents)| state.contents = contents);
    }
}

/// Notes handlers that look at their block's contents in a state, or on a way, where these may have been forgotten. What other roles of
/// the node know of the copy is not followed: where there are several, it is looked at when it happens.
pub(super) fn forgotten(protocol: &Protocol, diagnostics: &mut Mistakes) {
    let roles = (0..).map(RoleId).zip(&protocol.roles);
    let mut roles = roles.filter(|(_, role)| has_copy(role) && role.kind != RoleKind::Home);
    let (Some((id, role)), None) = (roles.next(), roles.next()) else { return };
    if !protocol.cached && !role.states.iter().any(|state| state.contents) {
        return;
    }
    let found = Contents::of(id, role, protocol);
    let mut said: Vec<Span> = Vec::new();
    for (state, handler) in answers(role) {
        let before = Ways { some: false, every: found.surely[state] };
        let walk = Walk::through((id, state), handler, before, protocol);
        let Some((what, span)) = walk.looked else { continue };
        if said.contains(&span) {
            continue;
        }
        said.push(span);
        complain((id, role), state, (what, span), protocol, diagnostics);
    }
}

fn complain(
    (id, role): (RoleId, &Role),
    state: usize,
    (what, span): (&str, Span),
    protocol: &Protocol,
    diagnostics: &mut Mistakes,
) {
    // What a waiting state began with is decided where its handler started.
    let begins = role.states[state].name.split('.').next().unwrap_or_default();
    let leads = leads_to((id, role), begins, protocol, &diagnostics.sources);
    let why = match leads {
        Some(leads) => format!("the contents may be gone: {leads} goes to `{begins}`, which gives no access"),
        None => format!("the contents may be gone: `{begins}` gives no access"),
    };
    diagnostics
        .error(Code::Lane, span, format!("this {what}: {why}"))
        .help(format!("write `state {begins}: keeps`, or `install` contents before"));
}

/// A handler that goes from a state with contents to this one, in words.
fn leads_to((id, role): (RoleId, &Role), target: &str, protocol: &Protocol, sources: &SourceMap) -> Option<String> {
    let target = role.states.iter().position(|state| state.name == target)?;
    let (_, handler) = answers(role).find(|(from, handler)| {
        let walk = Walk::through((id, *from), handler, Ways::default(), protocol);
        role.states[*from].contents && walk.entered.iter().any(|(to, _)| to.index() == target)
    })?;
    let place = sources.place(handler.span);
    Some(format!("`{}` in line {}", handler.name, place.line))
}

/// Whether a role knows of a node's copy of a block.
fn has_copy(role: &Role) -> bool {
    role.object == BLOCK && !matches!(role.kind, RoleKind::Ghost | RoleKind::Agent)
}

/// The handlers of a role, each with the state in which it answers.
fn answers(role: &Role) -> impl Iterator<Item = (usize, &Handler)> {
    let cells = role.table.iter().enumerate().flat_map(|(state, row)| row.iter().map(move |cell| (state, cell)));
    cells.flat_map(move |(state, cell)| {
        let handlers = match cell {
            Response::Handle(handlers) => handlers.as_slice(),
            _ => &[],
        };
        handlers.iter().map(move |id| (state, &role.handlers[id.index()]))
    })
}

/// By state.
struct Contents {
    /// Whether there are contents on some way to it.
    perhaps: Vec<bool>,
    /// Whether there are on each.
    surely: Vec<bool>,
}

impl Contents {
    fn of(id: RoleId, role: &Role, protocol: &Protocol) -> Contents {
        let declared = |state: &State| role.kind == RoleKind::Home || state.access != Access::None || state.keeps;
        let perhaps = role.states.iter().map(declared).collect();
        let surely = role.states.iter().map(|state| state.waiting || declared(state)).collect();
        let mut found = Contents { perhaps, surely };
        if role.kind == RoleKind::Home {
            found.perhaps.fill(true);
            found.surely.fill(true);
            return found;
        }
        let ways: Vec<(usize, StateId, Ways)> = answers(role)
            .flat_map(|(state, handler)| {
                let walk = Walk::through((id, state), handler, Ways::default(), protocol);
                walk.entered.into_iter().map(move |(to, written)| (state, to, written))
            })
            .filter(|(_, to, _)| role.states[to.index()].waiting)
            .collect();
        let mut changes = true;
        while std::mem::take(&mut changes) {
            for &(from, to, written) in &ways {
                let perhaps = found.perhaps[to.index()] || found.perhaps[from] || written.some;
                let surely = found.surely[to.index()] && (found.surely[from] || written.every);
                changes |= (perhaps, surely) != (found.perhaps[to.index()], found.surely[to.index()]);
                (found.perhaps[to.index()], found.surely[to.index()]) = (perhaps, surely);
            }
        }
        found
    }
}

/// Whether contents have been brought on some way to a step, and on every one.
#[derive(Clone, Copy, Debug, Default)]
struct Ways {
    some: bool,
    every: bool,
}

/// One handler's steps, followed in their order.
struct Walk {
    /// Whose handler it is.
    role: RoleId,
    /// The state, as long as it is known.
    state: Option<StateId>,
    written: Ways,
    /// Whether what the handler installs goes back to words of a list, and perhaps not to this block.
    scatters: bool,
    /// Whether the processor has a cache of its own.
    cached: bool,
    /// The ghosts, which change nothing but themselves.
    ghosts: Vec<RoleId>,
    /// Where it goes, each with what has been brought by then.
    entered: Vec<(StateId, Ways)>,
    /// The first look at contents that have not been brought on every way.
    looked: Option<(&'static str, Span)>,
}

impl Walk {
    fn through((role, state): (RoleId, usize), handler: &Handler, written: Ways, protocol: &Protocol) -> Walk {
        let scatters = match handler.event {
            EventKind::Message(id) => {
                protocol.messages.get(id.index()).is_some_and(|message| message.payload == PayloadShape::List)
            }
            _ => false,
        };
        let mut walk = Walk {
            role,
            state: Some(StateId::at(state)),
            written,
            scatters,
            cached: protocol.cached,
            ghosts: protocol.ghosts.iter().map(|ghost| ghost.role).collect(),
            entered: Vec::new(),
            looked: None,
        };
        if handler.guard.as_ref().is_some_and(|guard| walk.only_at_home(guard, true)) {
            walk.written.every = true;
        }
        walk.follow(&handler.steps);
        walk
    }

    fn follow(&mut self, steps: &[Step]) {
        for step in steps {
            match &step.kind {
                kind if sends_present_block(kind) => self.look("`with block` may have nothing to read", step.span),
                StepKind::Fill(_) => self.look("`fill` may have nothing to read", step.span),
                StepKind::Perform(perform) if perform.loads() => {
                    self.look("`perform` may have nothing to read", step.span)
                }
                // An engine has no more than a buffer, of which a store leaves the other words garbage.
                StepKind::Perform(_) if self.cached => self.look("`perform` may have nothing to store to", step.span),
                StepKind::Install(None) if self.scatters => self.written.some = true,
                StepKind::Install(None) | StepKind::Take(_) => self.written = Ways { some: true, every: true },
                StepKind::Goto(state) => {
                    self.entered.push((*state, self.written));
                    self.state = Some(*state);
                }
                StepKind::If(condition, yes, no) => self.branch(condition, yes, no),
                // What an action of another instance does is looked at when it happens. It may come back to this one.
                StepKind::Elsewhere(_, role, _) if self.ghosts.contains(role) => {}
                StepKind::Elsewhere(..) => self.state = None,
                kind => {
                    for body in inner(kind) {
                        let (before, state) = (self.written, self.state);
                        self.follow(body);
                        self.written.every = before.every;
                        self.state = state.filter(|_| self.state == state);
                    }
                }
            }
        }
    }

    fn branch(&mut self, condition: &Expr, yes: &[Step], no: &[Step]) {
        match self.decides(condition) {
            Some(true) => return self.follow(yes),
            Some(false) => return self.follow(no),
            None => {}
        }
        let (before, state) = (self.written, self.state);
        self.written.every |= self.only_at_home(condition, true);
        self.follow(yes);
        let (after, first) = (std::mem::replace(&mut self.written, before), std::mem::replace(&mut self.state, state));
        self.written.every |= self.only_at_home(condition, false);
        self.follow(no);
        self.written = Ways { some: self.written.some || after.some, every: self.written.every && after.every };
        self.state = first.filter(|_| self.state == first);
    }

    /// What a condition is, if the state decides it.
    fn decides(&self, condition: &Expr) -> Option<bool> {
        match &condition.kind {
            ExprKind::InState(Owner::Current | Owner::Role(_), role, states) if *role == self.role => {
                self.state.map(|state| states.contains(&state))
            }
            ExprKind::Not(inner) => self.decides(inner).map(|value| !value),
            ExprKind::Binary(Operator::And, a, b) => match (self.decides(a), self.decides(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), other) | (other, Some(true)) => other,
                _ => None,
            },
            ExprKind::Binary(Operator::Or, a, b) => match (self.decides(a), self.decides(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), other) | (other, Some(false)) => other,
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a condition has this value on the home alone, which always has contents: `me == home`, or its opposite.
    fn only_at_home(&self, condition: &Expr, value: bool) -> bool {
        let compares = |a: &Expr, b: &Expr| {
            matches!((&a.kind, &b.kind), (ExprKind::Me, ExprKind::Home) | (ExprKind::Home, ExprKind::Me))
        };
        match &condition.kind {
            ExprKind::Binary(Operator::Equal, a, b) => value && compares(a, b),
            ExprKind::Binary(Operator::Different, a, b) => !value && compares(a, b),
            ExprKind::Not(inner) => self.only_at_home(inner, !value),
            ExprKind::Binary(Operator::And, a, b) if value => self.only_at_home(a, true) || self.only_at_home(b, true),
            ExprKind::Binary(Operator::Or, a, b) if !value => {
                self.only_at_home(a, false) || self.only_at_home(b, false)
            }
            _ => false,
        }
    }

    fn look(&mut self, what: &'static str, span: Span) {
        if !self.written.every {
            self.looked.get_or_insert((what, span));
        }
    }
}
