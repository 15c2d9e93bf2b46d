//! Which variables nobody can read again from a state: they are cleared there, so that states do not
//! multiply on leftovers.
//!
//! A variable is live in a state if a handler of that state may read it before it is certain to have written it, or
//! if it is live in a state that may come next. What comes next is where the handlers of the state `goto`, and
//! wherever other code may put the instance: another role of the node, or another object, may call an action of it, at
//! any time. So each state that is the target of such a `goto` may follow on every state of the role. What other code or
//! a claim reads or writes itself is never cleared.

use std::collections::BTreeSet;
use trivium_protocol::walk::{claims, expressions, inner, place_of, visit};
use trivium_protocol::*;

type Vars = BTreeSet<VarId>;

pub(super) fn live(protocol: &mut Protocol) {
    let mut foreign: Vec<Foreign> = protocol.roles.iter().map(|_| Foreign::default()).collect();
    claims(protocol).for_each(|claim| pin_expr(claim, None, &mut foreign));
    for (r, role) in protocol.roles.iter().enumerate() {
        for handler in role.code() {
            if let Some(guard) = &handler.guard {
                pin_expr(guard, Some(r), &mut foreign);
            }
            foreign_steps(&handler.steps, Code::Own(r), &mut foreign);
        }
    }
    // What a ghost remembers is never cleared: claims may look at it at any time.
    let roles = protocol.roles.iter_mut().zip(foreign).filter(|(role, _)| role.kind != RoleKind::Ghost);
    for (role, foreign) in roles {
        let live = live_in(role, &foreign.entered);
        let count = role.vars.len() as u16;
        for (state, live) in role.states.iter_mut().zip(live) {
            let dead = (0..count).map(VarId).filter(|v| !live.contains(v) && !foreign.pinned.contains(v));
            state.dead = dead.collect();
        }
    }
}

/// What code that is not a role's own handlers on their own object does to it.
#[derive(Default)]
struct Foreign {
    /// Variables that it, or a claim, looks at or changes: they stay as they are.
    pinned: Vars,
    /// States that it may put an instance into, whatever the instance's state was.
    entered: BTreeSet<StateId>,
}

/// Whose steps are looked at.
#[derive(Clone, Copy)]
enum Code {
    /// The role's own, for the object of its event.
    Own(usize),
    /// An action of this role that others call: nothing of its instance is known to be dead.
    Called(usize),
}

/// What one handler reads before it writes it, writes for certain, and where it may end.
struct Summary {
    reads: Vars,
    writes: Vars,
    /// Each with what has been written for certain on the way to the `goto`.
    targets: Vec<(StateId, Vars)>,
}

fn live_in(role: &Role, entered: &BTreeSet<StateId>) -> Vec<Vars> {
    let summaries: Vec<Summary> = role.handlers.iter().map(summary).collect();
    let mut live: Vec<Vars> = role.states.iter().map(|_| Vars::new()).collect();
    loop {
        let mut changed = false;
        for s in 0..role.states.len() {
            let mut now = live[s].clone();
            for target in entered {
                now.extend(&live[target.index()]);
            }
            for response in &role.table[s] {
                let Response::Handle(handlers) = response else { continue };
                for handler in handlers {
                    let summary = &summaries[handler.index()];
                    now.extend(&summary.reads);
                    for (target, written) in &summary.targets {
                        let live = live[target.index()].difference(&summary.writes);
                        now.extend(live.filter(|v| !written.contains(v)));
                    }
                }
            }
            if now != live[s] {
                live[s] = now;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

fn summary(handler: &Handler) -> Summary {
    let mut summary = Summary { reads: Vars::new(), writes: Vars::new(), targets: Vec::new() };
    if let Some(guard) = &handler.guard {
        reads(guard, &Vars::new(), &mut summary.reads);
    }
    let mut written = Vars::new();
    walk(&handler.steps, &mut written, &mut summary);
    summary.writes = written;
    summary
}

fn walk(steps: &[Step], written: &mut Vars, summary: &mut Summary) {
    for step in steps {
        for expr in expressions(&step.kind) {
            reads(expr, written, &mut summary.reads);
        }
        match &step.kind {
            StepKind::Assign(place, _) if own(place) && place.field.is_none() => {
                written.insert(place.var);
            }
            StepKind::Clear(place) if own(place) => {
                written.insert(place.var);
            }
            // The other elements stay as they are.
            StepKind::Assign(place, _)
            | StepKind::AssignElement(place, ..)
            | StepKind::Insert(place, _)
            | StepKind::Remove(place, _)
            | StepKind::Push(place, _)
            | StepKind::Pop(place, _) => touch(place, written, &mut summary.reads),
            StepKind::Goto(state) => summary.targets.push((*state, written.clone())),
            StepKind::If(_, a, b) => {
                let mut other = written.clone();
                walk(a, written, summary);
                walk(b, &mut other, summary);
                *written = written.intersection(&other).copied().collect();
            }
            StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) => {
                walk(body, &mut written.clone(), summary);
            }
            StepKind::ForList(_, place, body) => {
                touch(place, written, &mut summary.reads);
                walk(body, &mut written.clone(), summary);
            }
            StepKind::Send { payload: PayloadSource::List(place), .. } => {
                touch(place, written, &mut summary.reads);
            }
            _ => {}
        }
    }
}

fn own(place: &Place) -> bool {
    matches!(place.owner, Owner::Current)
}

fn touch(place: &Place, written: &Vars, read: &mut Vars) {
    if own(place) && !written.contains(&place.var) {
        read.insert(place.var);
    }
}

/// The variables of the handler's own role that an expression reads.
fn reads(expr: &Expr, written: &Vars, read: &mut Vars) {
    visit(expr, &mut |e| match &e.kind {
        ExprKind::Var(place) | ExprKind::Length(place) | ExprKind::Element(place, _, _) => touch(place, written, read),
        _ => {}
    });
}

/// Variables that another role or a claim looks at stay as they are.
fn pin_expr(expr: &Expr, own_role: Option<usize>, foreign: &mut [Foreign]) {
    visit(expr, &mut |e| match &e.kind {
        ExprKind::Var(place) | ExprKind::Length(place) | ExprKind::Element(place, _, _) => {
            pin(place, own_role, foreign);
        }
        _ => {}
    });
}

fn pin(place: &Place, own_role: Option<usize>, foreign: &mut [Foreign]) {
    if !own(place) || own_role != Some(place.role.index()) {
        foreign[place.role.index()].pinned.insert(place.var);
    }
}

fn foreign_steps(steps: &[Step], code: Code, foreign: &mut [Foreign]) {
    let own_role = match code {
        Code::Own(role) => Some(role),
        Code::Called(_) => None,
    };
    for step in steps {
        for expr in expressions(&step.kind) {
            pin_expr(expr, own_role, foreign);
        }
        if let Some(place) = place_of(&step.kind) {
            pin(place, own_role, foreign);
        }
        match (&step.kind, code) {
            (StepKind::Goto(state), Code::Called(role)) => {
                foreign[role].entered.insert(*state);
            }
            (StepKind::Elsewhere(_, role, body), _) => foreign_steps(body, Code::Called(role.index()), foreign),
            _ => inner(&step.kind).for_each(|steps| foreign_steps(steps, code, foreign)),
        }
    }
}
