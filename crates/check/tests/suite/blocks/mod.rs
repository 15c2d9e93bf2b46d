//! Random protocols about blocks: copies are read, overwritten, given up and passed on without any sense, so that what is
//! forgotten too early is soon missed.

use crate::random::Random;
use std::fmt::Write;

/// Where a cache goes on.
const STATES: [&str; 4] = ["Gone", "Old", "Seen", "Own"];

/// What threads see is a part of the state, so that a load of other contents is another state.
const SEEN: &str = "ghost seen of block {\n  var last: word\n  on read(n, v) { last = v }\n}\n\n";

/// Where a protocol looks at the word of a block itself, which other protocols only pass on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    Guard,
    Branch,
    Argument,
    Bound,
    Claim,
}

const LOOKS: [Looks; 5] = [Looks::Guard, Looks::Branch, Looks::Argument, Looks::Bound, Looks::Claim];

/// A protocol for a number.
pub fn protocol(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut text = String::from("protocol random\n");
    let promise = random.one(&["promises last_write", "promises coherent", "", ""]);
    let _ = writeln!(text, "{promise}");
    // Under a weaker promise no handler may look at words.
    let looks = if promise.contains("coherent") { None } else { LOOKS.get(random.below(12) as usize).copied() };
    let _ = writeln!(text, "lane main {} buffered", random.one(&["fifo", "unordered"]));
    text += "message Want, Drop on main\nmessage Back, Data on main with block\nop poke(b: block)\n\n";
    text += random.one(&[SEEN, ""]);
    cache(&mut random, &mut text, looks);
    home(&mut random, &mut text);
    if looks == Some(Looks::Claim) {
        let _ = writeln!(
            text,
            "invariant kept of block: all n: not (cache at n is Old) or contents at n != {}",
            random.below(2)
        );
    }
    text
}

/// Every state has an access, and answers what that does not allow.
fn cache(random: &mut Random, text: &mut String, looks: Option<Looks>) {
    *text += "role cache of block defers up to 4 {\n  var odd: bool\n  var told: word\n  var times: 0..1\n  otherwise impossible\n";
    // Some look at what a store will store.
    let write = random.one(&["write", "write", "write(a, v)"]);
    let otherwise = |miss: String| match write {
        "write" => miss,
        _ => format!("if v == 1 {{ goto Own; resume }} else {{ {miss} }}"),
    };
    for (state, access) in STATES.iter().zip(["none", "none", "read", "write"]) {
        // What is forgotten cannot be sent.
        let keeps = access != "none" || random.below(3) > 0;
        let says = if access == "none" && keeps { "keeps" } else { access };
        let _ = writeln!(text, "  state {state}: {says} {{");
        if access == "none" {
            let _ = writeln!(text, "    on read {{ {} }}", miss(random));
            if random.below(4) == 0 {
                let event = random.one(&["prefetch", "prefetch_write"]);
                let goes = random.one(&["goto Seen; resume", "goto Own; resume", "goto Seen"]);
                let _ = writeln!(
                    text,
                    "    on {event} {{ send Want to home; await Data {{ install; {goes} }} otherwise defer }}"
                );
            }
        }
        if access != "write" {
            let _ = writeln!(text, "    on {write} {{ {} }}", otherwise(miss(random)));
        }
        let look = match looks {
            Some(Looks::Guard) => {
                let _ =
                    writeln!(text, "    on poke when memory[0] == 1 {{ assert odd; {}return }}", change(random, keeps));
                ""
            }
            Some(Looks::Branch) => "if memory[0] == 1 { assert odd }; ",
            Some(Looks::Argument) => "told = memory[0]; assert told != 1 or odd; ",
            Some(Looks::Bound) => "if memory[0] < 2 { times = memory[0] }; for i in 1..times { assert odd }; ",
            Some(Looks::Claim) | None => "",
        };
        let _ = writeln!(text, "    on poke {{ {look}{}return }}", change(random, keeps));
        let waits = random.one(&["", "", "", "if odd { stall }; ", "if told == 0 { if not odd { stall } }; "]);
        let _ = writeln!(text, "    on Drop {{ {waits}odd = not odd; {} }}", change(random, keeps));
        let _ = writeln!(text, "    on Data {{ {} }}", change(random, keeps));
        *text += "  }\n";
    }
    *text += "}\n";
}

/// Some steps that may read or overwrite the copy, and go somewhere.
fn change(random: &mut Random, keeps: bool) -> String {
    let mut steps = String::new();
    if keeps && random.below(6) == 0 {
        steps += random.one(&["send Back to home; ", "if me != home { send Back to home }; "]);
    }
    if random.below(2) == 0 {
        // Most often to where the copy gives no access, so that it is dead more often than not.
        let _ = write!(steps, "goto {}; ", random.one(&["Gone", "Gone", "Gone", "Old", "Old", "Old", "Seen", "Own"]));
    }
    steps
}

fn miss(random: &mut Random) -> String {
    let lets = |random: &mut Random| {
        random.one(&["goto Seen; resume", "goto Own; resume", "complete; goto Gone", "complete; goto Old"]).to_string()
    };
    match random.below(5) {
        0 | 1 => random.one(&["complete; goto Gone", "complete; goto Old", "complete", "goto Own; resume"]).to_string(),
        _ => {
            let waits = random.one(&["defer", "defer", "stall"]);
            let install = random.one(&["install; ", "install; ", "if odd { install }; odd = not odd; ", ""]);
            format!("send Want to home; await Data {{ {install}{} }} otherwise {waits}", lets(random))
        }
    }
}

fn home(random: &mut Random, text: &mut String) {
    *text += "role home of block {\n  var who: set of node\n  otherwise impossible\n";
    for (state, access) in [("Here", "write"), ("Away", "none")] {
        let _ = writeln!(text, "  state {state}: {access} {{");
        if access == "none" {
            for event in ["read", "write"] {
                let does = random.one(&["goto Here; resume", "complete", "complete; goto Here"]);
                let _ = writeln!(text, "    on {event} {{ {does} }}");
            }
        }
        let goes = random.one(&["", "goto Here; ", "goto Away; "]);
        let drops = random.one(&["", "", "for n in who { send Drop to n }; "]);
        let _ = writeln!(text, "    on Want {{ {drops}who += sender; send Data to sender; {goes}}}");
        let installs = random.one(&["install; ", "install; goto Here; ", ""]);
        let _ = writeln!(text, "    on Back {{ {installs}}}");
        *text += "  }\n";
    }
    *text += "}\n";
}
