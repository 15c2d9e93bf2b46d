//! What an event would come to, as functions of a model: a handler is followed as far as nothing has happened. So it is known whether an event
//! stalls, and whether one that was deferred would be deferred again.
//!
//! The meaning is written a second time here, from the steps of the handlers, and not from what the engine says.

use super::Export;
use super::handlers::Happening;
use super::names::{AGAIN, I, INT, ME, NODES, O, SENDER, THR, arguments, locals};
use super::network::arguments_in;
use super::records::has_caller;
use super::steps::Writer;
use crate::model::{BOOLEAN, Block, Expr, Program, Routine, Term, any, call, function, procedure};
use trivium_protocol::again::{contains_defer, is_tried_by_look, seen_once};
use trivium_protocol::walk::contains_stall;
use trivium_protocol::{EventKind, Handler, Response, Role, RoleId, StateId, Step, StepKind};

/// What the functions say: something happens, the event stalls, or it is deferred.
const HAPPENS: u8 = 0;
const STALLS: u8 = 1;
const DEFERS: u8 = 2;

impl Export<'_> {
    /// Whether an event may stall at a role, in some state.
    pub fn may_stall(&self, role: RoleId, column: usize) -> bool {
        let declared = self.role(role);
        declared.table.iter().any(|row| may_stall(declared, &row[column], declared.events[column]))
    }

    /// The condition that the event does not stall; none if it never does.
    pub fn not_stalled(&self, role: RoleId, column: usize, event: Happening) -> Option<Expr> {
        let may = self.may_stall(role, column);
        may.then(|| !call(format!("stalls{}_{column}", role.0), event.asked()))
    }

    /// Whether what the event would come to is asked, in some state.
    fn is_asked(&self, role: RoleId, column: usize) -> bool {
        let declared = self.role(role);
        self.may_stall(role, column) || declared.table.iter().any(|row| is_tried_by_look(declared, &row[column]))
    }

    /// For each role and event of which that is asked: `wayR_C(me, o, sender, thr, ..)`, and `stallsR_C` where it may stall.
    pub fn trials(&self, program: &mut Program) {
        for (id, role) in self.roles() {
            for column in (0..role.events.len()).filter(|&column| self.is_asked(id, column)) {
                self.handlers_tried(id, role, column, program);
                self.way(id, role, column, program);
                if !self.may_stall(id, column) {
                    continue;
                }
                let way = || Self::way_of(id, column, self.passed_on(role, column));
                let head = function(format!("stalls{}_{column}", id.0), BOOLEAN);
                program.define(self.takes_event(head, role, column), |out| {
                    let pushes = pushes_back(role, role.events[column]);
                    let full = pushes.then(|| way().is(DEFERS) & self.is_full(id));
                    out.give(any([way().is(STALLS)].into_iter().chain(full)));
                });
            }
        }
        for (id, role) in self.roles().filter(|(_, role)| self.looks(role)) {
            self.look(id, role, program);
        }
    }

    /// Whether a role defers events that are tried again when some record of the node has changed.
    fn looks(&self, role: &Role) -> bool {
        role.defers.is_some() && role.table.iter().flatten().any(|response| is_tried_by_look(role, response))
    }

    /// When a handler of node `me` has ended: deferred events whose answer is another one by now are tried again.
    pub fn look_at_deferred(&self, out: &mut Block) {
        for (id, role) in self.roles().filter(|(_, role)| self.looks(role)) {
            out.for_each(O, self.object_type(role.object), |out| out.call(format!("look{}", id.0), (ME, O)));
        }
    }

    /// The first deferred event of a record that was tried, and whose answer is another one by now, is the next to be tried.
    fn look(&self, id: RoleId, role: &Role, program: &mut Program) {
        let kept = || Self::kept(id).at(ME).at(O);
        let event = |field: &'static str| kept().field("e").at(I).field(field);
        let head = procedure(format!("look{}", id.0)).takes(ME, NODES).takes(O, self.object_type(role.object));
        program.define(head.local(I, INT).local(AGAIN, BOOLEAN), |out| {
            if let Some(lives) = self.lives(id, ME, O) {
                out.when(!lives, Block::leave);
            }
            out.assign(I, 0);
            out.while_(I.lt(kept().field("cursor")) & I.lt(kept().field("n")), |out| {
                out.assign(AGAIN, false);
                for &kind in &role.deferrable {
                    let Some(column) = role.column(kind) else { continue };
                    let states = role.table.iter().enumerate().filter(|(_, row)| is_tried_by_look(role, &row[column]));
                    let states: Vec<Expr> =
                        states.map(|(state, _)| self.is_in(id, StateId::at(state), ME, O)).collect();
                    if states.is_empty() {
                        continue;
                    }
                    let args = arguments_in(&kept().field("e").at(I), self.arguments_of(kind).len());
                    let asked = Happening::of(ME, O).from(event("s")).with(args);
                    let asked = if has_caller(kind) { asked.by(event("t")) } else { asked };
                    let way = Self::way_of(id, column, asked);
                    // What a thread wants is held by then; a message stays where it is.
                    let other = if has_caller(kind) { way.differs_from(DEFERS) } else { way.is(HAPPENS) };
                    out.when(event("c").is(column + 1) & any(states), |out| out.assign(AGAIN, other));
                }
                out.when(AGAIN, |out| {
                    out.assign(kept().field("cursor"), I);
                    out.leave();
                });
                out.increase(I, 1);
            });
        });
    }

    /// What an event would come to.
    fn way_of(role: RoleId, column: usize, event: Happening) -> Expr {
        call(format!("way{}_{column}", role.0), event.asked())
    }

    /// The parameters of a function about an event.
    fn takes_event(&self, head: Routine, role: &Role, column: usize) -> Routine {
        let own = self.arguments_of(role.events[column]).len();
        self.takes_record(head, role).takes_each(arguments(own), &INT)
    }

    /// The parameters of a routine about an event of a role, but for the event's own arguments.
    pub fn takes_record(&self, head: Routine, role: &Role) -> Routine {
        head.takes(ME, NODES).takes(O, self.object_type(role.object)).takes(SENDER, NODES).takes(THR, INT)
    }

    /// The event that a routine about it is given, as it is passed on.
    pub fn passed_on(&self, role: &Role, column: usize) -> Happening {
        let own = self.arguments_of(role.events[column]).len();
        Happening::of(ME, O).from(SENDER).by(THR).with(arguments(own).map(Expr::from).collect())
    }

    /// What each handler that may stall or defer comes to: `trialR_H(me, o, sender, thr, ..)`.
    fn handlers_tried(&self, id: RoleId, role: &Role, column: usize, program: &mut Program) {
        for (h, handler) in role.handlers.iter().enumerate() {
            if handler.event != role.events[column] || !is_followed(handler) {
                continue;
            }
            let mut writer = Writer::new(self, id, column, handler);
            let mut body = Block::default();
            follow(&mut writer, &handler.steps, &mut body);
            let own = self.locals(handler);
            let head = self.takes_record(function(format!("trial{}_{h}", id.0), INT), role);
            let head = head.takes_each(locals(usize::from(handler.args)), &INT);
            let head = head.locals(own.iter().map(|local| local.clone().of(INT))).locals(writer.declared);
            program.define(head, |out| {
                own.iter().for_each(|local| out.assign(local, 0));
                out.include(body);
                out.give(HAPPENS);
            });
        }
    }

    fn way(&self, id: RoleId, role: &Role, column: usize, program: &mut Program) {
        let event = role.events[column];
        let passed = || self.passed_on(role, column).asked();
        let head = function(format!("way{}_{column}", id.0), INT);
        program.define(self.takes_event(head, role, column), |out| {
            if let Some(lives) = self.lives(id, ME, O) {
                out.when(!lives, |out| out.give(HAPPENS));
            }
            out.switch(self.state(id, ME, O), |states| {
                for state in 0..role.states.len() {
                    let response = &role.table[state][column];
                    if !may_stall(role, response, event) && !is_tried_by_look(role, response) {
                        continue;
                    }
                    states.case(self.state_name(id, StateId::at(state)), |out| {
                        let Response::Handle(handlers) = response else {
                            return out.give(if *response == Response::Defer { DEFERS } else { STALLS });
                        };
                        for h in handlers {
                            let handler = &role.handlers[h.index()];
                            let way = match is_followed(handler) {
                                true => call(format!("trial{}_{}", id.0, h.0), passed()),
                                false => HAPPENS.into(),
                            };
                            match handler.guard {
                                Some(_) => out.when(Self::guard(id, *h, passed()), |out| out.give(way)),
                                None => out.give(way),
                            }
                        }
                    });
                }
            });
            out.give(HAPPENS);
        });
    }
}

