//! Random protocols whose roles and objects call each other's actions: what one role's own text does not show.

use crate::random::{Random, Text};

/// A role, and what its text may name.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// At the home of a thing.
    Home,
    /// On every node, for each thing.
    Peer,
    /// Of the node.
    Agent,
}

/// What stands around a statement.
#[derive(Clone, Copy)]
struct Place {
    role: Role,
    /// Whether the event or the action has a number `n`.
    has_number: bool,
    /// Whether the event has an object `t2`.
    has_object: bool,
    /// Which actions may be called: those of this rank and above.
    rank: usize,
    /// Whether messages may be sent.
    sends: bool,
    /// Whether the state may be left here.
    goes: bool,
    /// In which state, in a handler of a state.
    state: Option<u64>,
}

const STATES: [&str; 3] = ["A", "B", "C"];
/// Ranks of actions: one calls those of the next rank, so that no action calls itself.
const RANKS: usize = 2;

/// Variables that only handlers of one state read, and no other code: what can be cleared. Beside them `q` is written by
/// handlers and read by actions alone.
const PRIVATE: [&str; 4] = ["x", "y", "r", "o"];

struct Writer {
    random: Random,
    text: Text,
    /// For each private variable of the present role: in which state it is read.
    read_in: [u64; 4],
    /// A state of it to which only what others call leads, and in which `x` is read but not written: what it holds there
    /// was written elsewhere.
    hidden: Option<u64>,
    /// Whether the protocol has assertions: one that is false ends an exploration early.
    asserts: bool,
}

/// The protocol of a number.
pub fn protocol(seed: u64) -> String {
    let text = "protocol calls\nobject thing\nrecord pair { a: 0..2, b: 0..2 }\nlane main fifo buffered\n\
        op put(t: thing, n: 0..2)\nop link(t: thing, t2: thing)\n\
        message ToHome(n: 0..2), Ask(n: 0..2), ToPeer(n: 0..2), Told(m: 0..2), ToAgent(n: 0..2), \
        Seen(n: 0..2) on main\n";
    let mut writer = Writer {
        random: Random(seed),
        text: Text { written: text.into(), depth: 0 },
        read_in: [0; 4],
        hidden: None,
        asserts: false,
    };
    for _ in 0..4 {
        writer.random.below(2);
    }
    writer.asserts = writer.random.once_in(4);
    writer.role("role home of thing defers up to 6", Role::Home);
    writer.role("role peer of thing everywhere defers up to 6", Role::Peer);
    writer.role("role agent of node", Role::Agent);
    if writer.asserts {
        let number = 1 + writer.random.below(2);
        writer.text.line(&format!("invariant seen of thing: home.v != {number} or (peer at home).v != {number}"));
    }
    writer.claims();
    writer.text.written
}

impl Writer {
    /// What is claimed, and what is assumed of calls, looks at variables that handlers of one state read, too.
    fn claims(&mut self) {
        let mut variable = || (self.random.one(&["x", "y", "q", "r.a"]), 1 + self.random.below(2));
        let ((a, one), (b, other)) = (variable(), variable());
        if self.random.once_in(4) {
            self.text.line(&format!("invariant apart of thing: home.{a} != {one}"));
        }
        if self.random.once_in(4) {
            self.text.line(&format!("assume link(t, t2) when agent.{b} != {other}"));
        }
    }

    fn role(&mut self, head: &str, role: Role) {
        self.text.open(&format!("{head} {{"));
        self.read_in = std::array::from_fn(|_| self.random.below(3));
        self.hidden = if self.random.once_in(4) { None } else { Some(self.random.below(3)) };
        self.read_in[0] = self.hidden.unwrap_or(self.read_in[0]);
        self.text.line("var v, w, x, y, q: 0..2");
        self.text.line("var r: pair");
        self.text.line("var o: thing");
        for rank in 0..RANKS {
            self.text.open(&format!("action act{rank}(n: 0..2) {{"));
            let place = Place {
                role,
                has_number: true,
                has_object: false,
                rank: rank + 1,
                sends: false,
                goes: true,
                state: None,
            };
            match self.random.below(4) {
                0 | 1 => {
                    let state = self.hidden.unwrap_or(self.random.below(3));
                    self.text.line(&format!("goto {}", STATES[state as usize]));
                }
                2 if role != Role::Agent => self.text.line("send Seen(q) to me"),
                2 => self.text.line("send Seen(q) of o to me"),
                _ => self.statements(place),
            }
            self.text.close();
        }
        if role == Role::Peer {
            self.text.open("task later(n: 0..2) {");
            let place =
                Place { role, has_number: true, has_object: false, rank: 0, sends: false, goes: true, state: None };
            self.statements(place);
            self.text.close();
        }
        for state in 0..3 {
            self.state(state, role);
        }
        self.text.close();
    }

