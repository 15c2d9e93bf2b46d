//! `trivium`: see `trivium --help`.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(mistake) = trivium::usage::compilers_flag(std::env::args_os().skip(1)) {
        eprint!("{mistake}");
        return ExitCode::from(trivium::failure::BAD_INPUT);
    }
    let arguments = match trivium::arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            eprint!("{}", trivium::usage::told(&error));
            return ExitCode::from(trivium::failure::BAD_INPUT);
        }
        Err(help) => {
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    match trivium::commands::execute(&arguments.command) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprint!("{failure}");
            ExitCode::from(failure.code)
        }
    }
}
