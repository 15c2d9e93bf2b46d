//! What stands in steps and in expressions, in the order of the text.

use crate::*;

/// The steps that stand in a branch or a loop.
pub fn inner(step: &StepKind) -> impl Iterator<Item = &[Step]> {
    let (first, second): (&[Step], &[Step]) = match step {
        StepKind::If(_, a, b) => (a, b),
        StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => (body, &[]),
        _ => (&[], &[]),
    };
    [first, second].into_iter()
}

/// Whether any step of a protocol's handlers is such a one.
pub fn any_step(protocol: &Protocol, is: fn(&StepKind) -> bool) -> bool {
    fn any(steps: &[Step], is: fn(&StepKind) -> bool) -> bool {
        steps.iter().any(|step| {
            let elsewhere = matches!(&step.kind, StepKind::Elsewhere(_, _, body) if any(body, is));
            elsewhere || is(&step.kind) || inner(&step.kind).any(|body| any(body, is))
        })
    }
    protocol.roles.iter().flat_map(|role| &role.handlers).any(|handler| any(&handler.steps, is))
}

/// Whether handlers perform accesses for threads that wait for them.
pub fn performs_for_threads(protocol: &Protocol) -> bool {
    any_step(protocol, |step| match step {
        StepKind::Perform(perform) => perform.asked(),
        StepKind::CompleteWith(..) => true,
        _ => false,
    })
}

/// The variable that a step itself reads or changes.
pub fn place_of(step: &StepKind) -> Option<&Place> {
    match step {
        StepKind::Assign(place, _)
        | StepKind::Insert(place, _)
        | StepKind::Remove(place, _)
        | StepKind::Push(place, _)
        | StepKind::Pop(place, _)
        | StepKind::Clear(place)
        | StepKind::ForList(_, place, _)
        | StepKind::Send { payload: PayloadSource::List(place), .. } => Some(place),
        _ => None,
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
        StepKind::Start(_, values) => values.iter().collect(),
        StepKind::Insert(_, e) | StepKind::Remove(_, e) | StepKind::Assert(e) => vec![e],
        StepKind::If(e, _, _) | StepKind::ForSet(_, e, _) => vec![e],
        StepKind::ForRange(_, a, b, _) | StepKind::Store(a, b) | StepKind::CompleteWith(a, b) => vec![a, b],
        StepKind::Perform(perform) => perform.args.iter().collect(),
        StepKind::Send { args, payload, object, to, .. } => {
            let mut all: Vec<&Expr> = args.iter().chain(object).chain([to]).collect();
            if let PayloadSource::Memory { from, to } | PayloadSource::Own { from, to } = payload {
                all.extend([from, to]);
            }
            all
        }
        StepKind::Return { value, to } => value.iter().chain(to).collect(),
        StepKind::Install(at) => at.iter().collect(),
        StepKind::InstallOwn(at) => vec![at],
        StepKind::Copy { from, to, bytes } => vec![from, to, bytes],
        StepKind::Invoke(f, args) => [f].into_iter().chain(args).collect(),
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
        ExprKind::InState(owner, ..) => object_of(owner).into_iter().collect(),
        ExprKind::Not(e) | ExprKind::Negate(e) | ExprKind::SetCount(e) | ExprKind::Pick(e) | ExprKind::Index(e) => {
            vec![e]
        }
        ExprKind::NodeAt(e) | ExprKind::Room(_, e) | ExprKind::Memory(e) | ExprKind::Over(_, _, e) => vec![e],
        ExprKind::Contents(_, e) | ExprKind::Access(e) => vec![e],
        ExprKind::Binary(_, a, b) | ExprKind::SetBinary(_, a, b) | ExprKind::SetEqual(a, b) | ExprKind::In(a, b) => {
            vec![a, b]
        }
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
