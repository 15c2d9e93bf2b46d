//! One file a command.

mod cc;
mod check;
mod compare;
mod export;
mod forced;
mod lists;
mod miss;
mod mutate;
pub(crate) mod program;
mod replay;
mod show;
pub(crate) mod sim;

use crate::Failure;
use crate::arguments::Command;
use crate::out_file::can_be_written;
use std::path::PathBuf;

/// Carries out a command and returns its exit code.
///
/// # Errors
/// What went wrong, with the exit code that belongs to it.
pub fn execute(command: &Command) -> Result<u8, Failure> {
    can_be_written(outputs(command).into_iter().flatten())?;
    match command {
        Command::Cc(arguments) => cc::cc(arguments),
        Command::Sim(arguments) => sim::sim(arguments),
        Command::Miss(arguments) => miss::miss(arguments),
        Command::Check(arguments) => check::check(arguments),
        Command::Mutate(arguments) => mutate::mutate(arguments),
        Command::Replay(arguments) => replay::replay(arguments),
        Command::Export(arguments) => export::export(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Study(arguments) => crate::study::study(arguments),
        Command::Show(arguments) => show::show(arguments),
        Command::Header(arguments) => show::header(arguments),
        Command::Protocols(arguments) => lists::protocols(arguments),
        Command::Machines(arguments) => lists::machines(arguments),
        Command::Machine(arguments) => lists::machine(arguments),
    }
}

/// The files that a command writes.
fn outputs(command: &Command) -> [Option<&PathBuf>; 3] {
    match command {
        Command::Sim(a) => [a.common.out.as_ref(), a.run.html.as_ref(), a.trace.as_ref()],
        Command::Compare(a) => [a.common.out.as_ref(), a.run.html.as_ref(), a.svg.as_ref()],
        Command::Check(a) => [a.common.out.as_ref(), a.svg.as_ref(), a.html.as_ref()],
        Command::Replay(a) => [a.common.out.as_ref(), a.svg.as_ref(), a.html.as_ref()],
        Command::Miss(a) => [a.common.out.as_ref(), None, None],
        Command::Mutate(a) => [a.common.out.as_ref(), None, None],
        Command::Study(a) => [a.common.out.as_ref(), None, None],
        Command::Protocols(a) | Command::Machines(a) => [a.common.out.as_ref(), None, None],
        Command::Machine(a) => [a.common.out.as_ref(), None, None],
        Command::Export(a) => [a.out.as_ref(), None, None],
        Command::Show(a) => [a.out.as_ref(), None, None],
        Command::Header(a) => [a.out.as_ref(), None, None],
        Command::Cc(_) => [None; 3],
    }
}