    fn state(&mut self, state: u64, role: Role) {
        self.text.open(&format!("state {} {{", STATES[state as usize]));
        let state = Some(state);
        let place = Place { role, has_number: true, has_object: false, rank: 0, sends: false, goes: true, state };
        match role {
            Role::Home => {
                self.message("ToHome(n)", place);
                let answer = self.random.one(&["n", "v", "w"]);
                self.text.line(&format!("on Ask(n) {{ send Told({answer}) to sender }}"));
                if self.random.once_in(5) {
                    let state = self.goal(place);
                    self.text.line(&format!("on after 10 {{ goto {state} }}"));
                }
            }
            Role::Peer => {
                self.put(place);
                self.text.open("on link(t2) {");
                self.tell(place);
                let linked = Place { has_number: false, has_object: true, sends: true, ..place };
                self.statements(linked);
                self.go_on(linked);
                self.text.line("return");
                self.text.close();
                self.message("ToPeer(n)", place);
                // An action of others may have ended the wait.
                self.text.line("on Told { }");
                self.text.line("on Seen { }");
            }
            Role::Agent => self.message("ToAgent(n)", place),
        }
        self.text.close();
    }

    /// The clauses of a message: deferred, with a guard, or plain.
    fn message(&mut self, event: &str, place: Place) {
        if place.role != Role::Agent && self.random.once_in(8) {
            let name = event.split('(').next().unwrap_or(event);
            return self.text.line(&format!("on {name} defer"));
        }
        if self.random.once_in(3) {
            let guard = self.condition(place);
            self.text.open(&format!("on {event} when {guard} {{"));
            self.tell(place);
            self.statements(place);
            self.go_on(place);
            self.text.close();
        }
        self.text.open(&format!("on {event} {{"));
        self.tell(place);
        if self.random.once_in(3) {
            self.remember(place);
        } else {
            self.statements(place);
            self.go_on(place);
        }
        self.text.close();
    }

    /// Writes what is read in another state, and does nothing that leads there at once: between the two the handler ends.
    fn remember(&mut self, place: Place) {
        self.text.line(if place.state == self.hidden { "q = n" } else { "x = n; q = n" });
        if self.random.once_in(3) {
            let state = self.goal(place);
            self.text.line(&format!("goto {state}"));
        }
    }

    /// Something that makes more happen: without it most handlers would never run.
    fn go_on(&mut self, place: Place) {
        match self.random.below(5) {
            0 if place.goes => {
                let state = self.goal(place);
                self.text.line(&format!("goto {state}"));
            }
            1 | 2 if place.sends => self.send(place),
            _ => self.call(place),
        }
    }

    /// Shows what variables hold that are read here: as messages that nobody heeds, so that another value is another state.
    fn tell(&mut self, place: Place) {
        for (var, name) in ["x", "y", "r.a"].iter().enumerate() {
            if self.reads(place, var) && !self.random.once_in(3) {
                let of = if place.role == Role::Agent { " of o" } else { "" };
                self.text.line(&format!("send Seen({name}){of} to me"));
            }
        }
    }

    /// The clauses of the call `put`, which may wait for an answer.
    fn put(&mut self, place: Place) {
        self.text.open("on put(n) {");
        self.tell(place);
        if self.random.once_in(3) {
            self.remember(place);
            self.text.line("return");
        } else if self.random.once_in(3) {
            self.statements(Place { goes: false, sends: true, ..place });
            let number = self.number(place);
            self.text.line(&format!("send Ask({number}) to home"));
            self.text.line("return");
            self.text.open("await Told(m) {");
            self.statements(place);
            self.text.line(&format!("v = {}", self.random.0 % 3));
            if self.random.once_in(2) {
                self.text.line("w = m");
            }
            let state = self.goal(place);
            self.text.line(&format!("goto {state}"));
            self.text.close();
            self.text.line("while waiting on Seen { }");
            self.text.open("while waiting on ToPeer(n) {");
            self.statements(Place { goes: false, rank: RANKS, ..place });
            self.text.close();
        } else {
            self.statements(Place { sends: true, ..place });
            self.go_on(Place { sends: true, ..place });
            self.text.line("return");
        }
        self.text.close();
    }

