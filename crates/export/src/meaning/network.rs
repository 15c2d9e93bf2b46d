//! Channels and software queues.
//!
//! A channel keeps its messages from place 0 on: in the order of sending, or sorted where the lane keeps no order, so
//! that equal contents are equal states. Places that are not in use are clear.

use super::Export;
use super::expressions::within;
use super::handlers::Happening;
use super::names::{
    DST, FIRST, I, INT, J, M, ME, N, NODES, O, P, QUEUE, SRC, TASKS, TO, UP, argument, arguments, lane,
};
use super::system::Firing;
use crate::model::{
    BOOLEAN, Block, Cases, Declared, Expr, Name, Program, Term, TypeExpr, all, call, choice, function, name, procedure,
    range, values,
};
use trivium_protocol::{EventKind, MessageId, Named, TaskId};

/// What has no room in the model's arrays is no violation.
const SHORT_CHANNELS: &str = "the model's channels are too short: export with a greater --channel";
const SHORT_QUEUES: &str = "the model's queues are too short: export with a greater --channel";

/// What a node has sent to another on a lane, within routines about both: `lane[dst][src]`.
fn sent(of: usize) -> Expr {
    lane(of).at(DST).at(SRC)
}

/// How many messages these are.
fn count(of: usize) -> Expr {
    sent(of).field("n")
}

/// One of them.
fn message(of: usize, at: impl Into<Expr>) -> Expr {
    sent(of).field("m").at(at)
}

/// Whether messages at two places are equal in some fields, the second of which is given by its fields.
fn equal(fields: &[Name], one: impl Fn(&Name) -> Expr, other: impl Fn(&Name) -> Expr) -> Expr {
    all(fields.iter().map(|field| one(field).is(other(field))))
}

