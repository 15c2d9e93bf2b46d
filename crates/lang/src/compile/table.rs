//! The table of a role: what every event comes to in every state, without gaps.

use super::*;
use crate::ast::Otherwise;
use std::collections::BTreeMap;
use trivium_diagnostic::Code;
use trivium_protocol::again::contains_defer;
use trivium_protocol::walk::contains_stall;

/// What an `otherwise` line says of an event, whose line it is, and where it stands.
#[derive(Clone, Copy)]
struct Fallback {
    what: Otherwise,
    by: ExcludedBy,
    span: Span,
}

impl Compiler {
    /// The role's table: every event in every state, or a mistake for each gap.
    pub(super) fn table(&mut self, r: usize, ast: &ast::Role) {
        let mut events: Vec<EventKind> = Vec::new();
        if self.protocol.roles[r].object == BLOCK && self.gives_access(r) {
            events.extend([EventKind::Read, EventKind::Write]);
            if self.protocol.cached {
                events.push(EventKind::WriteBack);
            }
        }
        if self.composes(r) {
            events.push(EventKind::Image);
            // Only an exclusive line has something to write back.
            let fills = |step: &StepKind| matches!(step, StepKind::Fill(Line::Exclusive) | StepKind::Upgrade);
            if self.protocol.roles[r].handlers.iter().any(|h| trivium_protocol::walk::any_step_of(&h.steps, fills)) {
                events.push(EventKind::WriteBack);
            }
        }
        events.extend(self.answers[r].iter().flat_map(|a| a.list.iter().map(|(e, _)| *e)));
        events.sort();
        events.dedup();
        let mut table = Vec::new();
        for s in 0..self.protocol.roles[r].states.len() {
            let row = events.iter().map(|&e| self.cell(r, s, e, ast)).collect();
            table.push(row);
        }
        self.note_unanswered(r);
        for exception in &ast.exceptions {
            self.except(r, exception, &events, &mut table);
        }
        let deferring: Vec<HandlerId> = handlers_that_defer(&self.protocol.roles[r]);
        let may_defer = |column: usize| {
            table.iter().any(|row: &Vec<Response>| match &row[column] {
                Response::Defer => true,
                Response::Handle(list) => list.iter().any(|h| deferring.contains(h)),
                _ => false,
            })
        };
        self.check_hints(r, &events, &table, &deferring);
        let deferrable: Vec<EventKind> =
            events.iter().enumerate().filter(|(i, _)| may_defer(*i)).map(|(_, e)| *e).collect();
        self.check_told(r, &events, &table);
        let role = &mut self.protocol.roles[r];
        role.deferrable = deferrable;
        role.events = events;
        role.table = table;
    }

    /// Whether this role composes the image of its objects.
    fn composes(&self, r: usize) -> bool {
        self.answers[r].iter().flat_map(|state| &state.list).any(|(event, _)| *event == EventKind::Image)
    }

    /// The thread that tells an event goes on: the event cannot be kept.
    fn check_told(&mut self, r: usize, events: &[EventKind], table: &[Vec<Response>]) {
        for (column, event) in events.iter().enumerate() {
            let EventKind::Op(op) = event else { continue };
            let (role, op) = (&self.protocol.roles[r], &self.protocol.ops[op.index()]);
            let keeps = |id: &HandlerId| {
                let steps = &role.handlers[id.index()].steps;
                contains_defer(steps) || contains_stall(steps)
            };
            let is_kept = |row: &Vec<Response>| match &row[column] {
                Response::Defer | Response::Hold => true,
                Response::Handle(list) => list.iter().any(keeps),
                _ => false,
            };
            if let Some(state) = table.iter().position(is_kept).filter(|_| op.is_told()) {
                let (span, name, state) = (role.span, op.name.clone(), role.states[state].name.clone());
                self.error(
                    Code::Answer,
                    span,
                    format!("`{name}` is told: nobody waits while it is deferred or stalls in state `{state}`"),
                )
                .help(format!(
                    "note in a variable that it has come, or give it a result, `event {name}: bool`, and `ask` it"
                ));
            }
        }
    }

    /// A hint is answered at once or ignored: nobody asks for it again, and it is not kept.
    fn check_hints(&mut self, r: usize, events: &[EventKind], table: &[Vec<Response>], deferring: &[HandlerId]) {
        for (column, event) in events.iter().enumerate().filter(|(_, event)| event.is_hint()) {
            let handlers = table.iter().flat_map(|row| match &row[column] {
                Response::Handle(list) => &list[..],
                _ => &[],
            });
            for handler in handlers.filter(|handler| deferring.contains(handler)).copied().collect::<Vec<_>>() {
                let span = self.protocol.roles[r].handlers[handler.index()].span;
                let name = self.protocol.event_name(*event);
                self.error(Code::Answer, span, format!("a handler of `{name}` defers it, and a hint is not kept"))
                    .help("do nothing instead: whoever needs the block asks for it");
            }
        }
    }

