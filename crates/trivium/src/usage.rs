//! Mistakes of the command line itself, told as every other error is: what, then what to do.

use crate::arguments::Arguments;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A flag of the C compiler that stands where an option of ours would. `-pthread` would be read as `-p thread`.
pub fn compilers_flag(words: impl Iterator<Item = std::ffi::OsString>) -> Option<crate::Failure> {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    if !words.first().is_some_and(|command| command == "sim" || command == "compare") {
        return None;
    }
    let ours = words.iter().take_while(|word| *word != "--");
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let is = |word: &str| {
        word == "-pthread"
            || ["-D", "-I", "-L", "-O", "-W", "-l", "-f", "-std="].iter().any(|flag| word.starts_with(flag))
    };
    let (flag, _) = ours.zip(before).find(|(word, before)| is(word) && *before != "--cc")?;
    let help = format!("flags of the compiler stand together behind --cc: --cc \"{flag}\"");
    Some(crate::Failure::input(format!("{flag} is a flag of the C compiler"), help))
}

/// The text of a usage error as `error: what` and `help:` lines. What is no mistake (`--help`) is left as it is.
pub fn told(error: &clap::Error, command: Option<&str>) -> String {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::UnknownArgument if let Some(told) = without_effect(error, command.unwrap_or_default()) => told,
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            text
        }
        _ => rewritten(&text),
    }
}

/// What is said of an option that acts in other commands only.
fn without_effect(error: &clap::Error, command: &str) -> Option<String> {
    let ContextValue::String(option) = error.get(ContextKind::InvalidArg)? else { return None };
    let long = option.strip_prefix("--")?;
    let takes = |command: &clap::Command| command.get_arguments().any(|known| known.get_long() == Some(long));
    let line = Arguments::command();
    let here = line.find_subcommand(command).filter(|here| !takes(here))?;
    let others: Vec<&str> = line.get_subcommands().filter(|other| takes(other)).map(clap::Command::get_name).collect();
    let others = others.split_last().map(|(last, before)| match before {
        [] => format!("`{last}`"),
        before => format!("`{}` and `{last}`", before.join("`, `")),
    })?;
    let here = here.get_name();
    Some(format!(
        "error: {option} has no effect in `trivium {here}`\n\
        help: leave it out; it acts in {others}\n\
        help: `trivium {here} --help` explains every option\n"
    ))
}

fn rewritten(text: &str) -> String {
    let mut paragraphs = text.trim().split("\n\n");
    let what: Vec<&str> = paragraphs.next().unwrap_or_default().lines().map(str::trim).collect();
    let mut out = format!("{}\n", joined(&what));
    for line in paragraphs.flat_map(str::lines).map(str::trim) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            out.push_str(&format!("help: {tip}\n"));
        } else if let Some(usage) = line.strip_prefix("Usage: ") {
            out.push_str(&format!("help: usage: {usage}\n"));
        } else if line.starts_with("For more information") {
            out.push_str("help: `trivium COMMAND --help` explains every option\n");
        }
    }
    out
}

/// A sentence that goes on in a list below it, in one line.
fn joined(lines: &[&str]) -> String {
    match lines {
        [first, rest @ ..] if first.ends_with(':') => format!("{first} {}", rest.join(", ")),
        lines => lines.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_tips_become_lines_of_ours() {
        let text = "error: the following required arguments were not provided:\n  --protocol <P>\n  <PROGRAM>\n\n\
            Usage: trivium sim <PROGRAM>\n\nFor more information, try '--help'.\n";
        assert_eq!(
            rewritten(text),
            "error: the following required arguments were not provided: --protocol <P>, <PROGRAM>\n\
            help: usage: trivium sim <PROGRAM>\nhelp: `trivium COMMAND --help` explains every option\n"
        );
        let text = "error: unexpected argument '--bolck' found\n\n  tip: a similar argument exists: '--block'\n";
        assert_eq!(
            rewritten(text),
            "error: unexpected argument '--bolck' found\nhelp: a similar argument exists: '--block'\n"
        );
    }
}
