//! Texts whose protocols would be too large are rejected, before they fill the memory.

use trivium_lang::{Options, compile};

fn errors(text: &str) -> String {
    compile("test.tri", text, &Options::default()).expect_err("it is too large").to_string()
}

fn protocol(role: &str) -> String {
    format!("protocol t\nobject thing\nop go(t: thing)\nrole home of thing {{\n  var n: 0..9\n{role}\n}}\n")
}

#[test]
fn a_long_action_that_is_called_often() {
    let body = "n = 1; ".repeat(1000);
    let calls = "a(); ".repeat(1000);
    let text = protocol(&format!("  action a() {{ {body} }}\n  state Only {{ on go {{ {calls} }} }}"));
    let found = errors(&text);
    assert!(found.contains("more than 1000000 statements and expressions"), "{found}");
}

#[test]
fn a_long_task_in_many_states() {
    let body = "n = 1; ".repeat(1000);
    let states: String = (0..600).map(|i| format!("  state S{i} {{ on go {{ start work() }} }}\n")).collect();
    let found = errors(&protocol(&format!("  task work() {{ {body} }}\n{states}")));
    assert!(found.contains("more than 1000000 statements and expressions"), "{found}");
}

#[test]
fn declared_states_count_as_those_of_awaits_do() {
    let states: String = (0..1002).map(|i| format!("  state S{i} {{ on go {{ return }} }}\n")).collect();
    let found = errors(&protocol(&states));
    assert!(found.contains("1001 states of a role are possible"), "{found}");
}

#[test]
fn more_declarations_than_can_be_numbered() {
    let names = |n: usize| (0..n).map(|i| format!("x{i}")).collect::<Vec<_>>().join(", ");
    let role = "role home of thing { state Only { on go { return } } }";
    let head = "protocol t\nobject thing\nop go(t: thing)";
    for (text, what) in [
        (format!("{head}\nobject {}\n{role}", names(300)), "kinds of object"),
        (format!("{head}\nlane main\nmessage {}\n{role}", names(1200)), "messages"),
        (format!("{head}\n{}\n{role}", (0..300).map(|i| format!("lane l{i}\n")).collect::<String>()), "lanes"),
        (
            format!("{head}\n{}", (0..300).map(|i| format!("role r{i} of node {{ state S }}\n")).collect::<String>()),
            "roles",
        ),
        (format!("{head}\n{}\n{role}", (0..1200).map(|i| format!("op f{i}()\n")).collect::<String>()), "calls"),
        (
            protocol(&format!(
                "{}  state Only {{ on go {{ return }} }}",
                (0..1200).map(|i| format!("  var v{i}: bool\n")).collect::<String>()
            )),
            "variables of a role",
        ),
    ] {
        let found = errors(&text);
        assert!(found.contains(&format!("{what} are possible")), "{what}: {found}");
    }
}
