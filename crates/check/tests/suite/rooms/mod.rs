//! Random protocols that fill finite lanes: with what they send unasked, and with what they ask for with `room`, in
//! branches, loops (of which some go on `while room(..)`) and actions, from calls, messages, tasks, timers and replays.

use crate::random::{Random, Text};

const LANES: usize = 2;

/// Messages on each lane.
type Counts = [u64; LANES];

struct Writer {
    random: Random,
    text: Text,
    /// The most that any handler sends unasked.
    most: Counts,
    /// What the action `more` sends unasked.
    action: Counts,
    /// How often the present handler may still call it: each time its text is there once more.
    calls: u32,
}

/// The protocol of a number.
pub fn protocol(seed: u64) -> String {
    written(seed, None)
}

/// The same with two outgoing queues that are one, of so many places.
pub fn sharing(seed: u64, places: u32) -> String {
    written(seed, Some(places))
}

fn written(seed: u64, shared: Option<u32>) -> String {
    let mut writer =
        Writer { random: Random(seed), text: Text::default(), most: [0; LANES], action: [0; LANES], calls: 0 };
    for _ in 0..4 {
        writer.random.below(2);
    }
    writer.role();
    // The least that the compiler accepts, or a little more.
    let [a, b] = writer.most.map(|most| {
        let takes = ["holds", "queues"][writer.random.below(2) as usize];
        let takes = if shared.is_some() { "queues" } else { takes };
        format!("{takes} {}", (most + writer.random.below(4)).max(1))
    });
    let share = shared.map_or(String::new(), |places| format!("share a, b up to {places}\n"));
    format!(
        "protocol rooms\nwaive lane_rule \"lanes may block each other here\"\nlane a fifo {a}\nlane b unordered {b}\n{share}\
         object thing\nop poke(t: thing, n: 0..1)\nmessage A(n: 0..1) on a\nmessage B(n: 0..1) on b\n{}",
        writer.text.written
    )
}

impl Writer {
    fn role(&mut self) {
        self.text.open("role member of thing everywhere defers up to 4 {");
        self.text.line("var v: 0..1");
        self.text.open("action more(n: 0..1) {");
        self.action = self.statements(1, false);
        self.text.close();
        self.text.open("task later(n: 0..1) {");
        self.handler();
        self.text.close();
        for state in ["S", "T"] {
            self.text.open(&format!("state {state} {{"));
            self.text.open("on poke(n) {");
            self.handler();
            self.text.line("return");
            self.text.close();
            for message in ["A", "B"] {
                match self.random.below(6) {
                    0 if state == "T" => self.text.line(&format!("on {message} defer")),
                    1 => {
                        self.text.open(&format!("on {message}(n) {{"));
                        self.handler();
                        self.text.close();
                    }
                    _ => self.text.line(&format!("on {message}(n) {{ v = n }}")),
                }
            }
            if state == "T" && self.random.once_in(2) {
                self.text.open("on after 7 {");
                self.text.line("let n = v");
                self.handler();
                self.text.line("goto S");
                self.text.close();
            }
            self.text.close();
        }
        self.text.close();
    }

    /// The body of a handler.
    fn handler(&mut self) {
        self.calls = 3;
        let sent = self.statements(0, true);
        self.most = std::array::from_fn(|lane| self.most[lane].max(sent[lane]));
    }

    /// Some statements, and what they send unasked. `goes`: whether the state may be left, and tasks started.
    fn statements(&mut self, nested: u32, goes: bool) -> Counts {
        let mut sent = [0; LANES];
        for _ in 0..1 + self.random.below(3) {
            let more = self.statement(nested, goes);
            sent = std::array::from_fn(|lane| sent[lane] + more[lane]);
        }
        sent
    }

    fn statement(&mut self, nested: u32, goes: bool) -> Counts {
        match self.random.below(if nested < 2 { 16 } else { 6 }) {
            0..3 => self.send(),
            3 if self.calls > 0 => {
                self.calls -= 1;
                self.text.line("more(n)");
                self.action
            }
            4 if goes => {
                let target = ["goto S", "goto T", "start later(n)"][self.random.below(3) as usize];
                self.text.line(target);
                [0; LANES]
            }
            3..6 => {
                self.text.line("v = n");
                [0; LANES]
            }
            6..11 => self.ask(nested, goes),
            14.. => self.goes_on(nested, goes),
            11 => {
                self.text.open("for i in 1..2 {");
                let sent = self.statements(nested + 1, goes);
                self.text.close();
                sent.map(|sent| 2 * sent)
            }
            _ => {
                self.text.open("if v == n {");
                let yes = self.statements(nested + 1, goes);
                self.text.depth -= 1;
                self.text.line("} else {");
                self.text.depth += 1;
                let no = self.statements(nested + 1, goes);
                self.text.close();
                std::array::from_fn(|lane| yes[lane].max(no[lane]))
            }
        }
    }

    /// A loop that goes on while there is room on one of the lanes.
    fn goes_on(&mut self, nested: u32, goes: bool) -> Counts {
        let at = self.text.written.len();
        self.text.depth += 1;
        let mut sent = self.statements(nested + 1, goes).map(|sent| 2 * sent);
        self.text.depth -= 1;
        let lane = self.random.below(2) as usize;
        let wanted = (sent[lane] / 2 + self.random.below(2)).max(1);
        let head =
            format!("{:1$}for i in 1..2 while room({2}, {wanted}) {{\n", "", 2 * self.text.depth, ["a", "b"][lane]);
        self.text.written.insert_str(at, &head);
        self.text.line("}");
        sent[lane] = 0;
        sent
    }

    fn send(&mut self) -> Counts {
        let lane = self.random.below(2) as usize;
        let to = ["me", "home"][self.random.below(2) as usize];
        self.text.line(&format!("send {}(n) to {to}", ["A", "B"][lane]));
        std::array::from_fn(|l| u64::from(l == lane))
    }

    /// Room is asked for on one lane or on both.
    fn ask(&mut self, nested: u32, goes: bool) -> Counts {
        let asks = [[true, false], [false, true], [true, true]][self.random.below(3) as usize];
        // What the branch sends is known when it is written: the condition goes in front of it afterwards.
        let at = self.text.written.len();
        self.text.depth += 1;
        let mut sent = self.statements(nested + 1, goes);
        let conditions: Vec<String> = (0..LANES)
            .filter(|lane| asks[*lane])
            .map(|lane| format!("room({}, {})", ["a", "b"][lane], (sent[lane] + self.random.below(2)).max(1)))
            .collect();
        self.text.depth -= 1;
        let condition = format!("{:1$}if {2} {{\n", "", 2 * self.text.depth, conditions.join(" and "));
        self.text.written.insert_str(at, &condition);
        for lane in (0..LANES).filter(|lane| asks[*lane]) {
            sent[lane] = 0;
        }
        if self.random.once_in(3) {
            self.text.line("} else {");
            self.text.depth += 1;
            let other = self.statements(nested + 1, goes);
            sent = std::array::from_fn(|lane| sent[lane].max(other[lane]));
            self.text.depth -= 1;
        }
        self.text.line("}");
        sent
    }
}