    /// `in STATE on EVENT impossible`: a pair that would have an answer cannot happen.
    fn except(&mut self, r: usize, exception: &ast::Exception, events: &[EventKind], table: &mut [Vec<Response>]) {
        let states = self.protocol.roles[r].states.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
        let Some(s) = states.iter().position(|name| *name == exception.state.text) else {
            let (span, name) = (exception.state.span, &exception.state.text);
            return self.unknown(span, "state", name, states.iter().map(String::as_str));
        };
        for event in &exception.events {
            let names = events.iter().map(|&e| self.protocol.event_name(e)).collect::<Vec<_>>();
            let Some(column) = names.iter().position(|name| *name == event.text) else {
                self.unknown(event.span, "event", &event.text, names.iter().map(String::as_str));
                continue;
            };
            if events[column].is_hint() {
                self.error(Code::Answer, event.span, format!("`{}` is a hint: it cannot be impossible", event.text))
                    .help("leave it out: where nothing answers it, nothing happens");
                continue;
            }
            let response = &mut table[s][column];
            if matches!(response, Response::Impossible | Response::Passes) {
                self.error(
                    Code::Answer,
                    event.span,
                    format!("`{}` is impossible in `{}` already", event.text, states[s]),
                )
                .help("remove it from this line");
            } else {
                *response = Response::Impossible;
                // What the handlers that it takes back would have said counts no more.
                let about = |exclusion: &Exclusion| exclusion.state.index() == s && exclusion.event == events[column];
                self.protocol.roles[r].exclusions.retain(|exclusion| !about(exclusion));
                self.refuse(r, s, events[column], ExcludedBy::Exception, event.span);
            }
        }
    }

    /// Notes why an event is impossible in a state.
    pub(super) fn refuse(&mut self, r: usize, s: usize, event: EventKind, by: ExcludedBy, span: Span) {
        self.protocol.roles[r].exclusions.push(Exclusion { state: StateId(s as u16), event, by, span });
    }

    pub(super) fn gives_access(&self, r: usize) -> bool {
        let named = |e: &EventKind| matches!(e, EventKind::Read | EventKind::Write | EventKind::Rmw);
        self.protocol.roles[r].states.iter().any(|s| s.access != Access::None)
            || self.answers[r].iter().any(|a| a.list.iter().any(|(e, _)| named(e)))
    }

    fn cell(&mut self, r: usize, s: usize, event: EventKind, ast: &ast::Role) -> Response {
        let state = &self.protocol.roles[r].states[s];
        if event.wants().is_some_and(|wanted| state.access >= wanted) {
            return Response::Passes;
        }
        let otherwise = self.otherwise(r, s, event, ast);
        let answer = self.answers[r][s].list.iter().find(|(e, _)| *e == event).map(|(_, a)| a);
        match answer {
            Some(Answer::Direct(Otherwise::Defer, _)) => Response::Defer,
            Some(Answer::Direct(Otherwise::Stall, _)) => Response::Hold,
            Some(Answer::Direct(Otherwise::Impossible, span)) => {
                let span = *span;
                self.refuse(r, s, event, ExcludedBy::Clause, span);
                Response::Impossible
            }
            Some(Answer::Handlers(list)) => {
                let list = list.clone();
                self.with_fallback(r, s, event, list, otherwise)
            }
            None if otherwise.is_none() && self.is_excepted(r, s, event, ast) => Response::Hold,
            None => self.unanswered(r, s, event, otherwise),
        }
    }

    /// Whether a line `in STATE on EVENT impossible` is about this pair.
    fn is_excepted(&self, r: usize, s: usize, event: EventKind, ast: &ast::Role) -> bool {
        let state = &self.protocol.roles[r].states[s].name;
        let name = self.protocol.event_name(event);
        ast.exceptions.iter().any(|e| e.state.text == *state && e.events.iter().any(|e| e.text == name))
    }

    /// What a state does about an event that it does not name: what its own `otherwise` line says, and else, for
    /// messages, the role's.
    fn otherwise(&self, r: usize, s: usize, event: EventKind, ast: &ast::Role) -> Option<Fallback> {
        let of_role = ast.otherwise.filter(|_| matches!(event, EventKind::Message(_)));
        let of_state = self.answers[r][s].otherwise.map(|(what, span)| Fallback { what, by: ExcludedBy::State, span });
        of_state.or_else(|| of_role.map(|(what, span)| Fallback { what, by: ExcludedBy::Role, span }))
    }

    /// Whether an event is an answer: a message that only awaits of the role name.
    fn is_answer(&self, r: usize, event: EventKind) -> bool {
        let mut states = self.protocol.roles[r].states.iter().zip(&self.answers[r]);
        let names = |answers: &Answers| answers.list.iter().any(|(named, _)| *named == event);
        matches!(event, EventKind::Message(_)) && states.all(|(state, answers)| state.waiting || !names(answers))
    }

