//! What a program has printed is told, also when it fails.

use crate::harness::{keys, trivium};
use std::path::PathBuf;

/// A C program in a folder of its own.
fn source(folder: &crate::harness::Folder, name: &str, body: &str) -> String {
    let path: PathBuf = folder.path().join(name);
    let text = format!(
        "#include \"trivium.h\"\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         int main(void) {{ volatile int zero = 0; (void)zero; printf(\"node %d is here\\n\", trivium_node());\n\
         fprintf(stderr, \"so far so good\\n\"); trivium_barrier();\n{body}\n return 0; }}\n"
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// The lines of an output, in the order of the nodes: which prints first depends on how long it takes to print a number.
fn lines(output: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    lines
}

/// It was lost on every node, when one of them failed.
#[test]
fn what_a_failing_program_printed_is_told() {
    let folder = crate::harness::folder();
    let ends = [
        ("fail", "if (trivium_node() == 1) trivium_fail(\"wrong\");", "the program reports: wrong"),
        ("trap", "if (trivium_node() == 1) printf(\"%d\\n\", 100 / zero);", "divi"),
        ("abort", "if (trivium_node() == 1) abort();", "aborted"),
        ("deadlock", "if (trivium_node() == 1) trivium_barrier();", "deadlock"),
    ];
    for (name, body, what) in ends {
        let path = source(&folder, &format!("{name}.c"), body);
        let args = ["sim", &path, "-p", "stache", "-m", "typhoon", "-n", "2"];
        let run = trivium(&args);
        assert_eq!((run.code, lines(&run.out)), (Some(1), vec!["node 0 is here", "node 1 is here"]), "{name}: {run:?}");
        assert!(run.err.starts_with("so far so good\nso far so good\nerror: ") && run.err.contains(what), "{run:?}");

        let run = trivium(&[&args[..], &["--format", "json"]].concat());
        let result = run.json(1);
        assert_eq!(lines(result["output"].as_str().unwrap()), ["node 0 is here", "node 1 is here"], "{name}");
        assert_eq!(result["errors"], "so far so good\nso far so good\n", "{name}");
        assert!(result["error"]["what"].as_str().unwrap().contains(what), "{result}");
        assert!(result["error"]["notes"][0].as_str().unwrap().contains("node "), "{result}");
        let head =
            ["schema", "version", "command", "protocols", "machine", "program", "args", "hashes", "nodes", "seed"];
        assert_eq!(keys(&result)[..head.len()], head);
        assert_eq!(keys(&result["hashes"]), ["program", "protocol stache", "machine typhoon"]);
        for jobs in ["2", "1"] {
            let again = trivium(&[&args[..], &["--format", "json", "--jobs", jobs]].concat());
            assert_eq!(again.out, run.out, "{name}, {jobs} host threads");
        }
    }
}

/// What is printed behind the failure, on a node that has been simulated further, is not told: it would depend on how far.
#[test]
fn what_is_printed_after_the_failure_is_not_told() {
    let folder = crate::harness::folder();
    let body = "if (trivium_node() == 1) trivium_fail(\"wrong\"); \
                for (int i = 0; i < 9; i++) printf(\"line %d\\n\", i);";
    let path = source(&folder, "late.c", body);
    let args = ["sim", &path, "-p", "stache", "-m", "typhoon", "-n", "2"];
    let outputs: Vec<_> = [&["--window", "0"][..], &["--window", "1"], &[], &["--reference"]]
        .iter()
        .map(|how| trivium(&[&args[..], how].concat()).out)
        .collect();
    assert!(outputs.iter().all(|output| *output == outputs[0]), "{outputs:?}");
}

#[test]
fn a_limit_and_a_wrong_exit_code_tell_the_output_too() {
    let folder = crate::harness::folder();
    let path = source(&folder, "endless.c", "if (trivium_node() == 1) for (;;) zero++;");
    let args = ["sim", &path, "-p", "stache", "-m", "typhoon", "-n", "2", "--max-cycles", "200000"];
    let run = trivium(&args);
    assert!(run.code == Some(3) && run.out.contains("node 1 is here"), "{run:?}");
    let result = trivium(&[&args[..], &["--format", "json"]].concat()).json(3);
    assert_eq!(lines(result["output"].as_str().unwrap()), ["node 0 is here", "node 1 is here"]);

    let path = source(&folder, "code.c", "if (trivium_node() == 1) return 7;");
    let run = trivium(&["compare", &path, "--protocols", "stache", "--machines", "typhoon", "-n", "2"]);
    assert!(run.code == Some(7) && run.err.contains("node 1 is here"), "{run:?}");
    let path = source(&folder, "fails.c", "trivium_fail(\"no\");");
    let run = trivium(&["compare", &path, "--protocols", "stache", "--machines", "typhoon", "-n", "2"]);
    assert!(run.code == Some(1) && run.out.contains("node 1 is here"), "{run:?}");
}

/// A program written for OpenMP ran on one thread of each node, without a word.
#[test]
fn pragmas_of_openmp_are_told() {
    let folder = crate::harness::folder();
    let body = "int sum = 0;\n#pragma omp parallel for\nfor (int i = 0; i < 4; i++) sum += i;\nprintf(\"%d\\n\", sum);";
    let path = source(&folder, "omp.c", body);
    // What is kept is not compiled, and nothing is told of it again: a flag makes it another program.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let run = trivium(&["sim", &path, "-p", "stache", "-m", "typhoon", "-n", "2", &format!("--cc=-DNOW={now}")]);
    assert!(run.code == Some(0) && run.err.contains("omp.c:8") && run.err.contains("#pragma omp"), "{run:?}");
}

/// Standard error was mixed byte by byte where nodes printed at the same time, and so was standard output without a buffer.
#[test]
fn lines_of_several_nodes_stay_whole() {
    let folder = crate::harness::folder();
    let body = "setvbuf(stdout, NULL, _IONBF, 0);\n\
        for (int i = 0; i < 3; i++) for (const char *c = \"one line\\n\"; *c; c++) { fputc(*c, stderr); putchar(*c); }\n\
        fputs(\"no end\", stderr);";
    let path = source(&folder, "lines.c", body);
    let args = ["sim", &path, "-p", "stache", "-m", "typhoon", "-n", "4", "--format", "json"];
    let result = trivium(&args).json(0);
    let expected = "so far so good\n".repeat(4) + &"one line\n".repeat(12) + &"no end".repeat(4);
    assert_eq!(result["errors"], expected.as_str());
    assert!(result["output"].as_str().unwrap().ends_with(&"one line\n".repeat(12)), "{result}");
    let other = trivium(&[&args[..], &["--jobs", "2"]].concat()).json(0);
    assert_eq!((&other["errors"], &other["output"]), (&result["errors"], &result["output"]));
}
