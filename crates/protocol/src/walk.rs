//! What stands in a protocol, in the order of the text: the one walk over everything that a backend executes or looks at.
//!
//! An analysis that lists where something may be read asks [`each_look`] or [`any_expr`], so that none of them forgets a place: guards, arguments, bounds of
//! loops, what records are at first, ghosts, and what is claimed.

use crate::*;

/// All code: the handlers of every role, ghosts among them, and what records are at first.
pub fn code(protocol: &Protocol) -> impl Iterator<Item = &Handler> {
    protocol.roles.iter().flat_map(Role::code)
}

/// All that is claimed or assumed of states: what may be looked at in any of them, or in any in which a call or an access begins.
pub fn claims(protocol: &Protocol) -> impl Iterator<Item = &Expr> {
    let invariants = protocol.invariants.iter().map(|invariant| &invariant.condition);
    let conditions = protocol.conditions.iter().map(|condition| &condition.condition);
    let leads = protocol.leads_to.iter().flat_map(|leads| [&leads.from.condition, &leads.to.condition]);
    let waits = protocol.waits.iter().map(|wait| &wait.until.condition);
    invariants.chain(conditions).chain(leads).chain(waits)
}

/// Calls `see` for each of these steps and those within them, called actions among them.
pub fn each_step<'a>(steps: &'a [Step], see: &mut impl FnMut(&'a Step)) {
    for step in steps {
        see(step);
        if let StepKind::Elsewhere(_, _, body) = &step.kind {
            each_step(body, see);
        }
        for body in inner(&step.kind) {
            each_step(body, see);
        }
    }
}

/// Calls `see` for every expression that decides what happens or whether something holds, and for all that stands in it.
pub fn each_look<'a>(protocol: &'a Protocol, see: &mut impl FnMut(&'a Expr)) {
    for handler in code(protocol) {
        each_look_of(handler, see);
    }
    claims(protocol).for_each(|claim| visit(claim, see));
}

/// The same for one piece of code.
pub fn each_look_of<'a>(handler: &'a Handler, see: &mut impl FnMut(&'a Expr)) {
    handler.guard.iter().for_each(|guard| visit(guard, see));
    each_step(&handler.steps, &mut |step| {
        expressions(&step.kind).into_iter().for_each(|expr| visit(expr, see));
    });
}

/// Whether any expression of a protocol, wherever it stands, is such a one.
pub fn any_expr(protocol: &Protocol, is: impl Fn(&ExprKind) -> bool) -> bool {
    let mut found = false;
    each_look(protocol, &mut |expr| found |= is(&expr.kind));
    found
}

/// Whether any step of a protocol's code is such a one.
pub fn any_step(protocol: &Protocol, is: impl Fn(&StepKind) -> bool) -> bool {
    code(protocol).any(|handler| any_step_of(&handler.steps, &is))
}

/// Whether any of these steps, or of those within them, is such a one.
pub fn any_step_of(steps: &[Step], is: impl Fn(&StepKind) -> bool) -> bool {
    let mut found = false;
    each_step(steps, &mut |step| found |= is(&step.kind));
    found
}

/// Whether any of these steps, or of those within them, is a `stall`.
pub fn contains_stall(steps: &[Step]) -> bool {
    any_step_of(steps, |kind| matches!(kind, StepKind::Stall))
}

/// The steps that stand in a branch or a loop.
pub fn inner(step: &StepKind) -> impl Iterator<Item = &[Step]> {
    let (first, second): (&[Step], &[Step]) = match step {
        StepKind::If(_, a, b) => (a, b),
        StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => (body, &[]),
        _ => (&[], &[]),
    };
    [first, second].into_iter()
}

/// Whether handlers perform accesses for threads that wait for them.
pub fn performs_for_threads(protocol: &Protocol) -> bool {
    any_step(protocol, |step| match step {
        StepKind::Perform(perform) => perform.asked(),
        StepKind::CompleteWith(..) => true,
        _ => false,
    })
}

/// The variable that a step itself changes.
pub fn changed_place(step: &StepKind) -> Option<&Place> {
    match step {
        StepKind::Assign(place, _)
        | StepKind::AssignElement(place, ..)
        | StepKind::Insert(place, _)
        | StepKind::Remove(place, _)
        | StepKind::Push(place, _)
        | StepKind::Pop(place, _)
        | StepKind::Clear(place) => Some(place),
        _ => None,
    }
}

