//! Mistakes of the command line itself, told as every other error is: what, then what to do.

use clap::error::ErrorKind;

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
pub fn told(error: &clap::Error) -> String {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            text
        }
        _ => rewritten(&text),
    }
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