/// Whether a handler is followed to a `stall` or `defer`.
fn is_followed(handler: &Handler) -> bool {
    contains_stall(&handler.steps) || contains_defer(&handler.steps)
}

/// Whether an event stalls that a role would defer and has no place for.
fn pushes_back(role: &Role, event: EventKind) -> bool {
    role.pushes_back && !matches!(event, EventKind::Task(_))
}

fn may_stall(role: &Role, response: &Response, event: EventKind) -> bool {
    match response {
        Response::Hold => matches!(event, EventKind::Message(_)),
        Response::Defer => pushes_back(role, event),
        Response::Handle(handlers) => handlers.iter().any(|h| {
            let steps = &role.handlers[h.index()].steps;
            contains_stall(steps) || pushes_back(role, event) && contains_defer(steps)
        }),
        _ => false,
    }
}

/// Locals and branches up to the first step that does anything, or looks at what cannot be looked at again.
fn follow(writer: &mut Writer, steps: &[Step], out: &mut Block) {
    for step in steps {
        match &step.kind {
            StepKind::Stall => return out.give(STALLS),
            StepKind::Defer => return out.give(DEFERS),
            StepKind::Let(_, values) if values.iter().all(|value| seen_once(value).is_none()) => {
                writer.steps(std::slice::from_ref(step), out);
            }
            StepKind::If(condition, yes, no) if seen_once(condition).is_none() => {
                let condition = writer.guard(condition);
                let (mut then, mut otherwise) = (Block::default(), Block::default());
                follow(writer, yes, &mut then);
                follow(writer, no, &mut otherwise);
                out.when_else(condition, |out| out.include(then), |out| out.include(otherwise));
            }
            _ => return out.give(HAPPENS),
        }
    }
}
