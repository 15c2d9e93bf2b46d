//! Shows protocols: `cargo run --release -p trivium-lang --example show -- FILE [text|markdown|dot|svg|json|header]`.
use std::process::ExitCode;
use trivium_lang::{c_header, compile_file, show};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(path), format) = (args.first(), args.get(1).map_or("text", String::as_str)) else {
        eprintln!("error: which protocol?");
        return ExitCode::from(2);
    };
    match compile_file(path.as_ref(), &[]) {
        Ok(protocol) => {
            match format {
                "markdown" => print!("{}", show::markdown(&protocol)),
                "dot" => print!("{}", show::dot(&protocol)),
                "svg" => print!("{}", show::svg(&protocol)),
                "json" => println!("{:#}", show::json(&protocol)),
                "header" => print!("{}", c_header(&protocol)),
                _ => print!("{}", show::table(&protocol)),
            }
            ExitCode::SUCCESS
        }
        Err(errors) => {
            eprint!("{errors}");
            ExitCode::from(2)
        }
    }
}
