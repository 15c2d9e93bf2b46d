//! What a page shows of a command, and what the command prints.

use super::{Run, ranks, root, trivium};

/// What a command prints; times of the host, and its name, stay as they are written. `trivium ..`, or `mpirun -n N trivium ..`, which
/// prints what is written where there is no MPI; `| head -N` and `| tail -N` take some of the lines.
pub fn printed(command: &str, written: &[&str]) -> String {
    let (command, first, last) = match command.split_once(" | ") {
        Some((command, part)) => match part.split_once(" -") {
            Some(("head", count)) => (command, count.parse().unwrap(), usize::MAX),
            Some(("tail", count)) => (command, usize::MAX, count.parse().unwrap()),
            _ => panic!("{part}"),
        },
        None => (command, usize::MAX, usize::MAX),
    };
    let words: Vec<&str> = command.split_whitespace().collect();
    let run = match words.as_slice() {
        ["trivium", args @ ..] => trivium(args),
        ["mpirun", "-n", count, "trivium", args @ ..]
        | ["mpirun", "--oversubscribe", "-n", count, "trivium", args @ ..]
            if cfg!(feature = "mpi") =>
        {
            together(count.parse().unwrap(), args)
        }
        ["mpirun", ..] => return written.iter().map(|line| format!("{line}\n")).collect(),
        _ => panic!("{command}"),
    };
    let lines: Vec<&str> = run.out.lines().chain(run.err.lines()).take(first).collect();
    let lines = lines.iter().copied().skip(lines.len().saturating_sub(last));
    // In a table with live runs the columns are as wide as the host's figures are.
    let is_live = run.out.lines().any(|line| line.starts_with("live ") || line.contains("  handlers, s  "));
    let still = |line: &str| if is_live { narrow(&without_host(line)) } else { without_host(line) };
    let kept = |(number, line): (usize, &str)| {
        let before = written.get(number).filter(|before| still(before) == still(line));
        format!("{}\n", before.copied().unwrap_or(line).trim_end())
    };
    lines.enumerate().map(kept).collect()
}

fn together(count: u32, args: &[&str]) -> Run {
    let output = ranks::mpirun(count, args).current_dir(root()).output().expect("mpirun starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A line of a table without the widths of its columns.
fn narrow(line: &str) -> String {
    if line.starts_with("---") { String::from("---") } else { line.split_whitespace().collect::<Vec<_>>().join(" ") }
}

/// A line without what depends on the host: times, latencies, its name.
fn without_host(line: &str) -> String {
    for start in ["seconds ", "fault latency ", "live: nodes are threads of the host "] {
        if line.starts_with(start) {
            return start.to_string();
        }
    }
    if line.starts_with("states ") {
        return line.split(['(', '.']).next().unwrap_or_default().trim_end().to_string();
    }
    // Seconds have six places; a live run's speedup and shares depend on them.
    let is_of_host = |word: &str| {
        let places = word.trim_matches(['(', ')', ';']).split_once('.').map_or(0, |(_, places)| places.len());
        places == 6 || places > 0 && line.starts_with("live ")
    };
    if !line.split_whitespace().any(is_of_host) {
        return line.to_string();
    }
    line.split_whitespace().map(|word| if is_of_host(word) { "_" } else { word }).collect::<Vec<_>>().join(" ")
}
