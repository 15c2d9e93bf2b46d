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

/// Carries out a command and returns its exit code.
///
/// # Errors
/// What went wrong, with the exit code that belongs to it.
pub fn execute(command: &Command) -> Result<u8, Failure> {
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
