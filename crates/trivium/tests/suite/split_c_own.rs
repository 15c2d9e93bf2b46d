//! A processor's own variables in Split-C (`docs/split-c.md`, "Accesses by local pointers"): what nobody else touches is never lost, and what
//! lies in a block with what others touch is found, by name.

use crate::harness::{Run, trivium};

/// Protocols, each with the size of its blocks.
const UNDER: [(&str, &str); 7] = [
    ("uncached", "64"),
    ("stache", "8"),
    ("stache", "64"),
    ("msi", "1024"),
    ("swcc", "256"),
    ("migratory", "8192"),
    ("stache", "65536"),
];

fn run(command: &str, files: &[(&str, &str)], (protocol, block): (&str, &str), more: &[&str]) -> Run {
    let folder = crate::harness::folder();
    let mut all = vec![command.to_string()];
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        all.push(file.to_str().unwrap().into());
    }
    all.extend(["-p", protocol, "--block", block, "-n", "2"].map(String::from));
    if command == "sim" {
        let machine = ["-m", "typhoon", "--set", "machine.cache.line=8", "--set", "machine.access_control.granule=8"];
        all.extend(machine.map(String::from));
    }
    all.extend(more.iter().map(|more| more.to_string()));
    trivium(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Variables of all kinds beside those that another processor writes: of the file, of a function, with and without a value, in another
/// file in C.
const NEIGHBOURS: [(&str, &str); 2] = [
    (
        "own.sc",
        r#"
        #include <stdio.h>
        static int mine, cell, begun = 3, given = 4;
        static char letter, other;
        extern int beside, there;
        static int next(void) { static int count = 7; return ++count; }
        static int *passed(void) { static int it; return &it; }
        int splitc_main(void) {
            int left = (MYPROC + 1) % PROCS;
            for (int round = 0; round < 3; round++) {
                barrier();
                *toglobal(left, &cell) = 5 + round;
                *toglobal(left, &given) = 6 + round;
                *toglobal(left, &other) = 'o';
                *toglobal(left, &there) = 8 + round;
                *toglobal(left, passed()) = 100;
                mine += 42; begun++; letter = 'l'; beside += 9;
                int count = next();
                if (count != 8 + round) printf("count %d\n", count);
            }
            barrier();
            int cells = *toglobal(MYPROC, &cell) + *toglobal(MYPROC, &given) + *toglobal(MYPROC, &there);
            printf("%d %d %c %d %d\n", mine, begun, letter, beside, cells);
            return 0;
        }"#,
    ),
    ("util.c", "int beside = 1, there;\n"),
];

const BOTH: &[&str] = &["sim", "run"];

/// In a simulation and in a run in turns.
fn in_turns(at: usize) -> &'static [&'static str] {
    &BOTH[at % 2..][..1]
}

#[test]
fn what_nobody_else_touches_is_never_lost_in_small_blocks() {
    UNDER[..3].iter().enumerate().for_each(|(at, way)| nothing_is_lost(*way, in_turns(at)));
}

#[test]
fn what_nobody_else_touches_is_never_lost_in_large_blocks() {
    UNDER[3..].iter().enumerate().for_each(|(at, way)| nothing_is_lost(*way, in_turns(at)));
}

#[test]
#[ignore = "a quarter of a minute"]
fn what_nobody_else_touches_is_never_lost() {
    UNDER.iter().for_each(|way| nothing_is_lost(*way, BOTH));
}

#[track_caller]
fn nothing_is_lost(way: (&str, &str), commands: &[&str]) {
    for command in commands {
        let result = run(command, &NEIGHBOURS, way, &["--format", "json"]).json(0);
        let expected = "126 6 l 28 25\n";
        assert_eq!(result["output"].as_str().unwrap(), expected.repeat(2), "{command} {way:?}");
    }
}

/// A load and a store in an array of which another processor writes an element; a spin on one's own flag. With what is said of each.
const MIXED: [[&str; 3]; 3] = [
    ["printf(\"%d\\n\", *(volatile int *)&box.words[3]);", "node 1 loads 0x", "is byte 16 of `box`"],
    ["*(volatile int *)&box.words[3] = 7;", "node 1 stores to 0x", "is byte 16 of `box`"],
    ["while (!flag) {}", "node 1 loads 0x", "is `flag`"],
];

/// Protocols under which data leave their home, each with the size of its blocks.
const AWAY: [(&str, &str); 4] = [("stache", "64"), ("msi", "1024"), ("swcc", "256"), ("migratory", "64")];