impl Export<'_> {
    /// The type of a lane's messages.
    pub fn messages_of(lane: usize) -> TypeExpr {
        name(format!("Message{lane}")).into()
    }

    /// For each node, the sender of the message at the head of a lane on which the messages of all senders are in one queue.
    pub fn head_of(lane: usize) -> Name {
        name(format!("head{lane}"))
    }

    /// The fields of a message of a lane.
    fn message_fields(&self, lane: usize) -> Vec<Name> {
        let most = self.protocol().messages.iter().filter(|m| m.lane.index() == lane).map(|m| m.args.len());
        let mut fields = vec![Name::new("k"), O];
        fields.extend(arguments(most.max().unwrap_or(0)));
        if self.has_data() {
            fields.push(P);
        }
        if self.model.lanes[lane].behind.is_some() {
            // Behind how many messages of the other lane it is.
            fields.push(Name::new("b"));
        }
        fields
    }

    /// The lanes that are behind a lane.
    fn lanes_behind(&self, lane: usize) -> impl Iterator<Item = usize> {
        let is = move |other: &usize| self.model.lanes[*other].behind.is_some_and(|before| before.index() == lane);
        (0..self.model.lanes.len()).filter(is)
    }

    pub fn lanes(&self, program: &mut Program) {
        for lane in 0..self.protocol().lanes.len() {
            self.lane(lane, program);
        }
        for message in 0..self.protocol().messages.len() {
            self.send(message, program);
        }
    }

    fn lane(&self, lane: usize, program: &mut Program) {
        let form = &self.model.lanes[lane];
        if !form.fifo {
            self.less(lane, program);
        }
        if !form.fifo || form.lossy || form.duplicating {
            let fields = self.message_fields(lane);
            let head = function(format!("same{lane}"), BOOLEAN).takes_each([DST, SRC], &NODES).takes(I, INT);
            program.define(head, |out| {
                let field = |at: Expr, field: &Name| message(lane, at).field(field);
                out.give(equal(&fields, |f| field(I.into(), f), |f| field(I - 1, f)));
            });
        }
        self.post(lane, program);
        self.take(lane, program);
        if self.counted(lane).or(self.places_asked(lane)).is_some() {
            program.define(function(format!("sent{lane}"), INT).takes(SRC, NODES).local(N, INT), |out| {
                out.assign(N, 0);
                out.for_each(DST, NODES, |out| out.increase(N, count(lane)));
                out.give(N);
            });
        }
        self.queue_routines(lane, program);
    }

    /// Whether a message that is given by its fields comes before one that is on its way.
    fn less(&self, lane: usize, program: &mut Program) {
        let fields = self.message_fields(lane);
        let head = function(format!("less{lane}"), BOOLEAN).takes_each([DST, SRC], &NODES).takes(I, INT);
        program.define(head.takes_each(fields.clone(), &INT), |out| {
            for field in &fields {
                let other = message(lane, I).field(field);
                out.when(field.differs_from(&other), |out| out.give(field.lt(other)));
            }
            out.give(false);
        });
    }

    /// A message that is given by its fields is on its way.
    fn post(&self, lane: usize, program: &mut Program) {
        let form = &self.model.lanes[lane];
        let fields = self.message_fields(lane);
        let head = procedure(format!("post{lane}")).takes_each([DST, SRC], &NODES).takes_each(fields.clone(), &INT);
        let head = head.local(I, INT).locals((!form.fifo).then(|| UP.of(BOOLEAN)));
        program.define(head, |out| {
            out.assign(I, count(lane));
            if form.duplicating {
                // One that is on its way stands for all that are like it; where order is kept, only the last can.
                let like = |at: Expr| equal(&fields, |f| message(lane, &at).field(f), |f| f.into());
                if form.fifo {
                    out.when(I.gt(0), |out| out.when(like(I - 1), Block::leave));
                } else {
                    out.for_each(J, range(0, self.channel - 1), |out| {
                        out.when(J.lt(I), |out| out.when(like(J.into()), Block::leave));
                    });
                }
            }
            out.refuse(I.is(self.channel), SHORT_CHANNELS);
            if !form.fifo {
                Self::make_place(lane, &fields, out);
            }
            fields.iter().for_each(|field| out.assign(message(lane, I).field(field), field));
            out.increase(count(lane), 1);
        });
    }

    /// Messages that come behind the one that is posted go up by one place.
    fn make_place(lane: usize, fields: &[Name], out: &mut Block) {
        out.assign(UP, true);
        out.while_(UP, |out| {
            out.assign(UP, false);
            out.when(I.gt(0), |out| {
                let of = values((DST, SRC, I - 1)).into_iter().chain(fields.iter().map(Expr::from));
                out.when(call(format!("less{lane}"), of.collect::<Vec<_>>()), |out| {
                    for field in fields {
                        out.assign(message(lane, I).field(field), message(lane, I - 1).field(field));
                    }
                    out.assign(I, I - 1);
                    out.assign(UP, true);
                });
            });
        });
    }

    /// A message has arrived, or is lost.
    fn take(&self, lane: usize, program: &mut Program) {
        let fields = self.message_fields(lane);
        let head = procedure(format!("take{lane}")).takes_each([DST, SRC], &NODES).takes(FIRST, INT).local(I, INT);
        program.define(head, |out| {
            out.assign(I, FIRST);
            out.while_((I + 1).lt(count(lane)), |out| {
                for field in &fields {
                    out.assign(message(lane, I).field(field), message(lane, I + 1).field(field));
                }
                out.increase(I, 1);
            });
            out.clear(message(lane, I));
            out.assign(count(lane), I);
            for other in self.lanes_behind(lane) {
                out.for_each(J, range(0, self.channel - 1), |out| {
                    out.when(J.lt(count(other)), |out| {
                        let behind = || message(other, J).field("b");
                        out.when(behind().gt(0), |out| out.assign(behind(), behind() - 1));
                    });
                });
            }
            if self.model.lanes[lane].merged {
                out.assign(Self::head_of(lane).at(DST), 0);
            }
        });
    }

    /// How many messages of a node a lane holds until they are handled, if they are counted. What an outgoing queue holds beyond that leaves it.
    pub fn counted(&self, lane: usize) -> Option<u32> {
        let lane = &self.model.lanes[lane];
        lane.capacity.filter(|_| !lane.queues)
    }

    /// Whether a node has room for so many more messages on a lane.
    pub fn room(&self, node: impl Into<Expr>, lane: usize, more: impl Into<Expr>) -> Expr {
        match self.counted(lane) {
            None if self.asked.contains(&lane) => call(format!("asked{lane}"), (node, more)),
            Some(capacity) => (call(format!("sent{lane}"), node.into()) + more).le(capacity),
            None => true.into(),
        }
    }

    /// An argument, which must be in the range of its type.
    fn declared_argument(&self, number: usize, declared: &Named) -> Expr {
        let (lo, hi) = self.range(&declared.ty, true);
        within(argument(number), lo, hi)
    }

    fn send(&self, message: usize, program: &mut Program) {
        let declared = &self.protocol().messages[message];
        let lane = declared.lane.index();
        let head = procedure(format!("send{message}")).comment(&declared.name).takes(SRC, NODES);
        let head = head.takes_each([DST, O], &INT).takes_each(arguments(declared.args.len()), &INT).takes(P, INT);
        program.define(head, |out| {
            out.refuse(DST.lt(0) | DST.ge(self.model.nodes), "fault: a message to no node");
            if self.counted(lane).is_some() {
                out.refuse(!self.room(SRC, lane, 1), "fault: a message on a lane that is full");
            }
            if self.places_asked(lane).is_some() {
                out.call(format!("takes{lane}"), SRC);
            }
            let mut given = values((DST, SRC, message + 1, O));
            given.extend(declared.args.iter().enumerate().map(|(a, arg)| self.declared_argument(a, arg)));
            let behind = self.model.lanes[lane].behind;
            let others = usize::from(self.has_data()) + usize::from(behind.is_some());
            given.resize(2 + self.message_fields(lane).len() - others, 0.into());
            given.extend(self.has_data().then(|| P.into()));
            given.extend(behind.map(|before| count(before.index())));
            out.call(format!("post{lane}"), given);
            if self.places_asked(lane).is_some() {
                let mine = Self::mine(lane);
                out.increase(&mine, 1);
            }
        });
    }

    /// How many messages of a kind about an object are on their way, to a node or (-1) to any.
    pub fn flights(&self, kind: MessageId, program: &mut Program) {
        let lane = self.message_lane(kind);
        let head = function(format!("flights{}", kind.0), INT).takes_each([O, TO], &INT).local(N, INT);
        program.define(head, |out| {
            out.assign(N, 0);
            out.for_each(DST, NODES, |out| {
                out.for_each(SRC, NODES, |out| {
                    out.for_each(I, range(0, self.channel - 1), |out| {
                        out.when(I.lt(count(lane)) & (TO.is(-1) | TO.is(DST)), |out| {
                            let about = message(lane, I).field("o").is(O);
                            out.when(message(lane, I).field("k").is(kind.0 + 1) & about, |out| out.increase(N, 1));
                        });
                    });
                });
            });
            out.give(N);
        });
    }

    pub fn tasks(&self, program: &mut Program) {
        let tasks = &self.protocol().tasks;
        let queued = |at: Expr| QUEUE.at(ME).field("m").at(at);
        let count = || QUEUE.at(ME).field("n");
        for (task, declared) in tasks.iter().enumerate() {
            let head = procedure(format!("start{task}")).comment(&declared.name).takes(ME, NODES).takes(O, INT);
            program.define(head.takes_each(arguments(declared.args.len()), &INT).local(I, INT), |out| {
                let place = queued(I.into());
                out.assign(I, count());
                out.refuse(I.is(self.channel), SHORT_QUEUES);
                out.clear(&place);
                Self::clear_arguments(&place, tasks.iter().map(|t| t.args.len()).max().unwrap_or(0), out);
                out.assign((&place).field("k"), task + 1);
                out.assign((&place).field("o"), O);
                for (a, arg) in declared.args.iter().enumerate() {
                    out.assign((&place).field(argument(a)), self.declared_argument(a, arg));
                }
                out.assign(count(), I + 1);
            });
        }
        if !tasks.is_empty() {
            program.define(procedure("take_task").takes(ME, NODES).local(I, INT), |out| {
                out.assign(I, 0);
                out.while_((I + 1).lt(count()), |out| {
                    out.assign(queued(I.into()), queued(I + 1));
                    out.increase(I, 1);
                });
                out.clear(queued(I.into()));
                out.assign(count(), I);
            });
        }
    }

    /// Rules by which messages and tasks are handled, and the functions that say whether they can be.
    pub fn delivery_rules(&self, program: &mut Program) {
        for (lane, declared) in self.protocol().lanes.iter().enumerate() {
            self.delivery_rule(lane, &format!("handle a message of {}", declared.name), true, program);
            if self.model.lanes[lane].merged {
                self.head_rule(lane, &format!("a message of {} comes to the head", declared.name), program);
            }
            if self.model.lanes[lane].duplicating {
                self.delivery_rule(lane, &format!("handle a copy of a message of {}", declared.name), false, program);
            }
            if self.model.lanes[lane].lossy {
                self.loss_rule(lane, &format!("lose a message of {}", declared.name), program);
            }
        }
        if self.protocol().tasks.is_empty() {
            return;
        }
        let head = Firing::of("run a task", [ME.of(NODES)]).handling(ME).local(M.of(TASKS));
        self.rule(head, [call("can_run", ME)], program, |out| {
            out.assign(M, QUEUE.at(ME).field("m").at(0));
            out.call("take_task", ME);
            out.switch(M.field("k"), |tasks| {
                for (task, declared) in self.protocol().tasks.iter().enumerate() {
                    let Some(column) = self.role(declared.role).column(EventKind::Task(TaskId::at(task))) else {
                        continue;
                    };
                    let event = Happening::of(ME, M.field("o")).with(arguments_in(&M.into(), declared.args.len()));
                    tasks.case(task + 1, |out| event.happens(declared.role, column, out));
                }
            });
        });
    }

    /// Messages of a lane are handled, and are gone unless they stay on their way.
    fn delivery_rule(&self, lane: usize, text: &str, takes: bool, program: &mut Program) {
        let last = if self.model.lanes[lane].fifo { 0 } else { self.channel - 1 };
        let head = Firing::of(text, channel_and_place(last)).handling(DST).local(M.of(Self::messages_of(lane)));
        self.rule(head, [call(format!("can_handle{lane}"), (DST, SRC, I))], program, |out| {
            out.assign(M, message(lane, I));
            if takes {
                out.call(format!("take{lane}"), (DST, SRC, I));
            }
            out.switch(M.field("k"), |kinds| {
                self.each_of_lane(lane, |id, args| {
                    let data = if self.has_data() { M.field("p") } else { 0.into() };
                    let event = Happening::of(DST, M.field("o")).from(SRC).with(arguments_in(&M.into(), args));
                    let role = self.protocol().messages[id].role;
                    let column = self.role(role).column(EventKind::Message(MessageId::at(id)));
                    kinds.case(id + 1, |out| match column {
                        Some(column) => event.carrying(data).happens(role, column, out),
                        None => out.error("fault: nothing answers this message"),
                    });
                });
            });
        });
    }

    /// A message that cannot be handled now comes to the head of the queue of all senders.
    fn head_rule(&self, lane: usize, text: &str, program: &mut Program) {
        let head = Firing::of(text, [DST.of(NODES), SRC.of(NODES)]);
        self.rule(head, [call(format!("can_come{lane}"), (DST, SRC))], program, |out| {
            out.assign(Self::head_of(lane).at(DST), SRC + 1);
        });
    }

    /// The network loses a message; of equal ones next to each other it does not matter which.
    fn loss_rule(&self, lane: usize, text: &str, program: &mut Program) {
        let is_first = choice(I.is(0), true, !call(format!("same{lane}"), (DST, SRC, I)));
        let guard = [I.lt(count(lane)), is_first];
        self.rule(Firing::of(text, channel_and_place(self.channel - 1)), guard, program, |out| {
            out.call(format!("take{lane}"), (DST, SRC, I));
        });
    }

    fn each_of_lane(&self, lane: usize, mut each: impl FnMut(usize, usize)) {
        for (id, message) in self.protocol().messages.iter().enumerate() {
            if message.lane.index() == lane {
                each(id, message.args.len());
            }
        }
    }

    pub fn delivery_conditions(&self, program: &mut Program) {
        for lane in 0..self.protocol().lanes.len() {
            self.can_handle(lane, program);
            if self.model.lanes[lane].merged {
                let head = function(format!("can_come{lane}"), BOOLEAN).takes_each([DST, SRC], &NODES);
                program.define(head, |out| {
                    let has_head = Self::head_of(lane).at(DST).differs_from(0);
                    out.when(count(lane).is(0) | has_head, |out| out.give(false));
                    out.give(!call(format!("can_handle{lane}"), (DST, SRC, 0)));
                });
            }
        }
        if self.protocol().tasks.is_empty() {
            return;
        }
        program.define(function("can_run", BOOLEAN).takes(ME, NODES), |out| {
            let first = |field: &'static str| QUEUE.at(ME).field("m").at(0).field(field);
            out.when(QUEUE.at(ME).field("n").is(0), |out| out.give(false));
            out.switch(first("k"), |tasks| {
                for (task, declared) in self.protocol().tasks.iter().enumerate() {
                    let event = EventKind::Task(TaskId::at(task));
                    tasks.give(task + 1, self.ready_or_absent(declared.role, event, ME, &first("o")));
                }
            });
            out.give(true);
        });
    }

    /// Whether a message that is on its way can be handled.
    fn can_handle(&self, lane: usize, program: &mut Program) {
        let form = &self.model.lanes[lane];
        let head = function(format!("can_handle{lane}"), BOOLEAN).takes_each([DST, SRC], &NODES).takes(I, INT);
        program.define(head.local(O, INT), |out| {
            out.when(I.ge(count(lane)), |out| out.give(false));
            if !form.fifo {
                let same = call(format!("same{lane}"), (DST, SRC, I));
                out.when(I.gt(0), |out| out.when(same, |out| out.give(false)));
            }
            if form.behind.is_some() {
                out.when(message(lane, I).field("b").gt(0), |out| out.give(false));
            }
            if form.merged {
                let head = || Self::head_of(lane).at(DST);
                out.when(head().differs_from(0) & head().differs_from(SRC + 1), |out| out.give(false));
            }
            out.assign(O, message(lane, I).field("o"));
            out.switch(message(lane, I).field("k"), |kinds| self.ready_messages(lane, kinds));
            out.give(true);
        });
    }

    fn ready_messages(&self, lane: usize, kinds: &mut Cases) {
        self.each_of_lane(lane, |id, args| {
            let role = self.protocol().messages[id].role;
            let event = EventKind::Message(MessageId::at(id));
            let ready = self.ready_or_absent(role, event, DST, &O.into());
            let stalls = self.role(role).column(event).and_then(|column| {
                let asked = Happening::of(DST, O).from(SRC).with(arguments_in(&message(lane, I), args));
                self.not_stalled(role, column, asked)
            });
            kinds.give(id + 1, all([ready].into_iter().chain(stalls)));
        });
    }
}

/// The parameters of a rule about a message: its receiver, its sender, and its place in the channel.
fn channel_and_place(last: u32) -> [Declared; 3] {
    [DST.of(NODES), SRC.of(NODES), I.of(range(0, last))]
}

/// The arguments of a message or another event, where it is kept.
pub(super) fn arguments_in(place: &Expr, count: usize) -> Vec<Expr> {
    arguments(count).map(|argument| place.field(argument)).collect()
}
