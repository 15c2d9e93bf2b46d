//! C*: programs give the bits of sequential C on any number of nodes, in simulations and in runs; what is said of wrong ones.

#[path = "../../../front/tests/changed/mod.rs"]
mod changed;

use crate::harness::{Run, in_file, root, trivium};
use crate::slow;
use std::path::PathBuf;

/// The lines that the program itself printed.
fn output(run: &Run) -> String {
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.out.split("\noutput\n").nth(1).unwrap_or_else(|| panic!("no output: {}", run.out)).to_string()
}

/// A simulation; `how`: what stands behind the program's name.
fn simulated(program: &str, how: &[&str]) -> String {
    output(&trivium(&[&["sim", program, "-p", "stache", "-m", "typhoon"][..], how].concat()))
}

fn run(program: &str, how: &[&str]) -> String {
    output(&trivium(&[&["run", program, "-p", "stache"][..], how].concat()))
}

/// A small grid, which the nodes do not divide.
const SMALL: &str = "--cc=-DROWS=19 -DCOLUMNS=13 -DPASSES=7";

/// Programs that are there in sequential C too, with sizes that the nodes do not divide.
const PROGRAMS: [(&str, &str); 6] = [
    ("jacobi", SMALL),
    ("gauss", "--cc=-DSIZE=19"),
    ("matrix", "--cc=-DSIZE=19"),
    ("ocean", "--cc=-DCOLUMNS=19 -DROWS=7 -DSTEPS=4"),
    ("shallow", "--cc=-DSIZE=13 -DSTEPS=4"),
    ("misra", "--cc=-DGATES=100 -DVECTORS=5"),
];

#[test]
fn programs_give_the_bits_of_sequential_c() {
    for (name, size) in PROGRAMS {
        let (c, c_star) = (format!("programs/cstar/{name}.c"), format!("programs/cstar/{name}.cs"));
        let expected = simulated(&c, &["-n", "1", size]);
        assert!(expected.starts_with(&format!("{name}: ")), "{expected}");
        for nodes in slow::all_or(&["1", "3"][..], &["3"]) {
            assert_eq!(simulated(&c_star, &["-n", *nodes, size]), expected, "{name} simulated, {nodes} nodes");
        }
        assert_eq!(run(&c_star, &["-n", "8", size]), expected, "{name} run, 8 nodes");
    }
}

/// At the sizes of the source.
#[test]
#[ignore = "takes minutes"]
fn whole_programs_give_the_bits_of_sequential_c() {
    for (name, _) in PROGRAMS {
        let (c, c_star) = (format!("programs/cstar/{name}.c"), format!("programs/cstar/{name}.cs"));
        let expected = simulated(&c, &["-n", "1"]);
        for nodes in ["1", "2", "4", "8", "16", "64"] {
            assert_eq!(simulated(&c_star, &["-n", nodes]), expected, "{name}, {nodes} nodes");
        }
        for machine in ["now", "flash"] {
            let how = ["sim", &c_star, "-p", "msi", "-m", machine, "-n", "8"];
            assert_eq!(output(&trivium(&how)), expected, "{name} on {machine}");
        }
        assert_eq!(run(&c_star, &["-n", "8"]), expected, "{name} run");
    }
}

#[test]
fn jacobi_gives_the_same_bits_under_other_protocols() {
    let expected = simulated("programs/cstar/jacobi.c", &["-n", "1", SMALL]);
    for protocol in slow::all_or(&["msi", "swcc", "uncached"][..], &["msi"]) {
        let how = ["sim", "programs/cstar/jacobi.cs", "-p", *protocol, "-m", "typhoon", "-n", "3", SMALL];
        assert_eq!(output(&trivium(&how)), expected, "{protocol}");
    }
}

#[test]
fn there_may_be_fewer_positions_than_nodes() {
    let tiny = "--cc=-DROWS=3 -DCOLUMNS=3 -DPASSES=2";
    let expected = simulated("programs/cstar/jacobi.c", &["-n", "1", tiny]);
    assert_eq!(simulated("programs/cstar/jacobi.cs", &["-n", "16", tiny]), expected);
}

