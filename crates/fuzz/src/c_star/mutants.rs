//! Mistakes that are made in the compiler of C* on purpose, one at a time, to see whether random programs find them: `trivium-fuzz c-star-mutants`.

use super::choose::program;
use super::options::CStarOptions;
use super::trial::{Bench, Setup};
use crate::run::copy;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mistake: in a file, a text that stands there once, and what stands in its place.
struct Mistake {
    name: &'static str,
    file: &'static str,
    text: &'static str,
    instead: &'static str,
}

const HEADER: &str = "programs/include/cstar.h";
const LIBRARY: &str = "programs/include/cstar.c";
const COMMUNICATION: &str = "crates/front/src/dialect/c_star/communication.rs";
const EXPRESSIONS: &str = "crates/front/src/dialect/c_star/expressions.rs";
const FLOW: &str = "crates/front/src/dialect/c_star/flow.rs";
const PARALLEL: &str = "crates/front/src/dialect/c_star/parallel.rs";
const STATEMENTS: &str = "crates/front/src/dialect/c_star/mod.rs";

const MISTAKES: [Mistake; 22] = [
    Mistake {
        name: "a context is not given back where it is left",
        file: LIBRARY,
        text: "    cstar_widen(context);\n    free(context->mask);",
        instead: "    free(context->mask);",
    },
    Mistake {
        name: "`else` is about the same positions as `where`",
        file: LIBRARY,
        text: "context->mask[i] = !context->mask[i] &&",
        instead: "context->mask[i] = context->mask[i] &&",
    },
    Mistake {
        name: "`else` forgets the context around `where`",
        file: LIBRARY,
        text: "!context->mask[i] && (!context->outer || context->outer[i]);",
        instead: "!context->mask[i];",
    },
    Mistake {
        name: "positions that are not active become so in an inner `where`",
        file: LIBRARY,
        text: "memset(mask, 0, (size_t)state->count);",
        instead: "memset(mask, 1, (size_t)state->count);",
    },
    Mistake {
        name: "`everywhere` keeps the context",
        file: LIBRARY,
        text: "    shape->state->context = 0;\n    return context;",
        instead: "    return context;",
    },
    Mistake {
        name: "a run with one inactive position is taken for whole",
        file: LIBRARY,
        text: "{begin, end, !hole}",
        instead: "{begin, end, 1}",
    },
    Mistake {
        name: "a local variable does not begin with zeros where positions are not active",
        file: LIBRARY,
        text: "if (!is_filled || shape->state->context) memset",
        instead: "if (!is_filled) memset",
    },
    Mistake {
        name: "blocks are one position larger than they must be",
        file: LIBRARY,
        text: "(all + nodes - 1) / nodes",
        instead: "(all + nodes) / nodes",
    },
    Mistake {
        name: "the least of no position is 0",
        file: HEADER,
        text: "operator == CSTAR_MIN ? MOST :",
        instead: "operator == CSTAR_MIN ? 0 :",
    },
    Mistake {
        name: "a node's second child is left out of the tree",
        file: HEADER,
        text: "child <= 2 * node + 2 &&",
        instead: "child <= 2 * node + 1 &&",
    },
    Mistake {
        name: "nodes are a chain and no tree",
        file: HEADER,
        text: "int child = 2 * node + 1; child <= 2 * node + 2 &&",
        instead: "int child = node + 1; child <= node + 1 &&",
    },
    Mistake {
        name: "a run does not end where what is near goes on at another node",
        file: LIBRARY,
        text: "least(*count, least(rest, shape->size[last] - (int)begin))",
        instead: "least(*count, shape->size[last] - (int)begin)",
    },
    Mistake {
        name: "what is near may be in the next row",
        file: LIBRARY,
        text: "least(rest, shape->size[last] - (int)begin)",
        instead: "rest",
    },
    Mistake {
        name: "what a statement gets is read while it writes it",
        file: PARALLEL,
        text: "is_some_and(|variable| !self.written.contains(&self.name_of(variable)))",
        instead: "is_some()",
    },
    Mistake {
        name: "no barrier between writing and getting",
        file: FLOW,
        text: "        _ if is(WRITE, GET) => \"written, then got\",\n",
        instead: "",
    },
    Mistake {
        name: "no barrier between getting and writing",
        file: FLOW,
        text: "        _ if is(GET, WRITE) => \"got, then written\",\n",
        instead: "",
    },
    Mistake {
        name: "no barrier between sending and reading",
        file: FLOW,
        text: "        _ if is(SEND, READ) => \"sent, then read\",\n",
        instead: "",
    },
    Mistake {
        name: "of a loop only the first round is looked at",
        file: FLOW,
        text: "            if next == begin {",
        instead: "            if next == begin || begin.is_some() {",
    },
    Mistake {
        name: "what is scalar and has effects is done at each position",
        file: EXPRESSIONS,
        text: "let is_before = has_effects(self.draft, expression);",
        instead: "let is_before = false;",
    },
    Mistake {
        name: "behind `||` those positions communicate at which the first operand is true",
        file: COMMUNICATION,
        text: "self.narrowed(left, is_or, ahead)",
        instead: "self.narrowed(left, false, ahead)",
    },
    Mistake {
        name: "`s -= x` subtracts something else than the sum",
        file: EXPRESSIONS,
        text: "if self.word(op) == \"-=\" { \"CSTAR_ADD\" } else { self.operator(op) };\n            if let",
        instead: "if self.word(op) == \"-=\" { \"CSTAR_XOR\" } else { self.operator(op) };\n            if let",
    },
    Mistake {
        name: "in an inner statement of `with` the shape around it is current",
        file: STATEMENTS,
        text: "let before = self.current.replace(shape.clone());\n                self.statement(inner);",
        instead: "let before = self.current.clone();\n                self.statement(inner);",
    },
];