    /// A state to go to.
    fn goal(&mut self, place: Place) -> &'static str {
        let state = self.random.below(3);
        match self.hidden.filter(|&hidden| hidden == state && place.state.is_some()) {
            Some(hidden) => STATES[(hidden as usize + 1) % 3],
            None => STATES[state as usize],
        }
    }

    /// Whether a private variable may be read here.
    fn reads(&self, place: Place, var: usize) -> bool {
        place.state == Some(self.read_in[var])
    }

    fn statements(&mut self, place: Place) {
        for _ in 0..1 + self.random.below(3) {
            self.statement(place, 0);
        }
    }

    fn statement(&mut self, place: Place, nested: u32) {
        match self.random.below(if nested < 2 { 16 } else { 12 }) {
            0..3 => self.assignment(place),
            3..5 if place.goes => {
                let state = self.goal(place);
                self.text.line(&format!("goto {state}"));
            }
            5 if place.sends => self.send(place),
            6 => self.assertion(place),
            7..10 => self.call(place),
            10 => {
                let object = self.object(place);
                let (var, number) = (self.random.one(&["v", "w"]), self.number(place));
                self.text.line(&format!("peer[{object}].{var} = {number}"));
            }
            11 if place.role == Role::Peer => {
                let number = self.number(place);
                self.text.line(&format!("start later({number})"));
            }
            12 => {
                let number = self.number(place);
                self.text.line(&format!("for i in 0..{number} {{ v = i }}"));
            }
            13..16 => self.branch(place, nested),
            _ => self.assignment(place),
        }
    }

    fn assertion(&mut self, place: Place) {
        let (number, not) = (self.number(place), self.random.below(3));
        if self.asserts {
            self.text.line(&format!("assert {number} != {not}"));
        } else {
            self.text.line(&format!("if {number} == {not} {{ v = 1 }}"));
        }
    }

    fn assignment(&mut self, place: Place) {
        let number = self.number(place);
        if place.state.is_none() {
            let var = self.random.one(&["v", "w"]);
            return self.text.line(&format!("{var} = {number}"));
        }
        let line = match self.random.below(9) {
            0 | 1 => format!("{} = {number}", self.random.one(&["v", "w"])),
            2 if self.hidden.is_none() => format!("x = {number}"),
            2 | 8 => format!("q = {number}"),
            5 => format!("y = {number}"),
            3 => format!("r.{} = {number}", self.random.one(&["a", "b"])),
            4 => format!("r = {{a: {number}, b: {}}}", self.number(place)),
            _ => format!("o = {}", self.object(place)),
        };
        self.text.line(&line);
    }

    fn send(&mut self, place: Place) {
        let number = self.number(place);
        let line = match self.random.below(3) {
            0 => format!("send ToHome({number}) to home"),
            1 => format!("send ToPeer({number}) of {} to home", self.object(place)),
            _ => format!("send ToAgent({number}) to home"),
        };
        self.text.line(&line);
    }

    fn call(&mut self, place: Place) {
        if place.rank >= RANKS {
            return self.assignment(place);
        }
        let rank = place.rank + self.random.below((RANKS - place.rank) as u64) as usize;
        let number = self.number(place);
        let object = self.object(place);
        match self.random.below(5) {
            0 => self.text.line(&format!("agent.act{rank}({number})")),
            1 if place.role != Role::Agent => {
                let state = self.random.one(&["B", "C"]);
                self.text.line(&format!("if home is ({state}, A) {{ home.act{rank}({number}) }}"));
            }
            2 if place.goes && self.hidden.is_none() && place.role != Role::Agent => {
                self.text.line(&format!("act{rank}({number})"))
            }
            3 if place.role == Role::Home => self.text.line(&format!("peer.act{rank}({number})")),
            _ => self.text.line(&format!("peer[{object}].act{rank}({number})")),
        }
    }

    fn branch(&mut self, place: Place, nested: u32) {
        let condition = self.condition(place);
        self.text.open(&format!("if {condition} {{"));
        self.statement(place, nested + 1);
        if self.random.once_in(3) {
            self.text.depth -= 1;
            self.text.open("} else {");
            self.statement(place, nested + 1);
        }
        self.text.close();
    }

    fn condition(&mut self, place: Place) -> String {
        let number = self.number(place);
        format!("{number} {} {}", self.random.one(&["==", "!="]), self.random.below(3))
    }

    /// An expression from 0 to 2.
    fn number(&mut self, place: Place) -> String {
        for (var, name) in PRIVATE[..3].iter().enumerate() {
            if self.reads(place, var) && self.random.once_in(3) {
                return if *name == "r" { "r.a".into() } else { (*name).into() };
            }
        }
        let object = self.object(place);
        match self.random.below(10) {
            0 => self.random.below(3).to_string(),
            1..4 if place.has_number => "n".into(),
            4 => "agent.v".into(),
            5 => format!("peer[{object}].{}", self.random.one(&["v", "w"])),
            _ => self.random.one(&["v", "w"]).into(),
        }
    }

    /// A thing.
    fn object(&mut self, place: Place) -> &'static str {
        if place.role == Role::Agent || (self.reads(place, 3) && self.random.once_in(2)) {
            return "o";
        }
        if place.has_object && self.random.once_in(2) { "t2" } else { "object" }
    }
}
