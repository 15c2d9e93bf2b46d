//! Random protocols whose handlers make objects and give them back: told to other nodes or not, used between, worked on by tasks; about every
//! other with a mistake: an object freed twice or too early, or a record that is left elsewhere.

use crate::random::{Random, Text};

/// What a protocol does.
struct Form {
    /// Whether other nodes are told of an object that is made, and answer.
    tells: bool,
    /// Whether they keep a record of it until it is freed, and are asked to give it up.
    keeps: bool,
    /// Whether a task ends an object, some time after the call.
    later: bool,
    /// Whether objects answer further calls.
    is_used: bool,
    /// Whether the desk remembers the last object.
    remembers: bool,
    mistake: u64,
}

/// A protocol for a number.
pub fn protocol(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let random = &mut random;
    let mistake = if random.once_in(2) { random.below(7) } else { u64::MAX };
    let tells = random.once_in(2);
    let form = Form {
        tells,
        keeps: tells && random.once_in(2),
        later: random.once_in(3),
        is_used: random.once_in(2),
        remembers: random.once_in(3) || mistake == 6,
        mistake,
    };
    let mut text = Text::default();
    text.line("protocol maker");
    text.line(&format!("lane main {} buffered", random.one(&["fifo", "unordered"])));
    text.line("message Told, Heard, Forget, Forgot on main");
    text.line(&format!("object thing up to {}", random.below(2) + 1));
    text.line("op take(w: 0..1): thing?");
    text.line("op give(t: thing?): bool");
    if form.is_used {
        text.line("op use(t: thing?, w: 0..1): 0..3");
    }
    if form.remembers {
        text.line("op look(): bool");
    }
    desk(random, &mut text, &form);
    owner(random, &mut text, &form);
    text.written
}

fn desk(random: &mut Random, text: &mut Text, form: &Form) {
    text.open("role desk of node {");
    text.line("var last: thing?");
    text.open("state Open {");
    let noted = if form.remembers { "last = t; " } else { "" };
    let refused = random.one(&["none", "t"]);
    let answered = if form.tells { "" } else { "; return t" };
    text.line(&format!(
        "on take(w) {{ let t = new thing; {noted}if t == none {{ return {refused} }} else {{ owner[t].begin(w, caller){answered} }} }}"
    ));
    if form.remembers {
        let looks = match form.mistake {
            6 => "if last != none { owner[last].seen() }; return true",
            _ => "return last != none",
        };
        text.line(&format!("on look {{ {looks} }}"));
    }
    text.close();
    text.close();
}

fn owner(random: &mut Random, text: &mut Text, form: &Form) {
    text.open("role owner of thing everywhere {");
    text.line("var n: 0..3");
    text.line("var asker: thread");
    text.line("var missing: set of node");
    if random.once_in(2) {
        text.line("var seen_by: [node] of bool");
    }
    let begun = match (form.tells, form.mistake) {
        // The call returns before anybody has heard.
        (true, 0) => "goto Held; for m in missing { send Told to m }; return object to t",
        (true, _) => "goto Telling; for m in missing { send Told to m }",
        (false, _) => "goto Held",
    };
    text.line(&format!(
        "action begin(w: 0..1, t: thread) {{ assert n == 0 and missing == {{}}; n = w + 1; asker = t; missing = all - {{me}}; {begun} }}"
    ));
    text.line("action seen() { n = 3 }");
    let freed = if form.mistake == 1 { "free object; free object" } else { "free object" };
    if form.later {
        text.line(&format!("task close() {{ {freed} }}"));
    }
    let end = match (form.later, form.mistake) {
        (true, 2) => "start close(); start close()",
        (true, _) => "start close()",
        (false, _) => freed,
    };
    let impossible = ["Told", "Heard", "Forget", "Forgot"];
    let others = |named: &[&str]| {
        impossible.iter().filter(|message| !named.contains(message)).copied().collect::<Vec<_>>().join(", ")
    };
    let calls = if form.is_used { "give, use" } else { "give" };
    // What a node does that is not the object's home is said in its first state, and in `Knows`.
    let told = if form.keeps { "goto Knows; send Heard to sender" } else { "send Heard to sender" };
    text.line(&format!("state Free {{ on Told {{ {told} }} on {calls}, {} impossible }}", others(&["Told"])));
    let forgets = if form.mistake == 3 { "send Forgot to sender" } else { "goto Free; send Forgot to sender" };
    text.line(&format!("state Knows {{ on Forget {{ {forgets} }} on {calls}, {} impossible }}", others(&["Forget"])));
    let refuses = |text: &mut Text| {
        text.line("on give { return false }");
        if form.is_used {
            text.line("on use(w) { return 0 }");
        }
    };
    text.open("state Telling {");
    let heard = match form.mistake {
        // The first answer counts for all.
        4 => "missing = {}; goto Held; return object to asker",
        _ => "missing -= sender; if missing == {} { goto Held; return object to asker }",
    };
    text.line(&format!("on Heard {{ {heard} }}"));
    refuses(text);
    text.line(&format!("on {} impossible", others(&["Heard"])));
    text.close();
    text.open("state Held {");
    let ends = match (form.keeps, form.mistake) {
        (true, 5) | (false, _) => {
            format!("{}; return true", if form.later { format!("goto Closing; {end}") } else { end.into() })
        }
        (true, _) => {
            "asker = caller; missing = all - {me}; goto Closing; for m in missing { send Forget to m }".to_string()
        }
    };
    text.line(&format!("on give {{ {ends} }}"));
    if form.is_used {
        text.line("on use(w) { if n + w < 4 { n += w }; return n }");
    }
    text.line(&format!("on {} impossible", others(&[])));
    text.close();
    text.open("state Closing {");
    let end = if form.later { end } else { freed };
    text.line(&format!("on Forgot {{ missing -= sender; if missing == {{}} {{ return true to asker; {end} }} }}"));
    refuses(text);
    text.line(&format!("on {} impossible", others(&["Forgot"])));
    text.close();
    text.close();
}
