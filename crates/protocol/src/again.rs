//! When the answer to an event may be looked at again without running anything: before a `stall` or `defer` there are conditions and
//! locals only, and these look at the event and at records of its node (`docs/semantics.md`, sections 3 and 4).

use crate::source::Span;
use crate::walk::{any_step_of, visit};
use crate::{Expr, ExprKind, HandlerId, Response, Role, Step, StepKind, Type};

/// What an expression looks at that changes without a handler of the node, or is looked at once: where, and in words.
pub fn seen_once(expr: &Expr) -> Option<(Span, &'static str)> {
    let mut found = None;
    visit(expr, &mut |expr: &Expr| {
        let what = match &expr.kind {
            ExprKind::Memory(_) => "memory",
            ExprKind::Room(..) => "`room`",
            ExprKind::Probe => "`probe`",
            ExprKind::ImageWord => "what was taken",
            ExprKind::BlockAt(_) => "`block(..)`, which depends on what has been allocated",
            ExprKind::Pick(of) if of.ty == Type::NodeSet => "`pick`, which is another node each time",
            ExprKind::FaultAddress
            | ExprKind::FaultSize
            | ExprKind::FaultValue
            | ExprKind::FaultOperation
            | ExprKind::FaultExpected => "the address or value of an access",
            _ => return,
        };
        found.get_or_insert((expr.span, what));
    });
    found
}

/// Whether any of these steps, or of those within them, defers the event.
pub fn contains_defer(steps: &[Step]) -> bool {
    any_step_of(steps, |kind| matches!(kind, StepKind::Defer))
}

/// The handler of this answer of a role that may have done something before it defers, or has looked at what cannot be looked at again.
pub fn defers_uncleanly(role: &Role, response: &Response) -> Option<HandlerId> {
    let Response::Handle(handlers) = response else { return None };
    let of = |id: &HandlerId| &role.handlers[id.index()];
    let last = handlers.iter().rposition(|id| contains_defer(&of(id).steps))?;
    let is_clean = |id: &HandlerId| {
        let mut ways = Ways { undone: true, ..Ways::default() };
        ways.follow(&of(id).steps);
        !ways.both
    };
    let sees_once = |id: &HandlerId| of(id).guard.as_ref().is_some_and(|guard| seen_once(guard).is_some());
    handlers[..=last].iter().find(|id| sees_once(id) || contains_defer(&of(id).steps) && !is_clean(id)).copied()
}

/// Whether an event that this answer of a role defers is tried again as soon as its answer is another one, whichever record of the node has
/// changed. It is if something is looked at before it is deferred, nothing is done but to look, and all that is looked at can be looked at again.
/// A deferred event of any other kind waits for another state of its instance.
pub fn is_tried_by_look(role: &Role, response: &Response) -> bool {
    let Response::Handle(handlers) = response else { return false };
    let handlers: Vec<_> = handlers.iter().map(|id| &role.handlers[id.index()]).collect();
    let Some(last) = handlers.iter().rposition(|handler| contains_defer(&handler.steps)) else { return false };
    let looks = |steps: &[Step]| any_step_of(steps, |kind| matches!(kind, StepKind::If(..) | StepKind::Let(..)));
    handlers[..=last].iter().any(|handler| handler.guard.is_some() || looks(&handler.steps))
        && defers_uncleanly(role, response).is_none()
}

/// The ways on which a step of a handler can be reached.
#[derive(Clone, Copy, Default)]
struct Ways {
    /// One on which nothing has happened.
    undone: bool,
    /// One on which something has, or something was looked at that cannot be looked at again.
    done: bool,
    /// One on which the event was deferred, and nothing has happened.
    deferred: bool,
    /// One on which both has.
    both: bool,
}

impl Ways {
    fn follow(&mut self, steps: &[Step]) {
        for step in steps {
            match &step.kind {
                StepKind::Defer => {
                    self.both |= self.done;
                    self.deferred |= self.undone;
                    (self.undone, self.done) = (false, false);
                }
                StepKind::Stall => (self.undone, self.done) = (false, false),
                StepKind::Let(_, values) if values.iter().all(|value| seen_once(value).is_none()) => {}
                StepKind::If(condition, yes, no) => {
                    if seen_once(condition).is_some() {
                        self.happens();
                    }
                    let mut other = *self;
                    self.follow(yes);
                    other.follow(no);
                    self.join(other);
                }
                _ => {
                    self.both |= contains_defer(std::slice::from_ref(step)) || self.deferred;
                    self.happens();
                }
            }
        }
    }

    fn happens(&mut self) {
        self.done |= std::mem::take(&mut self.undone);
    }

    fn join(&mut self, other: Ways) {
        self.undone |= other.undone;
        self.done |= other.done;
        self.deferred |= other.deferred;
        self.both |= other.both;
    }
}
