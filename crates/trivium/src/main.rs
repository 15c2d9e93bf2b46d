//! `trivium`: see `trivium --help`.

use clap::Parser;
use std::process::ExitCode;
use trivium::arguments::Arguments;
use trivium::ranks::{self, Job};
use trivium::{Failure, colour, commands, output, usage};

fn main() -> ExitCode {
    let mut job = Job::default();
    let carried_out = ranks::begin(&mut job).and_then(|()| command(&job));
    match carried_out {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            if job.speaks() {
                tell(&failure);
            }
            ExitCode::from(failure.code)
        }
    }
}

/// What is wrong, for people; and for a program that waits for a result as JSON, if it has got none.
fn tell(failure: &Failure) {
    let text = failure.to_string();
    trivium::say_lines!("{}", if colour::is_on(&std::io::stderr()) { colour::painted(&text) } else { text });
    let has_something = !failure.errors.is_empty();
    if has_something && usage::asks_for_json(std::env::args_os().skip(1)) && !output::has_written() {
        let _ = output::write(None, &output::pretty(&output::in_place_of_result(failure)));
    }
}

/// Reads the command line and carries it out.
fn command(job: &Job) -> Result<u8, Failure> {
    if let Some(mistake) = usage::compilers_flag(std::env::args_os().skip(1)) {
        return Err(mistake);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => return Err(usage::told(&error, std::env::args().nth(1).as_deref())),
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
