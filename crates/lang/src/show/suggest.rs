//! What could be promised about contents, as text for the protocol's file.

use std::fmt::Write;
use trivium_protocol::walk::{any_step_of, each_step};
use trivium_protocol::*;

/// A ghost that remembers the last store, and for each state that gives access the invariant that the node's copy is that store
/// unless a message that takes it away, or brings another one, is on its way to the node; with cached processors the same of their lines.
/// `None` where nothing gives access to a block.
///
/// ```
/// let text = "protocol alone\nrole home of block { state Here: write { } }";
/// let protocol = trivium_lang::compile("alone.tri", text, &Default::default()).unwrap();
/// let proposed = trivium_lang::show::suggest(&protocol).unwrap();
/// assert!(proposed.contains("invariant stored_in_home_Here of block: all n: not (home at n is Here) or contents at n == stored.last"));
/// assert!(trivium_lang::compile("alone.tri", &format!("{text}\n{proposed}"), &Default::default()).is_ok());
/// ```
pub fn suggest(protocol: &Protocol) -> Option<String> {
    let mut ghost = "stored".to_string();
    while protocol.roles.iter().any(|role| role.name == ghost) {
        ghost.push('_');
    }
    let mut invariants = String::new();
    let (mut named, mut taking, mut waits) = (String::new(), Vec::new(), false);
    for role in protocol.roles.iter().filter(|role| role.object == BLOCK && role.kind != RoleKind::Ghost) {
        for (s, state) in role.states.iter().enumerate().filter(|(_, state)| state.access != Access::None) {
            let messages = takes_away(protocol, role, s);
            if state.waiting {
                waits = true;
                taking.extend(messages);
                continue;
            }
            let at = format!("{} at n is {}", role.name, state.name);
            let _ = write!(named, " or {at}");
            let name = free(protocol, format!("{ghost}_in_{}_{}", role.name, state.name));
            claim(&mut invariants, &name, &format!("not ({at})"), &ghost, &messages);
        }
    }
    // States of an `await` have no names in claims: they are those with access that are none of the others.
    if waits {
        taking.sort();
        taking.dedup();
        claim(
            &mut invariants,
            &free(protocol, format!("{ghost}_while_waiting")),
            &format!("access at n is none{named}"),
            &ghost,
            &taking,
        );
    }
    if protocol.cached && protocol.roles.iter().any(|role| role.object == BLOCK) {
        // Not a role's state gives access there, but the line of the processor's cache.
        let roles = protocol.roles.iter().filter(|role| role.object == BLOCK);
        let mut messages: Vec<String> = roles.flat_map(|role| takes_line(protocol, role)).collect();
        messages.sort();
        messages.dedup();
        for access in ["read", "write"] {
            let name = free(protocol, format!("{ghost}_where_{access}"));
            claim(&mut invariants, &name, &format!("not (access at n is {access})"), &ghost, &messages);
        }
    }
    let head = remark(protocol).unwrap_or_default()
        + &format!("ghost {ghost} of block {{\n  var last: word\n  on write(n, v) {{ last = v }}\n}}\n");
    (!invariants.is_empty()).then_some(head + &invariants)
}

/// A name that no invariant has.
fn free(protocol: &Protocol, mut name: String) -> String {
    while protocol.invariants.iter().any(|invariant| invariant.name == name) {
        name.push('_');
    }
    name
}

/// A remark where the protocol promises less than the proposal says.
fn remark(protocol: &Protocol) -> Option<String> {
    let weaker = protocol.promises.iter().find(|promise| promise.is_weaker() || **promise == Promise::LastPhase)?;
    Some(format!(
        "// The file promises `{}`, which is less than that each copy is the last store: what follows may be too much.\n",
        protocol.promise_name(weaker)
    ))
}

fn claim(text: &mut String, name: &str, unless: &str, ghost: &str, messages: &[String]) {
    let under_way: String = messages.iter().map(|message| format!(" or flight({message} to n) > 0")).collect();
    let _ = writeln!(text, "invariant {name} of block: all n: {unless} or contents at n == {ghost}.last{under_way}");
}

/// The messages that may take the line of the processor's cache.
fn takes_line(protocol: &Protocol, role: &Role) -> Vec<String> {
    let takes = |step: &StepKind| matches!(step, StepKind::Invalidate | StepKind::Take(_));
    let handlers = role.handlers.iter().filter(|handler| any_step_of(&handler.steps, takes));
    let messages = handlers.filter_map(|handler| match handler.event {
        EventKind::Message(message) => Some(protocol.messages[message.index()].name.clone()),
        _ => None,
    });
    messages.collect()
}

/// The messages that, in a state, may lower the access or bring other contents.
fn takes_away(protocol: &Protocol, role: &Role, state: usize) -> Vec<String> {
    let access = role.states[state].access;
    let takes = |handler: &Handler| {
        let mut found = false;
        each_step(&handler.steps, &mut |step| {
            found |= match &step.kind {
                StepKind::Goto(next) => role.states.get(next.index()).is_some_and(|next| next.access < access),
                StepKind::Install(_) => true,
                _ => false,
            }
        });
        found
    };
    let columns = role.events.iter().zip(&role.table[state]);
    let taking = columns.filter_map(|(event, response)| match (event, response) {
        (EventKind::Message(message), Response::Handle(handlers)) => {
            let any = handlers.iter().any(|handler| takes(&role.handlers[handler.index()]));
            any.then(|| protocol.messages[message.index()].name.clone())
        }
        _ => None,
    });
    taking.collect()
}
