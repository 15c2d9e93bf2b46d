//! Random protocols whose messages wait: they stall, defer and push back on lanes of every kind.

use crate::random::{Random, Text};

/// Nodes ask a home for one of its seats and give it back; some also knock. `desk` is a record of the home's node.
pub fn protocol(seed: u64) -> String {
    let mut random = Random(seed);
    for _ in 0..4 {
        random.below(2);
    }
    let ask = random.one(&[
        "fifo merged buffered",
        "fifo merged buffered",
        "fifo buffered",
        "unordered buffered",
        "fifo merged holds 2",
    ]);
    let back = random.one(&[
        "fifo buffered behind ask",
        "fifo merged buffered behind ask",
        "fifo merged buffered",
        "fifo buffered",
        "unordered buffered",
    ]);
    let back = if back.contains("behind") && ask.contains("unordered") { "fifo buffered" } else { back };
    let done = random.one(&["ask", "back", "back"]);
    let knock = random.one(&["ask", "back"]);
    let push = random.one(&["", " else stall", " else stall"]);
    let places = 1 + random.below(2);
    let mut text = Text::default();
    text.line("protocol waiting");
    text.line("waive lane_rule \"lanes may block each other here\"");
    text.line(&format!("lane ask {ask}"));
    text.line(&format!("lane back {back}"));
    text.line("lane answer fifo buffered");
    text.line(&format!(
        "message Ask on ask\nmessage Done on {done}\nmessage Knock on {knock}\nmessage Yours on answer"
    ));
    text.line("object seat\nop sit(s: seat)");
    text.open("role guest of seat everywhere {");
    text.line("otherwise impossible");
    let knocks = random.one(&["", "send Knock to home; ", "send Knock to home; send Knock to home; "]);
    let after = random.one(&["", "send Knock to home; "]);
    text.line(&format!("state Away {{ on sit {{ {knocks}send Ask to home; await Yours {{ {after}send Done to home; return; goto Away }} }} }}"));
    text.close();
    text.open("role desk of node {");
    text.line(random.one(&["var open: 0..2", "var open: 0..2 = 1"]));
    text.line(random.one(&["", "initially { open = 1 }"]));
    text.line("state Only");
    text.close();
    text.open(&format!("role home of seat defers up to {places}{push} {{"));
    text.line("var free: 0..2 = 1");
    text.line("var heard: 0..2");
    text.line(random.one(&["otherwise impossible", "otherwise defer", "otherwise stall"]));
    text.open("state Free {");
    for message in ["Ask", "Done", "Knock"] {
        answers(&mut random, &mut text, message);
    }
    text.close();
    text.open("state Busy {");
    for message in ["Ask", "Done", "Knock"] {
        if !random.once_in(4) {
            answers(&mut random, &mut text, message);
        }
    }
    text.close();
    text.close();
    text.written
}

/// What a state says of a message.
fn answers(random: &mut Random, text: &mut Text, message: &str) {
    let condition = random.one(&[
        "free == 0",
        "desk.open == 0",
        "heard > 0",
        "desk.open > 0 and free == 0",
        "not (desk.open == heard)",
    ]);
    let wait = random.one(&["stall", "defer", "stall", "defer"]);
    let does = match message {
        "Ask" => "free -= 1; send Yours to sender",
        "Done" => "free += 1",
        _ => "if heard < 2 { heard += 1 }",
    };
    let more = random.one(&[
        "",
        "; goto Busy",
        "; goto Free",
        "; if desk.open < 2 { desk.open += 1 }",
        "; if desk.open > 0 { desk.open -= 1 }",
        "; heard = 0",
    ]);
    match random.below(6) {
        0 if message != "Done" => text.line(&format!("on {message} {wait}")),
        1 => {
            text.line(&format!("on {message} when {condition} {{ {wait} }}"));
            text.line(&format!("on {message} {{ {does}{more} }}"));
        }
        2 => text.line(&format!("on {message} {{ if {condition} {{ {wait} }} else {{ {does}{more} }} }}")),
        3 => text.line(&format!("on {message} {{ if {condition} {{ if heard == 0 {{ {wait} }} else {{ {does} }} }} else {{ {does}{more} }} }}")),
        _ => text.line(&format!("on {message} {{ {does}{more} }}")),
    }
}
