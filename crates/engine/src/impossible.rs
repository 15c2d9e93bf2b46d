//! What is said of an event that a protocol calls impossible: which line says so, and which guards did not hold.

use trivium_protocol::source::Span;
use trivium_protocol::{EventKind, ExcludedBy, Handler, Protocol, Response, Role, RoleId, StateId, Step, StepKind};

/// Why an event was impossible for a role in a state, and where the text says so. `at` is where the fault was met.
#[cold]
pub(crate) fn impossible(
    protocol: &Protocol,
    (role, state): (RoleId, StateId),
    event: EventKind,
    at: Span,
) -> (String, Span) {
    let declared = &protocol.roles[role.index()];
    let (name, of) = (protocol.event_name(event), &declared.states[state.index()].name);
    let handlers = handlers(declared, state, event);
    // A handler that only says `impossible`, and stands where all guards have failed, is what a line makes of the event.
    let reached = handlers.iter().position(|handler| has_step(&handler.steps, at));
    let is_line = reached.is_none_or(|place| is_fallback(handlers[place]));
    let tried = &handlers[..reached.unwrap_or(handlers.len())];
    let guards = guards(protocol, tried);
    match declared.exclusion(state, event) {
        Some(exclusion) if is_line => {
            let by = match exclusion.by {
                ExcludedBy::Clause => format!("`on {name} impossible` of {of}"),
                ExcludedBy::Exception => format!("the line `in {of} on {name} impossible`"),
                ExcludedBy::State if guards.is_empty() => {
                    format!("`otherwise impossible` of {of}, which does not name it")
                }
                ExcludedBy::State => format!("`otherwise impossible` of {of}"),
                ExcludedBy::Role if guards.is_empty() => {
                    format!("`otherwise impossible` of the role, since {of} does not name it")
                }
                ExcludedBy::Role => "`otherwise impossible` of the role".into(),
            };
            (format!("this was declared impossible by {by}{guards}"), exclusion.span)
        }
        _ if !handlers.is_empty() => (format!("the step `impossible` was reached{guards}"), at),
        _ if response(declared, state, event) == Some(&Response::Passes) => {
            (format!("{of} gives this access, so that nobody asks for it"), at)
        }
        _ => ("this was declared impossible".into(), at),
    }
}

/// What a state says of an event.
fn response(role: &Role, state: StateId, event: EventKind) -> Option<&Response> {
    role.table.get(state.index())?.get(role.column(event)?)
}

/// The handlers that a state tries for an event, in their order.
fn handlers(role: &Role, state: StateId, event: EventKind) -> Vec<&Handler> {
    match response(role, state, event) {
        Some(Response::Handle(ids)) => ids.iter().map(|id| &role.handlers[id.index()]).collect(),
        _ => Vec::new(),
    }
}

/// Whether steps say `impossible` there.
fn has_step(steps: &[Step], at: Span) -> bool {
    steps.iter().any(|step| match &step.kind {
        StepKind::Impossible => step.span == at,
        StepKind::If(_, yes, no) => has_step(yes, at) || has_step(no, at),
        StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
            has_step(body, at)
        }
        _ => false,
    })
}

/// Whether a handler is what the compiler adds after the last clause with a guard.
fn is_fallback(handler: &Handler) -> bool {
    handler.guard.is_none() && handler.name.ends_with(".otherwise")
}

/// `; the guard `x == 1` did not hold`, or nothing where none was tried.
fn guards(protocol: &Protocol, tried: &[&Handler]) -> String {
    let guards = tried.iter().filter_map(|handler| handler.guard.as_ref());
    let said: Vec<String> = guards
        .map(|guard| {
            let text = protocol.sources.excerpt(guard.span).split_whitespace().collect::<Vec<_>>().join(" ");
            format!("`{text}`")
        })
        .collect();
    match said.len() {
        0 => String::new(),
        1 => format!("; the guard {} did not hold", said[0]),
        _ => format!("; the guards {} did not hold", said.join(", ")),
    }
}