/// A program of this text, and where it lies.
fn written(folder: &crate::harness::Folder, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// A file beside one in C, and a function with parallel statements that is called in a context.
#[test]
fn programs_of_several_files_share_shapes_and_contexts() {
    let folder = crate::harness::folder();
    let first = "#include <stdio.h>\nshape [10]S;\nint:S x;\nvoid mark(int n);\nint twice(int n);\n\
                 int main(void) {\n    with (S) {\n        x = 0;\n        where (pcoord(0) > 6) mark(twice(4));\n        \
                 int s = (+= x);\n        printf(\"%d %d %d\\n\", [6]x, [7]x, s);\n    }\n    return 0;\n}\n";
    let second = "extern shape [10]S;\nextern int:S x;\nvoid mark(int n) {\n    with (S) {\n        x = n;\n        \
                  where (pcoord(0) == 9) return;\n    }\n}\n";
    let third = "int twice(int n) { return 2 * n; }\n";
    let files = [("first.cs", first), ("second.cs", second), ("third.c", third)]
        .map(|(name, text)| written(&folder, name, text).display().to_string());
    for nodes in ["1", "3"] {
        let mut how = vec!["sim"];
        how.extend(files.iter().map(String::as_str));
        how.extend(["-p", "stache", "-m", "typhoon", "-n", nodes]);
        assert_eq!(output(&trivium(&how)), "0 8 24\n", "{nodes} nodes");
    }
}

/// What it prints was found by hand. It is printed once, however many nodes there are.
#[test]
fn control_goes_around_parallel_statements() {
    let program = "crates/trivium/tests/c-star/control.cs";
    for nodes in ["1", "2", "9"] {
        assert_eq!(simulated(program, &["-n", nodes]), "6 -261 21 3 102\n130 2 7 14\n", "{nodes} nodes");
    }
}

/// Parallel functions, structures, arrays and variables of functions; sends, and what `&&`, `||` and `?` narrow. What it prints was looked through by hand.
#[test]
fn every_construct_gives_what_was_found_by_hand() {
    let expected = include_str!("../c-star/language.txt");
    for nodes in ["1", "3", "8"] {
        assert_eq!(simulated("crates/trivium/tests/c-star/language.cs", &["-n", nodes]), expected, "{nodes} nodes");
    }
    assert_eq!(run("crates/trivium/tests/c-star/language.cs", &["-n", "3"]), expected);
}

/// By read-modify-writes and by posts; through a tree, and by accesses of all nodes.
#[test]
fn what_is_combined_is_the_same_whichever_way_it_goes() {
    let expected = include_str!("../c-star/combined.txt");
    let program = "crates/trivium/tests/c-star/combined.cs";
    let ways = ["--cc=-DCSTAR_POSTS", "--cc=-DCSTAR_TREES", "--cc=-DCSTAR_POSTS -DCSTAR_TREES"];
    for (number, protocol) in ["stache", "uncached", "swcc", "msi", "flash-fenced"].into_iter().enumerate() {
        let machine = if protocol == "flash-fenced" { "flash" } else { "typhoon" };
        for nodes in slow::in_turn(4, number, ["3", "8", "1", "17"]) {
            let how = ["sim", program, "-p", protocol, "-m", machine, "-n", nodes];
            assert_eq!(output(&trivium(&how)), expected, "{protocol}, {nodes} nodes");
            for way in slow::in_turn(3, number, ways) {
                let how = [&how[..], &[way]].concat();
                assert_eq!(output(&trivium(&how)), expected, "{protocol}, {nodes} nodes, {way}");
            }
        }
    }
    for how in [&["-n", "5"][..], &["-n", "5", "--cc=-DCSTAR_TREES"]] {
        assert_eq!(run(program, how), expected, "{how:?}");
    }
}

/// Small programs, how they are run, and what they print.
const SMALL_PROGRAMS: [(&str, &[&str], &str); 4] = [
    // A barrier waits for stores.
    (
        "shape [8]S;\nint:S x, y;\nint main(void) {\n    int wrong = 0;\n    for (int i = 1; i < 100; i++) with (S) {\n        \
         x = i;\n        y = [(. + 4) %% 8]x;\n        where (y != i) wrong += (+= (y - y + 1));\n    }\n    \
         printf(\"%d wrong\\n\", wrong);\n}\n",
        &["run", "-p", "flash-fenced", "-n", "2", "--delays", "1"],
        "0 wrong\n",
    ),
    // Distances that are as large as there are numbers.
    (
        "shape [4]S;\nint:S x, y;\nint main(void) {\n    with (S) {\n        x = pcoord(0);\n        \
         y = from_grid_dim(x, 7, 0, -__LONG_LONG_MAX__ - 1);\n        int s = (+= y);\n        y = 0;\n        \
         where (x > 0) y = from_torus_dim(x, 0, __LONG_LONG_MAX__);\n        printf(\"%d %d\\n\", s, (+= y));\n    }\n}\n",
        &["sim", "-p", "stache", "-m", "typhoon", "-n", "1"],
        "28 3\n",
    ),
    // A message of the tree goes in two blocks.
    (
        "shape [40]S;\nint:S x;\nint main(void) {\n    int wrong = 0;\n    with (S) x = pcoord(0) + 100;\n    \
         for (int i = 0; i < 40; i++) wrong += [i]x != i + 100;\n    printf(\"%d wrong\\n\", wrong);\n}\n",
        &["run", "-p", "uncached", "-n", "4", "--block", "8", "--delays", "2", "--cc=-DCSTAR_TREES"],
        "0 wrong\n",
    ),
    // What the library has no read-modify-write for.
    (
        "shape [8]S;\nstruct p { unsigned b : 3; };\nstruct p:S u;\n__int128:S v;\n_Complex double:S z;\nint:S w;\n\
         int main(void) {\n    [3]u.b = 5;\n    with (S) {\n        v = pcoord(0);\n        [. / 2]v += v;\n        z = pcoord(0);\n        \
         [. / 2]z += z;\n        [. / 2]w += 1;\n    }\n    printf(\"%d %d %g\\n\", (int)[3]v, [2]w, (double)[3]z);\n}\n",
        &["sim", "-p", "stache", "-m", "typhoon", "-n", "2"],
        "16 2 16\n",
    ),
];

#[test]
fn small_programs_print_what_was_found_by_hand() {
    let folder = crate::harness::folder();
    for (text, how, expected) in SMALL_PROGRAMS {
        let program = written(&folder, "small.cs", &format!("#include <stdio.h>\n{text}"));
        let run = trivium(&[&[how[0], program.to_str().unwrap()], &how[1..]].concat());
        assert!(!run.err.contains("warning"), "{}", run.err);
        assert_eq!(output(&run), expected, "{text}");
    }
}

/// Nothing says when others see what is stored.
#[test]
fn protocols_without_a_promise_about_loads_are_refused() {
    for protocol in ["update", "flash-relaxed", "eager"] {
        let run = trivium(&["run", "docs/cstar/told.cs", "-p", protocol, "-n", "2"]);
        assert_eq!(run.code, Some(2), "{protocol}: {}", run.err);
        assert!(
            run.err.contains(&format!("the variables of C* cannot be under protocol `{protocol}`: it ")),
            "{}",
            run.err
        );
    }
}

/// A node's part is its equal share.
#[test]
fn positions_are_dealt_out_equally() {
    let folder = crate::harness::folder();
    let text =
        "#include <stdio.h>\nshape [1024]S;\nint main(void) { printf(\"%d\\n\", cstar_state_S.count); return 0; }\n";
    let program = written(&folder, "share.cs", text);
    assert_eq!(simulated(program.to_str().unwrap(), &["-n", "16"]), "64\n");
}

/// What nodes get that have rectangles, of shapes that they do not divide.
#[test]
fn a_shape_is_dealt_out_in_blocks() {
    for nodes in ["1", "4", "6", "12"] {
        assert_eq!(
            simulated("crates/trivium/tests/c-star/blocks.cs", &["-n", nodes]),
            "7496 3324 403 9119\n",
            "{nodes} nodes"
        );
    }
}

/// Messages of a kind in a simulation of jacobi.cs on 8 nodes.
fn messages(kind: &str, passes: usize, more: &str) -> u64 {
    let flags = format!("--cc=-DPASSES={passes} {more}");
    let run = trivium(&["sim", "programs/cstar/jacobi.cs", "-p", "uncached", "-m", "typhoon", "-n", "8", &flags]);
    let line = run.out.lines().find(|line| line.trim().starts_with(&format!("uncached.{kind} "))).expect("messages");
    line.split_whitespace().last().unwrap().replace(',', "").parse().unwrap()
}

/// On 8 nodes of 2 x 4 blocks: 1,008 of the inner positions' gets are of other nodes, by calls and by loads. The reduction is 7 more for each node.
#[test]
fn a_pass_of_jacobi_gets_what_stands_at_the_edges_of_blocks() {
    for (kind, flag) in [("Get", ""), ("Read", "-DCSTAR_ACCESSES")] {
        assert_eq!(messages(kind, 4, flag) - messages(kind, 3, flag), 1_008 + 7 * 8, "{kind}");
    }
}

/// Of these 1,008 the 252 between the two rows of nodes lie side by side: each node gets 31 or 32 numbers, in 4 blocks of 64 bytes. The first of them goes
/// alone where what its position gets from the left comes from another node, too: at 6 nodes.
#[test]
fn what_lies_side_by_side_goes_by_one_call() {
    let flag = "-DCSTAR_BULK";
    assert_eq!(messages("Get", 4, flag) - messages("Get", 3, flag), 1_008 - 252 + 8 * 4 + 6 + 7 * 8);
}

/// What positions get and send at a distance, around the end and at a border; commas; indices of what is left-indexed. What it prints was found by hand.
#[test]
fn shifts_and_commas_give_what_was_found_by_hand() {
    let programs = [
        ("shifts", include_str!("../c-star/shifts.txt")),
        ("shifts-to", include_str!("../c-star/shifts-to.txt")),
        ("commas", include_str!("../c-star/commas.txt")),
    ];
    for (number, (name, expected)) in programs.into_iter().enumerate() {
        let program = format!("crates/trivium/tests/c-star/{name}.cs");
        let systems = [("stache", "3"), ("uncached", "3"), ("swcc", "8"), ("stache", "1")];
        for (protocol, nodes) in slow::in_turn(4, number, systems) {
            let how = ["sim", &program, "-p", protocol, "-m", "typhoon", "-n", nodes];
            assert_eq!(output(&trivium(&how)), expected, "{name}, {protocol}, {nodes} nodes");
        }
    }
}

/// A file that says of another file's variable what it is not: it would read and write what is beside it.
#[test]
fn a_variable_has_one_shape_and_type_in_all_files() {
    let folder = crate::harness::folder();
    let first =
        in_file(&folder, "a.cs", "void other(void); shape [4]S; int:S a; int main(void) { other(); return 0; }\n");
    for (declared, told) in [
        ("shape [9]T; extern int:T a;", "a has the shape S in the file that defines it, and T in another"),
        (
            "extern shape [4]S; extern double:S a;",
            "the values of a have 4 bytes in the file that defines it, and 8 in another",
        ),
    ] {
        let second = in_file(&folder, "b.cs", &format!("{declared} void other(void) {{ }}\n"));
        trivium(&["sim", &first, &second, "-p", "stache", "-m", "typhoon", "-n", "2"]).refuses(1, &[told]);
        trivium(&["interpret", &first, &second]).refuses(1, &[told]);
    }
    let second =
        in_file(&folder, "b.cs", "extern shape [4]S; extern int:S a, never; void other(void) { with (S) a = 1; }\n");
    assert_eq!(trivium(&["sim", &first, &second, "-p", "stache", "-m", "typhoon", "-n", "2"]).code, Some(0));
}

/// What is got and sent goes by the calls of a protocol that has them, with the same results.
#[test]
fn calls_of_a_protocol_bring_what_accesses_do() {
    for (program, flags) in [
        ("crates/trivium/tests/c-star/language.cs", ""),
        ("crates/trivium/tests/c-star/blocks.cs", ""),
        ("programs/cstar/ocean.cs", "-DROWS=20 -DCOLUMNS=12 -DSTEPS=3"),
    ] {
        let printed = |protocol: &str, more: &str, nodes: &str| {
            let flags = format!("--cc={flags} {more}");
            let run = trivium(&["sim", program, "-p", protocol, "-m", "typhoon", "-n", nodes, &flags]);
            (output(&run), run.out.contains("uncached.Get ") || run.out.contains("uncached.Put "))
        };
        for nodes in slow::all_or(&["3", "6"][..], &["3"]) {
            let (by_calls, has_called) = printed("uncached", "", nodes);
            let (by_accesses, has_not) = printed("uncached", "-DCSTAR_ACCESSES", nodes);
            assert!(has_called && !has_not, "{program}");
            assert_eq!(by_calls, by_accesses, "{program}, {nodes} nodes");
            assert_eq!(printed("swcc", "", nodes).0, by_calls, "{program}, {nodes} nodes");
        }
    }
}

/// Every reduction, of every position and of none.
#[test]
fn reductions_are_those_of_a_loop() {
    let folder = crate::harness::folder();
    let text = r#"#include <limits.h>
#include <stdio.h>
shape [11]S;
int:S x;
unsigned char:S c;
double:S d;
unsigned long long:S u;
int main(void) {
    with (S) {
        x = pcoord(0) * 3 - 4;
        c = 250 + pcoord(0);
        d = pcoord(0) * 0.1;
        u = 1ull << (5 * pcoord(0));
        int s = 100;
        s += x; s -= x + 1; s <?= x; s |= x;
        printf("%d %d %x %d %d %d %d\n", (+= x), (-= x), (&= (x | 64)), (|= x), (^= x), (<?= x), (>?= x));
        printf("%d %d %.17g %.17g %llx %d\n", (+= c), (>?= c), (<?= d), (>?= d), (+= u), s);
        where (x > 1000) {
            int none = (+= x) == 0 && (-= x) == 0 && (&= x) == -1 && (|= x) == 0 && (^= x) == 0;
            printf("%d %d %d %g %g\n", none, (<?= x) == INT_MAX, (>?= x) == INT_MIN, (<?= d), (>?= d));
        }
    }
    return 0;
}
"#;
    let program = written(&folder, "reductions.cs", text);
    let (x, u): (Vec<i32>, u64) = ((0..11).map(|i| i * 3 - 4).collect(), (0..11).map(|i| 1u64 << (5 * i)).sum());
    let sum: i32 = x.iter().sum();
    let and = x.iter().fold(-1, |a, b| a & (b | 64));
    let (or, xor) = (x.iter().fold(0, |a, b| a | b), x.iter().fold(0, |a, b| a ^ b));
    let characters: Vec<i32> = (0..11).map(|i| (250 + i) % 256).collect();
    let s = (100 + sum - (sum + 11)).min(-4) | or;
    let expected = format!(
        "{sum} {} {and:x} {or} {xor} -4 26\n{} {} 0 1 {u:x} {s}\n1 1 1 inf -inf\n",
        -sum,
        characters.iter().sum::<i32>(),
        characters.iter().max().unwrap()
    );
    for nodes in ["1", "2", "5", "16"] {
        assert_eq!(simulated(program.to_str().unwrap(), &["-n", nodes]), expected, "{nodes} nodes");
    }
}

/// What the checks of a program say while it runs, with the user's own line.
#[test]
fn an_index_outside_of_its_shape_ends_the_program() {
    let folder = crate::harness::folder();
    let text = "shape [10]S;\nint:S x, y;\nint main(void) {\n    with (S) {\n        x = 1;\n        y = [. + 1]x;\n    }\n    return 0;\n}\n";
    let program = written(&folder, "outside.cs", text);
    for command in [&["sim", "-m", "typhoon"][..], &["run"]] {
        let how = [command, &[program.to_str().unwrap(), "-p", "stache", "-n", "3"]].concat();
        let failed = trivium(&how);
        assert_ne!(failed.code, Some(0));
        for part in [
            "the left index 10 is outside of the shape S, whose dimension 0 has 10 positions, at position [9]",
            "outside.cs:6",
            "node 2",
        ] {
            assert!(failed.err.contains(part), "{part}: {}", failed.err);
        }
    }
}

/// What the C compiler finds is told in the user's own line.
#[test]
fn the_compiler_names_the_users_line() {
    let folder = crate::harness::folder();
    let text = "shape [10]S;\ndouble:S x;\nint main(void) {\n    with (S) {\n        x = x % 2;\n        x = [x]x;\n        int s = (|= x);\n        x = unknown + 1;\n    }\n    return 0;\n}\n";
    let program = written(&folder, "refused.cs", text);
    let refused = trivium(&["sim", program.to_str().unwrap(), "-p", "stache", "-m", "typhoon"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    for place in [
        "refused.cs:5:15: error: invalid operands",
        "refused.cs:6:",
        "refused.cs:7:",
        "refused.cs:8:13: error: use of undeclared identifier 'unknown'",
    ] {
        assert!(refused.err.contains(place), "{place}: {}", refused.err);
    }
}

/// A size that is none is told where it stands.
#[test]
fn shapes_have_positions() {
    let folder = crate::harness::folder();
    let program = written(&folder, "none.cs", "shape [3][0]S;\nint:S x;\nint main(void) { return 0; }\n");
    let refused = trivium(&["sim", program.to_str().unwrap(), "-p", "stache", "-m", "typhoon"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(
        refused.err.contains("none.cs:1:8: error:") && refused.err.contains("none.cs:1:11: note:"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("a shape has one position or more in each dimension"), "{}", refused.err);
}

#[test]
fn one_program_is_not_in_two_languages() {
    let how = ["sim", "programs/cstar/life.cs", "programs/split-c/ring.sc", "-p", "stache", "-m", "typhoon"];
    trivium(&how).refuses(2, &["one program cannot be in C* and in Split-C", "programs/cstar/life.cs"]);
}

/// What is shown of a translation has the program's own lines, and no others.
#[test]
fn a_translation_keeps_lines() {
    let text = trivium(&["translate", "programs/cstar/life.cs"]).out;
    let source = std::fs::read_to_string(root().join("programs/cstar/life.cs")).unwrap();
    let line = |text: &str, part: &str| {
        text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {text}"))
    };
    // From the first declaration on: what stands before is the preprocessor's.
    let begin = line(&source, "shape [SIDE]") - line(&text, "struct cstar_state cstar_state_world");
    for part in ["cell = 0", "for (int generation", "int alive"] {
        let own = if part == "cell = 0" { "cell[cstar_vp] = 0" } else { part };
        assert_eq!(line(&text, own) + begin, line(&source, part), "{part}: {text}");
    }
}

/// The C compiler checks types. What it says of a wrong program is about the user's words, not about what is made of them alone.
#[test]
#[ignore = "takes minutes"]
fn what_the_c_compiler_says_is_about_the_program() {
    let folder = crate::harness::folder();
    let headers = format!("--cc=-I{}", root().join("programs/cstar").display());
    let mut refused = 0;
    for (directives, text) in changed::changed(400, 3) {
        let program = written(&folder, "changed.cs", &format!("{directives}{text}"));
        let how = [
            "sim",
            program.to_str().unwrap(),
            "-p",
            "stache",
            "-m",
            "typhoon",
            "-n",
            "1",
            "--max-cycles",
            "1000",
            &headers,
        ];
        let run = trivium(&how);
        if !run.err.contains("the C compiler refuses the program") {
            continue;
        }
        refused += 1;
        let errors: Vec<&str> =
            run.err.lines().filter(|line| line.contains("changed.cs:") && line.contains(": error: ")).collect();
        assert!(errors.iter().any(|line| !line.contains("cstar_")), "{}\n{text}", run.err);
    }
    assert!(refused >= 5, "{refused} were refused by the C compiler");
}
