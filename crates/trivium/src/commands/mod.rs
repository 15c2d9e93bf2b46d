//! One file a command.

mod cc;
mod check;
mod compare;
mod compare_live;
mod explored;
mod export;
mod fits;
mod forced;
mod init;
mod interpret;
mod lists;
mod manual;
mod miss;
mod mutate;
mod other_values;
mod program;
mod replay;
mod run;
mod run_recorded;
#[cfg(feature = "mpi")]
mod run_together;
mod show;
mod sim;
mod study;
mod together;
mod translate;

use crate::Failure;
use crate::arguments::{Command, Compare, Sim};
use crate::out_file::can_be_written;
use crate::ranks::Job;
use std::path::{Path, PathBuf};
use trivium_check::group::Group;
use trivium_diagnostic::Code;

/// Carries out a command and returns its exit code.
///
/// # Errors
/// What went wrong, with the exit code that belongs to it.
pub fn execute(command: &Command) -> Result<u8, Failure> {
    writable(command)?;
    match command {
        Command::Cc(arguments) => cc::cc(arguments),
        Command::Sim(arguments) => sim::sim(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Miss(arguments) => miss::miss(arguments),
        Command::Check(arguments) => check::check(arguments, None),
        Command::Mutate(arguments) => mutate::mutate(arguments),
        Command::Replay(arguments) => replay::replay(arguments),
        Command::Export(arguments) => export::export(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Study(arguments) => study::study(arguments),
        Command::Show(arguments) => show::show(arguments),
        Command::Header(arguments) => show::header(arguments),
        Command::Translate(arguments) => translate::translate(arguments),
        Command::Interpret(arguments) => interpret::interpret(arguments),
        Command::Protocols(arguments) => lists::protocols(arguments),
        Command::Machines(arguments) => lists::machines(arguments),
        Command::Machine(arguments) => lists::machine(arguments),
        Command::Programs(arguments) => lists::programs(arguments),
        Command::Init(arguments) => init::init(arguments),
        Command::Completions(arguments) => manual::completions(arguments),
        Command::Man(arguments) => manual::man(arguments),
    }
}

/// Carries out a command together with other ranks, and returns its exit code: the same on all. Only the first opens any file, or
/// prints anything.
///
/// # Errors
/// As [`execute`]; also a command that ranks do not carry out together.
pub fn execute_together(command: &Command, job: &Job, group: &dyn Group) -> Result<u8, Failure> {
    let writable = || if group.rank() == 0 { writable(command) } else { Ok(()) };
    match command {
        Command::Check(arguments) => check::check(arguments, Some((group, writable()))),
        #[cfg(feature = "mpi")]
        Command::Run(arguments) => run_together::run(arguments, job, writable()),
        _ => {
            let _ = job;
            let what = format!(
                "{} ranks were started, but only `trivium check` and `trivium run` are carried out by several",
                group.size()
            );
            Err(Failure::input(Code::Usage, what, "start this command without mpirun"))
        }
    }
}

/// Whether the files can be written that a command writes.
fn writable(command: &Command) -> Result<(), Failure> {
    let checkpoint = if let Command::Check(check) = command { check.checkpoint() } else { None };
    can_be_written(outputs(command).into_iter().flatten().chain(checkpoint), inputs(command))
}

/// The files that a command writes.
fn outputs(command: &Command) -> [Option<&PathBuf>; 3] {
    match command {
        Command::Sim(a) => [a.common.form.out.as_ref(), a.run.html.as_ref(), a.trace.as_ref()],
        Command::Compare(a) => [a.common.form.out.as_ref(), a.run.html.as_ref(), a.svg.as_ref()],
        Command::Check(a) => [a.common.form.out.as_ref(), a.svg.as_ref(), a.html.as_ref()],
        Command::Replay(a) => [a.form.out.as_ref(), a.svg.as_ref(), a.html.as_ref()],
        Command::Run(a) => [a.form.out.as_ref(), a.record.as_ref(), a.trace.as_ref()],
        Command::Miss(a) => [a.form.out.as_ref(), None, None],
        Command::Mutate(a) => [a.form.out.as_ref(), None, None],
        Command::Study(a) => [a.form.out.as_ref(), None, None],
        Command::Protocols(a) | Command::Machines(a) | Command::Programs(a) => [a.form.out.as_ref(), None, None],
        Command::Machine(a) => [a.form.out.as_ref(), None, None],
        Command::Export(a) => [a.out.as_ref(), None, None],
        Command::Show(a) => [a.out.as_ref(), a.svg.as_ref(), None],
        Command::Header(a) => [a.out.as_ref(), None, None],
        Command::Translate(a) => [a.out.as_ref(), None, None],
        Command::Cc(_) | Command::Init(_) | Command::Interpret(_) | Command::Completions(_) | Command::Man(_) => {
            [None; 3]
        }
    }
}

/// The files that a command is given to read. What is built in has names without an ending, and is no file.
fn inputs(command: &Command) -> Vec<&Path> {
    let mut files: Vec<&Path> = Vec::new();
    let mut names: Vec<&String> = Vec::new();
    match command {
        Command::Sim(Sim { run, protocol, machine, .. })
        | Command::Compare(Compare { run, protocols: protocol, machines: machine, .. }) => {
            files.extend(run.subject.programs.iter().map(PathBuf::as_path));
            names.extend(protocol.iter().chain(machine));
        }
        Command::Run(a) => {
            files.extend(a.subject.programs.iter().chain(&a.replay).map(PathBuf::as_path));
            names.extend(&a.protocol);
        }
        Command::Miss(a) => names.extend(std::iter::once(&a.protocol).chain(&a.machine)),
        Command::Check(a) => names.push(&a.protocol),
        Command::Mutate(a) => names.push(&a.protocol),
        Command::Replay(a) => {
            files.push(&a.file);
            names.extend(a.protocol.iter().chain(&a.machine));
        }
        Command::Export(a) => names.push(&a.protocol),
        Command::Show(a) => names.push(&a.protocol),
        Command::Header(a) => names.push(&a.protocol),
        Command::Translate(a) => files.push(&a.program),
        Command::Interpret(a) => files.extend(a.programs.iter().map(PathBuf::as_path)),
        Command::Machine(a) => names.push(&a.machine),
        // `cc` is as other compilers are.
        Command::Study(_) | Command::Protocols(_) | Command::Machines(_) | Command::Programs(_) => {}
        Command::Cc(_) | Command::Init(_) | Command::Completions(_) | Command::Man(_) => {}
    }
    files.extend(names.into_iter().map(Path::new).filter(|name| name.extension().is_some()));
    files
}
