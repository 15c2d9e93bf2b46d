//! Handlers, and for each role and event the choice among them.

use super::Export;
use super::expressions::local_field;
use super::names::{AT, BEFORE, DATA, DONE, EFFECTS, FX, HELD, INT, ME, NODES, O, X, argument, arguments, how, locals};
use super::steps::Writer;
use crate::model::{BOOLEAN, Block, Expr, Name, Program, Term, array, call, function, name, procedure, values};
use trivium_protocol::{EventKind, Handler, HandlerId, LocalId, Response, Role, RoleId, StateId, Type};

/// An event that comes to a record, from the node itself if nothing else is said.
pub(super) struct Happening {
    node: Expr,
    object: Expr,
    sender: Expr,
    /// The thread that raises it, by its number at the node; or -1.
    thread: Expr,
    arguments: Vec<Expr>,
    data: Expr,
    /// Its place in the defer space, if it was kept; or -1.
    at: Expr,
}

impl Happening {
    pub fn of(node: impl Into<Expr>, object: impl Into<Expr>) -> Happening {
        let node = node.into();
        let sender = node.clone();
        let (none, arguments) = (Expr::from(-1), Vec::new());
        Happening { node, object: object.into(), sender, thread: none.clone(), arguments, data: 0.into(), at: none }
    }

    pub fn from(self, sender: impl Into<Expr>) -> Happening {
        Happening { sender: sender.into(), ..self }
    }

    pub fn by(self, thread: impl Into<Expr>) -> Happening {
        Happening { thread: thread.into(), ..self }
    }

    pub fn with(self, arguments: Vec<Expr>) -> Happening {
        Happening { arguments, ..self }
    }

    pub fn carrying(self, data: impl Into<Expr>) -> Happening {
        Happening { data: data.into(), ..self }
    }

    pub fn kept(self, at: impl Into<Expr>) -> Happening {
        Happening { at: at.into(), ..self }
    }

    /// What is passed to those who ask about it.
    pub fn asked(self) -> Vec<Expr> {
        [values((self.node, self.object, self.sender, self.thread)), self.arguments].concat()
    }

    /// It happens, in a routine that has effects.
    pub fn happens(self, role: RoleId, column: usize, out: &mut Block) {
        self.comes_to(name(format!("on{}_{column}", role.0)), out);
    }

    fn comes_to(self, routine: Name, out: &mut Block) {
        let rest = values((&self.data, &self.at, FX));
        out.call(routine, [self.asked(), rest].concat());
    }
}

