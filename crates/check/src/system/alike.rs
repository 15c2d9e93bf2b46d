//! Whether a protocol treats all nodes alike: a run with renamed nodes is then a run with other names.
//!
//! The language keeps a protocol from looking at the number of a node except by `index` and `node(..)`, which the
//! compiler notes, in `initially` too, so that nodes that are alike begin alike. Three more things depend on the order of nodes, and are looked for here: `pick` takes the least
//! of a set, a loop over a set goes through it in ascending order, and sets can hold nodes given by number.

use trivium_protocol::walk::{object_of, parts};
use trivium_protocol::{Expr, ExprKind, Handler, LocalId, Operator, PayloadSource, Protocol, Step, StepKind, Type};

/// Whether nodes can be renamed.
pub(crate) fn nodes_are_alike(protocol: &Protocol) -> bool {
    protocol.asymmetric.is_none()
        && protocol.roles.iter().flat_map(|role| role.code()).all(handler)
        && protocol.conditions.iter().all(|condition| expr(&condition.condition))
        && protocol.invariants.iter().all(|invariant| expr(&invariant.condition))
        && protocol.leads_to.iter().all(|leads| expr(&leads.from.condition) && expr(&leads.to.condition))
        && protocol.waits.iter().all(|wait| expr(&wait.until.condition))
}

fn handler(handler: &Handler) -> bool {
    handler.guard.iter().all(expr) && steps(&handler.steps)
}

fn steps(all: &[Step]) -> bool {
    all.iter().all(step)
}

fn step(step: &Step) -> bool {
    let itself = match &step.kind {
        StepKind::ForSet(local, set, body) => set.ty != Type::NodeSet || any_order(*local, body),
        _ => true,
    };
    itself && exprs_of(step).into_iter().all(expr) && inner(step).into_iter().all(steps)
}

/// Visits steps and those inside them.
pub(crate) fn each_step<'p>(steps: &'p [Step], visit: &mut impl FnMut(&'p Step)) {
    for step in steps {
        visit(step);
        match &step.kind {
            StepKind::If(_, yes, no) => {
                each_step(yes, visit);
                each_step(no, visit);
            }
            StepKind::ForSet(_, _, steps)
            | StepKind::ForRange(_, _, _, steps)
            | StepKind::ForList(_, _, steps)
            | StepKind::Elsewhere(_, _, steps) => each_step(steps, visit),
            _ => {}
        }
    }
}

/// The steps within one.
fn inner(step: &Step) -> Vec<&[Step]> {
    match &step.kind {
        StepKind::If(_, yes, no) => vec![yes, no],
        StepKind::ForSet(_, _, body)
        | StepKind::ForRange(_, _, _, body)
        | StepKind::ForList(_, _, body)
        | StepKind::Elsewhere(_, _, body) => vec![body],
        _ => Vec::new(),
    }
}

/// The expressions of a step, without those of the steps within it.
pub(crate) fn exprs_of(step: &Step) -> Vec<&Expr> {
    match &step.kind {
        StepKind::Assign(_, values) | StepKind::Let(_, values) | StepKind::Push(_, values) => values.iter().collect(),
        StepKind::Start(_, values) => values.iter().collect(),
        StepKind::Insert(_, value) | StepKind::Remove(_, value) | StepKind::Assert(value) => vec![value],
        StepKind::If(value, ..) | StepKind::ForSet(_, value, _) => vec![value],
        StepKind::ForRange(_, from, to, _) => vec![from, to],
        StepKind::Send { args, payload, object, to, .. } => {
            let memory = match payload {
                PayloadSource::Memory { from, to } | PayloadSource::Own { from, to } => vec![from, to],
                _ => Vec::new(),
            };
            args.iter().chain(memory).chain(object).chain([to]).collect()
        }
        StepKind::Return { value, to } => value.iter().chain(to).collect(),
        StepKind::Install(at) => at.iter().collect(),
        StepKind::InstallOwn(at) => vec![at],
        StepKind::Copy { from, to, bytes } => vec![from, to, bytes],
        StepKind::Store(a, b) | StepKind::CompleteWith(a, b) => vec![a, b],
        StepKind::Perform(perform) => perform.args.iter().collect(),
        StepKind::Invoke(function, args) => std::iter::once(function).chain(args).collect(),
        StepKind::Elsewhere(owner, ..) => object_of(owner).into_iter().collect(),
        StepKind::ForList(..)
        | StepKind::Pop(..)
        | StepKind::Clear(_)
        | StepKind::Goto(_)
        | StepKind::Resume
        | StepKind::Complete
        | StepKind::Defer
        | StepKind::Yield
        | StepKind::Fill(_)
        | StepKind::Upgrade
        | StepKind::Take(_)
        | StepKind::Invalidate
        | StepKind::Stop
        | StepKind::Impossible => Vec::new(),
    }
}

/// Whether a loop over nodes does the same in any order: each round only sends to its own node, so that
/// nothing that a round looks at changes, and no two of its messages share a channel.
fn any_order(node: LocalId, body: &[Step]) -> bool {
    body.iter().all(|step| match &step.kind {
        StepKind::Send { args, object, to, .. } => {
            matches!(to.kind, ExprKind::Local(local) if local == node) && !args.iter().chain(object).any(asks_for_room)
        }
        StepKind::Let(_, values) => !values.iter().any(asks_for_room),
        StepKind::If(condition, yes, no) => !asks_for_room(condition) && any_order(node, yes) && any_order(node, no),
        _ => false,
    })
}

fn asks_for_room(asked: &Expr) -> bool {
    matches!(asked.kind, ExprKind::Room(..)) || parts(asked).into_iter().any(asks_for_room)
}

fn expr(looked_at: &Expr) -> bool {
    let is_node = |e: &Expr| matches!(e.ty, Type::Node { .. });
    let itself = match &looked_at.kind {
        ExprKind::Pick(set) => set.ty != Type::NodeSet,
        ExprKind::Constant(value) => !is_node(looked_at) || value.at(1) == -1 && value.at(2) == -1,
        ExprKind::Binary(Operator::Equal | Operator::Different, ..) => true,
        ExprKind::Binary(_, a, b) => !is_node(a) && !is_node(b),
        ExprKind::Negate(value) => !is_node(value),
        ExprKind::Index(_) | ExprKind::NodeAt(_) => false,
        _ => true,
    };
    itself && parts(looked_at).into_iter().all(expr)
}
