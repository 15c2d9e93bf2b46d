//! `trivium`: see `trivium --help`.

use clap::Parser;
use std::process::ExitCode;
use trivium::arguments::Arguments;
use trivium::ranks::{self, Job};
use trivium::{Failure, colour, commands, failure, output, usage};

fn main() -> ExitCode {
    let mut job = Job::default();
    if let Err(failure) = ranks::begin(&mut job) {
        tell(&failure);
        return ExitCode::from(failure.code);
    }
    match command(&job) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            if job.speaks() {
                tell(&failure);
            }
            ExitCode::from(failure.code)
        }
    }
}

fn tell(failure: &Failure) {
    let text = failure.to_string();
    trivium::say_lines!("{}", if colour::is_on(&std::io::stderr()) { colour::painted(&text) } else { text });
}

/// Reads the command line and carries it out.
fn command(job: &Job) -> Result<u8, Failure> {
    if let Some(mistake) = usage::compilers_flag(std::env::args_os().skip(1)) {
        return Err(Failure::rendered(failure::BAD_INPUT, mistake.text));
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            return Err(Failure {
                code: failure::BAD_INPUT,
                text: usage::told(&error, std::env::args().nth(1).as_deref()),
                of_program: None,
            });
        }
        Err(help) => {
            if job.speaks() {
                output::printed(help.print())?;
            }
            return Ok(0);
        }
    };
    if let Some(group) = job.group() {
        return commands::execute_together(&arguments.command, job, group);
    }
    let alone = ranks::begin_alone(&arguments.command)?;
    match alone.group() {
        Some(group) => commands::execute_together(&arguments.command, &alone, group),
        None => commands::execute(&arguments.command),
    }
}
