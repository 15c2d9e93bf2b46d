//! Records: the state and variables of a role, its defer space, what happens to them when a handler ends.

use super::Export;
use super::names::{
    AT, BEFORE, BLOCKS, C, CARRIED, DATA, DEFERRED, HELD, I, INT, ME, NODES, NUMBERS, O, P, PLACE, S, SENDER, T, THR,
    arguments, how, part,
};
use crate::model::{
    BOOLEAN, Block, Expr, Name, Program, Term, TypeExpr, all, array, call, choice, function, name, procedure, range,
    record, values,
};
use trivium_protocol::{Access, EventKind, Named, PayloadShape, Role, RoleId, RoleKind, StateId, Type};

impl Export<'_> {
    /// The node at which an object is at home.
    pub fn home_of(&self, object: impl Into<Expr>) -> Expr {
        object.into() % self.model.nodes
    }

    /// Whether an object is at home at a node, or is not.
    pub fn is_at_home(&self, object: impl Into<Expr>, node: impl Into<Expr>, is_home: bool) -> Expr {
        let home = self.home_of(object);
        if is_home { home.is(node) } else { home.differs_from(node) }
    }

    /// Whether a node has an instance of a role for an object; nothing if it always has.
    pub fn lives(&self, role: RoleId, node: impl Into<Expr>, object: impl Into<Expr>) -> Option<Expr> {
        match self.role(role).kind {
            RoleKind::Home | RoleKind::Ghost => Some(self.is_at_home(object, node, true)),
            RoleKind::Elsewhere => Some(self.is_at_home(object, node, false)),
            RoleKind::Everywhere | RoleKind::Agent => None,
        }
    }

    /// The state of a record.
    pub fn state(&self, role: RoleId, node: impl Into<Expr>, object: impl Into<Expr>) -> Expr {
        self.state_var(role).at(node).at(object)
    }

    /// Whether a record is in a state.
    pub fn is_in(&self, role: RoleId, state: StateId, node: impl Into<Expr>, object: impl Into<Expr>) -> Expr {
        self.state(role, node, object).is(self.state_name(role, state))
    }

    /// An object of which a node must have the record; otherwise it is a fault.
    pub fn here(role: RoleId, node: impl Into<Expr>, object: impl Into<Expr>) -> Expr {
        call(format!("here{}", role.0), (node, object))
    }

    /// The defer spaces of a role: `[node][object]`.
    pub fn kept(role: RoleId) -> Name {
        name(format!("kept_{}", role.0))
    }

    pub fn kept_type(role: RoleId) -> TypeExpr {
        name(format!("Kept{}", role.0)).into()
    }

    /// The type of deferred events.
    pub fn event_type(role: RoleId) -> TypeExpr {
        name(format!("Event{}", role.0)).into()
    }

    pub fn arguments_of(&self, event: EventKind) -> &[Named] {
        let protocol = self.model.protocol();
        match event {
            EventKind::Message(m) => &protocol.messages[m.index()].args,
            EventKind::Op(o) => &protocol.ops[o.index()].args,
            EventKind::Task(t) => &protocol.tasks[t.index()].args,
            _ => &[],
        }
    }

    fn deferrable_args<'a>(&'a self, role: &'a Role) -> Vec<&'a [Named]> {
        role.deferrable.iter().map(|&event| self.arguments_of(event)).collect()
    }

    pub fn most_kept_args(&self, role: &Role) -> usize {
        self.deferrable_args(role).iter().map(|args| args.len()).max().unwrap_or(0)
    }

    fn keeps_data(&self, role: &Role) -> bool {
        role.deferrable.iter().any(|&event| match event {
            EventKind::Message(m) => self.protocol().messages[m.index()].payload != PayloadShape::Nothing,
            event => event == EventKind::WriteBack,
        })
    }

    /// The types of defer spaces: `cursor`, and events with column, sender, thread, data and arguments.
    pub fn deferred_types(&self, program: &mut Program) {
        for (id, role) in self.roles() {
            let Some(bound) = role.defers else { continue };
            let most = bound.at(self.model.nodes);
            let event = [C.of(range(0, role.events.len())), S.of(NODES), T.of(NUMBERS)];
            let data = self.keeps_data(role).then(|| P.of(CARRIED));
            let args = self.deferrable_args(role);
            let event = record(event.into_iter().chain(data).chain(self.argument_fields(&args)));
            program.ty_for(&format!("Deferred events of {}", role.name), format!("Event{}", id.0), event);
            let counts = ["cursor", "n"].map(|count| Name::new(count).of(range(0, most)));
            let events = Name::new("e").of(array(range(0, most.max(1) - 1), Self::event_type(id)));
            program.ty(format!("Kept{}", id.0), record(counts.into_iter().chain([events])));
        }
    }

    pub fn records(&self, program: &mut Program) {
        for (id, role) in self.roles() {
            program.define(function(format!("here{}", id.0), INT).takes(ME, NODES).takes(O, INT), |out| {
                let lives = self.lives(id, ME, O).unwrap_or(true.into());
                out.refuse(!lives, "fault: the node has no such role for this object");
                out.give(O);
            });
            if role.defers.is_some() {
                self.keep(id, role, program);
            }
            self.settle_record(id, role, program);
            for column in 0..role.events.len() {
                self.ready(id, role, column, program);
            }
        }
    }

    fn keep(&self, id: RoleId, role: &Role, program: &mut Program) {
        let args = self.most_kept_args(role);
        let kept = || Self::kept(id).at(ME).at(O);
        let [count, cursor] = ["n", "cursor"].map(|field| kept().field(field));
        let event = |at: Expr| kept().field("e").at(at);
        let of_record =
            |name: &str| procedure(format!("{name}{}", id.0)).takes(ME, NODES).takes(O, self.object_type(role.object));
        let head = of_record("keep").takes_each([C, S, T], &INT).takes_each(arguments(args), &INT);
        let head = head.takes_each([P, AT], &INT).local(I, INT).local(PLACE, INT);
        let head =
            head.comment(format!("Keeps an event of {}: in its old place, or (-1) behind the others.", role.name));
        program.define(head, |out| {
            out.refuse(self.is_full(id), "fault: the defer space is full");
            out.assign(PLACE, choice(AT.is(-1), &count, AT));
            out.assign(I, &count);
            out.while_(I.gt(PLACE), |out| {
                out.assign(event(I.into()), event(I - 1));
                out.assign(I, I - 1);
            });
            let mut fields = vec![C, S, T];
            if self.keeps_data(role) {
                fields.push(P);
            }
            fields.extend(arguments(args));
            fields.into_iter().for_each(|field| out.assign(event(PLACE.into()).field(&field), field));
            out.when_or(
                (AT.differs_from(-1), |out: &mut Block| out.assign(&cursor, AT + 1)),
                ((&cursor).is(&count), |out: &mut Block| out.assign(&cursor, &count + 1)),
            );
            out.increase(&count, 1);
        });
        program.define(of_record("unkeep").takes(AT, INT).local(I, INT), |out| {
            out.assign(I, AT);
            out.while_((I + 1).lt(&count), |out| {
                out.assign(event(I.into()), event(I + 1));
                out.increase(I, 1);
            });
            out.clear(event(I.into()));
            Self::clear_arguments(&event(I.into()), args, out);
            out.assign(&count, I);
        });
    }

    /// The arguments of what is no longer kept get the value 0, whether it is the least of their types or not.
    pub fn clear_arguments(place: &Expr, args: usize, out: &mut Block) {
        arguments(args).for_each(|argument| out.assign(place.clone().field(argument), 0));
    }

    /// An event of a column is deferred; where the role pushes back, a thread keeps what finds no place. The event's own arguments are
    /// called as `name` says.
    pub fn keep_event(&self, id: RoleId, column: usize, name: fn(usize) -> Name, out: &mut Block) {
        let role = self.role(id);
        let keeps = |out: &mut Block| {
            self.keep_call(id, column, name, out);
            out.assign(how(), DEFERRED);
        };
        if role.pushes_back && has_caller(role.events[column]) {
            out.when_else(AT.is(-1) & self.is_full(id), |out| out.assign(how(), HELD), keeps);
        } else {
            keeps(out);
        }
    }

    /// Whether the defer space of a role's record has no place left.
    pub fn is_full(&self, id: RoleId) -> Expr {
        let capacity = self.role(id).defers.map_or(0, |bound| bound.at(self.model.nodes));
        Self::kept(id).at(ME).at(O).field("n").is(capacity)
    }

    /// A call of `keep` for an event of a column.
    fn keep_call(&self, id: RoleId, column: usize, name: fn(usize) -> Name, out: &mut Block) {
        let role = self.role(id);
        if role.defers.is_none() {
            return out.error("fault: the defer space is full");
        }
        let event = role.events[column];
        let own = self.arguments_of(event).len();
        let args = (0..self.most_kept_args(role)).map(|a| if a < own { name(a).into() } else { Expr::from(0) });
        let is_message = matches!(event, EventKind::Message(_));
        let given = |is_given: bool, name: Name| if is_given { name.into() } else { Expr::from(0) };
        let sender = given(is_message, SENDER);
        let thread = given(has_caller(event), THR);
        let data = given(is_message || event == EventKind::WriteBack, DATA);
        let about = values((ME, O, column + 1, sender, thread));
        out.call(format!("keep{}", id.0), [about, args.collect(), values((data, AT))].concat());
    }

    /// The end of a handler for one record: dead variables are cleared; when the state has changed, the deferred
    /// events are to be tried again.
    fn settle_record(&self, id: RoleId, role: &Role, program: &mut Program) {
        let head = procedure(format!("settle{}", id.0)).takes(ME, NODES).takes(O, self.object_type(role.object));
        program.define(head.takes(BEFORE, INT), |out| {
            if role.states.iter().any(|s| !s.dead.is_empty()) {
                out.switch(self.state(id, ME, O), |states| {
                    for (state, declared) in role.states.iter().enumerate().filter(|(_, s)| !s.dead.is_empty()) {
                        states.case(self.state_name(id, StateId::at(state)), |out| {
                            declared.dead.iter().for_each(|var| self.clear_var(id, var.index(), ME, O, out));
                        });
                    }
                });
            }
            if role.defers.is_some() {
                out.when(self.state(id, ME, O).differs_from(BEFORE), |out| {
                    out.assign(Self::kept(id).at(ME).at(O).field("cursor"), 0);
                });
            }
        });
    }

    /// A variable gets its first value.
    pub fn clear_var(&self, role: RoleId, var: usize, node: impl Into<Expr>, object: impl Into<Expr>, out: &mut Block) {
        let declared = &self.role(role).vars[var];
        let place = self.var_name(role, var).at(node).at(object);
        let field = |f: usize| (&place).field(part(f));
        match &declared.ty {
            Type::List { of, up_to, .. } => {
                out.assign((&place).field("n"), 0);
                let fields = self.fields(of);
                for i in 0..up_to.at(self.model.nodes).max(1) {
                    for (f, ty) in fields.iter().enumerate() {
                        out.assign(field(f).at(i), self.first_value(ty, None));
                    }
                }
            }
            Type::Array { of, .. } => {
                let initial = if matches!(**of, Type::Record(_)) { None } else { Some(declared.initial) };
                for i in 0..self.elements(&declared.ty).1 {
                    for (f, ty) in self.fields(of).iter().enumerate() {
                        out.assign(field(f).at(i), self.first_value(ty, initial));
                    }
                }
            }
            Type::Record(_) => {
                for (f, ty) in self.fields(&declared.ty).iter().enumerate() {
                    out.assign(field(f), self.first_value(ty, None));
                }
            }
            scalar => out.assign(&place, self.first_value(scalar, Some(declared.initial))),
        }
    }

    /// Whether an event of a column may be dispatched: no replay is due, and there is room for what it may send.
    fn ready(&self, id: RoleId, role: &Role, column: usize, program: &mut Program) {
        let event = role.events[column];
        let of_record = |name: String| function(name, BOOLEAN).takes(ME, NODES).takes(O, self.object_type(role.object));
        program.define(of_record(format!("room{}_{column}", id.0)), |out| {
            let needs: Vec<(usize, Vec<Expr>)> = (0..role.states.len())
                .filter_map(|state| {
                    let needed = self.engine().room_needed(event, id, StateId::at(state));
                    let each =
                        needed.iter().enumerate().filter(|(lane, count)| **count > 0 && self.counted(*lane).is_some());
                    let each: Vec<Expr> = each.map(|(lane, count)| self.room(ME, lane, *count)).collect();
                    (!each.is_empty()).then_some((state, each))
                })
                .collect();
            if !needs.is_empty() {
                out.switch(self.state(id, ME, O), |states| {
                    for (state, room) in needs {
                        states.give(self.state_name(id, StateId::at(state)), all(room));
                    }
                });
            }
            out.give(true);
        });
        program.define(of_record(format!("ready{}_{column}", id.0)), |out| {
            if role.defers.is_some() {
                out.when(replay_due(id), |out| out.give(false));
            }
            out.give(Self::has_room(id, column));
        });
    }

    /// Whether there is room for what an event of the record of `me` and `o` may send.
    pub fn has_room(role: RoleId, column: usize) -> Expr {
        call(format!("room{}_{column}", role.0), (ME, O))
    }

    /// Whether an event may be dispatched to a record.
    pub fn is_ready(role: RoleId, column: usize, node: impl Into<Expr>, object: impl Into<Expr>) -> Expr {
        call(format!("ready{}_{column}", role.0), (node, object))
    }

    /// Whether an event may be dispatched; one for a role that is not there may, to become a fault.
    pub fn ready_or_absent(&self, role: RoleId, event: EventKind, node: Name, object: &Expr) -> Expr {
        let Some(column) = self.role(role).column(event) else { return true.into() };
        let ready = Self::is_ready(role, column, &node, object);
        match self.lives(role, node, object) {
            None => ready,
            Some(lives) => !lives | ready,
        }
    }

    /// The access that a role's states give, as a number: 0 none, 1 read, 2 write.
    pub fn access_function(&self, id: RoleId, role: &Role, program: &mut Program) {
        let head = function(format!("access{}", id.0), INT).takes(ME, NODES).takes(O, BLOCKS);
        program.define(head, |out| {
            out.switch(self.state(id, ME, O), |states| {
                for (state, declared) in role.states.iter().enumerate() {
                    let access = match declared.access {
                        Access::None => continue,
                        Access::Read => 1,
                        Access::Write => 2,
                    };
                    states.give(self.state_name(id, StateId::at(state)), access);
                }
            });
            out.give(0);
        });
    }

    /// First values of all records.
    pub fn first_records(&self, out: &mut Block) {
        for (id, role) in self.roles() {
            out.clear(self.state_var(id));
            if role.defers.is_some() {
                out.clear(Self::kept(id));
            }
            out.for_each(ME, NODES, |out| {
                out.for_each(O, self.object_type(role.object), |out| {
                    (0..role.vars.len()).for_each(|var| self.clear_var(id, var, ME, O, out));
                    if let Some(bound) = role.defers {
                        for i in 0..bound.at(self.model.nodes).max(1) {
                            let event = Self::kept(id).at(ME).at(O).field("e").at(i);
                            Self::clear_arguments(&event, self.most_kept_args(role), out);
                        }
                    }
                });
            });
        }
    }
}

/// Whether a deferred event of the record of `me` and `o` is to be tried before any other of its events.
pub(super) fn replay_due(role: RoleId) -> Expr {
    let kept = Export::kept(role).at(ME).at(O);
    (&kept).field("cursor").lt((&kept).field("n"))
}

/// Whether a thread raises the event.
pub(super) fn has_caller(event: EventKind) -> bool {
    matches!(event, EventKind::Read | EventKind::Write | EventKind::Rmw | EventKind::Op(_))
}