    /// Guarded clauses that may all fail are followed by what `otherwise` says.
    fn with_fallback(
        &mut self,
        r: usize,
        s: usize,
        event: EventKind,
        mut list: Vec<HandlerId>,
        otherwise: Option<Fallback>,
    ) -> Response {
        let last = list.last().expect("a clause has a handler").index();
        if !self.is_guarded(r, &list) {
            return Response::Handle(list);
        }
        let span = self.protocol.roles[r].handlers[last].span;
        if event.is_hint() {
            list.push(self.fallback(r, s, &list, None, span));
            return Response::Handle(list);
        }
        let Some(what) = otherwise else {
            let name = self.protocol.event_name(event);
            self.error(Code::Answer, span, format!("all guards for `{name}` may be false"))
                .help(format!("add a clause `on {name} {{ .. }}` without guard behind it"));
            return Response::Impossible;
        };
        if what.what == Otherwise::Impossible {
            self.refuse(r, s, event, what.by, what.span);
        }
        list.push(self.fallback(r, s, &list, Some(what.what), span));
        Response::Handle(list)
    }

    fn unanswered(&mut self, r: usize, s: usize, event: EventKind, otherwise: Option<Fallback>) -> Response {
        let waiting = self.protocol.roles[r].states[s].waiting;
        match (otherwise, event) {
            (_, EventKind::Timer | EventKind::Prefetch | EventKind::PrefetchWrite) => Response::Hold,
            (_, EventKind::Evict) if !self.protocol.cached => Response::Hold,
            // What the processor's cache gave up waits on its way to the engine.
            (None, EventKind::Evict | EventKind::WriteBack) if waiting => Response::Hold,
            (Some(Fallback { what: what @ (Otherwise::Defer | Otherwise::Stall), by, .. }), _) => {
                if by == ExcludedBy::State && self.is_answer(r, event) {
                    self.protocol.roles[r].kept_answers.push((StateId(s as u16), event));
                }
                if what == Otherwise::Defer { Response::Defer } else { Response::Hold }
            }
            (Some(Fallback { what: Otherwise::Impossible, by, span }), _) => {
                self.refuse(r, s, event, by, span);
                Response::Impossible
            }
            (
                None,
                EventKind::Read
                | EventKind::Write
                | EventKind::Rmw
                | EventKind::Image
                | EventKind::Op(_)
                | EventKind::Task(_),
            ) if waiting => Response::Hold,
            (None, _) => {
                self.unanswered.push((s, event));
                Response::Impossible
            }
        }
    }

    /// Notes what no state of a role answers: events that the same states leave open are one mistake.
    fn note_unanswered(&mut self, r: usize) {
        let mut states: BTreeMap<EventKind, Vec<usize>> = BTreeMap::new();
        for (s, event) in std::mem::take(&mut self.unanswered) {
            states.entry(event).or_default().push(s);
        }
        let mut alike: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
        for (event, states) in states {
            alike.entry(states).or_default().push(self.protocol.event_name(event).to_string());
        }
        for (states, events) in alike {
            let role = &self.protocol.roles[r];
            // The states that awaits make are answered where they wait.
            let (waiting, own): (Vec<usize>, Vec<usize>) = states.iter().partition(|&&s| role.states[s].waiting);
            for (states, waiting) in [(own, false), (waiting, true)] {
                if !states.is_empty() {
                    self.note_states_without(r, &states, &events, waiting);
                }
            }
        }
    }

    fn note_states_without(&mut self, r: usize, states: &[usize], events: &[String], waiting: bool) {
        let role = &self.protocol.roles[r];
        let names: Vec<&str> = states.iter().map(|&s| role.states[s].name.as_str()).collect();
        let spans: Vec<Span> = states.iter().map(|&s| role.states[s].span).collect();
        let message = format!(
            "`{}` does not say what happens to {} in {} {}",
            role.name,
            listed(events),
            if states.len() == 1 { "state" } else { "states" },
            listed(&names)
        );
        let on = format!("on {}", events.join(", "));
        let help = match (waiting, events, &names[..]) {
            (true, _, _) => format!("add `while waiting {on} {{ .. }}` or `otherwise defer` to the await"),
            (false, [event], [_]) => {
                format!("add `on {event} {{ .. }}`, `on {event} defer` or `on {event} impossible`")
            }
            (false, _, [_]) => format!("add an answer to each, or to all: `{on} defer`, `{on} impossible`"),
            (false, _, _) => format!(
                "add an answer to each state; where these events cannot happen: `in {} {on} impossible`",
                names.join(", ")
            ),
        };
        self.diagnostics.error_at(Code::Answer, &spans, message).help(help);
    }
}

/// `a`, `b` and `c`.
fn listed(names: &[impl AsRef<str>]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

fn handlers_that_defer(role: &Role) -> Vec<HandlerId> {
    let ids = role.handlers.iter().enumerate().filter(|(_, handler)| contains_defer(&handler.steps));
    ids.map(|(i, _)| HandlerId(i as u16)).collect()
}
