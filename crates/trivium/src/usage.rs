//! Mistakes of the command line itself, told as every other error is: what, then what to do.

use crate::Failure;
use crate::arguments::Arguments;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use trivium_diagnostic::{Code, Diagnostic};

/// Whether these words ask for results as JSON; also where they are otherwise wrong, so that who reads results by a program reads
/// what is wrong in the same way.
pub fn asks_for_json(words: impl Iterator<Item = std::ffi::OsString>) -> bool {
    let words: Vec<std::ffi::OsString> = words.take_while(|word| word != "--").collect();
    words.iter().any(|word| word == "--format=json")
        || words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// A flag of the C compiler that stands where an option of ours would. `-pthread` would be read as `-p thread`.
pub fn compilers_flag(words: impl Iterator<Item = std::ffi::OsString>) -> Option<Failure> {
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
    Some(Failure::input(Code::Usage, format!("{flag} is a flag of the C compiler"), help))
}

/// A mistake of the command line as people read it; a list of commands, where none is named, stays as it is.
pub fn told(error: &clap::Error, command: Option<&str>) -> Failure {
    let text = error.render().to_string();
    let diagnostic = match error.kind() {
        ErrorKind::UnknownArgument if let Some(told) = without_effect(error, command.unwrap_or_default()) => told,
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let missing = Diagnostic::new(Code::Usage, "no command is named").help("`trivium --help` lists them");
            return Failure { said: Some(text), ..Failure::from(missing) };
        }
        _ => rewritten(&text),
    };
    diagnostic.into()
}

/// What is said of an option that acts in other commands only.
fn without_effect(error: &clap::Error, command: &str) -> Option<Diagnostic> {
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
    let help = format!("leave it out; it acts in {others}; `trivium {here} --help` explains every option");
    Some(Diagnostic::new(Code::Usage, format!("{option} has no effect in `trivium {here}`")).help(help))
}

/// A text of the parser's, in paragraphs.
fn rewritten(text: &str) -> Diagnostic {
    let mut paragraphs = text.trim().split("\n\n");
    let what: Vec<&str> = paragraphs.next().unwrap_or_default().lines().map(str::trim).collect();
    let what = joined(&what);
    let help = |line: &str| {
        let of_usage = || line.strip_prefix("Usage: ").map(|usage| format!("usage: {usage}"));
        let explained = || {
            let more = line.starts_with("For more information");
            more.then(|| "`trivium COMMAND --help` explains every option".to_string())
        };
        line.strip_prefix("tip: ").map(str::to_string).or_else(of_usage).or_else(explained)
    };
    let help: Vec<String> = paragraphs.flat_map(str::lines).filter_map(|line| help(line.trim())).collect();
    Diagnostic::new(Code::Usage, what.strip_prefix("error: ").unwrap_or(&what)).help(help.join("; "))
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
            rewritten(text).to_string(),
            "error: the following required arguments were not provided: --protocol <P>, <PROGRAM>\n\
            help: usage: trivium sim <PROGRAM>; `trivium COMMAND --help` explains every option"
        );
        let text = "error: unexpected argument '--bolck' found\n\n  tip: a similar argument exists: '--block'\n";
        assert_eq!(
            rewritten(text).to_string(),
            "error: unexpected argument '--bolck' found\nhelp: a similar argument exists: '--block'"
        );
    }
}
