//! `trivium interpret`: what C* means, against what the compiler makes of it.

use crate::harness::{lasting, trivium};

/// What a program prints when it is compiled, and runs on so many nodes.
fn compiled(program: &str, nodes: &str, flags: &[&str]) -> String {
    let run = trivium(&[&["run", program, "-p", "stache", "-n", nodes], flags].concat());
    assert_eq!(run.code, Some(0), "{program}: {}", run.err);
    run.out.split("\noutput\n").nth(1).unwrap_or_else(|| panic!("no output: {}", run.out)).to_string()
}

/// What it prints when it is interpreted.
fn interpreted(program: &str, nodes: &str, flags: &[&str]) -> String {
    let run = trivium(&[&["interpret", program, "-n", nodes], flags].concat());
    assert_eq!(run.code, Some(0), "{program}: {}", run.err);
    run.out
}

#[track_caller]
fn agrees(program: &str, flags: &[&str]) {
    for nodes in ["1", "2", "3", "8"] {
        let interpreted = interpreted(program, nodes, flags);
        assert!(interpreted.contains('\n'), "{program} prints something");
        assert_eq!(interpreted, compiled(program, nodes, flags), "{program}, {nodes} nodes");
    }
}

#[test]
fn every_construct_means_what_the_compiler_makes_of_it() {
    agrees("crates/trivium/tests/c-star/language.cs", &[]);
}

#[test]
fn shifts_and_commas_mean_what_the_compiler_makes_of_them() {
    agrees("crates/trivium/tests/c-star/shifts.cs", &[]);
    agrees("crates/trivium/tests/c-star/shifts-to.cs", &[]);
    agrees("crates/trivium/tests/c-star/combined.cs", &[]);
    agrees("crates/trivium/tests/c-star/commas.cs", &[]);
}

#[test]
fn control_means_what_the_compiler_makes_of_it() {
    agrees("crates/trivium/tests/c-star/control.cs", &[]);
}

#[test]
fn the_programs_of_the_page_mean_what_the_compiler_makes_of_them() {
    agrees("docs/cstar/first.cs", &[]);
    agrees("docs/cstar/places.cs", &[]);
}

#[test]
fn grids_mean_what_the_compiler_makes_of_them() {
    agrees("programs/cstar/jacobi.cs", &["--cc=-DROWS=19 -DCOLUMNS=13 -DPASSES=7"]);
    agrees("programs/cstar/life.cs", &[]);
}

/// Sums that depend on their order, by every digit.
#[test]
fn sums_have_the_bits_of_the_nodes_that_they_are_asked_for() {
    let text = r#"#include <stdio.h>
shape [37]S;
double:S d;
float:S f;
int main(void) {
    with (S) {
        d = 1.0 / (1 + pcoord(0)) - 0.1 * (pcoord(0) & 3);
        f = d * 1e3;
        printf("%a %a %a\n", (+= d), (-= d), (double)(+= f));
        where (pcoord(0) %% 3 != 1) {
            double s = 0.1;
            s += d; s -= d * f; s <?= d + 50;
            printf("%a %a %a\n", s, (+= (d * f)), (double)(-= f));
        }
    }
    return 0;
}
"#;
    let program = lasting("bits.cs", text);
    let program = program.to_str().unwrap();
    let found: Vec<String> = ["1", "3", "8"]
        .map(|nodes| {
            let found = interpreted(program, nodes, &[]);
            assert_eq!(found, compiled(program, nodes, &[]), "{nodes} nodes");
            found
        })
        .into();
    assert!(found[0] != found[1] && found[1] != found[2], "the order is seen: {found:?}");
}

