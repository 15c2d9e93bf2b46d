//! A processor's own variables in Split-C (`docs/split-c.md`, "Accesses by local pointers"): what nobody else touches is never lost, and what
//! lies in a block with what others touch is found, by name.

mod harness;

use harness::{Run, trivium};

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
    let folder = tempfile::tempdir().unwrap();
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

#[test]
fn what_nobody_else_touches_is_never_lost() {
    for way in UNDER {
        for command in ["sim", "run"] {
            let result = run(command, &NEIGHBOURS, way, &["--format", "json"]).json(0);
            let expected = "126 6 l 28 25\n";
            assert_eq!(result["output"].as_str().unwrap(), expected.repeat(2), "{command} {way:?}");
        }
    }
}

/// A load and a store in an array of which another processor writes an element; a spin on one's own flag.
#[test]
fn what_is_mixed_is_found_by_name() {
    let mixed = |access: &str| {
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
    };
    let load = mixed("printf(\"%d\\n\", *(volatile int *)&box.words[3]);");
    let store = mixed("*(volatile int *)&box.words[3] = 7;");
    let spin = mixed("while (!flag) {}");
    for (text, what, name) in [
        (&load, "node 1 loads 0x", "is byte 16 of `box`"),
        (&store, "node 1 stores to 0x", "is byte 16 of `box`"),
        (&spin, "node 1 loads 0x", "is `flag`"),
    ] {
        for way in [("stache", "64"), ("msi", "1024"), ("swcc", "256"), ("migratory", "64")] {
            for command in ["sim", "run"] {
                let run = run(command, &[("mixed.sc", text)], way, &[]);
                assert_eq!(run.code, Some(1), "{command} {way:?}: {run:?}");
                assert!(run.err.contains(what) && run.err.contains(name), "{command} {way:?}: {run:?}");
                assert!(run.err.contains("mixed.sc:10"), "{command} {way:?}: {run:?}");
                assert!(!run.err.contains("`alone`"), "{command} {way:?}: {run:?}");
            }
        }
    }
    // Who does not want to know gets an old value; where data stay at home, all is well.
    assert_eq!(run("run", &[("mixed.sc", &load)], ("stache", "64"), &["--no-check-unchecked"]).code, Some(0));
    for text in [&load, &store, &spin] {
        assert_eq!(run("run", &[("mixed.sc", text)], ("uncached", "64"), &[]).code, Some(0));
    }
}

/// What others read may be read here too, as fast as any memory, until it is written; and it may be stored to again after its copies have gone.
#[test]
fn access_comes_and_goes_with_the_tag() {
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
    for way in [("uncached", "64"), ("stache", "64"), ("msi", "64"), ("swcc", "32"), ("migratory", "256")] {
        for command in ["sim", "run"] {
            let run = run(command, &[("words.sc", text)], way, &["--format", "json"]);
            match way.0 {
                // A block has one holder there: the neighbour has taken it when this processor reads it again.
                "migratory" => assert!(run.err.contains("is `words`") || run.err.contains("of `words`"), "{run:?}"),
                _ => assert_eq!(run.json(0)["output"].as_str().unwrap(), "2940\n2940\n", "{command} {way:?}"),
            }
        }
    }
}
