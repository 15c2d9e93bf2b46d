//! Channels and software queues.
//!
//! A channel keeps its messages from place 0 on: in the order of sending, or sorted where the lane keeps no order, so
//! that equal contents are equal states. Places that are not in use are clear.

use super::Export;
use super::lines::Lines;
use trivium_protocol::{EventKind, MessageId, Named, TaskId};

impl Export<'_> {
    /// The fields of a message of a lane, besides its kind and object.
    fn message_fields(&self, lane: usize) -> Vec<String> {
        let most = self.protocol().messages.iter().filter(|m| m.lane.index() == lane).map(|m| m.args.len());
        let mut fields = vec!["k".to_string(), "o".to_string()];
        fields.extend((0..most.max().unwrap_or(0)).map(|a| format!("a{a}")));
        if self.has_data() {
            fields.push("p".into());
        }
        if self.model.lanes[lane].behind.is_some() {
            // Behind how many messages of the other lane it is.
            fields.push("b".into());
        }
        fields
    }

    /// The lanes that are behind a lane.
    fn lanes_behind(&self, lane: usize) -> impl Iterator<Item = usize> {
        let is = move |other: &usize| self.model.lanes[*other].behind.is_some_and(|before| before.index() == lane);
        (0..self.model.lanes.len()).filter(is)
    }

    pub fn lanes(&self, out: &mut Lines) {
        for lane in 0..self.protocol().lanes.len() {
            self.lane(lane, out);
        }
        for message in 0..self.protocol().messages.len() {
            self.send(message, out);
        }
    }

    fn lane(&self, lane: usize, out: &mut Lines) {
        let fields = self.message_fields(lane);
        let at = |i: &str, field: &str| format!("lane{lane}[dst][src].m[{i}].{field}");
        let parameters: String = fields.iter().map(|f| format!("; {f}: Int")).collect();
        let fifo = self.model.lanes[lane].fifo;
        if !fifo {
            out.routine(
                &format!("function less{lane}(dst: Node; src: Node; i: Int{parameters}): boolean"),
                &[],
                |out| {
                    for field in &fields {
                        out.line(format!(
                            "if {field} != {} then return {field} < {}; end;",
                            at("i", field),
                            at("i", field)
                        ));
                    }
                    out.line("return false;");
                },
            );
        }
        let form = &self.model.lanes[lane];
        if !fifo || form.lossy || form.duplicating {
            let same: Vec<String> = fields.iter().map(|f| format!("{} = {}", at("i", f), at("i - 1", f))).collect();
            out.routine(&format!("function same{lane}(dst: Node; src: Node; i: Int): boolean"), &[], |out| {
                out.line(format!("return {};", same.join(" & ")));
            });
        }
        let head = format!("procedure post{lane}(dst: Node; src: Node{parameters})");
        let locals = ["i: Int".to_string(), "up: boolean".to_string()];
        out.routine(&head, if fifo { &locals[..1] } else { &locals }, |out| {
            out.line(format!("i := lane{lane}[dst][src].n;"));
            if form.duplicating {
                // One that is on its way stands for all that are like it; where order is kept, only the last can.
                let like = |i: &str| {
                    let fields: Vec<String> = fields.iter().map(|f| format!("{} = {f}", at(i, f))).collect();
                    fields.join(" & ")
                };
                if fifo {
                    out.line(format!("if i > 0 then if {} then return; end; end;", like("i - 1")));
                } else {
                    out.open(format!("for j: 0..{} do", self.channel - 1));
                    out.line(format!("if j < i then if {} then return; end; end;", like("j")));
                    out.close("end;");
                }
            }
            out.line(format!(
                "if i = {} then error \"the model's channels are too short: export with a greater --channel\"; end;",
                self.channel
            ));
            if !fifo {
                out.line("up := true;");
                out.open("while up do");
                out.line("up := false;");
                out.open("if i > 0 then");
                out.open(format!("if less{lane}(dst, src, i - 1, {}) then", fields.join(", ")));
                for field in &fields {
                    out.line(format!("{} := {};", at("i", field), at("i - 1", field)));
                }
                out.line("i := i - 1;");
                out.line("up := true;");
                out.close("end;");
                out.close("end;");
                out.close("end;");
            }
            for field in &fields {
                out.line(format!("{} := {field};", at("i", field)));
            }
            out.line(format!("lane{lane}[dst][src].n := lane{lane}[dst][src].n + 1;"));
        });
        out.routine(&format!("procedure take{lane}(dst: Node; src: Node; first: Int)"), &["i: Int".into()], |out| {
            out.line("i := first;");
            out.open(format!("while i + 1 < lane{lane}[dst][src].n do"));
            for field in &fields {
                out.line(format!("{} := {};", at("i", field), at("i + 1", field)));
            }
            out.line("i := i + 1;");
            out.close("end;");
            out.line(format!("clear lane{lane}[dst][src].m[i];"));
            out.line(format!("lane{lane}[dst][src].n := i;"));
            for other in self.lanes_behind(lane) {
                let place = format!("lane{other}[dst][src]");
                out.open(format!("for j: 0..{} do", self.channel - 1));
                out.open(format!("if j < {place}.n then"));
                out.line(format!("if {place}.m[j].b > 0 then {place}.m[j].b := {place}.m[j].b - 1; end;"));
                out.close("end;");
                out.close("end;");
            }
            if form.merged {
                out.line(format!("head{lane}[dst] := 0;"));
            }
        });
        if self.counted(lane).or(self.places_asked(lane)).is_some() {
            out.routine(&format!("function sent{lane}(src: Node): Int"), &["n: Int".into()], |out| {
                out.line("n := 0;");
                out.line(format!("for dst: Node do n := n + lane{lane}[dst][src].n; end;"));
                out.line("return n;");
            });
        }
        self.queue_routines(lane, out);
    }

    /// How many messages of a node a lane holds until they are handled, if they are counted. What an outgoing queue holds beyond that leaves it.
    pub fn counted(&self, lane: usize) -> Option<u32> {
        let lane = &self.model.lanes[lane];
        lane.capacity.filter(|_| !lane.queues)
    }

    /// Whether a node has room for so many more messages on a lane.
    pub fn room(&self, node: &str, lane: usize, count: &str) -> String {
        match self.counted(lane) {
            None if self.asked.contains(&lane) => format!("asked{lane}({node}, {count})"),
            Some(capacity) => format!("(sent{lane}({node}) + {count} <= {capacity})"),
            None => "true".into(),
        }
    }

    /// Parameters `a0: Int; a1: Int` of a declaration.
    pub fn parameters(args: &[Named]) -> String {
        (0..args.len()).map(|a| format!("; a{a}: Int")).collect()
    }

    fn send(&self, message: usize, out: &mut Lines) {
        let declared = &self.protocol().messages[message];
        let lane = declared.lane.index();
        out.comment(&declared.name);
        let head =
            format!("procedure send{message}(src: Node; dst: Int; o: Int{}; p: Int)", Self::parameters(&declared.args));
        out.routine(&head, &[], |out| {
            out.line(format!(
                "if dst < 0 | dst >= {} then error \"fault: a message to no node\"; end;",
                self.model.nodes
            ));
            if self.counted(lane).is_some() {
                let room = self.room("src", lane, "1");
                out.line(format!("if !{room} then error \"fault: a message on a lane that is full\"; end;"));
            }
            if self.places_asked(lane).is_some() {
                out.line(format!("takes{lane}(src);"));
            }
            let mut values = vec![(message + 1).to_string(), "o".to_string()];
            for (a, arg) in declared.args.iter().enumerate() {
                let (lo, hi) = self.range(&arg.ty, true);
                values.push(format!("within(a{a}, {lo}, {hi})"));
            }
            let behind = self.model.lanes[lane].behind;
            let fields = self.message_fields(lane);
            values.resize(fields.len() - usize::from(self.has_data()) - usize::from(behind.is_some()), "0".into());
            if self.has_data() {
                values.push("p".into());
            }
            if let Some(before) = behind {
                values.push(format!("lane{}[dst][src].n", before.index()));
            }
            out.line(format!("post{lane}(dst, src, {});", values.join(", ")));
            if self.places_asked(lane).is_some() {
                out.line(format!("mine{lane} := mine{lane} + 1;"));
            }
        });
    }

    /// How many messages of a kind about an object are on their way, to a node or (-1) to any.
    pub fn flights(&self, message: MessageId, out: &mut Lines) {
        let lane = self.message_lane(message);
        let head = format!("function flights{}(o: Int; to_: Int): Int", message.0);
        out.routine(&head, &["n: Int".into()], |out| {
            out.line("n := 0;");
            out.open(
                "for dst: Node do for src: Node do for i: 0..".to_string() + &(self.channel - 1).to_string() + " do",
            );
            out.open("if i < lane".to_string() + &format!("{lane}[dst][src].n & (to_ = -1 | to_ = dst) then"));
            let at = format!("lane{lane}[dst][src].m[i]");
            out.line(format!("if {at}.k = {} & {at}.o = o then n := n + 1; end;", message.0 + 1));
            out.close("end;");
            out.close("end; end; end;");
            out.line("return n;");
        });
    }

    pub fn tasks(&self, out: &mut Lines) {
        let tasks = &self.protocol().tasks;
        for (task, declared) in tasks.iter().enumerate() {
            out.comment(&declared.name);
            let head = format!("procedure start{task}(me: Node; o: Int{})", Self::parameters(&declared.args));
            out.routine(&head, &["i: Int".into()], |out| {
                out.line("i := queue[me].n;");
                out.line(format!(
                    "if i = {} then error \"the model's queues are too short: export with a greater --channel\"; end;",
                    self.channel
                ));
                out.line("clear queue[me].m[i];");
                self.clear_fields("queue[me].m[i]", tasks.iter().map(|t| t.args.len()).max().unwrap_or(0), out);
                out.line(format!("queue[me].m[i].k := {};", task + 1));
                out.line("queue[me].m[i].o := o;");
                for (a, arg) in declared.args.iter().enumerate() {
                    let (lo, hi) = self.range(&arg.ty, true);
                    out.line(format!("queue[me].m[i].a{a} := within(a{a}, {lo}, {hi});"));
                }
                out.line("queue[me].n := i + 1;");
            });
        }
        if !tasks.is_empty() {
            out.routine("procedure take_task(me: Node)", &["i: Int".into()], |out| {
                out.line("i := 0;");
                out.open("while i + 1 < queue[me].n do");
                out.line("queue[me].m[i] := queue[me].m[i + 1];");
                out.line("i := i + 1;");
                out.close("end;");
                out.line("clear queue[me].m[i];");
                out.line("queue[me].n := i;");
            });
        }
    }

    pub fn clear_fields(&self, place: &str, args: usize, out: &mut Lines) {
        (0..args).for_each(|a| out.line(format!("{place}.a{a} := 0;")));
    }

    /// Rules by which messages and tasks are handled, and the functions that say whether they can be.
    pub fn delivery_rules(&self, out: &mut Lines) {
        for (lane, declared) in self.protocol().lanes.iter().enumerate() {
            self.delivery_rule(lane, &format!("handle a message of {}", declared.name), true, out);
            if self.model.lanes[lane].merged {
                self.head_rule(lane, &format!("a message of {} comes to the head", declared.name), out);
            }
            if self.model.lanes[lane].duplicating {
                self.delivery_rule(lane, &format!("handle a copy of a message of {}", declared.name), false, out);
            }
            if self.model.lanes[lane].lossy {
                self.loss_rule(lane, &format!("lose a message of {}", declared.name), out);
            }
        }
        if !self.protocol().tasks.is_empty() {
            out.open("ruleset me: Node do");
            self.rule("run a task", "can_run(me)", "var fx: Effects; m: Task;", out, |out| {
                out.line("begin_effects(fx);");
                out.line("m := queue[me].m[0];");
                out.line("take_task(me);");
                out.open("switch m.k");
                for (task, declared) in self.protocol().tasks.iter().enumerate() {
                    let arguments: String = (0..declared.args.len()).map(|a| format!(", m.a{a}")).collect();
                    let column = self.role(declared.role).column(EventKind::Task(TaskId::at(task)));
                    if let Some(column) = column {
                        out.line(format!(
                            "case {}: on{}_{column}(me, m.o, me, -1{arguments}, 0, -1, fx);",
                            task + 1,
                            declared.role.0
                        ));
                    }
                }
                out.close("end;");
                out.line("settle(me, -1, fx);");
            });
            out.close("end;");
            out.blank();
        }
    }

    /// Messages of a lane are handled, and are gone unless they stay on their way.
    fn delivery_rule(&self, lane: usize, text: &str, takes: bool, out: &mut Lines) {
        let last = if self.model.lanes[lane].fifo { 0 } else { self.channel - 1 };
        out.open(format!("ruleset dst: Node; src: Node; i: 0..{last} do"));
        let locals = format!("var fx: Effects; m: Message{lane};");
        self.rule(text, &format!("can_handle{lane}(dst, src, i)"), &locals, out, |out| {
            out.line("begin_effects(fx);");
            out.line(format!("m := lane{lane}[dst][src].m[i];"));
            if takes {
                out.line(format!("take{lane}(dst, src, i);"));
            }
            out.open("switch m.k");
            self.each_of_lane(lane, |id, args| {
                let arguments: String = (0..args).map(|a| format!(", m.a{a}")).collect();
                let data = if self.has_data() { "m.p" } else { "0" };
                let role = self.protocol().messages[id].role;
                let column = self.role(role).column(EventKind::Message(MessageId::at(id)));
                out.line(match column {
                    Some(column) => {
                        format!("case {}: on{}_{column}(dst, m.o, src, -1{arguments}, {data}, -1, fx);", id + 1, role.0)
                    }
                    None => format!("case {}: error \"fault: nothing answers this message\";", id + 1),
                });
            });
            out.close("end;");
            out.line("settle(dst, -1, fx);");
        });
        out.close("end;");
        out.blank();
    }

    /// A message that cannot be handled now comes to the head of the queue of all senders.
    fn head_rule(&self, lane: usize, text: &str, out: &mut Lines) {
        out.open("ruleset dst: Node; src: Node do");
        self.rule(text, &format!("can_come{lane}(dst, src)"), "", out, |out| {
            out.line(format!("head{lane}[dst] := src + 1;"));
        });
        out.close("end;");
        out.blank();
    }

    /// The network loses a message; of equal ones next to each other it does not matter which.
    fn loss_rule(&self, lane: usize, text: &str, out: &mut Lines) {
        out.open(format!("ruleset dst: Node; src: Node; i: 0..{} do", self.channel - 1));
        let is_first = format!("(i = 0 ? true : !same{lane}(dst, src, i))");
        self.rule(text, &format!("i < lane{lane}[dst][src].n & {is_first}"), "", out, |out| {
            out.line(format!("take{lane}(dst, src, i);"));
        });
        out.close("end;");
        out.blank();
    }

    fn each_of_lane(&self, lane: usize, mut each: impl FnMut(usize, usize)) {
        for (id, message) in self.protocol().messages.iter().enumerate() {
            if message.lane.index() == lane {
                each(id, message.args.len());
            }
        }
    }

    pub fn delivery_conditions(&self, out: &mut Lines) {
        for lane in 0..self.protocol().lanes.len() {
            let head = format!("function can_handle{lane}(dst: Node; src: Node; i: Int): boolean");
            out.routine(&head, &["o: Int".into()], |out| {
                out.line(format!("if i >= lane{lane}[dst][src].n then return false; end;"));
                if !self.model.lanes[lane].fifo {
                    out.line(format!("if i > 0 then if same{lane}(dst, src, i) then return false; end; end;"));
                }
                if self.model.lanes[lane].behind.is_some() {
                    out.line(format!("if lane{lane}[dst][src].m[i].b > 0 then return false; end;"));
                }
                if self.model.lanes[lane].merged {
                    out.line(format!("if head{lane}[dst] != 0 & head{lane}[dst] != src + 1 then return false; end;"));
                }
                out.line(format!("o := lane{lane}[dst][src].m[i].o;"));
                let arguments = |args: usize| -> String {
                    (0..args).map(|a| format!(", lane{lane}[dst][src].m[i].a{a}")).collect()
                };
                out.open(format!("switch lane{lane}[dst][src].m[i].k"));
                self.each_of_lane(lane, |id, args| {
                    let role = self.protocol().messages[id].role;
                    let event = EventKind::Message(MessageId::at(id));
                    let arguments = format!("src, -1{}", arguments(args));
                    let column = self.role(role).column(event);
                    let stalls = column.map(|column| self.and_not_stalled(role, column, "dst", "o", &arguments));
                    let ready = self.ready_or_absent(role, event, "dst", "o");
                    out.line(format!("case {}: return {ready}{};", id + 1, stalls.unwrap_or_default()));
                });
                out.close("end;");
                out.line("return true;");
            });
            if self.model.lanes[lane].merged {
                out.routine(&format!("function can_come{lane}(dst: Node; src: Node): boolean"), &[], |out| {
                    out.line(format!("if lane{lane}[dst][src].n = 0 | head{lane}[dst] != 0 then return false; end;"));
                    out.line(format!("return !can_handle{lane}(dst, src, 0);"));
                });
            }
        }
        if self.protocol().tasks.is_empty() {
            return;
        }
        out.routine("function can_run(me: Node): boolean", &[], |out| {
            out.line("if queue[me].n = 0 then return false; end;");
            out.open("switch queue[me].m[0].k");
            for (task, declared) in self.protocol().tasks.iter().enumerate() {
                let event = EventKind::Task(TaskId::at(task));
                let ready = self.ready_or_absent(declared.role, event, "me", "queue[me].m[0].o");
                out.line(format!("case {}: return {ready};", task + 1));
            }
            out.close("end;");
            out.line("return true;");
        });
    }
}