/// A value that has no place is told with the position that asks for it; what was printed before stays.
#[test]
fn an_index_outside_of_its_shape_is_told_with_its_position() {
    let text = "#include <stdio.h>\nshape [10]S, [3][4]T;\nint:S x;\nint:T t;\nint main(void) {\n    with (T) {\n        printf(\"before\\n\");\n        t = 1;\n        where (pcoord(0) == 2 & pcoord(1) > 0)\n            t = [pcoord(1) * 5]x;\n    }\n    return 0;\n}\n";
    let program = lasting("asks.cs", text);
    let failed = trivium(&["interpret", program.to_str().unwrap()]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert_eq!(failed.out, "before\n");
    let what = "the left index 10 is outside of the shape S, whose dimension 0 has 10 positions; it is that of position [2][2] of T";
    for part in [what, "asks.cs:10"] {
        assert!(failed.err.contains(part), "{part}: {}", failed.err);
    }
}

/// What is wrong with a program is said in the same words, whoever finds it.
#[test]
fn mistakes_are_those_of_the_compiler() {
    for (name, text) in [
        ("own.cs", "shape [10]S;\nint:S x;\nint main(void) {\n    x = 1;\n    with (S) { x *= y; return x; }\n}\n"),
        ("of-c.cs", "shape [10]S;\ndouble:S x;\nint main(void) {\n    with (S) x = x % 2;\n    return 0;\n}\n"),
    ] {
        let program = lasting(name, text);
        let program = program.to_str().unwrap();
        let [interpreted, compiled] = [&["interpret", program][..], &["run", program, "-p", "stache"]].map(trivium);
        assert_eq!((interpreted.code, interpreted.err), (Some(2), compiled.err), "{name}");
    }
    trivium(&["interpret", "programs/ring.c"]).refuses(2, &["programs/ring.c is not in C*", "trivium run"]);
    trivium(&["interpret", "none.cs"]).refuses(2, &["none.cs"]);
}

/// Files share shapes and contexts; arguments arrive, and the code of an end is the program's.
#[test]
fn a_program_may_have_several_files_and_a_code_of_its_own() {
    let first = "#include <stdlib.h>\nshape [10]S;\nint:S x;\nvoid mark(int n);\nint twice(int n);\nint main(int argc, char **argv) {\n    with (S) {\n        where (pcoord(0) > 6) mark(twice(4));\n        return (+= x) + atoi(argv[argc - 1]);\n    }\n}\n";
    let second = "extern shape [10]S;\nextern int:S x;\nvoid mark(int n) {\n    with (S) {\n        x = n;\n        where (pcoord(0) == 9) return;\n    }\n}\n";
    let third = "int twice(int n) { return 2 * n; }\n";
    let files = [("one.cs", first), ("two.cs", second), ("three.c", third)].map(|(name, text)| lasting(name, text));
    let names: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let ended = |nodes: &str| trivium(&[&["interpret"], &names[..], &["-n", nodes, "--", "{nodes}"]].concat());
    let run = ended("6");
    assert_eq!(run.code, Some(30), "{run:?}");
    assert!(run.err.contains("one.cs ended with code 30"), "{run:?}");
}

/// Rows, positions that are not active, structures, variables of functions and what they give.
#[test]
fn statements_tell_what_they_have_done() {
    let text = r#"shape [20]S, [2][3]T;
struct pair { int a, b; };
struct pair:S p;
unsigned char:S c;
double:T t;
int:current next(int:current n) {
    return n + 1;
}
int main(void) {
    with (T) {
        t = 0.5 * pcoord(1);
        where (pcoord(0) == 1 & pcoord(1) != 1)
            t = next(pcoord(1))
                + 1;
    }
    with (S) {
        p.b = 7; c = 250 + pcoord(0);
        where (pcoord(0) & 1) p = [19 - .]p;
    }
    return 0;
}
"#;
    let wanted = "told.cs:11: t = 0.5 * pcoord(1);
    all 6 positions of T are active
    t:
        [0] 0 0.5 1
        [1] 0 0.5 1
told.cs:12: where (pcoord(0) == 1 & pcoord(1) != 1)
    all 6 positions of T are active
    pcoord(0) == 1 & pcoord(1) != 1:
        [0] 0 0 0
        [1] 1 0 1
told.cs:7: return n + 1;
    2 of 6 positions of T are active: [1][0], [1][2]
    n + 1:
        [0] (0) (0) (0)
        [1] 1 (0) 3
told.cs:13: t = next(pcoord(1)) + 1;
    2 of 6 positions of T are active: [1][0], [1][2]
    t:
        [0] (0) (0.5) (1)
        [1] 2 (0.5) 4
told.cs:17: p.b = 7;
    all 20 positions of S are active
    p.b: 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 ..
told.cs:17: c = 250 + pcoord(0);
    all 20 positions of S are active
    c: 250 251 252 253 254 255 0 1 2 3 4 5 6 7 8 9 ..
told.cs:18: where (pcoord(0) & 1)
    all 20 positions of S are active
    pcoord(0) & 1: 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 ..
told.cs:18: p = [19 - .]p;
    10 of 20 positions of S are active: [1], [3], [5], [7], [9], [11], [13], [15], and others
    p: structures of 8 bytes
";
    let program = lasting("told.cs", text);
    let folder = program.parent().unwrap().display().to_string();
    let run = trivium(&["interpret", "--trace", program.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.out.replace(&format!("{folder}/"), ""), wanted);
}