fn mixed(access: &str) -> String {
    format!(
        r#"
            #include <stdio.h>
            static int alone;
            static struct {{ int before, words[8]; }} box;
            static volatile int flag;
            int splitc_main(void) {{
                alone = 1;
                if (MYPROC == 0) {{ *toglobal(1, &box.words[2]) = 5; *toglobal(1, &flag) = 1; }}
                barrier();
                if (MYPROC == 1) {{ {access} }}
                return 0;
            }}"#
    )
}

#[track_caller]
fn is_found([access, what, name]: [&str; 3], command: &str, way: (&str, &str)) {
    let run = run(command, &[("mixed.sc", &mixed(access))], way, &[]);
    assert_eq!(run.code, Some(1), "{command} {way:?}: {run:?}");
    assert!(run.err.contains(what) && run.err.contains(name), "{command} {way:?}: {run:?}");
    assert!(run.err.contains("mixed.sc:10"), "{command} {way:?}: {run:?}");
    assert!(!run.err.contains("`alone`"), "{command} {way:?}: {run:?}");
}

#[test]
fn a_load_of_what_is_mixed_is_found_by_name() {
    is_found(MIXED[0], "sim", AWAY[0]);
    is_found(MIXED[0], "run", AWAY[1]);
}

#[test]
fn a_store_to_what_is_mixed_is_found_by_name() {
    is_found(MIXED[1], "sim", AWAY[1]);
    is_found(MIXED[1], "run", AWAY[2]);
}

#[test]
fn a_spin_on_what_is_mixed_is_found_by_name() {
    is_found(MIXED[2], "sim", AWAY[3]);
    is_found(MIXED[2], "run", AWAY[0]);
}

#[test]
#[ignore = "half a minute"]
fn what_is_mixed_is_found_by_name() {
    for what in MIXED {
        for way in AWAY {
            BOTH.iter().for_each(|command| is_found(what, command, way));
        }
    }
}

/// Who does not want to know gets an old value.
#[test]
fn what_is_mixed_is_not_looked_for_if_it_is_not_wanted() {
    let load = mixed(MIXED[0][0]);
    assert_eq!(run("run", &[("mixed.sc", &load)], ("stache", "64"), &["--no-check-unchecked"]).code, Some(0));
}

#[test]
fn what_is_mixed_is_right_where_data_stay_at_home() {
    for [access, ..] in MIXED {
        assert_eq!(run("run", &[("mixed.sc", &mixed(access))], ("uncached", "64"), &[]).code, Some(0));
    }
}

/// What others read may be read here too, as fast as any memory, until it is written; and it may be stored to again after its copies have gone.
#[track_caller]
fn comes_and_goes(way: (&str, &str), commands: &[&str]) {
    let text = r#"
        #include <stdio.h>
        static int words[4];
        int splitc_main(void) {
            int left = (MYPROC + 1) % PROCS, sum = 0;
            for (int round = 1; round <= 20; round++) {
                *toglobal(MYPROC, words) = round;
                for (int i = 1; i < 4; i++) words[i] = round * i;
                barrier();
                for (int i = 0; i < 4; i++) sum += *toglobal(left, &words[i]) + words[i];
                barrier();
            }
            printf("%d\n", sum);
            return 0;
        }"#;
    for command in commands {
        let run = run(command, &[("words.sc", text)], way, &["--format", "json"]);
        match way.0 {
            // A block has one holder there: the neighbour has taken it when this processor reads it again.
            "migratory" => assert!(run.err.contains("is `words`") || run.err.contains("of `words`"), "{run:?}"),
            _ => assert_eq!(run.json(0)["output"].as_str().unwrap(), "2940\n2940\n", "{command} {way:?}"),
        }
    }
}

const TAGGED: [(&str, &str); 5] =
    [("uncached", "64"), ("stache", "64"), ("msi", "64"), ("swcc", "32"), ("migratory", "256")];

#[test]
fn access_comes_and_goes_with_the_tag() {
    TAGGED[..3].iter().enumerate().for_each(|(at, way)| comes_and_goes(*way, in_turns(at)));
}

#[test]
fn access_comes_and_goes_with_the_tag_of_other_protocols() {
    TAGGED[3..].iter().enumerate().for_each(|(at, way)| comes_and_goes(*way, in_turns(at)));
}

#[test]
#[ignore = "ten seconds"]
fn access_comes_and_goes_with_every_tag_in_both() {
    TAGGED.iter().for_each(|way| comes_and_goes(*way, BOTH));
}
