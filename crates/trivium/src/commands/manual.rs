//! `trivium completions` and `trivium man`: both are made of the command line itself, so that they cannot say something else.

use crate::arguments::{Arguments, Completions, Man, Shell};
use crate::{Failure, output};
use clap::CommandFactory;
use trivium_diagnostic::Code;

/// What a shell needs to complete words.
pub fn completions(arguments: &Completions) -> Result<u8, Failure> {
    let mut text = Vec::new();
    let shell = match arguments.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    clap_complete::generate(shell, &mut Arguments::command(), "trivium", &mut text);
    output::write(None, &String::from_utf8_lossy(&text))?;
    Ok(0)
}

/// A manual page.
pub fn man(arguments: &Man) -> Result<u8, Failure> {
    let mut line = Arguments::command();
    line.build();
    let page = match &arguments.command {
        None => line,
        Some(name) => {
            let found = line.find_subcommand(name).cloned();
            found.ok_or_else(|| {
                Failure::input(Code::Usage, format!("there is no command `{name}`"), "`trivium --help` lists them")
            })?
        }
    };
    let mut text = Vec::new();
    let made = clap_mangen::Man::new(page).render(&mut text);
    made.map_err(|error| Failure::input(Code::Usage, format!("the page cannot be made: {error}"), ""))?;
    output::write(None, &String::from_utf8_lossy(&text))?;
    Ok(0)
}