/// The variable that a step itself reads or changes.
pub fn place_of(step: &StepKind) -> Option<&Place> {
    match step {
        StepKind::ForList(_, place, _) | StepKind::Send { payload: PayloadSource::List(place), .. } => Some(place),
        step => changed_place(step),
    }
}

/// The expressions that stand directly in a step, that which names the object of its variable among them.
pub fn expressions(step: &StepKind) -> Vec<&Expr> {
    let mut all = values(step);
    all.extend(place_of(step).and_then(|place| object_of(&place.owner)));
    all
}

fn values(step: &StepKind) -> Vec<&Expr> {
    match step {
        StepKind::Assign(_, values) | StepKind::Let(_, values) | StepKind::Push(_, values) => values.iter().collect(),
        StepKind::AssignElement(_, index, _, values) => std::iter::once(index).chain(values).collect(),
        StepKind::Start(_, values) => values.iter().collect(),
        StepKind::Insert(_, e) | StepKind::Remove(_, e) | StepKind::Assert(e, _) | StepKind::Compose(e) => vec![e],
        StepKind::If(e, _, _) | StepKind::ForSet(_, e, _) => vec![e],
        StepKind::ForRange(_, a, b, _) | StepKind::Store(a, b) | StepKind::CompleteWith(a, b) => vec![a, b],
        StepKind::Perform(perform) => perform.args.iter().collect(),
        StepKind::Send { args, payload, object, to, .. } => {
            let mut all: Vec<&Expr> = args.iter().chain(object).chain([to]).collect();
            match payload {
                PayloadSource::Memory { from, to } | PayloadSource::Own { from, to } => all.extend([from, to]),
                PayloadSource::BlockOf(block) => all.push(block),
                _ => {}
            }
            all
        }
        StepKind::Return { value, to } => value.iter().chain(to).collect(),
        StepKind::Install(at) => at.iter().collect(),
        StepKind::InstallOwn(at) => vec![at],
        StepKind::Copy { from, to, bytes } => vec![from, to, bytes],
        StepKind::Elsewhere(owner, _, _) => object_of(owner).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The expression that says which object's, or node's, instance an owner is.
pub fn object_of(owner: &Owner) -> Option<&Expr> {
    match owner {
        Owner::RoleOf(_, e) | Owner::At(_, e) => Some(e),
        Owner::Current | Owner::Role(_) => None,
    }
}

/// The expressions of which one is made, in the order of the text.
pub fn parts(whole: &Expr) -> Vec<&Expr> {
    match &whole.kind {
        ExprKind::Var(place) | ExprKind::Length(place) => object_of(&place.owner).into_iter().collect(),
        ExprKind::Element(place, index, _) => object_of(&place.owner).into_iter().chain([&**index]).collect(),
        ExprKind::LocalElement(_, index, _) => vec![index],
        ExprKind::InState(owner, ..) => object_of(owner).into_iter().collect(),
        ExprKind::Not(e)
        | ExprKind::Given(e)
        | ExprKind::Optional(e)
        | ExprKind::Negate(e)
        | ExprKind::SetCount(e)
        | ExprKind::Pick(e)
        | ExprKind::Index(e)
        | ExprKind::HomeOf(e)
        | ExprKind::Made(e, _)
        | ExprKind::AddressOf(e)
        | ExprKind::BytesOf(e) => {
            vec![e]
        }
        ExprKind::NodeAt(e)
        | ExprKind::BlockAt(e)
        | ExprKind::Room(_, e, _)
        | ExprKind::Memory(e)
        | ExprKind::Over(_, _, e) => vec![e],
        ExprKind::Contents(_, e) | ExprKind::Access(e) => vec![e],
        ExprKind::Binary(_, a, b) | ExprKind::SetBinary(_, a, b) | ExprKind::SetEqual(a, b) | ExprKind::In(a, b) => {
            vec![a, b]
        }
        ExprKind::ArrayEqual(a, b) => vec![a, b],
        ExprKind::SetOf(list) => list.iter().collect(),
        ExprKind::Flight(_, to) => to.iter().map(|to| &**to).collect(),
        _ => Vec::new(),
    }
}

/// Calls `see` for an expression and all that stands in it.
pub fn visit<'a>(expr: &'a Expr, see: &mut impl FnMut(&'a Expr)) {
    see(expr);
    parts(expr).into_iter().for_each(|part| visit(part, see));
}