impl Export<'_> {
    pub fn handlers(&self, program: &mut Program) {
        for (id, role) in self.roles() {
            for (h, handler) in role.handlers.iter().enumerate() {
                if let Some(column) = role.column(handler.event) {
                    self.handler(id, role, h, column, handler, program);
                }
            }
            for column in 0..role.events.len() {
                self.dispatch(id, role, column, program);
            }
        }
    }

    /// The routine of a handler.
    pub fn run(role: RoleId, handler: HandlerId) -> Name {
        name(format!("run{}_{}", role.0, handler.0))
    }

    /// Whether a handler's guard holds.
    pub fn guard(role: RoleId, handler: HandlerId, event: Vec<Expr>) -> Expr {
        call(format!("guard{}_{}", role.0, handler.0), event)
    }

    pub fn handler(&self, id: RoleId, role: &Role, h: usize, column: usize, handler: &Handler, program: &mut Program) {
        let args = usize::from(handler.args);
        let mut writer = Writer::new(self, id, column, handler);
        let comment = format!("{}.{}", role.name, handler.name);
        if let Some(guard) = &handler.guard {
            let head = self.takes_record(function(format!("guard{}_{h}", id.0), BOOLEAN), role);
            let head = head.takes_each(locals(args), &INT).comment(&comment);
            program.define(head, |out| out.give(writer.guard(guard)));
        }
        let mut body = Block::default();
        writer.steps(&handler.steps, &mut body);
        let own = self.locals(handler);
        let touched = |other: &RoleId| self.object_type(self.role(*other).object);
        let head = self.takes_record(procedure(format!("run{}_{h}", id.0)), role);
        let head = head.takes_each(locals(args), &INT).takes_each([DATA, AT], &INT).changes(FX, EFFECTS);
        let head = head.local(BEFORE, INT).locals(own.iter().map(|local| local.clone().of(INT)));
        let head = head.locals(writer.declared).locals(writer.touched.iter().flat_map(|other| {
            let of_objects = |of| array(touched(other), of);
            [Self::touched(*other).of(of_objects(BOOLEAN)), Self::state_before(*other).of(of_objects(INT))]
        }));
        // One comment for both routines.
        let head = if handler.guard.is_none() { head.comment(comment) } else { head };
        program.define(head, |out| {
            out.assign(BEFORE, self.state(id, ME, O));
            own.iter().for_each(|local| out.assign(local, 0));
            for other in &writer.touched {
                out.for_each(X, touched(other), |out| {
                    out.assign(Self::touched(*other).at(X), false);
                    out.assign(Self::state_before(*other).at(X), self.state(*other, ME, X));
                });
            }
            out.include(body);
            Self::settle(id, O, BEFORE, out);
            for other in &writer.touched {
                out.for_each(X, touched(other), |out| {
                    out.when(Self::touched(*other).at(X), |out| {
                        Self::settle(*other, X, Self::state_before(*other).at(X), out);
                    });
                });
            }
        });
    }

    /// For each object whether a handler has changed its record of another role.
    pub fn touched(role: RoleId) -> Name {
        name(format!("touched{}", role.0))
    }

    /// The states of these records before the handler.
    fn state_before(role: RoleId) -> Name {
        name(format!("before{}", role.0))
    }

    /// A handler has ended for a record of node `me`, which was in a state before.
    fn settle(role: RoleId, object: Name, before: impl Into<Expr>, out: &mut Block) {
        out.call(format!("settle{}", role.0), (ME, object, before));
    }

    /// What makes the first records of roles that say so.
    pub fn initially(&self, program: &mut Program) {
        for (id, role) in self.roles() {
            let Some(initially) = &role.initially else { continue };
            let mut writer = Writer::new(self, id, 0, initially);
            let mut body = Block::default();
            writer.steps(&initially.steps, &mut body);
            let own = self.locals(initially);
            let head = procedure(format!("begin{}", id.0)).comment(format!("{}, initially", role.name));
            let head = head.takes(ME, NODES).takes(O, self.object_type(role.object));
            let head = head.locals(own.iter().map(|local| local.clone().of(INT))).locals(writer.declared);
            program.define(head, |out| {
                own.iter().for_each(|local| out.assign(local, 0));
                out.include(body);
                Self::settle(id, O, self.state_name(id, StateId(0)), out);
            });
        }
    }

    /// The first records are made, before anything happens.
    pub fn begin_records(&self, out: &mut Block) {
        for (id, role) in self.roles().filter(|(_, role)| role.initially.is_some()) {
            let begin = |out: &mut Block| out.call(format!("begin{}", id.0), (ME, O));
            out.for_each(ME, NODES, |out| {
                out.for_each(O, self.object_type(role.object), |out| match self.lives(id, ME, O) {
                    None => begin(out),
                    Some(lives) => out.when(lives, begin),
                });
            });
        }
    }

    /// A handler's locals behind its arguments.
    pub(super) fn locals(&self, handler: &Handler) -> Vec<Name> {
        let mut names = Vec::new();
        for (l, declared) in handler.locals.iter().enumerate().skip(usize::from(handler.args)) {
            let fields = match &declared.ty {
                Type::Record(_) => self.fields(&declared.ty).len(),
                _ => 1,
            };
            names.extend((0..fields).map(|field| local_field(declared, LocalId::at(l), field)));
        }
        names
    }

    /// What a role does about an event.
    fn dispatch(&self, id: RoleId, role: &Role, column: usize, program: &mut Program) {
        let event = role.events[column];
        let head = self.takes_record(procedure(format!("on{}_{column}", id.0)), role);
        let head = head.takes_each(arguments(self.arguments_of(event).len()), &INT).takes_each([DATA, AT], &INT);
        let head = head.changes(FX, EFFECTS).comment(format!("{}: {}", role.name, self.protocol().event_name(event)));
        program.define(head, |out| {
            if let Some(lives) = self.lives(id, ME, O) {
                out.refuse(!lives, "fault: the node has no such role for this object");
            }
            if self.protocol().cached && matches!(event, EventKind::Read | EventKind::Write) {
                let needed = if event == EventKind::Read { 1 } else { 2 };
                out.when(call("tag", (ME, O)).ge(needed), |out| {
                    out.assign(how(), DONE);
                    self.answered(O, out);
                    out.leave();
                });
            }
            out.switch(self.state(id, ME, O), |states| {
                for (state, declared) in role.states.iter().enumerate() {
                    states.case(self.state_name(id, StateId::at(state)), |out| {
                        if event.wants().is_some_and(|wanted| declared.access >= wanted) {
                            out.assign(how(), DONE);
                        } else {
                            self.keep_places(event, id, state, out);
                            self.respond(id, column, &role.table[state][column], &declared.name, out);
                        }
                    });
                }
            });
        });
    }

    fn respond(&self, id: RoleId, column: usize, response: &Response, state: &str, out: &mut Block) {
        let event = self.role(id).events[column];
        match response {
            Response::Handle(handlers) => self.choose(id, column, handlers, out),
            Response::Defer => self.keep_event(id, column, argument, out),
            // One that is tried again goes back to its place.
            Response::Hold if matches!(event, EventKind::Message(_)) => self.keep_event(id, column, argument, out),
            Response::Hold => out.assign(how(), HELD),
            Response::Impossible | Response::Passes => {
                out.error(format!("fault: {} is impossible in {state}", self.protocol().event_name(event)));
            }
        }
    }

    /// The first handler whose guard holds.
    fn choose(&self, id: RoleId, column: usize, handlers: &[HandlerId], out: &mut Block) {
        let Some((first, others)) = handlers.split_first() else {
            return out.error("fault: nothing answers this event");
        };
        let role = self.role(id);
        let event = || self.passed_on(role, column);
        let runs = |out: &mut Block| event().carrying(DATA).kept(AT).comes_to(Self::run(id, *first), out);
        if role.handlers[first.index()].guard.is_none() {
            return runs(out);
        }
        let holds = Self::guard(id, *first, event().asked());
        out.when_else(holds, runs, |out| self.choose(id, column, others, out));
    }
}
