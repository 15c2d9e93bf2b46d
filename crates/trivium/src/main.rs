//! `trivium`: see `trivium --help`.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match trivium::arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { trivium::failure::BAD_INPUT } else { 0 });
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
