//! Colour on terminals: for what is wrong, for what holds, for what helps. `NO_COLOR` turns it off, as does `TERM=dumb`,
//! and a launcher of processes: ranks may have a terminal where the launcher's own output goes into a file.

use std::io::IsTerminal;

/// Words with which a line begins, and the code of their colour.
const COLOURS: [(&str, &str); 7] = [
    ("error:", "1;31"),
    ("violated:", "1;31"),
    ("holds:", "1;32"),
    ("incomplete:", "1;33"),
    ("warning:", "1;33"),
    ("help:", "1;36"),
    ("note:", "1"),
];

/// Whether what is printed there is coloured.
pub fn is_on(stream: &impl IsTerminal) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_of_job = || trivium_mpi::has_launcher(|name| std::env::var(name).ok());
    stream.is_terminal()
        && !is_of_job()
        && !is_set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A text with the first words of its lines in colour.
pub fn painted(text: &str) -> String {
    let line = |line: &str| match COLOURS.iter().find(|(word, _)| line.starts_with(word)) {
        Some((word, code)) => format!("\u{1b}[{code}m{word}\u{1b}[0m{}", &line[word.len()..]),
        None => line.to_string(),
    };
    text.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_first_words_are_painted() {
        assert_eq!(painted("a\nerror: b\n error: c"), "a\n\u{1b}[1;31merror:\u{1b}[0m b\n error: c");
    }
}
