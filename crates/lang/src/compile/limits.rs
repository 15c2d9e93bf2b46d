//! How many there may be of anything that has a number: identifiers are small, and none may be cut short.

use super::*;
use trivium_diagnostic::Code;

/// Most states of a role, those that awaits make among them.
pub(super) const MAX_STATES: usize = 1000;
/// Most lanes, roles and kinds of object: their numbers are a byte.
const MAX_BYTE: usize = 250;
/// Most messages, calls, tasks and records of a protocol, and variables of a role that have a name.
const MAX_NAMED: usize = 1000;
/// Most handlers of a role, and variables with those that awaits keep: their numbers are two bytes.
const MAX_SHORT: usize = 65_000;

impl Compiler {
    /// Notes what there is too much of; whether there is.
    pub(super) fn too_many(&mut self) -> bool {
        let p = &self.protocol;
        let whole = self.first_span();
        let mut counts: Vec<(usize, usize, &str, Span)> = vec![
            (p.lanes.len(), MAX_BYTE, "lanes", p.lanes.last().map_or(whole, |l| l.span)),
            (p.roles.len(), MAX_BYTE, "roles", p.roles.last().map_or(whole, |r| r.span)),
            (p.objects.len(), MAX_BYTE, "kinds of object", whole),
            (p.messages.len(), MAX_NAMED, "messages", p.messages.last().map_or(whole, |m| m.span)),
            (p.ops.len(), MAX_NAMED, "calls", p.ops.last().map_or(whole, |o| o.span)),
            (p.tasks.len(), MAX_NAMED, "tasks", whole),
            (p.records.len(), MAX_NAMED, "records", whole),
        ];
        for role in &p.roles {
            let named = role.vars.iter().filter(|v| !v.name.starts_with('$')).count();
            counts.push((named, MAX_NAMED, "variables of a role", role.span));
            counts.push((role.vars.len(), MAX_SHORT, "variables of a role, with what its awaits keep,", role.span));
            counts.push((role.handlers.len(), MAX_SHORT, "handlers of a role", role.span));
            counts.push((role.states.len(), MAX_STATES + 1, "states of a role", role.span));
        }
        let found: Vec<_> = counts.into_iter().filter(|(count, most, ..)| count > most).collect();
        for (_, most, what, span) in &found {
            self.error(Code::Size, *span, format!("{most} {what} are possible, not more"))
                .help("declare less, or make it two protocols");
        }
        !found.is_empty()
    }

    /// Where the file begins.
    fn first_span(&self) -> Span {
        Span { file: 0, start: 0, end: 1 }
    }
}