/// What of the workspace is not copied.
const LEFT_OUT: [&str; 6] = ["target", ".git", ".venv", "c-star-out", "fuzz-out", "stress-out"];

/// Makes one mistake after the other, and tries random programs until one shows it; gives how many none has shown.
///
/// # Errors
/// Something cannot be copied or built.
pub fn try_mutants(options: &CStarOptions) -> Result<u64, String> {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let folder = root.join("target/c-star-mutants");
    copied(&root, &folder)?;
    let trivium = built(&folder)?;
    let bench = Bench::new(&trivium)?;
    let setups = Setup::asked(&options.nodes, &options.protocols);
    // What is wrong without a mistake shows none.
    let mut right = Vec::new();
    for case in 0..options.cases {
        match wrong(&bench, &setups, options.seed, case)? {
            None => right.push(case),
            Some(what) => println!("program {case} is wrong without a mistake: {what}"),
        }
    }
    let first = || first_wrong(&bench, &setups, options.seed, &right);
    let chosen = |number: &usize| options.case.is_none_or(|case| case == *number as u64);
    let mut missed = 0;
    for number in (0..MISTAKES.len()).filter(chosen) {
        let mistake = &MISTAKES[number];
        let path = folder.join(mistake.file);
        let source = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let write = |text: &str| std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
        write(&source.replacen(mistake.text, mistake.instead, 1))?;
        let found = built(&folder).and_then(|_| first());
        write(&source)?;
        match found? {
            Some((case, what)) => {
                let line = what.lines().next().unwrap_or_default();
                println!("{number} {}: found by program {case} ({line})", mistake.name);
            }
            None => {
                missed += 1;
                println!("{number} {}: NOT FOUND by {} programs", mistake.name, right.len());
            }
        }
    }
    println!("c-star-mutants: seed {}: {missed} mistakes are not found", options.seed);
    Ok(missed)
}

/// What is wrong with the output of a program, if anything is.
fn wrong(bench: &Bench, setups: &[Setup], seed: u64, case: u64) -> Result<Option<String>, String> {
    let setup = &setups[(case % setups.len() as u64) as usize];
    Ok(bench.wrong(&program(seed, case)?, setup)?.map(|wrong| wrong.what))
}

/// The first of these programs that prints something else than it must.
fn first_wrong(bench: &Bench, setups: &[Setup], seed: u64, cases: &[u64]) -> Result<Option<(u64, String)>, String> {
    for case in cases {
        if let Some(what) = wrong(bench, setups, seed, *case)? {
            return Ok(Some((*case, what)));
        }
    }
    Ok(None)
}

/// The sources of the workspace as they are, without what was built of them.
fn copied(root: &Path, folder: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", root.display());
    std::fs::create_dir_all(folder).map_err(told)?;
    for entry in std::fs::read_dir(root).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let name = path.file_name().unwrap_or_default().to_owned();
        if LEFT_OUT.iter().any(|left_out| *left_out == name) {
            continue;
        }
        match path.is_dir() {
            true => copy(&path, &folder.join(&name))?,
            false => drop(std::fs::copy(&path, folder.join(&name)).map_err(told)?),
        }
    }
    Ok(())
}

/// Builds the program in a folder; gives where it is.
fn built(folder: &Path) -> Result<PathBuf, String> {
    let target = folder.join("target");
    let output = Command::new("cargo")
        .args(["build", "--release", "--locked", "-p", "trivium", "--target-dir"])
        .arg(&target)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("{} cannot be built:\n{}", folder.display(), String::from_utf8_lossy(&output.stderr)));
    }
    Ok(target.join("release/trivium"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else a mistake would not be made, or somewhere else.
    #[test]
    fn each_text_stands_once_in_its_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for Mistake { name, file, text, instead } in &MISTAKES {
            let source = std::fs::read_to_string(root.join(file)).unwrap();
            assert_eq!(source.matches(text).count(), 1, "{name}: in {file}");
            assert_ne!(text, instead, "{name}");
        }
    }
}
